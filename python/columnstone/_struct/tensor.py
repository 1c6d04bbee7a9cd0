"""The classes of nested tensors: structured tensors and leaf tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import _core
from .._base.public import public
from .._core import NestedTensor

if TYPE_CHECKING:
    from collections.abc import Iterator


class _Nested(NestedTensor):
    """What is written in Python of both."""

    __slots__ = ()

    def __iter__(self) -> Iterator[StructuredTensor | LeafTensor]:
        for i in range(len(self)):
            yield self[i]


@public
class StructuredTensor(_Nested):
    """Structs of one type, in any number of dimensions."""

    __slots__ = ()

    def field_value(self, name: str) -> StructuredTensor | LeafTensor:
        """The field of that name (or path), of every struct: its dimensions are those of this
        tensor and, below them, the field's own."""
        return self[name]


@public
class LeafTensor(_Nested):
    """Numbers, strings or other plain values, in any number of dimensions, dense or ragged; any of
    them may be null."""

    __slots__ = ()


_core.nested_classes(StructuredTensor, LeafTensor)
