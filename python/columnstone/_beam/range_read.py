"""Reads a range of a file that may shrink while it is read."""

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

# The column with the offsets of the records; it is removed from the batches again.
OFFSETS = "##OFFSET##"
_NEVER = 2**63 - 1  # where no record begins
# Options about where records begin; the other options are about what is decoded from them.
_OF_RECORDS = ("container", "check_crc", "max_record_size", "filesystem", "schemes", "hosts")


class Task(NamedTuple):
    """How a worker reads its ranges. It pickles.

    reading: returns the batches, with the offsets of their records where it is divisible.
    divisible: ranges may be divided while they are read.
    stage: makes the columns of the batches, as _query.decoder.Decoded.
    dead_letters: dropped records are returned, too.
    metrics: of what is read.
    """

    reading: Reading
    divisible: bool
    stage: Any
    dead_letters: bool
    metrics: BatchMetrics


class RangeRead:
    """One reading of a range of a file.

    A range contains the records from the first one found at or after its start up to the first one
    found, by the same search, at or after its stop. Reading continues to the original stop. Batch
    by batch, the reader claims the records before the current stop. The first record that is not
    before it makes the stop final. The reader then searches for the start of the next range,
    exactly as the reader of that range does, and everything before that start is its own.
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
        """The batches and, if wanted, the dead letters."""
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
        """The records of the range. If the file turns out to be compressed, it is not divided any
        more: positions are bytes on disk, but offsets are those of the uncompressed file."""
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
        """The part of a batch that belongs to the range."""
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
        """The records that were dropped after the last one."""
        border = _NEVER
        if self._task.divisible:
            border = self._final_border() if self._border is None else self._border
            self._check_end(border)
        yield from self._told(dropped, border)

    def _check_end(self, border: int) -> None:
        """Raises CorruptError if the next range seems to begin inside the last record here, that
        is, if its payload contains records."""
        if self._last is not None and border != _NEVER:
            end = Split(self._split.file, self._last, border, exact=True)
            with open_source(end, "raw", on_error="skip", **self._record_options()) as source:
                for _ in source:
                    pass

    def _final_border(self) -> int:
        """The offset where the records of the next range begin. It is after everything read here if
        the stop has not changed since the start."""
        stop = self._tracker.finish()
        if stop == self._split.end:
            return _NEVER
        begin = self._find_begin(self._split._replace(begin=stop))
        if begin < stop:
            raise StateError(
                f"{self._split.file}: the range that starts at byte {stop} has a record at "
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
