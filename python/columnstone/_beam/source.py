"""Bounded sources: files, which the planner divides, and one, which is divided while it is read."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

import apache_beam as beam
import pyarrow as pa
from apache_beam.io import iobase
from apache_beam.io.concat_source import ConcatSource
from apache_beam.io.range_trackers import OffsetRangeTracker, UnsplittableRangeTracker

from .._engines.reading import disk_bytes, read_by, splits_of, tasks_of
from .._source.split import Split
from .range_read import OFFSETS, RangeRead, Task
from .tracker import RecordTracker

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .._engines.reading import Reading
    from .metrics import BatchMetrics

_UNKNOWN = 2**63 - 1
_WEIGHT = 64 << 20  # of a file whose size is not known
# Compressed files are not divided by the offsets of their records, which are not those on disk.
_COMPRESSED = (".gz", ".zlib", ".zz", ".zst", ".zstd")


class Wanted(NamedTuple):
    """What is to be read of files, before they are looked at. It pickles.

    options: of columnstone.open.
    stage, dead_letters, metrics: as in Task.
    """

    options: dict[str, Any]
    metrics: BatchMetrics
    stage: Any = None
    dead_letters: bool = False

    def task(self, files: Any, first: Split) -> Task:
        """The same once all files have been looked at, so that their splits have the same
        columns. What is divisible is told by the first of their splits."""
        reading = read_by(files, self.options)
        with reading.open(first) as source:
            divisible = self.stage is None and source._core.container() in ("tfrecord", "lines")
        if divisible:
            reading = _with_offsets(reading)
        return Task(reading, divisible, self.stage, self.dead_letters, self.metrics)


def _with_offsets(reading: Reading) -> Reading:
    return reading._replace(
        options={**reading.options, "offset_column": OFFSETS},
        schema=reading.schema.append(pa.field(OFFSETS, pa.int64())),
    )


class _Source(iobase.BoundedSource):  # type: ignore[misc]
    def default_output_coder(self) -> Any:
        return beam.coders.registry.get_coder(pa.RecordBatch)


class FilesSource(_Source):
    """Record batches of files. Its bundles are the planner's tasks."""

    def __init__(self, files: Any, wanted: Wanted) -> None:
        self._files = files
        self._wanted = wanted

    def estimate_size(self) -> int | None:
        return disk_bytes(splits_of(self._files, self._wanted.options))

    def split(
        self,
        desired_bundle_size: int,
        start_position: int | None = None,
        stop_position: int | None = None,
    ) -> Iterator[iobase.SourceBundle]:
        splits = splits_of(self._files, self._wanted.options, max(1, desired_bundle_size))
        task = self._wanted.task(self._files, splits[0])
        for group in tasks_of(splits):
            bundles = [bundle_of(split, task) for split in group]
            weight = sum(bundle.weight for bundle in bundles)
            yield (
                bundles[0]
                if len(bundles) == 1
                else iobase.SourceBundle(weight, ConcatSource(bundles), None, None)
            )

    def get_range_tracker(
        self, start_position: int | None, stop_position: int | None
    ) -> iobase.RangeTracker:
        """All of it: what is divided are its bundles."""
        return UnsplittableRangeTracker(OffsetRangeTracker(0, 1))

    def read(self, range_tracker: iobase.RangeTracker) -> Iterator[Any]:
        if range_tracker.try_claim(0):
            for bundle in self.split(_UNKNOWN):
                _, source, start, stop = bundle
                yield from source.read(source.get_range_tracker(start, stop))


def bundle_of(split: Split, task: Task) -> iobase.SourceBundle:
    """The ends of a range are sought even where an index knows records that begin there: so it is
    the same search that finds the end of a range, and the begin of what was divided off."""
    weight = _WEIGHT if split.end == _UNKNOWN else split.end - split.begin
    source = FileSource(Split(split.file, split.begin, split.end), task)
    return iobase.SourceBundle(max(1, weight), source, split.begin, split.end)


class FileSource(_Source):
    """Record batches of a split of a file. Positions are bytes of the file."""

    def __init__(self, split: Split, task: Task) -> None:
        self._split_of = split
        self._task = task

    @property
    def _is_divisible(self) -> bool:
        file, _, end, *_ = self._split_of
        return self._task.divisible and end < _UNKNOWN and not file.lower().endswith(_COMPRESSED)

    def estimate_size(self) -> int | None:
        return disk_bytes([self._split_of])

    def split(
        self,
        desired_bundle_size: int,
        start_position: int | None = None,
        stop_position: int | None = None,
    ) -> Iterator[iobase.SourceBundle]:
        """Even ranges, if it is divisible."""
        tracker = self.get_range_tracker(start_position, stop_position)
        start, stop = tracker.start_position(), tracker.stop_position()
        parts = 1
        if self._is_divisible:
            parts = max(1, (stop - start) // max(1, desired_bundle_size))
        borders = [start + (stop - start) * i // parts for i in range(parts + 1)]
        for begin, end in itertools.pairwise(borders):
            yield bundle_of(self._split_of._replace(begin=begin, end=end), self._task)

    def get_range_tracker(
        self, start_position: int | None, stop_position: int | None
    ) -> RecordTracker:
        split = self._split_of
        start = split.begin if start_position is None else start_position
        stop = split.end if stop_position is None else stop_position
        return RecordTracker(start, stop, self._is_divisible)

    def read(self, range_tracker: RecordTracker) -> Iterator[Any]:
        task = self._task._replace(divisible=self._is_divisible)
        return RangeRead(self._split_of.file, range_tracker, task).elements()
