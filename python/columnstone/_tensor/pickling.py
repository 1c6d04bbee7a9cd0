"""Pickling of Tensors: as a record batch from which the tensor is restored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .adapter import TensorAdapter
from .encoder import TensorEncoder

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._core import Tensor


def reduce(
    tensor: Tensor,
) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """The pickled form of a Tensor: a record batch from which it is restored."""
    if tensor.ndim == 0:
        return type(tensor)._reshape, (tensor._reshape((1,)), ())
    tensors = {"t": tensor}
    encoder = TensorEncoder.of(tensors)
    representations = list(encoder.representations.values())
    return TensorAdapter._restore_tensor, (encoder.encode(tensors), representations)
