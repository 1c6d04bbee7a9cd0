"""States of datasets say what they were made with: other views, stages, columns, schemas, options
are refused, with the name of what differs."""

from __future__ import annotations

import functools
import json
import pathlib
import pickle
from collections.abc import Callable
from typing import Any

import columnstone as cst
import pyarrow as pa
import pyarrow.compute as pc
import pytest

TABLE = pa.table({"id": list(range(60)), "b": [i % 5 for i in range(60)], "c": [1.5] * 60})
QUERY = "from table\nparam k: int64 = 1\noutput id = dense(id + k)\n"
OTHER = "from table\nparam k: int64 = 1\noutput id = dense(id - k)\n"


def doubled(batch: Any) -> Any:
    return batch


def halved(batch: Any) -> Any:
    return batch


def even(batch: Any) -> Any:
    return pc.equal(batch["b"], 0)


def of_query(text: str, **options: Any) -> cst.Source:
    return cst.open(TABLE, view=cst.Query.from_text(text), **options)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("states")
    cst.write(TABLE, folder / "t.csv")
    cst.write(TABLE, folder / "t.parquet")
    return folder


def message_source(options: dict[str, Any], columns: list[str] | None = None) -> cst.Source:
    from google.protobuf import descriptor_pb2

    file = descriptor_pb2.FileDescriptorProto(name="states.proto", syntax="proto3")
    message = file.message_type.add(name="M")
    message.field.add(name="id", number=1, type=3, label=1)
    message.field.add(name="name", number=2, type=9, label=1)
    found = descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString()
    table = pa.table({"m": pa.array([b"\x08\x07\x12\x01a"] * 60)})
    return cst.open(
        table,
        message="M",
        descriptors=found,
        message_column="m",
        message_options=options,
        columns=columns,
    )


Pair = tuple[str, Callable[[Any], cst.Source], Callable[[Any], cst.Source]]
PAIRS: list[Pair] = [
    ("view", lambda _: of_query(QUERY), lambda _: of_query(OTHER)),
    ("view", lambda _: of_query(QUERY), lambda _: of_query(QUERY, params={"k": 2})),
    ("view", lambda _: of_query(QUERY), lambda _: cst.open(TABLE)),
    ("stages", lambda _: cst.open(TABLE).map(doubled), lambda _: cst.open(TABLE).map(halved)),
    ("stages", lambda _: cst.open(TABLE), lambda _: cst.open(TABLE).map(doubled)),
    (
        "stages",
        lambda _: cst.open(TABLE).map(functools.partial(doubled)),
        lambda _: cst.open(TABLE).map(functools.partial(halved)),
    ),
    (
        "stages",
        lambda _: cst.open(TABLE).filter(pc.field("b") > 0),
        lambda _: cst.open(TABLE).filter(pc.field("b") > 1),
    ),
    (
        "stages",
        lambda _: cst.open(TABLE).map(doubled).filter(even),
        lambda _: cst.open(TABLE).filter(even).map(doubled),
    ),
    (
        "columns",
        lambda f: cst.open(f / "t.parquet"),
        lambda f: cst.open(f / "t.parquet", columns=["id", "b"]),
    ),
    (
        "columns",
        lambda f: cst.open(f / "t.parquet", columns=["b", "id"]),
        lambda f: cst.open(f / "t.parquet", columns=["id", "b"]),
    ),
    (
        "schema",
        lambda f: cst.open(f / "t.csv", types=TABLE.schema),
        lambda f: cst.open(f / "t.csv", types=TABLE.schema.set(1, pa.field("b", pa.float64()))),
    ),
    (
        "format_options",
        lambda f: cst.open(f / "t.csv", types=TABLE.schema),
        lambda f: cst.open(f / "t.csv", types=TABLE.schema, comment="#"),
    ),
    ("message", lambda _: message_source({}), lambda _: message_source({"defaults": True})),
    ("schema", lambda _: message_source({}), lambda _: message_source({}, ["m.id"])),
]


@pytest.mark.parametrize("number", range(len(PAIRS)))
def test_another_dataset_refuses(folder: pathlib.Path, number: int) -> None:
    name, first, second = PAIRS[number]
    one, other = (
        make(folder).dataset(8, shuffle="window", seed=1, as_batches=True)
        for make in (first, second)
    )
    iteration = iter(one)
    next(iteration)
    state = json.loads(json.dumps(iteration.state_dict()))
    again = first(folder).dataset(8, shuffle="window", seed=1, as_batches=True)
    again.load_state_dict(state)
    assert [b.position for b in again] == [b.position for b in iteration]
    differing = {key for key, value in other.state_dict().items() if state[key] != value}
    assert name in differing
    with pytest.raises(
        cst.errors.StateError, match=r"\(create the dataset with the same arguments"
    ) as info:
        other.load_state_dict(state)
    assert any(f"dataset with {key} " in str(info.value) for key in differing)


def test_a_loop_that_failed_goes_on_with_skip(folder: pathlib.Path) -> None:
    path = folder / "t.gz"
    cst.write(TABLE, path, "example", lossy=True)
    failing = cst.open(path).dataset(8, shuffle="window")
    skipping = cst.open(path, on_error="skip").dataset(8, shuffle="window")
    skipping.load_state_dict(failing.state_dict())
    with pytest.raises(cst.errors.StateError, match="on_error 'skip'"):
        failing.load_state_dict(skipping.state_dict())


def test_the_same_dataset_has_the_same_state(folder: pathlib.Path) -> None:
    source = cst.open(folder / "t.parquet").map(doubled).select(["id"])
    state = source.dataset(8).state_dict()
    assert pickle.loads(pickle.dumps(source)).dataset(8).state_dict() == state
    assert source.dataset(8, threads=3, prefetch=7, as_batches=True).state_dict() == state
    assert all(isinstance(value, str | int) for value in state.values())


def test_many_columns_are_told_in_short() -> None:
    table = pa.table({f"feature_{i}": [1] for i in range(1000)})
    state = cst.open(table).dataset(1).state_dict()
    assert len(state["columns"]) < 200 and len(json.dumps(state)) < 1500
    last = table.rename_columns([*table.column_names[:-1], "other"])
    with pytest.raises(cst.errors.StateError, match="columns"):
        cst.open(last).dataset(1).load_state_dict(state)


def test_states_of_other_releases() -> None:
    dataset = cst.open(TABLE).dataset(8)
    state = dataset.state_dict()
    with pytest.raises(cst.errors.StateError, match="the state has version 1, expected version 2"):
        dataset.load_state_dict({**state, "version": 1})
    with pytest.raises(cst.errors.StateError, match="no version"):
        dataset.load_state_dict({"epoch": 0, "batch": 0})
    del state["view"]
    with pytest.raises(cst.errors.StateError, match="no 'view'"):
        dataset.load_state_dict(state)
