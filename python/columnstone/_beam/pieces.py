"""Reads sources piece by piece, and keeps the elements that a runner stores per piece small: a plan
of 10 TB has some 160,000 pieces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import apache_beam as beam
from apache_beam.io import iobase
from apache_beam.transforms.core import RestrictionProvider

from .source import FilesSource

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .source import SharedTask, Wanted

# The restrictions of Beam's own reader of bounded sources.
_Restriction = iobase._SDFBoundedSourceRestriction
_OfSources = iobase._SDFBoundedSourceRestrictionProvider


def read_files(begin: Any, source: FilesSource) -> Any:
    """The elements of a source. Its task, as large as the schema, is a side input of the step that
    reads; bundles only name it."""
    planned = (
        begin
        | "Impulse" >> beam.Impulse()
        | "Plan" >> beam.ParDo(_Plan(source)).with_outputs("task", main="bundles")
    )
    task = beam.pvalue.AsSingleton(planned.task)
    return planned.bundles | "Read" >> beam.ParDo(_ReadBundles(), task=task)


class _Plan(beam.DoFn):  # type: ignore[misc]
    def __init__(self, source: FilesSource) -> None:
        self._source = source

    def process(self, element: bytes) -> Iterator[Any]:
        size = iobase.Read.get_desired_chunk_size(self._source.estimate_size())
        task = self._source.task()
        yield beam.pvalue.TaggedOutput("task", task)
        yield from self._source.bundles(size, task.get().reading.is_numbered, task.named())


class _Planned(iobase._SDFBoundedSourceRestrictionProvider):  # type: ignore[misc]
    """Restrictions of bundles that are already planned."""

    def initial_restriction(self, element: iobase.SourceBundle) -> Any:
        return _Restriction(element)

    def split(self, element: iobase.SourceBundle, restriction: Any) -> Iterator[Any]:
        yield restriction


_PLANNED = beam.DoFn.RestrictionParam(_Planned())
_OWN = beam.DoFn.RestrictionParam()  # the function says itself what restrictions are


class _ReadBundles(beam.DoFn):  # type: ignore[misc]
    def process(
        self,
        element: iobase.SourceBundle,
        tracker: Any = _PLANNED,
        task: SharedTask | None = None,
    ) -> Iterator[Any]:
        assert task is not None  # is held as long as it is read by its name
        yield from _elements(tracker)


class ReadNames(beam.DoFn, RestrictionProvider):  # type: ignore[misc]
    """The elements of the files of each name. The options are in this function, not beside every
    piece; what was inferred from the files of a name is in their bundles."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._sources = _OfSources()

    def initial_restriction(self, element: Any) -> Any:
        return self._sources.initial_restriction(FilesSource(element, self._wanted))

    def create_tracker(self, restriction: Any) -> Any:
        return self._sources.create_tracker(restriction)

    def split(self, element: Any, restriction: Any) -> Iterator[Any]:
        yield from self._sources.split(element, restriction)

    def restriction_size(self, element: Any, restriction: Any) -> Any:
        return self._sources.restriction_size(element, restriction)

    def restriction_coder(self) -> Any:
        return self._sources.restriction_coder()

    def process(
        self,
        element: Any,
        tracker: Any = _OWN,
    ) -> Iterator[Any]:
        yield from _elements(tracker)


def _elements(tracker: Any) -> Iterator[Any]:
    restriction = tracker.current_restriction()
    yield from restriction.source().read(restriction.range_tracker())
