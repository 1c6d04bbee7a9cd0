"""TFXIOs of datasets, of Parquet files and of records that a graph decodes: ours as tfx_bsl's."""

from __future__ import annotations

import collections
import contextlib
import os
import pathlib
import pickle
import sys
import uuid
from typing import TYPE_CHECKING, Any

import apache_beam as beam
import conftest
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import tensorflow as tf
from columnstone.compat.tfx_bsl.coders import tf_graph_record_decoder
from columnstone.compat.tfx_bsl.tfxio import (
    dataset_tfxio,
    parquet_tfxio,
    record_to_tensor_tfxio,
)
from columnstone.compat.tfx_bsl.tfxio.dataset_options import (
    RecordBatchesOptions,
    TensorFlowDatasetOptions,
)
from conftest import real
from google.protobuf import text_format
from tensorflow_metadata.proto.v0 import schema_pb2

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def theirs_in_place() -> Iterator[None]:
    """Within it their modules have their names, so that what Beam pickles finds them."""
    sys.modules.update(conftest._theirs)
    try:
        yield
    finally:
        for name in [name for name in sys.modules if name.split(".")[0] == "tfx_bsl"]:
            del sys.modules[name]


def _write(element: Any, folder: str) -> None:
    pathlib.Path(folder, uuid.uuid4().hex).write_bytes(pickle.dumps(element))


def elements_of(transform: Any, folder: pathlib.Path, begin: Any = None) -> list[Any]:
    """What a transform gives, in no order."""
    path = folder / uuid.uuid4().hex
    path.mkdir()
    with theirs_in_place(), beam.Pipeline() as pipeline:
        start = pipeline if begin is None else pipeline | beam.Create(begin)
        _ = start | "Transform" >> transform | "Write" >> beam.Map(_write, str(path))
    return [pickle.loads(file.read_bytes()) for file in path.iterdir()]


def in_order(batches: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
    return sorted(batches, key=lambda batch: str(batch.to_pylist()))


def assert_same(ours: list[pa.RecordBatch], theirs: list[pa.RecordBatch]) -> None:
    ours, theirs = in_order(ours), in_order(theirs)
    assert [batch.schema for batch in ours] == [batch.schema for batch in theirs]
    assert [batch.to_pylist() for batch in ours] == [batch.to_pylist() for batch in theirs]


# Datasets

Pair = collections.namedtuple("Pair", ["x", "y"])
SPARSE = tf.SparseTensor([[0, 0], [2, 0], [2, 1]], [1.5, 2.5, 3.5], [3, 2])
DATASETS = {
    "one": lambda: tf.data.Dataset.from_tensor_slices([1, 2, 3]),
    "tuple": lambda: tf.data.Dataset.from_tensor_slices(([True, False], ["a", "b"])),
    "named": lambda: tf.data.Dataset.from_tensor_slices(Pair([1, 2, 3], [[1.0], [2.0], [3.0]])),
    "nested": lambda: tf.data.Dataset.from_tensor_slices(
        ({"a": [1, 2], "b": Pair([3, 4], ["u", "v"])}, np.float64([7, 8]))
    ),
    "sparse": lambda: tf.data.Dataset.from_tensor_slices({"s": SPARSE}),
    "ragged": lambda: tf.data.Dataset.from_tensor_slices(
        {"r": tf.ragged.constant([[1], [], [2, 3]], dtype=tf.int32)}
    ),
}


def assert_equal_tensors(ours: Any, theirs: Any) -> None:
    assert type(ours) is type(theirs)
    if isinstance(ours, tf.Tensor):
        np.testing.assert_array_equal(ours.numpy(), theirs.numpy())
    else:
        assert_equal_tensors(ours.values, theirs.values)
        rows = "indices" if isinstance(ours, tf.SparseTensor) else "row_splits"
        assert_equal_tensors(getattr(ours, rows), getattr(theirs, rows))


@pytest.mark.parametrize("name", DATASETS)
def test_dataset_batches_and_tensors(name: str, tmp_path: pathlib.Path) -> None:
    dataset = DATASETS[name]().batch(2)
    ours = dataset_tfxio.DatasetTFXIO(dataset)
    module = real("tfx_bsl.tfxio.dataset_tfxio")
    options = module.DatasetTFXIOOptions(working_dir=str(tmp_path))
    theirs = module.DatasetTFXIO(dataset, options)
    assert ours.ArrowSchema().equals(theirs.ArrowSchema())
    assert ours.TensorRepresentations() == theirs.TensorRepresentations()
    batches = elements_of(ours.BeamSource(), tmp_path)
    assert_same(batches, elements_of(theirs.BeamSource(), tmp_path))
    adapter = ours.TensorAdapter()
    if name == "sparse":  # for the second dimension of the dataset's specs, which columns lose
        with pytest.raises(ValueError, match="original_type_specs"):
            theirs.TensorAdapter()
        assert adapter.TypeSpecs()["s"].shape.as_list() == [None, None]
        return
    other = theirs.TensorAdapter()
    assert adapter.TypeSpecs() == other.TypeSpecs()
    for name, tensor in other.ToBatchTensors(batches[0]).items():
        assert_equal_tensors(adapter.ToBatchTensors(batches[0])[name], tensor)


@pytest.mark.parametrize(("batch_size", "num_shards"), [(None, 3), (2, 9)])
def test_dataset_in_other_batches_and_shards(
    batch_size: int | None, num_shards: int | None, tmp_path: pathlib.Path
) -> None:
    dataset = tf.data.Dataset.range(7).batch(4)
    options = dataset_tfxio.DatasetTFXIOOptions(str(tmp_path), ["n"], num_shards)
    tfxio = dataset_tfxio.DatasetTFXIO(dataset, options)
    first = tfxio.BeamSource(batch_size)
    again = tfxio.BeamSource(1)  # another folder: the first one still reads its own
    rows = [batch.column("n").flatten().to_pylist() for batch in elements_of(first, tmp_path)]
    size = batch_size or 4
    assert sorted(rows) == [list(range(7))[i : i + size] for i in range(0, 7, size)]
    assert len(elements_of(again, tmp_path)) == 7
    assert len([name for name in os.listdir(tmp_path) if name.startswith("saved_dataset")]) == 2


def test_dataset_names_stay_with_their_values() -> None:
    """tfx_bsl gives each name the values of another feature where names are not in order."""
    pair = tf.data.Dataset.from_tensor_slices(([1], [2])).batch(1)
    theirs = real("tfx_bsl.tfxio.dataset_tfxio")
    [swapped] = theirs._PrepareDataset(pair, ["z", "a"])
    assert {name: tensor.numpy().tolist() for name, tensor in swapped.items()} == {
        "z": [2],
        "a": [1],
    }
    keys = tf.data.Dataset.from_tensor_slices({"z": [1], "a": [2]}).batch(1)
    for dataset, names in [(pair, ["z", "a"]), (keys, None)]:
        options = dataset_tfxio.DatasetTFXIOOptions(feature_names=names)
        [batch] = dataset_tfxio.DatasetTFXIO(dataset, options).RecordBatches(
            RecordBatchesOptions(5, num_epochs=1)
        )
        assert batch.to_pydict() == {"a": [[2]], "z": [[1]]}


def test_dataset_names_are_one_each() -> None:
    values = tf.data.Dataset.from_tensors(((1, 2), 3, {"k": (4, 5)})).batch(1)
    tfxio = dataset_tfxio.DatasetTFXIO(values)
    [batch] = tfxio.RecordBatches(RecordBatchesOptions(1, num_epochs=1))
    found = {name: column[0][0] for name, column in batch.to_pydict().items()}
    names = ["feature0", "feature1", "feature2", "k_feature0", "k_feature1"]
    assert found == dict(zip(names, [1, 2, 3, 4, 5], strict=True))
    twice = tf.data.Dataset.from_tensors({"a": {"b": 1}, "a_b": 2}).batch(1)
    with pytest.raises(ValueError, match="the same name"):
        dataset_tfxio.DatasetTFXIO(twice)


def test_dataset_options_and_refusals() -> None:
    theirs = real("tfx_bsl.tfxio.dataset_tfxio").DatasetTFXIOOptions
    assert dataset_tfxio.DatasetTFXIOOptions._fields == theirs._fields
    given = ("d", ["x"], 3)
    assert dataset_tfxio.DatasetTFXIOOptions(*given) == theirs(*given)
    with pytest.raises(TypeError, match="complex128"):
        dataset_tfxio.DatasetTFXIO(tf.data.Dataset.from_tensors([1j]).batch(1))
    with pytest.raises(ValueError, match="feature0"):
        dataset_tfxio.DatasetTFXIO(tf.data.Dataset.range(3))


def test_dataset_without_beam() -> None:
    tfxio = dataset_tfxio.DatasetTFXIO(
        tf.data.Dataset.from_tensor_slices({"a": range(5), "b": ["u", "v", "w", "x", "y"]}).batch(2)
    )
    once = RecordBatchesOptions(3, num_epochs=1, shuffle=False)
    batches = tfxio.RecordBatches(once)
    assert [batch.column("a").to_pylist() for batch in batches] == [[[0], [1], [2]], [[3], [4]]]
    shuffled = tfxio.RecordBatches(once._replace(shuffle=True, num_epochs=2, drop_final_batch=True))
    rows = [row["a"] for batch in shuffled for row in batch.to_pylist()]
    assert len(rows) == 9 and all(rows.count([i]) <= 2 for i in range(5))
    options = dataset_tfxio.DatasetTFXIOOptions(feature_names=["p", "q"])
    [first, *_] = tfxio.RecordBatches(options)
    assert list(first) == ["p", "q"]
    labelled = TensorFlowDatasetOptions(5, num_epochs=1, shuffle=False, label_key="b")
    [(tensors, label)] = tfxio.TensorFlowDataset(labelled)
    assert list(tensors) == ["a"] and label.numpy().tolist() == [b"u", b"v", b"w", b"x", b"y"]
    with pytest.raises(ValueError, match="label_key"):
        tfxio.TensorFlowDataset(labelled._replace(label_key="c"))
    projected = tfxio.Project(["b"])
    assert projected.ArrowSchema().names == ["b"]
    assert set(projected.TensorAdapter().OriginalTypeSpecs()) == {"a", "b"}
    assert [batch.num_columns for batch in projected.RecordBatches(once)] == [1, 1]
    with pytest.raises(ValueError, match="c"):
        tfxio.Project(["c"])


# Records that a graph decodes


class _Decoder(tf_graph_record_decoder.TFGraphRecordDecoder):
    """Rows are the records, but for those that are "-"."""

    def __init__(self, index: str | None) -> None:
        self._index = index

    @property
    def record_index_tensor_name(self) -> str | None:
        return self._index

    def decode_record(self, records: tf.Tensor) -> dict[str, Any]:
        numbers = tf.range(tf.size(records, tf.int64))
        if self._index is not None:
            numbers = tf.boolean_mask(numbers, tf.not_equal(records, "-"))
        kept = tf.gather(records, numbers)
        rows = tf.RaggedTensor.from_row_lengths(numbers, tf.ones_like(numbers))
        return {
            "text": tf.RaggedTensor.from_tensor(kept[:, None]).to_sparse(),
            "length": tf.strings.length(kept)[:, None],
            "ragged": rows,
            "sparse": rows.to_sparse(),
        }


RECORDS = [b"one", b"-", b"three", b""]


@pytest.fixture(params=[None, "ragged", "sparse"])
def saved(request: pytest.FixtureRequest, tmp_path: pathlib.Path) -> str:
    """The folder of a decoder, by the name of its tensor of record indices."""
    path = str(tmp_path / "decoder")
    tf_graph_record_decoder.save_decoder(_Decoder(request.param), path)
    return path


def written(folder: pathlib.Path) -> str:
    path = str(folder / "records")
    with tf.io.TFRecordWriter(path) as writer:
        for record in RECORDS:
            writer.write(record)
    return path


def test_decoded_files(saved: str, tmp_path: pathlib.Path) -> None:
    raw = "raw"
    path = written(tmp_path)
    module = real("tfx_bsl.tfxio.record_to_tensor_tfxio")
    ours = record_to_tensor_tfxio.TFRecordToTensorTFXIO(path, saved, ["A", "B"], raw)
    theirs = module.TFRecordToTensorTFXIO(path, saved, ["A", "B"], raw)
    assert ours.ArrowSchema().equals(theirs.ArrowSchema())
    assert ours.TensorRepresentations() == theirs.TensorRepresentations()
    assert (ours.raw_record_column_name, ours.telemetry_descriptors) == (raw, ["A", "B"])
    batches = elements_of(ours.BeamSource(4), tmp_path)
    assert_same(batches, elements_of(theirs.BeamSource(4), tmp_path))
    assert batches[0].schema == ours.ArrowSchema()
    projected = ours.Project(["length"])
    assert list(projected.TensorRepresentations()) == ["length"]
    assert list(projected.TensorAdapter().ToBatchTensors(batches[0])) == ["length"]


@pytest.mark.parametrize("singleton", [False, True])
@pytest.mark.parametrize("saved", ["sparse"], indirect=True)
def test_decoded_records(saved: str, singleton: bool, tmp_path: pathlib.Path) -> None:
    module = real("tfx_bsl.tfxio.record_to_tensor_tfxio")
    given = (saved, ["A"], "inmem", None, singleton)
    ours = record_to_tensor_tfxio.BeamRecordToTensorTFXIO(*given)
    theirs = module.BeamRecordToTensorTFXIO(*given)
    assert_same(
        elements_of(ours.BeamSource(2), tmp_path, RECORDS),
        elements_of(theirs.BeamSource(2), tmp_path, RECORDS),
    )
    with pytest.raises(NotImplementedError):
        ours.TensorFlowDataset(TensorFlowDatasetOptions(1))


@pytest.mark.parametrize("saved", ["ragged"], indirect=True)
def test_decoded_dataset(saved: str, tmp_path: pathlib.Path) -> None:
    path = written(tmp_path)
    module = real("tfx_bsl.tfxio.record_to_tensor_tfxio")
    ours = record_to_tensor_tfxio.TFRecordToTensorTFXIO([path], saved, ["A"])
    theirs = module.TFRecordToTensorTFXIO([path], saved, ["A"])
    options = TensorFlowDatasetOptions(2, num_epochs=1, shuffle=False, label_key="length")
    pairs = zip(ours.TensorFlowDataset(options), theirs.TensorFlowDataset(options), strict=True)
    for (tensors, label), (other_tensors, other_label) in pairs:
        assert_equal_tensors(label, other_label)
        assert tensors.keys() == other_tensors.keys() == {"text", "ragged", "sparse"}
        for name, tensor in tensors.items():
            assert_equal_tensors(tensor, other_tensors[name])
    with pytest.raises(ValueError, match="The `label_key` provided"):
        ours.TensorFlowDataset(options._replace(label_key="none"))
    decoded = ours.DecodeFunction()(tf.constant(RECORDS))
    assert decoded["length"].numpy().tolist() == [[3], [5], [0]]


@pytest.mark.parametrize("saved", [None], indirect=True)
def test_decoded_refusals(saved: str, tmp_path: pathlib.Path) -> None:
    with pytest.raises(ValueError, match="collided"):
        record_to_tensor_tfxio.TFRecordToTensorTFXIO("f", saved, ["A"], "length")
    with pytest.raises(AssertionError, match="at least one"):
        record_to_tensor_tfxio.TFRecordToTensorTFXIO([], saved, ["A"])
    path = str(tmp_path / "dense")
    tf_graph_record_decoder.save_decoder(_Decoder("length"), path)
    with pytest.raises(ValueError, match="must be a RaggedTensor"):
        record_to_tensor_tfxio.BeamRecordToTensorTFXIO(path, ["A"], "inmem", None)
    base = record_to_tensor_tfxio.RecordToTensorTFXIO
    assert issubclass(record_to_tensor_tfxio.BeamRecordToTensorTFXIO, base)


# Parquet

TABLE = pa.table(
    {
        "i": pa.array([[1], [], [2, 3]], pa.large_list(pa.int64())),
        "f": pa.array([[0.5], None, [1.5]], pa.large_list(pa.float32())),
        "s": pa.array([[b"a"], [b"b", b"c"], []], pa.large_list(pa.large_binary())),
    }
)
SCHEMA = text_format.Parse(
    """
    feature { name: "s" type: BYTES } feature { name: "i" type: INT }
    feature { name: "f" type: FLOAT }
    tensor_representation_group { key: "" value {
      tensor_representation { key: "t" value { ragged_tensor {
        feature_path { step: "i" } } } } } }
    """,
    schema_pb2.Schema(),
)


@pytest.fixture
def parquet(tmp_path: pathlib.Path) -> str:
    path = str(tmp_path / "three.parquet")
    pq.write_table(TABLE, path)
    return path


@pytest.mark.parametrize("names", [None, ["f", "i", "s"]])
@pytest.mark.parametrize("schema", [None, SCHEMA])
def test_parquet(
    parquet: str, names: list[str] | None, schema: Any, tmp_path: pathlib.Path
) -> None:
    module = real("tfx_bsl.tfxio.parquet_tfxio")
    given = {"column_names": names, "schema": schema, "telemetry_descriptors": ["A"]}
    ours = parquet_tfxio.ParquetTFXIO(parquet, **given)
    theirs = module.ParquetTFXIO(parquet, **given)
    if names is None or schema is not None:  # without a schema theirs forgets the names
        assert ours.ArrowSchema().equals(theirs.ArrowSchema())
    batches = elements_of(ours.BeamSource(2), tmp_path)
    assert {batch.num_rows for batch in batches} == {2, 1}
    assert all(batch.schema.equals(ours.ArrowSchema()) for batch in batches)
    if names is not None or schema is None:  # theirs are in the file's order all the same
        assert_same(batches, elements_of(theirs.BeamSource(2), tmp_path))
    if schema is not None:
        assert ours.TensorRepresentations() == theirs.TensorRepresentations()


def test_parquet_rows(parquet: str, tmp_path: pathlib.Path) -> None:
    module = real("tfx_bsl.tfxio.parquet_tfxio")
    ours = parquet_tfxio.ParquetTFXIO([parquet, parquet], column_names=["s", "i"])
    theirs = module.ParquetTFXIO([parquet, parquet], column_names=["s", "i"])
    rows = elements_of(ours.RawRecordBeamSource(), tmp_path)
    assert sorted(rows) == sorted(elements_of(theirs.RawRecordBeamSource(), tmp_path))
    batches = elements_of(ours.RawRecordToRecordBatch(6), tmp_path, rows)
    assert [batch.num_rows for batch in batches] == [6]
    assert batches[0].schema == ours.ArrowSchema()


def test_parquet_of_other_types_becomes_what_the_schema_says(tmp_path: pathlib.Path) -> None:
    """With tfx_bsl batches keep the file's types, and its own adapter refuses them."""
    path = str(tmp_path / "flat.parquet")
    flat = {"i": [1, None], "f": [[0.5], [1.5, 2]], "s": ["a", "b"], "other": [1, 2]}
    pq.write_table(pa.table(flat), path)
    theirs = real("tfx_bsl.tfxio.parquet_tfxio").ParquetTFXIO(path, schema=SCHEMA)
    [refused] = elements_of(theirs.BeamSource(), tmp_path)
    with pytest.raises(ValueError, match="same schema"):
        theirs.TensorAdapter().ToBatchTensors(refused)
    ours = parquet_tfxio.ParquetTFXIO(path, schema=SCHEMA)
    [batch] = elements_of(ours.BeamSource(), tmp_path)
    assert batch.schema.equals(theirs.ArrowSchema())
    expected = {"s": [[b"a"], [b"b"]], "i": [[1], None], "f": [[0.5], [1.5, 2]]}
    assert batch.to_pydict() == expected
    assert set(ours.TensorAdapter().ToBatchTensors(batch)) == {"t", "s", "f"}
    pq.write_table(pa.table({**flat, "i": ["x", "y"]}), path)
    with pytest.raises(ValueError, match="column i"):
        next(ours.RecordBatches(RecordBatchesOptions(2)))


def test_parquet_project(parquet: str, tmp_path: pathlib.Path) -> None:
    ours = parquet_tfxio.ParquetTFXIO(parquet, schema=SCHEMA)
    theirs = real("tfx_bsl.tfxio.parquet_tfxio").ParquetTFXIO(parquet, schema=SCHEMA)
    some, other = ours.Project(["t"]), theirs.Project(["t"])
    assert some.ArrowSchema().equals(other.ArrowSchema())
    assert some.TensorRepresentations() == other.TensorRepresentations()
    sources = (some.BeamSource(3), other.BeamSource(3))
    assert_same(*(elements_of(source, tmp_path) for source in sources))
    assert some.TensorAdapter().OriginalTypeSpecs().keys() == {"t", "s", "f"}
    # What tfx_bsl infers and cannot project:
    assert set(ours.Project(["t", "s"]).TensorRepresentations()) == {"t", "s"}
    with pytest.raises(ValueError):
        theirs.Project(["t", "s"])
    with pytest.raises(ValueError):
        ours.Project(["none"])


def test_parquet_without_beam(parquet: str) -> None:
    tfxio = parquet_tfxio.ParquetTFXIO(parquet)
    once = RecordBatchesOptions(2, num_epochs=1, shuffle=False)
    assert pa.Table.from_batches(tfxio.RecordBatches(once)).equals(TABLE)
    assert tfxio.Project(["f"]).ArrowSchema().names == ["f"]
    ending = TensorFlowDatasetOptions(2, num_epochs=1, shuffle=False, label_key="s")
    [(first, label), (_, last)] = tfxio.TensorFlowDataset(ending)
    assert first.keys() == {"i", "f"}
    assert label.values.numpy().tolist() == [b"a", b"b", b"c"] and last.shape[0] == 1
    missing = parquet_tfxio.ParquetTFXIO(parquet + "-none")
    with pytest.raises(OSError, match="No files found"), beam.Pipeline() as pipeline:
        _ = pipeline | missing.BeamSource()
