"""Divides rows by the values of some columns into folders that are named as in Hive and Spark."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from .._arrow.table import record_batch
from .._base.errors import NotFoundError, UnsupportedError, argument_error

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .._core import RecordBatch

NULL = "__HIVE_DEFAULT_PARTITION__"
# The characters that Spark's own writers escape, and NUL.
_ESCAPED = re.compile("[\x00-\x1f\x7f\"#%'*/:=?\\\\{\\[\\]^]")


def check_keys(schema: Any, names: Sequence[str]) -> None:
    """Checks that rows of this pyarrow.Schema can be divided by these columns."""
    import pyarrow.types as kinds

    if len(set(names)) < len(names):
        raise argument_error(f"partition_by repeats a column: {', '.join(names)}"[:200])
    for name in names:
        if name not in schema.names:
            raise NotFoundError(f"there is no column {ascii(name)[:80]} to partition by", path=name)
        kind = schema.field(name).type
        is_text = kinds.is_string(kind) or kinds.is_large_string(kind)
        is_exact = kinds.is_integer(kind) or kinds.is_decimal(kind)
        if not (is_text or is_exact or kinds.is_boolean(kind) or kinds.is_date(kind)):
            hint = "cast it to a string or a date"
            raise UnsupportedError(
                f"column {ascii(name)[:80]} is of type {kind}, which cannot be part of a folder "
                f"name ({hint})",
                path=name,
                hint=hint,
            )
    if names and len(names) == len(schema.names):
        raise argument_error("partition_by names all columns", "leave at least one for the files")


def divide(batch: Any, names: Sequence[str]) -> Iterator[tuple[str, RecordBatch]]:
    """Divides the rows of a pyarrow.RecordBatch by their keys, and returns for each key the folder
    and the other columns. The rows of a folder keep their order."""
    import pyarrow as pa

    keys = [batch.column(name).cast(pa.large_string()) for name in names]
    plain = [f"k{at}" for at in range(len(keys))]  # a path, which a name with dots is not
    groups = record_batch(pa.RecordBatch.from_arrays(keys, plain)).group_by(plain)
    values = record_batch(batch.drop_columns(list(names)))
    columns = [groups.keys.column(at).to_pylist() for at in range(len(names))]
    for at in range(len(groups)):
        key = zip(names, (column[at] for column in columns), strict=True)
        rows = groups.rows_of(at)
        yield "/".join(folder_of(name, value) for name, value in key), values.take(rows)


def folder_of(name: str, value: str | None) -> str:
    """`name=value`, escaped."""
    if value == "":
        hint = "replace it with null, as Spark's own writers do, or with another value"
        raise UnsupportedError(
            f"column {ascii(name)[:80]}: an empty string cannot be a partition ({hint})",
            path=name,
            hint=hint,
        )
    return f"{_escape(name)}={NULL if value is None else _escape(value)}"


def _escape(text: str) -> str:
    return _ESCAPED.sub(lambda found: f"%{ord(found[0]):02X}", text)
