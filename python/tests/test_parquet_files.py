"""Parquet files: read and written through pyarrow."""

from __future__ import annotations

import datetime
import decimal
import io
import pathlib
import pickle
import threading
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import columnstone as cst
import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from columnstone._formats.parquet import encoder, sink

DAY = datetime.date(2020, 2, 29)
TIME = datetime.datetime(2020, 2, 29, 1, 2, 3, 456789)

# name -> type and two values; a third is null
VALUES: dict[str, tuple[pa.DataType, list[object]]] = {
    "bool": (pa.bool_(), [True, False]),
    **{f"int{n}": (getattr(pa, f"int{n}")(), [-(2 ** (n - 1)), 5]) for n in (8, 16, 32, 64)},
    **{f"uint{n}": (getattr(pa, f"uint{n}")(), [2**n - 1, 0]) for n in (8, 16, 32, 64)},
    "float16": (pa.float16(), [0.5, -2.0]),
    "float": (pa.float32(), [0.5, float("inf")]),
    "double": (pa.float64(), [0.1, -1e300]),
    "string": (pa.string(), ["", "ü€😀"]),
    "large_string": (pa.large_string(), ["a", "b" * 100]),
    "string_view": (pa.string_view(), ["a", "b" * 100]),
    "binary": (pa.binary(), [b"", b"\x00\xff"]),
    "large_binary": (pa.large_binary(), [b"a", b""]),
    "fixed_binary": (pa.binary(3), [b"abc", b"\x00\x01\x02"]),
    "date32": (pa.date32(), [DAY, datetime.date(1, 1, 1)]),
    "time": (pa.time64("us"), [TIME.time(), datetime.time(0)]),
    "timestamp": (pa.timestamp("us"), [TIME, datetime.datetime(1960, 1, 1)]),
    "zoned": (
        pa.timestamp("ms", "Europe/Paris"),
        [datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC), None],
    ),
    "duration": (pa.duration("us"), [datetime.timedelta(days=1), datetime.timedelta(0)]),
    "decimal": (pa.decimal128(20, 3), [decimal.Decimal("-1.250"), decimal.Decimal("7.000")]),
    "decimal256": (pa.decimal256(60, 1), [decimal.Decimal("1.5"), decimal.Decimal("-2.5")]),
    "dictionary": (pa.dictionary(pa.int32(), pa.string()), ["x", "y"]),
    "list_view": (pa.list_view(pa.int16()), [[1, 2], []]),
    "map": (pa.map_(pa.string(), pa.int64()), [[("k", 1), ("l", None)], []]),
    "null": (pa.null(), [None, None]),
}


def column(kind: pa.DataType, values: list[object]) -> pa.Array:
    return pa.array([*values, None], kind)


def nested(kind: pa.DataType, values: list[object]) -> pa.Table:
    """A type by itself, in lists, and in a struct in lists."""
    one = column(kind, values)
    plain = one.to_pylist()
    lists = pa.array([plain, [], None], pa.large_list(kind))
    inner = pa.struct([("v", kind), ("w", pa.list_(kind))])
    structs = pa.array([[{"v": plain[0], "w": plain}, None], None, []], pa.list_(inner))
    return pa.table({"one": one, "lists": lists, "structs": structs})


@pytest.mark.parametrize("name", VALUES)
def test_types(tmp_path: pathlib.Path, name: str) -> None:
    kind, values = VALUES[name]
    table = nested(kind, values) if name != "dictionary" else pa.table({"a": column(kind, values)})
    path = tmp_path / "t.parquet"
    if name == "string_view":  # pyarrow does not write them in lists
        cst.write(table, path)
    else:
        pq.write_table(table, path)
    read = pa.table(cst.open(path))
    assert read.to_pydict() == table.to_pydict()
    if name != "dictionary":  # they are decoded
        assert read.schema.equals(pq.read_schema(path).remove_metadata())
    assert cst.write(cst.open(path), tmp_path / "u.parquet") == 3
    assert pq.read_table(tmp_path / "u.parquet").to_pydict() == table.to_pydict()


@pytest.mark.parametrize("name", [name for name in VALUES if name != "dictionary"])
def test_the_same_bytes(tmp_path: pathlib.Path, name: str) -> None:
    """Slices have bits that begin in the middle of a byte, and values that they leave out."""
    table = (
        nested(*VALUES[name]) if name != "string_view" else pa.table({"a": column(*VALUES[name])})
    )
    made = []
    for byte in (b"\x00", b"\xff", b"\xa5"):
        dirty = [byte * size for size in (64, 128, 256, 1024, 4096, 65536) for _ in range(8)]
        del dirty  # what comes next gets its memory
        path = tmp_path / f"{byte.hex()}.parquet"
        cst.write(table.slice(1, 2).to_batches() * 2, path)
        made.append(path.read_bytes())
    assert made[0] == made[1] == made[2]


TABLE = pa.table(
    {
        "a": list(range(1000)),
        "b": [f"text {i}" for i in range(1000)],
        "c": [[i] * (i % 3) for i in range(1000)],
    }
)


@pytest.fixture
def groups(tmp_path: pathlib.Path) -> pathlib.Path:
    """Ten row groups, with page checksums."""
    path = tmp_path / "groups.parquet"
    pq.write_table(TABLE, path, row_group_size=100, write_page_checksum=True)
    return path


@pytest.mark.parametrize("batch_size", [1, 7, 100, 333, 5000])
def test_threads_and_batches(groups: pathlib.Path, batch_size: int) -> None:
    plans = [list(cst.open(groups, batch_size=batch_size, threads=n)) for n in (1, 3)]
    sizes = [[b.num_rows for b in plan] for plan in plans]
    assert sizes[0] == sizes[1]
    assert set(sizes[0][:-1]) <= {batch_size}
    for plan in plans:
        assert pa.Table.from_batches([pa.record_batch(b) for b in plan]).equals(TABLE)


def test_statistics_by_any_number_of_threads(groups: pathlib.Path) -> None:
    found = [
        cst.open(groups, threads=n).accumulate("statistics", by=["c"], pairs=["*"]).to_pydict()
        for n in (1, 3)
    ]
    for name in ("slice", "path", "rows", "values", "mean", "std_dev", "distinct", "pairs"):
        assert found[0][name] == found[1][name]
    assert found[0]["rows"][0] == 1000


def test_early_stop_and_many_passes(groups: pathlib.Path) -> None:
    source = cst.open([groups, groups], batch_size=10, threads=3)
    first = iter(source)
    assert next(first)["a"].to_pylist() == list(range(10))
    first.close()
    with source:
        assert source.num_rows == 2000
        assert next(iter(source)).num_rows == 10
    assert pa.table(pickle.loads(pickle.dumps(cst.open(groups)))).equals(TABLE)


def damage(path: pathlib.Path, column: str) -> None:
    """Flips a bit in every page of the column."""
    metadata = pq.ParquetFile(path).metadata
    data = bytearray(path.read_bytes())
    for group in range(metadata.num_row_groups):
        for i in range(metadata.num_columns):
            chunk = metadata.row_group(group).column(i)
            if chunk.path_in_schema.split(".")[0] == column:
                end = (chunk.dictionary_page_offset or chunk.data_page_offset) + (
                    chunk.total_compressed_size
                )
                data[end - 1] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("threads", [1, 3])
def test_projection_reads_the_wanted_pages_only(groups: pathlib.Path, threads: int) -> None:
    damage(groups, "b")
    read = pa.table(cst.open(groups, columns=["c", "a"], threads=threads))
    assert read.equals(TABLE.select(["c", "a"]))
    source = cst.open(groups, columns=["b"], threads=threads)
    with pytest.raises(cst.errors.CorruptError) as caught:
        list(source)
    assert caught.value.file == str(groups)
    assert "groups.parquet" in str(caught.value)
    assert isinstance(source.last_error, cst.errors.CorruptError)
    with pytest.raises(Exception, match=r"groups\.parquet"):
        pa.table(source)


def test_columns_with_dots(tmp_path: pathlib.Path) -> None:
    table = pa.table({"x": [{"y": 1, "z": 2}], "x.y": [3], "x.z": [4]})
    path = tmp_path / "t.parquet"
    pq.write_table(table, path)
    for names in (["x"], ["x.y"], ["x.z", "x"], ["x", "x.y"], ["x.z", "x.y", "x"]):
        assert pa.table(cst.open(path, columns=names)).equals(table.select(names))


def test_no_columns(groups: pathlib.Path) -> None:
    for threads in (1, 3):
        batches = list(cst.open(groups, columns=[], threads=threads, batch_size=300))
        assert [b.num_rows for b in batches] == [300, 300, 300, 100]


def test_unknown_column(groups: pathlib.Path) -> None:
    with pytest.raises(cst.errors.NotFoundError, match="did you mean 'b'") as caught:
        cst.open(groups, columns=["a", "bb"])
    assert caught.value.path == "bb"


@pytest.mark.parametrize("format", [None, "parquet"])
def test_missing_file(tmp_path: pathlib.Path, format: str | None) -> None:
    with pytest.raises(cst.errors.NotFoundError):
        cst.open(tmp_path / "no.parquet", format)
    with pytest.raises(cst.errors.NotFoundError):
        cst.open(tmp_path / "*.parquet", format)


def test_file_that_goes_away(groups: pathlib.Path) -> None:
    source = cst.open(groups)
    groups.unlink()
    with pytest.raises(cst.errors.NotFoundError, match=r"groups\.parquet"):
        list(source)


def test_damaged_files(groups: pathlib.Path, tmp_path: pathlib.Path) -> None:
    data = groups.read_bytes()
    path = tmp_path / "d.parquet"
    for broken in (b"PAR1", data[:-1], data[:-20], b"PAR1" + data[:100], data[:4] + data[5000:]):
        path.write_bytes(broken)
        for threads in (1, 3):
            with pytest.raises(cst.errors.CorruptError, match=r"d\.parquet") as caught:
                list(cst.open(path, threads=threads))
            assert caught.value.file == str(path)
    path.write_bytes(b"no parquet at all")
    with pytest.raises(cst.errors.CorruptError):
        list(cst.open(path, "parquet"))


def test_no_rows(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "empty.parquet"
    with cst.Writer(path) as writer:
        writer.begin(TABLE.schema)
    assert pq.read_table(path).equals(TABLE.slice(0, 0))
    source = cst.open(path)
    assert list(source) == []
    assert source.column_names == ["a", "b", "c"]
    assert pa.table(source).equals(TABLE.slice(0, 0))
    assert source.empty_batch().num_rows == 0
    with pytest.raises(cst.errors.StateError), cst.Writer(tmp_path / "none.parquet"):
        pass
    assert [p.name for p in tmp_path.iterdir()] == ["empty.parquet"]


def test_what_is_written(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "t.parquet"
    assert cst.write(cst.open(TABLE, batch_size=10), path) == 1000
    metadata = pq.ParquetFile(path).metadata
    assert metadata.num_row_groups == 1  # batches are gathered
    chunk = metadata.row_group(0).column(0)
    assert chunk.compression == "ZSTD"
    assert chunk.statistics.min == 0 and chunk.statistics.max == 999
    assert pq.ParquetFile(path, page_checksum_verification=True).read().equals(TABLE)
    assert pl.read_parquet(path).to_arrow().to_pydict() == TABLE.to_pydict()
    assert duckdb.sql(f"select sum(a), count(b) from '{path}'").fetchall() == [(499500, 1000)]
    damage(path, "a")
    with pytest.raises(cst.errors.CorruptError):  # so there are checksums
        list(cst.open(path))


@pytest.mark.parametrize("other", ["polars", "duckdb"])
def test_files_of_others(tmp_path: pathlib.Path, other: str) -> None:
    path = tmp_path / "t.parquet"
    if other == "polars":
        pl.from_arrow(TABLE).write_parquet(path)  # type: ignore[union-attr]
    else:
        source = TABLE  # DuckDB finds it by its name
        duckdb.sql("select * from source").write_parquet(str(path))
        del source
    assert pa.table(cst.open(path)).to_pydict() == TABLE.to_pydict()


def test_compression(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "t.parquet"
    cst.write(TABLE, path, compression="none")
    assert pq.ParquetFile(path).metadata.row_group(0).column(0).compression == "UNCOMPRESSED"
    cst.write(TABLE, path, compression="zstd", level=19, overwrite=True)
    assert pa.table(cst.open(path)).equals(TABLE)
    with pytest.raises(cst.errors.ArgumentError, match="zstd"):
        cst.write(TABLE, path, compression="gzip", overwrite=True)
    assert pa.table(cst.open(path)).equals(TABLE)


def test_nothing_is_left_of_a_failure(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "t.parquet"
    path.write_bytes(b"old")
    with pytest.raises(ZeroDivisionError), cst.Writer(path) as writer:
        writer.write(TABLE)
        raise ZeroDivisionError
    assert writer.closed
    with pytest.raises(cst.errors.SchemaError), cst.Writer(path) as writer:
        writer.write(TABLE)
        writer.write(TABLE.select(["a"]))
    with pytest.raises(cst.errors.StateError):
        writer.write(TABLE)
    assert [p.name for p in tmp_path.iterdir()] == ["t.parquet"]
    assert path.read_bytes() == b"old"
    with pytest.raises(cst.errors.NotFoundError, match="nowhere"):
        cst.write(TABLE, tmp_path / "nowhere" / "t.parquet")


def test_data_frame(tmp_path: pathlib.Path) -> None:
    frame = pl.DataFrame({"a": [["x", "y"], None], "b": [{"c": "z"}, {"c": None}]})
    assert cst.write(frame, tmp_path / "t.parquet") == 2
    assert pl.read_parquet(tmp_path / "t.parquet").equals(frame)


def test_what_parquet_cannot_hold(tmp_path: pathlib.Path) -> None:
    table = pa.table({"ok": [1], "bad": pa.array([None], pa.month_day_nano_interval())})
    with pytest.raises(cst.errors.UnsupportedError, match="bad") as caught:
        cst.write(table, tmp_path / "t.parquet")
    assert caught.value.path == "bad"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "kind", [pa.struct([("x", pa.null())]), pa.list_(pa.null()), pa.list_(pa.null(), 2)], ids=str
)
def test_views_beside_nested_nulls(tmp_path: pathlib.Path, kind: pa.DataType) -> None:
    """Only the views are cast: pyarrow casts such nulls to what is invalid, even to their type."""
    value = {"x": None} if pa.types.is_struct(kind) else [None, None]
    columns = {
        "text": pa.array(["a", "b", "c"], pa.string_view()),
        "empty": pa.array([value] * 3, kind),
    }
    batch = pa.record_batch(columns).slice(1)
    cst.write(batch, tmp_path / "t.parquet")
    assert pa.table(cst.open(tmp_path / "t.parquet")).to_pylist() == batch.to_pylist()


def test_views_that_pyarrow_cannot_cast(tmp_path: pathlib.Path) -> None:
    """Nothing is said to be corrupt, and the column is named."""
    kind = pa.struct([("s", pa.string_view()), ("x", pa.list_(pa.null(), 2))])
    batch = pa.record_batch({"both": pa.array([{"s": "a", "x": [None, None]}] * 3, kind)})
    with pytest.raises(
        cst.errors.UnsupportedError, match=r"'both'.*cast the column to string or binary"
    ) as caught:
        cst.write(batch, tmp_path / "t.parquet")
    assert caught.value.path == "both"
    assert list(tmp_path.iterdir()) == []


def test_shards(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "t.parquet"
    assert cst.write(cst.open(TABLE, batch_size=100), path, num_shards=3) == 1000
    names = sorted(p.name for p in tmp_path.iterdir())
    assert names == [f"t-{i:05}-of-00003.parquet" for i in range(3)]
    read = pa.table(cst.open(tmp_path / "t-*.parquet"))
    assert sorted(read["a"].to_pylist()) == list(range(1000))
    for p in tmp_path.iterdir():
        p.unlink()
    big = pa.table({"a": range(3_000_000)})
    cst.write(cst.open(big, batch_size=500_000), path, shard_bytes=1_000_000, compression="none")
    assert len(list(tmp_path.iterdir())) >= 2
    assert pa.table(cst.open(tmp_path / "t-*.parquet")).equals(big)
    with pytest.raises(cst.errors.ArgumentError), cst.Writer(path, num_shards=2, shard_bytes=5):
        pass


def test_last_row_groups_of_shards_are_written_beside_each_other(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = threading.Barrier(2, timeout=60)
    begun: list[encoder.Encoder] = []
    encode = encoder.Encoder.encode

    def wait_and_encode(self: encoder.Encoder, *args: Any) -> Any:
        if self not in begun:  # the first columns of each shard
            begun.append(self)
            both.wait()
        return encode(self, *args)

    monkeypatch.setattr(encoder.Encoder, "encode", wait_and_encode)
    path = tmp_path / "t.parquet"
    assert cst.write(cst.open(TABLE, batch_size=100), path, num_shards=2, threads=2) == 1000
    assert sorted(pa.table(cst.open(tmp_path / "t-*.parquet"))["a"].to_pylist()) == list(
        range(1000)
    )


@pytest.mark.parametrize("num_shards", [None, 2])
def test_threads_write_the_same_bytes(tmp_path: pathlib.Path, num_shards: int | None) -> None:
    rows = pa.table({"a": range(50_000), "b": [["x", str(i)] for i in range(50_000)]})
    cst.write(rows, tmp_path / "in.arrow")
    found = []
    for threads in (1, 2, 3):
        folder = tmp_path / str(threads)
        folder.mkdir()
        cst.convert(
            tmp_path / "in.arrow", folder / "t.parquet", threads=threads, num_shards=num_shards
        )
        found.append([file.read_bytes() for file in sorted(folder.iterdir())])
    assert found[0] == found[1] == found[2]
    assert len(found[0]) == (num_shards or 1)


def test_dictionaries_are_chosen_by_the_first_values(tmp_path: pathlib.Path) -> None:
    many = range(200_000)
    rows = {
        "single": many,
        "repeated": [i % 1000 for i in many],
        "in": [{"single": [i], "repeated": f"{i % 1000}"} for i in many],
        "later": [i % 1000 if i < 20_000 else i for i in many],
        "few": [i if i % 20 == 0 else None for i in many],
    }
    cst.write(rows, tmp_path / "t.parquet", threads=2)
    file = pq.ParquetFile(tmp_path / "t.parquet")
    group = file.metadata.row_group(0)
    columns = [group.column(i) for i in range(group.num_columns)]
    assert [c.path_in_schema for c in columns if not c.has_dictionary_page] == [
        "single",
        "in.single.list.element",
    ]
    sizes = {c.path_in_schema: c.total_uncompressed_size for c in columns}
    assert sizes["repeated"] < 200_000 * 2
    assert sizes["later"] < 200_000 * 8 + (300 << 10)  # given up
    assert file.read().to_pydict() == {name: list(values) for name, values in rows.items()}


def test_shards_collect_together_as_much_as_one_file(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless there are so many that their row groups would be tiny."""
    monkeypatch.setattr(sink, "_GROUP_BYTES", 1 << 16)
    monkeypatch.setattr(sink, "_GROUP_LEAST", 1 << 14)
    table = pa.table({"n": range(64 << 10)})  # 1 << 19 bytes
    for num_shards, group_rows in ((1, 1 << 13), (2, 1 << 12), (16, 1 << 11)):
        batches = iter(table.to_batches(max_chunksize=1 << 8))
        cst.write(batches, tmp_path / "n.parquet", num_shards=num_shards)
        paths = list(tmp_path.glob("n*.parquet"))
        files = [pq.ParquetFile(path).metadata for path in paths]
        groups = [file.row_group(i).num_rows for file in files for i in range(file.num_row_groups)]
        assert len(files) == num_shards
        assert groups == [group_rows] * ((64 << 10) // group_rows)
        for path in paths:
            path.unlink()


@pytest.mark.parametrize("num_rows", [500, 5000])
def test_dictionaries_are_chosen_by_several_chunks(tmp_path: pathlib.Path, num_rows: int) -> None:
    """A chunk of 500 rows alone has too few values; large ones are not copied to be looked at."""
    table = pa.table({"differ": [b"%d" % i * 100 for i in range(5000)], "repeat": [7] * 5000})
    path = tmp_path / "n.parquet"
    cst.write(iter(table.to_batches(max_chunksize=num_rows)), path, threads=2)
    group = pq.ParquetFile(path).metadata.row_group(0)
    assert [group.column(i).has_dictionary_page for i in range(2)] == [False, True]
    assert pq.read_table(path).equals(table)


def test_columns_encoded_apart_are_one_file(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Structs are divided; every reader finds all columns in all row groups."""
    monkeypatch.setattr(sink, "_GROUP_BYTES", 1 << 18)
    monkeypatch.setattr(sink, "_GROUP_LEAST", 1 << 16)

    def one(i: int) -> dict[str, object]:
        inner = {"p": i % 7, "q": b"x%d" % i} if i % 5 else None
        struct = {"x": i, "y": [str(i), None] if i % 3 else None, "z": inner} if i % 11 else None
        lists = [[], None, [{"u": i, "v": None}, None], [{"u": None, "v": "w"}]]
        return {"a": i if i % 2 else None, "s": struct, "l": lists[i % 4], "m": [("k", i)]}

    z = pa.struct([("p", pa.int8()), ("q", pa.binary())])
    y = pa.large_list(pa.large_string())
    kinds = {
        "a": pa.int64(),
        "s": pa.struct([pa.field("x", pa.int64(), False), ("y", y), ("z", z)]),
        "l": pa.list_(pa.struct([("u", pa.int32()), ("v", pa.string())])),
        "m": pa.map_(pa.string(), pa.int64()),
    }
    table = pa.Table.from_pylist([one(i) for i in range(20_000)], pa.schema(kinds.items()))
    table = table.slice(3)
    paths = [tmp_path / f"{threads}.parquet" for threads in (1, 2, 5)]
    for threads, path in zip((1, 2, 5), paths, strict=True):
        batches = iter(table.to_batches(max_chunksize=700))
        cst.write(batches, path, threads=threads)
    assert len({path.read_bytes() for path in paths}) == 1
    path = paths[1]
    file = pq.ParquetFile(path, page_checksum_verification=True)
    groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
    assert len(groups) > 3
    assert [group.num_columns for group in groups] == [len(file.schema)] * len(groups)
    for group in groups:
        columns = [group.column(i) for i in range(group.num_columns)]
        assert sum(c.total_uncompressed_size for c in columns) == group.total_byte_size
    assert file.read().equals(table)
    assert file.read(columns=["s.z.q"])["s"][4].as_py()["z"] == {"q": b"x7"}
    assert pa.table(cst.open(path, threads=2, max_inflation=1 << 20)).equals(table)
    assert pl.read_parquet(path, columns=["a"]).to_arrow().column(0).equals(table["a"])
    found = duckdb.sql(f"select sum(s.x), count(s.z.q), sum(len(l)) from '{path}'").fetchall()
    structs = [row for row in table["s"].to_pylist() if row]
    assert found == [
        (
            sum(row["x"] for row in structs),
            sum(row["z"] is not None for row in structs),
            sum(len(row or ()) for row in table["l"].to_pylist()),
        )
    ]


def test_many_row_groups(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "t.parquet"
    rows = (1 << 20) + 5
    batch = pa.table({"a": pa.array(range(rows), pa.int32())})
    cst.write(cst.open(batch, batch_size=1 << 18), path)
    assert pq.ParquetFile(path).metadata.num_row_groups == 2
    assert pa.table(cst.open(path, threads=2)).equals(batch)


def test_file_objects(tmp_path: pathlib.Path) -> None:
    file = io.BytesIO()
    assert cst.write(TABLE, file, "parquet") == 1000
    assert not file.closed
    source = cst.open(file, "parquet", columns=["a"], batch_size=300)
    for _ in range(2):
        assert [b.num_rows for b in source] == [300, 300, 300, 100]
    assert not file.closed

    behind = io.BytesIO(b"a head" + file.getvalue())
    behind.seek(6)
    with pytest.raises(cst.errors.CorruptError, match="it must contain one Parquet file"):
        pa.table(cst.open(behind, "parquet"))

    class Pipe(io.RawIOBase):
        def readable(self) -> bool:
            return True

    with pytest.raises(cst.errors.UnsupportedError, match="seek"):
        cst.open(Pipe(), "parquet")


def test_passes_at_once_over_a_file_object(groups: pathlib.Path) -> None:
    source = cst.open(io.BytesIO(groups.read_bytes()), "parquet", batch_size=50)
    pairs = list(zip(source, source, strict=True))
    assert len(pairs) == 20
    assert all(x.to_pydict() == y.to_pydict() for x, y in pairs)
    with ThreadPoolExecutor(4) as pool:
        assert all(t.equals(TABLE) for t in pool.map(lambda _: pa.table(source), range(20)))


class Failing(io.BytesIO):
    """Raises after some bytes."""

    def __init__(self, error: Exception, data: bytes = b"") -> None:
        super().__init__(data)
        self.error = error

    def write(self, data: object) -> int:
        raise self.error

    def read(self, *size: int | None) -> bytes:
        raise self.error


@pytest.mark.parametrize("error", [OSError(28, "full"), ZeroDivisionError("x")])
def test_what_file_objects_raise(error: Exception) -> None:
    with pytest.raises(type(error)) as caught:
        cst.write(TABLE, Failing(error), "parquet")
    assert caught.value is error
    file = io.BytesIO()
    cst.write(TABLE, file, "parquet")
    with pytest.raises(type(error)):
        list(cst.open(Failing(error, file.getvalue()), "parquet"))


def test_without_pyarrow(groups: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow.parquet", None)
    for call in (
        lambda: list(cst.open(groups)),
        lambda: cst.Writer(groups.with_name("u.parquet")),
    ):
        attempt: Callable[[], object] = call
        with pytest.raises(cst.errors.UnsupportedError, match=r"'columnstone\[parquet\]'"):
            attempt()


def test_file_objects_that_give_little_at_a_time() -> None:
    class Short(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            return super().read(size if size is None or size < 0 else min(size, 7))

    out = io.BytesIO()
    table = pa.table({"a": list(range(100))})
    cst.write(table, out, "parquet")
    assert pa.table(cst.open(Short(out.getvalue()), "parquet")).equals(table)


def test_bytes_are_read_once_and_let_go() -> None:
    class Counts(io.BytesIO):
        count = 0

        def read(self, size: int | None = -1) -> bytes:
            data = super().read(size)
            self.count += len(data)
            return data

    out, groups, rows = io.BytesIO(), 8, 65_536
    with pq.ParquetWriter(out, pa.schema({"a": pa.int64(), "b": pa.int64()})) as writer:
        for seed in range(groups):
            numbers = np.random.default_rng(seed).integers(2**62, size=(2, rows))
            writer.write_table(pa.table({"a": numbers[0], "b": numbers[1]}))
    size = len(out.getvalue())
    file = Counts(out.getvalue())
    tracemalloc.start()
    try:
        assert sum(batch.num_rows for batch in cst.open(file, "parquet")) == groups * rows
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert file.count < size * 1.1
    assert peak < size / 2  # a row group is an eighth


def test_file_objects_that_take_little_at_a_time() -> None:
    class Slow(io.BytesIO):
        def write(self, data: Any) -> int:
            return super().write(memoryview(data)[:7])

    rows = [{"id": i} for i in range(300)]
    slow, whole = Slow(), io.BytesIO()
    cst.write(rows, slow, format="parquet")
    cst.write(rows, whole, format="parquet")
    assert slow.getvalue() == whole.getvalue()


@pytest.mark.parametrize("answer", [None, bytes(100)])
def test_file_objects_that_lie(answer: bytes | None) -> None:
    class Lies(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            return answer  # type: ignore[return-value]

    out = io.BytesIO()
    cst.write(pa.table({"a": [1]}), out, "parquet")
    with pytest.raises(cst.Error, match=r"non-blocking|returned 100 bytes"):
        _ = cst.open(Lies(out.getvalue()), "parquet").arrow_schema


def test_the_short_ending_is_parquet_as_well(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "t.pq"
    assert cst.write({"a": [1, 2]}, path) == 2
    assert pq.read_table(path)["a"].to_pylist() == [1, 2]


@pytest.mark.parametrize("threads", [1, 2])
def test_what_nobody_can_read_is_not_written(tmp_path: pathlib.Path, threads: int) -> None:
    """pyarrow writes it without a word."""
    pair = pa.list_(pa.int64(), 2)
    strict = pa.struct([pa.field("x", pair, nullable=False)])
    path = tmp_path / "a.parquet"
    bad = {
        "two columns": pa.table([[1], [2]], names=["a", "a"]),
        "size 0": pa.table({"a": pa.array([[]], pa.list_(pa.int64(), 0))}),
        "null struct": pa.table({"a": pa.array([{"x": [1, 2]}, None], strict)}),
        r"null struct with": pa.table({"a": [pa.scalar([{"x": [1, 2]}, None], pa.list_(strict))]}),
    }
    for text, table in bad.items():
        with pytest.raises(cst.errors.UnsupportedError, match=text) as caught:
            cst.write(table, path, threads=threads)
        assert str(caught.value.path).startswith("a")
        assert list(tmp_path.iterdir()) == []
    good = pa.table(
        {"a": pa.array([[1, 2], None], pair), "b": pa.array([{"x": [1, 2]}] * 2, strict)}
    )
    cst.write(good, path, threads=threads)
    assert pa.table(cst.open(path)).to_pylist() == good.to_pylist()
