"""Debian's Firefox, driven over WebDriver BiDi: Python from its snapshot, figures that play, sliders that answer."""
from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from building import parts

from . import elsewhere

LONGEST_MS = 90_000


def visit(folder: Path, address: str, steps: list[dict[str, str]]) -> list:
    """The answers of a visit; the page may complain of nothing."""
    firefox = shutil.which("firefox-esr")
    assert firefox, "firefox-esr is not installed"
    assert "PUPPETEER" in os.environ, "run python3 build.py test, which fetches what drives Firefox"
    job = folder / "steps.json"
    job.write_text(json.dumps(dict(firefox=firefox, address=address, steps=steps, longest_ms=LONGEST_MS)))
    done = subprocess.run([str(parts.node()), str(Path(os.environ["PUPPETEER"], "visit.mjs")), str(job)], capture_output=True,
                          text=True, timeout=4 * LONGEST_MS / 1000, env={**os.environ, "HOME": str(folder)})
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["complaints"] == []
    return said["answers"]


@pytest.mark.parametrize("query, boot", [("", "snapshot"), ("?boot=modules", "modules")])
def test_the_page_works_in_firefox(tmp_path: Path, site: str, query: str, boot: str) -> None:
    found, said = visit(tmp_path, site + query, [
        dict(until=elsewhere.DRAWN), dict(do=elsewhere.PLAY), dict(until=elsewhere.ENDED),
        dict(until=elsewhere.LIVE), dict(run=elsewhere.BOOT),
        dict(do=elsewhere.MOVE % json.dumps(elsewhere.MOVED)), dict(until=elsewhere.ANSWERED), dict(run=elsewhere.SENTENCE)])
    assert found == boot
    assert said == elsewhere.sentence()
