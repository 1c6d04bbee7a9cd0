"""cst.lineage: stores, artifacts, executions and contexts, and what came from what."""

from __future__ import annotations

import os
import pathlib
import pickle
import sys
import types
from datetime import UTC, datetime, timedelta
from typing import Any

import columnstone as cst
import lineage_data as data
import numpy as np
import pytest
from columnstone.lineage import Artifact, Field, Store
from hypothesis import given
from hypothesis import strategies as st


@pytest.fixture
def folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """The current folder, with data of every payload."""
    data.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def store(tmp_path: pathlib.Path) -> Store:
    return cst.lineage.open(tmp_path / "lineage.db", create=True)


def of_messages(store: Store, name: str = "sessions", **options: Any) -> Artifact:
    return store.examples(
        "sessions.tfrecord.gz", name, message="shop.Session", descriptors="shop.desc", **options
    )


# The walk of a newcomer


def test_the_walk_of_a_newcomer(folder: pathlib.Path) -> None:
    """What the guide shows, in its words."""
    cst.lineage.open("lineage.db", create=True).close()
    store = cst.lineage.open("lineage.db")
    of_messages(store, split="train", span=12)
    for name in ("sessions@2", "sessions@3"):
        assert of_messages(store, span=13).reference == name
    store.schema("schema.pbtxt", "schema")
    for _ in range(3):  # the same content is the same artifact
        assert store.view("ranking.cstv", "ranking").reference == "ranking@1"
    (folder / "other.cstq").write_text(data.MESSAGE_VIEW + "output user = user\n")
    store.view("other.cstq", "ranking", message="shop.Session", descriptors="shop.desc")
    store.bind("sessions@3", "ranking@1")
    (folder / "model" / "7").mkdir(parents=True)
    (folder / "model" / "7" / "weights").write_bytes(b"w")

    with store.execution("train", inputs=[store["sessions@4"], store["schema"]]) as run:
        run.output(store.model("model/7"))
    src = cst.open(store["sessions@4"])
    assert src.column_names == ["price"]
    src = cst.open(store["sessions@4"], view=store["ranking@2"])
    assert src.column_names == ["price", "user"]
    src = cst.open(store["sessions@4"], view=None)
    assert src.column_names == ["user", "event"]
    tfxio = cst.tfxio.make_tfxio(store["sessions@4"])
    assert list(tfxio.TensorRepresentations()) == ["price"]

    [model] = store.find("Model")
    assert [one.reference for one in model.inputs] == ["schema@1", "sessions@4"]
    assert model.inputs[1].outputs == [model]
    up = {node.label: node.depth for node in store.trace(model, up=True) if node.depth}
    assert up["train"] == -1
    assert up["sessions@4"] == -1
    assert up["DataViewBinder"] == -2
    assert up["sessions@3"] == -2
    assert "sessions@2" not in up


# Stores


def test_opening(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "lineage.db"
    with pytest.raises(cst.errors.NotFoundError):
        cst.lineage.open(path)
    with cst.lineage.open(path, create=True) as made:
        assert made.path == str(path)
        assert made.info()["roots"] == [str(tmp_path)]
    with pytest.raises(cst.errors.StateError, match="closed"):
        made.info()
    made.close()
    cst.lineage.open(path, create=True).close()  # there is one
    with cst.lineage.open(path, read_only=True) as reader:
        with pytest.raises(cst.errors.StateError):
            reader.add("Thing")
        assert list(reader) == []
    with pytest.raises(cst.errors.ArgumentError):
        cst.lineage.open(path, create=True, read_only=True)
    with pytest.raises(cst.errors.ArgumentError, match="create=True"):
        cst.lineage.open(path, roots=[tmp_path])
    with pytest.raises(cst.errors.ArgumentError, match="timeout"):
        cst.lineage.open(path, timeout=0)
    cst.lineage.open(path, create=True, roots=[tmp_path]).close()  # as it has them
    for roots in ([], ["/"], [tmp_path, "/"]):
        with pytest.raises(cst.errors.ArgumentError, match="other roots"):
            cst.lineage.open(path, create=True, roots=roots)


def test_options_of_examples_that_nobody_has(store: Store, tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n")
    path = str(tmp_path / "a.csv")
    for options, kind, message in (
        ({"nope": 1}, TypeError, "has no option 'nope'"),
        ({"delimeter": ";"}, TypeError, "did you mean 'delimiter'"),
        ({"format": "csv", "nope": 1}, TypeError, "has no option 'nope'"),
        ({"format": "csv", "avro_codec": "null"}, cst.errors.ArgumentError, "csv has no option"),
        (
            {"message_options": {"nope": 1}},
            cst.errors.ArgumentError,
            "unknown message option 'nope'",
        ),
    ):
        with pytest.raises(kind, match=message):
            store.examples(path, **options)
    assert list(store) == []
    added = store.examples(path, delimiter=",", max_record_size=1 << 20)
    assert next(iter(cst.open(added))).to_pydict() == {"a": [1]}


def test_looking_up(store: Store) -> None:
    first, second = store.add("Thing", name="a"), store.add("Thing", name="a")
    nameless = store.add("Thing")
    assert (first.reference, second.version, nameless.version) == ("a@1", 2, None)
    assert store["a"] == store["a@2"] == store[second.id] == second
    assert store["a"] is not second
    assert len({first, second, nameless, store["a"]}) == 3
    assert nameless.reference == str(nameless.id)
    assert ["a@1" in store, "a@3" in store, 2 in store, 99 in store] == [True, False, True, False]
    assert first in store
    assert 1.5 not in store
    assert True not in store
    for missing in ("a@9", "b", 99):
        with pytest.raises(cst.errors.NotFoundError):
            store[missing]
    with pytest.raises(TypeError):
        store[True]
    with pytest.raises(cst.errors.ArgumentError, match="another type"):
        store.add("Other", name="a")


def test_artifacts_of_other_stores_are_refused(tmp_path: pathlib.Path, store: Store) -> None:
    other = cst.lineage.open(tmp_path / "other.db", create=True).add("Thing")
    with pytest.raises(cst.errors.ArgumentError, match=r"other\.db"):
        store.trace(other)
    assert other not in store


NAMES = st.text(
    st.characters(exclude_categories=["C", "Zl", "Zp"], exclude_characters="@#"), min_size=1
).filter(lambda name: not name.isdigit())
VALUES = (
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
    | st.binary()
)
KEYS = st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=20)


@given(st.dictionaries(KEYS, VALUES, max_size=5))
def test_properties_come_back(
    tmp_path_factory: pytest.TempPathFactory, properties: dict[str, Any]
) -> None:
    with cst.lineage.open(tmp_path_factory.mktemp("s") / "l.db", create=True) as store:
        made = store.add("Thing", properties=properties)
        assert made.properties == properties
        assert {k: type(v) for k, v in made.properties.items()} == {
            k: type(v) for k, v in properties.items()
        }
        store.set(made, note="x")
        assert made.refresh().properties == {**properties, "note": "x"}
        if all(name.isidentifier() for name in properties):
            taken = {"self", "type", "name", "path", "source_path", "context", "created"}
            if not properties.keys() & {*taken, "states", "limit"}:
                assert store.find(**properties) == [made]


@given(st.lists(NAMES, min_size=1, max_size=4, unique=True))
def test_any_name_is_found(tmp_path_factory: pytest.TempPathFactory, names: list[str]) -> None:
    with cst.lineage.open(tmp_path_factory.mktemp("s") / "l.db", create=True) as store:
        for name in names:
            made = store.add("Thing", name=name)
            assert made.name == name
            assert store[f"{name}@1"] == store[name] == made
        assert [one.name for one in store] == names


def test_names_with_quotes_newlines_and_controls(store: Store) -> None:
    for name in ("it's", 'a "b"', "; DROP TABLE artifact; --", "100%", "*", "né", "a b"):
        made = store.add("Thing'; --", name=name, properties={"it's": "x'\n\"; --\t"})
        assert store[name].properties == {"it's": "x'\n\"; --\t"}
        assert made in store.find("Thing'; --", **{"it's": "x'\n\"; --\t"})
    for name in ("a\nb", "a@b", "a#b", "12", ""):
        with pytest.raises(cst.errors.ArgumentError):
            store.add("Thing", name=name)
    for bad in ("a\0b", "\ud800"):
        with pytest.raises(ValueError):
            store.add("Thing", name=bad)


def test_values_that_no_property_holds(store: Store) -> None:
    for value in ([1], {"a": 1}, object(), 1j):
        with pytest.raises(TypeError, match="property 'p'"):
            store.add("Thing", properties={"p": value})  # type: ignore[dict-item]
    with pytest.raises(cst.errors.ArgumentError, match="64 bits"):
        store.add("Thing", properties={"p": 2**63})
    given: Any = {"i": np.int32(3), "f": np.float32(0.5), "b": np.bool_(True), "n": None}
    assert store.add("Thing", properties=given).properties == {"i": 3, "f": 0.5, "b": True}


def test_files(store: Store, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a b'").mkdir()
    for name in ("1.x", "2.x", "eval.x"):
        (tmp_path / "a b'" / name).write_text(name)
    made = store.add("Data", {"train": "a b'/[12].x", "eval": ["a b'/eval.x"]})
    assert [(os.path.basename(f.path), f.split, f.size) for f in made.files] == [
        ("1.x", "train", 3),
        ("2.x", "train", 3),
        ("eval.x", "eval", 6),
    ]
    assert made.split("eval").paths == [str(tmp_path / "a b'" / "eval.x")]
    assert made.split("eval") != made
    assert made.split("eval").refresh().splits == ("eval",)
    with pytest.raises(cst.errors.NotFoundError, match="it has eval, train"):
        made.split("test")
    assert store.find(path="a b'") == store.find(path=tmp_path / "a b'" / "1.x") == [made]
    assert store.find(path="a") == []
    for missing in ("none.x", "none*.x"):
        with pytest.raises(cst.errors.NotFoundError, match="none"):
            store.add("Data", missing)
    assert store.add("Data", "none.x", missing=True).paths == [str(tmp_path / "none.x")]
    assert store.add("Data", "s3://bucket/x", digest=False).uri == "s3://bucket/x"
    os.rename("a b'/1.x", b"a b'/\xff.x")
    raw = store.add("Data", b"a b'/\xff.x")
    assert os.fsencode(raw.paths[0]).endswith(b"\xff.x")
    assert pickle.loads(pickle.dumps(raw)).paths == raw.paths


def test_reuse(store: Store, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "x"
    file.write_text("x")
    one = store.add("Data", file, "d", properties={"p": 1})
    assert store.add("Data", file, "d", properties={"p": 1}, reuse=True) == one
    assert store.add("Data", file, "d", properties={"p": 2}, reuse=True) != one
    assert store.add("Data", file, "d", properties={"p": 1}) != one


def test_finding(store: Store) -> None:
    begin = datetime.now(UTC)
    old = store.add("Data", name="a", created=datetime(2020, 1, 1, tzinfo=UTC))
    made = [store.add("Data", name=name, properties={"span": i}) for i, name in enumerate("ab")]
    other = store.add("Other", name="c")
    assert store.find() == [old, *made, other] == list(store)
    assert store.find("Data") == [old, *made]
    assert store.find(name="[bc]") == [made[1], other]
    assert store.find(span=1) == [made[1]]
    assert store.find(created=begin - timedelta(seconds=1)) == [*made, other]
    assert store.find(created=(None, begin - timedelta(days=1))) == [old]
    assert store.find(created=datetime(2019, 1, 1)) == [old, *made, other]
    assert store.find(limit=2) == [made[1], other]
    assert store.find(states="live", limit=2) == [made[1], other]
    assert store.find(states=["deleted", "pending"]) == []
    with pytest.raises(cst.errors.ArgumentError):
        store.find(limit=0)
    with pytest.raises(TypeError):
        store.find(created=3)  # type: ignore[arg-type]
    assert old.created == datetime(2020, 1, 1, tzinfo=UTC)
    assert old.created.tzinfo is not None


# Views, schemas, statistics


def make_query() -> cst.Query:
    return data.query(pathlib.Path.cwd(), "message")


def test_views_of_every_provider_are_one_artifact(
    store: Store, folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same content is the same artifact, whoever made it."""
    view = store.view("ranking.cstv", "ranking")
    assert view.fields == (Field("price", "event.price"),)
    assert view.digest == cst.View("ranking.cstv").digest
    assert view.properties == {"input": "message", "message": "shop.Session"}
    query = make_query()
    code = (
        "import pathlib, columnstone as cst\n"
        "here = pathlib.Path(__file__).parent\n"
        f"def make_query(): return cst.Query.from_text({data.MESSAGE_VIEW!r}, "
        "message='shop.Session', descriptors=here / 'shop.desc')\n"
        "def other(): return make_query().view()\n"
    )
    (folder / "provider.py").write_text(code)
    (folder / "empty.py").write_text("class A: pass\nmake_query = 3\n")
    module = types.ModuleType("module")
    module.make_query = make_query  # type: ignore[attr-defined]
    providers: list[tuple[Any, dict[str, Any]]] = [
        ("ranking.cstq", {"message": "shop.Session", "descriptors": "shop.desc"}),
        (pathlib.Path("ranking.cstq"), {"message": "shop.Session", "descriptors": "shop.desc"}),
        (query, {}),
        (query.view(), {}),
        (make_query, {}),
        (module, {}),
        ("provider.py", {}),
        ("provider.py", {"function": "other"}),
    ]
    for what, options in providers:
        assert store.view(what, "ranking", **options) == view
    assert len(store.find("DataView")) == 1
    assert not [name for name in sys.modules if name.startswith("_columnstone_view")]
    with pytest.raises(cst.errors.NotFoundError, match="make_query"):
        store.view("empty.py")
    with pytest.raises(cst.errors.NotFoundError, match="nothing"):
        store.view("provider.py", function="nothing")
    with pytest.raises(cst.errors.NotFoundError):
        store.view("no.py")
    with pytest.raises(TypeError, match="not int"):
        store.view(3)
    with pytest.raises(cst.errors.ArgumentError, match="message"):
        store.view(query, message="shop.Session")
    with pytest.raises(cst.errors.ArgumentError):
        store.view("ranking.cstv", function="x")


def test_a_view_that_is_made_lies_beside_the_store(store: Store, folder: pathlib.Path) -> None:
    made = store.view(data.query(folder, "table"), "t")
    [path] = made.paths
    assert path == f"{store.path}.files/{made.digest[:32]}.cstv"  # type: ignore[index]
    assert cst.View(path).input == "table"
    assert os.listdir(f"{store.path}.files") == [os.path.basename(path)]
    assert store.find(source_path="x") == [made]


def test_source_paths_find_views(store: Store, folder: pathlib.Path) -> None:
    view = store.view("ranking.cstv")
    assert store.find(source_path="event") == store.find(source_path="event.price") == [view]
    assert store.find(source_path="user") == []


def test_schemas_and_statistics(store: Store, folder: pathlib.Path) -> None:
    made = store.schema("schema.pbtxt", "schema")
    assert store.schema("schema.pbtxt", "schema") == made
    text = store.schema(cst.Schema.from_text(data.SCHEMA), "of-object")
    assert cst.Schema(text.paths[0]).features[0].name == "x"
    assert cst.open("examples.tfrecord", schema=made).column_names == ["x"]
    examples = store.examples("examples.tfrecord", "e", schema=made)
    assert cst.open(examples).column_names == ["x"]
    assert examples.references[0].reference == "schema@1"
    stats = store.statistics(cst.open(examples).statistics(), "stats", of=examples)
    assert stats.inputs == [examples]
    assert cst.Statistics.load(stats.paths[0]).num_rows == 20


def test_binding(store: Store, folder: pathlib.Path) -> None:
    examples, view = of_messages(store), store.view("ranking.cstv", "ranking")
    bound = store.bind(examples, view)
    assert store.bind("sessions@1", "ranking") == bound
    assert (bound.reference, bound.files) == ("sessions@2", examples.files)
    assert bound.properties["data_view_uri"] == view.paths[0]
    assert store.bind(examples, view, "other").reference == "other@1"
    with pytest.raises(cst.Error):
        store.bind(view, view)


# Executions and contexts


def test_an_execution_ends_as_its_block_does(store: Store) -> None:
    given = store.add("Data", name="in")
    with store.execution("train", {"data": given}, name="n", epochs=3, rate=0.5) as run:
        assert run.execution.state == "running"
        assert run.execution.ended is None
        made = run.output(store.add("Model", name="m", pending=True), "model")
        assert made.state == "pending"
        run.set(loss=1.5)
    done = run.execution
    assert (done.state, done.type, done.name) == ("complete", "train", "n")
    assert done.properties == {"epochs": 3, "rate": 0.5, "loss": 1.5}
    assert [(e.reference, e.path) for e in done.inputs] == [("in@1", "data")]
    assert [(e.reference, e.path) for e in done.outputs] == [("m@1", "model")]
    assert done.ended >= done.started  # type: ignore[operator]
    assert made.refresh().state == "live"
    assert store.executions("train", epochs=3) == [done]
    assert store.executions("other") == []


def test_an_execution_that_fails(store: Store) -> None:
    run = store.execution("train")
    with pytest.raises(cst.errors.StateError, match="not started"):
        run.id  # noqa: B018
    with pytest.raises(ValueError, match="no") as caught, run:
        made = run.output(store.add("Model", pending=True))
        raise ValueError("no")
    assert not hasattr(caught.value, "__notes__")
    assert run.execution.state == "failed"
    assert run.execution.properties == {"error": "ValueError: no"}
    assert made.refresh().state == "abandoned"
    assert made not in store.find()
    assert store.find(states=["abandoned"]) == [made]
    with pytest.raises(KeyboardInterrupt), store.execution("train") as run:
        raise KeyboardInterrupt
    assert run.execution.state == "canceled"
    with pytest.raises(cst.errors.StateError, match="already started"):
        run.__enter__()
    with pytest.raises(UnicodeError), store.execution("train") as run:
        raise UnicodeError("\ud800")
    assert run.execution.properties["error"] == "UnicodeError: \\ud800"


def test_the_error_of_a_block_comes_first(store: Store) -> None:
    """Also if the execution cannot be ended, which it says."""
    with pytest.raises(ValueError, match="no") as caught, store.execution("train"):
        store.close()
        raise ValueError("no")
    assert "could not be ended" in caught.value.__notes__[0]


def test_inputs_have_to_be_live(store: Store) -> None:
    with pytest.raises(cst.errors.StateError), store.execution("x", [store.add("D", pending=True)]):
        pass
    with pytest.raises(TypeError), store.execution("x") as run:
        run.output("a")  # type: ignore[arg-type]


def test_contexts(store: Store) -> None:
    artifact = store.add("Data")
    pipeline = store.context("pipeline", "p", owner="me")
    day = store.context("run", "1")
    with store.execution("x", contexts=[day]) as run:
        pass
    assert pipeline.add(artifact, day).artifacts == (artifact.id,)
    found = store.context("pipeline", "p")
    assert found == pipeline
    assert (found.children, found.properties) == ((day.id,), {"owner": "me"})
    assert store.contexts("run")[0].executions == (run.id,)
    assert store.find(context=pipeline) == [artifact]
    assert store.executions(context=day) == [run.execution]
    with pytest.raises(TypeError):
        pipeline.add(3)  # type: ignore[arg-type]


def test_tracing(store: Store) -> None:
    chain = [store.add("Data", name="d")]
    for _ in range(5):
        with store.execution("step", [chain[-1]]) as run:
            chain.append(run.output(store.add("Data", name="d")))
    middle = chain[2]
    assert middle.inputs == [chain[1]]
    assert middle.outputs == [chain[3]]
    labels = [node.label for node in store.trace(middle, up=True, depth=1)]
    assert labels == ["d@3", "step", "d@2"]
    assert {n.label for n in store.trace(middle, down=True)} == {"d@3", "step", "d@4", "d@5", "d@6"}
    both = store.trace(middle)
    assert [node.depth for node in both if node.kind == "artifact"].count(0) == 1
    assert len(both) == 11
    assert str(both[0]) == "+0  artifact d@3 (Data)"
    with pytest.raises(cst.errors.ArgumentError):
        store.trace(middle, up=False, down=False)


# Transactions


def test_transactions_are_whole(store: Store) -> None:
    with store.transaction():
        store.add("Data", name="a")
        with store.transaction():  # part of it
            store.add("Data", name="b")
    with pytest.raises(ValueError, match="no"), store.transaction():
        store.add("Data", name="c")
        assert "c" in store
        raise ValueError("no")
    assert [one.name for one in store] == ["a", "b"]
    with store.transaction():
        with pytest.raises(cst.errors.NotFoundError):
            store["none"]
        store.add("Data", name="d")
    assert "d" in store


def test_what_is_uncommitted_is_not_seen_by_others(store: Store) -> None:
    with cst.lineage.open(store.path) as other, store.transaction():
        store.add("Data", name="a")
        assert "a" not in other
    assert "a" in store


# Pickles


def test_pickles(store: Store) -> None:
    artifact = store.add("Data", name="a", properties={"p": 1})
    context = store.context("c", "c")
    with store.execution("x", [artifact]) as run:
        pass
    for one in (artifact, context, run.execution):
        again = pickle.loads(pickle.dumps(one))
        assert again == one
        assert repr(again) == repr(one)
        assert hash(again) == hash(one)
    moved = pickle.loads(pickle.dumps(artifact))
    assert moved.refresh().properties == {"p": 1}
    assert pickle.loads(pickle.dumps(store))["a"] == artifact
    with pytest.raises(TypeError, match="pickle its artifacts"):
        pickle.dumps(store.lease(artifact))


def test_frozen(store: Store) -> None:
    artifact = store.add("Data")
    with pytest.raises(AttributeError):
        artifact.name = "b"  # type: ignore[misc]


def test_texts_for_people(store: Store) -> None:
    bad = store.add("Data\x1b", name="a'b")
    assert "\x1b" not in repr(bad)
    assert repr(store.context("c\n", "d\x1b")).isprintable()
    assert "Run of 'x'" in repr(store.execution("x"))


def test_records_of_another_store(folder: pathlib.Path, store: Store) -> None:
    """Their ids mean something else here: nothing takes them."""
    other = cst.lineage.open(folder / "other.db", create=True)
    view, theirs = other.view("ranking.cstv", "theirs"), of_messages(other)
    context = other.context("pipeline", "weekly")
    with other.execution("train") as run:
        run.output(theirs)
    mine = store.view("ranking.cstv", "mine"), of_messages(store)
    assert (mine[0].id, mine[1].id) == (view.id, theirs.id)
    with store.execution("train") as own:
        for call in (
            lambda: store.bind(mine[1], view),
            lambda: store.bind(theirs, mine[0]),
            lambda: store.reading(mine[1], view),
            lambda: store.set(theirs, a=1),
            lambda: store.set(run.execution, a=1),
            lambda: store.set(context, a=1),
            lambda: store.find(context=context),
            lambda: store.execution("train", contexts=[context]),
            lambda: store.openlineage([run.execution]),
            lambda: own.output(theirs),
            lambda: store.context("pipeline", "weekly").add(theirs),
        ):
            with pytest.raises(cst.errors.ArgumentError, match=r"the store .*other\.db, not to"):
                call()
    assert "a" not in mine[1].refresh().properties


# To others


def test_mlmd_there_and_back(store: Store, folder: pathlib.Path) -> None:
    bound = store.bind(of_messages(store, span=12), store.view("ranking.cstv", "ranking"))
    with store.execution("train", [bound], epochs=3) as run:
        run.output(store.add("Model", name="m", properties={"auc": 0.5}))
    written = cst.lineage.export_mlmd(store, "mlmd.sqlite")
    assert written["artifacts"] == 4
    with pytest.raises(cst.Error):
        cst.lineage.export_mlmd(store, "mlmd.sqlite")
    assert cst.lineage.export_mlmd(store, "mlmd.sqlite", overwrite=True) == written
    with cst.lineage.open("other.db", create=True) as other:
        assert cst.lineage.import_mlmd("mlmd.sqlite", other)["artifacts"] == 4
        assert sorted(one.type for one in other) == sorted(one.type for one in store)
        [model] = other.find("Model")
        assert model.properties["auc"] == 0.5
        [examples] = model.inputs
        assert cst.open(examples).column_names == ["price"]
        count = cst.lineage.import_mlmd("mlmd.sqlite", other)  # nothing twice
        assert count.get("artifacts", 0) == 0
        assert len(list(other)) == 4
    with pytest.raises(TypeError):
        cst.lineage.export_mlmd("lineage.db", "x.sqlite")  # type: ignore[arg-type]


def test_graphs(store: Store) -> None:
    with store.execution("x", [store.add("Data", name="a")]) as run:
        run.output(store.add("Data", name="b"))
    other = store.add("Data", name="c")
    assert all(name in store.graph(format="dot") for name in ("a@1", "b@1", "c@1"))
    part = store.graph("a", format="svg", down=True)
    assert "b@1" in part
    assert "c@1" not in part
    assert store.graph(other).lstrip().lower().startswith("<!doctype html>")
    with pytest.raises(cst.errors.ArgumentError):
        store.graph(format="png")  # type: ignore[arg-type]


def test_what_a_failed_transaction_had_added(folder: pathlib.Path, store: Store) -> None:
    with pytest.raises(ZeroDivisionError), store.transaction():
        lost = of_messages(store)
        raise ZeroDivisionError
    with pytest.raises(cst.errors.NotFoundError, match="there is no artifact 1"):
        lost.refresh()


def test_a_query_of_databases(folder: pathlib.Path, store: Store) -> None:
    with pytest.raises(cst.errors.ArgumentError, match="sessions@1 is an artifact; query is"):
        cst.open(of_messages(store), query="select 1")
