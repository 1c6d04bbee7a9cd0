"""Python file objects as inputs and outputs."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from .errors import NotFoundError, argument_error

TO_END = 2**63 - 1  # the end of a split of a file whose size is not known

if TYPE_CHECKING:
    from typing import Protocol, TypeAlias

    from .._core import Buffer

    class HasRead(Protocol):
        """A binary file object; readinto, seek, tell and seekable are used if it has them."""

        def read(self, size: int, /) -> Buffer: ...

    class HasReadinto(Protocol):
        """A binary file object; seek, tell and seekable are used if it has them."""

        def readinto(self, buffer: memoryview, /) -> int: ...

    ReadableFile: TypeAlias = HasRead | HasReadinto

    class WritableFile(Protocol):
        """A binary file object that writes."""

        def write(self, data: bytes, /) -> int | None: ...

    Path: TypeAlias = "str | bytes | os.PathLike[str] | os.PathLike[bytes]"


class PlacedFile(io.RawIOBase):
    """A file that reads from a position of its own; subclasses define its end."""

    _at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if whence == os.SEEK_CUR:
            offset += self._at
        elif whence == os.SEEK_END:
            offset += self._end()
        self._at = offset
        return offset

    def limit(self, max_inflation: int | None) -> None:
        """The maximum size after decompression, for files that decompress; see open."""

    def _end(self) -> int:
        raise NotImplementedError


_PATHS = (str, bytes, os.PathLike)


def is_path(item: object) -> bool:
    return isinstance(item, _PATHS)


def path_bytes(item: object) -> bytes:
    """A path for the system. It must not be empty or contain NUL."""
    path = os.fsencode(item)  # type: ignore[arg-type]
    if not path:
        hint = "name a file, or - for standard input and output"
        raise NotFoundError(f"the path is empty ({hint})", file="", hint=hint)
    if b"\0" in path:
        raise argument_error("the path contains a NUL character", "no file name can contain NUL")
    return path


def is_file(item: object) -> bool:
    return hasattr(item, "read") or hasattr(item, "readinto")


def check_binary(file: object) -> None:
    """TFRecords are bytes: a file in text mode is refused immediately."""
    if isinstance(file, io.TextIOBase):
        raise argument_error("the file object is in text mode", "open it in binary mode")


def name_of(file: object) -> bytes:
    """The name of the file object in errors."""
    name = getattr(file, "name", None)
    if isinstance(name, str | bytes) and name:
        return os.fsencode(name).split(b"\0")[0]
    return f"<{type(file).__name__}>".encode("utf-8", "replace")


def in_memory(name: str, data: Buffer = b"") -> io.BytesIO:
    """A file object with a name for errors."""
    file = io.BytesIO(data)
    file.name = name
    return file


def can_seek(file: object) -> bool:
    """True if the file can be read again from its present position."""
    seekable = getattr(file, "seekable", None)
    return bool(seekable is not None and hasattr(file, "tell") and seekable())


def as_inputs(
    paths: object,
) -> tuple[tuple[bytes, ...] | None, tuple[tuple[object, bytes, bool], ...] | None]:
    """The paths argument of open, as (paths, None) or (None, file objects)."""
    if is_path(paths) or is_file(paths):
        items: list[object] = [paths]
    elif isinstance(paths, Iterable) and not isinstance(paths, dict):
        items = list(paths)
    else:
        raise TypeError(
            "expected a path, a file object, an object with __arrow_c_stream__, or a list of "
            f"these, not {type(paths).__name__}"
        )
    if not items:
        raise argument_error("the list of files is empty")
    if all(is_path(item) for item in items):
        return tuple(path_bytes(item) for item in items), None
    for i, item in enumerate(items):
        if not is_path(item) and not is_file(item):
            raise TypeError(
                f"paths[{i}] is {type(item).__name__}, expected a path or a file object"
            )
    if not all(is_file(item) for item in items):
        raise argument_error("the list mixes paths and file objects", "open the paths yourself")
    for item in items:
        check_binary(item)
    return None, tuple((item, name_of(item), can_seek(item)) for item in items)
