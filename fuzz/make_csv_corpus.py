#!/usr/bin/env python3
"""Writes the corpus of fuzz_csv: corpus/csv/, one small file per case.

The first two bytes of a file choose the options (see choose() in fuzz_csv.c), the rest is CSV. The
same files come out of every run.
"""

import csv
import io
import pathlib
import random

FOLDER = pathlib.Path(__file__).parent / "corpus" / "csv"

NAMES, MULTIVALENT, SEMICOLON, TAB, HASH, BLANK, SKIP = 1, 3, 4, 8, 16, 64, 128
SKIP_LINE, SMALL_BATCHES, TWO_FILES = 1, 2, 4

CASES: dict[str, tuple[int, int, bytes]] = {
    "plain": (0, 0, b"a,b\n1,x\n2,y\n"),
    "types": (0, SMALL_BATCHES, b'i,f,s,n,e\n1,1.5,x,,""\n-2,nan,007,,\n3,1e300,"q""",,\n'),
    "lossy_numbers": (0, 0, b"a,b\n9007199254740993,9223372036854775808\n0.5,1\n"),
    "crlf": (0, 0, b'a,b\r\n1,"x\r\ny"\r\n\r\n2,z'),
    "cr": (BLANK, 0, b"a\r1\r\r2\r"),
    "bom": (0, 0, b"\xef\xbb\xbfa,b\n1,2\n"),
    "names": (NAMES, 0, b"1,2\n3,4\n"),
    "multivalent": (MULTIVALENT, 0, b'1,2|3\n4,"""x|y""|z"\n5,\n6,|\n'),
    "bad_multivalent": (MULTIVALENT | SKIP, 0, b'1,2\n4,"""x"\n5,3\n'),
    "semicolon": (SEMICOLON, 0, b'a;b\n1;"x;y"\n'),
    "tab": (TAB, 0, b"a\tb\n1\t2\n"),
    "digit_delimiter": (12, 0, b'a5b\nx5"15"\ny52.0\n'),
    "comments": (HASH, SKIP_LINE, b'junk "\n#c\na,b\n# "\n1,"#2"\n'),
    "minus_comments": (48, 0, b'a,b\n"-1",2\n-3,4\n'),
    "blank": (BLANK, 0, b"a,b\n\n1,2\n\n"),
    "two_files": (0, TWO_FILES | SMALL_BATCHES, b"a,b\n1,2\n3,4\n5,6\n"),
    "wrong_cells": (SKIP, 0, b"a,b\n1\n2,3\n4,5,6\n7,8\n"),
    "unclosed": (SKIP, TWO_FILES, b'a,b\n1,2\n3,"4\n5,6\n'),
    "text_behind": (SKIP, 0, b'a,b\n1,"2"3\n"4"5,6\n7,8\n'),
    "literal_quotes": (0, 0, b'a,b\n1"2,x"y"\n "z",w\n'),
    "binary": (0, 0, b"a,b\n\xff\xfe,\x00\n1,2\n"),
    "utf8": (0, 0, "ä,日本\nö,ß\n".encode()),
    "no_header": (0, 0, b""),
    "same_names": (0, 0, b"a,a\n1,2\n"),
    "one_column": (0, 0, b'a\n""\n1\n'),
    "null_alone": (BLANK, 0, b'a\nx\n\n""\n'),
    "spaces": (0, 0, b"a,b\n 1 ,2\t\n3, 4.5\n"),
    "long_row": (SKIP, 0, b"a,b\n1,2\n3," + b"x" * 4200 + b"\n5,6\n"),
    "wide": (0, 0, b",".join(b"c%d" % i for i in range(80)) + b"\n" + b"," * 79 + b"\n"),
}


def random_table(rng: random.Random) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator=rng.choice(["\n", "\r\n"]))
    width = rng.randint(1, 5)
    writer.writerow([f"c{i}" for i in range(width)])
    makers = [
        lambda: rng.randint(-(10 ** rng.randint(1, 20)), 10**6),
        lambda: rng.random() * 10 ** rng.randint(-30, 30),
        lambda: "".join(rng.choice('ab,"\n\r |;#') for _ in range(rng.randint(0, 12))),
        lambda: "",
    ]
    columns = [rng.choice(makers) for _ in range(width)]
    for _ in range(rng.randint(0, 12)):
        writer.writerow([make() for make in columns])
    return out.getvalue().encode()


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for old in FOLDER.iterdir():
        old.unlink()
    for name, (first, second, text) in CASES.items():
        (FOLDER / name).write_bytes(bytes([first, second]) + text)
    rng = random.Random(4180)
    for i in range(30):
        flags = bytes([rng.choice([0, BLANK, SKIP, HASH]), rng.choice([0, SMALL_BATCHES])])
        (FOLDER / f"random_{i:02}").write_bytes(flags + random_table(rng))


if __name__ == "__main__":
    main()
