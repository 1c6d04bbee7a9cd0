"""What engines send to their workers: readings, which have the driver's columns everywhere."""

from __future__ import annotations

import pathlib
import pickle
from typing import Any

import columnstone as cst
import pyarrow as pa
import pytest
from columnstone._engines.reading import Reading, disk_bytes, growth, read_by, splits_of, tasks_of

ROWS = [{"id": [i], "name": [f"n{i}".encode()], "more": [i] * (i % 3)} for i in range(100)]


def written(
    folder: pathlib.Path, name: str, rows: Any = ROWS, parts: int = 2, **options: Any
) -> str:
    """Rows in files of one kind; the glob of their names."""
    size = (len(rows) + parts - 1) // parts
    for i in range(parts):
        stem, dot, ending = name.partition(".")
        cst.write(rows[i * size : (i + 1) * size], folder / f"{stem}-{i}{dot}{ending}")
    stem, dot, ending = name.partition(".")
    return str(folder / f"{stem}-*{dot}{ending}")


def far(reading: Reading) -> Reading:
    """The reading as it comes to a worker."""
    data = pickle.dumps(reading)
    assert len(data) < 10_000
    return pickle.loads(data)


def table(reading: Reading, splits: list[cst.source.Split]) -> pa.Table:
    there = far(reading)
    batches = [b for task in tasks_of(splits) for b in there.batches(task)]
    return pa.Table.from_batches(batches, there.schema)


@pytest.mark.parametrize("name", ["a.tfrecord", "a.tfrecord.gz", "a.arrow", "a.parquet", "a.jsonl"])
@pytest.mark.parametrize("options", [{}, {"flat": True}, {"columns": ["more", "id"]}])
def test_workers_see_what_the_driver_sees(
    tmp_path: pathlib.Path, name: str, options: dict[str, Any]
) -> None:
    paths = written(tmp_path, name)
    expected = pa.table(cst.open(paths, **options))
    reading = read_by(paths, options)
    assert reading.schema == expected.schema
    assert table(reading, splits_of(paths, options)) == expected


def test_csv_has_the_types_of_all_files(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    (tmp_path / "b.csv").write_text("x,y\n1.5,z\n")
    paths = str(tmp_path / "*.csv")
    reading = read_by(paths, {})
    assert table(reading, splits_of(paths, {})).to_pydict() == {"x": [1.0, 1.5], "y": ["2", "z"]}


def test_inference_is_of_all_files(tmp_path: pathlib.Path) -> None:
    """Each file alone would have other columns."""
    cst.write([{"a": [1]}], tmp_path / "0.tfrecord")
    cst.write([{"b": [2.5]}], tmp_path / "1.tfrecord")
    paths = str(tmp_path / "*.tfrecord")
    reading = read_by(paths, {"flat": True})
    assert table(reading, splits_of(paths, {})).to_pydict() == {"a": [1, None], "b": [None, 2.5]}


def test_files_of_other_columns_are_refused(tmp_path: pathlib.Path) -> None:
    cst.write({"a": [1]}, tmp_path / "0.parquet")
    cst.write({"a": ["x"]}, tmp_path / "1.parquet")
    paths = [str(tmp_path / "0.parquet"), str(tmp_path / "1.parquet")]
    reading = read_by(paths[:1], {})
    with pytest.raises(cst.errors.SchemaError, match=r"1\.parquet: the column 'a'"):
        table(reading, splits_of(paths, {}, target_bytes=1 << 20))


def test_a_query_is_bound_once(tmp_path: pathlib.Path) -> None:
    paths = written(tmp_path, "a.tfrecord")
    (tmp_path / "q.cstq").write_text(
        "from table\noutput sum = dense(sum(more))\noutput id = dense(first(id))\n"
    )
    options = {"view": str(tmp_path / "q.cstq"), "params": {}}
    reading = read_by(paths, options)
    assert "params" not in reading.options
    splits = splits_of(paths, {})
    assert table(reading, splits) == pa.table(cst.open(paths, **options))
    assert table(reading.select(["id"]), splits) == pa.table(
        cst.open(paths, **options, columns=["id"])
    )


def test_some_columns(tmp_path: pathlib.Path) -> None:
    paths = written(tmp_path, "a.tfrecord")
    splits = splits_of(paths, {})
    whole = pa.table(cst.open(paths, raw_column="raw"))
    reading = read_by(paths, {"raw_column": "raw"})
    for columns in (["name"], ["raw", "id"], ["raw"], ["name", "raw", "id"]):
        assert table(reading.select(columns), splits) == whole.select(columns)
    nothing = reading.select([])
    assert sum(b.num_rows for b in far(nothing).batches(splits)) == 100
    with pytest.raises(KeyError):
        reading.select(["nothere"])


def test_what_is_dropped_is_logged(
    tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "a.tfrecord"
    cst.write(ROWS[:3], path)
    path.write_bytes(path.read_bytes()[:-1])
    reading = read_by(path, {"on_error": "skip"})
    assert table(reading, splits_of(path, {})).num_rows == 2
    [message] = caplog.messages
    assert message.startswith(f"1 records dropped; the first: {path}: record 2")


def test_unknown_options() -> None:
    with pytest.raises(cst.errors.ArgumentError, match=r"unknown option 'column'.*columns"):
        read_by("a.tfrecord", {"column": ["a"]})


def test_sizes(tmp_path: pathlib.Path) -> None:
    paths = written(tmp_path, "a.tfrecord.gz")
    splits = [
        cst.source.Split(str(file), 0, file.stat().st_size) for file in sorted(tmp_path.glob("a-*"))
    ]
    reading = read_by(paths, {})
    assert disk_bytes(splits) == sum(file.stat().st_size for file in tmp_path.glob("a-*"))
    assert disk_bytes([cst.source.Split("a", 0, 2**63 - 1)]) is None
    decoded = sum(batch.nbytes for batch in reading.batches(splits[0]))
    assert growth(reading, splits[0]) == pytest.approx(decoded / splits[0].end)


def test_tasks() -> None:
    splits = [
        cst.source.Split("a", 0, 5, task=0),
        cst.source.Split("b", 0, 5, task=0),
        cst.source.Split("c", 0, 5, task=1),
    ]
    assert tasks_of(splits) == [tuple(splits[:2]), (splits[2],)]


# ---- numbers of records ----

NUMBERED = "from table\noutput n = dense(record_index())\noutput id = dense({})\n"


def check_numbers(reading: Reading, splits: list[cst.source.Split]) -> int:
    """Every record has its number in its file, which is its id; returns how many there are."""
    found = table(reading, splits)
    assert found["n"].to_pylist() == found["id"].to_pylist()
    return found.num_rows


def test_record_numbers_by_an_index_or_without_division(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.tfrecord"
    rows = [{"id": [i], "name": [b"x" * (i % 40)]} for i in range(3000)]
    cst.write(rows, path)
    (tmp_path / "q.cstq").write_text(NUMBERED.format("first(id)"))
    options = {"view": str(tmp_path / "q.cstq")}
    reading = read_by(path, options)
    assert reading.is_numbered
    assert not reading.select(["id"]).is_numbered
    target = 20_000
    [whole] = splits_of(path, options, target, reading.is_numbered)
    assert (whole.begin, whole.end) == (0, path.stat().st_size)
    assert check_numbers(reading, [whole]) == 3000
    with pytest.raises(cst.errors.UnsupportedError, match="begins in the middle of a file"):
        table(reading, splits_of(path, options, target))
    cst.source.Index.build(path)
    splits = splits_of(path, options, target, reading.is_numbered)
    assert len(splits) > 3 and all(split.exact for split in splits)
    assert check_numbers(reading, splits) == 3000
    data = bytearray(path.read_bytes())
    data[splits[2].begin + 14] ^= 1
    path.write_bytes(data)
    with pytest.raises(cst.errors.CorruptError) as caught:
        list(reading.batches([splits[2]]))
    assert caught.value.record == splits[2].record > 0


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet", "arrow", "tfrecord.gz"])
def test_record_numbers_of_several_files_in_a_task(tmp_path: pathlib.Path, ending: str) -> None:
    for i in range(3):
        cst.write([{"id": j} for j in range(4)], tmp_path / f"{i}.{ending}")
    paths = str(tmp_path / f"*.{ending}")
    id = "first(id)" if ending.startswith("tfrecord") else "id"
    (tmp_path / "q.cstq").write_text(NUMBERED.format(id))
    options = {"view": str(tmp_path / "q.cstq")}
    reading = read_by(paths, options)
    splits = splits_of(paths, options, None, reading.is_numbered)
    assert len(tasks_of(splits)) == 1
    assert check_numbers(reading, splits) == 12
    if ending in ("jsonl", "csv"):
        with pytest.raises(pa.ArrowInvalid, match=r"several files.*one by one"):
            pa.table(cst.open(paths, **options))


def test_record_numbers_of_row_groups(tmp_path: pathlib.Path) -> None:
    """A split that begins with a later one would count from 0."""
    pq = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"id": range(1000)}), path, row_group_size=100)
    (tmp_path / "q.cstq").write_text(NUMBERED.format("id"))
    options = {"view": str(tmp_path / "q.cstq")}
    reading = read_by(path, options)
    parts = splits_of(path, options, 2000)
    assert len(parts) > 1
    with pytest.raises(cst.errors.UnsupportedError, match="begins in the middle of a file"):
        reading.open(parts[1])
    splits = splits_of(path, options, 2000, reading.is_numbered)
    assert check_numbers(reading, splits) == 1000
