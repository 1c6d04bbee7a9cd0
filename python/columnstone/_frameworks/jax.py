"""Tensors as JAX arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from .._base.errors import UnsupportedError
from .._dataset.batch import Batch
from .._tensor.conversion import converted
from .._tensor.tensor import RaggedTensor, SparseTensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_NARROW = {"int64": np.int32, "uint64": np.uint32}


def to_jax(tensors: Any) -> Any:
    """See _frameworks.to_jax."""
    return converted(tensors, _array)


def _array(tensor: Any) -> Any:
    if isinstance(tensor, np.ndarray):
        return jax.numpy.asarray(tensor)
    made = on_host(tensor)
    is_number = isinstance(made, np.ndarray) and made.dtype != object
    return jax.numpy.asarray(made) if is_number else made


def on_host(tensor: Any) -> Any:
    """A Tensor of this package in host memory: as a JAX array, or as a numpy array if JAX does not
    have its type."""
    if tensor.dtype == "bytes":
        return tensor.numpy()
    if tensor.dtype in _NARROW and not jax.config.jax_enable_x64:
        return narrowed(tensor.numpy())
    return jax.dlpack.from_dlpack(tensor)


def narrowed(values: Any) -> Any:
    """The JAX form of an array of 64-bit integers, without loss."""
    narrow = None if jax.config.jax_enable_x64 else _NARROW.get(values.dtype.name)
    if narrow is None:
        return values
    made = values.astype(narrow)
    if not np.array_equal(made, values):
        hint = "jax.config.update('jax_enable_x64', True)"
        raise UnsupportedError(
            f"a value of type {values.dtype} does not fit in {made.dtype}, the widest integer "
            f"type that JAX has without jax_enable_x64 ({hint})",
            hint=hint,
        )
    return made


# For jax.jit and jax.tree, a batch is a dict without its position. With the position, every batch
# would have a structure of its own and be compiled again.


def _flatten_batch(batch: Batch) -> tuple[tuple[tuple[Any, Any], ...], tuple[str, ...]]:
    names = tuple(sorted(batch))
    return tuple((jax.tree_util.DictKey(name), batch[name]) for name in names), names


def _unflatten_batch(names: tuple[str, ...], values: Iterable[Any]) -> Batch:
    return Batch(zip(names, values, strict=True))


def _flatten_parts(*names: str) -> Callable[[Any], tuple[Any, None]]:
    keys = [(jax.tree_util.GetAttrKey(name), name) for name in names]
    return lambda tensor: (tuple((key, getattr(tensor, name)) for key, name in keys), None)


jax.tree_util.register_pytree_with_keys(Batch, _flatten_batch, _unflatten_batch)
jax.tree_util.register_pytree_with_keys(
    SparseTensor,
    _flatten_parts("indices", "values", "dense_shape"),
    lambda _, parts: SparseTensor(*parts),
)
jax.tree_util.register_pytree_with_keys(
    RaggedTensor,
    _flatten_parts("values", "row_splits"),
    lambda _, parts: RaggedTensor(*parts),
)
