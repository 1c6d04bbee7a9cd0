"""Queries of struct2tensor and of ours over the same messages, and their results in one form.

The messages are those of struct2tensor's own tests; a result is one value for each record, lists
where a field is repeated, None where it is missing.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import columnstone as cst
import struct2tensor
import tensorflow as tf
from google.protobuf import any_pb2, descriptor_pb2
from struct2tensor.expression_impl import proto
from struct2tensor.test import (
    test_any_pb2,
    test_extension_pb2,
    test_map_pb2,
    test_pb2,
    test_proto3_pb2,
)

MODULES = [any_pb2, test_pb2, test_map_pb2, test_any_pb2, test_extension_pb2, test_proto3_pb2]
DESCRIPTORS = descriptor_pb2.FileDescriptorSet(
    file=[
        descriptor_pb2.FileDescriptorProto.FromString(module.DESCRIPTOR.serialized_pb)
        for module in MODULES
    ]
).SerializeToString()
Build = Callable[[Any], Any]  # of their root a root with more in it


# ---- theirs ----


def theirs(cls: Any, records: Sequence[bytes], path: str, build: Build = lambda root: root) -> Any:
    """What stands at a path, for each record (of the new root, if the query makes one)."""
    root = build(
        proto.create_expression_from_proto(tf.constant(records, tf.string), cls.DESCRIPTOR)
    )
    steps = struct2tensor.create_path(path)
    (tree,) = struct2tensor.calculate_prensors([root.project([steps])])
    return values_at(tree, steps.field_list)


def values_at(tree: Any, steps: Sequence[str]) -> list[Any]:
    """A prensor's leaf as nested lists."""
    nodes = [tree]
    for step in steps:
        nodes.append(nodes[-1].get_children()[step])
    leaf = nodes[-1].node
    below: list[Any] = [plain(v) for v in leaf.values.numpy().tolist()]
    for parent, child in zip(reversed(nodes[:-1]), reversed(nodes[1:]), strict=True):
        below = grouped(child.node, below, number_of(parent.node))
    return below


def number_of(node: Any) -> int:
    size = getattr(node, "size", None)
    return int(size) if size is not None and not callable(size) else len(node.parent_index)


def grouped(node: Any, values: list[Any], parents: int) -> list[Any]:
    groups: list[list[Any]] = [[] for _ in range(parents)]
    for parent, value in zip(node.parent_index.numpy().tolist(), values, strict=True):
        groups[parent].append(value)
    if node.is_repeated:
        return list(groups)
    assert all(len(g) < 2 for g in groups), groups
    return [g[0] if g else None for g in groups]


def plain(value: Any) -> Any:
    return value.decode(errors="surrogateescape") if isinstance(value, bytes) else value


# ---- ours ----


def ours(cls: Any, records: Sequence[bytes], text: str, output: str) -> list[Any]:
    """The statements, and the output that is wanted."""
    query = cst.Query.from_text(
        f"from message {cls.DESCRIPTOR.full_name}\n{text}\noutput x = {output}",
        descriptors=DESCRIPTORS,
    )
    batch = query.run(list(records))
    return [plain_of(v) for v in batch.column(0).to_pylist()]


def plain_of(value: Any) -> Any:
    return [plain_of(v) for v in value] if isinstance(value, list) else plain(value)


def emptied(value: Any) -> Any:
    """Theirs know no null lists: where the parent is missing there is nothing. So ours become."""
    return value


# ---- sessions ----


def sessions(seed: int, count: int = 40) -> list[bytes]:
    r = Random(seed)
    return [session(r).SerializeToString() for _ in range(count)]


def few(r: Random) -> range:
    return range(r.choice([0, 0, 1, 1, 2, 3]))


def word(r: Random) -> str:
    return r.choice(["a", "b", "shoes", "hat", "", "zebra"])


def session(r: Random) -> Any:
    """Fields are there or not; as many masks as there are actions."""
    made = test_pb2.Session()
    if r.randrange(4):
        made.session_id = r.randint(-5, 1000)
    for _ in few(r):
        event = made.event.add()
        if r.randrange(4):
            event.event_id = word(r)
        if r.randrange(3):
            event.query = word(r)
        event.query_token.extend(word(r) for _ in few(r))
        for _ in few(r):
            action = event.action.add()
            if r.randrange(3):
                action.number_of_views = r.randint(-10, 100)
            if r.randrange(3):
                action.doc_id = word(r)
            action.category.extend(word(r) for _ in few(r))
            event.action_mask.append(r.random() < 0.5)
        if r.randrange(2):
            event.user_info.age_in_years = r.randint(0, 90)
            event.user_info.friends.extend(word(r) for _ in few(r))
            if r.randrange(2):
                extension = test_pb2.LocationOfExtension.special_user_info
                event.user_info.Extensions[extension].secret = word(r)
    for _ in few(r):
        info = made.session_info.add()
        if r.randrange(2):
            info.start_time = r.randint(0, 100)
        info.session_feature.extend(word(r) for _ in few(r))
    return made


# ---- bytes ----


def varint(n: int) -> bytes:
    out = bytearray()
    while n >= 0x80:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    return bytes([*out, n])


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value & 2**64 - 1)


def sized(field: int, value: bytes) -> bytes:
    return varint(field << 3 | 2) + varint(len(value)) + value


def without_nulls(value: Any) -> Any:
    """What is missing is no element of theirs."""
    if not isinstance(value, list):
        return value
    return [without_nulls(v) for v in value if v is not None]


def flat(values: Any) -> list[Any]:
    return list(itertools.chain.from_iterable(values))
