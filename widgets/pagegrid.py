"""Memory as a grid of pages in reading order: where each page stands, the outline of some, the veil over those to come."""
from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Grid:
    """`pages` cells from (left, top), `columns` of them in a row of this `width`; each row is `row` high, y runs down."""

    pages: int
    columns: int
    left: float
    top: float
    width: float
    row: float

    @classmethod
    def fitted(cls, pages: int, left: float, top: float, width: float, height: float) -> Grid:
        """As many columns as rows, the rows filling `height`."""
        columns = max(1, math.ceil(math.sqrt(pages)))
        return cls(pages, columns, left, top, width, height / max(1, -(-pages // columns)))

    def place(self, page: np.ndarray, filled: np.ndarray | float = 1.0) -> dict:
        """Columns of the cells of these pages (n,), each filled from the left up to a share `filled`, 0 to 1."""
        row, column = np.divmod(np.asarray(page), self.columns)
        cell = self.width / self.columns
        left, top = self.left + column * cell, self.top + row * self.row
        return {side: np.asarray(values, np.float32) for side, values in
                dict(left=left, right=left + cell * filled, top=top, bottom=top + self.row).items()}

    def gaps(self, page: np.ndarray, filled: np.ndarray) -> dict:
        """Columns of what is empty in these pages, of which a share `filled` < 1 is filled."""
        whole, part = self.place(page), self.place(page, filled)
        return dict(whole, left=part["right"])

    def outline(self, page: np.ndarray) -> dict:
        """Strokes (x0, y0, x1, y1) around these pages, where they meet others or the edge."""
        rows = -(-self.pages // self.columns)
        inside = np.zeros((rows + 2, self.columns + 2), dtype=bool)
        row, column = np.divmod(np.asarray(page, dtype=int), self.columns)
        inside[row + 1, column + 1] = True
        line, start, end = _runs(inside[1:, 1:-1] != inside[:-1, 1:-1])
        other, above, below = _runs((inside[1:-1, 1:] != inside[1:-1, :-1]).T)
        x = self.left + np.concatenate([start, other, end, other]) * self.width / self.columns
        y = self.top + np.concatenate([line, above, line, below]) * self.row
        half = len(start) + len(other)
        return dict(x0=x[:half], y0=y[:half], x1=x[half:], y1=y[half:])

    def veil(self, used: np.ndarray, until: int) -> dict[str, np.ndarray]:
        """(F, 2) left, right, top, bottom of the sheets over the pages from `used` (F,) up to `until`: the rest of the row
        in which the next page stands, and the rows below it."""
        used = np.minimum(np.asarray(used), until)[:, None]
        row, column = np.divmod(used, self.columns)
        last = max(0, until - 1) // self.columns + 1
        one_row = row == last - 1
        tail = np.where(one_row, until - row * self.columns, self.columns)
        x = self.width / self.columns
        ahead = used < until
        first = dict(left=column, right=np.where(ahead, tail, column), top=row, bottom=row + 1)
        rest = dict(left=0 * row, right=0 * row + self.columns, top=np.minimum(row + 1, last), bottom=0 * row + last)
        both = {side: np.concatenate([first[side], rest[side]], axis=1).astype(float) for side in first}
        both["bottom"] = np.maximum(np.minimum(both["bottom"], last), both["top"])
        return {side: (self.left + values * x if side in ("left", "right") else self.top + np.minimum(values, last) * self.row)
                for side, values in both.items()}


def _runs(edges: np.ndarray):
    """(line, start, end) of the runs of True along each line of a 2-D array."""
    padded = np.pad(edges, ((0, 0), (1, 1)))
    turns = np.diff(padded.astype(np.int8), axis=1)
    line, start = np.nonzero(turns == 1)
    return line, start, np.nonzero(turns == -1)[1]
