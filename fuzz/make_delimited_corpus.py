#!/usr/bin/env python3
"""Writes the corpus of fuzz_delimited: corpus/delimited/, one small file per case."""

import pathlib

import corpus_files

FOLDER = pathlib.Path(__file__).parent / "corpus" / "delimited"


def varint(value, least=1):
    out = bytearray()
    while value > 127 or len(out) + 1 < least:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def record(payload):
    return varint(len(payload)) + payload


def length(kind, text):
    return bytes([kind]) + record(text)


def example(names):
    features = b"".join(
        length(0x0A, length(0x0A, name) + length(0x12, length(0x1A, length(0x0A, b"\x01\x02"))))
        for name in names
    )
    return length(0x0A, features)


def sound():
    yield "empty", b""
    for size in (0, 1, 2, 99, 100, 101, 127, 128, 129, 300):
        yield f"record-{size}", record(b"a" * size)
        yield f"three-{size}", record(b"a" * size) * 3
    for count in range(1, 11):
        yield f"examples-{count}", b"".join(record(example([b"n" * i])) for i in range(count))
    for bytes_ in range(2, 11):
        yield f"long-length-{bytes_}", varint(3, bytes_) + b"abc" + record(b"next")


def damaged():
    whole = record(example([b"a", b"b"])) + record(b"") + record(b"x" * 50)
    for at in (1, 2, 10, 20, 21, 22, 40, len(whole) - 1):
        yield f"cut-{at}", whole[:at]
    for bits in (7, 14, 28, 31, 32, 56, 63):
        yield f"length-2-{bits}", record(b"a") + varint(2**bits) + b"some bytes"
    for bytes_ in (9, 10, 11, 20):
        yield f"ones-{bytes_}", record(b"a") + b"\xff" * bytes_ + b"\x01" + record(b"b")
    yield "zeros", bytes(100)


corpus_files.write(FOLDER, sound(), damaged(), corpus_files.noise(10, 1))
