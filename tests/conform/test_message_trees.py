"""Descriptors and messages as the library's tables and trees have them, against protobuf (upb).

The library's side is the program message_tree of the build folder, which COLUMNSTONE_BUILD names
(default: build/release). What protobuf takes is taken, what it refuses is refused, and what is
written again is to protobuf the same message, with the same unknown fields.
"""

from __future__ import annotations

import os
import pathlib
import random
import struct
import subprocess
from typing import Any

import google.protobuf
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.internal import api_implementation
from google.protobuf.message import DecodeError
from message_cases import EXTENDED, FIELD, MESSAGES, Files, Records

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("COLUMNSTONE_BUILD", TOP / "build/release")).resolve()
LONG = bool(os.environ.get("COLUMNSTONE_LONG"))
FILES = 2000 if LONG else 40
RECORDS = 500 if LONG else 100
VERSION = "7.36"


def test_the_version_that_is_compared_with() -> None:
    assert google.protobuf.__version__.startswith(VERSION)
    assert api_implementation.Type() == "upb"


def run(arguments: list[Any], given: bytes = b"") -> bytes:
    done = subprocess.run(
        [BUILD / "tests/conform/message_tree", *arguments],
        input=given,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def rewritten(path: pathlib.Path, name: str, records: list[bytes]) -> list[bytes | str]:
    """What the library makes of each record, or why it refuses it."""
    given = b"".join(struct.pack("<I", len(record)) + record for record in records)
    out = run([path, name], given)
    found: list[bytes | str] = []
    at = 0
    while at < len(out):
        is_taken, size = struct.unpack_from("<?I", out, at)
        at += 5
        answer = out[at : at + size]
        found.append(answer if is_taken else answer.decode())
        at += size
    assert len(found) == len(records)
    return found


def normal(kind: Any, record: bytes) -> bytes | None:
    """What protobuf makes of the record; None: it refuses it."""
    message = kind()
    try:
        message.MergeFromString(record)
    except DecodeError:
        return None
    return bytes(message.SerializePartialToString(deterministic=True))


def make(seed: int, folder: pathlib.Path) -> tuple[Any, Any, pathlib.Path]:
    """A random file that protobuf takes, and its set."""
    rng = random.Random(seed)
    while True:
        file = Files(rng).file
        pool = descriptor_pool.DescriptorPool()
        try:
            pool.Add(file)
            found = pool.FindFileByName("t.proto")
        except TypeError:
            continue
        path = folder / f"{seed}.desc"
        path.write_bytes(descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString())
        return pool, found, path


# Malformed, as the library has it; upb takes it in unknown groups and in types without fields.
NUMBER_0 = ": a field has the number 0"


def difference(kind: Any, record: bytes, found: bytes | str) -> str | None:
    """What protobuf makes of the record and the library does not, or None."""
    expected = normal(kind, record)
    if expected is None:
        return None if isinstance(found, str) else "taken"
    if isinstance(found, str):
        return None if found.endswith(NUMBER_0) else f"refused: {found}"
    same = found == expected or normal(kind, found) == expected  # upb orders maps as it likes
    return None if same else f"{found.hex()}, not {expected.hex()}"


@pytest.mark.parametrize("seed", range(0, FILES, 10))
def test_records_are_taken_and_rewritten_as_protobuf_does(
    seed: int, tmp_path: pathlib.Path
) -> None:
    for at in range(seed, seed + 10):
        _, file, path = make(at, tmp_path)
        records = Records(random.Random(at), file)
        for name in [*MESSAGES, EXTENDED]:
            descriptor = file.message_types_by_name[name]
            given = [records.damaged(records.message(descriptor, 4)) for _ in range(RECORDS)]
            for field in descriptor.fields:
                if field.message_type is descriptor:
                    given += [records.nested(field, depth) for depth in (99, 100, 101)]
            kind = message_factory.GetMessageClass(descriptor)
            for record, found in zip(given, rewritten(path, f"t.{name}", given), strict=True):
                wrong = difference(kind, record, found)
                assert wrong is None, f"seed {at}, {name}, {record.hex()}: {wrong}"


def flags(field: Any) -> int:
    implicit = not field.has_presence and not field.is_repeated
    bits = [field.is_repeated, field.is_packed, implicit, False]
    bits += [field.is_required, field.is_extension]
    return sum(bool(bit) << i for i, bit in enumerate(bits))


def default_text(field: Any) -> str:
    value = field.default_value
    if field.is_repeated or field.message_type or not (value or str(value) == "-0.0"):
        return "-"
    if isinstance(value, str):
        return "x" + value.encode().hex()
    if isinstance(value, bytes):
        return "x" + value.hex()
    if field.type == FIELD.TYPE_DOUBLE:
        return str(struct.unpack("<Q", struct.pack("<d", value))[0])
    if field.type == FIELD.TYPE_FLOAT:
        return str(struct.unpack("<I", struct.pack("<f", value))[0])
    return str(int(value) % 2**64)


def expected_field(field: Any, place: int) -> str:
    message = field.containing_type.full_name
    name = field.full_name if field.is_extension else field.name
    oneof = field.containing_oneof
    choice = oneof.name if oneof is not None and not oneof.name.startswith("_") else "-"
    kind = field.message_type or field.enum_type
    kind_name = kind.full_name if kind else "-"
    return (
        f"field {message} {name} {field.number} {field.json_name} {field.type} {flags(field)} "
        f"{choice} {kind_name} {place} {default_text(field)}"
    )


def expected_tables(file: Any) -> list[str]:
    """As message_tree prints them; whether a string is checked is seen by records."""
    lines = []
    extensions = [*file.extensions_by_name.values()]
    for message in file.message_types_by_name.values():
        extensions += message.extensions
    for message in file.message_types_by_name.values():
        lines.append(f"message {message.full_name}")
        own = [x for x in extensions if x.containing_type is message]
        places = {f.full_name: i for i, f in enumerate(message.fields)}
        own.sort(key=lambda x: x.number)
        places |= {x.full_name: len(message.fields) + i for i, x in enumerate(own)}
        for field in sorted([*message.fields, *own], key=lambda f: f.number):
            lines.append(expected_field(field, places[field.full_name]))
            if field.enum_type:
                enum = field.enum_type
                start, end = f"value {enum.full_name}", int(not enum.is_closed)
                lines += [f"{start} {v.name} {v.number} {end}" for v in enum.values]
    return lines


def without_checks(line: str) -> str:
    """Without CST__FIELD_UTF8, and with defaults that are zero left out."""
    words = line.split(" ")
    if words[0] == "field":
        words[6] = str(int(words[6]) & ~8)
        if words[10] in ("0", "x"):
            words[10] = "-"
    return " ".join(words)


def test_tables_say_what_protobuf_says(tmp_path: pathlib.Path) -> None:
    for seed in range(FILES):
        _, file, path = make(seed, tmp_path)
        found = [without_checks(line) for line in run([path]).decode().splitlines()]
        assert found == expected_tables(file), f"seed {seed}"
