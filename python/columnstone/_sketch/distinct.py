"""Counts of different values."""

from __future__ import annotations

from .. import _core
from .._base.public import public_in
from .sketch import Sketch


@public_in("columnstone.sketch")
class Distinct(Sketch):
    """How many different values there are: exact for few, else estimated (UltraLogLog).

    precision: 4 to 18; 2**precision bytes, and a standard error of 0.76 / sqrt(2**precision). Of
    14, up to 1536 values are exact, and more have an error of 0.6 %.
    seed: of the hashes; those who do not know it cannot make values that are counted wrongly.

    >>> users = cst.sketch.Distinct()
    >>> users.add(["ann", "bob", "ann"])
    >>> round(users.estimate)
    2
    """

    __slots__ = ()
    _kind = "distinct"

    def __init__(self, precision: int = 14, *, seed: int = 0) -> None:
        super().__init__(precision=precision, seed=seed)

    @property
    def estimate(self) -> float:
        """How many different values were added."""
        return _core.sketch_distinct(self._handle, 0)[0]

    def bounds(self, deviations: float = 2) -> tuple[float, float]:
        """So many standard deviations below and above the estimate: 2 hold the truth in 95 of 100
        cases, 3 in 99.7. Both are the exact number while it is known."""
        return _core.sketch_distinct(self._handle, deviations)[1:]
