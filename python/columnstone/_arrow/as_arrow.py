"""Conversion of arguments for functions that accept Arrow data and Python data: rows, columns, and
Hugging Face datasets."""

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
    """Rows, columns and datasets as an object that exports Arrow data; other objects unchanged."""
    obj = exported(obj)
    if is_arrow(obj):
        if isinstance(obj, Array | StructuredBase) and _is_column(obj):
            raise argument_error("found one column, expected rows", 'name it: {"name": values}')
        return obj
    if is_dataset(obj):
        return Rows(obj)
    if isinstance(obj, Mapping) or is_rows(obj):
        return record_batch(cast("Any", obj))
    return obj


def _is_column(values: Array | StructuredBase) -> bool:
    """True for data that does not consist of structs."""
    return arrow_schema(values).format != "+s"
