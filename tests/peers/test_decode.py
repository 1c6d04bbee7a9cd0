"""Records to record batches: the same as tfx_bsl's decoder, with a schema and without one."""

from __future__ import annotations

import gzip
import pathlib
import struct

import generate
import pyarrow as pa
import pytest
import wire
from hypothesis import given
from hypothesis import strategies as st
from support import assert_same_batch, by_protobuf, exact, ours, tfx_bsl


@given(generate.batches())
def test_without_schema(batch: generate.Batch) -> None:
    assert_same_batch(ours(batch.records), tfx_bsl(batch.records))


@given(generate.batches())
def test_with_schema(batch: generate.Batch) -> None:
    schema = batch.schema_text()
    assert_same_batch(ours(batch.records, schema), tfx_bsl(batch.records, schema))


@given(generate.batches())
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
    import columnstone as cst

    decoder = cst.ExampleDecoder(schema=cst.Schema.from_text(batch.schema_text()))
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
    import columnstone as cst

    with pytest.raises(RuntimeError):
        tfx_bsl([record], schema)
    with pytest.raises(cst.SchemaError) as error:
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


def test_taxi(taxi: pathlib.Path) -> None:
    records = taxi_records(taxi)
    schema = (taxi / "schema.pbtxt").read_text()
    assert len(records) == 15_002
    assert_same_batch(ours(records, schema), tfx_bsl(records, schema))
    assert_same_batch(ours(records), tfx_bsl(records))


def test_taxi_files(taxi: pathlib.Path) -> None:
    import columnstone as cst

    schema = (taxi / "schema.pbtxt").read_text()
    source = cst.open(str(taxi / "trips-*.tfrecord.gz"), schema=schema, batch_size=1000, threads=2)
    table = pa.table(source)
    wanted = pa.Table.from_batches([tfx_bsl(taxi_records(taxi), schema)])
    assert table.combine_chunks().equals(wanted.combine_chunks())
