"""Quantiles, compatible with tfx_bsl."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import _core
from .._base.errors import argument_error
from .._base.public import public_in
from .quantiles import Cuts
from .sketch import Sketch

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self


@public_in("columnstone.sketch")
class QuantileSummary(Sketch):
    """Quantiles of numbers, optionally weighted, within a bound that always holds. It has exactly
    the results of tfx_bsl's QuantilesSketch, to continue with its saved sketches. Quantiles needs
    less memory for the same error, and supports ranks.

    error: the largest error of the rank of a cut, as a fraction of the weight of all values; few
        values are exact.
    most: the number of values for which the error holds; more values are accepted, with a larger
        error.

    Values are doubles. NaN and values with weight 0 are ignored; infinities are ordinary values.
    Nothing is random: the same calls give the same bytes.
    """

    __slots__ = ()
    _kind = "quantile_summary"

    def __init__(self, error: float = 0.01, most: int = 1 << 32) -> None:
        super().__init__(error=error, most=most)

    @property
    def error(self) -> float:
        """The largest error of a rank, as a fraction of the weight of all values."""
        return float(self._handle.option("error") or 0)

    @property
    def most(self) -> int:
        """The number of values that it was made for; the error holds up to there."""
        return int(self._handle.option("most") or 0)

    def cuts(self, parts: int) -> Cuts:
        """Cuts the weight into this many equal parts (at least one)."""
        return Cuts(*_core.sketch_cuts(self._handle, parts))

    def compact(self) -> None:
        """Makes the sketch as small as possible, once: a compacted sketch, or one that was merged
        with a compacted one, does not change."""
        _core.sketch_compact(self._handle)

    @classmethod
    def from_tfx_bsl(cls, saved: bytes) -> list[Self]:
        """The streams of a QuantilesSketch of tfx_bsl, from its __getstate__(), which is the
        content of its pickle: sketches that continue as it would. `count` begins at 0. Raises
        CorruptError for other bytes."""
        made: list[Self] = []
        while (handle := _core.sketch_from_tfx_bsl_stream(saved, len(made))) is not None:
            stream = object.__new__(cls)
            stream._handle = handle
            made.append(stream)
        return made

    @staticmethod
    def to_tfx_bsl(streams: Sequence[QuantileSummary]) -> bytes:
        """Sketches as the streams of one QuantilesSketch of tfx_bsl, for its __setstate__()."""
        handles = {id(stream): stream for stream in streams}
        if len(handles) < len(streams):
            raise argument_error("each stream needs a sketch of its own")
        return _core.sketch_to_tfx_bsl_streams(tuple(stream._handle for stream in streams))

    def merge_tfx_bsl(self, saved: bytes, stream: int = 0) -> None:
        """Adds one of the streams in such bytes, whatever its error, as tfx_bsl merges them."""
        _core.sketch_add_tfx_bsl_stream(self._handle, saved, stream)
