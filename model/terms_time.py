"""How long each part of a pass takes with the terms of an engine: the formulas behind model.engines, one function a cause.

Every function takes a Machine m and a Profile t, broadcasts, and returns ms."""
import numpy as np

UBATCH = 512           # tokens that llama.cpp puts through at once (-ub), tools/server/README.md
FEW, MANY = 16, 32     # tokens a pass between which matrix products change from one kind of kernel to the other
FULL_RAMP = 32         # people from which on attention's start and end cost their full time
ALL_REDUCE_US = 10.0   # one small all-reduce over NVLink (NCCL tests, 8 KiB); two a layer with tensor parallelism


def head_parameters(llm):
    """Parameters of the output table, which decode reads and a prompt needs for its last token only."""
    return llm.embedding_parameters if llm.tied else llm.table_parameters - llm.embedding_parameters


def looked_up_parameters(llm):
    """Parameters of a table that only looks tokens up: no pass reads it. 0 where it is the output table as well."""
    return 0 if llm.tied else llm.embedding_parameters


def looked_up_bytes(m):
    """Bytes of the table that only looks tokens up: no pass reads it."""
    return looked_up_parameters(m.llm) * m.weights.embedding_bits / 8


def head_bytes(m):
    """Bytes of the output table."""
    return head_parameters(m.llm) * m.weights.output_bits / 8


def read_ms(m, t, weights, tokens):
    """Reading weights (bytes) in a pass over tokens: at the share of bandwidth that so many tokens leave, and no faster
    than the engine's kernels take them."""
    many = np.clip((tokens - FEW) / (MANY - FEW), 0.0, 1.0)
    rate = m.gpu.bandwidth_bytes_s * (t.stream_share + (t.stream_share_many - t.stream_share) * many)
    return 1000.0 * weights / np.minimum(rate, t.bytes_s_cap)


def products_ms(m, t, flops):
    """Matrix products of so many operations: at a share of peak, no faster than the engine's kernels compute, slower
    where quantised weights are unpacked on the way."""
    unpack = t.quantised_share if m.weights.bits < 15 else 1.0
    return 1000.0 * flops / (np.minimum(m.gpu.peak_flops * t.matrix_share, t.flops_cap) * unpack)


def batches(t, prompt_tokens):
    """Times that the weights are read for a prompt: llama.cpp cuts it into micro-batches, vLLM's scheduler has done so."""
    return np.maximum(1.0, np.ceil(prompt_tokens / UBATCH)) if t.family == "llama.cpp" else np.ones_like(prompt_tokens)


def layers_flops(m, tokens):
    """Operations of all layers' matrix products for so many tokens."""
    llm = m.llm
    return 2.0 * (llm.active_parameters - head_parameters(llm) - looked_up_parameters(llm)) * tokens


def head_flops(m, outputs):
    """Operations of the output table for so many next tokens."""
    return 2.0 * head_parameters(m.llm) * outputs


def kv_read_ms(m, t, kv):
    """Reading KV cache (bytes): once; without flash attention once per query head that shares it; a little slower where it
    is quantised and unpacked on the way."""
    group = 1.0 if t.flash or m.llm.latent else m.llm.heads / m.llm.kv_heads
    unpack = t.quantised_kv_share if m.kv.bits < 15 else 1.0
    return 1000.0 * kv * group / (m.gpu.bandwidth_bytes_s * t.kv_share * unpack)


def ramp_ms(m, t, users):
    """Filling and emptying the card in every layer's attention: a third of its full time for one person."""
    return m.llm.layers * t.attention_ramp_us / 1000.0 * (1 + 2 * np.minimum(users / FULL_RAMP, 1.0)) / 3


def attention_ms(m, t, prompt_tokens, prompt_offset):
    """Attention of a prompt's tokens over all before them: its arithmetic, and its scores where they are written out."""
    llm = m.llm
    held = prompt_offset + prompt_tokens / 2
    tiled = np.maximum(prompt_tokens, np.minimum(t.tile, 4 * prompt_tokens))
    windowed = llm.window_layers * np.minimum(held, llm.window) if llm.window_layers else 0.0
    seen = (llm.layers - llm.window_layers) * held + windowed
    flops = 4.0 * llm.heads * llm.head_size * tiled * seen
    scores = 4.0 * llm.heads * prompt_tokens * seen * t.score_passes
    return 1000.0 * (flops / (m.gpu.peak_flops * t.attention_share) + scores / (m.gpu.bandwidth_bytes_s * t.stream_share))


def host_ms(m, t, people, repeats):
    """What is neither reading nor arithmetic: small kernels of every layer, the host, all-reduces between cards."""
    reduce_us = 2 * ALL_REDUCE_US if m.gpu.count > 1 else 0.0
    return m.llm.layers * (t.layer_us + reduce_us) / 1000.0 * repeats + t.host_pass_ms + t.host_person_ms * people


def norm(a, b, power):
    """(a**power + b**power) ** (1/power), without overflow: max() for a large power, the sum for 1."""
    high, low = np.maximum(a, b), np.minimum(a, b)
    return high * (1.0 + (low / np.maximum(high, 1e-300)) ** power) ** (1.0 / power)
