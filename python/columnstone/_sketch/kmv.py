"""Counts of different values as tfx_bsl has them."""

from __future__ import annotations

from .. import _core
from .._base.public import public_in
from .tfx import TfxSketch


@public_in("columnstone.sketch")
class Kmv(TfxSketch):
    """How many different values there are, as tfx_bsl's KmvSketch counts them: to go on with what
    it has saved. Distinct is more accurate, and smaller.

    buckets: hashes that are kept; the relative error is about 1 / sqrt(buckets).
    """

    __slots__ = ()
    _kind = "kmv"

    def __init__(self, buckets: int = 16384) -> None:
        super().__init__(buckets=buckets)

    @property
    def estimate(self) -> float:
        """How many different values were added: exact while they are fewer than the buckets."""
        return _core.sketch_distinct(self._handle, 0)[0]

    def bounds(self, deviations: float = 2) -> tuple[float, float]:
        """So many standard deviations below and above the estimate."""
        return _core.sketch_distinct(self._handle, deviations)[1:]
