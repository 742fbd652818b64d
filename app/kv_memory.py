"""kv-memory: everybody shares the weights, nobody shares a KV cache. One bar, the card, to scale."""
from __future__ import annotations

import numpy as np
import param

import model
from model.memory import UTILIZATION
from widgets.picture import Picture
from widgets.plots import blocks, labels, lines, plot, ticks

from .figure import Control, Figure
from .machine import CHOSEN_MACHINE, CONTEXTS, MachineSettings
from .words import count, digits, gb, people, percent, sentence, tokens, whole

FRAME = 1.62        # the bar's frame, as a multiple of the card: room past the line for who does not fit
TOP, BOTTOM = 1.0, 0.0


class Settings(MachineSettings):
    """Who sits in the card's memory."""

    users = param.Integer(10, bounds=(1, 64), label="Users", doc="conversations held at once")
    context = param.Integer(8192, bounds=(512, 131072), label="Context length", doc="tokens that each conversation holds")


def compute(s: Settings) -> Picture:
    """The bar for these settings; frame f is the moment at which f people have arrived."""
    m = s.machine()
    memory = model.kv_memory(m, users=s.users, context=s.context)
    fit, misfit = min(memory.users_fit, s.users), s.users - min(memory.users_fit, s.users)
    scale = FRAME * memory.capacity_bytes / 1e9
    line, each = memory.usable_bytes / 1e9, memory.kv_bytes_each / 1e9
    start = (memory.weights_bytes + memory.overhead_bytes) / 1e9
    inside = _row(start, each, fit)
    outside = _row(max(line, start), each, misfit)
    seen = outside["left"] < scale * 0.999
    outside = {side: np.minimum(values[seen], scale) for side, values in outside.items()}
    steps = np.arange(s.users + 1)
    arrived = steps[:, None] > np.arange(fit)
    waiting = steps[:, None] > fit + np.arange(len(outside["left"]))
    weights = memory.weights_bytes / 1e9
    numbers = _numbers(inside, fit)
    return Picture(
        sources={
            "bar": dict(left=[0.0], right=[memory.capacity_bytes / 1e9], bottom=[BOTTOM], top=[TOP]),
            "weights": _block(0, min(weights, line)),
            "too_heavy": _block(line, min(weights, scale)) if weights > line else _block(),
            "overhead": _block(min(weights, line), min(start, line)) if weights < line else _block(),
            "people_pale": dict(inside, bottom=np.zeros(fit), top=np.ones(fit)),
            "people": dict(left=inside["left"], bottom=np.zeros(fit), top=np.ones(fit)),
            "outside": dict(left=outside["left"], bottom=np.zeros(len(outside["left"])), top=np.ones(len(outside["left"]))),
            "capacity": dict(x0=[line], x1=[line], y0=[-0.18], y1=[1.3]),
            "names": dict(x=[0.0], y=[1.2], text=[f"weights {gb(memory.weights_bytes)}"], room=[line]),
            "overhead_name": dict(x=[min(start, line)], y=[1.58], text=[f"overhead {gb(memory.overhead_bytes)}"],
                                  room=[scale]),
            "line_name": dict(x=[line * 1.008], y=[1.2], text=[f"{gb(memory.usable_bytes)} usable"], room=[scale - line]),
            "numbers": numbers,
            "more": _more(outside, misfit, scale, line),
        },
        frames={
            "people.right": np.where(arrived, inside["right"], inside["left"]),
            "outside.right": np.where(waiting, outside["right"], outside["left"]),
            "say.sentence": [f"{_moment(step, s.users, fit)} {_answer(s, memory, fit, misfit)}" for step in steps],
        },
        clock_ms=steps * 1000.0, frame_names=[f"{whole(n)} of {whole(s.users)} people" for n in steps],
        telling=s.users, play_s=min(6.0, 1.0 + 0.45 * s.users),
        props={"bar.x.end": scale, **ticks("bar.axis", _tick_values(memory.capacity_bytes / 1e9))},
        facts=dict(
            users=whole(s.users), context=whole(s.context), weights=gb(memory.weights_bytes), each=gb(memory.kv_bytes_each),
            kv_bytes_per_token=whole(memory.kv_bytes_per_token), budget=gb(memory.budget_bytes),
            budget_tokens=whole(memory.budget_tokens), fit=count(fit), misfit=count(misfit), users_fit=whole(memory.users_fit),
            capacity=gb(memory.capacity_bytes), overhead=gb(memory.overhead_bytes), utilization=percent(UTILIZATION),
            layers=whole(m.llm.layers), kv_heads=whole(m.llm.kv_heads), head_size=whole(m.llm.head_size),
            bits=digits(m.kv.bits), wanted=gb(s.users * memory.kv_bytes_each)),
        table=(["person", "KV cache (bytes)", "fits"],
               [[i + 1, memory.kv_bytes_each, "yes" if i < fit else "no"] for i in range(s.users)]))


def _row(start: float, each: float, n: int) -> dict:
    """n blocks of equal length side by side, a hair apart."""
    left = start + each * np.arange(n)
    return dict(left=left, right=left + each * 0.94)


def _block(left: float | None = None, right: float | None = None) -> dict:
    there = left is not None and right > left
    return dict(left=[left] if there else [], right=[right] if there else [], bottom=[BOTTOM] * there, top=[TOP] * there)


def _numbers(inside: dict, fit: int) -> dict:
    middle = (inside["left"] + inside["right"]) / 2
    return dict(x=middle, y=np.full(fit, 0.5), text=[str(i + 1) for i in range(fit)],
                room=inside["right"] - inside["left"])


def _more(outside: dict, misfit: int, scale: float, line: float) -> dict:
    """The words under the blocks past the line."""
    if not misfit:
        return dict(x=[], y=[], text=[], room=[])
    hidden = misfit - len(outside["left"])
    text = f"{count(misfit)} {'does' if misfit == 1 else 'do'} not fit" + (f" ({hidden} not drawn)" if hidden > 0 else "")
    return dict(x=[scale], y=[1.58], text=[text], room=[scale - line])


def _tick_values(capacity_gb: float) -> list[float]:
    step = next(s for s in (2, 4, 8, 16, 32, 64, 128, 256) if capacity_gb / s <= 7)
    return list(np.arange(0, capacity_gb * FRAME, step))


def _moment(step: int, users: int, fit: int) -> str:
    if step == users:
        return ""
    if step == 0:
        return "Nobody is here yet."
    return f"{sentence(people(step))} of {whole(users)} {'is' if step == 1 else 'are'} here."


def _answer(s: Settings, memory: model.Memory, fit: int, misfit: int) -> str:
    each = (f"{sentence(people(s.users))} at {tokens(s.context)} want {gb(s.users * memory.kv_bytes_each)} of KV cache, "
            f"{whole(memory.kv_bytes_per_token)} bytes a token.")
    if memory.budget_bytes <= 0:
        return f"{each} The weights and the overhead alone are larger than what the card may use: nobody fits."
    left = f" Beside the weights {gb(memory.budget_bytes)} are left, {tokens(memory.budget_tokens)}."
    if not misfit:
        return f"{each}{left} {'All of them fit' if s.users > 1 else 'It fits'}; {count(memory.users_fit)} would."
    return f"{each}{left} {sentence(count(fit))} fit{'s' if fit == 1 else ''}, {count(misfit)} {'does' if misfit == 1 else 'do'} not."


def draw() -> list:
    """One bar."""
    p = plot("bar", 176, (0, 38), (-0.25, 1.9), axis=True, axis_label="GB")
    blocks(p, "bar", "panel", line="line", part="free")
    blocks(p, "weights", "weights")
    blocks(p, "too_heavy", "misfit", hatch="misfit", line="misfit")
    blocks(p, "overhead", "line", hatch="muted", line="line")
    blocks(p, "people_pale", "memory_pale", part="waiting")
    blocks(p, "people", "memory")
    blocks(p, "outside", "misfit", hatch="misfit", line="misfit")
    lines(p, "capacity", "ink")
    labels(p, "names", "weights", bold=True)
    labels(p, "overhead_name", "muted", align="right", size=12)
    labels(p, "line_name", "ink", size=12)
    labels(p, "numbers", "paper", align="center", bold=True, size=12)
    labels(p, "more", "misfit", align="right", bold=True)
    return [p]


FIGURE = Figure(
    id="kv-memory", title="Who fits on the card?", settings=Settings, compute=compute, draw=draw, main="users",
    controls=(Control("users", "people"), Control("context", "tokens", positions=CONTEXTS), *CHOSEN_MACHINE),
    explain="""
<p>Every token that a conversation holds keeps two vectors, K and V, in each layer:</p>
<p class="formula">2 × <span class="number" data-say="layers"></span> layers × <span class="number" data-say="kv_heads"></span> KV heads ×
<span class="number" data-say="head_size"></span> values × <span class="number" data-say="bits"></span> bits ÷ 8 =
<span class="number" data-say="kv_bytes_per_token"></span> bytes a token</p>
<p class="formula"><span class="number" data-say="capacity"></span> × <span class="number" data-say="utilization"></span> −
<span class="number" data-say="weights"></span> of weights − <span class="number" data-say="overhead"></span> of overhead =
<span class="number" data-say="budget"></span>, which is <span class="number" data-say="budget_tokens"></span> tokens</p>
<p>One conversation of <span class="number" data-say="context"></span> tokens takes <span class="number" data-say="each"></span>, so
<span class="number" data-say="users_fit"></span> fit. The overhead is what a 24 GB card showed beside weights and KV cache.</p>""")
