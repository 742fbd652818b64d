"""Static and continuous batching: the essay's numbers, a timeline by hand, and the laws that any schedule keeps."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from model.batching import batch

REPLIES = st.lists(st.integers(1, 40), min_size=1, max_size=40)
SLOTS = st.integers(1, 9)


@pytest.mark.parametrize("slots, replies, static, continuous, source", [
    (4, (24, 26, 10, 28, 28, 8, 30, 4, 26, 16), 84, 58, "the essay's defaults"),
    (1, (3, 4, 5), 12, 12, "one slot: one after the other"),
    (5, (3, 4, 5), 5, 5, "more slots than replies: the longest decides"),
    (2, (1, 9, 1, 9), 18, 11, "by hand: 0-1 and 0-9, then 1-2, then 2-11"),
    (2, (5,), 5, 5, "a single reply"),
])
def test_steps(slots, replies, static, continuous, source):
    both = batch(slots, replies)
    assert (both.static.steps, both.continuous.steps) == (static, continuous), source


def test_timeline_by_hand():
    static, continuous = (b.grid().tolist() for b in (batch(2, (3, 1, 2)).static, batch(2, (3, 1, 2)).continuous))
    assert static == [[0, 1], [0, -1], [0, -1], [2, -1], [2, -1]]
    assert continuous == [[0, 1], [0, 2], [0, 2]]


def test_idle_share_of_the_essay():
    both = batch()
    assert both.static.idle_share == pytest.approx(1 - 200 / (4 * 84))
    assert both.continuous.idle_share == pytest.approx(1 - 200 / (4 * 58))


@given(SLOTS, REPLIES)
def test_continuous_lies_between_the_work_and_static(slots, replies):
    both = batch(slots, replies)
    assert -(-sum(replies) // slots) <= both.continuous.steps <= both.static.steps


@given(SLOTS, REPLIES)
def test_every_reply_is_written_once_and_no_slot_twice(slots, replies):
    for schedule in (batch(slots, replies).static, batch(slots, replies).continuous):
        grid = schedule.grid()
        assert np.array_equal(np.bincount(grid[grid >= 0], minlength=len(replies)), replies)
        assert np.array_equal(schedule.end_step - schedule.start_step, replies)
        assert np.all(np.diff(schedule.start_step) >= 0)
        assert schedule.idle_share == pytest.approx(np.mean(grid < 0))


@given(SLOTS, REPLIES)
def test_continuous_leaves_no_slot_empty_while_replies_wait(slots, replies):
    schedule = batch(slots, replies).continuous
    last_start = schedule.start_step[-1]
    assert np.all(schedule.grid()[:last_start] >= 0)


@pytest.mark.parametrize("slots, replies, says", [
    (0, (3,), "slots is 0: it must be a whole number from 1 to 10,000"),
    (2.5, (3,), "slots is 2.5"),
    (2, (), "replies is empty"),
    (2, (3, 0), r"replies\[1\] is 0"),
    (2, (3, float("nan")), r"replies\[1\] is nan"),
])
def test_bad_input(slots, replies, says):
    with pytest.raises(ValueError, match=says):
        batch(slots, replies)
