"""Memory and processes: leaks, fork and spawn, DataLoader, signals, the interpreter's end."""

from __future__ import annotations

import gc
import io
import multiprocessing
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import columnstone as cst
import pyarrow as pa
import pytest
from conftest import SCHEMA, MakeFile, records

RECORDS = records(50)


def run(code: str, *args: object) -> str:
    """Runs a script; a crash, a hang or anything on the error stream fails the test."""
    done = subprocess.run(
        [
            sys.executable,
            "-X",
            "faulthandler",
            "-W",
            "ignore",
            "-c",
            textwrap.dedent(code),
            *map(str, args),
        ],
        capture_output=True,
        timeout=120,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


# Leaks


def resident() -> int:
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def uses(path: pathlib.Path) -> dict[str, Callable[[], object]]:
    decoder, encoder = cst.decoder("example", SCHEMA), cst.encoder("example")
    free_decoder = cst.decoder("example")
    batch = decoder.decode(RECORDS)
    arrow = pa.array(RECORDS)
    schema = cst.Schema(SCHEMA)

    def fails(call: Callable[[], object]) -> Callable[[], None]:
        def wrapped() -> None:
            try:
                call()
            except (cst.Error, TypeError, BufferError):
                return
            raise AssertionError("did not fail")

        return wrapped

    tensors = next(cst.open(path, schema=SCHEMA).tensors())
    table = pa.table(pa.record_batch(batch))
    sequences = cst.decoder("sequence_example")
    sequence_encoder = cst.encoder("sequence_example")
    damaged = path.with_suffix(".damaged")
    damaged.write_bytes(path.read_bytes()[:500] + b"x" + path.read_bytes()[501:])
    rows = cst.open(path, schema=SCHEMA)
    cst.source.Index.build(path)

    class Unreadable:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            raise TypeError("unreadable")

    def stop(dropped: cst.source.Dropped) -> None:
        raise TypeError("stop")

    def skip() -> None:
        source = cst.open(damaged, schema=SCHEMA, on_error="skip")
        assert len(list(source)) == 1 and source.dropped
        pa.table(source)

    return {
        "decode": lambda: decoder.decode(RECORDS),
        "decode without schema": lambda: free_decoder.decode(RECORDS),
        "decode arrow": lambda: decoder.decode(arrow),
        "decode buffers": lambda: decoder.decode([memoryview(r) for r in RECORDS]),
        "decode fails": fails(lambda: decoder.decode([*RECORDS, b"\xff"])),
        "decode wrong": fails(lambda: decoder.decode([*RECORDS, bytearray(), None])),  # type: ignore
        "encode": lambda: encoder.encode(batch),
        "encode table": lambda: encoder.encode(pa.Table.from_batches([pa.record_batch(batch)] * 3)),
        "export": lambda: pa.record_batch(batch),
        "export column": lambda: pa.array(batch["tags"]),
        "pydict": lambda: batch.to_pydict(),
        "open and read": lambda: list(cst.open(path, schema=SCHEMA, threads=2)),
        "stop early": lambda: next(iter(cst.open(path, schema=SCHEMA, batch_size=1, threads=2))),
        "stream": lambda: pa.table(cst.open(path, schema=SCHEMA)),
        "tensors": lambda: [t["tags"].values.numpy() for t in cst.open(path).tensors()],
        "dlpack": lambda: (tensors["id"].__dlpack__(), tensors["id"].__dlpack__(copy=True)),
        "numpy": lambda: (tensors["id"].numpy(), memoryview(tensors["pair"])),
        "no dlpack": fails(lambda: tensors["tags"].values.__dlpack__()),
        "schema": lambda: cst.Schema(schema.to_text()).feature_spec(),
        "bad schema": fails(lambda: cst.Schema("feature { name: 1 }")),
        "no file": fails(lambda: cst.open("/no/such/file")),
        "file object": lambda: read_file(path),
        "verify": lambda: cst.open(path).verify(),
        "table": lambda: list(cst.open([table, table], columns=["id"], batch_size=7, threads=2)),
        "reader": lambda: list(cst.open(table.to_reader())),
        "batch": lambda: next(iter(cst.open(batch, batch_size=7))),
        "no table": fails(lambda: cst.open(Unreadable())),
        "no column": fails(lambda: cst.open(table, columns=["nothing"])),
        "skip": skip,
        "stop": fails(lambda: list(cst.open(damaged, schema=SCHEMA, on_error=stop))),
        "stop a stream": lambda: cst.open(
            damaged, schema=SCHEMA, on_error=stop
        ).__arrow_c_stream__(),
        "row": lambda: (rows[3], rows[[4, 5]], len(rows)),
        "parts": lambda: (list(rows[3:20]), list(rows.split(1, 3)[2:4])),
        "no row": fails(lambda: cst.open(table).take([0])),
        "index": lambda: (cst.source.Index.build(path)[0], cst.source.Index.load(path)),
        "no index": fails(lambda: cst.source.Index.load("/no/such/file")),
        "write": lambda: cst.write([table, table], io.BytesIO(), "json"),
        "write fails": fails(
            lambda: cst.write([table, pa.table({"x": [1]})], io.BytesIO(), "json")
        ),
        "abandon": lambda: cst.Writer(io.BytesIO(), "json").write(table),
        "csv options": fails(lambda: cst.open(path, names=["a"], format="none")),
        "types": fails(lambda: cst.open(path, types=table.schema, format="none")),
        "pickle a schema": lambda: pickle.loads(pickle.dumps(batch.schema)),
        "sequences": lambda: sequence_encoder.encode(sequences.decode([b"", b"\x0a\x00"])),
        "sequences fail": fails(lambda: sequences.decode([b"", b"\xff"])),
    }


def read_file(path: str) -> None:
    with open(path, "rb") as file:
        list(cst.open(file, threads=2))


@pytest.mark.parametrize(
    "name",
    [
        "decode",
        "decode without schema",
        "decode arrow",
        "decode buffers",
        "decode fails",
        "decode wrong",
        "encode",
        "encode table",
        "export",
        "export column",
        "pydict",
        "open and read",
        "stop early",
        "stream",
        "tensors",
        "dlpack",
        "numpy",
        "no dlpack",
        "schema",
        "bad schema",
        "no file",
        "file object",
        "verify",
        "table",
        "reader",
        "batch",
        "no table",
        "no column",
        "skip",
        "stop",
        "stop a stream",
        "row",
        "parts",
        "no row",
        "index",
        "no index",
        "write",
        "write fails",
        "abandon",
        "csv options",
        "types",
        "pickle a schema",
        "sequences",
        "sequences fail",
    ],
)
def test_no_leak(file: pathlib.Path, name: str) -> None:
    """A leak grows in every round; caches and free lists stop growing."""
    use = uses(file)[name]
    tracemalloc.start()
    try:
        grown = []
        for _ in range(20):
            grown.append(growth(use))
            if grown[-1] == (0, 0, 0):
                return
        raise AssertionError(f"growth of objects, Python's and all memory: {grown}")
    finally:
        tracemalloc.stop()


def growth(use: Callable[[], object]) -> tuple[int, int, int]:
    """What 100 uses leave behind, where it is more than a handful of bytes a use."""
    gc.collect()
    before = len(gc.get_objects()), tracemalloc.get_traced_memory()[0], resident()
    for _ in range(100):
        use()
    gc.collect()
    after = len(gc.get_objects()), tracemalloc.get_traced_memory()[0], resident()
    limits = 50, 1500, 200_000
    grown = [max(0, b - a) for a, b in zip(before, after, strict=True)]
    objects, python, memory = (g if g > most else 0 for g, most in zip(grown, limits, strict=True))
    return objects, python, memory


def test_reference_counts() -> None:
    records = [bytes([10, 0]) for _ in range(10)]
    before = [sys.getrefcount(r) for r in records], sys.getrefcount(records)
    decoder = cst.decoder("example")
    for _ in range(10):
        decoder.decode(records)
        decoder.decode(iter(records))
        with pytest.raises(TypeError):
            decoder.decode([*records, None])  # type: ignore[list-item]
    assert ([sys.getrefcount(r) for r in records], sys.getrefcount(records)) == before
    for constant in (None, True):
        assert sys.getrefcount(constant) > 100


# Processes


def sum_of_ids(source: cst.Source) -> int:
    return sum(row[0] for batch in source for row in batch.to_pydict()["id"])


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(make_file: MakeFile, method: str) -> None:
    path = make_file("d", 1000)
    source = cst.open(path, schema=SCHEMA, batch_size=64, threads=2)
    assert sum_of_ids(source) == 499_500
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(sum_of_ids, [source] * 4) == [499_500] * 4


def raise_error(path: str) -> None:
    list(cst.open(path))


def test_errors_cross_processes(make_file: MakeFile) -> None:
    path = make_file("d", 5)
    path.write_bytes(path.read_bytes()[:-1])
    with (
        multiprocessing.get_context("spawn").Pool(1) as pool,
        pytest.raises(cst.errors.CorruptError) as e,
    ):
        pool.apply(raise_error, (str(path),))
    assert (e.value.file, e.value.record) == (str(path), 4)


def test_a_fork_in_the_middle_of_a_pass(make_file: MakeFile) -> None:
    path = make_file("d", 5000)
    assert (
        run(
            """
        import os, sys, columnstone as cst
        source = cst.open(sys.argv[1], batch_size=10, threads=3)
        running = iter(source)
        next(running)
        writer = cst.codec.TFRecordWriter(sys.argv[1] + ".out")
        writer.write(b"x")
        child = os.fork()
        if child == 0:
            try:
                next(running)
            except cst.errors.StateError as e:
                print("StateError", len(list(source)), flush=True)
            del running, source, writer
            sys.exit()
        assert os.waitpid(child, 0)[1] == 0
        writer.close()
        print(len(list(running)))
        """,
            path,
        )
        == "StateError 500\n499"
    )
    assert pathlib.Path(f"{path}.out").exists()


def test_torch_data_loader(make_file: MakeFile) -> None:
    pytest.importorskip("torch")
    for i in range(2):
        make_file(f"part-{i}", 100, 100 * i)
    code = """
        import sys, torch, columnstone as cst

        class Data(torch.utils.data.IterableDataset):
            def __init__(self, paths):
                self.sources = [cst.open(p, batch_size=50, threads=2) for p in paths]
            def __iter__(self):
                worker = torch.utils.data.get_worker_info()
                for tensors in self.sources[worker.id].tensors():
                    yield torch.from_dlpack(tensors["id"]).clone()

        if __name__ == "__main__":
            data = Data(sys.argv[1:])
            assert len(list(data.sources[0])) == 2
            loader = torch.utils.data.DataLoader(data, batch_size=None, num_workers=2)
            print(sum(int(t.sum()) for t in loader))
    """
    folder = make_file("unused", 0).parent
    assert run(code, folder / "part-0", folder / "part-1") == "19900"


# The end of the interpreter


ENDINGS = {
    "batches and tensors": """
        source = cst.open(path, batch_size=10, threads=3)
        batch, tensors = next(iter(source)), next(source.tensors())
        array, view = tensors["id"].numpy(), memoryview(tensors["id"])
    """,
    "a running pass": """
        running = iter(cst.open(path, batch_size=10, threads=3))
        next(running)
    """,
    "a running pass over a file object": """
        running = iter(cst.open(open(path, "rb"), batch_size=10, threads=3))
        next(running)
    """,
    "a running pass over a slow file object": """
        import time
        class Slow:
            def __init__(self): self.file = open(path, "rb")
            def read(self, size):
                time.sleep(0.01)
                return self.file.read(min(size, 1000))
        running = iter(cst.open(Slow(), schema=cst.infer_schema(path), batch_size=1, threads=3))
        next(running)
    """,
    "a stream in pyarrow": """
        import pyarrow as pa
        reader = pa.RecordBatchReader.from_stream(cst.open(open(path, "rb"), threads=2))
        first = reader.read_next_batch()
    """,
    "capsules": """
        source = cst.open(path, threads=2)
        kept = [source.__arrow_c_stream__(), source.__arrow_c_schema__()]
        kept += [next(source.tensors())["id"].__dlpack__(), next(iter(source)).__arrow_c_array__()]
    """,
    "an open writer": """
        import io
        writers = [cst.codec.TFRecordWriter(path + ".tmp"), cst.codec.TFRecordWriter(io.BytesIO())]
        for writer in writers:
            writer.write(b"x")
    """,
    "a cycle": """
        import io
        class File(io.BytesIO): pass
        file = File(open(path, "rb").read())
        file.source = cst.open(file, threads=2)
        file.running = iter(file.source)
        next(file.running)
    """,
    "a running pass over a reader in Python": """
        import pyarrow as pa
        table = pa.table({"a": list(range(1000))})
        def forever():
            while True:
                yield from table.to_batches(max_chunksize=10)
        def reader(): return pa.RecordBatchReader.from_batches(table.schema, forever())
        class Table:
            def __arrow_c_stream__(self, requested_schema=None):
                return reader().__arrow_c_stream__()
        kept = [iter(cst.open([reader(), table], batch_size=7, threads=3)),
                iter(cst.open(Table(), threads=2)),
                pa.RecordBatchReader.from_stream(cst.open(Table(), threads=2))]
        for running in kept:
            next(running)
    """,
    "dropped records": """
        import pyarrow as pa
        data = bytearray(open(path, "rb").read())
        for at in range(1000, len(data), 1000):
            data[at] = 0xA5
        open(path, "wb").write(data)
        schema = cst.Schema('feature { name: "id" type: INT }')
        source = cst.open(path, schema=schema, on_error=lambda d: None, batch_size=10, threads=3)
        kept = [iter(source), pa.RecordBatchReader.from_stream(source)]
        for running in kept:
            for i in range(5):
                next(running)
        assert source.dropped
    """,
    "rows and parts": """
        source = cst.open(path, schema='feature { name: "id" type: INT }', threads=2)
        index = cst.source.Index.build(path)
        kept = [source[3], iter(source[100:]), iter(source.split(1, 2)), index]
        next(kept[1]), next(kept[2])
    """,
    "an open writer of batches": """
        import io
        import pyarrow as pa
        writers = [cst.Writer(path + ".arrow"), cst.Writer(io.BytesIO(), "json", threads=2)]
        for writer in writers:
            writer.write(pa.table({"a": [1]}))
    """,
    "a thread in the middle": """
        import threading
        def work():
            try:
                while True:
                    for batch in cst.open(open(path, "rb"), batch_size=10, threads=2):
                        batch.to_pydict()
            except cst.Error:  # the interpreter goes down meanwhile
                pass
        threading.Thread(target=work, daemon=True).start()
        list(cst.open(path))
    """,
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_end_of_the_interpreter(make_file: MakeFile, ending: str) -> None:
    paths = [make_file(f"d{i}", 5000) for i in range(3)]
    code = (
        textwrap.dedent("""
        import sys
        import columnstone as cst
        path = sys.argv[1]
    """)
        + textwrap.dedent(ENDINGS[ending])
        + "\nprint('end')\n"
    )
    with ThreadPoolExecutor(3) as pool:  # most of them wait
        assert list(pool.map(lambda path: run(code, path), paths)) == ["end"] * 3
    assert not list(paths[0].parent.glob("*.tmp"))


def test_a_file_object_that_never_answers(make_file: MakeFile) -> None:
    """The end of the interpreter waits for it, but not for ever."""
    code = """
        import os, sys, threading, columnstone as cst

        reading, writing = os.pipe()
        waits = threading.Event()

        class Stuck:
            rest = open(sys.argv[1], "rb").read()

            def read(self, size):
                if not self.rest:
                    waits.set()
                    os.read(reading, 1)
                data, self.rest = self.rest[:size], self.rest[size:]
                return data

        source = cst.open(Stuck(), schema=open(sys.argv[2]).read(), threads=2)
        threading.Thread(target=lambda: list(source), daemon=True).start()
        waits.wait()
        print("end")
    """
    path = make_file("d", 10)
    schema = path.with_name("schema.pbtxt")
    schema.write_text(SCHEMA)
    assert run(code, path, schema) == "end"


def test_references_in_module_globals_and_builtins(make_file: MakeFile) -> None:
    """The last references go when most of Python is gone already."""
    code = """
        import builtins, sys
        import columnstone as cst
        source = cst.open(open(sys.argv[1], "rb"), threads=2, batch_size=10)
        builtins.kept = (source, iter(source), cst.decoder("example"), next(source.tensors()))
        next(builtins.kept[1])
        print("end")
    """
    assert run(code, make_file("d", 2000)) == "end"


LAST_ACTS = {  # what __del__ does, and what may come of it
    "begun": ("sum(len(batch) for batch in begun)", "1990"),
    "a pass": ("sum(len(batch) for batch in source)", "2000"),
    "a pass with threads": ("sum(len(batch) for batch in cst.open(path, threads=2))", "2000"),
    "a file object": ("sum(len(batch) for batch in of_file)", "Error"),
    "a dataset": ("len(list(source.dataset(10, True, prefetch=2, threads=2)))", "200"),
    "writing": ("cst.write(source, path + '.csv', overwrite=True)", "2000"),
    "closing": ("(writer.write(b'x'), writer.close())[1]", "None"),
}


@pytest.mark.parametrize("place", ["globals()", "vars(builtins)"])
@pytest.mark.parametrize("act", LAST_ACTS)
def test_a_del_that_works_while_the_interpreter_ends(
    make_file: MakeFile, act: str, place: str
) -> None:
    """Either it does what it always does or it gets an exception; Python imports nothing then."""
    what, result = LAST_ACTS[act]
    code = f"""
        import builtins, sys
        import columnstone as cst

        class Last:
            def __del__(self):
                try:
                    print({what}, flush=True)
                except Exception as error:
                    print(type(error).__name__, flush=True)

        path = sys.argv[1]
        source = cst.open(path)
        begun = iter(cst.open(path, batch_size=10, threads=2))
        next(begun)
        of_file = cst.open(open(path, "rb"), threads=2)
        writer = cst.codec.TFRecordWriter(path + ".out")
        {place}["kept"] = Last()
    """
    assert run(code, make_file("d", 2000)) in (result, "ImportError")


# Threads and signals


def test_the_gil_is_free_while_reading(make_file: MakeFile) -> None:
    """Two passes in two Python threads, each waiting for the other's progress by a pipe."""
    reading, writing = os.pipe()
    data = make_file("d", 100).read_bytes()

    def feed() -> None:
        with open(writing, "wb") as f:
            f.write(data)

    reader = threading.Thread(target=lambda: got.extend(cst.open(f"/dev/fd/{reading}")))
    got: list[cst.RecordBatch] = []
    reader.start()  # blocks in read() until feed() has written, which needs the GIL
    feeder = threading.Thread(target=feed)
    feeder.start()
    reader.join(60)
    feeder.join(60)
    os.close(reading)
    assert sum(len(b) for b in got) == 100


def test_interrupting_a_file_object(make_file: MakeFile) -> None:
    data = make_file("d", 10).read_bytes()

    class Interrupted:
        def read(self, size: int) -> bytes:
            signal.raise_signal(signal.SIGINT)
            for _ in range(100):
                pass  # early 3.11 handles a signal only at the end of a loop's round
            return data

    # A run in the background has SIGINT ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            list(cst.open(Interrupted(), schema=SCHEMA))
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_pass_that_is_entered_twice(make_file: MakeFile) -> None:
    class Reentrant:
        running: object = None
        failure: BaseException | None = None

        def __init__(self, data: bytes) -> None:
            self.data = data

        def read(self, size: int) -> bytes:
            try:
                if self.running is not None:
                    next(self.running)  # type: ignore[call-overload]
            except cst.errors.StateError as e:
                self.failure = e
            size = min(size, 1000)
            data, self.data = self.data[:size], self.data[size:]
            return data

    file = Reentrant(make_file("d", 1000).read_bytes())
    running = iter(cst.open(file, schema=SCHEMA, threads=1, batch_size=10))
    file.running = running
    assert sum(len(b) for b in running) == 1000
    assert isinstance(file.failure, cst.errors.StateError)
    file.running = None


def test_a_fork_while_a_thread_is_in_a_pass(make_file: MakeFile) -> None:
    """The child has the pass, whose lock nobody will give back, and must not wait for it."""
    source = cst.open(make_file("many.tfrecord", 2000), schema=SCHEMA, batch_size=1)
    entered, leave = threading.Event(), threading.Event()

    class Slow(io.BytesIO):
        def readinto(self, buffer: object) -> int:
            entered.set()
            leave.wait()
            return super().readinto(buffer)  # type: ignore[arg-type]

    data = pathlib.Path(source.files[0]).read_bytes()
    # With both named, the file is not looked at before the pass.
    slow = cst.open(Slow(data), "example", SCHEMA, container="tfrecord")
    running = iter(slow)
    thread = threading.Thread(target=list, args=(running,))
    thread.start()
    entered.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        try:
            with pytest.raises(cst.errors.StateError, match="fork"):
                next(running)
            assert running.progress() == (0, 0)
            running.close()
            slow.close()
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    leave.set()
    thread.join()
    assert running.progress()[1] == 2000
