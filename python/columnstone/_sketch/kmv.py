"""Counts of distinct values, compatible with tfx_bsl."""

from __future__ import annotations

from .. import _core
from .._base.public import public_in
from .tfx import TfxSketch


@public_in("columnstone.sketch")
class Kmv(TfxSketch):
    """Counts distinct values like tfx_bsl's KmvSketch, to continue with its saved sketches.
    Distinct is more accurate, and smaller.

    buckets: the number of hashes that are kept; the relative error is about 1 / sqrt(buckets).
    """

    __slots__ = ()
    _kind = "kmv"

    def __init__(self, buckets: int = 16384) -> None:
        super().__init__(buckets=buckets)

    @property
    def estimate(self) -> float:
        """The number of distinct values: exact while it is less than the number of buckets."""
        return _core.sketch_distinct(self._handle, 0)[0]

    def bounds(self, deviations: float = 2) -> tuple[float, float]:
        """The interval of this many standard deviations around the estimate."""
        return _core.sketch_distinct(self._handle, deviations)[1:]
