"""Accumulators find what a source finds in the same rows, however these are divided among them,
pickled on the way and merged."""

from __future__ import annotations

import pathlib
import pickle
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

import columnstone as cst
import messages
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import wire
from hypothesis import given, settings
from hypothesis import strategies as st

A = TypeVar("A", cst.accumulate.SchemaInference, cst.accumulate.Validation, cst.accumulate.Counts)

SCHEMA = cst.Schema("""
feature { name: "a" type: INT value_count { min: 1 max: 2 } int_domain { min: 0 max: 3 }
          presence { min_fraction: 1 } }
feature { name: "f" type: FLOAT float_domain { max: 4 disallow_nan: true } }
feature { name: "s" type: BYTES string_domain { value: "v" value: "w" } }
feature { name: "p_index" type: INT int_domain { min: 0 max: 1 } }
feature { name: "p_value" type: FLOAT }
feature { name: "t" type: FLOAT shape { dim { size: 1 } } presence { min_fraction: 1 } }
sparse_feature { name: "p" index_feature { name: "p_index" } value_feature { name: "p_value" } }
""")

FEATURES: dict[str, st.SearchStrategy[Any]] = {
    "a": st.integers(-1, 4),
    "f": st.sampled_from([0.0, 1.5, 5.0, float("nan")]),
    "s": st.sampled_from([b"v", b"w", b"x", b"\xff"]),
    "p_index": st.integers(0, 2),
    "p_value": st.just(0.5),
    "t": st.sampled_from([0.0, 1.0]),
    "extra": st.integers(0, 9),
}
ROW = st.fixed_dictionaries(
    {}, optional={name: st.lists(values, max_size=3) for name, values in FEATURES.items()}
)
ROWS = st.lists(ROW, max_size=30)


KINDS = {"f": "float", "s": "bytes", "p_value": "float", "t": "float"}


def example(row: dict[str, Any]) -> bytes:
    """An empty list has the type of the others."""
    entries = (
        wire.entry(k, wire.feature(v, KINDS.get(k) if not v else None)) for k, v in row.items()
    )
    return wire.field(1, b"".join(entries))


def write(path: pathlib.Path, rows: list[Any]) -> pathlib.Path:
    with cst.codec.TFRecordWriter(path) as writer:
        for row in rows:
            writer.write(example(row))
    return path


def slices(source: cst.Source, rng: random.Random) -> Iterator[tuple[cst.RecordBatch, int]]:
    """Its rows in slices of any size, each with the number of its first row."""
    first = 0
    for batch in source:
        at = 0
        while at < len(batch):
            end = rng.randint(at + 1, len(batch))
            yield batch[at:end], first + at
            at = end
        first += len(batch)


def folded(make: Callable[[], A], source: cst.Source, file: str, rng: random.Random) -> A:
    """Rows dealt to several in order, some of which pickle, and merged in any grouping."""
    parts = [make()]
    for batch, first in slices(source, rng):
        parts[-1].add(batch, file=file, record=first if file else None)
        if rng.random() < 0.5:
            parts.append(make())
    while len(parts) > 1:
        at = rng.randrange(len(parts) - 1)
        other = parts.pop(at + 1)
        parts[at].merge(pickle.loads(pickle.dumps(other)) if rng.random() < 0.5 else other)
        parts[at].finish()  # which changes nothing
    return parts[0]


def counted(source: cst.Source) -> cst.accumulate.ColumnCounts:
    """The counts of Python's values."""
    found: dict[str, list[int]] = {}

    def leaves(value: Any) -> int:
        return 0 if value is None else sum(map(leaves, value)) if isinstance(value, list) else 1

    def add(path: str, type: cst.arrow.ArrowSchema, values: list[Any]) -> None:
        rows_and_values = found.setdefault(path, [0, 0])
        rows_and_values[0] += sum(value is not None for value in values)
        rows_and_values[1] += sum(map(leaves, values))
        for child in type.children if type.format == "+s" else []:
            inner = [None if value is None else value[child.name] for value in values]
            add(f"{path}.{child.name}", child, inner)

    rows = 0
    for batch in source:
        rows += len(batch)
        for type, values in zip(batch.schema.children, batch.to_pydict().values(), strict=True):
            add(type.name, type, values)
    return cst.accumulate.ColumnCounts(
        rows, [cst.accumulate.ColumnCount(p, *found[p]) for p in sorted(found)]
    )


def check_all(source: cst.Source, schema: cst.Schema, rng: random.Random, file: str = "") -> None:
    assert folded(cst.accumulate.SchemaInference, source, file, rng).finish() == cst.Schema._wrap(
        source._core.infer()
    )
    check_validation_and_counts(source, schema, rng, file)


def check_validation_and_counts(
    source: cst.Source, schema: cst.Schema, rng: random.Random, file: str = ""
) -> None:
    check = folded(lambda: cst.accumulate.Validation(schema), source, file, rng).finish()
    expected = source.validate(schema)
    assert check.num_rows == expected.num_rows
    if file:
        assert check.anomalies == expected.anomalies
    else:
        assert [replace(a, places=()) for a in check.anomalies] == [
            replace(a, places=()) for a in expected.anomalies
        ]
    assert folded(cst.accumulate.Counts, source, file, rng).finish() == counted(source)


@given(ROWS, st.randoms(use_true_random=False))
def test_examples(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Any], rng: random.Random
) -> None:
    path = write(tmp_path_factory.getbasetemp() / "examples.tfrecord", rows)
    source = cst.open(path, "example", batch_size=rng.randint(1, 9))
    check_all(source, SCHEMA, rng, str(path))


def table(rows: list[Any]) -> pa.Table:
    """One value of each feature, as data frames have them."""
    names = ["a", "f", "s", "t"]
    types = {"a": pa.int64(), "f": pa.float32(), "s": pa.binary(), "t": pa.float32()}
    columns = {name: [(row.get(name) or [None])[0] for row in rows] for name in names}
    return pa.table({name: pa.array(columns[name], types[name]) for name in names})


ONES = cst.Schema("""
feature { name: "a" type: INT value_count { min: 1 max: 1 } int_domain { min: 0 max: 3 } }
feature { name: "f" type: FLOAT float_domain { max: 4 disallow_nan: true } }
feature { name: "s" type: BYTES string_domain { value: "v" value: "w" } }
feature { name: "t" type: FLOAT presence { min_fraction: 1 } }
""")


@settings(max_examples=20)
@given(ROWS, st.randoms(use_true_random=False))
def test_tables(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Any], rng: random.Random
) -> None:
    folder = tmp_path_factory.getbasetemp()
    pq.write_table(table(rows), folder / "x.parquet", row_group_size=rng.randint(1, 9))
    check_all(cst.open(folder / "x.parquet"), ONES, rng, str(folder / "x.parquet"))
    source = cst.open(table(rows), batch_size=rng.randint(1, 9))
    check_all(source, ONES, rng, source.files[0])


@given(ROWS, st.randoms(use_true_random=False))
def test_csv(tmp_path_factory: pytest.TempPathFactory, rows: list[Any], rng: random.Random) -> None:
    path = tmp_path_factory.getbasetemp() / "x.csv"
    lines = [
        ",".join(
            "" if row.get(name) is None or not row[name] else str(row[name][0])
            for name in ("a", "f")
        )
        for row in rows
    ]
    path.write_text("\n".join(["a,f", *lines, "1,0.5"]) + "\n")  # so that there are types
    check_all(cst.open(path, batch_size=rng.randint(1, 9)), ONES, rng, str(path))


def sessions(folder: pathlib.Path) -> pathlib.Path:
    path = folder / "sessions.tfrecord"
    with cst.codec.TFRecordWriter(path) as writer:
        for data in messages.sessions(40):
            writer.write(data)
    return path


SESSIONS = cst.Schema("""
feature { name: "id" type: INT int_domain { max: 20 } }
feature { name: "user" type: BYTES presence { min_fraction: 1 } }
feature { name: "device" type: BYTES string_domain { value: "PHONE" } }
feature { name: "price" type: FLOAT float_domain { max: 5 } }
""")


@pytest.mark.parametrize("seed", range(5))
def test_messages(tmp_path: pathlib.Path, seed: int) -> None:
    path = sessions(tmp_path)
    rng = random.Random(seed)
    source = cst.open(path, message=messages.shop("Session"), batch_size=rng.randint(1, 9))
    check_validation_and_counts(source, SESSIONS, rng, str(path))


@pytest.mark.parametrize("seed", range(5))
def test_views(tmp_path: pathlib.Path, seed: int) -> None:
    path = sessions(tmp_path)
    rng = random.Random(seed)
    query = cst.Query(messages.shop("Session"))
    if seed % 2:
        query = query.rows("event").output("words", "query").output("price", "price")
    else:
        query = query.output("id", "id").output("user", "user").output("price", "event.price")
    source = cst.open(path, view=query, batch_size=rng.randint(1, 9))
    check_all(source, SESSIONS, rng)


@given(ROWS, st.randoms(use_true_random=False))
def test_what_flat_columns_and_proposals_know(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Any], rng: random.Random
) -> None:
    path = write(tmp_path_factory.getbasetemp() / "examples.tfrecord", rows)
    source = cst.open(path, "example", batch_size=rng.randint(1, 9))
    looking = folded(lambda: cst.accumulate.SchemaInference(look_at_values=True), source, "", rng)
    assert looking.finish() == cst.open(path, "example", flat=True).schema
    options: dict[str, Any] = {"group": "g", "max_domain": rng.randint(1, 4), "ragged": True}
    proposal = folded(
        lambda: cst.accumulate.SchemaInference(propose=True, **options), source, "", rng
    )
    assert proposal.finish() == cst.infer_schema(path, "example", propose=True, **options)


def test_through_other_processes(tmp_path: pathlib.Path) -> None:
    """What a worker of an engine does: it gets one that is empty, and sends one that is not."""
    rows = [{"a": [i % 5], "s": [b"v", b"x"][: i % 3]} for i in range(20)]
    path = write(tmp_path / "examples.tfrecord", rows)
    makes = (
        cst.accumulate.SchemaInference(),
        cst.accumulate.Validation(SCHEMA),
        cst.accumulate.Counts(),
    )
    worker = """
import pickle, sys
import columnstone as cst
source, accumulators = pickle.load(sys.stdin.buffer)
for accumulator in accumulators:
    accumulator.add(source, file=source.files[0])
sys.stdout.buffer.write(pickle.dumps(accumulators))
"""
    source = cst.open(path, "example")
    for i in range(2):
        data = pickle.dumps((source.split(i, 2), [m._empty() for m in makes]))
        done = subprocess.run(
            [sys.executable, "-c", worker], input=data, check=True, capture_output=True
        )
        for mine, theirs in zip(makes, pickle.loads(done.stdout), strict=True):
            mine.merge(theirs)
    inference, validation, counts = makes
    assert inference.finish() == cst.infer_schema(path, "example")
    places = cst.accumulate.Validation(SCHEMA)
    places.add(source, file=str(path))
    assert validation.finish() == places.finish()
    assert counts.finish() == counted(source)
