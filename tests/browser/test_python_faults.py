"""What may go wrong with Python: files cut off, altered, late, replaced by an error page; a worker that dies; haste."""
from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from app.order import figure

from .conftest import DIST, PATIENCE_MS, drawn, until
from .reader import DRAG, WORKER_BYTES, answered, embed, live, move, reader, status

FILES = tuple(sorted(p.name for p in (DIST / "python").iterdir() if p.suffix in (".bin", ".mjs", ".wasm") and p.name != "files.mjs"))
KINDS = ("cut", "corrupt", "html", "aborted")
# Each file in one way, and one of them in every way.
HURT = sorted({(name, KINDS[i % len(KINDS)]) for i, name in enumerate(FILES)} | {("pyodide.mjs", how) for how in KINDS})
# The heap is missing, not altered: 65 MB through the browser's driver, twice, take longer than anybody's patience.
LOST = sorted((name, "missing" if name == "heap.bin" else ("corrupt", "html", "missing")[i % 3]) for i, name in enumerate(FILES))
HTML = "<!doctype html><title>Service unavailable</title><h1>503</h1>"


def said(figure_id: str, values: dict) -> str:
    f = figure(figure_id)
    shown = f.compute(f.settings(**values))
    return shown.frames["say.sentence"][shown.telling].strip()


@contextmanager
def alone(browser: Browser) -> Iterator[BrowserContext]:
    """A browser without shared workers (Chrome on Android is one): a page's own worker can be watched from here."""
    with reader(browser) as context:
        context.add_init_script("delete globalThis.SharedWorker")
        yield context


def damaged(route: Route, how: str) -> None:
    """Answers a request with a file that is not what it should be."""
    if how == "aborted":
        route.abort()
    elif how == "html":
        route.fulfill(status=200, content_type="text/html", body=HTML)
    elif how == "missing":
        route.fulfill(status=404, body="not found")
    else:
        answer = route.fetch()
        body = answer.body()
        changed = body[: len(body) // 2] if how == "cut" else body[:-40] + bytes(b ^ 0xFF for b in body[-40:-20]) + body[-20:]
        headers = {k: v for k, v in answer.headers.items() if k not in ("content-encoding", "content-length")}
        route.fulfill(status=200, headers=headers, body=changed)


def ask(page: Page) -> None:
    """A setting that only Python can answer."""
    move(page, "kv-memory", "context", 1024)


@pytest.mark.parametrize("name, how", HURT)
def test_a_damaged_file_is_asked_for_again(browser: Browser, site: str, name: str, how: str) -> None:
    """Once damaged, right when asked for again: the page never shows it. A heap that is lost is no loss: modules do."""
    hurt: list[str] = []

    def once(route: Route) -> None:
        if hurt:
            route.continue_()
        else:
            hurt.append(route.request.url)
            damaged(route, how)

    with alone(browser) as context:
        context.route(lambda url: f"/python/{name}" in url, once)
        page = embed(context.new_page(), site, "kv-memory")
        ask(page)
        answered(page, "kv-memory")
        assert hurt and status(page, "kv-memory") == said("kv-memory", {"context": 1024})


@pytest.mark.parametrize("name, how", LOST)
def test_a_file_that_stays_damaged_is_told_in_words(browser: Browser, site: str, name: str, how: str) -> None:
    with alone(browser) as context:
        context.route(lambda url: f"/python/{name}" in url, lambda route: damaged(route, how))
        page = embed(context.new_page(), site, "kv-memory")
        before = status(page, "kv-memory")
        ask(page)
        page.wait_for_selector("html:is([data-python=failed], [data-boot=modules])", state="attached", timeout=3 * PATIENCE_MS)
        if page.locator("html").get_attribute("data-boot") == "modules":
            assert name == "heap.bin"
            answered(page, "kv-memory")
            assert status(page, "kv-memory") == said("kv-memory", {"context": 1024})
            return
        expect(page.locator(".note")).to_contain_text("Python could not be loaded")
        expect(page.locator(".note")).to_contain_text("The picture shows the settings before")
        assert status(page, "kv-memory") == before
        page.locator("[data-do=back]").click()  # the film can still be looked at
        assert status(page, "kv-memory") != before
        context.unroute_all()
        page.locator(".retry").click()
        answered(page, "kv-memory")
        assert status(page, "kv-memory") == said("kv-memory", {"context": 1024})


def test_a_late_file_is_waited_for_and_the_page_says_what_is_left(browser: Browser, site: str) -> None:
    held: list[Route] = []
    with alone(browser) as context:
        context.route(re.compile(r"heap\.bin"), lambda route: held.append(route))
        page = embed(context.new_page(), site, "kv-memory")
        ask(page)
        until(page, r"/\d+\.\d of \d+\.\d MB left/.test(document.querySelector('.note').textContent)")
        page.get_by_label("Users", exact=True).press("ArrowLeft")
        page.locator("[data-do=back]").click()
        assert page.locator("html").get_attribute("data-python") == "loading"
        held[0].continue_()
        answered(page, "kv-memory")
        assert status(page, "kv-memory") == said("kv-memory", {"context": 1024, "users": 9})
        expect(page.locator(".note")).to_have_text("")


def test_a_worker_that_dies_is_told_and_replaced(browser: Browser, site: str) -> None:
    with alone(browser) as context:
        page = context.new_page()
        page.goto(site)
        live(page)
        drawn(page, "kv-memory")
        move(page, "kv-memory", "context", 4096)
        answered(page, "kv-memory")
        page.workers[0].evaluate("() => close()")
        move(page, "kv-memory", "users", 7)
        expect(page.locator("#kv-memory .note")).not_to_have_text("")  # the reader is told that it takes longer
        answered(page, "kv-memory")
        assert status(page, "kv-memory") == said("kv-memory", {"context": 4096, "users": 7})
        expect(page.locator("#kv-memory .note")).to_have_text("")


# Keeps in the worker what it would say of this kind; `release()` says it after all.
HOLD = """kinds => { const say = globalThis.postMessage, held = [];
    globalThis.postMessage = (message, ...more) => kinds.includes(message.what) ? held.push([message, ...more]) : say(message, ...more);
    globalThis.release = () => { globalThis.postMessage = say; for (const words of held) say(...words) } }"""


def held(browser_context: BrowserContext, site: str, kinds: list[str]) -> Page:
    """A page whose worker keeps these answers to itself, and whose clock can be moved on."""
    page = embed(browser_context.new_page(), site, "kv-memory")
    ask(page)
    live(page)
    answered(page, "kv-memory")
    page.clock.install()
    page.workers[0].evaluate(HOLD, kinds)
    move(page, "kv-memory", "users", 7)
    return page


def test_a_worker_that_computes_for_long_is_waited_for(browser: Browser, site: str) -> None:
    with alone(browser) as context:
        page = held(context, site, ["patch"])
        worker = page.workers[0]
        worker.evaluate("() => 0")  # its word that it has begun is on its way
        until(page, "document.querySelector('.waiting')")
        page.clock.run_for(30_000)
        expect(page.locator(".note")).to_contain_text("Python has not answered yet")
        assert page.workers == [worker]
        worker.evaluate("() => release()")
        answered(page, "kv-memory")
        assert status(page, "kv-memory") == said("kv-memory", {"context": 1024, "users": 7})


def test_a_worker_that_is_silent_is_replaced_once_and_then_told_of(browser: Browser, site: str) -> None:
    silent = ["busy", "patch"]
    with alone(browser) as context:
        page = held(context, site, silent)
        with page.expect_worker() as replaced:
            page.clock.run_for(9_000)
        replaced.value.evaluate(HOLD, silent)
        live(page)
        page.clock.run_for(9_000)
        expect(page.locator(".note")).to_contain_text("Python does not answer (it was started again once already)")
        expect(page.locator(".note")).to_contain_text("The picture shows the settings before")
        page.locator(".retry").click()
        answered(page, "kv-memory")
        assert status(page, "kv-memory") == said("kv-memory", {"context": 1024, "users": 7})


def test_the_newest_value_wins(browser: Browser, site: str) -> None:
    """A fast drag: one value a millisecond, and the numbers are those of the last."""
    with alone(browser) as context:
        page = embed(context.new_page(), site, "batching")
        move(page, "batching", "seed", 5)
        live(page)
        answered(page, "batching")
        page.evaluate("""() => { globalThis.answers = 0; document.querySelector('figure').addEventListener('settled', () => answers++);
            const seed = document.getElementById('batching.seed');
            return new Promise(done => { let value = 10; const channel = new MessageChannel();
                channel.port1.onmessage = () => {
                    seed.value = value; seed.dispatchEvent(new Event('input', {bubbles: true}));
                    if (++value <= 400) channel.port2.postMessage(null); else done();
                }; channel.port2.postMessage(null) }) }""")
        answered(page, "batching")
        assert status(page, "batching") == said("batching", {"seed": 400})
        assert 1 <= page.evaluate("answers") < 391  # what was overtaken is not shown


def test_what_python_refuses_is_told_and_the_next_value_answered(browser: Browser, site: str) -> None:
    with alone(browser) as context:
        page = embed(context.new_page(), site, "batching")
        before = status(page, "batching")
        lengths = page.get_by_label("Replies", exact=True)
        lengths.fill("24,x")
        expect(page.locator(".note")).to_contain_text("whole numbers")
        expect(page.locator(".note")).to_contain_text("The picture shows the settings before")
        assert status(page, "batching") == before
        move(page, "batching", "slots", 3)
        expect(page.locator(".note")).to_contain_text("whole numbers")
        lengths.fill("24,12")
        answered(page, "batching")
        expect(page.locator(".note")).to_have_text("")
        assert status(page, "batching") == said("batching", {"replies": "24,12", "slots": 3})
        # Overtaken: what was refused meanwhile is nothing to be told of.
        lengths.evaluate("""field => { for (const typed of ['', '3,4']) {
            field.value = typed; field.dispatchEvent(new Event('input', {bubbles: true})) } }""")
        answered(page, "batching")
        assert status(page, "batching") == said("batching", {"replies": "3,4", "slots": 3})
        expect(page.locator(".note")).to_have_text("")


TOLERANCE_BYTES = 3_000_000  # what a page holds varies by so much from one collection to the next


def test_a_thousand_moves_leave_memory_where_it_was(browser: Browser, site: str) -> None:
    with alone(browser) as context:
        page = embed(context.new_page(), site, "kv-memory")
        ask(page)
        live(page)
        answered(page, "kv-memory")
        chrome = context.new_cdp_session(page)
        held = []
        for moves in (200, 1000):
            page.evaluate(DRAG, ["kv-memory", moves])
            chrome.send("HeapProfiler.collectGarbage")
            held.append((chrome.send("Runtime.getHeapUsage")["usedSize"], page.workers[0].evaluate(WORKER_BYTES)))
        assert held[1][0] - held[0][0] < TOLERANCE_BYTES, held
        assert held[1][1] == held[0][1] > 10_000_000, held
