"""What a reader pastes: a model's config.json, a server's start-up log. Refused in one line where it is something else."""
from __future__ import annotations

import json
from functools import lru_cache

import param

from model.config import read_config
from model.logs import LogLine, LogRecord, compare, machine_of, read_log
from model.machine import Machine
from model.records import LLM

from .words import count

CONFIG_CHARS, LOG_CHARS = 30_000, 200_000  # a long config with its quantisation; a start-up log that was read for an hour
MOST_LINES = 8                              # lines of a log that state a size, of either server


class Pasted(param.String):
    """A text of at most `longest` characters, empty or one that `read` takes without a ValueError."""

    __slots__ = ["longest", "read"]

    def __init__(self, default: str = "", *, longest: int = 240, read=str, **more):
        self.longest, self.read = longest, read
        super().__init__(default, **more)

    def _validate(self, val) -> None:
        super()._validate(val)
        if len(val) > self.longest:
            raise ValueError(f"{self.label} has {len(val):,} characters, at most {self.longest:,} are read: "
                             "paste only the part that matters")
        if val.strip():
            self.read(val)


@lru_cache(maxsize=8)
def pasted_llm(text: str, name: str = "config.json") -> LLM:
    """The model that a pasted config.json describes. ValueError says what is wrong with it."""
    try:
        found = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        raise ValueError("this is no config.json: paste the whole file, from its first brace to its last") from None
    if not isinstance(found, dict):
        raise ValueError("this is no config.json: paste the whole file, which begins with a brace")
    return read_config(found, name=name)


@lru_cache(maxsize=8)
def pasted_log(text: str) -> LogRecord:
    """The start-up log that was pasted. ValueError for a log of something else."""
    return read_log(text)


def beside(text: str, m: Machine, own_llm: bool) -> tuple[str, list[LogLine]]:
    """(verdict in a sentence, lines of a pasted log beside the same prediction); ("", []) where none was pasted.

    The log says which model and card it is about; m, the figure's, says what it does not. own_llm: m's model was pasted.
    """
    if not text.strip():
        return "", []
    log = pasted_log(text)
    try:
        here = _machine(log, m, own_llm)
        lines = compare(log, here)[:MOST_LINES]
    except ValueError as problem:
        return f"The log cannot be set beside a prediction: {problem}.", []
    if not lines:
        return "The log states no size that the model predicts.", []
    worst = max(lines, key=lambda line: abs(line.error))
    off = "none is off by half a per cent" if abs(worst.error) < 0.005 else f"at most {abs(worst.error):.0%} off ({worst.what})"
    return (f"Your log of {'vLLM' if log.engine == 'vllm' else 'llama.cpp'}, {here.llm.label} on {here.gpu.label}: "
            f"{count(len(lines), 'size')} beside the prediction, {off}."), lines


def _machine(log: LogRecord, m: Machine, own_llm: bool) -> Machine:
    llm = m.llm if own_llm or "llm" not in log.values else None
    try:
        return machine_of(log, llm, None if "gpu" in log.values else m.gpu.name)
    except ValueError:
        return machine_of(log, m.llm, m.gpu.name)  # a name that the catalogue does not know: the reader's choice stands


def spelled(line: LogLine) -> str:
    """A line of the comparison: `tokens of KV cache: 41,408 in the log, 43,000 predicted (+4%)`."""
    unit = f" {line.unit}" if line.unit and line.unit != "tokens" else ""
    return (f"{line.what}: {_number(line.logged)}{unit} in the log, {_number(line.predicted)}{unit} predicted "
            f"({f'{line.error:+.0%}' if abs(line.error) >= 0.005 else '0%'})").replace("-", "−")


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
