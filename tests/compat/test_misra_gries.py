"""MisraGriesSketch against tfx_bsl's: figures, order, messages both ways."""

from __future__ import annotations

import pickle
from typing import Any

import pyarrow as pa
import pytest
from columnstone import sketch
from columnstone.compat.tfx_bsl import sketches as ours
from conftest import real
from hypothesis import given, settings
from hypothesis import strategies as st

theirs = real("tfx_bsl.sketches")
BOTH = (theirs, ours)

TEXTS = st.one_of(
    st.sampled_from([b"", b"a", b"b", b"cc", b"\xff", b"a\x80", b"more than eight", b"\0"]),
    st.binary(max_size=20),
)
ITEMS: dict[Any, Any] = {
    pa.binary(): TEXTS,
    pa.large_binary(): TEXTS,
    pa.string(): st.text(max_size=3),
    pa.large_string(): st.sampled_from(["x", "y", "z", "é", ""]),
    pa.int64(): st.integers(-3, 3) | st.integers(-(2**63), 2**63 - 1),
    pa.int8(): st.integers(-4, 4),
    pa.uint64(): st.integers(0, 3) | st.integers(0, 2**64 - 1),
    pa.float64(): st.sampled_from([1.5, -0.0, 0.0, 1e-7, 999999.5]) | st.floats(),
    pa.float32(): st.floats(width=32),
}


@st.composite
def columns(draw: Any) -> list[tuple[pa.Array, pa.Array | None]]:
    """Columns of one type, some of them with weights."""
    kind = draw(st.sampled_from(list(ITEMS)))
    made = []
    for _ in range(draw(st.integers(1, 4))):
        items = draw(st.lists(st.none() | ITEMS[kind], max_size=30))
        weights = None
        if draw(st.booleans()):
            eighths = st.lists(st.integers(0, 40), min_size=len(items), max_size=len(items))
            weights = pa.array([n / 8 for n in draw(eighths)], pa.float32())
        made.append((pa.array(items, kind), weights))
    return made


def added(made: Any, parts: list[tuple[pa.Array, pa.Array | None]]) -> Any:
    for items, weights in parts:
        if weights is None:
            made.AddValues(items)
        else:
            made.AddValues(items, weights)
    return made


def rows(made: Any) -> list[tuple[bytes, float]]:
    found = made.Estimate()
    found.validate(full=True)
    assert found.type == pa.struct([("values", pa.large_binary()), ("counts", pa.float64())])
    return [(row["values"], row["counts"]) for row in found.to_pylist()]


def check_same(a: Any, b: Any) -> None:
    """Equal but for extra items (which come last, with the smallest count), that theirs takes by
    chance."""
    x, y = rows(a), rows(b)
    assert [count for _, count in x] == [count for _, count in y]
    if x:
        least = x[-1][1]
        assert [row for row in x if row[1] > least] == [row for row in y if row[1] > least]


@settings(max_examples=200, deadline=None)
@given(
    columns(),
    st.integers(0, 12),
    st.sampled_from([None, b"<BYTES>"]),
    st.sampled_from([None, 0, 2]),
)
def test_the_figures_are_theirs(
    parts: Any, buckets: int, invalid: bytes | None, longest: int | None
) -> None:
    long = None if longest is None else b"<LARGE>"
    for name in ("Lexicographical", "ReverseLexicographical"):
        made = [
            added(
                m.MisraGriesSketch(
                    buckets, invalid, longest, long, getattr(m.MisraGriesSketch.OrderOnTie, name)
                ),
                parts,
            )
            for m in BOTH
        ]
        check_same(*made)
        read = [m.MisraGriesSketch.Deserialize(made[1 - i].Serialize()) for i, m in enumerate(BOTH)]
        assert rows(read[0]) == rows(made[1])
        assert rows(read[1]) == rows(made[0])
        assert sorted(read[1].Serialize()) == sorted(made[0].Serialize())
        check_same(*(added(sketch, parts) for sketch in read))


@settings(max_examples=150, deadline=None)
@given(columns(), st.integers(1, 12))
def test_merged_figures_are_theirs(parts: Any, buckets: int) -> None:
    made = []
    for m in BOTH:
        halves = [added(m.MisraGriesSketch(buckets), half) for half in (parts[::2], parts[1::2])]
        halves[0].Merge(halves[1])
        made.append(halves[0])
    check_same(*made)
    x, y = (sketch.MisraGries.from_tfx_bsl(each.Serialize()) for each in made)
    assert [row[1:] for row in x.top(99)] == [row[1:] for row in y.top(99)]


def test_with_room_for_all_the_items_are_the_same() -> None:
    words = pa.array([f"word {i * i % 97}" for i in range(5000)] + [None])
    made = [added(m.MisraGriesSketch(100), [(words, None)]) for m in BOTH]
    assert rows(made[0]) == rows(made[1])
    made[1].Merge(made[1])
    made[0].Merge(made[0])
    assert rows(made[0]) == rows(made[1])


@pytest.mark.parametrize(
    "kind",
    [pa.bool_(), pa.null(), pa.date32(), pa.float16(), pa.list_(pa.int32()), pa.binary(3)],
    ids=str,
)
def test_types_that_are_not_taken(kind: pa.DataType) -> None:
    texts = []
    for m in BOTH:
        with pytest.raises(RuntimeError) as caught:
            m.MisraGriesSketch(2).AddValues(pa.array([], kind))
        texts.append(str(caught.value))
    assert texts[0] == texts[1]


def test_all_integers_are_of_one_type() -> None:
    parts: Any = [
        (pa.array([2**64 - 1, 7], pa.uint64()), None),
        (pa.array([-1, 7], pa.int16()), None),
        (pa.array([2**64 - 1], pa.uint64()), None),
    ]
    made = [added(m.MisraGriesSketch(5), parts) for m in BOTH]
    assert rows(made[0]) == rows(made[1])
    counts = [added(m.KmvSketch(5), parts).Estimate() for m in BOTH]
    assert counts[0] == counts[1] == 3


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((2,), (3,)),
        ((2, b"x"), (2,)),
        ((2, b"x"), (2, b"y")),
        ((2, None, 3, b"y"), (2, None, 4, b"y")),
        ((2, None, 3, b"y"), (2, None, 3, b"z")),
        ((2, None, 0, b""), (2,)),
    ],
)
def test_what_cannot_be_merged(a: Any, b: Any) -> None:
    texts = []
    for m in BOTH:
        with pytest.raises(RuntimeError) as caught:
            m.MisraGriesSketch(*a).Merge(m.MisraGriesSketch(*b))
        texts.append(str(caught.value))
    assert texts[0] == texts[1]


def test_other_values_are_refused() -> None:
    for m in BOTH:
        of_text = added(m.MisraGriesSketch(2), [(pa.array(["x"]), None)])
        with pytest.raises(RuntimeError, match="Type error : sketch stored type error"):
            of_text.AddValues(pa.array([1]))
        of_floats = added(m.MisraGriesSketch(2), [(pa.array([1.0]), None)])
        with pytest.raises(RuntimeError, match="Both sketches must have the same type"):
            of_floats.Merge(of_text)
        with pytest.raises(RuntimeError, match=r"Length of item array .*: 1 v\.s\. 2"):
            of_text.AddValues(pa.array(["x"]), pa.array([1, 2], pa.float32()))
        with pytest.raises(RuntimeError, match="Weight array must be float type"):
            of_text.AddValues(pa.array(["x"]), pa.array([1.0]))
        with pytest.raises(RuntimeError, match="Must provide both or neither"):
            m.MisraGriesSketch(2, large_string_threshold=1)
        with pytest.raises(TypeError):
            m.MisraGriesSketch(2, order_on_tie=1)
        with pytest.raises(RuntimeError, match="Failed to parse MisraGries sketch"):
            m.MisraGriesSketch.Deserialize("I am no proto")
        with pytest.raises(RuntimeError):
            of_text.AddValues(["x"])


def test_pickles_and_order() -> None:
    order = ours.MisraGriesSketch.OrderOnTie
    assert [int(each) for each in order] == [0, 1]
    assert list(order.__members__) == list(theirs.MisraGriesSketch.OrderOnTie.__members__)
    assert pickle.loads(pickle.dumps(order.Lexicographical)) is order.Lexicographical
    made = added(
        ours.MisraGriesSketch(3, "?", 2, "long", order.ReverseLexicographical),
        [(pa.array([b"a", b"b", b"ccc", b"\xff"]), None)],
    )
    again = pickle.loads(pickle.dumps(made))
    assert rows(again) == rows(made)
    assert again.Serialize() == made.Serialize()
    merged = ours.MisraGriesSketch(3, "?", 2, "long")
    merged.Merge(made)
    assert len(rows(merged)) == 3


def test_pickles_of_theirs_are_loaded() -> None:
    made = added(theirs.MisraGriesSketch(3, "?"), [(pa.array(["a", "b", "a"]), None)])
    loads = ours.MisraGriesSketch.__new__(ours.MisraGriesSketch)
    loads.__setstate__(made.__getstate__())
    assert rows(loads) == rows(made)
    again = theirs.MisraGriesSketch.Deserialize(loads.__getstate__())
    assert rows(again) == rows(made)
