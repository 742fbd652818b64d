"""The build's own virtual environment, made once from a lock file with hashes. Standard library only: it runs first."""

import os
import subprocess
import sys
from pathlib import Path

from building.faults import Fault, last_line
from building.files import disk_faults, sha256

OLDEST = (3, 11)


def ensure(root: Path, lock: str) -> Path:
    """The Python of `root/.venv`, with what `root/lock` pins installed; made or completed where it is not.

    Raises `Fault` (1) where the packages cannot be had, (2) where this Python is too old.
    """
    if sys.version_info < OLDEST:
        raise Fault(f"Python {sys.version_info[0]}.{sys.version_info[1]} is too old; 3.11 or later is needed", 2)
    folder = root / ".venv"
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    wanted = sha256((root / lock).read_bytes() + sys.version.encode())
    mark = folder / f"{lock}.installed"
    if python.is_file() and mark.is_file() and mark.read_text() == wanted:
        return python
    print(f"installing what {lock} pins into .venv (once)", file=sys.stderr)
    with disk_faults():
        if not python.is_file() or not _same(python):
            _run([sys.executable, "-m", "venv", "--clear", str(folder)], "a virtual environment could not be made")
        _run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes",
              "--only-binary", ":all:", "-r", str(root / lock)],
             f"the packages that {lock} pins could not be installed (is the network there?)")
        mark.write_text(wanted)
    return python


def enter(root: Path, lock: str) -> None:
    """Runs this very command again with the Python of `.venv`, unless it already is that one. Does not return then."""
    python = ensure(root, lock)
    if Path(sys.prefix).resolve() != (root / ".venv").resolve():
        command, environment = [str(python), *sys.argv], {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        if os.name == "nt":
            sys.exit(subprocess.call(command, env=environment))
        os.execve(python, command, environment)


def _same(python: Path) -> bool:
    """Whether this is a Python of our own version, with pip: another one is made anew."""
    try:
        done = subprocess.run([str(python), "-c", "import pip, sys; print(sys.version)"], capture_output=True, text=True)
    except OSError:
        return False
    return done.returncode == 0 and done.stdout.strip() == sys.version.strip()


def _run(command: list[str], failure: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise Fault(f"{failure}: {last_line(done.stderr or done.stdout)}")
