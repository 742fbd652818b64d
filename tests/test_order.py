"""The figures of the essay, by id and in order."""
import pytest

from app import prose
from app.order import IDS, figure, figures


def test_figures_are_what_their_ids_say():
    assert [f.id for f in figures()] == list(IDS) and len(set(IDS)) == 8


def test_the_order_is_the_essays():
    placed = []
    prose.fill(prose.ESSAY.read_text(encoding="utf-8"), place=placed.append)
    assert placed == list(IDS)


@pytest.mark.parametrize("wrong", ("", "kv_memory", "KV-memory", "figure", "../order", "kv-memory "))
def test_an_unknown_figure_is_refused(wrong):
    with pytest.raises(ValueError, match=r"no figure is called .*; there are prefill-decode, .*, settings$"):
        figure(wrong)


@pytest.mark.parametrize("figure_id", IDS)
def test_a_figure_declares_what_a_reader_needs(figure_id):
    f = figure(figure_id)
    names = [control.name for control in f.controls]
    assert f.title.endswith("?"), "a figure is a question"
    assert f.main in names and len(set(names)) == len(names)
    assert names == [n for n in names if not f.control(n).folded] + [n for n in names if f.control(n).folded], "folded ones last"
    assert f.defaults().keys() == set(names)
    for control in f.controls:
        assert f.settings.param[control.name].doc and f.settings.param[control.name].label


def test_an_unknown_control_is_named():
    with pytest.raises(ValueError, match="kv-memory has no setting 'colour'; it has users, context"):
        figure("kv-memory").control("colour")
