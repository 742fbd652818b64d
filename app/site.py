"""The pages of the site as text. `pages()` is all that the build asks of the essay; it writes what it gets.

Every page uses relative addresses only, so that it works below any path.
"""
from __future__ import annotations

import json
import re
from functools import lru_cache
from html import escape
from pathlib import Path

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from widgets.svg import still
from widgets.tokens import DARK, LIGHT

from . import comparison, embedding, prose, reading, reference, teaching
from .figure import Figure, Live
from .order import figure, figures
from .parameters import Parameter, parameters

HERE = Path(__file__).parent
STATIC = HERE.parent / "static"
TITLE = "Ten people press send: what happens inside an LLM server"
DESCRIPTION = ("An interactive essay: prefill and decode, the KV cache, batching, pages, chunked prefill and speculative "
               "decoding, computed in your browser.")
MODULES = ("page.mjs", "exhibit.mjs", "drawing.mjs", "figure.mjs", "larger.mjs", "lean.mjs", "player.mjs", "controls.mjs",
           "theme.mjs", "python.mjs", "answers.mjs", "address.mjs", "numbers.mjs", "packed.mjs", "share.mjs", "keeping.mjs")
SAY = re.compile(r'(<[a-z]+ [^>]*data-say="([\w-]+)"[^>]*>)(</)')
PROBLEMS = '<div class="problems" role="alert" hidden></div>'  # what is wrong with the address, in words
FOOTER = ('<footer><p><a href="model.html">The model</a> · <a href="measured.html">Held against measurements</a> · '
          '<a href="teach.html">For teachers</a> · <a href="parameters.html">Parameters of an address</a> · '
          '<a href="licences.html">Licences</a></p></footer>')
FORMATS = {"weights": "weights", "kv": "KV cache"}  # settings whose values say nothing without their label
WIDE, NARROW = 720, 336  # widths of the still pictures


def pages(version: str, address: str = "") -> dict[str, str]:
    """All pages, and the JSON that describes the embeds, by their path below the site's root.

    `version` names the build; `address` is where it will be published, for the one format that cannot be relative.
    """
    essay = f"<main>{PROBLEMS}{prose.render(figure_html)}{FOOTER}</main>"
    made = {"index.html": page(essay, version=version, title=TITLE, chosen=figures()),
            "parameters.html": page(reference.html(figures()), version=version, title="Parameters of an address"),
            "teach.html": page(teaching.html(), version=version, title="For teachers"),
            **{path: page(body, version=version, title=title) for path, (title, body) in reading.pages().items()}}
    for f in figures():
        made[f"embed/{f.id}.html"] = page(embed_html(f), version=version, title=f.title, chosen=[f], embed=f.id, up="../")
        made[f"oembed/{f.id}.json"] = embedding.oembed(f, TITLE, address)
    return made


def page(body: str, *, version: str, title: str, chosen: list[Figure] = (), embed: str = "", up: str = "") -> str:
    """One page of the site; with scripts if it shows figures."""
    return _template("page.html").render(
        body=Markup(body), version=version, title=title, description=DESCRIPTION, embed=embed, up=up, style=Markup(_style()),
        scripts=bool(chosen), modules=MODULES, tokens=_json(dict(light=LIGHT, dark=DARK)),
        parameters=_json({f.id: [p.data() for p in parameters(f)] for f in chosen}),
        questions=_json({} if embed else teaching.data(chosen)))


@lru_cache(maxsize=None)
def figure_html(figure_id: str, heading: bool = False) -> str:
    """One figure as it stands in a page: its still picture, its sentence, controls, player and fold-outs."""
    f = figure(figure_id)
    live = Live(f)
    picture = live.picture
    told = {key[4:]: rows[picture.telling] for key, rows in picture.frames.items() if key.startswith("say.")}
    say = {**picture.facts, **told}
    chosen = parameters(f)
    folded = [p for p in chosen if p.folded]
    return Markup(_template("figure.html").render(
        f=f, heading=heading, sentence=say["sentence"],
        wide=Markup(still(live.plots, WIDE, f"{f.id}-wide", say["sentence"])),
        narrow=Markup(still(live.plots, NARROW, f"{f.id}-narrow", say["sentence"])),
        beside=Markup(fill(f.beside, say)), explain=Markup(fill(f.explain, say) + comparison.in_words(f.id)), parameters=chosen,
        control=lambda p: Markup(_template("control.html").render(p=p, figure_id=f.id, spell=spell, nearest=nearest)),
        machine=", ".join(map(machine_part, folded)), frames=len(picture), telling=picture.telling,
        frame_name=picture.frame_names[picture.telling], name_width=max(map(len, picture.frame_names)) - 1,
        table=picture.table, height=embedding.height_css(f.id)))


def embed_html(f: Figure) -> str:
    """The body of a figure's own page; its question is the page's heading."""
    return (f'<main>{PROBLEMS}{figure_html(f.id, heading=True)}<p class="home">'
            f'<a href="../index.html#{f.id}" target="_blank" rel="noopener">{TITLE}</a></p></main>')


def fill(html: str, say: dict[str, str]) -> str:
    """HTML with its words filled in: each element with data-say gets its text. KeyError for a word that is not said."""
    return SAY.sub(lambda found: f"{found[1]}{escape(say[found[2]])}{found[3]}", html)


def spell(p: Parameter, value) -> str:
    """A value as a control shows it; static/controls.mjs spells the same."""
    if p.zero and value == 0:
        return p.zero
    if p.percent:
        return f"{100 * value:.0f}%"
    unit = "person" if (value, p.unit) == (1, "people") else p.unit.removesuffix("s") if value == 1 else p.unit
    return f"{value:,g}{' ' + unit if unit else ''}" if isinstance(value, float) else f"{value:,}{' ' + unit if unit else ''}"


def machine_part(p: Parameter) -> str:
    """A folded setting's default in a line: `RTX 4090`, but `weights 16 bits`; static/controls.mjs says the same."""
    name = dict(p.choices)[p.default]
    return f"{FORMATS[p.name]} {name.split(' (')[0]}" if p.name in FORMATS else name


def nearest(p: Parameter) -> int:
    """The slider position of a parameter's default."""
    return min(range(len(p.positions)), key=lambda i: abs(p.positions[i] - p.default))


@lru_cache(maxsize=None)
def _template(name: str):
    return _environment().get_template(name)


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(loader=FileSystemLoader(HERE / "templates"), autoescape=True, trim_blocks=True)
    environment.filters["cell"] = cell
    return environment


def cell(value) -> str:
    """A cell of a table of data, numbers to three places; static/exhibit.mjs writes the same."""
    if isinstance(value, float):
        return f"{value:,.3f}".rstrip("0").rstrip(".")
    return f"{value:,}" if isinstance(value, int) else value or ""


def _style() -> str:
    """The page's style sheet with the colours of both themes in front."""
    names = {theme: "".join(f"--{name}:{value};" for name, value in tokens.items())
             for theme, tokens in (("light", LIGHT), ("dark", DARK))}
    return (f":root{{{names['light']}color-scheme:light dark}}"
            f"@media(prefers-color-scheme:dark){{:root:not([data-theme=light]){{{names['dark']}}}}}"
            f":root[data-theme=dark]{{{names['dark']}color-scheme:dark}}:root[data-theme=light]{{color-scheme:light}}"
            + (STATIC / "page.css").read_text(encoding="utf-8"))


def _json(data) -> Markup:
    """JSON that may stand inside a script element."""
    return Markup(json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c"))
