"""Stages in Python: what `Source.map` and `Source.filter` put between decoding and delivery.

A stage is an object with bind(schema), which gives the schema of its batches, and run(batch), which
gives a batch and, where rows are left out, the numbers of the rows that are in it. The threads that
decode call it. It pickles if its function does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._arrow.table import record_batch
from .._base.errors import argument_error
from .._base.optional import need

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._core import ArrowSchema, RecordBatch


def _pyarrow() -> Any:
    return need("pyarrow", "map and filter")


class Mapped:
    """fn(batch) in the place of every batch."""

    __slots__ = ("fn", "keeps_rows", "schema")

    def __init__(self, fn: Callable[[Any], Any], schema: object, keeps_rows: bool) -> None:
        if not callable(fn):
            raise TypeError(f"map takes a function, not {type(fn).__name__}")
        self.fn = fn
        self.schema = None if schema is None else _pyarrow().schema(schema)
        self.keeps_rows = keeps_rows

    def _call(self, batch: object) -> object:
        return record_batch(self.fn(batch))

    def bind(self, schema: ArrowSchema) -> object:
        if self.schema is not None:
            return self.schema
        pa = _pyarrow()
        empty = pa.RecordBatch.from_pylist([], schema=pa.schema(schema))
        return record_batch(self.fn(empty)).schema

    def run(self, batch: RecordBatch) -> tuple[object, None]:
        pa = _pyarrow()
        made = record_batch(self.fn(pa.record_batch(batch)))
        if self.schema is None:
            return made, None
        table = pa.Table.from_batches([pa.record_batch(made)]).cast(self.schema)
        return record_batch(table), None


class Filtered:
    """The rows for which a condition is true."""

    __slots__ = ("condition",)
    keeps_rows = False

    def __init__(self, condition: Any) -> None:
        if (
            not callable(condition)
            and not isinstance(condition, str)
            and not _is_expression(condition)
        ):
            raise TypeError(
                "filter takes a function, the name of a column, or an expression of pyarrow, not "
                f"{type(condition).__name__}"
            )
        self.condition = condition

    def _rows(self, batch: Any) -> Any:
        """The numbers of the rows that stay, as an int64 array."""
        pa = _pyarrow()
        if _is_expression(self.condition):
            name = "row" + "".join(batch.schema.names)  # no column has this name
            numbers = pa.array(range(batch.num_rows), pa.int64())
            table = pa.Table.from_batches([batch]).append_column(name, numbers)
            return table.filter(self.condition).column(name).combine_chunks()
        if isinstance(self.condition, str):
            mask = batch.column(self.condition)
        else:
            mask = self.condition(batch)
        if not isinstance(mask, pa.Array):
            mask = mask.combine_chunks() if isinstance(mask, pa.ChunkedArray) else pa.array(mask)
        if len(mask) == batch.num_rows == 0:
            return pa.array([], pa.int64())
        if len(mask) != batch.num_rows or mask.type != pa.bool_():
            raise argument_error(
                f"filter got {len(mask)} values of type {mask.type} for {batch.num_rows} rows",
                "a condition gives one bool per row",
            )
        import pyarrow.compute as pc

        return pc.indices_nonzero(mask).cast(pa.int64())

    def bind(self, schema: ArrowSchema) -> object:
        pa = _pyarrow()
        self._rows(pa.RecordBatch.from_pylist([], schema=pa.schema(schema)))
        return schema

    def run(self, batch: RecordBatch) -> tuple[object, object]:
        rows = self._rows(_pyarrow().record_batch(batch))
        return batch.take(rows), rows


def _is_expression(condition: object) -> bool:
    """True for an expression of pyarrow; does not import it."""
    return type(condition).__name__ == "Expression" and type(condition).__module__.startswith(
        "pyarrow."
    )
