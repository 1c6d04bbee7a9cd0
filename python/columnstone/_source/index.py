"""Indexes of TFRecord files: the position of each record."""

from __future__ import annotations

import operator
import os
from typing import TYPE_CHECKING, NamedTuple

from .. import _core
from .._base.arguments import text
from .._base.errors import Error, name_file
from .._base.files import path_bytes
from .._base.markup import ROWS, counted, or_text, table, titled
from .._base.public import public_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._base.files import Path


@public_in("columnstone.source")
class IndexEntry(NamedTuple):
    """The position of a record: the offset of its header in the file, and its size in bytes without
    the framing."""

    offset: int
    size: int


@public_in("columnstone.source")
class Index:
    """The positions of the records in a TFRecord file. `Index.build`, `Index.load` and
    `Index.from_text` create it. It is immutable. len(index) is the number of records, index[i] an
    IndexEntry.

    It does not pickle: other processes load it from its file.

    >>> index = cst.source.Index.build("trips.tfrecord")
    >>> len(index), index[0]
    (4, IndexEntry(offset=0, size=58))
    """

    __slots__ = ("_handle", "path")
    _handle: _core.Index
    path: str

    def __init__(self) -> None:
        raise TypeError("create an Index with Index.build, Index.load or Index.from_text")

    @classmethod
    def _wrap(cls, make: Callable[[bytes], _core.Index], path: Path) -> Index:
        name = path_bytes(path)
        index = object.__new__(cls)
        index.path = os.fsdecode(name)
        try:
            index._handle = make(name)
        except Error as error:
            name_file(error, name)
            raise
        return index

    @classmethod
    def build(cls, path: Path, *, container: str | None = None) -> Index:
        """Reads the frames of an uncompressed file of records and writes the index file beside it,
        where sources find it by themselves. container is as for `open`.

        Raises UnsupportedError for a compressed file, CorruptError for a damaged one.
        """
        name = text("container", container)
        index = cls._wrap(lambda file: _core.Index.build(file, name), path)
        index.save()
        return index

    @classmethod
    def load(cls, path: Path) -> Index:
        """Loads the index file beside a TFRecord file. NotFoundError if there is none, StateError
        if the data has changed since."""
        return cls._wrap(_core.Index.load, path)

    @classmethod
    def from_text(cls, text_path: Path, path: Path) -> Index:
        """Creates the index of the TFRecord file `path` from the text format that DALI and the
        package `tfrecord` use, compares it with the data, and writes the index file beside the
        data."""
        lines = path_bytes(text_path)
        index = cls._wrap(lambda name: _core.Index.import_text(lines, name), path)
        index.save()
        return index

    @property
    def num_records(self) -> int:
        """The number of records."""
        return self._handle.num_records

    def record(self, i: int) -> IndexEntry:
        """The position of record i; negative numbers count from the end."""
        number = operator.index(i)
        if not -len(self) <= number < len(self):
            raise IndexError(f"record {number} of a file of {len(self)} records")
        return IndexEntry(*self._handle.record(number + len(self) if number < 0 else number))

    def batch(self) -> _core.RecordBatch:
        """All records as a RecordBatch of the columns `offset` and `size`, for example for NumPy.
        The offsets share memory with the index."""
        return self._handle.batch()

    def __len__(self) -> int:
        return self._handle.num_records

    def __getitem__(self, i: int) -> IndexEntry:
        return self.record(i)

    def save(self) -> None:
        """Writes the index file beside the data, where sources find it: its name is that of the
        data with ".cstidx" added."""
        self._handle.save(path_bytes(self.path))

    def export_text(self, path: Path) -> None:
        """Writes the text format that DALI and the package `tfrecord` read: one line "offset
        length" per record; the length includes the framing."""
        self._handle.export_text(path_bytes(path))

    def __repr__(self) -> str:
        return f"<columnstone.source.Index of {len(self)} records of {self.path!r}>"

    @or_text
    def _repr_html_(self) -> str:
        records = [(i, *self.record(i)) for i in range(min(len(self), ROWS))]
        shown = [(i, f"{offset:,}", f"{size:,}") for i, offset, size in records]
        head = f"Index of {self.path}, {counted(len(self), 'record')}"
        return titled(head, table(("record", "offset", "size"), shown, count=len(self)))
