"""Runs every test, the browsers' included."""

import os
import subprocess
import sys

from building import browsers
from building.places import Places

# A file stays on one core: its fixtures are made once. `--numprocesses 0` takes it back.
PARALLEL = ("--numprocesses", "2", "--dist", "loadfile")


def run(places: Places, options: list[str]) -> int:
    """Runs pytest over all of tests/ (or as `options` say), a file at a time on each core; returns its exit status."""
    environment = {**os.environ, **browsers.environment(places), "PYTHONPATH": str(places.root), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([sys.executable, "-m", "pytest", *PARALLEL, *options], cwd=places.root, env=environment).returncode
