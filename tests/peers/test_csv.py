"""CSV: the same cells as Python's csv module, the same tables as pyarrow.csv and tfx_bsl's decoder
where those lose nothing, and files that they write and read."""

from __future__ import annotations

import csv
import gzip
import io
import math
import pathlib
import re
from collections.abc import Sequence
from typing import Any

import columnstone as cst
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import assert_same_batch, exact, schema_proto
from tensorflow_metadata.proto.v0 import schema_pb2
from tfx_bsl.coders import csv_decoder

Row = list[str]

PIECES = ["a", "b7", " ", ",", '"', '""', "\n", "\r\n", "|", "ü", "0", "-1", "nan", "#", "\t"]
texts = st.lists(st.sampled_from(PIECES), max_size=4).map("".join)
rows_of_texts = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.lists(texts, min_size=width, max_size=width), min_size=1, max_size=8)
)
line_ends = st.sampled_from(["\n", "\r\n", "\r"])


def written(rows: Sequence[Sequence[object]], line_end: str = "\n", **dialect: Any) -> bytes:
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator=line_end, **dialect).writerows(rows)
    return out.getvalue().encode()


def names(width: int) -> Row:
    return [f"c{i}" for i in range(width)]


def read(text: bytes, batch_size: int = 1000, **options: Any) -> pa.Table:
    source = cst.open(io.BytesIO(text), format="csv", batch_size=batch_size, **options)
    batches = [pa.record_batch(batch) for batch in source]
    table = pa.Table.from_batches(batches, pa.schema(source.arrow_schema))
    table.validate(full=True)
    return table


def as_strings(columns: Sequence[str]) -> pa.Schema:
    return pa.schema([(name, pa.large_string()) for name in columns])


def columns_of(table: pa.Table) -> Any:
    return exact(list(table.to_pydict().values()))


def cells(table: pa.Table) -> list[Row]:
    """Null is an empty cell, for the csv module knows no difference."""
    return [[cell or "" for cell in row.values()] for row in table.to_pylist()]


# Python's csv


@given(rows_of_texts, line_ends, st.booleans())
def test_cells_that_the_csv_module_wrote(rows: list[Row], line_end: str, all_quoted: bool) -> None:
    """With CR as line end, the module leaves LF without quotes if it may."""
    quoting = csv.QUOTE_ALL if all_quoted or line_end == "\r" else csv.QUOTE_MINIMAL
    width = len(rows[0])
    text = written([names(width), *rows], line_end, quoting=quoting)
    assert cells(read(text, types=as_strings(names(width)))) == rows


@given(st.lists(st.sampled_from([*PIECES, ",", "\n"]), max_size=30).map("".join))
def test_cells_that_the_csv_module_reads(text: str) -> None:
    """Whatever the text is: the same cells, or an error where the module would guess."""
    columns = names(2)
    options = {"names": columns}
    try:
        table = read(text.encode(), types=as_strings(columns), **options)
    except cst.Error as error:
        assert re.search("quote|cell", str(error))
        return
    module = [row for row in csv.reader(io.StringIO(text, newline="")) if row]
    assert cells(table) == module


@given(rows_of_texts)
def test_what_we_write_the_csv_module_reads(rows: list[Row]) -> None:
    width = len(rows[0])
    table = pa.table({name: [row[i] for row in rows] for i, name in enumerate(names(width))})
    out = io.BytesIO()
    cst.write(table, out, format="csv", overwrite=True)
    module = list(csv.reader(io.StringIO(out.getvalue().decode(), newline="")))
    assert module == [names(width), *rows]


# pyarrow.csv

simple = st.one_of(
    st.integers(-(2**53), 2**53),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["x", "a,b", 'q"q', "ü", "two\nlines"]),
    st.none(),
)
columns_of_one_kind = st.integers(1, 8).flatmap(
    lambda rows: st.lists(
        st.sampled_from(
            [
                st.integers(-(2**63), 2**63 - 1),
                st.floats(allow_nan=False, allow_infinity=False),
                st.sampled_from(["x", "a,b", 'q"q', "ü", "two\nlines"]),
            ]
        ).flatmap(
            lambda kind: st.lists(st.one_of(kind, kind, st.none()), min_size=rows, max_size=rows)
        ),
        min_size=2,
        max_size=4,
    )
)


def by_pyarrow(text: bytes) -> pa.Table:
    return pyarrow.csv.read_csv(
        io.BytesIO(text),
        parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=True),
        convert_options=pyarrow.csv.ConvertOptions(
            null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=False
        ),
    )


@given(columns_of_one_kind)
def test_the_same_table_as_pyarrow(columns: list[list[Any]]) -> None:
    text = written([names(len(columns)), *zip(*columns, strict=True)])
    ours, theirs = read(text), by_pyarrow(text)
    wide = pa.schema(
        [(f.name, pa.large_string() if f.type == pa.string() else f.type) for f in theirs.schema]
    )
    assert ours.schema.types == wide.types
    assert columns_of(ours) == columns_of(theirs)


@given(columns_of_one_kind)
def test_pyarrow_reads_what_we_write(columns: list[list[Any]]) -> None:
    table = pa.table(dict(zip(names(len(columns)), columns, strict=True)))
    out = io.BytesIO()
    cst.write(table, out, format="csv", overwrite=True)
    back = by_pyarrow(out.getvalue())
    assert columns_of(back) == columns_of(table)


@given(columns_of_one_kind, st.sampled_from([1, 2, 1000]))
def test_back_and_forth(columns: list[list[Any]], batch_size: int) -> None:
    """With the types given, for null-only columns too."""
    table = pa.table(dict(zip(names(len(columns)), columns, strict=True)))
    out = io.BytesIO()
    cst.write(table, out, format="csv", overwrite=True)
    back = read(out.getvalue(), batch_size, types=table.schema)
    assert columns_of(back) == columns_of(table)


# Types: nothing is lost


@given(st.lists(st.one_of(simple, texts), min_size=1, max_size=6))
def test_inference_loses_nothing(values: list[Any]) -> None:
    text = written([["a", "b"], *([value, "end"] for value in values)])
    column = read(text)["a"]
    for value, cell in zip(values, column.to_pylist(), strict=True):
        written_value = "" if value is None else str(value)
        if cell is None:
            assert written_value == ""
        elif isinstance(cell, str):
            assert cell == written_value
        elif isinstance(cell, int):
            assert str(cell) == written_value.strip(" \t")
        elif not math.isnan(cell):
            assert cell == float(written_value)
            assert not re.fullmatch(r"-?\d+", written_value) or int(written_value) == int(cell)


@given(st.floats(width=32), st.floats())
def test_floats_are_exact(narrow: float, wide: float) -> None:
    types = pa.schema([("a", pa.float32()), ("b", pa.float64())])
    table = pa.table({"a": [narrow], "b": [wide]}, schema=types)
    out = io.BytesIO()
    cst.write(table, out, format="csv", overwrite=True)
    assert exact(read(out.getvalue(), types=types).to_pylist()) == exact(table.to_pylist())


# tfx_bsl


def by_tfx_bsl(
    lines: Sequence[str],
    columns: Sequence[str],
    schema: schema_pb2.Schema | None = None,
    multivalent: Sequence[str] = (),
    keep_blank_lines: bool = False,
) -> pa.RecordBatch:
    """Its DoFns without a pipeline."""
    several = set(multivalent)
    parser = csv_decoder.ParseCSVLine(",")
    parser.setup()
    rows = [row for line in lines for row in parser.process(line)]
    inferrer = csv_decoder.ColumnTypeInferrer(
        list(columns),
        skip_blank_lines=not keep_blank_lines,
        multivalent_columns=several,
        secondary_delimiter="|" if several else None,
    )
    if schema is None:
        seen = inferrer.create_accumulator()
        for row, _ in rows:
            seen = inferrer.add_input(seen, row)
        infos = inferrer.extract_output(seen)
    else:
        infos = csv_decoder._GetColumnInfosFromSchema(schema, list(columns))
    converter = csv_decoder.BatchedCSVRowsToRecordBatch(
        not keep_blank_lines, several, "|" if several else None
    )
    return next(iter(converter.process(rows, infos)))


SCHEMA = """
feature { name: "i" type: INT } feature { name: "f" type: FLOAT } feature { name: "s" type: BYTES }
"""
COLUMNS = ["i", "x", "f", "s"]
example_rows = st.lists(
    st.tuples(
        st.sampled_from(["1", "-7", "", " 12 ", "+5", "007", str(2**63 - 1), str(-(2**63))]),
        st.sampled_from(["dropped", ""]),
        st.one_of(
            st.sampled_from(["0.1", "1e3", "nan", "-inf", "", "5", ".5", "1e-45", " 2.5 "]),
            st.floats(-1e30, 1e30).map(repr),
        ),
        st.sampled_from(["", "x", "a,b", 'q"q', "ü", " "]),
    ),
    min_size=1,
    max_size=8,
)


@given(example_rows)
def test_the_same_batch_as_tfx_bsl_by_a_schema(rows: list[Row]) -> None:
    lines = written(rows).decode().splitlines()
    table = read(written(rows), schema=cst.Schema.from_text(SCHEMA), names=COLUMNS)
    theirs = by_tfx_bsl(lines, COLUMNS, schema_proto(SCHEMA))
    ours = table.select(theirs.schema.names).combine_chunks().to_batches()[0]
    assert_same_batch(ours, theirs)


@given(st.booleans(), st.lists(st.sampled_from(["1,2", "3,", "", "4,x"]), min_size=1, max_size=6))
def test_the_same_blank_lines_as_tfx_bsl(keep: bool, lines: list[str]) -> None:
    columns = ["i", "s"]
    schema = 'feature { name: "i" type: INT } feature { name: "s" type: BYTES }'
    options = {"names": columns, "keep_blank_lines": keep}
    text = "".join(line + "\n" for line in lines).encode()
    ours = read(text, schema=cst.Schema.from_text(schema), **options)
    theirs = by_tfx_bsl(lines, columns, schema_proto(schema), keep_blank_lines=keep)
    assert ours.to_pylist() == theirs.to_pylist()


@given(
    st.lists(st.sampled_from(["", "1", "1|2", "30|4|5"]), min_size=1, max_size=6),
    st.lists(st.sampled_from(["x", "a|b", "a||b", '"q|r"|s', "|"]), min_size=6, max_size=6),
)
def test_the_same_multivalent_cells_as_tfx_bsl(numbers: Row, strings: Row) -> None:
    columns = ["n", "s"]
    schema = 'feature { name: "n" type: INT } feature { name: "s" type: BYTES }'
    text = written(list(zip(numbers, strings, strict=False)))
    options = {"names": columns, "multivalent": columns}
    ours = read(text, schema=cst.Schema.from_text(schema), **options)
    theirs = by_tfx_bsl(text.decode().splitlines(), columns, schema_proto(schema), columns)
    assert_same_batch(ours.combine_chunks().to_batches()[0], theirs)


PEER_TYPES = {pa.int64(): "INT", pa.float64(): "FLOAT", pa.large_string(): "BYTES"}
PEER_VALUES = {pa.int64(): "INT", pa.float32(): "FLOAT", pa.large_binary(): "BYTES"}


@given(
    st.lists(
        st.sampled_from(["1", "-2", "0.5", "1e3", "nan", "x", "", str(2**63 - 1), str(2**63)]),
        min_size=1,
        max_size=6,
    )
)
def test_the_same_types_as_tfx_bsl(values: Row) -> None:
    """But for integers that a column of floats cannot hold: those make it a column of strings."""
    lines = [f"{value},end" for value in values]
    ours = read("\n".join(lines).encode(), names=["a", "b"]).schema.field("a")
    theirs = by_tfx_bsl(lines, ["a", "b"]).schema.field("a")
    if pa.types.is_null(theirs.type):
        assert pa.types.is_null(ours.type)
        return
    lossy = str(2**63 - 1) in values and {"0.5", "1e3", "nan"} & set(values)
    assert PEER_TYPES[ours.type] == ("BYTES" if lossy else PEER_VALUES[theirs.type.value_type])


def test_an_unclosed_quote_is_an_error_where_tfx_bsl_invents_cells() -> None:
    assert by_tfx_bsl(['a,"b'], ["x", "y"]).num_rows == 1
    with pytest.raises(cst.Error, match="an opening quote is never closed"):
        read(b'a,"b', names=["x", "y"])


# Files


def test_tsv_and_gzip(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.tsv.gz"
    path.write_bytes(gzip.compress(b"a\tb\n1\t2,3\n"))
    assert pa.table(cst.open(path, format="csv")).to_pylist() == [{"a": 1, "b": "2,3"}]
    out = tmp_path / "b.tsv"
    cst.write(pa.table({"a": ["x\ty"], "b": [1]}), out)
    assert out.read_bytes() == b'a\tb\n"x\ty"\t1\n'
