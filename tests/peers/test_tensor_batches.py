"""Tensors of sources, batch by batch: generated schemas, records, batch sizes and threads, where
each batch is the same as what tf.io parses of its records."""

from __future__ import annotations

import pathlib
import tempfile

import columnstone as cst
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st
from support import framed, plain_tensor, plain_tf, tf_tensors
from tensor_cases import Case, cases, peer_feature_spec
from test_sequence import Batch as Sequences
from test_sequence import batches as sequence_batches


@given(cases(max_rows=12), st.integers(1, 14), st.integers(1, 3))
def test_every_batch_is_that_of_parse_example(case: Case, batch_size: int, threads: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "records.tfrecord")
        path.write_bytes(framed(case.records))
        schema = cst.Schema.from_text(case.schema)
        source = cst.open(path, schema=schema, batch_size=batch_size, threads=threads)
        found = [{n: plain_tensor(t) for n, t in batch.items()} for batch in source.tensors()]
    spec = peer_feature_spec(case.schema)
    cuts = range(0, len(case.records), batch_size)
    assert found == [tf_tensors(case.records[at : at + batch_size], spec) for at in cuts]


@given(sequence_batches(odd=False), st.integers(1, 5))
def test_every_batch_is_that_of_parse_sequence_example(batch: Sequences, batch_size: int) -> None:
    schema = cst.Schema.from_text(batch.schema_text())
    specs = schema.sequence_feature_spec(tensorflow=True)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "records.tfrecord")
        path.write_bytes(framed(batch.records))
        source = cst.open(path, format="sequence_example", schema=schema, batch_size=batch_size)
        found = [{n: plain_tensor(t) for n, t in b.items()} for b in source.tensors()]
    for at, tensors in enumerate(found):
        records = batch.records[at * batch_size : (at + 1) * batch_size]
        context, steps, _ = tf.io.parse_sequence_example(tf.constant(records), *specs)
        expected = {name: plain_tf(t) for name, t in {**context, **steps}.items()}
        assert tensors == expected
    assert len(found) == -(-len(batch.records) // batch_size)
