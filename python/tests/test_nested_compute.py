"""Arithmetic and reductions of leaf tensors, against plain Python and numpy."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from random import Random
from typing import Any

import columnstone as cst
import numpy as np
import pytest

OPERATORS = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.floordiv,
    operator.mod,
    operator.pow,
]
REDUCTIONS: dict[str, Callable[[list[Any]], Any]] = {
    "sum": sum,
    "mean": lambda v: float(np.mean(v)) if v else None,
    "min": lambda v: min(v, default=None),
    "max": lambda v: max(v, default=None),
    "variance": lambda v: float(np.var(v)) if v else None,
    "std": lambda v: float(np.std(v)) if v else None,
    "count": len,
    "count_distinct": lambda v: len(set(v)),
}


def random_lists(r: Random, depth: int, like: Any = None) -> Any:
    """With nulls in all levels; `like` says where lists are null, and how long they are."""
    if depth == 0:
        return None if r.randrange(6) == 0 else r.choice([r.randint(1, 9), r.randint(1, 9) / 4])
    if like is None:
        like = [0] * r.randrange(4) if r.randrange(6) else None
        return like and [random_lists(r, depth - 1) for _ in like]
    return [None if v is None and depth > 1 else random_lists(r, depth - 1, v) for v in like]


def rows_of(r: Random, depth: int) -> Any:
    """At least one value, so that there is a type."""
    made = [random_lists(r, depth - 1) for _ in range(r.randint(1, 4))]
    first: Any = 2.5
    for _ in range(depth - 1):
        first = [first]
    return [first, *made]


def each(f: Callable[..., Any], depth: int, *values: Any) -> Any:
    if any(v is None for v in values):
        return None
    if depth == 0:
        return f(*values)
    return [each(f, depth - 1, *row) for row in zip(*values, strict=True)]


def flat(value: Any) -> list[Any]:
    if isinstance(value, list):
        return [v for row in value for v in flat(row)]
    return [] if value is None else [value]


@pytest.mark.parametrize("seed", range(30))
def test_operators(seed: int) -> None:
    r = Random(seed)
    depth = r.randint(1, 3)
    x = rows_of(r, depth)
    y = random_lists(r, depth, x)
    a, b = (cst.struct.constant(v, cst.struct.LeafSpec([None] * depth, "float64")) for v in (x, y))
    for f in OPERATORS:
        assert f(a, b).to_py() == pytest_like(each(f, depth, x, y))
        assert f(a, 3).to_py() == pytest_like(each(lambda v, f=f: f(v, 3), depth, x))
        assert f(2.5, a).to_py() == pytest_like(each(lambda v, f=f: f(2.5, v), depth, x))
    assert (-a).to_py() == each(operator.neg, depth, x)
    assert abs(-a).to_py() == x
    assert (a + y).to_py() == (a + b).to_py()


def pytest_like(value: Any) -> Any:
    if isinstance(value, list):
        return [pytest_like(v) for v in value]
    return value if value is None else pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name: str, seed: int) -> None:
    r = Random(seed)
    depth = r.randint(1, 3)
    x = rows_of(r, depth)
    a = cst.struct.constant(x, cst.struct.LeafSpec([None] * depth, "float64"))
    f = REDUCTIONS[name]
    assert getattr(a, name)().to_py() == pytest_like(f(flat(x)))

    def of_list(row: Any, level: int) -> Any:
        if row is None:
            return 0 if level == 1 and name == "count" else None
        return f(flat(row)) if level == 1 else [of_list(v, level - 1) for v in row]

    if name != "count_distinct":  # of a null list it is 0, too, or null: queries.md says which
        assert getattr(a, name)(axis=-1).to_py() == pytest_like(of_list(x, depth))


def test_other_types() -> None:
    ints = cst.struct.constant([[3, None, 1], None, []])
    assert ints.argmax(axis=-1).to_py() == [0, None, None]
    assert ints.argmin().to_py() == 2
    assert ints.cumulative_sum().to_py() == [[3, None, 4], None, []]
    assert ints.quantile(0.5).to_py() == 2.0
    assert (ints + 1).spec.dtype == ints.spec.dtype
    assert (~(ints > 1)).to_py() == [[False, None, True], None, []]
    assert ((ints > 1) & (ints < 3)).any().to_py() is False
    assert (ints > 0).all(axis=-1).to_py() == [True, None, True]
    assert (cst.struct.constant(["a", None]) + "b").to_py() == ["ab", None]
    assert (cst.struct.constant(2) * 3).to_py() == 6
    assert (np.array([1, 2, 3]) + ints[0]).to_py() == [4, None, 4]


def test_what_is_refused() -> None:
    ints = cst.struct.constant([[3, None], [1]])
    with pytest.raises(cst.errors.ArgumentError, match="row 0 of dimension 1 is 1 long"):
        operator.add(ints, [[1], [2]])
    with pytest.raises(cst.errors.ArgumentError, match="tensors of 1 and 2 dimensions"):
        ints + ints[0]
    with pytest.raises(cst.errors.ArgumentError, match="axis is 0, expected 1"):
        ints.sum(axis=0)
    with pytest.raises(cst.Error, match="does not fit int64") as caught:
        cst.struct.constant([1, 2**62]) * 4
    assert caught.value.record == 1
    with pytest.raises(cst.Error, match="structs"):
        ints[0] + cst.struct.constant([{"a": 1}, {"a": 2}])
    with pytest.raises(cst.Error, match="found object"):
        ints + object()


def same(a: Any, b: Any) -> bool:
    return bool(a == b or (a != a and b != b))


def runs_of(row: list[Any]) -> list[Any]:
    made: list[Any] = []
    for i, v in enumerate(row):
        if i and same(row[i - 1], v):
            made[-1]["length"] += 1
        else:
            made.append({"value": v, "length": 1})
    return made


def at_lists(f: Callable[..., Any], depth: int, *values: Any) -> Any:
    """Of the innermost lists; null where one is."""
    if any(v is None for v in values):
        return None
    if depth == 1:
        return f(*values)
    return [at_lists(f, depth - 1, *row) for row in zip(*values, strict=True)]


@pytest.mark.parametrize("seed", range(40))
def test_structs_of_the_elements_of_lists(seed: int) -> None:
    r = Random(seed)
    depth = r.randint(1, 3)
    x = rows_of(r, depth)
    if depth == 1:
        x = [r.choice([1.0, 1.0, None, None, float("nan"), 0.0, -0.0]) for _ in range(9)]
    y = at_lists(lambda row: [r.choice([1.5, None]) for _ in range(r.randrange(3))], depth, x)
    spec = cst.struct.LeafSpec([None] * depth, "float64")
    a, b = (cst.struct.constant(v, spec) for v in (x, y))
    x, y = a.to_py(), b.to_py()  # floats alone
    names = ["s", "t", "a name", "u"][: r.randint(2, 4)]

    def structs(rows: Any, fields: list[str]) -> list[Any]:
        return [dict(zip(fields, row, strict=True)) for row in rows]

    def combine(row: list[Any]) -> list[Any]:
        return structs(itertools.combinations(row, len(names)), names)

    def product(*rows: list[Any]) -> list[Any]:
        return structs(itertools.product(*rows), ["s", "t", "u"][: len(rows)])

    assert repr(a.combinations(*names).to_py()) == repr(at_lists(combine, depth, x))
    assert repr(a.run_lengths().to_py()) == repr(at_lists(runs_of, depth, x))
    two = cst.struct.cartesian({"s": a, "t": b})
    assert repr(two.to_py()) == repr(at_lists(product, depth, x, y))
    three = cst.struct.cartesian({"s": a, "t": b, "u": a})
    assert repr(three.to_py()) == repr(at_lists(product, depth, x, y, x))


def test_runs_of_structs_and_of_other_types() -> None:
    rows = [[{"k": "a", "v": 1}, {"k": "a", "v": 2}, None, {"k": None, "v": 3}], None, []]
    st = cst.struct.constant(rows)
    runs = [{"value": {"k": "a", "v": 1}, "length": 2}, {"value": None, "length": 2}]
    assert st.run_lengths(by="k").to_py() == [runs, None, []]
    assert st.run_lengths(("k",))["length"].to_py() == [[2, 2], None, []]
    pairs = st.combinations("a", "b")
    assert pairs["a.v"].to_py() == [[1, 1, 1, 2, 2, None], None, []]
    for values in (["x", "x", "y"], [True, True, False], [b"", b"", b"1"], [1, 1, 2]):
        assert cst.struct.run_lengths(values)["length"].to_py() == [2, 1]
    halves = np.array([0.0, -0.0, np.nan, -np.nan, 1.0], np.float16)
    assert cst.struct.run_lengths(halves)["length"].to_py() == [2, 2, 1]
    nulls = cst.struct.constant([None, None], cst.struct.LeafSpec([None], "int8"))
    assert nulls.run_lengths().to_py() == [{"value": None, "length": 2}]


def test_products_that_are_refused() -> None:
    ints = cst.struct.constant([1, 2, 3])
    with pytest.raises(cst.Error, match="a name for each element of a combination"):
        ints.combinations("a")
    with pytest.raises(cst.Error, match="duplicate field 'a'"):
        ints.combinations("a", "a")
    with pytest.raises(cst.errors.ArgumentError, match="tensors with the same dimensions"):
        cst.struct.cartesian({"a": ints, "b": [[1]]})
    with pytest.raises(cst.errors.ArgumentError, match="tensors with the same dimensions"):
        cst.struct.cartesian({})
    with pytest.raises(cst.Error, match="found structs"):
        cst.struct.constant([{"a": 1}, {"a": 1}]).run_lengths()
