"""Query: methods write the text of the language."""

from __future__ import annotations

import pathlib
import pickle
from typing import Any

import columnstone as cst
import pytest

ISSUE = """\
let queries = event.query
let clicks = event where clicked
let num_clicks = size(clicks)
output label = dense(num_clicks, default=0)
output tokens = ragged(queries)
"""


def made() -> cst.Query:
    return (
        cst.Query()
        .promote("event.query", to="", name="queries")
        .filter("event", by="event.clicked", name="clicks")
        .size("clicks", name="num_clicks")
        .output("label", cst.query.dense("num_clicks", default=0))
        .output("tokens", cst.query.ragged("queries"))
    )


def test_methods_write_the_text() -> None:
    assert made().text == ISSUE
    assert cst.Query.from_text(ISSUE) == made()
    assert hash(cst.Query.from_text("# a comment\n" + ISSUE)) == hash(made())


def test_a_query_does_not_change() -> None:
    query = cst.Query()
    query.let("a", "b")
    assert query.text == ""


STATEMENTS: dict[str, tuple[Any, str]] = {
    "promote": (lambda q: q.promote("a.b.c", "a"), "let a.c = a.b.c"),
    "promote named": (lambda q: q.promote("a.b", name="c d"), "let `c d` = a.b"),
    "broadcast": (lambda q: q.broadcast("id", into="event"), "let event.id = id"),
    "broadcast deeper": (lambda q: q.broadcast("a.x", "a.b.c", "y"), "let a.b.c.y = a.x"),
    "promote_and_broadcast": (
        lambda q: q.promote_and_broadcast("a.b", "c.d", name="x"),
        "let c.d.x = a.b",
    ),
    "filter by expression": (
        lambda q: q.filter("a.event", by="clicked and price > 0", name="clicks"),
        "let a.clicks = a.event where clicked and price > 0",
    ),
    "slice": (lambda q: q.slice("a.b", -2, "most", 2, name="c"), "let a.c = a.b[-2:most:2]"),
    "truncate": (lambda q: q.truncate("b", 3, "c"), "let c = b[:3]"),
    "drop_null": (lambda q: q.drop_null("b", "c"), "let c = drop_null(b)"),
    "fill_null": (lambda q: q.fill_null("b", 'x"\n', "c"), 'let c = fill_null(b, "x\\"\\n")'),
    "only": (
        lambda q: q.only("b", "x.*", "y", name="c", depth=2),
        "let c = only(b, x.*, y, depth=2)",
    ),
    "without": (lambda q: q.without("b", "x", name="c"), "let c = without(b, x)"),
    "zip": (lambda q: q.zip("a.c", x="a.l", y="a.r"), "let a.c = zip(x=a.l, y=a.r)"),
    "record_index": (lambda q: q.record_index("n"), "let n = record_index()"),
    "index": (lambda q: q.index("a.b", "n"), "let a.n = index(a.b)"),
    "index_from_end": (lambda q: q.index_from_end("b", "n"), "let n = index_from_end(b)"),
    "join": (lambda q: q.join("b", ", ", "n"), 'let n = join(b, ", ")'),
    "map": (lambda q: q.map("a.x", "log1p(a.y)"), "let a.x = log1p(a.y)"),
    "rows": (lambda q: q.rows("event"), "rows event"),
    "reroot": (lambda q: q.reroot("event"), "rows event"),
    "keep": (lambda q: q.keep("a.*", "b.**", depth=3), "keep a.*, b.** depth 3"),
    "drop": (lambda q: q.drop("a", "b.c"), "drop a, b.c"),
    "rename": (lambda q: q.rename("a.b", "c"), "rename a.b as c"),
    "param": (lambda q: q.param("n", "int64", 5), "param n: int64 = 5"),
    "param of a list": (lambda q: q.param("n", "[string]", ["a"]), 'param n: [string] = ["a"]'),
    "param without": (lambda q: q.param("n", "float32"), "param n: float32"),
    "add": (lambda q: q.add("let a=b # what"), "let a = b"),
    "dense": (
        lambda q: q.output("d", cst.query.dense("a.b", shape=[2, 3], default=-1)),
        "output d = dense(a.b, shape=[2, 3], default=-1)",
    ),
    "sparse": (lambda q: q.output("s", cst.query.sparse("a.b")), "output s = sparse(a.b)"),
    "ragged": (
        lambda q: q.output("r", cst.query.ragged("a.b", default=b"\x00z", row_splits="int32")),
        'output r = ragged(a.b, default=b"\\x00z", row_splits=int32)',
    ),
    "structured": (
        lambda q: q.output("e", cst.query.structured("event")),
        "output e = struct(event)",
    ),
    "backticks": (lambda q: q.size("a.`my field`", name="it"), "let a.`it` = size(a.`my field`)"),
} | {
    name: (lambda q, name=name: getattr(q, name)("a.b", name="n"), f"let a.n = {name}(a.b)")
    for name in (
        [
            "size",
            "has",
            "count",
            "count_distinct",
            "sum",
            "mean",
            "std",
            "variance",
            "min",
            "max",
            "argmin",
            "argmax",
            "first",
            "last",
            "any",
            "all",
        ]
    )
}


@pytest.mark.parametrize("what", STATEMENTS)
def test_statements(what: str) -> None:
    make, text = STATEMENTS[what]
    assert make(cst.Query()).text == text + "\n"


WRONG: dict[str, tuple[Any, type[Exception], str]] = {
    "promoted sideways": (
        lambda q: q.promote("event.query", to="labels"),
        cst.errors.ArgumentError,
        "not above its struct",
    ),
    "promoted to where it is": (
        lambda q: q.promote("event.query", to="event"),
        cst.errors.ArgumentError,
        "not above its struct",
    ),
    "broadcast upwards": (
        lambda q: q.broadcast("event.query", into="labels"),
        cst.errors.ArgumentError,
        "use promote_and_broadcast",
    ),
    "no path": (
        lambda q: q.size("a b", "n"),
        cst.errors.ArgumentError,
        "no step begins at character 1",
    ),
    "a dot at the end": (lambda q: q.size("a.", "n"), cst.errors.ArgumentError, "ends with a dot"),
    "an empty name": (lambda q: q.size("a", ""), cst.errors.ArgumentError, "name is empty"),
    "no name": (lambda q: q.size("a", 1), TypeError, "name must be a str, not int"),
    "an expression": (lambda q: q.let("a", "b +"), cst.errors.ArgumentError, "expected"),
    "a path of an expression": (
        lambda q: q.let("a + b", "c"),
        cst.errors.ArgumentError,
        "expected",
    ),
    "no type": (lambda q: q.param("n", "int63"), cst.errors.ArgumentError, "int63"),
    "a literal": (lambda q: q.fill_null("a", object(), "n"), TypeError, "not object"),
    "not a number": (
        lambda q: q.fill_null("a", float("nan"), "n"),
        cst.errors.ArgumentError,
        "nan",
    ),
    "a surrogate": (
        lambda q: q.fill_null("a", "\ud800", "n"),
        cst.errors.ArgumentError,
        "surrogate",
    ),
    "row splits": (
        lambda q: q.output("r", cst.query.ragged("a", row_splits="int8")),
        cst.errors.ArgumentError,
        "int64 or int32",
    ),
    "a function without a type": (
        lambda q: q.map("a", len, "b"),
        cst.errors.ArgumentError,
        "its arguments and its type",
    ),
    "a function of a wrong type": (
        lambda q: q.map("a", len, "b", type="decimal"),
        cst.errors.ArgumentError,
        "type= is one of",
    ),
    "an expression with a type": (
        lambda q: q.map("a", "b", type="int64"),
        cst.errors.ArgumentError,
        "only for Python functions",
    ),
    "unknown function": (lambda q: q.map("a", 1, "b", type="int64"), TypeError, "not int"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_said_at_once(what: str) -> None:
    make, kind, text = WRONG[what]
    with pytest.raises(kind, match=text):
        make(cst.Query())


def test_sources_that_are_none() -> None:
    with pytest.raises(TypeError, match="not int"):
        cst.Query(1)  # type: ignore[arg-type]
    with pytest.raises(cst.errors.ArgumentError, match="descriptors of the message are missing"):
        cst.Query("shop.Session")
    with pytest.raises(cst.errors.ArgumentError, match="schema= is for"):
        cst.Query(schema="feature { name: 'a' type: INT }")
    with pytest.raises(cst.errors.ArgumentError, match="without message"):
        cst.Query(message_options={"enums": "number"})


def test_errors_of_texts_have_their_place() -> None:
    with pytest.raises(cst.errors.ArgumentError) as caught:
        cst.Query.from_text("let a = b\nlet c = (d\n")
    assert (caught.value.line, caught.value.column) == (3, 1)


def test_files(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.cstq"
    path.write_text("# what is clicked\n" + ISSUE)
    assert cst.Query.from_file(path) == made()
    with pytest.raises(cst.errors.NotFoundError):
        cst.Query.from_file(tmp_path / "none.cstq")
    path.write_text("let")
    with pytest.raises(cst.errors.ArgumentError) as caught:
        cst.Query.from_file(path)
    assert caught.value.file == str(path)


def _twice(x: Any) -> Any:
    return 2 * x


def test_it_pickles() -> None:
    assert pickle.loads(pickle.dumps(made())) == made()
    query = cst.Query().map("a", _twice, "b", type="int64").map("c", _twice, "b", type="int64")
    assert query.text == "let a = python__twice(b)\nlet c = python__twice_2(b)\n"
    again = pickle.loads(pickle.dumps(query))
    assert again.text == query.text
    assert repr(again).startswith("<columnstone.Query\nlet a")
