"""TypeSpecs against the tensors themselves, for every nesting of structs and lists."""

from __future__ import annotations

import itertools
import pathlib
from typing import Any

import columnstone as cst
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import tensorflow as tf
from columnstone import tfxio

# From the outside: s is a struct with the child x, the others are lists.
LISTS = {
    "l": pa.list_,
    "L": pa.large_list,
    "v": pa.list_view,
    "w": lambda item: pa.list_(item, 2),
}
LEAVES = {"int32": (pa.int32(), 7), "bytes": (pa.string(), "a"), "null": (pa.null(), None)}
PARTITIONS = [
    (),
    (cst.schema.UniformRowLength(2),),
    (cst.schema.UniformRowLength(1), cst.schema.UniformRowLength(2)),
]


def type_of(nesting: str, leaf: pa.DataType) -> pa.DataType:
    for kind in reversed(nesting):
        leaf = pa.struct([("x", leaf)]) if kind == "s" else LISTS[kind](leaf)
    return leaf


def value_of(nesting: str, leaf: Any) -> Any:
    """Lists of two; of nulls, of which a tensor has none, an empty list or nothing."""
    if nesting == "":
        return leaf
    inner = value_of(nesting[1:], leaf)
    if nesting[0] == "s":
        return {"x": inner}
    if inner is None and nesting[0] != "w":
        return []
    return None if inner is None else [inner, inner]


def ragged(nesting: str, leaf: str, partitions: tuple[Any, ...]) -> cst.schema.TensorRepresentation:
    return cst.schema.TensorRepresentation(
        "t",
        "ragged",
        "bytes" if leaf == "bytes" else "int64",
        path=("t",) + ("x",) * nesting.count("s"),
        partitions=partitions,
        row_splits_dtype="int32" if partitions else "int64",
    )


def assert_told(spec: Any, tensor: Any) -> None:
    assert spec.is_compatible_with(tensor), tf.type_spec_from_value(tensor)
    assert spec.dtype == tensor.dtype
    if isinstance(tensor, tf.RaggedTensor):
        assert spec.ragged_rank == tensor.ragged_rank
        assert spec.row_splits_dtype == tensor.row_splits.dtype
        assert spec.shape.as_list()[spec.ragged_rank + 1 :] == tensor.flat_values.shape[1:]


def check(batch: pa.RecordBatch, representation: cst.schema.TensorRepresentation) -> None:
    adapter = tfxio.TensorAdapter(batch.schema, {"t": representation})
    tensors = cst.tensor.to_tf(adapter.ToBatchTensors(batch))
    assert_told(adapter.TypeSpecs()["t"], tensors["t"])


@pytest.mark.parametrize("leaf", LEAVES)
@pytest.mark.parametrize("kinds", ["sl", "sLvw"])
def test_every_nesting(kinds: str, leaf: str) -> None:
    type_, value = LEAVES[leaf]
    for depth in range(5 if kinds == "sl" else 4):
        for nesting in map("".join, itertools.product(kinds, repeat=depth)):
            values = [value_of(nesting, value)] * 2
            batch = pa.record_batch({"t": pa.array(values, type_of(nesting, type_))})
            for partitions in PARTITIONS[: None if nesting.endswith(("l", "L", "v", "w")) else 1]:
                check(batch, ragged(nesting, leaf, partitions))


def test_maps_are_lists_of_structs() -> None:
    type_ = pa.map_(pa.string(), pa.list_(pa.int64()))
    batch = pa.record_batch({"t": pa.array([[("a", [1, 2])], []], type_)})
    check(batch, cst.schema.TensorRepresentation("t", "ragged", "int64", path=("t", "value")))


def test_a_path_that_is_left_out() -> None:
    """It is the column of the tensor's name."""
    batch = pa.record_batch({"t": pa.array([[[1], []], []], pa.list_(pa.list_(pa.int16())))})
    check(batch, cst.schema.TensorRepresentation("t", "ragged", "int64"))
    assert tfxio._columns_of([cst.schema.TensorRepresentation("t", "ragged", "int64")]) == ["t"]


def test_row_lengths() -> None:
    batch = pa.record_batch({"t": [[1, 2, 3, 4], []], "n": [[1, 1], []]})
    partitions = (cst.schema.RowLengths("n"), cst.schema.UniformRowLength(2))
    check(batch, cst.schema.TensorRepresentation("t", "ragged", "int64", partitions=partitions))


STRUCT = "feature { name: 's' type: STRUCT struct_domain { feature { name: 'x' type: INT } } }"
GIVEN = """
%s tensor_representation_group { key: "" value { tensor_representation { key: "t" value {
  ragged_tensor { feature_path { %s } %s } } } } }
"""


@pytest.mark.parametrize(
    ("column", "values", "schema"),
    [
        ("s", [{"x": [1, 2]}, {"x": []}], STRUCT),
        ("s", [[{"x": 1}], []], STRUCT),
        ("s", [[{"x": [1]}], []], STRUCT),
        (
            "s",
            [{"x": [1, 2]}, {"x": []}],
            GIVEN % (STRUCT, "step: 's' step: 'x'", "partition { uniform_row_length: 2 }"),
        ),
        ("y", [[[1, 2], []], []], GIVEN % ("feature { name: 'y' type: INT }", "step: 'y'", "")),
    ],
)
def test_datasets(column: str, values: list[Any], schema: str, tmp_path: pathlib.Path) -> None:
    """tf.data refuses tensors that are not what was told."""
    table = pa.table({column: values})
    path = str(tmp_path / "t.parquet")
    pq.write_table(table, path)
    (name,) = cst.Schema(schema).tensor_representations()
    options = tfxio.TensorFlowDatasetOptions(1, num_epochs=1, shuffle=False)
    for dataset in (
        cst.open(table, schema=schema).dataset(1).tf(),
        cst.open(path, schema=schema).dataset(1).tf(),
        tfxio.ParquetTFXIO(path, schema=schema).TFDataset(options),
    ):
        batches = list(dataset)
        assert len(batches) == 2
        for batch in batches:
            assert_told(dataset.element_spec[name], batch[name])


def test_dictionaries_come_as_plain_columns() -> None:
    words = pa.array(["a", "b", "a"]).dictionary_encode()
    numbers = pa.array([300, 4, 300]).dictionary_encode()
    dataset = cst.open(pa.table({"w": words, "n": numbers})).dataset(2).tf()
    for batch in dataset:
        for name, tensor in batch.items():
            assert_told(dataset.element_spec[name], tensor)
