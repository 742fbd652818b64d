"""The quick pace of a simulated server gives pass_cost's own times."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from model.machine import engines, machine
from model.pace import Line, Table, pace
from model.passes import clock, pass_cost

MACHINES = [("llama-3.1-8b", "datasheet", Line), ("llama-3.2-1b", "datasheet", Line),
            ("mixtral-8x7b", "datasheet", Table), ("gemma-3-12b", "datasheet", Table), ("llama-3.1-8b", "vllm-0.19", Table),
            ("llama-3.1-8b", "vllm-0.8", Table), ("gemma-3-12b", "llama.cpp", Table)]

BENT = {("mixtral-8x7b", "datasheet"), ("gemma-3-12b", "datasheet")}  # where arithmetic takes over is not known beforehand


@pytest.mark.parametrize("engine", engines())
@settings(deadline=None, max_examples=40)
@given(users=st.integers(0, 300), context=st.integers(0, 100_000), prompt=st.integers(1, 8192), offset=st.integers(0, 50_000),
       llm=st.sampled_from(["llama-3.1-8b", "gemma-3-12b", "mixtral-8x7b", "deepseek-v2-lite"]))
def test_the_clock_is_pass_cost_unchecked(engine, users, context, prompt, offset, llm):
    """But for rounding, as numbers and as arrays."""
    m = machine(llm, gpu="h100-sxm", engine=engine)
    expected = pass_cost(m, users, context, prompt, offset).pass_ms
    assert float(clock(m)(float(users), float(context), float(prompt), float(offset))) == pytest.approx(expected, rel=1e-13)
    together = clock(m)(np.full(3, float(users)), float(context), float(prompt), float(offset))
    assert together == pytest.approx(np.full(3, expected), rel=1e-13)


@pytest.mark.parametrize("llm, engine, kind", MACHINES)
def test_which_pace(llm, engine, kind):
    assert type(pace(machine(llm, engine=engine), 4000)) is kind


@pytest.mark.parametrize("llm, engine, kind", MACHINES)
@settings(deadline=None, max_examples=80)
@given(users=st.integers(1, 300), context=st.integers(0, 3000), passes=st.integers(1, 900))
def test_decode(llm, engine, kind, users, context, passes):
    m = machine(llm, engine=engine)
    expected = pass_cost(m, users=users, context=context + np.arange(passes)).pass_ms
    exact = 1.5e-3 if (llm, engine) in BENT else 1e-12
    assert pace(m, 4000).decode(users, users * context, passes) == pytest.approx(np.atleast_1d(expected), rel=exact)


@pytest.mark.parametrize("llm, engine, kind", MACHINES)
@settings(deadline=None, max_examples=80)
@given(users=st.integers(0, 300), context=st.integers(0, 3000), prompt=st.integers(1, 8192), offset=st.integers(0, 5000))
def test_mixed(llm, engine, kind, users, context, prompt, offset):
    m = machine(llm, engine=engine)
    expected = pass_cost(m, users=users, context=context, prompt_tokens=prompt, prompt_offset=offset).pass_ms
    assert pace(m, 4000).mixed(users, users * context, prompt, offset) == pytest.approx(expected, rel=1e-12)
