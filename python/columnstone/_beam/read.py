"""Transforms that read record batches: from files, from file names, and from records."""

from __future__ import annotations

import contextlib
import io
from typing import TYPE_CHECKING, Any

import apache_beam as beam
import pyarrow as pa
from apache_beam.transforms.window import WindowedValue

from .._api.artifacts import settled
from .._api.open import open as open_source
from .._arrow.pointers import to_pyarrow
from .._base.arguments import positive
from .._base.errors import NotFoundError, SchemaError, UnsupportedError, argument_error
from .._base.files import in_memory
from .._engines.names import check_names
from .._engines.options import self_contained
from .._sink.writer import TFRecordWriter
from .dead_letter import DeadLetter
from .metrics import BatchMetrics, RecordMetrics
from .pieces import ReadNames, read_files
from .source import FilesSource, Wanted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .._api.source import Source
    from .._source.dropped import Dropped

BATCH_SIZE = 1024
_LIVE_WINDOWS = 10  # whose records wait at once, before those of the largest are decoded


def wanted(
    options: dict[str, Any],
    batch_size: int | None,
    batch_bytes: int | None = None,
    *,
    dead_letters: bool = False,
    metrics: BatchMetrics | None = None,
    stage: Any = None,
) -> Wanted:
    """The arguments of a transform, checked."""
    check_names(options, open_source, ("paths", "batch_size"), options.get("format"))
    if options.get("offset_column") is not None:
        raise argument_error("offset_column is not supported in a pipeline")
    if dead_letters and options.get("on_error", "raise") not in ("skip", "null"):
        raise argument_error('dead_letters needs on_error="skip" or "null"')
    sizes = {"batch_size": BATCH_SIZE if batch_size is None else batch_size}
    positive("batch_size", sizes["batch_size"])
    if batch_bytes is not None:
        sizes["batch_bytes"] = positive("batch_bytes", batch_bytes)
    given = {name: value for name, value in options.items() if value is not None}
    settled = {**self_contained(given), **sizes}
    return Wanted(settled, metrics or BatchMetrics(), stage, dead_letters)


def _check_numbers(options: dict[str, Any]) -> None:
    """UnsupportedError for a view that uses record_index(), as far as it is already bound: records
    of a PCollection have no numbers."""
    if options.get("view") is not None:
        nothing = {**options, "container": "tfrecord"}
        with (
            contextlib.suppress(SchemaError, NotFoundError),  # what is inferred is not known yet
            open_source(io.BytesIO(), **nothing) as source,
        ):
            _refuse_numbers(source)


def _refuse_numbers(source: Source) -> None:
    view = source._options["view"]
    if view is not None and view.uses_record_index:
        hint = "read files with Read, or take the number from a field of the records"
        raise UnsupportedError(
            "record_index() is not available in Decode: its records do not come from a file "
            f"({hint})",
            hint=hint,
        )


class _Batches(beam.PTransform):  # type: ignore[misc]
    """A transform that returns record batches; with dead_letters, an object with two PCollections,
    `batches` and `dead_letters`."""

    def __init__(self, wanted: Wanted) -> None:
        super().__init__()
        self._wanted = wanted
        if not wanted.dead_letters:
            self.with_output_types(pa.RecordBatch)

    def _parted(self, elements: Any) -> Any:
        """Separates batches and dead letters."""
        if not self._wanted.dead_letters:
            return elements
        return elements | "Part" >> beam.ParDo(_Part()).with_outputs("dead_letters", main="batches")


class _Part(beam.DoFn):  # type: ignore[misc]
    def process(self, element: Any) -> Iterator[Any]:
        if isinstance(element, DeadLetter):
            yield beam.pvalue.TaggedOutput("dead_letters", element)
        else:
            yield element


class Read(_Batches):
    """Files as pyarrow's record batches: `pipeline | Read("trips-*.tfrecord", schema=schema)`.

    The planner divides the files. While a range of uncompressed TFRecords or lines is read, the
    runner can divide it further, at any record. Batches end where ranges end; the runner determines
    their order.

    paths: a path, a glob, a URL, or a list of them; or artifacts of a lineage store, which the
        transform holds a lease on.
    batch_size: rows of a batch, 1024 by default; batch_bytes limits their size.
    dead_letters: with on_error="skip" or "null": the result has two PCollections, `batches` and
        `dead_letters`, of DeadLetter.
    options: those of columnstone.open. max_errors is counted per range. Without a schema, the
        worker that divides the files infers it by reading all of them.
    """

    def __init__(
        self,
        paths: Any,
        *,
        batch_size: int | None = None,
        batch_bytes: int | None = None,
        dead_letters: bool = False,
        **options: Any,
    ) -> None:
        self._paths, given = settled(paths, options)  # of artifacts: here, where the store is
        super().__init__(wanted(given, batch_size, batch_bytes, dead_letters=dead_letters))

    @classmethod
    def of(cls, paths: Any, wanted: Wanted) -> Read:
        """The transform that the classes of columnstone.tfxio use for reading."""
        made = cls.__new__(cls)
        _Batches.__init__(made, wanted)
        made._paths = paths
        return made

    def expand(self, begin: Any) -> Any:
        return self._parted(read_files(begin, FilesSource(self._paths, self._wanted)))


class ReadAll(_Batches):
    """Like Read, for a PCollection of file names or globs: `names | ReadAll(schema=schema)`.

    Without a schema, one is inferred for the files of each element.
    """

    def __init__(
        self,
        *,
        batch_size: int | None = None,
        batch_bytes: int | None = None,
        dead_letters: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(wanted(options, batch_size, batch_bytes, dead_letters=dead_letters))

    def expand(self, names: Any) -> Any:
        return self._parted(
            names | "Spread" >> beam.Reshuffle() | "Read" >> beam.ParDo(ReadNames(self._wanted))
        )


class Decode(_Batches):
    """Decodes a PCollection of records (bytes): `messages | Decode(schema=schema)`.

    A batch contains records of one window and one bundle, and belongs to that window. The options
    are those of columnstone.open; format is "example" by default. Without a schema, each batch has
    the columns of its own records.
    """

    def __init__(
        self,
        *,
        batch_size: int | None = None,
        batch_bytes: int | None = None,
        dead_letters: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(wanted(options, batch_size, batch_bytes, dead_letters=dead_letters))
        _check_numbers(self._wanted.options)
        self._records: RecordMetrics | None = None

    @classmethod
    def of(cls, wanted: Wanted, records: RecordMetrics | None) -> Decode:
        made = cls.__new__(cls)
        _Batches.__init__(made, wanted)
        made._records = records
        return made

    def expand(self, records: Any) -> Any:
        return self._parted(records | "Decode" >> beam.ParDo(_Decode(self._wanted, self._records)))


class _Decode(beam.DoFn):  # type: ignore[misc]
    def __init__(self, wanted: Wanted, metrics: RecordMetrics | None) -> None:
        self._wanted = wanted
        self._metrics = metrics
        self._size = wanted.options["batch_size"]
        self._bytes = wanted.options.get("batch_bytes", 2**63)

    def start_bundle(self) -> None:
        self._waiting: dict[Any, list[bytes]] = {}
        self._bytes_of: dict[Any, int] = {}

    def process(self, record: bytes, window: Any = beam.DoFn.WindowParam) -> Iterator[Any]:
        waiting = self._waiting.setdefault(window, [])
        waiting.append(record)
        self._bytes_of[window] = size = self._bytes_of.get(window, 0) + len(record)
        if len(waiting) >= self._size or size >= self._bytes:
            yield from self._decoded(window)
        elif len(self._waiting) > _LIVE_WINDOWS:
            yield from self._decoded(max(self._bytes_of, key=lambda w: self._bytes_of[w]))

    def finish_bundle(self) -> Iterator[Any]:
        for window in list(self._waiting):
            yield from self._decoded(window)

    def _decoded(self, window: Any) -> Iterator[Any]:
        records = self._waiting.pop(window)
        del self._bytes_of[window]
        if self._metrics is not None:
            self._metrics.count(records)
        for element in decoded(records, self._wanted):
            yield WindowedValue(element, window.max_timestamp(), (window,))


def decoded(records: Sequence[bytes], wanted: Wanted) -> Iterator[Any]:
    """The batch of some records and, if wanted, the dead letters among them."""
    framed = in_memory("the PCollection's records")
    with TFRecordWriter(framed) as writer:
        for record in records:
            writer.write(record)
    framed.seek(0)
    whole = {"batch_size": len(records), "batch_bytes": None, "container": "tfrecord"}
    options = {**wanted.options, **whole, "check_crc": False}
    with open_source(framed, **options) as source:
        _refuse_numbers(source)
        stage = wanted.stage
        batches = iter(source if stage is None else source._part("stage", stage, None))
        for given in batches:
            batch = to_pyarrow(given)
            wanted.metrics.count(batch)
            yield batch
        wanted.metrics.drop(len(batches.dropped))
        if wanted.dead_letters:
            yield from (_letter_of(one, records) for one in batches.dropped)


def _letter_of(dropped: Dropped, records: Sequence[bytes]) -> DeadLetter:
    assert dropped.record is not None
    record = records[dropped.record]
    return DeadLetter("", None, record, str(dropped.error), len(record), dropped.kind)
