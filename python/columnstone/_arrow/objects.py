"""What kind of data an object is, and Python's own values as arrays and batches."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from .. import _core
from .._base.errors import argument_error

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


def is_dataset(obj: object) -> bool:
    """True for a Dataset and an IterableDataset; dicts of them are an ArgumentError."""
    datasets: Any = sys.modules.get("datasets")
    if not hasattr(datasets, "IterableDatasetDict"):
        return False
    if isinstance(obj, datasets.DatasetDict | datasets.IterableDatasetDict):
        splits: Any = obj
        hint = f"name one of its splits, such as dataset[{next(iter(splits), 'train')!r}]"
        raise argument_error(f"a {type(obj).__name__} is several datasets", hint)
    return isinstance(obj, datasets.Dataset | datasets.IterableDataset)


def array_of(values: list[Any] | tuple[Any, ...] | range, name: str | None = None) -> Array:
    return cast("Array", _core.array_of_objects(list(values), False, name))


def batch_of_rows(rows: list[Any] | tuple[Any, ...]) -> RecordBatch:
    return cast("RecordBatch", _core.array_of_objects(list(rows), True, None))
