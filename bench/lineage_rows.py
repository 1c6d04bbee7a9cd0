"""The rows on stores of lineage: adding, look-ups, traces and plans of garbage collection, in C,
against ml-metadata's SQLite store doing the same in the same run."""

from __future__ import annotations

import functools
import json
import pathlib
import statistics
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

from decode_rows import Settings
from message_rows import unmeasured
from report import Figure, Results, faster

TOP = pathlib.Path(__file__).resolve().parents[1]
BENCH = TOP / "build" / "release" / "bench" / "lineage_bench"
PEER, PEER_PYTHON = "MLMD", TOP / "build" / "venv-struct2tensor" / "bin" / "python"
COUNT = 100_000
Told = dict[str, dict[str, float]]


def run(command: list[Any]) -> tuple[Told, int]:
    """CPU and elapsed seconds for one of each task, and the number of nodes of a trace."""
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=True)
    told = json.loads(done.stdout)
    nodes = told.pop("nodes")
    for task in told.values():
        count = task.pop("count")
        task.update({clock: seconds / count for clock, seconds in task.items()})
    return told, nodes


def has_mlmd() -> bool:
    return any(PEER_PYTHON.parents[1].glob("lib/python*/site-packages/ml_metadata"))


def median(rounds: list[Told]) -> Told:
    return {
        task: {clock: statistics.median(r[task][clock] for r in rounds) for clock in of}
        for task, of in rounds[0].items()
    }


@functools.cache
def measured(settings: Settings) -> tuple[Told, Told | None]:
    """Ours and theirs, in turns."""
    count = COUNT // 10 if settings.quick else COUNT
    ours, theirs = [], []
    for _ in range(min(settings.rounds, 3)):
        told, nodes = run([BENCH, settings.folder / "lineage.db", count])
        ours.append(told)
        if has_mlmd():
            script = pathlib.Path(__file__).parent / "lineage_mlmd.py"
            told, same = run([PEER_PYTHON, script, settings.folder / "mlmd.sqlite", count])
            assert nodes == same
            theirs.append(told)
    return median(ours), median(theirs) if theirs else None


def against(settings: Settings, task: str, label: str, goal: float) -> Iterator[Figure]:
    ours, theirs = measured(settings)
    if theirs is None:
        yield unmeasured(f"{label}, against {PEER}", "ml-metadata is not installed")
        return
    mine, other = ours[task]["cpu"], theirs[task]["cpu"]
    details = f"{mine * 1e6:.0f} µs, {other * 1e6:.0f} µs"
    yield faster(f"{label}, against {PEER}", PEER, other / mine, details, goal)


def adding(settings: Settings) -> Iterator[Figure]:
    ours, _ = measured(settings)
    rate = 1 / ours["in one transaction"]["elapsed"]
    label = "artifacts are added in one transaction"
    yield Figure(label, f"{rate:,.0f} a second", "≥ 50,000", rate >= 50_000)
    yield from against(settings, "in one transaction", label, 5)
    rate = 1 / ours["one by one"]["elapsed"]
    label = "artifacts are added one by one, each on disk"
    yield Figure(label, f"{rate:,.0f} a second", "≥ 500", rate >= 500)
    yield from against(settings, "one by one", label, 3)


def looking(settings: Settings) -> Iterator[Figure]:
    for task in ("by id", "by type and name", "by path", "by property"):
        yield from against(settings, task, f"an artifact is looked up {task}", 10)


def tracing(settings: Settings) -> Iterator[Figure]:
    ours, _ = measured(settings)
    seconds = ours["trace"]["elapsed"]
    label = "what an artifact came from, over ten levels"
    yield Figure(label, f"{seconds * 1000:.2f} ms", "< 10 ms", seconds < 10e-3)
    yield from against(settings, "trace", label, 10)


def collecting(settings: Settings) -> Iterator[Figure]:
    ours, _ = measured(settings)
    seconds = ours["gc plan"]["elapsed"]
    yield Figure("a plan of garbage collection", f"{seconds:.2f} s", "< 1 s", seconds < 1)


def rows(settings: Settings, results: Results) -> dict[str, Callable[[], None]]:
    makers = {
        "lineage_add": adding,
        "lineage_look_up": looking,
        "lineage_trace": tracing,
        "lineage_gc": collecting,
    }

    def row(make: Callable[[Settings], Iterator[Figure]]) -> Callable[[], None]:
        def measure() -> None:
            if not BENCH.exists():
                results.figures.append(unmeasured("lineage", "lineage_bench is not built"))
                return
            results.figures.extend(make(settings))

        return measure

    return {name: row(make) for name, make in makers.items()}
