"""What the bench compares with: the same app as Panel's own conversion makes it, with full wheels through micropip."""

import importlib.metadata
import io
import json
import re
import shutil
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

from building import parts, trim
from building.compress import compress
from building.faults import Fault, last_line
from building.files import cached_folder, sha256
from building.places import Places

HERE = Path(__file__).parent
# All that Panel requires and that comes as a pure wheel; what has none lies open in the build's own environment.
WHEELS = ("panel", "bokeh", "param", "pyviz-comms", "jinja2", "narwhals", "packaging", "xyzservices", "linkify-it-py", "markdown",
          "markdown-it-py", "mdurl", "mdit-py-plugins", "python-dateutil", "typing-extensions", "requests", "certifi", "idna", "urllib3",
          "tqdm", "pyodide-http")
# nh3 is compiled; its wheel for Pyodide is not on the registry. Less to load than a reader of the conversion would have.
NH3 = b"def clean(html, **_):\n    return html\n"
PACKED = ("markupsafe", "charset-normalizer", "pyyaml")


def conversion(places: Places) -> Path:
    """A folder with the conversion, to be served as it stands."""
    texts = b"".join(path.read_bytes() for path in sorted(HERE.iterdir()) if path.is_file())  # this file's own as well
    key = "rival-" + sha256(texts + (places.root / "requirements-test.txt").read_bytes() + app_wheel(places))[:16]
    return cached_folder(places.cache / "made", key, lambda folder: fill(places, folder))


def fill(places: Places, folder: Path) -> None:
    """Gathers runtime, BokehJS, wheels and pages into `folder`."""
    for name in ("index.html", "page.js", "worker.mjs"):
        shutil.copy(HERE / name, folder)
    for name in parts.RUNTIME:
        shutil.copy(parts.pyodide(places) / name, folder)
    bokeh = Path(find_spec("bokeh").submodule_search_locations[0]) / "server" / "static" / "js"
    for path in (*(bokeh / f"{name}.min.js" for name in ("bokeh", "bokeh-widgets", "bokeh-tables")),
                 Path(find_spec("panel").submodule_search_locations[0]) / "dist" / "panel.min.js"):
        shutil.copy(path, folder)
    (folder / Path(parts.PINS["numpy"]["member"]).name).write_bytes(parts.numpy_wheel(places))
    for wheel in downloaded(places).iterdir():
        if wheel.suffix == ".whl":
            shutil.copy(wheel, folder)
    for name in PACKED:
        (folder / f"{name.replace('-', '_')}-{importlib.metadata.version(name)}-py3-none-any.whl").write_bytes(packed(name))
    (folder / "app-1-py3-none-any.whl").write_bytes(app_wheel(places))
    (folder / "nh3-0.3.8-py3-none-any.whl").write_bytes(wheel_of("nh3", "0.3.8", {"nh3.py": NH3}))
    (folder / "wheels.json").write_text(json.dumps(sorted(path.name for path in folder.glob("*.whl"))))
    compress(places, folder)


def downloaded(places: Places) -> Path:
    """A folder with the pure wheels that the lock file pins, and micropip, through pip and checked by their hashes."""
    locked = (places.root / "requirements-test.txt").read_text()
    blocks = [block for name in WHEELS if (block := re.search(rf"^{name}==.*?(?=^\S|\Z)", locked, re.M | re.S))]
    micropip = parts.PINS["micropip"]
    text = "".join(block[0] for block in blocks) + f"micropip=={micropip['version']} --hash=sha256:{micropip['sha256']}\n"

    def fetch(folder: Path) -> None:
        list_of = folder / "wheels.txt"
        list_of.write_text(text)
        done = subprocess.run([sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "download", "--no-deps",
                               "--require-hashes", "--only-binary", ":all:", "--ignore-requires-python", "--dest", str(folder),
                               "-r", str(list_of)], capture_output=True, text=True)
        if done.returncode:
            raise Fault(f"the wheels to compare with could not be had (is the network there?): {last_line(done.stderr)}")
    return cached_folder(places.parts, "wheels-" + sha256(text.encode())[:16], fetch)


def packed(name: str) -> bytes:
    """A wheel of an installed distribution's Python files."""
    distribution = importlib.metadata.distribution(name)
    files = {file.as_posix(): file.locate().read_bytes() for file in distribution.files or []
             if file.suffix == ".py" and not file.as_posix().startswith("..")}
    return wheel_of(distribution.name.replace("-", "_"), distribution.version, files)


def app_wheel(places: Places) -> bytes:
    """A wheel of the app, the widgets and the model, the very sources that the page's Python is made of."""
    files = {path.relative_to(places.root).as_posix(): path.read_bytes() for package in trim.OURS
             for path in sorted((places.root / package).rglob("*"))
             if path.is_file() and path.suffix in (".py", *trim.OURS_DATA)}
    return wheel_of("app", "1", files)


def wheel_of(name: str, version: str, files: dict[str, bytes]) -> bytes:
    """A pure wheel with these files, the same bytes on every run."""
    about = f"{name}-{version}.dist-info"
    files = {**files, f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode(),
             f"{about}/WHEEL": b"Wheel-Version: 1.0\nGenerator: bench\nRoot-Is-Purelib: true\nTag: py3-none-any\n", f"{about}/RECORD": b""}
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in sorted(files.items()):
            wheel.writestr(zipfile.ZipInfo(path), data, zipfile.ZIP_DEFLATED)
    return whole.getvalue()
