"""Source.select and Source.empty_batch."""

from __future__ import annotations

import io
import os
import pathlib
import pickle

import columnstone as cst
import pyarrow as pa
import pytest
from conftest import SCHEMA

TABLE = pa.table({"a": [1, 2, 3], "b": [1.5, None, 2.5], "c": [[1], [], None]})


def sources(folder: pathlib.Path) -> list[cst.Source]:
    """One of each kind of input."""
    for ending in ("jsonl", "arrow", "parquet"):
        cst.write(TABLE, folder / f"t.{ending}")
    return [
        *(cst.open(folder / f"t.{ending}") for ending in ("jsonl", "arrow", "parquet")),
        cst.open(str(folder / "*.arrow")),
        cst.open(f"file://{folder}/t.parquet"),
        cst.open(io.BytesIO((folder / "t.parquet").read_bytes()), "parquet"),
        cst.open(TABLE),
    ]


def test_select(tmp_path: pathlib.Path) -> None:
    for source in sources(tmp_path):
        whole = pa.table(source)
        for names in (["c", "a"], ["b"], ["a", "b", "c"]):
            assert pa.table(source.select(names)).equals(whole.select(names)), source
        assert pa.table(source.select(["c", "a"]).select(["b"])).equals(whole.select(["b"]))
        with pytest.raises(cst.errors.NotFoundError, match="did you mean"):
            _ = source.select(["aa"]).arrow_schema
        assert pa.table(source).equals(whole)


def test_of_parts(file: pathlib.Path) -> None:
    source = cst.open(file, schema=SCHEMA, batch_size=7)
    for part in (source[10:30], source.split(1, 3), source[10:90].split(0, 2)):
        some = part.select(["id"])
        assert pa.table(some).equals(pa.table(part).select(["id"]))
        assert pa.table(pickle.loads(pickle.dumps(some))).equals(pa.table(some))


def test_inferred_schema_is_kept(file: pathlib.Path) -> None:
    source = cst.open(file)
    some = source.select(["steps", "id"])
    assert some.column_names == ["steps", "id"]
    assert source.schema is not None and some.schema is not None
    assert some.schema.to_text() == source.schema.to_text()


def test_what_is_read_once() -> None:
    reader, writer = os.pipe()
    os.write(writer, b'{"a": 1}\n')
    os.close(writer)
    with open(reader, "rb") as pipe:
        source = cst.open(pipe, "json", types=pa.schema([("a", pa.int64())]))
        with pytest.raises(cst.errors.StateError):
            source.select(["a"])
    with pytest.raises(cst.errors.StateError, match="columns="):
        cst.open(io.BytesIO(b'{"a": 1}'), "json").select(["a"])
    with pytest.raises(cst.errors.StateError):
        cst.open(TABLE.to_reader()).select(["a"])


def test_empty_batch(tmp_path: pathlib.Path, file: pathlib.Path) -> None:
    for source in (*sources(tmp_path), cst.open(file, schema=SCHEMA), cst.open(file, "raw")):
        batch = source.empty_batch()
        assert batch.num_rows == 0
        assert pa.record_batch(batch).schema.equals(pa.schema(source.arrow_schema)), source
