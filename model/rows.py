"""What a row of a file of measurements says: which machine, which engine, how loaded. Tolerant of how people write names.

The columns are those of data/measured/README.md. Nothing is predicted here; model.predict does that."""
import contextlib
import csv
import functools
import io
import re
from dataclasses import dataclass, replace

from model.machine import DATASHEET, machine
from model.names import engine_of, formats_of, gpu_of, llm_of

COLUMNS = ("id", "source", "llm", "weights", "gpu", "engine", "load", "prompt_tokens", "context_or_output", "quantity",
           "value", "unit")
NUMBER = r"(\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?)\s*([kKM](?![a-zA-Z]))?"
MULTIPLE = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6}
TIMES = {"ms": 1.0, "s": 1000.0, "sec": 1000.0, "seconds": 1000.0, "us": 0.001, "µs": 0.001}
_as_datasheet = []  # see as_datasheet()


@dataclass(frozen=True)
class Row:
    """One row, as it stands; value as a number. words: all of its columns by name."""

    id: str
    source: str
    quantity: str
    unit: str
    value: float
    words: dict

    def text(self, column):
        """A column's text, without spaces around it; empty where it is missing."""
        return (self.words.get(column) or "").strip()


def read_rows(text):
    """The Rows of a CSV with the columns of data/measured/README.md. ValueError that names what is missing or wrong."""
    reader = csv.DictReader(io.StringIO(text))
    missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
    if missing:
        raise ValueError(f"this file has no column {missing[0]!r}; a file of measurements has {', '.join(COLUMNS)}")
    return [_row(words, number) for number, words in enumerate(reader, start=2)]


def _row(words, line):
    try:
        value = float(words["value"].replace(",", ""))
    except (ValueError, AttributeError):
        raise ValueError(f"line {line}: value {words['value']!r} is not a number; give it without its unit") from None
    return Row(id=words["id"] or f"line {line}", source=words["source"] or "", quantity=words["quantity"] or "",
               unit=(words["unit"] or "").strip(), value=value, words=words)


def machine_of(row, default_gpu=None):
    """The Machine of a row. ValueError says which of model, card, engine or format is not known."""
    words = " ".join(row.text(c) for c in ("load", "quantity"))
    m = _machine(*(row.text(c) for c in ("llm", "weights", "gpu", "engine", "date")), words, default_gpu)
    return replace(m, engine=DATASHEET) if _as_datasheet else m


@contextlib.contextmanager
def as_datasheet():
    """Within it, every row's machine is at the datasheet's values: for what a plain roofline says to a row."""
    _as_datasheet.append(True)
    try:
        yield
    finally:
        _as_datasheet.pop()


@functools.lru_cache(maxsize=4096)
def _machine(llm, weights, gpu, engine, date, words, default_gpu):
    names = formats_of(weights, llm)
    m = machine(llm=llm_of(llm), gpu=gpu_of(gpu, default_gpu), weights=names[0], kv=names[1])
    return replace(m, engine=engine_of(engine, date, words))


def milliseconds(unit):
    """How many ms a unit of time is, such as `s` or `ms/token`; None for what is no time."""
    return TIMES.get(re.split(r"[/ ]", unit.strip().lower())[0])


def numbers_in(text):
    """All numbers in a text, with thousands and k or M resolved: `2048 new after 8,192 cached` gives 2048 and 8192."""
    return [float(n.replace(",", "")) * MULTIPLE[suffix or ""] for n, suffix in re.findall(NUMBER, text)]


def first_number(text, default=None):
    """The first number in a text, or default."""
    found = numbers_in(text)
    return found[0] if found else default


def rate_of(row):
    """Requests a second of a row's load, None where people are counted instead. A plain number is people, except in BLIS
    rows, whose load is a rate."""
    load = row.text("load")
    found = re.search(NUMBER + r"\s*(?:req(?:uest)?s?\s*/\s*s|req(?:uest)?s? (?:per|a) second|rps|qps)", load, flags=re.I) or \
        re.search(r"(?:rate|rps|qps)\s*[=:]?\s*" + NUMBER, load, flags=re.I)
    if found:
        return float(found[1].replace(",", ""))
    plain = re.fullmatch(NUMBER, load)
    return float(load.replace(",", "")) if plain and row.source.upper().startswith("BLIS") else None


def people_of(row, default=None):
    """People at once in a row's load: `8`, `n=8`, `8 seqs`, `batch 8`, `concurrency 32`; default without a number."""
    load = row.text("load")
    found = re.search(r"(?:n|b|bs|c|batch(?: size)?|concurrency|users?|parallel)\s*[=: ]\s*(\d+)", load, flags=re.I)
    return float(found[1]) if found else first_number(load, default)
