"""Folders that many workers write: only what a commit names is seen, and each of it once."""

from __future__ import annotations

import os
import pathlib
import pickle
import shutil
from typing import Any

import columnstone as cst
import pyarrow as pa
import pytest
from columnstone._engines.folder import Folder, Written
from columnstone._engines.place import place_of
from columnstone._engines.scratch import write_whole


def batch(*ids: int) -> pa.RecordBatch:
    return pa.record_batch({"id": pa.array(ids, pa.int64())})


def ids(folder: pathlib.Path, ending: str = "tfrecord") -> list[int]:
    files = sorted(folder.glob(f"*.{ending}"))
    return pa.table(cst.open(files, flat=True))["id"].to_pylist()


def wrote(folder: Folder, task: int, *batches: Any) -> Written:
    there: Folder = pickle.loads(pickle.dumps(folder))
    written = there.write(task, batches)
    assert written is not None
    return written


def test_commit(tmp_path: pathlib.Path) -> None:
    out = tmp_path / "deep" / "out"
    folder = Folder(out, "example")
    folder.begin()
    second = wrote(folder, 7, batch(3), batch(), batch(4, 5))
    first = wrote(folder, 2, batch(1, 2))
    assert list(out.glob("*")) == [out / f".columnstone-{folder.job}"]
    assert folder.write(3, [batch()]) is None
    names = folder.commit([second, first])
    assert sorted(os.listdir(out)) == names
    assert [name[:10] for name in names] == ["part-00000", "part-00001"]
    assert ids(out) == [1, 2, 3, 4, 5]
    assert (first.rows, second.rows) == (2, 3)


def test_attempts_that_do_not_count_are_gone(tmp_path: pathlib.Path) -> None:
    folder = Folder(tmp_path, "example")
    folder.begin()
    wrote(folder, 0, batch(1))
    again = wrote(folder, 0, batch(1))

    def broken() -> Any:
        yield batch(9)
        raise KeyError("lost")

    with pytest.raises(KeyError):
        folder.write(1, broken())
    (tmp_path / f".columnstone-{folder.job}" / "left-by-a-killed-one.tfrecord").write_bytes(b"x")
    folder.commit([again])
    assert ids(tmp_path) == [1]
    assert len(os.listdir(tmp_path)) == 1


def test_abort(tmp_path: pathlib.Path) -> None:
    folder = Folder(tmp_path, "csv")
    folder.begin()
    wrote(folder, 0, batch(1))
    folder.abort()
    assert os.listdir(tmp_path) == []
    folder.abort()


def test_abort_removes_a_new_folder_only(tmp_path: pathlib.Path) -> None:
    for name in ("new", "old"):
        folder = Folder(tmp_path / name, "csv")
        if name == "old":
            (tmp_path / name).mkdir()
        folder.begin()
        wrote(folder, 0, batch(1))
        folder.abort()
    assert os.listdir(tmp_path) == ["old"]


def test_a_commit_that_fails_leaves_nothing(tmp_path: pathlib.Path) -> None:
    folder = Folder(tmp_path, "example")
    folder.begin()
    files = [wrote(folder, 0, batch(1)), Written(1, "never-written.tfrecord", 1)]
    with pytest.raises(cst.errors.FileError, match=r"part-00001.*is gone"):
        folder.commit(files)
    assert os.listdir(tmp_path) == []


def test_modes(tmp_path: pathlib.Path) -> None:
    for number, mode, expected in [
        (1, "error", [1]),
        (2, "append", [1, 2]),
        (3, "overwrite", [3]),
    ]:
        folder = Folder(tmp_path, "example", mode)  # type: ignore[arg-type]
        folder.begin()
        folder.commit([wrote(folder, 0, batch(number))])
        assert sorted(ids(tmp_path)) == expected
    with pytest.raises(cst.errors.FileError, match="has files"):
        Folder(tmp_path, "example", "error").begin()
    again = folder.again()
    assert again.job != folder.job
    again.begin()
    again.commit([wrote(again, 0, batch(4))])
    assert ids(tmp_path) == [4]


@pytest.mark.parametrize(
    ("format", "options", "ending"),
    [
        ("example", {"compression": "gzip"}, ".tfrecord.gz"),
        ("example", {"container": "delimited"}, ".delimited"),
        ("raw", {"compression": "zstd"}, ".tfrecord.zst"),
        ("csv", {"compression": "gzip"}, ".csv.gz"),
        ("json", {}, ".jsonl"),
        ("arrow", {}, ".arrow"),
        ("parquet", {}, ".parquet"),
    ],
)
def test_endings(tmp_path: pathlib.Path, format: str, options: dict[str, Any], ending: str) -> None:
    folder = Folder(tmp_path, format, options=options)
    folder.begin()
    column = pa.record_batch({"record": pa.array([b"\x0a\x00"], pa.large_binary())})
    (name,) = folder.commit([wrote(folder, 0, column)])
    assert name == f"part-00000-{folder.job[:12]}{ending}"
    found = cst.open(tmp_path / name, format, container=options.get("container"))
    assert pa.table(found).num_rows == 1


def test_arguments(tmp_path: pathlib.Path) -> None:
    with pytest.raises(cst.errors.ArgumentError, match="unknown mode 'replace'"):
        Folder(tmp_path, "csv", "replace")  # type: ignore[arg-type]
    with pytest.raises(cst.errors.ArgumentError, match=r"unknown option 'compresion'.*compression"):
        Folder(tmp_path, "csv", options={"compresion": "gzip"})
    with pytest.raises(cst.errors.NotFoundError, match=r"unknown format 'exmple'.*'example'"):
        Folder(tmp_path, "exmple")
    with pytest.raises(cst.errors.ArgumentError, match="unknown option 'num_shards'"):
        Folder(tmp_path, "csv", options={"num_shards": 2})


def test_elsewhere() -> None:
    fsspec = pytest.importorskip("fsspec")
    url = "memory://out-of-engines"
    folder = Folder(url, "example")
    folder.begin()
    folder.write(1, [batch(1)])
    folder.commit([written for written in [folder.write(0, [batch(2)])] if written])
    assert pa.table(cst.open(f"{url}/*.tfrecord", flat=True))["id"].to_pylist() == [2]
    system = fsspec.filesystem("memory")
    assert len(system.find("/out-of-engines")) == 1
    with pytest.raises(cst.errors.FileError):
        Folder(url, "example", "error").begin()
    system.rm("/out-of-engines", recursive=True)


def test_an_attempt_that_outlives_its_job_makes_nothing(tmp_path: pathlib.Path) -> None:
    folder = Folder(str(tmp_path / "out"), "example")
    folder.begin()
    folder.abort()
    with pytest.raises(cst.Error):
        folder.write(0, [pa.record_batch({"a": [[1]]})])
    assert not (tmp_path / "out").exists()


def test_what_vanishes_while_a_folder_is_removed(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A writer that takes its file away meanwhile does not keep the folder alive."""
    folder = Folder(str(tmp_path / "out"), "example")
    folder.begin()
    removed = shutil.rmtree
    fails = iter([FileNotFoundError("a file of it"), None])

    def rmtree(path: str) -> None:
        error = next(fails)
        if error is not None:
            raise error
        removed(path)

    monkeypatch.setattr("columnstone._engines.place.shutil.rmtree", rmtree)
    folder.abort()
    assert not (tmp_path / "out").exists()


def test_small_files_follow_no_link(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who guesses the name beside, and puts a link there, gets an error and no data."""
    victim = tmp_path / "victim"
    victim.write_bytes(b"mine")
    (tmp_path / ".guessed.tmp").symlink_to(victim)
    place = place_of(str(tmp_path))
    place.write("note", b"1")
    assert (tmp_path / "note").read_bytes() == b"1"
    monkeypatch.setattr("secrets.token_hex", lambda size: "guessed")
    with pytest.raises(FileExistsError):
        place.write("note", b"2")
    assert victim.read_bytes() == b"mine"
    assert (tmp_path / "note").read_bytes() == b"1"
    monkeypatch.undo()
    names = {name for name in os.listdir(tmp_path) if "note" in name or "tmp" in name}
    assert names == {"note", ".guessed.tmp"}
    write_whole(str(tmp_path / "note"), b"3")
    with pytest.raises(FileExistsError):
        write_whole(str(tmp_path / "note"), b"4", os.link)
    assert (tmp_path / "note").read_bytes() == b"3"
    assert {name for name in os.listdir(tmp_path) if "note" in name or "tmp" in name} == names
