"""The footer of a Parquet file that is put together of column chunks: they are encoded apart from
each other, each as a file of its own, and here their entries get their places in the whole file.

Source: parquet.thrift (FileMetaData).
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from . import thrift
from .thrift import I64, LIST, STRUCT

if TYPE_CHECKING:
    from .thrift import Struct

MAGIC = b"PAR1"

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
        group[_COLUMNS] = (LIST, (STRUCT, columns))
        for total in (_BYTES, _COMPRESSED):
            if total in group:
                group[total] = (I64, sum(piece.group[total][1] for piece in pieces))
        if _GROUP_OFFSET in group:
            group[_GROUP_OFFSET] = (I64, start)
        if _ORDINAL in group:
            if len(self._groups) <= _LAST_ORDINAL:
                group[_ORDINAL] = (group[_ORDINAL][0], len(self._groups))
            else:
                del group[_ORDINAL]
        self._groups.append(thrift.write(group))
        self._rows += num_rows

    def end(self) -> bytes:
        """What follows the last page of the file."""
        footer = dict(self._footer)
        footer[_NUM_ROWS] = (I64, self._rows)
        footer[_ROW_GROUPS] = (LIST, (STRUCT, self._groups))
        out = thrift.write(footer)
        return out + struct.pack("<I", len(out)) + MAGIC


def footer_of(file: memoryview) -> Struct:
    return thrift.read(bytes(file[len(file) - _tail(file) :]))[0]


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
