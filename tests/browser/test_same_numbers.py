"""Python in the page's worker and CPython give the same numbers: whole answers are compared, frame by frame."""
from __future__ import annotations

import base64
import json
import math
import subprocess
import sys

import numpy as np
import pytest
from playwright.sync_api import Browser

from app.order import figure
from app.parameters import parameters

from .conftest import FIGURES, ROOT
from .reader import embed, reader
from .test_figures import table

# Asks a worker of the page's own make, in the page's own words, and gives back its answers.
ASK = """([address, table]) => new Promise((done, fail) => {
    const worker = new Worker(address, {type: 'module'}), answers = [];
    const ask = () => worker.postMessage({what: 'ask', ask: answers.length, figure: table[answers.length][0], values: JSON.stringify(table[answers.length][1])});
    const text = buffer => { let s = ''; for (const byte of new Uint8Array(buffer)) s += String.fromCharCode(byte); return btoa(s) };
    worker.onmessage = ({data}) => {
        if (data.what === 'failed') fail(new Error(data.error));
        if (data.what === 'live') ask();
        if (data.what !== 'patch' && data.what !== 'wrong') return;
        answers.push(data.what === 'wrong' ? [data.error, []] : [data.json, data.buffers.map(([id, bytes]) => [id, text(bytes)])]);
        if (answers.length < table.length) ask(); else { worker.terminate(); done(answers) }
    };
})"""
# The same in this Python: app/live.py builds its figures in a process of its own, so that ids are those of the page.
ANSWER = """
import base64, json, sys
from app import live
answers = []
for figure, values in json.load(sys.stdin):
    try:
        patch, buffers = live.change(figure, json.dumps(values))
    except ValueError as error:
        patch, buffers = str(error), []
    answers.append([patch, [[name, base64.b64encode(data).decode()] for name, data in buffers]])
json.dump(answers, sys.stdout)
"""


def whole(answer: list) -> object:
    """An answer with its arrays in their places, and the JSON of its words opened."""
    text, buffers = answer
    bytes_of = {name: base64.b64decode(data) for name, data in buffers}

    def opened(part):
        if isinstance(part, dict) and part.get("type") == "ndarray":
            return np.frombuffer(bytes_of[part["array"]["data"]["id"]], part["dtype"]).reshape(part["shape"])
        if isinstance(part, dict):
            return {key: opened(value) for key, value in part.items()}
        if isinstance(part, list):
            return [opened(value) for value in part]
        return opened(json.loads(part)) if isinstance(part, str) and part.startswith("{") else part
    return opened(text)


def equal(one, other) -> bool:
    """Whether two answers are one: words letter by letter, numbers to the last digits that two libraries of powers and
    logarithms share (an engine's terms use them; on the datasheet every bit is the same)."""
    if isinstance(one, dict):
        return isinstance(other, dict) and one.keys() == other.keys() and all(equal(one[k], other[k]) for k in one)
    if isinstance(one, list):
        return isinstance(other, list) and len(one) == len(other) and all(map(equal, one, other))
    if isinstance(one, np.ndarray):
        closeness = dict(rtol=2e-7, atol=1e-9) if one.dtype == np.float32 else dict(rtol=1e-12, atol=1e-12)
        return isinstance(other, np.ndarray) and one.shape == other.shape and np.allclose(one, other, equal_nan=True, **closeness)
    if isinstance(one, float) and isinstance(other, (int, float)):
        return math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-12)  # tables are written with seven digits
    return one == other


@pytest.fixture(scope="module")
def answers(browser: Browser, site: str) -> dict[str, list[tuple[dict, list, list]]]:
    """{figure: [(settings, the page's answer, ours), ...]}: one worker and one process of ours are asked everything."""
    usual = {name: {p.name: p.default for p in parameters(figure(name))} for name in FIGURES}
    asked = [(name, {**usual[name], **change}) for name in FIGURES for change in [{}, *table(name)]]
    with reader(browser) as context:
        page = embed(context.new_page(), site, FIGURES[0])
        theirs = page.evaluate(ASK, [f"{site}worker.mjs", asked])
    done = subprocess.run([sys.executable, "-c", ANSWER], input=json.dumps(asked), capture_output=True, text=True, cwd=ROOT, check=True)
    ours = json.loads(done.stdout)
    assert len(theirs) == len(ours) == len(asked)
    found = {name: [] for name in FIGURES}
    for (name, values), a, b in zip(asked, theirs, ours):
        found[name].append((values, a, b))
    return found


@pytest.mark.parametrize("figure_id", FIGURES)
def test_pyodide_and_cpython_give_equal_numbers(answers, figure_id: str) -> None:
    pairs = [(values, whole(a), whole(b)) for values, a, b in answers[figure_id]]
    assert len(pairs) > 10
    assert not [values for values, a, b in pairs if not equal(a, b)]
    assert sum(not equal(b, pairs[0][2]) for _, _, b in pairs) > len(pairs) / 2  # the settings do make a difference
