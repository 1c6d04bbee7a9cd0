"""The benchmark's sessions, and the queries on them: one text of ours, one struct2tensor expression
each. Needs no more than protobuf, since struct2tensor's environment imports this, too.
"""

from __future__ import annotations

import dataclasses
import pathlib
import random
from collections.abc import Iterator
from typing import Any

import data
import message_data
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

PACKAGE = "log"
COUNT = 4096
Kinds = descriptor_pb2.FieldDescriptorProto


def add_field(message: Any, name: str, kind: int, repeated: bool = False, of: str = "") -> None:
    message.field.add(
        name=name,
        number=len(message.field) + 1,
        type=kind,
        label=Kinds.LABEL_REPEATED if repeated else Kinds.LABEL_OPTIONAL,
        type_name=f".{PACKAGE}.{of}" if of else None,
    )


def descriptor_set() -> bytes:
    """Sessions hold events, which hold actions; all fields are optional (proto2)."""
    file = descriptor_pb2.FileDescriptorProto(name="log.proto", package=PACKAGE, syntax="proto2")
    action = file.message_type.add(name="Action")
    add_field(action, "doc_id", Kinds.TYPE_STRING)
    add_field(action, "views", Kinds.TYPE_INT64)
    add_field(action, "category", Kinds.TYPE_STRING, repeated=True)
    event = file.message_type.add(name="Event")
    add_field(event, "event_id", Kinds.TYPE_STRING)
    add_field(event, "query", Kinds.TYPE_STRING)
    add_field(event, "clicked", Kinds.TYPE_BOOL)
    add_field(event, "price", Kinds.TYPE_FLOAT)
    add_field(event, "query_token", Kinds.TYPE_STRING, repeated=True)
    add_field(event, "action", Kinds.TYPE_MESSAGE, repeated=True, of="Action")
    add_field(event, "note", Kinds.TYPE_STRING)
    session = file.message_type.add(name="Session")
    add_field(session, "session_id", Kinds.TYPE_STRING)
    add_field(session, "started", Kinds.TYPE_INT64)
    add_field(session, "event", Kinds.TYPE_MESSAGE, repeated=True, of="Event")
    add_field(session, "device", Kinds.TYPE_STRING)
    return descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString()


_pool = descriptor_pool.DescriptorPool()
for _file in descriptor_pb2.FileDescriptorSet.FromString(descriptor_set()).file:
    _pool.Add(_file)
Session = message_factory.GetMessageClass(_pool.FindMessageTypeByName(f"{PACKAGE}.Session"))

WORDS = ["red", "shoes", "wool", "hat", "rain", "coat", "blue", "scarf", "running", "boots"]


def fill_event(event: Any, number: int, rng: random.Random) -> None:
    words = rng.choices(WORDS, k=rng.randrange(1, 5))
    event.event_id = f"e{number}"
    event.query = " ".join(words)
    event.clicked = rng.random() < 0.4
    event.price = rng.uniform(1, 200)
    event.query_token.extend(words)
    event.note = "x" * rng.randrange(40)
    for _ in range(rng.randrange(5)):
        action = event.action.add(doc_id=f"d{rng.randrange(10**6)}", views=rng.randrange(100))
        action.category.extend(rng.choices(WORDS, k=rng.randrange(3)))


def make_sessions(count: int = COUNT, seed: int = 14) -> Iterator[bytes]:
    rng = random.Random(seed)
    for i in range(count):
        session = Session(session_id=f"s{i}", started=rng.randrange(1 << 40), device="phone")
        for number in range(rng.randrange(1, 9)):
            fill_event(session.event.add(), number, rng)
        yield session.SerializeToString()


def message_of(shape: str) -> Any:
    return Session if shape == "sessions" else message_data.message_class("DeepProto")


def records_path(folder: pathlib.Path, shape: str = "sessions") -> pathlib.Path:
    if shape == "deep":
        return message_data.DEEP.path(folder)
    path = folder / "sessions.tfrecord"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        data.write_framed(path, make_sessions())
    return path


@dataclasses.dataclass(frozen=True)
class Work:
    """`peer`: an operation of query_struct2tensor.py; `paths`: what it reads of the result.

    The text has an output x0, x1, ... for each path, ragged in the same way: an optional step of
    the peer's is a dimension of 0 or 1 values, and ours have none of these.
    """

    name: str
    text: str
    peer: str
    paths: tuple[str, ...]
    reads: tuple[str, ...]  # of the message: what the parse alone is measured with
    shape: str = "sessions"  # or "deep": struct2tensor's own DeepProto


def let(text: str, *outputs: str) -> str:
    return "\n".join([text, *(f"output x{i} = {value}" for i, value in enumerate(outputs))])


WORKS = [
    Work(
        "promote",
        let("let tokens = event.query_token\nlet ids = event.event_id", "tokens", "ids"),
        "promote",
        ("tokens", "ids"),
        ("event.query_token", "event.event_id"),
    ),
    Work(
        "promote over three levels",
        let("let c = event.action.category", "c"),
        "promote_deep",
        ("c",),
        ("event.action.category",),
    ),
    Work(
        "broadcast",
        let("let event.session = session_id", "event.session"),
        "broadcast",
        ("event.session",),
        ("session_id", "event.event_id"),
    ),
    Work(
        "filter",
        let("let clicks = event where clicked", "clicks.query", "clicks.action.doc_id"),
        "filter",
        ("clicks.query", "clicks.action.doc_id"),
        ("event.clicked", "event.query", "event.action.doc_id"),
    ),
    Work(
        "reroot",
        let("rows event", "query_token", "price"),
        "reroot",
        ("query_token", "price"),
        ("event.query_token", "event.price"),
    ),
    Work(
        "slice",
        let("", "event[:2].query", "event[:2].price"),
        "slice",
        ("f.query", "f.price"),
        ("event.query", "event.price"),
    ),
    Work(
        "size",
        let("let n = size(event)\nlet event.m = size(event.action)", "n", "event.m"),
        "size",
        ("n", "event.m"),
        ("event.event_id", "event.action.views"),
    ),
]

CHAIN = "child_1.child_2.child_3.child_4"
DEEP = [
    Work(
        "DeepProto, promote over four levels",
        let(f"let c = {CHAIN}.int_values_5\nlet d = {CHAIN}.bytes_values_5", "c", "d"),
        "deep_promote",
        ("c", "d"),
        (f"{CHAIN}.int_values_5", f"{CHAIN}.bytes_values_5"),
        "deep",
    ),
    Work(
        "DeepProto, slice and size",
        let(f"let n = size({CHAIN}.int_values_5)", "int_values_1[:1]", "n"),
        "deep_slice",
        ("f", "n"),
        ("int_values_1", f"{CHAIN}.int_values_5"),
        "deep",
    ),
]

RANKING = """
let queries = event.query_token
let event.session = session_id
let clicks = event where clicked
let num_clicks = size(clicks)
let event.num_actions = size(event.action)
output label = dense(num_clicks, default=0)
output tokens = ragged(queries)
output session = ragged(event.session)
output actions = ragged(event.num_actions)
output clicked_queries = ragged(clicks.query)
"""

# Twenty outputs that need different fields, of which one is asked for.
FIELDS = ["event_id", "query", "clicked", "price", "note"]
MANY = "\n".join(
    f"let c{i} = event where price > {10 * i}\noutput y{i} = c{i}.{FIELDS[i % 5]}"
    for i in range(20)
)
ONE = "let c7 = event where price > 70\noutput y7 = c7.clicked"
