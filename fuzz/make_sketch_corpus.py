#!/usr/bin/env python3
"""Writes the corpus of fuzz_sketch: corpus/sketch/, one file per case: a byte that picks the kind
of sketch, or one of tfx_bsl's messages, and the message, or the options and the state of the sketch
as src/base/archive.h writes them.

The same files come out of every run.
"""

import pathlib
import random
import struct
from collections.abc import Iterator, Sequence

import corpus_files
from corpus_files import data, u64

FOLDER = pathlib.Path(__file__).parent / "corpus" / "sketch"
DISTINCT, HEAVY, KMV, MOMENTS, HISTOGRAM, CORRELATION, INFORMATION, QUANTILES = range(8)
# 8: misra_gries as it is saved
TFX_KMV, TFX_HEAVY, TFX_MISRA_GRIES, SUMMARY, TFX_STREAM = range(9, 14)
NONE, INT, UINT, FLOAT, BYTES = range(5)

# What the library saves of a few values.
SAVED = {
    MOMENTS: [
        "00030008000304000101000000000000000008c0000000000000004002010000000000000080000000000000"
        "0000020100000000000000400f00000000000000010100060000000000000002010000000000000080fcffff"
        "ffffffffff020100000000000000402500000000000000",
        "000100060001030000000000010000000000000003000000000000000100060000000000000001000e000000"
        "0000000000",
    ],
    HISTOGRAM: [
        "03036c6f7701300468696768023130076275636b6574730133030006000100000101000100",
    ],
    CORRELATION: [
        "00030300060003000100060000000000000001000e0000000000000001000d00000000000000010045000000"
        "0000000001001f0000000000000001000300000000000000",
    ],
    INFORMATION: [
        "020676616c75657303313030047365656401300401000600030002c0b982aacaa68bbfad01b9d3b787eccfd5"
        "c9d9010002f7d5ced19385d8809e01f9bab79fc0e0faeabd0102646501656402",
    ],
    QUANTILES: [
        "03056572726f7203302e31057461696c73046e6f6e650473656564013001000600010103000000000000000c"
        "400000000000000000818080808080808080018380808080808080800115019089dcbd9385bfdd0400000000"
        "0000000000000001000383808080808080808001000000000000f03f81808080808080808001000000000000"
        "e03f828080808080808080010000000000000040",
    ],
}


def double(value: float) -> bytes:
    return struct.pack("<d", value)


def head(options: dict[str, int], family: int, values: int = 5, binary: bool = False) -> bytes:
    named = b"".join(data(name) + data(str(value)) for name, value in options.items())
    counts = u64(2 * values) + u64(2)
    return u64(len(options)) + named + bytes([family, binary]) + counts


def rising(hashes: Sequence[int]) -> bytes:
    steps = [b - a for a, b in zip([0, *hashes], hashes, strict=False)]
    return u64(len(hashes)) + b"".join(map(u64, steps))


def distinct() -> Iterator[tuple[str, bytes]]:
    for precision in (4, 5, 7):
        options = head({"precision": precision, "seed": 3}, INT)
        for count in (0, 1, 24, 25):
            hashes = [(i + 1) * 0x0123456789ABCDEF % 2**64 for i in range(count)]
            yield f"distinct-{precision}-{count}", options + b"\0" + rising(sorted(hashes))
        registers = bytes(
            random.Random(precision).choices([0, 4, 8, 10, 12, 15, 40], k=2**precision)
        )
        yield f"distinct-{precision}-registers", options + b"\1" + data(registers)
        yield f"distinct-{precision}-bad", options + b"\1" + data(b"\5" * 2**precision)


def heavy() -> Iterator[tuple[str, bytes]]:
    texts = [b"", b"a", b"abcdefgh", b"abcdefghi", b"b" * 15]
    cut = [(b"c" * 16, u64(0)), (b"d" * 16, u64(9) + u64(2**63))]
    for size in (1, 2, 9):
        options = {"size": size, "longest": 16, "seed": 0}
        for offset in (0.0, 2.0):
            state = bytes([BYTES]) + double(offset) + u64(len(texts) + len(cut))
            for text in texts:
                state += data(text) + double(3) + double(offset)
            for text, more in cut:
                state += data(text) + more + double(3) + double(offset)
            yield f"heavy-{size}-{offset}", head(options, BYTES) + state
        for family in (NONE, INT, UINT, FLOAT):
            counters = [] if family == NONE else [(0, 1.5), (1 << 62, 2.0)]
            state = bytes([family]) + double(0) + u64(len(counters))
            state += b"".join(u64(bits) + double(w) + double(0) for bits, w in counters)
            yield f"heavy-{size}-{family}", head(options, family, 5 * (family > 0)) + state
            yield f"heavy-{size}-{family}-other", head(options, BYTES) + state


def kmv() -> Iterator[tuple[str, bytes]]:
    for buckets in (1, 3, 100):
        for count in (0, 1, 3, 4):
            hashes = rising([i << 60 for i in range(count)])
            yield f"kmv-{buckets}-{count}", head({"buckets": buckets}, BYTES) + hashes


def field(number: int, value: int | bytes | float) -> bytes:
    if isinstance(value, int):
        return u64(number << 3) + u64(value)
    if isinstance(value, float):
        return u64(number << 3 | 1) + double(value)
    return u64(number << 3 | 2) + data(value)


def messages() -> Iterator[tuple[int, str, bytes]]:
    for count in range(3):
        hashes = b"".join(struct.pack("<Q", (i + 1) << 50) for i in range(count))
        limit = b"\x19" + (b"\xff" * 8 if count < 2 else hashes[-8:])
        message = field(1, 2) + field(2, hashes) + limit + field(4, count + 1)
        yield TFX_KMV, f"tfx-kmv-{count}", message
    numbers = {1: b"x", 2: b"-0x1.8p-3", 3: b"-77"}
    for kind, text in numbers.items():
        for delta in (0.0, 2.5):
            message = field(1, 3) + field(2, text) + field(3, double(4.0)) + field(4, delta)
            message += field(7, 2**64 - 1) + field(9, b"extra") + field(11, kind) + field(12, 1)
            yield TFX_HEAVY, f"tfx-heavy-{kind}-{delta}", message
            yield TFX_MISRA_GRIES, f"tfx-misra-gries-{kind}-{delta}", message


def summaries() -> Iterator[tuple[int, str, bytes]]:
    for rows in (0, 1, 3):
        entries = [(float(i), 1.0, float(i), float(i + 1)) for i in range(rows)]
        buffer = entries[:1]
        options = u64(2) + data(b"error") + data(b"0.3") + data(b"most") + data(b"9")
        state = double(0.1) + b"\1" + u64(len(buffer))
        state += b"".join(double(number) for entry in buffer for number in entry[:2])
        state += u64(2) + u64(0) + u64(rows)
        state += b"".join(double(number) for entry in entries for number in entry)
        yield SUMMARY, f"summary-{rows}", options + bytes([FLOAT, 0]) + u64(8) + u64(0) + state
        columns = [b"".join(double(entry[k]) for entry in entries) for k in range(4)]
        summary = b"".join(field(k + 1, column) for k, column in enumerate(columns))
        held = b"".join(field(k + 1, column[:8]) for k, column in enumerate(columns[:2]))
        stream = field(1, b"") + field(1, summary) + field(1, b"") + field(2, held)
        stream += field(3, 0.1) + field(4, 9) + field(5, 1)
        yield TFX_STREAM, f"tfx-stream-{rows}", field(1, stream)


def cases() -> Iterator[tuple[str, bytes]]:
    for kind, made in ((DISTINCT, distinct()), (HEAVY, heavy()), (KMV, kmv())):
        for name, saved in made:
            yield name, bytes([kind]) + saved
    for kind, texts in SAVED.items():
        for i, text in enumerate(texts):
            yield f"saved-{kind}-{i}", bytes([kind]) + bytes.fromhex(text)
    for kind, name, message in (*messages(), *summaries()):
        yield name, bytes([kind]) + message


if __name__ == "__main__":
    corpus_files.write(FOLDER, cases(), corpus_files.noise(6, 5))
