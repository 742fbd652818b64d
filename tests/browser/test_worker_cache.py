"""The service worker: a whole build is kept, works offline, is never mixed with another, and can always be left."""
from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from functools import partial
from hashlib import sha256
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from .conftest import DIST, Logged, drawn, running, until
from building import serve

ESSAY = "What happens inside an LLM server"


class Published:
    """A copy of the site that can be published anew, and its server's log."""

    def __init__(self, folder: Path, log: list[str], address: str) -> None:
        self.folder, self.log, self.address = folder, log, address

    def publish(self, version: str, broken: str = "") -> None:
        """Another build: every page carries its name. `broken` is a file that does not match the manifest."""
        manifest = json.loads((self.folder / "manifest.json").read_text())
        old = manifest["version"]
        for name in manifest["files"]:
            if name.endswith(".html") or name == "theme.mjs":
                text = (self.folder / name).read_text()
                text = text.replace(f'data-version="{old}"', f'data-version="{version}"')
                if name == "theme.mjs":
                    text = text.split("\n// build")[0] + f"\n// build {version}\ndocument.documentElement.dataset.script = '{version}';\n"
                for form in (name, f"{name}.br", f"{name}.gz"):
                    (self.folder / form).unlink(missing_ok=True)
                (self.folder / name).write_text(text)
                data = text.encode()
                manifest["files"][name] = {"bytes": len(data), "sha256": sha256(data).hexdigest() if name != broken else "0" * 64}
        manifest["version"] = version
        for form in (".br", ".gz"):
            (self.folder / f"manifest.json{form}").unlink(missing_ok=True)
        (self.folder / "manifest.json").write_text(json.dumps(manifest))


@pytest.fixture
def published(tmp_path: Path) -> Iterator[Published]:
    folder = tmp_path / "site"
    shutil.copytree(DIST, folder)
    log: list[str] = []
    for server in running(serve.server(folder, port=0)):
        server.RequestHandlerClass = partial(Logged, log, folder, True)
        made = Published(folder, log, f"http://127.0.0.1:{server.server_port}/")
        made.publish("one")
        yield made


def visit_once(page: Page, site: Published) -> None:
    """A first visit, until the service worker has the build."""
    page.goto(site.address)
    drawn(page, "prefill-decode")
    page.evaluate("navigator.serviceWorker.ready.then(({active}) => active.state === 'activated' || new Promise(done => "
                  "active.addEventListener('statechange', () => active.state === 'activated' && done())))")
    until(page, "navigator.serviceWorker.controller")


def version(page: Page) -> tuple[str, str]:
    """The build of the page and of a script of it."""
    until(page, "document.documentElement.dataset.script")
    return tuple(page.evaluate("[document.documentElement.dataset.version, document.documentElement.dataset.script]"))


def test_a_second_visit_starts_from_the_cache(page: Page, published: Published) -> None:
    visit_once(page, published)
    published.log.clear()
    page.reload()
    drawn(page, "prefill-decode")
    assert version(page) == ("one", "one")
    assert not {"index.html", "page.mjs", "bokeh.min.js", ""} & set(published.log)


def test_offline_after_the_first_visit_python_too(page: Page, published: Published) -> None:
    visit_once(page, published)
    until(page, "document.documentElement.dataset.kept")
    page.context.set_offline(True)
    page.goto(f"{published.address}index.html?kv-memory.context=4096#kv-memory")
    drawn(page, "kv-memory")
    expect(page.locator("#kv-memory-status")).to_contain_text("4,096 tokens want")
    page.goto(f"{published.address}embed/kv-memory.html")
    drawn(page, "kv-memory")
    page.context.set_offline(False)


def test_a_new_build_is_adopted_whole_at_the_next_visit(page: Page, published: Published) -> None:
    visit_once(page, published)
    published.publish("two")
    assert page.evaluate("import('./theme.mjs?again').then(() => document.documentElement.dataset.script)") == "one"
    page.reload()
    assert version(page) == ("two", "two")


def test_an_open_page_keeps_its_build_while_another_moves_on(page: Page, published: Published) -> None:
    visit_once(page, published)
    page.reload()
    assert version(page) == ("one", "one")
    published.publish("two")
    other = page.context.new_page()
    other.goto(published.address)
    assert version(other) == ("two", "two")
    assert "build one" in page.evaluate("fetch('theme.mjs').then(r => r.text())")
    assert "build two" in other.evaluate("fetch('theme.mjs').then(r => r.text())")
    page.reload()
    assert version(page) == ("two", "two")


def test_half_a_build_is_not_adopted(page: Page, published: Published) -> None:
    visit_once(page, published)
    published.publish("two", broken="theme.mjs")
    page.reload()
    assert version(page) == ("one", "one")
    published.publish("three")
    page.reload()
    assert version(page) == ("three", "three")


def test_it_can_be_left(page: Page, published: Published) -> None:
    visit_once(page, published)
    for name in published.folder.glob("manifest.json*"):
        name.unlink()
    (published.folder / "sw.js").unlink()
    page.context.complaints.clear()
    page.reload()
    until(page, "document.documentElement.dataset.script")
    left = page.evaluate("""async () => { for (let i = 0; i < 200; i++) {
        if (!await navigator.serviceWorker.getRegistration() && !(await caches.keys()).length) return true;
        await new Promise(done => setTimeout(done, 50)) } return false }""")
    assert left
    page.context.complaints.clear()  # the registration that finds no script


def test_embeds_register_nothing(page: Page, published: Published) -> None:
    page.goto(f"{published.address}embed/kv-memory.html")
    drawn(page, "kv-memory")
    page.get_by_label("Users", exact=True).press("ArrowLeft")
    expect(page.locator("#kv-memory-status")).to_contain_text("Nine people")
    assert page.evaluate("navigator.serviceWorker.getRegistration().then(found => !found)")


@pytest.mark.parametrize("refusal", [
    "navigator.serviceWorker.register = () => Promise.reject(new DOMException('no', 'SecurityError'))",
    "Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('no', 'SecurityError') }})",
    "CacheStorage.prototype.open = () => Promise.reject(new DOMException('full', 'QuotaExceededError'))",
])
def test_storage_that_is_full_or_forbidden(page: Page, site: str, refusal: str) -> None:
    page.add_init_script(refusal)
    page.goto(site)
    drawn(page, "prefill-decode")
    until(page, "document.documentElement.dataset.python === 'live'")
