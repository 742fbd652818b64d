"""Writes pictures of every figure, to be looked at: python -m pytest tests/browser/pictures.py

.cache/pictures/<figure>-<width>-<theme>.png: the figure at its first, middle and last frame, one below the other. Not collected by
the ordinary run (its name does not begin with test_); nothing in it is asserted but that the pictures were made.
"""
from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Browser, Page

from .conftest import FIGURES, ROOT
from .reader import embed, frames, picture, reader

FOLDER = ROOT / ".cache" / "pictures"
WIDTHS = (1280, 768, 360)
THEMES = ("light", "dark")


# Shows a frame without scrolling to the slider, and gives the figure's place down to its sentence.
FRAME = """index => {
    const figure = document.querySelector('.figure'), position = figure.querySelector('[data-do=position]');
    position.value = index;
    position.dispatchEvent(new Event('input', {bubbles: true}));
    const end = figure.querySelector('[role=status]').getBoundingClientRect().bottom;
    return {x: 0, y: figure.getBoundingClientRect().top + scrollY, width: innerWidth, height: end - figure.getBoundingClientRect().top};
}"""


def shots(page: Page, figure_id: str) -> list[Image.Image]:
    """The figure down to its sentence, at its first, middle and last frame."""
    made = []
    last = frames(page, figure_id) - 1
    for index in dict.fromkeys((0, last // 2, last)):
        place = page.evaluate(FRAME, index)
        picture(page, figure_id)
        made.append(Image.open(io.BytesIO(page.screenshot(clip=place, full_page=True))))
    return made


def column(images: list[Image.Image], gap: int = 12) -> Image.Image:
    """All pictures one below the other."""
    whole = Image.new("RGB", (max(i.width for i in images), sum(i.height + gap for i in images)), "#888888")
    top = 0
    for image in images:
        whole.paste(image, (0, top))
        top += image.height + gap
    return whole


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_write_pictures(browser: Browser, site: str, width: int, theme: str) -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with reader(browser, color_scheme=theme, viewport=dict(width=width, height=900)) as context:
        for figure_id in FIGURES:
            page = embed(context.new_page(), site, figure_id)
            path: Path = FOLDER / f"{figure_id}-{width}-{theme}.png"
            column(shots(page, figure_id)).save(path)
            assert path.stat().st_size > 2000
            page.close()
