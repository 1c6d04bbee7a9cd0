"""Structured tensors of Firestore's documents: JSON of the REST API, and managed exports."""

from __future__ import annotations

import base64
import contextlib
import datetime
import json
import pathlib
import struct
from typing import Any

import columnstone as cst
import pyarrow as pa
import pytest

NAME = "projects/p/databases/(default)/documents/rides/"
UTC = datetime.UTC

DOCUMENTS: list[Any] = [
    {
        "name": NAME + "a",
        "fields": {
            "count": {"integerValue": "9007199254740993"},
            "fare": {"doubleValue": 7.5},
            "paid": {"booleanValue": True},
            "at": {"timestampValue": "2024-02-29T01:02:03.456789Z"},
            "company": {"stringValue": "Blue"},
            "raw": {"bytesValue": "AP8="},
            "from": {"geoPointValue": {"latitude": 41.9, "longitude": -87.6}},
            "driver": {"referenceValue": "projects/p/databases/(default)/documents/drivers/d"},
            "tags": {"arrayValue": {"values": [{"stringValue": "x"}, {"nullValue": None}]}},
            "stops": {
                "arrayValue": {
                    "values": [
                        {"mapValue": {"fields": {"n": {"integerValue": "1"}}}},
                        {
                            "mapValue": {
                                "fields": {"n": {"integerValue": "2"}, "s": {"stringValue": "z"}}
                            }
                        },
                    ]
                }
            },
            "none": {"nullValue": None},
        },
        "createTime": "2024-01-01T00:00:00Z",
        "updateTime": "2024-01-02T00:00:00.5Z",
    },
    {
        "name": NAME + "b",
        "fields": {
            "count": {"integerValue": "-1"},
            "fare": {"integerValue": "12"},
            "tags": {"arrayValue": {}},
            "from": {"geoPointValue": {}},
        },
        "createTime": "2024-01-01T00:00:00Z",
        "updateTime": "2024-01-02T00:00:00Z",
    },
]
FIRST = {
    "count": 9007199254740993,
    "fare": 7.5,
    "paid": True,
    "at": datetime.datetime(2024, 2, 29, 1, 2, 3, 456789, UTC),
    "company": "Blue",
    "raw": b"\x00\xff",
    "from": {"latitude": 41.9, "longitude": -87.6},
    "driver": "projects/p/databases/(default)/documents/drivers/d",
    "tags": ["x", None],
    "stops": [{"n": 1, "s": None}, {"n": 2, "s": "z"}],
    "none": None,
}
SECOND = dict.fromkeys(FIRST) | {
    "count": -1,
    "fare": 12.0,
    "tags": [],
    "from": {"latitude": 0.0, "longitude": 0.0},
}


def rows_of(documents: Any) -> list[Any]:
    return pa.array(cst.StructuredTensor.from_firestore(documents)).to_pylist()


def field(name: str, *values: Any) -> list[Any]:
    return [{"fields": {name: value}} for value in values]


# ---- JSON ----


def test_typed_values_are_typed_fields() -> None:
    made = cst.StructuredTensor.from_firestore(DOCUMENTS)
    assert made.shape == (2,)
    times = [
        datetime.datetime(2024, 1, 2, 0, 0, 0, 500000, UTC),
        datetime.datetime(2024, 1, 2, tzinfo=UTC),
    ]
    made_at = datetime.datetime(2024, 1, 1, tzinfo=UTC)
    assert pa.array(made).to_pylist() == [
        {
            "__name__": NAME + key,
            "__create_time__": made_at,
            "__update_time__": time,
            **row,
        }
        for key, time, row in zip("ab", times, (FIRST, SECOND), strict=True)
    ]
    assert made["stops", "n"].to_py() == [[1, 2], None]
    assert pa.field(made).type.field("count").type == pa.int64()
    assert pa.field(made).type.field("at").type == pa.timestamp("us", "UTC")
    assert pa.field(made).type.field("raw").type == pa.large_binary()


@pytest.mark.parametrize(
    "documents",
    [
        {"documents": DOCUMENTS, "nextPageToken": "t"},
        [{"document": d, "readTime": "2024-01-01T00:00:00Z"} for d in DOCUMENTS]
        + [{"readTime": "2024-01-01T00:00:00Z"}],
        [{"found": d} for d in DOCUMENTS]
        + [{"missing": NAME + "c", "readTime": "2024-01-01T00:00:00Z"}],
        iter(DOCUMENTS),
        json.dumps(DOCUMENTS),
        json.dumps({"documents": DOCUMENTS}, indent=2),
        "\n".join(json.dumps(d) for d in DOCUMENTS) + "\n\n",
        "\n".join(json.dumps({"documents": [d]}) for d in DOCUMENTS).encode(),
    ],
)
def test_what_holds_documents(documents: Any, tmp_path: pathlib.Path) -> None:
    expected = rows_of(DOCUMENTS)
    assert rows_of(documents) == expected
    if isinstance(documents, str):
        path = tmp_path / "rides.jsonl"
        path.write_text(documents)
        assert rows_of(path) == expected


def test_one_document_and_none() -> None:
    assert rows_of({"fields": {"a": {"integerValue": 1}}}) == [{"a": 1}]
    assert rows_of(json.dumps({"fields": {"a": {"integerValue": "1"}}})) == [{"a": 1}]
    assert rows_of([]) == rows_of({"documents": []}) == rows_of({}) == rows_of("[]") == []
    assert rows_of([{"name": NAME + "a"}]) == [{"__name__": NAME + "a"}]  # no fields


def test_numbers() -> None:
    values = [{"doubleValue": v} for v in ("NaN", "-Infinity", 1.5, 2)]
    made = cst.StructuredTensor.from_firestore(field("a", *values))["a"].to_py()
    assert made[0] != made[0] and made[1:] == [-float("inf"), 1.5, 2.0]
    mixed = field("a", {"integerValue": "9007199254740993"}, {"doubleValue": 0.5})
    with pytest.raises(cst.errors.UnsupportedError, match="not exact as float64"):
        cst.StructuredTensor.from_firestore(mixed)
    assert rows_of(field("a", {"integerValue": str(-(2**63))})) == [{"a": -(2**63)}]


def test_vectors_are_lists() -> None:
    fields = {
        "__type__": {"stringValue": "__vector__"},
        "value": {"arrayValue": {"values": [{"doubleValue": 1}, {"doubleValue": 0.5}]}},
    }
    assert rows_of(field("v", {"mapValue": {"fields": fields}})) == [{"v": [1.0, 0.5]}]


def test_mixed_types_are_an_error_with_path_and_row() -> None:
    text, number = {"stringValue": "s"}, {"integerValue": "1"}
    reference, null = {"referenceValue": "r"}, {"nullValue": None}
    for documents, row, path, match in (
        (field("a", text, null, number), 2, "a", "integerValue, expected stringValue as in row 0"),
        (
            field("a", null, text, reference),
            2,
            "a",
            "referenceValue, expected stringValue as in row 1",
        ),
        (field("a", in_map(text), in_map(number)), 1, "a.m", "integerValue, expected"),
        (field("a", in_array(number, text)), 0, "a", "stringValue, expected"),
        (field("a", in_array(in_map(number)), in_array(in_map(text))), 1, "a.m", "stringValue"),
        (field("a", in_map(text), text), 1, "a", "stringValue, expected mapValue as in row 0"),
    ):
        with pytest.raises(cst.errors.SchemaError, match=match) as caught:
            cst.StructuredTensor.from_firestore(documents)
        assert (caught.value.record, caught.value.path) == (row, path)
        assert str(caught.value).startswith(f"row {row}, field '{path}'")


def in_map(value: Any) -> Any:
    return {"mapValue": {"fields": {"m": value}}}


def in_array(*values: Any) -> Any:
    return {"arrayValue": {"values": list(values)}}


@pytest.mark.parametrize(
    ("value", "match"),
    [
        ({"integerValue": "secret"}, "an invalid integerValue, expected an integer"),
        ({"integerValue": 1.5}, "an invalid integerValue"),
        ({"integerValue": True}, "an invalid integerValue"),
        ({"doubleValue": "secret"}, "an invalid doubleValue"),
        ({"booleanValue": "true"}, "an invalid booleanValue"),
        (
            {"timestampValue": "2024-01-01"},
            "an invalid timestampValue, expected a time with its zone",
        ),
        ({"timestampValue": "2024-01-01T00:00:00"}, "an invalid timestampValue"),
        ({"timestampValue": "0001-01-01T00:00:00+23:00"}, "an invalid timestampValue"),
        ({"bytesValue": "secret"}, "an invalid bytesValue, expected base64"),
        ({"stringValue": 1}, "an invalid stringValue"),
        ({"geoPointValue": {"lat": 1}}, "an invalid geoPointValue"),
        ({"geoPointValue": {"latitude": "NaN"}}, "an invalid geoPointValue"),
        ({"arrayValue": [1]}, "an invalid arrayValue"),
        ({"mapValue": {"fields": [1]}}, "an invalid mapValue"),
        ({"secretValue": 1}, "a value of unknown type, expected one of booleanValue"),
        ({}, "found something else, expected a typed value"),
        ({"a": 1, "b": 2}, "found something else, expected a typed value"),
        ("secret", "found something else, expected a typed value"),
        (
            {"mapValue": {"fields": {"__type__": {"stringValue": "__vector__"}}}},
            "an invalid mapValue",
        ),
    ],
)
def test_what_is_not_a_typed_value(value: Any, match: str) -> None:
    with pytest.raises(cst.errors.SchemaError, match=match) as caught:
        cst.StructuredTensor.from_firestore(field("a", {"nullValue": None}, value))
    assert caught.value.record == 1 and caught.value.path == "a"
    assert "secret" not in str(caught.value)


def test_what_is_not_a_document() -> None:
    for given in ([1], [{"a": 1}], [{"fields": 1}], '{"a": 1}'):
        with pytest.raises(
            cst.errors.SchemaError, match=r"row 0: found no document, expected \{\"fields\""
        ):
            cst.StructuredTensor.from_firestore(given)
    with pytest.raises(cst.errors.CorruptError, match="line 3, column 2: not JSON") as caught:
        cst.StructuredTensor.from_firestore('{"fields": {}}\n\n{')
    assert (caught.value.line, caught.value.column) == (3, 2)
    for text in ('{"fields": ', b"\xff{}", "[" * 100_000):
        with pytest.raises(cst.errors.CorruptError, match="not JSON"):
            cst.StructuredTensor.from_firestore(text)
    deep: Any = {"nullValue": None}
    for _ in range(200):
        deep = in_map(deep)
    with pytest.raises(cst.errors.SchemaError, match="too deep"):
        cst.StructuredTensor.from_firestore(field("a", deep))
    wrong: Any = 1
    with pytest.raises(TypeError, match="expected documents, JSON text or a path"):
        cst.StructuredTensor.from_firestore(wrong)


# ---- managed exports: a writer for the tests ----


def varint(number: int) -> bytes:
    number &= 2**64 - 1
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def wire(number: int, value: Any) -> bytes:
    """A list is a group, float a double."""
    if isinstance(value, list):
        return varint(number << 3 | 3) + b"".join(value) + varint(number << 3 | 4)
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def path_of(steps: list[tuple[str, Any]], first: int) -> list[bytes]:
    """Elements of a path: type, id or name."""
    return [
        wire(first, kind) + wire(first + (1 if isinstance(key, int) else 2), key)
        for kind, key in steps
    ]


def key_of(*steps: tuple[str, Any]) -> bytes:
    elements = b"".join(wire(1, [step]) for step in path_of(list(steps), 2))
    return wire(13, wire(13, "s~p") + wire(14, elements))


def prop(
    name: str, value: bytes, meaning: int = 0, multiple: bool = False, raw: bool = True
) -> bytes:
    head = wire(1, meaning) if meaning else b""
    body = head + wire(3, name) + (wire(4, 1) if multiple else b"") + wire(5, value)
    return wire(15 if raw else 14, body)


def entity(*properties: bytes) -> bytes:
    return wire(13, wire(13, "") + wire(14, "")) + b"".join(properties)


MICROS = 1709168523456789
STOPS = [
    entity(prop("n", wire(1, 1))),
    entity(prop("n", wire(1, 2)), prop("s", wire(3, "z"))),
]
DRIVER = [wire(13, "dev~p"), *(wire(14, [step]) for step in path_of([("drivers", "d")], 15))]
RECORDS = [
    key_of(("rides", "a"))
    + prop("count", wire(1, 9007199254740993), raw=False)
    + prop("fare", wire(4, 7.5))
    + prop("paid", wire(2, 1))
    + prop("at", wire(1, MICROS), 7)
    + prop("company", wire(3, "Blue"))
    + prop("raw", wire(3, b"\x00\xff"), 14)
    + prop("from", wire(5, [wire(6, 41.9), wire(7, -87.6)]), 9)
    + prop("driver", wire(12, DRIVER))
    + prop("tags", wire(3, "x"), multiple=True)
    + prop("tags", b"", multiple=True)
    + b"".join(prop("stops", wire(3, stop), 19, True) for stop in STOPS)
    + prop("none", b""),
    key_of(("rides", 7), ("legs", "b"))
    + prop("tags", b"", 24, raw=False)
    + prop("count", wire(1, -1))
    + prop("fare", wire(1, 12))
    + prop("from", wire(5, [wire(6, 0.0), wire(7, 0.0)]), 9),
]


def masked_crc(data: bytes) -> int:
    """By the file that our own writer makes of a record."""
    import io

    out = io.BytesIO()
    with cst.codec.TFRecordWriter(out, compression="none") as writer:
        writer.write(data)
    crc: int = struct.unpack("<I", out.getvalue()[-4:])[0]
    return crc


def log_of(records: list[bytes]) -> bytes:
    out = bytearray()
    for record in records:
        is_first = True
        while True:
            left = 32768 - len(out) % 32768
            if left < 7:
                out += bytes(left)
                left = 32768
            part, record = record[: left - 7], record[left - 7 :]
            kind = (1 if not record else 2) if is_first else (4 if not record else 3)
            typed = bytes([kind]) + part
            out += struct.pack("<IH", masked_crc(typed), len(part)) + typed
            is_first = False
            if not record:
                break
    return bytes(out)


@pytest.fixture
def export(tmp_path: pathlib.Path) -> pathlib.Path:
    folder = tmp_path / "export"
    inner = folder / "all_namespaces" / "all_kinds"
    inner.mkdir(parents=True)
    (inner / "output-0").write_bytes(log_of(RECORDS[:1]))
    (inner / "output-10").write_bytes(log_of([]))
    (inner / "output-2").write_bytes(log_of(RECORDS[1:]))
    (folder / "export.overall_export_metadata").write_bytes(log_of([b"3", b""]))
    return folder


def test_a_managed_export(export: pathlib.Path) -> None:
    expected = [
        {"__name__": NAME + "a", **FIRST},
        {"__name__": NAME + "__id7__/legs/b", **SECOND},
    ]
    for path in (export, export / "export.overall_export_metadata"):
        assert sorted(rows_of(path), key=lambda r: r["__name__"], reverse=True) == expected
    one = rows_of(export / "all_namespaces" / "all_kinds" / "output-0")
    assert [row["count"] for row in one] == [9007199254740993]


def test_vectors_and_maps_of_an_export(tmp_path: pathlib.Path) -> None:
    vector = entity(*(prop("__vector__", wire(4, v), multiple=True) for v in (1.0, 0.5)))
    inner = entity(prop("empty", b"", 24, raw=False), prop("b", wire(3, b"\x01"), 16))
    record = key_of(("c", "d")) + prop("v", wire(3, vector), 19) + prop("m", wire(3, inner), 19)
    path = tmp_path / "output-0"
    path.write_bytes(log_of([record]))
    (row,) = rows_of(path)
    assert row["v"] == [1.0, 0.5]
    assert row["m"] == {"empty": [], "b": b"\x01"}


def test_long_records_go_over_several_blocks(tmp_path: pathlib.Path) -> None:
    texts = ["x" * size for size in (32768 * 2, 10, 32768 - 7 - 40, 32700, 0)]
    path = tmp_path / "output-0"
    path.write_bytes(log_of([key_of(("c", "d")) + prop("t", wire(3, t)) for t in texts]))
    assert [row["t"] for row in rows_of(path)] == texts


def test_damaged_exports(tmp_path: pathlib.Path) -> None:
    whole = log_of(RECORDS)
    path = tmp_path / "output-0"
    first = 7 + len(RECORDS[0])
    for data, match in (
        (whole[:-1], f"offset {first}: found an invalid record header"),
        (whole[: first + 3], f"offset {first}: found the end of the file inside a header"),
        (whole[:50] + b"?" + whole[51:], "offset 0: found a wrong CRC"),
        (b'{"fields": {}}', "offset 0: found an invalid record header"),
        (log_of([b"x" * 40000])[:32768], "offset 32768: found the end of the file inside a record"),
        (log_of([b"x" * 40000])[32768:], "offset 0: found fragments of a record"),
        (log_of([b"3"]), "record 0: not a Firestore document"),
        (log_of([RECORDS[0], RECORDS[0][:-1]]), "record 1: not a Firestore document"),
        (log_of([wire(13, wire(13, "p"))]), "a key without a path"),
        (log_of([key_of(("c", "d")) + prop("u", wire(8, []))]), "a value of unknown type 8"),
        (log_of([key_of(("c", "d")) + prop("u", wire(4, 1))]), "an unexpected wire type"),
        (log_of([key_of(("c", "d")) + prop("u", wire(5, [wire(6, 1.0)]))]), "a double"),
        (log_of([key_of(("c", "d")) + prop("u", wire(1, 2**62), 7)]), "a time out of range"),
        (log_of([b"\x0b" * 5000]), "groups nested too deeply"),
    ):
        path.write_bytes(data)
        with pytest.raises(cst.errors.CorruptError, match=match) as caught:
            cst.StructuredTensor.from_firestore(path)
        assert caught.value.file == str(path)
    nested = entity(prop("m", wire(1, 1)))
    for _ in range(200):
        nested = entity(prop("m", wire(3, nested), 19))
    path.write_bytes(log_of([key_of(("c", "d")) + nested]))
    with pytest.raises(cst.errors.CorruptError, match="maps nested too deeply"):
        cst.StructuredTensor.from_firestore(path)
    for missing in (tmp_path / "none", tmp_path):
        (tmp_path / "output-0").unlink(missing_ok=True)
        with pytest.raises(cst.errors.NotFoundError):
            cst.StructuredTensor.from_firestore(missing)


def test_any_damage_is_an_error_of_ours(tmp_path: pathlib.Path) -> None:
    """Every byte of a record changed, with a right CRC."""
    path = tmp_path / "output-0"
    for at in range(0, len(RECORDS[0]), 3):
        record = bytearray(RECORDS[0])
        record[at] ^= (0x01, 0x80, 0x07)[at % 9 // 3]
        path.write_bytes(log_of([bytes(record)]))
        with contextlib.suppress(cst.Error):
            cst.StructuredTensor.from_firestore(path)


def test_base64_of_urls() -> None:
    data = bytes(range(240, 256))
    value = {"bytesValue": base64.urlsafe_b64encode(data).decode()}
    assert rows_of(field("a", value)) == [{"a": data}]
