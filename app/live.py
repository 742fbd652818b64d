"""The figures alive, for the browser's worker: built once (before the memory snapshot), asked for changes ever after.

Importing this module builds all figures, in order, so that their Bokeh ids are the same in every run: the page is drawn
from the documents that `export` gives at build time, and a worker that starts later owns documents with those ids.
"""
from __future__ import annotations

import json
from importlib import import_module

from bokeh.core.serialization import Buffer, Serializer
from bokeh.document.events import ColumnDataChangedEvent, ModelChangedEvent

from widgets.picture import Picture, changes

from .figure import Live
from .order import figures
from .parameters import parameter, positions

import_module("numpy.ma")  # Bokeh asks for it when it serialises an array, which may first happen after the snapshot

LIVE = {figure.id: Live(figure) for figure in figures()}


def export(figure_id: str) -> str:
    """The figure's document as JSON, for Bokeh.Document.from_json in the page."""
    live = LIVE[figure_id]
    return json.dumps(live.document.to_json(deferred=False))


def change(figure_id: str, values: str) -> tuple[str, list[tuple[str, bytes]]]:
    """Changes settings as a page asks (JSON {name: value}) and returns the answer: a patch as JSON and its buffers.

    A wrong value raises ValueError and leaves the settings as they were.
    """
    live = LIVE[figure_id]
    live.set(json.loads(values))
    return patch(live)


def patch(live: Live, picture: Picture | None = None, deferred: bool = True) -> tuple[str, list[tuple[str, bytes]]]:
    """One Bokeh patch that brings every source and range of the figure to its present picture (or the one given)."""
    serializer = Serializer(references=live.document.models.synced_references, deferred=deferred)
    events = [_event(live.document, *change).to_serializable(serializer)
              for change in changes(picture or live.picture, live.models)]
    buffers = [(buffer.id, buffer.to_bytes()) for buffer in serializer.buffers]
    return json.dumps({"events": events}, default=_reference), buffers


def main_answers(figure_id: str) -> str:
    """Patches for all positions of the figure's main control, other settings at their defaults, as JSON.

    {"setting": name, "values": [...], "patches": [patch, ...], "pool": [column, ...]}: what the page answers with before
    Python is there. A patch's columns are places in the pool.
    """
    live = LIVE[figure_id]
    figure = live.figure
    values = positions(parameter(figure, figure.control(figure.main)))
    pool: dict[str, int] = {}
    patches = [_pooled(patch(live, figure.compute(figure.settings(**{figure.main: value})), deferred=False)[0], pool)
               for value in values]
    return json.dumps(dict(setting=figure.main, values=values, pool=[json.loads(column) for column in pool], patches=patches))


def _pooled(patch_json: str, pool: dict[str, int]) -> dict:
    """A patch whose columns are places in the pool: most columns are alike from one position to the next."""
    content = json.loads(patch_json)
    for event in content["events"]:
        if "data" in event:
            event["data"]["entries"] = [[name, pool.setdefault(json.dumps(column), len(pool))]
                                        for name, column in event["data"]["entries"]]
    return content


def _event(document, model, attribute, value):
    if attribute == "data":
        return ColumnDataChangedEvent(document, model, "data", value)
    return ModelChangedEvent(document, model, attribute, value)


def _reference(value):
    """How json writes what the serializer leaves: a reference to a buffer that travels beside the JSON."""
    if isinstance(value, Buffer):
        return value.ref
    raise TypeError(f"cannot write {type(value).__name__}")
