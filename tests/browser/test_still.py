"""Without scripts, and on paper: the whole prose, a picture with its sentence, the data as a table."""
from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page

from app.order import figure

from .conftest import FIGURES, drawn


def sentence(figure_id: str) -> str:
    f = figure(figure_id)
    picture = f.compute(f.settings())
    return picture.frames["say.sentence"][picture.telling].strip()


@pytest.fixture(params=[1280, 360])
def scriptless(browser: Browser, request):
    context = browser.new_context(java_script_enabled=False, viewport=dict(width=request.param, height=900))
    yield context.new_page()
    context.close()


def test_the_essay_without_scripts(scriptless: Page, site: str) -> None:
    scriptless.goto(site)
    assert scriptless.locator("main > p").count() > 30
    for figure_id in FIGURES:
        shown = scriptless.locator(f"#{figure_id} .still:visible svg")
        assert shown.count() == 1
        assert shown.get_attribute("role") == "img" and shown.get_attribute("aria-label").strip() == sentence(figure_id)
        assert scriptless.locator(f"#{figure_id}-status").text_content().strip() == sentence(figure_id)
        for dead in (".controls", ".player", ".share"):
            assert not scriptless.locator(f"#{figure_id} {dead}").is_visible()
        scriptless.locator(f"#{figure_id} .data summary").click()
        rows = scriptless.locator(f"#{figure_id} .data tbody tr")
        f = figure(figure_id)
        assert rows.count() == len(f.compute(f.settings()).table[1]) and rows.first.is_visible()


@pytest.mark.parametrize("figure_id", FIGURES)
def test_an_embed_without_scripts(scriptless: Page, site: str, figure_id: str) -> None:
    scriptless.goto(f"{site}embed/{figure_id}.html")
    assert scriptless.locator(".still:visible svg").get_attribute("aria-label").strip() == sentence(figure_id)
    assert scriptless.get_by_role("link").last.get_attribute("href") == f"../index.html#{figure_id}"


def test_on_paper(page: Page, site: str) -> None:
    page.goto(f"{site}embed/kv-memory.html")
    drawn(page, "kv-memory")
    page.emulate_media(media="print")
    assert page.locator(".plots").is_visible() and page.locator("#kv-memory-status").is_visible()
    assert page.locator(".data td").first.is_visible()
    for dead in (".controls", ".player", ".share"):
        assert not page.locator(dead).is_visible()
