"""Chunked prefill: a long document read in one pass, or in chunks beside everybody else's decode passes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from model.limits import whole
from model.machine import Machine
from model.passes import pass_cost
from model.trace import DECODE, PREFILL, WAITING, Trace, trace_of

MOST_CELLS = 2_000_000  # passes x people in a Trace, so that it stays below a hundred megabytes


@dataclass(frozen=True)
class Chunked:
    """The same minutes twice, on one time axis. In both Traces the document is the last request, `users` the others.

    `sent_ms`: when the document is sent; the next pass may begin it. `stall_ms`: how long the pass that reads the whole
    document keeps everybody else from their next token. `pass_ms`: the decode pass before the document.
    `pass_ms_with_chunk`: the first pass with a chunk in it. `document_ms`: from `sent_ms` until the last chunk is read and
    the document's first token is there. `slowest_gap_ms_whole`, `slowest_gap_ms_chunked`: the longest that any user waited
    between two tokens (0 without users).
    """

    whole: Trace
    chunked: Trace
    sent_ms: float
    stall_ms: float
    pass_ms: float
    pass_ms_with_chunk: float
    document_ms: float
    slowest_gap_ms_whole: float
    slowest_gap_ms_chunked: float


def chunked_prefill(m: Machine, document: int = 8192, chunk: int = 256, users: int = 9, context: int = 2048,
                    before: int = 6, after: int = 6) -> Chunked:
    """`users` people with `context` tokens each decode; somebody sends a document of `document` tokens.

    Whole: the next pass reads the document and nothing else, as schedulers did that put prefill first (Orca, vLLM before
    chunked prefill). Chunked: each pass decodes for everybody and reads the next `chunk` tokens (Sarathi-Serve, OSDI
    2024); the last chunk may be shorter. `before` decode passes run before the document is sent, and both Traces run on
    until `after` passes later than the slower of the two. ValueError for a number out of range.
    """
    document, chunk = whole("document", document, 1, 10_000_000), whole("chunk", chunk, 1, 10_000_000)
    users, context = whole("users", users, 0, 1000), whole("context", context, 0, 10_000_000)
    before, after = whole("before", before, 0, 1000), whole("after", after, 0, 1000)
    if users == 0:
        before = 0  # nobody there whose passes could come before
    chunks = _chunks(document, chunk, MOST_CELLS // (users + 1))
    alone, beside = _both(m, users, context, before, chunks, 1, 1)
    done_ms = max(alone.end_ms[-2], beside.end_ms[-2])
    alone, beside = _both(m, users, context, before, chunks, after + _short(alone, done_ms), after + _short(beside, done_ms))
    sent_ms = float(alone.start_ms[before])
    plain = pass_cost(m, users=users, context=context).pass_ms if users else 0.0
    return Chunked(
        alone, beside, sent_ms, stall_ms=float(alone.pass_ms[before]), pass_ms=float(plain),
        pass_ms_with_chunk=float(beside.pass_ms[before]),
        document_ms=float(beside.end_ms[before + len(chunks) - 1]) - sent_ms,
        slowest_gap_ms_whole=_slowest_gap_ms(alone, users), slowest_gap_ms_chunked=_slowest_gap_ms(beside, users))


def _chunks(document: int, chunk: int, most: int) -> np.ndarray:
    """Sizes of the chunks, in tokens; together they are the document. ValueError for more than `most`."""
    full, rest = divmod(document, chunk)
    if full > most:
        raise ValueError(f"chunk is {chunk}: {document:,} tokens would take {full:,} passes, "
                         f"so it must be at least {-(-document // most):,}")
    return np.array([chunk] * full + [rest] * (rest > 0))


def _both(m: Machine, users: int, context: int, before: int, chunks: np.ndarray, tail_alone: int, tail_beside: int):
    """The document in one pass without the users, and in chunks beside them, with so many passes for all afterwards."""
    return (_passes(m, users, context, before, np.array([chunks.sum()]), tail_alone, beside=False),
            _passes(m, users, context, before, chunks, tail_beside, beside=True))


def _passes(m: Machine, users: int, context: int, before: int, chunks: np.ndarray, tail: int, beside: bool) -> Trace:
    """`before` decode passes, one for each chunk (with the users' decodes in it if `beside`), `tail` passes for all."""
    read = np.concatenate([np.zeros(before, int), chunks, np.zeros(tail, int)])
    reading, later = read > 0, np.arange(len(read)) >= before + len(chunks)
    decoding = ~reading | beside
    seen = np.cumsum(read)
    user_held = context + np.cumsum(decoding)
    document_tokens = read + later
    document_held = np.cumsum(document_tokens)
    total = users * (user_held - decoding) * decoding + (document_held - document_tokens) * later
    running = users * decoding + later
    cost = pass_cost(m, users=running, context=total / np.maximum(running, 1), prompt_tokens=read,
                     prompt_offset=np.where(reading, seen - read, 0))
    columns = (len(read), users)
    state = np.where(reading, PREFILL, np.where(later, DECODE, WAITING))
    written = np.where(later, 1, 0)
    written[before + len(chunks) - 1] = 1
    return trace_of(
        cost,
        tokens=_beside(np.broadcast_to(decoding[:, None], columns), document_tokens),
        state=_beside(np.broadcast_to(np.where(decoding, DECODE, WAITING)[:, None], columns), state),
        held=_beside(np.broadcast_to(user_held[:, None], columns), document_held),
        written=_beside(np.broadcast_to(decoding[:, None], columns), written))


def _beside(others: np.ndarray, document: np.ndarray) -> np.ndarray:
    return np.column_stack([others.astype(int), document])


def _short(trace: Trace, done_ms: float) -> int:
    """Passes that this Trace, which ends in one pass after the document, is short of when the slower one is done.

    Passes only get slower as everybody's KV cache grows, so that the last one's time gives enough of them.
    """
    return max(0, int(np.ceil((done_ms - trace.end_ms[-2]) / trace.pass_ms[-1])))


def _slowest_gap_ms(trace: Trace, users: int) -> float:
    times = trace.token_ms(0) if users else np.zeros(0)
    return float(np.max(np.diff(times), initial=0.0))
