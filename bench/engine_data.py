"""The files that the engines' rows read, and what the scripts of the engines have in common.

Each engine has a script, `engine_NAME.py`, whose sides run in processes of their own:
`python bench/engine_beam.py SIDE WORKERS ROUNDS FILE ...` prints {"seconds": ..., "rows": ...,
"values": ...} as its last line: the median wall time of a pass after one that warms up, and what
was found, which has to be the same for all sides.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import statistics
import time
from collections.abc import Callable
from typing import NamedTuple

import data
import decode_rows

SHARDS = 8
SCHEMA = pathlib.Path("schema.pbtxt")  # of a folder's files


class Found(NamedTuple):
    """What a pass has found: rows, and the number of values in all columns."""

    rows: int
    values: int


def click_shards(settings: decode_rows.Settings) -> list[pathlib.Path]:
    """The click log as plain TFRecord files."""
    made, records = settings.records("click")
    text = made.schema_text()
    return write_shards(settings.folder / f"click-{len(records)}-shards", records, text, "")


def taxi_shards(settings: decode_rows.Settings) -> list[pathlib.Path]:
    """The trips ten times over, as gzip files; none where the data is not there."""
    if not decode_rows.TAXI.is_dir():
        return []
    records = list(decode_rows.taxi_records())
    text = data.schema_text(decode_rows.taxi_fields())
    times = 1 if settings.quick else 10
    folder = settings.folder / f"taxi-{times}-shards"
    return write_shards(folder, records * times, text, "GZIP")


def write_shards(
    folder: pathlib.Path, records: list[bytes], schema: str, compression: str
) -> list[pathlib.Path]:
    ending = ".tfrecord.gz" if compression else ".tfrecord"
    paths = [folder / f"part-{i:05}-of-{SHARDS:05}{ending}" for i in range(SHARDS)]
    if not (folder / SCHEMA).exists():
        folder.mkdir(parents=True, exist_ok=True)
        for i, path in enumerate(paths):
            some = records[len(records) * i // SHARDS : len(records) * (i + 1) // SHARDS]
            data.write_framed(path, iter(some), compression)
        (folder / SCHEMA).write_text(schema)
    return paths


class Work(NamedTuple):
    """The arguments of a script."""

    side: str
    workers: int
    rounds: int
    files: list[str]

    @property
    def schema(self) -> pathlib.Path:
        return pathlib.Path(self.files[0]).parent / SCHEMA


def work() -> Work:
    parser = argparse.ArgumentParser()
    parser.add_argument("side")
    parser.add_argument("workers", type=int)
    parser.add_argument("rounds", type=int)
    parser.add_argument("files", nargs="+")
    return Work(**vars(parser.parse_args()))


def measure(run: Callable[[], Found], rounds: int) -> None:
    """Prints the median time of a pass and what was found."""
    found = run()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        again = run()
        times.append(time.perf_counter() - start)
        assert again == found, (again, found)
    print(json.dumps({"seconds": statistics.median(times), **found._asdict()}))
