"""TensorRepresentations as messages of tensorflow_metadata, without a schema around them.

Here, a representation is the extension's tuple (spec.py).
"""

from __future__ import annotations

from typing import Any

from .._base.errors import UnsupportedError, argument_error
from .._base.optional import need


def entry_of_message(name: str, message: Any, dtype: str) -> tuple[Any, ...]:
    """The tuple for a message or its bytes. See TensorRepresentation.from_proto."""
    if isinstance(message, bytes | bytearray | memoryview):
        data, message = bytes(message), _schema_pb2().TensorRepresentation()
        message.ParseFromString(data)
    kind = message.WhichOneof("kind")
    if kind == "dense_tensor":
        dense = message.dense_tensor
        said = dense.default_value.WhichOneof("kind")
        default = None if said is None else getattr(dense.default_value, said)
        dims = tuple(dim.size for dim in dense.shape.dim)
        return _entry(name, "dense", dtype, (dense.column_name,), dims, default=default)
    if kind == "varlen_sparse_tensor":
        path = (message.varlen_sparse_tensor.column_name,)
        return _entry(name, "varlen_sparse", dtype, path)
    if kind == "sparse_tensor":
        sparse = message.sparse_tensor
        return _entry(
            name,
            "sparse",
            dtype,
            (sparse.value_column_name,),
            tuple(dim.size for dim in sparse.dense_shape.dim),
            index_columns=tuple(sparse.index_column_names),
            # which older messages do not have
            already_sorted=getattr(sparse, "already_sorted", False),
        )
    if kind == "ragged_tensor":
        ragged = message.ragged_tensor
        return _entry(
            name,
            "ragged",
            dtype,
            tuple(ragged.feature_path.step),
            partitions=tuple(_partition(name, one) for one in ragged.partition),
            row_splits_dtype="int32" if ragged.row_partition_dtype == 2 else "int64",
        )
    raise argument_error(f"tensor {name!r}: the message has no kind of tensor")


def _entry(
    name: str,
    kind: str,
    dtype: str,
    path: tuple[str, ...],
    dims: tuple[int, ...] = (),
    *,
    index_columns: tuple[str, ...] = (),
    already_sorted: bool = False,
    partitions: tuple[str | int, ...] = (),
    row_splits_dtype: str = "int64",
    default: Any = None,
) -> tuple[Any, ...]:
    shared = (name, kind, dtype, path, dims, index_columns, already_sorted, partitions)
    return (*shared, row_splits_dtype, default, True, False, "", [])


def _partition(name: str, message: Any) -> str | int:
    kind = message.WhichOneof("kind")
    if kind == "row_length":
        return str(message.row_length)
    if kind == "uniform_row_length":
        return int(message.uniform_row_length)
    raise argument_error(
        f"tensor {name!r}: a partition has neither row_length nor uniform_row_length"
    )


def message_of_entry(entry: tuple[Any, ...]) -> Any:
    """The message for a tuple. See TensorRepresentation.to_proto."""
    name, kind, _, path, dims, index_columns, already_sorted, partitions, row_splits_dtype = entry[
        :9
    ]
    steps = path or (name,)
    message = _schema_pb2().TensorRepresentation()
    if kind == "structured":
        hint = "convert its fields"
        raise UnsupportedError(
            f"no message can describe the structured tensor {name!r} ({hint})", hint=hint
        )
    if kind == "ragged":
        ragged = message.ragged_tensor
        ragged.feature_path.step.extend(steps)
        ragged.row_partition_dtype = 2 if row_splits_dtype == "int32" else 1
        for partition in partitions:
            field = "row_length" if isinstance(partition, str) else "uniform_row_length"
            ragged.partition.add(**{field: partition})
        return message
    if len(steps) > 1:
        hint = "make it ragged"
        raise UnsupportedError(
            f"the message of a {kind} tensor names a top-level column, but {name!r} is made from "
            f"{'.'.join(steps)!r} ({hint})",
            hint=hint,
        )
    if kind == "varlen_sparse":
        message.varlen_sparse_tensor.column_name = steps[0]
    elif kind == "sparse":
        sparse = message.sparse_tensor
        _put_dims(sparse.dense_shape, dims)
        sparse.index_column_names.extend(index_columns)
        sparse.value_column_name = steps[0]
        if already_sorted:
            sparse.already_sorted = True
    else:
        dense = message.dense_tensor
        dense.column_name = steps[0]
        _put_dims(dense.shape, dims)
        _put_default(dense.default_value, entry[2], entry[9])
    return message


def _put_dims(shape: Any, dims: tuple[int, ...]) -> None:
    shape.SetInParent()
    for size in dims:
        shape.dim.add(size=size)


def _put_default(message: Any, dtype: str, default: Any) -> None:
    if default is not None:
        family = {"b": "bytes", "f": "float"}.get(dtype[0], "int")
        setattr(message, f"{family}_value", default)


def _schema_pb2() -> Any:
    return need(
        "tensorflow_metadata.proto.v0.schema_pb2",
        "the message of a TensorRepresentation",
        "tensorflow-metadata",
    )
