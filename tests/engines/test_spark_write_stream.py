"""Streams written through the data source: each row once, also when a query begins again."""

from __future__ import annotations

import os
import pathlib
from typing import Any

import columnstone as cst
import pytest


def rows(out: pathlib.Path) -> list[int]:
    files = sorted(out.glob("part-*.tfrecord.gz"))
    return sorted(
        row[0] for file in files for batch in cst.open(file) for row in batch.to_pydict()["id"]
    )


class Query:
    """A query from a growing folder of JSON lines."""

    def __init__(self, spark: Any, folder: pathlib.Path) -> None:
        self._spark = spark
        self._in = folder / "in"
        self.out = folder / "out"
        self.checkpoint = folder / "checkpoint"
        self._in.mkdir()
        self._next = 0

    def feed(self, count: int) -> None:
        text = "".join(f'{{"id": {i}}}\n' for i in range(self._next, self._next + count))
        (self._in / f"{self._next:05d}.json").write_text(text)
        self._next += count

    def run(self, change: Any = lambda frame: frame) -> None:
        """Until all that is there has been read."""
        stream = self._spark.readStream.schema("id long").option("maxFilesPerTrigger", 1)
        query = (
            change(stream.json(str(self._in)))
            .writeStream.format("columnstone")
            .option("checkpointLocation", str(self.checkpoint))
            .option("compression", "gzip")
            .trigger(availableNow=True)
            .start(str(self.out))
        )
        query.awaitTermination(120)


def test_a_stream_that_begins_again(spark: Any, tmp_path: pathlib.Path) -> None:
    query = Query(spark, tmp_path)
    query.feed(10)
    query.feed(5)
    query.run()
    assert rows(query.out) == list(range(15))
    # The driver died after our commit and before Spark's: the micro-batch is done again.
    for name in ("1", ".1.crc"):
        (query.checkpoint / "commits" / name).unlink()
    query.feed(4)
    query.run()
    assert rows(query.out) == list(range(19))
    assert [name for name in os.listdir(query.out) if name.startswith("_temporary")] == []
    assert len(list(query.out.glob("part-*-000000000[012]-c000.tfrecord.gz"))) == 3
    # A task that fails ends the query; begun again, it goes on where it was.
    query.feed(3)
    with pytest.raises(Exception, match="USER_RAISED_EXCEPTION"):
        query.run(
            lambda frame: frame.selectExpr(
                "case when id = 20 then raise_error('no') else id end id"
            )
        )
    assert rows(query.out) == list(range(19))
    query.run()
    assert rows(query.out) == list(range(22))


def test_what_a_stream_cannot_write(spark: Any, tmp_path: pathlib.Path) -> None:
    query = Query(spark, tmp_path)
    query.feed(1)
    with pytest.raises(Exception, match=r"'t': a tf\.Example holds lists"):
        query.run(lambda frame: frame.selectExpr("struct(id) t"))
    assert not query.out.exists()
