"""The TFMD Schema, read and written: the same as protobuf's own text and binary formats.

Random messages are filled through tensorflow_metadata's descriptors, so that every field of
schema.proto takes part, and then made a schema that holds together (names, types, shapes).
"""

from __future__ import annotations

import random
from typing import Any

import columnstone as cst
import pytest
from google.protobuf import text_format
from google.protobuf.descriptor import FieldDescriptor as Field
from tensorflow_metadata.proto.v0 import schema_pb2

SCHEMAS = 300
WORDS = ["", "x", "a.b", 'quote"', "back\\slash", "new\nline", "ünï", "tab\t", "per 100 %"]
SEMANTIC = {  # fields that mean something to us: set by `hold_together`
    "feature", "sparse_feature", "weighted_feature", "tensor_representation_group", "name", "type",
    "shape", "struct_domain", "float_domain", "value_counts", "domain",
}  # fmt: skip


def scalar(rng: random.Random, field: Any) -> Any:
    kind = field.cpp_type
    if kind == Field.CPPTYPE_STRING:
        is_bytes = field.type == Field.TYPE_BYTES
        return rng.randbytes(rng.randrange(5)) if is_bytes else rng.choice(WORDS)
    if kind == Field.CPPTYPE_BOOL:
        return rng.random() < 0.5
    if kind == Field.CPPTYPE_ENUM:
        return rng.choice(field.enum_type.values).number
    if kind in (Field.CPPTYPE_FLOAT, Field.CPPTYPE_DOUBLE):
        return rng.choice([0.0, -0.0, 0.25, 1e30, -3.5, float("inf"), 123456.0])
    if kind in (Field.CPPTYPE_UINT32, Field.CPPTYPE_UINT64):
        return rng.choice([0, 1, 2**32 - 1])
    return rng.choice([0, 1, -1, 100, 2**31 - 1, -(2**31)])


def fill(rng: random.Random, message: Any, depth: int = 0) -> None:
    """Sets random fields, those of `SEMANTIC` and the contents of Any left alone."""
    for field in message.DESCRIPTOR.fields:
        if field.name in SEMANTIC or rng.random() < 0.6 + depth / 10:
            continue
        repeated = field.is_repeated
        if field.message_type and field.message_type.full_name == "google.protobuf.Any":
            continue
        if field.message_type and field.message_type.GetOptions().map_entry:
            continue
        if field.message_type and repeated:
            for _ in range(rng.randrange(3) if depth < 4 else 0):
                fill(rng, getattr(message, field.name).add(), depth + 1)
        elif field.message_type:
            if depth < 4:
                getattr(message, field.name).SetInParent()
                fill(rng, getattr(message, field.name), depth + 1)
        elif repeated:
            getattr(message, field.name).extend(scalar(rng, field) for _ in range(rng.randrange(3)))
        else:
            setattr(message, field.name, scalar(rng, field))


def a_schema(rng: random.Random) -> schema_pb2.Schema:
    schema = schema_pb2.Schema()
    fill(rng, schema)
    for i in range(rng.randrange(5)):
        feature = schema.feature.add()
        fill(rng, feature)
        hold_together(rng, feature, f"feature{i}")
    if len(schema.feature) >= 2 and rng.random() < 0.5:
        for feature in schema.feature[:2]:
            feature.ClearField("int_domain")
        schema.feature[0].type = schema_pb2.INT
        sparse = schema.sparse_feature.add(name="sparse", is_sorted=rng.random() < 0.5)
        sparse.index_feature.add(name="feature0")
        sparse.value_feature.name = "feature1"
    if schema.feature and rng.random() < 0.5:
        group = schema.tensor_representation_group[rng.choice(["", "other"])]
        group.tensor_representation["t"].varlen_sparse_tensor.column_name = "feature0"
    return schema


def hold_together(rng: random.Random, feature: Any, name: str) -> None:
    feature.name = name
    feature.type = rng.choice([schema_pb2.INT, schema_pb2.FLOAT, schema_pb2.BYTES])
    if feature.WhichOneof("domain_info") not in (None, "int_domain"):
        return
    if rng.random() < 0.3:
        feature.ClearField("value_count")
        feature.presence.min_fraction = 1
        feature.shape.SetInParent()
        for _ in range(rng.randrange(3)):
            feature.shape.dim.add(size=rng.randrange(1, 4))


@pytest.fixture(scope="module", params=range(6))
def schemas(request: pytest.FixtureRequest) -> list[schema_pb2.Schema]:
    rng = random.Random(request.param)
    return [a_schema(rng) for _ in range(SCHEMAS // 6)]


def test_text_to_binary(schemas: list[schema_pb2.Schema]) -> None:
    for schema in schemas:
        ours = cst.Schema.from_text(text_format.MessageToString(schema))
        assert schema_pb2.Schema.FromString(ours.to_bytes()) == schema


def test_binary_to_text(schemas: list[schema_pb2.Schema]) -> None:
    for schema in schemas:
        ours = cst.Schema.from_bytes(schema.SerializeToString())
        assert text_format.Parse(ours.to_text(), schema_pb2.Schema()) == schema


def test_text_forms_of_protobuf(schemas: list[schema_pb2.Schema]) -> None:
    """One line, unquoted UTF-8, angle brackets: forms of the text that protobuf writes itself."""
    for schema in schemas:
        for options in (
            {"as_one_line": True},
            {"as_utf8": True},
            {"pointy_brackets": True},
            {"use_short_repeated_primitives": True},
        ):
            text = text_format.MessageToString(schema, **options)
            ours = cst.Schema.from_text(text)
            assert schema_pb2.Schema.FromString(ours.to_bytes()) == schema, options


def test_there_and_back(schemas: list[schema_pb2.Schema]) -> None:
    for schema in schemas:
        first = cst.Schema.from_bytes(schema.SerializeToString())
        again = cst.Schema.from_text(first.to_text())
        assert again.to_text() == first.to_text()
        assert again.to_bytes() == first.to_bytes()


def test_unknown_fields_are_kept(schemas: list[schema_pb2.Schema]) -> None:
    """Fields of a later schema.proto survive binary, text and binary again, nested ones too."""
    unknown = b"\xfa\x7f\x03new" + b"\xa0\xff\x01\x2a" + b"\xfa\xff\x01\x04\x08\x01\x12\x00"
    for schema in schemas:
        serialized = bytearray(schema.SerializeToString())
        serialized += unknown
        feature = schema_pb2.Feature(name="last", type=schema_pb2.INT).SerializeToString() + unknown
        serialized += b"\x0a" + bytes([len(feature)]) + feature
        ours = cst.Schema.from_bytes(bytes(serialized))
        wanted = schema_pb2.Schema.FromString(bytes(serialized))
        assert schema_pb2.Schema.FromString(ours.to_bytes()) == wanted
        through_text = cst.Schema.from_text(ours.to_text())
        assert through_text.to_bytes().count(b"\xfa\x7f\x03new") == 2
        assert schema_pb2.Schema.FromString(through_text.to_bytes()) == wanted


TEXTS = [
    "",
    "# only a comment\n",
    'feature { name: "a" type: INT }',
    'feature: { name: "a", type: INT; }',
    "feature < name: 'a' type: 2 >",
    'feature { name: "a" "b" \'c\' type: BYTES }',
    'feature { name: "\\x41\\102\\u0043\\n" type: FLOAT }',
    'feature { name: "a" type: FLOAT float_domain { min: 1f max: inf } }',
    'feature { name: "a" type: FLOAT float_domain { min: -.5 max: 1e3F disallow_nan: t } }',
    'feature { name: "a" type: INT int_domain { min: 0x10 max: 0777 } }',
    'feature [{ name: "a" type: INT }, { name: "b" type: INT }]',
    'default_environment: ["x", "y"]',
    'feature { name: "a" type: INT presence { min_fraction: 1 min_count: 1 } } # end',
    'string_domain { name: "d" value: "1" value: "2" }',
]


@pytest.mark.parametrize("text", TEXTS)
def test_text_syntax(text: str) -> None:
    wanted = text_format.Parse(text, schema_pb2.Schema())
    assert schema_pb2.Schema.FromString(cst.Schema.from_text(text).to_bytes()) == wanted


BAD_TEXTS = [
    "feature {",
    "feature }",
    'feature { name: "a }',
    "feature { name: a type: INT }",
    'feature { name: "a" type: INTEGER }',
    'feature { name: "a" type: INT int_domain { min: 99999999999999999999 } }',
    'feature { name: "a" type: INT deprecated: maybe }',
    'feature { nam: "a" }',
    'feature { name: "a" name: "b" type: INT }',
    "feature",
]


@pytest.mark.parametrize("text", BAD_TEXTS)
def test_bad_text_is_refused_by_both(text: str) -> None:
    with pytest.raises(text_format.ParseError):
        text_format.Parse(text, schema_pb2.Schema())
    with pytest.raises(cst.errors.SchemaError):
        cst.Schema.from_text(text)


def test_truncated_binary_is_refused_by_both(schemas: list[schema_pb2.Schema]) -> None:
    serialized = max((s.SerializeToString() for s in schemas), key=len)
    for end in range(len(serialized)):
        try:
            schema_pb2.Schema.FromString(serialized[:end])
        except Exception:
            with pytest.raises(cst.Error):
                cst.Schema.from_bytes(serialized[:end])
