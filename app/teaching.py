"""The figures in a classroom: a question for each, whose answer is one of the figure's own numbers, and lessons with addresses."""
from __future__ import annotations

from dataclasses import dataclass
from html import escape
from urllib.parse import urlencode

from .figure import Figure
from .order import figure
from .parameters import parameter


@dataclass(frozen=True)
class Question:
    """What a class guesses before it sees the picture. `fact` is the word of the figure's Picture that answers it."""

    ask: str
    fact: str
    unit: str = ""


QUESTIONS = {
    "prefill-decode": Question("How many times as long does one written token take as one token of the prompt?", "ratio", "times"),
    "kv-memory": Question("How many people with this much context fit on the card at once?", "users_fit", "people"),
    "batching": Question("After how many steps is the last reply complete, if a free slot is refilled at once?",
                         "continuous_steps", "steps"),
    "paging": Question("How many percent of the memory that is reserved for the longest conversation is never used?", "waste_reserved"),
    "chunked-prefill": Question("For how many milliseconds does nobody else get a token while the document is processed in one pass?",
                                "stall"),
    "speculative": Question("How many times as fast is the server with guesses as without?", "speedup", "times"),
    "scoreboard": Question("How many tokens a second does each of them get?", "each", "tokens/s"),
    "settings": Question("For how many conversations of this length does vLLM have room?", "max_concurrency", "conversations"),
}
# Settings worth a lesson beside the usual ones, for each figure.
LESSONS = {
    "prefill-decode": ({}, {"prompt": 200}, {"gpu": "h100-sxm"}),
    "kv-memory": ({}, {"context": 2048}, {"gpu": "rtx-3090", "weights": "q4_k_m"}),
    "batching": ({}, {"seed": 7}, {"slots": 2, "seed": 7}),
    "paging": ({}, {"longest": 32768}, {"page_size": 256}),
    "chunked-prefill": ({}, {"document": 32768}, {"document": 2048}),
    "speculative": ({}, {"acceptance": 0.5}, {"users": 160}),
    "scoreboard": ({}, {"users": 1}, {"users": 10, "context": 8192}),
    "settings": ({}, {"context": 2048}, {"utilization": 0.8}),
}


def answer(figure_id: str, values: dict) -> str:
    """The number that answers a figure's question at these settings, as the figure writes it."""
    f, question = figure(figure_id), QUESTIONS[figure_id]
    said = f.compute(f.settings(**values)).facts[question.fact]
    return f"{said} {question.unit}".strip()


def address(figure_id: str, values: dict) -> str:
    """The address, from the site's root, at which a class meets the question with these settings."""
    settings = {f"{figure_id}.{name}": value for name, value in values.items()}
    return "index.html?" + urlencode({"teach": 1, "figure": figure_id, **settings})


def data(figures: list[Figure]) -> dict[str, dict]:
    """What the page needs to ask: {figure: {ask, fact, unit}}."""
    return {f.id: vars(QUESTIONS[f.id]) for f in figures}


def html() -> str:
    """The body of the teacher's page: for each figure its question, and a table of settings, addresses and answers."""
    sections = "".join(_section(figure(figure_id), lessons) for figure_id, lessons in LESSONS.items())
    return f"""<main><h1>For teachers</h1>
<p>Each address below opens one figure in large type, without the text around it. The class sees the question and the
settings, and commits to a guess; only then does the picture answer. Left and right arrow keys, or a clicker's page keys, go
from figure to figure; once the answer is there, the space key plays it. Everybody who opens an address sees the same run: where luck plays a part, it comes from the seed in
the address. Add <code>predict=0</code> to show the answer at once.</p>
<p>The answers were computed by the model when this page was built.</p>{sections}
<p><a href="index.html">The essay</a> · <a href="parameters.html">All parameters of an address</a></p></main>"""


def _section(f: Figure, lessons: tuple[dict, ...]) -> str:
    rows = "".join(f'<tr><td><a href="{escape(address(f.id, values))}">{escape(_spell(f, values))}</a></td>'
                   f"<td>{escape(answer(f.id, values))}</td></tr>" for values in lessons)
    return (f'<section class="lesson"><h2 id="{f.id}">{escape(f.title)}</h2><p>{escape(QUESTIONS[f.id].ask)}</p>'
            f'<table><thead><tr><th scope="col">Settings</th><th scope="col">Answer to expect</th></tr></thead>'
            f"<tbody>{rows}</tbody></table></section>")


def _spell(f: Figure, values: dict) -> str:
    if not values:
        return "the usual settings"
    return ", ".join(f"{parameter(f, f.control(name)).label.lower()} {_value(f, name, value)}" for name, value in values.items())


def _value(f: Figure, name: str, value) -> str:
    p = parameter(f, f.control(name))
    if p.kind == "choice":
        return dict(p.choices)[value]
    return f"{100 * value:.0f}%" if p.percent else f"{value:,}"
