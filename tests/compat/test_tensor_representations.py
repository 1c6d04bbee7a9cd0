"""tensor_representation_util says of schemas what tfx_bsl's says, and refuses what it refuses."""

from __future__ import annotations

from typing import Any

import pytest
from columnstone.compat.tfx_bsl.arrow.path import ColumnPath
from columnstone.compat.tfx_bsl.tfxio import tensor_representation_util as ours
from conftest import real
from google.protobuf import text_format
from tensorflow_metadata.proto.v0 import schema_pb2

theirs = real("tfx_bsl.tfxio.tensor_representation_util")

SCHEMAS = {
    "nothing": "",
    "shapes": """
        feature { name: "a" type: INT shape { } presence { min_fraction: 1 } }
        feature { name: "b" type: FLOAT shape { dim { size: 2 } } presence { min_fraction: 1 } }
        feature { name: "c" type: BYTES }
        feature { name: "gone" type: BYTES lifecycle_stage: DEPRECATED }
        feature { name: "planned" type: BYTES lifecycle_stage: PLANNED }""",
    "ragged ones": 'represent_variable_length_as_ragged: true feature { name: "c" type: BYTES }',
    "a shape that is not always there": """
        feature { name: "a" type: INT shape { } presence { min_fraction: 0.5 } }""",
    "sparse": """
        feature { name: "i" type: INT int_domain { min: 0 max: 9 } }
        feature { name: "j" type: INT }
        feature { name: "v" type: FLOAT }
        feature { name: "w" type: INT }
        sparse_feature { name: "s" index_feature { name: "i" } index_feature { name: "j" }
          value_feature { name: "v" } is_sorted: true }
        sparse_feature { name: "flat" value_feature { name: "w" } }""",
    "sparse without values": """
        sparse_feature { name: "s" value_feature { name: "v" } }""",
    "sparse without indices": """
        feature { name: "v" type: FLOAT }
        sparse_feature { name: "s" index_feature { name: "i" } value_feature { name: "v" } }""",
    "sparse from 1 on": """
        feature { name: "i" type: INT int_domain { min: 1 max: 9 } } feature { name: "v" type: INT }
        sparse_feature { name: "s" index_feature { name: "i" } value_feature { name: "v" } }""",
    "sparse without an end": """
        feature { name: "i" type: INT int_domain { min: 0 } } feature { name: "v" type: INT }
        sparse_feature { name: "s" index_feature { name: "i" } value_feature { name: "v" } }""",
    "structs": """
        feature { name: "##SEQUENCE##" type: STRUCT struct_domain {
          feature { name: "x" type: INT } feature { name: "y" type: BYTES } } }""",
    "structs with shapes, and fields in any stage": """
        feature { name: "s" type: STRUCT shape { dim { size: 2 } } struct_domain {
          feature { name: "x" type: INT deprecated: true }
          feature { name: "y" type: BYTES lifecycle_stage: PLANNED } } }""",
    "structs within structs": """
        feature { name: "s" type: STRUCT struct_domain { feature { name: "t" type: STRUCT } } }""",
    "a group": """
        feature { name: "a" type: INT } feature { name: "b" type: INT }
        feature { name: "c" type: INT }
        tensor_representation_group { key: "" value {
          tensor_representation { key: "t" value {
            dense_tensor { column_name: "a" shape { dim { size: 2 } } } } }
          tensor_representation { key: "r" value { ragged_tensor {
            feature_path { step: "b" } partition { row_length: "c" } } } } } }""",
    "a group that leaves one out": """
        feature { name: "a" type: INT } feature { name: "b" type: INT }
        tensor_representation_group { key: "" value { tensor_representation { key: "t" value {
          varlen_sparse_tensor { column_name: "a" } } } } }""",
    "a group of no feature": """
        tensor_representation_group { key: "" value { tensor_representation { key: "t" value {
          varlen_sparse_tensor { column_name: "a" } } } } }""",
    "sequences": """
        feature { name: "a" type: INT }
        feature { name: "s" type: STRUCT struct_domain { feature { name: "x" type: FLOAT } } }
        tensor_representation_group { key: "" value {
          tensor_representation { key: "t" value { varlen_sparse_tensor { column_name: "a" } } }
          tensor_representation { key: "x" value { ragged_tensor {
            feature_path { step: "s" step: "x" } } } } } }""",
}
REPRESENTATIONS = [
    "",
    'dense_tensor { column_name: "a" }',
    'dense_tensor { column_name: "a" shape { dim { size: 2 } } default_value { int_value: 7 } }',
    'dense_tensor { column_name: "a" default_value { bytes_value: "x" } }',
    'varlen_sparse_tensor { column_name: "a" }',
    'sparse_tensor { dense_shape { dim { size: 9 } dim { size: -1 } } index_column_names: "i" '
    'index_column_names: "j" value_column_name: "a" already_sorted: true }',
    'sparse_tensor { dense_shape { dim { size: 9 } } index_column_names: "i" }',
    'ragged_tensor { feature_path { step: "a" } }',
    'ragged_tensor { feature_path { step: "s" step: "a" } partition { row_length: "n" } }',
    'ragged_tensor { feature_path { step: "a" } partition { row_length: "n" } '
    "partition { uniform_row_length: 3 } row_partition_dtype: INT32 }",
    "ragged_tensor { feature_path { } }",
]


def told(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: told(item) for key, item in value.items()}
    if type(value).__name__ == "ColumnPath":
        return value.steps()
    if isinstance(value, list):
        return [told(item) for item in value]
    return str(value) if hasattr(value, "DESCRIPTOR") else value


def outcome(function: Any, *arguments: Any) -> Any:
    """What it gives, or the class of its error."""
    try:
        return told(function(*arguments))
    except (ValueError, KeyError, NotImplementedError) as error:
        return type(error)


def schema_of(name: str) -> schema_pb2.Schema:
    return text_format.Parse(SCHEMAS[name], schema_pb2.Schema())


@pytest.mark.parametrize(
    "function",
    [
        "GetTensorRepresentationsFromSchema",
        "InferTensorRepresentationsFromSchema",
        "InferTensorRepresentationsFromMixedSchema",
        "CreateTfSequenceExampleParserConfig",
        "ValidateTensorRepresentationsInSchema",
    ],
)
@pytest.mark.parametrize("name", SCHEMAS)
def test_of_a_schema(function: str, name: str) -> None:
    found = [outcome(getattr(module, function), schema_of(name)) for module in (ours, theirs)]
    if isinstance(found[0], dict):  # tensors, in whatever order
        assert sorted(found[0].items()) == sorted(found[1].items())
    else:
        assert found[0] == found[1]


@pytest.mark.parametrize("names", [("t",), ("r",), ("t", "r"), (), ("none",), ("s",), ("a", "c")])
@pytest.mark.parametrize("name", SCHEMAS)
def test_projections(name: str, names: tuple[str, ...]) -> None:
    function = "ProjectTensorRepresentationsInSchema"
    found = [outcome(getattr(m, function), schema_of(name), list(names)) for m in (ours, theirs)]
    assert found[0] == found[1]


@pytest.mark.parametrize("text", REPRESENTATIONS)
def test_of_a_representation(text: str) -> None:
    message = text_format.Parse(text, schema_pb2.TensorRepresentation())
    for function in (
        "GetSourceColumnsFromTensorRepresentation",
        "GetSourceValueColumnFromTensorRepresentation",
    ):
        found = [outcome(getattr(module, function), message) for module in (ours, theirs)]
        assert found[0] == found[1]
    for kind in (schema_pb2.INT, schema_pb2.FLOAT, schema_pb2.BYTES, schema_pb2.STRUCT):
        made = [outcome(m.CreateTfExampleParserConfig, message, kind) for m in (ours, theirs)]
        assert made[0] == made[1]


def test_columns_are_paths() -> None:
    message = text_format.Parse(REPRESENTATIONS[4], schema_pb2.TensorRepresentation())
    assert ours.GetSourceColumnsFromTensorRepresentation(message) == [ColumnPath("a")]


@pytest.mark.parametrize("group", ["", "other"])
def test_representations_are_put_into_a_schema(group: str) -> None:
    messages = {
        str(i): text_format.Parse(text, schema_pb2.TensorRepresentation())
        for i, text in enumerate(REPRESENTATIONS)
    }
    schemas = []
    for module in (ours, theirs):
        schema = schema_of("a group")
        assert module.SetTensorRepresentationsInSchema(schema, messages, group) is None
        assert module.GetTensorRepresentationsFromSchema(schema, group) == messages
        assert module.GetTensorRepresentationsFromSchema(schema, "none") is None
        schemas.append(schema)
    assert schemas[0] == schemas[1]


def test_features_without_a_type_and_parsers_of_rank_0() -> None:
    """TFT's schema_utils has both."""
    theirs = real("tfx_bsl.tfxio.tensor_representation_util")
    schema = text_format.Parse(
        'feature { name: "x" } feature { name: "v" type: INT } '
        'sparse_feature { name: "s" value_feature { name: "v" } }',
        schema_pb2.Schema(),
    )
    found = ours.InferTensorRepresentationsFromSchema(schema)
    assert found == theirs.InferTensorRepresentationsFromSchema(schema)
    parser = ours.CreateTfExampleParserConfig(found["s"], schema_pb2.INT)
    assert parser == theirs.CreateTfExampleParserConfig(found["s"], schema_pb2.INT)
    missing = text_format.Parse('feature { name: "x" type: INT shape {} }', schema_pb2.Schema())
    for module in (ours, theirs):
        with pytest.raises(ValueError, match="Feature x had shape  set but min_fraction"):
            module.InferTensorRepresentationsFromSchema(missing)
