"""Row groups as column chunks, several of them encoded at once: pyarrow writes the columns of a row
group one after the other, so each thread gets some of them, as a small file in memory."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from .footer import Footer, Piece
from .leaves import fields_of, num_leaves

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    import pyarrow as pa

    # The number of a column, then those of fields of structs
    Path: TypeAlias = tuple[int, ...]
    # A field of a table, and its values
    Column: TypeAlias = tuple[pa.Field, Any]

_PARTS = 3  # for each thread: they take different times
_CHUNK_ROWS = 1024  # such chunks are copied into one: each costs a call per column
# Where so many of the first values differ, the others will hardly repeat them: a dictionary would
# grow until it is abandoned, which costs time, and it would remain in the file.
_SAMPLE_VALUES, _SAMPLE_ROWS, _SAMPLE_BYTES = 4096, 8192, 8 << 20
_LEAST_VALUES = 1024
_DISTINCT = 0.95


class _Unit(NamedTuple):
    """A column, or a field of a struct, that can be encoded by itself."""

    path: Path
    leaves: tuple[str, ...]  # what pyarrow calls them; none where the schema does not tell


class Encoder:
    """Encodes the row groups of a file. The first one decides which columns get dictionaries."""

    def __init__(self, pq: Any, schema: pa.Schema, options: dict[str, Any], threads: int) -> None:
        import pyarrow as pa

        self._pq = pq
        self._schema = schema
        self._options = options
        self._threads = threads
        empty = pa.BufferOutputStream()
        pq.ParquetWriter(empty, schema, **options).close()
        file = empty.getvalue()
        self._footer = Footer(file)
        parquet = pq.ParquetFile(pa.BufferReader(file)).schema
        names = [parquet.column(i).path for i in range(len(parquet))]
        paths = [path for i, field in enumerate(schema) for path in _paths(field.type, (i,))]
        counts = [num_leaves(_type_at(schema, path)) for path in paths]
        known = sum(counts) == len(names)
        self._units: list[_Unit] = []
        for path, count in zip(paths, counts, strict=True):
            self._units.append(_Unit(path, tuple(names[:count]) if known else ()))
            names = names[count:]
        self._plain: dict[Path, set[str]] = {}  # the leaves without a dictionary, by unit

    def tasks(self, table: pa.Table) -> list[Callable[[], Piece]]:
        """What makes the pieces of a row group: they may be called at the same time."""
        columns = table.columns
        units = [(unit, _size(columns[unit.path[0]], unit.path[1:])) for unit in self._units]
        most = sum(size for _, size in units) / (self._threads * _PARTS)
        parts: list[list[_Unit]] = []
        room = 0.0
        for unit, size in units:
            if not parts or (self._threads > 1 and size > room):
                parts.append([])
                room = most
            parts[-1].append(unit)
            room -= size
        return [_Task(self, part, self._part(columns, part), columns) for part in parts]

    def _part(self, columns: list[Any], part: list[_Unit]) -> pa.Table:
        import pyarrow as pa

        paths = [unit.path for unit in part]
        kept = [
            _kept(self._schema.field(i), columns[i], below) for i, below in _by_first(paths).items()
        ]
        return pa.Table.from_arrays(
            [values for _, values in kept], schema=pa.schema([field for field, _ in kept])
        )

    def encode(self, part: list[_Unit], table: pa.Table, samples: list[Any]) -> Piece:
        """The columns of one part. samples: the first values of its units, for the first row
        group."""
        import pyarrow as pa

        for unit, sample in zip(part, samples, strict=False):
            self._plain[unit.path] = _distinct(unit, sample)
        out = pa.BufferOutputStream()
        with self._pq.ParquetWriter(
            out,
            table.schema,
            use_dictionary=self._dictionaries(part),
            store_schema=False,
            **self._options,
        ) as writer:
            write_group(writer, table)
        return Piece(out.getvalue())

    def _dictionaries(self, part: list[_Unit]) -> list[str] | bool:
        """The leaves that get them; True: all."""
        plain = set[str]().union(*(self._plain[unit.path] for unit in part))
        leaves = [leaf for unit in part for leaf in unit.leaves]
        return [leaf for leaf in leaves if leaf not in plain] if plain else True

    def writer(self, out: Any, first: pa.Table | None) -> Any:
        """A writer of the same file by one thread, without pieces to put together; first: the rows
        of the first row group."""
        if first is not None:
            samples = self.samples(self._units, first.columns)
            for unit, sample in zip(self._units, samples, strict=True):
                self._plain[unit.path] = _distinct(unit, sample)
        dictionaries = self._dictionaries(self._units) if self._plain else True
        return self._pq.ParquetWriter(
            out, self._schema, use_dictionary=dictionaries, **self._options
        )

    def samples(self, part: list[_Unit], columns: list[Any]) -> list[Any]:
        """The first values of units; none after the first row group."""
        return [
            _first_rows(columns[unit.path[0]], unit.path[1:])
            for unit in part
            if unit.path not in self._plain
        ]

    def add(self, pieces: list[Piece], num_rows: int, offset: int) -> None:
        """Notes a row group whose pieces lie one after the other from this offset of the file."""
        self._footer.add(pieces, num_rows, offset)

    def end(self) -> bytes:
        """The end of the file."""
        return self._footer.end()


def write_group(writer: Any, table: pa.Table) -> None:
    """A row group. The copy of small chunks lives as long as its columns are encoded."""
    num_chunks = max((column.num_chunks for column in table.columns), default=0)
    if table.num_rows <= _CHUNK_ROWS * num_chunks:
        table = table.combine_chunks()
    writer.write_table(table, row_group_size=max(1, table.num_rows))


class _Task:
    """Encodes a part once, and lets its rows go then."""

    def __init__(
        self, encoder: Encoder, part: list[_Unit], table: pa.Table, columns: list[Any]
    ) -> None:
        self._encoder = encoder
        self._part = part
        self._rows: tuple[pa.Table, list[Any]] | None = table, encoder.samples(part, columns)

    def __call__(self) -> Piece:
        rows, self._rows = self._rows, None
        assert rows is not None
        return self._encoder.encode(self._part, *rows)


# ---- units ----


def _paths(kind: pa.DataType, path: Path) -> Iterator[Path]:
    """The paths of units: fields of structs that lie in no list."""
    import pyarrow as pa

    if pa.types.is_struct(kind) and kind.num_fields > 0:
        for i, field in enumerate(kind):
            yield from _paths(field.type, (*path, i))
    else:
        yield path


def _type_at(schema: pa.Schema, path: Path) -> pa.DataType:
    kind = schema.field(path[0]).type
    for i in path[1:]:
        kind = kind.field(i).type
    return kind


def _size(values: Any, path: Path) -> int:
    """Of a unit, in bytes."""
    return sum(_at(chunk, path).nbytes for chunk in values.chunks)


def _at(array: Any, path: Path) -> Any:
    """What structs have on this path."""
    for i in path:
        array = array.field(i)
    return array


def _by_first(paths: list[Path]) -> dict[int, list[Path]]:
    """What is below each first number."""
    found: dict[int, list[Path]] = {}
    for path in paths:
        found.setdefault(path[0], []).append(path[1:])
    return found


def _kept(field: pa.Field, values: Any, paths: list[Path]) -> Column:
    """A column with no other fields of its structs than those on these paths."""
    import pyarrow as pa

    if paths == [()] or len(paths) == sum(1 for _ in _paths(field.type, ())):
        return field, values
    kept = field.with_type(_kept_type(field.type, paths))
    chunks = [_kept_array(chunk, paths) for chunk in values.chunks]
    return kept, pa.chunked_array(chunks, kept.type)


def _kept_type(kind: pa.DataType, paths: list[Path]) -> pa.DataType:
    import pyarrow as pa

    if paths == [()]:
        return kind
    fields = [kind.field(i) for i in _by_first(paths)]
    below = _by_first(paths).values()
    return pa.struct(
        [field.with_type(_kept_type(field.type, b)) for field, b in zip(fields, below, strict=True)]
    )


def _kept_array(array: Any, paths: list[Path]) -> Any:
    """Levels of values depend on what lies above them, not on what lies beside."""
    import pyarrow as pa

    if paths == [()]:
        return array
    kept = _by_first(paths)
    return pa.StructArray.from_arrays(
        [_kept_array(array.field(i), below) for i, below in kept.items()],
        fields=list(_kept_type(array.type, paths)),
        mask=array.is_null() if array.null_count else None,
    )


# ---- dictionaries ----


def _first_rows(values: Any, path: Path) -> Any:
    """The first values of a unit: of the first chunk alone, if there is much in them."""
    import pyarrow as pa

    chunks = [_at(chunk, path) for chunk in values.slice(0, _SAMPLE_ROWS).chunks]
    is_large = sum(chunk.nbytes for chunk in chunks) > _SAMPLE_BYTES
    return chunks[0] if len(chunks) == 1 or is_large else pa.concat_arrays(chunks)


def _distinct(unit: _Unit, sample: Any) -> set[str]:
    """The leaves of a unit whose first values hardly repeat."""
    found = list(_leaf_values(sample))
    if len(found) != len(unit.leaves):
        return set()
    return {leaf for leaf, values in zip(unit.leaves, found, strict=True) if _are_distinct(values)}


def _leaf_values(array: Any) -> Iterator[Any]:
    """The values of each leaf; too few where lists are of no kind that is looked at."""
    import pyarrow as pa

    kind = array.type
    if isinstance(array, pa.ExtensionArray):
        yield from _leaf_values(array.storage)
    elif pa.types.is_struct(kind):
        for i in range(kind.num_fields):
            yield from _leaf_values(array.field(i))
    elif pa.types.is_map(kind):
        yield from _leaf_values(array.keys)
        yield from _leaf_values(array.items)
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        first, end = array.offsets[0].as_py(), array.offsets[-1].as_py()
        yield from _leaf_values(array.values.slice(first, end - first))
    elif not fields_of(kind):
        yield array


def _are_distinct(values: Any) -> bool:
    first = values.slice(0, _SAMPLE_VALUES)
    count = len(first) - first.null_count
    return bool(count >= _LEAST_VALUES and _num_distinct(first) > _DISTINCT * count)


def _num_distinct(values: Any) -> int:
    """Of values of 4 or 8 bytes, and of strings and bytes; others count as one. pyarrow's own
    functions would have to be imported first, which takes longer than a small file."""
    import pyarrow as pa

    kind, count = values.type, len(values)
    is_large = pa.types.is_large_string(kind) or pa.types.is_large_binary(kind)
    if is_large or pa.types.is_string(kind) or pa.types.is_binary(kind):
        if values.null_count:
            return len({*values.to_pylist()} - {None})
        _, offsets, data = values.buffers()
        ends = _numbers(offsets, 8 if is_large else 4, values.offset, count + 1).tolist()
        text = bytes(memoryview(data or b"")[ends[0] : ends[-1]])
        return len({text[i - ends[0] : j - ends[0]] for i, j in pairwise(ends)})
    if not pa.types.is_primitive(kind) or kind.bit_width not in (32, 64):
        return 1
    if values.null_count:
        return len({*values.to_pylist()} - {None})
    return len(set(_numbers(values.buffers()[1], kind.bit_width // 8, values.offset, count)))


def _numbers(buffer: Any, width: int, offset: int, count: int) -> memoryview:
    """The bits of numbers of 4 or 8 bytes."""
    bits = memoryview(buffer)[offset * width : (offset + count) * width]
    return bits.cast("q" if width == 8 else "i")
