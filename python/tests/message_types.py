"""Random message types: FileDescriptorProtos of all that protobuf knows, in pools of their own.

Everything is made by functions of a random.Random: the same seed gives the same types. What is in
the messages is made by message_wire.py.
"""

from __future__ import annotations

import pathlib
from random import Random
from typing import Any, NamedTuple

from google.protobuf import (
    any_pb2,
    descriptor_pb2,
    descriptor_pool,
    duration_pb2,
    empty_pb2,
    field_mask_pb2,
    message_factory,
    struct_pb2,
    timestamp_pb2,
    wrappers_pb2,
)
from google.type import date_pb2, timeofday_pb2

FOLDER = pathlib.Path(__file__).parents[2] / "tests" / "data" / "messages"
Field = descriptor_pb2.FieldDescriptorProto
Features = descriptor_pb2.FeatureSet
OPTIONAL, REQUIRED, REPEATED = Field.LABEL_OPTIONAL, Field.LABEL_REQUIRED, Field.LABEL_REPEATED
MESSAGE, GROUP, ENUM, STRING, BYTES = (
    Field.TYPE_MESSAGE,
    Field.TYPE_GROUP,
    Field.TYPE_ENUM,
    Field.TYPE_STRING,
    Field.TYPE_BYTES,
)
NUMBERS = [
    Field.TYPE_DOUBLE,
    Field.TYPE_FLOAT,
    Field.TYPE_INT64,
    Field.TYPE_UINT64,
    Field.TYPE_INT32,
    Field.TYPE_FIXED64,
    Field.TYPE_FIXED32,
    Field.TYPE_BOOL,
    Field.TYPE_UINT32,
    Field.TYPE_SFIXED32,
    Field.TYPE_SFIXED64,
    Field.TYPE_SINT32,
    Field.TYPE_SINT64,
]
FLOATS = [Field.TYPE_DOUBLE, Field.TYPE_FLOAT]
MAP_KEYS = [t for t in NUMBERS if t not in FLOATS] + [STRING]
MAX_NUMBER = 2**29 - 1
RESERVED = range(19000, 20000)
SYNTAXES = ["proto2", "proto3", "editions"]


KNOWN_FILES = [
    *(
        descriptor_pb2.FileDescriptorProto.FromString(module.DESCRIPTOR.serialized_pb)
        for module in (
            any_pb2,
            duration_pb2,
            empty_pb2,
            field_mask_pb2,
            struct_pb2,
            timestamp_pb2,
            wrappers_pb2,
            date_pb2,
            timeofday_pb2,
        )
    ),
]
KNOWN_TYPES = {
    f".{file.package}.{message.name}": file.name
    for file in KNOWN_FILES
    for message in file.message_type
}


class Case(NamedTuple):
    """A message type: the set that it stands in, and Python's class of it."""

    descriptors: bytes  # a FileDescriptorSet without the files of google/
    message: str
    cls: Any


def classes_of(files: list[descriptor_pb2.FileDescriptorProto]) -> descriptor_pool.DescriptorPool:
    pool = descriptor_pool.DescriptorPool()
    for file in [*KNOWN_FILES, *files]:
        pool.AddSerializedFile(file.SerializeToString())
    return pool


def case_of(files: list[descriptor_pb2.FileDescriptorProto], message: str) -> Case:
    pool = classes_of(files)
    descriptors = descriptor_pb2.FileDescriptorSet(file=files).SerializeToString()
    cls = message_factory.GetMessageClass(pool.FindMessageTypeByName(message))
    for file in files:  # as generated code does: classes know the extensions of their messages
        message_factory.GetMessageClassesForFiles([file.name], pool)
    return Case(descriptors, message, cls)


def stored_case(name: str, message: str = "Everything") -> Case:
    """A message of tests/data/messages/NAME.desc."""
    data = (FOLDER / f"{name}.desc").read_bytes()
    files = descriptor_pb2.FileDescriptorSet.FromString(data).file
    return case_of([f for f in files if not f.name.startswith("google/")], f"{name}.{message}")


def random_case(r: Random, max_fields: int = 60) -> Case:
    """The message has 1 to max_fields fields; it can be reached from itself and uses others."""
    maker = FileMaker(r, r.choice(SYNTAXES))
    messages = [maker.message(maker.file, f"M{i}") for i in range(r.randint(1, 4))]
    for i, message in enumerate(messages):
        most = max_fields if i == 0 and r.randrange(3) == 0 else min(max_fields, 8)
        maker.fields(message, messages, r.randint(1, most))
    maker.extensions(messages)
    return case_of([maker.file], f"{maker.file.package}.M0")


class FileMaker:
    """A file of random messages in one syntax."""

    def __init__(self, r: Random, syntax: str) -> None:
        self.r = r
        self.syntax = syntax
        self.file = descriptor_pb2.FileDescriptorProto(
            name="random.proto", package=r.choice(["p", "p.q", "a.b_c.d1"]), syntax=syntax
        )
        if syntax == "editions":
            self.file.edition = descriptor_pb2.EDITION_2023
            self.file_features()
        self.names: dict[int, str] = {}  # of message types by identity, with the leading dot
        self.enums = [self.enum(i) for i in range(r.randint(1, 3))]
        self.count = 0

    def file_features(self) -> None:
        features = self.file.options.features
        if self.r.randrange(3) == 0:
            features.field_presence = self.r.choice([Features.EXPLICIT, Features.IMPLICIT])
        if self.r.randrange(4) == 0:
            features.repeated_field_encoding = Features.EXPANDED
        if self.r.randrange(4) == 0:
            features.utf8_validation = Features.NONE
        if self.r.randrange(4) == 0:
            features.message_encoding = Features.DELIMITED

    def enum(self, i: int) -> str:
        r = self.r
        enum = self.file.enum_type.add(name=f"E{i}")
        numbers = [0, *r.sample([1, 2, 3, 5, 100, -1, -2, 2**31 - 1, -(2**31)], r.randint(0, 6))]
        for k, number in enumerate(numbers):
            enum.value.add(name=f"E{i}_{k}", number=number)
        if r.randrange(3) == 0:
            enum.options.allow_alias = True
            enum.value.add(name=f"E{i}_ALIAS", number=r.choice(numbers))
        if self.syntax == "editions" and r.randrange(2):
            enum.options.features.enum_type = Features.CLOSED
        return f".{self.file.package}.{enum.name}"

    def is_open(self, enum: str) -> bool:
        if self.syntax != "editions":
            return self.syntax == "proto3"
        found = next(e for e in self.file.enum_type if enum.endswith("." + e.name))
        return found.options.features.enum_type != Features.CLOSED

    def message(self, parent: Any, name: str, scope: str | None = None) -> Any:
        place = parent.message_type if parent is self.file else parent.nested_type
        message = place.add(name=name)
        self.names[id(message)] = f"{scope or '.' + self.file.package}.{name}"
        self.keep = [*getattr(self, "keep", []), message]  # so that the identities stay
        if self.syntax != "proto3" and self.r.randrange(2):
            message.extension_range.add(start=1000, end=2000)
            message.extension_range.add(start=MAX_NUMBER - 10, end=MAX_NUMBER + 1)
        return message

    def fields(self, message: Any, messages: list[Any], count: int) -> None:
        taken: set[int] = set()
        for _ in range(count):
            self.field(message, messages, self.number(message, taken))
        self.oneofs(message)
        self.optionals(message)

    def number(self, message: Any, taken: set[int]) -> int:
        """Mostly small, some at the borders of tags of 1 to 5 bytes."""
        borders = [1, 15, 16, 31, 32, 63, 64, 2047, 2048, 2**18, 2**25 - 1, 2**25, MAX_NUMBER]
        while True:
            draw = self.r.randrange(8)
            number = (
                self.r.choice(borders)
                if draw == 0
                else self.r.randint(1, MAX_NUMBER if draw == 1 else 90)
            )
            if number not in taken and number not in RESERVED and not in_ranges(message, number):
                taken.add(number)
                return number

    def field(self, message: Any, messages: list[Any], number: int) -> Any:
        r = self.r
        self.count += 1
        field = message.field.add(name=f"f{self.count}", number=number, label=OPTIONAL)
        draw = r.randrange(20)
        if draw < 2:
            self.map(message, field, messages)
            return field
        self.type_of(field, message, messages)
        draw = r.randrange(10)
        if draw == 3 and field.type_name in self.names.values() and field.type == MESSAGE:
            draw = 9  # a message that needs itself could not be written
        if draw < 3:
            field.label = REPEATED
            self.packing(field)
        elif draw == 3 and self.syntax == "proto2":
            field.label = REQUIRED
        elif draw == 3 and self.syntax == "editions":
            field.options.features.field_presence = Features.LEGACY_REQUIRED
        elif draw < 7:
            self.presence_and_default(field)
        return field

    def type_of(self, field: Any, message: Any, messages: list[Any]) -> None:
        r = self.r
        draw = r.randrange(20)
        if draw < 10:
            field.type = r.choice(NUMBERS)
        elif draw < 13:
            field.type = r.choice([STRING, BYTES])
        elif draw < 15:
            field.type, field.type_name = ENUM, r.choice(self.enums)
        elif draw < 17:
            field.type, field.type_name = MESSAGE, self.known_type()
        elif draw == 17 and self.syntax == "proto2":
            inner = self.inner(message, f"G{self.count}", messages)
            field.type, field.type_name, field.name = GROUP, inner, f"g{self.count}"
        elif draw == 18:
            inner = self.inner(message, f"N{self.count}", messages)
            field.type, field.type_name = MESSAGE, inner
        else:
            field.type, field.type_name = MESSAGE, self.names[id(r.choice(messages))]
        if self.syntax == "editions":
            if field.type == STRING and r.randrange(4) == 0:
                field.options.features.utf8_validation = r.choice([Features.VERIFY, Features.NONE])
            if field.type == MESSAGE and r.randrange(4) == 0:
                field.options.features.message_encoding = Features.DELIMITED

    def inner(self, message: Any, name: str, messages: list[Any]) -> str:
        """A message declared within the message."""
        made = self.message(message, name, self.names[id(message)])
        taken: set[int] = set()
        for _ in range(self.r.randint(0, 3)):
            field = made.field.add(
                name=f"f{self.count}_{len(made.field)}",
                number=self.number(made, taken),
                label=OPTIONAL,
            )
            field.type = self.r.choice([*NUMBERS, STRING, BYTES])
            if self.r.randrange(3) == 0:
                field.label = REPEATED
                self.packing(field)
        return self.names[id(made)]

    def known_type(self) -> str:
        name = self.r.choice(list(KNOWN_TYPES))
        if KNOWN_TYPES[name] not in self.file.dependency:
            self.file.dependency.append(KNOWN_TYPES[name])
        return name

    def packing(self, field: Any) -> None:
        if field.type in (STRING, BYTES, MESSAGE, GROUP) or self.r.randrange(2):
            return
        if self.syntax == "editions":
            field.options.features.repeated_field_encoding = self.r.choice(
                [Features.PACKED, Features.EXPANDED]
            )
        else:
            field.options.packed = self.r.randrange(2) == 0

    def presence_and_default(self, field: Any) -> None:
        """Editions: presence of its own; proto2 and editions with presence: a default value."""
        implicit = self.syntax == "proto3"
        if self.syntax == "editions":
            implicit = self.file.options.features.field_presence == Features.IMPLICIT
            if field.type not in (MESSAGE, GROUP) and self.r.randrange(2):
                choices = [Features.EXPLICIT, Features.IMPLICIT]
                presence = self.r.choice(choices)
                if field.type == ENUM and not self.is_open(field.type_name):
                    presence = Features.EXPLICIT
                field.options.features.field_presence = presence
                implicit = presence == Features.IMPLICIT
        if not implicit and field.type not in (MESSAGE, GROUP) and self.r.randrange(2):
            field.default_value = self.default(field)

    def default(self, field: Any) -> str:
        r = self.r
        if field.type == STRING:
            return r.choice(["", "x", "é世", 'a"\n\\'])
        if field.type == BYTES:
            return r.choice(["", "x", "\\000\\377", '\\"\\n\\\\a'])
        if field.type == Field.TYPE_BOOL:
            return r.choice(["true", "false"])
        if field.type in FLOATS:
            return r.choice(["0", "-0", "1.5", "-1e+30", "inf", "-inf", "nan", "0.1"])
        if field.type == ENUM:
            enum = next(e for e in self.file.enum_type if field.type_name.endswith("." + e.name))
            return str(r.choice(list(enum.value)).name)
        unsigned = field.type in (
            Field.TYPE_UINT32,
            Field.TYPE_UINT64,
            Field.TYPE_FIXED32,
            Field.TYPE_FIXED64,
        )
        wide = field.type in (
            Field.TYPE_INT64,
            Field.TYPE_UINT64,
            Field.TYPE_FIXED64,
            Field.TYPE_SFIXED64,
            Field.TYPE_SINT64,
        )
        bits = 64 if wide else 32
        low, high = (0, 2**bits - 1) if unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        return str(r.choice([0, 1, 7, low, high]))

    def map(self, message: Any, field: Any, messages: list[Any]) -> None:
        r = self.r
        entry = message.nested_type.add(name=f"F{self.count}Entry")
        entry.options.map_entry = True
        entry.field.add(name="key", number=1, label=OPTIONAL, type=r.choice(MAP_KEYS))
        value = entry.field.add(name="value", number=2, label=OPTIONAL)
        draw = r.randrange(8)
        if draw < 4:
            value.type = r.choice([*NUMBERS, STRING, BYTES])
        elif draw == 4:
            value.type, value.type_name = ENUM, r.choice(self.enums)
        elif draw < 7:
            value.type, value.type_name = MESSAGE, self.names[id(r.choice(messages))]
        else:
            value.type, value.type_name = MESSAGE, self.known_type()
        field.label, field.type = REPEATED, MESSAGE
        field.type_name = f"{self.names[id(message)]}.{entry.name}"

    def oneofs(self, message: Any) -> None:
        """Puts runs of the optional fields into oneofs."""
        free = [f for f in message.field if f.label == OPTIONAL and not f.HasField("default_value")]
        free = [f for f in free if not f.options.features.HasField("field_presence")]
        while len(free) > 1 and self.r.randrange(3):
            size = self.r.randint(1, min(5, len(free)))
            for field in free[:size]:
                field.oneof_index = len(message.oneof_decl)
            message.oneof_decl.add(name=f"o{self.count}_{len(message.oneof_decl)}")
            free = free[size + self.r.randrange(3) :]

    def optionals(self, message: Any) -> None:
        """proto3's `optional`: a oneof of its own, after the others."""
        if self.syntax != "proto3":
            return
        for field in message.field:
            is_free = field.label == OPTIONAL and not field.HasField("oneof_index")
            if is_free and self.r.randrange(3) == 0:
                field.proto3_optional = True
                field.oneof_index = len(message.oneof_decl)
                message.oneof_decl.add(name=f"_{field.name}")

    def extensions(self, messages: list[Any]) -> None:
        """Of the messages that have room for them, in the file or within a message."""
        r = self.r
        for message in messages:
            if not message.extension_range:
                continue
            numbers = r.sample([*range(1000, 1008), *range(MAX_NUMBER - 5, MAX_NUMBER + 1)], 4)
            for number in numbers[: r.randint(0, 4)]:
                place = self.file.extension if r.randrange(2) else r.choice(messages).extension
                self.count += 1
                field = place.add(name=f"x{self.count}", number=number, label=OPTIONAL)
                field.extendee = self.names[id(message)]
                draw = r.randrange(6)
                if draw < 4:
                    field.type = r.choice([*NUMBERS, STRING, BYTES])
                elif draw == 4:
                    field.type, field.type_name = ENUM, r.choice(self.enums)
                else:
                    field.type = MESSAGE
                    field.type_name = self.names[id(r.choice(messages))]
                if r.randrange(3) == 0:
                    field.label = REPEATED
                    self.packing(field)
                elif field.type != MESSAGE and r.randrange(3) == 0:
                    field.default_value = self.default(field)


def in_ranges(message: Any, number: int) -> bool:
    return any(e.start <= number < e.end for e in message.extension_range)
