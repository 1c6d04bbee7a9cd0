"""tf.Example by hand, so that the tests do not depend on the encoder that they test."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

Values = Sequence[int] | Sequence[float] | Sequence[bytes] | None


def varint(n: int) -> bytes:
    n &= 2**64 - 1
    out = bytearray()
    while n >= 0x80:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def field(number: int, data: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(data)) + data


def feature(values: Values, kind: str | None = None) -> bytes:
    """A Feature; None is one without a kind. `kind` is for empty lists."""
    if values is None:
        return b""
    kind = kind or {bytes: "bytes", float: "float", int: "int"}[type(values[0]) if values else int]
    if kind == "bytes":
        return field(1, b"".join(field(1, v) for v in values))
    if kind == "float":
        return field(2, field(1, struct.pack(f"<{len(values)}f", *values)))
    return field(3, field(1, b"".join(varint(v) for v in values)))


def entry(name: str, serialized_feature: bytes) -> bytes:
    return field(1, field(1, name.encode()) + field(2, serialized_feature))


def example(features: Mapping[str, Values]) -> bytes:
    return field(1, b"".join(entry(name, feature(v)) for name, v in features.items()))
