"""Random descriptors, and random bytes that are nearly messages of them.

Everything that protobuf's wire format and its descriptors have occurs: all types, packed and not,
closed and open enums, maps, groups, oneofs, extensions, required fields, presence of all kinds,
numbers up to 2^29-1, submessages in pieces, unknown fields, wrong wire types, long varints, damage.
"""

from __future__ import annotations

import random
import struct
from typing import Any

from google.protobuf import descriptor_pb2

FIELD = descriptor_pb2.FieldDescriptorProto
FEATURES = descriptor_pb2.FeatureSet
SCALARS = [
    kind
    for kind in range(1, 19)
    if kind not in (FIELD.TYPE_GROUP, FIELD.TYPE_MESSAGE, FIELD.TYPE_ENUM)
]
KEYS = [
    kind for kind in SCALARS if kind not in (FIELD.TYPE_DOUBLE, FIELD.TYPE_FLOAT, FIELD.TYPE_BYTES)
]
FIXED64 = (FIELD.TYPE_DOUBLE, FIELD.TYPE_FIXED64, FIELD.TYPE_SFIXED64)
FIXED32 = (FIELD.TYPE_FLOAT, FIELD.TYPE_FIXED32, FIELD.TYPE_SFIXED32)
LENGTHS = (FIELD.TYPE_STRING, FIELD.TYPE_BYTES, FIELD.TYPE_MESSAGE)
MESSAGES = ["M0", "M1", "M2"]  # types of fields
EXTENDED = "M3"  # of none: upb writes extensions that are in unknown entries of maps in no order
ENUMS = ["E0", "E1"]
DEFAULTS = {
    FIELD.TYPE_DOUBLE: ["1.5", "-inf", "nan", "1e-300", "0"],
    FIELD.TYPE_FLOAT: ["0.1", "inf", "3.4e+38", "-0"],
    FIELD.TYPE_BOOL: ["true", "false"],
    FIELD.TYPE_STRING: ["", "text", 'q"\\n', "ünï"],
    FIELD.TYPE_BYTES: ["", '\\001\\xff\\n\\"x', "\\377a"],
    FIELD.TYPE_INT32: ["-2147483648", "2147483647"],
    FIELD.TYPE_UINT32: ["4294967295"],
    FIELD.TYPE_INT64: ["-9223372036854775808", "7"],
    FIELD.TYPE_UINT64: ["18446744073709551615"],
    FIELD.TYPE_SINT32: ["-1"],
    FIELD.TYPE_SFIXED64: ["-5"],
}


class Files:
    """A random file with four messages, extensions of one and two enums."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.syntax = rng.choice(["proto2", "proto3", "editions"])
        self.file = descriptor_pb2.FileDescriptorProto(name="t.proto", package="t")
        if self.syntax != "proto2":
            self.file.syntax = self.syntax
        if self.syntax == "editions":
            self.file.edition = rng.choice(
                [descriptor_pb2.EDITION_2023, descriptor_pb2.EDITION_2024]
            )
            self.put_features(self.file.options.features)
        for name in ENUMS:
            self.add_enum(name)
        for name in [*MESSAGES, EXTENDED]:
            self.add_message(name)
        if self.syntax != "proto3":
            self.add_extensions()

    def put_features(self, features: Any, of_field: bool = False) -> None:
        rng = self.rng
        if rng.random() < 0.5:
            features.utf8_validation = rng.choice([FEATURES.VERIFY, FEATURES.NONE])
        if rng.random() < 0.3 and not of_field:
            features.field_presence = rng.choice([FEATURES.EXPLICIT, FEATURES.IMPLICIT])
        if rng.random() < 0.3 and not of_field:
            features.repeated_field_encoding = rng.choice([FEATURES.PACKED, FEATURES.EXPANDED])
        if rng.random() < 0.3 and not of_field:
            features.message_encoding = rng.choice([FEATURES.LENGTH_PREFIXED, FEATURES.DELIMITED])

    def add_enum(self, name: str) -> None:
        rng = self.rng
        numbers = [0, 1, 5, -3, 2**31 - 1, -(2**31)]
        rng.shuffle(numbers)
        # Only proto2 has enums that do not begin with 0, and then not in maps.
        numbers.remove(0)
        numbers.insert(0, 0)
        made = self.file.enum_type.add(name=name)
        for i, number in enumerate(numbers[: rng.randrange(1, 6)]):
            made.value.add(name=f"{name}_V{i}", number=number)
        if self.syntax == "editions" and name == "E0":
            made.options.features.enum_type = FEATURES.CLOSED

    def enum_name(self) -> str:
        return f".t.{self.rng.choice(ENUMS)}"

    def add_message(self, name: str) -> None:
        rng = self.rng
        message = self.file.message_type.add(name=name)
        if self.syntax == "editions" and rng.random() < 0.3:
            self.put_features(message.options.features)
        if self.syntax != "proto3":
            message.extension_range.add(start=1000, end=2000)
        numbers = rng.sample([*range(1, 30), 2000, 18999, 20000, 2**29 - 1], rng.randrange(4, 14))
        oneof = 0 if rng.random() < 0.6 else None
        synthetic: list[Any] = []
        for i, number in enumerate(numbers):
            field = message.field.add(name=f"f_{i}x", number=number, label=FIELD.LABEL_OPTIONAL)
            shape = rng.choice(["one", "one", "many", "map", "member", "message"])
            if shape == "map":
                self.make_map(message, field)
                continue
            self.put_type(field, allow_message=shape != "member" or rng.random() < 0.5)
            if shape == "message":
                field.type, field.type_name = FIELD.TYPE_MESSAGE, f".t.{rng.choice(MESSAGES)}"
            if shape == "many":
                field.label = FIELD.LABEL_REPEATED
                if (
                    field.type not in LENGTHS
                    and field.type != FIELD.TYPE_GROUP
                    and self.syntax != "editions"
                ):
                    field.options.packed = rng.random() < 0.5
            elif shape == "member" and oneof is not None:
                field.oneof_index = 0
            elif self.syntax == "proto3" and rng.random() < 0.3:
                field.proto3_optional = True
                synthetic.append(field)
            elif self.syntax == "proto2" and rng.random() < 0.1:
                field.label = FIELD.LABEL_REQUIRED
            elif self.syntax == "editions":
                self.put_field_features(field)
            self.put_default(field)
        if any(field.HasField("oneof_index") for field in message.field):
            message.oneof_decl.add(name="choice")
        for field in synthetic:
            field.oneof_index = len(message.oneof_decl)
            message.oneof_decl.add(name=f"_{field.name}")

    def put_field_features(self, field: Any) -> None:
        rng = self.rng
        if field.type == FIELD.TYPE_STRING and rng.random() < 0.5:
            field.options.features.utf8_validation = rng.choice([FEATURES.VERIFY, FEATURES.NONE])
        if field.type == FIELD.TYPE_MESSAGE:
            if rng.random() < 0.5:
                field.options.features.message_encoding = FEATURES.DELIMITED
        elif rng.random() < 0.5:
            field.options.features.field_presence = rng.choice([1, 2, 3])

    def put_type(self, field: Any, allow_message: bool = True) -> None:
        rng = self.rng
        kind = rng.choice(SCALARS + [FIELD.TYPE_ENUM] * 2 + [FIELD.TYPE_MESSAGE] * 3)
        if kind == FIELD.TYPE_MESSAGE and not allow_message:
            kind = FIELD.TYPE_INT32
        if kind == FIELD.TYPE_MESSAGE:
            field.type_name = f".t.{rng.choice(MESSAGES)}"
            if self.syntax == "proto2" and rng.random() < 0.4:
                kind = FIELD.TYPE_GROUP
        if kind == FIELD.TYPE_ENUM:
            field.type_name = self.enum_name()
        field.type = kind

    def put_default(self, field: Any) -> None:
        has_presence = self.syntax == "proto2" and field.label != FIELD.LABEL_REPEATED
        if has_presence and field.type in DEFAULTS and self.rng.random() < 0.5:
            field.default_value = self.rng.choice(DEFAULTS[field.type])
        elif has_presence and field.type == FIELD.TYPE_ENUM and self.rng.random() < 0.5:
            enum = next(e for e in self.file.enum_type if field.type_name.endswith(e.name))
            field.default_value = self.rng.choice(enum.value).name

    def make_map(self, message: Any, field: Any) -> None:
        name = "".join(part.capitalize() for part in field.name.split("_")) + "Entry"
        entry = message.nested_type.add(name=name)
        entry.options.map_entry = True
        key = entry.field.add(name="key", number=1, label=FIELD.LABEL_OPTIONAL)
        key.type = self.rng.choice(KEYS)
        value = entry.field.add(name="value", number=2, label=FIELD.LABEL_OPTIONAL)
        self.put_type(value)
        if value.type == FIELD.TYPE_GROUP:
            value.type = FIELD.TYPE_MESSAGE
        field.type, field.type_name = FIELD.TYPE_MESSAGE, f".t.{message.name}.{name}"
        field.label = FIELD.LABEL_REPEATED

    def add_extensions(self) -> None:
        for i in range(self.rng.randrange(5)):
            holder = self.file if self.rng.random() < 0.5 else self.file.message_type[0]
            field = holder.extension.add(
                name=f"x_{i}", number=1000 + i * 37, label=FIELD.LABEL_OPTIONAL
            )
            field.extendee = f".t.{EXTENDED}"
            self.put_type(field)
            if self.rng.random() < 0.4:
                field.label = FIELD.LABEL_REPEATED


def varint(n: int, extra: int = 0) -> bytes:
    n &= (1 << 64) - 1
    out = bytearray()
    while n >= 0x80:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    if extra:
        out[-1] |= 0x80
        out += b"\x80" * (extra - 1) + b"\x00"
    return bytes(out)


def tag(number: int, wire: int) -> bytes:
    return varint(number << 3 | wire)


class Records:
    """Random bytes for the messages of a pool's file."""

    def __init__(self, rng: random.Random, file: Any) -> None:
        self.rng = rng
        self.messages = file.message_types_by_name
        self.extensions: dict[str, list[Any]] = {}
        holders = [*file.extensions_by_name.values()]
        for message in self.messages.values():
            holders += message.extensions
        for extension in holders:
            self.extensions.setdefault(extension.containing_type.full_name, []).append(extension)

    def integer(self) -> int:
        rng = self.rng
        kind = rng.random()
        if kind < 0.5:
            return rng.choice([0, 1, 2, 5, -1, -3, 127, 128, 300])
        if kind < 0.7:
            return rng.choice(
                [2**31 - 1, -(2**31), 2**31, 2**32 - 1, 2**32, 2**63, 2**64 - 1, 2**32 + 5]
            )
        return rng.getrandbits(rng.choice([7, 14, 31, 33, 64]))

    def varint(self) -> bytes:
        value = self.integer()
        short = varint(value)
        return (
            varint(value, self.rng.randrange(1, 11 - len(short)))
            if len(short) < 9 and self.rng.random() < 0.1
            else short
        )

    def text(self, is_text: bool) -> bytes:
        rng = self.rng
        if is_text and rng.random() < 0.95:
            return rng.choice(["", "a", "b", "key", "ünï", "x" * 40]).encode()
        return rng.choice(
            [b"", b"\xff", b"\x00a", b"\xed\xa0\x80", rng.randbytes(rng.randrange(12))]
        )

    def scalar(self, field: Any) -> bytes:
        if field.type in FIXED64:
            return self.rng.choice(
                [b"\0" * 8, struct.pack("<d", 1.5), self.rng.randbytes(8), b"\0" * 7 + b"\x80"]
            )
        if field.type in FIXED32:
            return self.rng.choice(
                [b"\0" * 4, struct.pack("<f", 1.5), self.rng.randbytes(4), b"\0" * 3 + b"\x80"]
            )
        return self.varint()

    def wire_type(self, field: Any) -> int:
        if field.type in FIXED64:
            return 1
        if field.type in FIXED32:
            return 5
        if field.type == FIELD.TYPE_GROUP:
            return 3
        return 2 if field.type in LENGTHS else 0

    def field(self, field: Any, depth: int) -> bytes:
        rng = self.rng
        wire = self.wire_type(field)
        if rng.random() < 0.03:
            return self.unknown(field.number, depth)
        if wire == 3:
            return (
                tag(field.number, 3)
                + self.message(field.message_type, depth - 1)
                + tag(field.number, 4)
            )
        if wire == 2:
            if field.message_type is not None:
                body = self.message(field.message_type, depth - 1)
            else:
                body = self.text(field.type == FIELD.TYPE_STRING)
            extra = rng.randrange(1, 5) if rng.random() < 0.03 else 0
            size = varint(len(body))
            return (
                tag(field.number, 2)
                + (varint(len(body), extra) if len(size) + extra <= 6 else size)
                + body
            )
        if field.is_repeated and rng.random() < 0.6:
            body = b"".join(self.scalar(field) for _ in range(rng.randrange(4)))
            return tag(field.number, 2) + varint(len(body)) + body
        return tag(field.number, wire) + self.scalar(field)

    def unknown(self, number: int, depth: int) -> bytes:
        rng = self.rng
        wire = rng.choice([0, 1, 2, 3, 5])
        if wire == 0:
            return tag(number, 0) + self.varint()
        if wire == 2:
            body = rng.randbytes(rng.randrange(8))
            return tag(number, 2) + varint(len(body)) + body
        if wire == 3:
            inside = b"".join(
                self.unknown(rng.choice([0, 1, 77]), depth - 1) for _ in range(rng.randrange(3))
            )
            return tag(number, 3) + (inside if depth > 0 else b"") + tag(number, 4)
        return tag(number, wire) + rng.randbytes(8 if wire == 1 else 4)

    def message(self, message: Any, depth: int) -> bytes:
        rng = self.rng
        fields = [*message.fields, *self.extensions.get(message.full_name, [])]
        out = []
        for _ in range(rng.choice([0, 1, 2, 3, 6]) if depth > 0 else 0):
            if rng.random() < 0.08:
                out.append(self.unknown(rng.choice([3, 77, 1999, 2**29 - 2]), depth))
            elif fields:
                out.append(self.field(rng.choice(fields), depth))
        return b"".join(out)

    def damaged(self, record: bytes) -> bytes:
        rng = self.rng
        kind = rng.random()
        if kind < 0.6 or not record:
            return record
        at = rng.randrange(len(record))
        if kind < 0.75:
            return record[:at]
        if kind < 0.9:
            return record[:at] + bytes([record[at] ^ 1 << rng.randrange(8)]) + record[at + 1 :]
        return record[:at] + rng.randbytes(rng.randrange(4)) + record[at + rng.randrange(3) :]

    def nested(self, field: Any, depth: int) -> bytes:
        """The field in itself, `depth` times, for the limit of the depth."""
        out = b""
        for _ in range(depth):
            if field.type == FIELD.TYPE_GROUP:
                out = tag(field.number, 3) + out + tag(field.number, 4)
            else:
                out = tag(field.number, 2) + varint(len(out)) + out
        return out
