"""The essay's text: `essay.md`, a Jinja2 template in Markdown, rendered at build time with the model's numbers in it.

What the template may say:

    {{ figure("kv-memory") }}                     on a line of its own: the figure goes here
    {{ say("kv-memory", "budget") }}              a number of the figure; the page keeps it up to date
    {{ setting("kv-memory", "users") }}           a number that a reader may change
    {{ part("kv-memory", "weights", "weights") }} words that light up a part of the figure
    {{ pass_cost(m).pass_ms | ms }}               a number that follows no figure: functions of the model, `m` the essay's
                                                  machine, formatters of app.words as filters
    {{ row("m054").value | digits }}              one row of the published measurements

An unknown figure, word, setting, part, row or name raises: a text that says nothing is worse than no text."""
from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from html import escape
from pathlib import Path

import jinja2
from markdown_it import MarkdownIt
from markdown_it.token import Token

import model
from model.chunking import chunked_prefill
from model.paging import pages
from model.rows import Row, numbers_in, read_rows
from model.settings import llama_cpp_settings
from model.speculation import speculate

from widgets.plots import PART

from . import order, words
from .figure import Figure
from .parameters import parameter

ESSAY = Path(__file__).with_name("essay.md")
MEASURED = Path(model.__file__).parent / "data" / "measured" / "measured.csv"

FILTERS = {name: getattr(words, name) for name in ("count", "digits", "gb", "ms", "percent", "sentence", "tokens", "whole")}
MODEL = dict(pass_cost=model.pass_cost, kv_memory=model.kv_memory, machine=model.machine, gpu=model.gpu, llm=model.llm,
             chunked_prefill=chunked_prefill, pages=pages, speculate=speculate,
             llama_cpp_settings=llama_cpp_settings, numbers_in=numbers_in)
PLACE = '<div id="place-of-{}"></div>'


def render(figure_html: Callable[[str], str], figure: Callable[[str], Figure] = order.figure) -> str:
    """HTML of the whole essay: headings with ids, paragraphs, and `figure_html(id)` where the template places a figure.

    `figure`: finds the Figure of an id. ValueError for an unknown figure, word, setting, part or measured row, and for a
    figure that is placed twice; jinja2.UndefinedError for any other name that is not known.
    """
    placed: list[str] = []
    html = markdown(fill(ESSAY.read_text(encoding="utf-8"), figure, placed.append))
    for figure_id in placed:
        if placed.count(figure_id) > 1:
            raise ValueError(f"essay.md places the figure {figure_id} more than once; once would be right")
        html = html.replace(PLACE.format(figure_id), figure_html(figure_id))
    return html


def fill(template: str, figure: Callable[[str], Figure] = order.figure,
         place: Callable[[str], None] = lambda figure_id: None) -> str:
    """The template's Markdown with all numbers in it; `place(id)` is told of each figure's place."""
    known = Words(cache(figure))
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=False, keep_trailing_newline=True)
    environment.filters.update(FILTERS)
    environment.globals.update(MODEL, m=model.machine(), row=row, rows=len(_rows()), say=known.say,
                               setting=known.setting, part=known.part, figure=known.place(place))
    return environment.from_string(template).render()


def markdown(text: str) -> str:
    """HTML of Markdown in which HTML may stand: apostrophes curled, an id made of its words for each heading."""
    parser = MarkdownIt("commonmark", {"html": True, "typographer": True}).enable("smartquotes")
    parsed = parser.parse(text)
    for heading, inline in zip(parsed, parsed[1:]):
        if heading.type == "heading_open":
            heading.attrSet("id", slug(_plain(inline)))
    return parser.renderer.render(parsed, parser.options, {})


def slug(text: str) -> str:
    """`What does a page save?` becomes `what-does-a-page-save`."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def row(row_id: str) -> Row:
    """One row of the published measurements, its value in its own unit. ValueError for an unknown row."""
    if row_id not in _rows():
        raise ValueError(f"no measured row is called {row_id!r}; the ids stand in model/data/measured/measured.csv")
    return _rows()[row_id]


class Words:
    """What a template can say of the figures; `figure` finds the Figure of an id."""

    def __init__(self, figure: Callable[[str], Figure]):
        self.figure = figure
        self.picture = cache(lambda figure_id: figure(figure_id).compute(figure(figure_id).settings()))
        self.parts = cache(lambda figure_id: part_names(figure(figure_id)))

    def say(self, figure_id: str, word: str) -> str:
        """One number or phrase of a figure at its default settings, in the element that the page keeps up to date."""
        picture = self.picture(figure_id)
        frames = picture.frames.get(f"say.{word}")
        if word not in picture.facts and frames is None:
            raise ValueError(f"{figure_id} has no word {word!r}; it has {', '.join(sorted(picture.facts))}")
        text = picture.facts[word] if frames is None else frames[picture.telling]
        # Silent: a changed setting is told once, by the figure's sentence, and not by every number in the text.
        return f'<span class="number" data-figure="{figure_id}" data-say="{word}">{escape(text)}</span>'

    def setting(self, figure_id: str, name: str) -> str:
        """A number that a reader may change: it stands for the figure's control of that name."""
        figure = self.figure(figure_id)
        known = {control.name: parameter(figure, control) for control in figure.controls}
        numbers = {key: p for key, p in known.items() if p.kind in ("int", "float")}
        if name not in numbers:
            raise ValueError(f"{figure_id} has no number {name!r} to change; it has {', '.join(numbers)}")
        p = numbers[name]
        return (f'<span role="spinbutton" tabindex="0" class="setting" data-figure="{figure_id}" data-setting="{name}" '
                f'aria-label="{escape(p.label)}" aria-valuenow="{p.default}" aria-valuemin="{p.low}" '
                f'aria-valuemax="{p.high}">{_shown(p)}</span>')

    def part(self, figure_id: str, name: str, text: str) -> str:
        """Words that light up the part of this name in the figure's picture."""
        if name not in self.parts(figure_id):
            raise ValueError(f"{figure_id} has no part {name!r}; it has {', '.join(sorted(self.parts(figure_id)))}")
        return f'<span class="part" tabindex="0" data-figure="{figure_id}" data-part="{name}">{escape(text)}</span>'

    def place(self, place: Callable[[str], None]) -> Callable[[str], str]:
        """The function that marks a figure's place and reports it."""
        def mark(figure_id: str) -> str:
            place(self.figure(figure_id).id)
            return PLACE.format(figure_id)
        return mark


def part_names(figure: Figure) -> set[str]:
    """Names of the parts of a figure's picture that words can light up."""
    names = (renderer.name or "" for plot in figure.draw() for renderer in plot.renderers)
    return {name.removeprefix(PART) for name in names if name.startswith(PART)}


def _shown(p) -> str:
    """A setting's default as the reader sees it: `8,192`, `80%`, `0.5`."""
    return words.percent(p.default) if p.percent else f"{p.default:,g}" if p.kind == "float" else f"{p.default:,}"


@cache
def _rows() -> dict[str, Row]:
    """{id: row} of all published measurements."""
    return {row.id: row for row in read_rows(MEASURED.read_text(encoding="utf-8"))}


def _plain(inline: Token) -> str:
    return "".join(child.content for child in inline.children or () if child.type in ("text", "code_inline"))
