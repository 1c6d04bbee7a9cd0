"""Structured tensors as tensors of PyTorch, JAX, TensorFlow and TorchRec.

None of these has nulls. A null struct makes its fields null, which is an error with their path;
only structs without fields need a check of their own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from .. import _core
from .._arrow.table import as_numpy
from .._base.errors import ArgumentError
from .._base.optional import need
from .._tensor.conversion import to_jax as _to_jax
from .._tensor.conversion import to_torch as _to_torch
from .dense import leaf_tensor, num_ragged, parts_of, refuse_null_lists, refuse_nulls

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeAlias

    from .._core import StructuredBase

    Path: TypeAlias = str | tuple[str, ...]


def filled(tensor: Any, fill: object) -> Any:
    """The tensor, after fill_null(fill) if a fill is given."""
    return tensor if fill is None else tensor.fill_null(fill)


def _is_struct(tensor: StructuredBase) -> bool:
    return not hasattr(tensor, "numpy")


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _tensors(tensor: StructuredBase, path: str, wanted: str) -> Any:
    """As Tensors and RaggedTensors; structs as dicts."""
    if not _is_struct(tensor):
        return leaf_tensor(tensor, path, wanted)
    names = tensor.field_names()
    if not names:
        refuse_null_lists(tensor, path, wanted)
        refuse_nulls(tensor, tensor.flat_values._array, path, wanted)
    return {name: _tensors(tensor[(name,)], _below(path, name), wanted) for name in names}


def to_torch(tensor: StructuredBase) -> Any:
    """See Conversions.to_torch."""
    return _to_torch(_tensors(tensor, "", "a torch tensor"))


def to_jax(tensor: StructuredBase) -> Any:
    """See Conversions.to_jax."""
    return _to_jax(_tensors(tensor, "", "a JAX array"))


# ---- TensorFlow ----

_TF_NAME = re.compile("[a-zA-Z][a-zA-Z0-9_]*")


def to_tensorflow(tensor: StructuredBase) -> Any:
    """See Conversions.to_tensorflow."""
    tf = need("tensorflow", "to_tensorflow()")
    return _to_tf(tf, tensor, "")


def _to_tf(tf: Any, tensor: StructuredBase, path: str) -> Any:
    if not _is_struct(tensor):
        return _tf_leaf(tf, tensor, path)
    refuse_null_lists(tensor, path, "a TensorFlow tensor")
    flat = tensor if tensor.rank == 0 else tensor.flat_values
    if not tensor.field_names():
        refuse_nulls(tensor, tensor.flat_values._array, path, "a TensorFlow tensor")
    fields = {}
    for name in tensor.field_names():
        below = _below(path, name)
        if _TF_NAME.fullmatch(name) is None:
            raise ArgumentError(
                f"field {below!r}: TensorFlow does not allow this name: use letters, "
                "digits and underscores, beginning with a letter",
                path=below,
            )
        fields[name] = _to_tf(tf, flat[(name,)], below)
    shape = [] if tensor.rank == 0 else [len(flat)]
    made = tf.experimental.StructuredTensor.from_fields(fields, shape=shape)
    return _tf_rows(tensor, made, lambda made, rows: made.partition_outer_dimension(rows))


def _tf_rows(tensor: StructuredBase, made: Any, partition: Any) -> Any:
    """Divides the outer dimension of `made` into the tensor's dimensions, inner ones first."""
    partitions = need("tensorflow", "to_tensorflow()").experimental.RowPartition
    for dim in reversed(range(1, tensor.rank)):
        splits, size = as_numpy(tensor.row_splits[dim - 1]), tensor.shape[dim]
        if size is None:
            rows = partitions.from_row_splits(splits, validate=False)
        else:
            rows = partitions.from_uniform_row_length(
                size, nvals=int(splits[-1]), nrows=len(splits) - 1, validate=False
            )
        made = partition(made, rows)
    return made


def _tf_leaf(tf: Any, tensor: StructuredBase, path: str) -> Any:
    parts = parts_of(tensor, path, "a TensorFlow tensor")
    values: Any = parts.values
    is_text = isinstance(values, _core.Tensor) and values.dtype == "bytes"
    if isinstance(values, _core.Tensor):
        values = values.numpy()
    made = tf.constant(values, tf.string if is_text else None)
    levels = num_ragged(tensor.shape)
    for splits, size in zip(
        reversed(parts.row_splits), reversed(tensor.shape[1 : levels + 1]), strict=True
    ):
        if size is None:
            made = tf.RaggedTensor.from_row_splits(made, splits.numpy(), validate=False)
        else:
            made = tf.RaggedTensor.from_uniform_row_length(
                made, size, nrows=len(splits) - 1, validate=False
            )
    return made


# ---- TorchRec ----


def to_keyed_jagged(
    tensor: StructuredBase, keys: Iterable[Path], weights: Iterable[Path] | None
) -> Any:
    """See StructConversions.to_keyed_jagged."""
    torchrec = need("torchrec.sparse.jagged_tensor", "to_keyed_jagged()", "torchrec")
    torch = need("torch", "to_keyed_jagged()")
    paths = _paths(keys)
    if not paths or tensor.rank != 1:
        what = "no keys" if not paths else f"a tensor of rank {tensor.rank}"
        raise ArgumentError(
            f"found {what}, expected at least one key, and a row per example (rank 1)"
        )
    values, lengths = zip(*(_jagged(torch, tensor, path) for path in paths), strict=True)
    parts = {"values": torch.cat(values), "lengths": torch.cat(lengths)}
    if weights is not None:
        parts["weights"] = torch.cat(_weights(torch, tensor, paths, _paths(weights), lengths))
    names = [path if isinstance(path, str) else ".".join(path) for path in paths]
    return torchrec.KeyedJaggedTensor(keys=names, **parts)


def _paths(paths: Iterable[Path]) -> list[Path]:
    if isinstance(paths, str):
        raise TypeError("expected a list of fields, not a str")
    return list(paths)


def _jagged(torch: Any, tensor: StructuredBase, path: Path) -> tuple[Any, Any]:
    """The values of a field, and the number of values in each row."""
    field = tensor[path]
    name = path if isinstance(path, str) else ".".join(path)
    if _is_struct(field) or field.rank > 2:
        hint = "use merge_dims() or promote(), or name one of its fields"
        raise ArgumentError(
            f"field {name!r}: {'structs' if _is_struct(field) else f'rank {field.rank}'}, expected "
            f"a list of numbers per row ({hint})",
            path=name,
            hint=hint,
        )
    refuse_null_lists(field, name, "a KeyedJaggedTensor")
    values = to_torch_leaf(field.flat_values, name)
    if field.rank == 1:
        return values, torch.ones(len(field), dtype=torch.int64)
    return values, torch.from_numpy(as_numpy(field.row_splits[0]).copy()).diff()


def to_torch_leaf(tensor: StructuredBase, path: str) -> Any:
    """Numbers in PyTorch."""
    made = _to_torch(leaf_tensor(tensor, path, "a torch tensor"))
    if not hasattr(made, "data_ptr"):
        raise ArgumentError(f"field {path!r}: strings, expected numbers", path=path)
    return made


def _weights(
    torch: Any, tensor: StructuredBase, keys: list[Path], weights: list[Path], lengths: Any
) -> list[Any]:
    if len(weights) != len(keys):
        raise ArgumentError(f"{len(weights)} weights, expected one for each of {len(keys)} keys")
    made = []
    for key, path, wanted in zip(keys, weights, lengths, strict=True):
        values, own = _jagged(torch, tensor, path)
        differ = (own != wanted).nonzero()
        if len(differ) > 0:
            row = int(differ[0])
            raise ArgumentError(
                f"weights {path!r}: {int(own[row])} in row {row}, expected {int(wanted[row])} as "
                f"in {key!r}",
                path=path if isinstance(path, str) else ".".join(path),
                record=row,
            )
        made.append(values)
    return made
