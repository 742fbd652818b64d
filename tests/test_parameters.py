"""The table of parameters: from Param's declarations to the page's JSON."""
import json

import param
import pytest

from app.figure import Control, Figure
from app.order import IDS, figure, figures
from app.parameters import Parameter, parameter, parameters, positions


class Settings(param.Parameterized):
    """A setting of each kind."""

    users = param.Integer(10, bounds=(1, 64), label="Users", doc="people at once")
    share = param.Number(0.8, bounds=(0.0, 1.0), step=0.05)
    fine = param.Number(0.5, bounds=(0.5, 0.53))
    paged = param.Boolean(False)
    card = param.Selector(default="a", objects={"Card A": "a", "Card B": "b"})
    replies = param.String("1,2")


def declared(name: str, **look) -> Parameter:
    control = Control(name, **look)
    return parameter(Figure("one", "?", Settings, None, None, (control,), name, ""), control)


@pytest.mark.parametrize("name, look, expected", [
    ("users", dict(unit="people"), dict(kind="int", low=1, high=64, step=1, default=10, label="Users", meaning="people at once", unit="people")),
    ("users", dict(positions=(0, 1, 10, 64, 65)), dict(positions=(1, 10, 64))),
    ("share", dict(percent=True), dict(kind="float", low=0.0, high=1.0, step=0.05, percent=True)),
    ("fine", {}, dict(kind="float", step=0.01)),
    ("paged", {}, dict(kind="bool", default=False, low=None)),
    ("card", dict(folded=True), dict(kind="choice", default="a", choices=(("a", "Card A"), ("b", "Card B")), folded=True)),
    ("replies", {}, dict(kind="text", default="1,2", longest=240)),
    ("users", dict(presets=(("Ten", 10),)), dict(presets=(("Ten", 10),))),
])
def test_declarations(name, look, expected):
    made = declared(name, **look)
    assert {key: getattr(made, key) for key in expected} == expected and made.name == name


@pytest.mark.parametrize("name, look, expected", [
    ("users", dict(positions=(1, 10)), [1, 10]), ("users", {}, list(range(1, 65))),
    ("share", {}, [round(0.05 * i, 2) for i in range(21)]), ("fine", {}, [0.5, 0.51, 0.52, 0.53]),
    ("paged", {}, [False, True]), ("card", {}, ["a", "b"])])
def test_positions(name, look, expected):
    assert positions(declared(name, **look)) == expected


def test_a_text_has_no_positions():
    with pytest.raises(ValueError, match="replies is a text; only numbers, choices and switches have positions"):
        positions(declared("replies"))


def test_the_pages_json_leaves_out_what_is_empty():
    assert declared("users").data() == dict(name="users", kind="int", label="Users", meaning="people at once", default=10, low=1,
                                            high=64, step=1)
    assert declared("paged").data() == dict(name="paged", kind="bool", label="Paged", default=False, low=None)
    assert declared("share").data()["low"] == 0.0, "nought is a bound, not an empty field"


@pytest.mark.parametrize("figure_id", IDS)
def test_every_declaration_holds(figure_id):
    """Defaults, presets and positions are values that Param takes; every number has bounds; every choice its own words."""
    f = figure(figure_id)
    for p in parameters(f):
        assert p.label and p.meaning
        values = [p.default, *(value for _, value in p.presets), *([] if p.kind == "text" else positions(p))]
        for value in values:
            assert getattr(f.settings(**{p.name: value}), p.name) == value
        if p.kind in ("int", "float"):
            assert p.low <= p.default <= p.high and p.low < p.high and p.step > 0
            stops = positions(p)
            assert stops == sorted(set(stops)) and stops[0] == p.low and stops[-1] == p.high, p.name
            assert set(value for _, value in p.presets) <= set(stops)
        if p.kind == "choice":
            assert len({label for _, label in p.choices}) == len(p.choices) == len(f.settings.param[p.name].objects)


@pytest.mark.parametrize("figure_id", IDS)
def test_the_usual_settings_are_answered_before_python(figure_id):
    """The main slider stops at its default: the file of answers holds what the page shows at first."""
    f = figure(figure_id)
    main = parameter(f, f.control(f.main))
    assert main.default in positions(main) and main.kind in ("int", "float") and not main.folded


def test_the_json_says_all_of_it():
    for f in figures():
        for p in parameters(f):
            sent = json.loads(json.dumps(p.data()))
            assert set(sent) <= set(vars(p)) and sent["name"] == p.name and sent["default"] == p.default
            assert [tuple(choice) for choice in sent.get("choices", ())] == list(p.choices)
