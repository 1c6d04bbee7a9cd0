"""The rows on engines: ours in Beam, Spark, Ray and Dask against what each of them has without us,
on the same machine; what a second worker brings; and the planner of splits.

Wall time: the work is done by several processes. Each side is a process that starts its engine and
runs a pass to warm up, then one that counts; the sides take turns, as often as there are rounds,
but no more than three times.
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
from typing import NamedTuple

import columnstone as cst
import engine_data
from decode_rows import Settings
from report import Figure, Results, faster

HERE = pathlib.Path(__file__).parent
SCALING = 1.7
MOST_TURNS = 3


class Engine(NamedTuple):
    """What is measured in an engine. Passes have to be long beside what an engine takes to begin
    one, and the peers differ by factors of a hundred.

    times: how often the files are read in a pass; more: where a second worker is measured.
    files: of how many files a pass reads only the first ones.
    cannot: why the peer cannot read the trips.
    """

    package: str
    peer: str
    goal: float
    times: int = 1
    more: int = 16
    files: int | None = None
    cannot: str = ""

    def some(self, files: list[pathlib.Path]) -> list[pathlib.Path]:
        return files[: self.files] * self.times


ENGINES = {
    "beam": Engine("apache_beam", "tfx_bsl in Beam", 5, times=4, more=64),
    "spark": Engine("pyspark", "Python in Spark", 10, times=8),
    "ray": Engine("ray", "Ray's read_tfrecords", 10, files=1),  # 5 ms a row
    "dask": Engine(
        "dask", "tfrecord in Dask", 10, cannot="the package cannot read features without values"
    ),
}


def run(engine: str, side: str, workers: int, rounds: int, files: list[pathlib.Path]) -> dict:
    script = HERE / f"engine_{engine}.py"
    command = [sys.executable, script, side, workers, rounds, *files]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{script.name} {side}: {done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def taking_turns(
    engine: str, sides: list[tuple[str, int]], settings: Settings, files: list[pathlib.Path]
) -> tuple[list[float], int]:
    """The median seconds of each side, and the rows of a pass, which all have to agree on."""
    results: list[list[dict]] = [[] for _ in sides]
    for _ in range(min(settings.rounds, MOST_TURNS)):
        for result, (side, workers) in zip(results, sides, strict=True):
            result.append(run(engine, side, workers, 1, files))
    found = {(r["rows"], r["values"]) for result in results for r in result}
    assert len(found) == 1, f"{engine}: the sides do not agree: {found}"
    return [statistics.median(r["seconds"] for r in result) for result in results], found.pop()[0]


def against_peer(engine: str, settings: Settings, files: list[pathlib.Path], what: str) -> Figure:
    about = ENGINES[engine]
    sides = [("ours", 2), ("peer", 2)]
    (ours, peer), rows = taking_turns(engine, sides, settings, about.some(files))
    details = f"{rows / ours / 1000:.0f}, {rows / peer / 1000:.1f} thousand rows/s; {rows} rows"
    label = f"{engine.capitalize()}, {what}, 2 workers"
    return faster(label, about.peer, peer / ours, details, about.goal)


def scaling(engine: str, settings: Settings, files: list[pathlib.Path]) -> Figure:
    (one, two), rows = taking_turns(engine, [("ours", 1), ("ours", 2)], settings, files)
    label = f"{engine.capitalize()}, click log: a second worker"
    figure = f"{one / two:.2f}x ({one:.2f} s, {two:.2f} s; {rows} rows)"
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


def on_clicks(engine: str, settings: Settings) -> list[Figure]:
    return [against_peer(engine, settings, engine_data.click_shards(settings), "click log")]


def on_trips(engine: str, settings: Settings) -> list[Figure]:
    about = ENGINES[engine]
    files = engine_data.taxi_shards(settings)
    if about.cannot:
        return [Figure(f"{engine.capitalize()}, taxi trips", f"not measured: {about.cannot}")]
    return [against_peer(engine, settings, files, "taxi trips, gzip")] if files else []


def with_another_worker(engine: str, settings: Settings) -> list[Figure]:
    files = engine_data.click_shards(settings)
    return [scaling(engine, settings, files * (1 if settings.quick else ENGINES[engine].more))]


def rows(settings: Settings, results: Results) -> dict[str, Callable[[], None]]:
    parts = {"click log": on_clicks, "taxi trips": on_trips, "scaling": with_another_worker}
    table: dict[str, Callable[[], None]] = {}
    for engine, about in ENGINES.items():
        if importlib.util.find_spec(about.package) is None:
            continue
        for name, part in parts.items():
            table[f"engines: {engine}, {name}"] = lambda engine=engine, part=part: (
                results.figures.extend(part(engine, settings))
            )
    table["engines: planner"] = lambda: results.figures.extend(planning(settings))
    return table
