"""Quantiles, ranks and histograms of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from .. import _core
from .._base.errors import argument_error
from .._base.public import public_in
from .sketch import Sketch

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self


@public_in("columnstone.sketch")
class Parts(NamedTuple):
    """Parts of the range of the values: one bound more than weights."""

    bounds: list[float]
    weights: list[float]


@public_in("columnstone.sketch")
class Cuts(NamedTuple):
    """Bounds that cut the values into parts with (almost) the same weight: the smallest value, the
    cuts, the largest value; and for each of them the weight of all values up to and including it.
    Without values, the bounds are NaN and the weights 0."""

    values: list[float]
    upto: list[float]


@public_in("columnstone.sketch")
class Quantiles(Sketch):
    """Quantiles, ranks and histograms of numbers, optionally weighted.

    error: the error of a rank, as a fraction of the weight of all values. For any given rank, fewer
        than 1 of 100 sketches have a larger error.
    tails: "low", "high" or "both": the ranks at that end are exact, and the error is a fraction of
        the weight between the end and the value.
    seed: of the random choices. The same seed and the same calls give the same bytes.

    -0 equals 0, and infinities are ordinary values. NaN has no rank: it is counted, but otherwise
    ignored. The smallest and the largest value are exact.

    >>> fares = cst.sketch.Quantiles()
    >>> fares.add([9.5, 12.0, 7.25, 30.0])
    >>> fares.quantiles([0.0, 0.5, 1.0])
    [7.25, 9.5, 30.0]
    """

    __slots__ = ()
    _kind = "quantiles"

    def __init__(
        self,
        error: float = 0.01,
        *,
        tails: Literal["none", "low", "high", "both"] = "none",
        seed: int = 0,
    ) -> None:
        super().__init__(error=error, tails=tails, seed=seed)

    @property
    def error(self) -> float:
        """The largest error of a rank, as a fraction of the weight of all values."""
        return float(self._handle.option("error") or 0)

    @property
    def weight(self) -> float:
        """The weight of all values except NaN."""
        return _core.sketch_ranked(self._handle)[0]

    @property
    def nans(self) -> int:
        """The number of NaN values."""
        return _core.sketch_ranked(self._handle)[1]

    def quantiles(self, ranks: Sequence[float]) -> list[int] | list[float] | list[None]:
        """For each rank, from 0 to 1, the smallest value with at least that rank: the smallest
        value for 0, the largest for 1, the median for 0.5. Integers stay integers. None for each
        rank if there are no values."""
        return _core.sketch_quantiles(self._handle, ranks).to_pylist()

    def rank(self, value: float, *, inclusive: bool = True) -> float:
        """The fraction of values that are <= value, or < value; NaN if there are none."""
        return _core.sketch_ranks(self._handle, [value], inclusive)[0]

    def ranks(self, values: Sequence[float], *, inclusive: bool = True) -> list[float]:
        """The rank of each point: the distribution function at these points."""
        return _core.sketch_ranks(self._handle, values, inclusive)

    @classmethod
    def from_tfx_bsl(cls, saved: bytes, error: float = 0.01) -> list[Self]:
        """The streams of a QuantilesSketch of tfx_bsl, from its __getstate__(), which is the
        content of its pickle: sketches of the values that it has kept, with their weights. `count`
        is the number of these values. Raises CorruptError for other bytes."""
        made: list[Self] = []
        while True:
            stream = cls(error)
            if len(made) == _core.sketch_add_tfx_bsl_stream(stream._handle, saved, len(made)):
                return made
            made.append(stream)

    @staticmethod
    def to_tfx_bsl(streams: Sequence[Quantiles]) -> bytes:
        """Sketches as the streams of one QuantilesSketch of tfx_bsl, for its __setstate__()."""
        handles = {id(stream): stream for stream in streams}
        if len(handles) < len(streams):
            raise argument_error("each stream needs a sketch of its own")
        return _core.sketch_to_tfx_bsl_streams(tuple(stream._handle for stream in streams))

    def cuts(self, parts: int) -> Cuts:
        """Cuts the weight into this many equal parts (at least one)."""
        return Cuts(*_core.sketch_cuts(self._handle, parts))

    def histogram(
        self, parts: int = 10, kind: Literal["equal_depth", "equal_width"] = "equal_width"
    ) -> Parts:
        """Bounds and weights of this many parts, between the smallest and the largest value. With
        equal depth, all parts have (almost) the same weight. With equal width, infinities are in no
        part."""
        if kind not in ("equal_depth", "equal_width"):
            raise ValueError(f"kind must be 'equal_depth' or 'equal_width', not {kind!r}")
        return Parts(*_core.sketch_parts(self._handle, kind == "equal_width", parts))
