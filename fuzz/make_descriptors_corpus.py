#!/usr/bin/env python3
"""Writes the corpus of fuzz_descriptors: corpus/descriptors/, one descriptor set a file.

The same files come out of every run. Needs the package protobuf, and makes its random files as
tests/conform/message_cases.py does.
"""

import pathlib
import random
import sys

from corpus_files import noise, write
from google.protobuf import descriptor_pb2, text_format

TOP = pathlib.Path(__file__).parent.parent
FOLDER = TOP / "fuzz" / "corpus" / "descriptors"
sys.path.insert(0, str(TOP / "tests" / "conform"))

from message_cases import Files  # noqa: E402

FIELD = "field { name: '%s' number: %d label: LABEL_OPTIONAL type: TYPE_%s %s }"


def field(name, number, kind, more=""):
    return FIELD % (name, number, kind, more)


def message(name, *parts):
    return f"message_type {{ name: '{name}' {' '.join(parts)} }}"


ENTRY = (
    "nested_type { name: 'XEntry' options { map_entry: true } "
    + field("key", 1, "STRING")
    + field("value", 2, "INT32")
    + "}"
)
REPEATED = (
    "field { name: 'x' number: 1 label: LABEL_REPEATED type: TYPE_MESSAGE type_name: '.M.XEntry' }"
)

TEXTS = {
    "empty": "",
    "message": message("M", field("x", 1, "INT32")),
    "proto3": "syntax: 'proto3' package: 'p.q'" + message("M", field("x", 1, "STRING")),
    "edition": "syntax: 'editions' edition: EDITION_2023 options { features { field_presence: "
    "IMPLICIT message_encoding: DELIMITED } }"
    + message("M", field("x", 1, "MESSAGE", "type_name: 'M'")),
    "map": message("M", ENTRY, REPEATED),
    "map-wrong": message("M", ENTRY.replace("value", "v"), REPEATED),
    "enum": message("M", field("x", 1, "ENUM", "type_name: 'E' default_value: 'B'"))
    + "enum_type { name: 'E' value { name: 'A' number: 5 } value { name: 'B' number: -1 } }",
    "enum-empty": "enum_type { name: 'E' }",
    "oneof": message("M", field("x", 1, "INT32", "oneof_index: 0"), "oneof_decl { name: 'o' }"),
    "oneof-missing": message("M", field("x", 1, "INT32", "oneof_index: 3")),
    "optional": "syntax: 'proto3'"
    + message(
        "M",
        field("x", 1, "INT32", "oneof_index: 0 proto3_optional: true"),
        "oneof_decl { name: '_x' }",
    ),
    "defaults": message(
        "M",
        field("a", 1, "DOUBLE", "default_value: '-inf'"),
        field("b", 2, "BYTES", "default_value: '\\\\001\\\\n'"),
        field("c", 3, "UINT64", "default_value: '18446744073709551615'"),
        field("d", 4, "BOOL", "default_value: 'true'"),
    ),
    "default-wrong": message("M", field("a", 1, "INT32", "default_value: '1.5'")),
    "extension": message("M", "extension_range { start: 5 end: 9 }")
    + "extension { name: 'x' extendee: '.M' number: 5 label: LABEL_OPTIONAL type: TYPE_INT32 }",
    "extension-twice": message("M", field("y", 5, "INT32"))
    + "extension { name: 'x' extendee: '.M' number: 5 label: LABEL_OPTIONAL type: TYPE_INT32 }",
    "message-set": message("M", "options { message_set_wire_format: true }"),
    "import": "dependency: 'google/protobuf/timestamp.proto'"
    + message("M", field("x", 1, "MESSAGE", "type_name: '.google.protobuf.Timestamp'")),
    "import-missing": "dependency: 'far.proto'"
    + message("M", field("x", 1, "MESSAGE", "type_name: '.Far'")),
    "twice": message("M") + message("M"),
    "number-twice": message("M", field("x", 1, "INT32"), field("y", 1, "INT32")),
    "number-wrong": message("M", field("x", 536870912, "INT32")),
    "name-wrong": message("M", field("a b", 1, "INT32")),
    "package-wrong": "package: 'a..b'" + message("M"),
    "scopes": "package: 'a.b'"
    + message(
        "M",
        field("x", 1, "MESSAGE", "type_name: 'b.N'"),
        field("y", 2, "MESSAGE", "type_name: 'N'"),
        "nested_type { name: 'N' }",
    )
    + message("N"),
}


def file_of(text, name="a"):
    made = descriptor_pb2.FileDescriptorProto(name=name)
    return text_format.Merge(text, made)


def set_of(*files):
    return descriptor_pb2.FileDescriptorSet(file=files).SerializeToString()


def deep(levels):
    made = descriptor_pb2.FileDescriptorProto(name="a")
    inner = made.message_type.add(name="M")
    for _ in range(levels):
        inner = inner.nested_type.add(name="M")
    return made


def sets():
    for name, text in TEXTS.items():
        yield name, set_of(file_of(text))
    yield "one-file", file_of(TEXTS["scopes"]).SerializeToString()
    a, b = file_of(TEXTS["message"]), file_of("", "b")
    yield "file-twice", set_of(a, a)
    yield "file-changed", set_of(a, file_of(TEXTS["map"]))
    yield "circle", set_of(file_of("dependency: 'b'"), file_of("dependency: 'a'", "b"))
    yield "files", set_of(b, a)
    yield "deep", set_of(deep(90))
    yield "too-deep", set_of(deep(97)) + deep(3).SerializeToString()
    image = file_of(TEXTS["message"])
    extended = image.SerializeToString() + b"\xd2\xf6\x03\x04\x08\x01\x10\x00"
    yield "buf", b"\x0a" + bytes([len(extended)]) + extended
    yield "gzip", b"\x1f\x8b\x08\x00\x00\x00"
    yield "text", b'syntax = "proto3"; message M { int32 x = 1; }'


def texts():
    """The library's text form knows the enums of descriptors as numbers."""
    kinds = {
        name: number
        for enum in (
            descriptor_pb2.FieldDescriptorProto.Type,
            descriptor_pb2.FieldDescriptorProto.Label,
        )
        for name, number in enum.items()
    }
    kinds |= {"EDITION_2023": 1000, "IMPLICIT": 2, "DELIMITED": 2}
    for name, text in TEXTS.items():
        for kind in sorted(kinds, key=len, reverse=True):
            text = text.replace(kind, str(kinds[kind]))
        yield (
            f"{name}.txt",
            b"#name: 'a' " + text.replace("extension_range { start: 5 end: 9 }", "").encode(),
        )


def random_sets():
    for seed in range(12):
        yield f"random-{seed}", set_of(Files(random.Random(seed)).file)


def damaged():
    whole = set_of(file_of(TEXTS["scopes"]), file_of(TEXTS["enum"], "b"))
    for at in range(0, len(whole), 11):
        yield f"cut-{at}", whole[:at]
        yield f"flip-{at}", whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :]


write(FOLDER, sets(), texts(), random_sets(), damaged(), noise(5, 1))
