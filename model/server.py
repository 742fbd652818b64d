"""A simulated server under load: requests arrive, the scheduler of vLLM serves them, the four metrics come out."""

from __future__ import annotations

import math

import numpy as np

from model.journal import Limits, Load
from model.limits import number, whole, wholes
from model.machine import DATASHEET, Machine
from model.memory import kv_memory
from model.pace import pace
from model.scheduler import schedule
from model.served import Served, served

MOST_REQUESTS, MOST_TOKENS = 1_000_000, 10_000_000


def serve(m: Machine, rate: float = 1.0, prompt: int = 512, output: int = 128, requests: int = 100, seed: int = 0,
          max_batched_tokens: int = 2048, max_seqs: int = 256, page_size: int = 16, utilization: float | None = None,
          overhead_bytes: float | None = None, arrivals=None, prompts=None, outputs=None, shared_prompt: int = 0,
          spread: float = 0.0, until_ms: float = math.inf) -> Served:
    """Serves `requests` that arrive at random, `rate` of them a second (Poisson; math.inf: all at once), the first at 0 ms.

    Each has `prompt` tokens and gets a reply of `output` tokens; with a `spread` above 0 these are means, and lengths are
    log-normal with that standard deviation of their logarithm, cut at what fits. One request alone is never random.
    Instead of rate, prompt and output: `arrivals` (ms, in order), `prompts`, `outputs`, one for each request.
    `max_batched_tokens`, `max_seqs`: vLLM's --max-num-batched-tokens and --max-num-seqs. `utilization`, `overhead_bytes`: as in
    kv_memory, which says how many pages of `page_size` tokens there are. `shared_prompt`: tokens with which every prompt
    begins; their full pages are stored and read once. `until_ms`: the first pass that ends then or later is the last, whoever
    still waits or is being served.
    Left out: vLLM may find a preempted request's own pages again if nobody has overwritten them; here they are computed anew.
    People of different length are costed at their mean length, which is exact unless a model has sliding windows.
    ValueError for a number out of range, or a request that could never fit.
    """
    page_size, shared_prompt = whole("page_size", page_size, 1, 1_000_000), whole("shared_prompt", shared_prompt, 0)
    count = _count(requests, arrivals=arrivals, prompts=prompts, outputs=outputs)
    spread = number("spread", spread, 0, 3) if count > 1 else 0.0
    seed = whole("seed", seed, 0)
    until_ms = until_ms if until_ms == math.inf else number("until_ms", until_ms, 0, above=True)
    rng = np.random.default_rng(seed) if arrivals is None or spread else None  # where nothing is drawn, none is imported
    arrival_ms = _arrivals(arrivals, rate, count, rng)
    prompts = _lengths("prompt", prompts, prompt, count, spread, rng, least=shared_prompt + 1)
    outputs = _lengths("output", outputs, output, count, spread, rng, least=1)
    budget_tokens = kv_memory(m, context=int((prompts + outputs).max()), utilization=utilization,
                              overhead_bytes=overhead_bytes).budget_tokens
    pages = budget_tokens // page_size
    if not pages:
        raise ValueError(f"no memory is left for a KV cache: the weights of {m.llm.name} take "
                         f"{m.llm.weights_bytes(m.weights) / 1e9:,.1f} GB of the {m.gpu.memory_bytes / 1e9:,.0f} GB of "
                         f"{m.gpu.name}: choose fewer bits or a card with more memory")
    if spread:
        prompts, outputs = _cut(prompts, outputs, pages * page_size, shared_prompt)
    _refuse_what_never_fits(prompts, outputs, pages * page_size)
    limits = Limits(pages, page_size, whole("max_batched_tokens", max_batched_tokens, 1, MOST_TOKENS),
                    whole("max_seqs", max_seqs, 1, MOST_REQUESTS), shared_prompt // page_size)
    load = Load(arrival_ms + request_ms(m), prompts, outputs)
    return served(m, load, limits, schedule(load, limits, pace(m, int((prompts + outputs).max())),
                                            until_ms=until_ms), arrival_ms)


def request_ms(m: Machine) -> float:
    """What every request costs once before the scheduler sees it: 0 on the datasheet, an engine knows its own."""
    if m.engine == DATASHEET:
        return 0.0
    from model import engines  # imported late, where it is needed, as passes does
    return float(engines.request_ms(m))


def _count(requests, **given) -> int:
    """How many requests: `requests`, or as many as there are in the lists given, which must agree."""
    lengths = {name: len(values) for name, values in given.items() if values is not None}
    if len(set(lengths.values())) > 1:
        raise ValueError("one for each request is needed: " + ", ".join(f"{n} {name}" for name, n in lengths.items()))
    return whole("requests", next(iter(lengths.values()), requests), 1, MOST_REQUESTS)


def _arrivals(arrivals, rate: float, count: int, rng: np.random.Generator) -> np.ndarray:
    if arrivals is not None:
        times = np.array([number(f"arrivals[{i}]", a, 0) for i, a in enumerate(arrivals)])
        if np.any(np.diff(times) < 0):
            raise ValueError("arrivals must be in order, each as late as the one before or later")
        return times
    gaps = rng.exponential(size=count)
    gaps[0] = 0.0
    if rate == math.inf:
        return np.zeros(count)
    return np.cumsum(gaps) * 1000 / number("rate", rate, 0, above=True)


def _lengths(name: str, given, mean, count: int, spread: float, rng: np.random.Generator, least: int) -> np.ndarray:
    if given is not None:
        return np.array(wholes(name + "s", given, least, MOST_TOKENS))
    mean = whole(name, mean, least, MOST_TOKENS)
    if not spread:
        return np.full(count, mean)
    drawn = mean * np.exp(spread * rng.standard_normal(count) - spread**2 / 2)
    return np.clip(np.rint(drawn).astype(int), least, MOST_TOKENS)


def _cut(prompts: np.ndarray, outputs: np.ndarray, room: int, shared_prompt: int) -> tuple[np.ndarray, np.ndarray]:
    """Drawn lengths, cut so that prompt + output - 1 fits: the prompt to what leaves one token, then the reply."""
    prompts = np.clip(prompts, shared_prompt + 1, max(room, shared_prompt + 1))
    return prompts, np.clip(outputs, 1, np.maximum(room - prompts + 1, 1))


def _refuse_what_never_fits(prompts: np.ndarray, outputs: np.ndarray, room: int) -> None:
    needed = prompts + outputs - 1  # the last token of a reply is never put into the cache
    worst = int(np.argmax(needed))
    if needed[worst] > room:
        raise ValueError(f"a request of {prompts[worst]:,} + {outputs[worst]:,} tokens needs a KV cache of {needed[worst]:,} "
                         f"tokens: at most {room:,} fit here, so shorten it or leave more memory for the KV cache")
