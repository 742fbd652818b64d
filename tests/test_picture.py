"""A Picture as data: what it refuses, what it sends, and how small."""
import json

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as arrays

from app.order import IDS, figure
from widgets.picture import ABOUT, FRAMES, Picture, changes, source


def picture(**parts):
    """Three frames of a block that grows, and its label."""
    given = dict(
        sources={"block": dict(left=[0.0], bottom=[0.0], top=[1.0]), "still": dict(x=[1], y=[2], text=["A"])},
        frames={"block.right": np.array([[0.0], [0.5], [1.0]]), "say.sentence": ["a", "b", "c"], "say.clock": ["0", "1", "2"]},
        clock_ms=[0, 10, 20], frame_names=["one", "two", "three"], telling=-1,
        props={"plot.x.end": 4.0}, facts={"users": "10"}, table=(["n"], [[np.int64(1)], [np.float64(0.5)]]))
    return Picture(**{**given, **parts})


def test_the_telling_frame_may_be_counted_from_the_end():
    assert picture().telling == 2 and picture(telling=1).telling == 1


@pytest.mark.parametrize("parts, says", [
    (dict(frame_names=["one"]), "frame_names has 1 frames, the clock 3"),
    (dict(frames={"block.right": np.zeros((2, 1)), "say.sentence": ["a", "b", "c"]}), "block.right has 2 frames, the clock 3"),
    (dict(frames={"block.right": np.zeros((3, 1))}), "needs say.sentence"),
    (dict(clock_ms=[]), "needs a frame"),
    (dict(clock_ms=[0, 20, 10]), "falls"),
    (dict(smooth=("block.left",)), "block.left"),
])
def test_what_it_refuses(parts, says):
    with pytest.raises(ValueError, match=says):
        picture(**parts)


def test_sources_as_they_are_in_a_frame():
    p = picture()
    assert p.source_names() == ["block", "still"], "words are no source"
    assert p.source_data("block", 1)["right"] == [0.5] and p.source_data("block")["right"] == [1.0]
    assert p.source_data("block", 0)["left"] == [0.0]
    assert p.source_data("still")["shown"] == ["A"], "what the browser may hide for want of room"


def test_frames_are_one_row_each():
    data = picture().frame_data()
    assert set(data) == {"block.right", "say.sentence", "say.clock", "clock_ms", "frame_name"}
    assert all(len(column) == 3 for column in data.values()) and data["block.right"].shape == (3, 1)


def test_about_is_plain_json():
    about = json.loads(picture(smooth=("block.right",)).about())
    assert about == dict(telling=2, play_s=8.0, smooth=["block.right"], facts={"users": "10"},
                         table=dict(names=["n"], rows=[[1], [0.5]]))


def test_changes_name_every_model_once():
    models = {name: source(name) for name in (FRAMES, ABOUT, "block", "still")} | {"plot.x": object()}
    wanted = changes(picture(), models)
    assert [(model, attribute) for model, attribute, _ in wanted] == [
        (models[FRAMES], "data"), (models[ABOUT], "data"), (models["block"], "data"), (models["still"], "data"),
        (models["plot.x"], "end")]


def test_an_unknown_model_is_named():
    with pytest.raises(ValueError, match="block"):
        changes(picture(), {FRAMES: source(FRAMES), ABOUT: source(ABOUT), "still": source("still")})


@pytest.mark.parametrize("rows, kind", [
    (np.zeros((2, 1), bool), np.uint8), (np.array([[0], [255]]), np.uint8), (np.array([[0], [256]]), np.int16),
    (np.array([[-1], [5]]), np.int16), (np.array([[0], [40_000]]), np.int32), (np.array([[0.5], [1.0]]), np.float32),
    (np.zeros((2, 0), int), np.uint8)])
def test_numbers_travel_as_small_as_they_can_be(rows, kind):
    p = picture(frames={"block.right": rows, "say.sentence": ["a", "b"]}, clock_ms=[0, 1], frame_names=["a", "b"], telling=0)
    assert p.frame_data()["block.right"].dtype == kind


@given(arrays.arrays(np.int64, (3, 2), elements=st.integers(-2**31, 2**31 - 1)))
def test_whole_numbers_stay_what_they_are(rows):
    sent = picture(frames={"block.right": rows, "say.sentence": ["a", "b", "c"]}).frame_data()["block.right"]
    assert np.array_equal(sent, rows)


@pytest.mark.parametrize("figure_id", IDS)
def test_figures_draw_what_their_pictures_hold(figure_id):
    """Every source of a figure's plots has data in its Picture, and the other way round."""
    f = figure(figure_id)
    drawn = {renderer.data_source.name for plot in f.draw() for renderer in plot.renderers}
    assert drawn == set(f.compute(f.settings()).source_names())
