"""Tensors: dense, sparse and ragged, and how they cross to numpy, PyTorch, Arrow and DLPack."""

from __future__ import annotations

import copy
import gc
import io
import pathlib
import pickle
from typing import Any

import columnstone as cst
import numpy as np
import pyarrow as pa
import pytest
import wire
from conftest import SCHEMA, MakeFile


@pytest.fixture
def tensors(file: pathlib.Path) -> dict[str, Any]:
    return next(cst.open(file, schema=SCHEMA, batch_size=5).tensors())


def one_batch(make_file: MakeFile, records: list[bytes], schema: str, **options: Any) -> Any:
    path = make_file("d.tfrecord", records)
    return next(cst.open(path, schema=schema, **options).tensors())


def test_a_batch(tensors: dict[str, Any]) -> None:
    assert list(tensors) == ["id", "pair", "steps", "tags"]
    assert tensors["id"].shape == (5,)
    assert tensors["id"].tolist() == [0, 1, 2, 3, 4]
    assert tensors["pair"].shape == (5, 2)
    assert tensors["pair"].tolist()[1] == [1.5, -1.0]
    steps = tensors["steps"]
    assert isinstance(steps, cst.tensor.SparseTensor)
    assert steps.indices.tolist() == [[1, 0], [2, 0], [2, 1], [3, 0], [3, 1], [3, 2]]
    assert steps.values.tolist() == [0, 0, 1, 0, 1, 2]
    assert steps.dense_shape.tolist() == [5, 3]
    assert (steps.shape, steps.dtype) == ((5, 3), "int64")
    assert tensors["tags"].values.tolist()[:3] == [b"tag0", b"tag0", b"tag1"]


def test_all_batches(file: pathlib.Path) -> None:
    source = cst.open(file, schema=SCHEMA, batch_size=30, threads=2)
    batches = list(source.tensors())
    assert [t["id"].shape[0] for t in batches] == [30, 30, 30, 10]
    assert [i for t in batches for i in t["id"].tolist()] == list(range(100))


def test_columns_project_the_tensors(file: pathlib.Path) -> None:
    source = cst.open(file, schema=SCHEMA, columns=["tags", "id"])
    assert list(next(source.tensors())) == ["id", "tags"]
    assert list(source.feature_spec()) == ["id", "tags"]
    assert source.tensor_representations()["id"].kind == "dense"


def test_without_a_schema(file: pathlib.Path) -> None:
    source = cst.open(file)
    assert source.schema is not None
    assert source.feature_spec() == source.schema.feature_spec()
    assert next(source.tensors())["pair"].shape == (100, 2)


RAGGED = """
feature { name: "v" type: BYTES }
feature { name: "n" type: INT }
feature { name: "m" type: INT }
represent_variable_length_as_ragged: true
tensor_representation_group { key: "" value {
  tensor_representation { key: "r" value { ragged_tensor {
    feature_path { step: "v" } partition { row_length: "n" } partition { uniform_row_length: 2 }
    row_partition_dtype: INT32 } } } } }
"""


def test_ragged(make_file: MakeFile) -> None:
    records = [
        wire.example({"v": [b"a", b"b", b"c", b"d"], "n": [1, 1], "m": [7]}),
        wire.example({}),
        wire.example({"v": [b"e", b"f"], "n": [0, 1]}),
    ]
    tensors = one_batch(make_file, records, RAGGED)
    r = tensors["r"]
    assert isinstance(r, cst.tensor.RaggedTensor)
    assert r.to_list() == [[[[b"a", b"b"]], [[b"c", b"d"]]], [], [[], [[b"e", b"f"]]]]
    assert [s.dtype for s in r.row_splits] == ["int32"] * len(r.row_splits)
    assert (len(r), r.num_rows, r.dtype) == (3, 3, "bytes")
    assert tensors["m"].to_list() == [[7], [], []]
    assert tensors["m"].row_splits[0].tolist() == [0, 1, 1, 1]
    assert tensors["m"].row_splits[0].dtype == "int64"
    assert "3 rows" in repr(r)


def test_sparse_with_index_columns(make_file: MakeFile) -> None:
    schema = """
      feature { name: "v" type: FLOAT }
      feature { name: "i" type: INT int_domain { min: 0 max: 9 } }
      sparse_feature { name: "s" index_feature { name: "i" } value_feature { name: "v" } }
    """
    records = [
        wire.example({"v": [1.5, 2.5], "i": [7, 3]}),
        wire.example({"v": [9.0], "i": [0]}),
    ]
    s = one_batch(make_file, records, schema)["s"]
    assert s.indices.tolist() == [[0, 3], [0, 7], [1, 0]]
    assert s.values.tolist() == [2.5, 1.5, 9.0]
    assert s.shape == (2, 10)


def test_a_default_fills(make_file: MakeFile) -> None:
    schema = """
      feature { name: "d" type: INT }
      tensor_representation_group { key: "g" value { tensor_representation { key: "d" value {
        dense_tensor { column_name: "d" shape { dim { size: 2 } }
                       default_value { int_value: -1 } } } } } }
    """
    records = [wire.example({"d": [1, 2]}), wire.example({})]
    tensors = one_batch(make_file, records, schema, group="g")
    assert tensors["d"].tolist() == [[1, 2], [-1, -1]]


@pytest.mark.parametrize("bad", [{}, {"id": [1, 2]}, {"id": None}])
def test_rows_are_checked_one_by_one(make_file: MakeFile, bad: dict[str, wire.Values]) -> None:
    schema = 'feature { name: "id" type: INT shape { } presence { min_fraction: 1 } }'
    path = make_file("d", [wire.example({"id": [0]}), wire.example(bad)])
    with pytest.raises(cst.errors.SchemaError) as caught:
        next(cst.open(path, schema=schema).tensors())
    assert caught.value.record == 1
    assert "id" in str(caught.value)


def test_unknown_group(file: pathlib.Path) -> None:
    with pytest.raises(cst.errors.NotFoundError):
        next(cst.open(file, schema=SCHEMA, group="none").tensors())


# Crossing to others


def address(tensor: Any) -> int:
    return np.asarray(tensor).__array_interface__["data"][0]


@pytest.mark.parametrize("name", ["id", "pair"])
def test_numpy(tensors: dict[str, Any], name: str) -> None:
    tensor = tensors[name]
    array = tensor.numpy()
    assert array.shape == tensor.shape
    assert str(array.dtype) == tensor.dtype
    assert not array.flags.writeable
    assert address(tensor) == array.__array_interface__["data"][0]
    assert np.asarray(tensor, dtype=array.dtype).base is not None
    assert np.from_dlpack(tensor).__array_interface__["data"][0] == address(tensor)
    assert not np.from_dlpack(tensor).flags.writeable
    assert np.array(tensor).flags.writeable
    other = np.asarray(tensor, dtype="float64")
    assert other.tolist() == array.astype("float64").tolist()


def test_dunder_array(tensors: dict[str, Any]) -> None:
    tensor = tensors["pair"]
    assert np.shares_memory(tensor.__array__(), tensor.numpy())
    assert np.shares_memory(tensor.__array__(copy=False), tensor.numpy())
    copy = tensor.__array__(copy=True)
    assert copy.flags.writeable
    assert not np.shares_memory(copy, tensor.numpy())
    assert tensor.__array__(np.dtype("float64")).dtype == np.dtype("float64")
    with pytest.raises(ValueError, match="copy"):
        tensor.__array__(np.dtype("float64"), copy=False)


def test_strings_as_objects(make_file: MakeFile) -> None:
    schema = """feature { name: "s" type: BYTES shape { dim { size: 2 } dim { size: 1 } }
                          presence { min_fraction: 1 } }"""
    long = bytes(1000)
    records = [wire.example({"s": [b"", b"x\0y"]}), wire.example({"s": [long, b"z"]})]
    tensor = one_batch(make_file, records, schema)["s"]
    assert (tensor.dtype, tensor.shape) == ("bytes", (2, 2, 1))
    wanted = [[[b""], [b"x\0y"]], [[long], [b"z"]]]
    assert tensor.tolist() == wanted
    for array in (tensor.numpy(), np.asarray(tensor), tensor.__array__(copy=True)):
        assert array.dtype == object
        assert array.shape == (2, 2, 1)
        assert array.tolist() == wanted
    assert pa.array(tensor).to_pylist() == [b"", b"x\0y", long, b"z"]
    assert pa.array(tensor).type == pa.large_binary()
    for share in (lambda: tensor.__dlpack__(max_version=(1, 0)), lambda: memoryview(tensor)):
        with pytest.raises((BufferError, TypeError), match="object array of bytes"):
            share()


def test_arrow(tensors: dict[str, Any]) -> None:
    array = pa.array(tensors["pair"])
    array.validate(full=True)
    assert array.type == pa.float32()
    assert array.to_pylist() == tensors["pair"].numpy().ravel().tolist()
    assert array.buffers()[1].address == address(tensors["pair"])


def test_buffer_protocol(tensors: dict[str, Any]) -> None:
    view = memoryview(tensors["pair"])
    assert (view.format, view.shape, view.strides) == ("f", (5, 2), (8, 4))
    assert view.readonly
    assert view.c_contiguous
    assert bytes(view) == tensors["pair"].numpy().tobytes()
    assert memoryview(tensors["id"]).format == "q"
    with pytest.raises((BufferError, TypeError)):
        io.BytesIO(bytes(100)).readinto(tensors["pair"])


def test_dlpack_protocol(tensors: dict[str, Any]) -> None:
    tensor = tensors["id"]
    assert tensor.__dlpack_device__() == (1, 0)
    assert '"dltensor"' in repr(tensor.__dlpack__())
    assert '"dltensor"' in repr(tensor.__dlpack__(max_version=(0, 8)))
    for version in [(1, 0), (1, 1), (2, 0)]:
        assert '"dltensor_versioned"' in repr(tensor.__dlpack__(max_version=version))
    assert tensor.__dlpack__(dl_device=(1, 0), stream=None) is not None
    for wrong in ({"dl_device": (2, 0)}, {"stream": 1}, {"dl_device": "cpu"}):
        with pytest.raises(BufferError):
            tensor.__dlpack__(**wrong)
    with pytest.raises(TypeError):
        tensor.__dlpack__(max_version="1.0")
    with pytest.raises(TypeError):
        tensor.__dlpack__(None)


def test_torch(tensors: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch")
    pair = torch.from_dlpack(tensors["pair"])
    assert pair.shape == (5, 2)
    assert pair.dtype == torch.float32
    assert pair.data_ptr() == address(tensors["pair"])
    steps = tensors["steps"]
    sparse = torch.sparse_coo_tensor(
        torch.from_dlpack(steps.indices).T,
        torch.from_dlpack(steps.values),
        steps.dense_shape.tolist(),
        check_invariants=True,
    )
    assert sparse.to_dense()[3].tolist() == [0, 1, 2]
    copy = torch.from_dlpack(tensors["pair"].__dlpack__(copy=True))
    copy += 1
    assert pair[0, 0] == 0.5
    with pytest.raises(BufferError):
        torch.from_dlpack(tensors["tags"].values)


def test_memory_outlives_everything_else(file: pathlib.Path) -> None:
    source = cst.open(file, schema=SCHEMA, batch_size=10)
    running = source.tensors()
    tensors = next(running)
    array, view = tensors["id"].numpy(), memoryview(tensors["pair"])
    arrow, shared = pa.array(tensors["id"]), np.from_dlpack(tensors["id"])
    wanted = bytes(view)
    del source, running, tensors
    gc.collect()
    list(cst.open(file, schema=SCHEMA, batch_size=10).tensors())  # would reuse freed buffers
    assert array.tolist() == arrow.to_pylist() == shared.tolist() == list(range(10))
    assert bytes(view) == wanted


def test_no_rows(make_file: MakeFile) -> None:
    assert list(cst.open(make_file("d", 0), schema=SCHEMA).tensors()) == []


def test_tensor_of_no_values(make_file: MakeFile) -> None:
    tensors = one_batch(make_file, [b"", b""], 'feature { name: "a" type: FLOAT }')
    a = tensors["a"]
    assert a.values.shape == (0,)
    assert a.values.numpy().tolist() == a.values.tolist() == []
    assert a.indices.shape == (0, 2)
    assert a.indices.numpy().shape == (0, 2)
    assert a.shape == (2, 0)
    assert pa.array(a.values).to_pylist() == []
    assert np.from_dlpack(a.indices).shape == (0, 2)


def test_repr_and_len(tensors: dict[str, Any]) -> None:
    assert repr(tensors["pair"]) == (
        "<columnstone.tensor.Tensor float32 (5, 2): "
        "[[0.5, -0.0], [1.5, -1.0], [2.5, -2.0], [3.5, -3.0], [4.5, -4.0]]>"
    )
    assert len(tensors["pair"]) == 5
    assert tensors["pair"].ndim == 2
    assert repr(tensors["steps"]) == (
        "<columnstone.tensor.SparseTensor int64 (5, 3) with 6 values: "
        "{(1, 0): 0, (2, 0): 0, (2, 1): 1, (3, 0): 0, (3, 1): 1, (3, 2): 2}>"
    )


def test_strings_need_a_copy() -> None:
    schema = (
        'feature { name: "s" type: BYTES shape { dim { size: 1 } } presence { min_fraction: 1 } }'
    )
    data = io.BytesIO()
    with cst.codec.TFRecordWriter(data) as writer:
        writer.write(wire.example({"s": [b"a"]}))
    data.seek(0)
    (tensors,) = cst.open(data, schema=schema).tensors()
    with pytest.raises(ValueError, match="copy"):
        np.asarray(tensors["s"], copy=False)
    assert np.asarray(tensors["s"]).tolist() == [[b"a"]]


# Copies and pickles


def same(left: Any, right: Any) -> bool:
    """Of two tensors: kinds, shapes, types and bits."""
    if isinstance(left, cst.tensor.SparseTensor):
        names = ["indices", "values", "dense_shape"]
        return all(same(getattr(left, name), getattr(right, name)) for name in names)
    if isinstance(left, cst.tensor.RaggedTensor):
        splits = zip(left.row_splits, right.row_splits, strict=True)
        return same(left.values, right.values) and all(same(a, b) for a, b in splits)
    assert (left.shape, left.dtype) == (right.shape, right.dtype)
    if left.dtype == "bytes":
        return left.tolist() == right.tolist()
    return bool(left.numpy().tobytes() == right.numpy().tobytes())


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickles(file: pathlib.Path, protocol: int) -> None:
    more = "represent_variable_length_as_ragged: true"
    for schema in (SCHEMA, SCHEMA + more):
        for rows in (slice(0, 5), slice(0, 1), slice(0, 0)):
            batch = pa.table(cst.open(file, schema=schema)).to_batches()[0][rows]
            tensors = cst.tensor.TensorAdapter(batch.schema, schema).convert(batch)
            for made in (
                pickle.loads(pickle.dumps(tensors, protocol)),
                copy.deepcopy(tensors),
                {name: copy.copy(tensor) for name, tensor in tensors.items()},
            ):
                assert all(same(made[name], tensors[name]) for name in tensors)


@pytest.mark.parametrize("type_", ["int8", "uint64", "float32", "float64", "string"])
@pytest.mark.parametrize("shape", [(), (3,), (2, 0), (0, 2), (2, 2, 1)])
def test_pickles_of_every_shape_and_type(type_: str, shape: tuple[int, ...]) -> None:
    size = int(np.prod(shape))
    values = ["a", ""] * 8 if type_ == "string" else [0, 1, 3, 2**7 - 1] * 4
    flat = pa.array(values[: 2 * size], type_)
    column = pa.FixedSizeListArray.from_arrays(flat, size) if size > 0 else None
    if column is None:
        column = pa.array([[], []], pa.list_(pa.type_for_alias(type_)))
    batch = pa.record_batch({"t": column})
    kind: Any = {"string": "bytes", "float32": "float32", "float64": "float32"}.get(type_, "int64")
    spec = cst.schema.TensorRepresentation("t", "dense", kind, shape=shape)
    tensor = cst.tensor.TensorAdapter(batch.schema, [spec]).convert(batch)["t"]
    assert tensor.shape == (2, *shape)
    assert same(pickle.loads(pickle.dumps(tensor)), tensor)


def test_pickles_of_not_a_number() -> None:
    """Bit by bit."""
    bits = np.array([0x7FC00001, 0xFFC0DEAD, 0x80000000, 0x7F800001], np.uint32)
    batch = pa.record_batch({"t": pa.array(bits.view(np.float32))})
    spec = cst.schema.TensorRepresentation("t", "dense", "float32", shape=())
    tensor = cst.tensor.TensorAdapter(batch.schema, [spec]).convert(batch)["t"]
    assert same(pickle.loads(pickle.dumps(tensor)), tensor)
