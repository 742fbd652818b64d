"""Speculative decoding: a small model guesses, the big one checks all guesses in one pass; the text stays the same."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

import numpy as np

from model import catalogue
from model.limits import number, whole
from model.machine import Machine
from model.memory import kv_memory
from model.numbers import amount, plainly
from model.passes import pass_cost
from model.records import LLM

MOST_USERS = 4096
VOCABULARY_SLACK = 128  # entries by which tables of one vocabulary are padded differently: llama.cpp's limit, common/speculative.cpp


@dataclass(frozen=True)
class Round:
    """Rounds that one person sees, drawn at random with a seed. N rounds of k guesses.

    `kept` (N, k) ints: 1 for a guess that was kept, 0 for the one that was rejected, -1 for those after it, not looked at.
    `tokens` (N,): tokens that the round yields, the kept guesses and one of the big model's own.
    `start_ms`, `checked_from_ms`, `end_ms` (N,): the guessing begins, the checking begins, the round is over.
    """

    kept: np.ndarray
    tokens: np.ndarray
    start_ms: np.ndarray
    checked_from_ms: np.ndarray
    end_ms: np.ndarray


@dataclass(frozen=True)
class Speculation:
    """What guessing gains. Numbers, or arrays where `users` was an array.

    `expected_tokens`: mean tokens a round yields each person. `draft_ms`: all the draft's passes of a round; `check_ms`: the
    pass of guesses + 1 tokens a person; `round_ms`: both. `plain_ms`: a decode pass without guessing.
    `speedup`: tokens a second with guessing over those without. `break_even_users`: the smallest number of users for whom
    guessing is slower than not guessing, None if that is not so up to 4,096. With a dense model it stays slower from there
    on; with a mixture of experts it may be slower for few (each guess touches more experts), faster for more (all are
    touched anyway) and slower for many: `slower_users` has all these stretches, (first, last) each, last 4,096 where it
    goes on. `same_vocabulary`: False where draft and model split text into different tokens, so that a guess cannot be
    checked as it is; judged by the sizes of their tables.
    `draft_weights_bytes`,
    `draft_kv_bytes_per_token`: memory that the draft takes from everybody's KV cache. `users_fit`: people whose two KV
    caches, the model's and the draft's, fit on the card beside both models' weights. `example`: rounds to look at.
    """

    expected_tokens: float
    draft_ms: float
    check_ms: float
    round_ms: float
    plain_ms: float
    speedup: float
    break_even_users: int | None
    slower_users: tuple
    same_vocabulary: bool
    draft_weights_bytes: float
    draft_kv_bytes_per_token: float
    users_fit: int
    example: Round


def speculate(m: Machine, guesses: int = 4, acceptance=0.8, users=1, context: int = 256, draft: str | LLM = "llama-3.2-1b",
              rounds: int = 12, seed: int = 0) -> Speculation:
    """`users` people with `context` tokens each; each round, `draft` guesses `guesses` tokens and the model checks them.

    `acceptance`: the chance that a guess is kept once those before it were, one number, or one for each position for
    drafts whose guesses get worse. The draft runs on the same card, in the same formats, and has a KV cache of its own.
    `users` may be an array. `rounds`, `seed`: the example's. ValueError for a number out of range or an unknown draft.
    """
    guesses, context = whole("guesses", guesses, 0, 64), whole("context", context, 0, 10_000_000)
    chances = acceptance_by_position(acceptance, guesses)
    small = replace(m, llm=draft if isinstance(draft, LLM) else catalogue.llm(draft))
    users = amount(users, "users", low=1, unit="people")
    _, _, _, speedups = _times(m, small, chances, np.arange(1, MOST_USERS + 1), context)
    slower = _stretches(speedups < 1)
    draft_ms, check_ms, plain_ms, speedup = (plainly(x) for x in _times(m, small, chances, users, context))
    first = float(np.ravel(draft_ms)[0]), float(np.ravel(check_ms)[0])
    return Speculation(
        expected_tokens=expected_tokens(guesses, chances), draft_ms=draft_ms, check_ms=check_ms,
        round_ms=draft_ms + check_ms, plain_ms=plain_ms, speedup=speedup,
        break_even_users=slower[0][0] if slower else None, slower_users=slower,
        same_vocabulary=abs(m.llm.vocabulary - small.llm.vocabulary) <= VOCABULARY_SLACK,
        draft_weights_bytes=small.llm.weights_bytes(small.weights),
        draft_kv_bytes_per_token=small.llm.kv_bytes_per_token(small.kv), users_fit=_users_fit(m, small, context),
        example=_example(chances, whole("rounds", rounds, 1, 10_000), whole("seed", seed, 0), *first))


def acceptance_by_position(acceptance, guesses: int) -> np.ndarray:
    """(guesses,) chances that each guess is kept once those before it were, from one number or one for each position."""
    if np.ndim(acceptance) == 0:
        return np.full(guesses, number("acceptance", acceptance, 0, 1))
    chances = np.array([number(f"acceptance[{i}]", a, 0, 1) for i, a in enumerate(acceptance)])
    if len(chances) != guesses:
        raise ValueError(f"acceptance has {len(chances)} positions: it must be one number or {guesses}, one for each guess")
    return chances


def expected_tokens(guesses: int, acceptance) -> float:
    """Mean tokens a round yields: 1 + a1 + a1 a2 + ...; for one acceptance a this is (1 - a^(guesses+1)) / (1 - a), and
    guesses + 1 at a = 1. Source: Leviathan et al., ICML 2023, equation 1."""
    return 1.0 + float(np.cumprod(acceptance_by_position(acceptance, guesses)).sum())


def _stretches(there: np.ndarray) -> tuple:
    """(first, last) of each stretch of True, counted from 1."""
    edges = np.diff(np.concatenate(([0], there.astype(int), [0])))
    return tuple(zip((np.flatnonzero(edges == 1) + 1).tolist(), np.flatnonzero(edges == -1).tolist()))


def _users_fit(m: Machine, small: Machine, context: int) -> int:
    """Conversations of `context` tokens that fit beside the weights of both models, each with a KV cache in both."""
    length = max(context, 1)  # an empty conversation gets its first token at once
    room = kv_memory(m, context=length).budget_bytes - small.llm.weights_bytes(small.weights)
    each = m.llm.kv_bytes(m.kv, length) + small.llm.kv_bytes(small.kv, length)
    return int(max(room, 0.0) // each)


def _times(m: Machine, small: Machine, chances: np.ndarray, users, context: int):
    """draft_ms, check_ms, plain_ms, speedup for so many users.

    The check is a pass in which each person's next token and guesses are processed together: one KV cache read each.
    """
    guesses = len(chances)
    plain_ms = np.asarray(pass_cost(m, users=users, context=context).pass_ms)
    check_ms = np.asarray(pass_cost(m, users=users, context=context, prompt_tokens=users * guesses).pass_ms)
    draft_ms = guesses * np.asarray(pass_cost(small, users=users, context=context).pass_ms)
    return draft_ms, check_ms, plain_ms, expected_tokens(guesses, chances) * plain_ms / (draft_ms + check_ms)


def _example(chances: np.ndarray, rounds: int, seed: int, draft_ms: float, check_ms: float) -> Round:
    luck = random.Random(seed)  # numpy's would bring nine compiled modules along into the page
    lucky = np.array([luck.random() < chance for _ in range(rounds) for chance in chances], dtype=bool).reshape(rounds, len(chances))
    before = np.cumprod(np.column_stack([np.ones(rounds, int), lucky]), axis=1)
    kept = np.where(before[:, :-1] == 1, lucky, -1)
    start_ms = np.arange(rounds) * (draft_ms + check_ms)
    return Round(kept, before[:, 1:].sum(axis=1) + 1, start_ms, start_ms + draft_ms, start_ms + draft_ms + check_ms)
