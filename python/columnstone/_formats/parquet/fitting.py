"""Refuses data that pyarrow would write to Parquet without an error, but that could not be read
again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._base.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa


def check_names(path: str, schema: pa.Schema) -> None:
    """UnsupportedError if two columns, or two fields of a struct, have the same name, because
    columns are found by name; and for lists of the fixed size 0, which leave nothing in the
    file."""
    _check_fields(path, "", schema)


def _check_fields(path: str, above: str, fields: Iterable[pa.Field]) -> None:
    seen: set[str] = set()
    for field in fields:
        place = f"{above}.{field.name}" if above else field.name
        if field.name in seen:
            raise _unsupported(path, place, "two columns have the same name", "rename one of them")
        seen.add(field.name)
        _check_kind(path, place, field.type)


def _check_kind(path: str, place: str, kind: pa.DataType) -> None:
    import pyarrow as pa

    if pa.types.is_struct(kind):
        _check_fields(path, place, kind)
        return
    if pa.types.is_fixed_size_list(kind) and kind.list_size == 0:
        hint = "cast the column to a list"
        raise _unsupported(path, place, "Parquet cannot hold a fixed_size_list of size 0", hint)
    for i in range(kind.num_fields):
        _check_kind(path, place, kind.field(i).type)


def check_lists(path: str, batch: pa.RecordBatch) -> None:
    """UnsupportedError for a null struct with a fixed_size_list field that is not nullable: the
    list has no items in the file, but readers expect the fixed number."""
    for field, column in zip(batch.schema, batch.columns, strict=True):
        if _has_strict_lists(field.type):
            _check_lists(path, field.name, field, column, False)


def _has_strict_lists(kind: pa.DataType) -> bool:
    """True if it contains a fixed-size list that is not nullable."""
    import pyarrow as pa

    return any(
        (pa.types.is_fixed_size_list(kind.field(i).type) and not kind.field(i).nullable)
        or _has_strict_lists(kind.field(i).type)
        for i in range(kind.num_fields)
    )


def _check_lists(path: str, place: str, field: pa.Field, array: Any, in_null: bool) -> None:
    import pyarrow as pa

    kind = field.type
    if pa.types.is_struct(kind):
        in_null = in_null or array.null_count > 0
        for i, inner in enumerate(kind):
            _check_lists(path, f"{place}.{inner.name}", inner, array.field(i), in_null)
    elif pa.types.is_fixed_size_list(kind):
        if in_null and not field.nullable:
            hint = "make the list nullable, or cast it to a list"
            text = f"Parquet cannot hold a null struct with a {kind} that is not nullable"
            raise _unsupported(path, place, text, hint)
        _check_lists(path, place, kind.value_field, array.flatten(), False)
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        _check_lists(path, place, kind.value_field, array.flatten(), False)
    elif pa.types.is_map(kind):
        _check_lists(path, place, kind.item_field, array.items, False)


def _unsupported(path: str, place: str, what: str, hint: str) -> UnsupportedError:
    text = f"{path}: column {place!r}: {what} ({hint})"
    return UnsupportedError(text, file=path, path=place, hint=hint)
