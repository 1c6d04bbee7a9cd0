"""Nested columns: the source features of ragged tensors as one column of lists, and back."""

from __future__ import annotations

import pathlib
import pickle

import columnstone as cst
import pytest

pa = pytest.importorskip("pyarrow")

SCHEMA = """
feature { name: "v" type: INT }
feature { name: "r" type: INT }
feature { name: "x" type: BYTES }
tensor_representation_group { key: "" value {
  tensor_representation { key: "t" value { ragged_tensor {
    feature_path { step: "v" } partition { row_length: "r" } } } } } }
"""
NESTED = pa.large_list(pa.large_list(pa.int64()))


@pytest.fixture
def schema() -> cst.Schema:
    return cst.Schema.from_text(SCHEMA)


@pytest.fixture
def batch() -> pa.RecordBatch:
    lists = pa.array([[[1, 2], [], [3]], None, [], [[]]], NESTED)
    words = pa.array([[b"a"], [], None, [b"b", b""]], pa.large_list(pa.large_binary()))
    return pa.record_batch([lists, words], ["t", "x"])


def test_lists_to_examples_and_back(schema: cst.Schema, batch: pa.RecordBatch) -> None:
    records = cst.encoder("example", schema=schema).encode(batch)
    flat = pa.record_batch(cst.decoder("example", schema=schema).decode(records))
    assert flat["v"].to_pylist() == [[1, 2, 3], None, [], []]
    assert flat["r"].to_pylist() == [[2, 0, 1], None, [], [0]]
    decoder = cst.decoder("example", schema=schema, nested=True)
    assert pa.record_batch(decoder.decode(records)).equals(batch)
    assert pa.record_batch(pickle.loads(pickle.dumps(decoder)).decode(records)).equals(batch)
    assert pa.schema(decoder.arrow_schema) == batch.schema


def test_sources_of_nested_columns(
    schema: cst.Schema, batch: pa.RecordBatch, tmp_path: pathlib.Path
) -> None:
    path = tmp_path / "x.tfrecord"
    with cst.codec.TFRecordWriter(path) as writer:
        writer.write_batch(cst.encoder("example", schema=schema).encode(batch))
    source = cst.open(path, schema=schema, nested=True, batch_size=3)
    assert pa.table(source).combine_chunks().to_batches()[0].equals(batch)
    assert pa.table(pickle.loads(pickle.dumps(source))).num_rows == 4
    wanted = pa.table(cst.open(path, schema=schema, nested=True, columns=["x", "t"]))
    assert wanted.schema.names == ["x", "t"]
    with pytest.raises(
        cst.errors.UnsupportedError,
        match="tensors need flat columns, but the source has nested ones",
    ):
        list(source.tensors())
    with pytest.raises(cst.errors.NotFoundError, match="a part of the nested column 't'"):
        cst.open(path, schema=schema, nested=True, columns=["v"])


def test_lengths_that_do_not_add_up(schema: cst.Schema) -> None:
    flat = pa.record_batch(
        [
            pa.array([[1, 2], [3]], pa.large_list(pa.int64())),
            pa.array([[2], [2]], pa.large_list(pa.int64())),
        ],
        ["v", "r"],
    )
    with pytest.raises(cst.errors.SchemaError, match="add up to 2 values, found 1") as caught:
        cst.encoder("example", schema=schema).encode(flat)
    assert (caught.value.record, caught.value.path) == (1, "r")
    records = cst.encoder("example").encode(flat)
    with pytest.raises(cst.errors.SchemaError, match="add up to 2 values, found 1") as caught:
        cst.decoder("example", schema=schema, nested=True).decode(records)
    assert (caught.value.record, caught.value.path) == (1, "t")


def test_without_a_schema() -> None:
    with pytest.raises(cst.Error, match="nested columns need a schema"):
        cst.decoder("example", nested=True)
