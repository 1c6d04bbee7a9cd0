"""The rows on JSON lines: nested sessions and flat rows to Arrow, types found and given, against
DuckDB and Polars with one thread each, and against a bare parse by yyjson.

The contenders are processes of their own: the number of threads of a peer is fixed when it starts.
"""

from __future__ import annotations

import json
import os
import pathlib
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import data
import timing
from decode_rows import Settings
from report import Figure, Results, faster, rate

BYTES = 60_000_000
SHAPES = ("nested", "flat")
WORDS = ["home", "search", "detail of a product", "cart", "paid", 'the "new" one', "über uns", ""]


def sessions(rng: random.Random) -> Iterator[dict[str, Any]]:
    """Objects, lists of objects, lists of numbers, words, nulls and keys that are missing."""
    for i in range(1 << 40):
        yield {
            "id": f"s{i:08}",
            "user": {"id": rng.randrange(1 << 33), "country": rng.choice(WORDS), "vip": i % 7 == 0},
            "started": 1_700_000_000_000 + i * 137,
            "events": [
                {
                    "kind": rng.choice(WORDS),
                    "at": round(rng.random() * 600, 3),
                    "item": rng.randrange(100_000),
                    "tags": rng.sample(WORDS, rng.randrange(3)),
                }
                for _ in range(rng.randrange(6))
            ],
            "scores": [rng.random() for _ in range(rng.randrange(4))],
            "note": None if i % 3 else rng.choice(WORDS),
            **({"referrer": f"https://example.com/{rng.randrange(999)}?q=1"} if i % 2 else {}),
        }


def trips(rng: random.Random) -> Iterator[dict[str, Any]]:
    for i in range(1 << 40):
        yield {
            "id": i,
            "vendor": i % 3,
            "pickup": f"2024-03-{1 + i % 28:02} 12:{i % 60:02}:00",
            "riders": rng.randrange(1, 6),
            "lon": round(rng.uniform(-74.1, -73.7), 6),
            "lat": round(rng.uniform(40.6, 40.9), 6),
            "flag": "NY"[i % 2],
            "fare": round(rng.uniform(3, 80), 2),
            "paid": i % 5 > 0,
            "note": rng.choice(WORDS),
        }


def made(settings: Settings, shape: str) -> pathlib.Path:
    size = BYTES // 10 if settings.quick else BYTES
    path = settings.folder / f"{shape}-{size}.jsonl"
    if not path.exists():
        settings.folder.mkdir(parents=True, exist_ok=True)
        records = (sessions if shape == "nested" else trips)(random.Random(data.SEED))
        with path.open("w", encoding="utf-8") as out:
            while out.tell() < size:
                out.writelines(
                    json.dumps(next(records), ensure_ascii=False) + "\n" for _ in range(1000)
                )
    return path


# The contenders: the path of a file to Arrow. `given` is what a run with types found has found.


def ours(path: str, given: bool) -> Callable[[], Any]:
    import columnstone as cst

    types = cst.open(path, format="json").arrow_schema if given else None

    def run() -> None:
        for batch in cst.open(path, format="json", types=types, batch_size=65536):
            del batch

    return run


def duckdb(path: str, given: bool) -> Callable[[], Any]:
    import duckdb

    connection = duckdb.connect(config={"threads": 1})
    read = "read_json(?, format='newline_delimited'"
    # A sample of all rows, as ours finds types: with its default a later row may be an error.
    found = connection.execute(f"describe from {read}, sample_size=-1)", [path]).fetchall()
    types = ", ".join(f"'{name}': '{kind}'" for name, kind, *_ in found)
    read += f", columns={{{types}}})" if given else ", sample_size=-1)"

    def run() -> None:
        for batch in connection.sql(f"from {read}", params=[path]).to_arrow_reader(65536):
            del batch

    return run


def polars(path: str, given: bool) -> Callable[[], Any]:
    import polars

    schema = polars.read_ndjson(path, infer_schema_length=None).schema if given else None
    return lambda: polars.read_ndjson(path, schema=schema, infer_schema_length=None).to_arrow()


CONTENDERS = {"columnstone": ours, "duckdb": duckdb, "polars": polars}


def cpu_seconds(name: str, path: str, given: bool, rounds: int) -> float:
    """Of one run, the best of the rounds."""
    command = [sys.executable, __file__, name, path, str(int(given)), str(rounds)]
    environment = {**os.environ, "POLARS_MAX_THREADS": "1"}
    return float(subprocess.check_output(command, env=environment, text=True))


def against(settings: Settings, shape: str, given: bool, peer: str) -> Figure:
    path = made(settings, shape)
    size = path.stat().st_size / 1e6
    mine, theirs = (
        cpu_seconds(name, str(path), given, settings.rounds) for name in ("columnstone", peer)
    )
    name = f"JSON lines, {shape}, types {'given' if given else 'found'}, to Arrow (CPU time)"
    return faster(name, peer, theirs / mine, f"{rate(size / mine)}, {rate(size / theirs)}", 3)


def bare_parse(settings: Settings, shape: str, given: bool) -> Figure:
    """Against a parse of each line into yyjson's tree, which nothing is done with."""
    path = made(settings, shape)
    size = path.stat().st_size / 1e6
    mine = cpu_seconds("columnstone", str(path), given, settings.rounds)
    program = pathlib.Path(__file__).parents[1] / "build" / "release" / "bench" / "json_bench"
    bare = float(subprocess.check_output([program, str(path), str(settings.rounds)], text=True))
    label = f"JSON lines, {shape}, types {'given' if given else 'found'}, against a bare parse"
    figure = f"{bare / mine:.2f}x ({rate(size / mine)}, {rate(size / bare)})"
    return Figure(label, figure, "≥ 0.3x", bare / mine >= 0.3, "yyjson", bare / mine)


def rows(settings: Settings, results: Results) -> dict[str, Callable[[], None]]:
    """What `--only` can name, and what it does."""

    def add(figure: Callable[..., Figure], *arguments: Any) -> Callable[[], None]:
        return lambda: results.figures.append(figure(settings, *arguments))

    found = {}
    for shape in SHAPES:
        for given in (False, True):
            name = f"json_{shape}_{'given' if given else 'found'}"
            for peer in ("duckdb", "polars"):
                found[f"{name}_{peer}"] = add(against, shape, given, peer)
            found[f"{name}_yyjson"] = add(bare_parse, shape, given)
    return found


if __name__ == "__main__":
    _, contender, file, is_given, times = sys.argv
    task = CONTENDERS[contender](file, is_given == "1")
    print(min(timing.seconds_of([task], 1)[0] for _ in range(int(times))))
