"""A grid of pages: cells and outlines by hand, and outlines of any pages."""
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from widgets.pagegrid import Grid

GRID = Grid(pages=7, columns=3, left=10.0, top=100.0, width=6.0, row=4.0)


def test_cells_by_hand():
    cells = GRID.place(np.array([0, 5, 6]), np.array([1.0, 0.5, 1.0]))
    assert cells["left"].tolist() == [10, 14, 10] and cells["right"].tolist() == [12, 15, 12]
    assert cells["top"].tolist() == [100, 104, 108] and cells["bottom"].tolist() == [104, 108, 112]


@pytest.mark.parametrize("members, strokes", [
    ([], set()),
    ([0], {(10, 100, 12, 100), (10, 104, 12, 104), (10, 100, 10, 104), (12, 100, 12, 104)}),
    ([0, 1, 2, 3], {(10, 100, 16, 100), (12, 104, 16, 104), (10, 108, 12, 108), (10, 100, 10, 108), (12, 104, 12, 108),
                    (16, 100, 16, 104)}),
])
def test_outline_by_hand(members, strokes):
    o = GRID.outline(np.array(members, dtype=int))
    assert set(zip(*(o[k].tolist() for k in ("x0", "y0", "x1", "y1")))) == strokes


@given(st.integers(1, 60), st.data())
def test_outlines_have_the_length_of_the_edges(pages, data):
    """The strokes are as long together as all edges between a member and none."""
    columns = Grid.fitted(pages, 0.0, 0.0, 1.0, 1.0).columns
    members = data.draw(st.sets(st.integers(0, pages - 1)))
    unit = Grid(pages, columns, 0.0, 0.0, float(columns), 1.0)
    o = unit.outline(np.array(sorted(members), dtype=int))
    length = np.sum(np.abs(o["x1"] - o["x0"]) + np.abs(o["y1"] - o["y0"]))
    edges = sum(4 - sum(n in members for n in neighbours(m, unit.columns, pages)) for m in members)
    assert length == pytest.approx(edges)


def neighbours(page, columns, pages):
    row, column = divmod(page, columns)
    beside = [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
    return [r * columns + c for r, c in beside if r >= 0 and 0 <= c < columns and r * columns + c < pages]
