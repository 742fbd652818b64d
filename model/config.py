"""A Hugging Face config.json becomes an LLM: its parameters are counted from its fields, family by family.

Sources: the modelling code of each family in https://github.com/huggingface/transformers/tree/main/src/transformers/models
and the counts that the published weights' index files state (tests/test_config.py compares)."""
import json
from pathlib import Path

from model.families import FAMILIES, shape
from model.records import LLM

LARGEST = 10**9  # no field of any config is near it


def read_config(config, name="config.json", label=None, also=(), source=""):
    """The LLM that a config.json describes: a dict, or a path to a file. name, label, also and source are the record's; a
    config that says where it came from (_name_or_path) names itself. ValueError says what is wrong with it."""
    if not isinstance(config, dict):
        path = Path(config)
        name = path.name if name == "config.json" else name
        config = _load(path)
    kind = config.get("model_type")
    if not kind:
        raise ValueError(f"{name} lacks model_type; a Hugging Face config.json names its family there, such as llama")
    if not isinstance(kind, str) or kind not in FAMILIES:
        raise ValueError(f"{name} has model_type {str(kind)[:40]!r}, which is not understood; these are: {', '.join(sorted(FAMILIES))}")
    if isinstance(config.get("text_config"), dict):
        config = {**config, **config["text_config"]}  # a model that also sees: only the part that reads and writes counts
    fields = Fields(config, FAMILIES[kind].defaults, kind, name)
    if label is None:
        label = str(config.get("_name_or_path") or name).rstrip("/").split("/")[-1]
    return LLM(name=name, label=label, family=kind, also=tuple(also), source=source or name, **shape(fields))


def _load(path):
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except OSError as fault:
        raise ValueError(f"{path} cannot be read ({fault.strerror}); give the path of a Hugging Face config.json") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not text; give the path of a Hugging Face config.json") from None
    except RecursionError:
        raise ValueError(f"{path} is nested too deeply to be a Hugging Face config.json") from None
    except json.JSONDecodeError as fault:
        raise ValueError(f"{path} is not JSON (line {fault.lineno}: {fault.msg}); give a Hugging Face config.json") from None
    if not isinstance(config, dict):
        raise ValueError(f"{path} holds no JSON object; a config.json starts with a brace")
    return config


class Fields:
    """The fields of one config, asked for by name; a missing or impossible one is a ValueError that names it."""

    def __init__(self, config, defaults, kind, name):
        self.values = {**defaults, **{key: value for key, value in config.items() if value is not None}}
        self.kind, self.name = kind, name

    def count(self, field, otherwise=None):
        """A whole number above 0; otherwise= is the value where the config leaves the field out."""
        value = self.values.get(field, otherwise)
        if value is None:
            raise ValueError(f"{self.name} lacks {field}, which a {self.kind} model needs")
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= LARGEST:
            raise ValueError(f"{self.name} has {field} = {str(value)[:40]!r}; it must be a whole number above 0")
        return value

    def optional(self, field):
        """A whole number, or 0 where the config has none."""
        return self.count(field) if self.values.get(field) else 0

    def flag(self, field, otherwise=False):
        """True or False."""
        return bool(self.values.get(field, otherwise))

    def listed(self, field):
        """A list, empty where the config has none."""
        value = self.values.get(field, [])
        if not isinstance(value, list):
            raise ValueError(f"{self.name} has {field} = {value!r}; it must be a list")
        return value
