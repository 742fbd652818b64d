"""The scoreboard: the essay's numbers in its sentence, and every setting's picture within its frame."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import model
from app.scoreboard import FIGURE, MOST, Settings, compute

ESSAY = "facts/essay.md, scoreboard"


def sentence(picture, at=None):
    return picture.frames["say.sentence"][picture.telling if at is None else at]


@pytest.mark.parametrize("values, says, source", [
    ({}, "53.8 tokens a second each, not 6.3: 538 together, 8.6 times the 62.8 of one alone", ESSAY),
    ({"guess": 6.0}, "8.6 times the 62.8 of one alone. Each speed is 9.0 times the guess of 6.", "53.8 / 6"),
    ({"guess": 60.0}, "The guess of 60 was 1.1 times too high", "60 / 53.8"),
    ({"guess": 50.0}, "The guess of 50 was close", "within a tenth"),
    ({"context": 8192}, "only four of them fit in the card's memory", "facts/essay.md, kv-memory"),
    ({"users": 4, "context": 8192}, "Four people at 8,192 tokens get 49.5 tokens a second each",
     "1.008e12 / (2 x 8,030,261,248 + 4 x 8,192 x 131,072), by hand"),
    ({"users": 1}, "One person at 2,048 tokens gets 61.7 tokens a second; at the start of a conversation it is 62.8",
     "1.008e12 / (2 x 8,030,261,248 + 2,048 x 131,072), by hand"),
    ({"gpu": "a100-80gb-sxm", "users": 64}, "64 people", "everybody fits"),
    ({"llm": "llama-3.1-70b"}, "nobody fits in this card's memory", "141 GB on 24")])
def test_sentence(values, says, source):
    assert says in sentence(compute(Settings(**values))), source


def test_the_question_comes_first():
    """Frame 0 shows the guess and no answer; each later frame shows one person more."""
    picture = compute(Settings())
    assert len(picture) == 11
    assert sentence(picture, 0) == ("The guess for ten people at 2,048 tokens: 6 tokens a second each. What do they get?")
    risen = (picture.frames["answers.top"] > 0).sum(axis=1)
    assert risen.tolist() == list(range(11))
    assert np.isnan(picture.frames["one_dot.x"][0, 0]) and all(
        np.isnan(picture.frames[f"{name}.y"][0]).all() for name in ("one_line", "all_line", "one_ahead", "all_ahead"))
    assert sentence(picture, 5).startswith("Five people of 10 are in: 57.9 each, 290 together.")


def test_bars_past_the_memory_are_hatched():
    picture = compute(Settings(users=10, context=8192))
    assert (picture.frames["answers.top"][-1] > 0).sum() == 4
    assert (picture.frames["misfits.top"][-1] > 0).sum() == 6


def test_arithmetic_has_its_colour():
    """An M1 Max has few operations a byte: with many people its passes are bound by arithmetic."""
    s = Settings(users=60, context=512, gpu="m1-max")
    picture = compute(s)
    assert model.pass_cost(s.machine(), users=60, context=512).bound_by == "arithmetic"
    assert (picture.frames["answers_arithmetic.top"][-1] > 0).all() and not picture.frames["answers.top"][-1].any()


WHOLE = st.fixed_dictionaries({
    "users": st.integers(1, MOST), "context": st.integers(512, 131072), "guess": st.floats(0.5, 1000),
    "gpu": st.sampled_from(model.gpus()), "llm": st.sampled_from(model.llms()),
    "weights": st.sampled_from(model.weight_formats()), "kv": st.sampled_from(model.kv_formats()),
    "engine": st.sampled_from(list(Settings.param.engine.objects))})


@settings(deadline=None, max_examples=80)
@given(WHOLE)
def test_every_setting_stays_in_the_frame(values):
    s = Settings(**values)
    picture = compute(s)
    assert len(picture) == s.users + 1
    high = picture.props["board.y.end"]
    for name in ("answers", "answers_arithmetic", "misfits"):
        tops = picture.frames[f"{name}.top"]
        if name == "misfits":  # NaN where nobody misfits, never 0: that would be an outline without a bar
            assert not np.any(tops == 0)
            tops = np.nan_to_num(tops)
        assert tops.shape == (s.users + 1, s.users) and np.all((tops >= 0) & (tops <= high))
    assert np.all(picture.sources["guesses"]["top"] <= high)
    bars = sum(np.nan_to_num(picture.frames[f"{name}.top"]) for name in ("answers", "answers_arithmetic", "misfits"))
    assert np.count_nonzero(bars, axis=1).tolist() == list(range(s.users + 1))
    each, together = picture.frames["one_ahead.y"][-1], picture.frames["all_ahead.y"][-1]
    assert np.isfinite(each).all() and np.isfinite(together).all() and each.max() <= picture.props["one.y.end"]
    assert max(together.max(), picture.sources["naive_all"]["y"][0]) <= picture.props["all.y.end"]
    assert each[s.users - 1] == pytest.approx(picture.frames["one_dot.y"][-1, 0])


def test_drawn_sources_are_all_there():
    picture, drawn = compute(Settings()), {r.data_source.name for p in FIGURE.draw() for r in p.renderers}
    assert drawn == set(picture.source_names())
