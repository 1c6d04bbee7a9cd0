"""columnstone.sketch.MisraGries (tests/compat has it beside tfx_bsl's)."""

from __future__ import annotations

import pickle
from collections import Counter

import columnstone as cst
import numpy as np
import pyarrow as pa
import pytest
from columnstone import sketch
from hypothesis import given, settings
from hypothesis import strategies as st


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(st.integers(0, 60), max_size=120), max_size=5), st.integers(1, 40))
def test_bounds_hold_in_any_merges(parts: list[list[int]], buckets: int) -> None:
    made = sketch.MisraGries(buckets)
    truth: Counter[str] = Counter()
    for part in parts:
        other = sketch.MisraGries(buckets)
        other.add(pa.array(part, pa.int64()))
        made.merge(other)
        truth.update(map(str, part))
    found = made.top(100)
    assert len(found) == min(buckets, len(truth))
    delta = max((upper - lower for _, lower, upper in found), default=0)
    assert delta <= truth.total() / (buckets + 1)
    for value, lower, upper in found:
        assert lower <= truth[value] <= upper
    for value, count in truth.items():
        assert count <= delta or value in {row[0] for row in found}


def test_what_is_saved_is_gone_on_with() -> None:
    words = np.random.default_rng(1).zipf(1.4, 20_000).astype(str)
    made = sketch.MisraGries(50)
    made.add(words[:10_000])
    copies = [
        sketch.MisraGries.from_bytes(bytes(made)),
        pickle.loads(pickle.dumps(made)),
        sketch.MisraGries.from_tfx_bsl(made.to_tfx_bsl()),
    ]
    made.add(words[10_000:])
    for copy in copies:
        copy.add(words[10_000:])
        assert copy.to_tfx_bsl() == made.to_tfx_bsl()
    assert copies[0].count == made.count == 20_000
    assert copies[2].count == 10_000


def test_placeholders_and_ties() -> None:
    made = sketch.MisraGries(4, invalid_text="?", longest=2, long_text="long", ties="largest")
    made.add([b"ab", b"abc", b"\xff\xff\xff", b"\xff", None])
    assert made.top() == [(b"?", 2, 2), (b"long", 1, 1), (b"ab", 1, 1)]
    made.add([b"\xff"], weights=[3])  # as it is
    assert made.top(1) == [(b"\xff", 3, 3)]
    made = sketch.MisraGries(4, longest=0, long_text="")
    made.add(["a", "b", ""])
    assert made.top() == [("", 3, 3)]
    assert sketch.MisraGries.from_tfx_bsl(made.to_tfx_bsl()).top() == [(b"", 3, 3)]


def test_numbers_are_texts() -> None:
    made = sketch.MisraGries(10)
    made.add(np.array([2**64 - 1], np.uint64))
    made.add([-1, -1, 2])
    assert made.top() == [("-1", 2, 2), ("18446744073709551615", 1, 1), ("2", 1, 1)]
    made = sketch.MisraGries(2)
    made.add([1 / 3, 1 / 3, 1 / 3, 1e20, 2.5])
    assert made.top() == [("0.333333", 2, 3), ("0x1.5af1d78b58c4p+66", 0, 1)]


def test_what_is_refused() -> None:
    with pytest.raises(cst.errors.ArgumentError, match="longest, but not long_text"):
        sketch.MisraGries(2, longest=3)
    with pytest.raises(cst.errors.ArgumentError, match="buckets"):
        sketch.MisraGries(-1)
    made = sketch.MisraGries(2)
    made.add(["a"])
    with pytest.raises(cst.errors.SchemaError, match="strings or bytes cannot take floats"):
        made.add([1.5])
    with pytest.raises(cst.errors.ArgumentError, match="ties"):
        made.merge(sketch.MisraGries(2, ties="largest"))
    with pytest.raises(cst.errors.CorruptError):
        sketch.MisraGries.from_tfx_bsl(b"\x08\x02X\x07")
