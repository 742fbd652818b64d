"""Start-up logs of vLLM and llama.cpp, ten versions each, in the forms that their sources print."""
from pathlib import Path

import pytest

from model import logs, machine

LOGS = Path(__file__).with_name("logs")
MIB, GIB = 2**20, 2**30
VLLM = [  # file, version, weights GiB, KV tokens, concurrency, graphs GiB
    ("vllm-0.6.0.txt", "0.6.0", 14.9595, 40704, None, None), ("vllm-0.6.4.txt", "0.6.4.post1", 14.9888, 31232, 1.56, 0.26),
    ("vllm-0.7.3.txt", "0.7.3", 14.9888, 37696, 0.29, None), ("vllm-0.8.5.txt", "0.8.5", 14.9596, 41040, 5.01, 0.52),
    ("vllm-0.9.2.txt", "0.9.2", 15.2683, 389888, 9.52, 0.58), ("vllm-0.10.2.txt", "0.10.2", 13.5083, 53376, 1.63, 0.55),
    ("vllm-0.13.0.txt", "0.13.0", 15.3942, 260032, 7.94, 0.71), ("vllm-0.15.1.txt", "0.15.1", 14.99, 157936, 4.82, None),
    ("vllm-0.19.0.txt", "0.19.0", 14.99, 41408, 5.05, 0.53), ("vllm-0.28.0.txt", "0.28.0+cu129", 14.99, 48128, 1.42, 0.29)]
LLAMA = [  # file, version, card's weights MiB, KV MiB, compute MiB, context
    ("llama-b1000.txt", "1000", None, 1024.0, None, 2048), ("llama-b1500.txt", "1500", None, 2048.0, None, 4096),
    ("llama-b2843.txt", "2843", 4403.49, 64.0, 258.5, 512), ("llama-b3600-metal.txt", "3600", 14315.02, 1024.0, 560.0, 8192),
    ("llama-b4500.txt", "4500", 7605.33, 4096.0, 258.5, 32768), ("llama-b4821.txt", "4821", 14315.02, 1024.0, 560.0, 8192),
    ("llama-b5600.txt", "5600", 4168.09, 896.0, 304.0, 16384), ("llama-b6500.txt", "6500", 4403.49, 4352.0, 258.5, 65536),
    ("llama-b7314.txt", "7314", 39975.88, 2560.0, 426.5, 8192), ("llama-b9900-metal.txt", "b9900", 7605.33, 16384.0, 272.5, 131072)]


def read(name):
    return logs.read_log((LOGS / name).read_text(encoding="utf-8"))


def close(value):
    return None if value is None else pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize("name, version, weights, tokens, concurrency, graphs", VLLM)
def test_vllm_logs_are_read_right(name, version, weights, tokens, concurrency, graphs):
    log = read(name)
    values = log.values
    assert (log.engine, values["version"], values["kv_tokens"]) == ("vllm", version, tokens)
    assert values["weights_bytes"] == close(weights * GIB)
    assert values.get("concurrency") == close(concurrency)
    assert values.get("graph_bytes") == close(graphs and graphs * GIB)


@pytest.mark.parametrize("name, version, weights, kv, compute, context", LLAMA)
def test_llama_cpp_logs_are_read_right(name, version, weights, kv, compute, context):
    log = read(name)
    values = log.values
    assert (log.engine, values["version"], values["context_tokens"]) == ("llama.cpp", version, context)
    assert values["kv_bytes"] == close(kv * MIB)
    assert values.get("weights_bytes") == close(weights and weights * MIB)
    assert values.get("compute_bytes") == close(compute and compute * MIB)


def test_both_engines_have_ten_logs():
    names = {path.name for path in LOGS.glob("*.txt")}
    assert names == {line[0] for line in VLLM + LLAMA} and len(VLLM) == len(LLAMA) == 10


@pytest.mark.parametrize("name", [line[0] for line in LLAMA[1:]])
def test_a_llama_cpp_log_agrees_with_the_prediction_line_by_line(name):
    log = read(name)
    found = {line.what: line for line in logs.compare(log, logs.machine_of(log))}
    assert abs(found["KV cache"].error) < 0.001
    assert all(abs(found[what].error) < 0.005 for what in ("parameters", "weights on the card") if what in found)


@pytest.mark.parametrize("name, gpu", [
    ("vllm-0.6.4.txt", "RTX 3090"), ("vllm-0.7.3.txt", "A10"), ("vllm-0.13.0.txt", "L40S"), ("vllm-0.15.1.txt", "A100 40GB"),
    ("vllm-0.19.0.txt", "RTX 4090"), ("vllm-0.28.0.txt", "RTX 3090")])
def test_a_vllm_log_is_set_beside_the_prediction_line_by_line(name, gpu):
    log = read(name)
    found = {line.what: line for line in logs.compare(log, logs.machine_of(log, gpu=gpu))}
    assert abs(found["weights"].error) < 0.015
    assert abs(found["tokens of KV cache"].error) < 0.15
    assert found["tokens of KV cache"].predicted == pytest.approx(found["tokens of KV cache"].logged, rel=0.15)
    assert "blocks" in found["tokens of KV cache"].line or "GPU KV cache size" in found["tokens of KV cache"].line


def test_the_machine_of_a_log_is_the_one_it_names():
    m = logs.machine_of(read("llama-b6500.txt"))
    assert (m.llm.name, m.gpu.name, m.weights.name, m.kv.name, m.engine) == (
        "llama-3.1-8b", "rtx-3090", "q4_k_m", "q8_0", "llama.cpp-flash")
    with pytest.raises(ValueError, match="does not say which card it is about"):
        logs.machine_of(read("vllm-0.19.0.txt"))
    assert logs.machine_of(read("vllm-0.19.0.txt"), gpu=machine().gpu).engine == "vllm-0.19"


@pytest.mark.parametrize("text", [
    "", "hello", "INFO 12-02 06:20:11 nginx: started 4 workers", "2026/01/01 ollama: listening on 11434",
    "Traceback (most recent call last):\n  File \"x.py\", line 1\nMemoryError", "id,source,llm\n1,2,3"])
def test_a_log_of_something_else_is_refused_in_one_line(text):
    with pytest.raises(ValueError, match="no start-up log of vLLM or llama.cpp") as fault:
        logs.read_log(text)
    assert "\n" not in str(fault.value)
