"""Files of tf.Examples and tf.SequenceExamples, one or several shards, compressed or not: what we
write, tf.data with tf.io, tfx_bsl and the `tfrecord` package read, and the reverse.
"""

from __future__ import annotations

import pathlib
import pickle
import subprocess
import sys
from typing import Any

import columnstone as cst
import pyarrow as pa
import pytest
import tensorflow as tf
from support import assert_same_batch, exact, read_by_tfrecord_package, schema_proto
from tfx_bsl.coders.sequence_example_coder import SequenceExamplesToRecordBatchDecoder

Plain = Any
SEQUENCE = "##SEQUENCE##"
ROWS = 60
ENDINGS = {"": ".tfrecord", "GZIP": ".tfrecord.gz", "ZLIB": ".tfrecord.zlib"}

CONTEXT = pa.table(
    {
        "ids": pa.array(
            [[i, -i, 2**63 - 1][: i % 4] for i in range(ROWS)], pa.large_list(pa.int64())
        ),
        "scores": pa.array(
            [[i / 8, -0.0, 1e30][: i % 3] for i in range(ROWS)], pa.large_list(pa.float32())
        ),
        "texts": pa.array(
            [[b"t%d" % i, b"", b"\xff\x00"][: i % 4] for i in range(ROWS)],
            pa.large_list(pa.large_binary()),
        ),
    }
)
STEPS = pa.array(
    [
        {
            "clicks": [[i, -(2**62)][: k % 3] for k in range(i % 5)],
            "words": [[b"w%d" % k] * (k % 3) for k in range(i % 4)],
        }
        for i in range(ROWS)
    ],
    pa.struct(
        [
            ("clicks", pa.large_list(pa.large_list(pa.int64()))),
            ("words", pa.large_list(pa.large_list(pa.large_binary()))),
        ]
    ),
)
SEQUENCES = CONTEXT.append_column(SEQUENCE, STEPS)
FEATURES = """
feature { name: "ids" type: INT }
feature { name: "scores" type: FLOAT }
feature { name: "texts" type: BYTES }
"""
SCHEMAS = {
    "example": FEATURES,
    "sequence_example": FEATURES
    + f"""feature {{ name: "{SEQUENCE}" type: STRUCT struct_domain {{
  feature {{ name: "clicks" type: INT }} feature {{ name: "words" type: BYTES }} }} }}""",
}
TABLES = {"example": CONTEXT, "sequence_example": SEQUENCES}

every_compression = pytest.mark.parametrize("compression", ENDINGS, ids=lambda c: c or "plain")
every_kind = pytest.mark.parametrize("kind", TABLES)


def write_ours(folder: pathlib.Path, kind: str, compression: str, shards: int) -> list[str]:
    """In batches of 7 rows, which go to the shards in turn; the files in order."""
    table = TABLES[kind]
    batches = table.combine_chunks().to_batches(max_chunksize=7)
    path = folder / f"ours{ENDINGS[compression]}"
    cst.write(batches, path, kind, schema=SCHEMAS[kind], num_shards=shards if shards > 1 else None)
    return sorted(str(p) for p in folder.iterdir())


def in_shards(rows: list[Plain], shards: int) -> list[Plain]:
    """The rows in the order of the files."""
    return [row for k in range(shards) for i, row in enumerate(rows) if i // 7 % shards == k]


def rows_of(table: pa.Table) -> list[Plain]:
    return [exact(row) for row in table.to_pylist()]


def flat(row: dict[str, Plain]) -> dict[str, Plain]:
    """The feature lists beside the context, as TensorFlow has them."""
    return {**{k: v for k, v in row.items() if k != SEQUENCE}, **row.get(SEQUENCE, {})}


# TensorFlow


def ragged(names: dict[str, tf.DType]) -> dict[str, tf.io.RaggedFeature]:
    return {name: tf.io.RaggedFeature(kind) for name, kind in names.items()}


CONTEXT_SPEC = ragged({"ids": tf.int64, "scores": tf.float32, "texts": tf.string})
STEPS_SPEC = ragged({"clicks": tf.int64, "words": tf.string})


def parsed(kind: str, records: tf.Tensor) -> list[Plain]:
    found = [tf.io.parse_example(records, CONTEXT_SPEC)]
    if kind == "sequence_example":
        found = list(tf.io.parse_sequence_example(records, CONTEXT_SPEC, STEPS_SPEC)[:2])
    columns = {name: value.to_list() for part in found for name, value in part.items()}
    return [
        dict(zip(columns, map(exact, row), strict=True))
        for row in zip(*columns.values(), strict=True)
    ]


@every_kind
@every_compression
@pytest.mark.parametrize("shards", [1, 3])
def test_tensorflow_reads_ours(
    kind: str, compression: str, shards: int, tmp_path: pathlib.Path
) -> None:
    files = write_ours(tmp_path, kind, compression, shards)
    assert len(files) == shards
    dataset = tf.data.TFRecordDataset(files, compression_type=compression)
    (records,) = dataset.batch(ROWS)
    expected = [flat(row) for row in rows_of(TABLES[kind])]
    assert parsed(kind, records) == in_shards(expected, shards)


def as_feature(values: list[Plain]) -> tf.train.Feature:
    if values and isinstance(values[0], bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
    if values and isinstance(values[0], float):
        return tf.train.Feature(float_list=tf.train.FloatList(value=values))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def message_of(row: dict[str, Plain]) -> bytes:
    """Without the features that have no value, whose type it would have to know."""
    context = {n: as_feature(v) for n, v in row.items() if n != SEQUENCE and v}
    features = tf.train.Features(feature=context)
    if SEQUENCE not in row:
        return tf.train.Example(features=features).SerializeToString()
    lists = {
        n: tf.train.FeatureList(feature=[as_feature(v) if v else tf.train.Feature() for v in steps])
        for n, steps in row[SEQUENCE].items()
    }
    made = tf.train.SequenceExample(
        context=features, feature_lists=tf.train.FeatureLists(feature_list=lists)
    )
    return made.SerializeToString()


def without_empty(row: dict[str, Plain]) -> dict[str, Plain]:
    """What is left of a row in such a message: no value is absent, for steps too."""
    made = {n: v or None for n, v in row.items() if n != SEQUENCE}
    if SEQUENCE in row:
        steps = {n: [v or None for v in values] for n, values in row[SEQUENCE].items()}
        made[SEQUENCE] = steps
    return made


@every_kind
@every_compression
def test_we_read_tensorflows(kind: str, compression: str, tmp_path: pathlib.Path) -> None:
    rows = TABLES[kind].to_pylist()
    for k in range(3):
        path = tmp_path / f"theirs-{k}"
        with tf.io.TFRecordWriter(str(path), compression or None) as writer:
            for row in rows[20 * k : 20 * (k + 1)]:
                writer.write(message_of(row))
    for schema in (SCHEMAS[kind], None):
        source = cst.open(tmp_path / "theirs-*", schema=schema, batch_size=7, threads=2)
        found = pa.table(source).select(TABLES[kind].column_names)
        assert found.schema.types == TABLES[kind].schema.types
        assert rows_of(found) == [exact(without_empty(row)) for row in rows]


# tfx_bsl


@every_compression
def test_tfx_bsl_decodes_our_sequences(compression: str, tmp_path: pathlib.Path) -> None:
    """It cuts integers to 32 bits in feature lists, so that these are small here."""
    small = pa.array([[[k, -k] for k in range(i % 5)] for i in range(ROWS)], STEPS.type[0].type)
    steps = pa.StructArray.from_arrays([small, STEPS.field("words")], fields=list(STEPS.type))
    table = CONTEXT.append_column(SEQUENCE, steps)
    path = tmp_path / ("ours" + ENDINGS[compression])
    cst.write(table, path, "sequence_example")
    dataset = tf.data.TFRecordDataset(str(path), compression_type=compression)
    schema = schema_proto(SCHEMAS["sequence_example"]).SerializeToString()
    decoder = SequenceExamplesToRecordBatchDecoder(SEQUENCE, schema)
    theirs = decoder.DecodeBatch([record.numpy() for record in dataset])
    ours = pa.table(cst.open(path, schema=SCHEMAS["sequence_example"])).combine_chunks()
    assert_same_batch(ours.to_batches()[0], theirs)
    assert rows_of(ours) == rows_of(table)


# The `tfrecord` package, which cannot live in one process with TensorFlow

READ_SEQUENCES = """
import pickle, sys, tfrecord.reader as reader
def plain(value):
    if isinstance(value, list):
        return [plain(v) for v in value]
    return value.tolist() if hasattr(value, "tolist") else value
path, compression = pickle.load(sys.stdin.buffer)
context, steps = {"ids": "int", "scores": "float"}, {"clicks": "int"}
rows = reader.tfrecord_loader(
    path, None, context, sequence_description=steps, compression_type=compression
)
found = [tuple({n: plain(v) for n, v in part.items()} for part in row) for row in rows]
pickle.dump(found, sys.stdout.buffer)
"""

WRITE = """
import sys, tfrecord
writer = tfrecord.TFRecordWriter(sys.argv[1])
for i in range(50):
    context = {"id": (i, "int"), "score": ([i / 2, -1.0], "float"), "text": (b"x" * i, "byte")}
    steps = {"clicks": ([[k, -k] for k in range(i % 4)], "int"), "words": ([[b"w"]] * 2, "byte")}
    writer.write(context, steps if sys.argv[2] == "sequence_example" else None)
writer.close()
"""

PACKAGE_COMPRESSIONS = pytest.mark.parametrize("compression", ["", "GZIP"], ids=["plain", "GZIP"])


@PACKAGE_COMPRESSIONS
@pytest.mark.parametrize("shards", [1, 3])
def test_the_package_reads_our_examples(
    compression: str, shards: int, tmp_path: pathlib.Path
) -> None:
    files = write_ours(tmp_path, "example", compression, shards)
    kinds = {"ids": "int", "scores": "float", "texts": "byte"}
    found = []
    for name in files:
        packed = "gzip" if compression else None
        found += read_by_tfrecord_package(pathlib.Path(name), packed, kinds)
    expected = in_shards(CONTEXT.to_pylist(), shards)
    for name in ("ids", "scores"):
        assert [row[name] for row in found] == [row[name] for row in expected]


@PACKAGE_COMPRESSIONS
def test_the_package_reads_our_sequences(compression: str, tmp_path: pathlib.Path) -> None:
    (name,) = write_ours(tmp_path, "sequence_example", compression, 1)
    request = pickle.dumps((name, "gzip" if compression else None))
    command = [sys.executable, "-c", READ_SEQUENCES]
    done = subprocess.run(command, input=request, capture_output=True, check=True)
    found = pickle.loads(done.stdout)
    rows = SEQUENCES.to_pylist()
    for column in ("ids", "scores"):
        assert [context[column] for context, _ in found] == [row[column] for row in rows]
    assert [steps["clicks"] for _, steps in found] == [row[SEQUENCE]["clicks"] for row in rows]


@every_kind
def test_we_read_the_packages(kind: str, tmp_path: pathlib.Path) -> None:
    paths = [tmp_path / f"theirs-{k}" for k in range(2)]
    for path in paths:
        subprocess.run([sys.executable, "-c", WRITE, str(path), kind], check=True)
    rows = pa.table(cst.open(tmp_path / "theirs-*", kind, batch_size=7)).to_pylist()
    assert len(rows) == 100
    for i, row in enumerate(rows):
        i %= 50
        assert (row["id"], row["score"], row["text"]) == ([i], [i / 2, -1.0], [b"x" * i])
        if kind == "sequence_example":
            steps = {"clicks": [[k, -k] for k in range(i % 4)], "words": [[b"w"]] * 2}
            assert row[SEQUENCE] == steps
