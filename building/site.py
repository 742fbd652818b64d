"""Writes `dist/`: the essay's pages, the figures' documents and answers, the page's scripts, and Python.

What it asks of the essay, and nothing else:
    app/site.py   pages(version, address) -> {path below dist: text}, all HTML pages; `version` names the build, `address`
                  is where it will be published, "" if unknown
                  page(body, *, version, title) -> text, one page more (the licences)
    app/live.py   importing it builds every figure; LIVE {id: ...}; export(id) and main_answers(id) -> JSON text;
                  change(id, values_json) -> (patch_json, [(buffer id, bytes)]), ValueError for a wrong value
    static/       files copied as they are; `worker.mjs` finds the list of Python's files in `python/files.mjs`

    dist/index.html, embed/ID.html, licences.html     dist/figures/ID.json.gz    the document the page draws
    dist/*.mjs, bokeh.min.js, icons ...               dist/answers/ID.json.gz  the main control's answers
    dist/python/                                      dist/manifest.json         {version, files: {path: {bytes, sha256}}}
Beside every file that gains from it lie its .br and .gz forms.
"""

import json
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from building import licences, parts, snapshot, trim
from building.compress import compress, packed
from building.faults import Fault
from building.files import new_folder, prune, sha256, sha256_of_files, write_whole
from building.places import Places

SOURCES = ("app", "model", "widgets", "static", "docs", "building")
RUNTIME = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm")
MANIFEST = "manifest.json"
KEPT_DAYS = 30  # what the cache holds of builds that nobody makes any more
PART_BYTES = 8 << 20  # as in static/fetched.mjs
RENDER = """
import json, sys
from app import site
version, address, licences = json.load(sys.stdin)
made = site.pages(version, address)
made["licences.html"] = site.page("<main>" + licences + "</main>", version=version, title="Licences")
json.dump(made, sys.stdout)
"""


def build(places: Places, address: str = "") -> str:
    """Brings `dist/` up to date with the sources; returns the version. What did not change is not made again. `address`:
    where it will be published, for the one format that cannot be relative (oEmbed); without it, those files are."""
    version = sha256((source_hash(places) + address).encode())[:12]
    if built_version(places.dist) == version:
        return version
    print("rendering the pages", file=sys.stderr)
    pages = render(places, version, address)
    print("building the page's Python", file=sys.stderr)
    modules = trim.modules(places, lambda task, job: snapshot.run(places, task, job))
    taken = snapshot.taken(places, modules)
    print("writing dist/", file=sys.stderr)
    with new_folder(places.dist) as draft:
        copy_static(places, draft)
        for path in [*modules.folder.glob("figures/*"), *modules.folder.glob("answers/*")]:
            write_whole(draft / path.parent.name / f"{path.name}.gz", packed(path.read_bytes(), "gz"))  # the page unpacks it, on every host
        write_python(places, draft / "python", modules, taken, version)
        for name, text in pages.items():
            (draft / name).parent.mkdir(parents=True, exist_ok=True)
            (draft / name).write_text(text, encoding="utf-8")
        compress(places, draft)
        (draft / MANIFEST).write_text(json.dumps({"version": version, "files": listing(draft)}, indent=0))
    for store in ("made", "packed"):
        prune(places.cache / store, KEPT_DAYS)
    return version


def source_hash(places: Places) -> str:
    """One hash of everything that a build depends on."""
    files = [path for folder in SOURCES for path in (places.root / folder).rglob("*")
             if path.is_file() and "__pycache__" not in path.parts]
    files += [path for name in ("requirements.txt", "pyproject.toml") if (path := places.root / name).is_file()]
    return sha256_of_files(files, places.root)


def built_version(dist: Path) -> str:
    """The version of the build in `dist`, or "" where there is none or a file of it is missing or of another length."""
    try:
        manifest = json.loads((dist / MANIFEST).read_text())
        whole = all((dist / name).stat().st_size == file["bytes"] for name, file in manifest["files"].items())
    except (FileNotFoundError, NotADirectoryError, ValueError, KeyError):
        return ""
    return manifest["version"] if whole else ""


def copy_static(places: Places, draft: Path) -> None:
    """Copies the page's own files and BokehJS, the very release that Python has."""
    shutil.copytree(places.static, draft, dirs_exist_ok=True)
    bokeh = Path(find_spec("bokeh").submodule_search_locations[0])
    shutil.copy(bokeh / "server" / "static" / "js" / "bokeh.min.js", draft)


def write_python(places: Places, folder: Path, modules: trim.Modules, taken: Path, version: str) -> None:
    """Writes dist/python: the runtime, the heap, the modules for where the heap cannot be used, and the list of them."""
    folder.mkdir()
    runtime = parts.pyodide(places)
    libraries = [Path(name).name for name in modules.libraries]
    for source in [*(runtime / name for name in RUNTIME), taken / "heap.bin", modules.folder / "site.zip",
                   modules.folder / "stdlib.zip", *(modules.folder / name for name in libraries)]:
        shutil.copy(source, folder)
    compress(places, folder)
    lock = json.loads((runtime / "pyodide-lock.json").read_text())
    facts = {"VERSION": version, "FILES": packed_listing(folder), "LOCK": {**lock, "packages": {}},
             "SNAPSHOT": json.loads((taken / "snapshot.json").read_text())}
    words = "// What Python's files must be: lengths plain and compressed, and SHA-256. Written by the build.\n"
    (folder / "files.mjs").write_text(words + "".join(f"export const {name} = {json.dumps(value)};\n" for name, value in facts.items()))


def packed_listing(folder: Path) -> dict[str, dict]:
    """{name: {bytes, sha256: [of each part], br, gz}} of the files in `folder` that have both compressed forms."""
    plain = [path for path in sorted(folder.iterdir()) if (folder / f"{path.name}.br").is_file()]
    return {path.name: {"bytes": path.stat().st_size, "sha256": parts_sha256(path.read_bytes()),
                        **{form: (folder / f"{path.name}.{form}").stat().st_size for form in ("br", "gz")}} for path in plain}


def parts_sha256(data: bytes) -> list[str]:
    """The SHA-256 of each part of a file, as `fetched.mjs` checks them while the rest arrives."""
    return [sha256(data[at:at + PART_BYTES]) for at in range(0, len(data), PART_BYTES)]


def listing(folder: Path) -> dict[str, dict]:
    """{path: {bytes, sha256}} of all files in `folder`, without the compressed forms that no page asks for by name."""
    paths = [p for p in sorted(folder.rglob("*")) if p.is_file() and (p.suffix not in (".br", ".gz") or not p.with_suffix("").exists())]
    return {p.relative_to(folder).as_posix(): {"bytes": p.stat().st_size, "sha256": sha256(p.read_bytes())} for p in paths}


def render(places: Places, version: str, address: str) -> dict[str, str]:
    """All HTML pages, by their path. Raises `Fault` (2) where the essay cannot be rendered."""
    done = subprocess.run([sys.executable, "-c", RENDER], capture_output=True, text=True, cwd=places.root,
                          input=json.dumps([version, address, licences.html(places)]))
    if done.returncode:
        (places.cache / "last-failure.txt").write_text(done.stderr)
        raise Fault(f"the pages cannot be rendered: {snapshot.reason(done.stderr)} (all of it: .cache/last-failure.txt)", 2)
    return json.loads(done.stdout)
