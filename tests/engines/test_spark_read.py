"""spark.read.format("columnstone"): files, options, columns, views, folders and errors."""

from __future__ import annotations

import datetime
import pathlib
import pickle
from typing import Any

import columnstone as cst
import pyarrow as pa
import pytest
import wide
from columnstone._spark.reader import Reader
from columnstone._spark.reading import infer_table, parse_load
from pyspark.sql.types import ArrayType, BinaryType, LongType, StructField, StructType

ROWS = [
    {"id": [i], "fare": [i / 4], "company": [b"Blue" if i % 2 else b"Red"], "tokens": [i] * (i % 3)}
    for i in range(100)
]


def visit_descriptors() -> bytes:
    """message Visit {id, user, event {query, price}}, as protoc would write it."""
    from google.protobuf import descriptor_pb2

    files = descriptor_pb2.FileDescriptorSet()
    file = files.file.add(name="visits.proto", syntax="proto3")
    event = file.message_type.add(name="Event")
    event.field.add(name="query", number=1, type=9, label=1)
    event.field.add(name="price", number=2, type=1, label=3)
    visit = file.message_type.add(name="Visit")
    visit.field.add(name="id", number=1, type=3, label=1)
    visit.field.add(name="user", number=2, type=9, label=1)
    visit.field.add(name="event", number=3, type=11, label=3, type_name=".Event")
    data: bytes = files.SerializeToString()
    return data


def load(spark: Any, path: object, types: str | None = None, **options: Any) -> Any:
    reader = spark.read.format("columnstone").options(**options)
    return (reader if types is None else reader.schema(types)).load(str(path))


def ids(frame: Any) -> list[Any]:
    return sorted(frame.select("id").toArrow()["id"].combine_chunks().to_pylist())


@pytest.fixture
def trips(tmp_path: pathlib.Path) -> pathlib.Path:
    for i in range(4):
        cst.write(ROWS[i * 25 : (i + 1) * 25], tmp_path / f"trips-{i}.tfrecord.gz")
    return tmp_path


def test_files_have_all_rows_in_one_schema(spark: Any, trips: pathlib.Path) -> None:
    frame = load(spark, trips)
    said = {field.name: field.dataType.simpleString() for field in frame.schema.fields}
    assert said == {
        "company": "array<binary>",
        "fare": "array<float>",
        "id": "array<bigint>",
        "tokens": "array<bigint>",
    }
    assert sorted(frame.toArrow().to_pylist(), key=lambda row: row["id"]) == ROWS
    flat = load(spark, trips / "trips-*.tfrecord.gz", columns="id,company", flat=True)
    assert flat.where("company = 'Red' and id < 10").count() == 5
    assert flat.groupBy("company").count().collect()[0]["count"] == 50


def test_a_task_for_each_split(spark: Any, trips: pathlib.Path) -> None:
    assert load(spark, trips, targetBytes=1).rdd.getNumPartitions() == 4
    assert load(spark, trips).rdd.getNumPartitions() == 1
    cst.write(ROWS * 20, trips / "plain.tfrecord")
    plain = load(spark, trips / "plain.tfrecord", target_bytes=30000, columns="id", flat=True)
    assert plain.rdd.getNumPartitions() > 3
    assert ids(plain) == sorted(list(range(100)) * 20)


def test_given_schemas_read_nothing_else(spark: Any, trips: pathlib.Path) -> None:
    """A schema for Spark says what columns are read, and as what."""
    frame = load(spark, trips, "id int, tokens array<decimal(25,0)>, company string")
    assert frame.where("id = 5").collect() == [(5, [5, 5], "Blue")]
    saved = trips / "schema.pbtxt"
    saved.write_text(cst.infer_schema(str(trips / "trips-0*")).to_text())
    frame = load(spark, trips / "trips-*", schema=str(saved))
    assert frame.count() == 100
    with pytest.raises(Exception, match=r"column fare: tf\.Examples cannot hold timestamp"):
        load(spark, trips, "fare timestamp").collect()


def test_csv_json_and_parquet(spark: Any, tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.csv").write_text("x;y\n1;2.5\n;z\n")
    rows = load(spark, tmp_path / "a.csv", delimiter=";").collect()
    assert rows == [(1, "2.5"), (None, "z")]
    typed = load(spark, tmp_path / "a.csv", "y string, x smallint", delimiter=";")
    assert typed.collect() == [("2.5", 1), ("z", None)]
    (tmp_path / "a.jsonl").write_text('{"a": {"b": [1, null]}, "c": "x"}\n{"a": null, "c": ""}\n')
    assert load(spark, tmp_path / "a.jsonl").toArrow().to_pylist() == [
        {"a": {"b": [1, None]}, "c": "x"},
        {"a": None, "c": ""},
    ]
    assert load(spark, tmp_path / "a.jsonl", "a struct<b: array<int>>").count() == 2
    cst.write(
        pa.table({"t": [datetime.date(2024, 2, 29), None], "n": [1, 2]}), tmp_path / "a.parquet"
    )
    assert load(spark, tmp_path / "a.parquet", columns="t").collect() == [
        (datetime.date(2024, 2, 29),),
        (None,),
    ]


def test_messages_and_views(spark: Any, tmp_path: pathlib.Path) -> None:
    proto = str(tmp_path / "visits.desc")
    pathlib.Path(proto).write_bytes(visit_descriptors())
    events = [{"query": "tea", "price": [4.5, 2.0]}, {"query": "pot", "price": []}]
    visits = [{"id": i, "user": f"u{i}", "event": events[: i % 3]} for i in range(10)]
    data = tmp_path / "visits.tfrecord"
    with cst.codec.TFRecordWriter(data) as writer:
        writer.write_batch(
            cst.encoder("message", message="Visit", descriptors=proto).encode(visits)
        )
    given = {"message": "Visit", "descriptors": proto}
    got = load(spark, data, columns="id,event.query", **given).toArrow().to_pylist()
    assert got[5] == {"id": 5, "event": [{"query": "tea"}, {"query": "pot"}]}
    query = tmp_path / "visits.cstq"
    query.write_text(
        "from message Visit\n"
        "let event.cheapest = min(event.price)\n"
        'output user = dense(user, default="")\n'
        "output queries = ragged(event.query)\n"
        "output cheapest = ragged(event.cheapest, default=0)\n"
    )
    bound = load(spark, data, view=str(query), descriptors=proto).toArrow().to_pylist()
    assert bound[5] == {"user": "u5", "queries": ["tea", "pot"], "cheapest": [2.0, 0.0]}
    cst.Query.from_file(query, descriptors=proto).save(tmp_path / "visits.cstv")
    saved = load(spark, data, view=str(tmp_path / "visits.cstv"), columns="user,cheapest")
    assert saved.collect()[5] == ("u5", [2.0, 0.0])


def test_folders_are_columns(spark: Any, tmp_path: pathlib.Path) -> None:
    for day in ("2024-02-29", "2024-03-01", "__HIVE_DEFAULT_PARTITION__"):
        for hour in ("01", "12"):
            folder = tmp_path / f"day={day}" / f"hour={hour}"
            folder.mkdir(parents=True)
            cst.write([{"id": [len(day)]}], folder / "part-0.tfrecord")
    frame = load(spark, tmp_path, flat=True)
    said = [(field.name, field.dataType.simpleString()) for field in frame.schema.fields]
    assert said == [("id", "bigint"), ("day", "date"), ("hour", "int")]
    assert frame.where("day = '2024-02-29' and hour = 1").collect() == [
        (10, datetime.date(2024, 2, 29), 1)
    ]
    assert frame.where("day is null").count() == 2
    assert frame.count() == 6
    typed = load(spark, tmp_path, "hour string, id bigint, day string")
    assert typed.where("day = '2024-03-01'").collect() == [
        ("01", 10, "2024-03-01"),
        ("12", 10, "2024-03-01"),
    ]
    below = load(spark, tmp_path / "day=2024-03-01", basePath=str(tmp_path), columns="day,id")
    assert below.select("day").distinct().collect() == [(datetime.date(2024, 3, 1),)]


def test_files_are_pruned_where_spark_lets(spark: Any, tmp_path: pathlib.Path) -> None:
    """A file that is not read is not missed: the other one is no TFRecord file at all."""
    for day in (1, 2):
        (tmp_path / f"day={day}").mkdir()
        cst.write([{"id": [day]}], tmp_path / f"day={day}" / "f.tfrecord")
    frame = load(spark, tmp_path, "id bigint, day int")
    (tmp_path / "day=2" / "f.tfrecord").write_bytes(b"no record" * 9)
    with pytest.raises(Exception, match=r"day=2/f\.tfrecord"):
        frame.where("day < 2 and id > 0").collect()
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    try:
        frame = load(spark, tmp_path, "id bigint, day int")
        assert frame.where("day < 2 and id > 0").collect() == [(1, 1)]
        assert frame.where("day > 5").collect() == []
        assert frame.where("day in (1) and id + 0 = 7").collect() == []
    finally:
        spark.conf.unset("spark.sql.python.filterPushdown.enabled")


def test_a_damaged_file_under_each_policy(spark: Any, trips: pathlib.Path) -> None:
    path = trips / "damaged.tfrecord"
    cst.write([{"id": [i]} for i in range(10)], path)
    data = bytearray(path.read_bytes())
    size = len(data) // 10
    data[5 * size + 14] ^= 1
    path.write_bytes(data)
    with pytest.raises(Exception, match=rf"damaged\.tfrecord: record 5, byte {5 * size}: data CRC"):
        load(spark, path, "id bigint").collect()
    assert ids(load(spark, path, "id bigint", onError="skip")) == [0, 1, 2, 3, 4, 6, 7, 8, 9]
    assert ids(load(spark, path, "id bigint", on_error="skip", max_errors=1)) != []
    skipped = load(spark, path, on_error="skip", flat=True)
    assert skipped.count() == 9
    with pytest.raises(Exception, match="null"):
        load(spark, path, "id bigint", on_error="null").collect()


def in_process(path: pathlib.Path, types: StructType | None = None, **options: str) -> pa.Table:
    """What Spark would get, without it."""
    load = parse_load({"path": str(path), **options})
    table = None if types is not None else infer_table(load, load.find())
    schema = types if table is None else table.schema()
    reader = Reader(load, schema, table)
    tasks = pickle.loads(pickle.dumps(list(reader.partitions())))
    there = pickle.loads(pickle.dumps(reader))
    return pa.Table.from_batches([b for task in tasks for b in there.read(task)])


@pytest.mark.parametrize("infers", [False, True])
def test_tasks_are_small(tmp_path: pathlib.Path, infers: bool) -> None:
    """The columns are in the reader, which Spark sends once."""
    paths, schema = wide.write(tmp_path)
    (tmp_path / "schema.pbtxt").write_text(schema)
    given = {} if infers else {"schema": str(tmp_path / "schema.pbtxt")}
    load = parse_load({"path": paths, "targetbytes": "50000", **given})
    table = infer_table(load, load.find())
    tasks = list(Reader(load, table.schema(), table).partitions())
    assert len(tasks) > 4
    assert max(len(pickle.dumps(task)) for task in tasks) < wide.MOST


def test_messages_in_a_column(tmp_path: pathlib.Path) -> None:
    descriptors = tmp_path / "visits.desc"
    descriptors.write_bytes(visit_descriptors())
    encoder = cst.encoder("message", message="Visit", descriptors=descriptors)
    visits = pa.array(encoder.encode([{"id": 1, "user": "ann"}, {"id": 2}]))
    cst.write(pa.table({"key": ["a", "b"], "visit": visits}), tmp_path / "a.parquet")
    options = {"descriptors": str(descriptors), "message": "Visit", "message_column": "visit"}
    got = in_process(tmp_path / "a.parquet", columns="key,visit.user", **options)
    assert got.to_pylist() == [
        {"key": "a", "visit": {"user": "ann"}},
        {"key": "b", "visit": {"user": ""}},
    ]


def test_records_of_other_kinds(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.tfrecord"
    cst.write([{"id": [i]} for i in range(3)], path)
    raw = in_process(path, format="raw")
    assert raw.schema == pa.schema([("record", pa.binary())])
    assert len(raw) == 3
    beside = in_process(path, raw_column="bytes")
    assert beside["bytes"].to_pylist() == [[r] for r in raw["record"].to_pylist()]
    types = StructType([StructField("steps", BinaryType())])
    with pytest.raises(
        cst.errors.ArgumentError, match=r"\.schema\(\.\.\.\) cannot describe sequences of steps"
    ):
        in_process(path, types, format="sequence_example")


def test_a_column_that_is_misspelt(tmp_path: pathlib.Path) -> None:
    """Of .schema(...): else all of its values would be null. What a folder or an option makes is
    there; a rare feature is named by a TFMD schema; an empty file tells nothing."""
    (tmp_path / "day=1").mkdir()
    (tmp_path / "day=1" / "0.tfrecord").write_bytes(b"")
    rows = [{"id": [i], "fare": [i / 4]} for i in range(3)]
    cst.write(rows, tmp_path / "day=1" / "a.tfrecord")
    wanted = StructType([StructField("id", LongType()), StructField("faer", LongType())])
    with pytest.raises(cst.errors.SchemaError) as told:
        in_process(tmp_path, wanted)
    assert "a.tfrecord: column faer: " in str(told.value)
    assert "(they have fare, id)" in str(told.value)
    beside = [StructField("id", LongType()), StructField("at", LongType())]
    there = StructType([*beside, StructField("day", LongType())])
    assert in_process(tmp_path, there, offset_column="at")["id"].to_pylist() == [0, 1, 2]
    (tmp_path / "_rare.pbtxt").write_text(
        'feature { name: "id" type: INT } feature { name: "faer" type: INT }'
    )
    lists = StructType([StructField(f.name, ArrayType(LongType())) for f in wanted])
    rare = in_process(tmp_path, lists, schema=str(tmp_path / "_rare.pbtxt"))
    assert rare["faer"].to_pylist() == [None] * 3


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet", "a.arrow", "a.tfrecord.gz"])
def test_a_column_that_is_misspelt_in_other_formats(tmp_path: pathlib.Path, name: str) -> None:
    cst.write(pa.table({"id": [1], "fare": [2]}), tmp_path / name)
    wanted = StructType([StructField("id", LongType()), StructField("faer", LongType())])
    with pytest.raises(cst.Error, match=r"faer.*fare"):
        in_process(tmp_path / name, wanted)


def test_what_is_dropped_is_logged(tmp_path: pathlib.Path, caplog: Any) -> None:
    """In the worker."""
    path = tmp_path / "a.tfrecord"
    cst.write([{"id": [i]} for i in range(3)], path)
    path.write_bytes(path.read_bytes()[:-1])
    load = parse_load({"path": str(path), "onerror": "skip", "offset_column": "at"})
    table = infer_table(load, load.find())
    reader = pickle.loads(pickle.dumps(Reader(load, table.schema(), table)))
    [task] = Reader(load, table.schema(), table).partitions()
    [batch] = reader.read(pickle.loads(pickle.dumps(task)))
    assert batch.to_pydict() == {"id": [[0], [1]], "at": [0, path.stat().st_size // 3 + 1]}
    assert "1 records dropped; the first: " in caplog.text
    assert "a.tfrecord: record 2" in caplog.text


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"colums": "id"}, r"reading has no option 'colums' \(did you mean columns"),
        ({"columns": "id,fares"}, "fares"),
        ({"check_crc": "1"}, "option check_crc must be true or false, not '1'"),
        ({"fileLog": "/tmp"}, "option file_log is only for readStream"),
        ({"delimitr": "1"}, "reading has no option 'delimitr'"),
        ({"threads": "0"}, "threads is '0': expected a number from 1 to 1024"),
    ],
)
def test_options_that_are_wrong(
    spark: Any, trips: pathlib.Path, options: dict[str, str], said: str
) -> None:
    with pytest.raises(Exception, match=said):
        load(spark, trips, **options).collect()


def test_paths_that_are_wrong(spark: Any, tmp_path: pathlib.Path) -> None:
    with pytest.raises(Exception, match="no file matches"):
        load(spark, tmp_path)
    with pytest.raises(Exception, match="no path is given"):
        spark.read.format("columnstone").load()
    (tmp_path / "id=1").mkdir()
    cst.write([{"id": [1]}], tmp_path / "id=1" / "f.tfrecord")
    with pytest.raises(
        Exception, match="column id: it is in the files, but also in the names of folders"
    ):
        load(spark, tmp_path)
    several = spark.read.format("columnstone").load([str(tmp_path / "id=1")] * 2)
    assert several.count() == 2


def test_register_makes_no_difference(spark: Any, trips: pathlib.Path) -> None:
    cst.spark.register(spark)
    assert load(spark, trips, columns="id").count() == 100


def avro_file(path: pathlib.Path) -> None:
    """Rows 0 to 39,999 in one file of 4 MB."""
    ids = pa.array(range(40_000), pa.int64())
    text = pa.array([f"{i:080}" for i in range(40_000)])
    cst.write(pa.table({"id": ids, "text": text}), str(path), avro_codec="null")


SCHEMA_OF_AVRO = """{"type": "record", "name": "Row", "fields": [
    {"name": "number", "aliases": ["id"], "type": ["null", "double"]},
    {"name": "shop", "type": "string", "default": "IT"}]}"""


def test_avro(spark: Any, tmp_path: pathlib.Path) -> None:
    """A file in several partitions, by its own schema and by another, and written again."""
    avro_file(tmp_path / "a.avro")
    frame = load(spark, tmp_path / "a.avro", targetBytes=str(1 << 20))
    assert frame.rdd.getNumPartitions() > 3
    assert ids(frame) == list(range(40_000))
    other = load(spark, tmp_path / "a.avro", avroSchema=SCHEMA_OF_AVRO)
    assert other.agg({"number": "sum"}).collect()[0][0] == sum(range(40_000))
    writer = frame.write.format("columnstone").option("format", "avro")
    writer.option("avro_codec", "bzip2").mode("overwrite").save(str(tmp_path / "out"))
    again = pa.table(cst.open(str(tmp_path / "out" / "*.avro")))
    assert sorted(again["id"].to_pylist()) == list(range(40_000))
