"""Avro by a schema that is given: what columns become, and what does not fit."""

from __future__ import annotations

import datetime
import decimal
import json
import pathlib
from typing import Any

import avro_files as avro
import columnstone as cst
import fastavro
import pyarrow as pa
import pytest


def schema_of(**fields: Any) -> dict[str, Any]:
    made = [
        field
        if isinstance(field, dict) and field.get("name") == name
        else {"name": name, "type": field}
        for name, field in fields.items()
    ]
    return {"type": "record", "name": "Row", "namespace": "shop", "fields": made}


def table(path: pathlib.Path | str, **options: Any) -> pa.Table:
    return pa.table(cst.open(str(path), **options))


def written(path: pathlib.Path, data: Any, schema: Any) -> list[Any]:
    """What fastavro reads of what was written."""
    cst.write(data, path, avro_schema=schema)
    with path.open("rb") as file:
        reader = fastavro.reader(file)
        assert fastavro.parse_schema(reader.writer_schema) == fastavro.parse_schema(schema)
        return list(reader)


@pytest.mark.parametrize("seed", range(80))
def test_random_files_are_taken_back(tmp_path: pathlib.Path, seed: int) -> None:
    """Read and written again by the file's schema, unions and all: the same values."""
    maker = avro.Maker(seed)
    schema = maker.record(3, fields=5) if seed % 4 else maker.schema()
    values = [maker.value(schema) for _ in range(20)]
    path, copy = tmp_path / "a.avro", tmp_path / "b.avro"
    path.write_bytes(avro.container(schema, values))
    cst.convert(path, copy, avro_schema=str(path))
    assert table(copy).equals(table(path))
    with path.open("rb") as first, copy.open("rb") as second:
        a, b = fastavro.reader(first), fastavro.reader(second)
        assert a.writer_schema == b.writer_schema
        assert list(a) == list(b)
    records = cst.encoder("avro", schema=json.dumps(schema)).encode(table(path))
    decoded = cst.decoder("avro", schema=json.dumps(schema)).decode(records)
    assert pa.table(pa.record_batch(decoded)).equals(table(path).combine_chunks())


def test_fields_by_name(tmp_path: pathlib.Path) -> None:
    schema = schema_of(
        b="long",
        a=["null", "string"],
        gone={"name": "gone", "type": "int", "default": 7},
        maybe=["string", "null"],
        nothing="null",
    )
    data = pa.table({"a": ["x", None], "b": pa.array([1, 2], pa.int8())})
    rest = {"gone": 7, "maybe": None, "nothing": None}
    assert written(tmp_path / "a.avro", data, schema) == [
        {"b": 1, "a": "x", **rest},
        {"b": 2, "a": None, **rest},
    ]


DAY = datetime.date(2024, 2, 29)
AT = datetime.datetime(2024, 2, 29, 12, 30, 1, 5000, datetime.UTC)
COLOR = {"type": "enum", "name": "Color", "symbols": ["RED", "BLUE"]}


def logical(kind: str, name: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "logicalType": name, **more}


def fixed(size: int, name: str | None = None, **more: Any) -> dict[str, Any]:
    extra = {} if name is None else {"logicalType": name}
    return {"type": "fixed", "name": "F", "size": size, **extra, **more}


FITS: dict[str, tuple[pa.Array, Any, list[Any]]] = {
    "int to int": (pa.array([-5, 2**31 - 1], pa.int64()), "int", [-5, 2**31 - 1]),
    "unsigned to int": (pa.array([7], pa.uint32()), "int", [7]),
    "unsigned to long": (pa.array([2**63 - 1], pa.uint64()), "long", [2**63 - 1]),
    "int to float": (pa.array([2**24]), "float", [2.0**24]),
    "int to double": (pa.array([-(2**53)]), "double", [-(2.0**53)]),
    "float to double": (pa.array([0.5, 1.5], pa.float32()), "double", [0.5, 1.5]),
    "double to float": (pa.array([0.5, float("inf")]), "float", [0.5, float("inf")]),
    "text to bytes": (pa.array(["é"]), "bytes", ["é".encode()]),
    "bytes to string": (pa.array(["é".encode()]), "string", ["é"]),
    "text to enum": (pa.array(["BLUE", "RED"]), COLOR, ["BLUE", "RED"]),
    "dictionary to enum": (pa.array(["BLUE", "BLUE"]).dictionary_encode(), COLOR, ["BLUE"] * 2),
    "numbers to enum": (pa.array([1, 0], pa.int32()), COLOR, ["BLUE", "RED"]),
    "bytes to fixed": (pa.array([b"abc"]), fixed(3), [b"abc"]),
    "fixed to bytes": (pa.array([b"abc"], pa.binary(3)), "bytes", [b"abc"]),
    "decimal to fixed": (
        pa.array([decimal.Decimal("-1.25"), decimal.Decimal("99.99")], pa.decimal128(4, 2)),
        fixed(3, "decimal", precision=6, scale=2),
        [decimal.Decimal("-1.25"), decimal.Decimal("99.99")],
    ),
    "decimal to a long fixed": (
        pa.array([decimal.Decimal("-1.25")], pa.decimal128(4, 2)),
        fixed(30, "decimal", precision=6, scale=2),
        [decimal.Decimal("-1.25")],
    ),
    "decimal to bytes": (
        pa.array([decimal.Decimal("1.25")], pa.decimal128(4, 2)),
        logical("bytes", "decimal", precision=9, scale=2),
        [decimal.Decimal("1.25")],
    ),
    "date": (pa.array([DAY]), logical("int", "date"), [DAY]),
    "date64": (pa.array([DAY], pa.date64()), logical("int", "date"), [DAY]),
    "time to millis": (
        pa.array([datetime.time(1, 2, 3, 4000)], pa.time64("ns")),
        logical("int", "time-millis"),
        [datetime.time(1, 2, 3, 4000)],
    ),
    "nanos to millis": (
        pa.array([AT], pa.timestamp("ns", "UTC")),
        logical("long", "timestamp-millis"),
        [AT],
    ),
    "millis to micros": (
        pa.array([AT], pa.timestamp("ms", "Europe/Rome")),
        logical("long", "timestamp-micros"),
        [AT],
    ),
    "local": (
        pa.array([AT.replace(tzinfo=None)], pa.timestamp("s")),
        logical("long", "local-timestamp-micros"),
        [AT.replace(tzinfo=None, microsecond=0)],
    ),
    "one type of a union": (pa.array([5, None]), ["string", "null", "long"], [5, None]),
    "first type that fits": (pa.array([5]), ["null", "string", "double"], [5.0]),
    "dictionary to a union": (
        pa.array(["a", None]).dictionary_encode(),
        ["null", "long", "string"],
        ["a", None],
    ),
    "null to a union": (pa.nulls(2), ["string", "null"], [None, None]),
    "union of two": (
        pa.array([{"string": "a", "long": None}, {"string": None, "long": 5}, None]),
        ["string", "null", "long"],
        ["a", 5, None],
    ),
    "a union with nothing set": (
        pa.array([{"string": "a", "long": None}, {"string": None, "long": None}]),
        ["string", "null", "long"],
        ["a", None],
    ),
    "map": (
        pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64())),
        {"type": "map", "values": "int"},
        [{"k": 1}],
    ),
    "list": (
        pa.array([[1, 2], []], pa.list_view(pa.int64())),
        {"type": "array", "items": "float"},
        [[1.0, 2.0], []],
    ),
    "record": (
        pa.array([{"x": 1, "y": "a"}]),
        {
            "type": "record",
            "name": "In",
            "fields": [{"name": "y", "type": "string"}, {"name": "x", "type": "long"}],
        },
        [{"y": "a", "x": 1}],
    ),
}


@pytest.mark.parametrize("name", FITS)
def test_what_fits(tmp_path: pathlib.Path, name: str) -> None:
    column, kind, expected = FITS[name]
    rows = written(tmp_path / "a.avro", pa.table({"c": column}), schema_of(c=kind))
    assert [row["c"] for row in rows] == expected
    encoder = cst.encoder("avro", schema=json.dumps(schema_of(c=kind)))
    batch = cst.decoder("avro", schema=schema_of(c=kind)).decode(
        encoder.encode(pa.table({"c": column}))
    )
    assert len(pa.record_batch(batch)) == len(expected)


MISFITS: dict[str, tuple[pa.Array, Any, str]] = {
    "too large": (pa.array([1, 2**31]), "int", "an integer outside the range of its type"),
    "inexact": (
        pa.array([1, 2**53 + 1]),
        "double",
        "a number that the type cannot represent exactly",
    ),
    "inexact float": (
        pa.array([1.0, 0.1]),
        "float",
        "a number that the type cannot represent exactly",
    ),
    "unsigned": (pa.array([1, 2**63], pa.uint64()), "long", "larger than"),
    "no UTF-8": (pa.array([b"a", b"\xff"]), "string", "not UTF-8"),
    "no symbol": (pa.array(["RED", "GREEN"]), COLOR, "not a symbol"),
    "no number of a symbol": (pa.array([0, 2]), COLOR, "outside the range of its type"),
    "another size": (
        pa.array([b"abc", b"ab"]),
        fixed(3),
        "bytes whose length differs from the fixed type",
    ),
    "a null": (pa.array(["a", None]), "string", "a null"),
    "inexact time": (
        pa.array([0, 1], pa.timestamp("us", "UTC")),
        logical("long", "timestamp-millis"),
        "a time that the Avro unit cannot represent exactly",
    ),
    "two types": (
        pa.array([{"string": "a", "long": None}, {"string": "a", "long": 5}]),
        ["string", "null", "long"],
        "a union value with two types",
    ),
    "no type": (
        pa.array([{"string": "a", "long": None}, {"string": None, "long": None}]),
        ["string", "long"],
        "a union value without a type",
    ),
}


@pytest.mark.parametrize("name", MISFITS)
def test_values_that_do_not_fit(tmp_path: pathlib.Path, name: str) -> None:
    column, kind, text = MISFITS[name]
    with pytest.raises(cst.errors.UnsupportedError, match=text) as caught:
        cst.write(pa.table({"c": column}), tmp_path / "a.avro", avro_schema=schema_of(c=kind))
    assert (caught.value.record, caught.value.path) == (1, "c")
    assert not (tmp_path / "a.avro").exists()


WRONG: dict[str, tuple[pa.Array, Any, str, str]] = {
    "text to long": (pa.array(["a"]), "long", "c", "cannot be written"),
    "timestamp to long": (pa.array([AT]), "long", "c", "cannot be written"),
    "utc to local": (pa.array([AT]), logical("long", "local-timestamp-micros"), "c", "cannot be"),
    "scale": (
        pa.array([decimal.Decimal("1.5")]),
        logical("bytes", "decimal", precision=9, scale=2),
        "c",
        "cannot be written",
    ),
    "no type of a union": (pa.array([True]), ["null", "string"], "c", "cannot be written"),
    "below a union": (
        pa.array([{"string": "a", "long": "b"}]),
        ["string", "null", "long"],
        "c.long",
        "cannot be written",
    ),
    "no such field": (
        pa.array([{"x": 1, "z": 2}]),
        {"type": "record", "name": "In", "fields": [{"name": "x", "type": "long"}]},
        "c.z",
        "no field of this name",
    ),
    "no such column": (
        pa.array([{"x": 1}]),
        {
            "type": "record",
            "name": "In",
            "fields": [{"name": "x", "type": "long"}, {"name": "y", "type": "long"}],
        },
        "c.y",
        "a field of the schema has neither a column nor a default",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_columns_that_do_not_fit(tmp_path: pathlib.Path, name: str) -> None:
    column, kind, path, text = WRONG[name]
    with pytest.raises(cst.errors.SchemaError, match=text) as caught:
        cst.write(pa.table({"c": column}), tmp_path / "a.avro", avro_schema=schema_of(c=kind))
    assert caught.value.path == path


def test_dictionaries_of_encoders() -> None:
    column = pa.array(["a", None, "b"]).dictionary_encode()
    records = cst.encoder("avro", avro_framing="plain").encode(pa.table({"c": column}))
    assert pa.array(records).to_pylist() == [b"\x02\x02a", b"\x00", b"\x02\x02b"]


def test_schemas_that_are_none(tmp_path: pathlib.Path) -> None:
    empty = tmp_path / "empty.avsc"
    empty.touch()
    for schema in ['{"type": "rec"}', "[1]", str(empty)]:
        with pytest.raises(cst.errors.SchemaError):
            cst.write({"a": [1]}, tmp_path / "a.avro", avro_schema=schema)
    with pytest.raises(cst.errors.NotFoundError):
        cst.write({"a": [1]}, tmp_path / "a.avro", avro_schema=str(tmp_path / "lost.avsc"))
    with pytest.raises(cst.errors.SchemaError, match="named value"):
        cst.write({"a": [1]}, tmp_path / "a.avro", avro_schema='"long"')
    assert cst.write({"value": [1]}, tmp_path / "a.avro", avro_schema='"long"') == 1
