"""The quick scheduler against a plain one that follows vLLM's rules page by page, and the laws of any schedule."""

import numpy as np
from hypothesis import given, settings, strategies as st

from model.journal import Limits, Load
from model.scheduler import schedule


class Pace:
    """Time grows with everything, in odd numbers so that no pass ends exactly when somebody arrives."""

    def decode(self, users, held, passes):
        return 7.13 + 0.11 * users + 0.0007 * (held + users * np.arange(passes))

    def mixed(self, users, held, prompt_tokens, prompt_offset):
        return 7.13 + 0.11 * users + 0.0007 * held + 0.013 * prompt_tokens + 0.0003 * prompt_offset


class Plain:
    """vLLM's loop as it is written (vllm/v1/core/sched/scheduler.py and block_pool.py): lists, one page at a time, LRU."""

    def __init__(self, load, limits, pace):
        self.limits, self.pace, self.now, self.step = limits, pace, 0.0, 0
        self.requests = [dict(id=i, arrival=a, prompt=p, output=o, written=0, computed=0, pages=[])
                         for i, (a, p, o) in enumerate(zip(*(x.tolist() for x in (load.arrival_ms, load.prompts, load.outputs))))]
        self.free, self.users_of, self.known = list(range(limits.total_pages)), {}, {}
        self.running, self.waiting = [], []
        self.chunks, self.preemptions, self.pages_used, self.end_ms, self.token_ms = [], [], [], [], {}

    def touch(self, page):
        if not self.users_of.get(page):
            self.free.remove(page)
        self.users_of[page] = self.users_of.get(page, 0) + 1

    def allocate(self, r, tokens):
        size = self.limits.page_size
        missing = -(-tokens // size) - len(r["pages"])
        if missing > len(self.free):
            return False
        for _ in range(missing):
            page = self.free[0]
            self.known = {prefix: p for prefix, p in self.known.items() if p != page}
            self.touch(page)
            r["pages"].append(page)
        for prefix in range(min(self.limits.shared_pages, tokens // size)):
            self.known.setdefault(prefix, r["pages"][prefix])
        return True

    def release(self, r):
        for page in reversed(r["pages"]):
            self.users_of[page] -= 1
            if not self.users_of[page]:
                self.free.append(page)
        r["pages"], r["computed"] = [], 0

    def one_pass(self):
        budget, scheduled, preempted, i = self.limits.max_batched_tokens, [], False, 0
        while i < len(self.running) and budget > 0:
            r = self.running[i]
            new = min(r["prompt"] + r["written"] - r["computed"], budget)
            while not (fits := self.allocate(r, r["computed"] + new)):
                victim, preempted = self.running.pop(), True
                self.release(victim)
                self.waiting.insert(0, victim)
                self.preemptions.append((self.step, victim["id"]))
                if victim is r:
                    break
            if not fits:
                break
            scheduled.append((r, new))
            budget, i = budget - new, i + 1
        while not preempted and self.waiting and budget > 0 and len(self.running) < self.limits.max_seqs:
            r = self.waiting[0]
            cached = []
            while len(cached) < (r["prompt"] + r["written"] - 1) // self.limits.page_size and len(cached) in self.known:
                cached.append(self.known[len(cached)])
            tokens = len(cached) * self.limits.page_size
            new = min(r["prompt"] + r["written"] - tokens, budget)
            wanted = -(-(tokens + new) // self.limits.page_size) - len(cached)
            if wanted > len(self.free) - sum(not self.users_of.get(page) for page in cached):
                break
            for page in cached:
                self.touch(page)
            r["pages"], r["computed"], r["reading"] = cached, tokens, True
            assert self.allocate(r, tokens + new)
            self.running.append(self.waiting.pop(0))
            scheduled.append((r, new))
            budget -= new
        self.take_time(scheduled)

    def take_time(self, scheduled):
        decoding = [r for r, _ in scheduled if not r["reading"]]
        chunks = [(r, new) for r, new in scheduled if r["reading"]]
        tokens, held = sum(new for _, new in chunks), sum(r["computed"] for r in decoding)
        offset = sum(r["computed"] * new for r, new in chunks) / tokens if tokens else 0.0
        self.chunks += [(self.step, r["id"], r["computed"], new) for r, new in chunks]
        self.now += (self.pace.mixed(len(decoding), held, tokens, offset) if tokens
                     else self.pace.decode(len(decoding), held, 1)[0])
        self.end_ms.append(self.now)
        self.pages_used.append(self.limits.total_pages - len(self.free))
        for r, new in scheduled:
            r["computed"] += new
            if r["computed"] == r["prompt"] + r["written"]:
                r["written"], r["reading"] = r["written"] + 1, False
                self.token_ms.setdefault(r["id"], []).append(self.now)
                if r["written"] == r["output"]:
                    self.release(r)
                    self.running.remove(r)
        self.step += 1

    def run(self):
        left = list(self.requests)
        while left or self.waiting or self.running:
            if not self.waiting and not self.running:
                self.now = max(self.now, left[0]["arrival"])
            while left and left[0]["arrival"] <= self.now:
                self.waiting.append(left.pop(0))
            self.one_pass()
        return self


@st.composite
def cases(draw):
    """Loads and limits small enough for pages to run out often, and such that every request fits alone."""
    count, page_size = draw(st.integers(1, 12)), draw(st.sampled_from([1, 2, 3, 4, 16]))
    shared = draw(st.integers(0, 3))
    prompts = np.array(draw(st.lists(st.integers(1, 40), min_size=count, max_size=count))) + shared * page_size
    outputs = np.array(draw(st.lists(st.integers(1, 30), min_size=count, max_size=count)))
    gaps = draw(st.lists(st.floats(0, 90), min_size=count, max_size=count))
    least = int(np.max(-(-(prompts + outputs - 1) // page_size)))
    limits = Limits(least + draw(st.integers(0, least)), page_size, draw(st.integers(1, 60)), draw(st.integers(1, 8)), shared)
    return Load(np.cumsum(gaps), prompts, outputs), limits


@settings(deadline=None, max_examples=300)
@given(cases())
def test_the_same_as_the_plain_scheduler(case):
    load, limits = case
    log, plain = schedule(load, limits, Pace()), Plain(load, limits, Pace()).run()
    assert log.chunks == plain.chunks
    assert log.preemptions == plain.preemptions
    assert list(log.pages_used) == plain.pages_used
    assert np.allclose(log.end_ms, plain.end_ms, rtol=1e-12)
    assert np.allclose(log.first_ms, [plain.token_ms[i][0] for i in range(len(load.prompts))], rtol=1e-12)
    assert np.allclose(log.end_ms_of, [plain.token_ms[i][-1] for i in range(len(load.prompts))], rtol=1e-12)
    assert [len(plain.token_ms[i]) for i in range(len(load.prompts))] == load.outputs.tolist()


@settings(deadline=None, max_examples=300)
@given(cases())
def test_many_passes_at_once_change_nothing(case):
    load, limits = case
    one, many = schedule(load, limits, Pace(), 1), schedule(load, limits, Pace())
    for name in ("chunks", "preemptions", "first_pass_of", "last_pass_of", "first_ms", "end_ms_of", "resumed_gaps_ms"):
        assert getattr(one, name) == getattr(many, name), name
    assert one.end_ms == many.end_ms and one.pages_used == many.pages_used


@settings(deadline=None, max_examples=200)
@given(cases())
def test_budget_limit_and_pages_are_kept(case):
    load, limits = case
    log = schedule(load, limits, Pace(), 1)
    reading = np.bincount([chunk[0] for chunk in log.chunks], minlength=len(log.end_ms))
    assert np.all(np.array(log.users) + np.array(log.prompt_tokens) <= limits.max_batched_tokens)
    assert np.all(np.array(log.users) + reading <= limits.max_seqs)
    assert max(log.pages_used) <= limits.total_pages
    preempted = {request for _, request in log.preemptions}
    for request, prompt in enumerate(load.prompts):
        mine = [chunk for chunk in log.chunks if chunk[1] == request]
        offset = mine[0][2]
        assert offset in (0, limits.shared_pages * limits.page_size)
        if request not in preempted:
            assert offset + sum(tokens for *_, tokens in mine) == prompt, "a chunked prompt is read once"
