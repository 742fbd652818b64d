"""How the essay writes numbers."""
import math
import re

import pytest
from hypothesis import given, strategies as st

from app.words import count, digits, gb, letter, ms, people, percent, sentence, tokens, whole


@pytest.mark.parametrize("write, value, expected", [
    (count, 0, "none"), (count, 1, "one"), (count, 12, "twelve"), (count, 13, "13"), (count, 1234, "1,234"),
    (people, 0, "no people"), (people, 1, "one person"), (people, 10, "ten people"), (people, 64, "64 people"),
    (sentence, "ten people", "Ten people"), (sentence, "64 people", "64 people"), (sentence, "", ""),
    (sentence, "the KV cache", "The KV cache"),
    (whole, 8192, "8,192"), (whole, 0.4, "0"), (whole, 163.7, "164"),
    (tokens, 1, "1 token"), (tokens, 8192, "8,192 tokens"), (tokens, 0, "0 tokens"),
    # facts/essay.md: the weights, a conversation of 8,192 tokens, a big card
    (gb, 2 * 8_030_261_248, "16.1 GB"), (gb, 8192 * 131_072, "1.07 GB"), (gb, 141e9, "141 GB"),
    (gb, 512 * 131_072, "0.067 GB"), (gb, 3.5e6, "0.0035 GB"), (gb, 0, "0 GB"), (gb, -120.2e9, "−120 GB"),
    # facts/essay.md: a decode pass, a prefill of 2,000, one of 8,192, and 32 passes with a chunk
    (ms, 15.93, "15.9 ms"), (ms, 194.4, "194 ms"), (ms, 796.4, "796 ms"), (ms, 824.2, "824 ms"),
    (ms, 0, "0 ms"), (ms, 0.98, "0.98 ms"), (ms, 0.0045, "0.0045 ms"), (ms, 1592.9, "1,593 ms"), (ms, 9999, "9,999 ms"),
    (ms, 10_000, "10.0 s"), (ms, 12_432, "12.4 s"), (ms, 3_600_000, "3,600 s"),
    (digits, 0, "0"), (digits, 0.62, "0.62"), (digits, 0.0671, "0.067"), (digits, 0.996, "1.00"), (digits, 1, "1.00"),
    (digits, 9.994, "9.99"), (digits, 9.996, "10.0"), (digits, 15.93, "15.9"), (digits, 99.94, "99.9"),
    (digits, 99.96, "100"), (digits, 194, "194"), (digits, 12_345.4, "12,345"), (digits, -9.9, "−9.90"),
    (percent, 0, "0%"), (percent, 0.0001, "<0.1%"), (percent, 0.0006, "0.1%"), (percent, 0.0061, "0.6%"),
    (percent, 0.0094, "0.9%"), (percent, 0.0096, "1%"), (percent, 0.42, "42%"), (percent, 1, "100%"),
    (letter, 0, "A"), (letter, 9, "J"), (letter, 25, "Z"), (letter, 26, "AA"), (letter, 51, "AZ"), (letter, 52, "BA"),
    (letter, 701, "ZZ"), (letter, 702, "AAA"),
])
def test_table(write, value, expected):
    assert write(value) == expected


@pytest.mark.parametrize("n, noun, plural, expected", [
    (0, "page", "", "no pages"), (1, "page", "", "one page"), (2, "page", "", "two pages"), (13, "page", "", "13 pages"),
    (1, "such pass", "such passes", "one such pass"), (3, "such pass", "such passes", "three such passes")])
def test_count_with_a_noun(n, noun, plural, expected):
    assert count(n, noun, plural) == expected


@given(st.floats(1e-6, 1e12))
def test_digits_are_near_and_never_too_few(value):
    text = digits(value)
    assert "e" not in text
    assert math.isclose(float(text.replace(",", "")), value, rel_tol=0.0051 if value >= 1 else 0.051)
    significant = re.sub(r"[.,]", "", text).lstrip("0")
    assert len(significant) >= (3 if value >= 1 else 2)


@given(st.floats(1e-9, 1e9), st.floats(1, 1000))
def test_what_is_larger_is_never_written_smaller(value, factor):
    def number(text):
        return float(text.replace(",", ""))
    assert number(digits(value * factor)) >= number(digits(value))


@given(st.floats(1e-9, 1))
def test_what_is_there_is_never_written_as_nothing(value):
    assert percent(value) != "0%" and not re.fullmatch(r"[0.]+%?", percent(value)) and float(digits(value)) > 0


@given(st.integers(0, 20_000))
def test_letters_name_one_person_each(index):
    number = 0
    for c in letter(index):
        number = number * 26 + ord(c) - 64
    assert number == index + 1
