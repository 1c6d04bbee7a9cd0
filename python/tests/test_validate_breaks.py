"""What once broke schema check, proposals and differences: odd schemas, odd columns, and hints that
led nowhere.
"""

from __future__ import annotations

import math
import pathlib
from typing import Any

import columnstone as cst
import pyarrow as pa
import pyarrow.feather
import pytest
import wire
from conftest import MakeFile


def check(
    make_file: MakeFile, rows: list[dict[str, wire.Values]], schema: str
) -> cst.schema.SchemaCheck:
    path = make_file("rows.tfrecord", [wire.example(row) for row in rows])
    return cst.open(path, "example").validate(schema, tensors=False)


def arrow(tmp_path: pathlib.Path, **columns: pa.Array) -> str:
    path = str(tmp_path / "x.arrow")
    pyarrow.feather.write_feather(pa.table(columns), path, compression="uncompressed")
    return path


def feature(rest: str, name: str = "x") -> str:
    return f'feature {{ name: "{name}" {rest} }}'


# ---- what the schema says ----


@pytest.mark.parametrize("limits", ["min: nan", "max: nan", "min: nan max: nan disallow_inf: true"])
@pytest.mark.parametrize("absent", [False, True])
def test_a_limit_of_nan_is_none(make_file: MakeFile, limits: str, absent: bool) -> None:
    rows: list[dict[str, wire.Values]] = [{"x": [1.0]}, {"x": [-2.0, 1e30, math.nan]}]
    rows += [{}] if absent else []  # which takes another way
    assert check(make_file, rows, feature(f"type: FLOAT float_domain {{ {limits} }}")).ok


@pytest.mark.parametrize(
    ("before", "after", "breaks"),
    [
        ("string_domain { }", 'string_domain { value: "a" }', True),
        ('string_domain { value: "a" }', "string_domain { }", False),
        ('string_domain { value: "a" }', 'string_domain { value: "b" value: "a" }', False),
    ],
)
def test_which_string_domain_is_narrower(before: str, after: str, breaks: bool) -> None:
    changes = cst.Schema(feature(f"type: BYTES {before}")).diff(feature(f"type: BYTES {after}"))
    assert [(c.what, c.breaks) for c in changes] == [("string_domain", breaks)]


@pytest.mark.parametrize(
    ("before", "after", "breaks"),
    [
        ("min: nan", "min: 0", True),
        ("min: 0", "min: nan", False),
        ("max: 1", "max: nan disallow_nan: true", True),
    ],
)
def test_nan_limits_nothing_in_differences(before: str, after: str, breaks: bool) -> None:
    old, new = (feature(f"type: FLOAT float_domain {{ {x} }}") for x in (before, after))
    assert [c.breaks for c in cst.Schema(old).diff(new)] == [breaks]


@pytest.mark.parametrize(
    ("rest", "breaks"),
    [
        ("", False),
        ("shape { dim { size: 1 } }", True),
        ("shape { }", True),
        ("shape { dim { size: -1 } }", False),
        ("shape { } deprecated: true", False),
        ("presence { min_fraction: 1 } lifecycle_stage: PLANNED", False),
    ],
)
def test_an_added_feature_that_every_record_needs_breaks(rest: str, breaks: bool) -> None:
    old = feature("type: INT", "y")
    changes = cst.Schema(old).diff(old + feature(f"type: INT {rest}"))
    assert [(c.kind, c.path, c.breaks) for c in changes] == [("added", "x", breaks)]


# ---- what is told ----


@pytest.mark.parametrize("places", [1, 2, 9])
def test_structs_in_lists_that_lack_a_feature(tmp_path: pathlib.Path, places: int) -> None:
    kind = pa.list_(pa.struct([("x", pa.list_(pa.int64()))]))
    rows = [[{"x": None}] * 10, [{"x": [1]}, {"x": None}], [], None, [{"x": None}]]
    schema = (
        'feature { name: "s" type: STRUCT struct_domain { feature { name: "x" type: INT'
        " presence { min_fraction: 1 } } } }"
    )
    path = arrow(tmp_path, s=pa.array(rows, kind))
    (found,) = cst.open(path).validate(schema, tensors=False, places=places).anomalies
    assert (found.path, found.count) == ("s.x", 3)
    assert [p.record for p in found.places] == [0, 1, 4][:places]
    assert found.message.startswith("12 of 13 structs lack it, ")


def test_values_of_several_types_have_no_type_to_change_to(make_file: MakeFile) -> None:
    some = check(make_file, [{"x": [1]}, {"x": [1.5]}], feature("type: FLOAT"))
    assert [a.message for a in some.anomalies] == [
        "1 of 2 records has values of type INT, the schema says FLOAT"
    ]
    assert some.anomalies[0].hint.startswith("repair the data")
    both = check(make_file, [{"x": [1]}, {"x": [b"a"]}], feature("type: FLOAT"))
    assert "of type INT and others, the schema" in both.anomalies[0].message
    assert both.anomalies[0].hint.startswith("repair the data")
    none = check(make_file, [{"x": [1]}, {"x": [b"a"]}], feature("type: INT", "y"))
    assert "this feature (INT and others)" in none.anomalies[0].message


@pytest.mark.parametrize(
    ("domain", "values", "hint"),
    [
        ("disallow_nan: true", [math.nan], "take disallow_nan off "),
        ("disallow_inf: true max: 1", [math.inf, 1.0], "take disallow_inf off "),
        (
            "disallow_nan: true disallow_inf: true",
            [math.nan, math.inf],
            "take disallow_nan and dis",
        ),
        ("disallow_nan: true max: 1", [math.nan, 2.5], "take disallow_nan off float_domain of"),
        ("max: 1", [2.5], 'widen float_domain of "x" to (-inf, 2.5], or'),
    ],
)
def test_hints_of_floats(make_file: MakeFile, domain: str, values: list[float], hint: str) -> None:
    rows: list[dict[str, wire.Values]] = [{"x": [v]} for v in values]
    (found,) = check(make_file, rows, feature(f"type: FLOAT float_domain {{ {domain} }}")).anomalies
    assert found.hint.startswith(hint)
    assert ("and widen it to" in found.hint) == ("max" in domain and "take" in found.hint)


@pytest.mark.parametrize("value", [16777217.0, -16777217.0, 0.1, -0.1, 1e-50, -1e-50])
def test_a_hint_names_a_limit_that_a_double_is_within(tmp_path: pathlib.Path, value: float) -> None:
    path = arrow(tmp_path, x=pa.array([value], pa.float64()))
    side = "max" if value > 0 else "min"
    schema = "type: FLOAT float_domain {{ {}: {} }}"
    (found,) = cst.open(path).validate(feature(schema.format(side, 0))).anomalies
    limits = found.hint.split(" to ")[1].split(",", 2)
    limit = limits[1].strip(" ]") if value > 0 else limits[0].strip("[ ")
    assert cst.open(path).validate(feature(schema.format(side, limit))).ok


def test_a_share_of_strings_may_be_elsewhere(make_file: MakeFile) -> None:
    rows: list[dict[str, wire.Values]] = [{"x": [b"a"]}, {"x": [b"a"]}, {"x": [b"b"]}]
    rule = 'type: BYTES string_domain { value: "a" }'
    (found,) = check(make_file, rows, feature(rule)).anomalies
    share = "distribution_constraints { min_domain_mass: 0.666666 }"
    assert f'set {share} of "x", or' in found.hint
    assert check(make_file, rows, feature(f"{rule} {share}")).ok
    (found,) = check(make_file, rows[2:], feature(rule)).anomalies
    assert "mass" not in found.hint


def test_types_that_schemas_do_not_have(tmp_path: pathlib.Path) -> None:
    path = arrow(tmp_path, x=pa.array([1, 2], pa.date32()))
    (found,) = cst.open(path).validate(feature("type: INT"), tensors=False).anomalies
    assert "type date" in found.message
    assert found.hint == 'make "x" a column of numbers or bytes: schemas have no date'
    found = cst.open(path).validate(feature("type: INT", "other")).anomalies[0]
    assert found.hint.startswith("add it to the schema with type: TYPE_UNKNOWN, or")
    assert cst.open(path).validate(feature("type: TYPE_UNKNOWN")).ok


def test_names_too_long_to_be_shown_whole(make_file: MakeFile) -> None:
    rows: list[dict[str, wire.Values]] = [{"n" * 300 + x: [1] for x in "ab"}] * 5
    found = check(make_file, rows, feature("type: INT"))
    assert [(a.kind, a.count) for a in found.anomalies] == [("unexpected-feature", 5)] * 2


@pytest.mark.parametrize(
    ("index", "domain", "given", "message", "hint"),
    [
        ([7], "min: 0 max: 3", False, "outside [0, 3]", 'raise int_domain.max of "i"'),
        ([-1], "min: 0 max: 3", False, "outside [0, 3]", "repair the data"),
        ([-1], "", False, "in 'i' below 0", "repair the data"),
        ([7], "min: 0", True, "outside [0, 3]", "enlarge its dense_shape"),
    ],
)
def test_hints_of_indices(
    make_file: MakeFile, index: list[int], domain: str, given: bool, message: str, hint: str
) -> None:
    path = make_file("x.tfrecord", [wire.example({"i": index, "v": [b"a"]})])
    schema = feature(f"type: INT int_domain {{ {domain} }}" if domain else "type: INT", "i")
    schema += feature("type: BYTES", "v")
    schema += (
        'tensor_representation_group { key: "" value { tensor_representation { key: "t" value {'
        ' sparse_tensor { dense_shape { dim { size: 4 } } index_column_names: "i"'
        ' value_column_name: "v" } } } } }'
        if given
        else 'sparse_feature { name: "t" index_feature { name: "i" } value_feature { name: "v" } }'
    )
    found = cst.open(path, "example").validate(schema).anomalies[-1]
    assert (found.kind, found.tensor, found.count) == ("representation", "t", 1)
    assert message in found.message
    assert found.hint.startswith(hint)


def test_a_type_is_told_once(make_file: MakeFile) -> None:
    path = make_file("x.tfrecord", [wire.example({"x": [1]})])
    schema = feature("type: STRUCT struct_domain { feature { name: 'a' type: INT } }")
    assert [a.kind for a in cst.open(path, "example").validate(schema).anomalies] == ["type"]


def test_all_places(make_file: MakeFile) -> None:
    path = make_file("x.tfrecord", [wire.example({"x": [i]}) for i in range(100)])
    for most in (1, 7, 8, 9, 99, 2**62):
        (found,) = cst.open(path).validate(feature("type: FLOAT"), places=most).anomalies
        assert [p.record for p in found.places] == list(range(min(most, 100)))
        assert all(p.found == "INT" for p in found.places)


# ---- proposals ----


def fits(path: str | pathlib.Path, **options: Any) -> cst.Schema:
    """The proposal, which the data fit, and which makes tensors of them."""
    proposed = cst.infer_schema(path, propose=True)
    found = cst.open(path).validate(proposed, **options)
    assert found.ok, found
    assert [len(batch) for batch in cst.open(path, schema=proposed).tensors()]
    return proposed


def test_lists_with_nulls_are_proposed_for_no_tensor(tmp_path: pathlib.Path) -> None:
    x = pa.array([[1, 2], [3, None]])
    proposed = fits(arrow(tmp_path, x=x, y=pa.array([1, 2])))
    assert "lifecycle_stage: DISABLED" in proposed.to_text()
    assert list(proposed.tensor_representations()) == ["y"]


def test_structs_that_are_null(tmp_path: pathlib.Path) -> None:
    kind = pa.struct([("x", pa.list_(pa.list_(pa.int64())))])
    proposed = fits(arrow(tmp_path, s=pa.array([{"x": [[1]]}, None, {"x": []}], kind)))
    assert "min_fraction" not in proposed.to_text().split("struct_domain")[0]
    none = fits(arrow(tmp_path, s=pa.array([None, None], kind)))
    assert "min_count: 1" not in none.to_text()


@pytest.mark.parametrize("kind", [pa.uint8(), pa.uint64(), pa.list_(pa.uint16())])
def test_the_default_of_unsigned_integers_is_one_of_them(
    tmp_path: pathlib.Path, kind: pa.DataType
) -> None:
    values = [[1], None, [3]] if pa.types.is_list(kind) else [1, None, 3]
    proposed = fits(arrow(tmp_path, x=pa.array(values, kind)))
    assert "int_value: 0" in proposed.to_text()


def test_lists_without_values_in_json(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"x": [], "y": 1, "z": [null]}\n{"x": [], "y": 2, "z": null}\n')
    proposed = fits(path)
    assert proposed.to_text().count("TYPE_UNKNOWN") == 2


def test_a_feature_without_a_name(make_file: MakeFile) -> None:
    rows = [wire.example({"": [1], "a": [2]}), wire.example({"": [1, 2], "a": [3]})]
    path = make_file("x.tfrecord", rows)
    proposed = cst.infer_schema(path, format="example", propose=True)
    assert cst.open(path, "example").validate(proposed).ok


def test_floats_without_a_finite_value_have_no_range(tmp_path: pathlib.Path) -> None:
    x = pa.array([[math.inf], [-math.inf, math.nan]])
    assert "float_domain" not in fits(arrow(tmp_path, x=x)).to_text()


@pytest.mark.parametrize(
    ("presence", "missing"), [("min_fraction: 1", False), ("min_fraction: 1 min_count: 1", True)]
)
def test_no_records_are_too_few_for_a_count(
    make_file: MakeFile, presence: str, missing: bool
) -> None:
    found = check(make_file, [], feature(f"type: INT presence {{ {presence} }}"))
    assert [(a.kind, a.path, a.count) for a in found.anomalies] == (
        [("missing-feature", "x", 0)] if missing else []
    )


def test_what_is_told_of_a_group_is_all_that_has_to_be_done() -> None:
    tensors = (
        'tensor_representation { key: "t" value { varlen_sparse_tensor { column_name: "x" } } }'
    )

    def told(before: str, after: str) -> list[tuple[str, str, str, bool]]:
        old, new = (feature("type: INT") + rest for rest in (before, after))
        return [(c.kind, c.path, c.what, c.breaks) for c in cst.Schema(old).diff(new)]

    def group(name: str, content: str = "") -> str:
        return f'tensor_representation_group {{ key: "{name}" value {{ {content} }} }}'

    assert told("", group("")) == []
    assert told(group("", tensors), "") == [("removed", "/t", "tensor_representation", True)]
    assert told("", group("g")) == [("added", "g", "tensor_representation_group", False)]
    assert told("", group("g", tensors)) == [("added", "g/t", "tensor_representation", False)]
    assert told(group("g", tensors), "") == [
        ("removed", "g/t", "tensor_representation", True),
        ("removed", "g", "tensor_representation_group", True),
    ]
