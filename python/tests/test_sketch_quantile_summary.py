"""columnstone.sketch.QuantileSummary: the bound, in any order and any tree of merges (tests/peers
and tests/compat have it beside tfx_bsl)."""

from __future__ import annotations

import math
import pickle

import columnstone as cst
import numpy as np
import pytest
from columnstone import sketch
from hypothesis import given, settings
from hypothesis import strategies as st
from merging import merged


def assert_cuts(made: sketch.QuantileSummary, values: np.ndarray, weights: np.ndarray) -> None:
    """Each cut's rank is within the error; few values are exact."""
    order = np.argsort(values, kind="stable")
    values, upto = values[order], np.cumsum(weights[order])
    total = upto[-1]
    for parts in (1, 2, 7, 100):
        cuts = made.cuts(parts)
        assert (cuts.values[0], cuts.values[-1]) == (values[0], values[-1])
        assert cuts.upto[-1] == pytest.approx(total)
        for i, (value, weight) in enumerate(zip(*cuts, strict=True)):
            below = np.concatenate([[0], upto])[np.searchsorted(values, value, "left")]
            through = upto[np.searchsorted(values, value, "right") - 1]
            slack = made.error * total + 1e-6 * total
            assert below - slack <= i * total / parts <= through + slack or i in (0, parts)
            assert abs(weight - through) <= slack


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_tree_of_merges_is_within_the_error(data: st.DataObject) -> None:
    error = data.draw(st.sampled_from([0.3, 0.05, 0.002]))
    sizes = data.draw(st.lists(st.sampled_from([0, 1, 50, 3000]), min_size=1, max_size=6))
    rng = np.random.default_rng(sum(sizes) + len(sizes))
    values = rng.integers(0, data.draw(st.sampled_from([3, 1000, 10**9])), sum(sizes) + 1) * 1.0
    weights = rng.integers(1, 5, len(values)) * 0.5
    bounds = np.cumsum(sizes)
    parts = []
    for some, heavy in zip(np.split(values, bounds), np.split(weights, bounds), strict=True):
        parts.append(sketch.QuantileSummary(error, 20_000))
        parts[-1].add(some, heavy)
        if data.draw(st.booleans()):
            parts[-1].compact()
    assert_cuts(merged(parts, data), values, weights)


def test_few_values_are_exact() -> None:
    made = sketch.QuantileSummary(1e-5)
    for start in (1, 101, 201):
        made.add(np.arange(start, start + 100))
    assert made.cuts(5) == sketch.Cuts([1, 61, 121, 181, 241, 300], [1, 61, 121, 181, 241, 300])
    assert (made.count, made.nulls, made.error, made.most) == (300, 0, 1e-5, 1 << 32)


def test_what_has_no_rank_is_left_out() -> None:
    made = sketch.QuantileSummary()
    assert math.isnan(made.cuts(1).values[0])
    assert made.cuts(1).upto == [0, 0]
    made.add([math.nan, None, 2.0, -math.inf, 7.0], weights=[1, 1, 2, 1, 0])
    assert made.cuts(2) == sketch.Cuts([-math.inf, 2, 2], [1, 3, 3])
    with pytest.raises(cst.errors.ArgumentError, match="one part at least"):
        made.cuts(0)
    with pytest.raises(cst.errors.ArgumentError, match="more than 0"):
        sketch.QuantileSummary(0)
    heavy = sketch.QuantileSummary()
    heavy.add([1.0], weights=[1e308])
    with pytest.raises(cst.Error, match="more than a double holds"):
        heavy.add([1.0], weights=[1e308])


@pytest.mark.parametrize("most", [1, 5, 10_000])
def test_bytes_and_messages_go_on_as_it_would(most: int) -> None:
    values = np.random.default_rng(most).permutation(20_000)
    made = sketch.QuantileSummary(0.03, most)
    made.add(values[:9000] * 1.0)
    loaded = pickle.loads(pickle.dumps(made))
    [read] = sketch.QuantileSummary.from_tfx_bsl(sketch.QuantileSummary.to_tfx_bsl([made]))
    for one in (made, loaded, read):
        one.add(values[9000:] * 1.0)
        one.compact()
    message = sketch.QuantileSummary.to_tfx_bsl([made, loaded])
    assert message == sketch.QuantileSummary.to_tfx_bsl([read, made])
    assert bytes(loaded) == bytes(made)
    assert len(bytes(made)) < len(bytes(values))
    other = sketch.QuantileSummary(0.5)
    other.merge_tfx_bsl(message, 1)
    assert other.cuts(1).upto[-1] == 20_000
    size = len(bytes(made))
    made.compact()
    assert len(bytes(made)) == size


def test_messages_that_are_none() -> None:
    message = sketch.QuantileSummary.to_tfx_bsl([sketch.QuantileSummary()])
    assert sketch.QuantileSummary.from_tfx_bsl(b"") == []
    for bad in (b"\n\x01", b"\n\x00", message[:-1], message.replace(b"\x12\x00", b"\x12\x01")):
        with pytest.raises(cst.errors.CorruptError):
            sketch.QuantileSummary.from_tfx_bsl(bad)
    same = sketch.QuantileSummary()
    with pytest.raises(cst.errors.ArgumentError, match="of its own"):
        sketch.QuantileSummary.to_tfx_bsl([same, same])


def test_cuts_of_quantiles() -> None:
    made = sketch.Quantiles(0.01)
    made.add(np.arange(1, 101))
    assert made.cuts(4) == sketch.Cuts([1, 25, 50, 75, 100], [1, 25, 50, 75, 100])
    with pytest.raises(cst.errors.ArgumentError, match="expected one of quantiles"):
        cst._core.sketch_cuts(sketch.Kmv()._handle, 2)
