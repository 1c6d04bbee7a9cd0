"""Damaged files: on_error, what is dropped, and what comes of it."""

from __future__ import annotations

import gc
import io
import pathlib
import pickle
import struct
import weakref
from typing import Any

import columnstone as cst
import pyarrow as pa
import pytest
from conftest import SCHEMA, MakeFile, record, records

COUNT = 60


def offsets_of(data: bytes) -> list[int]:
    """Where each record of a sound file begins."""
    found, at = [], 0
    while at < len(data):
        found.append(at)
        (size,) = struct.unpack_from("<Q", data, at)
        at += size + 16
    return found


@pytest.fixture
def damaged(make_file: MakeFile) -> pathlib.Path:
    """60 records: the data of 10, the length of 20 and the parsing of 30 are damaged."""
    content = records(COUNT)
    content[30] = b"\xff" * 40
    path = make_file("damaged.tfrecord", content)
    data = bytearray(path.read_bytes())
    starts = offsets_of(bytes(data))
    data[starts[10] + 14] ^= 1
    data[starts[20]] ^= 1
    path.write_bytes(data)
    return path


KINDS = [("data-crc", 10), ("length-crc", 20), ("record", 30)]


def ids(source: cst.Source) -> list[int]:
    return [row[0] for batch in source for row in batch.to_pydict()["id"]]


SOUND = [i for i in range(COUNT) if i not in (10, 20, 30)]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("batch_size", [1, 7, 1000])
def test_skip(damaged: pathlib.Path, batch_size: int, threads: int) -> None:
    source = cst.open(
        damaged, schema=SCHEMA, on_error="skip", batch_size=batch_size, threads=threads
    )
    assert source.dropped == []
    assert ids(source) == SOUND
    assert [(d.kind, d.record) for d in source.dropped] == KINDS
    starts = offsets_of(damaged.read_bytes())[:20]
    first, second, third = source.dropped
    assert (first.file, first.offset) == (str(damaged), starts[10])
    assert first.bytes == starts[11] - starts[10]
    assert isinstance(first.error, cst.errors.CorruptError)
    assert (first.error.file, first.error.record) == (str(damaged), 10)
    assert isinstance(second.error, cst.errors.CorruptError)
    assert isinstance(third.error, cst.errors.CorruptError)
    sizes = [b.num_rows for b in source]
    assert set(sizes[:-1]) <= {batch_size}


def test_raise_is_the_default(damaged: pathlib.Path) -> None:
    for options in ({}, {"on_error": "raise"}):
        source = cst.open(damaged, schema=SCHEMA, batch_size=15, **options)
        with pytest.raises(cst.errors.CorruptError) as error:
            list(source)
        assert error.value.record == 10
        assert source.dropped == iter(source).dropped == []


def test_each_pass_has_its_own_list(damaged: pathlib.Path) -> None:
    source = cst.open(damaged, schema=SCHEMA, on_error="skip", batch_size=5)
    first, second = iter(source), iter(source)
    list(first)
    assert len(first.dropped) == 3
    assert second.dropped == source.dropped == []
    for _ in range(4):
        next(second)
    assert [d.record for d in second.dropped] == [d.record for d in source.dropped] == [10, 20]
    tensors = source.tensors()
    assert source.dropped == []
    list(tensors)
    assert source.dropped == tensors.dropped
    assert len(source.dropped) == 3


def test_through_a_stream(damaged: pathlib.Path) -> None:
    source = cst.open(damaged, schema=SCHEMA, on_error="skip", threads=2)
    assert pa.table(source).num_rows == len(SOUND)
    assert [(d.kind, d.record) for d in source.dropped] == KINDS


def test_a_function(damaged: pathlib.Path) -> None:
    told: list[cst.source.Dropped] = []
    source = cst.open(damaged, schema=SCHEMA, on_error=told.append)
    assert ids(source) == SOUND
    assert told == source.dropped
    assert [(d.kind, d.record) for d in told] == KINDS
    assert pa.table(source).num_rows == len(SOUND)
    assert len(told) == 6


def test_a_function_that_stops(damaged: pathlib.Path) -> None:
    source = cst.open(damaged, schema=SCHEMA, on_error=lambda d: d.kind == "data-crc", batch_size=5)
    running = iter(source)
    rows = 0
    with pytest.raises(cst.Error) as error:
        for batch in running:
            rows += batch.num_rows
    assert (error.value.code, error.value.record) == ("CALLBACK", 20)
    assert rows == 15  # full batches in front of it
    assert len(running.dropped) == 2
    with pytest.raises(cst.Error):
        next(running)


@pytest.mark.parametrize("threads", [1, 3])
def test_a_function_that_raises(damaged: pathlib.Path, threads: int) -> None:
    class Mine(Exception):
        pass

    def fail(dropped: cst.source.Dropped) -> None:
        raise Mine(dropped.record)

    source = cst.open(damaged, schema=SCHEMA, on_error=fail, threads=threads)
    with pytest.raises(Mine, match="10"):
        list(source)
    with pytest.raises(pa.ArrowInvalid):
        pa.table(source)
    assert isinstance(source.last_error, Mine)


def test_a_function_that_reads(damaged: pathlib.Path) -> None:
    """Another pass within the function reports to its own list."""
    inner = cst.open(damaged, schema=SCHEMA, on_error="skip")
    counts: list[int] = []

    def look(dropped: cst.source.Dropped) -> None:
        assert ids(inner) == SOUND
        counts.append(len(inner.dropped))

    source = cst.open(damaged, schema=SCHEMA, on_error=look)
    assert ids(source) == SOUND
    assert (counts, len(source.dropped)) == ([3, 3, 3], 3)


@pytest.mark.parametrize("most", [1, 2, 3])
def test_max_errors(damaged: pathlib.Path, most: int) -> None:
    source = cst.open(damaged, schema=SCHEMA, on_error="skip", max_errors=most)
    if most == 3:
        assert ids(source) == SOUND
        return
    with pytest.raises(cst.errors.LimitError):
        ids(source)
    assert len(source.dropped) >= most


def test_without_a_schema(damaged: pathlib.Path) -> None:
    """Inference drops as the pass does, and reports nothing."""
    source = cst.open(damaged, on_error="skip")
    assert source.schema is not None
    assert source.dropped == []
    assert ids(source) == SOUND
    assert len(source.dropped) == 3


def test_truncated(make_file: MakeFile) -> None:
    path = make_file("cut.tfrecord", 20)
    path.write_bytes(path.read_bytes()[:-5])
    source = cst.open(path, schema=SCHEMA, on_error="skip")
    assert ids(source) == list(range(19))
    assert [(d.kind, d.record) for d in source.dropped] == [("truncated", 19)]


def test_raw_records(damaged: pathlib.Path) -> None:
    source = cst.open(damaged, "raw", on_error="skip")
    got = [r for b in source for r in b.to_pydict()["record"]]
    assert len(got) == COUNT - 2
    assert [d.kind for d in source.dropped] == ["data-crc", "length-crc"]


def test_a_column_of_raw_records(make_file: MakeFile) -> None:
    path = make_file("d", 10)
    source = cst.open(path, schema=SCHEMA, columns=["id"], raw_column="bytes", batch_size=4)
    table = pa.table(source).to_pydict()
    assert list(table) == ["id", "bytes"]
    assert table["bytes"] == [[r] for r in records(10)]
    assert pa.schema(source.arrow_schema).field("bytes").type == pa.large_list(pa.large_binary())
    assert pickle.loads(pickle.dumps(source)).column_names == ["id", "bytes"]


def test_lists_ask_for_no_length(damaged: pathlib.Path) -> None:
    source = cst.open(damaged, schema=SCHEMA, on_error="skip")
    assert sum(b.num_rows for b in list(source)) == len(SOUND)
    with pytest.raises(TypeError, match="num_rows"):
        len(source)


def count_up(dropped: cst.source.Dropped) -> None:
    """A function that pickles."""


def test_pickling(damaged: pathlib.Path) -> None:
    for on_error in ("skip", count_up):
        source = cst.open(damaged, schema=SCHEMA, on_error=on_error, max_errors=5)
        copy = pickle.loads(pickle.dumps(source))
        assert ids(copy) == SOUND
        assert len(copy.dropped) == 3
        again = pickle.loads(pickle.dumps(copy.dropped))
        assert [d[:5] for d in again] == [d[:5] for d in copy.dropped]


def test_wrong_arguments(damaged: pathlib.Path) -> None:
    for wrong in ("ignore", 1, None):
        with pytest.raises(cst.errors.ArgumentError):
            cst.open(damaged, on_error=wrong)  # type: ignore[arg-type]
    for count in (0, -1):
        with pytest.raises(cst.errors.ArgumentError):
            cst.open(damaged, on_error="skip", max_errors=count)


def test_a_cycle_through_the_function_is_collected(damaged: pathlib.Path) -> None:
    class Holder:
        source: cst.Source

        def told(self, dropped: cst.source.Dropped) -> None:
            self.last = dropped

    holder = Holder()
    holder.source = cst.open(damaged, schema=SCHEMA, on_error=holder.told)
    assert ids(holder.source) == SOUND
    seen = weakref.ref(holder)
    del holder
    gc.collect()
    assert seen() is None


def test_the_stream_outlives_the_source(damaged: pathlib.Path) -> None:
    told: list[cst.source.Dropped] = []
    source = cst.open(damaged, schema=SCHEMA, on_error=told.append, batch_size=5, threads=2)
    reader = pa.RecordBatchReader.from_stream(source)
    source.close()
    del source
    gc.collect()
    assert sum(b.num_rows for b in reader) == len(SOUND)
    assert len(told) == 3


def test_records_of_the_wrong_type(make_file: MakeFile) -> None:
    path = make_file("d", [record(0), b"", record(1)])
    schema = SCHEMA.replace("type: FLOAT", "type: INT")
    source = cst.open(path, schema=schema, on_error="skip")
    assert [b.num_rows for b in source] == [1]
    assert [(d.kind, d.record) for d in source.dropped] == [("record", 0), ("record", 2)]
    assert isinstance(source.dropped[0].error, cst.errors.SchemaError)
    assert source.dropped[0].error.path == "pair"


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_parts_of_a_damaged_file(damaged: pathlib.Path, n: int) -> None:
    """Each part reports its own; together they have every sound record once."""
    source = cst.open(damaged, schema=SCHEMA, on_error="skip")
    parts = [source.split(i, n) for i in range(n)]
    assert [i for part in parts for i in ids(part)] == SOUND
    assert sum(len(part.dropped) for part in parts) >= 3
    assert source.dropped == []


@pytest.mark.parametrize("on_error", ["skip", lambda dropped: None])
def test_a_damaged_row_that_is_asked_for_is_an_error(damaged: pathlib.Path, on_error: Any) -> None:
    data = bytearray(damaged.read_bytes())
    data[sum(len(record(i)) + 16 for i in range(20))] ^= 1  # the lengths are sound again
    damaged.write_bytes(data)
    source = cst.open(damaged, schema=SCHEMA, on_error=on_error)
    for row in (10, 30, 10):
        with pytest.raises(cst.errors.CorruptError) as caught:
            source[row]
        assert caught.value.record == row
    assert source[20].to_pydict()["id"] == [[20]]


class Failing(io.BytesIO):
    """Fails while told to."""

    failure: Exception | None = None

    def readinto(self, buffer: object) -> int:
        if self.failure is not None:
            raise self.failure
        return super().readinto(buffer)  # type: ignore[arg-type]


def test_what_failed_earlier_is_not_blamed(damaged: pathlib.Path) -> None:
    """A source whose callables fail in turn raises what failed last."""
    files = [Failing(damaged.read_bytes()) for _ in range(2)]
    answer: list[object] = [True]

    def on_error(dropped: cst.source.Dropped) -> bool:
        if isinstance(answer[0], Exception):
            raise answer[0]
        return bool(answer[0])

    source = cst.open(files, schema=SCHEMA, on_error=on_error)
    for file in (files[1], files[0], files[1]):
        file.failure = OSError(f"file {files.index(file)}")
        with pytest.raises(OSError, match=str(file.failure)):
            list(source)
        assert source.last_error is file.failure
        file.failure = None
    answer[0] = KeyError("callable")
    with pytest.raises(KeyError, match="callable"):
        list(source)
    answer[0] = False
    with pytest.raises(cst.Error, match="stopped"):
        list(source)
    assert str(source.last_error).count("stopped") == 1
    answer[0] = True
    assert ids(source) == SOUND * 2
