"""spark.readStream: a folder that grows, each file once."""

from __future__ import annotations

import json
import os
import pathlib
import pickle
from collections.abc import Sequence
from typing import Any

import columnstone as cst
import pytest
import wide
from columnstone._spark.file_log import FileLog
from columnstone._spark.folders import Found
from columnstone._spark.reading import infer_table, parse_load
from columnstone._spark.stream import StreamReader
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxFiles
from pyspark.sql.types import LongType, StructField, StructType

ALL = ReadAllAvailable()


def put(folder: pathlib.Path, name: str, ids: Sequence[int], at: int) -> None:
    """A file as our writers make it: under another name first."""
    folder.mkdir(exist_ok=True)
    hidden = folder / f"_{name}"
    cst.write([{"id": [i]} for i in ids], hidden)
    os.utime(hidden, ns=(at, at))
    hidden.rename(folder / name)


def make(root: pathlib.Path, infer: bool = False, **options: str) -> StreamReader:
    load = parse_load({"path": str(root / "in"), "filelog": str(root / "log"), **options}, True)
    table = infer_table(load, load.find()) if infer else None
    return StreamReader(load, StructType([StructField("id", LongType())]), table)


def rows(reader: StreamReader, start: dict[str, int], end: dict[str, int]) -> list[int]:
    """What workers get, and give."""
    tasks = pickle.loads(pickle.dumps(list(reader.partitions(start, end))))
    there = pickle.loads(pickle.dumps(reader))
    return [i for task in tasks for b in there.read(task) for i in b.column("id").to_pylist()]


@pytest.mark.parametrize("infer", [False, True])
def test_each_file_once_whatever_its_time(tmp_path: pathlib.Path, infer: bool) -> None:
    put(tmp_path / "in", "b.tfrecord", [1, 2], 200)
    put(tmp_path / "in", "a.tfrecord", [3], 100)
    options = {"flat": "true"} if infer else {}
    reader = make(tmp_path, infer, **options)
    begin = reader.initialOffset()
    one = reader.latestOffset(begin, ALL)
    assert one == {"batch": 0}
    assert rows(reader, begin, one) == [3, 1, 2]
    assert reader.latestOffset(one, ALL) == one
    put(tmp_path / "in", "c.tfrecord", [4], 1)  # older than all that is read
    (tmp_path / "in" / "_half.tfrecord").write_bytes(b"x")
    two = reader.latestOffset(one, ALL)
    assert rows(reader, one, two) == [4]
    assert rows(reader, begin, two) == [3, 1, 2, 4]
    assert list(reader.partitions(two, two)) == []


@pytest.mark.parametrize("infers", [False, True])
def test_tasks_are_small(tmp_path: pathlib.Path, infers: bool) -> None:
    """The columns are in the reader, or found out again from the schema that Spark was given."""
    (tmp_path / "in").mkdir()
    paths, _ = wide.write(tmp_path / "in")
    given = {"path": paths, "filelog": str(tmp_path / "log"), "targetbytes": "50000"}
    load = parse_load(given, True)
    table = infer_table(load, load.find())
    reader = StreamReader(load, table.schema(), table if infers else None)
    begin = reader.initialOffset()
    tasks = list(reader.partitions(begin, reader.latestOffset(begin, ALL)))
    assert len(tasks) > 4
    assert max(len(pickle.dumps(task)) for task in tasks) < wide.MOST
    there = pickle.loads(
        pickle.dumps(StreamReader(load, table.schema(), table if infers else None))
    )
    assert sum(batch.num_rows for task in tasks for batch in there.read(task)) == 8


def test_a_restart_gives_the_same_batches(tmp_path: pathlib.Path) -> None:
    for i in range(5):
        put(tmp_path / "in", f"{i}.tfrecord", [i], i)
    reader = make(tmp_path, maxfilespertrigger="2")
    limit = reader.getDefaultReadLimit()
    assert limit == ReadMaxFiles(2)
    begin = reader.initialOffset()
    one = reader.latestOffset(begin, limit)
    two = reader.latestOffset(one, limit)  # Spark has not heard of it when it dies
    put(tmp_path / "in", "new.tfrecord", [9], 0)
    again = make(tmp_path, maxfilespertrigger="2")
    assert again.latestOffset(one, limit) == two
    assert rows(again, begin, one) == [0, 1]
    assert rows(again, one, two) == [2, 3]
    three = again.latestOffset(two, ALL)
    assert rows(again, two, three) == [9, 4]
    # A query without a checkpoint begins with the first batch of the log.
    assert make(tmp_path).latestOffset(begin, ALL) == one
    assert make(tmp_path).getDefaultReadLimit() == ALL


def test_available_now_has_an_end(tmp_path: pathlib.Path) -> None:
    put(tmp_path / "in", "a.tfrecord", [1], 1)
    reader = make(tmp_path)
    reader.prepareForTriggerAvailableNow()
    put(tmp_path / "in", "b.tfrecord", [2], 2)
    begin = reader.initialOffset()
    one = reader.latestOffset(begin, ALL)
    assert rows(reader, begin, one) == [1]
    assert reader.latestOffset(one, ALL) == one


def test_an_empty_folder_has_no_batch(tmp_path: pathlib.Path) -> None:
    reader = make(tmp_path)
    begin = reader.initialOffset()
    assert reader.latestOffset(begin, ALL) == begin
    (tmp_path / "in").mkdir()
    assert reader.latestOffset(begin, ALL) == begin


def test_files_that_change_are_refused(tmp_path: pathlib.Path) -> None:
    """One that grows was not complete; what comes later would be lost."""
    put(tmp_path / "in", "a.tfrecord", [1], 1)
    reader = make(tmp_path)
    begin = reader.initialOffset()
    one = reader.latestOffset(begin, ALL)
    file = tmp_path / "in" / "a.tfrecord"
    size = file.stat().st_size
    file.write_bytes(file.read_bytes() * 2)
    with pytest.raises(
        cst.errors.StateError, match=f"has changed .*: it had {size} bytes, and has {2 * size}"
    ):
        rows(reader, begin, one)
    file.unlink()
    with pytest.raises(cst.errors.NotFoundError, match=r"a\.tfrecord"):
        rows(reader, begin, one)


def test_the_log_is_kept_as_long_as_the_checkpoint(tmp_path: pathlib.Path) -> None:
    put(tmp_path / "in", "a.tfrecord", [1], 1)
    with pytest.raises(
        cst.errors.StateError, match=r"missing from the file log \(start with a new"
    ):
        make(tmp_path).latestOffset({"batch": 4}, ALL)
    (tmp_path / "log" / "000000000.jsonl").write_text("{}\n")
    with pytest.raises(
        cst.errors.CorruptError, match=r"000000000\.jsonl: not a batch of a file log"
    ):
        make(tmp_path).latestOffset({"batch": -1}, ALL)


def test_two_that_make_the_same_batch(tmp_path: pathlib.Path) -> None:
    first, second = FileLog(str(tmp_path)), FileLog(str(tmp_path))
    assert (first.last(), second.last()) == (-1, -1)
    second.last = lambda: -1  # type: ignore[method-assign]
    assert first.add([Found("a", (("k", None),), 3, 5)]) == 0
    assert second.add([Found("b")]) == 0
    assert first.read(0) == [Found("a", (("k", None),), 3, 5)]
    assert sorted(os.listdir(tmp_path)) == ["000000000.jsonl"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "a stream needs the option fileLog"),
        ({"filelog": "s3://b/log"}, "s3://b/log: a stream reads local or mounted folders"),
        (
            {"filelog": "log", "path": "s3://b/in"},
            "s3://b/in: a stream reads local or mounted folders",
        ),
    ],
)
def test_options_of_streams(options: dict[str, str], said: str) -> None:
    with pytest.raises(cst.errors.ArgumentError, match=said):
        StreamReader(parse_load({"path": "in", **options}, True), StructType(), None)


def run(spark: Any, root: pathlib.Path) -> list[int]:
    """The stream until it has read all that is there; the rows that have come in all."""
    frame = (
        spark.readStream.format("columnstone")
        .options(fileLog=str(root / "log"), maxFilesPerTrigger=2, flat=True)
        .load(str(root / "in"))
    )
    query = (
        frame.writeStream.format("json")
        .option("checkpointLocation", str(root / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(root / "out"))
    )
    assert query.awaitTermination(120), "the stream does not end"
    found = (root / "out").glob("*.json")
    return sorted(
        json.loads(line)["id"] for file in found for line in file.read_text().splitlines()
    )


def test_a_stream_restarted_from_its_checkpoint(spark: Any, tmp_path: pathlib.Path) -> None:
    for i in range(3):
        put(tmp_path / "in", f"{i}.tfrecord", [i], i)
    assert run(spark, tmp_path) == [0, 1, 2]
    put(tmp_path / "in", "late.tfrecord", [7], 0)
    assert run(spark, tmp_path) == [0, 1, 2, 7]
    # As if Spark had died after the offsets of the last batch were written, and before its commit.
    last = max((tmp_path / "checkpoint" / "commits").glob("[0-9]*"), key=lambda p: int(p.name))
    last.unlink()
    last.with_name(f".{last.name}.crc").unlink()
    assert run(spark, tmp_path) == [0, 1, 2, 7]
