"""Parquet as a format of the package."""

from __future__ import annotations

from .. import registry
from .reader import open_file
from .sink import ParquetSink

FORMAT = registry.Format(
    "parquet",
    open_file,
    None,
    frozenset(("columns", "batch_size", "threads", "paths", "split", "max_inflation")),
    {},
)
SINK = ParquetSink
