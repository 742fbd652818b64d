"""What all browser tests share: the built site on a free port, other people's pages on another, and a Chromium.

`LLM_DIST` names another build than `dist/`. Everything waits for states of the page, never for time to pass.
"""
from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Playwright, expect, sync_playwright

from building import serve

ROOT = Path(__file__).parents[2]
DIST = Path(os.environ.get("LLM_DIST", ROOT / "dist"))
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync",
         "--force-effective-connection-type=4G"]  # else answers that a test holds back make the line slow for the next
FIGURES = ("prefill-decode", "kv-memory", "batching", "paging", "chunked-prefill", "speculative", "scoreboard", "settings")
PATIENCE_MS = 60_000
expect.set_options(timeout=PATIENCE_MS)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A browser on a machine that others use as well may be asked twice; what fails twice fails."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.flaky(reruns=1))


class Logged(serve.Handler):
    """The site's server, which notes every path that it is asked for."""

    def __init__(self, log: list[str], *args) -> None:
        self.log = log
        super().__init__(*args)

    def answer(self, body: bool) -> None:
        self.log.append(self.path.split("?")[0].lstrip("/"))
        super().answer(body)


class Host(SimpleHTTPRequestHandler):
    """Other people's pages: the server's `pages` {path: HTML}."""

    def do_GET(self) -> None:
        html = self.server.pages.get(self.path.split("?")[0])
        self.send_response(200 if html else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write((html or "").encode())

    def log_message(self, format: str, *args: object) -> None:
        """Silence: a test's output is its result."""


def running(server: ThreadingHTTPServer) -> Iterator[ThreadingHTTPServer]:
    """A server at work, for the length of a fixture."""
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="session")
def site() -> Iterator[str]:
    """Address of the built site, ending with a slash."""
    assert (DIST / "index.html").is_file(), "nothing is built: run python3 build.py first"
    for server in running(serve.server(DIST, port=0)):
        yield f"http://127.0.0.1:{server.server_port}/"


@pytest.fixture
def logged_site() -> Iterator[tuple[str, list[str]]]:
    """Address of the built site, and a list that grows with every path that is asked for, workers' included."""
    log: list[str] = []
    for server in running(serve.server(DIST, port=0)):
        server.RequestHandlerClass = partial(Logged, log, DIST, True)
        yield f"http://127.0.0.1:{server.server_port}/", log


@pytest.fixture
def host() -> Iterator[Callable[[str], str]]:
    """host(html) -> address of a page of another origin that holds this HTML."""
    for server in running(ThreadingHTTPServer(("127.0.0.1", 0), Host)):
        server.pages = {}

        def publish(html: str) -> str:
            path = f"/{len(server.pages)}.html"
            server.pages[path] = html
            return f"http://localhost:{server.server_port}{path}"
        yield publish


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """Debian's Chromium."""
    chromium = playwright.chromium.launch(executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=FLAGS)
    yield chromium
    chromium.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A reader who wants no motion, so that pictures stand still; what the page complains of fails the test."""
    made = browser.new_context(viewport=dict(width=1280, height=900), reduced_motion="reduce")
    made.set_default_timeout(PATIENCE_MS)
    complaints: list[str] = []
    made.on("console", lambda message: complaints.append(message.text) if _serious(message) else None)
    made.on("weberror", lambda error: complaints.append(str(error.error)))
    made.complaints = complaints
    yield made
    made.close()
    assert not complaints, complaints


@pytest.fixture
def page(context: BrowserContext) -> Page:
    """One page of that reader."""
    return context.new_page()


def _serious(message: ConsoleMessage) -> bool:
    return message.type in ("error", "warning") and "favicon" not in message.location.get("url", "")


def drawn(frame, figure: str) -> None:
    """Waits until a figure is drawn and can be played."""
    frame.wait_for_selector(f"figure#{figure}.drawn", state="attached")


def until(frame, condition: str) -> None:
    """Waits until a JavaScript condition holds. (Playwright's own waiting evaluates strings, which the policy forbids.)"""
    frame.evaluate("""() => new Promise((done, fail) => {
        const end = performance.now() + %d, look = () => (%s) ? done() : performance.now() < end ? setTimeout(look, 40)
            : fail(new Error(%s));
        look();
    })""" % (PATIENCE_MS, condition, repr(f"it never became true: {condition[:200]}")))
