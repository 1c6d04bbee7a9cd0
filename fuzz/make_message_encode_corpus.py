#!/usr/bin/env python3
"""Writes the corpus of fuzz_message_encode: corpus/message_encode/, one small file per case.

The language is that of fuzz_message_encode.c. The same files come out of every run.
"""

import pathlib

import corpus_files
from make_arrow_corpus import leaves, lists, node, number, strings

FOLDER = pathlib.Path(__file__).parent / "corpus" / "message_encode"

INTS, FLOATS, TEXTS, LISTS, TREE, MAPS, KNOWN, TIMES, TWO = range(9)
UNKNOWN, DAMAGED, LOSSY = 1, 2, 4
PLAIN, DICTIONARY, TIME = range(3)  # what an integer becomes
ROWS = 3


def case(kind, *columns, flags=0, changes=b""):
    return bytes([kind, flags]) + node("+s", ROWS, b"", columns) + changes


def ints(letter, length=ROWS, *pattern):
    return number(letter, length, *(pattern or (1, 0, 0, 0)))


def text(length=ROWS, *pattern):
    return strings("U", length, 1, *(pattern or (120,)))


def struct(*columns, length=ROWS, **more):
    return node("+s", length, b"", columns, **more)


def scalars():
    for name, leaf in leaves(ROWS):
        for kind, label in ((INTS, "ints"), (FLOATS, "floats"), (TEXTS, "texts"), (TWO, "two")):
            yield f"{label}-{name}", case(kind, leaf)
            yield f"{label}-{name}-lossy", case(kind, leaf, flags=LOSSY)
    for letter in "cCsSiIlLb":
        yield f"integers-{letter}", case(INTS, *[ints(letter)] * 4)
    yield "enum-numbers", case(TREE, node("n", ROWS), node("n", ROWS), ints("i"))
    yield "enum-names", case(TREE, node("n", ROWS), node("n", ROWS), text())
    words = ints("c", ROWS, 1, 0, 3)
    yield (
        "enum-dictionary",
        case(TREE, node("n", ROWS), node("n", ROWS), words, changes=bytes([DICTIONARY])),
    )
    yield "text-dictionary", case(TEXTS, words, changes=bytes([DICTIONARY]))


def repeated():
    for name, leaf in leaves(12):
        for kind in ("+l", "+L", "+vl", "+vL", "+w:2"):
            yield (
                f"lists-{kind[1:].replace(':', '')}-{name}",
                case(LISTS, lists(kind, ROWS, 2, leaf)),
            )
        yield (
            f"texts-{name}-list",
            case(TEXTS, text(), text(), lists("+L", ROWS, 2, leaf), lists("+l", ROWS, 1, leaf)),
        )
        yield (
            f"floats-{name}-list",
            case(
                FLOATS, ints("f"), ints("g"), lists("+L", ROWS, 2, leaf), lists("+l", ROWS, 1, leaf)
            ),
        )


def nested():
    inner = struct(struct(), lists("+L", ROWS, 1, struct(ints("i"), length=ROWS)))
    yield "tree", case(TREE, inner, lists("+l", ROWS, 2, struct(ints("l", 6), length=6)))
    yield "tree-null", case(TREE, struct(ints("l"), flags=1, validity=bytes([1, 2])))
    yield "tree-bytes", case(TREE, strings("Z", ROWS, 2, 32, 1))
    yield "tree-bad-bytes", case(TREE, strings("Z", ROWS, 1, 255))
    yield "group", case(TWO, ints("i"), struct(ints("l"), lists("+L", ROWS, 1, text(6))))
    yield "oneof", case(TWO, ints("i"), struct(ints("l"), node("n", ROWS), ints("i"), text()))
    yield "required", case(TWO, node("n", ROWS))
    for kind in ("+m", "+l", "+vL"):
        for length in (3, 6):
            keys = ints("i", length, *range(1, 13))
            yield (
                f"map-{kind[1:]}-{length}",
                case(
                    MAPS,
                    lists(kind, ROWS, length // 3, struct(keys, ints("l", length), length=length)),
                ),
            )
    entry = struct(text(6, 97, 98, 99), struct(ints("i", 6), length=6), length=6)
    yield "map-of-messages", case(MAPS, node("n", ROWS), lists("+m", ROWS, 1, entry))
    same = struct(ints("i", 6, 1, 0, 0, 0), ints("l", 6), length=6)
    yield "map-same-keys", case(MAPS, lists("+m", ROWS, 2, same))


def known():
    for unit in range(4):
        change = bytes([TIME, unit])
        yield f"known-time-{unit}", case(KNOWN, ints("l"), changes=change)
        yield f"duration-{unit}", case(TIMES, ints("l"), changes=change)
        yield (
            f"time-of-day-{unit}",
            case(
                TIMES, node("n", ROWS), node("n", ROWS), node("n", ROWS), ints("l"), changes=change
            ),
        )
        yield (
            f"date-{unit}",
            case(
                TIMES, node("n", ROWS), node("n", ROWS), ints("i"), changes=bytes([TIME, unit % 2])
            ),
        )
    yield "wrapped", case(KNOWN, node("tsu:", ROWS, bytes([1, 9])), ints("s"))
    yield "wrapped-texts", case(KNOWN, node("n", ROWS), ints("s"), lists("+l", ROWS, 1, text(4)))
    json = strings("u", ROWS, 2, *b"{}")
    yield "json", case(KNOWN, node("n", ROWS), node("n", ROWS), node("n", ROWS), json)
    bad = strings("u", ROWS, 2, *b"{]")
    yield "bad-json", case(KNOWN, node("n", ROWS), node("n", ROWS), node("n", ROWS), bad)
    yield "damaged", case(TREE, ints("i"), flags=DAMAGED)
    yield "unknown-name", case(TREE, ints("i"), flags=UNKNOWN)


if __name__ == "__main__":
    corpus_files.write(
        FOLDER, scalars(), repeated(), nested(), known(), corpus_files.noise(8, seed=31)
    )
