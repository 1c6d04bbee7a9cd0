"""Operations on whole dimensions, and on nulls: one rule each. Generated data is compared with the
reference in test_nested_operations.py."""

from __future__ import annotations

import doctest
import importlib

import columnstone as cst
import numpy as np
import pyarrow as pa
import pytest
from columnstone import struct

RAGGED = pa.array([[1], [2, 3], None, [None]])


@pytest.mark.parametrize("module", ["arrange", "choose", "nulls"])
def test_the_examples_are_true(module: str) -> None:
    found = vars(importlib.import_module(f"columnstone._struct.{module}"))
    runner = doctest.DocTestRunner()
    for name in struct.__all__:
        if name in found:
            for test in doctest.DocTestFinder().find(found[name], name, globs=dict(found)):
                runner.run(test)
    assert runner.summarize().failed == 0
    assert runner.summarize().attempted > 2


def test_operations_take_arrow_numpy_and_lists() -> None:
    made = struct.concat([RAGGED, [[4]], cst.array([[5]])])
    assert made.to_py() == [[1], [2, 3], None, [None], [4], [5]]
    assert struct.stack([np.arange(3), [1, 2, 3]], axis=-1).shape == (3, 2)
    assert struct.rank(5) == 0
    assert struct.size(RAGGED) == 4
    assert struct.shape(RAGGED) == (4, None)
    assert struct.identity(RAGGED).to_py() == RAGGED.to_pylist()


def test_unstack() -> None:
    parts = struct.unstack(np.arange(6).reshape(2, 3), num=3, axis=1)
    assert [part.to_py() for part in parts] == [[0, 3], [1, 4], [2, 5]]
    with pytest.raises(cst.errors.ArgumentError, match="rows of different lengths"):
        struct.unstack(RAGGED, axis=1)
    with pytest.raises(cst.errors.ArgumentError, match="a length of 4, expected 3"):
        struct.unstack(RAGGED, 3)
    with pytest.raises(cst.errors.ArgumentError, match="axis 2 of a tensor of 2 dimensions"):
        struct.unstack(RAGGED, axis=2)


def test_wrong_numbers() -> None:
    with pytest.raises(cst.errors.ArgumentError, match="1 multiples for 2 dimensions"):
        struct.tile(RAGGED, [1])
    with pytest.raises(cst.errors.ArgumentError, match="axis 300"):
        struct.expand_dims(RAGGED, 300)
    with pytest.raises(cst.errors.ArgumentError):
        struct.squeeze(RAGGED, [0, 10**12])
    with pytest.raises(TypeError):
        struct.squeeze(RAGGED, [0.5])  # type: ignore[list-item]
    with pytest.raises(cst.errors.ArgumentError, match="no tensors"):
        struct.concat([])


def test_squeeze_of_no_axes_is_the_tensor() -> None:
    assert struct.squeeze([[1]], []).shape == (1, 1)
    assert struct.squeeze([[1]]).to_py() == 1


def test_partition_takes_splits_of_any_kind() -> None:
    for splits in ([0, 1, 4], np.array([0, 1, 4]), pa.array([0, 1, 4])):
        made = struct.partition_outer_dimension(RAGGED, splits)
        assert made.to_py() == [[[1]], [[2, 3], None, [None]]]


def test_fill_null_keeps_the_type() -> None:
    filled = struct.fill_null(pa.array([1, None], pa.int8()), 5)
    assert (filled.to_py(), filled.arrow_type) == ([1, 5], "int8")
    with pytest.raises(cst.Error):
        struct.fill_null(pa.array([1, None], pa.int8()), 500)
    with pytest.raises(cst.Error):
        struct.fill_null(pa.array([1, None]), "x")


def test_arguments_of_a_wrong_kind() -> None:
    with pytest.raises(cst.errors.ArgumentError, match="a number for each dimension"):
        struct.tile(RAGGED, 2)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        struct.partition_outer_dimension(RAGGED, 0.5)  # type: ignore[arg-type]
    with pytest.raises(cst.errors.ArgumentError, match=r"\{'a': 0\}"):
        struct.fill_null([{"a": None}], 0)
