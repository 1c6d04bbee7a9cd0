"""The row on converting messages: gzip TFRecord shards to one Parquet file, with two threads.

Each contender runs in a process of its own and tells the seconds of the conversion alone, without
imports, and the peak of its memory. The peer is the script that one writes with ptars and pyarrow.
"""

from __future__ import annotations

import concurrent.futures
import gzip
import importlib.util
import pathlib
import struct
import sys
import time
from collections.abc import Iterator
from typing import Any

import convert_rows
import data
import message_data
from decode_rows import Settings
from report import Figure

THREADS, SHARDS, BATCH = 2, 4, 4096


def ours(paths: list[str], output: str) -> None:
    import columnstone as cst

    of_type = message_data.message_class("DeepProto")
    cst.convert(paths, output, message=of_type, threads=THREADS, overwrite=True)


def read_gzip(path: str) -> Iterator[bytes]:
    with gzip.open(path) as file:
        while header := file.read(12):
            (length,) = struct.unpack("<Q", header[:8])
            yield file.read(length)
            file.read(4)


def ptars_and_pyarrow(paths: list[str], output: str) -> None:
    import ptars
    import pyarrow.parquet as pq

    descriptor = message_data.message_class("DeepProto").DESCRIPTOR
    pool = ptars.HandlerPool([descriptor.file])
    schema = ptars.get_schema(descriptor)

    def batches(path: str) -> list[Any]:
        handler, made = pool.get_for_message(descriptor), []
        records = list(read_gzip(path))
        for i in range(0, len(records), BATCH):
            made.append(handler.list_to_record_batch(records[i : i + BATCH]))
        return made

    with (
        concurrent.futures.ThreadPoolExecutor(THREADS) as threads,
        pq.ParquetWriter(output, schema, compression="zstd") as writer,
    ):
        for made in threads.map(batches, paths):
            for batch in made:
                writer.write_batch(batch)


def shards(settings: Settings) -> list[str]:
    count = 5_000 if settings.quick else 50_000
    paths = []
    for i in range(SHARDS):
        path = settings.folder / f"messages-{count}-{i}.tfrecord.gz"
        if not path.exists():
            settings.folder.mkdir(parents=True, exist_ok=True)
            records = message_data.make_records("DeepProto", count, 1, seed=i)
            data.write_framed(path, records, "GZIP")
        paths.append(str(path))
    return paths


def compare(own: pathlib.Path, other: pathlib.Path) -> None:
    """The number of rows, and the first of each group of rows: all of it would take minutes."""
    import pyarrow.parquet as pq

    first, second = pq.read_table(own), pq.read_table(other)
    for start in range(0, first.num_rows, 10_000):
        rows = [table.slice(start, 100).to_pylist() for table in (first, second)]
        if rows[0] != rows[1] or first.num_rows != second.num_rows:
            raise AssertionError("messages to Parquet: ours and ptars give different rows")


def to_parquet(settings: Settings) -> list[Figure]:
    label = "messages in gzip TFRecord shards to Parquet, end to end, 2 threads (wall time)"
    if importlib.util.find_spec("ptars") is None:
        return [Figure(label, "not measured: ptars is not installed")]
    paths = shards(settings)
    own, other = (settings.folder / f"messages-{name}.parquet" for name in ("ours", "ptars"))
    mine, theirs = [], []
    for _ in range(settings.rounds):
        mine.append(convert_rows.run_apart(__file__, "ours", paths, own))
        theirs.append(convert_rows.run_apart(__file__, "ptars_and_pyarrow", paths, other))
    compare(own, other)
    own.unlink()
    other.unlink()
    size = sum(pathlib.Path(path).stat().st_size for path in paths) / 1e6
    return [convert_rows.figure(label, "ptars and pyarrow", mine, theirs, size, 4)]


def main() -> None:
    import pyarrow.parquet

    del pyarrow
    name, output, *paths = sys.argv[1:]
    run = {"ours": ours, "ptars_and_pyarrow": ptars_and_pyarrow}[name]
    importlib.import_module("columnstone" if name == "ours" else "ptars")
    start = time.perf_counter()
    run(paths, output)
    convert_rows.tell(start)


if __name__ == "__main__":
    main()
