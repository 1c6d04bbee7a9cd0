"""Converts arguments to structured tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from .. import _core
from .._arrow.objects import is_arrow
from .._arrow.table import array as array_of
from .._base.errors import argument_error
from .._core import StructuredBase, Tensor
from .._tensor.tensor import RaggedTensor
from .constant import array_of_ndarray, as_ndarray, constant, from_arrow, uniform_lists
from .spec import LeafSpec

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .._core import AnyStructured, Array

_SPLITS = LeafSpec([None], "int64", nullable=False)


def as_structured(value: Any) -> AnyStructured:
    """A structured tensor unchanged; other tensors, and arrays of numpy, Arrow and other libraries,
    as tensors whose outermost dimension is that of the array, without a copy of numbers; anything
    else as with `constant`."""
    if isinstance(value, StructuredBase):
        return cast("AnyStructured", value)
    if isinstance(value, Tensor):
        if value.ndim == 0:
            return constant(value.tolist())
        return _core.structured(uniform_lists(array_of(cast("Any", value)), value.shape), False)
    if isinstance(value, RaggedTensor):
        array = as_structured(value.values)._array
        for splits in reversed(value.row_splits):
            array = lists_of(array, array_of(cast("Any", splits)))
        return _core.structured(array, False)
    if is_arrow(value):
        return from_arrow(value)
    values = as_ndarray(value)
    if values is not None:
        return _core.structured(array_of_ndarray(values), False)
    return constant(value)


def all_structured(items: Iterable[object]) -> tuple[AnyStructured, ...]:
    return tuple(as_structured(item) for item in items)


def lists_of(values: Array, row_splits: Any) -> Array:
    """Values as lists, without a copy of the values. Row splits of an array that can be written to
    later are copied, because they determine which memory is read. ArgumentError for invalid row
    splits."""
    writable = None if is_arrow(row_splits) else as_ndarray(row_splits)
    splits = as_structured(row_splits if writable is None else writable.copy())
    if splits.is_row or splits.rank != 1:
        raise argument_error(f"row_splits has rank {splits.rank}, expected a vector of int")
    array = splits._array
    if array.schema.format != "l" or array.null_count > 0:
        array, _ = _core.nested_of_objects(array.to_pylist(), _SPLITS._arrow(0))
    return _core.array_of_lists(values, array, 0, 0, None)
