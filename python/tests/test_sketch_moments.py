"""columnstone.sketch.Moments against exact arithmetic, and against numpy and polars."""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from typing import Any

import columnstone as cst
import numpy as np
import polars as pl
import pytest
from columnstone import sketch
from hypothesis import given, settings
from hypothesis import strategies as st


def nearest(number: Fraction) -> float:
    """int / int is rounded once."""
    try:
        return number.numerator / number.denominator
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def expected(values: list[Any], weights: list[float]) -> tuple[float, ...]:
    """weight, sum, mean, variance, sample variance of the finite values."""
    pairs = [
        (Fraction(v), Fraction(w)) for v, w in zip(values, weights, strict=True) if math.isfinite(v)
    ]
    weight = sum((w for _, w in pairs), Fraction())
    first = sum((v * w for v, w in pairs), Fraction())
    spread = weight * sum((v * v * w for v, w in pairs), Fraction()) - first * first
    return (
        nearest(weight),
        nearest(first),
        nearest(first / weight) if weight else math.nan,
        nearest(spread / weight**2) if weight else math.nan,
        nearest(spread / (weight * (weight - 1))) if weight > 1 else math.nan,
    )


def made(values: Any, weights: Any = None) -> sketch.Moments:
    moments = sketch.Moments()
    moments.add(values, weights)
    return moments


FLOATS = st.one_of(
    st.floats(),
    st.sampled_from([0.0, -0.0, 5e-324, -1.7976931348623157e308, 1e16, 1.0, math.inf, math.nan]),
    st.floats(-10, 10),
)
WEIGHTS = st.one_of(
    st.floats(0, 1e308), st.sampled_from([0.0, 1.0, 1e300, 1e-300, 5e-324]), st.floats(0, 4)
)


@st.composite
def columns(draw: st.DrawFn) -> tuple[Any, Any]:
    """Values of one family, and weights or none."""
    kind = draw(st.sampled_from(["float64", "int64", "uint64"]))
    each = {
        "float64": FLOATS,
        "int64": st.one_of(st.integers(-(2**63), 2**63 - 1), st.integers(-3, 3)),
        "uint64": st.one_of(st.integers(0, 2**64 - 1), st.integers(0, 3)),
    }[kind]
    values = draw(st.lists(each, max_size=40))
    weights = draw(st.none() | st.lists(WEIGHTS, min_size=len(values), max_size=len(values)))
    return np.array(values, kind), None if weights is None else np.array(weights, "float64")


@given(columns())
@settings(max_examples=400, deadline=None)
def test_results_are_the_nearest_floats(column: tuple[Any, Any]) -> None:
    values, weights = column
    moments = made(values, weights)
    ones = [1.0] * len(values)
    exact = values.tolist()
    by_weights = expected(exact, ones if weights is None else weights.tolist())
    np.testing.assert_array_equal(moments.found()[8:], by_weights)
    np.testing.assert_array_equal(moments.found(weighted=False)[8:], expected(exact, ones))
    known = [v for v in exact if not math.isnan(v)]
    assert (moments.min, moments.max) == ((min(known), max(known)) if known else (None, None))
    assert moments.found()[:6] == (
        len(exact),
        sum(v == 0 for v in exact),
        sum(v < 0 and math.isfinite(v) for v in exact),
        sum(math.isnan(v) for v in exact),
        sum(v == math.inf for v in exact),
        sum(v == -math.inf for v in exact),
    )


@given(columns(), st.randoms(use_true_random=False))
@settings(max_examples=1000, deadline=None)
def test_any_order_and_any_merge_tree_have_the_same_bytes(
    column: tuple[Any, Any], random: Any
) -> None:
    values, weights = column
    whole = made(values, weights)
    order = list(range(len(values)))
    random.shuffle(order)
    parts = []
    while order or not parts:
        part = order[: random.randint(1, 10)]
        order = order[len(part) :]
        parts.append(made(values[part], None if weights is None else weights[part]))
    while len(parts) > 1:
        other = parts.pop(random.randrange(len(parts)))
        parts[random.randrange(len(parts))].merge(other)
    assert bytes(parts[0]) == bytes(whole)
    assert bytes(sketch.Moments.from_bytes(bytes(whole))) == bytes(whole)


ORDERS: dict[str, Any] = {
    "sorted": np.sort,
    "reversed": lambda values: np.sort(values)[::-1].copy(),
    "as they come": lambda values: values,
    "ends first": lambda values: np.sort(values)[np.argsort(np.arange(len(values)) % 2)],
}


@pytest.mark.parametrize("of", ["normal", "zipf", "constant", "alternating", "far", "wide"])
def test_long_streams(of: str) -> None:
    random = np.random.default_rng(1)
    values: Any = {
        "normal": lambda: random.normal(size=20000),
        "zipf": lambda: random.zipf(1.5, 20000).astype("float64"),
        "constant": lambda: np.full(20000, 0.1),
        "alternating": lambda: np.tile([1e16, -1e16, 1.0], 7000),
        "far": lambda: random.normal(1e9, 1e-3, 20000),
        "wide": lambda: random.normal(size=20000) * 10.0 ** random.integers(-300, 150, 20000),
    }[of]()
    exact = expected(values.tolist(), [1.0] * len(values))
    assert exact[1] == math.fsum(values)
    sketches = [made(order(values)) for order in ORDERS.values()]
    for moments in sketches:
        assert moments.found()[8:] == exact
        assert bytes(moments) == bytes(sketches[0])
    parts = [made(part) for part in np.array_split(values, 1000)]
    merged = functools.reduce(lambda a, b: (a.merge(b), a)[1], parts)
    assert bytes(merged) == bytes(sketches[0])
    assert merged.memory < 3000


@pytest.mark.parametrize("of", ["normal", "wide", "huge", "zeros", "int64", "far int64"])
def test_long_weighted_streams(of: str) -> None:
    random = np.random.default_rng(3)
    values: Any = {
        "normal": lambda: random.normal(size=5000),
        "wide": lambda: random.normal(size=5000) * 10.0 ** random.integers(-300, 150, 5000),
        "huge": lambda: np.full(5000, -1.7976931348623157e308),
        "zeros": lambda: random.normal(size=5000) * random.integers(0, 2, 5000),
        "int64": lambda: random.integers(-100, 100, 5000),
        "far int64": lambda: random.integers(-(2**63), 2**63 - 1, 5000),
    }[of]()
    for weights in (
        random.random(5000),
        np.full(5000, 1.7976931348623157e308),
        random.random(5000) * 10.0 ** random.integers(-300, 100, 5000),
        random.random(5000) * random.integers(0, 2, 5000),
    ):
        found = made(values, weights).found()
        assert found[8:] == expected(values.tolist(), weights.tolist())


def test_numpy_and_polars_agree() -> None:
    values = np.random.default_rng(2).normal(3, 2, 100_000)
    moments, series = made(values), pl.Series(values)
    for theirs, ours in [
        (values.mean(), moments.mean),
        (values.std(), moments.std),
        (series.mean(), moments.mean),
        (series.std(), moments.sample_std),
        (series.var(), moments.sample_variance),
    ]:
        assert ours == pytest.approx(theirs, rel=1e-13)
    assert (moments.min, moments.max) == (values.min(), values.max())


def test_few_values() -> None:
    moments = sketch.Moments()
    assert moments.min is None and moments.max is None and moments.sum == 0
    assert math.isnan(moments.mean) and math.isnan(moments.std)
    moments.add([2**60 + 1])
    assert (moments.min, moments.mean, moments.std) == (2**60 + 1, float(2**60 + 1), 0)
    assert math.isnan(moments.sample_std)
    moments.add([2**60 + 3])
    assert moments.sample_variance == 2


def test_times_and_bools() -> None:
    moments = made([True, False, True, None])
    assert (moments.mean, moments.min, moments.max, moments.nulls) == (2 / 3, 0, 1, 1)
    with pytest.raises(cst.errors.SchemaError):
        moments.add(["a"])


def test_damaged_bytes_are_refused_or_sound() -> None:
    values = np.random.default_rng(3).normal(size=100)
    saved = bytes(made(values, np.abs(values)))
    for at in range(len(saved)):
        with pytest.raises(cst.errors.CorruptError):
            sketch.Moments.from_bytes(saved[:at] + bytes([saved[at] ^ 4]) + saved[at + 1 :])
