"""Sketches against those of the package datasketches: both hold the truth, and within each other's
bounds."""

from __future__ import annotations

import datasketches
import numpy as np
from columnstone import sketch


def test_distinct_counts_agree() -> None:
    values = np.random.default_rng(5).integers(0, 200_000, 400_000)
    exact = len(np.unique(values))
    peer = datasketches.hll_sketch(14)
    for value in values.tolist():
        peer.update(value)
    made = sketch.Distinct(14)
    made.add(values)
    assert peer.get_lower_bound(3) <= exact <= peer.get_upper_bound(3)
    assert peer.get_lower_bound(3) <= made.estimate <= peer.get_upper_bound(3)
    assert made.bounds(3)[0] <= exact <= made.bounds(3)[1]
    assert made.bounds(1)[1] - made.bounds(1)[0] < peer.get_upper_bound(1) - peer.get_lower_bound(1)


def test_heavy_hitters_agree() -> None:
    values = np.minimum(np.random.default_rng(3).zipf(1.1, 100_000), 10**5).tolist()
    peer = datasketches.frequent_strings_sketch(10)
    for value in values:
        peer.update(str(value))
    made = sketch.HeavyHitters(768)  # as many counters as the peer has
    made.add([str(value) for value in values])
    for value, lower, upper in made.top(100):
        assert lower <= peer.get_upper_bound(value)
        assert peer.get_lower_bound(value) <= upper
