#!/usr/bin/env python3
"""Writes the corpus of fuzz_arrow: corpus/arrow/, one small file per case.

The language is that of fuzz_arrow.c. The same files come out of every run.
"""

import pathlib
import struct

import corpus_files

FOLDER = pathlib.Path(__file__).parent / "corpus" / "arrow"

KINDS = [
    "n",
    "b",
    "c",
    "C",
    "s",
    "S",
    "i",
    "I",
    "l",
    "L",
    "f",
    "g",
    "e",
    "z",
    "Z",
    "u",
    "U",
    "vz",
    "vu",
    "w:3",
    "w:0",
    "+l",
    "+L",
    "+m",
    "+vl",
    "+vL",
    "+w:2",
    "+w:0",
    "+s",
    "tsu:",
    "?",
    "+w:",
    "w:9x",
    "-",
]
CHILDREN = {"+l", "+L", "+m", "+vl", "+vL", "+w:2", "+w:0", "+w:"}
VALIDITY, COUNTS, LENGTHS, NO_BUFFER, NULL_COUNT, MISALIGNED, DICTIONARY, RELEASED = (
    1 << i for i in range(8)
)
DENSE, DENSE_2, DENSE_OR, VARLEN, SPARSE, SPARSE_2, RAGGED, UNIFORM, LENGTH, LENGTH_2 = range(10)
NONE = 31
INT, FLOAT, BYTES = 0, 10, 20
PADDED = 32  # by one length; 64 and 96: by two and three
DAMAGED = 128


def fill(*pattern):
    return bytes([len(pattern), *pattern])


def node(kind, length, buffers=b"", children=(), offset=0, flags=0, validity=b"", extra=b""):
    """One node; `buffers` as the kind reads them, `extra` what the flags ask for."""
    count = bytes([len(children)]) if kind == "+s" else b""
    return (
        bytes([KINDS.index(kind), flags, length, offset])
        + buffers
        + validity
        + count
        + b"".join(children)
        + extra
    )


def steps(step):
    return bytes([step])


def entries(*values):
    return bytes([128]) + b"".join(struct.pack("<h", value) for value in values)


def number(kind, length, *pattern, **more):
    return node(kind, length, fill(*pattern), **more)


def strings(kind, length, step, *pattern, **more):
    return node(kind, length, steps(step) + fill(*pattern), **more)


def lists(kind, length, step, item, **more):
    buffers = steps(step) if kind in ("+l", "+L", "+m") else b""
    if kind in ("+vl", "+vL"):
        buffers = steps(step) + bytes([step]) + steps(0)  # offsets; then all sizes are `step`
    return node(kind, length, buffers, [item], **more)


def batch(tensor, *columns, **more):
    rows = more.pop("rows", 3)
    return bytes([tensor | more.pop("damaged", 0)]) + node("+s", rows, b"", columns, **more)


def leaves(length):
    yield "int8", number("c", length, 1, 2, 3)
    yield "int64", number("l", length, 1, 0, 0, 0, 0, 0, 0, 0)
    yield "uint64", number("L", length, 255)
    yield "float32", number("f", length, 0, 0, 128, 63)
    yield "float64", number("g", length, 0, 0, 0, 0, 0, 0, 248, 63)
    yield "binary", strings("z", length, 2, 255, 254)
    yield "large-string", strings("U", length, 1, 97)
    yield "string", strings("u", length, 2, 195, 164)
    yield "fixed-binary", number("w:3", length, 1, 2, 3)
    yield "null", node("n", length)


def family(name):
    if name.startswith("float"):
        return FLOAT
    return BYTES if "binary" in name or "string" in name else INT


def sound():
    for name, leaf in leaves(12):
        for kind in ("+l", "+L", "+vl", "+vL"):
            for label, tensor, step in (
                ("dense", DENSE_2, 2),
                ("default", DENSE_OR, 1),
                ("varlen", VARLEN, 2),
                ("ragged", RAGGED, 3),
            ):
                yield (
                    f"{label}-{kind[1:]}-{name}",
                    batch(family(name) + tensor, lists(kind, 3, step, leaf)),
                )
        for kind, label, tensor in (("+L", "varlen", VARLEN), ("+vl", "ragged", RAGGED)):
            yield (
                f"padded-{label}-{name}",
                batch(PADDED + family(name) + tensor, lists(kind, 3, 2, leaf)),
            )
        yield f"flat-{name}", batch(family(name) + VARLEN, node_of(leaf, 3))
        yield f"fixed-{name}", batch(family(name) + DENSE_2, lists("+w:2", 3, 0, leaf))
    ints = number("l", 12, 1, 0, 0, 0, 0, 0, 0, 0)
    pair = lists("+L", 3, 2, ints)
    yield "sparse", batch(INT + SPARSE, pair, pair)
    yield "padded-sparse", batch(PADDED + INT + SPARSE_2, pair, pair, pair)
    yield "sparse-2", batch(INT + SPARSE_2, pair, pair, pair)
    yield "sparse-unsorted", batch(INT + SPARSE, pair, lists("+l", 3, 2, number("c", 6, 5, 3, 1)))
    yield "uniform", batch(INT + UNIFORM, pair)
    yield "length", batch(INT + LENGTH, pair, pair, pair)
    yield "length-2", batch(INT + LENGTH_2, pair, pair, pair, pair)
    yield "nested", batch(INT + RAGGED, lists("+L", 3, 1, lists("+l", 6, 2, ints)))
    yield (
        "padded-nested",
        batch(2 * PADDED + INT + RAGGED, lists("+L", 3, 1, lists("+l", 6, 2, ints))),
    )
    yield "padded-length", batch(2 * PADDED + INT + LENGTH, pair, pair, pair)
    yield (
        "views",
        batch(
            BYTES + VARLEN,
            node(
                "vz",
                3,
                bytes([1, 40]) + fill(97, 98, 99) + bytes([20, 0, 3, 13, 0, 5, 2]) + fill(120),
            ),
        ),
    )
    for rows in (0, 1, 5):
        yield f"rows-{rows}", batch(INT + VARLEN, lists("+L", 5, 1, ints), rows=rows)
    for offset in range(4):
        yield (
            f"offset-{offset}",
            batch(INT + RAGGED, lists("+L", 5, 1, ints), rows=2, offset=offset, flags=0),
        )
    yield (
        "validity",
        batch(INT + VARLEN, node("+L", 3, steps(0), [ints], flags=VALIDITY, validity=fill(5))),
    )
    yield (
        "hidden-values",
        batch(INT + RAGGED, node("+L", 3, steps(2), [ints], flags=VALIDITY, validity=fill(5))),
    )
    yield (
        "map",
        batch(
            NONE, lists("+m", 3, 1, node("+s", 3, b"", [strings("u", 3, 1, 97), number("l", 3, 1)]))
        ),
    )


def node_of(leaf, length):
    return leaf[:2] + bytes([length]) + leaf[3:]


def damaged():
    ints = number("l", 12, 1, 0, 0, 0, 0, 0, 0, 0)
    for kind in KINDS:
        body = b"" if kind in ("n", "?", "w:9x", "-") else fill(1)
        item = [ints] if kind in CHILDREN else []
        for bit in range(8):
            flags = 1 << bit
            extra = {
                COUNTS: bytes([1, 1, 0]),
                LENGTHS: struct.pack("<qq", -1, 2**62),
                NO_BUFFER: bytes([1]),
                NULL_COUNT: bytes([2]),
            }.get(flags, b"")
            data = node(kind, 3, body, item, flags=flags, extra=extra)
            yield (
                f"damaged-{KINDS.index(kind)}-{bit}",
                bytes([DAMAGED | VARLEN]) + node("+s", 3, b"", [data]),
            )
    wrong = DAMAGED | VARLEN
    yield "decreasing", batch(wrong, node("+L", 3, entries(0, 2, 1, 3), [ints]))
    yield "negative", batch(wrong, node("+L", 3, entries(-1, 0, 1, 3), [ints]))
    yield "past-the-end", batch(wrong, node("+L", 3, entries(0, 1, 2, 13), [ints]))
    yield "short-child", batch(wrong, number("l", 2, 1), rows=3)
    yield "bad-utf8", batch(wrong, strings("u", 3, 1, 195, 40))
    yield "cut-utf8", batch(wrong, strings("u", 3, 1, 195, 164))
    yield (
        "view-past-the-end",
        batch(wrong, node("vu", 1, bytes([1, 20]) + fill(97) + bytes([30, 0, 0]))),
    )
    yield "view-buffer", batch(wrong, node("vu", 1, bytes([1, 20]) + fill(97) + bytes([15, 7, 0])))
    yield "view-negative", batch(wrong, node("vz", 1, bytes([0, 200]) + fill(97)))
    yield "wrong-type", batch(FLOAT + VARLEN, ints)
    yield "wrong-size", batch(INT + DENSE_2, lists("+L", 3, 1, ints))
    yield (
        "wrong-lengths",
        batch(INT + LENGTH, lists("+L", 3, 2, ints), ints, lists("+L", 3, 1, ints)),
    )
    yield (
        "wrong-index",
        batch(INT + SPARSE, lists("+L", 3, 1, ints), lists("+L", 3, 1, number("l", 3, 99))),
    )
    deep = ints
    for _ in range(8):
        deep = lists("+l", 1, 1, deep)
    yield "deep", bytes([INT + RAGGED]) + node("+s", 1, b"", [deep])
    yield "empty", b""


if __name__ == "__main__":
    corpus_files.write(FOLDER, sound(), damaged(), corpus_files.noise(40, 20190103))
