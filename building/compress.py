"""Compressed forms beside the plain files: .br and .gz, kept by the hash of what they hold."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import brotli
import deflate

from building.files import sha256, used, write_whole
from building.places import Places

TEXT = (".html", ".css", ".js", ".mjs", ".json", ".svg", ".txt", ".webmanifest", ".xml", ".md")
BINARY = (".wasm", ".so", ".zip", ".bin")
SMALL_BYTES = 10_000_000  # up to here the slowest setting of brotli is worth its time: the heap would take minutes


def compress(places: Places, folder: Path) -> None:
    """Writes NAME.br and NAME.gz beside every file of `folder` that gains from it, two at a time."""
    paths = [path for path in sorted(folder.rglob("*")) if path.suffix in TEXT + BINARY]
    with ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(_beside, places, path, form) for path in sorted(paths, key=lambda p: -p.stat().st_size)
                for form in ("br", "gz")]
        for job in jobs:
            job.result()


def packed(data: bytes, form: str) -> bytes:
    """`data` in the form "br" or "gz", the same bytes on every run."""
    if form == "gz":
        return deflate.gzip_compress(data, 12)
    return brotli.compress(data, quality=11 if len(data) <= SMALL_BYTES else 9, lgwin=24)


def _beside(places: Places, path: Path, form: str) -> None:
    data = path.read_bytes()
    kept = places.cache / "packed" / f"{sha256(data)}.{form}"
    if not kept.is_file():
        write_whole(kept, packed(data, form))
    (path.parent / f"{path.name}.{form}").write_bytes(used(kept).read_bytes())
