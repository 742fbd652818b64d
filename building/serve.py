"""Serves `dist/` on this machine, as a good static host would."""

import errno
import sys
from email.utils import formatdate, parsedate_to_datetime
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

from building.faults import Fault

TYPES = {".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
         ".mjs": "text/javascript; charset=utf-8", ".json": "application/json", ".webmanifest": "application/manifest+json",
         ".wasm": "application/wasm", ".svg": "image/svg+xml", ".png": "image/png", ".ico": "image/x-icon",
         ".gif": "image/gif", ".jpg": "image/jpeg", ".webp": "image/webp", ".woff2": "font/woff2", ".xml": "application/xml",
         ".txt": "text/plain; charset=utf-8", ".md": "text/markdown; charset=utf-8", ".gz": "application/gzip",
         ".zip": "application/zip", ".pdf": "application/pdf"}
# As strict as Pyodide allows. Pages may be framed anywhere: embeds are meant to be.
POLICY = ("default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; "
          "img-src 'self' data: blob:; connect-src 'self'; worker-src 'self' blob:; font-src 'self'; frame-src 'self'; "
          "manifest-src 'self'; base-uri 'none'; form-action 'none'")
ENCODINGS = (("br", ".br"), ("gzip", ".gz"))
BLOCK_BYTES = 1 << 16


class Handler(BaseHTTPRequestHandler):
    """GET and HEAD of the files below `folder`: media types, compressed forms, ETag, 304."""

    protocol_version = "HTTP/1.1"
    server_version = "site"
    sys_version = ""

    def __init__(self, folder: Path, compressed: bool, *args) -> None:
        self.folder = folder
        self.compressed = compressed
        super().__init__(*args)

    def do_GET(self) -> None:
        self.answer(body=True)

    def do_HEAD(self) -> None:
        self.answer(body=False)

    def answer(self, body: bool) -> None:
        path = self.find()
        if path is None:
            self.refuse(HTTPStatus.NOT_FOUND)
            return
        form, encoding = self.form(path)
        status = form.stat()
        tag = f'"{status.st_mtime_ns:x}-{status.st_size:x}"'
        fresh = self.headers.get("If-None-Match") == tag or not self.headers.get("If-None-Match") and self.unchanged(status.st_mtime)
        self.send_response(HTTPStatus.NOT_MODIFIED if fresh else HTTPStatus.OK)
        self.send_header("ETag", tag)
        self.send_header("Last-Modified", formatdate(status.st_mtime, usegmt=True))
        self.send_header("Cache-Control", "public, max-age=31536000, immutable" if "v=" in urlsplit(self.path).query else "no-cache")
        self.send_common()
        if not fresh:
            self.send_header("Content-Type", TYPES.get(path.suffix, "application/octet-stream"))
            self.send_header("Content-Length", str(status.st_size))
            if encoding:
                self.send_header("Content-Encoding", encoding)
        self.end_headers()
        if body and not fresh:
            self.send(form)

    def find(self) -> Path | None:
        """The file that the request means, or None. Nothing above the folder, nothing hidden."""
        names = [name for name in unquote(urlsplit(self.path).path).split("/") if name]
        if any(name.startswith(".") or "\\" in name or "\0" in name for name in names):
            return None
        path = self.folder.joinpath(*names)
        if path.is_dir():
            path /= "index.html"
        return path if path.is_file() else None

    def form(self, path: Path) -> tuple[Path, str]:
        """The form of the file that the reader's browser takes and its encoding ("" for the plain one)."""
        accepted = {part.partition(";")[0].strip() for part in self.headers.get("Accept-Encoding", "").split(",")
                    if not part.replace(" ", "").endswith(";q=0")}
        for encoding, ending in ENCODINGS:
            beside = path.with_name(path.name + ending)
            if self.compressed and encoding in accepted and beside.is_file():
                return beside, encoding
        return path, ""

    def unchanged(self, modified_s: float) -> bool:
        try:
            return parsedate_to_datetime(self.headers.get("If-Modified-Since", "")).timestamp() >= int(modified_s)
        except ValueError:
            return False

    def send(self, form: Path) -> None:
        try:
            with form.open("rb") as file:
                while block := file.read(BLOCK_BYTES):
                    self.wfile.write(block)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the reader has left

    def send_common(self) -> None:
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("Vary", "Accept-Encoding")

    def refuse(self, status: HTTPStatus) -> None:
        text = f"{status.value} {status.phrase}\n".encode()
        self.send_response(status)
        self.send_common()
        self.send_header("Content-Type", TYPES[".txt"])
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(text)

    def log_message(self, *words) -> None:
        """Says nothing: the address is all that a reader of the terminal needs."""


class Server(ThreadingHTTPServer):
    """A server that says nothing of a browser that leaves in the middle of an answer: they do."""

    daemon_threads = True

    def handle_error(self, request, client_address) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def server(folder: Path, host: str = "127.0.0.1", port: int = 8000, compressed: bool = True) -> ThreadingHTTPServer:
    """A server of `folder` that already listens (`port` 0 takes a free one). `compressed=False` behaves like a host that
    knows nothing of the .br and .gz forms. Raises `Fault` where the address cannot be had."""
    try:
        return Server((host, port), partial(Handler, folder, compressed))
    except (OSError, OverflowError) as error:
        if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
            raise Fault(f"port {port} is in use; choose another with --port, as in --port {port + 1}") from error
        raise Fault(f"cannot serve on {host}:{port}: {getattr(error, 'strerror', None) or error}") from error


def serve(folder: Path, host: str, port: int) -> None:
    """Serves until interrupted; prints the address once it answers."""
    with server(folder, host, port) as made:
        print(f"http://{host}:{made.server_address[1]}/", flush=True)
        try:
            made.serve_forever()
        except KeyboardInterrupt:
            print(file=sys.stderr)
