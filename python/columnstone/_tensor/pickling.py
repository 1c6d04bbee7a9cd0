"""How a Tensor pickles: as a record batch that gives it again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .adapter import TensorAdapter
from .encoder import TensorEncoder

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._core import RecordBatch, Tensor
    from .._schema.spec import TensorRepresentation


def reduce(
    tensor: Tensor,
) -> tuple[
    Callable[[RecordBatch, list[TensorRepresentation]], Any],
    tuple[RecordBatch, list[TensorRepresentation]],
]:
    """What pickles a Tensor: a record batch that gives it again."""
    tensors = {"t": tensor}
    encoder = TensorEncoder.of(tensors)
    representations = list(encoder.representations.values())
    return TensorAdapter._restore_tensor, (encoder.encode(tensors), representations)
