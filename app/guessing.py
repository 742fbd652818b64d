"""Rounds of guesses to look at: where each token stands, when each pass runs, and the frames that show it token by token."""
from __future__ import annotations

import numpy as np

import model
from model.machine import Machine
from model.speculation import speculate

ROUNDS = 4                          # rounds to look at
MOST = 256                          # users that the curve goes to
USERS = np.arange(1, MOST + 1)


class Run:
    """A Speculation's rounds as cells and passes.

    Token positions count from 0. `cell` (ROUNDS, k): position of each guess; `own` (ROUNDS,): position of the large
    model's own token; `guessed_ms` (ROUNDS, k): when each guess is there; `ends_ms` (ROUNDS,): when it has been checked.
    `all` holds the present users first, then 1 to MOST. `falls_from`: users from which on a check waits for arithmetic, so
    that every guess costs time; None if that is not so up to MOST.
    """

    def __init__(self, m: Machine, users: int, guesses: int, acceptance: float, context: int, draft: str, seed: int):
        at_once = np.concatenate(([users], USERS))
        self.all = speculate(m, guesses, acceptance, at_once, context, draft, ROUNDS, seed)
        self.speedup = float(self.all.speedup[0])
        self.check_bound = str(model.pass_cost(m, users, context, prompt_tokens=users * guesses).bound_by)
        waits = model.pass_cost(m, USERS, context, prompt_tokens=USERS * guesses).bound_by == "arithmetic"
        self.falls_from = int(USERS[np.argmax(waits)]) if waits.any() else None
        self.draft_ms, self.check_ms = float(self.all.draft_ms[0]), float(self.all.check_ms[0])
        self.plain_ms = float(self.all.plain_ms[0])
        example, k = self.all.example, guesses
        self.kept, self.tokens = example.kept, example.tokens
        self.first = np.concatenate(([0], np.cumsum(example.tokens)[:-1]))
        self.cell = self.first[:, None] + np.arange(k)
        self.own = self.first + example.tokens - 1
        self.draft_start_ms = example.start_ms[:, None] + np.arange(k) * self.draft_ms / k
        self.guessed_ms = self.draft_start_ms + self.draft_ms / k
        self.check_start_ms, self.ends_ms = example.checked_from_ms, example.end_ms
        self.total_ms = float(example.end_ms[-1])
        self.plain_tokens = int(self.total_ms / self.plain_ms * (1 + 1e-9))


class Clock:
    """The frames: the beginning, then each guess and each check of every round as it is done.

    `ms` (F,), `round` (F,), `guesses` (F,): how many guesses of that round are there; `checked` (F,): its check is done.
    """

    def __init__(self, run: Run, k: int):
        rounds = np.repeat(np.arange(ROUNDS), k + 1)
        number = np.tile(np.arange(1, k + 2), ROUNDS)
        times = np.column_stack([run.guessed_ms, run.ends_ms]).ravel()
        self.ms = np.concatenate(([0.0], times))
        self.round = np.concatenate(([0], rounds))
        self.guesses = np.concatenate(([0], np.minimum(number, k)))
        self.checked = np.concatenate(([False], number > k))
        self.done = self.round + self.checked          # rounds whose check is done

    def __len__(self) -> int:
        return len(self.ms)
