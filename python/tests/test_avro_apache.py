"""Avro as Apache's own package for Python has it."""

from __future__ import annotations

import datetime
import decimal
import io
import json
import pathlib
from typing import Any

import avro.datafile
import avro.errors
import avro.io
import avro.schema
import avro_files as own
import columnstone as cst
import pyarrow as pa
import pytest

CODECS = ["null", "deflate", "bzip2", "zstandard", "snappy"]


def codecs() -> list[str]:
    """Those that are there: of some, the package needs others."""
    from avro.codecs import KNOWN_CODECS

    return [name for name in CODECS if name in KNOWN_CODECS]


def read_theirs(path: pathlib.Path) -> list[Any]:
    with avro.datafile.DataFileReader(path.open("rb"), avro.io.DatumReader()) as reader:
        return list(reader)


def rows(path: pathlib.Path, **options: Any) -> list[dict[str, Any]]:
    return pa.table(cst.open(path, **options)).to_pylist()


@pytest.mark.parametrize("codec", codecs())
def test_codecs(tmp_path: pathlib.Path, codec: str) -> None:
    schema = {"type": "record", "name": "R", "fields": [{"name": "a", "type": "string"}]}
    values = [{"a": f"text {i}" * 5} for i in range(1000)]
    path = tmp_path / "a.avro"
    parsed = avro.schema.make_avsc_object(schema)
    with avro.datafile.DataFileWriter(
        path.open("wb"), avro.io.DatumWriter(), parsed, codec=codec
    ) as writer:
        for value in values:
            writer.append(value)
    assert rows(path) == values
    copy = tmp_path / "b.avro"
    cst.convert(path, copy, avro_codec=codec, avro_schema=str(path))
    assert read_theirs(copy) == values


@pytest.mark.parametrize("seed", range(60))
def test_random_both_ways(tmp_path: pathlib.Path, seed: int) -> None:
    """What we wrote they read, and the other way round."""
    maker = own.Maker(seed)
    schema = maker.record(3, fields=4)
    values = [maker.value(schema) for _ in range(15)]
    path, copy = tmp_path / "a.avro", tmp_path / "b.avro"
    path.write_bytes(own.container(schema, values))
    cst.convert(path, copy, avro_schema=str(path))
    expected = [own.as_peers(schema, value) for value in values]
    assert read_theirs(path) == read_theirs(copy) == expected
    parsed = avro.schema.make_avsc_object(schema)
    records = []
    for value in expected:
        out = io.BytesIO()
        avro.io.DatumWriter(parsed).write(value, avro.io.BinaryEncoder(out))
        records.append(out.getvalue())
    decoder = cst.decoder("avro", schema=schema)
    again = cst.encoder("avro", schema=schema).encode(decoder.decode(records))
    reader = avro.io.DatumReader(parsed)
    found = [
        reader.read(avro.io.BinaryDecoder(io.BytesIO(record)))
        for record in pa.array(again).to_pylist()
    ]
    assert found == expected


@pytest.mark.parametrize("seed", range(60))
def test_canonical_form(seed: int) -> None:
    schema = own.Maker(seed).record(3, fields=4)
    parsed = avro.schema.make_avsc_object(schema)
    assert cst.avro.canonical(schema) == parsed.canonical_form
    assert cst.avro.fingerprint(schema) == parsed.fingerprint()


def again(schema: Any, values: list[Any]) -> list[Any]:
    """Written and read by them."""
    parsed = avro.schema.make_avsc_object(schema)
    made = []
    for value in values:
        out = io.BytesIO()
        avro.io.DatumWriter(parsed).write(value, avro.io.BinaryEncoder(out))
        reader = avro.io.DatumReader(parsed)
        made.append(reader.read(avro.io.BinaryDecoder(io.BytesIO(out.getvalue()))))
    return made


def changed(maker: own.Maker, schema: Any) -> Any:
    """A schema that reads it, or nearly."""
    r = maker.random
    promoted = {"int": ["long", "float", "double"], "long": ["float", "double"]}
    promoted |= {"float": ["double"], "string": ["bytes"]}
    match own.kind_of(schema):
        case "record":
            fields = [{**f, "type": changed(maker, f["type"])} for f in schema["fields"]]
            fields = [f for f in fields if r.random() < 0.8]
            r.shuffle(fields)
            if r.random() < 0.5:
                fields.append({"name": "more", "type": "int", "default": 7})
            return {**schema, "fields": fields}
        case "array":
            return {**schema, "items": changed(maker, schema["items"])}
        case "map":
            return {**schema, "values": changed(maker, schema["values"])}
        case "union":
            return [changed(maker, branch) for branch in schema]
    return r.choice([schema, *promoted.get(schema if isinstance(schema, str) else "", [])])


@pytest.mark.parametrize("seed", range(80))
def test_resolution_of_random_pairs(seed: int) -> None:
    maker = own.Maker(seed)
    schema = maker.record(2, fields=4)
    values = [maker.value(schema) for _ in range(10)]
    records = [own.encode(schema, value) for value in values]
    wanted = changed(maker, schema)
    try:
        reader = avro.io.DatumReader(
            avro.schema.make_avsc_object(schema), avro.schema.make_avsc_object(wanted)
        )
        expected = [reader.read(avro.io.BinaryDecoder(io.BytesIO(record))) for record in records]
    except avro.errors.AvroException:
        pytest.skip("no such pair, for them")
    expected = again(wanted, expected)  # their reader leaves numbers as they were written
    decoder = cst.decoder("avro", schema=wanted, avro_writer_schema=schema)
    assert decoder.arrow_schema is not None
    encoder = cst.encoder("avro", schema=wanted)
    own_reader = avro.io.DatumReader(avro.schema.make_avsc_object(wanted))
    found = [
        own_reader.read(avro.io.BinaryDecoder(io.BytesIO(record)))
        for record in pa.array(encoder.encode(decoder.decode(records))).to_pylist()
    ]
    assert found == expected


LOGICAL = {
    "type": "record",
    "name": "Logical",
    "fields": [
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "at", "type": ["null", {"type": "long", "logicalType": "timestamp-micros"}]},
        {
            "name": "cost",
            "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2},
        },
        {"name": "time", "type": {"type": "int", "logicalType": "time-millis"}},
    ],
}


def test_logical_types(tmp_path: pathlib.Path) -> None:
    utc = datetime.UTC
    values = [
        {
            "day": datetime.date(2024, 2, 29),
            "at": datetime.datetime(2024, 2, 29, 1, 2, 3, 4, utc),
            "cost": decimal.Decimal("-12.34"),
            "time": datetime.time(1, 2, 3, 4000),
        },
        {
            "day": datetime.date(1969, 1, 1),
            "at": None,
            "cost": decimal.Decimal("0.01"),
            "time": datetime.time(0),
        },
    ]
    path = tmp_path / "a.avro"
    cst.write(pa.Table.from_pylist(values), path, avro_schema=json.dumps(LOGICAL))
    assert read_theirs(path) == values
    assert rows(path) == values
