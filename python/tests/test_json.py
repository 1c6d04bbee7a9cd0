"""JSON lines: the same as Python's json reads, and as pyarrow and Polars infer where they agree."""

from __future__ import annotations

import base64
import gzip
import io
import json
import math
import pathlib
import subprocess
import sys
from typing import Any

import columnstone as cst
import conftest
import polars as pl
import pyarrow as pa
import pyarrow.json
import pytest
import test_sequence
from hypothesis import assume, given
from hypothesis import strategies as st

Row = dict[str, Any]

SCHEMA = """
feature { name: "i" type: INT }
feature { name: "f" type: FLOAT }
feature { name: "b" type: BYTES }
"""


def lines_of(rows: list[Row]) -> bytes:
    return "".join(json.dumps(row, allow_nan=False) + "\n" for row in rows).encode()


def read(data: bytes, **options: Any) -> pa.Table:
    return pa.table(cst.open(io.BytesIO(data), "json", **options))


# ---- against Python's json ----

# Values of one type each, so that columns of them have a type.
names = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=4)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8).filter(
    lambda text: text not in ("NaN", "Infinity", "-Infinity")
)
leaves = [
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    texts,
]


def lists_of(items: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(items | st.none(), max_size=3)


def structs_of(shape: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(
        {}, optional={name: value | st.none() for name, value in shape.items()}
    )


# A strategy of strategies: each draws values of one type.
types = st.recursive(
    st.sampled_from(leaves),
    lambda inner: (
        inner.map(lists_of) | st.dictionaries(names, inner, min_size=1, max_size=3).map(structs_of)
    ),
    max_leaves=6,
)
tables = st.dictionaries(names, types, max_size=4).flatmap(
    lambda shape: st.lists(structs_of(shape), max_size=6)
)


def is_mark(value: Any) -> bool:
    """{"base64": "..."} stands for bytes; hypothesis may find it."""
    if isinstance(value, dict):
        return "base64" in value or any(map(is_mark, value.values()))
    return isinstance(value, list) and any(map(is_mark, value))


def filled(value: Any, type: pa.DataType) -> Any:
    """The value with null for each key that it lacks."""
    if value is None:
        return None
    if pa.types.is_struct(type):
        return {field.name: filled(value.get(field.name), field.type) for field in type}
    if pa.types.is_large_list(type):
        return [filled(item, type.value_type) for item in value]
    return value


@given(tables, st.integers(1, 7))
def test_equals_python(rows: list[Row], batch_size: int) -> None:
    assume(not any(map(is_mark, rows)))
    table = read(lines_of(rows), batch_size=batch_size)
    struct = pa.struct(table.schema)
    assert table.to_pylist() == [filled(row, struct) for row in rows]
    # Column order is that of first appearance.
    assert table.column_names == list(dict.fromkeys(key for row in rows for key in row))
    table.validate(full=True)


@given(tables)
def test_given_types_give_the_same(rows: list[Row]) -> None:
    assume(not any(map(is_mark, rows)))
    data = lines_of(rows)
    table = read(data)
    assert read(data, types=table.schema).equals(table)


# What the three agree on: no strings that pyarrow takes for times, no empty columns.
flat = st.fixed_dictionaries(
    {
        "i": st.integers(-(2**63), 2**63 - 1),
        "f": st.floats(allow_nan=False, allow_infinity=False).map(lambda value: value or 0.5),
        "s": st.text(st.characters(exclude_categories=["Cs"]), max_size=4).map("x".__add__),
        "l": st.lists(st.integers(-9, 9), min_size=1, max_size=3),
        "d": st.fixed_dictionaries({"x": st.booleans(), "y": st.lists(st.just("z"), min_size=1)}),
    }
)


@given(st.lists(flat, min_size=1, max_size=5))
def test_equals_pyarrow_and_polars(rows: list[Row]) -> None:
    data = lines_of(rows)
    ours = read(data)
    assert ours.to_pylist() == pyarrow.json.read_json(io.BytesIO(data)).to_pylist()
    frame = pl.read_ndjson(data, infer_schema_length=None)
    assert ours.to_pylist() == frame.to_dicts()


# ---- printed lines, with the schema ----

features = st.fixed_dictionaries(
    {
        "i": st.none() | st.lists(st.integers(-(2**63), 2**63 - 1), max_size=4),
        "f": st.none() | st.lists(st.floats(width=32), max_size=4),
        "b": st.none() | st.lists(st.binary(max_size=6), max_size=4),
    }
)


@given(st.lists(features, min_size=1, max_size=5))
def test_printed_lines_come_back(rows: list[Row]) -> None:
    types = pa.schema(
        [
            ("i", pa.large_list(pa.int64())),
            ("f", pa.large_list(pa.float32())),
            ("b", pa.large_list(pa.large_binary())),
        ]
    )
    table = pa.Table.from_pylist(rows, types)
    sink = io.BytesIO()
    with cst.Writer(sink, "json") as writer:
        writer.write(table)
    back = read(sink.getvalue(), schema=SCHEMA)
    assert back.schema.equals(table.schema)
    for name in ("i", "b"):
        assert back[name].equals(table[name])
    for ours, row in zip(back["f"].to_pylist(), rows, strict=True):
        assert repr(ours) == repr(row["f"])  # NaN is NaN, -0.0 is -0.0


def test_records_printed_and_read_are_those_of_the_decoder(tmp_path: pathlib.Path) -> None:
    with cst.codec.TFRecordWriter(tmp_path / "r.tfrecord") as writer:
        for record in conftest.records(20):
            writer.write(record)
    source = cst.open(tmp_path / "r.tfrecord", schema=conftest.SCHEMA, batch_size=7)
    with cst.Writer(tmp_path / "r.jsonl") as printed:
        printed.write(source)
    back = cst.open(tmp_path / "r.jsonl", schema=conftest.SCHEMA, batch_size=7)
    assert [pa.record_batch(b) for b in back] == [pa.record_batch(b) for b in source]
    ours, theirs = back.tensors(), source.tensors()
    assert [list(t) for t in ours] == [list(t) for t in theirs]


def test_feature_lists_come_back_as_the_decoder_gives_them() -> None:
    batch = cst.decoder("sequence_example", test_sequence.SCHEMA).decode(test_sequence.RECORDS)
    sink = io.BytesIO()
    with cst.Writer(sink, "json") as writer:
        writer.write(batch)
    (back,) = cst.open(io.BytesIO(sink.getvalue()), "json", schema=test_sequence.SCHEMA)
    assert pa.record_batch(back) == pa.record_batch(batch)
    assert pa.record_batch(back).schema == pa.record_batch(batch).schema


@pytest.mark.parametrize(
    "options",
    [{"offsets": 32}, {"fixed_size": True}, {"binary_views": True}],
    ids=lambda options: next(iter(options)),
)
def test_columns_have_the_layout_that_was_asked_for(
    tmp_path: pathlib.Path, options: dict[str, Any]
) -> None:
    with cst.codec.TFRecordWriter(tmp_path / "r.tfrecord") as writer:
        for record in conftest.records(9):
            writer.write(record)
    source = cst.open(tmp_path / "r.tfrecord", schema=conftest.SCHEMA, **options)
    with cst.Writer(tmp_path / "r.jsonl") as printed:
        printed.write(source)
    back = cst.open(tmp_path / "r.jsonl", schema=conftest.SCHEMA, **options)
    assert pa.table(back).schema == pa.table(source).schema
    assert pa.table(back) == pa.table(source)


def test_marks_of_bytes() -> None:
    mark = {"base64": base64.b64encode(b"\xff\0").decode()}
    table = read(lines_of([{"a": mark}, {"a": "x"}, {"a": None}]))
    assert table.schema.field("a").type == pa.large_binary()
    assert table["a"].to_pylist() == [b"\xff\0", b"x", None]


def test_numbers_that_are_strings() -> None:
    table = read(b'{"a": "NaN"}\n{"a": 1}\n{"a": "-Infinity"}\n')
    first, *rest = table["a"].to_pylist()
    assert math.isnan(first) and rest == [1.0, -math.inf]


# ---- errors and their places ----


@pytest.mark.parametrize(
    ("data", "error", "record", "path", "message"),
    [
        (b'{"a": 1}\n\n{"a": "x"}\n', cst.errors.SchemaError, 2, "a", "but a number in line 1"),
        (b'{"a": [{"b": 1}, {"b": [0]}]}', cst.errors.SchemaError, 0, "a[1].b", "a list here"),
        (b'{"a": 1}\n{"a": }\n', cst.errors.CorruptError, 1, None, "line 2, column 7"),
        (b'{\n "a": 1\n}\n', cst.errors.CorruptError, 0, None, "one object per line"),
        (b'{"a": NaN}', cst.errors.CorruptError, 0, None, "write them as strings"),
        (b'{"a": 18446744073709551616}', cst.errors.SchemaError, 0, "a", "quote it"),
        (b'{"a": 9007199254740993}\n{"a": 0.5}', cst.errors.SchemaError, 1, "a", "in line 1"),
        (
            b'{"a": ' + b"[" * 100 + b"]" * 100 + b"}",
            cst.errors.LimitError,
            0,
            None,
            "deeper than 100",
        ),
        (b"7\n", cst.errors.SchemaError, 0, None, "expected an object"),
    ],
)
def test_errors(
    data: bytes, error: type[cst.Error], record: int, path: str | None, message: str
) -> None:
    with pytest.raises(error) as info:
        list(cst.open(io.BytesIO(data), "json"))
    assert info.value.record == record
    assert info.value.path == path
    assert message in str(info.value)


def test_bad_lines_are_skipped() -> None:
    data = b'{"a": 1}\nnothing\n{"a": 2}\n[3]\n{"a": 4'
    source = cst.open(io.BytesIO(data), "json", on_error="skip")
    assert pa.table(source)["a"].to_pylist() == [1, 2]
    dropped: list[tuple[int | None, int | None, int]] = []
    cst_source = cst.open(
        io.BytesIO(data),
        "json",
        on_error=lambda drop: dropped.append((drop.record, drop.offset, drop.bytes)),
    )
    assert pa.table(cst_source)["a"].to_pylist() == [1, 2]
    assert dropped == [(1, 9, 7), (3, 26, 3), (4, 30, 7)]


# ---- files ----


def test_files_and_columns(tmp_path: pathlib.Path) -> None:
    (tmp_path / "0.jsonl").write_text('{"a": 1, "b": "x"}\n{"a": 2}\n')
    (tmp_path / "1.jsonl").write_bytes(gzip.compress(b'{"c": [1.5], "a": 3}'))
    (tmp_path / "2.json").write_text('[{"a": 4},\n {"a": 5}]')
    source = cst.open(sorted(tmp_path.iterdir()), columns=["c", "a"], batch_size=2)
    assert [batch.num_rows for batch in source] == [2, 2, 1]
    assert pa.table(source).to_pydict() == {
        "c": [None, None, [1.5], None, None],
        "a": [1, 2, 3, 4, 5],
    }
    assert pa.table(source).schema.field("c").type == pa.large_list(pa.float64())
    with pytest.raises(cst.errors.NotFoundError):
        _ = cst.open(tmp_path / "0.jsonl", columns=["d"]).arrow_schema


def test_a_pipe_is_read_once() -> None:
    code = """
import sys, columnstone as cst, pyarrow as pa
source = cst.open("-", "json")
print(pa.table(source)["a"].to_pylist())
try:
    pa.table(source)
except (cst.errors.StateError, pa.ArrowInvalid, OSError) as error:
    print("once")
"""
    done = subprocess.run(
        [sys.executable, "-c", code], input=b'{"a": 1}\n{"a": 2.5}\n', capture_output=True
    )
    assert done.stdout.decode().split("\n")[:2] == ["[1.0, 2.5]", "once"], done.stderr.decode()
