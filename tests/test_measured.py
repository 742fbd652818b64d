"""The figures' switch: whose numbers they show and how sure those are; what was measured stands in the pictures."""
import re

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import model
from app import measured, scoreboard, speculative
from app.machine import engine_label, engine_name
from app.order import figures
from model import engines, machine
from model.machine import engines as engine_names
from picture_checks import check

FIGURES = {f.id: f for f in figures()}
OWN_CHECKS = ("speculative", "scoreboard", "settings")  # their curves have gaps, or their first frame asks
WITH_BAND = [name for name in FIGURES if name != "settings"]


def answer(picture):
    return picture.frames["say.sentence"][picture.telling]


@pytest.mark.parametrize("engine, name", [
    ("vllm-0.19", "vLLM 0.19"), ("vllm-0.8", "vLLM 0.8"), ("llama.cpp", "llama.cpp"), ("sglang-0.4", "SGLang 0.4"),
    ("llama.cpp-flash", "llama.cpp with flash attention")])
def test_engines_go_by_the_names_that_readers_know(engine, name):
    assert engine_name(engine) == name and engine_label(engine) == f"what {name} gets"


def test_every_engine_has_a_label_of_its_own():
    labels = [engine_label(name) for name in engine_names()]
    assert len(set(labels)) == len(labels) and labels[0] == "what the datasheet says"


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("engine", ["vllm-0.19", "vllm-0.8", "llama.cpp"])
def test_the_switch_matters_and_says_whose_numbers_these_are(name, engine):
    """In every figure another engine is another picture, and the sentence names it; the datasheet's sentence does not."""
    f = FIGURES[name]
    plain, served = f.compute(f.settings()), f.compute(f.settings(engine=engine))
    assert f"These are {engine_name(engine)}’s numbers, measured on this card" in answer(served)
    assert "numbers, measured" not in answer(plain)
    assert answer(plain) != answer(served).split(" These are ")[0]
    if name not in OWN_CHECKS:
        check(f, engine=engine)


@pytest.mark.parametrize("name", WITH_BAND)
def test_the_band_is_told_in_words(name):
    f = FIGURES[name]
    assert re.search(r": 85 of 100 measurements of .+ would lie between [\d.,]+.* and [\d.,]+", answer(f.compute(f.settings(engine="vllm-0.19"))))


@pytest.mark.parametrize("gpu, engine, says", [
    ("rtx-4090", "vllm-0.19", "measured on this card"), ("m4-max", "vllm-0.19", "estimated from its class"),
    ("rtx-5090", "llama.cpp", "estimated from its class")])
def test_a_card_without_measurements_says_so(gpu, engine, says):
    assert says in measured.whose(machine(gpu=gpu, engine=engine))


@given(value=st.floats(0.1, 1e4), limit=st.floats(0.1, 1e4))
def test_no_band_reaches_past_the_datasheet(value, limit):
    said = measured.whose(machine(engine="vllm-0.19"), "decode", value, lambda v: f"{v:.6f}", "it", limit)
    low, high = map(float, re.search(r"between ([\d.]+) and ([\d.]+)\.$", said).groups())
    assert (low >= limit - 1e-6) if limit <= value else (high <= limit + 1e-6)


def test_the_datasheet_says_nothing():
    assert measured.whose(machine(), "decode", 50.0) == ""


@pytest.mark.parametrize("values, people, source", [
    ({}, [1], "m056: 52.63 tokens/s over 4,096 tokens from empty, a mean of 2,048"),
    ({"context": 1536}, [25, 27, 30], "m412, m410, m408: a pool of 41,408 tokens shared by 25, 27 and 30"),
    ({"context": 1024}, [36, 39, 41], "m404, m402, m415"), ({"context": 8192}, [], "nothing was measured there"),
    ({"engine": "vllm-0.19"}, [], "m056 is llama.cpp's"), ({"gpu": "rtx-5090"}, [], "no measurement on that card")])
def test_measured_speeds_stand_on_the_scoreboard(values, people, source):
    picture = scoreboard.compute(scoreboard.Settings(**values))
    assert picture.sources["one_seen"]["x"].tolist() == people, source
    each, together = picture.frames["one_seen.y"], picture.frames["all_seen.y"]
    assert np.isnan(each[0]).all() and np.allclose(each[-1] * people, together[-1])
    assert picture.frames["seen_name.text"][0] == [""] and ("○" in picture.frames["seen_name.text"][-1][0]) == bool(people)


@settings(deadline=None, max_examples=20)
@given(context=st.integers(512, 131072), gpu=st.sampled_from(model.gpus()), engine=st.sampled_from(engine_names()))
def test_a_measured_speed_is_of_about_this_context(context, gpu, engine):
    m = machine(gpu=gpu, engine=engine)
    for one in measured.speeds(m, context):
        assert one.users >= 1 and one.together > 0 and one.words


@pytest.mark.parametrize("values, prompt_ms, source", [
    ({"prompt": 8192}, [1000 * 8192 / 4744.18], "m061: 4,744.18 tokens/s at 8,192"), ({"prompt": 512}, [1000 * 512 / 9382.0], "m058"),
    ({"prompt": 2000}, [], "none between 1,024 and 4,096"), ({"prompt": 8192, "engine": "vllm-0.19"}, [], "m061 is llama.cpp's")])
def test_measured_prefill_stands_on_the_strip(values, prompt_ms, source):
    f = FIGURES["prefill-decode"]
    picture = f.compute(f.settings(**values))
    assert picture.sources["seen"]["x"] == pytest.approx(prompt_ms), source
    assert ("Measured with llama.cpp, its prefill takes" in answer(picture)) == bool(prompt_ms)
    check(f, **values)


def test_measured_speed_ups_stand_where_they_were_measured():
    """EAGLE-3 on an H100: 1.81 times as fast with two people, 1.38 with 64 (m697, m713)."""
    picture = speculative.compute(speculative.Settings(gpu="h100-sxm"))
    seen = dict(zip(picture.sources["seen"]["x"], picture.sources["seen"]["y"]))
    assert seen[2] == 1.81 and seen[64] == 1.38 and len(seen) == 9
    assert len(speculative.compute(speculative.Settings()).sources["seen"]["x"]) == 0


def test_points_come_without_serving_a_load(monkeypatch):
    """A figure asks for points while a reader moves a slider: no load may be served for that."""
    from model import load, points
    monkeypatch.setattr(load, "served", lambda *_: pytest.fail("a load was served"))
    points._measured_points.cache_clear()
    assert engines.measured_points(machine(), "throughput")
