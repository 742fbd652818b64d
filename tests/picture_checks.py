"""What every picture must keep, whatever its settings: nothing outside the frame, frames that agree with each other."""
import math

import numpy as np

from app.figure import Figure, Live

EDGES = {"left": "x", "right": "x", "x": "x", "x0": "x", "x1": "x", "bottom": "y", "top": "y", "y": "y", "y0": "y", "y1": "y"}


def check(figure: Figure, **values) -> Live:
    """The figure alive with these settings, after looking at its first, a middle and its telling frame."""
    live = Live(figure, **values)
    picture = live.picture
    assert np.all(np.diff(picture.clock_ms) >= 0) and np.all(np.isfinite(picture.clock_ms))
    answer = picture.frames["say.sentence"][picture.telling]
    assert all(said.endswith(answer) for said in picture.frames["say.sentence"])
    assert not any(word in said for said in picture.frames["say.sentence"] for word in ("nan", "inf ", "None", "  "))
    assert all(isinstance(fact, str) for fact in picture.facts.values())
    assert all(len(row) == len(picture.table[0]) for row in picture.table[1])
    for at in {0, len(picture) // 2, picture.telling}:
        live.show(at)
        for p in live.plots:
            for renderer in p.renderers:
                inside(p, renderer)
    return live


def sentence(picture, at: int | None = None) -> str:
    """What the picture says in frame `at`, the telling one if None."""
    return picture.frames["say.sentence"][picture.telling if at is None else at]


def inside(p, renderer) -> None:
    """Every block, stroke and word stands in the plot's frame; all columns are equally long; blocks have no negative side."""
    data = renderer.data_source.data
    name = renderer.name
    assert len({len(column) for column in data.values()}) <= 1, f"{name}: {({k: len(v) for k, v in data.items()})}"
    for column in {"color", "text", "shown"} & set(data):
        assert isinstance(data[column], list) and all(type(word) is str for word in data[column]), \
            f"{name}.{column}: BokehJS takes words as a list, also where there are none"
    for column, axis in EDGES.items():
        if column not in data:
            continue
        numbers = np.asarray(data[column], dtype=float)
        hidden = np.isnan(numbers)
        assert not hidden.any() or column in ("x", "x0", "x1", "right"), f"{name}.{column} has gaps"
        r = p.x_range if axis == "x" else p.y_range
        low, high = sorted((r.start, r.end))
        slack = 1e-4 * (high - low)
        assert np.all(hidden | (numbers >= low - slack) & (numbers <= high + slack)), f"{name}.{column} leaves {low} to {high}"
    if "left" in data:
        left, right = (np.asarray(data[side], dtype=float) for side in ("left", "right"))
        assert np.all(np.isnan(right) | (right - left >= -1e-4 * math.fabs(p.x_range.end - p.x_range.start))), f"{name} runs backwards"
