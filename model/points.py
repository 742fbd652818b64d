"""Measured points for the figures, and the band in which a measurement is to be expected around a prediction."""
import functools
import math
import tomllib
from dataclasses import dataclass

from model import predict, rows, terms
from model.machine import DATASHEET

GROUPS = {"decode": predict.SPEED, "itl": predict.SPEED, "prefill": predict.FIRST, "ttft": predict.FIRST,
          "kv_tokens": predict.FIT, "throughput": predict.THROUGHPUT, "speedup": predict.GUESSES}
UNITS = {"decode": ("tok/s",), "itl": ("ms",), "prefill": ("tok/s",), "ttft": ("ms",), "kv_tokens": ("tokens", "blocks"),
         "throughput": ("tok/s",), "speedup": ("x",)}


@dataclass(frozen=True)
class Point:
    """One published measurement that belongs on a machine's curves.

    users: people at once, None where requests arrive at a rate (rate, a second). context: tokens each holds on average, None
    where a source does not say. prompt_tokens: of a prompt that is read. value, unit: what was measured. label: source,
    engine and conditions in one line. row: as it was published."""

    id: str
    users: float | None
    rate: float | None
    context: float | None
    prompt_tokens: float | None
    value: float
    unit: str
    label: str
    source: str
    url: str
    row: rows.Row

    @property
    def predicted(self):
        """What the model says with the row's own engine, None where it cannot; serves a whole load where one arrives."""
        return predict.predict(self.row).value


def group(quantity):
    """The group of predictions that a quantity's name stands for (decode, itl, prefill, ttft, kv_tokens, throughput,
    speedup, or the group's own name). ValueError for another name."""
    if quantity in GROUPS:
        return GROUPS[quantity]
    if quantity in spread():
        return quantity
    raise ValueError(f"no quantity is called {quantity!r}; known: {', '.join(GROUPS)}")


def band(m, quantity, value):
    """(low, high) between which 85% of the rows that no fit had seen lie around a prediction of value; (value, value) for
    the datasheet, which is arithmetic and not a prediction. ValueError for a quantity not known."""
    name = group(quantity)
    if m.engine == DATASHEET:
        return value, value
    entry = spread()[name]
    return value * entry["low"], value * entry["high"]


@functools.cache
def spread():
    """Entries of spread.toml: rows, median_error, low and high for each group, as tools/fit.py --held-out wrote them."""
    return tomllib.loads((terms.DATA / "spread.toml").read_text(encoding="utf-8"))


@functools.cache
def measured():
    """All Rows of data/measured/measured.csv, which ships with the model."""
    path = terms.DATA.parent / "measured" / "measured.csv"
    return tuple(rows.read_rows(path.read_text(encoding="utf-8")))


def measured_points(m, quantity):
    """Points of a Machine's card and formats, of a model of its shape, for one of GROUPS; for the datasheet those of every
    engine, for an engine those of its family. Empty where nothing was measured. ValueError for a quantity not known."""
    return list(_measured_points(m, quantity))


@functools.lru_cache(maxsize=64)
def _measured_points(m, quantity):
    wanted = group(quantity)
    units = UNITS.get(quantity, ())
    return tuple(_point(row) for row in measured()
                 if predict.group_of(row) == wanted and (not units or row.unit in units) and _belongs(row, m))


def _belongs(row, m):
    try:
        other = rows.machine_of(row)
    except ValueError:
        return False  # a row without a card or engine of ours belongs on no machine's curve
    alike = (other.gpu, other.weights, other.kv) == (m.gpu, m.weights, m.kv) and _shape(other.llm) == _shape(m.llm)
    return alike and (m.engine == DATASHEET or _family(other.engine) == _family(m.engine))


def _shape(llm):
    return llm.parameters, llm.layers, llm.heads, llm.kv_heads, llm.head_size


def _family(engine):
    return terms.engines()[engine]["family"]


def _point(row):
    rate, group_of = rows.rate_of(row), predict.group_of(row)
    prompt = rows.first_number(row.text("prompt_tokens"))
    return Point(id=row.id, users=None if rate or group_of == predict.FIT else rows.people_of(row), rate=rate, context=_context(row),
                 prompt_tokens=prompt or None, value=row.value, unit=row.unit, row=row,
                 label=", ".join(filter(None, (row.source, row.text("engine"), row.text("load"), row.text("date")))),
                 source=row.source, url=row.text("url"))


def _context(row):
    words = row.text("context_or_output")
    if pool := predict.pool_tokens(row):
        return pool / rows.people_of(row)
    number = rows.first_number(words)
    if not number:
        return None
    if "mean over" in row.quantity:
        return number / 2
    return number if "ctx" in words else math.fsum(filter(None, (rows.first_number(row.text("prompt_tokens")), number / 2)))
