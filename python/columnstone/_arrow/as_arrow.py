"""The one place where a function that takes Arrow data takes Python's own data as well: rows,
columns, and datasets of Hugging Face."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from .huggingface import Rows
from .objects import is_arrow, is_dataset, is_rows
from .table import record_batch


def as_arrow(obj: object) -> object:
    """Rows, columns and datasets as an object that exports Arrow data; all else as it is."""
    if is_arrow(obj):
        return obj
    if is_dataset(obj):
        return Rows(obj)
    if isinstance(obj, Mapping) or is_rows(obj):
        return record_batch(cast("Any", obj))
    return obj
