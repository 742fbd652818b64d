"""Whose numbers a figure shows, in words, and the published measurements that belong into its picture."""
from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from model import engines
from model.machine import DATASHEET, Machine

from .machine import engine_name

SERVER = re.compile(r"[\w.]*")  # the first word of an engine as people write it: `llama.cpp llama-bench`
ALIKE = 0.15  # how far a measurement's context may be from the figure's: a tenth more is a few per cent slower


@dataclass(frozen=True)
class Speed:
    """A measured speed of decode. `users` at once, `together` tokens/s of all of them, `words`: who measured what."""

    users: int
    together: float
    words: str


def whose(m: Machine, quantity: str = "", value: float = 0.0, spell: Callable[[float], str] = str, of: str = "",
          limit: float | None = None) -> str:
    """Which server's numbers these are, a sentence with a space before it; nothing for the datasheet.

    With a quantity of engines.band and the figure's value for it, spelled by `spell`: where 85 of 100 measurements `of` it
    would lie, as rows do that no fit had seen. `limit`: the datasheet's value, which no server passes.
    """
    if m.engine == DATASHEET:
        return ""
    said = f" These are {engine_name(m.engine)}’s numbers, {engines.note(m)}"
    if not value:
        return said + "."
    low, high = engines.band(m, quantity, value)
    if limit is not None:
        low, high = (max(low, limit), high) if limit <= value else (low, min(high, limit))
    return f"{said}: 85 of 100 measurements{' of ' + of if of else ''} would lie between {spell(low)} and {spell(high)}."


def printed(m: Machine) -> Machine:
    """The same machine as its datasheet describes it."""
    return replace(m, engine=DATASHEET)


def speeds(m: Machine, context: int) -> list[Speed]:
    """Measured speeds of people who decode on this machine at about this context, those of few people first."""
    found = [Speed(round(p.users), p.value, p.label)
             for quantity in ("decode", "throughput") for p in engines.measured_points(m, quantity)
             if p.users and p.context and abs(p.context / context - 1) <= ALIKE]
    return sorted(found, key=lambda one: one.users)


@dataclass(frozen=True)
class Prefill:
    """How long a prompt took, at the measured tokens a second; `engine`: with which server."""

    ms: float
    engine: str


def prefills(m: Machine, prompt: int) -> list[Prefill]:
    """Measured prefill on this machine, of prompts of about this length, as a prompt of just this length would take."""
    return [Prefill(1000.0 * prompt / p.value, SERVER.match(p.row.text("engine"))[0])
            for p in engines.measured_points(m, "prefill") if p.prompt_tokens and abs(p.prompt_tokens / prompt - 1) <= ALIKE]


def speedups(m: Machine) -> tuple[np.ndarray, np.ndarray]:
    """(users, times as fast) as measured on this machine with EAGLE-3, whose draft model is part of the large one."""
    found = [p for p in engines.measured_points(m, "speedup") if p.users and "EAGLE-3" in p.row.quantity]
    return np.array([p.users for p in found], dtype=float), np.array([p.value for p in found], dtype=float)


def engines_of(found: list[Speed]) -> str:
    """The servers of these measurements in a few words: `llama.cpp`, `vLLM, llama.cpp`."""
    names = ("vLLM", "llama.cpp", "SGLang")
    return ", ".join(name for name in names if any(name.lower() in one.words.lower() for one in found))


def columns(found: list[Speed], each: bool) -> dict[str, np.ndarray]:
    """x and y of the measured dots: people, and tokens/s of one of them or of all."""
    users = np.array([one.users for one in found], dtype=float)
    together = np.array([one.together for one in found], dtype=float)
    return dict(x=users, y=together / users if each else together)
