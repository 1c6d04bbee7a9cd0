"""The common part of sketches of two columns."""

from __future__ import annotations

from typing import Any

from .._arrow.table import array, record_batch
from .._base.public import public_in
from .sketch import Sketch


@public_in("columnstone.sketch")
class PairSketch(Sketch):
    """The common part of sketches of two columns."""

    __slots__ = ()

    def add(self, x: Any, y: Any, weights: Any = None) -> None:  # type: ignore[override]
        """Adds the pairs of values in the rows of two columns: anything with __arrow_c_array__ or
        __arrow_c_stream__, numpy arrays, lists; of the same length, without nested lists. Rows with
        a null in either column are skipped and counted.

        weights: a number for each row.
        """
        pairs = record_batch({"x": array(x), "y": array(y)})
        self._handle.add(pairs, None if weights is None else array(weights))
