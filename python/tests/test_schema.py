"""Schema: every form of the argument, text and bytes, specs and representations."""

from __future__ import annotations

import os
import pathlib
import pickle

import columnstone as cst
import pytest
from conftest import SCHEMA, MakeFile


class Proto:
    """Looks like a protobuf message."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def SerializeToString(self) -> bytes:
        return self.data


def test_every_form(schema: cst.Schema, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "schema.pbtxt"
    path.write_text(SCHEMA)
    binary = tmp_path / "schema.pb"
    binary.write_bytes(schema.to_bytes())
    data = schema.to_bytes()
    forms = [schema, str(path), path, binary, SCHEMA, SCHEMA.encode(), data, bytearray(data)]
    forms += [memoryview(data), Proto(data)]
    for form in forms:
        assert cst.Schema(form) == schema
        assert cst.decoder("example", form).schema == schema
    assert cst.Schema.from_file(path) == cst.Schema.from_file(str(binary)) == schema


def test_a_string_is_a_path_if_the_file_exists(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name = 'feature { name: "x" type: INT }'
    os.mkdir("sub")
    pathlib.Path(name).write_text('feature { name: "from_file" type: INT }')
    assert [f.name for f in cst.Schema(name).features] == ["from_file"]
    os.remove(name)
    assert [f.name for f in cst.Schema(name).features] == ["x"]


def test_a_string_that_is_nothing() -> None:
    with pytest.raises(cst.errors.NotFoundError) as caught:
        cst.Schema("no-such-schema.pbtxt")
    assert caught.value.file == "no-such-schema.pbtxt"
    with pytest.raises(cst.errors.NotFoundError):
        cst.Schema("")
    assert cst.Schema("\n").features == []


@pytest.mark.parametrize("wrong", [3, 1.5, ["a"], object()])
def test_wrong_type(wrong: object) -> None:
    with pytest.raises(TypeError, match="a schema is"):
        cst.Schema(wrong)  # type: ignore[arg-type]


def test_missing_file() -> None:
    with pytest.raises(cst.errors.NotFoundError):
        cst.Schema.from_file("/no/such/schema.pbtxt")
    with pytest.raises(cst.errors.NotFoundError):
        cst.Schema(pathlib.Path("/no/such/schema.pbtxt"))


def test_text_and_bytes_round_trip(schema: cst.Schema) -> None:
    assert cst.Schema.from_text(schema.to_text()) == schema
    assert cst.Schema.from_bytes(schema.to_bytes()) == schema
    assert schema.SerializeToString() == schema.to_bytes()
    assert cst.Schema.from_text(schema.to_text().encode()) == schema


def test_unknown_fields_are_kept() -> None:
    unknown = b"\xc2\xbb\x01\x03abc"  # field 3000
    data = cst.Schema.from_text(SCHEMA).to_bytes() + unknown
    schema = cst.Schema.from_bytes(data)
    assert unknown in schema.to_bytes()
    assert unknown in cst.Schema.from_text(schema.to_text()).to_bytes()


def test_equality_hash_repr_pickle(schema: cst.Schema) -> None:
    other = cst.Schema.from_text('feature { name: "id" type: INT }')
    assert schema != other
    assert schema != SCHEMA
    assert len({schema, cst.Schema(SCHEMA), other}) == 2
    assert repr(schema) == "<columnstone.Schema of 4 features: id, pair, tags, steps>"
    assert pickle.loads(pickle.dumps(schema)) == schema


def test_features() -> None:
    schema = cst.Schema(
        """
        feature { name: "a" type: INT shape { dim { size: 2 } dim { size: 3 } }
                  presence { min_fraction: 1 } }
        feature { name: "b" type: BYTES deprecated: true }
        feature { name: "c" type: STRUCT struct_domain { feature { name: "d" type: FLOAT } } }
        """
    )
    a, b, c = schema.features
    assert a == cst.schema.Feature("a", "int64", shape=(2, 3))
    assert b == cst.schema.Feature("b", "bytes", in_use=False)
    assert c.type == "struct"
    assert c.children == (cst.schema.Feature("d", "float32"),)


def test_feature_spec(schema: cst.Schema) -> None:
    assert schema.feature_spec() == {
        "id": cst.schema.FixedLen((), "int64"),
        "pair": cst.schema.FixedLen((2,), "float32"),
        "steps": cst.schema.VarLen("int64"),
        "tags": cst.schema.VarLen("bytes"),
    }


EXPLICIT = """
feature { name: "v" type: FLOAT }
feature { name: "i0" type: INT }
feature { name: "i1" type: INT }
feature { name: "r" type: BYTES }
feature { name: "n" type: INT }
feature { name: "d" type: BYTES }
tensor_representation_group { key: "" value {
  tensor_representation { key: "sp" value { sparse_tensor {
    index_column_names: ["i0", "i1"] value_column_name: "v" already_sorted: true
    dense_shape { dim { size: 10 } dim { size: 20 } } } } }
  tensor_representation { key: "ra" value { ragged_tensor {
    feature_path { step: "r" } partition { uniform_row_length: 2 } partition { row_length: "n" }
    row_partition_dtype: INT32 } } }
  tensor_representation { key: "de" value { dense_tensor {
    column_name: "d" shape { dim { size: 2 } } default_value { bytes_value: "x" } } } }
} }
tensor_representation_group { key: "other" value {
  tensor_representation { key: "r" value { ragged_tensor { feature_path { step: "r" } } } } } }
"""


def test_explicit_representations() -> None:
    spec = cst.Schema(EXPLICIT).feature_spec()
    assert spec == {
        "sp": cst.schema.Sparse(("i0", "i1"), "v", "float32", (10, 20), already_sorted=True),
        "ra": cst.schema.Ragged(
            "r",
            "bytes",
            (cst.schema.UniformRowLength(2), cst.schema.RowLengths("n")),
            row_splits_dtype="int32",
        ),
        "de": cst.schema.FixedLen((2,), "bytes", b"x", key="d"),
    }


def test_groups() -> None:
    schema = cst.Schema(EXPLICIT)
    other = schema.feature_spec(group="other")
    assert other["r"] == cst.schema.Ragged("r", "bytes")
    assert other["v"] == cst.schema.VarLen("float32")
    with pytest.raises(cst.errors.NotFoundError):
        schema.feature_spec(group="none")


def test_representations_say_why(schema: cst.Schema) -> None:
    tensors = schema.tensor_representations()
    assert list(tensors) == sorted(tensors)
    pair = tensors["pair"]
    assert pair == cst.schema.TensorRepresentation(
        "pair", "dense", "float32", ("pair",), (2,), reason=pair.reason
    )
    assert "shape" in pair.reason
    assert cst.Schema(EXPLICIT).tensor_representations()["sp"].explicit


def test_ragged_by_option() -> None:
    text = 'feature { name: "a" type: INT } represent_variable_length_as_ragged: true'
    assert cst.Schema(text).feature_spec() == {"a": cst.schema.Ragged("a", "int64")}


def test_legacy() -> None:
    schema = cst.Schema(
        'feature { name: "a" type: INT value_count { min: 1 max: 1 } presence { min_fraction: 1 } }'
        'feature { name: "b" type: FLOAT value_count { min: 3 max: 3 } }'
    )
    assert schema.feature_spec(legacy=True) == {
        "a": cst.schema.FixedLen((), "int64"),
        "b": cst.schema.FixedLen((3,), "float32", -1.0),
    }
    assert schema.feature_spec() == {
        "a": cst.schema.VarLen("int64"),
        "b": cst.schema.VarLen("float32"),
    }


def test_struct_leaves() -> None:
    schema = cst.Schema(
        'feature { name: "##SEQUENCE##" type: STRUCT '
        'struct_domain { feature { name: "x" type: INT } } }'
    )
    spec = schema.feature_spec()["##SEQUENCE##.x"]
    assert isinstance(spec, cst.schema.Ragged)
    assert spec.value_key == "x"


@pytest.mark.parametrize(
    "more",
    [
        "",
        """tensor_representation_group { key: "" value { tensor_representation { key: "x" value {
        ragged_tensor { feature_path { step: "foo" step: "x" } } } } } }""",
    ],
)
def test_tf_io_names_features_at_the_top_only(more: str) -> None:
    """A spec of foo.x would read the feature x."""
    schema = cst.Schema(
        "feature { name: 'foo' type: STRUCT struct_domain { "
        "feature { name: 'x' type: INT } } }" + more
    )
    with pytest.raises(cst.errors.UnsupportedError, match="inside 'foo'"):
        schema.feature_spec(tensorflow=True)
    with pytest.raises(cst.errors.UnsupportedError, match="inside 'foo'"):
        schema.sequence_feature_spec(tensorflow=True)


def test_tf_io_names_feature_lists_at_one_place_only() -> None:
    schema = cst.Schema("""
        feature { name: "##SEQUENCE##" type: STRUCT struct_domain { feature { name: "a" type: STRUCT
          struct_domain { feature { name: "b" type: INT } } } } }
        tensor_representation_group { key: "" value { tensor_representation { key: "b" value {
          ragged_tensor {
            feature_path { step: "##SEQUENCE##" step: "a" step: "b" } } } } } }
    """)
    with pytest.raises(cst.errors.UnsupportedError, match=r"inside '##SEQUENCE##\.a'"):
        schema.sequence_feature_spec(tensorflow=True)


def test_infer_schema(make_file: MakeFile) -> None:
    path = make_file("data.tfrecord.gz", 50)
    schema = cst.infer_schema(path)
    assert {f.name: (f.type, f.shape) for f in schema.features} == {
        "id": ("int64", (1,)),
        "pair": ("float32", (2,)),
        "tags": ("bytes", None),
        "steps": ("int64", None),
    }
    assert cst.infer_schema([str(path), str(path)], threads=2).features == schema.features
    assert cst.Schema.from_text(schema.to_text()) == schema
    with pytest.raises(cst.errors.NotFoundError):
        cst.infer_schema("/no/such/file-*")


def test_infer_refuses_a_changed_type(make_file: MakeFile) -> None:
    import wire

    path = make_file("d", [wire.example({"a": [1]}), wire.example({"a": [b"x"]})])
    with pytest.raises(cst.errors.SchemaError) as caught:
        cst.infer_schema(path)
    assert caught.value.record == 1
    assert caught.value.path == "a"


def test_sparse_features_have_no_legacy_form() -> None:
    schema = cst.Schema(
        'feature { name: "v" type: FLOAT } feature { name: "i" type: INT }'
        'sparse_feature { name: "s" index_feature { name: "i" } value_feature { name: "v" } }'
    )
    assert schema.feature_spec() == {"s": cst.schema.Sparse(("i",), "v", "float32", (-1,))}
    with pytest.raises(cst.Error, match="legacy"):
        schema.feature_spec(legacy=True)


def test_an_inferred_schema_can_be_saved_and_given_back(
    make_file: MakeFile, tmp_path: pathlib.Path
) -> None:
    import wire

    path = make_file("d", [wire.example({"a": [1], "never": None}), wire.example({"a": []})])
    saved = tmp_path / "schema.pbtxt"
    saved.write_text(cst.infer_schema(path).to_text())
    batches = [b.to_pydict() for b in cst.open(path, schema=saved)]
    assert batches == [b.to_pydict() for b in cst.open(path)]
    assert batches == [{"a": [[1], []], "never": [None, None]}]


SERVED = """
    default_environment: "TRAINING" default_environment: "SERVING"
    feature { name: "label" type: INT not_in_environment: "SERVING" }
    feature { name: "x" type: INT }
"""


def test_environments(tmp_path: pathlib.Path) -> None:
    schema = cst.Schema.from_text(SERVED)
    assert list(schema.tensor_representations()) == ["label", "x"]
    assert list(schema.tensor_representations(environment="SERVING")) == ["x"]
    assert list(schema.feature_spec(environment="TRAINING")) == ["label", "x"]
    assert schema.sequence_feature_spec(environment="SERVING") == (
        {"x": cst.schema.VarLen("int64")},
        {},
    )
    with pytest.raises(cst.errors.NotFoundError, match="the schema has no environment 'SERVE'"):
        schema.feature_spec(environment="SERVE")
    path = tmp_path / "a.tfrecord"
    with cst.codec.TFRecordWriter(path) as writer:
        writer.write(b"")
    source = cst.open(path, schema=schema, environment="SERVING")
    assert [list(tensors) for tensors in source.tensors()] == [["x"]]
    assert source.column_names == ["label", "x"]
    with pytest.raises(cst.errors.NotFoundError, match="environment"):
        cst.open(path, schema=schema, environment="SERVE")


def test_feature_specs_of_sequences() -> None:
    schema = cst.Schema.from_text("""
        feature { name: "user" type: INT shape { } presence { min_fraction: 1 } }
        feature { name: "##SEQUENCE##" type: STRUCT struct_domain {
          feature { name: "movie" type: INT } feature { name: "note" type: BYTES } } }
        tensor_representation_group { key: "" value { tensor_representation { key: "movie" value {
          ragged_tensor { feature_path { step: "##SEQUENCE##" step: "movie" } } } } } }
    """)
    context, steps = schema.sequence_feature_spec()
    assert context == {"user": cst.schema.FixedLen((), "int64")}
    assert steps == {
        "movie": cst.schema.Ragged("movie", "int64"),
        "##SEQUENCE##.note": cst.schema.Ragged("note", "bytes"),
    }
    assert schema.sequence_feature_spec(sequence_column="other") == ({**context, **steps}, {})
