"""What can go wrong, and where: the exceptions."""

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

    The text says where, what was found, what was expected, and what to do; the same as fields, each
    None when it is unknown:

    - code: name of the status, such as "CORRUPT"
    - help: where the documentation explains errors of this code: "docs/errors.md#corrupt"
    - file: path of the file, or name of the file object, as text to print: control characters and
      bytes that are not UTF-8 are escaped, a very long one is cut. `filename` of a NotFoundError or
      FileError about a single path is the path itself.
    - record: number of the record within the file, from 0; for `encode`, the row
    - offset: first byte of that record in the uncompressed stream
    - path: the feature, nested ones as "a.b"
    - hint: what to do
    - line, column: place in a text, such as a schema; from 1, columns in bytes
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
    """Reading has passed over something that may be a loss: an Arrow stream without its end marker,
    as a stream is that was cut between two batches. Once per file of a source."""


@public_in("columnstone.errors")
class ArgumentError(Error, ValueError):
    """An argument is out of its range or of a wrong kind."""

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
    """An index does not fit a structured tensor: it is out of range, there are too many, or rows
    have another length than a mask."""


@public_in("columnstone.errors")
class FieldNotFoundError(NotFoundError, KeyError):
    """A struct has no field of that name."""

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
    """The data and the schema disagree, or the schema itself is wrong."""

    code: str | None = "SCHEMA"


@public_in("columnstone.errors")
class FormatError(Error):
    """The file is of another format than expected."""

    code: str | None = "FORMAT"


@public_in("columnstone.errors")
class LimitError(Error):
    """A limit against runaway input is exceeded: the size of a record, the ratio of inflation."""

    code: str | None = "LIMIT"


@public_in("columnstone.errors")
class UnsupportedError(Error):
    """A value or a request cannot be expressed here."""

    code: str | None = "UNSUPPORTED"


@public_in("columnstone.errors")
class StateError(Error):
    """The object is closed, or its input can be read only once and has been read."""

    code: str | None = "STATE"


def name_file(error: Error, path: bytes) -> None:
    """Gives an OSError about this path the name that can be opened: `file` is for people."""
    itself: Exception = error
    if isinstance(itself, OSError) and error.file is not None:
        itself.filename = os.fsdecode(path)


def argument_error(message: str, hint: str = "") -> ArgumentError:
    """An ArgumentError with the hint in the text, as the library words its own."""
    return ArgumentError(f"{message} ({hint})" if hint else message, hint=hint or None)
