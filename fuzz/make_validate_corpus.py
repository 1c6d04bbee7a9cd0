#!/usr/bin/env python3
"""Writes the corpus of fuzz_validate: corpus/validate/, one file per case: two bytes of options, a
schema and records, each with its size in front.

The same files come out of every run.
"""

import pathlib
import random
import struct

from make_example_corpus import BYTES, FLOATS, INTS, entry, example, feature
from make_sequence_corpus import lists, steps

FOLDER = pathlib.Path(__file__).parent / "corpus" / "validate"
SEQUENCES, RAGGED, SMALL, NO_TENSORS, IGNORE, ENVIRONMENT, GROUP, ONE_ROW = (
    1 << i for i in range(8)
)
MADE_RECORDS = 1


def piece(data):
    return struct.pack("<H", len(data)) + data


def case(bits, schema, *records):
    return bytes([bits, 0]) + piece(schema.encode()) + b"".join(piece(r) for r in records)


def made(rng, schema=None):
    """A case whose records, and whose schema if there is none, fuzz_validate makes of bytes."""
    records = [bytes(rng.randrange(256) for _ in range(rng.randrange(24))) for _ in range(5)]
    if schema is None:
        schema = bytes(rng.randrange(256) for _ in range(rng.randrange(8, 40)))
    bits = rng.choice([0, RAGGED, SMALL, NO_TENSORS, IGNORE, ENVIRONMENT, GROUP, ONE_ROW])
    return bytes([bits, MADE_RECORDS]) + piece(schema) + b"".join(piece(r) for r in records)


def kind_of(values):
    return {bytes: BYTES, float: FLOATS, int: INTS}[type(values[0])]


def value_of(values):
    return b"" if values is None else feature(kind_of(values), values) if values else b"\x1a\x00"


def record(**values):
    return example(*(entry(name.encode(), value_of(v)) for name, v in values.items()))


def sequence(**values):
    return lists(*(entry(n.encode(), steps(*map(value_of, v))) for n, v in values.items()))


def a(rest="", kind="INT"):
    return f'feature {{ name: "a" type: {kind} {rest} }}'


NUMBERS = [record(a=[n]) for n in (3, 1, 4, 1, 5, 9)]
FLOATING = [record(a=[x]) for x in (0.5, -1.0, float("inf"), float("nan"), 1e38, 2.0)]
WORDS = [record(a=[w]) for w in (b"x", b"y", b"", b"\xff", b"x", b"x", b"y")]
COUNTS = [record(a=list(range(n))) for n in (2, 0, 1, 3)] + [record(), record(a=None)]
BROKEN = [record(a=[1]), b"\x0a\xff", b"", record(a=[b"x"])]
PAIRS = [record(p_index=list(range(n)), p_value=[0.5] * n) for n in (2, 0, 3)]
ROWS = [record(q=[7, 8, 9], q_lengths=[1, 2]), record(q=[], q_lengths=[0]), record()]
WIDE = [record(x=[i], y=[float(i)], z=[b"w"], u=[i] * 2) for i in range(6)]
STEPS = [sequence(s=[[1], [2, 3]]), sequence(s=[]), sequence(s=[[1]], t=[[b"x"]])]

SPARSE = (
    'feature { name: "p_index" type: INT int_domain { min: 0 max: %d } }'
    'feature { name: "p_value" type: FLOAT }'
    'sparse_feature { name: "p" index_feature { name: "p_index" }'
    ' value_feature { name: "p_value" } is_sorted: true }'
)
DENSE = (
    '{ key: "%s" value { tensor_representation { key: "t" value { dense_tensor {'
    ' column_name: "a" shape { %s } %s } } } } }'
)


def group(name="", shape="", rest=""):
    return "tensor_representation_group " + DENSE % (name, shape, rest)


DOMAINS = {
    "int": ("INT", "int_domain { min: 1 max: 5 }", NUMBERS),
    "int-inverted": ("INT", "int_domain { min: 5 max: 1 }", NUMBERS),
    "int-open": ("INT", "int_domain { min: -9223372036854775808 }", NUMBERS),
    "float": ("FLOAT", "float_domain { min: -1 max: 2 }", FLOATING),
    "float-strict": ("FLOAT", "float_domain { disallow_nan: true disallow_inf: true }", FLOATING),
    "float-nan": ("FLOAT", "float_domain { min: nan max: nan disallow_inf: true }", FLOATING),
    "float-inf": ("FLOAT", "float_domain { min: inf max: -inf }", FLOATING),
    "string": ("BYTES", 'string_domain { value: "x" value: "" value: "x" }', WORDS),
    "string-any": ("BYTES", "string_domain { }", WORDS),
    "mass": (
        "BYTES",
        'string_domain { value: "x" } distribution_constraints { min_domain_mass: 0.5 }',
        WORDS,
    ),
    "bool-int": ("INT", "bool_domain { }", NUMBERS),
    "bool-float": ("FLOAT", "bool_domain { }", FLOATING),
    "bool-bytes": ("BYTES", 'bool_domain { true_value: "x" false_value: "y" }', WORDS),
    "url": ("BYTES", "url_domain { }", WORDS),
    "elsewhere": ("INT", "float_domain { max: 1 } ", NUMBERS),
}

RULES = {
    "presence": "presence { min_fraction: 1 min_count: 2 }",
    "presence-half": "presence { min_fraction: 0.5 }",
    "count": "value_count { min: 1 max: 2 }",
    "counts": "value_counts { value_count { min: 1 } value_count { max: 1 } }",
    "shape": "presence { min_fraction: 1 } shape { dim { size: 2 } }",
    "scalar": "shape { }",
    "shape-none": "shape { dim { size: 0 } }",
    "deprecated": "deprecated: true presence { min_fraction: 1 }",
    "planned": "lifecycle_stage: PLANNED",
    "not-in": 'not_in_environment: "SERVING" presence { min_fraction: 1 }',
}


def cases():
    yield "nothing", b""
    yield "no-schema", case(0, "", *NUMBERS)
    yield "no-records", case(0, a())
    yield "empty-records", case(0, a("presence { min_count: 1 }"), b"", b"")
    for name, (kind, rest, records) in DOMAINS.items():
        yield f"domain-{name}", case(0, a(rest, kind), *records)
    for name, rest in RULES.items():
        yield f"rule-{name}", case(0, a(rest), *COUNTS)
        yield (
            f"serving-{name}",
            case(
                ENVIRONMENT,
                'default_environment: "TRAINING" default_environment: "SERVING"' + a(rest),
                *COUNTS,
            ),
        )
    for bits in (0, ONE_ROW, NO_TENSORS, SMALL, RAGGED):
        yield f"broken-{bits}", case(bits, a(), *BROKEN)
        yield f"pairs-{bits}", case(bits, SPARSE % 2, *PAIRS)
        yield f"rows-{bits}", case(bits, 'feature { name: "q" type: INT }', *ROWS)
        yield f"wide-{bits}", case(bits, 'feature { name: "x" type: INT }', *WIDE)
    yield "pairs-short", case(0, SPARSE % 1, *PAIRS)
    yield "unexpected", case(0, "", *WIDE, *WORDS)
    yield "ignored", case(IGNORE, a(), *WIDE)
    yield (
        "named",
        case(0, 'string_domain { name: "d" value: "x" }' + a('domain: "d"', "BYTES"), *WORDS),
    )
    yield "named-nowhere", case(0, a('domain: "d"', "BYTES"), *WORDS)
    yield "type", case(0, a(kind="FLOAT"), *NUMBERS)
    yield "type-unknown", case(0, a(kind="TYPE_UNKNOWN"), *NUMBERS)
    yield "struct", case(0, a('struct_domain { feature { name: "b" type: INT } }', "STRUCT"))
    yield "group", case(0, a() + group(), *NUMBERS)
    yield "group-shape", case(0, a() + group(shape="dim { size: 2 }"), *COUNTS)
    yield "group-default", case(0, a() + group(rest="default_value { int_value: 7 }"), *COUNTS)
    yield "group-other", case(GROUP, a() + group("other"), *COUNTS)
    yield "group-lacking", case(GROUP, a(), *NUMBERS)
    for bits in (SEQUENCES, SEQUENCES | RAGGED, SEQUENCES | ONE_ROW):
        yield (
            f"sequence-{bits}",
            case(
                bits,
                'feature { name: "##SEQUENCE##" type: STRUCT struct_domain { feature { name: "s"'
                " type: INT int_domain { max: 2 } value_counts { value_count { min: 1 }"
                " value_count { max: 1 } } } } }",
                *STEPS,
            ),
        )
        yield f"sequence-none-{bits}", case(bits, a(), *STEPS)

    rng = random.Random(7)
    for i in range(24):
        yield f"made-{i}", made(rng)
    for name, (kind, rest, _) in DOMAINS.items():
        yield f"made-records-{name}", made(rng, a(rest, kind).encode())


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    for old in FOLDER.iterdir():
        old.unlink()
    for name, data in cases():
        (FOLDER / name).write_bytes(data)
    print(f"{len(list(FOLDER.iterdir()))} files")


if __name__ == "__main__":
    main()
