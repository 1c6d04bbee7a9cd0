"""Quantiles against tfx_bsl's sketch, in bytes both ways, and against the package datasketches."""

from __future__ import annotations

import math
import pickle
from typing import Any

import columnstone as cst
import datasketches
import numpy as np
import pyarrow as pa
import pytest
from columnstone import sketch
from tfx_bsl import sketches

COUNT = 100_000


def theirs(values: Any, weights: Any = None, *, streams: int = 1, eps: float = 0.01) -> Any:
    made = sketches.QuantilesSketch(eps, 2**32, streams)
    arrays = [pa.array(values)] + ([] if weights is None else [pa.array(weights)])
    made.AddValues(*arrays)
    return made


def loaded(saved: bytes) -> Any:
    made = sketches.QuantilesSketch.__new__(sketches.QuantilesSketch)
    made.__setstate__(saved)
    return made


@pytest.mark.parametrize("is_compact", [False, True])
@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("count", [1, 2, 300, COUNT])
def test_theirs_are_read(count: int, is_weighted: bool, is_compact: bool) -> None:
    rng = np.random.default_rng(count)
    values = rng.normal(size=count)
    weights = rng.exponential(size=count) if is_weighted else np.ones(count)
    made = theirs(values, weights)
    if is_compact:
        made.Compact()
    (read,) = sketch.Quantiles.from_tfx_bsl(made.__getstate__())
    assert read.weight == pytest.approx(weights.sum())
    order = np.argsort(values)
    exact = np.cumsum(weights[order]) / weights.sum()
    assert np.abs(np.array(read.ranks(values[order].tolist())) - exact).max() <= 0.02 + 1e-9
    assert read.quantiles([0, 1]) == [values.min(), values.max()]
    (again,) = sketch.Quantiles.from_tfx_bsl(pickle.loads(pickle.dumps(made)).__getstate__())
    assert bytes(again) == bytes(read)


def test_streams() -> None:
    values = np.arange(30_000.0)
    made = theirs(values, streams=3)
    read = sketch.Quantiles.from_tfx_bsl(made.__getstate__())
    assert [stream.quantiles([0, 1]) for stream in read] == [
        [0, 29_997],
        [1, 29_998],
        [2, 29_999],
    ]
    again = loaded(sketch.Quantiles.to_tfx_bsl(read))
    for found, stream in zip(again.GetQuantiles(4).to_pylist(), range(3), strict=True):
        assert np.allclose(found, np.linspace(stream, 29_997 + stream, 5), atol=900)


def test_none() -> None:
    empty = sketches.QuantilesSketch(0.01, 100, 2)
    read = sketch.Quantiles.from_tfx_bsl(empty.__getstate__())
    assert [stream.quantiles([0.5]) for stream in read] == [[None], [None]]
    assert loaded(sketch.Quantiles.to_tfx_bsl(read)).GetQuantiles(2).to_pylist() == []
    assert sketch.Quantiles.from_tfx_bsl(b"") == []


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("count", [1, 2, 300, COUNT])
def test_ours_are_read_and_added_to(count: int, is_weighted: bool) -> None:
    rng = np.random.default_rng(count)
    values = rng.normal(size=count)
    weights = rng.exponential(size=count) if is_weighted else np.ones(count)
    made = sketch.Quantiles(0.01)
    made.add(values, weights if is_weighted else None)
    saved = sketch.Quantiles.to_tfx_bsl([made])
    more = np.concatenate([values, values + 1])
    both = np.concatenate([weights, weights])
    merged = theirs(values + 1, weights)
    merged.Merge(loaded(saved))
    added = loaded(saved)
    added.AddValues(pa.array(values + 1), pa.array(weights))
    for read, all_values, all_weights in (
        (loaded(saved), values, weights),
        (merged, more, both),
        (added, more, both),
    ):
        (found,) = read.GetQuantiles(10).to_pylist()
        assert (found[0], found[-1]) == (all_values.min(), all_values.max())
        order = np.argsort(all_values)
        upto = np.cumsum(all_weights[order]) / all_weights.sum()
        single = (all_weights / all_weights.sum()).max()
        for i, value in enumerate(found[1:-1], 1):
            at = np.searchsorted(all_values[order], value)
            assert abs(upto[at] - i / 10) <= 0.03 + single


def test_integers_and_infinities() -> None:
    made = sketch.Quantiles()
    made.add([2**60, -5, 7])
    other = sketch.Quantiles()
    other.add([math.inf, -math.inf, 1.0])
    found = loaded(sketch.Quantiles.to_tfx_bsl([made, other])).GetQuantiles(2).to_pylist()
    assert found == [[-5, 7, 2.0**60], [-math.inf, 1, math.inf]]


def test_other_bytes_are_refused() -> None:
    saved = theirs(np.arange(5000.0)).__getstate__()
    wrong = 0
    for i in range(0, len(saved), 97):
        for data in (saved[:i], saved[:i] + bytes([saved[i] ^ 0x85]) + saved[i + 1 :]):
            try:
                sketch.Quantiles.from_tfx_bsl(data)
            except (cst.errors.CorruptError, cst.errors.LimitError):
                wrong += 1
    assert wrong > 50
    with pytest.raises(cst.errors.CorruptError):
        sketch.Quantiles.from_tfx_bsl(b"no such thing")
    made = sketch.Quantiles()
    with pytest.raises(cst.errors.ArgumentError):
        sketch.Quantiles.to_tfx_bsl([made, made])


def test_ranks_agree_with_datasketches() -> None:
    rng = np.random.default_rng(0)
    for values in (rng.normal(size=COUNT), np.arange(COUNT, 0.0, -1), rng.zipf(1.5, COUNT) * 1.0):
        kll = datasketches.kll_doubles_sketch(400)
        kll.update(values)
        made = sketch.Quantiles(0.01)
        made.add(values)
        within = 0.01 + kll.normalized_rank_error(False)
        at = np.quantile(values, np.linspace(0, 1, 50)).tolist()
        for value, rank in zip(at, made.ranks(at), strict=True):
            assert abs(rank - kll.get_rank(value, True)) <= within
