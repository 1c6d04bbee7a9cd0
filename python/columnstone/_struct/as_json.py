"""Structured tensors as JSON text."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, cast

from .._arrow.table import _batch_of
from .._sink.writer import TFRecordWriter, Writer

if TYPE_CHECKING:
    import os

    from .._core import StructuredBase

# The text that the sink writes before and after the value of a column x.
_BEFORE, _AFTER = b'{"x": ', b"}"


def _rows(tensor: StructuredBase) -> list[bytes]:
    """The JSON text of each row. Rows need not be structs: each is written as the value of a
    column."""
    rows = cast("Any", tensor)._rows()
    file = io.BytesIO()
    with Writer(file, "json") as writer:
        writer.write(_batch_of(["x"], [rows], len(rows)))
    lines = file.getvalue().split(b"\n")[:-1]
    return [line[len(_BEFORE) : -len(_AFTER)] for line in lines]


def to_json(
    tensor: StructuredBase, path: str | os.PathLike[str] | Any | None, lines: bool
) -> str | None:
    """See Conversions.to_json."""
    rows = _rows(tensor)
    if tensor.rank == 0:
        text = rows[0]
    elif lines:
        text = b"".join(row + b"\n" for row in rows)
    else:
        text = b"[" + b", ".join(rows) + b"]"
    if path is None:
        return text.decode("utf-8", "surrogateescape")
    with TFRecordWriter(path, container="file") as writer:  # which writes one record as it is
        writer.write(text)
    return None
