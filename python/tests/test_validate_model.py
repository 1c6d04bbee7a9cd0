"""Source.validate against slow models: of the rules, and of what tensors can be made of."""

from __future__ import annotations

import math
from typing import Any

import columnstone as cst
import pyarrow as pa
import pytest
import wire
from hypothesis import given, settings
from hypothesis import strategies as st
from test_validate import COLUMNS, GROUP, RAGGED, SPARSE, kinds

# A slow model of the rules

TYPES = ["INT", "FLOAT", "BYTES"]
WORDS = [b"", b"a", b"ab", b"abcd", b"abcdefgh", b"abcdefghi", b"abcdefgh or more of it", b"\xff"]
VALUES: dict[str, st.SearchStrategy[list[Any]]] = {
    "INT": st.lists(st.integers(-5, 5) | st.sampled_from([2**63 - 1, -(2**63)]), max_size=3),
    "FLOAT": st.lists(st.sampled_from([0.0, -0.0, 1.0, -2.5, 3.5, math.nan, math.inf]), max_size=3),
    "BYTES": st.lists(st.sampled_from(WORDS), max_size=3),
}
COUNTS = st.none() | st.tuples(st.integers(0, 2), st.integers(0, 3))


@st.composite
def rules(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(st.sampled_from(TYPES))
    return {
        "type": kind,
        "fraction": draw(st.sampled_from([0.0, 0.5, 0.8, 1.0])),
        "min_count": draw(st.integers(0, 4)),
        "counts": draw(COUNTS),
        "range": draw(st.none() | st.tuples(st.integers(-3, 0), st.integers(0, 3))),
        "no_nan": draw(st.booleans()),
        "no_inf": draw(st.booleans()),
        "words": draw(st.lists(st.sampled_from(WORDS[:-1]), max_size=4, unique=True)),
        "mass": draw(st.sampled_from([None, 0.3, 0.7])),
    }


def rule_text(name: str, rule: dict[str, Any]) -> str:
    parts = [f'name: "{name}" type: {rule["type"]}']
    parts += [f"presence {{ min_fraction: {rule['fraction']} min_count: {rule['min_count']} }}"]
    if rule["counts"] is not None:
        low, extra = rule["counts"]
        parts.append(f"value_count {{ min: {low} max: {low + extra} }}")
    if rule["type"] == "INT" and rule["range"] is not None:
        parts.append("int_domain {{ min: {} max: {} }}".format(*rule["range"]))
    if rule["type"] == "FLOAT" and rule["range"] is not None:
        flags = f"disallow_nan: {rule['no_nan']} disallow_inf: {rule['no_inf']}".lower()
        parts.append("float_domain {{ min: {} max: {} {} }}".format(*rule["range"], flags))
    if rule["type"] == "BYTES" and rule["words"]:
        values = " ".join(f'value: "{word.decode()}"' for word in rule["words"])
        parts.append(f"string_domain {{ {values} }}")
    if rule["mass"] is not None:
        parts.append(f"distribution_constraints {{ min_domain_mass: {rule['mass']} }}")
    return f"feature {{ {' '.join(parts)} }}\n"


def is_utf8(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def domain_fault(rule: dict[str, Any], value: Any) -> str | None:
    if rule["type"] == "BYTES":
        if not rule["words"] or value in rule["words"]:
            return None
        return "string-domain" if is_utf8(value) else "utf8"
    if rule["range"] is None:
        return None
    low, high = rule["range"]
    if rule["type"] == "INT":
        return None if low <= value <= high else "int-domain"
    fine = not rule["no_nan"] if math.isnan(value) else low <= value <= high
    return None if fine else "float-domain"


def model(name: str, rule: dict[str, Any], column: list[tuple[str, list[Any]] | None]) -> list[Any]:
    """What is wrong with one feature: (kind, path, count, records), in the order of reports."""
    absent = [i for i, cell in enumerate(column) if cell is None]
    present = [(i, *cell) for i, cell in enumerate(column) if cell is not None]
    typed = [(i, values) for i, kind, values in present if kind == rule["type"]]
    found: dict[str, list[int]] = {}
    too_few = len(present) < rule["min_count"] or (
        rule["fraction"] > 0 and len(present) / len(column) < rule["fraction"]
    )
    if too_few:
        found["presence" if present else "missing-feature"] = absent
    found["type"] = [i for i, kind, _ in present if kind != rule["type"]]
    if rule["counts"] is not None:
        low, extra = rule["counts"]
        found["value-count"] = [i for i, _, v in present if not low <= len(v) <= low + extra]
    faults = [(domain_fault(rule, value), i) for i, values in typed for value in values]
    bad = sum(fault is not None for fault, _ in faults)
    if faults and not (rule["mass"] is not None and 1 - bad / len(faults) >= rule["mass"]):
        for kind in ("int-domain", "float-domain", "string-domain", "utf8"):
            found[kind] = sorted({i for fault, i in faults if fault == kind})
    return [(kind, name, len(r), r) for kind, r in found.items() if r or kind == "presence"]


def cells(kind: str) -> st.SearchStrategy[tuple[str, list[Any]]]:
    return VALUES[kind].map(lambda values: (kind, values))


CELL = st.none() | st.sampled_from(TYPES).flatmap(cells)


@st.composite
def data(draw: st.DrawFn) -> tuple[dict[str, dict[str, Any]], list[dict[str, Any]]]:
    """Rules by name, and rows that mostly have the right types."""
    wanted = {name: draw(rules()) for name in draw(st.sampled_from(["a", "ab", "abc"]))}
    rows = []
    for _ in range(draw(st.integers(1, 12))):
        row = {}
        for name, rule in wanted.items():
            right = cells(rule["type"])
            row[name] = draw(st.one_of(right, right, right, CELL))
        row["other"] = draw(st.sampled_from([None, None, ("INT", [1])]))
        rows.append(row)
    return wanted, rows


def encode(row: dict[str, Any]) -> bytes:
    """Values whose list says its type, also if it is empty."""
    numbers = {"BYTES": 1, "FLOAT": 2, "INT": 3}
    entries = []
    for name, cell in row.items():
        if cell is not None:
            kind, values = cell
            feature = wire.feature(values) if values else wire.field(numbers[kind], b"")
            entries.append(wire.entry(name, feature))
    return wire.field(1, b"".join(entries))


@settings(max_examples=150)
@given(data(), st.integers(1, 3))
def test_the_rules_by_a_model(
    tmp_path_factory: pytest.TempPathFactory,
    drawn: tuple[dict[str, dict[str, Any]], list[dict[str, Any]]],
    threads: int,
) -> None:
    wanted, rows = drawn
    path = tmp_path_factory.mktemp("model") / "rows.tfrecord"
    with cst.codec.TFRecordWriter(path) as writer:
        for row in rows:
            writer.write(encode(row))
    schema = "".join(rule_text(name, rule) for name, rule in wanted.items())
    found = cst.open(path, "example", threads=threads).validate(schema, tensors=False, places=99)
    expected = [
        entry
        for name, rule in wanted.items()
        for entry in model(name, rule, [r[name] for r in rows])
    ]
    others = [i for i, row in enumerate(rows) if row["other"] is not None]
    if others:
        expected.append(("unexpected-feature", "other", len(others), others))
    assert kinds(found) == expected
    assert found.num_rows == len(rows)


# Every row that keeps a tensor from being made is found, and no other

ITEMS = st.lists(st.none() | st.integers(-1, 4), max_size=3)
TENSORS = [
    'dense_tensor { column_name: "v" shape { dim { size: 1 } } }',
    'dense_tensor { column_name: "v" shape { dim { size: 2 } } default_value { int_value: 3 } }',
    'varlen_sparse_tensor { column_name: "v" }',
    SPARSE % "",
    RAGGED,
    'ragged_tensor { feature_path { step: "v" } partition { uniform_row_length: 2 } }',
    """ragged_tensor {
      feature_path { step: "v" } partition { row_length: "i" } partition { uniform_row_length: 2 }
    }""",
]


@settings(max_examples=200)
@given(
    st.lists(st.tuples(st.none() | ITEMS, st.none() | ITEMS), min_size=1, max_size=6),
    st.sampled_from(TENSORS),
    st.sampled_from([pa.list_, pa.large_list, pa.list_view]),
)
def test_rows_are_found_as_the_tensors_are_made(
    cells: list[tuple[Any, Any]], tensor: str, make_list: Any
) -> None:
    schema = COLUMNS + GROUP % tensor
    kind = make_list(pa.int64())

    def table(rows: list[tuple[Any, Any]]) -> pa.Table:
        columns = zip("vi", zip(*rows, strict=True), strict=True)
        return pa.table({name: pa.array(list(column), kind) for name, column in columns})

    found = cst.open(table(cells)).validate(schema, group="g", places=99)
    bad = {place.record for a in found.anomalies for place in a.places}
    for row, cell in enumerate(cells):
        source = cst.open(table([cell]), schema=schema, group="g")
        try:
            tensors = list(source.tensors())
        except cst.errors.SchemaError:
            assert row in bad
        else:
            assert row not in bad and len(tensors) == 1
