"""tfx_bsl.tfxio.tensor_to_arrow over columnstone.tensor.TensorEncoder."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import tensorflow as tf
from tensorflow_metadata.proto.v0 import schema_pb2

from ...._arrow.pointers import to_pyarrow
from ...._schema.spec import TensorRepresentation, UniformRowLength
from ...._tensor.encoder import TensorEncoder
from ...._tensor.tensor import RaggedTensor
from .._errors import raising


class _Options:
    """How the columns of sparse tensors are called, and which tensors of two dimensions are to have
    index columns though they could be varlen ones."""

    def __init__(
        self,
        sparse_tensor_value_column_name_template: str = "{tensor_name}$values",
        sparse_tensor_index_column_name_template: str = "{tensor_name}$index{index}",
        generic_sparse_tensor_names: frozenset[str] = frozenset(),
    ) -> None:
        self.sparse_tensor_value_column_name_template = sparse_tensor_value_column_name_template
        self.sparse_tensor_index_column_name_template = sparse_tensor_index_column_name_template
        self.generic_sparse_tensor_names = generic_sparse_tensor_names


_Options.__name__ = "Options"
_Options.__qualname__ = "TensorsToRecordBatchConverter.Options"
_DEFAULT = _Options()


class TensorsToRecordBatchConverter:
    """Makes pyarrow's record batches of tensors of these tf.TypeSpecs, in the order of their names.

    Raises ValueError for a tensor that no columns can hold, and where two want the same column.
    """

    Options = _Options

    def __init__(self, type_specs: dict[str, tf.TypeSpec], options: _Options = _DEFAULT) -> None:
        self._type_specs = dict(sorted(type_specs.items()))
        self._representations = {
            name: _representation_of(name, spec, options) for name, spec in self._type_specs.items()
        }
        fields: dict[str, pa.Field] = {}
        for name, tensor in self._representations.items():
            for field in _fields_of(tensor, self._type_specs[name]):
                if field.name in fields:
                    raise ValueError(
                        f"Handler for tensor {name} produces a column of a conflicting name: "
                        f"{field.name}"
                    )
                fields[field.name] = field
        self._arrow_schema = pa.schema(list(fields.values()))
        self._encoder = TensorEncoder([_encoded(t) for t in self._representations.values()])

    def arrow_schema(self) -> pa.Schema:
        """The schema of what convert() gives."""
        return self._arrow_schema

    def tensor_representations(self) -> dict[str, schema_pb2.TensorRepresentation]:
        """What a TensorAdapter makes the tensors of again, by name."""
        messages = {name: tensor.to_proto() for name, tensor in self._representations.items()}
        for message in messages.values():
            if message.HasField("dense_tensor") and not message.dense_tensor.shape.dim:
                message.dense_tensor.ClearField("shape")
        return messages

    def convert(self, tensors: dict[str, Any]) -> pa.RecordBatch:
        """The batch of these tensors, one for each TypeSpec, eager ones or values. Raises TypeError
        for one that its TypeSpec does not allow, and ValueError for one that has no such form."""
        if len(tensors) != len(self._type_specs):
            raise AssertionError(f"{len(tensors)} tensors for {len(self._type_specs)} TypeSpecs")
        given = {}
        for name, spec in self._type_specs.items():
            actual = tf.type_spec_from_value(tensors[name])
            if not spec.is_compatible_with(actual):
                raise TypeError(f"tensor {name!r}: Expected {spec} but got {actual}")
            given[name] = _parts_of(self._representations[name], tensors[name])
        with raising(ValueError):
            batch = to_pyarrow(self._encoder.encode(given))
        return pa.record_batch(
            [batch.column(name) for name in self._arrow_schema.names], schema=self._arrow_schema
        )


def _representation_of(name: str, spec: tf.TypeSpec, options: _Options) -> TensorRepresentation:
    tensor = None
    if isinstance(spec, tf.TensorSpec):
        tensor = _dense_of(name, spec)
    elif isinstance(spec, tf.SparseTensorSpec):
        tensor = _sparse_of(name, spec, options)
    elif isinstance(spec, tf.RaggedTensorSpec):
        tensor = _ragged_of(name, spec)
    if tensor is None or spec.dtype == tf.bool:
        raise ValueError(
            f"No handler found for tensor {name} of spec {spec}. Tensors of tf.bool have no "
            "column: cast them to tf.uint8"
        )
    return tensor


def _dtype_of(spec: tf.TypeSpec) -> Any:
    return "bytes" if spec.dtype == tf.string else spec.dtype.name


def _dense_of(name: str, spec: tf.TensorSpec) -> TensorRepresentation | None:
    dims = None if spec.shape.rank is None else spec.shape.as_list()
    if not dims or dims[0] is not None or None in dims[1:]:
        return None
    return TensorRepresentation(name, "dense", _dtype_of(spec), (name,), tuple(dims[1:]))


def _sparse_of(
    name: str, spec: tf.SparseTensorSpec, options: _Options
) -> TensorRepresentation | None:
    generic = name in options.generic_sparse_tensor_names
    if spec.shape.is_compatible_with([None, None]) and not generic:
        return TensorRepresentation(name, "varlen_sparse", _dtype_of(spec), (name,))
    if spec.shape.rank is None or spec.shape.rank <= 1:
        return None
    dims = spec.shape.as_list()[1:]
    template = options.sparse_tensor_index_column_name_template
    return TensorRepresentation(
        name,
        "sparse",
        _dtype_of(spec),
        (options.sparse_tensor_value_column_name_template.format(tensor_name=name),),
        tuple(-1 if size is None else size for size in dims),
        tuple(template.format(tensor_name=name, index=i) for i in range(len(dims))),
    )


def _ragged_of(name: str, spec: tf.RaggedTensorSpec) -> TensorRepresentation | None:
    if spec.shape.rank is None or spec.ragged_rank < 1:
        return None
    dims = spec.shape.as_list()
    outer, inner = dims[1 : spec.ragged_rank + 1], dims[spec.ragged_rank + 1 :]
    if any(outer) or not all(inner):
        return None
    return TensorRepresentation(
        name,
        "ragged",
        _dtype_of(spec),
        (name,),
        partitions=tuple(UniformRowLength(size) for size in inner),
        row_splits_dtype="int32" if spec.row_splits_dtype == tf.int32 else "int64",
    )


def _fields_of(tensor: TensorRepresentation, spec: tf.TypeSpec) -> list[pa.Field]:
    kind = pa.large_binary()
    if spec.dtype != tf.string:
        kind = pa.from_numpy_dtype(spec.dtype.as_numpy_dtype)
    for _ in range(spec.ragged_rank if tensor.kind == "ragged" else 1):
        kind = pa.large_list(kind)
    indices = [pa.field(column, pa.large_list(pa.int64())) for column in tensor.index_columns]
    return [pa.field(tensor.steps[0], kind), *indices]


def _encoded(tensor: TensorRepresentation) -> TensorRepresentation:
    """How the encoder gets it: a varlen tensor as a ragged one, which has no second size that the
    longest row would have to fill."""
    if tensor.kind != "varlen_sparse":
        return tensor
    return TensorRepresentation(tensor.name, "ragged", tensor.dtype, tensor.path)


def _parts_of(tensor: TensorRepresentation, value: Any) -> Any:
    if tensor.kind == "ragged":
        splits = []
        while hasattr(value, "row_splits"):
            splits.append(np.asarray(value.row_splits))
            value = value.values
        return RaggedTensor(np.asarray(value), splits)
    if tensor.kind != "varlen_sparse":
        return value
    parents = np.asarray(value.indices).reshape(-1, 2)[:, 0]
    if np.any(np.diff(parents) < 0):
        raise AssertionError(f"tensor {tensor.name!r}: The sparse indices must be sorted")
    rows = int(np.asarray(value.dense_shape)[0])
    row_splits = np.searchsorted(parents, np.arange(rows + 1)).astype(np.int64)
    return RaggedTensor(np.asarray(value.values), [row_splits])
