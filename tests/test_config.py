"""config.json, family by family: parameters counted from fields against counts that were published."""
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model import kv_format, llm, llms, read_config
from model.config import LARGEST
from model.families import FAMILIES

HUB = "metadata of the safetensors files on Hugging Face"
INDEX = "model.safetensors.index.json, total_size / 2"
CARD = "model card"
VISION = HUB + ", less the vision tower and its projector"
PARAMETERS = [
    ("llama-2-7b", 6_738_415_616, HUB), ("llama-13b", 13_015_864_320, HUB), ("llama-3-8b", 8_030_261_248, HUB),
    ("llama-3-70b", 70_553_706_496, HUB), ("llama-3.1-8b", 8_030_261_248, "facts/essay.md"),
    ("llama-3.1-70b", 70_553_706_496, HUB), ("llama-3.2-1b", 1_235_814_400, "facts/essay.md"),
    ("llama-3.2-3b", 3_212_749_824, HUB), ("qwen2.5-0.5b", 494_032_768, HUB), ("qwen2.5-7b", 7_615_616_512, HUB),
    ("qwen2.5-14b", 14_770_033_664, HUB), ("qwen2.5-32b", 32_763_876_352, HUB), ("qwen2.5-72b", 72_706_203_648, HUB),
    ("qwen3-8b", 8_190_735_360, HUB), ("qwen3-32b", 32_762_123_264, HUB), ("qwen3-30b-a3b", 30_532_122_624, HUB),
    ("mistral-7b", 7_248_023_552, HUB), ("mistral-7b-v0.1", 7_241_732_096, HUB), ("mistral-nemo-12b", 12_247_782_400, HUB),
    ("mistral-small-24b", 23_572_403_200, HUB), ("mixtral-8x7b", 46_702_792_704, HUB), ("gemma-2-9b", 9_241_705_984, HUB),
    ("gemma-3-1b", 999_885_952, HUB), ("gemma-3-4b", 3_880_263_168, VISION), ("gemma-3-12b", 11_766_034_176, VISION),
    ("gemma-3-27b", 27_009_346_304, VISION), ("phi-3-mini", 3_821_079_552, HUB), ("phi-4", 14_659_507_200, HUB),
    ("deepseek-v2-lite", 15_706_484_224, HUB), ("deepseek-v3", 671_026_419_200, INDEX + ", without the MTP layer"),
    ("llama-33b", 32_528_943_616, HUB), ("llama-65b", 65_285_660_672, HUB), ("llama-2-70b", 68_976_648_192, HUB),
    ("llama-3.1-405b", 405_853_388_800, HUB), ("codellama-34b", 33_743_970_304, HUB), ("yi-6b", 6_061_035_520, HUB),
    ("yi-34b", 34_388_917_248, HUB), ("tinyllama-1.1b", 1_100_048_384, HUB), ("solar-10.7b", 10_731_524_096, HUB),
    ("deepseek-coder-6.7b", 6_740_512_768, HUB), ("deepseek-coder-33b", 33_342_991_360, HUB), ("smollm2-1.7b", 1_711_376_384, HUB),
    ("mistral-large", 122_610_069_504, HUB), ("codestral-22b", 22_247_282_688, HUB), ("mixtral-8x22b", 140_620_634_112, HUB),
    ("qwen2.5-1.5b", 1_543_714_304, HUB), ("qwen2.5-3b", 3_085_938_688, HUB), ("qwen3-0.6b", 596_049_920, HUB + ", the table once"),
    ("qwen3-1.7b", 1_720_574_976, HUB + ", the table once"), ("qwen3-4b", 4_022_468_096, HUB), ("qwen3-14b", 14_768_307_200, HUB),
    ("qwen3-235b-a22b", 235_093_634_560, HUB), ("gemma-2b", 2_506_172_416, HUB), ("gemma-7b", 8_537_680_896, HUB),
    ("gemma-2-2b", 2_614_341_888, HUB), ("gemma-2-27b", 27_227_128_320, HUB), ("phi-3-medium", 13_960_238_080, HUB),
    ("deepseek-v2", 235_741_434_880, HUB),
    ("gpt-oss-20b", 20_914_757_184, CARD + ": 20.91B"), ("gpt-oss-120b", 116_829_156_672, CARD + ": 116.83B"),
]
ACTIVE = [
    ("mixtral-8x7b", 12.9e9, "Mixtral of Experts, arXiv 2401.04088: 13B"), ("deepseek-v3", 37.5e9, "arXiv 2412.19437: 37B"),
    ("deepseek-v2-lite", 2.66e9, "arXiv 2405.04434: 2.4B without the embedding"), ("qwen3-30b-a3b", 3.35e9, "model card: 3.3B"),
    ("gpt-oss-20b", 4.19e9, "arXiv 2508.10925: 3.61B without the embedding"), ("llama-3.1-8b", 8.03e9, "dense: all of them"),
]
KV_BYTES = [  # bytes a token at 16 bits while no window is full
    ("llama-3.1-8b", 131_072, "facts/essay.md: 128 KiB"), ("llama-3.2-1b", 16 * 2 * 8 * 64 * 2, "facts/essay.md"),
    ("llama-13b", 40 * 2 * 40 * 128 * 2, "no grouped queries: a KV head for each head"),
    ("qwen3-32b", 64 * 2 * 8 * 128 * 2, "head_dim is 128, hidden / heads is 80"),
    ("mistral-nemo-12b", 40 * 2 * 8 * 128 * 2, "head_dim is 128, hidden / heads is 160"),
    ("deepseek-v3", 61 * (512 + 64) * 2, "layers x (kv_lora_rank + qk_rope_head_dim) x 2"),
    ("gpt-oss-20b", 24 * 2 * 8 * 64 * 2, "model card"),
]
WINDOWS = [  # of the model, tokens and layers that have it
    ("gemma-2-9b", 4096, 21, "every other layer"), ("gemma-3-4b", 1024, 29, "five of six, and the four at the end"),
    ("gemma-3-1b", 512, 22, "five of six, and two"), ("gpt-oss-20b", 128, 12, "every other layer"),
    ("mistral-7b-v0.1", 4096, 32, "all"), ("mistral-7b", 0, 0, "none since v0.2"), ("qwen2.5-7b", 0, 0, "not used"),
]
LLAMA = {"model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
         "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256, "max_position_embeddings": 131072,
         "tie_word_embeddings": False, "torch_dtype": "bfloat16", "rope_scaling": {"factor": 8.0}}


@pytest.mark.parametrize("name, parameters, source", PARAMETERS)
def test_parameters(name, parameters, source):
    assert llm(name).parameters == parameters, source


def test_every_model_is_counted_against_a_source():
    assert {name for name, _, _ in PARAMETERS} == set(llms(rare=True))


@pytest.mark.parametrize("name, active, source", ACTIVE)
def test_active_parameters(name, active, source):
    assert llm(name).active_parameters == pytest.approx(active, rel=0.005), source


@pytest.mark.parametrize("name, kv_bytes, source", KV_BYTES)
def test_kv_bytes_per_token(name, kv_bytes, source):
    assert llm(name).kv_bytes_per_token(kv_format("f16")) == kv_bytes, source


@pytest.mark.parametrize("name, window, layers, source", WINDOWS)
def test_windows(name, window, layers, source):
    assert (llm(name).window, llm(name).window_layers) == (window, layers), source


def test_window_layers_hold_at_most_their_window():
    x, f16 = llm("gemma-3-4b"), kv_format("f16")
    layer = x.kv_layer_bytes(f16)
    assert x.kv_bytes(f16, 1024) == x.layers * 1024 * layer
    assert x.kv_bytes(f16, 8192) == (5 * 8192 + 29 * 1024) * layer


def shaped(kind, hidden, width, layers, heads, kv_heads, vocabulary, **more):
    return {"model_type": kind, "hidden_size": hidden, "intermediate_size": width, "num_hidden_layers": layers,
            "num_attention_heads": heads, "num_key_value_heads": kv_heads, "vocab_size": vocabulary,
            "max_position_embeddings": 4096, **more}


OTHERS = [  # models that are not in the catalogue
    (shaped("qwen2_moe", 2048, 5632, 24, 16, 16, 151936, num_experts=60, num_experts_per_tok=4, moe_intermediate_size=1408,
            shared_expert_intermediate_size=5632), 14_315_784_192, "Qwen1.5-MoE-A2.7B"),
    (shaped("mixtral", 6144, 16384, 56, 48, 8, 32768, num_local_experts=8, num_experts_per_tok=2), 140_630_071_296,
     "Mixtral 8x22B v0.3"),
    (shaped("llama", 4096, 11008, 32, 32, 32, 32016), 6_738_546_688, "Code Llama 7B"),
]


@pytest.mark.parametrize("config, parameters, name", OTHERS, ids=[row[2] for row in OTHERS])
def test_other_members_of_the_families(config, parameters, name):
    assert read_config(config).parameters == parameters, HUB


def test_a_file_and_a_dict_give_the_same(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(LLAMA))
    assert read_config(path) == read_config(str(path)) == read_config(LLAMA)
    assert read_config(path).parameters == 8_030_261_248


def test_a_model_that_also_sees_is_read_by_its_text_part():
    seeing = {"model_type": "gemma3", "vision_config": {"hidden_size": 1152}, "text_config": {
        "model_type": "gemma3_text", "hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 34,
        "sliding_window": 1024}}
    assert read_config(seeing).parameters == llm("gemma-3-4b").parameters


def test_listed_layer_types_count_before_the_family_s_rule():
    listed = {**LLAMA, "model_type": "mistral", "sliding_window": 512,
              "layer_types": ["sliding_attention"] * 3 + ["full_attention"] * 29}
    assert (read_config(listed).window, read_config(listed).window_layers) == (512, 3)


BIASES = {"num_hidden_layers": 1, "vocab_size": 10, "hidden_size": 8, "intermediate_size": 4, "num_attention_heads": 2,
          "num_key_value_heads": 1, "max_position_embeddings": 16}
TINY = 2 * 10 * 8 + 8 * (2 * 8 + 2 * 4) + 3 * 8 * 4 + 2 * 8 + 8  # two tables, attention, feed-forward, norms


@pytest.mark.parametrize("change, parameters, source", [
    ({"model_type": "llama"}, TINY, "by hand"),
    ({"model_type": "llama", "tie_word_embeddings": True}, TINY - 80, "one table"),
    ({"model_type": "llama", "attention_bias": True}, TINY + 8 + 2 * 4 + 8, "q, k, v and o"),
    ({"model_type": "qwen2"}, TINY + 8 + 2 * 4, "q, k and v: Qwen2Attention"),
    ({"model_type": "qwen3", "head_dim": 4}, TINY + 2 * 4, "a norm of queries and one of keys: Qwen3Attention"),
    ({"model_type": "gemma2", "head_dim": 4}, TINY - 80 + 2 * 8, "four norms a layer, one table: Gemma2DecoderLayer"),
    ({"model_type": "llama", "head_dim": 6}, TINY + 8 * (2 * 4 + 2 * 2), "two heads and a KV head, two wider"),
    ({"model_type": "qwen2_moe", "num_experts": 3, "num_experts_per_tok": 2, "moe_intermediate_size": 2,
      "shared_expert_intermediate_size": 5}, TINY + 16 - 96 + 3 * 48 + 8 * 3 + 120 + 8, "Qwen2MoeSparseMoeBlock"),
])
def test_small_ones_by_hand(change, parameters, source):
    assert read_config({**BIASES, **change}).parameters == parameters, source


@pytest.mark.parametrize("field", ["hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "vocab_size",
                                   "max_position_embeddings", "model_type"])
def test_a_missing_field_is_named(field):
    config = {key: value for key, value in LLAMA.items() if key != field}
    with pytest.raises(ValueError, match=f"lacks {field}"):
        read_config(config)


@pytest.mark.parametrize("kind, field", [
    ("deepseek_v3", "kv_lora_rank"), ("mixtral", "num_local_experts"), ("qwen3_moe", "num_experts"),
    ("mistral", "num_key_value_heads"), ("gpt_oss", "num_experts_per_tok")])
def test_a_family_s_own_missing_field_is_named(kind, field):
    config = {**LLAMA, "model_type": kind, "qk_rope_head_dim": 64, "num_local_experts": 8, "num_experts_per_tok": 2}
    config.pop(field, None)
    with pytest.raises(ValueError, match=f"lacks {field}, which a {kind} model needs"):
        read_config(config)


@pytest.mark.parametrize("change, words", [
    ({"model_type": "mamba2"}, "model_type 'mamba2', which is not understood"),
    ({"model_type": ["llama"]}, "which is not understood"),
    ({"hidden_size": "4096"}, "hidden_size = '4096'; it must be a whole number"),
    ({"num_hidden_layers": 0}, "num_hidden_layers"), ({"num_hidden_layers": -3}, "num_hidden_layers"),
    ({"vocab_size": True}, "vocab_size"), ({"vocab_size": 1.5}, "vocab_size"), ({"vocab_size": LARGEST + 1}, "vocab_size"),
    ({"num_attention_heads": 5000}, "head_dim"),
    ({"layer_types": "sliding_attention"}, "layer_types"), ({"layer_types": ["full_attention"]}, "one for each layer"),
    ({"model_type": "mixtral", "num_local_experts": 2, "num_experts_per_tok": 3}, "more experts than it has"),
    ({"model_type": "qwen3_moe", "num_experts": 4, "num_experts_per_tok": 1, "moe_intermediate_size": 8,
      "mlp_only_layers": [0] * 40}, "more dense layers than layers"),
])
def test_impossible_configs_are_refused_in_a_line(change, words):
    with pytest.raises(ValueError, match=words) as fault:
        read_config({**LLAMA, **change})
    assert "\n" not in str(fault.value)


FIELDS = ["hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "head_dim",
          "vocab_size", "max_position_embeddings", "tie_word_embeddings", "sliding_window", "layer_types", "text_config",
          "use_sliding_window", "max_window_layers", "num_local_experts", "num_experts", "num_experts_per_tok", "_name_or_path",
          "moe_intermediate_size", "mlp_only_layers", "shared_expert_intermediate_size", "kv_lora_rank", "q_lora_rank",
          "qk_rope_head_dim", "qk_nope_head_dim", "v_head_dim", "n_routed_experts", "n_shared_experts", "first_k_dense_replace"]
ANYTHING = st.recursive(st.none() | st.booleans() | st.integers(-2, 300) | st.floats() | st.text(max_size=5),
                        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
                        max_leaves=4)


@given(st.sampled_from(sorted(FAMILIES)), st.dictionaries(st.sampled_from(FIELDS), st.integers(1, 300) | ANYTHING))
def test_whatever_a_config_says_it_is_counted_or_refused_in_a_line(kind, changes):
    try:
        x = read_config({**LLAMA, "model_type": kind, **changes})
    except ValueError as fault:
        assert "\n" not in str(fault)
    else:
        assert 0 < x.active_parameters <= x.parameters and x.kv_bytes_per_token(kv_format("f16")) > 0
        assert 0 <= x.window_layers <= x.layers


@pytest.mark.parametrize("content, words", [
    (b"{nope", "is not JSON"), (b"[1, 2]", "no JSON object"), (b"\xff\xfe\x00", "is not text"), (b"", "is not JSON"),
    (b"[" * 100_000, "nested too deeply|is not JSON"), (None, "cannot be read")])
def test_bad_files_are_refused_in_a_line(tmp_path, content, words):
    path = tmp_path / "config.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ValueError, match=words) as fault:
        read_config(path)
    assert "\n" not in str(fault.value)
