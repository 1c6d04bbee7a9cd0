"""Record batches to tf.SequenceExamples, and nested lists to tf.Examples: protobuf and tfx_bsl read
from the records what was in the batch, and what is decoded again is the batch."""

from __future__ import annotations

import dataclasses
from typing import Any

import columnstone as cst
import pyarrow as pa
import pytest
import tensorflow as tf
import wire
from generate import NAMES, VALUES
from hypothesis import given
from hypothesis import strategies as st
from support import by_protobuf, exact, schema_proto
from tfx_bsl.coders.example_coder import RecordBatchToExamplesEncoder
from tfx_bsl.coders.sequence_example_coder import SequenceExamplesToRecordBatchDecoder

Plain = Any
SEQUENCE = "##SEQUENCE##"
ARROW = {"INT": pa.int64(), "FLOAT": pa.float32(), "BYTES": pa.large_binary()}
LISTS = {"INT": "int64_list", "FLOAT": "float_list", "BYTES": "bytes_list"}


def kinds(max_size: int) -> st.SearchStrategy[dict[str, str]]:
    return st.dictionaries(
        st.sampled_from(NAMES), st.sampled_from(sorted(ARROW)), max_size=max_size
    )


def values(kind: str, max_size: int = 5) -> st.SearchStrategy[list[Plain]]:
    return st.lists(VALUES[kind], max_size=max_size)


# Sequence examples


@dataclasses.dataclass(frozen=True)
class Sequences:
    """A batch with its context and feature lists; `steps` is None where there is no struct."""

    context: dict[str, str]
    steps: dict[str, str] | None
    rows: list[tuple[dict[str, Plain], dict[str, Plain]]]

    def batch(self) -> pa.RecordBatch:
        arrays = [
            pa.array([c[name] for c, _ in self.rows], pa.large_list(ARROW[kind]))
            for name, kind in self.context.items()
        ]
        names = list(self.context)
        if self.steps is not None:
            types = {n: pa.large_list(pa.large_list(ARROW[k])) for n, k in self.steps.items()}
            arrays.append(pa.array([s for _, s in self.rows], pa.struct(types.items())))
            names.append(SEQUENCE)
        if not arrays:
            return pa.RecordBatch.from_struct_array(pa.array([{}] * len(self.rows), pa.struct([])))
        return pa.record_batch(arrays, names)

    def schema_text(self) -> str:
        text = features(self.context)
        if self.steps is not None:
            domain = f"struct_domain {{ {features(self.steps)} }}"
            text += f'feature {{ name: "{SEQUENCE}" type: STRUCT {domain} }}\n'
        return text


def features(columns: dict[str, str]) -> str:
    return "".join(f'feature {{ name: "{n}" type: {k} }}\n' for n, k in columns.items())


@st.composite
def sequences(draw: st.DrawFn) -> Sequences:
    context, steps = draw(kinds(4)), draw(st.one_of(st.none(), kinds(4)))
    rows = []
    for _ in range(draw(st.integers(0, 5))):
        cells = {n: draw(st.none() | values(k)) for n, k in context.items()}
        lists = {
            n: draw(st.none() | st.lists(st.none() | values(k), max_size=4))
            for n, k in (steps or {}).items()
        }
        rows.append((cells, lists))
    return Sequences(context, steps, rows)


def fill(feature: tf.train.Feature, kind: str, cell: Plain) -> None:
    if cell is not None:
        values = getattr(feature, LISTS[kind])
        values.SetInParent()
        values.value.extend(cell)


def written_by_protobuf(made: Sequences, row: int) -> bytes:
    """One row, the entries of its maps in the order of their names, each written by protobuf."""
    cells, lists = made.rows[row]
    context = steps = b""
    for name in sorted(made.context, key=str.encode):
        features = tf.train.Features()
        fill(features.feature[name], made.context[name], cells[name])
        context += features.SerializeToString()
    for name in sorted(made.steps or {}, key=str.encode):
        if lists[name] is not None:
            entry = tf.train.FeatureLists()
            entry.feature_list[name].SetInParent()
            for cell in lists[name]:
                fill(entry.feature_list[name].feature.add(), made.steps[name], cell)
            steps += entry.SerializeToString()
    record = wire.delimited(1, context) if made.context else b""
    return record + (wire.delimited(2, steps) if made.steps is not None else b"")


def encoded(batch: pa.RecordBatch, **options: Any) -> list[bytes]:
    records = cst.encoder("sequence_example", **options).encode(batch)
    return [records[i] for i in range(len(records))]


@given(sequences())
def test_bytes_are_those_of_protobuf(made: Sequences) -> None:
    """Names sorted bytewise, values packed, nothing that protobuf would not write."""
    wanted = [written_by_protobuf(made, i) for i in range(len(made.rows))]
    assert encoded(made.batch()) == wanted
    assert encoded(made.batch(), schema=cst.Schema.from_text(made.schema_text())) == wanted


@given(sequences(), st.integers(0, 5), st.integers(0, 5))
def test_slices(made: Sequences, begin: int, length: int) -> None:
    assert encoded(made.batch().slice(begin, length)) == encoded(made.batch())[begin:][:length]


@given(sequences())
def test_decoding_gives_the_batch(made: Sequences) -> None:
    schema = cst.Schema.from_text(made.schema_text())
    decoded = pa.record_batch(
        cst.decoder("sequence_example", schema=schema).decode(encoded(made.batch()))
    )
    if made.steps:
        assert decoded.schema.names == made.batch().schema.names
    for name in decoded.schema.names:
        assert exact(decoded[name].to_pylist()) == exact(made.batch()[name].to_pylist())


@given(sequences())
def test_the_peer_decodes_the_batch(made: Sequences) -> None:
    """But integers of sequences, of which it keeps 32 bits."""
    schema = schema_proto(made.schema_text()).SerializeToString()
    decoder = SequenceExamplesToRecordBatchDecoder(SEQUENCE, schema)
    decoded = decoder.DecodeBatch(encoded(made.batch()))
    for name in decoded.schema.names:
        wanted = made.batch()[name].to_pylist()
        if name == SEQUENCE:
            wanted = [{n: in_32_bits(cell) for n, cell in row.items()} for row in wanted]
        assert exact(decoded[name].to_pylist()) == exact(wanted)


def in_32_bits(cell: Plain) -> Plain:
    if isinstance(cell, list):
        return [in_32_bits(value) for value in cell]
    return (cell + 2**31) % 2**32 - 2**31 if isinstance(cell, int) else cell


@pytest.mark.parametrize(
    "steps",
    [
        pa.list_(pa.list_(pa.int16())),
        pa.list_(pa.list_(pa.uint64(), 2)),
        pa.list_(pa.large_list(pa.int64()), 3),
        pa.large_list_view(pa.list_view(pa.int32())),
    ],
)
def test_lists_of_any_layout(steps: pa.DataType) -> None:
    rows = [{"a": [[1, 2], None, [3, 4]]}, {"a": None}, {"a": [None, None, [5, 6]]}]
    batch = pa.record_batch([pa.array(rows, pa.struct([("a", steps)]))], [SEQUENCE])
    made = Sequences({}, {"a": "INT"}, [({}, row) for row in rows])
    assert encoded(batch) == encoded(made.batch())
    assert encoded(batch.slice(1)) == encoded(made.batch().slice(1))


# Nested lists in Examples

PARTITIONS = {"r": 'partition { row_length: "%s" }', "u": "partition { uniform_row_length: %d }"}


@dataclasses.dataclass(frozen=True)
class Ragged:
    """One nested column "t" of values "v"; a partition is the name of its lengths, or uniform."""

    kind: str
    partitions: list[str | int]
    rows: list[Plain]

    def schema_text(self) -> str:
        lengths = [p for p in self.partitions if isinstance(p, str)]
        partitions = " ".join(
            PARTITIONS["r" if isinstance(p, str) else "u"] % p for p in self.partitions
        )
        ragged = f'ragged_tensor {{ feature_path {{ step: "v" }} {partitions} }}'
        tensor = f'tensor_representation {{ key: "t" value {{ {ragged} }} }}'
        group = f'tensor_representation_group {{ key: "g" value {{ {tensor} }} }}'
        return features({"v": self.kind, **dict.fromkeys(lengths, "INT")}) + group

    def batch(self) -> pa.RecordBatch:
        column = pa.large_list(ARROW[self.kind])
        for partition in self.partitions:
            column = pa.large_list(column) if isinstance(partition, str) else column
        return pa.record_batch([pa.array(self.rows, column)], ["t"])


def nested(kind: str, partitions: list[str | int]) -> st.SearchStrategy[list[Plain]]:
    """One list of a level: what is in it, flattened over the uniform partitions in front."""
    unit = 1
    for i, partition in enumerate(partitions):
        if isinstance(partition, str):
            inner = nested(kind, partitions[i + 1 :])
            break
        unit *= partition
    else:
        inner = VALUES[kind]
    return st.integers(0, 3).flatmap(
        lambda n: st.lists(inner, min_size=n * unit, max_size=n * unit)
    )


@st.composite
def raggeds(draw: st.DrawFn, uniform: bool = True) -> Ragged:
    kind = draw(st.sampled_from(sorted(ARROW)))
    choices = st.booleans() if uniform else st.just(True)
    count = draw(st.integers(1, 3))
    partitions: list[str | int] = [
        f"r{i}" if draw(choices) else draw(st.integers(1, 3)) for i in range(count)
    ]
    rows = draw(st.lists(st.none() | nested(kind, partitions), max_size=4))
    return Ragged(kind, partitions, rows)


def examples(made: Ragged) -> list[bytes]:
    records = cst.encoder("example", schema=cst.Schema.from_text(made.schema_text())).encode(
        made.batch()
    )
    return [records[i] for i in range(len(records))]


@given(raggeds())
def test_nested_lists_come_back(made: Ragged) -> None:
    """Lists to Examples to lists is the identity, and flat columns in between say the same."""
    schema = cst.Schema.from_text(made.schema_text())
    records = examples(made)
    decoder = cst.decoder("example", schema=schema, nested=True)
    decoded = pa.record_batch(decoder.decode(records))
    decoded.validate(full=True)
    assert decoded.schema.types == made.batch().schema.types
    assert decoded.schema.names == ["t"]
    assert exact(decoded["t"].to_pylist()) == exact(made.rows)
    flat = pa.record_batch(cst.decoder("example", schema=schema).decode(records))
    again = cst.encoder("example", schema=schema).encode(flat)
    assert [again[i] for i in range(len(again))] == records


@given(raggeds(uniform=False))
def test_nested_lists_as_the_peer_writes_them(made: Ragged) -> None:
    encoder = RecordBatchToExamplesEncoder(schema_proto(made.schema_text()))
    theirs = [exact(by_protobuf(record)) for record in encoder.encode(made.batch())]
    assert [exact(by_protobuf(record)) for record in examples(made)] == theirs


@given(raggeds())
def test_slices_of_nested_lists(made: Ragged) -> None:
    encoder = cst.encoder("example", schema=cst.Schema.from_text(made.schema_text()))
    part = encoder.encode(made.batch().slice(1, 2))
    assert [part[i] for i in range(len(part))] == examples(made)[1:3]


def test_uniform_partitions_as_the_peer_divides_by_them() -> None:
    made = Ragged("INT", ["r", 2], [[[1, 2], [3, 4, 5, 6]], None, []])
    encoder = RecordBatchToExamplesEncoder(schema_proto(made.schema_text()))
    theirs = [by_protobuf(record) for record in encoder.encode(made.batch())]
    assert [by_protobuf(record) for record in examples(made)] == theirs


def test_the_peer_does_not_check_the_remainder() -> None:
    made = Ragged("INT", ["r", 2], [[[1, 2, 3]]])
    encoder = RecordBatchToExamplesEncoder(schema_proto(made.schema_text()))
    assert by_protobuf(encoder.encode(made.batch())[0]) == {"r": [1], "v": [1, 2, 3]}
    with pytest.raises(
        cst.errors.UnsupportedError, match="a multiple of the uniform row length 2"
    ) as caught:
        examples(made)
    assert (caught.value.record, caught.value.path) == (0, "t")


def test_the_peer_writes_null_elements_as_zero() -> None:
    made = Ragged("INT", ["r"], [[[1, None]]])
    encoder = RecordBatchToExamplesEncoder(schema_proto(made.schema_text()))
    assert by_protobuf(encoder.encode(made.batch())[0]) == {"r": [2], "v": [1, 0]}
    with pytest.raises(cst.errors.UnsupportedError, match="value 1 of the list is null"):
        examples(made)
