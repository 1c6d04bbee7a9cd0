"""What Arrow's users do with a Source: pyarrow, Polars, DuckDB and pandas."""

from __future__ import annotations

import pathlib
from typing import Any

import columnstone as cst
import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from conftest import SCHEMA, MakeFile


@pytest.fixture
def source(make_file: MakeFile) -> cst.Source:
    path = make_file("data.tfrecord.gz", 100)
    return cst.open(path, schema=SCHEMA, batch_size=30, threads=2)


@pytest.fixture
def wanted(source: cst.Source) -> dict[str, list[object]]:
    values: dict[str, list[object]] = {name: [] for name in source.column_names}
    for batch in source:
        for name, column in batch.to_pydict().items():
            values[name] += column
    return values


def test_pyarrow(source: cst.Source, wanted: dict[str, list[object]]) -> None:
    table = pa.table(source)
    table.validate(full=True)
    assert table.to_pydict() == wanted
    assert [len(c) for c in table["id"].chunks] == [30, 30, 30, 10]
    assert table.schema == pa.schema(source)
    assert pa.table(source).equals(table)
    reader = pa.RecordBatchReader.from_stream(source)
    assert reader.read_next_batch().num_rows == 30
    assert pa.record_batch(next(iter(source))).num_rows == 30
    assert pa.array(next(iter(source))["id"]).to_pylist() == wanted["id"][:30]


def test_parquet_batch_by_batch(source: cst.Source, tmp_path: pathlib.Path) -> None:
    reader = pa.RecordBatchReader.from_stream(source)
    with pq.ParquetWriter(tmp_path / "x.parquet", reader.schema) as writer:
        for batch in reader:
            writer.write_batch(batch)
    assert pq.read_table(tmp_path / "x.parquet").equals(pa.table(source))
    reader = pa.RecordBatchReader.from_stream(source)
    ds.write_dataset(reader, tmp_path / "set", format="parquet")
    assert ds.dataset(tmp_path / "set").count_rows() == 100


def test_polars(source: cst.Source, wanted: dict[str, list[object]]) -> None:
    frame = pl.DataFrame(source)
    assert frame.to_dict(as_series=False) == wanted
    assert pl.DataFrame(next(iter(source))).height == 30


def test_duckdb(source: cst.Source) -> None:
    assert duckdb.sql("select count(*), sum(id[1]) from source").fetchall() == [(100, 4950)]
    query = "select a.id[1] from source a join source b on a.id[1] = b.id[1] + 50 order by 1"
    assert duckdb.sql(query).fetchall() == [(i,) for i in range(50, 100)]
    relation = duckdb.sql("select tags from source where id[1] < 3 order by id[1]")
    assert relation.fetchall() == [(None,), ([b"tag0"],), ([b"tag0", b"tag1"],)]
    assert len(relation.fetchall()) in (0, 3)


def test_pandas(source: cst.Source, wanted: dict[str, list[object]]) -> None:
    frame = pd.DataFrame.from_arrow(source)
    assert list(frame.columns) == list(wanted)
    assert [list(v) for v in frame["id"]] == wanted["id"]


def test_the_way_back(source: cst.Source, wanted: dict[str, list[object]]) -> None:
    encoder = cst.encoder("example", SCHEMA)
    decoder = cst.decoder("example", SCHEMA)
    for table in (source, pa.table(source), pl.DataFrame(source)):
        assert decoder.decode(encoder.encode(table)).to_pydict() == wanted
    frame = pd.DataFrame.from_arrow(source)
    assert decoder.decode(encoder.encode(pa.Table.from_pandas(frame))).to_pydict() == wanted


def test_an_error_has_its_text(make_file: MakeFile) -> None:
    path = make_file("d", 50)
    path.write_bytes(path.read_bytes()[:-1])
    source = cst.open(path, schema=SCHEMA)
    for use in (pa.table, pl.DataFrame, lambda s: duckdb.sql("select count(*) from s").fetchall()):
        with pytest.raises(Exception, match="record 49"):
            use(source)
        assert isinstance(source.last_error, cst.errors.CorruptError)


def test_requested_schema_is_ignored(source: cst.Source) -> None:
    schema = pa.schema({"id": pa.int64()})
    capsule = schema.__arrow_c_schema__()
    assert source.__arrow_c_stream__(capsule) is not None
    assert source.__arrow_c_stream__(requested_schema=capsule) is not None
    batch = next(iter(source))
    assert len(batch.__arrow_c_array__(capsule)) == 2
    assert len(batch["id"].__arrow_c_array__(requested_schema=None)) == 2


def test_capsules_that_are_dropped(source: cst.Source) -> None:
    for _ in range(10):
        source.__arrow_c_stream__()
        source.__arrow_c_schema__()
        batch = next(iter(source))
        batch.__arrow_c_array__()
        batch["tags"].__arrow_c_array__()


class Exporter:
    """Gives whatever it is told to give."""

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def __arrow_c_array__(self, requested_schema: object = None) -> object:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class StreamExporter:
    """The same for streams."""

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def used_capsules() -> object:
    capsules = pa.array([b"", b"x"]).__arrow_c_array__()
    pa.array(Exporter(capsules))
    return capsules


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (None, TypeError),
        ((), TypeError),
        ((None, None), (TypeError, ValueError)),
        (pa.array([b""]).__arrow_c_array__()[::-1], (TypeError, ValueError)),
        (pa.array([b""]).__arrow_c_array__()[0], TypeError),
        (used_capsules(), ValueError),
        (KeyError("no"), KeyError),
    ],
)
def test_exporters_that_lie(answer: object, error: type[Exception], tmp_path: pathlib.Path) -> None:
    exporter: Any = Exporter(answer)
    with pytest.raises(error):
        cst.decoder("example").decode(exporter)
    with pytest.raises(error):
        cst.encoder("example").encode(exporter)
    with cst.codec.TFRecordWriter(tmp_path / "x") as writer, pytest.raises(error):
        writer.write_batch(exporter)


@pytest.mark.parametrize("answer", [None, (), pa.array([b""]).__arrow_c_array__()[0], KeyError()])
def test_streams_that_lie(answer: object) -> None:
    exporter: Any = StreamExporter(answer)
    with pytest.raises((TypeError, ValueError, KeyError)):
        cst.encoder("example").encode(exporter)


def test_a_capsule_is_used_up_once(source: cst.Source) -> None:
    exporter: Any = Exporter(next(iter(source)).__arrow_c_array__())
    assert pa.record_batch(exporter).num_rows == 30
    with pytest.raises(ValueError, match="used before"):
        cst.encoder("example").encode(exporter)
