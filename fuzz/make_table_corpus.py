#!/usr/bin/env python3
"""Writes the corpus of fuzz_table: corpus/table/, one small file per case.

The language is that of fuzz_table.c; nodes are those of fuzz_arrow. The same files come out of
every run.
"""

import pathlib

import corpus_files
from make_arrow_corpus import VALIDITY, fill, leaves, lists, node, node_of, number, steps, strings

FOLDER = pathlib.Path(__file__).parent / "corpus" / "table"


def batch(*columns, rows=3, **more):
    return node("+s", rows, b"", columns, **more)


def pair(seed, first, second=b""):
    return bytes([seed]) + first + second


def one_type():
    for name, leaf in leaves(12):
        yield f"flat-{name}", pair(5, batch(node_of(leaf, 3)), batch(node_of(leaf, 3)))
        for kind in ("+l", "+L", "+vl", "+vL"):
            column = lists(kind, 3, 2, leaf)
            yield f"list-{kind[1:]}-{name}", pair(6, batch(column), batch(column, rows=2))
        yield f"fixed-{name}", pair(7, batch(lists("+w:2", 3, 0, leaf)))
        yield (
            f"nested-{name}",
            pair(9, batch(lists("+L", 3, 1, lists("+l", 6, 2, leaf)), node_of(leaf, 3))),
        )
        yield f"alone-{name}", pair(3, node_of(leaf, 9), node_of(leaf, 4))


def two_types():
    all_leaves = dict(leaves(12))
    for a, b in (
        ("int8", "int64"),
        ("int8", "uint64"),
        ("int8", "float32"),
        ("int64", "float64"),
        ("float32", "float64"),
        ("string", "large-string"),
        ("string", "binary"),
        ("fixed-binary", "binary"),
        ("null", "string"),
        ("null", "int8"),
        ("string", "int8"),
    ):
        first, second = node_of(all_leaves[a], 3), node_of(all_leaves[b], 3)
        yield f"union-{a}-{b}", pair(2, batch(first), batch(second))
        for label, kind in (("list", "+l"), ("fixed", "+w:2"), ("view", "+vl")):
            lists_of = lists(kind, 3, 1, all_leaves[a])
            other = lists("+L", 3, 1, all_leaves[b])
            yield f"union-{label}-{a}-{b}", pair(2, batch(lists_of), batch(other))
        structs = batch(first, second), batch(second)
        yield f"union-struct-{a}-{b}", pair(2, batch(structs[0]), batch(structs[1]))


def others():
    ints = number("l", 12, 1, 0, 0, 0, 0, 0, 0, 0)
    words = strings("u", 12, 1, 97, 98)
    hidden = node("+L", 3, steps(2), [ints], flags=VALIDITY, validity=fill(5))
    views = node(
        "vz", 3, bytes([1, 40]) + fill(97, 98, 99) + bytes([20, 0, 3, 13, 0, 5, 2]) + fill(120)
    )
    for seed in range(0, 128, 16):
        yield f"hidden-{seed}", pair(seed, batch(hidden, node_of(words, 3)), batch(views))
    yield "null-struct", pair(4, batch(batch(node_of(ints, 3), flags=VALIDITY, validity=fill(2))))
    yield "list-of-structs", pair(4, batch(lists("+L", 3, 2, batch(ints, words, rows=9))))
    yield "keys", pair(4, batch(hidden, lists("+l", 3, 2, words), node_of(words, 3)))
    yield "views", pair(8, batch(views, views), batch(views))
    yield "no-columns", pair(8, batch(), batch(node_of(words, 3)))
    for offset in range(4):
        yield f"offset-{offset}", pair(3, batch(hidden, node_of(words, 7), rows=2, offset=offset))
    yield "empty", b""


if __name__ == "__main__":
    corpus_files.write(FOLDER, one_type(), two_types(), others(), corpus_files.noise(20, 20261121))
