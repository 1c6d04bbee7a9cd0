"""Which leaves of a Parquet file are read: those of the wanted columns, and of the wanted paths in
them. A leaf is a column of the footer: a field at the end of a path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeAlias

    import pyarrow as pa

    Leaves: TypeAlias = dict[str, list[int]]


class Choice(NamedTuple):
    """The leaves of a file that are read."""

    schema: pa.Schema  # of the batches
    leaves: Leaves  # their numbers, by column; none where the schema does not tell which they are
    names: dict[str, list[str]]  # what pyarrow calls them

    def names_of(self, columns: Iterable[str]) -> list[str]:
        return [name for column in columns for name in self.names[column]]


def choose(
    schema: pa.Schema, parquet: Any, columns: list[str] | None, paths: tuple[str, ...] | None
) -> Choice:
    """schema: of the file; parquet: its ParquetSchema in pyarrow. If both are None, everything is
    read."""
    import pyarrow as pa

    fields: list[pa.Field] = []
    leaves: Leaves = {}
    names: dict[str, list[str]] = {}
    first = 0
    known = sum(num_leaves(field.type) for field in schema) == len(parquet)
    for field in schema:
        end = first + num_leaves(field.type)
        below = None if paths is None else _below(paths, field.name)
        if (columns is None or field.name in columns) and below != ():
            kind, chosen = _pruned(field.type, below if known else None, first)
            whole = len(chosen) == end - first
            fields.append(field if whole else field.with_type(kind))
            leaves[field.name] = chosen if known else []
            names[field.name] = (
                [field.name] if whole else [parquet.column(leaf).path for leaf in chosen]
            )
        first = end
    return Choice(pa.schema(fields), leaves, names)


def fields_of(kind: pa.DataType) -> list[pa.DataType]:
    """The types inside a nested type; a dictionary is a plain column in the file."""
    import pyarrow as pa

    if isinstance(kind, pa.BaseExtensionType):
        return fields_of(kind.storage_type)
    if pa.types.is_map(kind):
        return [kind.key_type, kind.item_type]
    return [kind.field(i).type for i in range(kind.num_fields)]


def num_leaves(kind: pa.DataType) -> int:
    """How many leaves a field of this type has."""
    return sum(map(num_leaves, fields_of(kind))) or 1


def _below(paths: tuple[str, ...], name: str) -> tuple[str, ...] | None:
    """What is left of the paths after this field; None if one of them ends here."""
    if name in paths:
        return None
    return tuple(path[len(name) + 1 :] for path in paths if path.startswith(name + "."))


def _pruned(
    kind: pa.DataType, paths: tuple[str, ...] | None, first: int
) -> tuple[pa.DataType, list[int]]:
    """The type with the fields on the paths, and their leaves, numbered from `first`. None:
    everything."""
    import pyarrow as pa

    whole = kind, list(range(first, first + num_leaves(kind)))
    if paths is None:
        return whole
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        item, leaves = _pruned(kind.value_type, paths, first)
        make = pa.list_ if pa.types.is_list(kind) else pa.large_list
        return make(kind.value_field.with_type(item)), leaves
    if not pa.types.is_struct(kind):
        return whole
    fields: list[pa.Field] = []
    leaves = []
    for field in kind:
        below = _below(paths, field.name)
        if below != ():
            inner, chosen = _pruned(field.type, below, first)
            fields.append(field.with_type(inner))
            leaves += chosen
        first += num_leaves(field.type)
    return (pa.struct(fields), leaves) if fields else whole
