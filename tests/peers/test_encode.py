"""Record batches to records: protobuf and tfx_bsl read from them what was in the batch."""

from __future__ import annotations

from typing import Any

import columnstone as cst
import generate
import pyarrow as pa
import tensorflow as tf
from hypothesis import given
from support import assert_same_batch, by_protobuf, exact, ours, tfx_bsl
from tfx_bsl.coders.example_coder import RecordBatchToExamplesEncoder


def encoded(batch: pa.RecordBatch, **options: Any) -> list[bytes]:
    records = cst.ExampleEncoder(**options).encode(batch)
    return [records[i] for i in range(len(records))]


def message_of(batch: pa.RecordBatch, row: int) -> tf.train.Example:
    """The Example of one row, built through protobuf's Python classes."""
    message = tf.train.Example()
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        feature = message.features.feature[name]
        cell = column[row].as_py()
        if cell is None:
            continue
        kind = {"l": "int64_list", "f": "float_list"}.get(_letter(column.type), "bytes_list")
        getattr(feature, kind).SetInParent()
        getattr(feature, kind).value.extend(cell)
    return message


def _letter(column_type: pa.DataType) -> str:
    if pa.types.is_null(column_type):
        return "n"
    return {pa.int64(): "l", pa.float32(): "f"}.get(column_type.value_type, "z")


@given(generate.batches())
def test_bytes_are_those_of_protobuf(batch: generate.Batch) -> None:
    """Sorted keys and packed values: the same bytes as protobuf's deterministic serialization."""
    columns = tfx_bsl(batch.records, batch.schema_text())
    wanted = [
        message_of(columns, i).SerializeToString(deterministic=True)
        for i in range(columns.num_rows)
    ]
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
