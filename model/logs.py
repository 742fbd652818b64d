"""Reads a pasted start-up log of vLLM (0.6 to 0.28) or llama.cpp (2023 to 2026), and sets it beside the prediction.

The patterns follow what the sources print: vllm/worker/worker.py and vllm/executor/*_executor.py (engine V0),
vllm/v1/core/kv_cache_utils.py and vllm/v1/worker/gpu_worker.py (V1); llama.cpp's src/llama-model.cpp (print_info,
load_tensors), src/llama-context.cpp and src/llama-kv-cache.cpp, and the names these had before."""
import re
from dataclasses import dataclass

from model import catalogue, engines, rows
from model.machine import machine

MIB, GIB = 2.0 ** 20, 2.0 ** 30
NUMBER = r"(-?\d[\d,]*(?:\.\d+)?)"
DEVICES = r"(?:CUDA|ROCm|Metal|MTL|Vulkan|SYCL|CANN|MUSA)\d*(?:_Mapped|_Private)?"  # a card's buffers; CUDA_Host is not

# field, unit in the record, pattern. Values of one field add up where a line stands for one device (see ADDS).
VLLM = (
    ("version", "", r"LLM engine \(v?([\w.+]+)\)"),
    ("llm", "", r"model='([^']+)'"),
    ("weights_format", "", r"quantization=(?!None)(\w[\w-]*)"),
    ("kv_format", "", r"kv_cache_dtype='?(\w+)"),
    ("cards", "", r"tensor_parallel_size=(\d+)"),
    ("max_model_len", "tokens", r"(?:max_seq_len=|Using max model len )(\d+)"),
    ("batch_tokens", "tokens", r"max_num_batched_tokens=(\d+)"),
    ("weights_bytes", "GiB", r"(?:Model loading took|Loading model weights took|model weights take) " + NUMBER + r" ?Gi?B"),
    ("card_bytes", "GiB", r"total_gpu_memory(?: \(|=)" + NUMBER + "GiB"),
    ("utilization", "", r"gpu_memory_utilization(?: \(|['\"]?[:=] ?)(0?\.\d+|1\.0)"),
    ("activation_bytes", "GiB", r"PyTorch activation peak memory takes " + NUMBER + "GiB"),
    ("other_bytes", "GiB", r"non_torch_memory takes " + NUMBER + "GiB"),
    ("graph_bytes", "GiB", r"Graph capturing finished in \d+ secs?, took " + NUMBER + " GiB"),
    ("kv_bytes", "GiB", r"(?:Available KV cache memory: |reserved for KV Cache is |kv_cache_size=)" + NUMBER + " ?GiB"),
    ("kv_tokens", "tokens", r"GPU KV cache size: " + NUMBER + " tokens"),
    ("kv_tokens", "blocks", r"# (?:GPU|CUDA|cuda) blocks: (\d+)"),
    ("concurrency_tokens", "tokens", r"Maximum concurrency for " + NUMBER + " tokens"),
    ("concurrency", "", r"tokens per request: " + NUMBER + "x"),
)
LLAMA = (
    ("version", "", r"\bbuild(?:_info)?\s*[:=] (b?\d+)\b"),
    ("gpu", "", r"Device \d+: ([^,]+), compute capability"),
    ("gpu", "", r"(?:GPU name:\s*(?:MTL\d+ \()?|picking default device: |using device \w+ \()([A-Za-z][^()]*?)\)?(?: -|\s*$)"),
    ("llm", "", r"general\.name\s*(?:str)?\s*= (.+?)\s*$"),
    ("weights_format", "", r"(?:file type|model ftype)\s*= (?:all |mostly )?([A-Z][\w ]*(?:- \w+)?)"),
    ("weights_parameters", "B", r"model params\s*= " + NUMBER + " B"),
    ("context_tokens", "tokens", r"\bn_ctx\s+= (\d+)"),
    ("slots", "", r"n_seq_max\s+= (\d+)"),
    ("batch_tokens", "tokens", r"n_ubatch\s+= (\d+)"),
    ("flash", "", r"flash_attn\s+= (\w+)"),
    ("weights_bytes", "MiB", r"\b" + DEVICES + r"\s+(?:model )?buffer size =\s*" + NUMBER + " MiB"),
    ("host_weights_bytes", "MiB", r"\bCPU(?:_Mapped|_REPACK)?\s+(?:model )?buffer size =\s*" + NUMBER + " MiB"),
    ("kv_bytes", "MiB", r"\b(?:" + DEVICES + r"|CPU)\s+KV buffer size =\s*" + NUMBER + " MiB"),
    ("kv_self_bytes", "MiB", r"(?:KV|kv) self size\s*=\s*" + NUMBER + " Mi?B"),
    ("kv_self_bytes", "MiB", r"llama_kv_cache(?:_unified)?: size =\s*" + NUMBER + " MiB"),
    ("kv_format", "", r"(?:\bK \(|type_k = ')(\w+)"),
    ("compute_bytes", "MiB", r"\b" + DEVICES + r"\s+compute buffer size (?:=|of)\s*" + NUMBER + " MiB"),
)
ADDS = ("weights_bytes", "host_weights_bytes", "kv_bytes", "kv_self_bytes", "compute_bytes")
SCALE = {"GiB": GIB, "MiB": MIB, "blocks": 16.0, "B": 1e9, "tokens": 1.0, "": 1.0}
WORDS = ("version", "llm", "gpu", "weights_format", "kv_format", "flash")
SIGNS = {"vllm": ("kv_tokens", "kv_bytes", "weights_bytes"), "llama.cpp": ("weights_bytes", "kv_bytes", "kv_self_bytes")}


@dataclass(frozen=True)
class LogRecord:
    """A start-up log. engine: `vllm` or `llama.cpp`. values: number or word by field, bytes in bytes. lines: (field, line)
    for every line that said something, in the log's order."""

    engine: str
    values: dict
    lines: tuple


@dataclass(frozen=True)
class LogLine:
    """A line of a log beside the prediction: what it states, both numbers in unit, error (predicted over logged, less 1)."""

    what: str
    logged: float
    predicted: float
    unit: str
    error: float
    line: str


def read_log(text):
    """The LogRecord of a pasted start-up log. ValueError for a log of something else."""
    found = {"vllm": _read(text, VLLM, adds=()), "llama.cpp": _read(text, LLAMA, ADDS)}
    engine = max(found, key=lambda name: sum(sign in found[name][0] for sign in SIGNS[name]))
    values, lines = found[engine]
    if not any(sign in values for sign in SIGNS[engine]):
        raise ValueError("this is no start-up log of vLLM or llama.cpp: paste the lines from loading the model to "
                         "`GPU KV cache size` (vLLM) or `KV buffer size` (llama.cpp)")
    if engine == "llama.cpp" and "kv_bytes" not in values and "kv_self_bytes" in values:
        values["kv_bytes"] = values["kv_self_bytes"]
    return LogRecord(engine=engine, values=values, lines=tuple(lines))


def _read(text, patterns, adds):
    values, lines = {}, []
    for line in text.splitlines():
        for field, unit, pattern in patterns:
            match = re.search(pattern, line)
            if match:
                value = match[1].strip() if field in WORDS else float(match[1].replace(",", "")) * SCALE[unit]
                values[field] = values[field] + value if field in adds and field in values else values.get(field, value)
                lines.append((field, line.strip()))
    return values, lines


def machine_of(log, llm=None, gpu=None):
    """The Machine that a LogRecord speaks of; llm and gpu say what it does not. ValueError where neither does."""
    name, card = llm or log.values.get("llm"), gpu or log.values.get("gpu")
    if not name or not card:
        raise ValueError(f"this log does not say which {'model' if not name else 'card'} it is about; choose one beside it")
    weights, kv = _weights_format(log), log.values.get("kv_format", "auto")
    card = card if hasattr(card, "bandwidth_bytes_s") else rows.gpu_of(f"{int(log.values.get('cards', 1))}x {card}")
    m = machine(llm=name if hasattr(name, "layers") else rows.llm_of(str(name).replace(" ", "-")), gpu=card,
                weights=weights, kv="f16" if kv == "auto" else kv)
    return machine(m.llm, m.gpu, m.weights, m.kv, engine_of(log))


def engine_of(log):
    """The name of the engine whose terms are nearest to a log's."""
    if log.engine == "vllm":
        return rows.engine_of(f"vllm {log.values.get('version', '')}")
    on = str(log.values.get("flash", "")).lower() in ("1", "enabled", "auto", "on")
    return "llama.cpp-flash" if on else "llama.cpp"


def _weights_format(log):
    """A format's name from what a log calls it: `Q4_K - Medium`, `F16`, `fp8`, nothing for 16 bits."""
    name = str(log.values.get("weights_format", "f16"))
    name = re.sub(r"\s+-\s+(\w)\w*$", lambda size: "_" + size[1], name)
    return catalogue.weight_format({"compressed-tensors": "fp8"}.get(name.lower(), name)).name


def compare(log, m):
    """LogLines: each line of a LogRecord that states a size, beside the same size predicted for a Machine."""
    said, result, done = _predictions(log, m), [], set()
    for field, line in log.lines:
        logged = log.values[field]
        if field in said and said[field][0] not in done and logged > 0:
            what, value, unit = said[field]
            done.add(what)
            result.append(LogLine(what, logged / SCALE[unit], value / SCALE[unit], unit, value / logged - 1, line))
    return result


def _predictions(log, m):
    """{field: (what, predicted in the record's unit, unit to show)}."""
    if log.engine == "vllm":
        return _vllm_predictions(log, m)
    values, llm = log.values, m.llm
    looked_up = llm.embedding_parameters * m.weights.embedding_bits / 8
    cells, batch = values.get("context_tokens", 0.0), values.get("batch_tokens", 512.0)
    scores = 0.0 if m.engine.endswith("flash") else 4.0 * llm.heads * batch * cells
    kv = float(llm.kv_bytes(m.kv, cells))
    return {"weights_parameters": ("parameters", float(llm.parameters), "B"),
            "weights_bytes": ("weights on the card", llm.weights_bytes(m.weights) - (0.0 if llm.tied else looked_up), "MiB"),
            "kv_bytes": ("KV cache", kv, "MiB"), "kv_self_bytes": ("KV cache", kv, "MiB"),
            "compute_bytes": ("compute buffer", max(4.0 * batch * llm.vocabulary, scores) + 4.0 * batch * llm.hidden, "MiB")}


def _vllm_predictions(log, m):
    values = log.values
    share = values.get("utilization")
    tokens = values.get("batch_tokens") or engines.profiled_tokens(m, values.get("max_model_len"))
    usable, other = engines.memory_terms(m, share, pass_tokens=tokens)
    if "card_bytes" in values and share:
        usable = values["card_bytes"] * m.gpu.count * share
    kv_bytes = usable - m.llm.weights_bytes(m.weights) - other
    kv_tokens = max(0.0, kv_bytes // (16 * m.llm.kv_bytes_per_token(m.kv)) * 16)
    longest = values.get("concurrency_tokens") or values.get("max_model_len")
    said = {"weights_bytes": ("weights", m.llm.weights_bytes(m.weights) / m.gpu.count, "GiB"),
            "card_bytes": ("memory of the card", engines.visible_bytes(m.gpu) / m.gpu.count, "GiB"),
            "kv_bytes": ("memory for the KV cache", kv_bytes / m.gpu.count, "GiB"),
            "kv_tokens": ("tokens of KV cache", kv_tokens, "tokens")}
    if longest:
        said["concurrency"] = ("requests of full length", kv_tokens / longest, "")
    return said
