"""The build: what it keeps, what it refuses, what it serves."""

import errno
import http.client
import json
import os
import threading
import time

import pytest

from building import commands, compress, files, inside, parts, serve, site, snapshot, trim
from building.faults import Fault
from building.places import Places


# --- files -----------------------------------------------------------------------------------------------------------


def test_a_folder_is_replaced_as_a_whole(tmp_path):
    old = tmp_path / "dist"
    old.mkdir()
    (old / "gone").write_text("old")
    with files.new_folder(old) as draft:
        (draft / "new").write_text("new")
        assert (old / "gone").read_text() == "old"
    assert [path.name for path in tmp_path.rglob("*")] == ["dist", "new"]


@pytest.mark.parametrize("number, word", [(errno.ENOSPC, "No space left"), (errno.EROFS, "Read-only"), (errno.EACCES, "Permission")])
def test_a_disk_that_refuses_leaves_the_old_build_and_one_line(tmp_path, number, word):
    dist = tmp_path / "dist"
    dist.mkdir()
    (dist / "index.html").write_text("whole")
    with pytest.raises(Fault, match=word) as caught, files.new_folder(dist) as draft:
        (draft / "index.html").write_text("ha")
        raise OSError(number, f"{word} on device", str(draft / "index.html"))
    assert caught.value.status == 1 and "\n" not in str(caught.value)
    assert [path.name for path in tmp_path.rglob("*")] == ["dist", "index.html"]
    assert (dist / "index.html").read_text() == "whole"


def damage(folder):
    (folder / "a").write_text("altered")


def shorten(folder):
    (folder / "a").unlink()


def add(folder):
    (folder / "b").write_text("not ours")


@pytest.mark.parametrize("harm, times", [(lambda folder: None, 1), (damage, 2), (shorten, 2), (add, 2)])
def test_what_is_kept_is_made_again_only_where_it_is_no_longer_right(tmp_path, harm, times):
    made = []

    def make(folder):
        made.append(folder)
        (folder / "a").write_text("right")
    harm(files.cached_folder(tmp_path, "key", make))
    folder = files.cached_folder(tmp_path, "key", make)
    assert (folder / "a").read_text() == "right" and len(made) == times and not (folder / "b").exists()


def test_what_nobody_used_for_long_leaves_the_cache(tmp_path):
    for name, days in (("old", 40), ("new", 1)):
        folder = files.cached_folder(tmp_path, name, lambda folder: (folder / "a").write_text("made"))
        os.utime(folder, (time.time() - 86_400 * days,) * 2)
        (tmp_path / f"{name}.br").write_text("packed")
        os.utime(tmp_path / f"{name}.br", (time.time() - 86_400 * days,) * 2)
    files.prune(tmp_path, 30)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new", "new.br"]
    files.prune(tmp_path / "missing", 30)


# --- parts -----------------------------------------------------------------------------------------------------------

RIGHT = b"the right bytes"


@pytest.mark.parametrize("there, fetched", [(None, 1), (b"damaged", 1), (RIGHT, 0)])
def test_a_part_is_fetched_where_the_cache_does_not_hold_it(tmp_path, there, fetched):
    places = Places(tmp_path)
    if there is not None:
        files.write_whole(places.parts / "part", there)
    asked = []
    assert parts.kept(places, "part", files.sha256(RIGHT), lambda: asked.append(1) or RIGHT) == RIGHT
    assert len(asked) == fetched and (places.parts / "part").read_bytes() == RIGHT


def unreachable():
    raise Fault("the registry cannot be reached")


@pytest.mark.parametrize("there, fetch, words", [
    (None, unreachable, "cannot be reached"),
    (b"damaged", unreachable, "part in .cache/parts is damaged and could not be fetched again: the registry cannot be reached"),
    (None, lambda: b"other bytes", "nothing was kept"),
])
def test_a_part_that_cannot_be_had_is_one_line(tmp_path, there, fetch, words):
    places = Places(tmp_path)
    if there is not None:
        files.write_whole(places.parts / "part", there)
    with pytest.raises(Fault, match=words) as caught:
        parts.kept(places, "part", files.sha256(RIGHT), fetch)
    assert caught.value.status == 1
    assert not (places.parts / "part").exists() or (places.parts / "part").read_bytes() == there


# --- Python, small ---------------------------------------------------------------------------------------------------

SOURCE = '''
"""Nobody reads this."""
from functools import singledispatch

def f(a: int, *b: str, c: float = 2.0, **d: dict) -> str:
    """Nor this."""
    assert False
    return str(a) + str(c)

@singledispatch
def g(x: object) -> str:
    return "any"

@g.register
def _(x: int) -> str:
    return "int"

class C:
    a: int = 1
'''


def test_types_docstrings_and_lines_go_and_the_rest_stays():
    import ast
    tree = inside.Plain().visit(ast.parse(SOURCE))
    code = inside.small(compile(tree, "f.py", "exec", dont_inherit=True, optimize=2))
    space = {}
    exec(code, space)
    assert space["f"](1) == "12.0" and space["f"].__annotations__ == {} and space["f"].__doc__ is None
    assert space["g"](1) == "int" and space["g"]("1") == "any", "singledispatch reads a type"
    assert space["C"].__annotations__ == {"a": int}, "a class's fields have types that dataclasses and Bokeh read"


@pytest.mark.parametrize("source, kept", [
    ("size = Float(default=1, help='of a dot')", "size = Float(default=1)"),
    ("name = String(doc='its name', help=words % 'line')", "name = String()"),
    ("change(doc=document)", "change(doc=document)"),                      # no explanation, though it is called so
    ("add_newdoc('numpy', 'array', 'What it is.')", "pass"),
    ("x = add_newdoc", "x = add_newdoc")])
def test_explanations_for_people_who_are_not_there_go(source, kept):
    import ast
    assert ast.unparse(inside.Silent().visit(ast.parse(source))) == kept


@pytest.mark.parametrize("units", [1, 7, 8, 9, 16, 100])
def test_a_location_table_without_locations_covers_every_instruction(units):
    code = compile("pass", "f.py", "exec").replace(co_code=bytes([9, 0]) * units, co_linetable=inside.no_lines(units))
    assert list(code.co_positions()) == [(None, None, None, None)] * units


def test_numbers_of_the_pins():
    assert {len(pin["sha256"]) for pin in parts.PINS.values()} == {64}


def test_a_package_that_is_not_what_was_installed_is_noticed(tmp_path, monkeypatch):
    found = trim.installed("param")
    assert found["param/version.py"] and not any("/tests/" in name for name in found)
    monkeypatch.setattr(trim, "digest", lambda data: "another")
    with pytest.raises(Fault, match="delete .venv"):
        trim.installed("param")


@pytest.mark.parametrize("output, line", [
    ("Traceback (most recent call last):\n  File 'x'\nValueError: no such card\n    at new_error (x)", "ValueError: no such card"),
    ("PythonError: Traceback (most recent call last):\n  File\nmodule.Wrong: two words\n\n    at x", "module.Wrong: two words"),
    ("something else\n", "something else"),
])
def test_the_line_that_names_the_error(output, line):
    assert snapshot.reason(output) == line


# --- compression -----------------------------------------------------------------------------------------------------


def test_compressed_forms_unpack_to_the_same_bytes(tmp_path):
    import brotli
    import gzip
    folder = tmp_path / "site"
    folder.mkdir()
    text = "a page\n" * 1000
    (folder / "index.html").write_text(text)
    (folder / "picture.png").write_bytes(b"as it is")
    compress.compress(Places(tmp_path), folder)
    assert brotli.decompress((folder / "index.html.br").read_bytes()).decode() == text
    assert gzip.decompress((folder / "index.html.gz").read_bytes()).decode() == text
    assert sorted(path.name for path in folder.iterdir()) == ["index.html", "index.html.br", "index.html.gz", "picture.png"]


# --- the site's version ----------------------------------------------------------------------------------------------


def small_dist(folder):
    folder.mkdir()
    (folder / "index.html").write_text("four")
    (folder / "manifest.json").write_text(json.dumps({"version": "v", "files": {"index.html": {"bytes": 4, "sha256": ""}}}))


@pytest.mark.parametrize("harm, version", [
    (lambda dist: None, "v"),
    (lambda dist: (dist / "index.html").unlink(), ""),
    (lambda dist: (dist / "index.html").write_text("fo"), ""),
    (lambda dist: (dist / "manifest.json").write_text("{"), ""),
    (lambda dist: (dist / "manifest.json").unlink(), ""),
])
def test_a_build_with_a_file_missing_or_cut_off_is_none(tmp_path, harm, version):
    small_dist(tmp_path / "dist")
    harm(tmp_path / "dist")
    assert site.built_version(tmp_path / "dist") == version


# --- serving ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def served(tmp_path):
    """A folder, and a function that asks its server: (path, headers, method) -> (status, headers, body)."""
    folder = tmp_path / "dist"
    (folder / "deep").mkdir(parents=True)
    (folder / "index.html").write_text("<p>plain</p>")
    (folder / "index.html.br").write_bytes(b"as brotli")
    (folder / "index.html.gz").write_bytes(b"as gzip")
    (folder / "deep" / "index.html").write_text("deep")
    (folder / "deep" / "a.mjs").write_text("export {};")
    (folder / ".hidden").write_text("secret")
    for name in ("a.wasm", "a.json", "a.webmanifest", "a.svg", "a.css", "a.bin", "a.js", "a.json.gz"):
        (folder / name).write_bytes(b"x")
    (tmp_path / "above").write_text("secret")
    made = serve.server(folder, port=0)
    threading.Thread(target=made.serve_forever, daemon=True).start()

    def ask(path, method="GET", **headers):
        connection = http.client.HTTPConnection(*made.server_address)
        connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, answer.headers, body
    yield ask
    made.shutdown()
    made.server_close()


@pytest.mark.parametrize("path, media_type", [
    ("/", "text/html; charset=utf-8"), ("/deep/a.mjs", "text/javascript; charset=utf-8"), ("/a.wasm", "application/wasm"),
    ("/a.json", "application/json"), ("/a.webmanifest", "application/manifest+json"), ("/a.svg", "image/svg+xml"),
    ("/a.css", "text/css; charset=utf-8"), ("/a.bin", "application/octet-stream"), ("/a.js", "text/javascript; charset=utf-8"),
    ("/a.json.gz", "application/gzip"), ("/deep/", "text/html; charset=utf-8"), ("/a.json?v=1", "application/json"),
])
def test_media_types_and_headers(served, path, media_type):
    status, headers, _ = served(path)
    assert (status, headers["Content-Type"]) == (200, media_type)
    assert headers["Access-Control-Allow-Origin"] == "*" and headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Content-Security-Policy"] == serve.POLICY
    assert ("immutable" in headers["Cache-Control"]) == ("?v=" in path)


@pytest.mark.parametrize("accepted, encoding, body", [
    ("", None, b"<p>plain</p>"), ("gzip, deflate, br, zstd", "br", b"as brotli"), ("gzip", "gzip", b"as gzip"),
    ("br;q=0, gzip", "gzip", b"as gzip"), ("identity", None, b"<p>plain</p>"),
])
def test_the_form_that_the_browser_takes(served, accepted, encoding, body):
    _, headers, got = served("/", Accept_Encoding=accepted)
    assert (headers["Content-Encoding"], got) == (encoding, body)
    assert headers["Vary"] == "Accept-Encoding"


@pytest.mark.parametrize("path", ["/none", "/.hidden", "/../above", "/%2e%2e/above", "/..%2fabove", "/deep/%2e%2e/.hidden", "/a%00", "/deep\\a.mjs"])
def test_nothing_hidden_and_nothing_above(served, path):
    status, _, body = served(path)
    assert (status, body) == (404, b"404 Not Found\n")


def test_what_did_not_change_is_not_sent_again(served):
    status, headers, _ = served("/")
    assert served("/", If_None_Match=headers["ETag"])[0::2] == (304, b"")
    assert served("/", If_Modified_Since=headers["Last-Modified"])[0::2] == (304, b"")
    assert served("/", If_None_Match='"another"')[0] == 200
    assert served("/", method="HEAD")[2] == b"" and status == 200


def test_a_port_in_use_is_one_line_and_names_the_way_out(tmp_path):
    first = serve.server(tmp_path, port=0)
    port = first.server_address[1]
    with pytest.raises(Fault, match=f"port {port} is in use; choose another with --port") as caught:
        serve.server(tmp_path, port=port)
    assert caught.value.status == 1
    first.server_close()


@pytest.mark.parametrize("arguments, address", [
    ([], ""), (["test", "-k", "x"], ""), (["--address", "https://example.org/essay"], "https://example.org/essay/"),
    (["--address", "http://localhost:8000/", "serve"], "http://localhost:8000/")])
def test_the_sites_address_ends_with_a_slash(arguments, address):
    assert commands.parse(arguments).address == address


@pytest.mark.parametrize("arguments", [["serve", "--port", "0x50"], ["serve", "--port", "70000"], ["serve", "--port", "-1"], ["sreve"],
                                       ["--address", "example.org"], ["--address", "https://example.org/?a=1"]])
def test_a_wrong_option_ends_with_status_2(arguments, capsys):
    with pytest.raises(SystemExit) as caught:
        commands.parser().parse_args(arguments)
    assert caught.value.code == 2 and "error" in capsys.readouterr().err
