"""Errors name files, records, fields and types, and hold no values of the data: what is logged of a
failure must not be what the records keep to themselves."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Iterator
from typing import Any

import columnstone as cst
import messages
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

MARK = "SECRET77"
NUMBER = "777777777777777777777777"  # fits no integer
SCHEMA = "".join(
    f'feature {{ name: "{name}" type: {kind} }}\n'
    for name, kind in [("i", "INT"), ("f", "FLOAT"), ("b", "BYTES")]
)
MESSAGE = {"format": "message", "container": "lines", "message": "shop.Session"}


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Not tmp_path, whose name has the parameters of the test."""
    return tmp_path_factory.mktemp("data")


def said(error: BaseException | None) -> Iterator[str]:
    """All that an error says of itself, and its causes."""
    while error is not None:
        yield str(error)
        yield repr(error)
        yield from map(str, vars(error).values())
        for field in ("hint", "path", "file", "record"):
            yield str(getattr(error, field, ""))
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def check(run: Callable[[], object], *classes: type[BaseException]) -> None:
    with pytest.raises(classes or cst.Error) as caught:
        run()
    for text in said(caught.value):
        assert MARK not in text and NUMBER[:6] not in text, text
        assert MARK.encode().hex() not in text, text


def read(path: pathlib.Path, **options: Any) -> list[Any]:
    return list(cst.open(path, **options))


CSV = ["{0},1,b", '"{0}",1,b', "1,{0},b", '"{0}', '"{0}"x,1,b', "1,2,{0},4,5", "1,0x{0},b", "{0}"]


@pytest.mark.parametrize("row", CSV)
@pytest.mark.parametrize("value", [MARK, NUMBER, f"{MARK}\0"])
@pytest.mark.parametrize("schema", [None, SCHEMA])
def test_csv(row: str, value: str, schema: str | None, folder: pathlib.Path) -> None:
    if (schema is None and row in CSV[:3] + CSV[6:7]) or (row, value) == (CSV[2], NUMBER):
        pytest.skip("without a schema, columns have the types of the data")
    path = folder / "a.csv"
    good = "1,2.5,x\n" * 3000
    path.write_text(f"i,f,b\n{good}{row.format(value)}\n{good}")
    check(lambda: read(path, schema=schema))


JSON = [
    '{{"i": "{0}"}}',
    '{{"i": ["{0}"]}}',
    '{{"i": {{"{0}": 1}}}}',
    '{{"f": "{0}"}}',
    '{{"b": {1}.5}}',
    '{{"i": {1}}}',
    '{{"i": {0}}}',
    '{{"i": "{0}}}',
    '["{0}"]',
    '"{0}"',
    '{{"b": {{"bytes": "{0}"}}}}',
    '{{"b": "\\u{0}"}}',
    '{{"i": 1 "{0}"}}',
]


@pytest.mark.parametrize("line", JSON)
@pytest.mark.parametrize("schema", [None, SCHEMA])
def test_json(line: str, schema: str | None, folder: pathlib.Path) -> None:
    path = folder / "a.jsonl"
    good = '{"i": [1], "f": [0.5], "b": ["x"]}\n' * 3
    path.write_text(good + line.format(MARK, NUMBER) + "\n" + good)
    if schema is None and line in JSON[:5] + JSON[10:11]:
        pytest.skip("without a schema, columns have the types of the data")
    check(lambda: read(path, schema=schema))


MESSAGES_JSON = [
    '{{"id": "{0}"}}',
    '{{"id": {1}}}',
    '{{"device": "{0}"}}',
    '{{"device": ["{0}"]}}',
    '{{"user": {1}}}',
    '{{"at": "{0}"}}',
    '{{"event": "{0}"}}',
    '{{"event": [{{"clicked": "{0}"}}]}}',
    '{{"labels": {{"a": {1}}}}}',
    '{{"labels": {{"{0}": 1}}}}',
    '{{"labels": {{"{0}": "a", "{0}": "b"}}}}',
    '{{"extra": {{"@type": "{0}"}}}}',
    '{{"extra": {{"@type": "type.googleapis.com/{0}", "a": 1}}}}',
    '{{"user": "{0}}}',
    '{{"user": "{0}" {0}}}',
    "{0}",
    '"{0}"',
]
MESSAGES_TEXT = [
    'id: "{0}"',
    "id: {1}",
    "id: {0}",
    "device: {0}",
    "device: {1}",
    'device: "{0}"',
    "user: {0}",
    'user: "{0}',
    'user: "{0}" "\\{0}',
    'user: "\\xff{0}"',
    "event {{ clicked: {0} }}",
    "event: {0}",
    'labels {{ key: "{0}" value: {0} }}',
    "extra {{ [{0}] {{ }} }}",
    "extra {{ [a.com/{0}] {{ }} }}",
    'id: 1 "{0}"',
    'card: "{0}" card: "{0}"',
    "at {{ seconds: {1} }}",
]


@pytest.mark.parametrize(
    ("form", "record"),
    [*(("json", line) for line in MESSAGES_JSON), *(("text", line) for line in MESSAGES_TEXT)],
)
def test_messages(form: str, record: str, folder: pathlib.Path) -> None:
    path = folder / "a.lines"
    path.write_text(record.format(MARK, NUMBER) + "\n")
    options = {"message_options": {"form": form}, "descriptors": messages.SHOP}
    check(lambda: read(path, **MESSAGE, **options))


@pytest.mark.parametrize("tag", [b"\x12", b"\x1a", b"\x2a", b"\x32"])
def test_wire(tag: bytes, folder: pathlib.Path) -> None:
    """Bytes of messages and of tf.Examples that break off, or are not UTF-8."""
    data = tag + b"\x20" + MARK.encode() * 4
    for record in (data[:20], data, tag + b"\x0a" + MARK.encode() + b"\xff\xfe"):
        path = folder / "a.tfrecord"
        with cst.codec.TFRecordWriter(path) as writer:
            writer.write(record)
        for options in (
            {"format": "message", "message": "shop.Session", "descriptors": messages.SHOP},
            {"format": "example"},
            {"format": "sequence_example"},
        ):
            try:
                read(path, **options)
            except cst.Error as error:
                assert not any(MARK in text for text in said(error))


CASTS = ["int64", "float64", "int8", "uint64"]


@pytest.mark.parametrize("kind", CASTS)
@pytest.mark.parametrize("value", [MARK, NUMBER, f" {MARK}"])
def test_casts_of_queries(kind: str, value: str) -> None:
    if (kind, value) == ("float64", NUMBER):
        pytest.skip("a number")
    batch = pa.record_batch({"t": [value]})
    check(lambda: cst.Query(batch.schema).add(f"output y = cast(t, {kind})").run(batch))


FUNCTIONS = ["timestamp(t)", "date(timestamp(t))", "cast(t, float32)"]


@pytest.mark.parametrize("call", FUNCTIONS)
def test_functions_of_queries(call: str) -> None:
    batch = pa.record_batch({"t": [f"{MARK}("]})
    check(lambda: cst.Query(batch.schema).add(f"output y = {call}").run(batch))


def test_writing(folder: pathlib.Path) -> None:
    bad = pa.array([f"{MARK}".encode() + b"\xff"]).cast(pa.binary())
    text = pa.Array.from_buffers(pa.string(), 1, bad.buffers())
    rows = [
        pa.record_batch({"a": text}),
        pa.record_batch({"a": pa.array([[MARK, None]])}),
        pa.record_batch({"a": pa.array([{"b": MARK}, None])}),
        pa.record_batch({"a": pa.array([MARK, None])}),
        pa.record_batch({"a": pa.array([f"{MARK}\n"])}),
    ]
    outputs = [("a.csv", {}), ("a.jsonl", {}), ("a.tfrecord", {}), ("a.parquet", {})]
    outputs.append(("a.tfrecord", {"format": "raw"}))
    for batch in rows:
        for name, options in outputs:
            try:
                cst.write([batch], folder / name, overwrite=True, **options)
            except cst.Error as error:
                assert not any(MARK in text for text in said(error))


@pytest.mark.parametrize("values", [[1, MARK], [MARK, 1], [[1], MARK], [{"a": 1}, MARK]])
def test_values_from_python(values: list[Any]) -> None:
    check(lambda: cst.array(values), cst.Error, TypeError, ValueError)
    check(lambda: cst.array(values, type=pa.int64()), cst.Error, TypeError, ValueError)


def test_parquet(folder: pathlib.Path) -> None:
    path = folder / "a.parquet"
    pq.write_table(pa.table({"a": [MARK] * 100}), path, use_dictionary=False, compression="none")
    data = path.read_bytes()
    at = data.index(MARK.encode())
    for spoiled in (data[:at] + b"\xff" * 40 + data[at + 40 :], data[:-40], data[: at + 200]):
        path.write_bytes(spoiled)
        try:
            read(path)
        except cst.Error as error:
            assert not any(MARK in text for text in said(error))
