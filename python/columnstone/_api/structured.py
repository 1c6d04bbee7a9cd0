"""Structured tensors from JSON text."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any

from .. import _core
from .._arrow.table import record_batch
from .._base.errors import ArgumentError, CorruptError, Error, SchemaError
from .._base.files import in_memory, is_file
from .._base.public import public_in
from .._struct.constant import struct_of
from .._struct.spec import LeafSpec, StructuredSpec, StructuredTensorSpec

if TYPE_CHECKING:
    from .._core import AnyStructured, ArrowSchema, RecordBatch
    from .._struct.spec import Spec

_LONG_PATH = 1000  # characters
_ALL_ROWS = 2**31 - 1  # of one batch
_HINT = ("give a schema or types", "give a spec")


@public_in("columnstone.struct")
def from_json(text: Any, spec: Spec | None = None) -> AnyStructured:
    """Converts JSON text to a structured tensor: an object is a scalar, a list a vector, and lists
    of lists have more dimensions. One object per line (JSON lines) is a vector, too.

    text: str or bytes; or a pathlib.Path or a file object with JSON lines or one list of objects,
        which `cst.open` reads: always a vector
    spec: the type. Without one, it is inferred from all of the data: missing keys are null, and
        mixed ints and floats are float64. With a spec, unknown keys are skipped, as `cst.open` does
        with `types`.

    Raises CorruptError for invalid JSON, and SchemaError for values whose type differs from that of
    previous values or of the spec, with line and column, path, what was found and what was
    expected. UnsupportedError for a spec with types that JSON does not have, such as times.
    """
    if spec is not None and not isinstance(spec, StructuredSpec):
        raise TypeError(
            f"spec must be a StructuredTensorSpec or a LeafSpec, not {type(spec).__name__}"
        )
    if isinstance(text, os.PathLike) or is_file(text):
        from .open import open as open_source

        with open_source(text, format="json", types=_columns(spec)) as source:
            return _structs(record_batch(source), spec)
    if isinstance(text, str) and len(text) < _LONG_PATH and os.path.isfile(text):
        raise ArgumentError(f"{text!r} is a file, not JSON text (give it as a pathlib.Path)")
    data = _bytes(text)
    begin = data.lstrip()[:1]
    if begin == b"{":
        is_lines = _is_lines(data, 1 if spec is not None and _is_vector(spec) else 2)
        return _structs(_read(data, _columns(spec)), spec) if is_lines else _one(data, spec)
    is_vector = begin == b"[" and (spec is None or _is_vector(spec))
    if is_vector and data.lstrip()[1:].lstrip()[:1] == b"{":
        try:
            return _structs(_read(data, _columns(spec)), spec)
        except SchemaError as error:
            if "expected an object" not in str(error):
                raise
    return _value(data, spec)


def _bytes(text: Any) -> bytes:
    if isinstance(text, str):
        try:
            text = text.encode()
        except UnicodeEncodeError:
            raise ArgumentError("a str with surrogates is not UTF-8") from None
    if not isinstance(text, bytes | bytearray | memoryview):
        raise TypeError(f"JSON text must be str, bytes or a path, not {type(text).__name__}")
    data = bytes(text)
    return data[3:] if data.startswith(b"\xef\xbb\xbf") else data


def _is_lines(data: bytes, at_least: int) -> bool:
    """True if the first line is an object, and there are as many lines: 1 or 2."""
    first, _, rest = data.lstrip().partition(b"\n")
    try:
        json.loads(first)
    except (ValueError, RecursionError):
        return False
    return at_least == 1 or bool(rest.strip())


def _is_vector(spec: Spec) -> bool:
    return isinstance(spec, StructuredTensorSpec) and spec.rank == 1


def _columns(spec: Spec | None) -> ArrowSchema | None:
    """The columns of a vector of structs."""
    if spec is None:
        return None
    if not _is_vector(spec):
        raise ArgumentError(
            f"found a vector of objects, expected rank {spec.rank}"
            + ("" if isinstance(spec, StructuredTensorSpec) else " and plain values")
        )
    return spec._arrow(1)


def _structs(batch: RecordBatch, spec: Spec | None, is_row: bool = False) -> AnyStructured:
    """Rows as structs, which may be null if the spec allows it."""
    dim = None if spec is None or is_row else spec.shape[0]
    if dim is not None and len(batch) != dim:
        raise SchemaError(f"JSON text: a list of {len(batch)} values, expected {dim}")
    if spec is None or not spec.nullable:
        return _core.structured(batch, is_row)
    columns = {name: batch.column(i) for i, name in enumerate(batch.column_names)}
    return _core.structured(struct_of(columns, len(batch)), is_row)


def _read(data: bytes, types: ArrowSchema | None) -> RecordBatch:
    file = in_memory("JSON text", data)
    most = len(data) + 64
    from .open import open as open_source

    try:
        with open_source(
            file, format="json", types=types, batch_size=_ALL_ROWS, max_record_size=most
        ) as source:
            for batch in source:
                return batch
            return source.empty_batch()
    except SchemaError as error:
        error.args = (str(error).replace(*_HINT),)
        error.hint = error.hint and error.hint.replace(*_HINT)
        raise


# ---- text that the reader of lines does not accept unchanged ----


def _one(data: bytes, spec: Spec | None) -> AnyStructured:
    """One object, as the only item of a list."""
    if isinstance(spec, LeafSpec):
        raise SchemaError(f"JSON text: found an object, expected {spec.dtype}")
    if spec is not None and spec.rank > 0:
        hint = "write it in a list"
        raise SchemaError(
            f"JSON text: found one object, expected lists of rank {spec.rank} ({hint})", hint=hint
        )
    batch = _moved(b"[\n", data, b"\n]", None if spec is None else spec._arrow(0))
    return _structs(batch, spec, True)


def _value(data: bytes, spec: Spec | None) -> AnyStructured:
    """Any value, as the only value of a column."""
    types = None
    if spec is not None:
        item = spec._tree(0, "")
        types = _core.ArrowSchema._of_tree((b"+s", b"", 0, None, (item,), None))
    column = _moved(b'[{"":\n', data, b"\n}]", types).column(0)
    _check_one(data)
    is_list = column.schema.format.startswith("+") and column.schema.format != "+s"
    if is_list and column.null_count == 0:
        return _core.structured(column.flatten(), False)
    return _core.structured(column, True)


def _check_one(data: bytes) -> None:
    """Checks that the text has not closed the brackets around it in order to open them again."""
    try:
        json.loads(data)
    except json.JSONDecodeError as error:
        raise _more_than_one() from error
    except (ValueError, RecursionError):  # only of Python's reader
        pass


def _more_than_one() -> CorruptError:
    hint = "write them as a list"
    return CorruptError(f"JSON text: found more than one value ({hint})", hint=hint)


def _moved(before: bytes, data: bytes, after: bytes, types: ArrowSchema | None) -> RecordBatch:
    """Reads the text inside other text; errors have their position in the text itself."""
    try:
        batch = _read(before + data + after, types)
    except Error as error:
        raise _own_place(error, data) from None
    if len(batch) != 1:
        raise _more_than_one()
    return batch


_PLACE = re.compile(r"^(?:JSON text: )?(?:record .*?column \d+)?(?:, )?(?:feature '(.*?)')?: ")


def _own_place(error: Error, data: bytes) -> Error:
    if error.line is None:
        line = column = None
    else:
        line, column = error.line - 1, error.column
        lines = data.split(b"\n")
        if line > len(lines):  # after the end of the text
            line, column = len(lines), len(lines[-1]) + 1
    path = None if error.path is None else error.path.removeprefix(".") or None
    message = _PLACE.sub("", str(error), count=1)
    message = re.sub(r"\bin line \d+", "before it", message)
    row = re.match(r"\[(\d+)\]", path or "")
    places = [] if line is None else [f"line {line}, column {column}"]
    places += [] if path is None else [f"feature '{path}'"]
    return type(error)(
        f"JSON text: {', '.join(places)}{': ' if places else ''}{message}",
        code=error.code,
        file=error.file,
        record=int(row[1]) if row else None,
        path=path,
        hint=error.hint,
        line=line,
        column=column,
    )
