"""Plots: quiet, named so that a Picture and the prose find them, and drawn in tokens."""
import numpy as np
import pytest
from bokeh.models import LogAxis, LogScale

from app.figure import Live
from app.order import IDS, figure
from widgets.plots import BESIDE, PART, blocks, curve, dots, labels, lines, plot, ticks
from widgets.tokens import DARK, LIGHT, PEOPLE


def test_a_plot_draws_nothing_of_its_own():
    p = plot("bar", 120, (0, 4), (0, 1))
    assert p.toolbar_location is None and not p.tools and not p.renderers and not p.grid and not p.axis
    assert p.outline_line_color is None and p.background_fill_color is None and p.border_fill_color == LIGHT["paper"]
    assert (p.height, p.sizing_mode, p.min_border_left, p.min_border_right) == (120, "stretch_width", 12, 12)


def test_ranges_and_axes_have_names():
    p = plot("bar", 120, (0, 4), (1, 0), axis=True, y_axis=True, axis_label="GB", y_axis_label="people")
    assert (p.x_range.name, p.x_range.start, p.x_range.end) == ("bar.x", 0, 4)
    assert (p.y_range.name, p.y_range.start, p.y_range.end) == ("bar.y", 1, 0), "a frame may run downwards"
    assert [(a.name, a.ticker.name, a.axis_label) for a in (*p.below, *p.left)] == [
        ("bar.axis", "bar.axis_ticks", "GB"), ("bar.y_axis", "bar.y_axis_ticks", "people")]


@pytest.mark.parametrize("left, expected", [(12, BESIDE), (100, 100)])
def test_plots_with_an_axis_on_the_left_stay_in_line(left, expected):
    assert plot("bar", 120, (0, 4), (0, 1), y_axis=True, left=left).min_border_left == expected


def test_a_logarithmic_axis():
    p = plot("bar", 120, (1, 64), (0, 1), axis=True, log=True)
    assert isinstance(p.x_scale, LogScale) and isinstance(p.below[0], LogAxis)


@pytest.mark.parametrize("values, names, overrides", [
    ([0, 4, 8], None, {0.0: "0", 4.0: "4", 8.0: "8"}),
    (np.array([0, 2000]), None, {0.0: "0", 2000.0: "2,000"}),
    ([0, 0.5], ["0", "half"], {0.0: "0", 0.5: "half"}),
    ([0, 0.5, 1], None, {0.0: "0", 0.5: "0.5", 1.0: "1"}),
    ([], None, {}),
])
def test_ticks(values, names, overrides):
    assert ticks("bar.axis", values, names) == {"bar.axis_ticks.ticks": list(overrides), "bar.axis.major_label_overrides": overrides}


def test_ticks_without_their_names_are_refused():
    with pytest.raises(ValueError, match="2 ticks, 1 name"):
        ticks("bar.axis", [0, 1], ["0"])


DRAWN = [
    (blocks, {"left", "right", "bottom", "top"}, ("fill_color",)), (lines, {"x0", "y0", "x1", "y1"}, ("line_color",)),
    (labels, {"x", "y", "text", "shown"}, ("text_color",)), (curve, {"x", "y"}, ("line_color",)),
    (dots, {"x", "y"}, ("line_color", "fill_color")),
]


@pytest.mark.parametrize("draw, columns, colours", DRAWN)
def test_what_is_drawn(draw, columns, colours):
    """One renderer, from a source of its name with the columns it needs, in a token's colour, with a part to light up."""
    p = plot("bar", 120, (0, 4), (0, 1))
    renderer = draw(p, "people", "memory")
    assert set(renderer.data_source.data) == columns and renderer.data_source.name == "people"
    assert renderer.name == f"{PART}people"
    assert all(getattr(renderer.glyph, colour) == LIGHT["memory"] for colour in colours)
    assert draw(p, "more", "memory", part="people").name == f"{PART}people"


@pytest.mark.parametrize("draw, columns, colours", [row for row in DRAWN if row[0] in (blocks, labels, lines)])
def test_colours_from_a_column(draw, columns, colours):
    renderer = draw(plot("bar", 120, (0, 4), (0, 1)), "people", "field:color")
    spec = getattr(renderer.glyph, colours[0])
    assert getattr(spec, "field", spec) == "color"


@pytest.mark.parametrize("draw, columns, colours", DRAWN)
def test_a_colour_that_is_no_token_is_refused(draw, columns, colours):
    with pytest.raises(ValueError, match="'memry' is no colour; there are paper, panel"):
        draw(plot("bar", 120, (0, 4), (0, 1)), "people", "memry")


def test_hatched_blocks_have_no_fill():
    glyph = blocks(plot("bar", 120, (0, 4), (0, 1)), "outside", "misfit", hatch="misfit").glyph
    assert glyph.fill_color is None and glyph.hatch_color == LIGHT["misfit"] and glyph.hatch_pattern == "/"


def test_two_glyphs_may_draw_from_one_source():
    p = plot("bar", 120, (0, 4), (0, 1))
    assert curve(p, "each", "memory").data_source is dots(p, "each", "memory").data_source


@pytest.mark.parametrize("figure_id", IDS)
def test_figures_use_tokens_only(figure_id):
    """A colour that is no token would not follow the theme; people's hues are the same in both."""
    f = figure(figure_id)
    picture = f.compute(f.settings())
    for p in f.draw():
        for renderer in p.renderers:
            hatched = getattr(renderer.glyph, "hatch_pattern", None)
            for name in ("fill_color", "line_color", "text_color", *(["hatch_color"] if hatched else [])):
                colour = getattr(renderer.glyph, name, None)
                field = getattr(colour, "field", colour)
                assert colour is None or field in {*LIGHT.values(), "color"}, f"{renderer.name}.{name} is {colour}"
    for name, columns in picture.sources.items():
        for colour in columns.get("color", ()):
            assert colour in {*LIGHT.values(), *PEOPLE, "#fffffe", "#000001"} and colour not in DARK.values(), name


@pytest.mark.parametrize("figure_id", IDS)
def test_figures_axes_have_ticks_in_their_range(figure_id):
    """At the defaults: two or more on every axis, each with its name."""
    for p in Live(figure(figure_id)).plots:
        for axis, span in [(a, p.x_range) for a in p.below] + [(a, p.y_range) for a in p.left]:
            low, high = sorted((span.start, span.end))
            assert len(axis.ticker.ticks) >= 2, axis.name
            assert all(low - 1e-6 <= t <= high * (1 + 1e-3) for t in axis.ticker.ticks), axis.name
            assert set(axis.major_label_overrides) == set(axis.ticker.ticks), axis.name
