"""array_util, table_util, types and version give what tfx_bsl gives, and refuse what it refuses."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from columnstone.compat.tfx_bsl import types_compat, version
from columnstone.compat.tfx_bsl.arrow import array_util, path, table_util
from columnstone.compat.tfx_bsl.types import common_types, tfx_namedtuple
from conftest import real

their_arrays = real("tfx_bsl.arrow.array_util")
their_tables = real("tfx_bsl.arrow.table_util")
their_path = real("tfx_bsl.arrow.path")

NESTED = pa.array([[["a"], ["bb", None], None], None, [["c"], [], ["d"]], [["e"]]])
STRUCTS = pa.array([{"x": 1, "y": ["p"]}, None, {"x": None, "y": None}, {"x": 3, "y": []}])
ARRAYS = {
    "int64": pa.array([1, None, 3]),
    "float32": pa.array([1.5, None], pa.float32()),
    "bool": pa.array([True, None, False] * 4),
    "null": pa.array([None, None]),
    "string": pa.array(["a", None, "", "ccc"]),
    "large_binary": pa.array([b"a", b"\xff", None], pa.large_binary()),
    "list": pa.array([[1], None, [], [2, None]]),
    "large_list": pa.array([[1.0], None, [2.0, 3.0]], pa.large_list(pa.float64())),
    "nested": NESTED,
    "slice": NESTED.slice(1, 2),
    "large nested": NESTED.cast(pa.large_list(pa.large_list(pa.string()))),
    "structs": STRUCTS,
    "slice of structs": STRUCTS.slice(1),
    "lists of structs": pa.array([[{"x": 1}, None], None, [{"x": None}]]),
    "none": pa.array([], pa.list_(pa.int32())),
    "timestamp": pa.array([1, None], pa.timestamp("s")),
}
OF_ONE_ARRAY = (
    "ListLengthsFromListArray",
    "GetElementLengths",
    "GetFlattenedArrayParentIndices",
    "GetArrayNullBitmapAsByteArray",
    "GetBinaryArrayTotalByteSize",
    "GetByteSize",
    "CountInvalidUTF8",
    "CooFromListArray",
    "ToSingletonListArray",
    "flatten_nested",
)


def told(value: Any) -> Any:
    """What can be compared, with its type."""
    if isinstance(value, pa.Array):
        value.validate(full=True)
        return value.type, value.to_pylist()
    if isinstance(value, pa.RecordBatch):
        return value.schema.names, [told(column) for column in value.columns], value.num_rows
    if isinstance(value, np.ndarray):
        return value.dtype, value.tolist()
    return tuple(map(told, value)) if isinstance(value, tuple) else value


def outcome(function: Any, *arguments: Any) -> Any:
    """What a call gives, or the class and the status of its error."""
    try:
        return told(function(*arguments))
    except (RuntimeError, KeyError, AssertionError, NotImplementedError) as error:
        return type(error), str(error).split(":")[0]


@pytest.mark.parametrize("name", OF_ONE_ARRAY)
@pytest.mark.parametrize("kind", ARRAYS)
def test_functions_of_one_array(name: str, kind: str) -> None:
    ours, theirs = (getattr(module, name) for module in (array_util, their_arrays))
    assert outcome(ours, ARRAYS[kind]) == outcome(theirs, ARRAYS[kind])


@pytest.mark.parametrize("name", OF_ONE_ARRAY[:8])
def test_what_is_no_array(name: str) -> None:
    for module in (array_util, their_arrays):
        with pytest.raises(RuntimeError):
            getattr(module, name)(1)


@pytest.mark.parametrize("kind", ARRAYS)
def test_types_and_parents(kind: str) -> None:
    array = ARRAYS[kind]
    for name in ("is_list_like", "get_innermost_nested_type"):
        assert getattr(array_util, name)(array.type) == getattr(their_arrays, name)(array.type)
    ours, theirs = (m.flatten_nested(array, True) for m in (array_util, their_arrays))
    assert told(ours) == told(theirs)


def test_get_field() -> None:
    for structs in (STRUCTS, STRUCTS.slice(1, 2), STRUCTS.slice(2), STRUCTS.slice(0, 0)):
        for field in ("x", "y"):
            ours, theirs = (m.get_field(structs, field) for m in (array_util, their_arrays))
            assert told(ours) == told(theirs)
    assert array_util.get_field(STRUCTS, 0).to_pylist() == [1, None, None, 3]
    for module in (array_util, their_arrays):
        with pytest.raises(KeyError):
            module.get_field(STRUCTS, "z")


@pytest.mark.parametrize(
    ("values", "value_set"),
    [
        (pa.array([9, 4, None]), pa.array([4, 9])),
        (pa.array([9, 4, None]), pa.array([None, 4, 9])),
        (pa.array(["a", "b", None]), pa.array(["b", "b", None, "a"])),
        (pa.array(["a", "b"]), pa.array(["b"], pa.large_string())),
        (pa.array([b"a"], pa.large_binary()), pa.array([b"b", b"a"])),
        (pa.array([1]), pa.array(["a"])),
        (pa.array([1]), pa.array([1], pa.int32())),
        (pa.array(["a"]), pa.array([b"a"])),
        (pa.array([[1]]), pa.array([[1]])),
    ],
)
def test_index_in(values: pa.Array, value_set: pa.Array) -> None:
    ours, theirs = (outcome(m.IndexIn, values, value_set) for m in (array_util, their_arrays))
    assert ours == theirs


@pytest.mark.parametrize("as_null", [True, False])
@pytest.mark.parametrize(
    ("num_parents", "parents", "values"),
    [
        (4, pa.array([0, 0, 2]), pa.array(["a", None, "c"])),
        (0, pa.array([], pa.int64()), pa.array([], pa.int32())),
        (2, pa.array([], pa.int64()), NESTED.slice(0, 0)),
        (1, pa.array([0, 3]), pa.array([1, 2])),
        (3, pa.array([0]), pa.array([1, 2])),
        (3, pa.array([0], pa.int32()), pa.array([1])),
    ],
)
def test_lists_of_parents(
    num_parents: int, parents: pa.Array, values: pa.Array, as_null: bool
) -> None:
    name = "MakeListArrayFromParentIndicesAndValues"
    ours, theirs = (
        outcome(getattr(m, name), num_parents, parents, values, as_null)
        for m in (array_util, their_arrays)
    )
    assert ours == theirs


def test_parents_out_of_order_are_refused() -> None:
    """tfx_bsl loses values without a word."""
    with pytest.raises(RuntimeError, match="INVALID_ARGUMENT"):
        array_util.MakeListArrayFromParentIndicesAndValues(3, pa.array([1, 0]), pa.array([1, 2]))


@pytest.mark.parametrize("fill", [pa.array([7, 8]), pa.array([], pa.int64()), pa.array(["a"])])
@pytest.mark.parametrize("kind", ["list", "none", "large_list", "int64"])
def test_fill_null_lists(fill: pa.Array, kind: str) -> None:
    ours, theirs = (
        outcome(m.FillNullLists, ARRAYS[kind], fill) for m in (array_util, their_arrays)
    )
    assert ours == theirs


def batch(**columns: pa.Array) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(list(columns.values()), list(columns))


@pytest.mark.parametrize(
    "batches",
    [
        [],
        [batch(a=pa.array([], pa.int64()))],
        [batch(a=pa.array([1])), batch(a=pa.array([2]))],
        [batch(a=pa.array([1])), batch(a=pa.array([2], pa.int32()))],
        [batch(a=pa.array([[1]])), batch(a=pa.array([[1]], pa.large_list(pa.int64())))],
        [batch(a=pa.array(["a"])), batch(a=pa.array([b"a"]))],
        [batch(a=pa.array([1])), batch(b=pa.array(["x"]))],
        [batch(a=pa.array([], pa.int64())), batch(b=pa.array(["x"]))],
        [batch(a=pa.array([None])), batch(a=NESTED)],
        [batch(a=pa.array([[None]])), batch(a=NESTED.slice(1))],
        [batch(a=pa.array([[None, None], [None]]).slice(1)), batch(b=pa.array([1]))],
        [batch(a=pa.array([1])).replace_schema_metadata({"x": "y"})] * 2,
        [pa.record_batch([[1]], schema=pa.schema([pa.field("a", pa.int64(), nullable=False)]))] * 2,
        [batch(a=pa.array([{"x": 1}])), batch(a=pa.array([{"y": "q"}, None]))],
        [batch(a=pa.array([[{"x": [1]}]])), batch(a=pa.array([[{"y": [1.5]}, None]]))],
        [batch(a=pa.array([{"x": [[1]]}])), batch(a=pa.array([{"x": None}]))],
    ],
)
def test_merge(batches: list[pa.RecordBatch]) -> None:
    ours, theirs = (outcome(m.MergeRecordBatches, batches) for m in (table_util, their_tables))
    assert ours == theirs


BATCH = batch(
    n=NESTED,
    s=STRUCTS,
    l=pa.array([[{"x": [1], "s": {"q": 1}}, None], None, [], [{"x": None, "s": None}]]),
    i=pa.array([1, 2, None, 4]),
)


@pytest.mark.parametrize(
    "rows",
    [
        pa.array([0, 2], pa.int32()),
        pa.array([3, 3, 0]),
        pa.array([], pa.int64()),
        pa.array([None, 1], pa.int32()),
        pa.array([1], pa.uint8()),
        pa.array([9]),
        pa.array([-1]),
    ],
)
def test_take(rows: pa.Array) -> None:
    ours, theirs = (outcome(m.RecordBatchTake, BATCH, rows) for m in (table_util, their_tables))
    assert ours == theirs


def test_sizes() -> None:
    odd = batch(t=ARRAYS["timestamp"], i=pa.array([1, 2]))
    for module in (table_util, their_tables):
        with pytest.raises(RuntimeError, match="UNIMPLEMENTED"):
            module.TotalByteSize(odd)
    flat = BATCH.select(["n", "s", "i"]).slice(1, 2)  # but for l: see GetByteSize
    for thing in (BATCH, flat, pa.Table.from_batches([BATCH, BATCH])):
        assert table_util.TotalByteSize(thing) == their_tables.TotalByteSize(thing)
    assert table_util.TotalByteSize(odd, True) == their_tables.TotalByteSize(odd, True) == 16


@pytest.mark.parametrize("kind", ARRAYS)
def test_canonical(kind: str) -> None:
    thing = batch(a=ARRAYS[kind])
    ours, theirs = (outcome(m.CanonicalizeRecordBatch, thing) for m in (table_util, their_tables))
    assert ours == theirs


def test_numpy_kinds() -> None:
    for kind in "iufbSOUMmcV":
        ours, theirs = (m.NumpyKindToArrowType(kind) for m in (table_util, their_tables))
        assert ours == theirs


@pytest.mark.parametrize("wraps", [True, False])
@pytest.mark.parametrize("leaves_only", [True, False])
def test_walk(leaves_only: bool, wraps: bool) -> None:
    ours, theirs = (
        [(p.steps(), told(a)) for p, a in m.enumerate_arrays(BATCH, leaves_only, wraps)]
        for m in (table_util, their_tables)
    )
    assert ours == theirs


@pytest.mark.parametrize("wraps", [True, False])
@pytest.mark.parametrize("with_rows", [True, False])
@pytest.mark.parametrize(
    "steps", ["n", "s", "s.x", "s.y", "l", "l.x", "l.s", "l.s.q", "", "z", "s.z", "n.x", "i.x.y"]
)
def test_get_array(steps: str, with_rows: bool, wraps: bool) -> None:
    names = steps.split(".") if steps else []
    ours, theirs = (
        outcome(tables.get_array, BATCH, paths.ColumnPath(names), with_rows, wraps)
        for tables, paths in ((table_util, path), (their_tables, their_path))
    )
    assert ours == theirs


Pair = tfx_namedtuple.namedtuple("Pair", ["a", "b"])
Typed = tfx_namedtuple.TypedNamedTuple("Typed", [("a", int)])


class Sum(Pair):  # type: ignore[misc, valid-type]
    def total(self) -> int:
        return int(self.a + self.b)


def test_named_tuples() -> None:
    assert pickle.loads(pickle.dumps(Sum(1, 2))).total() == 3
    assert pickle.loads(pickle.dumps(Typed(1))) == Typed(1)
    assert Pair.__module__ == Typed.__module__ == __name__
    assert Pair.__dict__["__reduce__"](Sum(1, 2)) == (Sum, (1, 2))
    renamed = tfx_namedtuple.namedtuple("Renamed", "a class", rename=True)
    theirs = real("tfx_bsl.types.tfx_namedtuple").namedtuple("Renamed", "a class", rename=True)
    assert renamed._fields == theirs._fields


def test_names_of_types() -> None:
    theirs = real("tfx_bsl.types.common_types")
    for name in ("FeatureSpecType", "TensorType", "TensorValueType", "TensorAlike"):
        assert getattr(common_types, name) == getattr(theirs, name)
    hints = real("tfx_bsl.types_compat")
    for name in types_compat.__all__:
        assert getattr(types_compat, name) is getattr(hints, name)
    assert version.__version__ == real("tfx_bsl.version").__version__
