"""Fits the terms of the engines on published measurements, and writes what it found to model/data/engines/.

    python tools/fit.py              fits all terms from their starting values, writes fitted.toml
    python tools/fit.py --again      fits all terms from fitted.toml on
    python tools/fit.py --story      writes story.toml: the error of the roofline, and of the engines without each cause
    python tools/fit.py --held-out   fits again without each pair of source and card, writes held_out.csv and spread.toml

Needs scipy besides numpy. Each row's residual is the logarithm of prediction over measurement; groups of like rows of one
source and card count by the square root of their number, so that a profile of 51 kernels does not drown a log of one line.
A term outside its plausible range ends the fit with its name, its value and its range, and nothing is written."""
import argparse
import collections
import csv
import math
import multiprocessing
import statistics
import sys
from pathlib import Path

import numpy as np
from scipy.optimize import least_squares

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from model import load, predict, rows, story, terms

OUT = ROOT / "model" / "data" / "engines"
MEASURED = ROOT / "model" / "data" / "measured" / "measured.csv"
WITHOUT_TERMS = ("gamma=", "KV bytes per token", "KV self size")  # formulas without a free number
STAND_INS = ("nanogpt",)  # engines without terms of their own
PULL = 0.05        # residual of a term at the edge of its range, so that one which no row speaks of stays in the middle
TAIL = 0.15        # residual from which a row counts less than its square: one odd row must not bend a term
STEP = 0.02        # relative step of the derivatives: a simulated server answers in small jumps
MEMORY_STEPS = 60  # evaluations of a fit of the few rows of memory, which cost nothing
HELD_OUT_STEPS = 8  # evaluations of a fit that starts at the fit with all rows
BAND = 0.85        # share of held-out rows that an error band is made to contain (at least 0.8 is asked for)
HELD_OUT_COLUMNS = ("id", "source", "gpu", "engine", "group", "measured", "predicted", "error")


def fitted_rows():
    """The rows that terms are fitted on: those that a term has a say in, that can be predicted, and whose engine has terms
    of its own; another's that stand in must not be bent by it."""
    found = rows.read_rows(MEASURED.read_text(encoding="utf-8"))
    return [row for row in found if not _formula(row) and predict.predict(row).value is not None]


def fit(chosen, start, steps, slope="2-point", reach=2.0):
    """Values of all terms by name that fit the chosen rows, from the values in start. slope: (rows, terms) derivatives of
    the logarithms, where they are known and the fit stays near start. reach: how many times its plausible range a term may
    roam (in logarithms), above 1 so that one which wants out of it is seen to leave. ValueError outside a range."""
    names = list(terms.definitions())
    weights = _weights(chosen)
    middle, half = (np.array(x) for x in zip(*map(_range, names)))

    def residuals(logs):
        misses = _residuals(chosen, dict(zip(names, np.exp(logs))))
        return np.concatenate([weights * misses, PULL * (logs - middle) / half])

    jac = slope if isinstance(slope, str) else lambda logs: np.vstack([weights[:, None] * slope, np.diag(PULL / half)])
    found = least_squares(
        residuals, [math.log(start[n]) for n in names], jac=jac, loss="soft_l1", f_scale=TAIL, diff_step=STEP / 3,
        max_nfev=steps, x_scale=half, bounds=(middle - reach * half, middle + reach * half))
    return terms.checked(dict(zip(names, np.exp(found.x))))


def _range(name):
    """Middle and half width of a term's plausible range, in logarithms."""
    term = terms.definitions()[name]
    return math.log(term.low * term.high) / 2, math.log(term.high / term.low) / 2


def slopes(chosen, values):
    """(rows, terms): how the logarithm of each row's prediction moves with the logarithm of each term, around values."""
    def moved(name, by):
        return _residuals(chosen, {**values, name: values[name] * math.exp(by)})
    return np.transpose([(moved(name, STEP) - moved(name, -STEP)) / (2 * STEP) for name in terms.definitions()])


def _residuals(chosen, values):
    with terms.trying(values):
        said = [predict.predict(row).value or 1e-9 for row in chosen]
    return np.log(said) - np.log([row.value for row in chosen])


def _weights(chosen):
    sizes = collections.Counter(map(_kind, chosen))
    return np.array([sizes[_kind(row)] ** -0.25 for row in chosen])


def _kind(row):
    return row.source.split(" ")[0], row.text("gpu"), predict.group_of(row)


def pair_of(row):
    """Source and card of a row: what is left out together. KVLOG rows are logs of different people, one source each."""
    return row.source, row.text("gpu")


def folds():
    """Lists of rows to leave out together: each pair of source and card if another row of its engine remains; else the
    pair in two halves by load, so that what only one source measured is held against rows unseen as well."""
    everything = fitted_rows()
    found = []
    for pair in sorted(set(map(pair_of, everything))):
        out = [row for row in everything if pair_of(row) == pair]
        remaining = {_family(row) for row in everything if pair_of(row) != pair}
        alone = [row for row in out if _family(row) not in remaining]
        loads = sorted({row.text("load") for row in alone})
        halves = [[row for row in alone if loads.index(row.text("load")) % 2 == half] for half in (0, 1)]
        found += [fold for fold in ([row for row in out if row not in alone], *halves) if fold]
    return found


def left_out(task):
    """Lines of HELD_OUT_COLUMNS: predictions for rows by terms fitted without them. task: those rows, and the slopes of all.
    A fit without a few rows stays near the fit with them, so that the slopes there serve for every fold; a term whose only
    rows are left out stays within its range."""
    out, slope = task
    names = {row.id for row in out}
    everything = fitted_rows()
    if all(predict.group_of(row) == predict.FIT for row in out):  # memory shares no term with time: fitted on its own
        kept = [row for row in everything if row.id not in names and predict.group_of(row) == predict.FIT]
        values = fit(kept, terms.fitted(), MEMORY_STEPS, reach=0.999)
    else:
        kept = np.array([row.id not in names for row in everything])
        values = fit([row for row, keep in zip(everything, kept) if keep], terms.fitted(), HELD_OUT_STEPS, slope[kept], 0.999)
    with terms.trying(values):
        return [_line(predict.predict(row)) for row in out]


def _line(said):
    row = said.row
    return (row.id, row.source, row.text("gpu"), row.text("engine"), said.group, f"{row.value:g}", f"{said.value:.6g}",
            f"{said.error:.4f}")


def without_terms():
    """Lines of HELD_OUT_COLUMNS for the rows that no term has a say in: no fit has seen them."""
    found = map(predict.predict, rows.read_rows(MEASURED.read_text(encoding="utf-8")))
    return [_line(said) for said in found if said.value is not None and _formula(said.row)]


def _formula(row):
    return any(word in row.quantity for word in WITHOUT_TERMS) or row.text("engine").lower().startswith(STAND_INS)


def _family(row):
    return row.text("engine").split(" ")[0].lower()


def write_fitted(values, count):
    """fitted.toml."""
    lines = [f"# Written by tools/fit.py: {len(values)} terms on {count} rows of data/measured/measured.csv.", ""]
    lines += [f"{name} = {value:.5g}" for name, value in values.items()]
    (OUT / "fitted.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_held_out(lines):
    """held_out.csv, and spread.toml: for each group the factors around a prediction between which BAND of the rows lie."""
    with (OUT / "held_out.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HELD_OUT_COLUMNS)
        writer.writerows(lines)
    groups = collections.defaultdict(list)
    for line in lines:
        groups[line[4]].append(float(line[5]) / float(line[6]))
    text = ["# Written by tools/fit.py --held-out: measurement over prediction, for rows that the fit had not seen.", ""]
    for group, ratios in sorted(groups.items()):
        reach = sorted(abs(math.log(ratio)) for ratio in ratios)[math.ceil(BAND * len(ratios)) - 1]
        text += [f'["{group}"]', f"rows = {len(ratios)}",
                 f"median_error = {statistics.median(abs(1 / ratio - 1) for ratio in ratios):.4f}",
                 f"low = {math.exp(-reach):.4f}", f"high = {math.exp(reach):.4f}", ""]
    (OUT / "spread.toml").write_text("\n".join(text), encoding="utf-8")


def write_story(told):
    """story.toml."""
    text = ["# Written by tools/fit.py --story: median absolute errors over data/measured/measured.csv.", ""]
    for group, entry in told.items():
        text += [f'["{group}"]', f"roofline = {entry['roofline']}", f"engine = {entry['engine']}", f'["{group}".without]',
                 *(f'"{cause}" = {error}' for cause, error in entry["without"].items()), ""]
    (OUT / "story.toml").write_text("\n".join(text), encoding="utf-8")


def main():
    load.SEEDS = load.SEEDS[:1]  # one draw of arrivals is enough for the slope of a term
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--held-out", action="store_true", help="fit without each pair of source and card in turn")
    parser.add_argument("--again", action="store_true", help="start where fitted.toml is")
    parser.add_argument("--story", action="store_true", help="the errors of the roofline and without each cause")
    parser.add_argument("--processes", type=int, default=2)
    asked = parser.parse_args()
    if asked.story:
        write_story(story.tell())
        return
    chosen = fitted_rows()
    if not asked.held_out:
        start = terms.fitted() if asked.again else {name: term.start for name, term in terms.definitions().items()}
        write_fitted(fit(chosen, start, steps=7), len(chosen))
        return
    slope = slopes(chosen, terms.fitted())
    with multiprocessing.Pool(asked.processes) as pool:
        parts = pool.map(left_out, [(fold, slope) for fold in folds()], chunksize=1)
    write_held_out([line for part in parts for line in part] + without_terms())


if __name__ == "__main__":
    main()
