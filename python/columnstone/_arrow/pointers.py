"""Arrow data from and to pyarrow of any version. Objects of pyarrow before version 14 have no
capsules (`__arrow_c_array__` and related methods), and are passed as pointers of the Arrow C data
interface.

`exported` is for input, `to_pyarrow` for output. If pyarrow has capsules, they are used, and this
module does nothing.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from typing import TYPE_CHECKING, Any, cast

from .._core import Array, ArrowSchema, RecordBatch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# The sizes of ArrowSchema, ArrowArray and ArrowArrayStream, and the offset of `release` in them.
_SIZES = {b"arrow_schema": (72, 56), b"arrow_array": (80, 64), b"arrow_array_stream": (40, 24)}

_new_capsule = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
)(("PyCapsule_New", ctypes.pythonapi))
_pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
# The same for a capsule that is being freed: Python must not count references to it any more.
_pointer_of_dying = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_Release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_held: dict[int, Any] = {}  # address -> the memory of a structure that a capsule owns


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
        capsule = obj.__arrow_c_schema__()
        return pa.Schema._import_from_c(_address(capsule, b"arrow_schema"))
    if not isinstance(obj, Array | RecordBatch):
        raise TypeError(f"expected an Array, a RecordBatch or an ArrowSchema, not {type(obj)}")
    is_batch = isinstance(obj, RecordBatch)
    if hasattr(pa.Array, "__arrow_c_array__"):
        return pa.record_batch(obj) if is_batch else pa.array(obj)
    schema, array = obj.__arrow_c_array__()
    kind = pa.RecordBatch if is_batch else pa.Array
    return kind._import_from_c(_address(array, b"arrow_array"), _address(schema, b"arrow_schema"))


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


def _capsule(name: bytes, export: Callable[[int], None]) -> object:
    """A capsule that owns the structure that `export` fills."""
    memory = ctypes.create_string_buffer(_SIZES[name][0])
    at = ctypes.addressof(memory)
    export(at)
    _held[at] = memory
    return _new_capsule(at, _NAMES[name], ctypes.cast(_destructor(name), ctypes.c_void_p))


def _address(capsule: object, name: bytes) -> int:
    """The pointer to the structure, valid as long as the capsule lives."""
    return cast("int", _pointer_of(capsule, name))


@functools.cache
def _destructor(name: bytes) -> Any:
    """Created when needed, because it takes executable memory, which some systems refuse."""

    def destroy(capsule: int) -> None:
        at = _pointer_of_dying(capsule, name)
        release = ctypes.c_void_p.from_address(at + _SIZES[name][1]).value
        if release:  # nobody has moved it out
            _Release(release)(at)
        del _held[at]

    return ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(destroy)


_NAMES = {name: ctypes.c_char_p(name) for name in _SIZES}  # which capsules point to
