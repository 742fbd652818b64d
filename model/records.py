"""The records of the catalogue: a model, a card, a number format. Plain data, with the sums that belong to one record."""
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Format:
    """A number format, of weights or of the KV cache.

    bits: mean bits a value, scales included; of weights, those of all but the two tables of tokens. embedding_bits and
    output_bits: of the table that looks tokens up and of the one that scores them (which a tied model has for both).
    experts_only: what is not an expert of a mixture stays at 16 bits. scale_bytes: kept besides for every K or V vector of
    one head and one token. llama_cpp, vllm: what the server calls it, empty where it does not know it."""

    name: str
    label: str
    bits: float
    embedding_bits: float = 16
    output_bits: float = 16
    experts_only: bool = False
    scale_bytes: int = 0
    llama_cpp: str = ""
    vllm: str = ""
    source: str = ""

    @property
    def covers(self):
        """Which weights are stored so: `all`, `linear` (not the tables of tokens) or `experts`."""
        if self.experts_only:
            return "experts"
        return "all" if self.embedding_bits < 16 or self.bits == 16 else "linear"


@dataclass(frozen=True)
class GPU:
    """A card, or a machine whose processor and graphics share one memory: what its datasheet says.

    bandwidth_bytes_s: bytes a second from its memory. peak_flops: dense 16-bit operations a second, summed in 32 bits.
    memory_bytes: capacity as it is sold. kind: `consumer`, `workstation`, `datacenter` or `apple`. count: cards as one."""

    name: str
    label: str
    maker: str
    architecture: str
    kind: str
    bandwidth_bytes_s: float
    peak_flops: float
    memory_bytes: float
    also: tuple = ()
    count: int = 1
    source: str = ""


@dataclass(frozen=True)
class LLM:
    """A model's shape: what decides the bytes it reads, the arithmetic it needs and the KV cache it keeps.

    active_parameters: those that one token uses (fewer than parameters in a mixture of experts).
    embedding_parameters: the table that looks tokens up, which decode does not read unless it is tied to the output.
    table_parameters: the embedding and, unless tied, the output table.
    expert_parameters: all routed experts of all layers. latent: values a token and layer with latent attention, else 0.
    window: tokens that each of window_layers holds at most; the other layers hold everything."""

    name: str
    label: str
    family: str
    parameters: int
    active_parameters: int
    embedding_parameters: int
    table_parameters: int
    tied: bool
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_size: int
    vocabulary: int
    max_context: int
    experts: int = 0
    experts_used: int = 0
    expert_parameters: int = 0
    latent: int = 0
    window: int = 0
    window_layers: int = 0
    also: tuple = ()
    source: str = ""

    @property
    def repository(self):
        """Where Hugging Face keeps it, such as meta-llama/Llama-3.1-8B, or its name where the source does not say."""
        address = self.source.split("huggingface.co/")
        return address[1].split("/blob")[0] if len(address) > 1 else self.name

    def weights_bytes(self, weights):
        """Bytes of all weights in the Format weights."""
        output = self.embedding_parameters if self.tied else self.table_parameters - self.embedding_parameters
        embedding = self.table_parameters - output
        rest = self.parameters - self.table_parameters
        full = rest - self.expert_parameters if weights.experts_only and self.experts else 0
        return (embedding * weights.embedding_bits + output * weights.output_bits + full * 16.0
                + (rest - full) * weights.bits) / 8

    def expert_bytes(self, weights):
        """Bytes of all routed experts in the Format weights; 0 without experts."""
        return self.expert_parameters * weights.bits / 8

    def touched_share(self, tokens):
        """Share of the experts that a pass over so many tokens is expected to touch, if every choice is as likely:
        1 - (1 - used / experts) ** tokens. 1 without experts. Broadcasts."""
        if not self.experts:
            return np.ones_like(tokens, dtype=float)
        return 1.0 - (1.0 - self.experts_used / self.experts) ** np.asarray(tokens, dtype=float)

    def kv_layer_bytes(self, kv):
        """Bytes that one token keeps in one layer, in the Format kv."""
        if self.latent:
            return self.latent * kv.bits / 8 + kv.scale_bytes
        return 2 * self.kv_heads * (self.head_size * kv.bits / 8 + kv.scale_bytes)

    def kv_bytes_per_token(self, kv):
        """Bytes that one more token adds to the KV cache while the conversation is shorter than any window."""
        return self.layers * self.kv_layer_bytes(kv)

    def kv_bytes(self, kv, tokens):
        """Bytes of KV cache of a conversation of so many tokens; window layers hold at most their window. Broadcasts."""
        tokens = np.asarray(tokens, dtype=float)
        held = (self.layers - self.window_layers) * tokens
        if self.window_layers:
            held = held + self.window_layers * np.minimum(tokens, self.window)
        return self.kv_layer_bytes(kv) * held
