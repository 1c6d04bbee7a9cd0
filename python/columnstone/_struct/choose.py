"""Operations that choose elements: by index, by mask, in reverse, and one of two."""

from __future__ import annotations

from operator import index as _index
from typing import TYPE_CHECKING, cast

from .. import _core
from .._base.errors import Error, argument_error
from .._base.public import public_in
from .as_structured import as_structured
from .constant import constant
from .spec import LeafSpec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._core import AnyStructured


@public_in("columnstone.struct")
def gather(
    tensor: object, indices: object, axis: int | None = None, batch_dims: int = 0
) -> AnyStructured:
    """Takes elements along dimension `axis` by their indices; the dimensions of the indices replace
    that dimension. The first `batch_dims` dimensions of the tensor and of the indices are the same,
    and are processed together. axis is `batch_dims` by default.

    Negative indices count from the end of each row; a null index gives null, a null row remains
    null. IndexingError, with the row, for an index out of range.

    >>> gather([[1, 2], [3]], [1, 0, 1]).to_py()
    [[3], [1, 2], [3]]
    >>> gather([[1, 2], [3]], [[1, 1], [0]], batch_dims=1).to_py()
    [[2, 2], [3]]
    """
    structured, by = as_structured(tensor), as_structured(indices)
    batch = _index(batch_dims)
    batch = batch + by.rank if batch < 0 else batch
    return _core.structured_gather(structured, by, batch if axis is None else _index(axis), batch)


@public_in("columnstone.struct")
def batch_gather(tensor: object, indices: object) -> AnyStructured:
    """Takes from each row the elements that the same row of the indices selects: `gather` along the
    last dimension of the indices, with all other dimensions as batch dimensions.

    >>> batch_gather([["a", "b"], ["c"]], [[1], [0, 0]]).to_py()
    [['b'], ['c', 'c']]
    """
    structured, by = as_structured(tensor), as_structured(indices)
    if by.rank == 0:
        raise argument_error("the indices are a scalar, expected rows")
    return _core.structured_gather(structured, by, by.rank - 1, by.rank - 1)


@public_in("columnstone.struct")
def gather_nd(tensor: object, indices: object, batch_dims: int = 0) -> AnyStructured:
    """Takes elements by coordinates: the innermost dimension of the indices contains one index for
    each dimension after the first `batch_dims`, or only for the first of these, which selects a
    row. Negative indices count from the end; a null index, or one into a null row, gives null.
    IndexingError, with the row, for an index out of range.

    >>> gather_nd([[1, 2], [3]], [[0, 1], [1, 0]]).to_py()
    [2, 3]
    """
    return _core.structured_gather_nd(
        as_structured(tensor), as_structured(indices), _index(batch_dims)
    )


@public_in("columnstone.struct")
def boolean_mask(tensor: object, mask: object, axis: int = 0) -> AnyStructured:
    """Keeps the elements for which the mask is true; null counts as false. The mask has the same
    row lengths as the dimensions from `axis` on, which are merged into one. IndexingError, with the
    row, if the lengths differ.

    >>> boolean_mask([[1, 2], [3]], [[True, False], [True]]).to_py()
    [1, 3]
    >>> boolean_mask([[1, 2], [3]], [False, True]).to_py()
    [[3]]
    """
    return _core.structured_boolean_mask(as_structured(tensor), as_structured(mask), _index(axis))


@public_in("columnstone.struct")
def mask(tensor: object, condition: object) -> AnyStructured:
    """Replaces elements with null where the condition is false or null; the shape stays. The
    dimensions of the condition are the first ones of the tensor; if it has fewer, whole rows become
    null. Nulls remain nulls. IndexingError, with the row, if the row lengths differ.

    >>> mask([[1, 2], [3]], [[True, False], [True]]).to_py()
    [[1, None], [3]]
    >>> mask([[1, 2], [3]], [False, True]).to_py()
    [None, [3]]
    """
    return _core.structured_mask(as_structured(tensor), as_structured(condition))


@public_in("columnstone.struct")
def reverse(tensor: object, axis: int | Sequence[int] = 0) -> AnyStructured:
    """Reverses the rows of one or several dimensions. Null rows remain null.

    >>> reverse([[1, 2], [3]], axis=1).to_py()
    [[2, 1], [3]]
    """
    axes = tuple(axis) if isinstance(axis, list | tuple) else (cast("int", axis),)
    return _core.structured_reverse(as_structured(tensor), tuple(_index(a) for a in axes))


@public_in("columnstone.struct")
def where(condition: object, x: object = None, y: object = None) -> AnyStructured:
    """Takes elements from x where the condition is true, and from y where it is false; null where
    the condition is null. The dimensions of the condition are the first ones of x and y; a scalar
    is used for all elements. An int or float gets the type of the other argument if that can hold
    it; otherwise types are promoted as in `concat`.

    Without x and y, returns the coordinates of the true values, as int64 of shape [values, rank].

    >>> where([[True, False], [False]], [[1, 2], [3]], 0).to_py()
    [[1, 0], [0]]
    >>> where([[True, False], [True]]).to_py()
    [[0, 0], [1, 0]]
    """
    structured = as_structured(condition)
    if x is None and y is None:
        return _core.structured_true_places(structured)
    if x is None or y is None:
        raise argument_error("where takes both x and y, or neither")
    chosen, other = as_structured(x), as_structured(y)
    return _core.structured_where(structured, _like(x, chosen, other), _like(y, other, chosen))


def _like(value: object, structured: AnyStructured, other: AnyStructured) -> AnyStructured:
    """A Python number in `where`, in the type of the other argument if that can hold it."""
    spec = other.spec
    if type(value) not in (int, float) or not isinstance(spec, LeafSpec):
        return structured
    try:
        return constant(value, LeafSpec((), spec.dtype))
    except Error:
        return structured
