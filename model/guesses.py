"""What the model says to a row of measured guesses: how many times faster, from what the row tells of them."""
import re

from model import engines, rows
from model.passes import pass_cost
from model.speculation import expected_tokens, speculate

CHAT_TOKENS = 512       # context of a chat in MT-bench, where a row of guesses does not say (its mean prompt and half a reply)
CHECK_COST = 1.13       # checking guesses against a plain pass over as many tokens: 1.09 to 1.18 (data/measured/README.md)
DRAFT_COST = 0.125      # an EAGLE draft's pass against the model's for the same people: 0.105 to 0.144 (same)
GUESSED = (r"(?:chain|gamma|\bk|guesses|draft[- _]len\w*|num_spec\w*|speculative[-_ ]tokens)\s*[=: ]\s*(\d{1,2})(?![\d.])|"
           r"(?<![\d.])(\d{1,2}) (?:guesses|(?:draft|speculative) tokens)")
ACCEPTED = r"(?:alpha|accept\w*(?: rate)?)\s*[=: ]\s*(0?\.\d+|[01](?:\.0)?)(?![\d.])"
COST = r"\bc(?:ost)?\s*[=: ]\s*(0?\.\d+)"


def speedup(row, found):
    """How many times faster a row of guesses is predicted to be: by an EAGLE draft, by what a guess costs (Leviathan et al.,
    ICML 2023, theorem 3.8), or by a small model that the row names after the large one. ValueError says what it lacks."""
    if "tok" in row.unit:
        raise ValueError("a ratio to the speed without guesses (unit x); a speed with guesses alone is not predicted")
    words = " ".join(row.text(c) for c in ("quantity", "load", "engine", "llm", "prompt_tokens", "context_or_output"))
    many, chance, cost = (re.search(pattern, words, flags=re.I) for pattern in (GUESSED, ACCEPTED, COST))
    eagle = re.search(r"EAGLE[- ]?(3)?(?! ?draft)", words, flags=re.I)
    if eagle:
        return _eagle(row, "eagle3" if eagle[1] else "eagle", _count(many, 3))
    if not many or not chance:
        raise ValueError("how many tokens are guessed and how many of them are accepted (k=5, acceptance 0.7)")
    if cost:
        return expected_tokens(_count(many), float(chance[1])) / (_count(many) * float(cost[1]) + 1.0)
    draft = row.text("llm").partition(" + ")[2]
    if not draft:
        raise ValueError("which model guesses (llm: the large one + the small one) or what a guess costs (c=0.05)")
    return speculate(rows.machine_of(row), _count(many), float(chance[1]), rows.people_of(row, 1.0), CHAT_TOKENS,
                     rows.llm_of(draft)).speedup


def _count(found, otherwise=None):
    return int(next(group for group in found.groups() if group)) if found else otherwise


def _eagle(row, draft, guesses):
    m, people = rows.machine_of(row), rows.people_of(row, 1.0)
    chances = engines.acceptance(draft, guesses)
    plain = pass_cost(m, users=people, context=CHAT_TOKENS).pass_ms
    check = CHECK_COST * pass_cost(m, users=people, context=CHAT_TOKENS, prompt_tokens=people * guesses).pass_ms
    return expected_tokens(guesses, chances) * plain / (guesses * DRAFT_COST * plain + check)
