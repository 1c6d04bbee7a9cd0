"""HTTP and S3 servers on the loopback, for the tests of remote files."""

from __future__ import annotations

import contextlib
import gzip
import http.server
import re
import threading
import time
from collections.abc import Iterator
from unittest import mock

STALL = 1.0  # seconds


class Behaviour:
    """How a server misbehaves, and what was asked of it."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.ranges = True
        self.ends_early = False  # every answer lacks its second half
        self.failures = 0  # so many answers are 500
        self.troubles: Iterator[str] = iter(())  # of the next answers: see Handler.trouble
        self.head = 200  # what HEAD is answered with
        self.head_length: int | None = None  # what HEAD says instead of the length
        self.says_ranges = True  # Accept-Ranges
        self.length: str = "right"  # Content-Length of the answer; "none", "chunked", "more"
        self.gzips = False  # Content-Encoding, whatever was asked for
        self.redirects = False  # /moved/x is at /x
        self.asked: list[str] = []  # the Range headers
        self.answers = 0  # to GET
        self.parts = ""  # what is odd in parts of more than 64 bytes, see odd_part
        self.etag = ""
        self.modified = ""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    behaviour: Behaviour

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self.answer(head=True)

    def do_GET(self) -> None:
        self.answer(head=False)

    def answer(self, head: bool) -> None:
        how = self.behaviour
        if how.redirects and self.path.startswith("/moved/"):
            self.send_response(302)
            self.send_header("Location", self.path.removeprefix("/moved"))
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if head and how.head != 200:
            self.send_error(how.head)
            return
        data = how.files.get(self.path.partition("?")[0].lstrip("/"))
        if data is None:
            self.send_error(404)
            return
        if how.failures and not head:
            how.failures -= 1
            self.send_error(500)
            return
        trouble = "" if head else next(how.troubles, "")
        if self.refuse(trouble):
            return
        how.answers += not head
        asked = self.headers.get("Range", "")
        part = re.fullmatch(r"bytes=(\d+)-(\d*)", asked) if how.ranges else None
        total = len(data)
        if part is not None:
            how.asked.append(asked)
            begin = int(part[1])
            end = min(int(part[2] or total) + 1, total)
            whole = data
            data = whole[begin:end]
            if end - begin > 64:
                begin, data, total = odd_part(how.parts, whole, begin, end)
            last = begin + len(data) - 1
            if how.parts == "unsaid more" and end - begin > 64:
                last -= 7
            self.send_response(206)
            if how.parts != "no range" or end - begin <= 64:
                self.send_header("Content-Range", f"bytes {begin}-{last}/{total}")
        else:
            self.send_response(200)
        if how.etag:
            self.send_header("ETag", how.etag.format(how.answers))
        if how.modified:
            self.send_header("Last-Modified", how.modified.format(how.answers))
        if how.gzips:
            data = gzip.compress(data, 1)
            self.send_header("Content-Encoding", "gzip")
        if how.ranges and how.says_ranges:
            self.send_header("Accept-Ranges", "bytes")
        self.send_length(len(data), head)
        self.end_headers()
        if not head:
            with contextlib.suppress(ConnectionError):
                cut = how.ends_early or trouble in ("cut", "stall")
                self.send(data[: len(data) // 2] if cut else data)
        if trouble == "stall":
            time.sleep(STALL)
        if how.ends_early or trouble or how.length in ("none", "more"):
            self.close_connection = True

    def refuse(self, trouble: str) -> bool:
        """The answer to a request that a server in trouble does not want: "busy" asks to wait,
        "502" is an error, "reset" ends the connection. Of other answers, "cut" sends the half, and
        "stall" falls silent after it."""
        if trouble == "busy":
            self.send_response(503)
            self.send_header("Retry-After", "0")
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif trouble == "502":
            self.send_error(502)
        elif trouble == "reset":
            self.close_connection = True
        return trouble in ("busy", "502", "reset")

    def send_length(self, size: int, head: bool) -> None:
        how = self.behaviour
        if head and how.head_length is not None:
            self.send_header("Content-Length", str(how.head_length))
        elif how.length == "chunked":
            self.send_header("Transfer-Encoding", "chunked")
        elif how.length == "none":
            self.send_header("Connection", "close")
        else:
            self.send_header("Content-Length", str(size + (10 if how.length == "more" else 0)))

    def send(self, data: bytes) -> None:
        if self.behaviour.length != "chunked":
            self.wfile.write(data)
            return
        for at in range(0, len(data), 100_000):
            piece = data[at : at + 100_000]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        if not self.behaviour.ends_early:
            self.wfile.write(b"0\r\n\r\n")


def odd_part(parts: str, whole: bytes, begin: int, end: int) -> tuple[int, bytes, int | str]:
    """The begin, the bytes and the total of a part that is odd in this way."""
    total: int | str = len(whole)
    if parts in ("more", "unsaid more"):
        begin, end = (begin, end + 7) if end < len(whole) else (begin - 7, end)
    elif parts == "other":
        begin += 7
    elif parts == "few":
        end = min(end, begin + 3_000_001)
    elif parts == "total":
        total = len(whole) + 1
    elif parts == "no total":
        total = "*"
    return begin, whole[begin:end], total


@contextlib.contextmanager
def http_server() -> Iterator[tuple[str, Behaviour]]:
    """The URL of a server, with how it behaves. What it fails with, it is asked again at once."""
    behaviour = Behaviour()
    handler = type("BoundHandler", (Handler,), {"behaviour": behaviour})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        with mock.patch("columnstone._io.patience.FIRST_PAUSE", 0.001):
            yield f"http://127.0.0.1:{server.server_address[1]}", behaviour
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextlib.contextmanager
def s3_server() -> Iterator[tuple[dict[str, str], Behaviour]]:
    """The options of an S3 file system on a server of our own, which has the bucket "bucket" (the
    process keeps what is in it). Of its behaviour only the troubles count, and these for GET:
    "busy", "502" and "reset"."""
    import fsspec
    from moto.moto_server.werkzeug_app import MotoRequestHandler
    from moto.server import ThreadedMotoServer

    behaviour = Behaviour()

    class Troubled(MotoRequestHandler):
        def send_response(self, code: int, message: str | None = None) -> None:
            self.send_response_only(code, message)  # werkzeug adds a second Server: header

        def run_wsgi(self) -> None:
            trouble = next(behaviour.troubles, "") if self.command == "GET" else ""
            if trouble in ("busy", "502"):
                self.send_response_only(503 if trouble == "busy" else 502)
                self.send_header("Content-Length", "0")
                self.end_headers()
            elif not trouble:
                super().run_wsgi()
            self.close_connection = self.close_connection or bool(trouble)

    name = "moto.moto_server.threaded_moto_server.MotoRequestHandler"
    with mock.patch(name, Troubled):
        server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
        server.start()
    try:
        host, port = server.get_host_and_port()
        options = {"key": "test", "secret": "test", "endpoint_url": f"http://{host}:{port}"}
        with contextlib.suppress(FileExistsError):
            fsspec.filesystem("s3", **options).mkdir("bucket")
        yield options, behaviour
    finally:
        server.stop()
