"""What a reader does in the other browsers, as conditions and expressions of JavaScript, and what must come of it."""
from __future__ import annotations

from app.order import figure

MOVED = dict(users=10, context=4096)  # the second is not the main control: only Python can answer it
PLAYING = "document.querySelector('#prefill-decode .player [data-do=play]')"
POSITION = "document.querySelector('#prefill-decode .player [data-do=position]')"
BOOT = "document.documentElement.dataset.boot"
LIVE = "document.documentElement.dataset.python === 'live'"
DRAWN = "document.querySelector('figure#prefill-decode.drawn') && document.querySelector('figure#kv-memory.drawn')"
PLAY = "(document.querySelector('#prefill-decode .picture').scrollIntoView({block: 'center'}), " \
       "document.querySelector('#prefill-decode .player [data-do=speed]').value = '4', " \
       "document.querySelector('#prefill-decode .player [data-do=restart]').click())"
ENDED = f"{POSITION}.value === {POSITION}.max && {PLAYING}.getAttribute('aria-label') === 'Play'"
MOVE = """(() => {
    const parameters = JSON.parse(document.getElementById('parameters').textContent)['kv-memory'];
    for (const [name, value] of Object.entries(%s)) {
        const input = document.getElementById(`kv-memory.${name}`);
        const {positions} = parameters.find((p) => p.name === name);
        input.value = positions?.length ? positions.indexOf(value) : value;
        input.dispatchEvent(new Event('input', {bubbles: true}));
    }
})()"""
ANSWERED = "!document.querySelector('#kv-memory.waiting')"
SENTENCE = "document.querySelector('#kv-memory [role=status]').textContent.trim()"


def sentence() -> str:
    """What kv-memory says of `MOVED`, computed here."""
    kv = figure("kv-memory")
    picture = kv.compute(kv.settings(**MOVED))
    return picture.frames["say.sentence"][picture.telling].strip()
