"""What servers answer and archives list, at random and damaged: columnstone reads it, or raises one
of its errors, and opens nothing but what was named."""

from __future__ import annotations

import contextlib
import pathlib
import socket
import threading
import zipfile
from collections.abc import Iterator
from unittest import mock

import columnstone as cst
import pytest
from columnstone._io.remote import urls_of
from columnstone._io.urls import matches
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_url_names import Listing

pytest.importorskip("fsspec")
pytest.importorskip("aiohttp")

BODY = b"a,b\n" + b"1,2\n" * 100
QUIET = settings(
    derandomize=True,
    deadline=None,
    max_examples=300,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)

# ---- HTTP answers ----

STATUS = (b"200 OK", b"206 Partial Content", b"204 No", b"301 Moved", b"416 No", b"503 \x1b[31m")
HEADERS = (
    b"Content-Length: 404",
    b"Content-Length: 5",
    b"Content-Length: 99999999999999999999999",
    b"Content-Length: -1",
    "Content-Length: ٤٠٤".encode(),
    b"Content-Range: bytes 0-63/404",
    b"Content-Range: bytes 0-403/404",
    b"Content-Range: bytes 0-99999999999999999999/99999999999999999999",
    b"Content-Range: bytes 5-3/1",
    b"Content-Range: bytes */404",
    b"Content-Range: bytes 0-63/18446744073709551616",
    b"Content-Encoding: gzip",
    b"Content-Encoding: gzip, deflate, br",
    b"Transfer-Encoding: chunked",
    b"Transfer-Encoding: nonsense",
    b"Location: file:///etc/passwd",
    b"Location: http://[bad",
    b"Retry-After: 0",
    b"Retry-After: 99999999999999999999999",
    b'ETag: "\x9b"',
    b"Content-Type: text/html; charset=nonsense",
    b"Set-Cookie: a=b; Domain=other",
    b"X: \x1b[31m",
)


class Answers:
    """A server that sends these bytes to whoever asks, whatever is asked, and hangs up."""

    def __init__(self) -> None:
        self.bytes = b""
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._socket.accept()
                with contextlib.suppress(OSError), connection:
                    connection.recv(65536)
                    connection.sendall(self.bytes)
                    connection.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        self._socket.close()


@pytest.fixture(scope="module")
def answers() -> Iterator[Answers]:
    server = Answers()
    patience = "columnstone._io.patience"
    with mock.patch(f"{patience}.FIRST_PAUSE", 0.0001), mock.patch(f"{patience}.LONGEST_PAUSE", 0):
        yield server
    server.close()


@st.composite
def an_answer(draw: st.DrawFn) -> bytes:
    head = b"HTTP/1.1 " + draw(st.sampled_from(STATUS))
    lines = [head, *draw(st.lists(st.sampled_from(HEADERS), max_size=4))]
    body = BODY[: draw(st.integers(0, len(BODY)))]
    sent = bytearray(b"\r\n".join(lines) + b"\r\n\r\n" + body)
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(sent) - 1))
        sent[at : at + draw(st.integers(0, 4))] = draw(st.binary(max_size=4))
    return bytes(sent)


@QUIET
@given(sent=an_answer(), pattern=st.booleans())
def test_answers(answers: Answers, sent: bytes, pattern: bool) -> None:
    answers.bytes = sent
    try:
        source = cst.open(f"{answers.url}/{'*' if pattern else 't'}.csv")
        for batch in source:
            assert batch.num_rows <= 1024
    except cst.Error as error:
        assert str(error).isprintable() or "\n" in str(error)


# ---- names in archives and listings ----

PIECES = (
    "a",
    ".csv",
    "/",
    "..",
    "%2e",
    "::",
    "file://",
    "\n",
    "\x1b",
    "\x9b",
    "\\",
    "é",
    "*",
    "?",
    "=",
)
NAMES = st.lists(st.sampled_from(PIECES), min_size=1, max_size=8).map("".join)


@QUIET
@given(names=st.lists(NAMES, min_size=1, max_size=5))
def test_names_in_archives(names: list[str], tmp_path: pathlib.Path) -> None:
    archive = tmp_path / "z.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for name in dict.fromkeys(names):
            file.writestr(name, "x\n1\n")
    for pattern in ("*.csv", "**/*.csv"):
        chain = f"zip://{pattern}::file://{archive}"
        try:
            found = urls_of(chain)
        except cst.Error:
            continue
        for url in found:
            inside, separator, rest = url.removeprefix("zip://").partition("::")
            assert separator and rest == f"file://{archive}"
            assert ".." not in inside.split("/") and inside.isprintable()


@QUIET
@given(names=st.lists(NAMES, min_size=1, max_size=5))
def test_names_in_listings(names: list[str]) -> None:
    system = Listing(*(f"http://h/d/{name}" for name in names), *names)
    try:
        found = matches(system, "http://h/d/**", "http://h/d/**", False)
    except cst.Error:
        return
    for path, url, _ in found:
        assert path.startswith("http://h/d/") and url.startswith("http://h/d/")
        assert "::" not in url and url.isprintable()
        assert "/../" not in url.replace("%2e", ".")
