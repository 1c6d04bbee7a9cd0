"""A canonical layout of record batches that depends only on their values.

Arrow does not define the bytes below nulls, the bytes before, between and after the values, or the
order of the items of lists. The canonical layout is what a builder would produce: zeros and empty
lists below nulls, and everything else without gaps, from the first byte on.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .._base.errors import UnsupportedError


def plain_batch(batch: Any) -> Any:
    """The same batch in the canonical layout. UnsupportedError for columns with unions."""
    if batch.num_columns == 0:  # it may have rows all the same
        return batch
    return pa.RecordBatch.from_arrays([_plain(a) for a in batch.columns], schema=batch.schema)


def _plain(array: Any) -> Any:
    kind = array.type
    test = pa.types
    if test.is_null(kind):
        return pa.nulls(len(array))
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, _plain(array.storage))
    if test.is_dictionary(kind):
        return pa.DictionaryArray.from_arrays(
            _plain(array.indices), _plain(array.dictionary), ordered=kind.ordered
        )
    if test.is_run_end_encoded(kind):
        # After decoding, pyarrow leaves arbitrary memory below nulls, which would split runs.
        decoded = _plain(pc.run_end_decode(array))
        runs = pc.run_end_encode(decoded, run_end_type=kind.run_end_type)
        return pa.RunEndEncodedArray.from_arrays(_plain(runs.run_ends), _plain(runs.values), kind)
    if test.is_union(kind):
        raise UnsupportedError(f"a batch with a column of type {kind} cannot be a key")
    valid = np.asarray(array.is_valid())
    validity = _bits(valid) if array.null_count else None
    if test.is_struct(kind):
        fields = [_plain(field) for field in array.flatten()]  # of nulls they are null
        return pa.Array.from_buffers(kind, len(array), [validity], children=fields)
    if test.is_nested(kind):
        return _plain_lists(array, valid, validity)
    if test.is_string_view(kind) or test.is_binary_view(kind):
        large = pa.large_string() if test.is_string_view(kind) else pa.large_binary()
        return _plain(array.cast(large)).cast(kind)
    if kind.num_buffers == 3:
        return _plain_binary(array, valid, validity)
    return _plain_values(array, valid, validity)


def _bits(values: Any) -> Any:
    return pa.py_buffer(np.packbits(values, bitorder="little"))


def _plain_values(array: Any, valid: Any, validity: Any) -> Any:
    """Values with a fixed number of bits."""
    kind, count = array.type, len(array)
    if pa.types.is_boolean(kind):
        values = _bits(np.asarray(array.fill_null(False)))
    else:
        width = kind.bit_width // 8
        held = np.frombuffer(array.buffers()[1] or b"", np.uint8)
        held = held[array.offset * width : (array.offset + count) * width].reshape(count, width)
        values = pa.py_buffer(held * valid[:, None])
    return pa.Array.from_buffers(kind, count, [validity, values])


def _plain_binary(array: Any, valid: Any, validity: Any) -> Any:
    kind, count = array.type, len(array)
    wide = pa.types.is_large_string(kind) or pa.types.is_large_binary(kind)
    begins, sizes = _spans(array, np.int64 if wide else np.int32, valid)
    held = np.frombuffer(array.buffers()[2] or b"", np.uint8)
    offsets = _offsets(sizes)
    values = held[_places(begins, sizes, offsets)]
    return pa.Array.from_buffers(
        kind, count, [validity, _buffer(offsets, wide), pa.py_buffer(values)]
    )


def _plain_lists(array: Any, valid: Any, validity: Any) -> Any:
    kind, count, test = array.type, len(array), pa.types
    items = array.values
    if test.is_fixed_size_list(kind):
        size = kind.list_size
        at = np.arange(count * size) + array.offset * size
        children = [_plain(items.take(pa.array(at, mask=~valid.repeat(size))))]
        return pa.Array.from_buffers(kind, count, [validity], children=children)
    wide = test.is_large_list(kind) or test.is_large_list_view(kind)
    begins, sizes = _spans(array, np.int64 if wide else np.int32, valid)
    offsets = _offsets(sizes)
    children = [_plain(items.take(pa.array(_places(begins, sizes, offsets))))]
    buffers = [validity, _buffer(offsets, wide)]
    if test.is_list_view(kind) or test.is_large_list_view(kind):
        buffers = [validity, _buffer(offsets[:-1], wide), _buffer(sizes, wide)]
    return pa.Array.from_buffers(kind, count, buffers, children=children)


# ---- spans of lists and of bytes ----


def _spans(array: Any, dtype: Any, valid: Any) -> tuple[Any, Any]:
    """The start and the length of each; the length is 0 below nulls."""
    buffers = array.buffers()
    first, count = array.offset, len(array)
    if count == 0:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    offsets = np.frombuffer(buffers[1], dtype)[first : first + count + 1].astype(np.int64)
    if pa.types.is_list_view(array.type) or pa.types.is_large_list_view(array.type):
        sizes = np.frombuffer(buffers[2], dtype)[first : first + count].astype(np.int64)
    else:
        sizes = np.diff(offsets)
    return offsets[:count], sizes * valid


def _offsets(sizes: Any) -> Any:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])


def _places(begins: Any, sizes: Any, offsets: Any) -> Any:
    """The numbers of all items, in order."""
    return np.arange(offsets[-1]) + np.repeat(begins - offsets[:-1], sizes)


def _buffer(numbers: Any, wide: bool) -> Any:
    return pa.py_buffer(numbers.astype(np.int64 if wide else np.int32))
