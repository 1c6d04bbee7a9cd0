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

FOLDER = pathlib.Path(__file__).parent / "corpus" / "state"
INFERENCE, PROPOSAL, VALIDATION, COUNTS, LOOKING = b"\0", b"\1", b"\2", b"\3", b"\4"
LISTS = b"\5"
UNKNOWN, BYTES, INT, FLOAT, STRUCT = range(5)
MAX_DOMAIN = 3
# Of the target's schema: the root and three features, and as many kinds of faults as each has.
FEATURES, FAULTS, REASONS = 3, 9, 11


def u64(value: int) -> bytes:
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def i64(value: int) -> bytes:
    return u64(value << 1 if value >= 0 else (-value << 1) - 1)


def data(value: bytes | str) -> bytes:
    value = value.encode() if isinstance(value, str) else value
    return u64(len(value)) + value


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
