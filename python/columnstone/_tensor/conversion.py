"""Conversion of tensors to numpy, PyTorch, JAX and TensorFlow: one traversal of batches for all of
them.

Nothing is copied if the framework can use memory that it must not write to.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, overload

from .. import _core
from .._base.errors import UnsupportedError
from .._base.optional import need
from .._base.public import public_in
from .tensor import RaggedTensor, SparseTensor

if TYPE_CHECKING:
    from collections.abc import Callable

    import jax
    import numpy.typing as npt

    from .._core import Tensor
    from .._types import (
        BatchOf,
        JaxTensor,
        Leaf,
        NumpyTensor,
        SomeTensor,
        Structured,
        TorchTensor,
    )

    Convert = Callable[[Any], Any]


# A tensor whose kind depends on the data is checked like a dense one.


@overload
def to_numpy(tensors: BatchOf[Any]) -> BatchOf[NumpyTensor]: ...


@overload
def to_numpy(tensors: Mapping[str, Any] | Structured) -> dict[str, NumpyTensor]: ...


@overload
def to_numpy(tensors: tuple[Any, ...]) -> tuple[Any, ...]: ...


@overload
def to_numpy(tensors: SomeTensor | Leaf) -> NumpyTensor: ...


@overload
def to_numpy(tensors: Tensor) -> npt.NDArray[Any]: ...


@overload
def to_numpy(tensors: SparseTensor) -> SparseTensor[npt.NDArray[Any]]: ...


@overload
def to_numpy(tensors: RaggedTensor) -> RaggedTensor[npt.NDArray[Any]]: ...


@public_in("columnstone.tensor")
def to_numpy(tensors: Any) -> Any:
    """Converts a tensor, or a dict or tuple of tensors, to numpy. Dense tensors become read-only
    arrays without a copy. SparseTensor and RaggedTensor keep their class, with arrays as parts.
    Strings become arrays of bytes objects. Here and in to_torch, to_jax and to_tf, a
    StructuredTensor becomes a dict of its fields, and a LeafTensor becomes the Tensor or
    RaggedTensor of its values."""
    return converted(tensors, lambda tensor: tensor.numpy())


@overload
def to_torch(tensors: BatchOf[Any], *, jagged: bool = True) -> BatchOf[TorchTensor]: ...


@overload
def to_torch(
    tensors: Mapping[str, Any] | Structured, *, jagged: bool = True
) -> dict[str, TorchTensor]: ...


@overload
def to_torch(tensors: tuple[Any, ...], *, jagged: bool = True) -> tuple[Any, ...]: ...


@overload
def to_torch(
    tensors: Tensor | SparseTensor | RaggedTensor | Leaf, *, jagged: bool = True
) -> TorchTensor: ...


@public_in("columnstone.tensor")
def to_torch(tensors: Any, *, jagged: bool = True) -> Any:
    """Converts a tensor, or a dict or tuple of tensors, to PyTorch. Nothing is copied: do not
    modify the result in place.

    A dense tensor becomes a tensor. A sparse tensor becomes sparse_coo, with unknown dimensions as
    large as needed. A ragged tensor with one level becomes a jagged nested tensor; with more
    levels, a RaggedTensor of torch tensors. Strings, which torch does not support, become a
    StringTensor, whose numpy() and tolist() return bytes objects.

    jagged: False makes each ragged tensor with one level a RaggedTensor of torch tensors too: its
        values and row splits. PyTorch then does not load its support for jagged tensors, which
        takes seconds.
    """
    return framework("torch", "torch", "PyTorch").to_torch(tensors, jagged)


@overload
def to_jax(tensors: BatchOf[Any]) -> BatchOf[JaxTensor]: ...


@overload
def to_jax(tensors: Mapping[str, Any] | Structured) -> dict[str, JaxTensor]: ...


@overload
def to_jax(tensors: tuple[Any, ...]) -> tuple[Any, ...]: ...


@overload
def to_jax(tensors: SomeTensor | Tensor | Leaf) -> JaxTensor: ...


@overload
def to_jax(tensors: SparseTensor) -> SparseTensor[jax.Array]: ...


@overload
def to_jax(tensors: RaggedTensor) -> RaggedTensor[jax.Array]: ...


@public_in("columnstone.tensor")
def to_jax(tensors: Any) -> Any:
    """Converts a tensor, or a dict or tuple of tensors, to JAX. SparseTensor and RaggedTensor keep
    their class, with JAX arrays as parts. Strings become numpy arrays of bytes objects.

    Without jax_enable_x64, JAX has no 64-bit types: int64 becomes int32 (UnsupportedError if a
    value does not fit), and float64 is rounded to float32.
    """
    return framework("jax", "jax", "JAX").to_jax(tensors)


@public_in("columnstone.tensor")
def to_tf(tensors: Any) -> Any:
    """Converts a tensor, or a dict or tuple of tensors, to TensorFlow: tf.Tensor, tf.SparseTensor,
    tf.RaggedTensor. Strings become tf.string."""
    return framework("tf", "tensorflow", "TensorFlow").to_tf(tensors)


def framework(module: str, package: str, name: str) -> Any:
    """The module of this package that needs another package."""
    return need(f"columnstone._frameworks.{module}", f"conversion to {name}", package)


def register_with_jax() -> None:
    """Tells JAX how to traverse batches and tensors, if the program uses JAX."""
    if hasattr(sys.modules.get("jax"), "tree_util"):
        importlib.import_module("columnstone._frameworks.jax")


def converted(
    tensors: Any,
    dense: Convert,
    sparse: Convert | None = None,
    ragged: Convert | None = None,
) -> Any:
    """The same structure with every tensor converted; a structured tensor becomes a dict of its
    fields. Without functions for them, sparse and ragged tensors keep their class, and their parts
    are converted."""
    if isinstance(tensors, _core.StructuredBase):
        tensors = flat_tensors(tensors)
    if isinstance(tensors, Mapping):
        made = {name: converted(t, dense, sparse, ragged) for name, t in tensors.items()}
        return like(tensors, made)
    if isinstance(tensors, tuple):
        return tuple(converted(t, dense, sparse, ragged) for t in tensors)
    if isinstance(tensors, SparseTensor):
        return sparse_parts(tensors, dense) if sparse is None else sparse(tensors)
    if isinstance(tensors, RaggedTensor):
        return ragged_parts(tensors, dense) if ragged is None else ragged(tensors)
    return dense(tensors)


def flat_tensors(tensor: _core.StructuredBase, path: str = "") -> Any:
    """The tensors that sources return: for a structured tensor a dict of its fields, which may be
    structured themselves; for a leaf tensor a Tensor or a RaggedTensor. UnsupportedError for a
    scalar."""
    if tensor.rank == 0:
        raise UnsupportedError("the tensor is a scalar, which has no rows", path=path or None)
    if hasattr(tensor, "to_tensor"):
        return tensor.to_tensor()
    return {name: tensor[(name,)] for name in tensor.field_names()}


def like(tensors: Mapping[str, Any], made: dict[str, Any]) -> Any:
    """Turns a dict into a Batch with its position, if the original was one."""
    if not hasattr(tensors, "position"):
        return made
    return type(tensors)(made, tensors.position)  # type: ignore[call-arg]


def sparse_parts(tensor: SparseTensor, dense: Convert) -> SparseTensor[Any]:
    """A sparse tensor with converted parts."""
    return SparseTensor(dense(tensor.indices), dense(tensor.values), dense(tensor.dense_shape))


def ragged_parts(tensor: RaggedTensor, dense: Convert) -> RaggedTensor[Any]:
    """A ragged tensor with converted parts."""
    return RaggedTensor(dense(tensor.values), [dense(splits) for splits in tensor.row_splits])
