"""Runs every test, the browsers' included."""

import os
import subprocess
import sys

from building import browsers
from building.places import Places

# Browser tests wait more than they work, so that two cores are busy with three of them. `--numprocesses 0` takes it back.
PARALLEL = ("--numprocesses", "3", "--dist", "worksteal")


def run(places: Places, options: list[str]) -> int:
    """Runs pytest over all of tests/ (or as `options` say), a test at a time on each core; returns its exit status."""
    environment = {**os.environ, **browsers.environment(places), "PYTHONPATH": str(places.root), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([sys.executable, "-m", "pytest", *PARALLEL, *options], cwd=places.root, env=environment).returncode
