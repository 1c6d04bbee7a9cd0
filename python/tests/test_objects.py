"""Python's own data: rows, columns, values, and where they are taken."""

from __future__ import annotations

import datetime as dt
import io
import time
from collections import OrderedDict, UserDict
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Any

import columnstone as cst
import numpy as np
import pyarrow as pa
import pytest


def kind(values: list[Any]) -> str:
    return str(cst.array(values).type)


@pytest.mark.parametrize(
    ("values", "type"),
    [
        ([1, None, -(2**63), 2**63 - 1], "int64"),
        ([1.5, None], "float64"),
        ([True, False, None], "bool"),
        (["a", "ä", "", None], "large_string"),
        ([b"a", b"", None], "large_binary"),
        ([None, None], "null"),
        ([], "null"),
        ([[1], [], None, [None]], "large_list<int64>"),
        ([[], []], "large_list<null>"),
        ([[["a"]], [[], None]], "large_list<large_list<large_string>>"),
        ([{}, {}], "struct<>"),
    ],
)
def test_values_come_back(values: list[Any], type: str) -> None:
    made = cst.array(values)
    assert made.to_pylist() == values
    assert str(made.type) == type
    pa.array(made).validate(full=True)


def test_bools_and_nulls_across_bytes() -> None:
    values = [None if i % 5 == 0 else i % 3 == 0 for i in range(1000)]
    assert cst.array(values).to_pylist() == values
    late = [None] * 17 + [2.5]
    assert cst.array(late).to_pylist() == late


def test_rows_of_other_keys_are_null_there() -> None:
    rows = [{"a": 1}, {"b": [{"x": 1}]}, {}, {"b": [{"y": "s"}, None, {}], "a": None}, {"a": 2}]
    batch = cst.record_batch(rows)
    assert batch.column_names == ["a", "b"]
    assert batch.column("a").to_pylist() == [1, None, None, None, 2]
    assert batch.column("b").to_pylist() == [
        None,
        [{"x": 1, "y": None}],
        None,
        [{"x": None, "y": "s"}, None, {"x": None, "y": None}],
        None,
    ]
    pa.record_batch(batch).validate(full=True)


def test_no_rows_and_no_keys() -> None:
    assert (len(cst.record_batch([])), cst.record_batch([]).column_names) == (0, [])
    assert len(cst.record_batch([{}, {}])) == 2
    assert len(cst.record_batch({})) == 0
    assert cst.record_batch({"a": []}).column_names == ["a"]


def test_any_mapping_and_tuple_is_a_row_and_a_list() -> None:
    rows = [OrderedDict(a=(1, 2)), UserDict(a=[3]), MappingProxyType({"a": ()})]
    assert cst.record_batch(rows).column("a").to_pylist() == [[1, 2], [3], []]  # type: ignore[arg-type]


def test_ints_and_floats_are_floats_where_that_is_exact() -> None:
    assert cst.array([1, 2.5, 2**53]).to_pylist() == [1.0, 2.5, 2.0**53]
    assert cst.array([float("inf"), -(2**63)]).to_pylist() == [float("inf"), -(2.0**63)]
    for values in ([2**53 + 1, 0.5], [0.5, 2**53 + 1], [0.5, 2**63 - 1]):
        with pytest.raises(cst.errors.UnsupportedError, match="record 1: ints and floats"):
            cst.array(values)
    (nan,) = cst.array([float("nan")]).to_pylist()
    assert nan != nan


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([1, "a"], "found str, expected int as in row 0"),
        ([None, "a", b"a"], "found bytes, expected str as in row 1"),
        ([True, 1], "found int, expected bool as in row 0"),
        ([1, True], "found bool, expected int as in row 0"),
        ([[1], 1], "found int, expected list as in row 0"),
        ([{}, []], "found list, expected dict as in row 0"),
        ([[1, "a"]], "found str, expected int"),
        ([dt.date(2020, 1, 1), dt.datetime(2020, 1, 1)], "found datetime, expected date as in row"),
        (
            [dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1, tzinfo=dt.UTC)],
            "found datetime, expected datetime without a time zone as in row 0",
        ),
    ],
)
def test_other_mixes_are_errors(values: list[Any], text: str) -> None:
    with pytest.raises(cst.errors.SchemaError, match=text) as caught:
        cst.array(values)
    assert caught.value.record == len(values) - 1


def test_errors_say_row_and_path() -> None:
    rows: list[dict[str, Any]] = [
        {"a": {"b": [{"c": 1}]}},
        {"a": {"b": [{"c": 1}, {"c": "secret"}]}},
    ]
    with pytest.raises(cst.errors.SchemaError) as caught:
        cst.record_batch(rows)
    assert (caught.value.record, caught.value.path) == (1, "a.b.c")
    assert "secret" not in str(caught.value)
    with pytest.raises(cst.errors.SchemaError) as caught:
        cst.record_batch({"x": [1, 2], "y": [1, "b"]})
    assert (caught.value.record, caught.value.path) == (1, "y")
    with pytest.raises(cst.errors.SchemaError, match="record 1: found str, expected dict"):
        cst.record_batch([{}, "a"])  # type: ignore[list-item]
    with pytest.raises(cst.errors.ArgumentError, match="null"):
        cst.record_batch([{"a": 1}, None])  # type: ignore[list-item]


def test_what_cannot_be_a_value() -> None:
    with pytest.raises(cst.errors.UnsupportedError, match="64 bits"):
        cst.array([1, 2**63])
    with pytest.raises(cst.errors.UnsupportedError, match="record 1: found set"):
        cst.array([None, {1}])
    with pytest.raises(cst.errors.ArgumentError, match="surrogates"):
        cst.array(["\udc80"])
    with pytest.raises(cst.errors.SchemaError, match="found a key that is int"):
        cst.record_batch([{1: 2}])  # type: ignore[dict-item]
    for key in ("a\0b", "\udc80"):
        with pytest.raises(cst.errors.ArgumentError, match="key"):
            cst.record_batch([{key: 2}])
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(cst.errors.LimitError, match="deep"):
        cst.array(endless)


def test_columns() -> None:
    columns = {
        "list": [1, None],
        "tuple": ("a", "b"),
        "numpy": np.array([1, 2], np.int8),
        "matrix": np.array([[1, 2], [3, 4]], np.float32),
        "text": np.array(["a", "b"]),
        "objects": np.array([b"a", None], object),
        "arrow": pa.array([1, 2], pa.int16()),
    }
    batch = cst.record_batch(columns)
    assert str(batch.schema) == (
        "struct<list: int64, tuple: large_string, numpy: int8, matrix: large_list<float32>, "
        "text: large_string, objects: large_binary, arrow: int16>"
    )
    assert batch.column("matrix").to_pylist() == [[1.0, 2.0], [3.0, 4.0]]
    with pytest.raises(
        cst.errors.ArgumentError, match="feature 'b': 1 values, expected 2 as in 'a'"
    ):
        cst.record_batch({"a": [1, 2], "b": [1]})
    for values in (1, "ab", b"ab", {1}, None):
        with pytest.raises(TypeError, match="column 'a' is"):
            cst.record_batch({"a": values})  # type: ignore[dict-item]


@pytest.mark.parametrize("dtype", ["?", *"bBhHiIlLqQefd"])
def test_numpy_arrays_and_scalars_as_values(dtype: str) -> None:
    values = np.array([[0, 1], [1, 0], [1, 1]], dtype)
    expected = [[0, 1], None, [1, 0], [1, 1]]
    made = cst.array([values[0], None, values[1], values[2][::-1]])
    assert made.to_pylist() == expected
    inner = "float32" if dtype == "e" else str(values.dtype)
    assert made.flatten().numpy().dtype == inner
    assert cst.array([values[0, 1], values[1, 1], None]).to_pylist() == [1, 0, None]
    assert cst.array(values).to_pylist() == values.tolist()


def test_arrays_of_several_types_and_dimensions() -> None:
    mixed = cst.array([np.array([1], "i1"), np.array([-1], "i2"), [2**40]])
    assert mixed.to_pylist() == [[1], [-1], [2**40]]
    assert cst.array([np.float32(0.5), 0.1]).to_pylist() == [0.5, 0.1]
    cube = np.arange(24).reshape(2, 3, 4)
    assert cst.array([cube, cube.T]).to_pylist() == [cube.tolist(), cube.T.tolist()]
    assert cst.array([np.array(["a", "b"]), ["c"]]).to_pylist() == [["a", "b"], ["c"]]
    assert cst.array([pa.array([1, None]), cst.array([2]), pa.scalar(None)]).to_pylist() == [
        [1, None],
        [2],
        None,
    ]
    with pytest.raises(cst.errors.UnsupportedError, match="64 bits"):
        cst.array([np.uint64(2**63)])
    for refused in (np.ma.masked_array([1], [True]), np.datetime64(1, "ns"), np.complex64(1)):
        with pytest.raises(cst.errors.UnsupportedError, match="record 0: found"):
            cst.array([refused])


def test_bytes_like() -> None:
    assert cst.array([b"a", bytearray(b"b"), memoryview(b"c")]).to_pylist() == [b"a", b"b", b"c"]


def test_times() -> None:
    zone = dt.timezone(dt.timedelta(hours=2))
    values = {
        "day": [dt.date(1969, 12, 31), None, dt.date.max],
        "at": [dt.datetime(1969, 12, 31, 23, 59, 59, 999999), None, dt.datetime.max],
        "zoned": [dt.datetime(2020, 1, 1, 2, tzinfo=zone), None, None],
        "took": [dt.timedelta(microseconds=-1), None, dt.timedelta(days=3, seconds=1)],
    }
    table = pa.record_batch(cst.record_batch(values))
    assert [str(t) for t in table.schema.types] == [
        "date32[day]",
        "timestamp[us]",
        "timestamp[us, tz=UTC]",
        "duration[us]",
    ]
    assert table.to_pydict() == values
    pandas = pytest.importorskip("pandas")
    (stamp,) = pa.array(cst.array([pandas.Timestamp("2020-01-01 00:00:01")])).to_pylist()
    assert stamp == dt.datetime(2020, 1, 1, 0, 0, 1)
    with pytest.raises(cst.errors.UnsupportedError, match="nanoseconds"):
        cst.array([pandas.Timestamp(1)])


@pytest.mark.parametrize(
    ("type", "values"),
    [
        (pa.date32(), [dt.date.min, dt.date(1969, 12, 31), None, dt.date.max]),
        (pa.date64(), [dt.date(1969, 12, 31), dt.date(2020, 2, 29)]),
        (pa.timestamp("s"), [dt.datetime.min, dt.datetime(1969, 12, 31, 23, 59, 59)]),
        (pa.timestamp("ms"), [dt.datetime(2020, 1, 1, microsecond=999000), None]),
        (pa.timestamp("us"), [dt.datetime.max, dt.datetime(1, 1, 1, microsecond=1)]),
        (pa.timestamp("ns"), [dt.datetime(2020, 1, 1, microsecond=1)]),
        (pa.timestamp("us", "UTC"), [dt.datetime(2020, 7, 1, tzinfo=dt.UTC)]),
        (pa.timestamp("s", "+02:30"), [dt.datetime(2020, 7, 1, tzinfo=dt.UTC)]),
        (pa.timestamp("s", "Europe/Berlin"), [dt.datetime(2020, 7, 1, tzinfo=dt.UTC)]),
        (pa.duration("s"), [dt.timedelta(days=-3), dt.timedelta(seconds=1)]),
        (pa.duration("us"), [dt.timedelta(microseconds=-1), None]),
        (pa.time32("s"), [dt.time(23, 59, 59), dt.time()]),
        (pa.time64("us"), [dt.time(1, 2, 3, 4)]),
        (pa.decimal128(10, 2), [Decimal("-12345678.90"), Decimal("0.01"), None]),
        (pa.decimal128(5, -2), [Decimal("1.23E+4")]),
        (pa.decimal256(60, 3), [Decimal(10) ** 50 + Decimal("0.001")]),
    ],
)
def test_times_and_decimals_as_values(type: pa.DataType, values: list[Any]) -> None:
    array = pa.array(values, type)
    found = cst.array(array).to_pylist()
    assert found == values
    assert list(map(str, found)) == list(map(str, array.to_pylist()))
    assert cst.array(pa.array([values, None], pa.list_(type))).to_pylist() == [values, None]


@pytest.mark.parametrize(
    "array",
    [
        pa.array([1], pa.timestamp("ns")),
        pa.array([2**60], pa.timestamp("s")),
        pa.array([-1], pa.duration("ns")),
        pa.array([0], pa.timestamp("s", "Nowhere/City")),
        pa.array([pa.MonthDayNano([1, 2, 3])]),
    ],
)
def test_times_that_python_does_not_have(array: pa.Array) -> None:
    with pytest.raises(cst.errors.UnsupportedError, match="cannot become Python objects"):
        cst.array(array).to_pylist()


@pytest.mark.parametrize(
    "dtype", ["M8[D]", "M8[s]", "M8[ms]", "M8[us]", "M8[ns]", "m8[s]", "m8[ns]"]
)
def test_times_of_numpy(dtype: str) -> None:
    values = np.array([1, -5, "NaT"], dtype)
    made = pa.array(cst.array(values))
    assert made.equals(pa.array(values)), (made, pa.array(values))


# ---- where they are taken ----

ROWS = [{"a": 1, "s": "x"}, {"a": None, "s": "y"}, {"s": "z"}]
TABLE = {"a": [1, None, None], "s": ["x", "y", "z"]}


def columns_of(source: Any) -> dict[str, list[Any]]:
    return pa.table(source).to_pydict()


@pytest.mark.parametrize("data", [ROWS, tuple(ROWS), TABLE], ids=["rows", "tuple", "columns"])
def test_as_an_input(data: Any, tmp_path: Path) -> None:
    source = cst.open(data)
    assert columns_of(source) == columns_of(source) == TABLE
    assert columns_of(cst.open(data, columns=["s"])) == {"s": TABLE["s"]}
    assert cst.convert(data, tmp_path / "a.arrow") == 3
    assert columns_of(cst.open(tmp_path / "a.arrow")) == TABLE
    assert cst.write(data, tmp_path / "b.arrow") == 3
    assert columns_of(cst.open(tmp_path / "b.arrow")) == TABLE
    assert {f.name for f in cst.infer_schema(data).features} == {"a", "s"}


def test_rows_of_an_iterator(tmp_path: Path) -> None:
    assert columns_of(cst.open(dict(row) for row in ROWS)) == TABLE
    assert cst.write((dict(row) for row in ROWS), tmp_path / "a.jsonl") == 3
    assert (tmp_path / "a.jsonl").read_text().count("\n") == 3
    assert cst.write([ROWS, ROWS], tmp_path / "b.jsonl") == 6  # batches
    assert columns_of(cst.concat([ROWS, {"a": [7]}]))["a"] == [1, None, None, 7]  # type: ignore[list-item]


def test_lists_of_paths_stay_paths(tmp_path: Path) -> None:
    cst.write(ROWS, tmp_path / "a.arrow")
    assert len(pa.table(cst.open([tmp_path / "a.arrow", str(tmp_path / "a.arrow")]))) == 6
    with pytest.raises(cst.errors.ArgumentError, match="empty"):
        cst.open([])
    with pytest.raises(TypeError):
        cst.open([1, 2])  # type: ignore[list-item]


def test_encode_and_adapt() -> None:
    encoder = cst.encoder("example")
    assert encoder.encode(ROWS).to_pylist() == encoder.encode(cst.record_batch(ROWS)).to_pylist()  # type: ignore[arg-type]
    out = io.BytesIO()
    with cst.codec.TFRecordWriter(out) as writer:
        writer.write_batch(encoder.encode(TABLE))  # type: ignore[arg-type]
    out.seek(0)
    assert pa.table(cst.open(out)).num_rows == 3
    with pytest.raises(TypeError, match="not int"):
        encoder.encode(1)  # type: ignore[arg-type]
    rows = [{"x": [1]}, {"x": [2]}]
    tensor = cst.schema.TensorRepresentation("x", "dense", "int64", ("x",))
    adapter = cst.tensor.TensorAdapter(cst.record_batch(rows).schema, [tensor])
    assert np.asarray(adapter.convert(rows)["x"]).tolist() == [1, 2]  # type: ignore[arg-type]


def test_a_hundred_thousand_rows_take_no_time() -> None:
    rows = [
        {"id": i, "name": f"n{i}", "score": i / 7, "tags": ["a", "b"], "at": {"x": i, "y": None}}
        for i in range(100_000)
    ]
    begin = time.perf_counter()
    batch = cst.record_batch(rows)
    seconds = time.perf_counter() - begin
    assert batch.column("at.x").to_pylist()[-1] == 99_999
    assert seconds < 5, seconds  # 0.1 on a quiet machine


def test_a_dict_that_changes_while_it_is_read() -> None:
    class Trap:
        def __array__(self, dtype: object = None, copy: object = None) -> Any:
            row["more"] = 1
            rows.clear()
            return np.array([1])

    row: dict[str, Any] = {"a": Trap(), "b": 1}
    rows = [row, {"a": [1]}]
    try:
        cst.array(rows)  # the list itself is copied
    except RuntimeError as error:
        assert "changed" in str(error)
    else:
        raise AssertionError
