"""Rows of blocks on a time axis: idle times, labels and ticks by hand and as laws."""
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.batching import batch
from widgets.timeline import apart, beside, idle, steps, time_ticks


def test_idle_by_hand():
    """Slot 0: 0-3 and 5-8; slot 1 nothing; slot 2: 2-8."""
    slot, start, end = idle(np.array([0, 2, 0]), np.array([0, 2, 5]), np.array([3, 8, 8]), slots=3, until=10)
    assert list(zip(slot.tolist(), start.tolist(), end.tolist())) == [(0, 3, 5), (0, 8, 10), (1, 0, 10), (2, 0, 2), (2, 8, 10)]


@given(st.integers(1, 6), st.lists(st.integers(1, 30), min_size=1, max_size=20))
def test_idle_is_what_the_schedule_calls_idle(slots, replies):
    for s in vars(batch(slots, tuple(replies))).values():
        _, start, end = idle(s.slot, s.start_step, s.end_step, slots, s.steps)
        assert np.sum(end - start) == np.sum(s.grid() == -1)


@pytest.mark.parametrize("until, most, expected", [
    (84, 5, [0, 20, 40, 60, 80]), (1, 5, [0, 0.2, 0.4, 0.6, 0.8, 1]), (1051, 4, [0, 500, 1000]), (0, 5, [0])])
def test_steps_by_hand(until, most, expected):
    assert steps(until, most) == pytest.approx(expected)


@given(st.floats(0.01, 1e7), st.integers(2, 8))
def test_steps_are_few_and_within(until, most):
    values = steps(until, most)
    assert 1 <= len(values) <= most + 1 and values[0] == 0 and values[-1] <= until * 1.0001


def test_apart_by_hand():
    """Closer than 100 / 10: 30, 35, 41 are a band; 62 and 77 join each other, closer than twice that; 0 stands alone."""
    alone, start, end = apart(np.array([0.0, 30, 35, 41, 62, 77]), span=100, most=10)
    assert (alone.tolist(), start.tolist(), end.tolist()) == ([0], [30, 62], [41, 77])
    assert apart(np.array([0.0, 15, 40]), span=100, most=10)[0].tolist() == [0, 15, 40], "no band, nothing that joins"


@pytest.mark.parametrize("until_ms, last, unit", [(9_999, "8,000", "ms"), (10_000, "10", "s"), (15_500, "15", "s"), (450, "400", "ms")])
def test_time_ticks(until_ms, last, unit):
    props = time_ticks("a.axis", until_ms)
    assert props["a.axis.axis_label"] == unit and list(props["a.axis.major_label_overrides"].values())[-1] == last


def test_beside_by_hand():
    both = beside(np.array([84, 30]), np.array([1, 2]), ["far", "near"], 84, "end")
    assert both["end_left"]["text"] == ["far"] and both["end_right"]["text"] == ["near"]
    assert both["end_left"]["x"].tolist() == [84] and both["end_right"]["y"].tolist() == [2]
