"""Display of tensors and batches: repr(), HTML tables, trees of types.

Only the displayed part becomes Python objects, so that the time does not depend on the size of a
tensor.
"""

from __future__ import annotations

import datetime
import math
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from .. import _core
from .._base.errors import Error
from .._base.markup import bounded, counted, table, titled
from .._base.text import cut, printable, width

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import EllipsisType

    from .._core import Array, ArrowSchema, RecordBatch, StructuredBase, Tensor

ROWS = 10  # that are shown
FIELDS = 20  # of a scalar, and of an HTML table
ITEMS = 4  # of a list within a row
VALUES = 100  # of one cell
CELL = 60  # columns of the terminal that a cell takes at most
LINE = 120  # columns that the values of a tensor take within a line
NARROW = 12  # and to which it is cut if others need the room
LISTS = ("+l", "+L", "+w", "+v", "+m")

# ---- text ----


def padded(text: str, room: int) -> str:
    return text + " " * (room - width(text))


def quoted(text: str) -> str:
    plain = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{printable(plain)}"'


# ---- values ----

_EPOCH = datetime.datetime(1970, 1, 1)
_PER_SECOND = {"s": 1, "m": 1_000, "u": 1_000_000, "n": 1_000_000_000}


def _fraction(ticks: int, unit: str) -> str:
    digits = len(str(_PER_SECOND[unit])) - 1
    return f".{ticks:0{digits}d}" if ticks else ""


def _moment(count: int, unit: str) -> str:
    """A number of units since 1970 as date and time in UTC."""
    seconds, ticks = divmod(count, _PER_SECOND[unit])
    try:
        moment = _EPOCH + datetime.timedelta(seconds=seconds)
    except OverflowError:  # a year that Python does not have
        return f"{count} {_unit_name(unit)} since 1970"
    return f"{moment.isoformat(' ')}{_fraction(ticks, unit)}"


def _unit_name(unit: str) -> str:
    return unit if unit == "s" else f"{unit}s"


def _day_time(count: int, unit: str) -> str:
    seconds, ticks = divmod(count, _PER_SECOND[unit])
    hours, rest = divmod(seconds, 3600)
    return f"{hours:02d}:{rest // 60:02d}:{rest % 60:02d}{_fraction(ticks, unit)}"


def _decimal(count: int, scale: int) -> str:
    if scale <= 0:
        return f"{count}{'0' * -scale if count else ''}"
    digits = f"{abs(count):0{scale + 1}d}"
    return f"{'-' if count < 0 else ''}{digits[:-scale]}.{digits[-scale:]}"


def opaque_text(format: str, data: bytes) -> str:
    """A date, a time or a decimal, from its Arrow format and the bytes of its slot."""
    count = int.from_bytes(data, "little", signed=True)
    if format.startswith("d:"):
        return _decimal(count, int(format[2:].split(",")[1]))
    if format.startswith("ts"):
        return _moment(count, format[2]) + ("Z" if format[4:] else "")  # Arrow counts in UTC
    if format.startswith("tt"):
        return _day_time(count, format[2])
    if format.startswith("tD"):
        return f"{count} {_unit_name(format[2])}"
    if format == "tdD":
        return _moment(count * 86_400, "s").removesuffix(" 00:00:00")
    if format == "tdm":
        return _moment(count, "m").removesuffix(" 00:00:00")
    return f"0x{data.hex()}"  # intervals


def _items_text(items: Iterable[Any]) -> str:
    return ", ".join(value_text(item) for item in items)


def _field_text(name: str | EllipsisType, value: Any) -> str:
    return "…" if not isinstance(name, str) else f"{printable(name)}: {value_text(value)}"


def value_text(value: Any) -> str:
    """The result of structured_preview as text."""
    if value is None:
        return "null"
    if value is ...:
        return "…"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, list):
        return f"[{_items_text(value)}]"
    if isinstance(value, dict):
        return f"{{{', '.join(_field_text(name, item) for name, item in value.items())}}}"
    if isinstance(value, tuple):
        return opaque_text(*value)
    return repr(value)


# ---- the parts of a tensor ----


def element_type(tensor: StructuredBase) -> ArrowSchema:
    """The type below all dimensions."""
    schema = tensor.schema
    while schema.format[:2] in LISTS:
        schema = schema.children[0]
    return schema


def type_text(schema: ArrowSchema) -> str:
    """A type in one line: "[*] struct, 3 fields"."""
    return printable(_core.type_tree(schema, False, 1, 0).rstrip("\n"))


@dataclass
class Column:
    name: str
    type: str
    cells: list[str]


def _preview(tensor: StructuredBase, field: int, room: int) -> list[str]:
    rows = _core.structured_preview(tensor, field, ROWS, ITEMS, VALUES, 4 * room)
    return [cut(value_text(row), room) for row in rows]


def _column(tensor: StructuredBase, field: ArrowSchema, i: int, room: int) -> Column:
    cells = _preview(tensor, i, room)
    return Column(cut(printable(field.name), room), cut(type_text(field), room), cells)


def _null_rows(tensor: StructuredBase) -> list[bool]:
    rows = _core.structured_preview(tensor, -1, ROWS, 0, 0, 0)
    return [row is None for row in rows]


def _mark_null_rows(columns: list[Column], nulls: list[bool]) -> None:
    """A null row is shown only once."""
    for column in columns[1:]:
        column.cells = [
            "" if is_null else cell for cell, is_null in zip(column.cells, nulls, strict=True)
        ]


def _count_rows(tensor: StructuredBase) -> int:
    """For a tensor that is not null."""
    return 1 if tensor.rank == 0 else tensor.nrows()


def headline(tensor: StructuredBase, fields: Sequence[ArrowSchema] | None) -> str:
    what = counted(len(fields), "field") if fields is not None else type_text(element_type(tensor))
    return f"{type(tensor).__name__}, shape {tensor.shape}, {what}"


def _fields(tensor: StructuredBase) -> Sequence[ArrowSchema] | None:
    element = element_type(tensor)
    return element.children if element.format == "+s" else None


# ---- repr ----


def _fitting(columns: Sequence[Column], room: int) -> list[int]:
    """The widths of the first columns, as many as fit: the full widths if possible, otherwise with
    the widest ones shortened equally."""
    wanted = [
        max(map(width, (column.name, column.type, *column.cells)), default=0) for column in columns
    ]
    used = 0
    count = 0
    for want in wanted:
        used += min(want, NARROW) + 2
        if used > room and count > 0:
            break
        count += 1
    wanted = wanted[:count]
    most = CELL
    while most > NARROW and sum(min(want, most) + 2 for want in wanted) > room:
        most -= 1
    return [min(want, most) for want in wanted]


def _table(columns: Sequence[Column], widths: Sequence[int]) -> list[str]:
    def line(cells: Iterable[str]) -> str:
        parts = (padded(cut(cell, room), room) for cell, room in zip(cells, widths, strict=False))
        return (" " + "  ".join(parts)).rstrip()

    names = line(column.name for column in columns)
    types = line(column.type for column in columns)
    rule = line("─" * room for room in widths)
    rows = [line(cells) for cells in zip(*(column.cells for column in columns), strict=True)]
    return [names, types, rule, *rows]


def _rest(tensor: StructuredBase, hidden: Sequence[ArrowSchema], room: int) -> list[str]:
    """A note about the hidden part."""
    rest = []
    rows = _count_rows(tensor) - ROWS
    if rows > 0:
        rest.append(f" … {counted(rows, 'more row')}")
    if hidden:
        names = ", ".join(printable(field.name) for field in hidden[:ROWS])
        rest.append(cut(f" … {counted(len(hidden), 'more field')}: {names}", room))
    return rest


def _struct_rows(tensor: StructuredBase, fields: Sequence[ArrowSchema], room: int) -> list[str]:
    most = room // 3 + 1  # no column is narrower
    columns = [_column(tensor, field, i, CELL) for i, field in enumerate(fields[:most])]
    if not columns:
        return _rest(tensor, [], room)
    _mark_null_rows(columns, _null_rows(tensor))
    widths = _fitting(columns, room)
    shown = len(widths)
    return [*_table(columns[:shown], widths), *_rest(tensor, fields[shown:], room)]


def _struct_fields(tensor: StructuredBase, fields: Sequence[ArrowSchema], room: int) -> list[str]:
    """A scalar: one line per field."""
    columns = [_column(tensor, field, i, room) for i, field in enumerate(fields[:FIELDS])]
    names = max((width(cut(column.name, CELL)) for column in columns), default=0)
    types = max((width(cut(column.type, CELL)) for column in columns), default=0)
    lines = [
        f" {padded(cut(column.name, CELL), names)}  {padded(cut(column.type, CELL), types)}  "
        for column in columns
    ]
    lines = [cut(line + column.cells[0], room) for line, column in zip(lines, columns, strict=True)]
    return [*lines, *_rest(tensor, fields[FIELDS:], room)]


def _is_null(tensor: StructuredBase) -> bool:
    """The tensor as a whole: a null row, or a null scalar."""
    return tensor.is_row and tensor._array.null_count == 1


def text(tensor: StructuredBase, room: int | None = None) -> str:
    """repr(tensor): its class, shape and type, and its first rows."""
    room = max(room or shutil.get_terminal_size((80, 24)).columns, NARROW + 1)
    fields = _fields(tensor)
    head = headline(tensor, fields)
    if fields is None and tensor.rank == 0:
        return f"{head}: {_preview(tensor, -1, room)[0]}"
    if _is_null(tensor):
        return f"{head}\n null"
    if fields is None:
        lines = [f" {cell}" for cell in _preview(tensor, -1, room - 1)]
        return "\n".join([head, *lines, *_rest(tensor, [], room)])
    if tensor.rank == 0:
        return "\n".join([head, *_struct_fields(tensor, fields, room)])
    return "\n".join([head, *_struct_rows(tensor, fields, room)])


# ---- repr of other objects ----


def columns_text(schema: ArrowSchema) -> str:
    """The columns of a batch in one line: "id int64, event [*] struct, 3 fields"."""
    shown = [f"{printable(field.name)} {type_text(field)}" for field in schema.children[:ROWS]]
    more = len(schema.children) - ROWS
    return "; ".join(shown + ([f"… {counted(more, 'more column')}"] if more > 0 else []))


def _rows_text(head: str, batch: RecordBatch) -> str:
    room = max(shutil.get_terminal_size((80, 24)).columns, NARROW + 1)
    try:
        tensor = _core.structured(batch, False)
        return "\n".join([head, *_struct_rows(tensor, element_type(tensor).children, room)])
    except Error:  # of types that structured tensors do not have
        return head


def batch_text(batch: RecordBatch) -> str:
    """repr(batch): its size, and its first rows."""
    head = f"RecordBatch, {counted(len(batch), 'row')}, {counted(batch.num_columns, 'column')}"
    return _rows_text(head, batch)


def source_text(name: str, first: RecordBatch) -> str:
    """repr(source): its name, its columns and its first rows. `first` may have one row more than
    are shown, which means that there are more."""
    text = _rows_text(f"{name}, {counted(first.num_columns, 'column')}", first.slice(0, ROWS))
    return f"{text}\n …" if len(first) > ROWS else text


def array_text(values: Array) -> str:
    """repr(array)."""
    head = f"arrow.Array of {counted(len(values), 'value')}, {type_text(values.schema)}"
    try:
        return _in_one_line(head, _plain(values, 0, len(values), ROWS))
    except Error:
        return f"<columnstone.{head}>"


def tensor_text(tensor: Tensor) -> str:
    """repr(tensor): one line, because tensors are usually in dicts."""
    head = f"tensor.Tensor {tensor.dtype} {tensor.shape}"
    return _in_one_line(head, _dense(_flat(tensor), 0, tensor.shape, ROWS))


def ragged_text(values: Tensor, row_splits: Sequence[Tensor]) -> str:
    rows = len(row_splits[0]) - 1
    head = f"tensor.RaggedTensor {values.dtype} of {_ragged_size(values, row_splits)}"
    splits = [_flat(level) for level in row_splits]
    return _in_one_line(head, _ragged(_flat(values), values.shape[1:], splits, (0, rows), ROWS))


def _ragged_size(values: Tensor, row_splits: Sequence[Tensor]) -> str:
    rows, levels = counted(len(row_splits[0]) - 1, "row"), counted(len(row_splits), "level")
    return f"{rows}, {levels}, {counted(len(values), 'value')}"


def sparse_text(indices: Tensor, values: Tensor, shape: tuple[int, ...]) -> str:
    head = f"tensor.SparseTensor {values.dtype} {shape} with {counted(len(values), 'value')}"
    flat = _flat(indices)
    rank = len(shape)
    places = [
        f"({', '.join(str(flat[i * rank + k]) for k in range(rank))})"
        for i in range(min(len(values), ROWS))
    ]
    shown = _plain(_flat(values), 0, len(values), ROWS)
    pairs = [f"{place}: {value_text(v)}" for place, v in zip(places, shown, strict=False)]
    more = ["…"] if len(values) > ROWS else []
    return f"<columnstone.{head}: {cut('{' + ', '.join(pairs + more) + '}', LINE)}>"


def _in_one_line(head: str, values: Any) -> str:
    return f"<columnstone.{head}: {cut(value_text(values), LINE)}>"


def _flat(tensor: Tensor) -> Array:
    return cast("Array", _core.array_import(tensor, False))


def _plain(values: Array, begin: int, count: int, items: int) -> list[Any]:
    """`count` values, but at most `items`."""
    part = _core.structured(values.slice(begin, min(count, items)), False)
    shown = _core.structured_preview(part, -1, items, ITEMS, VALUES, 4 * CELL)
    return shown + [...] * (count > items)


def _fewer(items: int) -> int:
    """The limit for the next dimension, so that many dimensions do not multiply the number of
    values."""
    return ITEMS if items == ROWS else max(1, items // 2)


def _dense(values: Array, begin: int, shape: Sequence[int], items: int) -> Any:
    if not shape:
        return _plain(values, begin, 1, 1)[0]
    count, *inner = shape
    if not inner:
        return _plain(values, begin, count, items)
    step = math.prod(inner)
    rows = [
        _dense(values, begin + i * step, inner, _fewer(items)) for i in range(min(count, items))
    ]
    return rows + [...] * (count > items)


def _ragged(
    values: Array,
    inner: Sequence[int],
    splits: Sequence[Array],
    rows: tuple[int, int],
    items: int,
) -> list[Any]:
    """The lists from rows[0] to rows[1] of the outermost of these levels."""
    begin, end = rows
    if not splits:
        shape = [end - begin, *inner]
        return cast("list[Any]", _dense(values, begin * math.prod(inner), shape, items))
    shown = [
        _ragged(values, inner, splits[1:], (splits[0][i], splits[0][i + 1]), _fewer(items))
        for i in range(begin, min(end, begin + items))
    ]
    return shown + [...] * (end - begin > items)


# ---- HTML ----


# ---- HTML ----


def html(tensor: StructuredBase) -> str:
    """A structured tensor as a table of HTML."""
    return _tensor_html(tensor, headline(tensor, _fields(tensor)))


def _tensor_html(tensor: StructuredBase, head: str) -> str:
    fields = _fields(tensor)
    if _is_null(tensor):
        columns, rest = [Column("", "", ["null"])], []
    elif fields is None:
        columns = [Column("", type_text(element_type(tensor)), _preview(tensor, -1, CELL))]
        rest = _rest(tensor, [], CELL)
    else:
        columns = [_column(tensor, field, i, CELL) for i, field in enumerate(fields[:FIELDS])]
        rest = _rest(tensor, fields[FIELDS:], 2 * CELL)
        if tensor.rank > 0:
            _mark_null_rows(columns, _null_rows(tensor))
    names = [column.name for column in columns]
    types = [column.type for column in columns]
    cells = list(zip(*(column.cells for column in columns), strict=True))
    return titled(head, table(names, cells, types=types), notes=[line.strip() for line in rest])


def _columns_html(head: str, schema: ArrowSchema) -> str:
    """The columns and their types, when no values are shown."""
    fields = schema.children if schema.format == "+s" else [schema]
    shown = [
        (field.name, type_text(field), "yes" if field.nullable else "no")
        for field in bounded(fields)
    ]
    return titled(head, table(("column", "type", "nullable"), shown, count=len(fields)))


def batch_html(batch: RecordBatch) -> str:
    """A batch as a table of HTML: its columns, their types, the first rows."""
    head = f"RecordBatch, {counted(len(batch), 'row')}, {counted(batch.num_columns, 'column')}"
    return _rows_html(head, batch)


def _rows_html(head: str, batch: RecordBatch) -> str:
    try:
        return _tensor_html(_core.structured(batch, False), head)
    except Error:  # of types that structured tensors do not have
        return _columns_html(head, batch.schema)


def source_html(
    name: str, first: RecordBatch | None, schema: ArrowSchema | None, notes: Sequence[str]
) -> str:
    """A source as HTML: its first rows if they are known, otherwise its columns, otherwise its
    name."""
    if first is not None:
        head = f"{name}, {counted(first.num_columns, 'column')}"
        more = ["more rows follow"] if len(first) > ROWS else []
        return titled("", _rows_html(head, first.slice(0, ROWS)), notes=[*more, *notes])
    if schema is not None:
        head = f"{name}, {counted(len(schema.children), 'column')}"
        return titled("", _columns_html(head, schema), notes=notes)
    return titled(name, notes=notes)


def array_html(values: Array) -> str:
    """An array as a table of HTML: its type and its first values."""
    head = f"Array of {counted(len(values), 'value')}, {counted(values.null_count, 'null')}"
    try:
        return _tensor_html(_core.structured(values, False), head)
    except Error:
        return _columns_html(head, values.schema)


def groups_html(keys: RecordBatch, rows: Array) -> str:
    """Groups as a table of HTML: the key and the number of rows of each."""
    names = keys.column_names
    columns = [_plain(keys.column(i), 0, len(keys), ROWS) for i in range(len(names))]
    counts = [len(rows[i]) for i in range(min(len(rows), ROWS))]
    cells = [
        [*(value_text(column[i]) for column in columns), f"{count:,}"]
        for i, count in enumerate(counts)
    ]
    head = counted(len(rows), "group")
    return titled(head, table([*map(printable, names), "rows"], cells, count=len(rows)))


def schema_html(schema: ArrowSchema) -> str:
    """The fields of an Arrow schema as a table of HTML."""
    is_many = schema.format == "+s"
    head = f"ArrowSchema, {counted(len(schema.children), 'field')}" if is_many else "ArrowSchema"
    return _columns_html(head, schema)


def tensor_html(tensor: Tensor) -> str:
    """A dense tensor as a table of HTML: two dimensions are rows and columns; further dimensions
    are lists in a cell."""
    flat, shape = _flat(tensor), tensor.shape
    head = f"Tensor {tensor.dtype}, shape {shape}"
    if len(shape) == 2:
        width_, names = shape[1], [str(i) for i in range(min(shape[1], FIELDS))]
        made = [_plain(flat, i * width_, width_, FIELDS) for i in range(min(shape[0], ROWS))]
        rows = [[value_text(value) for value in row] for row in made]
        names += ["…"] * (width_ > FIELDS)
    else:
        values = _dense(flat, 0, shape, ROWS) if shape else [_dense(flat, 0, shape, ROWS)]
        rows = [[value_text(value)] for value in values[:ROWS]]
        names = ["value"]
    return titled(head, table(names, rows, count=shape[0] if shape else 1))


def ragged_html(values: Tensor, row_splits: Sequence[Tensor]) -> str:
    """A ragged tensor as a table of HTML, a line for each row."""
    count = len(row_splits[0]) - 1
    head = f"RaggedTensor {values.dtype}, {_ragged_size(values, row_splits)}"
    splits = [_flat(level) for level in row_splits]
    rows = _ragged(_flat(values), values.shape[1:], splits, (0, count), ROWS)
    return titled(head, table(["row"], [[value_text(row)] for row in rows[:ROWS]], count=count))


def sparse_html(indices: Tensor, values: Tensor, shape: tuple[int, ...]) -> str:
    """A sparse tensor as a table of HTML, a line for each value."""
    head = f"SparseTensor {values.dtype}, shape {shape}, {counted(len(values), 'value')}"
    flat, rank = _flat(indices), len(shape)
    shown = _plain(_flat(values), 0, len(values), ROWS)[:ROWS]
    rows = [
        [str(tuple(flat[i * rank + k] for k in range(rank))), value_text(value)]
        for i, value in enumerate(shown)
    ]
    return titled(head, table(["index", "value"], rows, count=len(values)))


# ---- trees ----

# The form in which ArrowSchema pickles: format, name, flags, metadata, children, dictionary.
Tree = tuple[bytes, bytes, int, Any, tuple[Any, ...], Any]
_NULLABLE = 2
_MOST_FIXED = 2**31 - 1


def _sized(tree: Tree, size: int | None) -> Tree:
    """A list type for lists with one known length."""
    if size is None or size > _MOST_FIXED:
        return tree
    return (b"+w:%d" % size, tree[1], tree[2] & ~_NULLABLE, *tree[3:])


def _with_sizes(tree: Tree, tensor: StructuredBase, sizes: Sequence[int | None]) -> Tree:
    """The type of a field with the sizes of its own list levels, and those of the fields below."""
    format, name, flags, metadata, children, dictionary = tree
    if format[:2].decode() in LISTS:
        inner = _with_sizes(children[0], tensor, sizes[1:])
        return _sized((format, name, flags, metadata, (inner,), dictionary), sizes[0])
    if format == b"+s":
        children = tuple(_field_with_sizes(child, tensor) for child in children)
    return (format, name, flags, metadata, children, dictionary)


def _field_with_sizes(tree: Tree, parent: StructuredBase) -> Tree:
    if not tree[0].startswith(b"+"):
        return tree
    try:
        field = parent[(tree[1].decode(),)]
    except (Error, ValueError):  # two fields with the same name, or one that no str is
        return tree
    return _with_sizes(tree, field, field.shape[parent.rank :])


def _sized_type(tensor: StructuredBase) -> ArrowSchema:
    make, (tree,) = tensor.schema.__reduce__()
    shape = tensor.shape
    if not tensor.is_row:
        tree = (b"+L", b"", 0, None, (tree,), None)
    return make(_with_sizes(tree, tensor, shape))


def tree(tensor: StructuredBase, max_depth: int | None, max_fields: int | None, ascii: bool) -> str:
    """The type as a tree, with the length of each uniform dimension."""
    drawn = _core.type_tree(_sized_type(tensor), ascii, max_depth or 0, max_fields or 0)
    return "".join(f"{printable(line)}\n" for line in drawn[:-1].split("\n"))
