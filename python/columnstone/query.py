"""What outputs of a query become as tensors: the parts that `Query` takes for its columns."""

from __future__ import annotations

from ._query.text import dense, ragged, sparse, structured
from ._query.view import ViewDiff

__all__ = [
    "ViewDiff",
    "dense",
    "ragged",
    "sparse",
    "structured",
]
