"""A load that grows, served by the model's server, and what a dashboard of it would show: the `settings` figure's run."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import model
from model.machine import Machine
from model.served import Served
from model.server import serve
from model.settings import vllm_defaults

REPLY = 128              # tokens of a reply, and a quarter of a short conversation
OVERLOAD = 1.5           # requests at the end, over what all users would send if they asked again as soon as they were answered
A_PERSON, FEWEST = 1.6, 8  # requests for each user, and at least
BINS = 40                # stretches of time over which the time between tokens is averaged
SAMPLES = 41             # frames


@dataclass(frozen=True)
class Growing:
    """A run over `until_ms`, while requests come faster and faster, as from up to `users` people.

    `prompt`, `reply`: tokens of each request. `ttft_at_ms`, `ttft_ms` (R,): when first tokens came, and how long they took.
    `bin_ms` (BINS,): ends of equal stretches of time; `itl_ms` (BINS,): the mean time between tokens in each, NaN without a
    token. `step_ms`, `waiting`, `use` (P,): from when on how many wait and what share of the KV memory is taken.
    `memory_ms`, `slots_ms`: when somebody first had to wait for memory, for a slot; None if nobody had to.
    """

    served: Served
    users: int
    prompt: int
    reply: int
    until_ms: float
    rate: float
    ttft_at_ms: np.ndarray
    ttft_ms: np.ndarray
    bin_ms: np.ndarray
    itl_ms: np.ndarray
    step_ms: np.ndarray
    waiting: np.ndarray
    use: np.ndarray
    memory_ms: float | None
    slots_ms: float | None


def growing(m: Machine, users: int, context: int, seqs: int, utilization: float | None) -> Growing | None:
    """The run of requests of `context` tokens each, prompt and reply; None where the memory does not hold one of them.

    Their rate rises evenly from 0. What `users` people would send one request after another is reached at 1 / 1.5 of the
    time; a longer queue than of twice those who fit shows nothing more, so that the load stops there. `seqs`,
    `utilization`: vLLM's --max-num-seqs and --gpu-memory-utilization.
    """
    reply = min(REPLY, context // 4)
    prompt = context - reply
    fit = model.kv_memory(m, context=context, utilization=utilization).users_fit
    if fit < 1:
        return None
    users = min(users, 2 * fit + 2)
    one_ms = _request_ms(m, users, prompt, reply)
    count = max(FEWEST, round(A_PERSON * users))
    rate = OVERLOAD * users / one_ms
    until_ms = 2 * count / rate                                       # the mean rate is half of the last
    arrivals = until_ms * np.sqrt(np.arange(count) / count)  # as many until t as the area under a rising line
    run = serve(m, arrivals=arrivals, prompt=prompt, output=reply, requests=count, max_seqs=seqs,
                max_batched_tokens=vllm_defaults(m.gpu)[0], utilization=utilization, until_ms=until_ms)
    return _measured(run, users, prompt, reply, until_ms, rate, seqs)


def _request_ms(m: Machine, users: int, prompt: int, reply: int) -> float:
    """How long a request takes where `users` share the card: all their prompts are read, and each decodes its reply."""
    read_ms = model.pass_cost(m, users=0, prompt_tokens=prompt).pass_ms
    return users * read_ms + reply * model.pass_cost(m, users=users, context=prompt + reply).pass_ms


def _measured(run: Served, users: int, prompt: int, reply: int, until_ms: float, rate: float, seqs: int) -> Growing:
    order = np.argsort(run.first_token_ms, kind="stable")
    at_ms = run.first_token_ms[order]
    seen = at_ms <= until_ms
    step_ms, waiting, pages = _steps(run)
    wanted = -(-prompt // run.page_size)
    crowded = run.waiting > 0
    no_pages = crowded & (run.pages_used + wanted > run.total_pages)
    no_slot = crowded & ~no_pages & (run.users + (run.prompt_tokens > 0) >= seqs)
    return Growing(
        run, users, prompt, reply, until_ms, rate, at_ms[seen], (at_ms - run.arrival_ms[order])[seen],
        *_between_tokens(run, until_ms), step_ms, waiting, pages / run.total_pages,
        _first(run.pass_start_ms, no_pages, until_ms), _first(run.pass_start_ms, no_slot, until_ms))


def _steps(run: Served):
    """(ms, waiting, pages used) at the start of every pass, and nothing of both where the server falls idle."""
    idle = np.append(run.pass_start_ms[1:], np.inf) > run.pass_end_ms + 1e-9
    at = np.concatenate([run.pass_start_ms, run.pass_end_ms[idle]])
    order = np.argsort(at, kind="stable")
    zeros = np.zeros(np.count_nonzero(idle))
    return at[order], np.concatenate([run.waiting, zeros])[order], np.concatenate([run.pages_used, zeros])[order]


def _between_tokens(run: Served, until_ms: float):
    """(ends of the bins, mean ms between tokens in each): every pass counts as often as it wrote a token."""
    edges = np.linspace(0.0, until_ms, BINS + 1)
    writing = run.users > 0
    end, length, users = run.pass_end_ms[writing], (run.pass_end_ms - run.pass_start_ms)[writing], run.users[writing]
    total, _ = np.histogram(end, edges, weights=users * length)
    written, _ = np.histogram(end, edges, weights=users)
    return edges[1:], np.divide(total, written, out=np.full(BINS, np.nan), where=written > 0)


def _first(at: np.ndarray, there: np.ndarray, until: float) -> float | None:
    found = np.flatnonzero(there & (at <= until))
    return float(at[found[0]]) if len(found) else None


def held_until(at: np.ndarray, values: np.ndarray, when: np.ndarray, before: float) -> np.ndarray:
    """The last of `values` that had come at each of `when`, `before` where none had."""
    index = np.searchsorted(at, when, side="right") - 1
    return np.where(index >= 0, values[np.maximum(index, 0)], before) if len(values) else np.full(len(when), before)
