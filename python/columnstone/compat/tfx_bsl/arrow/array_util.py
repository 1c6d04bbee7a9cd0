"""tfx_bsl.arrow.array_util over columnstone.arrow.Array: flattening, counting and creating lists.

The functions take and return pyarrow arrays. What tfx_bsl refuses is a RuntimeError here as well,
with the same status: "UNIMPLEMENTED: int64".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...._arrow import table
from ...._arrow.pointers import to_pyarrow
from ...._core import Array
from .._errors import raising

if TYPE_CHECKING:
    import numpy.typing as npt


def ListLengthsFromListArray(array: pa.Array) -> pa.Array:
    """The number of items of each list, as int64; 0 for null. The same as GetElementLengths, as in
    tfx_bsl."""
    return GetElementLengths(array)


def GetElementLengths(array: pa.Array) -> pa.Array:
    """The number of items of each list, or of bytes of each string, as int64; 0 for null."""
    kind = _type(array)
    return _lengths(_checked(array, is_list_like(kind) or _is_binary_like(kind)))


def GetFlattenedArrayParentIndices(array: pa.Array) -> pa.Array:
    """The row of each item of these lists: int32 for a list, int64 for a large_list."""
    ours = _ours(_checked(array, is_list_like(_type(array))))
    return to_pyarrow(ours.flatten_with_parents()[1]).cast(_index_type(array.type))


def GetArrayNullBitmapAsByteArray(array: pa.Array) -> pa.Array:
    """1 for each null and 0 for each value, as uint8. Arrays of type null have no bitmap: all 0, as
    in tfx_bsl; Array.null_mask() has 1."""
    if _type(array) == pa.null():
        return pa.array(np.zeros(len(array), np.uint8))
    return to_pyarrow(_ours(array).null_mask())


def GetBinaryArrayTotalByteSize(array: pa.Array) -> int:
    """The size of all strings in this slice, in bytes."""
    return _num_bytes(_checked(array, _is_binary_like(_type(array))))


def GetByteSize(array: pa.Array) -> int:
    """The size of these rows in bytes: bits of nulls, offsets and values, including children.

    Array.nbytes is the same, except for the bits of nulls if none of these rows is null. For slices
    of lists of structs, tfx_bsl also counts the fields of structs outside the slice.
    """
    return _size(_checked(array, _has_size(_type(array))))


def CountInvalidUTF8(array: pa.Array) -> int:
    """The number of strings that are not UTF-8; nulls are not counted."""
    return _ours(_checked(array, _is_binary_like(_type(array)))).count_invalid_utf8()


def CooFromListArray(array: pa.Array) -> tuple[pa.Array, pa.Array]:
    """The coordinates of each value in nested lists, row after row in one int64 array, and their
    bounding box. Lists of a fixed size are a dimension, too; tfx_bsl treats them as values."""
    _type(array)
    places, shape = _ours(array).coordinates()
    return to_pyarrow(places).flatten(), pa.array(shape, pa.int64())


def FillNullLists(list_array: pa.Array, fill_with: pa.Array) -> pa.Array:
    """The lists, with all values of `fill_with` in place of each null."""
    _checked(list_array, is_list_like(_type(list_array)))
    value_type = list_array.type.value_type
    if _type(fill_with) != value_type:
        raise RuntimeError(
            "INTERNAL: Expected a `fill_with` to be of the same type as `list_array`'s "
            f"value_type, {value_type} but got: {fill_with.type}"
        )
    return to_pyarrow(_ours(list_array).fill_null(_ours(fill_with)))


def IndexIn(values: pa.Array, value_set: pa.Array) -> pa.Array:
    """The position of each value in the set, as int32, or null. For strings and bytes, duplicates
    in the set do not count."""
    kinds = _type(values), _type(value_set)
    if _narrow(kinds[0]) != _narrow(kinds[1]):
        raise RuntimeError(
            f"INTERNAL: Array type didn't match type of values set: {kinds[0]} vs {kinds[1]}"
        )
    if _is_binary_like(kinds[0]):
        value_set = value_set.cast(kinds[0]).unique()
    try:
        return pc.index_in(values, value_set=value_set)
    except pa.ArrowNotImplementedError as error:
        raise RuntimeError(f"UNIMPLEMENTED: {error}") from error


def MakeListArrayFromParentIndicesAndValues(
    num_parents: int, parent_indices: pa.Array, values: pa.Array, empty_list_as_null: bool = True
) -> pa.Array:
    """A large_list with `num_parents` rows; row i contains the values whose index is i. The indices
    are int64 and ascending (otherwise RuntimeError)."""
    if _type(parent_indices) != pa.int64():
        raise RuntimeError("INVALID_ARGUMENT: Parent indices array must be int64.")
    _type(values)
    if len(values) != len(parent_indices):
        raise RuntimeError(
            "INVALID_ARGUMENT: values array and parent indices array must be of the same length: "
            f"{len(values)} v.s. {len(parent_indices)}"
        )
    if len(values) > 0 and parent_indices[-1].is_valid:
        last = parent_indices[-1].as_py()
        if last >= num_parents:
            raise RuntimeError(
                f"INVALID_ARGUMENT: Found a parent index {last} while num_parents was {num_parents}"
            )
    with raising(RuntimeError, "INVALID_ARGUMENT: "):
        return to_pyarrow(
            Array.from_parents(
                _ours(values), _ours(parent_indices), num_parents, empty_as_null=empty_list_as_null
            )
        )


def ToSingletonListArray(array: pa.Array) -> pa.Array:
    """A large_list with one item for each value, and null for each null; for type null, lists of a
    null."""
    present = np.flatnonzero(GetArrayNullBitmapAsByteArray(array).to_numpy() == 0)
    values = array if len(present) == len(array) else array.take(pa.array(present))
    return MakeListArrayFromParentIndicesAndValues(
        len(array), pa.array(present, pa.int64()), values
    )


def is_list_like(data_type: pa.DataType) -> bool:
    """Whether the type is list or large_list."""
    return bool(pa.types.is_list(data_type) or pa.types.is_large_list(data_type))


def get_innermost_nested_type(arrow_type: pa.DataType) -> pa.DataType:
    """The type inside all list levels; the type itself if it is not a list."""
    while is_list_like(arrow_type):
        arrow_type = arrow_type.value_type
    return arrow_type


def flatten_nested(
    array: pa.Array, return_parent_indices: bool = False
) -> tuple[pa.Array, npt.NDArray[Any] | None]:
    """The values inside all list levels, and with return_parent_indices the row of each."""
    if not is_list_like(array.type):
        return array, np.arange(len(array)) if return_parent_indices else None
    levels = _num_levels(array.type)
    if not return_parent_indices:
        return to_pyarrow(_ours(array).flatten(levels)), None
    flat, parents = _ours(array).flatten_with_parents(levels)
    return to_pyarrow(flat), parents.numpy().astype(_index_type(array.type).to_pandas_dtype())


def get_field(struct_array: pa.StructArray, field: str | int) -> pa.Array:
    """A field of structs, null where the struct is null. Raises KeyError for an unknown name."""
    return to_pyarrow(table.field(_ours(struct_array), field))


def _type(array: pa.Array) -> pa.DataType:
    if not isinstance(array, pa.Array):
        raise RuntimeError(f"INVALID_ARGUMENT: {type(array).__name__} is not a pyarrow.Array")
    return array.type


def _checked(array: pa.Array, is_taken: bool) -> pa.Array:
    if not is_taken:
        raise RuntimeError(f"UNIMPLEMENTED: {array.type}")
    return array


def _ours(array: pa.Array) -> Array:
    with raising(RuntimeError, "INVALID_ARGUMENT: "):
        return table.array(array)


def _lengths(array: pa.Array) -> pa.Array:
    return to_pyarrow(_ours(array).lengths().fill_null(0))


def _is_binary_like(kind: pa.DataType) -> bool:
    return kind in (pa.binary(), pa.large_binary(), pa.string(), pa.large_string())


def _narrow(kind: pa.DataType) -> pa.DataType:
    """The type, regardless of the width of the offsets of strings and bytes."""
    return {pa.large_binary(): pa.binary(), pa.large_string(): pa.string()}.get(kind, kind)


def _has_size(kind: pa.DataType) -> bool:
    """Whether GetByteSize supports the type."""
    if is_list_like(kind):
        return _has_size(kind.value_type)
    if pa.types.is_struct(kind):
        return all(_has_size(field.type) for field in kind)
    is_number = pa.types.is_integer(kind) or kind in (pa.float32(), pa.float64(), pa.bool_())
    return is_number or _is_binary_like(kind) or kind == pa.null()


def _size(array: pa.Array) -> int:
    kind, count = array.type, len(array)
    if kind == pa.null():
        return 0
    bits = (count + 7) // 8
    size = bits if array.buffers()[0] is not None else 0
    if pa.types.is_struct(kind):
        return size + sum(_size(array.field(i)) for i in range(kind.num_fields))
    if is_list_like(kind):
        size += (count + 1) * (8 if pa.types.is_large_list(kind) else 4)
        begin, end = (array.offsets[0].as_py(), array.offsets[-1].as_py()) if count else (0, 0)
        return size + _size(array.values.slice(begin, end - begin))
    if _is_binary_like(kind):
        size += (count + 1) * (4 if _narrow(kind) == kind else 8)
        return size + _num_bytes(array)
    size += bits if kind == pa.bool_() else count * int(kind.bit_width) // 8
    return size


def _num_bytes(array: pa.Array) -> int:
    return int(_lengths(array).to_numpy().sum())


def _num_levels(kind: pa.DataType) -> int:
    return 1 + _num_levels(kind.value_type) if is_list_like(kind) else 0


def _index_type(kind: pa.DataType) -> pa.DataType:
    """The type of row numbers for these lists."""
    return pa.int64() if pa.types.is_large_list(kind) else pa.int32()
