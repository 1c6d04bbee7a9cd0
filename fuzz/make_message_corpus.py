#!/usr/bin/env python3
"""Writes the corpus of fuzz_message: corpus/message/, a descriptor set and a record a file.

The same files come out of every run. Needs the package protobuf: types and records are those of
python/tests/message_types.py and message_wire.py.
"""

import pathlib
import random
import sys

from corpus_files import noise, write

TOP = pathlib.Path(__file__).parent.parent
FOLDER = TOP / "fuzz" / "corpus" / "message"
sys.path.insert(0, str(TOP / "python" / "tests"))

from message_types import random_case  # noqa: E402
from message_wire import damaged, random_record  # noqa: E402

OPTIONS = [0, 0x80, 0xE0, 0x08, 0x16]
MOST = 600  # bytes of a record


def case(descriptors, record, options, message=0):
    return len(descriptors).to_bytes(2, "little") + descriptors + bytes([message, options]) + record


def random_cases():
    for seed in range(60):
        r = random.Random(seed)
        made = random_case(r, 12)
        for i, name in enumerate(["tidy", "loose", "damaged"]):
            record = random_record(r, made, i > 0)[:MOST]
            record = damaged(r, record) if i == 2 else record
            yield f"{name}-{seed}", case(made.descriptors, record, OPTIONS[(seed + i) % 5])


def main():
    for old in FOLDER.glob("*"):
        old.unlink()
    write(FOLDER, random_cases(), noise(8, 5))


if __name__ == "__main__":
    main()
