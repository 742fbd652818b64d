"""chunked-prefill: a long document stops everybody else if one pass reads it; in chunks nobody freezes."""
from __future__ import annotations

import numpy as np
import param

from model import pass_cost
from model.chunking import Chunked, chunked_prefill
from model.trace import PREFILL, Trace
from widgets.picture import Picture
from widgets.plots import blocks, labels, lines, plot
from widgets.timeline import apart, rows, stack, time_ticks, veil

from .figure import Control, Figure
from .fitting import too_long, too_many
from .machine import CONTEXTS, MACHINE_CONTROLS, MachineSettings
from .measured import printed, whose
from .words import count, ms, people, tokens, whole

FRAMES = 180                                   # at most
TITLE, DOCUMENT, CAPTION, OTHERS, GAP = 22, 22, 20, 90, 12    # px, from the top of each half
HALF = TITLE + DOCUMENT + CAPTION + OTHERS + GAP
TOPS = np.array([0.0, HALF])
ROW, MOST_ROWS = 10, 15                        # px of a person's row; people whose rows can still be told apart
LOWEST = 22                                    # px of all rows together: words stand in them
MOST_BLOCKS = 75                               # chunks that a phone can show one by one


class Settings(MachineSettings):
    """Who waits while a document is read."""

    document = param.Integer(8192, bounds=(512, 131072), label="Document", doc="tokens of the document that somebody sends")
    chunk = param.Integer(256, bounds=(64, 8192), label="Chunk", doc="tokens of the document that one pass processes")
    chunked = param.Boolean(True, label="Show chunks", doc="whether the same is shown in chunks")
    users = param.Integer(9, bounds=(1, 64), label="Others", doc="people whose replies are being written meanwhile")
    context = param.Integer(2048, bounds=(512, 131072), label="Context length", doc="tokens that each of the others holds")


def compute(s: Settings) -> Picture:
    """Both halves on one axis; a frame is a pass of the chunked half, or several where there are very many."""
    m = s.machine()
    c = chunked_prefill(m, s.document, s.chunk, s.users, s.context)
    span = min(c.whole.end_ms[-1], c.chunked.end_ms[-1])
    halves = [c.whole, c.chunked][:2 if s.chunked else 1]
    tops = TOPS[:len(halves)]
    ends = c.chunked.end_ms[c.chunked.end_ms < span]
    at = np.concatenate([[0.0], ends[::-(-len(ends) // FRAMES)], [span]])
    longest = [_longest_ms(trace, s.users) for trace in halves]
    cursor = np.tile(at[:, None], 2 * len(halves))
    pitch = min(max(ROW, LOWEST / s.users), OTHERS / s.users)
    given = [_tokens(trace, s.users, top, span, pitch) for trace, top in zip(halves, tops)]
    below = TITLE + DOCUMENT + CAPTION
    bottoms = tops + below + pitch * s.users
    return Picture(
        sources={
            "document": stack(*(_document(trace, s.users, top, span) for trace, top in zip(halves, tops))),
            **_stalls(c, s, tops[:2 if _chunks(c, s.users) == 1 else 1] + below, pitch * s.users),
            "tokens": stack(*(strokes for strokes, _ in given)), "tokens_dense": stack(*(bands for _, bands in given)),
            "between": _between(s.users, tops + below, pitch, span),
            "titles": dict(x=np.zeros(2), y=TOPS + 11,
                           text=["Whole document", f"Chunks of {whole(s.chunk)}" if s.chunked else "Chunks: not shown"]),
            "waits": dict(x=np.full(len(halves), span), y=tops + 11, room=np.full(len(halves), span / 2),
                          text=[f"longest pass {ms(pass_ms)}" for pass_ms in longest]),
            "captions": dict(x=np.zeros(len(halves)), y=tops + TITLE + DOCUMENT + 10,
                             text=[_caption(s.users, top + below, bands) for top, (_, bands) in zip(tops, given)]),
            "veil": dict(right=np.full(len(halves), span), top=tops + TITLE, bottom=bottoms),
            "cursor": dict(y0=np.concatenate([tops + TITLE - 2, tops + below - 2]),
                           y1=np.concatenate([tops + TITLE + DOCUMENT + 2, bottoms + 4])),
        },
        frames={
            "veil.left": np.tile(at[:, None], len(halves)),
            "cursor.x0": cursor, "cursor.x1": cursor,
            "say.sentence": _sentences(at, s, c, _answer(s, c) + too_many(m, s.users, s.context, s.document)
                                      + too_long(m, max(s.context, s.document))
                                      + whose(m, "ttft", c.stall_ms, ms, "the long pass",
                                              pass_cost(printed(m), s.users, s.context, s.document).pass_ms)),
        },
        clock_ms=at, frame_names=[f"at {ms(t)}" for t in at], telling=len(at) - 1,
        play_s=float(np.clip(span / 130, 5, 12)), smooth=("veil.left", "cursor.x0", "cursor.x1"),
        props={"passes.x.end": float(span), **time_ticks("passes.axis", span, 4)},
        facts={
            "document": whole(s.document), "chunk": whole(s.chunk), "users": count(s.users), "context": whole(s.context),
            "chunks": whole(_chunks(c, s.users)), "stall": ms(c.stall_ms), "pass": ms(c.pass_ms),
            "pass_with_chunk": ms(c.pass_ms_with_chunk), "pass_mean": ms(c.document_ms / _chunks(c, s.users)), "document_time": ms(c.document_ms),
            "tokens_with_chunk": whole(min(s.chunk, s.document) + s.users)},
        table=(["way", "pass", "start (ms)", "end (ms)", "document tokens", "tokens for the others"],
               [row for way, trace in zip(("one pass", "chunks"), halves) for row in _table(way, trace, s.users)]))


def _stalls(c: Chunked, s: Settings, tops: np.ndarray, height: float) -> dict:
    """Where the others get nothing: in the first half, and in the second too if one chunk holds the whole document."""
    n, gaps = len(tops), np.array([c.stall_ms, c.pass_ms_with_chunk])[:len(tops)]
    return {"stall": dict(left=np.full(n, c.sent_ms), right=c.sent_ms + gaps, top=tops, bottom=tops + height),
            "stall_name": dict(x=c.sent_ms + gaps / 2, y=tops + height / 2, room=gaps,
                               text=[f"{ms(gap)} without a token" for gap in gaps])}


def _document(trace: Trace, users: int, top: float, span: float) -> dict:
    """The passes that read the document, as blocks; chunks too narrow to be seen one by one are drawn as one block."""
    reading = np.flatnonzero(trace.state[:, users] == PREFILL)
    start, end = trace.start_ms[reading], trace.end_ms[reading]
    if len(reading) > MOST_BLOCKS:
        start, end = start[:1], end[-1:]
    return rows(np.zeros(len(start)), start, np.minimum(end, span), top + TITLE, DOCUMENT)


def _tokens(trace: Trace, users: int, top: float, span: float, pitch: float) -> tuple[dict, dict]:
    """A stroke through all the others' rows for each of their tokens, one in the document's row for each of its own;
    and the bands where strokes would run into one another."""
    first = top + TITLE + DOCUMENT + CAPTION
    strokes, bands = [], []
    for request, high, low in ((0, first, first + pitch * users), (users, top + TITLE + 2, top + TITLE + DOCUMENT - 2)):
        times = trace.token_ms(request)
        x, start, end = apart(times[times < span * 0.999999], span)
        strokes.append(dict(x0=x, x1=x, y0=np.full(len(x), high), y1=np.full(len(x), low)))
        bands.append(dict(left=start, right=end, top=np.full(len(start), high), bottom=np.full(len(start), low)))
    return stack(*strokes), stack(*bands)


def _between(users: int, tops: np.ndarray, pitch: float, span: float) -> dict:
    """Lines that part the strokes into rows, one for each person, while rows can be told apart."""
    lanes = np.arange(1, users if users <= MOST_ROWS else 1)
    y = (tops[:, None] + pitch * lanes).ravel()
    return dict(x0=np.zeros(len(y)), x1=np.full(len(y), span), y0=y, y1=y)


def _caption(users: int, top: float, bands: dict) -> str:
    """Who the rows are, and what a token is in them: ticks, or where they are too close a band from `top` down."""
    who = "one other person" if users == 1 else f"{count(users)} others"
    if np.any(bands["top"] == top):
        return f"{who}: blue while tokens come"
    if users == 1:
        return f"{who}: a tick a token"
    return f"{who}: " + ("a row each, a tick a token" if users <= MOST_ROWS else "a tick is a token for each")


def _chunks(c: Chunked, users: int) -> int:
    return int(np.sum(c.chunked.state[:, users] == PREFILL))


def _longest_ms(trace: Trace, users: int) -> float:
    """The slowest of the passes that read the document: what is in the cache already is read again by each."""
    return float(trace.pass_ms[trace.state[:, users] == PREFILL].max())


def _table(way: str, trace: Trace, users: int) -> list[list]:
    read = np.where(trace.state[:, users] == PREFILL, trace.tokens[:, users], 0)
    given = trace.written[:, :users].sum(axis=1)
    shown = range(min(trace.passes, 400))
    return [[way, i + 1, round(float(trace.start_ms[i]), 3), round(float(trace.end_ms[i]), 3), int(read[i]), int(given[i])]
            for i in shown]


def _sentences(at: np.ndarray, s: Settings, c: Chunked, answer: str) -> list[str]:
    """For each frame: how many tokens each of the others has got, then the answer."""
    alone, beside = (np.searchsorted(t.token_ms(0), at + 1e-9, side="right").tolist() for t in (c.whole, c.chunked))
    who = "the other" if s.users == 1 else f"each of the {count(s.users)} others"
    said = []
    for t, a, b in zip(at[:-1], alone, beside):
        chunks = f", {count(b)} beside chunks" if s.chunked else ""
        said.append(f"After {ms(t)} {who} has got {count(a, 'token')} beside one pass{chunks}. {answer}")
    return [*said, answer]


def _answer(s: Settings, c: Chunked) -> str:
    get = "gets" if s.users == 1 else "get"
    whole_way = (f"{tokens(s.document)} in one pass take {ms(c.stall_ms)}, and {people(s.users)} {get} nothing meanwhile.")
    if not s.chunked:
        return whole_way
    n = _chunks(c, s.users)
    done = f"in {ms(c.document_ms)} instead of {ms(c.stall_ms)}"
    without = f"instead of {ms(c.pass_ms)}" if ms(c.pass_ms) != ms(c.pass_ms_with_chunk) else "as it does without one"
    longest = ms(_longest_ms(c.chunked, s.users))
    growing = f", later ones up to {longest}" if longest != ms(c.pass_ms_with_chunk) else ""
    return (f"{whole_way} In chunks of {whole(s.chunk)} a pass takes {ms(c.pass_ms_with_chunk)} {without}{growing}, "
            f"and everybody gets a token from it; {count(n, 'such pass', 'such passes')} "
            f"process{'es' if n == 1 else ''} the document {done}.")


def draw() -> list:
    """Two halves, each the document's row and the others' rows, on one axis."""
    p = plot("passes", int(2 * HALF) + 40, (0, 1000), (2 * HALF, 0), axis=True, axis_label="ms")
    blocks(p, "document", "arithmetic", line="paper")
    blocks(p, "stall", "line", hatch="line")
    blocks(p, "tokens_dense", "memory", part="tokens")
    lines(p, "tokens", "memory", width=2)
    lines(p, "between", "paper", width=2)
    veil(p)
    labels(p, "stall_name", "ink", align="center", bold=True, part="stall")
    lines(p, "cursor", "ink")
    labels(p, "titles", "ink")
    labels(p, "waits", "ink", align="right", bold=True, size=12, part="tokens")
    labels(p, "captions", "muted", size=12, part="tokens")
    return [p]


FIGURE = Figure(
    id="chunked-prefill", title="Who waits while a document is processed?", settings=Settings, compute=compute, draw=draw,
    main="chunk",
    controls=(
        Control("document", "tokens", positions=(512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072)),
        Control("chunk", "tokens", positions=(64, 128, 256, 512, 1024, 2048, 4096, 8192)), Control("chunked"),
        Control("users", "people"), Control("context", "tokens", positions=CONTEXTS), *MACHINE_CONTROLS),
    explain="""
<p>A pass takes as long as its memory traffic or its arithmetic, whichever is longer. A pass that processes the whole document
is bound by arithmetic: <span class="number" data-say="document"></span> tokens take <span class="number" data-say="stall"></span>.</p>
<p>Beside a chunk, a pass works on <span class="number" data-say="tokens_with_chunk"></span> tokens:
<span class="number" data-say="chunk"></span> of the document and one for each of the others, at
<span class="number" data-say="context"></span> tokens of context. It takes <span class="number" data-say="pass_with_chunk"></span>; without a
chunk, <span class="number" data-say="pass"></span>.</p>
<p class="formula"><span class="number" data-say="chunks"></span> passes × <span class="number" data-say="pass_mean"></span> on average =
<span class="number" data-say="document_time"></span> until the document is processed</p>
<p>Chunks beside decode passes are Sarathi-Serve's (OSDI 2024).</p>""")
