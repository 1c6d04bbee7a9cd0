"""Indexing of structured tensors: numpy's on dense data, the reference's in plain Python on all
other."""

from __future__ import annotations

from random import Random
from typing import Any

import columnstone as cst
import nested_data as data
import nested_reference as ref
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, note

DTYPES = [
    np.int8,
    np.int16,
    np.int32,
    np.int64,
    np.uint8,
    np.uint16,
    np.uint32,
    np.uint64,
    np.float32,
    np.float64,
    np.bool_,
]


def numpy_key(items: list[Any]) -> tuple[Any, ...]:
    return tuple(
        np.array(i.values, bool if i.is_bool else np.int64).reshape(i.shape)
        if isinstance(i, ref.IndexArray)
        else i
        for i in items
    )


@data.cases(150)
@given(data.randoms())
def test_dense_data_is_indexed_as_numpy_does(r: Random) -> None:
    dtype = r.choice(DTYPES)
    array, is_row, values = data.dense(r, dtype, r.randrange(5))
    tensor = ref.Tensor(values.tolist(), values.ndim, ref.Leaf("int"))
    items = data.random_items(r, values.shape, tensor, nulls=False)
    ours, key = data.nested(array, is_row), data.our_key(r, tuple(items))
    try:
        expected = values[numpy_key(items)]
    except IndexError:
        if not looks_into_a_row(tensor, items):
            return  # numpy knows the length of rows that are not there; we need not
        data.expect_error(lambda: ours[key], IndexError)
        return
    result = ours[key]
    assert result.rank == expected.ndim
    assert repr(result.to_py()) == repr(expected.tolist())
    for size, rows in zip(result.shape, expected.shape, strict=True):
        assert size in (rows, None)
    if expected.size:
        assert result.shape == expected.shape


def looks_into_a_row(tensor: ref.Tensor, items: list[Any]) -> bool:
    try:
        ref.index(tensor, tuple(items))
    except ref.BadIndex:
        return True
    return False


@data.cases(250)
@given(data.randoms())
def test_any_data_is_indexed_as_the_reference_does(r: Random) -> None:
    made = data.random_tensor(r)
    key = data.random_key(r, made.tensor)
    ours = made.ours()
    ours_key = data.our_key(r, key)
    note(f"{key}\n{ours_key}\n{made.array.type} is_row {made.is_row}\n{made.tensor.value}")
    data.agree(lambda: ours[ours_key], lambda: ref.index(made.tensor, key))


@data.cases(100)
@given(data.randoms())
def test_ragged_numbers_are_indexed_as_the_reference_does(r: Random) -> None:
    made = data.tensor_of(r, r.choice([pa.int64(), pa.string()]), r.randint(1, 4))
    key = data.random_key(r, made.tensor)
    ours = made.ours()
    ours_key = data.our_key(r, key)
    note(f"{key}\n{ours_key}\n{made.array.type} is_row {made.is_row}\n{made.tensor.value}")
    data.agree(lambda: ours[ours_key], lambda: ref.index(made.tensor, key))


@data.cases(200)
@given(data.randoms())
def test_names_project_at_any_rank(r: Random) -> None:
    made = data.structured(r, r.randint(0, 3))
    ours, tensor = made.ours(), made.tensor
    data.check(ours, tensor)
    steps = []
    while isinstance(tensor.element, ref.Struct) and tensor.element.fields and r.randrange(4):
        steps.append(r.choice(list(tensor.element.fields)))
        tensor, ours = ref.project(tensor, steps[-1:]), ours[steps[-1]]
        data.check(ours, tensor)
    if steps:
        data.check(made.ours()[tuple(steps)], tensor)
        path = ".".join(steps)
        data.agree(lambda: made.ours()[path], lambda: ref.project(made.tensor, path))


@data.cases(60)
@given(data.randoms())
def test_row_splits_and_flat_values(r: Random) -> None:
    made = data.random_tensor(r)
    ours, tensor = made.ours(), made.tensor
    assert len(ours.row_splits) == max(tensor.rank - 1, 0)
    for depth, splits in enumerate(ours.row_splits, start=1):
        lengths = [len(row or []) for row in ref.flat(tensor.value, depth)]
        assert splits.to_pylist() == [sum(lengths[:i]) for i in range(len(lengths) + 1)]
    elements = ref.flat(tensor.value, tensor.rank)
    data.check(ours.flat_values, ref.Tensor(elements, 1, tensor.element))


# --- what must be refused, and how ------------------------------------------------------------


def ragged() -> Any:
    return data.nested(pa.array([[1], [2, 3], None]))


def test_an_integer_out_of_range_names_the_row_and_its_length() -> None:
    with pytest.raises(IndexError, match=r"row \[0\].*1") as caught:
        ragged()[:, 1]
    assert isinstance(caught.value, cst.Error)
    assert ragged()[:, 0].to_py() == [1, 2, None]
    assert ragged()[1:, 1].to_py() == [3, None]


@pytest.mark.parametrize("key", [(0, 0, 0), (slice(None), 0, slice(None)), (..., 0, 0, 0)])
def test_too_many_indices(key: Any) -> None:
    data.expect_error(lambda: ragged()[key], IndexError)


@pytest.mark.parametrize("key", [0, slice(None), (..., 0), [True]])
def test_a_scalar_has_no_dimension_to_index(key: Any) -> None:
    scalar = data.nested(pa.array([{"a": 1}]), is_row=True)
    data.expect_error(lambda: scalar[key], IndexError)


def test_an_item_addresses_only_dimensions_that_are_there_before_a_name() -> None:
    st = data.nested(pa.array([{"a": [1, 2]}]))
    assert st[0, "a", 1].to_py() == 2
    assert st["a", 0, 1].to_py() == 2
    with pytest.raises(IndexError, match="a"):
        st[0, 1, "a"]


def test_ragged_lists_are_no_index() -> None:
    with pytest.raises(cst.Error, match=r"struct\.constant"):
        ragged()[[[0], [0, 1]]]


@pytest.mark.parametrize("key", [0.5, b"a", (0, 0.5), {"a"}, np.array([0.5]), object()])
def test_what_is_no_index(key: Any) -> None:
    with pytest.raises((TypeError, cst.Error)):
        ragged()[key]


@pytest.mark.parametrize("path", ["a.", ".a", "a..b", "no", "a.no", ("a", "no"), ["no"]])
def test_unknown_names(path: Any) -> None:
    st = data.nested(pa.array([{"a": {"b": 1}}]))
    data.expect_error(lambda: st[path], KeyError)
    data.expect_error(lambda: st[path], cst.errors.NotFoundError)


def test_names_with_dots() -> None:
    """The whole name first, then the longest one up to a dot."""
    st = data.nested(pa.array([{"a": {"b": 1, "b.c": {"d": 2}}, "a.b": {"c": 3}}]))
    assert st["a.b"].to_py() == [{"c": 3}]
    assert st["a.b.c"].to_py() == [3]
    assert st["a", "b.c", "d"].to_py() == [2]
    assert st["a"]["b.c.d"].to_py() == [2]
    assert st[["a.b"]].to_py() == [{"a.b": {"c": 3}}]
