"""Ours against the peers: `./dev bench [--quick] [--only NAME ...]`.

Generates its data into build/bench at the first run. A full run writes bench/RESULTS.md and draws
docs/pictures/bench-*.svg; with --quick or --only the table is only printed. A full run that was
broken off is taken up by --continue: it notes in build/bench/results.json what each row found.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import pathlib
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

import access_rows
import avro_rows
import contenders
import convert_rows
import csv_rows
import dataset_rows
import decode_rows
import engine_rows
import file_rows
import json_rows
import lineage_rows
import loop_rows
import message_rows
import plots
import process_rows
import query_rows
import recovery_rows
import report
import scaling_rows
import sequence_rows
import stats_rows
import stats_table
import structured_rows
import tensor_rows
import validate_rows

TOP = pathlib.Path(__file__).resolve().parents[1]


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="dev bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the data, three rounds")
    parser.add_argument(
        "--only", nargs="+", metavar="NAME", help="rows whose name has one of these in it"
    )
    parser.add_argument("--rounds", type=int, default=5, help="repetitions (5)")
    parser.add_argument("--data", type=pathlib.Path, default=TOP / "build" / "bench")
    parser.add_argument(
        "--continue",
        action="store_true",
        dest="goes_on",
        help="take up a full run that was broken off",
    )
    parser.add_argument("--list", action="store_true", help="the names of the rows")
    return parser.parse_args()


def topics_of(
    settings: decode_rows.Settings, results: report.Results
) -> dict[str, dict[str, Callable[[], None]]]:
    """The rows by topic, and by the name that --only takes."""
    parts = {
        "tf.Examples in memory": [decode_rows, loop_rows, sequence_rows],
        "Files and formats": [
            csv_rows,
            json_rows,
            avro_rows,
            file_rows,
            convert_rows,
            recovery_rows,
            access_rows,
        ],
        "Tensors and validation": [tensor_rows, validate_rows],
        "Nested tensors": [structured_rows],
        "Messages": [message_rows],
        "Queries": [query_rows],
        "Sketches and statistics": [stats_rows, stats_table],
        "Lineage": [lineage_rows],
        "Training loops": [dataset_rows],
        "Many cores": [scaling_rows],
        "The program and the package": [process_rows],
        "Engines": [engine_rows],
    }
    return {
        topic: {name: row for part in rows for name, row in part.rows(settings, results).items()}
        for topic, rows in parts.items()
    }


class Notes:
    """What each row of a full run found, in a file."""

    def __init__(self, path: pathlib.Path, rounds: int, goes_on: bool) -> None:
        self._path = path
        self._noted: dict[str, Any] = {"rounds": rounds, "rows": {}}
        if goes_on and path.exists():
            noted = json.loads(path.read_text())
            if noted["rounds"] != rounds:
                sys.exit(f"the run that was broken off had --rounds {noted['rounds']}")
            self._noted = noted

    def find(self, name: str) -> report.Results | None:
        rows = self._noted["rows"]
        return report.Results.from_dict(rows[name]) if name in rows else None

    def add(self, name: str, found: report.Results) -> None:
        self._noted["rows"][name] = dataclasses.asdict(found)
        fresh = self._path.with_suffix(".new")
        fresh.write_text(json.dumps(self._noted, indent=1))
        fresh.replace(self._path)


def run_row(name: str, row: Callable[[], None], results: report.Results) -> bool:
    """A row that fails is one of the results; false."""
    print(f"  {name} ...", end="", flush=True)
    start = time.perf_counter()
    try:
        row()
    except Exception as error:
        traceback.print_exc()
        failure = " ".join(f"{type(error).__name__}: {error}".split()).replace("|", "/")
        results.figures.append(report.Figure(name, f"failed: {failure[:200]}", good=False))
        return False
    print(f" {time.perf_counter() - start:.1f} s", flush=True)
    return True


def main() -> None:
    args = parse_arguments()
    load = os.getloadavg()[0]
    settings = decode_rows.Settings(args.data, args.quick, 3 if args.quick else args.rounds)
    results = report.Results()
    topics = topics_of(settings, results)
    if args.list:
        print("\n".join(name for rows in topics.values() for name in rows))
        return
    is_full = not args.quick and not args.only
    args.data.mkdir(parents=True, exist_ok=True)
    noted = args.data / "results.json"
    notes = Notes(noted, settings.rounds, args.goes_on) if is_full else None
    contenders.tensorflow_one_thread()
    found = {topic: report.Results() for topic in topics}
    failed = 0
    for topic, rows in topics.items():
        for name, row in rows.items():
            if args.only and not any(part in name for part in args.only):
                continue
            part = notes.find(name) if notes else None
            if part is None:
                before = results.copy()
                ended = run_row(name, row, results)
                failed += not ended
                part = results.since(before)
                if notes and ended:
                    notes.add(name, part)
            found[topic].add(part)
    text = report.markdown(found, load)
    print("\n" + text)
    if is_full:
        path = TOP / "bench" / "RESULTS.md"
        path.write_text(text)
        drawn = plots.draw_all(found, TOP / "docs" / "pictures")
        print("written:", ", ".join(str(made.relative_to(TOP)) for made in [path, *drawn]))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
