"""The settings that all figures share: which model, which card, which formats, how close to what servers get."""
from __future__ import annotations

import param

import model
from model.machine import DATASHEET, engines

from .figure import Control

# How readers know the engines; one that is not listed goes by its own name.
SERVERS = {"vllm": "vLLM", "sglang": "SGLang", "llama.cpp": "llama.cpp"}
WITHS = {"llama.cpp-flash": "llama.cpp with flash attention"}


def engine_name(engine: str) -> str:
    """`vLLM 0.19`, `llama.cpp with flash attention`."""
    server, _, version = engine.partition("-")
    return WITHS.get(engine, " ".join(filter(None, (SERVERS.get(server, server), version))))


def engine_label(engine: str) -> str:
    """A choice of the switch: `what the datasheet says`, `what vLLM 0.19 gets`."""
    return "what the datasheet says" if engine == DATASHEET else f"what {engine_name(engine)} gets"


def choices(names, label) -> dict[str, str]:
    """{label: name}, as Param's Selector and Panel's Select want them."""
    return {label(name): name for name in names}


class MachineSettings(param.Parameterized):
    """Settings of the machine. Subclasses add the figure's own."""

    llm = param.Selector(default="llama-3.1-8b", label="Model", doc="the model that is served",
                         objects=choices(model.llms(), lambda n: model.llm(n).label))
    gpu = param.Selector(default="rtx-4090", label="Card", doc="the card or machine that serves it",
                         objects=choices(model.gpus(), lambda n: model.gpu(n).label))
    weights = param.Selector(default="f16", label="Weights", doc="number format of the weights",
                             objects=choices(model.weight_formats(), lambda n: model.weight_format(n).label))
    kv = param.Selector(default="f16", label="KV cache", doc="number format of the KV cache",
                        objects=choices(model.kv_formats(), lambda n: model.kv_format(n).label))
    engine = param.Selector(default=DATASHEET, label="Numbers", doc="what the datasheet says, or what servers get",
                            objects=choices(engines(), engine_label))

    def machine(self) -> model.Machine:
        """The model's Machine of these settings."""
        return model.machine(self.llm, self.gpu, self.weights, self.kv, self.engine)


MACHINE_CONTROLS = (Control("engine"), *(Control(name, folded=True) for name in ("llm", "gpu", "weights", "kv")))
CHOSEN_MACHINE = (Control("gpu"), Control("llm"), Control("weights"), Control("kv"), Control("engine"))  # where it is the point

# Steps of a context slider: equal steps would put everything that fits on a card into its first tenth.
CONTEXTS = (512, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 10240, 12288, 16384, 20480, 24576, 32768, 49152, 65536,
            98304, 131072)
