"""Python's own data as Arrow data: rows, columns, values, and datasets of Hugging Face.

`as_arrow` is the one place where a function that takes Arrow data takes these as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from .. import _core
from .._base.errors import ArgumentError
from .huggingface import Rows, is_dataset

if TYPE_CHECKING:
    from typing import TypeAlias

    from .._core import Array, RecordBatch

    Plain: TypeAlias = (
        Mapping[str, Any] | list[dict[str, Any]] | tuple[Mapping[str, Any], ...]  # columns, rows
    )


def is_arrow(item: object) -> bool:
    """True for objects that export a stream or a batch."""
    return hasattr(item, "__arrow_c_stream__") or hasattr(item, "__arrow_c_array__")


def is_rows(obj: object) -> bool:
    """True for a list of dicts."""
    return isinstance(obj, list | tuple) and any(isinstance(item, Mapping) for item in obj)


def as_arrow(obj: object) -> object:
    """Rows, columns and datasets as an object that exports Arrow data; all else as it is."""
    if is_arrow(obj):
        return obj
    if is_dataset(obj):
        return Rows(obj)
    if isinstance(obj, Mapping) or is_rows(obj):
        from .table import record_batch

        return record_batch(cast("Any", obj))
    return obj


def array_of(values: list[Any] | tuple[Any, ...] | range, name: str | None = None) -> Array:
    return cast("Array", _core.array_of_objects(list(values), False, name))


def batch_of_rows(rows: list[Any] | tuple[Any, ...]) -> RecordBatch:
    return cast("RecordBatch", _core.array_of_objects(list(rows), True, None))


def columns_of(mapping: Mapping[str, Any]) -> list[Array]:
    """The columns, all of one length."""
    columns = [_column(name, values) for name, values in mapping.items()]
    for name, column in zip(mapping, columns, strict=True):
        if len(column) != len(columns[0]):
            raise ArgumentError(
                f"feature {name!r}: {len(column)} values, expected {len(columns[0])} as in "
                f"{next(iter(mapping))!r}",
                path=name,
            )
    return columns


def _column(name: object, values: Any) -> Array:
    from .table import array

    if not isinstance(name, str):
        raise TypeError(f"the name of a column is a str, not {type(name).__name__}")
    if isinstance(values, list | tuple | range):
        return array_of(values, name)
    if not is_arrow(values) and not hasattr(values, "__array__"):
        raise TypeError(f"column {name!r} is {type(values).__name__}, expected a list or an array")
    return array(values)
