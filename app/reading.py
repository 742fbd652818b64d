"""The readers' pages besides the essay: the model in plain words, and the model held against measurements."""
from __future__ import annotations

import re
from pathlib import Path

from . import comparison, prose

MODEL = Path(__file__).parents[1] / "docs" / "model.md"
LINKS = {"measured.md": "measured.html", "model.md": "model.html"}


def pages() -> dict[str, tuple[str, str]]:
    """{path below the site's root: (title, HTML body)}."""
    return {"model.html": ("The model, in plain words", model_html()),
            "measured.html": ("Held against measurements", comparison.html())}


def model_html() -> str:
    """docs/model.md as a page of the site, its links to other documents turned to their pages."""
    body = prose.markdown(MODEL.read_text(encoding="utf-8"))
    for document, page in LINKS.items():
        body = re.sub(rf'href="(\./)?{re.escape(document)}', f'href="{page}', body)
    return (f'<main>{body}<footer><p><a href="index.html">The essay</a> · <a href="measured.html">Held against measurements</a>'
            "</p></footer></main>")
