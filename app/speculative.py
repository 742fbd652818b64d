"""speculative: a small model guesses, the big one checks. A lane of guesses, the passes it takes, and what it gains."""
from __future__ import annotations

import numpy as np
import param

import model
from model.speculation import MOST_USERS, Speculation
from widgets.picture import Picture
from widgets.plots import blocks, labels, lines, plot
from widgets.timeline import time_ticks, veil

from .figure import Control, Figure
from .fitting import too_long
from .guessing import MOST, ROUNDS, Clock, Run
from .machine import CONTEXTS, MACHINE_CONTROLS, MachineSettings, choices
from .measured import whose
from .speedup import against_users, axes, crossings, draw_gain
from .words import count, digits, gb, ms, percent, people, tokens, whole

LARGEST_DRAFT = 4.2e9   # parameters: a draft is small
PITCH = 1.9             # from one round's row of guesses to the next, where a row of blocks is 1 high
STEPS = (1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256)
DRAFTS = tuple(n for n in model.llms() if model.llm(n).parameters <= LARGEST_DRAFT)


class Settings(MachineSettings):
    """Who guesses, how well, and for how many."""

    users = param.Integer(1, bounds=(1, MOST), label="Users", doc="people who are answered at once")
    guesses = param.Integer(4, bounds=(1, 10), label="Guesses", doc="tokens that the small model guesses before each check")
    acceptance = param.Number(0.8, bounds=(0.0, 1.0), step=0.05, label="Acceptance",
                              doc="the chance that a guess is right, once those before it were")
    draft = param.Selector(default="llama-3.2-1b", label="Draft",
                           doc="the small model that guesses; it needs the large one's vocabulary",
                           objects=choices(DRAFTS, lambda n: model.llm(n).label))
    context = param.Integer(256, bounds=(64, 131072), label="Context length", doc="tokens that each conversation holds")
    seed = param.Integer(88, bounds=(0, 99), label="Example shown", doc="which of a hundred runs of luck the upper picture shows")


def compute(s: Settings) -> Picture:
    """Four rounds of guessing for these settings; a frame is a guess, or a check that is done."""
    run = Run(s.machine(), s.users, s.guesses, s.acceptance, s.context, s.draft, s.seed)
    m = s.machine()
    said = (_answer(s, run) + _unlike(m.llm, model.llm(s.draft)) + too_long(m, s.context)
            + whose(m, "speedup", run.speedup, digits, "the speed-up"))
    clock = Clock(run, s.guesses)
    return Picture(
        sources={**_cells(run), **_passes(run), **against_users(m, s.users, run)},
        frames={**_guessing(run, clock), **_passing(run, clock),
                "say.sentence": [" ".join(filter(None, (_moment(s, run, clock, f), said))) for f in range(len(clock))]},
        clock_ms=clock.ms, frame_names=[_name(clock, s.guesses, f) for f in range(len(clock))], telling=len(clock) - 1,
        play_s=min(14.0, 4.0 + 0.35 * len(clock)),
        smooth=("veil.left", "cursor.x0", "cursor.x1"),
        props={"lane.x.end": float(ROUNDS * (s.guesses + 1)), "passes.x.end": run.total_ms * 1.005,
               **time_ticks("passes.axis", run.total_ms, 4), **axes(m, run)},
        facts=_facts(s, run),
        table=(["users", "speed-up (times)", "round (ms)", "plain pass (ms)"],
               [[u, float(run.all.speedup[u]), float(run.all.round_ms[u]), float(run.all.plain_ms[u])] for u in STEPS]))


def _row(which: np.ndarray) -> np.ndarray:
    """Bottom of a round's row of blocks."""
    return (ROUNDS - 1 - which) * PITCH


def _cells(run: Run) -> dict:
    """Each round's guesses, one block a token at its place in the reply; under a wrong one stands what replaces it."""
    which = np.repeat(np.arange(ROUNDS), run.cell.shape[1])
    left, bottom = run.cell.ravel() + 0.06, _row(which)
    places = dict(left=left, bottom=bottom, top=bottom + 1)
    wrong = run.tokens <= run.cell.shape[1]
    rounds = np.arange(ROUNDS)
    name = dict(x=[float(run.cell.shape[1] + 1) + 0.2], y=[_row(0) + (0.23 if run.tokens[0] <= run.cell.shape[1] else 0.5)])
    own = dict(left=run.own + 0.06, bottom=_row(rounds), top=_row(rounds) + np.where(wrong, 0.46, 1.0))
    x, late = run.first.astype(float), run.first >= ROUNDS * (run.cell.shape[1] + 1) / 2
    notes = {side: dict(x=np.where(late, x + run.cell.shape[1] + 1, x)[there] + 0.06, y=_row(rounds)[there] + 1.12)
             for side, there in (("notes_right", ~late), ("notes_left", late))}
    return {"guessed": places, "kept": places, "unread": places,
            "wrong": dict(left=run.own[wrong] + 0.06, bottom=_row(rounds[wrong]) + 0.54, top=_row(rounds[wrong]) + 1),
            "struck": dict(y0=_row(rounds[wrong]) + 0.5, y1=_row(rounds[wrong]) + 1.04, x0=run.own[wrong] + 0.02),
            "own": own, "own_name": name, **notes}


def _guessing(run: Run, clock: Clock) -> dict:
    """Blocks of the lane as they appear: pale when guessed; solid, struck out or dropped when checked."""
    k = run.cell.shape[1]
    which, number = np.repeat(np.arange(ROUNDS), k), np.tile(np.arange(k), ROUNDS)
    kept = run.kept.ravel()
    left = run.cell.ravel() + 0.06
    width = 0.88
    done, now = clock.done[:, None], clock.round[:, None]
    guessed = ((which == now) & (number < clock.guesses[:, None]) & (which >= done)) | np.zeros_like(which, bool)
    wrong = np.flatnonzero(run.tokens <= k)
    rounds = np.arange(ROUNDS)

    def grown(there, at):
        return np.where(there, at + width, at)

    late = run.first >= ROUNDS * (k + 1) / 2
    notes = [[_note(run, clock, f, r) for r in range(ROUNDS)] for f in range(len(clock))]
    return {"guessed.right": grown(guessed, left), "kept.right": grown((which < done) & (kept == 1), left),
            "unread.right": grown((which < done) & (kept == -1), left),
            "wrong.right": grown(wrong < done, run.own[wrong] + 0.06),
            "struck.x1": np.where(wrong < done, run.own[wrong] + 0.98, np.nan),
            "own.right": grown(rounds < done, run.own + 0.06),
            "own_name.text": [[OWN if d else ""] for d in clock.done],
            "notes_right.text": [[n for n, side in zip(row, late) if not side] for row in notes],
            "notes_left.text": [[n for n, side in zip(row, late) if side] for row in notes]}


def _note(run: Run, clock: Clock, f: int, r: int) -> str:
    """The words above a round's row."""
    if r < clock.done[f]:
        k, kept = run.cell.shape[1], int(run.tokens[r]) - 1
        if r:
            return f"{kept} kept, 1 more" if kept == k else f"{kept} kept, 1 wrong"
        after = f", {k - kept - 1} thrown away" if kept + 1 < k else ""
        every = "the guess kept" if k == 1 else f"all {k} guesses kept"
        return every if kept == k else f"{kept} kept, 1 wrong{after}"
    if r == clock.round[f] and clock.guesses[f]:
        return "check" if clock.guesses[f] == run.cell.shape[1] else "guess"
    return ""


OWN = "← written by the large model"  # in the first row


def _passes(run: Run) -> dict:
    """The passes on one clock: above with guesses (short passes of the draft, then a check), below without."""
    gap = 0.004 * run.total_ms
    plain = np.arange(run.plain_tokens) * run.plain_ms
    begun = run.plain_tokens * run.plain_ms
    unfinished = np.array([begun] if begun < run.total_ms * (1 - 1e-6) else [])
    drafts = _strip(run.draft_start_ms.ravel(), run.guessed_ms.ravel(), 1.75, gap)
    checks = _strip(run.check_start_ms, run.ends_ms, 1.75, gap)
    nothing = _strip(np.zeros(0), np.zeros(0), 1.75, gap)
    memory = run.check_bound == "memory"
    return {"drafts": drafts, "checks_memory": checks if memory else nothing,
            "checks_arithmetic": nothing if memory else checks,
            "plain": _strip(plain, plain + run.plain_ms, 0.0, gap),
            "unfinished": _strip(unfinished, np.full(len(unfinished), run.total_ms), 0.0, gap),
            "check_names": dict(x=(checks["left"] + checks["right"]) / 2, y=np.full(ROUNDS, 2.15), text=["check"] * ROUNDS,
                                room=checks["right"] - checks["left"]),
            "with_name": dict(x=[0.0], y=[2.95]), "without_name": dict(x=[0.0], y=[1.2]),
            "veil": dict(right=[run.total_ms], bottom=[-0.1], top=[2.65]), "cursor": dict(y0=[-0.15, 1.65], y1=[0.9, 2.65])}


def _strip(left: np.ndarray, right: np.ndarray, bottom: float, gap: float) -> dict:
    """Passes side by side, a hair apart, however short they are."""
    return dict(left=left, right=np.maximum(right - gap, (left + right) / 2), bottom=np.full(len(left), bottom),
                top=np.full(len(left), bottom + 0.8))


def _passing(run: Run, clock: Clock) -> dict:
    """The cursor, and above each strip the tokens that it has written so far."""
    now = clock.ms[:, None]
    twice = np.repeat(now, 2, axis=1)  # a stroke for each strip: the words between them stay free
    written = np.concatenate(([0], np.cumsum(run.tokens)))[clock.done]
    plain = np.floor(clock.ms / run.plain_ms * (1 + 1e-9)).astype(int)
    return {"veil.left": now, "cursor.x0": twice, "cursor.x1": twice,
            "with_name.text": [[f"with guesses: {tokens(int(n))}"] for n in written],
            "without_name.text": [[f"without: {tokens(int(n))}"] for n in plain]}


def _name(clock: Clock, k: int, f: int) -> str:
    if f == 0:
        return "the beginning"
    where = f"round {clock.round[f] + 1} of {ROUNDS}"
    return f"{where}, checked" if clock.checked[f] else f"{where}, guess {clock.guesses[f]} of {k}"


def _moment(s: Settings, run: Run, clock: Clock, f: int) -> str:
    if f == len(clock) - 1:
        return ""
    if f == 0:
        return "Nothing is written yet."
    round_name = f"Round {clock.round[f] + 1}"
    if not clock.checked[f]:
        return f"{round_name}: {count(int(clock.guesses[f]))} of {count(s.guesses)} guessed."
    got = int(run.tokens[clock.round[f]])
    if got > s.guesses:
        return f"{round_name}: {'the guess' if s.guesses == 1 else 'all guesses'} kept and a token more, {count(got)} in all."
    if s.guesses == 1:
        return f"{round_name}: the guess not kept but replaced: 1 token."
    return f"{round_name}: {count(got - 1)} of {count(s.guesses, 'guess', 'guesses')} kept, the next replaced: {tokens(got)}."


def _answer(s: Settings, run: Run) -> str:
    gain = digits(run.speedup)
    slower = run.speedup < 1 and gain != "1.00"
    verdict = f"{gain} times as fast as without" + (": guessing makes it slower" if slower else " guessing")
    each = "" if s.guesses == 1 else "each "
    return (f"With {count(s.guesses, 'guess', 'guesses')}, {each}right with a chance of {percent(s.acceptance)}, a round gives "
            f"{digits(run.all.expected_tokens)} tokens on average in {ms(run.draft_ms + run.check_ms)}; a pass without guesses "
            f"takes {ms(run.plain_ms)}. For {people(s.users)} at {tokens(s.context)} that is {verdict}. "
            f"Guessing is slower {_break_even(run.all)}. {_reach(run.all, s.context)} In the example shown, "
            f"{tokens(int(run.tokens.sum()))} came in {ms(run.total_ms)}; without guesses, {whole(run.plain_tokens)}.")


def _unlike(llm, draft) -> str:
    """That a draft of another vocabulary cannot guess for this model, "" for one that can."""
    if draft.vocabulary == llm.vocabulary:
        return ""
    return f" (But {draft.label} has another vocabulary than {llm.label}: its guesses cannot be checked as they are.)"


def _reach(all_: Speculation, context: int) -> str:
    """Whether so many people as make guessing slower can be served on this card, in a sentence."""
    fit, limit = all_.users_fit, all_.break_even_users
    if not fit:
        return "Beside the draft, this card has no memory left for anybody."
    held = f"Beside the draft, this card’s memory holds {people(fit)} at {tokens(context)}"
    if limit is None or limit == 1:
        return f"{held}."
    return f"{held}: " + ("that point can be reached here." if fit >= limit else "that point cannot be reached here.")


def _falls(from_users: int | None) -> str:
    """Completes `the gain falls ...`."""
    return f"from {whole(from_users)} people on" if from_users else f"with more than {whole(MOST)} people"


def _break_even(all_: Speculation) -> str:
    """Completes `guessing is slower ...`."""
    slow, limit = all_.speedup[1:] < 1, all_.break_even_users
    if limit is None:
        return f"at no number of users up to {whole(MOST_USERS)}"
    if slow.all():
        return f"at every number of users up to {whole(MOST)}"
    if not slow.any():
        return f"from {whole(limit)} users on"
    edges = [1, *crossings(all_.speedup[1:]), MOST + 1]
    spans = [(first, after - 1) for first, after in zip(edges, edges[1:]) if slow[first - 1]]
    return " and ".join(_span(first, last) for first, last in spans)


def _span(first: int, last: int) -> str:
    if last == MOST:
        return f"from {whole(first)} users on"
    return f"with {people(first)}" if first == last else f"with {whole(first)} to {whole(last)} people"


def _facts(s: Settings, run: Run) -> dict:
    a = run.all
    return dict(
        users=whole(s.users), guesses=count(s.guesses), guesses_number=whole(s.guesses), acceptance=percent(s.acceptance),
        context=whole(s.context), expected_tokens=digits(a.expected_tokens), speedup=digits(run.speedup),
        break_even=_break_even(a), reach=_reach(a, s.context), fit=whole(a.users_fit), falls=_falls(run.falls_from), draft_ms=ms(run.draft_ms), draft_pass_ms=ms(run.draft_ms / s.guesses),
        check_ms=ms(run.check_ms),
        round_ms=ms(run.draft_ms + run.check_ms), plain_ms=ms(run.plain_ms), check_tokens=whole(s.users * (s.guesses + 1)),
        check_bound=run.check_bound, draft=model.llm(s.draft).label, draft_weights=gb(a.draft_weights_bytes),
        draft_kv=whole(a.draft_kv_bytes_per_token), shown_tokens=whole(int(run.tokens.sum())), shown_ms=ms(run.total_ms),
        plain_tokens=whole(run.plain_tokens))


def draw() -> list:
    """The lane of guesses, the passes it takes on one clock, and the speed-up against users."""
    lane = plot("lane", 172, (0, 20), (-0.15, ROUNDS * PITCH), right=8)
    blocks(lane, "guessed", "memory_pale", part="guess")
    blocks(lane, "kept", "memory", part="kept")
    blocks(lane, "unread", "line", hatch="line", part="dropped")
    blocks(lane, "wrong", "misfit", hatch="misfit", part="wrong")
    lines(lane, "struck", "misfit", width=2, part="wrong")
    blocks(lane, "own", "ink", part="own")
    labels(lane, "own_name", "ink", size=12, part="own")
    labels(lane, "notes_right", "muted", size=12, baseline="bottom", part="notes")
    labels(lane, "notes_left", "muted", size=12, baseline="bottom", align="right", part="notes")
    return [lane, _draw_passes(), draw_gain()]


def _draw_passes():
    p = plot("passes", 148, (0, 104), (-0.15, 3.35), axis=True, axis_label="ms")
    blocks(p, "drafts", "weights", part="draft")
    blocks(p, "checks_memory", "memory", part="check")
    blocks(p, "checks_arithmetic", "arithmetic", part="check")
    blocks(p, "plain", "memory", part="plain")
    blocks(p, "unfinished", "memory_pale", part="plain")
    labels(p, "check_names", "paper", align="center", bold=True, size=12, part="check")
    veil(p)
    lines(p, "cursor", "ink")
    labels(p, "with_name", "ink", bold=True, part="with")
    labels(p, "without_name", "ink", part="plain")
    return p


FIGURE = Figure(
    id="speculative", title="When do guesses help?", settings=Settings, compute=compute, draw=draw, main="users",
    controls=(Control("users", "people", positions=STEPS), Control("guesses"), Control("acceptance", percent=True),
              Control("draft"),
              Control("context", "tokens", positions=(64, 128, 256, *CONTEXTS)), Control("seed"), *MACHINE_CONTROLS),
    explain="""
<p>The small model, <span class="number" data-say="draft"></span>, needs <span class="number" data-say="draft_pass_ms"></span> for a guess. Then one
pass of the large model checks all guesses and writes a token of its own: <span class="number" data-say="check_tokens"></span> tokens in
<span class="number" data-say="check_ms"></span>, bound by <span class="number" data-say="check_bound"></span>. With a chance of
a = <span class="number" data-say="acceptance"></span> that a guess is right and k = <span class="number" data-say="guesses_number"></span> guesses a round gives,
on average,</p>
<p class="formula">1 + a + a² + … + aᵏ = (1 − aᵏ⁺¹) ÷ (1 − a) = <span class="number" data-say="expected_tokens"></span> tokens</p>
<p class="formula">speed-up = <span class="number" data-say="expected_tokens"></span> × <span class="number" data-say="plain_ms"></span> ÷
(<span class="number" data-say="draft_ms"></span> + <span class="number" data-say="check_ms"></span>) = <span class="number" data-say="speedup"></span></p>
<p>Leviathan et al., 2023. In the example shown, <span class="number" data-say="shown_tokens"></span> tokens were written in
<span class="number" data-say="shown_ms"></span>; without guesses it would have been <span class="number" data-say="plain_tokens"></span>. The
draft takes <span class="number" data-say="draft_weights"></span> of the card's memory and <span class="number" data-say="draft_kv"></span> bytes more
for each token of a conversation. It must have the large model's vocabulary.</p>""")
