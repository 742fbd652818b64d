"""Runs the app in Pyodide under Node: which modules it needs and what each figure shows, then the memory snapshot."""

import json
import re
import subprocess
import tempfile
from pathlib import Path

from building import parts
from building.faults import Fault, last_line
from building.files import cached_folder, disk_faults, sha256
from building.places import Places
from building.trim import Modules

HERE = Path(__file__).parent
LONGEST_S = 240
PRELOAD = HERE.parent / "static" / "preload.mjs"


def run(places: Places, task: str, job: dict) -> None:
    """Runs one task of `snapshot.mjs`. Raises `Fault` (2) with the error's last line where the app fails in it."""
    whole = {"task": task, "pyodide": str(parts.pyodide(places)), "inside": str(HERE / "inside.py"), "preload": str(PRELOAD), **job}
    with disk_faults(), tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "job.json"
        path.write_text(json.dumps(whole))
        try:
            done = subprocess.run([str(parts.node()), str(HERE / "snapshot.mjs"), str(path)], capture_output=True, text=True,
                                  timeout=LONGEST_S)
        except subprocess.TimeoutExpired as error:
            raise Fault(f"the app was still running in Pyodide after {LONGEST_S} s and was stopped", 2) from error
    if done.returncode:
        (places.cache / "last-failure.txt").write_text(done.stdout + done.stderr)
        raise Fault(f"the app does not run in Pyodide: {reason(done.stderr)} (all of it: .cache/last-failure.txt)", 2)


def reason(output: str) -> str:
    """The line of a Python or JavaScript trace that names the error."""
    told = [line.strip() for line in output.splitlines() if re.match(r"(PythonError: )?[A-Za-z_][\w.]*: \S", line)]
    told = [line for line in told if not line.endswith("(most recent call last):")]
    return told[-1] if told else last_line(output)


def taken(places: Places, modules: Modules) -> Path:
    """A folder with `heap.bin` and `snapshot.json`, made from `modules`."""
    tools = b"".join(path.read_bytes() for path in (HERE / "inside.py", HERE / "snapshot.mjs", PRELOAD)) + parts.pins()
    key = "heap-" + sha256((modules.folder / ".sha256").read_bytes() + tools)[:16]

    def make(folder: Path) -> None:
        run(places, "take", {"site": str(modules.folder / "site.zip"), "stdlib": str(modules.folder / "stdlib.zip"),
                             "libraries": modules.libraries, "names": modules.names, "folder": str(modules.folder), "out": str(folder)})
    return cached_folder(places.cache / "made", key, make)
