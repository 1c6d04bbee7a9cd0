"""Files of HTTP servers that say little, or nothing, or what is not so: what can be read from the
beginning is read, and what ends early is an error."""

from __future__ import annotations

import contextlib
import io
import pathlib
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import columnstone as cst
import columnstone._io.bounds
import pyarrow as pa
import pytest
import servers

ROWS = 30_000


def make_files() -> dict[str, bytes]:
    """A file of 8 MB of each format: more than fsspec reads ahead."""
    table = pa.table({"a": pa.array(range(ROWS)), "b": [f"{i * 7919:0250x}" for i in range(ROWS)]})
    files = {}
    for name in ("t.tfrecord", "t.tfrecord.gz", "t.csv", "t.jsonl", "t.parquet"):
        file = io.BytesIO()
        form = {"t.csv": "csv", "t.jsonl": "json", "t.parquet": "parquet"}.get(name, "example")
        options: dict[str, Any] = {}
        if name.endswith(".gz"):
            options["compression"] = "gzip"
        if form == "parquet":
            options["compression"] = "none"
        cst.write(table, file, form, **options)
        files[name] = file.getvalue()
    files["small.csv"] = b"a,b\n1,2\n"
    return files


FILES = make_files()


def check(url: str, name: str) -> None:
    """All of a file, twice by one source."""
    source = cst.open(f"{url}/{name}", columns=["a", "b"])
    for _ in range(2):
        table = pa.table(source)
        a = [v[0] if isinstance(v, list) else v for v in table["a"].to_pylist()]
        assert a == list(range(ROWS))


@pytest.fixture
def http() -> Iterator[tuple[str, servers.Behaviour]]:
    with servers.http_server() as (url, behaviour):
        behaviour.files.update(FILES)
        yield url, behaviour


# --- three real servers ---


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port: int = s.getsockname()[1]
        return port


AIOHTTP = """
import sys
from aiohttp import web
app = web.Application()
app.router.add_static("/", sys.argv[2])
web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]), print=None)
"""


def command(server: str, folder: pathlib.Path, port: int) -> list[str]:
    if server == "http.server":
        where = ["--bind", "127.0.0.1", "--directory", str(folder), str(port)]
        return [sys.executable, "-m", "http.server", *where]
    if server == "aiohttp":
        return [sys.executable, "-c", AIOHTTP, str(port), str(folder)]
    busybox = shutil.which("busybox")
    if busybox is None:
        pytest.skip("needs busybox")
    return [busybox, "httpd", "-f", "-p", f"127.0.0.1:{port}", "-h", str(folder)]


def wait_for(url: str) -> None:
    for _ in range(300):
        try:
            urllib.request.urlopen(url).close()
            return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.05)
    raise AssertionError("the server does not answer")


@pytest.fixture(scope="module", params=["http.server", "aiohttp", "busybox"])
def real_server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("served")
    for name, data in FILES.items():
        (folder / name).write_bytes(data)
    port = free_port()
    arguments = command(request.param, folder, port)
    with subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as p:
        try:
            wait_for(f"http://127.0.0.1:{port}/small.csv")
            yield f"http://127.0.0.1:{port}"
        finally:
            p.terminate()
    shutil.rmtree(folder)


@pytest.mark.parametrize("name", [n for n in FILES if n.startswith("t.")])
def test_real_servers(real_server: str, name: str) -> None:
    check(real_server, name)


def test_rows_of_a_real_server(real_server: str) -> None:
    source = cst.open(f"{real_server}/t.tfrecord")
    assert source[[20_000, 3]]["a"].to_pylist() == [[20_000], [3]]
    assert source.num_rows == ROWS
    with pytest.raises(cst.errors.NotFoundError):
        cst.open(f"{real_server}/none.csv")


# --- what servers may say ---


def set_up(how: servers.Behaviour, **settings: object) -> None:
    for name, value in settings.items():
        assert hasattr(how, name)
        setattr(how, name, value)


SAYS: dict[str, dict[str, object]] = {
    "ranges without saying so": {"says_ranges": False},
    "no ranges": {"ranges": False},
    "HEAD is forbidden": {"head": 403},
    "HEAD is not allowed, no ranges": {"head": 405, "ranges": False},
    "no length": {"length": "none", "ranges": False},
    "chunked": {"length": "chunked", "ranges": False},
    "gzip, unasked": {"gzips": True, "ranges": False},
    "gzip of ranges": {"gzips": True},
    "HEAD says 0": {"head_length": 0},
    "HEAD says 0, no ranges": {"head_length": 0, "ranges": False},
    "HEAD says less": {"head_length": 1000},
    "HEAD says more": {"head_length": 100_000_000, "ranges": False},
}


@pytest.mark.parametrize("says", SAYS)
@pytest.mark.parametrize("name", ["t.tfrecord", "t.tfrecord.gz", "t.csv", "t.parquet"])
def test_what_servers_say(http: tuple[str, servers.Behaviour], name: str, says: str) -> None:
    set_up(http[1], **SAYS[says])
    check(http[0], name)


def test_redirects(http: tuple[str, servers.Behaviour]) -> None:
    http[1].redirects = True
    for ranges in (True, False):
        http[1].ranges = ranges
        check(f"{http[0]}/moved", "t.tfrecord")


def test_empty_files(http: tuple[str, servers.Behaviour]) -> None:
    http[1].files["empty.tfrecord"] = b""
    for ranges in (True, False):
        http[1].ranges = ranges
        assert list(cst.open(f"{http[0]}/empty.tfrecord", "raw")) == []


def test_gzip_is_undone_once(http: tuple[str, servers.Behaviour]) -> None:
    """Of a .gz file that the server packs again (or calls packed, as it is), what comes out of the
    connection counts: its container is found from its bytes."""
    http[1].gzips = True
    http[1].files["u.tfrecord.gz"] = FILES["t.tfrecord"]
    for name in ("t.tfrecord.gz", "u.tfrecord.gz"):
        check(http[0], name)


# --- what ends early ---


@pytest.mark.parametrize("length", ["right", "chunked", "more"])
@pytest.mark.parametrize("name", ["t.tfrecord", "t.tfrecord.gz", "t.csv", "t.jsonl", "t.parquet"])
def test_ends_early(http: tuple[str, servers.Behaviour], name: str, length: str) -> None:
    set_up(http[1], ranges=False, length=length, ends_early=length != "more")
    with pytest.raises(cst.Error) as caught:
        list(cst.open(f"{http[0]}/{name}"))
    assert caught.value.file == f"{http[0]}/{name}"
    assert isinstance(caught.value, cst.errors.FileError)


def test_it_works_again(http: tuple[str, servers.Behaviour]) -> None:
    set_up(http[1], ranges=False)
    source = cst.open(f"{http[0]}/t.csv")
    http[1].ends_early = True
    with pytest.raises(cst.errors.FileError):
        list(source)
    http[1].ends_early = False
    assert source.num_rows == ROWS


def test_refused(http: tuple[str, servers.Behaviour]) -> None:
    http[1].failures = 5
    assert cst.open(f"{http[0]}/t.csv").num_rows == ROWS
    http[1].failures = 6
    with pytest.raises(cst.errors.FileError, match=r"500.*; tried 6 times"):
        cst.open(f"{http[0]}/t.csv")


# --- parts that are not what was asked for ---


WRONG: dict[str, tuple[dict[str, object], str]] = {
    "more": ({"parts": "more"}, "asked for bytes"),
    "more, unsaid": ({"parts": "unsaid more"}, "server (sent|answered)"),
    "others": ({"parts": "other"}, "asked for bytes"),
    "not said which": ({"parts": "no range"}, "asked for bytes"),
    "another total": ({"parts": "total"}, "has changed .*open it again"),
    "another ETag": ({"etag": '"{}"'}, "has changed .*open it again"),
    "another time": ({"modified": "at {}"}, "has changed .*open it again"),
}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("name", ["t.csv", "t.tfrecord"])
def test_wrong_parts(http: tuple[str, servers.Behaviour], name: str, wrong: str) -> None:
    settings, text = WRONG[wrong]
    set_up(http[1], **settings)
    with pytest.raises(cst.errors.FileError, match=text) as caught:
        list(cst.open(f"{http[0]}/{name}?key=secret"))
    assert caught.value.file == f"{http[0]}/{name}"
    assert caught.value.hint
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "settings",
    [
        {"parts": "few"},
        {"parts": "no total"},
        {"etag": '"a"', "modified": "at {}"},
        {"etag": 'W/"a"', "modified": "then"},
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_odd_parts(
    http: tuple[str, servers.Behaviour], name: str, settings: dict[str, object]
) -> None:
    """Allowed: fewer bytes than asked for, no total, and another time with the same ETag."""
    set_up(http[1], **settings)
    check(http[0], name)


# --- what has to jump is fetched once ---


def test_one_copy(http: tuple[str, servers.Behaviour]) -> None:
    http[1].ranges = False
    source = cst.open(f"{http[0]}/t.parquet", threads=2)
    assert source.num_rows == ROWS
    before = http[1].answers
    for _ in range(3):
        assert sum(b.num_rows for b in source) == ROWS
    assert http[1].answers == before


def test_the_copy_goes_with_the_source(
    http: tuple[str, servers.Behaviour], tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    http[1].ranges = False
    source = cst.open(f"{http[0]}/t.parquet")
    with contextlib.closing(source):
        assert source.num_rows == ROWS
    assert list(tmp_path.iterdir()) == []


# --- what is larger than it looks ---


@pytest.mark.parametrize("ranges", [True, False])
def test_a_compressed_answer_without_end(http: tuple[str, servers.Behaviour], ranges: bool) -> None:
    """Read as it comes, and by a copy."""
    http[1].files["t.txt"] = b"\0" * 70_000_000
    set_up(http[1], gzips=True, ranges=ranges)
    url = f"{http[0]}/t.txt"
    options = {"container": "lines", "format": "raw"}
    with pytest.raises(cst.errors.LimitError, match="Content-Encoding gzip") as caught:
        list(cst.open(url, **options))
    assert caught.value.file == url
    assert "max_inflation" in str(caught.value.hint)
    assert [b.num_rows for b in cst.open(url, **options, max_inflation=2000)] == [1]
    with pytest.raises(cst.errors.LimitError, match="Content-Encoding gzip"):
        list(cst.open(url, "parquet"))


def test_a_copy_has_a_limit(
    http: tuple[str, servers.Behaviour], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A body may have no end."""
    monkeypatch.setattr(columnstone._io.bounds, "_MOST_COPY", 100)
    set_up(http[1], ranges=False, length="none")
    with pytest.raises(cst.errors.LimitError, match="more than 100 bytes") as caught:
        list(cst.open(f"{http[0]}/t.parquet"))
    assert "download" in str(caught.value.hint)
