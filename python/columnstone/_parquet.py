"""Parquet, read and written by pyarrow: row groups in parallel, columns pushed into the file."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
from collections import deque
from typing import TYPE_CHECKING, Any, Self

from . import _formats
from ._core import COMPRESSION_BY_NAME, COMPRESSION_NONE, COMPRESSION_ZSTD
from ._errors import CorruptError, FileError, StateError, UnsupportedError, argument_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa

    from ._core import ArrowSchemaExportable

_GROUP_BYTES = 64 << 20  # of Arrow data in a row group
_GROUP_ROWS = 1 << 20
_SHARD_DIGITS = 5


def _parquet() -> Any:
    """pyarrow.parquet, or what to install."""
    try:
        import pyarrow.parquet
    except ImportError:
        hint = "pip install pyarrow"
        raise UnsupportedError(
            f"Parquet is read and written through pyarrow, which is not installed ({hint})",
            hint=hint,
        ) from None
    return pyarrow.parquet


# Reading


def open_file(
    path: str, columns: list[str] | None = None, batch_size: int = 1024, threads: int = 1
) -> pa.RecordBatchReader:
    """A file as a stream of batches. With threads, as many row groups are decoded at once; their
    order is kept."""
    return _stream(lambda: path, path, columns, batch_size, threads)


def open_stream(
    file: Any, columns: list[str] | None, batch_size: int, threads: int
) -> pa.RecordBatchReader:
    """The same of a file object. Its row groups are read one by one."""

    def again() -> Any:
        file.seek(0)
        return file

    return _stream(again, file.name, columns, batch_size, 1)


def _stream(
    where: Callable[[], Any], name: str, columns: list[str] | None, batch_size: int, threads: int
) -> pa.RecordBatchReader:
    pq = _parquet()
    import pyarrow as pa

    with _errors(name):
        file = pq.ParquetFile(where(), page_checksum_verification=True)
    schema = file.schema_arrow.remove_metadata()
    if columns is not None:
        columns = [column for column in columns if column in schema.names]
        schema = pa.schema([field for field in schema if field.name in columns])
    return pa.RecordBatchReader.from_batches(
        schema, _read(where, name, file, columns, batch_size, threads)
    )


def _read(
    where: Callable[[], Any],
    name: str,
    file: Any,
    columns: list[str] | None,
    batch_size: int,
    threads: int,
) -> Iterator[pa.RecordBatch]:
    with _errors(name):
        if threads == 1 or file.num_row_groups < 2:
            yield from file.iter_batches(
                batch_size=batch_size, columns=columns, use_threads=threads > 1
            )
        else:
            yield from _read_groups(where, file.num_row_groups, columns, batch_size, threads)


def _read_groups(
    where: Callable[[], Any], count: int, columns: list[str] | None, batch_size: int, threads: int
) -> Iterator[pa.RecordBatch]:
    """Each task opens the file for itself: a ParquetFile is no object for several threads."""
    from concurrent.futures import Future, ThreadPoolExecutor

    def read(group: int) -> pa.Table:
        with _parquet().ParquetFile(where(), page_checksum_verification=True) as file:
            return file.read_row_group(group, columns=columns, use_threads=False)

    waiting: deque[Future[pa.Table]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            for group in range(count):
                waiting.append(pool.submit(read, group))
                if len(waiting) > threads:
                    yield from waiting.popleft().result().to_batches(max_chunksize=batch_size)
            while waiting:
                yield from waiting.popleft().result().to_batches(max_chunksize=batch_size)
        finally:
            for task in waiting:
                task.cancel()


@contextlib.contextmanager
def _errors(path: str) -> Iterator[None]:
    """What pyarrow raises, as the exceptions of this package, with the file."""
    import pyarrow as pa

    try:
        yield
    except FileNotFoundError:
        raise
    except pa.ArrowNotImplementedError as error:
        raise UnsupportedError(f"{path}: parquet: {_line(error)}", file=path) from error
    except (pa.ArrowInvalid, OSError) as error:
        system = isinstance(error, OSError) and error.errno is not None
        kind = FileError if system else CorruptError
        raise kind(f"{path}: parquet: {_line(error)}", file=path) from error


def _line(error: BaseException) -> str:
    """The first line of an error's text, at most 200 characters."""
    lines = str(error).splitlines()
    return (lines[0] if lines else type(error).__name__)[:200]


# Writing


class ParquetSink:
    """The sink of Parquet: made and used as the compiled Sink is."""

    def __init__(
        self,
        name: bytes,
        file: Any,
        format: str | None,
        compression: int,
        level: int,
        schema: object,
        lossy: bool,
        sequence_column: str | None,
        csv: object,
        threads: int,
        num_shards: int,
        shard_bytes: int,
    ) -> None:
        if compression not in (COMPRESSION_BY_NAME, COMPRESSION_NONE, COMPRESSION_ZSTD):
            raise argument_error("Parquet is written with zstd, or none", 'compression="none"')
        if num_shards and shard_bytes:
            raise argument_error("num_shards and shard_bytes are both given", "give one of them")
        if file is not None and (num_shards or shard_bytes):
            raise argument_error("a file object cannot be divided into shards", "name a path")
        self._path = os.fsdecode(name)
        self._file = file
        self._pq = _parquet()
        self._options: dict[str, Any] = {
            "compression": "none" if compression == COMPRESSION_NONE else "zstd",
            "compression_level": level if level and compression != COMPRESSION_NONE else None,
            "write_statistics": True,
            "write_page_checksum": True,
        }
        self._num_shards = num_shards
        self._shard_bytes = shard_bytes
        self._schema: pa.Schema | None = None
        self._shards: list[_File] = []
        self._batches = 0
        self.closed = False

    def begin(self, schema: ArrowSchemaExportable) -> None:
        import pyarrow as pa

        if self._schema is None:
            self._schema = pa.schema(schema).remove_metadata()
            for _ in range(max(1, self._num_shards)):
                self._add_shard()

    def write(self, batches: object) -> int:
        import pyarrow as pa

        if self.closed:
            raise StateError("the writer is closed")
        reader = _reader(batches)
        self.begin(reader.schema)
        if self._schema is not None and not reader.schema.equals(self._schema):
            from ._errors import SchemaError

            raise SchemaError("the batch has other columns than the first one")
        rows = 0
        with self._failures():
            for batch in reader:
                self._shard().write(pa.Table.from_batches([batch], self._schema))
                self._batches += 1
                rows += batch.num_rows
        return rows

    def finish(self) -> None:
        if self._schema is None:
            raise StateError("nothing was written, so the columns are not known")
        with self._failures():
            for shard in self._shards:
                shard.close()
            for i, shard in enumerate(self._shards):
                shard.publish(self._name(i))
        self.closed = True

    def abort(self) -> None:
        for shard in self._shards:
            shard.abort()
        self._shards.clear()
        self.closed = True

    @contextlib.contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            with _errors(self._path):
                yield
        except BaseException:
            self.abort()
            raise

    def _add_shard(self) -> None:
        with self._failures():
            self._shards.append(
                _File(self._pq, self._path, self._file, self._schema, self._options)
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


class _File:
    """One Parquet file under a temporary name; batches are gathered to row groups."""

    def __init__(
        self, pq: Any, path: str, file: Any, schema: pa.Schema | None, options: dict[str, Any]
    ) -> None:
        self.temporary: str | None = None
        if file is None:
            folder, base = os.path.split(path)
            handle, self.temporary = tempfile.mkstemp(".tmp", base + ".", folder or ".")
            os.close(handle)
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(self.temporary, 0o666 & ~mask)  # as any new file
        try:
            self._owns = self.temporary is not None
            self._counted = _Counted(io.FileIO(self.temporary, "wb") if self.temporary else file)
            self._writer = pq.ParquetWriter(self._counted, schema, **options)
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
        if self._bytes >= _GROUP_BYTES or self._rows >= _GROUP_ROWS:
            self._flush()

    def _flush(self) -> None:
        import pyarrow as pa

        if self._pending:
            table = pa.concat_tables(self._pending).combine_chunks()
            self._writer.write_table(table, row_group_size=max(1, table.num_rows))
        self._pending.clear()
        self._bytes = self._rows = 0

    def size(self) -> int:
        return self._counted.written

    def close(self) -> None:
        if self._open:
            self._flush()
            self._writer.close()
            self._open = False
            if self._owns:
                self._counted.file.close()

    def publish(self, path: str) -> None:
        if self.temporary is not None:
            os.replace(self.temporary, path)
            self.temporary = None

    def abort(self) -> None:
        if self.temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(self.temporary)
            self.temporary = None


class _Counted:
    """A file object that counts what is written to it, and is not closed by others."""

    def __init__(self, file: Any) -> None:
        self.file = file
        self.written = 0
        self.closed = False

    def write(self, data: Any) -> int:
        self.file.write(data)
        size = memoryview(data).nbytes
        self.written += size
        return size

    def tell(self) -> int:
        return self.written

    def flush(self) -> None:
        flush: Callable[[], None] | None = getattr(self.file, "flush", None)
        if flush is not None:
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


FORMAT = _formats.Format(
    "parquet", open_file, None, frozenset(("columns", "batch_size", "threads"))
)
SINK = ParquetSink
