"""`python -m model check [FILE.csv] [--json]`: prediction beside measurement for every row of a file of measurements."""
import argparse
import csv
import functools
import json
import statistics
import textwrap
from pathlib import Path

from model import points, predict, rows, terms

WIDTH = 80
CLOSE = 0.05         # error that needs no reason
TARGETS = {predict.SPEED: 0.12, predict.FIRST: 0.20, predict.FIT: 0.08, predict.THROUGHPUT: 0.15, predict.GUESSES: 0.18}


class Words(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message):
        """A ValueError instead of argparse's own exit."""
        raise ValueError(f"check: {message}; give one CSV file, and --json for JSON")


def main(argv=()):
    """Prints the comparison of a file, by default data/measured/measured.csv. Returns 0; ValueError for bad input."""
    words = Words(prog="python -m model check", description=__doc__)
    words.add_argument("file", nargs="?", help="a CSV with the columns of data/measured/README.md")
    words.add_argument("--json", action="store_true", help="everything as JSON")
    asked = words.parse_args(list(argv))
    said = [predict.predict(row) for row in (read(asked.file) if asked.file else points.measured())]
    if not said:
        raise ValueError(f"{asked.file} has no rows; give a file of measurements with at least one")
    print(json.dumps(report(said), indent=2, ensure_ascii=False) if asked.json else text(said))
    return 0


def read(name):
    """Rows of a file. ValueError where it cannot be read or is not a file of measurements."""
    try:
        return rows.read_rows(Path(name).read_text(encoding="utf-8-sig"))
    except OSError as problem:
        raise ValueError(f"{name} cannot be read ({problem.strerror}); give a CSV of measurements") from None
    except (UnicodeDecodeError, csv.Error):
        raise ValueError(f"{name} is not a CSV in UTF-8; give a file with the columns {', '.join(rows.COLUMNS)}") from None


def report(said):
    """The whole comparison as plain data: rows, medians by quantity, engine and card, the worst row of each, what could not
    be predicted and what it lacked, and the medians of held-out rows."""
    return {"rows": [_row(one) for one in said],
            "medians": {by: {name: _median(group) for name, group in groups.items()} for by, groups in _grouped(said).items()},
            "worst": {by: {name: worst(group) for name, group in groups.items()} for by, groups in _grouped(said).items()},
            "not_predicted": [{"id": one.row.id, "quantity": one.row.quantity, "lacks": one.lacks}
                              for one in said if one.value is None],
            "held_out": held_out()}


@functools.cache
def held_out_lines():
    """Lines of held_out.csv, {column: text} each: predictions by terms that were fitted without the row."""
    return list(csv.DictReader((terms.DATA / "held_out.csv").read_text(encoding="utf-8").splitlines()))


def held_out():
    """For each group: rows, median_error on rows that no fit had seen, the target, the share of them in the band, and the
    worst of them: its id, error and why."""
    lines = held_out_lines()
    by_id = {row.id: row for row in points.measured()}
    found = {}
    for name, entry in points.spread().items():
        mine = [line for line in lines if line["group"] == name]
        ratios = [float(line["measured"]) / float(line["predicted"]) for line in mine]
        within = sum(entry["low"] <= ratio * (1 + 1e-4) and ratio <= entry["high"] * (1 + 1e-4) for ratio in ratios)
        far = max(mine, key=lambda line: abs(float(line["error"])))
        found[name] = {"rows": len(ratios), "median_error": entry["median_error"], "target": TARGETS.get(name),
                       "in_band": round(within / len(ratios), 4),
                       "worst": {"id": far["id"], "error": float(far["error"]), "why": why(predict.predict(by_id[far["id"]]))}}
    return found


def worst(group):
    """The row of a group with the largest error, and why, as plain data."""
    one = max(group, key=lambda p: abs(p.error))
    return {"id": one.row.id, "quantity": one.row.quantity, "error": round(one.error, 4), "why": why(one)}


def why(one):
    """Why a prediction may be as far off as it is: what the row leaves open, and whose terms stood in."""
    causes = []
    if abs(one.error) < CLOSE:
        return "close: nothing to explain"
    for found, cause in _causes(one):
        if found:
            causes.append(cause)
    return "; ".join(causes[:2]) or "terms are shared by all cards of its class; this one is off by what it does not share"


def _causes(one):
    """(whether it applies, cause) in the order in which they explain most."""
    row, load, chats = one.row, one.row.text("load"), one.row.text("prompt_tokens")
    crowd = one.group in (predict.FIRST, predict.THROUGHPUT) and not rows.rate_of(row) and (rows.people_of(row) or 1) > 1
    yield "p99" in row.quantity.lower(), "the slowest hundredth of a random load depends on how requests happened to arrive"
    yield "rate not in" in load, "its load is named, not described: rate and lengths are the specification's"
    yield "bench" in chats, "lengths of the chats are not in the row, nor the draft's own cost"
    yield "gamma" in row.quantity, "the formula takes acceptance as independent of position and the check as free"
    yield "decode-maximal" in row.quantity, "a small difference between two long passes"
    yield "nanogpt" in row.text("engine").lower(), "this engine has no terms of its own; the oldest vLLM's stand in"
    yield row.quantity.startswith("iteration"), "matrix products jump at tile edges; the model is smooth"
    yield "prefill chunk" in load, "attention over small chunks goes in steps that the model guesses: 64 tokens cost what 256 do"
    yield "ShareGPT" in chats, "only mean lengths are known; the longest replies decide when the run ends"
    yield crowd and "pool" not in row.text("context_or_output"), "how the people started and how long the run was are not in the row"
    yield one.group == predict.FIT, "what else held memory on that card (a screen, other processes, graphs) is not in the row"
    yield one.note.startswith("estimated from its class"), f"card without measurements of this engine: {one.note}"
    yield row.text("gpu").startswith("Apple"), "two generations of Apple's cores share one set of terms"


def text(said):
    """The whole comparison as lines to read."""
    lines = [f"{'row':<10} {'card':<15} {'quantity':<24} {'measured':>10} {'predicted':>10} {'error':>6}"]
    lines += [_line(one) for one in said]
    for by, groups in _grouped(said).items():
        lines += ["", f"median of absolute error by {by}", *(_summary(name, group) for name, group in groups.items())]
    missing = [one for one in said if one.value is None]
    lines += ["", f"{len(said)} rows, {len(said) - len(missing)} predicted, {len(missing)} not"]
    lines += [_wrapped(f"{one.row.id} lacks: {one.lacks}") for one in missing]
    lines += ["", "rows that no fit had seen (tools/fit.py --held-out)"]
    for name, entry in held_out().items():
        most = f" of {entry['target']:>3.0%}" if entry["target"] else ""
        lines += [f"  {name:<38} {entry['rows']:>3} rows  median {entry['median_error']:>5.1%}{most}, {entry['in_band']:.0%} in band",
                  _wrapped(f"worst {entry['worst']['id']} {entry['worst']['error']:+.0%}: {entry['worst']['why']}")]
    return "\n".join(lines)


def _row(one):
    row = one.row
    return {"id": row.id, "source": row.source, "llm": row.text("llm"), "gpu": row.text("gpu"), "engine": row.text("engine"),
            "quantity": row.quantity, "unit": row.unit, "group": one.group, "measured": row.value, "predicted": one.value,
            "error": None if one.error is None else round(one.error, 4), "note": one.note, "lacks": one.lacks}


def _grouped(said):
    found = {"quantity": {}, "engine": {}, "card": {}}
    for one in said:
        if one.error is not None:
            for by, name in (("quantity", one.group), ("engine", one.row.text("engine")), ("card", one.row.text("gpu"))):
                found[by].setdefault(name, []).append(one)
    return found


def _median(group):
    return {"rows": len(group), "median_error": round(statistics.median(abs(one.error) for one in group), 4)}


def _line(one):
    row = one.row
    head = f"{row.id[:10]:<10} {row.text('gpu')[:15]:<15} {row.quantity[:24]:<24} {row.value:>10.5g}"
    return f"{head} {one.value:>10.5g} {one.error:>+6.0%}" if one.value is not None else f"{head} {'-':>10} {'-':>6}"


def _summary(name, group):
    far = worst(group)
    reason = _wrapped(f"worst {far['id']} {far['error']:+.0%}: {far['why']}")
    return f"  {name[:40]:<40} {len(group):>4} rows  median {_median(group)['median_error']:>5.1%}\n{reason}"


def _wrapped(words):
    return textwrap.fill(words, WIDTH, initial_indent="      ", subsequent_indent="      ")
