"""What a row of a file of measurements says: which machine, which engine, how loaded. Tolerant of how people write names.

The columns are those of data/measured/README.md. Nothing is predicted here; model.predict does that."""
import contextlib
import csv
import functools
import io
import re
from dataclasses import dataclass, replace

from model import catalogue, terms
from model.machine import DATASHEET, machine

COLUMNS = ("id", "source", "llm", "weights", "gpu", "engine", "load", "prompt_tokens", "context_or_output", "quantity",
           "value", "unit")
NUMBER = r"(\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?)\s*([kKM](?![a-zA-Z]))?"
MULTIPLE = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6}
ENDINGS = r"-(instruct|chat|it|hf|base|gguf|gptq|awq|fp8|fp16|bf16|f16|int4|int8|dynamic|preview|v\d+(\.\d+)*|2\d{3}|i?q\d[\w-]*)$"
NEAREST = (("ollama", "llama.cpp"), ("llama.cpp", "llama.cpp"), ("lm studio", "llama.cpp"), ("mlx", "llama.cpp"),
           ("sglang", "sglang-0.4"), ("tgi", "vllm-0.8"), ("tensorrt", "vllm-0.19"), ("trt", "vllm-0.19"),
           ("nanogpt", "vllm-0.6"), ("transformers", "vllm-0.6"), ("sarathi", "vllm-0.6"))
FLASH_SINCE = "2025-09"  # llama.cpp chooses flash attention by itself since its end of August 2025
DISTILLED = ((r"deepseek-r1-distill-llama", "llama-3.1"), (r"deepseek-r1-distill-qwen", "qwen2.5"),
             (r"llama-3\.1-nemotron", "llama-3.1"), (r"qwq-32b", "qwen2.5-32b"), (r"^meta-", ""), (r"^llama3", "llama-3"),
             (r"^llama-(1-)?7b", "llama-2-7b"), (r"^llama-2-13b", "llama-13b"))  # same shapes under another name
_as_datasheet = []  # see as_datasheet()


@dataclass(frozen=True)
class Row:
    """One row, as it stands; value as a number. words: all of its columns by name."""

    id: str
    source: str
    quantity: str
    unit: str
    value: float
    words: dict

    def text(self, column):
        """A column's text, without spaces around it; empty where it is missing."""
        return (self.words.get(column) or "").strip()


def read_rows(text):
    """The Rows of a CSV with the columns of data/measured/README.md. ValueError that names what is missing or wrong."""
    reader = csv.DictReader(io.StringIO(text))
    missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
    if missing:
        raise ValueError(f"this file has no column {missing[0]!r}; a file of measurements has {', '.join(COLUMNS)}")
    return [_row(words, number) for number, words in enumerate(reader, start=2)]


def _row(words, line):
    try:
        value = float(words["value"].replace(",", ""))
    except (ValueError, AttributeError):
        raise ValueError(f"line {line}: value {words['value']!r} is not a number; give it without its unit") from None
    return Row(id=words["id"] or f"line {line}", source=words["source"] or "", quantity=words["quantity"] or "",
               unit=(words["unit"] or "").strip(), value=value, words=words)


def machine_of(row, default_gpu=None):
    """The Machine of a row. ValueError says which of model, card, engine or format is not known."""
    words = " ".join(row.text(c) for c in ("load", "quantity"))
    m = _machine(*(row.text(c) for c in ("llm", "weights", "gpu", "engine", "date")), words, default_gpu)
    return replace(m, engine=DATASHEET) if _as_datasheet else m


@contextlib.contextmanager
def as_datasheet():
    """Within it, every row's machine is at the datasheet's values: for what a plain roofline says to a row."""
    _as_datasheet.append(True)
    try:
        yield
    finally:
        _as_datasheet.pop()


@functools.lru_cache(maxsize=4096)
def _machine(llm, weights, gpu, engine, date, words, default_gpu):
    names = formats_of(weights)
    m = machine(llm=llm_of(llm), gpu=gpu_of(gpu, default_gpu), weights=names[0], kv=names[1])
    return replace(m, engine=engine_of(engine, date, words))


def llm_of(text):
    """The LLM record of a model's name as people write it: with maker, `-Instruct`, a format, brackets. ValueError."""
    name = re.sub(r"\(.*?\)", "", text).strip()
    name = catalogue.plain(name.split("/")[-1].split(" + ")[0]).replace(":", "-")
    for pattern, known in DISTILLED:
        name = re.sub(pattern, known, name)
    return _shorten(name, catalogue.llm, "model", text)


def gpu_of(text, default=None):
    """The GPU record of a card's name as people write it: `2x NVIDIA H100 SXM5 80GB`, `RTX 3090 24GB`, `H100 SXM TP2`.
    Several cards come back as one with count. ValueError for a card not known and no default."""
    count = _count(text)
    name = re.sub(r"\(.*?\)|\btp\s*=?\s*\d+\b|^\s*\d+\s*[x×]|\s[x×*]\s*\d{1,2}\s*$|\*\d+$", " ", text, flags=re.I)
    name = re.sub(r"^\s*(?=[345]0[5-9]0\b)", "RTX ", name)
    try:
        gpu = _shorten(catalogue.plain(name.replace("Tensor Core", "")), catalogue.gpu, "card", text)
    except ValueError:
        if default is None:
            raise
        gpu = catalogue.gpu(default)
    return gpu if count == 1 else replace(
        gpu, count=count, bandwidth_bytes_s=gpu.bandwidth_bytes_s * count, peak_flops=gpu.peak_flops * count,
        memory_bytes=gpu.memory_bytes * count)


def _count(text):
    found = re.search(r"\btp\s*=?\s*(\d+)|^\s*(\d+)\s*[x×]|(?:\s[x×]\s*|\*\s*)(\d{1,2})\s*$", text, flags=re.I)
    return max(1, int(next(g for g in found.groups() if g))) if found else 1


def _shorten(name, look_up, what, text):
    """What look_up finds for a name, dropping endings one by one; ValueError if nothing is left."""
    words = name
    while words:
        try:
            return look_up(words)
        except ValueError:
            shorter = re.sub(ENDINGS, "", words) if what == "model" else words.rpartition("-")[0]
            if shorter == words:
                break
            words = shorter
    raise ValueError(f"{what} {text!r} is not in the catalogue")


def formats_of(text):
    """Names of the formats of weights and KV cache in a text such as `BF16, FP8 KV`. ValueError for one not known."""
    parts = [part.strip() for part in re.split(r"[,;+]", text) if part.strip(" -")]
    kv = next((p for p in parts if re.search(r"\bkv\b", p, flags=re.I)), "f16")
    weights = next((p for p in parts if not re.search(r"\bkv\b", p, flags=re.I)), "f16")
    clean = [re.sub(r"\b(kv|weights?|cache|dtype)\b", "", p, flags=re.I).strip(" =:").split(" ")[0] for p in (weights, kv)]
    return catalogue.weight_format(clean[0]).name, catalogue.kv_format(clean[1]).name


def engine_of(text, date="", load=""):
    """The engine whose terms are nearest to a server's name and version. ValueError where none is near."""
    name = text.lower()
    for known, engine in NEAREST:
        if known in name:
            return _flash(engine, date, f"{name} {load}".lower())
    if "vllm" in name:
        return _vllm_of(name)
    if name in terms.engines():
        return name
    raise ValueError(f"engine {text!r} has no terms here; there are terms for vLLM, SGLang and llama.cpp")


def _flash(engine, date, words):
    off = re.search(r"fa[ =]*(0|off)", words)
    on = re.search(r"\bfa[ =]*(1|on)|flash", words)
    return "llama.cpp-flash" if engine == "llama.cpp" and (on or (not off and date >= FLASH_SINCE)) else engine


def _vllm_of(name):
    """The latest vLLM in engines.toml that is not newer than the version in name; the newest without a version."""
    known = {tuple(map(int, e.split("-")[1].split("."))): e for e in terms.engines() if e.startswith("vllm-")}
    found = re.search(r"v?(\d+)\.(\d+)", name.split("vllm", 1)[1])
    version = (int(found[1]), int(found[2])) if found else (0, 19)
    return known[max((v for v in known if v <= version), default=min(known))]


def numbers_in(text):
    """All numbers in a text, with thousands and k or M resolved: `2048 new after 8,192 cached` gives 2048 and 8192."""
    return [float(n.replace(",", "")) * MULTIPLE[suffix or ""] for n, suffix in re.findall(NUMBER, text)]


def first_number(text, default=None):
    """The first number in a text, or default."""
    found = numbers_in(text)
    return found[0] if found else default


def rate_of(row):
    """Requests a second of a row's load, None where people are counted instead. A plain number is people, except in BLIS
    rows, whose load is a rate."""
    load = row.text("load")
    found = re.search(NUMBER + r"\s*(?:req(?:uest)?s?\s*/\s*s|req(?:uest)?s? (?:per|a) second|rps|qps)", load, flags=re.I) or \
        re.search(r"(?:rate|rps|qps)\s*[=:]?\s*" + NUMBER, load, flags=re.I)
    if found:
        return float(found[1].replace(",", ""))
    plain = re.fullmatch(NUMBER, load)
    return float(load.replace(",", "")) if plain and row.source.upper().startswith("BLIS") else None


def people_of(row, default=None):
    """People at once in a row's load: `8`, `n=8`, `8 seqs`, `batch 8`, `concurrency 32`; default without a number."""
    load = row.text("load")
    found = re.search(r"(?:n|b|bs|c|batch(?: size)?|concurrency|users?|parallel)\s*[=: ]\s*(\d+)", load, flags=re.I)
    return float(found[1]) if found else first_number(load, default)
