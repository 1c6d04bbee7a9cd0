"""How the lives of writers go, the same for every output: closed twice, used after an error, by two
threads, in a forked child, dropped, killed."""

from __future__ import annotations

import gc
import os
import pathlib
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator

import columnstone as cst
import pyarrow as pa
import pytest
import sink_ends
from sink_ends import LARGE
from sink_outputs import OUTPUTS, Output


@pytest.fixture(params=OUTPUTS, ids=[output.id for output in OUTPUTS])
def output(request: pytest.FixtureRequest) -> Output:
    made: Output = request.param
    return made


@pytest.fixture
def path(output: Output, tmp_path: pathlib.Path) -> pathlib.Path:
    return tmp_path / f"a.{output.ending}"


def files(path: pathlib.Path) -> list[pathlib.Path]:
    return sorted(path.parent.iterdir())


@pytest.mark.parametrize("threads", [1, 2])
def test_closed_twice_and_used_afterwards(output: Output, path: pathlib.Path, threads: int) -> None:
    writer = output.writer(path, threads=threads)
    writer.write(output.rows(0))
    writer.close()
    writer.close()
    writer.abort()
    for use in (lambda: writer.write(output.rows(0)), lambda: writer.begin(output.schema)):
        with pytest.raises(cst.errors.StateError, match="the writer is closed"):
            use()
    assert output.numbers(path) == list(range(10))
    assert files(path) == output.files(path)


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_in_with_leaves_nothing(output: Output, path: pathlib.Path, threads: int) -> None:
    with pytest.raises(ZeroDivisionError), output.writer(path, threads=threads) as writer:
        writer.write(output.rows(0))
        raise ZeroDivisionError
    assert writer.closed
    assert files(path) == []


def test_used_after_an_error(output: Output, path: pathlib.Path) -> None:
    """Other columns are refused, or the writer is closed: what was taken is never half there."""
    writer = output.writer(path)
    writer.write(output.rows(0))
    with pytest.raises(cst.Error):
        writer.write(pa.record_batch({"b": ["x"]}))
    try:
        writer.write(output.rows(10))
        writer.close()
        expected = list(range(20))
    except cst.errors.StateError:
        expected = None
    if expected is not None:
        assert output.numbers(path) == expected
    writer.abort()
    assert files(path) == (output.files(path) if expected else [])


def test_a_stream_that_uses_its_writer(output: Output, path: pathlib.Path) -> None:
    writer = output.writer(path)
    writer.write(output.rows(0))

    def batches() -> Iterator[pa.RecordBatch]:
        writer.write(output.rows(0))
        yield output.rows(10)

    with pytest.raises((cst.Error, pa.ArrowException, OSError)):
        writer.write(pa.RecordBatchReader.from_batches(output.schema, batches()))
    writer.abort()
    assert files(path) == []


@pytest.mark.parametrize("threads", [1, 2])
def test_two_threads(output: Output, path: pathlib.Path, threads: int) -> None:
    """Every batch that write() accepted is in the file, whoever closes it."""
    writer = output.writer(path, threads=threads)
    writer.write(output.rows(0))
    accepted = list(range(10))
    begun = threading.Barrier(2)

    def write() -> None:
        begun.wait()
        for i in range(10, 2000, 10):
            try:
                writer.write(output.rows(i))
            except cst.errors.StateError:
                return
            accepted.extend(range(i, i + 10))

    thread = threading.Thread(target=write)
    thread.start()
    begun.wait()
    writer.close()
    thread.join()
    assert output.numbers(path) == accepted
    assert files(path) == output.files(path)


USES = ["drop", "write", "abort", "close"]


def use_in_child(writers: list[cst.Writer], use: str, rows: pa.RecordBatch) -> None:
    """writers: the only reference to one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        status = 1
        try:
            if use == "drop":
                writers.clear()
                gc.collect()
            elif use == "abort":
                writers[0].abort()
            else:
                with pytest.raises(cst.errors.StateError):
                    writers[0].write(rows) if use == "write" else writers[0].close()
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("use", USES)
def test_a_forked_child(output: Output, path: pathlib.Path, threads: int, use: str) -> None:
    """The file is its parent's."""
    writers = [output.writer(path, threads=threads)]
    writers[0].write(output.rows(0))
    use_in_child(writers, use, output.rows(50))
    writer = writers.pop()
    writer.write(output.rows(10))
    writer.close()
    assert output.numbers(path) == list(range(20))
    assert files(path) == output.files(path)


@pytest.mark.parametrize("use", USES)
def test_a_forked_child_of_a_url(output: Output, path: pathlib.Path, use: str) -> None:
    """So is a file that fsspec writes, whatever it holds back of it."""
    if not output.has_urls:
        pytest.skip("written to local files only")
    url = f"file://{path}"
    writers = [cst.Writer(url, **output.options)]
    writers[0].write(output.rows(0))
    use_in_child(writers, use, output.rows(50))
    writer = writers.pop()
    writer.write(output.rows(10, LARGE))
    use_in_child([writer], use, output.rows(50))
    writer.write(output.rows(LARGE + 10))
    writer.close()
    assert output.read(url) == list(range(LARGE + 20))


@pytest.mark.parametrize("threads", [1, 2])
def test_dropped(output: Output, path: pathlib.Path, threads: int) -> None:
    writer = output.writer(path, threads=threads)
    writer.write(output.rows(0))
    assert len(files(path)) == len(output.files(path))
    del writer
    gc.collect()
    assert files(path) == []


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The folder in which sink_ends.py has ended its processes."""
    folder = tmp_path_factory.mktemp("ended")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    program = [sys.executable, sink_ends.__file__, folder]
    done = subprocess.run(program, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def test_a_process_that_ends(ended: pathlib.Path) -> None:
    """No file looks complete; killed, the temporary ones stay."""
    for output in OUTPUTS:
        for how, times in (("exit", 1), ("kill", 2)):
            path = sink_ends.place(ended, output, how)
            before = output.files(path)
            assert [file.read_bytes() for file in before] == [b"before"] * len(before), output.id
            assert len(files(path)) == times * len(before), (output.id, how)


def test_a_forked_child_that_ends(ended: pathlib.Path) -> None:
    """The file is its parent's, on this machine and behind a URL."""
    for output in OUTPUTS:
        for threads in ("1", "2"):
            path = sink_ends.place(ended, output, threads)
            assert output.numbers(path) == list(range(20)), (output.id, threads)
            assert files(path) == output.files(path), (output.id, threads)
        if output.has_urls:
            path = sink_ends.place(ended, output, "url")
            assert output.numbers(path) == list(range(LARGE + 20)), output.id
