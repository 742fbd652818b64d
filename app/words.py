"""Numbers as the essay writes them. One place, so that picture, sentence and prose say the same number."""
from __future__ import annotations

import math

WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def count(n: int, noun: str = "", plural: str = "") -> str:
    """`four`, `ten`, `13`; with a noun `one person`, `four people`."""
    word = WORDS[n] if 0 <= n < len(WORDS) else f"{n:,}"
    if not noun:
        return "none" if n == 0 else word
    return f"{word} {noun if n == 1 else plural or noun + 's'}"


def people(n: int) -> str:
    """`one person`, `ten people`."""
    return count(n, "person", "people")


def sentence(text: str) -> str:
    """The same with a capital first letter."""
    return text[:1].upper() + text[1:]


def whole(n: float) -> str:
    """`8,192`."""
    return f"{n:,.0f}"


def tokens(n: float) -> str:
    """`8,192 tokens`, `1 token`."""
    return f"{n:,.0f} token{'' if n == 1 else 's'}"


def gb(n_bytes: float) -> str:
    """Decimal gigabytes as `digits` writes them: `16.1 GB`, `1.07 GB`, `141 GB`, `0.067 GB`."""
    return f"{digits(n_bytes / 1e9)} GB"


def ms(value: float) -> str:
    """Milliseconds, seconds from ten of them on: `15.9 ms`, `194 ms`, `1,592 ms`, `12.4 s`.

    Not from one second on: 796 ms and 1,592 ms, a document and one twice as long, would stand in two units.
    """
    return f"{digits(value / 1e3)} s" if value >= 10_000 else f"{digits(value)} ms"


def digits(value: float) -> str:
    """Three significant digits, two below one, never in powers of ten: `0.067`, `0.62`, `15.9`, `194`, `12,345`, `−9.90`."""
    if value == 0:
        return "0"
    size = abs(value)
    if size < 1:
        places = 1 - math.floor(math.log10(size))
    else:  # the limits are where rounding adds a digit
        places = 2 if size < 9.995 else 1 if size < 99.95 else 0
    return f"{value:,.{places}f}".replace("-", "−")


def percent(share: float) -> str:
    """`100%`, `42%`, `0.6%`, `<0.1%`: one place below one per cent, none above; `0%` is nothing at all."""
    value = 100 * share
    if 0 < value < 0.05:
        return "<0.1%"
    return f"{value:.1f}%" if 0 < value < 0.95 else f"{value:.0f}%"


def letter(index: int) -> str:
    """A, B, ... Z, AA, AB ...: who is who."""
    name = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        name = chr(65 + rest) + name
    return name
