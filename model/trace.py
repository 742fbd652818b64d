"""A Trace: the frames of a run as arrays. Everything that moves on the page is drawn from one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from model.limits import whole
from model.machine import Machine
from model.passes import BOUND, PassCost, pass_cost

WAITING, PREFILL, DECODE, DONE, PREEMPTED = range(5)
STATES = ("waiting", "prefill", "decode", "done", "preempted")
BOUNDS = tuple(BOUND.tolist())


@dataclass(frozen=True)
class Trace:
    """P passes over R requests.

    `start_ms`, `end_ms` (P,): when each pass began and ended. A gap between two passes is idle time.
    `bytes`, `flops` (P,): what it read and computed. `bound_by` (P,): index into BOUNDS of what took longer.
    `memory_busy`, `arithmetic_busy` (P,): share of the pass in which memory was read and arithmetic done, 0 to 1.
    `tokens` (P, R): tokens of each request that the pass processed, of its prompt or the one before the next.
    `state` (P, R): index into STATES, during the pass. `held` (P, R): tokens in the KV cache with those of the pass, 0 in
    passes after the last one and while preempted. `pages` (P, R): pages of `page_size` tokens that hold them.
    `written` (P, R): 1 where the pass yielded a token of the reply, else 0.
    """

    start_ms: np.ndarray
    end_ms: np.ndarray
    bytes: np.ndarray
    flops: np.ndarray
    bound_by: np.ndarray
    memory_busy: np.ndarray
    arithmetic_busy: np.ndarray
    tokens: np.ndarray
    state: np.ndarray
    held: np.ndarray
    pages: np.ndarray
    written: np.ndarray
    page_size: int = 16

    @property
    def passes(self) -> int:
        """P, the number of passes."""
        return len(self.start_ms)

    @property
    def pass_ms(self) -> np.ndarray:
        """(P,) how long each pass took."""
        return self.end_ms - self.start_ms

    def token_ms(self, request: int) -> np.ndarray:
        """When each token of the request's reply was there, in ms."""
        return self.end_ms[self.written[:, request] > 0]


def trace_of(cost: PassCost, tokens, state, held, written, times_ms=None, page_size: int = 16) -> Trace:
    """The Trace of passes with this `cost` (P,) and these (P, R) arrays.

    The passes follow each other from 0 ms unless `times_ms`, their starts and ends, (P,) each, say otherwise.
    """
    pass_ms = np.atleast_1d(cost.pass_ms)
    ends_ms = np.cumsum(pass_ms)
    start_ms, end_ms = times_ms or (np.concatenate(([0.0], ends_ms[:-1])), ends_ms)
    return Trace(
        start_ms=start_ms, end_ms=end_ms, bytes=np.atleast_1d(cost.bytes), flops=np.atleast_1d(cost.flops),
        bound_by=(np.atleast_1d(cost.bound_by) == BOUNDS[1]).astype(np.int8),
        memory_busy=np.minimum(1.0, np.atleast_1d(cost.memory_ms) / pass_ms),
        arithmetic_busy=np.minimum(1.0, np.atleast_1d(cost.arithmetic_ms) / pass_ms),
        tokens=tokens, state=state, held=held, written=written,
        pages=-(-held // page_size), page_size=page_size)


def prefill_decode(m: Machine, prompt_tokens: int = 2000, reply_tokens: int = 20) -> Trace:
    """One request alone: a pass that reads the whole prompt and yields the first token, then a pass for each further one.

    The Trace has `reply_tokens` passes and one request. ValueError if either number is below 1.
    """
    prompt, reply = whole("prompt_tokens", prompt_tokens, 1, 10_000_000), whole("reply_tokens", reply_tokens, 1, 1_000_000)
    passes = np.arange(reply)
    first = passes == 0
    context = np.where(first, 0, prompt + passes - 1)
    cost = pass_cost(m, users=np.where(first, 0, 1), context=context, prompt_tokens=np.where(first, prompt, 0))
    column = passes[:, None]
    return trace_of(cost, tokens=np.where(first, prompt, 1)[:, None], state=np.where(column == 0, PREFILL, DECODE),
                    held=prompt + column, written=np.ones_like(column))
