"""Source.validate: every kind of anomaly with exact counts and places."""

from __future__ import annotations

import json
import math
import pathlib
from collections.abc import Sequence
from typing import Any

import columnstone as cst
import pyarrow as pa
import pytest
import wire
from conftest import MakeFile
from test_sequence import sequence

Rows = Sequence[dict[str, wire.Values]]


def check(
    make_file: MakeFile, rows: Rows | Sequence[bytes], schema: str, **options: Any
) -> cst.schema.SchemaCheck:
    """The check of one file, the same with one thread and with three."""
    records = [row if isinstance(row, bytes) else wire.example(row) for row in rows]
    path = make_file("rows.tfrecord", records)
    options = {"tensors": False, **options}
    found = cst.open(path, "example").validate(schema, **options)
    assert cst.open(path, "example", threads=3, batch_size=7).validate(schema, **options) == found
    return found


def kinds(found: cst.schema.SchemaCheck) -> list[tuple[str, str, int, list[int | None]]]:
    return [(a.kind, a.path, a.count, [p.record for p in a.places]) for a in found.anomalies]


# One rule at a time: the schema of feature "x", the values in ten records, what is found.

IN: list[wire.Values] = [[i] for i in range(10)]
LONG = b"a rather long colour"
Case = tuple[str, Sequence[wire.Values], list[tuple[str, int, list[int]]]]
CASES: dict[str, Case] = {
    "fine": ("type: INT presence { min_fraction: 1 } value_count { min: 1 max: 1 }", IN, []),
    "type": (
        "type: FLOAT",
        [[1.5], [1], [2.5], [b"x"], [], [2], [3], [4], [5], [6]],
        [("type", 8, [1, 3, 4, 5, 6])],  # an empty list has a type, too
    ),
    "unknown type": ("type: TYPE_UNKNOWN", IN, []),
    "missing": (
        "type: INT presence { min_count: 1 }",
        [None] * 10,
        [("missing-feature", 10, [0, 1, 2, 3, 4])],
    ),
    "not required": ("type: INT", [None] * 10, []),
    "min_fraction": (
        "type: INT presence { min_fraction: 0.9 }",
        [None, [1], [2], None, *IN[4:]],
        [("presence", 2, [0, 3])],
    ),
    "min_fraction is met": ("type: INT presence { min_fraction: 0.9 }", [None, *IN[1:]], []),
    "min_count": (
        "type: INT presence { min_count: 3 }",
        [[1], [2], *[None] * 8],
        [("presence", 8, [2, 3, 4, 5, 6])],
    ),
    "value_count": (
        "type: INT value_count { min: 1 max: 2 }",
        [[], [1], [1, 2], [1, 2, 3], None, [], *IN[6:]],
        [("value-count", 3, [0, 3, 5])],
    ),
    "at least": (
        "type: INT value_count { min: 2 }",
        [*IN[:2], *[[1, 2]] * 8],
        [("value-count", 2, [0, 1])],
    ),
    "shape": (
        "type: INT shape { dim { size: 2 } dim { size: 1 } } presence { min_fraction: 1 }",
        [[1], *[[1, 2]] * 8, [1, 2, 3]],
        [("shape", 2, [0, 9])],
    ),
    "a shape and absent": (
        "type: INT shape { dim { size: 2 } } presence { min_fraction: 0.5 }",
        [None, *[[1, 2]] * 9],
        [("presence", 1, [0])],
    ),
    "int_domain": ("type: INT int_domain { min: 2 max: 7 }", IN, [("int-domain", 4, [0, 1, 8, 9])]),
    "int_domain below": ("type: INT int_domain { max: 7 }", IN, [("int-domain", 2, [8, 9])]),
    "a record counts once": (
        "type: INT int_domain { min: 0 }",
        [[-1, -2, 3, -4], *[[1]] * 9],
        [("int-domain", 1, [0])],
    ),
    "extremes": (
        f"type: INT int_domain {{ min: {-(2**63)} max: {2**63 - 1} }}",
        [[-(2**63)], [2**63 - 1], *IN[2:]],
        [],
    ),
    "float_domain": (
        "type: FLOAT float_domain { min: 0 max: 1 }",
        [[0.0], [1.0], [0.5], [-0.5], [math.nan], [math.inf], [2.0], [0.3], [0.1], [0.2]],
        [("float-domain", 3, [3, 5, 6])],
    ),
    "disallow_nan": (
        "type: FLOAT float_domain { disallow_nan: true }",
        [[math.nan], [math.inf], *[[0.5]] * 8],
        [("float-domain", 1, [0])],
    ),
    "disallow_inf": (
        "type: FLOAT float_domain { disallow_inf: true }",
        [[math.nan], [math.inf], [-math.inf], *[[0.5]] * 7],
        [("float-domain", 2, [1, 2])],
    ),
    "string_domain": (
        'type: BYTES string_domain { value: "red" value: "a rather long colour" value: "" }',
        [[b"red"], [b""], [b"rad"], [LONG.replace(b"o", b"u")], [LONG], [b"re"], *[[b"red"]] * 4],
        [("string-domain", 3, [2, 3, 5])],
    ),
    "a domain of the schema": (
        'type: BYTES domain: "colours"',
        [[b"red"], [b"blue"], *[[b"red"]] * 8],
        [("string-domain", 1, [1])],
    ),
    "min_domain_mass": (
        'type: BYTES domain: "colours" distribution_constraints { min_domain_mass: 0.8 }',
        [[b"blue"], [b"blue"], *[[b"red"]] * 8],
        [],
    ),
    "min_domain_mass is not met": (
        'type: BYTES domain: "colours" distribution_constraints { min_domain_mass: 0.85 }',
        [[b"blue"], [b"blue"], *[[b"red"]] * 8],
        [("string-domain", 2, [0, 1])],
    ),
    "utf8": (
        "type: BYTES string_domain { }",
        [[b"\xff"], [b"gr\xc3\xbcn"], *[[b"x"]] * 8],
        [("utf8", 1, [0])],
    ),
    "natural language": (
        "type: BYTES natural_language_domain { }",
        [[b"\xff"], *[[b"x"]] * 9],
        [("utf8", 1, [0])],
    ),
    "bool_domain": (
        "type: INT bool_domain { }",
        [[0], [1], [2], [-1], *[[1]] * 6],
        [("bool-domain", 2, [2, 3])],
    ),
    "bool_domain of text": (
        'type: BYTES bool_domain { true_value: "yes" false_value: "no" }',
        [[b"yes"], [b"no"], [b"maybe"], *[[b"yes"]] * 7],
        [("bool-domain", 1, [2])],
    ),
    "deprecated": (
        "type: INT deprecated: true int_domain { max: 1 } presence { min_fraction: 1 }",
        [[b"x"], None, *IN[2:]],
        [],
    ),
    "a stage": ("type: INT lifecycle_stage: DEBUG_ONLY int_domain { max: 1 }", IN, []),
}


@pytest.mark.parametrize("name", CASES)
def test_one_rule(name: str, make_file: MakeFile) -> None:
    rule, values, wanted = CASES[name]
    rows: Rows = [{"id": [i]} | ({} if v is None else {"x": v}) for i, v in enumerate(values)]
    schema = f"""
    feature {{ name: "id" type: INT }}
    feature {{ name: "x" {rule} }}
    string_domain {{ name: "colours" value: "red" value: "green" }}
    """
    found = check(make_file, rows, schema)
    assert kinds(found) == [(kind, "x", count, places) for kind, count, places in wanted]
    assert found.num_rows == 10
    assert found.ok == bool(found) == (not wanted)


def test_messages_and_hints(make_file: MakeFile) -> None:
    rows: Rows = [{"hour": [v]} for v in (-1, 5, 99, 23)]
    found = check(
        make_file, rows, 'feature { name: "hour" type: INT int_domain { min: 0 max: 23 } }'
    )
    [anomaly] = found.anomalies
    assert anomaly.message == (
        "2 of 4 records have values outside [0, 23]: the smallest -1, the largest 99"
    )
    assert anomaly.hint == 'widen int_domain of "hour" to [-1, 99], or repair the data'
    assert [p.found for p in anomaly.places] == ["-1", "99"]
    assert str(anomaly).endswith("rows.tfrecord record 0)")
    assert str(found).endswith("\n4 records: 1 anomaly")
    with pytest.raises(cst.errors.SchemaError, match="outside") as raised:
        found.raise_if_any()
    assert (raised.value.record, raised.value.path) == (0, "hour")
    check(make_file, rows, 'feature { name: "hour" type: INT }').raise_if_any()


def test_messages_hold_no_strings_of_the_data(make_file: MakeFile) -> None:
    rows: Rows = [{"x": [b"secret%d" % (i % 3)]} for i in range(9)]
    found = check(make_file, rows, 'feature { name: "x" type: BYTES string_domain { value: "a" } }')
    assert "3 different ones" in str(found)
    assert "secret" not in repr(found)


def test_unexpected_features(make_file: MakeFile) -> None:
    rows: Rows = [{"a": [1], "b": [b"x"]} if i % 2 else {"c": [1.0]} for i in range(10)]
    found = check(make_file, rows, 'feature { name: "a" type: INT }')
    assert kinds(found) == [
        ("unexpected-feature", "b", 5, [1, 3, 5, 7, 9]),
        ("unexpected-feature", "c", 5, [0, 2, 4, 6, 8]),
    ]
    assert check(make_file, rows, 'feature { name: "a" type: INT }', ignore_unexpected=True).ok


def test_a_slip_in_a_name(make_file: MakeFile) -> None:
    rows: Rows = [{"fares": [1.0]}]
    found = check(make_file, rows, 'feature { name: "fare" type: FLOAT }')
    assert 'is it "fare" of the schema' in found.anomalies[0].hint


def test_very_many_unexpected_names(make_file: MakeFile) -> None:
    rows: Rows = [{f"k{i:04}": [i]} for i in range(1500)]
    found = check(make_file, rows, 'feature { name: "a" type: INT }')
    assert len(found.anomalies) == 1001
    assert found.anomalies[-1].count == 500


def test_places(make_file: MakeFile) -> None:
    rows: Rows = [{"x": [i]} for i in range(50)]
    schema = 'feature { name: "x" type: INT int_domain { max: 9 } }'
    for places in (1, 40, 100):
        [anomaly] = check(make_file, rows, schema, places=places).anomalies
        assert [p.record for p in anomaly.places] == list(range(10, 50))[:places]
    with pytest.raises(ValueError, match="places"):
        check(make_file, rows, schema, places=0)


def test_records_are_numbered_in_their_files(make_file: MakeFile) -> None:
    files = [
        make_file(f"{n}.tfrecord", [wire.example({"x": [0]}), wire.example({"x": [n]})])
        for n in (1, 2)
    ]
    found = cst.open(files).validate('feature { name: "x" type: INT int_domain { max: 0 } }')
    [anomaly] = found.anomalies
    assert [(p.file, p.record) for p in anomaly.places] == [(str(f), 1) for f in files]


# Environments


def test_environments(make_file: MakeFile) -> None:
    schema = """
    default_environment: "TRAINING" default_environment: "SERVING"
    feature { name: "x" type: INT presence { min_fraction: 1 } }
    feature {
      name: "label" type: INT presence { min_fraction: 1 } not_in_environment: "SERVING"
      int_domain { max: 1 }
    }
    feature { name: "debug" type: INT presence { min_count: 1 } in_environment: "DEBUG"
      not_in_environment: "TRAINING" not_in_environment: "SERVING" }
    """
    rows: Rows = [{"x": [1]}]
    assert kinds(check(make_file, rows, schema, environment="SERVING")) == []
    assert [a.path for a in check(make_file, rows, schema, environment="TRAINING").anomalies] == [
        "label"
    ]
    assert [a.path for a in check(make_file, rows, schema).anomalies] == ["label", "debug"]
    with pytest.raises(cst.errors.NotFoundError, match="TRIANING"):
        check(make_file, rows, schema, environment="TRIANING")
    both: Rows = [{"x": [1], "label": [2]}]
    there = check(make_file, both, schema, environment="SERVING")
    assert [a.kind for a in there.anomalies] == ["int-domain"]


# Damage


def test_damaged_records_are_passed_over(make_file: MakeFile) -> None:
    path = make_file("rows.tfrecord", [wire.example({"x": [i]}) for i in range(20)])
    blob = bytearray(path.read_bytes())
    size = len(blob) // 20
    blob[3 * size + 14] ^= 1
    path.write_bytes(blob)
    schema = 'feature { name: "x" type: INT int_domain { min: 2 } }'
    for threads in (1, 3):
        found = cst.open(path, threads=threads).validate(schema)
        assert kinds(found) == [("int-domain", "x", 2, [0, 1]), ("record", "", 1, [3])]
        assert found.num_rows == 19


def test_records_that_do_not_parse(make_file: MakeFile) -> None:
    rows = [wire.example({"x": [i]}) if i % 4 else b"\x0a\xff" for i in range(12)]
    found = check(make_file, rows, 'feature { name: "x" type: INT int_domain { max: 9 } }')
    assert kinds(found) == [("int-domain", "x", 2, [10, 11]), ("record", "", 3, [0, 4, 8])]
    assert found.num_rows == 9


# Tensors

GROUP = """tensor_representation_group {
  key: "g" value { tensor_representation { key: "t" value { %s } } }
}"""
SPARSE = """sparse_tensor {
  index_column_names: "i" value_column_name: "v" dense_shape { dim { size: 5 } } %s
}"""
RAGGED = 'ragged_tensor { feature_path { step: "v" } partition { row_length: "i" } }'
COLUMNS = 'feature { name: "v" type: INT } feature { name: "i" type: INT }'


def tensor_check(make_file: MakeFile, rows: Rows, tensor: str) -> list[tuple[str, int, list[Any]]]:
    found = check(make_file, rows, COLUMNS + GROUP % tensor, tensors=True, group=["g"])
    assert all((a.kind, a.tensor, a.group) == ("representation", "t", "g") for a in found.anomalies)
    return [
        (a.message.split("records ")[-1], a.count, [p.record for p in a.places])
        for a in found.anomalies
    ]


def test_dense_rows(make_file: MakeFile) -> None:
    rows: Rows = [{"v": [1, 2]}, {"v": [1]}, {}, {"v": [1, 2, 3]}, {"i": [1]}]
    dense = 'dense_tensor { column_name: "v" shape { dim { size: 2 } } %s }'
    counts = ("have another number of values than the 2 of its shape (1)", 2, [1, 3])
    assert tensor_check(make_file, rows, dense % "") == [
        counts,
        ("have no value, and it has no default", 2, [2, 4]),
    ]
    assert tensor_check(make_file, rows, dense % "default_value { int_value: 1 }") == [counts]


def test_sparse_rows(make_file: MakeFile) -> None:
    rows: Rows = [
        {"v": [1, 2], "i": [0, 4]},
        {"v": [1, 2], "i": [0]},
        {"v": [1]},
        {},
        {"v": [1], "i": [5]},
        {"v": [1], "i": [-1]},
        {"v": [1, 2], "i": [3, 2]},
        {"v": [1, 2], "i": [3, 3]},
    ]
    plain = tensor_check(make_file, rows, SPARSE % "")
    assert plain == [
        ("have not as many indices in 'i' as values (1 for 2)", 2, [1, 2]),
        ("have an index in 'i' outside [0, 4]", 2, [4, 5]),
    ]
    assert tensor_check(make_file, rows, SPARSE % "already_sorted: true") == [
        *plain,
        ("has indices that are not sorted, though already_sorted is set", 1, [6]),
        ("has two values at one place, though already_sorted is set", 1, [7]),
    ]


def test_ragged_rows(make_file: MakeFile) -> None:
    rows: Rows = [
        {"v": [1, 2, 3], "i": [1, 2]},
        {"v": [1, 2, 3], "i": [1, 1]},
        {"v": [1], "i": [2, -1]},
        {"i": [0, 0]},
        {"v": [1]},
        {},
    ]
    assert tensor_check(make_file, rows, RAGGED) == [
        ("has an invalid row length in 'i'", 1, [2]),
        ("have row lengths in 'i' that do not add up (to 2 of 3)", 2, [1, 4]),
    ]
    uniform = 'ragged_tensor { feature_path { step: "v" } partition { uniform_row_length: 2 } }'
    assert tensor_check(make_file, rows, uniform) == [
        ("have a number of values (3) that rows of 2 do not divide", 4, [0, 1, 2, 4])
    ]


def test_a_tensor_of_a_column_of_another_type(make_file: MakeFile) -> None:
    rows: Rows = [{"v": [1]}, {"v": [b"x"]}, {"i": [1]}]
    found = check(make_file, rows, COLUMNS, tensors=True)
    assert kinds(found) == [("type", "v", 1, [1])]  # and not again for the inferred tensor
    group = COLUMNS + GROUP % 'varlen_sparse_tensor { column_name: "v" }'
    found = check(make_file, rows, group, tensors=True, group=["g"])
    assert kinds(found) == [("type", "v", 1, [1]), ("representation", "v", 1, [1])]


def test_columns_that_never_occur(make_file: MakeFile) -> None:
    rows: Rows = [{"i": [1]}] * 3
    [found] = tensor_check(make_file, rows, 'dense_tensor { column_name: "v" shape { } }')
    assert found[1:] == (3, [0, 1, 2])
    assert tensor_check(make_file, rows, 'varlen_sparse_tensor { column_name: "v" }') == []


def test_several_groups(make_file: MakeFile) -> None:
    schema = COLUMNS + "".join(
        GROUP.replace('"g"', f'"{name}"')
        % f'dense_tensor {{ column_name: "v" shape {{ dim {{ size: {size} }} }} }}'
        for name, size in [("a", 1), ("b", 2)]
    )
    rows: Rows = [{"v": [1]}, {"v": [1, 2]}]
    found = check(make_file, rows, schema, tensors=True, group=["a", "b"])
    assert [(a.group, a.places[0].record) for a in found.anomalies] == [("a", 1), ("b", 0)]
    assert check(make_file, rows, schema, tensors=True).ok  # the default group has no tensors
    with pytest.raises(cst.errors.NotFoundError):
        check(make_file, rows, schema, tensors=True, group=["c"])


def test_what_fits_makes_tensors(make_file: MakeFile) -> None:
    """A check without anomalies promises that the tensors can be made."""
    rows: Rows = [{"v": [1, 2, 3], "i": [1, 2]}, {"v": [1], "i": [1]}, {}]
    schema = COLUMNS + GROUP % RAGGED
    assert check(make_file, rows, schema, tensors=True, group=["g"]).ok
    path = make_file("rows.tfrecord", [wire.example(row) for row in rows])
    assert len(list(cst.open(path, schema=schema, group="g").tensors())) == 1


# Formats


def test_sequence_examples(make_file: MakeFile) -> None:
    rows = [
        sequence({"id": [1]}, {"steps": [[1, 2], [3, 4]], "words": [[b"a"]]}),
        sequence({"id": [2]}, {"steps": [[1, 2]], "more": [[1]]}),
        sequence({"id": [3]}, {"steps": [[1, 9], [2]], "words": [[b"b"], [b"a"]]}),
        sequence({"id": [4]}),
    ]
    path = make_file("rows.tfrecord", rows)
    schema = """
    feature { name: "id" type: INT }
    feature { name: "##SEQUENCE##" type: STRUCT struct_domain {
      feature {
        name: "steps" type: INT int_domain { max: 5 }
        value_counts { value_count { min: 2 max: 2 } value_count { min: 2 } }
      }
      feature {
        name: "words" type: BYTES string_domain { value: "a" } presence { min_fraction: 1 }
      }
    } }
    """
    found = cst.open(path, "sequence_example").validate(schema, tensors=False)
    assert kinds(found) == [
        ("value-count", "##SEQUENCE##.steps", 2, [1, 2]),
        ("int-domain", "##SEQUENCE##.steps", 1, [2]),
        ("presence", "##SEQUENCE##.words", 2, [1, 3]),
        ("string-domain", "##SEQUENCE##.words", 1, [2]),
        ("unexpected-feature", "##SEQUENCE##.more", 1, [1]),
    ]


def test_lists_of_several_levels_count_a_record_once(make_file: MakeFile) -> None:
    rows = [
        sequence({}, {"steps": [[1], [2]]}),
        sequence({}, {"steps": [[1, 2]]}),
        sequence({}, {"steps": [[1, 2], [1, 2]]}),
        sequence({}, {"steps": [[1], [2], [3]]}),
    ]
    schema = """
    feature { name: "##SEQUENCE##" type: STRUCT struct_domain { feature {
      name: "steps" type: INT
      value_counts { value_count { min: 2 max: 2 } value_count { min: 2 } }
    } } }
    """
    path = make_file("rows.tfrecord", rows)
    found = cst.open(path, "sequence_example").validate(schema, tensors=False)
    assert kinds(found) == [("value-count", "##SEQUENCE##.steps", 3, [0, 1, 3])]
    [anomaly] = found.anomalies
    assert "have 1 to 3 values, the schema wants 2, and 2 or more in each list" in anomaly.message


def test_structured_rows(make_file: MakeFile) -> None:
    """A record that does not fit several fields counts once, in its place."""
    schema = """
    feature { name: "a" type: INT shape { } presence { min_fraction: 1 } }
    feature { name: "b" type: INT shape { } presence { min_fraction: 1 } }
    tensor_representation_group { key: "g" value { tensor_representation { key: "t" value {
      structured_tensor { column_names: "a" column_names: "b" }
    } } } }
    """
    rows: Rows = [
        {"a": [1], "b": []},
        {"a": [], "b": [1]},
        {"a": [], "b": []},
        {"a": [1], "b": [2]},
    ]
    found = check(make_file, rows, schema, tensors=True, group=["g"])
    bad = [(a.tensor, a.count, [p.record for p in a.places]) for a in found.anomalies[2:]]
    assert bad == [("t", 3, [0, 1, 2])]


def test_csv(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("a,b,d\n1,2,z\nx,3,z\n4,,z\n")
    schema = """
    feature { name: "a" type: INT int_domain { max: 3 } }
    feature { name: "b" type: BYTES presence { min_fraction: 1 } }
    feature { name: "c" type: FLOAT presence { min_count: 1 } }
    """
    for threads in (1, 3):
        found = cst.open(path, threads=threads).validate(schema)
        assert kinds(found) == [
            ("type", "a", 1, [1]),
            ("int-domain", "a", 1, [2]),
            ("presence", "b", 1, [2]),
            ("missing-feature", "c", 2, [0, 2]),
            ("unexpected-feature", "d", 2, [0, 2]),
        ]


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_cells_of_columns_that_errors_name_alike(tmp_path: pathlib.Path, ending: str) -> None:
    """Errors cut long names: the cell still counts for the feature that it belongs to."""
    path = tmp_path / f"rows.{ending}"
    text, number = "n" * 300 + "t", "n" * 300 + "i"
    if ending == "csv":
        path.write_text(f"{text},{number}\na,1\nb,x\n")
    else:
        rows = [{text: "a", number: 1}, {text: "b", number: "x"}]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    schema = f'feature {{ name: "{text}" type: BYTES }} feature {{ name: "{number}" type: INT }}'
    (anomaly,) = cst.open(path).validate(schema).anomalies
    assert (anomaly.kind, anomaly.count) == ("type", 1)
    assert "INT" in anomaly.message


@pytest.mark.parametrize("dropped", [40, 5000])
def test_numbers_of_rows_behind_dropped_ones(tmp_path: pathlib.Path, dropped: int) -> None:
    """They are known, unless very many were dropped."""
    path = tmp_path / "rows.csv"
    path.write_text("a\n0\n" + "x\n1\n" * dropped + "9\n")
    schema = 'feature { name: "a" type: INT int_domain { max: 3 } }'
    for threads in (1, 3):
        found = cst.open(path, threads=threads).validate(schema, places=1)
        wanted = 2 * dropped + 1 if dropped < 4096 else None
        assert kinds(found) == [("type", "a", dropped, [1]), ("int-domain", "a", 1, [wanted])]
        assert found.num_rows == 2 * dropped + 2


def test_tables_of_several_files(tmp_path: pathlib.Path) -> None:
    paths = [tmp_path / "1.csv", tmp_path / "2.csv"]
    for path in paths:
        path.write_text("a\n1\n9\n")
    found = cst.open(paths).validate('feature { name: "a" type: INT int_domain { max: 3 } }')
    assert kinds(found) == [("int-domain", "a", 2, [1, 3])]
    assert found.anomalies[0].places[0].file == ""
    assert "(first: record 1)" in str(found)


def test_json_lines(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "rows.json"
    rows: list[dict[str, Any]] = [{"a": [1], "b": "x"}, {"a": [9]}, {"a": None}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    schema = """
    feature { name: "a" type: INT int_domain { max: 3 } value_count { min: 1 max: 1 } }
    feature { name: "b" type: BYTES presence { min_fraction: 1 } }
    """
    assert kinds(cst.open(path).validate(schema)) == [
        ("int-domain", "a", 1, [1]),
        ("presence", "b", 2, [1, 2]),
    ]


TABLE = pa.table(
    {
        "flat": pa.array([1, None, 30], pa.int16()),
        "list": pa.array([[1.5], [], None], pa.list_(pa.float64())),
        "fixed": pa.array([[1, 2], [3, 4], [5, 6]], pa.list_(pa.int64(), 2)),
        "text": pa.array(["red", "blue", None], pa.string()),
        "view": pa.array([b"red", b"a value of many bytes", b"red"], pa.binary_view()),
        "flag": pa.array([True, False, None]),
    }
)
TABLE_SCHEMA = """
feature { name: "flat" type: INT int_domain { max: 9 } presence { min_fraction: 1 } }
feature { name: "list" type: FLOAT value_count { min: 1 } float_domain { max: 1 } }
feature { name: "fixed" type: INT shape { dim { size: 3 } } presence { min_fraction: 1 } }
feature { name: "text" type: BYTES string_domain { value: "red" } }
feature { name: "view" type: BYTES string_domain { value: "red" } }
feature { name: "flag" type: INT bool_domain { } }
"""


@pytest.mark.parametrize("slice_at", [0, 1])
def test_arrow_data(slice_at: int) -> None:
    padded = pa.concat_tables([TABLE.slice(0, slice_at), TABLE]).combine_chunks().slice(slice_at)
    found = cst.open(padded).validate(TABLE_SCHEMA, tensors=False)
    assert kinds(found) == [
        ("presence", "flat", 1, [1]),
        ("int-domain", "flat", 1, [2]),
        ("value-count", "list", 1, [1]),
        ("float-domain", "list", 1, [0]),
        ("shape", "fixed", 3, [0, 1, 2]),
        ("string-domain", "text", 1, [1]),
        ("string-domain", "view", 1, [1]),
    ]


def test_structs_of_arrow_data() -> None:
    items = [[{"x": 1}, {"x": None}], None, [{"x": 7}, None]]
    table = pa.table({"s": pa.array(items, pa.list_(pa.struct([("x", pa.int64())])))})
    schema = """
    feature { name: "s" type: STRUCT struct_domain {
      feature { name: "x" type: INT int_domain { max: 5 } presence { min_fraction: 1 } }
    } }
    """
    assert kinds(cst.open(table).validate(schema, tensors=False)) == [
        ("presence", "s.x", 1, [0]),
        ("int-domain", "s.x", 1, [2]),
    ]


# Arguments


def test_the_schema_of_the_source_is_the_usual_one(file: pathlib.Path, schema: cst.Schema) -> None:
    assert cst.open(file, schema=schema).validate().ok
    assert cst.open(file).validate(cst.infer_schema(file)).ok
    with pytest.raises(ValueError, match="schema"):
        cst.open(file).validate()


def test_schemas_and_formats_that_cannot_be_checked(file: pathlib.Path) -> None:
    with pytest.raises(cst.errors.SchemaError, match="no domain"):
        cst.open(file).validate('feature { name: "x" type: BYTES domain: "d" }')
    with pytest.raises(cst.errors.UnsupportedError):
        cst.open(file, "raw").validate('feature { name: "x" type: BYTES }')


def test_progress_can_stop(make_file: MakeFile) -> None:
    path = make_file("big.tfrecord", [wire.example({"x": [b"x" * 100_000]})] * 400)
    schema = 'feature { name: "x" type: BYTES }'
    seen: list[int] = []

    def progress(size: int, records: int) -> bool:
        seen.append(records)
        return len(seen) < 2

    with pytest.raises(cst.Error, match="stopped the validation"):
        cst.open(path).validate(schema, progress=progress)
    assert len(seen) == 2 and 0 < seen[0] < seen[1] < 400

    def fails(size: int, records: int) -> bool:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        cst.open(path).validate(schema, progress=fails)


def test_parts_of_a_source(make_file: MakeFile) -> None:
    rows = [wire.example({"x": [i]}) for i in range(100)]
    rows[60] = b"\x0a\xff"
    schema = 'feature { name: "x" type: INT int_domain { max: 97 } }'
    source = cst.open(make_file("rows.tfrecord", rows), schema=schema)
    counts = []
    for i in range(3):
        found = source.split(i, 3).validate()
        counts.append((found.num_rows, sum(a.count for a in found.anomalies)))
    assert sum(rows for rows, _ in counts) == 99
    assert sum(bad for _, bad in counts) == 3


def test_file_objects(make_file: MakeFile) -> None:
    path = make_file("rows.tfrecord", [wire.example({"x": [i]}) for i in range(10)])
    schema = 'feature { name: "x" type: INT int_domain { max: 8 } }'
    with path.open("rb") as file:
        found = cst.open(file).validate(schema)
    assert kinds(found) == [("int-domain", "x", 1, [9])]

    class Fails:
        name = "fails"

        def read(self, size: int) -> bytes:
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        cst.open(Fails()).validate(schema)
