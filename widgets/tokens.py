"""The colours and sizes of every picture. Bokeh draws with the light ones; the page and the still pictures map them to dark.

Themes are exchanged by value, so no colour may stand twice in both tables together.
"""

LIGHT = {
    "paper": "#fbfaf7", "panel": "#ffffff", "ink": "#1f1f1d", "muted": "#6d6a63", "line": "#d9d5cb",
    "memory": "#2b6cb0", "memory_pale": "#a9c8e8", "arithmetic": "#bc5010", "arithmetic_pale": "#f0c39c",
    "weights": "#686c74", "misfit": "#b42318", "good": "#2f7d4f",
}
DARK = {
    "paper": "#16171b", "panel": "#1d1e23", "ink": "#e9e7e2", "muted": "#a09c93", "line": "#393a40",
    "memory": "#7db3ea", "memory_pale": "#2c4f75", "arithmetic": "#f2a565", "arithmetic_pale": "#6b4122",
    "weights": "#8d929b", "misfit": "#ff8a7a", "good": "#7fc79b",
}

# Hues for who is who, after Paul Tol's schemes; the same in light and dark. The grey is light enough to stay apart from the
# rose in an eye without red cones.
PEOPLE = ("#4477aa", "#cc6677", "#ddaa33", "#228833", "#aa4499", "#66ccee", "#997700", "#88ccaa", "#882255", "#999999")

UI_FONT = 'system-ui, Inter, "DejaVu Sans", sans-serif'
TEXT_PX = 13
SMALL_PX = 12


def luminance(colour: str) -> float:
    """Relative luminance, 0 to 1, of a colour written #rrggbb (WCAG 2.2)."""
    parts = (int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours, 1 to 21 (WCAG 2.2)."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def letter_on(colour: str) -> str:
    """White or black, whichever reads better on this colour.

    One step off both: pure white is the token `panel`, which the dark theme would exchange.
    """
    return max(("#fffffe", "#000001"), key=lambda ink: contrast(ink, colour))
