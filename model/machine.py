"""A Machine: which model runs on which card, in which formats, and how closely it is to be described."""
from dataclasses import dataclass

from model import catalogue
from model.records import GPU, LLM, Format

DATASHEET = "datasheet"


@dataclass(frozen=True)
class Machine:
    """What runs where. engine is `datasheet` (bandwidth and peak as printed) or an engine's name (what it really gets)."""

    llm: LLM
    gpu: GPU
    weights: Format
    kv: Format
    engine: str


def machine(llm="llama-3.1-8b", gpu="rtx-4090", weights="f16", kv="f16", engine=DATASHEET):
    """The Machine of these names; a record (LLM, GPU, Format) may stand for its name. ValueError for a name not known."""
    llm = llm if isinstance(llm, LLM) else catalogue.llm(llm)
    gpu = gpu if isinstance(gpu, GPU) else catalogue.gpu(gpu)
    weights = weights if isinstance(weights, Format) else catalogue.weight_format(weights)
    kv = kv if isinstance(kv, Format) else catalogue.kv_format(kv)
    return Machine(llm, gpu, weights, kv, _engine(engine))


def engines():
    """Names of all engines, the datasheet first."""
    from model import engines as measured  # engines knows passes and machines: imported late, where it is needed
    return [DATASHEET, *(name for name in measured.names() if name != DATASHEET)]


def _engine(name):
    if name == DATASHEET:
        return name
    return catalogue.choose(name, {catalogue.plain(engine): engine for engine in engines()}, "engine")
