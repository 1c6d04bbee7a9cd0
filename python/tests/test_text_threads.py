"""CSV and JSON lines by several threads: the batches, errors and dropped rows of one thread."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import columnstone as cst
import pyarrow as pa
import pytest

ROWS = 60_000  # more than 1 MB: several parts


CELLS = ["x", "", '"q, 1"', '"two\nlines"', '"a ""b"""']


def csv_line(i: int) -> str:
    return f"{i},{i / 7!r},{CELLS[i % 5]}\n"


def json_line(i: int) -> str:
    row = {"id": i, "b": [i / 7] * (i % 3), "c": ["x", None, 'a "b"', "two\nlines"][i % 4]}
    return json.dumps(row | ({"late": {"k": i}} if i > ROWS - 9 else {})) + "\n"


def write(folder: pathlib.Path, name: str, lines: list[str]) -> pathlib.Path:
    path = folder / name
    path.write_text(("id,b,c\n" if name.endswith(".csv") else "") + "".join(lines))
    return path


def read(path: pathlib.Path, threads: int, **options: Any) -> tuple[list[Any], str, list[Any]]:
    dropped: list[Any] = []
    rows: list[Any] = []
    error = ""

    def note(lost: cst.Dropped) -> None:
        dropped.append((lost.kind, lost.record, lost.offset, str(lost.error)))

    if options.pop("skip", False):
        options["on_error"] = note
    try:
        for batch in cst.open(path, threads=threads, batch_size=7000, **options):
            rows.append(pa.record_batch(batch).to_pylist())
    except cst.Error as raised:
        error = str(raised)
    return rows, error, dropped


LINES = {
    "a.csv": [csv_line(i) for i in range(ROWS)],
    "a.jsonl": [json_line(i) for i in range(ROWS)],
}
BAD = {"a.csv": "1,2\n", "a.jsonl": '{"id": 1,\n'}


@pytest.mark.parametrize("name", LINES)
def test_threads_change_nothing(tmp_path: pathlib.Path, name: str) -> None:
    path = write(tmp_path, name, LINES[name])
    one = read(path, 1)
    assert sum(map(len, one[0])) == ROWS
    assert one[1] == ""
    assert read(path, 2) == one
    assert read(path, 3) == one


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("skip", [False, True])
def test_a_fault_is_told_as_one_thread_tells_it(
    tmp_path: pathlib.Path, name: str, skip: bool
) -> None:
    lines = [*LINES[name]]
    lines[41_000] = BAD[name]
    path = write(tmp_path, name, lines)
    one = read(path, 1, skip=skip)
    assert read(path, 3, skip=skip) == one
    assert (one[1] == "") == skip
    assert len(one[2]) == skip


@pytest.mark.parametrize("name", LINES)
def test_a_pass_may_be_left(tmp_path: pathlib.Path, name: str) -> None:
    source = cst.open(write(tmp_path, name, LINES[name]), threads=3)
    batches = iter(source)
    next(batches)
    del batches
    assert source.num_rows == ROWS


@pytest.mark.parametrize("name", LINES)
def test_dictionaries_are_those_of_one_thread(tmp_path: pathlib.Path, name: str) -> None:
    path = write(tmp_path, name, LINES[name])
    types = pa.schema({"id": pa.dictionary(pa.int32(), pa.int64())})

    def batches(threads: int) -> list[pa.RecordBatch]:
        source = cst.open(path, types=types, columns=["id"], batch_size=7000, threads=threads)
        return [pa.record_batch(batch) for batch in source]

    for one, many in zip(batches(1), batches(3), strict=True):
        assert many["id"].dictionary.equals(one["id"].dictionary)
        assert many["id"].indices.equals(one["id"].indices)
