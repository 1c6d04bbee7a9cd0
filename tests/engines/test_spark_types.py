"""Every Arrow type is one of Spark's, exactly, or an error that names the column."""

from __future__ import annotations

import datetime
import decimal
import pathlib
from typing import Any

import columnstone as cst
import pyarrow as pa
import pytest
from columnstone._spark import types as t
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

D = decimal.Decimal
STRUCT = pa.struct([("x", pa.large_string()), ("y", pa.large_list(pa.uint8()))])

# type, type of Spark, values with the widest ones, as Spark gives them (if not as Arrow does)
TYPES: list[tuple[Any, ...]] = [
    (pa.bool_(), "boolean", [True, False]),
    (pa.int8(), "tinyint", [-128, 127]),
    (pa.int16(), "smallint", [-(2**15), 2**15 - 1]),
    (pa.int32(), "int", [-(2**31), 2**31 - 1]),
    (pa.int64(), "bigint", [-(2**63), 2**63 - 1]),
    (pa.uint8(), "smallint", [0, 255]),
    (pa.uint16(), "int", [0, 2**16 - 1]),
    (pa.uint32(), "bigint", [0, 2**32 - 1]),
    (pa.uint64(), "decimal(20,0)", [0, 2**64 - 1], [D(0), D(2**64 - 1)]),
    (pa.float16(), "float", [1.5, -65504.0]),
    (pa.float32(), "float", [1.5, 3.4028234663852886e38]),
    (pa.float64(), "double", [0.1, 5e-324]),
    (pa.string(), "string", ["", "\u00fc\0"]),
    (pa.large_string(), "string", ["", "\u00fc"]),
    (pa.string_view(), "string", ["", "longer than twelve bytes"]),
    (pa.binary(), "binary", [b"", b"\xff\0"]),
    (pa.large_binary(), "binary", [b"", b"\xff"]),
    (pa.binary_view(), "binary", [b"", b"longer than twelve bytes"]),
    (pa.binary(2), "binary", [b"ab", b"\xff\0"]),
    (pa.date32(), "date", [datetime.date(1, 1, 1), datetime.date(9999, 12, 31)]),
    (
        pa.date64(),
        "timestamp_ntz",
        [datetime.date(2024, 2, 29), datetime.date(1969, 12, 31)],
        [datetime.datetime(2024, 2, 29), datetime.datetime(1969, 12, 31)],
    ),
    (pa.timestamp("s"), "timestamp_ntz", [datetime.datetime(2024, 2, 29, 1, 2, 3)] * 2),
    (pa.timestamp("ns"), "timestamp_ntz", [datetime.datetime(1969, 12, 31, 1, 2, 3, 4)] * 2),
    (
        pa.timestamp("ms", "Europe/Berlin"),
        "timestamp",
        [datetime.datetime(2024, 2, 29, 1, 2, 3, 4000, datetime.UTC)] * 2,
    ),
    (
        pa.duration("ns"),
        "interval day to second",
        [datetime.timedelta(1, 2, 3), datetime.timedelta(-1)],
    ),
    (pa.time32("ms"), "time(6)", [datetime.time(1, 2, 3, 4000), datetime.time()]),
    (pa.time64("us"), "time(6)", [datetime.time(1, 2, 3, 4), datetime.time()]),
    (pa.decimal128(38, 3), "decimal(38,3)", [D("1.234"), D("-" + "9" * 35 + ".999")]),
    (pa.decimal256(20, 2), "decimal(20,2)", [D("1.23"), D("-1.00")]),
    (pa.null(), "void", [None, None]),
    (pa.list_(pa.int32()), "array<int>", [[1, None], []]),
    (pa.large_list(pa.large_string()), "array<string>", [["a"], []]),
    (pa.list_(pa.float64(), 2), "array<double>", [[1.5, None], [0.0, -1.0]]),
    (
        pa.large_list(pa.large_list(STRUCT)),
        "array<array<struct<x:string,y:array<smallint>>>>",
        [[[{"x": "a", "y": [1]}, None], []], []],
    ),
    (
        pa.map_(pa.large_string(), STRUCT),
        "map<string,struct<x:string,y:array<smallint>>>",
        [[("k", {"x": None, "y": None})], []],
    ),
    (
        STRUCT,
        "struct<x:string,y:array<smallint>>",
        [{"x": "a", "y": [255]}, {"x": None, "y": None}],
    ),
    (pa.dictionary(pa.int8(), pa.large_string()), "string", ["a", "b"]),
    (pa.list_(pa.dictionary(pa.int8(), pa.string())), "array<string>", [["a", None], ["b"]]),
]
NO_TYPES = [
    pa.list_view(pa.int64()),
    pa.run_end_encoded(pa.int32(), pa.string()),
    pa.month_day_nano_interval(),
    pa.decimal256(40, 2),
    pa.decimal128(5, -2),
    pa.sparse_union([pa.field("a", pa.int64())]),
    pa.struct([("a", pa.int64()), ("a", pa.int64())]),
]


def all_types() -> tuple[pa.Table, str, list[list[Any]]]:
    """A table of all types, with a null in every column, its type in Spark, and its values."""
    columns = [pa.array([*entry[2], None], entry[0]) for entry in TYPES]
    names = [f"c{i}" for i in range(len(TYPES))]
    ddl = ", ".join(f"{name} {entry[1]}" for name, entry in zip(names, TYPES, strict=True))
    return pa.table(dict(zip(names, columns, strict=True))), ddl, [[*e[-1], None] for e in TYPES]


def test_types_of_columns() -> None:
    table, ddl, _ = all_types()
    schema = t.spark_schema(table.schema)
    said = ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in schema.fields)
    assert said == ddl
    # What Spark's workers compare the batches with.
    assert t.arrow_schema(schema).equals(to_arrow_schema(schema, timezone="UTC"))


def test_values_are_kept() -> None:
    table, _, expected = all_types()
    wanted = t.arrow_schema(t.spark_schema(table.schema))
    t.check_casts(table.schema, wanted)
    batch = t.cast_batch(table.to_batches()[0], wanted)
    batch.validate(full=True)
    assert [column.to_pylist() for column in batch.columns] == expected


@pytest.mark.parametrize("type", NO_TYPES, ids=str)
@pytest.mark.parametrize("wrap", [lambda t: t, pa.list_, lambda t: pa.struct([("inner", t)])])
def test_what_spark_has_no_type_for(type: pa.DataType, wrap: Any) -> None:
    with pytest.raises(
        cst.errors.UnsupportedError, match=r"^column odd.*: .* is not supported by Spark"
    ) as caught:
        t.spark_schema(pa.schema([("odd", wrap(type))]))
    assert caught.value.path in ("odd", "odd.inner")


def test_two_columns_of_a_name() -> None:
    with pytest.raises(cst.errors.UnsupportedError, match="several columns have the name 'a'"):
        t.spark_schema(pa.schema([("a", pa.int64()), ("a", pa.int64())]))


# found, wanted, value that fits, value that does not
CASTS: list[tuple[pa.DataType, pa.DataType, Any, Any]] = [
    (pa.int64(), pa.int8(), 127, 128),
    (pa.int64(), pa.float64(), 2**53, 2**53 + 1),
    (pa.uint64(), pa.int64(), 2**63 - 1, 2**63),
    (pa.binary(), pa.string(), b"a", b"\xff"),
    (pa.timestamp("ns"), pa.timestamp("us"), 1000, 1001),
    (pa.timestamp("ns", "UTC"), pa.timestamp("us", "UTC"), 1000, 1001),
    (pa.duration("ns"), pa.duration("us"), 1000, 1001),
    (pa.decimal128(4, 2), pa.decimal128(3, 1), D("12.30"), D("12.34")),
    (pa.large_list(pa.int64()), pa.list_(pa.int32()), [1], [2**31]),
]


@pytest.mark.parametrize(("found", "wanted", "good", "bad"), CASTS, ids=str)
def test_casts_lose_nothing(found: Any, wanted: Any, good: Any, bad: Any) -> None:
    field = pa.field("c", wanted)
    t.check_casts(pa.schema([("c", found)]), pa.schema([field]))
    assert t.cast_column(pa.array([good, None], found), field).null_count == 1
    with pytest.raises(
        cst.errors.SchemaError, match=r"^column c: a value of .* without loss"
    ) as caught:
        t.cast_column(pa.array([bad], found), field)
    assert str(bad) not in str(caught.value).replace("decimal128(4, 2)", "")


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (pa.float64(), pa.float32()),
        (pa.float32(), pa.int64()),
        (pa.string(), pa.int64()),
        (pa.int64(), pa.string()),
        (pa.int64(), pa.bool_()),
        (pa.timestamp("us"), pa.timestamp("us", "UTC")),
        (pa.timestamp("us", "UTC"), pa.timestamp("us")),
        (pa.int64(), pa.list_(pa.int64())),
        (pa.list_(pa.int64()), pa.int64()),
        (pa.list_(pa.string()), pa.list_(pa.int64())),
        (pa.map_(pa.string(), pa.int64()), pa.map_(pa.string(), pa.string())),
        (pa.list_view(pa.int64()), pa.list_(pa.int64())),
    ],
    ids=str,
)
def test_types_that_do_not_fit(found: pa.DataType, wanted: pa.DataType) -> None:
    with pytest.raises(
        cst.errors.SchemaError,
        match=r"^column c: found .* in the data, expected .* as in the schema for Spark",
    ):
        t.check_casts(pa.schema([("c", found)]), pa.schema([("c", wanted)]))


def test_what_is_not_there_and_what_may_be_null() -> None:
    data = pa.schema([("a", pa.struct([("x", pa.int64())])), ("l", pa.list_(pa.int64()))])

    def check(*fields: pa.Field) -> None:
        t.check_casts(data, pa.schema(fields))

    check(pa.field("a", pa.struct([("x", pa.int64())])))
    with pytest.raises(
        cst.errors.SchemaError, match=r"column b: .* not in the data \(the data has a, l\)"
    ):
        check(pa.field("b", pa.int64()))
    with pytest.raises(
        cst.errors.SchemaError, match=r"column a\.y: it is in the schema for Spark, but not"
    ):
        check(pa.field("a", pa.struct([("y", pa.int64())])))
    with pytest.raises(cst.errors.SchemaError, match=r"column a\.x: its values may be null"):
        check(pa.field("a", pa.struct([pa.field("x", pa.int64(), False)])))
    with pytest.raises(cst.errors.SchemaError, match="column l: its values may be null"):
        check(pa.field("l", pa.list_(pa.field("element", pa.int64(), False))))
    with pytest.raises(cst.errors.SchemaError, match=r"column a: a value is null, but .* NOT NULL"):
        t.cast_column(pa.array([None], pa.int64()), pa.field("a", pa.int64(), False))


def test_spark_reads_all_types(tmp_path: pathlib.Path, spark: Any) -> None:
    table, ddl, expected = all_types()
    with (
        pa.OSFile(str(tmp_path / "all.arrow"), "wb") as file,
        pa.ipc.new_file(file, table.schema) as w,
    ):
        w.write_table(table)
    frame = spark.read.format("columnstone").load(str(tmp_path / "all.arrow"))
    assert frame.schema == StructType.fromDDL(ddl)
    got = frame.toArrow()
    for name, values in zip(table.column_names, expected, strict=True):
        assert got[name].to_pylist() == values, name
