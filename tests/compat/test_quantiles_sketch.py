"""QuantilesSketch has the bytes and finds the values of tfx_bsl's, whatever is done to it."""

from __future__ import annotations

import math
import pickle
import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from columnstone.compat import tfx_bsl as compat
from columnstone.compat.tfx_bsl import sketches
from conftest import real
from hypothesis import given, settings
from hypothesis import strategies as st

THEIRS = real("tfx_bsl.sketches").QuantilesSketch
OURS = sketches.QuantilesSketch


def column(data: st.DataObject, rows: int, streams: int) -> pa.Array:
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    values = data.draw(st.sampled_from(["few", "many", "floats", "nulls", "uint8", "text"]))
    if values == "few":
        return pa.array(rng.integers(0, 9, rows * streams))
    if values == "floats":
        odd = rng.choice([math.nan, math.inf, -math.inf, 1e300, 0.5], rows * streams)
        return pa.array(np.where(rng.random(rows * streams) < 0.2, odd, rng.random(rows * streams)))
    if values == "nulls":
        return pa.array(rng.random(rows * streams), mask=rng.random(rows * streams) < 0.3)
    if values == "uint8":
        return pa.array(rng.integers(0, 256, rows * streams), pa.uint8())
    if values == "text":
        return pa.array(rng.integers(0, 99, rows * streams)).cast(pa.string())
    return pa.array(rng.integers(-(2**62), 2**62, rows * streams))


def weights(data: st.DataObject, rows: int) -> tuple[pa.Array, ...]:
    """Multiples of 1/8, the sums of which are exact in any order."""
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    kind = data.draw(st.sampled_from(["none", "floats", "ints", "nulls"]))
    eighths = rng.integers(-8, 64, rows) / 8
    return {
        "none": (),
        "floats": (pa.array(np.where(rng.random(rows) < 0.1, math.nan, eighths)),),
        "ints": (pa.array(rng.integers(0, 5, rows), pa.int32()),),
        "nulls": (pa.array(eighths, mask=rng.random(rows) < 0.3),),
    }[kind]


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_states_and_quantiles_are_the_same(data: st.DataObject) -> None:
    eps = data.draw(st.sampled_from([1.5, 0.5, 0.1, 0.01, 1e-4]))
    most = data.draw(st.sampled_from([1, 5, 100, 10_000, 1 << 32]))
    streams = data.draw(st.integers(1, 3))
    pairs = [(THEIRS(eps, most, streams), OURS(eps, most, streams)) for _ in range(2)]
    for _ in range(data.draw(st.integers(1, 8))):
        at = data.draw(st.integers(0, 1))
        step = data.draw(st.sampled_from(["add", "add", "add", "merge", "compact", "pickle"]))
        if step == "add":
            rows = data.draw(st.sampled_from([0, 1, 7, 500, 5000]))
            added = (column(data, rows, streams), *weights(data, rows))
            for made in pairs[at]:
                made.AddValues(*added)
        elif step == "merge":
            pairs[at][0].Merge(pairs[1 - at][0])
            pairs[at][1].Merge(pairs[1 - at][1])
        elif step == "compact":
            for made in pairs[at]:
                made.Compact()
        else:
            again = THEIRS.__new__(THEIRS)
            again.__setstate__(pairs[at][1].__getstate__())
            pairs[at] = (again, pickle.loads(pickle.dumps(pairs[at][1])))
        assert pairs[at][0].__getstate__() == pairs[at][1].__getstate__()
    parts = data.draw(st.integers(2, 200))
    for theirs, ours in pairs:
        expected = theirs.GetQuantilesAndCumulativeWeights(parts)
        found = ours.GetQuantilesAndCumulativeWeights(parts)
        assert found[0].equals(expected[0])
        assert found[1].equals(expected[1])
        assert ours.GetQuantiles(parts).equals(theirs.GetQuantiles(parts))


def test_fractions_differ_in_the_last_digit_of_weights_only() -> None:
    rng = np.random.default_rng(3)
    values, fractions = pa.array(rng.integers(0, 50, 20_000)), pa.array(rng.random(20_000))
    theirs, ours = THEIRS(0.01, 1000, 1), OURS(0.01, 1000, 1)
    for made in (theirs, ours):
        made.AddValues(values, fractions)
    expected, found = (made.GetQuantilesAndCumulativeWeights(10) for made in (theirs, ours))
    assert found[0].equals(expected[0])
    np.testing.assert_allclose(found[1].values, expected[1].values, rtol=1e-12)


def test_sketches_of_other_bounds_are_merged() -> None:
    rng = np.random.default_rng(1)
    made = []
    for kind in (THEIRS, OURS):
        rng = np.random.default_rng(1)
        one, other = kind(0.1, 100, 2), kind(0.001, 10_000, 2)
        one.AddValues(pa.array(rng.random(4000)))
        other.AddValues(pa.array(rng.random(6000)))
        other.Compact()
        one.Merge(other)
        made.append(one.__getstate__())
    assert made[0] == made[1]
    twice = OURS(0.1, 100, 1)
    twice.AddValues(pa.array([1, 2]))
    twice.Merge(twice)
    assert twice.GetQuantilesAndCumulativeWeights(2)[1].to_pylist() == [[2, 4, 4]]


def test_theirs_are_unpickled() -> None:
    theirs = THEIRS(0.01, 1000, 2)
    theirs.AddValues(pa.array(range(4000)))
    saved = b"ctfx_bsl.cc.tfx_bsl_extension.sketches\nQuantilesSketch\n)\x81"
    saved += b"B" + len(theirs.__getstate__()).to_bytes(4, "little") + theirs.__getstate__() + b"b."
    before = {key: value for key, value in sys.modules.items() if key.split(".")[0] == "tfx_bsl"}
    with pytest.warns(RuntimeWarning):
        compat.install()
    try:
        read = pickle.loads(saved)
    finally:
        compat.uninstall()
        sys.modules.update(before)
    assert type(read) is OURS
    assert read.GetQuantiles(7).equals(theirs.GetQuantiles(7))


def outcome(kind: Any, case: str) -> tuple[type, str]:
    """What a call raises; of TypeError, that it is one."""
    try:
        CASES[case](kind)
    except TypeError:
        return TypeError, ""
    except RuntimeError as error:
        return RuntimeError, str(error)
    return type(None), ""


def final(kind: Any) -> Any:
    made = kind(0.1, 10, 2)
    made.GetQuantiles(2)
    return made


CASES = {
    "eps": lambda kind: kind(0, 0, 0),
    "negative eps": lambda kind: kind(-1.0, 1, 1),
    "most": lambda kind: kind(1, 0, 0),
    "streams": lambda kind: kind(1, 1, 0),
    "names": lambda kind: kind(eps=0.1, max_num_elements=1, num_streams=1),
    "text": lambda kind: kind("0.1", 1, 1),
    "a float": lambda kind: kind(0.1, 1.5, 1),
    "more than 64 bits": lambda kind: kind(0.1, 1 << 64, 1),
    "odd": lambda kind: kind(0.1, 1, 2).AddValues(pa.array([1])),
    "weights": lambda kind: kind(0.1, 1, 2).AddValues(pa.array([1, 2]), pa.array([1, 2])),
    "no numbers": lambda kind: kind(0.1, 1, 1).AddValues(pa.array(["x"])),
    "dates": lambda kind: kind(0.1, 1, 1).AddValues(pa.array([1], pa.date32())),
    "lists": lambda kind: kind(0.1, 1, 1).AddValues(pa.array([[1]])),
    "one part": lambda kind: kind(0.1, 1, 1).GetQuantiles(1),
    "a part and a half": lambda kind: kind(0.1, 1, 1).GetQuantiles(1.5),
    "one part with weights": lambda kind: kind(0.1, 1, 1).GetQuantilesAndCumulativeWeights(1),
    "adding to a final one": lambda kind: final(kind).AddValues(pa.array([1, 2])),
    "adding what does not fit": lambda kind: final(kind).AddValues(pa.array([1])),
    "compacting a final one": lambda kind: final(kind).Compact(),
    "saving a final one": lambda kind: pickle.dumps(final(kind)),
    "merging with a final one": lambda kind: final(kind).Merge(kind(0.1, 10, 2)),
    "merging a final one": lambda kind: kind(0.1, 10, 2).Merge(final(kind)),
    "merging other streams": lambda kind: kind(0.1, 10, 2).Merge(kind(0.1, 10, 3)),
    "merging a number": lambda kind: kind(0.1, 10, 2).Merge(3),
    "no streams": lambda kind: kind.__new__(kind).__setstate__(b""),
    "no message": lambda kind: kind.__new__(kind).__setstate__(b"\n\x05"),
    "no bytes": lambda kind: kind.__new__(kind).__setstate__(5),
}


@pytest.mark.parametrize("case", CASES)
def test_errors_are_the_same(case: str) -> None:
    assert outcome(OURS, case) == outcome(THEIRS, case)


def test_what_only_one_of_them_refuses() -> None:
    made = OURS(0.1, 10, 1)
    made.AddValues(pa.array([1, 2], pa.float16()))  # UNIMPLEMENTED there
    with pytest.raises(RuntimeError, match="not finite"):  # cumulative weights are inf there
        made.AddValues(pa.array([1]), pa.array([math.inf]))
    with pytest.raises(RuntimeError, match=r"expected a pyarrow\.Array"):
        made.AddValues([1])
