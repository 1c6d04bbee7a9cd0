"""Columns of serialized records, decoded and encoded by cst.spark."""

from __future__ import annotations

from typing import Any

import columnstone as cst
import pyarrow as pa
import pytest
from columnstone._spark.records import Decoding, Encoding

pytestmark = pytest.mark.filterwarnings(
    "ignore:PySpark does not yet fully support pandas:FutureWarning"
)
SCHEMA = 'feature { name: "id" type: INT } feature { name: "company" type: BYTES }'
ROWS = [{"id": [i], "company": [b"Blue"] * (i % 2)} for i in range(6)]
GOOD = pa.array(cst.encoder("example").encode(ROWS)).cast(pa.binary()).to_pylist()


def decoding(on_error: str = "raise") -> Decoding:
    return Decoding(cst.decoder("example", SCHEMA), "value", on_error)


def structs(values: list[bytes | None], on_error: str = "raise") -> list[Any]:
    made = decoding(on_error).structs(pa.array(values, pa.binary()))
    made.validate(full=True)
    return made.to_pylist()


def test_every_record_and_every_null_is_a_row() -> None:
    assert structs(GOOD) == ROWS
    assert structs([]) == []
    assert structs([None, None]) == [None, None]
    assert structs([None, GOOD[1], None, GOOD[2]]) == [None, ROWS[1], None, ROWS[2]]
    assert structs([b""]) == [{"id": None, "company": None}]


@pytest.mark.parametrize("bad", [(0,), (5,), (2, 3), (0, 1, 2, 3, 4, 5), (1, 4)])
def test_bad_records(bad: tuple[int, ...]) -> None:
    values: list[bytes | None] = [b"\xff" if i in bad else GOOD[i] for i in range(6)]
    values.insert(3, None)
    expected: list[Any] = [None if i in bad else ROWS[i] for i in range(6)]
    expected.insert(3, None)
    assert structs(values, "null") == expected
    batch, rows = decoding("skip").sound(pa.array(values, pa.binary()))
    assert batch.to_pylist() == [row for row in expected if row is not None]
    assert list(rows) == [i for i, row in enumerate(expected) if row is not None]
    with pytest.raises(cst.errors.CorruptError) as caught:
        structs(values)
    assert caught.value.__notes__[0].startswith("in column value, row ")


def test_a_record_of_another_type_is_bad() -> None:
    [other] = pa.array(cst.encoder("example").encode([{"id": [1.5]}])).to_pylist()
    assert structs([GOOD[0], other], "null") == [ROWS[0], None]


def test_structs_become_records() -> None:
    made = pa.array([ROWS[0], None, ROWS[1]])
    records = Encoding(cst.encoder("example")).records(made)
    assert records.type == pa.binary()
    assert structs(records.to_pylist()) == [ROWS[0], None, ROWS[1]]
    assert Encoding(cst.encoder("example")).records(made.slice(0, 0)).to_pylist() == []


def test_arguments() -> None:
    with pytest.raises(
        cst.errors.ArgumentError, match="on_error must be one of raise, null, not 'skip'"
    ):
        cst.spark.decode_examples("value", SCHEMA, on_error="skip")  # type: ignore[arg-type]
    with pytest.raises(cst.errors.ArgumentError, match="needs a schema"):
        cst.spark.decode_examples("value", None)  # type: ignore[arg-type]
    with pytest.raises(cst.errors.ArgumentError, match="encode_examples needs at least one column"):
        cst.spark.encode_examples()
    with pytest.raises(cst.errors.NotFoundError, match="fare"):
        cst.spark.decode_examples("value", SCHEMA, ["fare"])


@pytest.mark.parametrize("name", ["lengths", "counts", "inference", "statistics"])
def test_accumulators_find_what_they_find_in_one_process(spark: Any, name: str) -> None:
    rows = [(i, list(range(i % 4)) if i % 5 else None) for i in range(100)]
    frame = spark.createDataFrame(rows, "id bigint, more array<bigint>").repartition(3)
    whole = cst.accumulate.Accumulator(name)
    whole.add(pa.table({"id": [r[0] for r in rows], "more": [r[1] for r in rows]}))
    assert cst.spark.accumulate(frame, name).to_pydict() == whole.finish().to_pydict()
    assert cst.spark.accumulate(frame, cst.accumulate.Counts()).num_rows == 100
    few = cst.spark.accumulate(frame, "lengths", columns=["id"])
    assert len(few) == 0


def test_columns_of_a_frame(spark: Any) -> None:
    values = [(i, GOOD[i] if i != 3 else None) for i in range(6)]
    frame = spark.createDataFrame(values, "n int, value binary").repartition(2)
    trip = cst.spark.decode_examples("value", schema=SCHEMA).alias("trip")
    got = {row["n"]: row["trip"] for row in frame.select("n", trip).toArrow().to_pylist()}
    assert got == {i: ROWS[i] if i != 3 else None for i in range(6)}
    ids = frame.select(cst.spark.decode_examples(frame.value, SCHEMA, ["id"]).alias("t"))
    assert sorted(r[0] for r in ids.select("t.id").collect() if r[0]) == [[0], [1], [2], [4], [5]]
    encoded = (
        frame.select(trip)
        .where("trip is not null")
        .select(cst.spark.encode_examples("trip.*").alias("value"))
    )
    assert sorted(row[0] for row in encoded.collect()) == sorted(GOOD[:3] + GOOD[4:])


def test_frames_of_records(spark: Any) -> None:
    values = [(i, GOOD[i] if i != 3 else b"\xff") for i in range(6)]
    frame = spark.createDataFrame([*values, (6, None)], "n int, value binary").coalesce(1)

    def mapped(on_error: Any) -> list[Any]:
        made = cst.spark.map_examples(frame, "value", SCHEMA, ["id"], keep=["n"], on_error=on_error)
        assert made.columns == ["n", "id"]
        return [tuple(row) for row in made.collect()]

    assert mapped("skip") == [(i, [i]) for i in range(6) if i != 3]
    assert mapped("null") == [(i, [i] if i not in (3, 6) else None) for i in range(7)]
    with pytest.raises(Exception, match="in column value, row 3 of a batch"):
        mapped("raise")
    with pytest.raises(cst.errors.ArgumentError, match="column id is both decoded and kept"):
        cst.spark.map_examples(frame.withColumnRenamed("n", "id"), "value", SCHEMA, keep=["id"])


def test_messages(spark: Any) -> None:
    from google.protobuf import timestamp_pb2

    now = timestamp_pb2.Timestamp(seconds=7, nanos=5)
    frame = spark.createDataFrame([(now.SerializeToString(),), (b"\xff",)], "value binary")
    column = cst.spark.decode_messages("value", timestamp_pb2.Timestamp, on_error="null")
    assert frame.select(column.alias("t")).collect() == [((7, 5),), (None,)]
    seconds = cst.spark.map_messages(
        frame, "value", timestamp_pb2.Timestamp, ["seconds"], on_error="skip"
    )
    assert seconds.collect() == [(7,)]
