"""Stages in Python: `Source.map` and `Source.filter` insert them between decoding and delivery.

A stage is an object with these methods: bind(schema) returns the schema of its batches; run(batch)
returns a batch and, if rows are dropped, the numbers of the remaining rows; refuse(schema, batch)
raises an error for a result with another schema; describe() returns a text for saved states. The
decoding threads call it. It pickles if its function does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._arrow.table import record_batch
from .._base.errors import SchemaError, argument_error
from .._base.optional import need
from .._base.public import public

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._core import ArrowSchema, RecordBatch


def _pyarrow() -> Any:
    return need("pyarrow", "map and filter")


@public
class Mapped:
    """Replaces every batch with fn(batch)."""

    __slots__ = ("fn", "keeps_rows", "schema")

    def __init__(self, fn: Callable[[Any], Any], schema: object, keeps_rows: bool) -> None:
        if not callable(fn):
            raise TypeError(f"map takes a function, not {type(fn).__name__}")
        self.fn = fn
        self.schema = None if schema is None else _pyarrow().schema(schema)
        self.keeps_rows = keeps_rows

    def bind(self, schema: ArrowSchema) -> object:
        if self.schema is not None:
            return self.schema
        try:
            return record_batch(self.fn(_empty(schema))).schema
        except Exception as error:
            error.add_note(
                "map called its function with a batch without rows, to find out the columns "
                "(to avoid this, give them: map(fn, schema=...))"
            )
            raise

    def run(self, batch: RecordBatch) -> tuple[object, None]:
        pa = _pyarrow()
        if self.schema is not None and batch.num_rows == 0:  # what a filter may leave
            return record_batch(_empty(self.schema)), None
        made = record_batch(self.fn(pa.record_batch(batch)))
        if self.keeps_rows and made.num_rows != batch.num_rows:
            raise argument_error(
                f"the function of map returned {made.num_rows} rows for {batch.num_rows}",
                "map(fn, keeps_rows=False) allows any number",
            )
        if self.schema is None:
            return made, None
        table = pa.Table.from_batches([pa.record_batch(made)]).cast(self.schema)
        return record_batch(table), None

    def describe(self) -> str:
        return f"map({function_name(self.fn)})"

    def refuse(self, schema: ArrowSchema, batch: Any) -> None:
        bound, made = _columns(schema), _columns(record_batch(batch).schema)
        same = [a == b for a, b in zip(bound, made, strict=False)]
        at = (*same, False).index(False)
        found = f"gave '{made[at]}'" if at < len(made) else "gave none"
        before = f"'{bound[at]}'" if at < len(bound) else "none"
        raise SchemaError(
            f"the function of map {found} as column {at}, but {before} for a batch without rows "
            "(give the schema of all batches: map(fn, schema=...))",
            hint="give the schema of all batches: map(fn, schema=...)",
        )


@public
class Filtered:
    """Keeps the rows for which a condition is true."""

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

    def describe(self) -> str:
        condition = self.condition
        return f"filter({function_name(condition) if callable(condition) else condition})"

    def _rows(self, batch: Any) -> Any:
        """The numbers of the remaining rows, as an int64 array."""
        pa = _pyarrow()
        import pyarrow.compute as pc

        if batch.num_rows == 0 and callable(self.condition):
            return pa.array([], pa.int64())
        if _is_expression(self.condition):
            name = "row" + "".join(batch.schema.names)  # no column has this name
            numbers = pc.indices_nonzero(pa.repeat(True, batch.num_rows)).cast(pa.int64())
            table = pa.Table.from_batches([batch]).append_column(name, numbers)
            return table.filter(self.condition).column(name).combine_chunks()
        if isinstance(self.condition, str):
            mask = batch.column(self.condition)
        else:
            mask = self.condition(batch)
        if isinstance(mask, pa.ChunkedArray):
            mask = mask.combine_chunks()
        elif not isinstance(mask, pa.Array):
            if not hasattr(mask, "__len__"):
                raise argument_error(
                    f"filter got {type(mask).__name__} for {batch.num_rows} rows",
                    "a condition returns one bool per row",
                )
            mask = pa.array(mask)
        if len(mask) != batch.num_rows or mask.type != pa.bool_():
            raise argument_error(
                f"filter got {len(mask)} values of type {mask.type} for {batch.num_rows} rows",
                "a condition returns one bool per row",
            )
        return pc.indices_nonzero(mask).cast(pa.int64())

    def bind(self, schema: ArrowSchema) -> object:
        self._rows(_empty(schema))  # columns that are not there are missed at once
        plant, (tree,) = schema.__reduce__()
        return plant(_without_dictionaries(tree))  # as take gives them

    def run(self, batch: RecordBatch) -> tuple[object, object]:
        rows = self._rows(_pyarrow().record_batch(batch))
        return batch.take(rows), rows


def _without_dictionaries(tree: Any) -> Any:
    """The tree that an ArrowSchema pickles as, with values instead of dictionaries."""
    format, name, flags, metadata, children, dictionary = tree
    if dictionary is not None:
        format, _, _, _, children, _ = dictionary
    return format, name, flags, metadata, tuple(map(_without_dictionaries, children)), None


def _empty(schema: object) -> Any:
    pa = _pyarrow()
    return pa.RecordBatch.from_pylist([], schema=pa.schema(schema))


def _columns(schema: object) -> list[str]:
    return [
        f"{field.name}: {field.type}{'' if field.nullable else ' not null'}"
        for field in _pyarrow().schema(schema)
    ]


def _is_expression(condition: object) -> bool:
    """True for an expression of pyarrow; does not import it."""
    return type(condition).__name__ == "Expression" and type(condition).__module__.startswith(
        "pyarrow."
    )


def function_name(fn: Any) -> str:
    """The name of a function, or the type of another callable; for a partial, the name of the
    function that it calls."""
    inner = getattr(fn, "func", None)
    name: str = getattr(fn, "__qualname__", type(fn).__qualname__)
    return name if inner is None else f"{name}({function_name(inner)})"
