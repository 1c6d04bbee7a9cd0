"""What sketches of two columns have in common."""

from __future__ import annotations

from typing import Any

from .._arrow.table import array, record_batch
from .._base.public import public_in
from .sketch import Sketch


@public_in("columnstone.sketch")
class PairSketch(Sketch):
    """What sketches of two columns have in common."""

    __slots__ = ()

    def add(self, x: Any, y: Any, weights: Any = None) -> None:  # type: ignore[override]
        """Adds the pairs that two columns have in the same rows: anything with __arrow_c_array__ or
        __arrow_c_stream__, numpy arrays, lists; of the same length, without lists in them. Rows in
        which one of the two is null are left out, and counted.

        weights: a number for each row.
        """
        pairs = record_batch({"x": array(x), "y": array(y)})
        self._handle.add(pairs, None if weights is None else array(weights))
