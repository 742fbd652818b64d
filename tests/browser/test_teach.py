"""The classroom: one figure, large; keys and a clicker go on; the class guesses before it sees."""
from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from app.order import IDS
from app.teaching import LESSONS, QUESTIONS, address, answer

from .conftest import drawn, until
from .reader import reader


def teach(page: Page, site: str, more: str = "") -> None:
    page.goto(f"{site}?teach=1{more}")
    page.locator(".lesson-bar").wait_for()


def shown(page: Page) -> str:
    visible = [f.get_attribute("id") for f in page.locator("figure").all() if f.is_visible()]
    assert len(visible) == 1
    return visible[0]


def test_one_figure_large_and_no_prose(page: Page, site: str) -> None:
    teach(page, site)
    assert shown(page) == IDS[0]
    assert page.locator("main > p:visible, main > h2:visible").count() == 0
    assert page.locator(f"#{IDS[0]} .question").evaluate("e => getComputedStyle(e).fontSize") == "28px"


@pytest.mark.parametrize("forward, back", [("ArrowRight", "ArrowLeft"), ("PageDown", "PageUp")])
def test_keys_go_from_figure_to_figure(page: Page, site: str, forward: str, back: str) -> None:
    teach(page, site, "&predict=0")
    for figure_id in IDS[1:]:
        page.keyboard.press(forward)
        assert shown(page) == figure_id
        assert f"figure={figure_id}" in page.url
    page.keyboard.press(forward)
    assert shown(page) == IDS[-1]
    page.keyboard.press(back)
    assert shown(page) == IDS[-2]


def test_a_slider_and_the_picture_keep_their_keys(page: Page, site: str) -> None:
    teach(page, site, "&predict=0&figure=kv-memory")
    drawn(page, "kv-memory")
    slider = page.locator("#kv-memory").get_by_label("Users", exact=True)
    for key in ("ArrowRight", "PageDown"):
        slider.press(key)
        assert shown(page) == "kv-memory"
    assert slider.get_attribute("aria-valuetext") != "10 people"
    picture = page.locator("#kv-memory .picture")
    picture.press("ArrowLeft")
    assert shown(page) == "kv-memory"
    picture.press("PageDown")
    assert shown(page) == "batching"


def test_buttons_and_focus(page: Page, site: str) -> None:
    teach(page, site)
    page.get_by_role("button", name="Next figure").click()
    assert shown(page) == IDS[1]
    expect(page.locator(".lesson-bar [role=status]")).to_have_text(f"Figure 2 of {len(IDS)}")
    page.get_by_role("button", name="Previous figure").click()
    assert shown(page) == IDS[0]
    page.get_by_role("button", name="Previous figure").click(force=True)  # told to be disabled, and does nothing
    assert shown(page) == IDS[0]
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("PageDown")
    until(page, f"document.activeElement.id === '{IDS[1]}-title'")


def test_the_answer_waits_for_the_guess(page: Page, site: str) -> None:
    teach(page, site, "&figure=kv-memory&kv-memory.users=6")
    drawn(page, "kv-memory")
    figure = page.locator("#kv-memory")
    covered = [figure.locator(part) for part in (".picture", "> [role=status]", ".data", ".how", ".player", ".share")]
    assert not any(part.is_visible() for part in covered)
    assert figure.get_by_label("Users", exact=True).is_visible()
    guess = page.get_by_label(QUESTIONS["kv-memory"].ask)
    guess.fill("many")
    guess.press("Enter")
    expect(figure.locator(".guess p")).to_have_text("A guess is a number.")
    assert not any(part.is_visible() for part in covered)
    guess.fill("7")
    guess.press("Enter")
    expect(figure.locator(".guess p")).to_have_text("Your guess: 7. The answer: 4 people.")
    assert all(part.is_visible() for part in covered)
    assert "Six people" in figure.locator("> [role=status]").text_content()
    # What was measured while it was covered would be as high as a column of single letters.
    assert figure.locator("> [role=status]").bounding_box()["height"] < 400
    page.keyboard.press("ArrowLeft")  # the picture has the keys: the film goes back,
    assert shown(page) == "kv-memory"
    page.keyboard.press("End")
    page.keyboard.press("ArrowRight")  # and behind its last frame the lesson goes on
    assert shown(page) == "batching"


def test_space_plays_the_figure_that_is_shown(browser: Browser, site: str) -> None:
    with reader(browser, "no-preference") as context:
        page = context.new_page()
        teach(page, site, "&predict=0&figure=kv-memory")
        drawn(page, "kv-memory")
        page.keyboard.press("Space")
        expect(page.locator("#kv-memory [data-do=play]")).to_have_accessible_name("Pause")
        page.locator("#kv-memory .picture").click()
        expect(page.locator("#kv-memory [data-do=play]")).to_have_accessible_name("Play")


def test_no_guess_no_cover(page: Page, site: str) -> None:
    teach(page, site, "&predict=0")
    assert page.locator(".guess").count() == 0 and page.locator(f"#{IDS[0]} .picture").is_visible()
    teach(page, site)
    page.get_by_role("button", name="Show without a guess").locator("visible=true").click()
    expect(page.locator(f"#{IDS[0]} .guess p")).to_have_text(f"The answer: {answer(IDS[0], {})}.")


def test_the_teachers_page_lists_every_lesson_and_its_answer(page: Page, site: str) -> None:
    page.goto(f"{site}teach.html")
    for figure_id, lessons in LESSONS.items():
        expect(page.locator(f"section:has(h2#{figure_id}) p")).to_have_text(QUESTIONS[figure_id].ask)
        rows = page.locator(f"section:has(h2#{figure_id}) tbody tr").all()
        assert len(rows) == len(lessons)
        for values, row in zip(lessons, rows):
            assert row.locator("a").get_attribute("href") == address(figure_id, values)
            assert row.locator("td").nth(1).text_content() == answer(figure_id, values)


@pytest.mark.parametrize("figure_id, values", [("kv-memory", {}), ("prefill-decode", {"prompt": 200}), ("scoreboard", {})])
def test_a_lesson_answers_as_the_teachers_page_says(page: Page, site: str, figure_id: str, values: dict) -> None:
    page.goto(site + address(figure_id, values))
    drawn(page, figure_id)
    page.get_by_role("button", name="Show without a guess").locator("visible=true").click()
    expect(page.locator(f"#{figure_id} .guess p")).to_have_text(f"The answer: {answer(figure_id, values)}.")
