"""Lines of CSV as tfx_bsl reads them: batches with Columnstone's decoder, or cell by cell where
only Python's CSV reader determines the meaning of a line."""

from __future__ import annotations

import csv
import functools
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...._api.codec import decoder
from ...._arrow.pointers import to_pyarrow
from ...._base.errors import Error, SchemaError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...._api.codec import Decoder

    Types = Sequence[pa.DataType | None]

_RAW = "raw"  # no column's name: these are numbers


class Misfit(Exception):
    """A cell that is not a valid value of its column's type; `column` is its number."""

    def __init__(self, column: int) -> None:
        super().__init__(column)
        self.column = column


def cells_of(line: str, delimiter: str) -> list[bytes]:
    """The cells of a line, in UTF-8; none for a blank line. A quote that is never closed ends with
    the line."""
    return [cell.encode() for cell in next(csv.reader([line], delimiter=delimiter))]


class LineReader:
    """Reads lines with a given number of columns; blank lines are rows of nulls, or skipped."""

    def __init__(
        self, width: int, delimiter: str, skip_blank_lines: bool, secondary_delimiter: str | None
    ) -> None:
        self._width = width
        self._delimiter = delimiter
        self._skip_blank_lines = skip_blank_lines
        self._secondary_delimiter = secondary_delimiter

    def read(
        self,
        lines: Sequence[str],
        types: Types,
        multivalent: Sequence[int] = (),
        with_raw: bool = False,
    ) -> list[pa.Array] | None:
        """A column for each type that is not None, followed by the column of lines; None if a line
        must be read cell by cell. An empty cell is null, even in quotes.

        multivalent: the columns whose cells contain several values.

        Raises Misfit."""
        text = "\n".join(lines) + "\n"
        if not self._is_plain(text, len(lines)):
            return None
        secondary = self._secondary_delimiter if multivalent else None
        ours = _decoder(
            self._delimiter,
            not self._skip_blank_lines,
            tuple(types),
            secondary,
            tuple(multivalent),
            with_raw,
        )
        try:
            columns: list[pa.Array] = to_pyarrow(ours.decode(text.encode())).columns
        except SchemaError as error:
            if error.path is None or not error.path.isdecimal():
                return None
            raise Misfit(int(error.path)) from error
        except Error:
            return None
        rows = len(lines) if not self._skip_blank_lines else sum(map(bool, lines))
        if any(len(column) != rows for column in columns):
            return None  # a quote that is not closed took lines that follow it
        if '""' in text:
            wanted = [i for i, type in enumerate(types) if type is not None]
            for place, i in enumerate(wanted):
                if i not in multivalent:
                    columns[place] = with_empty_null(columns[place])
                elif _has_one_empty(columns[place]):
                    return None  # an empty cell, or the empty text within one
        return columns

    def _is_plain(self, text: str, lines: int) -> bool:
        """False if Columnstone's decoder would read other lines, or does not support the
        delimiters. It skips a byte order mark."""
        delimiters = self._delimiter + (self._secondary_delimiter or "")
        return (
            self._width > 0
            and delimiters.isascii()
            and text.count("\n") == lines
            and "\r" not in text
            and not text.startswith("\ufeff")
        )


@functools.lru_cache(maxsize=256)
def _decoder(
    delimiter: str,
    keep_blank_lines: bool,
    types: tuple[pa.DataType | None, ...],
    secondary_delimiter: str | None,
    multivalent: tuple[int, ...],
    with_raw: bool,
) -> Decoder:
    fields = [(str(i), type) for i, type in enumerate(types) if type is not None]
    return decoder(
        "csv",
        names=[str(i) for i in range(len(types))],
        types=pa.schema(fields),
        delimiter=delimiter,
        keep_blank_lines=keep_blank_lines,
        secondary_delimiter=secondary_delimiter,
        multivalent=[str(i) for i in multivalent] or None,
        raw_column=_RAW if with_raw else None,
    )


def with_empty_null(column: pa.Array) -> pa.Array:
    """Texts, or lists of one text each, with null for the empty text, which only quotes produce;
    other columns unchanged."""
    if column.type == pa.large_binary():
        return pc.if_else(pc.equal(pc.binary_length(column), 0), None, column)
    if column.type != pa.large_list(pa.large_binary()):
        return column
    values = column.flatten()
    empty = pc.binary_length(values).to_numpy() == 0
    if not empty.any():
        return column
    there = column.is_valid().to_numpy(zero_copy_only=False).copy()
    there[there] = ~empty
    offsets = np.concatenate([[0], np.cumsum(there)])
    kept = values.filter(pa.array(~empty))
    return pa.LargeListArray.from_arrays(pa.array(offsets), kept, mask=pa.array(~there))


def _has_one_empty(column: pa.Array) -> bool:
    texts = column.type == pa.large_list(pa.large_binary())
    return texts and [b""] in column.to_pylist()
