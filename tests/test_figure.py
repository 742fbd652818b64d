"""A figure alive: settings bound to Panel's widgets, one computation a change, plots that follow only where they are told to."""
from dataclasses import replace

import numpy as np
import panel as pn
import param
import pytest

from app.figure import Control, Figure, Live, widget
from app.order import IDS, figure
from widgets.picture import ABOUT, FRAMES, Picture
from widgets.plots import blocks, plot


class Settings(param.Parameterized):
    """A setting of each kind."""

    users = param.Integer(10, bounds=(1, 64))
    share = param.Number(0.5, bounds=(0, 1))
    shared = param.Boolean(False)
    card = param.Selector(default="big", objects={"Big card": "big", "Small card": "small"})
    lengths = param.String("1,2")


CONTROLS = tuple(Control(name) for name in ("users", "share", "shared", "card", "lengths"))


@pytest.fixture
def counted():
    """A figure of one block as long as there are users, and the list of the users it was computed for."""
    asked = []

    def compute(s):
        asked.append(s.users)
        return Picture(sources={"block": dict(left=[0.0], right=[float(s.users)], bottom=[0.0], top=[1.0])},
                       frames={"say.sentence": [f"{s.users} people"]}, clock_ms=[0], frame_names=["all"], telling=0,
                       props={"bar.x.end": float(s.users)})

    def draw():
        p = plot("bar", 100, (0, 1), (0, 1))
        blocks(p, "block", "memory")
        return [p]

    return Figure("counted", "How many?", Settings, compute, draw, CONTROLS, "users", ""), asked


@pytest.mark.parametrize("name, kind, value", [
    ("users", pn.widgets.IntSlider, 7), ("share", pn.widgets.FloatSlider, 0.25), ("shared", pn.widgets.Checkbox, True),
    ("card", pn.widgets.Select, "small"), ("lengths", pn.widgets.TextInput, "3,4")])
def test_widgets_and_settings_are_one(counted, name, kind, value):
    live = Live(counted[0])
    assert type(live.widgets[name]) is kind and live.widgets[name].value == getattr(live.settings, name)
    live.widgets[name].value = value
    assert getattr(live.settings, name) == value == live.values()[name]
    setattr(live.settings, name, Settings.param[name].default)
    assert live.widgets[name].value == Settings.param[name].default


def test_a_widget_has_the_settings_bounds():
    slider = widget(Settings(), Control("users"))
    assert (slider.start, slider.end, slider.value) == (1, 64, 10)


def test_a_new_figure_shows_its_settings(counted):
    live = Live(counted[0], users=3)
    assert counted[1] == [3] and live.models["block"].data["right"] == [3.0] and live.models["bar.x"].end == 3.0
    assert {FRAMES, ABOUT, "block", "bar.x", "bar.y", "plot:bar"} == set(live.models)
    assert live.document.title == "How many?" and len(live.document.roots) == 3


def test_several_changes_are_one_computation(counted):
    live, told = Live(counted[0]), []
    live.listen(told.append)
    live.set({"users": 3, "share": 0.1, "card": "small"})
    assert counted[1] == [10, 3] and told == [live.picture] and live.picture.frames["say.sentence"] == ["3 people"]
    assert live.values() == {"users": 3, "share": 0.1, "shared": False, "card": "small", "lengths": "1,2"}


def test_what_changes_nothing_computes_nothing(counted):
    live = Live(counted[0])
    live.set({"users": 10, "share": 0.5})
    live.set({})
    assert counted[1] == [10]


@pytest.mark.parametrize("values, says", [
    ({"users": 65}, "users"), ({"users": 0}, "users"), ({"users": 2.5}, "users"), ({"users": "2"}, "users"), ({"users": None}, "users"),
    ({"share": float("nan")}, "share"), ({"share": float("inf")}, "share"), ({"share": -0.1}, "share"), ({"shared": 2}, "shared"),
    ({"card": "Big card"}, "card"), ({"lengths": 3}, "lengths"),
    ({"people": 3}, "counted has no setting 'people'; it has users, share, shared, card, lengths"),
    ({"users": 3, "share": 7}, "share"), ({"users": 3, "people": 3}, "people"),
])
def test_a_wrong_value_changes_nothing(counted, values, says):
    live, told = Live(counted[0]), []
    live.listen(told.append)
    before = live.values()
    with pytest.raises(ValueError, match=says):
        live.set(values)
    assert live.values() == before and {n: w.value for n, w in live.widgets.items()} == before
    assert counted[1] == [10] and told == []


def test_what_fails_once_is_computed_when_asked_again(counted):
    """A restored Python may lack a module at first; then it is asked the same again."""
    fails = [True]

    def compute(settings):
        if settings.users == 3 and fails.pop():
            raise ImportError("no such module yet")
        return counted[0].compute(settings)

    live = Live(replace(counted[0], compute=compute))
    before = live.values()
    with pytest.raises(ImportError):
        live.set({"users": 3})
    assert live.values() == before and live.picture.sources["block"]["right"] == [10.0]
    fails.append(False)
    live.set({"users": 3})
    assert live.picture.sources["block"]["right"] == [3.0]


def test_plots_stay_unless_they_follow(counted):
    """The page draws from patches; the document here keeps what it was exported with."""
    live = Live(counted[0])
    live.set({"users": 3})
    assert live.models["block"].data["right"] == [10.0] and live.picture.sources["block"]["right"] == [3.0]
    live.follow()
    live.set({"users": 4})
    assert live.models["block"].data["right"] == [4.0] and live.models["bar.x"].end == 4.0


def test_a_name_given_twice_is_refused(counted):
    def draw():
        return [plot("bar", 100, (0, 1), (0, 1)), plot("bar", 100, (0, 1), (0, 1))]

    with pytest.raises(ValueError, match="two models are called '(bar.x|bar.y|plot:bar)'"):
        Live(replace(counted[0], draw=draw))


def test_a_source_that_nobody_draws_is_refused(counted):
    with pytest.raises(ValueError, match="the picture sets bar.x, block, but no plot"):
        Live(replace(counted[0], draw=list))


def test_frames_are_shown_on_demand():
    live = Live(figure("kv-memory"))
    live.show(0)
    empty = np.asarray(live.models["people"].data["right"]) - live.models["people"].data["left"]
    live.show(len(live.picture) - 1)
    assert np.all(np.abs(empty) < 1e-5) and np.all(np.asarray(live.models["people"].data["right"]) > live.models["people"].data["left"])


@pytest.mark.parametrize("figure_id", IDS)
def test_every_figure_has_a_widget_for_each_control(figure_id):
    f = figure(figure_id)
    live = Live(f)
    assert list(live.widgets) == [c.name for c in f.controls] and live.values() == f.defaults()
    assert all(w.name for w in live.widgets.values()), "accessible names"


@pytest.mark.parametrize("figure_id", IDS)
def test_what_moves_is_painted_apart_from_what_stands_still(figure_id):
    """The upper layer begins with the first renderer that moves; the many pages of `paging` are not on it."""
    live = Live(figure(figure_id))
    moving = {name.split(".")[0] for name in live.picture.frames}
    for drawn in live.plots:
        moves = [r.data_source.name in moving for r in drawn.renderers]
        first = moves.index(True) if True in moves else len(moves)
        assert [r.level for r in drawn.renderers] == ["glyph"] * first + ["overlay"] * (len(moves) - first)
    upper = [r.data_source for p in live.plots for r in p.renderers if r.level == "overlay"]
    assert upper and sum(len(next(iter(source.data.values()))) for source in upper) < 600
