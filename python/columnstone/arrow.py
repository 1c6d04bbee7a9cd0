"""Arrow data of Columnstone's own, which crosses to pyarrow, Polars and others without a copy."""

from __future__ import annotations

from ._arrow.table import Groups
from ._core import Array, ArrowSchema

__all__ = [
    "Array",
    "ArrowSchema",
    "Groups",
]
