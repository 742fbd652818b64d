"""The catalogue: models, cards and number formats by name, one small data file each (formats share one).

Those in a folder `rare` are found by their names as all others, but are not offered to choose from: measurements name
more cards and models than a reader wants to scroll through."""
import difflib
import functools
import re
import tomllib
from pathlib import Path

from model.config import read_config
from model.records import GPU, Format

DATA = Path(__file__).with_name("data")
BRANDS = ("", "nvidia", "geforce", "tesla", "amd", "radeon", "instinct", "apple")


def llms(rare=False):
    """Names of the models to choose from, in order; rare: of all that are known."""
    return tuple(sorted(_files("llms"))) if rare else _names("llms")


def gpus(rare=False):
    """Names of the cards to choose from, in order; rare: of all that are known."""
    return tuple(sorted(_files("gpus"))) if rare else _names("gpus")


def weight_formats():
    """Names of all formats of weights."""
    return list(_formats("weights")[0])


def kv_formats():
    """Names of all formats of the KV cache."""
    return list(_formats("kv")[0])


def llm(name):
    """The LLM of that name; capitals, spaces and underscores do not matter. ValueError for a name not known."""
    return _read_llm(_find(name, "llms", "model"))


def gpu(name):
    """The GPU of that name; the maker in front may be left out or given. ValueError for a name not known."""
    return _read_gpu(_find(name, "gpus", "card"))


def weight_format(name):
    """The Format of weights of that name, such as f16, fp8, q4_k_m. ValueError for a name not known."""
    return _format(name, "weights", "format of weights")


def kv_format(name):
    """The Format of the KV cache of that name, such as f16, fp8, q8_0. ValueError for a name not known."""
    return _format(name, "kv", "format of the KV cache")


def plain(name):
    """The form in which names are compared: lower case, dashes, no maker and no brand in front."""
    words = str(name).strip().lower().replace("_", "-").replace("/", "-").split()
    words = [word for word in "-".join(words).split("-") if word not in BRANDS]
    return re.sub(r"(\d)-gb\b", r"\1gb", "-".join(words))


def choose(name, known, what, offered=None):
    """The value of known (a dict by plain name) for a name; ValueError with close matches otherwise, or with the names
    offered (by default all) where none is close."""
    key = plain(name)
    if key in known:
        return known[key]
    close = difflib.get_close_matches(key, known, n=3, cutoff=0.5)
    hint = f"close to it: {', '.join(dict.fromkeys(known[c] for c in close))}" if close else \
        f"known: {', '.join(offered or dict.fromkeys(known.values()))}"
    raise ValueError(f"no {what} is called {str(name)[:60]!r}; {hint}")


@functools.cache
def _names(folder):
    return tuple(sorted(path.stem for path in (DATA / folder).glob("*.toml")))


@functools.cache
def _files(folder):
    """Paths of all data files by name, the rare ones as well."""
    return {path.stem: path for path in (DATA / folder).rglob("*.toml")}


@functools.cache
def _load(folder, name):
    return tomllib.loads(_files(folder)[name].read_text(encoding="utf-8"))


@functools.cache
def _known(folder):
    known = {}
    for name in sorted(_files(folder)):
        entry = _load(folder, name)
        known.update({plain(other): name for other in (name, entry["label"], *entry["also"])})
    return known


def _find(name, folder, what):
    if isinstance(name, str) and name in _files(folder):
        return name
    return choose(name, _known(folder), what, _names(folder))


@functools.cache
def _read_llm(name):
    entry = _load("llms", name)
    return read_config(entry["config"], name=name, label=entry["label"], also=entry["also"], source=entry["source"])


@functools.cache
def _read_gpu(name):
    entry = _load("gpus", name)
    return GPU(name=name, label=entry["label"], maker=entry["maker"], architecture=entry["architecture"],
               kind=entry["kind"], bandwidth_bytes_s=entry["bandwidth_gb_s"] * 1e9, peak_flops=entry["peak_tflops"] * 1e12,
               memory_bytes=entry["memory_gb"] * 1e9, also=tuple(entry["also"]), source=entry["source"])


@functools.cache
def _formats(use):
    table = tomllib.loads((DATA / "formats.toml").read_text(encoding="utf-8"))[use]
    formats, known = {}, {}
    for name, entry in table.items():
        also = entry.pop("also", ())
        formats[name] = Format(name=name, **entry)
        known.update({plain(other): name for other in (name, *also)})
    return formats, known


def _format(name, use, what):
    formats, known = _formats(use)
    return formats[choose(name, known, what)]
