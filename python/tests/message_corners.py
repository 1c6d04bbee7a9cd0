"""Records at the corners of the wire format, one by one, in the order of protobuf's conformance
suite: what ends too early, numbers and types of fields, scalars, lists, oneofs, messages, maps,
enums, groups, unknown fields, depth.

`taken` is what protobuf's upb does with it; test_message_conformance.py asks it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from message_types import Case, stored_case
from message_wire import END, FIXED32, FIXED64, LEN, START, VARINT, varint, wire_type

P2, P3, ED = stored_case("everything2"), stored_case("everything3"), stored_case("editions")
ID_STATE = b"\x08\x01" + varint(2047 << 3) + b"\x05"  # what everything2.Everything requires


class Corner(NamedTuple):
    name: str
    case: Case
    record: bytes
    taken: bool  # by upb
    stricter: bool = False  # and yet refused by us


def tag(number: int, kind: int) -> bytes:
    return varint(number << 3 | kind)


def field(number: int, *inside: bytes) -> bytes:
    data = b"".join(inside)
    return tag(number, LEN) + varint(len(data)) + data


def group(number: int, *inside: bytes) -> bytes:
    return tag(number, START) + b"".join(inside) + tag(number, END)


def number(of: int, value: int) -> bytes:
    return tag(of, VARINT) + varint(value)


VALUES = {VARINT: b"\x96\x01", FIXED64: b"\1\2\3\4\5\6\7\x08", FIXED32: b"\1\2\3\4", LEN: b"\3abc"}
UNKNOWN = 999


def corners() -> list[Corner]:
    made = [
        *premature_ends(),
        *bad_tags(),
        *scalars(),
        *lists(),
        *oneofs(),
        *messages(),
        *maps(),
        *enums(),
        *groups(),
        *unknown_fields(),
        *texts(),
        *depths(),
    ]
    names = [corner.name for corner in made]
    assert len(set(names)) == len(names)
    return made


def scalar_fields(message: str) -> list[Any]:
    descriptor = P3.cls.DESCRIPTOR.file.message_types_by_name[message]
    return [f for f in descriptor.fields if f.message_type is None]


def premature_ends() -> Iterator[Corner]:
    for kind, value in VALUES.items():
        for where, wrap in (("", 0), (" of a message", 1)):
            of = next(f for f in scalar_fields("Scalars") if wire_type(f) == kind)
            many = next(f for f in scalar_fields("Lists") if wire_type(f) == kind)
            for what, at, outer in (
                ("a field", of.number, 1),
                ("a list", many.number, 3),
                ("unknown", UNKNOWN, 1),
            ):
                for cut in range(len(value)):
                    inside = tag(at, kind) + value[:cut]
                    record = field(outer, inside) if wrap else inside
                    if not wrap and what != "unknown":
                        continue  # the top level has these numbers for messages
                    yield Corner(
                        f"wire type {kind} of {what}{where} ends after {cut}", P3, record, False
                    )
    for of in scalar_fields("Lists"):
        kind = wire_type(of)
        if kind != LEN:
            half = VALUES[kind][:-1] if kind != VARINT else b"\x96"
            packed = field(3, field(of.number, VALUES[kind], half))
            yield Corner(f"packed {of.name} ends inside", P3, packed, False)
            long = field(3, tag(of.number, LEN) + b"\x05" + b"\x01")
            yield Corner(f"packed {of.name} is longer than its message", P3, long, False)
    yield Corner("a message is longer than the record", P3, b"\x0a\x05\x28\x01", False)
    yield Corner("a message ends inside a tag", P3, field(1, b"\x80"), False)
    yield Corner("a record ends inside a tag", P3, b"\x88", False)
    yield Corner("a value crosses the end of its message", P3, b"\x0a\x02\x28\x80\x01", False)
    yield Corner("nothing", P3, b"", True)


def bad_tags() -> Iterator[Corner]:
    for kind, value in VALUES.items():
        yield Corner(f"field 0 of wire type {kind}", P3, bytes([kind]) + value, False)
        within = field(1, bytes([kind]) + value)
        yield Corner(f"field 0 of wire type {kind} in a message", P3, within, False)
    yield Corner("group 0", P3, b"\x03\x04", False)
    yield Corner("field 0 in an unknown group", P3, group(UNKNOWN, b"\0\0"), True, stricter=True)
    yield Corner("field 0 in a known group", P2, ID_STATE + group(5, b"\0\0"), False)
    yield Corner("field 0 in a map entry", P3, field(5, b"\0\0"), False)
    yield Corner("field 0 in two bytes", P3, b"\x80\0\0", False)
    for kind in (6, 7):
        yield Corner(f"wire type {kind}", P3, tag(UNKNOWN, kind) + b"\0", False)
        yield Corner(f"wire type {kind} of a known field", P3, tag(1, kind) + b"\0", False)
    yield Corner("a tag of 5 bytes", P3, field(1, b"\xa8\x80\x80\x80\0\x07"), True)
    yield Corner("a tag of 6 bytes", P3, field(1, b"\xa8\x80\x80\x80\x80\0\x07"), False)
    yield Corner("the largest tag", P3, b"\xf8\xff\xff\xff\x0f\x07", True)
    yield Corner("a tag beyond 32 bits", P3, b"\xf8\xff\xff\xff\x1f\x07", False)
    yield Corner(
        "a tag whose low 32 bits are known", P3, field(1, b"\xa8\x80\x80\x80\x10\x07"), False
    )
    yield Corner("a length of 5 bytes", P3, b"\x0a\x82\x80\x80\x80\0\x28\x01", True)
    yield Corner("a length of 6 bytes", P3, b"\x0a\x82\x80\x80\x80\x80\0\x28\x01", False)
    yield Corner("a length beyond 31 bits", P3, b"\x0a\x80\x80\x80\x80\x08", False)
    yield Corner("a length of 64 bits", P3, b"\x0a" + b"\xff" * 9 + b"\x01", False)
    yield Corner("an unknown length of 6 bytes", P3, tag(UNKNOWN, LEN) + b"\x80" * 5 + b"\0", False)


LONG = {
    "zero in 10 bytes": (b"\x80" * 9 + b"\0", True),
    "one in 5 bytes": (b"\x81\x80\x80\x80\0", True),
    "all ones": (b"\xff" * 9 + b"\x01", True),
    "bits beyond 64": (b"\xff" * 9 + b"\x7f", True),
    "only bits beyond 64": (b"\x80" * 9 + b"\x02", True),
    "32 ones": (b"\xff\xff\xff\xff\x0f", True),
    "33 bits": (b"\x85\x80\x80\x80\x10", True),
    "63 ones": (b"\xff" * 8 + b"\x7f", True),
    "11 bytes": (b"\x80" * 10 + b"\x01", False),
    "10 bytes that go on": (b"\xff" * 10, False),
}


def scalars() -> Iterator[Corner]:
    for of in scalar_fields("Scalars"):
        kind = wire_type(of)
        if kind == VARINT:
            for name, (value, taken) in LONG.items():
                record = field(1, tag(of.number, VARINT) + value)
                yield Corner(f"{of.name}: {name}", P3, record, taken)
        else:
            once = tag(of.number, kind)
            zero = {FIXED32: b"\0" * 4, FIXED64: b"\0" * 8, LEN: b"\0"}[kind]
            record = field(1, once + VALUES[kind])
            yield Corner(f"{of.name}: a value", P3, record, True)
            yield Corner(f"{of.name}: a value, then zero", P3, record + field(1, once + zero), True)
        for other, value in VALUES.items():
            if other != kind:
                record = field(1, tag(of.number, other) + value)
                yield Corner(f"{of.name}: wire type {other}", P3, record, True)
    for name, (value, taken) in LONG.items():
        yield Corner(f"unknown: {name}", P3, tag(UNKNOWN, VARINT) + value, taken)
    yield Corner("a single field that is packed", P3, field(1, field(5, b"\x01\x02")), True)
    for bits in (1, 2**31 | 1, 0x7FC00000, 0x7F800001, 0xFFC00001, 0x7F800000, 0x80000000):
        record = field(1, tag(2, FIXED32) + bits.to_bytes(4, "little"))
        yield Corner(f"float {bits:x}", P3, record, True)


def lists() -> Iterator[Corner]:
    for of in scalar_fields("Lists"):
        kind = wire_type(of)
        value = VALUES[kind]
        one = tag(of.number, kind) + value
        yield Corner(f"{of.name}: three values", P3, field(3, one * 3), True)
        yield Corner(f"{of.name}: in two messages", P3, field(3, one) * 2, True)
        for other, wrong in VALUES.items():
            if other not in (kind, LEN):
                record = field(3, one, tag(of.number, other) + wrong, one)
                yield Corner(f"{of.name}: wire type {other} between", P3, record, True)
        if kind == LEN:
            continue
        packed = field(of.number, value, value)
        yield Corner(f"{of.name}: packed", P3, field(3, packed), True)
        yield Corner(f"{of.name}: packed and nothing", P3, field(3, field(of.number)), True)
        yield Corner(f"{of.name}: packed and not", P3, field(3, packed, one, packed), True)


def oneofs() -> Iterator[Corner]:
    yes, opened = number(9, 1), number(10, 1)
    both = field(11, number(5, 7))
    yield Corner("oneof: zero", P3, number(9, 0), True)
    yield Corner("oneof: an empty message", P3, field(11), True)
    yield Corner("oneof: empty bytes", P3, field(16), True)
    yield Corner("oneof: the last member", P3, yes + opened, True)
    yield Corner("oneof: a member again after another", P3, yes + opened + yes, True)
    yield Corner("oneof: a message twice is merged", P3, both + field(11, number(13, 8)), True)
    between = both + yes + field(11, number(13, 8))
    yield Corner("oneof: a message twice with another between is not", P3, between, True)
    yield Corner("oneof: a member of a wrong wire type is none", P3, yes + field(10, b"\x01"), True)
    yield Corner("oneof: members of two", P3, yes + field(2048, b"x") + opened, True)
    yield Corner("oneof: a wrapper", P3, field(13), True)
    yield Corner("oneof: a time, then a wrapper", P3, field(12) + field(13, field(1, b"x")), True)
    yield Corner(
        "oneof: a time in two", P3, field(12, number(1, 5)) + field(12, number(2, 5)), True
    )
    yield Corner(
        "oneof: groups are merged", P2, ID_STATE + group(19, b"\x08\1") + group(19, b"\x10\2"), True
    )
    yield Corner("oneof: a closed enum's unknown number", ED, b"\x18\1" + field(16, b"a"), True)


def messages() -> Iterator[Corner]:
    yield Corner("messages are merged", P3, field(1, number(5, 1)) + field(1, number(13, 2)), True)
    yield Corner("the later one wins", P3, field(1, number(5, 1)) + field(1, number(5, 2)), True)
    yield Corner("an empty one adds nothing", P3, field(1, number(5, 1)) + field(1), True)
    yield Corner("zero wins", P3, field(1, number(5, 1)) + field(1, number(5, 0)), True)
    deep = field(17, field(17, number(9, 1)))
    yield Corner(
        "merged at two levels", P3, deep + field(17, field(17, field(3, field(9, b"x")))), True
    )
    yield Corner("a list of messages is not merged", P3, field(18) + field(18, field(17)), True)
    unknown = field(1, number(UNKNOWN, 1))
    yield Corner("unknown fields of merged messages", P3, unknown + unknown, True)
    yield Corner("a message as a group", P3, group(1, number(5, 1)), True)
    yield Corner("a required field is missing", P2, b"\x08\x01", True)
    yield Corner("a required field in a list is missing", P2, ID_STATE + group(7), True)
    yield Corner("a required field of a child is missing", P2, ID_STATE + field(20), True)
    yield Corner(
        "required fields come by merging",
        P2,
        ID_STATE + field(20, ID_STATE[:2]) + field(20, ID_STATE[2:]),
        True,
    )
    wrappers = (21, 22, 23, 25, 27, 28, 29)
    for at in wrappers:
        yield Corner(f"wrapper {at} without a value", P3, field(4, field(at)), True)
        one = b"\x0d\0\0\x80?" if at == 22 else b"\x09" + b"\0" * 6 + b"\xf0?"
        one = one if at < 23 else field(1, b"x") if at > 27 else number(1, 1)
        yield Corner(
            f"wrapper {at} twice", P3, field(4, field(at, one)) + field(4, field(at)), True
        )
    yield Corner(
        "a timestamp in two",
        P3,
        field(4, field(1, number(1, 7))) + field(4, field(1, number(2, 8))),
        True,
    )
    yield Corner(
        "a timestamp with something unknown",
        P3,
        field(4, field(1, number(1, 7), number(9, 9))),
        True,
    )
    yield Corner("a value without a kind", P3, field(4, field(6)), True)
    yield Corner("a value of two kinds", P3, field(4, field(6, number(4, 1), field(3, b"x"))), True)
    entry = field(1, field(1, b"k"), field(2, number(4, 1)))
    yield Corner(
        "a struct with a key twice", P3, field(4, field(5, entry, field(1, field(1, b"k")))), True
    )
    yield Corner(
        "a struct in two", P3, field(4, field(5, entry)) + field(4, field(5, field(1))), True
    )


def maps() -> Iterator[Corner]:
    key, value = field(1, b"k"), field(2, b"v")
    for name, inside in {
        "": [key, value],
        "turned round": [value, key],
        " without a key": [value],
        " without a value": [key],
        " with nothing": [],
        " with two keys": [key, field(1, b"l"), value],
        " with two values": [key, value, field(2, b"w")],
        " with an unknown field": [key, value, number(3, 1)],
        " with a key of a wrong wire type": [number(1, 1), value],
        " with a value of a wrong wire type": [key, number(2, 1)],
        " with a value of both wire types": [key, number(2, 1), value],
    }.items():
        yield Corner(f"a map entry{name}", P3, field(5, *inside), True)
        yield Corner(
            f"a map entry{name} after another",
            P3,
            field(5, key, field(2, b"first")) + field(5, *inside),
            True,
        )
    yield Corner(
        "an object has a duplicate key",
        P3,
        field(5, key, value) + field(5, key, field(2, b"w")),
        True,
    )
    first = field(5, key, value) + field(5, field(1, b"a"))
    yield Corner("a key twice keeps its place", P3, first + field(5, key, field(2, b"w")), True)
    part = field(11, number(1, 3), field(2, number(5, 1)))
    again = field(11, number(1, 3), field(2, number(13, 1)))
    yield Corner("messages of a key are not merged", P2, ID_STATE + part + again, True)
    merged = field(11, number(1, 3), field(2, number(5, 1)), field(2, number(13, 1)))
    yield Corner("messages of an entry are merged", P2, ID_STATE + merged, True)
    yield Corner("a map entry as a group", P3, group(5, key, value), True)
    yield Corner("a map entry as a number", P3, number(5, 1), True)
    yield Corner(
        "true in ten bytes as a key",
        P2,
        ID_STATE + field(12, b"\x08" + b"\x80" * 9 + b"\x01"),
        True,
    )
    yield Corner(
        "keys that are equal once cut",
        P2,
        ID_STATE + field(11, number(1, 1)) + field(11, number(1, 2**32 + 1)),
        True,
    )
    unknown = [number(1, 1), number(2, 77)]
    yield Corner(
        "a map's closed enum of an unknown number", P2, ID_STATE + field(12, *unknown), True
    )
    known = field(12, number(1, 1), number(2, 1))
    yield Corner("the same after a known one", P2, ID_STATE + known + field(12, *unknown), True)
    for name, inside in {
        "unknown, then known": [*unknown, number(2, 1)],
        "known, then unknown": [number(1, 1), number(2, 1), number(2, 77)],
        "in five bytes": [number(1, 1), b"\x10\xcd\x80\x80\x80\0"],
        "in a tag of two bytes": [number(1, 1), b"\x90\0\x4d"],
    }.items():
        yield Corner(f"a map's closed enum: {name}", P2, ID_STATE + field(12, *inside), True)
    yield Corner(
        "a map's open enum of an unknown number", P3, field(7, b"\x0d\1\0\0\0", number(2, 77)), True
    )
    yield Corner("a map's key is no text", P3, field(5, field(1, b"\xff")), False)
    yield Corner("a map's value is no text", P3, field(5, field(2, b"\xff")), False)


def enums() -> Iterator[Corner]:
    for name, value in {
        "unknown": b"\x4d",
        "unknown and negative": b"\xcd" + b"\xff" * 8 + b"\x01",
        "negative in 10 bytes": b"\xff" * 9 + b"\x01",
        "negative in 5 bytes": b"\xff\xff\xff\xff\x0f",
        "known in its low 32 bits": b"\x81\x80\x80\x80\x10",
        "unknown in 4 bytes": b"\xcd\x80\x80\0",
    }.items():
        yield Corner(f"open enum, {name}", P3, field(1, b"\x70" + value), True)
        yield Corner(
            f"open enums, {name}", P3, field(3, field(14, b"\x01" + value + b"\x01")), True
        )
        closed = field(2, b"\x70" + value)
        yield Corner(f"closed enum, {name}", P2, ID_STATE + closed, True)
        known = field(2, number(14, 1))
        yield Corner(f"closed enum, {name}, after a known one", P2, ID_STATE + known + closed, True)
        yield Corner(
            f"closed enums, {name}",
            P2,
            ID_STATE + field(4, b"\x70\x01\x70" + value + b"\x70\x01"),
            True,
        )
        packed = field(4, field(15, b"\x01" + value + b"\x01"))
        yield Corner(f"closed enums, packed, {name}", P2, ID_STATE + packed, True)
    yield Corner(
        "closed enum, an unknown number in a long tag", P2, ID_STATE + field(2, b"\xf0\0\x4d"), True
    )
    yield Corner(
        "closed enum that is required, unknown", P2, b"\x08\x01" + varint(2047 << 3) + b"\x09", True
    )


def groups() -> Iterator[Corner]:
    x = b"\x09" + b"\0" * 8
    for name, inside, taken in [
        ("a group", group(5, x), True),
        ("a group in two", group(5, x) + group(5, b"\x11" + b"\1" * 8), True),
        ("a group as bytes", field(5, x), True),
        ("a list of groups", group(7, field(8, b"a")) + group(7, field(8, b"b")), True),
        ("a group that nobody ends", b"\x2b" + x, False),
        ("the end of a group that nobody began", b"\x2c", False),
        ("the end of another group", b"\x2b\x34", False),
        ("the end of another group within", b"\x2b" + field(4) + b"\x3c", False),
        ("a group ends within a message", b"\x2b" + field(3, b"\x2c"), False),
        ("a message ends within a group", field(20, ID_STATE + b"\x2b") + b"\x2c", False),
        ("the end of a group in a message", field(2, b"\x2c"), False),
        ("a long end of a group", b"\x2b" + x + b"\xac\x80\0", True),
        ("an unknown group", group(UNKNOWN, x, group(1), field(3, b"x")), True),
        ("an unknown group in a group", group(5, x, group(3, b"\x08\x01")), True),
        ("an unknown group that nobody ends", tag(UNKNOWN, START) + x, False),
        ("the end of an unknown group", tag(UNKNOWN, END), False),
        ("unknown groups that cross", b"\xb3\x01\xbb\x01\xb4\x01\xbc\x01", False),
    ]:
        yield Corner(name, P2, ID_STATE + inside, taken)
    yield Corner("a delimited field", ED, b"\x18\1" + group(9, b"\x08\1"), True)
    yield Corner("a delimited field that is not", ED, b"\x18\1" + field(9, b"\x08\1"), True)
    yield Corner("delimited fields", ED, b"\x18\1" + group(10, b"\x08\1") + group(10), True)
    yield Corner("a delimited extension", ED, b"\x18\1" + group(100, b"\x08\1"), True)


def unknown_fields() -> Iterator[Corner]:
    parts = [tag(UNKNOWN - i, kind) + value for i, (kind, value) in enumerate(VALUES.items())]
    yield Corner("unknown fields in their order", P3, b"".join(parts), True)
    yield Corner("unknown fields the other way round", P3, b"".join(parts[::-1]), True)
    around = field(9, b"x").join(parts)
    yield Corner("unknown fields around a field of a wrong wire type", P3, around, True)
    known = field(5, field(1, b"k"))
    yield Corner("unknown fields around known ones", P3, known.join([b"", *parts, b""]), True)
    yield Corner("a field in the range of extensions", P2, ID_STATE + number(1001, 1), True)
    yield Corner("an extension", P2, ID_STATE + number(1000, 1) + field(1500, b"a"), True)
    yield Corner("an extension of a wrong wire type", P2, ID_STATE + field(1000, b"a"), True)
    yield Corner(
        "extensions, packed and not", P2, ID_STATE + number(1999, 1) + field(1999, b"\1\2"), True
    )
    yield Corner(
        "an extension that is merged",
        P2,
        ID_STATE + field(20001, field(1, b"a")) + field(20001),
        True,
    )


def texts() -> Iterator[Corner]:
    for name, data in {
        "a byte that no text has": b"\xff",
        "an overlong slash": b"\xc0\xaf",
        "a surrogate": b"\xed\xa0\x80",
        "beyond the last character": b"\xf4\x90\x80\x80",
        "half a character": b"\xe4\xb8",
        "half a character after eight": b"12345678\xe4\xb8",
        "NUL": b"a\0b",
        "the last character": b"\xf4\x8f\xbf\xbf",
    }.items():
        is_text = name in ("NUL", "the last character")
        yield Corner(f"proto3 text: {name}", P3, field(1, field(9, data)), is_text)
        yield Corner(f"proto3 texts: {name}", P3, field(3, field(9, b"a"), field(9, data)), is_text)
        yield Corner(f"proto2 text: {name}", P2, ID_STATE + field(2, field(9, data)), True)
        yield Corner(f"proto3 bytes: {name}", P3, field(1, field(12, data)), True)
        yield Corner(f"editions text: {name}", ED, b"\x18\1" + field(4, data), is_text)
        yield Corner(f"editions text unchecked: {name}", ED, b"\x18\1" + field(5, data), True)
        yield Corner(f"text in a oneof: {name}", P3, field(2048, data), is_text)
        yield Corner(
            f"text that a later one replaces: {name}", P3, field(2048, data) + field(2048), is_text
        )
        yield Corner(f"text of a wrapper: {name}", P3, field(4, field(28, field(1, data))), is_text)
        yield Corner(f"text in a value: {name}", P3, field(4, field(6, field(3, data))), is_text)


def nested(at: int, levels: int, inside: bytes = b"") -> bytes:
    for _ in range(levels):
        inside = field(at, inside)
    return inside


def depths() -> Iterator[Corner]:
    """Nobody looks below the columns of a type that has itself in it: groups and values count."""
    start, end = tag(UNKNOWN, START), tag(UNKNOWN, END)
    known = tag(18, START), tag(18, END)
    for levels in (99, 100, 101):
        for name, case, record in [
            ("messages", P3, nested(17, levels)),
            ("groups", ED, b"\x18\1" + known[0] * levels + known[1] * levels),
            ("unknown groups", P3, start * levels + end * levels),
            ("groups in a message", P3, field(3, start * (levels - 1) + end * (levels - 1))),
            ("messages and groups", P3, nested(17, levels - 40, start * 40 + end * 40)),
            ("lists of messages", P3, nested(18, levels)),
            ("levels, the last of them a map", P3, nested(17, levels - 2, field(8, field(2)))),
            ("levels, the last of them an entry", P3, nested(17, levels - 1, field(5))),
            ("levels in a value", P3, field(4, field(6, nested_values(levels - 2)))),
        ]:
            yield Corner(f"{levels} {name}", case, record, levels <= 100)
    yield Corner("50 maps in maps", P3, nested_maps(50), True)
    yield Corner("51 maps in maps", P3, nested_maps(51), False)
    yield Corner("a million starts of groups", P3, start * 10**6, False)


def nested_maps(levels: int) -> bytes:
    inside = b""
    for _ in range(levels):
        inside = field(8, field(2, inside))
    return inside


def nested_values(levels: int) -> bytes:
    """Value, ListValue, Value, ... below a first Value."""
    inside = b""
    for level in range(levels):
        inside = field(6 if (levels - level) % 2 else 1, inside)
    return inside
