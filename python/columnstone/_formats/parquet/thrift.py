"""Thrift's compact protocol, in which Parquet has its footer and the headers of its pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import TypeAlias

    # Field number -> (kind, value). Numbers are ints, and bools the kinds 1 and 2; a list is (kind
    # of its items, items); everything else is its bytes, and so may be a struct that is written.
    Struct: TypeAlias = dict[int, tuple[int, Any]]

I64, LIST, STRUCT = 6, 9, 12
_BYTE, _INTS, _DOUBLE, _BINARY, _SET = 3, (4, 5, 6), 7, 8, 10
_LONGEST = 70  # bits of a number: ten bytes


def read(data: bytes, at: int = 0) -> tuple[Struct, int]:
    """A struct, and the offset of its end. IndexError for damaged bytes, RecursionError for structs
    that are nested too deeply."""
    fields: Struct = {}
    number = 0
    while head := data[at]:
        at += 1
        if head >> 4:
            number += head >> 4
        else:
            number, at = _integer(data, at)
        kind = head & 15
        value, at = (None, at) if kind in (1, 2) else _value(data, at, kind)
        # Damaged: a field that comes again as neither hides no number and no struct. Readers of
        # Parquet pass over it, and limits have to see what they see.
        if kind in _INTS or kind == STRUCT or number not in fields:
            fields[number] = (kind, value)
    return fields, at + 1


def numbers_and_structs(fields: Struct) -> dict[int, Any]:
    """The values of these kinds, also in the structs."""
    return {
        number: numbers_and_structs(value) if kind == STRUCT else value
        for number, (kind, value) in fields.items()
        if kind == STRUCT or kind in _INTS
    }


def write(fields: Struct) -> bytes:
    out = bytearray()
    _put_struct(out, fields)
    return bytes(out)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
        if shift >= _LONGEST:
            raise IndexError


def _integer(data: bytes, at: int) -> tuple[int, int]:
    zigzag, at = _varint(data, at)
    return (zigzag >> 1) ^ -(zigzag & 1), at


def _value(data: bytes, at: int, kind: int) -> tuple[Any, int]:
    if kind in _INTS:
        return _integer(data, at)
    if kind == STRUCT:
        return read(data, at)
    if kind in (LIST, _SET):
        return _list(data, at)
    if kind == _BINARY:
        size, at = _varint(data, at)
    elif kind in (1, 2, _BYTE):  # a bool in a list
        size = 1
    elif kind == _DOUBLE:
        size = 8
    else:  # Parquet has no maps
        raise IndexError
    return data[at : at + size], at + size


def _list(data: bytes, at: int) -> tuple[tuple[int, list[Any]], int]:
    head = data[at]
    count, at = (head >> 4, at + 1) if head >> 4 < 15 else _varint(data, at + 1)
    items = []
    for _ in range(count):
        item, at = _value(data, at, head & 15)
        items.append(item)
        data[at]  # a list that claims more than there is ends here
    return (head & 15, items), at


def _put_varint(out: bytearray, value: int) -> None:
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)


def _put_struct(out: bytearray, fields: Struct) -> None:
    last = 0
    for number, (kind, value) in sorted(fields.items()):
        if number - last < 16:
            out.append((number - last) << 4 | kind)
        else:
            out.append(kind)
            _put_varint(out, number << 1)
        last = number
        if kind not in (1, 2):
            _put_value(out, kind, value)
    out.append(0)


def _put_value(out: bytearray, kind: int, value: Any) -> None:
    if kind in _INTS:
        _put_varint(out, value << 1 if value >= 0 else ~(value << 1))
    elif kind == STRUCT:
        if isinstance(value, bytes):
            out += value
        else:
            _put_struct(out, value)
    elif kind in (LIST, _SET):
        of, items = value
        if len(items) < 15:
            out.append(len(items) << 4 | of)
        else:
            out.append(15 << 4 | of)
            _put_varint(out, len(items))
        for item in items:
            _put_value(out, of, item)
    else:
        if kind == _BINARY:
            _put_varint(out, len(value))
        out += value
