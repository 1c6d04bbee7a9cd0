"""Parquet, read with pyarrow: row groups in parallel, and only the wanted columns."""

from __future__ import annotations

import contextlib
import os
import weakref
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from ..._base.errors import CorruptError, StateError
from ..._base.files import TO_END, PlacedFile
from ..._base.limits import MAX_INFLATION
from ..reader import Reader
from .counts import Counts, check_footer
from .errors import first_line, pyarrow_errors, pyarrow_parquet
from .leaves import Choice, choose
from .pages import Limit, Need, look

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Future
    from threading import Lock

    import pyarrow as pa

    from ..._io.cache import CachedFile
    from ..._io.remote import RemoteFile


def open_file(
    path: str,
    columns: list[str] | None = None,
    batch_size: int = 1024,
    threads: int = 1,
    paths: tuple[str, ...] | None = None,
    split: tuple[int, int] | None = None,
    max_inflation: int | None = None,
) -> Reader:
    """A file as a stream of batches. With threads, as many row groups are decoded at once; their
    order is kept. paths: the wanted paths inside the columns, such as "event.query"; None: all.
    split: only the row groups that begin in these bytes. max_inflation: as for open."""
    wanted = _Wanted(columns, paths, split, max_inflation)
    # Opened outside of _Local: a file object that cannot be opened reports an error of its own when
    # it is deleted.
    return _stream(
        lambda: _Local(os.open(path, os.O_RDONLY | os.O_CLOEXEC)), path, wanted, batch_size, threads
    )


def open_stream(
    file: Any,
    lock: Lock,
    name: str,
    columns: list[str] | None,
    batch_size: int,
    threads: int,
    paths: tuple[str, ...] | None = None,
    max_inflation: int | None = None,
) -> Reader:
    """As read(), for a file object that can seek. Its row groups are read one by one."""
    wanted = _Wanted(columns, paths, None, max_inflation)
    return _stream(lambda: _whole(_View(file, lock), name), name, wanted, batch_size, 1)


def open_remote(
    file: RemoteFile | CachedFile,
    columns: list[str] | None,
    batch_size: int,
    threads: int,
    paths: tuple[str, ...] | None = None,
    split: tuple[int, int] | None = None,
    max_inflation: int | None = None,
) -> Reader:
    """As read(), for a file of a file system. Each thread opens it for itself."""
    wanted = _Wanted(columns, paths, split, max_inflation)
    file.limit(max_inflation)
    return _stream(file.again, file.name, wanted, batch_size, threads)


class _Local(PlacedFile):
    """A local file, opened by its descriptor, which it closes."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._close = weakref.finalize(self, os.close, fd)

    def _end(self) -> int:
        return os.fstat(self._fd).st_size

    def read(self, size: int | None = -1) -> bytes:
        if size is None or size < 0:
            size = self._end() - self._at
        pieces = []
        while size > 0 and (piece := os.pread(self._fd, size, self._at)):
            pieces.append(piece)
            self._at += len(piece)
            size -= len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def close(self) -> None:
        self._close()
        super().close()


class _Chunks(PlacedFile):
    """A file for pyarrow whose column chunks were checked before. Their bytes are kept until
    pyarrow asks for them once."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._kept: dict[tuple[int, int], bytes] = {}
        self.size: int = file.seek(0, os.SEEK_END)

    def _end(self) -> int:
        return self.size

    def read(self, size: int | None = -1) -> bytes:
        if size is None or size < 0:
            size = max(0, self.size - self._at)
        data = self._kept.pop((self._at, size), None)
        if data is None:
            self._file.seek(self._at)
            data = self._file.read(size) or b""
        self._at += len(data)
        return data

    def look(self, offset: int, size: int) -> bytes:
        self._file.seek(offset)
        data: bytes = self._file.read(size) or b""
        self._kept[offset, size] = data
        return data

    def forget(self) -> None:
        """Lets go what pyarrow has not asked for."""
        self._kept.clear()

    def close(self) -> None:
        self.forget()
        self._file.close()
        super().close()


def _parquet(chunks: _Chunks, **options: Any) -> Any:
    """Reads column chunks one by one, as they were looked at. Buffered before, they would be read
    again, in one piece."""
    return pyarrow_parquet().ParquetFile(
        chunks, page_checksum_verification=True, pre_buffer=False, **options
    )


class _View(PlacedFile):
    """A file position of its own in a file that several passes read."""

    def __init__(self, file: Any, lock: Lock) -> None:
        self._file = file
        self._lock = lock

    def _end(self) -> int:
        with self._lock:
            self._file.seek(0, os.SEEK_END)
            end: int = self._file.tell()
            return end

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        with self._lock:
            self._file.seek(self._at)
            size = _fill(self._file, view)
        self._at += size
        return size


def _whole(file: _View, name: str) -> _View:
    """A Parquet file that follows other data contains offsets that count from its own start."""
    begin = file.read(4)
    file.seek(-min(4, file.seek(0, os.SEEK_END)), os.SEEK_END)
    if begin != b"PAR1" and file.read(4) == b"PAR1":
        raise CorruptError(
            f"{name}: parquet: the file object ends with Parquet's magic, but does not begin "
            "with it (it must contain one Parquet file and nothing else)",
            file=name,
        )
    file.seek(0)
    return file


def _fill(file: Any, view: memoryview) -> int:
    """Reads until the view is full or the file ends. A file object may return fewer bytes than
    requested, which pyarrow would take for the end."""
    done = 0
    while done < len(view):
        wanted = len(view) - done
        data = file.read(wanted)
        if data is None:
            raise BlockingIOError("the file object is in non-blocking mode")
        if len(data) > wanted:
            raise OSError(f"read({wanted}) returned {len(data)} bytes")
        if not data:
            break
        view[done : done + len(data)] = data
        done += len(data)
    return done


class _Wanted(NamedTuple):
    """The columns, the paths in them, and the bytes in which row groups begin; None: all."""

    columns: list[str] | None
    paths: tuple[str, ...] | None
    split: tuple[int, int] | None = None
    max_inflation: int | None = None


class _Group(NamedTuple):
    """A row group."""

    number: int
    first: int  # row
    rows: int


class _Job(NamedTuple):
    """The parts of the file to read."""

    where: Callable[[], Any]  # opens it
    name: str
    metadata: Any  # of the file
    groups: list[_Group]
    choice: Choice
    batch_size: int
    threads: int
    limit: Limit

    @property
    def columns(self) -> list[str]:
        names: list[str] = self.choice.schema.names
        return names

    def look(self, chunks: _Chunks, group: _Group, columns: list[str]) -> Need:
        """The memory that the columns take, before they are read."""
        leaves = [leaf for name in columns for leaf in self.choice.leaves[name]]
        if not all(self.choice.leaves[name] for name in columns):
            leaves = list(range(self.metadata.num_columns))  # nobody knows which of them it is
        return look(
            self.metadata,
            group.number,
            leaves,
            chunks.look,
            lambda path: self.measure(group, path),
            self.limit,
            self.batch_size,
        )

    def measure(self, group: _Group, path: str) -> int:
        """The size of the values of a column chunk that is read as a dictionary."""
        with (
            contextlib.closing(_Chunks(self.where())) as chunks,
            _parquet(chunks, metadata=self.metadata, read_dictionary=[path]) as file,
        ):
            table = file.read_row_group(group.number, columns=[path], use_threads=False)
        return sum(_bytes_of_strings(chunk) for column in table.columns for chunk in column.chunks)


def _bytes_of_strings(array: pa.Array) -> int:
    """The size of all strings of an array at any depth, with dictionaries expanded."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = array.type
    if pa.types.is_struct(kind):
        return sum(_bytes_of_strings(array.field(i)) for i in range(kind.num_fields))
    if pa.types.is_nested(kind):
        return _bytes_of_strings(array.flatten())
    if pa.types.is_dictionary(kind):
        sizes = pc.binary_length(array.dictionary).cast(pa.int64()).take(array.indices)
    else:
        sizes = pc.binary_length(array)
    return pc.sum(sizes).as_py() or 0


def _stream(
    where: Callable[[], Any], name: str, wanted: _Wanted, batch_size: int, threads: int
) -> Reader:
    with pyarrow_errors(name):
        chunks = _Chunks(where())
        file = _parquet(chunks)
        check_footer(file.metadata)
        schema = file.schema_arrow.remove_metadata()
        groups = list(_groups(file.metadata))
        if wanted.split is not None:
            groups = _groups_of_split(chunks.size, name, groups, file.metadata, wanted.split)
    columns, paths, _, max_inflation = wanted
    if columns is not None and not set(schema.names).issuperset(columns):
        columns = paths = None  # they are refused later, with near names: for that all are given
    choice = choose(schema, file.metadata.schema, columns, paths)
    limit = Limit(name, chunks.size, max_inflation or MAX_INFLATION)
    limit.check_rows(file.metadata.num_rows)
    job = _Job(where, name, file.metadata, groups, choice, batch_size, threads, limit)
    return Reader(choice.schema, _read(file, chunks, job))


def _read(file: Any, chunks: _Chunks, job: _Job) -> Iterator[pa.RecordBatch]:
    with pyarrow_errors(job.name):
        if not job.columns:
            yield from _rows_only(sum(group.rows for group in job.groups), job.batch_size)
        elif job.threads == 1 or len(job.groups) < 2:
            for group in job.groups:
                yield from _read_in_turn(file, chunks, job, group)
        else:
            for group, table in _read_groups(job):
                if table is None:
                    yield from _read_in_turn(file, chunks, job, group)
                else:
                    yield from _wanted(table, job).to_batches(max_chunksize=job.batch_size)
                del table  # before the next one is waited for


def _read_in_turn(file: Any, chunks: _Chunks, job: _Job, group: _Group) -> Iterator[pa.RecordBatch]:
    """One row group by itself: pyarrow would drop rows of an intact row group if they share a batch
    with a damaged one."""
    counts = Counts(job.choice.leaves, job.metadata, group.number)
    with _group_errors(job, group):
        for batch in file.iter_batches(
            batch_size=job.look(chunks, group, job.columns).batch_size,
            row_groups=[group.number],
            columns=job.choice.names_of(job.columns),
            use_threads=job.threads > 1,
        ):
            counts.add(batch)
            yield _wanted(batch, job)
        counts.check()
    chunks.forget()


def _groups(metadata: Any) -> Iterator[_Group]:
    first = 0
    for number in range(metadata.num_row_groups):
        rows = metadata.row_group(number).num_rows
        yield _Group(number, first, rows)
        first += rows


def _groups_of_split(
    size: int, name: str, groups: list[_Group], metadata: Any, split: tuple[int, int]
) -> list[_Group]:
    """The row groups that begin in the split. If a damaged footer has one that begins outside the
    file, the first split reports it."""
    begin, end = split
    if end != TO_END and end > size:
        hint = "plan it again"
        raise StateError(
            f"{name}: the file has changed since it was planned: it has {size} bytes, but its "
            f"split ends at byte {end} ({hint})",
            file=name,
            hint=hint,
        )

    def place(group: _Group) -> int:
        row_group = metadata.row_group(group.number)
        if row_group.num_columns == 0:
            return 0
        chunk = row_group.column(0)
        at: int = chunk.data_page_offset
        if chunk.has_dictionary_page and chunk.dictionary_page_offset is not None:
            at = min(at, chunk.dictionary_page_offset)
        return at if 0 <= at < size else 0

    return [group for group in groups if begin <= place(group) < end]


def _read_group(job: _Job, group: _Group, columns: list[str]) -> pa.Table | None:
    """Opens the file for this thread, because a ParquetFile cannot be shared between threads. None
    if the row group is too large to be read at once."""
    leaves = {name: job.choice.leaves[name] for name in columns}
    counts = Counts(leaves, job.metadata, group.number)
    with (
        contextlib.closing(_Chunks(job.where())) as chunks,
        _parquet(chunks, metadata=job.metadata) as file,
    ):
        if job.look(chunks, group, columns).whole > job.limit.most:
            return None
        table: pa.Table = file.read_row_group(
            group.number, columns=job.choice.names_of(columns), use_threads=False
        )
    for batch in table.to_batches():
        counts.add(batch)
    counts.check()
    return table


@contextlib.contextmanager
def _group_errors(job: _Job, group: _Group) -> Iterator[None]:
    """_errors with the row group, and the damaged column if it is damaged by itself."""
    try:
        with pyarrow_errors(job.name):
            yield
    except CorruptError as error:
        column, cause = _damaged_column(job, group)
        cause = cause or error.__cause__ or error
        place = f"row group {group.number}" + (f", column {column!r}" if column else "")
        raise CorruptError(
            f"{job.name}: record {group.first}: parquet: {place}: {first_line(cause)}",
            file=job.name,
            record=group.first,
            path=column,
        ) from cause


def _damaged_column(job: _Job, group: _Group) -> tuple[str | None, BaseException | None]:
    """The first of the columns that cannot be read alone, and the error."""
    for column in job.columns:
        try:
            _read_group(job, group, [column])
        except Exception as error:
            return column, error
    return None, None


def _rows_only(rows: int, batch_size: int) -> Iterator[pa.RecordBatch]:
    """Batches without columns."""
    import pyarrow as pa

    for first in range(0, rows, batch_size):
        empty = pa.array([{}] * min(batch_size, rows - first), pa.struct([]))
        yield pa.RecordBatch.from_struct_array(empty)


def _wanted(data: Any, job: _Job) -> Any:
    """pyarrow also takes the name "a" for a column "a.b"."""
    if data.schema.names != job.columns:
        data = data.select(job.columns)
    return data


def _read_groups(job: _Job) -> Iterator[tuple[_Group, pa.Table | None]]:
    from concurrent.futures import ThreadPoolExecutor

    waiting: deque[tuple[_Group, Future[pa.Table | None]]] = deque()

    def oldest() -> tuple[_Group, pa.Table | None]:
        group, task = waiting.popleft()
        with _group_errors(job, group):
            return group, task.result()

    with ThreadPoolExecutor(job.threads) as pool:
        try:
            for group in job.groups:
                waiting.append((group, pool.submit(_read_group, job, group, job.columns)))
                if len(waiting) > job.threads:
                    yield oldest()
            while waiting:
                yield oldest()
        finally:
            for _, task in waiting:
                task.cancel()
