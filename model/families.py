"""How each family of models is built: which fields of its config.json count, and what they add up to.

A layer has attention (queries, keys, values, an output), a feed-forward part (three matrices, or experts of three) and
norms. What differs from family to family is a row of FAMILIES. Source: the modelling code of each family in
https://github.com/huggingface/transformers/tree/main/src/transformers/models"""
from dataclasses import dataclass, field
from typing import Callable, NamedTuple


class Attention(NamedTuple):
    """One layer's attention: its parameters and what it keeps of a token."""

    parameters: int
    heads: int
    kv_heads: int
    head_size: int
    latent: int


class Feed(NamedTuple):
    """All layers' feed-forward parts: parameters that every token uses, those of one expert, and how many there are."""

    shared: int
    expert: int = 0
    experts: int = 0
    used: int = 0
    sparse_layers: int = 0


def grouped_attention(fields, family, hidden):
    """Queries of all heads, keys and values of the KV heads, an output; Llama and most others."""
    heads = fields.count("num_attention_heads")
    kv_heads = fields.count("num_key_value_heads", heads if family.kv_heads_optional else None)
    head_size = fields.count("head_dim", hidden // heads)
    wide, narrow = heads * head_size, kv_heads * head_size
    parameters = hidden * (2 * wide + 2 * narrow)
    biased = fields.flag("attention_bias", family.biases == "all")
    if biased or family.biases == "qkv":
        parameters += wide + 2 * narrow
    if biased:
        parameters += hidden
    if family.qk_norm:
        parameters += 2 * head_size
    if family.sinks:
        parameters += heads
    return Attention(parameters, heads, kv_heads, head_size, latent=0)


def latent_attention(fields, family, hidden):
    """DeepSeek's multi-head latent attention: keys and values of all heads out of one latent vector and one rotary key."""
    heads, rank, rotary = (fields.count(f) for f in ("num_attention_heads", "kv_lora_rank", "qk_rope_head_dim"))
    plain, value = fields.count("qk_nope_head_dim"), fields.count("v_head_dim")
    query_rank, head_size = fields.optional("q_lora_rank"), plain + rotary
    queries = hidden * heads * head_size
    if query_rank:
        queries = hidden * query_rank + query_rank + query_rank * heads * head_size
    keys = hidden * (rank + rotary) + rank + rank * heads * (plain + value)
    return Attention(queries + keys + heads * value * hidden, heads, heads, head_size, latent=rank + rotary)


def dense_feed(fields, hidden, layers):
    """Gate, up and down of one width."""
    return Feed(layers * three(hidden, fields.count("intermediate_size")))


def mixtral_feed(fields, hidden, layers):
    """Experts of the ordinary width and a router, in every layer."""
    experts = fields.count("num_local_experts")
    return Feed(layers * hidden * experts, three(hidden, fields.count("intermediate_size")), experts,
                fields.count("num_experts_per_tok"), layers)


def gpt_oss_feed(fields, hidden, layers):
    """As Mixtral's, with biases on the router and on every matrix."""
    experts, width = fields.count("num_local_experts"), fields.count("intermediate_size")
    return Feed(layers * (hidden + 1) * experts, three(hidden, width) + 2 * width + hidden, experts,
                fields.count("num_experts_per_tok"), layers)


def qwen_feed(fields, hidden, layers):
    """Small experts and a router in every layer that is not listed as dense; Qwen 2 has a shared expert and its gate besides."""
    dense = len(fields.listed("mlp_only_layers"))
    experts, width = fields.count("num_experts"), fields.count("moe_intermediate_size")
    beside = hidden * experts
    if fields.optional("shared_expert_intermediate_size"):
        beside += three(hidden, fields.count("shared_expert_intermediate_size")) + hidden
    sparse = layers - dense
    shared = sparse * beside
    if dense:
        shared += dense * three(hidden, fields.count("intermediate_size"))
    return Feed(shared, three(hidden, width), experts, fields.count("num_experts_per_tok"), sparse)


def deepseek_feed(fields, hidden, layers):
    """First some dense layers, then routed experts, shared experts and a router; version 3's router has a bias an expert."""
    dense = fields.optional("first_k_dense_replace")
    experts, width = fields.count("n_routed_experts"), fields.count("moe_intermediate_size")
    beside = hidden * experts + three(hidden, width * fields.optional("n_shared_experts"))
    if fields.kind == "deepseek_v3":
        beside += experts
    shared = dense * three(hidden, fields.count("intermediate_size")) + (layers - dense) * beside
    return Feed(shared, three(hidden, width), experts, fields.count("num_experts_per_tok"), layers - dense)


def three(hidden, width):
    """Parameters of the three matrices of a gated feed-forward part."""
    return 3 * hidden * width


def no_windows(fields, layers):
    """Every layer keeps everything."""
    return 0


def all_windows(fields, layers):
    """Every layer has the window where the config has one: Mistral 7B v0.1, Phi-3."""
    return layers


def upper_windows(fields, layers):
    """Layers from max_window_layers up, where use_sliding_window says so: Qwen 2 and 3."""
    if not fields.flag("use_sliding_window"):
        return 0
    return max(0, layers - fields.count("max_window_layers"))


def patterned_windows(fields, layers):
    """All but every nth layer: every 6th layer of Gemma 3 and every 2nd of Gemma 2 and gpt-oss sees everything."""
    return layers - layers // fields.count("sliding_window_pattern", 2)


@dataclass(frozen=True)
class Family:
    """What sets a family apart. norms: norm vectors of the hidden size in a layer. biases: on `none`, `qkv` or `all` of
    attention's matrices. tied: whether the output shares the embedding where the config does not say. defaults: what
    transformers takes where a config of this family leaves a field out."""

    attention: Callable = grouped_attention
    feed: Callable = dense_feed
    windows: Callable = no_windows
    norms: int = 2
    biases: str = "none"
    qk_norm: bool = False
    sinks: bool = False
    tied: bool = False
    kv_heads_optional: bool = False
    defaults: dict = field(default_factory=dict)


GEMMA3 = Family(windows=patterned_windows, norms=4, qk_norm=True, tied=True, defaults={
    "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256, "vocab_size": 262208,
    "max_position_embeddings": 131072, "sliding_window_pattern": 6})
MISTRAL = Family(windows=all_windows)
FAMILIES = {
    "llama": Family(kv_heads_optional=True),
    "mistral": MISTRAL,
    "mistral3": MISTRAL,
    "mixtral": Family(feed=mixtral_feed, windows=all_windows),
    "qwen2": Family(biases="qkv", windows=upper_windows),
    "qwen2_moe": Family(biases="qkv", windows=upper_windows, feed=qwen_feed),
    "qwen3": Family(qk_norm=True, windows=upper_windows, defaults={"head_dim": 128}),
    "qwen3_moe": Family(qk_norm=True, windows=upper_windows, feed=qwen_feed),
    "gemma": Family(tied=True, defaults={"head_dim": 256}),
    "gemma2": Family(windows=patterned_windows, norms=4, tied=True, defaults={"head_dim": 256, "sliding_window": 4096}),
    "gemma3": GEMMA3,
    "gemma3_text": GEMMA3,
    "phi3": Family(windows=all_windows),
    "deepseek_v2": Family(attention=latent_attention, feed=deepseek_feed),
    "deepseek_v3": Family(attention=latent_attention, feed=deepseek_feed),
    "gpt_oss": Family(biases="all", sinks=True, feed=gpt_oss_feed, windows=patterned_windows,
                      defaults={"head_dim": 64, "sliding_window": 128}),
}


def shape(fields):
    """The LLM's fields, as a dict, from a config's Fields: parameters counted, layers with windows counted."""
    family = FAMILIES[fields.kind]
    hidden, layers, vocabulary = (fields.count(f) for f in ("hidden_size", "num_hidden_layers", "vocab_size"))
    attention = family.attention(fields, family, hidden)
    feed = family.feed(fields, hidden, layers)
    if feed.sparse_layers < 0 or feed.used > feed.experts:
        raise ValueError(f"{fields.name} has more dense layers than layers, or uses more experts than it has")
    tied = fields.flag("tie_word_embeddings", family.tied)
    tables = vocabulary * hidden * (1 if tied else 2)
    experts = feed.sparse_layers * feed.experts * feed.expert
    parameters = tables + layers * (attention.parameters + family.norms * hidden) + feed.shared + experts + hidden
    window = fields.optional("sliding_window")
    return dict(
        parameters=parameters,
        active_parameters=parameters - feed.sparse_layers * (feed.experts - feed.used) * feed.expert,
        embedding_parameters=vocabulary * hidden, table_parameters=tables, tied=tied,
        layers=layers, hidden=hidden, heads=attention.heads, kv_heads=attention.kv_heads, head_size=attention.head_size,
        vocabulary=vocabulary, max_context=fields.count("max_position_embeddings"),
        experts=feed.experts, experts_used=feed.used, expert_parameters=experts, latent=attention.latent,
        **windows(family, fields, layers, window))


def windows(family, fields, layers, window):
    """The window and how many layers have it; the config's own list of layer types counts before the family's rule."""
    listed = fields.listed("layer_types")
    if listed and len(listed) != layers:
        raise ValueError(f"{fields.name} lists {len(listed)} layer_types for {layers} layers; it must list one for each layer")
    count = listed.count("sliding_attention") if listed else (family.windows(fields, layers) if window else 0)
    if not count:
        return {"window": 0, "window_layers": 0}
    return {"window": fields.count("sliding_window"), "window_layers": count}
