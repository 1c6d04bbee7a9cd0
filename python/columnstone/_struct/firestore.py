"""Firestore documents as structured tensors: the JSON of the REST API, and managed exports."""

from __future__ import annotations

import base64
import datetime
import json
import math
import os
import pathlib
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from .. import _core
from .._arrow.objects import batch_of_rows
from .._base.errors import CorruptError, SchemaError
from .firestore_export import documents_of_export

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from .._core import StructuredBase

_MAX_DEPTH = 100  # Firestore has 20

# The attributes of a document besides its fields. Fields cannot have these names, which are
# reserved.
_NAMES = {"name": "__name__", "createTime": "__create_time__", "updateTime": "__update_time__"}


def from_firestore(documents: Any) -> StructuredBase:
    """Implements StructuredTensor.from_firestore."""
    walk = _Walk()
    rows = [walk.document(document) for document in _documents(documents)]
    return cast("StructuredBase", _core.structured(batch_of_rows(rows), False))


# ---- containers of documents ----


def _documents(given: Any) -> Iterable[Any]:
    if isinstance(given, os.PathLike):
        path = pathlib.Path(given)
        if path.is_dir() or not path.suffix.startswith(".json"):
            return documents_of_export(path)
        given = path.read_bytes()
    if isinstance(given, str | bytes):
        return _parsed(given)
    if isinstance(given, dict) or hasattr(given, "__iter__"):
        return _listed(given)
    raise TypeError(
        f"expected documents, JSON text or a path (os.PathLike), not {type(given).__name__}"
    )


def _listed(given: Any) -> Iterator[Any]:
    """The documents of a list, of a page, or of the answers to a query."""
    if isinstance(given, dict):
        given = given.get("documents", []) if "documents" in given or not given else [given]
    for item in given:
        if isinstance(item, dict) and "fields" not in item:
            found = item.get("document", item.get("found"))
            if found is not None:
                yield found
                continue
            if "readTime" in item or "transaction" in item:  # progress, or a document that is not
                continue
        yield item


def _parsed(text: str | bytes) -> Iterator[Any]:
    """JSON text: a list, a page or a document, or one of these on each line."""
    lines = text.splitlines()
    try:
        return _listed(json.loads(text))
    except json.JSONDecodeError as error:
        if len(lines) < 2 or not _is_json(lines[0]):
            raise _not_json(error, error.lineno) from None
    except (UnicodeDecodeError, RecursionError) as error:
        raise CorruptError(f"not JSON: {type(error).__name__}") from None
    return _of_lines(lines)


def _is_json(line: str | bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def _of_lines(lines: list[Any]) -> Iterator[Any]:
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                parsed = json.loads(line)
            except json.JSONDecodeError as error:
                raise _not_json(error, number) from None
            yield from _listed(parsed)


def _not_json(error: json.JSONDecodeError, line: int) -> CorruptError:
    return CorruptError(
        f"line {line}, column {error.colno}: not JSON: {error.msg}", line=line, column=error.colno
    )


# ---- documents to rows ----


class _Kind(NamedTuple):
    """The type of a field, and the first row that had it."""

    name: str
    row: int


class _Walk:
    """Processes the documents one after the other, and remembers the type of every path."""

    def __init__(self) -> None:
        self._kinds: dict[tuple[str, ...], _Kind] = {}
        self._row = -1

    def document(self, document: Any) -> dict[str, Any]:
        self._row += 1
        fields = document.get("fields", {}) if isinstance(document, dict) else None
        if not isinstance(fields, dict) or not document.keys() & {"fields", *_NAMES}:
            raise self._wrong((), "no document", '{"fields": {name: {"stringValue": ...}}}')
        row = {}
        for key, name in _NAMES.items():
            if key in document:
                tag = "referenceValue" if key == "name" else "timestampValue"
                row[name] = self._value({tag: document[key]}, (name,))
        for name, value in fields.items():
            row[name] = self._value(value, (name,))
        return row

    def _value(self, typed: Any, path: tuple[str, ...]) -> Any:
        if not isinstance(typed, dict) or len(typed) != 1:
            raise self._wrong(path, "something else", 'a typed value such as {"stringValue": ...}')
        if len(path) > _MAX_DEPTH:
            raise self._wrong(
                path[:3], "maps and arrays nested too deeply", f"at most {_MAX_DEPTH} levels"
            )
        ((tag, value),) = typed.items()
        if tag == "nullValue":
            return None
        read = _READERS.get(tag)
        if read is None:
            raise self._wrong(path, "a value of unknown type", f"one of {', '.join(_READERS)}")
        is_vector = tag == "mapValue" and _is_vector(value)
        self._same_kind("arrayValue" if is_vector else tag, path)
        try:
            return self.vector(value, path) if is_vector else read(self, value, path)
        except SchemaError:
            raise
        except (ValueError, TypeError, LookupError, AttributeError, OverflowError):
            raise self._wrong(path, f"an invalid {tag}", _EXPECTED[tag]) from None

    def _same_kind(self, tag: str, path: tuple[str, ...]) -> None:
        """Integers and doubles are both numbers."""
        kind = "doubleValue" if tag == "integerValue" else tag
        first = self._kinds.setdefault(path, _Kind(kind, self._row))
        if first.name != kind:
            raise self._wrong(path, tag, f"{first.name} as in row {first.row}")

    def _wrong(self, path: tuple[str, ...], found: str, expected: str) -> SchemaError:
        name = ".".join(step for step in path if step != _ITEM)
        where = f"row {self._row}" + (f", field {name!r}" if name else "")
        return SchemaError(
            f"{where}: found {found}, expected {expected}", record=self._row, path=name or None
        )

    def map(self, value: Any, path: tuple[str, ...]) -> dict[str, Any]:
        fields = value.get("fields", {}).items()
        return {name: self._value(item, (*path, name)) for name, item in fields}

    def array(self, value: Any, path: tuple[str, ...]) -> list[Any]:
        return [self._value(item, (*path, _ITEM)) for item in value.get("values", ())]

    def vector(self, value: Any, path: tuple[str, ...]) -> list[Any]:
        return self.array(value["fields"]["value"]["arrayValue"], path)


_ITEM = "[]"


def _is_vector(value: Any) -> bool:
    """A vector of numbers is written as a map."""
    fields = value.get("fields") if isinstance(value, dict) else None
    return isinstance(fields, dict) and fields.get("__type__") == {"stringValue": "__vector__"}


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _integer(value: Any) -> int:
    """64-bit integers are text in JSON; some tools write numbers."""
    if isinstance(value, bool | float):
        raise TypeError
    return int(value)


def _double(value: Any) -> float:
    if isinstance(value, bool) or (isinstance(value, str) and value not in _NOT_FINITE):
        raise TypeError
    return float(value)


_NOT_FINITE = ("NaN", "Infinity", "-Infinity")


def _timestamp(value: Any) -> datetime.datetime:
    if isinstance(value, datetime.datetime):
        return value
    made = datetime.datetime.fromisoformat(value)
    if made.tzinfo is None or "T" not in value:
        raise ValueError
    return made.astimezone(datetime.UTC)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _bytes(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    return base64.b64decode(value.replace("-", "+").replace("_", "/"), validate=True)


def _geo_point(value: Any) -> dict[str, float]:
    """JSON omits a zero."""
    if not isinstance(value, dict) or not value.keys() <= {"latitude", "longitude"}:
        raise TypeError
    made = {name: _double(value.get(name, 0.0)) for name in ("latitude", "longitude")}
    if not all(math.isfinite(number) for number in made.values()):
        raise ValueError
    return made


def _plain(read: Callable[[Any], Any]) -> Callable[[_Walk, Any, tuple[str, ...]], Any]:
    return lambda _, value, __: read(value)


_READERS: dict[str, Callable[[_Walk, Any, tuple[str, ...]], Any]] = {
    "booleanValue": _plain(_boolean),
    "integerValue": _plain(_integer),
    "doubleValue": _plain(_double),
    "timestampValue": _plain(_timestamp),
    "stringValue": _plain(_text),
    "bytesValue": _plain(_bytes),
    "referenceValue": _plain(_text),
    "geoPointValue": _plain(_geo_point),
    "arrayValue": _Walk.array,
    "mapValue": _Walk.map,
}
_EXPECTED = {
    "booleanValue": "true or false",
    "integerValue": "an integer",
    "doubleValue": "a number, NaN, Infinity or -Infinity",
    "timestampValue": "a time with its zone, as in RFC 3339",
    "stringValue": "text",
    "bytesValue": "base64",
    "referenceValue": "the name of a document",
    "geoPointValue": "latitude and longitude",
    "arrayValue": '{"values": [...]}',
    "mapValue": '{"fields": {...}}',
}
