"""columnstone.sketch.HeavyHitters: true weights in the bounds, always."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

import columnstone as cst
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from columnstone import sketch
from hypothesis import given, settings
from hypothesis import strategies as st
from merging import merged


def check(made: sketch.HeavyHitters, size: int, values: list[Any], weights: list[float]) -> None:
    truth: dict[Any, float] = defaultdict(float)
    for value, weight in zip(values, weights, strict=True):
        truth[value] += weight
    most = math.fsum(weights) / (size + 1) * (1 + 1e-12)
    found = made.top(10**9)
    assert len(found) <= 2 * size
    for value, lower, upper in found:
        exact = truth.pop(value)
        assert lower <= exact * (1 + 1e-12)
        assert exact <= upper * (1 + 1e-12)
        assert upper - lower <= most
    assert all(weight <= most for weight in truth.values())
    assert found == sorted(found, key=lambda row: (-row[2], row[0]))


ORDERS = {
    "zipf": lambda rng: np.minimum(rng.zipf(1.2, 4000), 10**6),
    "sorted": lambda rng: np.sort(rng.integers(0, 900, 4000)),
    "reversed": lambda rng: np.sort(rng.integers(0, 900, 4000))[::-1],
    "constant": lambda rng: np.full(4000, 7),
    "alternating": lambda rng: np.where(np.arange(4000) % 2 == 0, -1, np.arange(4000)),
    "all different": lambda rng: rng.permutation(4000),
    "late": lambda rng: np.concatenate([np.arange(3000), np.full(1000, -5)]),
}


@pytest.mark.parametrize("order", ORDERS)
def test_bounds_over_many_seeds(order: str) -> None:
    for seed in range(150):
        rng = np.random.default_rng(seed)
        values = ORDERS[order](rng)
        size = int(rng.integers(1, 200))
        weights = np.ones(len(values)) if seed % 2 else rng.integers(0, 9, len(values)) / 4
        made = sketch.HeavyHitters(size, seed=seed)
        made.add(values, None if seed % 2 else weights)
        check(made, size, values.tolist(), weights.tolist())


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_any_tree_of_merges_keeps_the_bounds(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 12))
    item = st.one_of(st.sampled_from(["a", "b", "c"]), st.text("abc", max_size=20))
    weight = st.sampled_from([0.0, 1.0, 0.25, 3.0, 1000.0])
    columns = data.draw(
        st.lists(st.lists(st.tuples(item, weight), max_size=60), min_size=1, max_size=7)
    )
    parts = []
    for rows in columns:
        parts.append(sketch.HeavyHitters(size))
        parts[-1].add(pa.array([r[0] for r in rows], pa.string()), [r[1] for r in rows])
    one = merged(parts, data)
    every = [row for rows in columns for row in rows]
    check(one, size, [r[0] for r in every], [r[1] for r in every])


def test_few_are_exact_in_any_order() -> None:
    rng = np.random.default_rng(1)
    values = rng.integers(0, 2000, 20_000)
    exact = pl.Series(values).value_counts(name="n").sort(["n", ""], descending=[True, False])
    forwards, backwards = sketch.HeavyHitters(), sketch.HeavyHitters()
    forwards.add(values)
    backwards.add(values[::-1])
    assert forwards.top(50) == [(v, n, n) for v, n in exact.head(50).rows()]
    assert bytes(forwards) == bytes(backwards)


def test_how_values_come_out() -> None:
    for column, expected in [
        (pa.array([], pa.int64()), []),
        (pa.nulls(2), []),
        (pa.array([3, None, 3]), [(3, 2, 2)]),
        (pa.array([2**64 - 1], pa.uint64()), [(2**64 - 1, 1, 1)]),
        (pa.array([-0.0, 0.0, 1.5]), [(0.0, 2, 2), (1.5, 1, 1)]),
        (pa.array(["b", "a", "b", "é"]), [("b", 2, 2), ("a", 1, 1), ("é", 1, 1)]),
        (pa.array([b"\xff", b""]), [(b"", 1, 1), (b"\xff", 1, 1)]),
        (pa.array([["x"], None, ["x", "y"]]), [("x", 2, 2), ("y", 1, 1)]),
        (pa.array([True, False, True]), [(1, 2, 2), (0, 1, 1)]),
        (pa.array([86_400_000], pa.timestamp("ms")), [(86_400_000, 1, 1)]),
    ]:
        made = sketch.HeavyHitters(5)
        made.add(column)
        assert made.top() == expected
        assert sketch.HeavyHitters.from_bytes(bytes(made)).top() == expected
    nans = sketch.HeavyHitters(5)
    nans.add([math.nan, -math.nan, math.inf, -math.inf])
    values = [value for value, _, _ in nans.top()]
    assert math.isnan(values[0])
    assert values[1:] == [-math.inf, math.inf]


def test_text_and_binary_together_are_bytes() -> None:
    text, binary = sketch.HeavyHitters(), sketch.HeavyHitters()
    text.add(["a"])
    binary.add([b"a"])
    assert text.top() == [("a", 1, 1)]
    text.merge(binary)
    assert text.top() == [(b"a", 2, 2)]


def test_values_of_a_megabyte() -> None:
    made = sketch.HeavyHitters(2, longest=17)
    long = ["é" * 500_000, "é" * 500_000 + "a", "b" * 1_000_000, "b" * 999_999 + "c"]
    made.add([*long, long[0], long[2], long[2]])
    assert made.top() == [
        ("b" * 17, 3, 3),
        ("é" * 8, 2, 2),
        ("b" * 17, 1, 1),
        ("é" * 8, 1, 1),
    ]
    assert made.memory < 2000
    again = sketch.HeavyHitters.from_bytes(bytes(made))
    again.add([long[2]])
    assert again.top(1) == [("b" * 17, 4, 4)]


def test_weights_of_any_size() -> None:
    made = sketch.HeavyHitters(3)
    made.add(["none", "tiny", "huge", "huge"], weights=[0, 5e-324, 1e300, 1e300])
    assert made.top() == [("huge", 2e300, 2e300), ("tiny", 5e-324, 5e-324)]
    for _ in range(3):
        made.add(["huge"], weights=[1.7e308])
    assert made.top(1)[0][1:] == (1.7976931348623157e308,) * 2


def test_options() -> None:
    for bad in ({"size": 0}, {"size": 10**7}, {"longest": 15}, {"seed": -1}):
        with pytest.raises(cst.errors.ArgumentError):
            sketch.HeavyHitters(**bad)
    with pytest.raises(cst.errors.ArgumentError, match="size differs"):
        sketch.HeavyHitters(3).merge(sketch.HeavyHitters(4))
    with pytest.raises(cst.errors.ArgumentError):
        sketch.HeavyHitters().top(-1)
    assert sketch.HeavyHitters().top(0) == []
