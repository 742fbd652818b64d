"""Two pictures of errors: ratios as dots along a logarithmic axis, and shares as bars with their words inside."""
from __future__ import annotations

import numpy as np

from .plots import blocks, dots, labels, lines, plot

ROW = 1.0             # height of a group of dots, in rows
LANES = (-0.16, 0.2)  # where the first and the second kind of dots lie within a row, downwards from its middle
REACH = 0.14          # how far dots that would cover each other move up and down from there
BAR_PX, GAP = 23, 0.1
WORD_SHARE = 0.012    # of the axis: where the words in a bar begin


def spread_out(x: np.ndarray, bins: int, reach: float) -> np.ndarray:
    """(n,) offsets for dots at x (0 to 1): those in the same of `bins` bins stand above and below each other, `reach` at most."""
    place = np.clip((np.asarray(x) * bins).astype(int), 0, bins - 1)
    offset = np.zeros(len(place))
    for here in np.unique(place):
        found = np.flatnonzero(place == here)
        if len(found) > 1:
            offset[found] = np.linspace(-1, 1, len(found)) * reach * min(1.0, len(found) / 6)
    return offset


def ratio_strips(name: str, groups: list[str], first: list, second: list, limits: tuple[float, float], marks: dict[float, str],
                 axis_label: str, row_px: int = 88) -> list:
    """One plot: a row for each group with two lanes of dots, hollow for `first` (list of (n,) ratios) and filled for `second`,
    each lane's median as a stroke, and a line where the ratio is 1. `marks`: {ratio: words} of the axis."""
    rows = len(groups)
    p = plot(name, row_px * rows + 40, limits, (rows, 0), axis=True, log=True, axis_label=axis_label)
    lines(p, f"{name}_one", "muted", dash="dashed")
    dots(p, f"{name}_first", "misfit", size=6, hollow=True)
    dots(p, f"{name}_second", "memory", size=6)
    lines(p, f"{name}_medians", "ink", width=2.5)
    labels(p, f"{name}_names", "ink", bold=True)
    low, high = np.log(limits)
    for kind, lane, ratios in (("first", LANES[0], first), ("second", LANES[1], second)):
        along = [np.clip(np.asarray(r, float), *limits) for r in ratios]
        y = [i + 0.5 * ROW + 0.06 + lane + spread_out((np.log(a) - low) / (high - low), 60, REACH) for i, a in enumerate(along)]
        fill(p, f"{name}_{kind}", x=np.concatenate(along), y=np.concatenate(y))
    at = [(float(np.median(r)), i + 0.56 + lane) for lane, ratios in zip(LANES, (first, second)) for i, r in enumerate(ratios)]
    fill(p, f"{name}_medians", x0=[x for x, _ in at], x1=[x for x, _ in at], y0=[y - 0.16 for _, y in at], y1=[y + 0.16 for _, y in at])
    fill(p, f"{name}_one", x0=[1.0], x1=[1.0], y0=[0.0], y1=[float(rows)])
    fill(p, f"{name}_names", x=[limits[0] * 1.02] * rows, y=[i + 0.12 for i in range(rows)], text=list(groups))
    set_ticks(p, marks)
    return [p]


def bars(name: str, words: list[str], shares: list[float], end: float, colours: list[str]) -> list:
    """One plot of bars from 0, one below the other, each with its words in it and then its own share at the left edge."""
    n = len(words)
    p = plot(name, BAR_PX * n, (0.0, end), (float(n), 0.0), left=0, right=0)
    for colour in dict.fromkeys(colours):
        here = np.flatnonzero([c == colour for c in colours])
        blocks(p, f"{name}_{colour}", colour, alpha=0.55)
        fill(p, f"{name}_{colour}", left=np.zeros(len(here)), right=np.minimum(np.asarray(shares)[here], end),
             top=here + GAP, bottom=here + 1 - GAP)
    labels(p, f"{name}_words", "ink", size=12)
    fill(p, f"{name}_words", x=[WORD_SHARE * end] * n, y=[i + 0.5 for i in range(n)], text=list(words))
    return [p]


def set_ticks(p, marks: dict[float, str]) -> None:
    """Puts words on the axis below a plot that no Picture fills."""
    axis = p.below[0]
    axis.ticker.ticks = [float(at) for at in marks]
    axis.major_label_overrides = {float(at): words for at, words in marks.items()}


def fill(p, name: str, **columns) -> None:
    """Puts columns into a plot's source of this name."""
    source = next(r.data_source for r in p.renderers if r.data_source.name == name)
    data = {key: list(values) for key, values in columns.items()}
    source.data = {**data, "shown": data["text"]} if "text" in data else data
