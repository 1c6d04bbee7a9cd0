"""Operations on whole dimensions: concatenating, repeating, adding and removing them."""

from __future__ import annotations

from array import array as _numbers
from collections.abc import Iterable
from operator import index as _index
from typing import TYPE_CHECKING, Any, cast

from .. import _core
from .._arrow.table import array
from .._base.errors import ArgumentError
from .._base.public import public_in
from .as_structured import all_structured, as_structured

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._core import AnyStructured


@public_in("columnstone.struct")
def concat(values: Iterable[object], axis: int = 0) -> AnyStructured:
    """Concatenates tensors along a dimension.

    They must have the same rank, and the same row lengths in the dimensions before the axis
    (otherwise ArgumentError with the row). Types are promoted as in `columnstone.concat`; a field
    that a tensor lacks is null in its rows. A null row counts as an empty one; if it is null in all
    tensors, the result is null.

    >>> concat([[[1], [2, 3]], [[4], []]], axis=1).to_py()
    [[1, 4], [2, 3]]
    """
    return _core.structured_concat(all_structured(values), _index(axis))


@public_in("columnstone.struct")
def stack(values: Iterable[object], axis: int = 0) -> AnyStructured:
    """Stacks tensors along a new dimension. They must have the same rank, and the same row lengths
    in the dimensions before the axis; lengths after it may differ. Nulls remain nulls.

    >>> stack([[1, 2], [3, 4]], axis=1).to_py()
    [[1, 3], [2, 4]]
    """
    return _core.structured_stack(all_structured(values), _index(axis))


@public_in("columnstone.struct")
def unstack(tensor: object, num: int | None = None, axis: int = 0) -> list[AnyStructured]:
    """Splits a tensor along a dimension into parts without that dimension. All rows of the
    dimension must have the same length, which must be `num` if that is given (otherwise
    ArgumentError).

    >>> [part.to_py() for part in unstack([[1, 2], [3, 4]], axis=1)]
    [[1, 3], [2, 4]]
    """
    structured = as_structured(tensor)
    at = _axis(structured, axis)
    length = structured.shape[at]
    if length is None or (num is not None and num != length):
        found = "rows of different lengths" if length is None else f"a length of {length}"
        expected = "one length" if num is None else f"{num}"
        raise ArgumentError(f"dimension {at} has {found}, expected {expected}")
    front = (slice(None),) * at
    return [structured[(*front, i)] for i in range(length)]


def _axis(structured: AnyStructured, axis: int) -> int:
    """The dimension for an axis, which may be negative."""
    at = _index(axis)
    if not -structured.rank <= at < structured.rank:
        raise ArgumentError(f"axis {at} of a tensor of {structured.rank} dimensions")
    return at % structured.rank


@public_in("columnstone.struct")
def tile(tensor: object, multiples: Sequence[int]) -> AnyStructured:
    """Repeats the tensor along each dimension, `multiples[i]` times along dimension i. Null rows
    remain null.

    >>> tile([[1], [2, 3]], [1, 2]).to_py()
    [[1, 1], [2, 3, 2, 3]]
    """
    if not isinstance(multiples, Iterable):
        raise ArgumentError("multiples is a list with a number for each dimension")
    counts = _numbers("q", [_index(count) for count in multiples])
    return _core.structured_tile(as_structured(tensor), counts)


@public_in("columnstone.struct")
def expand_dims(tensor: object, axis: int) -> AnyStructured:
    """Adds a dimension of length 1. Nulls remain nulls inside it.

    >>> expand_dims([1, 2], 1).to_py()
    [[1], [2]]
    """
    return _core.structured_expand_dims(as_structured(tensor), _index(axis))


@public_in("columnstone.struct")
def squeeze(tensor: object, axis: int | Sequence[int] | None = None) -> AnyStructured:
    """Removes dimensions of length 1: the given ones (ArgumentError with the first row of another
    length) or, by default, all of them. A null row becomes a null element.

    >>> squeeze([[1], [2]], 1).to_py()
    [1, 2]
    """
    structured = as_structured(tensor)
    if axis is None:
        return _core.structured_squeeze(structured, ())
    axes = tuple(axis) if isinstance(axis, list | tuple) else (axis,)
    if not axes:
        return structured
    return _core.structured_squeeze(structured, tuple(_index(cast("Any", a)) for a in axes))


@public_in("columnstone.struct")
def merge_dims(tensor: object, outer: int, inner: int) -> AnyStructured:
    """Merges the dimensions from outer to inner into one, with their rows one after the other. A
    null row inside them counts as empty.

    >>> merge_dims([[1], [2, 3]], 0, 1).to_py()
    [1, 2, 3]
    """
    return _core.structured_merge_dims(as_structured(tensor), _index(outer), _index(inner))


@public_in("columnstone.struct")
def partition_outer_dimension(tensor: object, partition: int | Iterable[int]) -> AnyStructured:
    """Splits the outermost dimension into two. An int makes rows of that length; row splits give
    the start of each row and the end of the last one.

    >>> partition_outer_dimension([1, 2, 3], [0, 1, 1, 3]).to_py()
    [[1], [], [2, 3]]
    """
    structured = as_structured(tensor)
    if not isinstance(partition, Iterable):
        return _core.structured_partition(structured, None, _index(partition))
    return _core.structured_partition(structured, int64s(partition), 0)


def int64s(numbers: Any) -> _numbers[int]:
    """A list, a numpy array or an Arrow array as a list of ints."""
    if hasattr(numbers, "__arrow_c_array__"):
        numbers = array(numbers).to_pylist()
    elif hasattr(numbers, "tolist"):
        numbers = numbers.tolist()
    return _numbers("q", [_index(number) for number in numbers])


@public_in("columnstone.struct")
def identity(tensor: object) -> AnyStructured:
    """Returns the tensor itself, because it is immutable."""
    return as_structured(tensor)


@public_in("columnstone.struct")
def rank(tensor: object) -> int:
    """The number of dimensions."""
    return as_structured(tensor).rank


@public_in("columnstone.struct")
def shape(tensor: object) -> tuple[int | None, ...]:
    """The length of each dimension; None where its rows differ in length."""
    return as_structured(tensor).shape


@public_in("columnstone.struct")
def size(tensor: object) -> int:
    """The number of elements."""
    structured = as_structured(tensor)
    return 1 if structured.rank == 0 else len(structured.flat_values)


@public_in("columnstone.struct")
def row_lengths(tensor: object, axis: int = 1) -> AnyStructured:
    """The lengths of the rows of a dimension, in the shape of the dimensions before it; null for a
    null row.

    >>> row_lengths([[1], [], None, [2, 3]]).to_py()
    [1, 0, None, 2]
    """
    return _core.structured_row_lengths(as_structured(tensor), _index(axis))


@public_in("columnstone.struct")
def zeros_like(tensor: object) -> AnyStructured:
    """Replaces all values with zero, False or an empty string; nulls stay. SchemaError, with the
    path, for times and other types without a zero."""
    return _core.structured_like(as_structured(tensor), 0)


@public_in("columnstone.struct")
def ones_like(tensor: object) -> AnyStructured:
    """Replaces all values with one or True; nulls stay. SchemaError, with the path, for strings and
    other types without a one."""
    return _core.structured_like(as_structured(tensor), 1)
