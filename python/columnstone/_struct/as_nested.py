"""What stands for a nested tensor where one is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from .. import _core
from .._arrow.table import array
from .._core import NestedTensor

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeAlias

    # A StructuredTensor or a LeafTensor: a module that they use cannot name them.
    Nested: TypeAlias = Any


def as_nested(obj: object) -> Nested:
    """A nested tensor as it is; arrays of Arrow and numpy, and lists, as tensors whose outermost
    dimension they are; a value of its own as a scalar."""
    if isinstance(obj, NestedTensor):
        return cast("Nested", obj)
    if hasattr(obj, "__arrow_c_array__") or hasattr(obj, "__arrow_c_stream__"):
        return cast("Nested", _core.nested(array(cast("Any", obj)), False))
    if isinstance(obj, list | tuple):
        return cast("Nested", _core.nested(array(obj), False))
    if getattr(obj, "ndim", 0) > 0:
        return cast("Nested", _core.nested(array(cast("Any", obj)), False))
    return cast("Nested", _core.nested(array([obj]), True))


def all_nested(items: Iterable[object]) -> tuple[Nested, ...]:
    return tuple(as_nested(item) for item in items)
