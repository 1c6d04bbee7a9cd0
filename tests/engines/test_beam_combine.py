"""Combiners: schemas, validations and counts of PCollections, as those of the files themselves."""

from __future__ import annotations

import dataclasses
import pathlib
import pickle
import random
from typing import Any

import apache_beam as beam
import columnstone as cst
import pyarrow as pa
import pytest
from apache_beam.testing.util import assert_that, equal_to

SCHEMA = """
feature { name: "id" type: INT presence { min_fraction: 1 } int_domain { max: 500 } }
feature { name: "name" type: BYTES presence { min_fraction: 0.9 } string_domain { value: "a" } }
feature { name: "gone" type: FLOAT presence { min_count: 1 } }
"""


def batch(first: int, rows: int = 50) -> pa.RecordBatch:
    """Every seventh row lacks `name`; the last ones have something new."""
    ids = range(first, first + rows)
    columns: dict[str, Any] = {
        "id": pa.array([[i] for i in ids], pa.large_list(pa.int64())),
        "name": pa.array([None if i % 7 == 0 else [b"a" * (i % 3)] for i in ids]),
    }
    if first >= 550:
        columns["new"] = pa.array([[i / 2] * (i % 4) for i in ids], pa.large_list(pa.float32()))
    return pa.record_batch(columns)


BATCHES = [batch(i) for i in range(0, 600, 50)]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("files")
    for i, b in enumerate(BATCHES):
        cst.write(b, folder / f"{i:02}.tfrecord")
    return sorted(map(str, folder.iterdir()))


def lengths_of_all() -> dict[str, Any]:
    whole = cst.accumulate.Accumulator("lengths")
    for one in BATCHES:
        whole.add(one)
    return whole.finish().to_pydict()


def test_any_accumulator_by_its_name() -> None:
    with beam.Pipeline() as p:
        combined = p | beam.Create(BATCHES) | beam.CombineGlobally(cst.beam.Accumulate("lengths"))
        assert_that(
            combined | beam.Map(lambda found: found.to_pydict()), equal_to([lengths_of_all()])
        )


def comparable(result: Any) -> Any:
    """Without the places of anomalies, which depend on the order."""
    if not isinstance(result, cst.schema.SchemaCheck):
        return result
    anomalies = [dataclasses.replace(anomaly, places=()) for anomaly in result.anomalies]
    return dataclasses.replace(result, anomalies=anomalies)


def check(transform: Any, batches: list[Any], expected: Any, *options: str) -> None:
    """That the only result is what is expected, of batches in whatever order."""

    def is_expected(results: list[Any]) -> None:
        assert [comparable(result) for result in results] == [comparable(expected)]

    shuffled = random.Random(1).sample(batches, len(batches))
    with beam.Pipeline(argv=["--runner=FnApiRunner", *options]) as p:
        assert_that(p | beam.Create(shuffled) | transform, is_expected)


def count(batches: list[Any]) -> Any:
    counts = cst.accumulate.Counts()
    for b in batches:
        counts.add(b)
    return counts.finish()


THREADS = ("--direct_running_mode=multi_threading", "--direct_num_workers=2")
PROCESSES = ("--direct_running_mode=multi_processing", "--direct_num_workers=2")


@pytest.mark.parametrize("options", [(), THREADS], ids=["in memory", "threads"])
def test_results_are_those_of_the_files(files: list[str], options: tuple[str, ...]) -> None:
    check(cst.beam.InferSchema(), BATCHES, cst.infer_schema(files), *options)
    validation = cst.open(files).validate(SCHEMA)
    assert len(validation.anomalies) >= 4
    assert all(anomaly.places for anomaly in validation.anomalies if anomaly.kind == "int-domain")
    check(cst.beam.Validate(SCHEMA), BATCHES, validation, *options)
    check(cst.beam.Count(), BATCHES, count(BATCHES), *options)


def test_results_and_coders_cross_processes(
    files: list[str], tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The schema is a file of the driver's, which is gone when the workers begin; keys have
    results of their own, some of them by more than one worker."""
    monkeypatch.setenv("PYTHONPATH", str(pathlib.Path(__file__).parent))  # for these functions
    path = tmp_path / "schema.pbtxt"
    path.write_text(SCHEMA)
    validate = cst.beam.Validate(path)
    path.unlink()
    validation = cst.open(files).validate(SCHEMA)

    def is_expected(results: list[Any]) -> None:
        assert [comparable(result) for result in results] == [comparable(validation)]
        assert "(first" not in str(results[0])  # batches do not say where they are from

    with beam.Pipeline(argv=["--runner=FnApiRunner", *PROCESSES]) as p:
        batches = p | beam.Create(BATCHES) | beam.Reshuffle()
        assert_that(batches | validate, is_expected, "validation")
        pairs = batches | beam.Map(lambda b: (b.num_columns, b))
        counts = pairs | beam.CombinePerKey(cst.beam.Accumulate(cst.accumulate.Counts()))
        rows = counts | beam.MapTuple(lambda key, found: (key, found.num_rows))
        assert_that(rows, equal_to([(2, 550), (3, 50)]), "counts")
        tables = batches | beam.Map(lambda b: pa.Table.from_batches([b]))
        schemas = tables | cst.beam.InferSchema()
        texts = schemas | beam.Map(lambda schema: str(schema.to_text()))
        assert_that(texts, equal_to([cst.infer_schema(files).to_text()]), "schema")


def test_without_batches() -> None:
    check(cst.beam.InferSchema(), [], cst.accumulate.SchemaInference().finish())
    check(cst.beam.Validate(SCHEMA), [], cst.accumulate.Validation(SCHEMA).finish())
    check(cst.beam.Count(), [], count([]))
    with beam.Pipeline("FnApiRunner") as p:
        assert_that(p | beam.Create([]) | cst.beam.Count().without_defaults(), equal_to([]))


def test_what_combine_globally_offers() -> None:
    expected = count(BATCHES)
    check(cst.beam.Count().with_fanout(3), BATCHES, expected)
    with beam.Pipeline("FnApiRunner") as p:
        batches = p | beam.Create(BATCHES)
        view = batches | cst.beam.Count().as_singleton_view()
        beside = p | "One" >> beam.Create([1]) | beam.Map(lambda _, found: found.num_rows, view)
        assert_that(beside, equal_to([600]), "beside")
        halves = batches | beam.WithKeys(lambda _: "all")
        fanned = beam.CombinePerKey(
            cst.beam.Accumulate(cst.accumulate.Counts())
        ).with_hot_key_fanout(2)
        assert_that(halves | fanned, equal_to([("all", expected)]), "hot key")
        windows = batches | beam.Map(
            lambda b: beam.window.TimestampedValue(b, 0 if b.num_columns == 2 else 100)
        )
        windows |= beam.WindowInto(beam.window.FixedWindows(60))
        by_window = windows | "PerWindow" >> cst.beam.Count().without_defaults()
        rows = by_window | "Rows" >> beam.Map(lambda found: found.num_rows)
        assert_that(rows, equal_to([550, 50]), "windows")


def test_accumulators_are_small_and_go_on_elsewhere() -> None:
    """What workers send each other does not grow with the rows, and has no options in it."""
    combiner = cst.beam.Accumulate(cst.accumulate.Validation(SCHEMA))
    combiner = pickle.loads(pickle.dumps(combiner))
    coder = combiner.get_accumulator_coder()
    sizes = []
    accumulator = combiner.create_accumulator()
    for first in (0, 0, 10_000):
        for i in range(first, first + 2000, 50):
            accumulator = coder.decode(coder.encode(combiner.add_input(accumulator, batch(i))))
        sizes.append(len(coder.encode(accumulator)))
    assert sizes[0] == sizes[1] and sizes[2] < 1500, sizes
    assert combiner.extract_output(combiner.create_accumulator()).num_rows == 0
    merged = combiner.merge_accumulators([accumulator, combiner.create_accumulator(), accumulator])
    assert combiner.extract_output(merged).num_rows == 12_000
    assert combiner.extract_output(accumulator).num_rows == 6_000


def test_names_and_arguments() -> None:
    assert cst.beam.InferSchema().default_label() == "InferSchema"
    assert cst.beam.Accumulate(cst.accumulate.Counts()).default_label() == "Accumulate(counts)"
    assert cst.beam.Accumulate(cst.accumulate.Counts).default_label() == "Accumulate(counts)"
    with pytest.raises(TypeError, match="not a dict"):
        cst.beam.Accumulate({})
    with pytest.raises(TypeError, match="look"):
        cst.beam.InferSchema(look=True)
    with pytest.raises(cst.errors.SchemaError):
        cst.beam.Validate("no schema {")


def test_a_feature_of_two_types_is_an_error() -> None:
    other = pa.record_batch({"id": [[0.5]]})
    with pytest.raises(Exception, match=r"found (FLOAT|INT), expected"):
        check(cst.beam.InferSchema(), [batch(0), other], None)


def test_statistics_globally_and_by_key() -> None:
    """As one machine's, whatever a runner merges."""
    options = {"columns": ["id", "name"]}
    whole = cst.statistics(pa.Table.from_batches(BATCHES[:11]), **options)
    by_key = {key: cst.Statistics(**options) for key in (0, 1)}
    keyed = [(i % 2, one) for i, one in enumerate(BATCHES[:11])]
    for key, one in keyed:
        by_key[key].add(one)
    with beam.Pipeline() as p:
        found = p | "all" >> beam.Create(BATCHES[:11]) | cst.beam.Statistics(**options)
        counts = found | beam.Map(
            lambda stats: [stats.num_rows, stats["id"].mean, stats["name"].top(3)]
        )
        expected = [whole.num_rows, whole["id"].mean, whole["name"].top(3)]
        assert_that(counts, equal_to([expected]), "one")
        per_key = (
            p
            | "keyed" >> beam.Create(keyed)
            | beam.CombinePerKey(cst.beam.Accumulate(cst.Statistics(**options)))
            | beam.MapTuple(lambda key, stats: (key, stats["id"].mean, stats["id"].values))
        )
        told = [(key, stats["id"].mean, stats["id"].values) for key, stats in by_key.items()]
        assert_that(per_key, equal_to(told), "keys")
