"""tfx_bsl.arrow.table_util over columnstone.arrow.RecordBatch: merging, taking rows, walking
through columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...._arrow import table
from ...._arrow.pointers import to_pyarrow
from .._errors import raising
from . import array_util, path

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

_OF_KIND = {
    "i": pa.int64(),
    "u": pa.uint64(),
    "f": pa.float64(),
    "b": pa.int8(),
    "S": pa.large_binary(),
    "O": pa.large_binary(),
    "U": pa.large_binary(),
}


def NumpyKindToArrowType(kind: str) -> pa.DataType | None:
    """The type in tfx_bsl of columns with this kind of numpy.dtype; None for other kinds."""
    return _OF_KIND.get(kind)


def TotalByteSize(
    table_or_batch: pa.Table | pa.RecordBatch, ignore_unsupported: bool = False
) -> int:
    """The size of the rows of all columns in bytes. A column of a type that GetByteSize does not
    support is a RuntimeError; with ignore_unsupported it counts as 0."""
    if isinstance(table_or_batch, pa.Table):
        return sum(TotalByteSize(b, ignore_unsupported) for b in table_or_batch.to_batches())
    total = 0
    for column in table_or_batch.columns:
        try:
            total += array_util.GetByteSize(column)
        except RuntimeError:
            if not ignore_unsupported:
                raise
    return total


def RecordBatchTake(record_batch: pa.RecordBatch, indices: pa.Array) -> pa.RecordBatch:
    """These rows in this order; a null becomes a row of nulls. RuntimeError for a row that does not
    exist."""
    if not isinstance(indices, pa.Array):
        raise RuntimeError(f"INVALID_ARGUMENT: {type(indices).__name__} is not a pyarrow.Array")
    if (
        len(indices) > indices.null_count and pc.min(indices).as_py() < 0
    ):  # take() has them for null
        raise RuntimeError(f"INTERNAL: Index {pc.min(indices)} out of bounds")
    with raising(RuntimeError, "INTERNAL: "):
        rows = table.record_batch(record_batch).take(table.array(indices.cast(pa.int64())))
    return to_pyarrow(rows)


def MergeRecordBatches(record_batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    """The rows of all batches, with columns matched by name; if a batch lacks a column, its rows
    are null.

    Null can become any type, and structs are merged field by field; other differences in types are
    a RuntimeError. AssertionError if no batch has rows.
    """
    if not record_batches:
        return pa.RecordBatch.from_arrays([], [])
    if not any(batch.num_rows for batch in record_batches):
        raise AssertionError("Unable to merge empty RecordBatches.")
    fields: dict[str, pa.DataType] = {}
    for batch in record_batches:
        for field in batch.schema:
            fields[field.name] = _merged(fields.get(field.name, pa.null()), field.type)
    with raising(RuntimeError, "INVALID_ARGUMENT: "):
        merged = to_pyarrow(table.concat(record_batches))
    if not fields:
        return merged
    arrays = [  # cast() of lists of nulls that are a slice makes lists that are none
        column if column.type == kind else column.cast(kind)
        for column, kind in zip(merged.columns, fields.values(), strict=True)
    ]
    first = record_batches[0].schema
    if all(batch.schema.equals(first) for batch in record_batches):
        return pa.RecordBatch.from_arrays(arrays, schema=first)
    return pa.RecordBatch.from_arrays(arrays, list(fields))


def CanonicalizeRecordBatch(record_batch_with_primitive_arrays: pa.RecordBatch) -> pa.RecordBatch:
    """The batch with large lists of int64, uint64, float64, int8 (for bools) and large_binary;
    single values become lists of one. NotImplementedError for an unsupported type.
    """
    arrays = []
    for column in record_batch_with_primitive_arrays.columns:
        kind = _canonical(column.type)
        cast = column.cast(kind)
        arrays.append(
            cast if pa.types.is_large_list(kind) else array_util.ToSingletonListArray(cast)
        )
    return pa.RecordBatch.from_arrays(arrays, record_batch_with_primitive_arrays.schema.names)


def enumerate_arrays(
    record_batch: pa.RecordBatch,
    enumerate_leaves_only: bool,
    wrap_flat_struct_in_list: bool = True,
) -> Iterator[tuple[path.ColumnPath, pa.Array]]:
    """The path and the array of each column and of each field of its structs, through lists of
    structs.

    A struct comes before its fields; with enumerate_leaves_only it is left out. With
    wrap_flat_struct_in_list, a struct outside of lists comes as lists of one. Fields are not
    broadcast: they have a row for each struct.
    """
    for name, column in zip(record_batch.schema.names, record_batch.columns, strict=True):
        yield from _walk(
            path.ColumnPath(name), column, enumerate_leaves_only, wrap_flat_struct_in_list
        )


def get_array(
    record_batch: pa.RecordBatch,
    query_path: path.ColumnPath,
    return_example_indices: bool,
    wrap_flat_struct_in_list: bool = True,
) -> tuple[pa.Array, npt.NDArray[Any] | None]:
    """The array at a path, as enumerate_arrays returns it, and with return_example_indices the row
    in the batch of each of its rows. KeyError for a path that does not exist."""
    if not query_path:
        raise KeyError("query_path must be non-empty.")
    first, *steps = query_path.steps()
    place = record_batch.schema.get_field_index(first)
    if place < 0:
        raise KeyError(f"query_path step 0 ({first}) not in record batch.")
    array = record_batch.column(place)
    rows = np.arange(record_batch.num_rows) if return_example_indices else None
    for num_done, step in enumerate(steps):
        if not pa.types.is_struct(array_util.get_innermost_nested_type(array.type)):
            rest = path.ColumnPath(steps[num_done:])
            raise KeyError(
                f"Cannot process query_path ({rest}) inside an array of type {array.type}. "
                "Expecting a struct<...> or (large_)list...<struct<...>>."
            )
        structs, parents = array_util.flatten_nested(array, rows is not None)
        if rows is not None:
            rows = rows[parents]
        try:
            array = array_util.get_field(structs, step)
        except KeyError as error:
            raise KeyError(f"query_path step ({step}) not in struct.") from error
    return _wrapped(array, wrap_flat_struct_in_list), rows


def _walk(
    place: path.ColumnPath, array: pa.Array, leaves_only: bool, wraps: bool
) -> Iterator[tuple[path.ColumnPath, pa.Array]]:
    if not pa.types.is_struct(array_util.get_innermost_nested_type(array.type)):
        yield place, array
        return
    if not leaves_only:
        yield place, _wrapped(array, wraps)
    structs, _ = array_util.flatten_nested(array)
    for field in structs.type:
        below = array_util.get_field(structs, field.name)
        yield from _walk(place.child(field.name), below, leaves_only, wraps)


def _wrapped(array: pa.Array, wraps: bool) -> pa.Array:
    if wraps and pa.types.is_struct(array.type):
        return array_util.ToSingletonListArray(array)
    return array


def _merged(one: pa.DataType, other: pa.DataType) -> pa.DataType:
    """The type of a column that has different types in two batches."""
    if one == other or pa.types.is_null(other):
        return one
    if pa.types.is_null(one):
        return other
    if pa.types.is_list(one) and pa.types.is_list(other):
        return pa.list_(_merged(one.value_type, other.value_type))
    if pa.types.is_large_list(one) and pa.types.is_large_list(other):
        return pa.large_list(_merged(one.value_type, other.value_type))
    if pa.types.is_struct(one) and pa.types.is_struct(other):
        fields = {field.name: field.type for field in one}
        for field in other:
            fields[field.name] = _merged(fields.get(field.name, pa.null()), field.type)
        return pa.struct(list(fields.items()))
    raise RuntimeError(f"FAILED_PRECONDITION: Unable to merge incompatible type: {one} vs {other}")


def _canonical(kind: pa.DataType) -> pa.DataType:
    if array_util.is_list_like(kind):
        return pa.large_list(_canonical(kind.value_type))
    found = NumpyKindToArrowType(np.dtype(kind.to_pandas_dtype()).kind)
    if found is None:
        raise NotImplementedError(f"Type {kind} is not supported.")
    return found
