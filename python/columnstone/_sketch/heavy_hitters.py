"""The values with the largest weights."""

from __future__ import annotations

from typing import Any

from .. import _core
from .._base.public import public_in
from .tfx import TfxSketch


@public_in("columnstone.sketch")
class HeavyHitters(TfxSketch):
    """The values with the largest weights, each between two bounds that hold always.

    size: no interval is wider than the weight of all values / (size + 1), and each value that
    weighs more is there. All is exact while there are at most 2 * size different values.
    longest: bytes of a value that are kept; of longer ones a hash takes the place of the rest.
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
        """The values with the largest upper bounds: (value, lower, upper), and of equal ones the
        smallest value first. Without weights the bounds are of how often a value came. Values are
        str if all came from columns of strings, else bytes; times are their numbers."""
        found = _core.sketch_top(self._handle, most).to_pydict()
        return list(zip(found["value"], found["lower"], found["upper"], strict=True))
