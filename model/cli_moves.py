"""Commands of the command line about what moves: batches, pages, chunks, guesses, a server under load."""
import math

from model import catalogue
from model.batching import batch
from model.chunking import chunked_prefill
from model.cli_cost import asked, machine, named
from model.cli_text import Report, bars, count, many, ms, people, percent, spark
from model.paging import pages
from model.server import serve
from model.speculation import MOST_USERS, speculate

SIGNS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
COLUMNS = 72


def batches(args):
    """`batch`: the same replies in the same slots, as static batches and continuously."""
    both = batch(args.slots, args.replies)
    ways = (("static", both.static), ("continuous", both.continuous))
    data = {"slots": args.slots, "replies": list(args.replies)}
    for name, schedule in ways:
        data |= {f"{name}_steps": schedule.steps, f"{name}_idle_share": schedule.idle_share,
                 f"{name}_slot": schedule.slot, f"{name}_start_step": schedule.start_step, f"{name}_end_step": schedule.end_step}
    drawing = []
    for name, schedule in ways:
        drawing += [f"{name}: {many(schedule.steps, 'step')}, {percent(schedule.idle_share)} of the slots' time empty",
                    *timeline(schedule, both.static.steps), ""]
    return Report(data, f"{many(len(args.replies), 'reply')} in {many(args.slots, 'slot')}, first come first served",
                  "one letter a reply, dots where a slot is empty", drawing=drawing[:-1])


def timeline(schedule, steps):
    """One line a slot: whose reply is written when, the whole width for so many steps; at most 16 slots."""
    columns = min(COLUMNS, steps)
    lines = [["."] * round(columns * schedule.steps / steps) for _ in range(min(schedule.slots, 16))]
    for reply, (slot, start, end) in enumerate(zip(schedule.slot, schedule.start_step, schedule.end_step)):
        if slot < len(lines):
            begin, stop = round(columns * start / steps), round(columns * end / steps)
            stop = max(stop, begin + 1)  # the shortest is seen as well
            lines[slot][begin:stop] = SIGNS[reply % len(SIGNS)] * (stop - begin)
    more = [f"and {many(schedule.slots - 16, 'slot')} more"] if schedule.slots > 16 else []
    return ["".join(line)[:COLUMNS] for line in lines] + more


def paged(args):
    """`pages`: KV memory reserved for the longest chat, or handed out in pages."""
    m = machine(args)
    handed = pages(m, args.page_size, args.longest, args.chats, args.shared, args.utilization, args.overhead_bytes)
    names = ("page_size", "longest", "shared", "budget_tokens", "total_pages", "reserved_fit", "paged_fit", "waste_reserved",
             "waste_paged", "fragmentation_tokens", "unreservable_tokens", "shared_pages", "saved_pages")
    data = {**asked(m, chats=list(args.chats)), **{name: getattr(handed, name) for name in names}}
    lines = [("reserved", f"{handed.reserved_fit} of {len(args.chats)} fit",
              f"{percent(handed.waste_reserved)} of what is reserved stays empty"),
             ("in pages", f"{handed.paged_fit} of {len(args.chats)} fit",
              f"{percent(handed.waste_paged)} of the pages handed out stays empty"),
             ("shared", many(handed.shared_pages, "page"), f"stored once; {many(handed.saved_pages, 'page')} saved")]
    what = (f"{count(handed.budget_tokens)} tokens of KV memory: {count(handed.total_pages)} pages of {count(args.page_size)}; "
            f"{many(len(args.chats), 'chat')}")
    used = {"reserved": handed.reserved_fit * args.longest / max(1, handed.budget_tokens),
            "in pages": len(handed.owner) / max(1, handed.total_pages)}
    shown = [(name, share, percent(share)) for name, share in used.items()]
    return Report(data, named(m), what, shown, lines=lines)


def chunk(args):
    """`chunk`: a document read in one pass, or in chunks beside everybody's decode passes."""
    m = machine(args)
    read = chunked_prefill(m, args.document, args.chunk, args.users, args.context)
    names = ("stall_ms", "pass_ms", "pass_ms_with_chunk", "document_ms", "slowest_gap_ms_whole", "slowest_gap_ms_chunked")
    data = {**asked(m, document=args.document, chunk=args.chunk, users=args.users, context=args.context),
            **{name: getattr(read, name) for name in names}}
    lines = [("stall", ms(read.stall_ms), "everybody else, while the document is read in one pass"),
             ("a pass with a chunk", ms(read.pass_ms_with_chunk), f"instead of {ms(read.pass_ms)}" if args.users else ""),
             ("the document", ms(read.document_ms), "until its last chunk is read")]
    shown = bars(("one pass", read.stall_ms), ("decode", read.pass_ms), ("with a chunk", read.pass_ms_with_chunk))
    return Report(data, named(m), f"A document of {many(args.document, 'token')}, in chunks of {count(args.chunk)}, beside "
                  f"{people(args.users)} with {count(args.context)}", shown, lines=lines)


def guess(args):
    """`guess`: speculative decoding."""
    m = machine(args)
    gain = speculate(m, args.guesses, args.acceptance, args.users, args.context, args.draft)
    names = ("expected_tokens", "speedup", "break_even_users", "slower_users", "same_vocabulary", "draft_ms", "check_ms", "round_ms", "plain_ms",
             "draft_weights_bytes", "draft_kv_bytes_per_token", "users_fit")
    data = {**asked(m, guesses=args.guesses, acceptance=args.acceptance, users=args.users, context=args.context,
                    draft=args.draft), **{name: getattr(gain, name) for name in names}}
    crowds = [1, 2, 4, 8, 16, 32, 64, 128, 256]
    curve = speculate(m, args.guesses, args.acceptance, crowds, args.context, args.draft).speedup
    longest = max(float(s) for s in curve)
    shown = [(people(users), float(s) / longest, f"x {s:.2f}") for users, s in zip(crowds, curve)]
    lines = [("tokens a check", f"{gain.expected_tokens:.2f}", f"{args.guesses + 1} at most, one of them the large model's own"),
             ("a round", ms(gain.round_ms), f"guesses {ms(gain.draft_ms)}, the check {ms(gain.check_ms)}"),
             ("speed-up", f"x {gain.speedup:.2f}", f"with {people(args.users)}, against {ms(gain.plain_ms)} a token"),
             ("guessing hurts", *slower(gain.slower_users)),
             ("memory holds", people(gain.users_fit), "beside the draft, whose weights and KV cache count")]
    if not gain.same_vocabulary:
        lines.append(("warning", "", _unlike(m.llm, catalogue.llm(args.draft))))
    return Report(data, named(m), f"{args.guesses} at a time guessed by {args.draft}, {percent(args.acceptance)} of them right, "
                  f"{count(args.context)} tokens each", shown, lines=lines)


def slower(stretches):
    """(value, note) that say for how many people guessing is slower, from Speculation.slower_users."""
    if not stretches:
        return "never", f"up to {count(MOST_USERS)} people"
    words = [f"from {count(first)}" if last == MOST_USERS else count(first) if first == last else f"{count(first)} to {count(last)}"
             for first, last in stretches]
    on = " people on" if stretches[0][1] == MOST_USERS else " person" if stretches[0] == (1, 1) else " people"
    more = "".join(f", and {word} on" if word.startswith("from") else f", and {word}" for word in words[1:])
    return words[0], on.strip() + more


def _unlike(model, draft):
    """That the draft's vocabulary is not the model's."""
    return (f"{draft.label} has {count(draft.vocabulary)} tokens in its vocabulary, {model.label} {count(model.vocabulary)}: "
            "its guesses cannot be checked as they are")


SERVED = (("ttft_ms_mean", "time to first token", "mean"), ("ttft_ms_p99", "", "99th percentile"),
          ("itl_ms_mean", "inter-token latency", "mean"), ("itl_ms_median", "", "median"),
          ("tpot_ms_mean", "time per output token", "mean"))


def served(args):
    """`serve`: a simulated server under a load of requests."""
    m = machine(args)
    run = serve(m, rate=args.rate, prompt=args.prompt, output=args.output, requests=args.requests, seed=args.seed,
                max_batched_tokens=args.max_batched_tokens, max_seqs=args.max_seqs, utilization=args.utilization,
                overhead_bytes=args.overhead_bytes, page_size=args.page_size, shared_prompt=args.shared, spread=args.spread)
    names = [name for name, _, _ in SERVED] + ["tokens_per_s", "peak_kv_share", "preemptions"]
    data = {**asked(m, rate=args.rate if math.isfinite(args.rate) else None, prompt=args.prompt, output=args.output, requests=args.requests, seed=args.seed,
                    max_batched_tokens=args.max_batched_tokens, max_seqs=args.max_seqs),
            **{name: getattr(run, name) for name in names}}
    lines = [(label, ms(data[name]), note) for name, label, note in SERVED]
    lines += [("throughput", f"{data['tokens_per_s']:,.1f} tok/s", "of all replies together"),
              ("KV cache", percent(data["peak_kv_share"]), "full at the fullest"),
              ("preemptions", count(data["preemptions"]), "conversations put back and read again")]
    waiting = max(1, int(run.waiting.max()))
    drawing = [f"KV cache |{spark(run.pass_end_ms, run.pages_used, run.total_pages)}| {percent(1.0)}",
               f"waiting  |{spark(run.pass_end_ms, run.waiting, waiting)}| {count(waiting)}",
               f"          0 s {run.pass_end_ms[-1] / 1000:>55,.1f} s"]
    return Report(data, named(m), f"{many(args.requests, 'request')} at {args.rate:g} a second, about {count(args.prompt)} tokens "
                  f"in and {count(args.output)} out", drawing=drawing, lines=lines)
