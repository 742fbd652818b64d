"""What curves need besides their points: round ticks, a curve drawn as far as the player has come, words in pixels."""
from __future__ import annotations

import math

import numpy as np

STEPS = (1, 2, 5, 10)


def round_ticks(limit: float, most: int = 5) -> list[float]:
    """At most `most` + 1 round numbers at equal steps from 0 to `limit`, which is above 0."""
    rough = limit / most
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(s * size for s in STEPS if s * size >= rough * (1 - 1e-9))
    return [i * step for i in range(int(limit / step * (1 + 1e-9)) + 1)]


def so_far(values, frames, first: int = 0) -> np.ndarray:
    """(F, n): the n values as far as frame f has come, NaN from there on. frames (F,): how many are drawn in each."""
    values, frames = np.asarray(values, dtype=float), np.asarray(frames)
    return np.where(first + np.arange(len(values)) < frames[:, None], values, np.nan)
