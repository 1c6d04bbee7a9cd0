"""The benchmark's protobuf messages: their descriptors, and records of them.

DeepProto, FlatProto and FlatProto100 are the message types of struct2tensor's own benchmark files;
where these lie beside the repository, the records are theirs, else equally shaped ones are made:
4,096 records in which every repeated field has one value. All else is made in the same way. Needs
no more than protobuf and numpy, since struct2tensor's environment imports this, too.
"""

from __future__ import annotations

import dataclasses
import gzip
import pathlib
import random
import string
from collections.abc import Callable, Iterator
from typing import Any

import data
import numpy as np
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

PEER_FILES = pathlib.Path(__file__).resolve().parents[2] / "shared" / "data" / "messages"
SEED = 13
PACKAGE = "bench"
Types = descriptor_pb2.FieldDescriptorProto

# The descriptors


def add_field(message: Any, name: str, number: int, kind: int, type_name: str = "") -> None:
    repeated = kind != Types.TYPE_MESSAGE
    message.field.add(
        name=name,
        number=number,
        type=kind,
        label=Types.LABEL_REPEATED if repeated else Types.LABEL_OPTIONAL,
        type_name=f".{PACKAGE}.{type_name}" if type_name else None,
    )


def add_values(message: Any, suffix: str, first: int) -> None:
    """A list of integers, one of floats and one of bytes."""
    add_field(message, f"int_values{suffix}", first, Types.TYPE_INT64)
    add_field(message, f"float_values{suffix}", first + 1, Types.TYPE_FLOAT)
    add_field(message, f"bytes_values{suffix}", first + 2, Types.TYPE_BYTES)


LEVELS = 5


def add_deep(file: Any) -> None:
    names = ["DeepProto", *(f"Child{i}" for i in range(1, LEVELS))]
    for level, name in enumerate(names, 1):
        message = file.message_type.add(name=name)
        if level < LEVELS:
            add_field(message, f"child_{level}", 1, Types.TYPE_MESSAGE, names[level])
        add_values(message, f"_{level}", 2 if level < LEVELS else 1)


def add_tree(file: Any) -> None:
    """The same as DeepProto, of a type that stands within itself."""
    message = file.message_type.add(name="Tree")
    add_field(message, "child", 1, Types.TYPE_MESSAGE, "Tree")
    add_values(message, "", 2)


def add_flat(file: Any) -> None:
    message = file.message_type.add(name="FlatProto")
    kinds = {"int": Types.TYPE_INT64, "float": Types.TYPE_FLOAT, "bytes": Types.TYPE_BYTES}
    for i, (name, kind) in enumerate(kinds.items()):
        for j in range(1, 6):
            add_field(message, f"{name}_values_{j}", 5 * i + j, kind)


def far_numbers(count: int) -> list[int]:
    """Field numbers up to the greatest, 2^29 - 1; those from 19,000 on are protobuf's own."""
    numbers = np.unique(np.geomspace(1, (1 << 29) - 1, 2 * count).astype(np.int64))
    allowed = numbers[(numbers < 19_000) | (numbers >= 20_000)]
    places = np.linspace(0, len(allowed) - 1, count).astype(np.int64)
    return [int(n) for n in allowed[places]]


def add_integers(file: Any, name: str, numbers: list[int]) -> None:
    message = file.message_type.add(name=name)
    for i, number in enumerate(numbers, 1):
        add_field(message, f"int_values_{i}", number, Types.TYPE_INT64)


WIDTH = 1000


def descriptor_set() -> bytes:
    file = descriptor_pb2.FileDescriptorProto(name="bench.proto", package=PACKAGE, syntax="proto3")
    add_deep(file)
    add_tree(file)
    add_flat(file)
    add_integers(file, "FlatProto100", list(range(1, 101)))
    add_integers(file, "Wide", list(range(1, WIDTH + 1)))
    add_integers(file, "WideFar", far_numbers(WIDTH))
    return descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString()


_pool = descriptor_pool.DescriptorPool()
for _file in descriptor_pb2.FileDescriptorSet.FromString(descriptor_set()).file:
    _pool.Add(_file)


def message_class(name: str) -> Any:
    return message_factory.GetMessageClass(_pool.FindMessageTypeByName(f"{PACKAGE}.{name}"))


# The records


def fill(message: Any, depth: int, share: float, rng: random.Random) -> None:
    """One value for each list of the message, or for a share of them, and so down to a depth."""
    for field in message.DESCRIPTOR.fields:
        if field.type == Types.TYPE_MESSAGE:
            if depth > 1:
                fill(getattr(message, field.name), depth - 1, share, rng)
        elif share < 1 and rng.random() >= share:
            continue
        elif field.type == Types.TYPE_INT64:
            getattr(message, field.name).append(rng.randrange(10**9))
        elif field.type == Types.TYPE_FLOAT:
            getattr(message, field.name).append(rng.uniform(-1e9, 1e9))
        else:
            letters = rng.choices(string.ascii_letters, k=6)
            getattr(message, field.name).append("".join(letters).encode())


def make_records(name: str, count: int, share: float, seed: int = SEED) -> Iterator[bytes]:
    rng = random.Random(seed)
    of_type = message_class(name)
    for _ in range(count):
        message = of_type()
        fill(message, LEVELS, share, rng)
        yield message.SerializeToString()


@dataclasses.dataclass(frozen=True)
class Shape:
    """Records of one message type. `one`: a field to read alone; `bound`: the name of the type in
    message_bound.c; `batch`: records in one, fewer of larger ones, for about as many bytes."""

    name: str
    label: str
    message: str
    count: int = 4096
    share: float = 1  # of the fields that have a value
    peer_file: str = ""
    one: str = ""
    bound: str = ""
    batch: int = 1024

    def path(self, folder: pathlib.Path) -> pathlib.Path:
        """A plain TFRecord file, made at the first call."""
        path = folder / f"message_{self.name}.tfrecord"
        packed = PEER_FILES / self.peer_file
        if not path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            if self.peer_file and packed.exists():
                path.write_bytes(gzip.decompress(packed.read_bytes()))
            else:
                data.write_framed(path, make_records(self.message, self.count, self.share))
        return path

    def records(self, folder: pathlib.Path) -> list[bytes]:
        return list(data.read_framed(self.path(folder)))


DEEP = Shape(
    "deep",
    "DeepProto, 15 leaves on 5 levels",
    "DeepProto",
    peer_file="deep_all_types_4096_positive.tfrecord.gz",
    one="int_values_1",
    bound="deep",
)
FLAT = Shape(
    "flat",
    "FlatProto, 15 leaves",
    "FlatProto",
    peer_file="flat_all_types_4096_positive.tfrecord.gz",
    one="int_values_1",
    bound="flat",
)
FLAT_100 = Shape(
    "flat100",
    "FlatProto100, 100 leaves",
    "FlatProto100",
    peer_file="flat_100_int_features_4096.tfrecord.gz",
    one="int_values_1",
    bound="flat100",
)
SHAPES = [DEEP, FLAT, FLAT_100]
TREE = Shape("tree", "a message within itself, 5 levels", "Tree")
WIDE = [
    Shape("wide", "1,000 fields", "Wide", 512, batch=100),
    Shape("wide_far", "1,000 fields with numbers up to 2^29 - 1", "WideFar", 512, batch=100),
    Shape("wide_sparse", "1,000 fields, one in ten with a value", "Wide", 2048, 0.1),
]


def values_of(name: str) -> Callable[[Any], list[Any]]:
    """Reads every leaf of a message in Python, in the order of the paths."""
    of_type = message_class(name).DESCRIPTOR
    leaves = [f.name for f in of_type.fields if f.type != Types.TYPE_MESSAGE]
    children = [f for f in of_type.fields if f.type == Types.TYPE_MESSAGE]
    below = [(f.name, values_of(f.message_type.name)) for f in children]

    def read(message: Any) -> list[Any]:
        values = [list(getattr(message, leaf)) for leaf in leaves]
        for child, read_child in below:
            values += read_child(getattr(message, child))
        return values

    return read


def leaf_paths(name: str) -> list[list[str]]:
    """The paths of the leaves, in the order of values_of()."""
    of_type = message_class(name).DESCRIPTOR
    paths = [[f.name] for f in of_type.fields if f.type != Types.TYPE_MESSAGE]
    for field in of_type.fields:
        if field.type == Types.TYPE_MESSAGE:
            paths += [[field.name, *path] for path in leaf_paths(field.message_type.name)]
    return paths
