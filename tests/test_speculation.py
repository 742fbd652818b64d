"""Guesses: the expected tokens, the speed-up of the essay, the draft's own cost, and the example's honesty."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from model.machine import machine
from model.memory import kv_memory
from model.speculation import expected_tokens, speculate

M = machine()
CHANCE = st.floats(0, 1)


@pytest.mark.parametrize("guesses, acceptance, expected, source", [
    (4, 0.8, (1 - 0.8**5) / (1 - 0.8), "Leviathan et al., equation 1"),
    (4, 1.0, 5, "everything is kept"), (4, 0.0, 1, "nothing is kept: the model's own token"), (0, 0.8, 1, "no guess"),
    (2, (0.8, 0.5), 1 + 0.8 + 0.4, "by hand: the second guess needs the first")])
def test_expected_tokens(guesses, acceptance, expected, source):
    assert expected_tokens(guesses, acceptance) == pytest.approx(expected), source


def test_the_essay():
    alone = speculate(M)
    assert alone.speedup == pytest.approx(2.08, abs=0.005)
    assert 96 < alone.break_even_users < 128
    assert speculate(M, users=96).speedup > 1 > speculate(M, users=128).speedup


def test_costs_by_hand():
    """Times of one user at 256 tokens: the bytes of both models and KV caches over 1,008 GB/s."""
    s = speculate(M)
    draft = 2 * 1_235_814_400 + 256 * 32_768
    big = 2 * 8_030_261_248 + 256 * 131_072
    assert s.draft_ms == pytest.approx(4 * draft / 1.008e9)
    assert s.check_ms == s.plain_ms == pytest.approx(big / 1.008e9)
    assert (s.draft_weights_bytes, s.draft_kv_bytes_per_token) == (2 * 1_235_814_400, 32_768)
    busy = speculate(M, users=200)
    assert busy.check_ms == pytest.approx(2 * 8_030_261_248 * 200 * 5 / 165.2e9), "arithmetic: guesses + 1 tokens each"


@pytest.mark.parametrize("what, asked, fit, source", [
    ({}, {}, 55, "24e9 x 0.92 - 2 x 8,030,261,248 - 1.2e9 - 2 x 1,235,814,400 = 2,347,848,704; over 256 x (131,072 + 32,768) = 55.98"),
    ({}, {"context": 2048}, 6, "the same over 2,048 x 163,840 = 6.997"),
    ({}, {"context": 0}, 14_330, "the same over one token"),
    ({"gpu": "a100-80gb-sxm"}, {}, 1284, "80e9 x 0.92 - 19,732,151,296 = 53,867,848,704; over 41,943,040"),
    ({"llm": "llama-3.1-70b"}, {}, 0, "141 GB of weights on 24"),
])
def test_who_fits_beside_the_draft(what, asked, fit, source):
    assert speculate(machine(**what), **asked).users_fit == fit, source


def test_a_larger_draft_leaves_room_for_fewer():
    room = [speculate(M, draft=name).users_fit for name in ("qwen2.5-0.5b", "llama-3.2-1b", "llama-3.2-3b")]
    assert room == sorted(room, reverse=True) and room[0] > room[-1]
    assert all(fit < kv_memory(M, context=256).users_fit for fit in room)


def test_users_may_be_an_array():
    users = np.array([1, 10, 100])
    many = speculate(M, users=users)
    assert many.speedup == pytest.approx([speculate(M, users=int(u)).speedup for u in users])


MIXED = machine("deepseek-v2-lite", "a10"), 1, 0.5, 64, "gemma-3-1b"  # each guess touches more experts, until all are touched


@pytest.mark.parametrize("m, guesses, acceptance, context, draft, source", [
    (M, 4, 0.8, 256, "llama-3.2-1b", "dense: from the break-even on"), (M, 4, 1.0, 131072, "llama-3.2-1b", "never"),
    (M, 4, 0.0, 256, "llama-3.2-1b", "always"), (*MIXED, "few and many, not those between"),
    (machine("qwen3-30b-a3b", "h200"), 4, 0.8, 4096, "llama-3.2-1b", "only few"),
    (machine("deepseek-v3", "h200"), 4, 0.8, 256, "llama-3.2-1b", "not one, some, not more, many")])
def test_slower_users_are_all_for_whom_it_is_slower(m, guesses, acceptance, context, draft, source):
    s = speculate(m, guesses, acceptance, np.arange(1, 4097), context, draft)
    listed = np.zeros(4097, bool)
    for first, last in s.slower_users:
        listed[first:last + 1] = True
    assert (listed[1:] == (s.speedup < 1)).all(), source
    assert s.break_even_users == (s.slower_users[0][0] if s.slower_users else None)


def test_a_mixture_of_experts_has_a_loss_for_few_as_well():
    m, guesses, acceptance, context, draft = MIXED
    (first, last), (again, end) = speculate(m, guesses, acceptance, 1, context, draft).slower_users
    assert first == 1 and last < again and end == 4096
    assert speculate(M).slower_users == ((108, 4096),), "facts/essay.md: one, from between 96 and 128"


@pytest.mark.parametrize("llm, draft, same, source", [
    ("llama-3.1-8b", "llama-3.2-1b", True, "128,256 both"), ("llama-3.1-8b", "qwen2.5-0.5b", False, "128,256 and 151,936"),
    ("qwen2.5-7b", "qwen2.5-0.5b", True, "152,064 and 151,936: the same, padded differently"),
    ("gemma-2-9b", "gemma-3-1b", False, "256,000 and 262,144")])
def test_a_draft_must_share_the_vocabulary(llm, draft, same, source):
    assert speculate(machine(llm), draft=draft).same_vocabulary is same, source


@given(st.integers(0, 12), CHANCE, st.integers(1, 300))
def test_break_even_is_the_first_loss(guesses, acceptance, context):
    s = speculate(M, guesses, acceptance, context=context)
    limit = s.break_even_users or 4097
    assert limit == 4097 or speculate(M, guesses, acceptance, users=limit, context=context).speedup < 1
    below = np.arange(1, limit)
    assert len(below) == 0 or np.min(speculate(M, guesses, acceptance, users=below, context=context).speedup) >= 1


@given(st.integers(0, 12), CHANCE, st.integers(0, 100))
@settings(deadline=None)
def test_the_example_keeps_to_the_rules(guesses, acceptance, seed):
    example = speculate(M, guesses, acceptance, rounds=20, seed=seed).example
    for row, tokens in zip(example.kept.tolist(), example.tokens.tolist()):
        kept = row[:tokens - 1]
        assert kept == [1] * len(kept)
        assert row[tokens - 1:] == ([0] + [-1] * (guesses - tokens) if tokens <= guesses else [])
    assert example.start_ms[1:] == pytest.approx(example.end_ms[:-1])


def test_the_example_is_as_lucky_as_expected():
    tokens = speculate(M, rounds=10_000).example.tokens
    error = 5 * tokens.std() / 100
    assert tokens.mean() == pytest.approx(expected_tokens(4, 0.8), abs=error)


@given(st.integers(1, 12), CHANCE, CHANCE)
def test_more_acceptance_is_never_worse(guesses, low, high):
    assert expected_tokens(guesses, min(low, high)) <= expected_tokens(guesses, max(low, high))


@pytest.mark.parametrize("wrong, says", [
    ({"guesses": -1}, "guesses is -1: it must be a whole number from 0 to 64"),
    ({"acceptance": 1.2}, "acceptance is 1.2: it must be a number from 0 to 1"),
    ({"acceptance": (0.5, 0.5)}, "acceptance has 2 positions: it must be one number or 4"),
    ({"users": 0}, "users must be 1"), ({"draft": "no-such-model"}, "no-such-model"),
    ({"context": -1}, "context is -1")])
def test_bad_input(wrong, says):
    with pytest.raises(ValueError, match=says):
        speculate(M, **wrong)
