"""How long a simulated server's passes take: pass_cost's own answers, quick enough to ask for hundreds of thousands."""

from __future__ import annotations

import numpy as np

from model.machine import Machine
from model.passes import clock, pass_cost

POINTS = 2049  # over 131,072 tokens that is a step of 0.6%: wrong by a seventh of a percent where the time bends, at most
SAME = 1e-12
BLOCK = 32     # numbers of users that a Table looks up together


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
    """For engines, windows and experts: decode passes from a table for each number of users, with straight lines between
    its contexts. The time is straight from corner to corner, which are a window's length and where arithmetic takes over
    from memory; where a corner is not known beforehand the table has many contexts, a constant ratio apart."""

    def __init__(self, m: Machine, max_context: int):
        self.clock = clock(m)
        bends = [0, 1, m.llm.window] if m.llm.window else [0, 1]
        most = max(max_context, 2)
        self.corners = np.unique([*(bend for bend in bends if bend < most), most]).astype(float)
        self.many = np.union1d(self.corners, np.rint(np.geomspace(1, most, POINTS)))
        self.rows: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def decode(self, users: int, held: int, passes: int) -> np.ndarray:
        """As in Line."""
        if users not in self.rows:
            self._add(users)
        return np.interp(held / users + np.arange(passes), *self.rows[users])

    def _add(self, users: int) -> None:
        """Rows (contexts, ms) of all numbers of users in the block of BLOCK to which this one belongs."""
        block = np.arange((users - 1) // BLOCK * BLOCK, (users - 1) // BLOCK * BLOCK + BLOCK) + 1.0
        middles = (self.corners[1:] + self.corners[:-1])[1:] / 2  # none before one token: nobody decodes with nothing held
        ms = self.clock(block[:, None], np.concatenate([self.corners, middles]))
        at_corners, between = ms[:, :len(self.corners)], ms[:, len(self.corners):]
        straight = np.isclose(between, (at_corners[:, 2:] + at_corners[:, 1:-1]) / 2, rtol=SAME, atol=0).all(axis=1)
        for number, row, whole in zip(block.astype(int).tolist(), at_corners, straight):
            self.rows[number] = (self.corners, row) if whole else (self.many, self.clock(float(number), self.many))

    def mixed(self, users: int, held: int, prompt_tokens: int, prompt_offset: float) -> float:
        """As in Line."""
        return float(self.clock(float(users), held / max(users, 1), float(prompt_tokens), float(prompt_offset)))
