"""Histograms with buckets of equal width."""

from __future__ import annotations

from typing import Any

from .. import _core
from .._base.public import public_in
from .sketch import Sketch


@public_in("columnstone.sketch")
class Histogram(Sketch):
    """Counts the numbers in buckets of equal width between two ends, as numpy.histogram does.
    Weights are summed exactly: results and bytes do not depend on the order of values and merges.

    low, high: the ends, which both belong to buckets.
    buckets: the number of buckets.
    """

    __slots__ = ()
    _kind = "histogram"

    def __init__(self, low: float, high: float, buckets: int = 10) -> None:
        super().__init__(low=float(low), high=float(high), buckets=buckets)

    def _rows(self) -> tuple[dict[str, list[Any]], dict[str, int]]:
        batch, totals = _core.sketch_histogram(self._handle)
        return batch.to_pydict(), totals

    @property
    def edges(self) -> list[float]:
        """The edges of the buckets: one more than there are buckets."""
        return self._rows()[0]["low"][1:]

    @property
    def counts(self) -> list[int]:
        """The number of values in each bucket."""
        return self._rows()[0]["count"][1:-1]

    @property
    def weights(self) -> list[float]:
        """The weight of each bucket; without weights, the counts."""
        return self._rows()[0]["weight"][1:-1]

    @property
    def below(self) -> int:
        """The number of values below all buckets."""
        return int(self._rows()[0]["count"][0])

    @property
    def above(self) -> int:
        """The number of values above all buckets."""
        return int(self._rows()[0]["count"][-1])

    @property
    def nan(self) -> int:
        """The number of NaN values."""
        return self._rows()[1]["num_nan"]
