"""Coders: record batches and tables travel between Beam's workers as Arrow IPC streams."""

from __future__ import annotations

from typing import Any

import apache_beam as beam
import pyarrow as pa

from .._base.public import public_in
from .plain_layout import plain_batch


@public_in("columnstone.beam")
class RecordBatchCoder(beam.coders.Coder):  # type: ignore[misc]
    """Encodes record batches as Arrow IPC streams of one batch.

    is_key: equal batches become equal bytes, as grouping by them requires, whatever their buffers
        contain besides values. It takes several times as long. Beam requests such a coder itself
        where batches are the keys of a GroupByKey. Batches cannot be the keys of combiners, because
        these need a hash. Batches are equal if they have the same schema, the same metadata, and
        the same values bit by bit: 0.0 and -0.0 differ.
    """

    def __init__(self, is_key: bool = False) -> None:
        self._is_key = is_key

    def encode(self, value: Any) -> bytes:
        batch = plain_batch(value) if self._is_key else value
        to = pa.BufferOutputStream()
        with pa.ipc.new_stream(to, batch.schema) as stream:
            stream.write_batch(batch)
        encoded: bytes = to.getvalue().to_pybytes()
        return encoded

    def decode(self, encoded: bytes) -> Any:
        return pa.ipc.open_stream(encoded).read_next_batch()

    def estimate_size(self, value: Any) -> int:
        """Does not encode the batch; Beam asks this for samples."""
        size: int = value.get_total_buffer_size()
        return size

    def is_deterministic(self) -> bool:
        return self._is_key

    def as_deterministic_coder(self, step_label: str, error_message: str | None = None) -> Any:
        return type(self)(is_key=True)

    def to_type_hint(self) -> Any:
        return pa.RecordBatch


@public_in("columnstone.beam")
class TableCoder(RecordBatchCoder):
    """Encodes tables as Arrow IPC streams of all their chunks. With is_key, tables with equal
    columns become equal bytes, however they are chunked, as for RecordBatchCoder."""

    def encode(self, value: Any) -> bytes:
        table = value
        if self._is_key:
            chunks = value.combine_chunks().to_batches()
            table = pa.Table.from_batches(map(plain_batch, chunks), value.schema)
        to = pa.BufferOutputStream()
        with pa.ipc.new_stream(to, table.schema) as stream:
            stream.write_table(table)
        encoded: bytes = to.getvalue().to_pybytes()
        return encoded

    def decode(self, encoded: bytes) -> Any:
        return pa.ipc.open_stream(encoded).read_all()

    def to_type_hint(self) -> Any:
        return pa.Table


def _register() -> None:
    """Registers the coders for batches and tables, unless other coders are registered."""
    registry = beam.coders.registry
    for kind, coder in ((pa.RecordBatch, RecordBatchCoder), (pa.Table, TableCoder)):
        if kind not in registry.custom_types:
            registry.register_coder(kind, coder)


_register()
