"""Findings: rows of a record batch as objects of small classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .. import _core

_Row = TypeVar("_Row")


def rows(
    batch: _core.RecordBatch, make: Callable[..., _Row], **items: Callable[..., Any]
) -> list[_Row]:
    """Calls `make` for each row, with the columns as arguments. items: as for `row_dicts`."""
    return [make(**row) for row in row_dicts(batch, **items)]


def row_dicts(batch: _core.RecordBatch, **items: Callable[..., Any]) -> Iterator[dict[str, Any]]:
    """The columns of each row by name. items: called for each of the structs in the lists of a
    column, which become a tuple."""
    columns = batch.to_pydict()
    for values in zip(*columns.values(), strict=True):
        row: dict[str, Any] = dict(zip(columns, values, strict=True))
        for column, make_item in items.items():
            row[column] = tuple([make_item(**item) for item in row[column]])
        yield row
