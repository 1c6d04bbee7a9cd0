#!/usr/bin/env python3
"""Writes the corpus of fuzz_structured: corpus/structured/, one small file per case.

The language is that of fuzz_structured.c; nodes are those of fuzz_arrow. The same files come out of
every run.
"""

import pathlib
import random

import corpus_files
from make_arrow_corpus import VALIDITY, entries, fill, leaves, lists, node, node_of, number

FOLDER = pathlib.Path(__file__).parent / "corpus" / "structured"
OPERATIONS = 19
ROW, OTHER_ROW = 1, 2


def program(seed, first, second=b"", steps=b""):
    return bytes([seed]) + first + (second or node("l", 1, fill(3))) + steps


def random_steps(source):
    return bytes(source.randrange(64) for _ in range(source.randrange(6, 30)))


def structs(rows, *fields, **more):
    return node("+s", rows, b"", fields, **more)


def nested(rows, leaf, **more):
    """[{x: number, i: [leaf]}] in each row."""
    inner = structs(2 * rows, number("l", 2 * rows, 1, 2, 3), lists("+L", 2 * rows, 2, leaf))
    return lists("+L", rows, 2, inner, **more)


def each_operation():
    leaf = number("f", 12, 0, 0, 128, 63)
    for op in range(OPERATIONS):
        for argument in range(4):
            steps = bytes([op, argument, 1, 0, 2, 1, 1, 0, 16, 0, 128, 0])
            yield f"op-{op}-{argument}", program(0, nested(3, leaf), nested(3, leaf), steps)
            yield f"row-{op}-{argument}", program(ROW, nested(3, leaf), steps=steps)


PROMOTE, BROADCAST, BOTH, TOP = 0, 1, 2, [0]
UPDATE, ONLY, COPY = 16, 17, 18


def path(*names):
    return [len(names), *names]


def by_paths():
    """{x: [{x: number, i: [leaf]}], i: number} in each row."""
    leaf = number("f", 12, 0, 0, 128, 63)
    for validity in (None, 0x15, 0x2A):
        nulls_of = {} if validity is None else {"flags": VALIDITY, "validity": fill(validity)}
        inner = structs(6, number("l", 6, 1, 2), lists("+L", 6, 2, leaf, **nulls_of), **nulls_of)
        rows = structs(3, lists("+L", 3, 2, inner, **nulls_of), number("l", 3, 7), **nulls_of)
        programs = {
            "promote": [COPY, *path(0, 1), *TOP, 2, PROMOTE],
            "promote-name": [COPY, *path(0, 0), *TOP, 0, PROMOTE],
            "broadcast": [COPY, *path(1), *path(0), 2, BROADCAST],
            "broadcast-replace": [COPY, *path(1), *path(0), 1, BROADCAST],
            "both": [COPY, *path(0, 1), *TOP, 2, BOTH, COPY, *path(1), *path(0), 3, BOTH],
            "update": [UPDATE, 0, *path(4), 2, UPDATE, 0, *path(0, 1), 0],
            "update-below": [UPDATE, 0, *path(0, 4), 2],
            "only": [ONLY, 2, *path(0, 1), *path(1), ONLY, 1, *path(0)],
        }
        for name, steps in programs.items():
            for seed in (0, ROW, OTHER_ROW, ROW | OTHER_ROW):
                yield f"{name}-{validity}-{seed}", program(seed, rows, steps=bytes(steps))


def each_type():
    source = random.Random(12)
    for name, leaf in leaves(12):
        yield f"flat-{name}", program(0, node_of(leaf, 3), node_of(leaf, 1), random_steps(source))
        yield f"nested-{name}", program(3, nested(3, leaf), nested(2, leaf), random_steps(source))
        for kind in ("+l", "+L", "+m", "+vl", "+vL", "+w:2", "+w:0"):
            column = lists(kind, 3, 2, lists(kind, 6, 2, leaf))
            yield (
                f"lists-{kind[1:].replace(':', '')}-{name}",
                program(0, column, column, random_steps(source)),
            )


def nulls():
    source = random.Random(13)
    leaf = number("l", 12, 1, 0, 0, 0, 0, 0, 0, 0, flags=VALIDITY, validity=fill(0x5B))
    ragged = node("+L", 3, entries(0, 2, 2, 5), [leaf], flags=VALIDITY, validity=fill(5))
    inner = structs(5, leaf, lists("+L", 5, 2, leaf), flags=VALIDITY, validity=fill(0x1B))
    outer = node("+l", 3, entries(0, 2, 2, 5), [inner], flags=VALIDITY, validity=fill(5))
    for i in range(60):
        first, second = source.choice([ragged, outer]), source.choice([ragged, outer])
        yield f"nulls-{i}", program(source.randrange(4), first, second, random_steps(source))


def odd():
    source = random.Random(14)
    leaf = number("l", 12, 1)
    shared = node("+vl", 3, entries(0, 0, 0) + entries(0, 0, 0)[:1] + b"", [leaf])
    yield "shared-views", program(0, shared, shared, bytes(range(12)))
    deep = leaf
    for _ in range(7):
        deep = lists("+L", 12, 1, deep)
    for i in range(12):
        yield f"deep-{i}", program(i % 4, deep, deep, random_steps(source))
    yield "no-fields", program(0, lists("+L", 2, 1, structs(3)), steps=random_steps(source))
    yield "empty", b""


if __name__ == "__main__":
    noise = corpus_files.noise(20, 20261122)
    corpus_files.write(FOLDER, each_operation(), by_paths(), each_type(), nulls(), odd(), noise)
