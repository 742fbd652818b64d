"""Still pictures: the same Bokeh plots, written as SVG. They stand in the page before any script has run, and on paper.

Only what `plots.py` draws is known here: blocks, strokes, words, curves, dots, and the axes. Colours are
written as CSS variables of their token, so that a still follows the page's light or dark.
"""
from __future__ import annotations

import math
from html import escape

import numpy as np
from bokeh.models import LogScale

from .tokens import LIGHT, SMALL_PX, UI_FONT

TOKEN = {value: name for name, value in LIGHT.items()}
DOTS = {"dashed": "6 4", "dotted": "2 3", "solid": ""}
BELOW = 24  # pixels that an axis takes below
BASELINES = {"middle": 0.35, "top": 0.9, "bottom": -0.15, "alphabetic": 0, "center": 0.35}


def still(plots: list, width: int, name: str, label: str = "", style: str = "") -> str:
    """One SVG of all plots, one above the other, `width` pixels wide. `name`: unlike any other still's on the same page.

    `label`: its text alternative ("" = decoration).
    """
    parts, top = [], 0
    for index, p in enumerate(plots):
        parts.append(f'<g transform="translate(0 {top})">{_plot(p, width, f"{name}-{index}")}</g>')
        top += p.height
    role = f'role="img" aria-label="{escape(label, quote=True)}"' if label else 'aria-hidden="true"'
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {top}" width="{width}" height="{top}" {role} '
            f'font-family="{escape(UI_FONT, quote=True)}">{style}{"".join(parts)}</svg>')


def _plot(p, width: int, name: str) -> str:
    frame = Frame(p, width)
    drawn = [_axis(axis, frame, side) for side in ("below", "left") for axis in getattr(p, side)]
    for number, renderer in enumerate(p.renderers):
        if renderer.visible:
            draw = DRAW[type(renderer.glyph).__name__]
            drawn.append(draw(renderer.glyph, renderer.data_source.data, frame, f"{name}-{number}"))
    return "".join(drawn)


class Frame:
    """Where data lands in pixels."""

    def __init__(self, p, width: int):
        self.left, self.right = p.min_border_left or 0, width - (p.min_border_right or 0)
        self.top, self.bottom = 0, p.height - (_below(p.below[0]) if p.below else 0)
        self.x_range, self.y_range = p.x_range, p.y_range
        self.log = isinstance(p.x_scale, LogScale)

    def x(self, values):
        start, end, values = self.x_range.start, self.x_range.end, np.asarray(values, dtype=float)
        if self.log:
            start, end, values = math.log(start), math.log(end), np.log(np.maximum(values, 1e-9))
        return self.left + (values - start) / (end - start) * (self.right - self.left)

    def y(self, values):
        share = (np.asarray(values, dtype=float) - self.y_range.start) / (self.y_range.end - self.y_range.start)
        return self.bottom - share * (self.bottom - self.top)


def _below(axis) -> int:
    return BELOW + (16 if axis.axis_label else 0)


def _get(spec, data: dict, n: int) -> list:
    """A glyph's property as n values: a column, or one value for all."""
    if isinstance(spec, str) and spec in data:
        return list(data[spec])
    field = getattr(spec, "field", None)
    return list(data[field]) if field else [spec] * n


def _paint(color) -> str:
    return "none" if color is None else f"var(--{TOKEN[color]})" if color in TOKEN else escape(str(color), quote=True)


def _quad(glyph, data, frame, key) -> str:
    left, right, top, bottom = (np.asarray(data.get(side, ()), dtype=float) for side in ("left", "right", "top", "bottom"))
    n = len(left)
    if not n:
        return ""
    x0, x1, (y0, y1) = frame.x(left), frame.x(right), np.sort([frame.y(top), frame.y(bottom)], axis=0)
    x0, x1 = np.clip(x0, frame.left - 2, frame.right + 2), np.clip(x1, frame.left - 2, frame.right + 2)
    fills = _get(glyph.fill_color, data, n)
    alphas = _get(glyph.fill_alpha, data, n)
    pattern, out = "", []
    if glyph.hatch_pattern:
        out.append(f'<pattern id="{key}" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
                   f'<line y2="7" stroke="{_paint(glyph.hatch_color)}" stroke-width="2.4" '
                   f'stroke-opacity="{glyph.hatch_alpha}"/></pattern>')
        pattern = f"url(#{key})"
    edge = f' stroke="{_paint(glyph.line_color)}"' if glyph.line_color else ""
    alike: dict[str, list[str]] = {}  # a path for each look: a grid of pages would be a thousand
    for i in range(n):
        w, h = x1[i] - x0[i], y1[i] - y0[i]
        if not (w > 0 and h > 0):
            continue
        alpha = "" if pattern or alphas[i] == 1 else f' fill-opacity="{alphas[i]:.2g}"'
        look = f'fill="{pattern or _paint(fills[i])}"{alpha}{edge}'
        alike.setdefault(look, []).append(f"M{x0[i]:.1f} {y0[i]:.1f}h{w:.1f}v{h:.1f}h{-w:.1f}z")
    return "".join([*out, *(f'<path d="{"".join(paths)}" {look}/>' for look, paths in alike.items())])


def _segment(glyph, data, frame, key) -> str:
    x0, x1 = frame.x(data.get("x0", ())), frame.x(data.get("x1", ()))
    y0, y1 = frame.y(data.get("y0", ())), frame.y(data.get("y1", ()))
    paths = [f"M{a:.1f} {b:.1f}L{c:.1f} {d:.1f}" for a, b, c, d in zip(x0, y0, x1, y1) if not np.isnan([a, b, c, d]).any()]
    return _stroke(paths, glyph)


def _line(glyph, data, frame, key) -> str:
    path, pen = [], "M"
    for x, y in zip(frame.x(data.get("x", ())), frame.y(data.get("y", ()))):
        gap = np.isnan([x, y]).any()
        if not gap:
            path.append(f"{pen}{x:.1f} {y:.1f}")
        pen = "M" if gap else "L"
    return _stroke(path, glyph)


def _stroke(paths, glyph) -> str:
    if not paths:
        return ""
    dash = glyph.line_dash if isinstance(glyph.line_dash, str) else " ".join(map(str, glyph.line_dash))
    dash = DOTS.get(dash, dash)
    return (f'<path d="{"".join(paths)}" fill="none" stroke="{_paint(glyph.line_color)}" stroke-width="{glyph.line_width}"'
            + (f' stroke-dasharray="{dash}"' if dash else "") + "/>")


def _text(glyph, data, frame, key) -> str:
    words = list(data.get("text", ()))
    size = int(str(glyph.text_font_size).removesuffix("px"))
    xs, ys = frame.x(data.get("x", ())), frame.y(data.get("y", ()))
    rooms = frame.x(np.asarray(data["x"]) + np.asarray(data["room"])) - xs if "room" in data else [math.inf] * len(words)
    colours = _get(glyph.text_color, data, len(words))
    anchor = {"left": "start", "center": "middle", "right": "end"}[glyph.text_align]
    bold = glyph.text_font_style == "bold"
    weight = ' font-weight="600"' if bold else ""
    shift = BASELINES[glyph.text_baseline] * size
    return "".join(_word(w, _at(x, y + shift), size, anchor, _paint(c), weight)
                   for w, x, y, room, c in zip(words, xs, ys, rooms, colours)
                   if not np.isnan([x, y]).any() and text_width(str(w), size, bold) <= room)


def _scatter(glyph, data, frame, key) -> str:
    return "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{glyph.size / 2}" fill="{_paint(glyph.fill_color)}" '
                   f'stroke="{_paint(glyph.line_color)}" stroke-width="{glyph.line_width}"/>'
                   for x, y in zip(frame.x(data.get("x", ())), frame.y(data.get("y", ()))) if not np.isnan([x, y]).any())


DRAW = {"Quad": _quad, "Segment": _segment, "Line": _line, "Text": _text, "Scatter": _scatter}


def _axis(axis, frame, side: str) -> str:
    ticks = list(axis.ticker.ticks)
    names = [axis.major_label_overrides.get(t, f"{t:g}") for t in ticks]
    muted, line = _paint(axis.major_label_text_color), _paint(axis.axis_line_color)
    if side == "left":
        turned = f'transform="translate(12 {(frame.top + frame.bottom) / 2:.1f}) rotate(-90)"'
        return (f'<path d="M{frame.left:.1f} {frame.top}V{frame.bottom:.1f}" stroke="{line}"/>'
                + _word(axis.axis_label, turned, SMALL_PX, "middle", muted)
                + "".join(_word(name, _at(frame.left - 6, y + 4), SMALL_PX, "end", muted)
                          for y, name in zip(frame.y(ticks), names)))
    xs = frame.x(ticks)
    marks = "".join(f"M{x:.1f} {frame.bottom:.1f}v4" for x in xs)
    return (f'<path d="M{frame.left:.1f} {frame.bottom:.1f}H{frame.right:.1f}{marks}" fill="none" stroke="{line}"/>'
            + "".join(_word(name, _at(x, frame.bottom + 18), SMALL_PX, "middle", muted) for x, name in zip(xs, names))
            + _word(axis.axis_label, _at((frame.left + frame.right) / 2, frame.bottom + 34), SMALL_PX, "middle", muted))


def _at(x: float, y: float) -> str:
    return f'x="{x:.1f}" y="{y:.1f}"'


def _word(word, place: str, size: int, anchor: str, fill: str, more: str = "") -> str:
    """A text element at a place (attributes); "" for no word."""
    return (f'<text {place} font-size="{size}" text-anchor="{anchor}" fill="{fill}"{more}>{escape(str(word))}</text>'
            if word else "")


def text_width(words: str, size: int, bold: bool = False) -> float:
    """Pixels that words take, roughly, in a system font: stills are laid out without one."""
    narrow = sum(c in " .,:;il|'()jtf" for c in words)  # digits are equally wide
    wide = sum(c in "mwMWGOQ%" for c in words)
    return (0.57 * len(words) - 0.24 * narrow + 0.25 * wide) * size * (1.06 if bold else 1)
