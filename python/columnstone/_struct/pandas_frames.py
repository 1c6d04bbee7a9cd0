"""Data frames of pandas as structured tensors, and back: a column becomes a field."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, cast

from .. import _core
from .._arrow.table import array, record_batch
from .._base.errors import UnsupportedError, argument_error
from .._base.optional import need
from .pandas_columns import (
    Notes,
    codes_of,
    column_of,
    index_noted,
    metadata,
    noted_freq,
    noted_index,
    notes_of,
    plain_labels,
    taken,
    values_of,
    with_freq,
)
from .spec import check_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .._core import Array, RecordBatch, StructuredBase

INDEX = "_index_"

# ---- from pandas ----


def from_pandas(frame: Any) -> StructuredBase:
    """Implements StructuredTensor.from_pandas."""
    return cast("StructuredBase", _core.structured(_array_of_frame(frame), False))


def _array_of_frame(frame: Any) -> Array | RecordBatch:
    """The rows as structs; with a hierarchical index, as lists of structs, with a level for each
    but the last."""
    pd = need("pandas", "from_pandas()")
    pa = need("pyarrow", "from_pandas()", "pandas")
    if not isinstance(frame, pd.DataFrame):
        raise TypeError(f"expected a pandas.DataFrame, not {type(frame).__name__}")
    if not frame.columns.is_unique:
        name = frame.columns[frame.columns.duplicated()][0]
        raise argument_error(f"two columns have the name {name!r}", "rename one of them")
    root, notes = _columns_of(frame)
    if INDEX in root:  # even without an index: it would come back as one
        raise argument_error(
            f"a column has the name {INDEX!r}, which is reserved for the index", "rename it"
        )
    if not _is_default(frame.index):
        root = {INDEX: _index_of(frame.index), **root}
    rows = _struct_of(root, len(frame))
    if isinstance(frame.index, pd.MultiIndex) and frame.index.nlevels > 1:
        return array(_grouped(rows, metadata(notes), frame.index.codes))
    batch = pa.RecordBatch.from_struct_array(rows)
    return record_batch(batch.replace_schema_metadata(metadata(notes)))


def _is_default(index: Any) -> bool:
    pd = need("pandas", "from_pandas()")
    is_range = isinstance(index, pd.RangeIndex) and index.start == 0 and index.step == 1
    return bool(is_range) and index.name is None


def _struct_of(fields: dict[str, tuple[Any, Notes]], num_rows: int) -> Any:
    """A struct array of fields by name."""
    import pyarrow as pa

    if not fields:
        return pa.array([{}] * num_rows, pa.struct([]))
    for name in fields:
        check_name(name)
    types = [
        pa.field(name, values.type, metadata=metadata(notes))
        for name, (values, notes) in fields.items()
    ]
    return pa.StructArray.from_arrays([values for values, _ in fields.values()], fields=types)


def _columns_of(frame: Any) -> tuple[dict[str, tuple[Any, Notes]], Notes]:
    """The fields (nested ones for hierarchical columns), and the notes about the labels."""
    import pandas as pd

    columns = frame.columns
    is_plain = type(columns) is pd.Index and columns.dtype == "str" and columns.name is None
    tree: dict[str, Any] = {}
    for i, path in enumerate(_paths_of(columns)):
        values, notes = column_of(frame.iloc[:, i], ".".join(path))
        _put(tree, path, (values, notes if is_plain else {**notes, "column": i}))
    fields = {name: _nested(node, len(frame)) for name, node in tree.items()}
    return fields, {} if is_plain else {"columns": noted_index(columns)}


def _paths_of(columns: Any) -> list[tuple[str, ...]]:
    """The field names of each column, outermost first. Empty labels at the end are omitted unless
    another column begins in the same way."""
    import pandas as pd

    if not isinstance(columns, pd.MultiIndex):
        return [(str(label),) for label in columns]
    full = [tuple(str(step) for step in label) for label in columns]
    beginning_so = Counter(path[:depth] for path in full for depth in range(1, len(path)))
    made = []
    for path in full:
        short = path
        while len(short) > 1 and short[-1] == "":
            short = short[:-1]
        made.append(short if beginning_so[short] <= 1 else path)
    return made


def _put(tree: dict[str, Any], path: tuple[str, ...], leaf: tuple[Any, Notes]) -> None:
    for step in path[:-1]:
        tree = tree.setdefault(step, {})
    if path[-1] in tree:
        raise argument_error(
            f"two columns would become the field {'.'.join(path)!r}", "rename one of them"
        )
    tree[path[-1]] = leaf


def _nested(node: Any, num_rows: int) -> tuple[Any, Notes]:
    if isinstance(node, tuple):
        return node
    fields = {name: _nested(child, num_rows) for name, child in node.items()}
    return _struct_of(fields, num_rows), {"columns": True}


def _grouped(rows: Any, metadata: dict[bytes, bytes] | None, codes: Sequence[Any]) -> Any:
    """Consecutive rows with the same labels in the outer levels become one list."""
    import numpy as np
    import pyarrow as pa

    begins_row: Any = np.zeros(len(rows), bool)
    begins_row[:1] = True
    starts = []
    for level in codes[:-1]:
        begins_row = begins_row.copy()
        begins_row[1:] |= level[1:] != level[:-1]
        starts.append(np.flatnonzero(begins_row))
    item = pa.field("item", rows.type, metadata=metadata)
    count = len(rows)
    for depth in reversed(range(len(starts))):
        inner = np.arange(len(rows)) if depth == len(starts) - 1 else starts[depth + 1]
        offsets: Any = np.append(np.searchsorted(inner, starts[depth]), count)
        rows = pa.LargeListArray.from_arrays(pa.array(offsets), rows, type=pa.large_list(item))
        item = pa.field("item", rows.type)
        count = len(rows)
    return rows


def _index_of(index: Any) -> tuple[Any, Notes]:
    """An index as a field: its labels, or a struct with the labels of each level."""
    import pandas as pd

    if not isinstance(index, pd.MultiIndex):
        values, notes = column_of(index, INDEX)
        notes = {**notes, "names": plain_labels([index.name])}
        if isinstance(index, pd.RangeIndex):
            notes["is_range"] = True
        return values, {**notes, **noted_freq(index)}
    names = [_level_name(index.names, i) for i in range(index.nlevels)]
    levels = {
        name: taken(index.levels[i], index.codes[i], f"{INDEX}.{name}")
        for i, name in enumerate(names)
    }
    return _struct_of(levels, len(index)), {"names": plain_labels(index.names)}


def _level_name(names: Sequence[Any], i: int) -> str:
    name = names[i]
    return name if isinstance(name, str) and list(names).count(name) == 1 else f"level_{i}"


# ---- to pandas ----


def to_pandas(tensor: StructuredBase) -> Any:
    """Implements the method of structured tensors."""
    pd = need("pandas", "to_pandas()")
    pa = need("pyarrow", "to_pandas()", "pandas")
    flat, notes, positions = _flattened(tensor)
    if pa.types.is_struct(flat.type):
        return _frame_of(flat, notes, positions)
    index = _frame_index(None, positions, len(flat))
    return pd.Series(values_of(flat, notes), index=index, copy=False)


def _frame_of(structs: Any, notes: Notes, positions: list[Any] | None) -> Any:
    import pandas as pd

    if structs.null_count > 0:
        row = structs.is_null().to_pylist().index(True)
        raise _not_a_frame(f"element {row}", "which is null", "drop_null()")
    fields = _fields_of(structs)
    index = fields.pop(INDEX, None)
    columns = list(_leaves(fields, ()))
    made = {i: values_of(values, own) for i, (_, values, own) in enumerate(columns)}
    labels = _frame_index(index, positions, len(structs))
    frame = pd.DataFrame(made, index=labels, copy=False)
    frame.columns = _frame_columns(columns, notes)
    return frame


def _flattened(tensor: StructuredBase) -> tuple[Any, Notes, list[Any] | None]:
    """All elements, the notes about them, and the position of each in every dimension; None instead
    of positions if there is only one dimension."""
    import numpy as np
    import pyarrow as pa

    if tensor.rank < 1:
        raise _not_a_frame("a scalar", "which has no rows", "expand_dims(0)")
    field = pa.field(cast("Any", tensor._array.schema))
    flat = pa.array(cast("Any", tensor._array))
    if tensor.is_row:
        if flat.null_count > 0:
            raise _not_a_frame("the tensor", "which is null", "fill_null([])")
        field, flat = field.type.field(0), pa.array(cast("Any", tensor._array.flatten()))
    positions: list[Any] = [np.arange(len(flat))]
    for _ in range(1, tensor.rank):
        if flat.null_count > 0:
            at = flat.is_null().to_pylist().index(True)
            row = ", ".join(str(int(p[at])) for p in positions)
            raise _not_a_frame(f"row [{row}]", "which is null", "fill_null([])")
        lists = array(flat)
        lengths = np.asarray(lists.lengths())
        starts = np.cumsum(lengths) - lengths
        positions = [np.repeat(p, lengths) for p in positions]
        positions.append(np.arange(int(lengths.sum())) - np.repeat(starts, lengths))
        field, flat = field.type.field(0), pa.array(cast("Any", lists.flatten()))
    return flat, notes_of(field), positions if tensor.rank > 1 else None


def _not_a_frame(what: str, why: str, hint: str) -> UnsupportedError:
    return UnsupportedError(
        f"a data frame cannot represent {what}, {why} ({hint} first)", hint=f"{hint} first"
    )


def _fields_of(structs: Any) -> dict[str, tuple[Any, Notes]]:
    """The fields of a struct array without nulls."""
    names = [field.name for field in structs.type]
    if len(set(names)) < len(names):
        name = next(name for name in names if names.count(name) > 1)
        raise argument_error(f"two fields are named {name!r}", "rename one of them")
    return {field.name: (structs.field(i), notes_of(field)) for i, field in enumerate(structs.type)}


def _leaves(
    fields: dict[str, tuple[Any, Notes]], path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], Any, Notes]]:
    """The columns, with the path of each; hierarchical columns in the frame's order."""
    found = []
    for name, (values, notes) in fields.items():
        if notes.get("columns") is True and values.null_count == 0:
            found += list(_leaves(_fields_of(values), (*path, name)))
        else:
            found.append(((*path, name), values, notes))
    if not path and any(len(leaf[0]) > 1 for leaf in found):
        found.sort(key=lambda leaf: leaf[2].get("column", len(found)))
    yield from found


def _frame_columns(columns: list[tuple[tuple[str, ...], Any, Notes]], notes: Notes) -> Any:
    """The labels of the columns: those in the notes if the fields still have their names."""
    import pandas as pd

    noted = index_noted(notes.get("columns"))
    paths = [path for path, _, _ in columns]
    if noted is not None:
        known = _paths_of(noted)
        at = [own.get("column", -1) for _, _, own in columns]
        if all(0 <= i < len(known) and known[i] == p for i, p in zip(at, paths, strict=True)):
            return noted if at == list(range(len(noted))) else noted.take(at)
    depth = max((len(path) for path in paths), default=1)
    if noted is not None:
        depth = max(depth, noted.nlevels)
    if depth == 1:
        return pd.Index([path[0] for path in paths], dtype="str")
    padded = [path + ("",) * (depth - len(path)) for path in paths]
    names = noted.names if noted is not None and noted.nlevels == depth else None
    return pd.MultiIndex.from_tuples(padded, names=names)


def _frame_index(field: tuple[Any, Notes] | None, positions: list[Any] | None, count: int) -> Any:
    """The labels of the rows."""
    import pandas as pd
    import pyarrow as pa

    if field is None:
        return pd.RangeIndex(count) if positions is None else pd.MultiIndex.from_arrays(positions)
    values, notes = field
    names = notes.get("names", [None])
    if pa.types.is_struct(values.type) and "dtype" not in notes:  # intervals are structs, too
        levels = _fields_of(values)
        factors = [_level_of(level, own) for level, own in levels.values()]
        fits = "names" in notes and len(names) == len(factors)
        return pd.MultiIndex(
            [labels for labels, _ in factors],
            [codes for _, codes in factors],
            names=names if fits else list(levels),
        )
    index = pd.Index(values_of(values, notes), name=names[0], copy=False)
    if notes.get("is_range"):
        return _as_range(index)
    if "freq" in notes:
        return with_freq(index, notes["freq"])
    return index


def _level_of(values: Any, notes: Notes) -> tuple[Any, Any]:
    """The distinct labels of a level, and their numbers in the order of the rows."""
    import pandas as pd

    present = pd.Index(values_of(values.drop_null(), notes))
    try:
        labels = present.unique().sort_values()
    except TypeError:  # labels that have no order
        labels = present.unique()
    return labels, codes_of(values, labels.get_indexer(present))


def _as_range(index: Any) -> Any:
    """A RangeIndex again, if the labels still form one."""
    import numpy as np
    import pandas as pd

    if index.dtype != np.int64 or len(index) == 0:
        return pd.RangeIndex(0, name=index.name) if len(index) == 0 else index
    first = int(index[0])
    step = int(index[1]) - first if len(index) > 1 else 1
    if step == 0:
        return index
    made = pd.RangeIndex(first, first + step * len(index), step, name=index.name)
    return made if made.equals(index) else index
