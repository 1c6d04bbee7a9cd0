"""Tensors as JAX arrays."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from ._errors import UnsupportedError
from ._frameworks import converted

_NARROW = {"int64": np.int32, "uint64": np.uint32}


def to_jax(tensors: Any) -> Any:
    """See _frameworks.to_jax."""
    return converted(tensors, _array)


def _array(tensor: Any) -> Any:
    if tensor.dtype == "bytes":
        return tensor.numpy()
    narrow = None if jax.config.jax_enable_x64 else _NARROW.get(tensor.dtype)
    if narrow is not None:
        return jax.numpy.asarray(_narrowed(tensor.numpy(), narrow))
    return jax.dlpack.from_dlpack(tensor)


def _narrowed(values: Any, narrow: Any) -> Any:
    """What JAX makes of 64-bit integers, which loses nothing."""
    made = values.astype(narrow)
    if not np.array_equal(made, values):
        hint = "jax.config.update('jax_enable_x64', True)"
        raise UnsupportedError(
            f"a value of type {values.dtype} does not fit {made.dtype}, the widest integer that "
            f"JAX has without jax_enable_x64 ({hint})",
            hint=hint,
        )
    return made
