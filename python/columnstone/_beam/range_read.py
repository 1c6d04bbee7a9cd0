"""Reading a range of a file that may become shorter meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from .._api.open import open as open_source
from .._arrow.pointers import to_pyarrow, with_columns
from .._base.errors import StateError
from .._source.split import Split
from .dead_letter import DeadLetter, letter_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .._api.source import Source
    from .._engines.reading import Reading
    from .._source.dropped import Dropped
    from .metrics import BatchMetrics
    from .tracker import RecordTracker

# The column of the records' offsets, which is taken off the batches again.
OFFSETS = "##OFFSET##"
_NEVER = 2**63 - 1  # where no record begins
# Options that say where records begin; the others say what is made of them.
_OF_RECORDS = ("container", "check_crc", "max_record_size", "filesystem", "schemes", "hosts")


class Task(NamedTuple):
    """What a worker does with the ranges that it gets. It pickles.

    reading: gives the batches, with the offsets of their records where it is divisible.
    divisible: ranges may be divided while they are read.
    stage: that makes the batches' columns, as _query.decoder.Decoded.
    dead_letters: records that are dropped are given, too.
    metrics: of what is read.
    """

    reading: Reading
    divisible: bool
    stage: Any
    dead_letters: bool
    metrics: BatchMetrics


class RangeRead:
    """One reading of a range of a file.

    A range has the records from the one that is found at its start, or after it, up to the one that
    is found in the same way at its stop. What is read ends where the stop was at the beginning. Of
    that, the records before the present stop are claimed, batch by batch. The first one that is not
    before it makes the stop final; then the reader finds out where the next range begins, by the
    same search as its reader, and everything before that is its own.
    """

    def __init__(self, split: Split, tracker: RecordTracker, task: Task) -> None:
        self._task = task
        self._tracker = tracker
        self._split = split._replace(begin=tracker.start_position(), end=tracker.stop_position())
        self._border: int | None = None  # where the next range begins, once the stop is final
        self._is_done = False  # a record of the next range has come
        self._last: int | None = None  # where the last record that was given begins
        self._told_of = 0  # dropped records

    def elements(self) -> Iterator[Any]:
        """The batches and, if they are wanted, the dead letters."""
        with self._open() as source:
            task = self._task
            batches = iter(
                source if task.stage is None else source._part("stage", task.stage, None)
            )
            for given in batches:
                if task.stage is None:
                    yield from self._own(task.reading.fitted(given, source), batches.dropped)
                else:
                    yield from self._all(to_pyarrow(given), batches.dropped)
                if self._is_done:
                    return
            yield from self._rest(batches.dropped)

    def _open(self) -> Source:
        """The range's records. A file that turns out to be compressed is not divided any more:
        positions are bytes on disk, which its offsets are not."""
        source = self._task.reading.open(self._split)
        is_empty = not source.files  # no record begins in the range
        if self._task.divisible and not is_empty and source._core.compression() is not None:
            self._task = self._task._replace(divisible=False)
            stop = self._tracker.finish()
            if stop != self._split.end:  # it was divided before it was opened
                source.close()
                self._split = self._split._replace(end=stop)
                source = self._task.reading.open(self._split)
        return source

    def _own(self, batch: pa.RecordBatch, dropped: list[Dropped]) -> Iterator[Any]:
        """What of a batch belongs to the range."""
        if OFFSETS not in batch.schema.names:
            yield from self._all(batch, dropped)
            return
        offsets = batch[OFFSETS].to_numpy()
        batch = with_columns(batch, [n for n in batch.schema.names if n != OFFSETS])
        if not self._task.divisible:
            yield from self._all(batch, dropped)
            return
        if len(offsets) == 0:
            return
        if self._border is None and self._tracker.claim(offsets) < len(offsets):
            self._border = self._final_border()
        count = len(offsets)
        before = int(offsets[-1])
        if self._border is not None and self._border <= before:
            count = int(np.searchsorted(offsets, self._border))
            before = self._border
            self._is_done = True
        if count > 0:
            self._last = int(offsets[count - 1])
            yield self._counted(batch.slice(0, count))
        if self._is_done:
            self._check_end(before)
        yield from self._told(dropped, before)

    def _all(self, batch: pa.RecordBatch, dropped: list[Dropped]) -> Iterator[Any]:
        """All of a batch of a range that is not divided."""
        yield self._counted(batch)
        yield from self._told(dropped, _NEVER)

    def _rest(self, dropped: list[Dropped]) -> Iterator[DeadLetter]:
        """What was dropped after the last record."""
        border = _NEVER
        if self._task.divisible:
            border = self._final_border() if self._border is None else self._border
            self._check_end(border)
        yield from self._told(dropped, border)

    def _check_end(self, border: int) -> None:
        """Raises CorruptError if the next range seems to begin within the last record here: there
        are records in its payload."""
        if self._last is not None and border != _NEVER:
            end = Split(self._split.file, self._last, border, exact=True)
            with open_source(end, "raw", on_error="skip", **self._record_options()) as source:
                for _ in source:
                    pass

    def _final_border(self) -> int:
        """Where the records of the next range begin. That is after all that is read here, if the
        stop is what it was when the reading began."""
        stop = self._tracker.finish()
        if stop == self._split.end:
            return _NEVER
        begin = self._find_begin(self._split._replace(begin=stop))
        if begin < stop:
            raise StateError(
                f"{self._split.file}: the range from byte {stop} on has a record that begins at "
                f"byte {begin}: the file has changed since it was planned"
            )
        return begin

    def _find_begin(self, split: Split) -> int:
        options = {"batch_size": 1, "offset_column": OFFSETS, **self._record_options()}
        with open_source(split, "raw", **options) as source:
            for batch in source:
                return int(to_pyarrow(batch)[OFFSETS][0].as_py())
        return _NEVER

    def _record_options(self) -> dict[str, Any]:
        given = self._task.reading.options
        return {name: given[name] for name in _OF_RECORDS if name in given}

    def _counted(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        self._task.metrics.count(batch)
        return batch

    def _told(self, dropped: list[Dropped], before: int) -> Iterator[DeadLetter]:
        """The dead letters of the records that begin before a byte."""
        first = self._told_of
        while self._told_of < len(dropped):
            offset = dropped[self._told_of].offset
            if offset is not None and offset >= before:
                break
            self._told_of += 1
        self._task.metrics.drop(self._told_of - first)
        if self._task.dead_letters:
            options = self._task.reading.options
            for one in dropped[first : self._told_of]:
                yield letter_of(one, self._split.file, options)
