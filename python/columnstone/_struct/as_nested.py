"""What stands for a nested tensor where one is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from .. import _core
from .._arrow.table import array
from .._core import NestedTensor

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .._core import Nested


def as_nested(obj: object) -> Nested:
    """A nested tensor as it is; arrays of Arrow and numpy, and lists, as tensors whose outermost
    dimension they are; a value of its own as a scalar."""
    if isinstance(obj, NestedTensor):
        return cast("Nested", obj)
    if hasattr(obj, "__arrow_c_array__") or hasattr(obj, "__arrow_c_stream__"):
        return _core.nested(array(cast("Any", obj)), False)
    if isinstance(obj, list | tuple):
        return _core.nested(array(obj), False)
    if getattr(obj, "ndim", 0) > 0:
        return _core.nested(array(cast("Any", obj)), False)
    return _core.nested(array([obj]), True)


def all_nested(items: Iterable[object]) -> tuple[Nested, ...]:
    return tuple(as_nested(item) for item in items)
