"""settings: what to type for llama.cpp and vLLM, what each part does, and four measurements while a load grows."""
from __future__ import annotations

from dataclasses import replace

import numpy as np
import param

from model.machine import DATASHEET, Machine
from model.memory import UTILIZATION
from model.settings import vllm_defaults
from widgets.picture import Picture
from widgets.plots import curve, dots, labels, lines, plot, ticks
from widgets.timeline import beside, steps, veil

from .figure import Control, Figure
from .growing import SAMPLES, Growing, growing, held_until
from .machine import CHOSEN_MACHINE, CONTEXTS, MachineSettings
from .measured import whose
from .pasted import CONFIG_CHARS, LOG_CHARS, MOST_LINES, Pasted, beside as beside_log, pasted_llm, pasted_log, spelled
from .typed import LLAMA_PARTS, VLLM_PARTS, Typed, llama_verdict, parts, promises, spots, typed, vllm_verdict
from .words import count, digits, gb, ms, people, percent, tokens, whole

USERS = (*range(1, 13), 14, 16, 20, 24, 32, 40, 48, 56, 64)
CHARTS = ("ttft", "itl", "waiting", "use")
NAMES = {"ttft": "time to first token", "itl": "inter-token latency", "waiting": "requests waiting", "use": "KV use"}
POINTS = 161                       # of the curves of queue and use
FOOT = -0.13                       # below 0 there is room for half a line, in the same measure as HEAD
HEAD, WORDS, MARK = 1.62, 1.32, 1.85  # room above a chart and its words' place, as multiples of its highest value
LEAST_S = 0.1  # what is shorter is told in ms
UNITS = {"ttft": "s", "itl": "ms", "waiting": "requests", "use": "%"}


class Settings(MachineSettings):
    """For whom the server is set up, and what it is told."""

    users = param.Integer(10, bounds=(1, 64), label="Users", doc="people who should be served at once")
    context = param.Integer(8192, bounds=(512, 131072), label="Context length",
                            doc="tokens of the longest conversation: --max-model-len")
    slots = param.Integer(10, bounds=(0, 64), label="Slots",
                          doc="conversations that run at once at most: -np and --max-num-seqs; 0 leaves them to the server")
    kv_unified = param.Boolean(False, label="Slots share tokens", doc="--kv-unified: llama.cpp's slots share all the tokens")
    utilization = param.Number(UTILIZATION, bounds=(0.5, 0.98), step=0.01, label="Share of the card",
                               doc="what vLLM may take of the card's memory: --gpu-memory-utilization")
    config = Pasted(longest=CONFIG_CHARS, read=pasted_llm, label="Your model",
                    doc="its config.json of Hugging Face, pasted; then the choice above is ignored")
    log = Pasted(longest=LOG_CHARS, read=pasted_log, label="Your start-up log",
                 doc="what vLLM or llama.cpp printed as it started, pasted")

    def machine(self) -> Machine:
        """The Machine of these settings, with the pasted model where there is one."""
        m = super().machine()
        return replace(m, llm=pasted_llm(self.config, "your-model")) if self.config.strip() else m


def compute(s: Settings) -> Picture:
    """Command lines and four curves for these settings; frame f is a moment of the run in which the load grows."""
    m = s.machine()
    t = typed(m, s.users, s.context, s.slots, s.kv_unified, s.utilization)
    run = growing(m, s.users, t.length, s.slots or vllm_defaults(m.gpu)[1], s.utilization) if t.llama or t.vllm else None
    until = run.until_ms if run else 60_000.0
    points = _charts(run)
    high = _highest(points)
    clock_ms = np.linspace(0.0, until, SAMPLES) if run else np.zeros(1)
    last = len(clock_ms) - 1
    now = _now(run, clock_ms)
    log_said, log_lines = beside_log(s.log, m, bool(s.config.strip()))
    said = " ".join(filter(None, (_answer(s, m, t, run) + whose(m), log_said)))
    return Picture(
        sources={**points, **_marks(run, until, high, bool(t.llama or t.vllm))},
        frames={**_moving(now, clock_ms),
                "say.sentence": [" ".join(filter(None, (_moment(now, clock_ms, f) if f < last else "", said))) for f in range(last + 1)]},
        clock_ms=clock_ms, frame_names=[f"after {_seconds(at)}" for at in clock_ms], telling=last, play_s=10.0,
        smooth=tuple(f"{name}_{edge}" for name in CHARTS for edge in ("veil.left", "now.x0", "now.x1")),
        props=_axes(until, high, _ttft_unit(run)[1]),
        facts={**parts(m, t), **_facts(s, m, t, run), **promises(m, t, s.users, s.utilization), **_log(log_said, log_lines)},
        table=(["time (s)", "time to first token (ms)", "inter-token latency (ms)", "requests waiting", "KV use (share)"],
               [[float(at) / 1000, *(None if np.isnan(now[name][f]) else float(now[name][f]) for name in CHARTS)]
                for f, at in enumerate(clock_ms)]))


def _now(run: Growing | None, clock_ms: np.ndarray) -> dict:
    """The four measurements at each frame (F,): the latest first token, the pace of the last stretch, the queue, the use."""
    if run is None:
        return {name: np.full(len(clock_ms), np.nan) for name in CHARTS}
    return {"ttft": held_until(run.ttft_at_ms, run.ttft_ms, clock_ms, np.nan),
            "itl": held_until(run.bin_ms, run.itl_ms, clock_ms, np.nan),
            "waiting": held_until(run.step_ms, run.waiting, clock_ms, 0.0),
            "use": held_until(run.step_ms, run.use, clock_ms, 0.0)}


def _charts(run: Growing | None) -> dict:
    """Points of the four curves, in s and in the unit of each."""
    if run is None:
        nothing = dict(x=np.zeros(0), y=np.zeros(0))
        return {**{name: nothing for name in CHARTS}, "ttft_dots": nothing}
    first = dict(x=run.ttft_at_ms / 1000, y=run.ttft_ms / _ttft_unit(run)[0])
    at = np.linspace(0.0, run.until_ms, POINTS)
    return {"ttft": first, "ttft_dots": first, "itl": dict(x=(run.bin_ms - run.bin_ms[0] / 2) / 1000, y=run.itl_ms),
            "waiting": dict(x=at / 1000, y=held_until(run.step_ms, run.waiting, at, 0.0)),
            "use": dict(x=at / 1000, y=100 * held_until(run.step_ms, run.use, at, 0.0))}


def _ttft_unit(run: Growing | None) -> tuple[float, str]:
    """(ms in it, its name): the unit of the first chart, as `_seconds` has it."""
    return (1.0, "ms") if run and run.ttft_ms.max(initial=0.0) < LEAST_S * 1000 else (1000.0, "s")


def _highest(points: dict) -> dict:
    """The highest value of each chart, in its unit: never 0."""
    high = {name: float(np.nanmax(points[name]["y"], initial=0.0)) for name in ("ttft", "itl", "waiting")}
    return {"ttft": high["ttft"] or 1.0, "itl": high["itl"] or 20.0, "waiting": max(4.0, high["waiting"]), "use": 100.0}


def _marks(run: Growing | None, until: float, high: dict, read: bool) -> dict:
    """The moment at which memory is full, or else the slots, through all four; the words stand above the first."""
    at, words = _full(run) if run or read else (None, "no server reads these formats: nothing to play")
    here = [] if at is None else [at / 1000]
    words_at = [0.0] if run is None else here
    out = {f"{name}_mark": dict(x0=here, x1=here, y0=[0.0] * len(here), y1=[high[name] * 1.1] * len(here)) for name in CHARTS}
    out |= {f"{name}_veil": dict(right=[until / 1000], bottom=[FOOT * high[name]], top=[1.12 * high[name]])
            for name in CHARTS}
    out |= {f"{name}_now": dict(y0=[0.0], y1=[1.1 * high[name]]) for name in CHARTS}
    out |= {f"{name}_name": dict(x=[0.0], y=[WORDS * high[name]]) for name in CHARTS}
    return {**out, **beside(np.array(words_at), np.full(len(words_at), MARK * high["ttft"]), [words] * len(words_at),
                           until / 1000, "full_name")}


def _full(run: Growing | None) -> tuple[float | None, str]:
    """When something was full for the first time, and what: memory, before slots. Words alone where there is no run."""
    if run is None:
        return None, "no conversation fits: nothing to play"
    if run.memory_ms is None and run.slots_ms is None:
        return None, ""
    if run.memory_ms is not None:
        return run.memory_ms, f"memory full: {_seconds(run.memory_ms)}"
    return run.slots_ms, f"all slots taken: {_seconds(run.slots_ms)}"


def _moving(now: dict, clock_ms: np.ndarray) -> dict:
    at = clock_ms[:, None] / 1000
    out = {}
    for name in CHARTS:
        out |= {f"{name}_veil.left": at, f"{name}_now.x0": at, f"{name}_now.x1": at,
                f"{name}_name.text": [[f"{NAMES[name]}: {_value(name, v)}"] for v in now[name]]}
    return out


def _value(name: str, value: float) -> str:
    if np.isnan(value):
        return "–"
    return {"ttft": _seconds, "itl": ms, "waiting": whole, "use": percent}[name](value)


def _seconds(value_ms: float) -> str:
    """`0.82 s`, `12.3 s`; ms below a tenth of a second."""
    return f"{digits(value_ms / 1000)} s" if value_ms == 0 or value_ms >= LEAST_S * 1000 else ms(value_ms)


def _axes(until: float, high: dict, ttft_unit: str) -> dict:
    props = {"ttft.y_axis.axis_label": ttft_unit}
    for name in CHARTS:
        values = [0, 50, 100] if name == "use" else steps(high[name], 2)
        head = MARK + 0.2 if name == "ttft" else HEAD
        props |= {f"{name}.x.end": until / 1000 * 1.012,
                  f"{name}.y.start": FOOT * high[name], f"{name}.y.end": head * high[name],
                  **ticks(f"{name}.y_axis", values, [f"{v:,g}" for v in values])}
    return {**props, **ticks("use.axis", steps(until / 1000, 5), [f"{v:,g}" for v in steps(until / 1000, 5)])}


def _moment(now: dict, clock_ms: np.ndarray, f: int) -> str:
    here = {name: now[name][f] for name in CHARTS}
    if np.isnan(here["ttft"]):
        return f"After {_seconds(clock_ms[f])} nobody has got a token yet."
    between = "" if np.isnan(here["itl"]) else f"{_value('itl', here['itl'])} between tokens, "
    return (f"After {_seconds(clock_ms[f])}: first token after {_value('ttft', here['ttft'])}, {between}{count(int(here['waiting']))} waiting, "
            f"KV use {percent(here['use'])}.")


def _answer(s: Settings, m: Machine, t: Typed, run: Growing | None) -> str:
    source = "By the datasheet, for" if m.engine == DATASHEET else "For"  # what both servers get stands beside it
    return " ".join(filter(None, (_limit(s, m), f"{source} {people(s.users)} at {tokens(s.context)}: {llama_verdict(t)}",
                                  vllm_verdict(t), _load_verdict(s, run, t))))


def _limit(s: Settings, m: Machine) -> str:
    return "" if s.context <= m.llm.max_context else f"{m.llm.label} takes at most {tokens(m.llm.max_context)}."


def _load_verdict(s: Settings, run: Growing | None, t: Typed) -> str:
    if run is None:
        return ("" if not (t.llama or t.vllm) else f"Not even one conversation of {tokens(t.length)} fits into what vLLM may take, "
                "so there is nothing to play.")
    grows = "While the load grows" + (f" to that of {people(run.users)}" if run.users < s.users else "")
    shown = run.step_ms <= run.until_ms
    worst, queue, peak = _seconds(run.ttft_ms.max()), int(run.waiting[shown][-1]), percent(run.use[shown].max())
    if run.memory_ms is not None:
        return (f"{grows}, memory is full after {_seconds(run.memory_ms)}: at the end {_requests(queue)}, and "
                f"first tokens have come after up to {worst} instead of {_seconds(run.ttft_ms[0])}.")
    if run.slots_ms is not None and not queue:
        return (f"{grows}, all slots are taken after {_seconds(run.slots_ms)}, but at the end nobody waits. KV use stays at "
                f"{peak} or below.")
    if run.slots_ms is not None:
        return (f"{grows}, all slots are taken after {_seconds(run.slots_ms)}: at the end {_requests(queue)}, "
                f"though KV use stays at {peak} or below.")
    return (f"{grows}, memory is never full: KV use reaches {peak}, and the first token comes after {worst} "
            f"at most.")


def _requests(n: int) -> str:
    return f"{count(n, 'request')} {'waits' if n == 1 else 'wait'}"


def _log(said: str, lines: list) -> dict:
    """The pasted log's verdict and its lines, empty where there are none."""
    words = [spelled(line) for line in lines]
    return {"log_verdict": said, **{f"log_{i}": words[i] if i < len(words) else "" for i in range(MOST_LINES)}}


def _facts(s: Settings, m: Machine, t: Typed, run: Growing | None) -> dict:
    return dict(
        users=whole(s.users), context=whole(s.context), length=whole(t.length), slots=count(t.llama.slots) if t.llama else "–",
        llama_needed=gb(t.llama.needed_bytes) if t.llama else "–", llama_card=gb(t.llama.card_bytes) if t.llama else "–",
        llama_verdict=llama_verdict(t),
        llama_command=t.llama.command if t.llama else "", vllm_command=t.vllm.command if t.vllm else "",
        vllm_verdict=vllm_verdict(t),
        slot_tokens=whole(t.llama.slot_tokens) if t.llama else "–", kv_tokens=whole(t.vllm.kv_tokens) if t.vllm else "–",
        max_concurrency=f"{t.vllm.max_concurrency:,.2f}" if t.vllm else "–",
        kv_bytes_per_token=whole(m.llm.kv_bytes_per_token(m.kv)), weights=gb(m.llm.weights_bytes(m.weights)),
        batched=whole(vllm_defaults(m.gpu)[0]), load=_load_words(m, run), full=_full(run)[1] or "nothing is full")


def _load_words(m: Machine, run: Growing | None) -> str:
    """What load is played, for the fold-out."""
    if run is None:
        return "No load is played: there is no room for one conversation, or no server that reads these formats."
    n = run.served.preemptions
    return (f"The load, whether or not earlier requests are answered: {count(len(run.served.prompts), 'request')} of "
            f"{tokens(run.prompt)} of prompt and {tokens(run.reply)} of reply, faster and faster, up to {digits(60_000 * run.rate)} "
            f"a minute after {_seconds(run.until_ms)}. That is half as many again as {people(run.users)} would send who ask "
            f"again as soon as they are answered. A server with vLLM's scheduler serves them, with at most "
            f"{tokens(vllm_defaults(m.gpu)[0])} a pass. When pages run out, whoever came last gives theirs back and starts again "
            f"later (preemption), some again and again: here {count(n, 'time') if n else 'never'}.")


def draw() -> list:
    """Four small charts, one clock."""
    return [_chart(name, 108 if name == "ttft" else 88, axis=False) for name in CHARTS[:-1]] + [_chart("use", 128, axis=True)]


def _chart(name: str, height: int, *, axis: bool):
    p = plot(name, height, (0, 60), (0, 1), axis=axis, axis_label="s" if axis else "", y_axis=True, y_axis_label=UNITS[name])
    curve(p, name, "memory" if name == "use" else "ink", width=2)
    if name == "ttft":
        dots(p, "ttft_dots", "ink", size=5, part="ttft")
    veil(p, f"{name}_veil")
    lines(p, f"{name}_mark", "misfit", dash="dashed", part="full")
    lines(p, f"{name}_now", "muted", width=1, part="now")
    labels(p, f"{name}_name", "memory" if name == "use" else "ink", bold=True, size=12, part=name)
    if name == "ttft":
        labels(p, "full_name_left", "misfit", align="right", size=12, bold=True, part="full")
        labels(p, "full_name_right", "misfit", size=12, bold=True, part="full")
    return p


LOG_SPOTS = ('<section class="log" aria-label="Your log beside the prediction">\n<p data-say="log_verdict"></p>\n<ul>\n'
             + "\n".join(f'<li><span data-say="log_{i}"></span></li>' for i in range(MOST_LINES)) + "\n</ul>\n</section>\n")


FIGURE = Figure(
    id="settings", title="What to type, and what to watch?", settings=Settings, compute=compute, draw=draw, main="users",
    controls=(Control("users", "people", positions=USERS), Control("context", "tokens", positions=CONTEXTS),
              Control("slots", "slots", zero="left to the server"), Control("kv_unified"), Control("utilization", percent=True), *CHOSEN_MACHINE,
              Control("config", longest=CONFIG_CHARS, lines=2, unwritten=True),
              Control("log", longest=LOG_CHARS, lines=2, unwritten=True)),
    beside=spots("llama", "llama.cpp", LLAMA_PARTS) + spots("vllm", "vLLM", VLLM_PARTS) + LOG_SPOTS,
    explain="""
<p>llama.cpp splits its cells between slots, unless they share: each gets <span class="number" data-say="slot_tokens"></span> tokens,
rounded up to whole 256. vLLM takes its share of the card, and what weights and overhead leave of it becomes the KV cache,
in whole pages of 16 tokens:</p>
<p class="formula"><span class="number" data-say="kv_tokens"></span> tokens ÷ <span class="number" data-say="length"></span> =
<span class="number" data-say="max_concurrency"></span> conversations of that length at once, at
<span class="number" data-say="kv_bytes_per_token"></span> bytes a token</p>
<p data-say="load"></p>
<p>Each dot is a first token; the
curve below it is the mean time between two tokens of a reply, the inter-token latency.
vLLM reports the four as <code>vllm:time_to_first_token_seconds</code>, <code>vllm:inter_token_latency_seconds</code>,
<code>vllm:num_requests_waiting</code> and <code>vllm:kv_cache_usage_perc</code>, llama.cpp the third as
<code>llamacpp:requests_deferred</code>. Sources: llama.cpp's server README, and vLLM's pages on its settings and metrics.</p>""")
