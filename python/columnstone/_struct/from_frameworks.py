"""Structured tensors from tensors of TensorFlow and TorchRec."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from .. import _core
from .._arrow.objects import array_of
from .._arrow.table import _batch_of, array
from .._base.errors import ArgumentError
from .._base.optional import need
from .dense import divided, partitioned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._core import AnyStructured, Array


def _struct(names: Sequence[str], fields: Sequence[Array], count: int) -> Any:
    return _core.structured(_batch_of(list(names), list(fields), count), False)


# ---- TensorFlow ----


def from_tensorflow(tensor: Any) -> Any:
    """See StructConversions.from_tensorflow."""
    tf = need("tensorflow", "from_tensorflow()")
    tensor = tensor if _is_tf(tf, tensor) else tf.convert_to_tensor(tensor)
    rank = tensor.shape.rank
    if rank is None:
        raise ArgumentError("a tensor of unknown rank")
    if rank > 0:
        return _tf_rows(tf, tensor)
    return _core.structured(_tf_row(tf, tensor)._array, True)


def _is_tf(tf: Any, tensor: Any) -> bool:
    kinds = tf.Tensor, tf.RaggedTensor, tf.experimental.StructuredTensor
    return isinstance(tensor, kinds)


def _tf_row(tf: Any, tensor: Any) -> Any:
    """As the single row of a structured tensor."""
    if not isinstance(tensor, tf.experimental.StructuredTensor):
        return _tf_rows(tf, tf.expand_dims(tensor, 0))
    if tensor.rank > 0:
        rows = _tf_rows(tf, tensor)
        return divided(rows, [0, len(rows)])
    names = tensor.field_names()
    return _struct(names, [_tf_row(tf, tensor.field_value(name))._array for name in names], 1)


def _tf_rows(tf: Any, tensor: Any) -> Any:
    """A structured tensor of rank 1 or more."""
    if isinstance(tensor, tf.RaggedTensor):
        inner = _tf_rows(tf, tensor.values)
        return _tf_divided(inner, tensor.row_splits, tensor.uniform_row_length)
    if not isinstance(tensor, tf.experimental.StructuredTensor):
        return _tf_dense(tensor)
    partitions = tensor.row_partitions
    count = int(partitions[-1].nvals() if partitions else tensor.nrows())
    names = tensor.field_names()
    fields = [_tf_rows(tf, tensor.field_value(name)) for name in names]
    if partitions:  # not by tensor.merge_dims, which takes what has no values for no rows
        fields = [_core.structured_merge_dims(field, 0, tensor.rank - 1) for field in fields]
    made = _struct(names, [field._array for field in fields], count)
    for rows in reversed(partitions):
        made = _tf_divided(made, rows.row_splits(), rows.uniform_row_length())
    return made


def _tf_divided(tensor: Any, splits: Any, uniform: Any) -> Any:
    if uniform is not None:
        return partitioned(tensor, len(splits) - 1, int(uniform))
    return divided(tensor, splits.numpy())


def _tf_dense(tensor: Any) -> Any:
    values = tensor.numpy()
    flat = values.reshape(-1)
    if values.dtype == object:
        made = array_of(list(flat)) if len(flat) > 0 else array_of([b""])[:0]
    else:
        made = array(flat)
    structured: AnyStructured = _core.structured(made, False)
    for dim in reversed(range(1, values.ndim)):
        structured = partitioned(structured, prod(values.shape[:dim]), values.shape[dim])
    return structured


# ---- TorchRec ----


def from_keyed_jagged(tensor: Any) -> Any:
    """See StructConversions.from_keyed_jagged."""
    np = need("numpy", "from_keyed_jagged()")
    names: list[str] = []
    fields: list[Array] = []
    rows: int | None = None
    for key in tensor.keys():  # noqa: SIM118, which is no dict
        jagged = tensor[key]
        lengths = jagged.lengths().detach().cpu().numpy()
        if rows is not None and len(lengths) != rows:
            raise ArgumentError(
                f"key {key!r}: {len(lengths)} rows, expected {rows} as for {names[0]!r}", path=key
            )
        rows = len(lengths)
        splits = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        parts = {key: jagged.values(), f"{key}_weights": jagged.weights_or_none()}
        for name, values in parts.items():
            if values is not None:
                flat = _core.structured(array(values.detach().cpu().numpy()), False)
                names.append(name)
                fields.append(divided(flat, splits)._array)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ArgumentError(f"two fields are named {twice!r}", path=twice)
    return _struct(names, fields, rows or 0)
