"""The essay as a reader meets it: text first, figures second, Python third; numbers and words in the prose move figures."""
from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
from playwright.sync_api import Browser, Page, expect

from app.words import count, gb, tokens, whole

from .conftest import DIST, FIGURES, ROOT, drawn, until
from .reader import alike, answered, essay, live, move, picture, play, reader, status

PYTHON = re.compile(r"/(worker\.mjs|python/)")
# Notes every state of data-python from the very beginning.
STATES = """(() => { globalThis.states = []; new MutationObserver(() => {
    const now = document.documentElement?.dataset.python;
    if (now && now !== states.at(-1)) states.push(now);
}).observe(document, {subtree: true, childList: true, attributes: true, attributeFilter: ['data-python']}) })()"""


# Text first.

@pytest.mark.parametrize("way", ["scripts off", "scripts never arrive"])
def test_the_prose_is_there_before_any_script(browser: Browser, site: str, way: str) -> None:
    with reader(browser, java_script_enabled=way != "scripts off") as context:
        context.route(re.compile(r"\.m?js"), lambda route: route.abort())
        page = context.new_page()
        page.goto(site)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        words = len(re.findall(r"\w+", page.locator("main").inner_text()))
        assert words > 1500
        for figure_id in FIGURES:
            expect(page.locator(f"#{figure_id}-status")).to_be_visible()
            expect(page.locator(f"#{figure_id} .still.wide svg")).to_be_visible()
        if way == "scripts off":
            assert not any(part.is_visible() for part in page.locator(".controls, .player, .share").all())


def test_text_then_figure_then_python(browser: Browser, site: str) -> None:
    with reader(browser) as context:
        context.add_init_script(STATES)
        page = context.new_page()
        page.goto(site)
        live(page)
        marks = page.evaluate("['text', 'first-figure', 'python-live'].map(n => performance.getEntriesByName(n).map(m => m.startTime))")
        assert [len(times) for times in marks] == [1, 1, 1]
        assert sorted(marks) == marks
        assert page.evaluate("states") == ["waiting", "loading", "live"]


# Nothing from elsewhere.

def test_the_site_names_no_other_host() -> None:
    """Links that a reader may follow, and names that are no addresses (XML, canonical licences), are all that is allowed."""
    allowed = re.compile(r"<a [^>]*href=\"https?://[^\"]+\"|xmlns(?::\w+)?=\"http://www\.w3\.org/[^\"]*\"|http://www\.w3\.org/[\w/#]+")
    found = []
    for path in sorted(DIST.rglob("*")):
        if path.suffix not in (".html", ".mjs", ".json", ".css", ".svg") or path.name in ("licences.html", "bokeh.min.js"):
            continue
        if path.parent.name == "python" and path.name.startswith("pyodide"):
            continue  # Pyodide's own; what it asks for is watched in the next test
        text = allowed.sub("", path.read_text(encoding="utf-8"))
        found += [(path.relative_to(DIST).as_posix(), hit) for hit in re.findall(r"https?://[\w.-]+[^\s\"'<)]*", text)]
    assert not found


@pytest.mark.parametrize("boot", ["snapshot", "modules"])
def test_no_request_leaves_the_site(browser: Browser, site: str, boot: str) -> None:
    asked: list[str] = []
    with reader(browser) as context:
        context.on("request", lambda request: asked.append(request.url))
        page = essay(context.new_page(), site, f"?boot={boot}")
        move(page, "kv-memory", "context", 512)
        answered(page, "kv-memory")
    assert len(asked) > 20
    assert not [url for url in asked if not url.startswith((site, "data:", "blob:"))]


# What a slider asks Python.

def test_ten_people_at_8192_tokens(browser: Browser, site: str) -> None:
    done = subprocess.run([sys.executable, "-m", "model", "memory", "--users", "10", "--context", "8192", "--json"],
                          capture_output=True, text=True, cwd=ROOT, check=True)
    said = json.loads(done.stdout)
    with reader(browser) as context:
        page = essay(context.new_page(), site, "?kv-memory.users=4")
        until(page, "document.querySelector('#kv-memory-status').textContent.includes('Four people')")
        before, looked = status(page, "kv-memory"), picture(page, "kv-memory")
        slider = page.locator("#kv-memory").get_by_role("slider", name="Users", exact=True)
        for _ in range(6):
            slider.press("ArrowRight")
        expect(slider).to_have_attribute("aria-valuetext", "10 people")
        answered(page, "kv-memory")
        after = status(page, "kv-memory")
        assert after != before and picture(page, "kv-memory") != looked
        each = said["kv_bytes_per_token"] * 8192
        for words in (gb(10 * each), f"{whole(said['kv_bytes_per_token'])} bytes a token", gb(said["budget_bytes"]),
                      tokens(said["budget_tokens"]), f"{count(said['users_fit'])} fit".capitalize(),
                      f"{count(10 - said['users_fit'])} do not"):
            assert words in after
        # The prose and "How is this computed?" say the same numbers.
        for word, text in (("kv_bytes_per_token", whole(said["kv_bytes_per_token"])), ("budget", gb(said["budget_bytes"])),
                           ("fit", count(said["users_fit"])), ("misfit", count(10 - said["users_fit"]))):
            places = page.locator(f"[data-say={word}]").evaluate_all(
                "places => places.filter(p => p.closest('[data-figure]').dataset.figure === 'kv-memory').map(p => p.textContent)")
            assert places and set(places) == {text}, word


# Python's files are not to be had.

def test_without_python_the_essay_reads_and_plays(browser: Browser, site: str) -> None:
    with reader(browser) as context:
        context.route(PYTHON, lambda route: route.abort())
        page = context.new_page()
        page.goto(site)
        page.wait_for_selector("html[data-python=failed]", state="attached")
        until(page, "document.querySelectorAll('figure.drawn').length === 8")
        for figure_id in FIGURES:
            note = page.locator(f"#{figure_id} .note")
            expect(note).to_contain_text("Python could not be loaded")
            expect(page.locator(f"#{figure_id} .retry")).to_have_text("Try again")
        play(page, "prefill-decode")
        until(page, "document.querySelector('#prefill-decode [data-do=position]').value > 2")
        # The main slider still answers; what it cannot answer says so and keeps the picture of before.
        page.locator("#kv-memory").get_by_label("Users", exact=True).press("ArrowLeft")
        until(page, "document.querySelector('#kv-memory-status').textContent.includes('Nine people')")
        before = status(page, "kv-memory")
        move(page, "kv-memory", "context", 2048)
        expect(page.locator("#kv-memory .note")).to_contain_text("The picture shows the settings before")
        assert status(page, "kv-memory") == before
        context.unroute(PYTHON)
        page.locator("#kv-memory .retry").click()
        live(page)
        answered(page, "kv-memory")
        assert "Nine people at 2,048 tokens" in status(page, "kv-memory")
        assert not any(page.locator(".retry").evaluate_all("all => all.map(b => b.checkVisibility())"))
        assert page.locator(".note").all_text_contents() == [""] * len(FIGURES)


# Numbers and words in the prose.

def setting(page: Page, figure_id: str, name: str):
    return page.locator(f".setting[data-figure={figure_id}][data-setting={name}]").first


def says(page: Page, figure_id: str, words: str) -> None:
    until(page, f"document.getElementById('{figure_id}-status').textContent.includes({words!r})")


def test_a_number_in_the_prose_moves_the_figure(browser: Browser, site: str) -> None:
    with reader(browser) as context:
        page = essay(context.new_page(), site)
        users = setting(page, "kv-memory", "users")
        slider = page.locator("#kv-memory").get_by_role("slider", name="Users", exact=True)
        expect(users).to_have_attribute("role", "spinbutton")
        users.press("ArrowUp")
        says(page, "kv-memory", "Eleven people")
        users.press("ArrowLeft")
        users.press("ArrowDown")
        says(page, "kv-memory", "Nine people")
        users.press("Home")
        says(page, "kv-memory", "One person")
        users.press("End")
        says(page, "kv-memory", "64 people")
        expect(users).to_have_text("64")
        for key in ("1", "2", "Enter"):
            page.keyboard.press(key)
        says(page, "kv-memory", "Twelve people")
        expect(slider).to_have_value("12")
        assert page.evaluate("document.activeElement.dataset.setting") == "users"
        users.click()
        page.keyboard.type("3")
        page.keyboard.press("Escape")
        expect(users).to_have_text("12")
        users.click()
        page.keyboard.type("lots")
        page.keyboard.press("Enter")
        expect(users).to_have_text("12")
        box = users.bounding_box()
        middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.mouse.move(*middle)
        page.mouse.down()
        page.mouse.move(middle[0] + 41, middle[1], steps=8)
        page.mouse.up()
        says(page, "kv-memory", "17 people")
        expect(users).to_have_text("17")
        expect(users).to_have_attribute("aria-valuenow", "17")
        fit = page.locator("[data-say=misfit]").evaluate_all(
            "places => places.filter(p => p.closest('[data-figure]').dataset.figure === 'kv-memory').map(p => p.textContent)")
        assert fit and set(fit) == {"13"}


def test_a_share_is_typed_in_percent_and_what_is_wrong_is_told(browser: Browser, site: str) -> None:
    with reader(browser) as context:
        page = essay(context.new_page(), site)
        share, note = setting(page, "speculative", "acceptance"), page.locator("#speculative .note")
        share.click()
        expect(share).to_have_text("80%")
        page.keyboard.press("Escape")
        for typed, shown in (("70", "70%"), ("0.5", "50%"), ("60%", "60%")):
            share.click()
            page.keyboard.type(typed)
            page.keyboard.press("Enter")
            expect(share).to_have_text(shown)
            says(page, "speculative", f"a chance of {shown}")
        share.click()
        page.keyboard.type("130")
        page.keyboard.press("Enter")
        expect(share).to_have_text("60%")
        expect(note).to_have_text("Acceptance goes from 0% to 100%. 60% stays.")


def test_every_number_in_the_prose_can_be_moved(browser: Browser, site: str) -> None:
    with reader(browser) as context:
        page = essay(context.new_page(), site)
        places = page.locator(".setting").all()
        assert len(places) > 8
        for place in places:
            figure_id, name = place.get_attribute("data-figure"), place.get_attribute("data-setting")
            before, said, looked = place.text_content(), status(page, figure_id), picture(page, figure_id)
            place.press("ArrowUp")
            assert place.text_content() != before, (figure_id, name)
            answered(page, figure_id)
            assert status(page, figure_id) != said and not alike(picture(page, figure_id), looked), (figure_id, name)
            slider = page.locator(f'[id="{figure_id}.{name}"]')
            assert place.text_content() in slider.get_attribute("aria-valuetext")
            place.press("ArrowDown")
            answered(page, figure_id)
            assert status(page, figure_id) == said, (figure_id, name)


def test_words_light_up_their_part(browser: Browser, site: str) -> None:
    """Every word that claims to name a part changes the picture while it is pointed at, and not after."""
    with reader(browser) as context:
        page = essay(context.new_page(), site)
        words = page.locator(".part").all()
        assert len(words) > 10
        dull, rest = [], {}
        for word in words:
            figure_id, part = word.get_attribute("data-figure"), word.get_attribute("data-part")
            looked = rest[figure_id] = rest.get(figure_id) or picture(page, figure_id)
            word.dispatch_event("pointerenter")
            lit = picture(page, figure_id)
            word.dispatch_event("pointerleave")
            if alike(lit, looked):
                dull.append((figure_id, part))
            assert alike(picture(page, figure_id), looked), (figure_id, part)
            word.focus()
            assert alike(picture(page, figure_id), lit), (figure_id, part)
            word.evaluate("word => word.blur()")
        assert not dull


def test_a_figure_that_cannot_be_had_is_told_and_holds_up_no_other(browser: Browser, site: str) -> None:
    asked: list[str] = []
    with reader(browser) as context:
        context.route("**/figures/paging.json.gz", lambda route: (asked.append(route.request.url), route.abort()))
        page = context.new_page()
        page.goto(site)
        until(page, "document.querySelectorAll('figure.drawn').length === document.querySelectorAll('figure[data-figure]').length - 1")
        expect(page.locator("#paging .note")).to_contain_text("This picture stands still")
        assert len(asked) <= 2  # once as one of the rest, once because it came near


# Motion.

VALUE = "document.querySelector('#{0} [data-do=position]').value"
# Moves of a figure's film in so many animation frames.
MOVES = """([id, frames]) => new Promise(done => {
    const position = document.querySelector(`#${id} [data-do=position]`), seen = new Set([position.value]);
    requestAnimationFrame(function look() { seen.add(position.value); if (frames--) requestAnimationFrame(look); else done(seen.size - 1) });
})"""


def test_a_figure_plays_once_and_never_again_unasked(browser: Browser, site: str) -> None:
    with reader(browser, "no-preference") as context:
        page = context.new_page()
        page.goto(site)
        page.locator("#prefill-decode .picture").scroll_into_view_if_needed()
        play = page.locator("#prefill-decode [data-do=play]")
        expect(play).to_have_accessible_name("Pause")
        page.locator("#prefill-decode [data-do=speed]").select_option("4")
        expect(play).to_have_accessible_name("Play")
        position = page.locator("#prefill-decode [data-do=position]")
        assert position.input_value() == position.get_attribute("max")
        page.locator("#paging .picture").scroll_into_view_if_needed()
        expect(page.locator("#paging [data-do=play]")).to_have_accessible_name("Pause")
        page.locator("#prefill-decode .picture").scroll_into_view_if_needed()
        assert page.evaluate(MOVES, ["prefill-decode", 40]) == 0
        expect(play).to_have_accessible_name("Play")


def test_off_screen_nothing_is_drawn(browser: Browser, site: str) -> None:
    with reader(browser, "no-preference") as context:
        page = essay(context.new_page(), site)
        play(page, "settings")
        until(page, "document.querySelector('#settings [data-do=position]').value > 3")
        page.evaluate("scrollTo({top: 0, behavior: 'instant'})")
        until(page, "scrollY === 0")
        page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50))))")
        ticks = """() => new Promise(done => { const asked = requestAnimationFrame; let calls = 0, frames = 30;
            globalThis.requestAnimationFrame = callback => { if (/tick/.test(String(callback))) calls++; return asked(callback) };
            asked(function look() { if (frames--) asked(look); else { globalThis.requestAnimationFrame = asked; done(calls) } }) })"""
        at = page.evaluate(VALUE.format("settings"))
        assert page.evaluate(MOVES, ["settings", 40]) == 0
        assert page.evaluate(ticks) == 0
        page.locator("#settings .picture").scroll_into_view_if_needed()
        until(page, f"Number({VALUE.format('settings')}) > {at}")


def test_with_less_motion_nothing_moves_until_play(page: Page, site: str) -> None:
    page.goto(site)
    for figure_id in ("prefill-decode", "kv-memory"):
        page.locator(f"#{figure_id} .picture").scroll_into_view_if_needed()
        drawn(page, figure_id)
        assert page.evaluate(MOVES, [figure_id, 40]) == 0
        last = page.locator(f"#{figure_id} [data-do=position]")
        assert last.input_value() == last.get_attribute("max")
    play(page, "kv-memory")
    until(page, f"{VALUE.format('kv-memory')} > 2")
