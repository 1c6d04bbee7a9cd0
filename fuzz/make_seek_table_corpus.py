#!/usr/bin/env python3
"""Writes the corpus of fuzz_seek_table: corpus/seek_table/, one small file per case.

The same files come out of every run: frames of blocks that are not compressed, or of one byte that
is repeated, and a seek table that is right or lies.
"""

import pathlib
import struct

FOLDER = pathlib.Path(__file__).parent / "corpus" / "seek_table"


def frame(content, repeat=0):
    """One segment of a known size, one block."""
    size = repeat or len(content)
    block = size << 3 | (repeat > 0) << 1 | 1
    head = struct.pack("<IBI", 0xFD2FB528, 0xA0, size)
    return head + struct.pack("<I", block)[:3] + content


def table(entries, sums=False, number=None, descriptor=None):
    rows = b"".join(struct.pack("<II", *entry) + b"sums" * sums for entry in entries)
    foot = struct.pack(
        "<IBI",
        len(entries) if number is None else number,
        0x80 * sums if descriptor is None else descriptor,
        0x8F92EAB1,
    )
    return struct.pack("<II", 0x184D2A5E, len(rows) + len(foot)) + rows + foot


def main():
    contents = [b"first", b"", b"the third one", b"4" * 300, b"", b"the end"]
    frames = [frame(content) for content in contents]
    data = b"".join(frames)
    sizes = [(len(f), len(c)) for f, c in zip(frames, contents, strict=True)]
    moved = [*sizes[:2], (sizes[2][0], sizes[2][1] + 1), (sizes[3][0], sizes[3][1] - 1), *sizes[4:]]
    shifted = [(sizes[0][0] + 3, 5), (sizes[1][0] - 3, 0), *sizes[2:]]
    swapped = [sizes[2], sizes[1], sizes[0], *sizes[3:]]
    joined = [(sizes[0][0] + sizes[1][0], 5), *sizes[2:]]
    skippable = struct.pack("<II", 0x184D2A50, 3) + b"abc"
    zeros = frame(b"\0", repeat=1 << 16)
    cases = {
        "right": data + table(sizes),
        "sums": data + table(sizes, sums=True),
        "one": frames[0] + table(sizes[:1]),
        "none": data,
        "empty": table([]),
        "moved": data + table(moved),
        "shifted": data + table(shifted),
        "swapped": data + table(swapped),
        "joined": data + table(joined),
        "missing": data + table(sizes[:-1]),
        "number": data + table(sizes, number=2**32 - 1),
        "descriptor": data + table(sizes, descriptor=0x7C),
        "skippable": skippable + data + table([(len(skippable), 0), *sizes]),
        "twice": (data + table(sizes)) * 2,
        "zeros": zeros * 3 + table([(len(zeros), 1 << 16)] * 3),
        "cut": data[:-3] + table(sizes),
        "within": frame(data + table(sizes)) + table([(len(data), 400)]),
    }
    right = cases["right"]
    for i in range(20):
        cases[f"cut_{i:02}"] = right[: len(right) * i // 20]
    for i in range(len(data) + 8, len(right), 3):  # the numbers of the table
        cases[f"changed_{i - len(data):02}"] = right[:i] + bytes([right[i] ^ 4]) + right[i + 1 :]
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, content in cases.items():
        (FOLDER / name).write_bytes(content)


if __name__ == "__main__":
    main()
