"""Query.from_struct2tensor: expressions as queries, which give what the expressions give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import columnstone as cst
import pytest
import struct2tensor
import tensorflow as tf
from struct2tensor.expression_impl import (
    broadcast,
    depth_limit,
    filter_expression,
    index,
    map_values,
    project,
    promote,
    promote_and_broadcast,
    proto,
    reroot,
    size,
    slice_expression,
)
from struct2tensor.test import test_map_pb2, test_pb2
from struct2tensor_sides import DESCRIPTORS, plain_of, sessions, values_at

Session = test_pb2.Session
path = struct2tensor.create_path
RECORDS = sessions(7)


def root(cls: Any = Session, records: list[bytes] = RECORDS) -> Any:
    return proto.create_expression_from_proto(tf.constant(records, tf.string), cls.DESCRIPTOR)


def only(expression: Any, *paths: str) -> Any:
    return project.project(expression, [path(p) for p in paths])


def clicked(e: Any) -> Any:
    """A bool of each event that has an identifier."""
    return map_values.map_many_values(
        e, path("event"), ["event_id", "event_id"], tf.equal, tf.bool, "same"
    )[0]


CASES: dict[str, tuple[Callable[[Any], Any], str, str]] = {
    "leaves": (lambda e: e, "event.action.doc_id", ""),
    "promote a leaf": (
        lambda e: promote.promote(e, path("event.query"), "q"),
        "q",
        "let q = drop_null(event.query)",
    ),
    "promote a list": (
        lambda e: promote.promote(e, path("event.query_token"), "t"),
        "t",
        "let t = event.query_token",
    ),
    "promote a message": (
        lambda e: promote.promote(e, path("event.action"), "a"),
        "a.category",
        "let a = event.action",
    ),
    "promote twice": (
        lambda e: promote.promote(
            promote.promote(e, path("event.action.category"), "c"), path("event.c"), "d"
        ),
        "d",
        "let event.made_1 = event.action.category\nlet d = event.made_1",
    ),
    "broadcast": (
        lambda e: broadcast.broadcast(e, path("session_id"), "event", "s"),
        "event.s",
        "let event.s = session_id",
    ),
    "promote and broadcast": (
        lambda e: promote_and_broadcast.promote_and_broadcast(
            e, {"start": path("session_info.session_feature")}, path("event")
        ),
        "event.start",
        "let event.start = ",
    ),
    "size": (lambda e: size.size(e, path("event.action"), "n"), "event.n", "size(event.action)"),
    "size of an optional field": (
        lambda e: size.size(e, path("event.query"), "n"),
        "event.n",
        "if(has(event.query), 1, 0)",
    ),
    "has": (lambda e: size.has(e, path("event.action"), "h"), "event.h", "has(event.action)"),
    "index": (
        lambda e: index.get_positional_index(e, path("event"), "i")[0],
        "i",
        "let i = index(event)",
    ),
    "index from the end": (
        lambda e: index.get_index_from_end(e, path("event.action"), "i")[0],
        "event.i",
        "let event.i = index_from_end(event.action)",
    ),
    "slice": (
        lambda e: slice_expression.slice_expression(e, path("event.action"), "s", -2, None),
        "event.s.doc_id",
        "let event.s = event.action[-2:]",
    ),
    "slice by both": (
        lambda e: slice_expression.slice_expression(e, path("event"), "s", 1, -1),
        "s.event_id",
        "let s = event[1:-1]",
    ),
    "filter by a sibling": (
        lambda e: filter_expression.filter_by_sibling(e, path("event.action"), "action_mask", "f"),
        "event.f.doc_id",
        "let event.f = (zip(value=event.action, chosen=event.action_mask) where chosen).value",
    ),
    "filter by a child": (
        lambda e: filter_expression.filter_by_child(clicked(e), path("event"), "same", "f"),
        "f.query_token",
        "let f = event where it.made_1",
    ),
    "size of what was filtered": (
        lambda e: size.size(
            filter_expression.filter_by_child(clicked(e), path("event"), "same", "f"),
            path("f.action"),
            "n",
        ),
        "f.n",
        "let f.n = size(f.action)",
    ),
    "map": (
        lambda e: map_values.map_values(e, path("session_id"), tf.math.negative, tf.int64, "m"),
        "m",
        "let m = -session_id",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_expressions(case: str) -> None:
    build, wanted, text = CASES[case]
    expression = only(build(root()), wanted)
    query = cst.Query.from_struct2tensor(expression)
    assert text in query.text
    (tree,) = struct2tensor.calculate_prensors([expression])
    steps = path(wanted).field_list
    found = cst.Query.from_text(
        "\n".join(query.text.splitlines()[:-1]) + f"\noutput x = {wanted}", descriptors=DESCRIPTORS
    ).run(RECORDS)
    assert [plain_of(v) for v in found.column(0).to_pylist()] == values_at(tree, steps)
    assert query.run(RECORDS).num_rows == len(RECORDS)


def leaves_of(e: Any, above: tuple[str, ...] = ()) -> list[str]:
    found = []
    for step in sorted(e.known_field_names()):
        child = e.get_child(step)
        here = (*above, step)
        found += [".".join(here)] if child.is_leaf else leaves_of(child, here)
    return found


def of_prensor(e: Any) -> Any:
    """The expression that begins with what the messages hold, as a prensor."""
    (tree,) = struct2tensor.calculate_prensors([only(e, *leaves_of(e))])
    return struct2tensor.create_expression_from_prensor(tree)


@pytest.mark.parametrize("case", CASES)
def test_expressions_of_prensors(case: str) -> None:
    build, wanted, text = CASES[case]
    expression = only(build(of_prensor(root())), wanted)
    query = cst.Query.from_struct2tensor(expression)
    assert text in query.text
    assert query.text.startswith("from table\n")
    (tree,) = struct2tensor.calculate_prensors([expression])
    batch = cst.decoder("message", message=Session, enums="int32", binary_strings=True).decode(
        RECORDS
    )
    steps = path(wanted).field_list
    found = cst.Query.from_text(
        "\n".join(query.text.splitlines()[:-1]) + f"\noutput x = {wanted}", type=batch
    ).run(batch)
    assert [plain_of(v) for v in found.column(0).to_pylist()] == values_at(tree, steps)
    assert query.run(batch).num_rows == len(RECORDS)


def test_a_prensor_that_no_column_holds() -> None:
    number = map_values.map_values(
        root(), path("session_id"), lambda x: tf.cast(x, tf.complex64), tf.complex64, "z"
    )
    with pytest.raises(cst.errors.UnsupportedError, match="z: the type complex64 is not supported"):
        cst.Query.from_struct2tensor(of_prensor(only(number, "z")))


def test_reroot_and_the_records_number() -> None:
    expression = reroot.create_proto_index_field(reroot.reroot(root(), path("event")), "n")
    expression = only(expression, "n", "event_id")
    query = cst.Query.from_struct2tensor(expression)
    assert query.text.endswith("let event.n = record_index()\nrows event\nkeep event_id, n\n")
    (tree,) = struct2tensor.calculate_prensors([expression])
    found = query.run(RECORDS).to_pydict()
    assert found["n"] == values_at(tree, ["n"])
    assert found["event_id"] == values_at(tree, ["event_id"])


def test_depth_is_what_is_known() -> None:
    expression = depth_limit.limit_depth(root(), 1)
    query = cst.Query.from_struct2tensor(expression)
    assert query.text.endswith("keep session_id\n")


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (
            lambda e: map_values.map_values(e, path("session_id"), lambda x: x + 1, tf.int64, "m"),
            "m: map calls the function <lambda>",
        ),
        (
            lambda e: e.map_sparse_tensors(
                path("event"), ["query"], lambda x: x, False, tf.string, "m"
            ),
            "_MapPrensorExpression",
        ),
        (
            lambda e: index.get_positional_index(e, path("event.query"), "m")[0],
            "position of an optional field",
        ),
    ],
    ids=["a function", "map_sparse", "a position"],
)
def test_what_cannot_be_said_is_named(build: Any, text: str) -> None:
    expression = build(root())
    wanted = "event.m" if expression.get_descendant(path("event.m")) is not None else "m"
    with pytest.raises(cst.errors.UnsupportedError, match=text):
        cst.Query.from_struct2tensor(only(expression, wanted))


def test_keys_of_maps_are_named() -> None:
    expression = only(root(test_map_pb2.MessageWithMap, [b""]), "int32_string_map[5]")
    with pytest.raises(cst.errors.UnsupportedError, match="the map int32_string_map"):
        cst.Query.from_struct2tensor(expression)


def test_what_is_no_expression() -> None:
    with pytest.raises(TypeError, match="not int"):
        cst.Query.from_struct2tensor(1)
