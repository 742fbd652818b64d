"""The two pictures of the page of measurements: where the roofline fails, and what each cause repairs. Drawn when the site is built."""
from __future__ import annotations

import statistics
from functools import lru_cache

from model import points, predict, rows, story, terms
from widgets.strips import bars, ratio_strips
from widgets.svg import still

WIDE, NARROW = 720, 336
TIMES = ("ms", "us", "s")        # units in which less is faster: the ratio is turned around
LIMITS = (0.36, 12.0)            # of the axis of ratios; what lies outside stands at its edge
MARKS = {0.5: "half", 1.0: "as measured", 2.0: "2×", 5.0: "5×", 10.0: "10×"}
GROUPS = (*story.GROUPS, predict.GUESSES)
FIRST_STEP = "the roofline, as the datasheet says"
SECOND_STEP = "KV cache read besides, not meanwhile"


def promised(one: predict.Prediction) -> float:
    """How many times as much is predicted as was measured: above 1 is a promise that servers do not keep, also for times."""
    ratio = one.error + 1.0
    return 1.0 / ratio if one.row.unit.split("/")[0] in TIMES else ratio


@lru_cache(maxsize=1)
def ratios() -> dict[str, tuple[list[float], list[float]]]:
    """{group: (promised by the roofline, promised with the engine's terms)}, a number for each row that both predict."""
    found = {group: ([], []) for group in GROUPS}
    for plain, full in story.roofline():
        if full.group in found:
            found[full.group][0].append(promised(plain))
            found[full.group][1].append(promised(full))
    return {group: both for group, both in found.items() if both[0]}


@lru_cache(maxsize=1)
def steps() -> dict[str, list[tuple[str, float]]]:
    """{group: [(what is added, median absolute error)]}: the roofline, then the engines' formulas without any term, then each
    cause of story.CAUSES in turn, in its order, until all are there."""
    silent = list(story.CAUSES)
    with rows.as_datasheet():
        found = {group: [(FIRST_STEP, error)] for group, error in _errors(_predictions()).items()}
    for words in (SECOND_STEP, *story.CAUSES):
        if words in silent:
            silent.remove(words)
        with terms.trying({name: value for cause in silent for name, value in story.CAUSES[cause].items()}):
            said = _predictions()
        for group, error in _errors(said).items():
            found[group].append((words, error))
    return found


def _predictions() -> list[predict.Prediction]:
    return [predict.predict(row) for row in points.measured()]


def _errors(said: list[predict.Prediction]) -> dict[str, float]:
    """{group: median absolute error} over the groups that a roofline has something to say to."""
    return {group: statistics.median(abs(one.error) for one in said if one.group == group and one.error is not None)
            for group in story.GROUPS}


def failing() -> str:
    """The first picture, wide and narrow, as HTML."""
    both = ratios()
    plots = ratio_strips("failing", [group[0].upper() + group[1:] for group in both], [plain for plain, _ in both.values()],
                         [full for _, full in both.values()], LIMITS, MARKS, "promised ÷ measured")
    words = "; ".join(f"{group}: the roofline promises {statistics.median(plain):.2f} times what was measured, the engine's terms "
                      f"{statistics.median(full):.2f} times" for group, (plain, full) in both.items())
    return stills(plots, "failing", f"Promised over measured, a dot for each row. Medians: {words}.")


def repairing() -> str:
    """The second picture: a block of bars for each group, as HTML."""
    found = steps()
    return '<div class="repairs">' + "".join(
        f"<section><h3>{group[0].upper() + group[1:]}</h3>{_bars(f'repairing-{i}', path)}</section>"
        for i, (group, path) in enumerate(found.items())) + "</div>"


def _bars(name: str, path: list[tuple[str, float]]) -> str:
    shares = [error for _, error in path]
    colours = ["misfit", *["memory_pale"] * (len(path) - 2), "memory"]
    words = [f"{share(error)}  {'' if i == 0 else '+ '}{cause}" for i, (cause, error) in enumerate(path)]
    spoken = ", ".join(f"{share(error)} {'with' if i else 'for'} {cause}" for i, (cause, error) in enumerate(path))
    return stills(bars(name, words, shares, 1.02 * max(shares), colours), name, f"Median absolute error: {spoken}.", wide=480)


def share(error: float) -> str:
    """`35%`, `9.4%`: a place below ten per cent."""
    return f"{error:.1%}" if error < 0.0995 else f"{error:.0%}"


def stills(plots: list, name: str, label: str, wide: int = WIDE) -> str:
    """A picture in both widths; the page's style shows the one that fits."""
    return (f'<div class="still wide">{still(plots, wide, f"{name}-wide", label)}</div>'
            f'<div class="still narrow">{still(plots, NARROW, f"{name}-narrow", label)}</div>')
