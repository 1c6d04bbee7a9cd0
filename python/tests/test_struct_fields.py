"""Structured tensors of fields, of values and row splits, of Arrow data and of Parquet files."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import columnstone as cst
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from columnstone import _core
from columnstone.struct import constant

from_fields = cst.StructuredTensor.from_fields
from_row_splits = cst.StructuredTensor.from_row_splits


def address(tensor: Any) -> int:
    """Of the numbers of a leaf tensor."""
    array = pa.array(tensor.flat_values)
    return int(array.buffers()[1].address) + array.offset * array.type.bit_width // 8


def tensors_of(rows: list[dict[str, Any]], kind: str) -> Any:
    """What a source makes of a column `x`."""
    spec = cst.schema.TensorRepresentation("x", kind, "int64", ("x",))
    return cst.tensor.TensorAdapter(cst.record_batch(rows).schema, [spec]).convert(rows)["x"]  # type: ignore[arg-type]


def row_of(values: list[Any]) -> Any:
    """The only row, as a tensor."""
    return _core.structured(cst.array(values), True)


# ---- fields ----


def test_rows_by_default() -> None:
    made = from_fields({"id": [1, 2], "m": np.arange(6).reshape(2, 3), "r": [["a"], []]})
    assert made.shape == (2,)
    assert made.to_py() == [
        {"id": 1, "m": [0, 1, 2], "r": ["a"]},
        {"id": 2, "m": [3, 4, 5], "r": []},
    ]
    assert made["m"].shape == (2, 3)


def test_one_struct() -> None:
    fields: dict[str, Any] = {"n": 1, "v": [1.5, 2.5], "s": {"x": [True]}}
    for made in (from_fields(fields), from_fields(fields, ())):
        assert (made.shape, made.to_py()) == ((), fields)
    assert from_fields({"v": [1, 2]}, ()).to_py() == {"v": [1, 2]}
    assert from_fields({"v": np.zeros((2, 2))}, ())["v"].shape == (2, 2)
    row = row_of([{"v": [1, 2]}])
    assert from_fields({"v": row["v"], "row": row}, ()).to_py() == {
        "v": [1, 2],
        "row": {"v": [1, 2]},
    }


def test_more_dimensions() -> None:
    ragged = from_fields({"a": [[1, 2], [3]], "b": [[[1], []], [None]]}, [2, None])
    assert ragged.to_py() == [[{"a": 1, "b": [1]}, {"a": 2, "b": []}], [{"a": 3, "b": None}]]
    assert ragged.shape == (2, None)
    dense = cst.struct.DenseStructuredTensor([2, 2], {"a": [[1, 2], [3, 4]], "b": np.eye(2)})
    assert dense.to_py() == [
        [{"a": 1, "b": 1.0}, {"a": 2, "b": 0.0}],
        [{"a": 3, "b": 0.0}, {"a": 4, "b": 1.0}],
    ]
    assert dense.spec.shape == (None, 2)
    cube = from_fields({"a": np.zeros((2, 3, 4)), "b": np.ones((2, 3, 4, 5))}, (2, 3, 4))
    assert (cube.shape, cube["b"].shape) == ((2, 3, 4), (2, 3, 4, 5))
    nulls = from_fields({"a": [[1], None, []], "b": [["x"], None, []]}, [None, None])
    assert nulls.to_py() == [[{"a": 1, "b": "x"}], None, []]
    fixed = pa.array([[1, 2], None], pa.list_(pa.int8(), 2))
    assert from_fields({"a": fixed}, [None, None]).to_py() == [[{"a": 1}, {"a": 2}], None]
    row = row_of([[[1], [2, 3]]])
    assert from_fields({"a": row}, [2, None]).to_py() == [[{"a": 1}], [{"a": 2}, {"a": 3}]]


def test_no_fields() -> None:
    assert from_fields({}).to_py() == {}
    assert from_fields({}, [2]).to_py() == [{}, {}]
    assert from_fields({}, [2, 1]).to_py() == [[{}], [{}]]
    with pytest.raises(cst.errors.ArgumentError, match="dimension 1 is unknown"):
        from_fields({}, [2, None])


@pytest.mark.parametrize(
    ("shape", "fields", "path", "record", "text"),
    [
        (None, {"a": [1, 2], "b": [1]}, "b", None, "found 1 rows, expected 2 as in 'a'"),
        ([3], {"a": [1, 2]}, "a", None, "found 2 rows, expected 3"),
        ([2, 2], {"a": [[1, 2], [3]]}, "a", 1, "row 1 of dimension 1 is 1 long, expected 2"),
        ([2, None], {"a": [[1], [2]], "b": [[1], [2, 3]]}, "b", 1,
         "record 1, feature 'b': row 1 of dimension 1 is 2 long, expected 1 long as in 'a'"),
        ([2, None], {"a": [[1], [2]], "b": [[1], None]}, "b", 1, "is null, expected 1 long"),
        ([2, None], {"a": [[1], None], "b": [[1], []]}, "b", 1, "is 0 long, expected null"),
        ([2, 1], {"a": [[1], None]}, "a", 1, "is null, expected 1"),
        ([1, None, None], {"a": [[[1], [2]]], "b": [[[1], []]]}, "b", None,
         "row 1 of dimension 2 is 0 long, expected 1 long as in 'a'"),
        ([2, None], {"a": [1, 2]}, "a", None, "found rank 1, expected at least 2, that of"),
        ([2], {"a": 3}, "a", None, "found rank 0, expected at least 1"),
    ],
)  # fmt: skip
def test_fields_that_do_not_agree(
    shape: Any, fields: dict[str, Any], path: str, record: int | None, text: str
) -> None:
    with pytest.raises(cst.errors.ArgumentError) as caught:
        from_fields(fields, shape)
    assert (caught.value.path, caught.value.record) == (path, record)
    assert text in str(caught.value)


def test_bad_arguments() -> None:
    with pytest.raises(TypeError, match="name of a field"):
        from_fields({1: [1]})  # type: ignore[dict-item]
    with pytest.raises(cst.errors.ArgumentError, match="NUL"):
        from_fields({"a\0": [1]})
    with pytest.raises(cst.errors.ArgumentError, match="surrogates"):
        from_fields({"a\ud800": [1]})
    with pytest.raises(cst.errors.ArgumentError, match=r"structs or more"):
        from_fields({}, (2**31 - 1,) * 3)
    for shape in (3, "2", ["2"], [True]):
        with pytest.raises(TypeError):
            from_fields({"a": [1]}, shape)  # type: ignore[arg-type]
    with pytest.raises(cst.errors.SchemaError, match="found str"):
        from_fields({"a": [1, "x"]})
    with pytest.raises(cst.errors.UnsupportedError, match="masked"):
        from_fields({"a": np.ma.masked_array([1], [True])})


def test_values_are_not_copied() -> None:
    numbers = np.arange(24, dtype=np.float32)
    arrow = pa.array(np.arange(4))
    leaf = constant([[1, 2], [3], [], [4]])
    dense = tensors_of([{"x": [i]} for i in range(4)], "dense")
    made = from_fields(
        {"n": numbers.reshape(4, 2, 3), "a": arrow, "l": leaf, "d": dense, "s": numbers[::6]}
    )
    assert address(made["n"]) == numbers.ctypes.data
    assert address(made["a"]) == arrow.buffers()[1].address
    assert address(made["l"]) == address(leaf)
    assert address(made["d"]) == np.asarray(dense).ctypes.data
    assert made["s"].to_py() == [0.0, 6.0, 12.0, 18.0]
    matrix = from_fields({"n": numbers.reshape(4, 6), "m": numbers.reshape(4, 6)}, (4, 6))
    assert address(matrix["n"]) == address(matrix["m"]) == numbers.ctypes.data


def test_the_memory_lives_as_long_as_the_tensor() -> None:
    made = from_fields({"n": np.arange(1000), "m": np.arange(2000).reshape(1000, 2)})["m"]
    gc.collect()
    assert made.to_py()[-1] == [1998, 1999]
    values = np.zeros(3)
    borrowed = from_fields({"x": values})
    with pytest.raises(ValueError, match=r"resize|references"):
        values.resize(100, refcheck=True)
    del borrowed


def test_tensors_of_batches() -> None:
    rows = [{"x": [1, 2]}, {"x": []}, {"x": [3]}]
    ragged = tensors_of(rows, "ragged")
    assert isinstance(ragged, cst.tensor.RaggedTensor)
    made = from_fields({"r": ragged, "i": [0, 1, 2]})
    assert made.to_py() == [{"r": [1, 2], "i": 0}, {"r": [], "i": 1}, {"r": [3], "i": 2}]
    assert from_fields({"r": ragged}, [None, None]).shape == (3, None)


# ---- values and row splits ----


def test_row_splits() -> None:
    values = constant([{"a": 1}, {"a": 2}, {"a": 3}])
    expected = [[{"a": 1}, {"a": 2}], [], [{"a": 3}]]
    splits = [0, 2, 2, 3]
    for given in (
        splits,
        np.array(splits),
        np.array(splits, "i4"),
        pa.array(splits),
        tuple(splits),
    ):
        assert from_row_splits(values, given).to_py() == expected
    made = cst.struct.RaggedStructuredTensor.from_row_splits(values, constant(splits))
    assert (made.shape, made.row_splits[0].to_pylist()) == ((3, None), splits)
    assert address(made["a"]) == address(values["a"])
    deeper = from_row_splits(made, [0, 1, 3])
    assert (deeper.rank, deeper.to_py()) == (3, [expected[:1], expected[1:]])
    assert from_row_splits([{"a": 1}], [0, 1]).to_py() == [[{"a": 1}]]
    leaf = cst.struct.from_row_splits([1, 2], [0, 0, 2])
    assert (type(leaf), leaf.to_py()) == (cst.struct.LeafTensor, [[], [1, 2]])
    assert from_row_splits(pa.array(values)[1:], [0, 0, 2]).to_py() == [[], [{"a": 2}, {"a": 3}]]
    empty = from_row_splits(constant([], values.spec), [0])
    assert (empty.to_py(), empty.rank) == ([], 2)


@pytest.mark.parametrize(
    ("splits", "text"),
    [
        ([0, 2], "row_splits end with 2, expected 3, the number of values"),
        ([1, 3], "row_splits begin with 1, expected 0"),
        ([], "there are no row_splits, expected a 0 at least"),
        ([0, 2, 1, 3], r"row_splits\[2\] is 1, below the 2 before it"),
        ([0, 4], "end with 4, expected 3"),
        ([0, -1, 3], r"row_splits\[1\] is -1"),
        ([0, None, 3], "found None, expected int64"),
        ([0, 1.5, 3], "found float, expected int64"),
        ([[0, 3]], "rank 2, expected a vector"),
        (3, "rank 0, expected a vector"),
    ],
)
def test_bad_row_splits(splits: Any, text: str) -> None:
    with pytest.raises(cst.Error, match=text):
        from_row_splits(constant([{"a": 1}, {"a": 2}, {"a": 3}]), splits)


def test_row_splits_that_are_written_to_later() -> None:
    splits = np.array([0, 1, 3])
    made = from_row_splits(constant([{"a": 1}, {"a": 2}, {"a": 3}]), splits)
    splits[1] = 2**40
    assert made["a"].to_py() == [[1], [2, 3]]


def test_values_that_have_no_rows() -> None:
    with pytest.raises(cst.errors.ArgumentError, match="scalar"):
        from_row_splits(constant({"a": 1}), [0, 1])
    with pytest.raises(cst.errors.ArgumentError, match="plain values"):
        from_row_splits([1, 2], [0, 2])


# ---- Arrow ----


def test_arrow_data_is_not_copied() -> None:
    column = pa.array(np.arange(5))
    table = pa.table({"a": column, "b": [["x"], [], None, ["y"], []]})
    for given in (
        table,
        table.to_batches()[0],
        table.to_struct_array().chunk(0),
        table.to_reader(),
    ):
        made = cst.StructuredTensor.from_arrow(given)
        assert (made.shape, made.to_py()) == ((5,), table.to_pylist())
        assert address(made["a"]) == column.buffers()[1].address
    sliced = cst.StructuredTensor.from_arrow(table.slice(2, 2))
    assert sliced.to_py() == table.to_pylist()[2:4]
    assert address(sliced["a"]) == column.buffers()[1].address + 16


def test_chunks_are_put_together() -> None:
    one = pa.table({"a": [1, 2]})
    made = cst.StructuredTensor.from_arrow(pa.concat_tables([one, one]))
    assert made["a"].to_py() == [1, 2, 1, 2]
    assert cst.StructuredTensor.from_arrow(one.schema.empty_table()).shape == (0,)
    source = cst.open([{"a": i} for i in range(5)], batch_size=2)
    assert cst.StructuredTensor.from_arrow(source)["a"].to_py() == list(range(5))


def test_lists_of_arrow_are_dimensions() -> None:
    rows = [[{"a": 1}], [], None]
    for kind in (pa.list_, pa.large_list, pa.list_view):
        made = cst.StructuredTensor.from_arrow(pa.array(rows, kind(pa.struct({"a": pa.int64()}))))
        assert (made.rank, made.to_py()) == (2, rows)
    dictionary = pa.table({"a": pa.array(["x", "y", "x"]).dictionary_encode()})
    assert cst.StructuredTensor.from_arrow(dictionary)["a"].to_py() == ["x", "y", "x"]
    assert cst.struct.from_arrow(pa.array([[1], None])).to_py() == [[1], None]
    with pytest.raises(cst.errors.ArgumentError, match="plain values, expected structs"):
        cst.StructuredTensor.from_arrow(pa.array([1]))
    with pytest.raises(TypeError):
        cst.StructuredTensor.from_arrow(3)


def test_parquet(tmp_path: Path) -> None:
    rows = [{"a": i, "e": [{"p": i / 2, "t": ["x"] * (i % 3)}], "z": None} for i in range(10)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet", row_group_size=4)
    made = cst.struct.from_arrow(cst.open(tmp_path / "a.parquet"))
    assert made.to_py() == rows
    some = cst.struct.from_arrow(cst.open(tmp_path / "a.parquet", columns=["e"]))
    assert some.to_py() == [{"e": row["e"]} for row in rows]
    assert some["e", "t"].shape == (10, 1, None)


# ---- the names of the RFC ----


def test_dense_and_ragged_are_views() -> None:
    scalar, vector = constant({"a": 1}), constant([{"a": 1}])
    ragged = constant([[{"a": 1}], []])
    for tensor, is_dense in ((scalar, True), (vector, True), (ragged, False)):
        assert isinstance(tensor, cst.struct.DenseStructuredTensor) == is_dense
        assert isinstance(tensor, cst.struct.RaggedStructuredTensor) != is_dense
    assert not isinstance(constant([1]), cst.struct.DenseStructuredTensor)
    assert issubclass(cst.struct.DenseStructuredTensor, cst.StructuredTensor)
    assert type(cst.struct.DenseStructuredTensor([1], {"a": [1]})) is cst.StructuredTensor
