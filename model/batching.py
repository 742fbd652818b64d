"""Batching: who sits in which slot when, with a static batch and with one that refills a slot at the next step."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from model.limits import whole, wholes

REPLIES = (24, 26, 10, 28, 28, 8, 30, 4, 26, 16)


@dataclass(frozen=True)
class Schedule:
    """Where each reply was written: `slot`, `start_step` and `end_step` (first step after it), (R,) ints each."""

    slots: int
    slot: np.ndarray
    start_step: np.ndarray
    end_step: np.ndarray

    @property
    def steps(self) -> int:
        """Steps until the last reply is complete."""
        return int(self.end_step.max())

    @property
    def idle_share(self) -> float:
        """Share of all slots x steps in which nothing was written, 0 to 1."""
        return 1.0 - float((self.end_step - self.start_step).sum()) / (self.slots * self.steps)

    def grid(self) -> np.ndarray:
        """(steps, slots) ints: which reply is written in each step and slot, -1 where the slot is empty."""
        grid = np.full((self.steps, self.slots), -1)
        for reply, (slot, start, end) in enumerate(zip(self.slot, self.start_step, self.end_step)):
            grid[start:end, slot] = reply
        return grid


@dataclass(frozen=True)
class Batch:
    """The same replies in the same slots, batched both ways."""

    static: Schedule
    continuous: Schedule


def batch(slots: int = 4, replies: tuple[int, ...] = REPLIES) -> Batch:
    """Serves `replies` (their lengths in steps, first come first served) from `slots` slots, both ways.

    Static: the next batch starts when the longest reply of the present one is complete. Continuous: a slot is refilled
    at the step after its reply is complete, which Orca (OSDI 2022) calls iteration-level scheduling.
    ValueError if there is no slot, no reply, or a reply without a step.
    """
    slots, replies = whole("slots", slots, 1, 10_000), wholes("replies", replies, 1, 10_000_000)
    return Batch(_static(slots, replies), _continuous(slots, replies))


def _static(slots: int, replies: tuple[int, ...]) -> Schedule:
    starts, start = [], 0
    for first in range(0, len(replies), slots):
        group = replies[first:first + slots]
        starts += [start] * len(group)
        start += max(group)
    return _schedule(slots, [i % slots for i in range(len(replies))], starts, replies)


def _continuous(slots: int, replies: tuple[int, ...]) -> Schedule:
    free = [(0, slot) for slot in range(slots)]
    taken, starts = [], []
    for length in replies:
        start, slot = free[0]
        heapq.heapreplace(free, (start + length, slot))
        taken.append(slot)
        starts.append(start)
    return _schedule(slots, taken, starts, replies)


def _schedule(slots: int, taken: list[int], starts: list[int], replies: tuple[int, ...]) -> Schedule:
    start = np.array(starts)
    return Schedule(slots, np.array(taken), start, start + np.array(replies))
