"""Kmv and HeavyHitters against tfx_bsl's KmvSketch and MisraGriesSketch: estimates, and serialised
forms both ways."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from columnstone import sketch
from tfx_bsl import sketches

RNG = np.random.default_rng(7)
COLUMNS = {
    "no values": pa.array([], pa.int64()),
    "integers": pa.array(RNG.integers(-(2**63), 2**63 - 1, 5000)),
    "small integers": pa.array([1, None, -5, 0, 127], pa.int8()),
    "uint64": pa.array([2**64 - 1, 0, 2**63], pa.uint64()),
    "floats": pa.array([1.5, -0.0, 0.0, math.nan, math.inf, -math.inf, 5e-324, 0.1, None]),
    "many floats": pa.array(RNG.standard_normal(4000) * 10.0 ** RNG.integers(-320, 300, 4000)),
    "float32": pa.array([0.1, 3.4e38, -1e-45], pa.float32()),
    "bytes": pa.array([bytes((i * 37 + 11) % 256 for i in range(n)) for n in range(300)]),
    "text": pa.array([f"value {i % 3000}" for i in range(9000)]),
}


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("buckets", [1, 2, 100, 100_000])
def test_kmv_is_the_same(name: str, buckets: int) -> None:
    theirs, ours = sketches.KmvSketch(buckets), sketch.Kmv(buckets)
    theirs.AddValues(COLUMNS[name])
    ours.add(COLUMNS[name])
    message = theirs.Serialize()
    assert ours.estimate == theirs.Estimate()
    if len(COLUMNS[name]) > 0:
        assert ours.to_tfx_bsl() == message
    again = sketch.Kmv.from_tfx_bsl(message)
    assert again.estimate == theirs.Estimate()
    if name != "uint64":  # what is loaded are int64
        again.add(COLUMNS[name])
    assert again.to_tfx_bsl() == message
    assert sketches.KmvSketch.Deserialize(ours.to_tfx_bsl()).Estimate() == theirs.Estimate()


def test_kmv_goes_on_as_theirs() -> None:
    halves = [pa.array([f"{i}" for i in range(k, k + 40_000)]) for k in (0, 25_000)]
    theirs = [sketches.KmvSketch(500) for _ in halves]
    for made, half in zip(theirs, halves, strict=True):
        made.AddValues(half)
    ours = sketch.Kmv.from_tfx_bsl(theirs[0].Serialize())
    ours.merge(sketch.Kmv.from_tfx_bsl(theirs[1].Serialize()))
    theirs[0].Merge(theirs[1])
    assert ours.to_tfx_bsl() == theirs[0].Serialize()


def rows(made: Any) -> list[tuple[bytes, float]]:
    return [(row["values"], row["counts"]) for row in made.Estimate().to_pylist()]


@pytest.mark.parametrize("buckets", [3, 50, 10_000])
def test_misra_gries_is_read_and_written(buckets: int) -> None:
    values = [f"w{v}" for v in np.minimum(RNG.zipf(1.3, 20_000), 3000).tolist()]
    exact = Counter(value.encode() for value in values)
    theirs = sketches.MisraGriesSketch(buckets)
    theirs.AddValues(pa.array(values))
    read = sketch.HeavyHitters.from_tfx_bsl(theirs.Serialize())
    upper = dict(rows(theirs))
    assert read.top(buckets)
    for value, low, high in read.top(buckets):
        assert low <= exact[value] <= high
        assert high == upper[value]
    ours = sketch.HeavyHitters(buckets)
    ours.add(values)
    written = sketches.MisraGriesSketch.Deserialize(ours.to_tfx_bsl())
    delta = max(0.0, len(values) / (buckets + 1))
    for value, high in rows(written):
        assert exact[value] <= high <= exact[value] + delta
    written.AddValues(pa.array(values))  # and it goes on
    assert rows(written)[0][0] == b"w1"


@pytest.mark.parametrize("name", ["integers", "floats", "small integers"])
def test_numbers_in_misra_gries(name: str) -> None:
    column = COLUMNS[name].slice(0, 50) if name == "integers" else COLUMNS[name]
    column = pa.array([v for v in column.to_pylist() if v is not None and str(v) != "-0.0"])
    theirs, ours = sketches.MisraGriesSketch(100), sketch.HeavyHitters(100)
    theirs.AddValues(column)
    ours.add(column)
    read = sketch.HeavyHitters.from_tfx_bsl(theirs.Serialize())
    assert [str(row) for row in read.top(100)] == [str(row) for row in ours.top(100)]
    assert rows(sketches.MisraGriesSketch.Deserialize(ours.to_tfx_bsl())) == rows(theirs)
