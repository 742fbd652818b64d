"""The cost of one pass over the model: what it reads, what it computes, how long that takes, and which of the two decides.

    bytes = weights + KV cache of all who run        time = max(bytes / bandwidth, arithmetic / peak)
    arithmetic = 2 x active parameters x tokens processed          (attention's own arithmetic left out)

Source: the roofline model (Williams et al., CACM 2009) with the counts of Kaplan et al., 2020 (2 operations a weight and
token). An engine's name instead of `datasheet` asks model.engines, which adds what real servers lose."""
from dataclasses import dataclass

import numpy as np

from model.machine import DATASHEET
from model.numbers import amount, plainly

BOUND = np.array(["memory", "arithmetic"])


@dataclass(frozen=True)
class PassCost:
    """One pass, or an array of passes. Times in ms, bytes read, flops computed.

    bound_by: `memory` or `arithmetic`, whichever takes longer. tokens_per_s_each: what one person who decodes gets.
    tokens_per_s: what all of them get together; 0 where nobody decodes. kv_ms: the part of the time that reads the KV
    cache. overhead_ms: time in which the card does neither (0 on the datasheet)."""

    pass_ms: float
    memory_ms: float
    arithmetic_ms: float
    kv_ms: float
    overhead_ms: float
    bound_by: str
    bytes: float
    flops: float
    tokens_per_s_each: float
    tokens_per_s: float


def pass_bytes(m, users, context, prompt_tokens=0, prompt_offset=0):
    """Bytes of weights and of KV cache that a pass reads, as two arrays; broadcasts, checks nothing.

    A mixture of experts reads the experts that its tokens touch. The KV cache read is what the people who decode hold
    (context each) and what the prompt has left there before this pass (prompt_offset)."""
    weights = m.llm.weights_bytes(m.weights)
    if m.llm.experts:
        weights = weights - m.llm.expert_bytes(m.weights) * (1 - m.llm.touched_share(users + prompt_tokens))
    return weights, users * m.llm.kv_bytes(m.kv, context) + m.llm.kv_bytes(m.kv, prompt_offset)


def pass_flops(m, users, prompt_tokens=0):
    """Operations of a pass: two for each active parameter and token; broadcasts, checks nothing."""
    return 2.0 * m.llm.active_parameters * (users + prompt_tokens)


def pass_cost(m, users=1, context=0, prompt_tokens=0, prompt_offset=0):
    """The PassCost of one pass in which users people each decode one token with context tokens in their KV cache, beside
    prompt_tokens of a prompt of which prompt_offset tokens are already in the cache. Arguments broadcast as arrays;
    numbers give numbers. ValueError for a negative number or a pass without any token."""
    users = amount(users, "users", unit="people")
    context = amount(context, "context")
    prompt_tokens = amount(prompt_tokens, "prompt_tokens")
    prompt_offset = amount(prompt_offset, "prompt_offset")
    if np.any(users + prompt_tokens <= 0):
        raise ValueError("a pass needs a token to work on: users or prompt_tokens must be 1 or more")
    weights, kv = pass_bytes(m, users, context, prompt_tokens, prompt_offset)
    flops = pass_flops(m, users, prompt_tokens)
    terms = _terms(m, users, context, prompt_tokens, prompt_offset, weights, kv, flops)
    fields = {**terms, "bytes": weights + kv, "flops": flops,
              "bound_by": BOUND[(terms["arithmetic_ms"] > terms["memory_ms"]).astype(int)],
              "tokens_per_s_each": np.where(users > 0, 1000.0 / terms["pass_ms"], 0.0),
              "tokens_per_s": users * 1000.0 / terms["pass_ms"]}
    arrays = np.broadcast_arrays(*fields.values())
    return PassCost(**{name: plainly(array) for name, array in zip(fields, arrays)})


def clock(m):
    """The function that gives pass_ms of pass_cost for (users, context, prompt_tokens, prompt_offset), numbers or float
    arrays, and checks nothing: for a server that asks hundreds of thousands of times."""
    if m.engine != DATASHEET:
        from model import engines  # engines calls pass_bytes: imported late, where it is needed
        return engines.clock(m)
    def pass_ms(users, context, prompt_tokens=0.0, prompt_offset=0.0):
        read = sum(pass_bytes(m, users, context, prompt_tokens, prompt_offset))
        return 1000.0 * np.maximum(read / m.gpu.bandwidth_bytes_s, pass_flops(m, users, prompt_tokens) / m.gpu.peak_flops)
    return pass_ms


def _terms(m, users, context, prompt_tokens, prompt_offset, weights, kv, flops):
    if m.engine != DATASHEET:
        from model import engines  # engines calls pass_bytes: imported late, where it is needed
        terms = engines.pass_terms(m, users, context, prompt_tokens, prompt_offset)
        return {name: getattr(terms, name) for name in ("memory_ms", "arithmetic_ms", "kv_ms", "overhead_ms", "pass_ms")}
    memory_ms = np.asarray(1000.0 * (weights + kv) / m.gpu.bandwidth_bytes_s)
    arithmetic_ms = np.asarray(1000.0 * flops / m.gpu.peak_flops)
    return {"memory_ms": memory_ms, "arithmetic_ms": arithmetic_ms, "kv_ms": 1000.0 * kv / m.gpu.bandwidth_bytes_s,
            "overhead_ms": np.zeros(()), "pass_ms": np.maximum(memory_ms, arithmetic_ms)}
