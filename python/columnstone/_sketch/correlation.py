"""Covariance and correlation."""

from __future__ import annotations

from typing import NamedTuple

from .. import _core
from .._base.public import public_in
from .pairs import PairSketch


@public_in("columnstone.sketch")
class CorrelationFound(NamedTuple):
    """What a correlation says: `Correlation.found()`. What there is not is NaN."""

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
    """Covariance and Pearson's correlation of the numbers of two columns. The sums are exact:
    results and bytes are the same in every order and in every merge tree.

    Pairs in which a number is NaN or infinite are counted, and left out.
    """

    __slots__ = ()
    _kind = "correlation"

    def found(self) -> CorrelationFound:
        """All of it at once."""
        return CorrelationFound(*_core.sketch_correlation(self._handle))

    @property
    def correlation(self) -> float:
        """From -1 to 1; NaN where all numbers of a column are equal."""
        return self.found().correlation

    @property
    def covariance(self) -> float:
        """Divided by the weight: the number of pairs, where there are no weights."""
        return self.found().covariance

    @property
    def sample_covariance(self) -> float:
        """Divided by the weight - 1."""
        return self.found().sample_covariance
