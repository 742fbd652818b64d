"""What a number may be, and what is said of one that may not."""

import math
import re

import numpy as np
import pytest

from model.limits import number, whole, wholes


@pytest.mark.parametrize("value, is_", [(3, 3), (3.0, 3), (np.int64(3), 3), (np.float64(7), 7), (1, 1), (9, 9)])
def test_whole(value, is_):
    assert whole("n", value, 1, 9) == is_ and type(whole("n", value, 1, 9)) is int


@pytest.mark.parametrize("value", [0, 10, 2.5, math.nan, math.inf, "3", None, True])
def test_not_whole(value):
    with pytest.raises(ValueError, match=re.escape(f"n is {value!r}: it must be a whole number from 1 to 9")):
        whole("n", value, 1, 9)


@pytest.mark.parametrize("value, above, says", [
    (-0.1, False, "from 0 to 1"), (1.1, False, "from 0 to 1"), (math.nan, False, "from 0 to 1"), ("1", False, "from 0 to 1")])
def test_not_a_number(value, above, says):
    with pytest.raises(ValueError, match=says):
        number("x", value, 0, 1, above)


def test_above():
    assert number("x", 0.1, 0, above=True) == 0.1
    with pytest.raises(ValueError, match="x is 0: it must be a number above 0"):
        number("x", 0, 0, above=True)


def test_wholes():
    assert wholes("n", [1, 2.0], 1) == (1, 2)
    with pytest.raises(ValueError, match=re.escape("n[1] is 0: it must be a whole number of at least 1")):
        wholes("n", (1, 0), 1)
