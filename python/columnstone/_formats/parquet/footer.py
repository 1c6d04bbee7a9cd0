"""The footer of a Parquet file that is put together of column chunks: they are encoded apart from
each other, each as a file of its own, and here their entries get their places in the whole file.

Source: parquet.thrift (FileMetaData) and Thrift's compact protocol.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import TypeAlias

    # Field number -> (kind, value). Numbers are ints, and bools the kinds 1 and 2; a list is (kind
    # of its items, items); everything else is its bytes, and so may be a struct that is written.
    Struct: TypeAlias = dict[int, tuple[int, Any]]

MAGIC = b"PAR1"

_BYTE, _INTS, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 3, (4, 5, 6), 7, 8, 9, 10, 12
_I64 = 6

# FileMetaData
_NUM_ROWS, _ROW_GROUPS = 3, 4
# RowGroup
_COLUMNS, _BYTES, _GROUP_OFFSET, _COMPRESSED, _ORDINAL = 1, 2, 5, 6, 7
_LAST_ORDINAL = (1 << 15) - 1
# ColumnChunk, and its ColumnMetaData
_CHUNK_OFFSET, _ABOUT = 2, 3
_PAGE_OFFSETS = (9, 10, 11)  # of data, of an index, of the dictionary


class Piece:
    """A Parquet file in memory with some columns of one row group: their pages, and their
    entries."""

    def __init__(self, file: Any) -> None:
        """file: its bytes."""
        data = memoryview(file)
        footer = footer_of(data)
        (self.group,) = footer[_ROW_GROUPS][1][1]
        self._pages: memoryview | None = data[len(MAGIC) : len(data) - _tail(data)]
        self.size = len(self._pages)

    def take(self) -> memoryview:
        """The pages, once: they are let go."""
        pages, self._pages = self._pages, None
        assert pages is not None
        return pages


class Footer:
    """The footer of a file, which grows by row groups."""

    def __init__(self, empty: Any) -> None:
        """empty: the bytes of a file of all columns, without rows."""
        self._footer = footer_of(memoryview(empty))
        self._groups: list[bytes] = []  # as they stand in the footer: as objects they are large
        self._rows = 0

    def add(self, pieces: list[Piece], num_rows: int, offset: int) -> None:
        """A row group. Its pieces, in the order of their columns, lie one after the other in the
        file, from this offset."""
        group = dict(pieces[0].group)
        columns: list[Struct] = []
        start = offset
        for piece in pieces:
            shift = offset - len(MAGIC)
            columns += [_moved(chunk, shift) for chunk in piece.group[_COLUMNS][1][1]]
            offset += piece.size
        group[_COLUMNS] = (_LIST, (_STRUCT, columns))
        for total in (_BYTES, _COMPRESSED):
            if total in group:
                group[total] = (_I64, sum(piece.group[total][1] for piece in pieces))
        if _GROUP_OFFSET in group:
            group[_GROUP_OFFSET] = (_I64, start)
        if _ORDINAL in group:
            if len(self._groups) <= _LAST_ORDINAL:
                group[_ORDINAL] = (group[_ORDINAL][0], len(self._groups))
            else:
                del group[_ORDINAL]
        entry = bytearray()
        _put_struct(entry, group)
        self._groups.append(bytes(entry))
        self._rows += num_rows

    def end(self) -> bytes:
        """What follows the last page of the file."""
        footer = dict(self._footer)
        footer[_NUM_ROWS] = (_I64, self._rows)
        footer[_ROW_GROUPS] = (_LIST, (_STRUCT, self._groups))
        out = bytearray()
        _put_struct(out, footer)
        return bytes(out) + struct.pack("<I", len(out)) + MAGIC


def footer_of(file: memoryview) -> Struct:
    return _struct(bytes(file[len(file) - _tail(file) :]), 0)[0]


def _tail(file: memoryview) -> int:
    """The size of the footer, its length and the magic."""
    size: int = struct.unpack("<I", file[-8:-4])[0]
    return size + 8


def _moved(chunk: Struct, shift: int) -> Struct:
    """The entry of a column chunk that lies so many bytes later."""
    kind, about = chunk[_ABOUT]
    moved = {**chunk, _ABOUT: (kind, _shifted(about, _PAGE_OFFSETS, shift))}
    return _shifted(moved, (_CHUNK_OFFSET,), shift)


def _shifted(fields: Struct, numbers: tuple[int, ...], shift: int) -> Struct:
    """0 stands for none."""
    moved = dict(fields)
    for number in numbers:
        if number in moved and moved[number][1] > 0:
            moved[number] = (moved[number][0], moved[number][1] + shift)
    return moved


# ---- Thrift's compact protocol ----


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


def _struct(data: bytes, at: int) -> tuple[Struct, int]:
    fields: Struct = {}
    number = 0
    while head := data[at]:
        at += 1
        if head >> 4:
            number += head >> 4
        else:
            zigzag, at = _varint(data, at)
            number = (zigzag >> 1) ^ -(zigzag & 1)
        kind = head & 15
        value, at = (None, at) if kind in (1, 2) else _value(data, at, kind)
        fields[number] = (kind, value)
    return fields, at + 1


def _value(data: bytes, at: int, kind: int) -> tuple[Any, int]:
    if kind in _INTS:
        zigzag, at = _varint(data, at)
        return (zigzag >> 1) ^ -(zigzag & 1), at
    if kind == _STRUCT:
        return _struct(data, at)
    if kind in (_LIST, _SET):
        head = data[at]
        count, at = (head >> 4, at + 1) if head >> 4 < 15 else _varint(data, at + 1)
        items = []
        for _ in range(count):
            item, at = _value(data, at, head & 15)
            items.append(item)
        return (head & 15, items), at
    if kind == _BINARY:
        size, at = _varint(data, at)
    elif kind in (1, 2, _BYTE):  # a bool in a list
        size = 1
    elif kind == _DOUBLE:
        size = 8
    else:
        raise ValueError(f"the footer has a value of kind {kind}")
    return data[at : at + size], at + size


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
    elif kind == _STRUCT:
        if isinstance(value, bytes):
            out += value
        else:
            _put_struct(out, value)
    elif kind in (_LIST, _SET):
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
