#!/usr/bin/env python3
"""Writes the corpus of fuzz_tfdv: corpus/tfdv/, one file per case: DatasetFeatureStatisticsLists,
field by field as the wire has them, sound ones and such as TFDV would not write.

The same files come out of every run.
"""

import itertools
import pathlib
import struct
from collections.abc import Iterator

import corpus_files
from corpus_files import data, u64

FOLDER = pathlib.Path(__file__).parent / "corpus" / "tfdv"
INT, FLOAT, STRING, BYTES, STRUCT = range(5)
NUM, TEXT, RAW, FIELDS = 3, 4, 5, 7  # which statistics a feature has


def field(number: int, value: int | float | bytes) -> bytes:
    if isinstance(value, int):
        return u64(number << 3) + u64(value)
    if isinstance(value, float):
        return u64(number << 3 | 1) + struct.pack("<d", value)
    return u64(number << 3 | 2) + data(value)


def real32(number: int, value: float) -> bytes:
    return u64(number << 3 | 5) + struct.pack("<f", value)


def histogram(kind: int, bounds: list[float], nan: int = 0) -> bytes:
    pairs = itertools.pairwise(bounds)
    buckets = [field(1, a) + field(2, b) + field(4, 2.5) for a, b in pairs]
    return field(1, nan) + b"".join(field(3, b) for b in buckets) + field(4, kind)


def common(present: int = 3, missing: int = 1, levels: int = 1, weighted: bool = False) -> bytes:
    made = field(1, present) + field(2, missing) + field(3, 1) + field(4, 2)
    made += real32(5, 1.5) + field(6, histogram(1, [1.0] * 6 + [2.0] * 5)) + field(8, 2 * present)
    if weighted:
        made += field(7, field(1, 2.5) + field(2, 0.5) + field(4, 3.25))
    for level in range(levels if levels > 1 else 0):
        made += field(10, field(1, present + level) + field(2, level) + field(3, 1) + field(5, 9))
        if weighted:
            made += field(11, field(1, 1.5) + field(4, 3.0))
    return made


def numbers(bounds: list[float], weighted: bool = False, **more: int) -> bytes:
    made = field(1, common(weighted=weighted, **more)) + field(2, 2.5) + field(3, 0.5) + field(4, 1)
    made += field(5, bounds[0]) + field(6, bounds[len(bounds) // 2]) + field(7, bounds[-1])
    made += field(8, histogram(0, bounds, 1)) + field(8, histogram(1, bounds, 1))
    if weighted:
        of_weights = field(4, histogram(0, bounds)) + field(4, histogram(1, bounds))
        made += field(9, field(1, 2.0) + field(2, 1.0) + field(3, 2.0) + of_weights)
    return made


def top(values: list[bytes], number: int, ranks: int) -> bytes:
    made = b"".join(
        field(number, field(2, v) + field(3, 9.0 - i)) for i, v in enumerate(values[:2])
    )
    buckets = [
        field(2, i) + field(1, i) + field(4, v) + field(5, 3.0) for i, v in enumerate(values)
    ]
    return made + field(ranks, b"".join(field(1, b) for b in buckets))


def strings(values: list[bytes], invalid: int = 0, weighted: bool = False) -> bytes:
    made = field(1, common(weighted=weighted)) + field(2, len(values)) + top(values, 3, 5)
    made += real32(4, 2.5) + field(8, invalid)
    return made + (field(6, top(values, 1, 2)) if weighted else b"")


def feature(steps: list[bytes], kind: int, member: int, stats: bytes, named: bool = False) -> bytes:
    path = field(1, b".".join(steps)) if named else field(8, b"".join(field(1, s) for s in steps))
    return path + field(2, kind) + field(member, stats)


def dataset(name: bytes, features: list[bytes], examples: int = 4, weight: float = 0.0) -> bytes:
    made = (field(1, name) if name else b"") + field(2, examples)
    made += b"".join(field(3, f) for f in features)
    return field(1, made + (field(4, weight) if weight else b""))


TEN = [float(i) for i in range(11)]
INFINITE = float("inf")


def features() -> Iterator[tuple[str, bytes]]:
    yield "int", feature([b"i"], INT, NUM, numbers(TEN))
    yield "float", feature([b"f"], FLOAT, NUM, numbers(TEN, weighted=True))
    yield "float-one", feature([b"f"], FLOAT, NUM, numbers([2.5] * 11))
    yield "float-few", feature([b"f"], FLOAT, NUM, numbers([1.0, 2.0, 2.0, 7.0]))
    yield (
        "float-infinite",
        feature([b"f"], FLOAT, NUM, numbers([-INFINITE, -INFINITE, 0.0, INFINITE])),
    )
    yield "float-nan", feature([b"f"], FLOAT, NUM, numbers([float("nan")] * 3))
    yield "float-huge", feature([b"f"], FLOAT, NUM, numbers([-1.7e308, 0.0, 1.7e308]))
    yield "lists", feature([b"l"], INT, NUM, numbers(TEN, levels=3))
    yield "lists-weighted", feature([b"l"], INT, NUM, numbers(TEN, levels=3, weighted=True))
    yield "many", feature([b"m"], INT, NUM, numbers(TEN, present=2**63, missing=2**64 - 1))
    yield "none", feature([b"n"], INT, NUM, field(1, field(2, 4)))
    yield "empty", feature([b"e"], FLOAT, NUM, b"")
    yield "no-stats", field(8, field(1, b"x")) + field(2, STRING)
    yield "no-path", field(2, INT) + field(NUM, numbers(TEN))
    yield "type-of-tomorrow", feature([b"t"], 77, NUM, numbers(TEN))
    yield "string", feature([b"s"], STRING, TEXT, strings([b"a", b"b", "é".encode(), b""]))
    yield "string-weighted", feature([b"s"], STRING, TEXT, strings([b"a", b"b"], weighted=True))
    yield "string-bytes", feature([b"s"], STRING, TEXT, strings([b"__BYTES_VALUE__"], invalid=2))
    yield "string-nul", feature([b"s\0t"], STRING, TEXT, strings([b"a\0b"]))
    yield "string-no-text", feature([b"\xff"], STRING, TEXT, strings([b"\xfe"]))
    yield "int-as-strings", feature([b"i"], INT, TEXT, strings([b"7", b"8"]))
    yield (
        "bytes",
        feature(
            [b"b"],
            BYTES,
            RAW,
            field(1, common())
            + field(2, 3)
            + real32(3, 7.5)
            + real32(4, 2.0)
            + real32(5, 9.0)
            + field(6, 9),
        ),
    )
    yield "struct", feature([b"st"], STRUCT, FIELDS, field(1, common()))
    yield "step", feature([b"st", b"x"], INT, NUM, numbers(TEN))
    yield "step-dot", feature([b"st", b"y.z"], INT, NUM, numbers(TEN))
    yield "dots", feature([b"a..b."], INT, NUM, numbers(TEN))
    yield "named", feature([b"st", b"n"], INT, NUM, numbers(TEN), named=True)


def cases() -> Iterator[tuple[str, bytes]]:
    made = dict(features())
    yield "nothing", b""
    yield "no-features", dataset(b"", [])
    for name, one in made.items():
        yield name, dataset(b"", [one], weight=2.5)
    groups = {
        "nested": ["step", "struct", "step-dot", "named"],
        "twice": ["int", "int"],
        "mixed": ["int", "string", "bytes", "float"],
    }
    for name, chosen in groups.items():
        yield f"group-{name}", dataset(b"All Examples", [made[k] for k in chosen], examples=9)
    slices = [b"s_a", b"s_b_i_1", b"_", b"s", b"s_", b"x" * 200 + b"_", b"_" * 150, b"All Examples"]
    for i, name in enumerate(slices):
        all_rows = dataset(b"All Examples", [made["string"], made["int"]])
        yield f"slice-{i}", all_rows + dataset(name, [made["int"]], examples=2)
        yield f"slice-first-{i}", dataset(name, [made["string"]]) + all_rows
    sound = dataset(b"All Examples", [made["int"], made["string"]])
    for cut in (1, 3, 20, len(sound) - 1):
        yield f"cut-{cut}", sound[:cut]
    yield "unknown-fields", sound + field(9, 1) + field(1, field(77, b"x") + field(5, b"\x0a\x00"))
    yield "wrong-wire-types", field(1, field(1, 5) + field(2, b"x") + field(3, 1.5))
    yield "bad-name", dataset(b"\xff", [])
    yield "bad-length", b"\x0a\xff\xff\xff\xff\x0f"
    yield "group", field(1, b"\x1b\x1b\x1c\x1c")


if __name__ == "__main__":
    corpus_files.write(FOLDER, cases(), corpus_files.noise(6, 5))
