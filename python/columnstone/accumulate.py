"""What is found out by looking at all data, batch by batch, and merged: schemas, faults, counts."""

from __future__ import annotations

from ._source.accumulate import (
    Accumulator,
    ColumnCount,
    ColumnCounts,
    Counts,
    SchemaInference,
    Validation,
    accumulators,
)

__all__ = [
    "Accumulator",
    "ColumnCount",
    "ColumnCounts",
    "Counts",
    "SchemaInference",
    "Validation",
    "accumulators",
]
