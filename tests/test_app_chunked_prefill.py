"""The figure `chunked-prefill`: the essay's numbers in its sentence, and a picture that holds at every setting."""
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.chunked_prefill import FIGURE, Settings, compute
from model import machine
from model.chunking import chunked_prefill
from tests.picture_checks import check


@pytest.mark.parametrize("values, says", [
    # facts/essay.md: 8,192 tokens; chunks of 256 beside nine people at 2,048
    ({}, ("8,192 tokens in one pass take 796 ms", "nine people", "In chunks of 256 a pass takes 25.8 ms instead of 18.3 ms",
          "32 such passes", "in 824 ms instead of 796 ms")),
    ({"chunked": False}, ("8,192 tokens in one pass take 796 ms, and nine people get nothing meanwhile.",)),
    # by hand: 512 tokens are one chunk of 8,192; 2 x 8,030,261,248 x 512 / 165.2e12 = 49.8 ms
    ({"document": 512, "chunk": 8192, "users": 1}, ("take 49.8 ms, and one person gets nothing", "one such pass processes")),
    # by hand: 36,769 tokens of budget hold four conversations of 8,192
    ({"context": 8192}, ("hold only four conversations of 8,192 tokens",)),
    # by hand: 9 x 2,048 + 32,768 tokens are more than 36,769
    ({"document": 32768}, ("would not hold the document beside these conversations",)),
    # by hand: the last of 2,048 chunks reads 131,008 tokens of KV cache more than the first: 17.2 GB, 17 ms
    ({"document": 131072, "chunk": 64}, ("a pass takes 18.3 ms as it does without one, later ones up to 37.8 ms, and everybody",)),
])
def test_sentence(values, says):
    picture = compute(Settings(**values))
    for words in says:
        assert words in picture.frames["say.sentence"][picture.telling]


def test_without_chunks_the_sentence_is_silent_about_them():
    assert "hunk" not in compute(Settings(chunked=False)).frames["say.sentence"][20]


@settings(deadline=None, max_examples=25)
@given(st.integers(512, 131072), st.integers(64, 8192), st.booleans(), st.integers(1, 64), st.integers(512, 131072),
       st.sampled_from(["datasheet", "vllm-0.19"]))
def test_every_setting(document, chunk, chunked, users, context, engine):
    live = check(FIGURE, document=document, chunk=chunk, chunked=chunked, users=users, context=context, engine=engine)
    picture = live.picture
    c = chunked_prefill(machine(engine=engine), document, chunk, users, context)
    hole = picture.sources["stall"]
    strokes = picture.sources["tokens"]
    upper = strokes["y1"] == hole["bottom"][0]
    inside = (strokes["x0"] > hole["left"][0] + 1e-6) & (strokes["x0"] < hole["right"][0])
    assert not np.any(upper & inside), "nobody gets a token in the hole"
    assert hole["right"][0] - hole["left"][0] == pytest.approx(c.stall_ms)
    bands = picture.sources["tokens_dense"]
    upper = bands["bottom"] == hole["bottom"][0]
    assert not np.any(upper & (bands["left"] < hole["right"][0]) & (bands["right"] > hole["left"][0] + 1e-6))
    assert len(strokes["x0"]) + len(bands["left"]) <= 2100 and len(picture) <= 202


def test_a_frame_counts_tokens():
    """The last frame that begins before the chunks are read: the others' tokens in the Traces up to that moment."""
    picture, c = compute(Settings()), chunked_prefill(machine())
    at = picture.clock_ms[20]
    alone, beside = (int(np.sum(trace.token_ms(0) <= at + 1e-6)) for trace in (c.whole, c.chunked))
    assert (alone, beside) == (6, 20)
    assert "six tokens beside one pass, 20 beside chunks" in picture.frames["say.sentence"][20]


def test_both_halves_say_their_longest_pass():
    """The same measure on both: 2 x 8,030,261,248 x 8,192 / 165.2e12 s and 2 x 8,030,261,248 x 265 / 165.2e12 s (facts/essay.md)."""
    assert compute(Settings()).sources["waits"]["text"] == ["longest pass 796 ms", "longest pass 25.8 ms"]
    assert compute(Settings()).facts["stall"] == "796 ms" and compute(Settings(chunked=False)).sources["waits"]["text"] == ["longest pass 796 ms"]
