"""Rows, columns and lists of Arrow data.

Methods of RecordBatch and Array that accept many kinds of arguments are implemented here. They
convert arguments to the form that the compiled part takes. `concat`, `record_batch` and `array` are
here, too.
"""

from __future__ import annotations

import pickle
import struct
import sys
from array import array as _numbers
from collections.abc import Mapping
from operator import index as _index
from typing import TYPE_CHECKING, Any, TypeAlias, cast, overload

from .. import _core
from .._base.errors import (
    ArgumentError,
    NotFoundError,
    SchemaError,
    UnsupportedError,
    argument_error,
)
from .._base.optional import need
from .._base.public import public, public_in
from .._core import Array, RecordBatch
from .huggingface import Rows as DatasetRows
from .objects import array_of, batch_of_rows, is_arrow, is_dataset
from .pointers import exported

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import numpy.typing as npt

    from .._core import ArrowArrayExportable, ArrowSchema, ArrowStreamExportable, Buffer
    from .objects import HuggingFaceDataset

    Rows: TypeAlias = Iterable[int | None] | npt.NDArray[Any] | ArrowArrayExportable
    Mask: TypeAlias = Iterable[bool | None] | npt.NDArray[Any] | ArrowArrayExportable
    Path: TypeAlias = str | tuple[str, ...]

# Arrow's format of a number: the code in the struct module.
_CODES = dict(zip("cCsSiIlLefg", "bBhHiIqQefd", strict=True))
_FORMATS = {code: format for format, code in _CODES.items()}
_FORMATS_OF_NUMPY = {
    f"{kind}{width}": format
    for kind, widths in {"i": "csil", "u": "CSIL"}.items()
    for width, format in zip((1, 2, 4, 8), widths, strict=True)
} | {"f2": "e", "f4": "f", "f8": "g"}

# ---- making arrays and batches ----


@public
def array(
    obj: ArrowArrayExportable
    | ArrowStreamExportable
    | npt.NDArray[Any]
    | list[Any]
    | tuple[Any, ...],
) -> Array:
    """Converts a column to an Array. Accepts anything with `__arrow_c_array__` (pyarrow, nanoarrow)
    or `__arrow_c_stream__` (a Polars Series, a pyarrow ChunkedArray), without a copy unless it has
    several chunks; a numpy array, which is copied (several dimensions become lists); and a list of
    Python values.

    Arrow data of other libraries is validated: CorruptError says where it is invalid.
    Dictionary-encoded values are decoded.

    Python values can be None, bool, int (int64), float (float64), str, bytes, date, datetime,
    timedelta (microseconds), lists and arrays of numbers (large_list), dicts and dataclasses
    (struct). Mixed ints and floats become float64 if that is exact; missing dict keys are null.
    Raises SchemaError with row and path if a value has a different type than the values before it.

    >>> cst.array([[1, 2], None]).type
    'large_list<int64>'
    >>> cst.array([1, 2, 3])[1:].to_pylist()
    [2, 3]
    """
    if isinstance(obj, Array):
        return obj
    if isinstance(obj, list | tuple | range):
        return array_of(obj)
    obj = exported(obj)
    if hasattr(obj, "__arrow_c_array__"):
        return cast("Array", _core.array_import(cast("Any", obj), False))
    if hasattr(obj, "__arrow_c_stream__"):
        return cast("Array", _one_of(_core.array_import_stream(obj, False)))
    if hasattr(obj, "__array__"):
        return _array_of_numpy(obj)
    raise TypeError(f"cannot make an Array from {type(obj).__name__}: it has no __arrow_c_array__")


@public
def record_batch(
    obj: ArrowArrayExportable
    | ArrowStreamExportable
    | Mapping[str, ArrowArrayExportable | npt.NDArray[Any] | list[Any] | tuple[Any, ...]]
    | Sequence[Mapping[str, Any]]
    | HuggingFaceDataset,
) -> RecordBatch:
    """Converts data to a RecordBatch. Accepts a struct array or batch with `__arrow_c_array__`,
    such as a pyarrow.RecordBatch, without a copy; a dict of columns; a list of rows (dicts); and,
    combined into one batch, a table, a data frame, anything with `__arrow_c_stream__`, or a Hugging
    Face dataset.

    Arrow data of other libraries is validated: CorruptError says where it is invalid.
    Dictionary-encoded columns are decoded. Rows and columns of Python values get the types that
    `array` gives them.

    >>> cst.record_batch([{"id": 1}, {"id": 2}]).to_pydict()
    {'id': [1, 2]}
    >>> cst.record_batch({"id": [1, 2], "name": ["a", None]}).column("name").null_count
    1
    """
    if isinstance(obj, RecordBatch):
        return obj
    if isinstance(obj, list | tuple):
        return batch_of_rows(obj)
    obj = exported(obj)
    if is_dataset(obj):
        obj = DatasetRows(obj)
    if isinstance(obj, Mapping) and not is_arrow(obj):
        columns = _columns_of(obj)
        return _batch_of(list(obj), columns, len(columns[0]) if columns else 0)
    if hasattr(obj, "__arrow_c_array__"):
        return cast("RecordBatch", _core.array_import(cast("Any", obj), True))
    if hasattr(obj, "__arrow_c_stream__"):
        return cast("RecordBatch", _one_of(_core.array_import_stream(cast("Any", obj), True)))
    raise TypeError(
        f"cannot make a RecordBatch from {type(obj).__name__}: it has no __arrow_c_array__"
    )


def _one_of(chunks: list[Array] | list[RecordBatch]) -> Array | RecordBatch:
    return chunks[0] if len(chunks) == 1 else _core.array_concat(cast("Any", tuple(chunks)))


@overload
def concat(batches: Iterable[Array]) -> Array: ...  # type: ignore[overload-overlap]
@overload
def concat(
    batches: Iterable[RecordBatch | ArrowArrayExportable | ArrowStreamExportable],
) -> RecordBatch: ...
@public
def concat(
    batches: Iterable[RecordBatch | ArrowArrayExportable | ArrowStreamExportable] | Iterable[Array],
) -> RecordBatch | Array:
    """Concatenates batches into one batch, or Arrays into one Array. Batches and tables of other
    libraries are accepted too.

    Columns are matched by name, in the order of their first appearance. If a batch lacks a column,
    its rows are null there. Types are promoted if no value changes: null to any type, integers to
    the narrowest type for both, integers and floats to float64 if it represents every integer
    exactly, float32 to float64, list layouts to large_list, binary layouts to large_binary or
    large_string. Other differences are a SchemaError with the path of the column. An empty list
    gives a batch without rows and columns.

    >>> cst.concat([cst.array([1]), cst.array([2, 3])]).to_pylist()
    [1, 2, 3]
    """
    items: tuple[Any, ...] = tuple(batches)
    if not items or not all(isinstance(item, Array) for item in items):
        items = tuple(record_batch(item) for item in items)
    return _core.array_concat(items)


def _columns_of(mapping: Mapping[str, Any]) -> list[Array]:
    """The columns, all with the same length."""
    columns = [_named_column(name, values) for name, values in mapping.items()]
    for name, column in zip(mapping, columns, strict=True):
        if len(column) != len(columns[0]):
            raise ArgumentError(
                f"feature {name!r}: {len(column)} values, expected {len(columns[0])} as in "
                f"{next(iter(mapping))!r}",
                path=name,
            )
    return columns


def _named_column(name: object, values: Any) -> Array:
    if not isinstance(name, str):
        raise TypeError(f"the name of a column must be a str, not {type(name).__name__}")
    if isinstance(values, list | tuple | range):
        return array_of(values, name)
    if not is_arrow(values) and not hasattr(values, "__array__"):
        raise TypeError(f"column {name!r} is {type(values).__name__}, expected a list or an array")
    return array(values)


def _tree(schema: ArrowSchema, name: str) -> tuple[Any, ...]:
    """The type as nested tuples, with another name."""
    tree = schema.__reduce__()[1][0]
    return (tree[0], name.encode("utf-8", "surrogateescape"), *tree[2:])


def _batch_of(
    names: list[str], columns: list[Array], num_rows: int, metadata: bytes | None = None
) -> RecordBatch:
    children = tuple(_tree(c.schema, name) for name, c in zip(names, columns, strict=True))
    schema = _core.ArrowSchema._of_tree((b"+s", b"", 0, metadata, children, None))
    return _core.batch_from(schema, tuple(columns), num_rows)


def _from_buffers(
    format: str, length: int, buffers: tuple[Buffer | None, ...], null_count: int = 0
) -> Array:
    schema = _core.ArrowSchema._of_tree((format.encode(), b"", 2, None, (), None))  # nullable
    return Array._of_tree(schema, (length, 0, null_count, buffers, ()))


def _array_of_numpy(obj: Any) -> Array:
    import numpy as np

    if isinstance(obj, np.ma.MaskedArray):
        raise UnsupportedError("a masked array: its mask would be lost; use pyarrow.array()")
    values = np.asarray(obj)
    if values.ndim == 0:
        raise ArgumentError("an Array has at least one dimension, not 0")
    if values.ndim > 1 or values.dtype.kind in "OUS":
        return array_of(list(values))
    if values.dtype.kind in "mM":
        return _array_of_times(values)
    if values.dtype.kind == "b":
        bits = np.packbits(values, bitorder="little").tobytes()
        return _from_buffers("b", len(values), (None, bits))
    format = _FORMATS_OF_NUMPY.get(values.dtype.str[1:])
    if format is None:
        raise UnsupportedError(
            f"numpy arrays of {values.dtype} cannot become an Array: use pyarrow.array()"
        )
    native = np.ascontiguousarray(values, values.dtype.newbyteorder("="))
    return _from_buffers(format, len(values), (None, native))


def _array_of_times(values: Any) -> Array:
    """NaT is null."""
    import numpy as np

    for format, (dtype, letter) in _TIMES.items():
        if values.dtype.newbyteorder("=") == dtype and format != "tdm":
            nulls = np.isnat(values)
            valid = np.packbits(~nulls, bitorder="little").tobytes()
            numbers = np.where(nulls, 0, values.astype(dtype).view("q")).astype(letter)
            whole = format + ":" if format.startswith("ts") else format
            return _from_buffers(whole, len(values), (valid, numbers), int(nulls.sum()))
    raise UnsupportedError(f"numpy arrays of {values.dtype} cannot become an Array")


def _array_of_values(schema: ArrowSchema, values: list[Any]) -> Array:
    """Values other than None, converted to the type of `schema`."""
    format = schema.format
    try:
        if format in _CODES:
            data = struct.pack(f"={len(values)}{_CODES[format]}", *values)
            return _from_buffers(format, len(values), (None, data))
        if format == "b":
            bits = sum(bool(value) << i for i, value in enumerate(values))
            data = bits.to_bytes(len(values) // 8 + 1, "little")
            return _from_buffers(format, len(values), (None, data))
        if format in ("z", "Z", "u", "U"):
            return _array_of_strings(format, values)
    except (struct.error, OverflowError) as error:
        raise ArgumentError(f"the values do not fit the type {schema}: {error}") from error
    raise UnsupportedError(f"Python objects cannot be converted to type {schema}: use an Array")


def _array_of_strings(format: str, values: list[Any]) -> Array:
    items = [value.encode() if isinstance(value, str) else bytes(value) for value in values]
    offsets = _numbers("q" if format in "ZU" else "i", [0])
    for item in items:
        offsets.append(offsets[-1] + len(item))
    return _from_buffers(format, len(items), (None, offsets, b"".join(items)))


# ---- rows ----


def _row(row: Any) -> int:
    if isinstance(row, bool):
        raise TypeError("rows are numbers, not bools: a mask is for filter()")
    return -1 if row is None else _index(row)


def _rows(rows: Rows) -> tuple[Buffer, int]:
    """Row numbers as int64, with -1 for nulls, and the number of nulls."""
    rows = exported(rows)
    if hasattr(rows, "__arrow_c_array__"):
        return _rows_of_array(array(rows))
    if hasattr(rows, "__array__"):
        return _rows_of_numpy(rows)
    if isinstance(rows, str):
        raise TypeError("rows are numbers, not a str")
    given = list(rows)
    try:
        return _numbers("q", map(_row, given)), sum(row is None for row in given)
    except OverflowError:
        raise ArgumentError("there is no such row: the number does not fit 64 bits") from None


def _rows_of_array(rows: Array) -> tuple[Buffer, int]:
    format = rows.schema.format
    if format == "l":
        full = rows if rows.null_count == 0 else fill_null(rows, -1)
        return cast("Buffer", full), rows.null_count
    if format not in (*"cCsSiIL", "n"):
        raise TypeError(f"rows are integers, not {rows.type}")
    return _rows(rows.to_pylist())


def _rows_of_numpy(rows: Any) -> tuple[Buffer, int]:
    import numpy as np

    values = np.asarray(rows)
    if values.dtype.kind == "O" or values.size == 0:
        return _rows(values.tolist())
    if values.ndim != 1 or values.dtype.kind not in "iu":
        raise TypeError(f"rows are integers in one dimension, not {values.dtype}{values.shape}")
    if values.dtype.kind == "u" and values.max() > 2**63 - 1:
        raise ArgumentError("there is no such row: the number does not fit 64 bits")
    return cast("Buffer", np.ascontiguousarray(values, np.int64)), 0


def _mask(mask: Mask) -> Buffer:
    """A byte for each row."""
    mask = exported(mask)
    if hasattr(mask, "__arrow_c_array__"):
        bools = array(mask)
        is_bytes = bools.schema.format == "C" and bools.null_count == 0  # of null_mask()
        return cast("Buffer", bools) if is_bytes else _core.array_mask(bools)
    if hasattr(mask, "__array__"):
        import numpy as np

        values = np.asarray(mask)
        if values.dtype.kind == "b" and values.ndim == 1:
            return cast("Buffer", np.ascontiguousarray(values).view(np.uint8))
        if values.dtype.kind != "O":
            raise TypeError(f"a mask is of bools, not {values.dtype}{values.shape}")
        mask = values.tolist()
    items = list(mask)
    for item in items:
        if item is not None and type(item).__name__ not in ("bool", "bool_"):
            raise TypeError(
                f"a mask is of bools, not of {type(item).__name__}: rows are for take()"
            )
    return bytes(1 if item else 0 for item in items)


def take(self: Any, rows: Rows) -> Any:
    numbers, num_nulls = _rows(rows)
    negative = _negative(numbers)
    if len(negative) > num_nulls:
        raise argument_error(
            f"row {min(negative)} of an array of {len(self)} rows", "None is a row of nulls"
        )
    return take_or_null(self, numbers)


def _negative(rows: Buffer) -> list[int]:
    if "numpy" in sys.modules:
        import numpy as np

        numbers: npt.NDArray[Any] = np.asarray(rows)
        return cast("list[int]", numbers[numbers < 0].tolist())
    return [row for row in memoryview(rows) if row < 0]


def take_or_null(self: Any, rows: Buffer) -> Any:
    """The rows with these numbers, which are int64; -1 is a row of nulls."""
    if isinstance(self, Array) and self.schema.format == "+s":
        # A missing row has nulls in all columns; a missing struct is null, as in a column.
        return _core.array_take(record_batch({"struct": self}), rows)["struct"]
    return _core.array_take(self, rows)


def filter(self: Any, mask: Mask) -> Any:
    return _core.array_filter(self, _mask(mask))


# ---- columns ----


def _steps(batch: RecordBatch, path: Path) -> tuple[bytes, ...]:
    """The name of a column if there is one, otherwise a path with dots; a tuple is always a
    path."""
    if isinstance(path, str):
        names = (path,) if path in batch.column_names else tuple(path.split("."))
    elif isinstance(path, tuple) and path and all(isinstance(step, str) for step in path):
        names = path
    else:
        raise TypeError(f"a column is named by a str or a tuple of str, not by {path!r}")
    if any("\0" in name for name in names):
        raise KeyError(path)
    return tuple(name.encode("utf-8", "surrogateescape") for name in names)


def _column(batch: RecordBatch, path: Path, with_rows: bool) -> Any:
    try:
        return _core.array_column(batch, _steps(batch, path), with_rows)
    except (NotFoundError, SchemaError) as error:
        raise KeyError(str(error)) from error


def column(self: RecordBatch, path: Path) -> Array:
    if isinstance(path, str) and "." not in path:
        raise KeyError(path)  # the compiled part has looked for the name
    return cast("Array", _column(self, path, False))


def column_with_rows(self: RecordBatch, path: Path) -> tuple[Array, Array]:
    return cast("tuple[Array, Array]", _column(self, path, True))


def _is_under_lists(schema: ArrowSchema, steps: tuple[bytes, ...]) -> bool:
    for step in steps:
        name = step.decode("utf-8", "surrogateescape")
        if schema.format != "+s":
            return True
        schema = schema.children[schema.names.index(name)]
    return False


def select(self: RecordBatch, columns: Iterable[Path | int]) -> RecordBatch:
    if isinstance(columns, str):
        raise TypeError("select() takes a list of columns")
    names = []
    arrays = []
    for path in columns:
        arrays.append(self.column(path))
        if isinstance(path, int):
            names.append(self.column_names[path])
            continue
        if _is_under_lists(self.schema, _steps(self, path)):
            raise ArgumentError(
                f"column {path!r} is inside lists and has no single value per row: use column()"
            )
        names.append(path if isinstance(path, str) else ".".join(path))
    return _batch_of(names, arrays, len(self), self.schema.__reduce__()[1][0][3])


def sort_columns(self: RecordBatch) -> RecordBatch:
    names = self.column_names
    order = sorted(range(len(names)), key=names.__getitem__)
    if order == list(range(len(names))):
        return self
    metadata = self.schema.__reduce__()[1][0][3]
    columns = [self.column(i) for i in order]
    return _batch_of([names[i] for i in order], columns, len(self), metadata)


def field(self: Array, key: str | int) -> Array:
    if self.schema.format != "+s":
        raise TypeError(f"an Array of {self.type} has no fields (for lists, call flatten() first)")
    names = self.schema.names
    if isinstance(key, str):
        if key not in names:
            raise KeyError(f"there is no field {key!r}: the struct has {', '.join(names)}")
        key = names.index(key)
    at = _index(key)
    if not -len(names) <= at < len(names):
        raise IndexError(f"field {at} of a struct of {len(names)}: {', '.join(names)}")
    structs = _batch_of(["struct"], [self], len(self))
    return cast("Array", _column(structs, ("struct", names[at]), False))


# ---- groups ----


@public_in("columnstone.arrow")
class Groups:
    """The rows of a batch, grouped by the values of key columns; see RecordBatch.group_by.

    keys: a RecordBatch with one row for each group: the values of the key columns
    rows: an Array, large_list<int64>: the row numbers of each group, ascending

    Iteration returns (key, batch): the key as a dict of name to value, and the rows of the group as
    a new batch.

    >>> groups = cst.open("trips.csv").head(4).group_by("company")
    >>> [(key["company"], rows["fare"].to_pylist()) for key, rows in groups]
    [('Blue', [9.5, 7.25]), ('Red', [12.0]), ('Green', [30.0])]
    """

    __slots__ = ("_batch", "keys", "rows")

    keys: RecordBatch
    rows: Array

    def __init__(self, batch: RecordBatch, keys: RecordBatch, rows: Array) -> None:
        self._batch = batch
        self.keys = keys
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def _checked(self, i: int) -> int:
        at = i + len(self) if i < 0 else i
        if not 0 <= at < len(self):
            raise IndexError(f"there are {len(self)} groups")
        return at

    def key(self, i: int) -> dict[str, Any]:
        """The key of group i."""
        at = self._checked(i)
        names = self.keys.column_names
        return {name: self.keys.column(j)[at] for j, name in enumerate(names)}

    def rows_of(self, i: int) -> Array:
        """The rows of group i, ascending: int64."""
        return self.rows.slice(self._checked(i), 1).flatten()

    def __getitem__(self, i: int) -> tuple[dict[str, Any], RecordBatch]:
        return self.key(i), self._batch.take(self.rows_of(i))

    def __iter__(self) -> Iterator[tuple[dict[str, Any], RecordBatch]]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"<columnstone.arrow.Groups: {len(self)} by {', '.join(self.keys.column_names)}>"

    def _repr_html_(self) -> str | None:
        from .show import groups_html

        return groups_html(self.keys, self.rows)


def batch_repr(self: RecordBatch) -> str:
    from .show import batch_text

    return batch_text(self)


def array_repr(self: Array) -> str:
    from .show import array_text

    return array_text(self)


def batch_repr_html(self: RecordBatch) -> str:
    from .show import batch_html

    return batch_html(self)


def array_repr_html(self: Array) -> str:
    from .show import array_html

    return array_html(self)


def group_by(self: RecordBatch, columns: Path | Iterable[Path]) -> Groups:
    paths = [columns] if isinstance(columns, str) else columns
    steps = tuple(_steps(self, path) for path in paths)
    try:
        return Groups(self, *_core.array_group_by(self, steps))
    except NotFoundError as error:
        raise KeyError(str(error)) from error


# ---- lists and nulls ----


def from_parents(values: Any, parents: Any, num_rows: int, empty_as_null: bool = False) -> Array:
    parents = exported(parents)
    if not hasattr(parents, "__arrow_c_array__") and not hasattr(parents, "__array__"):
        parents = _from_buffers("l", len(parents), (None, _parents(parents)))
    return _core.array_from_parents(array(values), array(parents), num_rows, empty_as_null)


def _parents(parents: Iterable[int]) -> Buffer:
    return _numbers("q", (_index(parent) for parent in parents))


def fill_null(self: Array, fill: Any) -> Array:
    return _core.array_fill_null(self, fill_of(self.schema, fill))


def fill_of(schema: ArrowSchema, fill: Any) -> Array:
    """The value that fills nulls of a type: an Array with one value, or with one value for the
    lists."""
    fill = exported(fill)
    if hasattr(fill, "__arrow_c_array__"):
        return array(fill)
    is_list = schema.format[:2] in ("+l", "+L", "+w", "+v", "+m")
    item = schema.children[0] if is_list else schema
    return array(_array_of_values(item, list(fill) if is_list else [fill]))


def to_numpy(self: Array) -> npt.NDArray[Any]:
    np = need("numpy", "Array.numpy()")

    format = self.schema.format
    if format in _CODES:
        return np.asarray(memoryview(cast("Any", self)))
    if self.null_count > 0:
        raise BufferError(f"the Array has {self.null_count} nulls: call fill_null() first")
    if format == "b":
        return np.frombuffer(_core.array_mask(self), np.bool_)
    if format.startswith("+w:"):
        items = self.flatten().numpy()
        return items.reshape(len(self), int(format[3:]), *items.shape[1:])
    raise BufferError(f"an Array of {self.type} cannot become a numpy array: use to_pylist()")


# Arrow's formats of times and durations that numpy supports: the dtype, and the code of an integer
# with as many bytes.
_TIMES = {"tdD": ("M8[D]", "i"), "tdm": ("M8[ms]", "l")} | {
    kind + unit: (f"{code}[{name}]", "l")
    for kind, code in (("ts", "M8"), ("tD", "m8"))
    for unit, name in (("s", "s"), ("m", "ms"), ("u", "us"), ("n", "ns"))
}


def as_numpy(self: Array, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
    """Implements __array__."""
    np = need("numpy", "a numpy array of an Array")

    as_objects = dtype is not None and np.dtype(dtype) == np.dtype(object)
    made, is_view = (_objects(self), False) if as_objects else _typed(self)
    if dtype is not None and np.dtype(dtype) != made.dtype:
        made, is_view = made.astype(dtype), False
    if copy is False and not is_view:
        raise ValueError(f"an Array of {self.type} cannot become that numpy array without a copy")
    return made.copy() if copy and not made.flags.writeable else made


def _typed(self: Array) -> tuple[npt.NDArray[Any], bool]:
    """The values with numpy's own type, and whether they share memory with the Array."""
    import numpy as np

    format = self.schema.format
    is_list = format[:2] in ("+l", "+L", "+w", "+v")
    time = _TIMES.get(format.split(":")[0])
    if not (is_list or time or format in _CODES or format == "b"):
        return _objects(self), False
    if self.null_count > 0:
        hint = "call fill_null() first, or use dtype=object"
        raise ArgumentError(
            f"{self.null_count} of {len(self)} values are null, which numpy cannot represent "
            f"({hint})",
            hint=hint,
        )
    if is_list:
        return _rows_of_lists(self)
    if format == "b":
        return np.frombuffer(_core.array_mask(self), np.bool_), False
    if time is None:
        return np.asarray(memoryview(cast("Any", self))), True
    own: Any = (self,)
    length, offset, _, buffers, _ = _core.array_dump(_core.array_concat(own))
    values = np.frombuffer(buffers[1], _CODES[time[1]])[offset : offset + length]
    return values.astype("q", copy=False).view(time[0]), False


def _rows_of_lists(self: Array) -> tuple[npt.NDArray[Any], bool]:
    items, is_view = _typed(self.flatten())
    lengths = _typed(self.lengths())[0]
    width = int(lengths[0]) if len(lengths) else 0
    if not (lengths == width).all():
        hint = "flatten_with_parents(), to_pylist(), or dtype=object"
        raise ArgumentError(
            f"the lists have {lengths.min()} to {lengths.max()} values, but the rows of a numpy "
            f"array must have the same length ({hint})",
            hint=hint,
        )
    return items.reshape(len(self), width, *items.shape[1:]), is_view


def _objects(self: Array) -> npt.NDArray[Any]:
    import numpy as np

    made: npt.NDArray[Any] = np.empty(len(self), object)
    for i, value in enumerate(self.to_pylist()):
        made[i] = value
    return made


# ---- pandas ----


def frame_of(batches: Iterable[RecordBatch], schema: ArrowSchema) -> Any:
    """A DataFrame with Arrow-backed columns."""
    pd = need("pandas", "to_pandas()")
    pa = need("pyarrow", "to_pandas()", "pandas")
    parts = [pa.record_batch(batch) for batch in batches]
    return pa.Table.from_batches(parts, pa.schema(schema)).to_pandas(types_mapper=pd.ArrowDtype)


def to_pandas(self: RecordBatch) -> Any:
    return frame_of([self], self.schema)


# ---- pickling: only the rows, copied ----


def _out_of_band(tree: tuple[Any, ...]) -> tuple[Any, ...]:
    *numbers, buffers, children = tree
    wrapped = tuple(None if b is None else pickle.PickleBuffer(b) for b in buffers)
    return (*numbers, wrapped, tuple(_out_of_band(child) for child in children))


def reduce_ex(
    self: RecordBatch | Array, protocol: int
) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    own: Any = (self, self[:0])  # one alone is shared, with all that its slices do not show
    tree = _core.array_dump(_core.array_concat(own))
    return type(self)._of_tree, (self.schema, _out_of_band(tree) if protocol >= 5 else tree)
