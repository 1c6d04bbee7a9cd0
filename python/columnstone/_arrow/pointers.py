"""Arrow data from and to pyarrow of any version. Objects of pyarrow before version 14 have no
capsules (`__arrow_c_array__` and related methods), and are passed as pointers of the Arrow C data
interface.

`exported` is for input, `to_pyarrow` for output. If pyarrow has capsules, they are used, and this
module does nothing.
"""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

from .._core import Array, ArrowSchema, RecordBatch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import ModuleType


def exported(obj: Any) -> Any:
    """An array, batch, table, reader, schema, field or type of pyarrow before version 14, as an
    object with the missing capsule methods; other objects unchanged."""
    pa: Any = sys.modules.get("pyarrow")
    if not hasattr(obj, "_export_to_c") and type(obj).__module__ != "pyarrow.lib":
        return obj
    if pa is None or hasattr(obj, "__arrow_c_schema__") or hasattr(obj, "__arrow_c_stream__"):
        return obj
    if isinstance(obj, pa.Array | pa.RecordBatch):
        return _OfBatch(obj)
    if isinstance(obj, pa.Table):
        return _OfReader(obj.to_reader, obj.schema)
    if isinstance(obj, pa.RecordBatchReader):
        return _OfReader(lambda: obj, obj.schema)
    if isinstance(obj, pa.ChunkedArray):
        return _OfBatch(_one_array(pa, obj))
    return _OfSchema(obj) if isinstance(obj, pa.Schema | pa.Field | pa.DataType) else obj


def to_pyarrow(obj: Any) -> Any:
    """An Array, a RecordBatch or an ArrowSchema of this package as a pyarrow object, without a
    copy."""
    import pyarrow

    pa: Any = pyarrow  # of any version
    if isinstance(obj, ArrowSchema):
        if hasattr(pa.Schema, "__arrow_c_schema__"):
            return pa.schema(obj)
        schema = obj.__arrow_c_schema__()  # lives until it is imported
        return pa.Schema._import_from_c(_capsules().address(schema, b"arrow_schema"))
    if not isinstance(obj, Array | RecordBatch):
        raise TypeError(f"expected an Array, a RecordBatch or an ArrowSchema, not {type(obj)}")
    is_batch = isinstance(obj, RecordBatch)
    if hasattr(pa.Array, "__arrow_c_array__"):
        return pa.record_batch(obj) if is_batch else pa.array(obj)
    schema, array = obj.__arrow_c_array__()
    kind = pa.RecordBatch if is_batch else pa.Array
    address = _capsules().address
    return kind._import_from_c(address(array, b"arrow_array"), address(schema, b"arrow_schema"))


def with_columns(batch: Any, names: Sequence[str]) -> Any:
    """A pyarrow.RecordBatch with only these columns, in this order; select() of newer versions does
    the same."""
    if hasattr(batch, "select"):
        return batch.select(names)
    import pyarrow

    pa: Any = pyarrow
    schema = pa.schema([batch.schema.field(name) for name in names], batch.schema.metadata)
    columns = [batch.column(batch.schema.get_field_index(name)) for name in names]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


class _OfSchema:
    __slots__ = ("_theirs",)

    def __init__(self, theirs: Any) -> None:
        self._theirs = theirs

    def __arrow_c_schema__(self) -> object:
        return _capsule(b"arrow_schema", self._theirs._export_to_c)


class _OfBatch:
    """An array or a batch."""

    __slots__ = ("_theirs",)

    def __init__(self, theirs: Any) -> None:
        self._theirs = theirs

    def __arrow_c_schema__(self) -> object:
        is_array = hasattr(self._theirs, "type")
        theirs = self._theirs.type if is_array else self._theirs.schema
        return _capsule(b"arrow_schema", theirs._export_to_c)

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        schema = self.__arrow_c_schema__()
        return schema, _capsule(b"arrow_array", self._theirs._export_to_c)


class _OfReader:
    __slots__ = ("_make", "_schema")

    def __init__(self, make: Callable[[], Any], schema: Any) -> None:
        self._make = make
        self._schema = schema

    def __arrow_c_schema__(self) -> object:
        return _capsule(b"arrow_schema", self._schema._export_to_c)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return _capsule(b"arrow_array_stream", self._make()._export_to_c)


def _one_array(pa: Any, chunked: Any) -> Any:
    if chunked.num_chunks == 1:
        return chunked.chunk(0)
    empty = pa.array([], chunked.type)
    return pa.concat_arrays(chunked.chunks) if chunked.num_chunks else empty


@functools.cache
def _capsules() -> ModuleType:
    """Imported when needed, and once: it needs ctypes, and an import within a function takes a
    microsecond each time."""
    from . import capsules

    return capsules


def _capsule(name: bytes, export: Callable[[int], None]) -> object:
    return _capsules().capsule(name, export)
