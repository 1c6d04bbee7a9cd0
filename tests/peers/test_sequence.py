"""tf.SequenceExamples to record batches: what protobuf says, what tfx_bsl gives where it is right,
and what tf.io.parse_sequence_example makes of the same records.
"""

from __future__ import annotations

import dataclasses
import gzip
import pathlib
import struct
import tempfile
from collections.abc import Sequence
from typing import Any

import columnstone as cst
import generate
import numpy as np
import pyarrow as pa
import pytest
import tensorflow as tf
import wire
from hypothesis import given
from hypothesis import strategies as st
from support import assert_same_batch, exact, framed, plain_ragged, schema_proto
from tfx_bsl.coders.sequence_example_coder import SequenceExamplesToRecordBatchDecoder

COLUMN = "##SEQUENCE##"
LISTS = ["s", "tokens", "a_list_with_a_rather_long_name"]
TYPES = {"INT": pa.int64(), "FLOAT": pa.float32(), "BYTES": pa.large_binary()}
TF_TYPES = {"INT": tf.int64, "FLOAT": tf.float32, "BYTES": tf.string}
DATA = pathlib.Path(__file__).resolve().parents[2].parent / "shared" / "data" / "sequence"

FeatureList = tuple[str, list[wire.Feature]]


@dataclasses.dataclass(frozen=True)
class Batch:
    """Records; the kinds of context features and of feature lists by name."""

    context: dict[str, str]
    lists: dict[str, str]
    records: list[bytes]

    def schema_text(self, lists: Sequence[str] | None = None) -> str:
        def features(kinds: dict[str, str]) -> str:
            return "".join(f'feature {{ name: "{n}" type: {k} }}\n' for n, k in kinds.items())

        wanted = {n: k for n, k in self.lists.items() if lists is None or n in lists}
        domain = (
            f'feature {{ name: "{COLUMN}" type: STRUCT struct_domain {{ {features(wanted)} }} }}'
        )
        return features(self.context) + domain


# Records


def list_entry(item: FeatureList, odd: int) -> bytes:
    name, features = item
    body = b"".join(wire.delimited(1, wire.feature_message(f)) for f in features)
    key, value = wire.delimited(1, name.encode()), wire.delimited(2, body)
    if odd == 1:
        return wire.delimited(1, value + key)
    if odd == 2:  # the list in two parts, which protobuf appends
        half = [wire.delimited(1, wire.feature_message(f)) for f in features]
        cut = len(half) // 2
        value = b"".join(wire.delimited(2, b"".join(p)) for p in (half[:cut], half[cut:]))
        return wire.delimited(1, key + value)
    if odd == 4:
        return wire.delimited(1, wire.UNKNOWN_FIELDS[1] + key + value)
    return wire.delimited(1, key + value)


def sequence_example(
    context: Sequence[wire.Feature], lists: Sequence[FeatureList] | None, odd: int = 0
) -> bytes:
    first = wire.example(context)
    if lists is None:
        return first
    entries = [list_entry(item, odd) for item in lists]
    if odd == 3:  # every list in a message of its own, before the context
        return b"".join(wire.delimited(2, e) for e in entries) + first
    return first + wire.delimited(2, b"".join(entries))


@st.composite
def batches(
    draw: st.DrawFn, odd: bool = True, small_ints: bool = False, unknown: bool = False
) -> Batch:
    """`unknown`: also fields that map entries do not have, and entries of the context in odd forms.
    Protobuf for Python (upb) drops such entries, protobuf for C++ (the peers') drops the fields."""
    form = generate.forms if odd else st.just(generate.PLAIN)
    values = dict(generate.VALUES)
    if small_ints:
        values["INT"] = st.integers(-(2**31), 2**31 - 1)
    context_names = draw(st.lists(st.sampled_from(generate.NAMES), max_size=3, unique=True))
    list_names = draw(st.lists(st.sampled_from(LISTS), min_size=1, max_size=3, unique=True))
    context = {name: draw(st.sampled_from(generate.KINDS)) for name in context_names}
    lists = {name: draw(st.sampled_from(generate.KINDS)) for name in list_names}

    def step(name: str) -> st.SearchStrategy[wire.Feature]:
        many = st.lists(values[lists[name]], max_size=4).map(tuple)
        return st.one_of(
            st.builds(wire.Feature, st.just(name), st.none(), st.just(()), form),
            st.builds(wire.Feature, st.just(name), st.just(lists[name]), many, form),
            st.builds(wire.Feature, st.just(name), st.just(lists[name]), many, form),
        )

    records = []
    for _ in range(draw(st.integers(0, 5))):
        entry = form if unknown else st.just(generate.PLAIN)
        row = [draw(generate.cells(name, context[name], entry)) for name in context]
        names = draw(st.lists(st.sampled_from(list_names), max_size=4, unique=not odd))
        items = [(name, draw(st.lists(step(name), max_size=5))) for name in names]
        how = draw(st.integers(0, 3 + unknown)) if odd else 0
        found = None if not items and draw(st.booleans()) else items
        records.append(sequence_example([f for f in row if f is not None], found, how))
    return Batch(context, lists, records)


# What they say


def ours(records: Sequence[bytes], schema: str | None = None, **options: Any) -> pa.RecordBatch:
    decoder = cst.decoder(
        "sequence_example",
        schema=cst.Schema.from_text(schema) if schema is not None else None,
        **options,
    )
    return pa.record_batch(decoder.decode(records))


def tfx_bsl(records: Sequence[bytes], schema: str | None = None) -> pa.RecordBatch:
    arguments = [] if schema is None else [schema_proto(schema).SerializeToString()]
    return SequenceExamplesToRecordBatchDecoder(COLUMN, *arguments).DecodeBatch(list(records))


def values_of(feature: Any) -> list[Any] | None:
    kind = feature.WhichOneof("kind")
    return None if kind is None else list(getattr(feature, kind).value)


def by_protobuf(records: Sequence[bytes]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Per record the context's values by name, and the lists' by name."""
    rows = []
    for record in records:
        message = tf.train.SequenceExample.FromString(record)
        context = {n: values_of(f) for n, f in message.context.feature.items()}
        lists = {
            n: [values_of(f) for f in feature_list.feature]
            for n, feature_list in message.feature_lists.feature_list.items()
        }
        rows.append((context, lists))
    return rows


def columns_of(batch: pa.RecordBatch) -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
    context = {n: batch[n].to_pylist() for n in batch.schema.names if n != COLUMN}
    if COLUMN not in batch.schema.names:
        return context, {}
    column = batch[COLUMN]
    assert column.null_count == 0
    return context, {f.name: column.field(f.name).to_pylist() for f in column.type}


# Tests


@given(batches())
def test_values_are_those_of_protobuf(batch: Batch) -> None:
    decoded = ours(batch.records, batch.schema_text())
    decoded.validate(full=True)
    assert decoded.schema.names == [*batch.context, COLUMN]
    context, lists = columns_of(decoded)
    rows = by_protobuf(batch.records)
    for name in batch.context:
        assert exact(context[name]) == exact([c.get(name) for c, _ in rows])
    for name, kind in batch.lists.items():
        assert exact(lists[name]) == exact([found.get(name) for _, found in rows])
        type_ = pa.large_list(pa.large_list(TYPES[kind]))
        assert decoded.schema.field(COLUMN).type.field(name).type == type_


@given(batches())
def test_without_a_schema(batch: Batch) -> None:
    decoded = ours(batch.records)
    decoded.validate(full=True)
    context, lists = columns_of(decoded)
    rows = by_protobuf(batch.records)
    assert list(context) == sorted({n for c, _ in rows for n in c}, key=str.encode)
    assert list(lists) == sorted({n for _, found in rows for n in found}, key=str.encode)
    for name in context:
        assert exact(context[name]) == exact([c.get(name) for c, _ in rows])
    for name in lists:
        assert exact(lists[name]) == exact([found.get(name) for _, found in rows])


@given(batches(small_ints=True, unknown=True))
def test_the_same_as_tfx_bsl(batch: Batch) -> None:
    """Its integers in feature lists are cut to 32 bits; smaller ones it reads right."""
    schema = batch.schema_text()
    assert_same_batch(ours(batch.records, schema), tfx_bsl(batch.records, schema))


@given(batches(small_ints=True, unknown=True))
def test_the_same_as_tfx_bsl_without_a_schema(batch: Batch) -> None:
    left, right = ours(batch.records), tfx_bsl(batch.records)
    assert left.schema.names == right.schema.names
    assert exact(columns_of(left)[0]) == exact(columns_of(right)[0])
    ours_lists, theirs = columns_of(left)[1], columns_of(right)[1]
    assert list(ours_lists) == list(theirs)
    for name, rows in ours_lists.items():
        # A list without any typed value: theirs is large_list<null>, ours large_list<large_list<>>.
        assert exact(rows) == exact(theirs[name])


def test_tfx_bsl_cuts_integers() -> None:
    record = sequence_example([], [("s", [wire.Feature("s", "INT", (5_000_000_000,))])])
    assert columns_of(ours([record]))[1] == {"s": [[[5_000_000_000]]]}
    assert columns_of(tfx_bsl([record]))[1] == {"s": [[[705032704]]]}


@given(batches(), st.data())
def test_projection(batch: Batch, data: st.DataObject) -> None:
    names = data.draw(st.permutations(list(batch.lists)))
    names = names[: data.draw(st.integers(1, len(names)))]
    whole = columns_of(ours(batch.records, batch.schema_text()))[1]
    wanted = ours(
        batch.records, batch.schema_text(), columns=[f"{COLUMN}.{name}" for name in names]
    )
    assert wanted.schema.names == [COLUMN]
    found = columns_of(wanted)[1]
    assert list(found) == names
    assert exact(found) == exact({name: whole[name] for name in names})


@given(batches())
def test_other_types_hold_the_same(batch: Batch) -> None:
    schema = batch.schema_text()
    plain = columns_of(ours(batch.records, schema))
    narrow = ours(batch.records, schema, offsets=32)
    narrow.validate(full=True)
    assert exact(columns_of(narrow)) == exact(plain)
    views = ours(batch.records, schema, binary_views=True)
    views.validate(full=True)
    assert exact(columns_of(views)) == exact(plain)


# tf.io.parse_sequence_example


def tf_parse(
    records: Sequence[bytes], context: dict[str, Any], lists: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    found = tf.io.parse_sequence_example(
        tf.constant(list(records), tf.string), context or None, lists or None
    )
    return found[0], found[1]


def no_nulls(rows: list[Any]) -> list[list[list[Any]]]:
    """Tensors know no nulls: absent lists have no steps, features without a kind no values."""
    return [[step or [] for step in row or []] for row in rows]


def coordinates(rows: list[list[list[Any]]]) -> tuple[list[list[int]], list[Any]]:
    indices = [
        [i, j, k] for i, row in enumerate(rows) for j, s in enumerate(row) for k in range(len(s))
    ]
    return indices, [value for row in rows for step in row for value in step]


@given(batches(odd=False))
def test_ragged_and_varlen_lists_of_tensorflow(batch: Batch) -> None:
    if not batch.records:
        return
    context, lists = columns_of(ours(batch.records, batch.schema_text()))
    ragged = {n: tf.io.RaggedFeature(TF_TYPES[k]) for n, k in batch.lists.items()}
    varlen = {n: tf.io.VarLenFeature(TF_TYPES[k]) for n, k in batch.lists.items()}
    flat = {n: tf.io.VarLenFeature(TF_TYPES[k]) for n, k in batch.context.items()}
    found_context, found = tf_parse(batch.records, flat, ragged)
    for name in batch.lists:
        assert exact(found[name].to_list()) == exact(no_nulls(lists[name]))
    for name in batch.context:
        rows = [[row or []] for row in context[name]]
        indices, values = coordinates(rows)
        assert found_context[name].indices.numpy().tolist() == [[i, k] for i, _, k in indices]
        assert exact(found_context[name].values.numpy().tolist()) == exact(values)
    _, found = tf_parse(batch.records, {}, varlen)
    for name in batch.lists:
        indices, values = coordinates(no_nulls(lists[name]))
        assert found[name].indices.numpy().tolist() == indices
        assert exact(found[name].values.numpy().tolist()) == exact(values)


@st.composite
def rectangles(draw: st.DrawFn) -> tuple[str, int, list[bytes]]:
    """Records whose list has features of one size, and a context feature of that size."""
    kind = draw(st.sampled_from(generate.KINDS))
    size = draw(st.integers(1, 3))
    values = st.lists(generate.VALUES[kind], min_size=size, max_size=size).map(tuple)
    step = st.builds(wire.Feature, st.just("s"), st.just(kind), values)
    records = []
    for _ in range(draw(st.integers(1, 4))):
        steps = draw(st.lists(step, max_size=4))
        records.append(sequence_example([wire.Feature("c", kind, draw(values))], [("s", steps)]))
    return kind, size, records


@given(rectangles())
def test_fixed_sizes_of_tensorflow(case: tuple[str, int, list[bytes]]) -> None:
    kind, size, records = case
    context, lists = columns_of(ours(records))
    found_context, found = tf_parse(
        records,
        {"c": tf.io.FixedLenFeature([size], TF_TYPES[kind])},
        {"s": tf.io.FixedLenSequenceFeature([size], TF_TYPES[kind], allow_missing=True)},
    )
    assert exact(found_context["c"].numpy().tolist()) == exact(context["c"])
    for row, steps in zip(found["s"].numpy(), lists.get("s", [[]] * len(records)), strict=True):
        assert exact(row[: len(steps)].tolist()) == exact(steps)


# Files and tensors


def tensors_of(
    records: Sequence[bytes], schema: str | None, columns: list[str] | None = None
) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "records.tfrecord")
        path.write_bytes(framed(records))
        source = cst.open(
            path,
            format="sequence_example",
            schema=schema,
            columns=columns,
            batch_size=max(1, len(records)),
        )
        (tensors,) = list(source.tensors())
        return dict(tensors)


@given(batches(odd=False))
def test_ragged_tensors_of_a_source(batch: Batch) -> None:
    if not batch.records:
        return
    ragged = {n: tf.io.RaggedFeature(TF_TYPES[k]) for n, k in batch.lists.items()}
    _, found = tf_parse(batch.records, {}, ragged)
    tensors = tensors_of(batch.records, batch.schema_text())
    for name in batch.lists:
        tensor = tensors[f"{COLUMN}.{name}"]
        values = np.asarray(tensor.values)
        splits = [np.asarray(s) for s in tensor.row_splits]
        _, _, _, rows = plain_ragged(splits, values)
        assert rows == exact(found[name].to_list())
        alone = tensors_of(batch.records, batch.schema_text(), [f"{COLUMN}.{name}"])
        assert list(alone) == [f"{COLUMN}.{name}"]


@given(batches())
def test_a_source_infers_its_schema(batch: Batch) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "records.tfrecord")
        path.write_bytes(framed(batch.records))
        source = cst.open(path, format="sequence_example", batch_size=2)
        table = pa.table(source)
    rows = by_protobuf(batch.records)
    for name in table.schema.names:
        if name != COLUMN:
            assert exact(table[name].to_pylist()) == exact([c.get(name) for c, _ in rows])
            continue
        for i, cell in enumerate(table[name].to_pylist()):
            assert exact(cell) == exact({n: rows[i][1].get(n) for n in cell})
    if COLUMN not in table.schema.names:
        assert not any(found for _, found in rows)


# Real data


def real_records() -> list[bytes]:
    records = []
    for path in sorted(DATA.glob("*.tfrecord.gz")):
        blob = gzip.decompress(path.read_bytes())
        at = 0
        while at < len(blob):
            (length,) = struct.unpack_from("<Q", blob, at)
            records.append(blob[at + 12 : at + 12 + length])
            at += length + 16
    return records


@pytest.mark.skipif(not DATA.is_dir(), reason="shared/data/sequence is not beside the repository")
def test_real_data() -> None:
    records = real_records()
    assert records
    context, lists = columns_of(ours(records))
    rows = by_protobuf(records)
    for name, column in context.items():
        assert exact(column) == exact([c.get(name) for c, _ in rows])
    for name, column in lists.items():
        assert exact(column) == exact([found.get(name) for _, found in rows])
    found = [name for c, _ in rows for name in c]
    assert set(context) == set(found)
    table = pa.table(cst.open(str(DATA / "*.tfrecord.gz"), format="sequence_example"))
    assert exact(table.to_pylist()) == exact(ours(records).to_pylist())
