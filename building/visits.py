"""Visits to a page by a browser with a profile of its own, and what they took: marks in milliseconds, bytes by file."""

import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from playwright.sync_api import BrowserContext, Page, Playwright

from building import serve

# Nothing but this machine can be reached: what a page asks of other hosts fails at once.
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
LONGEST_MS = 180_000
PHONE = {"latency": 150, "downloadThroughput": 1.6e6 / 8, "uploadThroughput": 0.75e6 / 8, "offline": False}
PHONE_SIZE = {"width": 390, "height": 844}


@dataclass
class Site:
    """A folder that is being served: its address, and a log of (time s, path, bytes) of every file that was sent."""

    address: str
    sent: list[tuple[float, str, int]] = field(default_factory=list)

    def until(self, end_s: float, since: int = 0) -> dict[str, int]:
        """{path: bytes} of what was asked for before `end_s`, from entry `since` of the log on."""
        found: dict[str, int] = {}
        for at, path, size in self.sent[since:]:
            if at <= end_s:
                found[path] = found.get(path, 0) + size
        return found


class Counting(serve.Handler):
    """The site's server with a log of what it sends. `lasting`: browsers may keep everything, as a rival's host would say."""

    def __init__(self, site: Site, lasting: bool, *args) -> None:
        self.site = site
        self.lasting = lasting
        super().__init__(*args)

    def send(self, form: Path) -> None:
        self.site.sent.append((time.time(), form.relative_to(self.folder).as_posix(), form.stat().st_size))
        super().send(form)

    def send_header(self, keyword: str, value: str) -> None:
        if self.lasting and keyword == "Content-Security-Policy":
            return  # Panel's own pages make functions from text
        if self.lasting and keyword == "Cache-Control":
            value = "public, max-age=31536000"
        super().send_header(keyword, value)


@contextmanager
def served(folder: Path, lasting: bool = False, compressed: bool = True) -> Iterator[Site]:
    """The folder on a free port for the length of the block."""
    with serve.server(folder, port=0) as server:
        site = Site(f"http://127.0.0.1:{server.server_port}/")
        server.RequestHandlerClass = partial(Counting, site, lasting, folder, compressed)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield site
        server.shutdown()


@contextmanager
def profile(playwright: Playwright, executable: str, **options) -> Iterator[BrowserContext]:
    """A browser that has never been anywhere."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        context = playwright.chromium.launch_persistent_context(
            folder, executable_path=executable, args=FLAGS, **{"viewport": {"width": 1280, "height": 900}, **options})
        context.set_default_timeout(LONGEST_MS)
        yield context
        context.close()


def marks(page: Page, last: str = "python-live") -> dict[str, float]:
    """{mark: ms since the navigation}, once `last` is there."""
    return page.evaluate("""([last, longest]) => new Promise((done, fail) => {
        const end = performance.now() + longest;
        const look = () => {
            if (performance.getEntriesByName(last).length) {
                const found = [...performance.getEntriesByType("mark"), ...performance.getEntriesByType("paint")];
                done({...Object.fromEntries(found.map((m) => [m.name, m.startTime])), begin: performance.timeOrigin});
            } else if (performance.now() > end || document.title.startsWith("failed")) fail(new Error(`no ${last} (${document.title}, ${document.documentElement.dataset.python})`));
            else setTimeout(look, 20);
        };
        look();
    })""", [last, LONGEST_MS])


def visit(context: BrowserContext, address: str, kept: bool = False) -> dict[str, float]:
    """Opens the address until Python is live (`kept`: and until it is kept for the next visit), and closes it again."""
    page = context.new_page()
    page.goto(address, wait_until="commit")
    found = marks(page)
    if kept:
        page.wait_for_selector("html[data-kept]", state="attached")
    page.close()
    return found


def slider(page: Page, figure: str, name: str, steps: int) -> list[float]:
    """Milliseconds from input to the last changed pixel's patch for each of `steps` moves of a control."""
    return page.evaluate("""async ([figure, name, steps]) => {
        const control = document.querySelector(`#${figure} [name="${name}"]`);
        const low = Number(control.min), high = Number(control.max);
        const found = [];
        for (let i = 0; i < steps; i++) {
            const measured = new Promise((done) => new PerformanceObserver((list, self) => {
                self.disconnect();
                done(list.getEntries()[0].duration);
            }).observe({entryTypes: ["measure"]}));
            control.value = low + (i * 7 + 3) % (high - low);
            control.dispatchEvent(new Event("input", {bubbles: true}));
            found.push(await measured);
            await new Promise((done) => setTimeout(done, 50));
        }
        return found;
    }""", [figure, name, steps])


def gaps(page: Page, figure: str, longest_ms: int = 5000) -> list[float]:
    """Milliseconds between animation frames while a figure plays from its beginning."""
    page.locator(f"#{figure} .picture").scroll_into_view_if_needed()
    return page.evaluate("""async ([figure, longest]) => {
        const root = document.getElementById(figure);
        await new Promise((done) => setTimeout(done, 500));
        root.querySelector('[data-do=restart]').click();
        const frame = () => new Promise(requestAnimationFrame);
        const found = [];
        const begin = await frame();
        for (let last = begin; last - begin < longest;) {
            const now = await frame();
            found.push(now - last);
            last = now;
            if (!root.querySelector('.player .playing')) root.querySelector('[data-do=restart]').click();
        }
        return found;
    }""", [figure, longest_ms])


def slowed(page: Page, times: float) -> None:
    """Slows the page's own thread; workers go on as they did."""
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": times})


def phone(context: BrowserContext, address: str, figure: str, name: str) -> dict[str, float]:
    """A slow phone's first visit: first paint, first figure, and the first answer of its main control, in ms."""
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Network.emulateNetworkConditions", PHONE)
    session.send("Emulation.setCPUThrottlingRate", {"rate": 4})
    page.goto(address, wait_until="commit")
    found = marks(page, "first-figure")
    slider(page, figure, name, 1)
    found["answer"] = page.evaluate("performance.getEntriesByName('setting').map((m) => m.startTime + m.duration)[0]")
    page.wait_for_timeout(3000)  # long enough for a page that would fetch more unasked
    page.close()
    return found
