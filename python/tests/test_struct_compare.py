"""Comparisons of leaf tensors: a bool for each value."""

from __future__ import annotations

import operator
from typing import Any

import columnstone as cst
import numpy as np
import pyarrow as pa
import pytest
from columnstone.struct import constant

PRICES = constant([[3.0, None], [], None, [5.5]])
OPERATORS = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]


def wanted(value: Any, other: Any, operation: Any) -> Any:
    if isinstance(value, list):
        return [wanted(item, other, operation) for item in value]
    return None if value is None else operation(value, other)


@pytest.mark.parametrize("operation", OPERATORS)
@pytest.mark.parametrize("other", [3.0, 4, np.float32(5.5), True])
def test_with_a_value(operation: Any, other: Any) -> None:
    made = operation(PRICES, other)
    assert isinstance(made, cst.struct.LeafTensor)
    assert made.to_py() == wanted(PRICES.to_py(), other, operation)


@pytest.mark.parametrize("operation", OPERATORS)
def test_of_strings_and_bytes(operation: Any) -> None:
    for value in ("b", b"b"):
        data = [[value, type(value)()], None, [None]]
        made = operation(constant(data), value)
        assert made.to_py() == wanted(data, value, operation)


def test_with_another_tensor() -> None:
    other = constant([[4.0, 1.0], [], None, [None]])
    assert (other > PRICES).to_py() == [[True, None], [], None, [None]]
    with pytest.raises(cst.errors.ArgumentError, match="values"):
        constant([[1.0, 2.0], [3.0], None, [4.0]]) > PRICES  # noqa: B015
    with pytest.raises(cst.errors.ArgumentError, match="dimensions"):
        constant([1.0]) > PRICES  # noqa: B015
    with pytest.raises(cst.errors.ArgumentError, match="2 rows and 3"):
        constant([1, 2]) == constant([1, 2, 3])  # noqa: B015


def test_a_mask_of_events() -> None:
    events = constant([[{"q": "a", "p": 1}, {"q": "b", "p": None}], [{"q": "a", "p": 3}]])
    assert events[events["q"] == "a"]["p"].to_py() == [[1], [3]]
    assert events[events["p"] > 1]["q"].to_py() == [[], ["a"]]


def test_scalars() -> None:
    one = constant({"a": 1})["a"]
    assert (one == 1).to_py() is True
    assert bool(one > 2) is False
    assert (constant({"a": None})["a"] == 1).to_py() is None
    assert (one == constant(1)).to_py() is True
    assert (constant(4) < PRICES).to_py() == [[False, None], [], None, [True]]
    assert (constant(4) < PRICES).to_py() == [[False, None], [], None, [True]]


def test_what_is_no_value() -> None:
    assert (PRICES == None) is False  # noqa: E711
    assert (PRICES == [1]) is False
    with pytest.raises(TypeError):
        PRICES < [1]  # noqa: B015
    with pytest.raises(TypeError, match="truth value"):
        bool(PRICES)
    with pytest.raises(TypeError, match="truth value"):
        assert PRICES == 1


def test_a_tensor_is_a_key_by_itself() -> None:
    assert {PRICES: 1}[PRICES] == 1


def test_of_rows_and_slices() -> None:
    tensor = cst.StructuredTensor.from_arrow(pa.table({"a": [[1], [2, 3]]}))["a"]
    assert (tensor[1] == 3).to_py() == [False, True]
    assert (tensor[1:] >= 3).to_py() == [[False, True]]
