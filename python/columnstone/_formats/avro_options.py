"""Values of Avro's options that accept more than text: schemas, and tables of schemas."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from .._base.errors import argument_error
from .option import TEXTS

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    # JSON, the path of a JSON file, or the result of json.loads
    AvroSchema: TypeAlias = str | bytes | os.PathLike[str] | dict[str, Any] | list[Any]
    # a dict by number or fingerprint, or a list
    AvroSchemas: TypeAlias = str | Mapping[int | str | bytes, AvroSchema] | Iterable[AvroSchema]
    # for decoders: a function that looks a schema up by its number, or by its fingerprint as bytes
    SchemaFinder: TypeAlias = Callable[[Any], AvroSchema | None]


def avro_schema(name: str, value: Any) -> str:
    """The schema as JSON, or its path."""
    if isinstance(value, dict | list):
        import json

        return json.dumps(value)
    if isinstance(value, bytes):
        return value.decode()
    return TEXTS["text"](name, os.fspath(value) if isinstance(value, os.PathLike) else value)


def _avro_schemas(name: str, value: Any) -> str:
    """A table of schemas, as JSON."""
    import json

    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        table = {_number(name, key): avro_schema(name, item) for key, item in value.items()}
        return json.dumps(table)
    if callable(value):
        raise argument_error(
            f"{name} is a function; only decoders take one", "give a dict of number to schema"
        )
    if not isinstance(value, Iterable) or isinstance(value, bytes):
        raise TypeError(f"{name} must be a dict of number to schema, not {type(value).__name__}")
    return json.dumps([avro_schema(name, item) for item in value])


def _number(name: str, key: Any) -> str:
    """A number, its decimal digits, or the bytes of a fingerprint in the byte order of records."""
    if isinstance(key, str) and key.isascii() and key.isdecimal():
        number = int(key)
    elif isinstance(key, bytes):
        number = int.from_bytes(key, "little")
    else:
        number = operator.index(key)
    if not 0 <= number < 2**64:
        raise argument_error(f"{name} has the number {number}", "numbers have at most 64 bits")
    return str(number)


AVRO_TEXTS: dict[str, Callable[[str, Any], str]] = {
    "avro_schema": avro_schema,
    "avro_writer_schema": avro_schema,
    "avro_schemas": _avro_schemas,
}
