"""Bounded sources: files, which the planner divides, and a single file, which is divided while it
is read."""

from __future__ import annotations

import functools
import hashlib
import itertools
import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

import apache_beam as beam
import pyarrow as pa
from apache_beam.internal import pickler
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
# Compressed files are not divided: the offsets of their records are not bytes on disk.
_COMPRESSED = (".gz", ".zlib", ".zz", ".zst", ".zstd")


class Wanted(NamedTuple):
    """The request to read files, before they are opened. It pickles.

    options: of columnstone.open.
    stage, dead_letters, metrics: as in Task.
    """

    options: dict[str, Any]
    metrics: BatchMetrics
    stage: Any = None
    dead_letters: bool = False

    def task(self, files: Any) -> Task:
        """The same after all files have been opened, so that their splits have the same columns."""
        reading = read_by(files, self.options)
        divisible = (
            self.stage is None
            and reading.container in ("tfrecord", "lines")
            and not reading.is_numbered
        )
        if divisible:
            reading = _with_offsets(reading)
        return Task(reading, divisible, self.stage, self.dead_letters, self.metrics)


def _with_offsets(reading: Reading) -> Reading:
    return reading._replace(
        options={**reading.options, "offset_column": OFFSETS},
        schema=reading.schema.append(pa.field(OFFSETS, pa.int64())),
    )


@functools.lru_cache(maxsize=16)
def _unpickled(pickled: bytes) -> Task:
    return pickler.loads(pickled)  # type: ignore[no-any-return]


# Tasks whose bytes are in this process, as long as they are referenced.
_held: weakref.WeakValueDictionary[bytes, SharedTask] = weakref.WeakValueDictionary()


class SharedTask:
    """A task as all bundles of a source share it: pickled and compressed once, and unpickled once
    by each process.

    pickled: None for the name of a task that something else in the process holds.
    """

    def __init__(self, digest: bytes, divisible: bool, pickled: bytes | None) -> None:
        self._digest = digest
        self.divisible = divisible
        self._pickled = pickled
        if pickled is not None:
            _held[digest] = self

    def __reduce__(self) -> tuple[Any, ...]:
        return SharedTask, (self._digest, self.divisible, self._pickled)

    @classmethod
    def of(cls, task: Task) -> SharedTask:
        pickled = pickler.dumps(task)
        return cls(hashlib.sha256(pickled).digest(), task.divisible, pickled)

    def named(self) -> SharedTask:
        """Its name, which pickles small."""
        return SharedTask(self._digest, self.divisible, None)

    def get(self) -> Task:
        pickled = self._pickled
        if pickled is None:
            pickled = _held[self._digest]._pickled
        assert pickled is not None
        return _unpickled(pickled)


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
        task = self.task()
        yield from self.bundles(desired_bundle_size, task.get().reading.is_numbered, task)

    def task(self) -> SharedTask:
        """The size of all bundles."""
        return SharedTask.of(self._wanted.task(self._files))

    def bundles(
        self, target_bytes: int, is_numbered: bool, task: SharedTask
    ) -> Iterator[iobase.SourceBundle]:
        files, options = self._files, self._wanted.options
        splits = splits_of(files, options, max(1, target_bytes), is_numbered)
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
        """The whole source, because only its bundles are divided."""
        return UnsplittableRangeTracker(OffsetRangeTracker(0, 1))

    def read(self, range_tracker: iobase.RangeTracker) -> Iterator[Any]:
        if range_tracker.try_claim(0):
            for bundle in self.split(_UNKNOWN):
                _, source, start, stop = bundle
                yield from source.read(source.get_range_tracker(start, stop))


def bundle_of(split: Split, task: SharedTask) -> iobase.SourceBundle:
    """The ends of a range that may be divided are searched for even where an index knows them. So
    the same search finds the end of a range, and the start of the part that was divided off."""
    weight = _WEIGHT if split.end == _UNKNOWN else split.end - split.begin
    if task.divisible:
        split = Split(split.file, split.begin, split.end)
    source = FileSource(split, task)
    return iobase.SourceBundle(max(1, weight), source, split.begin, split.end)


class FileSource(_Source):
    """Record batches of a split of a file. Positions are bytes of the file."""

    def __init__(self, split: Split, task: SharedTask) -> None:
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
        task = self._task.get()._replace(divisible=self._is_divisible)
        return RangeRead(self._split_of, range_tracker, task).elements()
