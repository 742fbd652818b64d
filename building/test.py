"""Runs every test, the browser's included."""

import os
import shutil
import subprocess
import sys

from building.faults import Fault
from building.places import Places

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def run(places: Places, options: list[str]) -> int:
    """Runs pytest over all of tests/ (or as `options` say); returns its exit status."""
    environment = {**os.environ, "CHROMIUM": browser(), "PYTHONPATH": str(places.root), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([sys.executable, "-m", "pytest", *options], cwd=places.root, env=environment).returncode


def browser() -> str:
    """The path of Chromium; installed from Debian's packages where it is missing and this may be done."""
    found = _found()
    if not found and shutil.which("apt-get"):
        print("installing chromium for the browser's tests (once)", file=sys.stderr)
        for command in (["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"]):
            subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        found = _found()
    if not found:
        raise Fault("the browser's tests need Chromium, which is not installed; install your system's chromium package")
    return found


def _found() -> str:
    return next((path for name in BROWSERS if (path := shutil.which(name))), "")
