"""Single kernels and single passes that profiles measure, from the terms of model.terms_time. Times in us or ms as named.

Every function takes a rows.Row and the match of its quantity."""

import numpy as np

from model import rows, terms, terms_time
from model.passes import pass_cost

SARATHI_CONTEXT = 1024  # tokens a person holds where SARATHI's table does not say: its sequences are 1,024 long


def products_us(row, found):
    """The matrix products of one layer for the tokens of the row's load, in us."""
    m, t = _of(row)
    tokens = np.asarray(_needed(rows.people_of(row), "how many tokens the layer works on (load)"))
    weights = (m.llm.weights_bytes(m.weights) - terms_time.looked_up_bytes(m) - terms_time.head_bytes(m)) / m.llm.layers
    flops = terms_time.layers_flops(m, tokens) / m.llm.layers
    return 1000.0 * terms_time.norm(terms_time.read_ms(m, t, weights, tokens), terms_time.products_ms(m, t, flops), t.knee)


def head_us(row, found):
    """The output table for the sequences of the row's load, in us."""
    m, t = _of(row)
    outputs = np.asarray(_needed(rows.people_of(row), "how many sequences ask for a token (load)"))
    weights = terms_time.head_bytes(m)
    return 1000.0 * terms_time.norm(terms_time.read_ms(m, t, weights, outputs),
                                    terms_time.products_ms(m, t, terms_time.head_flops(m, outputs)), t.knee)


def attention_us(row, found):
    """Attention of one layer in us: of people who decode, or of a chunk of a prompt behind cached tokens."""
    m, t = _of(row)
    if "prefill" in row.text("load").lower():
        chunk = np.asarray(_needed(rows.first_number(row.text("load")), "how long the chunk is (load)"))
        prior = rows.first_number(row.text("prompt_tokens"), 0.0)
        ramp_ms = terms_time.ramp_ms(m, t, 1.0)
        kv_ms = terms_time.kv_read_ms(m, t, m.llm.kv_bytes(m.kv, prior))
        return 1000.0 * (terms_time.attention_ms(m, t, chunk, prior) + kv_ms + ramp_ms) / m.llm.layers
    people = _needed(rows.people_of(row), "how many people decode (load)")
    context = _needed(rows.first_number(row.text("context_or_output")), "how much context they hold (context_or_output)")
    kv = people * m.llm.kv_bytes(m.kv, context)
    return 1000.0 * (terms_time.kv_read_ms(m, t, kv) + terms_time.ramp_ms(m, t, people)) / m.llm.layers


def iteration_ms(row, found):
    """One pass over so many tokens of a prompt, in ms."""
    return pass_cost(rows.machine_of(row), users=0, prompt_tokens=float(found[1])).pass_ms


def shared_pass_ms(row, found):
    """A decode pass of so many people, divided by them, in ms."""
    people, context = float(found[1]), float(found[2])
    return pass_cost(rows.machine_of(row), users=people, context=context).pass_ms / people


def beside_ms(row, found):
    """What a decode token adds to a pass over a prompt, in ms."""
    prompt, people = float(found[1]), float(found[2])
    m = rows.machine_of(row)
    both = pass_cost(m, users=people, context=SARATHI_CONTEXT, prompt_tokens=prompt).pass_ms
    return (both - pass_cost(m, users=0, prompt_tokens=prompt).pass_ms) / people


def cost_ratio(row, found):
    """How many times a decode token costs what a prompt's token costs."""
    m, people = rows.machine_of(row), float(found[1])
    decode = pass_cost(m, users=people, context=SARATHI_CONTEXT).pass_ms / people
    return decode / (pass_cost(m, users=0, prompt_tokens=SARATHI_CONTEXT).pass_ms / SARATHI_CONTEXT)


def _of(row):
    m = rows.machine_of(row)
    return m, terms.profile(m.engine, m.gpu)


def _needed(number, what):
    if not number:
        raise ValueError(what)
    return number


