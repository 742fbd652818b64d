"""Quiet plots: no toolbar, no grid, no frame; a page scrolls by touch over them."""
from __future__ import annotations

from bokeh.core.properties import value
from bokeh.models import FixedTicker, LinearAxis, LogAxis, LogScale, Range1d
from bokeh.plotting import figure

from .picture import source
from .tokens import LIGHT, SMALL_PX, TEXT_PX, UI_FONT

BESIDE = 64  # pixels that an axis on the left takes, whatever its numbers: plots one above the other stay in line
PART = "part:"  # names of renderers begin so: the prose lights them up by the word behind it


def plot(name: str, height: int, x: tuple[float, float], y: tuple[float, float], *, axis: bool = False,
         y_axis: bool = False, log: bool = False, axis_label: str = "", y_axis_label: str = "",
         left: int = 12, right: int = 12) -> figure:
    """A plot that stretches in width and draws nothing of its own but, if asked, an axis below and one on the left.

    Its ranges are named `<name>.x` and `<name>.y`; its axes `<name>.axis` and `<name>.y_axis`, whose ticks a Picture sets
    with `ticks()`. `left`, `right`: pixels kept free beside it, so that nothing moves when numbers get longer.
    """
    p = figure(name=f"plot:{name}", height=height, sizing_mode="stretch_width", toolbar_location=None, tools="",
               x_range=Range1d(*x, name=f"{name}.x"), y_range=Range1d(*y, name=f"{name}.y"),
               x_axis_type=None, y_axis_type=None, x_axis_location=None, y_axis_location=None,
               # The border is painted: left transparent, it keeps bits of an earlier layout.
               min_border=0, min_border_left=max(left, BESIDE) if y_axis else left, min_border_right=right, outline_line_color=None,
               background_fill_color=None, border_fill_color=LIGHT["paper"])
    if log:
        p.x_scale = LogScale()
    if axis:
        p.add_layout(_axis(LogAxis if log else LinearAxis, f"{name}.axis", axis_label), "below")
    if y_axis:
        p.add_layout(_axis(LinearAxis, f"{name}.y_axis", y_axis_label), "left")
    return p


def _axis(kind, name: str, label: str):
    return kind(name=name, ticker=FixedTicker(ticks=[], name=f"{name}_ticks"), axis_label=label or None,
                axis_label_text_font=UI_FONT, axis_label_text_font_size=f"{SMALL_PX}px",
                axis_label_text_font_style="normal", axis_label_text_color=LIGHT["muted"], axis_label_standoff=2,
                major_label_text_font=UI_FONT, major_label_text_font_size=f"{SMALL_PX}px",
                major_label_text_color=LIGHT["muted"], major_label_standoff=4, axis_line_color=LIGHT["line"],
                major_tick_line_color=LIGHT["line"], major_tick_in=0, major_tick_out=4, minor_tick_line_color=None)


def ticks(axis: str, values, names=None) -> dict:
    """Props that put ticks on an axis (`<plot>.axis` or `<plot>.y_axis`), with names where the numbers do not do.

    ValueError if there are more or fewer names than ticks.
    """
    values = [float(v) for v in values]
    names = [f"{v:,.0f}" if v.is_integer() else f"{v:,g}" for v in values] if names is None else [str(n) for n in names]
    if len(names) != len(values):
        raise ValueError(f"{axis} has {len(values)} ticks, {len(names)} name{'' if len(names) == 1 else 's'}; one each would be right")
    return {f"{axis}_ticks.ticks": values, f"{axis}.major_label_overrides": dict(zip(values, names))}


def blocks(p: figure, name: str, color: str, *, part: str = "", alpha: float = 1.0, hatch: str = "", line: str = ""):
    """Rectangles from source `name` (left, right, bottom, top). `color`: a token, or "field:column" of colours.

    `hatch`: a token; draws slanted lines of that colour instead of a fill. `part`: the word that lights it up.
    """
    fill = _colour(color)
    look = dict(fill_color=None, hatch_pattern="/", hatch_color=_colour(hatch), hatch_scale=9, hatch_weight=1,
                hatch_alpha=alpha) if hatch else dict(fill_color=fill, fill_alpha=alpha)
    return _plain(p.quad("left", "right", "top", "bottom", source=_source(p, name, "left", "right", "bottom", "top"),
                         line_color=_colour(line) if line else None, line_width=1, name=PART + (part or name), **look))


def lines(p: figure, name: str, color: str, *, width: float = 1.5, dash: str = "solid", part: str = ""):
    """Straight strokes from source `name` (x0, y0, x1, y1)."""
    return _plain(p.segment("x0", "y0", "x1", "y1", source=_source(p, name, "x0", "y0", "x1", "y1"),
                            line_color=_colour(color), line_width=width, line_dash=dash, name=PART + (part or name)))


def labels(p: figure, name: str, color: str, *, align: str = "left", baseline: str = "middle", bold: bool = False,
           size: int = TEXT_PX, part: str = ""):
    """Words from source `name` (x, y, text and, to hide what would not fit, room: the width there is, in x units)."""
    return _plain(p.text("x", "y", "shown", source=_source(p, name, "x", "y", "text", "shown"), text_color=_colour(color),
                         text_align=align, text_baseline=baseline, text_font=value(UI_FONT), text_font_size=f"{size}px",
                         text_font_style="bold" if bold else "normal", name=PART + (part or name)))


def curve(p: figure, name: str, color: str, *, width: float = 2, dash: str = "solid", part: str = ""):
    """One line through the points of source `name` (x, y)."""
    return _plain(p.line("x", "y", source=_source(p, name, "x", "y"), line_color=_colour(color), line_width=width,
                         line_dash=dash, name=PART + (part or name)))


def dots(p: figure, name: str, color: str, *, size: int = 9, hollow: bool = False, part: str = ""):
    """Dots from source `name` (x, y)."""
    colour = _colour(color)
    return _plain(p.scatter("x", "y", source=_source(p, name, "x", "y"), size=size, line_color=colour, line_width=1.5,
                            fill_color=LIGHT["paper"] if hollow else colour, name=PART + (part or name)))


def _plain(renderer):
    """The renderer without looks of their own for what is selected and what is not: nothing here can be."""
    renderer.selection_glyph = renderer.nonselection_glyph = renderer.glyph
    return renderer


def _colour(color: str) -> str:
    """A token's colour, or the name of the column behind "field:". Nothing else would follow the page's theme."""
    if color.startswith("field:"):
        return color.removeprefix("field:")
    if color not in LIGHT:
        raise ValueError(f"{color!r} is no colour; there are {', '.join(LIGHT)}, and field: with a column's name")
    return LIGHT[color]


def _source(p: figure, name: str, *columns: str):
    """The plot's source of this name: two glyphs may draw from one."""
    for renderer in p.renderers:
        if renderer.data_source.name == name:
            return renderer.data_source
    return source(name, *columns)
