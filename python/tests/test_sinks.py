"""Writer and write: record batches to files of every format."""

from __future__ import annotations

import gc
import io
import json
import pathlib
import sys
import weakref
from collections.abc import Iterator

import columnstone as cst
import polars as pl
import pyarrow as pa
import pyarrow.ipc
import pytest
from conftest import SCHEMA, MakeFile, records

TABLE = pa.table(
    {"a": pa.array([1, 2, 3], pa.int64()), "b": pa.array(["x", None, "z"], pa.string())}
)
LISTS = pa.table({"a": pa.array([[1], [2, 3], None], pa.large_list(pa.int64()))})


def names(folder: pathlib.Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


def test_what_can_be_written(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "t.arrow"
    one = TABLE.to_batches()[0]
    for batches in (
        TABLE,
        one,
        TABLE.to_reader(),
        [one.slice(0, 1), one.slice(1)],
        iter([TABLE.slice(0, 2), TABLE.slice(2)]),
        cst.open(TABLE, batch_size=2),
        list(cst.open(TABLE, batch_size=2)),
        iter(cst.open(TABLE, batch_size=2)),
    ):
        assert cst.write(batches, path, overwrite=True) == 3
        assert pa.ipc.open_file(path).read_all().to_pydict() == TABLE.to_pydict()
    assert names(tmp_path) == ["t.arrow"]
    assert cst.write(pl.DataFrame(TABLE), tmp_path / "p.json") == 3


@pytest.mark.parametrize("wrong", [1, None, "text", b"", {"a": 1}, [1], [TABLE, "x"]])
def test_what_cannot(tmp_path: pathlib.Path, wrong: object) -> None:
    with pytest.raises(TypeError):
        cst.write(wrong, tmp_path / "t.arrow")  # type: ignore[arg-type]
    assert names(tmp_path) == []


def test_formats_by_name_and_by_ending(tmp_path: pathlib.Path) -> None:
    cst.write(TABLE, tmp_path / "t.json")
    cst.write(TABLE, tmp_path / "t.data", "json")
    lines = [json.loads(line) for line in (tmp_path / "t.json").read_text().splitlines()]
    assert [line["a"] for line in lines] == [1, 2, 3]
    assert (tmp_path / "t.data").read_bytes() == (tmp_path / "t.json").read_bytes()
    cst.write(LISTS, tmp_path / "t.tfrecord.gz")
    assert (tmp_path / "t.tfrecord.gz").read_bytes()[:2] == b"\x1f\x8b"
    assert pa.table(cst.open(tmp_path / "t.tfrecord.gz")).equals(LISTS)
    for name, format in (("t.unknown", None), ("t", None), ("t", "nothing")):
        with pytest.raises(cst.errors.NotFoundError, match="example"):
            cst.Writer(tmp_path / name, format)
    assert cst.write(TABLE, tmp_path / "s.arrows") == 3
    assert pa.ipc.open_stream(tmp_path / "s.arrows").read_all().equals(TABLE)


def test_file_objects() -> None:
    out = io.BytesIO()
    assert cst.write(TABLE, out, "json") == 3
    assert len(out.getvalue().splitlines()) == 3
    assert not out.closed
    zipped = io.BytesIO()
    cst.write(LISTS, zipped, "example", compression="zlib")
    zipped.seek(0)
    assert pa.table(cst.open(zipped)).equals(LISTS)
    with pytest.raises((cst.errors.ArgumentError, cst.errors.NotFoundError)):
        cst.write(TABLE, io.BytesIO())
    with pytest.raises(cst.errors.ArgumentError, match="text mode"):
        cst.write(TABLE, io.StringIO(), "json")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        cst.Writer(1, "json")  # type: ignore[arg-type]


def test_what_a_file_object_raises_comes_out() -> None:
    class Full(io.RawIOBase):
        def write(self, data: object) -> int:
            raise KeyError("full")

    big = pa.table({"a": list(range(100_000))})
    with pytest.raises(KeyError, match="full"):
        cst.write([big] * 3, Full(), "json")  # type: ignore[arg-type]


def test_writer_step_by_step(tmp_path: pathlib.Path) -> None:
    with cst.Writer(tmp_path / "t.arrow") as writer:
        assert writer.write(TABLE) == 3
        assert writer.write(TABLE.slice(1)) == 2
        assert writer.num_rows == 5
        assert "open" in repr(writer)
        with pytest.raises(cst.errors.SchemaError, match="first one"):
            writer.write(LISTS)
    assert writer.closed and "closed" in repr(writer)
    writer.close()
    with pytest.raises(cst.errors.StateError):
        writer.write(TABLE)
    assert pa.ipc.open_file(tmp_path / "t.arrow").read_all().num_rows == 5


def test_nothing_written(tmp_path: pathlib.Path) -> None:
    writer = cst.Writer(tmp_path / "t.arrow")
    with pytest.raises(cst.errors.StateError, match="columns"):
        writer.close()
    assert writer.closed
    with cst.Writer(tmp_path / "t.arrow") as writer:
        writer.begin(TABLE.schema)
    assert pa.ipc.open_file(tmp_path / "t.arrow").read_all().equals(TABLE[:0])
    assert cst.write(TABLE[:0], tmp_path / "zero.arrow") == 0
    empty = cst.open(TABLE[:0])
    assert cst.write(empty, tmp_path / "zero.json") == 0
    assert (tmp_path / "zero.json").read_bytes() == b""


def test_an_exception_leaves_no_file(tmp_path: pathlib.Path) -> None:
    def failing() -> Iterator[pa.Table]:
        yield TABLE
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        cst.write(failing(), tmp_path / "t.arrow")
    with pytest.raises(RuntimeError), cst.Writer(tmp_path / "t.arrow") as writer:
        writer.write(TABLE)
        raise RuntimeError
    abandoned = cst.Writer(tmp_path / "t.arrow")
    abandoned.write(TABLE)
    del abandoned
    gc.collect()
    given_up = cst.Writer(tmp_path / "t.arrow")
    given_up.write(TABLE)
    given_up.abort()
    given_up.abort()
    assert names(tmp_path) == []


def test_errors_of_a_source_are_its_own(make_file: MakeFile, tmp_path: pathlib.Path) -> None:
    path = make_file("bad.tfrecord", records(50))
    path.write_bytes(path.read_bytes()[:-3])
    out = tmp_path / "out.json"
    with pytest.raises(cst.errors.CorruptError) as error:
        cst.write(cst.open(path, schema=SCHEMA, batch_size=10), out)
    assert error.value.record == 49
    assert not out.exists()


def test_a_value_that_does_not_fit(tmp_path: pathlib.Path) -> None:
    table = pa.table({"x": pa.array([1.0, 0.1], pa.float64())})
    with pytest.raises(cst.errors.UnsupportedError) as error:
        cst.write(table, tmp_path / "t.tfrecord")
    assert (error.value.record, error.value.path) == (1, "x")
    assert cst.write(table, tmp_path / "t.tfrecord", lossy=True) == 2


@pytest.mark.parametrize("threads", [1, 3])
def test_shards(make_file: MakeFile, tmp_path: pathlib.Path, threads: int) -> None:
    source = cst.open(make_file("in", 100), schema=SCHEMA, batch_size=10)
    folder = tmp_path / "out"
    folder.mkdir()
    cst.write(source, folder / "x.tfrecord.gz", num_shards=3, threads=threads)
    assert names(folder) == [f"x-0000{i}-of-00003.tfrecord.gz" for i in range(3)]
    assert cst.open(folder / "x-*").num_rows == 100
    cst.write(source, folder / "y.tfrecord", shard_bytes=2000, threads=threads)
    parts = [n for n in names(folder) if n.startswith("y")]
    assert len(parts) > 1
    rows = pa.table(cst.open(folder / "y-*", schema=SCHEMA)).column("id").to_pylist()
    assert rows == [[i] for i in range(100)]
    with pytest.raises(cst.Error):
        cst.Writer(folder / "z.tfrecord", num_shards=2, shard_bytes=10).begin(LISTS.schema)


@pytest.mark.parametrize(
    "options",
    [
        {"threads": 0},
        {"num_shards": 0},
        {"shard_bytes": -1},
        {"compression": "lzma"},
        {"level": 100, "compression": "gzip"},
        {"csv": 1},
        {"sequence_column": 1},
        {"format": 1},
        {"level": "a"},
    ],
)
def test_wrong_arguments(tmp_path: pathlib.Path, options: dict[str, object]) -> None:
    with pytest.raises((cst.errors.ArgumentError, TypeError)):
        cst.write(LISTS, tmp_path / "t.tfrecord", **options)  # type: ignore[arg-type]
    assert names(tmp_path) == []


def test_references_and_cycles(tmp_path: pathlib.Path) -> None:
    class Holder(io.BytesIO):
        writer: cst.Writer

    holder = Holder()
    holder.writer = cst.Writer(holder, "json")
    holder.writer.write(TABLE)
    seen = weakref.ref(holder)
    del holder
    gc.collect()
    assert seen() is None
    before = sys.getrefcount(TABLE)
    for _ in range(10):
        cst.write([TABLE, TABLE], io.BytesIO(), "json")
    assert sys.getrefcount(TABLE) == before


def test_begin_takes_a_schema(tmp_path: pathlib.Path) -> None:
    with cst.Writer(tmp_path / "a.arrow") as writer:
        with pytest.raises(TypeError, match="__arrow_c_schema__, not Table"):
            writer.begin(pa.table({"a": [1]}))  # type: ignore[arg-type]
        writer.begin(pa.schema({"a": pa.int64()}))


@pytest.mark.parametrize("format", ["csv", "json", "example"])
def test_names_that_come_twice(format: str) -> None:
    table = pa.table([pa.array([1]), pa.array([2])], names=["a", "a"])
    with pytest.raises(cst.errors.ArgumentError, match="same name") as caught:
        cst.write(table, io.BytesIO(), format)
    assert caught.value.path == "a"


@pytest.mark.parametrize("level", [2**31, -(2**31) - 1, 2**70])
def test_levels_that_no_codec_has(level: int) -> None:
    with pytest.raises(cst.errors.ArgumentError, match="level is"):
        cst.Writer(io.BytesIO(), "csv", compression="gzip", level=level)
    with pytest.raises(cst.errors.ArgumentError, match="level is"):
        cst.codec.TFRecordWriter(io.BytesIO(), compression="gzip", level=level)


def test_json_of_texts_and_numbers_of_any_size() -> None:
    plain = "abcdefghijklmnopqrstuvwxyz" * 2
    escapes = '"\\\n\x00\x7f\u2028é'
    texts = [
        plain[:at] + escapes[(size + at) % len(escapes)] + plain[at:size]
        for size in range(40)
        for at in range(size + 1)
    ]
    rows = len(texts)
    numbers = [(-1) ** i * i**6 for i in range(rows)]
    table = pa.table(
        {
            "a": texts,
            "a key that is longer than one step": numbers,
            'é"': pa.array([i % 100 for i in range(rows)], pa.uint8()),
            "f": [None if i % 3 == 0 else i / 7 for i in range(rows)],
            "g": pa.array([float("nan"), float("-inf"), 0.1] + [i / 8 for i in range(3, rows)]),
        }
    )
    out = io.BytesIO()
    cst.write(table.slice(3), out, "json")
    assert [json.loads(line) for line in out.getvalue().splitlines()] == table.slice(3).to_pylist()
    out = io.BytesIO()
    cst.write(table.select(["g"]).slice(0, 3), out, "json")
    assert out.getvalue() == b'{"g": "NaN"}\n{"g": "-Infinity"}\n{"g": 0.1}\n'
