"""The demo's protobuf messages: what a web shop logs, one shop.Session per visit.

The types are those of tests/data/messages/shop.proto, by its descriptor set, which
`protoc --include_imports -o shop.desc shop.proto` has made. The sessions are made up.
"""

from __future__ import annotations

import datetime
import math
import os
import pathlib
import random
from typing import Any

import columnstone as cst
import pyarrow as pa

TOP = pathlib.Path(os.path.relpath(pathlib.Path(__file__).parents[1]))
DESCRIPTORS = TOP / "tests" / "data" / "messages" / "shop.desc"
MESSAGE = "shop.Session"
SESSIONS, SHARDS = 30_000, 2
FIRST = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
THINGS = ["shoes", "socks", "a hat", "gloves", "a scarf"]


def event(chance: random.Random) -> dict[str, Any]:
    query = chance.choice(THINGS)
    result = [
        {"sku": f"{query[-3:]}-{n}", "price": 5 + n / 4, "score": chance.randrange(100) / 100}
        for n in chance.sample(range(100), chance.randrange(4))
    ]
    return {"query": query, "result": result, "clicked": False, "price": None}


def appeal(event: dict[str, Any]) -> float:
    """What visitors want: results that fit, cheap ones, and shoes."""
    best = max(item["score"] for item in event["result"])
    cheapest = min(item["price"] for item in event["result"])
    return math.exp(5 * best - 0.15 * cheapest + (event["query"] == "shoes"))


def session(number: int, chance: random.Random) -> dict[str, Any]:
    """As Python values; what is None is absent in the message."""
    events = [event(chance) for _ in range(chance.randrange(7))]
    found = [e for e in events if e["result"]]
    bought = None
    if found and chance.random() < 0.7:
        bought = chance.choices(found, [appeal(e) for e in found])[0]
        bought.update(clicked=True, price=bought["result"][0]["price"])
    return {
        "id": number,
        "user": chance.choice(["ann", "bob", None]),
        "at": FIRST + datetime.timedelta(minutes=number),
        "device": chance.choice(["PHONE", "TABLET", "DESKTOP"]),
        "event": events,
        "labels": [("country", chance.choice(["CH", "NZ"]))],
        "card": "visa" if bought else None,
    }


def write_sessions(out: pathlib.Path) -> list[pathlib.Path]:
    """Gzip TFRecord shards of serialized messages, by our encoder."""
    chance = random.Random(13)
    encoder = cst.encoder("message", message=MESSAGE, descriptors=DESCRIPTORS)
    schema = pa.schema(
        cst.decoder("message", message=MESSAGE, descriptors=DESCRIPTORS).arrow_schema
    )
    paths = []
    for shard in range(SHARDS):
        numbers = range(shard, SESSIONS, SHARDS)
        rows = [session(number, chance) for number in numbers]
        paths.append(out / f"sessions-{shard:05}-of-{SHARDS:05}.tfrecord.gz")
        with cst.codec.TFRecordWriter(paths[-1]) as writer:
            writer.write_batch(encoder.encode(pa.RecordBatch.from_pylist(rows, schema)))
    return paths


def prices_by_query(pattern: str) -> dict[str, float]:
    """The mean price of what was bought, by what was asked for: two leaves of the messages, all
    others are stepped over."""
    wanted = ["event.query", "event.price"]
    source = cst.open(pattern, message=MESSAGE, descriptors=DESCRIPTORS, columns=wanted, threads=2)
    events = pa.chunked_array([batch["event"].values for batch in map(pa.record_batch, source)])
    table = pa.Table.from_struct_array(events)
    means = table.group_by("query").aggregate([("price", "mean")]).to_pylist()
    return {row["query"]: row["price_mean"] for row in sorted(means, key=lambda r: r["query"])}
