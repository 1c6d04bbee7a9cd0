"""struct2tensor's operations and ours, on random sessions of its own test messages.

A promoted optional field has no element of theirs where it is missing, and a null of ours: there
`drop_null` says what they do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import columnstone as cst
import pytest
import struct2tensor
import tensorflow as tf
from google.protobuf import any_pb2
from struct2tensor.expression_impl import filter_expression, index, proto
from struct2tensor.test import test_any_pb2, test_extension_pb2, test_map_pb2, test_pb2
from struct2tensor_sides import DESCRIPTORS, ours, sessions, theirs

Session = test_pb2.Session
path = struct2tensor.create_path


class Case(NamedTuple):
    name: str
    build: Callable[[Any], Any]  # theirs
    path: str
    text: str  # ours
    output: str


def early(values: Any) -> Any:
    return tf.strings.unicode_decode(values, "UTF-8").to_tensor(0, shape=[None, 9])[:, 0] < 104


EVENT_FLAG = 'event_id < "h"'
CASES = [
    Case("a leaf", lambda r: r, "session_id", "", "session_id"),
    Case("a leaf below", lambda r: r, "event.action.doc_id", "", "event.action.doc_id"),
    Case("a list below", lambda r: r, "event.query_token", "", "event.query_token"),
    Case(
        "a missing message",
        lambda r: r,
        "event.user_info.age_in_years",
        "",
        "event.user_info.age_in_years",
    ),
    Case(
        "an extension",
        lambda r: r,
        "event.user_info.(struct2tensor.test.LocationOfExtension.special_user_info).secret",
        "",
        "event.user_info.(struct2tensor.test.LocationOfExtension.special_user_info).secret",
    ),
    Case(
        "promote a leaf",
        lambda r: r.promote("event.query", "q"),
        "q",
        "let q = drop_null(event.query)",
        "q",
    ),
    Case(
        "promote a list",
        lambda r: r.promote("event.query_token", "t"),
        "t",
        "let t = event.query_token",
        "t",
    ),
    Case(
        "promote a message",
        lambda r: r.promote("event.action", "a"),
        "a.doc_id",
        "let a = event.action",
        "a.doc_id",
    ),
    Case(
        "promote to the event",
        lambda r: r.promote("event.action.category", "c"),
        "event.c",
        "let event.c = event.action.category",
        "event.c",
    ),
    Case(
        "promote twice",
        lambda r: r.promote("event.action.category", "c").promote("event.c", "c"),
        "c",
        "let c = event.action.category",
        "c",
    ),
    Case(
        "broadcast a leaf",
        lambda r: r.broadcast("session_id", "event", "s"),
        "event.s",
        "let event.s = session_id",
        "event.s",
    ),
    Case(
        "broadcast a message",
        lambda r: r.broadcast("session_info", "event", "i"),
        "event.i.start_time",
        "let event.i = session_info",
        "event.i.start_time",
    ),
    Case(
        "broadcast a message with lists",
        lambda r: r.broadcast("session_info", "event", "i"),
        "event.i.session_feature",
        "let event.i = session_info",
        "event.i.session_feature",
    ),
    Case(
        "broadcast to the action",
        lambda r: r.broadcast("session_id", "event", "s").broadcast("event.s", "action", "s"),
        "event.action.s",
        "let event.action.s = session_id",
        "event.action.s",
    ),
    Case(
        "promote and broadcast",
        lambda r: r.promote_and_broadcast({"s": "session_info.start_time"}, "event"),
        "event.s",
        "let event.s = drop_null(session_info.start_time)",
        "event.s",
    ),
    Case(
        "promote and broadcast a list",
        lambda r: r.promote_and_broadcast({"s": "session_info.session_feature"}, "event"),
        "event.s",
        "let event.s = session_info.session_feature",
        "event.s",
    ),
    Case(
        "promote and broadcast within",
        lambda r: r.promote_and_broadcast({"q": "event.query"}, "event.action"),
        "event.action.q",
        "let event.action.q = event.query",
        "event.action.q",
    ),
    Case(
        "promote and broadcast to the record",
        lambda r: r.promote_and_broadcast({"t": "event.action.category"}, ""),
        "t",
        "let t = event.action.category",
        "t",
    ),
    Case(
        "filter by a sibling",
        lambda r: filter_expression.filter_by_sibling(r, path("event.action"), "action_mask", "k"),
        "event.k.doc_id",
        "let event.pairs = zip(a=event.action, m=event.action_mask)\n"
        "let event.k = (event.pairs where m).a",
        "event.k.doc_id",
    ),
    Case(
        "filter by a child",
        lambda r: filter_expression.filter_by_child(
            r.map_field_values("event.event_id", early, tf.bool, "flag"), path("event"), "flag", "k"
        ),
        "k.action.doc_id",
        f"let k = event where {EVENT_FLAG}",
        "k.action.doc_id",
    ),
    Case(
        "slice messages",
        lambda r: r.slice("event", "k", 1, 3),
        "k.event_id",
        "let k = event[1:3]",
        "k.event_id",
    ),
    Case(
        "slice from the end",
        lambda r: r.slice("event", "k", -2, None),
        "k.action.category",
        "let k = event[-2:]",
        "k.action.category",
    ),
    Case(
        "slice up to the end",
        lambda r: r.slice("event.action", "k", None, -1),
        "event.k.doc_id",
        "let event.k = event.action[:-1]",
        "event.k.doc_id",
    ),
    Case(
        "slice of nothing",
        lambda r: r.slice("event", "k", 2, 1),
        "k.query",
        "let k = event[2:1]",
        "k.query",
    ),
    Case(
        "slice a list",
        lambda r: r.slice("event.query_token", "k", 0, 2),
        "event.k",
        "let event.k = event.query_token[0:2]",
        "event.k",
    ),
    Case(
        "truncate",
        lambda r: r.truncate("event.query_token", 1, "k"),
        "event.k",
        "let event.k = event.query_token[:1]",
        "event.k",
    ),
    Case("size", lambda r: r.create_size_field("event", "n"), "n", "let n = size(event)", "n"),
    Case(
        "size below",
        lambda r: r.create_size_field("event.action", "n"),
        "event.n",
        "let event.n = size(event.action)",
        "event.n",
    ),
    Case(
        "size of an optional field",
        lambda r: r.create_size_field("event.query", "n"),
        "event.n",
        "let event.n = count(event.query)",
        "event.n",
    ),
    Case(
        "size of a promoted field",
        lambda r: r.promote("event.query_token", "t").create_size_field("t", "n"),
        "n",
        "let n = size(event.query_token)",
        "n",
    ),
    Case(
        "has",
        lambda r: r.create_has_field("event.query_token", "n"),
        "event.n",
        "let event.n = has(event.query_token)",
        "event.n",
    ),
    Case(
        "has of a message",
        lambda r: r.create_has_field("event.user_info", "n"),
        "event.n",
        "let event.n = has(event.user_info)",
        "event.n",
    ),
    Case(
        "positional index",
        lambda r: index.get_positional_index(r, path("event.query_token"), "i")[0],
        "event.i",
        "let event.i = index(event.query_token)",
        "event.i",
    ),
    Case(
        "index from the end",
        lambda r: index.get_index_from_end(r, path("event.action"), "i")[0],
        "event.i",
        "let event.i = index_from_end(event.action)",
        "event.i",
    ),
    Case(
        "map",
        lambda r: r.map_field_values(
            "event.action.number_of_views", lambda v: v * 2 + 1, tf.int64, "n"
        ),
        "event.action.n",
        "let event.action.n = event.action.number_of_views * 2 + 1",
        "event.action.n",
    ),
    Case("reroot", lambda r: r.reroot("event"), "action.doc_id", "rows event", "action.doc_id"),
    Case(
        "reroot and index",
        lambda r: r.reroot("event").create_proto_index("i"),
        "i",
        "rows event",
        "record_index()",
    ),
    Case(
        "reroot twice",
        lambda r: r.reroot("event.action").create_proto_index("i"),
        "i",
        "rows event.action",
        "record_index()",
    ),
    Case(
        "all of it",
        lambda r: (
            filter_expression.filter_by_child(
                r.broadcast("session_id", "event", "s").map_field_values(
                    "event.event_id", early, tf.bool, "flag"
                ),
                path("event"),
                "flag",
                "k",
            )
            .promote("k.action", "a")
            .slice("a", "f", 0, 3)
        ),
        "f.category",
        f"let event.s = session_id\nlet k = event where {EVENT_FLAG}\nlet a = k.action\n"
        "let f = a[0:3]",
        "f.category",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_an_operation_gives_the_same(case: Case) -> None:
    for seed in range(3):
        records = sessions(seed)
        expected = theirs(Session, records, case.path, case.build)
        assert ours(Session, records, case.text, case.output) == expected
        assert any(v not in (None, []) for v in expected) or case.name == "slice of nothing"


KEYS: list[tuple[str, dict[Any, Any], str, str, Any]] = [
    ("string_int64_map", {"a": 1, "b": 2}, "string_int64_map[a]", 'string_int64_map["a"]', 1),
    ("string_int64_map", {"b": 2}, "string_int64_map[a]", 'string_int64_map["a"]', None),
    ("string_int64_map", {"a.b c": 3}, "string_int64_map[a.b c]", 'string_int64_map["a.b c"]', 3),
    ("string_int64_map", {"": 4}, "string_int64_map[]", 'string_int64_map[""]', 4),
    ("int32_string_map", {-7: "x"}, "int32_string_map[-7]", "int32_string_map[-7]", "x"),
    (
        "uint64_string_map",
        {2**63 - 1: "x"},
        f"uint64_string_map[{2**63 - 1}]",
        f"uint64_string_map[{2**63 - 1}]",
        "x",
    ),
    ("sfixed32_string_map", {5: "x"}, "sfixed32_string_map[5]", "sfixed32_string_map[5]", "x"),
    (
        "bool_string_map",
        {True: "x", False: "y"},
        "bool_string_map[1]",
        "bool_string_map[true]",
        "x",
    ),
    ("string_double_map", {"k": 2.5}, "string_double_map[k]", 'string_double_map["k"]', 2.5),
]


@pytest.mark.parametrize(("field", "entries", "theirs_path", "our_path", "value"), KEYS)
def test_the_value_of_a_key(
    field: str, entries: dict[Any, Any], theirs_path: str, our_path: str, value: Any
) -> None:
    records = [
        test_map_pb2.MessageWithMap(**{field: entries}).SerializeToString(),
        test_map_pb2.MessageWithMap().SerializeToString(),
    ]
    assert theirs(test_map_pb2.MessageWithMap, records, theirs_path) == [value, None]
    assert ours(test_map_pb2.MessageWithMap, records, "", our_path) == [value, None]


def test_a_field_of_a_keys_message() -> None:
    made = test_map_pb2.MessageWithMap()
    made.string_message_map["k"].repeated_int64.extend([1, 2])
    records = [made.SerializeToString()]
    found = theirs(test_map_pb2.MessageWithMap, records, "string_message_map[k].repeated_int64")
    output = 'string_message_map["k"].repeated_int64'
    assert ours(test_map_pb2.MessageWithMap, records, "", output) == found == [[1, 2]]


def any_of(message: Any, prefix: str) -> bytes:
    packed = any_pb2.Any(
        type_url=prefix + message.DESCRIPTOR.full_name, value=message.SerializeToString()
    )
    return bytes(test_any_pb2.MessageWithAny(my_any=packed).SerializeToString())


@pytest.mark.parametrize("step", ["", "type.googleapis.com/", "somewhere.else/"])
def test_a_cast_of_any(step: str) -> None:
    simple = test_pb2.AllSimple(optional_int32=5, repeated_string=["x", "y"])
    other = test_pb2.Session(session_id=7)
    records = [any_of(m, "type.googleapis.com/") for m in (simple, other)]
    records.append(test_any_pb2.MessageWithAny().SerializeToString())
    at = f"my_any.({step}struct2tensor.test.AllSimple)"
    for field, value in [("optional_int32", [5, None, None]), ("repeated_string", None)]:
        found = theirs(test_any_pb2.MessageWithAny, records, f"{at}.{field}")
        assert value is None or found == value
        assert ours(test_any_pb2.MessageWithAny, records, "", f"{at}.{field}") == found


def test_an_extension_of_another_file() -> None:
    info = test_pb2.UserInfo()
    info.Extensions[test_extension_pb2.MyExternalExtension.ext].special = "s"
    session = test_pb2.Session()
    session.event.add().user_info.CopyFrom(info)
    at = "event.user_info.(struct2tensor.test.MyExternalExtension.ext).special"
    records = [session.SerializeToString()]
    assert ours(Session, records, "", at) == theirs(Session, records, at) == [["s"]]


def test_a_group() -> None:
    made = test_pb2.MessageWithGroup()
    made.groupfield.add(int_val=3, str_val=["a"])
    records = [made.SerializeToString()]
    for field in ("groupfield.int_val", "groupfield.str_val"):
        cls = test_pb2.MessageWithGroup
        assert ours(cls, records, "", field) == theirs(cls, records, field)


def test_recursion_as_deep_as_asked_for() -> None:
    made = test_pb2.Recursion(data=[1])
    made.recursion.add(data=[2, 3]).recursion.add(data=[4])
    records = [made.SerializeToString()]
    for field in ("data", "recursion.data", "recursion.recursion.data"):
        found = theirs(test_pb2.Recursion, records, field)
        assert ours(test_pb2.Recursion, records, "", field) == found


def test_packed_fields() -> None:
    made = test_pb2.HasPackedFields(packed_int32=[1, -2], packed_double=[0.5])
    records = [made.SerializeToString(), b""]
    for field in ("packed_int32", "packed_double"):
        cls = test_pb2.HasPackedFields
        assert ours(cls, records, "", field) == theirs(cls, records, field)


def test_the_paths_that_are_parsed() -> None:
    records = tf.constant(sessions(0), tf.string)
    root = proto.create_expression_from_proto(records, Session.DESCRIPTOR)
    root = root.promote("event.action.doc_id", "d").create_size_field("session_info", "n")
    root = root.project(["event.d", "n"])
    _, sources = struct2tensor.calculate_prensors_with_source_paths([root])
    (found,) = (s.paths for s in sources)
    query = cst.Query.from_text(
        f"from message {Session.DESCRIPTOR.full_name}\nlet event.d = event.action.doc_id\n"
        "let n = size(session_info)\noutput d = event.d\noutput n = n",
        descriptors=DESCRIPTORS,
    )
    assert query.source_paths() == tuple(sorted(str(p) for p in found))
    assert query.source_paths("d") == ("event.action.doc_id",)
