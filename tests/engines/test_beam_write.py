"""Sinks of record batches: round trips, shards, and what a failure leaves."""

from __future__ import annotations

import glob
import io
import os
import pathlib
from collections.abc import Iterator
from typing import Any

import apache_beam as beam
import columnstone as cst
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from columnstone._beam import write as made_of
from columnstone._engines import place

MESSAGES = pathlib.Path(__file__).parents[1] / "data" / "messages"


def batch(first: int, rows: int = 3) -> pa.RecordBatch:
    """Every third row lacks `tags`, every fourth has no `steps`."""
    ids = range(first, first + rows)
    return pa.record_batch(
        {
            "id": pa.array([[i] for i in ids], pa.large_list(pa.int64())),
            "tags": pa.array(
                [None if i % 3 == 0 else [b"a", b""] for i in ids], pa.large_list(pa.binary())
            ),
            "steps": pa.array([list(range(i % 4)) for i in ids], pa.large_list(pa.int64())),
        }
    )


BATCHES = [batch(0), batch(3, 1), batch(4, 5)]
ROWS = [row for b in BATCHES for row in b.to_pylist()]


def nested(first: int, rows: int = 4) -> pa.RecordBatch:
    values: list[dict[str, Any]] = [
        {"user": {"name": f"u{i}", "tags": [None, "x"][: i % 3]}, "clicks": [{"at": i}] * (i % 2)}
        for i in range(first, first + rows)
    ]
    values[0]["user"], values[-1]["clicks"], values[1]["user"]["tags"] = None, None, None
    user = pa.struct({"name": pa.string(), "tags": pa.list_(pa.string())})
    clicks = pa.list_(pa.struct({"at": pa.int64()}))
    return pa.RecordBatch.from_pylist(values, pa.schema({"user": user, "clicks": clicks}))


def write(batches: list[Any], sink: beam.PTransform, runner: str = "FnApiRunner") -> list[str]:
    """The names of the files, which the next step was given."""
    listing = pathlib.Path(sink._output.stem).parent / "names"
    with beam.Pipeline(runner) as p:
        names = p | beam.Create(batches, reshuffle=False) | sink
        assert names.element_type is str
        joined = names | beam.combiners.ToList() | "Sort" >> beam.Map(sorted)
        joined | beam.Map(lambda found: listing.write_text("\n".join(found)))
    found = listing.read_text().split()
    listing.unlink()
    assert [str(path) for path in sorted(listing.parent.iterdir())] == found
    return found


def rows_of(files: list[str], **options: Any) -> list[Any]:
    return pa.table(cst.open(files, **options)).to_pylist()


def sorted_rows(rows: list[Any]) -> list[Any]:
    return sorted(rows, key=repr)


@pytest.mark.parametrize("num_shards", [None, 1, 3, 5])
@pytest.mark.parametrize(
    ("sink", "ending"),
    [
        (cst.beam.WriteTFRecord, ".tfrecord"),
        (cst.beam.WriteParquet, ".parquet"),
        (cst.beam.WriteArrow, ".arrow"),
    ],
)
def test_files_hold_what_was_written(
    tmp_path: pathlib.Path, sink: Any, ending: str, num_shards: int | None
) -> None:
    """With more shards than batches, too: the others have no rows, and the same columns."""
    prefix = tmp_path / "out" / "trips"
    names = write(BATCHES, sink(prefix, num_shards=num_shards))
    count = num_shards or 1
    assert names == [f"{prefix}-{i:05}-of-{count:05}{ending}" for i in range(count)]
    assert sorted_rows(rows_of(names)) == sorted_rows(ROWS)
    if ending != ".tfrecord":
        schemas = {pa.schema(cst.open(name).arrow_schema) for name in names}
        assert [schema.names for schema in schemas] == [BATCHES[0].schema.names]


@pytest.mark.parametrize("sink", [cst.beam.WriteParquet, cst.beam.WriteArrow])
def test_nested_columns_keep_nulls_and_empty_lists(tmp_path: pathlib.Path, sink: Any) -> None:
    batches = [nested(0), nested(4)]
    names = write(batches, sink(tmp_path / "nested", num_shards=2))
    assert sorted_rows(rows_of(names)) == sorted_rows(pa.Table.from_batches(batches).to_pylist())


def test_other_payloads_and_formats(tmp_path: pathlib.Path) -> None:
    raw = pa.record_batch({"record": [b"one", b"", b"three"]})
    names = write([raw], cst.beam.WriteTFRecord(tmp_path / "raw.tfrecord.gz", "raw"))
    assert names == [f"{tmp_path}/raw-00000-of-00001.tfrecord.gz"]
    assert pathlib.Path(names[0]).read_bytes()[:2] == b"\x1f\x8b"
    assert [row["record"] for row in rows_of(names, format="raw")] == [b"one", b"", b"three"]
    os.remove(names[0])

    plain = pa.record_batch({"a": [1, None], "b": ["x", ""]})
    names = write([plain], cst.beam.Write(tmp_path / "rows.csv"))
    assert pathlib.Path(names[0]).read_text().startswith("a,b\n")
    os.remove(names[0])

    sequences = [
        {"context": [1], "frames": {"step": [[1, 2], []], "name": [[b"a"], [b"b"]]}},
        {"context": [], "frames": {"step": None, "name": [[b"c"]]}},
    ]
    steps = pa.struct(
        {"step": pa.list_(pa.list_(pa.int64())), "name": pa.list_(pa.list_(pa.binary()))}
    )
    kinds = pa.schema({"context": pa.list_(pa.int64()), "frames": steps})
    data = pa.RecordBatch.from_pylist(sequences, kinds)
    sink = cst.beam.WriteTFRecord(
        tmp_path / "frames", "sequence_example", sequence_column="frames", compression="zstd"
    )
    names = write([data], sink)
    assert names == [f"{tmp_path}/frames-00000-of-00001.tfrecord.zst"]
    found = rows_of(names, format="sequence_example", sequence_column="frames")
    assert [row["frames"]["name"] for row in found] == [[[b"a"], [b"b"]], [[b"c"]]]


def test_messages(tmp_path: pathlib.Path) -> None:
    """Workers have neither the driver's files nor its classes: all goes along."""
    copy = tmp_path / "shop.desc"
    copy.write_bytes((MESSAGES / "shop.desc").read_bytes())
    data = pa.record_batch({"id": [1, 2], "user": ["a", None], "event": [[{"query": "x"}], []]})
    folder = tmp_path / "out"
    options = {"message": "shop.Session", "descriptors": copy}
    sink = cst.beam.WriteTFRecord(folder / "visits", container="delimited", **options)
    copy.unlink()
    names = write([data], sink)
    assert names[0].endswith("/visits-00000-of-00001.delimited")
    back = cst.open(names, message=options["message"], descriptors=MESSAGES / "shop.desc")
    rows = pa.table(back).select(["id", "user"]).to_pylist()
    assert rows == [{"id": 1, "user": "a"}, {"id": 2, "user": None}]


def test_two_threads_and_windows(tmp_path: pathlib.Path) -> None:
    """Bundles of several workers; and batches of windows, which files do not know of."""
    batches = [batch(i) for i in range(0, 300, 3)]
    threads = ["--direct_running_mode=multi_threading", "--direct_num_workers=2"]
    with beam.Pipeline(argv=["--runner=FnApiRunner", *threads]) as p:
        timed = beam.Map(lambda b: beam.window.TimestampedValue(b, b["id"][0][0].as_py()))
        windows = p | beam.Create(batches) | beam.Reshuffle() | timed
        windows |= beam.WindowInto(beam.window.FixedWindows(30))
        _ = windows | "Bundles" >> cst.beam.WriteTFRecord(tmp_path / "bundles")
        _ = windows | "Shards" >> cst.beam.WriteTFRecord(tmp_path / "shards", num_shards=2)
    names = sorted(map(str, tmp_path.iterdir()))
    parts = [[name for name in names if kind in name] for kind in ("bundles", "shards")]
    assert len(parts[1]) == 2 and len(parts[0]) + 2 == len(names)
    for part in parts:
        rows = rows_of(part)
        assert sorted(row["id"][0] for row in rows) == list(range(300))


def test_files_of_the_same_names_are_replaced(tmp_path: pathlib.Path) -> None:
    sink = cst.beam.WriteArrow(tmp_path / "a", num_shards=2)
    assert write(BATCHES, sink) == write(BATCHES[1:], sink)
    assert len(rows_of(sorted(map(str, tmp_path.iterdir())))) == 6


# ---- nothing to write ----


@pytest.mark.parametrize("num_shards", [None, 2])
def test_without_batches_there_are_files_without_rows(
    tmp_path: pathlib.Path, num_shards: int | None
) -> None:
    count = num_shards or 1
    schema = BATCHES[0].schema
    for sink in (cst.beam.WriteParquet, cst.beam.WriteArrow):
        for given, found in ((schema, schema), (None, pa.schema([]))):
            folder = tmp_path / f"{sink.__name__}-{given is None}"
            names = write([], sink(folder / "no", num_shards=num_shards, arrow_schema=given))
            assert len(names) == count
            tables = [pa.table(cst.open(name)) for name in names]
            assert [t.num_rows for t in tables] == [0] * count
            assert {tuple(t.schema.names) for t in tables} == {tuple(found.names)}
    names = write([], cst.beam.WriteTFRecord(tmp_path / "records" / "no", num_shards=num_shards))
    assert [os.path.getsize(name) for name in names] == [0] * count


def test_a_batch_without_rows_has_columns(tmp_path: pathlib.Path) -> None:
    names = write([batch(0, 0)], cst.beam.WriteParquet(tmp_path / "no"))
    assert pa.schema(cst.open(names[0]).arrow_schema).names == BATCHES[0].schema.names


# ---- failures ----


class Failing(beam.DoFn):  # type: ignore[misc]
    """Raises at the last batch, as often as the file has letters."""

    def __init__(self, times: pathlib.Path) -> None:
        self._times = times

    def process(self, element: Any) -> Iterator[Any]:
        if element.num_rows == 5:
            left = self._times.read_text()
            self._times.write_text(left[1:])
            if left:
                raise RuntimeError("broken on purpose")
        yield element


@pytest.mark.parametrize("num_shards", [None, 2])
def test_a_failed_pipeline_leaves_nothing(tmp_path: pathlib.Path, num_shards: int | None) -> None:
    """The bundle of the writer has two batches when the step before it fails."""
    times, folder = tmp_path / "times", tmp_path / "out"
    times.write_text("x" * 9)
    folder.mkdir()
    with pytest.raises(RuntimeError, match="on purpose"), beam.Pipeline("FnApiRunner") as p:
        batches = p | beam.Create(BATCHES, reshuffle=False) | beam.ParDo(Failing(times))
        batches | cst.beam.WriteParquet(folder / "trips", num_shards=num_shards)
    assert times.read_text() == "x" * 8
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("num_shards", [None, 2])
def test_a_bundle_that_is_tried_again_is_written_once(
    tmp_path: pathlib.Path, num_shards: int | None
) -> None:
    times, folder = tmp_path / "times", tmp_path / "out"
    times.write_text("xx")
    with beam.Pipeline("BundleBasedDirectRunner") as p:
        batches = p | beam.Create(BATCHES, reshuffle=False) | beam.ParDo(Failing(times))
        batches | cst.beam.WriteParquet(folder / "trips", num_shards=num_shards)
    assert times.read_text() == ""
    names = sorted(map(str, folder.iterdir()))
    assert all(name.endswith(".parquet") for name in names)
    assert sorted_rows(rows_of(names)) == sorted_rows(ROWS)


@pytest.mark.parametrize("num_shards", [None, 2])
def test_a_batch_that_cannot_be_written_leaves_nothing(
    tmp_path: pathlib.Path, num_shards: int | None
) -> None:
    other = pa.record_batch({"id": [1]})
    sink = cst.beam.WriteTFRecord(
        tmp_path / "trips", num_shards=num_shards, arrow_schema=BATCHES[0].schema
    )
    with pytest.raises(Exception, match="columns"):
        write([*BATCHES, other], sink)
    assert list(tmp_path.iterdir()) == []


def attempt(output: Any, job: str, batches: list[Any]) -> Any:
    """What a bundle gives."""
    step = made_of._WriteBundle(output)
    step.start_bundle()
    for b in batches:
        step.process(b, job)
    return next(step.finish_bundle()).value


def test_only_attempts_that_count_are_published(tmp_path: pathlib.Path) -> None:
    """Two workers write the same bundle, and a third one dies."""
    output = cst.beam.WriteArrow(tmp_path / "a")._output
    job = output.begin()
    first, again = (attempt(output, job, BATCHES[:2]) for _ in range(2))
    rest = attempt(output, job, BATCHES[2:])
    dead = made_of._WriteBundle(output)
    dead.process(BATCHES[0], job)
    assert first.name != again.name
    names = made_of._publish(None, output, 0, job, [first, rest])
    made_of._clean(None, output, job, names)
    assert sorted(map(str, tmp_path.iterdir())) == names
    assert sorted_rows(rows_of(names)) == sorted_rows(ROWS)
    dead.teardown()


def test_publishing_again_goes_on_where_it_stopped(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = cst.beam.WriteArrow(tmp_path / "a")._output
    job = output.begin()
    written = shards_of(output, job)
    replace, done = os.replace, []

    def failing(path: str, name: str) -> None:
        if len(done) == 2:
            raise OSError("full")
        done.append(name)
        replace(path, name)

    with monkeypatch.context() as patched, pytest.raises(OSError, match="full"):
        patched.setattr(place.os, "replace", failing)
        made_of._publish(None, output, 4, job, written)
    for _ in range(2):  # and once more after all is done
        names = made_of._publish(None, output, 4, job, written)
        assert sorted(glob.glob(f"{tmp_path}/a-*")) == names
        assert sorted_rows(rows_of(names)) == sorted_rows(ROWS)
    for name in names[:2]:
        os.remove(name)
    with pytest.raises(cst.errors.FileError, match="is gone"):
        made_of._publish(None, output, 4, job, written)


def shards_of(output: Any, job: str) -> list[Any]:
    """What three shards of one batch each give."""
    schema = BATCHES[0].schema.serialize().to_pybytes()
    written = [attempt(output, job, [b]) for b in BATCHES]
    return [w._replace(shard=i, schema=schema) for i, w in enumerate(written)]


def test_files_of_an_earlier_run_are_not_taken_for_those_that_are_gone(
    tmp_path: pathlib.Path,
) -> None:
    """Of three shards one is lost, with or without all that the job left: stale rows would be
    reported as those of this run."""
    sink = cst.beam.WriteArrow(tmp_path / "a", num_shards=3)
    old = write(BATCHES[1:2], sink)
    output = sink._output
    for lost in (1, 3):
        job = output.begin()
        written = shards_of(output, job)
        for w in written[:lost]:
            os.remove(tmp_path / f".columnstone-{job}" / w.name)
        with pytest.raises(cst.errors.FileError, match="is gone"):
            made_of._publish(None, output, 3, job, written)
        assert sorted_rows(rows_of(old)) == sorted_rows(BATCHES[1].to_pylist())


# ---- earlier runs ----


def test_modes(tmp_path: pathlib.Path) -> None:
    """A second run with another number of shards does not double the rows."""
    prefix = tmp_path / "a"

    def run(mode: Any, num_shards: int, b: pa.RecordBatch = BATCHES[0]) -> list[str]:
        names = prefix.parent.parent / "names"
        with beam.Pipeline("FnApiRunner") as p:
            sink = cst.beam.WriteArrow(prefix, mode=mode, num_shards=num_shards)
            joined = p | beam.Create([b]) | sink | beam.combiners.ToList()
            joined | beam.Map(lambda found: names.write_text("\n".join(sorted(found))))
        found = names.read_text().split()
        names.unlink()
        return found

    others = ["a-b-00000-of-00001.arrow", "a-00000-of-00009.parquet", "a-00000.arrow", "b.arrow"]
    for other in others:
        (tmp_path / other).write_bytes(b"")
    assert len(run("error", 3)) == 3
    with pytest.raises(cst.errors.FileError, match=r"the output exists: a-00000-of-00003\.arrow"):
        run("error", 1)
    assert len(run("append", 1)) == 1
    files = sorted(set(glob.glob(f"{prefix}-*-of-*.arrow")) - {str(tmp_path / others[0])})
    assert len(files) == 4
    assert sorted_rows(rows_of(files)) == sorted_rows(BATCHES[0].to_pylist() * 2)
    names = run("overwrite", 2, BATCHES[2])
    assert sorted(map(str, tmp_path.iterdir())) == sorted(
        [*names, *(str(tmp_path / other) for other in others)]
    )
    assert sorted_rows(rows_of(names)) == sorted_rows(BATCHES[2].to_pylist())


def test_files_that_come_meanwhile_are_not_replaced(tmp_path: pathlib.Path) -> None:
    output = cst.beam.WriteArrow(tmp_path / "a", mode="error")._output
    job = output.begin()
    written = attempt(output, job, BATCHES)
    (tmp_path / "a-00000-of-00001.arrow").write_bytes(b"mine")
    with pytest.raises(cst.errors.FileError, match="exists"):
        made_of._publish(None, output, 0, job, [written])
    assert (tmp_path / "a-00000-of-00001.arrow").read_bytes() == b"mine"


# ---- arguments ----


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("a", "example", {"compresion": "gzip"}), "compression"),
        (("a", "example", {"compression": "brotli"}), "brotli"),
        (("a", None, {}), "format"),
        (("a", "example", {"num_shards": 0}), "num_shards"),
        (("a", "example", {"shard_bytes": 9}), "shard_bytes"),
        (("a", "exampel", {}), "example"),
        (("a", "example", {"mode": "replace"}), "overwrite"),
    ],
)
def test_wrong_options_are_refused_by_the_driver(arguments: Any, message: str) -> None:
    prefix, format, options = arguments
    with pytest.raises((cst.Error, ValueError), match=message):
        cst.beam.Write(prefix, format, **options)


def test_payloads_are_named() -> None:
    with pytest.raises(cst.Error, match="sequence_example"):
        cst.beam.WriteTFRecord("a", "parquet")


def test_the_step_is_named_as_users_name_it() -> None:
    assert cst.beam.WriteParquet("a").default_label() == "WriteParquet"
    assert repr(cst.beam.WriteParquet).endswith("'columnstone.beam.WriteParquet'>")


# ---- remote ----


def test_an_object_store(monkeypatch: pytest.MonkeyPatch) -> None:
    """By Beam's own file system; a worker that died has left something there."""
    boto3 = pytest.importorskip("boto3")
    server = pytest.importorskip("moto.server").ThreadedMotoServer(port=0)
    server.start()
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "x")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    try:
        url = "http://{}:{}".format(*server.get_host_and_port())
        s3 = boto3.client("s3", endpoint_url=url)
        s3.create_bucket(Bucket="data")
        jobs = []
        begin = made_of._Output.begin

        def noted(self: Any) -> str:
            jobs.append(begin(self))
            attempt(self, jobs[-1], BATCHES[:1])  # which nobody hears of
            return str(jobs[-1])

        monkeypatch.setattr(made_of._Output, "begin", noted)
        options = beam.options.pipeline_options.PipelineOptions(
            [], runner="FnApiRunner", s3_endpoint_url=url, s3_access_key_id="x",
            s3_secret_access_key="x", s3_region_name="us-east-1", s3_disable_ssl=True,
        )  # fmt: skip
        for num_shards in (3, 2):
            with beam.Pipeline(options=options) as p:
                batches = p | beam.Create(BATCHES, reshuffle=False)
                batches | cst.beam.WriteParquet("s3://data/out/trips", num_shards=num_shards)
        keys = [entry["Key"] for entry in s3.list_objects(Bucket="data")["Contents"]]
        assert keys == [f"out/trips-{i:05}-of-00002.parquet" for i in range(2)]
        bodies = [s3.get_object(Bucket="data", Key=key)["Body"].read() for key in keys]
        rows = [row for b in bodies for row in pq.read_table(io.BytesIO(b)).to_pylist()]
        assert sorted_rows(rows) == sorted_rows(ROWS)
        assert len(jobs) == 2
    finally:
        server.stop()
