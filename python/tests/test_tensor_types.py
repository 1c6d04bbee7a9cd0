"""Tensors of bool, of rank 1, and of lists of a fixed size in each other, everywhere that tensors
go."""

from __future__ import annotations

import pathlib
import pickle
from dataclasses import replace
from typing import Any

import columnstone as cst
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from columnstone.schema import TensorRepresentation
from random_tensors import alike, parts

BATCH = pa.record_batch(
    {
        "b": pa.array([True, False, None]),
        "l": pa.array([[True], None, [False, True]], pa.large_list(pa.bool_())),
        "n": pa.array([5, None, -7], pa.int32()),
        "f": pa.array(
            [[[1.5, 2.5]], [[3.5, 4.5]], [[0.0, -0.0]]], pa.list_(pa.list_(pa.float64(), 2), 1)
        ),
    }
)
REPRESENTATIONS = [
    TensorRepresentation("b", "dense", "bool", default=True),
    TensorRepresentation("f", "dense", "float64", shape=(1, 2)),
    TensorRepresentation("l", "varlen_sparse", "bool"),
    TensorRepresentation("n", "sparse", "int32"),
    TensorRepresentation("r", "ragged", "bool", ("l",)),
    TensorRepresentation("s", "sparse", "bool", ("b",)),
]
ADAPTER = cst.tensor.TensorAdapter(BATCH.schema, REPRESENTATIONS)


@pytest.fixture
def tensors() -> dict[str, Any]:
    return ADAPTER.convert(BATCH)


def test_numpy(tensors: dict[str, Any]) -> None:
    bools = tensors["b"]
    assert bools.dtype == "bool" and bools.tolist() == [True, False, True]
    assert bools.numpy().dtype == np.bool_ and bools.numpy().tolist() == [True, False, True]
    assert np.from_dlpack(bools).dtype == np.bool_
    assert memoryview(bools).format == "?"
    assert pa.array(bools).equals(pa.array([True, False, True]))
    assert tensors["f"].numpy().tolist() == [[[1.5, 2.5]], [[3.5, 4.5]], [[0.0, -0.0]]]
    assert tensors["n"].shape == (3,)
    assert tensors["n"].indices.tolist() == [[0], [2]] and tensors["n"].values.tolist() == [5, -7]
    assert tensors["s"].values.tolist() == [True, False]
    assert tensors["r"].row_splits[0].tolist() == [0, 1, 1, 3]


def test_pickles(tensors: dict[str, Any]) -> None:
    assert parts(pickle.loads(pickle.dumps(tensors))) == parts(tensors)


def test_there_and_back(tensors: dict[str, Any]) -> None:
    own = [t for t in REPRESENTATIONS if t.name in "bfln"]
    given = {t.name: tensors[t.name] for t in own}
    encoder = cst.tensor.TensorEncoder(own)
    batch = pa.record_batch(encoder.encode(given))
    assert batch.schema.field("b").type == pa.large_list(pa.bool_())
    assert batch["n"].to_pylist() == [5, None, -7]
    assert batch["l"].to_pylist() == [[True], [], [False, True]]
    assert parts(cst.tensor.TensorAdapter(batch.schema, own).convert(batch)) == parts(given)
    by_themselves = cst.tensor.TensorEncoder.of(given)
    assert by_themselves.representations["n"].index_columns == ()
    assert by_themselves.representations["b"].dtype == "bool"
    assert pa.record_batch(by_themselves.encode(given))["n"].to_pylist() == [5, None, -7]


def test_pads() -> None:
    for value in (True, False):
        pad = {"l": (value, None), "n": (9, None)}
        made: Any = cst.tensor.TensorAdapter(BATCH.schema, REPRESENTATIONS, pad=pad).convert(BATCH)
        assert made["l"].tolist() == [[True, value], [value, value], [False, True]]
        assert made["n"].tolist() == [5, 9, -7]
    with pytest.raises(TypeError, match="the padding of a tensor of bool must be int, not float"):
        cst.tensor.TensorAdapter(BATCH.schema, REPRESENTATIONS, pad={"l": (0.5, None)})
    with pytest.raises(cst.errors.ArgumentError, match="the padding 2 does not fit bool"):
        cst.tensor.TensorAdapter(BATCH.schema, REPRESENTATIONS, pad={"l": (2, None)})


@pytest.mark.filterwarnings("ignore:.*(structured tensors|Sparse invariant)")
def test_pytorch(tensors: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch")
    made = cst.tensor.to_torch(tensors)
    assert made["b"].dtype == torch.bool and made["b"].tolist() == [True, False, True]
    assert made["l"].to_dense().tolist() == [[True, False], [False, False], [False, True]]
    assert made["n"].to_dense().tolist() == [5, 0, -7]
    assert made["r"].values().tolist() == [True, False, True]


def test_jax(tensors: dict[str, Any]) -> None:
    jnp = pytest.importorskip("jax.numpy")
    made = cst.tensor.to_jax(tensors)
    assert made["b"].dtype == jnp.bool_ and made["b"].tolist() == [True, False, True]
    assert made["l"].values.tolist() == [True, False, True]


def test_columns_of_tables(tmp_path: pathlib.Path) -> None:
    """Values of files without a schema: those that may be missing are varlen."""
    path = tmp_path / "x.parquet"
    table = pa.table({"all": [True, False, True], "some": [None, True, False], "n": [1, 2, 3]})
    pq.write_table(table, path)
    source = cst.open(path)
    made: Any
    (made,) = source.tensors()
    assert made["all"].tolist() == [[True], [False], [True]] and made["all"].dtype == "bool"
    assert made["some"].values.tolist() == [True, False] and made["some"].dtype == "bool"
    staged = cst.open(path).map(lambda batch: batch)
    assert {t.name: t.dtype for t in staged.tensor_representations().values()} == {
        "all": "bool",
        "some": "bool",
        "n": "int64",
    }
    batches: Any = staged.dataset(2)
    rows = [batch["all"].tolist() for batch in batches]
    assert rows == [[True, False], [True]]


def test_types_of_new_columns() -> None:
    """A representation of a column that no schema has says its own type."""
    types = {
        "i8": pa.int8(),
        "u16": pa.uint16(),
        "i32": pa.int32(),
        "u64": pa.uint64(),
        "f32": pa.float32(),
        "f64": pa.float64(),
        "flag": pa.bool_(),
    }
    batch = pa.record_batch({name: pa.array([1, 0]).cast(type) for name, type in types.items()})
    start = pa.record_batch({"x": pa.array([0, 0])})
    source = cst.open(pa.Table.from_batches([start])).map(lambda _: batch, schema=batch.schema)
    found = source.tensor_representations()
    made: Any
    (made,) = source.tensors()
    for name, type in types.items():
        assert found[name].dtype == made[name].dtype == made[name].numpy().dtype.name, type


def test_sparse_of_rank_1_in_schemas() -> None:
    text = """feature { name: "x" type: INT }
      tensor_representation_group { key: "" value { tensor_representation { key: "t" value {
        sparse_tensor { value_column_name: "x" dense_shape {} } } } } }"""
    schema = cst.Schema.from_text(text)
    found = schema.tensor_representations()["t"]
    assert (found.kind, found.shape, found.index_columns) == ("sparse", (), ())
    again = cst.Schema.from_text('feature { name: "x" type: INT }').with_tensor_representations(
        [found]
    )
    assert alike(again.tensor_representations()["t"], found)
    made: Any = cst.tensor.TensorAdapter(BATCH.schema, [replace(found, path=("n",))]).convert(BATCH)
    assert made["t"].indices.tolist() == [[0], [2]]
    with pytest.raises(cst.errors.SchemaError, match="no index column"):
        cst.Schema.from_text(text.replace("dense_shape {}", ""))
