"""What callers' files and streams raise leads, by its traceback, to the frames and to all that they
hold, the source or writer that failed included: the collector has to be able to free it."""

import gc
import io
import weakref
from collections.abc import Callable
from typing import Any

import columnstone as cst
import pytest

JSON = b'{"a": 1}\n' * 4000


class Failing(io.RawIOBase):
    """Gives some bytes, or takes some; then raises."""

    def __init__(self, good: int = 0) -> None:
        self.good = good

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if self.good <= 0:
            raise OSError("pulled out")
        self.good -= 1
        return JSON[:size]

    def write(self, data: Any) -> int:
        if self.good <= 0:
            raise OSError("full")
        self.good -= 1
        return len(data)


class FailingStream:
    """An Arrow stream that raises at its second batch, in Python, and knows what."""

    def __init__(self) -> None:
        self.last_error: BaseException | None = None

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        import pyarrow as pa

        def batches() -> Any:
            yield pa.record_batch({"a": [1, 2]})
            mine = self
            try:
                raise OSError("pulled out")
            except OSError as error:
                mine.last_error = error
                raise

        schema = pa.schema({"a": pa.int64()})
        return pa.RecordBatchReader.from_batches(schema, batches()).__arrow_c_stream__()


BATCH = cst.decoder("json").decode(b'{"a": 1}')


def write_all(file: Failing) -> None:
    cst.write([BATCH] * 2, file, "json")


def write_by_hand(file: Failing) -> None:
    writer = cst.Writer(file, "json")
    with writer:
        writer.write(BATCH)


def write_records(file: Failing) -> None:
    writer = cst.codec.TFRecordWriter(file)
    writer.write(b"x" * 100_000)
    writer.close()


def give_up(file: Failing) -> None:
    writer = cst.codec.TFRecordWriter(file)
    try:
        writer.write(b"x" * 10_000_000)
    finally:
        writer.abort()


def read_all(file: Failing) -> None:
    source = cst.open(file, "json")
    list(source)


def read_first(file: Failing) -> None:
    source = cst.open(file, "json")
    next(iter(source))


def read_by_hand(file: Failing) -> None:
    source = cst.open(file, "json", batch_size=10)
    batches = iter(source)
    while True:
        next(batches)


def read_tensors(file: Failing) -> None:
    source = cst.open(file, "json", threads=2)
    for batch in source.tensors():
        assert batch


def ask(file: Failing) -> None:
    source = cst.open(file, "json")
    assert source.num_rows


def read_twice(file: Failing) -> None:
    source = cst.open(file, "json")
    try:
        list(source)
    except OSError as error:
        assert source.last_error is error
        raise


def count_files(file: Failing) -> None:
    source = cst.open(file, "json")
    source.count()


WRITERS = [write_all, write_by_hand, write_records, give_up]
READERS = [read_all, read_first, read_by_hand, read_tensors, ask, read_twice, count_files]


@pytest.mark.parametrize(
    ("fail", "good"),
    [(fail, 0) for fail in WRITERS + READERS] + [(fail, 1) for fail in READERS],
)
def test_a_file_that_raised_is_freed(fail: Callable[[Failing], None], good: int) -> None:
    def run() -> weakref.ref[Failing]:
        file = Failing(good)
        with pytest.raises(OSError, match=r"full|pulled out"):
            fail(file)
        return weakref.ref(file)

    held = run()
    gc.collect()
    assert held() is None


def read_stream(stream: FailingStream) -> None:
    source = cst.open(stream)
    batches = iter(source)
    while True:
        next(batches)


def read_part(stream: FailingStream) -> None:
    source = cst.open(stream)
    list(source.dataset(1))


def write_stream(stream: FailingStream) -> None:
    source = cst.open(stream)
    cst.write(source, io.BytesIO(), "json")


@pytest.mark.parametrize("fail", [read_stream, read_part, write_stream])
def test_a_stream_that_raised_is_freed(fail: Callable[[FailingStream], None]) -> None:
    pytest.importorskip("pyarrow")

    def run() -> weakref.ref[FailingStream]:
        stream = FailingStream()
        with pytest.raises(OSError, match="pulled out"):
            fail(stream)
        return weakref.ref(stream)

    held = run()
    gc.collect()
    assert held() is None


def test_the_function_for_dropped_records_is_freed_when_it_raised() -> None:
    class Mine(Exception):
        pass

    def run() -> weakref.ref[Any]:
        class Judge:
            def __call__(self, dropped: cst.source.Dropped) -> bool:
                mine = self
                raise Mine(mine)

        judge = Judge()
        source = cst.open(io.BytesIO(b"{}\n{]\n"), "json", on_error=judge)
        with pytest.raises(Mine):
            list(source)
        return weakref.ref(judge)

    held = run()
    gc.collect()
    assert held() is None


def test_an_exception_is_delivered_to_whoever_asks_again() -> None:
    """It moves from the file to the source, and the parts of a source still find it."""
    source = cst.open(Failing(1), "json")
    with pytest.raises(OSError, match="pulled out") as caught:
        list(source)
    assert source.last_error is caught.value
    assert source.last_error is caught.value
