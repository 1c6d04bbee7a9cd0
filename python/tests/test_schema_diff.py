"""Schema.diff: what changes between two schemas, and what of it breaks."""

import random

import columnstone as cst
import hypothesis.strategies as st
import pytest
from hypothesis import given

BEFORE = """
feature { name: "age" type: INT presence { min_fraction: 1 } int_domain { min: 0 max: 99 } }
feature { name: "city" type: BYTES string_domain { value: "oslo" value: "rome" } }
feature { name: "gone" type: INT }
"""
AFTER = """
feature { name: "age" type: INT presence { min_fraction: 1 } int_domain { min: 10 max: 99 } }
feature { name: "city" type: BYTES string_domain { value: "rome" value: "oslo" value: "lima" } }
feature { name: "new" type: FLOAT }
"""


def test_changes_in_order():
    assert cst.Schema(BEFORE).diff(cst.Schema(AFTER)) == [
        cst.schema.SchemaChange(
            "changed", "age", "int_domain", "{ min: 0 max: 99 }", "{ min: 10 max: 99 }", True
        ),
        cst.schema.SchemaChange(
            "changed", "city", "string_domain", "2 values", '3 values, with "lima"', False
        ),
        cst.schema.SchemaChange("removed", "gone", "", "INT", None, True),
        cst.schema.SchemaChange("added", "new", "", None, "FLOAT", False),
    ]


def test_lines():
    assert [str(change) for change in cst.Schema(BEFORE).diff(AFTER)] == [
        "changed age: int_domain: { min: 0 max: 99 } -> { min: 10 max: 99 } (breaks)",
        'changed city: string_domain: 2 values -> 3 values, with "lima"',
        "removed gone: INT (breaks)",
        "added new: FLOAT",
    ]
    (change,) = cst.Schema(BEFORE).diff(BEFORE + 'default_environment: "TRAINING"')
    assert str(change) == 'changed default_environment: (not set) -> ["TRAINING"] (breaks)'


def test_anything_that_is_a_schema(tmp_path):
    path = tmp_path / "schema.pbtxt"
    path.write_text(BEFORE)
    assert cst.Schema(BEFORE).diff(path) == []
    assert cst.Schema(BEFORE).diff(cst.Schema(BEFORE).to_bytes()) == []
    with pytest.raises(TypeError):
        cst.Schema(BEFORE).diff(None)
    with pytest.raises(cst.errors.SchemaError):
        cst.Schema(BEFORE).diff("feature { type: INT }")


# Generated schemas: a feature's text by its name.
FIELDS = st.tuples(
    st.sampled_from(["INT", "FLOAT", "BYTES"]),
    st.sampled_from(["", "value_count { min: 1 }", "value_count { min: 1 max: 2 }", "shape {}"]),
    st.sampled_from(["", "presence { min_count: 1 }", "presence { min_fraction: 1 }"]),
    st.sampled_from(
        [
            "",
            "int_domain { min: 1 max: 3 }",
            "float_domain { max: 2.5 }",
            'string_domain { value: "a" value: "b" }',
            'string_domain { value: "b" }',
        ]
    ),
    st.sampled_from(["", "deprecated: true", "lifecycle_stage: BETA", 'annotation { tag: "x" }']),
)
SCHEMAS = st.dictionaries(st.sampled_from("abcdef"), FIELDS)


def schema_of(features, order=None):
    return cst.Schema.from_text(
        "\n".join(
            f'feature {{ name: "{name}" type: {" ".join(features[name])} }}'
            for name in order or list(features)
        )
    )


@given(SCHEMAS, st.randoms())
def test_order_counts_for_nothing(features, rng):
    names = list(features)
    rng.shuffle(names)
    assert schema_of(features).diff(schema_of(features, names)) == []


@given(SCHEMAS, SCHEMAS)
def test_both_ways(one, other):
    a, b = schema_of(one), schema_of(other)
    there, back = a.diff(b), b.diff(a)
    assert (there == []) == (one == other)
    mirror = {"added": "removed", "removed": "added", "changed": "changed"}
    assert {(c.kind, c.path) for c in there} == {(mirror[c.kind], c.path) for c in back}
    assert {c.path for c in there if c.kind == "added"} == set(other) - set(one)
    assert {c.path for c in there if c.kind == "removed"} == set(one) - set(other)
    changed = {name for name in set(one) & set(other) if one[name] != other[name]}
    assert {c.path for c in there if c.kind == "changed"} == changed


def test_random_orders_of_values():
    values = [f"v{i}" for i in range(50)]
    shuffled = random.Random(1).sample(values, len(values))
    text = "feature {{ name: 'x' type: BYTES string_domain {{ {} }} }}"
    one, other = (
        cst.Schema(text.format(" ".join(f"value: '{v}'" for v in order)))
        for order in (values, shuffled)
    )
    assert one.diff(other) == []
