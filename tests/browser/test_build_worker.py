"""Python's worker alone, on a page without scripts: which way it boots, what it survives, and that the newest wins."""
from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial

import pytest
from playwright.sync_api import Page

from building import serve

from .conftest import DIST, running

# boot(query): starts a worker; resolves to its last word, live or failed. ask(...): resolves to its answer.
HARNESS = """() => {
    window.heard = [];
    window.until = (wanted) => new Promise((done) => {
        const look = () => { const found = heard.find(wanted); if (found) done(found); else setTimeout(look, 10); };
        look();
    });
    window.boot = (query) => {
        window.worker = new Worker('worker.mjs' + query, {type: 'module'});
        worker.onmessage = ({data}) => heard.push(data);
        worker.onerror = () => heard.push({what: 'failed', error: 'no worker'});
        return until((d) => d.what === 'live' || d.what === 'failed');
    };
    window.ask = async (ask, figure, values) => {
        worker.postMessage({what: 'ask', ask, figure, values: JSON.stringify(values)});
        const found = await until((d) => d.ask === ask);
        heard.splice(heard.indexOf(found), 1);
        return {what: found.what, error: found.error, json: found.json, sizes: found.buffers?.map(([name, b]) => [name, b.byteLength])};
    };
}"""


class Faulty(serve.Handler):
    """The site's server with a fault: `fault` is {file: (kind, how often)}."""

    def __init__(self, fault: dict, *args) -> None:
        self.fault = fault
        super().__init__(*args)

    def answer(self, body: bool) -> None:
        name = self.path.split("?")[0].rsplit("/", 1)[-1].removesuffix(".gz")
        kind, left = self.fault.get(name, ("", 0))
        if not left:
            super().answer(body)
            return
        self.fault[name] = (kind, left - 1)
        path = self.find()
        whole = path.read_bytes() if path else b""
        content = {"cut": whole[:len(whole) // 2], "corrupted": whole[:1000] + bytes([whole[1000] ^ 1]) + whole[1001:],
                   "page": b"<!doctype html><p>Something went wrong", "refused": b"no"}[kind]
        self.send_response(503 if kind == "refused" else 200)
        self.send_common()
        self.send_header("Content-Type", "text/html" if kind in ("page", "refused") else serve.TYPES.get(path.suffix, "application/octet-stream"))
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(content)


@pytest.fixture
def faulty() -> Iterator[tuple[str, dict, serve.ThreadingHTTPServer]]:
    """Address of the built site, the faults of its server (none at first), and the server."""
    fault: dict = {}
    for server in running(serve.server(DIST, port=0)):
        server.RequestHandlerClass = partial(Faulty, fault, DIST, True)
        yield f"http://127.0.0.1:{server.server_port}/", fault, server


@pytest.fixture
def bare(browser, faulty) -> Iterator[Page]:
    """A page of the site that runs nothing by itself."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(faulty[0] + "licences.html")
    page.evaluate(HARNESS)
    yield page
    context.close()


def boot(page: Page, query: str = "?compressed=1") -> dict:
    return page.evaluate("(query) => boot(query)", query)


def ask(page: Page, number: int, figure: str, values: dict) -> dict:
    return page.evaluate("([number, figure, values]) => ask(number, figure, values)", [number, figure, values])


def test_snapshot_and_modules_answer_alike(bare: Page):
    answers = []
    for query, way in (("?compressed=1", "snapshot"), ("?compressed=1&boot=modules", "modules")):
        bare.evaluate("heard = []")
        assert boot(bare, query)["boot"] == way
        answers.append([ask(bare, i, "kv-memory", dict(users=i, context=8192)) for i in (4, 10, 64)])
    assert [a["what"] for a in answers[0]] == ["patch"] * 3
    assert [json.loads(a["json"])["events"][0]["kind"] for a in answers[0]] == [json.loads(a["json"])["events"][0]["kind"] for a in answers[1]]
    assert [sorted(size for _, size in a["sizes"]) for a in answers[0]] == [sorted(size for _, size in a["sizes"]) for a in answers[1]]


def test_a_host_that_compresses_nothing(bare: Page, faulty):
    _, fault, server = faulty
    server.RequestHandlerClass = partial(Faulty, fault, DIST, False)
    assert boot(bare, "?")["boot"] == "snapshot"


@pytest.mark.parametrize("name, kind, query", [
    ("pyodide.asm.wasm", "cut", "?compressed=1"), ("pyodide.asm.wasm", "page", "?"), ("pyodide.asm.mjs", "page", "?"),
    ("heap.bin", "corrupted", "?compressed=1"), ("heap.bin", "cut", "?"), ("_umath_linalg.cpython-314-wasm32-emscripten.so", "refused", "?")])
def test_a_file_that_came_wrong_once_is_asked_for_again(bare: Page, faulty, name, kind, query):
    faulty[1][name] = (kind, 1)
    assert boot(bare, query)["boot"] == "snapshot"
    assert faulty[1][name] == (kind, 0), "the fault took place"


@pytest.mark.parametrize("kind", ["cut", "corrupted", "page", "refused"])
def test_a_snapshot_that_stays_damaged_gives_way_to_the_modules(bare: Page, faulty, kind):
    faulty[1]["heap.bin"] = (kind, 9)
    assert boot(bare)["boot"] == "modules"
    assert ask(bare, 1, "kv-memory", dict(users=10, context=8192))["what"] == "patch"


@pytest.mark.parametrize("name, kind", [("pyodide.asm.wasm", "cut"), ("pyodide.asm.wasm", "corrupted"),
                                        ("pyodide.asm.mjs", "page"), ("pyodide.mjs", "refused")])
def test_what_cannot_be_had_is_told_in_words(bare: Page, faulty, name, kind):
    faulty[1][name] = (kind, 99)
    said = boot(bare)
    assert said["what"] == "failed" and name in said["error"]


def test_progress_counts_what_is_left(bare: Page):
    boot(bare)
    counts = bare.evaluate("heard.filter((d) => d.what === 'progress').map((d) => [d.loaded, d.total])")
    assert counts[-1][0] == counts[-1][1] and all(loaded <= total for loaded, total in counts)
    assert 8e6 < counts[-1][1] < 15e6


def test_the_newest_setting_wins_and_a_wrong_one_is_told(bare: Page):
    boot(bare)
    got = bare.evaluate("""async () => {
        for (let i = 1; i <= 40; i++) worker.postMessage({what: 'ask', ask: i, figure: 'kv-memory', values: JSON.stringify({users: i})});
        await until((d) => d.ask === 40);
        return heard.filter((d) => d.ask).length;
    }""")
    assert got < 40
    wrong = ask(bare, 41, "kv-memory", dict(users=-1))
    assert wrong["what"] == "wrong" and "users" in wrong["error"]
    assert ask(bare, 42, "kv-memory", dict(users=3))["what"] == "patch"
