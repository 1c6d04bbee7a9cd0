"""Conversion between structured tensors and Awkward arrays, with pyarrow, and without a copy of
data that is laid out as Arrow has it.

Data that ak.from_arrow would misread is copied into a layout that it knows. ak.to_arrow is not
used: with lists or values below its masks, it returns other values than those in the array.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _core
from .._arrow.table import array, concat
from .._base.errors import SchemaError, UnsupportedError
from .._base.optional import need

if TYPE_CHECKING:
    from .._core import StructuredBase


# ---- to Awkward ----


def to_awkward(tensor: StructuredBase) -> Any:
    """See Conversions.to_awkward."""
    ak = need("awkward", "to_awkward()")
    pa = need("pyarrow", "to_awkward()", "awkward")
    values = pa.array(tensor._array)
    if not _is_read_well(pa, values):
        none = pa.array([], _plain_type(pa, values.type))
        values = pa.array(concat([tensor._array, array(none)]))
    made = ak.Array(_without_options(ak, ak.to_layout(ak.from_arrow(values))))
    return made[0] if tensor.is_row else made


def _is_read_well(pa: Any, values: Any) -> bool:
    """Whether ak.from_arrow reads this correctly: it does not know views, takes the bitmap of a
    slice from its beginning, and loses the number of lists of the fixed size 0."""
    kind = values.type
    if values.offset > 0 and (values.buffers()[0] is not None or pa.types.is_boolean(kind)):
        return False
    if pa.types.is_struct(kind):
        return all(_is_read_well(pa, values.field(i)) for i in range(kind.num_fields))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _is_read_well(pa, values.values)
    if pa.types.is_fixed_size_list(kind):
        return kind.list_size > 0 and _is_read_well(pa, values.values)
    return not str(kind).endswith("_view") and not pa.types.is_map(kind) and kind.num_fields == 0


def _plain_type(pa: Any, kind: Any) -> Any:
    """The type without views; concat() also returns plain memory."""
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_plain_type(pa, field.type)) for field in kind])
    if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        return pa.large_string() if pa.types.is_string_view(kind) else pa.large_binary()
    if kind.num_fields == 0:
        return kind
    item = kind.value_field.with_type(_plain_type(pa, kind.value_type))
    if pa.types.is_fixed_size_list(kind) and kind.list_size > 0:
        return pa.list_(item, kind.list_size)
    return pa.large_list(item)


def _without_options(ak: Any, layout: Any) -> Any:
    """The layout, without option types where there are no nulls."""
    if isinstance(layout, ak.contents.UnmaskedArray):
        return _without_options(ak, layout.content)
    if layout.is_record:
        contents = [_without_options(ak, content) for content in layout.contents]
        return layout.copy(contents=contents)
    if layout.is_list or layout.is_option:
        return layout.copy(content=_without_options(ak, layout.content))
    return layout


# ---- from Awkward ----


def from_awkward(obj: Any) -> Any:
    """See StructConversions.from_awkward."""
    ak = need("awkward", "from_awkward()")
    need("pyarrow", "from_awkward()", "awkward")
    is_row = isinstance(obj, ak.Record)
    if not is_row and not isinstance(obj, ak.Array):
        raise TypeError(f"expected an ak.Array or ak.Record, not {type(obj).__name__}")
    at = obj.layout.at if is_row else 0
    layout = obj.layout.array[at : at + 1] if is_row else obj.layout
    made = _arrow_of(ak, layout, "", None)
    return _core.structured(array(made), is_row)


def _arrow_of(ak: Any, layout: Any, path: str, valid: Any) -> Any:
    """A layout as a pyarrow.Array. valid: the bitmap for it, or None."""
    import pyarrow as pa

    if layout.is_option:
        return _option(ak, layout, path)
    if layout.is_indexed:
        return _arrow_of(ak, layout.project(), path, valid)
    if layout.is_record:
        below = [f"{path}.{name}" if path else name for name in layout.fields]
        parts = [
            _arrow_of(ak, layout.content(name), to, None)
            for name, to in zip(layout.fields, below, strict=True)
        ]
        kind = pa.struct(
            [pa.field(n, part.type) for n, part in zip(layout.fields, parts, strict=True)]
        )
        return pa.StructArray.from_buffers(kind, layout.length, [valid], children=parts)
    if layout.is_list:
        return _lists(ak, layout, path, valid)
    if layout.is_unknown:
        return pa.nulls(layout.length)
    if layout.is_union:
        raise SchemaError(
            f"{f'field {path!r}: ' if path else ''}a union, expected one type", path=path or None
        )
    return _numbers(ak, layout, path, valid)


def _option(ak: Any, layout: Any, path: str) -> Any:
    import numpy as np
    import pyarrow as pa

    if isinstance(layout, ak.contents.UnmaskedArray):
        return _arrow_of(ak, layout.content, path, None)
    valid = np.asarray(layout.mask_as_bool(valid_when=True))
    content = layout.content
    if layout.is_indexed:  # IndexedOptionArray: -1 is null
        if content.length == 0:
            return pa.nulls(layout.length, _arrow_of(ak, content, path, None).type)
        index = np.maximum(np.asarray(layout.index.data), 0)
        content = ak.contents.IndexedArray(ak.index.Index64(index), content).project()
    bits = pa.py_buffer(np.packbits(valid, bitorder="little"))
    return _arrow_of(ak, content[: layout.length], path, bits)


def _lists(ak: Any, layout: Any, path: str, valid: Any) -> Any:
    import pyarrow as pa

    is_text = layout.parameter("__array__") in ("string", "bytestring")
    if isinstance(layout, ak.contents.RegularArray) and not is_text:
        size = layout.size
        items = _arrow_of(ak, layout.content[: size * layout.length], path, None)
        kind = pa.list_(items.type, size)
        return pa.FixedSizeListArray.from_buffers(kind, layout.length, [valid], children=[items])
    lists = layout.to_ListOffsetArray64(False)
    buffers = [valid, pa.py_buffer(lists.offsets.data)]
    if not is_text:
        items = _arrow_of(ak, lists.content, path, None)
        kind = pa.large_list(items.type)
        return pa.LargeListArray.from_buffers(kind, lists.length, buffers, children=[items])
    is_utf8 = layout.parameter("__array__") == "string"
    buffers.append(pa.py_buffer(lists.content.data))
    kind = pa.large_string() if is_utf8 else pa.large_binary()
    return pa.Array.from_buffers(kind, lists.length, buffers)


def _numbers(ak: Any, layout: Any, path: str, valid: Any) -> Any:
    import numpy as np
    import pyarrow as pa

    if layout.inner_shape:
        return _arrow_of(ak, layout.to_RegularArray(), path, valid)
    values = np.ascontiguousarray(layout.data)
    try:
        kind = pa.from_numpy_dtype(values.dtype)
    except pa.ArrowNotImplementedError:
        raise UnsupportedError(
            f"{f'field {path!r}: ' if path else ''}Arrow has no type for {values.dtype}",
            path=path or None,
        ) from None
    if values.dtype.kind in "mM":  # Arrow's own widths, and NaT is null
        nulls = np.isnat(values)
        if valid is not None:
            bits = np.unpackbits(np.frombuffer(valid, np.uint8), bitorder="little")
            nulls |= bits[: layout.length] == 0
        return pa.array(values, kind, mask=nulls)
    if values.dtype == bool:
        values = np.packbits(values, bitorder="little")
    return pa.Array.from_buffers(kind, layout.length, [valid, pa.py_buffer(values)])
