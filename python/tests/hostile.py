"""Arrow structs made by hand, wrong where a test wants it: `Node` describes an array and its type,
`Exporter` hands it out through the PyCapsule interface."""

from __future__ import annotations

import ctypes
import dataclasses
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_int, c_int64, c_void_p


class CSchema(ctypes.Structure):
    pass


class CArray(ctypes.Structure):
    pass


class CStream(ctypes.Structure):
    pass


SchemaRelease = CFUNCTYPE(None, POINTER(CSchema))
ArrayRelease = CFUNCTYPE(None, POINTER(CArray))
StreamRelease = CFUNCTYPE(None, POINTER(CStream))
GetSchema = CFUNCTYPE(c_int, POINTER(CStream), POINTER(CSchema))
GetNext = CFUNCTYPE(c_int, POINTER(CStream), POINTER(CArray))
GetError = CFUNCTYPE(c_void_p, POINTER(CStream))

CSchema._fields_ = [
    ("format", c_char_p),
    ("name", c_char_p),
    ("metadata", c_char_p),
    ("flags", c_int64),
    ("n_children", c_int64),
    ("children", POINTER(POINTER(CSchema))),
    ("dictionary", POINTER(CSchema)),
    ("release", SchemaRelease),
    ("private_data", c_void_p),
]
CArray._fields_ = [
    ("length", c_int64),
    ("null_count", c_int64),
    ("offset", c_int64),
    ("n_buffers", c_int64),
    ("n_children", c_int64),
    ("buffers", POINTER(c_void_p)),
    ("children", POINTER(POINTER(CArray))),
    ("dictionary", POINTER(CArray)),
    ("release", ArrayRelease),
    ("private_data", c_void_p),
]
CStream._fields_ = [
    ("get_schema", GetSchema),
    ("get_next", GetNext),
    ("get_last_error", GetError),
    ("release", StreamRelease),
    ("private_data", c_void_p),
]

_capsule = ctypes.pythonapi.PyCapsule_New
_capsule.restype = ctypes.py_object
_capsule.argtypes = [c_void_p, c_char_p, c_void_p]


@SchemaRelease
def _release_schema(schema: ctypes._Pointer) -> None:
    schema.contents.release = SchemaRelease()


@ArrayRelease
def _release_array(array: ctypes._Pointer) -> None:
    array.contents.release = ArrayRelease()


@StreamRelease
def _release_stream(stream: ctypes._Pointer) -> None:
    stream.contents.release = StreamRelease()


@dataclasses.dataclass
class Node:
    """One array and its type. `schema` and `array` replace fields of the C structs at the end: that
    is where the lies are told. A value None is NULL (of a release: released)."""

    format: bytes | None
    buffers: list[bytes | None]
    length: int = 2
    children: list[Node] = dataclasses.field(default_factory=list)
    dictionary: Node | None = None
    name: bytes = b""
    schema: dict[str, object] = dataclasses.field(default_factory=dict)
    array: dict[str, object] = dataclasses.field(default_factory=dict)


class Exporter:
    """Has __arrow_c_array__; keeps the memory alive for as long as it lives itself."""

    def __init__(self, node: Node) -> None:
        self._keep: list[object] = []
        self._node = node

    def __arrow_c_array__(self, requested: object = None) -> tuple[object, object]:
        schema, array = self.schema(), self.array()
        return (
            _capsule(ctypes.addressof(schema), b"arrow_schema", None),
            _capsule(ctypes.addressof(array), b"arrow_array", None),
        )

    def __arrow_c_schema__(self) -> object:
        return _capsule(ctypes.addressof(self.schema()), b"arrow_schema", None)

    def schema(self, node: Node | None = None) -> CSchema:
        node = node or self._node
        made = CSchema(format=node.format, name=node.name, flags=2, release=_release_schema)
        made.n_children = len(node.children)
        made.children = self._pointers(CSchema, [self.schema(child) for child in node.children])
        if node.dictionary is not None:
            made.dictionary = ctypes.pointer(self.schema(node.dictionary))
        return self._lie(made, node.schema)

    def array(self, node: Node | None = None) -> CArray:
        node = node or self._node
        made = CArray(length=node.length, release=_release_array)
        made.n_buffers = len(node.buffers)
        copies = [None if b is None else _aligned(b) for b in node.buffers]
        self._keep.append(copies)
        addresses = [None if c is None else (ctypes.addressof(c) + 63) & ~63 for c in copies]
        made.buffers = (c_void_p * (len(addresses) + 1))(*addresses)
        made.n_children = len(node.children)
        made.children = self._pointers(CArray, [self.array(child) for child in node.children])
        if node.dictionary is not None:
            made.dictionary = ctypes.pointer(self.array(node.dictionary))
        return self._lie(made, node.array)

    def _pointers(self, kind: type, items: list) -> ctypes.Array:
        return (POINTER(kind) * (len(items) + 1))(*[ctypes.pointer(item) for item in items])

    def _lie(self, made: ctypes.Structure, fields: dict[str, object]) -> object:
        for name, value in fields.items():
            kind = dict(made._fields_)[name]
            setattr(made, name, kind() if value is None and kind is not c_char_p else value)
        self._keep.append(made)
        return made


def _aligned(data: bytes) -> ctypes.Array:
    buffer = ctypes.create_string_buffer(len(data) + 128)
    ctypes.memmove((ctypes.addressof(buffer) + 63) & ~63, data, len(data))
    return buffer


class StreamExporter:
    """Has __arrow_c_stream__: gives the schema of one node and the arrays of others. A number in
    their place is the code that the callback returns; `error` is what get_last_error points to."""

    def __init__(
        self, schema: Node | int, arrays: list[Node | int], error: bytes | None = b"no", **fields
    ) -> None:
        self._given = (schema, arrays, error, fields)
        self._keep: list[object] = []

    def __arrow_c_stream__(self, requested: object = None) -> object:
        schema, arrays, error, fields = self._given
        rest = list(arrays)

        @GetSchema
        def get_schema(stream: object, out: ctypes._Pointer) -> int:
            if isinstance(schema, int):
                return schema
            exporter = Exporter(schema)
            self._keep.append(exporter)
            ctypes.memmove(out, ctypes.addressof(exporter.schema()), ctypes.sizeof(CSchema))
            return 0

        @GetNext
        def get_next(stream: object, out: ctypes._Pointer) -> int:
            item = rest.pop(0) if rest else None
            if isinstance(item, int):
                return item
            made = CArray()
            if item is not None:
                exporter = Exporter(item)
                self._keep.append(exporter)
                made = exporter.array()
            ctypes.memmove(out, ctypes.addressof(made), ctypes.sizeof(CArray))
            return 0

        text = None if error is None else ctypes.create_string_buffer(error)

        @GetError
        def get_error(stream: object) -> int | None:
            return None if text is None else ctypes.addressof(text)

        made = CStream(get_schema, get_next, get_error, _release_stream)
        for name, value in fields.items():
            setattr(made, name, dict(CStream._fields_)[name]() if value is None else value)
        self._keep += [get_schema, get_next, get_error, text, made]
        return _capsule(ctypes.addressof(made), b"arrow_array_stream", None)
