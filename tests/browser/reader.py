"""What a reader does with a figure, and what a reader sees of it."""
from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from PIL import Image
from playwright.sync_api import Browser, BrowserContext, Page

from app.order import figure
from app.parameters import parameters

from .conftest import PATIENCE_MS, drawn, until

# A value put into a native control, and the event with which the browser tells of it.
MOVE = """([id, name, value, positions]) => {
    const input = document.getElementById(`${id}.${name}`);
    if (input.type === 'checkbox') input.checked = value;
    else input.value = positions.length ? positions.indexOf(value) : value;
    input.dispatchEvent(new Event('input', {bubbles: true}));
}"""
# Everything that Bokeh has painted in a figure. Its canvases are in shadow roots.
PAINTED = """function painted(id) {
    const found = [], walk = root => { for (const e of root.querySelectorAll('*')) {
        if (e.shadowRoot) walk(e.shadowRoot);
        if (e.tagName === 'CANVAS' && e.width) found.push(e.toDataURL());
    } };
    walk(document.querySelector(`#${id} .plots`));
    return found.join();
}"""
# Paints come some frames after what asked for them: a picture is at rest when nothing has changed for a while.
AT_REST = "id => { %s; return new Promise(done => { let last = '', same = 0; const look = () => { const now = painted(id);" \
          " same = now && now === last ? same + 1 : 0; last = now; if (same > 2) done(now); else setTimeout(look, 50) }; look() }) }" % PAINTED
# Moves the second slider of a figure, from one end to the other and again, each time as soon as the last value is answered.
DRAG = """([id, moves]) => new Promise(done => {
    const figure = document.getElementById(id);
    const slider = figure.querySelectorAll('.controls input[type=range]')[1];
    const [low, high] = [Number(slider.min), Number(slider.max)], step = Number(slider.step);
    let at = low;
    const next = () => {
        if (!moves--) { figure.removeEventListener('settled', later); done(); return; }
        at = at + step > high ? low : at + step;
        if (at === Number(slider.value)) at = at + step > high ? low : at + step;
        slider.value = at;
        slider.dispatchEvent(new Event('input', {bubbles: true}));
    };
    const later = () => setTimeout(next);
    figure.addEventListener('settled', later);
    next();
})"""
# The worker's own word for how much memory Python has, asked for as a page would.
WORKER_BYTES = """() => new Promise(done => {
    const post = globalThis.postMessage;
    globalThis.postMessage = said => { globalThis.postMessage = post; done(said.memory_bytes) };
    onmessage({data: {what: 'ping'}});
})"""
SHADE = 24  # of 255: nobody tells such greys apart
FEW_PIXELS = 6
STATUS = "id => document.getElementById(`${id}-status`).textContent"


@contextmanager
def reader(browser: Browser, motion: str = "reduce", **how) -> Iterator[BrowserContext]:
    """A reader's browser of its own, for what the shared one is not made for: motion, failing files, no scripts."""
    context = browser.new_context(**{"viewport": dict(width=1280, height=900), "reduced_motion": motion,
                                     "service_workers": "block", **how})
    context.set_default_timeout(PATIENCE_MS)
    yield context
    context.close()


def move(page: Page, figure_id: str, name: str, value) -> None:
    """Moves one control to a value."""
    positions = next(p for p in parameters(figure(figure_id)) if p.name == name).positions
    page.evaluate(MOVE, [figure_id, name, value, list(positions)])


def answered(page: Page, figure_id: str) -> None:
    """Waits until the picture shows the settings of the controls."""
    page.wait_for_selector(f"figure#{figure_id}.drawn:not(.waiting)", state="attached", timeout=3 * PATIENCE_MS)


def live(page: Page) -> None:
    """Waits until Python answers; from its modules it starts slowly."""
    page.wait_for_selector("html[data-python=live]", state="attached", timeout=3 * PATIENCE_MS)


def status(page: Page, figure_id: str) -> str:
    """The figure's sentence."""
    return page.evaluate(STATUS, figure_id).strip()


def picture(page: Page, figure_id: str) -> str:
    """What is painted in the figure once nothing changes any more, as text to be compared."""
    return page.evaluate(AT_REST, figure_id)


def alike(one: str, other: str) -> bool:
    """Whether two pictures look the same: all but a few pixels are within a shade of each other.

    What is painted again may end a fraction of a pixel elsewhere, which shows in the grey of an edge. The outermost
    pixels do not count: Bokeh paints a plot's paper anew each time, and there it covers them by half.
    """
    if one == other:
        return True
    ones, others = (list(map(_pixels, painted.split(",data:"))) for painted in (one, other))
    return len(ones) == len(others) and all(a.shape == b.shape for a, b in zip(ones, others)) and sum(
        int((np.abs(a - b).max(axis=-1) > SHADE).sum()) for a, b in zip(ones, others)) <= FEW_PIXELS


def _pixels(address: str) -> np.ndarray:
    """The picture on white, (height, width, 4), as integers that can be subtracted."""
    painted = Image.open(io.BytesIO(base64.b64decode(address.split("base64,")[1]))).convert("RGBA")
    return np.asarray(Image.alpha_composite(Image.new("RGBA", painted.size, "white"), painted)).astype(int)[1:-1, 1:-1]


def play(page: Page, figure_id: str) -> None:
    """Plays the film from its beginning, by the picture's keys: its buttons may be a screen away from it."""
    frame = page.locator(f"#{figure_id} .picture")
    frame.scroll_into_view_if_needed()
    frame.press("Home")
    frame.press("Space")


def embed(page: Page, site: str, figure_id: str, query: str = "") -> Page:
    """Opens a figure's own page and waits until it can be played."""
    page.goto(f"{site}embed/{figure_id}.html{query}")
    drawn(page, figure_id)
    return page


def essay(page: Page, site: str, query: str = "") -> Page:
    """Opens the essay and waits until all figures are drawn and Python answers."""
    page.goto(site + query)
    live(page)
    until(page, "document.querySelectorAll('figure.drawn').length === document.querySelectorAll('figure[data-figure]').length")
    return page


def frames(page: Page, figure_id: str) -> int:
    """How many frames the present setting has."""
    return int(page.locator(f"#{figure_id} [data-do=position]").get_attribute("max")) + 1
