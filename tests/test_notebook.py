"""Figures with Panel's own widgets: in a notebook, and on a server."""
from __future__ import annotations

import panel as pn
import pytest
from bokeh.models import ColumnDataSource

from app.figure import Live
from app.notebook import page, show, view
from app.order import IDS, figure

def parts(column: pn.Column) -> tuple:
    """The player, the sentence and the widgets of a figure, by the names of their settings."""
    player = next(iter(column.select(pn.widgets.Player)))
    sentence = column.select(pn.pane.Markdown)[1]
    return player, sentence, {w.name: w for w in column[-1]}


def said(figure_id: str, frame: int | None = None, **values) -> str:
    f = figure(figure_id)
    picture = f.compute(f.settings(**values))
    return picture.frames["say.sentence"][picture.telling if frame is None else frame].strip()


@pytest.mark.parametrize("figure_id", IDS)
def test_each_figure_is_shown_with_its_widgets(figure_id: str) -> None:
    column = show(figure_id)
    player, sentence, widgets = parts(column)
    assert sentence.object == said(figure_id)
    assert len(widgets) == len(figure(figure_id).controls)
    assert column.get_root().select(dict(type=ColumnDataSource))


def test_a_widget_computes_and_the_player_moves() -> None:
    player, sentence, widgets = parts(show("kv-memory", users=12))
    assert sentence.object == said("kv-memory", users=12) and player.end == 12
    widgets["Users"].value = 3
    assert sentence.object == said("kv-memory", users=3) and player.end == player.value == 3
    player.value = 1
    assert sentence.object == said("kv-memory", frame=1, users=3)


def test_the_player_moves_what_is_drawn() -> None:
    column = view("kv-memory", users=3)
    player, _, _ = parts(column)
    people = column.get_root().select_one(dict(type=ColumnDataSource, name="people"))
    lengths = []
    for frame in (0, 2, 3):
        player.value = frame
        lengths.append(len(people.data["left"]))
    live = Live(figure("kv-memory"), users=3)
    assert lengths == [len(live.picture.source_data("people", frame)["left"]) for frame in (0, 2, 3)]
    drawn = [list(live.picture.source_data("people", frame)["right"]) for frame in (0, 3)]
    assert drawn[0] != drawn[1]


@pytest.mark.parametrize("figure_id, settings, words", [
    ("abacus", {}, "no figure is called 'abacus'"),
    ("kv-memory", {"people": 3}, "has no setting people"),
    ("kv-memory", {"users": 0}, "users"),
])
def test_bad_input_is_told(figure_id: str, settings: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        show(figure_id, **settings)


def test_the_served_page_holds_every_figure() -> None:
    titles = " ".join(pane.object for pane in page().select(pn.pane.Markdown))
    assert all(figure(figure_id).title in titles for figure_id in IDS)
