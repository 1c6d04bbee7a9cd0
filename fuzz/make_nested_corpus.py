#!/usr/bin/env python3
"""Writes the corpus of fuzz_nested: corpus/nested/, one serialized tf.Example per file, with the
features that the schema in fuzz_nested.c makes ragged tensors of.

The same files come out of every run.
"""

import itertools
import pathlib
import random

from make_example_corpus import BYTES, FLOATS, INTS, entry, example, feature

FOLDER = pathlib.Path(__file__).parent / "corpus" / "nested"
KINDS = {"v": INTS, "r": INTS, "w": BYTES, "s": INTS, "t": INTS, "f": FLOATS, "u": INTS}


def record(**values):
    kinds = {**KINDS, "x": INTS, "p": INTS}
    return example(
        *(
            entry(name.encode(), b"" if v is None else feature(kinds[name], v))
            for name, v in values.items()
        )
    )


def sound_cases():
    yield "none", record()
    yield "nulls", record(v=None, r=None, x=None)
    yield "empty", record(v=[], r=[], w=[], s=[], t=[], f=[], u=[], p=[])
    for n in range(6):
        yield f"plain-{n}", record(x=[n], v=list(range(n)), r=[1] * n)
        yield f"one-{n}", record(v=list(range(n)), r=[n])
        yield f"gaps-{n}", record(v=list(range(n)), r=[0, n, 0, 0])
        yield f"pairs-{n}", record(p=[7] * (2 * n))
        yield f"f-{n}", record(f=[1.5] * (3 * n), u=[n, 0])
    rng = random.Random(5)
    for i in range(12):
        t = [rng.randrange(4) for _ in range(rng.randrange(8))]
        s = []
        while sum(s) < len(t):
            s.append(rng.randrange(len(t) - sum(s) + 1))
        yield f"deep-{i}", record(w=[b"w" * (k % 20) for k in range(sum(t))], s=s, t=t)


def wrong_cases():
    yield "short", record(v=[1, 2], r=[1])
    yield "long", record(v=[1], r=[1, 1])
    yield "negative", record(v=[1], r=[2, -1])
    yield "huge", record(v=[1], r=[2**63 - 1, 2**63 - 1])
    yield "product", record(f=[1.0], u=[2**62, 0])
    yield "values-null", record(r=[0])
    yield "lengths-null", record(v=[])
    yield "middle-null", record(w=[], s=[])
    yield "deep-short", record(w=[b"x"], s=[2], t=[1])
    yield "deep-long", record(w=[b"x"], s=[1], t=[2])
    yield "odd", record(p=[1, 2, 3])
    yield "odd-lengths", record(f=[1.0] * 3, u=[1])
    yield "odd-blocks", record(f=[1.0] * 4, u=[1, 0])
    yield "kind", record(v=[1]) + example(entry(b"r", feature(BYTES, [b"1"])))
    whole = record(v=[1, 2, 300], r=[2, 1], p=[1, 2], x=[1])
    for n in range(1, len(whole), 5):
        yield f"cut-{n}", whole[:n]


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    for old in FOLDER.iterdir():
        old.unlink()
    for name, data in itertools.chain(sound_cases(), wrong_cases()):
        (FOLDER / name).write_bytes(data)
    print(f"{len(list(FOLDER.iterdir()))} files")


if __name__ == "__main__":
    main()
