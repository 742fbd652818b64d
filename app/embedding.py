"""A figure in somebody else's page: how high its frame is where nothing adjusts it, and the oEmbed description of it."""
from __future__ import annotations

import json
from html import escape
from urllib.parse import urljoin

from .figure import Figure

WIDE_PX, NARROW_PX = 720, 320
# Height in pixels of each figure's frame, WIDE_PX and NARROW_PX wide, fold-outs closed, as a browser lays it out.
# tests/browser/test_embeds.py holds them against that; a frame somewhat too high spreads its content, one too low
# makes it compact.
HEIGHTS = {"prefill-decode": (1037, 1527), "kv-memory": (837, 1222), "batching": (926, 1285), "paging": (1002, 1411),
           "chunked-prefill": (1022, 1483), "speculative": (1290, 1811), "scoreboard": (1035, 1394), "settings": (1836, 3047)}


def height_css(figure_id: str) -> str:
    """A CSS height for the frame: between both heights by the width of the reader's window, which no script has to watch."""
    wide, narrow = HEIGHTS[figure_id]
    slope = (narrow - wide) / (WIDE_PX - NARROW_PX)
    return f"clamp({wide}px,calc({narrow + slope * NARROW_PX:.0f}px - {100 * slope:.1f}vw),{narrow}px)"


def iframe(figure: Figure, address: str) -> str:
    """The HTML line that embeds a figure without a script; `address` is the site's root, "" for a relative one."""
    page = urljoin(address, f"embed/{figure.id}.html") if address else f"../embed/{figure.id}.html"
    return (f'<iframe src="{escape(page)}" title="{escape(figure.title)}" '
            f'style="width:100%;height:{height_css(figure.id)};border:0" loading="lazy"></iframe>')


def oembed(figure: Figure, essay: str, address: str = "") -> str:
    """The figure's oEmbed response (oembed.com, 2.3.4.4: type "rich") as JSON."""
    return json.dumps(dict(version="1.0", type="rich", title=figure.title, provider_name=essay, provider_url=address or "../",
                           width=WIDE_PX, height=HEIGHTS[figure.id][0], html=iframe(figure, address)), indent=1)
