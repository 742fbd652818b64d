"""What servers really get: the cost of a pass and the memory of a card for an engine's name instead of `datasheet`.

    time of a pass = knee(weights, matrix products) + KV cache + attention over prompts + host      (see docs/measured.md)

Each part is a cause with a term of its own (model.terms); never faster than the datasheet."""
import functools
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from model import catalogue, terms, terms_time
from model.machine import DATASHEET
from model.passes import pass_bytes, pass_flops

MEASURED = Path(__file__).with_name("data") / "measured" / "measured.csv"
BATCH_TOKENS = 2048    # --max-num-batched-tokens on cards below 70 GiB, vllm/engine/arg_utils.py
CUT_FROM = 32768       # max_model_len above which vLLM's first engine cut prompts by itself, vllm/engine/arg_utils.py
METAL_SHARE = 0.75     # of the shared memory, what Metal lets one process take (recommendedMaxWorkingSetSize)
VISIBLE = 0.986        # of the GiB on the box, what CUDA hands out: 23.67 of 24, 39.4 of 40 (start-up logs)
ECC_SHARE = 15 / 16    # left of GDDR where error correction is on, as on data-centre cards: 22.07 of 24 on an A10
ACCEPTANCE_FALL = 0.95  # of each further guess: an EAGLE draft feeds on its own guesses (EAGLE-3, figure of acceptance by step)
GIB = 2.0 ** 30


@dataclass(frozen=True)
class PassTerms:
    """Arrays, in ms. memory_ms: weights and KV. kv_ms: the KV part of it. arithmetic_ms: products and attention over
    prompts. overhead_ms: host and small kernels. pass_ms: the whole pass."""

    memory_ms: np.ndarray
    arithmetic_ms: np.ndarray
    kv_ms: np.ndarray
    overhead_ms: np.ndarray
    pass_ms: np.ndarray


def names():
    """Names of the engines, without `datasheet`."""
    return list(terms.engines())


def pass_terms(m, users, context, prompt_tokens=0, prompt_offset=0):
    """The PassTerms of a pass as in model.passes.pass_cost; arguments broadcast, nothing is checked."""
    users, context, prompt_tokens, prompt_offset = (
        np.asarray(a, dtype=float) for a in (users, context, prompt_tokens, prompt_offset))
    working = _working(m)
    return PassTerms(*np.broadcast_arrays(*_parts(m, working, terms.profile(m.engine, working.gpu), users, context,
                                                  prompt_tokens, prompt_offset)))


def clock(m):
    """The function that gives pass_ms of pass_terms for (users, context, prompt_tokens, prompt_offset), numbers or float
    arrays. What does not change from pass to pass is looked up once: for those who ask hundreds of thousands of times."""
    working = _working(m)
    t = terms.profile(m.engine, working.gpu)
    return lambda users, context, prompt_tokens=0.0, prompt_offset=0.0: _parts(
        m, working, t, users, context, prompt_tokens, prompt_offset)[-1]


def _parts(given, m, t, users, context, prompt_tokens, prompt_offset):
    """The fields of PassTerms, in order. given: the Machine asked about; m, t: the one that works and its Profile."""
    weights, kv = pass_bytes(m, users, context, prompt_tokens, prompt_offset)
    read = weights - terms_time.looked_up_bytes(m)
    repeats = terms_time.batches(t, prompt_tokens)
    weights_ms = terms_time.read_ms(m, t, read, users + prompt_tokens) * repeats
    outputs = users + (prompt_tokens > 0)
    products_ms = terms_time.products_ms(
        m, t, terms_time.layers_flops(m, users + prompt_tokens) + terms_time.head_flops(m, outputs))
    kv_ms = terms_time.kv_read_ms(m, t, kv) + terms_time.ramp_ms(m, t, users) * ((users > 0) & (context > 0))
    attention_ms = terms_time.attention_ms(m, t, prompt_tokens, prompt_offset)
    overhead_ms = terms_time.host_ms(m, t, outputs, repeats)
    pass_ms = terms_time.norm(weights_ms, products_ms, t.knee) + kv_ms + attention_ms + overhead_ms
    floor_ms = 1000.0 * np.maximum((weights + kv) / given.gpu.bandwidth_bytes_s,
                                   pass_flops(given, users, prompt_tokens) / given.gpu.peak_flops)
    return weights_ms + kv_ms, products_ms + attention_ms, kv_ms, overhead_ms, np.maximum(pass_ms, floor_ms)


def _working(m):
    """The Machine whose rates a pass has: llama.cpp puts layers on one card after the other, so that of several cards one
    works at a time (--split-mode layer, its default)."""
    count = m.gpu.count
    if count == 1 or not m.engine.startswith("llama.cpp"):
        return m
    one = replace(m.gpu, count=1, bandwidth_bytes_s=m.gpu.bandwidth_bytes_s / count, peak_flops=m.gpu.peak_flops / count)
    return replace(m, gpu=one)


def request_ms(m):
    """What a request costs once, before its first pass; 0 for the datasheet."""
    return 0.0 if m.engine == DATASHEET else terms.profile(m.engine, m.gpu).request_ms


def acceptance(draft, guesses):
    """Chances that each of so many guesses is kept once those before it were, for a draft of kind `eagle3` or `eagle`:
    they fall with the position."""
    first = terms.value(f"acceptance_{draft}")
    return tuple(first * ACCEPTANCE_FALL ** position for position in range(guesses))


def memory_terms(m, utilization=None, overhead_bytes=None, pass_tokens=2048):
    """Usable bytes and bytes besides weights and KV cache, for an engine: the visible part of the card times the
    engine's utilisation; CUDA, graphs and sampler, and the activations of a pass over pass_tokens tokens."""
    t = terms.profile(m.engine, m.gpu)
    share = t.utilization if utilization is None else utilization
    usable = visible_bytes(m.gpu) * share
    if overhead_bytes is None:
        activations = 2 * terms.value("activation_bytes") * m.llm.hidden * pass_tokens
        overhead_bytes = m.gpu.count * terms.value("other_bytes") * 1e9 + activations
    return usable, overhead_bytes


def profiled_tokens(m, max_model_len=None):
    """Tokens of the pass for which a server sets activations aside: vLLM 0.6 and 0.7 a whole prompt of the longest length
    up to 32,768 (beyond it they cut prompts), the others --max-num-batched-tokens, 2,048 where nothing is said."""
    whole = m.engine == "vllm-0.6" and max_model_len and max_model_len <= CUT_FROM
    return max(BATCH_TOKENS, max_model_len) if whole else BATCH_TOKENS


def visible_bytes(gpu):
    """Bytes that a process can have of a card sold with so many GB: those are GiB, less what the driver and error
    correction keep; on Apple three quarters of the shared memory."""
    bought = gpu.memory_bytes / 1e9 * GIB
    if gpu.kind == "apple":
        return bought * METAL_SHARE
    corrected = gpu.kind == "datacenter" and not terms.has_hbm(gpu)
    return bought * VISIBLE * (ECC_SHARE if corrected else 1.0)


def note(m):
    """Whose terms a Machine has, in words: `measured on this card`, or `estimated from its class` with the measured cards of
    its kind; `the datasheet's own numbers` without an engine."""
    if m.engine == DATASHEET:
        return "the datasheet's own numbers"
    cards = measured_cards().get(m.engine, ())
    if m.gpu.name in cards:
        return "measured on this card"
    wanted = terms.class_of(m.engine, m.gpu)
    alike = [card.label for card in map(catalogue.gpu, cards) if terms.class_of(m.engine, card) == wanted]
    return f"estimated from its class, {wanted} ({', '.join(alike) or 'none measured with this engine'})"


@functools.cache
def measured_cards():
    """Names of the cards with measurements, by engine."""
    from model import rows  # rows knows machines, which know engines: imported late
    found = {}
    for row in rows.read_rows(MEASURED.read_text(encoding="utf-8")):
        try:
            m = rows.machine_of(row)
        except ValueError:
            continue  # a row without a card that has a bandwidth: a log of KV sizes, a TPU
        found.setdefault(m.engine, set()).add(m.gpu.name)
    return {engine: tuple(sorted(cards)) for engine, cards in found.items()}


def band(m, quantity, value):
    """(low, high) in which a measurement is to be expected around a prediction: see model.points.band."""
    from model import points  # points predicts rows, which asks engines: imported late
    return points.band(m, quantity, value)


def measured_points(m, quantity):
    """Published measurements that belong on a Machine's curves: see model.points.measured_points."""
    from model import points  # as in band
    return points.measured_points(m, quantity)
