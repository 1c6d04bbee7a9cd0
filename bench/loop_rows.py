"""The rows on the decoder's loop alone, in C, against what one core can do: decode_bench in turns
with a program that takes the same records to columns without any check. The bounds are beside the
repository, in shared/reference/bound; without them the rows stay unmeasured.
"""

from __future__ import annotations

import pathlib
import statistics
import subprocess
from collections.abc import Callable

import data
from decode_rows import Settings
from report import Figure, Results, rate

TOP = pathlib.Path(__file__).resolve().parents[1]
BOUNDS = TOP.parent / "shared" / "reference" / "bound"
DECODE_BENCH = TOP / "build" / "release" / "bench" / "decode_bench"
GOAL = 0.9
# The bound may expect the column that followed last time; the better mode counts.
MODES = [[], ["predict"]]
ORDERS = {
    "click": "click log, one order",
    "click_random": "click log, random order",
    "wide": "wide, one order",
    "wide_random": "wide, random order",
}


def has_bound(name: str) -> bool:
    return (BOUNDS / f"{name}.c").exists()


def bound_program(name: str, folder: pathlib.Path) -> pathlib.Path:
    program = folder / name
    if not program.exists():
        folder.mkdir(parents=True, exist_ok=True)
        source = BOUNDS / f"{name}.c"
        subprocess.run(["cc", "-O3", "-march=native", source, "-o", program], check=True)
    return program


def best_rate(command: list[str | pathlib.Path]) -> float:
    """MB/s: the last number that the program prints."""
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout.split("best ")[-1].split()[0])


def medians(commands: list[list[str | pathlib.Path]], rounds: int) -> list[float]:
    """MB/s of each, taken in turns."""
    rates = [[best_rate(command) for command in commands] for _ in range(rounds)]
    return [statistics.median(column) for column in zip(*rates, strict=True)]


def loop(name: str, settings: Settings) -> Figure:
    label = f"{ORDERS[name]}, the loop in C against the bound's better mode"
    if not DECODE_BENCH.exists() or not has_bound("decode_bound"):
        return Figure(label, "not measured: decode_bench or decode_bound.c is not there")
    path = data.make(name, settings.folder).path
    bound = bound_program("decode_bound", settings.folder)
    ours: list[str | pathlib.Path] = [DECODE_BENCH, path, path.with_suffix(".pbtxt")]
    commands = [[*ours, "--repeat", "9"]]
    commands += [[bound, path, *mode] for mode in MODES]
    own, *limits = medians(commands, settings.rounds)
    limit = max(limits)
    text = f"{own / limit:.2f} ({rate(own)}, {rate(limit)})"
    return Figure(label, text, f"≥ {GOAL:g}", own / limit >= GOAL)


def rows(settings: Settings, results: Results) -> dict[str, Callable[[], None]]:
    """What `--only` can name, and what it does."""
    return {
        f"loop_{name}": lambda name=name: results.figures.append(loop(name, settings))
        for name in ORDERS
    }
