"""Will it fit, how fast will it be; and what a reader pastes: a config.json, a start-up log."""
import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

import model
from app.parameters import parameters
from app.pasted import CONFIG_CHARS, LOG_CHARS, beside, spelled
from app.promise import TODAY, promise, told
from app.settings import FIGURE, Settings, compute
from model import engines, machine
from model.logs import LogLine

LOGS = Path(__file__).with_name("logs")
LLAMA_8B = {"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
            "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256, "max_position_embeddings": 131072}


def log(name):
    return (LOGS / name).read_text(encoding="utf-8")


def test_a_pasted_model_takes_the_place_of_the_chosen_one():
    """The fields of Llama 3.1 8B, under another choice, are Llama 3.1 8B in every number."""
    pasted, chosen = compute(Settings(llm="qwen3-32b", config=json.dumps(LLAMA_8B))), compute(Settings())
    for word in ("kv_tokens", "max_concurrency", "weights", "kv_bytes_per_token", "llama_promise", "vllm_promise"):
        assert pasted.facts[word] == chosen.facts[word]
    assert "your-model" in pasted.facts["vllm_command"]


@pytest.mark.parametrize("values, says", [
    ({"config": "{"}, "this is no config.json"), ({"config": "[1]"}, "begins with a brace"), ({"config": "[" * 20_000}, "no config.json"),
    ({"config": '{"model_type": "llama"}'}, "config.json lacks hidden_size"), ({"config": '{"model_type": "bert"}'}, "not understood"),
    ({"config": " " * (CONFIG_CHARS + 1)}, "at most 30,000"), ({"log": "x" * (LOG_CHARS + 1)}, "at most 200,000"),
    ({"log": "nginx: started 4 workers"}, "no start-up log of vLLM or llama.cpp")])
def test_what_is_something_else_is_refused_in_one_line(values, says):
    with pytest.raises(ValueError, match=says) as fault:
        Settings(**values)
    assert "\n" not in str(fault.value)


def test_a_refused_paste_leaves_the_figure_as_it_was():
    from app import live
    before = live.LIVE["settings"].values()
    with pytest.raises(ValueError, match="no start-up log"):
        live.change("settings", json.dumps({"log": "hello", "users": 3}))
    assert live.LIVE["settings"].values() == before


@pytest.mark.parametrize("name, lines", [
    ("vllm-0.19.0.txt", ["weights: 14.99 GiB in the log", "tokens of KV cache: 41,408 in the log", "requests of full length: 5.05 in the log"]),
    ("llama-b6500.txt", ["parameters: 8.03 B in the log, 8.03 B predicted (0%)", "KV cache: 4,352 MiB in the log, 4,352 MiB predicted (0%)"])])
def test_a_log_is_set_beside_the_prediction_line_by_line(name, lines):
    picture = compute(Settings(log=log(name)))
    told_lines = [picture.facts[f"log_{i}"] for i in range(8)]
    assert all(any(line.startswith(wanted) for line in told_lines) for wanted in lines)
    assert "beside the prediction" in picture.facts["log_verdict"] and picture.facts["log_verdict"] in picture.frames["say.sentence"][-1]


@pytest.mark.parametrize("path", sorted(path.name for path in LOGS.glob("*.txt")))
def test_every_log_gets_a_verdict(path):
    said, lines = beside(log(path), machine(), own_llm=False)
    assert lines and f"{'vLLM' if path.startswith('vllm') else 'llama.cpp'}" in said


def test_a_log_speaks_of_its_own_model_unless_one_is_pasted():
    own = replace(machine().llm, label="Mine", name="mine")
    assert "Llama 3.1 8B on RTX 4090" in beside(log("vllm-0.19.0.txt"), machine(llm="qwen3-8b"), own_llm=False)[0]
    assert "Mine on RTX 4090" in beside(log("vllm-0.19.0.txt"), machine(llm=own), own_llm=True)[0]


def test_without_a_paste_nothing_is_said():
    facts = compute(Settings()).facts
    assert facts["log_verdict"] == "" and all(facts[f"log_{i}"] == "" for i in range(8))


@pytest.mark.parametrize("line, says", [
    (LogLine("weights", 15.0, 14.25, "GiB", -0.05, ""), "weights: 15 GiB in the log, 14.25 GiB predicted (−5%)"),
    (LogLine("tokens of KV cache", 41408.0, 41410.0, "tokens", 0.00005, ""), "tokens of KV cache: 41,408 in the log, 41,410 predicted (0%)")])
def test_a_line_in_words(line, says):
    assert spelled(line) == says


@settings(deadline=None, max_examples=60)
@given(llm=st.sampled_from(model.llms()), gpu=st.sampled_from(model.gpus()), family=st.sampled_from(["llama.cpp", "vllm"]),
       users=st.integers(1, 64), length=st.integers(512, 8192))
def test_a_promise_keeps_to_physics(llm, gpu, family, users, length):
    """Bands hold their value, never pass the datasheet, and a promise is made for those who fit only."""
    m = machine(llm, gpu)
    p = promise(m, family, users, length, 0.92)
    assert p.engine == TODAY[family] and p.note == engines.note(replace(m, engine=p.engine))
    if not p.fit:
        assert "does not fit" in told(p)
        return
    served = min(users, p.fit)
    assert p.speed[0] < p.speed[1] <= p.speed[2] <= model.pass_cost(m, users=served, context=length).tokens_per_s_each * (1 + 1e-9)
    assert p.ttft_ms[0] <= p.ttft_ms[1] < p.ttft_ms[2]
    assert ("the others wait" in told(p)) == (users > p.fit)


@pytest.mark.parametrize("engine, word, says", [
    ("datasheet", "vllm_promise", "What vLLM 0.28 gets:"), ("vllm-0.8", "vllm_promise", "What vLLM 0.8 gets:"),
    ("vllm-0.8", "llama_promise", "What llama.cpp with flash attention gets:"), ("llama.cpp", "llama_promise", "What llama.cpp gets:")])
def test_each_server_is_the_chosen_one_or_todays(engine, word, says):
    assert compute(Settings(engine=engine)).facts[word].startswith(says)


@pytest.mark.parametrize("values, server, says", [
    # by the fit of llama.cpp eight hold 8,192 tokens where the datasheet says six, of vLLM six instead of four
    ({}, "llama", "it would set aside memory for ten, and eight fit (by the datasheet six, of 24.0 GB; a server sees 25.4 GB), so that it does not start as typed. With eight, each"),
    ({}, "vllm", "six of ten fit at 8,192 tokens (by the datasheet four, of 24.0 GB; a server sees 25.4 GB), the others wait; each"),
    ({"slots": 2}, "llama", "it fits, two people at a time, the others wait; each"),
    ({"slots": 2}, "vllm", "it fits, two people at a time, the others wait; each"),
    ({"slots": 0}, "llama", "it would set aside memory for ten, and eight fit (by the datasheet six, of 24.0 GB; a server sees 25.4 GB), so that it does not start as typed. With four, each"),
    ({"slots": 1, "users": 1}, "llama", "it fits, one person at 8,192 tokens; "),
    ({"context": 2048}, "vllm", "it fits, ten people at 2,048 tokens; each")])
def test_a_promise_is_for_the_command_above_it(values, server, says):
    assert says in compute(Settings(**values)).facts[f"{server}_promise"]


@pytest.mark.parametrize("values, word", [({"weights": "q4_k_m"}, "vllm_promise"), ({"kv": "fp8"}, "llama_promise")])
def test_a_server_that_does_not_read_a_format_promises_nothing(values, word):
    assert "does not read" in compute(Settings(**values)).facts[word]


def test_boxes_to_paste_into_stay_out_of_the_address():
    found = {p.name: p for p in parameters(FIGURE)}
    for name, longest in (("config", CONFIG_CHARS), ("log", LOG_CHARS)):
        data = found[name].data()
        assert (data["kind"], data["longest"], data["unwritten"], data["lines"]) == ("text", longest, True, 2)
    assert "unwritten" not in found["users"].data()
