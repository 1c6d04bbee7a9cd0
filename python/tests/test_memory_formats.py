"""Decoders and encoders of tabular formats, for data in memory."""

from __future__ import annotations

import pickle
from typing import Any

import columnstone as cst
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest
from conftest import records

TABLE = pa.table(
    {
        "i": pa.array([1, None, 2**63 - 1], pa.int64()),
        "f": pa.array([0.5, 1e300, None], pa.float64()),
        "s": pa.array(["a", "", "ü\n"], pa.large_string()),
    }
)
PAIRS: dict[str, tuple[Any, Any]] = {
    "csv": (cst.codec.CsvDecoder, cst.codec.CsvEncoder),
    "json": (cst.codec.JsonDecoder, cst.codec.JsonEncoder),
    "arrow": (cst.codec.ArrowDecoder, cst.codec.ArrowEncoder),
    "parquet": (cst.codec.ParquetDecoder, cst.codec.ParquetEncoder),
}


@pytest.mark.parametrize("name", PAIRS)
def test_round_trip(name: str) -> None:
    decoder, encoder = (cls() for cls in PAIRS[name])
    data = encoder.encode(TABLE)
    assert isinstance(data, bytes)
    for given in (data, bytearray(data), memoryview(data)):
        batch = decoder.decode(given)
        assert isinstance(batch, cst.RecordBatch)
        assert pa.table(batch).equals(TABLE)
    assert encoder.encode(batch) == data  # twice with one object, and its own batch
    assert encoder.encode([TABLE.slice(0, 1), TABLE.slice(1)]) is not None


@pytest.mark.parametrize("name", PAIRS)
def test_pickles(name: str) -> None:
    for cls in PAIRS[name]:
        one = cls()
        copy = pickle.loads(pickle.dumps(one))
        assert type(copy) is cls
        assert repr(copy) == f"<columnstone.codec.{cls.__name__}>"
    decoder = PAIRS[name][0](columns=["s", "i"])
    data = PAIRS[name][1]().encode(TABLE)
    batch = pickle.loads(pickle.dumps(decoder)).decode(data)
    assert pa.table(batch).equals(TABLE.select(["s", "i"]))


@pytest.mark.parametrize("name", PAIRS)
def test_no_rows(name: str) -> None:
    decoder, encoder = (cls() for cls in PAIRS[name])
    data = encoder.encode([], TABLE.schema)
    assert encoder.encode(TABLE.slice(0, 0)) == data
    if name == "json":
        with_types = cst.codec.JsonDecoder(types=TABLE.schema)
        batch = with_types.decode(data)
        assert batch.num_rows == 0 and batch.column_names == ["i", "f", "s"]
        assert decoder.decode(data).num_rows == 0
        return
    batch = decoder.decode(data)
    assert batch.num_rows == 0
    assert batch.column_names == ["i", "f", "s"]


def test_no_batches() -> None:
    with pytest.raises(cst.errors.StateError):
        cst.codec.JsonEncoder().encode([])


def test_many_rows() -> None:
    """One batch, however many rows there are."""
    table = pa.table({"a": range(100_000)})
    for decoder, encoder in PAIRS.values():
        assert decoder().decode(encoder().encode(table)).num_rows == 100_000


def test_arrow_stream_and_file() -> None:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, TABLE.schema) as writer:
        writer.write_table(TABLE, max_chunksize=1)
    assert pa.table(cst.codec.ArrowDecoder().decode(sink.getvalue())).equals(TABLE)
    data = cst.codec.ArrowEncoder().encode(TABLE)
    assert pa.ipc.open_file(data).read_all().equals(TABLE)
    with pytest.raises(cst.Error):
        cst.codec.ArrowDecoder().decode(data[:100])


def test_parquet() -> None:
    data = cst.codec.ParquetEncoder(compression="none").encode(TABLE)
    assert pq.read_table(pa.BufferReader(data)).equals(TABLE)
    with pytest.raises(cst.errors.CorruptError):
        cst.codec.ParquetDecoder().decode(data[:-1])


def test_csv() -> None:
    dialect = {"delimiter": ";", "names": ("a", "b")}
    batch = cst.codec.CsvDecoder(**dialect).decode(b"1;x\n2;y\n")
    assert batch.to_pydict() == {"a": [1, 2], "b": ["x", "y"]}
    types = pa.schema([("a", pa.float32()), ("b", pa.binary())])
    batch = pickle.loads(pickle.dumps(cst.codec.CsvDecoder(**dialect, types=types))).decode(
        b"1;x\n"
    )
    assert batch.to_pydict() == {"a": [1.0], "b": [b"x"]}
    assert cst.codec.CsvEncoder(delimiter="|").encode(batch) == b"a|b\n1.0|x\n"


def test_schema() -> None:
    schema = 'feature { name: "a" type: INT } feature { name: "b" type: FLOAT }'
    decoder = pickle.loads(pickle.dumps(cst.codec.JsonDecoder(schema)))
    assert decoder.decode(b'{"a": [1, 2], "b": 0.5}').to_pydict() == {"a": [[1, 2]], "b": [[0.5]]}
    assert cst.codec.CsvDecoder(schema, ["b"]).decode(b"a,b\n1,2\n").to_pydict() == {"b": [[2.0]]}


def test_raw() -> None:
    batch = pa.table({"record": pa.array(records(20), pa.large_binary())})
    data = cst.codec.RawEncoder().encode(batch)
    assert pa.table(cst.codec.RawDecoder().decode(data)).equals(batch)
    assert cst.codec.RawDecoder().decode(b"").num_rows == 0
    zipped = cst.codec.RawEncoder(compression="gzip").encode(batch)
    assert zipped[:2] == b"\x1f\x8b"
    assert pa.table(cst.codec.RawDecoder().decode(zipped)).equals(batch)
    with pytest.raises(cst.errors.CorruptError):
        cst.codec.RawDecoder().decode(data[:-1])


def test_failures() -> None:
    with pytest.raises(cst.Error) as caught:
        cst.codec.JsonDecoder().decode(b'{"a": 1}\n{"a": \n')
    assert caught.value.line == 2
    with pytest.raises(cst.errors.UnsupportedError, match="bad"):
        cst.codec.JsonEncoder().encode(
            pa.table({"bad": pa.array([(1, 2, 3)], pa.month_day_nano_interval())})
        )
    wrong: Any = "text"
    with pytest.raises(TypeError):
        cst.codec.CsvDecoder().decode(wrong)
    with pytest.raises(TypeError):
        cst.codec.CsvDecoder(no_such_option=1).decode(b"")
