"""columnstone.sketch.MutualInformation against counts, and against scipy."""

from __future__ import annotations

import collections
import math
from typing import Any

import columnstone as cst
import numpy as np
import pytest
from columnstone import sketch
from hypothesis import given, settings
from hypothesis import strategies as st

scipy_stats = pytest.importorskip("scipy.stats")


def made(x: Any, y: Any, values: int = 100) -> sketch.MutualInformation:
    information = sketch.MutualInformation(values)
    information.add(x, y)
    return information


def entropy(values: Any) -> float:
    return float(scipy_stats.entropy(list(collections.Counter(values).values())))


COLUMNS = st.sampled_from(
    [
        st.integers(-3, 3),
        st.sampled_from([0.0, -0.0, 1.5, math.inf, math.nan]),
        st.sampled_from(["", "a", "b", "x" * 100]),
        st.integers(0, 2**40),
        st.booleans(),
    ]
)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[list[Any], list[Any]]:
    size = draw(st.integers(1, 60))
    x, y = (draw(st.lists(draw(COLUMNS), min_size=size, max_size=size)) for _ in range(2))
    return x, y


def plain(value: Any) -> Any:
    """All NaN are one value."""
    return "NaN" if isinstance(value, float) and math.isnan(value) else value


@given(pairs())
@settings(max_examples=400, deadline=None)
def test_of_few_values_it_is_that_of_the_counts(given: tuple[list[Any], list[Any]]) -> None:
    x, y = ([plain(value) for value in column] for column in given)
    found = made(*given).found()
    both = entropy(zip(x, y, strict=True))
    assert found.is_exact and found.pairs == len(x)
    assert (found.x_values, found.y_values) == (len(set(x)), len(set(y)))
    assert found.cells == len(set(zip(x, y, strict=True)))
    assert found.entropy_x == pytest.approx(entropy(x), abs=1e-12)
    assert found.entropy_y == pytest.approx(entropy(y), abs=1e-12)
    assert found.information == pytest.approx(entropy(x) + entropy(y) - both, abs=1e-12)
    bias = (found.cells - found.x_values - found.y_values + 1) / (2 * len(x))
    assert found.corrected == pytest.approx(found.information - bias, abs=1e-12)


@given(pairs(), st.integers(2, 12), st.randoms(use_true_random=False))
@settings(max_examples=1000, deadline=None)
def test_any_order_and_any_merge_tree_have_the_same_bytes(
    given: tuple[list[Any], list[Any]], values: int, random: Any
) -> None:
    whole = made(*given, values)
    rows = list(zip(*given, strict=True))
    random.shuffle(rows)
    parts = []
    while rows:
        count = random.randint(1, 20)
        x, y = zip(*rows[:count], strict=True)
        parts.append(made(list(x), list(y), values))
        rows = rows[count:]
    while len(parts) > 1:
        other = parts.pop(random.randrange(len(parts)))
        parts[random.randrange(len(parts))].merge(other)
    assert bytes(parts[0]) == bytes(whole)
    assert bytes(sketch.MutualInformation.from_bytes(bytes(whole))) == bytes(whole)
    assert parts[0].information == whole.information
    exact = made(*given, 200).information
    assert whole.information <= exact + 1e-9


@pytest.mark.parametrize("order", ["as they come", "sorted", "reversed"])
def test_many_values(order: str) -> None:
    random = np.random.default_rng(1)
    x = random.zipf(1.3, 30_000) % 10_000
    rows = {"as they come": slice(None), "sorted": np.argsort(x), "reversed": np.argsort(-x)}[order]
    information = made(x[rows], (x % 7)[rows])
    found = information.found()
    assert not found.is_exact and found.x_values <= 200 and found.y_values == 7
    assert 0.3 * found.entropy_y < found.information <= entropy((x % 7).tolist()) + 1e-9
    assert information.memory < 1_000_000
    assert bytes(information) == bytes(made(x, x % 7))


def test_independent_columns() -> None:
    random = np.random.default_rng(2)
    x, y = random.integers(0, 10, (2, 20_000))
    found = made(x, y).found()
    assert 0 <= found.information < 0.005
    assert abs(found.corrected) < 0.001


def test_options_and_families() -> None:
    information = made(["a", "b"], [1, 2])
    assert information.count == 2
    with pytest.raises(cst.errors.SchemaError):
        information.add([1], [1])
    with pytest.raises(cst.errors.ArgumentError, match="values differs"):
        information.merge(sketch.MutualInformation(50))
    with pytest.raises(cst.errors.ArgumentError):
        sketch.MutualInformation(1)
    assert math.isnan(sketch.MutualInformation().information)
    assert bytes(made([1], [2])) != bytes(made([2], [1]))
