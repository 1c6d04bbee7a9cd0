"""Random bytes of message types: what writers write, every legal form of the same, and damage.

tidy: fields by number, each once, lists as declared, no unknown fields: a writer's form. loose: any
order, fields twice, split messages and map entries, both forms of lists, several members of a
oneof, long varints, unknown fields, wrong wire types. damaged(): bytes cut, changed, put in or out.
"""

from __future__ import annotations

import struct
from random import Random
from typing import Any

from google.protobuf import descriptor_pb2
from message_types import ENUM, GROUP, MAX_NUMBER, MESSAGE, STRING, Case

Field = descriptor_pb2.FieldDescriptorProto
VARINT, FIXED64, LEN, START, END, FIXED32 = range(6)
WIRE_TYPES = {
    Field.TYPE_DOUBLE: FIXED64,
    Field.TYPE_FIXED64: FIXED64,
    Field.TYPE_SFIXED64: FIXED64,
    Field.TYPE_FLOAT: FIXED32,
    Field.TYPE_FIXED32: FIXED32,
    Field.TYPE_SFIXED32: FIXED32,
    Field.TYPE_STRING: LEN,
    Field.TYPE_BYTES: LEN,
    Field.TYPE_MESSAGE: LEN,
    Field.TYPE_GROUP: START,
}
TEXTS = ["", "a", "é", "世界", "hello world", "x" * 40, "\0", "😀"]
NO_TEXTS = [b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"ab\xe4\xb8"]
INTEGERS = [0, 1, -1, 2, 127, 128, 300, 2**31 - 1, -(2**31), 2**32 - 1, 2**63 - 1, -(2**63)]
REALS = [0.0, -0.0, 1.0, -1.5, 0.1, 1e30, -1e-30, float("inf"), float("-inf"), float("nan")]
SOME_STRUCT_NUMBERS = [0.0, -0.0, 1.0, -1.5, 0.1, 1e21, 1e-7, 123456789.0, 2.0**53, 1e300]


def varint(n: int, size: int = 1) -> bytes:
    """In at least so many bytes."""
    n &= 2**64 - 1
    out = bytearray()
    while n >= 0x80 or len(out) < size - 1:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def wire_type(field: Any) -> int:
    return WIRE_TYPES.get(field.type, VARINT)


def known_fields(descriptor: Any) -> list[Any]:
    """By number, with the extensions."""
    extensions = descriptor.file.pool.FindAllExtensions(descriptor)
    return sorted([*descriptor.fields, *extensions], key=lambda f: f.number)


def is_map(field: Any) -> bool:
    return field.message_type is not None and field.message_type.GetOptions().map_entry


def random_record(r: Random, case: Case, loose: bool, odd_entries: bool = True) -> bytes:
    """odd_entries: also entries of maps that protobuf takes for unknown fields, and writes anew."""
    return Writer(r, loose, odd_entries).message(case.cls.DESCRIPTOR, 0)


class Writer:
    def __init__(self, r: Random, loose: bool, odd_entries: bool = True) -> None:
        self.r = r
        self.loose = loose
        self.odd_entries = odd_entries
        self.budget = 300  # values in a record
        self.fields: dict[Any, list[Any]] = {}

    def rarely(self, one_in: int) -> bool:
        """Something that only a loose writer does."""
        return self.loose and self.r.randrange(one_in) == 0

    def message(self, descriptor: Any, depth: int) -> bytes:
        known = KNOWN.get(descriptor.full_name)
        if known is not None and not self.rarely(12):
            return known(self, descriptor, depth)
        fields = self.fields.get(descriptor)
        if fields is None:
            fields = self.fields[descriptor] = known_fields(descriptor)
        chunks: list[bytes] = []
        for field in self.chosen(descriptor, fields, depth):
            chunks += self.field(field, depth)
            if self.rarely(8) and self.budget > 0:
                chunks += self.field(field, depth)
        while self.rarely(4):
            chunks.append(self.unknown(fields))
        if self.rarely(3):
            self.r.shuffle(chunks)
        return b"".join(chunks)

    def chosen(self, descriptor: Any, fields: list[Any], depth: int) -> list[Any]:
        """Of a oneof one member, required ones always, the others more or less often."""
        r = self.r
        often = r.choice([0, 1, 2, 4, 4, 4])
        chosen = []
        oneofs: set[str] = set()
        for field in fields:
            oneof = field.containing_oneof
            if field.is_required:
                take = not self.rarely(200)
            else:
                take = r.randrange(4) < often and self.budget > 0
            if depth > 3 and field.message_type is not None and not field.is_required:
                take = take and r.randrange(depth) == 0
            if oneof is not None and take and not field.is_extension:
                take = oneof.name not in oneofs or self.rarely(2)
                oneofs.add(oneof.name)
            if take:
                chosen.append(field)
        return chosen

    def field(self, field: Any, depth: int) -> list[bytes]:
        """The occurrences of a field."""
        r = self.r
        if self.rarely(25) and (self.odd_entries or not is_map(field)):
            return [self.unknown_value(field.number)]
        if not field.is_repeated:
            self.budget -= 1
            if self.rarely(30) and wire_type(field) not in (LEN, START):
                return [self.tag(field.number, LEN) + self.sized(self.scalar(field))]
            return [self.value(field, depth)]
        count = r.choice([0, 1, 1, 2, 3, 5]) if r.randrange(12) else r.randint(6, 30)
        count = min(count, max(self.budget, 0))
        self.budget -= count
        if is_map(field):
            return [self.entry(field, depth) for _ in range(count)]
        if wire_type(field) in (LEN, START):
            return [self.value(field, depth) for _ in range(count)]
        return self.numbers(field, count)

    def numbers(self, field: Any, count: int) -> list[bytes]:
        chunks = []
        while count > 0:
            packed = self.r.randrange(2) == 0 if self.rarely(3) else field.is_packed
            size = self.r.randint(1, count) if self.rarely(3) else count
            values = [self.scalar(field) for _ in range(size)]
            if packed:
                chunks.append(self.tag(field.number, LEN) + self.sized(b"".join(values)))
            else:
                chunks += [self.tag(field.number, wire_type(field)) + v for v in values]
            count -= size
        if self.rarely(10):
            chunks.append(self.tag(field.number, LEN) + b"\0")
        return chunks

    def value(self, field: Any, depth: int) -> bytes:
        if field.type == GROUP:
            start, end = self.tag(field.number, START), self.tag(field.number, END)
            return start + self.message(field.message_type, depth + 1) + end
        if field.type == MESSAGE:
            return self.tag(field.number, LEN) + self.sized(
                self.message(field.message_type, depth + 1)
            )
        return self.tag(field.number, wire_type(field)) + self.scalar(field)

    def entry(self, field: Any, depth: int) -> bytes:
        key, value = field.message_type.fields
        if value.type == ENUM and not self.odd_entries:
            known = self.tag(2, VARINT) + varint(self.r.choice(value.enum_type.values).number)
            parts = [self.value(key, depth), known]
        else:
            parts = [self.value(key, depth), self.value(value, depth + 1)]
        if self.rarely(8):
            parts.append(self.r.choice([self.value(key, depth), parts[1]]))
        if self.rarely(8):
            del parts[self.r.randrange(len(parts))]
        if self.rarely(30) and self.odd_entries:
            parts.append(self.unknown(field.message_type.fields))
        if self.rarely(8):
            self.r.shuffle(parts)
        return self.tag(field.number, LEN) + self.sized(b"".join(parts))

    def tag(self, number: int, kind: int) -> bytes:
        return varint(number << 3 | kind, self.r.randint(1, 5) if self.rarely(40) else 1)

    def sized(self, data: bytes) -> bytes:
        return varint(len(data), self.r.randint(1, 5) if self.rarely(40) else 1) + data

    def scalar(self, field: Any) -> bytes:
        """A value without its tag."""
        r = self.r
        if field.type == STRING:
            if self.rarely(150):
                return self.sized(r.choice(NO_TEXTS))
            return self.sized(r.choice(TEXTS).encode())
        if field.type == Field.TYPE_BYTES:
            return self.sized(r.choice([b"", b"\0", b"\xff\xfe", b"abc", r.randbytes(20)]))
        if field.type == Field.TYPE_FLOAT:
            return struct.pack("<f", r.choice([*REALS, r.uniform(-9, 9)]))
        if field.type == Field.TYPE_DOUBLE:
            return struct.pack("<d", r.choice([*REALS, r.uniform(-9, 9)]))
        if wire_type(field) == FIXED32:
            return struct.pack("<I", self.integer() & 2**32 - 1)
        if wire_type(field) == FIXED64:
            return struct.pack("<Q", self.integer() & 2**64 - 1)
        size = r.randint(1, 10) if self.rarely(20) else 1
        return varint(self.number(field), size)

    def integer(self) -> int:
        r = self.r
        return r.choice(INTEGERS) if r.randrange(4) == 0 else r.randrange(1 << r.randint(1, 64))

    def number(self, field: Any) -> int:
        """What the varint of the field has."""
        r = self.r
        if field.type == ENUM:
            numbers = [v.number for v in field.enum_type.values]
            unknown = not field.enum_type.is_closed or self.loose
            return self.integer() if unknown and r.randrange(6) == 0 else r.choice(numbers)
        if field.type == Field.TYPE_BOOL:
            return self.integer() if self.rarely(4) else r.randrange(2)
        if self.loose or field.type in (Field.TYPE_UINT64, Field.TYPE_INT64, Field.TYPE_SINT64):
            return self.integer()
        if field.type == Field.TYPE_INT32:
            return (self.integer() + 2**31 & 2**32 - 1) - 2**31
        return self.integer() & 2**32 - 1

    def unknown(self, fields: list[Any]) -> bytes:
        """A field whose number the type does not have (or has, but then of any wire type)."""
        number = self.r.choice([1, 5, 99, 999, 1500, 70000, MAX_NUMBER, MAX_NUMBER - 20])
        if not self.odd_entries and any(f.number == number and is_map(f) for f in fields):
            return b""
        return self.unknown_value(number)

    def unknown_value(self, number: int, depth: int = 0) -> bytes:
        r = self.r
        kind = r.choice([VARINT, FIXED64, LEN, LEN, START, FIXED32])
        tag = self.tag(number, kind)
        if kind == VARINT:
            return tag + varint(self.integer(), r.randint(1, 10) if self.rarely(8) else 1)
        if kind == FIXED64:
            return tag + r.randbytes(8)
        if kind == FIXED32:
            return tag + r.randbytes(4)
        if kind == LEN:
            return tag + self.sized(r.choice([b"", b"\x08\x01", b"\x0a\x01x", r.randbytes(9)]))
        inside = b""
        while depth < 4 and r.randrange(2):
            inside += self.unknown_value(r.choice([1, 2, 77, 0]) or 3, depth + 1)
        return tag + inside + self.tag(number, END)

    # ---- types with a meaning of their own ----

    def signed(self, number: int, value: int) -> bytes:
        return b"" if value == 0 else varint(number << 3) + varint(value)

    def timestamp(self, _descriptor: Any, _depth: int) -> bytes:
        r = self.r
        seconds = r.choice([0, 1, -1, 1700000000, -(2**33), 2**33, r.randrange(-(10**9), 10**10)])
        if self.rarely(60):
            seconds = r.choice([2**63 - 1, -(2**63), 253402300799, -62135596800, 9223372036])
        nanos = r.choice([0, 1, 999999999, 500000000, 123456789, 1000])
        if self.rarely(20):
            nanos = r.choice([-1, 2**31 - 1, -(2**31), 10**9])
        return self.signed(1, seconds) + self.signed(2, nanos)

    def date(self, _descriptor: Any, _depth: int) -> bytes:
        r = self.r
        year, month, day = r.choice([1, 1600, 1900, 1970, 2000, 2024, 9999]), 2, r.randint(1, 28)
        if r.randrange(2):
            year, month, day = r.randint(1, 9999), r.choice([1, 3, 12]), r.randint(1, 31)
        elif self.rarely(10):
            year, month, day = r.choice([(0, 1, 1), (2023, 2, 29), (2024, 2, 29), (2000, 13, 1)])
        return self.signed(1, year) + self.signed(2, month) + self.signed(3, day)

    def time_of_day(self, _descriptor: Any, _depth: int) -> bytes:
        r = self.r
        time = [r.randrange(24), r.randrange(60), r.randrange(60), r.randrange(10**9)]
        if self.rarely(20):
            time = r.choice([[24, 0, 0, 0], [23, 59, 60, 0], [-1, 0, 0, 0], [0, 0, 0, 10**9]])
        return b"".join(self.signed(i + 1, part) for i, part in enumerate(time))

    def struct(self, _descriptor: Any, depth: int) -> bytes:
        names = [self.r.choice(TEXTS).encode() for _ in range(self.r.choice([0, 1, 2, 4]))]
        entries = (
            b"\x0a" + self.sized(name) + b"\x12" + self.sized(self.json_value(None, depth + 1))
            for name in names
        )
        return b"".join(b"\x0a" + self.sized(entry) for entry in entries)

    def list_value(self, _descriptor: Any, depth: int) -> bytes:
        values = (self.json_value(None, depth + 1) for _ in range(self.r.choice([0, 1, 3])))
        return b"".join(b"\x0a" + self.sized(value) for value in values)

    def json_value(self, _descriptor: Any, depth: int) -> bytes:
        r = self.r
        self.budget -= 1
        kind = r.randrange(6 if depth < 6 and self.budget > 0 else 4)
        if kind == 0:
            return b"\x08\0"
        if kind == 1:
            numbers = REALS if self.rarely(60) else SOME_STRUCT_NUMBERS
            return b"\x11" + struct.pack("<d", r.choice([*numbers, r.uniform(-9, 9)]))
        if kind == 2:
            return b"\x1a" + self.sized(r.choice([*TEXTS, '"\\/\n\x1f\x7f']).encode())
        if kind == 3:
            return b"\x20" + bytes([r.randrange(2)])
        if kind == 4:
            return b"\x2a" + self.sized(self.struct(None, depth + 1))
        return b"\x32" + self.sized(self.list_value(None, depth + 1))


KNOWN = {
    "google.protobuf.Timestamp": Writer.timestamp,
    "google.protobuf.Duration": Writer.timestamp,
    "google.type.Date": Writer.date,
    "google.type.TimeOfDay": Writer.time_of_day,
    "google.protobuf.Struct": Writer.struct,
    "google.protobuf.Value": Writer.json_value,
    "google.protobuf.ListValue": Writer.list_value,
}


# ---- damage ----


def damaged(r: Random, record: bytes) -> bytes:
    """Mostly no message any more; sometimes another one."""
    data = bytearray(record)
    for _ in range(r.choice([1, 1, 1, 2, 4])):
        at = r.randrange(len(data) + 1)
        kind = r.randrange(9)
        if kind == 0:
            del data[at:]
        elif kind == 1 and at < len(data):
            data[at] ^= 1 << r.randrange(8)
        elif kind == 2 and at < len(data):
            data[at] = r.choice([0, 1, 0x7F, 0x80, 0xFF])
        elif kind == 3:
            data[at:at] = r.randbytes(r.randint(1, 4))
        elif kind == 4:
            del data[at : at + r.randint(1, 4)]
        elif kind == 5:
            data[at:at] = r.choice(TROUBLES)
        elif kind == 6:
            data += r.choice(TROUBLES)
        elif kind == 7:
            other = r.randrange(len(data) + 1)
            data[at:at] = data[other : other + 8]
        else:
            data[at:at] = varint(r.randrange(1, 100) << 3 | r.randrange(8))
    return bytes(data)


def _nested(number: int, levels: int) -> bytes:
    data = b""
    for _ in range(levels):
        data = varint(number << 3 | LEN) + varint(len(data)) + data
    return data


TROUBLES = [
    b"\x0a\xff\xff\xff\xff\x07",  # lengths beyond the end, and beyond all bounds
    b"\x12\xff\xff\xff\xff\x0f",
    b"\x0a" + b"\xff" * 9 + b"\x01",
    b"\x0a\x81\x80\x80\x80\x80\x00x",  # a length of six bytes
    b"\x08" + b"\xff" * 10 + b"\x01",  # varints of eleven bytes, and of ten with bits beyond 64
    b"\x08" + b"\xff" * 9 + b"\x7f",
    b"\xa8\x80\x80\x80\x80\x00\x07",  # tags of six bytes, and beyond 32 bits
    b"\xf8\xff\xff\xff\x1f\x07",
    b"\x00\x00",  # field number 0
    b"\x02\x00",
    b"\x0c",  # ends of groups that nobody began, starts that nobody ends
    b"\x1b",
    b"\x0b\x14",
    b"\xa3\x06\x00\x00\xa4\x06",  # field number 0 in an unknown group
    b"\x0e",  # wire types 6 and 7
    b"\x0f",
    b"\x0d\x00\x00",
    b"\x09\x00\x00",
    b"\xa3\x06" * 100 + b"\xa4\x06" * 100,
    b"\xa3\x06" * 101 + b"\xa4\x06" * 101,
    b"\x80",
    *(_nested(number, levels) for number in (1, 2, 3) for levels in (99, 100, 101, 150)),
]
