"""What to type and what to watch: command lines as the model writes them, and a load that shows what is full."""

import re

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import model
from app.growing import growing
from app.settings import CHARTS, FIGURE, SAMPLES, Settings, compute
from model.settings import llama_cpp_settings, vllm_settings

ENGINES = "facts/engines.md"


def sentence(picture, at=None):
    return picture.frames["say.sentence"][picture.telling if at is None else at]


@pytest.mark.parametrize("values, says, source", [
    ({}, "llama.cpp gives ten slots 8,192 tokens each: 10.7 GB of KV cache, 28.0 GB in all, more than the card has, 24.0 GB",
     "10 x 8,192 x 131,072 bytes + 16.06 GB + 1.2 GB"),
    ({}, "vLLM has room for 36,768 tokens, 4.49 such conversations", "facts/essay.md: 36,769 tokens, in whole blocks of 16"),
    ({}, "memory is full after", "facts/essay.md: four fit and ten do not"),
    ({}, "six such slots would fit, or with -c 51200 ten of 5,120 tokens.", "24e9 - 16.06e9 - 1.2e9 hold 51,418 tokens: six of 8,192, ten of 5,120"),
    ({"kv_unified": True}, "to the slower processor; -c 51200 would fit.", "one pool of 51,418 tokens, in whole 256"),
    ({"llm": "llama-3.1-70b"}, "to the slower processor; no -c is small enough.", "141 GB on 24"),
    ({"slots": 4}, "llama.cpp gives four slots 8,192 tokens each: 4.29 GB of KV cache, 21.6 GB in all, which fits on 24.0 GB",
     f"{ENGINES}: 1,024 MiB at 8,192 tokens, four times"),
    ({"kv_unified": True}, "llama.cpp lets ten slots share 81,920 tokens", f"{ENGINES}: --kv-unified, one pool"),
    ({"context": 2048, "slots": 0}, "memory is never full", "17 fit at 2,048 tokens"),
    ({"gpu": "h100-sxm", "slots": 2}, "all slots are taken after", "80 GB hold more than two"),
    ({"context": 131072}, "vLLM would not start: it has room for 36,768 tokens", "not one of 131,072 fits"),
    ({"context": 131072}, "Not even one conversation of 131,072 tokens fits", "not one of 131,072 fits"),
    ({"context": 131072}, "-c 51200 would fit, 5,120 tokens a slot", "51,200 / 10"),
    ({"users": 64}, "While the load grows to that of ten people, memory is full", "four fit: a queue of twice those and two says enough"),
    ({"context": 512}, "but at the end nobody waits", "71 fit at 512 tokens, ten slots"),
    ({"llm": "gemma-2-9b", "context": 32768}, "takes at most 8,192 tokens", "Gemma 2's config.json"),
    ({"weights": "q4_k_m"}, "vLLM does not read q4_k_m", "a format of llama.cpp"),
    ({"kv": "fp8"}, "llama.cpp does not read fp8", "a format of vLLM")])
def test_sentence(values, says, source):
    assert says in sentence(compute(Settings(**values))), source


@pytest.mark.parametrize("values, word, expected, source", [
    ({}, "llama_command", "-c 81920 -np 10", f"{ENGINES}: -c is split among the slots"),
    ({"slots": 0}, "llama_command", "-c 81920 --metrics", f"{ENGINES}: -np left out shares one pool"),
    ({"slots": 0}, "llama_effect_2", "4 slots share one pool of 81,920 tokens", f"{ENGINES}: default auto = 4 slots"),
    ({"kv_unified": True}, "llama_command", "--kv-unified", ENGINES),
    ({"slots": 3, "context": 1000}, "slot_tokens", "1,024", f"{ENGINES}: each share is rounded up to whole 256"),
    ({}, "vllm_command", "--max-model-len 8192 --max-num-seqs 10 --gpu-memory-utilization 0.92", ENGINES),
    ({"slots": 0, "gpu": "h100-sxm"}, "vllm_effect_2", "conversations in one pass at most", ENGINES),
    ({"slots": 0, "gpu": "h100-sxm"}, "vllm_flag_2", "--max-num-seqs 1024", f"{ENGINES}: defaults on large cards"),
    ({"gpu": "h100-sxm"}, "batched", "8,192", f"{ENGINES}: defaults on large cards"),
    ({}, "batched", "2,048", f"{ENGINES}: defaults on a 24 GB card"),
    ({"kv": "q8_0"}, "llama_command", "-ctk q8_0 -ctv q8_0", ENGINES)])
def test_words_of_the_command_lines(values, word, expected, source):
    assert expected in compute(Settings(**values)).facts[word], source


@pytest.mark.parametrize("server, values, effects", [
    ("llama", dict(kv_unified=True, kv="q8_0", weights="q8_0"), lambda m: llama_cpp_settings(m, 81920, 10, True).effects),
    ("vllm", dict(kv="fp8", weights="fp8"), lambda m: vllm_settings(m, 8192, 10, 0.92).effects)])
def test_every_part_of_a_command_is_explained(server, values, effects):
    """With all flags there are, each flag of the command has its spot, in order, and no other has one."""
    s = Settings(**values)
    facts = compute(s).facts
    wanted = [tuple(e) for e in effects(s.machine()) if e.flag.split()[0] in facts[f"{server}_command"]]
    assert f"{server}_flag_{len(wanted) + 1}" not in facts
    assert [(facts[f"{server}_flag_{i + 1}"], facts[f"{server}_effect_{i + 1}"]) for i in range(len(wanted))] == wanted


def test_all_spots_are_filled():
    spots = set(re.findall(r'data-say="([\w-]+)"', FIGURE.beside + FIGURE.explain))
    for values in ({}, {"weights": "q4_k_m"}, {"kv": "fp8"}, {"context": 131072}):
        assert spots <= set(compute(Settings(**values)).facts)


def test_a_full_memory_can_be_recognised():
    """Before the mark nobody waits and the first token is quick; after it the queue grows, KV use stays near its top."""
    run = growing(Settings().machine(), 10, 8192, 10, 0.92)
    before, after = run.step_ms < run.memory_ms, (run.step_ms > run.memory_ms) & (run.step_ms < run.until_ms)
    assert run.waiting[before].max() <= 1 < run.waiting[after].max()
    assert run.use[after].min() > 0.7
    late = run.ttft_at_ms > run.memory_ms
    assert run.ttft_ms[late].max() > 2 * run.ttft_ms[~late].max()


def test_full_slots_are_not_a_full_memory():
    run = growing(Settings(gpu="h100-sxm").machine(), 10, 8192, 2, 0.92)
    assert run.memory_ms is None and run.slots_ms is not None and run.use.max() < 0.1


def test_requests_come_faster_and_faster():
    arrivals = growing(Settings().machine(), 10, 2048, 10, 0.92).served.arrival_ms
    gaps = np.diff(arrivals)
    assert arrivals[0] == 0 and np.all(np.diff(gaps) < 0)


WHOLE = st.fixed_dictionaries({
    "users": st.integers(1, 64), "context": st.integers(512, 131072), "slots": st.integers(0, 64), "kv_unified": st.booleans(),
    "utilization": st.floats(0.5, 0.98), "gpu": st.sampled_from(model.gpus()), "llm": st.sampled_from(model.llms()),
    "weights": st.sampled_from(model.weight_formats()), "kv": st.sampled_from(model.kv_formats()),
    "engine": st.sampled_from(list(Settings.param.engine.objects))})


@settings(deadline=None, max_examples=40)
@given(WHOLE)
def test_every_setting_stays_in_the_frame(values):
    picture = compute(Settings(**values))
    assert len(picture) == (SAMPLES if len(picture.sources["use"]["x"]) else 1) and np.all(np.diff(picture.clock_ms) > 0)
    for name in CHARTS:
        x, y = picture.sources[name]["x"], picture.sources[name]["y"]
        high = picture.props[f"{name}.y.end"]
        assert len(x) == len(y) and np.all((x >= 0) & (x <= picture.props[f"{name}.x.end"]))
        assert not len(y) or (np.nanmin(y, initial=0.0) >= 0 and np.nanmax(y, initial=0.0) < high)
        assert picture.sources[f"{name}_name"]["y"][0] < high
    assert np.all(picture.sources["use"]["y"] <= 100 + 1e-9)
    marks = {tuple(picture.sources[f"{name}_mark"]["x0"]) for name in CHARTS}
    assert len(marks) == 1, "one moment, marked through all four"


def test_drawn_sources_are_all_there():
    picture, drawn = compute(Settings()), {r.data_source.name for p in FIGURE.draw() for r in p.renderers}
    assert drawn == set(picture.source_names())
