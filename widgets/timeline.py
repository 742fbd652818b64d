"""Rows of blocks on a time axis: where they stand, what lies idle between them, and the axis's round ticks.

A `veil` is a sheet of paper over all that is ahead of the cursor: one moving edge makes everything ahead pale.
"""
from __future__ import annotations

import math

import numpy as np

from .plots import blocks, ticks

VEIL = 0.68          # how much of the colour a veil takes


def rows(slot: np.ndarray, start: np.ndarray, end: np.ndarray, top: float, pitch: float, gap: float = 0.0) -> dict:
    """Columns of blocks that last from start to end (n,) in the row of their slot (n,); rows run down from `top`."""
    y = top + np.asarray(slot) * pitch
    return dict(left=np.asarray(start, float), right=np.asarray(end, float), top=y + gap / 2, bottom=y + pitch - gap / 2)


def idle(slot: np.ndarray, start: np.ndarray, end: np.ndarray, slots: int, until: float):
    """(slot, start, end) of the times up to `until` in which a slot holds no block; blocks of a slot do not overlap."""
    slot = np.concatenate([slot, np.arange(slots)])            # every slot's end counts as a block without length
    start, end = (np.concatenate([side, np.full(slots, until)]) for side in (start, end))
    order = np.lexsort((start, slot))
    slot, start, end = slot[order], start[order], end[order]
    before = np.concatenate([[0], end[:-1]])
    before = np.where(np.concatenate([[True], slot[1:] != slot[:-1]]), 0, before)
    empty = start > before
    return slot[empty], before[empty], start[empty]


def stack(*parts: dict) -> dict:
    """The columns of several sources as one."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def steps(until: float, most: int = 5) -> np.ndarray:
    """Round numbers from 0 up to `until`, at most `most` + 1 of them: 1, 2 or 5 times a power of ten apart."""
    if until <= 0:
        return np.zeros(1)
    power = 10.0 ** math.floor(math.log10(until / most))
    step = next(power * k for k in (1, 2, 5, 10) if power * k * most >= until * (1 - 1e-9))
    return np.arange(0, until * (1 + 1e-9), step)


def time_ticks(axis: str, until_ms: float, most: int = 5) -> dict:
    """Props that put round moments on an axis in ms up to `until_ms`, and its unit below it: s from ten seconds on."""
    size, unit = (1000, "s") if until_ms >= 10_000 else (1, "ms")
    values = steps(until_ms, most)
    return {**ticks(axis, values, [f"{v / size:,g}" for v in values]), f"{axis}.axis_label": unit}


def beside(x: np.ndarray, y: np.ndarray, text: list[str], span: float, name: str) -> dict[str, dict]:
    """Two sources of labels that end or begin at their x: `<name>_left` where more than half of the axis lies to the left
    of it, `<name>_right` elsewhere, so that each has half of the frame for itself at any width."""
    left = np.asarray(x) > span / 2
    return {f"{name}_{side}": dict(x=np.asarray(x)[there], y=np.asarray(y)[there],
                                   text=[words for words, yes in zip(text, there) if yes])
            for side, there in (("left", left), ("right", ~left))}


def apart(x: np.ndarray, span: float, most: int = 500) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Moments x (rising) on an axis of length `span`: those that can be seen one by one, and start and end of the
    stretches in which they are so close (`most` on the whole axis) that a screen shows one band. Where there is a band,
    those up to twice as far apart join in: passes that get slower are not strokes all of a sudden."""
    gaps = np.diff(x)
    near = gaps < span / most * (2 if np.any(gaps < span / most) else 1)
    before, after = np.concatenate([[False], near]), np.concatenate([near, [False]])
    return x[~before & ~after], x[~before & after], x[before & ~after]


def veil(p, name: str = "veil"):
    """Draws the veil: source `name` (left, right, bottom, top), whose left edges are the cursor."""
    return blocks(p, name, "paper", alpha=VEIL, part="ahead")
