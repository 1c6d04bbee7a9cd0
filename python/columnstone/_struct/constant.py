"""Structured tensors from Python values, numpy arrays and Arrow data."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, cast

from .. import _core
from .._arrow.objects import is_arrow
from .._arrow.table import array as array_of
from .._base.errors import UnsupportedError
from .._base.public import public_in
from .._core import Array, RecordBatch, StructuredBase
from .spec import StructuredSpec

if TYPE_CHECKING:
    from .._core import AnyStructured
    from .spec import Spec

# numpy's kind and width: Arrow's format.
_FORMATS = {f"i{1 << i}": "csil"[i] for i in range(4)} | {
    **{f"u{1 << i}": "CSIL"[i] for i in range(4)},
    **{"f2": "e", "f4": "f", "f8": "g"},
}


@public_in("columnstone.struct")
def constant(value: object, spec: Spec | None = None) -> AnyStructured:
    """Converts Python values to a structured tensor: a dict is one struct (rank 0), a list of dicts
    a vector of structs, and lists of lists have more dimensions. Plain values, and lists of them,
    are leaf tensors. The same holds for the fields of a struct.

    value: dicts and other mappings, dataclasses, named tuples; lists and tuples; None, bool, int
        (int64), float (float64), str, bytes, date, datetime, timedelta (microseconds); numpy arrays
        and scalars, whose types are kept and whose records become structs; Arrow data; a pandas
        DataFrame, as with StructuredTensor.from_pandas
    spec: the type, a StructuredTensorSpec or a LeafSpec. Without one, it is inferred: all dicts of
        a field must have the same keys, and all values the same type and nesting level. Mixed ints
        and floats become float64 if that is exact. None is a null of any type; in place of a list
        it is a null list, which differs from an empty one. Lists without values keep their nesting
        level, with values of type null. With a spec, values must fit it: ints its range, ints in
        float types exactly (floats are rounded to the type), lists a fixed size. A missing key of a
        dict is null, if the spec allows nulls.

    A dict without keys is a struct without fields. Everything else is a SchemaError with the path,
    the row, the position in all lists as [i][j], what was found and what was expected: missing keys
    (write None, or give a spec), extra keys, mixed types and nesting levels, keys that are not str,
    sets and other classes.
    """
    if spec is not None and not isinstance(spec, StructuredSpec):
        raise TypeError(
            f"spec must be a StructuredTensorSpec or a LeafSpec, not {type(spec).__name__}"
        )
    if spec is None:
        made = _known(value)
        if made is not None:
            return made
    elif isinstance(value, StructuredBase):
        value = value.to_py()
    array, is_row = _core.nested_of_objects(value, None if spec is None else spec._arrow(0))
    return _core.structured(array, is_row)


def _known(value: Any) -> AnyStructured | None:
    """A value that already has a type."""
    if isinstance(value, StructuredBase):
        return cast("AnyStructured", value)
    if hasattr(value, "iloc") and getattr(value, "ndim", 0) == 2:  # of pandas
        from .pandas_frames import from_pandas

        return cast("AnyStructured", from_pandas(value))
    if is_arrow(value):
        return from_arrow(value)
    values = as_ndarray(value)
    if values is None or (values.dtype.names is None and values.dtype.kind not in "biufmM"):
        return None
    return _core.structured(array_of_ndarray(values.copy()), False)


@public_in("columnstone.struct")
def from_arrow(obj: object) -> AnyStructured:
    """Arrow data as a structured tensor, as with StructuredTensor.from_arrow; arrays of plain
    values, and lists of them, are leaf tensors."""
    array = obj if isinstance(obj, Array | RecordBatch) else array_of(cast("Any", obj))
    return _core.structured(array, False)


# ---- numpy ----


def as_ndarray(value: Any) -> Any:
    """An array of numpy or another library, with at least one dimension, as a numpy array; None for
    other objects."""
    if not hasattr(value, "__array__") or not getattr(value, "ndim", 0):
        return None
    if hasattr(value, "__arrow_array__"):  # of pandas, whose nulls numpy would make NaN
        return None
    import numpy as np

    return np.asanyarray(value)


def array_of_ndarray(values: Any) -> Array:
    """A numpy array as an Arrow array, without a copy of contiguous numbers: dimensions below the
    outermost become fixed_size_list, records become structs."""
    import numpy as np

    if isinstance(values, np.ma.MaskedArray):
        raise UnsupportedError("a masked array: its mask would be lost; use pyarrow.array()")
    return uniform_lists(_flat(np, values.reshape(-1)), values.shape)


def uniform_lists(array: Array, shape: tuple[int, ...]) -> Array:
    """The values, row by row, as lists with a shape."""
    for i in range(len(shape) - 1, 0, -1):
        array = _core.array_of_lists(array, None, math.prod(shape[:i]), shape[i], None)
    return array


def _flat(np: Any, values: Any) -> Array:
    """A vector."""
    dtype = values.dtype
    if dtype.names is not None:
        return _records(values)
    if dtype.kind == "b":
        return array_of(values)
    format = _FORMATS.get(dtype.str[1:])
    if format is None:
        if dtype.kind in "OSUmM":
            return array_of(values)
        raise UnsupportedError(f"numpy arrays of {dtype} cannot become a structured tensor")
    native = np.require(values, dtype.newbyteorder("="), ["C", "A"])
    return _core.array_of_buffer(native, format, dtype.itemsize)


def _records(values: Any) -> Array:
    columns = {name: array_of_ndarray(values[name]) for name in values.dtype.names}
    return struct_of(columns, len(values))


# ---- arrays made from parts ----


def struct_of(columns: dict[str, Array], length: int) -> Array:
    """Columns of the same length as structs, without a copy."""
    children = tuple(_renamed(column, name) for name, column in columns.items())
    schema = _core.ArrowSchema._of_tree((b"+s", b"", 2, None, children, None))
    batch = _core.batch_from(schema, tuple(columns.values()), length)
    return _core.structured(batch, False)._array


def _renamed(column: Array, name: str) -> tuple[Any, ...]:
    tree = column.schema.__reduce__()[1][0]
    return (tree[0], name.encode("utf-8", "surrogateescape"), *tree[2:])
