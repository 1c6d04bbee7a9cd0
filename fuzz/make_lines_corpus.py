#!/usr/bin/env python3
"""Writes the corpus of fuzz_lines: corpus/lines/, one small file per case."""

import pathlib

import corpus_files

FOLDER = pathlib.Path(__file__).parent / "corpus" / "lines"


def sound():
    ends = {"lf": b"\n", "crlf": b"\r\n", "cr": b"\r", "mixed": b"\r\n\n"}
    for name, end in ends.items():
        for count in (0, 1, 2, 9):
            text = b"".join(b"line %d" % i + end for i in range(count))
            yield f"{name}-{count}", text
            yield f"{name}-{count}-last", text + b"last"
        yield f"{name}-empty", end * 5
        yield f"{name}-first", end + b"a"
    for size in (98, 99, 100, 101, 102, 300):
        yield f"size-{size}", b"a" * size
        yield f"size-{size}-lf", b"a" * size + b"\nnext\n"
        yield f"size-{size}-crlf", b"a" * size + b"\r\nnext"
    yield "cr-at-end", b"a\r"
    yield "cr-cr-lf", b"a\r\r\nb"
    yield "binary", bytes(range(256))
    yield "json", b'{"a": 1}\n{"a": 2}\n'
    yield "nul", b"\x00\n\x00"


corpus_files.write(FOLDER, sound(), corpus_files.noise(20, 2))
