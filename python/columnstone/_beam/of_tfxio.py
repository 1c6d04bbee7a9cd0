"""The transforms of the classes of columnstone.tfxio."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import apache_beam as beam
import pyarrow as pa

from .._arrow.pointers import to_pyarrow
from .._base.errors import UnsupportedError
from . import row_records
from .metrics import BatchMetrics, RecordMetrics, Telemetry
from .read import BATCH_SIZE, Decode, Read, wanted

if TYPE_CHECKING:
    from collections.abc import Iterator


_PART = 64 << 20  # bytes that a worker reads of what cannot be planned
_MOST_PARTS = 1000
# Options of records, independent of what they are decoded to.
_OF_RECORDS = (
    "container",
    "check_crc",
    "max_record_size",
    "max_inflation",
    "memory_map",
    "filesystem",
    "schemes",
    "hosts",
    "on_error",
    "max_errors",
)


def batches_of(tfxio: Any, batch_size: int | None) -> Any:
    """The implementation of BeamSource."""
    opening = tfxio._planned()
    if opening is None:
        return _OwnSource(tfxio, BATCH_SIZE if batch_size is None else batch_size)
    if opening.paths is None:
        return batches_of_records(tfxio, batch_size)
    metrics = BatchMetrics(_telemetry_of(tfxio))
    return Read.of(
        opening.paths, wanted(opening.options, batch_size, metrics=metrics, stage=opening.stage)
    )


def records_of(tfxio: Any) -> Any:
    """The implementation of RawRecordBeamSource."""
    if _is_parquet(tfxio):
        return row_records.Rows(batches_of(tfxio, None), RecordMetrics(_telemetry_of(tfxio)))
    opening = _record_opening_of(tfxio)
    given = {name: opening.options[name] for name in _OF_RECORDS if name in opening.options}
    return _RawRecords(opening.paths, given, RecordMetrics(_telemetry_of(tfxio)))


def batches_of_records(tfxio: Any, batch_size: int | None) -> Any:
    """The implementation of RawRecordToRecordBatch."""
    if _is_parquet(tfxio):
        size = BATCH_SIZE if batch_size is None else batch_size
        return row_records.Batches(tfxio.ArrowSchema(), size)
    opening = _record_opening_of(tfxio)
    telemetry = _telemetry_of(tfxio)
    counted = RecordMetrics(telemetry) if opening.paths is None else None
    given = wanted(
        opening.options, batch_size, metrics=BatchMetrics(telemetry), stage=opening.stage
    )
    return Decode.of(given, counted)


def _is_parquet(tfxio: Any) -> bool:
    opening = tfxio._planned()
    return opening is not None and opening.options.get("format") == "parquet"


def _telemetry_of(tfxio: Any) -> Telemetry:
    return Telemetry(tfxio._descriptors, *tfxio._formats)


def _record_opening_of(tfxio: Any) -> Any:
    opening = tfxio._planned()
    if opening is None or opening.options.get("format") == "csv":
        raise UnsupportedError(
            f"{type(tfxio).__name__} does not read serialized records: use BeamSource"
        )
    return opening


class _RawRecords(beam.PTransform):  # type: ignore[misc]
    """The records as bytes, from files or from a PCollection."""

    def __init__(self, paths: Any, options: dict[str, Any], metrics: RecordMetrics) -> None:
        super().__init__()
        self._paths = paths
        self._options = options
        self._metrics = metrics

    def expand(self, begin: Any) -> Any:
        if self._paths is None:
            return begin | "Count" >> beam.Map(self._counted).with_output_types(bytes)
        read = Read(self._paths, format="raw", **self._options)
        return (
            begin | "Read" >> read | "Take" >> beam.FlatMap(self._records).with_output_types(bytes)
        )

    def _counted(self, record: bytes) -> bytes:
        self._metrics.count([record])
        return record

    def _records(self, batch: pa.RecordBatch) -> list[bytes]:
        records: list[bytes] = batch.column(0).to_pylist()
        self._metrics.count(records)
        return records


class _OwnSource(beam.PTransform):  # type: ignore[misc]
    """A user-defined class: reads the parts of its source or, if it has no source, all of its
    batches in one place. The class must pickle."""

    def __init__(self, tfxio: Any, batch_size: int) -> None:
        super().__init__()
        self._read = _ReadOwn(tfxio, batch_size)
        self.with_output_types(pa.RecordBatch)

    def expand(self, begin: Any) -> Any:
        return (
            begin
            | "Parts" >> beam.Create(self._read.parts())
            | "Spread" >> beam.Reshuffle()
            | "Read" >> beam.ParDo(self._read)
        )


class _ReadOwn(beam.DoFn):  # type: ignore[misc]
    def __init__(self, tfxio: Any, batch_size: int) -> None:
        self._tfxio = tfxio
        self._batch_size = batch_size
        self._metrics = BatchMetrics(_telemetry_of(tfxio))

    def parts(self) -> list[tuple[int, int]]:
        if self._tfxio._has_own("RecordBatches"):
            return [(0, 0)]
        with self._tfxio._open(self._batch_size) as source:
            size = source.total_bytes
            count = len(source.files) if size is None else -(-size // _PART)
        count = max(1, min(count, _MOST_PARTS))
        return [(i, count) for i in range(count)]

    def process(self, part: tuple[int, int]) -> Iterator[pa.RecordBatch]:
        for batch in self._batches(*part):
            self._metrics.count(batch)
            yield batch

    def _batches(self, i: int, count: int) -> Iterator[pa.RecordBatch]:
        if count == 0:
            yield from self._tfxio._batches(self._batch_size)
            return
        with self._tfxio._open(self._batch_size) as source:
            for batch in source.split(i, count):
                yield to_pyarrow(batch)
