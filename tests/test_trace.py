"""A request alone: prefill yields the first token, each decode pass one more; and what every Trace keeps to."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from model.machine import machine
from model.passes import pass_cost
from model.trace import BOUNDS, DECODE, PREFILL, prefill_decode

M = machine()


def test_the_essay():
    t = prefill_decode(M, 2000, 20)
    assert t.passes == 20
    assert t.pass_ms[0] == pytest.approx(194, abs=0.5)
    assert BOUNDS[t.bound_by[0]] == "arithmetic" and all(BOUNDS[b] == "memory" for b in t.bound_by[1:])
    assert t.bytes[0] == 2 * 8_030_261_248, "a prefill reads the weights once"
    short = prefill_decode(M, 1, 2)
    assert short.pass_ms[1] == pytest.approx(15.9, abs=0.05)
    assert 1000 / short.pass_ms[1] == pytest.approx(62.8, abs=0.05)
    assert short.pass_ms[1] / (t.pass_ms[0] / 2000) == pytest.approx(164, abs=0.5)


def test_by_hand():
    """Prompt of 30, reply of 4: held 30, 31, 32, 33 (the last token is never put into the cache), pages 2, 2, 2, 3."""
    t = prefill_decode(M, 30, 4)
    assert t.tokens[:, 0].tolist() == [30, 1, 1, 1]
    assert t.state[:, 0].tolist() == [PREFILL, DECODE, DECODE, DECODE]
    assert t.held[:, 0].tolist() == [30, 31, 32, 33]
    assert t.pages[:, 0].tolist() == [2, 2, 2, 3]
    assert t.token_ms(0) == pytest.approx(t.end_ms)


@settings(deadline=None)
@given(st.integers(1, 20_000), st.integers(1, 60))
def test_laws(prompt, reply):
    t = prefill_decode(M, prompt, reply)
    assert t.start_ms[0] == 0 and np.array_equal(t.start_ms[1:], t.end_ms[:-1])
    assert t.written.sum() == reply
    assert np.array_equal(t.held[:, 0], np.cumsum(t.tokens[:, 0]))
    assert np.all(np.diff(t.pass_ms[1:]) >= 0)
    assert np.all((t.memory_busy <= 1) & (t.arithmetic_busy <= 1))
    assert np.allclose(np.maximum(t.memory_busy, t.arithmetic_busy), 1), "the datasheet's pass is bound by one of the two"
    assert np.array_equal(t.bound_by == 1, t.arithmetic_busy > t.memory_busy)


@settings(deadline=None)
@given(st.integers(1, 200), st.integers(0, 20_000), st.integers(1, 50), st.integers(1, 5000))
def test_a_pass_never_gets_faster_with_users_or_context(users, context, more_users, more_context):
    here = pass_cost(M, users=users, context=context).pass_ms
    assert pass_cost(M, users=users + more_users, context=context).pass_ms >= here
    assert pass_cost(M, users=users, context=context + more_context).pass_ms >= here


@pytest.mark.parametrize("wrong, says", [
    ({"prompt_tokens": 0}, "prompt_tokens is 0: it must be a whole number"), ({"reply_tokens": 0}, "reply_tokens is 0"),
    ({"prompt_tokens": 1.5}, "prompt_tokens is 1.5")])
def test_bad_input(wrong, says):
    with pytest.raises(ValueError, match=says):
        prefill_decode(M, **wrong)
