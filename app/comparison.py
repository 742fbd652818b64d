"""The page that sets the model beside published measurements: how far off it is in words, two pictures, and every row."""
from __future__ import annotations

import statistics
from functools import lru_cache
from html import escape

from model import check, points, predict, rows, story, terms

from . import repairs
from .repairs import share
from .words import count, digits, whole

# What a figure's numbers are held against, by its name: groups of predictions.
HELD = {"prefill-decode": (predict.SPEED, predict.FIRST), "kv-memory": (predict.FIT,), "batching": (predict.SPEED,),
        "paging": (predict.FIT,), "chunked-prefill": (predict.FIRST,), "speculative": (predict.GUESSES,),
        "scoreboard": (predict.SPEED, predict.THROUGHPUT), "settings": (predict.FIT, predict.SPEED, predict.FIRST)}
TABLE = ("Row", "Source", "Card", "Model", "Engine", "Load", "Prompt", "Context or reply", "Quantity", "Measured", "Predicted",
         "Error")


@lru_cache(maxsize=1)
def predictions() -> list[predict.Prediction]:
    """What the model says to every published measurement that ships with it."""
    return [predict.predict(row) for row in points.measured()]


def html() -> str:
    """The body of the page."""
    report = check.report(predictions())
    return "".join(("<main><h1>Held against measurements</h1>", _opening(report), _quantities(report["held_out"]),
                    _failing(), _repairing(), _medians(report), _worst(report), missing(report), _rows(report),
                    '<footer><p><a href="index.html">The essay</a> · <a href="model.html">The model, in plain words</a></p>'
                    "</footer></main>"))


def in_words(figure_id: str) -> str:
    """A paragraph for a figure's fold-out: how far off its numbers are, of the datasheet and of the engines."""
    said = []
    for group in HELD[figure_id]:
        entry, plain = points.spread()[group], story.told().get(group)
        roofline = f", the datasheet by {share(plain['roofline'])}" if plain else ""
        said.append(f"{group}: the engines are off by {share(entry['median_error'])} in the median of {whole(entry['rows'])} rows "
                    f"that no fit had seen{roofline}")
    return (f'<p class="held">Held against published measurements. {"; ".join(said)}. “Numbers” chooses between the two; '
            "“○ measured” in the picture, where there is any, is a measurement.</p>")


def _opening(report: dict) -> str:
    sources = len({row["source"] for row in report["rows"]})
    cards = len({row["gpu"] for row in report["rows"] if row["gpu"] not in ("", "-")})
    unseen = check.held_out_lines()
    return f"""<p>The numbers of this site are computed, not measured. So here is every published measurement that we found and may quote,
{whole(len(report["rows"]))} from {count(sources, "source")} on {count(cards, "card")}, with what the model says beside it. Two machines are compared:
the <em>datasheet</em>, which divides bytes by bandwidth and arithmetic by peak (a roofline), and the <em>engines</em>, which add
{count(len(terms.definitions()))} numbers for what real servers lose, each with a meaning and a plausible range
(<a href="model.html#what-servers-really-get">what they are</a>).</p>
<p>A model that was fitted to some rows says little by being right about them. Therefore the numbers were fitted again, each time
without one pair of source and card, and asked about just those rows: {whole(len(unseen))} predictions of rows not seen. Half of them are off by
less than {share(_unseen_error(unseen))}; the median says so, quantity by quantity:</p>"""


def _quantities(entries: dict) -> str:
    lines = [(name, entry["rows"], share(entry["median_error"]), share(entry["target"]) if entry["target"] else "–",
              share(entry["in_band"]), _reach(name)) for name, entry in sorted(entries.items())]
    return table(("Quantity", "Rows not seen", "Median error", "Aim, at most", "Within the band", "The band"), lines) + """
<p>The band is what the figures state around a speed: 85% of the rows not seen lie in it. What nobody could
predict, such as how requests happened to arrive, is in it as well.</p>"""


def _failing() -> str:
    both = repairs.ratios()
    plain = {group: statistics.median(ratios) for group, (ratios, _) in both.items()}
    far = {group: max(ratios) for group, (ratios, _) in both.items()}
    worst = max(far, key=far.get)
    return f"""<h2 id="where-the-roofline-fails">Where the roofline fails, and by how much</h2>
<p>Each dot is a row: what is promised over what was measured, turned around for times, so that to the right of the dashed line is a
promise that the server did not keep. Hollow dots are the datasheet’s, filled ones the engines’; the strokes are medians.
The datasheet promises {_times(plain[predict.SPEED])} the decode speed, {_times(plain[predict.FIRST])} the speed to the first token and
{_times(plain[predict.THROUGHPUT])} the throughput of the row in the middle, and in its worst row
{digits(far[worst])} times as much ({worst}).</p>
<div class="figure"><div class="picture">{repairs.failing()}</div></div>"""


def _repairing() -> str:
    return f"""<h2 id="what-each-term-repairs">What each term repairs</h2>
<p>The median of the absolute error while causes are added one by one, in this order: {_largest()}. A cause that a quantity
does not feel leaves its bar as it is; one that makes it longer is no mistake: two wrongs had cancelled.</p>
<div class="figure"><div class="picture">{repairs.repairing()}</div></div>"""


def _largest() -> str:
    """What repairs most, in words, for decode and for the first token."""
    said = []
    for group, words in ((predict.SPEED, "decode"), (predict.FIRST, "the first token")):
        path = repairs.steps()[group]
        cause = max(range(1, len(path)), key=lambda i: path[i - 1][1] - path[i][1])
        said.append(f"for {words} most is repaired by “{path[cause][0]}” ({share(path[cause - 1][1])} to {share(path[cause][1])})")
    return ", ".join(said)


def _medians(report: dict) -> str:
    """Medians by engine and card: of all rows, and of rows not seen."""
    parts = []
    for by, column, title in (("engine", "engine", "By engine"), ("card", "gpu", "By card")):
        unseen = _by(check.held_out_lines(), column)
        lines = [(name, entry["rows"], share(entry["median_error"]), len(unseen.get(name, ())),
                  share(_unseen_error(unseen[name])) if name in unseen else "–")
                 for name, entry in sorted(report["medians"][by].items(), key=lambda pair: -pair[1]["rows"])]
        head = (by.capitalize(), "Rows", "Median error, fitted", "Rows not seen", "Median error, not seen")
        parts.append(f"<h2>{title}</h2>" + table(head, lines))
    return "".join(parts)


def _worst(report: dict) -> str:
    parts = ['<h2 id="worst">The worst row of each, and why</h2>']
    for by in ("quantity", "engine", "card"):
        lines = [(name, entry["id"], entry["quantity"], _signed(entry["error"]), entry["why"])
                 for name, entry in sorted(report["worst"][by].items())]
        parts.append(f"<h3>By {by}</h3>" + table((by.capitalize(), "Row", "What was measured", "Error", "Why"), lines, "reference"))
    return "".join(parts)


def missing(report: dict) -> str:
    """The rows that the model has nothing to say to, and what each lacked."""
    lacking = report["not_predicted"]
    head = '<h2 id="not-predicted">What could not be predicted</h2>'
    if not lacking:
        return (head + f"<p>None of the {whole(len(report['rows']))} rows: each says what the model needs. A row that does not is listed by "
                "<code>python -m model check FILE.csv</code> with what it lacks.</p>")
    return (head + f"<p>{whole(len(lacking))} of {whole(len(report['rows']))} rows, and what they lacked:</p>"
            + table(("Row", "Quantity", "What it lacks"), [(one["id"], one["quantity"], one["lacks"]) for one in lacking], "reference"))


def _rows(report: dict) -> str:
    lines = [(one.row.id, _source(one.row), *(
        escape(one.row.text(name)) for name in ("gpu", "llm", "engine", "load", "prompt_tokens", "context_or_output")),
              escape(f"{one.row.quantity} ({one.row.unit})"), digits(one.row.value) if one.row.value >= 0.01 else f"{one.row.value:.3g}",
              "–" if one.value is None else digits(one.value) if one.value >= 0.01 else f"{one.value:.3g}",
              "–" if one.error is None else _signed(one.error)) for one in predictions()]
    return ('<h2 id="rows">Every row</h2><p>With the terms fitted on all rows. The same from a terminal: '
            "<code>python -m model check</code>, or with a file of your own in these columns: "
            f"<code>{', '.join(rows.COLUMNS)}</code>.</p>" + _table(TABLE, lines, "reference every"))


def _source(row: rows.Row) -> str:
    """Who measured, with a link where it stands on the web."""
    url, name = row.text("url"), escape(row.source)
    return f'<a href="{escape(url, quote=True)}">{name}</a>' if url.startswith("https://") else f"{name} ({escape(url)})"


def table(head: tuple, lines: list[tuple], kind: str = "numbers") -> str:
    """An HTML table of plain text. `kind`, a class of the page's style: numbers, or reference for columns of words."""
    return _table(head, [tuple(escape(whole(cell) if isinstance(cell, int) else str(cell)) for cell in line) for line in lines], kind)


def _table(head: tuple, lines: list[tuple], kind: str) -> str:
    """The same of HTML cells."""
    top = "".join(f'<th scope="col">{name}</th>' for name in head)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in line) + "</tr>" for line in lines)
    return (f'<div class="scroll {kind}" tabindex="0" role="region" aria-label="{head[0]}">'
            f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>")


def _by(lines: list[dict], column: str) -> dict[str, list[dict]]:
    found: dict[str, list[dict]] = {}
    for line in lines:
        found.setdefault(line[column], []).append(line)
    return found


def _unseen_error(lines: list[dict]) -> float:
    return statistics.median(abs(float(line["error"])) for line in lines)


def _reach(group: str) -> str:
    entry = points.spread()[group]
    return f"{_signed(entry['low'] - 1)} to {_signed(entry['high'] - 1)}"


def _signed(error: float) -> str:
    """`+7%`, `−12%`, `0%`."""
    return f"{error:+.0%}".replace("-", "−") if abs(error) >= 0.005 else "0%"


def _times(ratio: float) -> str:
    return f"{ratio:.2f} times"
