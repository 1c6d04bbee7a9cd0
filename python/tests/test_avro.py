"""Avro container files: types, codecs, schema resolution, projection, damage."""

from __future__ import annotations

import bz2
import copy
import datetime
import decimal
import io
import json
import lzma
import pathlib
import random
import subprocess
import sys
import zlib
from collections.abc import Callable
from typing import Any

import avro_files as avro
import columnstone as cst
import fastavro
import pyarrow as pa
import pytest
from columnstone import errors

CODECS = ["null", "deflate", "zstandard", "snappy", "bzip2", "xz"]


def rows(path: pathlib.Path | list[pathlib.Path], **options: Any) -> list[dict[str, Any]]:
    paths = [str(p) for p in path] if isinstance(path, list) else str(path)
    return [
        row for batch in cst.open(paths, **options) for row in pa.record_batch(batch).to_pylist()
    ]


def record(**fields: Any) -> dict[str, Any]:
    made = [{"name": name, "type": kind} for name, kind in fields.items()]
    return {"type": "record", "name": "Row", "fields": made}


def write(path: pathlib.Path, schema: Any, values: list[Any], **options: Any) -> pathlib.Path:
    path.write_bytes(avro.container(schema, values, **options))
    return path


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("seed", range(40))
def test_random(tmp_path: pathlib.Path, seed: int, codec: str) -> None:
    maker = avro.Maker(seed)
    schema = maker.record(3, fields=4) if seed % 4 else maker.schema()
    values = [maker.value(schema) for _ in range(seed)]
    path = write(tmp_path / "a.avro", schema, values, codec=codec, sized_blocks=seed % 3 == 0)
    expected = [avro.plain(schema, value) for value in values]
    if avro.kind_of(schema) != "record":
        expected = [{"value": value} for value in expected]
    assert rows(path, batch_size=5) == expected


@pytest.mark.parametrize("seed", range(40))
def test_projection_is_all_without_the_rest(tmp_path: pathlib.Path, seed: int) -> None:
    maker = avro.Maker(seed)
    schema = maker.record(3, fields=6)
    values = [maker.value(schema) for _ in range(20)]
    path = write(tmp_path / "a.avro", schema, values, sized_blocks=seed % 2 == 0)
    wanted = maker.random.sample([field["name"] for field in schema["fields"]], 2)
    expected = [{name: row[name] for name in wanted} for row in rows(path)]
    assert rows(path, columns=wanted) == expected


@pytest.mark.parametrize("seed", range(60))
def test_fastavro_reads_what_the_reference_writes(seed: int) -> None:
    maker = avro.Maker(seed)
    schema = maker.record(3, fields=4)
    values = [maker.value(schema) for _ in range(10)]
    data = avro.container(schema, values, codec="deflate", sized_blocks=seed % 2 == 0)
    read = list(fastavro.reader(io.BytesIO(data)))
    assert read == [avro.as_peers(schema, value) for value in values]


@pytest.mark.parametrize("seed", range(60))
def test_written_and_read_again(tmp_path: pathlib.Path, seed: int) -> None:
    maker = avro.Maker(seed)
    schema = maker.record(3, fields=4)
    values = [maker.value(schema) for _ in range(30)]
    path = write(tmp_path / "a.avro", schema, values)
    again = tmp_path / "b.avro"
    codec = CODECS[seed % len(CODECS)]
    options = {"avro_codec": codec, "avro_block_size": 100}
    cst.convert(str(path), str(again), **options)
    assert rows(again) == rows(path)
    if codec not in ("zstandard", "snappy"):  # for which fastavro needs packages more
        read = list(fastavro.reader(io.BytesIO(again.read_bytes())))
        names = [field["name"] for field in schema["fields"]]
        assert [list(row) for row in read] == [names] * 30
        assert [row.keys() for row in rows(path)] == [dict.fromkeys(names).keys()] * 30


def test_types(tmp_path: pathlib.Path) -> None:
    def logical(kind: str, logical_name: str, /, **more: Any) -> dict[str, Any]:
        return {"type": kind, "logicalType": logical_name, **more}

    schema = record(
        day=logical("int", "date"),
        clock=logical("long", "time-micros"),
        at=logical("long", "timestamp-millis"),
        local=logical("long", "local-timestamp-nanos"),
        price=logical("bytes", "decimal", precision=5, scale=2),
        huge=logical("fixed", "decimal", name="Huge", size=20, precision=45, scale=0),
        span=logical("fixed", "duration", name="Span", size=12),
        id=logical("string", "uuid"),
        odd=logical("long", "of-mars"),
        size=["null", "int"],
        kind={"type": "enum", "name": "Kind", "symbols": ["A", "B"]},
    )
    value = {
        "day": -1,
        "clock": 1,
        "at": 1000,
        "local": 5000,
        "price": (-1250).to_bytes(3, "big", signed=True),
        "huge": (10**44).to_bytes(20, "big"),
        "span": bytes([1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]),
        "id": "123e4567-e89b-12d3-a456-426614174000",
        "odd": 7,
        "size": avro.Branch(0, None),
        "kind": 1,
    }
    table = pa.table(cst.open(str(write(tmp_path / "a.avro", schema, [value]))))
    assert [str(t) for t in table.schema.types] == [
        "date32[day]",
        "time64[us]",
        "timestamp[ms, tz=UTC]",
        "timestamp[ns]",
        "decimal128(5, 2)",
        "decimal256(45, 0)",
        "month_day_nano_interval",
        "large_string",
        "int64",
        "int32",
        "dictionary<values=large_string, indices=int32, ordered=0>",
    ]
    assert [field.name for field in table.schema if field.nullable] == ["size"]
    [row] = table.to_pylist()
    assert row["day"] == datetime.date(1969, 12, 31)
    assert row["price"] == decimal.Decimal("-12.50")
    assert row["huge"] == decimal.Decimal(10**44)
    assert row["span"] == (1, 2, 3_000_000)
    assert row["kind"] == "B"


def test_recursion_ends_in_bytes(tmp_path: pathlib.Path) -> None:
    inner = {"name": "next", "type": ["null", "Node"]}
    schema = {"type": "record", "name": "Node", "fields": [{"name": "v", "type": "int"}, inner]}
    value = avro.long(1) + b"\x02" + avro.long(2) + b"\x02" + avro.long(3) + b"\x02"
    rest = avro.long(4) + b"\x02" + avro.long(5) + b"\x00"
    path = tmp_path / "a.avro"
    path.write_bytes(avro.header(json.dumps(schema)) + avro.block(1, value + rest))
    [row] = rows(path)
    assert row == {"v": 1, "next": {"v": 2, "next": {"v": 3, "next": rest}}}
    [deep] = rows(path, columns=["next.next.next.next.v"])
    assert deep == {"next": {"next": {"next": {"next": {"v": 5}}}}}


def test_records_that_hold_each_other_are_stepped_over(tmp_path: pathlib.Path) -> None:
    inner = {"type": "record", "name": "Inner", "fields": [{"name": "n", "type": "Node"}]}
    field = {"name": "next", "type": ["null", inner]}
    node = {"type": "record", "name": "Node", "fields": [field]}
    schema = record(node=node, more="Inner", last="int")
    data = b"\x02\x02\x00" + b"\x02\x00" + avro.long(7)
    path = tmp_path / "a.avro"
    path.write_bytes(avro.header(json.dumps(schema)) + avro.block(1, data))
    assert rows(path, columns=["last"]) == [{"last": 7}]


def test_files_of_several_schemas_are_read_as_the_first(tmp_path: pathlib.Path) -> None:
    first = record(a="long", b=["null", "string"])
    other = {
        "type": "record",
        "name": "Row",
        "fields": [
            {"name": "x", "type": {"type": "array", "items": "string"}},
            {"name": "a", "type": "int"},
            {"name": "b", "type": "string"},
        ],
    }
    one = write(tmp_path / "1.avro", first, [{"a": 1, "b": avro.Branch(0, None)}])
    two = write(tmp_path / "2.avro", other, [{"x": ["p", "q"], "a": 2, "b": "z"}])
    assert rows([one, two]) == [{"a": 1, "b": None}, {"a": 2, "b": "z"}]
    with pytest.raises(
        cst.errors.SchemaError,
        match="the field is missing from the file and has no default in the schema",
    ):
        rows([two, write(tmp_path / "3.avro", record(a="int", b="string"), [])])


# written, value, read, value as read (None: refused)
RESOLVED = [
    ("int", 7, "long", 7),
    ("int", 7, "float", 7.0),
    ("int", 7, "double", 7.0),
    ("long", 7, "double", 7.0),
    ("float", 0.5, "double", 0.5),
    ("string", "ü", "bytes", "ü".encode()),
    ("bytes", b"tea", "string", "tea"),
    ("long", 7, "int", None),
    ("double", 7.0, "float", None),
    ("string", "7", "int", None),
    ("int", 7, ["null", "long"], 7),
    ("int", 7, ["string", "double", "int"], {"string": None, "double": None, "int": 7}),
    (["null", "int"], avro.Branch(1, 7), "long", 7),
    (["null", "int"], avro.Branch(0, None), "long", None),
    (["string", "int"], avro.Branch(0, "x"), ["int", "bytes"], {"int": None, "bytes": b"x"}),
    ({"type": "array", "items": "int"}, [1, 2], {"type": "array", "items": "double"}, [1.0, 2.0]),
    (
        {"type": "enum", "name": "E", "symbols": ["A", "B"]},
        1,
        {"type": "enum", "name": "E", "symbols": ["X", "A"], "default": "X"},
        "X",
    ),
    (
        {"type": "enum", "name": "E", "symbols": ["A", "B"]},
        1,
        {"type": "enum", "name": "E", "symbols": ["A"]},
        None,
    ),
    (
        {"type": "fixed", "name": "Old", "size": 2},
        b"ab",
        {"type": "fixed", "name": "New", "aliases": ["Old"], "size": 2},
        b"ab",
    ),
    (
        {"type": "fixed", "name": "F", "size": 2},
        b"ab",
        {"type": "fixed", "name": "F", "size": 3},
        None,
    ),
    (
        {"type": "long", "logicalType": "timestamp-millis"},
        7,
        {"type": "long", "logicalType": "timestamp-micros"},
        None,
    ),
]


@pytest.mark.parametrize(("written", "value", "read", "expected"), RESOLVED)
def test_resolution(
    tmp_path: pathlib.Path, written: Any, value: Any, read: Any, expected: Any
) -> None:
    path = write(tmp_path / "a.avro", record(v=written), [{"v": value}])
    schema = json.dumps(record(v=read))
    if expected is None:
        with pytest.raises((cst.errors.SchemaError, cst.errors.CorruptError), match="'v'"):
            rows(path, avro_schema=schema)
    else:
        assert rows(path, avro_schema=schema) == [{"v": expected}]


DEFAULTS = [
    ("int", -3, -3),
    ("double", "NaN", None),
    ("bytes", "\u00ff\u0001", b"\xff\x01"),
    (["null", "int"], None, None),
    (["int", "string"], "later", {"int": None, "string": "later"}),
    ({"type": "array", "items": "string"}, ["a", "b"], ["a", "b"]),
    ({"type": "map", "values": "int"}, {"k": 1}, [("k", 1)]),
    (
        {
            "type": "record",
            "name": "In",
            "fields": [
                {"name": "x", "type": "int"},
                {"name": "y", "type": "string", "default": "why"},
            ],
        },
        {"x": 1},
        {"x": 1, "y": "why"},
    ),
]


@pytest.mark.parametrize(("kind", "default", "expected"), DEFAULTS)
def test_defaults(tmp_path: pathlib.Path, kind: Any, default: Any, expected: Any) -> None:
    path = write(tmp_path / "a.avro", record(a="int"), [{"a": 1}, {"a": 2}])
    reader = record(a="int")
    reader["fields"].append({"name": "new", "type": kind, "default": default})
    found = [row["new"] for row in rows(path, avro_schema=json.dumps(reader))]
    if default == "NaN":
        assert all(value != value for value in found)
    else:
        assert found == [expected, expected]


PROMOTED = {
    "int": ["int", "long", "double"],  # to float, fastavro does not round
    "long": ["long", "double"],
    "float": ["float", "double"],
    "string": ["string", "bytes"],
    "bytes": ["bytes"],  # random ones are seldom text
}


class Reader:
    """Random schemas that can read a schema."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def of(self, schema: Any) -> Any:
        r = self.random
        kind = avro.kind_of(schema)
        match kind:
            case "record":
                fields = [
                    {"name": field["name"], "type": self.of(field["type"])}
                    for field in schema["fields"]
                    if r.random() < 0.8
                ]
                r.shuffle(fields)
                if r.random() < 0.5:
                    items = {"type": "array", "items": "int"}
                    fields.insert(0, {"name": "new", "type": items, "default": [1, 2]})
                return {**schema, "fields": fields}
            case "array":
                return {**schema, "items": self.of(schema["items"])}
            case "map":
                return {**schema, "values": self.of(schema["values"])}
            case "enum":
                symbols = [*schema["symbols"][:1], "other"]
                return {**schema, "symbols": symbols, "default": "other"}
            case "union":  # of those that could be read as each other, fastavro takes the first
                wide = [branch for branch in ("double", "float", "long", "int") if branch in schema]
                texts = [branch for branch in ("string", "bytes") if branch in schema]
                order = wide[::-1] + texts
                return order + [branch for branch in schema if branch not in order]
            case "null" | "fixed":
                return schema
        promoted: Any = r.choice(PROMOTED.get(kind, [kind]))
        return ["null", promoted] if r.random() < 0.3 else promoted


@pytest.mark.parametrize("seed", range(80))
def test_resolution_of_random_pairs_is_as_fastavro_has_it(
    tmp_path: pathlib.Path, seed: int
) -> None:
    maker = avro.Maker(seed)
    schema = maker.record(3, fields=6)
    values = [maker.value(schema) for _ in range(10)]
    path = write(tmp_path / "a.avro", schema, values)
    reader = Reader(seed).of(schema)
    expected = list(fastavro.reader(io.BytesIO(path.read_bytes()), copy.deepcopy(reader)))
    found = rows(path, avro_schema=json.dumps(reader))
    assert [as_plain(reader, row) for row in found] == expected


def as_plain(schema: Any, value: Any) -> Any:
    """A row of ours as fastavro has it: maps are dicts, and of a union there is the value."""
    if value is None:
        return None
    match avro.kind_of(schema):
        case "record":
            return {f["name"]: as_plain(f["type"], value[f["name"]]) for f in schema["fields"]}
        case "array":
            return [as_plain(schema["items"], item) for item in value]
        case "map":
            return {key: as_plain(schema["values"], item) for key, item in value}
        case "union":
            others = [branch for branch in schema if avro.kind_of(branch) != "null"]
            if len(others) == 1:
                return as_plain(others[0], value)
            set_ones = [b for b in others if value[avro.branch_name(b)] is not None]
            return as_plain(set_ones[0], value[avro.branch_name(set_ones[0])])
    return value


def test_schema_of_a_file(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path / "a.avro", record(old="int"), [{"old": 1}])
    reader = record(new="long")
    reader["fields"][0]["aliases"] = ["old"]
    (tmp_path / "new.avsc").write_text(json.dumps(reader))
    assert rows(path, avro_schema=str(tmp_path / "new.avsc")) == [{"new": 1}]


# ---- writing ----


def test_written_types(tmp_path: pathlib.Path) -> None:
    table = pa.table(
        {
            "i": pa.array([1, None], pa.int8()),
            "u": pa.array([2**63 - 1, 0], pa.uint64()),
            "t": pa.array([1, None], pa.time64("ns")),
            "s": pa.array([-5, None], pa.timestamp("s", "Asia/Tokyo")),
            "n": pa.array([7, None], pa.timestamp("ns")),
            "d": pa.array([decimal.Decimal("-1.28"), decimal.Decimal("1.27")], pa.decimal128(9, 2)),
            "w": pa.array([decimal.Decimal(-(10**50)), None], pa.decimal256(60, 0)),
            "m": pa.array([[(1, "a")], None], pa.map_(pa.int32(), pa.string())),
            "v": pa.array([[1, 2], None], pa.list_view(pa.int16())),
            "e": pa.array([{}, None], pa.struct([])),
            "x": pa.array([(1, 2, 3_000_000), None], pa.month_day_nano_interval()),
        }
    )
    path = tmp_path / "a.avro"
    with pytest.raises(
        cst.errors.UnsupportedError, match=r"record 0, feature 't': .*cannot represent exactly"
    ):
        cst.write(table, str(path))
    table = table.set_column(2, "t", pa.array([1000, None], pa.time64("ns")))
    cst.write(table, str(path))
    [one, two] = rows(path)
    [head] = fastavro.reader(io.BytesIO(path.read_bytes())).writer_schema["fields"][:1]
    assert head == {"name": "i", "type": ["null", "int"], "default": None}
    assert one == {
        "i": 1,
        "u": 2**63 - 1,
        "t": datetime.time(0, 0, 0, 1),
        "s": datetime.datetime(1969, 12, 31, 23, 59, 55, tzinfo=datetime.UTC),
        "n": one["n"],
        "d": decimal.Decimal("-1.28"),
        "w": decimal.Decimal(-(10**50)),
        "m": [{"key": 1, "value": "a"}],
        "v": [1, 2],
        "e": {},
        "x": (1, 2, 3_000_000),
    }
    assert str(one["n"]) == "1970-01-01 00:00:00.000000007"
    assert [two["u"], two["d"]] == [0, decimal.Decimal("1.27")]
    assert {key for key, value in two.items() if value is None} == set("itsnwmvex")


REFUSED = {
    "half": (pa.array([1.0], pa.float16()), "no type for columns of type"),
    "span": (pa.array([1], pa.duration("s")), "no type for columns of type duration"),
    "a b": (pa.array([1]), "letters, digits and _"),
    "big": (pa.array([2**63], pa.uint64()), "larger than"),
    "interval": (pa.array([(-1, 0, 0)], pa.month_day_nano_interval()), "negative"),
    "part": (
        pa.array([1], pa.int64()).view(pa.date64()),
        "a time that the Avro unit cannot represent exactly",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_avro_does_not_have_is_refused(tmp_path: pathlib.Path, name: str) -> None:
    column, message = REFUSED[name]
    with pytest.raises(cst.errors.UnsupportedError, match=f"'{name}'.*{message}"):
        cst.write(pa.table({name: column}), str(tmp_path / "a.avro"))


# ---- damage ----

SIMPLE = record(i="long", s="string")
VALUES = [{"i": i, "s": "x" * (i % 5)} for i in range(40)]


def test_damage_is_recovered_at_the_next_marker(tmp_path: pathlib.Path) -> None:
    data = bytearray(avro.container(SIMPLE, VALUES, block_rows=10))
    second = data.index(avro.SYNC, data.index(avro.SYNC) + 16) + 16
    data[second + 1] ^= 0x55  # the size of the second block
    path = tmp_path / "a.avro"
    path.write_bytes(data)
    with pytest.raises(cst.errors.CorruptError, match=f"byte {second}"):
        rows(path)
    source = cst.open(str(path), on_error="skip")
    assert [row["i"] for row in pa.table(source).to_pylist()] == [*range(10), *range(20, 40)]
    [dropped] = source.dropped
    assert (dropped.kind, dropped.offset) == ("framing", second)
    assert dropped.error.file == str(path)


def test_a_damaged_value_loses_the_rest_of_its_block(tmp_path: pathlib.Path) -> None:
    data = avro.container(SIMPLE, VALUES, block_rows=10)
    at = data.index(avro.encode(SIMPLE, VALUES[14]))
    path = tmp_path / "a.avro"
    path.write_bytes(data[:at] + data[at:].replace(b"\x08xxxx", b"\x7fxxxx", 1))
    with pytest.raises(cst.errors.CorruptError, match=r"record 14, .*'s'"):
        rows(path)
    source = cst.open(str(path), on_error="skip")
    assert [row["i"] for row in pa.table(source).to_pylist()] == [*range(14), *range(20, 40)]
    assert [(d.record, d.error.file) for d in source.dropped] == [(14, str(path))]


@pytest.mark.parametrize("size", range(0, 400, 7))
def test_cut_files(tmp_path: pathlib.Path, size: int) -> None:
    data = avro.container(SIMPLE, VALUES, codec="deflate", block_rows=10)
    path = tmp_path / "a.avro"
    path.write_bytes(data[: min(size, len(data) - 1)])
    with pytest.raises(cst.errors.CorruptError):
        rows(path, format="avro")


def test_an_unknown_codec_is_named(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.avro"
    path.write_bytes(avro.header('"int"', "lzo"))
    with pytest.raises(cst.errors.UnsupportedError, match="codec 'lzo'"):
        rows(path)


NOTHING = {"type": "array", "items": "null"}
NULLS = record(i="int", **{f"n{i}": "null" for i in range(1000)}) | {"name": "Nulls"}
HOSTILE = {
    "nulls in masses": ({"type": "array", "items": NULLS}, 1, avro.long(10**5) + b"\x00" * 10**5),
    "items without bytes": (NOTHING, 1, avro.long(2**62) + avro.long(0)),
    "many empty blocks": (NOTHING, 1, (avro.long(2**23) * 5) + avro.long(0)),
    "values without bytes": ("null", 2**62, b""),
    "items that are not there": ({"type": "array", "items": "int"}, 1, avro.long(2**62)),
    "values that are not there": ("int", 2**62, b"\x00"),
    "the least count": ({"type": "map", "values": "int"}, 1, avro.long(-(2**63)) + b"\x00"),
    "a negative size": ("bytes", 1, avro.long(-5)),
    "a size beyond the end": ("string", 1, avro.long(2**40)),
    "a number without end": ("long", 1, b"\xff" * 20),
    "an int of 64 bits": ("int", 1, avro.long(2**40)),
    "a boolean that is none": ("boolean", 1, b"\x02"),
    "text that is none": ("string", 1, b"\x02\xff"),
    "a branch that is none": (["null", "int"], 1, b"\x04"),
    "an invalid symbol": ({"type": "enum", "name": "E", "symbols": ["A"]}, 1, b"\x02"),
    "bytes after the last value": ("int", 1, b"\x00\x00"),
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("wanted", [None, ["a"]])
def test_hostile_values(tmp_path: pathlib.Path, name: str, wanted: list[str] | None) -> None:
    kind, count, data = HOSTILE[name]
    schema = record(a="null", v=kind)
    path = tmp_path / "a.avro"
    path.write_bytes(avro.header(json.dumps(schema)) + avro.block(count, data))
    if wanted is not None and name in ("text that is none", "a boolean that is none"):
        return  # what is stepped over is not looked into
    if wanted is not None and name in (
        "an int of 64 bits",
        "an invalid symbol",
        "nulls in masses",
    ):
        return
    with pytest.raises((cst.errors.CorruptError, cst.errors.LimitError)):
        rows(path, columns=wanted)


def test_recursion_of_values(tmp_path: pathlib.Path) -> None:
    schema = record(n=["null", "Row"], i="int")
    path = tmp_path / "a.avro"
    path.write_bytes(avro.header(json.dumps(schema)) + avro.block(1, b"\x02" * 100_000))
    with pytest.raises((cst.errors.CorruptError, cst.errors.LimitError)):
        rows(path, columns=["i"])
    (tmp_path / "b.avro").write_bytes(avro.header(json.dumps(record(n="Row"))))
    with pytest.raises(cst.errors.SchemaError, match=r"'n': .*contains itself without end"):
        rows(tmp_path / "b.avro")


def test_a_block_that_inflates_without_end(tmp_path: pathlib.Path) -> None:
    data = avro.long(100 << 20) + b"\x00" * (100 << 20)
    path = tmp_path / "a.avro"
    for codec in ("deflate", "zstandard", "snappy", "bzip2", "xz"):
        head = avro.header('"bytes"', codec)
        path.write_bytes(head + avro.block(1, data, codec))
        if codec != "snappy":  # it does not reach the ratio
            with pytest.raises(cst.errors.LimitError, match="bytes expands to more than"):
                rows(path)


@pytest.mark.parametrize("codec", CODECS[1:])
@pytest.mark.parametrize("text", [b"", b"x", b"tea " * 30_000, bytes(range(256)) * 3])
def test_codecs_of_others(tmp_path: pathlib.Path, codec: str, text: bytes) -> None:
    noise = random.Random(len(text)).randbytes(100_000)
    table = pa.table({"text": [text, noise, text + noise[:70_000] + text]})
    path = tmp_path / "a.avro"
    cst.write(table, str(path), avro_codec=codec, avro_block_size=300_000)
    assert pa.table(cst.open(str(path)))["text"].to_pylist() == table["text"].to_pylist()
    data = path.read_bytes()
    marker = data[-16:]
    block = data[data.index(marker) + 16 : -16]
    size = next(at for at in range(2, 9) if block[at - 1] < 0x80 and at > 1)  # after two numbers
    plain = avro.decompress(codec, block[size:])
    assert plain == b"".join(b"\x02" + avro.sized(value.as_py()) for value in table["text"])


def test_streams_that_are_cut_or_damaged(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.avro"
    values = [{"i": i, "s": "x" * (i % 7)} for i in range(300)]
    for codec in CODECS[1:]:
        data = avro.container(SIMPLE, values, codec=codec, block_rows=300)
        first = data.index(avro.SYNC) + 16
        plain = b"".join(avro.encode(SIMPLE, value, False) for value in values)
        packed = avro.compress(codec, plain)
        for cut in (0, 1, len(packed) // 2, len(packed) - 1):
            block = avro.long(300) + avro.sized(packed[:cut]) + avro.SYNC
            path.write_bytes(data[:first] + block)
            with pytest.raises(cst.errors.CorruptError):
                rows(path)
        if codec in ("bzip2", "xz", "snappy"):  # which have checksums
            for at in range(8, len(packed), 11):
                wrong = packed[:at] + bytes([packed[at] ^ 0x10]) + packed[at + 1 :]
                path.write_bytes(data[:first] + avro.long(300) + avro.sized(wrong) + avro.SYNC)
                refusals = (errors.CorruptError, errors.LimitError, errors.UnsupportedError)
                with pytest.raises(refusals):
                    rows(path)


PACKERS: dict[str, Callable[[], Any]] = {
    "deflate": lambda: zlib.compressobj(9, wbits=-15),
    "bzip2": lambda: bz2.BZ2Compressor(1),
    "xz": lambda: lzma.LZMACompressor(preset=0),
}


@pytest.mark.parametrize("codec", PACKERS)
def test_bombs_take_bounded_memory(tmp_path: pathlib.Path, codec: str) -> None:
    """A block of a gigabyte of zeros: a process that may have 700 MB of memory refuses it."""
    packer = PACKERS[codec]()
    packed = packer.compress(avro.long(1 << 30))
    packed += b"".join(packer.compress(bytes(16 << 20)) for _ in range(64)) + packer.flush()
    path = tmp_path / "a.avro"
    whole = avro.block(1, avro.encode("bytes", b"whole"), codec)
    path.write_bytes(
        avro.header('"bytes"', codec) + avro.long(1) + avro.sized(packed) + avro.SYNC + whole
    )
    script = f"""
import resource
import columnstone as cst
import pyarrow as pa
resource.setrlimit(resource.RLIMIT_DATA, (700 << 20, 700 << 20))
source = cst.open({str(path)!r}, on_error="skip", threads=2)
print(sum(batch.num_rows for batch in source), [d.kind for d in source.dropped])
try:
    list(cst.open({str(path)!r}, threads=2))
except cst.errors.LimitError as error:
    print("bytes expands to more than" in str(error))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("1 ['framing']\nTrue\n", "")


def test_large_headers(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.avro"
    fields = [{"name": f"f{i}", "type": "int", "doc": "x" * 200} for i in range(5000)]
    path.write_bytes(avro.container(record(f0="int") | {"fields": fields}, []))
    assert path.stat().st_size > 1 << 20
    assert len(cst.open(str(path)).arrow_schema.names) == 5000
    entries = b"".join(avro.sized(b"%d" % i) + avro.sized(b"") for i in range(1_000_000))
    schema = avro.sized(b"avro.schema") + avro.sized(b'"int"')
    blocks = avro.SYNC + avro.block(2, avro.long(4) + avro.long(5))
    head = b"Obj\x01" + avro.long(1_000_001) + entries + schema + avro.long(0)
    path.write_bytes(head + blocks)
    assert rows(path) == [{"value": 4}, {"value": 5}]
    path.write_bytes(b"Obj\x01" + avro.long(10) + avro.sized(b"k") + avro.sized(bytes(40 << 20)))
    with pytest.raises((errors.LimitError, errors.CorruptError)):
        rows(path)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("count", "size"),
    [
        (2**63 - 1, 3),
        (2**62, 3),
        (-1, 3),
        (-(2**63), 3),
        (1, -1),
        (1, -(2**63)),
        (1, 2**63 - 1),
        (1, 2**40),
        (3, 100),
        (1, 2),
        (0, 3),
    ],
)
def test_heads_of_blocks_that_lie(
    tmp_path: pathlib.Path, count: int, size: int, threads: int
) -> None:
    path = tmp_path / "a.avro"
    head = avro.header(json.dumps(record(n="int")))
    sound = avro.block(2, avro.long(4) + avro.long(5))
    lying = avro.long(count) + avro.long(size) + b"\x02\x04\x06" + avro.SYNC
    path.write_bytes(head + sound + lying + sound)
    with pytest.raises((errors.CorruptError, errors.LimitError)) as caught:
        rows(path, threads=threads)
    assert caught.value.offset is not None and caught.value.offset >= len(head + sound)
    found = [row["n"] for row in rows(path, threads=threads, on_error="skip")]
    assert found[:2] == [4, 5] and found[-2:] == [4, 5]


def test_blocks_without_values(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.avro"
    head = avro.header(json.dumps(record(n="int")))
    sound = avro.block(2, avro.long(4) + avro.long(5))
    path.write_bytes(head + avro.block(0, b"") * 100_000 + sound + avro.block(0, b""))
    for threads in (1, 2):
        assert rows(path, threads=threads) == [{"n": 4}, {"n": 5}]


BAD_SCHEMAS = {
    "no json": ("{", "not valid JSON"),
    "no type": ('{"name": "x"}', "an object without a type"),
    "unknown": ('{"type": "array", "items": "Nobody"}', "unknown type 'Nobody'"),
    "a name": ('{"type": "fixed", "name": "1x", "size": 2}', "an invalid name"),
    "a size": ('{"type": "fixed", "name": "x", "size": -2}', "a fixed type without a size"),
    "twice": (
        json.dumps(record(a="int") | {"fields": [{"name": "a", "type": "int"}] * 2}),
        "the same name",
    ),
    "union in union": ('["null", ["int"]]', "a union nested in a union"),
    "union twice": ('["int", "int"]', "a union with a duplicate type"),
    "redefined": (
        json.dumps([{"type": "fixed", "name": "x", "size": n} for n in (1, 2)]),
        "two types with the same name",
    ),
    "a symbol": ('{"type": "enum", "name": "E", "symbols": ["a b"]}', "an invalid symbol"),
    "deep": (
        '{"type": "array", "items": ' * 200 + '"int"' + "}" * 200,
        "an Avro schema nested deeper than",
    ),
}


@pytest.mark.parametrize("name", BAD_SCHEMAS)
def test_bad_schemas(tmp_path: pathlib.Path, name: str) -> None:
    text, message = BAD_SCHEMAS[name]
    path = tmp_path / "a.avro"
    path.write_bytes(avro.header(text))
    with pytest.raises((cst.errors.SchemaError, cst.errors.LimitError), match=message):
        rows(path)


def test_large_schemas(tmp_path: pathlib.Path) -> None:
    wide = record(**{f"field_number_{i}": ["null", "long"] for i in range(20_000)})
    assert len(json.dumps(wide)) > 1 << 20
    path = tmp_path / "a.avro"
    path.write_bytes(avro.header(json.dumps(wide)) + avro.block(1, b"\x00" * 20_000))
    assert rows(path, columns=["field_number_7"]) == [{"field_number_7": None}]
    # Every level holds the one below it twice.
    kind: Any = "int"
    for level in range(60):
        fields = [
            {"name": "a", "type": kind},
            {"name": "b", "type": f"R{level - 1}" if level else "int"},
        ]
        kind = {"type": "record", "name": f"R{level}", "fields": fields}
    (tmp_path / "b.avro").write_bytes(avro.header(json.dumps(kind)) + avro.block(1, b"\x00"))
    with pytest.raises(cst.errors.LimitError, match="more than 100000 columns"):
        rows(tmp_path / "b.avro")
    with pytest.raises(cst.errors.CorruptError):
        rows(tmp_path / "b.avro", columns=["a." * 59 + "b"])
    # Two to the power of 60 records without bytes, of which one is wanted.
    data = json.dumps(kind).replace('"int"', '"null"')
    (tmp_path / "c.avro").write_bytes(avro.header(data) + avro.block(1, b""))
    [row] = rows(tmp_path / "c.avro", columns=["a." * 59 + "b"])
    assert "a" in row


def test_times_that_no_day_has(tmp_path: pathlib.Path) -> None:
    """They would be no valid Arrow values."""
    for unit, kind, most in (("millis", "int", 86_400_000), ("micros", "long", 86_400_000_000)):
        schema = record(t={"type": kind, "logicalType": f"time-{unit}"})
        plain = record(t=kind)
        for value in (0, most - 1, -1, most):
            path = tmp_path / f"{unit}{value}.avro"
            with path.open("wb") as file:
                fastavro.writer(file, plain, [{"t": value}])
            source = cst.open(path, avro_schema=json.dumps(schema))
            if 0 <= value < most:
                pa.table(source).validate(full=True)
            else:
                with pytest.raises(cst.errors.CorruptError, match="an invalid time of day"):
                    list(source)


def test_a_bad_schema_is_told_with_its_file(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "bad.avro"
    with path.open("wb") as file:
        fastavro.writer(file, record(a="int"), [{"a": 1}])
    path.write_bytes(path.read_bytes().replace(b'"int"', b'"Int"'))
    with pytest.raises(cst.errors.SchemaError) as caught:
        _ = cst.open(path).arrow_schema
    assert caught.value.file == str(path)
