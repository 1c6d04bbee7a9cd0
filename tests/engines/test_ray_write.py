"""Ray Data writes folders: all types, each row once, whole or not at all."""

from __future__ import annotations

import os
import pathlib
from typing import Any

import columnstone as cst
import pyarrow as pa
import pyarrow.compute as pc
import pytest

pytestmark = pytest.mark.filterwarnings("ignore")  # Ray warns of itself


def by_id(found: Any, key: str = "id") -> pa.Table:
    found = pa.table(found)
    return found.take(pc.sort_indices(found[key])).combine_chunks()


@pytest.fixture(scope="module")
def ids(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Rows 0 to 399 in four files."""
    folder = tmp_path_factory.mktemp("ids")
    for part in range(4):
        rows = [
            {"id": [i], "name": [f"n{i}".encode()]} for i in range(part * 100, part * 100 + 100)
        ]
        cst.write(rows, folder / f"a-{part}.tfrecord")
    return str(folder / "a-*")


def tasks(ids: str, **options: Any) -> Any:
    """A dataset of a read task for each file, and a block for each task."""
    return cst.ray.read_tfrecords(
        ids, flat=True, target_bytes=1 << 20, override_num_blocks=4, **options
    )


TYPES = {
    "id": pa.array(range(20), pa.int64()),
    "ints": pa.array([[i] * (i % 3) for i in range(20)], pa.large_list(pa.int64())),
    "floats": pa.array([[0.5 * i] for i in range(20)], pa.large_list(pa.float32())),
    "bytes": pa.array([[b"", bytes([i])] for i in range(20)], pa.large_list(pa.large_binary())),
    "text": pa.array([None if i % 4 else f"t{i}" for i in range(20)], pa.large_string()),
}
MORE = {
    "struct": pa.array([{"a": i, "b": [{"c": i}]} for i in range(20)]),
    "time": pa.array(range(20), pa.timestamp("us", "UTC")),
    "flag": pa.array([None, True] * 10),
    "small": pa.array(range(20), pa.int8()),
    "word": pa.array(["x", "y"] * 10).dictionary_encode(),
}


@pytest.mark.parametrize("name", ["a.tfrecord", "a.parquet", "a.arrow", "a.jsonl"])
def test_round_trip_of_all_types(ray_data: Any, tmp_path: pathlib.Path, name: str) -> None:
    """What Ray writes is what `write` writes, and what Ray reads of it is what `open` reads."""
    format = {".tfrecord": "example", ".jsonl": "json"}.get(name[1:], name[2:])
    made = pa.table(TYPES if format == "example" else {**TYPES, **MORE})
    made = made.drop_columns(["bytes", "word"]) if format == "json" else made
    cst.write(made, tmp_path / name)
    expected = by_id(cst.open(tmp_path / name, flat=True))
    assert expected.num_rows == 20
    sink = cst.ray.Sink(tmp_path / "out", format)
    ray_data.from_arrow([made.slice(0, 7), made.slice(7)]).write_datasink(sink)
    assert sorted(os.listdir(tmp_path / "out")) == sorted(sink.files)
    files = [str(tmp_path / "out" / file) for file in sink.files]
    assert by_id(cst.open(files, flat=True)) == expected
    assert by_id(pa.concat_tables(_arrow(cst.ray.read(files, flat=True)))) == expected


def _arrow(dataset: Any) -> list[pa.Table]:
    import ray

    return ray.get(dataset.to_arrow_refs())


def test_tfrecords(ray_data: Any, ids: str, tmp_path: pathlib.Path) -> None:
    sink = cst.ray.TFRecordSink(tmp_path / "out", compression="gzip")
    tasks(ids).write_datasink(sink)
    assert len(sink.files) == 4 and all(name.endswith(".tfrecord.gz") for name in sink.files)
    found = by_id(cst.open(str(tmp_path / "out" / "*.tfrecord.gz"), flat=True))
    assert found == by_id(cst.open(ids, flat=True))
    raw = cst.ray.read(ids, "raw")
    raw.write_datasink(cst.ray.TFRecordSink(tmp_path / "raw", "raw"))
    assert by_id(cst.open(str(tmp_path / "raw" / "*"), flat=True)) == found


def test_many_rows_a_file(ray_data: Any, ids: str, tmp_path: pathlib.Path) -> None:
    small = tasks(ids).random_shuffle(seed=1).repartition(20)
    sink = cst.ray.Sink(tmp_path, "parquet", min_rows_per_file=200)
    small.write_datasink(sink)
    assert 1 <= len(sink.files) <= 2
    assert by_id(cst.open(str(tmp_path / "*.parquet")))["id"].to_pylist() == list(range(400))


def test_tensors_of_numpy(ray_data: Any, tmp_path: pathlib.Path) -> None:
    """Arrays that user code has made are lists in files."""
    import numpy as np

    def squares(batch: dict[str, Any]) -> dict[str, Any]:
        return {"id": batch["id"], "pair": np.stack([batch["id"], batch["id"] ** 2], axis=1)}

    dataset = ray_data.range(10).map_batches(squares)
    dataset.write_datasink(cst.ray.TFRecordSink(tmp_path))
    found = by_id(cst.open(str(tmp_path / "*.tfrecord"), flat=True))
    assert found["pair"].to_pylist() == [[i, i * i] for i in range(10)]


def test_a_write_that_fails_leaves_nothing(ray_data: Any, ids: str, tmp_path: pathlib.Path) -> None:
    def breaks(batch: pa.Table) -> pa.Table:
        if 250 in batch["id"].to_pylist():
            raise ValueError("broken")
        return batch

    (tmp_path / "mine.txt").write_text("stays")
    sink = cst.ray.TFRecordSink(tmp_path)
    with pytest.raises(Exception, match="broken"):
        tasks(ids).map_batches(breaks, batch_format="pyarrow").write_datasink(sink)
    assert os.listdir(tmp_path) == ["mine.txt"]
    tasks(ids).write_datasink(sink)  # the same sink, another time
    assert len(os.listdir(tmp_path)) == 5


def dying_once(mark: pathlib.Path) -> Any:
    """A function of batches that kills its worker once, in the middle of the third file."""

    def dies(batch: pa.Table) -> pa.Table:
        if 250 in batch["id"].to_pylist() and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), 9)
        return batch

    return dies


def test_a_reader_that_dies_loses_and_doubles_nothing(
    ray_data: Any, ids: str, tmp_path: pathlib.Path
) -> None:
    dies = dying_once(tmp_path / "died")
    dataset = tasks(ids, batch_size=10).map_batches(dies, batch_format="pyarrow", batch_size=20)
    rows = [int(i) for batch in dataset.iter_batches(batch_size=20) for i in batch["id"]]
    assert (tmp_path / "died").exists()
    assert sorted(rows) == list(range(400))


def test_a_writer_that_dies_loses_and_doubles_nothing(
    ray_data: Any, ids: str, tmp_path: pathlib.Path
) -> None:
    out = tmp_path / "out"
    dies = dying_once(tmp_path / "died")
    dataset = tasks(ids, batch_size=10).map_batches(dies, batch_format="pyarrow", batch_size=20)
    dataset.write_datasink(cst.ray.TFRecordSink(out))
    assert (tmp_path / "died").exists()
    found = by_id(cst.open(str(out / "*.tfrecord"), flat=True))
    assert found == by_id(cst.open(ids, flat=True))
    assert not [name for name in os.listdir(out) if name.startswith(".")]


def test_modes(ray_data: Any, ids: str, tmp_path: pathlib.Path) -> None:
    for mode, rows in (("error", 400), ("append", 800), ("overwrite", 400)):
        tasks(ids).write_datasink(cst.ray.TFRecordSink(tmp_path, mode=mode))
        assert cst.open(str(tmp_path / "*.tfrecord")).num_rows == rows
    with pytest.raises(Exception, match="has files"):
        tasks(ids).write_datasink(cst.ray.TFRecordSink(tmp_path, mode="error"))
    assert cst.open(str(tmp_path / "*.tfrecord")).num_rows == 400


def test_what_cannot_be_written(ray_data: Any, tmp_path: pathlib.Path) -> None:
    dataset = ray_data.from_arrow(pa.table({"s": [{"a": 1}]}))
    with pytest.raises(Exception, match=r"UnsupportedError|SchemaError"):
        dataset.write_datasink(cst.ray.TFRecordSink(tmp_path))
    assert os.listdir(tmp_path) == []
    with pytest.raises(cst.errors.ArgumentError, match=r"unknown option 'compresion'"):
        cst.ray.TFRecordSink(tmp_path, compresion="gzip")
