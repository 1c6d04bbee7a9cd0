"""Dask: ours and the tfrecord package in a from_map, each with workers in processes; see
engine_data.py."""

from __future__ import annotations

import itertools
import pathlib
from typing import Any

import columnstone as cst
import dask
import dask.dataframe as dd
import engine_data
import pandas as pd
import pyarrow as pa
from distributed import Client, LocalCluster
from engine_data import Found

COUNTS = pd.DataFrame({"rows": [0], "values": [0]})


def load(path: str) -> pd.DataFrame:
    """A file, by the tfrecord package: an object for each value of a column."""
    from tfrecord.reader import example_loader

    packed = "gzip" if path.endswith(".gz") else None
    return pd.DataFrame(list(example_loader(path, None, None, compression_type=packed)))


def values(frame: pd.DataFrame, turn: int) -> pd.DataFrame:
    """The rows of a partition, and the values in all of its columns, which are lists.

    turn: of the passes, whose tasks have other keys: a result is not taken from the one before."""
    total = 0
    for name in frame:
        column = frame[name]
        if isinstance(column.dtype, pd.ArrowDtype):
            if not pa.types.is_null(column.dtype.pyarrow_dtype):
                total += len(pa.array(column).flatten())
        else:
            there = column[column.notna()]
            total += sum(1 if isinstance(value, bytes) else len(value) for value in there)
    return pd.DataFrame({"rows": [len(frame)], "values": [total]})


def source(work: engine_data.Work) -> Any:
    if work.side == "ours":
        size = sum(pathlib.Path(file).stat().st_size for file in work.files)
        text = work.schema.read_text()
        return cst.dask.read(work.files, schema=text, target_bytes=size // 8)
    # Or Dask makes text of all objects, arrays included.
    dask.config.set({"dataframe.convert-string": False})
    meta = load(work.files[0]).iloc[:0]
    return dd.from_map(load, work.files, meta=meta)


def run(frame: Any, turn: int) -> Found:
    counts = frame.map_partitions(values, turn, meta=COUNTS).compute()
    return Found(int(counts["rows"].sum()), int(counts["values"].sum()))


if __name__ == "__main__":
    given = engine_data.work()
    cluster = LocalCluster(
        n_workers=given.workers,
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
        memory_limit="2GB",
        silence_logs="ERROR",
    )
    with cluster, Client(cluster):
        frame, turns = source(given), itertools.count()
        engine_data.measure(lambda: run(frame, next(turns)), given.rounds)
