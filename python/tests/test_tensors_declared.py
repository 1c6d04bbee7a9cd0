"""Tensors that are declared before there are any: the schema, what is refused, relaxed ones."""

from __future__ import annotations

import pickle
from typing import Any

import columnstone as cst
import numpy as np
import pyarrow as pa
import pytest
from columnstone.tensor import RaggedTensor, SparseTensor, TensorEncoder, TensorSpec

SPECS = {
    "dense": TensorSpec("dense", "int32", (None, 2)),
    "flags": TensorSpec("dense", "bool", (None,)),
    "one": TensorSpec("sparse", "int16", (None,)),
    "ragged": TensorSpec("ragged", "float64", (None, None, None, 2), 2, "int32"),
    "sparse": TensorSpec("sparse", "bytes", (None, 3, None)),
    "varlen": TensorSpec("sparse", "uint8", (None, None)),
}
TENSORS: dict[str, Any] = {
    "dense": np.array([[1, 2]], np.int32),
    "flags": np.array([True]),
    "one": SparseTensor(np.array([[0]]), np.array([1], np.int16), np.array([1])),
    "ragged": RaggedTensor(np.ones((3, 2)), [np.array([0, 2]), np.array([0, 1, 3])]),
    "sparse": SparseTensor(np.array([[0, 1, 2]]), [b"x"], np.array([1, 3, 5])),
    "varlen": SparseTensor(
        np.array([[0, 0], [0, 1]]), np.array([1, 2], np.uint8), np.array([1, 2])
    ),
}
COLUMNS = {
    "dense": pa.large_list(pa.int32()),
    "flags": pa.large_list(pa.bool_()),
    "one": pa.int16(),
    "ragged": pa.large_list(pa.large_list(pa.float64())),
    "sparse$values": pa.large_list(pa.large_binary()),
    "sparse$index0": pa.large_list(pa.int64()),
    "sparse$index1": pa.large_list(pa.int64()),
    "varlen": pa.large_list(pa.uint8()),
}


def test_the_schema_stands_before_the_first_batch() -> None:
    encoder = TensorEncoder.for_specs(SPECS)
    assert encoder.specs == SPECS
    assert pa.schema(encoder.arrow_schema) == pa.schema(list(COLUMNS.items()))
    batch = encoder.encode(TENSORS)
    assert pa.schema(batch.schema) == pa.schema(encoder.arrow_schema)
    made = cst.tensor.TensorAdapter(batch.schema, encoder.representations).convert(batch)
    assert made["ragged"].to_list() == [[[[1, 1]], [[1, 1], [1, 1]]]]
    assert made["sparse"].shape == (1, 3, 3)  # what was not known is as large as it has to be
    again = pickle.loads(pickle.dumps(encoder))
    assert again.specs == SPECS
    assert again.arrow_schema == encoder.arrow_schema
    assert again.encode(TENSORS).to_pydict() == batch.to_pydict()


def test_names_of_columns() -> None:
    encoder = TensorEncoder.for_specs(
        {"x": SPECS["varlen"]}, coordinates=["x"], value_column="v_{name}", index_column="i{i}"
    )
    assert encoder.arrow_schema.names == ["v_x", "i0"]
    with pytest.raises(cst.errors.ArgumentError, match="no tensor 'y'"):
        TensorEncoder.for_specs({"x": SPECS["varlen"]}, coordinates=["y"])
    with pytest.raises(cst.errors.SchemaError, match="column 'x' belongs to another tensor"):
        TensorEncoder.for_specs({"x": SPECS["dense"], "y": SPECS["sparse"]}, value_column="x")


@pytest.mark.parametrize(
    ("name", "tensor", "found"),
    [
        ("dense", np.array([[1, 2]]), "dense int64 [1, 2], expected dense int32 [?, 2]"),
        ("dense", np.array([[1, 2, 3]], np.int32), "dense int32 [1, 3]"),
        ("dense", [b"x"], "dense bytes [1]"),
        ("dense", {"x": np.array([1])}, "structured"),
        ("varlen", np.array([1], np.uint8), "dense uint8 [1], expected sparse uint8"),
        ("sparse", SparseTensor(np.array([[0, 1, 2]]), [b"x"], np.array([1, 4, 5])), "[1, 4, 5]"),
        ("ragged", RaggedTensor(np.ones((3, 2)), [np.array([0, 3])]), "[?, ?, 2], 1 row splits"),
        ("ragged", RaggedTensor(np.ones(3), [np.array([0, 1]), np.array([0, 3])]), "[?, ?, ?], 2"),
    ],
)
def test_what_is_not_as_declared(name: str, tensor: Any, found: str) -> None:
    encoder = TensorEncoder.for_specs(SPECS)
    with pytest.raises(cst.errors.SchemaError) as error:
        encoder.encode({**TENSORS, name: tensor})
    assert error.value.path == name
    assert found in str(error.value)
    with pytest.raises(cst.errors.SchemaError, match="no tensor of this name was given"):
        encoder.encode({k: v for k, v in TENSORS.items() if k != name})
    with pytest.raises(cst.errors.SchemaError, match="no representation is of this tensor"):
        encoder.encode({**TENSORS, "other": tensor})


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        (
            TensorSpec("dense", "int32", (None, None)),
            "the sizes of a dense tensor must be known, except for the rows",
        ),
        (TensorSpec("dense", "int32", (3,)), "the first size, that of the rows, must be None"),
        (TensorSpec("dense", "int32", ()), "the first size, that of the rows, must be None"),
        (TensorSpec("ragged", "int32", (None, None)), "to ragged_rank"),
        (TensorSpec("ragged", "int32", (None, 2, 3), 1), "to ragged_rank"),
        (TensorSpec("ragged", "int32", (None, None, None), 1), "to ragged_rank"),
        (TensorSpec("dense", "float16", (None,)), "cast it"),  # type: ignore[arg-type]
    ],
)
def test_what_no_columns_hold(spec: TensorSpec, text: str) -> None:
    with pytest.raises(
        (cst.errors.ArgumentError, cst.errors.UnsupportedError), match=text
    ) as error:
        TensorEncoder.for_specs({"x": spec})
    assert error.value.path == "x"


def test_relaxed_varlen_tensors() -> None:
    wide = SparseTensor(
        np.array([[0, 1], [0, 4], [2, 0]]), np.array([1, 2, 3], np.uint8), np.array([3, 9])
    )
    empty = SparseTensor(np.empty((0, 2), np.int64), np.empty(0, np.uint8), np.array([2, 5]))
    strict = TensorEncoder.for_specs({"x": SPECS["varlen"]})
    with pytest.raises(cst.errors.SchemaError, match="a varlen tensor has no gaps"):
        strict.encode({"x": wide})
    for encoder in (
        TensorEncoder.for_specs({"x": SPECS["varlen"]}, relaxed=True),
        TensorEncoder(strict.representations, relaxed=True),
    ):
        for one in (encoder, pickle.loads(pickle.dumps(encoder))):
            assert one.encode({"x": wide}).to_pydict() == {"x": [[1, 2], [], [3]]}
            assert one.encode({"x": empty}).to_pydict() == {"x": [[], []]}
    unsorted = SparseTensor(np.array([[1, 0], [0, 0]]), wide.values[:2], np.array([2, 1]))
    with pytest.raises(cst.errors.SchemaError, match="sort the indices"):
        TensorEncoder(strict.representations, relaxed=True).encode({"x": unsorted})


def test_relaxed_sparse_tensors() -> None:
    places = np.array([[2, 0, 1], [0, 2, 0], [0, 1, 4], [0, 1, 4]])
    encoder = TensorEncoder.for_specs({"x": SPECS["sparse"]}, relaxed=True)
    for values in ([b"a", b"b", b"c", b"d"], np.array([b"a", b"b", b"c", b"d"])):
        batch = encoder.encode({"x": SparseTensor(places, values, np.array([3, 3, 5]))})
        assert batch.to_pydict() == {
            "x$values": [[b"c", b"d", b"b"], [], [b"a"]],
            "x$index0": [[1, 1, 2], [], [0]],
            "x$index1": [[4, 4, 0], [], [1]],
        }
    with pytest.raises(cst.errors.SchemaError, match="4 indices"):
        encoder.encode({"x": SparseTensor(places, [b"a"], np.array([3, 3, 5]))})
    numbers = TensorEncoder.for_specs(
        {"x": TensorSpec("sparse", "int8", (None, 3, None))}, relaxed=True
    )
    tensor = SparseTensor(places, np.arange(4, dtype=np.int8), np.array([3, 3, 5]))
    assert numbers.encode({"x": tensor}).to_pydict()["x$values"] == [[2, 3, 1], [], [0]]


def test_what_is_no_spec() -> None:
    assert TensorSpec.of(SPECS["dense"]) is SPECS["dense"]
    with pytest.raises(TypeError, match="cannot make a TensorSpec from int"):
        TensorEncoder.for_specs({"x": 1})
