"""The worker's side of the page: documents that a page can open, patches that bring it to what `compute` says, the same ids everywhere."""
import base64
import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from bokeh.core.serialization import Buffer, Serialized
from bokeh.document import Document
from bokeh.models import ColumnDataSource

from app.live import LIVE, change, export, main_answers
from app.order import IDS, figure
from widgets.picture import ABOUT, FRAMES, changes

# Settings in the order in which a reader might move them, each table starting from the defaults.
MOVES = {
    "prefill-decode": [{"prompt": 24}, {"prompt": 8192, "reply": 40}, {"engine": "vllm-0.19"}, {"llm": "mixtral-8x7b", "gpu": "h200"}],
    "kv-memory": [{"users": 4}, {"users": 64, "context": 512}, {"gpu": "h100-sxm", "kv": "fp8"}, {"llm": "llama-3.1-70b"}],
    "batching": [{"slots": 1}, {"replies": "4,4,4,4"}, {"slots": 10, "seed": 7}, {"engine": "llama.cpp"}],
    "paging": [{"shared": 0}, {"page_size": 1024, "longest": 512}, {"gpu": "rtx-3070"}, {"gpu": "a100-80gb-sxm", "longest": 131072}],
    "chunked-prefill": [{"chunk": 64}, {"chunked": False}, {"document": 131072, "chunked": True}, {"users": 64, "context": 512}],
    "speculative": [{"users": 128}, {"guesses": 10, "acceptance": 0.0}, {"acceptance": 1.0, "seed": 9}, {"llm": "llama-3.1-70b"}],
    "scoreboard": [{"users": 1}, {"guess": 50.0, "users": 64}, {"context": 131072}, {"engine": "vllm-0.19", "context": 2048}],
    "settings": [{"users": 64}, {"slots": 0, "kv_unified": True}, {"utilization": 0.5}, {"gpu": "m4-max", "weights": "q4_k_m"}],
}


@pytest.fixture(autouse=True)
def usual_settings():
    """Every figure at its defaults, before and after."""
    yield
    for figure_id in IDS:
        LIVE[figure_id].set(figure(figure_id).defaults())


class Page:
    """What a browser does with an exported document: opens it, and applies patches."""

    def __init__(self, figure_id: str):
        self.document = Document.from_json(json.loads(export(figure_id)))
        self.models = {model.name: model for model in self.document.models if model.name}

    def apply(self, answer: tuple[str, list[tuple[str, bytes]]]) -> None:
        content, buffers = answer
        self.document.apply_json_patch(Serialized(json.loads(content), [Buffer(*buffer) for buffer in buffers]))

    def shows(self, picture) -> bool:
        return all(same(getattr(model, attribute), value) for model, attribute, value in changes(picture, self.models))


def same(one, other) -> bool:
    """Equal values; columns of the same names, numbers and words in them."""
    if isinstance(other, dict) and any(isinstance(v, (list, np.ndarray)) for v in other.values()):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in other)
    if isinstance(other, np.ndarray) or isinstance(one, np.ndarray):
        return np.shape(one) == np.shape(other) and np.array_equal(one, other, equal_nan=np.asarray(other).dtype.kind == "f")
    return one == other


@pytest.mark.parametrize("figure_id", IDS)
def test_a_page_can_open_the_document(figure_id):
    """Its plots come first, then the frames and what is said about them; it already shows the usual settings."""
    roots = json.loads(export(figure_id))["roots"]
    assert [root["name"] for root in roots] == ["Figure"] * (len(roots) - 2) + ["ColumnDataSource"] * 2
    assert [root["attributes"]["name"] for root in roots[-2:]] == [FRAMES, ABOUT]
    assert all(root["attributes"]["height"] > 0 for root in roots[:-2])
    page = Page(figure_id)
    f = figure(figure_id)
    assert page.shows(f.compute(f.settings()))
    assert len(page.models[FRAMES].data["clock_ms"]) == len(page.models[FRAMES].data["say.sentence"])


@pytest.mark.parametrize("figure_id", IDS)
def test_the_export_is_json_that_browsers_read(figure_id):
    """No NaN or Infinity outside of strings: JSON.parse knows none. Bokeh writes them as objects."""
    json.loads(export(figure_id), parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))


@pytest.mark.parametrize("figure_id", IDS)
def test_changes_bring_the_page_to_what_compute_says(figure_id):
    f, page, values = figure(figure_id), Page(figure_id), figure(figure_id).defaults()
    for moved in MOVES[figure_id]:
        page.apply(change(figure_id, json.dumps(moved)))
        values |= moved
        picture = f.compute(f.settings(**values))
        assert page.shows(picture), moved
        assert json.loads(page.models[ABOUT].data["json"][0]) == json.loads(picture.about())


@pytest.mark.parametrize("figure_id", IDS)
def test_a_patch_has_a_buffer_for_each_of_its_arrays(figure_id):
    content, buffers = change(figure_id, json.dumps(MOVES[figure_id][0]))
    json.loads(content, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    wanted = []

    def look(value):
        if isinstance(value, dict):
            if value.get("type") == "bytes":
                wanted.append(value["data"]["id"])
            value = list(value.values())
        if isinstance(value, list):
            for part in value:
                look(part)

    look(json.loads(content))
    assert sorted(wanted) == sorted(name for name, _ in buffers) and len(set(wanted)) == len(wanted) > 0


@pytest.mark.parametrize("figure_id", IDS)
@pytest.mark.parametrize("wrong, says", [
    ({"no such setting": 0}, "has no setting 'no such setting'; it has "), ({"gpu": "rtx-9999"}, "gpu"), ({"gpu": 3}, "gpu"),
    ({"llm": "llama-3.2-1b", "engine": "abacus"}, "engine"), ({"kv": None}, "kv")])
def test_a_wrong_value_leaves_all_as_it_was(figure_id, wrong, says):
    live = LIVE[figure_id]
    before, picture = live.values(), live.picture
    with pytest.raises(ValueError, match=says):
        change(figure_id, json.dumps(wrong))
    assert live.values() == before and live.picture is picture


def readable(patch, buffers=()) -> list:
    """A patch's events with the bytes of its arrays in place, wherever they travelled."""
    beside = dict(buffers)

    def read(value):
        if isinstance(value, dict) and value.get("type") == "bytes":
            data = value["data"]
            return beside[data["id"]] if isinstance(data, dict) else gzip.decompress(base64.b64decode(data))
        if isinstance(value, dict):
            return {name: read(part) for name, part in value.items()}
        return [read(part) for part in value] if isinstance(value, list) else value

    return read(patch["events"])


@pytest.mark.parametrize("figure_id", IDS)
def test_answers_before_python_are_pythons(figure_id):
    """For every position of the main control: the patch in the file, taken out of its pool, is the one that `change` sends."""
    answers = json.loads(main_answers(figure_id), parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    f = figure(figure_id)
    assert answers["setting"] == f.main and f.defaults()[f.main] in answers["values"] and len(answers["patches"]) == len(answers["values"])
    for value, patch in zip(answers["values"], answers["patches"]):
        for event in patch["events"]:
            if "data" in event:
                event["data"]["entries"] = [[name, answers["pool"][place]] for name, place in event["data"]["entries"]]
        content, buffers = change(figure_id, json.dumps({f.main: value}))
        assert readable(patch) == readable(json.loads(content), buffers), f"{f.main} = {value}"


@pytest.mark.parametrize("figure_id", IDS)
def test_the_pool_holds_no_column_twice(figure_id):
    pool = [json.dumps(column) for column in json.loads(main_answers(figure_id))["pool"]]
    assert len(pool) == len(set(pool)) > 0


def test_ids_are_the_same_in_every_process():
    """A worker that starts later owns the documents that the page was drawn from: whatever the order of hashes."""
    look = ("import hashlib; from app.live import LIVE, export; "
            "print(*(hashlib.sha256(export(name).encode()).hexdigest() for name in LIVE))")
    here = Path(__file__).parents[1]
    seen = [subprocess.run([sys.executable, "-c", look], cwd=here, text=True, capture_output=True, check=True,
                           env={**os.environ, "PYTHONPATH": str(here), "PYTHONHASHSEED": seed}).stdout for seed in ("1", "2")]
    assert seen[0] == seen[1] and len(seen[0].split()) == len(IDS)


def test_no_id_stands_in_two_documents():
    """All figures share one page."""
    ids = [model.id for live in LIVE.values() for model in live.document.models]
    assert len(ids) == len(set(ids))


def test_documents_hold_only_what_is_drawn():
    """Panel's widgets stay with Python: the page has native controls."""
    for live in LIVE.values():
        kinds = {type(model).__module__.split(".")[0] for model in live.document.models}
        assert kinds == {"bokeh"} and sum(isinstance(m, ColumnDataSource) for m in live.document.models) > 2
