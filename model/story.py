"""The story in numbers: where a plain roofline fails, by how much, and what each cause repairs. For docs/measured.md and the
two figures of the readers' page.

tools/fit.py --story writes story.toml, because serving every load again without each cause takes a minute."""
import functools
import statistics
import tomllib

from model import points, predict, rows, terms

CAUSES = {  # what a roofline leaves out, and the values at which its terms say nothing
    "memory below its printed bandwidth": {"stream_share": 1.0, "stream_share_many": 1.0, "llama_sm_bytes": 1e6,
                                           "llama_kv_share": 4.0, "apple_kv_share": 4.0},
    "arithmetic below its printed peak": {"matrix_share": 1.0, "matrix_share_full": 1.0, "apple_matrix_share": 1.0,
                                          "llama_sm_flops": 1e9, "llama_sm_flops_hbm": 1e9, "llama_quantised_share": 1.0},
    "the knee between the two": {"knee": 200.0},
    "attention over long prompts": {"attention_share": 1e9, "llama_score_passes": 0.0, "attention_ramp_us": 0.0},
    "small kernels of every layer": {"layer_us": 0.0, "llama_layer_us": 0.0, "apple_layer_us": 0.0},
    "the host, a person and a request": {"host_person_ms": 0.0, "request_ms": 0.0},
    "memory that is neither weights nor KV": {"other_bytes": 0.0, "activation_bytes": 0.0},
}
GROUPS = (predict.SPEED, predict.FIRST, predict.FIT, predict.THROUGHPUT, predict.KERNEL)


@functools.cache
def told():
    """story.toml: for each group of GROUPS, median absolute errors: `roofline`, `engine`, and `without`, by cause."""
    return tomllib.loads((terms.DATA / "story.toml").read_text(encoding="utf-8"))


def roofline():
    """[(Prediction at the datasheet's values, Prediction with the engine's terms)] for every row that both predict."""
    return [(plain, full) for plain, full in zip(_plain(), map(predict.predict, points.measured()))
            if plain.error is not None and full.error is not None]


def tell():
    """The content of story.toml, computed anew."""
    found = {group: {"roofline": _median(_plain(), group), "engine": _median(map(predict.predict, points.measured()), group),
                     "without": {}} for group in GROUPS}
    for cause, silent in CAUSES.items():
        with terms.trying(silent):
            said = [predict.predict(row) for row in points.measured()]
        for group in GROUPS:
            found[group]["without"][cause] = _median(said, group)
    return found


def _plain():
    with rows.as_datasheet():
        return [predict.predict(row) for row in points.measured()]


def _median(said, group):
    return round(statistics.median(abs(one.error) for one in said if one.group == group and one.error is not None), 4)
