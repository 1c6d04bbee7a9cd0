"""Tensors to record batches: those of TensorFlow give the batches of tfx_bsl's
TensorsToRecordBatchConverter where that keeps them, and come back where it loses them."""

from __future__ import annotations

from typing import Any

import columnstone as cst
import numpy as np
import pyarrow as pa
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st
from support import assert_same_batch, plain_tensor, plain_tf, schema_proto
from tensorflow_metadata.proto.v0 import schema_pb2
from tfx_bsl.tfxio import tensor_adapter, tensor_to_arrow

DTYPES = [tf.int8, tf.uint16, tf.int32, tf.int64, tf.uint64, tf.float32, tf.float64, tf.string]


def flat(draw: st.DrawFn, dtype: tf.DType, count: int) -> Any:
    source = np.random.default_rng(draw(st.integers(0, 2**32)))
    if dtype == tf.string:
        return [source.bytes(int(n)) for n in source.integers(0, 9, count)]
    if dtype.is_floating:
        return source.standard_normal(count)
    return source.integers(0, dtype.max, count, dtype=dtype.as_numpy_dtype)


def tensor_of(draw: st.DrawFn, dtype: tf.DType, shape: list[int]) -> tf.Tensor:
    values = flat(draw, dtype, int(np.prod(shape)))
    return tf.reshape(tf.constant(values, dtype), shape)


def row_splits(draw: st.DrawFn, count: int, dtype: tf.DType) -> tf.Tensor:
    lengths = draw(st.lists(st.integers(0, 3), min_size=count, max_size=count))
    return tf.constant([0, *np.cumsum(lengths)], dtype)


Peer = tuple[Any, Any]  # a type spec, and a tensor of it


def dense(draw: st.DrawFn, dtype: tf.DType, rows: int) -> Peer:
    shape = draw(st.lists(st.integers(0, 3), max_size=2))
    return tf.TensorSpec([None, *shape], dtype), tensor_of(draw, dtype, [rows, *shape])


def varlen(draw: st.DrawFn, dtype: tf.DType, rows: int) -> Peer:
    """Positions without gaps, and a dense shape as wide as the longest row."""
    splits = row_splits(draw, rows, tf.int64)
    ragged = tf.RaggedTensor.from_row_splits(tensor_of(draw, dtype, [int(splits[-1])]), splits)
    return tf.SparseTensorSpec([None, None], dtype), ragged.to_sparse()


def sparse(draw: st.DrawFn, dtype: tf.DType, rows: int) -> Peer:
    sizes = draw(st.lists(st.integers(1, 4), min_size=2, max_size=3))
    places = st.tuples(st.integers(0, max(rows - 1, 0)), *(st.integers(0, s - 1) for s in sizes))
    indices = sorted(draw(st.sets(places))) if rows else []
    tensor = tf.SparseTensor(
        np.array(indices, np.int64).reshape(-1, len(sizes) + 1),
        tensor_of(draw, dtype, [len(indices)]),
        [rows, *sizes],
    )
    return tf.SparseTensorSpec([None, *sizes], dtype), tensor


def ragged(draw: st.DrawFn, dtype: tf.DType, rows: int) -> Peer:
    splits_dtype = draw(st.sampled_from([tf.int32, tf.int64]))
    inner = draw(st.lists(st.integers(1, 3), max_size=2))
    splits, count = [], rows
    for _ in range(draw(st.integers(1, 3))):
        splits.append(row_splits(draw, count, splits_dtype))
        count = int(splits[-1][-1])
    tensor = tf.RaggedTensor.from_nested_row_splits(tensor_of(draw, dtype, [count, *inner]), splits)
    shape = [None] * (len(splits) + 1) + inner
    return tf.RaggedTensorSpec(shape, dtype, len(splits), splits_dtype), tensor


@st.composite
def peers(draw: st.DrawFn) -> dict[str, Peer]:
    rows = draw(st.integers(1, 4))
    kinds = draw(st.lists(st.sampled_from([dense, varlen, sparse, ragged]), min_size=1, max_size=4))
    return {
        f"t{i}": kind(draw, draw(st.sampled_from(DTYPES)), rows) for i, kind in enumerate(kinds)
    }


def convert(
    case: dict[str, Peer], **options: Any
) -> tuple[pa.RecordBatch, tensor_to_arrow.TensorsToRecordBatchConverter]:
    converter = tensor_to_arrow.TensorsToRecordBatchConverter(
        {name: spec for name, (spec, _) in case.items()},
        tensor_to_arrow.TensorsToRecordBatchConverter.Options(**options),
    )
    return converter.convert({name: tensor for name, (_, tensor) in case.items()}), converter


def encode(tensors: dict[str, Any]) -> tuple[pa.RecordBatch, cst.tensor.TensorEncoder]:
    encoder = cst.tensor.TensorEncoder.of(tensors)
    return pa.record_batch(encoder.encode(tensors)), encoder


def decode(batch: pa.RecordBatch, representations: Any) -> dict[str, Any]:
    tensors = cst.tensor.TensorAdapter(batch.schema, representations).convert(batch)
    return {name: plain_tensor(tensor) for name, tensor in tensors.items()}


def peer_representations(encoder: cst.tensor.TensorEncoder) -> dict[str, Any]:
    """Ours as the peer's messages, by way of a schema."""
    schema = cst.Schema.from_text("").with_tensor_representations(encoder.representations)
    group = schema_proto(schema.to_text()).tensor_representation_group[""]
    return dict(group.tensor_representation)


# ---- where the peer is right ----


@given(peers())
def test_the_peers_batches(case: dict[str, Peer]) -> None:
    theirs, _ = convert(case)
    mine, _ = encode({name: tensor for name, (_, tensor) in case.items()})
    assert_same_batch(mine, theirs)


@given(peers())
def test_the_peers_representations(case: dict[str, Peer]) -> None:
    """But that ours say that the indices are sorted, as the encoder sees to it."""
    _, converter = convert(case)
    _, encoder = encode({name: tensor for name, (_, tensor) in case.items()})
    found = peer_representations(encoder)
    assert {n: without_order(r) for n, r in found.items()} == converter.tensor_representations()


def without_order(representation: Any) -> Any:
    copy = schema_pb2.TensorRepresentation()
    copy.CopyFrom(representation)
    if copy.HasField("sparse_tensor"):
        copy.sparse_tensor.ClearField("already_sorted")
    return copy


@given(peers())
def test_tensors_come_back(case: dict[str, Peer]) -> None:
    tensors = {name: tensor for name, (_, tensor) in case.items()}
    batch, encoder = encode(tensors)
    expected = {name: plain_tf(tensor) for name, tensor in tensors.items()}
    assert decode(batch, encoder.representations) == expected


@given(peers())
def test_the_peers_adapter_reads_our_batches(case: dict[str, Peer]) -> None:
    tensors = {name: tensor for name, (_, tensor) in case.items()}
    batch, encoder = encode(tensors)
    config = tensor_adapter.TensorAdapterConfig(batch.schema, peer_representations(encoder))
    theirs = tensor_adapter.TensorAdapter(config).ToBatchTensors(batch)
    assert {name: plain_tf(tensor) for name, tensor in theirs.items()} == {
        name: plain_tf(tensor) for name, tensor in tensors.items()
    }


# ---- where the peer loses something, and we do not ----

GAPS = tf.SparseTensor([[0, 3], [1, 0], [1, 2]], [1, 2, 3], [2, 9])


def test_positions_of_a_matrix() -> None:
    """The peer keeps a sparse matrix as lists of its values: positions and width are gone."""
    theirs, converter = convert({"m": (tf.SparseTensorSpec([None, None], tf.int32), GAPS)})
    assert theirs.to_pydict() == {"m": [[1], [2, 3]]}
    config = tensor_adapter.TensorAdapterConfig(theirs.schema, converter.tensor_representations())
    lost = tensor_adapter.TensorAdapter(config).ToBatchTensors(theirs)["m"]
    assert lost.indices.numpy().tolist() == [[0, 0], [1, 0], [1, 1]]
    assert lost.dense_shape.numpy().tolist() == [2, 2]

    mine, encoder = encode({"m": GAPS})
    assert mine.to_pydict() == {"m$values": [[1], [2, 3]], "m$index0": [[3], [0, 2]]}
    assert decode(mine, encoder.representations) == {"m": plain_tf(GAPS)}


def test_the_width_of_a_matrix() -> None:
    """Positions without gaps, but a wider shape."""
    wide = tf.SparseTensor([[0, 0], [1, 0]], [1, 2], [2, 9])
    theirs, converter = convert({"m": (tf.SparseTensorSpec([None, 9], tf.int32), wide)})
    config = tensor_adapter.TensorAdapterConfig(theirs.schema, converter.tensor_representations())
    lost = tensor_adapter.TensorAdapter(config).ToBatchTensors(theirs)["m"]
    assert lost.dense_shape.numpy().tolist() == [2, 1]

    mine, encoder = encode({"m": wide})
    assert decode(mine, encoder.representations) == {"m": plain_tf(wide)}


def test_a_matrix_that_is_called_generic() -> None:
    """The peer's option for it: the same columns as ours."""
    spec = tf.SparseTensorSpec([None, 9], tf.int32)
    theirs, _ = convert({"m": (spec, GAPS)}, generic_sparse_tensor_names=frozenset({"m"}))
    mine, _ = encode({"m": GAPS})
    assert_same_batch(mine, theirs)


def test_indices_out_of_order() -> None:
    """What the peer takes silently is named here."""
    twisted = tf.SparseTensor([[0, 1, 1], [0, 1, 0]], [1, 2], [1, 2, 2])
    theirs, _ = convert({"m": (tf.SparseTensorSpec([None, 2, 2], tf.int32), twisted)})
    assert theirs.num_rows == 1
    with pytest.raises(cst.errors.SchemaError, match="row-major order") as caught:
        encode({"m": twisted})
    assert (caught.value.path, caught.value.record) == ("m", 0)
