"""columnstone.sketch.Distinct: against exact counts, in any order and any tree of merges."""

from __future__ import annotations

import math

import columnstone as cst
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from columnstone import sketch
from hypothesis import given, settings
from hypothesis import strategies as st
from merging import merged

COLUMNS = [
    pa.array([], pa.int64()),
    pa.array([7], pa.int64()),
    pa.array([-1, 0, 1, -1, None], pa.int32()),
    pa.array([0, 2**64 - 1, 2**63], pa.uint64()),
    pa.array([0.0, -0.0, math.nan, -math.nan, math.inf, -math.inf, 1.5, None]),
    pa.array(["", "a", "b", "a", None, "a" * 1_000_000, "a" * 999_999 + "b"]),
    pa.array([b"", b"\x00", b"\x00\x00"]),
    pa.array([[1, 2, None], None, [], [2, 3]]),
    pa.array(["x", "y", "x"]).dictionary_encode(),
    pa.array([True, False, None, True]),
]
EXACT = [0, 1, 3, 3, 5, 5, 3, 3, 2, 2]


@pytest.mark.parametrize("column, exact", list(zip(COLUMNS, EXACT, strict=True)))
def test_few_are_exact(column: pa.Array, exact: int) -> None:
    made = sketch.Distinct()
    made.add(column)
    assert made.estimate == exact
    assert made.bounds(3) == (exact, exact)


def test_integers_of_all_widths_are_one_value() -> None:
    made = sketch.Distinct()
    for kind in (pa.int8(), pa.uint8(), pa.int64(), pa.uint32()):
        made.add(pa.array([1, 2], kind))
    made.add([True])
    assert made.estimate == 2


def texts(count: int, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    return [f"{i:x}" * (1 + i % 4) for i in rng.integers(0, 2**62, count).tolist()]


@pytest.mark.parametrize("count", [1536, 1537, 30_000, 300_000])
def test_texts_against_polars(count: int) -> None:
    values = texts(count, count) * 2
    exact = pl.Series(values).n_unique()
    made = sketch.Distinct()
    made.add(values)
    lower, upper = made.bounds(4)
    assert lower <= exact <= upper
    assert abs(made.estimate / exact - 1) < 0.024
    assert made.memory < 20_000


def test_bounds_over_many_seeds() -> None:
    """Of 1,200 seeds and kinds of data, so many are outside as a normal distribution says."""
    orders = [
        np.arange(3000),
        np.arange(3000)[::-1] * 8,
        np.repeat(np.arange(3000), 2) << 40,
        np.arange(3000) / 7,
        np.arange(3000) * 1e-300,
    ]
    outside = [0, 0, 0, 0]
    runs = 1200
    for seed in range(runs):
        made = sketch.Distinct(10, seed=seed)
        made.add(orders[seed % len(orders)])
        for k in (1, 2, 3):
            lower, upper = made.bounds(k)
            outside[k] += not lower <= 3000 <= upper
    assert 0.25 < outside[1] / runs < 0.39
    assert outside[2] / runs < 0.075
    assert outside[3] / runs < 0.012


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_tree_of_merges_gives_the_same_bytes(data: st.DataObject) -> None:
    precision = data.draw(st.integers(4, 12))
    sizes = data.draw(st.lists(st.sampled_from([0, 1, 2, 20, 100, 700]), min_size=1, max_size=8))
    values = np.random.default_rng(len(sizes)).permutation(sum(sizes)) // 2
    whole = sketch.Distinct(precision)
    whole.add(values)
    parts = []
    for part in np.split(values, np.cumsum(sizes)[:-1]):
        parts.append(sketch.Distinct(precision))
        parts[-1].add(part)
    one = merged(parts, data)
    assert bytes(one) == bytes(whole)
    assert one.estimate == whole.estimate


def test_options() -> None:
    for bad in ({"precision": 3}, {"precision": 19}, {"seed": -1}):
        with pytest.raises(cst.errors.ArgumentError):
            sketch.Distinct(**bad)
    one, other = sketch.Distinct(seed=1), sketch.Distinct(seed=2)
    with pytest.raises(cst.errors.ArgumentError, match="seed differs"):
        one.merge(other)
    with pytest.raises(cst.errors.ArgumentError):
        one.bounds(-1)
    with pytest.raises(cst.errors.ArgumentError):
        one.bounds(math.nan)
    sketch.Distinct().merge(sketch.Distinct(seed=0))


def test_damage_is_refused() -> None:
    made = sketch.Distinct(6)
    made.add(range(1000))
    saved = bytes(made)
    for i in range(0, len(saved), 5):
        with pytest.raises(cst.errors.CorruptError):
            sketch.Distinct.from_bytes(saved[:i] + bytes([saved[i] ^ 4]) + saved[i + 1 :])
    with pytest.raises(cst.errors.ArgumentError):
        sketch.HeavyHitters.from_bytes(saved)
