"""Python in the page's worker and CPython give the same numbers: whole answers are compared, frame by frame, bit by bit."""
from __future__ import annotations

import base64
import json
import subprocess
import sys

import pytest
from playwright.sync_api import Browser

from app.order import figure
from app.parameters import parameters

from .conftest import FIGURES, ROOT
from .reader import embed, reader
from .test_figures import table

# Asks a worker of the page's own make, in the page's own words, and gives back its answers.
ASK = """([address, figure, table]) => new Promise((done, fail) => {
    const worker = new Worker(address, {type: 'module'}), answers = [];
    const ask = () => worker.postMessage({what: 'ask', ask: answers.length, figure, values: JSON.stringify(table[answers.length])});
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
figure, table = json.load(sys.stdin)
answers = []
for values in table:
    try:
        patch, buffers = live.change(figure, json.dumps(values))
    except ValueError as error:
        patch, buffers = str(error), []
    answers.append([patch, [[name, base64.b64encode(data).decode()] for name, data in buffers]])
json.dump(answers, sys.stdout)
"""


def sorted_out(answer: list) -> tuple[object, list[bytes]]:
    """An answer without the names of its buffers, which every process chooses anew."""
    text, buffers = answer
    for place, (name, _) in enumerate(buffers):
        text = text.replace(json.dumps(name), f'"buffer {place}"')
    return text, [base64.b64decode(data) for _, data in buffers]


@pytest.mark.parametrize("figure_id", FIGURES)
def test_pyodide_and_cpython_give_equal_numbers(browser: Browser, site: str, figure_id: str) -> None:
    usual = {p.name: p.default for p in parameters(figure(figure_id))}
    asked = [{**usual, **change} for change in [{}, *table(figure_id)]]
    with reader(browser) as context:
        page = embed(context.new_page(), site, figure_id)
        theirs = page.evaluate(ASK, [f"{site}worker.mjs", figure_id, asked])
    done = subprocess.run([sys.executable, "-c", ANSWER], input=json.dumps([figure_id, asked]), capture_output=True,
                          text=True, cwd=ROOT, check=True)
    ours = json.loads(done.stdout)
    assert len(theirs) == len(ours) == len(asked) > 10
    different = [values for values, a, b in zip(asked, theirs, ours) if sorted_out(a) != sorted_out(b)]
    assert not different
    assert len({text for text, _ in map(sorted_out, ours)}) > len(asked) / 2  # the settings do make a difference
