"""What is reported of records that a pass leaves out."""

from __future__ import annotations

from typing import NamedTuple

from .._base.public import public_in


@public_in("columnstone.source")
class Dropped(NamedTuple):
    """One record that a pass with on_error dropped. What lies between two records and is none is
    one dropped record.

    kind: "length-crc", "data-crc", "truncated", "limit" (larger than max_record_size), "record"
        (does not parse, or does not fit the schema), "compression" or "format".
    file: as `Source.files` names it.
    record: number within the file from 0, dropped ones counted; None if unknown.
    offset: first byte in the uncompressed stream; None if unknown.
    bytes: how many are passed over.
    error: the exception that reading would have raised.
    """

    kind: str
    file: str
    record: int | None
    offset: int | None
    bytes: int
    error: Exception
