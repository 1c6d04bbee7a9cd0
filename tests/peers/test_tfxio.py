"""columnstone.tfxio: what tfx_bsl's classes of the same names give."""

from __future__ import annotations

import json
import pathlib
import pickle
from collections.abc import Iterator
from typing import Any

import apache_beam as beam
import columnstone as cst
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import tensorflow as tf
from columnstone import tfxio
from hypothesis import given, settings
from support import assert_same_batch, framed, plain_tensor, plain_tf, schema_proto
from tensor_cases import Case, cases
from tfx_bsl.tfxio import (
    csv_tfxio,
    dataset_options,
    parquet_tfxio,
    raw_tf_record,
    tf_example_record,
    tf_sequence_example_record,
)
from wire import Feature, example

SCHEMA = """
feature { name: "id" type: INT shape { } presence { min_fraction: 1 } }
feature { name: "pair" type: FLOAT shape { dim { size: 2 } } presence { min_fraction: 1 } }
feature { name: "tags" type: BYTES }
feature { name: "steps" type: INT }
"""
OPTIONS = dataset_options.RecordBatchesOptions(batch_size=4, num_epochs=1, shuffle=False)
OURS = tfxio.RecordBatchesOptions(batch_size=4)
NAMED = {"telemetry_descriptors": ["test"]}


def record(i: int) -> bytes:
    return example(
        [
            Feature("id", "INT", (i,)),
            Feature("pair", "FLOAT", (i + 0.5, -float(i))),
            Feature("tags", "BYTES", tuple(b"%d" % k for k in range(i % 3))),
            Feature("steps", "INT", tuple(range(i % 4))),
        ]
    )


@pytest.fixture
def examples(tmp_path: pathlib.Path) -> str:
    path = tmp_path / "examples.tfrecord"
    path.write_bytes(framed(record(i) for i in range(10)))
    return str(path)


def our_plain(tensors: dict[str, Any]) -> dict[str, Any]:
    return {name: plain_tensor(tensor) for name, tensor in tensors.items()}


def peers_plain(adapter: Any, batch: pa.RecordBatch) -> dict[str, Any]:
    tensors = adapter.ToBatchTensors(batch, produce_eager_tensors=False)
    return {name: plain_tf(tensor) for name, tensor in tensors.items()}


def assert_same(ours: tfxio.TFXIO, peer: Any, peers_batches: list[pa.RecordBatch]) -> None:
    """Schemas, batches, representations, specs and tensors."""
    assert ours.ArrowSchema().equals(peer.ArrowSchema())
    batches = list(ours.RecordBatches(OURS))
    assert len(batches) == len(peers_batches)
    adapter, peers_adapter = ours.TensorAdapter(), peer.TensorAdapter()
    assert adapter.TypeSpecs() == peers_adapter.TypeSpecs()
    assert adapter.TensorRepresentations().keys() == peer.TensorRepresentations().keys()
    for batch, expected in zip(batches, peers_batches, strict=True):
        assert_same_batch(batch, expected)
        assert our_plain(adapter.ToBatchTensors(batch)) == peers_plain(peers_adapter, expected)


def from_beam(peer: Any, folder: pathlib.Path) -> list[pa.RecordBatch]:
    """What the peer gives to a pipeline, for classes that cannot do without one."""
    path = str(folder / "batches")
    with beam.Pipeline() as pipeline:
        _ = (
            pipeline
            | peer.BeamSource(100)
            | beam.Map(pickle.dumps)
            | beam.io.WriteToTFRecord(path, shard_name_template="", num_shards=1)
        )
    return [pickle.loads(r.numpy()) for r in tf.data.TFRecordDataset(path)]


RAGGED = """
tensor_representation_group { key: "" value {
  tensor_representation { key: "steps" value {
    ragged_tensor { feature_path { step: "steps" } row_partition_dtype: INT32 } } } } }
"""


@pytest.mark.parametrize("more", ["", RAGGED])
@pytest.mark.parametrize("raw", [None, "the record"])
def test_examples(examples: str, more: str, raw: str | None) -> None:
    schema = schema_proto(SCHEMA + more)
    ours = tfxio.TFExampleRecord(examples, schema=schema, raw_record_column_name=raw)
    peer = tf_example_record.TFExampleRecord(
        examples, schema=schema, raw_record_column_name=raw, **NAMED
    )
    assert_same(ours, peer, list(peer.RecordBatches(OPTIONS)))


@given(cases())
@settings(max_examples=60)
def test_type_specs(case: Case) -> None:
    schema = schema_proto(case.schema)
    peer = tf_example_record.TFExampleRecord("none", schema=schema, **NAMED)
    batch = cst.decoder("example", schema).decode(case.records)
    source = cst.open(batch, schema=schema)
    adapter = tfxio.TensorAdapter(pa.record_batch(batch).schema, source.tensor_representations())
    peers = peer.TensorAdapter()
    assert adapter.TypeSpecs() == peers.TypeSpecs()
    for name, spec in adapter.TypeSpecs().items():
        tensor = peers.ToBatchTensors(pa.record_batch(batch))[name]
        assert spec.is_compatible_with(tensor), name


@pytest.mark.parametrize("names", [["id"], ["steps", "id"], ["tags"]])
def test_project(examples: str, names: list[str]) -> None:
    schema = schema_proto(SCHEMA)
    ours = tfxio.TFExampleRecord(examples, schema=schema)
    peer = tf_example_record.TFExampleRecord(examples, schema=schema, **NAMED)
    left, right = ours.Project(names), peer.Project(names)
    assert set(left.ArrowSchema().names) == set(right.ArrowSchema().names) == set(names)
    assert left.TensorAdapter().TypeSpecs() == right.TensorAdapter().TypeSpecs()
    for batch, expected in zip(left.RecordBatches(OURS), right.RecordBatches(OPTIONS), strict=True):
        assert batch.select(sorted(names)).equals(expected.select(sorted(names)))
        assert our_plain(left.TensorAdapter().ToBatchTensors(batch)) == peers_plain(
            right.TensorAdapter(), expected
        )
    again = left.Project(names[:1])
    assert list(again.TensorRepresentations()) == names[:1]
    assert again.ArrowSchema().names == names[:1]
    with pytest.raises(cst.errors.NotFoundError):
        left.Project(["pair"])
    with pytest.raises(cst.errors.NotFoundError):
        ours.Project(["none"])


def test_projections_of_the_adapter(examples: str) -> None:
    ours = tfxio.TFExampleRecord(examples, schema=SCHEMA)
    adapter = ours.TensorAdapter()
    batch = next(ours.RecordBatches(OURS))
    assert list(adapter.ToBatchTensors(batch, ["tags", "id"])) == ["tags", "id"]
    with pytest.raises(cst.errors.NotFoundError):
        adapter.ToBatchTensors(batch, ["none"])
    with pytest.raises(cst.errors.ArgumentError):
        adapter.ToBatchTensors(batch.select(["id"]))


def sequence_record(i: int) -> bytes:
    return tf.train.SequenceExample(
        context=tf.train.Features(
            feature={"id": tf.train.Feature(int64_list=tf.train.Int64List(value=[i]))}
        ),
        feature_lists=tf.train.FeatureLists(
            feature_list={
                "words": tf.train.FeatureList(
                    feature=[
                        tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"w"] * k))
                        for k in range(i)
                    ]
                )
            }
        ),
    ).SerializeToString()


SEQUENCES = """
feature { name: "id" type: INT }
feature { name: "##SEQUENCE##" type: STRUCT struct_domain {
  feature { name: "words" type: BYTES } } }
"""


def test_sequence_examples(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "sequences.tfrecord"
    path.write_bytes(framed(sequence_record(i) for i in range(4)))
    schema = schema_proto(SEQUENCES)
    ours = tfxio.TFSequenceExampleRecord(str(path), schema=schema)
    peer = tf_sequence_example_record.TFSequenceExampleRecord(str(path), schema=schema, **NAMED)
    assert_same(ours, peer, from_beam(peer, tmp_path))


def test_csv(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("id;f;tags;none\n1;0.5;a|b;\n\n2;;;\n3;1;c;7\n")
    schema = schema_proto(
        "".join(
            f'feature {{ name: "{name}" type: {kind} }}'
            for name, kind in [("id", "INT"), ("f", "FLOAT"), ("tags", "BYTES"), ("none", "INT")]
        )
    )
    options: dict[str, Any] = {
        "column_names": ["id", "f", "tags", "none"],
        "delimiter": ";",
        "multivalent_columns": ["tags"],
        "secondary_delimiter": "|",
        "skip_header_lines": 1,
        "schema": schema,
    }
    ours = tfxio.CsvTFXIO(str(path), **options)
    peer = csv_tfxio.CsvTFXIO(str(path), **options, **NAMED)
    assert_same(ours, peer, from_beam(peer, tmp_path))


def assert_same_inferred(path: pathlib.Path, **options: Any) -> None:
    """Of types that are inferred the peer knows batches, and neither schema nor tensors."""
    ours = tfxio.CsvTFXIO(str(path), **options)
    peer = csv_tfxio.CsvTFXIO(str(path), **options, **NAMED)
    (expected,) = from_beam(peer, path.parent)
    (batch,) = ours.RecordBatches(tfxio.RecordBatchesOptions(100))
    assert_same_batch(batch, expected)
    assert ours.ArrowSchema().equals(expected.schema)
    again = pickle.loads(pickle.dumps(ours))
    (other,) = again.RecordBatches(tfxio.RecordBatchesOptions(100))
    assert other.equals(batch)
    tensors = ours.TensorAdapter().ToBatchTensors(batch)
    for name, spec in ours.TensorAdapter().TypeSpecs().items():
        assert spec.is_compatible_with(cst.tensor.to_tf(tensors[name])), name


def test_csv_without_a_schema(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("z,b;1;0.5;a|b;;1\n\ny;2;;;;2|3\n;3;1;c;;\n")
    assert_same_inferred(
        path,
        column_names=["text", "id", "f", "tags", "none", "numbers"],
        delimiter=";",
        multivalent_columns=["tags", "numbers"],
        secondary_delimiter="|",
    )


def test_csv_of_one_column(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("name\n1\n2.5\n")
    assert_same_inferred(path, column_names=["x"], skip_header_lines=1)


def test_the_order_of_csv_columns_is_that_of_column_names(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("1,0.5,a,b\n2,,,c\n")
    schema = schema_proto(
        "feature { name: 's' type: BYTES } feature { name: 'i' type: INT } "
        "feature { name: 'f' type: FLOAT }"
    )
    options: dict[str, Any] = {"column_names": ["i", "f", "left out", "s"], "schema": schema}
    options["raw_record_column_name"] = "raw"
    ours = tfxio.CsvTFXIO(str(path), **options)
    assert ours.ArrowSchema().names == ["i", "f", "s", "raw"]
    peer = csv_tfxio.CsvTFXIO(str(path), **options, **NAMED)
    assert_same(ours, peer, from_beam(peer, tmp_path))
    options["column_names"] = ["i", "f", "a", "b"]
    for constructor in (tfxio.CsvTFXIO, csv_tfxio.CsvTFXIO):
        with pytest.raises(ValueError, match="column"):
            constructor(str(path), **options)


@pytest.mark.parametrize("raw", [None, "raw"])
def test_examples_without_a_schema(examples: str, raw: str | None) -> None:
    ours = tfxio.TFExampleRecord(examples, raw_record_column_name=raw)
    peer = tf_example_record.TFExampleRecord(examples, raw_record_column_name=raw, **NAMED)
    for batch, expected in zip(ours.RecordBatches(OURS), peer.RecordBatches(OPTIONS), strict=True):
        assert_same_batch(batch, expected)


@pytest.mark.parametrize("names", [["tags", "id"], ["id", "steps"]])
@pytest.mark.parametrize("raw", [None, "raw"])
def test_the_order_of_projected_columns(examples: str, names: list[str], raw: str | None) -> None:
    options: dict[str, Any] = {"schema": schema_proto(SCHEMA), "raw_record_column_name": raw}
    ours = tfxio.TFExampleRecord(examples, **options).Project(names)
    peer = tf_example_record.TFExampleRecord(examples, **options, **NAMED).Project(names)
    assert ours.ArrowSchema().equals(peer.ArrowSchema())
    for batch, expected in zip(ours.RecordBatches(OURS), peer.RecordBatches(OPTIONS), strict=True):
        assert_same_batch(batch, expected)


def test_sequences_come_last(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "sequences.tfrecord"
    path.write_bytes(framed(sequence_record(i) for i in range(4)))
    first, _, rest = SEQUENCES.strip().partition("\n")
    for schema in (schema_proto(rest + first), None):
        for raw in (None, "raw"):
            options: dict[str, Any] = {"schema": schema, "raw_record_column_name": raw}
            ours = tfxio.TFSequenceExampleRecord(str(path), **options)
            peer = tf_sequence_example_record.TFSequenceExampleRecord(str(path), **options, **NAMED)
            if schema is not None:
                assert ours.ArrowSchema().equals(peer.ArrowSchema())
            (expected,) = from_beam(peer, tmp_path)
            (batch,) = ours.RecordBatches(OURS)
            assert_same_batch(batch, expected)


def test_parquet_without_a_schema(tmp_path: pathlib.Path) -> None:
    path = str(tmp_path / "data.parquet")
    table = pa.table({"i": pa.array([1, 2], pa.int32()), "s": ["x", None], "l": [[0.5], []]})
    pq.write_table(table, path)
    for columns in (None, ["l", "i"]):
        ours = tfxio.ParquetTFXIO(path, column_names=columns)
        peer = parquet_tfxio.ParquetTFXIO(path, column_names=columns, **NAMED)
        (expected,) = from_beam(peer, tmp_path)
        (batch,) = ours.RecordBatches(OURS)
        assert batch.schema.names == expected.schema.names
        assert batch.schema.types == expected.schema.types
        assert batch.to_pydict() == expected.to_pydict()


def test_parquet(examples: str, tmp_path: pathlib.Path) -> None:
    path = str(tmp_path / "data.parquet")
    schema = schema_proto(SCHEMA)
    source = tf_example_record.TFExampleRecord(examples, schema=schema, **NAMED)
    batches = list(source.RecordBatches(OPTIONS))
    pq.write_table(pa.Table.from_batches(batches), path)
    ours = tfxio.ParquetTFXIO(path, schema=schema)
    peer = parquet_tfxio.ParquetTFXIO(path, schema=schema, **NAMED)
    assert ours.ArrowSchema().types == peer.ArrowSchema().types
    assert ours.ArrowSchema().names == peer.ArrowSchema().names
    expected = pa.Table.from_batches(from_beam(peer, tmp_path))
    read = pa.Table.from_batches(list(ours.RecordBatches(OURS)))
    assert read.to_pydict() == expected.to_pydict()
    assert ours.TensorAdapter().TypeSpecs() == peer.TensorAdapter().TypeSpecs()
    batch = next(ours.RecordBatches(OURS))
    assert our_plain(ours.TensorAdapter().ToBatchTensors(batch)) == peers_plain(
        source.TensorAdapter(), batches[0]
    )
    some = tfxio.ParquetTFXIO(path, column_names=["tags", "id"])
    assert some.ArrowSchema().names == ["tags", "id"]


def test_raw(examples: str, tmp_path: pathlib.Path) -> None:
    ours = tfxio.RawTFRecord(examples, raw_record_column_name="raw")
    peer = raw_tf_record.RawTfRecordTFXIO(examples, "raw", ["test"])
    expected = pa.Table.from_batches(from_beam(peer, tmp_path))
    assert ours.ArrowSchema().equals(peer.ArrowSchema())
    assert pa.Table.from_batches(list(ours.RecordBatches(OURS))).to_pydict() == expected.to_pydict()
    assert ours.TensorAdapter().TypeSpecs() == peer.TensorAdapter().TypeSpecs()
    tensors = ours.TensorAdapter().ToBatchTensors(next(ours.RecordBatches(OURS)))
    assert tensors["raw"].numpy().tolist() == [record(i) for i in range(4)]
    assert list(ours.Project(["raw"]).TensorRepresentations()) == ["raw"]


def ids(batches: Iterator[pa.RecordBatch]) -> list[list[int]]:
    return [[v[0] for v in batch["id"].to_pylist()] for batch in batches]


def flat(lists: list[list[int]]) -> list[int]:
    return [i for one in lists for i in one]


def test_options_of_record_batches(examples: str) -> None:
    ours = tfxio.TFExampleRecord(examples, schema=SCHEMA)
    straight = [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert ids(ours.RecordBatches(OPTIONS)) == straight  # tfx_bsl's object
    assert ids(ours.RecordBatches(tfxio.RecordBatchesOptions(4, num_epochs=2))) == straight * 2
    assert ids(ours.RecordBatches(tfxio.RecordBatchesOptions(4, True))) == straight[:2]
    endless = ours.RecordBatches(tfxio.RecordBatchesOptions(4, num_epochs=None))
    assert ids(next(endless) for _ in range(7)) == (straight * 3)[:7]
    mixed = tfxio.RecordBatchesOptions(4, num_epochs=2, shuffle=True, shuffle_seed=1)
    order = ids(ours.RecordBatches(mixed))
    assert order == ids(ours.RecordBatches(mixed))
    assert [len(batch) for batch in order] == [4, 4, 2, 4, 4, 2]
    first, second = flat(order[:3]), flat(order[3:])
    assert first != second != list(range(10)) != first
    assert sorted(first) == sorted(second) == list(range(10))
    other = tfxio.RecordBatchesOptions(4, shuffle=True, shuffle_seed=3)
    assert flat(ids(ours.RecordBatches(other))) not in (first, second)


def test_classes_of_ones_own(examples: str, tmp_path: pathlib.Path) -> None:
    """Both are used as the others are."""

    class Skipping(tfxio.TFXIO):
        def _open(self, batch_size: int) -> cst.Source:
            return cst.open(
                examples, schema=SCHEMA, batch_size=batch_size, on_error="skip", threads=2
            )

    class Own(tfxio.TFXIO):
        def ArrowSchema(self) -> pa.Schema:
            return pa.schema([("x", pa.int64())])

        def RecordBatches(self, options: Any) -> Iterator[pa.RecordBatch]:
            yield pa.record_batch({"x": [1, 2]})

        def TensorRepresentations(self) -> dict[str, Any]:
            return {}

        def TensorAdapter(self) -> Any:
            class Adapter:
                def ToBatchTensors(self, batch: Any, projections: Any = None) -> dict[str, Any]:
                    return {"x": np.asarray(batch["x"])}

            return Adapter()

    def consume(source: tfxio.TFXIO) -> list[str]:
        adapter = source.TensorAdapter()
        (names,) = {tuple(adapter.ToBatchTensors(b)) for b in source.RecordBatches(OURS)}
        return sorted(names)

    assert consume(Skipping()) == ["id", "pair", "steps", "tags"]
    assert consume(Skipping().Project(["id"])) == ["id"]
    assert consume(Own()) == ["x"]
    with pytest.raises(NotImplementedError):
        tfxio.TFXIO().ArrowSchema()
    assert json.dumps(sorted(Skipping().TensorRepresentations()))
