"""The figure `prefill-decode`: the essay's numbers in its sentence, meters and strip of the same passes, every setting."""
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import model
from app.machine import MachineSettings
from app.prefill_decode import DOCUMENT, FIGURE, PROMPTS, QUESTION, REPLY, Settings, compute
from model.trace import prefill_decode
from tests.picture_checks import check, sentence

ESSAY = "facts/essay.md, prefill-decode"


@pytest.mark.parametrize("values, says, source", [
    ({}, "Prefill processes 2,000 tokens in one pass of 194 ms, bound by arithmetic, which ends with the first token", ESSAY),
    ({}, "Decode reads 16.06 GB of weights for every further token: 15.9 ms, bound by memory, 62.8 tokens/s at most.", ESSAY),
    ({}, "A written token costs 164 times a prompt token.", ESSAY),
    ({"prompt": 8192}, "8,192 tokens in one pass of 796 ms", "facts/essay.md, chunked-prefill"),
    ({"prompt": 16384}, "16,384 tokens in one pass of 1,593 ms", "2 x 796.4, by hand"),
    ({"prompt": QUESTION}, "24 tokens in one pass of 15.9 ms, bound by memory,", "24 < 164: one read of the weights"),
    ({"prompt": QUESTION}, "costs 24 times a prompt token.", "one read of the weights shared by 24"),
    ({"prompt": 8}, "costs 8 times a prompt token.", "shared by 8"),
    ({"prompt": 1}, "Prefill processes 1 token in one pass", "one token"),
    ({"prompt": 1}, "costs as much as a prompt token.", "both are one pass for one token"),
    ({"prompt": 8192, "reply": 2}, "With the KV cache of this prompt a token takes 17.0 ms.",
     "(16.06e9 + 8,192 x 131,072) / 1.008e12, by hand"),
    ({"llm": "mixtral-8x7b", "gpu": "h200"}, "Decode reads 25.76 GB of weights", "2 of 8 experts: 2 bytes x 12.88e9 active parameters"),
    ({"llm": "llama-3.1-70b"}, "(The weights and the overhead alone do not fit in this card’s memory.)", "141 GB on 24"),
])
def test_sentence(values, says, source):
    assert says in sentence(compute(Settings(**values))), source


def test_a_reply_of_one_token_has_no_decode():
    picture = compute(Settings(reply=1))
    assert len(picture) == 2 and picture.sources["decode_name"]["text"] == [""]
    assert "With the KV cache" not in sentence(picture)


def test_the_moment_comes_before_the_answer():
    picture = compute(Settings())
    assert sentence(picture, 0).startswith("Pass 1 processes the prompt and writes token 1: memory 8% busy, arithmetic 100%. Prefill")
    assert sentence(picture, 1).startswith("Pass 2 writes token 2: memory 100% busy, arithmetic 0.6%. ")
    assert picture.frame_names[0] == "pass 1 of 16" and picture.frame_names[-1] == "after pass 16"


def test_the_first_word_comes_with_the_end_of_prefill():
    picture = compute(Settings(reply=3))
    assert picture.frames["say.written"] == ["", REPLY[0], " ".join(REPLY[:2]), " ".join(REPLY[:3])]
    assert picture.frames["say.clock"][:2] == ["0 ms", "194 ms"]


def test_the_usual_reply_is_a_whole_sentence():
    assert compute(Settings()).frames["say.written"][-1].endswith("processed your whole prompt at once.")
    assert len(compute(Settings()).frames["say.written"][-1].split()) == 16 == Settings().reply


def test_the_meters_say_which_pass_they_mean():
    picture = compute(Settings())
    assert [picture.frames["memory_name.text"][f][0] for f in (0, 15, 16)] == [
        "in pass 1: memory 8% busy", "in pass 16: memory 100% busy", "in pass 16: memory 100% busy"]


def test_there_is_a_word_for_every_token():
    assert len(REPLY) == Settings.param.reply.bounds[1] and REPLY[-1].endswith(".")
    assert len(compute(Settings(reply=Settings.param.reply.bounds[1])).frames["say.written"][-1].split()) == 120


def test_the_meters_keep_what_the_last_pass_was_busy_with():
    memory = compute(Settings()).frames["memory.right"][:, 0]
    assert memory[-1] == memory[-2] == 1.0


@pytest.mark.parametrize("values, ticks", [
    ({"prompt": 24, "reply": 16}, ["0", "100 ms", "200 ms"]),                           # 255 ms
    ({"prompt": 8192, "reply": 40}, ["0", "500 ms", "1,000 ms", "1,500 ms"]),           # as far as m061, 8,192 tokens in 1,727 ms
    ({"prompt": 32768, "reply": 120}, ["0", "2,000 ms", "4,000 ms"]),             # 3,185 + 119 x 20.2 ms
    ({"prompt": 32768, "llm": "llama-3.1-70b"}, ["0", "10 s", "20 s", ""]),              # 8.8 times as long; so near its end a name has no room
])
def test_ticks(values, ticks):
    picture = compute(Settings(**values))
    assert list(picture.props["strip.axis.major_label_overrides"].values()) == ticks


def test_presets_are_positions():
    assert {QUESTION, DOCUMENT} <= set(PROMPTS) and list(PROMPTS) == sorted(set(PROMPTS))
    assert [value for _, value in FIGURE.control("prompt").presets] == [QUESTION, DOCUMENT]


def test_the_formula_says_what_servers_lose():
    assert compute(Settings()).facts["lost"] == "nothing is lost."
    assert "0.19" in compute(Settings(engine="vllm-0.19")).facts["lost"]


@settings(deadline=None, max_examples=40)
@given(st.fixed_dictionaries({
    "prompt": st.integers(1, PROMPTS[-1]), "reply": st.integers(1, 120), "gpu": st.sampled_from(model.gpus()),
    "llm": st.sampled_from(model.llms()), "weights": st.sampled_from(model.weight_formats()),
    "kv": st.sampled_from(model.kv_formats()), "engine": st.sampled_from(list(MachineSettings.param.engine.objects))}))
def test_every_setting(values):
    picture = check(FIGURE, **values).picture
    trace = prefill_decode(Settings(**values).machine(), prompt_tokens=values["prompt"], reply_tokens=values["reply"])
    assert len(picture) == values["reply"] + 1 == len(picture.table[1]) + 1
    for name in ("memory", "arithmetic"):
        busy = picture.frames[f"{name}.right"]
        assert np.all((busy >= 0) & (busy <= 1))
    ahead = [picture.sources[f"{name}_ahead"] for name in ("memory", "arithmetic")]
    assert sorted(np.concatenate([block["left"] for block in ahead])) == pytest.approx(sorted(trace.start_ms))
    assert all(np.all(block["right"] > block["left"]) for block in ahead)
    for name in ("memory", "arithmetic"):
        done = picture.frames[f"{name}_done.right"]
        assert np.all(np.diff(done, axis=0) >= 0) and np.all(done[-1] == picture.sources[f"{name}_ahead"]["right"])
    ticks = picture.props["strip.axis_ticks.ticks"]
    assert 3 <= len(ticks) <= 6 and ticks[-1] <= picture.props["strip.x.end"] * (1 + 1e-6)
