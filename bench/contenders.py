"""The programs that the benchmark compares, each as "prepare the batches" and "do one batch".

All are given the same list of bytes. TensorFlow is timed a second time on a string tensor that was
made before, and is asked for variable-length features where the same work as ours is meant: a dense
feature with a default cannot tell an absent value from the default.
"""

from __future__ import annotations

import ctypes
import dataclasses
import os
from collections.abc import Callable, Sequence
from typing import Any

from data import Field

Records = list[bytes]


@dataclasses.dataclass(frozen=True)
class Contender:
    """`run` does the timed work on one batch that `prepare` made."""

    name: str
    prepare: Callable[[Records], Any]
    run: Callable[[Any], Any]


def as_is(records: Records) -> Records:
    return records


# Columnstone


def ours(
    schema_text: str | None, columns: Sequence[str] | None = None, **options: Any
) -> Contender:
    import columnstone as cst

    schema = cst.Schema.from_text(schema_text) if schema_text is not None else None
    decoder = cst.decoder("example", schema=schema, columns=columns, **options)
    return Contender("columnstone", as_is, decoder.decode)


def ours_arrow(schema_text: str) -> Contender:
    import pyarrow as pa

    return dataclasses.replace(ours(schema_text), prepare=lambda r: pa.array(r, pa.large_binary()))


def ours_views(schema_text: str) -> Contender:
    import columnstone as cst
    import pyarrow as pa

    decoder = cst.decoder("example", schema=cst.Schema.from_text(schema_text), binary_views=True)
    return Contender("columnstone, views", lambda r: pa.array(r, pa.large_binary()), decoder.decode)


def ours_encoder() -> Contender:
    import columnstone as cst

    return Contender("columnstone", as_is, cst.encoder("example").encode)


def memcpy(size: int) -> Contender:
    """What moving as many bytes costs: one copy into memory that was written before."""
    import numpy as np

    into = np.ones(size, np.uint8)

    def copy(joined: bytes) -> None:
        ctypes.memmove(into.ctypes.data, joined, len(joined))

    return Contender("memcpy", b"".join, copy)


# tfx_bsl


def schema_proto(schema_text: str) -> Any:
    from google.protobuf import text_format
    from tensorflow_metadata.proto.v0 import schema_pb2

    return text_format.Parse(schema_text, schema_pb2.Schema())


def tfx_bsl_decoder(schema_text: str | None) -> Contender:
    from tfx_bsl.coders.example_coder import ExamplesToRecordBatchDecoder

    schema = None if schema_text is None else schema_proto(schema_text).SerializeToString()
    return Contender("tfx_bsl", as_is, ExamplesToRecordBatchDecoder(schema).DecodeBatch)


def tfx_bsl_encoder() -> Contender:
    from tfx_bsl.coders.example_coder import RecordBatchToExamplesEncoder

    return Contender("tfx_bsl", as_is, RecordBatchToExamplesEncoder(None).encode)


# TensorFlow


def tensorflow_one_thread() -> Any:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    return tf


def tf_features(fields: Sequence[Field], dense: dict[str, list[int]]) -> dict[str, Any]:
    """The feature spec: FixedLen with a default for the names in `dense`, VarLen for the others."""
    tf = tensorflow_one_thread()
    types = {"INT": tf.int64, "FLOAT": tf.float32, "BYTES": tf.string}
    empty: dict[str, Any] = {"INT": 0, "FLOAT": 0.0, "BYTES": b""}
    spec: dict[str, Any] = {}
    for name, kind in fields:
        if name in dense:
            size = dense[name][0] if dense[name] else 1
            default = [empty[kind]] * size if dense[name] else empty[kind]
            spec[name] = tf.io.FixedLenFeature(dense[name], types[kind], default)
        else:
            spec[name] = tf.io.VarLenFeature(types[kind])
    return spec


def tf_parsers(fields: Sequence[Field], dense: dict[str, list[int]]) -> list[Contender]:
    """tf.io.parse_example inside a tf.function, as an input pipeline runs it: from the same list of
    bytes that the others are given, and from a string tensor that is there already.
    """
    tf = tensorflow_one_thread()
    spec = tf_features(fields, dense)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def parse(serialized: Any) -> Any:
        return tf.io.parse_example(serialized, spec)

    def parse_list(records: Records) -> Any:
        return parse(tf.constant(records))

    return [
        Contender("tf.io.parse_example", as_is, parse_list),
        Contender("tf.io, from a tensor", tf.constant, parse),
    ]
