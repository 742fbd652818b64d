"""`python -m model check`: rows as people write them, predictions with their lacks, the report."""
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model import machine, pass_cost, points, predict, rows, speculate
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
    ("Tesla V100-SXM2-16GB", "v100", 1), ("V100 PCIe 16GB", "v100-pcie", 1), ("NVIDIA A100-SXM4-40GB", "a100-40gb", 1),
    ("NVIDIA H100 80GB HBM3", "h100-sxm", 1), ("A100 80GB PCIe", "a100-80gb-pcie", 1), ("RTX 4090 24GB * 2", "rtx-4090", 2),
    ("dual RTX 3090", "rtx-3090", 2), ("8xH100 TP8", "h100-sxm", 8), ("RTX 6000 Ada 48GB x2", "rtx-6000-ada", 2),
    ("RTX 4070 Ti SUPER 16GB", "rtx-4070-ti-super", 1), ("3090 Ti", "rtx-3090-ti", 1), ("GeForce RTX 3080 Ti", "rtx-3080-ti", 1),
    ("RTX PRO 6000 Blackwell Workstation Edition", "rtx-pro-6000", 1), ("AMD Radeon RX 7900 XTX", "rx-7900-xtx", 1),
    ("Tesla P40", "p40", 1), ("NVIDIA A10G", "a10g", 1), ("Apple M2 Ultra 60-Core GPU 192GB", "m2-ultra-60-core", 1),
    ("M1 Max (24 GPU cores)", "m1-max-24-core", 1), ("Apple M2 Ultra (24-core CPU, 76-core GPU)", "m2-ultra", 1), ("M3 Pro", "m3-pro", 1),
    ("RTX 6000 Ada 48GB", "rtx-6000-ada", 1), ("L40S 48GB", "l40s", 1), ("Apple M4 Max", "m4-max", 1), ("H200", "h200", 1)])
def test_cards_as_people_write_them(text, name, count):
    gpu = rows.gpu_of(text)
    assert (gpu.name, gpu.count) == (name, count)


@pytest.mark.parametrize("text", ["RTX 4090 Laptop GPU", "RTX 4090 D", "RTX 6000", "RTX 3050 Ti", "H100 MIG 1g.10gb", "", "-"])
def test_another_card_of_the_same_name_is_no_card_known(text):
    with pytest.raises(ValueError, match="is not in the catalogue"):
        rows.gpu_of(text)


@pytest.mark.parametrize("text, name", [
    ("llama 7B Q4_0", "llama-2-7b"), ("llama 7B mostly Q4_0", "llama-2-7b"), ("llama 13B Q5_K - Medium", "llama-13b"),
    ("llama 8B IQ4_XS - 4.25 bpw", "llama-3-8b"), ("llama 8x7B Q4_K - Medium", "mixtral-8x7b"), ("llama 30B Q4_0", "llama-33b"),
    ("qwen2 7B Q4_K - Medium", "qwen2.5-7b"), ("qwen3moe 30B.A3B Q4_K - Medium", "qwen3-30b-a3b"), ("gemma2 9B Q8_0", "gemma-2-9b"),
    ("gemma 2B all F32 (guessed)", "gemma-2b"), ("llama 7B mostly F16", "llama-2-7b"), ("gemma3 12B Q4_0", "gemma-3-12b"), ("phi3 3B Q4_K - Medium", "phi-3-mini"),
    ("gpt-oss 20B MXFP4 MoE", "gpt-oss-20b"), ("deepseek2 671B Q4_K - Medium", "deepseek-v3"), ("Llama-3.2-1B-Instruct-Q4_0", "llama-3.2-1b"),
    ("codellama-34b-instruct", "codellama-34b"), ("CodeLlama-13b", "llama-13b"), ("01-ai/Yi-34B-Chat", "yi-34b"), ("lmsys/vicuna-13b-v1.5", "llama-13b"),
    ("Llama-2-70b-chat-hf", "llama-2-70b"), ("Qwen2-72B-Instruct", "qwen2.5-72b"), ("Qwen2.5-Coder-32B-Instruct", "qwen2.5-32b"),
    ("Qwen2.5-32B-Instruct-AWQ", "qwen2.5-32b"), ("Qwen2.5-14B-Instruct-GPTQ-Int4", "qwen2.5-14b"), ("Meta-Llama-3.1-8B-Instruct-FP8-KV", "llama-3.1-8b"),
    ("NousResearch/Hermes-3-Llama-3.1-8B", "llama-3.1-8b"), ("Mistral-Small-3.1-24B-Instruct-2503", "mistral-small-24b"),
    ("Mistral-7B-Instruct-v0.2", "mistral-7b"), ("DeepSeek-R1-Distill-Qwen-1.5B", "qwen2.5-1.5b"), ("Phi-3-mini-128k-instruct", "phi-3-mini"),
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
    ("Q4_K - Medium", ("q4_k_m", "f16")), ("Q5_K - Small", ("q5_k_s", "f16")), ("Q2_K - Medium", ("q2_k", "f16")), ("mostly Q4_0", ("q4_0", "f16")),
    ("IQ4_XS - 4.25 bpw", ("iq4_xs", "f16")), ("GGUF Q8_0", ("q8_0", "f16")), ("GPTQ-Int4", ("int4", "f16")), ("FP8 (W8A8)", ("fp8", "f16")),
    ("MLX 4bit", ("q4_0", "f16")), ("Q4_0; q8_0 KV cache", ("q4_0", "q8_0")),
    ("FP16", ("f16", "f16")), ("-", ("f16", "f16")), ("", ("f16", "f16")), ("AWQ", ("int4", "f16"))])
def test_formats_as_people_write_them(text, names):
    assert rows.formats_of(text) == names


@pytest.mark.parametrize("weights, model, name", [
    ("", "llama 7B Q4_0", "q4_0"), ("-", "llama 8B Q4_K - Medium", "q4_k_m"), ("", "Qwen2.5-7B-Instruct-AWQ", "int4"), ("Q8_0", "llama 7B Q4_0", "q8_0"),
    ("", "Llama-3.1-8B-FP8", "fp8"), ("", "Qwen3-8B", "f16"), ("", "Mixtral-8x7B", "f16")])
def test_a_model_s_name_tells_its_format_where_nothing_else_does(weights, model, name):
    assert rows.formats_of(weights, model)[0] == name


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


M8 = machine(engine="vllm-0.19")


@pytest.mark.parametrize("words, value, source", [
    (dict(quantity="tg128", context_or_output="-"), dict(context_or_output="128"), "128 tokens are written"),
    (dict(quantity="tg64 @ d4096", context_or_output="-"), dict(prompt_tokens="4096", context_or_output="64"), "behind 4,096"),
    (dict(quantity="decode ms per token", unit="ms"), lambda: 1000 / said(row_of()), "a time for a speed"),
    (dict(quantity="generation speed per user", load="8", context_or_output="512"), lambda: said(row_of(load="8")) / 8, "each of eight"),
    (dict(quantity="pp2048", prompt_tokens="-"), lambda: 2048e3 / predict.prefill_ms(M8, 2048), "by the name alone"),
    (dict(quantity="pp512 @ d4096", prompt_tokens="512"), lambda: 512e3 / predict.prefill_ms(M8, 512, 4096), "attention over 4,096 more"),
    (dict(quantity="prefill time", prompt_tokens="2048", unit="s"), lambda: predict.prefill_ms(M8, 2048) / 1000, "seconds"),
    (dict(quantity="TTFT", prompt_tokens="2048", unit="s"), lambda: said(row_of(quantity="TTFT", prompt_tokens="2048", unit="ms")) / 1000, "seconds"),
    (dict(quantity="output tokens per second", load="8", prompt_tokens="200"), dict(quantity="output throughput", load="8", prompt_tokens="200"), "a throughput"),
    (dict(quantity="TTFT at concurrency 4", load="4", prompt_tokens="512", unit="ms"), dict(quantity="TTFT", load="4", prompt_tokens="512", unit="ms"), "not KV"),
    (dict(quantity="GPU KV cache size", load="--gpu-memory-utilization 0.85", unit="tokens"), dict(quantity="KV tokens", load="util .85", unit="tokens"), "flag"),
    (dict(quantity="Available KV cache memory", load="util 85%", unit="GB"),
     lambda: said(row_of(quantity="KV GiB", load="util .85", unit="GiB")) * 2**30 / 1e9, "percent, and GB"),
    (dict(quantity="Maximum concurrency", load="--max-model-len 4096", unit="x"), lambda: said(row_of(quantity="KV GiB", unit="GiB", load="")) * 2**30 / 131_072 / 4096, "by hand"),
    (dict(quantity="speedup", load="k=5, acceptance 0.65, c=0.02", unit="x"), lambda: (1 - 0.65**6) / 0.35 / 1.1, "Leviathan et al., theorem 3.8"),
    (dict(quantity="speedup (5 draft tokens, acceptance rate 0.7)", llm="Llama-3.1-8B + Llama-3.2-1B", unit="x"),
     lambda: speculate(M8, 5, 0.7, 1, 512).speedup, "a draft model by its name"),
    (dict(quantity="speed-up of EAGLE-3", load="16", unit="x"), dict(quantity="throughput ratio EAGLE-3 chain 3", load="16", unit="x"), "three guesses")])
def test_others_words_mean_the_same(words, value, source):
    expected = value() if callable(value) else said(row_of(**value))
    assert said(row_of(**words)) == pytest.approx(expected, rel=1e-4), source


def said(row):
    found = predict.predict(row)
    assert found.lacks == ""
    return found.value


@pytest.mark.parametrize("words, lacks", [
    (dict(quantity="speedup", unit="x"), "how many tokens are guessed"), (dict(quantity="speedup k=4 acceptance 0.8", unit="x"), "which model guesses"),
    (dict(quantity="output throughput with EAGLE", unit="tok/s"), "a ratio to the speed without guesses"),
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


PIECES = ["", "-", "RTX 4090", "2x", "M2 Ultra", "76-core", "Llama-3.1-8B", " + ", "llama", "7B", "Q4_0", "Q4_K - Medium", "FP8 KV", "vLLM 0.8", "llama.cpp",
          "tg128", "pp512", "@ d4096", "TTFT", "ITL", "speedup", "EAGLE", "k=5", "k=99999999999", "acceptance 0.7", "c=0.02", "throughput", "KV tokens",
          "max_len 0", "util 90%", "req/s", "0", "8", "1e9", "(", ")", "[", "\\", "\n", "é", "per user", "Maximum concurrency", "p99", "poisson 4 req/s"]
WORDS = st.lists(st.sampled_from(PIECES), max_size=4).map(" ".join)


@settings(max_examples=300)
@given(st.fixed_dictionaries({name: WORDS for name in ("llm", "weights", "gpu", "engine", "quantity")}),
       st.sampled_from(["1", "8", "-", "util .90 max_len 8192", "util 90%"]), st.sampled_from(["", "-", "512", "2k", "0"]),
       st.sampled_from(["ms", "s", "tok/s", "x", "GiB", "blocks", ""]))
def test_whatever_a_row_says_it_is_predicted_or_told_what_it_lacks(words, load, tokens, unit):
    known = {name: text or fallback for (name, text), fallback in zip(words.items(), ("Llama-3.1-8B", "", "RTX 4090", "vLLM 0.19", "ITL"))}
    found = predict.predict(row_of(**known, load=load, prompt_tokens=tokens, context_or_output=tokens, unit=unit))
    assert (found.value is None) == bool(found.lacks) and "\n" not in found.lacks


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
