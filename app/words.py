"""Numbers as the essay writes them. One place, so that picture, sentence and prose say the same number."""
from __future__ import annotations

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
    """Decimal gigabytes with three digits: `16.1 GB`, `1.07 GB`, `141 GB`."""
    return f"{digits(n_bytes / 1e9)} GB"


def ms(value: float) -> str:
    """Milliseconds, seconds from ten of them on: `15.9 ms`, `194 ms`, `12.4 s`."""
    return f"{digits(value / 1e3)} s" if value >= 10_000 else f"{digits(value)} ms"


def digits(value: float) -> str:
    """Three significant digits, never in powers of ten: `0.62`, `15.9`, `194`, `12,345`."""
    if value == 0:
        return "0"
    size = abs(value)
    for limit, places in ((1, 2), (10, 2), (100, 1)):
        if size < limit:
            return f"{value:.{places}f}"
    return f"{value:,.0f}"


def percent(share: float) -> str:
    """`100%`, `42%`, `0.6%`: one place below one per cent, none above."""
    value = 100 * share
    return f"{value:.1f}%" if 0 < value < 0.95 else f"{value:.0f}%"


def letter(index: int) -> str:
    """A, B, ... Z, AA, AB ...: who is who."""
    name = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        name = chr(65 + rest) + name
    return name
