"""The catalogue: what it must hold, names as people write them, formats with their real bits."""
import csv
import tomllib
from pathlib import Path

import pytest

from model import gpu, gpus, kv_format, kv_formats, llm, llms, weight_format, weight_formats

ROOT = Path(__file__).parents[1]
CARDS = [  # bandwidth GB/s, dense 16-bit TFLOPS, GB
    ("rtx-4090", 1008, 165.2, 24, "facts/essay.md"), ("rtx-3090", 936, 71, 24, "GA102 whitepaper"),
    ("rtx-5090", 1792, 209.5, 32, "RTX Blackwell whitepaper"), ("rtx-a6000", 768, 154.8, 48, "GA102 whitepaper"),
    ("l4", 300, 121, 24, "L4 datasheet"), ("l40s", 864, 362, 48, "L40S datasheet"), ("a10", 600, 125, 24, "A10 datasheet"),
    ("a100-40gb", 1555, 312, 40, "A100 datasheet"), ("a100-80gb-pcie", 1935, 312, 80, "A100 datasheet"),
    ("a100-80gb-sxm", 2039, 312, 80, "A100 datasheet"), ("h100-pcie", 2000, 756.5, 80, "H100 datasheet"),
    ("h100-sxm", 3350, 989.4, 80, "H100 datasheet"), ("h200", 4800, 989.4, 141, "H200 datasheet"),
    ("b200", 8000, 2250, 180, "DGX B200 datasheet"), ("mi300x", 5300, 1307.4, 192, "MI300X data sheet"),
    ("m2-ultra", 800, 27.2, 192, "Apple"), ("v100", 900, 125.3, 16, "V100 datasheet"), ("a10g", 600, 70, 24, "A10G datasheet"),
    ("rtx-4070-ti-super", 672, 88.2, 16, "Ada whitepaper"), ("rtx-2080-ti", 616, 53.8, 11, "Turing whitepaper"),
    ("rtx-a5000", 768, 111.1, 24, "RTX A5000 datasheet"), ("m4-pro", 273, 8.59, 64, "Apple"),
]
NAMES = [  # as measurements write them
    (gpu, "RTX 4090", "rtx-4090"), (gpu, "NVIDIA GeForce RTX 4090", "rtx-4090"), (gpu, "RTX_3090", "rtx-3090"),
    (gpu, "RTX 3090 24GB", "rtx-3090"), (gpu, "A100 PCIe 80GB", "a100-80gb-pcie"), (gpu, "H100 PCIe 80GB", "h100-pcie"),
    (gpu, "Apple M1 Max 32-Core GPU 64GB", "m1-max"), (gpu, "Apple M3 Max 40-Core GPU 64GB", "m3-max"),
    (gpu, "RTX A6000", "rtx-a6000"), (gpu, "A100 40GB", "a100-40gb"), (gpu, "AMD Instinct MI300X", "mi300x"),
    (llm, "Llama-3-8B", "llama-3-8b"), (llm, "Meta-Llama-3-8B-Instruct", "llama-3-8b"), (llm, "LLaMA-13B", "llama-13b"),
    (llm, "Llama-3.1-8B", "llama-3.1-8b"), (llm, "Llama-2-7B", "llama-2-7b"), (llm, "Qwen3 8B", "qwen3-8b"),
    (weight_format, "BF16", "f16"), (weight_format, "16", "f16"), (weight_format, "Q4_K_M", "q4_k_m"),
    (weight_format, "q4-k-m", "q4_k_m"), (weight_format, "AWQ", "int4"), (kv_format, "fp8_e4m3", "fp8"),
    (kv_format, "int8_per_token_head", "int8"), (kv_format, "bf16", "f16"), (kv_format, "auto", "f16"),
]
FILE_BYTES = [  # Llama 3.1 8B
    ("f16", 16_060_522_496, "index file, total_size"), ("q8_0", 8.54e9, "GGUF"), ("q6_k", 6.60e9, "GGUF"),
    ("q5_k_m", 5.73e9, "GGUF"), ("q4_k_m", 4.92e9, "GGUF"), ("q4_k_s", 4.69e9, "GGUF"), ("iq4_xs", 4.45e9, "GGUF"),
    ("q2_k", 3.18e9, "GGUF"), ("q3_k_m", 3.74 * 2**30, "quantize --help"), ("q4_0", 4.34 * 2**30, "quantize --help"),
    ("q4_1", 4.78 * 2**30, "quantize --help"), ("q5_0", 5.21 * 2**30, "quantize --help"), ("q5_1", 5.65 * 2**30, "quantize --help"),
    ("fp8", 9.08e9, "RedHatAI's FP8 checkpoint"), ("int4", 5.74e9, "hugging-quants' AWQ checkpoint"),
]
FILES = [  # other models' files, GB, in which the tables of tokens weigh more or less than in Llama 3.1 8B
    ("llama-3.2-1b", "q4_k_m", 0.81, "bartowski's GGUF"), ("llama-3.1-70b", "q4_k_m", 42.52, "bartowski's GGUF"),
    ("qwen2.5-7b", "q4_k_m", 4.68, "Qwen's GGUF"), ("gemma-2-9b", "q4_k_m", 5.76, "bartowski's GGUF"),
    ("llama-3.2-1b", "q8_0", 1.32, "bartowski's GGUF"), ("llama-2-7b", "q4_0", 3.56 * 2**30 / 1e9, "llama-bench: llama 7B Q4_0"),
    ("llama-2-7b", "q8_0", 6.67 * 2**30 / 1e9, "llama-bench: llama 7B Q8_0"), ("llama-2-70b", "q4_0", 38.9, "TheBloke's GGUF: 38.87 GB"),
]
KV_KIB = [  # KiB a token of Llama 3.1 8B
    ("f16", 128, "facts/essay.md"), ("fp8", 64, "facts/engines.md: half"), ("int8", 66, "2 KiB more; measured: 66.04"),
    ("int4", 34, "2 KiB more; measured: 34.02"), ("q8_0", 68, "34 bytes for 32 values"), ("q4_0", 36, "18 bytes for 32"),
]


@pytest.mark.parametrize("name, bandwidth, tflops, size, source", CARDS)
def test_cards(name, bandwidth, tflops, size, source):
    card = gpu(name)
    assert (card.bandwidth_bytes_s, card.peak_flops, card.memory_bytes) == pytest.approx(
        (bandwidth * 1e9, tflops * 1e12, size * 1e9), rel=1e-3), source


@pytest.mark.parametrize("find, written, name", NAMES)
def test_names_as_people_write_them(find, written, name):
    assert find(written).name == name


def test_the_catalogue_holds_what_the_issue_asks_for():
    models, cards = [llm(name) for name in llms()], [gpu(name) for name in gpus()]
    assert len(models) >= 12 and len(cards) >= 14
    assert {card.kind for card in cards} == {"consumer", "workstation", "datacenter", "apple"}
    assert {"NVIDIA", "AMD", "Apple"} == {card.maker for card in cards}
    assert any(x.head_size != x.hidden // x.heads and not x.latent for x in models)
    assert any(0 < x.window_layers < x.layers for x in models) and any(x.latent for x in models)
    assert any(x.experts for x in models) and any(1e9 < x.parameters < 1.5e9 for x in models)
    assert all(record.source for record in [*models, *cards])


RATES = {"consumer": 512, "workstation": 1024}  # dense FP16 operations with FP32 sums a multiprocessor and clock, since Turing


def test_the_arithmetic_of_a_card_is_that_of_its_multiprocessors():
    """Two files say it: the card's own, and chips.toml."""
    chips = tomllib.loads((ROOT / "model/data/engines/chips.toml").read_text(encoding="utf-8"))
    cards = [gpu(name) for name in chips if name in gpus(rare=True) and gpu(name).kind in RATES]
    assert len(cards) > 30
    for card in cards:
        units, ghz, _ = chips[card.name]
        assert card.peak_flops == pytest.approx(units * ghz * 1e9 * RATES[card.kind], rel=0.015), card.name


def test_rare_ones_are_found_and_not_offered():
    for find, names in ((llm, llms), (gpu, gpus)):
        rare = set(names(rare=True)) - set(names())
        assert len(rare) > 20 and set(names()) < set(names(rare=True))
        assert all(find(name).name == name and find(name).source for name in rare)
    with pytest.raises(ValueError, match="known: ") as fault:
        gpu("zzzz")
    assert "rtx-4090" in str(fault.value) and "rtx-2060" not in str(fault.value)


def rarely(names):
    return lambda: names(rare=True)


@pytest.mark.parametrize("find, names", [(llm, rarely(llms)), (gpu, rarely(gpus)), (weight_format, weight_formats),
                                         (kv_format, kv_formats)])
def test_every_name_and_every_other_name_finds_one_record(find, names):
    seen = {}
    for name in names():
        record = find(name)
        assert record.name == name and record.label and record.source
        written = {name, record.label, *record.also} if find in (llm, gpu) else {name}
        for other in written:
            assert find(other).name == name
            assert seen.setdefault(other.lower(), name) == name


def test_every_measured_card_of_one_is_known():
    rows = list(csv.DictReader((ROOT / "model/data/measured/measured.csv").open(encoding="utf-8")))
    plain = {row["gpu"] for row in rows if row["source"] in ("XiongjieDai", "IOG-Foundation", "LLMServingSim bench")}
    assert len(plain) >= 6
    assert all(gpu(name).name for name in plain)


@pytest.mark.parametrize("name, size, source", FILE_BYTES)
def test_weights_are_as_large_as_published_files(name, size, source):
    assert llm("llama-3.1-8b").weights_bytes(weight_format(name)) == pytest.approx(size, rel=0.007), source


@pytest.mark.parametrize("name, weights, size, source", FILES)
def test_the_tables_of_tokens_have_bits_of_their_own(name, weights, size, source):
    assert llm(name).weights_bytes(weight_format(weights)) / 1e9 == pytest.approx(size, rel=0.015), source  # a file holds the vocabulary too


@pytest.mark.parametrize("name, bits", [
    ("q2_k", 3.1593), ("q3_k_s", 3.6429), ("q3_k_l", 4.2979), ("iq4_xs", 4.4597), ("iq4_nl", 4.6818), ("q4_k_s", 4.6672), ("q4_k_m", 4.8944),
    ("q5_k_s", 5.5704), ("q5_k_m", 5.7036), ("q6_k", 6.5633), ("q8_0", 8.5008), ("f16", 16)])
def test_bits_a_weight_of_a_whole_file_are_llama_cpp_s(name, bits):
    x = llm("llama-3.1-8b")
    assert x.weights_bytes(weight_format(name)) * 8 / x.parameters == pytest.approx(bits, abs=2e-4)


@pytest.mark.parametrize("name, kib, source", KV_KIB)
def test_kv_formats(name, kib, source):
    assert llm("llama-3.1-8b").kv_bytes_per_token(kv_format(name)) == kib * 1024, source


def test_experts_alone_can_be_stored_in_few_bits():
    x = llm("gpt-oss-20b")
    stored = x.weights_bytes(weight_format("mxfp4"))
    assert stored == pytest.approx(13.76e9, rel=0.01)  # its published checkpoint
    assert x.weights_bytes(weight_format("f16")) == 2 * x.parameters


@pytest.mark.parametrize("find, wrong, right", [
    (llm, "lama-3.1-8b", "llama-3.1-8b"), (gpu, "rtx-4900", "rtx-4090"), (weight_format, "q4_k_l", "q4_k_m"),
    (kv_format, "q8_1", "q8_0"), (llm, "zzzz", "known:"), (gpu, "", "known:"), (gpu, None, "no card"), (llm, "x" * 5000, "no model")])
def test_unknown_names_are_told_what_is_close(find, wrong, right):
    with pytest.raises(ValueError, match=right) as fault:
        find(wrong)
    assert "\n" not in str(fault.value)
