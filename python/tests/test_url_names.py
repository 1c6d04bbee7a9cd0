"""What is shown of URLs, and which names of a listing are taken."""

from __future__ import annotations

import io
import json
import pathlib
import re
import traceback
import zipfile
from collections.abc import Callable
from typing import Any

import columnstone as cst
import pyarrow as pa
import pytest
import servers
from columnstone._formats import adbc
from columnstone._io.remote import urls_of
from columnstone._io.urls import DATABASES, matches, name_of_url, printable_text
from program import run

fsspec = pytest.importorskip("fsspec")

CASES = pathlib.Path(__file__).parents[2] / "tests/unit/test_url.c"


def test_names_are_those_of_the_library() -> None:
    text = CASES.read_text()
    table = text[text.index("TEST(names_have_no_secrets)") :]
    table = table[: table.index("};")]
    cases = re.findall(r'\{"([^"]*)",\s*"([^"]*)"\}', table)
    assert len(cases) > 10
    for url, shown in cases:
        assert name_of_url(url) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("GET https://u:p@h/x?sig=1 failed", "GET https://h/x failed"),
        ("connect to postgresql://me:pw@db/x\nno", "connect to postgresql://me@db/x no"),
        ("url='https://h/x?a=b&c=d'", "url='https://h/x'"),
        ("nothing here, a@b?", "nothing here, a@b?"),
    ],
)
def test_text_of_others(text: str, shown: str) -> None:
    assert printable_text(text) == shown


def test_secrets_are_nowhere(tmp_path: pathlib.Path) -> None:
    table = pa.table({"a": [1, 2]})
    cst.write(table, tmp_path / "t.arrow")
    memory = fsspec.filesystem("memory")
    memory.pipe("/s/t.arrow?sig=S3CRET", (tmp_path / "t.arrow").read_bytes())
    src = cst.open("simplecache::memory://s/t.arrow?sig=S3CRET")
    try:
        assert pa.table(src).equals(table)
        assert "S3CRET" not in f"{src!r} {src.files}"
    finally:
        memory.rm("/s", recursive=True)
    for url in ("memory://u:S3CRET@h/none?sig=S3CRET", "none://u:S3CRET@h/x?sig=S3CRET"):
        with pytest.raises(cst.Error) as caught:
            cst.open(url)
        assert "S3CRET" not in f"{caught.value!r} {caught.value} {caught.value.file}"
        with pytest.raises(cst.Error) as caught:
            cst.write(table, url + ".arrow")
        assert "S3CRET" not in f"{caught.value!r} {caught.value} {caught.value.file}"


@pytest.mark.parametrize("chain", ["", "simplecache::"])
def test_secrets_are_in_no_traceback(chain: str) -> None:
    """Nor in what an exception comes from, nor in the repr of splits."""
    with servers.http_server() as (url, behaviour):
        behaviour.files["t.csv"] = b"a\n1\n"
        url = url.replace("http://", f"{chain}http://me:S3CRET@")
        good, none = f"{url}/t.csv?sig=S3CRET", f"{url}/none.csv?sig=S3CRET"
        assert "S3CRET" not in f"{cst.plan(good)} {cst.open(good)!r}"
        assert "S3CRET" in cst.plan(good)[0].file
        calls: list[Callable[[], object]] = [
            lambda: cst.write({"a": [1]}, good),
            lambda: cst.convert(io.BytesIO(b"{}"), good, from_format="json"),
            lambda: cst.open(none),
            lambda: cst.plan(none),
            lambda: cst.open(f"zip://a.csv::{none}"),
        ]
        for call in calls:
            with pytest.raises(cst.Error) as caught:
                call()
            assert "S3CRET" not in f"{caught.value!r} {caught.value.file} {caught.value.hint}"
            shown = traceback.TracebackException.from_exception(caught.value)
            frames = shown
            while frames is not None:
                assert "S3CRET" not in "".join(frames.format_exception_only())
                frames = frames.__cause__ or (
                    None if frames.__suppress_context__ else frames.__context__
                )


def test_errors_of_any_origin_hold_no_secrets() -> None:
    error = cst.errors.FileError(
        "cannot GET https://u:S3CRET@h/x?sig=S3CRET", file="s3://a:S3CRET@b/c?d=e"
    )
    assert str(error) == "cannot GET https://h/x"
    assert error.file == error.filename == "s3://a@b/c"


class Listing:
    """A file system that lists what it wants to."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def glob(self, pattern: str, detail: bool) -> dict[str, Any]:
        return {name: {"type": "file", "size": 1} for name in self.names}

    def exists(self, path: str) -> bool:
        return False


def test_names_outside_of_the_folder_are_no_matches() -> None:
    outside = ("http://h/e.csv", "file:///etc/x.csv", "http://h/d/../e", "http://h/d/%2e%2E/e")
    system = Listing("http://h/d/a.csv", *outside)
    found = matches(system, "http://h/d/*.csv", "http://h/d/*.csv", False)
    assert [url for _, url, _ in found] == ["http://h/d/a.csv"]
    with pytest.raises(cst.errors.NotFoundError):
        matches(Listing("/etc/x"), "http://h/**", "http://h/**", False)


@pytest.mark.parametrize("control", ["\n", "\0", "\x1b", "\x9b", "\x7f"])
def test_control_characters_are_refused(control: str) -> None:
    system = Listing(f"http://h/d/b.csv{control}.env{control}c.csv")
    with pytest.raises(cst.errors.FileError, match="control character"):
        matches(system, "http://h/d/*.csv", "http://h/d/*.csv", False)


def test_the_ending_of_a_file_in_an_archive(tmp_path: pathlib.Path) -> None:
    """Tells the format, and of text tables what is between the cells."""
    with zipfile.ZipFile(tmp_path / "z.zip", "w") as archive:
        archive.writestr("a.csv", "x,y\n1,2\n")
        archive.writestr("a.tsv", "x\ty\n1\t2\n")
        archive.writestr("a.jsonl", ' {"x": 1, "y": 2}\n')
    for ending in ("csv", "tsv", "jsonl"):
        for outer in ("file://", ""):
            url = f"zip://a.{ending}::{outer}{tmp_path}/z.zip"
            assert pa.table(cst.open(url)).to_pylist() == [{"x": 1, "y": 2}], url
            assert json.loads(run("head", url)) == {"x": 1, "y": 2}, url
            (split,) = cst.plan(url, target_bytes=1)
            assert pa.table(cst.open(split)).num_rows == 1


def test_databases_are_no_files(tmp_path: pathlib.Path) -> None:
    """Where files are expected, the error says how a query is read, or becomes a file."""
    assert frozenset(adbc._DRIVERS) == DATABASES
    for scheme in DATABASES:
        uri = f"{scheme}://user:secret@host/name"
        for use in (cst.plan, lambda uri: cst.open([uri, uri])):
            with pytest.raises(
                cst.errors.UnsupportedError, match=r"a database.*cst.open\(uri, query="
            ):
                use(uri)
        with pytest.raises(cst.errors.UnsupportedError, match=r"it is a database.*write a file"):
            cst.Writer(uri, "csv")
        for verb in ("head", "plan", "info"):
            output = run(verb, uri, status=2)
            assert "cst.open(uri, query=" in output
            assert "secret" not in output


def test_patterns_in_chains(tmp_path: pathlib.Path) -> None:
    with zipfile.ZipFile(tmp_path / "z.zip", "w") as archive:
        for name in ("b", "a"):
            archive.writestr(f"in/{name}.csv", f"x\n{name}\n")
    archive_url = f"zip://in/*.csv::file://{tmp_path}/z.zip"
    assert urls_of(archive_url) == [archive_url.replace("*", name) for name in "ab"]
    assert pa.table(cst.open(urls_of(archive_url))).to_pydict() == {"x": ["a", "b"]}
    cached = f"simplecache::file://{tmp_path}/*.zip"
    assert urls_of(cached) == [cached.replace("*", "z")]
