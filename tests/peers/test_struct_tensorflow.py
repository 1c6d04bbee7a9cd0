"""Structured tensors and those of TensorFlow: tf.Tensor, tf.RaggedTensor and
tf.experimental.StructuredTensor, both ways."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import columnstone as cst
import nested_data as data
import nested_reference as ref
import numpy as np
import pyarrow as pa
import pytest
import tensorflow as tf
from hypothesis import given, settings

StructuredTensor = tf.experimental.StructuredTensor
RowPartition = tf.experimental.RowPartition


@pytest.fixture(autouse=True, scope="module")
def names_that_tensorflow_has() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(data, "NAMES", ["a", "b", "c", "id", "A_1"])
        yield


def has_null(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(has_null, value.values()))
    return value is None or (isinstance(value, list) and any(map(has_null, value)))


def as_bytes(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: as_bytes(v) for name, v in value.items()}
    if isinstance(value, list):
        return [as_bytes(v) for v in value]
    return value.encode() if isinstance(value, str) else value


def plain(made: Any) -> Any:
    if isinstance(made, StructuredTensor):
        return made.to_pyval()
    if isinstance(made, tf.RaggedTensor):
        return made.to_list()
    return made.numpy() if made.shape == () else made.numpy().tolist()


@settings(max_examples=150)
@given(data.randoms())
def test_both_ways(r: Random) -> None:
    made = data.random_tensor(r, data.Shape(depth=2, nulls=r.randrange(4) == 0))
    ours, value = made.ours(), made.tensor.value
    if has_null(value):
        with pytest.raises(cst.errors.ArgumentError, match="null") as refused:
            ours.to_tensorflow()
        if isinstance(made.tensor.element, ref.Struct) and made.tensor.rank == 0:
            assert refused.value.path is not None
        return
    theirs = ours.to_tensorflow()
    assert theirs.shape.rank == made.tensor.rank
    assert theirs.shape.as_list() == list(ours.shape)
    assert plain(theirs) == as_bytes(value)
    back = cst.StructuredTensor.from_tensorflow(theirs)
    assert type(back) is type(ours)
    assert repr(back.to_py()) == repr(as_bytes(value))
    for dim, (size, was) in enumerate(zip(back.shape, ours.shape, strict=True)):
        assert size == was, dim
    pa.array(back).validate(full=True)


def test_uniform_dimensions_stay_uniform() -> None:
    kind = pa.list_(pa.list_(pa.list_(pa.float32(), 2)), 3)
    ours = data.nested(pa.array([[[[1, 2]], [], [[3, 4], [5, 6]]]], kind))
    assert ours.shape == (1, 3, None, 2)
    theirs = ours.to_tensorflow()
    assert theirs.shape.as_list() == [1, 3, None, 2]
    assert theirs.uniform_row_length.numpy() == 3
    assert theirs.ragged_rank == 2
    back = cst.StructuredTensor.from_tensorflow(theirs)
    assert back.arrow_type.startswith("fixed_size_list<large_list<fixed_size_list<float32>[2]")
    assert back.shape == (1, 3, None, 2)
    no_rows = tf.RaggedTensor.from_uniform_row_length(tf.ragged.constant([[1]])[:0], 4)
    assert cst.StructuredTensor.from_tensorflow(no_rows).shape == (0, 4, None)
    nothing = tf.RaggedTensor.from_uniform_row_length(tf.zeros([0]), 0, nrows=2)
    assert cst.StructuredTensor.from_tensorflow(nothing).shape == (2, 0)


@pytest.mark.parametrize(
    "value",
    [
        {"a": 1, "b": [[1, 2], [3]], "c": {"d": [1.5]}, "l": [{"x": "u"}, {"x": "v"}]},
        [{"a": 1, "l": [{"x": [1]}, {"x": []}]}, {"a": 2, "l": []}],
        [[{"a": 1}, {"a": 2}], [{"a": 3}]],
        [[[{"a": [True]}], []], [[]]],
    ],
)
def test_structured_tensors_of_theirs(value: Any) -> None:
    theirs = StructuredTensor.from_pyval(value)
    ours = cst.StructuredTensor.from_tensorflow(theirs)
    assert ours.to_py() == as_bytes(value)
    assert ours.rank == theirs.rank
    again = ours.to_tensorflow()
    assert again.to_pyval() == theirs.to_pyval()


@settings(max_examples=60)
@given(data.randoms())
def test_partitions_of_theirs(r: Random) -> None:
    """Structs in random partitions, uniform and not, that TensorFlow has made itself."""
    count = r.choice([0, 4, 12])
    fields = {"n": tf.range(count), "v": tf.reshape(tf.range(2 * count), [count, 2])}
    theirs = StructuredTensor.from_fields(fields, shape=[count])
    for _ in range(r.randrange(3)):
        rows = theirs.nrows().numpy()
        if r.randrange(2):
            size = r.choice([1, 2, 4])
            if rows % size:
                continue
            partition = RowPartition.from_uniform_row_length(size, nvals=rows)
        else:
            cuts = sorted(r.randrange(rows + 1) for _ in range(r.randrange(3)))
            partition = RowPartition.from_row_splits(np.array([0, *cuts, rows]))
        theirs = theirs.partition_outer_dimension(partition)
    ours = cst.StructuredTensor.from_tensorflow(theirs)
    assert ours.to_py() == theirs.to_pyval()
    assert ours.rank == theirs.rank
    assert ours.to_tensorflow().to_pyval() == theirs.to_pyval()


def test_types() -> None:
    for dtype in [tf.int8, tf.uint16, tf.int64, tf.float16, tf.float32, tf.float64, tf.bool]:
        theirs = tf.cast(tf.constant([[1, 0], [1, 1]]), dtype)
        back = cst.StructuredTensor.from_tensorflow(theirs)
        assert back.to_tensorflow().dtype == dtype
        assert back.to_py() == theirs.numpy().tolist()
    strings = cst.StructuredTensor.from_tensorflow(tf.constant([["a"], ["é"]]))
    assert strings.to_py() == [[b"a"], ["é".encode()]]
    assert cst.StructuredTensor.from_tensorflow(tf.constant([], tf.string)).to_py() == []
    assert cst.StructuredTensor.from_tensorflow(tf.constant("a")).to_py() == b"a"
    assert cst.StructuredTensor.from_tensorflow(tf.zeros([2, 0, 3])).to_py() == [[], []]
    assert cst.StructuredTensor.from_tensorflow(tf.zeros([2, 0, 3])).shape == (2, 0, 3)


def test_structs_without_fields() -> None:
    ours = data.nested(pa.array([[{}, {}], []], pa.list_(pa.struct([]))))
    theirs = ours.to_tensorflow()
    assert theirs.shape.as_list() == [2, None]
    assert cst.StructuredTensor.from_tensorflow(theirs).to_py() == [[{}, {}], []]
    with pytest.raises(cst.errors.ArgumentError, match=r"first at \[1\]"):
        data.nested(pa.array([{}, None], pa.struct([]))).to_tensorflow()


def test_names_that_tensorflow_lacks() -> None:
    kind = pa.struct([("a", pa.struct([("x-y", pa.int64())]))])
    with pytest.raises(
        cst.errors.ArgumentError, match=r"field 'a\.x-y': TensorFlow does not allow this name"
    ) as it:
        data.nested(pa.array([{"a": {"x-y": 1}}], kind)).to_tensorflow()
    assert it.value.path == "a.x-y"
