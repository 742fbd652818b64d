"""What a simulated server is asked, what it allows, and what it writes down while it runs."""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Load:
    """What arrives, sorted by `arrival_ms`: (R,) times, tokens of each prompt and of each reply."""

    arrival_ms: np.ndarray
    prompts: np.ndarray
    outputs: np.ndarray


@dataclass(frozen=True)
class Limits:
    """What the server allows: pages in all, tokens a page, tokens a pass, requests at a time, pages of the shared prompt."""

    total_pages: int
    page_size: int
    max_batched_tokens: int
    max_seqs: int
    shared_pages: int = 0


class Log:
    """What happened. For each pass: `end_ms`, `pages_used` when it has ended. For each run of like passes: `first_pass`,
    `start_ms`, `users` that decode, `held` tokens of theirs at first, `prompt_tokens`, `prompt_offset`. For each request:
    `first_pass_of` its first token, `last_pass_of` its last, `first_ms`, `end_ms_of`; where the run was stopped before: None,
    the run's last pass, NaN, NaN. Events: `chunks` (pass, request, tokens, offset), `preemptions` (pass, request),
    `resumed_gaps_ms` between the last token before and the first one after."""

    def __init__(self, requests: int):
        self.end_ms, self.pages_used = array("d"), array("q")
        self.first_pass, self.start_ms, self.users = array("q"), array("d"), array("q")
        self.held, self.prompt_tokens, self.prompt_offset = array("q"), array("q"), array("d")
        self.first_pass_of: list[int | None] = [None] * requests
        self.last_pass_of: list[int | None] = [None] * requests
        self.first_ms, self.end_ms_of = [math.nan] * requests, [math.nan] * requests
        self.chunks: list[tuple[int, int, int, int]] = []
        self.preemptions: list[tuple[int, int]] = []
        self.resumed_gaps_ms: list[float] = []

    def add(self, start_ms: float, end_ms: np.ndarray, pages_used: np.ndarray, users: int, held: int, prompt_tokens: int = 0,
            prompt_offset: float = 0.0):
        self.first_pass.append(len(self.end_ms))
        self.end_ms.frombytes(end_ms.astype(float).tobytes())
        self.pages_used.frombytes(pages_used.astype(np.int64).tobytes())
        self.start_ms.append(start_ms)
        self.users.append(users)
        self.held.append(held)
        self.prompt_tokens.append(prompt_tokens)
        self.prompt_offset.append(prompt_offset)
