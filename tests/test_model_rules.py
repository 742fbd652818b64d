"""The model's house rules: numpy and the standard library only, files that are read in one sitting."""
import ast
import sys
from pathlib import Path

import pytest

FILES = sorted((Path(__file__).parents[1] / "model").rglob("*.py"))


def imports(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file_is_short_documented_and_imports_only_numpy_and_the_standard_library(path):
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    assert len(text.splitlines()) <= 250
    assert ast.get_docstring(tree)
    roots = {name.split(".")[0] for name in imports(tree)}
    assert roots <= {"numpy", "model"} | set(sys.stdlib_module_names)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_what_is_public_says_what_it_returns(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    public = [node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_")]
    assert [node.name for node in public if not ast.get_docstring(node)] == []
