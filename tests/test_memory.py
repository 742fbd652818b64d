"""What fits on a card: the budget, who fits in it, and its laws."""
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model import gpus, kv_formats, kv_memory, llms, machine, weight_formats

MACHINES = st.builds(machine, llm=st.sampled_from(llms()), gpu=st.sampled_from(gpus()),
                     weights=st.sampled_from(weight_formats()), kv=st.sampled_from(kv_formats()))
FIT = [  # machine, asked, budget_tokens, users_fit
    ({}, {"context": 8192}, 36_769, 4, "facts/essay.md"),
    ({"kv": "fp8"}, {"context": 8192}, 73_539, 8, "half the bytes, twice the tokens"),
    ({}, {"context": 8192, "utilization": 0.9}, 33_107, 4, "(21.6e9 - 16.06e9 - 1.2e9) / 131,072"),
    ({}, {"context": 8192, "overhead_bytes": 0}, 45_924, 5, "(22.08e9 - 16.06e9) / 131,072"),
    ({"gpu": "rtx-4080"}, {"context": 8192}, 0, 0, "16 GB do not hold 16.06 GB of weights"),
    ({"gpu": "rtx-4080", "weights": "q4_k_m"}, {"context": 8192}, 65_667, 8, "4.91 GB of weights"),
    ({"llm": "gemma-3-4b"}, {"context": 8192}, 13_119_473_664 * 8192 // (4096 * (5 * 8192 + 29 * 1024)), 45,
     "29 of 34 layers hold 1,024 tokens at most"),
]


@pytest.mark.parametrize("what, asked, tokens, people, source", FIT)
def test_who_fits(what, asked, tokens, people, source):
    fit = kv_memory(machine(**what), **asked)
    assert (fit.budget_tokens, fit.users_fit) == (tokens, people), source


def test_a_card_too_small_says_how_much_is_missing():
    fit = kv_memory(machine(gpu="rtx-4080"), users=1)
    assert fit.budget_bytes == pytest.approx(16e9 * 0.92 - 16_060_522_496 - 1.2e9)
    assert fit.free_bytes < fit.budget_bytes < 0


@given(MACHINES, st.integers(0, 500), st.integers(1, 200_000))
def test_what_fits_fits_and_one_more_does_not(m, users, context):
    fit = kv_memory(m, users, context)
    assert fit.users_fit * fit.kv_bytes_each <= max(fit.budget_bytes, 0) * (1 + 1e-12)
    assert (fit.users_fit + 1) * fit.kv_bytes_each > fit.budget_bytes * (1 - 1e-12)
    assert fit.used_bytes == pytest.approx(fit.weights_bytes + fit.overhead_bytes + users * fit.kv_bytes_each)
    assert fit.free_bytes == pytest.approx(fit.usable_bytes - fit.used_bytes, abs=1)


@given(MACHINES, st.integers(1, 100_000), st.integers(1, 100_000))
def test_longer_conversations_never_fit_more_people(m, context, more):
    assert kv_memory(m, 1, context + more).users_fit <= kv_memory(m, 1, context).users_fit


def test_arrays_give_what_numbers_give():
    contexts = np.array([512, 8192, 131072])
    many = kv_memory(machine(), np.array([[1], [10]]), contexts)
    assert many.used_bytes.shape == (2, 3)
    assert many.users_fit.tolist() == [kv_memory(machine(), 1, int(c)).users_fit for c in contexts]


@pytest.mark.parametrize("engine", ["vllm-0.8", "vllm-0.19", "llama.cpp"])
def test_an_engine_answers_the_same_questions(engine):
    m = machine(engine=engine)
    assert kv_memory(m).weights_bytes == 16_060_522_496 and kv_memory(m).budget_tokens > 0
    assert kv_memory(m, utilization=0.8).usable_bytes < kv_memory(m).usable_bytes * 0.9
    assert kv_memory(m, overhead_bytes=3e9).overhead_bytes == 3e9


@pytest.mark.parametrize("what, bytes_, source", [
    ({}, 24e9, "facts/essay.md"), ({"engine": "llama.cpp"}, 24 * 2**30, "a card sold as 24 GB has 24 GiB"),
    ({"engine": "vllm-0.19", "gpu": "a100-80gb-sxm"}, 80 * 2**30, "80 GiB"), ({"engine": "llama.cpp", "gpu": "m2-ultra"}, 192 * 2**30, "192 GiB")])
def test_a_server_never_uses_more_than_the_card_has(what, bytes_, source):
    fit = kv_memory(machine(**what))
    assert fit.capacity_bytes == bytes_, source
    assert 0.7 * bytes_ < fit.usable_bytes < bytes_


@pytest.mark.parametrize("engine", ["datasheet", "vllm-0.19"])
@pytest.mark.parametrize("asked, words", [
    ({"users": -1}, "users must be 0 or more"), ({"context": 0}, "context must be 1 or more"), ({"context": -8}, "not -8"),
    ({"utilization": 0}, "utilization must be above 0"), ({"utilization": 1.01}, "at most 1"),
    ({"utilization": -0.5}, "0 or more"), ({"utilization": float("nan")}, "finite"),
    ({"overhead_bytes": -1}, "overhead_bytes must be 0 or more"), ({"overhead_bytes": float("inf")}, "finite")])
def test_bad_numbers_are_refused(engine, asked, words):
    with pytest.raises(ValueError, match=words):
        kv_memory(machine(engine=engine), **asked)
