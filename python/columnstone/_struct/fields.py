"""Structured tensors from fields, and from values and row splits. Values are not copied."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _core
from .._base.errors import ArgumentError, argument_error
from .._base.public import public_in
from .as_structured import as_structured, lists_of
from .constant import struct_of
from .spec import as_dims, check_name, dims_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .._core import AnyStructured, Array, StructuredBase
    from .spec import Dims, Shape


@public_in("columnstone.struct")
def from_fields(fields: Mapping[str, Any], shape: Shape | None = None) -> AnyStructured:
    """As StructuredTensor.from_fields."""
    for name in fields:
        if not isinstance(name, str):
            raise TypeError(f"the name of a field must be a str, not {type(name).__name__}")
        check_name(name)
    tensors = {name: as_structured(value) for name, value in fields.items()}
    if shape is None:
        dims: Dims = (None,) if tensors and all(t.rank > 0 for t in tensors.values()) else ()
    else:
        dims = as_dims(shape)
    if not dims:
        rows = {name: _as_row(tensor) for name, tensor in tensors.items()}
        return _core.structured(struct_of(rows, 1), True)
    for name, tensor in tensors.items():
        if tensor.rank < len(dims):
            raise _fail(
                name,
                f"found rank {tensor.rank}, expected at least {len(dims)}, that of the shape "
                f"{dims_text(dims)}",
            )
    return _core.structured(_vector(tensors, dims) if tensors else _no_fields(dims), False)


@public_in("columnstone.struct")
def from_row_splits(values: Any, row_splits: Any) -> AnyStructured:
    """As StructuredTensor.from_row_splits, but also for plain values."""
    tensor = as_structured(values)
    if tensor.rank == 0:
        raise argument_error("the values are a scalar", "row splits need at least one dimension")
    return _core.structured(lists_of(_rows(tensor), row_splits), False)


# ---- rows ----


def _rows(tensor: StructuredBase) -> Array:
    """The rows of the outermost dimension, as an array."""
    return tensor._array.flatten() if tensor.is_row else tensor._array


def _as_row(tensor: StructuredBase) -> Array:
    """The tensor as the only value of an array."""
    if tensor.is_row:
        return tensor._array
    return lists_of(tensor._array, [0, len(tensor._array)])


def _no_fields(dims: Dims) -> Array:
    """Structs without fields."""
    count = 1
    lists = []
    for i, dim in enumerate(dims):
        if dim is None:
            hint = "give a shape of numbers"
            raise argument_error(f"dimension {i} is unknown, because there are no fields", hint)
        if i > 0:
            lists.append((count, dim))
        count *= dim
    if count >= 2**60:
        raise argument_error(f"the shape {dims_text(dims)} has 2**60 structs or more")
    array = struct_of({}, count)
    for length, size in reversed(lists):
        array = _core.array_of_lists(array, None, length, size, None)
    return array


# ---- dimensions ----


class _Level:
    """The lists of one field in one dimension below the outermost."""

    __slots__ = ("array", "lengths")

    def __init__(self, array: Array) -> None:
        self.array = array
        self.lengths = array.lengths()  # null where a list is

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Level):
            return NotImplemented
        a, b = self.lengths, other.lengths
        if a.null_count == b.null_count == 0:
            return bytes(memoryview(a)) == bytes(memoryview(b))  # type: ignore[arg-type]
        return a.to_pylist() == b.to_pylist()

    def wrap(self, items: Array, dim: int | None) -> Array:
        """Other items in the same lists, with their length if it is the same for all."""
        count = len(self.array)
        nulls = self.array.null_mask() if self.array.null_count > 0 else None
        format = self.array.schema.format
        if nulls is None and (dim is not None or format.startswith("+w:")):
            size = int(format[3:]) if dim is None else dim
            return _core.array_of_lists(items, None, count, size, None)
        splits = _core.structured(self.array, False).row_splits[0]
        return _core.array_of_lists(items, splits, 0, 0, nulls)


def _vector(tensors: dict[str, Any], dims: Dims) -> Array:
    """The structs in all dimensions."""
    columns = {name: _rows(tensor) for name, tensor in tensors.items()}
    _check_lengths(columns, dims[0])
    levels = []
    for i, dim in enumerate(dims[1:], 1):
        found = {name: _Level(column) for name, column in columns.items()}
        first = next(iter(found))
        for name, level in found.items():
            if level != found[first]:
                raise _other_lists(name, level.lengths, found[first].lengths, first, i)
        if dim is not None:
            _check_dim(first, found[first].lengths, dim, i)
        levels.append((found[first], dim))
        columns = {name: column.flatten() for name, column in columns.items()}
    array = struct_of(columns, len(next(iter(columns.values()))))
    for level, dim in reversed(levels):
        array = level.wrap(array, dim)
    return array


def _check_lengths(columns: dict[str, Array], dim: int | None) -> None:
    first = next(iter(columns))
    expected = len(columns[first]) if dim is None else dim
    as_in = f" as in {first!r}" if dim is None else ""
    for name, column in columns.items():
        if len(column) != expected:
            raise _fail(name, f"found {len(column)} rows, expected {expected}{as_in}")


def _check_dim(name: str, lengths: Array, dim: int, i: int) -> None:
    for row, length in enumerate(lengths.to_pylist()):
        if length != dim:
            raise _fail(
                name, f"row {row} of dimension {i} is {_long(length)}, expected {dim}", row, i
            )


def _other_lists(name: str, found: Array, expected: Array, first: str, i: int) -> ArgumentError:
    pairs = enumerate(zip(found.to_pylist(), expected.to_pylist(), strict=True))
    row, (a, b) = next(item for item in pairs if item[1][0] != item[1][1])
    text = f"row {row} of dimension {i} is {_long(a)}, expected {_long(b)} as in {first!r}"
    return _fail(name, text, row, i)


def _long(length: int | None) -> str:
    return "null" if length is None else f"{length} long"


def _fail(name: str, text: str, row: int | None = None, dimension: int = 0) -> ArgumentError:
    """`row` counts the rows of a dimension; those of the first dimension below the outermost are
    the rows of the tensor."""
    record = row if dimension == 1 else None
    place = "" if record is None else f"record {record}, "
    return ArgumentError(f"{place}feature {name!r}: {text}", path=name, record=record)
