"""The exceptions, with the place of the error."""

from __future__ import annotations

import errno
import functools
import os
from typing import TYPE_CHECKING, Any

from .public import public, public_in
from .text import name_of_url, printable, without_secrets

if TYPE_CHECKING:
    from collections.abc import Callable

_FIELDS = ("code", "file", "record", "offset", "path", "hint", "line", "column")


@public
class Error(Exception):
    """The base of all failures that Columnstone reports.

    The text says where the error is, what was found, what was expected, and what to do. The
    attributes contain the same, or None where it is unknown:

    - code: the name of the status, such as "CORRUPT"
    - help: the place of the documentation for errors of this code: "docs/errors.md#corrupt"
    - file: the path of the file, or the name of the file object, as printable text: control
      characters and bytes that are not UTF-8 are escaped, very long names are shortened. `filename`
      of a NotFoundError or FileError about a single path is the path itself.
    - record: the number of the record in the file, from 0; for `encode`, the row
    - offset: the first byte of that record in the uncompressed stream
    - path: the feature, "a.b" if it is nested
    - hint: what to do
    - line, column: the position in a text, such as a schema; from 1, columns in bytes
    """

    code: str | None = None
    file: str | None
    record: int | None
    offset: int | None
    path: str | None
    hint: str | None
    line: int | None
    column: int | None

    def __init__(
        self,
        message: str = "",
        *,
        code: str | None = None,
        file: str | None = None,
        record: int | None = None,
        offset: int | None = None,
        path: str | None = None,
        hint: str | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        super().__init__(printable(without_secrets(message), "\n"))
        self.code = code if code is not None else type(self).code
        file = None if file is None else name_of_url(file)
        self.file = None if file is None else printable(file)
        self.record = record
        self.offset = offset
        self.path = path
        self.hint = None if hint is None else printable(hint, "\n")
        self.line = line
        self.column = column
        itself: Exception = self
        if isinstance(itself, OSError):
            itself.filename = file
            if isinstance(itself, FileNotFoundError) and file is not None:
                itself.errno = errno.ENOENT
                itself.strerror = os.strerror(errno.ENOENT)

    @property
    def help(self) -> str | None:
        """Where the documentation explains errors of this code."""
        return None if self.code is None else f"docs/errors.md#{self.code.lower()}"

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""

    def __reduce__(self) -> tuple[Callable[..., Error], tuple[Any, ...]]:
        fields = {name: getattr(self, name) for name in _FIELDS}
        return functools.partial(type(self), **fields), (str(self),)


@public_in("columnstone.errors")
class DataWarning(UserWarning):
    """Reading has skipped something that may be a loss: an Arrow stream without its end marker may
    have been truncated between two batches. Issued once per file of a source."""


@public_in("columnstone.errors")
class ArgumentError(Error, ValueError):
    """An argument is out of range or of the wrong kind."""

    code: str | None = "INVALID_ARGUMENT"


@public_in("columnstone.errors")
class NotFoundError(Error, FileNotFoundError):
    """A file, a column or a format does not exist."""

    code: str | None = "NOT_FOUND"


@public_in("columnstone.errors")
class DeadlineError(Error, TimeoutError):
    """The deadline of the call has passed."""

    code: str | None = "TIMEOUT"


@public_in("columnstone.errors")
class IndexingError(ArgumentError, IndexError):
    """An index does not fit a structured tensor: it is out of range, there are too many indices, or
    rows and mask differ in length."""


@public_in("columnstone.errors")
class FieldNotFoundError(NotFoundError, KeyError):
    """A struct has no field with that name."""

    def __init__(self, message: str = "", **fields: Any) -> None:
        if message.startswith("feature '"):
            message = "field" + message.removeprefix("feature")
        super().__init__(message, **fields)


@public_in("columnstone.errors")
class FileError(Error, OSError):
    """Reading or writing a file failed."""

    code: str | None = "IO"


@public_in("columnstone.errors")
class CorruptError(Error):
    """The data is damaged: a wrong CRC, a truncated file, bytes that are not a tf.Example."""

    code: str | None = "CORRUPT"


@public_in("columnstone.errors")
class SchemaError(Error):
    """The data does not match the schema, or the schema itself is invalid."""

    code: str | None = "SCHEMA"


@public_in("columnstone.errors")
class FormatError(Error):
    """The file has another format than expected."""

    code: str | None = "FORMAT"


@public_in("columnstone.errors")
class LimitError(Error):
    """A limit against hostile input was exceeded, such as the size of a record or the ratio of
    decompression."""

    code: str | None = "LIMIT"


@public_in("columnstone.errors")
class UnsupportedError(Error):
    """A value or a request is not supported."""

    code: str | None = "UNSUPPORTED"


@public_in("columnstone.errors")
class StateError(Error):
    """The object is closed, or its input can be read only once and was already read."""

    code: str | None = "STATE"


def name_file(error: Error, path: bytes) -> None:
    """Sets the `filename` of an OSError about this path to a name that can be opened: `file` is for
    people."""
    itself: Exception = error
    if isinstance(itself, OSError) and error.file is not None:
        itself.filename = os.fsdecode(path)


def argument_error(message: str, hint: str = "") -> ArgumentError:
    """An ArgumentError with the hint in its text, in the form of the library's errors."""
    return ArgumentError(f"{message} ({hint})" if hint else message, hint=hint or None)
