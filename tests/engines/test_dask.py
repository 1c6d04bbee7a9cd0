"""Dask reads and writes: the same rows with every scheduler, and the same keys every time."""

from __future__ import annotations

import itertools
import os
import pathlib
import subprocess
import sys
from typing import Any

import cloudpickle
import columnstone as cst
import pandas as pd
import pyarrow as pa
import pytest
import wide
from columnstone._dask.read import Partition

pytestmark = pytest.mark.filterwarnings("ignore")  # Dask and pandas warn of themselves


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Rows 0 to 299 in three files."""
    folder = tmp_path_factory.mktemp("dask")
    for part in range(3):
        rows = [
            {"id": [i], "name": [f"n{i}".encode()], "more": [i] * (i % 3), "half": [i / 2]}
            for i in range(part * 100, part * 100 + 100)
        ]
        cst.write(rows, folder / f"a-{part}.tfrecord.gz")
    return str(folder / "a-*")


def read(files: str, **options: Any) -> Any:
    return cst.dask.read(files, target_bytes=1 << 20, **options)


@pytest.mark.parametrize("name", ["lengths", "counts", "inference", "statistics"])
def test_accumulators_find_what_they_find_in_the_files(files: str, name: str) -> None:
    frame = read(files)
    assert frame.npartitions == 3
    found = cst.dask.accumulate(frame, name)
    assert found.to_pydict() == cst.open(files).accumulate(name).to_pydict()
    counts = cst.dask.accumulate(frame, cst.accumulate.Counts())
    assert counts.num_rows == 300
    counter = cst.accumulate.Counts()
    counter.add(cst.record_batch([{"more": 1}]))
    with pytest.raises(cst.errors.ArgumentError, match="the accumulator is not empty"):
        cst.dask.accumulate(frame, counter)
    few = cst.dask.accumulate(frame, "lengths", columns="more").to_pydict()
    assert (few["path"], few["max"]) == (["more"], [2])


@pytest.mark.parametrize("scheduler", ["sync", "threads"])
@pytest.mark.parametrize("flat", [False, True])
def test_rows(files: str, scheduler: str, flat: bool) -> None:
    frame = read(files, flat=flat)
    assert frame.npartitions == 3
    expected = cst.open(files, flat=flat).to_pandas()
    pd.testing.assert_frame_equal(frame._meta, expected.iloc[:0])
    found = frame.compute(scheduler=scheduler).reset_index(drop=True)
    pd.testing.assert_frame_equal(found, expected)
    assert len(frame) == 300


@pytest.mark.parametrize("infers", [False, True])
def test_tasks_are_small(tmp_path: pathlib.Path, infers: bool) -> None:
    """The columns are in a graph once, however many tasks it has."""
    paths, schema = wide.write(tmp_path)
    given = {} if infers else {"schema": schema}
    frame = cst.dask.read(paths, target_bytes=50_000, **given)
    parts = list(dict(frame.__dask_graph__()).values())
    assert len(parts) > 4
    sizes = [len(cloudpickle.dumps(parts[:n])) for n in range(1, len(parts) + 1)]
    assert max(b - a for a, b in itertools.pairwise(sizes)) < wide.MOST
    assert len(frame) == 8


def test_projection(files: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns that are not used do not reach the reader."""
    seen = []
    call = Partition.__call__

    def spy(self: Any, splits: Any, columns: Any = None) -> Any:
        seen.append(columns)
        return call(self, splits, columns)

    frame = read(files, flat=True)
    monkeypatch.setattr(Partition, "__call__", spy)
    assert frame["half"].sum().compute(scheduler="sync") == sum(range(300)) / 2
    assert frame[frame.id > 200].half.max().compute(scheduler="sync") == 149.5
    assert frame[["name", "id"]].compute(scheduler="sync").columns.tolist() == ["name", "id"]
    assert seen == [["half"]] * 3 + [["half", "id"]] * 3 + [["id", "name"]] * 3


def test_columns_reach_the_reader(tmp_path: pathlib.Path) -> None:
    """A column whose values would be refused is not looked at, when nothing uses it."""
    path = tmp_path / "x.tfrecord"
    cst.write([{"a": [1], "b": [1]}], path)
    schema = cst.infer_schema(path)
    cst.write([{"a": [1], "b": [b"text"]}], path, overwrite=True)
    frame = cst.dask.read(path, schema=schema)
    assert frame["a"].compute(scheduler="sync")[0] == [1]
    with pytest.raises(cst.errors.SchemaError, match="feature 'b'"):
        frame.compute(scheduler="sync")


def test_the_same_keys_everywhere(files: str) -> None:
    frame = read(files, columns=["id"])
    keys = sorted(map(str, frame.__dask_graph__()))
    assert keys == sorted(map(str, read(files, columns=["id"]).__dask_graph__()))
    assert keys != sorted(map(str, read(files, columns=["half"]).__dask_graph__()))
    code = (
        "import sys, columnstone as cst\n"
        "frame = cst.dask.read(sys.argv[1], target_bytes=1 << 20, columns=['id'])\n"
        "print(sorted(map(str, frame.__dask_graph__())))"
    )
    said = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, files],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert said.strip() == str(keys)


@pytest.mark.parametrize(("format", "ending"), [("example", "tfrecord"), ("parquet", "parquet")])
def test_write(files: str, tmp_path: pathlib.Path, format: str, ending: str) -> None:
    frame = read(files, flat=True)
    names = cst.dask.write(frame[frame.id >= 100], tmp_path, format)
    assert len(names) == 2 and sorted(os.listdir(tmp_path)) == names
    found = pa.table(cst.open(str(tmp_path / f"*.{ending}"), flat=True))
    assert found.equals(pa.table(cst.open(files, flat=True)).slice(100).cast(found.schema))
    with pytest.raises(cst.errors.FileError, match="has files"):
        cst.dask.write(frame, tmp_path, format, mode="error")
    cst.dask.write(frame, tmp_path, format, mode="overwrite")
    assert cst.open(str(tmp_path / f"*.{ending}")).num_rows == 300


def test_a_write_that_fails_leaves_nothing(files: str, tmp_path: pathlib.Path) -> None:
    def breaks(part: pd.DataFrame) -> pd.DataFrame:
        if 250 in part["id"].tolist():
            raise ValueError("broken")
        return part

    frame = read(files, flat=True)
    with pytest.raises(ValueError, match="broken"):
        cst.dask.write(frame.map_partitions(breaks, meta=frame._meta), tmp_path, "example")
    assert os.listdir(tmp_path) == []


def test_damage(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "x.tfrecord"
    cst.write([{"id": [i]} for i in range(50)], path)
    schema = cst.infer_schema(path)
    data = bytearray(path.read_bytes())
    data[20] ^= 255
    path.write_bytes(data)
    with pytest.raises(cst.errors.CorruptError, match="record 0"):
        cst.dask.read(path, schema=schema).compute(scheduler="threads")
    assert len(cst.dask.read(path, schema=schema, on_error="skip")) == 49
    with pytest.raises(cst.errors.ArgumentError, match=r"unknown option 'colums'.*columns"):
        cst.dask.read(path, colums=["id"])


def test_workers_in_processes(files: str, tmp_path: pathlib.Path) -> None:
    """Also one that dies: its partitions are made again, and nothing is written twice."""
    distributed = pytest.importorskip("distributed")
    mark = tmp_path / "died"

    def dies(part: pd.DataFrame) -> pd.DataFrame:
        if 250 in part["id"].tolist() and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), 9)
        return part

    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None,
        memory_limit="1GB", silence_logs="CRITICAL",
    )  # fmt: skip
    with cluster, distributed.Client(cluster):
        frame = read(files, flat=True)
        assert int(frame.id.sum().compute()) == sum(range(300))
        dying = frame.map_partitions(dies, meta=frame._meta)
        names = cst.dask.write(dying, tmp_path / "out", "example")
    assert mark.exists() and sorted(os.listdir(tmp_path / "out")) == names
    found = pa.table(cst.open(str(tmp_path / "out" / "*"), flat=True))
    assert found["id"].to_pylist() == list(range(300))


def test_a_named_index_is_a_column(tmp_path: pathlib.Path) -> None:
    import dask.dataframe as frames

    for name, columns in (("key", ["key", "x"]), (None, ["x"])):
        index = pd.Index([7, 8, 9], name=name)
        frame = frames.from_pandas(pd.DataFrame({"x": [1, 2, 3]}, index=index), npartitions=1)
        [file] = cst.dask.write(frame, tmp_path / str(name), "arrow")
        assert pa.table(cst.open(tmp_path / str(name) / file)).column_names == columns


def avro_file(path: pathlib.Path) -> None:
    """Rows 0 to 39,999 in one file of 4 MB."""
    ids = pa.array(range(40_000), pa.int64())
    text = pa.array([f"{i:080}" for i in range(40_000)])
    cst.write(pa.table({"id": ids, "text": text}), str(path), avro_codec="null")


SCHEMA_OF_AVRO = """{"type": "record", "name": "Row", "fields": [
    {"name": "number", "aliases": ["id"], "type": ["null", "double"]},
    {"name": "shop", "type": "string", "default": "IT"}]}"""


def test_avro(tmp_path: pathlib.Path) -> None:
    """A file in several partitions, by its own schema and by another, and written again."""
    avro_file(tmp_path / "a.avro")
    frame = read(str(tmp_path / "a.avro"), columns=["id"])
    assert frame.npartitions > 3
    assert frame.compute()["id"].tolist() == list(range(40_000))
    other = read(str(tmp_path / "a.avro"), avro_schema=SCHEMA_OF_AVRO).compute()
    assert other["number"].sum() == sum(range(40_000)) and set(other["shop"]) == {"IT"}
    names = cst.dask.write(frame, str(tmp_path / "out"), "avro", avro_codec="xz")
    assert len(names) == frame.npartitions
    again = pa.table(cst.open(str(tmp_path / "out" / "*.avro")))
    assert again["id"].to_pylist() == list(range(40_000))
