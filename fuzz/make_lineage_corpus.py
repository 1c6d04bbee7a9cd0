#!/usr/bin/env python3
"""Writes the corpus of fuzz_lineage: corpus/lineage/, one file per case: rows of the tables of a
store, as fuzz_lineage.c reads them.

The same files come out of every run.
"""

import pathlib
from collections.abc import Iterator
from typing import TypeAlias

import corpus_files
from corpus_files import sql_value

FOLDER = pathlib.Path(__file__).parent / "corpus" / "lineage"
Value: TypeAlias = int | float | str | bytes | None
TABLES = {
    "type": 0,
    "artifact": 1,
    "file": 2,
    "artifact_file": 3,
    "property": 4,
    "reference": 5,
    "field": 6,
    "execution": 7,
    "event": 8,
    "context": 9,
    "member": 10,
    "lease": 11,
    "leased": 12,
    "doomed": 13,
    "root": 14,
}
LIVE, PENDING, MARKED, DELETED, ABANDONED = range(5)
LATER = 3_000_000_000_000_000


def row(table: str, *values: Value) -> bytes:
    return bytes([TABLES[table]]) + b"".join(map(sql_value, values))


def types() -> bytes:
    names = ["Examples", "DataView", "Model", "Schema"]
    rows = [row("type", i, 0, name) for i, name in enumerate(names, 1)]
    return b"".join([*rows, row("type", 5, 1, "train"), row("type", 6, 2, "pipeline")])


def artifact(number: int, kind: int = 1, name: str | None = "a", state: int = LIVE) -> bytes:
    return row("artifact", number, kind, name, number, state, b"\x01" * 32, 0, number, number)


def file(number: int, owner: int, path: str, role: str | None = None) -> bytes:
    own = row("artifact_file", owner, number, number, "train", role, 10, 5, b"\x02" * 32)
    return row("file", number, path.encode()) + own


def run(number: int, inputs: list[int], outputs: list[int], state: int = 1) -> bytes:
    ended = None if state == 0 else 9
    events = [row("event", number, 0, i, "x", 1) for i in inputs]
    events += [row("event", number, 1, i, "", 2) for i in outputs]
    return row("execution", number, 5, None, state, 1, ended) + b"".join(events)


def stores() -> Iterator[tuple[str, bytes]]:
    two = types() + artifact(1) + artifact(2, 2, "v") + file(1, 1, "a.txt") + file(2, 2, "v.cstv")
    message = row("property", 0, 2, "input", 2, "message")
    yield "empty", b""
    yield "two", two
    yield "bound", two + row("reference", 1, "view", 2) + message
    yield "of_messages", two + message + row("property", 0, 1, "payload_format", 2, "FORMAT_PROTO")
    yield "odd_payload", two + row("property", 0, 1, "payload_format", 2, "FORMAT_NONE")
    yield "fields", two + row("field", 2, "label", "event.clicked") + row("field", 2, "label", "id")
    yield "executions", two + run(1, [1], [2]) + run(2, [2], [1])
    yield "running", two + run(1, [1], [2], 0) + row("lease", 1, "host:1", 5, 1)
    yield "leased", two + row("lease", 1, "host:1", LATER, None) + row("leased", 1, 1)
    yield "lapsed", two + row("lease", 1, "host:1", 1, None) + row("leased", 1, 1)
    yield "contexts", two + row("context", 1, 6, "daily", 1) + row("member", 1, 0, 1)
    yield "context_in_itself", types() + row("context", 1, 6, "c", 1) + row("member", 1, 2, 1)
    yield "to_itself", two + row("reference", 1, "view", 1)
    yield "circle", two + row("reference", 1, "view", 2) + row("reference", 2, "x", 1)
    yield "dangling", types() + artifact(1) + row("reference", 1, "view", 99) + run(1, [98], [97])
    yield "no_type", artifact(1, 77)
    yield "no_file", types() + artifact(1) + row("artifact_file", 1, 0, 55, *[None] * 5)
    yield "roots", two + row("root", b".") + row("root", b"/tmp")
    yield "doomed", two + row("doomed", b"a.txt", 1)
    for state in (PENDING, MARKED, DELETED, ABANDONED, 77, -1):
        yield f"state_{state}", types() + artifact(1, state=state) + file(1, 1, "a")
    for kind in range(7):
        yield f"property_{kind}", two + row("property", 0, 1, "span", kind, "text")
        yield f"number_{kind}", two + row("property", 0, 1, "span", kind, 7)
    for name, path in (("dots", "../x"), ("root", "/"), ("url", "s3://b/c"), ("empty", "")):
        yield f"path_{name}", two + file(3, 1, path)
    for name in ('"', "<script>", "\n", "\udcff", "@", "\u202e", "x" * 60):
        yield (
            f"name_{name.encode('utf-8', 'surrogateescape').hex()[:12]}",
            types() + artifact(1, name=name),
        )
    chain = b"".join(artifact(i) for i in range(1, 9))
    yield "chain", types() + chain + b"".join(run(i, [i], [i + 1]) for i in range(1, 8))
    yield "many_versions", types() + chain
    yield "digest_of_text", types() + row("artifact", 1, 1, "a", 1, 0, "x", 0, 1, 1)
    yield "texts_for_numbers", types() + row("artifact", 1, "x", "a", "y", "z", None, "u", "v", "w")
    yield "real_id", types() + row("artifact", 1, 1.5, "a", 2.5, 0.0, None, 0, 1e300, -1.0)


def main() -> None:
    corpus_files.write(
        FOLDER, stores(), corpus_files.damaged(stores(), 16), corpus_files.noise(8, 31)
    )


if __name__ == "__main__":
    main()
