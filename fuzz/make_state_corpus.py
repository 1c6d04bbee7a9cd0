#!/usr/bin/env python3
"""Writes the corpus of fuzz_state: corpus/state/, one file per case: a byte that picks the
accumulator, and a state of it as src/base/archive.h writes one.

The same files come out of every run.
"""

import itertools
import pathlib
import random
import struct
from collections.abc import Iterator, Sequence

from corpus_files import data, u64

FOLDER = pathlib.Path(__file__).parent / "corpus" / "state"
INFERENCE, PROPOSAL, VALIDATION, COUNTS, LOOKING = b"\0", b"\1", b"\2", b"\3", b"\4"
LISTS = b"\5"
STATISTICS = b"\6"
UNKNOWN, BYTES, INT, FLOAT, STRUCT = range(5)
MAX_DOMAIN = 3
# Of the target's schema: the root and three features, and as many kinds of faults as each has.
FEATURES, FAULTS, REASONS = 3, 9, 11


# What the library saves, with the options of the target, of a few rows.
SAVED_STATISTICS = {
    "empty": "0000000000000000",
    "ints": (
        "0300000101610203020200000000000001020000000000010000000000000003000000000000000100040000"
        "000000000001000a000000000000000001010200000000000000004000000000000000008180808080808080"
        "8001838080808080808080010000ab86c48583d7bff456000000000000000000000001028180808080808080"
        "800102000002a395f4ccc4c0f8ee73d4c0da84cfc4df912a0100000000000000000201000000000000f03f00"
        "0000000000000003000000000000f03f000000000000000000000000"
    ),
    "floats": (
        "0300000201670603020200000000000001020000000000010000000000000001000000000000000100020000"
        "00000000000100020000000000000000000002d3d4f9d68f9ed7ea52e695d4b394da9fa80d04000000000000"
        "0000020170000000000000f03f00000000000000000171000000000000f03f00000000000000000161040303"
        "0300000000000003030000010100000000000000f83f000000000000f83f0201000000000000008001000000"
        "0000000002010000000000000040020000000000000000010303010000000000000040000000000000f03f80"
        "808080808080fcbf0180808080808080f8ff0100008080a09b858080b4530000000000000000000000010280"
        "808080808080fcbf0180808080808080fc3f0000038fc6cd8d93efa9e979ae8192c7f0f2b9e604a8e986c9bd"
        "94b3e43600000000000000000000020202700001000002016706010101000000000000010100000000000100"
        "0000000000000100000000000000010001000000000000000100010000000000000000000001b9eacd8aa4f8"
        "f69260040000000000000000010170000000000000f03f000000000000000001610401010100000000000003"
        "010000000000000000000000f83f000000000000f83f02010000000000000080010000000000000002010000"
        "00000000004002000000000000000001030100000000000000f03f000000000000000080808080808080fcbf"
        "0180808080808080fcbf0100008080a09b858080b4530000000000000000000000010180808080808080fcbf"
        "010000018fc6cd8d93efa9e97900000000000000000000027100010000020167060101010000000000000101"
        "0000000000010000000000000001000000000000000100010000000000000001000100000000000000000000"
        "01d3d4f9d68f9ed7ea52040000000000000000010171000000000000f03f0000000000000000016104010101"
        "0000000000000301000001000000000000000000000000000000000000000000000001030101000000000000"
        "0000000000000000f03f000000000000000000000000000000000100000001bdc7dfd483e2e3cf7e00000000"
        "000000000000000296c6c3b4f9a996818f018f8fbae591c0e5f656"
    ),
    "bytes": (
        "0300000201670203020200010002010200020000000001020000000000010000000000000002000000000000"
        "0001000300000000000000010005000000000000000001010200000000000000004000000000000000008180"
        "8080808080808001828080808080808080010000ab86c48583d7bff456000000000000000000000001028180"
        "808080808080800101000002f9bab79fc0e0faea3dfe9a97b2d3a4dd95600100000000000000000201000000"
        "000000f03f000000000000000002000000000000f03f00000000000000000162070302020100000000000102"
        "0000000000010000000000000001000000000000000100020000000000000001000200000000000000000000"
        "02cde1f5ac9ebe88cb17be87b3e4e8bbf4b106040000000000000000020178000000000000f03f0000000000"
        "00000001ff000000000000f03f00000000000000000202023200010000020167020101020001000100020202"
        "0000000001020000000000010000000000000002000000000000000100030000000000000001000500000000"
        "0000000001010200000000000000004000000000000000008180808080808080800182808080808080808001"
        "0000ab86c48583d7bff456000000000000000000000001028180808080808080800101000002f9bab79fc0e0"
        "faea3dfe9a97b2d3a4dd95600100000000000000000201000000000000f03f00000000000000000200000000"
        "0000f03f00000000000000000162070101010100000000000101000000000001000000000000000100000000"
        "000000010001000000000000000100010000000000000000000001cde1f5ac9ebe88cb170400000000000000"
        "000101ff000000000000f03f0000000000000000023100010000020167020101020001000100020202000000"
        "0001020000000000010000000000000002000000000000000100030000000000000001000500000000000000"
        "00010102000000000000000040000000000000000081808080808080808001828080808080808080010000ab"
        "86c48583d7bff456000000000000000000000001028180808080808080800101000002f9bab79fc0e0faea3d"
        "fe9a97b2d3a4dd95600100000000000000000201000000000000f03f000000000000000002000000000000f0"
        "3f00000000000000000162070101010100000000000101000000000001000000000000000100000000000000"
        "010001000000000000000100010000000000000000000001cde1f5ac9ebe88cb170400000000000000000101"
        "ff000000000000f03f00000000000000000002c6df90e4b6c3b6a065c6f8d3a09ee6c3de49"
    ),
    "structs": (
        "0300000201730803020100010002010200020000000000000000000000000000000000000000000000000000"
        "0000000000000000000000000000000000000003730078020101020001000100020202000000000102000000"
        "0000010000000000000002000000000000000100030000000000000001000500000000000000000101020000"
        "00000000000040000000000000000081808080808080808001828080808080808080010000ab86c48583d7bf"
        "f456000000000000000000000001028180808080808080800101000002f9bab79fc0e0faea3dfe9a97b2d3a4"
        "dd95600100000000000000000201000000000000f03f000000000000000002000000000000f03f0000000000"
        "00000000000000"
    ),
    "slices": (
        "0700000201670607070700000000000001070000000000010000000000000001000000000000000100070000"
        "000000000001000700000000000000000000078e8195d1cecaaaff21abd2a2b69d85abca37efa19fc6b9adbf"
        "dd418492a5f1acc4f3de0794b286ebf7e482b90ae8e2ac90f7ba829002f1c4f9f79b94b19829040000000000"
        "00f03f020166000000000000f03f000000000000f03f0167000000000000f03f000000000000f03f01610307"
        "070700000000000002070100000000000000000000000006000000000000000100150000000000000001005b"
        "0000000000000000010207000000000000001c40000000000000000000060000000000000000000000000000"
        "0107000101010101010000079dd2bdb9c18bebb911dce8f9e5fed48fb12cc6eebbdaafe4e5a50ae4eb80d3d4"
        "fb97de2bd4c0da84cfc4df912a92fceecbd9e0c1af1995d8efec91a09eb91e02000000000000f03f02050000"
        "00000000f03f000000000000f03f06000000000000f03f000000000000f03f07030263000100000201670601"
        "0101000000000000010100000000000100000000000000010000000000000001000100000000000000010001"
        "00000000000000000000018e8195d1cecaaaff21040000000000000000010163000000000000f03f00000000"
        "0000000001610301010100000000000002010000000000020000000000000002000000000000000100020000"
        "0000000000010004000000000000000001020100000000000000f03f000000000000000002020000d68c888b"
        "86aeffe8ad010000000000000000000000010102000001f9bab79fc0e0faea3d020000000000000000010200"
        "0000000000f03f00000000000000000264000100000201670601010100000000000001010000000000010000"
        "00000000000100000000000000010001000000000000000100010000000000000000000001ac87fcbed2c188"
        "86a301040000000000000000010164000000000000f03f000000000000000001610301010100000000000002"
        "0100000000000300000000000000030000000000000001000300000000000000010009000000000000000001"
        "020100000000000000f03f0000000000000000030300009089dcbd9b85bfdd84010000000000000000000000"
        "010103000001a395f4ccc4c0f8ee730200000000000000000103000000000000f03f00000000000000000265"
        "0001000002016706010101000000000000010100000000000100000000000000010000000000000001000100"
        "0000000000000100010000000000000000000001a8f5d6cda5fd94a79b010400000000000000000101650000"
        "00000000f03f0000000000000000016103010101000000000000020100000000000400000000000000040000"
        "000000000001000400000000000000010010000000000000000001020100000000000000f03f000000000000"
        "000004040000ad9990969cdcfed15b00000000000000000000000101040000019dd2bdb9c18bebb911020000"
        "0000000000000104000000000000f03f00000000000000000007bce98ac1f887a1f72aedca9a88f0fa92ce02"
        "9b9abccad5adf5de0acbd1e8ab97ff89e039d6cdd3c2b3d192a91cd4a793f4c3e0fecf0e95e196cebef9a0db"
        "59"
    ),
    "bools": (
        "0200000101740102020200000000000001020100000000000000000000000001000000000000000100010000"
        "0000000000010001000000000000000001010200000000000000004000000000000000008080808080808080"
        "8001818080808080808080010000ab86c48583d7bff456000000000000000000000001028080808080808080"
        "800101000002bfa9f3f9efc4e09048b8acdbd7a3c0f7ef550100000000000000000200000000000000f03f00"
        "0000000000000001000000000000f03f000000000000000000000000"
    ),
}


def i64(value: int) -> bytes:
    return u64(value << 1 if value >= 0 else (-value << 1) - 1)


def double(value: float) -> bytes:
    return struct.pack("<d", value)


def place(file: str = "f", record: int = 3, offset: int = -1) -> bytes:
    return data(file) + i64(record) + i64(offset)


def lengths(present: int = 0, least: int = 0, most: int = 0) -> bytes:
    return u64(present) + i64(least) + i64(most)


Feature = tuple[str, int, tuple[int, int, int]]


def feature(name: str, kind: int, lists: tuple[int, int, int], children: bytes = b"") -> bytes:
    head = data(name) + b"\1\0" + u64(kind) + place()
    return head + lengths(*lists) + lengths(2, 1, 4) + u64(1) + children


def inference(records: int, *features: bytes) -> bytes:
    return u64(records) + u64(len(features)) + b"".join(features)


def whole(records: int, *features: bytes) -> bytes:
    """One that does not look at values."""
    return b"\0" + inference(records, *features)


def typical() -> list[bytes]:
    """Features as they often are, and what goes together."""
    return [
        feature("a", INT, (5, 1, 1)),
        feature("b", BYTES, (3, 0, 7)),
        feature("f", FLOAT, (5, 2, 2)),
        feature("n", UNKNOWN, (0, 0, 0)),
        feature("p_index", INT, (5, 0, 3)),
        feature("p_value", FLOAT, (5, 0, 3)),
        feature("q", INT, (5, 1, 4)),
        feature("q_lengths", INT, (5, 1, 2)),
        feature("s", STRUCT, (0, 0, 0), inference(5, feature("x", INT, (4, 1, 2)))),
    ]


def numbers(values: Sequence[int], reals: Sequence[float]) -> bytes:
    return b"".join(i64(v) + double(r) for v, r in zip(values, reals, strict=True))


def profile(
    name: str, count: int, flags: bytes, strings: Sequence[str] | None, parts: bytes | None = None
) -> bytes:
    kept = [] if strings is None else strings
    out = data(name) + u64(count) + flags
    out += numbers((0, 4, 0, 4), (0.5, 2.0, 0.5, 2.0))
    out += bytes([strings is None]) + u64(len(kept)) + b"".join(data(v) for v in kept)
    return out + (b"\1" + parts if parts is not None else b"\0")


# nulls, NaN, beyond, unsigned, rises, falls, ints, floats
INTS = bytes([0, 0, 0, 0, 1, 0, 1, 0])
REALS = bytes([0, 0, 0, 0, 0, 0, 0, 1])
TEXTS = bytes(8)


def profiles(*items: bytes, pairs: bytes = b"") -> bytes:
    return u64(len(items)) + b"".join(items) + pairs


def proposal(features: Sequence[bytes], found: bytes) -> bytes:
    return PROPOSAL + u64(MAX_DOMAIN) + whole(5, *features) + found


def finding(count: int, *places: tuple[int, str]) -> bytes:
    out = u64(count) + u64(len(places))
    for row, found in places:
        out += u64(row) + place(record=row) + data(found)
    return out


NOTHING = finding(0)


def tally(
    counts: Sequence[int] = (9, 7, 5, 2),
    *,
    types: str = "",
    hashes: Sequence[int] = (),
    at: int = -1,
) -> bytes:
    out = b"\0" + b"".join(u64(c) for c in counts) + b"\1"
    out += b"\1" + i64(-4) + i64(40) + b"\1" + double(-1.5) + double(9.0) + b"\1" + i64(0) + i64(3)
    out += data(types) + b"\0" + u64(len(hashes)) + b"".join(u64(h) for h in hashes)
    bad = finding(2, (1, "7"), (4, "8 values"))
    return out + b"".join(bad if k == at else NOTHING for k in range(FAULTS))


def tensor(column: str | None = None, problem: str = "") -> bytes:
    out = data(problem)
    for _ in range(REASONS):
        out += b"\1" + i64(12) + i64(9) + (b"\0" if column is None else b"\1" + data(column))
    return out + finding(1, (2, "x")) * REASONS


def unexpected(*names: str) -> bytes:
    out = b""
    for name in names:
        out += data("\0" + name) + data(name) + data("INT") + b"\0" + finding(1, (0, "INT"))
    return NOTHING + u64(len(names)) + out


def lost(*kinds: str) -> bytes:
    out = b"".join(data(kind) + finding(3, (0, "gone"), (0, "")) for kind in kinds)
    return u64(len(kinds)) + out


def validation(
    tallies: Sequence[bytes], tensors: bytes, others: bytes = b"", gone: bytes = b""
) -> bytes:
    head = VALIDATION + u64(9) + b"".join([tally((0, 0, 0, 0)), *tallies])
    return head + tensors + (others or unexpected()) + (gone or lost())


def validations() -> Iterator[tuple[str, bytes]]:
    plain = [tally() for _ in range(FEATURES)]
    yield "validation", validation(plain, tensor() * 2)
    for at, fault in itertools.product(range(FEATURES), range(FAULTS)):
        tallies = [*plain]
        tallies[at] = tally(types="FLOAT", hashes=(3, 5), at=fault)
        yield f"validation-{at}-{fault}", validation(tallies, tensor() * 2)
    yield "validation-column", validation(plain, tensor("a", "no such type") * 2)
    yield "validation-no-column", validation(plain, tensor("nowhere") * 2)
    yield "validation-unexpected", validation(plain, tensor() * 2, unexpected("k", "l", "m"))
    yield "validation-twice", validation(plain, tensor() * 2, unexpected("k", "k"))
    yield "validation-lost", validation(plain, tensor() * 2, gone=lost("record", "data-crc"))
    yield "validation-lost-many", validation(plain, tensor() * 2, gone=lost(*"abcdefghi"))
    yield "validation-counts", validation([tally((1, 2, 3, 4))] * FEATURES, tensor() * 2)
    most = (2**64 - 1,) * 4
    yield "validation-most", validation([tally(most)] * FEATURES, tensor() * 2)
    yield "validation-none", validation([tally((0, 0, 0, 0))] * FEATURES, tensor() * 2)


def counts(rows: int, *columns: tuple[bytes, int, int]) -> bytes:
    listed = b"".join(data(key) + u64(there) + u64(values) for key, there, values in columns)
    return COUNTS + u64(rows) + u64(len(columns)) + listed


def all_counts() -> Iterator[tuple[str, bytes]]:
    yield "counts", counts(5, (b"a", 5, 9), (b"s", 4, 4), (b"s\0x", 3, 0), (b"", 0, 0))
    yield "counts-empty", counts(0)
    yield "counts-twice", counts(5, (b"a", 5, 9), (b"a", 5, 9))
    yield "counts-above", counts(5, (b"a", 6, 9))
    yield "counts-most", counts(2**64 - 1, (b"a", 2**64 - 1, 2**64 - 1))


def measured(rows: int, *lists: tuple[bytes, int, int, int, int, int, int]) -> bytes:
    """Of each: path and level, nulls, lists, empty ones, items, least and most."""
    of_all = (data(key) + b"".join(map(u64, numbers)) for key, *numbers in lists)
    return LISTS + u64(rows) + u64(len(lists)) + b"".join(of_all)


def all_lengths() -> Iterator[tuple[str, bytes]]:
    yield "lengths", measured(5, (b"a\1", 0, 4, 1, 7, 0, 3), (b"s\0x\2", 2, 9, 0, 9, 1, 1))
    yield "lengths-empty", measured(0)
    yield "lengths-twice", measured(5, (b"a\1", 0, 4, 1, 7, 0, 3), (b"a\1", 0, 4, 1, 7, 0, 3))
    yield "lengths-above", measured(5, (b"a\1", 0, 6, 1, 7, 0, 3))
    yield "lengths-no-level", measured(5, (b"", 0, 4, 1, 7, 0, 3))
    yield "lengths-level", measured(5, (b"a\xff", 0, 4, 1, 7, 0, 3))
    yield "lengths-range", measured(5, (b"a\1", 0, 4, 1, 7, 3, 2))
    most = 2**64 - 1
    yield "lengths-most", measured(most, (b"a\2", most, most, most, most, most, most))


def cases() -> Iterator[tuple[str, bytes]]:
    yield "inference-empty", INFERENCE + whole(0)
    yield "inference", INFERENCE + whole(5, *typical())
    for i, one in enumerate(typical()):
        yield f"inference-{i}", INFERENCE + whole(5, one)
    yield "inference-twice", INFERENCE + whole(5, *typical()[:1] * 2)
    yield "inference-most", INFERENCE + whole(2**64 - 1, feature("a", INT, (2**64 - 1, 1, 1)))
    yield "inference-range", INFERENCE + whole(5, feature("a", INT, (5, 4, 1)))
    deep = inference(1, feature("x", STRUCT, (0, 0, 0), inference(1, *typical()[:1])))
    yield "inference-deep", INFERENCE + whole(5, feature("s", STRUCT, (0, 0, 0), deep))
    found = [
        profile("a", 5, INTS, None),
        profile("b", 9, TEXTS, ["x", "y"]),
        profile("f", 10, REALS, None),
        profile("p_index", 4, INTS, None),
        profile("p_value", 4, REALS, None),
        profile("q", 6, INTS, None),
        profile("q_lengths", 6, INTS, None),
        profile("s", 0, TEXTS, None, profiles(profile("x", 3, INTS, None))),
    ]
    for flags in itertools.product((0, 1), repeat=2):
        pairs = bytes(flags) * 2
        name = "proposal-" + "".join(map(str, flags))
        yield name, proposal(typical(), profiles(*found, pairs=pairs))
    yield "proposal-empty", proposal([], profiles())
    yield "proposal-no-profiles", proposal(typical(), profiles())
    yield "proposal-no-features", proposal([], profiles(*found, pairs=b"\1" * 4))
    yield "proposal-many", proposal(typical(), profiles(profile("b", 9, TEXTS, list("wxyz"))))
    yield "proposal-same", proposal(typical(), profiles(profile("b", 9, TEXTS, ["x", "x"])))
    nested = profiles()
    for _ in range(120):
        nested = profiles(profile("s", 0, TEXTS, None, nested))
    yield "proposal-deep", proposal(typical(), nested)
    yield "inference-values", LOOKING + b"\1" + inference(5, *typical())
    yield from validations()
    yield from all_counts()
    yield from all_lengths()
    for name, saved in SAVED_STATISTICS.items():
        state = bytes.fromhex(saved)
        yield f"statistics-{name}", STATISTICS + state
        yield f"statistics-{name}-cut", STATISTICS + state[: len(state) * 2 // 3]
    rng = random.Random(5)
    for i in range(6):
        yield f"noise-{i}", bytes(rng.randrange(256) for _ in range(rng.randrange(4, 60)))


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for old in FOLDER.iterdir():
        old.unlink()
    for name, content in cases():
        (FOLDER / name).write_bytes(content)
    print(f"{len(list(FOLDER.iterdir()))} files")


if __name__ == "__main__":
    main()
