"""Structured tensors of data frames, and back."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

import columnstone as cst
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from columnstone import _core
from hypothesis import given
from hypothesis import strategies as st

NAN = float("nan")


def same(frame: Any) -> cst.StructuredTensor:
    """The tensor of a frame, once the way back has given the frame again."""
    made = cst.StructuredTensor.from_pandas(frame)
    again = made.to_pandas()
    pd.testing.assert_frame_equal(
        again, frame, check_column_type=True, check_index_type=True, check_freq=True
    )
    assert list(again.index.names) == list(frame.index.names)
    assert list(again.columns.names) == list(frame.columns.names)
    return made


def frame_of(column: Any) -> Any:
    return pd.DataFrame({"c": column})


# ---- columns ----


def test_each_column_is_a_field() -> None:
    made = same(pd.DataFrame({"a": [1, 2], "b": [1.5, NAN], "s": ["x", None]}))
    assert (made.rank, made.shape, made.field_names()) == (1, (2,), ("a", "b", "s"))
    assert made["a"].to_py() == [1, 2] and made["s"].to_py() == ["x", None]
    b = made["b"].to_py()
    assert b[0] == 1.5 and b[1] != b[1]


@pytest.mark.parametrize(
    "dtype", ["i1", "u8", "f2", "f4", "f8", "bool", ">i4", ">f8", "M8[s]", "M8[ns]", "m8[ms]"]
)
def test_numpy_dtypes(dtype: str) -> None:
    same(frame_of(np.array([1, 0, 1]).astype(dtype)))
    same(frame_of(np.array([]).astype(dtype)))


@pytest.mark.parametrize("dtype", ["Int64", "UInt8", "Float32", "Float64", "boolean"])
def test_masked_dtypes(dtype: str) -> None:
    made = same(frame_of(pd.array([1, None, 0], dtype=dtype)))
    assert made["c"].to_py() == [1, None, 0]


COLUMNS: dict[str, Any] = {
    "not a time": np.array(["2020", "NaT"], "M8[us]"),
    "not a duration": np.array([1, "NaT"], "m8[ns]"),
    "zone": pd.to_datetime(["2020-01-01", None]).tz_localize("Europe/Berlin"),
    "NaN beside NA": pd.arrays.FloatingArray(np.array([NAN, 1.0]), np.array([False, True])),
    "str": pd.array(["a", None], dtype="str"),
    "string": pd.array(["a", None], dtype="string"),
    "python string": pd.array(["a", None], dtype=pd.StringDtype("python")),
    "python str": pd.array(["a", None], dtype=pd.StringDtype("python", na_value=np.nan)),
    "categories": pd.Categorical(["x", None, "y"], categories=["z", "y", "x"]),
    "categories in order": pd.Categorical([1.5, 2.5, 1.5], ordered=True),
    "categories of ints": pd.Categorical([3, 1, None]),
    "categories of times": pd.Categorical(pd.to_datetime(["2020", "2021", None])),
    "categories of intervals": pd.cut(np.array([1, 5, NAN]), 3),
    "categories of bools": pd.Categorical([True, False, None]),
    "categories of a range": pd.Categorical([1, 2, 1], categories=pd.RangeIndex(3)),
    "no categories": pd.Categorical([None] * 3),
    "periods": pd.array(pd.period_range("2020", periods=3, freq="Q")),
    "intervals": pd.array(pd.interval_range(0, 3)),
    "intervals with NaN": pd.arrays.IntervalArray.from_tuples([(0.0, 1.0), NAN], closed="left"),
    "intervals of times": pd.arrays.IntervalArray.from_breaks(
        pd.date_range("2020", periods=4, tz="UTC")
    ).take([0, -1, 1], allow_fill=True),
    "sparse": pd.arrays.SparseArray([0, 0, 1]),
    "sparse floats": pd.arrays.SparseArray([NAN, 1.0]),
    "arrow ints": pd.array([1, None], dtype=pd.ArrowDtype(pa.int8())),
    "arrow lists": pd.array([[1], None], dtype=pd.ArrowDtype(pa.list_(pa.int8()))),
    "arrow structs": pd.array([{"q": 1}, None], dtype=pd.ArrowDtype(pa.struct({"q": pa.int8()}))),
    "arrow dates": pd.array([datetime.date(2020, 1, 1)], dtype=pd.ArrowDtype(pa.date32())),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_pandas_dtypes(name: str) -> None:
    same(frame_of(COLUMNS[name]))
    same(frame_of(COLUMNS[name][:0]))


OBJECTS: dict[str, list[Any]] = {
    "lists": [[1, 2], None, []],
    "dicts": [{"a": 1, "b": ["x"]}, {"a": 2, "b": None}, None],
    "arrays": [np.float32([1, 2]), np.float32([]), None],
    "matrices": [np.zeros((2, 2)), np.ones((1, 2)), None],
    "arrays of strings": [np.array(["a"]), np.array(["bcd", "e"]), None],
    "tuples": [(1, 2), (), None],
    "strings": ["a", None, ""],
    "strings, NaN": ["a", NAN, ""],
    "floats, NaN and None": [1.5, NAN, None],
    "bools": [True, None, False],
    "bytes": [b"x", b"", None],
    "times": [pd.Timestamp("2020", tz="UTC"), pd.NaT, pd.Timestamp("2020-02", tz="UTC")],
    "dates": [datetime.date(2020, 1, 1), None, None],
    "times of day": [datetime.time(1, 2, 3), None],
    "decimals": [decimal.Decimal("1.5"), None, None],
    "NA": [pd.NA, 1, 2],
    "only None": [None, None],
    "only NaN": [NAN, NAN],
    "nothing": [],
}


@pytest.mark.parametrize("name", OBJECTS)
def test_objects(name: str) -> None:
    same(frame_of(pd.Series(OBJECTS[name], dtype=object)))


def test_objects_become_lists_and_structs() -> None:
    cells = [np.zeros((2, 3), np.float32), np.ones((1, 3), np.float32)]
    frame = pd.DataFrame({"m": cells, "d": [{"x": [1]}, {"x": [2, 3]}]})
    made = cst.StructuredTensor.from_pandas(frame)
    assert made["m"].shape == (2, None, 3)
    assert made["d", "x"].to_py() == [[1], [2, 3]]
    nulls = cst.StructuredTensor.from_pandas(frame_of(pd.Series(["a", NAN, None, pd.NA])))
    assert nulls["c"].to_py() == ["a", None, None, None]


@pytest.mark.parametrize(
    ("cells", "error", "match"),
    [
        ([1, "a"], cst.errors.SchemaError, "record 1, feature 'c'.*expected int as in row 0"),
        ([{"x": [1]}, {"x": 2}], cst.errors.SchemaError, "record 1, feature 'c.x'.*expected list"),
        ([{1, 2}], cst.errors.UnsupportedError, "set"),
    ],
)
def test_objects_that_are_refused(cells: list[Any], error: type, match: str) -> None:
    with pytest.raises(error, match=match):
        cst.StructuredTensor.from_pandas(frame_of(pd.Series(cells, dtype=object)))


def test_frames_that_are_refused() -> None:
    of = cst.StructuredTensor.from_pandas
    with pytest.raises(cst.errors.ArgumentError, match="two columns have the name 'a'"):
        of(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(cst.errors.ArgumentError, match="two columns would become the field '0'"):
        of(pd.DataFrame([[1, 2]], columns=[0, "0"]))
    with pytest.raises(cst.errors.ArgumentError, match="reserved for the index"):
        of(pd.DataFrame({"_index_": [1]}, index=["x"]))
    with pytest.raises(cst.errors.ArgumentError, match="reserved for the index"):
        of(pd.DataFrame({"_index_": [1]}))
    for named in (
        pd.DataFrame({"a\0": [1]}),
        pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("a", "b\0")])),
        pd.DataFrame([1, 2], index=pd.MultiIndex.from_product([[1], [2, 3]], names=["k\0", "n"])),
    ):
        with pytest.raises(cst.errors.ArgumentError, match="NUL"):
            of(named)
    with pytest.raises(cst.errors.UnsupportedError, match="'c': complex128 has no Arrow type"):
        of(frame_of(np.array([1j])))
    with pytest.raises(cst.errors.UnsupportedError, match="label of type tuple"):
        of(pd.DataFrame({"a": [1]}, index=pd.Index(["x"], name=("n", 1))))
    wrong: Any = {"a": [1]}
    with pytest.raises(TypeError, match=r"expected a pandas.DataFrame, not dict"):
        of(wrong)


def test_numbers_are_not_copied() -> None:
    numbers = np.arange(5.0)
    own = pd.array(pa.array(["a", "b", "c", "d", "e"]), dtype=pd.ArrowDtype(pa.string()))
    frame = pd.DataFrame({"n": numbers, "s": own}, copy=False)
    made = cst.StructuredTensor.from_pandas(frame)
    assert np.shares_memory(np.asarray(made["n"]._array), numbers)
    there = pa.array(made["s"]._array).buffers()[2].address
    assert there == frame["s"].array.__arrow_array__().chunk(0).buffers()[2].address
    again = made.to_pandas()
    assert np.shares_memory(again["n"].to_numpy(), numbers)
    again = again.copy()
    again.loc[0, "n"] = 7.0
    assert numbers[0] == 0.0


# ---- row indexes ----


INDEXES: dict[str, Any] = {
    "strings": pd.Index(["x", "y", "x"], name="n"),
    "ints": pd.Index([5, 2, 2], name=7),
    "range": pd.RangeIndex(4, 10, 2),
    "named range": pd.RangeIndex(3, name="r"),
    "range of one step": pd.RangeIndex(5, 8),
    "times": pd.date_range("2020", periods=3, freq="MS", tz="Europe/Berlin"),
    "times without a frequency": pd.DatetimeIndex(["2020", "2022", None]),
    "durations": pd.timedelta_range("1h", periods=3, freq="2h"),
    "periods": pd.period_range("2020", periods=3, freq="Q"),
    "intervals": pd.interval_range(0, 3),
    "categories": pd.CategoricalIndex(["a", "b", "a"], categories=["b", "c", "a"], name="k"),
    "objects": pd.Index([(1, 2), (3,), ()], dtype=object, tupleize_cols=False),
    "masked": pd.Index(pd.array([1, None, 3], dtype="Int64")),
}


@pytest.mark.parametrize("name", INDEXES)
def test_an_index_is_a_field(name: str) -> None:
    made = same(pd.DataFrame({"a": [1, 2, 3]}, index=INDEXES[name]))
    assert made.field_names() == ("_index_", "a")
    assert made.rank == 1


def test_the_default_index_is_none() -> None:
    assert same(pd.DataFrame({"a": [1, 2]})).field_names() == ("a",)
    assert same(pd.DataFrame(index=range(3))).shape == (3,)
    assert same(pd.DataFrame()).shape == (0,)
    assert same(pd.DataFrame({"a": []})).shape == (0,)


def test_the_index_goes_with_the_rows() -> None:
    frame = pd.DataFrame({"a": [1, 2, 3, 4]}, index=pd.date_range("2020", periods=4, name="day"))
    made = cst.StructuredTensor.from_pandas(frame)
    for rows in (slice(1, 3), slice(None, None, -2), np.array([True, False, True, True])):
        pd.testing.assert_frame_equal(made[rows].to_pandas(), frame[rows], check_freq=False)
    ranged = pd.DataFrame({"a": [1, 2, 3, 4]}, index=pd.RangeIndex(10, 14))
    made = cst.StructuredTensor.from_pandas(ranged)
    backwards = made[2::-2].to_pandas()
    pd.testing.assert_frame_equal(backwards, ranged[2::-2], check_index_type=True)
    assert made[[0, 1, 3]].to_pandas().index.tolist() == [10, 11, 13]
    both = cst.struct.concat([made[:1], made[3:]]).to_pandas()
    assert both.index.tolist() == [10, 13]


def test_dtypes_go_with_the_values() -> None:
    labels = pd.MultiIndex.from_product([["x", "y"], [1, 2, 3]], names=["p", "q"])
    kinds = pd.Categorical(list("ababab"))
    frame = pd.DataFrame({("k", 0): kinds, ("v", 1): range(6)}, index=labels)
    frame.columns.names = ["c", "d"]
    made = same(frame)
    pd.testing.assert_frame_equal(made[:, ::2].to_pandas(), frame.iloc[[0, 2, 3, 5]])
    pd.testing.assert_frame_equal(made[1].to_pandas(), frame[3:])
    pd.testing.assert_frame_equal(made.merge_dims(0, 1).to_pandas(), frame)
    assert made["k", "0"].to_pandas().dtype == kinds.dtype
    some = made[["v", "_index_"]].to_pandas()
    pd.testing.assert_frame_equal(some, frame[["v"]])


def test_levels_are_dimensions() -> None:
    labels = [("x", 1), ("x", 2), ("y", 1), ("x", 5)]
    frame = pd.DataFrame(
        {"a": range(4)}, index=pd.MultiIndex.from_tuples(labels, names=["p", None])
    )
    made = same(frame)
    assert made.shape == (3, None)
    assert made["a"].to_py() == [[0, 1], [2], [3]]
    assert made["_index_"].field_names() == ("p", "level_1")
    assert made["_index_", "p"].to_py() == [["x", "x"], ["y"], ["x"]]
    product = [["x", "y"], [1, 2, 3], pd.to_datetime(["2020", "2021"])]
    index = pd.MultiIndex.from_product(product, names=["q", "q", "z"])
    made = same(pd.DataFrame({"a": range(12)}, index=index))
    assert made.shape == (2, 3, 2)
    assert made["a"].to_py() == np.arange(12).reshape(2, 3, 2).tolist()


@pytest.mark.parametrize(
    "index",
    [
        pd.MultiIndex.from_tuples([("x", NAN), (None, 2), (None, 3)]),
        pd.MultiIndex.from_product([[], [1]]),
        pd.MultiIndex.from_arrays([["x", "y"]], names=["one"]),
        pd.MultiIndex.from_arrays([pd.Categorical(["b", "a"]), pd.array([1, 2], dtype="Int8")]),
        pd.MultiIndex.from_tuples([(1.5, "a", "b"), (1.5, "a", "c"), (2.5, "a", "c")]),
    ],
)
def test_levels_of_all_kinds(index: Any) -> None:
    assert same(pd.DataFrame({"a": range(len(index))}, index=index)).rank == index.nlevels


# ---- labels of columns ----


@pytest.mark.parametrize(
    "columns",
    [
        pd.RangeIndex(3),
        pd.Index([3, 1, 2], name="n"),
        pd.Index(["x", "y", "z"], dtype=object),
        pd.Index(["x", "y", "z"], name="n"),
        pd.Index([0, "a", None], dtype=object),
        pd.date_range("2020", periods=3),
        pd.CategoricalIndex(["a", "b", "c"], name="cc"),
    ],
)
def test_labels_of_all_kinds(columns: Any) -> None:
    frame = pd.DataFrame(np.zeros((2, 3)), columns=columns)
    made = same(frame)
    assert made.field_names() == tuple(str(label) for label in columns)


HIERARCHIES: list[Any] = [
    pd.MultiIndex.from_tuples([("a", "x"), ("b", ""), ("a", "y"), ("c", "z")], names=["u", None]),
    pd.MultiIndex.from_tuples([("a", "x", 1), ("b", "", ""), ("a", "y", 2), ("b", "q", "")]),
    pd.MultiIndex.from_product([["v", "w"], pd.to_datetime(["2020", "2021"])]),
]


@pytest.mark.parametrize("columns", HIERARCHIES)
def test_hierarchical_columns_are_nested_fields(columns: Any) -> None:
    same(pd.DataFrame(np.arange(8.0).reshape(2, 4), columns=columns))


def test_paths_of_hierarchical_columns() -> None:
    frame = pd.DataFrame(np.arange(8.0).reshape(2, 4), columns=HIERARCHIES[0])
    made = same(frame)
    assert made.field_names() == ("a", "b", "c")
    assert made["a", "y"].to_py() == [2.0, 6.0]
    assert made["b"].to_py() == [1.0, 5.0]
    index = pd.MultiIndex.from_product([[1, 2], ["a", "b"]])
    both = pd.DataFrame(np.arange(16).reshape(4, 4), index=index, columns=HIERARCHIES[0])
    made = same(both)
    assert made.shape == (2, 2)
    assert made["a", "y"].to_py() == [[2, 6], [10, 14]]


# ---- tensors of other origin ----


def nested(values: list[Any], is_row: bool = False) -> Any:
    return _core.structured(cst.array(values), is_row)


def test_columns_of_other_origin_are_of_arrow() -> None:
    frame = nested([{"a": 1, "b": [1]}, {"a": None, "b": None}]).to_pandas()
    assert frame["a"].dtype == pd.ArrowDtype(pa.int64())
    assert frame["b"].dtype == pd.ArrowDtype(pa.large_list(pa.int64()))
    assert frame.columns.tolist() == ["a", "b"]


def test_positions_are_labels() -> None:
    frame = nested([[{"a": 1}, {"a": 2}], [], [{"a": 3}]]).to_pandas()
    assert frame.index.tolist() == [(0, 0), (0, 1), (2, 0)]
    assert frame["a"].tolist() == [1, 2, 3]
    series = nested([[[1], []], [[2, 3]]]).to_pandas()
    assert series.index.tolist() == [(0, 0, 0), (1, 0, 0), (1, 0, 1)]
    assert series.tolist() == [1, 2, 3]
    row = nested([[{"a": 1}, {"a": 2}]], True).to_pandas()
    assert row.index.tolist() == [0, 1]


def test_layouts_of_arrow() -> None:
    of = _core.structured
    pairs = pa.array([[("a", 1)], [], [("b", 2), ("c", 3)]], pa.map_(pa.string(), pa.int32()))
    frame = of(cst.array(pairs), False).to_pandas()
    assert frame.index.tolist() == [(0, 0), (2, 0), (2, 1)]
    assert frame["value"].tolist() == [1, 2, 3]
    views = pa.array([[1, 2], [], [3]], pa.list_view(pa.int8()))
    assert of(cst.array(views), False).to_pandas().tolist() == [1, 2, 3]
    fixed = pa.array([[1, 2], [3, 4], [5, 6]], pa.list_(pa.int8(), 2))
    assert of(cst.array(fixed[1:]), False).to_pandas().tolist() == [3, 4, 5, 6]
    text = of(cst.array(pa.array(["x", None], pa.string_view())), False).to_pandas()
    assert text.to_dict() == {0: "x", 1: None}


def test_what_a_frame_cannot_say() -> None:
    for made, what in (
        (nested([{"a": 1}], True), "a scalar"),
        (nested([{"a": 1}, None]), "element 1, which is null"),
        (nested([[{"a": 1}], None]), r"row \[1\], which is null"),
        (nested([[[1], None], [None]]), r"row \[0, 1\], which is null"),
    ):
        with pytest.raises(cst.errors.UnsupportedError, match=what):
            made.to_pandas()


def test_values_that_no_longer_are_of_the_noted_dtype() -> None:
    """The notes are a hint: what contradicts them is Arrow-backed, and no value is lost."""
    frame = pd.DataFrame({"a": [1, 2], "k": pd.Categorical(["x", "y"])})
    whole = cst.StructuredTensor.from_pandas(frame)
    schema = pa.schema(whole._array.schema)
    other = pa.record_batch([pa.array([1, None]), pa.array(["z", None], pa.large_string())], schema)
    made = _core.structured(cst.record_batch(other), False).to_pandas()
    assert made["a"].dtype == pd.ArrowDtype(pa.int64()) and made["a"].isna().tolist() == [
        False,
        True,
    ]
    assert made["k"].tolist()[0] == "z"


# ---- anything ----

LABELS = st.text("abcé. ", max_size=3)
COLUMN = st.one_of(
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=4, max_size=4),
    st.lists(st.floats(), min_size=4, max_size=4),
    st.lists(st.booleans() | st.none(), min_size=4, max_size=4).map(
        lambda v: pd.array(v, dtype="boolean")
    ),
    st.lists(st.text() | st.none(), min_size=4, max_size=4).map(lambda v: pd.array(v, dtype="str")),
    st.lists(st.text("ab") | st.none(), min_size=4, max_size=4).map(pd.Categorical),
    st.lists(st.lists(st.integers(0, 9), max_size=3) | st.none(), min_size=4, max_size=4).map(
        lambda v: pd.Series(v, dtype=object).array
    ),
)
INDEX = st.one_of(
    st.none(),
    st.lists(st.text("ab") | st.none(), min_size=4, max_size=4).map(
        lambda v: pd.Index(v, dtype="str")
    ),
    st.lists(
        st.tuples(st.sampled_from("xy"), st.integers(0, 2), LABELS), min_size=4, max_size=4
    ).map(pd.MultiIndex.from_tuples),
)


@given(columns=st.dictionaries(LABELS, COLUMN, max_size=4), index=INDEX, rows=st.integers(0, 4))
def test_any_frame(columns: dict[str, Any], index: Any, rows: int) -> None:
    frame = pd.DataFrame({name: pd.Series(v).array for name, v in columns.items()})
    frame.columns = pd.Index(list(columns), dtype="str")
    if columns and index is not None:
        frame.index = index
    same(frame[:rows])


@given(paths=st.sets(st.tuples(st.sampled_from("ab"), st.sampled_from(["", "x", "y"])), min_size=1))
def test_any_hierarchy(paths: set[tuple[str, str]]) -> None:
    columns = pd.MultiIndex.from_tuples(sorted(paths, key=hash))
    same(pd.DataFrame(np.arange(2 * len(paths)).reshape(2, -1), columns=columns))


def test_two_fields_of_one_name_are_not_one() -> None:
    twice = pa.StructArray.from_arrays([pa.array([1, 2]), pa.array([3, 4])], ["a", "a"])
    tensor = cst.StructuredTensor.from_arrow(twice)
    batch = cst.record_batch(pa.table([[1], [2]], names=["a", "a"]))
    calls = [tensor.to_py, tensor[0].to_py, tensor.to_pandas, cst.array(twice).to_pylist]
    for call in (*calls, batch.to_pydict):
        with pytest.raises(cst.errors.ArgumentError, match="two fields are named 'a'"):
            call()
    assert tensor[:0].to_py() == []
