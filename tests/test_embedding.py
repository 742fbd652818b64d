"""What a figure tells those who embed it without a script."""
import json
import re

import pytest

from app.embedding import HEIGHTS, height_css, oembed
from app.order import IDS, figure


@pytest.mark.parametrize("address, page, provider", [
    ("https://example.org/essay/", "https://example.org/essay/embed/kv-memory.html", "https://example.org/essay/"),
    ("", "../embed/kv-memory.html", "../")])
def test_oembed_says_where_the_figure_is(address, page, provider):
    said = json.loads(oembed(figure("kv-memory"), "Essay", address))
    assert re.search(r'src="([^"]+)"', said["html"])[1] == page and said["provider_url"] == provider


@pytest.mark.parametrize("figure_id", IDS)
def test_a_frame_is_as_high_as_its_figure_at_both_widths(figure_id):
    """clamp(wide, a + b vw, narrow): by hand, at 320 px the one and at 720 px the other."""
    wide, narrow = HEIGHTS[figure_id]
    low, start, slope, high = map(float, re.fullmatch(
        r"clamp\(([\d.]+)px,calc\(([\d.]+)px - ([\d.]+)vw\),([\d.]+)px\)", height_css(figure_id)).groups())
    assert (low, high) == (wide, narrow)
    assert start - slope / 100 * 320 == pytest.approx(narrow, abs=1) and start - slope / 100 * 720 == pytest.approx(wide, abs=1)
