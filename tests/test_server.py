"""A server under load: metrics by hand, the Trace of a run, and the laws that hold whatever arrives."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from model.machine import machine
from model.passes import pass_cost
from model.served import weighted_median
from model.server import serve
from model.trace import DECODE, DONE, PREEMPTED, PREFILL, WAITING

M = machine()
METRICS = ("ttft_ms_mean", "ttft_ms_p99", "itl_ms_mean", "itl_ms_median", "tpot_ms_mean", "tokens_per_s", "peak_kv_share",
           "preemptions")


def small(pages, **load):
    """A server with so many pages of 16 tokens: the rest of the card is overhead."""
    room = M.gpu.memory_bytes - 2 * M.llm.parameters - pages * 16 * 131_072
    return serve(M, utilization=1.0, overhead_bytes=room, **load)


def test_one_request_by_hand():
    """Prompt of 100, reply of 3: a prefill, then decode passes behind 100 and 101 tokens; 102 tokens are 7 pages."""
    s = serve(M, prompt=100, output=3, requests=1)
    first = pass_cost(M, users=0, prompt_tokens=100).pass_ms
    second, third = (pass_cost(M, users=1, context=held).pass_ms for held in (100, 101))
    assert s.ttft_ms_mean == s.ttft_ms_p99 == pytest.approx(first)
    assert s.itl_ms_mean == s.itl_ms_median == s.tpot_ms_mean == pytest.approx((second + third) / 2)
    assert s.tokens_per_s == pytest.approx(3000 / (first + second + third))
    assert s.peak_kv_share == pytest.approx(7 / (36_769 // 16))


def test_two_requests_by_hand():
    """The second arrives while the first one's prompt is read: its prompt shares a pass with a decode."""
    s = serve(M, arrivals=(0, 1), prompts=(100, 50), outputs=(3, 2))
    passes = [pass_cost(M, users=u, context=c, prompt_tokens=p).pass_ms for u, c, p in ((0, 0, 100), (1, 100, 50), (2, 75.5, 0))]
    ends = np.cumsum(passes)
    assert s.pass_end_ms == pytest.approx(ends)
    assert s.ttft_ms_mean == pytest.approx((ends[0] + ends[1] - 1) / 2)
    assert s.itl_ms_mean == pytest.approx((passes[1] + 2 * passes[2]) / 3)
    assert s.itl_ms_median == pytest.approx(np.median([passes[1], passes[2], passes[2]]))
    assert s.tpot_ms_mean == pytest.approx(((passes[1] + passes[2]) / 2 + passes[2]) / 2)
    assert s.waiting.tolist() == [0, 0, 0]


def test_ten_at_once_are_the_essay():
    """53.8 tokens a second each at 2,048 tokens: the decode pass in which all ten hold 2,048."""
    s = serve(M, rate=math.inf, prompt=2000, output=100, requests=10, max_batched_tokens=20_000)
    at = np.flatnonzero((s.users == 10) & (s.held == 20_480))
    assert 1000 / (s.pass_end_ms - s.pass_start_ms)[at] == pytest.approx([53.8], abs=0.05)


def test_a_shared_prompt_is_read_and_stored_once():
    alone, shared = (serve(M, rate=math.inf, prompt=1000, output=20, requests=20, shared_prompt=n) for n in (0, 810))
    assert alone.prompt_tokens.sum() == 20_000
    assert shared.prompt_tokens.sum() == 20_000 - 19 * 800
    assert shared.pages_used.max() == alone.pages_used.max() - 19 * 50


@settings(deadline=None)
@given(st.integers(0, 1000), st.integers(1, 500), st.integers(1, 60), st.floats(0, 1))
def test_one_user_does_not_depend_on_the_seed(seed, prompt, output, spread):
    here, there = (serve(M, prompt=prompt, output=output, requests=1, seed=s, spread=spread) for s in (seed, seed + 1))
    assert [getattr(here, name) for name in METRICS] == [getattr(there, name) for name in METRICS]


RUNS = st.fixed_dictionaries({
    "rate": st.sampled_from([1.0, 20.0, 200.0, math.inf]), "prompt": st.integers(1, 120), "output": st.integers(1, 60),
    "requests": st.integers(1, 25), "seed": st.integers(0, 99), "spread": st.sampled_from([0.0, 0.7]),
    "max_batched_tokens": st.integers(8, 300), "max_seqs": st.integers(1, 20)})


@settings(deadline=None, max_examples=150)
@given(RUNS, st.integers(12, 60))
def test_laws_of_a_run(load, pages):
    s = small(pages, **load)
    t = s.trace()
    assert t.written.sum(axis=0).tolist() == s.outputs.tolist(), "tokens out equal tokens asked for, preempted or not"
    assert np.all(t.pages * 16 >= t.held) and np.all(t.pages * 16 < t.held + 16)
    assert t.pages.sum(axis=1).tolist() == s.pages_used.tolist() and s.pages_used.max() <= pages
    assert t.pass_ms == pytest.approx(s.cost().pass_ms), "the quick pace is pass_cost's"
    for r in range(len(s.prompts)):
        assert t.token_ms(r)[0] == s.first_token_ms[r] and t.token_ms(r)[-1] == s.end_ms[r]
        reread = t.tokens[t.state[:, r] == PREFILL, r].sum()
        assert reread >= s.prompts[r] and (reread == s.prompts[r] or s.preempted[r])
        assert np.all((t.tokens[:, r] > 0) == np.isin(t.state[:, r], (PREFILL, DECODE)))
        last = np.flatnonzero(t.written[:, r])[-1]
        assert np.all(t.state[last + 1:, r] == DONE) and not np.any(t.state[:last + 1, r] == DONE)
    present = s.arrival_ms <= t.start_ms[:, None]
    queued = np.isin(t.state, (WAITING, PREEMPTED)) & present
    assert queued.sum(axis=1).tolist() == s.waiting.tolist()
    assert s.preemptions == s.preempted.sum()
    assert np.all(s.first_token_ms > s.arrival_ms)


@settings(deadline=None, max_examples=60)
@given(RUNS, st.integers(12, 60))
def test_metrics_are_those_of_the_token_times(load, pages):
    s = small(pages, **load)
    t = s.trace()
    times = [t.token_ms(r) for r in range(len(s.prompts))]
    gaps = np.concatenate([np.diff(x) for x in times])
    assert s.ttft_ms_mean == pytest.approx(np.mean([x[0] for x in times] - s.arrival_ms))
    assert s.itl_ms_mean == pytest.approx(gaps.mean() if len(gaps) else 0)
    assert s.itl_ms_median == pytest.approx(np.median(gaps) if len(gaps) else 0)
    each = [np.diff(x).mean() for x in times if len(x) > 1]
    assert s.tpot_ms_mean == pytest.approx(np.mean(each) if each else 0)


@settings(deadline=None, max_examples=60)
@given(RUNS, st.integers(12, 60), st.floats(0.01, 1.2))
def test_a_run_stopped_early_is_the_beginning_of_the_whole(load, pages, share):
    whole = small(pages, **load)
    until_ms = share * whole.pass_end_ms[-1]
    part = small(pages, **load, until_ms=until_ms)
    passes = len(part.users)
    assert passes == min(np.searchsorted(whole.pass_end_ms, until_ms) + 1, len(whole.users))
    for name in ("pass_start_ms", "pass_end_ms", "users", "held", "prompt_tokens", "prompt_offset", "pages_used", "waiting"):
        assert np.array_equal(getattr(part, name), getattr(whole, name)[:passes]), name
    for name in ("first_token_ms", "end_ms"):
        known = getattr(whole, name) <= part.pass_end_ms[-1]
        assert np.array_equal(getattr(part, name), np.where(known, getattr(whole, name), np.nan), equal_nan=True)
    assert np.array_equal(part.trace().state, whole.trace().state[:passes])
    assert np.array_equal(part.trace().tokens, whole.trace().tokens[:passes])


def test_metrics_of_a_run_stopped_early_are_over_complete_replies():
    """Two arrive together, the second is four times as long; stopped once the first is done, then before anybody is."""
    both = dict(arrivals=(0, 0), prompts=(100, 100), outputs=(5, 20))
    whole, part = serve(M, **both), serve(M, **both, until_ms=100)
    assert np.isnan(part.end_ms).tolist() == [False, True]
    assert part.ttft_ms_mean == pytest.approx(whole.first_token_ms[0])
    assert part.itl_ms_mean == part.tpot_ms_mean == pytest.approx((whole.end_ms[0] - whole.first_token_ms[0]) / 4)
    assert part.tokens_per_s == pytest.approx(5000 / whole.end_ms[0])
    nobody = serve(M, **both, until_ms=20)
    assert len(nobody.users) == 2 and nobody.ttft_ms_mean == nobody.itl_ms_mean == nobody.tokens_per_s == 0


def test_poisson_arrivals_come_at_the_rate_asked_for():
    s = serve(M, rate=4, prompt=10, output=1, requests=10_000)
    gaps = np.diff(s.arrival_ms)
    assert s.arrival_ms[0] == 0
    assert gaps.mean() == pytest.approx(250, abs=5 * 250 / 100) and gaps.std() == pytest.approx(gaps.mean(), rel=0.05)


def test_a_spread_keeps_the_mean():
    s = serve(M, rate=math.inf, prompt=400, output=100, requests=5000, spread=0.5)
    for lengths, mean in ((s.prompts, 400), (s.outputs, 100)):
        assert lengths.mean() == pytest.approx(mean, abs=5 * lengths.std() / 5000**0.5 + 0.5)
        assert np.log(lengths).std() == pytest.approx(0.5, rel=0.1)


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(0, 100), st.integers(0, 5)), max_size=20))
def test_weighted_median(pairs):
    every = [value for value, weight in pairs for _ in range(weight)]
    values, weights = np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs], int)
    assert weighted_median(values, weights) == pytest.approx(np.median(every) if every else 0)


@pytest.mark.parametrize("wrong, says", [
    ({"rate": 0}, "rate is 0: it must be a number above 0"), ({"rate": -1}, "rate is -1"), ({"requests": 0}, "requests is 0"),
    ({"prompt": 0}, "prompt is 0"), ({"output": 0}, "output is 0"), ({"max_seqs": 0}, "max_seqs is 0"),
    ({"max_batched_tokens": 0}, "max_batched_tokens is 0"), ({"seed": -1}, "seed is -1"),
    ({"prompt": 36_000, "output": 1000}, r"36,000 \+ 1,000 tokens needs a KV cache of 36,999 tokens: at most 36,768 fit"),
    ({"arrivals": (5, 3)}, "arrivals must be in order"), ({"arrivals": (0,), "prompts": (1, 2)}, "1 arrivals, 2 prompts"),
    ({"shared_prompt": 600}, "prompt is 512: it must be a whole number from 601"), ({"spread": -1}, "spread is -1"),
    ({"until_ms": 0}, "until_ms is 0: it must be a number above 0")])
def test_bad_input(wrong, says):
    with pytest.raises(ValueError, match=says):
        serve(M, **wrong)


def test_weights_that_leave_no_memory_are_refused():
    with pytest.raises(ValueError, match="no memory is left for a KV cache: the weights of llama-3.1-70b take 141.1 GB"):
        serve(machine("llama-3.1-70b"))


def test_a_trace_that_is_too_large_is_refused():
    with pytest.raises(ValueError, match="is too large"):
        serve(M, rate=math.inf, requests=2000, prompt=10, output=100, max_seqs=8).trace()
