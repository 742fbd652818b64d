"""The scheduler against rules that nobody here wrote: four small traces, worked out on paper from the published sources.

vLLM: vllm/v1/core/sched/scheduler.py, commit 00024d314514900f361ad072af6931e403b7f589.
  R1 those who run come first, in order, while token_budget > 0: num_new_tokens = min(num_tokens - num_computed, token_budget)
  R2 a page is missing: running.pop() is preempted (_preempt_request frees it, num_computed_tokens = 0, waiting.prepend)
  R3 the waiting are admitted only `if not preempted_reqs`, while token_budget > 0 and len(running) < max_num_running_reqs
  R4 allocate_slots fails: break, first come first served
  R5 get_computed_blocks: full blocks of a known prefix are not computed again; a block is known once it is scheduled
nano-vllm: nanovllm/engine/scheduler.py, commit 06005bd4602e0dc6e4c80e64c159658dbc468fae, block_manager.py, commit
04ed632a637713de653ef94c99834079872dd22e.
  N1 can_append: a new block is needed when len(seq) % block_size == 1, len(seq) with the token to be processed
  N2 no block free: preempt(running.pop()), which deallocates and does waiting.appendleft
  N3 can_allocate: a waiting sequence needs blocks for all its tokens, prompt and reply so far
  N4 postprocess: a sequence ends with its max_tokens-th token and gives its blocks back

In the tables: a chunk is (pass, request, tokens in the cache before, tokens read); pages are those in use in each pass.
"""

import numpy as np
import pytest

from model.journal import Limits, Load
from model.scheduler import schedule


class Steady:
    """Every pass takes 10 ms."""

    def decode(self, users, held, passes):
        return np.full(passes, 10.0)

    def mixed(self, users, held, prompt_tokens, prompt_offset):
        return 10.0


TRACES = {
    # Budget of 6 tokens, pages of 4. Pass 0: r0 reads 4, the budget's other 2 go to r1 (R1, R3). Pass 1: r0 decodes, 5 for r1.
    # Pass 2: r0 decodes and ends, r1 reads its last 2 (first token), 3 are left for r2, which ends. Pass 3: r1 ends.
    "vLLM, a token budget": dict(
        prompts=(4, 9, 3), outputs=(3, 2, 1), limits=Limits(20, 4, 6, 3),
        chunks=[(0, 0, 0, 4), (0, 1, 0, 2), (1, 1, 2, 5), (2, 1, 7, 2), (2, 2, 0, 3)],
        preemptions=[], pages=[1 + 1, 2 + 2, 2 + 3 + 1, 3], last=[2, 3, 2]),
    # 4 pages of 4, budget of 5. Pass 2: r0 holds 2 pages, r1 needs a third: itself is running[-1] and goes (R2); nobody is
    # admitted in that pass (R3). Pass 3: it starts again. Pass 5: r0's ninth token needs a page: r1 goes again, r0 ends.
    "vLLM, a prompt preempted": dict(
        prompts=(4, 12), outputs=(6, 1), limits=Limits(4, 4, 5, 8),
        chunks=[(0, 0, 0, 4), (0, 1, 0, 1), (1, 1, 1, 4), (3, 1, 0, 4), (4, 1, 4, 4), (6, 1, 0, 5), (7, 1, 5, 5), (8, 1, 10, 2)],
        preemptions=[(2, 1), (5, 1)], pages=[2, 4, 2, 3, 4, 3, 2, 3, 3], last=[5, 8]),
    # The first 8 tokens are everybody's: 2 pages of 4. r0 computes them; r1, in the same pass, begins behind them (R5).
    # The limit of 2 keeps r2 out until r1 has gone (R3); it too reads 4 of its 12 tokens only.
    "vLLM, a shared prompt": dict(
        prompts=(10, 9, 12), outputs=(3, 2, 2), limits=Limits(6, 4, 16, 2, shared_pages=2),
        chunks=[(0, 0, 0, 10), (0, 1, 8, 1), (2, 2, 8, 4)],
        preemptions=[], pages=[2 + 1 + 1, 2 + 1 + 1, 2 + 1 + 1, 2 + 2], last=[2, 1, 3]),
    # 4 pages of 4, prompts of 7. Pass 1: len 8, no page needed (N1). Pass 2: len 9: no page is free, r1 goes (N2). Pass 3: r1
    # has 9 tokens and needs 3 pages, 1 is free (N3); r0 ends with its fourth token (N4). Pass 4: r1 reads 9 tokens again.
    "nano-vllm, decode preempted": dict(
        prompts=(7, 7), outputs=(4, 4), limits=Limits(4, 4, 64, 8),
        chunks=[(0, 0, 0, 7), (0, 1, 0, 7), (4, 1, 0, 9)],
        preemptions=[(2, 1)], pages=[4, 4, 3, 3, 3, 3], last=[3, 5]),
}


@pytest.mark.parametrize("most_at_once", [1, 4096])
@pytest.mark.parametrize("name", TRACES)
def test_same_admissions_preemptions_and_pages(name, most_at_once):
    trace = TRACES[name]
    load = Load(np.zeros(len(trace["prompts"])), np.array(trace["prompts"]), np.array(trace["outputs"]))
    log = schedule(load, trace["limits"], Steady(), most_at_once)
    assert log.chunks == trace["chunks"]
    assert log.preemptions == trace["preemptions"]
    assert list(log.pages_used) == trace["pages"]
    assert log.last_pass_of == trace["last"]
