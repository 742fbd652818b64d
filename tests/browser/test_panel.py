"""`panel serve app`: the figures on a Panel server, as a browser shows them."""
from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from app.order import figures

from .conftest import ROOT


@pytest.fixture(scope="module")
def served() -> Iterator[str]:
    """The address that `panel serve app` prints."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    server = subprocess.Popen([sys.executable, "-m", "panel", "serve", "app", "--port", "0"], cwd=ROOT, env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    lines = []
    for line in server.stdout:
        lines.append(line)
        if found := re.search(r"http://localhost:\d+/app", line):
            yield found[0]
            break
    else:
        pytest.fail("".join(lines))
    server.terminate()
    server.wait()


def test_a_browser_shows_every_figure_and_a_slider_answers(browser: Browser, served: str) -> None:
    page = browser.new_context(viewport=dict(width=1280, height=900)).new_page()
    page.goto(served, timeout=120_000)  # all figures are computed first
    for f in figures():
        expect(page.get_by_text(f.title, exact=True).first).to_be_visible()
    expect(page.get_by_text("Ten people at 8,192 tokens want 10.7 GB")).to_be_visible()
    page.context.close()
