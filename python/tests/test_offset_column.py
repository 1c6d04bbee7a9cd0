"""offset_column: where each record begins in its file, on every way to a batch."""

from __future__ import annotations

import gzip
import pathlib
import struct
from typing import Any

import columnstone as cst
import messages
import numpy as np
import pyarrow as pa
import pytest
from conftest import SCHEMA, MakeFile, record, records
from google.protobuf.internal.encoder import _VarintBytes

COUNT = 40


def starts_of(data: bytes) -> list[int]:
    """Where the TFRecords of a sound file begin."""
    found, at = [], 0
    while at < len(data):
        found.append(at)
        (size,) = struct.unpack_from("<Q", data, at)
        at += size + 16
    return found


def offsets(source: Any) -> list[tuple[int, int]]:
    """(id, offset) of each row."""
    found = []
    for batch in source:
        columns = batch.to_pydict()
        found += [(row[0], at) for row, at in zip(columns["id"], columns["at"], strict=True)]
    return found


@pytest.fixture
def starts(file: pathlib.Path) -> list[int]:
    return starts_of(file.read_bytes())


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("packed", [False, True])
def test_batches(file: pathlib.Path, starts: list[int], packed: bool, threads: int) -> None:
    if packed:
        file.write_bytes(gzip.compress(file.read_bytes()))
    options: dict[str, Any] = {"offset_column": "at", "batch_size": 7, "threads": threads}
    source = cst.open([file, file], schema=SCHEMA, **options)
    expected = list(enumerate(starts))
    assert offsets(source) == expected * 2
    inferred = cst.open(file, columns=["id"], **options)
    assert offsets(inferred) == expected
    assert inferred.column_names == ["id", "at"]
    field = pa.schema(inferred.arrow_schema).field("at")
    assert field.type == pa.int64()
    both = cst.open(file, schema=SCHEMA, columns=["id"], raw_column="raw", **options)
    assert both.column_names == ["id", "raw", "at"]
    assert pa.table(both)["raw"].to_pylist() == [[r] for r in records(100)]
    assert offsets(both) == expected
    mapped = cst.open(file, schema=SCHEMA, memory_map=True, binary_views=True, **options)
    assert offsets(mapped) == expected


def test_rows_by_number_ranges_and_parts(file: pathlib.Path, starts: list[int]) -> None:
    source = cst.open([file, file], schema=SCHEMA, offset_column="at", batch_size=7)
    wanted = [5, 199, 5, 100, 40]
    assert offsets([source.take(wanted)]) == [(i % 100, starts[i % 100]) for i in wanted]
    assert offsets(source[30:120]) == [(i % 100, starts[i % 100]) for i in range(30, 120)]
    parts = [row for i in range(7) for row in offsets(source.split(i, 7))]
    assert parts == list(enumerate(starts)) * 2
    assert source.take([]).column_names == source.column_names
    flat = cst.open(file, schema=SCHEMA, columns=["id"], flat=True, offset_column="at")
    assert pa.table(flat).to_pydict() == {"id": list(range(100)), "at": starts}


def test_raw_records_alone(file: pathlib.Path, starts: list[int]) -> None:
    source = cst.open(file, "raw", offset_column="at")
    assert source.column_names == ["record", "at"]
    assert pa.table(source).to_pydict() == {"record": records(100), "at": starts}


def test_other_containers(tmp_path: pathlib.Path) -> None:
    content = [record(i) for i in range(COUNT)]
    pieces = [_VarintBytes(len(r)) + r for r in content]
    path = tmp_path / "x.bin"
    path.write_bytes(b"".join(pieces))
    places = [sum(len(p) for p in pieces[:i]) for i in range(COUNT)]
    source = cst.open(path, schema=SCHEMA, container="delimited", offset_column="at")
    assert offsets(source) == list(enumerate(places))
    (tmp_path / "a").write_bytes(content[0])
    whole = cst.open(tmp_path / "a", schema=SCHEMA, container="file", offset_column="at")
    assert offsets(whole) == [(0, 0)]


@pytest.mark.parametrize("threads", [1, 2])
def test_dropped_records(make_file: MakeFile, threads: int) -> None:
    content = records(COUNT)
    content[30] = b"\xff" * 40
    path = make_file("damaged.tfrecord", content)
    data = bytearray(path.read_bytes())
    starts = starts_of(bytes(data))
    data[starts[10] + 14] ^= 1
    data[starts[20]] ^= 1
    path.write_bytes(data)
    options: dict[str, Any] = {"schema": SCHEMA, "batch_size": 4, "threads": threads}
    source = cst.open(path, on_error="skip", offset_column="at", **options)
    bad = (10, 20, 30)
    assert offsets(source) == [(i, at) for i, at in enumerate(starts) if i not in bad]
    assert [d.offset for d in source.dropped] == [starts[i] for i in bad]


def test_messages_and_views(tmp_path: pathlib.Path) -> None:
    content = messages.sessions(20)
    content[7] = b"\x08\x01\x12\x05ab"  # ends within a string
    path = tmp_path / "sessions.tfrecord"
    with cst.codec.TFRecordWriter(path) as writer:
        for r in content:
            writer.write(r)
    starts = starts_of(path.read_bytes())
    session = messages.shop("Session")
    source = cst.open(path, message=session, on_error="null", offset_column="byte", batch_size=3)
    assert pa.table(source)["byte"].to_pylist() == starts
    query = cst.Query(session).rows("event").output("q", "query")
    for names in (["q"], None):
        view = cst.open(
            path, view=query, columns=names, raw_column="raw", offset_column="at", on_error="skip"
        )
        assert view.column_names == ["q", "raw", "at"]
        rows = pa.table(view).to_pydict()
        place = dict(zip(content, starts, strict=True))
        assert rows["at"] == [place[raw] for (raw,) in rows["raw"]]
        assert len(rows["at"]) > 20
        assert list(view.tensor_representations()) == ["q"]


def test_tensors_and_training_leave_it_out(file: pathlib.Path) -> None:
    for flat in (False, True):
        source = cst.open(
            file, schema=SCHEMA, columns=["id", "pair"], offset_column="at", flat=flat
        )
        assert list(source.tensor_representations()) == ["id", "pair"]
        (batch,) = source.tensors()
        assert sorted(batch) == ["id", "pair"]
        made = next(iter(source.dataset(batch_size=10, shuffle=True, seed=1)))
        assert sorted(made) == ["id", "pair"]
    source = cst.open(file, offset_column="at")
    assert '"at"' not in str(source.schema)


def test_what_is_refused(file: pathlib.Path, tmp_path: pathlib.Path) -> None:
    with pytest.raises(
        cst.errors.ArgumentError, match="offsets has the same name as another column"
    ):
        cst.open(file, schema=SCHEMA, offset_column="id")
    with pytest.raises(
        cst.errors.ArgumentError, match="offsets has the same name as another column"
    ):
        cst.open(file, schema=SCHEMA, raw_column="x", offset_column="x")
    with pytest.raises(cst.errors.ArgumentError, match="choose another name for the offsets"):
        cst.open(file, "raw", offset_column="record")
    with pytest.raises(cst.errors.NotFoundError):
        cst.open(file, schema=SCHEMA, columns=["id", "at"], offset_column="at")
    (tmp_path / "t.csv").write_text("a\n1\n")
    with pytest.raises(cst.errors.UnsupportedError, match="leave offset_column out"):
        cst.open(tmp_path / "t.csv", offset_column="at")


def test_writing_back_and_the_program(file: pathlib.Path, starts: list[int]) -> None:
    source = cst.open(file, schema=SCHEMA, columns=["id"], offset_column="at")
    out = file.parent / "out.tfrecord"
    cst.write(source, out)  # a column like others now
    found = pa.table(cst.open(out)).to_pydict()
    assert np.array_equal(np.ravel(found["at"]), starts)
