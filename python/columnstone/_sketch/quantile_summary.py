"""Quantiles as tfx_bsl has them."""

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
    """Quantiles of numbers, weighted too, within a bound that always holds: as tfx_bsl's
    QuantilesSketch finds them, to the last value, and to go on with what it has saved. Quantiles
    needs less memory for the same error, and tells ranks.

    error: how far the rank of a cut may be from the true one, as a share of the weight of all
    values; few values are exact.
    most: how many values there may be within the error; more are taken, at a larger one.

    Values are doubles. NaN and values of the weight 0 are left out, infinities are values like
    others. There is no chance in it: the same calls give the same bytes.
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
        """How many values it was made for; the error holds up to there."""
        return int(self._handle.option("most") or 0)

    def cuts(self, parts: int) -> Cuts:
        """Where the weight is cut in so many equal parts, one at least."""
        return Cuts(*_core.sketch_cuts(self._handle, parts))

    def compact(self) -> None:
        """Makes it as small as it can be, once: one that was compacted, or merged with one that
        was, stays as it is."""
        _core.sketch_compact(self._handle)

    @classmethod
    def from_tfx_bsl(cls, saved: bytes) -> list[Self]:
        """The streams of a QuantilesSketch of tfx_bsl, from its __getstate__(), which is what its
        pickle holds: sketches that go on as it would. `count` begins at 0. Raises CorruptError for
        other bytes."""
        made: list[Self] = []
        while (handle := _core.sketch_from_tfx_bsl_stream(saved, len(made))) is not None:
            stream = object.__new__(cls)
            stream._handle = handle
            made.append(stream)
        return made

    @staticmethod
    def to_tfx_bsl(streams: Sequence[QuantileSummary]) -> bytes:
        """Sketches as the streams of one QuantilesSketch of tfx_bsl: for its __setstate__()."""
        handles = {id(stream): stream for stream in streams}
        if len(handles) < len(streams):
            raise argument_error("each stream is a sketch of its own")
        return _core.sketch_to_tfx_bsl_streams(tuple(stream._handle for stream in streams))

    def merge_tfx_bsl(self, saved: bytes, stream: int = 0) -> None:
        """Adds one of the streams of such bytes, whatever its error, as tfx_bsl merges them."""
        _core.sketch_add_tfx_bsl_stream(self._handle, saved, stream)
