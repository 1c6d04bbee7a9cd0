"""What datasets deliver, and what training loops need beside them."""

from __future__ import annotations

from ._arrow.split import train_test_split
from ._dataset.batch import Batch, Position
from ._dataset.device import prefetch_to_device

__all__ = [
    "Batch",
    "Position",
    "prefetch_to_device",
    "train_test_split",
]
