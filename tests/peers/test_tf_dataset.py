"""Datasets in TensorFlow: tf.data.Dataset and the RFC's TFDataset, against tf.io.parse_example."""

from __future__ import annotations

import itertools
import pathlib
import tempfile
from typing import Any

import columnstone as cst
import numpy as np
import pyarrow as pa
import pytest
import tensorflow as tf
from columnstone import tfxio
from hypothesis import given, settings
from hypothesis import strategies as st
from support import framed, plain_tf, schema_proto, tf_tensors
from tensor_cases import Case, cases, peer_feature_spec
from test_tfxio import SCHEMA, record
from tfx_bsl.tfxio import dataset_options, tf_example_record


@pytest.fixture
def examples(tmp_path: pathlib.Path) -> str:
    path = tmp_path / "examples.tfrecord"
    path.write_bytes(framed(record(i) for i in range(100)))
    return str(path)


def plain(tensors: dict[str, Any]) -> dict[str, Any]:
    return {name: plain_tf(tensor) for name, tensor in tensors.items()}


def ids(batches: Any) -> list[int]:
    return [i for batch in batches for i in batch["id"].numpy().tolist()]


@given(cases(), st.integers(1, 4))
@settings(max_examples=60)
def test_the_values_of_parse_example(case: Case, batch_size: int) -> None:
    """The same tensors batch for batch, of the types that were told before."""
    spec = peer_feature_spec(case.schema)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "records.tfrecord")
        path.write_bytes(framed(case.records))
        source = cst.open(path, schema=case.schema)
        dataset = source.dataset(batch_size).tf()
        batches = list(dataset)
        adapter = tfxio.TFExampleRecord(str(path), schema=schema_proto(case.schema))
        assert dataset.element_spec == adapter.TensorAdapter().TypeSpecs()
    parts = [case.records[i : i + batch_size] for i in range(0, len(case.records), batch_size)]
    assert [plain(batch) for batch in batches] == [tf_tensors(part, spec) for part in parts]
    for batch in batches:
        for name, tensor in batch.items():
            assert dataset.element_spec[name].is_compatible_with(tensor)


def test_label_shuffling_and_padding(examples: str) -> None:
    source = cst.open(examples, schema=SCHEMA)
    options: dict[str, Any] = {"shuffle": True, "seed": 5, "epochs": 2}
    ours = source.dataset(16, label="id", pad={"steps": (-1, 3), "tags": (b"", None)}, **options)
    dataset = ours.tf()
    features, label = dataset.element_spec
    assert label == tf.TensorSpec([None], tf.int64)
    assert features == {
        "pair": tf.TensorSpec([None, 2], tf.float32),
        "steps": tf.TensorSpec([None, 3], tf.int64),
        "tags": tf.TensorSpec([None, None], tf.string),
    }
    for iteration in range(2):  # each goes on to the next two epochs
        pairs = list(dataset)
        ours = source.dataset(
            16, label="id", pad={"steps": (-1, 3), "tags": (b"", None)}, **options
        )
        ours.set_epoch(2 * iteration)
        assert len(pairs) == 14
        for (theirs, found), (expected, label) in zip(pairs, ours, strict=True):
            assert found.numpy().tolist() == label.tolist()
            for name in features:
                assert theirs[name].numpy().tolist() == expected[name].tolist()


def test_columns_of_other_types() -> None:
    """Values are not converted, and the spec says so."""
    table = pa.table({"x": pa.array([1, 2, 3], pa.int32()), "y": pa.array([[1.0], [], [2.0, 3.0]])})
    schema = 'feature { name: "x" type: INT shape { } presence { min_fraction: 1 } } '
    schema += 'feature { name: "y" type: FLOAT }'
    dataset = cst.open(table, schema=schema).dataset(2).tf()
    assert dataset.element_spec == {
        "x": tf.TensorSpec([None], tf.int32),
        "y": tf.SparseTensorSpec([None, None], tf.float64),
    }
    assert [batch["x"].numpy().tolist() for batch in dataset] == [[1, 2], [3]]
    representations = cst.open(table, schema=schema).tensor_representations()
    adapter = tfxio.TensorAdapter(table.schema, representations)
    assert adapter.TypeSpecs() == dataset.element_spec


def test_inside_a_tf_function(examples: str) -> None:
    dataset = cst.open(examples, schema=SCHEMA).dataset(30).tf()

    @tf.function
    def total(batches: Any) -> Any:
        return batches.reduce(tf.constant(0, tf.int64), lambda s, b: s + tf.reduce_sum(b["id"]))

    assert total(dataset.prefetch(2)).numpy() == sum(range(100))


def test_errors_come_through(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "d.tfrecord"
    path.write_bytes(framed([record(0), b"", record(2)]))
    with pytest.raises(tf.errors.OpError, match="id"):
        list(cst.open(path, schema=SCHEMA).dataset(3).tf())
    with pytest.raises(cst.errors.ArgumentError):
        cst.open(path, schema=SCHEMA).dataset(3, as_batches=True).tf()


def orders(dataset: Any, count: int, size: int = 100) -> list[list[int]]:
    """The ids of so many passes over so many rows, out of what a tf.data.Dataset gives."""
    found = ids(dataset)
    assert len(found) == count * size
    return [found[i * size : (i + 1) * size] for i in range(count)]


def test_every_iteration_goes_on_to_the_next_epochs(examples: str) -> None:
    source = cst.open(examples, schema=SCHEMA)
    [*expected] = orders(source.dataset(30, shuffle=True, epochs=6).tf(), 6)
    assert len(set(map(tuple, expected))) == 6
    ours = source.dataset(30, shuffle=True)
    dataset = ours.tf()
    assert orders(dataset.repeat(3), 3) == expected[:3]
    assert ids(dataset) == expected[3]
    assert ids(ours.tf()) == expected[0]  # each tf.data.Dataset counts its own
    ours.set_epoch(1)
    assert [ids(dataset), ids(dataset)] == expected[1:3]
    ours.set_epoch(1)
    assert ids(dataset) == expected[1]
    two = source.dataset(30, shuffle=True, epochs=2).tf()
    assert orders(two.repeat(3), 6) == expected
    assert ids(two.take(1)) != ids(two.take(1))


def test_keras_gets_another_order_each_epoch(examples: str) -> None:
    class Seen(tf.keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.orders: list[int] = []

        def train_step(self, data: Any) -> Any:
            self.orders.extend(data["id"].numpy().tolist())
            return {"loss": tf.constant(0.0)}

    model = Seen()
    model.compile(run_eagerly=True)
    source = cst.open(examples, schema=SCHEMA, columns=["id"])
    model.fit(source.dataset(30, shuffle=True).tf(), epochs=3, verbose=0, shuffle=False)
    passes = [model.orders[i : i + 100] for i in range(0, 300, 100)]
    assert len(set(map(tuple, passes))) == 3
    assert all(sorted(one) == list(range(100)) for one in passes)


def test_cardinality(examples: str, tmp_path: pathlib.Path) -> None:
    source = cst.open(examples, schema=SCHEMA)

    def cardinality(**options: Any) -> int:
        return int(source.dataset(30, **options).tf().cardinality())

    assert cardinality() == 4 and cardinality(epochs=3, drop_last=True) == 9
    assert cardinality(epochs=None) == tf.data.INFINITE_CARDINALITY
    assert cardinality(shard=(1, 3)) == 1
    packed = tmp_path / "packed.gz"
    cst.write(source, packed, "example")
    there = cst.open(packed, schema=SCHEMA).dataset(30).tf()
    assert there.cardinality() == tf.data.UNKNOWN_CARDINALITY
    late, early = (source.dataset(30, shuffle=True) for _ in range(2))
    whole = ids(late.tf())
    early.load_state_dict(cst.dataset.Position(0, 1))
    dataset = early.tf()
    assert dataset.cardinality() == tf.data.UNKNOWN_CARDINALITY and ids(dataset) == whole[60:]
    dataset = late.tf()
    late.load_state_dict(cst.dataset.Position(0, 1))
    with pytest.raises(tf.errors.OpError, match="load_state_dict first"):
        list(dataset)


def test_mixes(examples: str) -> None:
    def mixed(stop: Any, **options: Any) -> Any:
        source = cst.open(examples, schema=SCHEMA)
        made = [source.dataset(30, True, seed, **options) for seed in (1, 2)]
        return cst.mix(made, [3, 1], stop=stop)

    dataset = mixed("all", epochs=2, drop_last=True)
    whole = ids(dataset)
    made = dataset.tf()
    assert made.cardinality() == 2 * len(dataset) == len(whole) // 30
    assert made.element_spec["id"].shape[0] == 30 and ids(made) == whole
    dataset.load_state_dict(cst.dataset.Position(0, 2))
    assert ids(dataset.tf()) == whole[90:]
    endless = mixed("repeat").tf()
    assert endless.cardinality() == tf.data.INFINITE_CARDINALITY
    assert ids(endless.take(20)) == ids(itertools.islice(mixed("repeat"), 20))


def test_what_is_left_of_a_batch_has_no_static_size(examples: str) -> None:
    dataset = cst.open(examples, schema=SCHEMA).dataset(30, shuffle=True, drop_last=True, epochs=2)
    whole = ids(dataset.tf())
    dataset.load_state_dict(dataset.state_of(cst.dataset.Position(0, 1), 9))
    rest = dataset.tf()
    assert rest.element_spec["id"].shape[0] is None and ids(rest) == whole[40:]
    dataset = cst.open(examples, schema=SCHEMA).dataset(30, drop_last=True, epochs=None)
    begun = dataset.tf()
    dataset.load_state_dict(cst.dataset.Position(0, 1).within(9))
    with pytest.raises(tf.errors.OpError, match="load_state_dict first"):
        next(iter(begun))


def test_the_batch_size_is_told_where_all_batches_have_it(examples: str) -> None:
    for ragged in (False, True):
        schema = SCHEMA + ("represent_variable_length_as_ragged: true" if ragged else "")
        dataset = cst.open(examples, schema=schema).dataset(30, drop_last=True).tf()
        for spec in dataset.element_spec.values():
            assert spec.shape[0] == 30
        batches = list(dataset)
        assert len(batches) == 3
        for batch in batches:
            for name, spec in dataset.element_spec.items():
                assert spec.is_compatible_with(batch[name])


def test_packed_and_in_buckets(tmp_path: pathlib.Path) -> None:
    rows = [{"id": i, "tokens": [i] * (i % 7)} for i in range(90)]
    cst.write(rows, tmp_path / "rows.tfrecord")
    source = cst.open(tmp_path / "rows.tfrecord")
    buckets = source.dataset(8, True, bucket_by=("tokens", 4), pad={"tokens": (0, [4, 8])})
    packed = source.dataset(4, True, drop_last=True).pack({"tokens": 16})
    for ours in (buckets, packed):
        dataset = ours.tf()
        batches = list(dataset)
        assert len(batches) == len(list(ours))
        for batch, expected in zip(batches, ours, strict=True):
            for name, spec in dataset.element_spec.items():
                assert spec.is_compatible_with(batch[name])
                assert batch[name].numpy().tolist() == expected[name].tolist()
    assert packed.tf().element_spec["tokens_positions"] == tf.TensorSpec([4, 16], tf.int32)
    assert buckets.tf().cardinality() == 12
    assert packed.tf().cardinality() == tf.data.UNKNOWN_CARDINALITY


# The RFC's interface


def peers_dataset(examples: str, **options: Any) -> Any:
    peer = tf_example_record.TFExampleRecord(
        examples, schema=schema_proto(SCHEMA), telemetry_descriptors=["test"]
    )
    return peer.TensorFlowDataset(dataset_options.TensorFlowDatasetOptions(**options))


@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("label", [None, "id", "tags"])
def test_the_same_as_the_peer(examples: str, label: str | None, drop: bool) -> None:
    options: dict[str, Any] = {
        "batch_size": 32,
        "num_epochs": 1,
        "shuffle": False,
        "label_key": label,
        "drop_final_batch": drop,
    }
    ours = tfxio.TFExampleRecord(examples, schema=SCHEMA)
    dataset = ours.TensorFlowDataset(tfxio.TensorFlowDatasetOptions(**options))
    theirs = peers_dataset(examples, **options)
    for left, right in zip(dataset, theirs, strict=True):
        if label is not None:
            assert plain({"label": left[1]}) == plain({"label": right[1]})
            left, right = left[0], right[0]
        assert plain(left) == plain(right)
    specs = ours.TensorAdapter().TypeSpecs()
    if label is not None:
        assert dataset.element_spec[1] == specs.pop(label)
        assert dataset.element_spec[0] == specs
    else:
        assert dataset.element_spec == specs


def test_options(examples: str) -> None:
    ours = tfxio.TFExampleRecord(examples, schema=SCHEMA)
    mixed = tfxio.TensorFlowDatasetOptions(30, num_epochs=2, shuffle_seed=-1, parser_num_threads=2)
    first = ids(ours.TFDataset(mixed))
    assert first == ids(ours.TFDataset(mixed))
    assert sorted(first[:100]) == sorted(first[100:]) == list(range(100))
    assert first[:100] != first[100:]
    other = ids(ours.TFDataset(tfxio.TensorFlowDatasetOptions(30, num_epochs=1)))
    again = ids(ours.TFDataset(tfxio.TensorFlowDatasetOptions(30, num_epochs=1)))
    assert sorted(other) == sorted(again) == list(range(100))
    assert other != again  # no seed
    theirs = dataset_options.TensorFlowDatasetOptions(30, num_epochs=1, shuffle=False)
    assert ids(ours.TFDataset(theirs)) == list(range(100))


def test_without_end_the_short_batch_stays(examples: str) -> None:
    """The peer drops it without being asked to."""
    options: dict[str, Any] = {"batch_size": 64, "shuffle": False}
    ours = tfxio.TFExampleRecord(examples, schema=SCHEMA)
    endless = ours.TFDataset(tfxio.TensorFlowDatasetOptions(**options))
    sizes = [len(batch["id"]) for batch in endless.take(4)]
    assert sizes == [64, 36, 64, 36]
    assert {len(batch["id"]) for batch in peers_dataset(examples, **options).take(4)} == {64}


def test_projected_and_raw(examples: str) -> None:
    options = tfxio.TensorFlowDatasetOptions(100, num_epochs=1, shuffle=False)
    some = tfxio.TFExampleRecord(examples, schema=SCHEMA).Project(["steps", "id"])
    (batch,) = some.TFDataset(options)
    assert sorted(batch) == ["id", "steps"]
    assert some.TFDataset(options).element_spec == some.TensorAdapter().TypeSpecs()
    (batch,) = tfxio.RawTFRecord(examples, "raw").TFDataset(options)
    assert np.asarray(batch["raw"]).tolist() == [record(i) for i in range(100)]


def test_a_label_that_there_is_not(examples: str) -> None:
    with pytest.raises(cst.errors.NotFoundError, match="no tensor 'y'"):
        cst.open(examples).dataset(3, label="y").tf()
