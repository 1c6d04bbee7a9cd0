"""The one place where a function that takes Arrow data takes Python's own data as well: rows,
columns, and datasets of Hugging Face."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from .._base.errors import argument_error
from .._core import Array, StructuredBase, arrow_schema
from .huggingface import Rows
from .objects import is_arrow, is_dataset, is_rows
from .pointers import exported
from .table import record_batch


def as_arrow(obj: object) -> object:
    """Rows, columns and datasets as an object that exports Arrow data; all else as it is."""
    obj = exported(obj)
    if is_arrow(obj):
        if isinstance(obj, Array | StructuredBase) and _is_column(obj):
            raise argument_error("one column, and not rows", 'name it: {"name": values}')
        return obj
    if is_dataset(obj):
        return Rows(obj)
    if isinstance(obj, Mapping) or is_rows(obj):
        return record_batch(cast("Any", obj))
    return obj


def _is_column(values: Array | StructuredBase) -> bool:
    """True for what is not of structs."""
    return arrow_schema(values).format != "+s"
