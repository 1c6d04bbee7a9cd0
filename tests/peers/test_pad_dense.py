"""Padded tensors are those that TensorFlow makes of the ragged and sparse ones."""

from __future__ import annotations

from typing import Any

import columnstone as cst
import numpy as np
import pyarrow as pa
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

VALUES: dict[str, tuple[pa.DataType, Any, Any]] = {
    "int64": (pa.int64(), st.integers(-(2**63), 2**63 - 1), -7),
    "float32": (pa.float32(), st.floats(width=32, allow_nan=False), 0.25),
    "bytes": (pa.large_binary(), st.binary(max_size=20), b"<pad>"),
}


def nested(values: Any, levels: int) -> Any:
    for _ in range(levels):
        values = st.lists(values, max_size=4)
    return values


@given(st.data(), st.sampled_from(list(VALUES)), st.integers(1, 3))
@settings(max_examples=200, deadline=None)
def test_ragged(data: Any, dtype: str, levels: int) -> None:
    type_, values, fill = VALUES[dtype]
    rows = data.draw(st.lists(nested(values, levels), min_size=1, max_size=8))
    lengths = data.draw(st.tuples(*[st.none() | st.integers(0, 5)] * levels))
    for _ in range(levels):
        type_ = pa.large_list(type_)
    batch = pa.record_batch([pa.array(rows, type_)], names=["x"])
    spec = cst.schema.TensorRepresentation("x", "ragged", dtype)  # type: ignore[arg-type]

    def converted(pad: Any) -> Any:
        return cst.tensor.TensorAdapter(batch.schema, [spec], pad=pad).convert(batch)["x"]

    ragged = converted(None)
    peer = tf.RaggedTensor.from_nested_row_splits(
        tf.constant(ragged.values.numpy(), {"bytes": tf.string}.get(dtype, dtype)),
        [splits.numpy() for splits in ragged.row_splits],
    )
    expected = peer.to_tensor(fill, shape=[None, *lengths]).numpy()
    found = converted({"x": cst.tensor.Pad(fill, lengths, truncate=True)}).numpy()
    assert found.shape == expected.shape
    assert (found == expected).all()


@given(st.data(), st.sampled_from(list(VALUES)))
@settings(max_examples=100, deadline=None)
def test_sparse(data: Any, dtype: str) -> None:
    type_, values, fill = VALUES[dtype]
    row = st.dictionaries(st.tuples(st.integers(0, 3), st.integers(0, 2)), values, max_size=5)
    rows = data.draw(st.lists(row, min_size=1, max_size=6))
    ints = pa.large_list(pa.int64())
    batch = pa.record_batch(
        [
            pa.array([list(r.values()) for r in rows], pa.large_list(type_)),
            pa.array([[i for i, _ in r] for r in rows], ints),
            pa.array([[j for _, j in r] for r in rows], ints),
        ],
        names=["x", "i", "j"],
    )
    spec = cst.schema.TensorRepresentation(
        "t",
        "sparse",
        dtype,
        ("x",),
        shape=(4, 3),
        index_columns=("i", "j"),  # type: ignore[arg-type]
    )
    sparse = cst.tensor.TensorAdapter(batch.schema, [spec]).convert(batch)["t"]
    peer = tf.SparseTensor(
        sparse.indices.numpy(),
        tf.constant(sparse.values.numpy(), {"bytes": tf.string}.get(dtype, dtype)),
        sparse.dense_shape.numpy(),
    )
    expected = tf.sparse.to_dense(peer, fill).numpy()
    found = cst.tensor.TensorAdapter(batch.schema, [spec], pad={"t": (fill, None)}).convert(batch)[
        "t"
    ]
    assert (found.numpy() == expected).all()


def test_two_values_for_one_place() -> None:
    """TensorFlow refuses them, too."""
    ints = pa.large_list(pa.int64())
    batch = pa.record_batch(
        [pa.array([[1], [1, 2]], ints), pa.array([[0], [3, 3]], ints)], names=["x", "i"]
    )
    spec = cst.schema.TensorRepresentation("t", "sparse", "int64", ("x",), (4,), ("i",))
    sparse = cst.tensor.TensorAdapter(batch.schema, [spec]).convert(batch)["t"]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.sparse.to_dense(
            tf.SparseTensor(
                sparse.indices.numpy(), sparse.values.numpy(), np.array(sparse.dense_shape)
            )
        )
    with pytest.raises(cst.errors.SchemaError) as caught:
        cst.tensor.TensorAdapter(batch.schema, [spec], pad={"t": (0, None)}).convert(batch)
    assert (caught.value.path, caught.value.record) == ("t", 1)
