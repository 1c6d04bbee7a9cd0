"""HTTP and S3 servers on the loopback, for the tests of remote files."""

from __future__ import annotations

import contextlib
import http.server
import re
import threading
from collections.abc import Iterator


class Behaviour:
    """How a server misbehaves, and what was asked of it."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.ranges = True
        self.ends_early = False  # every answer lacks its second half
        self.failures = 0  # so many answers are 500
        self.asked: list[str] = []  # the Range headers


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
        data = how.files.get(self.path.partition("?")[0].lstrip("/"))
        if data is None:
            self.send_error(404)
            return
        if how.failures and not head:
            how.failures -= 1
            self.send_error(500)
            return
        asked = self.headers.get("Range", "")
        part = re.fullmatch(r"bytes=(\d+)-(\d*)", asked) if how.ranges else None
        total = len(data)
        if part is not None:
            how.asked.append(asked)
            begin = int(part[1])
            end = min(int(part[2] or total) + 1, total)
            data = data[begin:end]
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {begin}-{begin + len(data) - 1}/{total}")
        else:
            self.send_response(200)
        if how.ranges:
            self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if not head:
            with contextlib.suppress(ConnectionError):
                self.wfile.write(data[: len(data) // 2] if how.ends_early else data)
        if how.ends_early:
            self.close_connection = True


@contextlib.contextmanager
def http_server() -> Iterator[tuple[str, Behaviour]]:
    """The URL of a server, with how it behaves."""
    behaviour = Behaviour()
    handler = type("BoundHandler", (Handler,), {"behaviour": behaviour})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", behaviour
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
