"""TFXIOs of TFRecord files and of records in pipelines: ours as tfx_bsl's."""

from __future__ import annotations

import itertools
import pathlib
import sys
import unittest
import urllib.parse
from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import apache_beam as beam
import conftest
import numpy as np
import pyarrow as pa
import pytest
import tensorflow as tf
from apache_beam.io.filesystem import FileMetadata
from apache_beam.io.localfilesystem import LocalFileSystem
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from columnstone.compat.tfx_bsl.coders import batch_util
from columnstone.compat.tfx_bsl.public import tfxio as public
from columnstone.compat.tfx_bsl.tfxio import (
    dataset_options,
    dataset_util,
    raw_tf_record,
    record_based_tfxio,
    telemetry,
    telemetry_test_util,
    test_case,
    test_util,
    tf_example_record,
    tf_sequence_example_record,
)
from conftest import real
from google.protobuf import text_format
from tensorflow_metadata.proto.v0 import schema_pb2

if TYPE_CHECKING:
    from collections.abc import Iterator

SCHEMA = text_format.Parse(
    """
    feature { name: "a" type: INT shape { dim { size: 1 } } presence { min_fraction: 1 } }
    feature { name: "b" type: BYTES }
    feature { name: "c" type: FLOAT }
    """,
    schema_pb2.Schema(),
)
SEQUENCE_SCHEMA = text_format.Parse(
    """
    feature { name: "a" type: INT }
    feature { name: "##SEQUENCE##" type: STRUCT struct_domain {
      feature { name: "x" type: INT } feature { name: "y" type: BYTES } } }
    tensor_representation_group { key: "" value {
      tensor_representation { key: "a" value { varlen_sparse_tensor { column_name: "a" } } }
      tensor_representation { key: "x" value { ragged_tensor {
        feature_path { step: "##SEQUENCE##" step: "x" } } } }
      tensor_representation { key: "y" value { ragged_tensor {
        feature_path { step: "##SEQUENCE##" step: "y" } } } } } }
    """,
    schema_pb2.Schema(),
)


def example(i: int) -> bytes:
    made = tf.train.Example()
    made.features.feature["a"].int64_list.value.append(i)
    if i % 3:
        made.features.feature["b"].bytes_list.value.extend([b"x" * i, b"y"])
    made.features.feature["c"].float_list.value.extend([0.5] * (i % 2))
    return bytes(made.SerializeToString())


def sequence(i: int) -> bytes:
    made = tf.train.SequenceExample()
    made.context.feature["a"].int64_list.value.append(i)
    for k in range(i % 3):
        made.feature_lists.feature_list["x"].feature.add().int64_list.value.extend([k, i])
    made.feature_lists.feature_list["y"].feature.add().bytes_list.value.append(b"y%d" % i)
    return bytes(made.SerializeToString())


EXAMPLES = [example(i) for i in range(7)]
SEQUENCES = [sequence(i) for i in range(7)]
# Module and class, as public names; the class without I/O; records, schema.
KINDS = {
    "example": (tf_example_record, "TFExampleRecord", "TFExampleBeamRecord", EXAMPLES, SCHEMA),
    "sequence": (
        tf_sequence_example_record,
        "TFSequenceExampleRecord",
        "TFSequenceExampleBeamRecord",
        SEQUENCES,
        SEQUENCE_SCHEMA,
    ),
    "raw": (raw_tf_record, "RawTfRecordTFXIO", "RawBeamRecordTFXIO", EXAMPLES, None),
}


def write(path: pathlib.Path, records: list[bytes]) -> str:
    with tf.io.TFRecordWriter(str(path), "GZIP" if path.suffix == ".gz" else None) as writer:
        for record in records:
            writer.write(record)
    return str(path)


def arguments(kind: str, raw: str | None, with_schema: bool = True) -> dict[str, Any]:
    given: dict[str, Any] = {
        "raw_record_column_name": raw,
        "telemetry_descriptors": ["a", "b"],
    }
    if kind != "raw" and with_schema:
        given["schema"] = KINDS[kind][4]
    return given


def theirs_of(ours: Any) -> Any:
    """Their module of one of ours."""
    return real(ours.__name__.removeprefix("columnstone.compat."))


@contextmanager
def their_modules() -> Iterator[None]:
    """While pipelines of theirs are made and run, which imports their functions by name."""
    sys.modules.update(conftest._theirs)
    try:
        yield
    finally:
        for name in conftest._theirs:
            sys.modules.pop(name, None)


_found: list[Any] = []


class Find(beam.DoFn):  # type: ignore[misc]
    def process(self, element: Any) -> None:
        _found.append(element)


def run(*transforms: Any) -> tuple[list[Any], dict[tuple[str, str], Any]]:
    """What the transforms give, and the metrics of tfx's namespaces."""
    _found.clear()
    with their_modules():
        pipeline = beam.Pipeline(runner=FnApiRunner())
        elements = pipeline
        for i, transform in enumerate(transforms):
            elements = elements | f"Step{i}" >> transform
        _ = elements | beam.ParDo(Find())
        metrics = pipeline.run().metrics().query()
    values: dict[tuple[str, str], Any] = {}
    for metric in (*metrics["counters"], *metrics["distributions"]):
        name = metric.key.metric
        if name.namespace.startswith("tfx"):
            values[name.namespace, name.name] = value_of(metric.result)
    return list(_found), values


def created(elements: list[Any]) -> Any:
    return beam.Create(elements, reshuffle=False)


def value_of(result: Any) -> Any:
    return result if isinstance(result, int) else (result.sum, result.count, result.min, result.max)


@pytest.fixture(autouse=True)
def _sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every batch is in the sample that distributions are made of."""
    from columnstone._beam import metrics

    monkeypatch.setattr(metrics, "random", SimpleNamespace(random=lambda: 0.0))
    monkeypatch.setattr(np.random, "rand", lambda: 0.0)


def rows(batches: list[pa.RecordBatch]) -> list[str]:
    return sorted(repr(row) for batch in batches for row in batch.to_pylist())


def same_values(left: Any, right: Any) -> None:
    """Tensors, or dicts or tuples of them."""
    if isinstance(left, dict):
        assert left.keys() == right.keys()
        for name in left:
            same_values(left[name], right[name])
    elif isinstance(left, tuple):
        assert len(left) == len(right)
        for one, other in zip(left, right, strict=True):
            same_values(one, other)
    else:
        test_case.TfxBslTestCase().assertTensorsEqual(left, right)


# ---- files ----


@pytest.mark.parametrize("raw", [None, "raw"])
@pytest.mark.parametrize("kind", KINDS)
def test_files_give_the_same_batches_and_metrics(
    kind: str, raw: str | None, tmp_path: pathlib.Path
) -> None:
    module, name, _, records, _ = KINDS[kind]
    path = write(tmp_path / "a.gz", records)
    given = arguments(kind, raw or ("raw" if kind == "raw" else None))
    ours = getattr(module, name)(path, **given)
    theirs = getattr(theirs_of(module), name)([path], **given)
    assert ours.ArrowSchema().equals(theirs.ArrowSchema())
    assert ours.TensorRepresentations() == theirs.TensorRepresentations()
    assert ours.TensorAdapter().TypeSpecs() == theirs.TensorAdapter().TypeSpecs()
    found, metrics = run(ours.BeamSource(batch_size=4))
    expected, their_metrics = run(theirs.BeamSource(batch_size=4))
    assert [batch.num_rows for batch in found] == [4, 3]
    assert all(one.equals(other) for one, other in zip(found, expected, strict=True))
    assert metrics == their_metrics
    one_by_one = run(ours.RawRecordBeamSource(), ours.RawRecordToRecordBatch(batch_size=4))
    assert all(one.equals(other) for one, other in zip(found, one_by_one[0], strict=True))
    assert one_by_one[1] == metrics
    assert run(ours.RawRecordBeamSource())[0] == records


@pytest.mark.parametrize("kind", ["example", "sequence"])
def test_without_a_schema_types_come_from_the_records(kind: str, tmp_path: pathlib.Path) -> None:
    module, name, _, records, _ = KINDS[kind]
    path = write(tmp_path / "a", records)
    given = arguments(kind, "raw", with_schema=False)
    ours = getattr(module, name)(path, **given)
    theirs = getattr(theirs_of(module), name)(path, **given)
    [found], [expected] = run(ours.BeamSource(10))[0], run(theirs.BeamSource(10))[0]
    assert found.equals(expected)
    with pytest.raises(ValueError, match="chema"):
        ours.ArrowSchema()


@pytest.mark.parametrize("kind", KINDS)
def test_projections_are_the_same(kind: str, tmp_path: pathlib.Path) -> None:
    module, name, _, records, _ = KINDS[kind]
    path = write(tmp_path / "a", records)
    given = arguments(kind, "raw")
    ours = getattr(module, name)(path, **given)
    theirs = getattr(theirs_of(module), name)(path, **given)
    names = {"example": ["b"], "sequence": ["a", "y"], "raw": ["raw"]}[kind]
    for one in (names, []):
        found, expected = ours.Project(one), theirs.Project(one)
        assert found.ArrowSchema().equals(expected.ArrowSchema())
        assert found.TensorRepresentations() == expected.TensorRepresentations()
        config, their_config = found.TensorAdapterConfig(), expected.TensorAdapterConfig()
        assert config.original_type_specs == their_config.original_type_specs
    assert rows(run(ours.Project(names).BeamSource())[0]) == rows(
        run(theirs.Project(names).BeamSource())[0]
    )
    with pytest.raises(AssertionError if kind == "raw" else ValueError):
        ours.Project(["nothing"])


@pytest.mark.parametrize("kind", KINDS)
def test_datasets_are_the_same(kind: str, tmp_path: pathlib.Path) -> None:
    module, name, _, records, _ = KINDS[kind]
    paths = [write(tmp_path / "a", records[:3]), write(tmp_path / "b", records[3:])]
    given = arguments(kind, "raw")
    label = {"example": "a", "sequence": "x", "raw": None}[kind]
    ours = getattr(module, name)(paths, **given)
    theirs = getattr(theirs_of(module), name)(paths, **given)
    made = dataset_options.TensorFlowDatasetOptions
    for options in (
        made(4, num_epochs=1, shuffle=False),
        made(4, num_epochs=2, shuffle=False, drop_final_batch=True, label_key=label),
    ):
        found, expected = ours.TensorFlowDataset(options), theirs.TensorFlowDataset(options)
        assert found.element_spec == expected.element_spec
        same_values(tuple(found), tuple(expected))
    options = made(4, num_epochs=1, label_key="nothing")
    if kind != "raw":
        with pytest.raises(ValueError, match="label_key"):
            ours.TensorFlowDataset(options)


def test_parser_configs_are_the_same(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path / "a", EXAMPLES)
    text = """
        feature { name: "i" type: INT } feature { name: "v" type: FLOAT }
        tensor_representation_group { key: "" value {
          tensor_representation { key: "s" value { sparse_tensor {
            index_column_names: "i" value_column_name: "v" dense_shape { dim { size: 9 } } } } }
          tensor_representation { key: "t" value { varlen_sparse_tensor { column_name: "v" } } } } }
    """
    schema = text_format.Parse(text, schema_pb2.Schema())
    ours = tf_example_record.TFExampleRecord(path, schema=schema)
    theirs = theirs_of(tf_example_record).TFExampleRecord(path, schema=schema)
    assert ours._GetTfExampleParserConfig() == theirs._GetTfExampleParserConfig()
    schema.tensor_representation_group[""].tensor_representation["u"].CopyFrom(
        schema.tensor_representation_group[""].tensor_representation["t"]
    )
    with pytest.raises(ValueError, match="Unable to create a valid parsing config"):
        ours._GetTfExampleParserConfig()


@pytest.mark.parametrize(
    "options",
    [
        {"num_epochs": 1},
        {"num_epochs": 3},
        {"num_epochs": 3, "drop_final_batch": True},
        {"num_epochs": None},
        {"num_epochs": -1},
    ],
)
def test_record_batches_go_across_epochs(options: Any, tmp_path: pathlib.Path) -> None:
    path = write(tmp_path / "a.gz", EXAMPLES)
    given = dataset_options.RecordBatchesOptions(4, shuffle=False, **options)
    ours = tf_example_record.TFExampleRecord(path, **arguments("example", "raw"))
    theirs = theirs_of(tf_example_record).TFExampleRecord(path, **arguments("example", "raw"))
    found = list(itertools.islice(ours.RecordBatches(given), 20))
    expected = list(itertools.islice(theirs.RecordBatches(given), 20))
    assert len(found) == len(expected)
    assert all(one.equals(other) for one, other in zip(found, expected, strict=True))


@pytest.mark.parametrize("kind", KINDS)
def test_record_batches_go_across_files(kind: str, tmp_path: pathlib.Path) -> None:
    """Of sequence examples and raw records, too, of which tfx_bsl has none."""
    module, name, beam_name, records, _ = KINDS[kind]
    paths = [write(tmp_path / "a", records[:3]), write(tmp_path / "b.gz", records[3:])]
    given = arguments(kind, "raw")
    options = dataset_options.RecordBatchesOptions(4, num_epochs=1, shuffle=False)
    found = list(getattr(module, name)(paths, **given).RecordBatches(options))
    source = getattr(theirs_of(module), beam_name)(physical_format="inmem", **given)
    expected, _ = run(created(records), source.BeamSource(batch_size=4))
    assert all(one.equals(other) for one, other in zip(found, expected, strict=True))


def test_batches_of_about_so_many_bytes(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_util, "_by_bytes", lambda: True)
    ours = tf_example_record.TFExampleRecord(
        write(tmp_path / "a", EXAMPLES), **arguments("example", None)
    )
    found, metrics = run(ours.BeamSource())
    assert [batch.num_rows for batch in found] == [len(EXAMPLES)]
    assert metrics["tfx.a.b", "tfxio_use_byte_size_batching"] == 1
    assert metrics["tfx.a.b", "desired_batch_size"] == 0


def test_record_batches_are_shuffled_by_a_seed(tmp_path: pathlib.Path) -> None:
    """In an order of our own."""
    path = write(tmp_path / "a", EXAMPLES * 5)
    ours = tf_example_record.TFExampleRecord(path, **arguments("example", None))
    options = dataset_options.RecordBatchesOptions(5, num_epochs=1, shuffle_seed=3)
    first, second = list(ours.RecordBatches(options)), list(ours.RecordBatches(options))
    assert first == second
    assert first != list(ours.RecordBatches(options._replace(shuffle_seed=4)))
    in_order = list(ours.RecordBatches(options._replace(shuffle=False)))
    assert first != in_order
    assert rows(first) == rows(in_order)


def test_there_are_files(tmp_path: pathlib.Path) -> None:
    ours = tf_example_record.TFExampleRecord(str(tmp_path / "no*"), schema=SCHEMA)
    for source in (ours.BeamSource, ours.RawRecordBeamSource):
        with pytest.raises(OSError, match="No files found"):
            run(source())
    with pytest.raises(AssertionError):
        tf_example_record.TFExampleRecord([])
    with pytest.raises(AssertionError):
        raw_tf_record.RawTfRecordTFXIO("a", None, [])  # type: ignore[arg-type]


def test_schema_for_decoding_says_the_columns() -> None:
    few = schema_pb2.Schema()
    few.feature.add(name="a", type=schema_pb2.INT)

    def of(module: Any) -> Any:
        class Given(module._TFExampleRecordBase):  # type: ignore[misc]
            def _RawRecordBeamSourceInternal(self) -> Any:
                return created(EXAMPLES)

            def _ProjectImpl(self, tensor_names: list[str]) -> Any:
                raise NotImplementedError

            def TensorFlowDataset(self, options: Any) -> Any:
                raise NotImplementedError

        return Given(SCHEMA, schema_for_decoding=few)

    ours, theirs = of(tf_example_record), of(theirs_of(tf_example_record))
    assert ours.ArrowSchema().equals(theirs.ArrowSchema())
    assert ours.TensorRepresentations() == theirs.TensorRepresentations()
    assert rows(run(ours.BeamSource(4))[0]) == rows(run(theirs.BeamSource(4))[0])


class Doubled(tf_example_record.TFExampleRecord):
    def _RawRecordBeamSourceInternal(self) -> Any:
        return super()._RawRecordBeamSourceInternal() | beam.FlatMap(lambda r: [r, r])


def test_steps_of_a_derived_class_are_used(tmp_path: pathlib.Path) -> None:
    ours = Doubled(write(tmp_path / "a", EXAMPLES), schema=SCHEMA)
    assert sum(batch.num_rows for batch in run(ours.BeamSource())[0]) == 2 * len(EXAMPLES)


class OnlyOfBeam(LocalFileSystem):  # type: ignore[misc]
    """A file system that fsspec knows nothing of."""

    @classmethod
    def scheme(cls) -> str:
        return "onlybeam"

    def match(self, patterns: list[str], limits: list[int] | None = None) -> list[Any]:
        found = super().match([urllib.parse.urlsplit(p).path for p in patterns], limits)
        for result in found:
            files = result.metadata_list
            result.metadata_list = [
                FileMetadata(f"onlybeam://{m.path}", m.size_in_bytes) for m in files
            ]
        return found

    def open(self, path: str, *arguments: Any, **options: Any) -> Any:
        return super().open(urllib.parse.urlsplit(path).path, *arguments, **options)


def test_files_that_only_beam_reaches(tmp_path: pathlib.Path) -> None:
    pattern = f"onlybeam://{write(tmp_path / 'a', EXAMPLES)}*"
    ours = tf_example_record.TFExampleRecord(pattern, schema=SCHEMA)
    assert not record_based_tfxio.within_reach([pattern])
    assert record_based_tfxio.within_reach([str(tmp_path), "memory://a"])
    assert sum(batch.num_rows for batch in run(ours.BeamSource(3))[0]) == len(EXAMPLES)
    assert sorted(run(ours.RawRecordBeamSource())[0]) == sorted(EXAMPLES)


# ---- records of a pipeline ----


@pytest.mark.parametrize("kind", KINDS)
def test_given_records_are_the_same(kind: str) -> None:
    module, _, name, records, _ = KINDS[kind]
    given = {"physical_format": "inmem", **arguments(kind, "raw")}
    ours = getattr(module, name)(**given)
    theirs = getattr(theirs_of(module), name)(**given)
    found, metrics = run(created(records), ours.BeamSource(batch_size=4))
    expected, their_metrics = run(created(records), theirs.BeamSource(batch_size=4))
    assert all(one.equals(other) for one, other in zip(found, expected, strict=True))
    assert metrics == their_metrics
    assert ours.ArrowSchema().equals(theirs.ArrowSchema())
    names = {"example": ["b"], "sequence": ["a", "y"], "raw": ["raw"]}[kind]
    assert ours.Project(names).ArrowSchema().equals(theirs.Project(names).ArrowSchema())
    for method in (ours.RecordBatches, ours.TensorFlowDataset):
        with pytest.raises(NotImplementedError):
            method(dataset_options.RecordBatchesOptions(1))


def test_a_schema_without_anything_is_none() -> None:
    empty = schema_pb2.Schema()
    ours = test_util.InMemoryTFExampleRecord(empty)
    theirs = theirs_of(test_util).InMemoryTFExampleRecord(empty)
    found, _ = run(created(EXAMPLES), ours.BeamSource())
    assert rows(found) == rows(run(created(EXAMPLES), theirs.BeamSource())[0])
    assert ours.telemetry_descriptors == theirs.telemetry_descriptors
    assert ours.raw_record_column_name is None


# ---- record_based_tfxio ----


def test_raw_record_columns_are_the_same() -> None:
    theirs = theirs_of(record_based_tfxio)
    records = [b"a", b"", b"ccc"]
    for given in (records, [], np.array(records, object)):
        assert record_based_tfxio.CreateRawRecordColumn(given).equals(
            theirs.CreateRawRecordColumn(given)
        )
    index = pa.array([[2], [0], [0], [1]])
    cases: list[tuple[pa.RecordBatch, tuple[str, ...]]] = [
        (pa.record_batch([pa.array([1, 2, 3])], ["x"]), ()),
        (pa.record_batch([pa.array([1, 2, 3, 4]), index], ["x", "i"]), ("i",)),
        (pa.record_batch([pa.array([1, 2, 3, 4]), index], ["x", "i"]).slice(1, 2), ("i",)),
    ]
    for batch, more in cases:
        found = record_based_tfxio.AppendRawRecordColumn(batch, "raw", records, *more)
        assert found.equals(theirs.AppendRawRecordColumn(batch, "raw", records, *more))


@pytest.mark.parametrize(
    ("column", "index"),
    [
        (pa.array([1]), None),
        (pa.array([[0], None, [1]]), "x"),
        (pa.array([[0], [0, 1]]), "x"),
        (pa.array([0, 1, 2]), "x"),
        (pa.array([[0.5]]), "x"),
        (pa.array([[0]]), "y"),
    ],
)
def test_raw_records_fit_the_rows(column: pa.Array, index: str | None) -> None:
    batch = pa.record_batch([column], ["x"])
    for module in (record_based_tfxio, theirs_of(record_based_tfxio)):
        with pytest.raises(AssertionError):
            module.AppendRawRecordColumn(batch, "raw", [b"a", b"b", b"c"], index)
        with pytest.raises(AssertionError):
            module.AppendRawRecordColumn(batch, "x", [b""] * batch.num_rows)


def test_files_are_read_as_records(tmp_path: pathlib.Path) -> None:
    patterns = [write(tmp_path / "a", EXAMPLES), write(tmp_path / "b.gz", SEQUENCES)]
    assert sorted(run(record_based_tfxio.ReadTfRecord(patterns))[0]) == sorted(
        run(theirs_of(record_based_tfxio).ReadTfRecord(patterns))[0]
    )
    with pytest.raises(AssertionError):
        run(record_based_tfxio.ReadTfRecord([]))


@beam.ptransform_fn  # type: ignore[untyped-decorator]
def batched(records: Any, batch_size: int | None) -> Any:
    return records | beam.BatchElements(batch_size, batch_size) | beam.Map(to_batch)


def to_batch(records: list[bytes]) -> pa.RecordBatch:
    return pa.record_batch([pa.array([[record] for record in records])], ["it"])


def overridable(module: Any) -> Any:
    return module.OverridableRecordBasedTFXIO(
        None, "mine", "memory", lambda: created(EXAMPLES), batched
    )


def test_transforms_of_a_user_are_used() -> None:
    ours, theirs = overridable(record_based_tfxio), overridable(theirs_of(record_based_tfxio))
    found, metrics = run(ours.BeamSource(3))
    expected, their_metrics = run(theirs.BeamSource(3))
    assert all(one.equals(other) for one, other in zip(found, expected, strict=True))
    assert metrics == their_metrics
    assert {namespace for namespace, _ in metrics} == {"tfx.UNKNOWN_COMPONENT.io"}
    for method in (
        ours.ArrowSchema,
        ours.TensorRepresentations,
        lambda: ours.Project([]),
        lambda: ours.TensorFlowDataset(None),
        lambda: ours.RecordBatches(None),
        lambda: ours.RawRecordTensorFlowDataset(None),
    ):
        with pytest.raises(NotImplementedError):
            method()


def test_a_class_of_records_says_whether_it_has_their_column() -> None:
    class Mine(record_based_tfxio.OverridableRecordBasedTFXIO):
        def __init__(self, name: str | None) -> None:
            record_based_tfxio.RecordBasedTFXIO.__init__(self, None, "x", "y", name)

        def _ArrowSchemaNoRawRecordColumn(self) -> pa.Schema:
            return pa.schema([("a", pa.int64())])

    class Attaching(Mine):
        def SupportAttachingRawRecords(self) -> bool:
            return True

    with pytest.raises(AssertionError):
        Mine("raw")
    assert Mine(None).ArrowSchema().names == ["a"]
    assert Attaching("raw").ArrowSchema().names == ["a", "raw"]
    with pytest.raises(ValueError, match="collided"):
        Attaching("a").ArrowSchema()


# ---- telemetry ----


def test_metrics_of_any_columns_are_the_same() -> None:
    batch = pa.record_batch(
        [
            pa.array([["abc", "d"], None, ["g"], []]),
            pa.array([[1.0], [], [], [0.5]], pa.large_list(pa.float32())),
            pa.nulls(4),
            pa.array([[[1, 2], None, [3]], [], None, [[]]]),
            pa.array([[{"p": [1], "q": b"a"}], None, [{"p": None, "q": None}], []]),
            pa.array([1, 2, None, 4]),
        ],
        ["s", "f", "n", "l", "t", "i"],
    )
    # The bytes of structs in a slice are not counted there as here: see GetByteSize.
    batches = [batch, batch.drop_columns(["t"]).slice(1, 2)]
    records = [b"abc", b""]
    for descriptors in (None, ["one", "two"]):
        given = (descriptors, "some_lf", "some_pf", 0.5)
        ours = run(created(batches), telemetry.ProfileRecordBatches(*given))
        theirs = run(created(batches), theirs_of(telemetry).ProfileRecordBatches(*given))
        assert ours[1] == theirs[1]
        assert len(ours[0]) == 2
        ours = run(created(records), telemetry.ProfileRawRecords(*given[:3]))
        assert (
            ours[1] == run(created(records), theirs_of(telemetry).ProfileRawRecords(*given[:3]))[1]
        )
        assert sorted(ours[0]) == [b"", b"abc"]


def test_names_of_formats_and_probabilities_are_looked_at() -> None:
    for given in (("a-b", "c", 0.1), ("a", "[c", 0.1), ("a", "c", 0), ("a", "c", 1.5)):
        with pytest.raises(AssertionError):
            run(beam.Create([]), telemetry.ProfileRecordBatches(None, *given))


def test_metrics_can_be_validated() -> None:
    pipeline = beam.Pipeline(runner=FnApiRunner())
    _ = pipeline | beam.Create([b"a"]) | telemetry.ProfileRawRecords(["x"], "lf", "pf")
    result = pipeline.run()
    case = unittest.TestCase()
    for module in (telemetry_test_util, theirs_of(telemetry_test_util)):
        module.ValidateMetrics(case, result, ["x"], "lf", "pf")
        for wrong in ((["y"], "lf", "pf"), (["x"], "lf", "other")):
            with pytest.raises(AssertionError):
                module.ValidateMetrics(case, result, *wrong)


# ---- datasets, tests' helpers, public names ----


def test_compression_is_told_by_names(tmp_path: pathlib.Path) -> None:
    for name in ("a0.gz", "a1.gz", "b0", "b1"):
        (tmp_path / name).touch()
    for patterns in (["a*"], ["b*"], ["a*", "b*"], ["nothing*"]):
        paths = [str(tmp_path / pattern) for pattern in patterns]
        found = dataset_util.detect_compression_type(paths)
        assert found == theirs_of(dataset_util).detect_compression_type(paths)


def test_records_of_a_dataset_are_the_same(tmp_path: pathlib.Path) -> None:
    paths = [write(tmp_path / "a", EXAMPLES), write(tmp_path / "b", SEQUENCES)]
    for size, drop, epochs, shuffle in (
        (3, False, 1, False),
        (3, True, 2, True),
        (4, False, None, False),
    ):
        given = (paths, size, drop, epochs, shuffle, 100, 1)
        found = dataset_util.make_tf_record_dataset(*given).take(9)
        expected = theirs_of(dataset_util).make_tf_record_dataset(*given).take(9)
        same_values(tuple(found), tuple(expected))


def test_tensors_of_every_kind_are_compared() -> None:
    case, other = test_case.TfxBslTestCase(), theirs_of(test_case).TfxBslTestCase()
    kinds = [
        [tf.constant([1, 2]), tf.constant([1, 3])],
        [tf.sparse.from_dense([1, 0]), tf.sparse.from_dense([0, 1])],
        [tf.ragged.constant([[1], [2, 3]]), tf.ragged.constant([[1, 2], [3]])],
    ]
    for kind in kinds:
        for one in (case, other):
            one.assertTensorsEqual(kind[0], kind[0])
            with pytest.raises(AssertionError):
                one.assertTensorsEqual(kind[0], kind[1])
            with pytest.raises(AssertionError):
                one.assertTensorsEqual(kind[0], np.array([1]))
    assert test_case.SkipTest is theirs_of(test_case).SkipTest
    assert test_case.main is tf.test.main
    assert test_case.named_parameters is theirs_of(test_case).named_parameters


def test_public_names() -> None:
    theirs = theirs_of(public)
    assert set(public.__all__) == set(theirs.__all__)
    for name in theirs.__all__:
        if name != "TensorRepresentations":  # a type of dicts, spelled in another way
            assert getattr(public, name).__name__ == getattr(theirs, name).__name__
