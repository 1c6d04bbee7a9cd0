#!/usr/bin/env python3
"""Writes the corpus of fuzz_listing: corpus/listing/, a pattern and what is listed for it."""

import pathlib

import corpus_files

FOLDER = pathlib.Path(__file__).parent / "corpus" / "listing"

PATTERNS = [
    "http://h/d/*.csv",
    "https://u:p@h/d/**?sig=1",
    "zip://in/*.csv::https://h/z.zip?sig=1",
    "simplecache::s3://k:s@b/d/[a-c].csv",
    "s3://b/*",
    "tar://*::file:///t.tar.gz",
]
NAMES = [
    "a.csv",
    "x/a.csv",
    "../e.csv",
    "x/../../e.csv",
    "%2e%2e/e.csv",
    "a\n.env\nb.csv",
    "a\x1b[31m",
    "a.csv::file:///etc/passwd",
    "a.csv?b=c",
    "é\u202e.csv",
    "",
]
WHOLE = ["file:///etc/passwd", "/etc/passwd", ".env", "http://other/d/a.csv", "-x", "@x"]


def cases():
    for i, pattern in enumerate(PATTERNS):
        tail = "::" + pattern.split("::", 1)[1] if pattern.startswith(("zip", "tar")) else ""
        inner = pattern.removesuffix(tail)
        folder = inner[: min(inner.find(c) for c in "*[" if c in inner)].rpartition("/")[0]
        for j, name in enumerate(NAMES):
            yield f"name-{i}-{j}", f"{pattern}\0{folder}/{name}{tail}\0".encode()
        for j, name in enumerate(WHOLE):
            yield f"whole-{i}-{j}", f"{pattern}\0{folder}/a.csv{tail}\0{name}\0".encode()
        yield f"cut-{i}", f"{pattern}\0{folder}/a.csv{tail}".encode()
        yield f"none-{i}", pattern.encode()


if __name__ == "__main__":
    corpus_files.write(FOLDER, cases(), corpus_files.noise(10, 26))
