"""CSV through the package: batches, columns, files of several kinds, damage, and the way back."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import pathlib
import random
import threading
from typing import Any

import columnstone as cst
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

Row = dict[str, Any]

ROWS: list[Row] = [
    {"i": i, "f": i / 4, "s": None if i % 5 == 0 else f'say "{i}",\nor not', "e": None}
    for i in range(250)
]
COLUMNS = ["i", "f", "s", "e"]


def text_of(rows: list[Row], columns: list[str] = COLUMNS) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def batches(source: cst.Source) -> list[pa.RecordBatch]:
    found = [pa.record_batch(batch) for batch in source]
    for batch in found:
        batch.validate(full=True)
    return found


def read(*texts: bytes, **options: Any) -> list[pa.RecordBatch]:
    return batches(cst.open([io.BytesIO(text) for text in texts], "csv", **options))


def rows_of(found: list[pa.RecordBatch]) -> list[Row]:
    return [row for batch in found for row in batch.to_pylist()]


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_batches_are_of_the_size_asked_for(size: int) -> None:
    """Across files, whose columns may stand in another order."""
    texts = [text_of(ROWS[:100]), text_of(ROWS[100:], COLUMNS[::-1])]
    found = read(*texts, batch_size=size)
    assert [batch.num_rows for batch in found[:-1]] == [size] * (len(found) - 1)
    assert rows_of(found) == ROWS


@pytest.mark.parametrize("columns", [["s"], ["f", "i"], []])
def test_wanted_columns(columns: list[str]) -> None:
    found = read(text_of(ROWS), columns=columns, batch_size=100)
    assert [batch.num_rows for batch in found] == [100, 100, 50]
    assert rows_of(found) == [{name: row[name] for name in columns} for row in ROWS]


def test_types_and_zero_rows() -> None:
    source = cst.open(io.BytesIO(b"i,f\n"), "csv")
    assert batches(source) == []
    assert pa.schema(source.arrow_schema).types == [pa.null(), pa.null()]
    types = pa.schema([("i", pa.int64()), ("f", pa.float64()), ("s", pa.large_string())])
    found = read(text_of(ROWS))
    assert found[0].schema.types == [*types.types, pa.null()]
    assert rows_of(read(text_of(ROWS), types=types)) == [
        {name: row[name] for name in types.names} for row in ROWS
    ]


def test_a_column_that_there_is_not() -> None:
    with pytest.raises(cst.errors.NotFoundError, match="did you mean 'fare'") as caught:
        cst.open(io.BytesIO(b"fare\n1\n"), "csv", columns=["fares"]).arrow_schema  # noqa: B018
    assert caught.value.path == "fares"


def test_passes_are_independent_and_may_stop_early(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(text_of(ROWS))
    source = cst.open(path, batch_size=10, format="csv")
    first = iter(source)
    next(first)
    del first
    assert rows_of(batches(source)) == ROWS
    assert rows_of(batches(source)) == ROWS


def test_gzip(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "x.csv.gz"
    path.write_bytes(gzip.compress(text_of(ROWS)))
    assert rows_of(batches(cst.open(path))) == ROWS


# ---- pipes ----


def test_a_pipe_is_read_once() -> None:
    text = text_of(ROWS * 40)
    reading, writing = os.pipe()

    def feed() -> None:
        with open(writing, "wb") as pipe:
            pipe.write(text)

    thread = threading.Thread(target=feed)
    thread.start()
    with open(reading, "rb") as pipe:
        assert rows_of(batches(cst.open(pipe, "csv"))) == ROWS * 40
    thread.join()


# ---- damage ----


def test_a_failure_comes_behind_full_batches_and_the_source_stays_usable() -> None:
    text = b"i\n" + b"".join(b"%d\n" % i for i in range(25)) + b"no number\n"
    source = cst.open(io.BytesIO(text), "csv", types=pa.schema([("i", pa.int64())]), batch_size=10)
    for _ in range(2):
        stream, seen = iter(source), 0
        with pytest.raises(cst.errors.SchemaError) as caught:
            for batch in stream:
                seen += pa.record_batch(batch).num_rows
        assert seen == 20
        assert (caught.value.record, caught.value.path) == (25, "i")
        assert "line 27, column 1" in str(caught.value)


def test_any_row_may_be_damaged() -> None:
    """Exactly the sound rows come back, and exactly the damaged ones are reported."""
    rng = random.Random(4)
    spoilt = [b"%d\n", b"%d,2,3\n", b'%d,"x"y\n', b"x%d,1\n"]
    for _ in range(30):
        lines = [b"%d,%d\n" % (i, i) for i in range(60)]
        damaged = sorted(rng.sample(range(60), rng.randint(0, 20)))
        for i in damaged:
            lines[i] = rng.choice(spoilt) % i
        dropped: list[cst.source.Dropped] = []
        types = pa.schema([("a", pa.int64()), ("b", pa.int64())])
        text = b"a,b\n" + b"".join(lines)
        found = read(text, types=types, batch_size=9, on_error=dropped.append)
        assert [row["a"] for row in rows_of(found)] == [i for i in range(60) if i not in damaged]
        assert [drop.record for drop in dropped] == damaged
        offsets = [4 + sum(map(len, lines[:i])) for i in damaged]
        assert [drop.offset for drop in dropped] == offsets


def test_cut_anywhere() -> None:
    """The rows in front of the cut are there; of the row that is cut, at most what is left."""
    types = pa.schema([("a", pa.int64()), ("b", pa.large_string())])
    text = b'a,b\n1,x\n2,"y\n""z"\n3,w\n'
    whole = rows_of(read(text, types=types))
    for end in range(4, len(text)):
        found = rows_of(read(text[:end], types=types, on_error="skip"))
        complete = [4, 8, 18, 22]
        sure = sum(end >= at for at in complete) - 1
        assert found[:sure] == whole[:sure]
        assert len(found) <= sure + 1


# ---- the way back ----

values = st.one_of(
    st.lists(st.integers(-(2**63), 2**63 - 1) | st.none(), min_size=3, max_size=3),
    st.lists(st.floats(allow_nan=False) | st.none(), min_size=3, max_size=3),
    st.lists(st.booleans() | st.none(), min_size=3, max_size=3),
    st.lists(st.text() | st.none(), min_size=3, max_size=3),
    st.lists(st.binary() | st.none(), min_size=3, max_size=3),
)


@given(st.lists(values, min_size=2, max_size=4), st.sampled_from([",", ";", "\t", "|", "1", "-"]))
def test_what_is_written_reads_back(columns: list[list[Any]], delimiter: str) -> None:
    table = pa.table({f"c{i}": column for i, column in enumerate(columns)})
    options, out = {"delimiter": delimiter}, io.BytesIO()
    assert cst.write(table, out, "csv", **options) == 3
    assert rows_of(read(out.getvalue(), types=table.schema, **options)) == table.to_pylist()


lists = st.lists(
    st.lists(st.text(st.sampled_from('ab|,"\n ')), min_size=1, max_size=3) | st.none(),
    min_size=1,
    max_size=4,
)


@given(lists)
def test_lists_of_several_values_read_back(column: list[Any]) -> None:
    table = pa.table({"v": pa.array(column, pa.list_(pa.string())), "i": list(range(len(column)))})
    options, out = {"multivalent": ["v"]}, io.BytesIO()
    cst.write(table, out, "csv", **options)
    assert rows_of(read(out.getvalue(), types=table.schema, **options)) == table.to_pylist()


def test_examples_become_csv_and_come_back(tmp_path: pathlib.Path) -> None:
    text = 'feature { name: "i" type: INT } feature { name: "s" type: BYTES }'
    schema = cst.Schema.from_text(text)
    path, back = tmp_path / "x.csv", tmp_path / "x.tfrecord"
    types = pa.schema([("i", pa.large_list(pa.int64())), ("s", pa.large_list(pa.large_binary()))])
    table = pa.table({"i": [[1], None, [-3]], "s": [[b"\xff,"], [b""], None]}, schema=types)
    cst.write(table, path)
    cst.write(cst.open(path, schema=schema), back)
    assert rows_of(batches(cst.open(back, schema=schema))) == table.to_pylist()


def test_what_csv_cannot_hold_names_row_and_column() -> None:
    table = pa.table({"a": [1, 2], "v": [[1], [2, 3]]})
    with pytest.raises(cst.errors.UnsupportedError, match="multivalent") as caught:
        cst.write(table, io.BytesIO(), "csv")
    assert (caught.value.record, caught.value.path) == (1, "v")


def test_a_raw_column_has_the_text_of_each_row(tmp_path: pathlib.Path) -> None:
    """Beside what is decoded: without the line's end, of whatever columns, blank lines as asked."""
    text = b'a,b\r\n1,"x\n""y"""\r\n\r\n2,\xc3\xa9\r\n'
    raw = [[b'1,"x\n""y"""'], [b"2,\xc3\xa9"]]
    whole = pa.table(cst.open(io.BytesIO(text), "csv", raw_column="raw"))
    assert whole.schema.field("raw").type == pa.large_list(pa.large_binary())
    assert whole["raw"].to_pylist() == raw
    assert whole["b"].to_pylist() == ['x\n"y"', "é"]
    options: dict[str, Any] = {"columns": ["b"], "keep_blank_lines": True, "raw_column": "raw"}
    found = rows_of(read(text, text, batch_size=2, **options))
    assert [row["raw"] for row in found] == [raw[0], [b""], raw[1]] * 2
    flat = pa.table(cst.open(io.BytesIO(text), "csv", raw_column="raw", flat=True))
    assert flat["raw"].to_pylist() == [row[0] for row in raw]
    decoder = cst.decoder("csv", raw_column="raw")
    assert pa.record_batch(decoder.decode(text)).column("raw").to_pylist() == raw
    path = tmp_path / "a.csv"
    path.write_bytes(text)
    source = cst.open(path, raw_column="raw")
    again = cst.open(path, types=source.arrow_schema, raw_column="raw")
    assert pa.table(again) == whole
    with pytest.raises(cst.errors.ArgumentError, match="choose another name"):
        cst.open(path, raw_column="b", columns=["a"]).empty_batch()
    (tmp_path / "a.jsonl").write_bytes(b"{}\n")
    with pytest.raises(cst.errors.UnsupportedError, match="leave raw_column out"):
        cst.open(tmp_path / "a.jsonl", raw_column="raw")


@given(st.lists(st.text("ab,\"\n\r'", max_size=6), min_size=1, max_size=5))
def test_rows_are_what_their_raw_column_says(cells: list[str]) -> None:
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows([[c] for c in cells])
    found = rows_of(read(out.getvalue().encode(), names=["a"], raw_column="r"))
    assert [b"\n".join(row["r"]) + b"\n" for row in found] == [
        b'"' + c.replace('"', '""').encode() + b'"\n' for c in cells
    ]


def quoted(text: str) -> str:
    """What RFC 4180 needs, character by character."""
    special = not text or text.startswith("#") or any(c in ',"\r\n' for c in text)
    return '"' + text.replace('"', '""') + '"' if special else text


def test_texts_of_any_size_have_quotes_where_they_need_them(tmp_path: pathlib.Path) -> None:
    """Texts are copied by words and blocks: one special character at any place of any size."""
    texts = ["", "\ufeffx"]
    for size in range(1, 150):
        plain = ("abcdé fgh;'`+-.\x0b" * 10)[:size]
        texts.append(plain)
        texts += [
            plain[:at] + special + plain[at + 1 :]
            for special in ',"\r\n#'
            for at in range(size if size < 20 else 0)
        ]
        texts += [
            plain[:at] + special + plain[at + 1 :]
            for special in ',"\r\n'
            for at in (0, 7, 8, 15, 16, 63, 64, size - 65, size - 64, size - 9, size - 8, size - 1)
            if size >= 20 and 0 <= at < size
        ]
    table = pa.table({"t": texts, "i": range(len(texts))})
    cst.write(table, tmp_path / "t.csv", comment="#")
    lines = [f"{quoted(text)},{i}\n" for i, text in enumerate(texts)]
    lines[1] = '"\ufeffx",1\n'
    assert (tmp_path / "t.csv").read_bytes().decode() == "t,i\n" + "".join(lines)
    back = rows_of(batches(cst.open(tmp_path / "t.csv", comment="#", batch_size=500)))
    assert [row["t"] for row in back] == texts


@pytest.mark.parametrize("rows", [1, 63, 64, 65, 500])
def test_columns_printed_in_blocks_are_as_cell_by_cell(tmp_path: pathlib.Path, rows: int) -> None:
    """Blocks of plain texts, of texts in quotes and of both; rows as Python writes them."""
    texts = {
        "plain": [f"p{i}" for i in range(rows)],
        "quoted": [f'"{i}",' for i in range(rows)],
        "mixed": ["" if i % 7 == 0 else f"m{i}" + "," * (i % 3) for i in range(rows)],
        "long": ["x" * (i % 80) + '"' * (i % 2) for i in range(rows)],
        "number": [i * 9973 - 5000 for i in range(rows)],
        "null": [None if i % 3 else i for i in range(rows)],
        "float": [float(i) if i % 5 == 0 else i / 700 for i in range(rows)],
    }
    table = pa.table(texts)
    cst.write(table.slice(rows // 9), tmp_path / "t.csv")
    lines = [",".join(texts)]
    for row in table.slice(rows // 9).to_pylist():
        cells = [
            quoted(c) if isinstance(c, str) else "" if c is None else repr(c) for c in row.values()
        ]
        lines.append(",".join(cells))
    assert (tmp_path / "t.csv").read_text() == "\n".join(lines) + "\n"
    cst.write(table.slice(rows // 9), tmp_path / "t.jsonl")
    with (tmp_path / "t.jsonl").open() as written:
        assert [json.loads(line) for line in written] == table.slice(rows // 9).to_pylist()
