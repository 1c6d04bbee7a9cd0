"""The rows on engines: ours in Beam, Spark, Ray and Dask against what each of them has without us,
on the same machine; what a second worker brings; and the planner of splits.

Wall time: the work is done by several processes. Each side is a process that starts its engine and
runs a pass to warm up; the sides take turns.
"""

from __future__ import annotations

import importlib.util
import json
import pathlib
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

import columnstone as cst
import engine_data
from decode_rows import Settings
from report import Figure, Results, faster

HERE = pathlib.Path(__file__).parent
GOALS = {"beam": 5, "spark": 10, "ray": 10, "dask": 10}
PEERS = {
    "beam": "tfx_bsl in Beam",
    "spark": "Python in Spark",
    "ray": "Ray's read_tfrecords",
    "dask": "tfrecord in Dask",
}
PACKAGES = {"beam": "apache_beam", "spark": "pyspark", "ray": "ray", "dask": "dask"}
SCALING = 1.7
TURNS = 2


def run(engine: str, side: str, workers: int, rounds: int, files: list[pathlib.Path]) -> dict:
    script = HERE / f"engine_{engine}.py"
    command = [sys.executable, script, side, workers, rounds, *files]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{script.name} {side}: {done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def taking_turns(
    engine: str, sides: list[tuple[str, int]], rounds: int, files: list[pathlib.Path]
) -> tuple[list[float], int]:
    """The median seconds of each side, and the rows of a pass, which all have to agree on."""
    results: list[list[dict]] = [[] for _ in sides]
    for _ in range(TURNS):
        for result, (side, workers) in zip(results, sides, strict=True):
            result.append(run(engine, side, workers, rounds, files))
    found = {(r["rows"], r["values"]) for result in results for r in result}
    assert len(found) == 1, f"{engine}: the sides do not agree: {found}"
    return [statistics.median(r["seconds"] for r in result) for result in results], found.pop()[0]


def against_peer(engine: str, settings: Settings, files: list[pathlib.Path], what: str) -> Figure:
    (ours, peer), rows = taking_turns(engine, [("ours", 2), ("peer", 2)], settings.rounds, files)
    details = f"{rows / ours / 1000:.0f}, {rows / peer / 1000:.0f} thousand rows/s"
    label = f"{engine.capitalize()}, {what}, 2 workers"
    return faster(label, PEERS[engine], peer / ours, details, GOALS[engine])


def scaling(engine: str, settings: Settings, files: list[pathlib.Path]) -> Figure:
    (one, two), _ = taking_turns(engine, [("ours", 1), ("ours", 2)], settings.rounds, files)
    label = f"{engine.capitalize()}, click log: a second worker"
    figure = f"{one / two:.2f}x ({one:.2f} s, {two:.2f} s)"
    return Figure(label, figure, f"≥ {SCALING}x", one / two >= SCALING)


def planning(settings: Settings) -> list[Figure]:
    """Files that are empty: their size is all that the planner looks at."""
    folder = settings.folder / "many-files"
    if not (folder / "done").exists():
        folder.mkdir(parents=True, exist_ok=True)
        for i in range(100_000):
            (folder / f"part-{i:06}.tfrecord").touch()
        (folder / "done").touch()
    start = time.perf_counter()
    splits = cst.plan(str(folder / "part-*.tfrecord"))
    seconds = time.perf_counter() - start
    assert len(splits) == 100_000
    figure = f"{seconds:.2f} s"
    return [Figure("splits of 100,000 files", figure, "< 1 s", seconds < 1)]


def of_engine(engine: str, settings: Settings) -> list[Figure]:
    if importlib.util.find_spec(PACKAGES[engine]) is None:
        return [Figure(f"{engine.capitalize()}", f"not measured: {PACKAGES[engine]} is not there")]
    click = engine_data.click_shards(settings)
    taxi = engine_data.taxi_shards(settings)
    figures = [against_peer(engine, settings, click, "click log")]
    if taxi:
        figures.append(against_peer(engine, settings, taxi, "taxi trips, gzip"))
    return [*figures, scaling(engine, settings, click * 8)]


def rows(settings: Settings, results: Results) -> dict[str, Callable[[], None]]:
    def engine_row(engine: str) -> Callable[[], None]:
        return lambda: results.figures.extend(of_engine(engine, settings))

    return {
        **{f"engines: {engine}": engine_row(engine) for engine in GOALS},
        "engines: planner": lambda: results.figures.extend(planning(settings)),
    }
