"""Compares the rows and values that a row group returns with the numbers in the footer: a reader
silently skips a page whose header is damaged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .leaves import fields_of

if TYPE_CHECKING:
    import pyarrow as pa

    from .leaves import Leaves


def check_footer(metadata: Any) -> None:
    """ArrowInvalid if the row groups do not add up to the rows of the file."""
    import pyarrow as pa

    counts = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
    if any(count < 0 for count in counts) or sum(counts) != metadata.num_rows:
        raise pa.ArrowInvalid(
            f"the footer is damaged: the file has {metadata.num_rows} rows, "
            f"but its row groups have {sum(counts)}"
        )


class Counts:
    """Counts the rows of a row group, and the values of its columns, while they are read."""

    def __init__(self, leaves: Leaves, metadata: Any, number: int):
        """leaves: the leaves of each column that are read; number: of the row group."""
        self._metadata = metadata
        self._group = metadata.row_group(number)
        self._leaves = leaves
        self._rows = 0
        self._values: dict[int, int] = {}  # of leaves in lists; others have one in each row

    def add(self, batch: pa.RecordBatch) -> None:
        self._rows += batch.num_rows
        for name, leaves in self._leaves.items():
            column = batch.column(name)
            if leaves and _has_lists(column.type):
                for leaf, count in zip(leaves, _values(column), strict=True):
                    self._values[leaf] = self._values.get(leaf, 0) + count

    def check(self) -> None:
        """ArrowInvalid if the row group is incomplete. Call it after the last batch. (Earlier,
        pyarrow ends the process if the footer's entry for a column is damaged.)"""
        import pyarrow as pa

        if self._rows != self._group.num_rows:
            raise pa.ArrowInvalid(
                f"found {self._rows} rows, expected {self._group.num_rows} as in the footer"
            )
        for leaves in self._leaves.values() if self._rows else ():
            for leaf in leaves:
                self._check_leaf(leaf)

    def _check_leaf(self, leaf: int) -> None:
        import pyarrow as pa

        told = self._group.column(leaf)
        count = self._values.get(leaf, self._rows)
        if count != told.num_values:
            raise pa.ArrowInvalid(
                f"found {count} values, expected {told.num_values} as in the footer"
            )
        if told.path_in_schema != self._metadata.schema.column(leaf).path:
            raise pa.ArrowInvalid(f"the footer is damaged: it has two names for column {leaf}")


def _has_lists(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return any(map(_has_lists, fields_of(kind))) or not (
        pa.types.is_struct(kind) or not fields_of(kind)
    )


def _values(array: Any) -> list[int]:
    """The number of values of each leaf as Parquet counts them: a null and an empty list count as
    one."""
    import pyarrow as pa

    if isinstance(array, pa.ExtensionArray):
        return _values(array.storage)
    if pa.types.is_struct(array.type):
        fields = [_values(array.field(i)) for i in range(array.type.num_fields)]
        return [count for counts in fields for count in counts]
    if not fields_of(array.type):
        return [len(array)]
    without, inside = _lists(array)
    return [without + count for count in _values(inside)]


def _lists(lists: Any) -> tuple[int, Any]:
    """The number of lists that are null or empty, and the values of the others. A Parquet reader
    makes null lists empty as well."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = lists.type
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_map(kind):
        offsets = lists.offsets
        begins, ends = offsets.slice(0, len(lists)), offsets.slice(1)
        first, end = offsets[0].as_py(), offsets[-1].as_py()
        return pc.equal(begins, ends).true_count, lists.values.slice(first, end - first)
    lengths = pc.list_value_length(lists)
    return lists.null_count + pc.equal(lengths, 0).true_count, lists.flatten()
