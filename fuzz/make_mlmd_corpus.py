#!/usr/bin/env python3
"""Writes the corpus of fuzz_mlmd: corpus/mlmd/, one file per case: rows of the tables of an MLMD
store, as fuzz_mlmd.c reads them.

The same files come out of every run.
"""

import json
import pathlib
from collections.abc import Iterator
from typing import Any, TypeAlias

import corpus_files
from corpus_files import sql_value

FOLDER = pathlib.Path(__file__).parent / "corpus" / "mlmd"
Value: TypeAlias = int | float | str | bytes | None
TABLES = [
    "Type", "Artifact", "ArtifactProperty", "Execution", "ExecutionProperty", "Context",
    "ContextProperty", "Event", "EventPath", "Association", "Attribution", "ParentContext",
]  # fmt: skip
EXAMPLES, VIEW, TRAIN, PIPELINE = 10, 11, 12, 13


def row(table: str, *values: Value) -> bytes:
    return bytes([TABLES.index(table)]) + b"".join(map(sql_value, values))


def types() -> bytes:
    names = [("Examples", 1), ("DataView", 1), ("Trainer", 0), ("pipeline", 2)]
    return b"".join(row("Type", i, name, kind) for i, (name, kind) in enumerate(names, EXAMPLES))


def artifact(
    number: int,
    kind: int = EXAMPLES,
    uri: Value = "/data",
    state: Value = 2,
    name: Value = None,
    external: Value = None,
) -> bytes:
    return row("Artifact", number, kind, uri, state, name, external, 5, 6)


def text(owner: int, name: str, of: str, custom: int = 1, table: str = "Artifact") -> bytes:
    return row(f"{table}Property", owner, name, custom, None, None, of, None, None, None)


def own(number: int, kind: str = "artifact", **members: Any) -> bytes:
    of = json.dumps({"id": number, **members}, separators=(",", ":"))
    return text(number, f"columnstone.{kind}", of, table=kind.title())


def run(number: int, state: Value = 3, name: Value = None) -> bytes:
    return row("Execution", number, TRAIN, state, name, None, 5, 9)


def event(number: int, artifact: int, kind: int, *steps: int | str, run: int = 1) -> bytes:
    rows = [row("Event", number, artifact, run, kind, 7)]
    for step in steps:
        is_index = isinstance(step, int)
        rows.append(
            row("EventPath", number, int(is_index), step if is_index else None,
                None if is_index else step)
        )  # fmt: skip
    return b"".join(rows)


def stores() -> Iterator[tuple[str, bytes]]:
    two = types() + artifact(1) + artifact(2, VIEW, "/view")
    yield "empty", b""
    yield "two", two
    yield "bound", two + text(1, "data_view_uri", "/view")
    yield (
        "bound_at",
        two + text(1, "data_view_uri", "/view") + text(1, "data_view_create_time_since_epoch", "5"),
    )
    yield "splits", two + text(1, "split_names", '["train", "eval"]', 0)
    for i, splits in enumerate(("[", "[1]", '["../x"]', '["a/b"]', "[]", '["a", "a"]')):
        yield f"splits_{i}", two + text(1, "split_names", splits)
    yield "run", two + run(1) + event(1, 1, 3, "examples", 0) + event(2, 2, 4, "view", 3)
    yield "paths", two + run(1) + event(1, 1, 3, 0, "a/b", "") + event(2, 2, 4, "a", 0, 0)
    yield "both_ways", two + run(1) + event(1, 1, 3) + event(2, 1, 4) + event(3, 1, 1, "declared")
    for state in (None, 0, 1, 3, 4, 5, 6, 7, -1, "x"):
        yield f"state_{state}", types() + artifact(1, state=state) + run(1, state)
    for i, name in enumerate(("a@1", "17", "", "x" * 255, "a\n", "\udcff", "é")):
        yield f"name_{i}", types() + artifact(1, name=name) + artifact(2, VIEW, name=name)
    for i, uri in enumerate(("", "rel/x", "../x", "gs://b/c//", "file:///x", "/a/../b", "\0", 7)):
        yield f"uri_{i}", types() + artifact(1, uri=uri)
    yield "external", two + artifact(3, external="x") + text(3, "mlmd.external_id", "y")
    for column in range(6):
        cells: list[Value] = [None] * 6
        cells[column] = [3, 0.5, "t", b"b", "CgF4", 1][column]
        yield f"value_{column}", two + row("ArtifactProperty", 1, "p", 1, *cells)
    yield "no_value", two + row("ArtifactProperty", 1, "p", 1, *[None] * 6)
    yield "twice", two + text(1, "p", "a", 0) + text(1, "p", "b", 1)
    yield "struct", two + text(1, "p", "mlmd-struct::Ch0KAXgSGDIWCgkRAAAAAAAA8D8KCREAAAAAAAAAQA==")
    context = row("Context", 1, PIPELINE, "daily", None, 5, 6)
    yield (
        "context",
        two + run(1) + context + row("Attribution", 1, 1, 1) + row("Association", 1, 1, 1),
    )
    yield "context_in_itself", types() + context + row("ParentContext", 1, 1)
    yield "dangling", types() + run(1) + event(1, 9, 3)
    yield "dangling_context", types() + artifact(1) + row("Attribution", 1, 4, 1)
    yield "no_type", artifact(1, 77)
    yield "large_ids", types() + artifact(2**62) + artifact(-5)
    yield "times", types() + row("Artifact", 1, EXAMPLES, "", 2, None, None, 2**62, -(2**62))
    yield "own", two + own(1, name="n", version=3, created=5001, is_external=False)
    yield "own_other", two + own(1, id=2, name="n", version=3)
    yield (
        "own_files",
        two + own(1, files=[{"path": "/a", "split": "t", "size": 3}, {"path64": "L/8="}]),
    )
    yield "own_references", two + own(1, references=[["view", 2], ["x", 1]], fields=[["o", "p"]])
    yield "own_dangling", two + own(1, references=[["view", 7]])
    yield "own_properties", two + own(1, properties=[["a", "bytes", "AP8="], ["b", "real", 0]])
    yield "own_wrong", two + own(1, properties=[["a", "odd", 3]])
    yield "own_digest", two + own(1, digest="ab")
    yield "own_types", two + own(1, name=3)
    yield "own_no_json", two + text(1, "columnstone.artifact", "{")
    yield (
        "own_run",
        two
        + run(1)
        + event(1, 1, 3)
        + own(1, "execution", started=5001, events=[[0, 1, "a", 7001], [1, 2, "", 7002]]),
    )
    yield "own_event_of_nothing", two + run(1) + own(1, "execution", events=[[0, 9, "", 1]])


def main() -> None:
    corpus_files.write(
        FOLDER, stores(), corpus_files.damaged(stores(), 16), corpus_files.noise(8, 31)
    )


if __name__ == "__main__":
    main()
