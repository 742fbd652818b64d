"""What is typed for llama.cpp and vLLM: both command lines, what comes of them in words, and their parts one by one."""
from __future__ import annotations

from dataclasses import dataclass

from model.machine import Machine
from model.settings import LlamaCppSettings, VllmSettings, llama_cpp_settings, vllm_settings

from .promise import Seats, promise, told
from .words import count, gb, tokens, whole

LLAMA_PARTS, VLLM_PARTS = 6, 6  # flags that there can be, the program and its model included
NOT_TYPED = "--max-num-batched-tokens"  # no setting of the figure, so that it stands in no command line; the fold-out has it


@dataclass(frozen=True)
class Typed:
    """What is typed for the settings. `length`: the context, cut at what the model can. A server that does not read a
    format has no settings but a `problem`. `shared`: llama.cpp's slots share one pool."""

    length: int
    llama: LlamaCppSettings | None
    llama_problem: str
    vllm: VllmSettings | None
    vllm_problem: str
    shared: bool


def typed(m: Machine, users: int, context: int, slots: int, kv_unified: bool, utilization: float) -> Typed:
    """The command lines that these settings come to: -c is enough for every slot, or for all users without -np."""
    length = min(context, m.llm.max_context)
    cells = (slots or users) * length
    llama, llama_problem = _or_problem(lambda: llama_cpp_settings(m, cells, slots or None, kv_unified))
    vllm, vllm_problem = _or_problem(lambda: vllm_settings(m, length, slots or None, utilization))
    return Typed(length, llama, llama_problem, vllm, vllm_problem, kv_unified or not slots)


def _or_problem(make):
    """(what `make` makes, "") or (None, why it cannot be): a format that a server does not read."""
    try:
        return make(), ""
    except ValueError as error:
        return None, str(error)


def llama_verdict(t: Typed) -> str:
    """What llama.cpp makes of its command line, in words: who gets how much, and whether the card holds it."""
    if t.llama is None:
        return f"{t.llama_problem}."
    slots = count(t.llama.slots, "slot")
    split = f"gives {slots} {whole(t.llama.slot_tokens)} tokens{'' if t.llama.slots == 1 else ' each'}"
    shared = f"lets {slots} share {tokens(t.llama.total_tokens)}"
    card = gb(t.llama.card_bytes)
    end = f"which fits on {card}." if t.llama.fits else f"more than the card has, {card}. {_too_large(t)}"
    return (f"llama.cpp {shared if t.shared else split}: {gb(t.llama.kv_bytes)} of KV cache, {gb(t.llama.needed_bytes)} "
            f"in all, {end}")


def _too_large(t: Typed) -> str:
    """What comes of a command whose KV cache the card does not hold, and what it would hold."""
    comes = "So it does not start, or leaves a part of the model to the slower processor"
    if not t.llama.most_ctx:
        return f"{comes}; no -c is small enough."
    if t.shared:
        return f"{comes}; -c {t.llama.most_ctx} would fit."
    if not t.llama.most_slots:
        return f"{comes}; -c {t.llama.most_ctx} would fit, {tokens(t.llama.most_ctx // t.llama.slots)} a slot."
    return (f"{comes}; {count(t.llama.most_slots, 'such slot')} would fit, or with -c {t.llama.most_ctx} "
            f"{count(t.llama.slots)} of {tokens(t.llama.most_ctx // t.llama.slots)}.")


def vllm_verdict(t: Typed) -> str:
    """What vLLM makes of its command line, in words: how much room it finds."""
    if t.vllm is None:
        return f"{t.vllm_problem}."
    if not t.vllm.starts:
        return f"vLLM would not start: it has room for {tokens(t.vllm.kv_tokens)} of KV cache."
    return f"vLLM has room for {tokens(t.vllm.kv_tokens)}, {t.vllm.max_concurrency:,.2f} such conversations."


def parts(m: Machine, t: Typed) -> dict:
    """Words for the parts of both command lines: `llama_flag_1`, `llama_effect_1`, ...; empty where there is no such part."""
    heavy = f"{gb(m.llm.weights_bytes(m.weights))} of weights, stored once for everybody and read once a pass"
    llama = [] if t.llama is None else [(" ".join(t.llama.command.split()[:3]), heavy), *t.llama.effects]
    vllm = [] if t.vllm is None else [(" ".join(t.vllm.command.split()[:3]), heavy),
                                      *(e for e in t.vllm.effects if not e.flag.startswith(NOT_TYPED))]
    out = {}
    for server, made, room in (("llama", llama, LLAMA_PARTS), ("vllm", vllm, VLLM_PARTS)):
        for i in range(room):
            out[f"{server}_flag_{i}"], out[f"{server}_effect_{i}"] = made[i] if i < len(made) else ("", "")
    return out


def promises(m: Machine, t: Typed, users: int, utilization: float) -> dict:
    """Will it fit, how fast will it be: a sentence for each server, or why it cannot serve this."""
    problems = {"llama.cpp": t.llama_problem, "vllm": t.vllm_problem}
    seats = {"llama.cpp": Seats(t.llama.slots, -(-t.llama.total_tokens // t.length)) if t.llama else None,
             "vllm": Seats(t.vllm.max_num_seqs) if t.vllm else None}
    said = {family: f"{problem}." if problem else told(promise(m, family, users, t.length, utilization, seats[family]))
            for family, problem in problems.items()}
    return dict(llama_promise=said["llama.cpp"], vllm_promise=said["vllm"])


def spots(server: str, title: str, room: int) -> str:
    """One server's command line, whole and in parts, each part with what it does."""
    rows = "\n".join(f'<li><code data-say="{server}_flag_{i}"></code> <span data-say="{server}_effect_{i}"></span></li>'
                     for i in range(room))
    return (f'<section class="server" aria-label="{title}">\n'
            f'<pre class="command"><code data-say="{server}_command"></code></pre>\n'
            f'<ul class="parts">\n{rows}\n</ul>\n'
            f'<p class="promise" data-say="{server}_promise"></p>\n</section>\n')
