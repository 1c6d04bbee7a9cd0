"""Dropped records as elements of a pipeline."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from .._source.dropped import Dropped

_MOST = 256 << 20  # bytes of a record that a pipeline is given
_COMPRESSED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd")  # how gzip and zstd begin


class DeadLetter(NamedTuple):
    """A record that was dropped.

    file: the file that contains it; "" for a record of a PCollection of bytes.
    offset: its first byte in the uncompressed file; None if unknown, and for a record of a
        PCollection.
    bytes: the record, if it can be read again: from an uncompressed local file or from a
        PCollection. Where the framing is damaged, the damaged bytes. None otherwise.
    error: the error as text.
    size: how many bytes of the uncompressed file were dropped.
    kind: as in Dropped: "data-crc", "record", ...
    """

    file: str
    offset: int | None
    bytes: bytes | None
    error: str
    size: int
    kind: str


DeadLetter.__module__ = "columnstone.beam"


def letter_of(dropped: Dropped, file: str, options: dict[str, Any]) -> DeadLetter:
    """The dead letter of a record of a file that was read with these options."""
    data = None
    if dropped.offset is not None and options.get("filesystem") is None:
        data = _bytes_of(file, dropped.offset, dropped.bytes)
    if data is not None and dropped.kind == "record":
        data = _payload(data)
    text = str(dropped.error)
    return DeadLetter(file, dropped.offset, data, text, dropped.bytes, dropped.kind)


def _bytes_of(file: str, offset: int, size: int) -> bytes | None:
    """Bytes of an uncompressed local file."""
    if size > _MOST or not os.path.isfile(file):
        return None
    with open(file, "rb") as plain:
        if plain.read(4).startswith(_COMPRESSED):
            return None
        plain.seek(offset)
        data = plain.read(size)
    return data if len(data) == size else None


def _payload(data: bytes) -> bytes:
    """A whole record without its framing, if it has the framing of a TFRecord."""
    framed = int.from_bytes(data[:8], "little") == len(data) - 16
    return data[12:-4] if framed else data
