"""columnstone.sketch.Correlation against exact arithmetic, and against numpy."""

from __future__ import annotations

import decimal
import math
from fractions import Fraction
from typing import Any

import columnstone as cst
import numpy as np
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


def root(square: Fraction) -> float:
    with decimal.localcontext(decimal.Context(60, Emin=-(10**9), Emax=10**9)):
        return float(
            (decimal.Decimal(square.numerator) / decimal.Decimal(square.denominator)).sqrt()
        )


def check(found: sketch.CorrelationFound, x: list[Any], y: list[Any], weights: list[float]) -> None:
    pairs = [
        (Fraction(a), Fraction(b), Fraction(w))
        for a, b, w in zip(x, y, weights, strict=True)
        if math.isfinite(a) and math.isfinite(b)
    ]
    weight = sum((w for *_, w in pairs), Fraction())
    assert found[:3] == (len(pairs), len(x) - len(pairs), nearest(weight))
    if not weight:
        assert all(math.isnan(number) for number in found[3:])
        return
    mean_x = sum((a * w for a, _, w in pairs), Fraction()) / weight
    mean_y = sum((b * w for _, b, w in pairs), Fraction()) / weight
    var_x = sum((w * (a - mean_x) ** 2 for a, _, w in pairs), Fraction()) / weight
    var_y = sum((w * (b - mean_y) ** 2 for _, b, w in pairs), Fraction()) / weight
    both = sum((w * (a - mean_x) * (b - mean_y) for a, b, w in pairs), Fraction()) / weight
    assert found[3:8] == tuple(map(nearest, (mean_x, mean_y, var_x, var_y, both)))
    if weight > 1:
        assert found.sample_covariance == nearest(both * weight / (weight - 1))
    else:
        assert math.isnan(found.sample_covariance)
    if var_x and var_y:
        exact = root(both**2 / (var_x * var_y)) * (-1 if both < 0 else 1)
        assert abs(found.correlation - exact) <= 3 * math.ulp(exact)
        assert -1 <= found.correlation <= 1
    else:
        assert math.isnan(found.correlation)


NUMBERS = {
    "float64": st.floats(-10, 10) | st.floats() | st.sampled_from([0.0, 1e16, math.nan, 1e300]),
    "int64": st.integers(-3, 3) | st.integers(-(2**63), 2**63 - 1),
    "uint64": st.integers(0, 3) | st.integers(0, 2**64 - 1),
}
WEIGHTS = st.floats(0, 4) | st.sampled_from([0.0, 1.0, 1e300, 5e-324])


@st.composite
def columns(draw: st.DrawFn) -> tuple[Any, Any, Any]:
    size = draw(st.integers(0, 20))
    made = []
    for _ in range(2):
        kind = draw(st.sampled_from(list(NUMBERS)))
        made.append(np.array(draw(st.lists(NUMBERS[kind], min_size=size, max_size=size)), kind))
    weights = draw(st.none() | st.lists(WEIGHTS, min_size=size, max_size=size))
    return made[0], made[1], None if weights is None else np.array(weights, "float64")


def made(x: Any, y: Any, weights: Any = None) -> sketch.Correlation:
    correlation = sketch.Correlation()
    correlation.add(x, y, weights)
    return correlation


@given(columns())
@settings(max_examples=400, deadline=None)
def test_results_are_the_nearest_floats(given: tuple[Any, Any, Any]) -> None:
    x, y, weights = given
    ones = [1.0] * len(x)
    check(
        made(x, y, weights).found(),
        x.tolist(),
        y.tolist(),
        ones if weights is None else weights.tolist(),
    )


@given(columns(), st.randoms(use_true_random=False))
@settings(max_examples=1000, deadline=None)
def test_any_order_and_any_merge_tree_have_the_same_bytes(
    given: tuple[Any, Any, Any], random: Any
) -> None:
    x, y, weights = given
    whole = made(x, y, weights)
    order = list(range(len(x)))
    random.shuffle(order)
    parts = []
    while order or not parts:
        part = order[: random.randint(1, 6)]
        order = order[len(part) :]
        parts.append(made(x[part], y[part], None if weights is None else weights[part]))
    while len(parts) > 1:
        other = parts.pop(random.randrange(len(parts)))
        parts[random.randrange(len(parts))].merge(other)
    assert bytes(parts[0]) == bytes(whole)
    assert bytes(sketch.Correlation.from_bytes(bytes(whole))) == bytes(whole)


@pytest.mark.parametrize("of", ["normal", "wide", "huge", "zeros"])
def test_long_columns(of: str) -> None:
    random = np.random.default_rng(4)
    x, y = {
        "normal": lambda: random.normal(size=(2, 2500)),
        "wide": lambda: (
            random.normal(size=(2, 2500)) * 10.0 ** random.integers(-300, 150, (2, 2500))
        ),
        "huge": lambda: (
            np.full((2, 2500), 1.7976931348623157e308) * random.choice([-1, 1], (2, 2500))
        ),
        "zeros": lambda: random.normal(size=(2, 2500)) * random.integers(0, 2, (2, 2500)),
    }[of]()
    check(made(x, y).found(), x.tolist(), y.tolist(), [1.0] * 2500)


def test_numpy_agrees() -> None:
    random = np.random.default_rng(1)
    x = random.normal(5, 2, 100_000)
    y = 3 * x + random.normal(0, 4, len(x))
    correlation = made(x, y)
    assert correlation.correlation == pytest.approx(np.corrcoef(x, y)[0, 1], rel=1e-12)
    assert correlation.covariance == pytest.approx(np.cov(x, y, ddof=0)[0, 1], rel=1e-12)
    assert correlation.sample_covariance == pytest.approx(np.cov(x, y)[0, 1], rel=1e-12)
    assert made(x, x).correlation == 1 and made(x, -x).correlation == -1
    far = made(x + 1e9, y + 1e9)  # where numpy has lost some digits
    assert far.correlation == pytest.approx(correlation.correlation, rel=1e-6)


def test_nulls_and_lengths() -> None:
    correlation = sketch.Correlation()
    correlation.add([1, None, 3, 4, None], [True, True, None, False, None])
    assert (correlation.count, correlation.nulls, correlation.correlation) == (2, 3, -1)
    with pytest.raises(cst.errors.ArgumentError, match="1 values, expected 2"):
        correlation.add([1, 2], [True])
    with pytest.raises(cst.errors.UnsupportedError):
        correlation.add([[1]], [True])
    assert correlation.count == 2


def test_long_columns_with_nulls_everywhere() -> None:
    random = np.random.default_rng(2)
    x = random.integers(0, 9, 5000).tolist()
    y = random.integers(0, 9, 5000).tolist()
    x[::3] = [None] * len(x[::3])
    y[5:3000:7] = [None] * len(y[5:3000:7])
    correlation = made(x, y)
    pairs = [(a, b) for a, b in zip(x, y, strict=True) if a is not None and b is not None]
    assert correlation.count == len(pairs) and correlation.nulls == 5000 - len(pairs)
    left, right = zip(*pairs, strict=True)
    check(correlation.found(), list(left), list(right), [1.0] * len(pairs))
