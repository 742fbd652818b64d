"""What a figure's sentence must say, from the model's functions alone: settings -> words that must stand in it.

Nothing here asks a figure's own `compute`; only how numbers are written (app/words.py) is shared.
"""
from __future__ import annotations

import json
import random
from dataclasses import replace

import numpy as np

import model
from app.words import count, digits, gb, ms, percent, tokens, whole
from model.memory import kv_memory
from model.settings import llama_cpp_settings, vllm_settings

CHATS = (3100, 1400, 2600, 3900, 900, 2200, 4800, 1700, 3400, 2000)  # the chats that the essay tells of
BATCH_CONTEXT = 2048


def machine(v: dict) -> model.Machine:
    return model.machine(v["llm"], v["gpu"], v["weights"], v["kv"], v["engine"])


def prefill_decode(v: dict) -> list[str]:
    m = machine(v)
    alone = model.pass_cost(m, users=1, context=0)
    prefill = model.pass_cost(m, users=0, prompt_tokens=v["prompt"])
    ratio = whole(alone.pass_ms / (prefill.pass_ms / v["prompt"]))
    return [tokens(v["prompt"]), ms(prefill.pass_ms), f"bound by {prefill.bound_by}", ms(alone.pass_ms),
            f"bound by {alone.bound_by}", f"{digits(alone.tokens_per_s)} tokens/s",
            f"{ratio} times" if ratio != "1" else "as much as a prompt token",
            ms(model.prefill_decode(m, v["prompt"], v["reply"]).end_ms[-1])]


def memory(v: dict) -> list[str]:
    held = kv_memory(machine(v), users=v["users"], context=v["context"])
    said = [tokens(v["context"]), gb(v["users"] * held.kv_bytes_each), f"{whole(held.kv_bytes_per_token)} bytes a token"]
    if held.budget_bytes <= 0:
        return [*said, "nobody fits"]
    said += [gb(held.budget_bytes), tokens(held.budget_tokens)]
    out = v["users"] - min(v["users"], held.users_fit)
    if not out:
        return [*said, "fit", f"room for {count(held.users_fit)}"]
    if not held.users_fit:
        return [*said, f"of the {count(v['users'])} fits" if v["users"] > 1 else "not"]
    return [*said, f"{count(held.users_fit)} fit", f"{count(out)} {'does' if out == 1 else 'do'} not"]


def batching(v: dict) -> list[str]:
    lengths = tuple(int(n) for n in v["replies"].split(","))
    if v["seed"]:
        luck = random.Random(v["seed"])
        lengths = tuple(luck.randint(2, 40) for _ in lengths)
    b = model.batch(v["slots"], lengths)
    step = model.pass_cost(machine(v), users=v["slots"], context=BATCH_CONTEXT).pass_ms
    said = [count(v["slots"], "slot"), f"{whole(b.static.steps)} step{'' if b.static.steps == 1 else 's'} ", f"{ms(step)} a step", ms(b.static.steps * step)]
    if b.static.steps != b.continuous.steps:
        said += [f"{whole(b.continuous.steps)} if", ms(b.continuous.steps * step)]
    shares = [percent(c.idle_share) for c in (b.static, b.continuous)]
    return said + ([] if shares == ["0%", "0%"] else shares)


def paging(v: dict) -> list[str]:
    p = model.pages(machine(v), v["page_size"], v["longest"], tuple(min(c, v["longest"]) for c in CHATS), v["shared"])
    if not p.budget_tokens:
        return ["leave no memory"]
    said = [f"Reserved for {tokens(v['longest'])}", f"In pages of {tokens(v['page_size'])}"]
    for fit, waste in ((p.reserved_fit, p.waste_reserved), (p.paged_fit, p.waste_paged)):
        said.append("all ten conversations fit" if fit == len(CHATS) else f"{count(fit)} of ten conversations fit")
        said += [percent(waste)] if fit else []
    if v["shared"] and p.paged_fit:
        said.append(count(p.saved_pages, "page") if p.shared_pages else "nothing is shared")
    return said


def chunked_prefill(v: dict) -> list[str]:
    c = model.chunked_prefill(machine(v), v["document"], v["chunk"], v["users"], v["context"])
    said = [tokens(v["document"]), ms(c.stall_ms)]
    if not v["chunked"]:
        return said
    return said + [f"chunks of {whole(v['chunk'])}", ms(c.pass_ms_with_chunk), ms(c.document_ms)]


def speculative(v: dict) -> list[str]:
    s = model.speculate(machine(v), v["guesses"], v["acceptance"], np.array([v["users"]]), v["context"], v["draft"])
    gain = float(s.speedup[0])
    return [count(v["guesses"], "guess", "guesses"), percent(v["acceptance"]),
            f"{digits(s.expected_tokens)} tokens on average", ms(float(s.plain_ms[0])), tokens(v["context"]),
            f"{digits(gain)} times as fast as without"] + ([] if gain >= 1 else ["slower"])


def scoreboard(v: dict) -> list[str]:
    m = machine(v)
    cost, alone = model.pass_cost(m, users=v["users"], context=v["context"]), model.pass_cost(m, users=1, context=0)
    fit = kv_memory(m, users=v["users"], context=v["context"]).users_fit
    said = [tokens(v["context"]), speed(cost.tokens_per_s_each), speed(alone.tokens_per_s), f"{v['guess']:,g}"]
    if v["users"] > 1:
        said += [f"{speed(cost.tokens_per_s)} together", f"not {speed(alone.tokens_per_s / v['users'])}"]
    return said + ([] if fit >= v["users"] else ["nobody fits" if fit == 0 else f"only {count(fit)} of them"])


def speed(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0") if 1 <= value < 10 else digits(value)


def settings(v: dict) -> list[str]:
    m = machine(v)
    if v.get("config"):
        m = replace(m, llm=model.read_config(json.loads(v["config"])))
    length = min(v["context"], m.llm.max_context)
    said = [tokens(v["context"])]
    try:
        llama = llama_cpp_settings(m, (v["slots"] or v["users"]) * length, v["slots"] or None, v["kv_unified"])
        said += [count(llama.slots, "slot"), gb(llama.kv_bytes), gb(llama.needed_bytes), gb(llama.card_bytes),
                 whole(llama.total_tokens if v["kv_unified"] or not v["slots"] else llama.slot_tokens)]
    except ValueError as error:
        said.append(str(error))
    try:
        vllm = vllm_settings(m, length, v["slots"] or None, v["utilization"])
        said += [tokens(vllm.kv_tokens), f"{vllm.max_concurrency:.2f} such" if vllm.starts else "would not start"]
    except ValueError as error:
        said.append(str(error))
    return said


EXPECTED = {"prefill-decode": prefill_decode, "kv-memory": memory, "batching": batching, "paging": paging,
            "chunked-prefill": chunked_prefill, "speculative": speculative, "scoreboard": scoreboard, "settings": settings}
