"""Moments of numbers."""

from __future__ import annotations

import math
from typing import NamedTuple

from .. import _core
from .._base.public import public_in
from .sketch import Sketch


@public_in("columnstone.sketch")
class MomentsFound(NamedTuple):
    """The result of `Moments.found()`. Undefined values are NaN; for `min` and `max`, None."""

    num_values: int
    zeros: int
    negative: int
    nan: int
    plus_infinity: int
    minus_infinity: int
    min: int | float | None
    max: int | float | None
    weight: float
    sum: float
    mean: float
    variance: float
    sample_variance: float


@public_in("columnstone.sketch")
class Moments(Sketch):
    """Count, sum, mean, deviation and extremes of numbers. The sums are exact: results are the
    floats nearest to the true numbers, and results and bytes do not depend on the order of values
    and merges.

    NaN and infinities are counted, but not included in sums.

    >>> moments = cst.sketch.Moments()
    >>> moments.add([1.0, 2.0, 3.0])
    >>> moments.count, moments.mean
    (3, 2.0)
    """

    __slots__ = ()
    _kind = "moments"

    def found(self, *, weighted: bool = True) -> MomentsFound:
        """All results at once; with weighted=False, as if each value had the weight 1."""
        return MomentsFound(*_core.sketch_moments(self._handle, weighted))

    @property
    def weight(self) -> float:
        """The weight of the finite values; without weights, their number."""
        return self.found().weight

    @property
    def sum(self) -> float:
        """The weighted sum of the values except NaN."""
        return self.found().sum

    @property
    def mean(self) -> float:
        """The weighted mean; NaN if there are no values."""
        return self.found().mean

    @property
    def variance(self) -> float:
        """The sum of the squared differences from the mean, divided by the weight."""
        return self.found().variance

    @property
    def std(self) -> float:
        """The standard deviation: the square root of the variance."""
        return math.sqrt(self.variance)

    @property
    def sample_variance(self) -> float:
        """The variance divided by the weight - 1 instead; NaN for one value."""
        return self.found().sample_variance

    @property
    def sample_std(self) -> float:
        """The square root of `sample_variance`."""
        return math.sqrt(self.sample_variance)

    @property
    def min(self) -> int | float | None:
        """The smallest value except NaN, exactly; None if there is none."""
        return self.found().min

    @property
    def max(self) -> int | float | None:
        """The largest value except NaN, exactly; None if there is none."""
        return self.found().max
