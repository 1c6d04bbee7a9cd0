"""Table operations and those of tfx_bsl.arrow: equal where the peer is right; where it is not, a
test says what we do.

numpy arrays of the peer's come back as pyarrow arrays; ours are compared as Python values.
"""

import columnstone as cst
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tfx_bsl.arrow import array_util, path, table_util

_ITEMS = {
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.float32(): st.floats(width=32, allow_nan=False),
    pa.large_binary(): st.binary(max_size=5),
}


@st.composite
def lists(draw, levels: int = 1, nulls: bool = True) -> pa.Array:
    """Lists of the peer's kinds, most of the time a slice."""
    item = draw(st.sampled_from(list(_ITEMS)))
    type, values = item, _ITEMS[item]
    for _ in range(levels):
        type = draw(st.sampled_from([pa.list_, pa.large_list]))(type)
        values = st.lists(values, max_size=3)
    rows = draw(st.lists(st.one_of(st.none(), values) if nulls else values, max_size=8))
    whole = pa.array(rows, type)
    begin = draw(st.integers(0, len(rows)))
    return whole.slice(begin, draw(st.integers(0, len(rows) - begin)))


# ---- array_util ----


@given(lists(nulls=False))
def test_element_lengths(array):
    expected = array_util.GetElementLengths(array).to_pylist()
    assert cst.array(array).lengths().to_pylist() == expected


def test_a_null_list_has_a_null_length():
    """The peer says 0: its result never has nulls."""
    array = pa.array([[1], None, []])
    assert array_util.GetElementLengths(array).to_pylist() == [1, 0, 0]
    assert cst.array(array).lengths().to_pylist() == [1, None, 0]


@pytest.mark.parametrize(
    "array",
    [
        pa.array([[1, 2], [3, 4]], pa.list_(pa.int64(), 2)),
        pa.array([b"ab", b"cd"], pa.binary(2)),
        pa.array(["ab", "cd"], pa.string_view()),
    ],
)
def test_lengths_of_layouts_that_the_peer_does_not_know(array):
    with pytest.raises((RuntimeError, NotImplementedError, ValueError, TypeError)):
        array_util.GetElementLengths(array)
    assert cst.array(array).lengths().to_pylist() == [2, 2]


@given(lists())
def test_parent_indices(array):
    expected = array_util.GetFlattenedArrayParentIndices(array).to_pylist()
    values, parents = cst.array(array).flatten_with_parents()
    assert parents.type == "int64"  # the peer: int32 or int64, as the lists' offsets
    assert parents.to_pylist() == expected
    assert values.to_pylist() == array.flatten().to_pylist()


def test_values_behind_a_null_list_have_no_parent():
    """The peer counts them, though flattening leaves them out: the indices are too many."""
    offsets, bitmap = pa.py_buffer(np.array([0, 1, 3, 4], np.int32)), pa.py_buffer(b"\x05")
    array = pa.Array.from_buffers(
        pa.list_(pa.int64()), 3, [bitmap, offsets], children=[pa.array([1, 2, 3, 4])]
    )
    assert array.to_pylist() == [[1], None, [4]]
    assert array_util.GetFlattenedArrayParentIndices(array).to_pylist() == [0, 1, 1, 2]
    values, parents = cst.array(array).flatten_with_parents()
    assert values.to_pylist() == [1, 4]
    assert parents.to_pylist() == [0, 2]


@given(st.integers(1, 3).flatmap(lists))
def test_flatten_nested(array):
    expected, parents = array_util.flatten_nested(array, return_parent_indices=True)
    ours, rows = cst.array(array).flatten_with_parents(-1)
    assert ours.to_pylist() == expected.to_pylist()
    assert rows.to_pylist() == parents.tolist()


@given(lists())
def test_null_bitmaps(array):
    expected = array_util.GetArrayNullBitmapAsByteArray(array).to_pylist()
    assert cst.array(array).null_mask().to_pylist() == expected


def test_a_column_of_type_null_is_null():
    """The peer says 0 for every slot: such an array has no bitmap."""
    array = pa.array([None, None])
    assert array_util.GetArrayNullBitmapAsByteArray(array).to_pylist() == [0, 0]
    assert cst.array(array).null_mask().to_pylist() == [1, 1]


@given(lists(), st.booleans())
def test_from_parents(array, as_null):
    values, parents = cst.array(array).flatten_with_parents()
    ours = cst.arrow.Array.from_parents(values, parents, len(array), as_null)
    expected = array_util.MakeListArrayFromParentIndicesAndValues(
        len(array), pa.array(parents), pa.array(values), as_null
    )
    assert pa.array(ours).equals(expected)


@pytest.mark.parametrize(
    ("parents", "lost"), [([1, 0, 2], [[], [0], []]), ([-1, 0, 2], [[], [], []])]
)
def test_parents_that_the_peer_does_not_check(parents, lost):
    """Unsorted and negative parents lose values there; here they are an error that says which."""
    values = pa.array([0, 1, 2])
    theirs = array_util.MakeListArrayFromParentIndicesAndValues(
        3, pa.array(parents), values, empty_list_as_null=False
    )
    assert theirs.to_pylist() == lost
    with pytest.raises(cst.errors.ArgumentError, match="value"):
        cst.arrow.Array.from_parents(values, parents, 3)


@given(st.integers(1, 3).flatmap(lists))
def test_coordinates(array):
    places, shape = array_util.CooFromListArray(array)
    ours, dims = cst.array(array).coordinates()
    assert ours.flatten().to_pylist() == places.to_pylist()
    assert list(dims) == shape.to_pylist()


@given(lists())
def test_fill_null_lists(array):
    fill = array.flatten()[:2]
    expected = array_util.FillNullLists(array, fill)
    ours = cst.array(array).fill_null(fill)
    assert ours.to_pylist() == expected.to_pylist()
    assert pa.array(ours).type == array.type


@given(st.integers(0, 3).flatmap(lambda levels: lists(levels, nulls=False)))
def test_byte_sizes(array):
    assert cst.array(array).nbytes == array_util.GetByteSize(array)


def test_byte_sizes_with_nulls():
    for values in ([1, None, 3], ["a", None, "bc"], [[1], None, [2, 3]], [True, None, False]):
        array = pa.array(values)
        assert cst.array(array).nbytes == array_util.GetByteSize(array)
    table = pa.record_batch({"a": [1, None], "b": ["x", "yz"]})
    assert cst.record_batch(table).nbytes == table_util.TotalByteSize(table)


@pytest.mark.parametrize(
    ("array", "size"),
    [
        (pa.array([1, 2], pa.timestamp("s")), 16),
        (pa.array([1.5, 2.5], pa.float16()), 4),
        (pa.array([b"ab", b"cd"], pa.binary(2)), 4),
        (pa.array([[1, 2], [3, 4]], pa.list_(pa.int8(), 2)), 4),
    ],
)
def test_sizes_that_the_peer_does_not_know(array, size):
    with pytest.raises((RuntimeError, NotImplementedError, ValueError)):
        array_util.GetByteSize(array)
    assert cst.array(array).nbytes == size


@given(st.lists(st.one_of(st.none(), st.binary(max_size=6))))
def test_invalid_utf8(values):
    array = pa.array(values, pa.binary())
    assert cst.array(array).count_invalid_utf8() == array_util.CountInvalidUTF8(array)


# ---- table_util ----


@given(st.lists(lists(), min_size=1, max_size=3))
def test_merge_of_columns(columns):
    """Each column in a batch of its own, and two of one batch."""
    batches = [pa.record_batch({f"c{i}": column}) for i, column in enumerate(columns)]
    if sum(batch.num_rows for batch in batches) == 0:
        assert cst.concat(batches).num_rows == 0  # the peer fails an assertion
        return
    expected = table_util.MergeRecordBatches(batches)
    ours = cst.concat(batches)
    assert ours.column_names == expected.schema.names
    assert ours.to_pydict() == expected.to_pydict()


def test_merge_where_all_batches_are_empty():
    batches = [pa.record_batch({"a": pa.array([], pa.int64())})] * 2
    with pytest.raises(AssertionError):
        table_util.MergeRecordBatches(batches)
    assert cst.concat(batches).column_names == ["a"]


def test_merge_of_types_that_the_peer_refuses():
    """list with large_list, integers with floats: promoted, as no value changes."""
    lists = [pa.array([[1]], pa.list_(pa.int64())), pa.array([[2]], pa.large_list(pa.int64()))]
    numbers = [pa.array([1], pa.int32()), pa.array([2.5], pa.float64())]
    for parts in (lists, numbers):
        batches = [pa.record_batch({"a": part}) for part in parts]
        with pytest.raises(RuntimeError):
            table_util.MergeRecordBatches(batches)
        assert cst.concat(batches).to_pydict()["a"] == [p.to_pylist()[0] for p in parts]


def test_merge_of_batches_without_columns():
    empty = pa.record_batch({"a": [1, 2, 3]}).select([])
    batch = pa.record_batch({"a": [[4]]})
    expected = table_util.MergeRecordBatches([empty, batch])
    assert cst.concat([empty, batch]).to_pydict() == expected.to_pydict()


@given(lists(), st.data())
def test_take(array, data):
    rows = data.draw(st.lists(st.integers(0, len(array) - 1))) if len(array) else []
    batch = pa.record_batch({"a": array})
    expected = table_util.RecordBatchTake(batch, pa.array([*rows, None], pa.int64()))
    assert cst.record_batch(batch).take([*rows, None]).to_pydict() == expected.to_pydict()


def test_columns_by_path():
    batch = pa.record_batch(
        {"s": pa.array([[{"x": [1, 2]}, {"x": None}], None, [{"x": [3]}]]), "a": [[1], [2], None]}
    )
    for steps in (["a"], ["s"], ["s", "x"]):
        expected, rows = table_util.get_array(batch, path.ColumnPath(steps), True)
        values, parents = cst.record_batch(batch).column_with_rows(tuple(steps))
        assert values.to_pylist() == expected.to_pylist()
        assert parents.to_pylist() == rows.tolist()
    for steps in (["q"], ["s", "q"], ["a", "q"]):
        with pytest.raises(KeyError):
            table_util.get_array(batch, path.ColumnPath(steps), True)
        with pytest.raises(KeyError):
            cst.record_batch(batch).column(tuple(steps))
