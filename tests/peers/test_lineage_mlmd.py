"""Stores of lineage and those of ml-metadata, each in the other's hands.

ml-metadata needs the older protobuf of struct2tensor's environment, in which this runs.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import pathlib
import pickle
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import columnstone as cst
import pytest
from google.protobuf import any_pb2, struct_pb2
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from ml_metadata import metadata_store
from ml_metadata.proto import metadata_store_pb2 as pb

# Each example makes files of both: what fails is not made smaller, which takes minutes.
FEW = settings(
    max_examples=15,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate],
    report_multiple_bugs=False,
)
counter = itertools.count()


@pytest.fixture(scope="module", autouse=True)
def folder() -> Iterator[pathlib.Path]:
    global FOLDER
    with tempfile.TemporaryDirectory() as name:
        FOLDER = pathlib.Path(name)
        yield FOLDER


FOLDER = pathlib.Path()


def fresh(name: str) -> pathlib.Path:
    """A path in a folder of its own."""
    made = FOLDER / str(next(counter))
    made.mkdir()
    return made / name


def theirs(path: pathlib.Path) -> metadata_store.MetadataStore:
    config = pb.ConnectionConfig()
    config.sqlite.filename_uri = str(path)
    return metadata_store.MetadataStore(config)


def ours() -> cst.lineage.Store:
    return cst.lineage.open(fresh("lineage.db"), create=True)


def imported(path: pathlib.Path, into: cst.lineage.Store | None = None) -> cst.lineage.Store:
    store = into if into is not None else ours()
    cst.lineage.import_mlmd(path, store)
    return store


def everything(store: cst.lineage.Store) -> dict[str, list[str]]:
    """All rows, but for what another store cannot have: numbers of types and files, and paths that
    are relative to it."""
    queries = {
        "artifact": "SELECT a.id, t.name, a.name, version, state, hex(digest), is_external,"
        " created, updated FROM artifact a JOIN type t ON t.id = a.type",
        "execution": "SELECT e.id, t.name, e.name, state, started, ended FROM execution e"
        " JOIN type t ON t.id = e.type",
        "context": "SELECT c.id, t.name, c.name, created FROM context c JOIN type t ON t.id = type",
        "file": "SELECT artifact, position, path, split, role, size, modified, hex(digest)"
        " FROM artifact_file JOIN file ON file = id",
        "property": "SELECT kind, owner, name, type, typeof(value), hex(value) FROM property",
        "reference": "SELECT * FROM reference",
        "field": "SELECT * FROM field",
        "event": "SELECT * FROM event",
        "member": "SELECT * FROM member",
    }
    own = os.fsencode(pathlib.Path(store.path).parent)

    def cell(value: Any) -> Any:
        is_relative = isinstance(value, bytes) and not value.startswith(b"/") and b":" not in value
        return own + b"/" + value if is_relative else value

    # Not in this process, which has the store open with another copy of SQLite.
    look = """import pickle, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
pickle.dump([db.execute(query).fetchall() for query in sys.argv[2:]], sys.stdout.buffer)"""
    command = [sys.executable, "-c", look, store.path, *queries.values()]
    found = pickle.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return {
        name: sorted(repr([cell(v) for v in row]) for row in rows)
        for name, rows in zip(queries, found, strict=True)
    }


# ---- ours in their hands ----


def shop() -> cst.lineage.Store:
    """Data of two splits, a schema, statistics, a model; a type and a reference of our own."""
    store = ours()
    top = pathlib.Path(store.path).parent
    (top / "data").mkdir()
    for name in ("train-0", "train-1", "eval-0"):
        (top / "data" / name).write_bytes(b"\0" * 40)
    (top / "schema.pbtxt").write_text('feature { name: "x" type: INT }\n')
    (top / "model").mkdir()
    (top / "model" / "weights").write_text("1 2 3")
    splits = {"train": [top / "data/train-0", top / "data/train-1"], "eval": top / "data/eval-0"}
    data = store.add("Examples", splits, "sessions", properties={"span": 12, "ok": True})
    schema = store.schema(top / "schema.pbtxt", "schema")
    stats = store.add("Statistics", top / "data/eval-0", "stats", references={"schema": schema})
    pipeline, night = store.context("pipeline", "nightly"), store.context("run", "2026-11-29")
    pipeline.add(night)
    with store.execution("Trainer", inputs={"examples": data, "schema": schema}, rate=0.5) as run:
        model = run.output(store.model(top / "model", "ranking"), "model")
    night.add(data, model, store.executions()[0])
    store.set(model, auc=0.75, note="a 'quoted'\nnote", code=b"\0\xff")
    store.add("shop.Report", (), properties={"rows": 3}, references={"of": [stats, model]})
    return store


def test_they_read_ours() -> None:
    store, path = shop(), fresh("mlmd.sqlite")
    assert cst.lineage.export_mlmd(store, path) == {
        "artifacts": 5, "executions": 1, "contexts": 2, "events": 3, "members": 4,
    }  # fmt: skip
    read = theirs(path)
    types = {one.name: one for one in read.get_artifact_types()}
    assert set(types) >= {"Examples", "DataView", "Schema", "ExampleStatistics", "Model"}
    assert dict(types["Examples"].properties) == {
        "span": pb.INT, "version": pb.INT, "split_names": pb.STRING,
    }  # fmt: skip
    assert types["Examples"].base_type == pb.ArtifactType.DATASET
    assert types["Model"].base_type == pb.ArtifactType.MODEL
    assert types["ExampleStatistics"].base_type == pb.ArtifactType.STATISTICS

    data = read.get_artifact_by_type_and_name("Examples", "sessions@1")
    top = pathlib.Path(store.path).parent
    assert data.uri == str(top / "data")
    assert data.state == pb.Artifact.LIVE
    assert data.properties["span"].int_value == 12
    assert json.loads(data.properties["split_names"].string_value) == ["train", "eval"]
    assert data.custom_properties["ok"].bool_value is True
    model = read.get_artifact_by_type_and_name("Model", "ranking@1")
    assert model.custom_properties["auc"].double_value == 0.75
    assert model.custom_properties["note"].string_value == "a 'quoted'\nnote"
    assert "code" not in model.custom_properties  # they have no bytes

    [run] = read.get_executions_by_type("Trainer")
    assert run.last_known_state == pb.Execution.COMPLETE
    events = read.get_events_by_execution_ids([run.id])
    assert {
        (e.artifact_id, e.type, e.path.steps[0].key, e.path.steps[1].index) for e in events
    } == {
        (data.id, pb.Event.INPUT, "examples", 0),
        (store["schema"].id, pb.Event.INPUT, "schema", 0),
        (model.id, pb.Event.OUTPUT, "model", 0),
    }
    [night] = read.get_contexts_by_artifact(model.id)
    assert (night.type, night.name) == ("run", "2026-11-29")
    assert [c.name for c in read.get_contexts_by_execution(run.id)] == ["2026-11-29"]
    assert [c.name for c in read.get_parent_contexts_by_context(night.id)] == ["nightly"]
    options = metadata_store.ListOptions(filter_query="uri LIKE '%model'")
    assert [a.id for a in read.get_artifacts(options)] == [model.id]

    query = pb.LineageSubgraphQueryOptions(max_num_hops=4)
    query.starting_artifacts.filter_query = f"id = {model.id}"
    graph = read.get_lineage_subgraph(query)
    assert {a.id for a in graph.artifacts} == {data.id, store["schema"].id, model.id}


def test_they_go_on_with_ours() -> None:
    store, path = shop(), fresh("mlmd.sqlite")
    cst.lineage.export_mlmd(store, path)
    read = theirs(path)
    kind = pb.ArtifactType(name="Examples", base_type=pb.ArtifactType.DATASET)
    kind.properties.update({"span": pb.INT, "version": pb.INT, "split_names": pb.STRING})
    assert read.put_artifact_type(kind) == read.get_artifact_type("Examples").id
    [old] = read.get_artifacts_by_id([store["sessions"].id])
    copy = pb.Artifact(type_id=old.type_id, uri=old.uri, state=pb.Artifact.LIVE)
    for name, value in old.custom_properties.items():  # as their binder does, with what is ours
        copy.custom_properties[name].CopyFrom(value)
    run = pb.Execution(type_id=read.put_execution_type(pb.ExecutionType(name="Binder")))
    event = pb.Event(type=pb.Event.OUTPUT)
    read.put_execution(run, [(copy, event)], [])

    again = imported(path)
    assert [one.reference for one in again][:2] == ["sessions@1", "schema@1"]
    bound = again[max(one.id for one in again)]
    assert (bound.type, bound.name, bound.is_external) == ("Examples", None, True)
    assert bound.properties == {"ok": True}
    assert [e.type for e in again.executions()] == ["Trainer", "Binder"]


def test_ours_comes_back() -> None:
    store, path = shop(), fresh("mlmd.sqlite")
    cst.lineage.export_mlmd(store, path)
    again = imported(path)
    assert everything(again) == everything(store)
    assert set(cst.lineage.import_mlmd(path, again).values()) == {0}


names = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12)
reals = st.floats(allow_nan=False)
numbers = st.integers(-(2**63), 2**63 - 1)
texts = st.text(max_size=20) | st.sampled_from(
    ["mlmd-struct::", "mlmd-struct::AA==", "mlmd-proto::"]
)
values = numbers | reals | texts | st.booleans() | st.binary(max_size=20)
own_names = names | st.sampled_from(
    ["span", "version", "split_names", "columnstone.artifact", "mlmd.name", "mlmd.state",
     "mlmd.external_id", "mlmd.custom.span"]
)  # fmt: skip
bags = st.dictionaries(own_names, values, max_size=5)
word = st.sampled_from(
    ["Examples", "Statistics", "ExampleStatistics", "mlmd.Model", "mine", "é'\""]
)


@FEW
@given(data=st.data())
def test_random_ours_come_back(data: st.DataObject) -> None:
    store = ours()
    for _ in range(data.draw(st.integers(0, 6))):
        known = list(store)
        needs = data.draw(st.lists(st.sampled_from(known), max_size=2)) if known else []
        kind = data.draw(word)
        store.add(
            kind,
            data.draw(st.sampled_from([(), "a", ["a/x", "a/y"], "gs://b/c"]))
            if data.draw(st.booleans())
            else {"train": "b/1", "e'val": ["b/2", "b/3"]},
            data.draw(
                st.none() | st.sampled_from(["one", "two"]).map(lambda n, k=kind: f"{n} {k}")
            ),
            properties=data.draw(bags),
            references={data.draw(names): needs} if needs else None,
            missing=True,
            external=data.draw(st.booleans()),
        )
    for _ in range(data.draw(st.integers(0, 3)) if list(store) else 0):
        every = st.sampled_from(list(store))
        paths = st.sampled_from(["", "in", "in/0", "in/1", "a/b/c", "7", "é"])
        used = data.draw(st.dictionaries(paths, every, max_size=3))
        context = store.context(data.draw(word), data.draw(names))
        try:
            with store.execution(data.draw(word), inputs=used, name=data.draw(st.none() | names)):
                if data.draw(st.booleans()):
                    raise KeyError
        except KeyError:
            pass
        context.add(data.draw(every), store.executions()[-1])
    path = fresh("mlmd.sqlite")
    cst.lineage.export_mlmd(store, path)
    read = theirs(path)  # all of it can be read there
    assert len(read.get_artifacts()) == len(list(store))
    assert len(read.get_executions()) == len(store.executions())
    assert len(read.get_contexts()) == len(store.contexts())
    assert everything(imported(path)) == everything(store)


# ---- theirs in our hands ----

KINDS = {
    "int_value": pb.INT, "double_value": pb.DOUBLE, "string_value": pb.STRING,
    "bool_value": pb.BOOLEAN, "struct_value": pb.STRUCT, "proto_value": pb.PROTO,
}  # fmt: skip
short = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)


@st.composite
def their_values(draw: st.DrawFn, kind: str) -> pb.Value:
    value = pb.Value()
    if kind == "struct_value":
        value.struct_value.update({draw(short): [draw(st.integers(0, 9)), draw(short)]})
    elif kind == "proto_value":
        packed = any_pb2.Any()
        packed.Pack(struct_pb2.Value(string_value=draw(short)))
        value.proto_value.CopyFrom(packed)
    else:
        of = {
            "int_value": st.integers(-(2**63) + 1, 2**63 - 1),
            "double_value": st.floats(-1e6, 1e6).map(lambda x: round(x, 3)),
            "string_value": short,
            "bool_value": st.booleans(),
        }
        setattr(value, kind, draw(of[kind]))
    return value


def plain(value: pb.Value) -> Any:
    """As it is with us."""
    kind = value.WhichOneof("value")
    if kind in ("struct_value", "proto_value"):
        return kind
    return getattr(value, kind)


def found(value: Any) -> Any:
    for prefix, kind in (("mlmd-struct::", "struct_value"), ("mlmd-proto::", "proto_value")):
        if isinstance(value, str) and value.startswith(prefix):
            return kind
    return value


def fill(draw: Any, thing: Any, declared: dict[str, str]) -> None:
    for name, kind in declared.items():
        if draw(st.booleans()):
            thing.properties[name].CopyFrom(draw(their_values(kind)))
    for name in draw(st.sets(st.sampled_from(["span", "x", "a 'b'", "é\n"]))):
        thing.custom_properties[name].CopyFrom(draw(their_values(draw(st.sampled_from([*KINDS])))))


def expected_properties(thing: Any) -> dict[str, Any]:
    made = {name: plain(value) for name, value in thing.properties.items()}
    for name, value in thing.custom_properties.items():
        made[f"mlmd.custom.{name}" if name in thing.properties else name] = plain(value)
    return made


def check_properties(thing: Any, one: Any) -> None:
    properties = {name: found(value) for name, value in one.properties.items()}
    assert properties.pop("mlmd.external_id", "") == thing.external_id
    for name in ("mlmd.state", "mlmd.name"):
        properties.pop(name, None)
    for name, value in expected_properties(thing).items():
        if isinstance(value, float):
            assert math.isclose(properties.pop(name), value, rel_tol=1e-9)
        else:
            assert properties.pop(name) == value
    assert not properties


STATES = {
    "UNKNOWN": "live", "LIVE": "live", "PENDING": "pending", "MARKED_FOR_DELETION": "marked",
    "DELETED": "deleted", "ABANDONED": "abandoned", "REFERENCE": "live",
}  # fmt: skip
RUNS = {
    "UNKNOWN": "complete", "NEW": "running", "RUNNING": "running", "COMPLETE": "complete",
    "FAILED": "failed", "CACHED": "complete", "CANCELED": "canceled",
}  # fmt: skip


@FEW
@given(data=st.data())
def test_random_theirs(data: st.DataObject) -> None:
    path = fresh("mlmd.sqlite")
    read = theirs(path)
    draw = data.draw
    kinds: dict[str, dict[str, str]] = {
        "Examples": {"span": "int_value", "version": "int_value", "split_names": "string_value"},
        "ExampleStatistics": {"span": "int_value", "split_names": "string_value"},
        "DataView": {}, "Schema": {}, "Model": {},
        "mine": {"span": "struct_value", "p": "proto_value", "d": "double_value"},
    }  # fmt: skip
    ids = {}
    for name, declared in kinds.items():
        kind = pb.ArtifactType(name=name)
        kind.properties.update({n: KINDS[k] for n, k in declared.items()})
        ids[name] = read.put_artifact_type(kind)
    run_type = read.put_execution_type(pb.ExecutionType(name="Trainer"))
    context_type = read.put_context_type(pb.ContextType(name="pipeline"))

    artifacts = []
    for i in range(draw(st.integers(0, 5))):
        name = draw(st.sampled_from([*kinds]))
        one = pb.Artifact(type_id=ids[name], uri=draw(st.sampled_from(["", "/a/b", "gs://x/y/"])))
        one.state = draw(st.sampled_from(list(pb.Artifact.State.values())))
        if draw(st.booleans()):
            one.name = draw(st.sampled_from(["a@b", "17", "plain", "p:q/é"])) + str(i)
        if draw(st.booleans()):
            one.external_id = f"x{i}"
        fill(draw, one, kinds[name])
        artifacts.append(one)
    artifact_ids = read.put_artifacts(artifacts)
    runs = []
    for i in range(draw(st.integers(0, 3))):
        run = pb.Execution(type_id=run_type, name=f"run {i}")
        run.last_known_state = draw(st.sampled_from(list(pb.Execution.State.values())))
        fill(draw, run, {})
        runs.append(run)
    run_ids = read.put_executions(runs)
    contexts = [pb.Context(type_id=context_type, name=n) for n in draw(st.sets(names, max_size=3))]
    for context in contexts:
        fill(draw, context, {})
    context_ids = read.put_contexts(contexts)
    events = []
    if artifact_ids and run_ids:
        pairs = st.tuples(st.sampled_from(artifact_ids), st.sampled_from(run_ids))
        for artifact_id, run_id in draw(st.sets(pairs)):
            kind = draw(st.sampled_from([pb.Event.INPUT, pb.Event.OUTPUT, pb.Event.DECLARED_INPUT]))
            event = pb.Event(artifact_id=artifact_id, execution_id=run_id, type=kind)
            for step in draw(st.lists(st.integers(0, 3) | names, max_size=3)):
                if isinstance(step, int):
                    event.path.steps.add().index = step
                else:
                    event.path.steps.add().key = step
            events.append(event)
        read.put_events(events)
    links = [(c, a) for c in context_ids for a in artifact_ids if draw(st.booleans())]
    read.put_attributions_and_associations(
        [pb.Attribution(context_id=c, artifact_id=a) for c, a in links], []
    )

    store = ours()
    counts = cst.lineage.import_mlmd(path, store)
    assert counts["artifacts"] == len(artifacts)
    assert counts["executions"] == len(runs)
    assert counts["contexts"] == len(contexts)
    assert counts["events"] == len(events)
    assert counts["members"] == len(links)
    every = {one.id: one for one in store.find(states=set(STATES.values()))}
    for one in read.get_artifacts():
        mine = every[one.id]
        assert mine.type == ("Statistics" if one.type == "ExampleStatistics" else one.type)
        assert mine.state == STATES[pb.Artifact.State.Name(one.state)]
        assert mine.is_external
        assert mine.created == when(one.create_time_since_epoch)
        check_properties(one, mine)
        assert one.name == (mine.name or mine.properties.get("mlmd.name", ""))
        if "split_names" not in mine.properties:
            assert [f.path for f in mine.files] == ([one.uri.rstrip("/")] if one.uri else [])
    for run, mine in zip(read.get_executions(), store.executions(), strict=True):
        assert (run.id, run.name) == (mine.id, mine.name)
        assert mine.state == RUNS[pb.Execution.State.Name(run.last_known_state)]
        check_properties(run, mine)
        of = [e for e in events if e.execution_id == run.id]
        assert {e.id for e in mine.outputs} == {e.artifact_id for e in of if e.type == 4}
        assert {e.id for e in mine.inputs} == {e.artifact_id for e in of if e.type != 4}
    for context, mine in zip(read.get_contexts(), store.contexts(), strict=True):
        assert (context.id, context.name) == (mine.id, mine.name)
        check_properties(context, mine)
    assert set(cst.lineage.import_mlmd(path, store).values()) == {0}

    back = fresh("back.sqlite")  # and they can read it again, with the same properties
    cst.lineage.export_mlmd(store, back)
    for one, other in zip(read.get_artifacts(), theirs(back).get_artifacts(), strict=True):
        assert one.external_id == other.external_id
        assert one.state == other.state
        both = dict(other.custom_properties) | dict(other.properties)
        for name, value in dict(one.properties).items():
            assert both[name] == value or isinstance(plain(value), float)
    assert everything(imported(back)) == everything(store)


def when(ms: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ms)


# ---- TFX ----


def test_views_of_tfx_are_references() -> None:
    path = fresh("mlmd.sqlite")
    read = theirs(path)
    view_type = read.put_artifact_type(pb.ArtifactType(name="DataView"))
    examples = pb.ArtifactType(name="Examples")
    examples.properties.update({"split_names": pb.STRING})
    examples_type = read.put_artifact_type(examples)
    views = read.put_artifacts([
        pb.Artifact(type_id=view_type, uri="/views/1"),
        pb.Artifact(type_id=view_type, uri="/views/2"),
        pb.Artifact(type_id=view_type, uri="/views/2", name="another of this folder"),
    ])  # fmt: skip
    made = [a.create_time_since_epoch for a in read.get_artifacts_by_id(views)]

    def bound(uri: str, time: str | None) -> int:
        one = pb.Artifact(type_id=examples_type, uri="/data/1")
        one.properties["split_names"].string_value = '["train", "eval"]'
        one.custom_properties["data_view_uri"].string_value = uri
        if time is not None:
            one.custom_properties["data_view_create_time_since_epoch"].string_value = time
        [id] = read.put_artifacts([one])
        return int(id)

    first = bound("/views/1", str(made[0]))
    twice = bound("/views/2", None)  # which of the two nobody knows
    wrong = bound("/views/1", "7")
    store = imported(path)
    assert [(r.role, r.id) for r in store[first].references] == [("view", views[0])]
    assert store[twice].references == store[wrong].references == ()
    assert [(f.path, f.split) for f in store[first].files] == [
        ("/data/1/Split-train", "train"), ("/data/1/Split-eval", "eval"),
    ]  # fmt: skip
    assert store[first].is_external


def test_what_is_new_is_added() -> None:
    path = fresh("mlmd.sqlite")
    read = theirs(path)
    kind = read.put_artifact_type(pb.ArtifactType(name="Model"))
    run_kind = read.put_execution_type(pb.ExecutionType(name="Trainer"))
    run = pb.Execution(type_id=run_kind, last_known_state=pb.Execution.RUNNING)
    [run.id] = read.put_executions([run])
    model = pb.Artifact(type_id=kind, uri="/m", state=pb.Artifact.PENDING)
    [model.id] = read.put_artifacts([model])
    store = imported(path)
    assert [e.state for e in store.executions()] == ["running"]
    run.last_known_state, model.state = pb.Execution.COMPLETE, pb.Artifact.LIVE
    read.put_execution(run, [(model, pb.Event(type=pb.Event.OUTPUT))], [])
    assert cst.lineage.import_mlmd(path, store) == {
        "artifacts": 0, "executions": 0, "contexts": 0, "events": 1, "members": 0, "updated": 2,
    }  # fmt: skip
    [done] = store.executions()
    assert (done.state, [e.id for e in done.outputs]) == ("complete", [model.id])
    assert store[model.id].state == "live"
    with sqlite3.connect(path) as db:
        db.execute("UPDATE Artifact SET create_time_since_epoch = 1")
    with pytest.raises(cst.Error, match="another store"):
        cst.lineage.import_mlmd(path, store)


def test_older_versions(folder: pathlib.Path) -> None:
    new = fresh("mlmd.sqlite")
    read = theirs(new)
    kind = read.put_artifact_type(pb.ArtifactType(name="Model"))
    one = pb.Artifact(type_id=kind, uri="/m", name="m")
    one.custom_properties["x"].int_value = 3
    read.put_artifacts([one])
    read.put_execution(
        pb.Execution(type_id=read.put_execution_type(pb.ExecutionType(name="t"))),
        [(read.get_artifacts()[0], pb.Event(type=pb.Event.OUTPUT))],
        [],
    )
    del read
    want = everything(imported(new))
    for version in (9, 8, 7, 6, 5):
        old = fresh("mlmd.sqlite")
        shutil.copy(new, old)
        config = pb.ConnectionConfig()
        config.sqlite.filename_uri = str(old)
        metadata_store.downgrade_schema(config, version)
        if version > 5:
            assert everything(imported(old)) == want
            continue
        with pytest.raises(cst.Error, match="version 5 of the schema") as raised:
            imported(old)
        assert "enable_upgrade_migration" in str(raised.value.hint)
