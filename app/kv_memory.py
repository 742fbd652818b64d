"""kv-memory: everybody shares the weights, nobody shares a KV cache. One bar, the card, to scale."""
from __future__ import annotations

import numpy as np
import param

import model
from model.engines import visible_bytes
from model.machine import DATASHEET
from widgets.picture import Picture
from widgets.plots import blocks, labels, lines, plot, ticks
from widgets.timeline import beside

from .figure import Control, Figure
from .machine import CHOSEN_MACHINE, CONTEXTS, MachineSettings
from .measured import whose
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
    card = _card_bytes(m) / 1e9
    scale = FRAME * card
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
    answer = _answer(s, memory, fit, misfit) + whose(m, "kv_tokens", max(0, memory.budget_tokens), tokens, "what is left")
    return Picture(
        sources={
            "bar": dict(left=[0.0], right=[card], bottom=[BOTTOM], top=[TOP]),
            "weights": _block(0, min(weights, line)),
            "too_heavy": _block(line, min(weights, scale)) if weights > line else _block(),
            "overhead": _block(min(weights, scale), min(start, scale)),
            "people_pale": dict(inside, bottom=np.zeros(fit), top=np.ones(fit)),
            "people": dict(left=inside["left"], bottom=np.zeros(fit), top=np.ones(fit)),
            "outside": dict(left=outside["left"], bottom=np.zeros(len(outside["left"])), top=np.ones(len(outside["left"]))),
            "capacity": dict(x0=[line], x1=[line], y0=[-0.18], y1=[1.3]),
            "names": dict(x=[0.0], y=[1.2], text=[f"weights {gb(memory.weights_bytes)}"], room=[line]),
            **_overhead_name(memory, start, line, scale),
            "line_name": dict(x=[line * 1.008], y=[1.2], text=[f"{gb(memory.usable_bytes)} usable"], room=[scale - line]),
            "numbers": _numbers(inside, fit),
            "card_end": dict(x0=[card], x1=[card], y0=[-0.18], y1=[1.06]),
            "card_name": dict(x=[card * 1.008], y=[-0.17], text=[f"card: {gb(card * 1e9)}"], room=[scale - card]),
            "more": dict(x=[line * 1.008], y=[1.58], room=[scale - line]),
            "cut": dict(x=[scale * 0.995], y=[1.2], room=[(scale - line) / 2]),
        },
        frames={
            "people.right": np.where(arrived, inside["right"], inside["left"]),
            "outside.right": np.where(waiting, outside["right"], np.nan),  # a block without width would still have its outline
            "more.text": [[_more(int(there) - fit)] for there in steps],
            "cut.text": [[_cut(int(there) - fit, len(outside["left"]), weights > scale)] for there in steps],
            "say.sentence": [f"{_moment(step, s.users)}{answer}" for step in steps],
        },
        clock_ms=steps * 1000.0,
        frame_names=[f"{whole(n)} of {whole(s.users)} {'person' if s.users == 1 else 'people'}" for n in steps],
        telling=s.users, play_s=min(6.0, 1.0 + 0.45 * s.users),
        props={"bar.x.end": scale, **ticks("bar.axis", _tick_values(card))},
        facts=dict(
            users=whole(s.users), context=whole(s.context), weights=gb(memory.weights_bytes), each=gb(memory.kv_bytes_each),
            kv_bytes_per_token=whole(memory.kv_bytes_per_token), wanted=gb(s.users * memory.kv_bytes_each),
            budget=gb(memory.budget_bytes) if memory.budget_bytes > 0 else "nothing",
            budget_tokens=whole(memory.budget_tokens), fit=count(fit), misfit=count(misfit), users_fit=whole(memory.users_fit),
            utilization=percent(line / card), kept=_kept(m), window=_window(m.llm), sold=_sold(m),
            kib_per_token=digits(memory.kv_bytes_per_token / 1024), each_gib=digits(memory.kv_bytes_each / 2**30),
            **{f"{name}_exact": f"{value / 1e9:,.2f}".replace("-", "−") for name, value in (
                ("capacity", card * 1e9), ("usable", memory.usable_bytes), ("weights", memory.weights_bytes),
                ("overhead", memory.overhead_bytes), ("rest", memory.budget_bytes))}),
        table=(["person", "KV cache (bytes)", "fits"],
               [[i + 1, memory.kv_bytes_each, "yes" if i < fit else "no"] for i in range(s.users)]))


def _card_bytes(m: model.Machine) -> float:
    """The card's memory: as it is sold on the datasheet; for a server what it sees, where that is more (GB are GiB)."""
    return m.gpu.memory_bytes if m.engine == DATASHEET else max(m.gpu.memory_bytes, visible_bytes(m.gpu))


def _sold(m: model.Machine) -> str:
    """Why a server's card is larger than the datasheet's, "" on the datasheet."""
    if m.engine == DATASHEET or _card_bytes(m) <= m.gpu.memory_bytes:
        return ""
    return (f"The card is sold with {gb(m.gpu.memory_bytes)}, in units of 2³⁰ bytes. A server sees {gb(_card_bytes(m))}, in "
            "units of 10⁹.")


def _kept(m: model.Machine) -> str:
    """What one token keeps in the KV cache, as a product: the left side of bytes a token."""
    llm, bits = m.llm, f"{m.kv.bits:g} bits ÷ 8"
    if llm.latent:
        values, scales = f"{whole(llm.latent)} shared values", m.kv.scale_bytes
    else:
        values, scales = f"2 × {whole(llm.kv_heads)} KV heads × {whole(llm.head_size)} values", 2 * llm.kv_heads * m.kv.scale_bytes
    each = f"({values} × {bits} + {whole(scales)} of scales)" if scales else f"{values} × {bits}"
    return f"{whole(llm.layers)} layers × {each}"


def _window(llm) -> str:
    """What a model with sliding windows keeps less, "" for others."""
    if not llm.window_layers:
        return ""
    return f"({whole(llm.window_layers)} of its {whole(llm.layers)} layers keep the last {tokens(llm.window)} only)"


def _row(start: float, each: float, n: int) -> dict:
    """n blocks of equal length side by side, a hair apart."""
    left = start + each * np.arange(n)
    return dict(left=left, right=left + each * 0.94)


def _overhead_name(memory: model.Memory, start: float, line: float, scale: float) -> dict:
    """The overhead's name. A third of the frame holds it on a phone: it ends at the overhead's edge, or begins there where
    there is less on the left. Where the overhead lies past the line, the words about who does not fit stand in its place."""
    here = int(start <= line)
    names = beside([start] * here, [1.58] * here, [f"overhead {gb(memory.overhead_bytes)}"] * here, scale * 0.66, "overhead_name")
    return {name: {**words, "room": [start if name.endswith("left") else line - start] * len(words["x"])}
            for name, words in names.items()}


def _block(left: float | None = None, right: float | None = None) -> dict:
    there = left is not None and right > left
    return dict(left=[left] if there else [], right=[right] if there else [], bottom=[BOTTOM] * there, top=[TOP] * there)


def _numbers(inside: dict, fit: int) -> dict:
    """A number on each block, where there is room for the longest of them on all."""
    text = [str(i + 1) for i in range(fit)]
    share = 0.85 * np.array([len(number) for number in text]) / len(str(fit))  # digits are equally wide
    return dict(x=(inside["left"] + inside["right"]) / 2, y=np.full(fit, 0.5), text=text,
                room=share * (inside["right"] - inside["left"]))


def _more(misfit: int) -> str:
    """The words over the blocks past the line."""
    return f"{count(misfit)} {'does' if misfit == 1 else 'do'} not fit" if misfit > 0 else ""


def _cut(misfit: int, drawn: int, heavy: bool) -> str:
    """What the picture has no room for: the end of the weights, or people past the line, of whom `drawn` are drawn."""
    if heavy:
        return "weights cut off here"
    return f"{count(misfit - drawn)} not drawn" if 0 < drawn < misfit else ""


def _tick_values(capacity_gb: float) -> list[float]:
    step = next(s for s in (2, 4, 8, 16, 32, 64, 128, 256) if capacity_gb / s <= 7)
    return list(np.arange(0, capacity_gb * FRAME, step))


def _moment(step: int, users: int) -> str:
    """Who has arrived, with a space behind it; "" when all have."""
    if step == users:
        return ""
    if step == 0:
        return "Nobody is here yet. "
    return f"{sentence(count(step))} of {people(users)} {'is' if step == 1 else 'are'} here. "


def _answer(s: Settings, memory: model.Memory, fit: int, misfit: int) -> str:
    """What they want, what is left, who fits."""
    one = s.users == 1
    each = "" if one else f" {gb(memory.kv_bytes_each)} each,"
    wanted = (f"{sentence(people(s.users))} at {tokens(s.context)} want{'s' if one else ''} {gb(s.users * memory.kv_bytes_each)} "
              f"of KV cache,{each} {whole(memory.kv_bytes_per_token)} bytes a token {_window(s.machine().llm)}").rstrip() + "."
    if memory.budget_bytes <= 0:
        return f"{wanted} The weights and the overhead alone are larger than what the card may use: nobody fits."
    card = _card_bytes(s.machine())
    left = (f"The server may use {percent(memory.usable_bytes / card)} of the card’s {gb(card)}; beside weights and overhead "
            f"{gb(memory.budget_bytes)} are left, {tokens(memory.budget_tokens)}.")
    return f"{wanted} {left} {_who(s.users, fit, misfit, memory.users_fit)}"


def _who(users: int, fit: int, misfit: int, room: int) -> str:
    """Who fits, where there is room for `room` people."""
    if not fit:
        return "That one does not fit." if users == 1 else f"Not one of the {count(users)} fits."
    if misfit:
        return f"{sentence(count(fit))} fit{'s' if fit == 1 else ''}, {count(misfit)} {'does' if misfit == 1 else 'do'} not."
    those = {1: "That one fits", 2: "Both fit"}.get(users, f"All {count(users)} fit")
    return f"{those}, and nobody else would." if room == users else f"{those}; there is room for {count(room)}."


def draw() -> list:
    """One bar."""
    p = plot("bar", 182, (0, 38), (-0.32, 1.9), axis=True, axis_label="GB")
    blocks(p, "bar", "panel", line="line", part="free")
    blocks(p, "weights", "weights")
    blocks(p, "too_heavy", "misfit", hatch="misfit", line="misfit")
    blocks(p, "overhead", "line", hatch="muted", line="line")
    blocks(p, "people_pale", "memory_pale", part="waiting")
    blocks(p, "people", "memory")
    blocks(p, "outside", "misfit", hatch="misfit", line="misfit")
    lines(p, "card_end", "muted", part="card")
    lines(p, "capacity", "ink")
    labels(p, "names", "weights", bold=True)
    labels(p, "overhead_name_left", "muted", align="right", size=12, part="overhead")
    labels(p, "overhead_name_right", "muted", size=12, part="overhead")
    labels(p, "line_name", "ink", size=12, part="capacity")
    labels(p, "card_name", "muted", size=12, part="card")
    labels(p, "numbers", "paper", align="center", bold=True, size=12)
    labels(p, "more", "misfit", bold=True)
    labels(p, "cut", "misfit", align="right", size=12, part="more")
    return [p]


FIGURE = Figure(
    id="kv-memory", title="Who fits on the card?", settings=Settings, compute=compute, draw=draw, main="users",
    controls=(Control("users", "people"), Control("context", "tokens", positions=CONTEXTS), *CHOSEN_MACHINE),
    explain="""
<p>Every token that a conversation holds keeps its keys and values (K and V, so 2) in each layer; a model with latent
attention keeps fewer values, which serve for both:</p>
<p class="formula"><span class="number" data-say="kept"></span> =
<span class="number" data-say="kv_bytes_per_token"></span> bytes (<span class="number" data-say="kib_per_token"></span> KiB) a token</p>
<p class="formula"><span class="number" data-say="capacity_exact"></span> GB × <span class="number" data-say="utilization"></span> =
<span class="number" data-say="usable_exact"></span> GB usable</p>
<p class="formula"><span class="number" data-say="usable_exact"></span> − <span class="number" data-say="weights_exact"></span> of weights −
<span class="number" data-say="overhead_exact"></span> of overhead = <span class="number" data-say="rest_exact"></span> GB, which is
<span class="number" data-say="budget_tokens"></span> tokens</p>
<p data-say="sold"></p>
<p>One conversation of <span class="number" data-say="context"></span> tokens takes <span class="number" data-say="each"></span>
(<span class="number" data-say="each_gib"></span> GiB) <span data-say="window"></span>. As many fit as whole conversations go into the rest: <span class="number" data-say="users_fit"></span>.
The datasheet's overhead is what a 24 GB card showed beside weights and KV cache; a server has its own.</p>""")
