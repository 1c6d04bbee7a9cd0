"""Tensors of bool, of rank 1, and of columns as queries make them, in TensorFlow; and what the
adapter of tfx_bsl makes of the same columns, where it takes them."""

from __future__ import annotations

from typing import Any

import columnstone as cst
import pyarrow as pa
import pytest
import tensorflow as tf
from columnstone import tfxio
from columnstone.schema import TensorRepresentation
from google.protobuf import text_format
from support import plain_tensor, plain_tf
from tensorflow_metadata.proto.v0 import schema_pb2
from test_type_specs import assert_told
from tfx_bsl.tfxio.tensor_adapter import TensorAdapter, TensorAdapterConfig

L = pa.large_list
BATCH = pa.record_batch(
    {
        "b": pa.array([True, False, True]),
        "i": pa.array([[1], [2], [3]], L(pa.int32())),
        "g": pa.array([[1, 2], [3, 4], [5, 6]], L(pa.float64())),
        "v": pa.array([[1], [], [2, 3]], L(pa.int8())),
        "vb": pa.array([[True], [], [False, True]], L(pa.bool_())),
        "r": pa.array([[[True], []], [], [[False, True]]], L(L(pa.bool_()))),
        "t": pa.array([[["a"], []], [], [["b", "c"]]], L(L(pa.large_binary()))),
        "n": pa.array([1, None, 3], pa.int32()),
        "f": pa.array([[[1, 2], [3, 4]]] * 3, pa.list_(pa.list_(pa.float64(), 2), 2)),
        "x$values": pa.array([[1.5], [], [2.5, 3.5]], L(pa.float64())),
        "x$index0": pa.array([[0], [], [1, 2]], L(pa.int64())),
        "x$index1": pa.array([[4], [], [0, 2]], L(pa.int64())),
    }
)
INDEXES = ("x$index0", "x$index1")
TENSORS = [  # with the TensorRepresentation, if the peer takes it
    (TensorRepresentation("b", "dense", "bool"), None),
    (TensorRepresentation("i", "dense", "int32"), "dense_tensor { column_name: 'i' shape {} }"),
    (
        TensorRepresentation("g", "dense", "float64", shape=(2,)),
        "dense_tensor { column_name: 'g' shape { dim { size: 2 } } }",
    ),
    (
        TensorRepresentation("v", "varlen_sparse", "int8"),
        "varlen_sparse_tensor { column_name: 'v' }",
    ),
    (TensorRepresentation("vb", "varlen_sparse", "bool"), None),
    (TensorRepresentation("r", "ragged", "bool"), "ragged_tensor { feature_path { step: 'r' } }"),
    (
        TensorRepresentation("t", "ragged", "bytes", row_splits_dtype="int32"),
        "ragged_tensor { feature_path { step: 't' } row_partition_dtype: INT32 }",
    ),
    (TensorRepresentation("n", "sparse", "int32"), None),
    (TensorRepresentation("f", "dense", "float64", shape=(2, 2)), None),
    (
        TensorRepresentation(
            "x", "sparse", "float64", ("x$values",), (-1, -1), index_columns=INDEXES
        ),
        "sparse_tensor { value_column_name: 'x$values' index_column_names: 'x$index0' "
        "index_column_names: 'x$index1' dense_shape { dim { size: -1 } dim { size: -1 } } }",
    ),
]
IDS = [representation.name for representation, _ in TENSORS]


def made_of(representation: TensorRepresentation) -> Any:
    return cst.tensor.TensorAdapter(BATCH.schema, [representation]).convert(BATCH)[
        representation.name
    ]


@pytest.mark.parametrize(("representation", "peer"), TENSORS, ids=IDS)
def test_type_specs_tell(representation: TensorRepresentation, peer: str | None) -> None:
    specs = tfxio.TensorAdapter(BATCH.schema, {representation.name: representation}).TypeSpecs()
    assert_told(specs[representation.name], cst.tensor.to_tf(made_of(representation)))


@pytest.mark.parametrize(("representation", "peer"), TENSORS, ids=IDS)
def test_tfx_bsl_makes_the_same(representation: TensorRepresentation, peer: str | None) -> None:
    name = representation.name
    text = peer or (
        "sparse_tensor { value_column_name: 'n' dense_shape {} }"
        if name == "n"
        else f"varlen_sparse_tensor {{ column_name: '{name}' }}"
    )
    proto = text_format.Parse(text, schema_pb2.TensorRepresentation())
    if peer is None:
        with pytest.raises(ValueError, match="Unable to handle tensor"):
            TensorAdapter(TensorAdapterConfig(BATCH.schema, {name: proto}))
        return
    theirs = TensorAdapter(TensorAdapterConfig(BATCH.schema, {name: proto})).ToBatchTensors(BATCH)
    ours = plain_tensor(made_of(representation))
    found = plain_tf(theirs[name])
    if representation.kind == "sparse":  # unknown dimensions are -1 there
        assert found[-1] == [3, -1, -1] and ours[-1] == [3, 3, 5]
        found, ours = found[:-1], ours[:-1]
    assert found == ours


def test_no_form_in_tf_io() -> None:
    schema = cst.Schema.from_text('feature { name: "n" type: INT }').with_tensor_representations(
        [TensorRepresentation("n", "sparse", "int64")]
    )
    with pytest.raises(cst.errors.UnsupportedError, match="'n' of rank 1"):
        schema.feature_spec(tensorflow=True)


def test_bools_in_tf_data() -> None:
    table = pa.table({"b": [True, False, True], "v": [[True], [], [False, True]]})
    dataset = cst.open(table).map(lambda batch: batch).dataset(2).tf()
    assert dataset.element_spec["b"].dtype == tf.bool
    found = [(b["b"].numpy().tolist(), b["v"].values.numpy().tolist()) for b in dataset]
    assert found == [([True, False], [True]), ([True], [False, True])]
