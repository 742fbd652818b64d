"""The cost of a pass on the datasheet's machine, and its laws."""
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model import gpus, kv_formats, llm, llms, machine, pass_cost, weight_formats
from model.machine import engines

MACHINES = st.builds(machine, llm=st.sampled_from(llms()), gpu=st.sampled_from(gpus()),
                     weights=st.sampled_from(weight_formats()), kv=st.sampled_from(kv_formats()))
USERS, TOKENS = st.integers(1, 500), st.integers(0, 200_000)
BY_HAND = [  # machine, pass, ms
    ({}, {"users": 1}, 2 * 8_030_261_248 / 1008e9 * 1e3, "16.06 GB at 1,008 GB/s"),
    ({"gpu": "h100-sxm"}, {"users": 1}, 2 * 8_030_261_248 / 3350e9 * 1e3, "the same at 3,350 GB/s"),
    ({"weights": "q8_0"}, {"users": 1}, (8.5008 * 6_979_588_096 + 8.5 * 1_050_673_152) / 8 / 1008e9 * 1e3, "layers, tables"),
    ({"weights": "fp8"}, {"users": 1}, (6_979_588_096 + 2 * 1_050_673_152) / 1008e9 * 1e3, "the tables stay at 16 bits"),
    ({"kv": "fp8"}, {"users": 8, "context": 4096}, (2 * 8_030_261_248 + 8 * 4096 * 65536) / 1008e9 * 1e3, "64 KiB a token"),
    ({}, {"users": 0, "prompt_tokens": 2000}, 2 * 8_030_261_248 * 2000 / 165.2e12 * 1e3, "arithmetic"),
    ({}, {"users": 0, "prompt_tokens": 1, "prompt_offset": 8192}, (2 * 8_030_261_248 + 131072 * 8192) / 1008e9 * 1e3,
     "what the prompt has left in the KV cache is read too"),
    ({"llm": "mixtral-8x7b", "gpu": "h200"}, {"users": 1}, 2 * 12_879_925_248 / 4800e9 * 1e3, "two of eight experts"),
]


@pytest.mark.parametrize("what, asked, ms, source", BY_HAND)
def test_by_hand(what, asked, ms, source):
    assert pass_cost(machine(**what), **asked).pass_ms == pytest.approx(ms, rel=1e-12), source


def test_many_tokens_touch_all_experts_and_one_touches_its_own():
    m, x = machine(llm="mixtral-8x7b", gpu="h200"), llm("mixtral-8x7b")
    shares = [1 - 0.75 ** n for n in (1, 2, 8)]
    read = pass_cost(m, users=np.array([1, 2, 8])).bytes
    assert read == pytest.approx([2 * (x.parameters - x.expert_parameters * (1 - share)) for share in shares])
    assert pass_cost(m, users=500).bytes == pytest.approx(2 * x.parameters)


@given(MACHINES, USERS, TOKENS, TOKENS, TOKENS)
def test_the_longer_of_two_times_decides(m, users, context, prompt, offset):
    cost = pass_cost(m, users, context, prompt, offset)
    assert cost.pass_ms == max(cost.memory_ms, cost.arithmetic_ms) and cost.overhead_ms == 0
    assert cost.bound_by == ("arithmetic" if cost.arithmetic_ms > cost.memory_ms else "memory")
    assert cost.bytes == pytest.approx(cost.memory_ms * m.gpu.bandwidth_bytes_s / 1e3)
    assert cost.flops == 2.0 * m.llm.active_parameters * (users + prompt)
    assert cost.tokens_per_s == pytest.approx(users * cost.tokens_per_s_each)


@given(MACHINES, USERS, TOKENS, TOKENS, TOKENS, st.integers(1, 1000))
def test_never_faster_with_more_of_anything(m, users, context, prompt, offset, more):
    least = pass_cost(m, users, context, prompt, offset)
    for many in ((users + more, context, prompt, offset), (users, context + more, prompt, offset),
                 (users, context, prompt + more, offset), (users, context, prompt, offset + more)):
        cost = pass_cost(m, *many)
        assert cost.pass_ms >= least.pass_ms and cost.bytes >= least.bytes


@given(MACHINES, st.lists(USERS, min_size=1, max_size=5), st.lists(TOKENS, min_size=1, max_size=5))
def test_arrays_give_what_numbers_give(m, users, contexts):
    grid = pass_cost(m, np.array(users)[:, None], np.array(contexts), 7)
    assert grid.pass_ms.shape == grid.bound_by.shape == grid.flops.shape == (len(users), len(contexts))
    for i, people in enumerate(users):
        for j, context in enumerate(contexts):
            one = pass_cost(m, people, context, 7)
            assert (one.pass_ms, one.bound_by, one.bytes) == (grid.pass_ms[i, j], grid.bound_by[i, j], grid.bytes[i, j])


@pytest.mark.parametrize("engine", engines())
def test_numbers_give_plain_numbers_with_every_engine(engine):
    cost = pass_cost(machine(engine=engine), users=4, context=1000, prompt_tokens=64)
    assert isinstance(cost.pass_ms, float) and isinstance(cost.bytes, float) and isinstance(cost.bound_by, str)
    assert cost.pass_ms >= pass_cost(machine(), users=4, context=1000, prompt_tokens=64).pass_ms


@pytest.mark.parametrize("asked, words", [
    ({"users": -1}, "users must be 0 or more, not -1"), ({"context": -5}, "context must be 0 or more"),
    ({"prompt_tokens": -1}, "prompt_tokens must be"), ({"prompt_offset": -1}, "prompt_offset must be"),
    ({"users": 0}, "a pass needs a token"), ({"users": np.array([1, 0])}, "a pass needs a token"),
    ({"users": float("nan")}, "finite"), ({"context": float("inf")}, "finite"), ({"users": "ten"}, "must be a number"),
    ({"users": 10**400}, "at most 1e\\+15"), ({"context": 1e300}, "at most 1e\\+15"), ({"users": None}, "finite"), ({"context": np.array([3, -4])}, "not -4")])
def test_bad_numbers_are_refused(asked, words):
    with pytest.raises(ValueError, match=words):
        pass_cost(machine(), **{"users": 1, **asked})


@pytest.mark.parametrize("what", [{"engine": "tgi-9"}, {"llm": "nobody"}, {"gpu": "none"}, {"weights": "q9"}, {"kv": "q9"}])
def test_unknown_parts_of_a_machine_are_refused(what):
    with pytest.raises(ValueError, match="is called"):
        machine(**what)
