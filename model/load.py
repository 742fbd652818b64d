"""Measurements under load: what a row says about arrivals and lengths, served by model.server, or people in a closed loop."""
import functools
import re
import statistics
from dataclasses import dataclass

import numpy as np

from model import engines, rows, terms
from model.passes import pass_cost
from model.settings import vllm_defaults

SEEDS = (0, 1)              # arrivals drawn anew for each; the mean is the prediction
REQUESTS = 200              # sent where a source does not say: its rate has settled by then
SHAREGPT_SIGMA = (1.2, 1.1)  # spread of the logarithm of prompts and replies in ShareGPT, after vLLM's filter
SHAREGPT_LONGEST = (1024, 800)  # tokens: prompts, where that filter cuts (vllm/benchmarks/datasets.py); replies, of which
#                             the longest end 18 s after the last arrival in IOG's run at 32 requests a second


@dataclass(frozen=True)
class Spec:
    """A load: requests a second of each stage, mean tokens, their spread (`sharegpt` or `fixed`), requests sent, tokens a
    pass."""

    stages: tuple
    prompt: float
    output: float
    spread: str
    requests: int
    batch_tokens: int


@dataclass(frozen=True)
class Closed:
    """A closed loop: ttft_ms, itl_ms, request_ms from sending to the last token; tokens_per_s of all replies together,
    all_tokens_per_s with the prompts, requests_per_s."""

    ttft_ms: float
    itl_ms: float
    request_ms: float
    tokens_per_s: float
    all_tokens_per_s: float
    requests_per_s: float


def batch_tokens(m):
    """vLLM's default of --max-num-batched-tokens on a machine."""
    return vllm_defaults(m.gpu)[0]


def spec_of(row):
    """The Spec of a row whose load is a rate or a named workload; None where it counts people."""
    words = " ".join(row.text(c) for c in ("load", "prompt_tokens", "context_or_output")).lower()
    named = next((name for name in terms.workloads() if name in words), None)
    rate = rows.rate_of(row)
    if rate is None and not (named and "stages" in terms.workloads()[named]):
        return None
    entry = terms.workloads().get(named, {})
    prompt = rows.first_number(row.text("prompt_tokens")) or entry.get("prompt")
    output = rows.first_number(row.text("context_or_output")) or entry.get("output")
    if not prompt or not output:
        raise ValueError("how long prompts and replies are (prompt_tokens, context_or_output)")
    mbt = re.search(r"mbt\s*=?\s*(\d+)", words)
    return Spec(stages=(rate,) if rate else tuple(entry["stages"]), prompt=prompt, output=output,
                spread=entry.get("spread", "fixed"), requests=int(entry.get("requests", REQUESTS)),
                batch_tokens=int(mbt[1]) if mbt else batch_tokens(rows.machine_of(row)))


def metric(row, name):
    """One of METRICS for a row under load: mean over stages (by their requests) and seeds."""
    return metric_of(rows.machine_of(row), spec_of(row), name)


def metric_of(m, spec, name):
    """The same for a machine and a Spec."""
    return dict(zip(METRICS, served(m, spec, terms.profile(m.engine, m.gpu))))[name]


SERVED = ("ttft_ms_mean", "ttft_ms_p99", "itl_ms_mean", "itl_ms_median", "tpot_ms_mean", "tokens_per_s")
METRICS = (*SERVED, "ttft_ms_median", "e2e_ms_mean", "requests_per_s", "all_tokens_per_s")


@functools.lru_cache(maxsize=4096)
def served(m, spec, profile):
    """METRICS of a load on a machine. profile: the machine's, so that an answer is not kept for other terms."""
    runs = [_serve(m, spec, rate, seed) for rate in spec.stages for seed in SEEDS]
    weights = np.repeat(spec.stages, len(SEEDS))
    return tuple(float(np.average([run[name] for run in runs], weights=weights)) for name in METRICS)


def _serve(m, spec, rate, seed):
    from model.server import serve  # the server knows engines: imported late, where it is needed
    random = np.random.default_rng(seed)
    run = serve(m, arrivals=np.cumsum(gaps_s(rate, spec.requests, random)) * 1000.0,
                prompts=lengths(spec, 0, random), outputs=lengths(spec, 1, random), max_batched_tokens=spec.batch_tokens)
    found = {name: getattr(run, name) for name in SERVED}
    share = run.tokens_per_s / run.outputs.sum()
    return {**found, "ttft_ms_median": float(np.median(run.first_token_ms - run.arrival_ms)),
            "e2e_ms_mean": float(np.mean(run.end_ms - run.arrival_ms)), "requests_per_s": share * len(run.outputs),
            "all_tokens_per_s": share * (run.prompts.sum() + run.outputs.sum())}


def gaps_s(rate, requests, random):
    """Seconds between arrivals of a Poisson stream: the exponential distribution's own quantiles in a random order, so that
    every draw lasts as long as the rate says."""
    return random.permutation(-np.log(1.0 - (np.arange(requests) + 0.5) / requests) / rate)


def lengths(spec, which, random):
    """Tokens of each prompt (which 0) or reply (which 1), shuffled: all alike, or long-tailed with the Spec's mean."""
    mean = (spec.prompt, spec.output)[which]
    if spec.spread != "sharegpt":
        return np.full(spec.requests, max(1, round(mean)))
    share = (np.arange(spec.requests) + 0.5) / spec.requests
    drawn = np.exp(SHAREGPT_SIGMA[which] * _normal_quantile(share))
    longest = SHAREGPT_LONGEST[which]
    scale = _scale(drawn, mean, longest)
    return random.permutation(np.maximum(4, np.minimum(drawn * scale, longest)).round().astype(int))


def _scale(drawn, mean, longest):
    """The factor with which drawn lengths, cut at the longest, have this mean; by bisection."""
    low, high = 0.0, 1e6
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if np.minimum(drawn * middle, longest).mean() < mean else (low, middle)
    return low


def _normal_quantile(share):
    """The normal distribution's quantiles."""
    return np.array([statistics.NormalDist().inv_cdf(float(s)) for s in share])


def closed_loop(row):
    """The Closed of a row whose load is people, each of whom asks again as soon as a reply ends, not all at one time: a
    person's prompt is read in passes of its own, which everybody else waits for, and waits itself for the prompts of others
    (M/D/1: busy / (2 (1 - busy)) of a reading)."""
    from model.predict import prefill_ms  # predict knows this module: imported late
    m, people = rows.machine_of(row), rows.people_of(row)
    prompt, output = (rows.first_number(row.text(c)) for c in ("prompt_tokens", "context_or_output"))
    if not people or not output:
        raise ValueError("how many people there are (load) and how long their replies are (context_or_output)")
    prompt = prompt or 0.0
    contexts = prompt + np.linspace(0.0, output, 65)
    decode_ms = float(np.mean(pass_cost(m, users=people, context=contexts).pass_ms))
    read_ms = prefill_ms(m, prompt, chunk=batch_tokens(m)) if prompt else 0.0
    itl_ms = decode_ms + (people - 1) * read_ms / output
    busy = (people - 1) * read_ms / (read_ms + output * itl_ms)
    wait_ms = (decode_ms / 2 if people > 1 else 0.0) + read_ms * busy / (2 * (1 - min(busy, 0.9)))
    ttft_ms = engines.request_ms(m) + read_ms + wait_ms
    request_ms = ttft_ms + (output - 1) * itl_ms
    each = people * 1000.0 / request_ms
    return Closed(ttft_ms, itl_ms, request_ms, each * output, each * (prompt + output), each)

