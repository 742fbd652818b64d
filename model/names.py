"""Names of models, cards, formats and servers as people write them in measurements and logs, and the records they mean."""
import re
from dataclasses import replace

from model import catalogue, terms

QUANTISED = r"(?:iq|q)\d\w*|mxfp4"  # how llama.cpp's formats begin
FORMAT = rf"(?:{QUANTISED}|[bf]?f16|fp16|fp8|int[48]|w\da\d+|awq|gptq|[48]-?bit)"
ENDINGS = (r"-(instruct|chat|it|hf|base|gguf|preview|dynamic|kv|mlx|bnb|nf4|marlin|thinking|quantized|moe|v\d+(\.\d+)*|2\d{3}|\d+k|"
           rf"{FORMAT})$")
TAIL = rf"[\s_-]+(?:(?:mostly|all)[\s_-]+)?(?:{QUANTISED})\b.*$"  # `mostly Q4_0`, `IQ4_XS - 4.25 bpw`, `MXFP4 MoE`
SAME = (  # models with the shapes of another, and what llama-bench calls its architectures
    (r"^meta-(?=llama)", ""), (r"^deepseek-r1-distill-(llama)", r"\1-3.1"), (r"^llama-3\.1-(1|3)b", r"llama-3.2-\1b"),
    (r"^deepseek-r1-distill-qwen", "qwen2.5"), (r"^llama-3\.1-nemotron-(70|8)b", r"llama-3.1-\1b"), (r"^qwq-32b", "qwen2.5-32b"),
    (r"^llama(\d)", r"llama-\1"), (r"^llama-(1-)?7b", "llama-2-7b"), (r"^llama-2-13b", "llama-13b"),
    (r"^(vicuna|codellama|code-llama|wizardlm)-(7|13)b", r"llama-2-\2b"), (r"^llama-2-13b", "llama-13b"),
    (r"^(codellama|code-llama)-70b", "llama-2-70b"), (r"^llama-(1|3)b", r"llama-3.2-\1b"), (r"^(llama|mistral)-(8x\d+b)", r"mixtral-\2"),
    (r"^qwen-?2(\.5)?-(coder-|math-)?(?=\d)", "qwen2.5-"), (r"^qwen-?3-?(moe-|coder-)?(?=\d)", "qwen3-"),
    (r"^(qwen3-\d+b)\.a", r"\1-a"), (r"^gemma(\d)", r"gemma-\1"), (r"^phi-?3(\.5)?-(3\.?8?|4)b", "phi-3-mini"),
    (r"^phi-3\.5-mini", "phi-3-mini"), (r"^phi(\d)", r"phi-\1"), (r"^(phi-3-(mini|medium))-\d+k", r"\1"),
    (r"^mistral-small-(3\.\d-)?24b", "mistral-small-24b"), (r"^deepseek2?-(r1-|v3-)?671b", "deepseek-v3"),
    (r"^deepseek2-16b", "deepseek-v2-lite"), (r"^deepseek2-236b", "deepseek-v2"))
# Words of a card's name that another card of the same name may have or lack without being another card.
BESIDES = (r"\d+(gb?|w)|\d+|gpu|cores?|\d+-core|hbm\d?e?|gddr\w+|sxm\d?|pcie|founders|workstation|server|edition|fe|oc|vram|"
           r"generation|cuda|metal|vulkan|unified|memory")
MLX = {"4": "q4_0", "8": "q8_0"}  # mlx_lm.convert: groups of 64 share 16 bits of scale and 16 of bias: as many bits as these
NEAREST = (("ollama", "llama.cpp"), ("llama.cpp", "llama.cpp"), ("llama-", "llama.cpp"), ("llamafile", "llama.cpp"),
           ("koboldcpp", "llama.cpp"), ("lm studio", "llama.cpp"), ("mlx", "llama.cpp"),
           ("sglang", "sglang-0.4"), ("tgi", "vllm-0.8"), ("tensorrt", "vllm-0.19"), ("trt", "vllm-0.19"),
           ("nanogpt", "vllm-0.6"), ("transformers", "vllm-0.6"), ("sarathi", "vllm-0.6"))
FLASH_SINCE = "2025-09"  # llama.cpp chooses flash attention by itself since its end of August 2025


def llm_of(text):
    """The LLM record of a model's name as people write it: with maker, `-Instruct`, a format, brackets; of a model made
    from one that is known, that one's. ValueError."""
    name = re.sub(r"\(.*?\)", "", text).strip()
    name = re.sub(TAIL, "", name.split("/")[-1].split(" + ")[0], flags=re.I)
    name = re.sub(r"-\b(mostly|all)\b.*", "", catalogue.plain(name).replace(":", "-"))
    found = _shorten(_same(name), catalogue.llm, ENDINGS) or _within(name)
    if found is None:
        raise ValueError(f"model {text!r} is not in the catalogue")
    return found


def _same(name):
    for pattern, known in SAME:
        name = re.sub(pattern, known, name)
    return name


def _within(name):
    """The LLM with the longest name that stands in this one between dashes: `hermes-3-llama-3.1-8b`; None without one."""
    inside = [known for known in catalogue.llms(rare=True) if re.search(rf"-{re.escape(known)}(-|$)", name)]
    return catalogue.llm(max(inside, key=len)) if inside else None


def gpu_of(text, default=None):
    """The GPU record of a card's name as people write it: `2x NVIDIA H100 SXM5 80GB`, `RTX 3090 24GB`, `H100 SXM TP2`.
    Several cards come back as one with count. ValueError for a card not known and no default."""
    count = _count(text)
    name = re.sub(r"(\d+)[- ](?:gpu[- ])?cores?\b(?! ?cpu)(?:[- ]gpu)?", r" \1-core ", text, flags=re.I)
    name = re.sub(r"\d+[- ](?:cpu[- ]cores?|cores? cpu)", " ", name, flags=re.I)
    name = re.sub(r"\((?!\s*\d+-core).*?\)|\btp\s*=?\s*\d+\b|^\s*(?:\d+\s*[x×]|dual\b)|\s[x×*]\s*\d{1,2}\s*$|\*\d+$", " ", name,
                  flags=re.I)
    name = re.sub(r"^\s*(?=[2345]0[5-9]0\b)", "RTX ", re.sub(r"[()]", " ", name))
    found = _shorten(catalogue.plain(name.replace("Tensor Core", "")), catalogue.gpu, rf"-({BESIDES})$")
    if found is None and default is None:
        raise ValueError(f"card {text!r} is not in the catalogue")
    gpu = found or catalogue.gpu(default)
    return gpu if count == 1 else replace(
        gpu, count=count, bandwidth_bytes_s=gpu.bandwidth_bytes_s * count, peak_flops=gpu.peak_flops * count,
        memory_bytes=gpu.memory_bytes * count)


def _count(text):
    found = re.search(r"\btp\s*=?\s*(\d+)|^\s*(\d+)\s*[x×]|(?:\s[x×]\s*|\*\s*)(\d{1,2})\s*$", text, flags=re.I)
    if re.match(r"\s*dual\b", text, flags=re.I):
        return 2
    return max(1, int(next(g for g in found.groups() if g))) if found else 1


def _shorten(name, look_up, endings):
    """What look_up finds for a name, dropping endings one by one; None if it is not known when none is left."""
    while True:
        try:
            return look_up(name)
        except ValueError:
            shorter = re.sub(endings, "", name)
            if shorter == name:
                return None
            name = shorter


def formats_of(text, model=""):
    """Names of the formats of weights and KV cache in a text such as `BF16, FP8 KV` or `Q4_K - Medium`; where it says
    nothing, the format of weights that stands in the model's name, else 16 bits. ValueError for one not known."""
    parts = [part.strip() for part in re.split(r"[,;+]", text) if part.strip(" -")]
    kv = next((p for p in parts if re.search(r"\bkv\b", p, flags=re.I)), "f16")
    named = re.search(rf"(?:^|[\s_-])({FORMAT}(?: - (?:small|medium|large))?)(?=$|[\s_-])", model, flags=re.I)
    weights = next((p for p in parts if not re.search(r"\bkv\b", p, flags=re.I)), named[1] if named else "f16")
    return _format(weights, catalogue.weight_format), _format(kv, catalogue.kv_format)


def _format(text, look_up):
    """The name of the first format that look_up knows among the words of a text; its ValueError about the first word."""
    mlx = re.search(r"\bmlx\D*([48])[- ]?bit", text, flags=re.I)
    words = re.sub(r"\b(kv|weights?|cache|dtype|mostly|all|gguf|ggml)\b", " ", MLX[mlx[1]] if mlx else text, flags=re.I)
    words = re.sub(r"(?<=_k) - (s|m|l)(?:mall|edium|arge)\b", r"_\1", words, flags=re.I).replace("=", " ").replace(":", " ").split()
    for word in words:
        try:
            return look_up(word).name
        except ValueError:
            continue
    return look_up(words[0] if words else text).name


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
