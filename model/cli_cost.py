"""Commands of the command line that ask what one pass costs, what fits, and what servers make of their settings."""
import re
from dataclasses import asdict

from model import catalogue
from model.cli_text import Report, bars, count, gb, kib, many, ms, people, table, wrapped
from model.config import read_config
from model.machine import DATASHEET
from model.machine import machine as machine_of
from model.memory import GIB, kv_memory
from model.passes import pass_cost
from model.settings import llama_cpp_settings, vllm_settings


def machine(args):
    """The Machine that the common options name."""
    llm = read_config(args.config) if args.config else args.llm
    return machine_of(llm=llm, gpu=args.gpu, weights=args.weights, kv=args.kv, engine=args.engine)


def asked(m, **more):
    """What was asked, for JSON."""
    return {"llm": m.llm.name, "gpu": m.gpu.name, "weights": m.weights.name, "kv": m.kv.name, "engine": m.engine, **more}


def named(m):
    """What was asked, in a line."""
    return f"{m.llm.label}, weights {m.weights.name}, KV cache {m.kv.name}, on {m.gpu.label}; numbers: {m.engine}"


def one_pass(args):
    """`pass`: the cost of one pass."""
    m = machine(args)
    cost = pass_cost(m, args.users, args.context, args.prompt_tokens, args.prompt_offset)
    data = {**asked(m, users=args.users, context=args.context, prompt_tokens=args.prompt_tokens), **asdict(cost)}
    held = f" with {many(args.context, 'token')} each" if args.context else ""
    parts = [f"{people(args.users)}{held} {'gets' if args.users == 1 else 'get'} one token more"] if args.users else []
    parts += [f"{many(args.prompt_tokens, 'token')} of a prompt read"] if args.prompt_tokens else []
    lines = [("pass", ms(cost.pass_ms), f"bound by {cost.bound_by}"),
             ("bytes read", gb(cost.bytes), "weights, and the KV cache of all who run"),
             ("arithmetic", f"{cost.flops / 1e12:,.3g} TFLOP", "2 x active parameters x tokens")]
    if args.users:
        lines += [("each person", f"{cost.tokens_per_s_each:,.1f} tok/s", "one token a pass"),
                  ("together", f"{cost.tokens_per_s:,.1f} tok/s", "")]
    shown = bars(("memory", cost.memory_ms), ("arithmetic", cost.arithmetic_ms), ("overhead", cost.overhead_ms))
    return Report(data, named(m), "One pass: " + ", and ".join(parts), shown if cost.overhead_ms else shown[:2], lines=lines)


def memory(args):
    """`memory`: what fits on the card."""
    m = machine(args)
    fit = kv_memory(m, args.users, args.context, args.utilization, args.overhead_bytes)
    data = {**asked(m, users=args.users, context=args.context), **asdict(fit)}
    lines = [("card", gb(fit.capacity_bytes), _usable(m, fit)),
             ("weights", gb(fit.weights_bytes), "once, for everybody"),
             ("overhead", gb(fit.overhead_bytes), "neither weights nor KV cache"),
             ("left for KV caches", gb(fit.budget_bytes), f"{count(fit.budget_tokens)} tokens at {kib(fit.kv_bytes_per_token)} each"
              if fit.budget_bytes > 0 else "the weights and the overhead do not fit"),
             ("one conversation", gb(fit.kv_bytes_each), f"of {many(args.context, 'token')}"),
             ("people who fit", count(fit.users_fit), verdict(args.users, fit.users_fit))]
    return Report(data, named(m), f"Memory: {people(args.users)} with {many(args.context, 'token')} each",
                  drawing=memory_bar(fit, args.users), lines=lines)


def _usable(m, fit):
    """How much of the card the server may use, and why a card sold as 24 GB has more bytes than that for an engine."""
    use = f"of which the server may use {gb(fit.usable_bytes)}"
    if m.engine == DATASHEET:
        return use
    return f"= {fit.capacity_bytes / GIB:,.4g} GiB, sold as {m.gpu.memory_bytes / 1e9:,.4g} GB, {use}"


def verdict(users, fit):
    """Who fits, in words."""
    return f"{people(users)}: all fit" if users <= fit else f"{count(users - fit)} of {count(users)} do not fit"


def memory_bar(fit, users, width=72):
    """Three lines: the card as a bar of W(eights), o(verhead), people and what is free, the server's limit, and a key.

    People whose conversation is shorter than two columns are not told apart."""
    cell = fit.capacity_bytes / width
    inside, apart = min(users, fit.users_fit), fit.kv_bytes_each >= 2 * cell
    parts = [("W", fit.weights_bytes), ("o", fit.overhead_bytes)]
    parts += [("#="[i % 2], fit.kv_bytes_each) for i in range(inside)] if apart else [("#", inside * fit.kv_bytes_each)]
    line, end = "", 0.0
    for sign, size in parts:
        end += size
        line += sign * max(1 if size else 0, round(end / cell) - len(line))
    line = line[:width].ljust(width, ".")
    limit = min(width - 1, round(fit.usable_bytes / cell))
    return [line, " " * limit + "^ the server's limit" if limit < width - 20 else "the server's limit ^".rjust(limit + 1),
            f"W weights   o overhead   {'# = one person each, in turn' if apart else '# people'}   . free"]


def settings(args):
    """`settings llama.cpp` and `settings vllm`: what the server does with its flags."""
    m = machine(args)
    if args.server == "llama.cpp":
        told = llama_cpp_settings(m, args.ctx, args.slots, args.kv_unified)
        lines = [("a slot", f"{count(told.slot_tokens)} tokens", f"{told.slots} slots, {count(told.total_tokens)} tokens in all"),
                 ("KV cache", gb(told.kv_bytes), f"{told.kv_bytes / 2**20:,.0f} MiB, as its log says"),
                 ("needed", gb(told.needed_bytes), ("fits in" if told.fits else "does not fit in") + f" the {gb(told.card_bytes)} that it may use")]
    else:
        told = vllm_settings(m, args.max_model_len, args.max_num_seqs, args.utilization, args.overhead_bytes)
        lines = [("KV cache", f"{count(told.kv_tokens)} tokens", f"{count(told.kv_blocks)} blocks of 16 tokens"),
                 ("at once", f"{told.max_concurrency:.2f}", f"conversations of {many(told.max_model_len, 'token')}"),
                 ("starts", "yes" if told.starts else "no", "" if told.starts else
                  f"not one conversation fits: set --max-model-len to {told.kv_tokens} at most"
                  if told.kv_tokens else "the weights leave no room for a KV cache")]
    data = {**asked(m, server=args.server), **asdict(told)}
    data["effects"] = [{"flag": effect.flag, "effect": effect.effect} for effect in told.effects]
    drawing = [*typed(told.command), ""]
    for effect in told.effects:
        first, *more = wrapped(effect.effect, 46)
        drawing += [f"{effect.flag:<29} {first}", *(" " * 30 + line for line in more)]
    return Report(data, named(m), f"What {args.server} does with its settings", drawing=drawing, lines=lines)


def typed(command):
    """A command line as it is typed, over several lines if need be; a flag and its value stay together."""
    together = re.sub(r"( --?[a-z-]+) (?!-)", "\\1\0", command)
    first, *more = [line.replace("\0", " ") for line in wrapped(together, 70)]
    lines = ["$ " + first, *("    " + line for line in more)]
    return [line + " \\" for line in lines[:-1]] + lines[-1:]


def llm(args):
    """`llm NAME`: a model's record; without a name, all of them."""
    if args.name is None and not args.config:
        return llms(args)
    m = machine(args) if args.config else machine_of(args.name, args.gpu, args.weights, args.kv, args.engine)
    x = m.llm
    data = {**asdict(x), "weights": m.weights.name, "kv": m.kv.name, "weights_bytes": x.weights_bytes(m.weights),
            "kv_bytes_per_token": x.kv_bytes_per_token(m.kv)}
    lines = [("parameters", count(x.parameters), "" if not x.experts else f"{count(x.active_parameters)} active for a token"),
             ("layers", count(x.layers), f"hidden size {count(x.hidden)}"),
             ("heads", count(x.heads), f"{x.kv_heads} KV heads of size {x.head_size}" if not x.latent else
              f"one latent vector of {x.latent} values a token and layer"),
             ("vocabulary", count(x.vocabulary), "output tied to the embedding" if x.tied else ""),
             ("longest context", count(x.max_context), "tokens")]
    if x.experts:
        lines.append(("experts a layer", count(x.experts), f"{x.experts_used} used for a token"))
    if x.window_layers:
        lines.append(("window", count(x.window), f"tokens, in {x.window_layers} of {x.layers} layers"))
    lines += [("weights", gb(data["weights_bytes"]), f"as {m.weights.label}"),
              ("KV cache a token", kib(data["kv_bytes_per_token"]), f"as {m.kv.label}")]
    return Report(data, f"{x.label} ({x.family})", f"source: {x.source}", lines=lines)


def llms(args):
    """All models as a table."""
    weights, kv = catalogue.weight_format(args.weights), catalogue.kv_format(args.kv)
    records = [catalogue.llm(name) for name in catalogue.llms(rare=True)]
    rows = [(x.name, f"{x.parameters / 1e9:,.2f}", gb(x.weights_bytes(weights)), kib(x.kv_bytes_per_token(kv))) for x in records]
    return Report({"llms": [x.name for x in records]}, f"{len(records)} models, weights {weights.name}, KV cache {kv.name}",
                  drawing=table(("name", "10^9 parameters", "weights", "KV a token"), rows))


def gpu(args):
    """`gpu NAME`: a card's record; without a name, all of them."""
    if args.name is None:
        records = [catalogue.gpu(name) for name in catalogue.gpus(rare=True)]
        rows = [(x.name, f"{x.bandwidth_bytes_s / 1e9:,.0f}", f"{x.peak_flops / 1e12:,.1f}", f"{x.memory_bytes / 1e9:.0f}")
                for x in records]
        return Report({"gpus": [x.name for x in records]}, f"{len(records)} cards and machines",
                      drawing=table(("name", "GB/s", "TFLOPS, 16 bits", "GB"), rows))
    x = catalogue.gpu(args.name)
    ratio = x.peak_flops / x.bandwidth_bytes_s
    lines = [("memory", f"{x.memory_bytes / 1e9:.0f} GB", ""), ("bandwidth", f"{x.bandwidth_bytes_s / 1e9:,.0f} GB/s", ""),
             ("arithmetic", f"{x.peak_flops / 1e12:,.1f} TFLOPS", "dense, 16 bits, summed in 32"),
             ("balance", f"{ratio:,.0f}", "operations a byte: tokens a pass at 16 bits from which arithmetic decides")]
    return Report({**asdict(x), "flops_per_byte": ratio}, f"{x.label} ({x.maker}, {x.architecture}, {x.kind})",
                  f"source: {x.source}", lines=lines)


