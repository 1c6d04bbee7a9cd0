"""What tensors share with their record batch, proved by the addresses of the memory."""

from __future__ import annotations

from typing import Any

import columnstone as cst
import numpy as np
import pyarrow as pa
import pytest
from columnstone import _core
from conftest import SCHEMA, MakeFile

NUMBERS = [pa.int8(), pa.uint16(), pa.int32(), pa.int64(), pa.float32(), pa.float64()]


def convert(column: pa.Array, kind: Any, dtype: Any, shape: tuple[int, ...] = ()) -> Any:
    batch = pa.record_batch([column], names=["x"])
    tensor = cst.schema.TensorRepresentation("x", kind, dtype, shape=shape)
    return cst.tensor.TensorAdapter(batch.schema, [tensor]).convert(batch)["x"]


def dtype_of(type_: pa.DataType) -> str:
    return "float32" if pa.types.is_floating(type_) else "int64"


def address_of(tensor: cst.tensor.Tensor) -> int:
    """By numpy, which has to agree with DLPack."""
    address: int = tensor.numpy().__array_interface__["data"][0]
    assert np.from_dlpack(tensor).__array_interface__["data"][0] == address
    return address


def values_address(column: pa.Array) -> int:
    """Of the first value of a slice of lists."""
    flat = column.flatten()
    address: int = flat.buffers()[1].address
    return address + flat.offset * flat.type.bit_width // 8


@pytest.mark.parametrize("type_", NUMBERS, ids=str)
@pytest.mark.parametrize("layout", [pa.list_, pa.large_list, pa.list_view, pa.large_list_view])
@pytest.mark.parametrize("part", [(0, 5), (1, 3), (4, 1)])
def test_dense_of_rows_without_nulls(
    type_: pa.DataType, layout: Any, part: tuple[int, int]
) -> None:
    column = pa.array([[i, i + 1] for i in range(5)], layout(type_)).slice(*part)
    tensor = convert(column, "dense", dtype_of(type_), (2,))
    assert tensor.shape == (part[1], 2)
    assert address_of(tensor) == values_address(column)


@pytest.mark.parametrize("part", [(0, 5), (1, 3), (4, 1)])
def test_dense_of_fixed_size_lists(part: tuple[int, int]) -> None:
    column = pa.array([[i] * 3 for i in range(5)], pa.list_(pa.float32(), 3)).slice(*part)
    tensor = convert(column, "dense", "float32", (3,))
    assert tensor.numpy()[0].tolist() == [part[0]] * 3
    assert address_of(tensor) == column.values.buffers()[1].address + part[0] * 12


@pytest.mark.parametrize("part", [(0, 4), (1, 2)])
def test_dense_of_flat_columns(part: tuple[int, int]) -> None:
    column = pa.array([1, 2, 3, 4]).slice(*part)
    tensor = convert(column, "dense", "int64")
    assert address_of(tensor) == column.buffers()[1].address + part[0] * 8


@pytest.mark.parametrize("part", [(0, 4), (0, 2), (1, 3)])
def test_ragged_values_and_splits(part: tuple[int, int]) -> None:
    deep = pa.large_list(pa.large_list(pa.int64()))
    rows = [[[1], [2, 3]], [], [[4, 5, 6]], [[7], []]]
    column = pa.array(rows, deep).slice(*part)
    tensor = convert(column, "ragged", "int64")
    assert tensor.to_list() == rows[part[0] : part[0] + part[1]]
    inner = column.flatten()
    assert address_of(tensor.values) == values_address(inner)
    if part[0] == 0:  # splits begin at 0: those of a later slice are made
        assert address_of(tensor.row_splits[0]) == column.buffers()[1].address
        assert address_of(tensor.row_splits[1]) == inner.buffers()[1].address


def test_values_of_varlen_tensors() -> None:
    column = pa.array([[1, 2], None, [], [3]], pa.large_list(pa.int64()))
    tensor = convert(column, "varlen_sparse", "int64")
    assert address_of(tensor.values) == column.values.buffers()[1].address


def test_values_of_sorted_sparse_tensors() -> None:
    lists = pa.large_list(pa.int64())
    batch = pa.record_batch(
        [pa.array([[1, 2], [3]], lists), pa.array([[0, 5], [2]], lists)], names=["x", "i"]
    )
    spec = cst.schema.TensorRepresentation(
        "t", "sparse", "int64", ("x",), shape=(9,), index_columns=("i",)
    )
    tensor = cst.tensor.TensorAdapter(batch.schema, [spec]).convert(batch)["t"]
    assert address_of(tensor.values) == batch["x"].values.buffers()[1].address


def shared_strings(tensor: cst.tensor.Tensor) -> tuple[int, pa.Array]:
    array = pa.array(tensor)
    array.validate(full=True)
    assert array.type == pa.large_binary()
    return array.buffers()[2].address, array


@pytest.mark.parametrize("type_", [pa.string(), pa.large_string(), pa.binary(), pa.large_binary()])
@pytest.mark.parametrize("part", [(0, 4), (1, 2), (2, 2)])
def test_strings(type_: pa.DataType, part: tuple[int, int]) -> None:
    rows = [["a", "bb"], ["ccc", ""], ["dd", "e" * 40], ["f", "g"]]
    column = pa.array(rows, pa.list_(type_)).slice(*part)
    expected = [value.encode() for row in rows[part[0] : part[0] + part[1]] for value in row]
    before = sum(len(value) for row in rows[: part[0]] for value in row)
    for kind, shape in (("dense", (2,)), ("ragged", ()), ("varlen_sparse", ())):
        tensor = convert(column, kind, "bytes", shape)
        values = tensor if kind == "dense" else tensor.values
        address, array = shared_strings(values)
        assert array.to_pylist() == expected
        assert address == column.values.buffers()[2].address + before


def test_strings_around_missing_rows() -> None:
    column = pa.array([["a"], None, ["bb"]], pa.large_list(pa.large_binary()))
    batch = pa.record_batch([column], names=["x"])
    spec = cst.schema.TensorRepresentation("x", "dense", "bytes", default=b"")
    tensor = cst.tensor.TensorAdapter(batch.schema, [spec]).convert(batch)["x"]
    address, array = shared_strings(tensor)
    assert array.to_pylist() == [b"a", b"", b"bb"]
    assert address == column.values.buffers()[2].address


def test_scattered_strings_are_copied() -> None:
    lists = [pa.large_list(pa.large_binary()), pa.large_list(pa.int64())]
    batch = pa.record_batch(
        [pa.array([[b"p", b"q"]], lists[0]), pa.array([[5, 0]], lists[1])], names=["x", "i"]
    )
    spec = cst.schema.TensorRepresentation(
        "t", "sparse", "bytes", ("x",), shape=(9,), index_columns=("i",)
    )
    tensor = cst.tensor.TensorAdapter(batch.schema, [spec]).convert(batch)["t"]
    address, array = shared_strings(tensor.values)
    assert array.to_pylist() == [b"q", b"p"]
    assert address != batch["x"].values.buffers()[2].address


def test_from_files_to_tensors(make_file: MakeFile) -> None:
    """Our own batches: the tensors lie where the columns lie."""
    source = cst.open(make_file("x.tfrecord", 50), schema=SCHEMA, batch_size=20)
    made = cst.tensor.TensorAdapter(source, source.tensor_representations())
    for batch in source:
        assert isinstance(batch, _core.RecordBatch)
        tensors = made.convert(batch)
        arrow = pa.record_batch(batch)
        assert address_of(tensors["id"]) == values_address(arrow["id"])
        assert address_of(tensors["pair"]) == values_address(arrow["pair"])
        address, _ = shared_strings(tensors["tags"].values)
        assert address == arrow["tags"].values.buffers()[2].address


def test_tensors_keep_the_memory() -> None:
    column = pa.array([[float(i)] for i in range(100_000)], pa.large_list(pa.float32()))
    expected = column.flatten().to_numpy().copy()
    values = convert(column, "dense", "float32").numpy()
    strings = pa.array(convert(pa.array([["x"], ["y"]]), "dense", "bytes"))
    del column
    assert (values == expected).all()
    assert strings.to_pylist() == [b"x", b"y"]
