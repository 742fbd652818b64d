"""The scheduler of a simulated server, after vLLM's V1 (vllm/v1/core/sched/scheduler.py): who is in which pass.

Each pass has a budget of tokens. Those who run come first, in the order in which they were admitted: a token each for those
who decode, the rest of the budget for a prompt begun earlier. Then those who wait, first come first served, as far as budget,
sequence limit and free pages allow; a prompt that is too long for the budget is cut (chunked prefill). When a page is missing,
the request admitted last gives its pages back and goes to the head of the queue, to be computed again; in such a pass nobody
is admitted. The full pages of a prompt that all share are stored once.

Runs of passes in which everybody only decodes are taken in one go: that changes the time it takes, not the answer.
"""

from __future__ import annotations

import heapq
import math
from collections import deque

import numpy as np

from model.journal import Limits, Load, Log


def schedule(load: Load, limits: Limits, pace, most_at_once: int = 4096, until_ms: float = math.inf) -> Log:
    """Serves the load and returns the Log. `pace` gives the times (model.pace); with `most_at_once` of 1, pass by pass.
    The first pass that ends at `until_ms` or later is the last.

    Every request must fit alone: ceil((prompt + output - 1) / page_size) <= total_pages, and its prompt must be longer than
    the shared pages.
    """
    run = _Run(load, limits, pace, most_at_once, until_ms)
    while run.unfinished and run.now < until_ms:
        run.arrive()
        if not run.decode_only():
            run.full_pass()
    run.log.last_pass_of = [run.step - 1 if last is None else last for last in run.log.last_pass_of]
    return run.log


class _Run:
    """The server's state. Pass number `step` is next; somebody who decodes and has `base` holds base + step tokens."""

    def __init__(self, load: Load, limits: Limits, pace, most_at_once: int, until_ms: float):
        self.limits, self.pace, self.most_at_once, self.until_ms = limits, pace, most_at_once, until_ms
        self.arrivals, self.prompts, self.outputs = (a.tolist() for a in (load.arrival_ms, load.prompts, load.outputs))
        self.log = Log(len(self.arrivals))
        self.unfinished, self.next = len(self.arrivals), 0
        self.now, self.step = 0.0, 0
        self.waiting: deque[int] = deque()
        self.base: dict[int, int] = {}                 # those who decode, in the order of their admission
        self.partial: tuple[int, int] | None = None    # a prompt begun: request, tokens computed; always admitted last
        self.finishing: list[tuple[int, int]] = []     # heap of (step after the last token, request)
        self.finish = [-1] * len(self.arrivals)        # that step; an entry of the heap that differs is outdated
        self.written = [0] * len(self.arrivals)
        self.last_ms = [0.0] * len(self.arrivals)      # of those preempted: when their last token was there
        self.held = 0                                  # tokens of those who decode
        self.residues = np.zeros(limits.page_size, dtype=np.int64)  # how many have base = r modulo page_size
        self.own_pages, self.shared = 0, 0             # pages in use, without the shared ones; shared pages stored

    def arrive(self):
        """Queues who has arrived by now; an idle server waits for the next."""
        if not (self.base or self.waiting or self.partial) and self.arrivals[self.next] > self.now:
            self.now = self.arrivals[self.next]
        while self.next < len(self.arrivals) and self.arrivals[self.next] <= self.now:
            self.waiting.append(self.next)
            self.next += 1

    def pages(self, tokens: int) -> int:
        """Pages of one's own for so many tokens."""
        return max(0, -(-tokens // self.limits.page_size) - self.shared)

    def free(self) -> int:
        return self.limits.total_pages - self.shared - self.own_pages

    def new_pages(self) -> int:
        """Pages that those who decode need in the next pass: those whose pages are full."""
        return int(self.residues[-self.step % self.limits.page_size])

    def head(self, budget: int, running: int, free: int) -> tuple[int, int, int] | None:
        """The first in the queue with its cached tokens and the tokens to compute, if it can be admitted."""
        if not self.waiting or budget <= 0 or running >= self.limits.max_seqs:
            return None
        request, cached = self.waiting[0], self.shared * self.limits.page_size
        tokens = min(self.prompts[request] + self.written[request] - cached, budget)
        return (request, cached, tokens) if self.pages(cached + tokens) <= free else None

    def decode_only(self) -> bool:
        """Runs as many passes as nothing but decoding can happen in; False if there is none."""
        users = len(self.base)
        if not users or self.partial or self.head(
                self.limits.max_batched_tokens - users, users, self.free() - self.new_pages()):
            return False
        while self.finish[self.finishing[0][1]] != self.finishing[0][0]:
            heapq.heappop(self.finishing)
        passes = min(self.finishing[0][0] - self.step, self.most_at_once)
        until = self.arrivals[self.next] if self.next < len(self.arrivals) and not self.waiting else math.inf
        until = min(until, self.until_ms)
        if until < math.inf:  # passes only get slower, so the first one's time says how many can be needed
            passes = min(passes, int((until - self.now) / self.pace.decode(users, self.held, 1)[0]) + 1)
        used = self.own_pages + np.cumsum(self.residues[-(self.step + np.arange(passes)) % self.limits.page_size])
        passes = int(np.searchsorted(used, self.limits.total_pages - self.shared, "right"))
        if not passes:
            return False
        pass_ms = self.pace.decode(users, self.held, passes)
        pass_ms[0] += self.now
        end_ms = np.cumsum(pass_ms)
        if until < math.inf:
            passes = min(passes, int(np.searchsorted(end_ms, until)) + 1)
        self.advance(end_ms[:passes], used[:passes])
        return True

    def advance(self, end_ms: np.ndarray, used: np.ndarray, prompt_tokens: int = 0, prompt_offset: float = 0.0):
        """Writes passes down, moves the clock and ends whose reply is complete."""
        users, passes = len(self.base), len(end_ms)
        self.log.add(self.now, end_ms, used + self.shared, users, self.held, prompt_tokens, prompt_offset)
        self.now, self.step = float(end_ms[-1]), self.step + passes
        self.held += users * passes
        self.own_pages = int(used[-1])
        while self.finishing and self.finishing[0][0] <= self.step:
            step, request = heapq.heappop(self.finishing)
            if self.finish[request] == step:
                self.leave(request)
                self.done(request)

    def leave(self, request: int) -> None:
        """Takes back the pages of somebody who decodes."""
        base = self.base.pop(request)
        self.finish[request] = -1
        self.residues[base % self.limits.page_size] -= 1
        self.held -= base + self.step
        self.own_pages -= self.pages(base + self.step)

    def done(self, request: int) -> None:
        self.unfinished -= 1
        self.log.last_pass_of[request], self.log.end_ms_of[request] = self.step - 1, self.now

    def preempt(self) -> None:
        """The request admitted last gives its pages back and waits at the head of the queue."""
        if self.partial:
            request, computed = self.partial
            self.partial = None
            self.own_pages -= self.pages(computed)
        else:
            request = next(reversed(self.base))
            self.written[request] = self.outputs[request] - (self.finish[request] - self.step)
            self.last_ms[request] = self.now
            self.leave(request)
        self.waiting.appendleft(request)
        self.log.preemptions.append((self.step, request))

    def full_pass(self) -> None:
        """One pass by all the rules: those who run, preemption if pages run out, those who wait."""
        before = len(self.log.preemptions)
        while self.new_pages() + self.part()[1] > self.free():
            self.preempt()
        tokens, part_pages = self.part()
        self.own_pages += self.new_pages() + part_pages
        chunks = [(*self.partial, tokens)] if tokens else []
        self.share(chunks)
        if len(self.log.preemptions) == before:
            self.admit(chunks, self.limits.max_batched_tokens - len(self.base) - tokens)
        self.read(chunks)

    def part(self) -> tuple[int, int]:
        """Tokens of the prompt begun earlier that the next pass reads, and pages they need."""
        if not self.partial:
            return 0, 0
        request, computed = self.partial
        left = self.prompts[request] + self.written[request] - computed
        tokens = min(left, self.limits.max_batched_tokens - len(self.base))
        return tokens, self.pages(computed + tokens) - self.pages(computed)

    def admit(self, chunks: list[tuple[int, int, int]], budget: int) -> None:
        """Adds a chunk for each who waits, as far as budget, sequence limit and pages allow."""
        while head := self.head(budget, len(self.base) + len(chunks), self.free()):
            self.waiting.popleft()
            self.own_pages += self.pages(head[1] + head[2])
            budget -= head[2]
            chunks.append(head)
            self.share(chunks)

    def share(self, chunks: list[tuple[int, int, int]]) -> None:
        """The first to compute the shared pages owns them no longer: from now on everybody's prompt begins behind them."""
        if self.shared < self.limits.shared_pages and chunks:
            _, offset, tokens = chunks[-1]
            if offset + tokens >= self.limits.shared_pages * self.limits.page_size:
                self.shared = self.limits.shared_pages
                self.own_pages -= self.shared

    def read(self, chunks: list[tuple[int, int, int]]) -> None:
        """Takes the time of the pass, and gives a first token to those whose prompt is complete."""
        tokens = sum(chunk[2] for chunk in chunks)
        offset = sum(chunk[1] * chunk[2] for chunk in chunks) / tokens if tokens else 0.0
        users = len(self.base)
        pass_ms = (self.pace.mixed(users, self.held, tokens, offset) if tokens
                   else self.pace.decode(users, self.held, 1)[0])
        self.log.chunks.extend((self.step, *chunk) for chunk in chunks)
        self.advance(np.array([self.now + pass_ms]), np.array([self.own_pages]), tokens, offset)
        for request, computed, more in chunks:
            self.computed(request, computed + more)

    def computed(self, request: int, tokens: int) -> None:
        """So many tokens of the request are in the KV cache: it goes on reading, decodes, or is done."""
        if tokens < self.prompts[request] + self.written[request]:
            self.partial = (request, tokens)
            return
        self.partial = None
        self.written[request] += 1
        if self.written[request] == 1:
            self.log.first_pass_of[request], self.log.first_ms[request] = self.step - 1, self.now
        else:
            self.log.resumed_gaps_ms.append(self.now - self.last_ms[request])
        left = self.outputs[request] - self.written[request]
        if left == 0:
            self.own_pages -= self.pages(tokens)
            self.done(request)
            return
        self.base[request] = tokens - self.step
        self.held += tokens
        self.residues[(tokens - self.step) % self.limits.page_size] += 1
        self.finish[request] = self.step + left
        heapq.heappush(self.finishing, (self.step + left, request))
