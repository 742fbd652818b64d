"""`python -m model check`: rows as people write them, predictions with their lacks, the report."""
import json

import pytest

from model import check, machine, pass_cost, points, predict, rows
from model.cli import main as command

HEAD = "id,source,llm,weights,gpu,engine,date,load,prompt_tokens,context_or_output,quantity,value,unit,url\n"


def row_of(**words):
    given = {"id": "t1", "source": "test", "llm": "Llama-3.1-8B", "weights": "BF16", "gpu": "RTX 4090",
             "engine": "vLLM 0.19.0", "date": "2026-05-01", "load": "1", "prompt_tokens": "0", "context_or_output": "512",
             "quantity": "decode tg", "value": "60", "unit": "tok/s", "url": "-", **words}
    line = ",".join(f'"{given[name]}"' for name in HEAD.strip().split(","))
    return rows.read_rows(HEAD + line + "\n")[0]


@pytest.mark.parametrize("text, name, count", [
    ("RTX 3090", "rtx-3090", 1), ("NVIDIA GeForce RTX 4080 16GB", "rtx-4080", 1), ("4090", "rtx-4090", 1),
    ("2x RTX 4090", "rtx-4090", 2), ("1xNVIDIA-H100-PCIe", "h100-pcie", 1), ("H100 SXM TP2", "h100-sxm", 2),
    ("A100 PCIe 80GB", "a100-80gb-pcie", 1), ("NVIDIA A100-SXM4-80GB", "a100-80gb-sxm", 1), ("RTX 4090 * 4", "rtx-4090", 4),
    ("A10 24GB (22.07 GiB visible)", "a10", 1), ("Apple M2 Ultra 76-Core GPU 192GB", "m2-ultra", 1),
    ("RTX 6000 Ada 48GB", "rtx-6000-ada", 1), ("L40S 48GB", "l40s", 1), ("Apple M4 Max", "m4-max", 1), ("H200", "h200", 1)])
def test_cards_as_people_write_them(text, name, count):
    gpu = rows.gpu_of(text)
    assert (gpu.name, gpu.count) == (name, count)


@pytest.mark.parametrize("text, name", [
    ("Llama-3.1-8B", "llama-3.1-8b"), ("Meta-Llama-3-8B-Instruct", "llama-3-8b"), ("meta-llama/Llama-3.1-8B-Instruct", "llama-3.1-8b"),
    ("Llama-8B (ollama)", "llama-3-8b"), ("Llama-8B F16", "llama-3-8b"), ("Llama 3 8B", "llama-3-8b"), ("llama3:8b", "llama-3-8b"),
    ("Mistral-7B-Instruct-v0.3", "mistral-7b"), ("Qwen/Qwen2.5-7B-Instruct", "qwen2.5-7b"), ("gemma-2-9b-it", "gemma-2-9b"),
    ("DeepSeek-R1-Distill-Qwen-14B", "qwen2.5-14b"), ("Meta-Llama-3-70B", "llama-3-70b"), ("Llama-3-8B Q4_K_M", "llama-3-8b"),
    ("Mixtral-8x7B-v0.1", "mixtral-8x7b"), ("LLaMA 7B", "llama-2-7b"), ("Llama-2-7b-hf", "llama-2-7b")])
def test_models_as_people_write_them(text, name):
    assert rows.llm_of(text).name == name


@pytest.mark.parametrize("text, date, load, engine", [
    ("vLLM 0.8.5 (CUDA 12.4, FlashInfer 0.2.2)", "", "", "vllm-0.8"), ("vLLM 0.15.1", "", "", "vllm-0.15"), ("vLLM v0.11.0", "", "", "vllm-0.8"),
    ("vLLM ~0.6/0.7", "", "", "vllm-0.6"), ("vLLM 0.28.0+cu129", "", "", "vllm-0.28"), ("vLLM 0.5.4", "", "", "vllm-0.6"),
    ("vLLM", "", "", "vllm-0.19"), ("SGLang 0.4.4", "", "", "sglang-0.4"), ("llama.cpp llama-bench", "2024-05-12", "", "llama.cpp"),
    ("llama.cpp b6700", "2025-10-05", "", "llama.cpp-flash"), ("llama.cpp", "2024-05-12", "fa 1", "llama.cpp-flash"),
    ("llama.cpp", "2026-01-01", "fa 0", "llama.cpp"), ("nanoGPT+xformers", "", "", "vllm-0.6")])
def test_engines_as_people_write_them(text, date, load, engine):
    assert rows.engine_of(text, date, load) == engine


@pytest.mark.parametrize("text, names", [
    ("BF16, FP8 KV", ("f16", "fp8")), ("BF16 weights, KV int8_per_token_head", ("f16", "int8")), ("Q4_K_M", ("q4_k_m", "f16")),
    ("FP16", ("f16", "f16")), ("-", ("f16", "f16")), ("", ("f16", "f16")), ("AWQ", ("int4", "f16"))])
def test_formats_as_people_write_them(text, names):
    assert rows.formats_of(text) == names


@pytest.mark.parametrize("source, load, rate, people", [
    ("IOG", "poisson 16 req/s; mean running~43.5", 16.0, 16.0), ("x", "8 requests per second", 8.0, 8.0),
    ("BLIS ground truth", "5", 5.0, 5.0), ("x", "32", None, 32.0), ("x", "decode n=8", None, 8.0), ("x", "8 seqs", None, 8.0),
    ("x", "concurrency 64", None, 64.0), ("x", "rate=2.5", 2.5, 2.5), ("x", "-", None, None)])
def test_loads_as_people_write_them(source, load, rate, people):
    row = row_of(source=source, load=load)
    assert rows.rate_of(row) == rate
    assert rows.people_of(row) == people


def test_a_mean_over_a_growing_context_is_one():
    row = row_of(quantity="decode tg (mean over c tokens from empty ctx)", context_or_output="1024")
    m = machine(engine="vllm-0.19")
    least, most = (1000 / pass_cost(m, users=1, context=c).pass_ms for c in (1024, 1))
    assert least < predict.predict(row).value < most


@pytest.mark.parametrize("words, group", [
    (dict(quantity="prefill pp", prompt_tokens="512", context_or_output="0"), predict.FIRST),
    (dict(quantity="TTFT (median of 3)", prompt_tokens="2048 new tokens after 4096 cached", unit="ms"), predict.FIRST),
    (dict(quantity="ITL", load="8", prompt_tokens="2000", context_or_output="200", unit="ms"), predict.SPEED),
    (dict(quantity="TPOT mean", load="4 req/s", prompt_tokens="200", context_or_output="100", unit="ms"), predict.SPEED),
    (dict(quantity="output throughput", load="poisson 4 req/s", prompt_tokens="ShareGPT mean 206", context_or_output="ShareGPT mean 202"),
     predict.THROUGHPUT),
    (dict(quantity="KV tokens", load="util .90", unit="tokens"), predict.FIT),
    (dict(quantity="E2E mean", load="2 req/s", prompt_tokens="300", context_or_output="50", unit="ms"), predict.WHOLE),
    (dict(quantity="throughput ratio EAGLE-3 chain 3", load="8", unit="x"), predict.GUESSES),
    (dict(quantity="speedup measured (gamma=5 alpha=0.65 c=0.02; predicted 2.4)", gpu="TPU-v4", llm="T5", unit="x"), predict.GUESSES),
    (dict(quantity="attention one layer", load="decode n=8", context_or_output="ctx 4096", unit="us"), predict.KERNEL)])
def test_kinds_of_quantities_are_predicted(words, group):
    said = predict.predict(row_of(**words))
    assert (said.group, said.lacks) == (group, "")
    assert said.value > 0


@pytest.mark.parametrize("words, lacks", [
    (dict(gpu="Voodoo 2"), "card 'Voodoo 2' is not in the catalogue"), (dict(llm="Clippy-1"), "model 'Clippy-1' is not"),
    (dict(engine="MS Word"), "engine 'MS Word' has no terms here"), (dict(weights="Q9_X"), "no format of weights is called 'Q9_X'"),
    (dict(quantity="colour"), "no prediction for a quantity called 'colour'"),
    (dict(quantity="TTFT mean", prompt_tokens="-"), "how long the prompt is"),
    (dict(quantity="ITL mean", load="4 req/s", prompt_tokens="-", context_or_output="-"), "how long prompts and replies are"),
    (dict(quantity="KV tokens", gpu="RTX 3070"), "a card on which the weights fit")])
def test_what_a_row_lacks_is_said(words, lacks):
    said = predict.predict(row_of(**words))
    assert said.value is None and said.error is None
    assert lacks in said.lacks


def test_every_row_of_the_measurements_is_predicted_or_says_what_it_lacks():
    for row in points.measured():
        said = predict.predict(row)
        assert (said.value is None) == bool(said.lacks)


def test_the_report_names_medians_worst_rows_and_lacks(tmp_path, capsys):
    path = tmp_path / "some.csv"
    lines = [row_of(), row_of(id="t2", gpu="Voodoo 2"), row_of(id="t3", value="30")]
    path.write_text(HEAD + "".join(",".join(f'"{row.words[c]}"' for c in HEAD.strip().split(",")) + "\n" for row in lines), encoding="utf-8")
    assert command(["check", str(path), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [row["id"] for row in report["rows"]] == ["t1", "t2", "t3"]
    assert report["medians"]["card"]["RTX 4090"]["rows"] == 2
    assert report["worst"]["engine"]["vLLM 0.19.0"]["id"] == "t3" and report["worst"]["engine"]["vLLM 0.19.0"]["why"]
    assert report["not_predicted"][0] == {"id": "t2", "quantity": "decode tg", "lacks": "card 'Voodoo 2' is not in the catalogue"}
    assert command(["check", str(path)]) == 0
    text = capsys.readouterr().out
    assert "3 rows, 2 predicted, 1 not" in text and "median of absolute error by card" in text


@pytest.mark.parametrize("content, words", [
    ("a,b\n1,2\n", "has no column 'id'"), (HEAD, "has no rows"),
    (HEAD + "m,s,l,w,g,e,d,1,0,1,q,fast,u,-\n", "line 2: value 'fast' is not a number"), (None, "cannot be read")])
def test_a_bad_file_ends_in_one_line(content, words, tmp_path, capsys):
    path = tmp_path / "bad.csv"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    assert command(["check", str(path)]) == 2
    said = capsys.readouterr().err
    assert words in said and said.count("\n") == 1


def test_an_unknown_option_ends_in_one_line(capsys):
    assert command(["check", "--colour"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
