"""Runs inside Pyodide, in the build's Node: which modules the page needs, compiled and small, and a clean heap.

`snapshot.mjs` calls these functions; nothing of this file reaches the page.
"""

import ast
import gc
import glob
import importlib
import importlib.util
import json
import sys
import zipfile

SITE = "/lib/python3.14/site-packages/"
STDLIB = "/lib/python314.zip/"
# Imported when something goes wrong: an error's words need them.
EXTRA = ("traceback", "linecache", "tokenize", "textwrap", "contextlib")
# Packages that explain themselves to people who are not there.
EXPLAINED = tuple(f"{SITE}{name}/" for name in ("bokeh", "panel", "param", "numpy"))
opened = []


def watch() -> None:
    """Keeps a list of the files that Python opens from now on."""
    sys.addaudithook(lambda event, args: opened.append(args[0]) if event == "open" else None)


def figures() -> dict[str, str]:
    """{figure's id: its document as JSON}."""
    from app import live

    return {name: live.export(name) for name in live.LIVE}


def rehearse() -> dict[str, str]:
    """Does everything that the page may ask of each figure; returns {figure's id: its main control's answers as JSON}."""
    from app import live

    answers = {}
    for name in live.LIVE:
        answers[name] = live.main_answers(name)
        main = json.loads(answers[name])
        before = live.LIVE[name].values()[main["setting"]]
        for value in (main["values"][0], main["values"][-1], before):
            live.change(name, json.dumps({main["setting"]: value}))
        choose(live, name, ["engine"] if name != "kv-memory" else ["engine", "llm", "gpu", "weights", "kv"])
        refused(live, name)
    return answers


def choose(live, name: str, settings: list[str]) -> None:
    """Takes every choice of these settings once: what the model reads for it is then in the heap."""
    for setting in settings:
        before = live.LIVE[name].values()[setting]
        for value in live.LIVE[name].settings.param[setting].objects:
            live.change(name, json.dumps({setting: value}))
        live.change(name, json.dumps({setting: before}))


def refused(live, name: str) -> None:
    """Asks for a setting that does not exist: the way to say no must be in the heap as well."""
    import traceback

    try:
        live.change(name, json.dumps({"no such setting": 0}))
    except ValueError as error:
        traceback.format_exception(error)


def libraries() -> list[str]:
    """Extension modules that were imported, below site-packages, in the order of their import."""
    files = (getattr(module, "__file__", None) or "" for module in list(sys.modules.values()))
    return [file.removeprefix(SITE) for file in files if file.endswith(".so")]


def sources() -> dict[str, tuple[str, str]]:
    """Python modules that were imported: {path below site-packages or in the standard library's zip: (name, source)}."""
    for name in EXTRA:
        importlib.import_module(name)
    found = {}
    for name, module in sorted(sys.modules.items()):
        spec = getattr(module, "__spec__", None)
        origin = getattr(spec, "origin", None) or ""
        if origin.endswith(".py") and origin.startswith((SITE, STDLIB)):
            found[origin] = (spec.name, spec.loader.get_source(spec.name))
    return found


def load(names: list[str]) -> None:
    """Imports the app first, as the page does, and then whatever a rehearsal has needed later."""
    importlib.import_module("app.live")
    for name in names:
        importlib.import_module(name)


def forget() -> None:
    """Empties what was kept only to be quicker while importing."""
    import linecache
    import re
    import zipimport

    sys.path_importer_cache.clear()
    zipimport._zip_directory_cache.clear()
    linecache.clearcache()
    re.purge()


class Plain(ast.NodeTransformer):
    """Takes the types off arguments and results. From 3.14 on they are a function of their own each, called by nobody here."""

    def visit_FunctionDef(self, node):
        self.generic_visit(node)
        if not any("register" in ast.unparse(decorator) for decorator in node.decorator_list):  # singledispatch reads them
            node.returns = None
            arguments = node.args
            for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg):
                if one is not None:
                    one.annotation = None
        return node

    visit_AsyncFunctionDef = visit_FunctionDef


class Silent(Plain):
    """Takes the explanations out as well that are no docstrings: Bokeh's `help`, Param's `doc`, numpy's `add_newdoc`."""

    def visit_Call(self, node):
        self.generic_visit(node)
        node.keywords = [word for word in node.keywords if not (word.arg == "help" or word.arg == "doc" and is_text(word.value))]
        return node

    def visit_Expr(self, node):
        self.generic_visit(node)
        call = node.value
        told = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id.startswith("add_newdoc")
        return ast.copy_location(ast.Pass(), node) if told else node


def is_text(node) -> bool:
    """Whether the expression is a string as it stands."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def small(code):
    """The code object without the table that says which line an instruction came from."""
    constants = tuple(small(item) if isinstance(item, type(code)) else item for item in code.co_consts)
    return code.replace(co_linetable=no_lines(len(code.co_code) // 2), co_consts=constants)


def no_lines(units: int) -> bytes:
    """A location table that gives no location to any of `units` instructions (CPython's Objects/locations.md, code 15).

    It cannot be empty: traceback asks for an entry for each instruction.
    """
    whole, rest = divmod(units, 8)
    return b"\xff" * whole + (bytes([0xF8 | rest - 1]) if rest else b"")


def compiled(source: str, path: str) -> bytes:
    """A .pyc without docstrings, line tables and types of arguments, whose source is never looked for."""
    from importlib import _bootstrap_external

    leaner = Silent if path.startswith(EXPLAINED) else Plain
    tree = leaner().visit(ast.parse(source, path))
    code = compile(tree, path, "exec", dont_inherit=True, optimize=2)
    return bytes(_bootstrap_external._code_to_hash_pyc(small(code), importlib.util.source_hash(source.encode()), False))


def pack(found: dict[str, tuple[str, str]], data: list[str], site: str, stdlib: str) -> int:
    """Writes the modules in `found` and the files in `data` as two zips, stored, for compression as a whole later."""
    with zipfile.ZipFile(site, "w") as ours, zipfile.ZipFile(stdlib, "w") as theirs:
        for path, (_, source) in sorted(found.items()):
            archive, base = (ours, SITE) if path.startswith(SITE) else (theirs, STDLIB)
            archive.writestr(zipfile.ZipInfo(path.removeprefix(base) + "c"), compiled(source, path))
        for path in sorted(set(data)):
            with open(path, "rb") as file:
                ours.writestr(zipfile.ZipInfo(path.removeprefix(SITE)), file.read())
    return len(found)


def data_files() -> list[str]:
    """Files below site-packages that were opened and are no modules."""
    names = {name for name in opened if isinstance(name, str) and name.startswith(SITE)}
    names.update(glob.glob(SITE + "panel/theme/css/*.css"))  # Panel asks whether they exist
    names.update(name for name in glob.glob(SITE + "model/data/**", recursive=True) if name.endswith((".toml", ".csv")))
    return [name for name in names if not name.endswith((".py", ".pyc", ".so"))]


def fill(classes: list[tuple[int, int]]) -> None:
    """Takes `count` free blocks of each size in bytes from Python's small-object allocator, zeroed, and gives them back."""
    gc.collect()
    header = sys.getsizeof(b"")
    for size, count in classes:
        keep = [None] * count
        for i in range(count):
            keep[i] = bytes(size - header)
        del keep
