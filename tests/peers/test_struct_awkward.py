"""Structured tensors and Awkward arrays, both ways."""

from __future__ import annotations

from datetime import date
from random import Random
from typing import Any

import awkward as ak
import columnstone as cst
import nested_data as data
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings


@settings(max_examples=150)
@given(data.randoms())
def test_both_ways(r: Random) -> None:
    made = data.random_tensor(r)
    ours, value = made.ours(), made.tensor.value
    theirs = ours.to_awkward()
    assert repr(ak.to_list(theirs)) == repr(value)
    if not isinstance(theirs, ak.Array | ak.Record):  # a value, or None
        return
    back = cst.StructuredTensor.from_awkward(theirs)
    assert type(back) is type(ours) or made.tensor.rank == 0
    assert repr(back.to_py()) == repr(value)
    pa.array(back).validate(full=True)


def test_through_arrow() -> None:
    rows = [{"a": 1, "b": [{"c": 1.5}, {"c": None}]}, None, {"a": None, "b": None}]
    ours = data.nested(pa.array(rows))
    assert ak.from_arrow(pa.array(ours)).to_list() == rows
    assert ours.to_awkward().to_list() == rows
    with pytest.raises(TypeError):  # it takes pyarrow's objects only
        ak.from_arrow(ours)


def test_what_has_no_nulls_is_no_option() -> None:
    rows = [{"a": 1, "b": [[1.5], []], "s": "x", "n": None}, {"a": 2, "b": [], "s": "y", "n": 3}]
    theirs = data.nested(pa.array(rows)).to_awkward()
    assert str(theirs.type) == "2 * {a: int64, b: var * var * float64, s: string, n: ?int64}"
    assert theirs.to_list() == rows
    assert str(ak.from_iter(rows).type) == str(theirs.type)


def test_numbers_are_not_copied() -> None:
    values = pa.array(np.arange(6.0))
    ours = data.nested(pa.FixedSizeListArray.from_arrays(values, 3))
    theirs = ours.to_awkward()
    assert str(theirs.type) == "2 * 3 * float64"
    assert np.shares_memory(np.asarray(theirs), ours.numpy())
    back = cst.StructuredTensor.from_awkward(theirs)
    assert back.shape == (2, 3)
    assert np.shares_memory(back.numpy(), ours.numpy())


@pytest.mark.parametrize(
    ("theirs", "value"),
    [
        (ak.Array([[1, 2], None, []]), [[1, 2], None, []]),
        (ak.Array([1, 2, 3])[[2, 0]], [3, 1]),
        (ak.Array([{"x": 1}, {"x": 2}])[[1, 0, 0]], [{"x": 2}, {"x": 1}, {"x": 1}]),
        (ak.Array([[1, 2, 3], [], [4]])[:, ::-1], [[3, 2, 1], [], [4]]),
        (ak.mask(ak.Array([{"x": [1]}, {"x": []}]), [False, True]), [None, {"x": []}]),
        (ak.Array([(1, "a"), (2, "b")]), [{"0": 1, "1": "a"}, {"0": 2, "1": "b"}]),
        (ak.Record({"a": 1, "b": [{"c": "x"}]}), {"a": 1, "b": [{"c": "x"}]}),
        (ak.Array([{"a": 1}, {"a": 2}])[1], {"a": 2}),
        (ak.from_numpy(np.zeros((2, 3, 1))), [[[0.0]] * 3] * 2),
        (ak.str.to_categorical(ak.Array(["u", "v", "u"])), ["u", "v", "u"]),
        (ak.Array([b"\xff", b""]), [b"\xff", b""]),
        (ak.Array([None, None]), [None, None]),
        (ak.Array([[None], []])[[1, 0]], [[], [None]]),
        (ak.Array([True, None, False]), [True, None, False]),
        (ak.Array([]), []),
        (ak.Array([[], []]), [[], []]),
        (ak.Array([{}, {}]), [{}, {}]),
    ],
)
def test_of_theirs(theirs: Any, value: Any) -> None:
    ours = cst.StructuredTensor.from_awkward(theirs)
    assert ours.to_py() == value
    assert ours.rank == (0 if isinstance(value, dict) else theirs.ndim)


def test_times() -> None:
    days = ak.Array(np.array(["2020-01-01", "NaT", "2020-01-03"], "M8[D]"))
    ours = cst.StructuredTensor.from_awkward(days)
    assert pa.array(ours).to_pylist() == [date(2020, 1, 1), None, date(2020, 1, 3)]
    some = cst.StructuredTensor.from_awkward(ak.mask(days, [True, True, False]))
    assert pa.array(some).to_pylist() == [date(2020, 1, 1), None, None]


def test_unions_and_other_things_are_refused() -> None:
    union = ak.Array([{"a": [{"b": 1}]}, {"a": [{"b": "x"}]}])
    with pytest.raises(cst.errors.SchemaError, match=r"field 'a\.b': a union") as it:
        cst.StructuredTensor.from_awkward(union)
    assert it.value.path == "a.b"
    with pytest.raises(cst.errors.SchemaError, match="a union"):
        cst.StructuredTensor.from_awkward(ak.Array([1, "x"]))
    with pytest.raises(
        cst.errors.UnsupportedError, match="field 'z': Arrow has no type for complex128"
    ):
        cst.StructuredTensor.from_awkward(ak.Array({"z": np.array([1j])}))
    with pytest.raises(TypeError, match=r"expected an ak\.Array or ak\.Record, not list"):
        cst.StructuredTensor.from_awkward([1])


@pytest.mark.parametrize("seed", range(40))
def test_mask_is_that_of_awkward(seed: int) -> None:
    """Nulls in both, empty lists, -0.0 and NaN; also a condition for whole rows."""
    r = Random(seed)
    x: Any = [[1.5]]
    for _ in range(r.randrange(8)):
        values = [r.choice([0.0, -0.0, float("nan"), 2.5, None]) for _ in range(r.randrange(4))]
        x.append(r.choice([None, values, values]))
    each = [None if v is None else [r.choice([True, False, None]) for _ in v] for v in x]
    rows = [r.choice([True, False, None]) for _ in x]
    each[0], rows[0] = [True], True
    for condition in (each, rows):
        ours = cst.struct.mask(x, condition).to_py()
        assert repr(ours) == repr(ak.mask(ak.Array(x), ak.Array(condition)).to_list())
