"""What llama-server and vllm serve really do with their settings: rounding, defaults, command lines."""
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model import gpu, kv_memory, llama_cpp_settings, machine, vllm_settings
from model.settings import vllm_defaults

LLAMA_CPP = [  # ctx, slots, kv_unified, slot_tokens, total_tokens
    (32768, 4, False, 8192, 32768, "facts/engines.md"),
    (8192, 1, False, 8192, 8192, "one slot has it all"),
    (10000, 3, False, 3584, 10752, "10,240, then 3,413.3 up to 3,584"),
    (1000, 4, False, 256, 1024, "1,024, then 256 each"),
    (300, 4, False, 256, 1024, "512, then 128 up to 256: the total grows"),
    (1, 1, False, 256, 256, "no less than 256"),
    (32768, 4, True, 32768, 32768, "--kv-unified: one pool"),
    (32768, None, False, 32768, 32768, "-np left out: four slots, one pool"),
    (0, None, False, 131072, 131072, "-c 0 is the model's own"),
    (0, 4, False, 32768, 131072, "the model's own, split"),
]
DEFAULTS = [  # card, max_num_batched_tokens, max_num_seqs
    ("rtx-4090", 2048, 256), ("a10", 2048, 256), ("l40s", 2048, 256), ("a100-80gb-sxm", 2048, 256),
    ("a100-80gb-pcie", 2048, 256), ("h100-sxm", 8192, 1024), ("h100-pcie", 8192, 1024), ("h200", 8192, 1024),
    ("mi300x", 8192, 1024)]


@pytest.mark.parametrize("ctx, slots, unified, slot_tokens, total, source", LLAMA_CPP)
def test_llama_cpp_rounds_and_splits(ctx, slots, unified, slot_tokens, total, source):
    told = llama_cpp_settings(machine(), ctx, slots, unified)
    assert (told.slot_tokens, told.total_tokens) == (slot_tokens, total), source
    assert told.kv_bytes == total * 131_072


@given(st.integers(1, 300_000), st.integers(1, 256))
def test_llama_cpp_never_gives_less_than_asked_for(ctx, slots):
    told = llama_cpp_settings(machine(), ctx, slots)
    assert told.total_tokens == told.slot_tokens * slots >= ctx
    assert told.slot_tokens % 256 == 0
    assert told.total_tokens < ctx + 256 * (slots + 1)


@pytest.mark.parametrize("what, asked, mib, source", [
    ({}, {"ctx": 8192, "slots": 1}, 1024, "facts/engines.md: 1,024 MiB at 8,192 tokens"),
    ({"kv": "q8_0"}, {"ctx": 8192, "slots": 1}, 544, "34 bytes for 32 values"),
    ({"llm": "gemma-3-4b"}, {"ctx": 8192, "slots": 1}, (5 * 8192 + 29 * 1536) * 4096 / 2**20, "window 1,024 + 512 of -ub"),
    ({"llm": "gemma-3-4b"}, {"ctx": 8192, "slots": 4}, (5 * 8192 + 29 * 1536 * 4) * 4096 / 2**20, "a window cache a slot"),
    ({"llm": "gemma-3-4b"}, {"ctx": 8192}, (5 * 8192 + 29 * 4608) * 4096 / 2**20, "one for four slots: 4 x 1,024 + 512"),
    ({"llm": "mistral-7b-v0.1"}, {"ctx": 8192, "slots": 1}, 1024, "run without its window"),
])
def test_llama_cpp_kv_bytes(what, asked, mib, source):
    assert llama_cpp_settings(machine(**what), **asked).kv_bytes / 2**20 == mib, source


@pytest.mark.parametrize("what, asked, command", [
    ({}, {"ctx": 32768, "slots": 4}, "llama-server -m llama-3.1-8b-F16.gguf -c 32768 -np 4 --metrics"),
    ({"weights": "q4_k_m", "kv": "q8_0"}, {"kv_unified": True, "slots": 2},
     "llama-server -m llama-3.1-8b-Q4_K_M.gguf -c 0 -np 2 --kv-unified -ctk q8_0 -ctv q8_0 --metrics"),
])
def test_llama_cpp_command(what, asked, command):
    told = llama_cpp_settings(machine(**what), **asked)
    assert told.command == command
    flags = " ".join(effect.flag for effect in told.effects)
    assert all(word in flags for word in command.split() if word.startswith("-") and word != "-m")


def test_llama_cpp_says_whether_it_fits():
    assert llama_cpp_settings(machine(), 32768, 4).fits
    assert not llama_cpp_settings(machine(), 65536, 4).fits


@pytest.mark.parametrize("what, asked, most_ctx, most_slots, source", [
    ({}, (81_920, 10), 51_200, 6, "24e9 - 2 x 8,030,261,248 - 1.2e9 = 6,739,477,504 bytes, 51,418 tokens: ten of 5,120, six of 8,192"),
    ({}, (81_920, None), 51_200, 0, "one pool of 51,418 tokens, in whole 256"),
    ({}, (8192, 1), 51_200, 6, "the same"),
    ({"llm": "llama-3.1-70b"}, (8192, 1), 0, 0, "141 GB on 24"),
    ({"gpu": "h200", "kv": "q8_0"}, (8192, 1), 131_072, 216, "one slot holds no more than the model's own longest; 123,739,477,504 / (8,192 x 69,632) = 216.9"),
])
def test_llama_cpp_says_what_would_fit(what, asked, most_ctx, most_slots, source):
    told = llama_cpp_settings(machine(**what), *asked)
    assert (told.most_ctx, told.most_slots) == (most_ctx, most_slots), source


@given(st.integers(1, 300_000), st.integers(1, 64), st.booleans(), st.sampled_from(["llama-3.1-8b", "gemma-3-4b"]))
def test_what_would_fit_fits_and_no_more_does(ctx, slots, unified, llm):
    m = machine(llm)
    told = llama_cpp_settings(m, ctx, slots, unified)
    step = 256 if unified else 256 * slots
    if told.most_ctx:
        assert llama_cpp_settings(m, told.most_ctx, slots, unified).fits
    if told.most_ctx < m.llm.max_context * (1 if unified else slots):
        assert not llama_cpp_settings(m, told.most_ctx + step, slots, unified).fits
    assert told.fits == (told.most_slots >= (1 if unified and llm == "llama-3.1-8b" else slots)) or told.most_slots == 256


@pytest.mark.parametrize("what, asked, tokens, concurrency, source", [
    ({}, {"max_model_len": 8192}, 36_768, 4.48828125, "36,769 tokens in whole blocks of 16"),
    ({}, {"max_model_len": 8192, "utilization": 0.9}, 33_104, 33_104 / 8192, "33,107 in whole blocks"),
    ({"kv": "fp8"}, {"max_model_len": 8192}, 73_536, 73_536 / 8192, "half the bytes"),
    ({}, {}, 36_768, 36_768 / 131_072, "the model's own length does not fit"),
])
def test_vllm_kv_tokens(what, asked, tokens, concurrency, source):
    told = vllm_settings(machine(**what), **asked)
    assert (told.kv_tokens, told.max_concurrency) == (tokens, pytest.approx(concurrency)), source
    assert told.kv_tokens == told.kv_blocks * 16
    assert told.starts == (told.max_concurrency >= 1)


@given(st.integers(1, 131_072), st.sampled_from(["datasheet", "vllm-0.8", "vllm-0.19"]))
def test_vllm_is_what_the_memory_says(length, engine):
    m = machine(engine=engine)
    told = vllm_settings(m, length)
    assert 0 <= kv_memory(m, context=length).budget_tokens - told.kv_tokens < 16


@pytest.mark.parametrize("card, batched, seqs", DEFAULTS)
def test_vllm_defaults(card, batched, seqs):
    assert vllm_defaults(gpu(card)) == (batched, seqs)


@pytest.mark.parametrize("what, asked, command", [
    ({}, {}, "vllm serve meta-llama/Llama-3.1-8B"),
    ({"kv": "fp8"}, {"max_model_len": 8192, "max_num_seqs": 64, "utilization": 0.9},
     "vllm serve meta-llama/Llama-3.1-8B --max-model-len 8192 --max-num-seqs 64 --gpu-memory-utilization 0.9"
     " --kv-cache-dtype fp8"),
    ({"weights": "fp8", "kv": "int8"}, {},
     "vllm serve meta-llama/Llama-3.1-8B --quantization fp8 --kv-cache-dtype int8_per_token_head"),
])
def test_vllm_command(what, asked, command):
    told = vllm_settings(machine(**what), **asked)
    assert told.command == command
    flags = " ".join(effect.flag for effect in told.effects)
    assert all(word in flags for word in command.split() if word.startswith("--"))


@pytest.mark.parametrize("settings, what, asked, words", [
    (llama_cpp_settings, {}, {"ctx": -1}, "ctx is -1"), (llama_cpp_settings, {}, {"slots": 0}, "slots is 0"),
    (llama_cpp_settings, {}, {"slots": 257}, "slots is 257"), (llama_cpp_settings, {}, {"ctx": 1.5}, "whole number"),
    (llama_cpp_settings, {"weights": "fp8"}, {}, "llama.cpp does not read fp8"),
    (llama_cpp_settings, {"kv": "int4"}, {}, "llama.cpp does not read int4"),
    (vllm_settings, {"weights": "q4_k_m"}, {}, "vLLM does not read q4_k_m"),
    (vllm_settings, {}, {"max_model_len": 131_073}, "max_model_len is 131073"),
    (vllm_settings, {}, {"max_model_len": 0}, "max_model_len is 0"), (vllm_settings, {}, {"max_num_seqs": 0}, "max_num_seqs"),
    (vllm_settings, {}, {"utilization": 2}, "utilization must be"),
])
def test_bad_settings_are_refused(settings, what, asked, words):
    with pytest.raises(ValueError, match=words):
        settings(machine(**what), **asked)
