"""What Columnstone has to make of a message, in plain Python, from protobuf's own message objects.

`Reference(descriptor, options)` has the Arrow schema that is expected and makes a row of a parsed
message, or raises Refused where Arrow cannot hold what protobuf takes. Times are integers, floats
their repr, maps dicts, so that rows can be compared; `plain` brings Arrow arrays into the same
form.
"""

from __future__ import annotations

import datetime
import itertools
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import pyarrow as pa
from google.protobuf import descriptor_pb2, message_factory, unknown_fields
from message_wire import END, FIXED32, FIXED64, LEN, START, VARINT, is_map

Field = descriptor_pb2.FieldDescriptorProto
Path = tuple[str, ...]
Row = dict[str, Any]
Wanted = dict[str, Any] | None  # name -> the same of what is within; {}: all; None: not named

SCALARS = {
    Field.TYPE_DOUBLE: pa.float64(),
    Field.TYPE_FLOAT: pa.float32(),
    Field.TYPE_INT64: pa.int64(),
    Field.TYPE_UINT64: pa.uint64(),
    Field.TYPE_INT32: pa.int32(),
    Field.TYPE_FIXED64: pa.uint64(),
    Field.TYPE_FIXED32: pa.uint32(),
    Field.TYPE_BOOL: pa.bool_(),
    Field.TYPE_UINT32: pa.uint32(),
    Field.TYPE_SFIXED32: pa.int32(),
    Field.TYPE_SFIXED64: pa.int64(),
    Field.TYPE_SINT32: pa.int32(),
    Field.TYPE_SINT64: pa.int64(),
}
UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}


class Refused(Exception):
    """Protobuf takes the message, but a column cannot hold it."""


class Unreadable(Exception):
    """Python's own classes do not give the value: that of a map's key that is not UTF-8."""


@dataclass(frozen=True)
class Options:
    """The keywords of cst.decoder("message")."""

    columns: tuple[Path, ...] | None = None
    enums: str = "dictionary"
    defaults: bool = False
    nullable_lists: bool = False
    nullable_items: bool = False
    plain_types: bool = False
    binary_strings: bool = False
    timestamp_unit: str = "ns"
    time_zone: str | None = "UTC"
    duration_unit: str = "ns"
    time_unit: str = "ns"
    recursion: int = 2
    unknown_fields: str | None = None
    list_item: str = "item"
    map_key: str = "key"
    map_value: str = "value"
    offsets: int = 64
    binary_views: bool = False

    def keywords(self) -> dict[str, Any]:
        """Those that are not the usual ones."""
        given = {
            f.name: getattr(self, f.name)
            for f in fields(self)
            if getattr(self, f.name) != f.default
        }
        if self.columns is not None:
            given["columns"] = [".".join(path) for path in self.columns]
        return given


@dataclass(frozen=True)
class Column:
    field: pa.Field
    read: Callable[[Any], Any]  # of the message that the column is of


@dataclass(frozen=True)
class Kind:
    """An Arrow type, and what makes a value of it."""

    type: pa.DataType
    value: Callable[[Any], Any]


class Reference:
    def __init__(self, descriptor: Any, options: Options | None = None) -> None:
        self.options = options or Options()
        self.text, self.binary = self._texts()
        self.num_columns = 0  # at all levels
        self.has_empty = False  # types without fields
        self.has_opaque = False  # bytes of messages, into which nobody looks
        columns = self.options.columns
        wanted = None if columns is None else wanted_by(columns)
        self.columns = self._columns(descriptor, wanted, {descriptor.full_name: 1})
        self.schema = pa.schema([c.field for c in self.columns])

    def row(self, message: Any) -> Row:
        return {c.field.name: c.read(message) for c in self.columns}

    def _texts(self) -> tuple[pa.DataType, pa.DataType]:
        if self.options.binary_views:
            return pa.string_view(), pa.binary_view()
        if self.options.offsets == 32:
            return pa.string(), pa.binary()
        return pa.large_string(), pa.large_binary()

    # ---- messages ----

    def _columns(self, descriptor: Any, wanted: Wanted, path: Mapping[str, int]) -> list[Column]:
        by_name = {name_of(f): f for f in fields_of(descriptor)}
        self.has_empty |= not by_name
        inner = wanted or dict.fromkeys(by_name)
        columns = [self._column(by_name[n], inner[n], path) for n in inner]
        if self.options.unknown_fields is not None:
            field = pa.field(self.options.unknown_fields, self.binary, nullable=False)
            columns.append(Column(field, Unknown))
        return columns

    def _column(self, field: Any, wanted: Wanted, path: Mapping[str, int]) -> Column:
        self.num_columns += 1
        if is_map(field):
            return self._map(field, wanted, path)
        kind = self._kind(field, wanted, path)
        if field.is_repeated:
            return self._list(field, kind)
        get, has = access(field)
        name, value = name_of(field), kind.value
        if field.is_required:
            return Column(
                pa.field(name, kind.type, nullable=False), required(get, has, value, name)
            )
        filled = self.options.defaults and field.message_type is None
        if not field.has_presence or filled:
            return Column(pa.field(name, kind.type, nullable=False), lambda m: value(get(m)))
        return Column(pa.field(name, kind.type), lambda m: value(get(m)) if has(m) else None)

    def _list(self, field: Any, kind: Kind) -> Column:
        options, value = self.options, kind.value
        item = pa.field(options.list_item, kind.type, nullable=options.nullable_items)
        made = pa.list_(item) if options.offsets == 32 else pa.large_list(item)
        get, _ = access(field)
        empty: list[Any] | None = None if options.nullable_lists else []
        return Column(
            pa.field(name_of(field), made, nullable=options.nullable_lists),
            lambda m: [value(v) for v in get(m)] or empty,
        )

    def _map(self, field: Any, wanted: Wanted, path: Mapping[str, int]) -> Column:
        options = self.options
        key_field, value_field = field.message_type.fields
        key = self._kind(key_field, None, path)
        value = self._kind(value_field, (wanted or {}).get("value"), path)
        made = pa.map_(
            pa.field(options.map_key, key.type, nullable=False),
            pa.field(options.map_value, value.type, nullable=options.nullable_items),
        )
        get, _ = access(field)
        empty: dict[Any, Any] | None = None if options.nullable_lists else {}
        key_of, value_of = key.value, value.value

        def read(message: Any) -> Any:
            entries = get(message)
            keys = list(entries)
            made = [key_of(k) for k in keys]
            if any(isinstance(k, bytes) for k in keys):
                raise Unreadable
            return {m: value_of(entries[k]) for k, m in zip(keys, made, strict=True)} or empty

        return Column(pa.field(name_of(field), made, nullable=options.nullable_lists), read)

    # ---- values ----

    def _kind(self, field: Any, wanted: Wanted, path: Mapping[str, int]) -> Kind:
        if field.message_type is not None:
            return self._message(field.message_type, wanted, path)
        if field.type == Field.TYPE_ENUM:
            return self._enum(field.enum_type)
        if field.type == Field.TYPE_STRING:
            if self.options.binary_strings:
                return Kind(self.binary, raw_bytes)
            return Kind(self.text, text)
        if field.type == Field.TYPE_BYTES:
            return Kind(self.binary, bytes)
        if field.type in (Field.TYPE_DOUBLE, Field.TYPE_FLOAT):
            return Kind(SCALARS[field.type], repr)
        return Kind(SCALARS[field.type], lambda v: v)

    def _enum(self, enum: Any) -> Kind:
        if self.options.enums == "int32":
            return Kind(pa.int32(), int)
        names: dict[int, str] = {}
        for value in enum.values:
            names.setdefault(value.number, value.name)
        made = self.text
        if self.options.enums == "dictionary":
            names_type = pa.string() if self.options.offsets == 32 else pa.large_string()
            made = pa.dictionary(pa.int32(), names_type)
        return Kind(made, lambda v: names.get(v, str(v)))

    def _message(self, descriptor: Any, wanted: Wanted, path: Mapping[str, int]) -> Kind:
        if not self.options.plain_types:
            known = self._known(descriptor)
            if known is not None:
                return known
        depth = path.get(descriptor.full_name, 0)
        if depth > self.options.recursion and wanted is None:
            self.has_opaque = True
            return Kind(self.binary, Opaque)
        path = {**path, descriptor.full_name: depth + 1}
        columns = self._columns(descriptor, wanted, path)
        return Kind(
            pa.struct([c.field for c in columns]),
            lambda m: {c.field.name: c.read(m) for c in columns},
        )

    def _known(self, descriptor: Any) -> Kind | None:
        options, name = self.options, descriptor.full_name
        if name == "google.protobuf.Timestamp":
            made = pa.timestamp(options.timestamp_unit, options.time_zone)
            return Kind(made, time_value(UNITS[options.timestamp_unit]))
        if name == "google.protobuf.Duration":
            made = pa.duration(options.duration_unit)
            return Kind(made, time_value(UNITS[options.duration_unit]))
        if name == "google.type.Date":
            return Kind(pa.date32(), date_value)
        if name == "google.type.TimeOfDay":
            unit = options.time_unit
            made = pa.time64(unit) if unit in ("ns", "us") else pa.time32(unit)
            return Kind(made, time_of_day_value(UNITS[unit]))
        if name in JSON_VALUES:
            make = JSON_VALUES[name]
            return Kind(self.text, lambda m: JsonText(make(m)))
        if name in WRAPPERS:
            kind = self._kind(descriptor.fields[0], None, {})
            return Kind(kind.type, lambda m: kind.value(m.value))
        return None


# ---- fields ----


def fields_of(descriptor: Any) -> list[Any]:
    """In the order of their columns."""
    extensions = descriptor.file.pool.FindAllExtensions(descriptor)
    return [*descriptor.fields, *sorted(extensions, key=lambda f: f.number)]


def name_of(field: Any) -> str:
    return f"({field.full_name})" if field.is_extension else field.name


def wanted_by(columns: Sequence[Path]) -> Wanted:
    """Paths as a tree, in the order of first mention. No path goes into what another one is."""
    wanted: dict[str, Any] = {}
    for path in columns:
        inner = wanted
        for name in path:
            inner = inner.setdefault(name, {})
    return wanted


def access(field: Any) -> tuple[Callable[[Any], Any], Callable[[Any], bool]]:
    """How to get the field's value of a message, and whether it is there."""
    if field.is_extension:
        return (lambda m: m.Extensions[field]), (lambda m: m.HasExtension(field))
    name = field.name
    return (lambda m: getattr(m, name)), (lambda m: m.HasField(name))


def required(
    get: Callable[[Any], Any], has: Callable[[Any], bool], value: Callable[[Any], Any], name: str
) -> Callable[[Any], Any]:
    def read(message: Any) -> Any:
        if not has(message):
            raise Refused(f"{name} is missing")
        return value(get(message))

    return read


def unknown_bytes(message: Any) -> bytes:
    if len(unknown_fields.UnknownFieldSet(message)) == 0:
        return b""
    rest = type(message)()
    rest.CopyFrom(message)
    for field in fields_of(message.DESCRIPTOR):
        if field.is_extension:
            rest.ClearExtension(field)
        else:
            rest.ClearField(field.name)
    return bytes(rest.SerializePartialToString())


# ---- values ----


def text(value: str | bytes) -> str:
    if isinstance(value, bytes):
        raise Refused("a text that is not UTF-8")
    return value


def raw_bytes(value: str | bytes) -> bytes:
    return value if isinstance(value, bytes) else value.encode()


def in_64_bits(value: int) -> int:
    if not -(2**63) <= value < 2**63:
        raise Refused("a time beyond 64 bits")
    return value


def time_value(unit: int) -> Callable[[Any], int]:
    return lambda m: in_64_bits((m.seconds * 10**9 + m.nanos) // unit)


def date_value(message: Any) -> int:
    try:
        date = datetime.date(message.year, message.month, message.day)
    except (ValueError, OverflowError):
        raise Refused("no date") from None
    return date.toordinal() - datetime.date(1970, 1, 1).toordinal()


def time_of_day_value(unit: int) -> Callable[[Any], int]:
    def value(m: Any) -> int:
        sound = 0 <= m.hours < 24 and 0 <= m.minutes < 60 and 0 <= m.seconds < 60
        if not sound or not 0 <= m.nanos < 10**9:
            raise Refused("no time of day")
        nanos = ((m.hours * 60 + m.minutes) * 60 + m.seconds) * 10**9 + m.nanos
        return int(nanos // unit)

    return value


WRAPPERS = [
    f"google.protobuf.{name}Value"
    for name in ("Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes")
]


class Opaque:
    """A message that has to be there as its bytes, in whatever form."""

    def __init__(self, message: Any) -> None:
        self.cls = message_factory.GetMessageClass(message.DESCRIPTOR)
        self.data = message.SerializePartialToString(deterministic=True)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, bytes):
            return NotImplemented
        return bool(
            self.cls.FromString(other).SerializePartialToString(deterministic=True) == self.data
        )

    def __repr__(self) -> str:
        return f"Opaque({self.data!r})"


class Unknown:
    """The unknown fields of a message. Entries of maps that are among them protobuf writes anew, in
    the order of its hash tables."""

    def __init__(self, message: Any) -> None:
        self.descriptor = message.DESCRIPTOR
        self.data = unknown_bytes(message)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, bytes):
            return NotImplemented
        theirs, ours = (unknown_parts(self.descriptor, data) for data in (self.data, other))
        return other == self.data or theirs == ours

    def __repr__(self) -> str:
        return f"Unknown({self.data!r})"


def unknown_parts(descriptor: Any, data: bytes) -> list[Any]:
    """Field by field, with entries of maps as what they hold."""
    maps = {f.number: f.message_type for f in fields_of(descriptor) if is_map(f)}
    found: list[Any] = []
    depth = 0  # of groups
    for number, kind, value in wire_fields(data):
        depth += (kind == START) - (kind == END)
        if kind == LEN and number in maps and depth == 0:
            entry = message_factory.GetMessageClass(maps[number]).FromString(value)
            found.append((number, content(entry)))
        else:
            found.append((number, kind, value))
    return found


def content(message: Any) -> Any:
    """All that a message holds, unknown fields too, to be compared."""
    found: dict[str, Any] = {}
    for field, value in message.ListFields():
        if field.message_type is None:
            found[field.full_name] = repr(value)
        elif is_map(field):
            is_plain = field.message_type.fields_by_name["value"].message_type is None
            of = repr if is_plain else content
            found[field.full_name] = {key: of(value[key]) for key in value}
        else:
            many = value if field.is_repeated else [value]
            found[field.full_name] = [content(one) for one in many]
    return found, unknown_parts(message.DESCRIPTOR, unknown_bytes(message))


def wire_fields(data: bytes) -> list[tuple[int, int, Any]]:
    """The fields of a message that can be parsed; groups by their tags."""
    found: list[tuple[int, int, Any]] = []
    at = 0

    def number() -> int:
        nonlocal at
        value = shift = 0
        while True:
            value |= (data[at] & 0x7F) << shift
            shift += 7
            at += 1
            if data[at - 1] < 0x80:
                return value

    while at < len(data):
        tag = number()
        begin = at
        kind = tag & 7
        if kind == VARINT:
            number()
        elif kind == LEN:
            size = number()
            begin = at
            at += size
        else:
            at += {FIXED64: 8, FIXED32: 4}.get(kind, 0)
        found.append((tag >> 3, kind, data[begin:at]))
    return found


class JsonText:
    """A JSON value that has to be there as text: compact, its keys sorted by their bytes."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, str):
            return NotImplemented
        return parsed(other) == self.value and is_compact(other)

    def __repr__(self) -> str:
        return f"JsonText({self.value!r})"


def parsed(text: str) -> Any:
    """Numbers as their repr; objects that are not sorted are not equal to any."""

    def sorted_object(pairs: list[tuple[str, Any]]) -> Any:
        names = [name.encode() for name, _ in pairs]
        return dict(pairs) if names == sorted(set(names)) else object()

    def number(digits: str) -> str:
        return repr(float(digits))

    return json.loads(text, object_pairs_hook=sorted_object, parse_int=number, parse_float=number)


def is_compact(text: str) -> bool:
    within = False
    before = ""
    for c in text:
        if c == '"' and before != "\\":
            within = not within
        elif c in " \n\t" and not within:
            return False
        before = "" if before == "\\" else c
    return True


def json_struct(message: Any) -> dict[str, Any]:
    return {text(name): json_value(message.fields[name]) for name in message.fields}


def json_list(message: Any) -> list[Any]:
    return [json_value(v) for v in message.values]


def json_value(message: Any) -> Any:
    kind = message.WhichOneof("kind")
    if kind is None or kind == "null_value":
        return None
    if kind == "number_value":
        if not math.isfinite(message.number_value):
            raise Refused("a number that JSON does not have")
        return repr(message.number_value)
    if kind == "string_value":
        return message.string_value
    if kind == "bool_value":
        return message.bool_value
    if kind == "struct_value":
        return json_struct(message.struct_value)
    return json_list(message.list_value)


JSON_VALUES: dict[str, Callable[[Any], Any]] = {
    "google.protobuf.Struct": json_struct,
    "google.protobuf.Value": json_value,
    "google.protobuf.ListValue": json_list,
}


# ---- Arrow data as the rows have it ----


def plain(array: Any) -> list[Any]:
    """An Arrow array's values in the form of Reference.row; maps have to have each key once."""
    kind = array.type
    if pa.types.is_struct(kind):
        return plain_structs(array)
    if pa.types.is_map(kind):
        entries = list(zip(plain(array.keys), plain(array.items), strict=True))
        made = [spread_map(part) for part in spread(entries, array.offsets)]
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        made = spread(plain(array.values), array.offsets)
    elif pa.types.is_dictionary(kind):
        values = plain(array.dictionary)
        return [None if i is None else values[i] for i in array.indices.to_pylist()]
    elif pa.types.is_timestamp(kind) or pa.types.is_duration(kind) or pa.types.is_time64(kind):
        return list(array.view(pa.int64()).to_pylist())
    elif pa.types.is_date32(kind) or pa.types.is_time32(kind):
        return list(array.view(pa.int32()).to_pylist())
    elif pa.types.is_floating(kind):
        return [None if v is None else repr(v) for v in array.to_pylist()]
    else:
        return list(array.to_pylist())
    if array.null_count == 0:
        return made
    return [
        v if there else None for v, there in zip(made, array.is_valid().to_pylist(), strict=True)
    ]


def plain_structs(array: Any) -> list[Any]:
    names = [field.name for field in array.type]
    children = [plain(array.field(i)) for i in range(len(names))]
    if not names:
        return [{} if there else None for there in array.is_valid().to_pylist()]
    rows = zip(*children, strict=True)
    if array.null_count == 0:
        return [dict(zip(names, row, strict=True)) for row in rows]
    valid = array.is_valid().to_pylist()
    return [
        dict(zip(names, row, strict=True)) if there else None
        for row, there in zip(rows, valid, strict=True)
    ]


def spread(values: list[Any], offsets: Any) -> list[list[Any]]:
    ends = offsets.to_pylist()
    return [values[a:b] for a, b in itertools.pairwise(ends)]


def spread_map(entries: list[tuple[Any, Any]]) -> dict[Any, Any]:
    made = dict(entries)
    assert len(made) == len(entries), "a key stands in a map twice"
    return made


def no_hidden_nulls(array: Any, field: pa.Field) -> None:
    """What is not nullable has no nulls, at any depth (below nulls nobody looks)."""
    assert field.nullable or array.null_count == 0, field
    if pa.types.is_struct(array.type) and array.null_count == 0:
        for i, child in enumerate(array.type):
            no_hidden_nulls(array.field(i), child)
    elif pa.types.is_map(array.type):
        no_hidden_nulls(array.keys, array.type.key_field)
        no_hidden_nulls(array.items, array.type.item_field)
    elif pa.types.is_list(array.type) or pa.types.is_large_list(array.type):
        no_hidden_nulls(array.values, array.type.value_field)
