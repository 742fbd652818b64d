"""A long document in one pass and in chunks: the essay's numbers, a small case by hand, and what no chunking may change."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from model.chunking import chunked_prefill
from model.machine import machine
from model.trace import DECODE, PREFILL, WAITING

M = machine()


@pytest.mark.parametrize("name, expected, digit", [
    ("stall_ms", 796, 0.5), ("pass_ms", 18.3, 0.05), ("pass_ms_with_chunk", 25.8, 0.05), ("document_ms", 824, 0.5)])
def test_the_essay(name, expected, digit):
    assert getattr(chunked_prefill(M), name) == pytest.approx(expected, abs=digit)


def test_by_hand():
    """Ten tokens in chunks of 4 beside two people with 100 each: 4, 4, 2."""
    c = chunked_prefill(M, document=10, chunk=4, users=2, context=100, before=1, after=1)
    assert c.chunked.tokens[:5].tolist() == [[1, 1, 0], [1, 1, 4], [1, 1, 4], [1, 1, 2], [1, 1, 1]]
    assert c.chunked.held[:5].tolist() == [[101, 101, 0], [102, 102, 4], [103, 103, 8], [104, 104, 10], [105, 105, 11]]
    assert c.chunked.state[:5, 2].tolist() == [WAITING, PREFILL, PREFILL, PREFILL, DECODE]
    assert c.chunked.written[:5].tolist() == [[1, 1, 0]] * 3 + [[1, 1, 1]] * 2
    assert c.whole.tokens[:3].tolist() == [[1, 1, 0], [0, 0, 10], [1, 1, 1]]
    assert c.whole.state[1].tolist() == [WAITING, WAITING, PREFILL]
    kv = 131_072
    weights = 2 * 8_030_261_248
    assert c.chunked.bytes[:4] == pytest.approx([weights + kv * t for t in (200, 202, 204 + 4, 206 + 8)])


@settings(deadline=None)
@given(st.integers(1, 20_000), st.integers(16, 9000), st.integers(0, 20), st.integers(0, 8000))
def test_laws(document, chunk, users, context):
    c = chunked_prefill(M, document, chunk, users, context)
    for trace in (c.whole, c.chunked):
        reading = trace.state[:, users] == PREFILL
        assert trace.tokens[reading, users].sum() == document, "every token is read once"
        assert trace.held[:, users].tolist() == np.cumsum(trace.tokens[:, users]).tolist()
        assert trace.start_ms[1:] == pytest.approx(trace.end_ms[:-1])
    assert c.chunked.tokens[:, :users].all(), "nobody waits beside chunks"
    assert np.all(c.chunked.tokens[:, users] <= max(chunk, 1))
    assert c.document_ms >= c.stall_ms * (1 - 1e-12), "chunks never make the document itself faster"
    assert c.whole.end_ms[-1] >= c.sent_ms + c.document_ms and c.chunked.end_ms[-1] >= c.sent_ms + c.stall_ms


@settings(deadline=None)
@given(st.integers(2000, 20_000), st.integers(16, 1000), st.integers(1, 20))
def test_chunks_shorten_the_longest_wait(document, chunk, users):
    c = chunked_prefill(M, document, chunk, users)
    assert c.slowest_gap_ms_chunked <= c.slowest_gap_ms_whole


@pytest.mark.parametrize("wrong, says", [
    ({"chunk": 0}, "chunk is 0: it must be a whole number"), ({"document": 0}, "document is 0"),
    ({"users": -1}, "users is -1: it must be a whole number from 0 to 1,000"),
    ({"document": 1_000_000, "chunk": 1}, "chunk is 1: 1,000,000 tokens would take 1,000,000 passes, so it must be at least 5")])
def test_bad_input(wrong, says):
    with pytest.raises(ValueError, match=says):
        chunked_prefill(M, **wrong)
