"""The command line: every command's keys, readable tables within 80 columns, bad input in one line."""
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from model import kv_memory, machine, pass_cost, serve
from model.cli import main
from model.cli_cost import typed
from model.cli_text import Report, as_json, as_text, bar, spark, wrapped

ROOT = Path(__file__).parents[1]
KEYS = [  # from the table of design.md
    ("pass", "pass_ms memory_ms arithmetic_ms overhead_ms bound_by bytes flops tokens_per_s_each tokens_per_s"),
    ("memory", "kv_bytes_per_token weights_bytes budget_bytes budget_tokens users_fit"),
    ("batch", "static_steps continuous_steps static_idle_share continuous_idle_share"),
    ("pages", "reserved_fit paged_fit waste_reserved waste_paged shared_pages"),
    ("chunk", "stall_ms pass_ms pass_ms_with_chunk document_ms"),
    ("guess", "expected_tokens speedup break_even_users"),
    ("serve --requests 20", "ttft_ms_mean ttft_ms_p99 itl_ms_mean itl_ms_median tpot_ms_mean tokens_per_s peak_kv_share preemptions"),
    ("settings llama.cpp", "slot_tokens total_tokens kv_bytes command"),
    ("settings vllm", "kv_tokens max_concurrency command"),
    ("settings vllm --max-num-seqs 16 --max-model-len 4096 --utilization 0.9 --kv fp8", "kv_tokens"),
    ("llm llama-3.1-8b", "parameters layers heads kv_heads head_size hidden vocabulary kv_bytes_per_token weights_bytes"),
    ("llm", "llms"),
    ("gpu rtx-4090", "bandwidth_bytes_s peak_flops memory_bytes source"),
    ("gpu", "gpus"),
]
NUMBERS = [  # command, key, number, source
    ("pass --users 10 --context 2048", "pass_ms", 18.60, 0.005, "issue 2"),
    ("pass --users 10 --context 2048", "tokens_per_s_each", 53.8, 0.05, "issue 2"),
    ("pass --users 10 --context 2048", "tokens_per_s", 538, 0.5, "issue 2"),
    ("pass --users 1 --context 0", "pass_ms", 15.93, 0.005, "issue 2"),
    ("pass --prompt-tokens 8192 --users 0", "pass_ms", 796, 0.5, "issue 2"),
    ("memory --context 8192", "kv_bytes_per_token", 131_072, 0, "issue 2"),
    ("memory --context 8192", "users_fit", 4, 0, "issue 2"),
    ("batch", "static_steps", 84, 0, "facts/essay.md"), ("batch", "continuous_steps", 58, 0, "facts/essay.md"),
    ("pages", "paged_fit", 10, 0, "facts/essay.md"), ("pages --shared 100", "shared_pages", 6, 0, "facts/engines.md"),
    ("chunk", "document_ms", 824, 0.5, "facts/essay.md"), ("guess", "speedup", 2.08, 0.005, "facts/essay.md"),
    ("settings llama.cpp --ctx 32768 --slots 4", "slot_tokens", 8192, 0, "facts/engines.md"),
    ("settings vllm --max-model-len 8192", "kv_tokens", 36_768, 0, "facts/essay.md in whole blocks"),
    ("llm llama-3.1-8b", "parameters", 8_030_261_248, 0, "facts/essay.md"),
]
BAD = [
    ("pass --users -1", "users must be 0 or more, not -1"), ("pass --context -5", "context must be 0 or more, not -5"),
    ("pass --users ten", "'ten' must be a whole number"), ("pass --users 1.5", "must be a whole number"),
    ("pass --users 0", "a pass needs a token"), ("pass --llm lama-3.1-8b", "llama-3.1-8b"), ("pass --gpu rtx-4900", "rtx-4090"),
    ("pass --engine vlm-0.8", "vllm-0.8"), ("pass --weights q4_k_x", "q4_k_m"), ("pass --kv f8x", "fp8"),
    ("pass --foo 3", "unrecognized arguments: --foo"), ("pass --user 3", "unrecognized arguments"),
    ("pass --users 1" + "0" * 400, "at most 1e+15"), ("memory --context 1" + "0" * 30, "at most 1e+15"),
    ("memory --context 0", "context must be 1 or more"), ("memory --utilization 1.2", "at most 1"),
    ("memory --utilization nan", "finite"), ("memory --overhead-bytes -1", "0 or more"),
    ("batch --slots 0", "slots is 0"), ("batch --replies 1,x", "whole numbers with commas"), ("batch --replies 3,-1", "replies"),
    ("pages --page-size 0", "page_size"), ("pages --chats 9000", "8,192"), ("chunk --chunk 0", "chunk is 0"),
    ("chunk --document 0", "document is 0"), ("guess --acceptance 1.5", "acceptance"), ("guess --draft nobody", "nobody"),
    ("serve --rate 0", "rate"), ("serve --prompt 1000000", "a request of 1,000,000"), ("serve --requests 0", "requests"),
    ("settings", "arguments are required: llama.cpp|vllm"), ("settings tgi", "'tgi'"), ("settings vllm --ctx 5", "unrecognized"),
    ("settings llama.cpp --weights fp8", "does not read fp8"), ("settings vllm --max-model-len 0", "max_model_len"),
    ("llm nobody", "no model is called 'nobody'"), ("gpu nothing", "no card is called 'nothing'"),
    ("llm --config nowhere/config.json", "cannot be read"), ("memory --config nowhere/config.json", "cannot be read"),
    ("chat", "invalid choice: 'chat'"),
]


def run(command, capsys):
    status = main(command.split())
    told = capsys.readouterr()
    return status, told.out, told.err


@pytest.mark.parametrize("command, keys", KEYS)
def test_json_has_the_keys(command, keys, capsys):
    status, out, err = run(f"{command} --json", capsys)
    assert (status, err) == (0, "")
    assert set(keys.split()) <= set(json.loads(out))


@pytest.mark.parametrize("command, _", KEYS)
def test_tables_are_readable_in_80_columns(command, _, capsys):
    status, out, err = run(command, capsys)
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert max(len(line) for line in lines) <= 80
    assert len(lines) >= 3 and not any(line != line.rstrip() for line in lines)


@pytest.mark.parametrize("command, key, number, within, source", NUMBERS)
def test_numbers(command, key, number, within, source, capsys):
    _, out, _ = run(f"{command} --json", capsys)
    assert json.loads(out)[key] == pytest.approx(number, abs=within, rel=0), source


@pytest.mark.parametrize("command, words", BAD)
def test_bad_input_is_told_in_one_line(command, words, capsys):
    status, out, err = run(command, capsys)
    assert (status, out) == (2, "")
    assert err.startswith("python -m model: ") and err.count("\n") == 1
    assert words in err


def test_the_command_line_and_python_agree(capsys):
    options = "--llm qwen3-32b --gpu h100-sxm --weights fp8 --kv fp8 --engine vllm-0.19"
    m = machine("qwen3-32b", "h100-sxm", "fp8", "fp8", "vllm-0.19")
    told = json.loads(run(f"pass --users 32 --context 4096 --json {options}", capsys)[1])
    assert told["pass_ms"] == pass_cost(m, 32, 4096).pass_ms
    told = json.loads(run(f"memory --users 32 --context 4096 --json {options}", capsys)[1])
    assert told["budget_tokens"] == kv_memory(m, 32, 4096).budget_tokens
    told = json.loads(run(f"serve --rate 3 --requests 30 --json {options}", capsys)[1])
    assert told["ttft_ms_p99"] == serve(m, rate=3, requests=30).ttft_ms_p99


@pytest.mark.parametrize("command, words, missing", [
    ("guess", "guessing hurts from 108 people on", "warning"),
    ("guess --context 131072 --acceptance 1", "guessing hurts never up to 4,096 people", "warning"),
    ("guess --llm deepseek-v2-lite --gpu a10 --draft gemma-3-1b --guesses 1 --acceptance 0.5 --context 64",
     "guessing hurts 1 to 7 people, and from 817 on", "people on"),
    ("guess --llm qwen3-30b-a3b --gpu h200 --context 4096", "guessing hurts 1 to 3 people", "from"),
    ("guess --draft qwen2.5-0.5b", "warning Qwen2.5 0.5B has 151,936 tokens in its vocabulary, Llama 3.1 8B 128,256: its guesses "
     "cannot be checked as they are", "1 to")])
def test_where_guessing_hurts_and_with_whom(command, words, missing, capsys):
    text = " ".join(run(command, capsys)[1].split())
    assert words in text and missing not in text


@pytest.mark.parametrize("command, words", [
    ("memory", "24.00 GB of which the server may use 22.08 GB"),
    ("memory --engine llama.cpp", "25.77 GB = 24 GiB, sold as 24 GB, of which the server may use 25.41 GB")])
def test_gb_and_gib_are_told_apart(command, words, capsys):
    assert words in " ".join(run(command, capsys)[1].split())


def test_a_config_stands_for_a_model(tmp_path, capsys):
    path = tmp_path / "config.json"
    path.write_text(json.dumps({
        "model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256, "max_position_embeddings": 131072}))
    assert json.loads(run(f"llm --config {path} --json", capsys)[1])["parameters"] == 8_030_261_248
    told = json.loads(run(f"pass --config {path} --users 10 --context 2048 --json", capsys)[1])
    assert told["pass_ms"] == pass_cost(machine(), 10, 2048).pass_ms


@pytest.mark.parametrize("field", ["hidden_size", "num_hidden_layers", "vocab_size"])
def test_a_config_without_a_field_is_refused_by_its_name(field, tmp_path, capsys):
    config = {"model_type": "llama", "hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1,
              "num_attention_heads": 1, "vocab_size": 8, "max_position_embeddings": 8}
    config.pop(field)
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config))
    status, out, err = run(f"llm --config {path}", capsys)
    assert (status, out, err.count("\n")) == (2, "", 1) and f"lacks {field}" in err


def test_help(capsys):
    status, out, _ = run("", capsys)
    assert status == 0 and "COMMAND" in out and max(map(len, out.splitlines())) <= 80
    assert all(f"  {command}" in out for command in ("pass", "memory", "batch", "pages", "chunk", "guess", "serve", "settings"))


@pytest.mark.parametrize("words, status", [(["pass", "--json"], 0), (["pass", "--users", "-1"], 2), ([], 0)])
def test_as_a_program_it_exits_with_its_status_even_where_text_is_ascii(words, status):
    plain = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-m", "model", *words], cwd=ROOT, env=plain, capture_output=True, check=False)
    assert done.returncode == status
    assert bool(done.stdout) == (status == 0) and bool(done.stderr) == (status != 0)


@pytest.mark.parametrize("share, width, drawn", [(0, 4, "    "), (1, 4, "████"), (0.5, 4, "██  "), (1e-9, 4, "▏   "),
                                                 (7, 4, "████"), (0.28125, 4, "█▏  ")])
def test_bars(share, width, drawn):
    assert bar(share, width) == drawn


def test_a_spark_shows_the_most_of_each_stretch():
    assert spark([0, 1, 2, 9.9, 10], [8, 4, 1, 2, 0], 8, width=5) == "█▁  ▂"
    assert spark([0], [0], 1, width=3) == "   "


def test_a_long_command_goes_on_in_a_second_line_between_flags():
    command = "vllm serve meta-llama/Llama-3.1-8B --max-model-len 4096 --max-num-seqs 16 --gpu-memory-utilization 0.9"
    assert typed(command) == ["$ vllm serve meta-llama/Llama-3.1-8B --max-model-len 4096 \\",
                              "    --max-num-seqs 16 --gpu-memory-utilization 0.9"]
    assert typed("llama-server -m a.gguf -c 0") == ["$ llama-server -m a.gguf -c 0"]


def test_words_are_wrapped_and_none_is_lost():
    text = "one two three four five six"
    assert wrapped(text, 9) == ["one two", "three", "four five", "six"]
    assert as_text(Report({}, text, lines=[("a", "1", "")])) == f"{text}\n\n  a  1"


def test_json_refuses_what_is_not_data():
    with pytest.raises(TypeError, match="set is not for JSON"):
        as_json(Report({"a": {1}}, ""))
