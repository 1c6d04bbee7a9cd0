#!/usr/bin/env python3
"""Writes the corpus of fuzz_ipc: corpus/ipc/, small Arrow IPC data by pyarrow and Polars.

Files called good_* are read in whole by the unit tests too; damaged_* are not. The same files come
out of every run with the same libraries.
"""

import datetime
import decimal
import io
import pathlib
import struct

import polars as pl
import pyarrow as pa
import pyarrow.ipc as ipc

FOLDER = pathlib.Path(__file__).parent / "corpus" / "ipc"


def simple() -> pa.Table:
    return pa.table(
        {
            "null": pa.nulls(3),
            "bool": [True, None, False],
            "int8": pa.array([1, None, -3], pa.int8()),
            "uint64": pa.array([1, 2, 2**64 - 1], pa.uint64()),
            "half": pa.array([0.5, None, 1.5], pa.float16()),
            "double": pa.array([0.5, 1.5, None]),
            "binary": pa.array([b"a", None, b"ccc"]),
            "large": pa.array(["a", "", None], pa.large_string()),
            "fixed": pa.array([b"ab", None, b"cd"], pa.binary(2)),
        }
    )


def times() -> pa.Table:
    day = datetime.date(2026, 11, 21)
    return pa.table(
        {
            "date32": pa.array([day, None], pa.date32()),
            "date64": pa.array([day, None], pa.date64()),
            "time32": pa.array([1, None], pa.time32("ms")),
            "time64": pa.array([1, None], pa.time64("ns")),
            "stamp": pa.array([1, None], pa.timestamp("us", "Europe/Rome")),
            "plain": pa.array([1, None], pa.timestamp("s")),
            "duration": pa.array([1, None], pa.duration("ns")),
            "interval": pa.array([pa.MonthDayNano([1, 2, 3]), None]),
            "d128": pa.array([decimal.Decimal("1.25"), None], pa.decimal128(9, 2)),
            "d256": pa.array([decimal.Decimal("1.25"), None], pa.decimal256(50, 2)),
            "d64": pa.array([decimal.Decimal("1.25"), None], pa.decimal64(9, 2)),
            "d32": pa.array([decimal.Decimal("1.25"), None], pa.decimal32(5, 2)),
        }
    )


def nested() -> pa.Table:
    return pa.table(
        {
            "list": pa.array([[1, 2], None, [], [None]], pa.list_(pa.int32())),
            "large": pa.array([["a"], None, [], ["b", None]], pa.large_list(pa.string())),
            "fixed": pa.array([[1, 2], None, [3, 4], [5, 6]], pa.list_(pa.int16(), 2)),
            "map": pa.array([[("k", 1)], None, [], [("l", None)]], pa.map_(pa.string(), pa.int8())),
            "struct": [{"x": 1, "y": ["p"]}, None, {"x": None, "y": []}, {"x": 2, "y": None}],
        }
    )


def views() -> pa.Table:
    values = ["short", "a value that is longer than twelve", None, ""]
    lists = [[1, 2], None, [], [3]]
    return pa.table(
        {
            "string": pa.array(values, pa.string_view()),
            "binary": pa.array([v and v.encode() for v in values], pa.binary_view()),
            "list": pa.array(lists, pa.list_view(pa.int8())),
            "large": pa.array(lists, pa.large_list_view(pa.int64())),
            "number": pa.array([1, 2, 3, 4], pa.int32()),
        }
    )


def dictionaries() -> pa.Table:
    words = pa.array(["x", "y", None, "x"]).dictionary_encode()
    return pa.table(
        {
            "words": words,
            "byte": words.cast(pa.dictionary(pa.int8(), pa.string())),
            "lists": pa.ListArray.from_arrays([0, 2, 2, 3, 4], words),
            "numbers": pa.array([7, 7, 8, None]).dictionary_encode(),
        }
    )


def unions() -> pa.Table:
    ids = pa.array([0, 1, 0], pa.int8())
    sparse = pa.UnionArray.from_sparse(ids, [pa.array([1, 2, 3]), pa.array(["a", "b", "c"])])
    return pa.table(
        {
            "before": [1, 2, 3],
            "union": sparse,
            "runs": pa.RunEndEncodedArray.from_arrays([2, 3], ["p", "q"]),
            "after": ["x", "y", "z"],
        }
    )


TABLES = {
    "simple": simple,
    "times": times,
    "nested": nested,
    "views": views,
    "dictionaries": dictionaries,
}


def write(table: pa.Table, is_file: bool, codec: str | None, **options) -> bytes:
    sink = pa.BufferOutputStream()
    settings = ipc.IpcWriteOptions(compression=codec, **options)
    make = ipc.new_file if is_file else ipc.new_stream
    with make(sink, table.schema, options=settings) as writer:
        writer.write_table(table)
        writer.write_table(table.slice(1))
    return sink.getvalue().to_pybytes()


def deltas(emit_deltas: bool) -> bytes:
    sink = pa.BufferOutputStream()
    schema = pa.schema([("d", pa.dictionary(pa.int8(), pa.string()))])
    options = ipc.IpcWriteOptions(emit_dictionary_deltas=emit_deltas)
    with ipc.new_stream(sink, schema, options=options) as writer:
        for values in (["a", "b"], ["a", "b", "c"], ["a", "b", "c", "d"]):
            indices = pa.array(range(len(values)), pa.int8())
            column = pa.DictionaryArray.from_arrays(indices, values)
            writer.write_batch(pa.record_batch([column], schema=schema))
    return sink.getvalue().to_pybytes()


def polars_file(codec: str, categorical: bool) -> bytes:
    """Its schema has no prefix, its dictionaries lie behind the batches."""
    columns = {"s": ["short", "a value that is longer than twelve", None], "n": [1, None, 3]}
    frame = pl.DataFrame(columns)
    if categorical:
        frame = frame.with_columns(c=pl.Series(["p", "q", "p"], dtype=pl.Enum(["p", "q"])))
    sink = io.BytesIO()
    frame.write_ipc(sink, compression=codec)
    return sink.getvalue()


def metadata() -> pa.Table:
    field = pa.field("a", pa.int64(), nullable=False, metadata={"key": "value"})
    return pa.table([[1, 2]], schema=pa.schema([field], metadata={"of": "the schema"}))


def long_rows() -> pa.Table:
    return pa.table({"n": list(range(500)), "s": ["text that repeats itself"] * 500})


def damaged() -> dict[str, bytes]:
    stream = write(simple(), False, None)
    file = write(nested(), True, "zstd")
    size = struct.unpack_from("<I", stream, 4)[0]
    out = {
        "joined": stream + stream,
        "huge_metadata": stream[:4] + b"\xff\xff\xff\x7f" + stream[8:],
        "no_end": file[:-1],
        "no_footer": file[: len(file) // 2],
        "schema_only": stream[: size + 8],
        "feather_1": b"FEA1" + bytes(60),
        "empty": b"",
        "magic": b"ARROW1\0\0",
        "text": b"not Arrow at all, and yet long enough",
    }
    for at in range(size + 8, len(stream), 97):
        out[f"flip_{at}"] = stream[:at] + bytes([stream[at] ^ 0xFF]) + stream[at + 1 :]
    return out


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for old in FOLDER.iterdir():
        old.unlink()
    for name, make in TABLES.items():
        for codec in (None, "lz4", "zstd"):
            for is_file in (False, True):
                if is_file and name == "dictionaries":
                    continue  # a file may not replace a dictionary, and the slice would
                kind = "file" if is_file else "stream"
                data = write(make(), is_file, codec)
                (FOLDER / f"good_{name}_{kind}_{codec or 'plain'}").write_bytes(data)
    for name, data in {
        "good_dictionaries_file": write(dictionaries(), True, None, unify_dictionaries=True),
        "good_deltas": deltas(True),
        "good_replacements": deltas(False),
        "good_metadata": write(metadata(), False, None),
        "good_v4": write(simple(), False, None, metadata_version=ipc.MetadataVersion.V4),
        "legacy": write(simple(), False, None, use_legacy_format=True),
        "good_long_rows": write(long_rows(), True, "zstd"),
        "good_no_columns": write(pa.table({"a": [1, 2]}).select([]), False, None),
        "good_no_rows": write(simple().slice(0, 0), False, None),
        "good_polars_file": polars_file("zstd", categorical=False),
        "polars_categories": polars_file("uncompressed", categorical=True),
        "unions": write(unions(), False, None),
    }.items():
        (FOLDER / name).write_bytes(data)
    for name, data in damaged().items():
        (FOLDER / f"damaged_{name}").write_bytes(data)


if __name__ == "__main__":
    main()
