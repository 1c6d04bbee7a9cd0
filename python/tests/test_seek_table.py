"""Restart points of zstd files: frames and tables of others, and what readers make of ours."""

from __future__ import annotations

import gzip
import io
import itertools
import pathlib
import random
import struct
from typing import Any

import columnstone as cst
import pyarrow as pa
import pytest
from conftest import SCHEMA, records
from hypothesis import given
from hypothesis import strategies as st

RAW = records(60)


def framed(content: list[bytes]) -> bytes:
    """TFRecords, as our writer makes them."""
    out = io.BytesIO()
    with cst.codec.TFRecordWriter(out) as writer:
        for record in content:
            writer.write(record)
    return out.getvalue()


PLAIN = framed(RAW)


def seekable(data: bytes, sizes: list[int], sums: bool = False) -> tuple[bytes, list[int]]:
    """Frames of these sizes of content (the last takes the rest), and the table after them, by the
    words of the format; and where each frame begins in the file."""
    codec = pa.Codec("zstd")
    packed, entries, begins = b"", b"", []
    for size in [*sizes, len(data)]:
        piece, data = data[:size], data[size:]
        frame = codec.compress(piece, asbytes=True)
        begins.append(len(packed))
        packed += frame
        entries += struct.pack("<II", len(frame), len(piece)) + b"sums" * sums
    foot = struct.pack("<IBI", len(begins), 0x80 * sums, 0x8F92EAB1)
    head = struct.pack("<II", 0x184D2A5E, len(entries) + len(foot))
    return packed + head + entries + foot, begins


def read(path: pathlib.Path, cuts: list[int], threads: int = 1, **options: Any) -> list[bytes]:
    places = [0, *sorted(cuts), path.stat().st_size]
    found: list[bytes] = []
    for begin, end in itertools.pairwise(places):
        split = cst.source.Split(str(path), begin, end)
        for batch in cst.open(split, "raw", threads=threads, batch_size=7, **options):
            found += batch.to_pydict()["record"]
    return found


@given(
    sizes=st.lists(st.integers(0, 700), max_size=20),
    sums=st.booleans(),
    places=st.lists(st.floats(0, 1), max_size=4),
    threads=st.sampled_from([1, 2]),
)
def test_splits_at_any_place(
    tmp_path_factory: pytest.TempPathFactory,
    sizes: list[int],
    sums: bool,
    places: list[float],
    threads: int,
) -> None:
    path = tmp_path_factory.mktemp("splits") / "x.tfrecord.zst"
    data, begins = seekable(PLAIN, sizes, sums)
    path.write_bytes(data)
    cuts = [int(place * len(data)) for place in places]
    assert read(path, cuts, threads) == RAW
    assert read(path, begins[1:], threads) == RAW


@given(
    sizes=st.lists(st.integers(1, 700), min_size=2, max_size=12),
    changes=st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), min_size=1, max_size=3),
    skip=st.booleans(),
)
def test_damaged_tables(
    tmp_path_factory: pytest.TempPathFactory,
    sizes: list[int],
    changes: list[tuple[int, int]],
    skip: bool,
) -> None:
    path = tmp_path_factory.mktemp("damaged") / "x.tfrecord.zst"
    data, begins = seekable(PLAIN, sizes)
    damaged = bytearray(data)
    table = len(data) - (17 + 8 * len(begins))
    for place, value in changes:
        damaged[table + place % (len(data) - table)] = value
    path.write_bytes(damaged)
    try:
        found = read(path, [len(data) // 3, len(data) // 2], on_error="skip" if skip else "raise")
    except cst.Error:
        return
    assert found == RAW


def test_split_plan_columns_and_offsets(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "x.tfrecord.zst"
    path.write_bytes(seekable(PLAIN, [500] * 9)[0])
    size = path.stat().st_size
    splits = cst.plan(str(path), target_bytes=size // 4)
    assert len(splits) > 3
    options: dict[str, Any] = {"schema": SCHEMA, "columns": ["id"], "offset_column": "at"}
    parts = [pa.table(cst.open(split, **options)) for split in splits]
    assert sum(part.num_rows > 0 for part in parts) > 2
    whole = pa.table(cst.open(path, **options))
    assert pa.concat_tables(parts).equals(whole)
    assert pa.table(cst.open(splits, threads=2, **options)).equals(whole)
    source = cst.open(path, **options)
    pieces = [pa.table(source.split(i, 3)) for i in range(3)]
    assert pa.concat_tables(pieces).equals(whole)
    assert all(piece.num_rows > 0 for piece in pieces)


def test_lines_are_divided(tmp_path: pathlib.Path) -> None:
    lines = [b"line %d" % i * (i % 7) for i in range(100)]
    path = tmp_path / "x.txt.zst"
    data, begins = seekable(b"\n".join(lines) + b"\n", [90] * 12)
    path.write_bytes(data)
    assert read(path, begins[1:], container="lines") == lines


def test_ours_are_read_by_others(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "x.tfrecord.zst"
    record = bytes(range(256)) * 100
    with cst.codec.TFRecordWriter(path, level=1) as writer:
        for i in range(400):  # 10 MB: three frames
            writer.write(b"%d" % i + record)
    data = path.read_bytes()
    assert struct.unpack("<IBI", data[-9:]) == (3, 0, 0x8F92EAB1)
    plain = framed([b"%d" % i + record for i in range(400)])
    assert pa.CompressedInputStream(pa.BufferReader(data), "zstd").read() == plain
    assert pa.decompress(data, len(plain), "zstd", asbytes=True) == plain
    cuts = [len(data) // 3, len(data) // 2]
    assert read(path, cuts) == read(path, []) == [b"%d" % i + record for i in range(400)]


def test_verifying_in_parts_counts_the_same(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "x.tfrecord.zst"
    noise = random.Random(1).randbytes
    with cst.codec.TFRecordWriter(path, level=1) as writer:
        for _ in range(100):
            writer.write(noise(100_000))  # 10 MB on disk: verified in parts
    one, two = (cst.open(path, "raw", threads=n).verify() for n in (1, 2))
    assert not one.faults and one.files == two.files
    assert one.files[0].file_bytes == path.stat().st_size
    data = bytearray(path.read_bytes())
    data[5_000_000] ^= 1
    path.write_bytes(data)
    one, two = (cst.open(path, "raw", threads=n).verify() for n in (1, 2))
    assert one.faults == two.faults != []
    assert one.files == two.files


def test_what_has_no_restart_points(tmp_path: pathlib.Path) -> None:
    data, _ = seekable(PLAIN, [500] * 9)
    cases = {
        "two.zst": data + data,
        "cut.zst": data[: -17 - 8 * 10],
        "gzip.gz": gzip.compress(PLAIN),
    }
    for name, content in cases.items():
        path = tmp_path / name
        path.write_bytes(content)
        assert read(path, [len(content) // 2]) == (RAW * 2 if name == "two.zst" else RAW)
        begin = cst.source.Split(str(path), 0, 1)
        assert sum(b.num_rows for b in cst.open(begin, "raw")) == 60 * (1 + (name == "two.zst"))
    reader = cst.open(io.BytesIO(data), "raw")
    assert sum(batch.num_rows for batch in reader) == 60
