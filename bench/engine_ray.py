"""Ray Data: ours and its own read_tfrecords; see engine_data.py."""

from __future__ import annotations

import logging
import os
import pathlib
from typing import Any

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
os.environ["RAY_ENABLE_UV_RUN_RUNTIME_ENV"] = "0"

import columnstone as cst
import engine_data
import pyarrow as pa
import ray
from engine_data import Found

STORE = 300 << 20


def values(table: pa.Table) -> pa.Table:
    """The rows of a block, and the values in all of its columns, which are lists."""
    total = 0
    for column in table.columns:
        if not pa.types.is_null(column.type):
            total += sum(len(chunk.flatten()) for chunk in column.chunks)
    return pa.table({"rows": [table.num_rows], "values": [total]})


def source(work: engine_data.Work) -> Any:
    text = work.schema.read_text()
    if work.side == "ours":
        size = sum(pathlib.Path(file).stat().st_size for file in work.files)
        return cst.ray.read_tfrecords(work.files, schema=text, target_bytes=size // 8)
    from google.protobuf import text_format
    from tensorflow_metadata.proto.v0 import schema_pb2

    schema = text_format.Parse(text, schema_pb2.Schema())
    packed = {"compression": "gzip"} if work.files[0].endswith(".gz") else None
    return ray.data.read_tfrecords(work.files, tf_schema=schema, arrow_open_stream_args=packed)


def run(work: engine_data.Work) -> Found:
    counts = source(work).map_batches(values, batch_format="pyarrow", batch_size=None)
    found = counts.to_pandas()
    return Found(int(found["rows"].sum()), int(found["values"].sum()))


if __name__ == "__main__":
    given = engine_data.work()
    ray.init(
        num_cpus=given.workers,
        object_store_memory=STORE,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="ERROR",
    )
    ray.data.DataContext.get_current().enable_progress_bars = False
    logging.getLogger("ray").setLevel("ERROR")
    try:
        engine_data.measure(lambda: run(given), given.rounds)
    finally:
        ray.shutdown()
