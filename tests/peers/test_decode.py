"""Records to record batches: the same as tfx_bsl's decoder, with a schema and without one."""

from __future__ import annotations

import gzip
import pathlib
import struct

import columnstone as cst
import generate
import pyarrow as pa
import pytest
import wire
from google.protobuf import text_format
from hypothesis import given
from hypothesis import strategies as st
from support import assert_same_batch, by_protobuf, exact, ours, schema_proto, tfx_bsl
from tensorflow_metadata.proto.v0 import schema_pb2


@given(generate.batches())
def test_without_schema(batch: generate.Batch) -> None:
    assert_same_batch(ours(batch.records), tfx_bsl(batch.records))


@given(generate.batches())
def test_with_schema(batch: generate.Batch) -> None:
    schema = batch.schema_text()
    assert_same_batch(ours(batch.records, schema), tfx_bsl(batch.records, schema))


@given(generate.batches())
def test_values_are_those_that_were_written(batch: generate.Batch) -> None:
    """Of a feature that is written twice, the last."""
    decoded = ours(batch.records, batch.schema_text())
    for i, row in enumerate(batch.rows):
        wanted = dict.fromkeys(batch.kinds)
        wanted |= {f.name: None if f.kind is None else list(f.values) for f in row}
        found = {name: decoded[name][i].as_py() for name in batch.kinds}
        assert exact(found) == exact(wanted)


@given(generate.batches(odd=False))
def test_values_are_those_of_protobuf(batch: generate.Batch) -> None:
    decoded = ours(batch.records, batch.schema_text())
    for i, record in enumerate(batch.records):
        wanted = by_protobuf(record)
        assert wanted is not None
        found = {name: decoded[name][i].as_py() for name in batch.kinds}
        assert exact(found) == exact({name: wanted.get(name) for name in batch.kinds})


@given(generate.batches(), st.data())
def test_projection(batch: generate.Batch, data: st.DataObject) -> None:
    """The wanted columns in the wanted order: what tfx_bsl gives for a schema of only these."""
    columns = data.draw(st.permutations(list(batch.kinds)))
    columns = columns[: data.draw(st.integers(1, len(columns)))]
    schema = "".join(f'feature {{ name: "{n}" type: {batch.kinds[n]} }}\n' for n in columns)
    projected = ours(batch.records, batch.schema_text(), columns=columns)
    assert_same_batch(projected, tfx_bsl(batch.records, schema))


@given(generate.batches(max_rows=12))
def test_the_batches_of_one_decoder_do_not_touch_each_other(batch: generate.Batch) -> None:
    decoder = cst.decoder("example", schema=cst.Schema.from_text(batch.schema_text()))
    first = pa.record_batch(decoder.decode(batch.records))
    second = pa.record_batch(decoder.decode(batch.records[::-1]))
    assert_same_batch(first, tfx_bsl(batch.records, batch.schema_text()))
    assert_same_batch(second, tfx_bsl(batch.records[::-1], batch.schema_text()))


def test_no_records() -> None:
    assert_same_batch(ours([]), tfx_bsl([]))
    schema = 'feature { name: "x" type: INT }'
    assert_same_batch(ours([], schema), tfx_bsl([], schema))


def test_no_features_keep_the_rows() -> None:
    batch = ours([b"", b""], "")
    assert (batch.num_rows, batch.num_columns) == (2, 0)


@pytest.mark.parametrize("kind", generate.KINDS)
@pytest.mark.parametrize("found", generate.KINDS)
def test_wrong_type_is_refused_like_the_peer_does(kind: str, found: str) -> None:
    value = {"INT": 1, "FLOAT": 1.5, "BYTES": b"x"}[found]
    record = wire.example([wire.Feature("f", found, (value,))])
    schema = f'feature {{ name: "f" type: {kind} }}'
    if kind == found:
        assert_same_batch(ours([record], schema), tfx_bsl([record], schema))
        return
    with pytest.raises(RuntimeError):
        tfx_bsl([record], schema)
    with pytest.raises(cst.errors.SchemaError) as error:
        ours([record], schema)
    assert error.value.path == "f"
    assert error.value.record == 0


# The taxi data


def taxi_records(taxi: pathlib.Path) -> list[bytes]:
    records = []
    for path in sorted(taxi.glob("trips-*.tfrecord.gz")):
        blob = gzip.decompress(path.read_bytes())
        at = 0
        while at < len(blob):
            (length,) = struct.unpack_from("<Q", blob, at)
            records.append(blob[at + 12 : at + 12 + length])
            at += length + 16
    return records


def taxi_schema(taxi: pathlib.Path, records: list[bytes]) -> str:
    """The schema by hand, with another type for the features that are floats in the records."""
    schema = schema_proto((taxi / "schema.pbtxt").read_text())
    found = tfx_bsl(records).schema
    for feature in schema.feature:
        if found.field(feature.name).type == pa.large_list(pa.float32()):
            feature.type = schema_pb2.FLOAT
    return text_format.MessageToString(schema)


def test_taxi(taxi: pathlib.Path) -> None:
    records = taxi_records(taxi)
    assert len(records) == 15_000
    schema = taxi_schema(taxi, records)
    assert_same_batch(ours(records, schema), tfx_bsl(records, schema))
    assert_same_batch(ours(records), tfx_bsl(records))


def test_taxi_files(taxi: pathlib.Path) -> None:
    records = taxi_records(taxi)
    schema = taxi_schema(taxi, records)
    source = cst.open(str(taxi / "trips-*.tfrecord.gz"), schema=schema, batch_size=1000, threads=2)
    (batch,) = pa.table(source).combine_chunks().to_batches()
    assert_same_batch(batch, tfx_bsl(records, schema))


def test_taxi_records_do_not_fit_the_schema_by_hand(taxi: pathlib.Path) -> None:
    records = taxi_records(taxi)
    schema = (taxi / "schema.pbtxt").read_text()
    with pytest.raises(RuntimeError, match="expected int64_list, found float_list"):
        tfx_bsl(records, schema)
    with pytest.raises(
        cst.errors.SchemaError, match="found a list of float, the schema says int64"
    ):
        ours(records, schema)
