"""Of mutated records those are decoded that the protobuf library takes, with the same values.

The other side is protobuf's Python package (upb), in the version that tools/requirements/test.txt
names; where versions differ, its decisions are followed, but for the field number 0. The message
classes are made here, so that TensorFlow is not needed.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import columnstone as cst
import google.protobuf
import pyarrow as pa
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, unknown_fields
from google.protobuf.internal import api_implementation
from google.protobuf.message import DecodeError

VERSION = "7.36"
MUTATIONS = 4000
FIELD = descriptor_pb2.FieldDescriptorProto
KINDS = {
    "bytes_list": FIELD.TYPE_BYTES,
    "float_list": FIELD.TYPE_FLOAT,
    "int64_list": FIELD.TYPE_INT64,
}
NAMES = ["a", "b", "a_name_of_more_than_sixteen_bytes", "ünï"]
GROUP = b"\xa3\x01", b"\xa4\x01"  # of the field 20, which no message has


def message_classes() -> tuple[Any, Any]:
    file = descriptor_pb2.FileDescriptorProto(
        name="records.proto", package="records", syntax="proto3"
    )

    def add_message(name: str, **fields: tuple[int, Any, bool]) -> Any:
        message = file.message_type.add(name=name)
        for field, (number, kind, repeated) in fields.items():
            label = FIELD.LABEL_REPEATED if repeated else FIELD.LABEL_OPTIONAL
            made = message.field.add(name=field, number=number, label=label)
            if isinstance(kind, str):
                made.type, made.type_name = FIELD.TYPE_MESSAGE, f".records.{kind}"
            else:
                made.type = kind
        return message

    def add_map(name: str, field: str, entry_name: str, value: str) -> None:
        message = add_message(name, **{field: (1, f"{name}.{entry_name}", True)})
        entry = add_message(entry_name, key=(1, FIELD.TYPE_STRING, False), value=(2, value, False))
        entry.options.map_entry = True
        message.nested_type.add().CopyFrom(entry)
        file.message_type.remove(entry)

    for number, (name, kind) in enumerate(KINDS.items(), 1):
        add_message(name, value=(1, kind, True))
        if number == 3:
            every = {n: (i, n, False) for i, n in enumerate(KINDS, 1)}
            feature = add_message("Feature", **every)
            feature.oneof_decl.add(name="kind")
            for field in feature.field:
                field.oneof_index = 0
    add_map("Features", "feature", "FeatureEntry", "Feature")
    add_message("FeatureList", feature=(1, "Feature", True))
    add_map("FeatureLists", "feature_list", "FeatureListEntry", "FeatureList")
    add_message("Example", features=(1, "Features", False))
    add_message(
        "SequenceExample", context=(1, "Features", False), feature_lists=(2, "FeatureLists", False)
    )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    found = [pool.FindMessageTypeByName(f"records.{n}") for n in ("Example", "SequenceExample")]
    return message_factory.GetMessageClass(found[0]), message_factory.GetMessageClass(found[1])


Example, SequenceExample = message_classes()


def test_the_version() -> None:
    assert google.protobuf.__version__.startswith(f"{VERSION}.")
    assert api_implementation.Type() == "upb"


# ---- what both sides say ----


def values_of(feature: Any) -> list[Any] | None:
    kind = feature.WhichOneof("kind")
    return None if kind is None else list(getattr(feature, kind).value)


def features_of(features: Any) -> dict[str, Any]:
    return {name: values_of(feature) for name, feature in features.feature.items()}


def lists_of(message: Any) -> dict[str, Any]:
    lists = message.feature_lists.feature_list.items()
    return {name: [values_of(f) for f in found.feature] for name, found in lists}


def theirs(make: Any, record: bytes) -> Any | None:
    try:
        return make.FromString(record)
    except DecodeError:
        return None


def example_values(message: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    return features_of(message.features), {}


def sequence_values(message: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    return features_of(message.context), lists_of(message)


def ours(decoder: Any, record: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    batch = pa.record_batch(decoder.decode([record]))
    row = {name: column[0].as_py() for name, column in zip(batch.schema.names, batch, strict=True)}
    lists = row.pop("##SEQUENCE##", None) or {}
    return row, lists


def loses_map_entries(message: Any) -> bool:
    """upb keeps a map entry with an unknown field in it as an unknown field as a whole, so that the
    feature is lost; protobuf for C++ keeps the feature, and so do we."""
    maps = [
        getattr(message, name)
        for name in ("features", "context", "feature_lists")
        if hasattr(message, name)
    ]
    return any(field.field_number == 1 for m in maps for field in unknown_fields.UnknownFieldSet(m))


def mixes_kinds(message: Any) -> bool:
    """A column has one type; the steps of a feature list in a record may have several."""
    if not hasattr(message, "feature_lists"):
        return False
    lists = message.feature_lists.feature_list.values()
    return any(len({f.WhichOneof("kind") for f in found.feature} - {None}) > 1 for found in lists)


# ---- records and mutations ----


def fill(rng: random.Random, feature: Any, kind: str | None) -> None:
    if kind is None:
        return
    values = getattr(feature, kind).value
    getattr(feature, kind).SetInParent()
    for _ in range(rng.randrange(4)):
        if kind == "bytes_list":
            values.append(rng.randbytes(rng.choice([0, 1, 5, 130])))
        else:
            number = rng.randrange(-(2**63), 2**63) if rng.random() < 0.5 else rng.randrange(200)
            values.append(float(number % 1000) / 8 if kind == "float_list" else number)


def an_example(rng: random.Random) -> bytes:
    message = Example()
    for _ in range(rng.randrange(4)):
        fill(rng, message.features.feature[rng.choice(NAMES)], rng.choice([*KINDS, None]))
    return bytes(message.SerializeToString())


def a_sequence_example(rng: random.Random) -> bytes:
    message = SequenceExample()
    for _ in range(rng.randrange(3)):
        fill(rng, message.context.feature[rng.choice(NAMES)], rng.choice([*KINDS, None]))
    for _ in range(rng.randrange(3)):
        found = message.feature_lists.feature_list[rng.choice(NAMES)]
        kind = rng.choice([*KINDS])
        for _ in range(rng.randrange(4)):
            fill(rng, found.feature.add(), kind)
    return bytes(message.SerializeToString())


def mutate(rng: random.Random, data: bytearray) -> None:
    at = rng.randrange(len(data) + 1)
    how = rng.randrange(7)
    if how == 0 and at < len(data):
        data[at] ^= 1 << rng.randrange(8)
    elif how == 1 and at < len(data):
        data[at] = rng.choice([0, 1, 2, 0x0A, 0x12, 0x1A, 0x7F, 0x80, 0xFF])
    elif how == 2:
        data[at:at] = rng.randbytes(rng.randrange(1, 4))
    elif how == 3:
        del data[at : at + rng.randrange(1, 4)]
    elif how == 4:
        del data[at:]
    elif how == 5:
        data[at:at] = data[rng.randrange(len(data) + 1) :][: rng.randrange(1, 20)]
    else:
        inner = rng.choice(
            [b"", b"\x00\x05", b"\x02\x01x", b"\x03\x04", b"\x08\x01", b"\x06", b"\x04"]
        )
        data += GROUP[0] + inner + GROUP[1]


def check(
    make: Any,
    decoder: Any,
    read: Callable[[Any], tuple[dict[str, Any], dict[str, Any]]],
    record: bytes,
) -> bool:
    """True if both take the record."""
    message = theirs(make, record)
    try:
        found = ours(decoder, record)
    except cst.Error as error:
        listed = message is not None and (
            "NUL" in str(error)  # names in the Arrow C interface end at a NUL
            or "a field has the number 0" in str(error)  # in an unknown group; see below
            or (isinstance(error, cst.errors.SchemaError) and mixes_kinds(message))
        )
        assert message is None or listed, (record.hex(), str(error))
        return False
    assert message is not None, record.hex()
    if not loses_map_entries(message):
        assert repr_of(found) == repr_of(read(message)), record.hex()
    return True


def repr_of(values: tuple[dict[str, Any], dict[str, Any]]) -> str:
    """Text in which all NaNs are one."""
    return repr([sorted(v.items()) for v in values])


SUBJECTS = {
    "example": (Example, "example", example_values, an_example),
    "sequence": (
        SequenceExample,
        "sequence_example",
        sequence_values,
        a_sequence_example,
    ),
}


@pytest.mark.parametrize("subject", SUBJECTS)
def test_mutated_records(subject: str) -> None:
    make, format, read, a_record = SUBJECTS[subject]
    rng = random.Random(7)
    decoder = cst.decoder(format)
    taken = 0
    for _ in range(MUTATIONS):
        data = bytearray(a_record(rng))
        for _ in range(rng.choice([0, 1, 1, 2, 4])):
            mutate(rng, data)
        taken += check(make, decoder, read, bytes(data))
    assert MUTATIONS // 10 < taken < MUTATIONS - MUTATIONS // 10


# ---- where versions of protobuf differ ----


@pytest.mark.parametrize("subject", SUBJECTS)
def test_lengths_of_more_than_five_bytes_are_refused(subject: str) -> None:
    make, format, read, a_record = SUBJECTS[subject]
    good = a_record(random.Random(1))
    for size in range(1, 12):
        length = b"\x01" if size == 1 else b"\x81" + b"\x80" * (size - 2) + b"\x00"
        assert check(make, cst.decoder(format), read, good + b"\x4a" + length + b"x") == (size <= 5)


@pytest.mark.parametrize("subject", SUBJECTS)
def test_the_field_number_0_is_refused_also_inside_unknown_groups(subject: str) -> None:
    """Here upb takes it, as of version 7; C++, Java and Go refuse it everywhere."""
    make, format, _, a_record = SUBJECTS[subject]
    good = a_record(random.Random(1))
    for inner in (b"\x00\x05", b"\x01" + bytes(8), b"\x02\x01x", b"\x03\x04", b"\x05" + bytes(4)):
        for group in (inner, GROUP[0] + inner + GROUP[1]):
            assert (theirs(make, good + group) is None) == (group == inner)
            with pytest.raises(cst.errors.CorruptError, match="a field has the number 0"):
                cst.decoder(format).decode([good + group])
