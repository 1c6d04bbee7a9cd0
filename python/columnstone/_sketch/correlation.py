"""Covariance and correlation."""

from __future__ import annotations

from typing import NamedTuple

from .. import _core
from .._base.public import public_in
from .pairs import PairSketch


@public_in("columnstone.sketch")
class CorrelationFound(NamedTuple):
    """The result of `Correlation.found()`. Undefined values are NaN."""

    pairs: int
    not_finite: int
    weight: float
    mean_x: float
    mean_y: float
    variance_x: float
    variance_y: float
    covariance: float
    sample_covariance: float
    correlation: float


@public_in("columnstone.sketch")
class Correlation(PairSketch):
    """Covariance and Pearson's correlation of the numbers in two columns. The sums are exact:
    results and bytes do not depend on the order of values and merges.

    Pairs with NaN or an infinite number are counted, but otherwise ignored.
    """

    __slots__ = ()
    _kind = "correlation"

    def found(self) -> CorrelationFound:
        """All results at once."""
        return CorrelationFound(*_core.sketch_correlation(self._handle))

    @property
    def correlation(self) -> float:
        """From -1 to 1; NaN if all numbers of a column are equal."""
        return self.found().correlation

    @property
    def covariance(self) -> float:
        """Divided by the weight; without weights, by the number of pairs."""
        return self.found().covariance

    @property
    def sample_covariance(self) -> float:
        """Divided by the weight - 1."""
        return self.found().sample_covariance
