"""How much memory the pages of a column chunk can take, from their headers, before pyarrow
allocates it: a page of a few bytes can stand for any number of values.

Source: parquet.thrift (PageHeader).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..._base.errors import LimitError
from ..._base.limits import FREE, HINT
from . import thrift

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TypeAlias

    # (offset, size) -> the bytes of the file there
    Read: TypeAlias = Callable[[int, int], bytes]
    # Path of a column chunk of strings -> the bytes of its values, computed from its dictionary
    Measure: TypeAlias = Callable[[str], int]

_DICTIONARY_PAGE = 2
_OF_DICTIONARY = frozenset((2, 8))  # PLAIN_DICTIONARY, RLE_DICTIONARY
_DELTA_BYTE_ARRAY = 7
_INDEX = 4  # bytes
_WIDTHS = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 12, "FLOAT": 4, "DOUBLE": 8}


class Limit(NamedTuple):
    """The limit of a file's values, in bytes."""

    name: str
    size: int  # of the file
    ratio: int

    @property
    def most(self) -> int:
        return max(FREE, self.size * self.ratio)

    def error(self, place: str, found: int) -> LimitError:
        return LimitError(
            f"{self.name}: parquet: {place}: up to {found} bytes of values in a file of "
            f"{self.size} bytes, more than {self.ratio} times as much ({HINT})",
            file=self.name,
            hint=HINT,
        )

    def check_rows(self, rows: int) -> None:
        """LimitError for more rows than the file can have: each row takes at least one bit."""
        if rows // 8 > self.most:
            raise self.error(f"{rows} rows", rows // 8)


class Need(NamedTuple):
    """The memory that a row group takes."""

    whole: int  # bytes, read at once
    batch_size: int  # rows that may be read at a time


class _Page(NamedTuple):
    kind: int
    size: int  # uncompressed
    values: int
    encoding: int


def look(
    metadata: Any,
    number: int,
    leaves: Iterable[int],
    read: Read,
    measure: Measure,
    limit: Limit,
    batch_size: int,
) -> Need:
    """The memory that these columns of a row group take. LimitError if they exceed the limit,
    ArrowInvalid if they claim more bytes than the file has. Values of lists are in memory all at
    once, so that dictionary values are measured if the largest possible values would not fit."""
    import pyarrow as pa

    group = metadata.row_group(number)
    row = pages = values = taken = 0
    for leaf in leaves:
        chunk = group.column(leaf)
        start, size = _range(chunk)
        taken += size
        if start < 0 or size < 0 or taken > limit.size:
            raise pa.ArrowInvalid("the column chunks have more bytes than the file")
        column = metadata.schema.column(leaf)
        found = list(_pages(read(start, size), chunk.num_values))
        pages += sum(page.size for page in found)
        one, most = _values(column, found)
        if values + most > limit.most and _is_measured(column, found):
            indices = _INDEX * sum(page.values for page in found)
            most = measure(chunk.path_in_schema) if indices <= limit.most else indices
        values += most
        row += one
        worst = max(pages, row, values if column.max_repetition_level else 0)
        if worst > limit.most:
            place = f"row group {number}, column {chunk.path_in_schema!r}"
            raise limit.error(place, worst)
    return Need(pages + values, max(1, min(batch_size, limit.most // max(1, row))))


def _range(chunk: Any) -> tuple[int, int]:
    """The offset and size of a column chunk, as pyarrow computes them."""
    start = chunk.data_page_offset
    if chunk.has_dictionary_page and 0 < (chunk.dictionary_page_offset or 0) < start:
        start = chunk.dictionary_page_offset
    return start, chunk.total_compressed_size


def _values(column: Any, pages: list[_Page]) -> tuple[int, int]:
    """Upper bounds for the bytes of one value and of all values. The size of lists of strings with
    shared prefixes is known only after decoding: these are counted afterwards."""
    count = sum(page.values for page in pages if page.kind != _DICTIONARY_PAGE)
    if column.physical_type != "BYTE_ARRAY":
        width = _WIDTHS.get(column.physical_type, column.length or 0)
        return width, width * count
    entries = max((page.size for page in pages if page.kind == _DICTIONARY_PAGE), default=0)
    one = most = 0
    for page in pages:
        shared = page.size if page.encoding == _DELTA_BYTE_ARRAY else 0
        item = entries if page.encoding in _OF_DICTIONARY else shared
        one = max(one, item if shared or not column.max_repetition_level else 0)
        if not (shared and column.max_repetition_level):
            most += item * page.values
    return one, most


def _is_measured(column: Any, pages: list[_Page]) -> bool:
    """Whether these are lists of strings with a dictionary."""
    encodings = {page.encoding for page in pages}
    return bool(
        column.physical_type == "BYTE_ARRAY"
        and column.max_repetition_level
        and encodings & _OF_DICTIONARY
        and _DELTA_BYTE_ARRAY not in encodings
    )


def _pages(data: bytes, num_values: int) -> Iterator[_Page]:
    """The pages of a column chunk."""
    import pyarrow as pa

    at = 0
    try:
        while at < len(data) and num_values > 0:
            fields, at = thrift.read(data, at)
            header = thrift.numbers_and_structs(fields)
            inner = header.get(5) or header.get(8) or header.get(7) or {}
            page = _Page(
                header[1],
                max(0, header[2]),
                max(0, inner.get(1, 0)),
                inner.get(4 if 8 in header else 2, 0),
            )
            if header[3] < 0:
                raise IndexError
            at += header[3]
            if page.kind != _DICTIONARY_PAGE:
                num_values -= page.values
            yield page
    except (IndexError, KeyError, TypeError, AttributeError, RecursionError):
        raise pa.ArrowInvalid("the header of a page is damaged") from None
