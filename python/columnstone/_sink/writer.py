"""TFRecordWriter, Writer and write: records and record batches to files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from .. import _core
from .._arrow.as_arrow import as_arrow
from .._arrow.objects import is_arrow, is_rows
from .._base.arguments import text
from .._base.errors import Error, FileError, argument_error, name_file
from .._base.files import check_binary, name_of, path_bytes
from .._base.public import public, public_in
from .._base.text import name_of_url
from .._formats import registry
from .._formats.names import named_by
from .._formats.options import core_options
from .._io.remote import RemoteOutput
from .._io.urls import is_remote
from .options import sink_options

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import TracebackType
    from typing import Any, Self, TypeAlias, TypeGuard, Unpack

    from .._arrow.objects import Plain
    from .._base.files import WritableFile
    from .._core import (
        ArrowArrayExportable,
        ArrowSchemaExportable,
        ArrowStreamExportable,
        Buffer,
    )
    from .._formats.names import Compression
    from .._formats.options import FormatOptions
    from .._message.descriptors import DescriptorsLike
    from .._message.options import CoreMessage, MessageLike
    from .._message.plain import PlainData
    from .._schema.schema import SchemaLike
    from .._source.base import SourceBase

    Exportable: TypeAlias = "ArrowStreamExportable | ArrowArrayExportable"
    Batches: TypeAlias = (
        "Exportable | Iterable[Exportable] | Plain | Iterable[dict[str, Any] | Plain]"
    )


class _Output:
    """The common part of the writers: at the end of a `with` block, the output is completed or
    discarded."""

    __slots__ = ("_core", "_name", "_remote")
    _core: _core.TFRecordWriter | _core.Sink
    _name: str
    _remote: RemoteOutput | None

    def close(self) -> None:
        raise NotImplementedError

    def abort(self) -> None:
        """Discards the output: no file is left."""
        try:
            self._core.abort()
        finally:
            if self._remote is not None:
                self._remote.discard()

    @property
    def closed(self) -> bool:
        """Whether the writer was closed or aborted."""
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
        return f"<{type(self).__module__}.{type(self).__name__} {self._name!r}, {state}>"


@public_in("columnstone.codec")
class TFRecordWriter(_Output):
    """Writes a file of records. Use it in a `with` block: an exception inside leaves no file.

    file: a path, "-" for standard output, a URL (opened by fsspec), or a binary file object with
        `write`, which stays open. A path gets its final name only when the file is complete.
    compression: "none", "gzip", "zlib" or "zstd"; None: from the name (.gz, .zlib or .zz, .zst);
        "none" for file objects.
    level: of the compression; 0 is the codec's default.
    container: "tfrecord"; "delimited", with the size of each record as a varint before it, as
        protobuf's writeDelimitedTo writes it; or "lines", one line per record.

    Raises FileError if the file cannot be written; an exception of a file object is raised
    unchanged.

    >>> with cst.codec.TFRecordWriter("raw.tfrecord") as writer:
    ...     writer.write(b"one record")
    >>> cst.open("raw.tfrecord", format="raw").head().to_pydict()
    {'record': [b'one record']}
    """

    __slots__ = ()
    _core: _core.TFRecordWriter

    def __init__(
        self,
        file: str | os.PathLike[str] | WritableFile,
        *,
        compression: Compression | None = None,
        level: int = 0,
        container: str | None = None,
    ) -> None:
        path, opened = _output(file)
        self._name = os.fsdecode(path)
        self._remote = opened if isinstance(opened, RemoteOutput) else None
        if self._remote is not None:
            _, compression = named_by(self._name, "example", compression)
        options = sink_options(
            compression=_compression(compression, opened), level=level, container=container
        )
        try:
            self._core = _core.TFRecordWriter(path, opened, options)
        except Error as error:
            if opened is None:
                name_file(error, path)
            raise

    def write(self, record: Buffer) -> None:
        """Writes one record."""
        self._core.write(record)

    def write_batch(self, records: ArrowArrayExportable | ArrowStreamExportable) -> None:
        """Writes all records of an Arrow binary array without nulls, such as the result of an
        encoder.

        It also accepts a batch, a table, a source or another stream with one such column, such as
        `cst.open(paths, format="raw")`.
        """
        self._core.write_arrow(records)

    def close(self) -> None:
        """Completes the file and gives it its final name. A second close does nothing."""
        if self._core.closed:
            return
        self._core.finish()
        if self._remote is not None:
            self._remote.commit()


@public
class Writer(_Output):
    """Writes record batches to a file of any format. Use it in a `with` block: an exception inside
    leaves no file.

    file: a path, "-" for standard output, a URL (opened by fsspec), or a binary file object with
        `write`, which stays open. A path gets its final name only when the file is complete.
    format: "example", "sequence_example", "message" (any protobuf message), "raw" (one binary
        column), "csv", "json" (lines), "arrow" (the file format), "arrows" (the stream format),
        "parquet" or a plug-in's; None: from the ending of the name. Required for file objects.
    schema: of the data (TFMD), for formats that need one.
    compression: of TFRecords, CSV and JSON lines: "none", "gzip", "zlib" or "zstd"; None: from the
        name; "none" for file objects.
    level: of the compression; 0 is the codec's default.
    lossy: round values that the format cannot hold exactly, instead of raising.
    threads: with 2 or more, compression and writing run in the background.
    num_shards: write this many files, "<path>-00000-of-00010" (the number comes before the endings
        of the name); batches are distributed to them in turn.
    shard_bytes: start a new file of this kind when one has reached this size; rows keep their
        order.
    container: of "example", "sequence_example", "message" and "raw": "tfrecord", "delimited"
        (protobuf's writeDelimitedTo) or "lines" (a record per line). None: from the ending of the
        name, otherwise "tfrecord".
    message, descriptors: the type of the messages, as for `encoder`. They imply the format
        "message".
    message_options: for messages, {"form": ..., "unknown_fields": ...}, as for `encoder`.
    format_options: options of the format, by name. CSV: delimiter, header (False: no line of
        names), multivalent (columns whose lists are written as several values in a cell),
        secondary_delimiter (between these values, "|" by default; if it is given, the lists of all
        columns are written so), keep_blank_lines (a row that consists of one null becomes a blank
        line) and comment (rows never look like comments). Avro: avro_schema (JSON, or a JSON file),
        avro_codec ("deflate", "null", "zstandard", "snappy", "bzip2" or "xz") and avro_block_size
        (bytes of values per block); for records in a container avro_framing and avro_schema_id, as
        for `encoder`. sequence_example: sequence_column, the name of the struct column with the
        feature lists.

    The first batch determines the columns; a later batch with other columns is a SchemaError.
    Raises NotFoundError for an unknown format, UnsupportedError with row and column for a value
    that the format cannot hold, FileError if the file cannot be written; an exception of a file
    object is raised unchanged.

    >>> with cst.Writer("ids.csv") as writer:
    ...     writer.write(cst.record_batch({"id": [1, 2]}))
    2
    >>> cst.open("ids.csv").head().to_pydict()
    {'id': [1, 2]}
    """

    __slots__ = ("_plain", "num_rows")
    _core: _core.Sink
    _plain: PlainData | None  # of messages
    num_rows: int

    def __init__(
        self,
        file: str | os.PathLike[str] | WritableFile,
        format: str | None = None,
        *,
        schema: SchemaLike | None = None,
        compression: Compression | None = None,
        level: int = 0,
        lossy: bool = False,
        threads: int = 1,
        num_shards: int | None = None,
        shard_bytes: int | None = None,
        container: str | None = None,
        message: MessageLike | None = None,
        descriptors: DescriptorsLike | None = None,
        message_options: dict[str, Any] | None = None,
        **format_options: Unpack[FormatOptions],
    ) -> None:
        path, opened = _output(file)
        core_message = _message(format, message, descriptors, message_options)
        self._plain = None
        if core_message is not None:
            from .._message.plain import PlainData

            format = "message"
            self._plain = PlainData(core_message)
        self._name = os.fsdecode(path)
        self._remote = opened if isinstance(opened, RemoteOutput) else None
        if self._remote is not None:
            format, compression = named_by(self._name, format, compression)
        if opened is not None and (num_shards or shard_bytes):
            raise argument_error(
                "only output with a path can be divided into shards", "name a path"
            )
        self.num_rows = 0
        options = sink_options(
            format=format,
            compression=_compression(compression, opened),
            level=level,
            schema=schema,
            lossy=lossy,
            format_options=core_options("Writer", format_options, text("format", format)),
            threads=threads,
            num_shards=num_shards,
            shard_bytes=shard_bytes,
            container=container,
            message=core_message,
        )
        make = registry.sink_of(format, path) or _core.Sink
        try:
            self._core = make(path, opened, options)
        except Error as error:
            if opened is None:
                name_file(error, path)
            raise

    def _overwrite(self, overwrite: bool) -> None:
        """The same without replacing: a path that somebody else has created meanwhile is a
        FileError in close(). Call it before the first batch."""
        self._core.keep_existing(not overwrite)

    def begin(self, arrow_schema: ArrowSchemaExportable) -> None:
        """Opens the file for batches of this Arrow schema. The first `write` does this too; call it
        only if there may be no batch at all."""
        self._core.begin(arrow_schema)

    def write(self, batches: Batches) -> int:
        """Writes a batch, a table, a source, any other object with __arrow_c_stream__, a Hugging
        Face dataset, rows (a list of dicts), columns (a dict), or an iterable of these, and returns
        the number of rows. The dicts of an iterator are rows; they are collected first."""
        rows = self._write(batches)
        self.num_rows += rows
        return rows

    def _write(self, batches: Batches) -> int:
        if _is_source(batches):
            # Its own iterator raises exceptions that a stream can only report as text.
            self._core.begin(batches.arrow_schema)
            return sum(self._core.write(batch) for batch in batches)
        plain = batches if self._plain is None else self._plain.prepared(batches)
        exported: Any = as_arrow(plain)
        if is_arrow(exported):
            return self._core.write(exported)
        if isinstance(batches, str | bytes) or not hasattr(batches, "__iter__"):
            raise TypeError(
                "expected an object with __arrow_c_stream__ or __arrow_c_array__, rows, columns, "
                f"or an iterable of these, not {type(batches).__name__}"
            )
        rows = 0
        items: Iterator[Any] = iter(exported)
        for item in items:
            if is_rows([item]):  # of an iterator: their types are known when all are there
                return rows + self._write([item, *items])
            rows += self._write(item)
        return rows

    def close(self) -> None:
        """Completes the file and gives it its final name. A second close does nothing. StateError
        if nothing was written, because the columns are unknown then."""
        if self._core.closed:
            return
        try:
            self._core.finish()
        except BaseException:
            self.abort()
            raise
        if self._remote is not None:
            self._remote.commit()


@public
def write(
    batches: Batches,
    file: str | os.PathLike[str] | WritableFile,
    format: str | None = None,
    *,
    overwrite: bool = False,
    **options: Any,
) -> int:
    """Writes data to a file and returns the number of rows. The data is a source, a table, a data
    frame, any object with __arrow_c_stream__, Python rows or columns, a Hugging Face dataset, or an
    iterable of batches. file, format and options are those of `Writer`. Memory use does not depend
    on the size of the data.

    overwrite: replace an existing file. Without it, that is a FileError (a Writer always replaces
        it).

    >>> cst.write({"id": [1, 2]}, "ids.tfrecord")
    2
    >>> cst.open("ids.tfrecord").head().to_pydict()
    {'id': [[1], [2]]}
    """
    if not overwrite:
        refuse_to_overwrite(file, bool(options.get("num_shards") or options.get("shard_bytes")))
    with Writer(file, format, **options) as writer:
        writer._overwrite(overwrite)
        writer.write(batches)
    return writer.num_rows


def refuse_to_overwrite(file: object, is_sharded: bool) -> None:
    """FileError if the output, or the first shard of it, exists. A pipe, a device or another
    special file may be written to."""
    if is_remote(file):
        if RemoteOutput(str(file)).exists():
            raise _exists(str(file))
    elif isinstance(file, str | bytes | os.PathLike):
        path = path_bytes(file)
        if _core.sink_exists(path, is_sharded):
            raise _exists(os.fsdecode(path))


def _exists(name: str) -> FileError:
    hint = "name an output that does not exist, or give overwrite=True"
    return FileError(f"{name_of_url(name)}: the output exists ({hint})", file=name, hint=hint)


def _is_source(batches: Batches) -> TypeGuard[SourceBase]:
    from .._source.base import SourceBase

    return isinstance(batches, SourceBase)


def _output(file: object) -> tuple[bytes, WritableFile | None]:
    """A path; or the name of a file object, and the object."""
    if is_remote(file):
        remote = RemoteOutput(str(file))
        return name_of(remote), remote
    if isinstance(file, str | bytes | os.PathLike):
        return path_bytes(file), None
    if not callable(getattr(file, "write", None)):
        raise TypeError(f"expected a path or a file object with write(), not {type(file).__name__}")
    check_binary(file)
    opened: Any = file
    return name_of(file), opened


def _compression(compression: Compression | None, opened: object | None) -> str:
    """None: from the name, and "none" for file objects."""
    if compression is not None:
        return compression
    return "by_name" if opened is None else "none"


def _message(
    format: str | None,
    message: MessageLike | None,
    descriptors: DescriptorsLike | None,
    options: dict[str, Any] | None,
) -> CoreMessage | None:
    """The arguments about messages as the compiled part takes them; None if there are none."""
    if message is None and descriptors is None and options is None:
        return None
    if format not in (None, "message"):
        raise argument_error(
            f"message is given, but the format is {ascii(format)[:40]}", 'format="message"'
        )
    from .._message.options import encoding_message

    return encoding_message(message, descriptors, options or {})
