"""Managed exports of Firestore: documents in the form of the REST API's JSON.

An export is a folder with files `output-0`, `output-1`, ... Each is a LevelDB log: blocks of 32 KiB
that contain fragments of records. A fragment has a header of 7 bytes: the masked CRC-32C of type
and data, the length of the data (little endian), and the type (1 whole, 2 first, 3 middle, 4 last).
A record is an EntityProto of Datastore: a protobuf message with groups. A map in a document is an
EntityProto inside a string property; an array is a property for each item.
"""

from __future__ import annotations

import datetime
import os
import pathlib
import re
import struct
from typing import TYPE_CHECKING, Any

from .._base.errors import CorruptError, NotFoundError

if TYPE_CHECKING:
    from collections.abc import Iterator

    Fields = list[tuple[int, Any]]  # number; int, bytes, or the Fields of a group

_BLOCK = 32768
_HEADER = struct.Struct("<IHB")
_WHOLE, _FIRST, _MIDDLE, _LAST = 1, 2, 3, 4
_MAX_DEPTH = 100


def documents_of_export(path: pathlib.Path) -> Iterator[dict[str, Any]]:
    """The documents in an export's folder, in its metadata file, or in one of its output files."""
    for file in _outputs(path):
        for number, record in enumerate(_records(file)):
            try:
                yield _document(record)
            except _MalformedError as error:
                raise CorruptError(
                    f"{file}: record {number}: not a Firestore document: {error}",
                    file=os.fspath(file),
                    record=number,
                ) from None


def _outputs(path: pathlib.Path) -> list[pathlib.Path]:
    if not path.exists():
        raise NotFoundError(f"{path}: there is no such file", file=os.fspath(path))
    if path.name.endswith("export_metadata"):
        path = path.parent
    if not path.is_dir():
        return [path]
    found = [p for p in path.rglob("*") if re.search(r"output-\d+$", p.name) and p.is_file()]
    if not found:
        raise NotFoundError(
            f"{path}: not a Firestore export: it has no files output-0, ...", file=os.fspath(path)
        )
    return sorted(found, key=lambda p: (p.parent, int(p.name.rpartition("-")[2])))


# ---- the log ----


def _records(file: pathlib.Path) -> Iterator[bytes]:
    data = file.read_bytes()
    parts: list[bytes] = []
    at = 0
    while at < len(data):
        left = _BLOCK - at % _BLOCK
        if left < _HEADER.size or not any(data[at : at + left]):
            at += left  # the end of a block is zeros
            continue
        kind, part = _fragment(file, data, at)
        if bool(parts) != (kind in (_MIDDLE, _LAST)):
            raise _damaged(file, at, "fragments of a record that do not belong together")
        parts.append(part)
        at += _HEADER.size + len(part)
        if kind in (_WHOLE, _LAST):
            yield b"".join(parts)
            parts = []
    if parts:
        raise _damaged(file, at, "the end of the file inside a record")


def _fragment(file: pathlib.Path, data: bytes, at: int) -> tuple[int, bytes]:
    if len(data) - at < _HEADER.size:
        raise _damaged(file, at, "the end of the file inside a header")
    crc, length, kind = _HEADER.unpack_from(data, at)
    begin = at + _HEADER.size
    if (
        not _WHOLE <= kind <= _LAST
        or begin + length > len(data)
        or length > _BLOCK - begin % _BLOCK
    ):
        raise _damaged(file, at, "an invalid record header")
    if _masked_crc32c(data[begin - 1 : begin + length]) != crc:
        raise _damaged(file, at, "a wrong CRC")
    return kind, data[begin : begin + length]


def _damaged(file: pathlib.Path, at: int, found: str) -> CorruptError:
    return CorruptError(
        f"{file}: offset {at}: found {found}, expected a LevelDB log, as in a managed export "
        f"of Firestore",
        file=os.fspath(file),
        offset=at,
    )


def _table() -> list[int]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


_CRC32C = _table()


def _masked_crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _CRC32C[(crc ^ byte) & 0xFF]
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


# ---- protobuf ----


class _MalformedError(Exception):
    """The bytes are not such a message."""


class _Reader:
    """Reads the fields of a message one after the other."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def message(self) -> Fields:
        return self._fields(None, 0)

    def _fields(self, group: int | None, depth: int) -> Fields:
        found: Fields = []
        if depth > _MAX_DEPTH:
            raise _MalformedError("groups nested too deeply")
        while self._at < len(self._data):
            tag = self._varint()
            number, wire = tag >> 3, tag & 7
            if wire == 4 and number == group:
                return found
            found.append((number, self._value(number, wire, depth)))
        if group is not None:
            raise _MalformedError("a group without an end")
        return found

    def _value(self, number: int, wire: int, depth: int) -> Any:
        if wire == 0:
            return self._varint()
        if wire == 1:
            return self._take(8)
        if wire == 2:
            return self._take(self._varint())
        if wire == 3:
            return self._fields(number, depth + 1)
        if wire == 5:
            return self._take(4)
        raise _MalformedError(f"wire type {wire}")

    def _take(self, size: int) -> bytes:
        begin, self._at = self._at, self._at + size
        if self._at > len(self._data):
            raise _MalformedError("a field beyond the end")
        return self._data[begin : self._at]

    def _varint(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self._take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value & 0xFFFFFFFFFFFFFFFF
        raise _MalformedError("a varint of more than 10 bytes")


def _first(fields: Fields, number: int, kind: type) -> Any:
    """The field with that number, if it has that Python type; otherwise None."""
    for found, value in fields:
        if found == number:
            if not isinstance(value, kind):
                raise _MalformedError(f"field {number} with an unexpected wire type")
            return value
    return None


def _message(fields: Fields, number: int) -> Fields:
    """The message in that field; no fields if it is missing."""
    data = _first(fields, number, bytes)
    return [] if data is None else _Reader(data).message()


def _text(data: bytes | None) -> str:
    try:
        return (data or b"").decode()
    except UnicodeDecodeError:
        raise _MalformedError("text that is not UTF-8") from None


def _float(data: bytes | None) -> float:
    if data is None or len(data) != 8:
        raise _MalformedError("a double without 8 bytes")
    number: float = struct.unpack("<d", data)[0]
    return number


def _signed(number: int) -> int:
    return number - 2**64 if number >= 2**63 else number


# ---- entities ----
#
# EntityProto: 13 key, 14 property, 15 raw_property (not indexed). Reference: 13 app, 14 path (1
# group: 2 type, 3 id, 4 name), 23 database. Property: 1 meaning, 3 name, 4 multiple, 5 value.

_MEANS_TIME, _MEANS_BLOB, _MEANS_BYTES, _MEANS_ENTITY, _MEANS_EMPTY = 7, 14, 16, 19, 24


def _document(record: bytes) -> dict[str, Any]:
    entity = _Reader(record).message()
    key = _message(entity, 13)
    path = [
        (_first(step, 2, bytes), _first(step, 3, int), _first(step, 4, bytes))
        for number, step in _message(key, 14)
        if number == 1 and isinstance(step, list)
    ]
    if not path:
        raise _MalformedError("a key without a path")
    return {"name": _name(key, path), "fields": _properties(entity, 0)}


def _name(reference: Fields, path: list[tuple[bytes, int, bytes]]) -> str:
    """The resource name of a document."""
    app = _text(_first(reference, 13, bytes)).rpartition("~")[2]
    database = _text(_first(reference, 23, bytes)) or "(default)"
    steps = [
        f"{_text(kind)}/{_text(name) if name is not None else f'__id{number}__'}"
        for kind, number, name in path
    ]
    return f"projects/{app}/databases/{database}/documents/{'/'.join(steps)}"


def _properties(entity: Fields, depth: int) -> dict[str, Any]:
    if depth > _MAX_DEPTH:
        raise _MalformedError("maps nested too deeply")
    made: dict[str, Any] = {}
    for number, data in entity:
        if number not in (14, 15):
            continue
        fields = _Reader(data if isinstance(data, bytes) else b"").message()
        name = _text(_first(fields, 3, bytes))
        value = _typed(_first(fields, 1, int) or 0, _message(fields, 5), depth)
        if _first(fields, 4, int):
            array = made.setdefault(name, {"arrayValue": {"values": []}})
            if "arrayValue" not in array:
                raise _MalformedError("a property that is both an array and a single value")
            array["arrayValue"].setdefault("values", []).append(value)
        else:
            made[name] = value
    return made


def _typed(meaning: int, value: Fields, depth: int) -> dict[str, Any]:
    """A value in the form of the JSON, except that bytes and times are Python objects."""
    if meaning == _MEANS_EMPTY:
        return {"arrayValue": {}}
    if not value:
        return {"nullValue": None}
    number, data = value[0]
    read = _VALUES.get(number)
    if read is None:
        raise _MalformedError(f"a value of unknown type {number}")
    _first(value, number, list if number in (5, 12) else int if number < 3 else bytes)
    typed: dict[str, Any] = read(meaning, data, depth)
    return typed


def _int64(meaning: int, data: int, depth: int) -> dict[str, Any]:
    number = _signed(data)
    if meaning != _MEANS_TIME:
        return {"integerValue": number}
    epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
    try:
        return {"timestampValue": epoch + datetime.timedelta(microseconds=number)}
    except OverflowError:
        raise _MalformedError("a time out of range") from None


def _string(meaning: int, data: bytes, depth: int) -> dict[str, Any]:
    if meaning == _MEANS_ENTITY:
        fields = _properties(_Reader(data).message(), depth + 1)
        is_vector = list(fields) == ["__vector__"]
        return dict(fields["__vector__"]) if is_vector else {"mapValue": {"fields": fields}}
    if meaning in (_MEANS_BLOB, _MEANS_BYTES):
        return {"bytesValue": data}
    return {"stringValue": _text(data)}


def _point(meaning: int, data: Fields, depth: int) -> dict[str, Any]:
    latitude, longitude = (_float(_first(data, number, bytes)) for number in (6, 7))
    return {"geoPointValue": {"latitude": latitude, "longitude": longitude}}


def _reference(meaning: int, data: Fields, depth: int) -> dict[str, Any]:
    path = [
        (_first(step, 15, bytes), _first(step, 16, int), _first(step, 17, bytes))
        for number, step in data
        if number == 14 and isinstance(step, list)
    ]
    return {"referenceValue": _name(data, path)}


_VALUES: dict[int, Any] = {
    1: _int64,
    2: lambda meaning, data, depth: {"booleanValue": bool(data)},
    3: _string,
    4: lambda meaning, data, depth: {"doubleValue": _float(data)},
    5: _point,
    12: _reference,
}
