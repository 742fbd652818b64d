"""The page that lists every parameter of an address: from the same declarations that make the controls."""
from __future__ import annotations

from html import escape

from .figure import Figure
from .parameters import Parameter, parameters

# The page's own parameters, which belong to no figure; static/address.mjs checks them.
OWN = (
    ("teach", "0 or 1", "0", "1 shows one figure at a time in large type, for a classroom"),
    ("figure", "a figure's name", "the first", "with teach=1: the figure to begin with"),
    ("predict", "0 or 1", "1", "with teach=1: whether the answer waits for the class's guess"),
    ("theme", "light or dark", "the reader's", "the colours"),
    ("boot", "snapshot or modules", "snapshot", "how Python starts; modules is slower, and there to be tested"),
)
HEAD = "".join(f'<th scope="col">{name}</th>' for name in ("Parameter", "Type", "Values", "Default", "Meaning"))


def html(figures: list[Figure]) -> str:
    """The body of the page: a table for each figure."""
    sections = "".join(_section(f) for f in figures)
    own = "".join(_row(name, "text" if name == "figure" else "choice", values, default, meaning) for name, values, default, meaning in OWN)
    return f"""<main><h1>Parameters of an address</h1>
<p>Every setting of a figure is a parameter of the address: by its name in an embed
(<code>embed/kv-memory.html?users=10</code>), and behind the figure's name and a dot in the essay
(<code>index.html?kv-memory.users=10</code>). <code>position</code> is the frame to show, counted from 0. A parameter that is
left out has its default; a wrong value is told to the reader, and the default is used.</p>{sections}
<h2 id="page">The page itself</h2>{_table("Parameters of the page", own)}
<p><a href="index.html">The essay</a> · <a href="teach.html">For teachers</a></p></main>"""


def _section(f: Figure) -> str:
    rows = "".join(_row(p.name, KINDS[p.kind], _values(p), _default(p), f"{p.label}: {p.meaning}" if p.meaning else p.label)
                   for p in parameters(f))
    rows += _row("position", "whole number", "from 0", "the frame that answers", "the frame to show")
    return f'<h2 id="{f.id}">{f.id}</h2><p>{escape(f.title)}</p>{_table(f"Parameters of {f.id}", rows)}'


def _table(name: str, rows: str) -> str:
    return (f'<div class="scroll reference" tabindex="0" role="region" aria-label="{name}">'
            f"<table><thead><tr>{HEAD}</tr></thead><tbody>{rows}</tbody></table></div>")


def _row(name: str, kind: str, values: str, default: str, meaning: str) -> str:
    cells = (f"<code>{escape(name)}</code>", kind, escape(values), f"<code>{escape(default)}</code>", escape(meaning))
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


KINDS = {"int": "whole number", "float": "number", "bool": "switch", "choice": "choice", "text": "text"}


def _values(p: Parameter) -> str:
    if p.kind == "bool":
        return "0 or 1"
    if p.kind == "choice":
        return ", ".join(value for value, _ in p.choices)
    if p.kind == "text":
        return f"at most {p.longest} characters"
    return f"{p.low:,} to {p.high:,}"


def _default(p: Parameter) -> str:
    return str(int(p.default)) if p.kind == "bool" else str(p.default)
