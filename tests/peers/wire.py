"""Serialized tf.Examples built byte by byte, in every form that protobuf's rules allow.

A library that writes protobuf cannot write most of these forms: unpacked next to packed values, a
feature twice, fields in an unusual order, fields that the message does not have.
"""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Sequence

VARINT, FIXED64, LENGTH, START_GROUP, END_GROUP, FIXED32 = range(6)
KIND_FIELDS = {"BYTES": 1, "FLOAT": 2, "INT": 3}
Value = int | float | bytes


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def padded_varint(value: int, size: int) -> bytes:
    """The same number in more bytes than it needs, which protobuf reads as well."""
    out = bytearray(varint(value))
    while len(out) < size:
        out[-1] |= 0x80
        out.append(0)
    return bytes(out)


def tag(field: int, wire_type: int) -> bytes:
    return varint(field << 3 | wire_type)


def delimited(field: int, payload: bytes) -> bytes:
    return tag(field, LENGTH) + varint(len(payload)) + payload


UNKNOWN_FIELDS = [
    b"",
    tag(15, VARINT) + varint(1 << 40),
    tag(16, FIXED64) + b"12345678",
    tag(2047, FIXED32) + b"1234",
    delimited(99, b"unknown"),
    tag(20, START_GROUP) + tag(1, VARINT) + varint(5) + delimited(2, b"x") + tag(20, END_GROUP),
]


@dataclasses.dataclass(frozen=True)
class Form:
    """How one feature is written."""

    runs: tuple[bool, ...] = (True,)  # cut the values into that many runs; packed or one by one
    split_lists: bool = False  # each run in a list message of its own (protobuf merges them)
    value_first: bool = False  # the map entry's value before its key
    unknown: int = 0  # which unknown field to strew in, at every level
    loose_varints: bool = False  # varints longer than needed


@dataclasses.dataclass(frozen=True)
class Feature:
    """kind None: the key is there, but the feature has no kind."""

    name: str
    kind: str | None
    values: tuple[Value, ...] = ()
    form: Form = Form()


def _number(kind: str, value: Value, form: Form) -> bytes:
    if kind == "FLOAT":
        return struct.pack("<f", value)
    assert isinstance(value, int)
    return padded_varint(value, 10 if value < 0 else 5) if form.loose_varints else varint(value)


def _run(kind: str, values: Sequence[Value], packed: bool, form: Form) -> bytes:
    if kind == "BYTES":
        return b"".join(delimited(1, v) for v in values if isinstance(v, bytes))
    if packed:
        return delimited(1, b"".join(_number(kind, v, form) for v in values))
    head = tag(1, FIXED32 if kind == "FLOAT" else VARINT)
    return b"".join(head + _number(kind, v, form) for v in values)


def feature_message(feature: Feature) -> bytes:
    form = feature.form
    unknown = UNKNOWN_FIELDS[form.unknown]
    if feature.kind is None:
        return unknown
    count = len(form.runs)
    size = -(-len(feature.values) // count) if feature.values else 0
    runs = [
        _run(feature.kind, feature.values[i * size : (i + 1) * size], packed, form)
        for i, packed in enumerate(form.runs)
        if feature.values[i * size : (i + 1) * size] or i == 0
    ]
    field = KIND_FIELDS[feature.kind]
    if form.split_lists:
        return unknown + b"".join(delimited(field, unknown + run) for run in runs)
    return unknown + delimited(field, unknown.join(runs) + unknown) + unknown


def entry(feature: Feature) -> bytes:
    key = delimited(1, feature.name.encode())
    value = delimited(2, feature_message(feature))
    unknown = UNKNOWN_FIELDS[feature.form.unknown]
    parts = [value, key] if feature.form.value_first else [key, value]
    return delimited(1, unknown.join(parts))


def example(features: Sequence[Feature], split: bool = False) -> bytes:
    """One Example; `split` puts every feature into a Features message of its own."""
    entries = [entry(f) for f in features]
    if split:
        return b"".join(delimited(1, e) for e in entries)
    return delimited(1, b"".join(entries)) if entries else b""
