"""columnstone.sketch.Quantiles against numpy's sorted values."""

from __future__ import annotations

import datetime
import math
import pickle
from typing import Any

import columnstone as cst
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from columnstone import sketch
from hypothesis import given, settings
from hypothesis import strategies as st

Floats = npt.NDArray[np.float64]


def exact_ranks(values: Floats, weights: Floats, at: Floats) -> Floats:
    order = np.argsort(values, kind="stable")
    upto = np.concatenate([[0.0], np.cumsum(weights[order])])
    ranks: Floats = upto[np.searchsorted(values[order], at, side="right")] / upto[-1]
    return ranks


def worst_error(made: sketch.Quantiles, values: Floats, weights: Floats | None = None) -> float:
    weighing = np.ones(len(values)) if weights is None else weights
    at = np.unique(values)
    return float(
        np.abs(np.array(made.ranks(at.tolist())) - exact_ranks(values, weighing, at)).max()
    )


def orders(rng: np.random.Generator, count: int) -> dict[str, Floats]:
    up = np.arange(count, dtype=float)
    return {
        "random": rng.random(count),
        "sorted": up,
        "reversed": up[::-1],
        "alternating": np.where(np.arange(count) % 2 == 0, up, count - up),
        "zipf": rng.zipf(1.5, count).astype(float),
        "constant": np.full(count, 3.25),
        "with infinities": np.where(rng.random(count) < 0.1, math.inf, -up),
        "two values": rng.integers(0, 2, count).astype(float),
    }


def test_bounds_of_a_thousand_seeds() -> None:
    rng = np.random.default_rng(1)
    wrong = 0
    for seed in range(1000):
        values = list(orders(rng, 4000).values())[seed % 8]
        made = sketch.Quantiles(0.1, seed=seed)
        made.add(values)
        wrong += worst_error(made, values) > 0.1
    assert wrong <= 10


@pytest.mark.parametrize("name", orders(np.random.default_rng(0), 2))
@pytest.mark.parametrize("error", [0.01, 0.002])
def test_bounds_in_every_order(name: str, error: float) -> None:
    values = orders(np.random.default_rng(2), 300_000)[name]
    made = sketch.Quantiles(error)
    made.add(values)
    assert worst_error(made, values) <= error
    assert made.quantiles([0, 1]) == [values.min(), values.max()]


@pytest.mark.parametrize("scale", [1e-300, 0.3, 1e250])
def test_bounds_with_weights(scale: float) -> None:
    rng = np.random.default_rng(3)
    for name, values in orders(rng, 50_000).items():
        weights = scale * rng.pareto(1.2, len(values))
        weights[::7] = 0
        made = sketch.Quantiles(0.01)
        made.add(values, weights)
        assert made.weight == pytest.approx(weights.sum(), rel=1e-9)
        assert worst_error(made, values, weights) <= 0.01, name


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_merge_trees_keep_the_bound(data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    is_weighted = data.draw(st.booleans())
    parts = []
    for _ in range(data.draw(st.integers(1, 12))):
        count = data.draw(st.sampled_from([0, 1, 2, 300, 5000]))
        values = list(orders(rng, count).values())[data.draw(st.integers(0, 7))]
        weights = rng.exponential(1 + rng.random() * 1000, count) if is_weighted else np.ones(count)
        made = sketch.Quantiles(0.05)
        made.add(values, weights if is_weighted else None)
        parts.append((made, values, weights))
    while len(parts) > 1:
        i = data.draw(st.integers(0, len(parts) - 1))
        other = parts.pop(i)
        into = parts[data.draw(st.integers(0, len(parts) - 1))]
        if data.draw(st.booleans()):
            other = (pickle.loads(pickle.dumps(other[0])), *other[1:])
        into[0].merge(other[0])
        parts[parts.index(into)] = (
            into[0],
            np.concatenate([into[1], other[1]]),
            np.concatenate([into[2], other[2]]),
        )
    made, values, weights = parts[0]
    assert made.count == len(values)
    assert made.memory < 13_000
    if len(values):
        assert made.quantiles([0, 1]) == [values.min(), values.max()]
        assert worst_error(made, values, weights) <= 0.05


@given(st.lists(st.one_of(st.floats(), st.sampled_from([0.0, -0.0, math.inf, -math.inf]))))
def test_few_values_are_exact(items: list[float]) -> None:
    made = sketch.Quantiles()
    made.add(pa.array(items, pa.float64()))
    values = np.array([item for item in items if not math.isnan(item)])
    assert (made.count, made.nans) == (len(items), len(items) - len(values))
    ranks = [0, 0.1, 0.25, 0.5, 0.9, 1]
    if len(values) == 0:
        assert made.quantiles(ranks) == [None] * 6
        assert math.isnan(made.rank(0))
        return
    expected = np.quantile(np.sort(values), ranks, method="inverted_cdf").tolist()
    assert made.quantiles(ranks) == expected
    for value in values[:10]:
        assert made.rank(value) == pytest.approx((values <= value).mean())
        assert made.rank(value, inclusive=False) == pytest.approx((values < value).mean())


@pytest.mark.parametrize("tails", ["low", "high", "both"])
def test_tails(tails: Any) -> None:
    count = 200_000
    values = np.random.default_rng(5).permutation(count).astype(float)
    made = sketch.Quantiles(0.01, tails=tails)
    made.add(values)
    steps = np.unique(np.geomspace(1, count / 2, 100).astype(int))
    low = np.array(made.ranks((steps - 1).tolist())) * count
    high = np.array(made.ranks((count - steps).tolist(), inclusive=False)) * count
    if tails != "high":
        assert (np.round(low)[:20] == steps[:20]).all()
        assert (np.abs(low - steps) <= 0.015 * steps).all()
    if tails != "low":
        assert (np.round(count - high)[:20] == steps[:20]).all()
        assert (np.abs(count - high - steps) <= 0.015 * steps).all()


def test_types_keep_their_values() -> None:
    big = 2**63 - 1
    for values, kind in (
        (pa.array([big, big - 1, -big], pa.int64()), int),
        (pa.array([2**64 - 1, 5, 7], pa.uint64()), int),
        (pa.array([1.5, 2.5, -1.0], pa.float32()), float),
        (pa.array([datetime.date(2026, 1, 1)] * 3), int),
        (pa.array([True, False, None]), int),
    ):
        made = sketch.Quantiles()
        made.add(values)
        found = made.quantiles([0, 1])
        assert all(type(value) is kind for value in found)
        if (
            kind is int
            and not pa.types.is_date(values.type)
            and not pa.types.is_boolean(values.type)
        ):
            assert found == [min(values.to_pylist()), max(values.to_pylist())]


def test_histograms() -> None:
    values = np.random.default_rng(6).normal(size=100_000)
    made = sketch.Quantiles(0.01)
    made.add(values)
    for kind in ("equal_width", "equal_depth"):
        bounds, weights = made.histogram(20, kind)  # type: ignore[arg-type]
        assert bounds[0] == values.min()
        assert bounds[-1] == values.max()
        assert sum(weights) == pytest.approx(100_000)
        exact = np.histogram(values, bounds)[0]
        assert np.abs(np.cumsum(weights) - np.cumsum(exact)).max() <= 1000
    assert np.allclose(np.diff(made.histogram(20).bounds), np.ptp(values) / 20)
    assert max(made.histogram(20, "equal_depth").weights) <= 1.1 * 5000


def test_the_same_calls_give_the_same_bytes() -> None:
    def make(seed: int) -> bytes:
        parts = [sketch.Quantiles(0.05, seed=seed) for _ in range(3)]
        for i, part in enumerate(parts):
            part.add(np.random.default_rng(i).random(30_000))
        parts[1].merge(parts[2])
        parts[0].merge(parts[1])
        return bytes(parts[0])

    assert make(0) == make(0)
    assert make(0) != make(1)


def test_memory_does_not_grow() -> None:
    made = sketch.Quantiles(0.01)
    rng = np.random.default_rng(0)
    for _ in range(20):
        made.add(rng.random(100_000), rng.random(100_000))
        assert made.memory < 20_000
    assert len(bytes(made)) < 20_000
    assert sketch.Quantiles().memory < 500


def test_what_is_refused() -> None:
    made = sketch.Quantiles()
    made.add([1.0, 2.0])
    for ranks in ([1.5], [-0.1], [math.nan]):
        with pytest.raises(cst.errors.ArgumentError):
            made.quantiles(ranks)
    with pytest.raises(cst.errors.ArgumentError):
        made.histogram(0)
    with pytest.raises(ValueError, match="equal_depth"):
        made.histogram(1, "wide")  # type: ignore[arg-type]
    with pytest.raises(cst.errors.SchemaError):
        made.add(["text"])
    with pytest.raises(cst.errors.SchemaError):
        made.add([1])
    for error in (0, 0.6, -1):
        with pytest.raises(cst.errors.ArgumentError):
            sketch.Quantiles(error)
    with pytest.raises(cst.errors.ArgumentError):
        sketch.Quantiles(tails="middle")  # type: ignore[arg-type]
    with pytest.raises(cst.errors.ArgumentError):
        made.merge(sketch.Quantiles(0.02))
    assert made.count == 2
