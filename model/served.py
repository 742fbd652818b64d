"""What a simulated server did: its requests, its passes, the four metrics, and for small runs the Trace."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from model.journal import Limits, Load, Log
from model.machine import Machine
from model.passes import PassCost, pass_cost
from model.trace import DECODE, DONE, PREEMPTED, PREFILL, WAITING, Trace, trace_of

MOST_CELLS = 20_000_000


@dataclass(frozen=True)
class Served:
    """A run of R requests in P passes. Times in ms from the first arrival; NaN for a token that a run stopped early never wrote.

    `arrival_ms`, `first_token_ms`, `end_ms`, `prompts`, `outputs`, `preempted` (R,): when each came, got its first and last
    token, its tokens, and how often it was preempted. `pass_start_ms`, `pass_end_ms` (P,); `users`: who decode in the pass;
    `held`: tokens they hold before it; `prompt_tokens`, `prompt_offset`: read of prompts, and behind how many tokens;
    `pages_used`: of `total_pages` of `page_size` tokens; `waiting`: requests in the queue during the pass.
    `ttft_ms_*`: time to first token. `itl_ms_*`: time between two tokens of a reply, over all tokens. `tpot_ms_mean`: mean over
    the requests of their own mean time between tokens. (0 where no reply has two tokens.) `tokens_per_s`: of all replies, from
    the first arrival to the last token. Of a run stopped early these are over the replies that are complete, itl_ms_median
    over all tokens. `peak_kv_share`: the most pages in use, of all pages, 0 to 1.
    """

    machine: Machine
    arrival_ms: np.ndarray
    first_token_ms: np.ndarray
    end_ms: np.ndarray
    prompts: np.ndarray
    outputs: np.ndarray
    preempted: np.ndarray
    pass_start_ms: np.ndarray
    pass_end_ms: np.ndarray
    users: np.ndarray
    held: np.ndarray
    prompt_tokens: np.ndarray
    prompt_offset: np.ndarray
    pages_used: np.ndarray
    waiting: np.ndarray
    total_pages: int
    page_size: int
    ttft_ms_mean: float
    ttft_ms_p99: float
    itl_ms_mean: float
    itl_ms_median: float
    tpot_ms_mean: float
    tokens_per_s: float
    peak_kv_share: float
    preemptions: int
    log: Log

    def cost(self) -> PassCost:
        """(P,) what each pass read, computed and was bound by."""
        return pass_cost(self.machine, users=self.users, context=self.held / np.maximum(self.users, 1),
                         prompt_tokens=self.prompt_tokens, prompt_offset=self.prompt_offset)

    def trace(self) -> Trace:
        """The dense Trace. A request that has not arrived yet is `waiting`. ValueError for more than 20 million cells."""
        passes, requests = len(self.users), len(self.prompts)
        if passes * requests > MOST_CELLS:
            raise ValueError(f"a Trace of {passes:,} passes x {requests:,} requests is too large: "
                             f"use the arrays of Served, or at most {MOST_CELLS:,} cells")
        cells = _Cells(np.zeros((passes, requests), int), np.full((passes, requests), WAITING),
                       np.zeros((passes, requests), int), np.zeros((passes, requests), int))
        events: list[list[tuple[int, int, int]]] = [[] for _ in range(requests)]
        for step, request, tokens in ((c[0], c[1], c[2:]) for c in self.log.chunks):
            events[request].append((step, *tokens))
        for step, request in self.log.preemptions:
            events[request].append((step, 0, 0))
        for request, mine in enumerate(events):
            cells.fill(request, sorted(mine), int(self.prompts[request]), self.log.last_pass_of[request])
        return trace_of(self.cost(), cells.tokens, cells.state, cells.held, cells.written,
                        times_ms=(self.pass_start_ms, self.pass_end_ms), page_size=self.page_size)


@dataclass(frozen=True)
class _Cells:
    """The (P, R) arrays of a Trace, to be filled request by request."""

    tokens: np.ndarray
    state: np.ndarray
    held: np.ndarray
    written: np.ndarray

    def fill(self, request: int, events: list[tuple[int, int, int]], prompt: int, last: int) -> None:
        """Events in order: (pass, offset, tokens) of a chunk, (pass, 0, 0) of a preemption."""
        written = 0
        for (step, offset, tokens), following in zip(events, [*events[1:], (last + 1, 0, 0)]):
            if tokens == 0:
                self.state[step:, request], self.held[step:, request] = PREEMPTED, 0
                continue
            self.tokens[step, request], self.held[step, request] = tokens, offset + tokens
            self.state[step, request] = PREFILL
            if offset + tokens == prompt + written:
                decodes = slice(step + 1, following[0])
                count = following[0] - step - 1
                self.tokens[decodes, request], self.state[decodes, request] = 1, DECODE
                self.held[decodes, request] = offset + tokens + 1 + np.arange(count)
                self.written[step:following[0], request] = 1
                written += 1 + count
        self.state[last + 1:, request] = DONE


@dataclass(frozen=True)
class _Replies:
    """The complete replies of a run: when their requests came, their first and last token, their tokens."""

    arrival_ms: np.ndarray
    first_ms: np.ndarray
    last_ms: np.ndarray
    outputs: np.ndarray

    def metrics(self, start_ms: float) -> dict[str, float]:
        """What Served says of them; all 0 where there are none. `start_ms`: the first arrival."""
        if not len(self.outputs):
            return dict.fromkeys(("ttft_ms_mean", "ttft_ms_p99", "itl_ms_mean", "tpot_ms_mean", "tokens_per_s"), 0.0)
        ttft_ms, writing_ms, gaps = self.first_ms - self.arrival_ms, self.last_ms - self.first_ms, self.outputs - 1
        several = gaps > 0
        return dict(
            ttft_ms_mean=float(ttft_ms.mean()), ttft_ms_p99=float(np.percentile(ttft_ms, 99)),
            itl_ms_mean=float(writing_ms.sum() / gaps.sum()) if several.any() else 0.0,
            tpot_ms_mean=float((writing_ms[several] / gaps[several]).mean()) if several.any() else 0.0,
            tokens_per_s=float(1000 * self.outputs.sum() / (self.last_ms.max() - start_ms)))


def served(m: Machine, load: Load, limits: Limits, log: Log, arrival_ms: np.ndarray) -> Served:
    """The Served of a Log; `arrival_ms` is when requests came, `load.arrival_ms` when they reached the scheduler."""
    end_ms, runs = np.array(log.end_ms), np.array(log.first_pass, np.intp)  # intp: numpy repeats by nothing wider
    length = np.diff(runs, append=len(end_ms))
    start_ms = np.concatenate(([0.0], end_ms[:-1]))
    start_ms[runs] = log.start_ms
    users, prompt_tokens, prompt_offset = (np.repeat(np.array(a), length)
                                           for a in (log.users, log.prompt_tokens, log.prompt_offset))
    held = np.repeat(np.array(log.held), length) + users * (np.arange(len(end_ms)) - np.repeat(runs, length))
    first, last = np.array(log.first_ms), np.array(log.end_ms_of)
    done = ~np.isnan(last)
    replies = _Replies(arrival_ms[done], first[done], last[done], load.outputs[done])
    itl_ms = np.concatenate([np.diff(end_ms, prepend=0.0), log.resumed_gaps_ms])
    weights = np.concatenate([users, np.ones(len(log.resumed_gaps_ms), int)])
    pages_used = np.array(log.pages_used)
    preempted = np.bincount(np.array([r for _, r in log.preemptions], int), minlength=len(first))
    return Served(
        m, arrival_ms, first, last, load.prompts, load.outputs, preempted, start_ms, end_ms, users, held, prompt_tokens,
        prompt_offset, pages_used, _waiting(load, log, start_ms, users), limits.total_pages, limits.page_size,
        **replies.metrics(arrival_ms[0]), itl_ms_median=weighted_median(itl_ms, weights),
        peak_kv_share=float(pages_used.max() / limits.total_pages), preemptions=len(log.preemptions), log=log)


def _waiting(load: Load, log: Log, start_ms: np.ndarray, users: np.ndarray) -> np.ndarray:
    """(P,) requests that have arrived, are not done, and neither decode nor read in the pass."""
    step = np.arange(len(start_ms))
    arrived = np.searchsorted(load.arrival_ms, start_ms, "right")
    done = np.searchsorted(np.sort(log.last_pass_of), step, "left")
    reading = np.bincount(np.array([chunk[0] for chunk in log.chunks], int), minlength=len(step))
    return arrived - done - users - reading


def weighted_median(values: np.ndarray, weights: np.ndarray) -> float:
    """The median of `values`, each taken `weights` times; 0 if there are none."""
    order = np.argsort(values)
    reached = np.cumsum(weights[order])
    total = int(reached[-1]) if len(reached) else 0
    if total == 0:
        return 0.0
    middle = np.searchsorted(reached, [(total - 1) // 2, total // 2], "right")
    return float(values[order][middle].mean())
