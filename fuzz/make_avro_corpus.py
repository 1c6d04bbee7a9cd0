#!/usr/bin/env python3
"""Writes the corpus of fuzz_avro: corpus/avro/, container files, and schemas with values.

The same files come out of every run. Needs the package pyarrow, for its codecs; schemas and values
are those of python/tests/avro_files.py.
"""

import json
import pathlib
import sys

from corpus_files import noise, write

TOP = pathlib.Path(__file__).parent.parent
FOLDER = TOP / "fuzz" / "corpus" / "avro"
sys.path.insert(0, str(TOP / "python" / "tests"))

import avro_files as avro  # noqa: E402

CODECS = ["null", "deflate", "zstandard", "snappy"]
MOST = 2000  # bytes of a file


def made(schema, values):
    text = json.dumps(schema).encode()
    data = b"".join(avro.encode(schema, value, len(values) % 2 == 1) for value in values)
    return len(text).to_bytes(2, "little") + bytes([len(values)]) + text + data


def random_cases():
    for seed in range(60):
        maker = avro.Maker(seed)
        schema = maker.record(2, fields=3) if seed % 4 else maker.schema(2)
        values = [maker.value(schema) for _ in range(seed % 5)]
        yield f"values-{seed}", made(schema, values)[:MOST]
        yield f"file-{seed}", avro.container(schema, values, CODECS[seed % 4], 2)[:MOST]


def corner_cases():
    node = {"type": "record", "name": "N", "fields": [{"name": "n", "type": ["null", "N"]}]}
    nothing = {"type": "array", "items": "null"}
    yield (
        "recursive",
        made(node, [])[:2] + b"\x01" + json.dumps(node).encode() + b"\x02" * 9 + b"\x00",
    )
    text = json.dumps(nothing).encode()
    yield "empties", len(text).to_bytes(2, "little") + b"\x01" + text + avro.long(2**60) + b"\x00"
    for name, logical in [("date", "int"), ("timestamp-micros", "long"), ("uuid", "string")]:
        schema = {"type": logical, "logicalType": name}
        yield name, made(schema, ["" if logical == "string" else 5])
    decimal = {"type": "bytes", "logicalType": "decimal", "precision": 20, "scale": 3}
    yield "decimal", made(decimal, [b"\xff\x38", b"", b"\x01"])
    span = {"type": "fixed", "name": "D", "size": 12, "logicalType": "duration"}
    yield "duration", made(span, [bytes(range(12))])
    yield "codec", avro.header('"int"', "lzo")
    yield "header", b"Obj\x01" + avro.long(2**40)


def main():
    for old in FOLDER.glob("*"):
        old.unlink()
    write(FOLDER, random_cases(), corner_cases(), noise(4, 29))


if __name__ == "__main__":
    main()
