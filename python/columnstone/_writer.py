"""TFRecordWriter: records to TFRecord files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from . import _core
from ._errors import Error, argument_error, name_file
from ._files import check_binary, name_of, path_bytes

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Literal, Self, TypeAlias

    from ._core import ArrowArrayExportable, ArrowStreamExportable, Buffer
    from ._files import WritableFile

    Compression: TypeAlias = Literal["none", "gzip", "zlib", "zstd"]

_COMPRESSIONS = {
    "none": _core.COMPRESSION_NONE,
    "gzip": _core.COMPRESSION_GZIP,
    "zlib": _core.COMPRESSION_ZLIB,
    "zstd": _core.COMPRESSION_ZSTD,
}


class TFRecordWriter:
    """Writes a TFRecord file. Use it in a `with` block: an exception inside leaves no file.

    file: a path, "-" for standard output, or a binary file object with `write`, which stays open. A
        path gets its final name only when the file is complete.
    compression: "none", "gzip", "zlib" or "zstd"; None goes by the name (.gz, .zlib or .zz, .zst),
        and is "none" for file objects.
    level: of the compression; 0 is the codec's usual one.

    Raises FileError if the file cannot be written; an exception of a file object comes out as it
    is.
    """

    __slots__ = ("_core", "_name")

    def __init__(
        self,
        file: str | os.PathLike[str] | WritableFile,
        *,
        compression: Compression | None = None,
        level: int = 0,
    ) -> None:
        if compression is not None and compression not in _COMPRESSIONS:
            choices = ", ".join(_COMPRESSIONS)
            raise argument_error(
                f"there is no compression {ascii(compression)[:40]}", f"one of {choices}"
            )
        code = _core.COMPRESSION_BY_NAME if compression is None else _COMPRESSIONS[compression]
        if isinstance(file, str | bytes | os.PathLike):
            path = path_bytes(file)
            self._name = os.fsdecode(path)
            try:
                self._core = _core.TFRecordWriter(path, None, code, level)
            except Error as error:
                name_file(error, path)
                raise
            return
        if not callable(getattr(file, "write", None)):
            raise TypeError(
                f"expected a path or a file object with write(), not {type(file).__name__}"
            )
        check_binary(file)
        code = _core.COMPRESSION_NONE if compression is None else code
        self._name = os.fsdecode(name_of(file))
        self._core = _core.TFRecordWriter(name_of(file), file, code, level)

    def write(self, record: Buffer) -> None:
        """Writes one record."""
        self._core.write(record)

    def write_batch(self, records: ArrowArrayExportable | ArrowStreamExportable) -> None:
        """Writes all records of an Arrow binary array without nulls, as ExampleEncoder gives.

        A batch, a table, a source or another stream with one such column will do, such as
        `cst.open(paths, format="raw")`.
        """
        self._core.write_arrow(records)

    def close(self) -> None:
        """Completes the file and gives it its name. A second close does nothing."""
        if not self._core.closed:
            self._core.finish()

    def abort(self) -> None:
        """Gives up: no file is left."""
        self._core.abort()

    @property
    def closed(self) -> bool:
        """True after close or abort."""
        return self._core.closed

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.abort()

    def __repr__(self) -> str:
        state = "closed" if self.closed else "open"
        return f"<columnstone.TFRecordWriter {self._name!r}, {state}>"
