"""prefill-decode: a prompt is two jobs. Prefill reads it all in one pass, decode writes one token a pass."""
from __future__ import annotations

import numpy as np
import param

import model
from model.machine import DATASHEET
from model.trace import BOUNDS, Trace, prefill_decode
from widgets.picture import Picture
from widgets.plots import blocks, dots, labels, lines, plot, ticks
from widgets.timeline import steps

from .figure import Control, Figure
from .fitting import too_many
from .machine import MACHINE_CONTROLS, MachineSettings, engine_name
from .measured import Prefill, prefills, printed, whose
from .words import digits, ms, percent, tokens, whole

QUESTION, DOCUMENT = 24, 2000
PROMPTS = (1, 8, 16, QUESTION, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, DOCUMENT, 3072, 4096, 6144, 8192,
           12288, 16384, 24576, 32768)
GAP, WIDEST = 0.06, 0.002  # left free behind a pass, so that passes can be counted: a share of it, at most this share of all

# The reply that appears, one word a token: as long as the longest reply.
REPLY = (
    "Two things happened since you pressed send. First the card processed your whole prompt at once. All its tokens went "
    "through the model side by side, so the weights were read once and used for all of them. That is prefill, and it keeps "
    "the arithmetic busy. Then it began to write. For each further word the card read all the weights again, used them for a "
    "single token, put that token into the cache and started over. That is decode, and it keeps the memory busy while the "
    "arithmetic waits. Nothing here was hard to compute. It was slow to fetch. A second person could have had a word from "
    "every one of these passes for almost nothing more.").split()


class Settings(MachineSettings):
    """One prompt and its reply."""

    prompt = param.Integer(DOCUMENT, bounds=(1, PROMPTS[-1]), label="Prompt", doc="tokens of the prompt that is sent")
    reply = param.Integer(16, bounds=(1, 120), label="Reply length", doc="tokens of the reply that comes back, the first of them at the end of prefill")


def compute(s: Settings) -> Picture:
    """One request alone: frame f is pass f, the last frame the moment after the last pass."""
    m = s.machine()
    trace = prefill_decode(m, prompt_tokens=s.prompt, reply_tokens=s.reply)
    alone = model.pass_cost(m, users=1, context=0)
    clock = np.append(trace.start_ms, trace.end_ms[-1])
    end, last = clock[-1], trace.passes
    seen = prefills(m, s.prompt)[:1]
    scale = max(end, *(1.02 * one.ms for one in seen), 0.0)
    # The last frame keeps the meters of the last pass: what the card was busy with, not that it is idle now.
    memory, arithmetic = (np.append(busy, busy[-1]) for busy in (trace.memory_busy, trace.arithmetic_busy))
    shown = [*range(1, last + 1), last]
    words = _words(s, m, trace, alone, seen)
    return Picture(
        sources={
            "meters_empty": dict(left=[0, 0], right=[1, 1], bottom=[1.0, 0.0], top=[1.45, 0.45]),
            "memory": dict(left=[0], bottom=[1.0], top=[1.45]), "arithmetic": dict(left=[0], bottom=[0.0], top=[0.45]),
            "memory_name": dict(x=[0], y=[1.7]), "arithmetic_name": dict(x=[0], y=[0.7]),
            **_strip("memory", trace, 0), **_strip("arithmetic", trace, 1),
            "now": dict(y0=[-0.12], y1=[1.12]),
            "prefill_name": dict(x=[0], y=[1.5], text=[f"prefill: {tokens(s.prompt)}, {ms(trace.pass_ms[0])}"], room=[end]),
            "decode_name": dict(x=[scale], y=[-0.4], room=[scale],
                                text=[f"decode: {words['decode']} a token" if last > 1 else ""]),
            "seen": dict(x=[one.ms for one in seen], y=[0.5] * len(seen)),
            "seen_name": dict(x=[0.0] * len(seen), y=[-0.4] * len(seen), text=["○ measured"] * len(seen),
                              room=[scale / 2] * len(seen)),
        },
        frames={
            "memory.right": memory[:, None], "arithmetic.right": arithmetic[:, None],
            "memory_name.text": [[f"in pass {n}: memory {percent(share)} busy"] for n, share in zip(shown, memory)],
            "arithmetic_name.text": [[f"in pass {n}: arithmetic {percent(share)} busy"] for n, share in zip(shown, arithmetic)],
            **_done("memory", trace, 0, clock), **_done("arithmetic", trace, 1, clock),
            "now.x0": clock[:, None], "now.x1": clock[:, None],
            "say.sentence": [f"{_moment(trace, f)} {words['answer']}".strip() for f in range(last + 1)],
            "say.written": [" ".join(REPLY[:f]) for f in range(last + 1)],
            "say.clock": [ms(t) for t in clock],
        },
        clock_ms=clock, frame_names=[f"pass {f + 1} of {last}" for f in range(last)] + [f"after pass {last}"], telling=last,
        play_s=min(12.0, 4.0 + 0.12 * s.reply), smooth=("memory_done.right", "arithmetic_done.right", "now.x0", "now.x1"),
        props={"strip.x.end": float(scale), **ticks("strip.axis", *_ticks(scale))},
        facts=words,
        table=(["pass", "begins (ms)", "takes (ms)", "tokens", "reads (GB)", "memory busy (%)", "arithmetic busy (%)", "bound by"],
               [[f + 1, trace.start_ms[f], trace.pass_ms[f], int(trace.tokens[f, 0]), trace.bytes[f] / 1e9,
                 100 * trace.memory_busy[f], 100 * trace.arithmetic_busy[f], BOUNDS[trace.bound_by[f]]] for f in range(last)]))


def _words(s: Settings, m: model.Machine, trace: Trace, alone: model.PassCost, seen: list[Prefill]) -> dict[str, str]:
    """The setting's numbers, and the sentence that answers the question with them."""
    prefill_ms = trace.pass_ms[0]
    ratio = alone.pass_ms / (prefill_ms / s.prompt)
    facts = dict(
        prompt=whole(s.prompt), prompt_tokens=tokens(s.prompt), reply=whole(s.reply), prefill=ms(prefill_ms), prefill_bound=BOUNDS[trace.bound_by[0]],
        weights=f"{alone.bytes / 1e9:,.2f} GB", alone=ms(alone.pass_ms),
        speed=digits(alone.tokens_per_s), ratio=_ratio(ratio), bound=str(alone.bound_by), total=ms(trace.end_ms[-1]),
        decode=ms(trace.pass_ms[1:].mean()) if s.reply > 1 else ms(alone.pass_ms),
        busy=percent(alone.arithmetic_ms / alone.pass_ms), bandwidth=whole(m.gpu.bandwidth_bytes_s / 1e9),
        peak=f"{m.gpu.peak_flops / 1e12:,.1f}", parameters=whole(m.llm.active_parameters),
        lost="nothing is lost." if s.engine == DATASHEET else f"the times above are what {engine_name(s.engine)} gets, which loses some of both.")
    facts["answer"] = (
        f"Prefill processes {tokens(s.prompt)} in one pass of {facts['prefill']}, bound by {facts['prefill_bound']}, which "
        f"ends with the first token of the reply. Decode reads "
        f"{facts['weights']} of weights for every further token: {facts['alone']}, bound by {facts['bound']}, "
        f"{facts['speed']} tokens/s at most. A written token costs "
        + ("as much as a prompt token." if facts["ratio"] == "1" else f"{facts['ratio']} times a prompt token."))
    if s.reply > 1:
        facts["answer"] += f" With the KV cache of this prompt a token takes {facts['decode']}."
    facts["answer"] += f" The reply of {tokens(s.reply)} is complete after {facts['total']}."
    facts["answer"] += "".join(f" Measured with {one.engine}, its prefill takes {ms(one.ms)}." for one in seen)
    facts["answer"] += too_many(m, 1, s.prompt + s.reply) + whose(
        m, "decode", alone.pass_ms, ms, "a token’s time", model.pass_cost(printed(m)).pass_ms)
    return facts


def _ratio(ratio: float) -> str:
    """`164`, `1.4`, `1`: one place below ten, so that a short prompt does not look cheaper than it is."""
    return whole(ratio) if ratio >= 9.95 else f"{ratio:.1f}".removesuffix(".0")


def _strip(name: str, trace: Trace, bound: int) -> dict:
    """Blocks of the passes bound so: pale where they will be, and the solid part that has been."""
    mine = trace.bound_by == bound
    left, right = trace.start_ms[mine], trace.end_ms[mine] - np.minimum(GAP * trace.pass_ms[mine], WIDEST * trace.end_ms[-1])
    level = dict(bottom=np.zeros(mine.sum()), top=np.ones(mine.sum()))
    return {f"{name}_ahead": dict(left=left, right=right, **level), f"{name}_done": dict(left=left, **level)}


def _done(name: str, trace: Trace, bound: int, clock: np.ndarray) -> dict:
    ahead = _strip(name, trace, bound)[f"{name}_ahead"]
    return {f"{name}_done.right": np.clip(clock[:, None], ahead["left"], ahead["right"])}


def _moment(trace: Trace, f: int) -> str:
    if f == trace.passes:
        return ""
    job = "Pass 1 processes the prompt and writes token 1" if f == 0 else f"Pass {f + 1} writes token {f + 1}"
    return f"{job}: memory {percent(trace.memory_busy[f])} busy, arithmetic {percent(trace.arithmetic_busy[f])}."


def _ticks(end: float) -> tuple[list[float], list[str]]:
    """At most six round moments, in ms, or in s where the run is as long as `ms` would say in s."""
    size, unit = (1000, "s") if end >= 10_000 else (1, "ms")
    # A name so near the end would run out of the picture on a phone.
    return list(steps(end)), ["0"] + [f"{v / size:,g} {unit}" if v < 0.96 * end else "" for v in steps(end)[1:]]


def draw() -> list:
    """Two meters, and under them the strip of passes."""
    meters = plot("meters", 104, (0, 1), (-0.05, 2.0))
    blocks(meters, "meters_empty", "panel", line="line")
    blocks(meters, "memory", "memory")
    blocks(meters, "arithmetic", "arithmetic")
    labels(meters, "memory_name", "memory", bold=True)
    labels(meters, "arithmetic_name", "arithmetic", bold=True)
    strip = plot("strip", 136, (0, 450), (-0.7, 1.8), axis=True)
    for name in ("memory", "arithmetic"):
        blocks(strip, f"{name}_ahead", f"{name}_pale")
        blocks(strip, f"{name}_done", name)
    dots(strip, "seen", "ink", size=8, hollow=True, part="measured")
    lines(strip, "now", "ink")
    labels(strip, "prefill_name", "ink")
    labels(strip, "decode_name", "ink", align="right")
    labels(strip, "seen_name", "ink", part="measured")
    return [meters, strip]


FIGURE = Figure(
    id="prefill-decode", title="What is the card busy with?", settings=Settings, compute=compute, draw=draw, main="prompt",
    controls=(Control("prompt", "tokens", positions=PROMPTS,
                      presets=(("A short question", QUESTION), ("A pasted document", DOCUMENT))),
              Control("reply", "tokens"), *MACHINE_CONTROLS),
    beside="""<div class="chat"><p class="sent">A prompt of <span class="number" data-say="prompt_tokens"></span>
<button type="button" data-do="send">Send</button> <span class="number clock" data-say="clock"></span></p>
<p class="written" data-say="written"></p></div>""",
    explain="""
<p>A pass takes as long as the longer of its two jobs:</p>
<p class="formula">time = max(bytes read ÷ bandwidth, arithmetic ÷ peak)</p>
<p>Decode: <span class="number" data-say="weights"></span> ÷ <span class="number" data-say="bandwidth"></span> GB/s =
<span class="number" data-say="alone"></span>, and <span class="number" data-say="speed"></span> tokens/s. Its arithmetic is 2 ×
<span class="number" data-say="parameters"></span> parameters: <span class="number" data-say="busy"></span> of what the card could do in that time.</p>
<p>Prefill: 2 × <span class="number" data-say="parameters"></span> parameters × <span class="number" data-say="prompt"></span> tokens ÷
<span class="number" data-say="peak"></span> TFLOPS, but never faster than one read of the weights:
<span class="number" data-say="prefill"></span>. A written token costs
<span class="number" data-say="ratio"></span> times as much as one of the prompt. (Sarathi’s authors measured about 200 where few people are served.)</p>
<p>With the datasheet's bandwidth and peak: <span data-say="lost"></span></p>""")
