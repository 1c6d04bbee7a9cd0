"""tfx_bsl.types_compat: Beam's type hints under the names of typing."""

from __future__ import annotations

from typing import Any as _Any

from apache_beam.typehints import (
    Any,
    Dict,
    Generator,
    Iterable,
    Iterator,
    List,
    Optional,
    Set,
    Tuple,
    TypeVariable,
    Union,
)

# Types for which Beam has no hint: None, as in tfx_bsl.
Callable: _Any = None
FrozenSet: _Any = None
Mapping: _Any = None
Pattern: _Any = None
Sequence: _Any = None
Text = Any
TypeVar = TypeVariable

__all__ = [
    "Any",
    "Callable",
    "Dict",
    "FrozenSet",
    "Generator",
    "Iterable",
    "Iterator",
    "List",
    "Mapping",
    "Optional",
    "Pattern",
    "Sequence",
    "Set",
    "Text",
    "Tuple",
    "TypeVar",
    "TypeVariable",
    "Union",
]
