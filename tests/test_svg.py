"""Still pictures: what Bokeh draws, as SVG that follows the page's theme, is unlike any other on the page, and hides what does not fit."""
import re
from itertools import combinations
from xml.etree import ElementTree

import numpy as np
import pytest

from app.figure import Live
from app.order import IDS, figure
from widgets.plots import blocks, curve, dots, labels, lines, plot
from widgets.svg import still, text_width
from widgets.tokens import LIGHT, PEOPLE

SVG = "{http://www.w3.org/2000/svg}"


def drawn(draw, columns, *, name="made", width=424, x=(0, 4), y=(0, 1), token="memory", log=False, **look):
    """The elements of a still of one thing in a plot 100 high, 400 pixels of frame wide, 12 of border on either side."""
    p = plot("plot", 100, x, y, log=log)
    draw(p, "things", token, **look).data_source.data = columns
    return list(ElementTree.fromstring(still([p], width, name)).iter())[2:]


BLOCK = dict(left=[1.0], right=[2.0], bottom=[0.0], top=[0.5])


def test_a_block_stands_where_its_data_say():
    """x 1 to 2 of 4 on 400 px beside a border of 12; y 0 to 0.5 of 100 px, upwards."""
    path, = drawn(blocks, BLOCK)
    assert path.attrib == {"d": "M112.0 50.0h100.0v50.0h-100.0z", "fill": "var(--memory)"}


def test_a_frame_may_run_downwards():
    path, = drawn(blocks, BLOCK, y=(1, 0))
    assert path.get("d") == "M112.0 0.0h100.0v50.0h-100.0z"


def test_a_logarithmic_frame():
    """1 to 4 on a frame from 1 to 16: from its left edge to its middle."""
    path, = drawn(blocks, dict(BLOCK, left=[1.0], right=[4.0]), x=(1, 16), log=True)
    assert path.get("d") == "M12.0 50.0h200.0v50.0h-200.0z"


def test_blocks_end_at_the_frame():
    path, = drawn(blocks, dict(BLOCK, left=[-9.0], right=[9.0]))
    assert path.get("d") == "M10.0 50.0h404.0v50.0h-404.0z"


@pytest.mark.parametrize("columns", [
    dict(BLOCK, right=[1.0]), dict(BLOCK, top=[0.0]), dict(BLOCK, right=[np.nan]), dict(BLOCK, top=[np.nan]),
    dict(left=[], right=[], bottom=[], top=[])])
def test_no_block_where_there_is_none(columns):
    assert drawn(blocks, columns) == []


def test_hatched_blocks_have_a_pattern_of_their_own():
    pattern, line, path = drawn(blocks, BLOCK, hatch="misfit", name="here")
    assert pattern.get("id") == "here-0-0" and path.get("fill") == "url(#here-0-0)"
    assert line.get("stroke") == "var(--misfit)"


def test_colours_of_a_column():
    first, second = drawn(blocks, dict(left=[0, 1], right=[1, 2], bottom=[0, 0], top=[1, 1], color=[LIGHT["memory"], PEOPLE[0]]),
                          token="field:color")
    assert (first.get("fill"), second.get("fill")) == ("var(--memory)", PEOPLE[0]), "people's hues are the same in both themes"


@pytest.mark.parametrize("y, path", [
    ([0, 0.5, 1], "M12.0 100.0L112.0 50.0L212.0 0.0"),
    ([0, 0.5, np.nan], "M12.0 100.0L112.0 50.0"),
    ([np.nan, 0.5, 1], "M112.0 50.0L212.0 0.0"),
])
def test_a_curve_as_far_as_it_goes(y, path):
    line, = drawn(curve, dict(x=[0, 1, 2], y=y))
    assert line.get("d") == path and line.get("stroke") == "var(--memory)" and line.get("fill") == "none"


def test_a_curve_with_a_gap_is_not_joined():
    line, = drawn(curve, dict(x=[0, 1, 2, 3, 4], y=[0, 0, np.nan, 1, 1]))
    assert line.get("d") == "M12.0 100.0L112.0 100.0M312.0 0.0L412.0 0.0"


@pytest.mark.parametrize("draw, columns", [
    (curve, dict(x=[0, 1], y=[np.nan, np.nan])), (curve, dict(x=[], y=[])),
    (lines, dict(x0=[np.nan], x1=[1], y0=[0], y1=[1])), (lines, dict(x0=[], x1=[], y0=[], y1=[])),
    (dots, dict(x=[1.0], y=[np.nan])), (dots, dict(x=[], y=[])),
    (labels, dict(x=[np.nan], y=[0.5], text=["A"])), (labels, dict(x=[1], y=[0.5], text=[""])), (labels, dict(x=[], y=[], text=[])),
    (labels, dict(x=[1], y=[0.5], text=["A"], room=[np.nan]))])
def test_nothing_where_there_is_nothing(draw, columns):
    assert drawn(draw, columns) == []


@pytest.mark.parametrize("dash, expected", [("solid", None), ("dashed", "6 4"), ("dotted", "2 3")])
def test_strokes(dash, expected):
    path, = drawn(lines, dict(x0=[0, 2], x1=[0, 4], y0=[0, 0], y1=[1, 1]), dash=dash)
    assert path.get("d") == "M12.0 100.0L12.0 0.0M212.0 100.0L412.0 0.0" and path.get("stroke-dasharray") == expected


def test_dots():
    full, = drawn(dots, dict(x=[2], y=[0.5]), size=8)
    assert (full.get("cx"), full.get("cy"), full.get("r"), full.get("fill")) == ("212.0", "50.0", "4.0", "var(--memory)")
    hollow, = drawn(dots, dict(x=[2], y=[0.5]), hollow=True)
    assert (hollow.get("fill"), hollow.get("stroke")) == ("var(--paper)", "var(--memory)")


@pytest.mark.parametrize("align, anchor", [("left", "start"), ("center", "middle"), ("right", "end")])
def test_words(align, anchor):
    word, = drawn(labels, dict(x=[1], y=[0.5], text=["<A> & B"]), align=align, bold=True)
    assert word.text == "<A> & B" and word.get("text-anchor") == anchor and word.get("font-weight") == "600"
    assert word.get("fill") == "var(--memory)"


@pytest.mark.parametrize("room, kept", [(4.0, True), (1.0, True), (0.5, False), (0.0, False)])
def test_words_without_room_are_left_out(room, kept):
    """`ten people` in 13 px takes some 65 px; a unit of x has 100."""
    assert bool(drawn(labels, dict(x=[0], y=[0.5], text=["ten people"], room=[room]))) == kept


def test_an_axis():
    p = plot("plot", 100, (0, 4), (0, 1), axis=True, y_axis=True, axis_label="GB", y_axis_label="people")
    p.below[0].ticker.ticks, p.below[0].major_label_overrides = [0.0, 4.0], {0.0: "0", 4.0: "4 GB"}
    p.left[0].ticker.ticks = [1.0]
    texts = {t.text: t for t in ElementTree.fromstring(still([p], 470, "made")).iter(f"{SVG}text")}
    assert set(texts) == {"0", "4 GB", "GB", "1", "people"}
    assert (texts["0"].get("x"), texts["4 GB"].get("x")) == ("64.0", "458.0"), "the borders are 64 and 12"
    assert all(t.get("fill") == "var(--muted)" for t in texts.values())


def test_ticks_reach_the_still():
    live = Live(figure("kv-memory"))
    texts = [t.text for t in ElementTree.fromstring(still(live.plots, 720, "made")).iter(f"{SVG}text") if t.get("fill") == "var(--muted)"]
    assert texts[:11] == ["0", "4", "8", "12", "16", "20", "24", "28", "32", "36", "GB"]


@pytest.mark.parametrize("label, role", [("", None), ('Ten "people" & <a bar>', "img")])
def test_the_text_alternative(label, role):
    root = ElementTree.fromstring(still([plot("plot", 100, (0, 1), (0, 1))], 300, "made", label=label))
    assert root.get("role") == role and root.get("aria-label") == (label or None)
    assert root.get("aria-hidden") == (None if label else "true")


def test_plots_stand_one_above_the_other():
    root = ElementTree.fromstring(still([plot("a", 100, (0, 1), (0, 1)), plot("b", 50, (0, 1), (0, 1))], 300, "made"))
    assert root.get("viewBox") == "0 0 300 150"
    assert [g.get("transform") for g in root.findall(f"{SVG}g")] == ["translate(0 0)", "translate(0 100)"]


@pytest.fixture(scope="module")
def stills():
    """{name: SVG} of the page's stills: every figure, wide and narrow."""
    lives = {figure_id: Live(figure(figure_id)) for figure_id in IDS}
    return {f"{figure_id}-{width}": still(live.plots, width, f"{figure_id}-{width}")
            for figure_id, live in lives.items() for width in (720, 336)}


def test_ids_are_unlike_any_other_on_the_page(stills):
    ids = [found for svg in stills.values() for found in re.findall(r' id="([^"]+)"', svg)]
    used = {found for svg in stills.values() for found in re.findall(r"url\(#([^)]+)\)", svg)}
    assert ids and len(ids) == len(set(ids)) and used <= set(ids)


def test_stills_are_well_formed_and_full(stills):
    for name, svg in stills.items():
        root = ElementTree.fromstring(svg)
        assert len(list(root.iter())) > 20, name
        assert not re.search(r"\b(nan|inf|None|undefined)\b", svg), name


def test_stills_hold_no_colour_of_a_theme(stills):
    fixed = {*PEOPLE, "#fffffe", "#000001", "none"}
    for name, svg in stills.items():
        for colour in re.findall(r'(?:fill|stroke)="([^"]*)"', svg):
            assert colour in fixed or re.fullmatch(r"var\(--(\w+)\)", colour) and colour[6:-1] in LIGHT or colour.startswith("url(#"), (name, colour)


def words(svg):
    """(left, right, top, bottom, text) of every word that is not turned, in pixels."""
    for plot_ in ElementTree.fromstring(svg).findall(f"{SVG}g"):
        above = float(plot_.get("transform")[len("translate(0 "):-1])
        for text in plot_.iter(f"{SVG}text"):
            if text.get("x"):
                size, x, y = int(text.get("font-size")), float(text.get("x")), above + float(text.get("y"))
                wide = text_width(text.text, size, bool(text.get("font-weight")))
                left = {"start": x, "middle": x - wide / 2, "end": x - wide}[text.get("text-anchor")]
                yield left, left + wide, y - 0.72 * size, y + 0.2 * size, text.text


def misplaced(svg, width):
    """Words that leave the picture, and pairs of words that stand on each other."""
    found = list(words(svg))
    outside = [word[4] for word in found if word[0] < -3 or word[1] > width + 3]
    return outside + [(a[4], b[4]) for a, b in combinations(found, 2)
                      if min(a[1], b[1]) - max(a[0], b[0]) > 2 and min(a[3], b[3]) - max(a[2], b[2]) > 2]


def test_words_stay_apart_and_in_the_still(stills):
    assert {name: misplaced(svg, int(name.rsplit("-", 1)[1])) for name, svg in stills.items()} == {name: [] for name in stills}


@pytest.mark.parametrize("figure_id, values", [
    ("kv-memory", dict(users=64, context=512)), ("kv-memory", dict(users=64)), ("kv-memory", dict(gpu="h100-sxm")),
    ("kv-memory", dict(gpu="mi300x", engine="vllm-0.19")), ("kv-memory", dict(llm="llama-3.1-70b")), ("kv-memory", dict(gpu="rtx-3070", weights="q4_k_m")),
    ("kv-memory", dict(weights="q8_0", users=64)), ("kv-memory", dict(gpu="m4-max", engine="llama.cpp", llm="llama-3.1-70b")),
    ("prefill-decode", dict(prompt=1, reply=1)), ("prefill-decode", dict(prompt=32768, reply=120)),
    ("prefill-decode", dict(llm="deepseek-v3", gpu="m1-max")), ("prefill-decode", dict(prompt=32768, reply=1, gpu="t4"))])
def test_words_stay_apart_at_the_extremes(figure_id, values):
    plots = Live(figure(figure_id), **values).plots
    assert [misplaced(still(plots, width, "made"), width) for width in (720, 336)] == [[], []]


def test_text_width():
    """Grows with the words, the size and the weight; wide letters take more."""
    assert text_width("", 13) == 0 and text_width("ten people", 13) == pytest.approx(65, abs=10)
    assert text_width("mmm", 13) > text_width("nnn", 13) > text_width("iii", 13)
    assert text_width("ten", 26) == pytest.approx(2 * text_width("ten", 13)) and text_width("ten", 13, bold=True) > text_width("ten", 13)
