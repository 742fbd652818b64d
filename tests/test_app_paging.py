"""The figure `paging`: the essay's numbers in its sentence, and a picture that holds at every setting."""
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.machine import MachineSettings
from app.paging import FIGURE, RIGHT, Settings, compute
from model import machine
from model.paging import pages
from tests.picture_checks import check


@pytest.mark.parametrize("values, says", [
    # facts/essay.md: four chats fit reserved, all ten paged. 1 - 11,000 / 32,768 = 66%, within vLLM's 60-80%
    ({}, ("Reserved for 8,192 tokens each, four of ten conversations fit, and 66% of what they reserve is wasted",
          "all ten conversations fit, and 0.3% is wasted", "512 tokens fills 32 pages, stored once for ten: 288 pages saved")),
    # facts/engines.md: a shared prompt of 15 tokens shares nothing, 16 one block, 100 six
    ({"shared": 15}, ("15 tokens fills no page, so nothing is shared",)),
    ({"shared": 16}, ("fills one page, stored once for ten: nine pages saved",)),
    ({"shared": 100}, ("fills six pages, stored once for ten: 54 pages saved",)),
    # by hand: 36,769 tokens hold no reservation of 65,536, and ten chats cut at 512 fill their reservations
    ({"longest": 65536}, ("none of ten conversations fits. In pages of 16 tokens, all ten conversations fit",)),
    ({"longest": 512}, ("all ten conversations fit, and 0% of what they reserve is wasted", "Conversations end at 512 tokens.")),
    # 141 GB of weights on a card of 24 GB
    ({"llm": "llama-3.1-70b"}, ("The weights leave no memory",)),
])
def test_sentence(values, says):
    picture = compute(Settings(**values))
    for words in says:
        assert words in picture.frames["say.sentence"][picture.telling]


def test_without_a_system_prompt_nothing_is_said_of_it():
    picture = compute(Settings(shared=0))
    assert "prompt" not in picture.frames["say.sentence"][picture.telling]
    assert picture.sources["shared_name"]["text"] == [""] and len(picture.sources["shared"]["x0"]) == 0


@settings(deadline=None, max_examples=25)
@given(st.integers(8, 1024), st.integers(512, 131072), st.integers(0, 2048), st.sampled_from(["datasheet", "vllm-0.19"]),
       st.sampled_from(sorted(MachineSettings.param.gpu.names.values())))
def test_every_setting(page_size, longest, shared, engine, gpu):
    live = check(FIGURE, page_size=page_size, longest=longest, shared=shared, engine=engine, gpu=gpu)
    picture = live.picture
    p = pages(machine(gpu=gpu, engine=engine), page_size, longest, live.settings.chats(), shared)
    drawn, gaps = picture.sources["pages"], picture.sources["page_gaps"]
    area = sum(float(np.sum((b["right"] - b["left"]) * (b["bottom"] - b["top"]))) for b in (drawn, gaps))
    held = picture.sources["held_pale"]
    band = float(np.sum((held["right"] - held["left"]) * (held["bottom"] - held["top"])))
    if p.reserved_fit:
        a_token = band / p.chats[:p.reserved_fit].sum()
        assert area / (len(p.owner) * page_size) == pytest.approx(a_token, rel=1e-3), "a token is as large on both sides"
    assert len(drawn["left"]) == len(p.owner) <= 3300


@settings(deadline=None, max_examples=25)
@given(st.integers(8, 1024), st.integers(512, 16384), st.integers(0, 2048))
def test_the_veil_leaves_bare_what_is_handed_out(page_size, longest, shared):
    s = Settings(page_size=page_size, longest=longest, shared=shared)
    picture = compute(s)
    cells = picture.sources["pages"]
    p = pages(s.machine(), page_size, longest, s.chats(), shared, frames=len(picture))
    for f in (0, 7, len(picture) // 2, len(picture) - 1):
        veil = {side: picture.frames[f"veil.{side}"][f] for side in ("left", "right", "top", "bottom")}
        x, y = cells["left"] + 1e-4, (cells["top"] + cells["bottom"]) / 2
        hidden = [(veil["left"][i] <= x) & (x < veil["right"][i]) & (veil["top"][i] <= y) & (y < veil["bottom"][i])
                  for i in (0, 1)]
        assert np.array_equal(~(hidden[0] | hidden[1]), np.arange(len(x)) < p.pages_used()[f])
        assert np.all(x >= RIGHT)
