"""KV memory handed out two ways: a reservation of the longest chat each, or pages when they are needed, anywhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from model.limits import whole, wholes
from model.machine import Machine
from model.memory import kv_memory

CHATS = (3100, 1400, 2600, 3900, 900, 2200, 4800, 1700, 3400, 2000)
FREE, SHARED = -1, -2


@dataclass(frozen=True)
class Pages:
    """Chats that grow side by side until they are complete and then leave, the shortest first. C chats, F frames.

    `chats` (C,) and `budget_tokens` are tokens; `total_pages` pages of `page_size` tokens make up the memory.
    `reserved_fit` and `paged_fit`: how many chats fit, in the order asked for; only those take part in the frames.
    `waste_reserved`, `waste_paged`: share of the memory handed out, at full length, that holds no token, 0 to 1.
    `fragmentation_tokens`: places left empty in the last pages; `unreservable_tokens`: memory that is left over but too
    small for one more reservation. `shared_pages`: pages of the shared prompt stored once; `saved_pages`: what that saves.
    `reserved_tokens`, `paged_tokens` (F, C): tokens each chat holds in a frame, 0 before and after.
    `owner` (N,): which chat, or SHARED, ever gets physical page p; FREE pages of the memory's end are left out.
    `from_frame`, `until_frame` (N,): the page is in use in frames from <= f < until.
    `tables`: for each chat that fits, its physical pages in the order of its tokens.
    """

    page_size: int
    longest: int
    shared: int
    chats: np.ndarray
    budget_tokens: int
    total_pages: int
    reserved_fit: int
    paged_fit: int
    waste_reserved: float
    waste_paged: float
    fragmentation_tokens: int
    unreservable_tokens: int
    shared_pages: int
    saved_pages: int
    reserved_tokens: np.ndarray
    paged_tokens: np.ndarray
    owner: np.ndarray
    from_frame: np.ndarray
    until_frame: np.ndarray
    tables: tuple[np.ndarray, ...]

    @property
    def frames(self) -> int:
        """F, the number of frames."""
        return len(self.paged_tokens)

    def page_owners(self) -> np.ndarray:
        """(F, N) int16: who holds each physical page in each frame: a chat's number, SHARED, or FREE."""
        frame = np.arange(self.frames)[:, None]
        used = (self.from_frame <= frame) & (frame < self.until_frame)
        return np.where(used, self.owner, FREE).astype(np.int16)

    def pages_used(self) -> np.ndarray:
        """(F,) pages in use in each frame."""
        turns = np.bincount(self.from_frame, minlength=self.frames + 1)
        return np.cumsum(turns - np.bincount(self.until_frame, minlength=self.frames + 1))[:self.frames]


def pages(m: Machine, page_size: int = 16, longest: int = 8192, chats: tuple[int, ...] = CHATS, shared: int = 0,
          utilization: float | None = None, overhead_bytes: float | None = None, frames: int = 120) -> Pages:
    """Hands the KV memory of `m` to `chats` (tokens of each when complete), reserved and paged.

    Every chat begins with the same system prompt of `shared` tokens; only its full pages are stored once (vLLM's prefix
    caching: 15 tokens share nothing, 100 share six pages of 16). A reservation shares nothing.
    The chats grow together, a token each, in `frames` frames; then one chat leaves in each further frame.
    ValueError if a chat is longer than `longest`, or any number is out of range.
    """
    page_size, longest = whole("page_size", page_size, 1, 1_000_000), whole("longest", longest, 1)
    chats, shared = wholes("chats", chats, 1, longest), whole("shared", shared, 0)
    frames = whole("frames", frames, 1, 10_000)
    budget = kv_memory(m, context=longest, utilization=utilization, overhead_bytes=overhead_bytes).budget_tokens
    total = budget // page_size
    tokens = np.array(chats)
    common = np.minimum(tokens, shared) // page_size
    own = -(-tokens // page_size) - common
    needed = np.cumsum(own) + np.maximum.accumulate(common)
    paged_fit = int(np.sum(needed <= total))
    reserved_fit = min(len(chats), budget // longest)
    reserved_tokens = _grow(tokens[:reserved_fit], len(chats), frames)
    paged_tokens = _grow(tokens[:paged_fit], len(chats), frames)
    owner, needed_at, tables = _allocate(tokens[:paged_fit], common[:paged_fit], page_size)
    begin, end = _use(owner, needed_at, paged_tokens, common[:paged_fit], tables)
    handed_out = len(owner) * page_size
    stored = int(tokens[:paged_fit].sum() - _saved(common[:paged_fit]) * page_size)
    return Pages(
        page_size, longest, shared, tokens, budget, total, reserved_fit, paged_fit,
        waste_reserved=1 - int(tokens[:reserved_fit].sum()) / (reserved_fit * longest) if reserved_fit else 0.0,
        waste_paged=1 - stored / handed_out if handed_out else 0.0,
        fragmentation_tokens=handed_out - stored,
        unreservable_tokens=0 if reserved_fit == len(chats) else budget - reserved_fit * longest,
        shared_pages=int(common.max()), saved_pages=_saved(common[:paged_fit]),
        reserved_tokens=reserved_tokens, paged_tokens=paged_tokens,
        owner=owner, from_frame=begin, until_frame=end, tables=tables)


def _saved(common: np.ndarray) -> int:
    return int(common.sum() - common.max(initial=0))


def _grow(tokens: np.ndarray, chats: int, frames: int) -> np.ndarray:
    """(frames + chats that fit, chats): frame 0 holds nothing; the last frame of growth everything; then they leave."""
    fit = len(tokens)
    reach = np.ceil(np.linspace(0, tokens.max(initial=0), frames)) if frames > 1 else np.array([tokens.max(initial=0)])
    held = np.zeros((frames + fit, chats), dtype=int)
    held[:frames, :fit] = np.minimum(tokens, reach[:, None])
    held[frames:, :fit] = tokens
    leaving = np.argsort(tokens, kind="stable")
    for turn, chat in enumerate(leaving):
        held[frames + turn:, chat] = 0
    return held


def _allocate(tokens: np.ndarray, common: np.ndarray, page_size: int):
    """Physical pages in the order in which the chats need them: owner (N,), the tokens at which each is needed (N,), tables.

    A page is needed when its first token is written; chats that need one at the same token are served in their order.
    The free list starts sorted, as in vLLM's block pool, so the n-th page handed out is physical page n.
    """
    owner, logical = [], []
    widest = int(common.max(initial=0))
    first_with = np.array([int(np.argmax(common > page)) for page in range(widest)], dtype=int)
    for chat, (length, full) in enumerate(zip(tokens, common)):
        own = np.arange(full, -(-length // page_size))
        owner.append(np.full(len(own), chat))
        logical.append(own)
    owner.append(first_with)
    logical.append(np.arange(widest))
    owner, logical = np.concatenate(owner), np.concatenate(logical)
    is_shared = np.arange(len(owner)) >= len(owner) - widest
    order = np.lexsort((owner, logical))
    physical = np.empty(len(order), dtype=int)
    physical[order] = np.arange(len(order))
    shared_pages = physical[is_shared]
    tables = tuple(np.concatenate([shared_pages[:full], physical[~is_shared & (owner == chat)]])
                   for chat, full in enumerate(common))
    needed_at = logical[order] * page_size + 1
    return np.where(is_shared, SHARED, owner)[order], needed_at, tables


def _use(owner: np.ndarray, needed_at: np.ndarray, held: np.ndarray, common: np.ndarray, tables):
    """(N,), (N,): the first frame in which each page is in use, and the first in which it is free again."""
    peak = held.max(axis=1) if held.size else np.zeros(len(held), dtype=int)
    begin = np.searchsorted(np.maximum.accumulate(peak), needed_at)
    end = np.zeros(len(owner), dtype=int)
    for chat, table in enumerate(tables):
        leaves = int(np.flatnonzero(held[:, chat])[-1]) + 1
        end[table] = np.maximum(end[table], leaves)
    return begin, end
