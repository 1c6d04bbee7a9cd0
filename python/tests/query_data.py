"""Types and records of the reference of queries, from Arrow and from messages, and how its rows
compare with Arrow columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import message_reference
import pyarrow as pa
from google.protobuf import descriptor_pb2
from message_wire import is_map
from query_places import Field, Leaf, Place, Struct
from query_reference import Column

Proto = descriptor_pb2.FieldDescriptorProto

# ---- Arrow ----


def is_list(kind: pa.DataType) -> bool:
    tests = (
        pa.types.is_list,
        pa.types.is_large_list,
        pa.types.is_fixed_size_list,
        pa.types.is_list_view,
        pa.types.is_large_list_view,
    )
    return any(test(kind) for test in tests)


def leaf_kind(kind: pa.DataType) -> str:
    if pa.types.is_dictionary(kind):
        return leaf_kind(kind.value_type)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return "string"
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind):
        return "bytes"
    return {"float": "float32", "double": "float64"}.get(str(kind), str(kind))


def struct_of_arrow(kind: Any, path: str = "") -> Struct:
    """Of a struct type or a schema."""
    return Struct({f.name: field_of_arrow(f.type, f"{path}.{f.name}") for f in kind})


def field_of_arrow(kind: pa.DataType, path: str, lists: Place = ()) -> Field:
    key = ("source", path, len(lists))
    if is_list(kind):
        return field_of_arrow(kind.value_type, path, (*lists, key))
    if pa.types.is_map(kind):
        entry = {
            "key": field_of_arrow(kind.key_type, f"{path}.key"),
            "value": field_of_arrow(kind.item_type, f"{path}.value"),
        }
        return Field((*lists, key), Struct(entry), is_map=True)
    if pa.types.is_struct(kind):
        return Field(lists, struct_of_arrow(kind, path))
    return Field(lists, Leaf(leaf_kind(kind)))


def kind_text(kind: pa.DataType) -> str:
    """The name of a type without regard to layouts."""
    if is_list(kind):
        return f"[{kind_text(kind.value_type)}]"
    if pa.types.is_map(kind):
        return f"[{{key: {kind_text(kind.key_type)}, value: {kind_text(kind.item_type)}}}]"
    if pa.types.is_struct(kind):
        return "{" + ", ".join(f"{f.name}: {kind_text(f.type)}" for f in kind) + "}"
    return leaf_kind(kind)


def field_text(field: Field) -> str:
    of = field.type
    if isinstance(of, Leaf):
        text = of.kind
    else:
        text = "{" + ", ".join(f"{n}: {field_text(f)}" for n, f in of.fields.items()) + "}"
    return "[" * len(field.lists) + text + "]" * len(field.lists)


def plain(value: Any) -> Any:
    """Values of to_pylist as the reference has them."""
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, tuple):
        return {"key": plain(value[0]), "value": plain(value[1])}
    if isinstance(value, dict):
        return {n: plain(v) for n, v in value.items()}
    return value


def expected_type(column: Column) -> str | None:
    """None: sparse ones have several columns."""
    return None if column.kind == "sparse" and column.field.lists else field_text(column.field)


def values_of(table: pa.RecordBatch, column: Column) -> list[Any]:
    """A column of the result, row by row, as the reference has it."""
    if column.kind != "sparse" or not column.field.lists:
        return list(map(plain, table.column(column.name).to_pylist()))
    depth = len(column.field.lists)
    if column.name in table.schema.names:
        return [
            [(i, v) for i, v in enumerate(row)] for row in table.column(column.name).to_pylist()
        ]
    names = [f"{column.name}$index{i}" for i in range(depth)] + [f"{column.name}$values"]
    columns = [table.column(n).to_pylist() for n in names]
    return [list(zip(*row, strict=True)) for row in zip(*columns, strict=True)]


def close(a: Any, b: Any, tolerance: float = 1e-6) -> bool:
    """Equal, floats but for the last digits of functions."""
    if isinstance(a, float) and isinstance(b, float):
        if math.isnan(a) or math.isnan(b):
            return math.isnan(a) and math.isnan(b)
        return a == b or math.isclose(a, b, rel_tol=tolerance, abs_tol=1e-30)
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(close(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict) and isinstance(b, dict):
        return list(a) == list(b) and all(close(a[n], b[n]) for n in a)
    return type(a) is type(b) and a == b


# ---- messages ----


class MessageFields(Struct):
    """Perhaps without end, and without those that have no values here."""


class Entries(Struct):
    """Of the maps of messages, which have no order."""


def struct_of_message(descriptor: Any, enums: str = "string", path: str = "") -> MessageFields:
    """Fields of well-known types are left out: they are values of other kinds."""

    def fields() -> dict[str, Field]:
        found = {}
        for field in message_reference.fields_of(descriptor):
            name = message_reference.name_of(field)
            if usable(field):
                found[name] = field_of_message(field, enums, f"{path}.{name}")
        return found

    return MessageFields(fields)


def usable(field: Any) -> bool:
    message = field.message_type
    if message is None:
        return True
    if is_map(field):
        return usable(message.fields_by_name["value"])
    return not message.full_name.startswith("google.") and any(
        map(usable, (f for f in message.fields if f.message_type is None))
    )


def field_of_message(field: Any, enums: str, path: str) -> Field:
    lists: Place = (("source", path),) if field.is_repeated else ()
    if is_map(field):
        key, value = field.message_type.fields
        entry = {
            "key": field_of_message(key, enums, f"{path}.key"),
            "value": field_of_message(value, enums, f"{path}.value"),
        }
        return Field(lists, Entries(entry), is_map=True)
    if field.message_type is not None:
        return Field(lists, struct_of_message(field.message_type, enums, path))
    if field.type == Proto.TYPE_ENUM:
        return Field(lists, Leaf("int32" if enums == "number" else "string"))
    if field.type in (Proto.TYPE_STRING, Proto.TYPE_BYTES):
        return Field(lists, Leaf("string" if field.type == Proto.TYPE_STRING else "bytes"))
    return Field(lists, Leaf(leaf_kind(message_reference.SCALARS[field.type])))


def record_of_message(message: Any, enums: str = "string", defaults: bool = False) -> Any:
    """Raises message_reference.Refused where a column could not hold it."""
    record: dict[str, Any] = {}
    for field in message_reference.fields_of(message.DESCRIPTOR):
        if not usable(field):
            continue
        get, has = message_reference.access(field)
        record[message_reference.name_of(field)] = value_of(
            field, get(message), lambda has=has: has(message), enums, defaults
        )
    return record


def value_of(field: Any, value: Any, has: Any, enums: str, defaults: bool) -> Any:
    if is_map(field):
        of = field.message_type.fields_by_name["value"]
        return [{"key": k, "value": one(of, value[k], enums, defaults)} for k in list(value)]
    if field.is_repeated:
        return [one(field, v, enums, defaults) for v in value]
    filled = defaults and field.message_type is None
    if field.is_required and not has():
        raise message_reference.Refused("a required field is missing")
    if field.has_presence and not filled and not has():
        return None
    return one(field, value, enums, defaults)


def one(field: Any, value: Any, enums: str, defaults: bool) -> Any:
    if field.message_type is not None:
        return record_of_message(value, enums, defaults)
    if field.type == Proto.TYPE_ENUM and enums != "number":
        names: dict[int, str] = {}
        for v in field.enum_type.values:
            names.setdefault(v.number, v.name)
        return names.get(value, str(value))
    if field.type == Proto.TYPE_STRING:
        return message_reference.text(value)
    return value


def rows_equal(ours: Sequence[Any], expected: Sequence[Any]) -> bool:
    return len(ours) == len(expected) and all(map(close, ours, expected))
