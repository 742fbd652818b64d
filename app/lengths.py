"""A setting that is a list of lengths, written as one would type it: `24, 26, 10`."""
from __future__ import annotations

import re

import param


class Lengths(param.String):
    """Whole numbers with commas or spaces between them: `least` to `most` each, at most `many` of them."""

    __slots__ = ["least", "many", "most"]

    def __init__(self, default: str = "1", *, least: int = 1, most: int = 500, many: int = 40, **more):
        self.least, self.most, self.many = least, most, many
        super().__init__(default, **more)

    def _validate(self, val) -> None:
        super()._validate(val)
        self.parse(val)

    def parse(self, text: str) -> tuple[int, ...]:
        """The numbers. ValueError that says what would be right."""
        words = [word for word in re.split(r"[,;\s]+", text) if word]
        good = all(re.fullmatch(r"[0-9]{1,9}", word) and self.least <= int(word) <= self.most for word in words)
        if not good or not 1 <= len(words) <= self.many:
            raise ValueError(f"{self.name or 'the list'} is {text[:60]!r}: it must be 1 to {self.many} whole numbers from "
                             f"{self.least:,} to {self.most:,} with commas between them, such as 24,26,10")
        return tuple(int(word) for word in words)
