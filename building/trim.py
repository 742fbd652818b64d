"""Gathers everything that the page's Python could import, and keeps what it does import, compiled.

The pure packages are the very files that this build's own environment has installed (checked against the hashes that
pip recorded), so the page and the build cannot differ. numpy comes from the wheel compiled for Pyodide.
"""

import base64
import hashlib
import importlib.metadata
import io
import json
import zipfile
from dataclasses import dataclass
from pathlib import Path

from building import parts
from building.faults import Fault
from building.files import cached_folder, sha256
from building.places import Places

# Distributions whose Python files are offered. Left out, and not imported by what the page uses: pandas, Pillow,
# contourpy, tornado, nh3, panel-material-ui. MarkupSafe works without its compiled part. Some that are imported but
# never called have a stand-in (`standins/`), a few lines in place of a package.
PURE = ("panel", "bokeh", "param", "pyviz-comms", "jinja2", "markupsafe", "narwhals", "packaging", "xyzservices",
        "linkify-it-py", "uc-micro-py", "markdown", "markdown-it-py", "mdurl", "mdit-py-plugins", "python-dateutil", "six",
        "typing-extensions")
STANDINS = Path(__file__).with_name("standins")
# Offered beside the modules; what is not opened is left out again.
DATA = (".json", ".css", ".jinja", ".html", ".js")
LARGEST_DATA_BYTES = 100_000
OURS = ("model", "widgets", "app")
OURS_DATA = (".toml", ".json", ".csv", ".css", ".html", ".md", ".txt", ".svg")


@dataclass(frozen=True)
class Modules:
    """What the page's Python consists of: a folder with `site.zip`, `stdlib.zip`, `trace.json`, the libraries, and what
    the figures show: `figures/ID.json` and `answers/ID.json`."""

    folder: Path

    @property
    def names(self) -> list[str]:
        """Names of the Python modules."""
        return json.loads((self.folder / "trace.json").read_text())["names"]

    @property
    def libraries(self) -> list[str]:
        """Paths of the extension modules below site-packages, in the order in which they must be loaded."""
        return json.loads((self.folder / "trace.json").read_text())["libraries"]


def modules(places: Places, run) -> Modules:
    """The modules that the app in `places.root` imports. `run(task, job)` runs `snapshot.mjs`."""
    sources = gather(places)
    tools = b"".join((Path(__file__).with_name(name)).read_bytes() for name in ("inside.py", "snapshot.mjs", "trim.py")) + parts.pins()
    key = "modules-" + sha256(b"".join(f"{name}\0{sha256(data)}\n".encode() for name, data in sorted(sources.items())) + tools)[:16]

    def make(folder: Path) -> None:
        archive = folder / "sources.zip"
        with zipfile.ZipFile(archive, "w") as file:
            for name, data in sorted(sources.items()):
                file.writestr(zipfile.ZipInfo(name), data)
        run("trace", {"sources": str(archive), "out": str(folder)})
        archive.unlink()
        for name in Modules(folder).libraries:
            (folder / Path(name).name).write_bytes(sources[name])
    return Modules(cached_folder(places.cache / "made", key, make))


def gather(places: Places) -> dict[str, bytes]:
    """{path below site-packages: contents} of all that may be imported."""
    found = {}
    for name in PURE:
        found.update(installed(name))
    with zipfile.ZipFile(io.BytesIO(parts.numpy_wheel(places))) as wheel:
        for name in wheel.namelist():
            if name.endswith((".py", ".so")) and "/tests/" not in name:
                found[name] = wheel.read(name)
    for path in STANDINS.rglob("*.py"):
        found[path.relative_to(STANDINS).as_posix()] = path.read_bytes()
    for package in OURS:
        for path in sorted((places.root / package).rglob("*")):
            if path.suffix == ".py" or (path.suffix in OURS_DATA and path.is_file()):
                found[path.relative_to(places.root).as_posix()] = path.read_bytes()
    return found


def installed(name: str) -> dict[str, bytes]:
    """The Python files of an installed distribution and the data it reads at import; {} where it is not installed."""
    try:
        distribution = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return {}
    short = f"Metadata-Version: 2.1\nName: {distribution.name}\nVersion: {distribution.version}\n"
    found = {f"{distribution.name.replace('-', '_')}-{distribution.version}.dist-info/METADATA": short.encode()}
    for file in distribution.files or []:
        path = file.as_posix()
        if path.startswith("..") or "/tests/" in path or not _offered(path, file.size or 0):
            continue
        data = file.locate().read_bytes()
        if file.hash and file.hash.mode == "sha256" and file.hash.value != digest(data):
            raise Fault(f"{path} is not what was installed; delete .venv and run the same command again")
        found[path] = data
    return found


def digest(data: bytes) -> str:
    """SHA-256 as pip records it: URL-safe base64 without padding."""
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def _offered(path: str, size_bytes: int) -> bool:
    return path.endswith(".py") or path.endswith(DATA) and size_bytes < LARGEST_DATA_BYTES and ".dist-info/" not in path
