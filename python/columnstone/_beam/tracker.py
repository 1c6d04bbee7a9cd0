"""Keeps track of which reader reads which records of a file, while the file is read and divided at
the same time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from apache_beam.io.range_trackers import OffsetRangeTracker

if TYPE_CHECKING:
    from numpy.typing import NDArray


class RecordTracker(OffsetRangeTracker):  # type: ignore[misc]
    """The bytes [start, stop) of a file. The reader claims the records of a batch together before
    it passes them on; what follows the last claimed record may be divided off at any time.

    divisible: False refuses every division.
    """

    def __init__(self, start: int, stop: int, divisible: bool = True) -> None:
        super().__init__(start, stop)
        self._last_record_start: int = -1
        self._divisible = divisible

    def claim(self, offsets: NDArray[np.int64]) -> int:
        """Claims those of these records, which are in order, that begin before the stop, and
        returns their number. If not all were claimed, the range is not divided any more."""
        with self._lock:
            count = int(np.searchsorted(offsets, self._stop_offset))
            if count > 0:
                self._claim_up_to(int(offsets[count - 1]))
                self._split_points_seen += count
            if count < len(offsets):
                self._claim_up_to(self._stop_offset)
            return count

    def finish(self) -> int:
        """Forbids further division, and returns the stop."""
        with self._lock:
            self._claim_up_to(self._stop_offset)
            return int(self._stop_offset)

    def _claim_up_to(self, offset: int) -> None:
        """Forbids dividing off anything that begins at or before this byte."""
        self._last_record_start = max(self._last_record_start, offset)
        self._offset_of_last_split_point = self._last_record_start
        self._last_attempted_record_start = self._last_record_start

    def try_split(self, position: int) -> Any:
        return super().try_split(position) if self._divisible else None
