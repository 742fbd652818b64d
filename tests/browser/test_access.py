"""Nobody is left out: axe finds nothing, the keyboard reaches everything, small and zoomed windows do not scroll sideways."""
from __future__ import annotations

from pathlib import Path

import axe_playwright_python
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from app.order import figure
from app.parameters import parameters

from .conftest import FIGURES, drawn, until

AXE = next(Path(axe_playwright_python.__file__).parent.rglob("axe.min.js")).read_text(encoding="utf-8")
PAGES = ["index.html", "index.html?teach=1", "teach.html", "parameters.html", *(f"embed/{f}.html" for f in FIGURES)]
PLAYER = ("Play", "Step back", "Step forward", "Restart", "Position", "Speed")


def audited(page: Page) -> list[str]:
    """What axe finds, a line each; all fold-outs are opened first."""
    page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true })")
    page.evaluate(AXE)
    return page.evaluate("""async () => (await axe.run()).violations.flatMap(({id, nodes}) =>
        nodes.map(({target, failureSummary}) => `${id}: ${target} ${failureSummary}`))""")


@pytest.fixture(params=["light", "dark"])
def reader(browser: Browser, request):
    """A page for a reader of light or dark pages; axe itself is let through the policy."""
    context = browser.new_context(color_scheme=request.param, reduced_motion="reduce", bypass_csp=True,
                                  viewport=dict(width=1280, height=900))
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("path", PAGES)
def test_axe_finds_nothing(reader: Page, site: str, path: str) -> None:
    reader.goto(site + path)
    if "parameters" not in path and "teach.html" not in path:
        reader.locator("figure.drawn").first.wait_for()
    assert audited(reader) == []


def test_axe_finds_nothing_at_the_end_of_play_and_after_python(reader: Page, site: str) -> None:
    reader.goto(f"{site}embed/batching.html")
    drawn(reader, "batching")
    reader.get_by_label("Speed").select_option("4")
    reader.get_by_role("button", name="Restart").click()
    expect(reader.get_by_role("button", name="Play", exact=True)).to_be_visible()
    assert audited(reader) == []
    reader.get_by_label("Seed").press("ArrowRight")
    until(reader, "document.documentElement.dataset.python === 'live' && !document.querySelector('figure.waiting')")
    assert audited(reader) == []


@pytest.mark.parametrize("figure_id", FIGURES)
def test_the_tab_key_reaches_everything_in_order_with_a_visible_focus(page: Page, site: str, figure_id: str) -> None:
    page.goto(f"{site}embed/{figure_id}.html")
    drawn(page, figure_id)
    page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true })")
    wanted = page.evaluate("""() => [...document.querySelectorAll('button, input, select, textarea, summary, a[href], [tabindex="0"]')]
        .filter(e => e.checkVisibility()).map(e => `${e.tagName} ${e.name ?? ''} ${e.id} ${e.ariaLabel ?? e.textContent.slice(0, 40)}`)""")
    reached, hidden = [], []
    for _ in wanted:
        page.keyboard.press("Tab")
        html, outline = page.evaluate("""() => { const e = document.activeElement, s = getComputedStyle(e);
            return [`${e.tagName} ${e.name ?? ''} ${e.id} ${e.ariaLabel ?? e.textContent.slice(0, 40)}`, s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2] }""")
        reached.append(html)
        if not outline:
            hidden.append(html)
    assert reached == wanted
    assert not hidden


@pytest.mark.parametrize("figure_id", FIGURES)
def test_the_accessibility_tree_names_every_control_and_says_every_number(page: Page, site: str, figure_id: str) -> None:
    page.goto(f"{site}embed/{figure_id}.html")
    drawn(page, figure_id)
    f = figure(figure_id)
    page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true })")
    tree = page.locator("body").aria_snapshot()
    for p in parameters(f):
        assert f'"{p.label}' in tree, p.label
    for name in PLAYER:
        assert f'"{name}' in tree
    picture = f.compute(f.settings())
    assert picture.frames["say.sentence"][picture.telling].strip() in " ".join(tree.split())


def test_the_keyboard_alone_plays_steps_and_changes(page: Page, site: str) -> None:
    page.goto(f"{site}embed/kv-memory.html")
    drawn(page, "kv-memory")
    page.keyboard.press("Tab")
    expect(page.locator(".picture")).to_be_focused()
    said = page.locator("#kv-memory-status")
    for key, words in (("Home", "Nobody is here yet."), ("ArrowRight", "One of ten people"), ("End", "Ten people at 8,192")):
        page.keyboard.press(key)
        expect(said).to_contain_text(words)
    page.keyboard.press(" ")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    page.keyboard.press(" ")
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowLeft")
    expect(said).to_contain_text("Nine people")


def test_the_sentence_is_quiet_while_playing(page: Page, site: str) -> None:
    page.goto(f"{site}embed/batching.html")
    drawn(page, "batching")
    said = page.locator("#batching-status")
    page.get_by_role("button", name="Restart").click()
    expect(said).to_have_attribute("aria-live", "off")
    page.get_by_role("button", name="Pause").click()
    expect(said).to_have_attribute("aria-live", "polite")


def test_nothing_moves_unasked_where_motion_is_unwanted(page: Page, site: str) -> None:
    page.goto(site)
    drawn(page, FIGURES[0])
    page.locator(f"#{FIGURES[0]}").scroll_into_view_if_needed()
    until(page, "document.documentElement.dataset.python === 'live'")
    assert page.locator("button.playing").count() == 0
    assert page.evaluate("document.getAnimations().length") == 0


# 640 px wide at 1280: what a browser's 200% zoom leaves of a common window.
@pytest.mark.parametrize("width", [320, 640])
@pytest.mark.parametrize("path", PAGES)
def test_no_sideways_scrolling(page: Page, site: str, path: str, width: int) -> None:
    page.set_viewport_size(dict(width=width, height=700))
    page.goto(site + path)
    if page.locator("figure").count():
        page.locator("figure.drawn").first.wait_for()
    page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true })")
    wide = page.evaluate("""() => [...document.querySelectorAll('body *')].filter(e => e.checkVisibility()
        && e.getBoundingClientRect().right > innerWidth + 1 && !e.closest('.scroll, svg')).map(e => e.outerHTML.slice(0, 120))""")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), wide


@pytest.mark.parametrize("figure_id", FIGURES)
def test_targets_are_large_enough(page: Page, site: str, figure_id: str) -> None:
    page.set_viewport_size(dict(width=360, height=740))
    page.goto(f"{site}embed/{figure_id}.html")
    drawn(page, figure_id)
    page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true })")
    small = page.evaluate("""() => [...document.querySelectorAll('button, input, select, summary')].filter(e => {
        const {width, height} = e.getBoundingClientRect(), least = e.closest('.player') ? 44 : 24;
        return e.checkVisibility() && (height < least || width < least) }).map(e => e.outerHTML.slice(0, 120))""")
    assert small == []


def touch(context: BrowserContext, page: Page, points: list[tuple[float, float]]) -> None:
    """A finger that goes along these points and is lifted."""
    session = context.new_cdp_session(page)
    for i, (x, y) in enumerate(points):
        session.send("Input.dispatchTouchEvent", dict(type="touchMove" if i else "touchStart", touchPoints=[dict(x=x, y=y)]))
    session.send("Input.dispatchTouchEvent", dict(type="touchEnd", touchPoints=[]))


def test_a_swipe_that_begins_on_a_slider_scrolls_and_leaves_the_value(browser: Browser, site: str) -> None:
    context = browser.new_context(viewport=dict(width=390, height=500), has_touch=True, is_mobile=True, reduced_motion="reduce")
    page = context.new_page()
    page.goto(f"{site}embed/kv-memory.html")
    drawn(page, "kv-memory")
    slider = page.get_by_label("Users", exact=True)
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    x, y, before = box["x"] + box["width"] * 0.8, box["y"] + box["height"] / 2, page.evaluate("scrollY")
    touch(context, page, [(x, y - step * 12) for step in range(12)])
    until(page, f"scrollY !== {before}")
    assert slider.get_attribute("aria-valuetext") == "10 people"
    context.close()


def test_high_contrast_keeps_every_control_visible(browser: Browser, site: str) -> None:
    context = browser.new_context(forced_colors="active", reduced_motion="reduce")
    page = context.new_page()
    page.goto(f"{site}embed/kv-memory.html")
    drawn(page, "kv-memory")
    play = page.get_by_role("button", name="Play", exact=True)
    assert play.evaluate("e => getComputedStyle(e).borderTopStyle") == "solid"
    assert play.evaluate("e => getComputedStyle(e).backgroundColor !== getComputedStyle(e).color")
    context.close()
