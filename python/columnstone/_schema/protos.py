"""TensorRepresentations as the messages of tensorflow_metadata, without a schema around them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._base.errors import UnsupportedError, argument_error
from .._base.optional import need

if TYPE_CHECKING:
    from .spec import Dtype, RowLengths, TensorRepresentation, UniformRowLength


def from_message(name: str, message: Any, dtype: Dtype) -> TensorRepresentation:
    """See TensorRepresentation.from_proto."""
    from .spec import TensorRepresentation

    if isinstance(message, bytes | bytearray | memoryview):
        data, message = bytes(message), _schema_pb2().TensorRepresentation()
        message.ParseFromString(data)
    kind = message.WhichOneof("kind")
    if kind == "dense_tensor":
        dense = message.dense_tensor
        default = dense.default_value.WhichOneof("kind")
        return TensorRepresentation(
            name,
            "dense",
            dtype,
            (dense.column_name,),
            tuple(dim.size for dim in dense.shape.dim),
            default=None if default is None else getattr(dense.default_value, default),
            explicit=True,
        )
    if kind == "varlen_sparse_tensor":
        path = (message.varlen_sparse_tensor.column_name,)
        return TensorRepresentation(name, "varlen_sparse", dtype, path, explicit=True)
    if kind == "sparse_tensor":
        sparse = message.sparse_tensor
        return TensorRepresentation(
            name,
            "sparse",
            dtype,
            (sparse.value_column_name,),
            tuple(dim.size for dim in sparse.dense_shape.dim),
            tuple(sparse.index_column_names),
            getattr(sparse, "already_sorted", False),  # which older messages do not have
            explicit=True,
        )
    if kind == "ragged_tensor":
        ragged = message.ragged_tensor
        return TensorRepresentation(
            name,
            "ragged",
            dtype,
            tuple(ragged.feature_path.step),
            partitions=tuple(_partition(name, one) for one in ragged.partition),
            row_splits_dtype="int32" if ragged.row_partition_dtype == 2 else "int64",
            explicit=True,
        )
    raise argument_error(f"tensor {name!r}: the message says no kind of tensor")


def _partition(name: str, message: Any) -> RowLengths | UniformRowLength:
    from .spec import RowLengths, UniformRowLength

    kind = message.WhichOneof("kind")
    if kind == "row_length":
        return RowLengths(message.row_length)
    if kind == "uniform_row_length":
        return UniformRowLength(message.uniform_row_length)
    raise argument_error(f"tensor {name!r}: a partition has neither row lengths nor a length")


def to_message(tensor: TensorRepresentation) -> Any:
    """See TensorRepresentation.to_proto."""
    from .spec import RowLengths

    message = _schema_pb2().TensorRepresentation()
    if tensor.kind == "structured":
        hint = "convert its fields"
        raise UnsupportedError(
            f"no message says the structured tensor {tensor.name!r} ({hint})", hint=hint
        )
    if tensor.kind == "ragged":
        ragged = message.ragged_tensor
        ragged.feature_path.step.extend(tensor.steps)
        ragged.row_partition_dtype = 2 if tensor.row_splits_dtype == "int32" else 1
        for partition in tensor.partitions:
            if isinstance(partition, RowLengths):
                ragged.partition.add(row_length=partition.key)
            else:
                ragged.partition.add(uniform_row_length=partition.length)
        return message
    if len(tensor.steps) > 1:
        hint = "make it ragged"
        raise UnsupportedError(
            f"the message of a {tensor.kind} tensor names a column, and {tensor.name!r} is made of "
            f"{'.'.join(tensor.steps)!r} ({hint})",
            hint=hint,
        )
    column = tensor.steps[0]
    if tensor.kind == "varlen_sparse":
        message.varlen_sparse_tensor.column_name = column
    elif tensor.kind == "sparse":
        sparse = message.sparse_tensor
        sparse.dense_shape.SetInParent()
        for size in tensor.shape:
            sparse.dense_shape.dim.add(size=size)
        sparse.index_column_names.extend(tensor.index_columns)
        sparse.value_column_name = column
        if tensor.already_sorted:
            sparse.already_sorted = True
    else:
        _to_dense(tensor, column, message.dense_tensor)
    return message


def _to_dense(tensor: TensorRepresentation, column: str, dense: Any) -> None:
    dense.column_name = column
    dense.shape.SetInParent()
    for size in tensor.shape:
        dense.shape.dim.add(size=size)
    if tensor.default is not None:
        family = {"b": "bytes", "f": "float"}.get(tensor.dtype[0], "int")
        setattr(dense.default_value, f"{family}_value", tensor.default)


def _schema_pb2() -> Any:
    return need(
        "tensorflow_metadata.proto.v0.schema_pb2",
        "the message of a TensorRepresentation",
        "tensorflow-metadata",
    )
