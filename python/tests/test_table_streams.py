"""Arrays and batches of tables and series of other libraries; what an Array is not made of."""

from __future__ import annotations

from typing import Any

import columnstone as cst
import numpy as np
import pyarrow as pa
import pytest


def test_tables_of_pyarrow() -> None:
    table = pa.concat_tables([pa.table({"a": [1, 2]}), pa.table({"a": pa.array([None, 4])})])
    batch = cst.record_batch(table)
    assert batch.to_pydict() == {"a": [1, 2, None, 4]}
    assert cst.concat([table, batch]).num_rows == 8
    assert cst.record_batch(table.slice(1, 2)).to_pydict() == {"a": [2, None]}


def test_one_chunk_is_not_copied() -> None:
    column = pa.array([1.0, 2.0])
    batch = cst.record_batch(pa.table({"a": column}))
    assert pa.record_batch(batch)["a"].buffers()[1].address == column.buffers()[1].address


@pytest.mark.parametrize(
    "type_",
    [
        pa.int8(),
        pa.bool_(),
        pa.null(),
        pa.string(),
        pa.large_binary(),
        pa.string_view(),
        pa.binary(3),
        pa.list_(pa.int64()),
        pa.list_(pa.string(), 2),
        pa.large_list_view(pa.int64()),
        pa.map_(pa.string(), pa.int64()),
        pa.struct([("x", pa.list_(pa.float32()))]),
        pa.dictionary(pa.int32(), pa.string()),
        pa.date32(),
        pa.decimal128(5, 2),
    ],
    ids=str,
)
def test_tables_without_rows_keep_their_type(type_: pa.DataType) -> None:
    batch = cst.record_batch(pa.schema([("a", type_)]).empty_table())
    assert batch.num_rows == 0
    plain = type_.value_type if pa.types.is_dictionary(type_) else type_
    assert pa.record_batch(batch).schema.types == [plain]
    assert len(cst.array(pa.chunked_array([], type_))) == 0


def test_series_keep_type_and_nulls() -> None:
    polars = pytest.importorskip("polars")
    assert cst.array(polars.Series([1, None])).to_pylist() == [1, None]
    assert cst.array(polars.Series(["x", None])).to_pylist() == ["x", None]
    assert cst.array(pa.chunked_array([[1], [None, 3]])).to_pylist() == [1, None, 3]
    frame = polars.DataFrame({"a": [1, 2], "b": [["x"], []]})
    assert cst.record_batch(frame).to_pydict() == {"a": [1, 2], "b": [["x"], []]}
    assert cst.record_batch({"a": frame["a"]}).to_pydict() == {"a": [1, 2]}


def test_queries_of_duckdb() -> None:
    duckdb = pytest.importorskip("duckdb")
    batch = cst.record_batch(duckdb.sql("select i as a from range(5000) t(i)"))
    assert batch.to_pydict() == {"a": list(range(5000))}


def test_a_stream_that_fails_says_why() -> None:
    def batches() -> Any:
        yield pa.record_batch({"a": [1]})
        raise ValueError("out of paper")

    reader = pa.RecordBatchReader.from_batches(pa.schema([("a", pa.int64())]), batches())
    with pytest.raises(cst.Error, match="out of paper"):
        cst.record_batch(reader)
    with pytest.raises(cst.errors.SchemaError, match="a record batch is of type struct"):
        cst.record_batch(pa.chunked_array([[1]]))


def test_masks_of_numpy_are_not_lost() -> None:
    with pytest.raises(cst.errors.UnsupportedError, match="its mask would be lost"):
        cst.array(np.ma.masked_array([1, 2], [False, True]))


def test_names_of_columns() -> None:
    numbered: Any = {1: np.arange(2)}
    with pytest.raises(TypeError, match="the name of a column must be a str, not int"):
        cst.record_batch(numbered)


def test_slices_that_there_are_not() -> None:
    batch = cst.record_batch({"a": np.arange(5)})
    with pytest.raises(cst.errors.ArgumentError, match="from row 6 on of an array of 5 rows"):
        batch.slice(6)
    with pytest.raises(cst.errors.ArgumentError, match="a slice of -1 rows"):
        batch.slice(0, -1)


def test_claims_without_memory_are_refused() -> None:
    much = 2**40
    nulls = pa.Array.from_buffers(pa.null(), much, [None])
    lists = pa.Array.from_buffers(
        pa.large_list(pa.null()), 1, [None, pa.py_buffer(np.array([0, much]))], children=[nulls]
    )
    for array in (nulls, lists):
        with pytest.raises(cst.errors.LimitError, match="1099511627776 slots of type null"):
            cst.array(array)
    tensor = cst.schema.TensorRepresentation("x", "ragged", "int64")
    adapter = cst.tensor.TensorAdapter(pa.schema([("x", pa.null())]), [tensor])
    with pytest.raises(cst.errors.LimitError):
        adapter.convert(pa.record_batch({"x": nulls}))


def test_list_views_that_share_everything() -> None:
    values = pa.array(range(16))
    for _ in range(40):
        values = pa.ListViewArray.from_arrays(
            pa.array([0] * 16, pa.int32()), pa.array([16] * 16, pa.int32()), values
        )
    array = cst.array(values)
    with pytest.raises(cst.errors.LimitError, match="cast the list views to large_list"):
        array.flatten(-1)
    assert len(array.flatten(2)) == 4096
    plain = values.type
    depth = 0
    while pa.types.is_list_view(plain):
        plain, depth = plain.value_type, depth + 1
    for _ in range(depth):
        plain = pa.large_list(plain)
    with pytest.raises(cst.errors.LimitError, match="so often"):
        cst.concat([array, cst.array(pa.array([], plain))])
    tensor = cst.schema.TensorRepresentation("x", "ragged", "int64")
    adapter = cst.tensor.TensorAdapter(pa.schema([("x", values.type)]), [tensor])
    with pytest.raises(cst.errors.LimitError):
        adapter.convert(pa.record_batch({"x": values}))
