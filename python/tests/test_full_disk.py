"""Every output of Python on a full disk: the older file stays as it was, nothing else is left, and
the error is a cst.errors.FileError that names the file."""

from __future__ import annotations

import os
import resource
import stat
from typing import TYPE_CHECKING, Any

import columnstone as cst
import pyarrow as pa
import pytest

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Callable, Iterator

ROOM = 4096  # bytes of a file, then the disk is full
ROWS = pa.table({"a": range(50_000), "s": [f"row {i * 7919 % 50_000}" for i in range(50_000)]})


def _tensor(path: Any) -> None:
    cst.struct.constant(ROWS.to_pylist()).to_json(path)


def _records(path: Any) -> None:
    with cst.codec.TFRecordWriter(path, compression="none") as writer:
        for _ in range(10_000):
            writer.write(b"x" * 20)


def _query() -> cst.Query:
    lets = "\n".join(f"output column_{i} = dense(a + {i})" for i in range(400))
    return cst.Query.from_text(f"from table [{{a: int64}}]\n{lets}\n")


def _index(path: Any) -> cst.source.Index:
    return cst.source.Index.build(os.fspath(path).removesuffix(".cstidx"))


OUTPUTS: dict[str, Callable[[Any], object]] = {
    "tensor.json": _tensor,
    "tensor.json.gz": _tensor,
    "rows.parquet": lambda path: cst.write(ROWS, path, overwrite=True),
    "rows.csv": lambda path: cst.write(ROWS, path, overwrite=True),
    "rows.jsonl": lambda path: cst.write(ROWS, path, overwrite=True),
    "rows.arrow": lambda path: cst.write(ROWS, path, overwrite=True, threads=2),
    "rows.arrows": lambda path: cst.write(ROWS, path, overwrite=True),
    "rows.tfrecord": lambda path: cst.convert(ROWS, path, overwrite=True),
    "records.tfrecord": _records,
    "query.cstv": lambda path: _query().save(path),
    "view.cstv": lambda path: _query().view().save(path),
    "data.cstidx": _index,
    "index.txt": lambda path: cst.source.Index.load(path.parent / "data").export_text(path),
}


def _prepare(name: str, folder: pathlib.Path) -> list[str]:
    """What the output needs in the folder, besides itself."""
    if name not in ("data.cstidx", "index.txt"):
        return []
    with cst.codec.TFRecordWriter(folder / "data", compression="none") as writer:
        for i in range(5_000):
            writer.write(b"x" * (i * 31 % 97))
    if name == "data.cstidx":
        return ["data"]
    cst.source.Index.build(folder / "data")
    return ["data", "data.cstidx"]


@pytest.fixture
def full() -> Iterator[Callable[[], None]]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, before[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("name", OUTPUTS)
def test_a_full_disk(name: str, tmp_path: pathlib.Path, full: Callable[[], None]) -> None:
    path, others = tmp_path / name, _prepare(name, tmp_path)
    path.write_bytes(b"older")
    full()
    with pytest.raises(cst.errors.FileError, match="File too large") as caught:
        OUTPUTS[name](path)
    assert caught.value.file == str(path)
    assert path.read_bytes() == b"older"
    assert sorted(os.listdir(tmp_path)) == sorted([name, *others])


# An index takes the place of a link: it lies beside data that may be somebody else's.
FOLLOWING = [name for name in OUTPUTS if name not in ("data.cstidx", "index.txt")]


@pytest.mark.parametrize("name", FOLLOWING)
def test_room(name: str, tmp_path: pathlib.Path) -> None:
    """The same outputs where there is room: over a private file, which stays so, by a link."""
    target, path, others = tmp_path / "target", tmp_path / name, _prepare(name, tmp_path)
    target.write_bytes(b"older")
    target.chmod(0o600)
    path.symlink_to("target")
    OUTPUTS[name](path)
    assert target.stat().st_size > ROOM
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert path.is_symlink()
    assert sorted(os.listdir(tmp_path)) == sorted([name, "target", *others])


@pytest.mark.parametrize("name", ["data.cstidx", "index.txt"])
def test_an_index_replaces_a_link(name: str, tmp_path: pathlib.Path) -> None:
    target, path, others = tmp_path / "target", tmp_path / name, _prepare(name, tmp_path)
    target.write_bytes(b"older")
    path.unlink(missing_ok=True)
    path.symlink_to("target")
    OUTPUTS[name](path)
    assert target.read_bytes() == b"older"
    assert not path.is_symlink() and path.stat().st_size > ROOM
    assert sorted(os.listdir(tmp_path)) == sorted([name, "target", *others])


@pytest.mark.parametrize("name", FOLLOWING)
def test_a_device(name: str, tmp_path: pathlib.Path) -> None:
    path, others = tmp_path / name, _prepare(name, tmp_path)
    path.symlink_to("/dev/full")
    with pytest.raises(cst.errors.FileError, match="No space left on device"):
        OUTPUTS[name](path)
    assert sorted(os.listdir(tmp_path)) == sorted([name, *others])
