"""The rows on CSV and on writing text: reading CSV with types found and given, against pyarrow.csv,
Polars, DuckDB and tfx_bsl; writing CSV and JSON lines from Arrow, against the writers of these.

All run on one thread, as CPU time is compared. Types found: ours from all cells; pyarrow's from the
first block, Polars' and DuckDB's from a sample of rows, as they come.
"""

from __future__ import annotations

import csv
import functools
import os
import pathlib
import random
from collections.abc import Callable
from typing import Any

import contenders as c
import data
import numpy as np
import timing
from decode_rows import Settings
from report import Figure, Results, faster, rate

ROWS, PEER_ROWS = 400_000, 20_000
COLUMNS = ["id", "vendor", "pickup", "dropoff", "riders", "lon", "lat", "flag", "fare", "note"]
WORDS = ["", "", "airport", "two bags, one dog", 'said "hurry"', "no show", "café"]


def trips(rows: int) -> list[list[Any]]:
    """Integers, floats of six digits, dates, words, nulls and a few quoted cells."""
    rng = np.random.default_rng(data.SEED)
    days, minutes = rng.integers(1, 29, rows).tolist(), rng.integers(0, 60, rows).tolist()
    places = rng.uniform(-74.1, 41.0, (rows, 2)).round(6).tolist()
    return [
        [
            i,
            i % 3,
            f"2024-03-{day:02} 12:{minute:02}:00",
            f"2024-03-{day:02} 13:{minute:02}:00",
            1 + i % 6,
            *place,
            "NY"[i % 2],
            round(3 + minute * 1.35, 2),
            WORDS[(i * 7 + minute) % len(WORDS)],
        ]
        for i, (day, minute, place) in enumerate(zip(days, minutes, places, strict=True))
    ]


def flights(rows: int) -> list[list[Any]]:
    """Small integers, codes of airports, a time; as the New York flights of 2013 have them."""
    pick = random.Random(data.SEED)
    numbers = [(1, 12), (1, 28), (500, 2359), (-20, 120), (100, 2359), (-60, 150), (20, 500)]
    ports = ["EWR", "LGA", "JFK", "IAH", "MIA", "BQN", "ATL", "ORD", "LAX", "SFO"]
    return [
        [
            2013,
            *[pick.randint(*least_most) if pick.random() < 0.99 else "" for least_most in numbers],
            pick.choice(["UA", "AA", "B6", "DL", "EV", "MQ"]),
            pick.randint(1, 6000),
            f"N{pick.randint(100, 99999)}AA",
            *pick.choices(ports, k=2),
            pick.randint(80, 4983),
            f"2013-{pick.randint(1, 12):02}-{pick.randint(1, 28):02} 0{pick.randint(1, 9)}:00:00",
        ]
        for _ in range(rows)
    ]


def reviews(rows: int) -> list[list[Any]]:
    """Texts of some hundred bytes, most of them in quotes."""
    pick = random.Random(data.SEED)
    words = ["the", "of", "quick", "brown", "fox", "café", "jumps", "over", "dog,", "great", "bad"]
    ends = ["", "", ", they said", ' "five stars"', "\nBye"]
    return [
        [
            i,
            pick.randint(1, 5),
            " ".join(pick.choices(words, k=4)),
            " ".join(pick.choices(words, k=pick.randint(20, 120))) + pick.choice(ends),
        ]
        for i in range(rows // 5)
    ]


def floats(rows: int) -> list[list[Any]]:
    """Floats of 16 and 17 digits, and of six places."""
    rng = np.random.default_rng(data.SEED)
    long, short = rng.normal(size=(rows // 2, 6)), rng.uniform(-180, 180, (rows // 2, 4)).round(6)
    return [list(row) for row in np.hstack([long, short]).tolist()]


NAMED: dict[str, tuple[Callable[[int], list[list[Any]]], list[str]]] = {
    "trips": (trips, COLUMNS),
    "flights": (flights, [f"c{i}" for i in range(15)]),
    "reviews": (reviews, ["id", "stars", "title", "text"]),
    "floats": (floats, [f"f{i}" for i in range(10)]),
}


def made(settings: Settings, rows: int, name: str = "trips") -> pathlib.Path:
    path = settings.folder / f"{name}-{rows}.csv"
    if not path.exists():
        settings.folder.mkdir(parents=True, exist_ok=True)
        make, columns = NAMED[name]
        with path.open("w", newline="", encoding="utf-8") as out:
            csv.writer(out, lineterminator="\n").writerows([columns, *make(rows)])
    return path


# The contenders: the path of a file to record batches


def ours() -> c.Contender:
    import columnstone as cst

    def run(path: str) -> None:
        for batch in cst.open(path, format="csv", batch_size=65536):
            del batch

    return c.Contender("columnstone", c.as_is, run)


def pyarrow_csv() -> c.Contender:
    """Types from the first block only; one thread, as CPU time is compared."""
    import pyarrow.csv

    options = pyarrow.csv.ReadOptions(use_threads=False)
    return c.Contender(
        "pyarrow.csv", c.as_is, lambda path: pyarrow.csv.read_csv(path, read_options=options)
    )


def tfx_bsl_csv() -> c.Contender:
    """What its Beam transforms do, without Beam: parse, infer, convert 1000 rows at a time."""
    from tfx_bsl.coders import csv_decoder

    def run(path: str) -> None:
        with open(path, encoding="utf-8") as lines:
            next(lines)
            parser = csv_decoder.ParseCSVLine(",")
            parser.setup()
            rows = [row for line in lines for row in parser.process(line.rstrip("\n"))]
        inferrer = csv_decoder.ColumnTypeInferrer(COLUMNS, skip_blank_lines=True)
        seen = inferrer.create_accumulator()
        for row, _ in rows:
            seen = inferrer.add_input(seen, row)
        infos = inferrer.extract_output(seen)
        converter = csv_decoder.BatchedCSVRowsToRecordBatch(skip_blank_lines=True)
        for batch in timing.batches_of(rows):
            for made_batch in converter.process(batch, infos):
                del made_batch

    return c.Contender("tfx_bsl", c.as_is, run)


def against(settings: Settings, peer: c.Contender, rows: int, goal: float, label: str) -> Figure:
    path = made(settings, rows // 10 if settings.quick else rows)
    size = path.stat().st_size / 1e6
    mine, theirs = timing.interleaved([ours(), peer], [str(path)], False, settings.rounds)
    details = f"{rate(size / mine)}, {rate(size / theirs)}"
    name = f"CSV with inference to Arrow, against {label} (CPU time)"
    return faster(name, peer.name, theirs / mine, details, goal)


# Types found and given, four kinds of data, four readers

TYPED, WRITTEN = (False, True), ("csv", "json")


def types_of(path: pathlib.Path) -> Any:
    """The Arrow schema of a file as we find it."""
    import columnstone as cst
    import pyarrow as pa

    return pa.schema(cst.open(path, format="csv").arrow_schema)


def readers(path: pathlib.Path, typed: bool) -> dict[str, Callable[[], object]]:
    import columnstone as cst
    import duckdb
    import polars as pl
    import pyarrow as pa
    import pyarrow.csv

    schema = types_of(path) if typed else None
    one_thread = pyarrow.csv.ReadOptions(use_threads=False)
    lines = pyarrow.csv.ParseOptions(newlines_in_values=True)
    convert = pyarrow.csv.ConvertOptions(column_types=schema)
    polars_types = None if schema is None else dict(pl.DataFrame(schema.empty_table()).schema)
    sql_types = {pa.int64(): "BIGINT", pa.float64(): "DOUBLE"}
    columns = "" if schema is None else {f.name: sql_types.get(f.type, "VARCHAR") for f in schema}
    how = f", columns={columns}, header=true, delim=',', quote='\"', escape='\"'" if columns else ""
    connection = duckdb.connect(config={"threads": 1})

    def mine() -> None:
        for batch in cst.open(path, format="csv", batch_size=65536, types=schema):
            del batch

    def polars() -> object:
        return pl.read_csv(path, schema=polars_types).to_arrow()

    return {
        "columnstone": mine,
        "pyarrow.csv": lambda: pyarrow.csv.read_csv(path, one_thread, lines, convert),
        "Polars": polars,
        "DuckDB": lambda: connection.sql(f"FROM read_csv('{path}'{how})").to_arrow_table(),
    }


def writers(path: pathlib.Path, kind: str) -> dict[str, Callable[[], object]]:
    """Each writes the same table into a file of its own, which stays for the next round."""
    import columnstone as cst
    import duckdb
    import polars as pl
    import pyarrow.csv

    table = pyarrow.table(cst.open(path, format="csv", batch_size=65536))
    frame = pl.DataFrame(table)
    connection = duckdb.connect(config={"threads": 1})
    connection.register("written", table)
    to = {who: path.with_suffix(f".{who}.{kind}") for who in ("cst", "pyarrow", "polars", "duckdb")}
    sql = f"COPY written TO '{to['duckdb']}' (FORMAT {kind})"
    found: dict[str, Callable[[], object]] = {
        "columnstone": lambda: cst.write(table, to["cst"], kind, overwrite=True),
        "Polars": lambda: (frame.write_csv if kind == "csv" else frame.write_ndjson)(to["polars"]),
        "DuckDB": lambda: connection.execute(sql),
    }
    if kind == "csv":
        found["pyarrow.csv"] = lambda: pyarrow.csv.write_csv(table, to["pyarrow"])
    return found


def compared(
    label: str,
    size: float,
    calls: dict[str, Callable[[], object]],
    settings: Settings,
    goals: dict[str, float],
) -> list[Figure]:
    times = timing.seconds_of(list(calls.values()), settings.rounds)
    mine = times[0]
    return [
        faster(
            f"{label}, against {peer} (CPU time)",
            peer,
            theirs / mine,
            f"{rate(size / mine)}, {rate(size / theirs)}",
            goals[peer],
        )
        for peer, theirs in zip(calls, times, strict=True)
        if peer in goals
    ]


def add_text(settings: Settings, results: Results, name: str) -> None:
    path = made(settings, ROWS // 20 if settings.quick else ROWS, name)
    size = path.stat().st_size / 1e6
    for typed in TYPED:
        label = f"CSV to Arrow, {name}, types {'given' if typed else 'found'}"
        goals = {"pyarrow.csv": 1.5, "Polars": 1.0, "DuckDB": 1.0}
        results.figures += compared(label, size, readers(path, typed), settings, goals)
    for kind in WRITTEN:
        label = f"Arrow to {'CSV' if kind == 'csv' else 'JSON lines'}, {name}"
        goals = {"Polars": 2.0, "DuckDB": 2.0}
        results.figures += compared(label, size, writers(path, kind), settings, goals)


def rows(settings: Settings, results: Results) -> dict[str, Callable[[], None]]:
    """What `--only` can name, and what it does."""
    os.environ.setdefault("POLARS_MAX_THREADS", "1")  # before Polars is imported

    def add(peer: Callable[[], c.Contender], rows: int, goal: float, label: str) -> None:
        results.figures.append(against(settings, peer(), rows, goal, label))

    found: dict[str, Callable[[], None]] = {
        f"csv_{name}": functools.partial(add_text, settings, results, name) for name in NAMED
    }
    return found | {
        "csv_pyarrow": lambda: add(pyarrow_csv, ROWS, 0.5, "pyarrow.csv"),
        "csv_tfx_bsl": lambda: add(tfx_bsl_csv, PEER_ROWS, 30, "tfx_bsl's decoder"),
    }
