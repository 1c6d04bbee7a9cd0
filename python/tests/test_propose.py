"""infer_schema(propose=True): what is proposed for data holds for that data."""

import io

import columnstone as cst
import hypothesis.strategies as st
import pyarrow as pa
import pytest
from hypothesis import given
from wire import entry, example, feature, field


def records_file(records):
    out = io.BytesIO()
    with cst.codec.TFRecordWriter(out) as writer:
        for record in records:
            writer.write(record)
    return out.getvalue()


def propose(data, format="example", **options):
    return cst.infer_schema(io.BytesIO(data), format, propose=True, **options)


def tensors_of(data, schema, format="example", group="", batch_size=1024):
    source = cst.open(io.BytesIO(data), format, schema, group=group, batch_size=batch_size)
    return list(source.tensors())


ROWS = [
    {"id": [1], "city": [b"oslo"], "tags": [b"a", b"b"], "x_index": [0, 4], "x_value": [0.5, 1.5]},
    {"id": [2], "city": [b"rome"], "fare": [7.25], "t": [1, 2, 3], "t_lengths": [2, 1]},
    {"id": [3], "city": [b"oslo"], "tags": [b"a", b"b"], "x_index": [7], "x_value": [2.5]},
    {"id": [4], "city": [b"rome"], "tags": [b"a"], "t": [4], "t_lengths": [1]},
]


def test_tensors():
    data = records_file(map(example, ROWS))
    schema = propose(data)
    assert schema.tensor_representations().keys() == {"id", "city", "tags", "x", "fare", "t"}
    (batch,) = tensors_of(data, schema)
    assert batch["id"].tolist() == [1, 2, 3, 4]
    assert batch["city"].tolist() == [b"oslo", b"rome", b"oslo", b"rome"]
    assert batch["fare"].tolist() == [-1.0, 7.25, -1.0, -1.0]
    assert batch["x"].indices.tolist() == [[0, 0], [0, 4], [2, 7]]
    assert batch["x"].shape == (4, 8)
    assert [s.tolist() for s in batch["t"].row_splits] == [[0, 0, 2, 2, 3], [0, 2, 3, 4]]
    assert isinstance(batch["tags"], cst.tensor.SparseTensor)


def test_text():
    text = propose(records_file(map(example, ROWS))).to_text()
    assert 'tag: "increasing"' in text
    assert text.count("string_domain") == 2
    assert 'sparse_feature {\n  name: "x"' in text


def test_options():
    data = records_file(map(example, ROWS))
    schema = propose(data, group="train", max_domain=1, ragged=True)
    assert "string_domain" not in schema.to_text()
    assert isinstance(tensors_of(data, schema, group="train")[0]["tags"], cst.tensor.RaggedTensor)
    with pytest.raises(cst.errors.ArgumentError, match="max_domain"):
        propose(data, max_domain=0)
    with pytest.raises(TypeError, match="group"):
        propose(data, group=1)
    with pytest.raises(cst.errors.ArgumentError, match="propose=True"):
        cst.infer_schema(io.BytesIO(data), ragged=True)


def test_beyond_inference():
    data = records_file(map(example, ROWS))
    changes = cst.infer_schema(io.BytesIO(data)).diff(propose(data))
    whats = {
        "int_domain",
        "float_domain",
        "string_domain",
        "annotation",
        "sparse_feature",
        "tensor_representation",
    }
    assert {change.what for change in changes} == whats


def test_other_formats():
    table = pa.table({"a": [1, 2, 2], "s": ["x", "x", None], "f": [0.1, 0.2, 0.3]})
    text = cst.infer_schema(table, propose=True).to_text()
    assert "int_domain {\n    min: 1\n    max: 2\n  }" in text
    assert 'string_domain {\n    value: "x"\n  }' in text
    text = cst.infer_schema(pa.table({"b": [True, None]}), propose=True).to_text()
    assert "int_domain {\n    min: 1\n    max: 1\n  }" in text  # bools are 0 and 1
    csv = b"a,s\n1,x\n2,x\n3,x\n"
    schema = cst.infer_schema(io.BytesIO(csv), "csv", propose=True)
    (batch,) = tensors_of(csv, schema, "csv")
    assert batch["a"].tolist() == [1, 2, 3]


def test_a_feature_of_two_types():
    with pytest.raises(cst.errors.SchemaError) as caught:
        propose(records_file([example({"a": [1]}), example({"a": [b"x"]})]))
    assert (caught.value.record, caught.value.path) == (1, "a")


# Generated data: names that make pairs, and values that often fit.

NAMES = ["a", "b", "x", "x_index", "x_value", "x_ids", "x_weights", "x_lengths", "b_row_lengths"]
INTS = st.one_of(st.integers(0, 3), st.integers(-(2**63), 2**63 - 1))
FLOATS = st.one_of(st.sampled_from([0.0, 1.5, -2.0]), st.floats(width=32))
VALUES = {
    int: INTS,
    float: FLOATS,
    bytes: st.one_of(st.sampled_from([b"", b"u", b"v"]), st.binary(max_size=4)),
}


def lists(kind):
    values = VALUES[kind]
    count = st.sampled_from([(0, 0), (1, 1), (2, 2), (0, 3)])
    return count.flatmap(lambda c: st.lists(values, min_size=c[0], max_size=c[1]))


@st.composite
def rows(draw):
    """Rows whose features have one type each; some of them are made to be pairs."""
    kinds = draw(st.dictionaries(st.sampled_from(NAMES), st.sampled_from([int, float, bytes])))
    made = []
    for _ in range(draw(st.integers(0, 8))):
        row = {
            name: None if draw(st.integers(0, 9)) == 0 else (kind, draw(lists(kind)))
            for name, kind in kinds.items()
            if draw(st.integers(0, 5)) > 0
        }
        made.append(row)
    if draw(st.booleans()):
        for row in made:
            indexes = sorted(draw(st.sets(st.integers(0, 20), max_size=3)))
            row["x_index"] = (int, indexes)
            row["x_value"] = (float, [0.5] * len(indexes))
    if draw(st.booleans()):
        for row in made:
            lengths = draw(st.lists(st.integers(0, 3), max_size=3))
            row["b_row_lengths"] = (int, lengths)
            row["b"] = (bytes, [b"u"] * sum(lengths))
    return made


def serialize(row):
    parts = []
    for name, value in row.items():
        kind = None if value is None else value[0].__name__
        parts.append(entry(name, feature(None if value is None else value[1], kind)))
    return field(1, b"".join(parts))


@given(rows(), st.booleans(), st.sampled_from(["", "g"]), st.integers(1, 4), st.integers(1, 5))
def test_proposals_hold(made, ragged, group, max_domain, batch_size):
    data = records_file(map(serialize, made))
    options = {"ragged": ragged, "group": group, "max_domain": max_domain}
    schema = propose(data, **options)
    batches = tensors_of(data, schema, group=group, batch_size=batch_size)
    typed = {name for row in made for name, value in row.items() if value is not None}
    for batch in batches:
        assert len(batch) <= len(typed)
    source = cst.open(io.BytesIO(data), "example", schema, group=group)
    assert source.validate().anomalies == []
    for threads in (2, 3):
        assert propose(data, threads=threads, **options) == schema
    assert schema == cst.Schema(schema.to_bytes())


@given(
    st.lists(
        st.dictionaries(
            st.sampled_from("ab"),
            st.lists(st.lists(st.integers(-5, 5), max_size=3), max_size=3),
        ),
        max_size=5,
    ),
    st.booleans(),
)
def test_proposals_for_sequences_hold(made, ragged):
    def sequence(row):
        named = [
            field(
                1,
                field(1, name.encode())
                + field(2, b"".join(field(1, feature(v, "int")) for v in values)),
            )
            for name, values in row.items()
        ]
        return field(1, entry("id", feature([7]))) + field(2, b"".join(named))

    data = records_file(map(sequence, made))
    schema = propose(data, "sequence_example", ragged=ragged)
    for batch in tensors_of(data, schema, "sequence_example", batch_size=2):
        assert batch["id"].tolist() == [7] * len(batch["id"])
    source = cst.open(io.BytesIO(data), "sequence_example", schema)
    assert source.validate().anomalies == []


def test_values_below_a_null_struct_do_not_count() -> None:
    """Whatever lies in the column there, a range is of what is not null."""
    lists = pa.array([[[1]], [[999]], [[3]]], pa.list_(pa.list_(pa.int64())))
    hidden = pa.StructArray.from_arrays([lists], ["x"], mask=pa.array([False, True, False]))
    plain = pa.array([{"x": [[1]]}, None, {"x": [[3]]}], hidden.type)
    texts = [
        cst.infer_schema(pa.table({"##SEQUENCE##": column}), propose=True).to_text()
        for column in (hidden, plain)
    ]
    assert texts[0] == texts[1]
    assert "max: 3\n" in texts[0] and "999" not in texts[0]
