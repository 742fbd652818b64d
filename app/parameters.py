"""One declared table of parameters: controls, address parsing, documentation and the page's JSON all come from it."""
from __future__ import annotations

from dataclasses import dataclass

import param

from .figure import Control, Figure


@dataclass(frozen=True)
class Parameter:
    """One setting of one figure. kind: int, float, choice, bool or text; `choices` are (value, label) pairs."""

    name: str
    kind: str
    label: str
    meaning: str
    default: object
    low: float | None = None
    high: float | None = None
    step: float | None = None
    unit: str = ""
    positions: tuple[float, ...] = ()
    percent: bool = False
    choices: tuple[tuple[str, str], ...] = ()
    longest: int = 0
    folded: bool = False
    presets: tuple[tuple[str, float], ...] = ()
    lines: int = 0
    unwritten: bool = False
    zero: str = ""

    def data(self) -> dict:
        """What the page needs to know of it; nothing that is empty."""
        kept = ("default", "low")
        return {key: value for key, value in vars(self).items() if key in kept or value not in (None, "", (), False, 0)}


def parameter(figure: Figure, control: Control) -> Parameter:
    """The Parameter of one control."""
    p = figure.settings.param[control.name]
    common = dict(name=control.name, label=p.label, meaning=p.doc or "", default=p.default, unit=control.unit,
                  folded=control.folded, presets=control.presets)
    if isinstance(p, param.Boolean):
        return Parameter(kind="bool", **common)
    if isinstance(p, param.Selector):
        return Parameter(kind="choice", choices=tuple((value, label) for label, value in p.names.items()), **common)
    if isinstance(p, param.Number):
        low, high = p.bounds
        whole = isinstance(p, param.Integer)
        positions = tuple(v for v in control.positions if low <= v <= high)
        return Parameter(kind="int" if whole else "float", low=low, high=high, step=p.step or (1 if whole else 0.01),
                         positions=positions, percent=control.percent, zero=control.zero, **common)
    return Parameter(kind="text", longest=control.longest, lines=control.lines, unwritten=control.unwritten, **common)


def parameters(figure: Figure) -> list[Parameter]:
    """All parameters of a figure, in the order of its controls."""
    return [parameter(figure, control) for control in figure.controls]


def positions(p: Parameter) -> list[float]:
    """The values at which a parameter's slider stops, or between which it chooses. ValueError for a text."""
    if p.positions:
        return list(p.positions)
    if p.kind == "bool":
        return [False, True]
    if p.kind == "choice":
        return [value for value, _ in p.choices]
    if p.kind == "text":
        raise ValueError(f"{p.name} is a text; only numbers, choices and switches have positions")
    count = round((p.high - p.low) / p.step)
    return [p.low + i * p.step if p.kind == "int" else round(p.low + i * p.step, 6) for i in range(count + 1)]
