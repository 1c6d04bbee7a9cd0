"""The values with the largest weights."""

from __future__ import annotations

from typing import Any

from .. import _core
from .._base.public import public_in
from .tfx import TfxSketch


@public_in("columnstone.sketch")
class HeavyHitters(TfxSketch):
    """Finds the values with the largest weights; each has two bounds that always hold.

    size: no interval is wider than the weight of all values / (size + 1), and every value with a
        larger weight is found. Everything is exact while there are at most 2 * size distinct
        values.
    longest: the number of bytes of a value that are kept; the rest of longer values is replaced by
        a hash.
    seed: of the hashes.

    >>> words = cst.sketch.HeavyHitters()
    >>> words.add(["a", "b", "a"])
    >>> words.top(1)
    [('a', 2.0, 2.0)]
    """

    __slots__ = ()
    _kind = "heavy_hitters"

    def __init__(self, size: int = 1000, *, longest: int = 4096, seed: int = 0) -> None:
        super().__init__(size=size, longest=longest, seed=seed)

    def top(self, most: int = 10) -> list[tuple[Any, float, float]]:
        """The values with the largest upper bounds: (value, lower, upper); for equal bounds, the
        smallest value first. Without weights, the bounds are for the number of occurrences. Values
        are str if all of them came from string columns, otherwise bytes; times are numbers."""
        found = _core.sketch_top(self._handle, most).to_pydict()
        return list(zip(found["value"], found["lower"], found["upper"], strict=True))
