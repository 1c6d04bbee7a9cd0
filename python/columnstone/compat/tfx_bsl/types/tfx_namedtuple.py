"""tfx_bsl.types.tfx_namedtuple: named tuples whose subclasses pickle correctly when PySpark is
imported. (PySpark pickles subclasses of classes from collections.namedtuple as those classes.)"""

from __future__ import annotations

import collections
import sys
import typing
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable


def namedtuple(typename: str, field_names: str | Iterable[str], *, rename: bool = False) -> Any:
    """collections.namedtuple with the caller's module."""
    return _of_caller(collections.namedtuple(typename, field_names, rename=rename))


class TypedNamedTuple:
    """typing.NamedTuple with the caller's module: TypedNamedTuple("Point", [("x", int)])."""

    __slots__ = ()

    def __new__(cls, typename: str, fields: Any = None) -> Any:
        return _of_caller(typing.NamedTuple(typename, fields))


def _of_caller(kind: Any) -> Any:
    kind.__reduce__ = _reduce  # PySpark leaves alone what has one
    kind.__module__ = sys._getframe(2).f_globals.get("__name__", "__main__")
    return kind


def _reduce(self: Any) -> tuple[type, tuple[Any, ...]]:
    return type(self), tuple(self)
