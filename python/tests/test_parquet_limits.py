"""Parquet files of a few bytes that stand for very much: max_inflation and max_record_size."""

from __future__ import annotations

import io
import pathlib
import struct

import columnstone as cst
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from columnstone._formats.parquet import thrift

MANY = 12_000_000  # int64: 96 MB
LARGE = "x" * 3_000_000

ONE_LIST = pa.LargeListArray.from_arrays([0, MANY], pa.repeat(7, MANY))
ONE_TEXT = pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(0, pa.int32()), 100), [LARGE])

BOMBS = {
    "values of one list": ({"a": ONE_LIST}, {}),
    "values of many rows": ({"a": pa.repeat(7, MANY)}, {}),
    "a large text again and again": ({"a": ONE_TEXT}, {"dictionary_pagesize_limit": 1 << 30}),
    "the same in one list": (
        {"a": pa.ListArray.from_arrays([0, 100], ONE_TEXT)},
        {"dictionary_pagesize_limit": 1 << 30},
    ),
    "texts that share a beginning": (
        {"a": pa.array([LARGE + str(i) for i in range(40)])},
        {"use_dictionary": False, "column_encoding": {"a": "DELTA_BYTE_ARRAY"}},
    ),
    "a page": (
        {"a": pa.array([b"\0" * 80_000_000])},
        {"use_dictionary": False, "compression": "zstd"},
    ),
    "pages of many columns": (
        {f"c{i}": pa.array([b"\0" * 8_000_000]) for i in range(10)},
        {"use_dictionary": False, "compression": "zstd"},
    ),
}


def write_bomb(path: pathlib.Path, name: str) -> int:
    columns, options = BOMBS[name]
    table = pa.table(columns)
    pq.write_table(table, path, **options)
    assert path.stat().st_size < 300_000
    return table.num_rows


@pytest.mark.parametrize("name", BOMBS)
@pytest.mark.parametrize("threads", [1, 3])
def test_what_a_file_may_become(tmp_path: pathlib.Path, name: str, threads: int) -> None:
    path = tmp_path / "a.parquet"
    rows = write_bomb(path, name)
    with pytest.raises(
        cst.errors.LimitError, match=r"more than 200 times as much|stands for"
    ) as caught:
        list(cst.open(path, threads=threads))
    assert caught.value.file == str(path)
    source = cst.open(path, threads=threads, max_inflation=10**7)
    if "again" not in name and "same" not in name:  # dictionaries have a limit of their own
        assert sum(batch.num_rows for batch in source) == rows


def test_a_file_object_and_a_url(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.parquet"
    write_bomb(path, "values of one list")
    with pytest.raises(cst.errors.LimitError, match="column 'a"):
        list(cst.open(io.BytesIO(path.read_bytes()), "parquet"))
    with pytest.raises(cst.errors.LimitError, match="column 'a"):
        list(cst.open(path.as_uri()))


def test_batches_are_smaller_where_rows_may_be_large(tmp_path: pathlib.Path) -> None:
    """A dictionary that could fill memory, and does not."""
    path = tmp_path / "a.parquet"
    texts = [*(str(i) for i in range(9000)), "x" * 900_000]
    pq.write_table(pa.table({"a": texts}), path)
    got = pa.table(cst.open(path, batch_size=5000))
    assert got["a"].to_pylist() == texts


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("outlier", [[], ["x" * 900_000]])
def test_lists_of_different_texts(tmp_path: pathlib.Path, threads: int, outlier: list[str]) -> None:
    """Each list might hold the largest text of the dictionary, or all of it, and none does."""
    path = tmp_path / "a.parquet"
    lists = [[str(i), None, f"{i}a"] for i in range(9000)] + [outlier, [], None]
    table = pa.table({
        "a": pa.array(lists, pa.list_(pa.string())),
        "b": pa.array([[{"c": [(x, x) for x in row or [] if x]}] for row in lists],
                      pa.list_(pa.struct({"c": pa.map_(pa.string(), pa.binary())}))),
    })  # fmt: skip
    pq.write_table(table, path, row_group_size=5000)
    got = pa.table(cst.open(path, threads=threads))
    assert got.to_pydict() == table.to_pydict()


def test_rows_that_take_nothing(tmp_path: pathlib.Path) -> None:
    """The footer says more rows than a file of its size has."""
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": pa.nulls(1000, pa.int64())}), path)
    data = path.read_bytes()
    varint = b"\xd0\x0f"  # 1000, as Thrift has it
    assert data.count(b"\x16" + varint) >= 2
    many = b"\x80\x80\x80\x80\x80\x80\x01"
    footer = data[:-8].replace(b"\x16" + varint, b"\x16" + many)
    size = struct.unpack("<I", data[-8:-4])[0] + len(footer) - len(data[:-8])
    path.write_bytes(footer + struct.pack("<I", size) + b"PAR1")
    with pytest.raises(cst.Error):
        cst.open(path)
        list(cst.open(path))


@pytest.mark.parametrize("format", ["parquet", "arrow"])
def test_a_row_that_is_too_large(tmp_path: pathlib.Path, format: str) -> None:
    path = tmp_path / f"a.{format}"
    cst.write(pa.table({"a": [[b"x"], [b"y" * 2000, b"z" * 2000], []]}), path)
    assert sum(b.num_rows for b in cst.open(path, max_record_size=4100)) == 3
    with pytest.raises(cst.errors.LimitError, match="row of 40") as caught:
        list(cst.open(path, max_record_size=3000))
    assert "max_record_size" in str(caught.value.hint)


def test_views_of_one_text(tmp_path: pathlib.Path) -> None:
    """1.4 MB of views in Arrow IPC that stand for 3 GB."""
    path = tmp_path / "a.arrow"
    entry = struct.pack("<i4sii", len(LARGE), LARGE[:4].encode(), 0, 0)
    buffers = [None, pa.py_buffer(entry * 1000), pa.py_buffer(LARGE.encode())]
    views = pa.Array.from_buffers(pa.string_view(), 1000, buffers)
    with pa.ipc.new_file(path, pa.schema({"a": pa.string_view()})) as file:
        file.write(pa.record_batch({"a": views}))
    assert path.stat().st_size < 4_000_000
    with pytest.raises(cst.errors.LimitError, match="3000"):
        list(cst.open(path))
    assert sum(b.num_rows for b in cst.open(path, max_inflation=1000)) == 1000


def test_compressed_arrow(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.arrow"
    table = pa.table({"a": pa.repeat(0, MANY)})
    with pa.ipc.new_file(
        path, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")
    ) as file:
        file.write_table(table)
    with pytest.raises(cst.errors.LimitError) as caught:
        list(cst.open(path))
    assert "max_inflation" in str(caught.value.hint)
    assert sum(b.num_rows for b in cst.open(path, max_inflation=10**6)) == MANY


def test_a_field_that_comes_again_hides_no_number() -> None:
    """A number, then an empty string under the same field."""
    fields, end = thrift.read(b"\x15\x0a\x08\x02\x00\x00")
    assert (thrift.numbers_and_structs(fields), end) == ({1: 5}, 6)
