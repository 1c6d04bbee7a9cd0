"""Rows by number, ranges, splits, and index files."""

from __future__ import annotations

import io
import multiprocessing
import os
import pathlib
import pickle
import threading
from collections.abc import Callable

import columnstone as cst
import numpy as np
import pyarrow as pa
import pytest
from conftest import SCHEMA, MakeFile, record, records


def ids(source: cst.Source | cst.RecordBatch) -> list[int]:
    batches = [source] if isinstance(source, cst.RecordBatch) else source
    return [row[0] for batch in batches for row in batch.to_pydict()["id"]]


@pytest.fixture(params=["without", "with"])
def source(request: pytest.FixtureRequest, make_file: MakeFile) -> cst.Source:
    """Three files of 40, 0 and 60 records, without and with index files."""
    paths = [make_file("a", 40), make_file("b", 0), make_file("c", 60, 40)]
    if request.param == "with":
        for path in paths:
            cst.source.Index.build(path)
    return cst.open(paths, schema=SCHEMA, batch_size=16)


def test_length_and_rows(source: cst.Source) -> None:
    assert len(source) == source.num_rows == 100
    assert bool(source) and bool(source[0:0])
    for i in (0, 39, 40, 99, -1, -60, -100):
        assert ids(source[i]) == [i % 100]
        assert source[i].num_rows == 1
    assert ids(source[[5, 99, 5, -1, 40]]) == [5, 99, 5, 99, 40]
    assert ids(source.take(range(100))) == list(range(100))
    assert ids(source[np.array([3, 50])]) == [3, 50]
    assert ids(source[np.int64(3)]) == [3]  # type: ignore[call-overload]
    empty = source[[]]
    assert (empty.num_rows, empty.column_names) == (0, ["id", "pair", "tags", "steps"])


def test_lengths_of_closed_and_damaged_sources(make_file: MakeFile) -> None:
    source = cst.open(make_file("a", 40), schema=SCHEMA)
    source.close()
    with pytest.raises(cst.errors.StateError, match="closed"):
        len(source)
    path = make_file("damaged", 40)
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(cst.errors.CorruptError):
        len(cst.open(path, schema=SCHEMA))
    with pytest.raises(cst.errors.CorruptError):
        list(cst.open(path, schema=SCHEMA))


def test_rows_have_the_columns_of_the_source(source: cst.Source) -> None:
    part = cst.open(source.files, schema=SCHEMA, columns=["tags", "id"], raw_column="raw")
    row = part[41].to_pydict()
    assert list(row) == ["tags", "id", "raw"]
    assert row["raw"] == [[record(41)]]
    assert pa.record_batch(source[7]).equals(pa.record_batch(source[7:8][0]))


@pytest.mark.parametrize("wrong", [100, -101, 2**63, -(2**63) - 1, 10**30, [0, 100], [-101]])
def test_rows_that_there_are_not(source: cst.Source, wrong: int | list[int]) -> None:
    number = wrong[-1] if isinstance(wrong, list) else wrong
    with pytest.raises(IndexError, match=f"^row {number} of a source of 100 rows$"):
        source[wrong]


@pytest.mark.parametrize("wrong", ["a", b"a", 1.0, [1.0], [None], [True], None, ["1"]])
def test_rows_that_are_no_numbers(source: cst.Source, wrong: object) -> None:
    with pytest.raises(TypeError):
        source[wrong]  # type: ignore[call-overload]


@pytest.mark.parametrize(
    "rows",
    [
        slice(None),
        slice(0, 10),
        slice(35, 45),
        slice(90, 1000),
        slice(-5, None),
        slice(None, -95),
        slice(-60, -50),
        slice(50, 20),
        slice(200, 300),
        slice(10, 10),
        slice(2, None, 1),
        slice(10**30, None),
    ],
)
def test_ranges(source: cst.Source, rows: slice) -> None:
    expected = list(range(100))[rows]
    part = source[rows]
    assert ids(part) == expected
    assert len(part) == len(expected)
    if expected:
        assert ids(part[-1]) == expected[-1:]
        assert ids(part[1:][:3]) == expected[1:4]
    assert ids(pickle.loads(pickle.dumps(part))) == expected
    sizes = [b.num_rows for b in part]
    assert set(sizes[:-1]) <= {16}


def test_ranges_have_no_steps(source: cst.Source) -> None:
    with pytest.raises(cst.errors.ArgumentError, match="take"):
        source[::2]


@pytest.mark.parametrize("n", [1, 2, 3, 7, 100, 150])
def test_splits_are_exact(source: cst.Source, n: int) -> None:
    parts = [source.split(i, n) for i in range(n)]
    rows = [ids(part) for part in parts]
    assert [i for part in rows for i in part] == list(range(100))
    indexed = os.path.exists(source.files[0] + ".cstidx")
    if indexed:
        assert max(map(len, rows)) - min(map(len, rows)) <= 1
    assert [ids(pickle.loads(pickle.dumps(part))) for part in parts] == rows
    assert [ids(part) for part in parts] == rows


def test_splits_of_ranges(source: cst.Source) -> None:
    part = source[10:70]
    assert [i for k in range(4) for i in ids(part.split(k, 4))] == list(range(10, 70))
    inner = part.split(1, 2)[3:5]
    assert ids(pickle.loads(pickle.dumps(inner))) == ids(inner)


@pytest.mark.parametrize(("i", "n"), [(0, 0), (1, 1), (-1, 2), (5, 3), (0, -1), (0, 2**40)])
def test_wrong_splits(source: cst.Source, i: int, n: int) -> None:
    with pytest.raises(cst.errors.ArgumentError):
        source.split(i, n)


def sum_of(source: cst.Source) -> int:
    return sum(ids(source))


def test_parts_go_to_other_processes(source: cst.Source) -> None:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        parts = [source.split(i, 3) for i in range(3)] + [source[50:]]
        *thirds, half = pool.map(sum_of, parts)
    assert (sum(thirds), half) == (4950, 3725)


def test_globs_of_parts_are_resolved_once(make_file: MakeFile) -> None:
    for i in range(3):
        make_file(f"part-{i}", 10, 10 * i)
    folder = make_file("other", 0).parent
    part = cst.open(str(folder / "part-*"), schema=SCHEMA)[5:25]
    data = pickle.dumps(part)
    make_file("part-00", 10, 1000)
    assert ids(pickle.loads(data)) == list(range(5, 25))


def test_many_threads_take_rows(source: cst.Source) -> None:
    failed: list[object] = []

    def work(first: int) -> None:
        for i in range(first, 100, 4):
            if ids(source[i]) != [i]:
                failed.append(i)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_a_part_outlives_its_source(source: cst.Source) -> None:
    part = source[90:]
    source.close()
    with pytest.raises(cst.errors.StateError):
        source[0]
    assert ids(part) == list(range(90, 100))


OTHERS: dict[str, Callable[[pathlib.Path], cst.Source]] = {
    "compressed": lambda path: cst.open(path, schema=SCHEMA),
    "table": lambda path: cst.open(pa.table({"id": [[1]]})),
}


@pytest.mark.parametrize("name", OTHERS)
def test_sources_without_numbers(make_file: MakeFile, name: str) -> None:
    other = OTHERS[name](make_file("d.tfrecord.gz", 10))
    for use in (lambda: other[0], lambda: other[0:1], lambda: other.take([0])):
        with pytest.raises(cst.errors.UnsupportedError) as error:
            use()
        assert error.value.hint
    with pytest.raises(TypeError):
        len(other)
    assert other.num_rows == (1 if name == "table" else 10)
    assert len(ids(other)) == other.num_rows
    parts = [len(ids(other.split(i, 2))) for i in range(2)]
    assert sorted(parts) == [0, other.num_rows]


def test_lists_of_streams_ask_for_no_length(make_file: MakeFile) -> None:
    class Stream(io.RawIOBase):
        def __init__(self, data: bytes) -> None:
            self.file = io.BytesIO(data)

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
            return self.file.readinto(buffer)

    data = make_file("d", 10).read_bytes()
    assert len(list(cst.open(Stream(data), schema=SCHEMA, batch_size=5))) == 2
    with pytest.raises(TypeError):
        len(cst.open(io.BytesIO(data), schema=SCHEMA))


# Index files


def test_index_files(make_file: MakeFile, tmp_path: pathlib.Path) -> None:
    path = make_file("data.tfrecord", 10)
    index = cst.source.Index.build(path)
    assert len(index) == index.num_records == 10
    sizes = [len(r) for r in records(10)]
    assert [e.size for e in index] == sizes
    assert [e.offset for e in index] == [sum(sizes[:i]) + 16 * i for i in range(10)]
    assert index.record(-1) == index[9]
    batch = index.batch()
    assert batch.to_pydict() == {
        "offset": [entry.offset for entry in index],
        "size": [entry.size for entry in index],
    }
    for wrong in (10, -11):
        with pytest.raises(IndexError):
            index.record(wrong)
    assert index.path == str(path)
    assert (tmp_path / "data.tfrecord.cstidx").exists()
    assert list(cst.source.Index.load(path)) == list(index)


def test_text_there_and_back(make_file: MakeFile, tmp_path: pathlib.Path) -> None:
    path, text = make_file("data.tfrecord", 10), tmp_path / "data.index"
    index = cst.source.Index.build(path)
    index.export_text(text)
    lines = [tuple(map(int, line.split())) for line in text.read_text().splitlines()]
    assert lines == [(e.offset, e.size + 16) for e in index]
    (tmp_path / "data.tfrecord.cstidx").unlink()
    assert list(cst.source.Index.from_text(text, path)) == list(index)
    assert list(cst.source.Index.load(path)) == list(index)
    text.write_text("1 20\n")
    with pytest.raises(cst.errors.CorruptError) as error:
        cst.source.Index.from_text(text, path)
    assert error.value.line == 1


def test_index_files_that_do_not_fit(make_file: MakeFile, tmp_path: pathlib.Path) -> None:
    path = make_file("data.tfrecord", 10)
    with pytest.raises(cst.errors.NotFoundError):
        cst.source.Index.load(path)
    cst.source.Index.build(path)
    make_file("data.tfrecord", 12)
    with pytest.raises(cst.errors.StateError):
        cst.source.Index.load(path)
    (tmp_path / "data.tfrecord.cstidx").write_bytes(b"nonsense")
    with pytest.raises(cst.errors.CorruptError):
        cst.source.Index.load(path)


def test_what_has_no_index(make_file: MakeFile, tmp_path: pathlib.Path) -> None:
    with pytest.raises(cst.errors.UnsupportedError):
        cst.source.Index.build(make_file("d.tfrecord.gz", 10))
    with pytest.raises(cst.errors.NotFoundError) as missing:
        cst.source.Index.build(tmp_path / "none")
    assert missing.value.filename == str(tmp_path / "none")
    with pytest.raises(TypeError):
        cst.source.Index()
    path = make_file("cut", 10)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(cst.errors.CorruptError):
        cst.source.Index.build(path)


def test_messages_about_wrong_numbers(source: cst.Source) -> None:
    with pytest.raises(TypeError, match="a list of ints, not int"):
        source.take(5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="i must be an int, not str"):
        source.split("a", 2)  # type: ignore[arg-type]
    with pytest.raises(IndexError):
        source[0].column(2**70)
