"""What an encoder writes, the decoder of the same schema reads: the same batch, or an error before
anything is written."""

from __future__ import annotations

from typing import Any

import columnstone as cst
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

VALUES: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    "INT": (pa.int64(), st.integers(-1, 4)),
    "FLOAT": (pa.float32(), st.sampled_from([0.5, -1.0])),
    "BYTES": (pa.large_binary(), st.binary(max_size=2)),
    "NULL": (pa.null(), st.none()),
}
KINDS = ["INT", "INT", "INT", "FLOAT", "BYTES", "TYPE_UNKNOWN", "STRUCT"]
STRUCT = "struct_domain { feature { name: 'x' type: INT } }"


def feature(name: str, kind: str) -> str:
    return f"feature {{ name: '{name}' type: {kind} {STRUCT if kind == 'STRUCT' else ''} }}\n"


@st.composite
def ragged(draw: st.DrawFn, names: list[str], group: str) -> str:
    """A group with one ragged tensor, called like a feature or not."""
    sources = draw(st.permutations(names))
    lengths = iter(sources[1:])
    parts = ""
    for _ in range(draw(st.integers(0, 3))):
        length = draw(st.sampled_from([0, 1, 2]))
        name = next(lengths, None)
        if length > 0 or name is None:
            parts += f"partition {{ uniform_row_length: {max(length, 1)} }} "
        else:
            parts += f"partition {{ row_length: '{name}' }} "
    name = draw(st.sampled_from([sources[0], "t"]))
    return (
        f"tensor_representation_group {{ key: '{group}' value {{ tensor_representation {{ "
        f"key: '{name}' value {{ ragged_tensor {{ feature_path {{ step: '{sources[0]}' }} "
        f"{parts} }} }} }} }} }}\n"
    )


@st.composite
def schemas(draw: st.DrawFn) -> str:
    names = ["a", "b", "c"][: draw(st.integers(1, 3))]
    text = "".join(feature(name, draw(st.sampled_from(KINDS))) for name in names)
    groups = draw(st.sampled_from([[], [""], [""], ["", "other"]]))
    return text + "".join(draw(ragged(names, group)) for group in groups)


def lists_of(values: st.SearchStrategy[Any], depth: int) -> st.SearchStrategy[Any]:
    for _ in range(depth):
        values = st.lists(values, max_size=3)
    return values


@st.composite
def columns(draw: st.DrawFn, rows: int, depths: list[int]) -> pa.Array:
    type_, values = VALUES[draw(st.sampled_from(["INT", "INT", "INT", *VALUES]))]
    depth = draw(st.sampled_from(depths))
    cell = lists_of(values, depth)
    for _ in range(depth):
        type_ = pa.large_list(type_)
    cells = cell if draw(st.booleans()) else st.none() | cell
    return pa.array(draw(st.lists(cells, min_size=rows, max_size=rows)), type_)


@st.composite
def batches(draw: st.DrawFn) -> pa.RecordBatch:
    rows = draw(st.integers(1, 2))
    names = draw(st.lists(st.sampled_from(["a", "b", "c", "t"]), unique=True, min_size=1))
    return pa.record_batch([draw(columns(rows, [0, 1, 1, 1, 2])) for _ in names], names)


def cell_of(value: Any, in_list: bool) -> Any:
    return value if value is None or in_list else [value]


def is_list_type(type_: pa.DataType) -> bool:
    return pa.types.is_large_list(type_) or pa.types.is_list(type_)


def expected(batch: pa.RecordBatch, name: str) -> list[Any]:
    if name not in batch.schema.names:
        return [None] * batch.num_rows
    column = batch[name]
    return [cell_of(cell, is_list_type(column.type)) for cell in column.to_pylist()]


def assert_same(decoded: pa.RecordBatch, batch: pa.RecordBatch) -> None:
    """Columns that the batch lacks are null; what has no type has no empty lists of values."""
    for name in decoded.schema.names:
        if name == "t" and name not in batch.schema.names:
            continue  # a tensor whose features came as columns of their own
        cells = expected(batch, name)
        leaf = decoded[name].type
        if leaf == pa.null():
            cells = [None for _ in cells]
        while is_list_type(leaf):
            leaf = leaf.value_type
        if leaf == pa.null():
            cells = [cell if cell is None else [None] * len(cell) for cell in cells]
        assert decoded[name].to_pylist() == cells, name


def encoded(encoder: Any, batch: pa.RecordBatch) -> Any:
    try:
        return encoder.encode(batch)
    except cst.Error:
        return None


@given(schemas(), batches())
def test_examples(schema: str, batch: pa.RecordBatch) -> None:
    parsed = cst.Schema(schema)
    records = encoded(cst.encoder("example", schema=parsed), batch)
    if records is None:
        return
    for nested in (False, True):
        try:
            decoder = cst.decoder("example", schema=parsed, nested=nested)
        except cst.errors.SchemaError:
            continue  # whatever the records hold
        decoded = pa.record_batch(decoder.decode(records))
        if nested or "tensor_representation" not in schema:
            assert_same(decoded, batch)


@st.composite
def sequence_schemas(draw: st.DrawFn) -> str:
    names = ["a", "b"][: draw(st.integers(1, 2))]
    kinds = [draw(st.sampled_from(KINDS)) for _ in names]
    text = "".join(feature(name, draw(st.sampled_from(KINDS[:-1]))) for name in names)
    lists = " ".join(feature(name, kind) for name, kind in zip(names, kinds, strict=True))
    return f"{text} feature {{ name: '##SEQUENCE##' type: STRUCT struct_domain {{ {lists} }} }}"


@st.composite
def sequence_batches(draw: st.DrawFn) -> pa.RecordBatch:
    rows = draw(st.integers(1, 2))
    names = draw(st.lists(st.sampled_from(["a", "b"]), unique=True))
    made = {name: draw(columns(rows, [0, 1, 1])) for name in names}
    lists = draw(st.lists(st.sampled_from(["a", "b"]), unique=True, min_size=1))
    children = [draw(columns(rows, [1, 2, 2])) for _ in lists]
    made["##SEQUENCE##"] = pa.StructArray.from_arrays(children, lists)
    return pa.record_batch(list(made.values()), list(made))


@given(sequence_schemas(), sequence_batches())
def test_sequence_examples(schema: str, batch: pa.RecordBatch) -> None:
    parsed = cst.Schema(schema)
    records = encoded(cst.encoder("sequence_example", schema=parsed), batch)
    if records is None:
        return
    try:
        decoder = cst.decoder("sequence_example", schema=parsed)
    except cst.errors.SchemaError:
        return
    decoded = pa.record_batch(decoder.decode(records))
    steps = decoded.schema.get_field_index("##SEQUENCE##")
    context = decoded.remove_column(steps) if steps >= 0 else decoded
    assert_same(context, batch)
    if steps >= 0:
        struct = batch["##SEQUENCE##"]
        lists = pa.RecordBatch.from_struct_array(struct)
        assert_same(pa.RecordBatch.from_struct_array(decoded["##SEQUENCE##"]), lists)


RAGGED = """
feature { name: "x" type: INT } feature { name: "n" type: INT }
tensor_representation_group { key: "" value { tensor_representation { key: "x" value {
  ragged_tensor { feature_path { step: "x" } partition { row_length: "n" } } } } } }
"""
UNIFORM = RAGGED.replace('row_length: "n"', "uniform_row_length: 2")
TWO = RAGGED.replace('row_length: "n" }', 'row_length: "n" } partition { row_length: "m" }')
TWO += 'feature { name: "m" type: INT }'


@pytest.mark.parametrize(
    ("schema", "data", "row", "path", "what"),
    [
        (
            RAGGED,
            {"x": [None, [1, 2]]},
            1,
            "n",
            "missing but 'x' is present; ragged tensor 'x' needs both",
        ),
        (RAGGED, {"n": [[1], None]}, 0, "x", "missing but 'n' is present"),
        (RAGGED, {"x": [[1], [1]], "n": [[1], None]}, 1, "n", "missing"),
        (RAGGED, {"x": [[1, 2]], "n": [[1]]}, 0, "n", "add up to 1 values, found 2"),
        (RAGGED, {"x": [[1]], "n": [[2, -1]]}, 0, "n", "negative"),
        (RAGGED, {"x": [1], "n": [2]}, 0, "n", "add up to 2 values, found 1"),
        (
            UNIFORM,
            {"x": [[1, 2], [1]]},
            1,
            "x",
            "1 values, expected a multiple of the uniform row length 2",
        ),
        (TWO, {"x": [[1]], "n": [[2]], "m": [[1]]}, 0, "n", "add up to 2 row lengths"),
        (TWO, {"x": [[1]], "n": [[1]], "m": [[2]]}, 0, "m", "add up to 2 values"),
        ("feature { name: 'x' type: TYPE_UNKNOWN }", {"x": [None, [1]]}, 1, "x", "without a type"),
    ],
)
def test_refused(schema: str, data: dict[str, Any], row: int, path: str, what: str) -> None:
    encoder = cst.encoder("example", schema=cst.Schema(schema))
    with pytest.raises(cst.errors.SchemaError, match=what) as caught:
        encoder.encode(pa.record_batch(data))
    assert (caught.value.record, caught.value.path) == (row, path)


@pytest.mark.parametrize("type_", [pa.bool_(), pa.uint8(), pa.int32(), pa.uint64()])
def test_row_lengths_of_other_types(type_: pa.DataType) -> None:
    ones = pa.array([None, 1, 1], pa.int8()).cast(type_)
    lengths = pa.ListArray.from_arrays([0, 1, 3], ones)[1:]
    batch = pa.record_batch({"x": [[5, 6]], "n": lengths})
    records = cst.encoder("example", schema=cst.Schema(RAGGED)).encode(batch)
    decoder = cst.decoder("example", schema=cst.Schema(RAGGED), nested=True)
    assert pa.record_batch(decoder.decode(records))["x"].to_pylist() == [[[5], [6]]]


def test_empty_lists_of_nulls_have_the_schemas_type() -> None:
    schema = cst.Schema("feature { name: 'x' type: BYTES }")
    batch = pa.record_batch({"x": pa.array([[], None], pa.list_(pa.null()))})
    records = cst.encoder("example", schema=schema).encode(batch)
    assert pa.record_batch(cst.decoder("example", schema=schema).decode(records))[
        "x"
    ].to_pylist() == [
        [],
        None,
    ]
