"""The rows on queries and views: against struct2tensor on messages, against DuckDB and Polars on
Parquet, and a saved view served in C against struct2tensor's SavedModel.

All results are compared before they are timed. "Behind the parse" both sides begin with the parsed
fields: a record batch, a prensor.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import pathlib
import statistics
import subprocess
from collections.abc import Callable
from typing import Any

import columnstone as cst
import data
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import query_data
import timing
from decode_rows import Settings
from google.protobuf import json_format
from query_data import Work
from report import Figure, Results, faster, rate

TOP = pathlib.Path(__file__).resolve().parents[1]
VIEW_BENCH = TOP / "build" / "release" / "bench" / "view_bench"
STRUCT2TENSOR = TOP / "build" / "venv-struct2tensor" / "bin" / "python"
SCRIPT = pathlib.Path(__file__).parent / "query_struct2tensor.py"
BATCH = 1024


def view_of(text: str, outputs: list[str] | None = None, shape: str = "sessions") -> Any:
    return cst.Query(query_data.message_of(shape)).add(text).view(outputs=outputs)


def unmeasured(label: str, why: str) -> Figure:
    return Figure(label, f"not measured: {why}")


def struct2tensor(*arguments: object) -> Any:
    """The last line that its script prints, which is JSON."""
    command = [str(part) for part in (STRUCT2TENSOR, SCRIPT, *arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


# Behind the parse


@dataclasses.dataclass(frozen=True)
class Sessions:
    path: pathlib.Path
    batches: list[list[bytes]]
    megabytes: float

    def passes(self, run: Callable[[Any], Any]) -> Callable[[], None]:
        def all_batches() -> None:
            for batch in self.batches:
                run(batch)

        return all_batches


def sessions(settings: Settings, shape: str = "sessions") -> Sessions:
    path = query_data.records_path(settings.folder, shape)
    records = list(data.read_framed(path))
    return Sessions(path, timing.batches_of(records, BATCH), sum(map(len, records)) / 1e6)


def flat_values(column: Any) -> Any:
    """The values of a column of lists, however deep, without nulls, as numpy has them."""
    while pa.types.is_nested(column.type):
        column = column.flatten()
    column = column.drop_null()
    if pa.types.is_large_string(column.type) or pa.types.is_string(column.type):
        column = column.cast(pa.large_binary())
        return np.array(column.to_pylist(), dtype="S")
    return column.to_numpy(zero_copy_only=False)


def check(work: Work, result: pathlib.Path, batch: list[bytes]) -> None:
    ours = pa.record_batch(view_of(work.text, shape=work.shape).run(batch))
    with np.load(result) as theirs:
        for i, column in enumerate(ours.columns):
            if not np.array_equal(flat_values(column), theirs[f"values{i}"]):
                raise AssertionError(f"{work.name}, {work.paths[i]}: the values differ")


def work_figures(settings: Settings, work: Work) -> list[Figure]:
    label = f"queries, {work.name}, against struct2tensor"
    if not STRUCT2TENSOR.exists():
        return [unmeasured(label, "struct2tensor is not installed")]
    log = sessions(settings, work.shape)
    result = settings.folder / "query_result.npz"
    rounds, reads = 5 * settings.rounds, ",".join(work.reads)
    times = struct2tensor("work", log.path, work.peer, rounds, result, reads, *work.paths)
    check(work, result, log.batches[0])
    other, other_behind = (statistics.median(seconds) for seconds in times)
    view = view_of(work.text, shape=work.shape)
    decoder = cst.decoder(
        "message", message=query_data.message_of(work.shape), columns=list(work.reads)
    )
    decoded = [decoder.decode(batch) for batch in log.batches]

    def behind() -> None:
        for batch in decoded:
            view.apply(batch)

    own, own_behind = timing.seconds_of([log.passes(view.run), behind], settings.rounds)
    details = f"{rate(log.megabytes / own)}, {rate(log.megabytes / other)}"
    beyond = f"{own_behind * 1e6:.0f} µs, {other_behind * 1e6:.0f} µs"
    name = "struct2tensor"
    return [
        faster(f"{label}, parse and all", name, other / own, details, None),
        faster(f"{label}, behind the parse", name, other_behind / own_behind, beyond, 10),
    ]


def works(settings: Settings) -> list[Figure]:
    return [
        figure
        for work in [*query_data.WORKS, *query_data.DEEP]
        for figure in work_figures(settings, work)
    ]


def one_of_twenty(settings: Settings) -> list[Figure]:
    log = sessions(settings)
    chosen, alone = view_of(query_data.MANY, ["y7"]), view_of(query_data.ONE)
    whole = view_of(query_data.MANY)
    if pa.record_batch(chosen.run(log.batches[0])) != pa.record_batch(alone.run(log.batches[0])):
        raise AssertionError("one of twenty outputs differs from the same output alone")
    one, other, every = timing.seconds_of(
        [log.passes(view.run) for view in (chosen, alone, whole)], settings.rounds
    )
    text = (
        f"{one / other:.2f} ({one * 1e3:.2f} ms, {other * 1e3:.2f} ms; all: {every * 1e3:.2f} ms)"
    )
    label = "queries, one output of twenty, time against a query of it alone"
    return [Figure(label, text, "≤ 1.3", one / other <= 1.3)]


# Parquet


def parquet_path(settings: Settings) -> pathlib.Path:
    path = settings.folder / "sessions.parquet"
    if not path.exists():
        decoder = cst.decoder("message", message=query_data.Session)
        batches = [pa.record_batch(decoder.decode(b)) for b in sessions(settings).batches]
        pq.write_table(pa.Table.from_batches(batches), path)
    return path


PARQUET = """
let clicks = event where clicked and price > 50
output n = size(clicks)
output total = sum(clicks.price)
output tokens = clicks.query_token
"""


def duckdb_call(path: pathlib.Path) -> Callable[[], Any]:
    import duckdb

    connection = duckdb.connect()
    connection.execute("set threads to 1")
    text = f"""
        with kept as (
            select list_filter(event, lambda e: e.clicked and e.price > 50) as clicks from '{path}')
        select len(clicks) as n, list_sum([c.price for c in clicks]) as total,
               [c.query_token for c in clicks] as tokens from kept"""
    return lambda: connection.sql(text).to_arrow_table()


def polars_call(path: pathlib.Path) -> Callable[[], Any]:
    import polars as pl

    def run() -> Any:
        rows = pl.scan_parquet(path).select("event").with_row_index("row")
        event = pl.col("event").struct
        flat = rows.explode("event").filter(event.field("clicked") & (event.field("price") > 50))
        grouped = flat.group_by("row", maintain_order=True).agg(
            pl.len().alias("n"),
            event.field("price").sum().alias("total"),
            event.field("query_token").alias("tokens"),
        )
        return rows.select("row").join(grouped, on="row", how="left").sort("row").collect()

    return run


def parquet_figures(settings: Settings) -> list[Figure]:
    path = parquet_path(settings)
    query = cst.Query(pq.read_schema(path)).add(PARQUET)

    def ours() -> Any:
        return pa.table(cst.open(path, view=query.view()))

    made = []
    for name, call in [("DuckDB", duckdb_call), ("Polars", polars_call)]:
        label = f"queries, Parquet with projection, against {name}"
        if importlib.util.find_spec(name.lower()) is None:
            made.append(unmeasured(label, f"{name} is not installed"))
            continue
        theirs = call(path)
        found = theirs()
        counts = found["n"].to_pylist() if name == "DuckDB" else found["n"].fill_null(0).to_list()
        if ours()["n"].to_pylist() != counts:
            raise AssertionError(f"{name} and ours count other clicks")
        own, other = timing.seconds_of([ours, theirs], settings.rounds)
        details = f"{own * 1e3:.1f} ms, {other * 1e3:.1f} ms"
        made.append(faster(label, name, other / own, details, 1))
    return made


# Serving


def served(settings: Settings) -> list[Figure]:
    label = "views, the ranking example"
    path = settings.folder / "ranking.cstv"
    view_of(query_data.RANKING).save(path)
    size = path.stat().st_size
    made = [Figure(f"{label}, size", f"{size / 1000:.1f} kB", "≤ 8 kB", size <= 8000)]
    if not VIEW_BENCH.exists():
        return [*made, unmeasured(f"{label}, in C", "view_bench is not built")]
    log = sessions(settings)
    command = [VIEW_BENCH, path, log.path]
    runs = [json.loads(subprocess.check_output(command)) for _ in range(settings.rounds)]
    own = {key: statistics.median(run[key] for run in runs) for key in runs[0]}
    text = f"{own['first'] * 1e6:.0f} µs (opening alone {own['open'] * 1e6:.0f} µs)"
    first = f"{label}, opened and 32 requests answered, in C"
    made.append(Figure(first, text, "≤ 1 ms", own["first"] <= 1e-3))
    made.append(json_requests(settings, log, own["warm"]))
    if not STRUCT2TENSOR.exists():
        return [*made, unmeasured(f"{label}, against a SavedModel", "struct2tensor is missing")]
    return made + against_saved_model(settings, own)


def json_requests(settings: Settings, log: Sessions, binary: float) -> Figure:
    """The same requests in protobuf's JSON, against those in binary."""
    view, path = settings.folder / "ranking_json.cstv", settings.folder / "sessions_json.tfrecord"
    query = f"from message {query_data.PACKAGE}.Session with form = json\n{query_data.RANKING}"
    cst.Query.from_text(query, descriptors=query_data.descriptor_set()).view().save(view)
    if not path.exists():
        requests = (query_data.Session.FromString(r) for batch in log.batches for r in batch)
        data.write_framed(
            path, (json_format.MessageToJson(r, indent=None).encode() for r in requests)
        )
    command = [VIEW_BENCH, view, path]
    runs = [json.loads(subprocess.check_output(command)) for _ in range(settings.rounds)]
    warm = statistics.median(run["warm"] for run in runs)
    ratio = warm / binary
    text = f"{ratio:.1f}x ({microseconds(warm, binary)})"
    label = "views, the ranking example, 32 requests in JSON, against binary ones, in C"
    return Figure(label, text, "≤ 2.5x", ratio <= 2.5)


def microseconds(own: float, other: float) -> str:
    return f"{own * 1e6:.0f} µs, {other * 1e6:.0f} µs"


def against_saved_model(settings: Settings, own: dict[str, float]) -> list[Figure]:
    folder, log = settings.folder / "ranking_saved_model", sessions(settings)
    if not folder.exists():
        command = [STRUCT2TENSOR, SCRIPT, "save", log.path, folder]
        subprocess.run(command, capture_output=True, check=True)
    theirs = struct2tensor("serve", log.path, folder)
    warm, two = statistics.median(theirs["warm"]), float(np.quantile(theirs["two"], 0.99))
    label, name = "views, the ranking example, against a SavedModel", "struct2tensor"
    saved = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    rows = [
        ("opened and the first 32 requests", own["first"], theirs["first"], 1000),
        ("32 requests, warm", own["warm"], warm, 20),
        ("32 requests, p99 of two threads", own["two_p99"], two, 20),
    ]
    made = [
        faster(f"{label}, {what}", name, other / mine, microseconds(mine, other), goal)
        for what, mine, other, goal in rows
    ]
    return [*made, Figure(f"{label}, size of that", f"{saved / 1000:.0f} kB")]


def rows(settings: Settings, results: Results) -> dict[str, Callable[[], None]]:
    """What `--only` can name, and what it does."""
    table = {
        "queries_struct2tensor": works,
        "queries_one_of_twenty": one_of_twenty,
        "queries_parquet": parquet_figures,
        "queries_served": served,
    }
    return {
        name: lambda measure=measure: results.figures.extend(measure(settings))
        for name, measure in table.items()
    }
