"""Arrow files and streams: what pyarrow and Polars write is read, and the reverse."""

from __future__ import annotations

import datetime
import decimal
import io
import pathlib
import warnings
from collections.abc import Callable
from typing import Any

import columnstone as cst
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pytest

DAY = datetime.date(2026, 11, 21)
WORDS = ["short", "a value that is longer than twelve", None, ""]
LISTS = [[1, 2], None, [], [3, None]]

COLUMNS: dict[str, pa.Array] = {
    "null": pa.nulls(4),
    "bool": pa.array([True, None, False, True]),
    "int8": pa.array([1, None, -3, 127], pa.int8()),
    "uint64": pa.array([1, 2, None, 2**64 - 1], pa.uint64()),
    "half": pa.array([0.5, None, 1.5, -2.0], pa.float16()),
    "float": pa.array([0.5, None, float("inf"), -0.0], pa.float32()),
    "binary": pa.array([b"\0", None, b"", b"ccc"]),
    "large_binary": pa.array([b"\0", None, b"", b"ccc"], pa.large_binary()),
    "fixed_binary": pa.array([b"ab", None, b"cd", b"ef"], pa.binary(2)),
    "string": pa.array(WORDS),
    "large_string": pa.array(WORDS, pa.large_string()),
    "string_view": pa.array(WORDS, pa.string_view()),
    "binary_view": pa.array([w and w.encode() for w in WORDS], pa.binary_view()),
    "date32": pa.array([DAY, None, DAY, DAY], pa.date32()),
    "date64": pa.array([DAY, None, DAY, DAY], pa.date64()),
    "time32": pa.array([1, None, 2, 3], pa.time32("s")),
    "time64": pa.array([1, None, 2, 3], pa.time64("us")),
    "timestamp": pa.array([1, None, 2, 3], pa.timestamp("ns")),
    "zoned": pa.array([1, None, 2, 3], pa.timestamp("ms", "Europe/Rome")),
    "duration": pa.array([1, None, 2, 3], pa.duration("us")),
    "interval": pa.array([pa.MonthDayNano([1, 2, 3]), None, None, None]),
    "decimal128": pa.array([decimal.Decimal("1.25"), None, None, None], pa.decimal128(9, 2)),
    "decimal256": pa.array([decimal.Decimal("1.25"), None, None, None], pa.decimal256(60, 2)),
    "decimal32": pa.array([decimal.Decimal("1.25"), None, None, None], pa.decimal32(5, 2)),
    "list": pa.array(LISTS, pa.list_(pa.int32())),
    "large_list": pa.array(LISTS, pa.large_list(pa.int64())),
    "list_view": pa.array(LISTS, pa.list_view(pa.int16())),
    "large_list_view": pa.array(LISTS, pa.large_list_view(pa.int16())),
    "fixed_list": pa.array([[1, 2], None, [3, 4], [5, None]], pa.list_(pa.int8(), 2)),
    "map": pa.array([[("k", 1)], None, [], [("l", None)]], pa.map_(pa.string(), pa.int8())),
    "struct": pa.array([{"x": 1, "y": ["p"]}, None, {"x": None, "y": []}, {"x": 2, "y": None}]),
    "deep": pa.array([[[["a"], None]], [], None, [[[None]]]]),
    "dictionary": pa.array(["x", None, "y", "x"]).dictionary_encode(),
}


def plain_type(of: pa.DataType) -> pa.DataType:
    return of.value_type if pa.types.is_dictionary(of) else of


TABLE = pa.table(COLUMNS)
PLAIN = pa.table({name: c.cast(plain_type(c.type)) for name, c in COLUMNS.items()})


def write(table: pa.Table, kind: str, codec: str | None, rows: int | None = None) -> bytes:
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression=codec, unify_dictionaries=True)
    make = pa.ipc.new_file if kind == "file" else pa.ipc.new_stream
    with make(sink, table.schema, options=options) as writer:
        writer.write_table(table, rows)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def read(data: bytes | pathlib.Path, format: str | None = None, **options: Any) -> pa.Table:
    """Paths by what is in them; files in memory are not looked at before they are read."""
    if isinstance(data, pathlib.Path):
        table = pa.table(cst.open(data, format, **options))
    else:
        table = pa.table(cst.open(io.BytesIO(data), "arrow", **options))
    table.validate(full=True)
    return table


def fails(data: bytes | pathlib.Path, match: str, **options: Any) -> str:
    """The error of reading to the end, past pyarrow, which would make another of it."""
    source = data if isinstance(data, pathlib.Path) else io.BytesIO(data)
    with pytest.raises(cst.Error, match=match) as caught:
        list(cst.open(source, "arrow", **options))
    return str(caught.value)


@pytest.mark.parametrize("codec", [None, "lz4", "zstd"])
@pytest.mark.parametrize("kind", ["file", "stream"])
@pytest.mark.parametrize("name", COLUMNS)
def test_every_type(name: str, kind: str, codec: str | None) -> None:
    data = write(TABLE.select([name]), kind, codec)
    assert read(data).equals(PLAIN.select([name]))


@pytest.mark.parametrize("batch_size", [1, 3, 4, 7, 1000])
@pytest.mark.parametrize("rows", [1, 3, 1000])
def test_batches_are_cut_and_joined(batch_size: int, rows: int) -> None:
    three = pa.concat_tables([TABLE, TABLE.slice(1, 2), TABLE])
    plain = pa.concat_tables([PLAIN, PLAIN.slice(1, 2), PLAIN])
    data = write(three.combine_chunks(), "stream", "zstd", rows)
    source = cst.open(io.BytesIO(data), "arrow", batch_size=batch_size)
    sizes = [pa.record_batch(batch).num_rows for batch in source]
    assert sizes == [min(batch_size, 10 - at) for at in range(0, 10, batch_size)]
    assert pa.table(cst.open(io.BytesIO(data), "arrow", batch_size=batch_size)).equals(plain)


def test_names_of_formats_and_files(tmp_path: pathlib.Path) -> None:
    for kind, ending in (("file", "arrow"), ("file", "feather"), ("stream", "arrows")):
        path = tmp_path / f"t.{ending}"
        path.write_bytes(write(TABLE, kind, "lz4"))
        assert read(path).equals(PLAIN)
        for format in ("arrow", "arrows"):
            assert read(path, format).equals(PLAIN)
    (tmp_path / "name").write_bytes(write(TABLE, "stream", None))
    assert read(tmp_path / "name").equals(PLAIN)
    assert read(tmp_path / "*.arrow*").num_rows == 8


def test_feather_of_pyarrow(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "t.feather"
    pa.feather.write_feather(TABLE, path)  # lz4
    assert read(path).equals(PLAIN)
    path.write_bytes(b"FEA1" + bytes(100))
    fails(path, "Feather file of version 1")


def test_metadata_and_nullability() -> None:
    field = pa.field("a", pa.int64(), nullable=False, metadata={"k": "v"})
    schema = pa.schema([field], metadata={"of": "all"})
    got = read(write(pa.table([[1]], schema=schema), "file", None)).schema
    assert got.equals(schema, check_metadata=True)


def test_some_columns() -> None:
    data = write(TABLE, "file", "zstd")
    wanted = ["deep", "int8", "dictionary"]
    assert read(data, columns=wanted).equals(PLAIN.select(wanted))
    assert "'string'" in fails(data, "no such column", columns=["strin"])


def test_columns_that_cannot_be_read_may_be_left_out() -> None:
    sparse = pa.UnionArray.from_sparse(
        pa.array([0, 1], pa.int8()), [pa.array([1, 2]), pa.array(["a", "b"])]
    )
    runs = pa.RunEndEncodedArray.from_arrays([1, 2], ["p", "q"])
    table = pa.table({"u": sparse, "a": [1, 2], "r": runs, "z": ["x", "y"]})
    for kind in ("file", "stream"):
        data = write(table, kind, "lz4")
        assert read(data, columns=["z", "a"]).to_pydict() == {"z": ["x", "y"], "a": [1, 2]}
        fails(data, "sparse_union")


def test_dictionaries_that_grow() -> None:
    schema = pa.schema([("d", pa.dictionary(pa.int8(), pa.string()))])
    for deltas in (True, False):
        sink = pa.BufferOutputStream()
        options = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=deltas)
        with pa.ipc.new_stream(sink, schema, options=options) as writer:
            for values in (["a"], ["a", "b"], ["a", "b", "c"]):
                column = pa.DictionaryArray.from_arrays(
                    pa.array(range(len(values)), pa.int8()), values
                )
                writer.write_batch(pa.record_batch([column], schema=schema))
        got = read(sink.getvalue().to_pybytes())
        assert got["d"].to_pylist() == ["a", "a", "b", "a", "b", "c"]


def test_files_of_other_columns(tmp_path: pathlib.Path) -> None:
    (tmp_path / "1.arrow").write_bytes(write(pa.table({"a": [1]}), "file", None))
    (tmp_path / "2.arrow").write_bytes(write(pa.table({"a": ["x"]}), "file", None))
    assert "2.arrow" in fails(tmp_path / "*.arrow", "expected int64")


def test_an_incomplete_file_is_no_shorter_file() -> None:
    data = write(pa.concat_tables([PLAIN] * 3), "file", "lz4", 4)
    for size in range(8, len(data), 211):
        fails(data[:size], "the Arrow data ends at byte")
    stream = write(PLAIN, "stream", None)
    fails(stream + stream, "after the end mark")


def test_a_stream_without_its_end_marker_warns_once(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "cut.arrows"
    path.write_bytes(write(PLAIN, "stream", None)[:-8])
    source = cst.open(path)
    with pytest.warns(cst.errors.DataWarning, match="end marker") as seen:
        for _ in range(2):
            assert sum(batch.num_rows for batch in source) == PLAIN.num_rows
        assert pa.table(source).num_rows == PLAIN.num_rows
        assert sum(batch.num_rows for batch in source.split(0, 1)) == PLAIN.num_rows
    assert len(seen) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for read_all in (list, pa.table):
            source = cst.open(path)
            with pytest.raises((cst.errors.DataWarning, pa.ArrowInvalid)):
                read_all(source)
            assert isinstance(source.last_error, cst.errors.DataWarning)
        read(write(PLAIN, "stream", None))  # a whole one


# ---- Polars ----

FRAME = pl.DataFrame(
    {
        "i": [1, None, 3],
        "s": ["x", "a value that is longer than twelve", None],
        "b": [b"x", None, b"zzz"],
        "l": [[1], None, [2, None]],
        "a": pl.Series([[1, 2], None, [3, 4]], dtype=pl.Array(pl.Int16, 2)),
        "r": [{"x": 1, "y": "q"}, None, {"x": None, "y": ""}],
        "c": pl.Series(["p", "q", None], dtype=pl.Categorical),
        "e": pl.Series(["p", "q", "p"], dtype=pl.Enum(["p", "q"])),
        "d": pl.Series([DAY, None, DAY]),
        "t": pl.Series([1, 2, None]).cast(pl.Datetime("ms", "UTC")),
        "n": pl.Series(["1.2", None, "3"]).cast(pl.Decimal(10, 2)),
    }
)


@pytest.mark.parametrize("codec", ["uncompressed", "lz4", "zstd"])
@pytest.mark.parametrize("write_frame", [pl.DataFrame.write_ipc, pl.DataFrame.write_ipc_stream])
def test_polars(tmp_path: pathlib.Path, codec: str, write_frame: Callable[..., Any]) -> None:
    path = tmp_path / "frame"
    write_frame(FRAME, path, compression=codec)
    assert pl.DataFrame(read(path)).to_dicts() == FRAME.to_dicts()
    without = FRAME.drop("c", "e")
    write_frame(without, path, compression=codec)
    assert pl.DataFrame(read(path.read_bytes())).equals(without)


def test_polars_reads_ours(tmp_path: pathlib.Path) -> None:
    cst.write(FRAME.drop("c", "e"), tmp_path / "t.arrow")
    cst.write(FRAME.drop("c", "e"), tmp_path / "t.arrows")
    want = FRAME.drop("c", "e").to_dicts()
    assert pl.read_ipc(tmp_path / "t.arrow").to_dicts() == want
    assert pl.read_ipc_stream(tmp_path / "t.arrows").to_dicts() == want


# ---- writing ----


def test_pyarrow_reads_ours(tmp_path: pathlib.Path) -> None:
    for ending, open_ipc in (("arrow", pa.ipc.open_file), ("arrows", pa.ipc.open_stream)):
        path = tmp_path / f"t.{ending}"
        cst.write(PLAIN, path)
        got = open_ipc(path.read_bytes()).read_all()
        got.validate(full=True)
        assert got.to_pylist() == PLAIN.to_pylist()
        kept = [name for name in PLAIN.column_names if "_view" not in name]
        assert got.select(kept).equals(PLAIN.select(kept))
        assert read(path).equals(got)


def test_views_are_written_as_plain_columns(tmp_path: pathlib.Path) -> None:
    cst.write(PLAIN.select(["string_view", "list_view"]), tmp_path / "t.arrow")
    schema = pa.ipc.open_file(tmp_path / "t.arrow").schema
    assert schema.types == [pa.large_string(), pa.list_(pa.int16())]
