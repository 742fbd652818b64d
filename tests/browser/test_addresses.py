"""An address brings back settings, frame and numbers; a wrong one is told and does nothing else; both ways."""
from __future__ import annotations

import csv
import io
import re
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Page, expect

from app.order import figure, figures
from app.parameters import parameters

from .conftest import DIST, drawn, until

# Figure, query in an embed, frame (None: the one that answers). The expected sentence is what the model says of them.
ADDRESSES = [
    ("kv-memory", {"users": 3}, None),
    ("kv-memory", {"users": 24}, 5),
    ("batching", {"slots": 2}, 7),
    ("prefill-decode", {}, 0),
    ("scoreboard", {}, 3),
    ("chunked-prefill", {"document": 2048}, None),
]


def sentence(figure_id: str, values: dict, frame: int | None) -> str:
    f = figure(figure_id)
    picture = f.compute(f.settings(**values))
    return picture.frames["say.sentence"][picture.telling if frame is None else frame].strip()


def query(values: dict, frame: int | None, prefix: str = "") -> str:
    pairs = {**values, **({} if frame is None else {"position": frame})}
    return "?" + "&".join(f"{prefix}{name}={value}" for name, value in pairs.items())


@pytest.mark.parametrize("place", ["embed", "essay"])
@pytest.mark.parametrize("figure_id, values, frame", ADDRESSES)
def test_an_address_brings_back_frame_and_numbers(page: Page, site: str, place: str, figure_id: str, values: dict, frame) -> None:
    if place == "embed":
        page.goto(f"{site}embed/{figure_id}.html{query(values, frame)}")
    else:
        page.goto(f"{site}index.html{query(values, frame, figure_id + '.')}#{figure_id}")
    drawn(page, figure_id)
    expect(page.locator(f"#{figure_id}-status")).to_have_text(sentence(figure_id, values, frame))
    assert page.locator(".problems").is_hidden()


def test_what_a_reader_does_is_in_the_address_and_comes_back(page: Page, site: str) -> None:
    page.goto(f"{site}embed/kv-memory.html")
    drawn(page, "kv-memory")
    page.get_by_label("Users", exact=True).press("ArrowLeft")
    until(page, "location.search === '?users=9'")
    page.get_by_label("Step back").click()
    page.get_by_label("Step back").click()
    until(page, "location.search === '?users=9&position=7'")
    assert page.evaluate("history.length") <= 2
    told = page.locator("#kv-memory-status").text_content()
    page.reload()
    drawn(page, "kv-memory")
    expect(page.locator("#kv-memory-status")).to_have_text(told)


BAD = [
    ("users=ten", "is a number from 1 to", "ten"),
    ("users=0x10", "is a number from 1 to", "0x10"),
    ("users=", "is a number from 1 to", ""),
    ("users=1e99", "is outside", "1e99"),
    ("users=-3", "is outside", "-3"),
    ("users=2.5", "is a whole number", "2.5"),
    ("gpu=abacus", "cannot be", "abacus"),
    ("people=3", "has no setting", "people"),
    ("nothing.users=3", "There is no figure", "nothing"),
    ("position=last", "Position is a whole number", "last"),
    ("position=99999", "has no frame", "99,999"),
    ("theme=pink", "light or dark", "pink"),
    ("users=<img src=x onerror=alert(1)>", "is a number from 1 to", "<img src=x onerror=alert(1)>"),
    ("%3Cscript%3Ealert(1)%3C/script%3E=1", "has no setting", "<script>alert(1)</script>"),
    ("users=" + "9" * 10_000, "characters long; nothing of it was used", ""),
    ("__proto__=1&constructor.users=2", "There is no figure", "constructor"),
]


@pytest.mark.parametrize("bad, words, quoted", BAD, ids=[bad[:24] for bad, _, _ in BAD])
def test_a_bad_address_is_told_and_the_default_used(page: Page, site: str, bad: str, words: str, quoted: str) -> None:
    boxes: list[str] = []
    page.on("dialog", lambda dialog: (boxes.append(dialog.message), dialog.dismiss()))
    page.goto(f"{site}embed/kv-memory.html?{bad}")
    drawn(page, "kv-memory")
    expect(page.locator(".problems")).to_contain_text(words)
    expect(page.locator(".problems")).to_contain_text(quoted)
    expect(page.locator("#kv-memory-status")).to_have_text(sentence("kv-memory", {}, None))
    assert not boxes and page.locator("img, .problems script").count() == 0


def test_the_essay_names_what_names_no_figure(page: Page, site: str) -> None:
    page.goto(f"{site}?users=3&kv-memory.users=many&figure=none")
    problems = page.locator(".problems p")
    expect(problems).to_have_count(3)
    expect(problems.nth(0)).to_contain_text("names no figure")
    expect(problems.nth(1)).to_contain_text("10 people is used instead")
    expect(problems.nth(2)).to_contain_text("There is no figure “none”")


def test_every_parameter_is_in_the_table(page: Page, site: str) -> None:
    page.goto(f"{site}parameters.html")
    for f in figures():
        rows = page.locator(f"h2#{f.id} + p + div tbody tr")
        names = [row.locator("td").first.text_content() for row in rows.all()]
        assert names == [*(p.name for p in parameters(f)), "position"]
        for p, row in zip(parameters(f), rows.all()):
            cells = row.locator("td").all_text_contents()
            assert cells[3] == str(int(p.default) if p.kind == "bool" else p.default) and p.label in cells[4]


def opened(page: Page, site: str, address: str) -> None:
    page.goto(site + address)
    drawn(page, "kv-memory")
    page.locator(".share summary").click()


def test_lines_to_copy(page: Page, site: str) -> None:
    opened(page, site, "embed/kv-memory.html?users=3&theme=dark")
    expect(page.locator("#kv-memory-status")).to_contain_text("Three people")
    page.get_by_label("Step back").click()
    expect(page.get_by_label("Link to these settings")).to_have_value(f"{site}index.html?kv-memory.users=3&kv-memory.position=2#kv-memory")
    expect(page.locator("[data-line=element]")).to_have_value(
        f'<script async src="{site}embed.js"></script>\n<llm-figure name="kv-memory" users="3" position="2"></llm-figure>')
    line = page.locator("[data-line=iframe]").input_value()
    assert f'src="{site}embed/kv-memory.html?users=3&amp;position=2"' in line and "<script" not in line


def test_a_line_is_copied(page: Page, site: str) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened(page, site, "embed/kv-memory.html")
    page.get_by_label("Copy the link").click()
    expect(page.locator(".share [aria-live]")).to_have_text("Copied.")
    assert page.evaluate("navigator.clipboard.readText()") == page.locator("[data-line=link]").input_value()


def saved(page: Page, kind: str) -> bytes:
    with page.expect_download() as download:
        page.locator(f"[data-save={kind}]").click()
    assert download.value.suggested_filename == f"kv-memory.{kind}"
    return download.value.path().read_bytes()


def test_data_and_pictures_of_the_present_state(page: Page, site: str) -> None:
    opened(page, site, "embed/kv-memory.html?users=3")
    expect(page.locator("#kv-memory-status")).to_contain_text("Three people")
    f = figure("kv-memory")
    picture = f.compute(f.settings(users=3))
    rows = list(csv.reader(io.StringIO(saved(page, "csv").decode())))
    assert rows[0] == list(picture.table[0])
    assert [(int(who), float(held), fits) for who, held, fits in rows[1:]] == [tuple(row) for row in picture.table[1]]
    svg = ElementTree.fromstring(saved(page, "svg"))
    words = " ".join(" ".join(svg.itertext()).split())
    assert svg.get("aria-label") == page.locator("#kv-memory-status").text_content()
    assert "weights" in words and "usable" in words and len(list(svg.iter("{http://www.w3.org/2000/svg}path"))) > 5
    png = saved(page, "png")
    size = page.evaluate("""async bytes => { const image = await createImageBitmap(new Blob([new Uint8Array(bytes)]));
        const pen = new OffscreenCanvas(image.width, image.height).getContext('2d'); pen.drawImage(image, 0, 0);
        const dots = new Uint32Array(pen.getImageData(0, 0, image.width, image.height).data.buffer);
        return [image.width, image.height, new Set(dots).size] }""", list(png))
    assert size[0] == int(svg.get("width")) and size[1] == int(svg.get("height")) and size[2] > 20


def test_no_page_is_bound_to_a_path() -> None:
    for path in DIST.glob("*.html"):
        assert not re.search(r'(?:src|href)="(?:/|https?://(?:127|localhost))', path.read_text()), path.name
