"""BeamSource of the classes of columnstone.tfxio: tfx_bsl's rows, and its numbers."""

from __future__ import annotations

import functools
import pathlib
import re
from collections.abc import Iterator
from typing import Any

import beam_files
import columnstone as cst
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from beam_files import Run
from columnstone import tfxio
from columnstone._api.source import Source
from google.protobuf import text_format
from tensorflow_metadata.proto.v0 import schema_pb2
from tfx_bsl.tfxio import csv_tfxio, raw_tf_record, telemetry, tf_example_record

NAMED: dict[str, Any] = {"telemetry_descriptors": ["test", "here"]}
SCHEMA = text_format.Parse(beam_files.SCHEMA, schema_pb2.Schema())
ROWS = 60


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    return beam_files.write(tmp_path_factory.mktemp("files") / "a.tfrecord", range(ROWS))


def rows(table: pa.Table) -> list[str]:
    return sorted(map(repr, table.to_pylist()))


@pytest.fixture
def every_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both make some distributions of a sample of the batches."""
    monkeypatch.setattr("columnstone._beam.metrics.SAMPLE", 1)
    profile = telemetry.ProfileRecordBatches
    monkeypatch.setattr(
        telemetry,
        "ProfileRecordBatches",
        functools.partial(profile, distribution_update_probability=1.0),
    )


@pytest.mark.parametrize("raw", [None, "the record"])
def test_examples(path: str, raw: str | None, every_batch: None) -> None:
    options: dict[str, Any] = {"schema": SCHEMA, "raw_record_column_name": raw, **NAMED}
    ours = tfxio.TFExampleRecord(path, **options)
    peer = tf_example_record.TFExampleRecord(path, **options)
    found, expected = Run(ours.BeamSource(10)), Run(peer.BeamSource(10))
    assert rows(found.table) == rows(expected.table)
    assert [b.num_rows for b in found.elements] == [10] * 6
    assert found.table.schema == expected.table.schema == ours.ArrowSchema()
    same_numbers(found, expected)
    assert found.counters["columnstone/records"] == ROWS
    # The records are those of the files, and make the same batches.
    found, expected = Run(ours.RawRecordBeamSource()), Run(peer.RawRecordBeamSource())
    assert sorted(found.elements) == sorted(expected.elements)
    same_numbers(found, expected)
    records = found.elements
    found = Run(ours.RawRecordToRecordBatch(10), records)
    expected = Run(peer.RawRecordToRecordBatch(10), records)
    assert rows(found.table) == rows(expected.table)
    same_numbers(found, expected)


def same_numbers(found: Run, expected: Run) -> None:
    """What has a name of tfx_bsl's has its number: the size of batches is only near it, because
    validity that is all true takes no memory here, and records are not counted twice."""
    assert any("tfx.test.here.io/" in name for name in (*found.counters, *found.distributions))
    for ours, peers in (
        (found.counters, expected.counters),
        (found.distributions, expected.distributions),
    ):
        for name, value in ours.items():
            if name.startswith("tfx.") and not name.endswith("record_batch_byte_size"):
                assert value == peers[name], name
    ours, peers = found.distributions, expected.distributions
    for name in peers:
        what = name.rpartition("-")[2]
        if name.startswith("tfx.") and what == "record_batch_byte_size":
            assert ours[name][1] == peers[name][1]
            assert ours[name][0] == pytest.approx(peers[name][0], rel=0.2)
        elif name.startswith("tfx.") and what != "raw_record_byte_size":
            assert name in ours


def test_raw_records(path: str) -> None:
    ours = tfxio.RawTFRecord(path, "raw", **NAMED)
    peer = raw_tf_record.RawTfRecordTFXIO(path, "raw", **NAMED)
    found, expected = Run(ours.BeamSource(10)), Run(peer.BeamSource(10))
    assert rows(found.table) == rows(expected.table)
    assert found.table.schema == expected.table.schema


def test_csv(tmp_path: pathlib.Path, every_batch: None) -> None:
    path = tmp_path / "a.csv"
    path.write_text("".join(f"{i},{'x' * (i % 3)}\n" for i in range(30)))
    schema = text_format.Parse(
        'feature { name: "id" type: INT } feature { name: "t" type: BYTES }', schema_pb2.Schema()
    )
    options: dict[str, Any] = {"column_names": ["id", "t"], "schema": schema, **NAMED}
    ours, peer = tfxio.CsvTFXIO(str(path), **options), csv_tfxio.CsvTFXIO(str(path), **options)
    found, expected = Run(ours.BeamSource(10)), Run(peer.BeamSource(10))
    assert rows(found.table) == rows(expected.table)
    same_numbers(found, expected)
    inferred = tfxio.CsvTFXIO(str(path), ["id", "t"])
    assert rows(Run(inferred.BeamSource()).table) == rows(expected.table)
    with pytest.raises(cst.errors.UnsupportedError, match="use BeamSource"):
        ours.RawRecordBeamSource()


def test_parquet(tmp_path: pathlib.Path) -> None:
    table = pa.table({"i": range(50), "s": ["x", None] * 25})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=9)
    ours = tfxio.ParquetTFXIO(str(tmp_path / "a.parquet"), ["s"])
    assert rows(Run(ours.BeamSource(10)).table) == rows(table.select(["s"]))
    records = Run(ours.RawRecordBeamSource()).elements
    assert len(records) == 50
    assert all(isinstance(record, bytes) for record in records)
    made = Run(ours.RawRecordToRecordBatch(20), records)
    assert rows(made.table) == rows(table.select(["s"]))
    assert made.table.schema == ours.ArrowSchema()
    assert sum(batch.num_rows for batch in made.elements) == 50
    assert max(batch.num_rows for batch in made.elements) <= 20
    with pytest.raises(Exception, match="a record is not a row of these columns"):
        Run(ours.RawRecordToRecordBatch(), [records[0][:40]])


def test_csv_has_a_schema_when_projected(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.csv").write_text("1,2.5,x\n2,3.5,y\n")
    text = "".join(
        f'feature {{ name: "{n}" type: {t} }}' for n, t in (("a", "INT"), ("c", "BYTES"))
    )
    for schema in (None, text):
        ours = tfxio.CsvTFXIO(str(tmp_path / "a.csv"), ["a", "b", "c"], schema=schema)
        some = ours.Project(["c"])
        assert some.ArrowSchema() == pa.schema([("c", pa.large_list(pa.large_binary()))])
        [batch] = some.RecordBatches(tfxio.RecordBatchesOptions(10, num_epochs=1, shuffle=False))
        assert batch.schema == some.ArrowSchema()
        assert Run(some.BeamSource()).table.schema == some.ArrowSchema()


def test_sequences(tmp_path: pathlib.Path) -> None:
    made = [{"c": [i], "##SEQUENCE##": {"s": [[i], []]}} for i in range(20)]
    path = tmp_path / "a.tfrecord"
    cst.write(made, path, "sequence_example")
    ours = tfxio.TFSequenceExampleRecord(str(path))
    assert rows(Run(ours.BeamSource(7)).table) == rows(pa.table(cst.open(path, "sequence_example")))


def test_projections(path: str) -> None:
    ours = tfxio.TFExampleRecord(path, schema=SCHEMA)
    peer = tf_example_record.TFExampleRecord(path, schema=SCHEMA, **NAMED).Project(["values"])
    found = Run(ours.BeamSource(10, projections=["values"])).table
    assert found.schema.names == ["values"]
    assert rows(found) == rows(Run(peer.BeamSource(10)).table)
    twice = ours.Project(["values", "id"]).Project(["id"])
    assert Run(twice.BeamSource(10)).table.schema.names == ["id"]
    with pytest.raises(cst.errors.NotFoundError, match="no tensor 'none'"):
        ours.BeamSource(projections=["none"])


@pytest.mark.parametrize("kind", [tfxio.TFExampleBeamRecord, tfxio.RawBeamRecord])
def test_records_without_files(kind: Any, every_batch: None) -> None:
    records = beam_files.examples(range(ROWS))
    if kind is tfxio.RawBeamRecord:
        ours = kind("kafka", "raw", **NAMED)
        peer = raw_tf_record.RawBeamRecordTFXIO("kafka", "raw", **NAMED)
    else:
        options: dict[str, Any] = {"schema": SCHEMA, "raw_record_column_name": "raw", **NAMED}
        ours = kind("kafka", **options)
        peer = tf_example_record.TFExampleBeamRecord("kafka", **options)
        projected = Run(ours.BeamSource(10, projections=["id"]), records).table
        assert rows(projected) == rows(Run(peer.Project(["id"]).BeamSource(10), records).table)
    found, expected = Run(ours.BeamSource(10), records), Run(peer.BeamSource(10), records)
    assert rows(found.table) == rows(expected.table)
    assert found.table.schema == expected.table.schema == ours.ArrowSchema()
    same_numbers(found, expected)
    assert ours.TensorRepresentations().keys() == peer.TensorRepresentations().keys()
    assert Run(ours.RawRecordBeamSource(), records).elements == records
    with pytest.raises(cst.errors.UnsupportedError, match="from Beam"):
        ours.RecordBatches(tfxio.RecordBatchesOptions(1))


def test_sequences_without_files() -> None:
    schema = 'feature { name: "c" type: INT }'
    ours = tfxio.TFSequenceExampleBeamRecord("kafka", schema=schema)
    found = Run(ours.BeamSource(), [b"", b""])
    assert found.table.num_rows == 2
    assert "c" in ours.ArrowSchema().names


# ---- views and decoders ----


def doubled(records: list[bytes]) -> dict[str, Any]:
    import numpy as np

    return {"length": np.array([[2 * len(record)] for record in records], np.int64).reshape(-1, 1)}


def test_decoders(path: str) -> None:
    records = beam_files.examples(range(ROWS))
    ours = tfxio.GraphToTensorTFXIO(doubled, path, raw_record_column_name="raw")
    found = Run(ours.BeamSource(7)).table
    assert found.schema == ours.ArrowSchema()
    assert sorted(found["raw"].combine_chunks().flatten().to_pylist()) == sorted(records)
    without = tfxio.GraphToTensorTFXIO(doubled)
    assert rows(Run(without.BeamSource(7), records).table) == rows(found.drop_columns(["raw"]))


# ---- classes of one's own ----


class Own(tfxio.TFXIO):
    def __init__(self, path: str) -> None:
        self.path = path

    def _open(self, batch_size: int) -> Source:
        return cst.open(self.path, schema=beam_files.SCHEMA, batch_size=batch_size)


class OwnBatches(tfxio.TFExampleRecord):
    def RecordBatches(self, options: tfxio.RecordBatchesOptions) -> Iterator[pa.RecordBatch]:
        for batch in super().RecordBatches(options):
            yield batch.slice(1)


def test_classes_of_ones_own(path: str) -> None:
    whole = Run(tfxio.TFExampleRecord(path, schema=SCHEMA).BeamSource(10)).table
    assert rows(Run(Own(path).BeamSource(10)).table) == rows(whole)
    assert Run(Own(path).BeamSource(10, ["id"])).table.schema.names == ["id"]
    batches = Run(OwnBatches(path, schema=SCHEMA).BeamSource(10))
    assert [b.num_rows for b in batches.elements] == [9] * 6


def test_names_of_metrics(path: str) -> None:
    found = Run(tfxio.TFExampleRecord(path, schema=SCHEMA).BeamSource(10))
    name = "tfx.UNKNOWN_COMPONENT.io/LogicalFormat[tf_example]-PhysicalFormat[tfrecords_gzip]-"
    peers = {n.removeprefix(name) for n in found.distributions if n.startswith("tfx")}
    assert {"num_rows", "num_columns", "num_feature_values[INT]"} <= peers
    assert not [n for n in peers if re.search("Logical", n)]
