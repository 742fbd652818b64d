"""How long a simulated server's passes take: pass_cost's own answers, quick enough to ask for hundreds of thousands."""

from __future__ import annotations

import numpy as np

from model.machine import Machine
from model.passes import pass_cost

POINTS = 2049  # over 131,072 tokens that is a step of 0.6%: wrong by a seventh of a percent where the time bends, at most
SAME = 1e-12


def pace(m: Machine, max_context: int):
    """The quickest Pace that gives what pass_cost gives on `m`: Line where a pass is the larger of two straight lines
    (the datasheet with a dense model and full attention), Table otherwise."""
    line = Line(m)
    return line if line.fits(m, max_context) else Table(m, max_context)


class Line:
    """max(weights_ms + kv_ms x tokens held, arithmetic_ms x tokens processed), its three numbers read off pass_cost."""

    def __init__(self, m: Machine):
        one, held, two = (pass_cost(m, users=users, context=context) for users, context in ((1, 0), (1, 1 << 20), (2, 0)))
        self.weights_ms = one.memory_ms
        self.kv_ms = (held.memory_ms - one.memory_ms) / (1 << 20)
        self.arithmetic_ms = two.arithmetic_ms - one.arithmetic_ms

    def decode(self, users: int, held: int, passes: int) -> np.ndarray:
        """(passes,) ms of decode passes in a row, `users` people who hold `held` tokens together at first."""
        memory_ms = self.weights_ms + self.kv_ms * (held + users * np.arange(passes))
        return np.maximum(memory_ms, self.arithmetic_ms * users)

    def mixed(self, users: int, held: int, prompt_tokens: int, prompt_offset: float) -> float:
        """ms of a pass that decodes for `users` and reads `prompt_tokens` behind `prompt_offset` tokens."""
        return max(self.weights_ms + self.kv_ms * (held + prompt_offset), self.arithmetic_ms * (users + prompt_tokens))

    def fits(self, m: Machine, max_context: int) -> bool:
        """Whether pass_cost agrees on a grid of passes."""
        users, context, prompt, offset = np.meshgrid((0, 1, 7, 256), (0, 99, max_context), (1, 500, 8192), (0, 333))
        here = np.vectorize(self.mixed)(users, users * context, prompt, offset)
        return bool(np.allclose(here, pass_cost(m, users, context, prompt, offset).pass_ms, rtol=SAME, atol=0))


class Table:
    """For engines, windows and experts: decode passes from a table for each number of users, at whole numbers of tokens that
    grow by a constant ratio, with straight lines between them. That is exact where the time is straight; it bends at a
    window's length, which is a point of the table, and where arithmetic takes over from memory. Others are asked for."""

    def __init__(self, m: Machine, max_context: int):
        self.m = m
        bends = [0, m.llm.window] if m.llm.window else [0]
        self.contexts = np.union1d(bends, np.rint(np.geomspace(1, max(max_context, 2), POINTS)))
        self.rows: dict[int, np.ndarray] = {}

    def decode(self, users: int, held: int, passes: int) -> np.ndarray:
        """As in Line."""
        row = self.rows.get(users)
        if row is None:
            row = self.rows[users] = np.asarray(pass_cost(self.m, users=users, context=self.contexts).pass_ms)
        return np.interp(held / users + np.arange(passes), self.contexts, row)

    def mixed(self, users: int, held: int, prompt_tokens: int, prompt_offset: float) -> float:
        """As in Line."""
        return pass_cost(self.m, users=users, context=held / max(users, 1), prompt_tokens=prompt_tokens,
                         prompt_offset=prompt_offset).pass_ms
