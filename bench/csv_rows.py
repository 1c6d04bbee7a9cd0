"""The rows on CSV: types from all of the data, and columns, against pyarrow.csv and tfx_bsl."""

from __future__ import annotations

import csv
import pathlib
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


def made(settings: Settings, rows: int) -> pathlib.Path:
    path = settings.folder / f"trips-{rows}.csv"
    if not path.exists():
        settings.folder.mkdir(parents=True, exist_ok=True)
        with path.open("w", newline="", encoding="utf-8") as out:
            csv.writer(out, lineterminator="\n").writerows([COLUMNS, *trips(rows)])
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


def rows(settings: Settings, results: Results) -> dict[str, Callable[[], None]]:
    """What `--only` can name, and what it does."""

    def add(peer: Callable[[], c.Contender], rows: int, goal: float, label: str) -> None:
        results.figures.append(against(settings, peer(), rows, goal, label))

    return {
        "csv_pyarrow": lambda: add(pyarrow_csv, ROWS, 0.5, "pyarrow.csv"),
        "csv_tfx_bsl": lambda: add(tfx_bsl_csv, PEER_ROWS, 30, "tfx_bsl's decoder"),
    }
