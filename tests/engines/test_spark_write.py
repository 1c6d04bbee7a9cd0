"""Data frames written through the data source: every payload, modes, partitions, and types."""

from __future__ import annotations

import datetime
import decimal
import glob
import os
import pathlib
from typing import Any

import columnstone as cst
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from google.protobuf import descriptor_pb2, text_format

# message Visit { int64 id = 1; string user = 2; repeated Event event = 3; }
# message Event { string query = 1; repeated double price = 2; }
VISIT = """
name: "visit.proto" syntax: "proto3"
message_type {
  name: "Visit"
  field { name: "id" number: 1 label: LABEL_OPTIONAL type: TYPE_INT64 }
  field { name: "user" number: 2 label: LABEL_OPTIONAL type: TYPE_STRING }
  field { name: "event" number: 3 label: LABEL_REPEATED type: TYPE_MESSAGE type_name: ".Event" }
}
message_type {
  name: "Event"
  field { name: "query" number: 1 label: LABEL_OPTIONAL type: TYPE_STRING }
  field { name: "price" number: 2 label: LABEL_REPEATED type: TYPE_DOUBLE }
}
"""


def files(folder: pathlib.Path) -> list[str]:
    """All that there is but the folders, hidden ones included."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())


def data(folder: pathlib.Path, ending: str = "") -> list[str]:
    return sorted(glob.glob(f"{folder}/**/part-*{ending}", recursive=True))


def rows(folder: pathlib.Path, ending: str = "", **options: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for file in data(folder, ending):
        found += pa.table(cst.open(file, **options)).to_pylist()
    return found


def save(frame: Any, folder: pathlib.Path, mode: str = "append", **options: Any) -> None:
    writer = frame.write.format("columnstone").mode(mode)
    for name, value in options.items():
        writer = writer.option(name, value)
    writer.save(str(folder))


TYPES = (
    "cast(id as int) a",
    "case when id = 1 then null else id end b",
    "array(cast(id as float), 0.5F) c",
    "concat('s', id) d",
    "cast(concat('b', id) as binary) e",
    "id = 2 f",
    "cast(3 as tinyint) g",
    "cast(null as string) h",
    "slice(array('x', 'y'), 1, cast(id as int) % 3) i",
)
EXAMPLES = {
    "a": lambda i: [i],
    "b": lambda i: None if i == 1 else [i],
    "c": lambda i: [float(i), 0.5],
    "d": lambda i: [f"s{i}".encode()],
    "e": lambda i: [f"b{i}".encode()],
    "f": lambda i: [int(i == 2)],
    "g": lambda i: [3],
    "h": lambda i: None,
    "i": lambda i: [b"x", b"y"][: i % 3],
}


@pytest.mark.parametrize(("compression", "end"), [("none", ""), ("gzip", ".gz"), ("zstd", ".zst")])
def test_examples(spark: Any, tmp_path: pathlib.Path, compression: str, end: str) -> None:
    out = tmp_path / "out"
    frame = spark.range(5).selectExpr(*TYPES)
    save(frame, out, compression=compression)
    names = files(out)
    assert "_SUCCESS" in names
    assert len(names) == 3  # no temporary ones
    assert all(name.endswith(f"-c000.tfrecord{end}") for name in names if name != "_SUCCESS")
    assert rows(out, schema=cst.infer_schema(data(out))) == [
        {name: value(i) for name, value in EXAMPLES.items()} for i in range(5)
    ]


def test_nested_types_of_json_arrow_and_parquet(spark: Any, tmp_path: pathlib.Path) -> None:
    frame = spark.range(3).selectExpr(
        "id",
        "map('k', id) m",
        "struct(id x, array(struct('v' y)) z) s",
        "timestamp '2024-02-29 01:02:03' t",
        "date '2024-02-29' d",
        "cast(id + 0.5 as decimal(10, 2)) p",
        "array(array(id), null) n",
    )
    at = datetime.datetime(2024, 2, 29, 1, 2, 3, tzinfo=datetime.UTC)
    expected = [
        {
            "id": i,
            "m": [("k", i)],
            "s": {"x": i, "z": [{"y": "v"}]},
            "t": at,
            "d": at.date(),
            "p": decimal.Decimal(f"{i}.50"),
            "n": [[i], None],
        }
        for i in range(3)
    ]
    for format in ("arrow", "parquet"):
        save(frame, tmp_path / format, format=format)
        assert rows(tmp_path / format, f".{format}") == expected
    assert spark.read.parquet(str(tmp_path / "parquet")).orderBy("id").collect() == (
        frame.orderBy("id").collect()
    )
    save(frame.drop("p"), tmp_path / "json", format="json", compression="gzip")
    assert rows(tmp_path / "json", ".jsonl.gz")[1] == {
        "id": 1,
        "m": [{"key": "k", "value": 1}],
        "s": {"x": 1, "z": [{"y": "v"}]},
        "t": "2024-02-29T01:02:03.000000Z",
        "d": "2024-02-29",
        "n": [[1], None],
    }


def test_csv_raw_sequences_and_messages(spark: Any, tmp_path: pathlib.Path) -> None:
    frame = spark.range(4)
    save(
        frame.selectExpr("id", "concat('a;', id) t"),
        tmp_path / "c",
        format="csv",
        delimiter=";",
    )
    assert pathlib.Path(data(tmp_path / "c")[0]).read_text() == 'id;t\n0;"a;0"\n1;"a;1"\n'

    save(frame.selectExpr("cast(concat('r', id) as binary) r"), tmp_path / "r", payload="raw")
    assert [row["record"] for row in rows(tmp_path / "r", format="raw")] == [
        b"r0",
        b"r1",
        b"r2",
        b"r3",
    ]

    sequence = frame.selectExpr("id", "struct(array(array(id), array()) steps) `##SEQUENCE##`")
    save(sequence, tmp_path / "s", payload="sequence_example")
    assert rows(tmp_path / "s", format="sequence_example")[2] == {
        "id": [2],
        "##SEQUENCE##": {"steps": [[2], []]},
    }

    set_of_one = descriptor_pb2.FileDescriptorSet()
    text_format.Parse(VISIT, set_of_one.file.add())
    (tmp_path / "visit.desc").write_bytes(set_of_one.SerializeToString())
    about = {"message": "Visit", "descriptors": str(tmp_path / "visit.desc")}
    visits = frame.selectExpr(
        "id",
        "case when id > 1 then 'ann' end user",
        "array(struct('tea' query, array(4.5D, id) price)) event",
    )
    for container in ("tfrecord", "delimited"):
        out = tmp_path / container
        save(visits, out, container=container, **about)
        assert rows(out, container=container, **about)[:3:2] == [
            {"id": 0, "user": "", "event": [{"query": "tea", "price": [4.5, 0.0]}]},
            {"id": 2, "user": "ann", "event": [{"query": "tea", "price": [4.5, 2.0]}]},
        ]


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ("timestamp '2024-02-29 01:02:03' t", "feature 't'.*not timestamp"),
        ("map('k', id) t", "feature 't'.*not map"),
        ("struct(id) t", "feature 't'.*not struct"),
        ("cast(id as decimal(10, 2)) t", "feature 't'.*not decimal"),
        ("array(array(id)) t", r"feature 't'.*not list<list"),
        ("array(id, null) t", "record [01], feature 't': value 1 of the list is null"),
        (
            "case when id = 3 then 0.1D else 1D end t",
            "record 1, feature 't': float32 cannot represent",
        ),
    ],
)
def test_what_an_example_cannot_hold(
    spark: Any, tmp_path: pathlib.Path, column: str, said: str
) -> None:
    with pytest.raises(Exception, match=said) as told:
        save(spark.range(4).selectExpr("id", column), tmp_path / "out")
    assert f"{tmp_path / 'out'}" in str(told.value)  # the output, or a file in it
    assert "BytesIO" not in str(told.value)
    assert not (tmp_path / "out").exists()


def test_lossy_rounds(spark: Any, tmp_path: pathlib.Path) -> None:
    save(spark.range(1).selectExpr("0.1D x"), tmp_path / "out", lossy="true")
    assert rows(tmp_path / "out") == [{"x": [pytest.approx(0.1)]}]


def test_options_are_read_strictly(spark: Any, tmp_path: pathlib.Path) -> None:
    frame = spark.range(1)
    for options, said in (
        ({"compresion": "gzip"}, r"writing has no option 'compresion' \(did you mean compression"),
        ({"payload": "csv"}, "payload must be one of example"),
        ({"payload": "raw", "format": "csv"}, "format is 'csv', but payload is raw"),
        ({"payload": "message"}, "the type of the messages is missing"),
        ({"format": "nope"}, "nope"),
        ({"partitionBy": "x"}, "no column 'x' to partition by"),
        ({"partitionBy": "id"}, "partition_by names all columns"),
        ({"maxOpenFiles": "0"}, "max_open_files is 0"),
        ({"schema": "missing.pbtxt"}, "missing.pbtxt"),
    ):
        with pytest.raises(Exception, match=said):
            save(frame, tmp_path / "out", **options)
    with pytest.raises(Exception, match="writing takes one folder"):
        frame.write.format("columnstone").mode("append").save()
    assert not (tmp_path / "out").exists()


def test_append_and_overwrite(spark: Any, tmp_path: pathlib.Path) -> None:
    out = tmp_path / "out"
    save(spark.range(3), out)
    save(spark.range(3, 5), out)
    assert sorted(row["id"][0] for row in rows(out)) == [0, 1, 2, 3, 4]
    (out / "day=1").mkdir()
    (out / "day=1" / "part-of-old").write_bytes(b"")
    save(spark.range(7, 9), out, "overwrite")
    assert sorted(row["id"][0] for row in rows(out)) == [7, 8]
    assert len(files(out)) == 3
    assert not (out / "day=1").exists()


def test_a_folder_is_overwritten_by_what_is_made_of_it(spark: Any, tmp_path: pathlib.Path) -> None:
    out = tmp_path / "out"
    save(spark.range(4), out, format="parquet")
    save(spark.read.parquet(str(out)).selectExpr("id + 10 id"), out, "overwrite", format="parquet")
    assert sorted(row["id"] for row in rows(out)) == [10, 11, 12, 13]


def test_overwrite_keeps_the_old_data_if_the_job_fails(spark: Any, tmp_path: pathlib.Path) -> None:
    out = tmp_path / "out"
    save(spark.range(3), out)
    before = files(out)
    with pytest.raises(Exception, match="float32 cannot represent a float64 value exactly"):
        save(
            spark.range(100).selectExpr("case when id = 99 then 0.1D else 1D end x"),
            out,
            "overwrite",
        )
    assert files(out) == before


def test_if_exists(spark: Any, tmp_path: pathlib.Path) -> None:
    out = tmp_path / "out"
    save(spark.range(1), out, if_exists="error")
    before = files(out)
    with pytest.raises(Exception, match="the output exists"):
        save(spark.range(1), out, ifExists="error")
    save(spark.range(1), out, ifExists="ignore")
    assert files(out) == before
    save(spark.range(2), out, "overwrite", ifExists="error")
    assert len(rows(out)) == 2


def test_spark_refuses_its_other_modes(spark: Any, tmp_path: pathlib.Path) -> None:
    for mode in ("errorifexists", "ignore"):
        with pytest.raises(Exception, match="UNSUPPORTED_DATA_SOURCE_SAVE_MODE"):
            save(spark.range(1), tmp_path / "out", mode)
    with pytest.raises(Exception, match="partitioning or clustering columns do not match"):
        spark.range(1).write.format("columnstone").partitionBy("id").mode("append").save("out")


@pytest.mark.parametrize("format", ["example", "parquet", "csv"])
def test_no_rows(spark: Any, tmp_path: pathlib.Path, format: str) -> None:
    save(spark.range(5).where("id > 9"), tmp_path / "out", format=format)
    assert len(data(tmp_path / "out")) == 1
    if format == "parquet":
        assert spark.read.parquet(str(tmp_path / "out")).dtypes == [("id", "bigint")]
    assert rows(tmp_path / "out") == []


def test_shards_of_a_size(spark: Any, tmp_path: pathlib.Path) -> None:
    frame = spark.range(0, 20_000, 1, 1)
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "1000")
    try:
        save(frame, tmp_path / "out", shardBytes=100_000)
    finally:
        spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")
    found = data(tmp_path / "out")
    assert [name[-13:] for name in found] == [f"c{i:03d}.tfrecord" for i in range(len(found))]
    assert len(found) > 3
    assert [row["id"][0] for row in rows(tmp_path / "out")] == list(range(20_000))


def test_partitions(spark: Any, tmp_path: pathlib.Path) -> None:
    out = tmp_path / "out"
    frame = spark.range(12).selectExpr(
        "id",
        "case when id % 3 = 0 then null else concat('a/b=%', id % 3) end `k.ey`",
        "date '2024-02-29' day",
        "id % 2 = 0 even",
    )
    save(frame, out, format="parquet", partitionBy='["k.ey", "day", "even"]')
    folders = {os.path.dirname(name) for name in files(out)} - {""}
    assert folders == {
        f"k.ey={key}/day=2024-02-29/even={even}"
        for key in ("__HIVE_DEFAULT_PARTITION__", "a%2Fb%3D%251", "a%2Fb%3D%252")
        for even in ("true", "false")
    }
    back = spark.read.parquet(str(out))
    assert dict(back.dtypes)["day"] == "date"
    columns = ["id", "`k.ey`", "day", "cast(even as boolean) even"]
    assert back.selectExpr(*columns).orderBy("id").collect() == frame.orderBy("id").collect()
    # pyarrow's own discovery takes the null from the folder, too.
    table = pq.read_table(out, partitioning="hive")
    found = {row["id"]: row["k.ey"] for row in table.to_pylist()}
    assert [found[i] for i in range(3)] == [None, "a/b=%1", "a/b=%2"]
    save(frame.withColumnRenamed("k.ey", "key"), out, "overwrite", partitionBy="key,day,even")
    mine = spark.read.format("columnstone").option("flat", True).load(str(out))
    assert dict(mine.dtypes)["day"] == "date"
    assert mine.selectExpr("id", "key", "day", "cast(even as boolean) even").orderBy(
        "id"
    ).collect() == (frame.orderBy("id").collect())


def test_few_files_are_open_for_many_partitions(spark: Any, tmp_path: pathlib.Path) -> None:
    out = tmp_path / "out"
    frame = spark.range(0, 40, 1, 1).selectExpr("id", "id % 10 k")
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "20")
    try:
        save(frame, out, partitionBy="k", maxOpenFiles=3)
    finally:
        spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")
    for k in range(10):
        assert len(data(out / f"k={k}")) == 2
        assert [row["id"][0] for row in rows(out / f"k={k}")] == [k, k + 10, k + 20, k + 30]


def test_values_that_name_no_folder(spark: Any, tmp_path: pathlib.Path) -> None:
    with pytest.raises(Exception, match="an empty string cannot be a partition"):
        save(spark.range(2).selectExpr("id", "'' k"), tmp_path / "out", partitionBy="k")
    with pytest.raises(Exception, match=r"'k' is of type double.*cast it to a string"):
        save(spark.range(2).selectExpr("id", "0.5D k"), tmp_path / "out", partitionBy="k")
    assert not (tmp_path / "out").exists()


def test_urls(spark: Any, tmp_path: pathlib.Path) -> None:
    """Of a file system of fsspec: the same steps as for stores of objects."""
    url = f"local://{tmp_path}/out"
    frame = spark.range(4).selectExpr("id", "id % 2 k")
    for mode, count in (("append", 4), ("append", 8), ("overwrite", 4)):
        frame.write.format("columnstone").mode(mode).option("partitionBy", "k").save(url)
        assert len(rows(tmp_path / "out")) == count
    assert len(files(tmp_path / "out")) == 5
    with pytest.raises(Exception, match="float32 cannot represent a float64 value exactly"):
        frame.selectExpr("id + 0.1D x").write.format("columnstone").mode("append").save(url)
    assert len(files(tmp_path / "out")) == 5
    frame.write.format("columnstone").mode("append").save(f"file://{tmp_path}/file")
    assert len(rows(tmp_path / "file")) == 4
