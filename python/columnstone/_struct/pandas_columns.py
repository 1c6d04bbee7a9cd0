"""Columns and indexes of pandas as Arrow arrays, and back.

Properties that pandas has and Arrow lacks (a dtype, categories, a frequency, labels that are not
strings) are stored as JSON in the metadata of the Arrow field, under KEY. They stay with the field,
and the conversion back uses them as far as the values still allow.
"""

from __future__ import annotations

import base64
import contextlib
import datetime
import decimal
import json
from typing import TYPE_CHECKING, Any

from .._arrow.objects import array_of
from .._base.errors import Error, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Sequence

Notes = dict[str, Any]

KEY = b"columnstone:pandas"

# ---- notes ----


def metadata(notes: Notes) -> dict[bytes, bytes] | None:
    return {KEY: json.dumps(notes).encode()} if notes else None


def notes_of(field: Any) -> Notes:
    text = (field.metadata or {}).get(KEY)
    try:
        notes = json.loads(text) if text else {}
    except ValueError:
        notes = {}
    return notes if isinstance(notes, dict) else {}


# ---- one column ----


def column_of(column: Any, path: str) -> tuple[Any, Notes]:
    """The values of a Series or an Index as an Arrow array, and the notes about them."""
    import numpy as np
    import pandas as pd

    dtype = column.dtype
    if pd.api.types.is_object_dtype(dtype):
        return _objects_of(list(column), path)
    if isinstance(dtype, pd.CategoricalDtype):
        return _categories_of(column, path)
    if isinstance(dtype, pd.SparseDtype):
        values, _ = column_of(pd.Series(column.to_numpy()), path)
        return values, _noted_dtype(dtype)
    if isinstance(dtype, pd.ArrowDtype):
        return _one_chunk(column.array.__arrow_array__()), {}
    values = _native(column.to_numpy()) if isinstance(dtype, np.dtype) else column.array
    return _imported(values, path), _noted_dtype(dtype)


def _native(values: Any) -> Any:
    return values.astype(values.dtype.newbyteorder("="), copy=False)


def _imported(values: Any, path: str) -> Any:
    """As pyarrow does it; NaN stays NaN."""
    import pyarrow as pa

    try:
        made = pa.array(values, from_pandas=False)
    except (pa.ArrowException, TypeError) as error:
        raise UnsupportedError(
            f"column {path!r}: {values.dtype} has no Arrow type (convert it first)", path=path
        ) from error
    made = _one_chunk(made)
    return made.storage if isinstance(made, pa.ExtensionArray) else made


def _one_chunk(values: Any) -> Any:
    import pyarrow as pa

    if not isinstance(values, pa.ChunkedArray):
        return values
    if values.num_chunks == 1:
        return values.chunk(0)
    return pa.concat_arrays(values.chunks) if values.num_chunks else pa.array([], values.type)


def _noted_dtype(dtype: Any) -> Notes:
    """The notes that restore the dtype; none for one that cannot be described."""
    import pandas as pd

    notes: Notes = {"dtype": str(dtype)}
    if isinstance(dtype, pd.StringDtype):
        notes["storage"] = dtype.storage
    return notes if _dtype_of(notes) == dtype else {}


def _dtype_of(notes: Notes) -> Any:
    """The dtype from the notes; None if there is none."""
    import numpy as np
    import pandas as pd

    text = notes.get("dtype")
    try:
        if "storage" in notes:
            missing = {"na_value": np.nan} if text == "str" else {}  # which pandas 2 does not know
            return pd.StringDtype(notes["storage"], **missing)
        return pd.api.types.pandas_dtype(text) if isinstance(text, str) else None
    except (TypeError, ValueError, NotImplementedError):
        return None


def taken(labels: Any, codes: Any, path: str) -> tuple[Any, Notes]:
    """The labels with these numbers; null for negative numbers."""
    import pyarrow as pa

    values, notes = column_of(labels, path)
    return values.take(pa.array(codes.astype("int64"), mask=codes < 0)), notes


def _categories_of(column: Any, path: str) -> tuple[Any, Notes]:
    import pandas as pd

    values = column.array if isinstance(column, pd.Series) else column
    labels = values.categories
    plain, _ = taken(labels, values.codes, path)
    return plain, {"categories": noted_index(labels), "ordered": bool(values.ordered)}


# Cells that all have one of these classes are stored with pandas' dtype for them.
_SCALARS = ("Timestamp", "Timedelta", "Period", "Interval")


def _null_kind(value: object) -> str | None:
    """The name in the notes of a missing value in a column of objects; None for a value."""
    import pandas as pd

    if value is None:
        return "None"
    if value is pd.NA or value is pd.NaT:
        return "NA" if value is pd.NA else "NaT"
    return "nan" if isinstance(value, float) and value != value else None


def _objects_of(cells: list[Any], path: str) -> tuple[Any, Notes]:
    """Cells with Python's own types, arrays and records. NaN among numbers is a number. Among
    anything else, and alone, it is a missing value for pandas, like NA and NaT."""
    import pandas as pd
    import pyarrow as pa

    kinds = [_null_kind(cell) for cell in cells]
    present = [cell for cell, kind in zip(cells, kinds, strict=True) if kind is None]
    is_number = all(isinstance(cell, int | float) and cell is not True for cell in present)
    if is_number and not any(isinstance(cell, bool) for cell in present):
        kinds = [None if kind == "nan" else kind for kind in kinds]
    missing = {kind for kind in kinds if kind is not None}
    cells = [cell if kind is None else None for cell, kind in zip(cells, kinds, strict=True)]
    notes: Notes = {"dtype": "object"}
    if len(missing) == 1 and missing != {"None"}:
        notes["missing"] = missing.pop()
    classes = {type(cell) for cell in present}
    if len(classes) == 1 and classes <= {getattr(pd, name) for name in _SCALARS}:
        typed = pd.Series([pd.NaT if c is None else c for c in cells], dtype=object).infer_objects()
        if typed.dtype != object:
            values, inner = column_of(typed, path)
            return values, {**notes, "cells": inner}
    if classes and classes <= {decimal.Decimal, datetime.time}:
        return _imported(pd.Series(cells, dtype=object), path), notes
    values = pa.array(array_of(cells, path))
    return values, {**notes, **_noted_cells(present)}


def _noted_cells(cells: list[Any]) -> Notes:
    """Cells that are arrays or tuples become lists in Arrow."""
    import numpy as np

    if cells and all(isinstance(cell, tuple) for cell in cells):
        return {"cells": "tuple"}
    if not cells or not all(isinstance(cell, np.ndarray) for cell in cells):
        return {}
    dtypes = {cell.dtype for cell in cells}
    if all(dtype.kind == "U" for dtype in dtypes):
        return {"cells": "array", "array_dtype": "U"}
    return {"cells": "array", "array_dtype": dtypes.pop().str} if len(dtypes) == 1 else {}


# ---- one column, back ----


def values_of(values: Any, notes: Notes) -> Any:
    """With the dtype from the notes, if the values still fit it; otherwise Arrow-backed."""
    import pyarrow as pa

    try:
        made = _restored(values, notes)
    except (LookupError, TypeError, ValueError, NotImplementedError, pa.ArrowException, Error):
        made = None
    return _backed(values) if made is None else made


def _backed(values: Any) -> Any:
    """pandas supports fewer operations on views of strings than on strings."""
    import pandas as pd
    import pyarrow as pa

    if pa.types.is_string_view(values.type) or pa.types.is_binary_view(values.type):
        is_text = pa.types.is_string_view(values.type)
        values = values.cast(pa.large_string() if is_text else pa.large_binary())
    return pd.array(pa.chunked_array([values]), dtype=pd.ArrowDtype(values.type))


def _restored(values: Any, notes: Notes) -> Any:
    import numpy as np
    import pandas as pd

    if "categories" in notes:
        return _categorical(values, notes)
    dtype = _dtype_of(notes)
    if dtype is None:
        return None
    if pd.api.types.is_object_dtype(dtype):
        return _objects_again(values, notes)
    if isinstance(dtype, np.dtype):
        return _numbers_again(values, dtype)
    if isinstance(dtype, pd.SparseDtype):
        dense = _numbers_again(values, dtype.subtype)
        return None if dense is None else pd.arrays.SparseArray(dense, dtype=dtype)
    if isinstance(dtype, pd.IntervalDtype):
        return _intervals_again(values, dtype)
    if isinstance(dtype, pd.Float32Dtype | pd.Float64Dtype):
        return _masked_floats(values, dtype)
    return dtype.__from_arrow__(values) if hasattr(dtype, "__from_arrow__") else None


def _numbers_again(values: Any, dtype: Any) -> Any:
    """The numpy array, without a copy where pyarrow can; None if the type of the values has
    changed."""
    import pyarrow as pa

    if pa.from_numpy_dtype(dtype.newbyteorder("=")) != values.type:
        return None
    if values.null_count > 0 and dtype.kind not in "mM":
        return None
    return values.to_numpy(zero_copy_only=False).astype(dtype, copy=False)


def _masked_floats(values: Any, dtype: Any) -> Any:
    """pandas itself would take a NaN for a missing value."""
    import numpy as np
    import pandas as pd

    numbers = _numbers_again(values.fill_null(0.0), dtype.numpy_dtype)
    return (
        None if numbers is None else pd.arrays.FloatingArray(numbers, np.asarray(values.is_null()))
    )


def _intervals_again(values: Any, dtype: Any) -> Any:
    import pandas as pd
    import pyarrow.compute as pc

    ends = []
    for name in ("left", "right"):
        end = values.field(name)
        if values.null_count > 0:
            end = pc.if_else(values.is_valid(), end, None)
        is_zoned = hasattr(dtype.subtype, "__from_arrow__")
        ends.append(dtype.subtype.__from_arrow__(end) if is_zoned else end.to_numpy(False))
    return pd.arrays.IntervalArray.from_arrays(*ends, closed=dtype.closed, dtype=dtype)


def _categorical(values: Any, notes: Notes) -> Any:
    """None if a value is not one of the categories any more."""
    import pandas as pd

    labels = index_noted(notes["categories"])
    own = notes["categories"].get("labels", {"notes": {"dtype": "int64"}})
    inner = own.get("notes", {"dtype": "object"})
    codes = labels.get_indexer(pd.Index(values_of(values.drop_null(), inner)))
    if (codes < 0).any():
        return None
    dtype = pd.CategoricalDtype(labels, notes["ordered"])
    return pd.Categorical.from_codes(codes_of(values, codes), dtype=dtype)


def codes_of(values: Any, codes: Any) -> Any:
    """The codes of the values, with -1 for nulls."""
    import numpy as np

    made: Any = np.full(len(values), -1)
    made[np.asarray(values.is_valid())] = codes
    return made


def _objects_again(values: Any, notes: Notes) -> Any:
    import numpy as np
    import pandas as pd

    cells = notes.get("cells")
    if isinstance(cells, dict):
        made = np.asarray(pd.Series(values_of(values, cells)).astype(object))
        found = list(made)
    else:
        found = values.to_pylist()
    kinds = {"nan": np.nan, "NA": pd.NA, "NaT": pd.NaT}
    missing = kinds.get(notes.get("missing", ""))
    valid = np.asarray(values.is_valid())
    out: Any = np.empty(len(found), object)
    for i, value in enumerate(found):
        out[i] = _cell_again(value, notes) if valid[i] else missing
    return pd.Index(out, dtype=object)  # which nothing takes for strings


def _cell_again(value: Any, notes: Notes) -> Any:
    import numpy as np

    if notes.get("cells") == "tuple":
        return tuple(value)
    return np.array(value, notes["array_dtype"]) if notes.get("cells") == "array" else value


# ---- labels, in the notes of others ----


def plain_labels(labels: Sequence[Any]) -> list[Any]:
    """Labels as JSON."""
    for label in labels:
        if label is not None and type(label) not in (str, int, float, bool):
            raise UnsupportedError(
                f"a label of type {type(label).__name__} cannot be kept: use str or int"
            )
    return list(labels)


def noted_freq(index: Any) -> Notes:
    import pandas as pd

    has_freq = isinstance(index, pd.DatetimeIndex | pd.TimedeltaIndex) and index.freq is not None
    return {"freq": index.freqstr} if has_freq else {}


def noted_index(index: Any) -> Notes:
    """The labels of the columns as JSON."""
    import pandas as pd

    notes: Notes = {"names": plain_labels(index.names)}
    if isinstance(index, pd.MultiIndex):
        levels = [index.get_level_values(i) for i in range(index.nlevels)]
        return {**notes, "levels": [_noted_labels(level) for level in levels]}
    if isinstance(index, pd.RangeIndex):
        return {**notes, "range": [index.start, index.stop, index.step]}
    return {**notes, "labels": _noted_labels(index), **noted_freq(index)}


def _noted_labels(labels: Any) -> Notes:
    """The labels of one level: JSON values, or a column as an Arrow stream."""
    import pyarrow as pa

    if labels.dtype == object:
        return {"values": plain_labels(list(labels))}
    values, notes = column_of(labels, "the labels")
    batch = pa.RecordBatch.from_arrays([values], ["labels"])
    out = pa.BufferOutputStream()
    with pa.ipc.new_stream(out, batch.schema) as writer:
        writer.write_batch(batch)
    return {"stream": base64.b64encode(out.getvalue()).decode(), "notes": notes}


def index_noted(notes: Any) -> Any:
    """The Index from the notes; None if there is none, or if it cannot be read."""
    import pyarrow as pa

    try:
        return _index_again(notes) if isinstance(notes, dict) else None
    except (KeyError, IndexError, TypeError, ValueError, pa.ArrowException):
        return None


def _index_again(notes: Notes) -> Any:
    import pandas as pd

    names = notes["names"]
    if "range" in notes:
        return pd.RangeIndex(*notes["range"], name=names[0])
    if "levels" in notes:
        return pd.MultiIndex.from_arrays([_labels_noted(n) for n in notes["levels"]], names=names)
    made = pd.Index(_labels_noted(notes["labels"]), name=names[0])
    return with_freq(made, notes["freq"]) if "freq" in notes else made


def _labels_noted(notes: Notes) -> Any:
    import pandas as pd
    import pyarrow as pa

    if "values" in notes:
        return pd.Index(notes["values"], dtype=object)
    with pa.ipc.open_stream(base64.b64decode(notes["stream"])) as reader:
        table = reader.read_all()
    return pd.Index(values_of(_one_chunk(table.column(0)), notes["notes"]))


def with_freq(index: Any, freq: str) -> Any:
    """With its frequency, if the labels still have it."""
    with contextlib.suppress(ValueError, AttributeError):
        index.freq = freq
    return index
