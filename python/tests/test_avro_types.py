"""Options of Avro that say what types become: enums, and records within themselves."""

from __future__ import annotations

import pathlib
from typing import Any

import avro_files as avro
import columnstone as cst
import pyarrow as pa
import pytest

COLOR = {"type": "enum", "name": "Color", "symbols": ["RED", "BLUE", "GREEN"]}
SCHEMA = {
    "type": "record",
    "name": "Row",
    "fields": [
        {"name": "one", "type": COLOR},
        {"name": "maybe", "type": ["null", "Color"]},
        {"name": "many", "type": {"type": "array", "items": "Color"}},
    ],
}
NAMES = [("RED", None, ["BLUE", "BLUE"]), ("GREEN", "BLUE", []), ("BLUE", "RED", ["GREEN"])]
NUMBERS = {"RED": 0, "BLUE": 1, "GREEN": 2}


def values() -> list[dict[str, Any]]:
    return [
        {
            "one": NUMBERS[one],
            "maybe": avro.Branch(0, None) if maybe is None else avro.Branch(1, NUMBERS[maybe]),
            "many": [NUMBERS[item] for item in many],
        }
        for one, maybe, many in NAMES
    ]


def resolved(schema: Any) -> Any:
    """As `avro_files` has it: a type where its name stands."""
    if schema == "Color":
        return COLOR
    if isinstance(schema, list):
        return [resolved(branch) for branch in schema]
    if isinstance(schema, dict):
        return {key: value if key == "name" else resolved(value) for key, value in schema.items()}
    return [resolved(item) for item in schema] if isinstance(schema, tuple) else schema


def encoded() -> list[bytes]:
    schema = resolved(SCHEMA)
    return [avro.encode(schema, value) for value in values()]


@pytest.mark.parametrize(
    ("enums", "kind"),
    [
        ("dictionary", pa.dictionary(pa.int32(), pa.large_utf8())),
        ("text", pa.large_utf8()),
        ("binary", pa.large_binary()),
        ("int32", pa.int32()),
    ],
)
def test_enums(tmp_path: pathlib.Path, enums: str, kind: pa.DataType) -> None:
    records = encoded()
    path = tmp_path / "a.avro"
    text = cst.avro.canonical(SCHEMA)
    path.write_bytes(avro.header(text) + avro.block(len(records), b"".join(records)))
    found = pa.table(cst.open(path, avro_enums=enums))
    as_kind: dict[str, Any] = {
        "int32": NUMBERS.__getitem__,
        "binary": str.encode,
    }
    convert = as_kind.get(enums, str)
    assert [found.schema.field(i).type for i in range(2)] == [kind, kind]
    assert found.schema.field("many").type.value_type == kind
    assert found.to_pylist() == [
        {
            "one": convert(one),
            "maybe": None if maybe is None else convert(maybe),
            "many": [convert(item) for item in many],
        }
        for one, maybe, many in NAMES
    ]
    batch = cst.decoder("avro", schema=SCHEMA, avro_enums=enums).decode(records)
    assert pa.table(pa.record_batch(batch)).equals(found.combine_chunks())
    back = cst.encoder("avro", schema=SCHEMA).encode(found)
    assert pa.array(back).to_pylist() == records
    narrow = cst.open(path, avro_enums=enums, offsets=32)
    assert pa.table(narrow).to_pylist() == found.to_pylist()


@pytest.mark.parametrize("enums", ["dictionary", "text", "int32"])
def test_enums_of_another_schema(enums: str) -> None:
    other = {**COLOR, "symbols": ["GREEN", "RED"], "default": "RED"}
    reader = {
        "type": "record",
        "name": "Row",
        "fields": [{"name": "one", "type": other}],
    }
    options: dict[str, Any] = {"avro_writer_schema": SCHEMA, "avro_enums": enums}
    decoder = cst.decoder("avro", schema=reader, **options)
    expected: list[Any] = [1, 0, 1] if enums == "int32" else ["RED", "GREEN", "RED"]
    assert pa.record_batch(decoder.decode(encoded())).column("one").to_pylist() == expected
    strict = {**reader, "fields": [{"name": "one", "type": {**COLOR, "symbols": ["GREEN", "RED"]}}]}
    decoder = cst.decoder("avro", schema=strict, **options)
    with pytest.raises(
        cst.errors.CorruptError, match="a symbol that the schema's enum lacks"
    ) as caught:
        decoder.decode(encoded())
    assert (caught.value.record, caught.value.path) == (2, "one")
    with pytest.raises(cst.errors.CorruptError, match="an enum index without a symbol"):
        decoder.decode([b"\x06\0\0"])
    with pytest.raises(cst.errors.ArgumentError, match="avro_enums"):
        cst.decoder("avro", schema=SCHEMA, avro_enums="number")


TREE = {
    "type": "record",
    "name": "Tree",
    "fields": [{"name": "n", "type": "int"}, {"name": "below", "type": ["null", "Tree"]}],
}


@pytest.mark.parametrize("recursion", [0, 1, 2, 5])
def test_recursion(recursion: int) -> None:
    record = b"\x02\2\x04\2\x06\2\x08\0"  # 1, 2, 3, 4 below each other
    decoder = cst.decoder("avro", schema=TREE, avro_recursion=recursion)
    row = pa.record_batch(decoder.decode([record])).to_pylist()[0]
    for n in range(1, min(recursion + 1, 4) + 1):
        assert row["n"] == n
        row = row["below"]
    assert row == (None if recursion >= 4 else record[2 * (recursion + 1) :])


@pytest.mark.parametrize("recursion", [0, 1, 2])
def test_recursion_is_taken_back(recursion: int) -> None:
    """The bytes of records below are written as they are, if they are such records."""
    records = [b"\x02\2\x04\2\x06\2\x08\0", b"\x02\0"]
    batch = cst.decoder("avro", schema=TREE, avro_recursion=recursion).decode(records)
    encoder = cst.encoder("avro", schema=TREE)
    assert pa.array(encoder.encode(batch)).to_pylist() == records
    for bad in [b"", b"\x02", b"\x02\2", b"\x02\0\0", b"\x02\4", b"\x02" + b"\2\x02" * 300 + b"\0"]:
        with pytest.raises(
            cst.errors.UnsupportedError, match="bytes that are not a value of the schema's record"
        ) as caught:
            encoder.encode(pa.table({"n": [1], "below": pa.array([bad])}))
        assert (caught.value.record, caught.value.path) == (0, "below")


@pytest.mark.parametrize("seed", range(60))
def test_bytes_of_random_records(seed: int) -> None:
    maker = avro.Maker(seed)
    inner = maker.record(3, fields=4)
    outer = {"type": "record", "name": "Top", "fields": [{"name": "in", "type": inner}]}
    values = [maker.value(inner) for _ in range(20)]
    records = [avro.encode(inner, value, seed % 2 == 0) for value in values]
    encoder = cst.encoder("avro", schema=outer)
    column = pa.array(records, pa.binary())
    assert pa.array(encoder.encode(pa.table({"in": column}))).to_pylist() == records
    for record in records[:5]:
        for wrong in [record + b"\0", record[:-1]]:
            table = pa.table({"in": pa.array([wrong], pa.binary())})
            if len(record) > 0:
                with pytest.raises(
                    cst.errors.UnsupportedError,
                    match="bytes that are not a value of the schema's record",
                ):
                    encoder.encode(table)


def test_recursion_has_bounds() -> None:
    with pytest.raises(cst.errors.ArgumentError, match="avro_recursion"):
        cst.decoder("avro", schema=TREE, avro_recursion=101)
    with pytest.raises(cst.errors.LimitError, match="levels"):
        cst.decoder("avro", schema=TREE, avro_recursion=100)
