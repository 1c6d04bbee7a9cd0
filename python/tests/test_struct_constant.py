"""cst.struct.constant: nested Python as structured tensors, by inference and by a spec."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
import random
from collections import OrderedDict, namedtuple
from types import MappingProxyType
from typing import Any

import columnstone as cst
import numpy as np
import pyarrow as pa
import pytest
from columnstone.struct import constant, constant_value

RECIPE = {
    "user_embedding": [0.8, 2.1, 0.3],
    "recipe": {
        "title": "Snickerdoodle cookies",
        "est_time": 55.0,
        "ingredients": [
            {"amount": 3.0, "unit": "cup", "name": "flour"},
            {"amount": 0.5, "unit": "cup", "name": "brown sugar"},
        ],
        "user_rating": [
            {"user_embedding": [0.7, 2.0, 0.3, 0.3, 5.2, 2.2], "score": 0.8},
            {"user_embedding": [1.4, 0.0, 3.1, 1.1, 1.2, 0.3], "score": 0.4},
        ],
    },
}


def leaf(dtype: Any, *shape: int | None, nullable: bool = True) -> cst.struct.LeafSpec:
    return cst.struct.LeafSpec(shape or (None,), dtype, nullable)


# ---- what is made of what ----


@pytest.mark.parametrize(
    ("value", "type", "shape"),
    [
        (RECIPE, None, ()),
        ({"x": "foo", "y": [[1], [2, 3]]},
         "struct<x: large_string, y: large_list<large_list<int64>>>", ()),
        ([{"a": 1}, {"a": 2}, {"a": 3}], "struct<a: int64>", (3,)),
        ([[{"a": 1}, {"a": 2}], [{"a": 3}, {"a": 4}]], "large_list<struct<a: int64>>", (2, 2)),
        ([[{"a": 1}], []], "large_list<struct<a: int64>>", (2, None)),
        (3, "int64", ()),
        ("text", "large_string", ()),
        (b"\x00\xff", "large_binary", ()),
        (None, "null", ()),
        ([1, 2], "int64", (2,)),
        ([[1, 2], [3]], "large_list<int64>", (2, None)),
        ([[True, None], [False, True]], "large_list<bool>", (2, 2)),
        ([], "null", (0,)),
        ([[], []], "large_list<null>", (2, 0)),
        ([[[]], []], "large_list<large_list<null>>", (2, None, 0)),
        ([[1], None], "large_list<int64>", (2, None)),
        ([None, {"a": 1}], "struct<a: int64>", (2,)),
        ({}, "struct<>", ()),
        ([{}, {}], "struct<>", (2,)),
        ([1, 2.5, None], "float64", (3,)),
        ((1, (2, 3)[0]), "int64", (2,)),
        ([{"a": None}, {"a": [1]}, {"a": []}], "struct<a: large_list<int64>>", (3,)),
        ([{"a": {"b": []}}, {"a": {"b": []}}], "struct<a: struct<b: large_list<null>>>", (2,)),
    ],
)  # fmt: skip
def test_values(value: Any, type: str | None, shape: tuple[int | None, ...]) -> None:
    made = constant(value)
    is_struct = type is None or "struct<" in type
    assert isinstance(made, cst.StructuredTensor if is_struct else cst.struct.LeafTensor)
    assert made.shape == shape
    assert made.to_py() == (list(value) if isinstance(value, tuple) else value)
    assert type is None or str(made.arrow_type) == type
    pa.array(made).validate(full=True)


def test_the_recipe_of_the_rfc() -> None:
    struct = constant(RECIPE)
    assert struct["recipe"]["title"].to_py() == "Snickerdoodle cookies"
    assert struct["recipe", "ingredients"].shape == (2,)
    assert struct["recipe", "user_rating", "user_embedding"].shape == (2, 6)


def test_mappings_dataclasses_and_named_tuples_are_structs() -> None:
    @dataclasses.dataclass
    class Point:
        x: int
        tags: list[str]

    Pair = namedtuple("Pair", "a b")
    assert constant([Point(1, ["t"]), {"x": 2, "tags": []}]).to_py() == [
        {"x": 1, "tags": ["t"]},
        {"x": 2, "tags": []},
    ]
    assert constant(Pair(1, "x")).to_py() == {"a": 1, "b": "x"}
    assert constant([OrderedDict(a=1), MappingProxyType({"a": 2})]).to_py() == [{"a": 1}, {"a": 2}]
    assert cst.array([Point(1, [])]).to_pylist() == [{"x": 1, "tags": []}]
    with pytest.raises(cst.errors.SchemaError, match="found type"):
        constant(Point)


def test_arrays_of_numpy_inside() -> None:
    made = constant(
        [
            {"m": np.ones((2, 3), np.float32), "s": np.int8(1), "o": np.array(["a", "b"])},
            {"m": np.zeros((0, 3), np.float32), "s": np.int8(2), "o": np.array([], str)},
        ]
    )
    assert str(made.arrow_type) == (
        "struct<m: large_list<large_list<float32>>, s: int8, o: large_list<large_string>>"
    )
    assert made.to_py()[0] == {"m": [[1.0] * 3] * 2, "s": 1, "o": ["a", "b"]}
    halves = constant({"v": np.ones(2, np.float16), "s": [np.float16(0.1), np.float16(2)]})
    assert str(halves.arrow_type) == "struct<v: large_list<float16>, s: large_list<float16>>"
    assert halves.to_py() == {"v": [1.0, 1.0], "s": [float(np.float16(0.1)), 2.0]}
    assert constant([np.float16(0.5), np.float32(0.1)]).spec.dtype == "float64"
    inner = constant({"a": pa.array([1, None]), "b": constant([{"c": 1}]), "c": cst.array([1.5])})
    assert inner.to_py() == {"a": [1, None], "b": [{"c": 1}], "c": [1.5]}


def test_arrays_of_numpy_are_dense() -> None:
    values = np.arange(24).reshape(2, 3, 4)
    made = constant(values)
    values[0, 0, 0] = 99  # a constant is a copy
    assert made.shape == (2, 3, 4) and made.to_py()[0][0][0] == 0
    assert constant(np.zeros((2, 0))).shape == (2, 0)
    assert constant(values[:, ::2, ::-1]).to_py() == values[:, ::2, ::-1].tolist()
    assert constant(np.array([True, False])).to_py() == [True, False]
    assert constant(np.array([[1.5]], ">f8")).to_py() == [[1.5]]
    assert constant(np.array(["a", None], object)).to_py() == ["a", None]
    times = constant(np.array([["2020-01-01", "NaT"]], "M8[ns]"))
    assert (times.spec.dtype, times.shape) == ("timestamp[ns]", (1, 2))
    assert times.to_py() == [[dt.datetime(2020, 1, 1), None]]
    torch = pytest.importorskip("torch")
    assert constant(torch.ones(2, 3)).spec == cst.struct.LeafSpec([None, 3], "float32")


def test_records_of_numpy() -> None:
    dtype = np.dtype([("id", "i4"), ("at", [("x", "f4"), ("y", "f4", (2,))]), ("b", "?")])
    records = np.array([(1, (0.5, [1, 2]), True), (2, (1.5, [3, 4]), False)], dtype)
    expected = [
        {"id": 1, "at": {"x": 0.5, "y": [1.0, 2.0]}, "b": True},
        {"id": 2, "at": {"x": 1.5, "y": [3.0, 4.0]}, "b": False},
    ]
    made = constant(records)
    assert made.to_py() == expected
    assert str(made.arrow_type) == (
        "struct<id: int32, at: struct<x: float32, y: fixed_size_list<float32>[2]>, b: bool>"
    )
    assert constant(records.reshape(2, 1)).shape == (2, 1)
    assert constant({"r": records, "s": records[1]}).to_py() == {"r": expected, "s": expected[1]}
    assert constant(records[0]).to_py() == expected[0]


def test_times() -> None:
    row = {
        "day": dt.date(2020, 1, 2),
        "at": dt.datetime(2020, 1, 2, 3),
        "zoned": dt.datetime(2020, 1, 2, tzinfo=dt.UTC),
        "took": dt.timedelta(seconds=1),
    }
    table = pa.record_batch(constant([row]))
    assert [str(t) for t in table.schema.types] == [
        "date32[day]",
        "timestamp[us]",
        "timestamp[us, tz=UTC]",
        "duration[us]",
    ]
    assert table.to_pylist() == [row]
    assert constant([row]).to_py() == [row]
    numpy = {
        "day": np.datetime64("2020-01-02"),
        "at": np.array(["2020-01-02T03", "NaT"], "M8[s]"),
        "ns": np.datetime64(1000, "ns"),
        "took": np.timedelta64(2, "m"),
    }
    assert pa.array(constant(numpy)).to_pylist() == [
        {
            "day": dt.date(2020, 1, 2),
            "at": [dt.datetime(2020, 1, 2, 3), None],
            "ns": dt.datetime(1970, 1, 1, microsecond=1),
            "took": dt.timedelta(minutes=2),
        }
    ]
    for inexact in (np.datetime64(1, "ns"), np.datetime64(2**60, "s"), np.timedelta64(3)):
        with pytest.raises(cst.errors.SchemaError, match="feature 'x'"):
            constant({"x": inexact})
    pd = pytest.importorskip("pandas")
    assert constant([dt.date(2020, 1, 2), pd.NaT]).to_py() == [dt.date(2020, 1, 2), None]
    most = dt.timedelta(microseconds=2**63 - 1)
    assert constant([most]).to_py() == [most]
    for long in (most + dt.timedelta(microseconds=1), dt.timedelta.max, dt.timedelta.min):
        with pytest.raises(cst.errors.UnsupportedError, match=r"record 1.*64 bits of microseconds"):
            constant([most, long])


def test_what_is_a_tensor_or_arrow_already() -> None:
    made = constant([{"a": 1}])
    assert constant(made) is made
    assert constant(pa.table({"a": [1]})).to_py() == [{"a": 1}]
    assert constant(made, made.spec).to_py() == made.to_py()


# ---- what is refused ----


@pytest.mark.parametrize(
    ("value", "path", "record", "text"),
    [
        # the table of the RFC
        ([{"a": 1}, {"a": "hello"}], "a", 1, "at [1]: found str, expected int as in row 0"),
        ([{"b": [1, 2, 3]}, {"b": [[1, 2], [3, 4]]}], "b", 1,
         "at [1][0]: found list, expected int as in row 0 (values of a field are in equally many"),
        ([{"c": {"x": 1}}, {"c": {"y": 1}}], "c.y", 1,
         "at [1]: found a key that row 0 does not have (all dicts of a field have the same keys: "
         "write None, or give a spec)"),
        # keys
        ([{"a": 1, "b": 2}, {"a": 1}], "b", 1, "the key is missing, expected as in row 0"),
        ([{"a": 1}, {"a": 1, "b": 2}], "b", 1, "found a key that row 0 does not have"),
        ([{"a": 1}, {}], "a", 1, "the key is missing"),
        ([{}, {"a": 1}], "a", 1, "found a key that row 0 does not have"),
        ([[{"p": 1}], [{"p": 1}, {"p": 2}, {"q": 1}]], "q", 1, "at [1][2]: found a key"),
        ({"e": [{"p": 1}, {}]}, "e.p", 1, "at [1]: the key is missing, expected as in row 0"),
        ([[{"p": 1}, {}]], "p", 0, "at [0][1]: the key is missing, expected as in the dict before"),
        ({1: 2}, None, None, "found a key that is int, expected str"),
        ([{"a": {b"k": 2}}], "a", 0, "at [0]: found a key that is bytes, expected str"),
        # types
        ([1, True], None, 1, "at [1]: found bool, expected int as in row 0"),
        ({"e": [{"p": 1.5}, {"p": "x"}]}, "e.p", 1, "at [1]: found str, expected float"),
        ([[{"p": 1.5}, {"p": b"x"}]], "p", 0, "at [0][1]: found bytes, expected float ("),
        ([1, {"a": 1}], None, 1, "found dict, expected int as in row 0"),
        ([{"a": 1}, 1], None, 1, "found int, expected dict as in row 0"),
        # depths
        ([1, [2]], None, 1, "found list, expected int as in row 0 (values of a field are in eq"),
        ([[1], 2], None, 1, "found int, expected list as in row 0 (values of a field are in eq"),
        ([[[1]], [2]], None, 1, "at [1][0]: found int, expected list as in row 0"),
        # classes
        ([{"a": {1, 2}}], "a", 0, "found set, which has no Arrow type here"),
        ({"a": iter([1])}, "a", None, "found list_iterator, which has no Arrow type here"),
        ({"a": 1j}, "a", None, "found complex, which has no Arrow type here"),
        ({"a": np.complex64(1)}, "a", None, "found complex64"),
        ([{"a": np.ma.masked_array([1], [True])}], "a", 0, "fill what is masked"),
    ],
)  # fmt: skip
def test_bad_values(value: Any, path: str | None, record: int | None, text: str) -> None:
    with pytest.raises(cst.errors.SchemaError) as caught:
        constant(value)
    assert (caught.value.path, caught.value.record) == (path, record)
    assert text in str(caught.value)
    assert caught.value.hint


def test_values_that_are_not_shown() -> None:
    with pytest.raises(cst.errors.SchemaError) as caught:
        constant([{"a": 1}, {"a": "secret"}])
    assert "secret" not in str(caught.value)


def test_numbers_that_do_not_fit() -> None:
    with pytest.raises(cst.errors.UnsupportedError, match="64 bits"):
        constant([1, 2**63])
    with pytest.raises(cst.errors.UnsupportedError, match=r"at \[1\]: ints and floats"):
        constant([0.5, 2**53 + 1])
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(
        cst.errors.LimitError, match=r"\[0\]\.\.\.: values are nested more than 60 deep"
    ):
        constant(endless)
    for key in ("a\0b", "\udc80"):
        with pytest.raises(cst.errors.ArgumentError, match="key"):
            constant({key: 2})


# ---- by a spec ----

SPEC = cst.struct.StructuredTensorSpec(
    [None],
    {
        "a": leaf("int8"),
        "b": leaf("float32", nullable=False),
        "c": leaf("int64", None, 2),
        "s": leaf("string"),
        "h": leaf("float16"),
        "e": cst.struct.StructuredTensorSpec([None, None], {"x": leaf("bool", None, None)}),
    },
)


def test_a_spec_types_values() -> None:
    rows: list[Any] = [
        {"b": 2},
        {"b": 0.1, "c": [1, 2], "s": "x", "h": 1.1, "e": [{"x": True}, None, {}], "a": -128},
        None,
    ]
    made = constant(rows, SPEC)
    assert made.spec == SPEC
    assert SPEC.is_compatible_with(made)
    nothing = {"a": None, "c": None, "s": None, "h": None, "e": None}
    first, second, third = made.to_py()
    assert (first, third) == ({**nothing, "b": 2.0}, None)
    assert second == {
        "a": -128,
        "b": float(np.float32(0.1)),
        "c": [1, 2],
        "s": "x",
        "h": float(np.float16(1.1)),
        "e": [{"x": True}, None, {"x": None}],
    }
    pa.array(made).validate(full=True)
    assert constant([], SPEC).spec == SPEC


@pytest.mark.parametrize(
    ("row", "path", "text"),
    [
        ({"a": 128, "b": 1}, "a", "found a value out of the range of int8"),
        ({"a": 2**70, "b": 1}, "a", "found a value out of the range of int8"),
        ({"a": 1.0, "b": 1}, "a", "found float, expected int8 (change the value or the spec)"),
        ({"a": True, "b": 1}, "a", "found bool, expected int8"),
        ({}, "b", "the key is missing, expected float32 (the spec says that it is never null)"),
        ({"b": None}, "b", "found None, expected float32"),
        ({"b": 16777217}, "b", "found an int that float32 does not hold exactly"),
        ({"b": 1e300}, "b", "found a float out of the range of float32"),
        ({"b": 1, "h": 70000.0}, "h", "found a float out of the range of float16"),
        ({"b": 1, "c": [1]}, "c", "found 1 values, expected 2"),
        ({"b": 1, "c": [1, 2, 3]}, "c", "found 3 values, expected 2"),
        ({"b": 1, "c": [[1], [2]]}, "c", "found list, expected int64"),
        ({"b": 1, "c": 1}, "c", "found int, expected list"),
        ({"b": 1, "s": b"x"}, "s", "found bytes, expected str"),
        ({"b": 1, "e": [{"x": 1}]}, "e.x", "at [1][0]: found int, expected bool"),
        ({"b": 1, "z": 1}, "z", "found a key that the spec does not have"),
        ({"b": 1, "e": [{}, {"y": 1}]}, "e.y", "at [1][1]: found a key that the spec does not"),
        (3, None, "found int, expected dict"),
    ],
)
def test_what_a_spec_refuses(row: Any, path: str | None, text: str) -> None:
    with pytest.raises(cst.errors.SchemaError) as caught:
        constant([{"b": 1}, row], SPEC)
    assert (caught.value.path, caught.value.record) == (path, 1)
    assert text in str(caught.value)


def test_ranks_of_a_spec() -> None:
    matrix = leaf("int64", 2, 2)
    made = constant([[1, 2], [3, None]], matrix)
    assert made.shape == (2, 2) and str(made.arrow_type) == "fixed_size_list<int64>[2]"
    with pytest.raises(cst.errors.SchemaError, match="found 1 values, expected 2"):
        constant([[1, 2]], matrix)
    with pytest.raises(cst.errors.SchemaError, match="found int, expected list"):
        constant(1, matrix)
    scalar = cst.struct.StructuredTensorSpec([], {"a": cst.struct.LeafSpec([], "int32")})
    assert constant({"a": 1}, scalar).shape == ()
    assert constant(None, scalar).to_py() is None
    with pytest.raises(cst.errors.SchemaError, match="found list, expected dict"):
        constant([{"a": 1}], scalar)
    with pytest.raises(TypeError, match="spec must be"):
        constant(1, pa.int64())


def test_nulls_below_what_is_never_null() -> None:
    x = leaf("int64", None, 2, nullable=False)
    pairs = cst.struct.StructuredTensorSpec([None, 2], {"x": x}, nullable=False)
    spec = cst.struct.StructuredTensorSpec([None], {"p": pairs})
    made = constant([None, {"p": None}, {"p": [{"x": 1}, {"x": 2}]}], spec)
    assert made.to_py() == [None, {"p": None}, {"p": [{"x": 1}, {"x": 2}]}]
    with pytest.raises(cst.errors.SchemaError, match=r"at \[0\]\[1\]: found None, expected dict"):
        constant([{"p": [{"x": 1}, None]}], spec)


@pytest.mark.parametrize(
    ("dtype", "good", "bad"),
    [
        ("uint8", [0, 255], [-1, 256]),
        ("int16", [-(2**15), 2**15 - 1], [2**15]),
        ("uint32", [0, 2**32 - 1], [2**32, -1]),
        ("int64", [-(2**63), 2**63 - 1], [2**63, -(2**63) - 1]),
        ("uint64", [0, 2**64 - 1, np.uint64(2**63)], [-1, 2**64]),
        ("float64", [2**53, 2**63, 2**64 - 2**11, 1.5, float("inf")], [2**53 + 1, 2**63 + 1]),
        ("float32", [2**24, 0.5, float("-inf")], [2**24 + 1, 3.5e38]),
        ("float16", [2048, 65504.0], [2049, 65520.0, 10**6]),
        ("bool", [True, np.True_], [1, 0.0]),
        ("binary", [b"x", bytearray(b"y")], ["x"]),
        ("null", [None], [0]),
        ("date32", [dt.date(2020, 1, 1)], [dt.datetime(2020, 1, 1)]),
        ("timestamp[s]", [dt.datetime(2020, 1, 1)], [dt.datetime(2020, 1, 1, microsecond=1)]),
        ("timestamp[ns]", [dt.datetime(2020, 1, 1)], [dt.datetime(1, 1, 1)]),
        ("timestamp[us, tz=Asia/Tokyo]", [dt.datetime(2020, 1, 1, tzinfo=dt.UTC)],
         [dt.datetime(2020, 1, 1)]),
        ("duration[ms]", [dt.timedelta(milliseconds=3)], [dt.timedelta(microseconds=3)]),
    ],
)  # fmt: skip
def test_ranges_of_types(dtype: str, good: list[Any], bad: list[Any]) -> None:
    spec = leaf(dtype)
    made = pa.array(constant(good, spec)).to_pylist()
    assert made == [bytes(v) if isinstance(v, bytearray) else v for v in good]
    for value in bad:
        with pytest.raises(cst.errors.SchemaError, match="record 0"):
            constant([value], spec)


def test_floats_of_16_bits_are_rounded_as_numpy_does() -> None:
    rng = np.random.default_rng(0)
    values = rng.standard_normal(5000) * 10.0 ** rng.integers(-9, 4, 5000)
    edges = [0.0, -0.0, 2.0**-25, 2.0**-25 * 1.5, 6.1e-5, 65519.0, float("nan")]
    values = np.concatenate([values, edges])
    made = pa.array(constant(values.tolist(), leaf("float16")))
    assert (np.asarray(made).view("u2") == values.astype("f2").view("u2")).all()


def test_types_that_no_value_of_python_has() -> None:
    spec = cst.struct.StructuredTensorSpec([], {"a": cst.struct.LeafSpec([], "decimal128(10, 2)")})
    with pytest.raises(cst.errors.UnsupportedError, match="feature 'a'"):
        constant({"a": 1}, spec)


def test_random_values_come_back_by_inference_and_by_their_spec() -> None:
    rng = random.Random(5)

    def column(depth: int) -> Any:
        kind = rng.choice(["list", "struct", "leaf"]) if depth < 4 else "leaf"
        if kind == "list":
            item = column(depth + 1)
            return lambda: None if rng.random() < 0.1 else [item() for _ in range(rng.randrange(4))]
        if kind == "struct":
            fields = {f"f{i}": column(depth + 1) for i in range(rng.randrange(4))}
            return lambda: None if rng.random() < 0.1 else {n: f() for n, f in fields.items()}
        leaf = rng.choice(
            [lambda: rng.randrange(-5, 99), rng.random, lambda: rng.random() < 0.5, lambda: "é"]
        )
        return lambda: None if rng.random() < 0.1 else leaf()

    for _ in range(200):
        make = column(0)
        value = [make() for _ in range(rng.randrange(12))]
        made = constant(value)
        assert made.to_py() == value
        pa.array(made).validate(full=True)
        again = constant(value, made.spec)
        assert (again.to_py(), again.spec) == (value, made.spec)
        assert constant(json.loads(json.dumps(value)), made.spec).to_py() == value


# ---- values of numpy ----


def test_constant_value() -> None:
    value = constant_value(
        [
            {"n": 1, "e": [0.5, 1.5], "r": [[1], [2, 3]], "s": {"x": "a"}},
            {"n": 2, "e": [2.5, 3.5], "r": [[], []], "s": {"x": "b"}},
        ]
    )
    assert isinstance(value, cst.struct.StructuredTensorValue)
    assert (value.shape, value.rank, value.field_names()) == ((2,), 1, ("n", "e", "r", "s"))
    assert value.field_value("n").dtype == np.int64
    assert value.field_value("e").tolist() == [[0.5, 1.5], [2.5, 3.5]]
    ragged = value.field_value("r")
    assert (ragged.dtype, ragged.shape) == (object, (2, 2))
    assert ragged[0, 1] == [2, 3]
    assert value.field_value("s").field_value("x").tolist() == ["a", "b"]
    assert value.to_py()[1]["r"] == [[], []]
    assert "(2,) of n, e, r, s" in repr(value)
    assert constant_value([1, None]).tolist() == [1, None]
    assert constant_value(3) == 3
    with pytest.raises(cst.errors.NotFoundError):
        value.field_value("x")
    with pytest.raises(TypeError):
        cst.struct.StructuredTensorValue(1)  # type: ignore[arg-type]


def test_arrays_of_pandas_keep_their_nulls() -> None:
    """2**53 + 1 is no float64, which numpy makes of integers beside a null."""
    import pandas as pd

    values = pd.array([2**53 + 1, None], dtype="Int64")
    expected = [2**53 + 1, None]
    assert cst.struct.constant(values).to_py() == expected
    assert cst.struct.constant({"a": values})["a"].to_py() == expected
    assert cst.struct.constant({"a": pd.Series(values)})["a"].to_py() == expected
    assert cst.struct.constant([1, pd.NA]).to_py() == [1, None]
    assert cst.struct.from_fields({"a": values})["a"].to_py() == expected
    assert cst.array([values]).to_pylist() == [expected]


def test_a_series_within_is_a_list_of_its_values() -> None:
    import pandas as pd

    series = pd.Series([1, 2], index=["x", "y"])
    assert cst.struct.constant({"a": series}).to_py() == {"a": [1, 2]}
