"""Counts of distinct values."""

from __future__ import annotations

import pyarrow as pa

from .... import sketch
from .._errors import raising
from ._saved import SavedSketch


class KmvSketch(SavedSketch):
    """Counts distinct values: columnstone.sketch.Kmv."""

    _sketch: sketch.Kmv

    def __init__(self, num_buckets: int, /) -> None:
        self._buckets = num_buckets
        with raising(RuntimeError):
            self._sketch = sketch.Kmv(num_buckets)

    def AddValues(self, values: pa.Array, /) -> None:
        """Adds integers, floats, strings or bytes; nulls are skipped. RuntimeError for other
        types."""
        check_values(values)
        with raising(RuntimeError, "INVALID_ARGUMENT: "):
            self._sketch.add(values)

    def Merge(self, other: KmvSketch, /) -> None:
        """Adds the state of another sketch with the same number of buckets (otherwise
        RuntimeError)."""
        if not isinstance(other, KmvSketch):
            raise TypeError(f"Merge(): expected a KmvSketch, not {type(other).__name__}")
        if self._buckets != other._buckets:
            raise RuntimeError(
                "INVALID_ARGUMENT: Both sketches must have the same number of buckets: "
                f"{self._buckets} v.s. {other._buckets}"
            )
        with raising(RuntimeError, "INVALID_ARGUMENT: "):
            self._sketch.merge(other._sketch)

    def Estimate(self) -> int:
        """The number of distinct values that were added."""
        return int(self._sketch.estimate)

    def _load(self, message: bytes) -> None:
        with raising(RuntimeError, "Failed to parse Kmv sketch: "):
            self._sketch = sketch.Kmv.from_tfx_bsl(message)
        self._buckets = int(self._sketch._handle.option("buckets") or 0)


def check_values(values: pa.Array) -> None:
    """Raises RuntimeError for a type that tfx_bsl's sketches do not support."""
    numbers = (pa.types.is_integer, pa.types.is_float32, pa.types.is_float64)
    texts = (pa.types.is_string, pa.types.is_binary)
    large = (pa.types.is_large_string, pa.types.is_large_binary)
    if not any(holds(values.type) for holds in (*numbers, *texts, *large)):
        raise RuntimeError(f"UNIMPLEMENTED: {values.type}")
