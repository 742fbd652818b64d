"""The colours: readable in both themes, told apart by those who see fewer of them, the design's where nothing forbids it."""
from itertools import combinations

import numpy as np
import pytest

from widgets.tokens import DARK, LIGHT, PEOPLE, contrast, letter_on, luminance

THEMES = {"light": LIGHT, "dark": DARK}
TEXT = ("ink", "muted", "memory", "arithmetic", "weights", "misfit", "good")  # those that words are written in
PALE = {"memory": "memory_pale", "arithmetic": "arithmetic_pale"}

# shared/style/README.md, "Tokens": (name, light, dark)
DESIGN = [
    ("paper", "#fbfaf7", "#16171b"), ("panel", "#ffffff", "#1d1e23"), ("ink", "#1f1f1d", "#e9e7e2"),
    ("muted", "#6d6a63", "#a09c93"), ("line", "#d9d5cb", "#393a40"), ("memory", "#2b6cb0", "#7db3ea"),
    ("memory_pale", "#a9c8e8", "#2c4f75"), ("arithmetic_pale", "#f0c39c", "#6b4122"), ("misfit", "#b42318", "#ff8a7a"),
    ("good", "#2f7d4f", "#7fc79b"),
]
# Departures: the design's colour is too faint for the words that the figures write in it, or on it.
DEPARTED = [("weights", "light", "#8b8f97"), ("weights", "dark", "#7b8089"), ("arithmetic", "light", "#c2591a")]


@pytest.mark.parametrize("colour, expected", [("#000000", 0.0), ("#ffffff", 1.0), ("#ff0000", 0.2126), ("#777777", 0.1845)])
def test_luminance(colour, expected):
    """WCAG 2.2's definition, worked out by hand."""
    assert luminance(colour) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("one, other, expected", [
    ("#000000", "#ffffff", 21.0), ("#ffffff", "#000000", 21.0), ("#777777", "#777777", 1.0), ("#767676", "#ffffff", 4.54)])
def test_contrast(one, other, expected):
    """#767676 is the lightest grey that WCAG 2.2 AA lets stand on white."""
    assert contrast(one, other) == pytest.approx(expected, abs=0.005)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("behind", ("paper", "panel"))
@pytest.mark.parametrize("name", TEXT)
def test_words_can_be_read(theme, behind, name):
    """WCAG 2.2, 1.4.3: 4.5 to 1."""
    assert contrast(THEMES[theme][name], THEMES[theme][behind]) >= 4.5


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", ("memory", "arithmetic", "weights"))
def test_words_on_blocks_can_be_read(theme, name):
    """The numbers of people and the names of passes are written in `paper` on blocks of these."""
    assert contrast(THEMES[theme]["paper"], THEMES[theme][name]) >= 4.5


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", PALE)
def test_done_and_to_come_differ(theme, name):
    """WCAG 2.2, 1.4.11: 3 to 1 between a quantity's solid and pale form, which tell what has been from what will be."""
    assert contrast(THEMES[theme][name], THEMES[theme][PALE[name]]) >= 3


@pytest.mark.parametrize("name, light, dark", DESIGN)
def test_the_designs_colours(name, light, dark):
    assert (LIGHT[name], DARK[name]) == (light, dark)


@pytest.mark.parametrize("name, theme, colour", DEPARTED)
def test_a_departure_was_needed(name, theme, colour):
    """The design's colour fails one of the tests above, which the token passes."""
    tokens = THEMES[theme]
    others = [tokens["paper"], tokens["panel"]]
    assert min(contrast(colour, other) for other in others) < 4.5 <= min(contrast(tokens[name], other) for other in others)


def test_the_tables_are_complete():
    assert LIGHT.keys() == DARK.keys() == {name for name, *_ in DESIGN} | {name for name, *_ in DEPARTED}


def test_no_colour_stands_twice():
    """Themes are exchanged by value: two tokens of one value would come back as one, a person's hue as a token."""
    colours = [*LIGHT.values(), *DARK.values(), *PEOPLE, *map(letter_on, LIGHT.values())]
    assert all(colour == colour.lower() and len(colour) == 7 for colour in colours)
    fixed = {*PEOPLE, letter_on("#000000"), letter_on("#ffffff")}
    assert len({*LIGHT.values(), *DARK.values()} | fixed) == len(LIGHT) + len(DARK) + len(PEOPLE) + 2


@pytest.mark.parametrize("colour", PEOPLE)
def test_letters_can_be_read(colour):
    assert contrast(letter_on(colour), colour) >= 4.5


# Machado, Oliveira, Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency" (2009), severity 1.
EYES = {
    "all cones": np.eye(3),
    "no red cones": np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]),
    "no green cones": np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]),
}
XYZ = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]])
WHITE = np.array([0.95047, 1.0, 1.08883])


def seen(colour, eye):
    """L*a*b* (CIE 1976) of a colour as this eye sees it."""
    value = np.array([int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    share = XYZ @ np.clip(EYES[eye] @ linear, 0, 1) / WHITE
    f = np.where(share > 0.008856, np.cbrt(share), 7.787 * share + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def apart(one, other, eye):
    """Colour difference (CIE 1976); 2.3 is just noticeable."""
    return np.linalg.norm(seen(one, eye) - seen(other, eye))


@pytest.mark.parametrize("eye", EYES)
@pytest.mark.parametrize("one, other", list(combinations(PEOPLE, 2)))
def test_people_are_told_apart(eye, one, other):
    """Four times what is just noticeable; the letter on each tells the rest."""
    assert apart(one, other, eye) >= 4 * 2.3


@pytest.mark.parametrize("eye", EYES)
@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("one, other", list(combinations(("memory", "arithmetic", "misfit", "weights"), 2)))
def test_quantities_are_told_apart(eye, theme, one, other):
    assert apart(THEMES[theme][one], THEMES[theme][other], eye) >= 4 * 2.3
