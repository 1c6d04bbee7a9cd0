"""Views: what they are, running them, saving them, functions of Python's in them."""

from __future__ import annotations

import pathlib
import pickle
import threading
from typing import Any

import columnstone as cst
import messages
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

RECORDS = messages.sessions(20)
ROWS = messages.rows(RECORDS)
CLICKS = [sum(e["clicked"] for e in row["event"]) for row in ROWS]
QUERIES = [[e["query"] for e in row["event"]] for row in ROWS]


def ranking() -> cst.Query:
    return (
        cst.Query(messages.shop("Session"))
        .promote("event.query", to="", name="queries")
        .filter("event", by="event.clicked", name="clicks")
        .size("clicks", name="num_clicks")
        .output("label", cst.query.dense("num_clicks", default=0))
        .output("tokens", cst.query.ragged("queries"))
    )


def table() -> pa.Table:
    return pa.table(
        cst.decoder("message", message=messages.shop("Session"), enums="text").decode(RECORDS)
    )


# What it is


def test_what_a_view_is() -> None:
    view = ranking().view()
    assert view.text == ranking().text
    assert (view.message, view.input, view.outputs) == (
        "shop.Session",
        "message",
        ("label", "tokens"),
    )
    outputs = view.describe_outputs().to_pydict()
    assert outputs["kind"] == ["dense", "ragged"]
    assert outputs["row_splits"] == [None, "int64"]
    assert outputs["columns"][0] == [{"name": "label", "type": "int64"}]
    assert outputs["paths"][1] == ["event.query"]
    assert view.describe_params().to_pydict() == {"name": [], "type": [], "value": []}
    types = {field.name: field.type for field in pa.schema(view.schema)}
    assert types == {"label": pa.int64(), "tokens": pa.large_list(pa.large_string())}
    assert view.specs["label"].kind == "dense"
    assert view.specs["tokens"].kind == "ragged"
    assert view.feature_spec() == ranking().feature_spec()
    assert view.source_paths() == ("event.clicked", "event.query")
    assert view.source_paths("label") == ("event.clicked",)
    assert "event.clicked" in view.explain()
    assert view.explain(json=True).startswith("{")
    assert len(view.digest) == 64
    assert repr(view) == "<columnstone.View of shop.Session: label, tokens>"


def test_query_answers_the_same() -> None:
    query = ranking()
    assert query.schema == query.view().schema
    assert query.source_paths("tokens") == ("event.query",)
    assert query.explain() == query.view().explain()


def test_a_plan_tells_the_elements_of_a_batch() -> None:
    query = cst.Query(table()).output("n", "size(event)")
    number = sum(len(row["event"]) for row in ROWS)
    assert str(number) in query.explain(table())
    assert query.explain(table()) == query.view().explain(table()) != query.explain()
    assert query.explain(table(), json=True).startswith("{")
    with pytest.raises(TypeError):
        query.view().explain(1)  # type: ignore[arg-type]


def test_differences() -> None:
    query = cst.Query(messages.shop("Session")).output("a", "id")
    same = query.view().diff(query.view())
    assert same == ("", 0, 0)
    found = query.view().diff(query.output("b", "user").view(outputs=["b"]))
    assert (found.num_breaking, found.num_rows) == (1, 0)
    assert "'a' is gone" in found.text
    with pytest.raises(TypeError, match="expected a View, not Query"):
        query.view().diff(query)  # type: ignore[arg-type]


def test_other_rows_are_a_difference_of_their_own() -> None:
    text = "let first = event where {}\nrows first\noutput q = query\n"
    clicked, dear = (
        cst.Query.from_text(text.format(condition), message=messages.shop("Session")).view()
        for condition in ("clicked", "price > 0")
    )
    found = clicked.diff(dear)
    assert (found.num_breaking, found.num_rows) == (0, 1)
    assert "'q'" in found.text and "query: other rows" in found.text
    assert clicked.diff(clicked).num_rows == 0


# Running


@pytest.mark.parametrize(
    "make",
    [list, tuple, iter, lambda r: [memoryview(x) for x in r], pa.array, cst.array],
    ids=["list", "tuple", "iterator", "buffers", "pyarrow", "array"],
)
def test_records_of_all_kinds(make: Any) -> None:
    view = ranking().view()
    tensors = view.tensors(make(RECORDS))
    assert tensors["label"].tolist() == CLICKS
    assert [[b.decode() for b in row] for row in tensors["tokens"].to_list()] == QUERIES
    assert view.run(make(RECORDS)).to_pydict() == {"label": CLICKS, "tokens": QUERIES}
    assert ranking().run(make(RECORDS)).to_pydict()["label"] == CLICKS
    assert ranking().tensors(make(RECORDS))["label"].tolist() == CLICKS


def test_batches_and_tables() -> None:
    query = (
        cst.Query(table()).output("n", "size(event)").output("q", cst.query.ragged("event.query"))
    )
    expected = {"n": [len(q) for q in QUERIES], "q": QUERIES}
    assert query.run(table()).to_pydict() == expected
    assert query.run(table().to_batches()[0]).to_pydict() == expected
    assert query.tensors(table())["n"].tolist() == expected["n"]
    assert query.view().apply(table()).to_pydict() == expected
    # a view of messages takes their batches, too
    assert ranking().view().apply(table()).to_pydict()["label"] == CLICKS


def test_a_query_without_a_source_takes_what_comes() -> None:
    query = cst.Query().output("n", "size(a)")
    assert query.run([{"a": [1, 2]}, {"a": []}]).to_pydict() == {"n": [2, 0]}
    assert query.run({"a": [["x"]]}).to_pydict() == {"n": [1]}
    with pytest.raises(cst.errors.NotFoundError, match="did you mean 'a'"):
        cst.Query().output("n", "size(aa)").run([{"a": [1]}])
    with pytest.raises(cst.errors.ArgumentError, match="the query has no `from`"):
        query.view()


def test_rows_tell_where_they_come_from() -> None:
    query = cst.Query(table()).let("event.session", "id").rows("event").output("s", "session")
    batch, rows = query.view().apply_with_rows(table())
    expected = [i for i, row in enumerate(ROWS) for _ in row["event"]]
    assert rows.to_pylist() == expected
    assert batch.to_pydict() == {"s": [ROWS[i]["id"] for i in expected]}
    query = cst.Query(messages.shop("Session")).record_index("n").output("n", "n")
    assert query.run(RECORDS).to_pydict() == {"n": list(range(20))}


def test_examples() -> None:
    schema = """feature { name: "a" type: INT shape { } presence { min_fraction: 1 } }
                feature { name: "b" type: BYTES }"""
    records = cst.encoder("example").encode(
        pa.table({"a": [[1], [2]], "b": [[b"x"], []]}).to_batches()[0]
    )
    query = (
        cst.Query("example", schema=schema).output("a", "a * 2").output("b", cst.query.ragged("b"))
    )
    assert query.run(records).to_pydict() == {"a": [2, 4], "b": [[b"x"], []]}
    assert query.tensors(list(records))["a"].tolist() == [2, 4]
    assert pickle.loads(pickle.dumps(query)) == query


def test_other_forms_of_messages() -> None:
    query = cst.Query(messages.shop("Session"), message_options={"form": "json"}).output("id", "id")
    assert query.text.startswith("from message shop.Session with form = json\n")
    assert query.run([b'{"id": 5}']).to_pydict() == {"id": [5]}
    named = cst.Query("shop.Session", descriptors=messages.SHOP).output("id", "id")
    assert named.run(RECORDS[:2]).to_pydict() == {"id": [0, 1]}


def test_threads_run_one_view() -> None:
    view = ranking().view()
    failed: list[int] = []

    def run() -> None:
        for _ in range(20):
            if view.tensors(RECORDS)["label"].tolist() != CLICKS:
                failed.append(1)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


# Parameters and outputs


def test_parameters() -> None:
    query = (
        cst.Query(messages.shop("Session"))
        .param("most", "int64")
        .param("words", "[string]", ["query 1 0"])
        .let("few", "event[:most]")
        .output("q", "few.query")
        .output("is", "any(event.query in words)")
    )
    with pytest.raises(cst.errors.ArgumentError, match="'most' has no value"):
        query.view()
    view = query.view({"most": 1})
    assert view.run(RECORDS).to_pydict()["q"] == [q[:1] for q in QUERIES]
    again = pickle.loads(pickle.dumps(view))
    assert again.run(RECORDS).to_pydict()["q"] == [q[:1] for q in QUERIES]
    other = view.again({"most": -1, "words": ("nothing",)})
    assert other.run(RECORDS).to_pydict()["q"] == [q[:-1] for q in QUERIES]
    assert not any(other.run(RECORDS).to_pydict()["is"])
    with pytest.raises(cst.errors.NotFoundError, match="did you mean 'words'"):
        query.view({"most": 1, "wrods": []})
    with pytest.raises(cst.errors.SchemaError, match="most"):
        query.view({"most": "a"})


def test_outputs_are_chosen() -> None:
    view = ranking().view(outputs=["tokens"])
    assert view.outputs == ("tokens",)
    assert view.source_paths() == ("event.query",)
    assert pickle.loads(pickle.dumps(view)).outputs == ("tokens",)
    assert ranking().view().select(["tokens", "label"]).outputs == ("tokens", "label")
    with pytest.raises(cst.errors.NotFoundError, match="did you mean 'label'"):
        ranking().view(outputs=["lable"])


def test_what_decides_about_rows() -> None:
    text = "from message shop.Session\nparam training: bool = true\n"
    rows = "rows shown\noutput query = query"
    query = cst.Query.from_text(
        f"{text}let shown = event where clicked\n{rows}", descriptors=messages.SHOP
    )
    assert query.view().row_paths() == ("event.clicked",)
    query = cst.Query.from_text(
        f"{text}let shown = event where clicked or not training\n{rows}", descriptors=messages.SHOP
    )
    assert query.view().row_paths() == ranking().view().row_paths() == ()


# Saving


def test_saved_views(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "ranking.cstv"
    ranking().save(path)
    assert path.stat().st_size < 8192
    for view in (cst.View(path), cst.View(str(path)), cst.View(path.read_bytes())):
        assert view.digest == ranking().view().digest
        assert view.tensors(RECORDS)["label"].tolist() == CLICKS
        assert view.to_bytes() == path.read_bytes()
    assert cst.View(path, outputs=["label"]).outputs == ("label",)
    view = pickle.loads(pickle.dumps(cst.View(path)))
    assert view.tensors(RECORDS)["label"].tolist() == CLICKS


def test_what_is_no_view(tmp_path: pathlib.Path) -> None:
    with pytest.raises(cst.errors.NotFoundError, match="no such file"):
        cst.View(tmp_path / "none.cstv")
    with pytest.raises(cst.errors.FileError):
        cst.View(tmp_path)
    path = tmp_path / "text.cstv"
    path.write_text("let a = b")
    with pytest.raises(cst.errors.CorruptError) as caught:
        cst.View(path)
    assert caught.value.file == str(path)
    assert str(path) in str(caught.value)
    data = ranking().view().to_bytes()
    for size in range(0, len(data), 37):
        with pytest.raises(cst.errors.CorruptError):
            cst.View(data[:size])


# Errors


WRONG: dict[str, tuple[Any, type[Exception], str]] = {
    "a field": (
        lambda q: q.size("evnt", "n"),
        cst.errors.FieldNotFoundError,
        "did you mean 'event'",
    ),
    "a field below": (
        lambda q: q.promote("event.quer", name="q"),
        KeyError,
        "did you mean 'query'",
    ),
    "a name that is there": (lambda q: q.let("user", "id"), cst.errors.SchemaError, "user"),
    "types": (lambda q: q.let("x", "user + id"), cst.errors.SchemaError, "cast"),
    "an output": (lambda q: q.output("d", "dense(event.query)"), cst.errors.SchemaError, "shape"),
    "what is dropped": (
        lambda q: q.drop("labls"),
        cst.errors.NotFoundError,
        "did you mean 'labels'",
    ),
    "what is kept": (lambda q: q.keep("id", "event.x"), cst.errors.NotFoundError, "x"),
    "what is renamed": (
        lambda q: q.rename("idd", "x"),
        cst.errors.NotFoundError,
        "did you mean 'id'",
    ),
    "rows": (lambda q: q.rows("id"), cst.errors.SchemaError, "expected a list of structs"),
    "a slice of no list": (
        lambda q: q.slice("event.query", 0, 1, name="q"),
        cst.errors.ArgumentError,
        "choose elements of event",
    ),
    "a filter of no list": (
        lambda q: q.filter("event.query", by="event.clicked", name="q"),
        cst.errors.ArgumentError,
        "event.query is not a list",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_errors_come_at_once(what: str) -> None:
    make, kind, text = WRONG[what]
    with pytest.raises(kind, match=text):
        make(cst.Query(messages.shop("Session")))


def test_slices_of_lists_below() -> None:
    query = cst.Query(messages.shop("Session")).slice("event.result", -1, name="last_result")
    query = query.output("sku", "event.last_result.sku")
    expected = [[[r["sku"] for r in e["result"][-1:]] for e in row["event"]] for row in ROWS]
    assert query.run(RECORDS).to_pydict() == {"sku": expected}


def test_errors_of_records_name_them() -> None:
    query = cst.Query(messages.shop("Session")).output("user", cst.query.dense("user"))
    with pytest.raises(cst.errors.SchemaError) as caught:
        query.run(RECORDS[1::2] + RECORDS[:1])
    assert (caught.value.record, caught.value.path) == (10, "user")
    with pytest.raises(cst.errors.CorruptError) as corrupt:
        query.tensors([RECORDS[1], b"\xff"])
    assert corrupt.value.record == 1


def test_records_that_are_none() -> None:
    view = ranking().view()
    for wrong in (b"one record", "text"):
        with pytest.raises(TypeError, match="a list of bytes"):
            view.tensors(wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"records\[1\] is int"):
        view.tensors([b"", 1])  # type: ignore[list-item]
    with pytest.raises(TypeError):
        view.tensors([None])  # type: ignore[list-item]


# Functions of Python's


def _log_price(price: Any) -> Any:
    return np.log1p(price)


def test_functions_of_numpy_see_no_nulls() -> None:
    query = cst.Query(messages.shop("Session"))
    query = query.map("event.log", _log_price, "event.price", type="float64").output(
        "l", "event.log"
    )
    expected = [
        [None if e["price"] is None else float(np.log1p(e["price"])) for e in row["event"]]
        for row in ROWS
    ]
    assert query.run(RECORDS).to_pydict() == {"l": expected}
    assert pickle.loads(pickle.dumps(query)).run(RECORDS).to_pydict() == {"l": expected}
    view = pickle.loads(pickle.dumps(query.view()))
    assert view.run(RECORDS).to_pydict() == {"l": expected}
    for refused in (lambda: query.save("x.cstv"), query.view().to_bytes):
        with pytest.raises(cst.errors.UnsupportedError, match="functions"):
            refused()


@pytest.mark.parametrize(
    ("fn", "arguments", "type", "expected"),
    [
        (np.add, ("id", "id"), "int64", [2 * row["id"] for row in ROWS]),
        (lambda n: n % 2 == 1, ("id",), "bool", [row["id"] % 2 == 1 for row in ROWS]),
        (lambda n: n / 2, ("id",), "float32", [row["id"] / 2 for row in ROWS]),
        (
            lambda u: [x.upper() for x in u],
            ("user",),
            "string",
            [row["user"] and row["user"].upper() for row in ROWS],
        ),
        (lambda u: [None for x in u], ("id",), "bytes", [None] * 20),
    ],
    ids=["int64", "bool", "float32", "string", "bytes"],
)
def test_functions_of_all_types(fn: Any, arguments: Any, type: Any, expected: list[Any]) -> None:
    query = cst.Query(messages.shop("Session")).map("x", fn, *arguments, type=type).output("x", "x")
    assert query.run(RECORDS).to_pydict() == {"x": expected}


def test_functions_of_pyarrow_see_nulls() -> None:
    query = cst.Query(messages.shop("Session")).map(
        "x", lambda u: pc.fill_null(u, "nobody"), "user", type="string", arrays="pyarrow"
    )
    expected = [row["user"] or "nobody" for row in ROWS]
    assert query.output("x", "x").run(RECORDS).to_pydict() == {"x": expected}


class Own(Exception):
    """One of the caller's."""


def _raise(values: Any) -> Any:
    raise Own("no")


@pytest.mark.parametrize(
    ("fn", "type", "kind", "text"),
    [
        (_raise, "int64", Own, "no"),
        (lambda x: x[:1], "int64", cst.errors.ArgumentError, "one value per element"),
        (lambda x: x * 1.5, "int64", cst.errors.ArgumentError, "float64, and its type is int64"),
        (lambda x: [1] * len(x), "string", cst.errors.ArgumentError, "int, and its type is str"),
    ],
    ids=["raises", "too short", "another type", "no text"],
)
def test_what_functions_do_wrong(fn: Any, type: Any, kind: Any, text: str) -> None:
    query = cst.Query(messages.shop("Session")).map("x", fn, "id", type=type).output("x", "x")
    for run in (query.run, query.tensors):
        with pytest.raises(kind, match=text):
            run(RECORDS)


def test_limits_of_memory_elements_and_work() -> None:
    """A small query that multiplies its input ends at a limit that names the record."""
    text = "from table [{a: string, l: [int64]}]\nlet b = a + a + a + a\nlet c = b + b + b + b\n"
    query = cst.Query.from_text(text + "output n = dense(len(c))\noutput m = dense(size(l))")
    rows = [{"a": "x", "l": [1]}, {"a": "y" * 1000, "l": []}]
    assert query.view().run(rows).to_pydict() == {"n": [16, 16000], "m": [1, 0]}
    for limit in ({"max_bytes": 5000}, {"max_work": 200}):
        for view in (query.view(**limit), cst.View(query.view().to_bytes(), **limit)):
            for again in (view, view.again(), view.select(["n"]), pickle.loads(pickle.dumps(view))):
                with pytest.raises(cst.errors.LimitError) as found:
                    again.run(rows)
                assert found.value.record == 1
    with pytest.raises(ValueError, match="max_bytes is 0"):
        query.view(max_bytes=0)


def test_a_list_that_comes_into_null_structs_is_one_that_is_null_there() -> None:
    """Beside the list that it was, if the structs are never null, and else another one."""
    ones = [{"l": [1, 2]}, {"l": [3]}]
    text = "from table\nlet x.n = u\noutput of = u.l * x.n.l"
    for xs, nullable in (([{"k": 1}, {"k": 2}], False), ([{"k": 1}, None], True)):
        x = pa.field("x", pa.struct([("k", pa.int64())]), nullable=nullable)
        u = pa.field("u", pa.struct([("l", pa.list_(pa.int64()))]))
        table = pa.table([pa.array(xs, x.type), pa.array(ones, u.type)], pa.schema([x, u]))
        if nullable:
            shown = cst.Query.from_text("let x.n = u\noutput of = x.n.l", type=table)
            assert shown.run(table)["of"].to_pylist() == [[1, 2], None]
            with pytest.raises(cst.errors.SchemaError, match="are in different lists"):
                cst.Query.from_text(text, type=table).run(table)
        else:
            made = cst.Query.from_text(text, type=table).run(table)
            assert made["of"].to_pylist() == [[1, 4], [9]]


def test_what_is_beside_a_list_of_null_structs_stays_beside_it() -> None:
    """It is flattened to the structs of that list as it is, and not repeated for each of them."""
    item = pa.struct([("k", pa.int64())])
    table = pa.table(
        {
            "c": pa.array([[{"k": 1}, None, {"k": 3}]], pa.list_(item)),
            "d": pa.array([[[{"y": 1}], [{"y": 2}]]]),
        }
    )
    for made in ("d", "zip(s=d, t=d)"):
        field = "y" if made == "d" else "s.y"
        text = f"let c.n1 = {made}\nlet c.n2 = c.n1.{field}\noutput "
        flat = cst.Query.from_text(text + "of = flatten(c.n2, to=c.n1)", type=table)
        assert flat.run(table)["of"].to_pylist() == [[[1, 2], None, [1, 2]]]
        sums = cst.Query.from_text(text + f"of = c.n2 + c.n1.{field}", type=table)
        assert sums.run(table)["of"].to_pylist() == [[[2, 4], None, [2, 4]]]


# Nulls that the type of the view forbids


STRICT = pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("tag", pa.string())])
LOOSE = [{"id": 1, "tag": "a"}, {"id": None, "tag": "b"}, {"id": 3, "tag": None}]


@pytest.mark.parametrize("output", ["dense(id)", "sparse(id)", "id is null", "id + 1"])
def test_a_null_that_the_type_forbids_is_the_fault_of_its_row(
    output: str, tmp_path: pathlib.Path
) -> None:
    view = cst.Query.from_text(f"from table output b = {output}", type=STRICT).view()
    batch = pa.RecordBatch.from_pylist(LOOSE)
    with pytest.raises(
        cst.errors.SchemaError, match=r"record 1.*'id': a null, but the view"
    ) as raised:
        view.run(batch)
    assert "nullable field" in str(raised.value)
    assert len(view.run(batch.slice(2)).to_pydict()["b"]) == 1
    path = tmp_path / "rows.arrow"
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, batch.schema) as out:
        out.write_batch(batch)
    with pytest.raises(cst.errors.SchemaError, match=r"record 1.*'id': a null, but the view"):
        list(cst.open(path, view=view))
    sound = view.run(batch.take([0, 2])).to_pydict()["b"]
    assert pa.table(cst.open(path, view=view, on_error="skip")).to_pydict()["b"] == sound
    nulls = pa.table(cst.open(path, view=view, on_error="null")).to_pydict()["b"]
    assert nulls == [sound[0], None, sound[1]]
    if output != "id is null" and output != "id + 1":
        kept = cst.open(path, view=view, on_error="skip").dataset(batch_size=2, as_batches=True)
        assert [row for got in kept for row in got.to_pydict()["b"]] == sound


def test_nulls_of_dictionaries_are_found() -> None:
    type = pa.schema([pa.field("tag", pa.string(), nullable=False)])
    view = cst.Query.from_text("from table output t = tag", type=type).view()
    for indices, values, is_bad in [
        ([0, 1, None], ["a", "b"], True),
        ([0, 1], ["a", None], True),
        ([0, 0], ["a", None], False),
        ([1, 0], ["a", "b"], False),
    ]:
        tags = pa.DictionaryArray.from_arrays(pa.array(indices, pa.int8()), pa.array(values))
        batch = pa.RecordBatch.from_arrays([tags], ["tag"])
        if is_bad:
            with pytest.raises(
                cst.errors.SchemaError,
                match="a null, but the view was built for data without nulls",
            ):
                view.run(batch)
        else:
            assert view.run(batch).to_pydict()["t"] == tags.to_pylist()


def test_rows_of_bad_messages_are_not_looked_at(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "sessions.tfrecord"
    with cst.codec.TFRecordWriter(path) as writer:
        for i, record in enumerate(RECORDS):
            writer.write(record if i % 3 else b"\xff")
    view = cst.Query(messages.shop("Session")).output("n", "size(event)").view()
    source = cst.open(path, view=view, on_error="null")
    got = pa.table(source).to_pydict()["n"]
    assert got == [None if i % 3 == 0 else len(row["event"]) for i, row in enumerate(ROWS)]
    assert pa.table(source).num_rows == len(RECORDS)


# Bad records and deadlines


MIXED = [b"\x08", *RECORDS[:2], b"\x12\x70", RECORDS[2]]


def test_bad_records_are_left_out_or_rows_of_nulls() -> None:
    view = ranking().view()
    bad: list[cst.Error] = []
    sound = view.run(RECORDS[:3])
    got, rows = view.run_with_rows(MIXED, on_error="skip", on_bad=bad.append)
    assert got.to_pydict() == sound.to_pydict()
    assert rows.to_pylist() == [1, 2, 4]
    assert [(type(e), e.record) for e in bad] == [
        (cst.errors.CorruptError, 0),
        (cst.errors.CorruptError, 3),
    ]
    with pytest.raises(cst.errors.CorruptError, match="record 0"):
        view.run(MIXED)
    for name, values in view.run(MIXED, on_error="null").to_pydict().items():
        a, b, c = sound.to_pydict()[name]
        assert values == [None, a, b, None, c]
    tensors = view.tensors(MIXED, on_error="null")
    assert tensors["label"].numpy().tolist() == [0, *CLICKS[:2], 0, CLICKS[2]]
    lengths = [len(row) for row in tensors["tokens"].to_list()]
    assert lengths == [0, *map(len, QUERIES[:2]), 0, len(QUERIES[2])]
    assert len(view.tensors(MIXED, on_error="skip")["label"].numpy()) == 3


def test_bad_rows_of_a_batch() -> None:
    view = cst.Query.from_text(
        "from table output id = dense(id) output tag = tag",
        type=pa.RecordBatch.from_pylist(LOOSE).schema,
    ).view()
    bad: list[cst.Error] = []
    batch = pa.RecordBatch.from_pylist(LOOSE)
    assert view.run(batch, on_error="skip", on_bad=bad.append).to_pydict() == {
        "id": [1, 3],
        "tag": ["a", None],
    }
    assert [(e.record, e.path) for e in bad] == [(1, "id")]
    made = view.run(batch, on_error="null")
    assert made.to_pydict() == {"id": [1, None, 3], "tag": ["a", None, None]}
    assert pa.schema(made.schema).field("id").nullable
    assert view.select(["id"]).tensors(batch, on_error="null")["id"].numpy().tolist() == [1, 0, 3]


def test_what_on_bad_raises_comes_out_of_the_call() -> None:
    view = ranking().view()

    def refuse(error: cst.Error) -> None:
        raise KeyError(error.record)

    for call in (view.run, view.tensors):
        with pytest.raises(KeyError, match="0"):
            call(MIXED, on_error="skip", on_bad=refuse)


def test_a_call_has_a_deadline() -> None:
    view = ranking().view()
    for call in (view.run, view.tensors):
        with pytest.raises(cst.errors.DeadlineError, match="the deadline has passed") as raised:
            call(RECORDS * 2000, timeout=0)
        assert isinstance(raised.value, TimeoutError)
        call(RECORDS, timeout=3600)
        with pytest.raises(cst.errors.ArgumentError, match="timeout is -1"):
            call(RECORDS, timeout=-1)
        with pytest.raises(cst.errors.ArgumentError, match="on_error must be"):
            call(RECORDS, on_error="drop")  # type: ignore[arg-type]
    assert view.run(RECORDS, timeout=float("inf")).num_rows == len(RECORDS)
