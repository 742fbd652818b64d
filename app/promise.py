"""Will it fit, how fast will it be: what one server gets for so many people, and how sure that is."""
from __future__ import annotations

from dataclasses import dataclass, replace

import model
from model import engines
from model.machine import DATASHEET, Machine
from model.predict import prefill_ms
from model.settings import vllm_defaults

from .growing import REPLY
from .machine import engine_label
from .words import count, digits, gb, ms, people, sentence, tokens

TODAY = {"llama.cpp": "llama.cpp-flash", "vllm": "vllm-0.28"}  # by family, where the figure's switch is at another


@dataclass(frozen=True)
class Seats:
    """How many conversations a server runs `at_once` at most; `set_aside`: for how many it takes memory when it starts."""

    at_once: int
    set_aside: int = 0


@dataclass(frozen=True)
class Promise:
    """What a server gets. `fit`: conversations of this length that its memory holds, `printed_fit`: that it would hold by the
    datasheet, and `sizes`: of the card as it is sold, and as a server sees it. For as many as are asked for, fit and are run at once:
    `speed` (low, likely, high) in tokens/s of each, and `ttft_ms` (low, likely, high) of a prompt that nobody else waits for.
    The bands hold 85 of 100 measurements, and never reach past the datasheet. None where nobody fits."""

    engine: str
    asked: int
    length: int
    prompt: int
    fit: int
    printed_fit: int
    sizes: tuple[float, float]
    seats: Seats | None
    speed: tuple[float, float, float] | None
    ttft_ms: tuple[float, float, float] | None
    note: str


def promise(m: Machine, family: str, users: int, length: int, utilization: float | None, seats: Seats | None = None) -> Promise:
    """The Promise of the newest server of a family (`llama.cpp`, `vllm`), or of the one that m has if it is of that family.
    `seats` as it was told, None for no limit."""
    m = replace(m, engine=m.engine if m.engine.startswith(family) else TODAY[family])
    prompt = length - min(REPLY, length // 4)
    printed = replace(m, engine=DATASHEET)
    fit = int(model.kv_memory(m, context=length, utilization=utilization if family == "vllm" else None).users_fit)
    printed_fit = int(model.kv_memory(printed, context=length, utilization=utilization if family == "vllm" else 1.0).users_fit)
    sizes = (m.gpu.memory_bytes, engines.visible_bytes(m.gpu))
    if not fit:
        return Promise(m.engine, users, length, prompt, 0, printed_fit, sizes, seats, None, None, engines.note(m))
    served = min(users, fit, seats.at_once if seats else users)
    speed, most = (float(model.pass_cost(one, users=served, context=length).tokens_per_s_each) for one in (m, printed))
    first = engines.request_ms(m) + prefill_ms(m, prompt, chunk=vllm_defaults(m.gpu)[0])
    least = float(model.pass_cost(printed, users=0, prompt_tokens=prompt).pass_ms)
    slow, quick = engines.band(m, "decode", speed)
    soon, late = engines.band(m, "ttft", first)
    return Promise(m.engine, users, length, prompt, fit, printed_fit, sizes, seats, (slow, speed, max(speed, min(quick, most))),
                   (min(first, max(soon, least)), first, late), engines.note(m))


def told(p: Promise) -> str:
    """Both answers in words."""
    name = sentence(engine_label(p.engine))
    if not p.fit:
        return f"{name}: it does not fit, not even one conversation of {tokens(p.length)}; {p.note}."
    wanted = min(p.asked, p.seats.at_once if p.seats else p.asked)
    most = max(wanted, p.seats.set_aside if p.seats else 0)
    sold, seen = p.sizes
    why = f", of {gb(sold)}; a server sees {gb(seen)}" if p.fit > p.printed_fit and seen > sold else ""
    printed = "" if min(p.fit, most) == min(p.printed_fit, most) else f" (by the datasheet {count(p.printed_fit)}{why})"
    if p.seats and p.fit < p.seats.set_aside:
        fits = (f"it would set aside memory for {count(p.seats.set_aside)}, and {count(p.fit)} fit{'s' if p.fit == 1 else ''}"
                f"{printed}, so that it does not start as typed. With {count(min(p.fit, wanted))}, ")
    elif p.fit < wanted:
        fits = f"{count(p.fit)} of {count(p.asked)} fit at {tokens(p.length)}{printed}, the others wait; "
    elif wanted < p.asked:
        fits = f"it fits, {people(wanted)} at a time{printed}, the others wait; "
    else:
        fits = f"it fits, {people(p.asked)} at {tokens(p.length)}{printed}; "
    slow, likely, quick = map(digits, p.speed)
    soon, first, late = map(ms, p.ttft_ms)
    each = "each " if min(p.fit, wanted) > 1 else ""
    return (f"{name}: {fits}{each}{likely} tokens/s (85 of 100 measurements: {slow} to {quick}), and the first token of "
            f"{tokens(p.prompt)} of prompt after {first} ({soon} to {late}) if nobody else’s is processed; {p.note}.")
