"""Reports of the records that a pass drops."""

from __future__ import annotations

from typing import NamedTuple

from .._base.public import public_in


@public_in("columnstone.source")
class Dropped(NamedTuple):
    """One record that a pass with on_error dropped. Bytes between two records that do not form a
    record count as one dropped record.

    kind: "length-crc", "data-crc", "truncated", "limit" (larger than max_record_size), "record"
        (cannot be parsed, or does not fit the schema), "compression" or "format".
    file: its name in `Source.files`.
    record: its number in the file from 0, counting dropped records; None if unknown.
    offset: first byte in the uncompressed stream; None if unknown.
    bytes: the number of skipped bytes.
    error: the exception that reading would have raised otherwise.
    """

    kind: str
    file: str
    record: int | None
    offset: int | None
    bytes: int
    error: Exception
