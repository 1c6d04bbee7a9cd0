"""Rows of a format without records, such as Parquet, as bytes. Each row is the message of a record
batch of one row in Arrow's IPC format. The schema is not included: the decoder knows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import apache_beam as beam
import pyarrow as pa
from apache_beam.transforms.window import WindowedValue

from .._base.errors import CorruptError, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .metrics import RecordMetrics


class Rows(beam.PTransform):  # type: ignore[misc]
    """Batches of a source as rows."""

    def __init__(self, batches: Any, metrics: RecordMetrics) -> None:
        super().__init__()
        self._batches = batches
        self._metrics = metrics

    def expand(self, begin: Any) -> Any:
        rows = beam.FlatMap(self._rows).with_output_types(bytes)
        return begin | "Read" >> self._batches | "Rows" >> rows

    def _rows(self, batch: pa.RecordBatch) -> list[bytes]:
        _check(batch.schema)
        rows = [batch.slice(i, 1).serialize().to_pybytes() for i in range(batch.num_rows)]
        self._metrics.count(rows)
        return rows


class Batches(beam.PTransform):  # type: ignore[misc]
    """Rows of this schema as batches of at most this many rows, each from one window and bundle."""

    def __init__(self, schema: pa.Schema, size: int) -> None:
        super().__init__()
        _check(schema)
        self._of_rows = _BatchesOfRows(schema, size)
        self.with_output_types(pa.RecordBatch)

    def expand(self, rows: Any) -> Any:
        return rows | "Batch" >> beam.ParDo(self._of_rows)


class _BatchesOfRows(beam.DoFn):  # type: ignore[misc]
    def __init__(self, schema: pa.Schema, size: int) -> None:
        self._schema = schema
        self._size = size

    def start_bundle(self) -> None:
        self._waiting: dict[Any, list[bytes]] = {}

    def process(self, row: bytes, window: Any = beam.DoFn.WindowParam) -> Iterator[Any]:
        waiting = self._waiting.setdefault(window, [])
        waiting.append(row)
        if len(waiting) == self._size:
            yield self._batch(self._waiting.pop(window))

    def finish_bundle(self) -> Iterator[Any]:
        for window, rows in self._waiting.items():
            yield WindowedValue(self._batch(rows), window.max_timestamp(), (window,))
        self._waiting = {}

    def _batch(self, rows: list[bytes]) -> pa.RecordBatch:
        try:
            read = [pa.ipc.read_record_batch(pa.py_buffer(row), self._schema) for row in rows]
            for batch in read:
                batch.validate(full=True)
        except (pa.ArrowException, OSError) as error:
            hint = "pass the elements that RawRecordBeamSource of the same TFXIO returns"
            raise CorruptError(
                f"a record is not a row of these columns ({hint})", hint=hint
            ) from error
        [whole] = pa.Table.from_batches(read, self._schema).combine_chunks().to_batches()
        return whole


def _check(schema: pa.Schema) -> None:
    for field in schema:
        if _has_dictionary(field.type):
            hint = "use BeamSource"
            raise UnsupportedError(
                f"column {field.name}: rows of {field.type} cannot be serialized one by one "
                f"({hint})",
                path=field.name,
                hint=hint,
            )


def _has_dictionary(type: pa.DataType) -> bool:
    if pa.types.is_dictionary(type):
        return True
    return any(_has_dictionary(type.field(i).type) for i in range(type.num_fields))
