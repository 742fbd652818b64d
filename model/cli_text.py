"""How the command line shows an answer: a sentence, bars, aligned lines, within 80 columns; or JSON."""
import json
from dataclasses import dataclass, field

import numpy as np

WIDTH = 80
BAR = 44


@dataclass
class Report:
    """An answer. data: for --json, keys with their unit. head: what was asked, what: in which words. bars: (label, share of
    the longest 0 to 1, value) each; lines: (label, value, note) each; drawing: lines as they are."""

    data: dict
    head: str
    what: str = ""
    bars: list = field(default_factory=list)
    drawing: list = field(default_factory=list)
    lines: list = field(default_factory=list)


def as_json(report):
    """The report's data as JSON text."""
    return json.dumps(report.data, indent=2, default=_plain, allow_nan=False, ensure_ascii=False)


def as_text(report):
    """The report as lines to read in a terminal."""
    parts = [wrapped(report.head, WIDTH) + (wrapped(report.what, WIDTH) if report.what else [])]
    if report.bars:
        names = max(len(label) for label, _, _ in report.bars)
        parts.append([f"  {label:<{names}}  {bar(share)}  {value:>10}" for label, share, value in report.bars])
    if report.drawing:
        parts.append([f"  {line}" for line in report.drawing])
    if report.lines:
        parts.append(_aligned(report.lines))
    return "\n\n".join("\n".join(line.rstrip() for line in part) for part in parts)


def bar(share, width=BAR):
    """A bar of eighths of characters; nothing for 0, a sliver for anything above."""
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    if share > 0 and not eighths:
        eighths = 1
    return ("█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()).ljust(width)


def spark(times, values, most, width=60):
    """One line of width characters: the largest of values in each stretch of time, as eighths of most; times are ascending."""
    times, values = np.asarray(times, dtype=float), np.asarray(values, dtype=float)
    place = np.minimum(width - 1, (times / max(times[-1], 1e-9) * width).astype(int))
    tops = np.zeros(width)
    np.maximum.at(tops, place, values)
    steps = np.ceil(8 * np.clip(tops / max(most, 1e-9), 0, 1)).astype(int)
    return "".join(" ▁▂▃▄▅▆▇█"[step] for step in steps)


def bars(*pairs):
    """Bars for Report.bars from (label, ms) pairs, the longest as long as there is room for."""
    longest = max(value for _, value in pairs) or 1.0
    return [(label, value / longest, ms(value)) for label, value in pairs]


def wrapped(text, width):
    """text in lines of at most width characters, broken between words."""
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    return [*lines, line]


def count(number):
    """A whole number with commas."""
    return f"{number:,.0f}"


def people(number):
    """So many people, in words."""
    return f"{number:,.0f} person" if number == 1 else f"{number:,.0f} people"


def many(number, thing):
    """So many things, in words: 1 page, 2 pages, 2 replies."""
    plural = thing[:-1] + "ies" if thing.endswith("ply") else thing + "s"
    return f"{number:,.0f} {thing if number == 1 else plural}"


def ms(number):
    """Milliseconds, or seconds from ten on, in four figures or so."""
    if number >= 10_000:
        return f"{number / 1000:,.2f} s"
    return f"{number:,.0f} ms" if number >= 1000 else f"{number:.1f} ms" if number >= 100 else f"{number:.2f} ms"


def gb(number):
    """Bytes as GB of 10^9, the unit in which cards are sold."""
    return f"{number / 1e9:,.2f} GB"


def kib(number):
    """Bytes as KiB."""
    return f"{number / 1024:,.4g} KiB"


def percent(share):
    """A share of 1 as a percentage."""
    return f"{100 * share:.1f}%"


def table(head, rows):
    """Lines of a table with its columns right-aligned, the first one left."""
    cells = [head, *rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    return ["  ".join(f"{cell:<{w}}" if i == 0 else f"{cell:>{w}}" for i, (cell, w) in enumerate(zip(row, widths)))
            for row in cells]


def _aligned(lines):
    names = max(len(label) for label, _, _ in lines)
    values = max(len(value) for _, value, _ in lines)
    room = WIDTH - names - values - 6
    shown = []
    for label, value, note in lines:
        first, *more = wrapped(note, max(room, 20))
        shown.append(f"  {label:<{names}}  {value:>{values}}  {first}")
        shown.extend(" " * (names + values + 6) + line for line in more)
    return shown


def _plain(value):
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not for JSON")
