"""What goes wrong, by kind: every error is a columnstone.Error, and tells where."""

from __future__ import annotations

from ._base.errors import (
    ArgumentError,
    CorruptError,
    DataWarning,
    DeadlineError,
    FieldNotFoundError,
    FileError,
    FormatError,
    IndexingError,
    LimitError,
    NotFoundError,
    SchemaError,
    StateError,
    UnsupportedError,
)

__all__ = [
    "ArgumentError",
    "CorruptError",
    "DataWarning",
    "DeadlineError",
    "FieldNotFoundError",
    "FileError",
    "FormatError",
    "IndexingError",
    "LimitError",
    "NotFoundError",
    "SchemaError",
    "StateError",
    "UnsupportedError",
]
