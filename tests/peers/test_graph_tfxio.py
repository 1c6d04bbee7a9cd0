"""tfxio.GraphToTensorTFXIO: decoders that tfx_bsl has saved, and sources of Beam."""

from __future__ import annotations

import pathlib
from typing import Any

import apache_beam as beam
import columnstone as cst
import pyarrow as pa
import pytest
import tensorflow as tf
from apache_beam.testing.util import assert_that
from columnstone import tfxio
from support import framed, plain_tensor, plain_tf
from tfx_bsl.coders import tf_graph_record_decoder
from tfx_bsl.tfxio import record_to_tensor_tfxio

SHOP = pathlib.Path(__file__).parents[1] / "data" / "messages" / "shop.desc"
RECORDS = [b"a b", b"", b"c dd e", b"f"] * 5


class Words(tf_graph_record_decoder.TFGraphRecordDecoder):
    """What the peer takes, and what it refuses."""

    def __init__(self, refused: bool) -> None:
        self.refused = refused

    def decode_record(self, records: Any) -> dict[str, Any]:
        words = tf.strings.split(records)
        lengths = tf.strings.length(records)
        made = {
            "length": tf.expand_dims(tf.cast(lengths, tf.int64), 1),
            "pair": tf.stack([lengths, -lengths], axis=1),
            "words": words,
            "sparse": words.to_sparse(),
        }
        if self.refused:
            present = tf.cast(tf.where(lengths > 0), tf.int64)
            made["bool"] = lengths > 2
            made["first"] = tf.SparseTensor(
                present, tf.gather_nd(lengths, present), [tf.size(records, tf.int64)]
            )
        return made


class Twice(tf_graph_record_decoder.TFGraphRecordDecoder):
    """Two rows for each record."""

    def decode_record(self, records: Any) -> dict[str, Any]:
        rows = tf.repeat(tf.range(tf.size(records, tf.int64)), 2)
        return {
            "text": tf.RaggedTensor.from_row_lengths(tf.gather(records, rows), tf.ones_like(rows)),
            "from": tf.RaggedTensor.from_row_lengths(rows, tf.ones_like(rows)),
        }

    @property
    def record_index_tensor_name(self) -> str:
        return "from"


@pytest.fixture
def files(tmp_path: pathlib.Path) -> str:
    path = tmp_path / "words.tfrecord"
    path.write_bytes(framed(RECORDS))
    return str(path)


@pytest.mark.parametrize("refused", [False, True])
def test_a_saved_decoder_gives_its_tensors(
    files: str, tmp_path: pathlib.Path, refused: bool
) -> None:
    decoder = Words(refused)
    tf_graph_record_decoder.save_decoder(decoder, str(tmp_path / "decoder"))
    ours = tfxio.GraphToTensorTFXIO(tmp_path / "decoder", files)
    (batch,) = ours.RecordBatches(tfxio.RecordBatchesOptions(batch_size=100))
    found = ours.TensorAdapter().ToBatchTensors(batch)
    expected = decoder.decode_record(tf.constant(RECORDS))
    assert {n: plain_tensor(t) for n, t in found.items()} == {
        n: plain_tf(t) for n, t in expected.items()
    }
    peer = record_to_tensor_tfxio.TFRecordToTensorTFXIO
    arguments = (files, str(tmp_path / "decoder"), ["test"])
    if refused:
        with pytest.raises(ValueError, match="No handler found"):
            peer(*arguments)
    else:
        assert set(peer(*arguments).TensorRepresentations()) == set(ours.TensorRepresentations())
    specs = ours.TensorAdapter().TypeSpecs()
    assert specs["words"].is_compatible_with(expected["words"])
    (tensors,) = ours.TFDataset(
        tfxio.TensorFlowDatasetOptions(batch_size=100, num_epochs=1, shuffle=False)
    )
    assert tensors["pair"].numpy().tolist() == expected["pair"].numpy().tolist()


def test_records_of_rows(files: str, tmp_path: pathlib.Path) -> None:
    tf_graph_record_decoder.save_decoder(Twice(), str(tmp_path / "decoder"))
    ours = tfxio.GraphToTensorTFXIO(tmp_path / "decoder", files, raw_record_column_name="raw")
    (batch,) = ours._open(100)
    found = pa.record_batch(batch).to_pydict()
    twice = [[r] for r in RECORDS for _ in range(2)]
    assert found["text"] == twice
    assert found["raw"] == twice


def test_what_is_no_decoder(tmp_path: pathlib.Path) -> None:
    tf.saved_model.save(tf.Module(), str(tmp_path / "other"))
    with pytest.raises(cst.errors.ArgumentError, match="no decode_fun"):
        tfxio.GraphToTensorTFXIO(tmp_path / "other")


@pytest.mark.parametrize("from_files", [False, True])
@pytest.mark.parametrize("raw", [None, "raw"])
def test_beam(tmp_path: pathlib.Path, from_files: bool, raw: str | None) -> None:
    rows = [{"id": i, "event": [{"query": f"q{k}"} for k in range(i % 3)]} for i in range(10)]
    shop = {"message": "shop.Session", "descriptors": SHOP}
    path = tmp_path / "sessions.tfrecord"
    cst.write(rows, path, **shop)  # type: ignore[arg-type]
    records = pa.table(cst.open(path, format="raw"))[0].to_pylist()
    query = cst.Query("shop.Session", descriptors=SHOP).output("q", cst.query.ragged("event.query"))
    ours = tfxio.GraphToTensorTFXIO(
        query, str(path) if from_files else None, raw_record_column_name=raw
    )
    expected = sorted([e["query"] for e in row["event"]] for row in rows)

    def check(batches: list[pa.RecordBatch]) -> None:
        table = pa.Table.from_batches(batches, ours.ArrowSchema())
        assert sorted(table["q"].to_pylist()) == expected
        if raw is not None:
            assert sorted(r for (r,) in table["raw"].to_pylist()) == sorted(records)

    with beam.Pipeline() as pipeline:
        begin = pipeline if from_files else pipeline | beam.Create(records)
        assert_that(begin | ours.BeamSource(4), check)
