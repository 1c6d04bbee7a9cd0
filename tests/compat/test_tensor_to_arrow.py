"""tensor_to_arrow gives the schema, the representations and the batches that tfx_bsl's gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import tensorflow as tf
from columnstone.compat.tfx_bsl.tfxio import tensor_to_arrow as ours
from conftest import real

theirs = real("tfx_bsl.tfxio.tensor_to_arrow")

SPARSE = tf.compat.v1.SparseTensorValue
RAGGED = tf.compat.v1.ragged.RaggedTensorValue
DTYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
CASES: dict[str, tuple[tf.TypeSpec, Any]] = {
    "a scalar": (tf.TensorSpec([None], tf.int64), np.array([1, 2])),
    "a matrix": (tf.TensorSpec([None, 2, 3], tf.float32), np.ones((4, 2, 3), np.float32)),
    "no values": (tf.TensorSpec([None, 0], tf.float64), np.ones((4, 0))),
    "no rows": (tf.TensorSpec([None, 2], tf.int32), np.empty((0, 2), np.int32)),
    "strings": (tf.TensorSpec([None, 1], tf.string), np.array([[b"a"], [b"\xff"]], object)),
    "eager": (tf.TensorSpec([None, 1], tf.string), tf.constant([["a"], ["b"]])),
    "varlen": (
        tf.SparseTensorSpec([None, None], tf.int64),
        SPARSE(np.array([[0, 0], [2, 0], [2, 1]]), np.array([1, 2, 3]), np.array([4, 2])),
    ),
    "varlen, wide and with gaps": (
        tf.SparseTensorSpec([None, 9], tf.string),
        tf.SparseTensor([[0, 3], [2, 0], [2, 8]], ["a", "b", "c"], [3, 9]),
    ),
    "varlen of an unknown rank": (
        tf.SparseTensorSpec(None, tf.float32),
        tf.SparseTensor([[0, 0]], [1.5], [2, 1]),
    ),
    "varlen of three rows": (
        tf.SparseTensorSpec([3, None], tf.float32),
        tf.SparseTensor([[0, 0]], [1.5], [3, 1]),
    ),
    "varlen without values": (
        tf.SparseTensorSpec([None, None], tf.int64),
        SPARSE(np.empty((0, 2), np.int64), np.empty(0, np.int64), np.array([2, 0])),
    ),
    "sparse": (
        tf.SparseTensorSpec([None, 3, None], tf.int32),
        tf.SparseTensor([[0, 1, 2], [0, 2, 0], [2, 0, 0]], np.int32([1, 2, 3]), [3, 3, 9]),
    ),
    "ragged": (
        tf.RaggedTensorSpec([None, None], tf.int64, row_splits_dtype=tf.int64),
        tf.ragged.constant([[1, 2], [], [3]], tf.int64, row_splits_dtype=tf.int64),
    ),
    "ragged of several levels": (
        tf.RaggedTensorSpec([None, None, None], tf.string, 2, tf.int32),
        tf.ragged.constant([[["a"], []], [], [["b", "c"]]], row_splits_dtype=tf.int32),
    ),
    "ragged with inner dimensions": (
        tf.RaggedTensorSpec([None, None, 2, 1], tf.float32, 1),
        RAGGED(np.ones((3, 2, 1), np.float32), np.array([0, 1, 3])),
    ),
    "halves, varlen": (
        tf.SparseTensorSpec([None, None], tf.float16),
        tf.SparseTensor([[0, 0]], np.float16([1.5]), [1, 1]),
    ),
    "halves, ragged values": (
        tf.RaggedTensorSpec([None, None], tf.float16, 1),
        RAGGED(np.float16([1.5, -0.0]), np.array([0, 1, 2])),
    ),
    "halves, ragged": (
        tf.RaggedTensorSpec([None, None], tf.float16, row_splits_dtype=tf.int64),
        tf.ragged.constant([[1.5], []], tf.float16, row_splits_dtype=tf.int64),
    ),
} | {
    dtype: (tf.TensorSpec([None, 1], dtype), np.array([[1], [2]], dtype))
    for dtype in (*DTYPES, "float16", "float32", "float64")
}


def made(module: Any, specs: dict[str, Any], tensors: dict[str, Any], **options: Any) -> Any:
    """Schema, representations and batch."""
    converter = module.TensorsToRecordBatchConverter
    converter = converter(specs, converter.Options(**options)) if options else converter(specs)
    batch = converter.convert(tensors)
    batch.validate(full=True)
    messages = {name: str(m) for name, m in converter.tensor_representations().items()}
    assert batch.schema == converter.arrow_schema()
    return converter.arrow_schema(), messages, batch.to_pydict()


@pytest.mark.parametrize("case", CASES)
def test_tensors(case: str) -> None:
    spec, tensor = CASES[case]
    assert made(ours, {"x": spec}, {"x": tensor}) == made(theirs, {"x": spec}, {"x": tensor})


def test_several_tensors_in_the_order_of_their_names() -> None:
    rows = {name: case for name, case in CASES.items() if name in ("sparse", "ragged", "varlen")}
    rows["varlen"] = (rows["varlen"][0], tf.SparseTensor([[1, 0]], np.int64([1]), [3, 1]))
    specs = {name: spec for name, (spec, _) in rows.items()}
    tensors = {name: tensor for name, (_, tensor) in rows.items()}
    assert made(ours, specs, tensors) == made(theirs, specs, tensors)
    assert list(made(ours, specs, tensors)[1]) == list(made(theirs, specs, tensors)[1])


def test_options() -> None:
    tensor = tf.SparseTensor([[0, 3], [2, 0]], np.int64([1, 2]), [3, 5])
    for size in (None, 5):
        spec = tf.SparseTensorSpec([None, size], tf.int64)
        options: dict[str, Any] = {
            "sparse_tensor_value_column_name_template": "v_{tensor_name}",
            "sparse_tensor_index_column_name_template": "i{index}_{tensor_name}",
            "generic_sparse_tensor_names": frozenset({"x", "none"}),
        }
        found = made(ours, {"x": spec}, {"x": tensor}, **options)
        assert found == made(theirs, {"x": spec}, {"x": tensor}, **options)
        assert found[0].names == ["v_x", "i0_x"]
    for module in (ours, theirs):
        defaults = module.TensorsToRecordBatchConverter.Options()
        assert defaults.sparse_tensor_index_column_name_template == "{tensor_name}$index{index}"
        assert defaults.generic_sparse_tensor_names == frozenset()


@pytest.mark.parametrize(
    "spec",
    [
        tf.TensorSpec([None], tf.bool),
        tf.SparseTensorSpec([None, None], tf.bool),
        tf.RaggedTensorSpec([None, None], tf.bool),
        tf.TensorSpec([], tf.int64),
        tf.TensorSpec(None, tf.int64),
        tf.TensorSpec([3], tf.int64),
        tf.TensorSpec([None, None], tf.int64),
        tf.SparseTensorSpec([None], tf.int64),
        tf.RaggedTensorSpec([None, None], tf.int64, ragged_rank=0),
        tf.RaggedTensorSpec([None, 2, None], tf.int64),
        tf.RaggedTensorSpec([None, None, None], tf.int64, ragged_rank=1),
    ],
)
def test_what_has_no_columns(spec: tf.TypeSpec) -> None:
    for module in (ours, theirs):
        with pytest.raises(ValueError, match="No handler found for tensor x"):
            module.TensorsToRecordBatchConverter({"x": spec})


def test_what_is_refused() -> None:
    spec = tf.SparseTensorSpec([None, None], tf.int32)
    unsorted = tf.SparseTensor([[1, 0], [0, 0]], np.int32([1, 2]), [2, 1])
    other = tf.SparseTensor([[0, 0]], np.int64([1]), [1, 1])
    dense = tf.TensorSpec([None], tf.int32)
    wide = tf.SparseTensorSpec([None, None, None], tf.int32)
    for module in (ours, theirs):
        converter = module.TensorsToRecordBatchConverter({"x": spec})
        with pytest.raises(TypeError, match="Expected SparseTensorSpec"):
            converter.convert({"x": other})
        with pytest.raises(AssertionError, match="The sparse indices must be sorted"):
            converter.convert({"x": unsorted})
        with pytest.raises(AssertionError):
            converter.convert({})
        with pytest.raises(ValueError, match="conflicting name"):
            module.TensorsToRecordBatchConverter({"x$values": dense, "x": wide})


def test_types_without_columns() -> None:
    sparse = tf.SparseTensorSpec([None, 3, None], tf.bool)
    for module in (ours, theirs):
        with pytest.raises(TypeError, match="Unable to handle bool tensors"):
            module.TensorsToRecordBatchConverter({"x": sparse})
        for dtype in (tf.bfloat16, tf.complex64):
            with pytest.raises(NotImplementedError):
                module.TensorsToRecordBatchConverter({"x": tf.TensorSpec([None], dtype)})


def test_sparse_tensors_are_sorted() -> None:
    """tfx_bsl writes the indices of a row as they come; they are sorted here, as they are when they
    are read."""
    spec = tf.SparseTensorSpec([None, 3, None], tf.int64)
    tensor = tf.SparseTensor([[0, 2, 0], [0, 1, 0]], np.int64([1, 2]), [2, 3, 1])
    batch = ours.TensorsToRecordBatchConverter({"x": spec}).convert({"x": tensor})
    assert batch.to_pydict()["x$values"] == [[2, 1], []]


def test_the_batch_is_pyarrows() -> None:
    spec, tensor = CASES["ragged"]
    batch = ours.TensorsToRecordBatchConverter({"x": spec}).convert({"x": tensor})
    assert isinstance(batch, pa.RecordBatch)


def test_values_of_tensors_may_be_lists() -> None:
    """As in what sessions gave: TFT's tests have them."""
    specs = {"a": tf.SparseTensorSpec([None, None], tf.int64)}
    value = tf.compat.v1.SparseTensorValue(
        indices=np.array([(0, 0), (2, 1)]), values=np.array([5, 6]), dense_shape=(3, 9)
    )
    module = real("tfx_bsl.tfxio.tensor_to_arrow")
    theirs = module.TensorsToRecordBatchConverter(specs).convert({"a": value})
    assert ours.TensorsToRecordBatchConverter(specs).convert({"a": value}).equals(theirs)


def test_text_of_different_numbers_of_rows() -> None:
    specs = {name: tf.TensorSpec([None], tf.float32) for name in "ab"}
    tensors = {"a": np.float32([1]), "b": np.float32([1, 2])}
    module = real("tfx_bsl.tfxio.tensor_to_arrow")
    for which in (module, ours):
        with pytest.raises(ValueError, match="Arrays were not all the same length: 2 vs 1"):
            which.TensorsToRecordBatchConverter(specs).convert(tensors)
