"""columnstone.sketch.Histogram against numpy.histogram."""

from __future__ import annotations

import math
from typing import Any

import columnstone as cst
import numpy as np
import pytest
from columnstone import sketch
from hypothesis import given, settings
from hypothesis import strategies as st

ENDS = st.tuples(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.integers(1, 40))


def made(values: Any, weights: Any, ends: tuple[float, float, int]) -> sketch.Histogram:
    histogram = sketch.Histogram(ends[0], ends[0] + ends[1], ends[2])
    histogram.add(values, weights)
    return histogram


@st.composite
def columns(draw: st.DrawFn) -> tuple[Any, Any, tuple[float, float, int]]:
    """Values, many of them at or beside edges; weights or none; ends."""
    ends = draw(ENDS)
    edges = np.linspace(ends[0], ends[0] + ends[1], ends[2] + 1)
    beside = st.builds(
        lambda i, to: float(np.nextafter(edges[i], to)) if to is not None else float(edges[i]),
        st.integers(0, ends[2]),
        st.sampled_from([None, math.inf, -math.inf]),
    )
    values = draw(st.lists(beside | st.floats(), max_size=30))
    weight = st.floats(0, 1e6) | st.sampled_from([0.0, 1e300, 5e-324])
    weights = draw(st.none() | st.lists(weight, min_size=len(values), max_size=len(values)))
    return np.array(values), None if weights is None else np.array(weights), ends


@given(columns())
@settings(max_examples=500, deadline=None)
def test_buckets_are_numpys(column: tuple[Any, Any, tuple[float, float, int]]) -> None:
    values, weights, ends = column
    low, high = ends[0], ends[0] + ends[1]
    histogram = made(values, weights, ends)
    finite = values[np.isfinite(values)]
    counts, edges = np.histogram(finite, ends[2], (low, high))
    assert histogram.edges == edges.tolist()
    assert histogram.counts == counts.tolist()
    assert histogram.below == (values < low).sum() and histogram.above == (values > high).sum()
    assert histogram.nan == np.isnan(values).sum()
    if weights is None:
        assert histogram.weights == histogram.counts
    else:
        places = np.searchsorted(edges, finite, "right") - 1
        places[finite == high] = ends[2] - 1
        mine = weights[np.isfinite(values)]
        assert histogram.weights == [math.fsum(mine[places == i]) for i in range(ends[2])]


@given(columns(), st.randoms(use_true_random=False))
@settings(max_examples=1000, deadline=None)
def test_any_order_and_any_merge_tree_have_the_same_bytes(
    column: tuple[Any, Any, tuple[float, float, int]], random: Any
) -> None:
    values, weights, ends = column
    whole = made(values, weights, ends)
    order = list(range(len(values)))
    random.shuffle(order)
    parts = []
    while order or not parts:
        part = order[: random.randint(1, 8)]
        order = order[len(part) :]
        parts.append(made(values[part], None if weights is None else weights[part], ends))
    while len(parts) > 1:
        other = parts.pop(random.randrange(len(parts)))
        parts[random.randrange(len(parts))].merge(other)
    assert bytes(parts[0]) == bytes(whole)
    assert bytes(sketch.Histogram.from_bytes(bytes(whole))) == bytes(whole)


def test_long_columns_and_integers() -> None:
    values = np.random.default_rng(1).integers(-50, 150, 50_000)
    histogram = sketch.Histogram(0, 100, 13)
    for part in np.array_split(values, 7):
        histogram.add(part)
    assert histogram.counts == np.histogram(values, 13, (0, 100))[0].tolist()
    assert histogram.count == sum(histogram.counts) + histogram.below + histogram.above
    assert histogram.memory < 500


@pytest.mark.parametrize("ends", [(1, 1), (2, 1), (math.nan, 1), (0, math.inf), (-1e308, 1e308)])
def test_ends_that_are_none(ends: tuple[float, float]) -> None:
    with pytest.raises(cst.errors.ArgumentError):
        sketch.Histogram(*ends)


def test_other_buckets_are_not_merged() -> None:
    histogram = sketch.Histogram(0, 1)
    with pytest.raises(cst.errors.ArgumentError, match="high differs"):
        histogram.merge(sketch.Histogram(0, 2))
    with pytest.raises(cst.errors.ArgumentError):
        sketch.Histogram(0, 1, 0)
    with pytest.raises(cst.errors.ArgumentError):
        sketch.Histogram(1e16, 1e16 + 8, 100)
