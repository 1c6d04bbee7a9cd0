#!/usr/bin/env python3
"""Writes the corpus of fuzz_message_json: corpus/message_json/, one JSON text or bytes of a Value a
file. The same files come out of every run."""

import pathlib

from corpus_files import noise, write

FOLDER = pathlib.Path(__file__).parent / "corpus" / "message_json"

FIELDS = {
    "numbers": '{"anInt":-1,"long":"-2","u":4294967295,"ulong":18446744073709551615}',
    "exponents": '{"anInt":1e3,"long":"1.50e2","u":1.0}',
    "out-of-range": '{"anInt":2147483648}',
    "fraction": '{"long":1.5}',
    "huge": '{"d":1e400}',
    "floats": '{"f":0.1,"d":1e-7,"ints":[1,-2]}',
    "specials": '{"f":"NaN","d":"-Infinity"}',
    "words": '{"b":true,"s":"\\u00e9\\n\\ud83d\\ude00","raw":"_-8="}',
    "original-names": '{"an_int":1,"@o":2}',
    "extensions": '{"[t.extra]":1,"[t.more]":["x"]}',
    "enums": '{"color":"BLUE","none":null}',
    "enum-number": '{"color":"5"}',
    "nulls": '{"anInt":null,"kid":null,"value":null,"values":[null]}',
    "kids": '{"kids":[{},{"kid":{"anInt":1}}],"point":{"x":1}}',
    "maps": '{"counts":{"b":"1","a":2},"flags":{"true":{},"false":{"b":true}}}',
    "oneof": '{"one":1,"two":"x"}',
    "twice": '{"anInt":1,"anInt":2}',
    "both-names": '{"anInt":1,"an_int":2}',
    "times": '{"at":"1970-01-01T00:00:01.5+01:00","took":"-1.5s"}',
    "bad-time": '{"at":"1970-02-30T00:00:00Z"}',
    "mask": '{"mask":"fooBar.b,c"}',
    "any": '{"any":{"@type":"x/t.M","anInt":1}}',
    "any-known": '{"any":{"@type":"x/google.protobuf.Duration","value":"1s"}}',
    "any-any": '{"any":{"@type":"x/google.protobuf.Any","value":{"@type":"x/t.M"}}}',
    "any-unknown": '{"any":{"@type":"x/t.N"}}',
    "struct": '{"struct":{"a":[true,"x",2.5,null,{}]},"list":[1],"wrapped":"7"}',
    "unknown": '{"anint":1}',
    "list": "[1,[2,{}],-0.0,1e21]",
    "string": '"\\u0000\\\\"',
    "deep": '{"kid":' * 60 + "{}" + "}" * 60,
    "too-deep": '{"kid":' * 101 + "{}" + "}" * 101,
    "deep-list": "[" * 50 + "]" * 50,
    "deep-map": '{"flags":{"true":' * 60 + "{}" + "}}" * 60,
    "empty": "",
    "open": '{"a":',
    "two": "{} {}",
}
VALUES = {
    "null": b"\x08\x00",
    "number": b"\x11\x00\x00\x00\x00\x00\x00\xf8\x3f",
    "nan": b"\x11\x00\x00\x00\x00\x00\x00\xf8\x7f",
    "string": b"\x1a\x01x",
    "not-utf8": b"\x1a\x01\xff",
    "bool": b"\x20\x01",
    "object": b"\x2a\x12\x0a\x07\x0a\x01b\x12\x02\x20\x01\x0a\x07\x0a\x01a\x12\x02\x08\x00",
    "same-key": b"\x2a\x12\x0a\x07\x0a\x01a\x12\x02\x20\x01\x0a\x07\x0a\x01a\x12\x02\x08\x00",
    "values": b"\x32\x08\x0a\x02\x20\x01\x0a\x02\x08\x00",
    "two-kinds": b"\x20\x01\x1a\x01x",
    "merged": b"\x32\x02\x0a\x00\x32\x02\x0a\x00",
    "unknown-field": b"\x38\x05",
    "cut": b"\x1a\x05x",
}


def cases():
    for name, text in FIELDS.items():
        yield f"json-{name}", text.encode()
    for name, data in VALUES.items():
        yield f"value-{name}", data


if __name__ == "__main__":
    write(FOLDER, cases(), noise(8, 13))
