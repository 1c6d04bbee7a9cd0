"""Parquet, written with pyarrow: rows are collected to row groups, for one file or for shards."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import stat
import sys
import threading
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

from ..._base.errors import (
    FileError,
    SchemaError,
    StateError,
    UnsupportedError,
    argument_error,
)
from ..._core import SINK_OPTIONS
from .encoder import Encoder, write_group
from .errors import first_line, pyarrow_errors, pyarrow_parquet
from .fitting import check_lists, check_names
from .footer import MAGIC

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from concurrent.futures import Future, ThreadPoolExecutor

    import pyarrow as pa

    from ..._core import ArrowSchemaExportable
    from .footer import Piece

_GROUP_BYTES = 24 << 20  # of Arrow data that is collected for row groups, of all shards
_GROUP_LEAST = 4 << 20  # of a shard
_GROUP_ROWS = 1 << 20
# Where the values of a column rarely repeat, the dictionary is abandoned at this size. Up to there
# it has cost time, and it remains in the file.
_DICTIONARY_BYTES = 256 << 10
# Encoded at a time. pyarrow looks at the size of a page after each of them: more rows of long
# strings would make pages too large.
_BATCH_ROWS = 4096
_SHARD_DIGITS = 5
_LONGEST_NAME = 255  # bytes


class ParquetSink:
    """The sink of Parquet, with the interface of the compiled Sink. One thread writes at a time,
    others wait. A forked child leaves the file to its parent."""

    _in_place = False  # True: writes the path itself, which the caller renames

    def __init__(self, name: bytes, file: Any, options: dict[str, Any]) -> None:
        compression, level = options["compression"], options["level"]
        num_shards: int = options["num_shards"] or 0
        shard_bytes: int = options["shard_bytes"] or 0
        if compression not in (None, "by_name", "none", "zstd"):
            raise argument_error(
                "Parquet is written with zstd or without compression", 'compression="none"'
            )
        if options["format_options"]:
            from ..options import refuse

            refuse("parquet", options["format_options"])
        if options["container"] is not None:
            hint = "leave the container out"
            text = f"the format parquet has no container ({hint})"
            raise UnsupportedError(text, hint=hint)
        if num_shards and shard_bytes:
            raise argument_error("num_shards and shard_bytes are both given", "give only one")
        if (file is not None or name == b"-") and (num_shards or shard_bytes):
            raise argument_error("a file object cannot be divided into shards", "name a path")
        self._path = os.fsdecode(name)
        self._file = sys.stdout.buffer if file is None and name == b"-" else file
        self._pq = pyarrow_parquet()
        self._options: dict[str, Any] = {
            "compression": "none" if compression == "none" else "zstd",
            "compression_level": level if level and compression != "none" else None,
            "write_statistics": True,
            "write_page_checksum": True,
            "dictionary_pagesize_limit": _DICTIONARY_BYTES,
            "write_batch_size": _BATCH_ROWS,
        }
        self._threads: int = options["threads"] or 1
        self._beside: ThreadPoolExecutor | None = None  # made by the first file
        self._num_shards = num_shards
        self._shard_bytes = shard_bytes
        self._group_bytes = max(_GROUP_LEAST, _GROUP_BYTES // max(1, num_shards))
        self._given: pa.Schema | None = None  # of the batches
        self._schema: pa.Schema | None = None  # of the file
        self._shards: list[_File] = []
        self._batches = 0
        self._keep = False
        self._lock = threading.Lock()
        self._busy = 0  # the thread that has the lock
        self._process = os.getpid()
        self.closed = False

    @contextlib.contextmanager
    def _entered(self) -> Iterator[None]:
        """As ext/base/lock.c for the compiled sinks."""
        if self._process != os.getpid():
            raise StateError("the writer is closed")
        if self._busy == threading.get_ident():
            raise StateError("the writer is already running in this call")
        with self._lock:
            self._busy = threading.get_ident()
            try:
                if self.closed:
                    raise StateError("the writer is closed")
                yield
            finally:
                self._busy = 0

    def keep_existing(self, keep: bool) -> None:
        self._keep = keep

    def begin(self, schema: ArrowSchemaExportable) -> None:
        with self._entered():
            self._begin(schema)

    def _begin(self, schema: ArrowSchemaExportable) -> None:
        import pyarrow as pa

        if self._schema is None:
            self._given = pa.schema(schema).remove_metadata()
            check_names(self._path, self._given)
            self._schema = pa.schema([field.with_type(_plain(field.type)) for field in self._given])
            _check_types(self._pq, self._path, self._schema)
            for _ in range(max(1, self._num_shards)):
                self._add_shard()

    def write(self, batches: object) -> int:
        with self._entered():
            return self._write(batches)

    def _write(self, batches: object) -> int:
        import pyarrow as pa

        reader = _reader(batches)
        self._begin(reader.schema)
        if not reader.schema.equals(self._given):
            raise SchemaError("the batch has columns that differ from those of the first batch")
        rows = 0
        with self._failures():
            for batch in reader:
                if batch.num_rows and not batch.num_columns:
                    raise UnsupportedError(
                        f"{self._path}: a Parquet file without columns has no rows"
                    )
                check_lists(self._path, batch)
                table = pa.Table.from_batches([batch])
                self._shard().write(_without_views(table, self._schema, self._path))
                self._batches += 1
                rows += batch.num_rows
        return rows

    def finish(self) -> None:
        with self._entered():
            self._finish()

    def _finish(self) -> None:
        if self._schema is None:
            raise StateError("nothing was written: the columns are unknown")
        with self._failures():
            for shard in self._shards:
                shard.flush(may_go_on=True)  # the last row groups of all, beside each other
            for shard in self._shards:
                shard.close()
            self._end_threads()
            self._publish()
        self.closed = True

    def _publish(self) -> None:
        """As src/format/sink.c: if one of the names is not allowed, no file gets its name."""
        done: list[str] = []
        try:
            for i, shard in enumerate(self._shards):
                name = self._name(i)
                shard.publish(name, self._keep)
                done.append(name)
        except FileError:
            for name in done:
                os.unlink(name)
            raise

    def abort(self) -> None:
        if self._process == os.getpid() and not self.closed:
            with self._entered():
                self._give_up()
        self.closed = True

    def _give_up(self) -> None:
        self._end_threads()
        for shard in self._shards:
            shard.abort()
        self._shards.clear()
        self.closed = True

    @contextlib.contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            with pyarrow_errors(self._path, of_system=self._file is None):
                yield
        except BaseException:
            self._give_up()
            raise

    def _encoding_threads(self) -> ThreadPoolExecutor | None:
        """Of all shards. None: the caller's."""
        if self._beside is None and self._file is None and self._threads > 1:
            from concurrent.futures import ThreadPoolExecutor

            self._beside = ThreadPoolExecutor(self._threads)
        return self._beside

    def _end_threads(self) -> None:
        beside, self._beside = self._beside, None
        if beside is not None:
            beside.shutdown(cancel_futures=True)

    def _add_shard(self) -> None:
        with self._failures():
            self._shards.append(
                _File(
                    self._pq,
                    self._path,
                    self._file,
                    self._schema,
                    self._options,
                    self._threads,
                    self._encoding_threads(),
                    self._in_place,
                    self._group_bytes,
                )
            )

    def _shard(self) -> _File:
        if self._num_shards:
            return self._shards[self._batches % self._num_shards]
        if self._shard_bytes and self._shards[-1].size() >= self._shard_bytes:
            self._shards[-1].close()
            self._add_shard()
        return self._shards[-1]

    def _name(self, i: int) -> str:
        if not self._num_shards and not self._shard_bytes:
            return self._path
        stem, ending = os.path.splitext(self._path)
        return f"{stem}-{i:0{_SHARD_DIGITS}}-of-{len(self._shards):0{_SHARD_DIGITS}}{ending}"


class _InPlaceSink(ParquetSink):
    _in_place = True


def write_file(stream: Any, path: str, level: int) -> None:
    """Writes an Arrow IPC stream to the existing, empty file at this path."""
    options = {**dict.fromkeys(SINK_OPTIONS), "format_options": (), "level": level, "threads": 2}
    sink = _InPlaceSink(os.fsencode(path), None, options)
    import pyarrow as pa

    sink.write(pa.ipc.open_stream(stream))
    sink.finish()


def _plain(kind: pa.DataType) -> pa.DataType:
    """The type with plain strings and bytes in place of views, which pyarrow cannot write in
    lists."""
    import pyarrow as pa

    def field(f: pa.Field) -> pa.Field:
        return f.with_type(_plain(f.type))

    if pa.types.is_string_view(kind):
        return pa.large_string()
    if pa.types.is_binary_view(kind):
        return pa.large_binary()
    if pa.types.is_struct(kind):
        return pa.struct([field(f) for f in kind])
    if pa.types.is_map(kind):
        return pa.map_(field(kind.key_field), field(kind.item_field), kind.keys_sorted)
    if pa.types.is_large_list(kind):
        return pa.large_list(field(kind.value_field))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(field(kind.value_field), kind.list_size)
    if pa.types.is_list(kind):
        return pa.list_(field(kind.value_field))
    return kind


def _without_views(table: pa.Table, schema: pa.Schema | None, path: str) -> pa.Table:
    """The table with the types of this schema. Casts only the columns that differ: for a slice of
    structs or of null lists, pyarrow returns an invalid array even when it casts to the same
    type."""
    import pyarrow as pa

    for i, field in enumerate(schema or ()):
        if table.schema.field(i).type == field.type:
            continue
        try:
            column = table.column(i).cast(field.type)
            column.validate()
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            hint = "cast the column to string or binary"
            raise UnsupportedError(
                f"{path}: column {field.name!r}: pyarrow cannot convert it to {field.type}: "
                f"{first_line(error)} ({hint})",
                file=path,
                path=field.name,
                hint=hint,
            ) from error
        table = table.set_column(i, field, column)
    return table


def _check_types(pq: Any, path: str, schema: pa.Schema) -> None:
    """UnsupportedError that names the column, for a type that Parquet does not have."""
    import pyarrow as pa

    for field in schema:
        try:
            pq.ParquetWriter(io.BytesIO(), pa.schema([field])).close()
        except pa.ArrowNotImplementedError as error:
            hint = "leave the column out, or write Arrow (a struct needs a field)"
            text = f"{path}: column {field.name!r}: Parquet cannot hold {field.type} ({hint})"
            raise UnsupportedError(text, file=path, path=field.name, hint=hint) from error


class _File:
    """One Parquet file under a temporary name. Batches are collected into row groups. With threads,
    these encode the columns of a row group beside each other."""

    def __init__(
        self,
        pq: Any,
        path: str,
        file: Any,
        schema: pa.Schema | None,
        options: dict[str, Any],
        threads: int,
        beside: ThreadPoolExecutor | None,
        in_place: bool,
        group_bytes: int,
    ) -> None:
        self._beside = beside
        self._group_bytes = group_bytes
        self._threads = threads
        self._running: list[Future[Piece]] = []  # the pieces of a row group
        self._running_rows = 0
        self._writer: Any = None  # without threads; from the first row group on
        if file is not None:
            self._counted = _Counted(file, None, False)
        elif in_place:  # it is there, unless it has been given up meanwhile
            self._counted = _Counted(io.FileIO(path, "r+"), None, True)
        else:
            self._counted = _Counted(*_create(path), True)
        weakref.finalize(self, self._counted.give_up)  # of a writer that nobody closes
        try:
            self._encoder = Encoder(pq, schema, options, threads)
            if beside is not None:
                self._counted.write(MAGIC)
        except BaseException:
            self.abort()
            raise
        self._pending: list[Any] = []
        self._bytes = 0
        self._rows = 0
        self._open = True

    def write(self, table: Any) -> None:
        self._pending.append(table)
        self._bytes += table.nbytes
        self._rows += table.num_rows
        if self._bytes >= self._group_bytes or self._rows >= _GROUP_ROWS:
            self.flush()

    def flush(self, may_go_on: bool = False) -> None:
        """Writes the collected rows. Threads that all have columns to encode are waited for: the
        memory is that of one row group, and whoever decodes the next rows does so meanwhile.
        may_go_on: they are not."""
        rows = self._rows
        if not rows:
            self._pending.clear()
            return
        if self._beside is None:
            self._write_alone(self._collected())
            return
        tasks = self._encoder.tasks(self._collected())  # which only they hold
        self._wait()
        self._running = [self._beside.submit(task) for task in tasks]
        self._running_rows = rows
        if len(tasks) > self._threads and not may_go_on:
            self._wait()

    def _collected(self) -> pa.Table:
        """The collected rows, which are let go."""
        import pyarrow as pa

        tables, self._pending = self._pending, []
        self._bytes = self._rows = 0
        return pa.concat_tables(tables)

    def _write_alone(self, table: pa.Table) -> None:
        if self._writer is None:
            self._writer = self._encoder.writer(self._counted, table)
        write_group(self._writer, table)

    def _put(self, made: Iterable[Piece], rows: int) -> None:
        """Writes the pieces of a row group, each when it is there."""
        pieces = []
        start = self._counted.written
        for piece in made:
            self._counted.write(piece.take())
            pieces.append(piece)
        self._encoder.add(pieces, rows, start)

    def _wait(self) -> None:
        """Waits for the row group that is being encoded, and writes it, or raises its error."""
        running, self._running = self._running, []
        if running:
            self._put((future.result() for future in running), self._running_rows)

    def size(self) -> int:
        self._wait()
        return self._counted.written

    def close(self) -> None:
        if self._open:
            self.flush()
            self._wait()
            if self._beside is not None:
                self._counted.write(self._encoder.end())
                self._counted.flush()
            else:
                (self._writer or self._encoder.writer(self._counted, None)).close()
            self._open = False
            self._counted.end()

    def publish(self, path: str, keep: bool) -> None:
        self._counted.publish(path, keep)

    def abort(self) -> None:
        self._counted.dropped = True
        running, self._running = self._running, []
        for future in running:
            future.cancel()
        self._counted.give_up()


def _create(path: str) -> tuple[io.FileIO, str | None]:
    """As src/io/output.c: a pipe or a device is written in place. Any other file gets a temporary
    name, the second item, with the permissions of the file that it replaces."""
    try:
        before = os.stat(path)
    except OSError:
        before = None  # none is there, or it cannot be written either
    if before is not None and not stat.S_ISREG(before.st_mode):
        return io.FileIO(path, "w"), None
    folder, name = os.path.split(os.fsencode(os.path.realpath(path)))  # a link stays one
    ending = f".{os.urandom(4).hex()}.tmp".encode()
    name = name[: _LONGEST_NAME - len(ending)] + ending
    temporary = os.fsdecode(os.path.join(folder, name))
    if before is None:
        return io.FileIO(temporary, "xb"), temporary
    # Users who could not read the old file must not be able to read the new one.
    file = io.FileIO(temporary, "xb", opener=lambda p, flags: os.open(p, flags, 0o600))
    _take_permissions(file.fileno(), before)
    return file, temporary


def _take_permissions(fd: int, before: os.stat_result) -> None:
    """As src/io/output.c: the permissions and the group of the file that is replaced."""
    mode = before.st_mode & 0o777
    if os.fstat(fd).st_gid != before.st_gid:
        try:
            os.fchown(fd, -1, before.st_gid)
        except OSError:
            mode &= ~0o070
    os.fchmod(fd, mode)


def _name_new_file(temporary: str, path: str) -> None:
    """As src/io/output.c: the final name never replaces a file that appeared meanwhile."""
    try:
        try:
            os.link(temporary, path)
            os.unlink(temporary)
        except FileExistsError:
            raise
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK):
                raise
            if os.path.lexists(path):  # a file system without links, such as FAT
                raise FileExistsError from error
            os.rename(temporary, path)
    except FileExistsError:
        hint = "name another output, or allow overwriting"
        text = f"{path}: the output exists ({hint})"
        raise FileError(text, file=path, hint=hint) from None


class _Counted:
    """A file object that counts the bytes written to it, and that others cannot close. A
    ParquetWriter that is abandoned, even in a forked child, still writes a footer: it is
    discarded."""

    def __init__(self, file: Any, temporary: str | None, owns: bool) -> None:
        """temporary: the name until the file is complete; owns: close() closes it."""
        self.file = file
        self.written = 0
        self.closed = False
        self.dropped = False
        self._temporary = temporary
        self._owns = owns
        self._process = os.getpid()

    def _is_alive(self) -> bool:
        return not self.dropped and self._process == os.getpid()

    def end(self) -> None:
        if self._owns:
            self.file.close()

    def publish(self, path: str, keep: bool) -> None:
        """keep: an existing file is a FileError."""
        if self._temporary is None:
            return
        if keep:
            _name_new_file(self._temporary, path)
        else:
            os.replace(self._temporary, os.path.realpath(path))  # a link stays one
        self._temporary = None

    def give_up(self) -> None:
        """Removes the file, except in a forked child, whose parent still writes it."""
        if self._process != os.getpid():
            return
        self.dropped = True
        self.end()
        temporary, self._temporary = self._temporary, None
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)

    def write(self, data: Any) -> int:
        rest = memoryview(data).cast("B")
        size = rest.nbytes
        while rest and self._is_alive():
            taken = self.file.write(rest)
            if taken == 0:
                raise OSError("the object's write() accepted no bytes")
            rest = rest[taken:] if taken is not None else rest[:0]  # many objects say nothing
        self.written += size
        return size

    def tell(self) -> int:
        return self.written

    def flush(self) -> None:
        flush: Callable[[], None] | None = getattr(self.file, "flush", None)
        if flush is not None and self._is_alive():
            flush()

    def writable(self) -> bool:
        return True

    def readable(self) -> bool:
        return False

    def seekable(self) -> bool:
        return False

    def close(self) -> None:
        self.closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()


def _reader(batches: Any) -> Any:
    import pyarrow as pa

    if hasattr(batches, "__arrow_c_stream__"):
        return pa.RecordBatchReader.from_stream(batches)
    batch = pa.record_batch(batches)
    return pa.RecordBatchReader.from_batches(batch.schema, [batch])
