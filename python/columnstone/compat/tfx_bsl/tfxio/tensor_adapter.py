"""tfx_bsl.tfxio.tensor_adapter over columnstone.tensor.TensorAdapter."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Optional, TypeAlias

import numpy as np
import pyarrow as pa
import tensorflow as tf
from tensorflow_metadata.proto.v0 import schema_pb2

from ...._base.errors import Error
from ...._frameworks.tf import type_specs
from ...._schema.spec import RowLengths, TensorRepresentation, Value
from ...._tensor.adapter import TensorAdapter as _TensorAdapter
from ...._tensor.conversion import converted, to_tf
from ...._tensor.tensor import SparseTensor as _SparseTensor
from . import _halves

if TYPE_CHECKING:
    from ...._schema.spec import Dtype
    from ...._tensor.tensor import RaggedTensor, SparseTensor

TensorRepresentations: TypeAlias = dict[str, schema_pb2.TensorRepresentation]


class TensorAdapterConfig:
    """The arguments of a TensorAdapter: the Arrow schema of the batches, a TensorRepresentation for
    each tensor, and the tf.TypeSpecs before a projection (None: there was none). It pickles."""

    def __init__(
        self,
        arrow_schema: pa.Schema,
        tensor_representations: TensorRepresentations,
        original_type_specs: Optional[dict[str, tf.TypeSpec]] = None,  # noqa: UP045
    ) -> None:
        self.arrow_schema = arrow_schema
        self.tensor_representations = tensor_representations
        self.original_type_specs = original_type_specs

    def __getstate__(self) -> tuple[Any, ...]:
        messages = {k: v.SerializeToString() for k, v in self.tensor_representations.items()}
        return self.arrow_schema, messages, self.original_type_specs

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.arrow_schema, messages, self.original_type_specs = state
        parse = schema_pb2.TensorRepresentation.FromString
        self.tensor_representations = {name: parse(data) for name, data in messages.items()}


class TensorAdapter:
    """Converts pyarrow record batches of one schema to TensorFlow tensors.

    Raises ValueError for representations that do not fit the schema's columns, and if
    original_type_specs lack one of the tensors or have another type for it.
    """

    def __init__(self, config: TensorAdapterConfig) -> None:
        self._arrow_schema = config.arrow_schema
        self._bits = _halves.bits_of_schema(config.arrow_schema)
        self._type_specs: dict[str, tf.TypeSpec] = {}
        self._rank_1: set[str] = set()
        self._halves: set[str] = set()
        tensors = []
        for name, message in config.tensor_representations.items():
            try:
                tensor = _tensor_of(name, message, config.arrow_schema)
                adapter = _TensorAdapter(self._bits, [tensor])
            except (Error, _Unfit) as error:
                raise ValueError(
                    f"Unable to handle tensor {name} with rep {message} against schema: "
                    f"{config.arrow_schema}: {error}"
                ) from error
            tensors.append(tensor)
            spec = type_specs(adapter.representations, adapter.arrow_schema)[name]
            if _is_half(config.arrow_schema, tensor):
                spec = _halves.half_spec(spec)
                self._halves.add(name)
            if _is_rank_1(message):
                spec = tf.SparseTensorSpec([None], spec.dtype)
                self._rank_1.add(name)
            self._type_specs[name] = spec
        self._adapter = _TensorAdapter(self._bits, tensors)
        self._original_type_specs = self._type_specs
        if config.original_type_specs is not None:
            self._original_type_specs = config.original_type_specs
        for name, spec in self._type_specs.items():
            original = self._original_type_specs.get(name)
            if original is None or original != spec:
                raise ValueError(
                    "original_type_specs must be a superset of the adapter's own: tensor "
                    f"{name} has {spec}, and there {original}"
                )

    def OriginalTypeSpecs(self) -> dict[str, tf.TypeSpec]:
        """The tf.TypeSpecs before a projection, by name."""
        return self._original_type_specs

    def TypeSpecs(self) -> dict[str, tf.TypeSpec]:
        """The tf.TypeSpec of each tensor; its first dimension is unknown."""
        return self._type_specs

    def ToBatchTensors(
        self,
        record_batch: pa.RecordBatch,
        produce_eager_tensors: Optional[bool] = None,  # noqa: UP045
    ) -> dict[str, Any]:
        """The tensors of a batch by name: tf.Tensor, tf.SparseTensor and tf.RaggedTensor, or, if
        produce_eager_tensors is False, numpy arrays, SparseTensorValue and RaggedTensorValue. None:
        depends on whether TensorFlow executes eagerly.

        Raises RuntimeError if eager tensors are requested and TensorFlow is not eager, and
        ValueError for a batch with another schema or with rows that do not fit.
        """
        eager = tf.executing_eagerly()
        if produce_eager_tensors and not eager:
            raise RuntimeError("Eager Tensors were requested but eager mode was not enabled.")
        if produce_eager_tensors is None:
            produce_eager_tensors = eager
        if not record_batch.schema.equals(self._arrow_schema):
            raise ValueError("Expected same schema.")
        self._refuse_slices(record_batch)
        bits = _halves.cast_columns(record_batch, self._bits) if self._halves else record_batch
        try:
            made = self._adapter.convert(bits)
        except Error as error:
            raise ValueError(
                f"Error raised when handling tensor '{error.path}': {error}"
            ) from error
        convert = _eager if produce_eager_tensors else _values_of
        tensors = {}
        for name, tensor in self._adapter.representations.items():
            tensors[name] = convert(self._as_theirs(tensor, made[name], record_batch.num_rows))
            if name in self._halves:
                tensors[name] = _halves.reinterpreted(tensors[name], tf.float16)
        return tensors

    def _refuse_slices(self, batch: pa.RecordBatch) -> None:
        for name, tensor in self._adapter.representations.items():
            if tensor.kind == "ragged" and batch.column(tensor.steps[0]).offset != 0:
                raise ValueError(
                    f"Error raised when handling tensor '{name}': the batch is a slice, from which "
                    "ragged tensors cannot be made"
                )

    def _as_theirs(self, tensor: TensorRepresentation, made: Any, num_rows: int) -> Any:
        if tensor.name in self._rank_1:
            return _rows_of(made)
        if tensor.kind == "sparse" and -1 in tensor.shape:  # which they leave there
            shape = np.array([num_rows, *tensor.shape], np.int64)
            return _SparseTensor(made.indices, made.values, shape)
        return made


class _Unfit(Exception):
    """Checks for representations that tfx_bsl refuses but Columnstone accepts."""


def _tensor_of(
    name: str, message: schema_pb2.TensorRepresentation, schema: pa.Schema
) -> TensorRepresentation:
    tensor = TensorRepresentation.from_proto(name, message)
    if not tensor.path:
        raise _Unfit("the path of the column is empty")
    levels, value = _column_of(schema, tensor.path)
    if tensor.kind != "ragged" and levels != 1:
        raise _Unfit(f"the column has {levels} levels of lists")
    if levels == 0:
        raise _Unfit("the column has no lists")
    dtype = _dtype_of(value)
    for column in tensor.index_columns:
        index_levels, index = _column_of(schema, (column,))
        if index_levels != 1 or not pa.types.is_integer(index):
            raise _Unfit(f"the column {column!r} has no lists of integers")
    for partition in tensor.partitions:
        if isinstance(partition, RowLengths):
            _column_of(schema, (*tensor.path[:-1], partition.key))
    if len(tensor.index_columns) != len(tensor.shape) and tensor.kind == "sparse":
        raise _Unfit("each dimension needs one index column")
    if message.dense_tensor.HasField("default_value"):
        _check_default(tensor.default, message.dense_tensor.default_value, value)
    tensor = TensorRepresentation.from_proto(name, message, dtype)
    if _is_rank_1(message):
        return TensorRepresentation(name, "varlen_sparse", dtype, tensor.path)
    if pa.types.is_float16(value) and tensor.default is not None:
        return replace(tensor, default=_halves.default_bits(tensor.default))
    return tensor


def _is_half(schema: pa.Schema, tensor: TensorRepresentation) -> bool:
    return bool(pa.types.is_float16(_column_of(schema, tensor.steps)[1]))


def _is_rank_1(message: schema_pb2.TensorRepresentation) -> bool:
    """Without index columns: a column of lists whose only indices are the rows. In Columnstone,
    such tensors come from columns without lists."""
    return message.HasField("sparse_tensor") and not message.sparse_tensor.index_column_names


def _rows_of(made: Any) -> Any:
    indices, shape = made.indices.numpy(), made.dense_shape.numpy()
    return _SparseTensor(np.ascontiguousarray(indices[:, :1]), made.values.numpy(), shape[:1])


def _column_of(schema: pa.Schema, path: tuple[str, ...]) -> tuple[int, pa.DataType]:
    """The number of list levels on the way to a column's values, and their type."""
    levels, steps = 0, list(path[1:])
    if path[0] not in schema.names:
        raise KeyError(f"Column {path[0]} does not exist in schema")
    kind = schema.field(path[0]).type
    while True:
        if pa.types.is_list(kind) or pa.types.is_large_list(kind):
            levels, kind = levels + 1, kind.value_type
        elif pa.types.is_struct(kind) and steps:
            step = steps.pop(0)
            if kind.get_field_index(step) < 0:
                raise _Unfit(f"there is no field {step!r}")
            kind = kind.field(kind.get_field_index(step)).type
        elif steps:
            raise _Unfit(f"there is no field {steps[0]!r}")
        else:
            return levels, kind


def _is_bytes(kind: pa.DataType) -> bool:
    return kind in (pa.binary(), pa.large_binary(), pa.string(), pa.large_string())


def _dtype_of(kind: pa.DataType) -> Dtype:
    if _is_bytes(kind):
        return "bytes"
    if pa.types.is_float16(kind):
        return "uint16"  # its bits
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        dtype: Dtype = np.dtype(kind.to_pandas_dtype()).name
        return dtype
    raise _Unfit(f"the values are of {kind}")


def _check_default(default: Value | None, message: Any, kind: pa.DataType) -> None:
    said = message.WhichOneof("kind")
    if said in ("int_value", "uint_value") and pa.types.is_integer(kind):
        info = np.iinfo(kind.to_pandas_dtype())
        if not info.min <= default <= info.max:  # type: ignore[operator]
            raise ValueError(
                f"Integer default value out of range: {default!r} is set for a {kind} column"
            )
    elif not (said == "float_value" and pa.types.is_floating(kind)) and not (
        said == "bytes_value" and _is_bytes(kind)
    ):
        raise ValueError(f"Incompatible default value: {said} is set for a {kind} column")


def _numpy(values: Any) -> Any:
    return values if isinstance(values, np.ndarray) else values.numpy()


def _eager(made: Any) -> Any:
    if not isinstance(made, _SparseTensor):
        return to_tf(made)
    values = _numpy(made.values)
    return tf.SparseTensor(
        tf.constant(np.asarray(made.indices), tf.int64),
        tf.constant(values, tf.string if values.dtype == object else None),
        tf.constant(np.asarray(made.dense_shape), tf.int64),
    )


def _values_of(made: Any) -> Any:
    return converted(made, lambda tensor: tensor.numpy(), _sparse_value, _ragged_value)


def _sparse_value(tensor: SparseTensor) -> Any:
    return tf.compat.v1.SparseTensorValue(
        indices=np.asarray(tensor.indices),
        dense_shape=np.asarray(tensor.dense_shape),
        values=_numpy(tensor.values),
    )


def _ragged_value(tensor: RaggedTensor) -> Any:
    value = tensor.values.numpy()
    for splits in reversed(tensor.row_splits):
        value = tf.compat.v1.ragged.RaggedTensorValue(value, splits.numpy())
    return value
