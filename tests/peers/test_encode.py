"""Record batches to records: protobuf and tfx_bsl read from them what was in the batch."""

from __future__ import annotations

from typing import Any

import columnstone as cst
import generate
import pyarrow as pa
import tensorflow as tf
import wire
from hypothesis import given
from support import assert_same_batch, by_protobuf, exact, ours, tfx_bsl
from tfx_bsl.coders.example_coder import RecordBatchToExamplesEncoder


def encoded(batch: pa.RecordBatch, **options: Any) -> list[bytes]:
    records = cst.encoder("example", **options).encode(batch)
    return [records[i] for i in range(len(records))]


def feature_of(column: pa.Array, row: int) -> tf.train.Feature:
    """One cell through protobuf's Python classes."""
    feature = tf.train.Feature()
    cell = column[row].as_py()
    if cell is not None:
        kinds = {pa.int64(): feature.int64_list, pa.float32(): feature.float_list}
        values = kinds.get(column.type.value_type, feature.bytes_list)
        values.SetInParent()
        values.value.extend(cell)
    return feature


def written_by_protobuf(batch: pa.RecordBatch, row: int) -> bytes:
    """The record with its features in the order of their names, each written by protobuf."""
    entries = b""
    for name in sorted(batch.schema.names, key=str.encode):
        features = tf.train.Features(feature={name: feature_of(batch[name], row)})
        entries += features.SerializeToString()
    return wire.delimited(1, entries)


@given(generate.batches())
def test_bytes_are_those_of_protobuf(batch: generate.Batch) -> None:
    """Names sorted bytewise, values packed, nothing that protobuf would not write."""
    columns = tfx_bsl(batch.records, batch.schema_text())
    wanted = [written_by_protobuf(columns, i) for i in range(columns.num_rows)]
    assert encoded(columns) == wanted


@given(generate.batches())
def test_protobuf_reads_what_was_in_the_batch(batch: generate.Batch) -> None:
    columns = tfx_bsl(batch.records, batch.schema_text())
    for i, record in enumerate(encoded(columns)):
        cells = {name: columns[name][i].as_py() for name in batch.kinds}
        assert exact(by_protobuf(record)) == exact(cells)


@given(generate.batches())
def test_round_trip_through_the_peers_decoder(batch: generate.Batch) -> None:
    schema = batch.schema_text()
    columns = tfx_bsl(batch.records, schema)
    assert_same_batch(tfx_bsl(encoded(columns), schema), columns)
    assert_same_batch(ours(encoded(columns), schema), columns)


@given(generate.batches())
def test_the_peers_encoder_is_understood(batch: generate.Batch) -> None:
    schema = batch.schema_text()
    columns = tfx_bsl(batch.records, schema)
    records = RecordBatchToExamplesEncoder(None).encode(columns)
    assert_same_batch(ours(records, schema), columns)


@given(generate.batches())
def test_both_encoders_mean_the_same(batch: generate.Batch) -> None:
    columns = tfx_bsl(batch.records, batch.schema_text())
    theirs = [by_protobuf(r) for r in RecordBatchToExamplesEncoder(None).encode(columns)]
    assert exact([by_protobuf(r) for r in encoded(columns)]) == exact(theirs)
