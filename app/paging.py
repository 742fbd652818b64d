"""paging: memory reserved for the longest chat sits empty; pages are handed out when they are needed, anywhere."""
from __future__ import annotations

import numpy as np
import param

import model
from model.paging import CHATS, SHARED, Pages, pages
from widgets.pagegrid import Grid
from widgets.picture import Picture
from widgets.plots import blocks, labels, lines, plot
from widgets.timeline import veil
from widgets.tokens import LIGHT, PEOPLE, letter_on

from .figure import Control, Figure
from .machine import CONTEXTS, MACHINE_CONTROLS, MachineSettings
from .measured import whose
from .words import count, letter, percent, sentence, tokens, whole

FRAMES = 150
GAP = 0.09                                        # between the two halves, each of width 1
RIGHT = 1 + GAP
TITLE, CHIPS, FIT, NOTE, MEMORY, WASTE, SCALE = 20, 24, 20, 18, 270, 22, 18   # px from the top down
CHIPS_AT, FIT_AT = TITLE, TITLE + CHIPS
TOP = TITLE + CHIPS + FIT + NOTE                  # of the memory
BOTTOM = TOP + MEMORY
HEIGHT = BOTTOM + WASTE + 2 * SCALE + 4
NAME_AT = 0.03                                    # where a reservation's letter stands
READABLE = 18                                     # px that a line of words needs


class Settings(MachineSettings):
    """How the memory for conversations is handed out."""

    page_size = param.Integer(16, bounds=(8, 1024), label="Page size", doc="tokens that a page holds")
    longest = param.Integer(8192, bounds=(512, 131072), label="Longest allowed",
                            doc="tokens that a conversation may reach, which a reservation sets aside")
    shared = param.Integer(512, bounds=(0, 2048), label="System prompt",
                           doc="tokens that the server puts before every conversation, the same for all; 0 for none")

    def chats(self) -> tuple[int, ...]:
        """Tokens of each chat: the longest allowed ends those that would be longer."""
        return tuple(min(chat, self.longest) for chat in CHATS)


def compute(s: Settings) -> Picture:
    """The same memory twice; in frame f the chats have grown to the same number of tokens, or to their ends."""
    m = s.machine()
    p = pages(m, s.page_size, s.longest, s.chats(), s.shared, frames=FRAMES)
    frames = FRAMES if p.paged_fit else 1
    reserved, held = p.reserved_tokens[:frames, :p.reserved_fit], p.paged_tokens[:frames]
    reach = held.max(axis=1)
    used = np.minimum(p.pages_used()[:frames], len(p.owner))
    drawn = min(p.budget_tokens, max(len(CHATS) * s.longest, len(p.owner) * s.page_size))
    grid = Grid.fitted(min(p.total_pages, max(len(p.owner), -(-drawn // s.page_size))), RIGHT, TOP, 1.0, MEMORY)
    px = grid.row / (grid.columns * s.page_size)  # height of a token on the left, where a row is as wide as on the right
    bands = _bands(p, px)
    hues = list(PEOPLE[:p.reserved_fit])
    share = reserved[-1] / s.longest
    name_x = np.where(share > 3 * NAME_AT, NAME_AT, share + 0.02)   # beside what is held where a letter would not fit in it
    names = dict(y=(bands["top"] + bands["bottom"]) / 2, text=[letter(i) for i in range(p.reserved_fit)])
    return Picture(
        sources={
            "titles": dict(x=[0.0, RIGHT], y=[9, 9], text=["Reserved", f"Pages of {tokens(s.page_size)}"]),
            **_chips(p),
            "fits": dict(x=[0.0, RIGHT], y=[FIT_AT + 9] * 2, room=[1.0, 1.0],
                         text=[f"{count(n)} of {count(len(CHATS))} fit" for n in (p.reserved_fit, p.paged_fit)]),
            "memory_left": _rest(p, px, drawn), "memory_right": _cells(grid, np.arange(grid.pages)),
            "reserved": bands, "held_pale": dict(bands, right=share, color=hues),
            "held": dict({k: bands[k] for k in ("left", "top", "bottom")}, color=hues),
            "held_names": dict(x=name_x, color=[letter_on(hue) for hue in hues], **names),
            "held_names_ahead": names,
            **_pages(p, grid),
            "notes": _notes(p, px, drawn, grid), "shared_name": _over(p),
            "waste": dict(x=[0.0, RIGHT], y=[BOTTOM + 14] * 2, room=[1.0, 1.0], text=_waste(p)),
            "scale": dict(x=[0.0, 0.0], y=[BOTTOM + WASTE + 10, BOTTOM + WASTE + SCALE + 10], room=[2 + GAP] * 2,
                          text=[_scale(p, drawn), "right: a cell is a page, in the order asked for" if grid.pages else ""]),
        },
        frames={
            "held.right": reserved / s.longest,
            "held_names_ahead.x": np.where(reserved < (name_x + 2 * NAME_AT) * s.longest, name_x, np.nan),
            **{f"veil.{side}": values for side, values in grid.veil(used, len(p.owner)).items()},
            "say.sentence": _sentences(p, reach, held, used, whose(m, "kv_tokens", p.budget_tokens, tokens, "this memory")),
        },
        clock_ms=reach * model.pass_cost(m, users=max(1, p.paged_fit), context=s.longest).pass_ms,
        frame_names=[f"up to {tokens(n)} each" for n in reach], telling=frames - 1, play_s=7.0, smooth=("held.right",),
        facts=dict(
            page_size=whole(s.page_size), longest=whole(s.longest), budget_tokens=whole(p.budget_tokens),
            total_pages=whole(p.total_pages), pages_used=whole(len(p.owner)), chats=count(len(CHATS)),
            reserved_fit=count(p.reserved_fit), reserved_fit_sentence=sentence(count(p.reserved_fit)),
            paged_fit=count(p.paged_fit), waste_reserved=percent(p.waste_reserved), waste_paged=percent(p.waste_paged),
            fragmentation_tokens=whole(p.fragmentation_tokens), shared=whole(s.shared),
            shared_pages=whole(p.shared_pages), saved_pages=whole(p.saved_pages),
            reserved_tokens=whole(p.reserved_fit * s.longest), reserved_held=whole(sum(s.chats()[:p.reserved_fit]))),
        table=(["conversation", "tokens", "fits reserved", "fits in pages", "pages", "pages of them shared"], _table(p)))


def _bands(p: Pages, px: float) -> dict:
    """The reservations, each as high as its tokens take at full width, from the top down."""
    top = TOP + np.arange(p.reserved_fit) * p.longest * px
    return dict(left=np.zeros(p.reserved_fit), right=np.ones(p.reserved_fit), top=top, bottom=top + p.longest * px)


def _rest(p: Pages, px: float, drawn: int) -> dict:
    """What no reservation takes, or the empty frame where there is no memory at all."""
    top = TOP + p.reserved_fit * p.longest * px
    bottom = min(BOTTOM, TOP + drawn * px) if drawn else BOTTOM
    return dict(left=[0.0], right=[1.0], top=[min(top, bottom)], bottom=[bottom])


def _cells(grid: Grid, page: np.ndarray) -> dict:
    """The pages' ground: all full rows as one block, and the last row."""
    if not len(page):
        return dict(left=[RIGHT], right=[RIGHT + 1], top=[TOP], bottom=[BOTTOM])
    full = len(page) // grid.columns * grid.columns
    corners = [grid.place(np.array([first, last - 1])) for first, last in ((0, full), (full, len(page))) if last > first]
    return dict(left=[c["left"][0] for c in corners], right=[c["right"][-1] for c in corners],
                top=[c["top"][0] for c in corners], bottom=[c["bottom"][-1] for c in corners])


def _pages(p: Pages, grid: Grid) -> dict[str, dict]:
    """Each page in its chat's colour, filled as far as tokens reach at the end; the shared ones apart, outlined."""
    filled = np.ones(len(p.owner))
    for tokens_held, table in zip(p.chats, p.tables):
        last = table[-1]
        if p.owner[last] != SHARED:
            filled[last] = (tokens_held - (len(table) - 1) * p.page_size) / p.page_size
    page, shared = np.arange(len(p.owner)), np.flatnonzero(p.owner == SHARED)
    partial = np.flatnonzero(filled < 1)
    colors = np.array([*PEOPLE, LIGHT["line"]])[np.where(p.owner == SHARED, len(PEOPLE), p.owner)].tolist()
    return {"pages": dict(grid.place(page, filled), color=colors), "page_gaps": grid.gaps(partial, filled[partial]),
            "frame": _frame(grid), "shared": grid.outline(shared)}


def _frame(grid: Grid) -> dict:
    """The outline of all pages, or of an empty frame where there is none."""
    if grid.pages:
        return grid.outline(np.arange(grid.pages))
    return dict(x0=[RIGHT, RIGHT, RIGHT, RIGHT + 1], x1=[RIGHT + 1, RIGHT + 1, RIGHT, RIGHT + 1],
                y0=[TOP, BOTTOM, TOP, TOP], y1=[TOP, BOTTOM, BOTTOM, BOTTOM])


def _chips(p: Pages) -> dict[str, dict]:
    """The ten who ask, twice: those who fit in their colours, the others hatched."""
    n = len(p.chats)
    who = np.tile(np.arange(n), 2)
    left = np.repeat([0.0, RIGHT], n) + who / n
    there = np.concatenate([np.arange(n) < p.reserved_fit, np.arange(n) < p.paged_fit])
    place = dict(left=left, right=left + 0.92 / n, top=np.full(2 * n, CHIPS_AT), bottom=np.full(2 * n, CHIPS_AT + CHIPS - 6))
    middle = dict(x=left + 0.46 / n, y=np.full(2 * n, CHIPS_AT + CHIPS / 2 - 3))
    text = np.array([letter(i) for i in who])
    hues = np.array(PEOPLE)[who % len(PEOPLE)]
    return {"who": {**_only(place, there), "color": hues[there].tolist()}, "who_not": _only(place, ~there),
            "who_names": {**_only(middle, there), "text": text[there].tolist(),
                          "color": [letter_on(hue) for hue in hues[there]]},
            "who_not_names": {**_only(middle, ~there), "text": text[~there].tolist()}}


def _only(columns: dict, there: np.ndarray) -> dict:
    return {name: values[there] for name, values in columns.items()}


def _notes(p: Pages, px: float, drawn: int, grid: Grid) -> dict:
    """Words in what is left on both sides, where it is high enough."""
    rest = _rest(p, px, drawn)
    all_in = p.reserved_fit == len(p.chats)
    left_over = p.budget_tokens - p.reserved_fit * p.longest
    left = (f"{whole(left_over)} tokens free" if all_in else f"{whole(left_over)} tokens left over" if p.reserved_fit
            else "too small for one" if drawn else "no memory left")
    if rest["bottom"][0] - rest["top"][0] < READABLE:
        left = ""
    free = p.total_pages - len(p.owner)
    free_top = TOP + -(-len(p.owner) // grid.columns) * grid.row
    right = f"{whole(free)} page{'' if free == 1 else 's'} free" if free else "" if drawn else "no memory left"
    if BOTTOM - free_top < READABLE:
        right = ""
    return dict(x=[0.5, RIGHT + 0.5], y=[(rest["top"][0] + rest["bottom"][0]) / 2, (free_top + BOTTOM) / 2],
                text=[left, right], room=[1.0, 1.0])


def _over(p: Pages) -> dict:
    """Words over the shared pages: how many, and how many use them."""
    text = f"{count(p.shared_pages, 'page')} shared by {count(_sharers(p))}" if _sharers(p) else ""
    return dict(x=[RIGHT], y=[TOP - 9], text=[text], room=[1.0])


def _sharers(p: Pages) -> int:
    """Chats that hold a shared page."""
    return sum(bool(np.any(p.owner[table] == SHARED)) for table in p.tables)


def _waste(p: Pages) -> list[str]:
    return [f"{percent(share)} wasted" if fit else "" for share, fit in
            ((p.waste_reserved, p.reserved_fit), (p.waste_paged, p.paged_fit))]


def _scale(p: Pages, drawn: int) -> str:
    if not drawn:
        return "no memory for conversations"
    if drawn < p.budget_tokens:
        return f"{whole(drawn)} of {whole(p.budget_tokens)} tokens, drawn twice"
    return f"memory for {tokens(p.budget_tokens)}, drawn twice"


def _sentences(p: Pages, reach: np.ndarray, held: np.ndarray, used: np.ndarray, numbers: str) -> list[str]:
    """For each frame: how far the chats have grown and what pages that takes; then the answer."""
    answer = _answer(p) + numbers
    once = ", shared ones stored once" if p.saved_pages else ""
    moments = [f"With up to {tokens(n)} each, the conversations in pages hold {tokens(total)} in {count(int(k), 'page')}{once}."
               if n else "No conversation has begun yet." for n, total, k in zip(reach[:-1], held.sum(axis=1), used)]
    return [*(f"{moment} {answer}" for moment in moments), answer]


def _answer(p: Pages) -> str:
    if not p.budget_tokens:
        return "The weights leave no memory for conversations on this card: none fits, neither reserved nor in pages."
    n = len(p.chats)
    reserved = f"Reserved for {tokens(p.longest)} each, {_fit(p.reserved_fit, n)}"
    if p.reserved_fit:
        reserved += f", and {percent(p.waste_reserved)} of what they reserve is wasted"
    paged = f"In pages of {tokens(p.page_size)}, {_fit(p.paged_fit, n)}"
    if p.paged_fit:
        paged += f", and {percent(p.waste_paged)} is wasted"
    cut = f" Conversations end at {tokens(p.longest)}." if p.longest < max(CHATS) else ""
    return f"{reserved}. {paged}.{_sharing(p)}{cut}"


def _fit(fit: int, n: int) -> str:
    if fit == n:
        return f"all {count(n)} conversations fit"
    return f"{count(fit)} of {count(n)} conversations fit{'s' if fit < 2 else ''}"


def _sharing(p: Pages) -> str:
    if not p.shared or not p.paged_fit:
        return ""
    prompt = f" A system prompt of {tokens(p.shared)}{f', cut at {whole(p.longest)},' if p.shared > p.longest else ''}"
    if not p.shared_pages:
        return f"{prompt} fills no page, so nothing is shared."
    return (f"{prompt} fills {count(p.shared_pages, 'page')}, stored once for {count(_sharers(p))}: "
            f"{count(p.saved_pages, 'page')} saved.")


def _table(p: Pages) -> list[list]:
    rows = []
    for i, chat in enumerate(p.chats.tolist()):
        table = p.tables[i] if i < p.paged_fit else np.zeros(0, dtype=int)
        rows.append([letter(i), chat, "yes" if i < p.reserved_fit else "no", "yes" if i < p.paged_fit else "no",
                     len(table), int(np.sum(p.owner[table] == SHARED))])
    return rows


def draw() -> list:
    """The memory reserved on the left, in pages on the right."""
    p = plot("halves", HEIGHT, (0, 2 + GAP), (HEIGHT, 0))
    labels(p, "titles", "ink")
    blocks(p, "who", "field:color")
    blocks(p, "who_not", "misfit", hatch="misfit", line="misfit", alpha=0.35)
    labels(p, "who_names", "field:color", align="center", bold=True, size=12, part="who")
    labels(p, "who_not_names", "ink", align="center", bold=True, size=12, part="who_not")
    labels(p, "fits", "ink", bold=True)
    labels(p, "shared_name", "ink", size=12, part="shared")
    labels(p, "waste", "ink", bold=True)
    labels(p, "scale", "muted", size=12)
    blocks(p, "memory_left", "panel", line="line", part="free")
    blocks(p, "memory_right", "panel", part="free")
    blocks(p, "pages", "field:color")
    blocks(p, "page_gaps", "line", hatch="line", part="pages")
    blocks(p, "reserved", "line", hatch="line", line="line")
    labels(p, "notes", "muted", align="center", size=12, part="free")
    blocks(p, "held_pale", "field:color", alpha=0.32, part="reserved")
    blocks(p, "held", "field:color", part="reserved")
    labels(p, "held_names", "field:color", bold=True, size=12, part="reserved")
    labels(p, "held_names_ahead", "ink", bold=True, size=12, part="reserved")
    veil(p)
    lines(p, "frame", "line", width=1, part="free")
    lines(p, "shared", "ink", width=1.5)
    return [p]


FIGURE = Figure(
    id="paging", title="What does a page save?", settings=Settings, compute=compute, draw=draw, main="longest",
    controls=(
        Control("page_size", "tokens", positions=(8, 16, 32, 64, 128, 256, 512, 1024)),
        Control("longest", "tokens", positions=CONTEXTS),
        Control("shared", "tokens", positions=(0, 15, 16, 64, 100, 128, 256, 512, 768, 1024, 1536, 2048)), *MACHINE_CONTROLS),
    explain="""
<p class="formula">reserved: <span class="number" data-say="budget_tokens"></span> tokens of memory ÷
<span class="number" data-say="longest"></span>, whole ones only = <span class="number" data-say="reserved_fit"></span> fit</p>
<p class="formula">wasted = 1 − <span class="number" data-say="reserved_held"></span> ÷ <span class="number" data-say="reserved_tokens"></span>
tokens reserved = <span class="number" data-say="waste_reserved"></span></p>
<p class="formula">in pages of <span class="number" data-say="page_size"></span>: <span class="number" data-say="pages_used"></span> of
<span class="number" data-say="total_pages"></span> pages are in use, with <span class="number" data-say="fragmentation_tokens"></span> places
empty in the last page of each conversation = <span class="number" data-say="waste_paged"></span></p>
<p>A system prompt of <span class="number" data-say="shared"></span> tokens fills <span class="number" data-say="shared_pages"></span> whole pages.
Only whole pages are shared; that saves <span class="number" data-say="saved_pages"></span> pages. Pages and sharing are those of
PagedAttention (SOSP 2023) and vLLM. In that paper’s measurements 20.4% to 38.2% of the KV memory held tokens before, and 96.3%
with pages.</p>""")
