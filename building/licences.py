"""The notices of everything that the site ships, as HTML, gathered from the parts themselves."""

import importlib.metadata
import io
import sys
import sysconfig
import zipfile
from html import escape
from pathlib import Path

from building import parts, trim
from building.places import Places

NAMES = ("LICENSE", "LICENCE", "COPYING", "NOTICE", "AUTHORS")


def html(places: Places) -> str:
    """A heading and the folded texts for each part."""
    found = dict(sorted(notices(places).items(), key=lambda item: item[0].lower()))
    parts_html = "".join(f"<details><summary>{escape(name)}</summary><pre>{escape(text)}</pre></details>"
                         for name, text in found.items())
    return f"<h1>Licences</h1><p>The page is made with the work of others. Their notices:</p>{parts_html}"


def notices(places: Places) -> dict[str, str]:
    """{part and version: its notices}. The text that a licence asks for, or the licence's name where no text came along."""
    found = {}
    for name in trim.PURE:
        try:
            distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        texts = [file.locate().read_text(encoding="utf-8", errors="replace") for file in distribution.files or []
                 if is_notice(file.as_posix()) and "node_modules" not in file.parts]
        stated = distribution.metadata.get("License-Expression") or distribution.metadata.get("License") or ""
        found[f"{distribution.name} {distribution.version}"] = "\n\n".join(texts) or stated or "see the package"
    with zipfile.ZipFile(io.BytesIO(parts.numpy_wheel(places))) as wheel:
        found["numpy, compiled for WebAssembly"] = "\n\n".join(
            wheel.read(name).decode("utf-8", "replace") for name in wheel.namelist() if is_notice(name))
    found[f"Pyodide {parts.PINS['pyodide']['version']}"] = (
        "Copyright the Pyodide contributors and Mozilla. Mozilla Public License 2.0. The source of this release is published "
        "by the Pyodide project under the same version; it is shipped unchanged.")
    text = Path(sysconfig.get_path("stdlib")) / "LICENSE.txt"
    found["Python"] = text.read_text(encoding="utf-8") if text.is_file() else f"Python Software Foundation License. {sys.copyright}"
    return found


def is_notice(path: str) -> bool:
    """Whether a packaged file is a notice: by its name, or by lying in a folder of licences."""
    pure = Path(path)
    return ".dist-info" in path and (pure.name.upper().startswith(NAMES) or "licenses" in pure.parts)
