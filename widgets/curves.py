"""What a curve needs besides its points: being drawn only as far as the player has come."""
from __future__ import annotations

import numpy as np


def so_far(values, frames) -> np.ndarray:
    """(F, n): the n values as far as frame f has come, NaN from there on. frames (F,): how many are drawn in each."""
    values, frames = np.asarray(values, dtype=float), np.asarray(frames)
    return np.where(np.arange(len(values)) < frames[:, None], values, np.nan)
