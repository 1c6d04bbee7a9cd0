"""Which URLs are opened: schemes and hosts, redirects, addresses that are not public."""

from __future__ import annotations

import http.server
import pathlib
import pickle
import socket
import subprocess
import threading
from collections.abc import Iterator
from typing import Any

import columnstone as cst
import pages
import pyarrow as pa
import pytest
from columnstone._io.rules import rule, rules

NAMES = ["https://data.example.com/a", "https://EXAMPLE.com./a", "http://example.com:81/a"]


def allows(url: str, schemes: list[str] | None, hosts: list[str] | None) -> bool:
    made = rule(schemes, hosts)
    assert made is not None
    try:
        made.check(url)
    except cst.errors.UnsupportedError as error:
        assert error.hint and ("allows" in error.hint or "rules cannot check" in error.hint)
        return False
    return True


@pytest.mark.parametrize(
    ("url", "schemes", "hosts", "allowed"),
    [
        ("https://a.com/x", ["https"], None, True),
        ("HTTPS://a.com/x", ["https"], None, True),
        ("http://a.com/x", ["https"], None, False),
        ("file:///etc/passwd", ["https"], None, False),
        ("/etc/passwd", ["https"], None, False),
        ("/etc/passwd", None, ["a.com"], False),
        ("/etc/passwd", ["file"], None, True),
        ("sqlite:///a.db", ["https", "file"], None, False),
        ("zip://x::https://a.com/z", ["https"], None, False),
        ("zip://x::https://a.com/z", ["zip", "https"], None, True),
        ("simplecache::https://a.com/z", ["https"], None, False),
        ("simplecache::file:///etc/passwd", ["simplecache", "https"], None, False),
        ("zip://x::/etc/passwd", ["zip", "https"], None, False),
        ("https://a.com/x", [], None, False),
        ("https://a.com/x", None, ["a.com"], True),
        ("https://A.COM./x", None, ["a.com"], True),
        ("https://b.a.com/x", None, ["a.com"], False),
        ("https://b.a.com/x", None, ["*.a.com"], True),
        ("https://ba.com/x", None, ["*.a.com"], False),
        ("https://a.com/x", None, ["*.a.com"], False),
        ("https://a.com@evil.com/x", None, ["a.com"], False),
        ("https://evil.com/a.com", None, ["a.com"], False),
        ("https://evil.com#@a.com/", None, ["a.com"], False),
        ("https://münchen.de/", None, ["xn--mnchen-3ya.de"], True),
        ("ftp://a.com/x", None, ["a.com"], False),
        ("s3://a.com/x", ["s3"], ["a.com"], True),
        ("s3://b/x", ["s3"], ["a.com"], False),
        ("s3://b/x", ["s3"], ["public"], False),
        ("reference://", ["reference"], ["a.com"], False),
        ("zip://x::https://b.com/z", ["zip", "https"], ["a.com"], False),
        ("https://1.1.1.1/x", None, ["public"], True),
        ("https://127.0.0.1/x", None, ["public"], False),
        ("https://127.0.0.1/x", None, ["public", "127.0.0.1"], True),
        ("https://10.1.2.3/x", None, ["public"], False),
        ("https://169.254.169.254/x", None, ["public"], False),
        ("https://100.64.0.1/x", None, ["public"], False),
        ("https://0.0.0.0/x", None, ["public"], False),
        ("https://224.0.1.1/x", None, ["public"], False),
        ("https://[::1]/x", None, ["public"], False),
        ("https://[::ffff:127.0.0.1]/x", None, ["public"], False),
        ("https://[64:ff9b::7f00:1]/x", None, ["public"], False),
        ("https://[2002:7f00:1::]/x", None, ["public"], False),
        ("https://[fe80::1]/x", None, ["public"], False),
    ],
)
def test_what_is_allowed(
    url: str, schemes: list[str] | None, hosts: list[str] | None, allowed: bool
) -> None:
    assert allows(url, schemes, hosts) == allowed
    if not allowed:
        for function in (cst.open, cst.plan):
            with pytest.raises(cst.errors.UnsupportedError, match="is not allowed"):
                function(url, schemes=schemes, hosts=hosts)


@pytest.mark.parametrize(
    ("address", "allowed"),
    [
        ("1.1.1.1", True),
        ("2606:4700::1111", True),
        ("::ffff:1.1.1.1", True),
        ("::1", False),
        ("fe80::1%eth0", False),
        ("fc00::1", False),
        ("::ffff:127.0.0.1", False),
        ("::ffff:169.254.169.254", False),
        ("64:ff9b::7f00:1", False),
        ("64:ff9b::101:101", True),
        ("2002:7f00:1::", False),
        ("192.168.0.1", False),
    ],
)
def test_addresses(address: str, allowed: bool) -> None:
    made = rule(None, ["public", "trusted.com"])
    assert made is not None
    made.check_address("trusted.com", address)
    if allowed:
        made.check_address("a.com", address)
    else:
        with pytest.raises(cst.errors.UnsupportedError, match="not public"):
            made.check_address("a.com", address)


@pytest.mark.parametrize("schemes", ["https", [1], ["https://"], [""]])
def test_wrong_arguments(schemes: Any) -> None:
    with pytest.raises((TypeError, cst.errors.ArgumentError), match="schemes"):
        cst.open("https://a.com/x", schemes=schemes)
    with pytest.raises(cst.errors.ArgumentError, match="filesystem"):
        cst.open("x", schemes=["https"], filesystem=object())


class Server:
    """Answers with rows, with redirects, or with a listing, and notes what it is asked for."""

    def __init__(self) -> None:
        self.moved: dict[str, str] = {}
        self.asked: list[tuple[str, str | None]] = []
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_HEAD(self) -> None:
                self.answer()

            def do_GET(self) -> None:
                self.answer()

            def answer(self) -> None:
                server.asked.append((self.path, self.headers.get("Authorization")))
                target = server.moved.get(self.path)
                data = b'{"a": 1}\n'
                if self.path.endswith("/"):
                    data = b'<a href="x.jsonl">x.jsonl</a>'
                missing = "*" in self.path or "%2A" in self.path
                self.send_response(404 if missing else 200 if target is None else 302)
                if target is not None:
                    self.send_header("Location", target)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                if self.command == "GET":
                    self.wfile.write(data)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


@pytest.fixture
def other() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


def rows(url: str, **options: Any) -> list[dict[str, Any]]:
    return [row for batch in cst.open(url, **options) for row in pa.record_batch(batch).to_pylist()]


def test_hosts_that_are_allowed_are_read(server: Server) -> None:
    for host in ("127.0.0.1", "localhost"):
        url = f"http://{host}:{server.port}/x.jsonl"
        assert rows(url, hosts=[host]) == [{"a": 1}]
        assert rows(f"http://{host}:{server.port}/d/*.jsonl", hosts=[host]) == [{"a": 1}]
        source = cst.open(url, hosts=[host])
        again = pickle.loads(pickle.dumps(source))
        assert [pa.record_batch(batch).to_pylist() for batch in again] == [[{"a": 1}]]


def test_splits(server: Server, other: Server) -> None:
    host = ["127.0.0.1"]
    splits = cst.plan(f"http://127.0.0.1:{server.port}/d/*.jsonl", hosts=host)
    assert [b.num_rows for b in cst.open(splits, hosts=host)] == [1]
    with pytest.raises(cst.errors.UnsupportedError, match=r"the host '127.+' is not allowed"):
        cst.open(splits, hosts=["a.com"])
    server.moved["/d/"] = f"http://localhost:{other.port}/d/"
    with pytest.raises(cst.errors.UnsupportedError, match="'localhost' is not allowed"):
        cst.plan(f"http://127.0.0.1:{server.port}/d/*.jsonl", hosts=host)
    assert not other.asked


@pytest.mark.parametrize("name", ["x.jsonl", "d/*.jsonl"])
def test_redirects_are_checked(name: str, server: Server, other: Server) -> None:
    """localhost is another host than 127.0.0.1, whatever their addresses are."""
    for path in ("/x.jsonl", "/d/", "/d/x.jsonl"):
        server.moved[path] = f"http://localhost:{other.port}{path}"
    url = f"http://127.0.0.1:{server.port}/{name}"
    assert rows(f"http://127.0.0.1:{server.port}/x.jsonl") == [{"a": 1}]
    other.asked.clear()
    with pytest.raises(cst.errors.UnsupportedError, match="the host 'localhost' is not allowed"):
        rows(url, hosts=["127.0.0.1"])
    assert not other.asked
    if "*" not in name:
        assert rows(url, hosts=["127.0.0.1", "localhost"]) == [{"a": 1}]


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://127.0.0.1/x", "data:,x"])
def test_redirects_stay_in_the_web(target: str, server: Server) -> None:
    server.moved["/x.jsonl"] = target
    for options in ({}, {"hosts": ["127.0.0.1"]}):
        with pytest.raises(cst.Error) as caught:
            rows(f"http://127.0.0.1:{server.port}/x.jsonl", **options)
        assert "root:" not in str(caught.value)


def test_names_of_private_addresses(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that looks public and is not, in any of its spellings."""
    known = socket.getaddrinfo

    def lie(host: Any, *arguments: Any, **options: Any) -> Any:
        return known("127.0.0.1" if host == "data.example.com" else host, *arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", lie)
    for host in ("data.example.com", "localhost", "2130706433", "0x7f.1", "127.1"):
        named = "not public" if host.isidentifier() else "not public|not a canonical"
        with pytest.raises(cst.Error, match=named):
            rows(f"http://{host}:{server.port}/x.jsonl", hosts=["public"])
    assert not server.asked
    found = rows(f"http://data.example.com:{server.port}/x.jsonl", hosts=["data.example.com"])
    assert found == [{"a": 1}]


def test_environment(server: Server, folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"http://127.0.0.1:{server.port}/x.jsonl"
    monkeypatch.setenv("COLUMNSTONE_HOSTS", "a.com, 127.0.0.1")
    assert rows(url) == [{"a": 1}]
    monkeypatch.setenv("COLUMNSTONE_SCHEMES", "https")
    with pytest.raises(cst.errors.UnsupportedError, match="the scheme 'http' is not allowed"):
        rows(url, schemes=["http"])
    with pytest.raises(cst.errors.UnsupportedError, match="the scheme 'memory' is not allowed"):
        cst.write([cst.record_batch({"a": [1]})], "memory://x.jsonl")
    local = folder / "x.jsonl"
    local.write_text('{"a": 1}\n')
    assert rows(str(local)) == [{"a": 1}]
    monkeypatch.setenv("COLUMNSTONE_SCHEMES", "")
    assert len(rules().all) == 1
    with pytest.raises(cst.errors.UnsupportedError, match="schemes allows none"):
        rows(url)


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    return tmp_path


@pytest.mark.parametrize("name", ["x.jsonl", "d/*.jsonl"])
def test_the_program(name: str, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    command = ["columnstone", "head", f"http://127.0.0.1:{server.port}/{name}"]
    for hosts, status in (("127.0.0.1", 0), ("localhost,public", 2)):
        environment = {**pages.environment(), "COLUMNSTONE_HOSTS": hosts}
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        assert done.returncode == status, done.stderr
        assert (done.stdout == '{"a": 1}\n') == (status == 0)
        assert ("not allowed" in done.stderr or "not public" in done.stderr) == (status == 2)
