"""OpenLineage: what its own classes say of our events, and the sending of them to a server."""

from __future__ import annotations

import http.server
import json
import pathlib
import threading
from collections.abc import Iterator
from typing import Any

import columnstone as cst
import pytest
from columnstone._io import patience

VIEWS = pathlib.Path(__file__).parents[2] / "tests/data/views"


@pytest.fixture
def store(tmp_path: pathlib.Path) -> Iterator[cst.lineage.Store]:
    with cst.lineage.open(tmp_path / "lineage.db", create=True) as opened:
        yield opened


def events_of(store: cst.lineage.Store, **options: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in store.openlineage(**options).splitlines()]


def trained(store: cst.lineage.Store) -> None:
    """Raw Examples bound to a view, a training with them, and one that fails."""
    raw = store.examples(VIEWS / "examples.tfrecord", name="raw", properties={"span": 12})
    bound = store.bind(raw, store.view(VIEWS / "v1/examples.cstv", name="table"))
    with store.execution("train", inputs=[bound], rate=0.5, deep=True) as run:
        run.output(store.add("Model", name="ranker"))
    with pytest.raises(ZeroDivisionError), store.execution("evaluate", inputs=[bound]):
        raise ZeroDivisionError("no clicks")


# ---- OpenLineage's own classes ----


def facets_of(kind: type[Any], given: dict[str, Any]) -> dict[str, Any]:
    """Facets as objects of their classes; those that are ours have a form of ours."""
    ours = {name for name in given if name.startswith("columnstone_")}
    for name in ours:
        assert given[name]["_producer"].startswith("urn:columnstone:")
        assert given[name]["_schemaURL"].startswith("urn:columnstone:openlineage:")
    return {name: facet_of(name, facet) for name, facet in given.items() if name not in ours}


def facet_of(name: str, facet: dict[str, Any]) -> Any:
    from openlineage.client import facet_v2 as v2

    kind = {
        "processing_engine": v2.processing_engine_run.ProcessingEngineRunFacet,
        "errorMessage": v2.error_message_run.ErrorMessageRunFacet,
        "jobType": v2.job_type_job.JobTypeJobFacet,
        "schema": v2.schema_dataset.SchemaDatasetFacet,
        "dataSource": v2.datasource_dataset.DatasourceDatasetFacet,
        "version": v2.dataset_version_dataset.DatasetVersionDatasetFacet,
        "columnLineage": v2.column_lineage_dataset.ColumnLineageDatasetFacet,
    }[name]
    assert facet["_schemaURL"] == kind._get_schema()
    values = {key: value for key, value in facet.items() if not key.startswith("_")}
    if name == "schema":
        fields = v2.schema_dataset.SchemaDatasetFacetFields
        values["fields"] = [fields(**field) for field in values["fields"]]
    if name == "columnLineage":
        values["fields"] = {
            output: v2.column_lineage_dataset.Fields(
                inputFields=[
                    v2.column_lineage_dataset.InputField(
                        **{k: v for k, v in field.items() if k != "transformations"},
                        transformations=[
                            v2.column_lineage_dataset.Transformation(**each)
                            for each in field["transformations"]
                        ],
                    )
                    for field in of["inputFields"]
                ]
            )
            for output, of in values["fields"].items()
        }
    return kind(producer=facet["_producer"], **values)


def as_theirs(event: dict[str, Any]) -> Any:
    from openlineage.client import event_v2 as v2

    def datasets(kind: Any, given: list[dict[str, Any]]) -> list[Any]:
        return [
            kind(one["namespace"], one["name"], facets=facets_of(kind, one["facets"]))
            for one in given
        ]

    assert event["schemaURL"] == v2.RunEvent._get_schema()
    return v2.RunEvent(
        eventType=v2.RunState[event["eventType"]],
        eventTime=event["eventTime"],
        producer=event["producer"],
        run=v2.Run(event["run"]["runId"], facets_of(v2.Run, event["run"]["facets"])),
        job=v2.Job(
            event["job"]["namespace"],
            event["job"]["name"],
            facets_of(v2.Job, event["job"]["facets"]),
        ),
        inputs=datasets(v2.InputDataset, event["inputs"]),
        outputs=datasets(v2.OutputDataset, event["outputs"]),
    )


def plain(value: Any) -> Any:
    """JSON without facets of ours, and without what is empty, which their writer leaves in."""
    if isinstance(value, dict):
        kept = {k: plain(v) for k, v in value.items() if not k.startswith("columnstone_")}
        return {k: v for k, v in kept.items() if v not in ([], {}, None)}
    return [plain(item) for item in value] if isinstance(value, list) else value


def test_their_classes_write_the_same(store: cst.lineage.Store) -> None:
    pytest.importorskip("openlineage.client")
    from openlineage.client.serde import Serde

    trained(store)
    events = events_of(store, namespace="shop")
    assert [event["eventType"] for event in events] == [
        *("START", "COMPLETE"),
        *("START", "COMPLETE"),
        *("START", "FAIL"),
    ]
    for event in events:
        assert plain(json.loads(Serde.to_json(as_theirs(event)))) == plain(event)


def test_datasets_are_called_as_they_call_them(store: cst.lineage.Store) -> None:
    naming = pytest.importorskip("openlineage.client.naming.dataset")
    places = {
        "/data/a": naming.LocalFileSystem("/data/a"),
        "s3://lake/a/b": naming.S3("lake", "a/b"),
        "gs://lake/a/b": naming.GCS("lake", "a/b"),
        "hdfs://node:9000/a/b": naming.HDFS("node", "9000", "/a/b"),
    }
    for place in places:
        data = store.add("Data", place, digest=False, missing=True)
        with store.execution("read", inputs=[data]):
            pass
    read = [event["inputs"][0] for event in events_of(store)[::2]]
    for dataset, theirs in zip(read, places.values(), strict=True):
        assert dataset["namespace"] == theirs.get_namespace()
        assert dataset["name"].lstrip("/") == theirs.get_name().lstrip("/")


# ---- what they say ----


def test_what_a_run_says(store: cst.lineage.Store) -> None:
    trained(store)
    _, bound, start, complete, _, fail = events_of(store)
    assert start["run"]["runId"] == complete["run"]["runId"] != fail["run"]["runId"]
    assert start["outputs"] == []
    [model] = complete["outputs"]
    assert (model["namespace"], model["name"]) == ("columnstone", "ranker@1")
    ours = complete["run"]["facets"]["columnstone_execution"]
    assert ours["properties"] == {"deep": True, "rate": 0.5}
    assert fail["run"]["facets"]["errorMessage"]["message"].endswith("no clicks")
    assert bound["outputs"][0]["name"] == complete["inputs"][0]["name"]
    assert events_of(store) == events_of(store)


def test_columns(store: cst.lineage.Store) -> None:
    trained(store)
    _, bound, *_ = events_of(store)
    raw = next(one for one in bound["inputs"] if one["name"].endswith("examples.tfrecord"))
    [output] = bound["outputs"]
    assert output["name"] == f"{raw['name']}#table@1"
    assert [f["name"] for f in raw["facets"]["schema"]["fields"]] == ["age", "city", "fare"]
    columns = output["facets"]["columnLineage"]["fields"]
    assert list(columns) == ["age", "city", "fare"]
    for name, of in columns.items():
        [field] = of["inputFields"]
        assert (field["namespace"], field["name"], field["field"]) == ("file", raw["name"], name)


def test_chosen_executions(store: cst.lineage.Store) -> None:
    with store.execution("train") as first:
        pass
    with store.execution("train"):
        pass
    events = events_of(store, executions=[first.execution])
    assert [event["eventType"] for event in events] == ["START", "COMPLETE"]
    assert store.openlineage([]) == ""


# ---- sending ----


class Catalogue(http.server.BaseHTTPRequestHandler):
    """Takes events, but for what it is told to say first."""

    said: list[tuple[int, str, dict[str, str]]]
    got: list[tuple[str, dict[str, str], dict[str, Any]]]

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers["Content-Length"]))
        type(self).got.append((self.path, dict(self.headers), json.loads(data)))
        status, text, headers = type(self).said.pop(0) if type(self).said else (201, "", {})
        if status == 0:  # ends without an answer
            return
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def catalogue(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, type[Catalogue]]]:
    monkeypatch.setattr(patience, "FIRST_PAUSE", 0.001)
    for name in ("OPENLINEAGE_URL", "OPENLINEAGE_API_KEY", "OPENLINEAGE_ENDPOINT", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    handler = type("Handler", (Catalogue,), {"said": [], "got": []})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", handler
    server.shutdown()
    thread.join()
    server.server_close()


def test_events_are_posted(
    store: cst.lineage.Store, catalogue: tuple[str, type[Catalogue]]
) -> None:
    url, handler = catalogue
    trained(store)
    sent = store.openlineage(url=url)
    assert [event for _, _, event in handler.got] == [json.loads(x) for x in sent.splitlines()]
    path, headers, _ = handler.got[0]
    assert path == "/api/v1/lineage" and "Authorization" not in headers
    assert headers["Content-Type"] == "application/json"
    handler.got.clear()
    store.openlineage([], url=url)
    assert handler.got == []


def test_keys_and_endpoints(
    store: cst.lineage.Store,
    catalogue: tuple[str, type[Catalogue]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    url, handler = catalogue
    with store.execution("train"):
        pass

    def sent(**options: Any) -> tuple[str, str | None]:
        handler.got.clear()
        store.openlineage(**options)
        path, headers, _ = handler.got[0]
        return path, headers.get("Authorization")

    assert sent(url=f"{url}/other?a=b", api_key="k1") == ("/other?a=b", "Bearer k1")
    with pytest.raises(cst.errors.ArgumentError, match="OPENLINEAGE_URL"):
        store.openlineage(url=True)
    monkeypatch.setenv("OPENLINEAGE_URL", url)
    monkeypatch.setenv("OPENLINEAGE_API_KEY", "k2")
    assert sent(url=True) == ("/api/v1/lineage", "Bearer k2")
    assert sent(url=f"{url}/") == ("/api/v1/lineage", None)  # the key goes to its own server
    monkeypatch.setenv("OPENLINEAGE_ENDPOINT", "events")
    assert sent(url=True, api_key="k3") == ("/events", "Bearer k3")


def test_busy_servers_are_asked_again(
    store: cst.lineage.Store, catalogue: tuple[str, type[Catalogue]]
) -> None:
    url, handler = catalogue
    with store.execution("train"):
        pass
    handler.said[:] = [(503, "", {"Retry-After": "0"}), (0, "", {}), (429, "", {})]
    store.openlineage(url=url)
    assert [event["eventType"] for _, _, event in handler.got] == ["START"] * 4 + ["COMPLETE"]
    handler.said[:] = [(503, "over capacity", {})] * patience.TRIES
    with pytest.raises(
        cst.errors.FileError, match=r"event 1 of 2, tried 6 times: .*503 .*over capacity"
    ):
        store.openlineage(url=url)


def test_what_a_server_says(
    store: cst.lineage.Store, catalogue: tuple[str, type[Catalogue]]
) -> None:
    url, handler = catalogue
    with store.execution("train"):
        pass
    handler.said[:] = [(201, "", {}), (422, "no \x1b[31mjob\n" + "x" * 1000, {})]
    with pytest.raises(cst.errors.FileError) as caught:
        store.openlineage(url=url, api_key="secret")
    assert "answered 422" in str(caught.value) and "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 600 and "secret" not in str(caught.value)
    assert "event 2 of 2" in str(caught.value)
    handler.said[:] = [(401, "", {})]
    with pytest.raises(cst.errors.FileError, match=r"401.*api_key"):
        store.openlineage(url=url)
    handler.said[:] = [(307, "", {"Location": "http://elsewhere.example/"})]
    with pytest.raises(cst.errors.FileError, match=r"307.*elsewhere\.example"):
        store.openlineage(url=url, api_key="secret")


def test_rules(
    store: cst.lineage.Store,
    catalogue: tuple[str, type[Catalogue]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    url, handler = catalogue
    with store.execution("train"):
        pass
    for hosts in ("public", "data.example.com", ""):
        monkeypatch.setenv("COLUMNSTONE_HOSTS", hosts)
        for name in (url, url.replace("127.0.0.1", "localhost")):
            with pytest.raises(cst.errors.UnsupportedError, match="not allowed"):
                store.openlineage(url=name)
    assert handler.got == []
    monkeypatch.setenv("COLUMNSTONE_HOSTS", "localhost")
    store.openlineage(url=url.replace("127.0.0.1", "localhost"))
    assert len(handler.got) == 2
    monkeypatch.setenv("COLUMNSTONE_SCHEMES", "https")
    with pytest.raises(cst.errors.UnsupportedError, match="not allowed"):
        store.openlineage(url=url)


def test_arguments(store: cst.lineage.Store) -> None:
    for url in ("catalogue:5000", "ftp://host", "http://", "http://[", "/tmp/events"):
        with pytest.raises(cst.errors.ArgumentError, match="not the URL of a server"):
            store.openlineage(url=url)
    with pytest.raises(cst.errors.ArgumentError, match="api_key") as caught:
        store.openlineage(url="http://ann:secret@host")
    assert "secret" not in str(caught.value)
    with pytest.raises(cst.errors.ArgumentError, match="api_key"):
        store.openlineage(api_key="k")
    with pytest.raises(cst.errors.ArgumentError, match="not allowed in a header"):
        store.openlineage(url="http://host", api_key="k\r\nX: y")
    with pytest.raises(cst.errors.ArgumentError, match="namespace"):
        store.openlineage(namespace="")
    with pytest.raises(TypeError):
        store.openlineage(url=False)  # type: ignore[arg-type]
    with store.execution("train"):
        pass
    with pytest.raises(cst.errors.FileError, match="refused"):
        store.openlineage(url="http://127.0.0.1:1")
