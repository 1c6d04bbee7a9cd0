"""TFRecord files: what TensorFlow writes we read; what we write, TensorFlow, tfx_bsl, Beam and the
tfrecord package read.
"""

from __future__ import annotations

import gzip
import pathlib
import subprocess
import sys
import zlib

import columnstone as cst
import numpy as np
import pyarrow as pa
import pytest
import tensorflow as tf
import wire
from support import assert_same_batch, framed, read_by_tfrecord_package, schema_proto, tfx_bsl

TF_COMPRESSIONS = ["", "GZIP", "ZLIB"]
OUR_COMPRESSIONS = {"": "none", "GZIP": "gzip", "ZLIB": "zlib"}


def some_records(count: int = 2500) -> list[bytes]:
    """Examples of many sizes, some empty and some long."""
    rng = np.random.default_rng(7)
    records = []
    for i in range(count):
        features = [
            wire.Feature("number", "INT", (i, -i)),
            wire.Feature("text", "BYTES", (rng.bytes(int(rng.integers(0, 500))),)),
            wire.Feature("score", "FLOAT", (i / 4,)),
        ]
        records.append(wire.example(features[: i % 4]))
    records[100] = wire.example([wire.Feature("text", "BYTES", (rng.bytes(3_000_000),))])
    return records


RECORDS = some_records()


def read_raw(path: pathlib.Path) -> list[bytes]:
    column = pa.table(cst.open(path, format="raw"))["record"]
    return column.to_pylist()


@pytest.mark.parametrize("compression", TF_COMPRESSIONS)
def test_we_read_what_tensorflow_writes(tmp_path: pathlib.Path, compression: str) -> None:
    path = tmp_path / "a-name-that-says-nothing"
    with tf.io.TFRecordWriter(str(path), compression or None) as writer:
        for record in RECORDS:
            writer.write(record)
    assert read_raw(path) == RECORDS
    assert_same_table(pa.table(cst.open(path)), tfx_bsl(RECORDS))


def assert_same_table(table: pa.Table, batch: pa.RecordBatch) -> None:
    assert_same_batch(table.combine_chunks().to_batches()[0], batch)


def write_ours(path: pathlib.Path, compression: str) -> None:
    with cst.codec.TFRecordWriter(path, compression=OUR_COMPRESSIONS[compression]) as writer:
        writer.write(RECORDS[0])
        writer.write_batch(pa.array(RECORDS[1:], pa.large_binary()))


@pytest.mark.parametrize("compression", TF_COMPRESSIONS)
def test_tensorflow_reads_what_we_write(tmp_path: pathlib.Path, compression: str) -> None:
    path = tmp_path / "ours"
    write_ours(path, compression)
    dataset = tf.data.TFRecordDataset(str(path), compression_type=compression)
    assert [record.numpy() for record in dataset] == RECORDS


def test_plain_file_is_byte_for_byte_that_of_tensorflow(tmp_path: pathlib.Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    write_ours(ours, "")
    with tf.io.TFRecordWriter(str(theirs)) as writer:
        for record in RECORDS:
            writer.write(record)
    assert ours.read_bytes() == theirs.read_bytes() == framed(RECORDS)


def test_python_inflates_what_we_write(tmp_path: pathlib.Path) -> None:
    write_ours(tmp_path / "gz", "GZIP")
    write_ours(tmp_path / "z", "ZLIB")
    assert gzip.decompress((tmp_path / "gz").read_bytes()) == framed(RECORDS)
    assert zlib.decompress((tmp_path / "z").read_bytes()) == framed(RECORDS)


@pytest.mark.parametrize("compression", ["", "GZIP"])
def test_beam_reads_what_we_write(tmp_path: pathlib.Path, compression: str) -> None:
    from apache_beam.io.tfrecordio import _TFRecordUtil

    path = tmp_path / "ours"
    write_ours(path, compression)
    found = []
    with gzip.open(path) if compression else path.open("rb") as file:
        while (record := _TFRecordUtil.read_record(file)) is not None:
            found.append(record)
    assert found == RECORDS


@pytest.mark.parametrize("compression", ["", "GZIP"])
def test_tfx_bsl_reads_what_we_write(tmp_path: pathlib.Path, compression: str) -> None:
    from tfx_bsl.tfxio import dataset_options, tf_example_record

    path = tmp_path / ("ours.gz" if compression else "ours")
    write_ours(path, compression)
    text = "".join(
        f'feature {{ name: "{n}" type: {k} }} '
        for n, k in [("number", "INT"), ("score", "FLOAT"), ("text", "BYTES")]
    )
    source = tf_example_record.TFExampleRecord(
        str(path), schema=schema_proto(text), telemetry_descriptors=["test"]
    )
    options = dataset_options.RecordBatchesOptions(batch_size=1000, shuffle=False, num_epochs=1)
    batches = list(source.RecordBatches(options))
    assert_same_table(pa.Table.from_batches(batches), tfx_bsl(RECORDS, text))
    assert_same_table(pa.table(cst.open(path, schema=text)), tfx_bsl(RECORDS, text))


@pytest.mark.parametrize("compression", ["", "GZIP"])
def test_the_tfrecord_package_reads_what_we_write(tmp_path: pathlib.Path, compression: str) -> None:
    path = tmp_path / "ours"
    write_ours(path, compression)
    assert read_by_tfrecord_package(path, "gzip" if compression else None) == RECORDS


def test_the_tfrecord_package_parses_what_we_encode(tmp_path: pathlib.Path) -> None:
    columns = {"number": [[1, -2], [3]], "score": [[0.5], [1.5, 2.0]], "text": [[b"a"], [b"bc"]]}
    batch = pa.record_batch(columns)
    with cst.codec.TFRecordWriter(tmp_path / "ours") as writer:
        writer.write_batch(cst.encoder("example").encode(batch))
    kinds = {"number": "int", "score": "float", "text": "byte"}
    loaded = read_by_tfrecord_package(tmp_path / "ours", None, kinds)
    assert [row["number"] for row in loaded] == columns["number"]
    assert [row["score"] for row in loaded] == columns["score"]


WRITE_WITH_PACKAGE = """
import sys, tfrecord
writer = tfrecord.TFRecordWriter(sys.argv[1])
for i in range(50):
    writer.write({"number": (i, "int"), "score": (i / 2, "float"), "text": (b"x" * i, "byte")})
writer.close()
"""


def test_we_read_what_the_tfrecord_package_writes(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "theirs"
    subprocess.run([sys.executable, "-c", WRITE_WITH_PACKAGE, str(path)], check=True)
    table = pa.table(cst.open(path))
    assert table["number"].to_pylist() == [[i] for i in range(50)]
    assert table["score"].to_pylist() == [[i / 2] for i in range(50)]
    assert table["text"].to_pylist() == [[b"x" * i] for i in range(50)]


def test_members_of_several_gzip_streams(tmp_path: pathlib.Path) -> None:
    """Files put together with cat, an empty member among them."""
    path = tmp_path / "joined"
    parts = [framed(RECORDS[:10]), b"", framed(RECORDS[10:30])]
    path.write_bytes(b"".join(gzip.compress(part) for part in parts))
    assert read_raw(path) == RECORDS[:30]
