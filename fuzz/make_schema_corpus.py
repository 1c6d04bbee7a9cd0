#!/usr/bin/env python3
"""Writes the corpus of fuzz_schema: corpus/schema/, one small file per case, text and binary.

The same files come out of every run. Binary schemas are put together by hand here, so that nothing
but Python is needed.
"""

import pathlib
import random
import re
import struct

FOLDER = pathlib.Path(__file__).parent / "corpus" / "schema"
TABLE = pathlib.Path(__file__).parent.parent / "tests" / "conform" / "schema_interpretation.txt"


def varint(n):
    n &= (1 << 64) - 1
    out = b""
    while n >= 0x80:
        out += bytes([n & 0x7F | 0x80])
        n >>= 7
    return out + bytes([n])


def num(field, n):
    return varint(field << 3) + varint(n)


def msg(field, *parts):
    data = b"".join(p.encode() if isinstance(p, str) else p for p in parts)
    return varint(field << 3 | 2) + varint(len(data)) + data


def f64(field, x):
    return varint(field << 3 | 1) + struct.pack("<d", x)


def f32(field, x):
    return varint(field << 3 | 5) + struct.pack("<f", x)


def group(field, *parts):
    return varint(field << 3 | 3) + b"".join(parts) + varint(field << 3 | 4)


def feature(name, kind, *parts):
    return msg(1, msg(1, name), num(6, kind), *parts)


def shape(*sizes):
    return msg(23, *(msg(2, num(1, n)) for n in sizes))


PRESENT = msg(14, f64(1, 1.0), num(2, 1))


def binaries():
    plain = feature("a", 2) + feature("b", 1) + feature("c", 3, PRESENT, shape(2, 3))
    yield "plain", plain
    yield "empty", b""
    yield "never-typed", feature("n", 0)
    yield "no-type", msg(1, msg(1, "a"))
    yield "no-name", msg(1, num(6, 2))
    yield "twice", feature("a", 2) + feature("a", 1)
    yield "merged", msg(1, msg(1, "a"), num(6, 2), msg(14, f64(1, 1.0)), msg(14, num(2, 1)))
    yield "last-wins", msg(1, msg(1, "a"), msg(1, "b"), num(6, 2), num(6, 1))
    yield "oneof", feature("a", 2, msg(9, num(3, 1)), msg(10, f32(3, 0.5)))
    yield "bad-utf8", feature(b"\xff\xfe", 2)
    yield "nul", feature(b"a\0b", 2)
    yield "negative-dim", feature("a", 2, shape(-5))
    yield "unknown-dim", feature("a", 2, shape(-1, 2))
    yield "huge-dims", feature("a", 2, shape(1 << 62, 1 << 62))
    yield "unknown-enum", feature("a", 2, num(22, 77))
    yield "unknown-fields", plain + num(1000, 5) + msg(1001, "text") + group(1002, num(1, 2))
    yield "unknown-group-zero", plain + group(1002, num(1, 0), num(0, 2))
    yield "unknown-nested", feature("a", 2, msg(1000, num(1, 2), msg(2, num(3, 4))))
    yield "unknown-fixed", plain + f32(1000, 1.5) + f64(1001, 2.5)
    yield "wrong-wire-types", feature("a", 2, msg(2, "x"), num(14, 1), f32(23, 1.0)) + num(1, 1)
    yield "floats", feature("f", 3, msg(10, f32(3, 0.1), f32(4, float("inf")), num(5, 1)))
    yield "nan", feature("f", 3, msg(10, f32(3, float("nan"))), msg(14, f64(1, float("nan"))))
    yield "any", feature("a", 2, msg(16, msg(1, "tag"), msg(3, msg(1, "x/y"), msg(2, "\x08\x01"))))
    yield (
        "packed",
        feature("a", 1, msg(24, msg(2, num(4, 7), num(4, 8)), msg(2, msg(4, varint(9))))),
    )
    yield "derived", feature("a", 2, msg(34, msg(1, "d"), num(4, 0), msg(5, msg(4, num(2, 99)))))
    yield "derived-utf8", feature("a", 2, msg(34, msg(1, b"\xff")))
    sparse = msg(6, msg(1, "s"), msg(6, msg(1, "a")), msg(9, msg(1, "b")), num(8, 1))
    yield "sparse", plain + sparse
    yield "sparse-missing", feature("a", 2) + sparse
    tensor = msg(1, msg(1, "t"), msg(2, msg(1, msg(1, "a"), msg(3, num(2, -1)))))
    yield "group", plain + msg(13, msg(1, ""), msg(2, tensor))
    yield "group-no-key", plain + msg(13, msg(2, tensor))
    yield "group-twice", plain + msg(13, msg(2, tensor)) + msg(13, msg(1, ""), msg(2))
    yield "group-empty", plain + msg(13)
    ragged = msg(4, msg(1, msg(1, "a")), msg(3, num(1, 2)), num(2, 2))
    yield "ragged", plain + msg(13, msg(2, msg(1, msg(1, "r"), msg(2, ragged))))
    yield "struct", feature("s", 4, msg(29, feature("x", 2), feature("y", 1))) + num(14, 1)
    deep = b""
    for _ in range(48):
        deep = msg(1, msg(1, "d"), num(6, 4), msg(29, deep))
    yield "deep", deep
    for _ in range(4):
        deep = msg(1, msg(1, "d"), num(6, 4), msg(29, deep))
    yield "too-deep", deep
    nested = b""
    for _ in range(120):
        nested = msg(1000, nested)
    yield "unknown-deep", feature("a", 2) + nested
    yield "groups-deep", feature("a", 2) + b"\xc3\x3e" * 99 + b"\xc4\x3e" * 99
    yield "groups-too-deep", feature("a", 2) + b"\xc3\x3e" * 101 + b"\xc4\x3e" * 101
    yield "long-varint", feature("a", 2) + b"\x70" + b"\xff" * 10 + b"\x01"
    yield "long-tag", feature("a", 2) + b"\xf0\x80\x80\x80\x80\x00\x01"
    yield "field-zero", feature("a", 2) + b"\x00\x01"
    yield "wire-type-6", feature("a", 2) + b"\x0e\x01"
    yield "group-end", feature("a", 2) + b"\x0c"
    yield "length-wraps", feature("a", 2) + b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
    yield "not-shortest", feature("a", 2) + b"\xc0\xbe\x80\x00\x85\x80\x00"
    whole = plain + sparse.replace(b"a", b"a") + msg(13, msg(1, "g"), msg(2, tensor))
    for size in range(1, len(whole), 5):
        yield f"cut-{size:03}", whole[:size]
    for at in range(0, len(whole), 5):
        yield f"flip-{at:03}", whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :]


TEXTS = {
    "empty": "",
    "comment": "# nothing\n",
    "one": 'feature { name: "a" type: INT }\n',
    "colons": 'feature: { name: "a", type: INT; }',
    "angles": "feature < name: 'a' type: 2 >",
    "pieces": 'feature { name: "a" "b" \'c\' type: BYTES }',
    "escapes": r'feature { name: "\x41\102\u00e4\U0001F600\n\t\"\'\\\?" type: FLOAT }',
    "bytes": r'string_domain { name: "\377\0\1" value: "\a\b\f\v\r" }',
    "surrogates": r'feature { name: "\ud83d\ude00" type: INT }',
    "lone-surrogate": r'feature { name: "\ud83d" type: INT }',
    "numbers": "feature { name: 'a' type: INT int_domain { min: -0x10 max: 0777 } }",
    "range": "feature { name: 'a' type: INT int_domain { min: 9223372036854775808 } }",
    "floats": "feature { name: 'a' type: FLOAT "
    "float_domain { min: -.5f max: 1e3F disallow_nan: t } }",
    "infinite": "feature { name: 'a' type: FLOAT float_domain { min: -inf max: nan } }",
    "long-float": "feature { name: 'a' type: FLOAT float_domain { min: 0." + "1" * 600 + " } }",
    "lists": "feature [{ name: 'a' type: INT }, < name: 'b' type: BYTES >] "
    "default_environment: ['x']",
    "empty-list": "feature: [] default_environment: []",
    "short-packed": "feature { name: 'a' type: BYTES natural_language_domain { coverage { "
    "excluded_int_tokens: [1, -2, 0x3] } } }",
    "bools": "represent_variable_length_as_ragged: True",
    "numbered": "feature { name: 'a' type: INT 1000: 5 1001: 'x' "
    "1002 { 1: 2 } 1003 < 4: 0x00000005 > }",
    "numbered-known": "1 { 1: 'a' 6: 2 }",
    "numbered-wrong": "1: 'garbage'",
    "numbered-zero": "0: 1",
    "unknown-name": 'feature { nam: "a" }',
    "unknown-type": 'feature { name: "a" type: INTEGER }',
    "twice": 'feature { name: "a" name: "b" type: INT }',
    "oneof": "feature { name: 'a' type: INT shape { } value_count { min: 1 } }",
    "extension": "feature { [foo.bar]: 1 }",
    "any": "feature { name: 'a' type: INT annotation { extra_metadata { "
    "type_url: 'a/b' value: '\\1' } } }",
    "expanded-any": "feature { name: 'a' type: INT annotation { extra_metadata { "
    "[type.googleapis.com/a.B] { x: 1 # }\n y: '}' } } } }",
    "any-twice": "annotation { extra_metadata { [a/b] {} [a/b] {} } }",
    "open-string": 'feature { name: "a }\n',
    "open-message": "feature {",
    "stray-close": "feature { name: 'a' type: INT } }",
    "crlf": "feature {\r\n  name: 'a'\r\n  type: INT\r\n}\r\n",
    "bom": "\ufefffeature { name: 'a' type: INT }",
    "utf16": "feature { name: 'a' }".encode("utf-16"),
    "latin1": "feature { name: 'ä' type: INT }".encode("latin-1"),
    "control": "feature { name: '\x01' type: INT }",
    "nul": "feature { name: 'a\0b' type: INT }",
    "deep": "feature { name: 's' type: STRUCT struct_domain { " * 48 + "} }" * 48,
    "too-deep": "1000 {" * 101 + "}" * 101,
    "never-closed": "1000 {" * 99,
    "lfs": "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
    "html": "<!DOCTYPE html><html><body>404</body></html>",
    "json": '{"feature": [{"name": "a"}]}',
    "gzip": b"\x1f\x8b\x08\x00\x00\x00\x00\x00",
    "parquet": b"PAR1" + bytes(20) + b"PAR1",
}

RICH = """feature {
  name: "a"
  type: INT
  presence {
    min_fraction: 1.0
  }
  shape {
    dim {
      size: 2
    }
  }
  1000: 5
}
string_domain {
  name: "d"
  value: "\\303\\244"
}
"""


def table():
    """The schemas of the conformance table."""
    blocks = TABLE.read_text(encoding="utf-8").split("\n== ")[1:]
    for number, block in enumerate(blocks):
        rest = block.partition("\n")[2]
        text = re.sub(r"(?m)^(=>|--) .*\n?|^      \[.*\n?", "", rest)
        yield f"rule-{number:02}", text.strip() + "\n"


def mutations(texts):
    """Text with pieces taken out, put in and swapped: most are near to sound ones."""
    rng = random.Random(20261121)
    pieces = ["{", "}", "<", ">", ":", ",", "[", "]", '"', "\\", "0x", "-", "1e", "# ", "type: INT"]
    for number in range(60):
        text = rng.choice(texts)
        for _ in range(rng.randrange(1, 3)):
            at = rng.randrange(len(text) + 1)
            text = text[:at] + rng.choice([*pieces, ""]) + text[at + rng.randrange(3) :]
        yield f"mutated-{number:02}", text


def cases():
    for name, data in binaries():
        yield f"{name}.bin", data
    for name, text in TEXTS.items():
        yield f"{name}.txt", text
    rules = dict(table())
    for name, text in rules.items():
        yield f"{name}.txt", text
    for size in range(0, len(RICH), 9):
        yield f"cut-{size:03}.txt", RICH[:size]
    for name, text in mutations(list(rules.values())):
        yield f"{name}.txt", text


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    count = 0
    for name, data in cases():
        (FOLDER / name).write_bytes(data.encode() if isinstance(data, str) else data)
        count += 1
    print(f"{count} files in {FOLDER}")


if __name__ == "__main__":
    main()
