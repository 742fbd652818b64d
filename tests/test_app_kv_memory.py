"""The figure `kv-memory`: the essay's numbers in its sentence, a formula that gives what it says, every setting in the frame."""
import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import model
from app.figure import Live
from app.kv_memory import FIGURE, FRAME, Settings, compute
from app.machine import MachineSettings
from tests.picture_checks import check, sentence
from widgets.svg import still

ESSAY = "facts/essay.md, kv-memory"


@pytest.mark.parametrize("values, says, source", [
    ({}, "Ten people at 8,192 tokens want 10.7 GB of KV cache, 1.07 GB each, 131,072 bytes a token.", f"{ESSAY}: 128 KiB a token, 1.07 GB each"),
    ({}, "4.82 GB are left, 36,769 tokens. Four fit, six do not.", f"{ESSAY}: four at 8K fit on 24 GB, ten do not"),
    ({}, "The server may use 92% of the card’s 24.0 GB; beside", "24 - 16.06 - 1.2 is 6.74, 24 x 0.92 - 16.06 - 1.2 is 4.82"),
    ({"users": 4}, "All four fit, and nobody else would.", ESSAY),
    ({"users": 5}, "Four fit, one does not.", ESSAY),
    ({"users": 1}, "One person at 8,192 tokens wants 1.07 GB", f"{ESSAY}: 8,192 tokens = 1.07 GB"),
    ({"users": 1}, "That one fits; there is room for four.", ESSAY),
    ({"users": 2}, "Both fit; there is room for four.", ESSAY),
    ({"users": 1, "context": 512}, "wants 0.067 GB", "512 x 131,072 bytes, by hand"),
    ({"users": 64, "context": 512}, "All 64 fit; there is room for 71.", "36,769 / 512, by hand"),
    ({"users": 1, "context": 131072}, "That one does not fit.", "131,072 > 36,769"),
    ({"users": 64, "context": 131072}, "Not one of the 64 fits.", "131,072 > 36,769"),
    ({"context": 32768}, "One fits, nine do not.", "36,769 / 32,768, by hand"),
    ({"llm": "llama-3.1-70b"}, "larger than what the card may use: nobody fits.", "141 GB on 24"),
    ({"kv": "fp8"}, "73,539 tokens. Eight fit, two do not.", "facts/engines.md: FP8 halves the bytes; 2 x 36,769.7, by hand"),
    ({"llm": "deepseek-v2-lite", "gpu": "h100-sxm"}, "31,104 bytes a token.", "27 layers x (512 + 64) x 2 bytes, facts/engines.md"),
    ({"llm": "gemma-3-12b", "gpu": "h100-sxm"}, "393,216 bytes a token (40 of its 48 layers keep the last 1,024 tokens only).",
     "48 x 8 x 256 x 2 x 2 bytes; its config.json: sliding_window 1024, five of six layers"),
])
def test_sentence(values, says, source):
    assert says in sentence(compute(Settings(**values))), source


def test_people_arrive_one_by_one():
    """Frame f shows f people: first those who fit, then those who do not; what they answer stays said."""
    picture = compute(Settings())
    width = picture.frames["people.right"] - picture.sources["people"]["left"]
    outside = picture.frames["outside.right"] - picture.sources["outside"]["left"]
    assert (width > 0).sum(axis=1).tolist() == [0, 1, 2, 3, 4, 4, 4, 4, 4, 4, 4]
    assert (outside > 0).sum(axis=1).tolist() == [0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6]
    assert sentence(picture, 0).startswith("Nobody is here yet. Ten people")
    assert sentence(picture, 1).startswith("One of ten people is here. ")
    assert sentence(picture, 7).startswith("Seven of ten people are here. ")


def test_the_bar_is_to_scale():
    """Lengths are GB: 16.06 of weights, 1.2 of overhead, 1.07 a person, the line at 92% of 24 (facts/essay.md)."""
    sources = compute(Settings()).sources
    assert sources["weights"]["right"] == [pytest.approx(16.0605, abs=1e-4)]
    assert sources["overhead"]["right"][0] - sources["overhead"]["left"][0] == pytest.approx(1.2)
    assert np.diff(sources["people_pale"]["left"]) == pytest.approx(1.0737, abs=1e-4)
    assert sources["capacity"]["x0"] == [pytest.approx(22.08)] and sources["bar"]["right"] == [24.0]
    assert sources["outside"]["left"][0] == pytest.approx(22.08)


@pytest.mark.parametrize("values, says, cut", [
    ({"users": 64}, "60 do not fit", "44 not drawn"),      # 16.8 GB past the line hold 16 of 1.07 GB
    ({"users": 5}, "one does not fit", ""),
    ({"llm": "llama-3.1-70b"}, "ten do not fit", "weights cut off here"),
    ({"users": 4}, "", ""),
])
def test_who_is_not_drawn_is_told(values, says, cut):
    picture = compute(Settings(**values))
    assert picture.frames["cut.text"][-1] == [cut]
    assert picture.frames["more.text"][-1] == [says] and picture.frames["more.text"][0] == [""], "nobody is told of too early"
    drawn = len(picture.sources["outside"]["left"])
    assert drawn <= Settings(**values).users and np.all(picture.sources["outside"]["left"] < picture.props["bar.x.end"])


LLMS, KVS = model.llms(), model.kv_formats()


@pytest.mark.parametrize("kv", KVS)
def test_the_formula_gives_the_bytes(kv):
    """The product under "How is this computed?", worked out, is the number behind its equals sign."""
    for llm in LLMS:
        facts = compute(Settings(llm=llm, kv=kv, users=1)).facts
        product = re.sub(r"[a-zA-Z,]+", "", facts["kept"]).replace("×", "*").replace("÷", "/")
        product = re.sub(r"[\d.]+", lambda n: f"Fraction('{n[0]}')", product)
        assert float(eval(product, {"Fraction": Fraction})) == pytest.approx(float(facts["kv_bytes_per_token"].replace(",", "")), abs=0.5), llm


@pytest.mark.parametrize("engine", MachineSettings.param.engine.objects)
@pytest.mark.parametrize("gpu", ("rtx-4090", "h100-sxm", "a10", "m4-max"))
def test_the_line_stands_on_the_card(gpu, engine):
    """What a server may use is never more than the card that is drawn, and the formula's share leads from one to the other."""
    picture = compute(Settings(gpu=gpu, engine=engine))
    card, line = picture.sources["bar"]["right"][0], picture.sources["capacity"]["x0"][0]
    assert line <= card <= picture.props["bar.x.end"] / FRAME * (1 + 1e-9)
    share = float(picture.facts["utilization"].rstrip("%")) / 100
    assert card * share == pytest.approx(line, rel=0.01)


@pytest.mark.parametrize("values, width, numbered", [
    ({}, 720, 4), ({"weights": "q8_0"}, 720, 10), ({"gpu": "h100-sxm", "users": 64}, 720, 0), ({"gpu": "h100-sxm", "users": 64}, 336, 0),
    ({"weights": "q8_0"}, 336, 0)])
def test_all_blocks_are_numbered_or_none(values, width, numbered):
    svg = still(Live(FIGURE, **values).plots, width, "made")
    assert len(re.findall(r'text-anchor="middle" fill="var\(--paper\)"[^>]*>\d+<', svg)) == numbered


def test_what_is_left_is_nothing_rather_than_less():
    facts = compute(Settings(llm="llama-3.1-70b")).facts
    assert facts["budget"] == "nothing" and facts["rest_exact"] == "−120.23", "24 x 0.92 - 141.11 - 1.2, by hand"


def test_the_sentence_is_the_models():
    """Every number of the sentence is what model.kv_memory says for the same settings."""
    s = Settings(users=7, context=4096, gpu="l40s", llm="qwen3-32b", weights="q4_k_m", kv="q8_0")
    m = model.kv_memory(s.machine(), users=7, context=4096)
    said = sentence(compute(s))
    for number in (f"{7 * m.kv_bytes_each / 1e9:.2f} GB", f"{m.kv_bytes_per_token:,.0f} bytes", f"{m.budget_bytes / 1e9:.1f} GB",
                   f"{m.budget_tokens:,} tokens"):
        assert number in said


EVERY = st.fixed_dictionaries({
    "users": st.integers(1, 64), "context": st.integers(512, 131072), "gpu": st.sampled_from(model.gpus()),
    "llm": st.sampled_from(LLMS), "weights": st.sampled_from(model.weight_formats()), "kv": st.sampled_from(KVS),
    "engine": st.sampled_from(list(MachineSettings.param.engine.objects))})


@settings(deadline=None, max_examples=40)
@given(EVERY)
def test_every_setting(values):
    live: Live = check(FIGURE, **values)
    picture = live.picture
    memory = model.kv_memory(live.settings.machine(), users=values["users"], context=values["context"])
    assert len(picture) == values["users"] + 1 == len(picture.table[1]) + 1
    assert len(picture.sources["people"]["left"]) == min(values["users"], memory.users_fit)
    assert [row[2] for row in picture.table[1]].count("yes") == min(values["users"], memory.users_fit)
    assert np.all(picture.sources["people_pale"]["right"] <= picture.sources["capacity"]["x0"][0] * (1 + 1e-9))
    ticks = picture.props["bar.axis_ticks.ticks"]
    assert 3 <= len(ticks) <= 14 and ticks[-1] <= picture.props["bar.x.end"]
