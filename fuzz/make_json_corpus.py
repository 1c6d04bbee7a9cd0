#!/usr/bin/env python3
"""Writes the corpus of fuzz_json: corpus/json/, one small file per case.

The first byte chooses the size of the blocks; below 128 the rest is a file of JSON lines, else it
chooses what a file is made of. The same files come out of every run.
"""

import json
import pathlib
import random

FOLDER = pathlib.Path(__file__).parent / "corpus" / "json"

LINES = {
    "scalars": ['{"a": 1, "b": 1.5, "c": "x", "d": true, "e": null}', '{"a": -2, "b": 3}'],
    "int64": ['{"a": 9223372036854775807}', '{"a": -9223372036854775808}'],
    "uint64": ['{"a": 18446744073709551615}', '{"a": 0}'],
    "int-to-float": ['{"a": 9007199254740992}', '{"a": 1e-3}'],
    "inexact": ['{"a": 9007199254740993}', '{"a": 0.5}'],
    "huge": ['{"a": 18446744073709551616}'],
    "huge-float": ['{"a": 1e999}'],
    "small-float": ['{"a": 5e-324, "b": 1e-999, "c": -0.0, "d": -0}'],
    "specials": ['{"a": "NaN"}', '{"a": 1}', '{"a": "-Infinity"}', '{"a": "Infinity"}'],
    "special-strings": ['{"a": "NaN"}', '{"a": "x"}'],
    "base64": ['{"a": {"base64": "/w=="}}', '{"a": "x"}', '{"a": {"base64": ""}}'],
    "base64-struct": ['{"a": {"base64": "/w=="}}', '{"a": {"base64": "/w"}}'],
    "base64-more": ['{"a": {"base64": "/w=="}}', '{"a": {"b": []}}'],
    "lists": ['{"a": [1, 2]}', '{"a": []}', '{"a": null}', '{"a": [null, 3]}'],
    "empty-lists": ['{"a": []}', '{"a": [[], null]}'],
    "structs": ['{"a": {"b": {"c": 1}}}', '{"a": {"d": [{"e": 2}, null, {}]}}', '{"a": {}}'],
    "empty-struct": ['{"a": {}}', "{}"],
    "keys": ['{"": 1, "a.b": 2, "\\u00e4\\n": 3}', '{"a.b": 1, "": 4}'],
    "twice": ['{"a": "x", "a": 1, "b": 2}', '{"b": 1, "a": 2, "b": 3}'],
    "nul": ['{"a\\u0000": 1}'],
    "escapes": ['{"a": "\\"\\\\\\/\\b\\f\\n\\r\\t\\u0000\\u20ac\\ud83d\\ude00"}'],
    "surrogate": ['{"a": "\\ud800"}'],
    "conflict": ['{"a": 1}', '{"a": "x"}'],
    "conflict-list": ['{"a": [1]}', '{"a": 1}'],
    "not-json": ['{"a": 1}', '{"a": }', '{"a": 2}'],
    "no-object": ['{"a": 1}', "5", "[1]", "null"],
    "nan": ['{"a": NaN}'],
    "two-in-a-line": ['{"a": 1} {"a": 2}'],
    "pretty": ["{", '  "a": 1', "}"],
    "long": ['{"a": "%s"}' % ("x" * 5000), '{"a": "y"}'],
    "deep": ['{"a": ' + "[" * 99 + "1" + "]" * 99 + "}"],
    "too-deep": ['{"a": ' + "[" * 100 + "1" + "]" * 100 + "}"],
    "deep-objects": ['{"a": ' * 100 + "1" + "}" * 100],
}

TEXTS = {
    "empty": "",
    "blank-lines": ' \r\n\n{"a": 1}\r\n\t\n{"a": 2}',
    "mark": '\ufeff{"a": 1}\n',
    "list": '[{"a": 1}, {"a": 2},\n {"b": "],"}]\n',
    "list-empty": "[ ]",
    "list-open": '[{"a": 1},',
    "list-comma": '[{"a": 1},]',
    "list-no-comma": '[{"a": 1} {"a": 1}]',
    "list-rest": '[{"a": 1}] 5',
    "list-scalars": '[{"a": 1}, 5, "x", [1], null]',
    "list-mixed-brackets": '[{"a": 1], {"a": 2}]',
    "list-escapes": '[{"a": "\\"}]\\\\"}, {"a": "\\\\"}]',
    "list-long": '[{"a": "%s"}, {"a": "y"}]' % ("}," * 3000),
}


def random_value(source: random.Random, depth: int) -> object:
    kind = source.randrange(8 if depth < 3 else 6)
    if kind == 6:
        return [random_value(source, depth + 1) for _ in range(source.randrange(3))]
    if kind == 7:
        keys = source.sample("abcdef", source.randrange(4))
        return {key: random_value(source, depth + 1) for key in keys}
    return [None, source.randrange(-99, 99), source.random(), "x", True, 2**62][kind]


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    cases = {name: "\n".join(lines) + "\n" for name, lines in LINES.items()} | TEXTS
    source = random.Random(20261121)
    for i in range(20):
        value = {"v": random_value(source, 0), "w": random_value(source, 1)}
        cases[f"random-{i}"] = "".join(json.dumps(value) + "\n" for _ in range(i % 5 + 1))
    for number, (name, text) in enumerate(cases.items()):
        block = bytes([number * 7 % 128])
        (FOLDER / name).write_bytes(block + text.encode())
    for i in range(150):
        choices = bytes(source.randrange(256) for _ in range(source.randrange(4, 120)))
        (FOLDER / f"made-{i}").write_bytes(bytes([128 + i % 128]) + choices)
    (FOLDER / "bad-utf8").write_bytes(b'\x05{"a": "\xff"}\n')
    print(len(cases) + 151, "files in", FOLDER)


if __name__ == "__main__":
    main()
