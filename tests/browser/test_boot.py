"""Python arrives without a trace: from its snapshot or from modules, nothing on the page moves when it takes over."""
from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from app.order import figure

from .conftest import FIGURES, drawn, until
from .reader import alike, answered, essay, live, move, picture, play, reader, status

BOOTS = ("snapshot", "modules")
# Every change from now on of what a reader can meet; what says that Python is there is meant to change.
WATCH = """() => {
    globalThis.changes = [];
    new MutationObserver(records => { for (const {type, target, attributeName, oldValue} of records) {
        const element = target.nodeType === 1 ? target : target.parentElement;
        if (element === document.documentElement && /^data-(python|boot)$/.test(attributeName)) continue;
        if (type === 'attributes' ? element.getAttribute(attributeName) === oldValue : element.closest('[hidden]')) continue;
        changes.push(`${type} ${element.nodeName} ${element.className} ${attributeName}: ${oldValue}`);
    } }).observe(document, {subtree: true, childList: true, characterData: true, attributes: true, attributeOldValue: true});
}"""


class Hold:
    """Requests for Python's large files, kept waiting."""

    def __init__(self, page: Page) -> None:
        self.held, self.open = [], False
        page.context.route(re.compile(r"/python/(heap\.bin|site\.zip|stdlib\.zip)"), self.handle)

    def handle(self, route: Route) -> None:
        if self.open:
            route.continue_()
        else:
            self.held.append(route)

    def release(self) -> None:
        """Lets them through, also those that are asked for later."""
        self.open = True
        for route in self.held:
            route.continue_()


def said(figure_id: str, values: dict) -> str:
    f = figure(figure_id)
    shown = f.compute(f.settings(**values))
    return shown.frames["say.sentence"][shown.telling].strip()


@pytest.mark.parametrize("boot", BOOTS)
def test_boot_says_which_way_it_went_and_answers(browser: Browser, site: str, boot: str) -> None:
    with reader(browser) as context:
        page = essay(context.new_page(), site, f"?boot={boot}")
        assert page.locator("html").get_attribute("data-boot") == boot
        for figure_id in FIGURES:
            f = figure(figure_id)
            control = next(c.name for c in f.controls if c.name != f.main and isinstance(f.defaults()[c.name], int))
            value = f.settings.param[control].bounds[1] if not isinstance(f.defaults()[control], bool) else not f.defaults()[control]
            looked = picture(page, figure_id)
            move(page, figure_id, control, value)
            answered(page, figure_id)
            assert status(page, figure_id) == said(figure_id, {control: value})
            assert not alike(picture(page, figure_id), looked)


@pytest.mark.parametrize("boot", BOOTS)
def test_taking_over_changes_nothing(browser: Browser, site: str, boot: str) -> None:
    with reader(browser) as context:
        page = context.new_page()
        hold = Hold(page)
        page.goto(f"{site}?boot={boot}")
        until(page, "document.querySelectorAll('figure.drawn').length === 8")
        page.locator("#kv-memory").scroll_into_view_if_needed()
        looks = [picture(page, figure_id) for figure_id in FIGURES]
        seen = page.screenshot(animations="disabled", caret="hide")
        page.evaluate(WATCH)
        assert page.locator("html").get_attribute("data-python") == "loading"
        hold.release()
        live(page)
        assert [picture(page, figure_id) for figure_id in FIGURES] == looks
        assert page.evaluate("changes") == []
        assert page.screenshot(animations="disabled", caret="hide") == seen


@pytest.mark.parametrize("boot", BOOTS)
def test_a_slider_moved_before_is_answered_after_and_once(browser: Browser, site: str, boot: str) -> None:
    with reader(browser) as context:
        page = context.new_page()
        hold = Hold(page)
        page.goto(f"{site}?boot={boot}")
        until(page, "document.querySelectorAll('figure.drawn').length === 8")
        page.evaluate("""() => { globalThis.heard = [];
            for (const f of document.querySelectorAll('figure')) f.addEventListener('settled', () => heard.push(f.id)) }""")
        before = status(page, "kv-memory")
        for context_tokens in (4096, 1024, 2048):
            move(page, "kv-memory", "context", context_tokens)
        move(page, "paging", "page_size", 64)
        expect(page.locator("#kv-memory .note")).to_contain_text("Waiting for Python to answer this setting")
        assert status(page, "kv-memory") == before
        hold.release()
        live(page)
        answered(page, "kv-memory")
        answered(page, "paging")
        assert status(page, "kv-memory") == said("kv-memory", {"context": 2048})
        assert status(page, "paging") == said("paging", {"page_size": 64})
        move(page, "batching", "seed", 3)
        answered(page, "batching")
        assert page.evaluate("heard.sort()") == ["batching", "kv-memory", "paging"]
        assert page.locator(".note").all_text_contents() == [""] * len(FIGURES)


def test_the_main_slider_answers_before_python(browser: Browser, site: str) -> None:
    with reader(browser) as context:
        page = context.new_page()
        hold = Hold(page)
        page.goto(site)
        until(page, "document.querySelectorAll('figure.drawn').length === 8")
        moved = {}
        for figure_id in FIGURES:
            f = figure(figure_id)
            low, high = f.settings.param[f.main].bounds
            value = high if low == f.defaults()[f.main] else low
            looked = picture(page, figure_id)
            move(page, figure_id, f.main, value)
            answered(page, figure_id)
            assert status(page, figure_id) == said(figure_id, {f.main: value})
            moved[figure_id] = value
            assert not alike(picture(page, figure_id), looked)
        assert page.locator("html").get_attribute("data-python") == "loading"
        looks = [picture(page, figure_id) for figure_id in FIGURES]
        hold.release()
        live(page)
        move(page, "kv-memory", "context", 1024)
        answered(page, "kv-memory")
        assert status(page, "kv-memory") == said("kv-memory", {"users": moved["kv-memory"], "context": 1024})
        assert all(alike(picture(page, f), look) for f, look in zip(FIGURES, looks) if f != "kv-memory")


# Frame names in the order in which a playing film shows them, until it ends.
FILM = """id => { const position = document.querySelector(`#${id} [data-do=position]`), play = document.querySelector(`#${id} [data-do=play]`);
    globalThis.film = []; requestAnimationFrame(function look() {
        film.push([Number(position.value), document.documentElement.dataset.python]);
        if (play.getAttribute('aria-label') === 'Pause') requestAnimationFrame(look); }) }"""


def test_a_film_plays_on_while_python_takes_over(browser: Browser, site: str) -> None:
    with reader(browser) as context:
        page = context.new_page()
        hold = Hold(page)
        page.goto(site)
        drawn(page, "settings")
        page.locator("#settings [data-do=speed]").select_option("0.5")
        play(page, "settings")
        page.evaluate(FILM, "settings")
        until(page, "film.at(-1)?.[0] > 2")
        hold.release()
        live(page)
        page.locator("#settings [data-do=speed]").evaluate("speed => { speed.value = 4 }")
        expect(page.locator("#settings [data-do=play]")).to_have_accessible_name("Play")
        film = page.evaluate("film")
    assert {state for _, state in film} == {"loading", "live"}
    shown = [index for index, _ in film]
    assert shown == sorted(shown)  # never back, never stopped
    loading = [index for index, state in film if state == "loading"]
    assert sorted(set(loading)) == list(range(loading[0], loading[-1] + 1))  # at half speed each frame is seen
