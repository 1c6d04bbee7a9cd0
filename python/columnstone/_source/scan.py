"""The results of counting and verifying."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from .._arrow.findings import rows
from .._base.markup import counted, or_text, table, titled
from .._base.public import public_in

if TYPE_CHECKING:
    from .. import _core


@public_in("columnstone.source")
class FileCount(NamedTuple):
    """The totals of one file: record_bytes is the size of the records themselves, stream_bytes the
    uncompressed size with the framing, file_bytes the size on disk."""

    file: str
    records: int
    record_bytes: int
    stream_bytes: int
    file_bytes: int


@public_in("columnstone.source")
@dataclass(frozen=True, slots=True)
class Fault:
    """One fault that `verify` found; `str(fault)` is a readable line.

    kind: "length-crc", "data-crc", "truncated", "limit" (larger than max_record_size), "record",
        "compression" or "format".
    code, file, record, offset, line, column, path, message, hint: as in the exception that reading
    would have raised; see columnstone.Error.
    """

    kind: str
    code: str
    file: str | None
    record: int | None
    offset: int | None
    line: int | None
    column: int | None
    path: str | None
    message: str
    hint: str | None

    def __str__(self) -> str:
        numbers = {"record": self.record, "byte": self.offset, "line": self.line}
        place = ", ".join(f"{name} {n}" for name, n in numbers.items() if n is not None)
        feature = None if self.path is None else f"feature {self.path!r}"
        parts = [self.file, place, feature, self.message]
        return ": ".join(part for part in parts if part) + f" [{self.kind}]"


@public_in("columnstone.source")
@dataclass(frozen=True, slots=True)
class Verification:
    """The result of `verify`. True if there is no fault; `str(found)` is a report.

    num_faults: the number of all faults, including those beyond max_faults.
    faults: the first faults, in reading order.
    batch: these faults as a RecordBatch, for pyarrow, Polars, DuckDB.
    """

    num_faults: int
    faults: list[Fault]
    files: list[FileCount]
    batch: _core.RecordBatch = field(compare=False, repr=False)

    @property
    def ok(self) -> bool:
        """True if there is no fault."""
        return self.num_faults == 0

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        records = sum(file.records for file in self.files)
        counts = ((len(self.files), "file"), (records, "record"), (self.num_faults, "fault"))
        end = ", ".join(f"{n} {noun}{'' if n == 1 else 's'}" for n, noun in counts)
        return "\n".join([*map(str, self.faults), end])

    @or_text
    def _repr_html_(self) -> str:
        files = [(one.file, one.records, one.file_bytes) for one in self.files]
        faults = [(one.kind, one.file, one.record, one.message, one.hint) for one in self.faults]
        count = counted(self.num_faults, "fault") if self.num_faults else "no faults"
        head = f"Verification, {count}"
        names = ("fault", "file", "record", "message", "hint")
        found = [table(names, faults, count=self.num_faults)] if faults else []
        return titled(head, *found, table(("file", "records", "bytes"), files))


def files_of(found: _core.Findings) -> list[FileCount]:
    """The results for files from the core."""

    def count(file: bytes, **numbers: int) -> FileCount:
        return FileCount(os.fsdecode(file), **numbers)

    return rows(found[0], count)


def verification_of(found: _core.Findings, files: _core.Findings) -> Verification:
    """The result of a verification from the core."""
    batch, totals = found
    return Verification(totals["num_faults"], rows(batch, Fault), files_of(files), batch)
