#!/usr/bin/env python3
"""Writes the corpus of fuzz_example: corpus/example/, one serialized tf.Example per file.

The same files come out of every run. Every layout that protobuf allows has a file, and so has every
kind of damage.
"""

import itertools
import pathlib
import random
import struct

FOLDER = pathlib.Path(__file__).parent / "corpus" / "example"
BYTES, FLOATS, INTS = 1, 2, 3


def varint(value):
    value &= 2**64 - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def field(number, payload):
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def packed(kind, values):
    if kind == BYTES:
        return b"".join(field(1, v) for v in values)
    if not values:
        return b""
    if kind == FLOATS:
        return field(1, struct.pack(f"<{len(values)}f", *values))
    return field(1, b"".join(varint(v) for v in values))


def single(kind, values):
    if kind == FLOATS:
        return b"".join(b"\x0d" + struct.pack("<f", v) for v in values)
    return b"".join(b"\x08" + varint(v) for v in values)


def feature(kind, values, write=packed):
    return field(kind, write(kind, values))


def entry(name, value):
    return field(1, field(1, name) + field(2, value))


def example(*entries):
    return field(1, b"".join(entries))


VALUES = {
    BYTES: [[], [b""], [b"x"], [b"abc", b"", b"d" * 16], [b"e" * 17], [b"f" * 200], [b"\xff\x00"]],
    FLOATS: [[], [1.5], [0.0, -0.0], [float("inf"), float("nan")], [float(i) for i in range(40)]],
    INTS: [
        [],
        [0],
        [1, 127, 128],
        [-1],
        [2**63 - 1, -(2**63)],
        list(range(70)),
        [5_000_000_000, 2**56 - 1, 2**56],
    ],
}
NAMES = [
    b"a",
    b"",
    b"ab" * 4,
    b"n" * 16,
    b"m" * 17,
    b"long" * 8,
    "\u00e9\u4e16".encode(),
    b"k" * 130,
]


def sound_cases():
    for kind, lists in VALUES.items():
        for i, values in enumerate(lists):
            yield f"value-{kind}-{i}", example(entry(b"a", feature(kind, values)))
            if kind != BYTES:
                yield f"single-{kind}-{i}", example(entry(b"a", feature(kind, values, single)))
    for i, name in enumerate(NAMES):
        yield f"name-{i}", example(entry(name, feature(INTS, [i])), entry(name + b"2", b""))
    yield "empty", b""
    yield "no-features", field(1, b"")
    yield "no-kind", example(entry(b"a", b""))
    yield "no-value", example(field(1, field(1, b"a")))
    yield "no-name", example(field(1, field(2, feature(INTS, [1]))))
    yield "value-first", example(field(1, field(2, feature(INTS, [1])) + field(1, b"a")))
    yield "two-features", example(entry(b"a", feature(INTS, [1]))) * 2
    for (k1, v1), (k2, v2) in itertools.product(VALUES.items(), repeat=2):
        first, second = v1[2], v2[3]
        yield (
            f"name-twice-{k1}-{k2}",
            example(
                entry(b"a", feature(k1, first)), entry(b"b", b""), entry(b"a", feature(k2, second))
            ),
        )
        yield (
            f"kind-twice-{k1}-{k2}",
            example(entry(b"a", feature(k1, first) + feature(k2, second))),
        )
        yield (
            f"value-twice-{k1}-{k2}",
            example(
                field(
                    1, field(1, b"a") + field(2, feature(k1, first)) + field(2, feature(k2, second))
                )
            ),
        )
    for kind in (FLOATS, INTS):
        values = VALUES[kind][3]
        mixed = packed(kind, values) + single(kind, values) + packed(kind, values)
        yield f"mixed-{kind}", example(entry(b"a", field(kind, mixed)))
    unknown = [b"\x18\x07", b"\x22\x01u", b"\x25abcd", b"\x21abcdefgh", b"\x2b\x08\x01\x2c"]
    for i, extra in enumerate(unknown):
        value = feature(INTS, [1])
        yield f"unknown-example-{i}", extra + example(entry(b"a", value)) + extra
        yield f"unknown-features-{i}", field(1, extra + entry(b"a", value) + extra)
        yield (
            f"unknown-entry-{i}",
            example(field(1, extra + field(1, b"a") + extra + field(2, value) + extra)),
        )
        yield f"unknown-feature-{i}", example(entry(b"a", extra + value + extra))
        yield f"unknown-list-{i}", example(entry(b"a", field(INTS, extra + b"\x08\x01" + extra)))
    rng = random.Random(7)
    for i in range(24):
        entries = []
        for n in range(rng.randrange(1, 60)):
            kind = rng.choice([BYTES, FLOATS, INTS])
            entries.append(entry(f"feature_{n}".encode(), feature(kind, rng.choice(VALUES[kind]))))
        rng.shuffle(entries)
        yield f"wide-{i}", example(*entries)


def damaged_cases():
    whole = example(
        entry(b"a", feature(INTS, [1, 300])),
        entry(b"b", feature(FLOATS, [1.0])),
        entry(b"c", feature(BYTES, [b"xyz", b""])),
    )
    for n in range(1, len(whole)):
        yield f"cut-{n}", whole[:n]
    for n in range(0, len(whole), 2):
        yield f"flip-{n}", whole[:n] + bytes([whole[n] ^ 0x80]) + whole[n + 1 :]
    yield "length-absurd", b"\x0a\xff\xff\xff\xff\x07" + whole
    yield "varint-long", b"\x0a" + b"\xff" * 11 + whole
    yield "field-zero", b"\x02\x00" + whole
    yield "wire-type-6", b"\x0e\x00" + whole
    yield "group-end", b"\x0c" + whole
    yield "group-open", b"\x1b" + whole
    yield "deep", b"\x1b" * 200 + b"\x1c" * 200
    yield "name-no-utf8", example(entry(b"\xff\xfe", feature(INTS, [1])))
    yield "name-surrogate", example(entry(b"\xed\xa0\x80", feature(INTS, [1])))
    yield "name-nul", example(entry(b"a\x00b", feature(INTS, [1])))
    yield "float-cut", example(entry(b"a", field(FLOATS, field(1, b"\x00\x00\x80"))))
    yield "varint-11", example(entry(b"a", field(INTS, field(1, b"\xff" * 10 + b"\x01"))))
    yield "varint-cut", example(entry(b"a", field(INTS, field(1, b"\x01\x80"))))
    yield "html", b"<!DOCTYPE html><html></html>"
    yield "json", b'{"features": {"feature": {}}}'


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    for old in FOLDER.iterdir():
        old.unlink()
    for name, data in itertools.chain(sound_cases(), damaged_cases()):
        (FOLDER / name).write_bytes(data)
    print(f"{len(list(FOLDER.iterdir()))} files")


if __name__ == "__main__":
    main()
