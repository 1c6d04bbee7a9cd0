"""Operations that choose elements: by places, by masks, backwards, and one of two."""

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
    """The places of dimension `axis` that the indices name; their dimensions stand in place of that
    one. The first `batch_dims` dimensions of both are the same, and gone through together; axis is
    `batch_dims` unless it is given.

    Negative places count from the end of each row; a null place gives null, a null row stays null.
    IndexingError, with the row, for a place that it has not.

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
    """From each row the places that the row of the indices names: `gather` along the last dimension
    of the indices, all others of which are batch dimensions.

    >>> batch_gather([["a", "b"], ["c"]], [[1], [0, 0]]).to_py()
    [['b'], ['c', 'c']]
    """
    structured, by = as_structured(tensor), as_structured(indices)
    if by.rank == 0:
        raise argument_error("the indices are a scalar, and have no rows")
    return _core.structured_gather(structured, by, by.rank - 1, by.rank - 1)


@public_in("columnstone.struct")
def gather_nd(tensor: object, indices: object, batch_dims: int = 0) -> AnyStructured:
    """What stands at coordinates: the innermost dimension of the indices has a place for each of
    the dimensions after the first `batch_dims`, or for the first of them: then what stands there is
    a row. Negative places count from the end; a null place, or one in a null row, gives null.
    IndexingError, with the row, for a place that it has not.

    >>> gather_nd([[1, 2], [3]], [[0, 1], [1, 0]]).to_py()
    [2, 3]
    """
    return _core.structured_gather_nd(
        as_structured(tensor), as_structured(indices), _index(batch_dims)
    )


@public_in("columnstone.struct")
def boolean_mask(tensor: object, mask: object, axis: int = 0) -> AnyStructured:
    """What the mask is true of. It has the same rows as the dimensions from `axis` on, which become
    one; null is false. IndexingError, with the row, where the rows differ in length.

    >>> boolean_mask([[1, 2], [3]], [[True, False], [True]]).to_py()
    [1, 3]
    >>> boolean_mask([[1, 2], [3]], [False, True]).to_py()
    [[3]]
    """
    return _core.structured_boolean_mask(as_structured(tensor), as_structured(mask), _index(axis))


@public_in("columnstone.struct")
def mask(tensor: object, condition: object) -> AnyStructured:
    """The tensor in its shape, null where the condition is not true, null included. The dimensions
    of the condition are the first of the tensor; where it has fewer, whole rows become null. What
    is null stays so. IndexingError, with the row, where the rows differ in length.

    >>> mask([[1, 2], [3]], [[True, False], [True]]).to_py()
    [[1, None], [3]]
    >>> mask([[1, 2], [3]], [False, True]).to_py()
    [None, [3]]
    """
    return _core.structured_mask(as_structured(tensor), as_structured(condition))


@public_in("columnstone.struct")
def reverse(tensor: object, axis: int | Sequence[int] = 0) -> AnyStructured:
    """The rows of one dimension, or of several, backwards. Null rows stay null.

    >>> reverse([[1, 2], [3]], axis=1).to_py()
    [[2, 1], [3]]
    """
    axes = tuple(axis) if isinstance(axis, list | tuple) else (cast("int", axis),)
    return _core.structured_reverse(as_structured(tensor), tuple(_index(a) for a in axes))


@public_in("columnstone.struct")
def where(condition: object, x: object = None, y: object = None) -> AnyStructured:
    """What stands in x where the condition is true, and in y where it is false; null where it is
    null. The dimensions of the condition are the first of x and y; a scalar stands for each of its
    values. An int or float takes the type of the other one, if that holds it; else types are
    promoted as `concat` does.

    Without x and y: the coordinates of what is true, int64 of shape [values, rank].

    >>> where([[True, False], [False]], [[1, 2], [3]], 0).to_py()
    [[1, 0], [0]]
    >>> where([[True, False], [True]]).to_py()
    [[0, 0], [1, 0]]
    """
    structured = as_structured(condition)
    if x is None and y is None:
        return _core.structured_true_places(structured)
    if x is None or y is None:
        raise argument_error("where takes both x and y, or none of them")
    chosen, other = as_structured(x), as_structured(y)
    return _core.structured_where(structured, _like(x, chosen, other), _like(y, other, chosen))


def _like(value: object, structured: AnyStructured, other: AnyStructured) -> AnyStructured:
    """A value of `where`: a number of Python in the type of the other one, if that holds it."""
    spec = other.spec
    if type(value) not in (int, float) or not isinstance(spec, LeafSpec):
        return structured
    try:
        return constant(value, LeafSpec((), spec.dtype))
    except Error:
        return structured
