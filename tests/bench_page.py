"""Prints how fast the built page is: PYTHONPATH=. python tests/bench_page.py

Frame gaps while each figure plays, sliders through Python (also with the processor slowed 4 times), long tasks while
Python starts, memory. Nothing is asserted: a loaded machine's numbers say little.
"""
import statistics
import threading
from contextlib import contextmanager

from playwright.sync_api import Browser, Page, sync_playwright

from building import serve
from building.browsers import chromium
from tests.browser.conftest import DIST, FIGURES, FLAGS
from tests.browser.reader import DRAG, WORKER_BYTES, essay, live

PLAY_S = 5
MOVES = 100
GAPS = """([id, seconds]) => new Promise(done => {
    const figure = document.getElementById(id), find = what => figure.querySelector(`[data-do=${what}]`);
    figure.querySelector('.picture').scrollIntoView({block: 'center', behavior: 'instant'});
    find('speed').value = '0.5';
    setTimeout(() => {
        find('restart').click();
        const gaps = []; let last = 0, begin = 0;
        requestAnimationFrame(function look(now) {
            if (last) gaps.push(now - last); else begin = now;
            last = now;
            if (find('play').getAttribute('aria-label') === 'Play') find('restart').click();
            if (now - begin < 1000 * seconds) requestAnimationFrame(look); else { find('play').click(); done(gaps) }
        });
    }, 500);
})"""
LATENCIES = """id => performance.getEntriesByName('setting').filter(m => m.detail === id).map(m => m.duration)"""
# Long tasks of the main thread, and the gaps between its frames, from the first figure on.
WATCH = """(() => { globalThis.tasks = []; globalThis.gaps = []; let last = 0;
    new PerformanceObserver(list => list.getEntries().forEach(e => tasks.push([e.startTime, e.duration]))).observe({type: 'longtask', buffered: true});
    requestAnimationFrame(function look(now) { if (last) gaps.push([now, now - last]); last = now; requestAnimationFrame(look) });
})()"""


def share(values: list[float], part: float) -> float:
    """The value that so great a part of all do not exceed."""
    return sorted(values)[min(len(values) - 1, int(part * len(values)))] if values else float("nan")


@contextmanager
def opened(browser: Browser, motion: str = "reduce"):
    context = browser.new_context(viewport=dict(width=1280, height=900), reduced_motion=motion, service_workers="block")
    context.set_default_timeout(120_000)
    context.add_init_script(WATCH)
    yield context.new_page()
    context.close()


def start(page: Page, site: str) -> None:
    """What the main thread did while Python started."""
    essay(page, site)
    marks = page.evaluate("['text', 'first-figure', 'python-live'].map(n => performance.getEntriesByName(n)[0].startTime)")
    print("marks (ms): text %.0f, first-figure %.0f, python-live %.0f" % tuple(marks))
    since = [[d for at, d in page.evaluate(name) if at > marks[1]] for name in ("tasks", "gaps")]
    print(f"after first-figure: longest task {max(since[0], default=0):.0f} ms, longest gap between frames {max(since[1]):.0f} ms")


def play(page: Page) -> None:
    """Gaps between animation frames while each figure plays."""
    for figure_id in FIGURES:
        gaps = page.evaluate(GAPS, [figure_id, PLAY_S])
        print(f"{figure_id:16} 95% of gaps under {share(gaps, .95):5.1f} ms, worst {max(gaps):5.1f} ms, {len(gaps) / PLAY_S:.0f} frames a second")


def drag(page: Page, name: str) -> None:
    """From the input to the last changed pixel's patch, each value as soon as the last was answered."""
    for figure_id in FIGURES:
        page.evaluate("performance.clearMeasures('setting')")
        page.evaluate(DRAG, [figure_id, MOVES])
        taken = page.evaluate(LATENCIES, figure_id)
        print(f"{figure_id:16} {name}: median {statistics.median(taken):5.1f} ms, 95% {share(taken, .95):5.1f} ms")


def memory(page: Page) -> None:
    chrome = page.context.new_cdp_session(page)
    chrome.send("HeapProfiler.collectGarbage")
    used = chrome.send("Runtime.getHeapUsage")["usedSize"]
    print(f"memory: page's heap {used / 1e6:.0f} MB, Python's {page.workers[0].evaluate(WORKER_BYTES) / 1e6:.0f} MB")


def main() -> None:
    server = serve.server(DIST, port=0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    site = f"http://127.0.0.1:{server.server_address[1]}/"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        with opened(browser) as page:
            start(page, site)
            live(page)
            memory(page)
            play(page)
            drag(page, "slider")
            page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": 4})
            drag(page, "slider, processor slowed 4 times")
            memory(page)
        browser.close()
    server.shutdown()


if __name__ == "__main__":
    main()
