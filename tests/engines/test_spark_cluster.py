"""Workers in processes of their own, as on a cluster: they fail, are killed, are tried again."""

from __future__ import annotations

import os
import pathlib
import signal
from typing import TYPE_CHECKING, Any

import columnstone as cst
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa


def ids(out: pathlib.Path) -> list[int]:
    files = sorted(out.glob("**/part-*"))
    return sorted(
        row[0] for file in files for batch in cst.open(file) for row in batch.to_pydict()["id"]
    )


def once(marker: str, kills: bool) -> Callable[[Any], Iterator[pa.RecordBatch]]:
    """A mapInArrow function that once, after a batch, fails or kills its process. It goes to the
    workers by value, which do not have this module."""

    def map_batches(batches: Any) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield batch
            try:
                os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                continue
            if kills:
                os.kill(os.getpid(), signal.SIGKILL)
            raise RuntimeError("once")

    return map_batches


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
def test_tasks_tried_again_write_each_row_once(spark_cluster: Any, tmp_path: pathlib.Path) -> None:
    spark_cluster.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "50")
    frame = spark_cluster.range(0, 1000, 1, 4)
    for name in ("failed", "killed"):
        out = tmp_path / name
        marker = str(tmp_path / f"{name}.marker")
        unsound = frame.mapInArrow(once(marker, name == "killed"), "id long")
        unsound.write.format("columnstone").mode("append").save(str(out))
        assert os.path.exists(marker)
        assert ids(out) == list(range(1000))
        assert len(os.listdir(out)) == 5  # a file per task, and _SUCCESS
    spark_cluster.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")


def load(spark: Any, path: object, **options: Any) -> Any:
    return spark.read.format("columnstone").options(**options).load(str(path))


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
def test_rows_of_a_thousand_files_come_once(spark_cluster: Any, tmp_path: pathlib.Path) -> None:
    """Although a worker is killed after it has given rows."""
    for i in range(1000):
        folder = tmp_path / f"part={i % 10}"
        folder.mkdir(exist_ok=True)
        cst.write([{"id": [2 * i]}, {"id": [2 * i + 1]}], folder / f"{i:04d}.tfrecord")
    frame = load(spark_cluster, tmp_path, schema='feature { name: "id" type: INT }')
    assert 4 < frame.rdd.getNumPartitions() < 100
    marker = str(tmp_path / "marker")
    got = frame.mapInArrow(once(marker, True), frame.schema).toArrow().to_pylist()
    assert os.path.exists(marker)
    assert sorted((row["id"][0], row["part"]) for row in got) == [
        (i, i // 2 % 10) for i in range(2000)
    ]


def test_the_error_of_a_worker_says_where(spark_cluster: Any, tmp_path: pathlib.Path) -> None:
    cst.write([{"id": [1]}], tmp_path / "a.tfrecord")
    data = (tmp_path / "a.tfrecord").read_bytes()
    (tmp_path / "b.tfrecord").write_bytes(data + data[:-3])
    options = {"schema": 'feature { name: "id" type: INT }'}
    with pytest.raises(
        Exception, match=rf"CorruptError: .*b\.tfrecord: record 1, byte {len(data)}"
    ):
        load(spark_cluster, tmp_path, **options).collect()
    assert load(spark_cluster, tmp_path, on_error="skip", **options).count() == 2
