"""Splits: parts of files, each read by one worker."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from .._arrow.findings import rows
from .._base.markup import bounded, counted, or_text, table, titled
from .._base.public import public_in
from .._base.text import name_of_url

if TYPE_CHECKING:
    from .. import _core

_END = 2**63 - 1  # of a file whose size is not known


@public_in("columnstone.source")
class Split(NamedTuple):
    """A part of a file: the records that begin in its bytes [begin, end) on disk.
    `columnstone.plan` makes splits, and `columnstone.open` reads one, or a list of them.

    The splits of a file contain each of its records exactly once. Any process can read them, in any
    order and any number of times. The same bytes and arguments always give the same splits.

    file: its name.
    begin, end: end is 2**63 - 1 for the end of a file whose size is unknown.
    exact: records are known to begin at begin and end; otherwise the reader searches for them.
    task: splits with the same task are small neighbours that one worker should read together.
    record: for an exact split, the number in the file of the record at begin; errors and
        record_index() count from it. If it is 0 and begin is not, the number is unknown.
    """

    file: str
    begin: int
    end: int
    exact: bool = False
    task: int = 0
    record: int = 0

    def __repr__(self) -> str:
        """The name of the file in errors; `file` contains everything needed to open it."""
        fields = ", ".join(
            f"{name}={(name_of_url(value) if name == 'file' else value)!r}"
            for name, value in self._asdict().items()
        )
        return f"Split({fields})"


class Splits(list[Split]):
    """The list of a plan, which notebooks show as a table."""

    __slots__ = ()

    @or_text
    def _repr_html_(self) -> str:
        rows = [
            (
                name_of_url(one.file),
                f"{one.begin:,}",
                "end of file" if one.end == _END else f"{one.end:,}",
                "yes" if one.exact else "no",
                one.task,
            )
            for one in bounded(self)
        ]
        files = len({one.file for one in self})
        head = f"{counted(len(self), 'split')} of {counted(files, 'file')}"
        names = ("file", "begin", "end", "exact", "task")
        return titled(head, table(names, rows, count=len(self)))


def splits_of(batch: _core.RecordBatch) -> Splits:
    """The splits of a plan."""
    names: dict[bytes, str] = {}  # one text for all splits of a file

    def split(
        file: bytes, begin: int, end: int | None, exact: bool, task: int, record: int | None
    ) -> Split:
        name = names.setdefault(file, os.fsdecode(file))
        return Split(name, begin, _END if end is None else end, exact, task, record or 0)

    return Splits(rows(batch, split))
