"""The descriptor tables of the schema room are tensorflow_metadata's descriptors, in every detail;
and what schemas become as tensors is what tfx_bsl infers."""

from __future__ import annotations

import pathlib
import random
import shutil
import subprocess
from typing import Any

import columnstone as cst
import pytest
from columnstone.schema import RowLengths
from support import schema_proto
from tensorflow_metadata.proto.v0 import schema_pb2, statistics_pb2
from tfx_bsl.tfxio import tensor_representation_util as reps

TOP = pathlib.Path(__file__).resolve().parents[2]
SCHEMAS = 2000


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """It prints the tables, which are made of the .proto files as the build makes them."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    assert compiler is not None, "a C compiler is needed"
    folder = tmp_path_factory.mktemp("dump")
    package, of_schema = (
        "tensorflow.metadata.v0",
        sorted((TOP / "src/schema/protos").glob("*.proto")),
    )
    of_statistics = [
        TOP / "src/schema/protos/path.proto",
        TOP / "src/statistics/protos/statistics.proto",
    ]
    tables = {
        ("schema/descriptors.h", f"cst__schema_def={package}.Schema"): of_schema,
        (
            "statistics/tfdv.h",
            f"cst__tfdv_feature_def={package}.FeatureNameStatistics",
        ): of_statistics,
    }
    sources: list[str | pathlib.Path] = ["tests/peers/dump_descriptors.c"]
    for i, (arguments, protos) in enumerate(tables.items()):
        sources.append(folder / f"tables{i}.c")
        subprocess.run(
            [TOP / "tools/make_proto_tables", sources[-1], *arguments, *protos], check=True
        )
    made = folder / "dump_descriptors"
    includes = ["-Isrc", "-Iinclude"]
    subprocess.run([compiler, "-std=c11", *includes, *sources, "-o", made], cwd=TOP, check=True)
    return made


def dump_of(program: pathlib.Path, *arguments: str) -> set[str]:
    ran = subprocess.run([program, *arguments], capture_output=True, text=True, check=True)
    return set(ran.stdout.splitlines())


def lines_of_field(field: Any) -> str:
    is_proto3_string = field.type == field.TYPE_STRING and field.file.name not in (
        "tensorflow_metadata/proto/v0/schema.proto",
        "tensorflow_metadata/proto/v0/path.proto",
    )
    flags = [
        ("repeated", field.is_repeated),
        ("packed", field.is_repeated and field.is_packed),
        ("implicit", not field.is_repeated and not field.has_presence),
        ("utf8", is_proto3_string),
    ]
    shown = "".join(f"{name} " for name, is_set in flags if is_set)
    oneof = field.containing_oneof.name if field.containing_oneof else "-"
    kind = field.message_type or field.enum_type
    type_name = kind.full_name if kind else "-"
    owner = field.containing_type.full_name
    return f"{owner} field {field.number} {field.name} {field.type} {shown}. {oneof} {type_name}"


def walk(message: Any, lines: set[str]) -> None:
    head = f"{message.full_name} message {'map' if message.GetOptions().map_entry else 'plain'}"
    if head in lines:
        return
    lines.add(head)
    for field in message.fields:
        lines.add(lines_of_field(field))
        if field.message_type:
            walk(field.message_type, lines)
        if field.enum_type:
            name = field.enum_type.full_name
            lines.add(f"{name} enum {'closed' if field.enum_type.is_closed else 'open'}")
            lines.update(f"{name} value {v.number} {v.name}" for v in field.enum_type.values)


# What the tables have beyond the peer's: the kind of the RFC that schema.proto does not have.
OURS = {
    "tensorflow.metadata.v0.TensorRepresentation field 1000 structured_tensor 11 . kind "
    "columnstone.StructuredTensor",
    "columnstone.StructuredTensor message plain",
    "columnstone.StructuredTensor field 1 column_names 9 repeated . - -",
}


def test_tables_are_the_descriptors(program: pathlib.Path) -> None:
    wanted: set[str] = set()
    dump = dump_of(program)
    walk(schema_pb2.Schema.DESCRIPTOR, wanted)
    assert sorted(wanted - dump) == []
    assert dump - wanted == OURS


def test_tables_of_statistics_are_of_the_descriptors(program: pathlib.Path) -> None:
    """Those of the fields that are read or written."""
    theirs: set[str] = set()
    walk(statistics_pb2.FeatureNameStatistics.DESCRIPTOR, theirs)
    dump = dump_of(program, "statistics")
    assert len(dump) > 80
    assert sorted(dump - theirs) == []


# ---- tensor representations ----

DTYPES = {schema_pb2.BYTES: "bytes", schema_pb2.INT: "int64", schema_pb2.FLOAT: "float32"}


def a_schema(rng: random.Random) -> schema_pb2.Schema:
    """Features, a struct, a sparse feature and a group, thrown together: not all of it holds."""
    schema = schema_pb2.Schema(represent_variable_length_as_ragged=rng.random() < 0.3)
    for i in range(rng.randrange(1, 8)):
        feature = schema.feature.add(name=f"f{i}", type=rng.choice([1, 2, 2, 2, 3]))
        if rng.random() < 0.3:
            feature.shape.SetInParent()
            for _ in range(rng.randrange(3)):
                feature.shape.dim.add(size=rng.randrange(4))
            feature.presence.min_fraction = 1 if rng.random() < 0.9 else 0.5
        feature.deprecated = rng.random() < 0.1
        feature.lifecycle_stage = rng.choice([0, 0, 0, 3, 4, 1, 2, 5, 6, 7, 9])
        if feature.type == schema_pb2.INT and rng.random() < 0.3:
            feature.int_domain.min = 0 if rng.random() < 0.9 else 1
            if rng.random() < 0.9:
                feature.int_domain.max = rng.randrange(20)
    names = [f.name for f in schema.feature]
    ints = [f.name for f in schema.feature if f.type == schema_pb2.INT] or names
    if rng.random() < 0.2:
        struct = schema.feature.add(name="s", type=schema_pb2.STRUCT).struct_domain
        for kind in DTYPES:
            struct.feature.add(name=f"c{kind}", type=kind)
    if rng.random() < 0.4:
        sparse = schema.sparse_feature.add(name="sparse", is_sorted=rng.random() < 0.5)
        sparse.value_feature.name = rng.choice(names)
        for _ in range(rng.randrange(1, 3)):
            sparse.index_feature.add(name=rng.choice(ints))
    if rng.random() < 0.4:
        for k in range(rng.randrange(1, 4)):
            group = schema.tensor_representation_group[""].tensor_representation
            add_tensor(rng, group[rng.choice([f"t{k}", *names])], schema, names, ints)
    return schema


def add_tensor(rng: random.Random, tensor: Any, schema: Any, names: Any, ints: Any) -> None:
    column = rng.choice(names)
    kind = rng.randrange(4)
    tensor.Clear()  # the name may have been drawn before
    if kind == 0:
        tensor.dense_tensor.column_name = column
        for _ in range(rng.randrange(3)):
            tensor.dense_tensor.shape.dim.add(size=rng.randrange(1, 4))
        if rng.random() < 0.5:
            type_ = next(f.type for f in schema.feature if f.name == column)
            field = {1: "bytes_value", 2: "int_value", 3: "float_value"}[type_]
            value = {1: b"none", 2: -5, 3: 0.5}[type_]
            setattr(tensor.dense_tensor.default_value, field, value)
    elif kind == 1:
        tensor.varlen_sparse_tensor.column_name = column
    elif kind == 2:
        tensor.sparse_tensor.value_column_name = column
        tensor.sparse_tensor.already_sorted = rng.random() < 0.5
        for _ in range(rng.randrange(1, 3)):
            tensor.sparse_tensor.index_column_names.append(rng.choice(ints))
            tensor.sparse_tensor.dense_shape.dim.add(size=rng.choice([-1, 5]))
    else:
        tensor.ragged_tensor.feature_path.step.append(column)
        tensor.ragged_tensor.row_partition_dtype = rng.randrange(3)
        for _ in range(rng.randrange(3)):
            partition = tensor.ragged_tensor.partition.add()
            if rng.random() < 0.5:
                partition.uniform_row_length = 2
            else:
                partition.row_length = rng.choice(ints)


def theirs(schema: schema_pb2.Schema) -> dict[str, Any]:
    types = {(f.name,): f.type for f in schema.feature}
    types |= {(f.name, c.name): c.type for f in schema.feature for c in f.struct_domain.feature}
    found = {}
    for name, rep in reps.InferTensorRepresentationsFromMixedSchema(schema).items():
        kind = rep.WhichOneof("kind")
        tensor = getattr(rep, kind)
        path = tuple(reps.GetSourceValueColumnFromTensorRepresentation(rep).steps())
        entry: dict[str, Any] = {"kind": kind.removesuffix("_tensor"), "path": path}
        entry["dtype"] = DTYPES[types[path]]
        if kind == "dense_tensor":
            entry["shape"] = tuple(d.size for d in tensor.shape.dim)
            which = tensor.default_value.WhichOneof("kind")
            entry["default"] = getattr(tensor.default_value, which) if which else None
        elif kind == "sparse_tensor":
            entry["shape"] = tuple(d.size for d in tensor.dense_shape.dim)
            entry["index_columns"] = tuple(tensor.index_column_names)
            entry["already_sorted"] = tensor.already_sorted
        elif kind == "ragged_tensor":
            entry["row_splits_dtype"] = "int32" if tensor.row_partition_dtype == 2 else "int64"
            entry["partitions"] = [
                p.row_length if p.HasField("row_length") else p.uniform_row_length
                for p in tensor.partition
            ]
        found[name] = entry
    return found


def ours(schema: schema_pb2.Schema, like: dict[str, Any]) -> dict[str, Any]:
    found = {}
    for name, rep in cst.Schema(schema.SerializeToString()).tensor_representations().items():
        entry = {key: getattr(rep, key) for key in like.get(name, {"kind": 0})}
        if "partitions" in entry:
            entry["partitions"] = [
                p.key if isinstance(p, RowLengths) else p.length for p in rep.partitions
            ]
        found[name] = entry
    return found


# What we refuse and tfx_bsl does not (its tensors then fail, or hold the wrong rows).
STRICTER = ["expected INT", "two tensors have the same name"]


@pytest.mark.parametrize("seed", range(4))
def test_representations_are_those_of_tfx_bsl(seed: int) -> None:
    rng = random.Random(seed)
    compared = 0
    for _ in range(SCHEMAS // 4):
        schema = a_schema(rng)
        try:
            wanted = theirs(schema)
        except (ValueError, NotImplementedError):
            # A feature that an explicit tensor uses need not obey the rules for inferred ones here.
            if not schema.tensor_representation_group:
                with pytest.raises(cst.Error):
                    cst.Schema(schema.SerializeToString()).tensor_representations()
            continue
        try:
            found = ours(schema, wanted)
        except cst.errors.SchemaError as error:
            assert any(text in str(error) for text in STRICTER), error
            continue
        assert found == wanted
        compared += 1
    assert compared > SCHEMAS // 4 // 3


def test_the_taxi_schema(taxi: pathlib.Path) -> None:
    text = (taxi / "schema.pbtxt").read_text(encoding="utf-8")
    wanted = theirs(schema_proto(text))
    assert ours(schema_proto(text), wanted) == wanted


def test_structured_tensors_survive_in_the_peer() -> None:
    ours = cst.Schema.from_text(
        'feature { name: "a" type: INT } tensor_representation_group { key: "" value { '
        'tensor_representation { key: "t" value { structured_tensor { column_names: "a" } } } } }'
    )
    message = schema_pb2.Schema.FromString(ours.to_bytes())
    assert message.SerializeToString(deterministic=True) == ours.to_bytes()
    (tensor,) = cst.Schema(message).tensor_representations().values()
    assert (tensor.kind, [field.name for field in tensor.fields]) == ("structured", ["a"])
