"""Files: hashes, writing without halves, and a store of results by the hash of what they were made from."""

import errno
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from building.faults import Fault


def sha256(data: bytes) -> str:
    """The SHA-256 of `data`, 64 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def sha256_of_files(paths: Iterable[Path], root: Path) -> str:
    """One SHA-256 over the names (below `root`) and contents of `paths`, whatever their order."""
    whole = hashlib.sha256()
    for path in sorted(paths):
        whole.update(f"{path.relative_to(root).as_posix()}\0{sha256(path.read_bytes())}\n".encode())
    return whole.hexdigest()


@contextmanager
def disk_faults() -> Iterator[None]:
    """Turns the disk's refusals (full, read-only, not allowed) into a `Fault` of one line."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM):
            raise
        raise Fault(f"cannot write {error.filename or 'the build'}: {error.strerror}; free some space or choose "
                    "another disk, then run the same command again") from error


def write_whole(path: Path, data: bytes) -> None:
    """Writes `data` to `path` so that no reader ever sees a part of it."""
    with disk_faults():
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name + ".")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.replace(name, path)
        except OSError:
            Path(name).unlink(missing_ok=True)
            raise


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A folder beside `path` to fill; it takes the place of `path` when the block ends well, and vanishes otherwise."""
    with disk_faults():
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(dir=path.parent, prefix=path.name + "."))
        draft.chmod(0o755)
        try:
            yield draft
            old = path.with_name(f"{path.name}.old.{os.getpid()}")
            if path.exists():
                path.rename(old)
            draft.rename(path)
            shutil.rmtree(old, ignore_errors=True)
        finally:
            shutil.rmtree(draft, ignore_errors=True)


def cached_folder(store: Path, key: str, make: Callable[[Path], None]) -> Path:
    """The folder `store/key`, filled by `make(folder)` where it is missing or its contents are no longer what was made.

    A list of hashes is written last, so that a folder cut off or damaged is noticed and made again.
    """
    folder = store / key
    if not _is_sound(folder):
        shutil.rmtree(folder, ignore_errors=True)
        with new_folder(folder) as draft:
            make(draft)
            (draft / LIST).write_text(_listing(draft))
    used(folder)
    return folder


def used(path: Path) -> Path:
    """Notes on a kept file or folder that it was of use today."""
    os.utime(path)
    return path


def prune(store: Path, days: float) -> None:
    """Removes from a store what was of no use for so many days."""
    for path in store.iterdir() if store.is_dir() else ():
        if path.stat().st_mtime < time.time() - 86_400 * days:
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


LIST = ".sha256"


def _listing(folder: Path) -> str:
    names = sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file() and p.name != LIST)
    return "".join(f"{sha256((folder / name).read_bytes())}  {name}\n" for name in names)


def _is_sound(folder: Path) -> bool:
    listed = folder / LIST
    return listed.is_file() and listed.read_text() == _listing(folder)
