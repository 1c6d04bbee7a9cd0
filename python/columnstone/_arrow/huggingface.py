"""Hugging Face datasets as Arrow streams."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from .. import _core
from .._base.errors import SchemaError
from .objects import batch_of_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

_ROWS = 1000  # of a batch, at least


class Rows:
    """The rows of a Dataset or an IterableDataset as Arrow data, whatever its format, in the order
    of its indices. Each stream is a new iteration."""

    def __init__(self, dataset: Any, batch_size: int = _ROWS) -> None:
        self._dataset = dataset
        self._batch_size = max(batch_size, _ROWS)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        import pyarrow as pa

        if self._dataset.features is None:
            batches = self._batches_of_dicts()
            first = next(batches)
            schema = first.schema
            batches = itertools.chain([first], batches)
        else:
            schema = self._dataset.features.arrow_schema.remove_metadata()
            batches = self._batches_of_tables(schema)
        reader = pa.RecordBatchReader.from_batches(schema, batches)
        capsule: object = reader.__arrow_c_stream__(requested_schema)
        return capsule

    def _batches_of_tables(self, schema: Any) -> Iterator[Any]:
        for table in self._dataset.with_format("arrow").iter(batch_size=self._batch_size):
            yield from table.select(schema.names).cast(schema).to_batches()

    def _batches_of_dicts(self) -> Iterator[Any]:
        """For a stream whose columns are known only from its rows: they are those of the first
        batch, even if it is empty."""
        import pyarrow as pa

        rows = iter(self._dataset.with_format(None))
        first = batch_of_rows(list(itertools.islice(rows, self._batch_size)))
        yield pa.record_batch(first)
        none = first.slice(0, 0)
        while chunk := list(itertools.islice(rows, self._batch_size)):
            try:
                batch = _core.array_concat((none, batch_of_rows(chunk)))
            except SchemaError as error:
                raise _changed(len(first)) from error
            if batch.schema != first.schema:
                raise _changed(len(first))
            yield pa.record_batch(batch)


def _changed(rows: int) -> SchemaError:
    hint = "give the dataset features: dataset.cast(features)"
    return SchemaError(
        f"the columns or types change after the first {rows} rows ({hint})", hint=hint
    )
