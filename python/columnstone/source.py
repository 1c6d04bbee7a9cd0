"""What sources give and are made of: passes, splits, indexes, and what verifying finds."""

from __future__ import annotations

from ._core import Pass
from ._source.dropped import Dropped
from ._source.index import Index, IndexEntry
from ._source.scan import Fault, FileCount, Verification
from ._source.split import Split

__all__ = [
    "Dropped",
    "Fault",
    "FileCount",
    "Index",
    "IndexEntry",
    "Pass",
    "Split",
    "Verification",
]
