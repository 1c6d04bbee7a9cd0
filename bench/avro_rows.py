"""The rows on Avro: nested sessions decoded, one field of them, and written, against fastavro,
Polars and DataFusion. There are no maps in them: Polars panics on those."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Any

import contenders as c
import data
import fastavro
import numpy as np
import timing
from decode_rows import Settings
from report import Figure, Results, faster, rate

ROWS = 100_000
SCHEMA: dict[str, Any] = {
    "type": "record",
    "name": "Session",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "user", "type": ["null", "string"]},
        {"name": "country", "type": "string"},
        {
            "name": "event",
            "type": {
                "type": "array",
                "items": {
                    "type": "record",
                    "name": "Event",
                    "fields": [
                        {"name": "query", "type": "string"},
                        {"name": "price", "type": ["null", "double"]},
                        {"name": "shown", "type": {"type": "array", "items": "long"}},
                        {"name": "clicked", "type": "boolean"},
                    ],
                },
            },
        },
    ],
}
# For each peer how many times as fast ours is to be: plain, deflate, one field, encoding.
GOALS: dict[str, tuple[float | None, float | None, float | None, float | None]] = {
    "fastavro": (100, 50, None, 50),
    "Polars": (10, 5, 15, 5),
    "DataFusion": (8, 4, 15, None),
}


def sessions(rows: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng(data.SEED)
    counts, words = rng.integers(0, 8, rows).tolist(), ["tea", "tea pot", "blue cup", "a café"]
    made = []
    for i, count in enumerate(counts):
        events = [
            {
                "query": words[(i + k) % 4],
                "price": None if (i + k) % 3 == 0 else (i % 997) / 4,
                "shown": [i * 7 + k, i, k][: (i + k) % 4],
                "clicked": (i + k) % 2 == 0,
            }
            for k in range(count)
        ]
        user = None if i % 5 == 0 else f"user{i % 10007}"
        made.append({"id": i, "user": user, "country": "ITDEFR"[i % 3 * 2 :][:2], "event": events})
    return made


def made(settings: Settings, codec: str) -> pathlib.Path:
    rows = ROWS // 10 if settings.quick else ROWS
    path = settings.folder / f"sessions-{rows}-{codec}.avro"
    if not path.exists():
        settings.folder.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as out:
            fastavro.writer(out, SCHEMA, sessions(rows), codec=codec, sync_interval=64 << 10)
    return path


# Reading: the path of a file, and a column or None


def ours(column: str | None) -> c.Contender:
    import columnstone as cst

    def run(path: str) -> None:
        for batch in cst.open(path, columns=column and [column], batch_size=8192):
            del batch

    return c.Contender("columnstone", c.as_is, run)


def by_fastavro(column: str | None) -> c.Contender:
    """Rows as dictionaries: what Arrow would be made of."""

    def run(path: str) -> None:
        with open(path, "rb") as file:
            for row in fastavro.reader(file):
                del row

    return c.Contender("fastavro", c.as_is, run)


def by_polars(column: str | None) -> c.Contender:
    import polars

    return c.Contender(
        "Polars", c.as_is, lambda path: polars.read_avro(path, columns=column and [column])
    )


def by_datafusion(column: str | None) -> c.Contender:
    import datafusion

    def run(path: str) -> None:
        config = datafusion.SessionConfig().with_target_partitions(1)
        frame = datafusion.SessionContext(config).read_avro(path)
        (frame.select(column) if column else frame).collect()

    return c.Contender("DataFusion", c.as_is, run)


READERS: dict[str, Callable[[str | None], c.Contender]] = {
    "fastavro": by_fastavro,
    "Polars": by_polars,
    "DataFusion": by_datafusion,
}


def decoding(
    settings: Settings, peer: str, codec: str, column: str | None, goal: float | None
) -> Figure:
    path = made(settings, codec)
    size = path.stat().st_size / 1e6
    contenders = [ours(column), READERS[peer](column)]
    mine, theirs = timing.interleaved(contenders, [str(path)], False, settings.rounds)
    details = f"{rate(size / mine)}, {rate(size / theirs)}"
    what = f"the field {column}" if column else "all fields"
    name = f"Avro ({codec}), {what} to Arrow, against {peer} (CPU time)"
    return faster(name, peer, theirs / mine, details, goal)


# Writing: a table in memory


def ours_writes(path: pathlib.Path) -> c.Contender:
    import columnstone as cst

    return c.Contender(
        "columnstone",
        c.as_is,
        lambda table: cst.write(table, path, overwrite=True, avro_codec="null"),
    )


def fastavro_writes(path: pathlib.Path) -> c.Contender:
    def run(table: Any) -> None:
        with path.open("wb") as out:
            fastavro.writer(out, SCHEMA, table.to_pylist(), codec="null")

    return c.Contender("fastavro", c.as_is, run)


def polars_writes(path: pathlib.Path) -> c.Contender:
    import polars

    return c.Contender("Polars", polars.from_arrow, lambda frame: frame.write_avro(path))


WRITERS = {"fastavro": fastavro_writes, "Polars": polars_writes}


def encoding(settings: Settings, peer: str, goal: float | None) -> Figure:
    import columnstone as cst
    import pyarrow as pa

    out = settings.folder / "written.avro"
    table = pa.table(cst.open(made(settings, "null")))
    contenders = [ours_writes(out), WRITERS[peer](out)]
    mine, theirs = timing.interleaved(contenders, [table], False, settings.rounds)
    size = made(settings, "null").stat().st_size / 1e6
    details = f"{rate(size / mine)}, {rate(size / theirs)}"
    name = f"Arrow to Avro (null), against {peer} (CPU time)"
    return faster(name, peer, theirs / mine, details, goal)


def rows(settings: Settings, results: Results) -> dict[str, Callable[[], None]]:
    """What `--only` can name, and what it does."""
    found: dict[str, Callable[[], None]] = {}

    def add(name: str, figure: Callable[..., Figure], *given: Any) -> None:
        found[name] = lambda: results.figures.append(figure(settings, *given))

    for peer, (plain, packed, one, encoded) in GOALS.items():
        short = peer.lower()
        add(f"avro_plain_{short}", decoding, peer, "null", None, plain)
        add(f"avro_deflate_{short}", decoding, peer, "deflate", None, packed)
        if one is not None:
            add(f"avro_field_{short}", decoding, peer, "null", "country", one)
        if encoded is not None:
            add(f"avro_encode_{short}", encoding, peer, encoded)
    return found
