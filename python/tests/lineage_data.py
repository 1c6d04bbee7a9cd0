"""Data of every payload, and views of them, for tests of lineage."""

from __future__ import annotations

import pathlib
from typing import Any

import columnstone as cst
import pyarrow as pa
import wire
from google.protobuf import descriptor_pb2

ROWS = [
    {"user": f"u{i}", "event": [{"query": f"q{k}", "price": k + 0.5} for k in range(i % 3)]}
    for i in range(20)
]
PRICES = [[event["price"] for event in row["event"]] for row in ROWS]
TABLE = pa.table({"x": list(range(20)), "name": [f"n{i}" for i in range(20)]})
SCHEMA = 'feature { name: "x" type: INT shape { } presence { min_fraction: 1 } }'
MESSAGE_VIEW = "from message shop.Session\noutput price = event.price\n"
EXAMPLE_VIEW = "from example\noutput double_x = x * 2\n"
TABLE_VIEW = "from table\noutput double_x = x * 2\n"

# Payload to the name of a file of it, and the options of `Store.examples`.
PAYLOADS: dict[str, tuple[str, dict[str, Any]]] = {
    "message": (
        "sessions.tfrecord.gz",
        {"message": "shop.Session", "descriptors": "shop.desc"},
    ),
    "example": ("examples.tfrecord", {"format": "example"}),
    "parquet": ("table.parquet", {"format": "parquet"}),
    "csv": ("table.csv", {"format": "csv"}),
    "json": ("table.json", {"format": "json"}),
    "sequence": ("sequences.tfrecord", {"format": "sequence_example"}),
    "any": ("plain.tfrecord", {}),  # of which nothing is said
}


def shop(*more: str) -> bytes:
    """The types of the messages, and empty ones of these names, as protoc writes them, which
    engines' environments do not have."""
    types = descriptor_pb2.FileDescriptorSet()
    file = types.file.add(name="shop.proto", package="shop", syntax="proto3")
    field = descriptor_pb2.FieldDescriptorProto
    event = file.message_type.add(name="Event").field
    event.add(name="query", number=1, label=field.LABEL_OPTIONAL, type=field.TYPE_STRING)
    event.add(name="price", number=2, label=field.LABEL_OPTIONAL, type=field.TYPE_DOUBLE)
    session = file.message_type.add(name="Session").field
    session.add(name="user", number=1, label=field.LABEL_OPTIONAL, type=field.TYPE_STRING)
    session.add(
        name="event",
        number=2,
        label=field.LABEL_REPEATED,
        type=field.TYPE_MESSAGE,
        type_name=".shop.Event",
    )
    for name in more:
        file.message_type.add(name=name)
    return types.SerializeToString()


def write(folder: pathlib.Path) -> None:
    """The files of all payloads, the view of the messages and its query."""
    (folder / "shop.desc").write_bytes(shop())
    session = cst.schema.Descriptors(folder / "shop.desc")
    cst.write(
        ROWS,
        folder / "sessions.tfrecord.gz",
        "message",
        message="shop.Session",
        descriptors=session,
    )
    for name in ("examples.tfrecord", "plain.tfrecord"):
        with cst.codec.TFRecordWriter(folder / name) as writer:
            for i in range(20):
                writer.write(wire.example({"x": [i], "name": [b"n%d" % i]}))
    with cst.codec.TFRecordWriter(folder / "sequences.tfrecord") as writer:
        for i in range(20):
            writer.write(wire.example({"x": [i]}))  # a context
    cst.write(TABLE, folder / "table.parquet")
    cst.write(TABLE, folder / "table.csv")
    cst.write(TABLE, folder / "table.json")
    (folder / "schema.pbtxt").write_text(SCHEMA)
    (folder / "ranking.cstq").write_text(MESSAGE_VIEW)
    query(folder, "message").save(folder / "ranking.cstv")


def query(folder: pathlib.Path, kind: str) -> cst.Query:
    """A query of messages, of tf.Examples ("example") or of tables ("table")."""
    if kind == "message":
        return cst.Query.from_text(
            MESSAGE_VIEW, message="shop.Session", descriptors=folder / "shop.desc"
        )
    if kind == "example":
        return cst.Query.from_text(EXAMPLE_VIEW, schema=SCHEMA)
    return cst.Query.from_text(TABLE_VIEW, type=pa.schema([("x", pa.int64())]))
