#!/usr/bin/env python3
"""Writes the corpus of fuzz_sequence: corpus/sequence/, one serialized tf.SequenceExample per file.

The same files come out of every run. Every layout that protobuf allows has a file, and so has every
kind of damage. The wire format is written as in make_example_corpus.py.
"""

import itertools
import pathlib
import random

from make_example_corpus import BYTES, FLOATS, INTS, VALUES, entry, feature, field, packed, single

FOLDER = pathlib.Path(__file__).parent / "corpus" / "sequence"


def steps(*features):
    return b"".join(field(1, f) for f in features)


def lists(*entries):
    return field(2, b"".join(entries))


def one(*features):
    return lists(entry(b"s", steps(*features)))


def sound_cases():
    context = field(1, entry(b"c", feature(BYTES, [b"user"])) + entry(b"n", feature(INTS, [1])))
    for kind, values in VALUES.items():
        for i, value in enumerate(values):
            data = one(feature(kind, value), feature(kind, values[1]))
            yield f"value-{kind}-{i}", context + data
        yield f"all-{kind}", one(*(feature(kind, value) for value in values))
        yield f"none-{kind}", one(feature(kind, values[1]), b"", feature(kind, []), b"")
        if kind != BYTES:
            yield f"single-{kind}", one(*(feature(kind, value, single) for value in values[:5]))
            mixed = packed(kind, values[3]) + single(kind, values[3])
            yield f"mixed-{kind}", one(feature(kind, values[1]), field(kind, mixed))
    yield "context", context
    yield "no-entries", lists()
    yield "no-steps", lists(entry(b"s", b""))
    yield "no-value", lists(field(1, field(1, b"s")))
    yield "no-name", lists(field(1, field(2, steps(feature(INTS, [1])))))
    yield "untyped", lists(entry(b"s", steps(b"", b"")), entry(b"t", b""))
    yield "lists-first", one(feature(INTS, [1])) + context
    yield "value-first", lists(field(1, field(2, steps(feature(INTS, [1]))) + field(1, b"s")))
    yield "twice", (context + one(feature(INTS, [1]))) * 2
    yield "clash", field(1, entry(b"##SEQUENCE##", feature(INTS, [1]))) + one(feature(INTS, [1]))
    for first, second in itertools.product((BYTES, FLOATS, INTS), repeat=2):
        a, b = feature(first, VALUES[first][2]), feature(second, VALUES[second][3])
        yield f"name-twice-{first}-{second}", lists(entry(b"s", steps(a)), entry(b"s", steps(b)))
        yield f"kind-twice-{first}-{second}", one(a + b)
    parts = field(2, steps(feature(INTS, [1]))) + field(2, steps(b"", feature(INTS, [2])))
    yield "list-in-parts", lists(field(1, field(1, b"s") + parts))
    for i, extra in enumerate([b"\x18\x07", b"\x22\x01u", b"\x25abcd", b"\x2b\x08\x01\x2c"]):
        value = feature(INTS, [1])
        yield f"unknown-record-{i}", extra + context + extra + one(value) + extra
        yield f"unknown-lists-{i}", field(2, extra + entry(b"s", steps(value)) + extra)
        yield f"unknown-list-{i}", lists(entry(b"s", extra + steps(value) + extra))
        yield f"unknown-feature-{i}", one(extra + value + extra)
    rng = random.Random(11)
    for i in range(12):
        entries = []
        for n in range(rng.randrange(1, 8)):
            kind = rng.choice([BYTES, FLOATS, INTS])
            many = [feature(kind, rng.choice(VALUES[kind])) for _ in range(rng.randrange(20))]
            entries.append(entry(f"list_{n}".encode(), steps(*many)))
        yield f"many-{i}", context + lists(*entries)


def damaged_cases():
    whole = field(1, entry(b"c", feature(INTS, [3]))) + lists(
        entry(b"a", steps(feature(INTS, [1, 300]), b"")),
        entry(b"b", steps(feature(FLOATS, [1.0]))),
        entry(b"d", steps(feature(BYTES, [b"xyz", b""]), feature(BYTES, [b"q"]))),
    )
    for n in range(1, len(whole), 2):
        yield f"cut-{n}", whole[:n]
    for n in range(0, len(whole), 3):
        yield f"flip-{n}", whole[:n] + bytes([whole[n] ^ 0x80]) + whole[n + 1 :]
    yield "types", one(feature(INTS, [1]), feature(FLOATS, [1.0]))
    yield "length-absurd", b"\x12\xff\xff\xff\xff\x07" + whole
    yield "deep", b"\x1b" * 200 + b"\x1c" * 200
    yield "name-no-utf8", lists(entry(b"\xff\xfe", steps(feature(INTS, [1]))))
    yield "name-nul", lists(entry(b"a\x00b", steps(feature(INTS, [1]))))
    yield "varint-cut", one(field(INTS, field(1, b"\x01\x80")))
    yield "float-cut", one(field(FLOATS, field(1, b"\x00\x00\x80")))


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    for old in FOLDER.iterdir():
        old.unlink()
    for name, data in itertools.chain(sound_cases(), damaged_cases()):
        (FOLDER / name).write_bytes(data)
    print(f"{len(list(FOLDER.iterdir()))} files")


if __name__ == "__main__":
    main()
