"""Avro schemas that a function looks up by the prefix of records in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from .._arrow.table import array
from .._base.errors import argument_error
from .._formats.avro_options import avro_schema

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .._formats.avro_options import AvroSchema, SchemaFinder


class _Prefix(NamedTuple):
    mark: bytes
    size: int  # of mark and id


_PREFIXES = {
    "auto": _Prefix(b"\xc3\x01", 10),
    "single_object": _Prefix(b"\xc3\x01", 10),
    "confluent": _Prefix(b"\0", 5),
    "apicurio": _Prefix(b"\0", 9),
}


class AvroLookup:
    """Calls the function once for each number (an int) or fingerprint (bytes) in the records."""

    def __init__(self, find: SchemaFinder, framing: str | None) -> None:
        prefix = _PREFIXES.get(framing or "auto")
        if prefix is None:
            raise argument_error(
                f"with avro_framing {framing!r}, records do not name the schema that a function "
                "would look up",
                "leave avro_schemas out, or choose another avro_framing",
            )
        self._find = find
        self._prefix = prefix
        self._asked: set[bytes] = set()
        self.table: dict[int | bytes, AvroSchema] = {}

    def add(self, records: Any) -> tuple[Any, bool]:
        """The records, to be read again, and whether they refer to new schemas."""
        if not hasattr(records, "__arrow_c_array__") and not hasattr(records, "__arrow_c_stream__"):
            records = list(records)
            named = self._ids(records)
        else:
            rows = array(records).to_pylist()
            named = self._ids(
                next(iter(row.values()), b"") if isinstance(row, dict) else row for row in rows
            )
        before = len(self.table)
        for id in sorted(named - self._asked):
            key = id if len(self._prefix.mark) == 2 else int.from_bytes(id, "big")
            found = self._find(key)
            if found is not None:
                self.table[key] = avro_schema("avro_schemas", found)
            self._asked.add(id)
        return records, len(self.table) > before

    def _ids(self, records: Iterable[Any]) -> set[bytes]:
        mark, size = self._prefix
        heads = {
            bytes(memoryview(r)[:size]) for r in records if r is not None and not isinstance(r, str)
        }
        return {h[len(mark) :] for h in heads if len(h) == size and h.startswith(mark)}
