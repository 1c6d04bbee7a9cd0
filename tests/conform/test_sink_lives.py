"""How the lives of writers go, the same for every format: closed twice, used after an error, by two
threads, in a forked child, dropped, killed."""

from __future__ import annotations

import gc
import os
import pathlib
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator

import columnstone as cst
import pyarrow as pa
import pytest

ENDINGS = ("tfrecord", "csv", "jsonl", "arrow", "arrows", "parquet")
SCHEMA = pa.schema({"a": pa.large_list(pa.int64())})


def batch(first: int, rows: int = 10) -> pa.RecordBatch:
    return pa.record_batch({"a": [[first + i] for i in range(rows)]}, SCHEMA)


def flat(first: int, rows: int = 10) -> pa.RecordBatch:
    return pa.record_batch({"a": pa.array(range(first, first + rows))})


@pytest.fixture(params=ENDINGS)
def path(request: pytest.FixtureRequest, tmp_path: pathlib.Path) -> pathlib.Path:
    return tmp_path / f"a.{request.param}"


def rows_of(path: pathlib.Path, first: int) -> pa.RecordBatch:
    return batch(first) if path.suffix == ".tfrecord" else flat(first)


def numbers(path: pathlib.Path) -> list[int]:
    column = pa.table(cst.open(path))["a"].to_pylist()
    return [x[0] if isinstance(x, list) else x for x in column]


def files(path: pathlib.Path) -> list[str]:
    return sorted(os.listdir(path.parent))


@pytest.mark.parametrize("threads", [1, 2])
def test_closed_twice_and_used_afterwards(path: pathlib.Path, threads: int) -> None:
    writer = cst.Writer(path, threads=threads)
    writer.write(rows_of(path, 0))
    writer.close()
    writer.close()
    writer.abort()
    for use in (lambda: writer.write(rows_of(path, 0)), lambda: writer.begin(SCHEMA)):
        with pytest.raises(cst.StateError, match="the writer is closed"):
            use()
    assert numbers(path) == list(range(10))
    assert files(path) == [path.name]


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_in_with_leaves_nothing(path: pathlib.Path, threads: int) -> None:
    with pytest.raises(ZeroDivisionError), cst.Writer(path, threads=threads) as writer:
        writer.write(rows_of(path, 0))
        raise ZeroDivisionError
    assert writer.closed
    assert files(path) == []


def test_used_after_an_error(path: pathlib.Path) -> None:
    """Other columns are refused, or the writer is closed: what was taken is never half there."""
    writer = cst.Writer(path)
    writer.write(rows_of(path, 0))
    with pytest.raises(cst.Error):
        writer.write(pa.record_batch({"b": ["x"]}))
    try:
        writer.write(rows_of(path, 10))
        writer.close()
        expected = list(range(20))
    except cst.StateError:
        expected = None
    if expected is not None:
        assert numbers(path) == expected
    writer.abort()
    assert files(path) == ([path.name] if expected else [])


def test_a_stream_that_uses_its_writer(path: pathlib.Path) -> None:
    writer = cst.Writer(path)
    writer.write(rows_of(path, 0))

    def batches() -> Iterator[pa.RecordBatch]:
        writer.write(rows_of(path, 0))
        yield rows_of(path, 10)

    schema = rows_of(path, 0).schema
    with pytest.raises((cst.Error, pa.ArrowException, OSError)):
        writer.write(pa.RecordBatchReader.from_batches(schema, batches()))
    writer.abort()
    assert files(path) == []


@pytest.mark.parametrize("threads", [1, 2])
def test_two_threads(path: pathlib.Path, threads: int) -> None:
    """Every batch that write() accepted is in the file, whoever closes it."""
    writer = cst.Writer(path, threads=threads)
    writer.write(rows_of(path, 0))
    accepted = list(range(10))
    begun = threading.Barrier(2)

    def write() -> None:
        begun.wait()
        for i in range(10, 2000, 10):
            try:
                writer.write(rows_of(path, i))
            except cst.StateError:
                return
            accepted.extend(range(i, i + 10))

    thread = threading.Thread(target=write)
    thread.start()
    begun.wait()
    writer.close()
    thread.join()
    assert numbers(path) == accepted
    assert files(path) == [path.name]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("use", ["drop", "write", "abort", "close", "exit"])
def test_a_forked_child(path: pathlib.Path, threads: int, use: str) -> None:
    """The file is its parent's."""
    writer = cst.Writer(path, threads=threads)
    writer.write(rows_of(path, 0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        status = 1
        try:
            if use == "exit":
                import atexit

                atexit._run_exitfuncs()
            elif use == "drop":
                del writer
                gc.collect()
            elif use == "abort":
                writer.abort()
            else:
                with pytest.raises(cst.StateError):
                    writer.write(rows_of(path, 50)) if use == "write" else writer.close()
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    writer.write(rows_of(path, 10))
    writer.close()
    assert numbers(path) == list(range(20))
    assert files(path) == [path.name]


@pytest.mark.parametrize("threads", [1, 2])
def test_dropped(path: pathlib.Path, threads: int) -> None:
    writer = cst.Writer(path, threads=threads)
    writer.write(rows_of(path, 0))
    assert len(files(path)) == 1
    del writer
    gc.collect()
    assert files(path) == []


PROGRAM = """
import os, signal, sys
import columnstone as cst
import pyarrow as pa
writer = cst.Writer(sys.argv[1])
values = [[1], [2]] if sys.argv[1].endswith("tfrecord") else [1, 2]
writer.write(pa.record_batch({"a": values}))
if sys.argv[2] == "kill":
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("how", ["kill", "exit"])
def test_a_process_that_ends(path: pathlib.Path, how: str) -> None:
    """No file looks complete; killed, the temporary one stays."""
    path.write_bytes(b"before")
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(path), how], check=False)
    assert done.returncode == (-signal.SIGKILL if how == "kill" else 0)
    assert path.read_bytes() == b"before"
    assert len(files(path)) == (2 if how == "kill" else 1)
