"""What others send without an end: listings, parts, copies for a cache, archives that are
compressed as a whole."""

from __future__ import annotations

import io
import pathlib
import tarfile
import zipfile
from collections.abc import Iterator

import columnstone as cst
import columnstone._io.bounds as bounds
import pyarrow as pa
import pytest
from columnstone._io.remote import urls_of
from program import needs_program, run
from servers import Behaviour, http_server

pytest.importorskip("fsspec")

MANY = 70_000_000  # bytes: more than any file may become


@pytest.fixture
def http() -> Iterator[tuple[str, Behaviour]]:
    with http_server() as found:
        yield found


def test_a_listing_without_end(
    http: tuple[str, Behaviour], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, behaviour = http
    behaviour.files["a.csv"] = b"x\n1\n"
    behaviour.files[""] = b'<a href="a.csv">' * 1000
    pattern = f"{url}/*.csv?key=S3CRET"
    assert urls_of(f"{url}/*.csv") == [f"{url}/a.csv"]
    monkeypatch.setattr(bounds, "MOST_LISTED", 1000)
    for call in (cst.open, cst.plan):
        with pytest.raises(cst.errors.LimitError, match="more than 1000 bytes") as caught:
            call(pattern)
        assert "S3CRET" not in str(caught.value)


def test_a_listing_that_is_compressed(http: tuple[str, Behaviour]) -> None:
    url, behaviour = http
    behaviour.files[""] = b'<a href="a.csv">' * (MANY // 16)
    behaviour.gzips = True
    with pytest.raises(cst.errors.LimitError):
        cst.open(f"{url}/*.csv")


def test_a_part_that_is_too_long(http: tuple[str, Behaviour]) -> None:
    """fsspec reads all that a server sends for a part."""
    url, behaviour = http
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("a.csv", "x\n" + "1\n" * 5000)
    behaviour.files["z.zip"] = archive.getvalue()
    chain = f"zip://a.csv::{url}/z.zip"
    assert pa.table(cst.open(chain)).num_rows == 5000
    behaviour.parts = "more"
    with pytest.raises(cst.errors.LimitError, match="the server sent more than"):
        list(cst.open(chain))


def test_the_copy_of_a_cache(
    http: tuple[str, Behaviour], tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    url, behaviour = http
    behaviour.files["t.csv"] = b"x\n" + b"1\n" * 5000
    chain = f"simplecache::{url}/t.csv"
    assert pa.table(cst.open(chain)).num_rows == 5000
    for name in list(behaviour.files):
        behaviour.files[f"b{name}"] = behaviour.files[name]
    monkeypatch.setattr(bounds, "_MOST_COPY", 1000)
    with pytest.raises(cst.errors.LimitError, match="more than 1000 bytes"):
        list(cst.open(f"simplecache::{url}/bt.csv"))


def test_a_cache_of_a_compressed_answer(http: tuple[str, Behaviour]) -> None:
    url, behaviour = http
    behaviour.files["t.txt"] = b"\0" * MANY
    behaviour.gzips = True
    options = {"container": "lines", "format": "raw"}
    with pytest.raises(cst.errors.LimitError, match="Content-Encoding gzip"):
        list(cst.open(f"simplecache::{url}/t.txt", **options))
    source = cst.open(f"simplecache::{url}/t.txt", **options, max_inflation=2000)
    assert source.num_rows == 1


class Zeros(io.RawIOBase):
    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        buffer[:] = bytes(len(buffer))
        return len(buffer)


def write_tar(path: pathlib.Path, kind: str, size: int) -> None:
    """ "file": one of zeros; "header": one whose extended header has so many bytes."""
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        info = tarfile.TarInfo("a.txt")
        info.size = size
        info.type = tarfile.XHDTYPE if kind == "header" else tarfile.REGTYPE
        archive.addfile(info, io.BufferedReader(Zeros()))
        archive.addfile(tarfile.TarInfo("b.txt"))


@pytest.mark.parametrize("kind", ["file", "header"])
def test_archives_that_are_compressed(tmp_path: pathlib.Path, kind: str) -> None:
    write_tar(tmp_path / "t.tar.gz", kind, MANY)
    options = {"container": "lines", "format": "raw"}
    for name in ("a.txt", "*.txt"):
        chain = f"tar://{name}::file://{tmp_path}/t.tar.gz"
        with pytest.raises(cst.errors.LimitError, match="of gzip expand to") as caught:
            list(cst.open(chain, **options))
        assert "max_inflation" in str(caught.value.hint)
    if kind == "file":
        assert cst.open(chain, **options, max_inflation=2000).num_rows == 1


def test_archives_as_they_are(tmp_path: pathlib.Path) -> None:
    for mode, ending in (
        ("w", "tar"),
        ("w:gz", "tar.gz"),
        ("w:bz2", "tar.bz2"),
        ("w:xz", "tar.xz"),
    ):
        path = tmp_path / f"t.{ending}"
        with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
            for name in ("b", "a"):
                data = f"x\n{name}\n".encode() * 3000
                info = tarfile.TarInfo(f"in/{name}.csv")
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
        table = pa.table(cst.open(f"tar://in/*.csv::file://{path}"))
        assert table["x"].to_pylist() == [x for name in "ab" for x in [*[name, "x"] * 2999, name]]


@needs_program
def test_the_program_raises_the_limit(http: tuple[str, Behaviour], tmp_path: pathlib.Path) -> None:
    """What its helpers inflate goes by --max-inflation as well."""
    url, behaviour = http
    behaviour.files["t.txt"] = b"\0" * MANY
    behaviour.gzips = True
    write_tar(tmp_path / "t.tar.gz", "file", MANY)
    for name in (f"{url}/t.txt", f"tar://*.txt::file://{tmp_path}/t.tar.gz"):
        arguments = ("count", name, "--container", "lines", "--format", "raw")
        assert "raise --max-inflation" in run(*arguments, status=1)
        assert str(MANY) in run(*arguments, "--max-inflation", "2000")


@pytest.mark.parametrize("options", [{"schemes": ["http", "reference"]}, {"hosts": ["a.csv"]}])
def test_files_that_name_others(
    http: tuple[str, Behaviour], options: dict[str, list[str]], tmp_path: pathlib.Path
) -> None:
    """What a file of references says is opened, so that no rule could hold."""
    (tmp_path / "local.csv").write_text("SECRET\n1\n")
    url, behaviour = http
    behaviour.files["r.json"] = b'{"a.csv": ["%s/local.csv"]}' % bytes(tmp_path)
    with pytest.raises(cst.errors.UnsupportedError):
        cst.open(f"reference://a.csv::{url}/r.json", **options)
    assert behaviour.asked == [] and behaviour.answers == 0
