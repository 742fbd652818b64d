"""What a number may be: each check returns the number, or says in one line what is wrong and what would be right."""

from __future__ import annotations

import math
import numbers


def whole(name: str, value, least: int, most: int | None = None) -> int:
    """`value` as an int. ValueError unless it is a whole number of at least `least` and at most `most`."""
    span = f"of at least {least:,}" if most is None else f"from {least:,} to {most:,}"
    fits = (isinstance(value, numbers.Real) and not isinstance(value, bool)
            and math.isfinite(value) and int(value) == value)
    if not fits or value < least or (most is not None and value > most):
        raise ValueError(f"{name} is {value!r}: it must be a whole number {span}")
    return int(value)


def number(name: str, value, least: float, most: float = math.inf, above: bool = False) -> float:
    """`value` as a float. ValueError unless it is a finite number from `least` (or above it, with `above`) to `most`."""
    span = f"{'above' if above else 'of at least'} {least:g}" if most == math.inf else f"from {least:g} to {most:g}"
    fits = isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value)
    if not fits or value < least or value > most or (above and value == least):
        raise ValueError(f"{name} is {value!r}: it must be a number {span}")
    return float(value)


def wholes(name: str, values, least: int, most: int | None = None) -> tuple[int, ...]:
    """`values` as ints, at least one of them. ValueError as in `whole`, naming which of them is wrong."""
    values = tuple(values)
    if not values:
        raise ValueError(f"{name} is empty: give at least one whole number")
    return tuple(whole(f"{name}[{i}]", value, least, most) for i, value in enumerate(values))
