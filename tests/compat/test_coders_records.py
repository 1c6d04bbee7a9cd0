"""Coders of examples and sequence examples, batching, graph decoders: ours as tfx_bsl's."""

from __future__ import annotations

import pathlib
import pickle
from typing import Any

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pytest
import tensorflow as tf
from apache_beam.testing.util import assert_that, equal_to
from columnstone.compat.tfx_bsl.coders import (
    batch_util,
    example_coder,
    sequence_example_coder,
    tf_graph_record_decoder,
)
from conftest import real
from google.protobuf import text_format
from tensorflow_metadata.proto.v0 import schema_pb2

SCHEMA = """
feature { name: "b" type: BYTES }
feature { name: "a" type: INT }
feature { name: "b" type: INT }
feature { name: "s" type: STRUCT struct_domain { feature { name: "f" type: FLOAT } } }
"""
RAGGED = """
tensor_representation_group { key: "" value { tensor_representation { key: "z" value {
  ragged_tensor {
    feature_path { step: "v" }
    partition { row_length: "r1" } partition { uniform_row_length: 2 }
    partition { row_length: "r2" }
  } } } } }
"""


def schema(text: str) -> schema_pb2.Schema:
    return text_format.Parse(text, schema_pb2.Schema())


def example(text: str) -> bytes:
    return bytes(text_format.Parse(text, tf.train.Example()).SerializeToString(deterministic=True))


def sequence(text: str) -> bytes:
    return bytes(
        text_format.Parse(text, tf.train.SequenceExample()).SerializeToString(deterministic=True)
    )


EXAMPLES = [
    example(
        'features { feature { key: "a" value { int64_list { value: [1, 2] } } }'
        ' feature { key: "b" value { bytes_list { value: "x" } } } }'
    ),
    example('features { feature { key: "a" value { } } feature { key: "c" value { } } }'),
]
SEQUENCES = [
    sequence(
        'context { feature { key: "a" value { int64_list { value: 1 } } } } feature_lists {'
        ' feature_list { key: "f" value { feature { float_list { value: 2 } } feature { } } }'
        ' feature_list { key: "g" value { feature { } } } }'
    ),
    sequence("context { }"),
]


def said(call: Any, *arguments: Any) -> tuple[type, str]:
    with pytest.raises(Exception) as caught:
        call(*arguments)
    return caught.type, str(caught.value)


@pytest.mark.parametrize("text", [None, SCHEMA.rsplit('feature { name: "s"', 1)[0]])
def test_examples_are_decoded(text: str | None) -> None:
    given = None if text is None else schema(text).SerializeToString()
    theirs = real("tfx_bsl.coders.example_coder").ExamplesToRecordBatchDecoder(given)
    ours = pickle.loads(pickle.dumps(example_coder.ExamplesToRecordBatchDecoder(given)))
    assert ours.DecodeBatch(EXAMPLES).equals(theirs.DecodeBatch(EXAMPLES))
    if given is None:
        assert said(ours.ArrowSchema) == said(theirs.ArrowSchema)
    else:
        assert ours.ArrowSchema().equals(theirs.ArrowSchema())
    assert said(ours.DecodeBatch, [b"\xff"]) == said(theirs.DecodeBatch, [b"\xff"])


@pytest.mark.parametrize("text", [None, SCHEMA])
def test_sequence_examples_are_decoded(text: str | None) -> None:
    given = () if text is None else (schema(text).SerializeToString(),)
    name = "SequenceExamplesToRecordBatchDecoder"
    theirs = getattr(real("tfx_bsl.coders.sequence_example_coder"), name)("s", *given)
    ours = sequence_example_coder.SequenceExamplesToRecordBatchDecoder("s", *given)
    assert ours.DecodeBatch(SEQUENCES).equals(theirs.DecodeBatch(SEQUENCES))
    if given:
        assert ours.ArrowSchema().equals(theirs.ArrowSchema())
    wrong = [sequence('context { feature { key: "a" value { float_list { } } } }'), *SEQUENCES]
    assert said(ours.DecodeBatch, wrong) == said(theirs.DecodeBatch, wrong)


@pytest.mark.parametrize("given", [b"\xff", b"\n\x03\n\x01a", schema(SCHEMA).SerializeToString()])
def test_a_schema_that_is_refused(given: bytes) -> None:
    theirs = real("tfx_bsl.coders.example_coder").ExamplesToRecordBatchDecoder
    assert said(example_coder.ExamplesToRecordBatchDecoder, given) == said(theirs, given)


def test_records_in_an_array_are_decoded() -> None:
    records: Any = np.array(EXAMPLES, object)
    theirs = real("tfx_bsl.coders.example_coder").ExamplesToRecordBatchDecoder()
    ours = example_coder.ExamplesToRecordBatchDecoder()
    assert ours.DecodeBatch(records).equals(theirs.DecodeBatch(records))


@pytest.mark.parametrize("record", [*EXAMPLES, example("features { }")])
def test_an_example_as_arrays(record: bytes) -> None:
    theirs = real("tfx_bsl.coders.example_coder").ExampleToNumpyDict(record)
    ours = example_coder.ExampleToNumpyDict(record)
    assert ours.keys() == theirs.keys()
    for name, values in ours.items():
        np.testing.assert_array_equal(values, theirs[name])
        assert getattr(values, "dtype", None) == getattr(theirs[name], "dtype", None)
        assert values is None or values.flags.writeable


def lists(depth: int, rows: list[Any], kind: pa.DataType) -> pa.Array:
    for _ in range(depth):
        kind = pa.large_list(kind)
    return pa.array(rows, kind)


@pytest.mark.parametrize(
    "column",
    [
        lists(3, [[[[4], [5]], [[6], [7, 8]]], None, [], [[None, [1]]]], pa.int64()),
        lists(3, [None, [[[4], [5]]], [[[6], []]]], pa.float32()).slice(1),
        lists(3, [[[[b"x"], []]]], pa.binary()),
    ],
)
def test_ragged_columns_are_encoded(column: pa.Array) -> None:
    batch = pa.record_batch([column], ["z"])
    theirs = real("tfx_bsl.coders.example_coder").RecordBatchToExamplesEncoder(schema(RAGGED))
    encoder = example_coder.RecordBatchToExamplesEncoder(schema(RAGGED))
    ours = pickle.loads(pickle.dumps(encoder)).encode(batch)
    parse = tf.train.Example.FromString
    assert [parse(r) for r in ours] == [parse(r) for r in theirs.encode(batch)]


def test_flat_columns_are_encoded() -> None:
    batch = pa.record_batch([lists(1, [[1], None, []], pa.int64())], ["a"])
    theirs = real("tfx_bsl.coders.example_coder").RecordBatchToExamples(batch)
    assert example_coder.RecordBatchToExamples(batch) == theirs


def test_rows_without_columns_are_encoded() -> None:
    batch = pa.record_batch([pa.array([[1], [2]])], ["a"]).select([])
    theirs = real("tfx_bsl.coders.example_coder").RecordBatchToExamples(batch)
    ours = example_coder.RecordBatchToExamples(batch)
    assert [list(tf.train.Example.FromString(r).features.feature) for r in ours] == [[], []]
    assert len(ours) == len(theirs)


@pytest.mark.parametrize(
    ("column", "text"),
    [
        (pa.array([1]), ""),
        (lists(1, [[1]], pa.int32()), ""),
        (lists(1, [["x"]], pa.string()), ""),
        (lists(2, [[[1]]], pa.int64()), ""),
        (lists(2, [[[1]]], pa.int64()), RAGGED),
        (lists(4, [[[[[1]]]]], pa.int64()), RAGGED),
    ],
)
def test_a_column_that_is_refused(column: pa.Array, text: str) -> None:
    batch = pa.record_batch([column], ["z"])
    theirs = real("tfx_bsl.coders.example_coder").RecordBatchToExamplesEncoder(schema(text))
    ours = example_coder.RecordBatchToExamplesEncoder(schema(text))
    assert said(ours.encode, batch) == said(theirs.encode, batch)


@pytest.mark.parametrize("size", [None, 3])
def test_arguments_of_batching(size: int | None) -> None:
    theirs = real("tfx_bsl.coders.batch_util").GetBatchElementsKwargs(size)
    assert batch_util.GetBatchElementsKwargs(size) == theirs


def test_records_are_batched() -> None:
    with beam.Pipeline() as pipeline:
        records = pipeline | beam.Create([b"x"] * 4)
        sizes = records | batch_util.BatchRecords(2, ["Test"]) | beam.Map(len)
        assert_that(sizes, equal_to([2, 2]))


class Decoder(tf_graph_record_decoder.TFGraphRecordDecoder):
    def decode_record(self, records: tf.Tensor) -> dict[str, Any]:
        rows = tf.expand_dims(tf.range(tf.size(records)), 1)
        return {"x": tf.sparse.from_dense(records), "row": tf.RaggedTensor.from_tensor(rows)}

    @property
    def record_index_tensor_name(self) -> str:
        return "row"


def test_a_graph_decoder_is_loaded_by_both(tmp_path: pathlib.Path) -> None:
    Decoder().save(str(tmp_path))
    ours = tf_graph_record_decoder.load_decoder(str(tmp_path))
    theirs = real("tfx_bsl.coders.tf_graph_record_decoder").load_decoder(str(tmp_path))
    assert ours.record_index_tensor_name == theirs.record_index_tensor_name == "row"
    assert ours.output_type_specs() == theirs.output_type_specs() == Decoder().output_type_specs()
    decoded = ours.decode_record(tf.constant([b"a", b"b"]))
    assert decoded["row"].to_list() == [[0], [1]]
    assert decoded["x"].values.numpy().tolist() == [b"a", b"b"]
