"""Files between programs: what we write, pyarrow, Polars, DuckDB and Python's own modules read, and
the reverse. What TensorFlow, tfx_bsl and `tfrecord` read is in tests/peers/test_readers.py.
"""

from __future__ import annotations

import csv
import dataclasses
import gzip
import json
import pathlib
from collections.abc import Callable
from typing import Any

import columnstone as cst
import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet as pq
import pytest

Rows = list[dict[str, Any]]

FLAT = pa.table(
    {
        "i": pa.array([1, None, -(2**63), 2**63 - 1, 0], pa.int64()),
        "f": pa.array([0.1, -0.0, None, 1.7976931348623157e308, 5e-324], pa.float64()),
        "s": pa.array(["x", "", None, 'say "no",\r\nü€😀', " a | b "], pa.large_string()),
        "b": pa.array([True, False, None, True, True], pa.bool_()),
    }
)
NESTED = FLAT.append_column(
    "l", pa.array([[1, -2], [], None, [2**62], [0]], pa.large_list(pa.int64()))
).append_column(
    "t",
    pa.array(
        [{"x": 1, "y": ["p", ""]}, {"x": None, "y": []}, {"x": 3, "y": None}] * 2,
        pa.struct([("x", pa.int64()), ("y", pa.large_list(pa.large_string()))]),
    )[:5],
)


@dataclasses.dataclass(frozen=True)
class Peer:
    read: Callable[[pathlib.Path], Rows] | None = None
    write: Callable[[pa.Table, pathlib.Path], object] | None = None


def text_of(path: pathlib.Path) -> str:
    data = path.read_bytes()
    return (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode()


# Python's own modules


def csv_cell(value: str, kind: pa.DataType) -> Any:
    """A cell's value; the module does not tell "" from nothing."""
    if pa.types.is_large_string(kind):
        return value or None
    if value == "":
        return None
    return value == "true" if pa.types.is_boolean(kind) else float(value)


def read_csv_module(path: pathlib.Path) -> Rows:
    rows = csv.DictReader(text_of(path).splitlines(keepends=True), strict=True)
    return [{n: csv_cell(v, FLAT.schema.field(n).type) for n, v in row.items()} for row in rows]


def write_csv_module(table: pa.Table, path: pathlib.Path) -> None:
    """Strings in quotes, so that the empty one is not null."""
    with path.open("w", newline="", encoding="utf-8") as file:
        quoted = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="")
        plain = csv.writer(file, quoting=csv.QUOTE_NONE, lineterminator="")
        plain.writerow(table.column_names)
        for row in table.to_pylist():
            for i, value in enumerate(row.values()):
                file.write("," if i else "\n")
                if value is not None:
                    cell = str(value).lower() if isinstance(value, bool) else value
                    (quoted if isinstance(value, str) else plain).writerow([cell])


def read_json_module(path: pathlib.Path) -> Rows:
    return [json.loads(line) for line in text_of(path).split("\n")[:-1]]


def write_json_module(table: pa.Table, path: pathlib.Path) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))


# pyarrow


def read_csv_pyarrow(path: pathlib.Path) -> Rows:
    options = pa.csv.ConvertOptions(strings_can_be_null=True, quoted_strings_can_be_null=False)
    parse = pa.csv.ParseOptions(newlines_in_values=True)
    rows: Rows = pa.csv.read_csv(path, convert_options=options, parse_options=parse).to_pylist()
    return rows


def read_json_pyarrow(path: pathlib.Path) -> Rows:
    with pa.input_stream(path) as file:
        rows: Rows = pa.json.read_json(file).to_pylist()
    return rows


def write_arrow(table: pa.Table, path: pathlib.Path) -> None:
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table, 2)


def write_arrows(table: pa.Table, path: pathlib.Path) -> None:
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(path, table.schema, options=options) as writer:
        writer.write_table(table, 2)


# DuckDB


def read_duckdb(function: str, options: str = "") -> Callable[[pathlib.Path], Rows]:
    def read(path: pathlib.Path) -> Rows:
        made = duckdb.sql(f"select * from {function}('{path}'{options})").to_arrow_table()
        rows: Rows = made.to_pylist()
        return rows

    return read


def write_duckdb(options: str) -> Callable[[pa.Table, pathlib.Path], object]:
    return lambda rows, path: duckdb.sql(f"copy (select * from rows) to '{path}' ({options})")


# Without them it takes the least int64 for a decimal.
DUCKDB_TYPES = {
    **{"i": "BIGINT", "f": "DOUBLE", "s": "VARCHAR", "b": "BOOLEAN"},
    **{"l": "BIGINT[]", "t": "STRUCT(x BIGINT, y VARCHAR[])"},
}

PEERS: dict[str, dict[str, Peer]] = {
    "csv": {
        "csv": Peer(read_csv_module, write_csv_module),
        "pyarrow": Peer(read_csv_pyarrow, pa.csv.write_csv),
        "polars": Peer(
            lambda path: pl.read_csv(path, infer_schema_length=None).to_dicts(),
            lambda table, path: pl.DataFrame(table).write_csv(path),
        ),
        "duckdb": Peer(
            read_duckdb("read_csv", ", header=true, allow_quoted_nulls=false"),
            write_duckdb("format csv, header"),
        ),
    },
    "json": {
        "json": Peer(read_json_module, write_json_module),
        "pyarrow": Peer(read_json_pyarrow),
        "polars": Peer(
            lambda path: pl.read_ndjson(path, infer_schema_length=None).to_dicts(),
            lambda table, path: pl.DataFrame(table).write_ndjson(path),
        ),
        "duckdb": Peer(
            read_duckdb("read_json", f", format='newline_delimited', columns={DUCKDB_TYPES}"),
            write_duckdb("format json"),
        ),
    },
    "arrow": {
        "pyarrow": Peer(lambda path: pa.ipc.open_file(path).read_all().to_pylist(), write_arrow),
        "polars": Peer(
            lambda path: pl.read_ipc(path).to_dicts(),
            lambda table, path: pl.DataFrame(table).write_ipc(path, compression="lz4"),
        ),
    },
    "arrows": {
        "pyarrow": Peer(lambda path: pa.ipc.open_stream(path).read_all().to_pylist(), write_arrows),
        "polars": Peer(
            lambda path: pl.read_ipc_stream(path).to_dicts(),
            lambda table, path: pl.DataFrame(table).write_ipc_stream(path),
        ),
    },
    "parquet": {
        "pyarrow": Peer(lambda path: pq.read_table(path).to_pylist(), pq.write_table),
        "polars": Peer(
            lambda path: pl.read_parquet(path).to_dicts(),
            lambda table, path: pl.DataFrame(table).write_parquet(path),
        ),
        "duckdb": Peer(read_duckdb("read_parquet"), write_duckdb("format parquet")),
    },
}
ENDINGS = {"csv": ["csv", "csv.gz", "csv.zst"], "json": ["jsonl", "jsonl.gz", "jsonl.zst"]}


def table_of(format: str) -> pa.Table:
    return FLAT if format == "csv" else NESTED


def expected(format: str, peer: str) -> Rows:
    """The rows, as far as the peer can tell them."""
    rows: Rows = table_of(format).to_pylist()
    if peer == "csv":
        for row in rows:
            row["s"] = row["s"] or None
            row["i"] = None if row["i"] is None else float(row["i"])
    return rows


def pairs(reading: bool) -> list[Any]:
    found = []
    for format, peers in PEERS.items():
        for name, peer in peers.items():
            endings = (
                ENDINGS.get(format, [format]) if reading else ENDINGS.get(format, [format])[:1]
            )
            for ending in endings:
                of_python = name in ("csv", "json") and ending.endswith("zst")
                if (peer.read if reading else peer.write) is not None and not of_python:
                    found.append(pytest.param(format, name, ending, id=f"{ending}-{name}"))
    return found


@pytest.mark.parametrize("format, name, ending", pairs(reading=True))
def test_they_read_ours(format: str, name: str, ending: str, tmp_path: pathlib.Path) -> None:
    path = tmp_path / f"ours.{ending}"
    table = table_of(format)
    assert cst.write([table[:2], table[2:]], path, format) == 5
    read = PEERS[format][name].read
    assert read is not None
    assert repr(read(path)) == repr(expected(format, name))


@pytest.mark.parametrize("format, name, ending", pairs(reading=False))
def test_we_read_theirs(format: str, name: str, ending: str, tmp_path: pathlib.Path) -> None:
    path = tmp_path / f"theirs.{ending}"
    table = table_of(format)
    write = PEERS[format][name].write
    assert write is not None
    write(table, path)
    types = {"types": table.schema} if format in ("csv", "json") else {}
    found = pa.table(cst.open(path, format, batch_size=2, **types))
    found.validate(full=True)
    assert repr(found.to_pylist()) == repr(table.to_pylist())
    assert pa.table(cst.open(path)).num_rows == 5  # by its bytes or its name
