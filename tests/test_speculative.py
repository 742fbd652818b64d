"""The figure of guesses: the essay's numbers in its sentence, cells that follow the rules, everything within its frame."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import model
from app.speculative import DRAFTS, FIGURE, MOST, ROUNDS, Settings, compute
from app.speedup import TICKS

ESSAY = "facts/essay.md, speculative"


def sentence(picture, at=None):
    return picture.frames["say.sentence"][picture.telling if at is None else at]


@pytest.mark.parametrize("values, says, source", [
    ({}, "For one person at 256 tokens that is 2.08 times as fast", ESSAY),
    ({}, "3.36 tokens on average in 25.8 ms; a pass without guesses takes 16.0 ms",
     "(1 - 0.8^5) / 0.2; 4 x (2.4716e9 + 8.4e6) / 1.008e6 + 15.97 ms, by hand"),
    ({"users": 128}, "guessing makes it slower", ESSAY),
    ({"users": 96}, "times as fast as without guessing", ESSAY),
    ({"acceptance": 1.0, "guesses": 10}, "a chance of 100%, a round gives 11.0 tokens", "everything is kept: k + 1"),
    ({"acceptance": 0.0}, "a round gives 1.00 tokens", "nothing is kept: the large model's own"),
    ({"acceptance": 0.0}, "Guessing is slower at every number of users up to 256", "a round is longer and gives no more"),
    ({"llm": "deepseek-v2-lite", "draft": "gemma-3-1b", "guesses": 1, "acceptance": 0.5, "context": 64, "gpu": "a10"},
     "Guessing is slower with ", "each guess touches more experts, until all are touched"),
    ({}, "from 108 users on. Beside the draft, this card’s memory holds 55 people at 256 tokens: that point cannot be reached here.",
     "2,347,848,704 bytes / (256 x 163,840) = 55.98, by hand"),
    ({"gpu": "a100-80gb-sxm"}, "memory holds 1,284 people at 256 tokens: that point can be reached here.", "53,867,848,704 / 41,943,040"),
    ({"llm": "llama-3.1-70b"}, "Beside the draft, this card has no memory left for anybody.", "141 GB on 24"),
    ({"acceptance": 1.0, "context": 131072}, "Guessing is slower at no number of users up to 4,096",
     "reading the KV cache outweighs the arithmetic")])
def test_sentence(values, says, source):
    assert says in sentence(compute(Settings(**values))), source


def test_the_crossing_is_marked_between_96_and_128():
    picture = compute(Settings())
    crossing = picture.sources["crossing"]["x0"]
    assert len(crossing) == 1 and 96 < crossing[0] < 128
    assert picture.facts["break_even"] == f"from {crossing[0]:.0f} users on"


@pytest.mark.parametrize("values, edge, text", [
    ({}, [55.5], ["55 fit in memory"]), ({"context": 2048}, [6.5], ["6 fit in memory"]),
    ({"llm": "llama-3.1-70b"}, [0.9], ["nobody fits in memory"]), ({"gpu": "a100-80gb-sxm"}, [], [])])
def test_the_end_of_the_memory_is_marked(values, edge, text):
    sources = compute(Settings(**values)).sources
    assert sources["edge"]["x0"] == sources["full"]["left"] == edge and sources["full_name"]["text"] == text


def test_the_gain_falls_from_where_the_check_waits_for_arithmetic():
    """By hand: 5 x 2 x 8,030,261,248 x n / 165.2e12 s > (2 x 8,030,261,248 + 256 n x 131,072) / 1.008e12 s from n = 36 on."""
    assert compute(Settings()).facts["falls"] == "from 36 people on"
    assert compute(Settings(guesses=1, context=131072)).facts["falls"] == "with more than 256 people"


def test_a_pass_that_is_not_finished_is_no_token():
    picture = compute(Settings())
    assert len(picture.sources["plain"]["left"]) == int(picture.facts["plain_tokens"]) and len(picture.sources["unfinished"]["left"]) == 1


def test_token_by_token():
    """A frame for the start, each guess and each check; guesses are pale until checked, and a check shows what it kept."""
    picture = compute(Settings(seed=1))
    assert len(picture) == 1 + ROUNDS * 5

    def drawn(name, at):
        return picture.frames[f"{name}.right"][at] > picture.sources[name]["left"]

    assert [drawn("guessed", at).sum() for at in range(6)] == [0, 1, 2, 3, 4, 0]
    for name in ("kept", "wrong", "own", "unread"):
        assert not drawn(name, 4).any()
    assert drawn("own", 5).sum() == 1
    assert drawn("kept", 5).sum() + drawn("wrong", 5).sum() + drawn("unread", 5).sum() == 4
    assert drawn("own", -1).sum() == ROUNDS


def test_written_tokens_stand_side_by_side():
    """Kept guesses and own tokens fill the reply without a gap and without an overlap."""
    for seed in range(20):
        picture = compute(Settings(seed=seed))
        kept = picture.sources["kept"]["left"][picture.frames["kept.right"][-1] > picture.sources["kept"]["left"]]
        places = np.sort(np.concatenate([kept, picture.sources["own"]["left"]])).round(2)
        assert places.tolist() == pytest.approx((np.arange(len(places)) + 0.06).tolist())
        assert picture.facts["shown_tokens"] == str(len(places))


def test_the_seed_changes_the_run_and_not_the_answer():
    runs = [compute(Settings(seed=seed)) for seed in range(6)]
    assert len({run.facts["shown_tokens"] for run in runs}) > 1
    assert len({run.facts["speedup"] for run in runs}) == 1
    assert len({sentence(run) for run in runs}) > 1


WHOLE = st.fixed_dictionaries({
    "users": st.integers(1, MOST), "guesses": st.integers(1, 10), "acceptance": st.floats(0, 1),
    "draft": st.sampled_from(DRAFTS), "context": st.integers(64, 131072), "seed": st.integers(0, 99),
    "gpu": st.sampled_from(model.gpus()), "llm": st.sampled_from(model.llms()),
    "weights": st.sampled_from(model.weight_formats()), "engine": st.sampled_from(list(Settings.param.engine.objects))})


@settings(deadline=None, max_examples=60)
@given(WHOLE)
def test_every_setting_stays_in_the_frame(values):
    s = Settings(**values)
    picture = compute(s)
    assert len(picture) == 1 + ROUNDS * (s.guesses + 1)
    assert np.all(np.diff(picture.clock_ms) >= 0)
    for name in ("guessed", "kept", "unread", "wrong", "own"):
        right = picture.frames[f"{name}.right"]
        assert np.all(right >= picture.sources[name]["left"]) and np.all(right <= picture.props["lane.x.end"])
    for name in ("drafts", "checks_memory", "checks_arithmetic", "plain"):
        strip = picture.sources[name]
        assert np.all(strip["right"] > strip["left"]) and np.all(strip["right"] <= picture.props["passes.x.end"])
    gain = np.concatenate([picture.sources["faster"]["y"], picture.sources["slower"]["y"], picture.sources["here"]["y"]])
    assert np.nanmin(gain) > 0 and np.nanmax(gain) < picture.props["gain.y.end"]
    drawn = ~np.isnan(picture.sources["faster"]["y"]) | ~np.isnan(picture.sources["slower"]["y"])
    assert drawn.all() and TICKS[-1] == MOST
    both = np.fmax(picture.sources["faster"]["y"], picture.sources["slower"]["y"])
    assert picture.sources["here"]["y"][0] == pytest.approx(both[s.users - 1])


def test_drawn_sources_are_all_there():
    picture, drawn = compute(Settings()), {r.data_source.name for p in FIGURE.draw() for r in p.renderers}
    assert drawn == set(picture.source_names())
