"""Splits: planned here, read by anybody, with each record in exactly one of them."""

from __future__ import annotations

import pickle
import zipfile
from pathlib import Path
from typing import Any

import columnstone as cst
import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.fs
import pyarrow.parquet as pq
import pytest


def write(path: Path, count: int, first: int = 0) -> str:
    batch = cst.record_batch({"id": np.arange(first, first + count)})
    cst.write(batch, str(path))
    return str(path)


def ids(source: cst.Source) -> list[int]:
    return [i for batch in source for i in np.asarray(batch["id"]).tolist()]


def read(splits: list[cst.source.Split] | cst.source.Split, **options: object) -> list[int]:
    return ids(cst.open(splits, schema=SCHEMA, flat=True, **options))  # type: ignore[arg-type]


SCHEMA = 'feature { name: "id" type: INT presence { min_fraction: 1 } shape {} }'


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("plan")
    return [write(folder / f"{i}.tfrecord", 100, 100 * i) for i in range(3)]


def test_plan(files: list[str]) -> None:
    splits = cst.plan(files, target_bytes=1000)
    assert len(splits) > 6
    assert splits == cst.plan([*files], target_bytes=1000)
    assert [s.file for s in splits if s.begin == 0] == files
    assert [i for split in splits for i in read(split)] == list(range(300))
    assert read(splits) == list(range(300))
    assert read(splits[::-1]) != list(range(300))
    assert sorted(read(splits[::-1], threads=2)) == list(range(300))
    assert not any(split.exact for split in splits)
    pattern = files[0].replace("0.tfrecord", "*.tfrecord")
    assert cst.plan(pattern, target_bytes=1000) == splits


def test_tasks(files: list[str]) -> None:
    assert [s.task for s in cst.plan(files)] == [0, 0, 0]
    assert [s.task for s in cst.plan(files, target_bytes=2 << 20)] == [0, 0, 1]


def test_pickled_sources(files: list[str]) -> None:
    splits = cst.plan(files, target_bytes=1000)
    source = cst.open(splits[2:5], schema=SCHEMA, flat=True)
    again = pickle.loads(pickle.dumps(source))
    assert ids(again) == ids(source) == [i for s in splits[2:5] for i in read(s)]
    assert ids(source.select(["id"])) == ids(source)
    halves = [source.split(i, 2) for i in range(2)]
    assert [i for half in halves for i in ids(half)] == ids(source)
    assert ids(pickle.loads(pickle.dumps(halves[1]))) == ids(halves[1])
    assert pickle.loads(pickle.dumps(splits)) == splits


# Formats


@pytest.fixture(scope="module")
def parquet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("plan") / "t.parquet"
    pq.write_table(pa.table({"id": range(1000), "b": [[i] for i in range(1000)]}), path, 70)
    return path


def test_row_groups(parquet: Path) -> None:
    size = parquet.stat().st_size
    for target in (100, 999, 5000, size):
        splits = cst.plan(parquet, target_bytes=target)
        assert len(splits) == -(-size // target)
        parts = [cst.open(split, threads=1 + target % 2) for split in splits]
        assert [i for part in parts for i in ids(part)] == list(range(1000))
        assert {tuple(part.column_names) for part in parts} == {("id", "b")}
        assert ids(pickle.loads(pickle.dumps(cst.open(splits)))) == list(range(1000))
    some = cst.open(splits[0]._replace(end=size // 3), columns=["b"])
    assert 0 < some.num_rows < 1000
    assert cst.open(splits[0]._replace(end=size // 3), columns=[]).num_rows == some.num_rows
    with pytest.raises(cst.errors.StateError, match="changed since it was planned"):
        ids(cst.open(splits[0]._replace(end=size + 1)))


def test_every_byte_of_a_parquet_file(parquet: Path) -> None:
    size = parquet.stat().st_size
    name = str(parquet)
    for at in range(1, size, 211):
        cuts = [cst.source.Split(name, 0, at), cst.source.Split(name, at, 2**63 - 1)]
        assert [i for cut in cuts for i in ids(cst.open(cut))] == list(range(1000))


def test_formats_of_ones_own(tmp_path: Path, parquet: Path) -> None:
    cst.format.register("twice", lambda path: pq.read_table(path))
    try:
        size = parquet.stat().st_size
        assert cst.plan(parquet, "twice", target_bytes=100) == [
            cst.source.Split(str(parquet), 0, size)
        ]
        cuts = [cst.source.Split(str(parquet), 0, 10), cst.source.Split(str(parquet), 10, size)]
        parts = [cst.open(cut, "twice") for cut in cuts]
        assert [part.num_rows for part in parts] == [1000, 0]
        assert parts[1].column_names == ["id", "b"]
        assert ids(cst.open(cuts[::-1], "twice")) == list(range(1000))
    finally:
        cst.format.unregister("twice")


def test_what_has_no_splits(files: list[str], tmp_path: Path) -> None:
    with (
        open(files[0], "rb") as file,
        pytest.raises(cst.errors.UnsupportedError, match="file objects"),
    ):
        cst.plan(file)
    with pytest.raises(cst.errors.UnsupportedError, match="standard input"):
        cst.plan("-")
    with pytest.raises(cst.errors.NotFoundError):
        cst.plan(str(tmp_path / "none-*"))
    with pytest.raises(cst.errors.ArgumentError, match="target_bytes"):
        cst.plan(files, target_bytes=0)
    with pytest.raises(cst.errors.StateError, match="changed since it was planned"):
        cst.open(cst.source.Split(files[0], 0, 10**9))
    with pytest.raises(cst.errors.ArgumentError, match="from byte"):
        cst.open(cst.source.Split(files[0], 10, 9))


# File systems


class Watched:
    """A file system that counts what it is asked."""

    def __init__(self, system: Any) -> None:
        self._system = system
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if callable(found := getattr(self._system, name)):
            self.calls.append(name)
        return found


@pytest.fixture
def memory(files: list[str]) -> Any:
    system = fsspec.filesystem("memory")
    for i, file in enumerate(files):
        system.pipe(f"/plan/{i}.tfrecord", Path(file).read_bytes())
    yield system
    system.rm("/plan", recursive=True)


def test_urls(memory: Any, files: list[str]) -> None:
    splits = cst.plan("memory://plan/*.tfrecord", target_bytes=1000)
    assert [s.file for s in splits if s.begin == 0] == [
        f"memory://plan/{i}.tfrecord" for i in range(3)
    ]
    local = cst.plan(files, target_bytes=1000)
    assert [s[1:] for s in splits] == [s[1:] for s in local]
    assert [i for split in splits for i in read(split)] == list(range(300))
    assert read(splits) == list(range(300))
    assert ids(pickle.loads(pickle.dumps(cst.open(splits[3:6], schema=SCHEMA, flat=True)))) == read(
        splits[3:6]
    )
    named = cst.plan(["memory://plan/2.tfrecord", "memory://plan/0.tfrecord"])
    assert [s.end for s in named] == [Path(files[i]).stat().st_size for i in (2, 0)]
    with pytest.raises(cst.errors.NotFoundError):
        cst.plan("memory://plan/none")
    with pytest.raises(cst.errors.NotFoundError):
        cst.plan("memory://plan/none-*")


def test_folders_of_file_systems(memory: Any) -> None:
    """They have no bytes: a folder is no empty file."""
    memory.makedirs("/plan/inner")
    for read_it in (cst.plan, cst.open):
        with pytest.raises(cst.errors.FileError, match="it is a folder"):
            read_it("memory://plan/inner")
        with pytest.raises(cst.errors.NotFoundError):
            read_it("memory://plan/inn*")
    assert len(cst.plan("memory://plan/*")) == len(cst.plan("memory://plan/*.*"))


def test_listing(memory: Any, files: list[str]) -> None:
    watched = Watched(memory)
    splits = cst.plan("/plan/*.tfrecord", filesystem=watched, target_bytes=1000)
    assert set(watched.calls) <= {"glob", "exists"}
    assert read(splits[:3], filesystem=memory) == read(
        [s._replace(file=files[0]) for s in splits[:3]]
    )
    watched.calls.clear()
    names = ["/plan/0.tfrecord"] * 100 + ["/plan/1.tfrecord"]
    assert len(cst.plan(names, filesystem=watched)) == 101
    assert watched.calls == ["ls"]
    watched.calls.clear()
    assert len(cst.open(names, filesystem=watched).files) == 101
    assert watched.calls == ["ls", "open"]  # the first file tells the format
    watched.calls.clear()
    cst.open("/plan/*.tfrecord", filesystem=watched)
    assert set(watched.calls) <= {"glob", "exists", "open"}
    for read_it in (cst.plan, cst.open):
        with pytest.raises(cst.errors.NotFoundError):
            read_it(["/plan/none"] * 100, filesystem=watched)


def test_many_files_of_an_archive(tmp_path: Path) -> None:
    """Their names have no folder before "::", and are looked up one by one."""
    with zipfile.ZipFile(tmp_path / "z.zip", "w") as archive:
        archive.writestr("in/a.csv", "x\n1\n")
    names = [f"zip://in/a.csv::file://{tmp_path}/z.zip"] * 101
    assert len(cst.plan(names)) == 101
    assert cst.open(names).num_rows == 101


def test_pyarrow_file_systems(files: list[str], parquet: Path) -> None:
    local = pyarrow.fs.LocalFileSystem()
    splits = cst.plan(files, filesystem=local, target_bytes=1000)
    assert splits == cst.plan(files, target_bytes=1000)
    assert read(splits, filesystem=local) == list(range(300))
    groups = cst.plan(str(parquet), filesystem=local, target_bytes=5000)
    assert len(groups) > 1
    assert [i for g in groups for i in ids(cst.open(g, filesystem=local))] == list(range(1000))
