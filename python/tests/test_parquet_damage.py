"""Damaged Parquet files: rows are never lost in silence."""

from __future__ import annotations

import io
import os
import pathlib

import columnstone as cst
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

# Some minutes: every bit of all the files, with threads and without.
ALL_BITS = bool(os.environ.get("COLUMNSTONE_LONG"))

ROWS = pa.table(
    {
        "i": pa.array([1, None, 3, 4, 5, 6, 7]),
        "l": pa.array([[1, 2], [], None, [3], [None, 5], [6], [7, 8, 9]]),
        "m": pa.array(
            [[("k", 1)], None, [], [("a", 2), ("b", None)], [], [], []],
            pa.map_(pa.string(), pa.int64()),
        ),
        "s": pa.array([{"x": [[1], []]}, None, {"x": None}, {"x": []}, {"x": [None]}, None, None]),
        "d": pa.array(["a", "b", "a", None, "b", "a", "b"]).dictionary_encode(),
    }
)


def written(table: pa.Table, **options: object) -> bytes:
    file = io.BytesIO()
    pq.write_table(table, file, **options)
    return file.getvalue()


def own(table: pa.Table) -> bytes:
    file = io.BytesIO()
    cst.write(table, file, "parquet")
    return file.getvalue()


def footer_begins(data: bytes) -> int:
    return len(data) - 8 - int.from_bytes(data[-8:-4], "little")


def flips(data: bytes) -> range:
    """The bits to try: those of the first page's header, or all of the file."""
    return range(8 * (len(data) if ALL_BITS else 24))


def read(path: pathlib.Path, threads: int) -> pa.Table | None:
    """None if the file is refused, in the right way."""
    try:
        source = cst.open(path, "parquet", threads=threads)
        return pa.Table.from_batches([pa.record_batch(b) for b in source])
    except (cst.errors.CorruptError, cst.errors.UnsupportedError) as error:
        assert error.file == str(path)
        return None
    except ValueError:  # no batches at all
        return ROWS.slice(0, 0)


FILES = {
    "own": own(ROWS),
    "checksums": written(ROWS, row_group_size=3, write_page_checksum=True),
    "version 2": written(ROWS, data_page_version="2.0", write_page_checksum=True),
    "bare": written(ROWS, row_group_size=3, compression="none", use_dictionary=False),
}


@pytest.mark.parametrize("name", FILES)
def test_every_bit(tmp_path: pathlib.Path, name: str) -> None:
    data = FILES[name]
    path = tmp_path / "t.parquet"
    path.write_bytes(data)
    whole = read(path, 1)
    assert whole is not None
    for bit in flips(data):
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        for threads in (1, 2) if ALL_BITS else (1 + bit % 2,):
            table = read(path, threads)
            if table is None:
                continue
            assert table.num_rows == ROWS.num_rows, bit
            # Without checksums values may differ, and those of nested columns even in number. What
            # the footer says of the columns' nesting has none in any file.
            if name != "bare" and bit < 8 * footer_begins(data):
                assert table.equals(whole), bit


@pytest.mark.parametrize("threads", [1, 3])
def test_a_lost_row_group(tmp_path: pathlib.Path, threads: int) -> None:
    data = bytearray(written(pa.table({"a": range(300)}), row_group_size=100))
    data[5] ^= 2  # the page is of a kind that readers pass over
    path = tmp_path / "t.parquet"
    path.write_bytes(data)
    source = cst.open(path, threads=threads)
    with pytest.raises(cst.errors.CorruptError, match="row group 0, column 'a'") as caught:
        list(source)
    assert (caught.value.file, caught.value.record, caught.value.path) == (str(path), 0, "a")
    with pytest.raises(cst.errors.CorruptError):
        _ = source.num_rows
    with pytest.raises(cst.errors.CorruptError):
        source.verify()


def pages_of(data: bytes, group: int, column: int) -> range:
    chunk = pq.ParquetFile(io.BytesIO(data)).metadata.row_group(group).column(column)
    begin = chunk.dictionary_page_offset or chunk.data_page_offset
    return range(begin, begin + chunk.total_compressed_size)


@pytest.mark.parametrize("threads", [1, 3])
def test_the_damaged_column_is_named(tmp_path: pathlib.Path, threads: int) -> None:
    table = pa.table({"a": range(300), "b": range(300), "c": range(300)})
    data = bytearray(written(table, row_group_size=100, write_page_checksum=True))
    data[pages_of(data, 1, 1)[-1]] ^= 1
    path = tmp_path / "t.parquet"
    path.write_bytes(data)
    with pytest.raises(
        cst.errors.CorruptError, match=r"row group 1, column 'b': .*checksum"
    ) as caught:
        list(cst.open(path, threads=threads))
    assert (caught.value.record, caught.value.path) == (100, "b")
    assert pa.table(cst.open(path, columns=["c", "a"])).num_rows == 300


def test_lost_values_of_one_row(tmp_path: pathlib.Path) -> None:
    """A page in the middle of a list that goes over several: no row is missing, values are."""
    table = pa.table({"a": [[b"x" * 100] * 1000]})
    options = {"compression": "none", "use_dictionary": False, "data_page_size": 20000}
    data = written(table, write_batch_size=100, **options)
    path = tmp_path / "t.parquet"
    lost = 0
    for at in pages_of(data, 0, 0):
        if data[at : at + 2] == b"\x15\x00" and data[at + 2] == 0x15:  # the header of a data page
            damaged = bytearray(data)
            damaged[at + 1] ^= 2
            path.write_bytes(damaged)
            with pytest.raises(cst.errors.CorruptError, match="column 'a'"):
                list(cst.open(path))
            lost += 1
    assert lost >= 2


def test_a_footer_whose_row_counts_disagree(tmp_path: pathlib.Path) -> None:
    data = bytearray(own(pa.table({"a": range(1000)})))
    path = tmp_path / "t.parquet"
    found = 0
    for at in range(footer_begins(data), len(data) - 8):
        if data[at : at + 2] == b"\xd0\x0f":  # 1000, as a zigzag varint
            damaged = bytearray(data)
            damaged[at] ^= 2
            path.write_bytes(damaged)
            table = read(path, 1)
            assert table is None or table.num_rows == 1000
            found += table is None
    assert found >= 3  # of the file, the row group, the values


def test_a_column_whose_name_is_no_text(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "t.parquet"
    path.write_bytes(own(pa.table({"abcd": [1]})).replace(b"abcd", b"ab\xffd"))
    with pytest.raises(cst.errors.CorruptError, match="UTF-8") as caught:
        list(cst.open(path))
    assert caught.value.file == str(path)
    assert caught.value.hint
