"""Histograms of buckets of equal width."""

from __future__ import annotations

from typing import Any

from .. import _core
from .._base.public import public_in
from .sketch import Sketch


@public_in("columnstone.sketch")
class Histogram(Sketch):
    """How many numbers lie in buckets of equal width between two ends: those of numpy.histogram.
    Weights are summed exactly: results and bytes are the same in every order and in every merge
    tree.

    low, high: the ends, which both belong to buckets.
    buckets: how many there are.
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
        """Of the buckets: one more than there are buckets."""
        return self._rows()[0]["low"][1:]

    @property
    def counts(self) -> list[int]:
        """Of the buckets."""
        return self._rows()[0]["count"][1:-1]

    @property
    def weights(self) -> list[float]:
        """Of the buckets; without weights, their counts."""
        return self._rows()[0]["weight"][1:-1]

    @property
    def below(self) -> int:
        """How many values lie below all buckets."""
        return int(self._rows()[0]["count"][0])

    @property
    def above(self) -> int:
        """How many values lie above all buckets."""
        return int(self._rows()[0]["count"][-1])

    @property
    def nan(self) -> int:
        """How many values are NaN."""
        return self._rows()[1]["num_nan"]
