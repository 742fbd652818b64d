"""A figure of the essay: settings (Param), a pure function that answers them, and plots that are drawn once."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import dropwhile

import panel as pn
import param
from bokeh.document import Document

from widgets.picture import ABOUT, FRAMES, Picture, changes, source
from widgets.plots import PART


# A setting's widget by its declaration; an Integer is a Number too, so it comes first.
WIDGETS = ((param.Boolean, pn.widgets.Checkbox), (param.Selector, pn.widgets.Select), (param.Integer, pn.widgets.IntSlider),
           (param.Number, pn.widgets.FloatSlider), (param.String, pn.widgets.TextInput))


@dataclass(frozen=True)
class Control:
    """One setting as a reader meets it.

    name       the Param's name, and the address parameter's.
    unit       stands behind the number ("tokens", "%").
    positions  the values a slider stops at, where equal steps would not do (context lengths); () for equal steps.
    percent    the value is a share and is shown as a percentage.
    folded     stands in the fold-out that describes the machine.
    presets    (words, value): buttons that set the value.
    longest    of a text: characters at most.
    lines      of a text: shown lines of a box to paste into; 0 for a single line.
    unwritten  too long for an address: the page never writes it there.
    zero       what 0 means, where it is no number.
    """

    name: str
    unit: str = ""
    positions: tuple[float, ...] = ()
    percent: bool = False
    folded: bool = False
    presets: tuple[tuple[str, float], ...] = ()
    longest: int = 240
    lines: int = 0
    unwritten: bool = False
    zero: str = ""


@dataclass(frozen=True)
class Figure:
    """What a module in this folder declares.

    id, title  the figure's address and its question.
    settings   a param.Parameterized class: names, defaults, bounds, labels and docs of the settings.
    compute    (settings) -> Picture; a pure function.
    draw       () -> list of Bokeh plots whose sources are named like the Picture's.
    controls   in the order in which a reader meets them; the machine's come last, folded.
    main       the control that is answered before Python is there.
    explain    HTML of "How is this computed?": formulas with <span class="number" data-say="fact"> for the present numbers.
    beside     HTML shown under the picture, with <span class="number" data-say="word"> where words of the frames or facts go.
    """

    id: str
    title: str
    settings: type[param.Parameterized]
    compute: Callable[[param.Parameterized], Picture]
    draw: Callable[[], list]
    controls: tuple[Control, ...]
    main: str
    explain: str
    beside: str = ""

    def control(self, name: str) -> Control:
        """The control of this name; ValueError for an unknown one."""
        known = {control.name: control for control in self.controls}
        if name not in known:
            raise ValueError(f"{self.id} has no setting {name!r}; it has {', '.join(known)}")
        return known[name]

    def defaults(self) -> dict:
        """Default value of every control."""
        return {c.name: self.settings.param[c.name].default for c in self.controls}


class Live:
    """One figure alive: settings, their Panel widgets, and a Bokeh document that holds only its plots and sources.

    The document goes to the page; the widgets stay with Panel. `listen(callback)` is called with the new Picture
    whenever a setting changed, once however many changed together.
    """

    def __init__(self, figure: Figure, **values):
        self.figure = figure
        self.settings = figure.settings(**values)
        self.plots = figure.draw()
        self.document = Document(title=figure.title)
        self._hidden = [source(FRAMES, "clock_ms"), source(ABOUT, "json")]
        for root in (*self.plots, *self._hidden):
            self.document.add_root(root)
        self.models = _by_name(self.document)
        self.picture = figure.compute(self.settings)
        self._listeners: list[Callable[[Picture], None]] = []
        self._draw(self.picture)
        self._layer()
        self.widgets = {c.name: widget(self.settings, c) for c in figure.controls}
        self.settings.param.watch(self._changed, [c.name for c in figure.controls])

    def listen(self, callback: Callable[[Picture], None]) -> None:
        self._listeners.append(callback)

    def values(self) -> dict:
        """Present value of every control."""
        return {name: getattr(self.settings, name) for name in self.widgets}

    def set(self, values: dict) -> None:
        """Changes settings as a reader does: at the Panel widgets, for which the page's controls stand. The figure computes
        once, however many changed. ValueError for an unknown setting or a wrong value; that, and whatever goes wrong while
        the figure computes, leaves all as it was: who asks again gets an answer to what was asked."""
        for name in values:
            self.figure.control(name)
        self.figure.settings(**{**self.values(), **values})  # raises before anything moved
        before = {name: getattr(self.settings, name) for name in values}
        try:
            self._move(values)
        except Exception:
            self._move(before)
            raise

    def _move(self, values: dict) -> None:
        with param.parameterized.batch_call_watchers(self.settings):
            for name, value in values.items():
                self.widgets[name].value = value

    def show(self, at: int) -> None:
        """Puts frame `at` into the plots' sources."""
        for name in self.picture.source_names():
            self.models[name].data = self.picture.source_data(name, at)

    def _changed(self, *events) -> None:
        self.picture = self.figure.compute(self.settings)
        for callback in self._listeners:
            callback(self.picture)

    def _draw(self, picture: Picture) -> None:
        for model, attribute, value in changes(picture, self.models):
            setattr(model, attribute, value)

    def _layer(self) -> None:
        """Puts each plot's first moving renderer and all after it on Bokeh's overlay, which is painted apart from the rest:
        while a figure plays, what stands still is not painted again."""
        moving = self.picture.moving_names()
        for plot in self.plots:
            for renderer in dropwhile(lambda r: r.data_source.name not in moving, plot.renderers):
                renderer.level = "overlay"

    def follow(self) -> None:
        """Lets the plots follow every change: for a Panel server or a notebook, where no page applies patches."""
        self.listen(self._draw)


def _by_name(document: Document) -> dict[str, object]:
    """The document's models that a Picture may set; two of one name would be one too many."""
    models = {}
    for model in document.models:
        if model.name and not model.name.startswith(PART):
            if model.name in models:
                raise ValueError(f"two models are called {model.name!r}")
            models[model.name] = model
    return models


def widget(settings: param.Parameterized, control: Control) -> pn.widgets.Widget:
    """The Panel widget of one setting."""
    parameter = settings.param[control.name]
    if control.lines:
        return pn.widgets.TextAreaInput.from_param(parameter, rows=control.lines, max_length=control.longest)
    return next(kind for declared, kind in WIDGETS if isinstance(parameter, declared)).from_param(parameter)
