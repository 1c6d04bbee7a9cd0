"""float16, which Columnstone's tensors do not support: as its bits, uint16, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import tensorflow as tf


def with_values(kind: pa.DataType, values: pa.DataType) -> pa.DataType:
    """The type of lists with other values."""
    if pa.types.is_large_list(kind):
        return pa.large_list(with_values(kind.value_type, values))
    if pa.types.is_list(kind):
        return pa.list_(with_values(kind.value_type, values))
    return values


def _bits(kind: pa.DataType) -> pa.DataType:
    """The type with uint16 in place of float16, in lists and structs, too."""
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_bits(field.type)) for field in kind])
    if pa.types.is_large_list(kind):
        return pa.large_list(kind.value_field.with_type(_bits(kind.value_type)))
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_bits(kind.value_type)))
    return pa.uint16() if pa.types.is_float16(kind) else kind


def bits_of_schema(schema: pa.Schema) -> pa.Schema:
    """The schema with uint16 in place of float16."""
    fields = [field.with_type(_bits(field.type)) for field in schema]
    return pa.schema(fields, schema.metadata)


def cast_columns(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The same memory, with another schema."""
    columns = [column.view(field.type) for column, field in zip(batch.columns, schema, strict=True)]
    return pa.record_batch(columns, schema=schema)


def half_spec(spec: tf.TypeSpec) -> tf.TypeSpec:
    """The TypeSpec with float16 in place of another type."""
    if isinstance(spec, tf.RaggedTensorSpec):
        splits = spec.row_splits_dtype
        return tf.RaggedTensorSpec(spec.shape, tf.float16, spec.ragged_rank, splits)
    return type(spec)(spec.shape, tf.float16)


def default_bits(default: Any) -> int:
    """The bits of a default of dense tensors."""
    return int(np.float16(default).view(np.uint16))


def reinterpreted(tensor: Any, dtype: tf.DType) -> Any:
    """A TensorFlow tensor, or its value, with its bits as a type of the same width."""
    if isinstance(tensor, tf.SparseTensor):
        values = tf.bitcast(tensor.values, dtype)
        return tf.SparseTensor(tensor.indices, values, tensor.dense_shape)
    if isinstance(tensor, tf.RaggedTensor):
        return tensor.with_flat_values(tf.bitcast(tensor.flat_values, dtype))
    if isinstance(tensor, tf.Tensor):
        return tf.bitcast(tensor, dtype)
    if isinstance(tensor, tf.compat.v1.SparseTensorValue):
        return tensor._replace(values=reinterpreted(tensor.values, dtype))
    if isinstance(tensor, tf.compat.v1.ragged.RaggedTensorValue):
        below = reinterpreted(tensor.values, dtype)
        return tf.compat.v1.ragged.RaggedTensorValue(below, tensor.row_splits)
    return np.asarray(tensor).view(dtype.as_numpy_dtype)
