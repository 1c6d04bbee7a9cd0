"""Indexes: the text that we export is what the package tfrecord makes and reads, and the reverse;
rows and parts are those of TensorFlow's reader.
"""

from __future__ import annotations

import pathlib
import pickle
import subprocess
import sys

import columnstone as cst
import numpy as np
import pyarrow as pa
import pytest
import tensorflow as tf
import wire

COUNT = 500


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Examples of many sizes, written by TensorFlow."""
    rng = np.random.default_rng(3)
    file = tmp_path_factory.mktemp("index") / "some.tfrecord"
    with tf.io.TFRecordWriter(str(file)) as writer:
        for i in range(COUNT):
            text = rng.bytes(int(rng.integers(0, 3000)))
            features = [wire.Feature("number", "INT", (i,)), wire.Feature("text", "BYTES", (text,))]
            writer.write(wire.example(features))
    return file


def read_by_tensorflow(path: pathlib.Path) -> list[bytes]:
    return [bytes(record.numpy()) for record in tf.data.TFRecordDataset(str(path))]


# The tfrecord package cannot live in one process with TensorFlow

IN_PACKAGE = """
import pickle, sys
from tfrecord.tools.tfrecord2idx import create_index
from tfrecord.reader import tfrecord_iterator
path, index, shards = pickle.load(sys.stdin.buffer)
if shards is None:
    create_index(path, index)
    found = None
else:
    found = [[bytes(r) for r in tfrecord_iterator(path, index, shard=(i, shards))]
             for i in range(shards)]
pickle.dump(found, sys.stdout.buffer)
"""


def package(
    path: pathlib.Path, index: pathlib.Path, shards: int | None = None
) -> list[list[bytes]]:
    """Makes the index; with `shards`, reads the parts of the file by it."""
    done = subprocess.run(
        [sys.executable, "-c", IN_PACKAGE],
        input=pickle.dumps((str(path), str(index), shards)),
        capture_output=True,
        check=True,
    )
    found: list[list[bytes]] = pickle.loads(done.stdout)
    return found


def test_our_text_is_that_of_the_package(path: pathlib.Path, tmp_path: pathlib.Path) -> None:
    theirs = tmp_path / "theirs"
    ours = tmp_path / "ours"
    package(path, theirs)
    cst.source.Index.build(path).export_text(ours)
    assert ours.read_bytes() == theirs.read_bytes()


def test_the_package_reads_by_our_index(path: pathlib.Path, tmp_path: pathlib.Path) -> None:
    ours = tmp_path / "ours"
    cst.source.Index.build(path).export_text(ours)
    parts = package(path, ours, 7)
    assert [record for part in parts for record in part] == read_by_tensorflow(path)


def test_we_read_by_the_index_of_the_package(path: pathlib.Path, tmp_path: pathlib.Path) -> None:
    theirs = tmp_path / "theirs"
    package(path, theirs)
    index = cst.source.Index.from_text(theirs, path)
    data = path.read_bytes()
    records = read_by_tensorflow(path)
    assert len(index) == len(records)
    for i, record in enumerate(records):
        offset, size = index[i]
        assert data[offset + 12 : offset + 12 + size] == record


def test_an_index_that_differs_is_refused(path: pathlib.Path, tmp_path: pathlib.Path) -> None:
    theirs = tmp_path / "theirs"
    package(path, theirs)
    lines = theirs.read_text().splitlines()
    lines[123] = "12345 67"
    theirs.write_text("\n".join(lines))
    with pytest.raises(cst.errors.CorruptError) as caught:
        cst.source.Index.from_text(theirs, path)
    assert caught.value.line == 124


@pytest.mark.parametrize("indexed", [False, True])
def test_rows_and_parts_are_tensorflows(
    path: pathlib.Path, tmp_path: pathlib.Path, indexed: bool
) -> None:
    copy = tmp_path / "copy.tfrecord"
    copy.write_bytes(path.read_bytes())
    if indexed:
        cst.source.Index.build(copy)
    records = read_by_tensorflow(path)
    source = cst.open(copy, format="raw")
    assert len(source) == COUNT
    rows = [7, 499, 0, 7, 250]
    assert pa.record_batch(source.take(rows))["record"].to_pylist() == [records[r] for r in rows]
    for parts in (1, 2, 3, 10, 499, 600):
        found = []
        for i in range(parts):
            table = pa.table(source.split(i, parts))
            found += table["record"].to_pylist()
        assert found == records
