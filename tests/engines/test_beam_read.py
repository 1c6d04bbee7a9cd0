"""Read, ReadAll and Decode on Beam's runners: every row once, whatever is divided and retried."""

from __future__ import annotations

import contextlib
import os
import pathlib
import pickle
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import apache_beam as beam
import beam_files
import columnstone as cst
import pyarrow as pa
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.testing.util import assert_that, equal_to
from apache_beam.transforms.window import FixedWindows, TimestampedValue

ROWS = 400
JOB_SERVER = "apache_beam.runners.portability.local_job_service_main"


def pipeline(**more: Any) -> beam.Pipeline:
    """The runner is named: the default one depends on the network."""
    return beam.Pipeline(options=PipelineOptions([], runner="FnApiRunner", **more))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Plain and compressed files."""
    folder = tmp_path_factory.mktemp("files")
    for i in range(4):
        name, compression = [("plain.tfrecord", None), ("gzip.tfrecord.gz", "gzip")][i % 2]
        beam_files.write(folder / f"{i}-{name}", range(i * 100, i * 100 + 100), compression)
    return folder


def read(folder: pathlib.Path, **more: Any) -> Any:
    return cst.beam.Read(str(folder / "*"), schema=beam_files.SCHEMA, batch_size=7, **more)


def assert_rows(batches: Any, numbers: Any = range(ROWS)) -> None:
    rows = batches | "Rows" >> beam.FlatMap(beam_files.checksum)
    assert_that(rows, equal_to(beam_files.expected(numbers)))


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"direct_running_mode": "multi_threading", "direct_num_workers": 2},
        {"direct_running_mode": "multi_processing", "direct_num_workers": 2},
    ],
    ids=["in memory", "threads", "processes"],
)
def test_every_row_once(
    folder: pathlib.Path, more: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    here = str(pathlib.Path(__file__).parent)  # where workers find what they are given
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([here, os.environ.get("PYTHONPATH", "")]))
    with pipeline(**more) as p:
        assert_rows(p | read(folder))


@contextlib.contextmanager
def job_server() -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", JOB_SERVER, "--port", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        for _ in range(300):
            with contextlib.suppress(OSError), socket.create_connection(("localhost", port)):
                break
            time.sleep(0.1)
        yield f"localhost:{port}"
    finally:
        process.terminate()
        process.wait()


def test_the_portable_runner(folder: pathlib.Path) -> None:
    with job_server() as endpoint:
        options = PipelineOptions(
            runner="PortableRunner", job_endpoint=endpoint, environment_type="LOOPBACK"
        )
        with beam.Pipeline(options=options) as p:
            assert_rows(p | read(folder))


class Slow(beam.DoFn):  # type: ignore[misc]
    """Leaves the runner time to divide what is read; counts how often it began."""

    def start_bundle(self) -> None:
        beam.metrics.Metrics.counter("test", "bundles").inc()

    def process(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        time.sleep(0.01)
        yield batch


def test_the_runner_divides_what_is_being_read(tmp_path: pathlib.Path) -> None:
    """With a worker of its own: the one in memory gets no element where splits are asked for."""
    path = beam_files.write(tmp_path / "a.tfrecord", range(ROWS))
    splits = {"timings": [0.1, 0.2, 0.3], "fractions": [0.6, 0.5, 0.7]}
    p = pipeline(direct_test_splits={"Slow": splits}, direct_running_mode="multi_threading")
    read = cst.beam.Read(path, schema=beam_files.SCHEMA, batch_size=5)
    assert_rows(p | read | "Slow" >> beam.ParDo(Slow()))
    result = p.run()
    result.wait_until_finish()
    named = beam.metrics.MetricsFilter().with_namespace("test")
    (bundles,) = result.metrics().query(named)["counters"]
    assert bundles.committed > 1


class FailsOnce(beam.DoFn):  # type: ignore[misc]
    """Ends its process, or raises, at the first batch that it ever sees beyond some."""

    def __init__(self, mark: str, ends: bool) -> None:
        self._mark = mark
        self._ends = ends
        self._seen = 0

    def process(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        self._seen += 1
        if self._seen > 3:
            with contextlib.suppress(FileExistsError):
                os.close(os.open(self._mark, os.O_CREAT | os.O_EXCL))
                if self._ends:
                    os._exit(1)
                raise RuntimeError("once")
        yield batch


@pytest.mark.parametrize(
    ("ends", "more", "error"),
    [
        (False, {}, "once"),
        (
            True,
            {"direct_running_mode": "multi_processing", "direct_num_workers": 2},
            "Channel closed",
        ),
    ],
    ids=["raises", "is killed"],
)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")  # Beam's own
def test_a_failure_fails_the_pipeline_and_nothing_is_twice_in_the_next(
    folder: pathlib.Path,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    ends: bool,
    more: dict[str, Any],
    error: str,
) -> None:
    """Beam's local runner tries no bundle again, whether a worker raises or dies: the pipeline
    fails, and is run again."""
    monkeypatch.setenv("PYTHONPATH", str(pathlib.Path(__file__).parent))
    fails = FailsOnce(str(tmp_path / "mark"), ends)
    with pytest.raises(RuntimeError, match=error), pipeline(**more) as p:
        assert_rows(p | read(folder) | beam.ParDo(fails))
    assert (tmp_path / "mark").exists()
    with pipeline() as p:
        assert_rows(p | read(folder) | beam.ParDo(fails))


def test_names_of_files(folder: pathlib.Path) -> None:
    names = [str(folder / "0*"), str(folder / "[13]*"), str(folder / "2-plain.tfrecord")]
    with pipeline() as p:
        read_all = cst.beam.ReadAll(schema=beam_files.SCHEMA, batch_size=7)
        assert_rows(p | beam.Create(names) | read_all)


def test_dead_letters(tmp_path: pathlib.Path) -> None:
    records = beam_files.examples(range(20))
    records[5] = b"\xff\xff"
    data = beam_files.framed(records)
    (tmp_path / "a.tfrecord").write_bytes(data)
    options: dict[str, Any] = {
        "schema": beam_files.SCHEMA,
        "on_error": "skip",
        "dead_letters": True,
    }
    numbers = [i for i in range(20) if i != 5]
    p = pipeline()
    read = p | "Files" >> cst.beam.Read(str(tmp_path / "a.tfrecord"), batch_size=6, **options)
    decoded = p | beam.Create(records) | "Records" >> cst.beam.Decode(batch_size=6, **options)
    for name, found in (("files", read), ("records", decoded)):
        rows = found.batches | f"rows of {name}" >> beam.FlatMap(beam_files.checksum)
        assert_that(rows, equal_to(beam_files.expected(numbers)), f"check rows of {name}")
        letters = found.dead_letters | f"letters of {name}" >> beam.Map(lambda d: (d.bytes, d.kind))
        assert_that(letters, equal_to([(b"\xff\xff", "record")]), f"check letters of {name}")
    result = p.run()
    result.wait_until_finish()
    counters = {
        found.key.metric.name: found.committed
        for found in result.metrics().query()["counters"]
        if found.key.metric.namespace == "columnstone" and "Files" in found.key.step
    }
    assert counters["records"] == 19 and counters["dropped_records"] == 1
    assert counters["batches"] == 4 and counters["bytes"] > 0


def test_dead_letters_are_plain() -> None:
    letter = cst.beam.DeadLetter("f", 1, b"x", "wrong", 3, "record")
    assert pickle.loads(pickle.dumps(letter)) == letter
    assert type(letter).__module__ == "columnstone.beam"
    with pytest.raises(cst.errors.ArgumentError, match="dead_letters needs on_error"):
        cst.beam.Read("x", dead_letters=True)


def test_the_schema_is_read_when_the_pipeline_is_made(
    folder: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    """Workers may be other machines."""
    path = tmp_path / "schema.pbtxt"
    path.write_text(beam_files.SCHEMA)
    read = cst.beam.Read(str(folder / "*"), schema=path, batch_size=7)
    path.unlink()
    with pipeline() as p:
        assert_rows(p | read)


def test_options_are_checked_when_the_pipeline_is_made() -> None:
    for make in (cst.beam.ReadAll, cst.beam.Decode, lambda **o: cst.beam.Read("x", **o)):
        with pytest.raises(cst.errors.ArgumentError, match=r"did you mean .*schema"):
            make(scheme="")
        with pytest.raises(cst.errors.ArgumentError, match="batch_size"):
            make(batch_size=0)
        with pytest.raises(cst.errors.ArgumentError, match="offset_column"):
            make(offset_column="o")


# ---- records ----


def test_records_are_batched_by_rows_and_bytes() -> None:
    records = beam_files.examples(range(50))
    for more, expected in (
        ({"batch_size": 20}, [10, 20, 20]),
        ({"batch_size": 1000, "batch_bytes": sum(map(len, records)) // 3}, None),
    ):
        with pipeline() as p:
            batches = (
                p
                | beam.Create([records])
                | beam.FlatMap(lambda r: r)
                | cst.beam.Decode(schema=beam_files.SCHEMA, **more)
            )
            assert_rows(batches, range(50))
            sizes = batches | beam.Map(lambda b: b.num_rows)
            if expected is not None:
                assert_that(sizes, equal_to(expected), "sizes")
            else:
                number = sizes | beam.combiners.Count.Globally()
                assert_that(number, equal_to([3]), "sizes")


def test_batches_stay_in_their_windows() -> None:
    records = beam_files.examples(range(40))
    numbers = {records[i]: i for i in range(40)}

    def in_window(batch: pa.RecordBatch, window: Any = beam.DoFn.WindowParam) -> Any:
        return [(int(window.start), number) for number, _ in beam_files.checksum(batch)]

    with pipeline() as p:
        found = (
            p
            | beam.Create(records)
            | beam.Map(lambda r: TimestampedValue(r, numbers[r]))
            | beam.WindowInto(FixedWindows(3))
            | cst.beam.Decode(schema=beam_files.SCHEMA, batch_size=2)
            | beam.FlatMap(in_window)
            | "Back" >> beam.WindowInto(beam.window.GlobalWindows())
        )
        assert_that(found, equal_to([(i // 3 * 3, i) for i in range(40)]))


def test_records_of_other_formats() -> None:
    with pipeline() as p:
        raw = p | beam.Create([b"a", b"", b"c"]) | cst.beam.Decode(format="raw", batch_size=10)
        rows = raw | beam.FlatMap(lambda b: b.column(0).to_pylist())
        assert_that(rows, equal_to([b"a", b"", b"c"]))


def test_workers_need_no_schema_file(folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """It is on the machine that makes the pipeline."""
    schema = tmp_path / "schema.pbtxt"
    schema.write_text(cst.Schema(beam_files.SCHEMA).to_text())
    batches = cst.beam.Read(str(folder / "*"), schema=schema)
    schema.unlink()
    with pipeline() as p:
        assert_rows(p | batches)


def avro_file(path: pathlib.Path) -> None:
    """Rows 0 to 39,999 in one file of 4 MB."""
    ids = pa.array(range(40_000), pa.int64())
    text = pa.array([f"{i:080}" for i in range(40_000)])
    cst.write(pa.table({"id": ids, "text": text}), str(path), avro_codec="null")


def read_all(bundle: Any) -> list[Any]:
    tracker = bundle.source.get_range_tracker(bundle.start_position, bundle.stop_position)
    return list(bundle.source.read(tracker))


SCHEMA_OF_AVRO = """{"type": "record", "name": "Row", "fields": [
    {"name": "number", "aliases": ["id"], "type": ["null", "double"]},
    {"name": "shop", "type": "string", "default": "IT"}]}"""


def test_avro(tmp_path: pathlib.Path) -> None:
    """A file in several ranges, by its own schema and by another, and written again."""
    avro_file(tmp_path / "a.avro")
    path = str(tmp_path / "a.avro")
    bundles = list(beam_files.source_of(path, batch_size=None).split(1 << 20))
    assert len(bundles) > 3
    found = [row for b in bundles for batch in read_all(b) for row in batch["id"].to_pylist()]
    assert found == list(range(40_000))
    with pipeline() as p:
        rows = p | cst.beam.Read(path)
        ids = rows | beam.FlatMap(lambda batch: batch["id"].to_pylist())
        assert_that(ids, equal_to(list(range(40_000))), label="all")
        rows | cst.beam.Write(str(tmp_path / "out.avro"), avro_codec="zstandard")
    with pipeline() as p:
        other = p | cst.beam.Read(path, avro_schema=SCHEMA_OF_AVRO)
        total = other | beam.Map(lambda batch: sum(batch["number"].to_pylist()))
        assert_that(total | beam.CombineGlobally(sum), equal_to([sum(range(40_000))]))
    again = pa.table(cst.open(str(tmp_path / "out-*.avro")))
    assert sorted(again["id"].to_pylist()) == list(range(40_000))
