"""columnstone.sketch.Kmv, and sketches in the form of tfx_bsl (tests/peers has it beside them)."""

from __future__ import annotations

import columnstone as cst
import numpy as np
import pyarrow as pa
import pytest
from columnstone import sketch
from hypothesis import given, settings
from hypothesis import strategies as st
from merging import merged


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_any_tree_of_merges_gives_the_same_bytes(data: st.DataObject) -> None:
    buckets = data.draw(st.integers(1, 60))
    sizes = data.draw(st.lists(st.sampled_from([0, 1, 2, 40, 300]), min_size=1, max_size=8))
    values = np.random.default_rng(len(sizes)).permutation(sum(sizes)) // 2
    whole = sketch.Kmv(buckets)
    whole.add(values)
    parts = []
    for part in np.split(values, np.cumsum(sizes)[:-1]):
        parts.append(sketch.Kmv(buckets))
        parts[-1].add(part)
    one = merged(parts, data)
    assert bytes(one) == bytes(whole)
    assert one.to_tfx_bsl() == whole.to_tfx_bsl()
    again = sketch.Kmv.from_tfx_bsl(whole.to_tfx_bsl())
    assert again.estimate == whole.estimate
    again.add(values)
    assert again.to_tfx_bsl() == whole.to_tfx_bsl()


def test_few_are_exact_and_more_within_the_bounds() -> None:
    outside = 0
    for start in range(0, 300_000, 1000):
        made = sketch.Kmv(200)
        made.add(np.arange(start, start + 199))
        assert made.bounds(3) == (199, 199)
        made.add(np.arange(start, start + 1000))
        lower, upper = made.bounds(2)
        outside += not lower <= 1000 <= upper
    assert outside < 30  # of 300


def test_what_heavy_hitters_say_survives_the_form() -> None:
    values = np.minimum(np.random.default_rng(2).zipf(1.2, 30_000), 10**6)
    made = sketch.HeavyHitters(50)
    made.add(values)
    again = sketch.HeavyHitters.from_tfx_bsl(made.to_tfx_bsl())
    truth = dict(zip(*np.unique(values, return_counts=True), strict=True))
    assert (again.count, len(again.top(100)) > 10) == (0, True)
    for value, lower, upper in again.top(100):
        assert lower <= truth[value] <= upper
        assert upper - lower <= len(values) / 51
    again.add(values)
    assert again.count == len(values)


def test_what_is_none_is_refused() -> None:
    made = sketch.Kmv()
    made.add(pa.array(["a", "b"]))
    message = made.to_tfx_bsl()
    for cut in range(1, len(message)):
        with pytest.raises((cst.errors.CorruptError, cst.errors.UnsupportedError)):
            sketch.Kmv.from_tfx_bsl(message[cut:])
    with pytest.raises(cst.errors.ArgumentError):
        sketch.Kmv(0)
    with pytest.raises(cst.errors.ArgumentError, match="buckets differs"):
        sketch.Kmv(3).merge(sketch.Kmv(4))
