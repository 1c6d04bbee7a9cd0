"""The rows on records in memory: decoding and encoding, ours against tfx_bsl and TensorFlow."""

from __future__ import annotations

import dataclasses
import gzip
import pathlib
import struct
from collections.abc import Callable, Iterator
from typing import Any

import contenders as c
import data
import timing
from report import Comparison, Figure, Results, Speed

BSL, TF = "tfx_bsl", "tf.io.parse_example"


@dataclasses.dataclass(frozen=True)
class Settings:
    folder: pathlib.Path
    quick: bool
    rounds: int

    def records(self, name: str) -> tuple[data.Dataset, list[bytes]]:
        made = data.make(name, self.folder)
        records = made.records()
        return made, records[: len(records) // 10] if self.quick else records


@dataclasses.dataclass(frozen=True)
class DecodeRow:
    key: str
    label: str
    dataset: str
    goals: dict[str, float]
    kept_goals: dict[str, float] = dataclasses.field(default_factory=dict)
    columns: tuple[str, ...] | None = None


DECODE = [
    DecodeRow("click", "click log, one order", "click", {BSL: 25, TF: 15}, {BSL: 15}),
    DecodeRow(
        "click_random", "click log, random order", "click_random", {BSL: 18, TF: 15}, {BSL: 15}
    ),
    DecodeRow("wide", "wide, one order", "wide", {BSL: 13, TF: 10}),
    DecodeRow("wide_random", "wide, random order", "wide_random", {BSL: 11, TF: 8}),
    DecodeRow(
        "wide_3", "wide, 3 of 300 wanted", "wide", {BSL: 18, TF: 8}, {}, tuple(data.WIDE_WANTED)
    ),
    DecodeRow("embed", "1024-float embeddings", "embed", {BSL: 10, TF: 6}),
    DecodeRow("image", "100 kB image bytes", "image", {BSL: 4, TF: 10}),
]


def speed(
    runners: list[c.Contender], batches: list[Any], size: int, keep: bool, rounds: int
) -> Speed:
    seconds = timing.interleaved(runners, batches, keep, rounds)
    return Speed({r.name: size / 1e6 / s for r, s in zip(runners, seconds, strict=True)})


def compare(
    label: str,
    runners: list[c.Contender],
    batches: list[Any],
    size: int,
    goals: dict[str, float],
    rounds: int,
    kept_goals: dict[str, float] | None = None,
) -> Comparison:
    released = speed(runners, batches, size, False, rounds)
    kept = speed(runners, batches, size, True, rounds)
    return Comparison(label, released, kept, goals, kept_goals or {})


def decode_row(row: DecodeRow, settings: Settings) -> Comparison:
    made, records = settings.records(row.dataset)
    columns = list(row.columns) if row.columns else None
    fields = [f for f in made.fields if columns is None or f[0] in columns]
    runners = [
        c.ours(made.schema_text(), columns),
        c.tfx_bsl_decoder(made.schema_text(columns)),
        *c.tf_parsers(fields, {}),
    ]
    batches = timing.batches_of(records)
    size = sum(map(len, records))
    return compare(row.label, runners, batches, size, row.goals, settings.rounds, row.kept_goals)


def image_views(settings: Settings) -> Comparison:
    """Views into an Arrow binary input against tfx_bsl's copy from a list of bytes."""
    made, records = settings.records("image")
    runners = [c.ours_views(made.schema_text()), c.tfx_bsl_decoder(made.schema_text())]
    return compare(
        "100 kB image bytes, views of Arrow input",
        runners,
        timing.batches_of(records),
        sum(map(len, records)),
        {BSL: 50},
        settings.rounds,
    )


def encode_click(settings: Settings) -> Comparison:
    made, records = settings.records("click")
    decode = c.tfx_bsl_decoder(made.schema_text()).run
    columns = [decode(batch) for batch in timing.batches_of(records)]
    return compare(
        "encode the click log",
        [c.ours_encoder(), c.tfx_bsl_encoder()],
        columns,
        sum(map(len, records)),
        {BSL: 15},
        settings.rounds,
    )


def schemaless(settings: Settings, name: str) -> Figure:
    made, records = settings.records(name)
    runners = [c.ours(None), c.ours(made.schema_text())]
    without, with_schema = timing.interleaved(
        runners, timing.batches_of(records), False, settings.rounds
    )
    share = with_schema / without
    return Figure(
        f"decoding without a schema, speed against decoding with one ({name})",
        f"{share:.0%}",
        "≥ 85 %",
        share >= 0.85,
    )


def list_input(settings: Settings) -> Figure:
    """A list of bytes against the same records side by side in an Arrow array."""
    made, records = settings.records("click")
    runners = [c.ours(made.schema_text()), c.ours_arrow(made.schema_text())]
    of_list, of_arrow = timing.interleaved(
        runners, timing.batches_of(records), False, settings.rounds
    )
    share = of_list / of_arrow - 1
    return Figure(
        "decoding a list of bytes, time beyond that of Arrow input (click)",
        f"{share:.0%}",
        "≤ 5 %",
        share <= 0.05,
    )


def image_copies(settings: Settings) -> list[Figure]:
    """Images that are copied out of their records, against one memcpy of the same records."""
    made, records = settings.records("image")
    runners = [c.ours(made.schema_text()), c.ours(None), c.memcpy(sum(map(len, records)))]
    with_schema, without, copied = timing.interleaved(
        runners, [records], False, max(settings.rounds, 9)
    )
    return [
        Figure(
            f"100 kB image bytes, {how} a schema, speed against memcpy into warm memory",
            f"{copied / seconds:.0%}",
            "≥ 90 %",
            copied / seconds >= 0.9,
        )
        for how, seconds in (("with", with_schema), ("without", without))
    ]


# The schema beside the data was written by hand; the records have floats in these features.
TAXI_FLOATS = [
    "dropoff_census_tract",
    "dropoff_community_area",
    "trip_seconds",
]
TAXI = pathlib.Path(__file__).resolve().parents[2] / "shared" / "data" / "taxi"


def taxi_records() -> Iterator[bytes]:
    for path in sorted(TAXI.glob("trips-*.tfrecord.gz")):
        blob = gzip.decompress(path.read_bytes())
        at = 0
        while at < len(blob):
            (length,) = struct.unpack_from("<Q", blob, at)
            yield blob[at + 12 : at + 12 + length]
            at += length + 16


def taxi_fields() -> list[tuple[str, str]]:
    """The features and the types that they have in the records."""
    kinds = {1: "BYTES", 2: "INT", 3: "FLOAT"}
    schema = c.schema_proto((TAXI / "schema.pbtxt").read_text())
    return [(f.name, "FLOAT" if f.name in TAXI_FLOATS else kinds[f.type]) for f in schema.feature]


def taxi(settings: Settings) -> Comparison | None:
    """Real data: Chicago taxi trips, with TensorFlow's spec made from the same schema."""
    if not TAXI.is_dir():
        print("  (the taxi data is not beside the repository)", flush=True)
        return None
    fields = taxi_fields()
    text = data.schema_text(fields)
    records = list(taxi_records())
    return compare(
        "taxi trips (real data)",
        [c.ours(text), c.tfx_bsl_decoder(text), *c.tf_parsers(fields, {})],
        timing.batches_of(records),
        sum(map(len, records)),
        {},
        settings.rounds,
    )


def rows(settings: Settings, results: Results) -> dict[str, Callable[[], None]]:
    """What `--only` can name, and what it does."""

    def add(comparison: Comparison | None) -> None:
        if comparison is not None:
            results.comparisons.append(comparison)

    table: dict[str, Callable[[], None]] = {}
    for row in DECODE:
        table[row.key] = lambda row=row: add(decode_row(row, settings))
    table["image_views"] = lambda: add(image_views(settings))
    table["click_list"] = lambda: results.figures.append(list_input(settings))
    table["image_memcpy"] = lambda: results.figures.extend(image_copies(settings))
    table["encode"] = lambda: add(encode_click(settings))
    table["taxi"] = lambda: add(taxi(settings))
    for name in ("click", "wide"):
        table[f"schemaless_{name}"] = lambda name=name: results.figures.append(
            schemaless(settings, name)
        )
    return table
