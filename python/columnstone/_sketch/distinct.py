"""Counts of distinct values."""

from __future__ import annotations

from .. import _core
from .._base.public import public_in
from .sketch import Sketch


@public_in("columnstone.sketch")
class Distinct(Sketch):
    """Counts distinct values: exactly if there are few, otherwise estimated (UltraLogLog).

    precision: 4 to 18. The sketch has 2**precision bytes and a standard error of 0.76 /
        sqrt(2**precision). With 14, up to 1536 values are exact; for more, the error is 0.6 %.
    seed: of the hashes; without knowing it, nobody can choose values that are counted wrongly.

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
        """The number of distinct values that were added."""
        return _core.sketch_distinct(self._handle, 0)[0]

    def bounds(self, deviations: float = 2) -> tuple[float, float]:
        """The interval of this many standard deviations around the estimate: 2 contain the true
        number in 95 of 100 cases, 3 in 99.7. Both bounds are the exact number while it is known."""
        return _core.sketch_distinct(self._handle, deviations)[1:]
