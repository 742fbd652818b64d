"""What the model says to a row of measurements: one function a kind of quantity, and the list that tells them apart."""
import re
from dataclasses import dataclass

import numpy as np

from model import engines, guesses, kernels, load, rows
from model.machine import DATASHEET, machine
from model.memory import kv_memory
from model.passes import pass_cost

POINTS = 65             # contexts at which a mean over a growing context is taken
BATCH_TOKENS = 2048     # vLLM's --max-num-batched-tokens where a row does not say, vllm/config/scheduler.py
BLOCK = 16              # tokens of a block of KV cache, vllm/config/cache.py
BYTES = {"GiB": 2.0**30, "GB": 1e9, "MiB": 2.0**20, "MB": 1e6, "bytes": 1.0}

SPEED = "inter-token latency and decode speed"
FIRST = "time to first token and prefill speed"
FIT = "KV tokens that fit"
THROUGHPUT = "throughput under load"
GUESSES = "speculative speed-up"
KERNEL = "kernels of one layer"
WHOLE = "whole requests"
SIZE = "KV bytes"


@dataclass(frozen=True)
class Prediction:
    """What the model says to a Row. value: in the row's unit, None where it says nothing. group: the kind of quantity.
    lacks: what the row would have to say, empty where there is a value. note: which terms, or which reading of the row."""

    row: rows.Row
    value: float | None
    group: str
    lacks: str = ""
    note: str = ""

    @property
    def error(self):
        """Prediction over measurement, less 1; None without a prediction."""
        return None if self.value is None or not self.row.value else self.value / self.row.value - 1.0


def predict(row):
    """The Prediction for a Row. Never raises for what a row says: lacks tells what it does not."""
    for pattern, group, function in QUANTITIES:
        found = re.search(pattern, row.quantity, flags=re.I)
        if found:
            return _predicted(row, group, function, found)
    return Prediction(row, None, "other", f"no prediction for a quantity called {row.quantity!r}")


def group_of(row):
    """The kind of quantity that a Row measures, `other` for those that nothing predicts."""
    return next((group for pattern, group, _ in QUANTITIES if re.search(pattern, row.quantity, flags=re.I)), "other")


def _predicted(row, group, function, found):
    try:
        value = float(function(row, found))
    except ValueError as problem:
        return Prediction(row, None, group, str(problem))
    if not np.isfinite(value) or value <= 0:
        return Prediction(row, None, group, "the row's numbers lead to no time: a count of people or tokens is missing")
    return Prediction(row, value, group, note=_note(row))


def _note(row):
    try:
        return engines.note(rows.machine_of(row))
    except ValueError:
        return "no card needed"


def prefill_ms(m, tokens, offset=0, chunk=BATCH_TOKENS):
    """Time of all passes over a prompt of so many tokens behind offset tokens in the cache: in one pass with llama.cpp,
    which cuts it itself, in chunks with vLLM."""
    if m.engine.startswith("llama.cpp"):
        return pass_cost(m, users=0, prompt_tokens=tokens, prompt_offset=offset).pass_ms
    starts = np.arange(0, tokens, chunk)
    return float(np.sum(pass_cost(m, users=0, prompt_tokens=np.minimum(chunk, tokens - starts),
                                  prompt_offset=offset + starts).pass_ms))


def _decode_speed(row, found):
    m, people = rows.machine_of(row), rows.people_of(row, 1.0) or 1.0
    start = depth_of(row) or rows.first_number(row.text("prompt_tokens"), 0.0)
    named = re.search(r"\btg\s*(\d+)", row.quantity, flags=re.I)
    written = rows.first_number(row.text("context_or_output"), float(named[1]) if named else 128.0)
    contexts = start + np.linspace(0.0, written, POINTS)
    ms = float(np.mean(pass_cost(m, users=people, context=contexts).pass_ms))
    if rows.milliseconds(row.unit):
        return ms / rows.milliseconds(row.unit)
    each = re.search(r"(?:per|a|each|/)[ -]?(?:user|person|people|request|stream|sequence|client)", row.quantity, flags=re.I)
    return (1.0 if each else people) * 1000.0 / ms


def _prefill_speed(row, found):
    named = re.search(r"\bpp\s*(\d+)", row.quantity, flags=re.I)
    tokens = rows.first_number(row.text("prompt_tokens")) or (float(named[1]) if named else None)
    if not tokens:
        raise ValueError("how long the prompt is (prompt_tokens)")
    ms = prefill_ms(rows.machine_of(row), tokens, depth_of(row) or 0.0)
    return ms / rows.milliseconds(row.unit) if rows.milliseconds(row.unit) else 1000.0 * tokens / ms


def depth_of(row):
    """Tokens that are in the KV cache before a llama-bench test begins (`pp512 @ d4096`); None where a row says nothing."""
    depth = re.search(r"(?:@\s*d|depth\D*)(\d+)", row.quantity + " " + row.text("load"))
    return float(depth[1]) if depth else None


def _first_token(row, found):
    if load.spec_of(row):
        name = _statistic(row, {"p99": "ttft_ms_p99", "median": "ttft_ms_median", "mean": "ttft_ms_mean"})
        return load.metric(row, name) / (rows.milliseconds(row.unit) or 1.0)
    tokens = rows.numbers_in(row.text("prompt_tokens"))
    if not tokens:
        raise ValueError("how long the prompt is (prompt_tokens), or how many requests a second arrive (load)")
    m = rows.machine_of(row)
    cached = tokens[1] if len(tokens) > 1 and "cached" in row.text("prompt_tokens") else 0.0
    return (engines.request_ms(m) + prefill_ms(m, tokens[0], cached, _batch_tokens(row))) / (rows.milliseconds(row.unit) or 1.0)


def _batch_tokens(row):
    found = re.search(r"mbt\s*=?\s*(\d+)|batched[-_ ]tokens\D*(\d+)", row.text("load"))
    return float(found[1] or found[2]) if found else float(load.batch_tokens(rows.machine_of(row)))


def _statistic(row, known):
    """The metric that a row's statistic is (mean without a word for it). ValueError for one that the server does not keep."""
    name = row.quantity.lower().replace("p50", "median").replace("average", "mean").replace("avg", "mean")
    found = re.search(r"\b(p\d+|median|max|min|std)\b", name)
    word = found[1] if found else "mean"
    if word not in known:
        raise ValueError(f"a statistic that the simulated server keeps ({', '.join(known)}), not {word}")
    return known[word]


def _between_tokens(row, found):
    mean = "tpot_ms_mean" if "tpot" in row.quantity.lower() else "itl_ms_mean"
    name = _statistic(row, {"median": "itl_ms_median" if mean == "itl_ms_mean" else mean, "mean": mean})
    ms = load.metric(row, name) if load.spec_of(row) else load.closed_loop(row).itl_ms
    return ms / (rows.milliseconds(row.unit) or 1.0)


def pool_tokens(row):
    """Tokens in the KV cache of all together where a row says how full its pool is; None elsewhere."""
    pool = re.search(r"pool\s+([\d.]+)%\s+of\s+([\d,]+)", row.text("context_or_output"), flags=re.I)
    return float(pool[1]) / 100 * float(pool[2].replace(",", "")) if pool else None


def _throughput(row, found):
    held = pool_tokens(row)
    if held:
        people = rows.people_of(row)
        return people * 1000.0 / pass_cost(rows.machine_of(row), users=people, context=held / people).pass_ms
    kind = "requests" if "req" in row.unit or "request" in row.quantity else "all" if "total" in row.quantity else "output"
    if load.spec_of(row):
        return load.metric(row, {"requests": "requests_per_s", "all": "all_tokens_per_s", "output": "tokens_per_s"}[kind])
    closed = load.closed_loop(row)
    return {"requests": closed.requests_per_s, "all": closed.all_tokens_per_s, "output": closed.tokens_per_s}[kind]


def _request(row, found):
    ms = load.metric(row, "e2e_ms_mean") if load.spec_of(row) else load.closed_loop(row).request_ms
    return ms / (rows.milliseconds(row.unit) or 1.0)


def _fit_intercept(row, found):
    return pass_cost(rows.machine_of(row), users=rows.people_of(row, 1.0), context=1e-6).pass_ms


def _fit_slope(row, found):
    m, people = rows.machine_of(row), rows.people_of(row, 1.0)
    low, high = (pass_cost(m, users=people, context=c).pass_ms for c in (1e3, 1e5))
    return (high - low) / (1e5 - 1e3)


def _kv_tokens(row, found):
    m = rows.machine_of(row)
    words = row.text("load").lower()
    share = re.search(r"(?:util\w*\D{0,3})([01]?\.\d+)", words)
    percent = re.search(r"util\w*\D{0,3}(\d\d)\s*%?(?![\d.])", words)
    longest = re.search(r"max(?:[-_ ]model)?[-_ ]len\D*(\d+)", words)
    said = re.search(r"mbt\s*=?\s*(\d+)", words)
    tokens = float(said[1]) if said else engines.profiled_tokens(m, float(longest[1]) if longest else None)
    utilization = float(share[1]) if share else float(percent[1]) / 100 if percent else None
    budget = _budget_bytes(m, utilization, tokens)
    if budget <= 0:
        raise ValueError("a card on which the weights fit")
    if row.unit in BYTES:
        return budget / BYTES[row.unit]
    if "concurrency" in row.quantity.lower():
        if not longest:
            raise ValueError("how long a request may be (max_len in load)")
        return budget / m.llm.kv_bytes_per_token(m.kv) / float(longest[1])
    each = BLOCK * m.llm.kv_bytes_per_token(m.kv)
    return budget // each * (1 if row.unit == "blocks" else BLOCK)


def _budget_bytes(m, utilization, pass_tokens):
    """What a server leaves for KV caches; at the datasheet's values what kv_memory says."""
    if m.engine == DATASHEET:
        return kv_memory(m, utilization=utilization).budget_bytes
    usable, other = engines.memory_terms(m, utilization, pass_tokens=pass_tokens)
    return usable - m.llm.weights_bytes(m.weights) - other


def _kv_each(row, found):
    m = rows.machine_of(row, default_gpu="rtx-4090")
    return m.llm.kv_bytes_per_token(m.kv) / 1024


def _kv_self(row, found):
    weights, kv = rows.formats_of(row.text("weights"))
    m = machine(llm=rows.llm_of(row.text("llm")), weights=weights, kv=kv)
    cells = re.search(r"n_ctx\D*(\d+)", row.text("load"))
    if not cells:
        raise ValueError("how many cells the KV cache has (n_ctx in load)")
    return float(cells[1]) * m.llm.kv_bytes_per_token(m.kv) / 2**20


QUANTITIES = (
    (r"GEMMs? of one layer", KERNEL, kernels.products_us), (r"attention one layer", KERNEL, kernels.attention_us),
    (r"lm_head", KERNEL, kernels.head_us), (r"^iteration (\d+) tokens", FIRST, kernels.iteration_ms),
    (r"decode-only per-token time B=(\d+) seq (\d+)", SPEED, kernels.shared_pass_ms),
    (r"decode-maximal batch \((\d+) prefill \+ (\d+) decode\)", SPEED, kernels.beside_ms),
    (r"decode/prefill per-token cost ratio B=(\d+)", SPEED, kernels.cost_ratio),
    (r"speed-?up|EAGLE|speculat", GUESSES, guesses.speedup),
    (r"KV bytes per token", SIZE, _kv_each), (r"KV (?:self|buffer) size", SIZE, _kv_self),
    (r"KV (?:[GM]i?B|tokens|cache (?:size|memory|tokens))|(?:GPU|KV) (?:KV )?blocks|max\w* concurrency", FIT, _kv_tokens),
    (r"fit intercept", SPEED, _fit_intercept), (r"fit slope", SPEED, _fit_slope), (r"throughput", THROUGHPUT, _throughput),
    (r"prefill|\bpp ?\d|^pp|prompt (?:eval|processing)", FIRST, _prefill_speed),
    (r"decode|\btg ?\d|^tg|generation|eval", SPEED, _decode_speed), (r"TTFT|first token", FIRST, _first_token),
    (r"ITL|TPOT|inter-token|(?:per|time between) (?:output )?tokens?", SPEED, _between_tokens),
    (r"E2E|end.to.end|request latency", WHOLE, _request), (r"tok(?:en)?s? ?(?:/|per|a) ?s", THROUGHPUT, _throughput))
