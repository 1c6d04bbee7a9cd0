"""Arrow to tf.Example to Arrow is the identity, for everything that the contract names."""

from __future__ import annotations

import columnstone as cst
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

TYPES = {
    "INT": (pa.large_list(pa.int64()), st.integers(-(2**63), 2**63 - 1)),
    "FLOAT": (pa.large_list(pa.float32()), st.floats(width=32, allow_nan=False)),
    "BYTES": (pa.large_list(pa.large_binary()), st.binary(max_size=40)),
}
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=20)


@st.composite
def batches(draw: st.DrawFn) -> tuple[pa.RecordBatch, str]:
    """A batch with sorted column names, and the schema that fits it."""
    rows = draw(st.integers(0, 6))
    names = sorted(draw(st.lists(NAMES, unique=True, max_size=5)), key=str.encode)
    columns, features = [], []
    for name in names:
        kind = draw(st.sampled_from(sorted(TYPES)))
        type_, element = TYPES[kind]
        cell = st.none() | st.lists(element, max_size=5)
        columns.append(pa.array(draw(st.lists(cell, min_size=rows, max_size=rows)), type_))
        features.append((name, kind))
    if not names:
        return pa.record_batch([], names=[]), ""
    schema = "".join(f"feature {{ name: {quoted(n)} type: {k} }}\n" for n, k in features)
    return pa.record_batch(columns, names=names), schema + "\n"


def quoted(name: str) -> str:
    return '"' + "".join(f"\\x{b:02x}" for b in name.encode()) + '"'


@given(batches())
def test_with_the_schema(case: tuple[pa.RecordBatch, str]) -> None:
    batch, schema = case
    records = cst.encoder("example", schema or None).encode(batch)
    again = pa.record_batch(cst.decoder("example", schema or b"").decode(records))
    again.validate(full=True)
    assert again.equals(batch)


@given(batches())
def test_without_a_schema(case: tuple[pa.RecordBatch, str]) -> None:
    batch, _ = case
    records = cst.encoder("example").encode(batch)
    assert records.to_pylist() == cst.encoder("example").encode(batch).to_pylist()
    again = pa.record_batch(cst.decoder("example").decode(records))
    columns = {
        name: pa.nulls(batch.num_rows) if all_null(batch[name]) else batch[name]
        for name in batch.schema.names
        if batch.num_rows
    }
    wanted = pa.record_batch(columns) if columns else again
    assert again.equals(wanted)
    assert again.num_rows == batch.num_rows


def all_null(column: pa.Array) -> bool:
    return column.null_count == len(column)


@given(batches())
def test_null_columns(case: tuple[pa.RecordBatch, str]) -> None:
    batch, _ = case
    extra = batch.append_column("\U0010ffff", pa.nulls(batch.num_rows))
    if batch.num_rows == 0 or "\U0010ffff" in batch.schema.names:
        return
    again = pa.record_batch(cst.decoder("example").decode(cst.encoder("example").encode(extra)))
    assert again.schema.field(again.num_columns - 1).type == pa.null()


@given(batches(), st.booleans(), st.booleans())
def test_other_layouts_say_the_same(
    case: tuple[pa.RecordBatch, str], narrow: bool, views: bool
) -> None:
    batch, schema = case
    records = cst.encoder("example").encode(batch)
    decoder = cst.decoder(
        "example", schema or b"", offsets=32 if narrow else 64, binary_views=views
    )
    decoded = decoder.decode(records)
    pa.record_batch(decoded).validate(full=True)
    assert decoded.to_pydict() == batch.to_pydict()
    assert cst.encoder("example").encode(decoded).to_pylist() == records.to_pylist()
