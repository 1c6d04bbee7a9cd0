"""Ours against the peers: `./dev bench [--quick] [--only NAME ...]`.

Generates its data into build/bench at the first run. A full run writes bench/RESULTS.md and draws
docs/pictures/bench-*.svg; with --quick or --only the table is only printed.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import time

import access_rows
import contenders
import convert_rows
import csv_rows
import dataset_rows
import decode_rows
import engine_rows
import file_rows
import message_rows
import plots
import process_rows
import query_rows
import recovery_rows
import report
import sequence_rows
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
    parser.add_argument("--list", action="store_true", help="the names of the rows")
    return parser.parse_args()


def main() -> None:
    args = parse_arguments()
    load = os.getloadavg()[0]
    settings = decode_rows.Settings(args.data, args.quick, 3 if args.quick else args.rounds)
    results = report.Results()
    table = {
        **decode_rows.rows(settings, results),
        **sequence_rows.rows(settings, results),
        **csv_rows.rows(settings, results),
        **file_rows.rows(settings, results),
        **convert_rows.rows(settings, results),
        **recovery_rows.rows(settings, results),
        **access_rows.rows(settings, results),
        **tensor_rows.rows(settings, results),
        **structured_rows.rows(settings, results),
        **message_rows.rows(settings, results),
        **query_rows.rows(settings, results),
        **validate_rows.rows(settings, results),
        **dataset_rows.rows(settings, results),
        **engine_rows.rows(settings, results),
        **process_rows.rows(settings, results),
    }
    if args.list:
        print("\n".join(table))
        return
    contenders.tensorflow_one_thread()
    for name, row in table.items():
        if args.only and not any(part in name for part in args.only):
            continue
        start = time.perf_counter()
        print(f"  {name} ...", end="", flush=True)
        row()
        print(f" {time.perf_counter() - start:.1f} s", flush=True)
    text = report.markdown(results, load)
    print("\n" + text)
    if not args.quick and not args.only:
        path = TOP / "bench" / "RESULTS.md"
        path.write_text(text)
        drawn = plots.draw_all(results, TOP / "docs" / "pictures")
        print("written:", ", ".join(str(made.relative_to(TOP)) for made in [path, *drawn]))


if __name__ == "__main__":
    main()
