"""The engines: physical sense as properties, few terms within their ranges, held-out errors, words and points for the page."""
import csv
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from model import catalogue, check, engines, kv_memory, machine, pass_cost, points, predict, rows, story, terms

SLACK = 1e-9
MACHINES = some.builds(
    machine, llm=some.sampled_from(catalogue.llms()), gpu=some.sampled_from(catalogue.gpus()),
    weights=some.sampled_from(("f16", "fp8", "q4_k_m", "q8_0")), kv=some.sampled_from(("f16", "fp8", "q8_0")),
    engine=some.sampled_from(engines.names()))
PEOPLE, TOKENS = some.integers(1, 600), some.integers(0, 200_000)
PROMPT = some.integers(0, 20_000)


def time_of(m, *load):
    return pass_cost(m, *load).pass_ms


@given(m=MACHINES, users=PEOPLE, context=TOKENS, prompt=PROMPT, offset=TOKENS)
@settings(max_examples=300, deadline=None)
def test_no_engine_is_faster_than_the_datasheet(m, users, context, prompt, offset):
    load = users, context, prompt, offset
    assert time_of(m, *load) >= time_of(replace(m, engine="datasheet"), *load) * (1 - SLACK)


@given(m=MACHINES, users=PEOPLE, context=TOKENS, prompt=PROMPT, factor=some.floats(1.0, 8.0))
@settings(max_examples=300, deadline=None)
def test_more_bandwidth_is_never_slower(m, users, context, prompt, factor):
    quicker = replace(m, gpu=replace(m.gpu, bandwidth_bytes_s=m.gpu.bandwidth_bytes_s * factor))
    assert time_of(quicker, users, context, prompt) <= time_of(m, users, context, prompt) * (1 + SLACK)


@given(m=MACHINES, users=PEOPLE, context=TOKENS, prompt=PROMPT, more=some.integers(1, 5000))
@settings(max_examples=300, deadline=None)
def test_time_never_falls_when_people_context_or_prompt_grow(m, users, context, prompt, more):
    least = time_of(m, users, context, prompt) * (1 - SLACK)
    assert time_of(m, users + more, context, prompt) >= least
    assert time_of(m, users, context + more, prompt) >= least
    assert time_of(m, users, context, prompt + more) >= least


@given(m=MACHINES)
@settings(max_examples=100, deadline=None)
def test_a_card_never_holds_more_than_is_printed_on_it(m):
    assert 0 < kv_memory(m).usable_bytes <= m.gpu.memory_bytes / 1e9 * 2**30


@pytest.mark.parametrize("load, pass_ms", [
    ((1, 0), 15.933), ((10, 2048), 18.596), ((0, 0, 8192), 796.415), ((9, 2048, 256), 25.763)])  # facts/essay.md
def test_datasheet_numbers_are_untouched(load, pass_ms):
    assert time_of(machine(), *load) == pytest.approx(pass_ms, abs=0.001)


def test_parts_of_a_pass_are_told_apart():
    cost = pass_cost(machine(engine="vllm-0.8"), users=[1, 32], context=4096)
    assert (cost.kv_ms < cost.memory_ms).all() and (cost.memory_ms < cost.pass_ms).all()
    assert (cost.overhead_ms > 0).all() and cost.kv_ms[1] > 10 * cost.kv_ms[0]


@pytest.mark.parametrize("slower, quicker", [
    (dict(engine="vllm-0.8"), dict(engine="vllm-0.19")),            # scheduling between passes against beside them
    (dict(engine="llama.cpp"), dict(engine="llama.cpp-flash")),     # the KV cache read once a query head, or once
    (dict(engine="vllm-0.19"), dict(engine="vllm-0.19", kv="fp8"))])
def test_a_cause_that_goes_away_makes_a_pass_quicker(slower, quicker):
    assert time_of(machine(**quicker), 8, 8192) < time_of(machine(**slower), 8, 8192)


def test_terms_are_few_and_each_is_explained():
    fitted = [row for row in points.measured() if "gamma" not in row.quantity and "nanoGPT" not in row.text("engine")
              and predict.group_of(row) != predict.SIZE and predict.predict(row).value is not None]
    assert len(terms.definitions()) * 10 <= len(fitted)
    for term in terms.definitions().values():
        assert term.meaning and term.unit and term.source
        assert term.low <= term.start <= term.high


def test_fitted_values_are_within_their_ranges_and_a_fit_outside_is_refused():
    assert terms.checked(terms.fitted()) == terms.fitted()
    with pytest.raises(ValueError, match="stream_share = 1.2 share, plausible 0.8 to 0.99"):
        terms.checked({**terms.fitted(), "stream_share": 1.2})


def test_trying_values_is_over_when_it_is_over():
    before = time_of(machine(engine="vllm-0.19"))
    with terms.trying({"layer_us": 80.0}):
        assert time_of(machine(engine="vllm-0.19")) > before
    assert time_of(machine(engine="vllm-0.19")) == before


@pytest.mark.parametrize("group, most", check.TARGETS.items())
def test_rows_that_no_fit_had_seen_are_predicted_as_well_as_is_asked(group, most):
    assert check.held_out()[group]["median_error"] <= most


@pytest.mark.parametrize("group", check.TARGETS)
def test_bands_contain_what_no_fit_had_seen(group):
    assert check.held_out()[group]["in_band"] >= 0.8


def test_held_out_lines_are_rows_of_the_measurements():
    measured = {row.id: row.value for row in points.measured()}
    with (terms.DATA / "held_out.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) > 200 and len({line["id"] for line in lines}) == len(lines)
    for line in lines:
        assert float(line["measured"]) == pytest.approx(measured[line["id"]], rel=1e-5)
        assert float(line["error"]) == pytest.approx(float(line["predicted"]) / float(line["measured"]) - 1, abs=2e-4)


@pytest.mark.parametrize("engine, gpu, words", [
    ("llama.cpp", "rtx-4090", "measured on this card"), ("llama.cpp", "rtx-4080", "estimated from its class, cards with GDDR (RTX 3090, RTX 4090)"),
    ("vllm-0.19", "h200", "estimated from its class, full-rate cards (H100 SXM"), ("llama.cpp-flash", "rtx-4090", "none measured with this engine")])
def test_the_answer_says_whose_terms_it_has(engine, gpu, words):
    assert words in engines.note(machine(gpu=gpu, engine=engine))


def test_a_band_lies_around_the_prediction_and_the_datasheet_has_none():
    low, high = engines.band(machine(engine="vllm-0.19"), "itl", 20.0)
    assert low < 20.0 < high
    assert engines.band(machine(), "itl", 20.0) == (20.0, 20.0)
    with pytest.raises(ValueError, match="no quantity is called 'speed'; known: decode, itl"):
        engines.band(machine(engine="vllm-0.19"), "speed", 20.0)


def test_points_of_a_machine_are_its_own():
    found = engines.measured_points(machine(llm="llama-3.1-8b", engine="llama.cpp"), "decode")
    assert [(p.id, p.context, p.value) for p in found][:2] == [("m054", 256.0, 54.84), ("m055", 512.0, 54.34)]
    assert engines.measured_points(machine(engine="vllm-0.19"), "decode") == []
    assert {p.rate for p in engines.measured_points(machine(llm="llama-3-8b"), "ttft")} == {1.0, 4.0, 8.0, 16.0, 32.0}


def test_the_story_is_told_for_every_group_and_cause():
    told = story.told()
    assert set(told) == set(story.GROUPS)
    for entry in told.values():
        assert entry["engine"] < entry["roofline"]
        assert set(entry["without"]) == set(story.CAUSES)
    for cause in set(story.CAUSES) - {"the knee between the two"}:  # without it, some group is further off
        assert any(entry["without"][cause] > entry["engine"] for entry in told.values())
    assert {name for silent in story.CAUSES.values() for name in silent} <= set(terms.definitions())


def test_the_knee_repairs_passes_in_which_both_times_are_alike():
    alike = [row for row in points.measured() if "GEMMs" in row.quantity and row.text("load") in ("128 tokens", "160 tokens", "192 tokens")]
    with terms.trying({"knee": 200.0}):
        without = [abs(predict.predict(row).error) for row in alike]
    assert len(alike) == 3 and sum(abs(predict.predict(row).error) for row in alike) < sum(without)


def test_the_roofline_is_never_slower_than_a_server():
    found = [(plain, full) for plain, full in story.roofline() if plain.group == predict.SPEED and plain.row.unit == "tok/s"]
    assert len(found) > 40 and all(plain.value >= full.value for plain, full in found)


def test_llama_cpp_uses_its_cards_one_after_the_other():
    one, two = (machine(llm="llama-3.2-1b", gpu=rows.gpu_of(name), engine="llama.cpp") for name in ("RTX 4090", "2x RTX 4090"))
    assert time_of(two, 1, 512) == time_of(one, 1, 512)


def test_several_cards_share_a_pass():
    two = rows.gpu_of("H100 SXM TP2")
    m = machine(gpu=two, engine="vllm-0.15")
    assert two.count == 2
    assert time_of(replace(m, gpu=rows.gpu_of("H100 SXM")), 1, 512) / 2 < time_of(m, 1, 512)
