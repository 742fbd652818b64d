"""Figures in other people's pages: at the right height, asking for nothing, changing nothing around them."""
from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Error, Frame, Page, expect

from .conftest import DIST, FIGURES, drawn, until

WIDTHS = (320, 768, 1200)
GAP_PX = 8
MEASURE = """() => {
    const main = document.querySelector('main').getBoundingClientRect(), root = document.documentElement;
    return {framed: root.dataset.framed, gap: innerHeight - main.bottom, over: root.scrollHeight - root.clientHeight, bar: innerWidth - root.clientWidth,
            wide: root.scrollWidth - root.clientWidth, height: innerHeight};
}"""
FITS = """() => {
    const main = document.querySelector('main').getBoundingClientRect(), root = document.documentElement;
    const gap = innerHeight - main.bottom;
    return gap >= -1 && gap <= 8 && root.scrollHeight <= root.clientHeight && root.scrollWidth <= root.clientWidth;
}"""
# How hosts that know only their own messages follow a height, each from its own documentation.
FOLLOWERS = {
    "plain": "if (data && data.height) frame.style.height = data.height + 'px'",
    "amp": "if (data && data.sentinel === 'amp' && data.type === 'embed-size') frame.style.height = data.height + 'px'",
    "embedly": "let said = {}; try { said = JSON.parse(data) } catch { }"
               " if (said.context === 'iframe.resize') frame.style.height = said.height + 'px'",
}
LISTEN = """<script>addEventListener('message', ({source, data}) => {
    for (const frame of document.querySelectorAll('iframe')) if (frame.contentWindow === source) { %s }
})</script>"""


def element(site: str, figure: str, settings: str = "") -> str:
    return f'<llm-figure name="{figure}" loading="eager" {settings}></llm-figure>'


def sandboxed(site: str, figure: str) -> str:
    return f'<iframe src="{site}embed/{figure}.html" sandbox="allow-scripts" style="width:100%;border:0"></iframe>'


def scriptless(site: str, figure: str) -> str:
    """The iframe line as the site hands it out, made absolute; `loading` left out, for all of them to load at once."""
    line = json.loads((DIST / f"oembed/{figure}.json").read_text())["html"]
    return line.replace('src="../', f'src="{site}').replace(' loading="lazy"', "")


def script(site: str) -> str:
    return f'<script src="{site}embed.js"></script>'


def embeds(page: Page, site: str) -> list[Frame]:
    """The frames of the page that show figures, each drawn."""
    until(page, f"document.querySelectorAll('iframe, llm-figure').length === {len(FIGURES)}")
    page.wait_for_load_state()
    frames = [f for f in page.frames if "/embed/" in f.url]
    assert len(frames) == len(FIGURES)
    for frame in frames:
        frame.frame_element().scroll_into_view_if_needed()  # a figure that nobody sees is not drawn
        frame.wait_for_selector("figure.drawn", state="attached")
    return frames


def fits(frame: Frame) -> dict:
    frame.frame_element().scroll_into_view_if_needed()  # off screen a browser lays frames out when it likes
    try:
        # Not once but for a while: after a change of width the frame's words get their room a moment later.
        until(frame, f"(globalThis.fitted = ({FITS})() ? (globalThis.fitted ?? 0) + 1 : 0) % 5 === 4")
    except Error as error:
        raise AssertionError(f"{frame.url}: {frame.evaluate(MEASURE)}") from error
    return frame.evaluate(MEASURE)


KINDS = {
    "element": lambda site: script(site) + "".join(element(site, f) for f in FIGURES),
    "sandboxed": lambda site: LISTEN % FOLLOWERS["plain"] + "".join(sandboxed(site, f) for f in FIGURES),
    "scriptless": lambda site: "".join(scriptless(site, f) for f in FIGURES),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_embed_has_no_inner_scroll_bar_and_no_gap(page: Page, site: str, host, kind: str) -> None:
    """At the width that the page was opened with, and after a window has become wider, or a phone was turned."""
    page.set_viewport_size(dict(width=WIDTHS[0], height=900))
    page.goto(host(f'<meta name="viewport" content="width=device-width"><body style="margin:0">{KINDS[kind](site)}'))
    frames = embeds(page, site)
    for width in WIDTHS:
        page.set_viewport_size(dict(width=width, height=900))
        for frame in frames:
            until(frame, f"Math.abs(innerWidth - {width}) < 20")
            found = fits(frame)
            assert -1 <= found["gap"] <= GAP_PX and found["over"] <= 0 and found["bar"] == 0 and found["wide"] <= 0, (width, frame.url)


@pytest.mark.parametrize("follower", FOLLOWERS)
def test_hosts_that_know_only_their_own_messages(page: Page, site: str, host, follower: str) -> None:
    page.goto(host(LISTEN % FOLLOWERS[follower] + f'<iframe src="{site}embed/kv-memory.html" style="width:100%"></iframe>'))
    frame = page.frame(url=re.compile("/embed/"))
    drawn(frame, "kv-memory")
    fits(frame)
    frame.locator(".how summary").click()
    fits(frame)


def test_height_follows_a_setting_the_hosts_font_and_a_fold_out(page: Page, site: str, host) -> None:
    page.goto(host(f'{script(site)}<details><summary>More</summary><div style="width:30em">'
                   f'{element(site, "batching")}</div></details>'))
    page.locator("summary").first.click()
    frame = page.wait_for_selector("llm-figure iframe").content_frame()
    drawn(frame, "batching")
    first = fits(frame)["height"]
    frame.get_by_label("Slots", exact=True).fill("1")
    fits(frame)
    page.evaluate("document.documentElement.style.fontSize = '28px'")
    until(frame, "innerWidth > 800")
    wide = fits(frame)["height"]
    assert wide < first
    page.evaluate("document.querySelector('details').open = false")
    page.evaluate("document.documentElement.style.fontSize = '12px'")
    page.evaluate("document.querySelector('details').open = true")
    until(frame, "innerWidth < 400")
    assert fits(frame)["height"] > wide


def test_an_embed_that_is_moved_comes_back(page: Page, site: str, host) -> None:
    page.goto(host(f'{script(site)}{element(site, "kv-memory")}<div id="elsewhere"></div>'))
    drawn(page.wait_for_selector("llm-figure iframe").content_frame(), "kv-memory")
    page.evaluate("document.getElementById('elsewhere').append(document.querySelector('llm-figure'))")
    frame = page.wait_for_selector("#elsewhere llm-figure iframe").content_frame()
    drawn(frame, "kv-memory")
    fits(frame)


def test_eight_embeds_ask_for_nothing_of_python(page: Page, site: str, host) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(host(script(site) + "".join(element(site, f, 'users="3"' if f == "kv-memory" else "") for f in FIGURES)))
    for frame in embeds(page, site):
        fits(frame)
    ours = {url.removeprefix(site).split("?")[0] for url in asked if url.startswith(site)}
    python = {name for name in ours if re.search(r"worker|python_stdlib|pyodide|heap|\.wasm|\.zip|\.so", name)}
    assert not python
    expect(page.frame(url=re.compile("kv-memory")).locator("#kv-memory-status")).to_contain_text("Three people")


def test_one_python_serves_all_embeds_of_a_page(page: Page, logged_site, host) -> None:
    site, asked = logged_site
    # Same site, other port: Chromium refuses a shared worker to a frame of another site.
    page.goto(host(script(site) + "".join(element(site, f) for f in FIGURES)).replace("localhost", "127.0.0.1"))
    frames = {re.search(r"embed/([\w-]+)", frame.url)[1]: frame for frame in embeds(page, site)}
    assert not any(name.startswith("python/") or name == "worker.mjs" for name in asked)
    for figure, label, said in (("kv-memory", "Context length", "6,144 tokens want"), ("scoreboard", "Context length", "1,536 tokens"),
                                ("kv-memory", "Context length", "4,096 tokens want")):
        frame = frames[figure]
        frame.get_by_label(label, exact=True).press("ArrowLeft")
        expect(frame.locator(f"#{figure}-status")).to_contain_text(said)
    assert sum(name.startswith("python/heap.bin") for name in asked) == 1 and asked.count("worker.mjs") == 1


def test_a_sandboxed_embed_answers(page: Page, site: str, host) -> None:
    page.goto(host(LISTEN % FOLLOWERS["plain"] + sandboxed(site, "kv-memory")))
    frame = page.frame(url=re.compile("/embed/"))
    drawn(frame, "kv-memory")
    frame.get_by_label("Context length", exact=True).press("ArrowLeft")
    expect(frame.locator("#kv-memory-status")).to_contain_text("6,144 tokens want")
    fits(frame)


def test_settings_that_only_python_knows_wait_for_a_touch(page: Page, logged_site, host) -> None:
    site, asked = logged_site
    page.goto(host(f"{script(site)}{element(site, 'kv-memory', 'context=2048 users=5')}"))
    frame = page.wait_for_selector("llm-figure iframe").content_frame()
    drawn(frame, "kv-memory")
    button = frame.get_by_role("button", name="Show these settings")
    expect(button).to_be_visible()
    fits(frame)
    assert "worker.mjs" not in asked
    button.click()
    expect(frame.locator("#kv-memory-status")).to_contain_text("Five people at 2,048 tokens")
    fits(frame)


def test_the_page_around_is_untouched(page: Page, site: str, host) -> None:
    styles = """() => [...document.querySelectorAll('body, h1, p, iframe#own, button')].map(e => {
        const style = getComputedStyle(e); return [...style].map(name => name + ':' + style.getPropertyValue(name)).join(';') })"""
    names = "() => Object.keys(window).filter(name => !/^\\d+$/.test(name)).sort()"
    body = "<h1>Mine</h1><p>text <button>b</button></p><iframe id=own></iframe><div style='height:900px' id=place></div>"
    page.goto(host(body))
    before, globals_before = page.evaluate(styles), page.evaluate(names)
    page.evaluate("""([src, html]) => { const s = document.createElement('script'); s.src = src; document.head.append(s);
        document.querySelector('#place').innerHTML = html }""", [f"{site}embed.js", element(site, "kv-memory")])
    frame = page.wait_for_selector("llm-figure iframe").content_frame()
    drawn(frame, "kv-memory")
    fits(frame)
    assert page.evaluate(styles) == before
    assert page.evaluate(names) == globals_before


@pytest.mark.parametrize("said, expected", [
    ({"type": "llm-figure", "theme": "dark"}, "dark"),
    ({"type": "llm-figure", "theme": "light"}, "light"),
    ({"type": "llm-figure", "theme": "__proto__"}, None),
    ({"type": "other", "theme": "dark"}, None),
    ("dark", None),
    (None, None),
])
def test_an_embed_hears_only_well_formed_words(page: Page, site: str, host, said, expected) -> None:
    page.goto(host(f'<iframe src="{site}embed/kv-memory.html" style="width:100%;height:900px"></iframe>'))
    frame = page.frame(url=re.compile("/embed/"))
    drawn(frame, "kv-memory")
    page.evaluate("said => document.querySelector('iframe').contentWindow.postMessage(said, '*')", said)
    page.evaluate("""() => new Promise(done => { addEventListener('message', ({data}) => data.height && done());
        document.querySelector('iframe').contentWindow.postMessage({type: 'llm-figure', ask: 'height'}, '*') })""")
    assert frame.evaluate("document.documentElement.dataset.theme ?? null") == expected


def test_the_element_hears_only_its_own_frame(page: Page, site: str, host) -> None:
    page.goto(host(f"{script(site)}{element(site, 'kv-memory')}<iframe id=other srcdoc=''></iframe>"))
    frame = page.wait_for_selector("llm-figure iframe").content_frame()
    drawn(frame, "kv-memory")
    height = fits(frame)["height"]
    page.evaluate("""() => { window.postMessage({type: 'llm-figure', height: 77}, '*');
        const s = document.createElement('script'); s.textContent = "parent.postMessage({type: 'llm-figure', height: 77}, '*')";
        document.querySelector('#other').contentDocument.body.append(s) }""")
    page.evaluate("() => new Promise(done => { addEventListener('message', ({data}) => data === 'end' && done()); postMessage('end', '*') })")
    assert page.evaluate("document.querySelector('llm-figure').offsetHeight") == height


@pytest.mark.parametrize("told, expected", [("theme=dark", "dark"), ("style='color-scheme:dark'", "dark"), ("", None)])
def test_theme_is_told_or_followed(page: Page, site: str, host, told: str, expected: str | None) -> None:
    page.goto(host(f"{script(site)}{element(site, 'kv-memory', told)}"))
    frame = page.wait_for_selector("llm-figure iframe").content_frame()
    drawn(frame, "kv-memory")
    assert frame.evaluate("document.documentElement.dataset.theme ?? null") == expected
    page.evaluate("document.querySelector('llm-figure').setAttribute('theme', 'light')")
    until(frame, "document.documentElement.dataset.theme === 'light'")


def test_the_link_leads_to_its_place_with_the_present_settings(page: Page, site: str) -> None:
    page.goto(f"{site}embed/kv-memory.html?users=3")
    drawn(page, "kv-memory")
    until(page, "document.querySelector('#kv-memory-status').textContent.includes('Three people')")
    page.get_by_label("Users", exact=True).press("ArrowRight")
    link = page.locator(".home a")
    until(page, "document.querySelector('.home a').href.includes('users=4')")
    assert link.get_attribute("target") == "_blank"
    page.goto(link.get_attribute("href"))
    until(page, "document.querySelector('#kv-memory-status').textContent.includes('Four people')")
    assert page.url.endswith("#kv-memory")


@pytest.mark.parametrize("figure", FIGURES)
def test_oembed(figure: str) -> None:
    said = json.loads((DIST / f"oembed/{figure}.json").read_text())
    assert said["type"] == "rich" and said["version"] == "1.0" and said["width"] == 720 and said["height"] > 0
    assert f"embed/{figure}.html" in said["html"]
    assert f'href="../oembed/{figure}.json"' in (DIST / f"embed/{figure}.html").read_text()
