"""The terms of the engines: few numbers with a meaning, a unit, a plausible range and a source, and which engine uses which.

terms.toml says what each is, fitted.toml what tools/fit.py found on data/measured/measured.csv, engines.toml what is a
fact of an engine's source, chips.toml the multiprocessors of a card."""
import contextlib
import functools
import math
import tomllib
from dataclasses import dataclass
from pathlib import Path

DATA = Path(__file__).with_name("data") / "engines"
TILE = 256              # tokens of a prompt that fill a card in attention: 64 cost as much (LLMServingSim profile)
QUANTISED_KV = 0.5 / 0.54  # rate of reading 8-bit KV against 16-bit: it costs 54% by context (data/measured/README.md)
OTHER_CHIP_GHZ = 200.0  # multiprocessors x clock of a data-centre card that chips.toml does not know: an H100's
FULL_WATTS = 1.395      # watts a multiprocessor and GHz of an RTX 4090: 450 / (128 x 2.52)
HBM_BYTES_S = 1.2e12    # data-centre cards below it have GDDR and the multiprocessors of GeForce cards
_trial = {}             # values that a fit tries; see trying()


@dataclass(frozen=True)
class Term:
    """One free number: meaning, unit, where a fit starts, its plausible range, its source."""

    name: str
    meaning: str
    unit: str
    start: float
    low: float
    high: float
    source: str


@dataclass(frozen=True)
class Profile:
    """What an engine gets from a card, all terms resolved. Shares are of the datasheet's rates.

    bytes_s_cap, flops_cap: what its kernels take at most, whatever the card offers (inf without a limit). tile: tokens of a
    prompt that attention works on at least."""

    family: str
    flash: bool
    stream_share: float
    stream_share_many: float
    knee: float
    matrix_share: float
    quantised_share: float
    attention_share: float
    attention_ramp_us: float
    score_passes: float
    kv_share: float
    layer_us: float
    host_pass_ms: float
    host_person_ms: float
    request_ms: float
    bytes_s_cap: float
    flops_cap: float
    utilization: float
    tile: int = TILE
    quantised_kv_share: float = QUANTISED_KV


@functools.cache
def definitions():
    """All Terms by name."""
    table = tomllib.loads((DATA / "terms.toml").read_text(encoding="utf-8"))
    return {name: Term(name=name, **entry) for name, entry in table.items()}


@functools.cache
def fitted():
    """Values by name as tools/fit.py wrote them; the starting values where it has not run."""
    path = DATA / "fitted.toml"
    found = tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return {name: float(found.get(name, term.start)) for name, term in definitions().items()}


@functools.cache
def engines():
    """Entries of engines.toml by name."""
    return tomllib.loads((DATA / "engines.toml").read_text(encoding="utf-8"))


@functools.cache
def workloads():
    """Entries of workloads.toml by name: loads that sources name instead of describing."""
    return tomllib.loads((DATA / "workloads.toml").read_text(encoding="utf-8"))


def value(name):
    """Present value of a term."""
    return _trial.get(name, fitted()[name])


def checked(values):
    """values (by term), if each is within its plausible range; ValueError that names those which are not."""
    outside = [f"{name} = {values[name]:.4g} {term.unit}, plausible {term.low:g} to {term.high:g}"
               for name, term in definitions().items() if not term.low <= values[name] <= term.high]
    if outside:
        raise ValueError("the fit leaves the plausible range: " + "; ".join(outside))
    return values


@contextlib.contextmanager
def trying(values):
    """Within it, terms have these values: for a fit, and for predictions by terms fitted without some rows."""
    before = dict(_trial)
    _trial.update(values)
    try:
        yield
    finally:
        _trial.clear()
        _trial.update(before)


PLAIN = Profile(family="vllm", flash=True, stream_share=1.0, stream_share_many=1.0, knee=200.0, matrix_share=1.0,
                quantised_share=1.0, attention_share=1.0, attention_ramp_us=0.0, score_passes=0.0, kv_share=1.0, layer_us=0.0,
                host_pass_ms=0.0, host_person_ms=0.0, request_ms=0.0, bytes_s_cap=math.inf, flops_cap=math.inf,
                utilization=0.92, tile=1, quantised_kv_share=1.0)  # a roofline: everything at the datasheet's rate, and nothing besides


def profile(engine, gpu):
    """The Profile of an engine's name on a GPU record, PLAIN for `datasheet`. ValueError for an engine not known."""
    if engine == "datasheet":
        return PLAIN
    if engine not in engines():
        raise ValueError(f"no engine is called {engine!r}; known: {', '.join(engines())}")
    entry = engines()[engine]
    return _llama(entry, gpu) if entry["family"] == "llama.cpp" else _vllm(entry, gpu)


def _vllm(entry, gpu):
    return Profile(
        family="vllm", flash=True, stream_share=value("stream_share"), stream_share_many=value("stream_share_many"),
        knee=value("knee"),
        matrix_share=power_share(gpu) * value("matrix_share" if gpu.kind == "consumer" else "matrix_share_full"),
        quantised_share=1.0, attention_share=value("attention_share"), attention_ramp_us=value("attention_ramp_us"),
        score_passes=0.0, kv_share=value("stream_share"), layer_us=value("layer_us"),
        host_pass_ms=entry["host_pass_ms"], host_person_ms=value("host_person_ms") if entry["host_people"] else 0.0,
        request_ms=value("request_ms"), bytes_s_cap=float("inf"), flops_cap=float("inf"), utilization=entry["utilization"])


def _llama(entry, gpu):
    apple = gpu.kind == "apple"
    clocks = float("inf") if apple else chip_hz(gpu)
    flash = entry["flash"]
    return Profile(
        family="llama.cpp", flash=flash, stream_share=value("stream_share"), stream_share_many=value("stream_share_many"),
        knee=value("knee"), matrix_share=_llama_matrix_share(gpu),
        quantised_share=value("llama_quantised_share"), attention_share=value("attention_share"),
        attention_ramp_us=value("attention_ramp_us") if flash else 0.0,
        score_passes=0.0 if flash else value("llama_score_passes"),
        kv_share=value("stream_share") if flash else value("apple_kv_share" if apple else "llama_kv_share"),
        layer_us=value("apple_layer_us" if apple else "llama_layer_us"), host_pass_ms=0.0, host_person_ms=0.0,
        request_ms=0.0, bytes_s_cap=value("llama_sm_bytes") * clocks,
        flops_cap=value("llama_sm_flops_hbm" if has_hbm(gpu) else "llama_sm_flops") * clocks * power_share(gpu),
        utilization=entry["utilization"])


def class_of(engine, gpu):
    """Name of the class of cards whose terms an engine has on a GPU record."""
    if gpu.kind == "apple":
        return "Apple"
    if engines()[engine]["family"] == "llama.cpp":
        return "cards with HBM" if has_hbm(gpu) else "cards with GDDR"
    return "GeForce cards" if gpu.kind == "consumer" else "full-rate cards"


def _llama_matrix_share(gpu):
    """Share of peak that llama.cpp's prefill may reach besides its own limits: Apple's, all of it on chips whose limit is
    known by multiprocessor, that of full-rate cards on others (AMD's)."""
    if gpu.kind == "apple":
        return value("apple_matrix_share")
    return 1.0 if math.isfinite(chip_hz(gpu)) else value("matrix_share_full")


def chip_hz(gpu):
    """Multiprocessors x clock of a GPU record, in Hz, for all its cards; infinite where neither is known nor binding."""
    chips = _chips()
    if gpu.name in chips:
        units, ghz, _ = chips[gpu.name]
        return units * ghz * 1e9 * gpu.count
    return OTHER_CHIP_GHZ * 1e9 * gpu.count if gpu.kind == "datacenter" else float("inf")


def power_share(gpu):
    """Share of the boost clock that a card with GDDR keeps while its tensor cores work: 1 with as many watts for each
    multiprocessor and GHz as an RTX 4090 has, in proportion below; 1 for cards that chips.toml does not know."""
    if has_hbm(gpu) or gpu.name not in _chips():
        return 1.0
    units, ghz, watts = _chips()[gpu.name]
    return min(1.0, watts / (units * ghz) / FULL_WATTS)


def has_hbm(gpu):
    """Whether a card is one of the large data-centre chips with HBM, whose multiprocessors have bigger tensor cores."""
    return gpu.kind == "datacenter" and gpu.bandwidth_bytes_s >= HBM_BYTES_S * gpu.count


@functools.cache
def _chips():
    return tomllib.loads((DATA / "chips.toml").read_text(encoding="utf-8"))
