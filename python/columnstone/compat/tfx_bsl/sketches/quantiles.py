"""Quantiles of streams of numbers."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, NoReturn

import numpy as np
import pyarrow as pa

from .... import sketch
from ...._base.errors import CorruptError
from .._errors import raising

if TYPE_CHECKING:
    from collections.abc import Iterator

_INVALID = "INVALID_ARGUMENT: "
_FINALIZED = "FAILED_PRECONDITION: Attempting to "
_MOST_INT = (1 << 63) - 1


class QuantilesSketch:
    """Quantiles of numbers, weighted or not: a columnstone.sketch.QuantileSummary for each stream,
    with the same results as tfx_bsl.

    eps: the largest error of a rank, as a fraction of the weight; more than 0.
    max_num_elements: the number of values of a stream for which eps holds.
    num_streams: the number of columns that are counted in parallel.

    Getting quantiles finalizes the sketch: afterwards you can only get more of them, and everything
    else raises RuntimeError.
    """

    _streams: list[sketch.QuantileSummary]
    _is_final: bool

    def __init__(self, eps: float, max_num_elements: int, num_streams: int) -> None:
        if not hasattr(type(eps), "__float__"):
            raise TypeError(f"__init__(): eps must be a number, not {type(eps).__name__}")
        if operator.index(max_num_elements) > _MOST_INT:
            raise TypeError("__init__(): max_num_elements does not fit into 64 bits")
        if not eps > 0:
            raise RuntimeError(_INVALID + "eps must be positive.")
        if max_num_elements < 1:
            raise RuntimeError(_INVALID + "max_num_elements must be >= 1.")
        if operator.index(num_streams) < 1:
            raise RuntimeError(_INVALID + "num_streams must be >= 1.")
        with raising(RuntimeError, _INVALID):
            self._streams = [
                sketch.QuantileSummary(float(eps), operator.index(max_num_elements))
                for _ in range(num_streams)
            ]
        self._is_final = False

    def AddValues(self, values: pa.Array, weights: pa.Array | None = None, /) -> None:
        """Adds rows with one value for each stream, one row after the other, with a weight for each
        row (by default 1). Both are cast to float64: numbers, and texts of numbers. Nulls, NaN and
        values whose weight is not above 0 are skipped. RuntimeError for lengths that do not fit,
        for values that are not numbers, and for infinite weights."""
        num_streams = len(self._streams)
        if weights is None and len(values) % num_streams != 0:
            raise RuntimeError(_INVALID + "Values size must be divisible by the number of streams.")
        if weights is not None and len(values) != len(weights) * num_streams:
            raise RuntimeError(
                _INVALID + "Values size must be equal to weights size times number of streams."
            )
        rows = _doubles(values).reshape(-1, num_streams)
        weighing = None if weights is None else _doubles(weights)
        if self._is_final:
            _fail_final("add values to")
        if weighing is not None:
            chosen = weighing > 0
            rows, weighing = rows[chosen], weighing[chosen]
        with raising(RuntimeError, _INVALID):
            for i, stream in enumerate(self._streams):
                stream.add(np.ascontiguousarray(rows[:, i]), weighing)

    def Compact(self) -> None:
        """Makes the sketch smaller, once: a compacted sketch, or one that was merged with a
        compacted one, does not change."""
        if self._is_final:
            _fail_final("compact")
        for stream in self._streams:
            stream.compact()

    def Merge(self, other: QuantilesSketch, /) -> None:
        """Adds the state of another sketch with the same number of streams (otherwise
        RuntimeError)."""
        if not isinstance(other, QuantilesSketch):
            raise TypeError(f"Merge(): expected a QuantilesSketch, not {type(other).__name__}")
        if self._is_final:
            _fail_final("merge to")
        if other._is_final:
            _fail_final("merge")
        if len(self._streams) != len(other._streams):
            raise RuntimeError(_FINALIZED + "merge sketches with different number of streams.")
        with raising(RuntimeError, _INVALID):
            for mine, theirs in zip(self._streams, other._streams, strict=True):
                if mine is not theirs and (mine.error, mine.most) == (theirs.error, theirs.most):
                    mine.merge(theirs)
                else:
                    mine.merge_tfx_bsl(sketch.QuantileSummary.to_tfx_bsl([theirs]))

    def GetQuantiles(self, num_quantiles: int, /) -> pa.FixedSizeListArray:
        """A list for each stream with values, and none for others: the smallest value, the values
        that cut the weight into this many equal parts (at least two, otherwise RuntimeError), and
        the largest value."""
        return self.GetQuantilesAndCumulativeWeights(num_quantiles)[0]

    def GetQuantilesAndCumulativeWeights(
        self, num_quantiles: int, /
    ) -> tuple[pa.FixedSizeListArray, pa.FixedSizeListArray]:
        """The quantiles, and lists of the weight of all values up to each of them."""
        if operator.index(num_quantiles) <= 1:
            raise RuntimeError(_INVALID + "Number of requested quantiles must be >= 2.")
        self._is_final = True
        found = list(self._cuts(operator.index(num_quantiles)))
        return (
            _lists([cuts.values for cuts in found], num_quantiles + 1),
            _lists([cuts.upto for cuts in found], num_quantiles + 1),
        )

    def _cuts(self, parts: int) -> Iterator[sketch.Cuts]:
        """The results of the streams with values."""
        for stream in self._streams:
            cuts = stream.cuts(parts)
            if cuts.upto[-1] > 0:
                yield cuts

    def __getstate__(self) -> bytes:
        """The message in tfx_bsl's format."""
        if self._is_final:
            _fail_final("serialize")
        return sketch.QuantileSummary.to_tfx_bsl(self._streams)

    def __setstate__(self, message: bytes) -> None:
        if not isinstance(message, bytes):
            raise TypeError(f"__setstate__(): expected bytes, not {type(message).__name__}")
        try:
            streams = sketch.QuantileSummary.from_tfx_bsl(message)
        except CorruptError as error:
            raise RuntimeError(_INVALID + "Failed to parse serialized Quantiles sketch.") from error
        if not streams:
            raise RuntimeError(_INVALID + "Serialized sketch has no streams.")
        self._streams = streams
        self._is_final = False


def _doubles(values: pa.Array) -> np.ndarray:
    """As float64, with NaN for nulls."""
    if not isinstance(values, pa.Array):
        raise RuntimeError(f"expected a pyarrow.Array, not {type(values).__name__}")
    try:
        doubles: np.ndarray = values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    except pa.ArrowNotImplementedError as error:
        raise RuntimeError(f"UNIMPLEMENTED: {error}") from error
    except pa.ArrowInvalid as error:
        raise RuntimeError(f"INTERNAL: Arrow error Invalid : {error}") from error
    return doubles


def _lists(rows: list[list[float]], size: int) -> pa.FixedSizeListArray:
    flat = np.array(rows, dtype=np.float64).reshape(-1)
    return pa.FixedSizeListArray.from_arrays(pa.array(flat, pa.float64()), size)


def _fail_final(doing: str) -> NoReturn:
    raise RuntimeError(f"{_FINALIZED}{doing} a finalized sketch.")
