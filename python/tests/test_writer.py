"""TFRecordWriter: files and file objects, compression, and that no half file is left."""

from __future__ import annotations

import gc
import gzip
import io
import os
import pathlib
import sys
import zlib
from collections.abc import Iterator

import columnstone as cst
import pyarrow as pa
import pytest
from conftest import records

RECORDS = [b"", b"x", bytes(100_000), *records(50)]


def raw(path: object) -> list[bytes]:
    return [r for b in cst.open(path, format="raw") for r in b["record"].to_pylist()]


@pytest.mark.parametrize("compression", [None, "none", "gzip", "zlib", "zstd"])
def test_round_trip(tmp_path: pathlib.Path, compression: str | None) -> None:
    path = tmp_path / "out"
    with cst.codec.TFRecordWriter(path, compression=compression) as writer:
        for record in RECORDS[:3]:
            writer.write(record)
        writer.write_batch(pa.array(RECORDS[3:10], pa.binary()))
        writer.write_batch(pa.array(RECORDS[10:20], pa.large_binary()).slice(0, 5))
        writer.write_batch(pa.array(RECORDS[15:], pa.binary_view()))
        writer.write_batch(pa.array([], pa.binary()))
        assert not path.exists()
    assert raw(path) == RECORDS
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize(
    ("name", "magic"),
    [("a.gz", b"\x1f\x8b"), ("a.zlib", b"\x78"), ("a.zz", b"\x78"), ("a.zst", b"\x28\xb5\x2f\xfd")],
)
def test_compression_by_name(tmp_path: pathlib.Path, name: str, magic: bytes) -> None:
    with cst.codec.TFRecordWriter(str(tmp_path / name)) as writer:
        writer.write(b"x")
    assert (tmp_path / name).read_bytes().startswith(magic)
    with cst.codec.TFRecordWriter(tmp_path / name, compression="none") as writer:
        writer.write(b"x")
    assert len((tmp_path / name).read_bytes()) == 17


def test_others_read_what_we_write(tmp_path: pathlib.Path) -> None:
    files = {}
    for name in ("plain", "a.gz", "a.zlib"):
        with cst.codec.TFRecordWriter(tmp_path / name) as writer:
            writer.write_batch(pa.array(RECORDS))
        files[name] = (tmp_path / name).read_bytes()
    assert gzip.decompress(files["a.gz"]) == zlib.decompress(files["a.zlib"]) == files["plain"]


def test_level(tmp_path: pathlib.Path) -> None:
    for level in (1, 3):
        with cst.codec.TFRecordWriter(tmp_path / "a.zst", level=level) as writer:
            writer.write_batch(pa.array(RECORDS))
        assert raw(tmp_path / "a.zst") == RECORDS


@pytest.mark.parametrize("record", [b"abc", bytearray(b"abc"), memoryview(b"abc")])
def test_buffers(tmp_path: pathlib.Path, record: bytes) -> None:
    with cst.codec.TFRecordWriter(tmp_path / "out") as writer:
        writer.write(record)
    assert raw(tmp_path / "out") == [b"abc"]


def test_an_exception_leaves_no_file(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "out.gz"
    for error in (RuntimeError, KeyboardInterrupt):
        with pytest.raises(error), cst.codec.TFRecordWriter(path) as writer:
            writer.write_batch(pa.array(RECORDS))
            raise error
    assert os.listdir(tmp_path) == []
    assert writer.closed


def test_an_old_file_stays_until_the_new_one_is_complete(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"old")
    writer = cst.codec.TFRecordWriter(path)
    writer.write(b"new")
    assert path.read_bytes() == b"old"
    writer.abort()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["out"]


def test_a_forgotten_writer_leaves_no_file(tmp_path: pathlib.Path) -> None:
    writer = cst.codec.TFRecordWriter(tmp_path / "out")
    writer.write(b"x")
    del writer
    gc.collect()
    assert os.listdir(tmp_path) == []


def test_closed(tmp_path: pathlib.Path) -> None:
    writer = cst.codec.TFRecordWriter(tmp_path / "out")
    assert not writer.closed
    writer.close()
    writer.close()
    writer.abort()
    assert writer.closed
    assert "closed" in repr(writer)
    assert raw(tmp_path / "out") == []
    for use in (lambda: writer.write(b""), lambda: writer.write_batch(pa.array([b""]))):
        with pytest.raises(cst.errors.StateError):
            use()


def test_wrong_records(tmp_path: pathlib.Path) -> None:
    with cst.codec.TFRecordWriter(tmp_path / "out") as writer:
        for wrong in (None, "text", 5, [b"x"]):
            with pytest.raises(TypeError):
                writer.write(wrong)  # type: ignore[arg-type]
        for array in (pa.array([1]), pa.array([b"x", None])):
            with pytest.raises(cst.Error):
                writer.write_batch(array)
        writer.write(b"good")
    assert raw(tmp_path / "out") == [b"good"]


def test_wrong_arguments(tmp_path: pathlib.Path) -> None:
    with pytest.raises(cst.errors.ArgumentError, match="gzip"):
        cst.codec.TFRecordWriter(tmp_path / "out", compression="bz2")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        cst.codec.TFRecordWriter(5)  # type: ignore[arg-type]
    with pytest.raises(cst.errors.ArgumentError, match="text mode"):
        cst.codec.TFRecordWriter(io.StringIO())  # type: ignore[arg-type]
    with pytest.raises(OSError, match="out"):
        cst.codec.TFRecordWriter(tmp_path / "no" / "such" / "folder" / "out")


# File objects


class Sink:
    """Takes at most 1000 bytes at a time."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.flushed = 0

    def write(self, data: bytes) -> int:
        self.data += data[:1000]
        return min(len(data), 1000)

    def flush(self) -> None:
        self.flushed += 1


def test_file_objects(tmp_path: pathlib.Path) -> None:
    sink = Sink()
    memory = io.BytesIO()
    with open(tmp_path / "a", "wb") as file:
        for target in (sink, memory, file):
            with cst.codec.TFRecordWriter(target) as writer:
                writer.write_batch(pa.array(RECORDS))
    assert sink.flushed == 1
    assert bytes(sink.data) == memory.getvalue() == (tmp_path / "a").read_bytes()
    assert raw(tmp_path / "a") == RECORDS
    memory = io.BytesIO()
    with cst.codec.TFRecordWriter(memory, compression="gzip") as writer:
        writer.write(b"x")
    assert gzip.decompress(memory.getvalue())


def test_an_exception_of_the_file_object_comes_out() -> None:
    class Full:
        def write(self, data: bytes) -> int:
            raise BlockingIOError(11, "the disk is full")

    with (
        pytest.raises(BlockingIOError, match="the disk is full"),
        cst.codec.TFRecordWriter(Full()) as w,
    ):
        for _ in range(100):
            w.write(bytes(1_000_000))


@pytest.mark.parametrize("answer", [0, -1, 10**9, "x"])
def test_a_file_object_that_lies(answer: object) -> None:
    class Liar:
        def write(self, data: bytes) -> object:
            return answer

    with pytest.raises((OSError, TypeError)), cst.codec.TFRecordWriter(Liar()) as writer:  # type: ignore[arg-type]
        writer.write(b"x")


def test_standard_output(tmp_path: pathlib.Path) -> None:
    import subprocess

    code = "import columnstone as c\nwith c.codec.TFRecordWriter('-') as w: w.write(b'abc')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    path = tmp_path / "a"
    path.write_bytes(done.stdout)
    assert raw(path) == [b"abc"]


def test_write_batch_takes_what_holds_one_binary_column(tmp_path: pathlib.Path) -> None:
    column = pa.array(RECORDS[:4], pa.binary())
    batch = pa.record_batch({"record": column})
    table = pa.table({"record": pa.chunked_array([column, column.slice(1, 2)])})
    with cst.codec.TFRecordWriter(tmp_path / "in") as writer:
        writer.write_batch(batch)
        writer.write_batch(batch.slice(1, 2))
        writer.write_batch(table)
        writer.write_batch(pa.chunked_array([column]))
    expected = RECORDS[:4] + RECORDS[1:3] + RECORDS[:4] + RECORDS[1:3] + RECORDS[:4]
    assert raw(tmp_path / "in") == expected
    with cst.codec.TFRecordWriter(tmp_path / "out") as writer:
        source = cst.open(tmp_path / "in", format="raw", batch_size=3)
        writer.write_batch(source)
        writer.write_batch(next(iter(source)))
    assert raw(tmp_path / "out") == expected + expected[:3]


def test_write_batch_says_what_it_takes(tmp_path: pathlib.Path) -> None:
    with cst.codec.TFRecordWriter(tmp_path / "out") as writer:
        for wrong in ([b"x"], b"x", 5, None):
            with pytest.raises(TypeError, match=r"write_batch.*binary column"):
                writer.write_batch(wrong)  # type: ignore[arg-type]
        for two in (pa.record_batch({"a": [b""], "b": [b""]}), pa.table({"a": [b""], "b": [b""]})):
            with pytest.raises(cst.errors.ArgumentError, match="2 columns") as caught:
                writer.write_batch(two)
            assert caught.value.hint


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_a_file_that_has_come_meanwhile_stays(tmp_path: pathlib.Path, ending: str) -> None:
    path = tmp_path / f"out.{ending}"

    def batches() -> Iterator[cst.RecordBatch]:
        yield cst.record_batch([{"a": 1}])
        path.write_text("somebody else's")

    with pytest.raises(cst.errors.FileError, match="the output exists"):
        cst.write(batches(), path)
    assert path.read_text() == "somebody else's"
    assert os.listdir(tmp_path) == [path.name]
    assert cst.write(batches(), path, overwrite=True) == 1


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_shards_take_all_names_or_none(tmp_path: pathlib.Path, ending: str) -> None:
    taken = tmp_path / f"out-00001-of-00002.{ending}"

    def batches() -> Iterator[cst.RecordBatch]:
        yield cst.record_batch([{"a": 1}])
        taken.write_text("somebody else's")

    with pytest.raises(cst.errors.FileError, match="the output exists"):
        cst.write(batches(), tmp_path / f"out.{ending}", num_shards=2)
    assert os.listdir(tmp_path) == [taken.name]


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_links_that_lead_nowhere_are_not_followed(tmp_path: pathlib.Path, ending: str) -> None:
    link = tmp_path / f"link.{ending}"
    link.symlink_to("elsewhere")
    with pytest.raises(cst.errors.FileError, match="the output exists"):
        cst.write([{"a": 1}], link)
    assert os.listdir(tmp_path) == [link.name]
    cst.write([{"a": 1}], link, overwrite=True)
    assert sorted(os.listdir(tmp_path)) == ["elsewhere", link.name]


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_permissions_stay_from_the_beginning(tmp_path: pathlib.Path, ending: str) -> None:
    path = tmp_path / f"out.{ending}"
    path.touch(0o600)
    mask = os.umask(0)
    try:
        with cst.Writer(path) as writer:
            writer.write([{"a": 1}])
            assert {p.stat().st_mode & 0o777 for p in tmp_path.iterdir()} == {0o600}
    finally:
        os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o600
