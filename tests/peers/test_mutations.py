"""Promise P10: of mutated Examples we accept those that protobuf accepts, with the same values.

The other side is protobuf's upb (6.33), through TensorFlow's Python classes. We decide as protobuf
7.36 does (python/tests/test_protobuf.py), and where upb loses a feature that protobuf's C++ parser
keeps, as C++ does. Every difference is listed here by name.
COLUMNSTONE_MUTATIONS sets how many messages are tried, COLUMNSTONE_SEED which ones.
"""

from __future__ import annotations

import collections
import os
import random
import struct
from collections.abc import Callable
from typing import Any

import columnstone as cst
import pyarrow as pa
import tensorflow as tf
import wire
from google.protobuf import unknown_fields
from support import by_protobuf, exact, tfx_bsl

MUTATIONS = int(os.environ.get("COLUMNSTONE_MUTATIONS", "100000"))
SEED = int(os.environ.get("COLUMNSTONE_SEED", "10"))
NAMES = ["a", "b", "name", "a_name_of_more_than_sixteen_bytes", "ünï"]


def a_value(rng: random.Random, kind: str) -> wire.Value:
    if kind == "INT":
        return rng.choice([rng.randrange(200), rng.randrange(-(2**63), 2**63)])
    if kind == "FLOAT":
        return struct.unpack("<f", struct.pack("<f", rng.uniform(-1e3, 1e3)))[0]
    return rng.randbytes(rng.choice([0, 1, 5, 130]))


def a_record(rng: random.Random) -> bytes:
    features = []
    for _ in range(rng.randrange(4)):
        kind = rng.choice(["INT", "FLOAT", "BYTES", None])
        values = tuple(a_value(rng, kind) for _ in range(rng.randrange(4))) if kind else ()
        form = wire.Form(
            runs=tuple(rng.random() < 0.7 for _ in range(rng.choice([1, 1, 2]))),
            split_lists=rng.random() < 0.2,
            value_first=rng.random() < 0.2,
            unknown=rng.randrange(len(wire.UNKNOWN_FIELDS)) if rng.random() < 0.2 else 0,
            loose_varints=rng.random() < 0.1,
        )
        features.append(wire.Feature(rng.choice(NAMES), kind, values, form))
    return wire.example(features, split=rng.random() < 0.2)


def flip_bit(rng: random.Random, data: bytearray) -> None:
    if data:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def set_byte(rng: random.Random, data: bytearray) -> None:
    if data:
        data[rng.randrange(len(data))] = rng.choice([0, 1, 2, 0x0A, 0x12, 0x1A, 0x7F, 0x80, 0xFF])


def insert(rng: random.Random, data: bytearray) -> None:
    at = rng.randrange(len(data) + 1)
    data[at:at] = rng.randbytes(rng.randrange(1, 4))


def delete(rng: random.Random, data: bytearray) -> None:
    at = rng.randrange(len(data) + 1)
    del data[at : at + rng.randrange(1, 4)]


def cut(rng: random.Random, data: bytearray) -> None:
    del data[rng.randrange(len(data) + 1) :]


def repeat(rng: random.Random, data: bytearray) -> None:
    start = rng.randrange(len(data) + 1)
    at = rng.randrange(len(data) + 1)
    data[at:at] = data[start : start + rng.randrange(1, 20)]


ZERO = wire.tag(20, wire.START_GROUP) + b"\x00\x05" + wire.tag(20, wire.END_GROUP)


def append_field(rng: random.Random, data: bytearray) -> None:
    data += rng.choice(wire.UNKNOWN_FIELDS)
    data += rng.choice([b"", a_record(rng), b"\x0a\xff\xff\xff\xff\x07", b"\x00", b"\x0c", ZERO])


MUTATORS: list[Callable[[random.Random, bytearray], None]] = [
    flip_bit,
    set_byte,
    insert,
    delete,
    cut,
    repeat,
    append_field,
]


def mutant(rng: random.Random) -> bytes:
    data = bytearray(a_record(rng))
    for _ in range(rng.choice([0, 1, 1, 2, 4])):
        rng.choice(MUTATORS)(rng, data)
    return bytes(data)


def by_us(record: bytes) -> dict[str, Any] | None:
    try:
        batch = pa.record_batch(cst.decoder("example").decode([record]))
    except cst.Error:
        return None
    return {name: column[0].as_py() for name, column in zip(batch.schema.names, batch, strict=True)}


# The differences, by name


def upb_drops_a_map_entry_with_unknown_fields(record: bytes) -> bool:
    """upb keeps the whole entry as an unknown field: the feature is lost. C++ keeps the feature."""
    message = tf.train.Example.FromString(record)
    lost = any(f.field_number == 1 for f in unknown_fields.UnknownFieldSet(message.features))
    ours = by_us(record)
    return lost and ours is not None and exact(ours) == exact(by_tfx_bsl(record))


def arrow_cannot_hold_a_name_with_nul(record: bytes) -> bool:
    """Names in the Arrow C interface end at a NUL: we refuse what tfx_bsl cuts off."""
    try:
        cst.decoder("example").decode([record])
    except cst.Error as error:
        return "NUL" in str(error)
    return False


def by_tfx_bsl(record: bytes) -> dict[str, Any]:
    return {name: cells[0] for name, cells in tfx_bsl([record]).to_pydict().items()}


def upb_6_takes_lengths_of_more_than_five_bytes(record: bytes) -> bool:
    """C++ and the upb of protobuf 7 refuse them, and so do we."""
    try:
        cst.decoder("example").decode([record])
    except cst.Error as error:
        return "a length has more than 5 bytes" in str(error)
    return False


LISTED = [
    upb_6_takes_lengths_of_more_than_five_bytes,
    upb_drops_a_map_entry_with_unknown_fields,
    arrow_cannot_hold_a_name_with_nul,
]


def name_of_difference(record: bytes, theirs: Any) -> str | None:
    if theirs is None:
        return None
    return next((rule.__name__ for rule in LISTED if rule(record)), None)


def test_mutated_examples() -> None:
    rng = random.Random(SEED)
    seen: collections.Counter[str] = collections.Counter()
    unlisted = []
    for _ in range(MUTATIONS):
        record = mutant(rng)
        ours, theirs = by_us(record), by_protobuf(record)
        seen["accepted" if theirs is not None else "refused"] += 1
        if exact(ours) == exact(theirs):
            continue
        name = name_of_difference(record, theirs)
        seen[name or "unlisted"] += 1
        if name is None:
            unlisted.append((record.hex(), ours, theirs))
    print(dict(seen))
    assert seen["accepted"] > MUTATIONS // 10
    assert seen["refused"] > MUTATIONS // 10
    assert not unlisted, unlisted[:5]


def accepts(decode: Callable[[bytes], Any], record: bytes) -> bool:
    try:
        decode(record)
    except Exception:
        return False
    return True


def test_where_versions_of_protobuf_differ() -> None:
    """We do as protobuf 7.36 does: the upb of 6.33 takes long lengths."""
    good = wire.example([wire.Feature("a", "INT", (1,))])
    for size in range(1, 12):
        record = good + wire.tag(9, wire.LENGTH) + wire.padded_varint(1, size) + b"x"
        assert accepts(by_tfx_bsl, record) == (by_us(record) is not None) == (size <= 5)
        assert (by_protobuf(record) is not None) == (size <= 10)


def test_the_number_0_is_refused_in_unknown_groups() -> None:
    """As by the C++ parser in tfx_bsl and the upb of 6.33; that of 7.36 takes it."""
    good = wire.example([wire.Feature("a", "INT", (1,))])
    group = wire.tag(20, wire.START_GROUP), wire.tag(20, wire.END_GROUP)
    for inner in (b"\x00\x05", b"\x01" + bytes(8), b"\x02\x01x", b"\x03\x04", b"\x05" + bytes(4)):
        record = inner.join((good + group[0], group[1]))
        assert not accepts(by_tfx_bsl, record)
        assert by_us(record) is by_protobuf(record) is None


def test_one_decoder_stays_usable() -> None:
    """The same over one decoder: no mutant leaves a trace in what comes after it."""
    rng = random.Random(SEED + 1)
    decoder = cst.decoder("example")
    good = wire.example([wire.Feature("good", "INT", (1, 2, 3))])
    for _ in range(MUTATIONS // 10):
        record = mutant(rng)
        try:
            decoder.decode([good, record])
        except cst.Error as error:
            assert error.record == 1
        assert decoder.decode([good]).to_pydict() == {"good": [[1, 2, 3]]}
