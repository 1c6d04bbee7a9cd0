"""Decoders and encoders of tabular formats, for data in memory."""

from __future__ import annotations

import gzip
import pickle
from typing import Any

import columnstone as cst
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest
from columnstone import _core
from columnstone._formats.options import KINDS
from conftest import records

TABLE = pa.table(
    {
        "i": pa.array([1, None, 2**63 - 1], pa.int64()),
        "f": pa.array([0.5, 1e300, None], pa.float64()),
        "s": pa.array(["a", "", "ü\n"], pa.large_string()),
    }
)
FORMATS = ["csv", "json", "arrow", "parquet"]


@pytest.mark.parametrize("name", FORMATS)
def test_round_trip(name: str) -> None:
    decoder, encoder = cst.decoder(name), cst.encoder(name)
    data = encoder.encode(TABLE)
    assert isinstance(data, bytes)
    for given in (data, bytearray(data), memoryview(data)):
        batch = decoder.decode(given)
        assert isinstance(batch, cst.RecordBatch)
        assert pa.table(batch).equals(TABLE)
    assert encoder.encode(batch) == data  # twice with one object, and its own batch
    assert encoder.encode([TABLE.slice(0, 1), TABLE.slice(1)]) is not None


@pytest.mark.parametrize("name", FORMATS)
def test_several_files(name: str) -> None:
    encoder = cst.encoder(name)
    files = [encoder.encode(TABLE.slice(0, 1)), encoder.encode(TABLE.slice(1))]
    for several in (files, tuple(files)):
        assert pa.table(cst.decoder(name).decode(several)).equals(TABLE)


@pytest.mark.parametrize("name", FORMATS)
def test_pickles(name: str) -> None:
    for one in (cst.decoder(name), cst.encoder(name)):
        copy = pickle.loads(pickle.dumps(one))
        assert type(copy) is type(one)
        assert (copy.format, copy.schema, copy.message) == (name, None, None)
        assert repr(copy) == repr(one)
        assert name in repr(copy)
    decoder = cst.decoder(name, columns=["s", "i"])
    data = cst.encoder(name).encode(TABLE)
    batch = pickle.loads(pickle.dumps(decoder)).decode(data)
    assert pa.table(batch).equals(TABLE.select(["s", "i"]))


@pytest.mark.parametrize("name", FORMATS)
def test_no_rows(name: str) -> None:
    decoder, encoder = cst.decoder(name), cst.encoder(name)
    data = encoder.encode([], TABLE.schema)
    assert encoder.encode(TABLE.slice(0, 0)) == data
    if name == "json":
        with_types = cst.decoder("json", types=TABLE.schema)
        batch = with_types.decode(data)
        assert batch.num_rows == 0 and batch.column_names == ["i", "f", "s"]
        assert decoder.decode(data).num_rows == 0
        return
    batch = decoder.decode(data)
    assert batch.num_rows == 0
    assert batch.column_names == ["i", "f", "s"]


def test_no_batches() -> None:
    with pytest.raises(cst.errors.StateError):
        cst.encoder("json").encode([])


def test_many_rows() -> None:
    """One batch, however many rows there are."""
    table = pa.table({"a": range(100_000)})
    for name in FORMATS:
        assert cst.decoder(name).decode(cst.encoder(name).encode(table)).num_rows == 100_000


def test_arrow_stream_and_file() -> None:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, TABLE.schema) as writer:
        writer.write_table(TABLE, max_chunksize=1)
    assert pa.table(cst.decoder("arrow").decode(sink.getvalue())).equals(TABLE)
    data = cst.encoder("arrow").encode(TABLE)
    assert pa.ipc.open_file(data).read_all().equals(TABLE)
    with pytest.raises(cst.Error):
        cst.decoder("arrow").decode(data[:100])


def test_parquet() -> None:
    data = cst.encoder("parquet", compression="none").encode(TABLE)
    assert pq.read_table(pa.BufferReader(data)).equals(TABLE)
    with pytest.raises(cst.errors.CorruptError):
        cst.decoder("parquet").decode(data[:-1])


def test_csv() -> None:
    dialect = {"delimiter": ";", "names": ("a", "b")}
    batch = cst.decoder("csv", **dialect).decode(b"1;x\n2;y\n")
    assert batch.to_pydict() == {"a": [1, 2], "b": ["x", "y"]}
    types = pa.schema([("a", pa.float32()), ("b", pa.binary())])
    batch = pickle.loads(pickle.dumps(cst.decoder("csv", **dialect, types=types))).decode(b"1;x\n")
    assert batch.to_pydict() == {"a": [1.0], "b": [b"x"]}
    assert cst.encoder("csv", delimiter="|").encode(batch) == b"a|b\n1.0|x\n"


def test_schema() -> None:
    schema = 'feature { name: "a" type: INT } feature { name: "b" type: FLOAT }'
    decoder = pickle.loads(pickle.dumps(cst.decoder("json", schema)))
    assert decoder.decode(b'{"a": [1, 2], "b": 0.5}').to_pydict() == {"a": [[1, 2]], "b": [[0.5]]}
    assert cst.decoder("csv", schema, ["b"]).decode(b"a,b\n1,2\n").to_pydict() == {"b": [[2.0]]}


def test_raw() -> None:
    given = [*records(20), b""]
    decoder, encoder = cst.decoder("raw"), cst.encoder("raw")
    batch = decoder.decode(given)
    assert pa.table(batch).equals(pa.table({"record": pa.array(given, pa.large_binary())}))
    assert encoder.encode(batch).to_pylist() == given
    assert encoder.encode(pa.table({"any": ["text"]})).to_pylist() == [b"text"]
    assert decoder.decode([]).num_rows == 0
    views = pickle.loads(pickle.dumps(cst.decoder("raw", binary_views=True)))
    assert views.arrow_schema.children[0].format == "vz"
    assert views.decode(given).to_pydict() == {"record": given}
    with pytest.raises(cst.errors.UnsupportedError, match="one binary column"):
        encoder.encode(pa.table({"a": [1]}))
    with pytest.raises(cst.errors.UnsupportedError, match="the record is null") as refused:
        encoder.encode(pa.table({"a": [b"a", None]}))
    assert refused.value.record == 1
    with pytest.raises(TypeError, match="takes a list"):
        decoder.decode(b"bytes")


def test_unknown_formats_and_options() -> None:
    for make in (cst.decoder, cst.encoder):
        with pytest.raises(cst.errors.NotFoundError, match="did you mean 'example'"):
            make("exampel")
        with pytest.raises(TypeError, match="named by a str, not bytes"):
            make(b"csv")  # type: ignore[call-overload]
        with pytest.raises(cst.errors.ArgumentError, match="belongs to the format message"):
            make("example", form="json")
        with pytest.raises(cst.errors.ArgumentError, match="belongs to the format message"):
            make("raw", message="a.B")
        with pytest.raises(
            cst.errors.ArgumentError, match="belongs to the format sequence_example"
        ):
            make("example", sequence_column="x")
        with pytest.raises(TypeError, match=r"(de|en)coder\(\) has no option 'sequence_colum'"):
            make("sequence_example", sequence_colum="x")
        with pytest.raises(cst.errors.ArgumentError, match="take no schema"):
            make("raw", 'feature { name: "a" type: INT }')
    with pytest.raises(cst.errors.ArgumentError, match="leave arrow_schema out"):
        cst.encoder("raw").encode([{"a": b"x"}], pa.schema([("a", pa.binary())]))


def test_a_format_with_a_schema_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is handed on as an option, which the table of the format in C says how to take."""
    told = ("text", None, True, True, "", ())
    monkeypatch.setitem(_core.FORMAT_OPTIONS, "raw", {"schema": told})
    monkeypatch.setitem(KINDS, "schema", "text")
    for make in (cst.decoder, cst.encoder):
        with pytest.raises(cst.errors.ArgumentError, match="raw has no option 'schema'"):
            make("raw", schema='{"type": "record"}')


def test_json_texts() -> None:
    """Such as the values of a topic: the number of one that is bad is its place in the list."""
    decoder = cst.decoder("json")
    texts = [b'{"a": %d}' % i for i in range(1000)]
    assert decoder.decode(texts).to_pydict() == {"a": list(range(1000))}
    texts[700] = b'{"a": '
    with pytest.raises(cst.errors.CorruptError) as caught:
        decoder.decode(texts)
    assert caught.value.record == 700
    with pytest.raises(TypeError):
        decoder.decode([*texts, "text"])  # type: ignore[list-item]


def test_failures() -> None:
    with pytest.raises(cst.Error) as caught:
        cst.decoder("json").decode(b'{"a": 1}\n{"a": \n')
    assert caught.value.line == 2
    with pytest.raises(cst.errors.UnsupportedError, match="bad"):
        cst.encoder("json").encode(
            pa.table({"bad": pa.array([(1, 2, 3)], pa.month_day_nano_interval())})
        )
    wrong: Any = "text"
    with pytest.raises(TypeError):
        cst.decoder("csv").decode(wrong)
    with pytest.raises(TypeError):
        cst.decoder("csv", no_such_option=1).decode(b"")


def test_what_is_in_a_list_of_texts() -> None:
    """Each is a file: two halves are no sound one, and two lists are two."""
    decoder = cst.decoder("json")
    assert decoder.decode([b'[{"a": 1}]', b'[{"a": 2}]']).to_pydict() == {"a": [1, 2]}
    assert decoder.decode([gzip.compress(b'{"a": 1}'), b'{"a": 2}']).to_pydict() == {"a": [1, 2]}
    with pytest.raises(cst.errors.CorruptError):
        decoder.decode([b'[{"a": 1}', b',{"a": 2}]'])
    for format in ("json", "csv", "arrow"):
        with pytest.raises(TypeError, match=r"records\[1\] is NoneType, not bytes"):
            cst.decoder(format).decode([b"a\n1\n", None])  # type: ignore[list-item]
        with pytest.raises(TypeError, match="neither the bytes of a file nor a list"):
            cst.decoder(format).decode(pa.array([b"{}"]))
        with pytest.raises(cst.errors.ArgumentError, match="leave batch_size out"):
            cst.decoder(format, batch_size=2)
