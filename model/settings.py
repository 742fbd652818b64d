"""What the servers really do with their settings, and the command line to type.

Sources. llama.cpp: tools/server/README.md, src/llama-context.cpp (the rounding of -c), src/llama-kv-cache-iswa.cpp (layers
with windows). vLLM: vllm/config/cache.py, vllm/config/scheduler.py, vllm/engine/arg_utils.py."""
from dataclasses import dataclass
from typing import NamedTuple

from model.limits import whole
from model.memory import kv_memory

CELLS = 256        # llama.cpp rounds its cache up to a multiple of this
UBATCH = 512       # llama.cpp's -ub, tokens that a window's cache has room for besides the window
AUTO_SLOTS = 4     # llama-server's slots without -np
BLOCK = 16         # vLLM's block of KV cache, tokens
MOST_SLOTS = 256   # llama-server takes no more
LARGE_BYTES = 70 * 2**30  # cards from here on get vLLM's larger defaults, except the A100


class Effect(NamedTuple):
    """One flag as it is typed, and what it does here, in a sentence."""

    flag: str
    effect: str


@dataclass(frozen=True)
class LlamaCppSettings:
    """slot_tokens: the longest conversation of one slot. total_tokens: cells of the KV cache, kv_bytes: their size.
    fits: whether weights, overhead and cache fit on the card; where they do not, llama-server does not start, or leaves
    layers to the processor's memory. most_ctx: the largest -c that fits with these slots; most_slots: how many slots
    that see slot_tokens fit; 0 for none. command: to be typed; effects: one Effect a flag."""

    slots: int
    slot_tokens: int
    total_tokens: int
    kv_bytes: float
    card_bytes: float
    needed_bytes: float
    fits: bool
    most_ctx: int
    most_slots: int
    command: str
    effects: tuple


@dataclass(frozen=True)
class VllmSettings:
    """kv_tokens: tokens of KV cache, in whole blocks. max_concurrency: conversations of max_model_len tokens at once.
    starts: False where not even one of them fits, which vLLM refuses. command: to be typed; effects: one Effect a flag."""

    max_model_len: int
    max_num_seqs: int
    max_num_batched_tokens: int
    kv_tokens: int
    kv_blocks: int
    max_concurrency: float
    starts: bool
    command: str
    effects: tuple


def llama_cpp_settings(m, ctx=0, slots=None, kv_unified=False):
    """LlamaCppSettings of `llama-server -c ctx -np slots [--kv-unified]` on the Machine m.

    ctx 0 is the model's own longest context; slots None is llama-server's own choice, 4 that share one pool. With slots and
    without kv_unified the cells are split: ctx is rounded up to a multiple of 256, each slot's share too, and the total is
    share x slots. ValueError for a number out of range or a format that llama.cpp does not read."""
    ctx = whole("ctx", ctx, 0, 2**31)
    shared = kv_unified or slots is None
    count = AUTO_SLOTS if slots is None else whole("slots", slots, 1, MOST_SLOTS)
    weights, cache = _spoken(m.weights, "llama_cpp", "llama.cpp"), _spoken(m.kv, "llama_cpp", "llama.cpp")
    total = _up(ctx or m.llm.max_context)
    slot_tokens = total if shared else _up(total // count)
    total = total if shared else slot_tokens * count
    kv_bytes = _llama_cpp_kv_bytes(m, slot_tokens, total, count, shared)
    memory = kv_memory(m, context=slot_tokens, utilization=1.0)
    needed = memory.weights_bytes + memory.overhead_bytes + kv_bytes
    most_ctx, most_slots = _most_that_fits(m, count, slot_tokens, shared, memory.budget_bytes)
    words = ["llama-server", "-m", f"{m.llm.name}-{weights}.gguf", "-c", str(ctx)]
    words += [] if slots is None else ["-np", str(slots)]
    words += ["--kv-unified"] if kv_unified else []
    words += [] if m.kv.bits == 16 else ["-ctk", cache, "-ctv", cache]
    return LlamaCppSettings(
        slots=count, slot_tokens=slot_tokens, total_tokens=total, kv_bytes=kv_bytes,
        card_bytes=memory.usable_bytes, needed_bytes=needed, fits=needed <= memory.usable_bytes,
        most_ctx=most_ctx, most_slots=most_slots, command=" ".join([*words, "--metrics"]),
        effects=_llama_cpp_effects(m, ctx, slots, kv_unified, count, slot_tokens, total, cache))


def _most_that_fits(m, count, slot_tokens, shared, budget_bytes):
    """(the largest -c, the most slots of slot_tokens) whose KV cache fits in budget_bytes; a shared pool is one slot's."""
    def fits(each, slots):
        return _llama_cpp_kv_bytes(m, each, each if shared else each * slots, slots, shared) <= budget_bytes

    longest = CELLS * _most(_up(max(slot_tokens, m.llm.max_context)) // CELLS, lambda k: fits(CELLS * k, count))
    return longest * (1 if shared else count), _most(MOST_SLOTS, lambda n: fits(slot_tokens, n))


def _most(high, fits):
    """The largest k up to high for which fits(k), which holds below any k for which it holds; 0 where not even 1 does."""
    low = 0
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def vllm_settings(m, max_model_len=None, max_num_seqs=None, utilization=None, overhead_bytes=None):
    """VllmSettings of `vllm serve` with these flags on the Machine m; None leaves a flag to vLLM.

    kv_tokens = (utilization x card - weights - overhead) / bytes a token, in whole blocks of 16 tokens; max_concurrency =
    kv_tokens / max_model_len. Layers with windows: what a conversation of max_model_len tokens keeps in them counts.
    ValueError for a number out of range or a format that vLLM does not read."""
    length = whole("max_model_len", m.llm.max_context if max_model_len is None else max_model_len, 1, m.llm.max_context)
    batched, seqs = vllm_defaults(m.gpu)
    seqs = seqs if max_num_seqs is None else whole("max_num_seqs", max_num_seqs, 1, 1_000_000)
    weights, cache = _spoken(m.weights, "vllm", "vLLM"), _spoken(m.kv, "vllm", "vLLM")
    memory = kv_memory(m, context=length, utilization=utilization, overhead_bytes=overhead_bytes)
    blocks = memory.budget_tokens // BLOCK
    tokens = blocks * BLOCK
    words = ["vllm", "serve", m.llm.repository]
    words += [] if max_model_len is None else ["--max-model-len", str(length)]
    words += [] if max_num_seqs is None else ["--max-num-seqs", str(seqs)]
    words += [] if utilization is None else ["--gpu-memory-utilization", f"{utilization:g}"]
    words += [] if m.weights.bits == 16 else ["--quantization", weights]
    words += [] if m.kv.bits == 16 else ["--kv-cache-dtype", cache]
    return VllmSettings(
        max_model_len=length, max_num_seqs=seqs, max_num_batched_tokens=batched, kv_tokens=tokens, kv_blocks=blocks,
        max_concurrency=tokens / length, starts=tokens >= length, command=" ".join(words),
        effects=_vllm_effects(m, length, seqs, batched, utilization, memory, tokens))


def vllm_defaults(gpu):
    """(max_num_batched_tokens, max_num_seqs) that `vllm serve` takes on this card when told nothing."""
    one = gpu.memory_bytes / gpu.count / 1e9 * 2**30  # a card sold as 80 GB has 80 GiB
    large = one >= LARGE_BYTES and "a100" not in gpu.name
    return (8192, 1024) if large else (2048, 256)


def _llama_cpp_kv_bytes(m, slot_tokens, total, slots, shared):
    """Bytes of the KV cache that llama.cpp sets aside; layers with windows get a smaller one.

    A model whose layers all have windows (Mistral 7B v0.1, Phi-3) is run without them."""
    layer = m.llm.kv_layer_bytes(m.kv)
    windowed = m.llm.window_layers if m.llm.window_layers < m.llm.layers else 0
    streams = 1 if shared else slots
    cells = min(total // streams, m.llm.window * (slots if shared else 1) + UBATCH)
    return layer * ((m.llm.layers - windowed) * total + windowed * _up(cells) * streams)


def _llama_cpp_effects(m, ctx, slots, kv_unified, count, slot_tokens, total, cache):
    own = f"the model's own {m.llm.max_context:,} tokens" if not ctx else f"{total:,} tokens of KV cache in all"
    if kv_unified or slots is None:
        split = f"{count} slots share one pool of {total:,} tokens; a full pool fails requests"
    else:
        split = f"{count} slots of {slot_tokens:,} tokens each; none can lend to another"
    effects = [Effect(f"-c {ctx}", own), Effect("-np left out" if slots is None else f"-np {slots}", split)]
    if kv_unified:
        effects.append(Effect("--kv-unified", "every slot sees the whole -c, but not at the same time"))
    if m.kv.bits != 16:
        effects.append(Effect(f"-ctk {cache} -ctv {cache}", f"{m.kv.bits:g} bits a value of KV cache instead of 16"))
    return (*effects, Effect("--metrics", "off by default; shows requests_processing and requests_deferred"))


def _vllm_effects(m, length, seqs, batched, utilization, memory, tokens):
    share = "" if utilization is None else f" {utilization:g}"
    effects = [
        Effect(f"--max-model-len {length}", "tokens of the longest conversation; "
               + (f"{tokens / length:,.2f} of that length fit at once" if tokens >= length else "not even one of that length fits")),
        Effect(f"--max-num-seqs {seqs}", "conversations in one pass at most; the rest wait"),
        Effect("--gpu-memory-utilization" + share,
               f"{memory.usable_bytes / 1e9:.1f} GB for weights, overhead and {tokens:,} tokens of KV cache, in whole pages"),
        Effect(f"--max-num-batched-tokens {batched}", "tokens of one pass at most: longer prompts are processed in such chunks")]
    if m.weights.bits != 16:
        effects.append(Effect(f"--quantization {m.weights.vllm}", f"{memory.weights_bytes / 1e9:.2f} GB of weights"))
    if m.kv.bits != 16:
        effects.append(Effect(f"--kv-cache-dtype {m.kv.vllm}",
                              f"{memory.kv_bytes_per_token / 1024:g} KiB a token of KV cache"))
    return tuple(effects)


def _spoken(form, server, name):
    word = getattr(form, server)
    if not word:
        raise ValueError(f"{name} does not read {form.name}; give it f16 or another of its own formats")
    return word


def _up(tokens):
    """tokens, rounded up to whole 256."""
    return -(-tokens // CELLS) * CELLS
