"""The essay's text: its length and language, its numbers and claims against the model, and every word that reaches a figure."""
import html
import re
from dataclasses import replace
from functools import cache

import jinja2
import pytest
from hypothesis import given, strategies as st

import model
from app import order, prose
from app.order import IDS
from app.parameters import parameters
from model.chunking import chunked_prefill
from model.machine import engines
from model.settings import llama_cpp_settings
from model.speculation import speculate

M = model.machine()
TEMPLATE = prose.ESSAY.read_text(encoding="utf-8")
FOLLOWING = re.compile(r'<span class="number" data-figure="([^"]+)" data-say="([^"]+)">([^<]*)</span>')
CHANGEABLE = re.compile(r'<span role="spinbutton"[^>]* data-figure="([^"]+)" data-setting="([^"]+)"[^>]*>([^<]+)</span>')
LIGHTING = re.compile(r'<span class="part"[^>]* data-figure="([^"]+)" data-part="([^"]+)"')


@cache
def essay() -> str:
    """The essay's HTML, an empty element in the place of each figure."""
    return prose.render(lambda figure_id: f'<figure id="{figure_id}"></figure>')


@cache
def plain() -> str:
    """The essay as a reader sees it, a paragraph or heading a line."""
    lines = re.sub(r"</(p|h\d|li)>", "\n", essay().replace("\n", " "))
    return "\n".join(line.strip() for line in html.unescape(re.sub(r"<[^>]+>", "", lines)).splitlines() if line.strip())


@cache
def body() -> str:
    """The same without headings and sources: sentences only."""
    text = re.sub(r"<h(\d)[^>]*>.*?</h\1>", "", essay().split('id="sources"')[0], flags=re.S)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", text)).split())


def sentences() -> list[str]:
    return [s for s in re.split(r"(?<=[.?!])\s+(?=[A-Z\d]|llama\.cpp|vLLM)", body()) if s]


# Length and language

def test_length():
    assert 1500 <= len(plain().split()) <= 2500, "issue 4: between 1,500 and 2,500 words without the figures"


def test_sentences_are_short():
    lengths = sorted(len(s.split()) for s in sentences())
    assert lengths[len(lengths) // 2] <= 16
    assert [s for s in sentences() if len(s.split()) > 25] == []


@pytest.mark.parametrize("term", ["tokens", "weights", "pass", "prefill", "decode", "KV cache", "slot", "pages"])
def test_a_term_is_explained_where_it_is_first_used(term):
    text = re.sub(r"<h(\d)[^>]*>.*?</h\1>", "", essay(), flags=re.S)
    assert re.findall(rf"<dfn>{term}</dfn>", text, flags=re.I), f"{term} is never explained"
    text = re.sub(r"<(?!/?dfn)[^>]+>", "", text)
    first = re.search(rf"\b{term.removesuffix('s')}(e?s)?\b", text, flags=re.I)
    assert text[:first.start()].endswith("<dfn>"), f"{term} is used before it is explained: {text[first.start() - 60:first.end()]}"
    assert len(re.findall(rf"<dfn>{term}</dfn>", text, flags=re.I)) == 1


@pytest.mark.parametrize("word", ["imagine", "simply", "just", "obviously", "magic", "revolution", "powerful", "blazing", "huge",
                                  "incredibl", "game-changer", "unlock", "dive", "journey", " I ", " you ", " your "])
def test_no_hype_and_nobody_addressed(word):
    allowed = body().replace("just as", "")  # a comparison, not a belittling
    assert word.lower() not in f" {allowed.lower()} "


# Headings, figures, links

def headings() -> list[tuple[int, str, str]]:
    return [(int(level), name, re.sub(r"<[^>]+>", "", text))
            for level, name, text in re.findall(r'<h(\d) id="([^"]+)">(.*?)</h\1>', essay(), flags=re.S)]


def test_headings_are_nested_without_gaps():
    levels = [level for level, _, _ in headings()]
    assert levels.count(1) == 1 and levels[0] == 1
    assert all(after <= before + 1 for before, after in zip(levels, levels[1:]))
    names = [name for _, name, _ in headings()]
    assert len(set(names)) == len(names)
    assert not set(names) & set(IDS), "a figure has that id"


def test_sections_ask_questions():
    assert [text for level, _, text in headings() if level > 1 and not text.endswith("?")] == ["Sources"]


def test_every_figure_stands_once_in_order_in_a_section_of_its_own():
    sections = re.split(r"<h2", essay())
    assert re.findall(r'<figure id="([^"]+)">', essay()) == list(IDS)
    assert max(section.count("<figure") for section in sections) == 1
    assert all("<p>" in section.split("<figure")[0] for section in sections if "<figure" in section), "words come first"


def test_a_figure_keeps_its_html():
    kept = "<p>a * b * c</p>\n\n    <b>not code</b>"
    assert prose.render(lambda figure_id: kept).count(kept) == len(IDS)


LINKED = [  # facts/essay.md: Sources
    ("usenix.org/conference/osdi22", "Orca"), ("arxiv.org/abs/2309.06180", "PagedAttention"),
    ("blog.vllm.ai/2023/06/20", "vLLM's launch post"), ("arxiv.org/abs/2308.16369", "SARATHI"),
    ("usenix.org/conference/osdi24", "Sarathi-Serve"), ("arxiv.org/abs/2211.17192", "speculative decoding"),
    ("docs.vllm.ai", "vLLM's pages"), ("llama.cpp/blob/master/tools/server/README.md", "llama.cpp's server"),
    ("Llama-3.1-8B/blob/main/config.json", "the model's config"), ("developer.nvidia.com/blog/mastering-llm", "NVIDIA")]


@pytest.mark.parametrize("address, what", LINKED)
def test_sources_are_linked(address, what):
    sources = essay().split('id="sources"')[1]
    assert any(address in link for link in re.findall(r'href="([^"]+)"', sources)), what


def test_links_are_https_or_pages_or_places_of_the_site():
    links = re.findall(r'href="([^"]+)"', essay())
    assert {link for link in links if not link.startswith(("https://", "#"))} == {"measured.html", "model.html"}
    assert {link[1:] for link in links if link.startswith("#")} <= {name for _, name, _ in headings()}


def test_the_first_paragraph_says_that_its_number_is_a_best_case():
    first = essay().split("</p>")[0]
    assert "at most 63" in re.sub(r"<[^>]+>", "", first) and 'href="#how-far-can-these-numbers-be-trusted"' in first


# Numbers

NAMES = ("Llama 3.1 8B", "M2 Ultra", "Q4_K_M", "OSDI 2022", "OSDI 2024", "SOSP 2023", "ICML 2023", "in 2022", "in 2023",
         "SARATHI](), 2023", "60% to 80%")  # names, years, and what the linked launch post reports


def typed() -> str:
    """What is typed by hand: the template without the model's numbers, addresses and tags."""
    return re.sub(r"\(https?://[^)]*\)", "()", re.sub(r"\{\{.*?\}\}|\{%.*?%\}|<[^>]+>", "", TEMPLATE, flags=re.S))


def test_no_number_is_typed_by_hand():
    text = typed()
    for name in NAMES:
        assert name in text, f"{name!r} is not in the essay any more"
        text = text.replace(name, "")
    assert re.findall(r".{0,30}\d.{0,10}", text) == []


def test_no_number_word_is_typed_by_hand():
    text = typed().replace("Four measurements", "")
    assert re.findall(r"(?i).{0,30}\b(?:three|four|five|six|seven|eight|nine|eleven|twelve|twenty|half|twice|double)\b", text) == []


SAID = [  # facts/essay.md
    "at most 63 tokens a second by the card’s datasheet", "each gets about six", "everyone gets up to 54", "All ten together get 538",
    "fill 16.1 GB", "reads 1,008 GB a second", "2,000-token prompt is one pass of 194 ms", "They take 15.9 ms for the weights, and 0.27 ms more for every 2,048 tokens", "costs 164 times as much time",
    "131,072 bytes a token", "use 92% of the card, so that 4.82 GB are left", "8,192 tokens takes 1.07 GB", "holds four at once, and six must wait",
    "the rule gives 18.6 ms", "84 steps", "needs 58", "512 tokens fill 32 pages", "saves 288", "This way four fit, and 66%", "Now ten of the same conversations fit", "In one pass it takes 796 ms",
    "takes 25.8 ms instead of 18.3 ms", "done after 824 ms", "3.36 tokens on average", "2.08 times as fast",
    "gets 53.8 tokens a second", "promised 6.3", "8.6 times", "of which we gathered 264",
    "was measured at 54.8 tokens a second", "promises 62.6, which is 14% more", "163 tokens a second from the same 4.91 GB, against 205 on our card",
    "holds 55 people at 256 tokens: that point cannot be reached here", "Their conversations held 1,519 tokens on average"]


@pytest.mark.parametrize("text", SAID)
def test_numbers_of_the_essay(text):
    assert text in body()


def faster(**factors) -> model.Machine:
    """The essay's machine with a quantity of its card multiplied."""
    return replace(M, gpu=replace(M.gpu, **{name: getattr(M.gpu, name) * by for name, by in factors.items()}))


def speed(m: model.Machine, users=1, context=0) -> float:
    return model.pass_cost(m, users=users, context=context).tokens_per_s_each


CLAIMS = [  # a sentence, and what the model must say for it to be true
    ("Faster arithmetic would not speed up this reply.", lambda: speed(faster(peak_flops=2)) == speed(M)),
    ("Faster memory would", lambda: speed(faster(bandwidth_bytes_s=2)) == pytest.approx(2 * speed(M))),
    ("weights with fewer bits.", lambda: speed(replace(M, weights=model.weight_format("q8_0"))) > 1.8 * speed(M)),
    ("Shorter conversations make room for more people.",
     lambda: model.kv_memory(M, context=4096).users_fit > model.kv_memory(M, context=8192).users_fit),
    ("Speed plays no part in it.",
     lambda: model.kv_memory(faster(bandwidth_bytes_s=2, peak_flops=2)).users_fit == model.kv_memory(M).users_fit),
    ("a pass for many costs little more than a pass for one.", lambda: speed(M, 10, 2048) > 0.8 * speed(M, 1, 2048)),
    ("So each one’s speed falls slowly while the total rises.",
     lambda: all(speed(M, n + 1, 2048) < speed(M, n, 2048) < (n + 1) / n * speed(M, n + 1, 2048) for n in range(1, 64))),
    ("But a chunk can be too small", lambda: chunked_prefill(M, chunk=64).document_ms > 2 * chunked_prefill(M).document_ms),
    ("If one guess in ten is right, even a single person gets only", lambda: speculate(M, acceptance=0.1).speedup < 1),
    ("Guessing hurts when many people are served.",
     lambda: speculate(M, users=1).speedup > 1 > speculate(M, users=200).speedup),
    ("While a pass waits for memory, this costs no time.",
     lambda: speculate(M, guesses=8, users=1).check_ms == pytest.approx(speculate(M, guesses=1, users=1).check_ms)),
    ("They take 15.9 ms for the weights, and 0.27 ms more for every 2,048 tokens that all conversations hold together.",
     lambda: all(model.pass_cost(M, users=n, context=c).pass_ms == pytest.approx(
         model.pass_cost(M).pass_ms + n * c / 2048 * model.pass_cost(M, users=1, context=2048).kv_ms) for n, c in ((4, 2048), (9, 2048), (1, 8192)))),
    ("Both kinds of passes read all the weights once.",
     lambda: model.pass_cost(M, users=0, prompt_tokens=8192).memory_ms >= model.pass_cost(M).memory_ms > 0),
    ("The token to compute costs no time, since arithmetic works while memory is being read.",
     lambda: all(model.pass_cost(M, users=n, context=2048).bound_by == "memory" for n in range(1, 18))),
    ("What ends this is not speed.", lambda: speed(M, model.kv_memory(M, context=2048).users_fit, 2048) > 0.7 * speed(M, 1, 2048)),
    ("the tokens are split evenly", lambda: llama_cpp_settings(M, ctx=10 * 8192, slots=10).slot_tokens == 8192),
    ("Real servers are slower", lambda: all(speed(replace(M, engine=e), 10, 2048) < speed(M, 10, 2048) for e in engines()[1:])),
]


@pytest.mark.parametrize("sentence, holds", CLAIMS, ids=[sentence for sentence, _ in CLAIMS])
def test_claims_hold_in_the_model(sentence, holds):
    assert sentence in body()
    assert holds()


# What reaches the figures

def test_every_figure_is_reached_from_its_text():
    settable = {f.id for f in order.figures() if any(p.kind in ("int", "float") for p in parameters(f))}
    assert settable == {figure_id for figure_id, _, _ in CHANGEABLE.findall(essay())}
    assert set(IDS) == {figure_id for figure_id, _, _ in FOLLOWING.findall(essay())}
    assert set(IDS) == {figure_id for figure_id, _ in LIGHTING.findall(essay())}


def said_at(figure_id: str, **values) -> dict[str, str]:
    """The words that the essay says of a figure, at other settings."""
    figure = order.figure(figure_id)
    picture = figure.compute(figure.settings(**values))
    told = {**picture.facts, **{key[4:]: rows[picture.telling] for key, rows in picture.frames.items() if key.startswith("say.")}}
    return {word: told[word] for name, word, _ in FOLLOWING.findall(essay()) if name == figure_id}


def test_what_follows_says_what_its_figure_says():
    for figure_id, word, text in FOLLOWING.findall(essay()):
        assert html.unescape(text) == said_at(figure_id)[word]


def test_a_number_that_changes_moves_a_number_beside_it_and_every_end_reads_well():
    for figure_id, name, _ in CHANGEABLE.findall(essay()):
        low, high = order.figure(figure_id).settings.param[name].bounds
        ends = [said_at(figure_id, **{name: value}) for value in (low, high)]
        assert ends[0] != ends[1], f"nothing in the text follows {figure_id}.{name}"
        for said in ends:
            assert all(said.values()) and not re.search(r"\b(nan|inf|None)\b", " ".join(said.values())), (figure_id, name, said)


def test_a_changeable_number_is_a_spinbutton_with_its_range():
    figure = order.figure("kv-memory")
    low, high = figure.settings.param.users.bounds
    assert prose.Words(order.figure).setting("kv-memory", "users") == (
        '<span role="spinbutton" tabindex="0" class="setting" data-figure="kv-memory" data-setting="users" aria-label="Users" '
        f'aria-valuenow="10" aria-valuemin="{low}" aria-valuemax="{high}">10</span>')


WRONG = [
    ('{{ figure("kv-memroy") }}', ValueError, "no figure is called 'kv-memroy'"),
    ('{{ say("kv-memroy", "budget") }}', ValueError, "no figure is called 'kv-memroy'"),
    ('{{ say("kv-memory", "bugdet") }}', ValueError, "kv-memory has no word 'bugdet'; it has .*budget"),
    ('{{ setting("kv-memory", "people") }}', ValueError, "kv-memory has no number 'people' to change; it has users, context"),
    ('{{ setting("kv-memory", "gpu") }}', ValueError, "kv-memory has no number 'gpu' to change"),
    ('{{ part("kv-memory", "wieghts", "the weights") }}', ValueError, "kv-memory has no part 'wieghts'; it has .*weights"),
    ('{{ row("m000").value }}', ValueError, "no measured row is called 'm000'"),
    ('{{ pass_cost(m, users=-1).pass_ms | ms }}', ValueError, "users"),
    ('{{ pass_cots(m).pass_ms | ms }}', jinja2.UndefinedError, "pass_cots"),
    ('{{ pass_cost(m).pass_time }}', jinja2.UndefinedError, "pass_time"),
    ('{{ pass_cost(m).pass_ms | milliseconds }}', jinja2.TemplateAssertionError, "milliseconds"),
]


@pytest.mark.parametrize("template, error, message", WRONG)
def test_what_is_not_known_is_told(template, error, message):
    with pytest.raises(error, match=message):
        prose.fill(template)


def test_a_figure_placed_twice_is_told(tmp_path, monkeypatch):
    twice = tmp_path / "essay.md"
    twice.write_text('{{ figure("kv-memory") }}\n\n{{ figure("kv-memory") }}\n', encoding="utf-8")
    monkeypatch.setattr(prose, "ESSAY", twice)
    with pytest.raises(ValueError, match="places the figure kv-memory more than once"):
        prose.render(str)


# Markdown

@pytest.mark.parametrize("heading, expected", [
    ("What does a page save?", "what-does-a-page-save"), ("GGUF or MLX?", "gguf-or-mlx"), ("  Q4_K_M, 60% ", "q4-k-m-60")])
def test_ids_of_headings(heading, expected):
    assert prose.slug(heading) == expected
    assert f'<h2 id="{expected}">' in prose.markdown(f"## {heading}\n")


def test_apostrophes_are_curled_and_code_is_left_alone():
    assert prose.markdown("A card's `--max-num-seqs 'x'`\n") == "<p>A card’s <code>--max-num-seqs 'x'</code></p>\n"


@given(st.text())
def test_an_id_can_stand_in_an_address(text):
    assert re.fullmatch(r"([a-z0-9]+(-[a-z0-9]+)*)?", prose.slug(text))
    assert prose.slug(prose.slug(text)) == prose.slug(text)
