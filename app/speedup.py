"""The lower picture of speculative: speed-up against users, the line at 1, where it is crossed and where the memory ends."""
from __future__ import annotations

import numpy as np

from model.machine import Machine
from widgets.plots import blocks, curve, dots, labels, lines, plot, ticks
from widgets.timeline import steps

from .guessing import MOST, USERS, Run
from .measured import speedups
from .words import digits, people, whole

TICKS = (1, 2, 4, 8, 16, 32, 64, 128, 256)


def against_users(m: Machine, users: int, run: Run) -> dict:
    """Sources of the plot for a Run with so many `users`: where guessing is faster, where slower, the line between them and where it is crossed."""
    gain = run.all.speedup[1:]
    slow = gain < 1
    joined = slow | np.concatenate((slow[1:], [False])) | np.concatenate(([False], slow[:-1]))
    (seen, times), at = speedups(m), crossings(gain)
    high = _high(gain, times)
    crossed = [float(u) for u in at]
    late = bool(crossed) and crossed[-1] > 16
    named = [(crossed[-1], f"{'slower' if slow[at[-1] - 1] else 'faster'} from {whole(at[-1])} on")] if crossed else []
    return {"faster": dict(x=USERS, y=np.where(slow, np.nan, gain)), "slower": dict(x=USERS, y=np.where(joined, gain, np.nan)),
            "even": dict(x=[1, MOST], y=[1.0, 1.0]),
            **_even_name(gain, _top(high)),
            "crossing": dict(x0=crossed, x1=crossed, y0=[0.0 for _ in crossed], y1=[1.0 for _ in crossed]),
            "crossing_dot": dict(x=crossed, y=[1.0 for _ in crossed]),
            "crossing_left": _named([(x / 1.08, text) for x, text in named if late], 0.09 * _top(high)),
            "crossing_right": _named([(x * 1.08, text) for x, text in named if not late], 0.09 * _top(high)),
            **_full(run.all.users_fit, _top(high), bool(len(seen)), crossed[-1] if late else 0.0),
            "here": dict(x=[users], y=[run.speedup]), "seen": dict(x=seen, y=times),
            "seen_name": dict(x=[MOST] * bool(len(seen)), y=[_top(high)] * bool(len(seen)),
                              text=["○ measured: EAGLE-3, three guesses"] * bool(len(seen))),
            "here_name": dict(x=[1.06], y=[_top(high) * 1.16],
                              text=[f"speed-up with {people(users)}: {digits(run.speedup)}"])}


def _full(fit: int, top: float, crowded: bool, crossed: float) -> dict:
    """Where the card's memory ends: past the line nobody more fits beside the draft, so nobody gets these speed-ups.
    `crowded`: the name of the measured dots already stands where the words would. `crossed`: the number of users to the left
    of which the crossing's words stand, so that the line must not go through them; 0 if they stand elsewhere."""
    edge, shown = max(fit + 0.5, 0.9), int(fit < MOST)
    text = f"{whole(fit) if fit else 'nobody'} fit{'s' if fit < 2 else ''} in memory"
    foot = 0.18 * top if edge < crossed else 0.0
    before = edge > 16 and not crowded  # there is room for the words on this side of the line
    name = dict(x=[edge / 1.06 if before else MOST] * shown, y=[(0.84 if crowded else 1.0) * top] * shown, text=[text] * shown)
    return {"full": dict(left=[edge] * shown, right=[MOST * 1.1] * shown, bottom=[0.0] * shown, top=[top * 1.08] * shown),
            "edge": dict(x0=[edge] * shown, x1=[edge] * shown, y0=[foot] * shown, y1=[top * 1.08] * shown), "full_name": name}


def _high(gain: np.ndarray, times: np.ndarray) -> float:
    """The highest of the curve and of what was measured."""
    return float(max(gain.max(), times.max(initial=0.0)))


def _even_name(gain: np.ndarray, top: float) -> dict:
    """The name of the line at 1, where the curve leaves it room: at its left or right end, over the line or under it."""
    ends = (("even_left", gain[:16], 1.06), ("even_right", gain[16:], MOST))
    free = [(name, x, 1 - 0.09 * top if 1 <= part.min() < 1 + 0.2 * top else 1 + 0.09 * top) for name, part, x in ends
            if part.min() >= 1 or part.max() < 1][:1]
    return {name: dict(x=[x for n, x, _ in free if n == name], y=[y for n, _, y in free if n == name],
                       text=["as fast as without" for n, _, _ in free if n == name]) for name, _, _ in ends}


def _named(words: list[tuple[float, str]], y: float) -> dict:
    return dict(x=[x for x, _ in words], y=[y for _ in words], text=[text for _, text in words])


def crossings(gain: np.ndarray) -> list[int]:
    """Numbers of users from 2 on at which guessing becomes slower, or faster again as it can with a mixture of experts."""
    slow = gain < 1
    return [int(i) + 2 for i in np.flatnonzero(slow[1:] != slow[:-1])]


def _top(high: float) -> float:
    """Where the curve's axis ends, without the room for the figure's name: the line at 1 is always well inside, and between
    curve and end there is room for words."""
    return max(1.5, 0.5 * np.ceil(high * 2 / 0.9))


def axes(m: Machine, run: Run) -> dict:
    """Props of both axes: times as fast from 0 to a round number above all that is drawn, users by doubling."""
    top = _top(_high(run.all.speedup[1:], speedups(m)[1]))
    values = steps(top, 4)
    return {"gain.y.start": top * -0.03, "gain.y.end": top * 1.3, **ticks("gain.axis", TICKS),
            **ticks("gain.y_axis", values, [f"{v:g}" for v in values])}


def draw_gain():
    """The plot, on a logarithmic axis of users."""
    p = plot("gain", 206, (0.88, MOST * 1.1), (0, 3), axis=True, axis_label="people at once", log=True, y_axis=True,
             y_axis_label="times as fast", right=16)
    blocks(p, "full", "line", hatch="line")
    lines(p, "edge", "muted", dash="dotted", part="full")
    curve(p, "even", "muted", dash="dashed", width=1.5)
    curve(p, "faster", "memory", width=2.5, part="gain")
    curve(p, "slower", "misfit", width=2.5, part="loss")
    lines(p, "crossing", "misfit", dash="dotted")
    dots(p, "crossing_dot", "misfit", hollow=True, part="crossing")
    dots(p, "seen", "ink", size=7, hollow=True, part="measured")
    dots(p, "here", "ink", part="speedup")
    labels(p, "full_name", "ink", size=12, align="right", part="full")
    labels(p, "even_left", "muted", size=12, part="even")
    labels(p, "even_right", "muted", size=12, align="right", part="even")
    labels(p, "crossing_left", "misfit", size=12, align="right", part="crossing")
    labels(p, "crossing_right", "misfit", size=12, part="crossing")
    labels(p, "here_name", "ink", bold=True, part="speedup")
    labels(p, "seen_name", "ink", size=12, align="right", part="measured")
    return p
