"""scoreboard: back to the guess. A bar guessed and a bar got for each person, and both speeds against the number of people."""
from __future__ import annotations

import numpy as np
import param

import model
from widgets.curves import so_far
from widgets.picture import Picture
from widgets.plots import blocks, curve, dots, labels, lines, plot, ticks
from widgets.timeline import beside, steps

from .figure import Control, Figure
from .fitting import too_long
from .machine import CONTEXTS, MACHINE_CONTROLS, MachineSettings
from .measured import columns, engines_of, printed, speeds, whose
from .words import count, digits, ms, people, sentence, tokens, whole

MOST = 64               # people that the curves go to
SEATS = 10              # seats that the bars keep free at least: one person's two bars are not a wall
USERS = (*range(1, 17), 20, 24, 28, 32, 40, 48, 56, 64)
GUESSES = (0.5, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100, 150, 200, 300, 500, 1000)
HEAD = 1.5              # room above bars and curves for their words, as a multiple of the highest
ROWS = (1.39, 1.19)     # where those words stand, in the same measure
FOOT = -0.06            # below 0 there is room for half a dot
WIDE = 30               # people: what the words of what fits take of the axis on a phone
LEVELS = (0.08, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95)  # where they may stand, in the same measure
SEEN = 0.15             # where the name of the measured dots stands, in the same measure


class Settings(MachineSettings):
    """How many ask at once, and what the reader expects."""

    guess = param.Number(6.0, bounds=(0.5, 1000.0), label="Your guess", doc="tokens a second that each person will get")
    users = param.Integer(10, bounds=(1, MOST), label="Users", doc="people who are answered at once")
    context = param.Integer(2048, bounds=(512, 131072), label="Context length", doc="tokens that each conversation holds")


class Answer:
    """The model's numbers for these settings, all in tokens a second: one alone, and each and all with 1 to 64 people; and
    what was measured."""

    def __init__(self, s: Settings):
        m = s.machine()
        at_once = model.pass_cost(m, users=np.arange(1, MOST + 1), context=s.context)
        self.each, self.together, self.pass_ms = at_once.tokens_per_s_each, at_once.tokens_per_s, at_once.pass_ms
        self.by_arithmetic = at_once.bound_by == "arithmetic"
        self.cost = model.pass_cost(m, users=s.users, context=s.context)
        self.alone = model.pass_cost(m, users=1, context=0)
        self.naive = self.alone.tokens_per_s / np.arange(1, MOST + 1)
        self.fit = model.kv_memory(m, users=s.users, context=s.context).users_fit
        self.times = self.cost.tokens_per_s / self.alone.tokens_per_s
        self.seen = [one for one in speeds(m, s.context) if one.users <= MOST]
        self.numbers = whose(m, "decode", self.cost.tokens_per_s_each, speed, "a person’s speed",
                             model.pass_cost(printed(m), users=s.users, context=s.context).tokens_per_s_each)


def compute(s: Settings) -> Picture:
    """Bars and curves for these settings; frame 0 asks, with only the guess there, and in frame f f people have joined."""
    a = Answer(s)
    said = _answer(s, a)
    joined = np.arange(s.users + 1)
    top, seats = max(a.alone.tokens_per_s, a.each.max(), s.guess), max(s.users, SEATS)
    seen = {"one": columns(a.seen, each=True), "all": columns(a.seen, each=False)}
    high = {"one": float(max(a.alone.tokens_per_s, a.each.max(), seen["one"]["y"].max(initial=0.0))),
            "all": float(max(a.together.max(), a.alone.tokens_per_s, seen["all"]["y"].max(initial=0.0)))}
    return Picture(
        sources={**_seats(s, top), **_curves(a, high), **_full(a, high), **_seen(seen, high)},
        frames={**_bars(s, a, joined), **_lines(s, a, joined), **_words(s, a, joined), **_seen_words(a, seen, joined),
                "say.sentence": [_question(s), *(" ".join(filter(None, (_moment(s, a, int(f)), said))) for f in joined[1:])]},
        clock_ms=joined * 1000.0, frame_names=["the guess", *(people(int(f)) for f in joined[1:])], telling=s.users,
        play_s=min(9.0, 2.0 + 0.45 * s.users),
        props={"board.x.end": seats + 0.5, "board.y.end": top * HEAD,
               "one.y.start": high["one"] * FOOT, "one.y.end": high["one"] * HEAD,
               "all.y.start": high["all"] * FOOT,
               "all.y.end": high["all"] * HEAD,
               **ticks("board.axis", _people_ticks(seats)), **ticks("all.axis", _people_ticks(MOST)),
               **_speed_ticks("board", top), **_speed_ticks("one", high["one"]), **_speed_ticks("all", high["all"])},
        facts=_facts(s, a),
        table=(["people", "each (tokens/s)", "together (tokens/s)", "naive guess (tokens/s each)", "pass (ms)",
                "fits in memory"],
               [[i + 1, float(a.each[i]), float(a.together[i]), float(a.naive[i]), float(a.pass_ms[i]),
                 "yes" if i < a.fit else "no"] for i in range(MOST)]))


def _seats(s: Settings, top: float) -> dict:
    """Each person's place on the axis: the guess on its left, the answer on its right."""
    seat, n = np.arange(1, s.users + 1), s.users
    right = dict(left=seat + 0.02, right=seat + 0.4, bottom=np.zeros(n))
    return {"guesses": dict(left=seat - 0.4, right=seat - 0.02, bottom=np.zeros(n), top=np.full(n, s.guess)),
            "answers": right, "answers_arithmetic": right, "misfits": right,
            "guess_name": dict(x=[0.55], y=[ROWS[0] * top], text=[f"guessed: {guessed(s)} tokens/s each"]),
            "board_name": dict(x=[0.55], y=[ROWS[1] * top])}


def _bars(s: Settings, a: Answer, joined: np.ndarray) -> dict:
    """Heights of the answers: everybody who has joined gets the same, as many as have joined."""
    seat = np.arange(s.users)
    speed = np.concatenate(([0.0], a.each[:s.users]))[:, None]
    arithmetic = np.concatenate(([False], a.by_arithmetic[:s.users]))[:, None]
    there, fits = seat < joined[:, None], seat < a.fit
    return {"answers.top": np.where(there & fits & ~arithmetic, speed, 0.0),
            "answers_arithmetic.top": np.where(there & fits & arithmetic, speed, 0.0),
            "misfits.top": np.where(there & ~fits, speed, np.nan)}  # a bar without height would still have its outline


def _curves(a: Answer, high: dict) -> dict:
    x = np.arange(1, MOST + 1)
    return {"one_ahead": dict(x=x), "all_ahead": dict(x=x), "one_line": dict(x=x),
            "all_line": dict(x=x), "naive": dict(x=x, y=a.naive),
            "naive_all": dict(x=[0.5, MOST + 0.5], y=[a.alone.tokens_per_s] * 2),
            **{f"{name}_name": dict(x=[1.0], y=[ROWS[0] * value]) for name, value in high.items()},
            **{f"{name}_naive_name": dict(x=[1.0], y=[ROWS[1] * value]) for name, value in high.items()}}


def _full(a: Answer, high: dict) -> dict:
    """Where the card's memory ends: past the line nobody more fits, and the speeds are only what they would be."""
    edge, shown = min(a.fit, MOST) + 0.5, int(a.fit < MOST)
    out = {}
    for name, value in high.items():
        out[f"{name}_full"] = dict(left=[edge] * shown, right=[MOST + 0.5] * shown, bottom=[0.0] * shown,
                                   top=[value * 1.08] * shown)
        out[f"{name}_edge"] = dict(x0=[edge] * shown, x1=[edge] * shown, y0=[0.0] * shown, y1=[value * 1.08] * shown)
    words = f"{whole(a.fit) if a.fit else 'nobody'} fit{'s' if a.fit < 2 else ''} in memory"
    right = edge - 0.6 <= MOST / 2  # of the line
    x = np.array([edge + 0.6 if right else edge - 0.6] * shown)
    level = _free(a, high["all"], edge, edge + WIDE if right else edge - WIDE)
    return {**out, **beside(x, np.full(shown, level * high["all"]), [words] * shown, MOST, "fit_name")}


def _free(a: Answer, high: float, start: float, end: float) -> float:
    """The level, as a share of `high`, at which words between these numbers of people are farthest from both curves."""
    first, last = sorted((start, end))
    here = slice(max(0, int(first) - 1), max(1, int(last)))
    curve, alone = a.together[here] / high, a.alone.tokens_per_s / high
    return max(LEVELS, key=lambda level: min(np.abs(curve - level).min(), abs(alone - level)))


def _seen(seen: dict, high: dict) -> dict:
    """Where the measured dots and their name stand."""
    return {**{f"{name}_seen": dict(x=points["x"]) for name, points in seen.items()},
            "seen_name": dict(x=[float(MOST)], y=[SEEN * high["one"]])}


def _seen_words(a: Answer, seen: dict, joined: np.ndarray) -> dict:
    """The measured dots and their name, once somebody has joined: the question does not give the answer away."""
    words = f"○ measured, {engines_of(a.seen)}" if a.seen else ""
    return {**{f"{name}_seen.y": np.where(joined[:, None] > 0, points["y"], np.nan) for name, points in seen.items()},
            "seen_name.text": [[words if f else ""] for f in joined]}


def _lines(s: Settings, a: Answer, joined: np.ndarray) -> dict:
    """The curves as far as people have joined, and a dot at the end of each."""
    here = np.where(joined > 0, joined, np.nan)[:, None]
    each, together, naive = (np.concatenate(([np.nan], v[:s.users]))[:, None] for v in (a.each, a.together, a.naive))
    alone = np.where(joined > 0, a.alone.tokens_per_s, np.nan)[:, None]
    asked = np.where(joined > 0, MOST, 0)  # the first frame is the question: it does not give the answer away
    return {"one_ahead.y": so_far(a.each, asked), "all_ahead.y": so_far(a.together, asked),
            "one_line.y": so_far(a.each, joined), "all_line.y": so_far(a.together, joined),
            "one_dot.x": here, "one_dot.y": each, "all_dot.x": here, "all_dot.y": together,
            "naive_dot.x": here, "naive_dot.y": naive, "naive_all_dot.x": here, "naive_all_dot.y": alone}


def _words(s: Settings, a: Answer, joined: np.ndarray) -> dict:
    """What stands above bars and curves."""
    alone = speed(a.alone.tokens_per_s)
    return {
        "board_name.text": [[f"got: {speed(a.each[f - 1])} tokens/s each" if f else ""] for f in joined],
        "one_name.text": [[f"each: {speed(a.each[f - 1])} tokens/s" if f else "each, tokens/s"] for f in joined],
        "one_naive_name.text": [[f"dashed: shared out, {alone} ÷ {f} = {speed(a.naive[f - 1])}" if f else ""] for f in joined],
        "all_name.text": [[f"together: {speed(a.together[f - 1])} tokens/s" if f else "together, tokens/s"] for f in joined],
        "all_naive_name.text": [[f"dashed: shared out, {alone} in all" if f else ""] for f in joined]}


def _people_ticks(seats: int) -> list[int]:
    return list(range(1, seats + 1)) if seats <= 12 else [1, *range(10, seats + 1, 10)]


def _speed_ticks(plot_name: str, limit: float) -> dict:
    values = steps(limit, 4)
    return ticks(f"{plot_name}.y_axis", values, [f"{v / 1000:g}k" if limit >= 10_000 and v else f"{v:,g}" for v in values])


def _question(s: Settings) -> str:
    return f"The guess for {people(s.users)} at {tokens(s.context)}: {guessed(s)} tokens a second each. What do they get?"


def _moment(s: Settings, a: Answer, f: int) -> str:
    if f == s.users:
        return ""
    return (f"{sentence(people(f))} of {whole(s.users)} {'is' if f == 1 else 'are'} in: "
            f"{speed(a.each[f - 1])} each, {speed(a.together[f - 1])} together.")


def _answer(s: Settings, a: Answer) -> str:
    alone, naive = speed(a.alone.tokens_per_s), speed(a.naive[s.users - 1])
    if s.users == 1:
        said = (f"One person at {tokens(s.context)} gets {speed(a.cost.tokens_per_s_each)} tokens a second; "
                f"at the start of a conversation it is {alone}.")
    else:
        said = (f"{sentence(people(s.users))} at {tokens(s.context)} get {speed(a.cost.tokens_per_s_each)} tokens a second "
                f"each, not {naive}: {speed(a.cost.tokens_per_s)} together, {times(a.times)} times the {alone} of one alone.")
    bound = " Arithmetic limits it here, not memory." if a.cost.bound_by == "arithmetic" else ""
    return f"{said}{bound} {_judged(s, a)}{_room(s, a)}{too_long(s.machine(), s.context)}{a.numbers}"


def speed(value: float) -> str:
    """Tokens a second: `6`, `6.3`, `53.8`, `538`."""
    return f"{value:.1f}".removesuffix(".0") if 1 <= value < 10 else digits(value)


def guessed(s: Settings) -> str:
    """The reader's guess as it was given: `6`, `0.5`, `60`."""
    return f"{s.guess:,g}"


def times(value: float) -> str:
    """`8.6`, `0.98`, `24`: a ratio, in two digits or so."""
    return f"{value:.1f}" if 1 <= value < 20 else digits(value) if value < 1 else whole(value)


def _judged(s: Settings, a: Answer) -> str:
    ratio = a.cost.tokens_per_s_each / s.guess
    if 0.9 <= ratio <= 1.1:
        return f"The guess of {guessed(s)} was close."
    if ratio > 1:
        return f"{'That' if s.users == 1 else 'Each speed'} is {times(ratio)} times the guess of {guessed(s)}."
    return f"The guess of {guessed(s)} was {times(1 / ratio)} times too high."


def _room(s: Settings, a: Answer) -> str:
    """Whether the card's memory holds all of them: speed is one thing, room another."""
    if s.users <= a.fit:
        return ""
    if a.fit == 0:
        return " But nobody fits in this card's memory: these speeds are what they would be."
    return f" But only {count(a.fit)} of them fit{'s' if a.fit == 1 else ''} in the card's memory at once."


def _facts(s: Settings, a: Answer) -> dict:
    return dict(
        users=whole(s.users), context=whole(s.context), guess=guessed(s), each=speed(a.cost.tokens_per_s_each),
        together=speed(a.cost.tokens_per_s), alone=speed(a.alone.tokens_per_s), naive=speed(a.naive[s.users - 1]),
        times=times(a.times), fit=whole(a.fit), pass_ms=ms(a.cost.pass_ms), alone_ms=ms(a.alone.pass_ms),
        bound_by=str(a.cost.bound_by), gigabytes=digits(a.cost.bytes / 1e9), most=whole(MOST),
        each_most=speed(a.each[-1]), together_most=speed(a.together[-1]))


def draw() -> list:
    """Two bars a person; under them one's speed and everybody's against the number of people."""
    board = plot("board", 196, (0.5, 10.5), (0, 90), axis=True, axis_label="person", y_axis=True, y_axis_label="tokens/s")
    blocks(board, "guesses", "muted", alpha=0.5, part="guess")
    blocks(board, "answers", "memory", part="answer")
    blocks(board, "answers_arithmetic", "arithmetic", part="answer")
    blocks(board, "misfits", "misfit", hatch="misfit", line="misfit")
    labels(board, "guess_name", "muted", part="guess")
    labels(board, "board_name", "ink", bold=True, part="answer")
    one = _chart("one", 128, "naive", axis=False)
    labels(one, "seen_name", "ink", align="right", size=12, part="measured")
    together = _chart("all", 172, "naive_all", axis=True)
    labels(together, "fit_name_left", "ink", align="right", size=12, part="full")
    labels(together, "fit_name_right", "ink", size=12, part="full")
    return [board, one, together]


def _chart(name: str, height: int, naive: str, *, axis: bool):
    """A speed against people: its curve, the naive one, a dot on each, and where the memory ends."""
    p = plot(name, height, (0.5, MOST + 0.5), (0, 90), axis=axis, axis_label="people at once" if axis else "", y_axis=True,
             y_axis_label="tokens/s")
    blocks(p, f"{name}_full", "line", hatch="line", part="full")
    lines(p, f"{name}_edge", "muted", dash="dotted", part="full")
    curve(p, naive, "muted", dash="dashed", width=1.5, part="naive")
    curve(p, f"{name}_ahead", "memory_pale", part=name)
    curve(p, f"{name}_line", "memory", width=2.5, part=name)
    dots(p, f"{naive}_dot", "muted", part="naive")
    dots(p, f"{name}_seen", "ink", size=7, hollow=True, part="measured")
    dots(p, f"{name}_dot", "memory", part=name)
    labels(p, f"{name}_name", "memory", bold=True, part=name)
    labels(p, f"{name}_naive_name", "muted", size=12, part="naive")
    return p


FIGURE = Figure(
    id="scoreboard", title="All press send: how fast is each answered?", settings=Settings, compute=compute, draw=draw,
    main="users",
    controls=(Control("guess", "tokens/s each", positions=GUESSES), Control("users", "people", positions=USERS),
              Control("context", "tokens", positions=CONTEXTS), *MACHINE_CONTROLS),
    explain="""
<p>Everybody who is in gets one token from every pass, so a person's speed is one over the time of a pass, and all
speeds together are that many times as much:</p>
<p class="formula">1 ÷ <span class="number" data-say="pass_ms"></span> = <span class="number" data-say="each"></span> tokens/s each;
× <span class="number" data-say="users"></span> = <span class="number" data-say="together"></span> tokens/s together</p>
<p>The pass reads the weights once and every KV cache: <span class="number" data-say="gigabytes"></span> GB. It is bound by
<span class="number" data-say="bound_by"></span>. One person alone, at the start of a conversation, waits
<span class="number" data-say="alone_ms"></span> a token, <span class="number" data-say="alone"></span> tokens/s; shared out among
<span class="number" data-say="users"></span> that would be <span class="number" data-say="naive"></span>. The card's memory holds
<span class="number" data-say="fit"></span> conversations of <span class="number" data-say="context"></span> tokens.</p>""")
