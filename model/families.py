"""How each family of models is built: which fields of its config.json count, and what they add up to.

A dense layer has queries, keys, values, an output, three matrices of the feed-forward part, and norms. What differs from
family to family is a row of FAMILIES: biases, norms, experts, windows, latent attention."""
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Family:
    """What sets a family apart. norms: norm vectors of the hidden size in a layer. qk_norm: one norm of the head size each for
    queries and keys. tied: whether the output shares the embedding where the config does not say. windows: the rule that
    says which layers have a sliding window (see window_layers)."""

    norms: int = 2
    qkv_bias: bool = False
    qk_norm: bool = False
    tied: bool = False
    windows: str = "none"
    kv_default: bool = False
    defaults: dict = field(default_factory=dict)

    def shape(self, fields):
        """The LLM's fields, as a dict, from a config's Fields."""
        hidden, layers, heads = (fields.count(f) for f in ("hidden_size", "num_hidden_layers", "num_attention_heads"))
        vocabulary = fields.count("vocab_size")
        kv_heads = fields.count("num_key_value_heads", heads if self.kv_default else None)
        head_size = fields.count("head_dim", hidden // heads)
        tied = fields.flag("tie_word_embeddings", self.tied)
        tables = vocabulary * hidden * (1 if tied else 2)
        attention = attention_parameters(fields, hidden, heads, kv_heads, head_size, self.qkv_bias)
        norms = self.norms * hidden + (2 * head_size if self.qk_norm else 0)
        feed = 3 * hidden * fields.count("intermediate_size")
        parameters = tables + layers * (attention + norms + feed) + hidden
        window, window_layers = 0, 0
        return dict(parameters=parameters, active_parameters=parameters, embedding_parameters=vocabulary * hidden,
                    table_parameters=tables, tied=tied, layers=layers, hidden=hidden, heads=heads, kv_heads=kv_heads,
                    head_size=head_size, vocabulary=vocabulary, max_context=fields.count("max_position_embeddings"),
                    window=window, window_layers=window_layers)


def attention_parameters(fields, hidden, heads, kv_heads, head_size, bias):
    """Weights of one layer's grouped-query attention, biases included."""
    wide, narrow = heads * head_size, kv_heads * head_size
    biases = wide + 2 * narrow if bias else 0
    return hidden * (2 * wide + 2 * narrow) + biases


FAMILIES = {"llama": Family(kv_default=True)}
