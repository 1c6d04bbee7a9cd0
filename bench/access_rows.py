"""The rows on random access (10,000 rows of a file of a million, with an index), and on opening a
small file in a process that has opened one before."""

from __future__ import annotations

import pathlib
import pickle
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import columnstone as cst
import data
import numpy as np
from decode_rows import Settings
from report import Figure, Results, faster

FIELDS: list[data.Field] = [("id", "INT"), ("name", "BYTES"), ("x", "FLOAT")]
READS = 10_000
PACKAGE = "tfrecord"

# The peers run in processes of their own: the package tfrecord cannot live in one with TensorFlow.
# Each loads its index before the clock starts, and prints the seconds of every round.

TFRECORD = """
import pickle, struct, sys, time
import numpy as np
from tfrecord import example_pb2, reader
from tfrecord.tools.tfrecord2idx import create_index
path, rows, rounds = pickle.load(sys.stdin.buffer)
create_index(path, path + ".tfindex")
offsets = np.loadtxt(path + ".tfindex", dtype=np.int64)[:, 0].tolist()
kinds = {"byte": "bytes_list", "float": "float_list", "int": "int64_list"}
file = open(path, "rb")

def read(row):  # as the package's iterator and loader do
    file.seek(offsets[row])
    (length,) = struct.unpack("<Q", file.read(8))
    file.read(4)
    example = example_pb2.Example.FromString(file.read(length))
    return reader.extract_feature_dict(example.features, None, kinds)

for _ in range(rounds):
    start = time.process_time()
    found = [read(row) for row in rows]
    print(time.process_time() - start)
assert [int(record["id"][0]) for record in found] == rows
"""

ARRAY_RECORD = """
import os, pickle, sys, time
from array_record.python.array_record_data_source import ArrayRecordDataSource
from array_record.python.array_record_module import ArrayRecordWriter
path, rows, rounds = pickle.load(sys.stdin.buffer)
target = path + ".array_record"
if not os.path.exists(target):
    sys.path.insert(0, sys.argv[1])
    import data, pathlib
    writer = ArrayRecordWriter(target + ".part", "group_size:1")  # what Grain asks for
    for record in data.read_framed(pathlib.Path(path)):
        writer.write(record)
    writer.close()
    os.rename(target + ".part", target)
source = ArrayRecordDataSource(target)
for _ in range(rounds):
    start = time.process_time()
    found = source.__getitems__(rows)
    print(time.process_time() - start)
assert len(found) == len(rows)
"""


def records(count: int) -> Iterator[bytes]:
    """About 180 bytes each."""
    rng = np.random.default_rng(data.SEED)
    for i in range(count):
        values = rng.random(32, dtype=np.float32)
        features: list[Any] = [[i], [b"row %d" % i], values]
        yield data.example([data.entry(*FIELDS[f], features[f]) for f in range(3)])


def make_file(settings: Settings) -> tuple[pathlib.Path, list[int]]:
    count = 100_000 if settings.quick else 1_000_000
    path = settings.folder / f"access-{count}.tfrecord"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        data.write_framed(path, records(count))
        cst.source.Index.build(path)
    return path, np.random.default_rng(data.SEED).choice(count, READS, replace=False).tolist()


def peer(script: str, path: pathlib.Path, rows: list[int], rounds: int) -> float:
    done = subprocess.run(
        [sys.executable, "-c", script, str(pathlib.Path(__file__).parent)],
        input=pickle.dumps((str(path), rows, rounds)),
        capture_output=True,
        check=True,
    )
    return statistics.median(float(line) for line in done.stdout.split())


def ours(run: Callable[[], object], rounds: int) -> float:
    """The peer takes 20 times as long: as many calls of ours are timed as it has time for, so that
    neither is judged by the few milliseconds in which a processor warms up."""
    run()
    seconds = []
    for _ in range(20 * rounds):
        start = time.process_time()
        run()
        seconds.append(time.process_time() - start)
    return statistics.median(seconds)


def against(label: str, peer: str, mine: float, theirs: float, goal: float | None) -> Figure:
    details = f"{mine * 1000:.1f} ms, {theirs * 1000:.0f} ms"
    return faster(label, peer, theirs / mine, details, goal)


def access(settings: Settings) -> list[Figure]:
    """CPU time of the whole process; the file lies in the page cache."""
    import pyarrow as pa

    path, rows = make_file(settings)
    schema = data.schema_text(FIELDS)
    source = cst.open(path, schema=schema)
    mapped = cst.open(path, schema=schema, memory_map=True)
    raw = cst.open(path, format="raw")

    def take_bytes() -> list[bytes]:
        found: list[bytes] = pa.record_batch(raw.take(rows)).column(0).to_pylist()
        return found

    def take_singly() -> None:
        for row in rows:
            source[row]

    label = f"{READS:,} random reads of {len(source):,} records with an index"
    together = ours(lambda: source.take(rows), settings.rounds)
    by_map = ours(lambda: mapped.take(rows), settings.rounds)
    singly = ours(take_singly, settings.rounds)
    as_bytes = ours(take_bytes, settings.rounds)
    tfrecord = peer(TFRECORD, path, rows, settings.rounds)
    array_record = peer(ARRAY_RECORD, path, rows, settings.rounds)
    return [
        against(f"{label}, decoded", PACKAGE, together, tfrecord, 20),
        against(f"{label}, with memory_map", PACKAGE, by_map, tfrecord, 20),
        against(f"{label}, one call for each row", PACKAGE, singly, tfrecord, None),
        against(f"{label}, as bytes", "ArrayRecord", as_bytes, array_record, 0.5),
    ]


def best_micros(run: Callable[[], object], rounds: int) -> tuple[float, float]:
    """CPU and wall microseconds of the shortest of many calls, each for itself: what the call costs
    where nothing else is in its way."""
    cpu, wall = [], []
    for _ in range(1000 * rounds):
        start, began = time.process_time_ns(), time.perf_counter_ns()
        run()
        wall.append(time.perf_counter_ns() - began)
        cpu.append(time.process_time_ns() - start)
    return min(cpu) / 1000, min(wall) / 1000


def opening(settings: Settings) -> list[Figure]:
    """From `open` to the first tensors."""
    path = settings.folder / "opening-100.tfrecord"
    path.parent.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(data.SEED)
    found = [
        {"id": i, "name": b"row %d" % i, "x": rng.random(32, dtype=np.float32)} for i in range(100)
    ]
    cst.write(found, path, overwrite=True)
    schema = path.with_suffix(".pbtxt")
    schema.write_text(data.schema_text(FIELDS))
    figures = []
    for how, given in (("schema inferred", None), ("schema of a file", schema)):

        def first(given: pathlib.Path | None = given) -> object:
            return next(cst.open(path, schema=given).tensors())

        cpu, wall = best_micros(first, settings.rounds)
        figures.append(
            Figure(
                f"opening a file of 100 records, to the first tensors, {how}",
                f"{cpu:.0f} µs CPU, {wall:.0f} µs",
                "< 300 µs",
                cpu < 300 and wall < 300,
            )
        )
    return figures


def rows(settings: Settings, results: Results) -> dict[str, Callable[[], None]]:
    return {
        "random_access": lambda: results.figures.extend(access(settings)),
        "opening": lambda: results.figures.extend(opening(settings)),
    }
