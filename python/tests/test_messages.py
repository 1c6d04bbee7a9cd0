"""Decoders and encoders of messages: inputs, options one by one, errors, pickles, threads."""

from __future__ import annotations

import pickle
import sys
import threading
from typing import Any

import columnstone as cst
import messages
import polars as pl
import pyarrow as pa
import pytest
from google.protobuf import descriptor_pb2

RECORDS = messages.sessions(20)
SESSION = messages.shop("Session")
SHOP = cst.schema.Descriptors(messages.SHOP)


def table(batch: Any) -> pa.RecordBatch:
    out = pa.record_batch(batch)
    out.validate(full=True)
    return out


def decode(columns: list[str] | None = None, **options: Any) -> pa.RecordBatch:
    return table(
        cst.decoder("message", message=SESSION, columns=columns, **options).decode(RECORDS)
    )


def type_of(path: str, **options: Any) -> pa.DataType:
    """The type of a column, or of what a path leads to."""
    name, *steps = path.split(".")
    found = decode([name], **options).schema.field(name).type
    for step in steps:
        while not pa.types.is_struct(found):
            found = found.value_type if step == "item" or not pa.types.is_map(found) else found
        found = found.field(step).type
    return found


@pytest.fixture
def proto() -> Any:
    """A function that makes a set of one message of a proto2 file from its fields."""

    def make(*fields: tuple[str, str, str], **more: Any) -> descriptor_pb2.FileDescriptorProto:
        file = descriptor_pb2.FileDescriptorProto(name="t.proto", **more)
        message = file.message_type.add(name="T")
        for i, (label, kind, name) in enumerate(fields):
            field = message.field.add(name=name, number=i + 1, label=f"LABEL_{label.upper()}")
            if kind.startswith("."):
                field.type, field.type_name = 11, kind
            else:
                field.type = descriptor_pb2.FieldDescriptorProto.Type.Value(f"TYPE_{kind.upper()}")
        return file

    return make


# ---- what is decoded ----


def test_values() -> None:
    assert decode().to_pylist() == messages.rows(RECORDS)


@pytest.mark.parametrize(
    "make",
    [
        tuple,
        iter,
        lambda r: [bytearray(x) for x in r],
        lambda r: [memoryview(x) for x in r],
        lambda r: pa.array(r, pa.binary()),
        lambda r: pa.array(r, pa.large_binary()),
        lambda r: pa.array(r, pa.binary_view()),
        lambda r: pa.array([b"", *r, b""], pa.binary()).slice(1, len(r)),
        lambda r: pa.record_batch({"record": pa.array(r, pa.binary())}),
        lambda r: pa.table({"record": pa.chunked_array([r[:3], r[3:]], pa.binary())}),
        lambda r: pl.DataFrame({"record": r}),
    ],
)
def test_inputs(make) -> None:
    wanted = decode()
    assert table(cst.decoder("message", message=SESSION).decode(make(RECORDS))).equals(wanted)
    views = table(cst.decoder("message", message=SESSION, binary_views=True).decode(make(RECORDS)))
    assert views.to_pylist() == wanted.to_pylist()


@pytest.mark.parametrize(
    ("message", "descriptors"),
    [
        (SESSION, None),
        (SESSION(), None),
        (SESSION.DESCRIPTOR, None),
        ("shop.Session", SHOP),
        (".shop.Session", SHOP),
        ("shop.Session", messages.FOLDER / "shop.desc"),
        ("shop.Session", messages.SHOP),
        ("shop.Session", messages.module()),
        ("shop.Session", [SESSION]),
        ("shop.Session", SESSION.DESCRIPTOR.file.pool),
        (SESSION, SHOP),
    ],
)
def test_ways_to_name_a_message(message: Any, descriptors: Any) -> None:
    decoder = cst.decoder("message", message=message, columns=["id"], descriptors=descriptors)
    assert decoder.message == "shop.Session"
    assert decoder.decode(RECORDS).to_pydict() == {"id": list(range(20))}
    assert decoder.descriptors.messages == SHOP.messages
    assert (
        cst.encoder("message", message=message, descriptors=descriptors).message == "shop.Session"
    )


def test_the_only_message(proto) -> None:
    file = proto(("optional", "int32", "a"))
    assert cst.decoder("message", descriptors=file).message == "T"
    assert (
        cst.decoder("message", descriptors=SHOP).message == "shop.Session"
    )  # which holds the others
    file.message_type.add(name="Other")
    with pytest.raises(cst.errors.ArgumentError, match="Other"):
        cst.decoder("message", descriptors=file)


def test_extensions_of_the_pool_of_a_message() -> None:
    """A pool has extensions that the file of the message does not import."""
    from google.protobuf import descriptor_pool

    pool = descriptor_pool.DescriptorPool()
    base = descriptor_pb2.FileDescriptorProto(name="a.proto", package="a")
    base.message_type.add(name="A").extension_range.add(start=100, end=200)
    more = descriptor_pb2.FileDescriptorProto(name="b.proto", dependency=["a.proto"])
    more.extension.add(
        name="extra", number=100, type="TYPE_INT32", label="LABEL_OPTIONAL", extendee=".a.A"
    )
    pool.Add(base)
    pool.Add(more)
    record = b"\xa0\x06\x05"
    with_pool = cst.decoder("message", message="a.A", descriptors=pool)
    assert with_pool.decode([record]).to_pydict() == {"(extra)": [5]}
    found = pool.FindMessageTypeByName("a.A")
    assert cst.decoder("message", message=found).decode([record]).to_pydict() == {}
    beside = cst.decoder("message", message=found, descriptors=pool.FindFileByName("b.proto"))
    assert beside.decode([record]).to_pydict() == {"(extra)": [5]}


def test_columns() -> None:
    got = decode(["event.query", "id", "labels.value", "event.result.price", "coupon"])
    rows = messages.rows(RECORDS)
    assert got.schema.names == ["event", "id", "labels", "coupon"]
    assert got.column("event").to_pylist() == [
        [
            {"query": e["query"], "result": [{"price": r["price"]} for r in e["result"]]}
            for e in row["event"]
        ]
        for row in rows
    ]
    assert got.column("coupon").to_pylist() == [row["coupon"] for row in rows]
    cast = decode(["extra.(shop.Coupon).percent"])
    assert [row["extra"] is not None for row in cast.to_pylist()] == [
        row["extra"] is not None for row in rows
    ]
    assert [i for i in range(20) if f"'percent': {i}" in str(cast.to_pylist()[i])] == [4, 9, 14, 19]


@pytest.mark.parametrize(
    ("path", "match"),
    [("idd", "id"), ("event.querry", "query"), ("id.x", "id"), ("(shop.no)", "no")],
)
def test_unknown_columns(path: str, match: str) -> None:
    with pytest.raises(cst.errors.NotFoundError, match=match):
        cst.decoder("message", message=SESSION, columns=[path])
    with pytest.raises(cst.errors.ArgumentError, match="empty step"):
        cst.decoder("message", message=SESSION, columns=["event..query"])


def test_all_or_nothing_and_no_records() -> None:
    assert decode([]).num_rows == 20
    empty = cst.decoder("message", message=SESSION).decode([])
    assert (empty.num_rows, table(empty).schema) == (0, decode().schema)
    decoder = cst.decoder("message", message=SESSION)
    assert pa.schema(decoder.arrow_schema) == decode().schema
    defaults = table(decoder.decode([b""])).to_pylist()
    assert defaults == messages.rows([b""])


# ---- options, one by one ----


def test_enums() -> None:
    kind = type_of("device")
    assert (kind.index_type, kind.value_type) == (pa.int32(), pa.large_string())
    dictionary = decode(["device"]).column("device").dictionary.to_pylist()
    assert dictionary == ["DEVICE_UNKNOWN", "PHONE", "TABLET", "DESKTOP"]
    assert type_of("device", enums="text") == pa.large_string()
    assert type_of("device", enums="binary") == pa.large_binary()
    assert type_of("device", enums="int32") == pa.int32()
    numbers = decode(["device"], enums="int32").column("device").to_pylist()
    assert numbers == [i % 4 for i in range(20)]
    unknown = SESSION(device=77).SerializeToString()
    for enums, wanted in (
        ("dictionary", "77"),
        ("text", "77"),
        ("binary", b"77"),
        ("int32", 77),
    ):
        batch = cst.decoder("message", message=SESSION, columns=["device"], enums=enums).decode(
            [unknown]
        )  # type: ignore[arg-type]
        assert batch.to_pydict() == {"device": [wanted]}


def test_defaults(proto) -> None:
    assert decode(["user"], defaults=True).column("user").to_pylist()[:2] == ["", "user 1"]
    assert not decode(["user"], defaults=True).schema.field("user").nullable
    assert decode(["user"]).schema.field("user").nullable
    file = proto(("optional", "int32", "a"), ("optional", "string", "b"))
    file.message_type[0].field[0].default_value = "-7"
    decoder = cst.decoder("message", message="T", descriptors=file, defaults=True)
    assert decoder.decode([b""]).to_pydict() == {"a": [-7], "b": [""]}


def test_nullable() -> None:
    plain = decode().schema
    assert (plain.field("event").nullable, plain.field("labels").nullable) == (False, False)
    assert not plain.field("event").type.value_field.nullable
    lists = decode(nullable_lists=True)
    assert (lists.schema.field("event").nullable, lists.schema.field("labels").nullable) == (
        True,
        True,
    )
    assert lists.column("event").to_pylist()[0] is None
    assert lists.column("labels").to_pylist()[0] is None
    items = decode(nullable_items=True).schema
    assert items.field("event").type.value_field.nullable
    assert items.field("labels").type.item_field.nullable
    assert not items.field("event").nullable


def test_plain_types() -> None:
    plain = type_of("at", plain_types=True)
    assert [plain.field(i).name for i in range(plain.num_fields)] == ["seconds", "nanos"]
    assert type_of("event.after", plain_types=True).num_fields == 2


def test_binary_strings() -> None:
    assert type_of("user") == pa.large_string()
    assert type_of("user", binary_strings=True) == pa.large_binary()
    record = b"\x12\x02\xff\xfe"
    assert cst.decoder("message", message=SESSION, columns=["user"], binary_strings=True).decode(
        [record]
    ).to_pydict() == {"user": [b"\xff\xfe"]}
    with pytest.raises(cst.errors.CorruptError, match="UTF-8") as caught:
        cst.decoder("message", message=SESSION).decode([b"", record])
    assert (caught.value.record, caught.value.path) == (1, "user")


def test_maps_as_lists() -> None:
    got = decode(["labels"], maps_as_lists=True)
    entries = got.schema.field("labels").type
    assert pa.types.is_large_list(entries)
    assert [(f.name, f.nullable) for f in entries.value_type] == [("key", False), ("value", False)]
    wanted = [[{"key": k, "value": v} for k, v in row["labels"]] for row in messages.rows(RECORDS)]
    assert got.column("labels").to_pylist() == wanted


def test_field_numbers() -> None:
    schema = decode(field_number_key="PARQUET:field_id").schema
    assert [int(f.metadata[b"PARQUET:field_id"]) for f in schema] == list(range(1, 10))
    assert all(f.metadata is None for f in decode().schema)


@pytest.mark.parametrize("unit", ["ns", "us", "ms", "s"])
def test_units(unit: Any, proto) -> None:
    assert type_of("at", timestamp_unit=unit) == pa.timestamp(unit, "UTC")
    assert type_of("event.after", duration_unit=unit) == pa.duration(unit)
    cut = decode(["at"], timestamp_unit=unit).column("at").cast(pa.timestamp("ns", "UTC"))
    whole = decode(["at"]).column("at")
    step = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}[unit]
    wanted = [v and v // step * step for v in whole.cast(pa.int64()).to_pylist()]
    assert cut.cast(pa.int64()).to_pylist() == wanted
    file = proto(("optional", ".google.type.TimeOfDay", "t"))
    file.dependency.append("google/type/timeofday.proto")
    schema = pa.schema(
        cst.decoder("message", message="T", descriptors=file, time_unit=unit).arrow_schema
    )
    assert schema.field("t").type == (pa.time64 if unit in ("ns", "us") else pa.time32)(unit)


def test_time_zone() -> None:
    assert type_of("at", time_zone=None) == pa.timestamp("ns")
    assert type_of("at", time_zone="Europe/Zurich") == pa.timestamp("ns", "Europe/Zurich")


@pytest.mark.parametrize("recursion", [0, 1, 3])
def test_recursion(recursion: int, proto) -> None:
    file = proto(("optional", ".T", "t"), ("optional", "int32", "a"))
    decoder = cst.decoder("message", message="T", descriptors=file, recursion=recursion)
    found = pa.schema(decoder.arrow_schema).field("t").type
    for _ in range(recursion):
        found = found.field("t").type
    assert found == pa.large_binary()
    usual = cst.decoder("message", message="T", descriptors=file)
    assert (
        usual.arrow_schema
        == cst.decoder("message", message="T", descriptors=file, recursion=2).arrow_schema
    )
    deep = b""
    for i in range(5):
        deep = b"\x0a" + bytes([len(deep) + 2]) + b"\x10" + bytes([i]) + deep
    row = decoder.decode([deep]).to_pydict()["t"][0]
    for _ in range(recursion):
        row = row["t"]
    assert isinstance(row, bytes)


def test_unknown_fields() -> None:
    assert cst.decoder("message", message=SESSION, columns=["id"]).decode(
        [b"\x08\x05\xa0\x06\x01"]
    ).to_pydict() == {"id": [5]}
    decoder = cst.decoder("message", message=SESSION, unknown_fields="rest")
    assert table(decoder.decode([])).schema.names[-1] == "rest"
    batch = decoder.decode([b"\x08\x05\xa0\x06\x01", b""])
    assert batch.to_pydict()["rest"] == [b"\xa0\x06\x01", b""]


def test_names_of_items() -> None:
    got = decode(list_item="element").schema
    assert got.field("event").type.value_field.name == "element"
    decoder = cst.decoder(
        "message", message=SESSION, columns=["labels"], map_key="k", map_value="v"
    )
    entries = decoder.arrow_schema.children[0].children[0]
    assert [field.name for field in entries.children] == ["k", "v"]


def test_layout() -> None:
    assert type_of("event.query") == pa.large_string()
    narrow = decode(offsets=32).schema
    assert pa.types.is_list(narrow.field("event").type)
    assert narrow.field("user").type == pa.string()
    views = decode(binary_views=True).schema
    assert views.field("user").type == pa.string_view()
    assert pa.types.is_map(narrow.field("labels").type)


@pytest.mark.parametrize("form", ["text", "json", "confluent", "confluent_plain"])
def test_forms(form: Any) -> None:
    from google.protobuf import json_format, text_format

    session = SESSION.FromString(RECORDS[10])
    pool = SESSION.DESCRIPTOR.file.pool
    made = {
        "text": text_format.MessageToString(session).encode(),
        "json": json_format.MessageToJson(session, descriptor_pool=pool).encode(),
        "confluent": b"\0\0\0\0\x07\x02\x04" + RECORDS[10],
        "confluent_plain": b"\0\0\0\0\x07" + RECORDS[10],
    }[form]
    got = table(cst.decoder("message", message=SESSION, form=form).decode([made]))
    assert got.to_pylist() == messages.rows(RECORDS[10:11])


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        (
            {"form": "xml"},
            cst.errors.ArgumentError,
            "binary, text, json, confluent or confluent_plain",
        ),
        ({"form": None}, cst.errors.ArgumentError, "form is 'None'"),
        ({"enums": "upper"}, cst.errors.ArgumentError, "dictionary, text, int32 or binary"),
        ({"timestamp_unit": "m"}, cst.errors.ArgumentError, "ns, us, ms or s"),
        ({"duration_unit": 1}, cst.errors.ArgumentError, "duration_unit"),
        ({"time_unit": "min"}, cst.errors.ArgumentError, "time_unit"),
        ({"time_zone": 1}, TypeError, "time_zone must be a str, not int"),
        ({"recursion": -1}, cst.errors.ArgumentError, "from 0 to 100"),
        ({"recursion": 101}, cst.errors.ArgumentError, "from 0 to 100"),
        ({"recursion": "2"}, TypeError, "recursion must be an int"),
        ({"unknown_fields": 1}, TypeError, "unknown_fields must be a str"),
        ({"list_item": None}, TypeError, "list_item must be a str"),
        ({"map_key": b"k"}, TypeError, "map_key must be a str"),
        ({"field_number_key": b"k"}, TypeError, "field_number_key must be a str"),
        ({"offsets": 16}, cst.errors.ArgumentError, "64 or 32"),
        ({"columns": "id"}, TypeError, "list of names"),
        ({"nested": True}, cst.errors.ArgumentError, "have no such columns"),
    ],
)
def test_wrong_options(options: dict[str, Any], error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        cst.decoder("message", message=SESSION, **options)


@pytest.mark.parametrize("make", [cst.decoder, cst.encoder])
def test_wrong_messages(make: Any) -> None:
    def of(message: Any = None, **given: Any) -> None:
        make("message", message=message, **given)

    with pytest.raises(cst.errors.ArgumentError, match="descriptors="):
        of("shop.Session")
    with pytest.raises(cst.errors.ArgumentError, match="descriptors="):
        of()
    with pytest.raises(cst.errors.NotFoundError, match=r"shop\.Session"):
        of("shop.Sesion", descriptors=SHOP)
    for wrong in (5, b"shop.Session", int, messages.module()):
        with pytest.raises(TypeError, match="message must be a generated class"):
            of(wrong)
    with pytest.raises(ValueError, match="null"):
        of("shop\0", descriptors=SHOP)
    with pytest.raises(cst.errors.ArgumentError, match=r"the pool has no message"):
        of("shop.No", descriptors=SESSION.DESCRIPTOR.file.pool)
    with pytest.raises(cst.errors.ArgumentError, match="pool"):
        of(descriptors=SESSION.DESCRIPTOR.file.pool)


# ---- errors, pickles, threads ----


def test_errors_have_their_place() -> None:
    decoder = cst.decoder("message", message=SESSION)
    damaged = RECORDS[7][:-1]
    with pytest.raises(cst.errors.CorruptError) as caught:
        decoder.decode([RECORDS[7], damaged])
    assert caught.value.record == 1
    assert decoder.decode(RECORDS).num_rows == 20  # stays usable


@pytest.mark.parametrize("wrong", [None, "text", b"bytes", {"a": 1}, 5])
def test_wrong_argument(wrong: object) -> None:
    with pytest.raises(TypeError, match=r"decode\(\) takes a list"):
        cst.decoder("message", message=SESSION).decode(wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"records\[1\]"):
        cst.decoder("message", message=SESSION).decode(
            [b"", wrong if wrong != b"bytes" else "text"]
        )  # type: ignore[list-item]


def test_message_objects_are_not_records() -> None:
    message = SESSION.FromString(RECORDS[0])
    with pytest.raises(TypeError, match=r"records\[0\] is Session.*SerializeToString"):
        cst.decoder("message", message=SESSION).decode([message])
    with pytest.raises(TypeError, match=r"rows or columns.*SerializeToString"):
        cst.encoder("message", message=SESSION).encode([message])


def test_a_schema_names_types() -> None:
    schema = cst.decoder(
        "message", message=SESSION, columns=["at", "device", "event.after", "labels"]
    ).arrow_schema
    assert str(schema) == (
        "struct<at: timestamp[ns, UTC], device: dictionary<large_string>, "
        "event: large_list<struct<after: duration[ns]>>, "
        "labels: map<key: large_string, value: large_string>>"
    )


def test_pickle() -> None:
    decoder = cst.decoder(
        "message",
        message=SESSION,
        columns=["event.query", "at", "device"],
        enums="int32",
        timestamp_unit="ms",
        offsets=32,
    )
    again = pickle.loads(pickle.dumps(decoder))
    assert (again.message, again.arrow_schema) == ("shop.Session", decoder.arrow_schema)
    assert table(again.decode(RECORDS)).equals(table(decoder.decode(RECORDS)))
    assert repr(again) == repr(decoder)
    assert "shop.Session" in repr(decoder)
    encoder = pickle.loads(pickle.dumps(cst.encoder("message", message=SESSION, lossy=True)))
    assert (encoder.message, encoder._given["lossy"]) == ("shop.Session", True)
    assert repr(encoder) == "<columnstone.codec.Encoder: message shop.Session>"


def test_one_decoder_in_many_threads() -> None:
    decoder = cst.decoder("message", message=SESSION)
    wanted = decode()
    wrong: list[object] = []

    def work() -> None:
        for _ in range(50):
            got = table(decoder.decode(RECORDS))
            if not got.equals(wanted):
                wrong.append(got)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_the_gil_is_free() -> None:
    """While one call decodes for long, another thread of Python runs."""
    decoder = cst.decoder("message", message=SESSION)
    records = pa.array(RECORDS * 20_000, pa.large_binary())
    counted = 0
    done = threading.Event()

    def work() -> None:
        decoder.decode(records)
        done.set()

    thread = threading.Thread(target=work)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(10)  # a call that holds the GIL keeps it
    try:
        thread.start()
        while not done.wait(0.0005):
            counted += 1
    finally:
        sys.setswitchinterval(interval)
        thread.join()
    assert counted > 0


def test_batches_outlive_the_decoder() -> None:
    decoder = cst.decoder("message", message=SESSION)
    batches = [decoder.decode(RECORDS[:k]) for k in range(20)]
    del decoder
    assert [table(b).to_pylist() for b in batches] == [
        messages.rows(RECORDS[:k]) for k in range(20)
    ]


# ---- others read the batches ----


def test_polars_and_duckdb_read_them() -> None:
    import duckdb

    batch = cst.decoder("message", message=SESSION).decode(RECORDS)
    frame = pl.DataFrame(batch)
    assert frame["id"].to_list() == list(range(20))
    assert frame["event"].list.len().to_list() == [i % 4 for i in range(20)]
    data = pa.table(batch)  # noqa: F841, which duckdb finds by its name
    found = duckdb.sql(
        "select sum(e.price), count(*) from (select unnest(event) as e from data)"
    ).fetchall()
    events = [event for row in messages.rows(RECORDS) for event in row["event"]]
    assert found == [(sum(e["price"] or 0 for e in events), len(events))]
    assert duckdb.sql("select labels['a'] from data where id = 3").fetchall() == [("3",)]
