"""Avro values that are records by themselves: prefixes, tables of schemas, containers, bad ones."""

from __future__ import annotations

import io
import json
import pathlib
import pickle
from typing import Any

import avro_files as avro
import columnstone as cst
import fastavro
import numpy as np
import pyarrow as pa
import pytest

V1 = {"type": "record", "name": "Event", "fields": [{"name": "id", "type": "int"}]}
V2 = {
    "type": "record",
    "name": "Event",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "who", "type": ["null", "string"], "default": None},
        {"name": "tags", "type": {"type": "array", "items": "string"}, "default": []},
    ],
}
V2_TEXT = json.dumps(V2)
ROWS = [{"id": i, "who": "ann" if i % 2 else None, "tags": ["t"] * (i % 3)} for i in range(10)]


def datum(schema: Any, value: Any) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(schema), value)
    return out.getvalue()


def single(schema: Any, value: Any) -> bytes:
    return b"\xc3\x01" + cst.avro.fingerprint(schema) + datum(schema, value)


def confluent(number: int, schema: Any, value: Any) -> bytes:
    return b"\0" + number.to_bytes(4, "big") + datum(schema, value)


def apicurio(number: int, schema: Any, value: Any) -> bytes:
    return b"\0" + number.to_bytes(8, "big") + datum(schema, value)


def decoded(decoder: Any, records: Any) -> list[dict[str, Any]]:
    return pa.record_batch(decoder.decode(records)).to_pylist()


def old(i: int) -> dict[str, Any]:
    return {"id": i, "who": None, "tags": []}


@pytest.mark.parametrize("seed", range(60))
def test_random_datums(seed: int) -> None:
    maker = avro.Maker(seed)
    schema = maker.record(3, fields=4) if seed % 4 else maker.schema()
    values = [maker.value(schema) for _ in range(seed)]
    expected = [avro.plain(schema, value) for value in values]
    if avro.kind_of(schema) != "record":
        expected = [{"value": value} for value in expected]
    records = [avro.encode(schema, value, seed % 2 == 0) for value in values]
    text = json.dumps(schema)
    decoder = cst.decoder("avro", schema=text)
    assert decoded(decoder, records) == expected
    assert decoded(decoder, pa.array(records, pa.large_binary())) == expected
    mark = b"\xc3\x01" + cst.avro.fingerprint(text)
    assert decoded(decoder, [mark + record for record in records]) == expected


def test_single_objects_of_several_schemas() -> None:
    records = [single(V1, {"id": 1}), single(V2, ROWS[1]), datum(V2, ROWS[2])]
    decoder = cst.decoder("avro", schema=V2, avro_schemas=[json.dumps(V1)])
    assert decoded(decoder, records) == [old(1), ROWS[1], ROWS[2]]
    assert decoded(pickle.loads(pickle.dumps(decoder)), records) == [old(1), ROWS[1], ROWS[2]]
    by_bytes = cst.decoder("avro", schema=V2, avro_schemas={cst.avro.fingerprint(V1): V1})
    assert decoded(by_bytes, records[:2]) == [old(1), ROWS[1]]
    strict = cst.decoder("avro", schema=V2, avro_framing="single_object")
    assert decoded(strict, records[1:2]) == [ROWS[1]]
    mark = int.from_bytes(cst.avro.fingerprint(V1), "little")
    with pytest.raises(cst.errors.SchemaError, match=f"fingerprint {mark:016x}") as caught:
        strict.decode(records)
    assert caught.value.record == 0
    with pytest.raises(cst.errors.CorruptError, match="prefix of single_object"):
        strict.decode(records[2:])
    mix = cst.decoder("avro", schema=V2)
    with pytest.raises(cst.errors.CorruptError, match="record 0"):
        mix.decode([single(V1, {"id": 1})])


@pytest.mark.parametrize(
    ("framing", "prefixed"), [("confluent", confluent), ("apicurio", apicurio)]
)
def test_numbers(framing: str, prefixed: Any) -> None:
    table = {9: V2_TEXT, 7: V1}
    decoder = cst.decoder("avro", schema=V2, avro_framing=framing, avro_schemas=table)
    records = [prefixed(7, V1, {"id": 5}), prefixed(9, V2, ROWS[4])]
    assert decoded(decoder, records) == [old(5), ROWS[4]]
    narrow = cst.decoder("avro", columns=["id"], avro_framing=framing, avro_schemas=table)
    assert narrow.arrow_schema is not None
    assert decoded(narrow, records) == [{"id": 5}, {"id": 4}]  # as the first one has it
    with pytest.raises(cst.errors.SchemaError, match="unknown schema id 8") as caught:
        decoder.decode([*records, prefixed(8, V1, {"id": 5})])
    assert caught.value.record == 2
    assert "avro_schemas" in str(caught.value)
    for record in [b"", b"\0", b"\0\0\0", b"\x01" + records[0][1:]]:
        with pytest.raises(cst.errors.CorruptError, match=f"prefix of {framing}"):
            decoder.decode([record])


class Registry:
    """Finds schemas by a function, and notes what it was asked for."""

    def __init__(self, schemas: dict[Any, Any]) -> None:
        self.schemas = schemas
        self.asked: list[Any] = []

    def find(self, id: Any) -> Any:
        self.asked.append(id)
        return self.schemas.get(id)


def test_a_function_finds_schemas() -> None:
    registry = Registry({7: V1, 9: V2_TEXT})
    decoder = cst.decoder("avro", schema=V2, avro_framing="confluent", avro_schemas=registry.find)
    records = [confluent(7, V1, {"id": 5}), confluent(7, V1, {"id": 6})]
    assert decoded(decoder, iter(records)) == [old(5), old(6)]
    more = [*records, confluent(9, V2, ROWS[1])]
    expected = [old(5), old(6), ROWS[1]]
    assert decoded(decoder, pa.array(more, pa.large_binary())) == expected
    assert decoded(decoder, pa.table({"value": pa.array(more, pa.binary())})) == expected
    assert registry.asked == [7, 9]
    for _ in range(2):
        with pytest.raises(cst.errors.SchemaError, match="unknown schema id 8"):
            decoder.decode([confluent(8, V1, {"id": 5})])
    with pytest.raises(cst.errors.CorruptError):
        decoder.decode([b"\0\0"])
    assert registry.asked == [7, 9, 8]
    assert decoded(pickle.loads(pickle.dumps(decoder)), more) == expected
    mark = cst.avro.fingerprint(V1)
    by_mark = Registry({mark: V1})
    decoder = cst.decoder("avro", schema=V2, avro_schemas=by_mark.find)
    mixed = [single(V1, {"id": 5}), datum(V2, ROWS[2]), single(V2, ROWS[3])]
    assert decoded(decoder, mixed) == [old(5), ROWS[2], ROWS[3]]
    assert mark in by_mark.asked


def test_a_function_that_fails_or_cannot_be_asked(tmp_path: pathlib.Path) -> None:
    def lost(id: int) -> str:
        raise KeyError(id)

    record = confluent(7, V1, {"id": 5})
    options: dict[str, Any] = {"avro_framing": "confluent", "avro_schemas": lost}
    with pytest.raises(KeyError):
        cst.decoder("avro", schema=V2, **options).decode([record])
    with pytest.raises(cst.errors.ArgumentError, match="records do not name the schema"):
        cst.decoder("avro", schema=V2, avro_framing="plain", avro_schemas=lost)
    path = write_events(tmp_path / "a.tfrecord", [record])
    with pytest.raises(cst.errors.ArgumentError, match="only decoders take one"):
        read(path, avro_schema=V2, **options)


def test_writer_of_plain_records() -> None:
    decoder = cst.decoder("avro", schema=V2, avro_writer_schema=json.dumps(V1))
    assert decoded(decoder, [datum(V1, {"id": 3})]) == [old(3)]
    plain = cst.decoder("avro", schema=V2, avro_framing="plain")
    assert decoded(plain, [datum(V2, row) for row in ROWS]) == ROWS
    with pytest.raises(
        cst.errors.CorruptError, match="trailing bytes after the value of a record"
    ) as caught:
        plain.decode([datum(V2, ROWS[0]) + b"\0"])
    assert caught.value.record == 0
    with pytest.raises(cst.errors.CorruptError) as caught:
        plain.decode([datum(V2, ROWS[0]), datum(V2, ROWS[1])[:-3]])
    assert caught.value.record == 1


def test_a_schema_that_cannot_be_read_is_an_error_of_its_records() -> None:
    other = {"type": "record", "name": "Event", "fields": [{"name": "id", "type": "string"}]}
    decoder = cst.decoder("avro", schema=V2, avro_framing="confluent", avro_schemas={1: other})
    for _ in range(2):
        with pytest.raises(cst.errors.SchemaError, match="cannot be read") as caught:
            decoder.decode([confluent(1, other, {"id": "x"})])
        assert (caught.value.record, caught.value.path) == (0, "id")


def test_arguments() -> None:
    for options in [{"avro_framing": "confluent"}, {"avro_schemas": {}}]:
        with pytest.raises(cst.errors.ArgumentError, match="none is given"):
            cst.decoder("avro", **options)
    bad: list[tuple[Any, type[Exception], str]] = [
        ({1: "{"}, cst.errors.SchemaError, "not valid JSON"),
        ('{"x": "int"}', cst.errors.SchemaError, "a key that is not a number"),
        ("[7]", cst.errors.SchemaError, "an invalid type"),
        ({-1: "int"}, cst.errors.ArgumentError, "64 bits"),
        ({"a": "int"}, TypeError, "str"),
        (7, TypeError, "int"),
    ]
    for table, kind, text in bad:
        with pytest.raises(kind, match=text):
            cst.decoder("avro", schema=V2, avro_schemas=table)
    with pytest.raises(cst.errors.ArgumentError, match="avro_framing"):
        cst.decoder("avro", schema=V2, avro_framing="kafka")
    with pytest.raises(cst.errors.ArgumentError, match="avro_schema_id"):
        cst.encoder("avro", avro_framing="confluent")
    with pytest.raises(cst.errors.ArgumentError, match="32 bits"):
        cst.encoder("avro", avro_framing="confluent", avro_schema_id=2**32)


# ---- containers ----


def write_events(path: pathlib.Path, records: list[bytes], **options: Any) -> str:
    with cst.codec.TFRecordWriter(str(path), **options) as writer:
        for record in records:
            writer.write(record)
    return str(path)


def read(path: str, **options: Any) -> list[dict[str, Any]]:
    with cst.open(path, format="avro", **options) as source:
        return [row for batch in source for row in pa.record_batch(batch).to_pylist()]


def test_tfrecords_and_delimited(tmp_path: pathlib.Path) -> None:
    records = [confluent(9, V2, row) for row in ROWS]
    options: dict[str, Any] = {"avro_framing": "confluent", "avro_schemas": {9: V2}}
    found = write_events(tmp_path / "a.tfrecord", records)
    assert read(found, **options) == ROWS
    assert read(found, **options, threads=2, batch_size=3, columns=["who"])[1] == {"who": "ann"}
    named = write_events(tmp_path / "b.bin", records, container="delimited")
    assert read(named, container="delimited", **options) == ROWS
    assert read(found, avro_framing="confluent", avro_schemas=json.dumps({"9": V2})) == ROWS
    (tmp_path / "table.json").write_text(json.dumps({"9": V2}))
    table = str(tmp_path / "table.json")
    assert read(found, avro_framing="confluent", avro_schemas=table) == ROWS
    with pytest.raises(cst.errors.ArgumentError, match="none is given"):
        read(found)
    large = write_events(tmp_path / "large.tfrecord", records * 1000)
    splits = cst.plan(large, format="avro", target_bytes=100_000)
    assert len(splits) > 1
    rows = [
        row
        for split in splits
        for batch in cst.open(split, format="avro", **options)
        for row in pa.record_batch(batch).to_pylist()
    ]
    assert rows == ROWS * 1000


def test_bad_records_are_skipped_or_null(tmp_path: pathlib.Path) -> None:
    records = [confluent(9, V2, row) for row in ROWS]
    records[3] = confluent(8, V2, ROWS[3])
    records[5] = records[5][:-2]
    path = write_events(tmp_path / "a.tfrecord", records)
    options: dict[str, Any] = {"avro_framing": "confluent", "avro_schemas": {9: V2}}
    kept = [row for i, row in enumerate(ROWS) if i not in (3, 5)]
    assert read(path, **options, on_error="skip") == kept
    nulls = dict.fromkeys(ROWS[0])
    expected = [nulls if i in (3, 5) else row for i, row in enumerate(ROWS)]
    assert read(path, **options, on_error="null") == expected
    with cst.open(path, format="avro", **options) as source:
        assert not source.verify().ok


def test_rows_of_nulls_of_nested_columns(tmp_path: pathlib.Path) -> None:
    maker = avro.Maker(5)
    schema = {
        "type": "record",
        "name": "Deep",
        "fields": [{"name": f"f{i}", "type": maker.record(3, fields=3)} for i in range(3)],
    }
    values = [maker.value(schema) for _ in range(30)]
    records = [avro.encode(schema, value) for value in values]
    expected: list[Any] = [avro.plain(schema, value) for value in values]
    for i in (0, 7, 8, 29):
        records[i] += b"?"
        expected[i] = dict.fromkeys(expected[i])
    path = write_events(tmp_path / "a.tfrecord", records)
    assert read(path, avro_schema=schema, on_error="null") == expected


def test_options_of_the_other_use_are_refused(tmp_path: pathlib.Path) -> None:
    cst.write(ROWS, tmp_path / "a.avro")
    assert read(str(tmp_path / "a.avro")) == ROWS
    with pytest.raises(cst.errors.ArgumentError, match="avro_framing"):
        read(str(tmp_path / "a.avro"), avro_framing="confluent")
    with pytest.raises(cst.errors.ArgumentError, match="avro_codec"):
        cst.write(ROWS, tmp_path / "a.tfrecord", format="avro", avro_codec="null")


def test_views_and_tensors(tmp_path: pathlib.Path) -> None:
    path = write_events(tmp_path / "a.tfrecord", [datum(V2, row) for row in ROWS])
    decoder = cst.decoder("avro", schema=V2)
    query = cst.Query(decoder.arrow_schema).output("id", "id").output("n", "size(tags)")
    expected = [{"id": row["id"], "n": len(row["tags"])} for row in ROWS]
    assert read(path, avro_schema=V2, view=query) == expected
    batch = query.view().apply(decoder.decode([datum(V2, row) for row in ROWS]))
    assert pa.record_batch(batch).to_pylist() == expected
    with cst.open(path, format="avro", avro_schema=V2, columns=["id"], batch_size=10) as source:
        (tensors,) = source.tensors()
    assert np.asarray(tensors["id"]).ravel().tolist() == list(range(10))


# ---- back ----


@pytest.mark.parametrize("framing", ["plain", "single_object", "confluent", "apicurio"])
def test_written(tmp_path: pathlib.Path, framing: str) -> None:
    options: dict[str, Any] = {"avro_framing": framing}
    if framing in ("confluent", "apicurio"):
        options["avro_schema_id"] = 300
    table = pa.Table.from_pylist(ROWS)
    encoder = cst.encoder("avro", **options)
    records = pa.array(encoder.encode(table)).to_pylist()
    assert pa.array(pickle.loads(pickle.dumps(encoder)).encode(table)).to_pylist() == records
    cst.write(table, tmp_path / "a.avro")
    with open(tmp_path / "a.avro", "rb") as file:
        schema = fastavro.reader(file).writer_schema
    prefix = {
        "plain": b"",
        "single_object": b"\xc3\x01" + cst.avro.fingerprint(schema),
        "confluent": b"\0\0\0\x01\x2c",
        "apicurio": b"\0\0\0\0\0\0\0\x01\x2c",
    }[framing]
    assert records == [prefix + datum(schema, row) for row in ROWS]
    cst.write(table, tmp_path / "a.tfrecord", format="avro", **options)
    back = {"avro_schemas": {300: schema}, "avro_schema": schema, "avro_framing": framing}
    assert read(str(tmp_path / "a.tfrecord"), **back) == ROWS


def test_forms_of_schemas(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "v2.avsc"
    path.write_text(V2_TEXT)
    records = [confluent(7, V1, {"id": 1})]
    for schema in (V2, V2_TEXT, V2_TEXT.encode(), path, str(path)):
        for number in (7, "7"):
            decoder = cst.decoder(
                "avro", schema=schema, avro_framing="confluent", avro_schemas={number: V1}
            )
            assert decoded(pickle.loads(pickle.dumps(decoder)), records) == [old(1)]
    assert cst.decoder("avro", schema=V2).schema == V2_TEXT
    with pytest.raises(cst.errors.ArgumentError, match="given twice"):
        cst.decoder("avro", schema=V2, avro_schema=V2_TEXT)


def test_rows_of_nulls_for_records_that_are_too_large(tmp_path: pathlib.Path) -> None:
    """A list of nulls may claim any number of items."""
    fields = [{"name": "a", "type": {"type": "array", "items": "null"}}]
    schema = {"type": "record", "name": "R", "fields": [*fields, {"name": "b", "type": "long"}]}
    path = tmp_path / "a.tfrecord"
    records = [b"\0\2", datum("long", 2**40) + b"\0\2", b"\0\4"]
    cst.write(pa.table({"r": pa.array(records, pa.binary())}), path, format="raw")
    source = cst.open(path, format="avro", avro_schema=schema, on_error="null")
    assert pa.table(source)["b"].to_pylist() == [1, None, 2]
