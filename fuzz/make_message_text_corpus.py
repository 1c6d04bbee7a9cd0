#!/usr/bin/env python3
"""Writes the corpus of fuzz_message_text: corpus/message_text/, one text a file. The same
files come out of every run."""

import pathlib

from corpus_files import noise, write

FOLDER = pathlib.Path(__file__).parent / "corpus" / "message_text"

TEXTS = {
    "numbers": "an_int: -1 long: -0x10 u: 017 ulong: 18446744073709551615",
    "out-of-range": "an_int: 2147483648",
    "octal-float": "d: 07",
    "floats": "f: 1.5f d: -1e-7",
    "specials": "f: nan d: -infinity",
    "words": 'b: t s: \'a\' "b" raw: "\\377\\x00\\n"',
    "unicode": "s: '\\u00e9\\U0001F600'",
    "bad-escape": "s: '\\k'",
    "extensions": "[t.extra]: 1 [t.more]: ['x', 'y']",
    "no-extension": "[t.nothing]: 1",
    "enums": "color: BLUE none: NULL_VALUE",
    "enum-number": "color: 5",
    "bad-enum": "color: GREEN",
    "kids": "kids { } kids: < kid { an_int: 1 } >",
    "group": "Point { x: 1 }",
    "group-field": "point { x: 1 }",
    "lists": "ints: [1, -2] ints: 3 kids: [{}, {an_int: 1}]",
    "maps": "counts { key: 'b' value: 1 } counts { key: 'a' } flags { value { b: true } }",
    "same-key": "counts { key: 'a' value: 1 } counts { key: 'a' value: 2 }",
    "oneof": "one: 1 two: 'x'",
    "twice": "an_int: 1 an_int: 2",
    "any": "any { [x.org/t.M] { an_int: 1 kids { } } }",
    "any-any": "any { [x.org/google.protobuf.Any] { [x/t.M] { s: 'x' } } }",
    "any-fields": "any { type_url: 'x' value: '\\010' }",
    "any-unknown": "any { [x.org/t.N] { } }",
    "any-twice": "any { [x/t.M] { } [x/t.M] { } }",
    "struct": "struct { fields { key: 'a' value { number_value: nan } } }",
    "times": "at { seconds: 1 nanos: -5 } took { } mask { paths: 'a' }",
    "numbered": "1: 5 900: 0x00000001 901: 'x' 902 { 1: 2 } 903 < 0: 1 >",
    "numbered-known": "13 { 1: 7 }",
    "separators": "an_int: 1, long: 2; u: 3",
    "comments": "# one\nan_int: 1 # two\n",
    "unknown": "nothing: 1",
    "colon": "an_int 1",
    "deep": "kid {" * 90 + "}" * 90,
    "too-deep": "kid {" * 102 + "}" * 102,
    "deep-any": "any { [x/google.protobuf.Any] {" * 3 + "}}" * 3,
    "deep-map": "flags { value {" * 60 + "}}" * 60,
    "empty": "",
    "open": "kid {",
    "wrong-bracket": "kid { >",
    "open-string": "s: 'x",
    "bom": "\ufeffan_int: 1",
    "one-line": "kid { kid { an_int: 1 } } s: 'a\\nb'",
}


def cases():
    for name, text in TEXTS.items():
        yield name, text.encode()


if __name__ == "__main__":
    write(FOLDER, cases(), noise(8, 14))
