"""batching: a static batch waits for its longest reply, a continuous one refills a slot at the next step."""
from __future__ import annotations

import random

import numpy as np
import param

import model
from model.batching import Batch, Schedule, batch
from widgets.picture import Picture
from widgets.plots import blocks, labels, lines, plot, ticks
from widgets.timeline import beside, idle, rows, stack, steps, veil
from widgets.tokens import PEOPLE, letter_on

from .figure import Control, Figure
from .fitting import too_many
from .lengths import Lengths
from .machine import MACHINE_CONTROLS, MachineSettings
from .measured import printed, whose
from .words import count, letter, ms, percent, sentence, whole

CONTEXT = 2048                   # tokens that each of them holds, as in the essay's other sections
DRAWN = (2, 40)                  # shortest and longest reply that a seed draws, in steps
FRAMES = 180                     # at most
HEIGHT, TITLE, ROW, STACK = 318, 22, 28, 112   # px; the y axis counts pixels from the top
TOPS = (TITLE, HEIGHT / 2 + TITLE)             # where the static and the continuous stack begin


class Settings(MachineSettings):
    """Which replies are written in how many slots."""

    slots = param.Integer(4, bounds=(1, 10), label="Slots", doc="replies that are written at the same time")
    replies = Lengths("24,26,10,28,28,8,30,4,26,16", many=40, most=500, label="Replies",
                      doc="how many steps each reply takes, in the order in which they were asked for")
    seed = param.Integer(0, bounds=(0, 999), label="Seed",
                         doc="0 takes the replies as they are written; any other number draws as many at random")

    def lengths(self) -> tuple[int, ...]:
        """Steps that each reply takes."""
        written = self.param.replies.parse(self.replies)
        if not self.seed:
            return written
        luck = random.Random(self.seed)
        return tuple(luck.randint(*DRAWN) for _ in written)


def compute(s: Settings) -> Picture:
    """Both timelines; a frame is a step, or several where there are very many."""
    lengths = s.lengths()
    b = batch(s.slots, lengths)
    m = s.machine()
    step_ms = model.pass_cost(m, users=s.slots, context=CONTEXT).pass_ms
    span = max(b.static.steps, b.continuous.steps)
    at = np.unique(np.append(np.arange(0, span, -(-span // FRAMES)), span))
    pitch = min(ROW, STACK / s.slots)
    both = (b.static, b.continuous)
    replies = stack(*(rows(c.slot, c.start_step, c.end_step, top, pitch) for c, top in zip(both, TOPS)))
    hues = [PEOPLE[i % len(PEOPLE)] for i in range(len(lengths))] * 2
    names = _names(replies, len(lengths), hues)
    ends = np.array([c.steps for c in both])
    marks = [f"{_steps(n)}, {ms(n * step_ms)}" for n in ends]
    bottoms = np.array(TOPS) + pitch * s.slots
    return Picture(
        sources={
            "replies": dict(replies, color=hues),
            "idle": stack(*(rows(*idle(c.slot, c.start_step, c.end_step, s.slots, c.steps), top, pitch, gap=2)
                            for c, top in zip(both, TOPS))),
            "letters": names,
            "letters_ahead": dict(y=names["y"], text=names["text"], room=names["room"]),
            "veil": dict(right=ends, top=np.array(TOPS), bottom=bottoms),
            "titles": dict(x=[0.0, 0.0], y=[t - 11 for t in TOPS],
                           text=["Static: waits for the longest", "Continuous: refills at once"]),
            "end": dict(x0=ends, x1=ends, y0=np.array(TOPS) - 3, y1=bottoms + 5),
            **beside(ends, bottoms + 15, marks, span, "end_names"),
            "cursor": dict(y0=np.array(TOPS) - 3, y1=bottoms + 5),
        },
        frames={
            "veil.left": np.minimum(at[:, None], ends),
            "letters_ahead.x": np.where(at[:, None] < names["x"], names["x"], np.nan),
            "cursor.x0": np.tile(at[:, None], 2), "cursor.x1": np.tile(at[:, None], 2),
            "say.sentence": _sentences(at, b, _answer(s, m, b, step_ms)),
        },
        clock_ms=at * step_ms, frame_names=[f"step {whole(n)} of {whole(span)}" for n in at.tolist()],
        telling=len(at) - 1, play_s=float(np.clip(0.11 * span, 3, 10)),
        smooth=("veil.left", "cursor.x0", "cursor.x1"),
        props={"timelines.x.end": span, **ticks("timelines.axis", [value for value in steps(span) if value == int(value)])},
        facts=dict(
            slots=count(s.slots), replies=count(len(lengths)), lengths=", ".join(map(str, lengths)),
            lengths_sum=whole(sum(lengths)), static_steps=whole(b.static.steps), continuous_steps=whole(b.continuous.steps),
            static_idle=percent(b.static.idle_share), continuous_idle=percent(b.continuous.idle_share), step_ms=ms(step_ms),
            static_ms=ms(b.static.steps * step_ms), continuous_ms=ms(b.continuous.steps * step_ms), context=whole(CONTEXT)),
        table=(["reply", "length (steps)", "static slot", "static start (step)", "static end (step)",
                "continuous slot", "continuous start (step)", "continuous end (step)"],
               [[letter(i), n, *_place(b.static, i), *_place(b.continuous, i)] for i, n in enumerate(lengths)]))


def _names(replies: dict, n: int, hues: list[str]) -> dict:
    """A letter in the middle of each reply."""
    return dict(x=(replies["left"] + replies["right"]) / 2, y=(replies["top"] + replies["bottom"]) / 2,
                text=[letter(i) for i in range(n)] * 2, room=0.85 * (replies["right"] - replies["left"]),
                color=[letter_on(hue) for hue in hues])


def _place(schedule: Schedule, reply: int) -> list[int]:
    return [int(schedule.slot[reply]) + 1, int(schedule.start_step[reply]), int(schedule.end_step[reply])]


def _sentences(at: np.ndarray, b: Batch, answer: str) -> list[str]:
    """For each frame: how many replies are complete after that step, then the answer."""
    static, continuous = (np.searchsorted(np.sort(c.end_step), at, side="right").tolist() for c in (b.static, b.continuous))
    moments = [f"After step {whole(step)}: " + (f"{count(x)} complete in the static batch, {count(y)} in the continuous one."
                                               if x + y else "no reply is complete yet.")
               for step, x, y in zip(at[:-1].tolist(), static, continuous)]
    return [*(f"{moment} {answer}" for moment in moments), answer]


def _answer(s: Settings, m: model.Machine, b: Batch, step_ms: float) -> str:
    static, continuous = b.static.steps, b.continuous.steps
    what = f"{sentence(count(len(b.static.slot), 'reply', 'replies'))} in {count(s.slots, 'slot')}: "
    if static == continuous:
        took = f"{_steps(static)} either way, static and continuous."
        times = f" that is {ms(static * step_ms)}."
    else:
        took = (f"{whole(static)} steps if a batch waits for its longest reply, {whole(continuous)} if a free slot is "
                "refilled at the next step.")
        times = f" that is {ms(static * step_ms)} against {ms(continuous * step_ms)}."
    pace = f" At {ms(step_ms)} a step{times}"
    limit = model.pass_cost(printed(m), users=s.slots, context=CONTEXT).pass_ms
    numbers = whose(m, "itl", step_ms, ms, "a step", limit)
    drawn = f" Their lengths were drawn: {', '.join(map(str, s.lengths()))}." if s.seed else ""
    return f"{what}{took} {_idle(b)}{drawn}{pace}{too_many(m, s.slots, CONTEXT)}{numbers}"


def _steps(n: int) -> str:
    """`58 steps`, `1 step`."""
    return f"{whole(n)} step{'' if n == 1 else 's'}"


def _idle(b: Batch) -> str:
    shares = [percent(c.idle_share) for c in (b.static, b.continuous)]
    if shares[0] != shares[1]:
        return f"Slots are idle {shares[0]} and {shares[1]} of the time."
    return "No slot is ever idle." if shares[0] == "0%" else f"Slots are idle {shares[0]} of the time."


def draw() -> list:
    """Two stacks of slots on one axis."""
    p = plot("timelines", HEIGHT + 40, (0, 84), (HEIGHT, 0), axis=True, axis_label="steps")
    blocks(p, "idle", "line", hatch="line")
    blocks(p, "replies", "field:color", line="paper")
    labels(p, "letters", "field:color", align="center", bold=True, size=12, part="replies")
    veil(p)
    labels(p, "letters_ahead", "ink", align="center", bold=True, size=12, part="replies")
    lines(p, "end", "ink", width=2)
    lines(p, "cursor", "ink")
    labels(p, "titles", "ink")
    labels(p, "end_names_left", "ink", align="right", bold=True, part="end")
    labels(p, "end_names_right", "ink", bold=True, part="end")
    return [p]


FIGURE = Figure(
    id="batching", title="When is everybody served?", settings=Settings, compute=compute, draw=draw, main="slots",
    controls=(Control("slots", "slots"), Control("replies", "steps"), Control("seed"), *MACHINE_CONTROLS),
    explain="""
<p>A step is one pass: it writes one token in every slot that is filled. Replies are taken in the order in which they
were asked for (their lengths: <span class="number" data-say="lengths"></span>).</p>
<p class="formula">static = the longest of each batch of <span class="number" data-say="slots"></span>, added up =
<span class="number" data-say="static_steps"></span> steps</p>
<p class="formula">continuous = the step at which the last of <span class="number" data-say="replies"></span> replies is complete =
<span class="number" data-say="continuous_steps"></span> steps</p>
<p class="formula">idle = 1 − <span class="number" data-say="lengths_sum"></span> written ÷ (<span class="number" data-say="slots"></span> slots ×
steps) = <span class="number" data-say="static_idle"></span> and <span class="number" data-say="continuous_idle"></span></p>
<p>Every step is counted as a full one: a pass for <span class="number" data-say="slots"></span> people at
<span class="number" data-say="context"></span> tokens each takes <span class="number" data-say="step_ms"></span>. Refilling at the next step is
Orca's iteration-level scheduling (OSDI 2022).</p>""")
