"""Messages in files and columns: cst.open, on_error, pickles, structured tensors, writing back."""

from __future__ import annotations

import gzip
import io
import pathlib
import pickle
from typing import Any

import columnstone as cst
import messages
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest

RECORDS = messages.sessions(50)
ROWS = messages.rows(RECORDS)
SESSION = messages.shop("Session")
SHOP = cst.schema.Descriptors(messages.SHOP)
BAD = b"\x08\x01\x12\x05ab"  # ends within a string


@pytest.fixture
def path(tmp_path: pathlib.Path) -> pathlib.Path:
    return write(tmp_path / "sessions.tfrecord.gz", RECORDS)


def write(path: pathlib.Path, records: list[bytes], **options: Any) -> pathlib.Path:
    with cst.codec.TFRecordWriter(path, **options) as writer:
        for record in records:
            writer.write(record)
    return path


def rows(source: Any) -> list[dict[str, Any]]:
    found = pa.table(source)
    found.validate(full=True)
    return found.to_pylist()


# ---- reading ----


@pytest.mark.parametrize(
    ("message", "descriptors"),
    [
        (SESSION, None),
        ("shop.Session", SHOP),
        ("shop.Session", messages.FOLDER / "shop.proto"),
        (None, messages.FOLDER / "shop.desc"),
    ],
)
def test_a_file(path: pathlib.Path, message: Any, descriptors: Any) -> None:
    for format in (None, "message"):
        source = cst.open(path, format, message=message, descriptors=descriptors, batch_size=7)
        assert rows(source) == ROWS
        assert [batch.num_rows for batch in source] == [7] * 7 + [1]


def test_threads_and_files_and_pipes(path: pathlib.Path, tmp_path: pathlib.Path) -> None:
    plain = write(tmp_path / "plain.tfrecord", RECORDS)
    for threads in (1, 3):
        source = cst.open([path, plain, path], message=SESSION, threads=threads)
        assert rows(source) == ROWS * 3
    source = cst.open(io.BytesIO(gzip.decompress(path.read_bytes())), message=SESSION)
    assert rows(source) == ROWS


def test_columns_and_options(path: pathlib.Path) -> None:
    source = cst.open(
        path,
        message=SESSION,
        columns=["event.query", "device", "id"],
        message_options={"enums": "int32", "list_item": "element"},
        offsets=32,
    )
    schema = pa.schema(source.arrow_schema)
    assert schema.names == ["event", "device", "id"]
    assert schema.field("device").type == pa.int32()
    assert pa.types.is_list(schema.field("event").type)
    assert schema.field("event").type.value_field.name == "element"
    assert [row["id"] for row in rows(source)] == list(range(50))
    assert source.column_names == ["event", "device", "id"]
    fewer = cst.open(path, message=SESSION).select(["event.price", "id"])
    assert rows(fewer)[6] == {"event": [{"price": e["price"]} for e in ROWS[6]["event"]], "id": 6}


def test_containers(tmp_path: pathlib.Path) -> None:
    delimited = write(tmp_path / "s.bin", RECORDS, container="delimited")
    assert rows(cst.open(delimited, message=SESSION, container="delimited")) == ROWS
    singles = []
    for i, record in enumerate(RECORDS[:5]):
        singles.append(tmp_path / f"{i}.pb")
        singles[-1].write_bytes(record)
    assert rows(cst.open(singles, message=SESSION, container="file")) == ROWS[:5]


def test_rows_by_number(tmp_path: pathlib.Path) -> None:
    plain = write(tmp_path / "plain.tfrecord", RECORDS)
    source = cst.open(plain, message=SESSION, columns=["id"])
    assert len(source) == 50
    assert source[7].to_pydict() == {"id": [7]}
    assert source.take([40, 3]).to_pydict() == {"id": [40, 3]}
    assert rows(source[10:12]) == [{"id": 10}, {"id": 11}]
    parts = [row for i in range(2) for row in rows(source.split(i, 2))]
    assert parts == [{"id": i} for i in range(50)]
    shuffled = list(source.dataset(10, shuffle=True, seed=1, as_batches=True))
    assert sorted(i for batch in shuffled for i in batch.to_pydict()["id"]) == list(range(50))


def test_pickles(path: pathlib.Path) -> None:
    source = cst.open(
        path, message=SESSION, columns=["id", "at"], message_options={"timestamp_unit": "ms"}
    )
    again = pickle.loads(pickle.dumps(source))
    assert pa.table(again).equals(pa.table(source))
    parts = pickle.loads(pickle.dumps(cst.open(path, message=SESSION, on_error="null")))
    assert rows(parts) == ROWS


def test_others_read_it(path: pathlib.Path) -> None:
    import duckdb

    source = cst.open(path, message=SESSION)
    frame = pl.DataFrame(source)
    assert frame["id"].to_list() == list(range(50))
    assert frame["event"].list.len().to_list() == [i % 4 for i in range(50)]
    found = duckdb.sql("select count(*) from (select unnest(event) as e from source)").fetchall()
    assert found == [(sum(i % 4 for i in range(50)),)]
    assert source.to_pandas()["id"].tolist() == list(range(50))


def test_filter(path: pathlib.Path, tmp_path: pathlib.Path) -> None:
    wanted = [row for row in ROWS if row["device"] == ROWS[1]["device"]]
    assert 0 < len(wanted) < len(ROWS)
    source = cst.open(path, message=SESSION, batch_size=7)
    kept = source.filter(pc.field("device") == ROWS[1]["device"])
    assert rows(kept) == wanted
    views = cst.open(path, message=SESSION, binary_views=True)
    assert rows(views.filter(lambda batch: [n % 2 == 0 for n in range(50)])) == ROWS[::2]
    written = tmp_path / "kept.tfrecord"
    assert cst.write(kept, written, message=SESSION) == len(wanted)
    assert rows(cst.open(written, message=SESSION)) == wanted


def test_tensors(path: pathlib.Path) -> None:
    columns = ["id", "event.price"]
    with pytest.raises(
        cst.errors.SchemaError, match=r"event\.price.*null"
    ):  # no tensor has a place for it
        list(cst.open(path, message=SESSION, columns=columns).tensors())
    [names] = cst.open(path, message=SESSION, columns=["device"]).tensors()
    wanted = [row["device"].encode() for row in ROWS]
    assert cst.tensor.to_numpy(names["device"]).tolist() == wanted
    source = cst.open(path, message=SESSION, columns=columns, message_options={"defaults": True})
    [batch] = source.tensors()
    assert cst.tensor.to_numpy(batch["id"]).tolist() == list(range(50))
    prices = batch["event"]["price"]
    wanted = [e["price"] or 0.0 for row in ROWS for e in row["event"]]
    assert cst.tensor.to_numpy(prices.values).tolist() == wanted


# ---- a column of a table ----


def test_a_column(tmp_path: pathlib.Path) -> None:
    import pyarrow.parquet as pq

    values = [*RECORDS[:3], None, *RECORDS[3:6]]
    table = pa.table({"key": range(7), "value": pa.array(values, pa.binary()), "z": ["a"] * 7})
    pq.write_table(table, tmp_path / "kafka.parquet")
    wanted = [*ROWS[:3], None, *ROWS[3:6]]
    for given in (table, tmp_path / "kafka.parquet"):
        source = cst.open(given, message=SESSION, message_column="value")
        got = pa.table(source)
        assert got.schema.names == ["key", "value", "z"]
        assert got.column("value").to_pylist() == wanted
        some = cst.open(
            given, message=SESSION, message_column="value", columns=["value.event.query", "key"]
        )
        assert pa.table(some).to_pylist()[2] == {
            "value": {"event": [{"query": e["query"]} for e in ROWS[2]["event"]]},
            "key": 2,
        }
    bad = pa.table({"value": pa.array([RECORDS[0], BAD, RECORDS[1]], pa.binary())})
    nulls = cst.open(bad, message=SESSION, message_column="value", on_error="null")
    assert pa.table(nulls).column("value").to_pylist() == [ROWS[0], None, ROWS[1]]


# ---- bad records ----


def test_on_error(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path / "bad.tfrecord", [*RECORDS[:3], BAD, *RECORDS[3:5], BAD, RECORDS[5]])
    with pytest.raises(cst.errors.CorruptError) as caught:
        list(cst.open(path, message=SESSION))
    assert (caught.value.file, caught.value.record) == (str(path), 3)
    assert "ab" not in str(caught.value)  # its content

    skipped = cst.open(path, message=SESSION, on_error="skip", threads=2)
    assert rows(skipped) == ROWS[:6]

    nulls = cst.open(path, message=SESSION, on_error="null", threads=2, batch_size=3)
    nothing = dict.fromkeys(ROWS[0])
    assert rows(nulls) == [*ROWS[:3], nothing, *ROWS[3:5], nothing, ROWS[5]]
    assert [(d.record, d.kind) for d in nulls.dropped] == [(3, "record"), (6, "record")]
    assert all(isinstance(d.error, cst.errors.CorruptError) for d in nulls.dropped)
    assert all(field.nullable for field in pa.schema(nulls.arrow_schema))

    told = []
    assert rows(cst.open(path, message=SESSION, on_error=told.append)) == ROWS[:6]
    assert [d.record for d in told] == [3, 6]
    with pytest.raises(cst.errors.LimitError):
        list(cst.open(path, message=SESSION, on_error="null", max_errors=1))


def test_nulls_are_for_messages(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path / "e.tfrecord", [b""])
    with pytest.raises(cst.errors.UnsupportedError, match="null"):
        list(cst.open(path, "example", on_error="null"))
    with pytest.raises(cst.errors.ArgumentError, match='"null"'):
        cst.open(path, on_error="nil")  # type: ignore[arg-type]


# ---- wrong arguments ----


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"message": "shop.Session"}, cst.errors.ArgumentError, "descriptors="),
        ({"message": "shop.No", "descriptors": SHOP}, cst.errors.NotFoundError, "shop.No"),
        ({"message": SESSION, "columns": ["no"]}, cst.errors.NotFoundError, "no"),
        (
            {"message": SESSION, "message_options": {"enum": 1}},
            cst.errors.ArgumentError,
            "unknown message option",
        ),
        (
            {"message": SESSION, "message_options": {"enums": 1}},
            cst.errors.ArgumentError,
            "enums is '1'",
        ),
        ({"message_options": {}}, cst.errors.ArgumentError, "without message"),
        ({"message_column": "value"}, cst.Error, "message"),
        ({"format": "message"}, cst.Error, "message"),
        ({"message": 5}, TypeError, "generated class"),
    ],
)
def test_wrong_arguments(
    path: pathlib.Path, options: dict[str, Any], error: type[Exception], match: str
) -> None:
    with pytest.raises(error, match=match):
        cst.open(path, **options)


def test_files_that_hold_messages_in_another_way(tmp_path: pathlib.Path) -> None:
    from pyarrow import parquet

    table, lines = tmp_path / "kafka.parquet", tmp_path / "sessions.jsonl"
    parquet.write_table(pa.table({"value": RECORDS}), table)
    lines.write_text('{"id": "1"}\n')
    with pytest.raises(
        cst.errors.FormatError, match=r"format parquet and the column .*message_column"
    ):
        list(cst.open(table, message=SESSION))
    with pytest.raises(cst.errors.FormatError, match=r"a line: container lines, form json"):
        list(cst.open(lines, message=SESSION))


# ---- structured tensors, as the RFC has them ----


def test_structured(path: pathlib.Path) -> None:
    """Required fields are 0-D, repeated ones 1-D, and optional ones a value or null, from which the
    RFC's vectors of zero or one value are made."""
    [st] = cst.open(path, message=SESSION).structured()
    assert st["event", :, "query"].to_py() == [[e["query"] for e in r["event"]] for r in ROWS]
    assert st["id"].shape == (50,)
    assert st["id"].to_py() == list(range(50))
    assert st["event", "result"].shape == (50, None, None)
    assert st["user"].to_py() == [row["user"] for row in ROWS]
    vectors = cst.struct.expand_dims(st["user"], 1).drop_null()
    assert vectors.to_py() == [[row["user"]] if row["user"] is not None else [] for row in ROWS]
    assert st["coupon", "percent"].to_py() == [
        row["coupon"] and row["coupon"]["percent"] for row in ROWS
    ]
    assert st[1]["labels"].to_py() == [{"key": k, "value": v} for k, v in ROWS[1]["labels"]]


# ---- writing ----


def test_round_trip(path: pathlib.Path, tmp_path: pathlib.Path) -> None:
    source = cst.open(path, message=SESSION)
    out = tmp_path / "out.tfrecord.gz"
    assert cst.write(source, out, message=SESSION) == 50
    assert rows(cst.open(out, message=SESSION)) == ROWS
    assert [r for b in cst.open(out, "raw") for r in b.to_pydict()["record"]] == RECORDS


@pytest.mark.parametrize("name", ["s.arrow", "s.arrows", "s.parquet", "s.jsonl"])
def test_other_formats_take_all_of_a_message(
    path: pathlib.Path, tmp_path: pathlib.Path, name: str
) -> None:
    out = tmp_path / name
    assert cst.convert(path, out, message=SESSION) == 50
    assert [row["device"] for row in rows(cst.open(out))] == [row["device"] for row in ROWS]


def test_convert(path: pathlib.Path, tmp_path: pathlib.Path) -> None:
    parquet, back = tmp_path / "s.parquet", tmp_path / "back.tfrecord"
    assert cst.convert(path, parquet, message=SESSION) == 50
    assert cst.convert(parquet, back, to="message", message="shop.Session", descriptors=SHOP) == 50
    assert rows(cst.open(back, message=SESSION)) == ROWS
    again = tmp_path / "again.bin"
    cst.convert(
        path,
        again,
        format="message",
        to="message",
        message=SESSION,
        message_options={"enums": "int32"},
        to_container="delimited",
    )
    assert rows(cst.open(again, message=SESSION, container="delimited")) == ROWS
    source = cst.open(path, message=SESSION)
    json = tmp_path / "s.jsonl"
    options = {"form": "json"}
    cst.convert(
        source, json, to="message", message=SESSION, message_options=options, to_container="lines"
    )
    got = cst.open(json, message=SESSION, message_options=options, container="lines")
    assert rows(got) == ROWS
    with pytest.raises(cst.errors.ArgumentError, match=r"may be messages or tf\.Examples"):
        cst.convert(path, tmp_path / "x.tfrecord", to="message", message=SESSION)
    assert not (tmp_path / "x.tfrecord").exists()
    with pytest.raises(cst.errors.ArgumentError, match="already open"):
        cst.convert(source, tmp_path / "x.parquet", message=SESSION)


def test_writers_and_what_they_refuse(tmp_path: pathlib.Path) -> None:
    out = io.BytesIO()
    with cst.Writer(out, message=SESSION) as writer:
        writer.write([{"id": 1}, {"id": 2, "user": "x"}])
    found = cst.open(io.BytesIO(out.getvalue()), message=SESSION, columns=["id", "user"])
    assert rows(found) == [{"id": 1, "user": None}, {"id": 2, "user": "x"}]
    with pytest.raises(cst.errors.NotFoundError, match="nothing"):
        cst.write([{"nothing": 1}], tmp_path / "x.tfrecord", message=SESSION)
    with pytest.raises(cst.errors.UnsupportedError, match="enum Device") as caught:
        cst.write([{"device": 1}, {"device": 2**40}], tmp_path / "x.tfrecord", message=SESSION)
    assert (caught.value.record, caught.value.path) == (1, "device")
    with pytest.raises(cst.errors.ArgumentError, match="option of decoders"):
        cst.Writer(out, message=SESSION, message_options={"enums": "text"})
    with pytest.raises(cst.errors.ArgumentError, match="format"):
        cst.Writer(out, "csv", message=SESSION)
    with pytest.raises(cst.Error, match="message"):
        cst.Writer(out, "message").write([{"id": 1}])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("on_error", ["raise", "skip", "null"])
def test_shuffled_datasets_keep_the_dictionaries_of_enums(
    tmp_path: pathlib.Path, on_error: str
) -> None:
    data = messages.sessions(20)
    with cst.codec.TFRecordWriter(tmp_path / "s.tfrecord") as writer:
        for record in data:
            writer.write(record)
    named: Any = {"message": SESSION, "columns": ["id", "device"], "on_error": on_error}
    source = cst.open(tmp_path / "s.tfrecord", **named)
    assert source.arrow_schema.children[1].dictionary.format == "U"
    found = {}
    for item in source.dataset(4, "window", window=8, as_batches=True):
        batch = pa.record_batch(item)
        batch.validate(full=True)
        assert batch.schema.equals(pa.schema(source.arrow_schema))
        found.update(zip(batch["id"].to_pylist(), batch["device"].to_pylist(), strict=True))
    assert found == {row["id"]: row["device"] for row in messages.rows(data)}
