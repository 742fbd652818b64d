"""Every control of every figure, at both ends and between: sentence and numbers are the model's, the picture follows."""
from __future__ import annotations

import json

import pytest
from playwright.sync_api import Browser, Page, TimeoutError

from app.order import figure
from app.parameters import Parameter, parameters
from app.site import cell

from .conftest import FIGURES, ROOT
from .expected import EXPECTED
from .reader import alike, answered, embed, move, picture, reader, status

# The essay's numbers, as its figures say them before anything is touched.
FACTS = {
    "prefill-decode": ("2,000 tokens in one pass of 194 ms", "bound by arithmetic", "16.06 GB", "15.9 ms", "62.8 tokens/s", "164 times"),
    "kv-memory": ("131,072 bytes a token", "36,769 tokens", "Four fit, six do not"),
    "batching": ("84 steps", "58 if"),
    "paging": ("four of ten conversations fit", "all ten conversations fit"),
    "chunked-prefill": ("796 ms", "25.8 ms instead of 18.3 ms", "32 such passes", "824 ms"),
    "speculative": ("2.08 times as fast", "slower from 108 users on"),
    "scoreboard": ("53.8 tokens a second each", "not 6.3", "538 together", "8.6 times"),
    "settings": ("4.49 such conversations", "memory is full"),
}
CONFIG = json.dumps(dict(architectures=["Qwen2ForCausalLM"], model_type="qwen2", hidden_size=3584, intermediate_size=18944,
                         num_hidden_layers=28, num_attention_heads=28, num_key_value_heads=4, vocab_size=152064,
                         max_position_embeddings=32768, tie_word_embeddings=False, torch_dtype="bfloat16"))
# What is typed or pasted: the shortest list, the most uneven, the longest; a model; what a server wrote when it started.
TEXTS = {"replies": ("1", "500,1,1,1", ",".join(["7"] * 40)), "config": (CONFIG,),
         "log": ((ROOT / "tests/logs/llama-b6500.txt").read_text(),)}
QUIET = {"log"}  # stands beside the prediction and is no setting of the figure: the sentence stays


def others(p: Parameter) -> list:
    """Values of a control beside its default: both ends of its range and one between, some of its choices."""
    if p.kind == "bool":
        return [not p.default]
    if p.kind == "text":
        return list(TEXTS[p.name])
    if p.kind == "choice":
        values = [value for value, _ in p.choices]
        picked = [values[0], values[len(values) // 2], values[-1]]
    else:
        steps = p.positions or [p.low + (p.high - p.low) // 2 if p.kind == "int" else p.low + p.step * round((p.high - p.low) / p.step / 2)]
        picked = [p.low, steps[len(steps) // 2], p.high]
    return [value for value in dict.fromkeys(picked) if value != p.default]


def table(figure_id: str) -> list[dict]:
    """Settings to walk through: each control moved alone, then all ranges at their low ends, then at their high ones."""
    chosen = parameters(figure(figure_id))
    alone = [{p.name: value} for p in chosen for value in others(p)]
    ranges = [p for p in chosen if p.kind in ("int", "float")]
    return alone + [{p.name: getattr(p, end) for p in ranges} for end in ("low", "high")]


@pytest.fixture(scope="module", params=FIGURES)
def opened(request: pytest.FixtureRequest, browser: Browser, site: str):
    """(figure, its own page with Python alive): one for all settings of a figure."""
    with reader(browser) as context:
        yield request.param, embed(context.new_page(), site, request.param)


def put(page: Page, figure_id: str, values: dict) -> None:
    """Moves what differs until the controls stand at these values, and waits for the answer."""
    now = page.evaluate("id => Object.fromEntries([...document.querySelectorAll(`#${id} .controls :is(input, select, textarea)`)].map("
                        "e => [e.name, e.type === 'checkbox' ? e.checked : e.value]))", figure_id)
    for p in parameters(figure(figure_id)):
        shown = now[p.name]
        if p.kind in ("int", "float"):
            shown = p.positions[int(shown)] if p.positions else float(shown)
        if shown != values[p.name]:
            move(page, figure_id, p.name, values[p.name])
    answered(page, figure_id)


def refusal(page: Page, figure_id: str, values: dict) -> str:
    """Puts the controls at these values; what the page says where Python would not answer them, else ""."""
    try:
        put(page, figure_id, values)
    except TimeoutError:
        return page.locator(f"#{figure_id} .note").text_content() or "no answer came"
    return ""


def test_the_defaults_reach_the_numbers_of_the_essay(opened) -> None:
    figure_id, page = opened
    put(page, figure_id, figure(figure_id).defaults())
    missing = [words for words in FACTS[figure_id] if words not in status(page, figure_id)]
    assert not missing, status(page, figure_id)


def test_every_setting_says_what_the_model_says(opened) -> None:
    figure_id, page = opened
    usual = figure(figure_id).defaults()
    wrong = []
    for change in [{}, *table(figure_id)]:
        values = {**usual, **change}
        refused = refusal(page, figure_id, values)
        if refused:
            wrong.append((change, refused))
            continue
        said = status(page, figure_id)
        missing = [words for words in EXPECTED[figure_id](values) if words.lower() not in said.lower()]
        if missing:
            wrong.append((change, missing, said))
    assert not wrong, "\n".join(map(str, wrong))
    assert page.locator("html").get_attribute("data-python") == "live"


def test_every_control_moves_sentence_and_picture(opened) -> None:
    """Each control of the form, not each of a list: one that was forgotten is found."""
    figure_id, page = opened
    form = page.locator(f"#{figure_id} .controls :is(input, select, textarea)")
    names = form.evaluate_all("inputs => inputs.map(({name}) => name)")
    by_name = {p.name: p for p in parameters(figure(figure_id))}
    assert sorted(names) == sorted(by_name)
    usual = figure(figure_id).defaults()
    put(page, figure_id, usual)
    said, looked, rows = status(page, figure_id), picture(page, figure_id), table_text(page, figure_id)
    beside = words_beside(page, figure_id)
    idle = []
    for name in names:
        other = others(by_name[name])[-1]
        put(page, figure_id, {**usual, name: other})
        if status(page, figure_id) == said:
            idle += [] if name in QUIET else [f"{name} = {other!r} leaves the sentence"]
        if alike(picture(page, figure_id), looked) and words_beside(page, figure_id) == beside:
            idle.append(f"{name} = {other!r} leaves the picture and the words beside it")
    put(page, figure_id, usual)
    assert not idle
    assert (status(page, figure_id), table_text(page, figure_id)) == (said, rows)
    assert alike(picture(page, figure_id), looked)


def words_beside(page: Page, figure_id: str) -> str:
    return "".join(page.locator(f"#{figure_id} .beside").all_text_contents())


def table_text(page: Page, figure_id: str) -> list[str]:
    """The rows of the figure's table, which is filled when it is opened."""
    page.locator(f"#{figure_id} .data").evaluate("details => { details.open = true }")
    return page.locator(f"#{figure_id} .data tbody tr").all_text_contents()


def test_the_table_is_the_present_settings(opened) -> None:
    figure_id, page = opened
    f = figure(figure_id)
    main = next(p for p in parameters(f) if p.name == f.main)
    put(page, figure_id, f.defaults())
    before = table_text(page, figure_id)
    for value in (main.low, main.high):
        put(page, figure_id, {**f.defaults(), f.main: value})
        rows = table_text(page, figure_id)
        computed = f.compute(f.settings(**{f.main: value})).table[1]
        assert len(rows) == len(computed) and rows[0].startswith(cell(computed[0][0]))
        assert rows != before or computed == f.compute(f.settings()).table[1]


@pytest.mark.parametrize("figure_id", FIGURES)
def test_light_and_dark_share_no_colour_by_mistake(browser: Browser, site: str, figure_id: str) -> None:
    """After an answer a dark page is as dark as one that was opened with the same settings."""
    f = figure(figure_id)
    main = next(p for p in parameters(f) if p.name == f.main)
    looks = []
    for query in (f"?{f.main}={json.dumps(main.high)}", ""):
        with reader(browser, color_scheme="dark") as context:
            page = embed(context.new_page(), site, figure_id, query)
            if not query:
                move(page, figure_id, f.main, main.high)
            answered(page, figure_id)
            page.locator("body").evaluate("() => document.fonts.ready.then(() => true)")
            looks.append(picture(page, figure_id))
    assert alike(*looks)
