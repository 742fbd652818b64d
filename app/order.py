"""The figures in the order of the essay."""
from __future__ import annotations

from importlib import import_module

from .figure import Figure

IDS = ("prefill-decode", "kv-memory", "batching", "paging", "chunked-prefill", "speculative", "scoreboard", "settings")


def figure(figure_id: str) -> Figure:
    """The figure of this id; ValueError for an unknown one."""
    if figure_id not in IDS:
        raise ValueError(f"no figure is called {figure_id!r}; there are {', '.join(IDS)}")
    return import_module("app." + figure_id.replace("-", "_")).FIGURE


def figures() -> list[Figure]:
    """All figures, in order."""
    return [figure(figure_id) for figure_id in IDS]
