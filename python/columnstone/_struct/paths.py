"""Fields that come, go and move within structured tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from .. import _core
from .._arrow.objects import array_of
from .._arrow.table import array
from .._base.errors import argument_error
from .._core import NestedTensor

if TYPE_CHECKING:
    from collections.abc import Mapping

Path: TypeAlias = "str | tuple[str, ...]"
Tensor = TypeVar("Tensor", bound="PathOperations")


class PathOperations(NestedTensor):
    """What a structured tensor does with the fields at its paths.

    A path is a str, whose dots divide its steps unless a field's name has them, or a tuple of
    steps. All methods give a new tensor, which shares with this one what has not changed.
    """

    __slots__ = ()

    def with_updates(
        self: Tensor, mapping: Mapping[Path, Any] | None = None, /, **fields: Any
    ) -> Tensor:
        """The tensor with fields added, or given other values, by their paths.

        A value is a nested tensor, Arrow data, a numpy array or a list, and its dimensions begin
        with those of the structs that get it: ArgumentError, with the row, where they differ (null
        lists count as empty). A scalar is the value of all structs: bool, int, float, str, bytes,
        a dict, or a tensor of rank 0. A function is called with the field as it is, and gives the
        value.

        Fields keep their places, new ones come last. KeyError for structs that there are not.
        """
        updates: dict[Path, Any] = dict(mapping or {})
        updates.update(fields)
        values = tuple(self._value_at(path, value) for path, value in updates.items())
        return _core.nested_update(self, tuple(updates), values)  # type: ignore[no-any-return]

    def without(self: Tensor, *paths: Path) -> Tensor:
        """The tensor without the fields at these paths. KeyError for what is not there."""
        return _core.nested_update(self, paths, (None,) * len(paths))  # type: ignore[no-any-return]

    def with_only(self: Tensor, *paths: Path) -> Tensor:
        """The tensor with the fields at these paths alone, in this order; of structs on the way
        only what a path leads to. KeyError for what is not there."""
        return _core.nested_only(self, paths)  # type: ignore[no-any-return]

    def _value_at(self, path: Path, value: Any) -> NestedTensor:
        return as_value(value(self[path]) if callable(value) else value)


def as_value(value: Any) -> NestedTensor:
    """What somebody gives as the values of a field, as a nested tensor."""
    if isinstance(value, NestedTensor):
        return value
    if value is None:
        hint = (
            "without() removes a field; an array of nulls has a type, such as pa.nulls(n, 'int8')"
        )
        raise argument_error("None has no type", hint)
    if isinstance(value, list | tuple | range) or _has_rows(value):
        return _core.nested(array(value), False)  # type: ignore[no-any-return]
    plain = value.item() if hasattr(value, "item") else value  # a scalar of numpy or torch
    return _core.nested(array_of([plain]), True)  # type: ignore[no-any-return]


def _has_rows(value: Any) -> bool:
    """True for arrays, but for those of no dimension."""
    if getattr(value, "shape", None) == ():
        return False
    return any(
        hasattr(value, name) for name in ("__arrow_c_array__", "__arrow_c_stream__", "__array__")
    )
