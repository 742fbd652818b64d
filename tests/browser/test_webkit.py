"""WebKitGTK, driven over WebDriver: Python from its modules, for its table has another length; figures play, sliders answer."""
from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from . import elsewhere

LONGEST_S = 120
BROWSERS = ("/usr/lib", "/usr/libexec")  # where a distribution keeps WebKitGTK's own small browser


class Driver:
    """A WebKitWebDriver and its one window."""

    def __init__(self, port: int) -> None:
        self.address = f"http://127.0.0.1:{port}"

    def call(self, method: str, path: str, body: dict | None = None):
        """What the driver answers."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data, {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=LONGEST_S) as answer:
            return json.load(answer)["value"]

    def ready(self) -> bool:
        try:
            return self.call("GET", "/status")["ready"]
        except OSError:
            return False

    def begin(self, browser: Path) -> None:
        """Opens the window."""
        wanted = {"webkitgtk:browserOptions": {"binary": str(browser), "args": ["--automation"]}}
        self.session = "/session/" + self.call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]
        self.call("POST", f"{self.session}/timeouts", {"script": LONGEST_S * 1000})

    def go(self, address: str) -> None:
        self.call("POST", f"{self.session}/url", {"url": address})

    def run(self, expression: str):
        """The value of a JavaScript expression in the page."""
        return self.call("POST", f"{self.session}/execute/sync", {"script": f"return {expression}", "args": []})

    def until(self, condition: str) -> None:
        """Waits in the page, which leaves the processor to it, until a JavaScript condition holds."""
        look = f"const done = arguments[0], look = () => ({condition}) ? done(true) : setTimeout(look, 40); look()"
        self.call("POST", f"{self.session}/execute/async", {"script": look, "args": []})


def wait(holds: Callable[[], bool], what: str) -> None:
    """Looks again and again until it holds, for what no page can wait for."""
    end = time.monotonic() + LONGEST_S
    while not holds():
        assert time.monotonic() < end, f"it never became true: {what}"


def free(start: int) -> int:
    """A number whose X display nobody uses."""
    return next(n for n in range(start, start + 200) if not Path(f"/tmp/.X11-unix/X{n}").exists())


@pytest.fixture(scope="module")
def webkit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    """A WebKitGTK on a screen that nobody sees."""
    driver, screen = shutil.which("WebKitWebDriver"), shutil.which("Xvfb")
    assert driver and screen, "webkit2gtk-driver and xvfb are not installed"
    browser = next((found for folder in BROWSERS for found in Path(folder).glob("**/webkit2gtk-4*/MiniBrowser")), None)
    assert browser, "WebKitGTK's MiniBrowser is not installed"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    display = f":{free(90)}"
    home = tmp_path_factory.mktemp("webkit")
    environment = {**os.environ, "DISPLAY": display, "HOME": str(home), "XDG_CACHE_HOME": str(home), "XDG_DATA_HOME": str(home),
                   "LIBGL_ALWAYS_SOFTWARE": "1"}
    quiet = dict(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with subprocess.Popen([screen, display, "-screen", "0", "1280x1024x24", "-nolisten", "tcp"], **quiet) as x, \
            subprocess.Popen([driver, f"--port={port}"], env=environment, **quiet) as server:
        made = Driver(port)
        try:
            wait(made.ready, "WebKitWebDriver answers")
            made.begin(browser)
            yield made
            made.call("DELETE", made.session)
        finally:
            server.terminate()
            x.terminate()


def test_the_page_works_in_webkit(webkit: Driver, site: str) -> None:
    webkit.go(site)
    webkit.until(elsewhere.DRAWN)
    webkit.run(f"void {elsewhere.PLAY}")
    webkit.until(elsewhere.ENDED)
    webkit.until(elsewhere.LIVE)
    assert webkit.run(elsewhere.BOOT) == "modules"
    webkit.run(f"void {elsewhere.MOVE % json.dumps(elsewhere.MOVED)}")
    webkit.until(elsewhere.ANSWERED)
    assert webkit.run(elsewhere.SENTENCE) == elsewhere.sentence()
