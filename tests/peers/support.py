"""Small bridges: ours and the peers' results as plain Python values, to be compared with ==."""

from __future__ import annotations

import itertools
import math
import pathlib
import pickle
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from typing import Any

import columnstone as cst
import crc32c
import numpy as np
import pyarrow as pa
import tensorflow as tf
from google.protobuf import text_format
from tensorflow_metadata.proto.v0 import schema_pb2
from tfx_bsl.coders.example_coder import ExamplesToRecordBatchDecoder

Plain = Any


def schema_proto(text: str) -> schema_pb2.Schema:
    return text_format.Parse(text, schema_pb2.Schema())


# Record batches


def ours(records: Sequence[bytes], schema: str | None = None, **options: Any) -> pa.RecordBatch:
    decoder = cst.decoder(
        "example", schema=cst.Schema.from_text(schema) if schema is not None else None, **options
    )
    return pa.record_batch(decoder.decode(records))


def tfx_bsl(records: Sequence[bytes], schema: str | None = None) -> pa.RecordBatch:
    serialized = None if schema is None else schema_proto(schema).SerializeToString()
    return ExamplesToRecordBatchDecoder(serialized).DecodeBatch(list(records))


def assert_same_batch(left: pa.RecordBatch, right: pa.RecordBatch) -> None:
    """Same names, types and cells; NaN equals NaN, and -0.0 differs from 0.0."""
    left.validate(full=True)
    assert left.schema.names == right.schema.names
    assert left.schema.types == right.schema.types
    assert left.num_rows == right.num_rows
    for name in left.schema.names:
        assert exact(left[name].to_pylist()) == exact(right[name].to_pylist()), name


def exact(value: Plain) -> Plain:
    """Floats by their bits, so that == means the same value."""
    if isinstance(value, list | tuple):
        return [exact(v) for v in value]
    if isinstance(value, dict):
        return {k: exact(v) for k, v in value.items()}
    if isinstance(value, float):
        return "nan" if math.isnan(value) else struct.pack("<d", value)
    return value


# What protobuf itself says about a record


def by_protobuf(record: bytes) -> dict[str, list[Plain] | None] | None:
    """Feature name to values (None: no kind); None if protobuf refuses the bytes."""
    try:
        message = tf.train.Example.FromString(record)
    except Exception:
        return None
    return {name: _values(feature) for name, feature in message.features.feature.items()}


def _values(feature: Any) -> list[Plain] | None:
    kind = feature.WhichOneof("kind")
    return None if kind is None else list(getattr(feature, kind).value)


# Files


def masked_crc(data: bytes) -> int:
    crc = crc32c.crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def framed(records: Iterable[bytes]) -> bytes:
    """A plain TFRecord file, without our writer or TensorFlow's."""
    out = bytearray()
    for record in records:
        length = struct.pack("<Q", len(record))
        out += length + struct.pack("<I", masked_crc(length))
        out += record + struct.pack("<I", masked_crc(record))
    return bytes(out)


# The tfrecord package cannot live in one process with TensorFlow

READ = """
import pickle, sys, tfrecord.reader as reader
path, compression, kinds = pickle.load(sys.stdin.buffer)
if kinds is None:
    found = [bytes(r) for r in reader.tfrecord_iterator(path, compression_type=compression)]
else:
    loaded = reader.tfrecord_loader(path, None, kinds, compression_type=compression)
    found = [{name: getattr(v, "tolist", lambda v=v: v)() for name, v in r.items()} for r in loaded]
pickle.dump(found, sys.stdout.buffer)
"""


def read_by_tfrecord_package(
    path: pathlib.Path, compression: str | None = None, kinds: dict[str, str] | None = None
) -> list[Plain]:
    """The records; with `kinds` (name to "int", "float" or "byte") the features of each."""
    done = subprocess.run(
        [sys.executable, "-c", READ],
        input=pickle.dumps((str(path), compression, kinds)),
        capture_output=True,
        check=True,
    )
    return pickle.loads(done.stdout)


# Tensors


def our_tensors(records: Sequence[bytes], schema: str, **options: Any) -> dict[str, Plain]:
    """The tensors of all records in one batch, each as `plain_*` below describes it."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "records.tfrecord")
        path.write_bytes(framed(records))
        source = cst.open(
            path, schema=cst.Schema.from_text(schema), batch_size=max(1, len(records)), **options
        )
        (tensors,) = list(source.tensors())
        return {name: plain_tensor(t) for name, t in tensors.items()}


def plain_tensor(tensor: Any) -> Plain:
    if isinstance(tensor, cst.tensor.SparseTensor):
        return plain_sparse(array(tensor.indices), array(tensor.values), array(tensor.dense_shape))
    if isinstance(tensor, cst.tensor.RaggedTensor):
        splits = [array(s) for s in tensor.row_splits]
        return plain_ragged(splits, array(tensor.values))
    return plain_dense(array(tensor))


def array(tensor: Any) -> np.ndarray:
    return tensor.numpy() if hasattr(tensor, "numpy") else np.asarray(tensor)


def plain_dense(values: np.ndarray) -> Plain:
    return ("dense", dtype_name(values), list(values.shape), exact(values.tolist()))


def plain_sparse(indices: np.ndarray, values: np.ndarray, shape: np.ndarray) -> Plain:
    return (
        "sparse",
        dtype_name(values),
        indices.tolist() if len(values) else [],
        exact(values.tolist()),
        shape.tolist(),
    )


def plain_ragged(splits: list[np.ndarray], values: np.ndarray) -> Plain:
    """The rows as nested lists, and the type of the splits."""
    rows = values.tolist()
    for level in reversed(splits):
        bounds = level.tolist()
        rows = [rows[a:b] for a, b in itertools.pairwise(bounds)]
    return ("ragged", dtype_name(values), str(splits[0].dtype), exact(rows))


def dtype_name(values: np.ndarray) -> str:
    return "bytes" if values.dtype.kind in "OSU" else str(values.dtype)


def tf_tensors(records: Sequence[bytes], spec: dict[str, Any]) -> dict[str, Plain]:
    parsed = tf.io.parse_example(tf.constant(list(records), tf.string), spec)
    return {name: plain_tf(tensor) for name, tensor in parsed.items()}


def plain_tf(tensor: Any) -> Plain:
    if hasattr(tensor, "dense_shape"):
        return plain_sparse(
            np.asarray(tensor.indices), np.asarray(tensor.values), np.asarray(tensor.dense_shape)
        )
    if isinstance(tensor, tf.RaggedTensor | tf.compat.v1.ragged.RaggedTensorValue):
        values = np.asarray(tensor.flat_values)
        return (
            "ragged",
            dtype_name(values),
            str(np.asarray(tensor.row_splits).dtype),
            exact(tensor.to_list()),
        )
    return plain_dense(np.asarray(tensor))
