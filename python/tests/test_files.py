"""Python file objects as inputs: every kind, one pass or many, and what they may do wrong."""

from __future__ import annotations

import gc
import gzip
import io
import os
import pathlib
import pickle
import threading
import traceback
import weakref

import columnstone as cst
import pyarrow as pa
import pytest
from conftest import SCHEMA, MakeFile


class OnlyRead:
    """The least that a file object can be; gives at most 777 bytes at a time."""

    def __init__(self, data: bytes) -> None:
        self.rest = memoryview(data)
        self.threads: set[int] = set()

    def read(self, size: int) -> bytes:
        self.threads.add(threading.get_ident())
        out, self.rest = self.rest[: min(size, 777)], self.rest[min(size, 777) :]
        return bytes(out)


class OnlyReadinto(OnlyRead):
    read = None  # type: ignore[assignment]

    def readinto(self, buffer: memoryview) -> int:
        data = OnlyRead.read(self, len(buffer))
        buffer[: len(data)] = data
        return len(data)


def ids(source: cst.Source) -> list[int]:
    return [row[0] for batch in source for row in batch.to_pydict()["id"]]


@pytest.fixture
def data(make_file: MakeFile) -> bytes:
    return make_file("data", 2000).read_bytes()


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize(
    "make",
    [
        OnlyRead,
        OnlyReadinto,
        io.BytesIO,
        lambda d: io.BufferedReader(io.BytesIO(d)),
        lambda d: gzip.GzipFile(fileobj=io.BytesIO(gzip.compress(d))),
        lambda d: io.BytesIO(gzip.compress(d)),
        lambda d: pa.BufferReader(d),
    ],
)
def test_kinds(data: bytes, make, threads: int) -> None:
    source = cst.open(make(data), schema=SCHEMA, threads=threads)
    assert ids(source) == list(range(2000))


def test_real_files(file: pathlib.Path) -> None:
    for buffering in (0, -1):
        with open(file, "rb", buffering=buffering) as f:
            source = cst.open(f)
            assert ids(source) == ids(source) == list(range(100))
            assert source.files == [str(file)]


def test_a_list_of_file_objects(make_file: MakeFile) -> None:
    files = [make_file(f"f{i}", 5, 10 * i).read_bytes() for i in range(3)]
    source = cst.open([io.BytesIO(f) for f in files], batch_size=4)
    assert ids(source) == [*range(5), *range(10, 15), *range(20, 25)]


def test_from_where_the_file_stands(data: bytes) -> None:
    file = io.BytesIO(b"junk" + data)
    file.seek(4)
    source = cst.open(file)
    assert ids(source) == ids(source) == list(range(2000))


def test_several_passes_over_one_file_object(data: bytes) -> None:
    source = cst.open(io.BytesIO(data), schema=SCHEMA, batch_size=100, threads=2)
    first, second = iter(source), iter(source)
    for i in range(20):
        assert next(first).to_pydict()["id"][0] == [100 * i]
        assert next(second).to_pydict()["id"][0] == [100 * i]


def test_a_second_pass_over_a_stream(data: bytes) -> None:
    source = cst.open(OnlyRead(data), schema=SCHEMA)
    assert len(ids(source)) == 2000
    for again in (iter, lambda s: s.tensors(), lambda s: pa.table(s)):
        with pytest.raises(cst.errors.StateError):
            again(source)


def test_a_stream_without_a_schema(data: bytes) -> None:
    source = cst.open(OnlyRead(data))
    assert source.column_names == ["id", "pair", "steps", "tags"]
    assert len(ids(source)) == 2000


def test_names_in_errors(data: bytes) -> None:
    named = OnlyRead(data[:-1])
    named.name = "s3://bucket/key"  # type: ignore[attr-defined]
    with pytest.raises(cst.errors.CorruptError) as caught:
        list(cst.open(named, schema=SCHEMA))
    assert caught.value.file == "s3://bucket/key"
    with pytest.raises(cst.errors.CorruptError) as caught:
        list(cst.open(OnlyRead(data[:-1]), schema=SCHEMA))
    assert caught.value.file == "<OnlyRead>"


class Custom(Exception):
    pass


class Failing(OnlyRead):
    def read(self, size: int) -> bytes:
        if len(self.rest) < 50_000:
            raise Custom("the network is down")
        return super().read(size)


@pytest.mark.parametrize("threads", [1, 3])
def test_an_exception_comes_out_as_it_is(data: bytes, threads: int) -> None:
    source = cst.open(Failing(data), schema=SCHEMA, threads=threads)
    for _ in range(1):
        with pytest.raises(Custom, match="the network is down") as caught:
            list(source)
    lines = "".join(traceback.format_exception(caught.value))
    assert "in read" in lines
    assert source.last_error is caught.value


def test_an_exception_at_open_comes_out() -> None:
    with pytest.raises(Custom):
        list(cst.open(Failing(b"")))


def test_an_exception_through_arrow_is_text(data: bytes) -> None:
    source = cst.open(Failing(data), schema=SCHEMA)
    with pytest.raises(Exception, match="Custom: the network is down"):
        pa.table(source)
    assert isinstance(source.last_error, Custom)


@pytest.mark.parametrize(
    ("answer", "error"),
    [(None, BlockingIOError), ("text", TypeError), (5, TypeError), (bytes(10**7), OSError)],
)
def test_wrong_answers_of_read(answer: object, error: type[Exception]) -> None:
    class Wrong:
        def read(self, size: int) -> object:
            return answer

    with pytest.raises(error):
        list(cst.open(Wrong(), schema=SCHEMA))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("answer", "error"),
    [(None, BlockingIOError), ("text", TypeError), (-1, OSError), (10**9, OSError)],
)
def test_wrong_answers_of_readinto(answer: object, error: type[Exception]) -> None:
    class Wrong:
        def readinto(self, buffer: memoryview) -> object:
            return answer

    with pytest.raises(error):
        list(cst.open(Wrong(), schema=SCHEMA))  # type: ignore[arg-type]


def test_a_buffer_that_is_kept(data: bytes) -> None:
    kept: list[memoryview] = []

    class Keeper(OnlyReadinto):
        def readinto(self, buffer: memoryview) -> int:
            kept.append(buffer[:1])
            return super().readinto(buffer)

    source = cst.open(Keeper(data), schema=SCHEMA)
    assert len(ids(source)) == 2000
    del source
    gc.collect()
    assert all(len(bytes(view)) == 1 for view in kept)


def test_wrong_inputs(data: bytes, file: pathlib.Path) -> None:
    with pytest.raises(cst.errors.ArgumentError, match="text mode"):
        cst.open(io.StringIO("x"))  # type: ignore[arg-type]
    with pytest.raises(cst.errors.ArgumentError, match="mixes"):
        cst.open([io.BytesIO(data), file])  # type: ignore[list-item]
    with pytest.raises(TypeError, match=r"paths\[1\]"):
        cst.open([io.BytesIO(data), 3])  # type: ignore[list-item]
    closed = io.BytesIO(data)
    closed.close()
    with pytest.raises(ValueError, match="closed"):
        list(cst.open(closed))


def test_a_source_over_file_objects_does_not_pickle(data: bytes) -> None:
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(cst.open(io.BytesIO(data)))


def test_a_pipe(data: bytes) -> None:
    reading, writing = os.pipe()

    def feed() -> None:
        with open(writing, "wb") as f:
            f.write(data)

    thread = threading.Thread(target=feed)
    thread.start()
    with open(reading, "rb") as f:
        assert len(ids(cst.open(f, schema=SCHEMA, threads=2))) == 2000
    thread.join()


def test_reading_happens_in_other_threads_too(data: bytes) -> None:
    file = OnlyRead(data * 20)
    source = cst.open(file, schema=SCHEMA, threads=4)
    assert len(ids(source)) == 40_000
    assert file.threads


class Referring(io.BytesIO):
    """A file object that knows its source: a cycle."""

    source: object = None


@pytest.mark.parametrize("begun", [False, True])
def test_cycles_are_collected(data: bytes, begun: bool) -> None:
    file = Referring(data)
    gone = weakref.ref(file)
    file.source = cst.open(file, schema=SCHEMA, batch_size=10, threads=2)
    if begun:
        running = iter(file.source)  # type: ignore[call-overload]
        next(running)
        file.running = running  # type: ignore[attr-defined]
        del running
    del file
    gc.collect()
    assert gone() is None


def test_a_stream_keeps_a_cycle_alive(data: bytes) -> None:
    file = Referring(data)
    file.source = cst.open(file, schema=SCHEMA)
    reader = pa.RecordBatchReader.from_stream(file.source)
    gone = weakref.ref(file)
    del file
    gc.collect()
    assert gone() is not None
    assert reader.read_all().num_rows == 2000
    del reader
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("base", [io.RawIOBase, io.BufferedIOBase])
def test_an_heir_of_io_with_read_alone(file: pathlib.Path, base: type) -> None:
    data = io.BytesIO(file.read_bytes())

    class Heir(base):  # type: ignore[misc]
        def read(self, size: int = -1) -> bytes:
            return data.read(size)

    assert sum(batch.num_rows for batch in cst.open(Heir())) == 100


def test_a_stop_iteration_does_not_end_a_pass() -> None:
    class Ends(io.RawIOBase):
        def readable(self) -> bool:
            return True

        def readinto(self, buffer: object) -> int:
            raise StopIteration

    with pytest.raises(RuntimeError) as caught:
        list(cst.open(Ends(), schema=SCHEMA))
    assert isinstance(caught.value.__cause__, StopIteration)


def test_a_place_that_is_none() -> None:
    class Lost(io.BytesIO):
        def tell(self) -> int:
            return -5

    with pytest.raises(OSError, match="-5"):
        cst.open(Lost(b""))
