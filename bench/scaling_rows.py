"""The rows on many cores: each kind of work with 1, 2, 4, 8 and 16 threads, as far as there are
cores, by wall time; and what 16 threads cost, whatever the machine has, by CPU time.

The files lie in the page cache. CPU time that grows with the threads is spent on locks, on cache
lines that cores take from each other, and on work that is done twice.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import columnstone as cst
import contenders as c
import csv_rows
import data
import file_rows
import json_rows
import message_convert
import message_data
import query_data
import timing
from decode_rows import Settings
from report import Figure, Results

THREADS = (1, 2, 4, 8, 16)
MOST = THREADS[-1]
LEAST = {2: 0.85, 4: 0.85, 8: 0.8, 16: 0.65}  # of what so many cores could do
MOST_CPU = 1.25  # of one thread's, for 16 threads

Run = Callable[[int], None]


def read(paths: list[str], **options: object) -> Run:
    def run(threads: int) -> None:
        for batch in cst.open(paths, threads=threads, **options):
            del batch

    return run


def clicks(paths: list[str], settings: Settings) -> Run:
    schema = cst.Schema.from_text(data.make("click", settings.folder).schema_text())
    return read(paths, schema=schema, batch_size=1000)


def plain(settings: Settings) -> Run:
    return clicks(file_rows.big_file(settings), settings)


def gzip(settings: Settings) -> Run:
    return clicks(file_rows.four_gzip_files(settings) * 4, settings)


def csv(settings: Settings) -> Run:
    path = csv_rows.made(settings, csv_rows.ROWS)
    types = cst.open(path).arrow_schema
    return read([str(path)] * 4, types=types, batch_size=65536)


def json(settings: Settings) -> Run:
    path = json_rows.made(settings, "nested")
    types = cst.open(path).arrow_schema
    return read([str(path)], types=types, batch_size=65536)


def json_found(settings: Settings) -> Run:
    return read([str(json_rows.made(settings, "nested"))], batch_size=65536)


def messages(settings: Settings) -> Run:
    paths = message_convert.shards(settings) * 4
    return read(paths, message=message_data.message_class("DeepProto"), batch_size=4096)


def query(settings: Settings) -> Run:
    path = query_data.records_path(settings.folder)
    view = (
        cst.Query(query_data.message_of("sessions"))
        .add("let clicks = event where clicked\noutput asked = clicks.query")
        .view()
    )
    return read([str(path)] * 200, view=view, batch_size=1024)


def dataset(settings: Settings) -> Run:
    paths = file_rows.big_file(settings)
    schema = cst.Schema.from_text(data.make("click", settings.folder).schema_text())
    source = cst.open(paths, schema=schema, batch_size=1024)

    def run(threads: int) -> None:
        for batch in source.dataset(shuffle=True, seed=1, threads=threads, prefetch=2 * threads):
            del batch

    return run


def parquet(settings: Settings) -> Run:
    paths = file_rows.four_gzip_files(settings) * 2
    schema = cst.Schema.from_text(data.make("click", settings.folder).schema_text())
    output = settings.folder / "scaling.parquet"

    def run(threads: int) -> None:
        cst.convert(paths, output, schema=schema, threads=threads, overwrite=True)

    return run


WORKS: dict[str, Callable[[Settings], Run]] = {
    "a plain TFRecord file": plain,
    "16 gzip TFRecord files": gzip,
    "CSV, types given": csv,
    "JSON lines, types given": json,
    "JSON lines, types found": json_found,
    "messages in 16 gzip files": messages,
    "a query over messages": query,
    "a shuffled dataset": dataset,
    "gzip TFRecords to Parquet": parquet,
}


def by_wall_time(name: str, run: Run, settings: Settings) -> Figure:
    counts = [n for n in THREADS if n <= (os.cpu_count() or 1)]
    tasks = [c.Contender(f"{n} threads", lambda n: n, run) for n in counts]
    seconds = timing.alternating(tasks, counts, settings.rounds, time.perf_counter)
    shares = {n: seconds[0] / (n * s) for n, s in zip(counts, seconds, strict=True) if n > 1}
    text = ", ".join(f"{share:.2f} of {n}" for n, share in shares.items()) or "one core"
    return Figure(
        f"{name}: what threads bring, of so many cores (wall time)",
        f"{text} ({seconds[0]:.2f} s with one)",
        ", ".join(f"≥ {LEAST[n]} of {n}" for n in shares),
        all(share >= LEAST[n] for n, share in shares.items()),
    )


def by_cpu_time(name: str, run: Run, settings: Settings) -> Figure:
    tasks = [c.Contender(f"{n} threads", lambda n: n, run) for n in (1, MOST)]
    one, many = timing.alternating(tasks, [1, MOST], settings.rounds, time.process_time)
    return Figure(
        f"{name}: CPU time of {MOST} threads, against one",
        f"{many / one:.2f}x ({many:.2f} s, {one:.2f} s)",
        f"≤ {MOST_CPU}x",
        many <= MOST_CPU * one,
    )


def rows(settings: Settings, results: Results) -> dict[str, Callable[[], None]]:
    def one_row(name: str, make: Callable[[Settings], Run]) -> Callable[[], None]:
        def run_row() -> None:
            run = make(settings)
            results.figures.append(by_wall_time(name, run, settings))
            results.figures.append(by_cpu_time(name, run, settings))

        return run_row

    return {f"scaling_{make.__name__}": one_row(name, make) for name, make in WORKS.items()}
