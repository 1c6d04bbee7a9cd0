"""The rows on sketches and statistics: values and tables in memory, against tfx_bsl's sketches,
those of the package datasketches, Polars and DuckDB."""

from __future__ import annotations

import pathlib
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

import data
import numpy as np
import timing
from decode_rows import BSL, TAXI, Settings
from report import Figure, Results, faster

sys.path.append(str(pathlib.Path(__file__).parents[1] / "python/tests"))  # browser

DATASKETCHES, POLARS, NUMPY = "datasketches", "Polars", "numpy"
PRECISION = 14  # 2^14 registers; tfx_bsl keeps as many hashes
COUNTERS = 1000
Call = Callable[[], object]


def count_of(settings: Settings) -> int:
    return 1_000_000 if settings.quick else 10_000_000


def different_strings(count: int) -> Any:
    """Strings of 8 bytes, nearly all different."""
    import pyarrow as pa

    letters = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz0123456789", np.uint8)
    chosen = letters[np.random.default_rng(data.SEED).integers(0, len(letters), (count, 8))]
    offsets = pa.py_buffer(np.arange(0, 8 * count + 1, 8, np.int32))
    return pa.Array.from_buffers(pa.string(), count, [None, offsets, pa.py_buffer(chosen)])


def zipf_strings(count: int) -> Any:
    """Words by Zipf's law, of 1 to 8 bytes; a fifth of all is the rarest, which stands for all that
    are rarer still."""
    import pyarrow as pa

    ranks = np.minimum(np.random.default_rng(data.SEED).zipf(1.1, count), 10_000_000)
    return pa.array(ranks).cast(pa.string())


def against(
    label: str, ours: Call, peers: Sequence[tuple[str, Call, float | None]], rounds: int
) -> list[Figure]:
    """CPU time of the whole process, the contenders in turns."""
    mine, *theirs = timing.seconds_of([ours, *(call for _, call, _ in peers)], rounds)
    return [
        faster(
            f"{label}, against {peer}",
            peer,
            seconds / mine,
            f"{mine * 1000:.0f} ms, {seconds * 1000:.0f} ms",
            goal,
        )
        for (peer, _, goal), seconds in zip(peers, theirs, strict=True)
    ]


def distinct(settings: Settings) -> list[Figure]:
    import datasketches
    import polars as pl
    import pyarrow as pa
    from columnstone import sketch
    from tfx_bsl import sketches

    values = different_strings(count_of(settings))
    exact = len(values.unique())
    binary, series, texts = values.cast(pa.binary()), pl.Series(values), values.to_pylist()

    def ours() -> float:
        made = sketch.Distinct(PRECISION)
        made.add(values)
        return made.estimate

    def kmv() -> object:
        made = sketches.KmvSketch(2**PRECISION)
        made.AddValues(binary)
        return made.Estimate()

    def by_update(made: Any) -> float:
        update = made.update
        for text in texts:
            update(text)
        return float(made.get_estimate())

    assert abs(ours() / exact - 1) < 0.03
    return against(
        f"distinct of {len(values):,} strings of 8 bytes",
        ours,
        [
            (BSL, kmv, 5),
            (f"{DATASKETCHES} HLL", lambda: by_update(datasketches.hll_sketch(PRECISION)), 2),
            (f"{DATASKETCHES} CPC", lambda: by_update(datasketches.cpc_sketch(12)), 2),
            (POLARS, series.approx_n_unique, 1),
        ],
        settings.rounds,
    )


def heavy_hitters(settings: Settings) -> list[Figure]:
    import datasketches
    import pyarrow as pa
    from columnstone import sketch
    from tfx_bsl import sketches

    values = zipf_strings(count_of(settings))
    binary, texts = values.cast(pa.binary()), values.to_pylist()

    def ours() -> list[Any]:
        made = sketch.HeavyHitters(COUNTERS)
        made.add(values)
        return made.top(10)

    def misra_gries() -> Any:
        made = sketches.MisraGriesSketch(COUNTERS)
        made.AddValues(binary)
        return made.Estimate()

    def frequent_items() -> Any:
        made = datasketches.frequent_strings_sketch(11)  # 0.75 * 2^11 counters
        for text in texts:
            made.update(text)
        return made.get_frequent_items(datasketches.frequent_items_error_type.NO_FALSE_NEGATIVES)

    assert [value.encode() for value, _, _ in ours()[:5]] == [
        row["values"] for row in misra_gries().to_pylist()[:5]
    ]
    return against(
        f"heavy hitters over {len(values):,} Zipf strings",
        ours,
        [(BSL, misra_gries, 5), (f"{DATASKETCHES} frequent items", frequent_items, 2)],
        settings.rounds,
    )


def moments(settings: Settings) -> list[Figure]:
    """Exact sums, and neither numpy's nor Polars' are: they round each step."""
    import math

    import polars as pl
    import pyarrow as pa
    from columnstone import sketch

    floats = np.random.default_rng(data.SEED).normal(size=count_of(settings))
    values, series = pa.array(floats), pl.Series(floats)

    def ours() -> sketch.MomentsFound:
        made = sketch.Moments()
        made.add(values)
        return made.found()

    assert ours().sum == math.fsum(floats)
    return against(
        f"moments of {len(values):,} doubles",
        ours,
        [
            (NUMPY, lambda: (floats.mean(), floats.std(), floats.min(), floats.max()), None),
            (POLARS, lambda: (series.mean(), series.std(), series.min(), series.max()), None),
        ],
        settings.rounds,
    )


def two_columns(settings: Settings) -> list[Figure]:
    from columnstone import sketch

    random = np.random.default_rng(data.SEED)
    x = random.normal(size=count_of(settings) // 10)
    y = x + random.normal(size=len(x))

    def ours() -> float:
        made = sketch.Correlation()
        made.add(x, y)
        return made.correlation

    assert abs(ours() - np.corrcoef(x, y)[0, 1]) < 1e-9
    return against(
        f"correlation of two columns of {len(x):,} doubles",
        ours,
        [(NUMPY, lambda: np.corrcoef(x, y), None)],
        settings.rounds,
    )


def histogram(settings: Settings) -> list[Figure]:
    import pyarrow as pa
    from columnstone import sketch

    floats = np.random.default_rng(data.SEED).normal(size=count_of(settings))
    values = pa.array(floats)

    def ours() -> list[int]:
        made = sketch.Histogram(-4, 4, 50)
        made.add(values)
        return made.counts

    assert ours() == np.histogram(floats, 50, (-4, 4))[0].tolist()
    return against(
        f"histogram of {len(values):,} doubles, 50 buckets",
        ours,
        [(NUMPY, lambda: np.histogram(floats, 50, (-4, 4)), None)],
        settings.rounds,
    )


def quantiles(settings: Settings) -> list[Figure]:
    import datasketches
    import pyarrow as pa
    from columnstone import sketch
    from tfx_bsl import sketches

    values = np.random.default_rng(data.SEED).random(count_of(settings))
    floats, column = values.astype(np.float32), pa.array(values)

    def ours(tails: Any = "none") -> sketch.Quantiles:
        made = sketch.Quantiles(0.01, tails=tails)
        made.add(column)
        return made

    def weighted() -> sketch.Quantiles:
        made = sketch.Quantiles(0.01)
        made.add(column, column)
        return made

    def by_update(made: Any, column: Any) -> Any:
        made.update(column)
        return made

    def summaries(*weights: Any) -> Any:
        made = sketches.QuantilesSketch(0.01, 2**32, 1)
        made.AddValues(column, *weights)
        return made

    for made in (ours(), ours("high")):
        assert abs(made.quantiles([0.9])[0] - 0.9) < 0.01
    label = f"quantiles of {len(values):,} doubles, error 1 %"
    kll = datasketches.kll_doubles_sketch
    return [
        *against(
            label,
            ours,
            [
                (BSL, summaries, 5),
                # The k whose rank error is 1 %.
                (f"{DATASKETCHES} KLL", lambda: by_update(kll(275), values), 2),
            ],
            settings.rounds,
        ),
        *against(
            f"{label}, exact at the high tail",
            lambda: ours("high"),
            [
                (
                    f"{DATASKETCHES} REQ",
                    lambda: by_update(datasketches.req_floats_sketch(36), floats),
                    2,
                )
            ],
            settings.rounds,
        ),
        *against(
            f"{label}, weighted",
            weighted,
            [(BSL, lambda: summaries(column), None)],
            settings.rounds,
        ),
    ]


def of_table(settings: Settings) -> list[Figure]:
    """All features of the taxi data, from Arrow batches in memory, by one thread each."""
    if not TAXI.is_dir():
        return []
    import duckdb
    import polars as pl
    import pyarrow as pa
    import pyarrow.parquet as pq
    from columnstone.accumulate import Accumulator

    one = pq.read_table(TAXI / "trips.parquet")  # type: ignore[no-untyped-call]
    table = pa.concat_tables([one] * (4 if settings.quick else 40)).combine_chunks()
    frame = pl.DataFrame(table)
    connection = duckdb.connect(config={"threads": 1})

    def ours() -> int:
        made = Accumulator("statistics")
        for batch in table.to_batches(max_chunksize=8192):
            made.add(batch)
        return made.finish().num_rows

    def summarize() -> Any:
        connection.register("trips", table)
        return connection.execute("SUMMARIZE trips").fetchall()

    def describe() -> Any:
        return frame.describe(), frame.select(pl.all().approx_n_unique())

    assert ours() == table.num_columns == len(summarize())
    return against(
        f"statistics of {table.num_rows:,} rows of {table.num_columns} features",
        ours,
        [("DuckDB SUMMARIZE", summarize, 3), (f"{POLARS} describe", describe, 0.7)],
        settings.rounds,
    )


def page(settings: Settings) -> list[Figure]:
    """How long a browser takes until the page is there, and its script has run."""
    import browser
    import columnstone as cst
    import pyarrow as pa

    if browser.program() is None:
        return []
    rng = np.random.default_rng(data.SEED)
    columns: dict[str, Any] = {f"number_{i}": rng.lognormal(size=3000) for i in range(600)}
    columns |= {f"text_{i}": [f"v{n}" for n in rng.zipf(1.5, 3000)] for i in range(400)}
    html = cst.statistics(pa.table(columns)).to_html()
    taken = []
    with tempfile.TemporaryDirectory() as folder, browser.browser() as chromium:
        path = pathlib.Path(folder, "page.html")
        path.write_text(html)
        for _ in range(settings.rounds):
            chromium.open(path)
            timed = "performance.getEntriesByType('navigation')[0].loadEventEnd"
            taken.append(chromium.value(timed) / 1000)
            assert chromium.value("document.querySelectorAll('button.name').length") > 0
    seconds, megabytes = statistics.median(taken), len(html) / 1e6
    label = "page of 1,000 features"
    return [
        Figure(f"open the {label} in Chromium", f"{seconds:.2f} s", "< 1 s", seconds < 1),
        Figure(f"size of the {label}", f"{megabytes:.2f} MB", "< 3 MB", megabytes < 3),
    ]


def rows(settings: Settings, results: Results) -> dict[str, Callable[[], None]]:
    return {
        "stats_quantiles": lambda: results.figures.extend(quantiles(settings)),
        "stats_distinct": lambda: results.figures.extend(distinct(settings)),
        "stats_moments": lambda: results.figures.extend(moments(settings)),
        "stats_histogram": lambda: results.figures.extend(histogram(settings)),
        "stats_two_columns": lambda: results.figures.extend(two_columns(settings)),
        "stats_table": lambda: results.figures.extend(of_table(settings)),
        "stats_page": lambda: results.figures.extend(page(settings)),
        "stats_heavy_hitters": lambda: results.figures.extend(heavy_hitters(settings)),
    }
