"""What servers really get: the cost of a pass and the memory of a card for an engine's name instead of `datasheet`.

    time of a pass = knee(weights, matrix products) + KV cache + attention over prompts + host      (see docs/measured.md)

Each part is a cause with a term of its own (model.terms); never faster than the datasheet."""
from dataclasses import dataclass

import numpy as np

from model import terms
from model.passes import pass_bytes, pass_flops

UBATCH = 512               # tokens that llama.cpp puts through at once (-ub), tools/server/README.md
TILE = 256                 # tokens of a prompt that fill a card in attention: 64 cost as much (LLMServingSim profile)
FEW, MANY = 16, 32         # tokens a pass between which matrix products change from one kind of kernel to the other
FULL_RAMP = 32             # people from which on attention's start and end cost their full time
ALL_REDUCE_US = 10.0       # one small all-reduce over NVLink; two a layer with tensor parallelism (NCCL tests, 8 KiB)
METAL_SHARE = 0.75         # of the shared memory, what Metal lets one process take (recommendedMaxWorkingSetSize)
VISIBLE = 0.986            # of the GiB on the box, what CUDA hands out: 23.67 of 24, 39.4 of 40 (start-up logs)
ECC_SHARE = 15 / 16        # left of GDDR where error correction is on, as on data-centre cards: 22.07 of 24 on an A10
HBM_BYTES_S = 1.2e12       # data-centre cards below it have GDDR
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
    t = terms.profile(m.engine, m.gpu)
    weights, kv = pass_bytes(m, users, context, prompt_tokens, prompt_offset)
    weights_ms = _weights_ms(m, t, weights, users, prompt_tokens)
    products_ms = _products_ms(m, t, users, prompt_tokens)
    kv_ms = _kv_ms(m, t, kv, users, context, prompt_offset)
    attention_ms = _attention_ms(m, t, prompt_tokens, prompt_offset)
    overhead_ms = _overhead_ms(m, t, users, prompt_tokens)
    pass_ms = _norm(weights_ms, products_ms, t.knee) + kv_ms + attention_ms + overhead_ms
    floor_ms = 1000.0 * np.maximum((weights + kv) / m.gpu.bandwidth_bytes_s,
                                   pass_flops(m, users, prompt_tokens) / m.gpu.peak_flops)
    return PassTerms(*np.broadcast_arrays(weights_ms + kv_ms, products_ms + attention_ms, kv_ms, overhead_ms,
                                          np.maximum(pass_ms, floor_ms)))


def request_ms(m):
    """What a request costs once, before its first pass; 0 for the datasheet."""
    return 0.0 if m.engine == "datasheet" else terms.profile(m.engine, m.gpu).request_ms


def memory_terms(m, utilization=None, overhead_bytes=None, pass_tokens=2048):
    """Usable bytes and bytes besides weights and KV cache, for an engine: the visible part of the card times the
    engine's utilisation; CUDA, graphs and sampler, and the activations of a pass over pass_tokens tokens."""
    t = terms.profile(m.engine, m.gpu)
    share = t.utilization if utilization is None else utilization
    usable = visible_bytes(m.gpu) * share
    if overhead_bytes is None:
        overhead_bytes = terms.value("other_bytes") * 1e9 + 2 * terms.value("activation_bytes") * m.llm.hidden * pass_tokens
    return usable, overhead_bytes


def visible_bytes(gpu):
    """Bytes that a process can have of a card sold with so many GB: those are GiB, less what the driver and error
    correction keep; on Apple three quarters of the shared memory."""
    bought = gpu.memory_bytes / 1e9 * GIB
    if gpu.kind == "apple":
        return bought * METAL_SHARE
    corrected = gpu.kind == "datacenter" and gpu.bandwidth_bytes_s < HBM_BYTES_S * gpu.count
    return bought * VISIBLE * (ECC_SHARE if corrected else 1.0)


def head_parameters(llm):
    """Parameters of the output table, which decode reads and a prompt needs for its last token only."""
    return llm.embedding_parameters if llm.tied else llm.table_parameters - llm.embedding_parameters


def _weights_ms(m, t, weights, users, prompt_tokens):
    """Reading the weights: without the table that looks tokens up, at the share of tokens a pass, and once for every
    micro-batch where the engine cuts prompts."""
    tokens = users + prompt_tokens
    if not m.llm.tied:
        weights = weights - m.llm.embedding_parameters * _table_bits(m) / 8
    many = np.clip((tokens - FEW) / (MANY - FEW), 0.0, 1.0)
    rate = m.gpu.bandwidth_bytes_s * (t.stream_share + (t.stream_share_many - t.stream_share) * many)
    batches = np.maximum(1.0, np.ceil(prompt_tokens / UBATCH)) if t.family == "llama.cpp" else 1.0
    return _norm(1000.0 * weights / rate, 1000.0 * weights / t.bytes_s_cap, t.knee) * batches


def _table_bits(m):
    return m.weights.bits if m.weights.covers == "all" else 16


def _products_ms(m, t, users, prompt_tokens):
    """Matrix products: the layers for every token, the output table for those whose next token is asked for."""
    head = head_parameters(m.llm)
    layers = m.llm.active_parameters - head - (0 if m.llm.tied else m.llm.embedding_parameters)
    flops = 2.0 * (layers * (users + prompt_tokens) + head * (users + (prompt_tokens > 0)))
    share = t.matrix_share * (t.quantised_share if m.weights.bits < 15 else 1.0)
    cap = t.flops_cap * (t.quantised_share if m.weights.bits < 15 else 1.0)
    return _norm(1000.0 * flops / (m.gpu.peak_flops * share), 1000.0 * flops / cap, t.knee)


def _kv_ms(m, t, kv, users, context, prompt_offset):
    """Reading the KV cache: once; without flash attention once per query head. Plus attention's start and end."""
    if not t.flash:
        group = m.llm.heads / m.llm.kv_heads if not m.llm.latent else 1.0
        kv = kv * group
    ramp = m.llm.layers * t.attention_ramp_us / 1000.0 * (1 + 2 * np.minimum(users / FULL_RAMP, 1.0)) / 3
    busy = (users > 0) & (context > 0)
    return 1000.0 * kv / (m.gpu.bandwidth_bytes_s * t.kv_share) + ramp * busy + 0.0 * prompt_offset


def _attention_ms(m, t, prompt_tokens, prompt_offset):
    """Attention of a prompt's tokens over all before them: its arithmetic, and its scores where they are written out."""
    held = prompt_offset + prompt_tokens / 2
    tiled = np.maximum(prompt_tokens, np.minimum(TILE, 4 * prompt_tokens))
    whole = m.llm.layers - m.llm.window_layers
    seen = whole * held + m.llm.window_layers * (np.minimum(held, m.llm.window) if m.llm.window_layers else 0.0)
    flops = 4.0 * m.llm.heads * m.llm.head_size * tiled * seen
    scores = 4.0 * m.llm.heads * prompt_tokens * seen * t.score_passes
    return 1000.0 * (flops / (m.gpu.peak_flops * t.attention_share) + scores / (m.gpu.bandwidth_bytes_s * t.stream_share))


def _overhead_ms(m, t, users, prompt_tokens):
    """Small kernels of every layer (for every micro-batch), the host, and all-reduces between cards."""
    batches = np.maximum(1.0, np.ceil(prompt_tokens / UBATCH)) if t.family == "llama.cpp" else 1.0
    reduce_us = 2 * ALL_REDUCE_US if m.gpu.count > 1 else 0.0
    people = users + (prompt_tokens > 0)
    return m.llm.layers * (t.layer_us + reduce_us) / 1000.0 * batches + t.host_pass_ms + t.host_person_ms * people


def _norm(a, b, power):
    """(a**power + b**power) ** (1/power), without overflow: max() for a large power, the sum for 1."""
    high, low = np.maximum(a, b), np.minimum(a, b)
    return high * (1.0 + (low / np.maximum(high, 1e-300)) ** power) ** (1.0 / power)
