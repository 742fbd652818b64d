"""The figure `batching`: the essay's numbers in its sentence, and a picture that holds at every setting."""
import numpy as np
import param
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.batching import FIGURE, Settings, compute
from model.batching import batch
from tests.picture_checks import check


@pytest.mark.parametrize("values, says", [
    # facts/essay.md: four slots and its ten replies
    ({}, ("Ten replies in four slots", "84 steps", "58 if a free slot", "40% and 14% of the time", "17.0 ms a step")),
    # by hand: 1 slot writes one after the other
    ({"slots": 1, "replies": "5,7"}, ("12 steps either way", "No slot is ever idle")),
    # by hand: two slots; static 9 + 3, continuous 9 beside 1 + 3
    ({"slots": 2, "replies": "9 1 3"}, ("12 steps", "9 if a free slot", "46% and 28%")),
    ({"slots": 10, "replies": "4"}, ("One reply in ten slots", "4 steps either way", "90% of the time")),
    # 141 GB of weights on a card of 24 GB
    ({"llm": "llama-3.1-70b"}, ("(The weights and the overhead alone do not fit in this card’s memory.)",)),
])
def test_sentence(values, says):
    picture = compute(Settings(**values))
    for words in says:
        assert words in picture.frames["say.sentence"][picture.telling]


def test_a_frame_says_what_is_complete():
    """After step 28, A to D are complete in both; continuous has had no time to complete E or F."""
    said = compute(Settings()).frames["say.sentence"][28]
    assert said.startswith("After step 28: four complete in the static batch, four in the continuous one.")


@settings(deadline=None, max_examples=25)
@given(st.integers(1, 10), st.lists(st.integers(1, 500), min_size=1, max_size=40), st.integers(0, 999),
       st.sampled_from(["datasheet", "vllm-0.19"]))
def test_every_setting(slots, replies, seed, engine):
    live = check(FIGURE, slots=slots, replies=",".join(map(str, replies)), seed=seed, engine=engine)
    blocks, gaps = live.picture.sources["replies"], live.picture.sources["idle"]
    b = batch(slots, live.settings.lengths())
    drawn = np.sum(blocks["right"] - blocks["left"]) + np.sum(gaps["right"] - gaps["left"])
    assert drawn == pytest.approx(slots * (b.static.steps + b.continuous.steps)), "blocks and gaps fill both stacks"
    assert len(live.picture) <= 202


def test_a_seed_draws_the_same_for_everybody():
    one, again, other = (Settings(seed=seed).lengths() for seed in (3, 3, 4))
    assert one == again != other and len(one) == 10


@pytest.mark.parametrize("wrong", ["", "24,x", "0", "501", "-3", "1.5", ",".join("1" * 41), "<b>1</b>"])
def test_bad_replies(wrong):
    with pytest.raises(ValueError, match="it must be 1 to 40 whole numbers from 1 to 500"):
        Settings(replies=wrong)


def test_every_control_is_a_setting():
    assert all(isinstance(Settings.param[c.name], param.Parameter) for c in FIGURE.controls)
