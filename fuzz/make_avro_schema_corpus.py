#!/usr/bin/env python3
"""Writes the corpus of fuzz_avro_schema: corpus/avro_schema/, schemas and tables of schemas.

The same files come out of every run. Random schemas are those of python/tests/avro_files.py.
"""

import json
import pathlib
import sys

from corpus_files import write

TOP = pathlib.Path(__file__).parent.parent
FOLDER = TOP / "fuzz" / "corpus" / "avro_schema"
sys.path.insert(0, str(TOP / "python" / "tests"))

import avro_files as avro  # noqa: E402


def record(*fields, **more):
    made = [{"name": f"f{i}", **field} for i, field in enumerate(fields)]
    return {"type": "record", "name": "R", "fields": made, **more}


def cases():
    for seed in range(40):
        maker = avro.Maker(seed)
        schema = maker.record(2, fields=3) if seed % 4 else maker.schema(2)
        yield f"random-{seed}", json.dumps(schema)
    for kind in ["null", "int", "double", "bytes", "string"]:
        yield kind, json.dumps(kind)
    for name, kind in [("date", "int"), ("timestamp-nanos", "long"), ("uuid", "string")]:
        yield name, json.dumps({"type": kind, "logicalType": name})
    for size in [3, 12, 16]:
        for name in ["decimal", "duration", "uuid"]:
            fixed = {"type": "fixed", "name": "F", "size": size, "logicalType": name}
            yield f"{name}-{size}", json.dumps({**fixed, "precision": 5, "scale": 2})
    color = {"type": "enum", "name": "a.b.E", "symbols": ["X", "Y"], "default": "Y"}
    yield "enum", json.dumps(color)
    yield "names", json.dumps(record({"type": color}, {"type": "a.b.E"}, namespace="a.b"))
    yield "recursive", json.dumps(record({"type": ["null", "R"], "default": None}))
    yield "tree", json.dumps(record({"type": {"type": "array", "items": "R"}, "default": []}))
    yield "endless", json.dumps(record({"type": "R"}))
    yield "aliases", json.dumps(record({"type": "int", "aliases": ["f1"]}, {"type": "int"}))
    yield "circle", json.dumps(record({"type": "int"}, aliases=["R", "S", "a.R"]))
    yield "twice", json.dumps(record({"type": record()}))
    yield "default", json.dumps(record({"type": "int", "default": "x"}))
    yield "deep", '{"type":"array","items":' * 120 + '"int"' + "}" * 120
    yield "open", "[" * 500
    yield "union", json.dumps(["null", ["int"]])
    yield "table", "T" + json.dumps({"7": color, "8": '"int"', "9": "long"})
    yield "list", "T" + json.dumps([color, "int", "int", {"type": "int"}])
    yield "no-table", "T" + json.dumps({"x": "int"})
    yield "number-twice", 'T{"7": "int", "07": "long"}'


def main():
    for old in FOLDER.glob("*"):
        old.unlink()
    write(FOLDER, ((name, text.encode()) for name, text in cases()))


if __name__ == "__main__":
    main()
