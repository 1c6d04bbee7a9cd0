"""Detects the kind of data in an object, and converts Python values to arrays and batches."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from .. import _core
from .._base.errors import argument_error

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol, TypeAlias

    from .._core import Array, RecordBatch

    class HuggingFaceDataset(Protocol):
        """A Dataset or an IterableDataset of Hugging Face."""

        @property
        def features(self) -> Any: ...
        def with_format(self, *arguments: Any, **options: Any) -> Any: ...

    # columns, rows
    Plain: TypeAlias = Mapping[str, Any] | Sequence[Mapping[str, Any]] | HuggingFaceDataset


def is_arrow(item: object) -> bool:
    """True for objects that export a stream or a batch."""
    return hasattr(item, "__arrow_c_stream__") or hasattr(item, "__arrow_c_array__")


def is_rows(obj: object) -> bool:
    """True for a list of dicts."""
    return isinstance(obj, list | tuple) and any(isinstance(item, Mapping) for item in obj)


def is_dataset(obj: object) -> bool:
    """True for a Dataset and an IterableDataset; a dict of datasets is an ArgumentError."""
    datasets: Any = sys.modules.get("datasets")
    if not hasattr(datasets, "IterableDatasetDict"):
        return False
    if isinstance(obj, datasets.DatasetDict | datasets.IterableDatasetDict):
        splits: Any = obj
        hint = f"name one of its splits, such as dataset[{next(iter(splits), 'train')!r}]"
        raise argument_error(f"a {type(obj).__name__} contains several datasets", hint)
    return isinstance(obj, datasets.Dataset | datasets.IterableDataset)


def plain(value: Any) -> Any:
    """Converts an object that the compiled part does not support; NotImplemented for an unsupported
    object. Dataclasses, named tuples and numpy records become dicts; numpy's times become Python's,
    if these can hold them exactly."""
    if hasattr(value, "__arrow_array__"):  # of pandas, whose nulls numpy would make NaN
        return value.to_numpy(dtype=object, na_value=None).tolist()
    if type(value).__name__ == "NAType":  # pandas.NA
        return None
    if hasattr(value, "__dataclass_fields__") and not isinstance(value, type):
        return {name: getattr(value, name) for name in value.__dataclass_fields__}
    kind = getattr(getattr(value, "dtype", None), "kind", None)
    if kind == "V" and value.dtype.names:
        return _plain_records(value)
    return _plain_times(value) if kind in ("m", "M") else NotImplemented


def _plain_records(value: Any) -> Any:
    if value.ndim > 0:
        return [_plain_records(item) for item in value]
    return {name: value[name] for name in value.dtype.names}


def _plain_times(value: Any) -> Any:
    import numpy as np

    items = np.asarray(value)
    unit = np.datetime_data(items.dtype)[0]
    made = items.astype(f"{items.dtype.kind}8[{'D' if unit == 'D' else 'us'}]")
    flat = made.ravel().tolist()
    is_exact = np.array_equal(made.astype(items.dtype), items, equal_nan=True)
    is_known = not any(isinstance(item, int) for item in flat)  # within Python's years
    return made.tolist() if is_exact and is_known and unit != "generic" else NotImplemented


def array_of(values: list[Any] | tuple[Any, ...] | range, name: str | None = None) -> Array:
    return cast("Array", _core.array_of_objects(list(values), False, name))


def batch_of_rows(rows: list[Any] | tuple[Any, ...]) -> RecordBatch:
    return cast("RecordBatch", _core.array_of_objects(list(rows), True, None))
