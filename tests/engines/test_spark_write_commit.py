"""What is left of an output when tasks, commits and drivers end where they should not.

The writers are called here as Spark calls them, each call by a pickle of its own, without a JVM.
"""

from __future__ import annotations

import itertools
import os
import pathlib
import pickle
import shutil
from typing import Any

import columnstone as cst
import pyarrow as pa
import pytest
import servers
from columnstone._engines import place
from columnstone._spark import writer as module
from columnstone._spark.write_options import Output
from columnstone._spark.writer import BatchWriter, StreamWriter, Written
from pyspark.sql.types import LongType, StructField, StructType

SCHEMA = StructType([StructField("id", LongType())])


class Killed(BaseException):
    """Nothing catches it, as nothing does what has to be done after a kill."""


class Task:
    """The context that a task has."""

    def __init__(self, task: int, query: str | None = None, batch: int | None = None) -> None:
        self._task = task
        self._properties = {"sql.streaming.queryId": query, "streaming.sql.batchId": batch}

    def get(self) -> Task:
        return self

    def partitionId(self) -> int:
        return self._task

    def getLocalProperty(self, name: str) -> str | None:
        value = self._properties[name]
        return None if value is None else str(value)


def batches(*ids: int) -> Any:
    for i in ids:
        if i < 0:
            raise ValueError("the task fails")
        yield pa.record_batch({"id": pa.array([i], pa.int64())})


def writer_of(out: pathlib.Path, overwrite: bool = False, **options: str) -> BatchWriter:
    return BatchWriter({"path": str(out), **options}, SCHEMA, overwrite)


def attempt(monkeypatch: pytest.MonkeyPatch, writer: Any, task: Task, *ids: int) -> Written:
    monkeypatch.setattr(module, "TaskContext", task)
    written = pickle.loads(pickle.dumps(writer)).write(batches(*ids))
    assert isinstance(written, Written)
    return pickle.loads(pickle.dumps(written))  # type: ignore[no-any-return]


def visible(out: pathlib.Path) -> list[str]:
    """What readers take for data."""
    return [
        name
        for path in sorted(out.rglob("*"))
        if path.is_file()
        and not any(map(place.is_hidden, (name := str(path.relative_to(out))).split("/")))
    ]


def ids(out: pathlib.Path) -> list[int]:
    """The rows of all visible files, each of which is whole."""
    found: list[int] = []
    for name in visible(out):
        for batch in cst.open(out / name):
            found += [row[0] for row in batch.to_pydict()["id"]]
    return sorted(found)


def test_one_attempt_of_a_task_counts(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    writer = writer_of(out)
    attempt(monkeypatch, writer, Task(0), 1, 2)  # a speculative one, which was too late
    with pytest.raises(ValueError, match="the task fails"):
        attempt(monkeypatch, writer, Task(1), 3, -1)
    messages = [
        attempt(monkeypatch, writer, Task(0), 1, 2),
        attempt(monkeypatch, writer, Task(1), 3),
    ]
    assert visible(out) == []  # a driver that dies now leaves no data
    writer.commit(messages)
    assert ids(out) == [1, 2, 3]
    assert len(os.listdir(out)) == 3
    assert (out / "_SUCCESS").exists()
    writer.abort(messages)  # of a driver that was told nothing of the commit
    assert ids(out) == [1, 2, 3]
    with pytest.raises(cst.errors.FileError, match="the job has already ended"):
        attempt(monkeypatch, writer, Task(1), 3)
    assert len(os.listdir(out)) == 3


def test_where_outputs_lie(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for path, expected in (
        ("out/", f"{tmp_path}/out"),
        ("file:/a%20b/c", "/a b/c"),
        ("file:///a/b/", "/a/b"),
        ("s3://bucket/x/", "s3://bucket/x"),
    ):
        assert Output.of_options({"path": path}).path == expected
    with pytest.raises(cst.errors.ArgumentError, match="neither a path nor a URL"):
        Output.of_options({"path": "hdfs:/x"})


def test_abort(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "new" / "out"
    writer = writer_of(out)
    message = attempt(monkeypatch, writer, Task(0), 1)
    writer.abort([message, None])
    assert not out.exists()
    writer.abort([message, None])
    out.mkdir()
    (out / "mine").write_bytes(b"")
    writer = writer_of(out)
    attempt(monkeypatch, writer, Task(0), 1)
    writer.abort([None, None])
    assert os.listdir(out) == ["mine"]


def breaking(monkeypatch: pytest.MonkeyPatch, after: int, error: BaseException) -> None:
    """Lets some changes of local folders happen, and then none."""
    left = itertools.count(after, -1)
    for name in ("make", "write", "remove", "remove_all"):
        real = getattr(place.LocalPlace, name)

        def broken(self: Any, *given: Any, real: Any = real) -> None:
            if next(left) <= 0:
                raise error
            real(self, *given)

        monkeypatch.setattr(place.LocalPlace, name, broken)
    replace = os.replace

    def broken_replace(old: str, new: str) -> None:
        if next(left) <= 0:
            raise error
        replace(old, new)

    monkeypatch.setattr(place.os, "replace", broken_replace)


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_driver_killed_anywhere_in_a_commit(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, overwrite: bool
) -> None:
    was_done = False
    for after in range(30):
        out = tmp_path / str(after)
        writer = writer_of(out)
        writer.commit([attempt(monkeypatch, writer, Task(0), 1, 2)])
        writer = writer_of(out, overwrite)
        messages = [attempt(monkeypatch, writer, Task(i), 3 + i) for i in range(3)]
        with monkeypatch.context() as patched:
            breaking(patched, after, Killed())
            try:
                writer.commit(messages)
                was_done = True
            except Killed:
                pass
        found = ids(out)
        assert found == sorted(set(found))
        if overwrite:  # nothing is lost: all of the old ones, or of the new ones
            assert {1, 2} <= set(found) or {3, 4, 5} <= set(found)
        else:
            assert {1, 2} <= set(found)
        if (out / "_SUCCESS").exists():
            assert found in ([1, 2], [3, 4, 5] if overwrite else [1, 2, 3, 4, 5])
        if was_done:
            break
    assert after >= 6
    assert was_done


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_commit_that_fails_is_taken_back(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, overwrite: bool
) -> None:
    for after in range(30):
        out = tmp_path / str(after)
        writer = writer_of(out)
        writer.commit([attempt(monkeypatch, writer, Task(0), 1, 2)])
        writer = writer_of(out, overwrite)
        messages = [attempt(monkeypatch, writer, Task(i), 3 + i) for i in range(3)]
        try:
            with monkeypatch.context() as patched:
                breaking(patched, after, OSError("the disk is gone"))
                writer.commit(messages)
            break
        except OSError:
            writer.abort(messages)
        # The old rows, or the new ones beside those of the old that could not be removed.
        found = set(ids(out))
        assert found in ({1, 2}, {1, 2, 3, 4, 5}, {3, 4, 5})
        assert not [name for name in os.listdir(out) if name.startswith("_temporary")]
    assert after >= 6
    assert ids(out) == ([3, 4, 5] if overwrite else [1, 2, 3, 4, 5])


def test_partitions_of_an_aborted_commit(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = StructType([*SCHEMA.fields, StructField("_k", LongType())])
    writer = BatchWriter({"path": str(tmp_path / "out"), "partitionby": "_k"}, schema, False)
    monkeypatch.setattr(module, "TaskContext", Task(0))
    columns = {"id": pa.array([1, 2]), "_k": pa.array([7, None], pa.int64())}
    message = writer.write(iter([pa.record_batch(columns)]))
    place.LocalPlace(str(tmp_path / "out")).move(message.files)
    assert [os.path.dirname(name) for name in visible(tmp_path / "out")] == [
        "_k=7",
        "_k=__HIVE_DEFAULT_PARTITION__",
    ]
    writer.abort([message])
    assert not (tmp_path / "out").exists()


def test_a_store_of_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a move is a copy."""
    fsspec = pytest.importorskip("fsspec")
    pytest.importorskip("s3fs")
    pytest.importorskip("moto")
    with servers.s3_server() as (options, _):
        monkeypatch.setitem(fsspec.config.conf, "s3", options)
        system = fsspec.filesystem("s3")
        schema = StructType([*SCHEMA.fields, StructField("k", LongType())])
        given = {"path": "s3://bucket/deep/out/", "partitionby": "k", "compression": "gzip"}

        def job(overwrite: bool, *tasks: tuple[int, ...]) -> tuple[BatchWriter, list[Written]]:
            writer = BatchWriter(given, schema, overwrite)
            messages = []
            for i, rows in enumerate(tasks):
                monkeypatch.setattr(module, "TaskContext", Task(i))
                columns = {"id": pa.array(rows), "k": pa.array([row % 2 for row in rows])}
                there = pickle.loads(pickle.dumps(writer))
                messages.append(there.write(iter([pa.record_batch(columns)])))
            return writer, messages

        def found() -> list[int]:
            system.invalidate_cache()
            names = system.glob("bucket/deep/out/k=*/part-*.tfrecord.gz")
            files = [cst.open(f"s3://{name}") for name in names]
            return sorted(row[0] for f in files for b in f for row in b.to_pydict()["id"])

        for overwrite, rows, expected in (
            (False, (1, 2, 3), [1, 2, 3]),
            (False, (4,), [1, 2, 3, 4]),
            (True, (7, 8), [7, 8]),
        ):
            writer, messages = job(overwrite, rows, (0,))
            writer.commit(messages)
            expected = sorted([*expected, *[0] * (2 if expected[-1] == 4 else 1)])
            assert found() == expected
        writer, messages = job(True, (5,))
        writer.abort(messages)
        assert found() == [0, 7, 8]
        left = [name for name in system.find("bucket/deep") if "/part-" not in name]
        assert left == ["bucket/deep/out/_SUCCESS"]


def stream_of(out: pathlib.Path, overwrite: bool = False) -> StreamWriter:
    options = {"path": str(out), "checkpointlocation": "checkpoint"}
    return StreamWriter(options, SCHEMA, overwrite)


def micro_batch(
    monkeypatch: pytest.MonkeyPatch, out: pathlib.Path, number: int, *tasks: tuple[int, ...]
) -> list[Written]:
    return [
        attempt(monkeypatch, stream_of(out), Task(i, "query", number), *rows)
        for i, rows in enumerate(tasks)
    ]


def test_micro_batches_again(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stream_of(tmp_path).commit(micro_batch(monkeypatch, tmp_path, 0, (1,), (2,), (3,)), 0)
    stream_of(tmp_path).commit(micro_batch(monkeypatch, tmp_path, 1, (4,)), 1)
    names = visible(tmp_path)
    assert names[0] == "part-00000-query-0000000000-c000.tfrecord"
    # Both again, in other tasks, as after a checkpoint was put back.
    stream_of(tmp_path).commit(micro_batch(monkeypatch, tmp_path, 0, (), (1, 2, 3)), 0)
    stream_of(tmp_path).commit(micro_batch(monkeypatch, tmp_path, 1, (4,)), 1)
    assert ids(tmp_path) == [1, 2, 3, 4]
    assert len(visible(tmp_path)) == 2
    # Another query begins with its own number 0.
    other = attempt(monkeypatch, stream_of(tmp_path), Task(0, "other", 0), 5)
    stream_of(tmp_path).commit([other], 0)
    assert ids(tmp_path) == [1, 2, 3, 4, 5]
    stream_of(tmp_path).commit([], 1)
    stream_of(tmp_path, True).commit(micro_batch(monkeypatch, tmp_path, 2, (8,)), 2)  # complete
    assert ids(tmp_path) == [8]


def test_a_stream_killed_anywhere_in_a_commit(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    was_done = False
    for after in range(30):
        out = tmp_path / str(after)
        stream_of(out).commit(micro_batch(monkeypatch, out, 0, (0,)), 0)
        messages = micro_batch(monkeypatch, out, 1, (1,), (2,), (3,))
        with monkeypatch.context() as patched:
            breaking(patched, after, Killed())
            try:
                stream_of(out).commit(messages, 1)
                was_done = True
            except Killed:
                pass
        found = ids(out)
        assert found == sorted(set(found))
        assert 0 in found
        # The query begins again with the micro-batch that Spark does not know as done.
        stream_of(out).commit(micro_batch(monkeypatch, out, 1, (1, 2), (3,)), 1)
        assert ids(out) == [0, 1, 2, 3]
        assert len(visible(out)) == 3
        assert not list(out.glob("_temporary*"))
        if was_done:
            break
        shutil.rmtree(out)
    assert after >= 4
    assert was_done


def test_a_stream_aborted(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    message = attempt(monkeypatch, stream_of(tmp_path), Task(0, "query", 0), 1)
    stream_of(tmp_path).abort([message, None], 0)
    assert os.listdir(tmp_path) == []
    with pytest.raises(cst.errors.StateError, match="no query id or micro-batch number"):
        attempt(monkeypatch, stream_of(tmp_path), Task(0), 1)
