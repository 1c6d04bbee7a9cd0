#!/usr/bin/env python3
"""Writes the corpus of fuzz_encode: corpus/encode/, one small file per case.

A case is the bytes that fuzz_encode.c makes specs and tensors of: flags, rows, the number of
tensors, and those.
"""

import pathlib
import random

import corpus_files

FOLDER = pathlib.Path(__file__).parent / "corpus" / "encode"
DAMAGED = 128
DENSE, VARLEN, SPARSE, RAGGED, STRUCTURED = range(5)
INT64, FLOAT32, BYTES, INT8 = range(4)
UNIFORM, LENGTHS = 1, 128  # partitions
VALUES = bytes([3, 1, 2, 3])  # a pattern of three bytes
NUM_DTYPES = 11


def case(*tensors, rows=3, flags=0, tail=b""):
    return bytes([flags, rows, len(tensors) - 1]) + b"".join(tensors) + tail


def values(dtype):
    return b"\x07" if dtype == BYTES else VALUES


def dense(dtype, *shape):
    return bytes([DENSE, dtype, len(shape), *shape]) + values(dtype)


def varlen(dtype, *lengths):
    return bytes([VARLEN, dtype, *lengths]) + values(dtype)


def sparse(dtype, dims, steps):
    return bytes([SPARSE, dtype, len(dims) - 1, len(steps), *dims, 0, *steps]) + values(dtype)


def ragged(dtype, levels, partitions, lengths, int32=0, in_struct=0):
    head = bytes([RAGGED, dtype, levels - 1, len(partitions), *partitions, *lengths])
    return head + bytes([int32, in_struct]) + values(dtype)


def structured(*fields):
    return bytes([STRUCTURED, 0, len(fields) - 1]) + b"".join(fields)


def sound():
    for dtype in range(NUM_DTYPES):
        yield f"dense-{dtype}", case(dense(dtype, 2, 1))
        yield f"varlen-{dtype}", case(varlen(dtype, 2, 0, 3))
        yield f"sparse-{dtype}", case(sparse(dtype, [4], [0, 64, 1, 0]))
        yield f"ragged-{dtype}", case(ragged(dtype, 1, [], [1, 0, 3]))
    yield "scalars", case(dense(INT64))
    yield "no-values", case(dense(INT64, 0, 3))
    yield "no-rows", case(dense(BYTES, 2), varlen(INT64), ragged(FLOAT32, 2, [], []), rows=0)
    yield "same-index", case(sparse(INT64, [2, 3], [0, 0, 0, 1, 0]))
    yield "open-shape", case(sparse(BYTES, [130, 3, 200], [0, 64, 1, 192]))
    for levels in (1, 2, 3):
        lengths = [1, 2, 0, 3, 1, 0, 2, 1, 1, 2, 0, 1, 3, 1]
        yield f"levels-{levels}", case(ragged(INT64, levels, [], lengths, int32=levels % 2))
        yield f"uniform-{levels}", case(ragged(INT8, levels, [UNIFORM, 2], lengths))
        yield f"lengths-{levels}", case(ragged(BYTES, levels, [LENGTHS], lengths, in_struct=1))
        yield f"both-{levels}", case(ragged(INT64, levels, [LENGTHS, UNIFORM, LENGTHS], lengths))
    inner = structured(dense(INT64), varlen(BYTES, 1, 0, 2))
    yield "structured", case(structured(dense(FLOAT32, 2), inner), dense(INT8))


def damaged():
    whole = case(
        dense(INT64, 2), sparse(INT64, [4], [0, 64, 1]), ragged(BYTES, 2, [], [1, 2, 0, 1])
    )
    source = random.Random(20261121)
    for at in range(3):
        for kind in range(9):
            for which in range(8):
                tail = bytes([at, 0, kind, which, *(source.randrange(256) for _ in range(8))])
                yield f"damaged-{at}-{kind}-{which}", bytes([DAMAGED]) + whole[1:] + tail


if __name__ == "__main__":
    corpus_files.write(
        FOLDER, sound(), damaged(), corpus_files.noise(20, 20261122), [("empty", b"")]
    )
