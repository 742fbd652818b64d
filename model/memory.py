"""The memory of a card: weights once for everybody, an overhead, and one KV cache a person in what is left."""
from dataclasses import dataclass

import numpy as np

from model.machine import DATASHEET
from model.numbers import amount, plainly, share

UTILIZATION = 0.92      # vLLM's default of --gpu-memory-utilization, vllm/config/cache.py
OVERHEAD_BYTES = 1.2e9  # what a 24 GB card showed besides weights and KV cache; see data/measured
GIB = 2.0 ** 30         # a card sold with so many GB has as many GiB


@dataclass(frozen=True)
class Memory:
    """What fits. All bytes; arrays where users or context were arrays.

    capacity_bytes: the card's; 24e9 of a card sold as 24 GB on the datasheet, and 24 GiB, which it has, for an engine.
    usable_bytes: what the server may take of them.
    budget_bytes: left for KV caches, negative where not even the weights fit. budget_tokens: tokens that fit in it when
    every conversation is context long. kv_bytes_each: one conversation's. users_fit: whole conversations that fit.
    used_bytes: what users people want in all. free_bytes: what they leave of the budget, negative where they do not fit."""

    capacity_bytes: float
    usable_bytes: float
    weights_bytes: float
    overhead_bytes: float
    budget_bytes: float
    budget_tokens: int
    kv_bytes_per_token: float
    kv_bytes_each: float
    users_fit: int
    used_bytes: float
    free_bytes: float


def kv_memory(m, users=1, context=8192, utilization=None, overhead_bytes=None):
    """The Memory of users people with context tokens each. utilization: share of the card that the server may take
    (default 0.92); overhead_bytes: what neither weights nor KV cache take (default 1.2e9; an engine knows its own).
    users and context broadcast. ValueError for a number out of range."""
    users = amount(users, "users", unit="people")
    context = amount(context, "context", low=1)
    usable, overhead = _leave(m, utilization, overhead_bytes)
    weights = m.llm.weights_bytes(m.weights)
    budget = usable - weights - overhead
    each = m.llm.kv_bytes(m.kv, context)
    used = weights + overhead + users * each
    room = max(budget, 0.0)
    return Memory(capacity_bytes=_capacity(m), usable_bytes=usable, weights_bytes=weights, overhead_bytes=overhead,
                  budget_bytes=budget, budget_tokens=_whole(room * context / each),
                  kv_bytes_per_token=m.llm.kv_bytes_per_token(m.kv), kv_bytes_each=plainly(each),
                  users_fit=_whole(room / each), used_bytes=plainly(used), free_bytes=plainly(usable - used))


def _capacity(m):
    """Bytes of the card: as the datasheet counts them, or as there are, for an engine whose terms were measured."""
    return m.gpu.memory_bytes if m.engine == DATASHEET else m.gpu.memory_bytes / 1e9 * GIB


def _leave(m, utilization, overhead_bytes):
    """Bytes that the server may use, and bytes of overhead, from what was asked for or what the engine is known for."""
    if utilization is not None:
        utilization = share(utilization, "utilization")
    if m.engine == DATASHEET:
        usable = m.gpu.memory_bytes * (UTILIZATION if utilization is None else utilization)
        overhead = OVERHEAD_BYTES if overhead_bytes is None else overhead_bytes
    else:
        from model import engines  # imported late: engines knows machines
        usable, overhead = engines.memory_terms(m, utilization, overhead_bytes)
    return float(usable), float(amount(overhead, "overhead_bytes", unit="bytes"))


def _whole(array):
    return plainly(np.floor(array).astype(int))
