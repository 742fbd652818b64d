"""Every number of the essay, in one table: what it is, how the model is asked, the number, how exact, and its source.

All are of the datasheet's machine (Llama 3.1 8B at 16 bits on an RTX 4090) unless the row says otherwise. A number that is
printed with so many digits must round to them: `within` is half of its last digit, 0 for whole numbers of things."""
import pytest

from model import (batch, chunked_prefill, gpu, kv_memory, llama_cpp_settings, llm, machine, pages, pass_cost, prefill_decode,
                   speculate, vllm_settings)
from model.speculation import expected_tokens

M = machine()
ESSAY, ENGINES = "facts/essay.md", "facts/engines.md"
LEVIATHAN = "Leviathan et al., ICML 2023, equation 1"


def decode(users, context):
    return pass_cost(M, users=users, context=context)


def read(tokens):
    return pass_cost(M, users=0, prompt_tokens=tokens)


def speedup(users):
    return speculate(M, guesses=4, acceptance=0.8, users=users, context=256).speedup


def all_fit(count):
    return kv_memory(M, users=count, context=8192).free_bytes >= 0


CHUNKED = chunked_prefill(M, document=8192, chunk=256, users=9, context=2048)
NUMBERS = [
    # what, asked, number, within, source
    ("parameters", lambda: M.llm.parameters, 8_030_261_248, 0, ESSAY),
    ("layers", lambda: M.llm.layers, 32, 0, ESSAY),
    ("query heads", lambda: M.llm.heads, 32, 0, ESSAY),
    ("KV heads", lambda: M.llm.kv_heads, 8, 0, ESSAY),
    ("head size", lambda: M.llm.head_size, 128, 0, ESSAY),
    ("hidden size", lambda: M.llm.hidden, 4096, 0, ESSAY),
    ("vocabulary", lambda: M.llm.vocabulary, 128_256, 0, ESSAY),
    ("bandwidth, GB/s", lambda: M.gpu.bandwidth_bytes_s / 1e9, 1008, 0, ESSAY),
    ("peak, TFLOPS", lambda: M.gpu.peak_flops / 1e12, 165.2, 1e-9, ESSAY),
    ("memory, GB", lambda: M.gpu.memory_bytes / 1e9, 24, 0, ESSAY),
    ("weights, GB", lambda: M.llm.weights_bytes(M.weights) / 1e9, 16.06, 0.005, ESSAY),
    ("one decode pass, ms", lambda: decode(1, 0).pass_ms, 15.93, 0.005, ESSAY),
    ("one person, tokens/s", lambda: decode(1, 0).tokens_per_s, 62.8, 0.05, ESSAY),
    ("prefill of 2,000, ms", lambda: read(2000).pass_ms, 194, 0.5, ESSAY),
    ("prefill of 2,000 is bound by", lambda: read(2000).bound_by, "arithmetic", None, ESSAY),
    ("the Trace's prefill, ms", lambda: prefill_decode(M, 2000, 20).end_ms[0], 194, 0.5, ESSAY),
    ("the Trace's decode pass, ms", lambda: prefill_decode(M, 10, 2).pass_ms[1], 15.9, 0.05, ESSAY),
    ("decode costs so many prefill tokens", lambda: decode(1, 0).pass_ms / (read(8192).pass_ms / 8192), 164, 0.5, ESSAY),
    ("KV cache a token, bytes", lambda: kv_memory(M).kv_bytes_per_token, 131_072, 0, ESSAY),
    ("KV cache a token, KiB", lambda: kv_memory(M).kv_bytes_per_token / 2**10, 128, 0, ESSAY),
    ("8,192 tokens, GiB", lambda: kv_memory(M, context=8192).kv_bytes_each / 2**30, 1.00, 0, ESSAY),
    ("8,192 tokens, GB", lambda: kv_memory(M, context=8192).kv_bytes_each / 1e9, 1.07, 0.005, ESSAY),
    ("budget, tokens", lambda: kv_memory(M).budget_tokens, 36_769, 0, ESSAY),
    ("overhead, bytes", lambda: kv_memory(M).overhead_bytes, 1.2e9, 0, ESSAY),
    ("people with 8,192 tokens who fit", lambda: kv_memory(M, context=8192).users_fit, 4, 0, ESSAY),
    ("four fit", lambda: all_fit(4), True, None, ESSAY),
    ("ten fit", lambda: all_fit(10), False, None, ESSAY),
    ("static steps", lambda: batch().static.steps, 84, 0, ESSAY),
    ("continuous steps", lambda: batch().continuous.steps, 58, 0, ESSAY),
    ("slots by default", lambda: batch().static.slots, 4, 0, ESSAY),
    ("chats that fit reserved", lambda: pages(M).reserved_fit, 4, 0, ESSAY),
    ("chats that fit paged", lambda: pages(M).paged_fit, 10, 0, ESSAY),
    ("wasted by reservation", lambda: pages(M).waste_reserved, 0.70, 0.10, ESSAY + ": 60 to 80%, vLLM's launch post"),
    ("useful with pages", lambda: 1 - pages(M).waste_paged, 0.98, 0.02, ESSAY + ": 96.3% in the PagedAttention paper"),
    ("stall of 8,192 tokens, ms", lambda: CHUNKED.stall_ms, 796, 0.5, ESSAY),
    ("8,192 tokens in a pass, ms", lambda: read(8192).pass_ms, 796, 0.5, ESSAY),
    ("8,192 tokens are bound by", lambda: read(8192).bound_by, "arithmetic", None, ESSAY),
    ("a pass without a chunk, ms", lambda: CHUNKED.pass_ms, 18.3, 0.05, ESSAY),
    ("a pass with a chunk, ms", lambda: CHUNKED.pass_ms_with_chunk, 25.8, 0.05, ESSAY),
    ("the document in chunks, ms", lambda: CHUNKED.document_ms, 824, 0.5, ESSAY + ": 32 x 25.8"),
    ("draft's parameters", lambda: llm("llama-3.2-1b").parameters, 1_235_814_400, 0, ESSAY),
    ("draft's layers", lambda: llm("llama-3.2-1b").layers, 16, 0, ESSAY),
    ("draft's KV heads", lambda: llm("llama-3.2-1b").kv_heads, 8, 0, ESSAY),
    ("draft's head size", lambda: llm("llama-3.2-1b").head_size, 64, 0, ESSAY),
    ("tokens a check yields, a 0.8, k 4", lambda: expected_tokens(4, 0.8), (1 - 0.8**5) / (1 - 0.8), 1e-12, LEVIATHAN),
    ("tokens a check yields, a 1, k 4", lambda: expected_tokens(4, 1.0), 5, 0, LEVIATHAN + ", its limit"),
    ("tokens a check yields, a 0, k 4", lambda: expected_tokens(4, 0.0), 1, 0, LEVIATHAN),
    ("speed-up with one person", lambda: speedup(1), 2.08, 0.005, ESSAY),
    ("guessing still helps 96", lambda: speedup(96) > 1, True, None, ESSAY),
    ("guessing hurts 128", lambda: speedup(128) < 1, True, None, ESSAY),
    ("break-even, people", lambda: speculate(M).break_even_users, 112, 16, ESSAY + ": between 96 and 128"),
    ("ten at 2,048 tokens, ms", lambda: decode(10, 2048).pass_ms, 18.60, 0.005, ESSAY),
    ("ten at 2,048 tokens, each", lambda: decode(10, 2048).tokens_per_s_each, 53.8, 0.05, ESSAY),
    ("ten at 2,048 tokens, together", lambda: decode(10, 2048).tokens_per_s, 538, 0.5, ESSAY),
    ("ten at 2,048 tokens are bound by", lambda: decode(10, 2048).bound_by, "memory", None, ESSAY),
    ("the naive guess, each", lambda: decode(1, 0).tokens_per_s / 10, 6.3, 0.05, ESSAY),
    ("ten against one person", lambda: decode(10, 2048).tokens_per_s / decode(1, 0).tokens_per_s, 8.6, 0.05, ESSAY),
    ("llama.cpp, -c 32768 -np 4: a slot", lambda: llama_cpp_settings(M, 32768, 4).slot_tokens, 8192, 0, ENGINES),
    ("llama.cpp, KV of 8,192 tokens, MiB", lambda: llama_cpp_settings(M, 8192, 1).kv_bytes / 2**20, 1024, 0, ENGINES),
    ("vLLM, KV tokens in blocks", lambda: vllm_settings(M, 8192).kv_tokens, 36_769 // 16 * 16, 0, ENGINES),
    ("vLLM, tokens a pass on 24 GB", lambda: vllm_settings(M, 8192).max_num_batched_tokens, 2048, 0, ENGINES),
    ("vLLM, conversations a pass on 24 GB", lambda: vllm_settings(M, 8192).max_num_seqs, 256, 0, ENGINES),
    ("pages shared by a prompt of 15", lambda: pages(M, shared=15).shared_pages, 0, 0, ENGINES),
    ("pages shared by a prompt of 16", lambda: pages(M, shared=16).shared_pages, 1, 0, ENGINES),
    ("pages shared by a prompt of 100", lambda: pages(M, shared=100).shared_pages, 6, 0, ENGINES),
    ("int8 with scales, KiB a token more", lambda: kv_memory(machine(kv="int8")).kv_bytes_per_token / 2**10 - 64, 2, 0, ENGINES),
    ("int4 with scales, KiB a token more", lambda: kv_memory(machine(kv="int4")).kv_bytes_per_token / 2**10 - 32, 2, 0, ENGINES),
    ("balance of the card, operations a byte", lambda: gpu("rtx-4090").peak_flops / 1008e9, 164, 0.5, ESSAY),
]


@pytest.mark.parametrize("what, asked, number, within, source", NUMBERS, ids=[row[0] for row in NUMBERS])
def test_number(what, asked, number, within, source):
    found = asked()
    assert found == (number if within is None else pytest.approx(number, abs=within, rel=0)), f"{what}: {source}"
