"""Runs every test, the browsers' included."""

import os
import subprocess
import sys

from building import browsers
from building.places import Places


def run(places: Places, options: list[str]) -> int:
    """Runs pytest over all of tests/ (or as `options` say); returns its exit status."""
    environment = {**os.environ, **browsers.environment(places), "PYTHONPATH": str(places.root), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([sys.executable, "-m", "pytest", *options], cwd=places.root, env=environment).returncode
