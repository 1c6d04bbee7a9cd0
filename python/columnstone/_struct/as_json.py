"""Nested tensors as JSON text."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, cast

from .._arrow.table import _batch_of
from .._sink.writer import Writer

if TYPE_CHECKING:
    import os

    from .._core import NestedTensor

# What the sink writes before and after the value of a column x.
_BEFORE, _AFTER = b'{"x": ', b"}"


def _lines(tensor: NestedTensor) -> bytes:
    """A line per row. Rows need not be structs: each is written as the value of a column."""
    rows = cast("Any", tensor)._rows()
    file = io.BytesIO()
    with Writer(file, "json") as writer:
        writer.write(_batch_of(["x"], [rows], len(rows)))
    lines = file.getvalue().splitlines(keepends=True)
    return b"".join(line[len(_BEFORE) : -len(_AFTER) - 1] + b"\n" for line in lines)


def to_json(tensor: NestedTensor, path: str | os.PathLike[str] | Any | None) -> str | None:
    """See Conversions.to_json."""
    text = _lines(tensor)
    if tensor.rank == 0:
        text = text.removesuffix(b"\n")
    if path is None:
        return text.decode("utf-8", "surrogateescape")
    if hasattr(path, "write"):
        cast("Any", path).write(text)
    else:
        with open(path, "wb") as file:
            file.write(text)
    return None
