"""The player: buttons, slider and keys by their names; the sentence belongs to the frame; a film ends at its last frame."""
from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from app.order import figure

from .conftest import FIGURES, until
from .reader import answered, embed, frames, picture, reader, status

BUTTONS = ("Play", "Step back", "Step forward", "Restart")


@pytest.fixture
def still(page: Page, site: str) -> Page:
    """A figure at rest, before a reader who wants no motion."""
    return embed(page, site, "batching")


@pytest.fixture(scope="module")
def moving(browser: Browser) -> Iterator[Page]:
    """A page of a reader who does not mind motion."""
    with reader(browser, "no-preference") as context:
        yield context.new_page()


def position(page: Page, figure_id: str) -> Locator:
    return page.locator(f"#{figure_id}").get_by_role("slider", name="Position", exact=True)


def button(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


def sentences(figure_id: str) -> list[str]:
    f = figure(figure_id)
    return [said.strip() for said in f.compute(f.settings()).frames["say.sentence"]]


def test_settings_may_come_while_a_longer_film_plays(browser: Browser, site: str) -> None:
    """The address asks for a film of two frames; Python has it when the usual one, of eleven, is in its middle."""
    late, errors = [], []
    with reader(browser, "no-preference") as context:
        context.add_init_script("delete globalThis.SharedWorker")
        context.on("weberror", lambda error: errors.append(str(error.error)))
        context.route("**/python/heap.bin*", lambda route: late.append(route))
        page = embed(context.new_page(), site, "kv-memory", "?users=1&context=512")
        until(page, "document.querySelector('[data-do=position]').value > 5")
        late[0].continue_()
        answered(page, "kv-memory")
        assert status(page, "kv-memory").startswith("One person at 512 tokens") and frames(page, "kv-memory") == 2
        assert not errors


@pytest.mark.parametrize("figure_id", ["kv-memory", "settings"])
def test_who_presses_play_sees_it(browser: Browser, site: str, figure_id: str) -> None:
    """On a phone the buttons are a screen away from the picture."""
    with reader(browser, "no-preference", viewport=dict(width=390, height=664)) as context:
        page = embed(context.new_page(), site, figure_id)
        until(page, "document.querySelector('[data-do=play]').getAttribute('aria-label') === 'Play'")
        play = button(page, "Play")
        play.evaluate("button => button.scrollIntoView({block: 'end', behavior: 'instant'})")
        play.click()
        until(page, "document.querySelector('[data-do=position]').value > 1")
        assert page.locator(".picture").evaluate(
            "picture => { const {top, bottom} = picture.getBoundingClientRect(); return top >= -1 && bottom > 150 && top < 400 }")


@pytest.mark.parametrize("figure_id", FIGURES)
def test_every_part_has_its_role_and_name(page: Page, site: str, figure_id: str) -> None:
    embed(page, site, figure_id)
    for name in BUTTONS:
        expect(button(page, name)).to_be_visible()
    expect(position(page, figure_id)).to_be_visible()
    expect(page.get_by_role("combobox", name="Speed", exact=True)).to_have_value("1")
    last = frames(page, figure_id) - 1
    f = figure(figure_id)
    shown = f.compute(f.settings())
    assert last == len(shown) - 1 and position(page, figure_id).input_value() == str(shown.telling)
    assert position(page, figure_id).get_attribute("aria-valuetext") == shown.frame_names[shown.telling]


@pytest.mark.parametrize("figure_id", FIGURES)
def test_the_sentence_and_the_picture_belong_to_the_frame(page: Page, site: str, figure_id: str) -> None:
    embed(page, site, figure_id)
    said = sentences(figure_id)
    looks = []
    for index in sorted({0, 1, len(said) // 2, len(said) - 1}):
        position(page, figure_id).fill(str(index))
        assert status(page, figure_id) == said[index]
        looks.append(picture(page, figure_id))
    assert len(set(looks)) == len(looks)


STEPS = [  # what is done, one after the other, and the frame that it leads to in a film of 85 frames
    ("Restart, then Pause", None),
    ("Position", 40), ("Step forward", 41), ("Step forward", 42), ("Step back", 41),
    ("ArrowRight", 42), ("ArrowLeft", 41), ("Home", 0), ("Step back", 0), ("ArrowLeft", 0), ("ArrowRight", 1), ("End", 84),
    ("Step forward", 84), ("ArrowRight", 84), ("Step back", 83),
]


def test_buttons_keys_and_slider_step(still: Page) -> None:
    said = sentences("batching")
    for act, frame in STEPS:
        if act == "Position":
            position(still, "batching").fill(str(frame))
        elif act == "Restart, then Pause":
            button(still, "Restart").click()
            button(still, "Pause").click()
            frame = int(position(still, "batching").input_value())
        elif " " in act:
            button(still, act).click()
        else:
            still.locator("#batching .picture").press(act)
        assert (act, position(still, "batching").input_value()) == (act, str(frame))
        assert status(still, "batching") == said[frame]


def test_space_on_the_picture_plays_and_pauses(still: Page) -> None:
    frame = still.locator("#batching .picture")
    frame.press("Home")
    frame.press("Space")
    expect(button(still, "Pause")).to_be_visible()
    until(still, "document.querySelector('[data-do=position]').value > 3")
    frame.press("Space")
    expect(button(still, "Play")).to_be_visible()
    at = position(still, "batching").input_value()
    picture(still, "batching")
    assert position(still, "batching").input_value() == at
    assert still.evaluate("scrollY") == 0


def test_play_goes_on_where_it_was_and_from_the_end_begins_again(still: Page) -> None:
    position(still, "batching").fill("80")
    button(still, "Play").click()
    until(still, "document.querySelector('[data-do=position]').value === '84'")
    expect(button(still, "Play")).to_be_visible()
    button(still, "Play").click()
    until(still, "document.querySelector('[data-do=position]').value < 40")
    expect(button(still, "Pause")).to_be_visible()


@pytest.mark.parametrize("figure_id", FIGURES)
def test_playing_ends_at_the_last_frame(page: Page, site: str, figure_id: str) -> None:
    embed(page, site, figure_id)
    said = sentences(figure_id)
    page.get_by_label("Speed", exact=True).select_option("4")
    page.locator(".picture").press("Home")
    page.locator(".picture").press("Space")
    expect(button(page, "Pause")).to_be_attached()
    expect(button(page, "Play")).to_be_attached()
    assert position(page, figure_id).input_value() == str(len(said) - 1)
    assert status(page, figure_id) == said[-1]


# Frames of the film seen in so many animation frames, and the time that this took by the same clock.
PACE = """speed => new Promise(done => {
    const position = document.querySelector('[data-do=position]');
    document.querySelector('[data-do=speed]').value = speed;
    document.querySelector('[data-do=restart]').click();
    let first = 0, frames = 0;
    requestAnimationFrame(function look(now) {
        first ||= now;
        if (++frames < 40) requestAnimationFrame(look); else done(Number(position.value) / (now - first));
    });
})"""


def test_speed_is_a_multiple(still: Page) -> None:
    slow, fast = (still.evaluate(PACE, speed) for speed in ("0.5", "2"))
    assert 2.5 < fast / slow < 6  # four times, as far as whole frames tell


def test_pressing_restart_often_draws_each_frame_once(still: Page) -> None:
    """A loop for each press would draw as often in one animation frame."""
    drawn = still.evaluate("""() => new Promise(done => {
        const restart = document.querySelector('[data-do=restart]'), name = document.querySelector('.frame-name');
        for (let i = 0; i < 10; i++) restart.click();
        const asked = requestAnimationFrame; let calls = 0;
        globalThis.requestAnimationFrame = callback => { if (/tick/.test(String(callback))) calls++; return asked(callback) };
        asked(() => asked(() => asked(() => { globalThis.requestAnimationFrame = asked; done(calls) })));
    })""")
    assert 1 <= drawn <= 3


def test_a_moved_setting_stops_the_film_and_shows_the_answer(moving: Page, site: str) -> None:
    embed(moving, site, "batching")
    until(moving, "document.querySelector('[data-do=position]').value > 5")
    moving.get_by_label("Slots", exact=True).press("ArrowRight")
    expect(button(moving, "Play")).to_be_visible()
    until(moving, "document.querySelector('#batching-status').textContent.includes('five slots')")
    at = position(moving, "batching")
    assert at.input_value() == at.get_attribute("max")
