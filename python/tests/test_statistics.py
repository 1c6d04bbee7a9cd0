"""The accumulator `statistics`, against numpy, Polars and counting by hand."""

from __future__ import annotations

import decimal
import math
import pathlib
from collections import Counter
from typing import Any

import columnstone as cst
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from merging import merged


def rows_of(found: cst.RecordBatch) -> dict[tuple[tuple[str, ...], str], dict[str, Any]]:
    """By the values of the slice, and the path."""
    columns = found.to_pydict()
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return {(tuple(s["value"] for s in row["slice"]), row["path"]): row for row in rows}


def statistics(data: Any, **options: Any) -> dict[tuple[tuple[str, ...], str], dict[str, Any]]:
    made = cst.accumulate.Accumulator("statistics", **options)
    made.add(data)
    return rows_of(made.finish())


def test_numbers_are_those_of_numpy() -> None:
    values = np.random.default_rng(1).lognormal(3, 2, 100_000)
    row = statistics(pa.table({"a": values}))[(), "a"]
    assert row["mean"] == math.fsum(values) / len(values)
    assert row["std_dev"] == pytest.approx(np.std(values), rel=1e-12)
    assert (row["min"], row["max"]) == (values.min(), values.max())
    ordered = np.sort(values)
    for i, bound in enumerate(row["quantiles"]):
        assert abs(np.searchsorted(ordered, bound) / len(values) - i / 100) < 0.01
    assert len(row["quantiles"]) == 101
    assert sum(bucket["weight"] for bucket in row["histogram"]) == pytest.approx(len(values))
    assert row["distinct_low"] <= len(values) <= row["distinct_high"]


def test_special_numbers() -> None:
    values = [0.0, -0.0, math.nan, math.inf, -math.inf, None, -2.0]
    row = statistics(pa.table({"a": values}))[(), "a"]
    names = ["present", "zeros", "negatives", "nan", "plus_infinity", "minus_infinity"]
    assert [row[name] for name in names] == [6, 2, 1, 1, 1, 1]
    assert row["mean"] == -2 / 3
    big = statistics(pa.table({"a": pa.array([2**63 - 1, -(2**63)], pa.int64())}))[(), "a"]
    assert (big["exact_min"], big["exact_max"]) == (str(-(2**63)), str(2**63 - 1))


def test_strings_are_those_of_polars() -> None:
    rng = np.random.default_rng(2)
    words = [f"word {i}" for i in rng.zipf(1.5, 20_000) % 1000]
    row = statistics(pa.table({"a": words}))[(), "a"]
    counts = pl.Series(words).value_counts(sort=True).head(5).rows()
    assert [(t["value"], t["lower"], t["upper"]) for t in row["top"][:3]] == [
        (word, count, count) for word, count in counts[:3]
    ]
    assert row["mean_length"] == sum(map(len, words)) / len(words)
    assert row["distinct_low"] <= len(set(words)) <= row["distinct_high"]
    not_text = statistics(pa.table({"a": [b"\xff", b"a"]}))[(), "a"]
    assert (not_text["type"], not_text["not_utf8"]) == ("BYTES", 1)


def test_a_file_by_any_number_of_threads(tmp_path: pathlib.Path) -> None:
    path = str(tmp_path / "a.tfrecord")
    values = [{"a": [i % 7, i % 11], "b": [f"w{i % 50}"]} for i in range(20_000)]
    cst.write(cst.record_batch(values), path, format="example")
    found = [
        rows_of(cst.open(path, threads=threads).accumulate("statistics", by=["b"]))
        for threads in (1, 2, 7)
    ]
    exact = ["rows", "present", "values", "mean", "std_dev", "min", "max", "zeros", "distinct"]
    for other in found[1:]:
        assert list(other) == list(found[0])
        for key, row in other.items():
            assert [row[name] for name in exact] == [found[0][key][name] for name in exact]


Rows = st.lists(
    st.fixed_dictionaries(
        {
            "g": st.sampled_from(["p", "q", None]),
            "a": st.none() | st.lists(st.none() | st.integers(-5, 5), max_size=3),
            "w": st.integers(0, 4),
        }
    ),
    min_size=1,
    max_size=30,
)
TYPE = pa.schema({"g": pa.string(), "a": pa.list_(pa.int64()), "w": pa.int64()})


@given(Rows, st.data())
def test_slices_weights_and_parts(rows: list[dict[str, Any]], data: st.DataObject) -> None:
    options = {"by": ["g"], "weight": "w", "pairs": ["a:w"]}
    cuts = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=6)))
    parts = [rows[a:b] for a, b in zip([0, *cuts], [*cuts, len(rows)], strict=True)]
    made = []
    for part in parts:
        made.append(cst.accumulate.Accumulator("statistics", **options))
        made[-1].add(pa.Table.from_pylist(part, TYPE))
    found = rows_of(merged(made, data).finish())
    groups = {(): rows}
    for row in rows:
        if row["g"] is not None:
            groups.setdefault((row["g"],), []).append(row)
    assert {slice for slice, _ in found} == set(groups)
    for slice, group in groups.items():
        check_slice(found[slice, "a"], group)
        check_pair(found[slice, "a"], group)


def quantiles(values: list[int], weights: list[int] | None, parts: int) -> list[float]:
    """The least values up to which there are so many parts of the weight."""
    ordered = np.sort(np.repeat(values, weights) if weights else values)
    ranks = [max(math.ceil(i * len(ordered) / parts), 1) for i in range(parts + 1)]
    return [float(ordered[rank - 1]) for rank in ranks]


def check_lists(row: dict[str, Any], group: list[dict[str, Any]]) -> None:
    lists = [(len(r["a"]), r["w"]) for r in group if r["a"] is not None]
    level = row["levels"][0]
    assert level["nulls_weight"] == sum(r["w"] for r in group if r["a"] is None)
    assert level["lists_weight"] == sum(w for _, w in lists)
    assert level["items_weight"] == sum(n * w for n, w in lists)
    assert row["lengths"] == (quantiles([n for n, _ in lists], None, 10) if lists else [])


def check_pair(row: dict[str, Any], group: list[dict[str, Any]]) -> None:
    values = [([v for v in r["a"] or [] if v is not None], r["w"]) for r in group]
    both = [(of[0], w) for of, w in values if len(of) == 1]
    (pair,) = row["pairs"]
    assert (pair["other"], pair["count"]) == ("w", len(both))
    if both:
        x, y = ([pair[i] for pair in both] for i in range(2))
        assert pair["covariance"] == pytest.approx(np.cov(x, y, bias=True)[0, 1], abs=1e-12)
        assert pair["mutual_information"] == pytest.approx(information(x, y), abs=1e-12)


def check_slice(row: dict[str, Any], group: list[dict[str, Any]]) -> None:
    present = [r for r in group if r["a"] is not None]
    pairs = [(v, r["w"]) for r in present for v in r["a"] if v is not None]
    values = [v for v, _ in pairs]
    assert (row["rows"], row["present"]) == (len(group), len(present))
    assert row["rows_weight"] == sum(r["w"] for r in group)
    assert row["present_weight"] == sum(r["w"] for r in present)
    assert row["values"] == len(values)
    level = row["levels"][0]
    lengths = [len(r["a"]) for r in present]
    assert (level["lists"], level["empty"], level["items"]) == (
        len(lengths),
        lengths.count(0),
        sum(lengths),
    )
    if values:
        assert (row["min"], row["max"]) == (min(values), max(values))
        assert row["distinct"] == len(set(values))
        assert row["mean"] == pytest.approx(np.mean(values))
        assert row["quantiles"] == quantiles(values, None, 100)
        counted = {int(t["value"]): (t["lower"], t["upper"]) for t in row["top"]}
        assert counted == {v: (n, n) for v, n in Counter(values).items()}
    check_lists(row, group)
    check_weighted(row, pairs)


def check_weighted(row: dict[str, Any], pairs: list[tuple[int, int]]) -> None:
    values, weights = [v for v, _ in pairs], [w for _, w in pairs]
    weight = sum(weights)
    assert row["values_weight"] == weight
    counts = Counter[int]()
    for v, w in pairs:
        counts[v] += w
    told = {int(t["value"]): (t["lower"], t["upper"]) for t in row["weighted_top"]}
    assert told == {v: (w, w) for v, w in counts.items() if w > 0}
    if weight > 0:
        mean = sum(v * w for v, w in pairs) / weight
        variance = sum((v - mean) ** 2 * w for v, w in pairs) / weight
        assert row["weighted_mean"] == pytest.approx(mean)
        assert row["weighted_std_dev"] == pytest.approx(math.sqrt(variance), abs=1e-12)
        assert row["weighted_quantiles"] == quantiles(values, weights, 100)
        assert sum(bucket["weight"] for bucket in row["weighted_histogram"]) == weight
    else:
        assert (row["weighted_mean"], row["weighted_quantiles"]) == (None, [])


def test_lists_in_lists() -> None:
    table = pa.table({"a": pa.array([[[1], None, []], None, []], pa.list_(pa.list_(pa.int8())))})
    levels = statistics(table)[(), "a"]["levels"]
    assert [list(level.values())[:6] for level in levels] == [
        [1, 2, 1, 3, 0, 3],
        [1, 2, 1, 1, 0, 1],
    ]


def test_weighted_quantiles_are_within_their_bound() -> None:
    rng = np.random.default_rng(3)
    values, weights = rng.normal(size=50_000), rng.pareto(1.5, 50_000)
    row = statistics(pa.table({"a": values, "w": weights}), weight="w")[(), "a"]
    order = np.argsort(values)
    upto = np.cumsum(weights[order]) / weights.sum()
    for i, bound in enumerate(row["weighted_quantiles"]):
        at = np.searchsorted(values[order], bound)
        below = upto[at - 1] if at > 0 else 0
        assert below - 0.01 <= i / 100 <= upto[at] + 0.01
    assert row["weighted_mean"] == pytest.approx(np.average(values, weights=weights))
    assert row["mean"] == pytest.approx(np.mean(values))


def test_tokens_are_those_of_polars() -> None:
    rng = np.random.default_rng(4)
    texts = ["".join(rng.choice(list("ab \t\nä"), size)) for size in rng.integers(0, 40, 2000)]
    row = statistics(pa.table({"a": [*texts, None]}))[(), "a"]
    counts = pl.Series(texts).str.extract_all(r"[^ \t\n\x0b\f\r]+").list.len()
    assert row["mean_tokens"] == counts.sum() / len(texts)
    assert statistics(pa.table({"a": [b"a b"]}))[(), "a"]["mean_tokens"] is None
    assert statistics(pa.table({"a": [1]}))[(), "a"]["mean_tokens"] is None


def test_lengths_are_within_their_bound() -> None:
    sizes = np.random.default_rng(5).geometric(0.1, 20_000)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    lists = pa.ListArray.from_arrays(offsets.astype("int32"), np.zeros(offsets[-1], "int8"))
    bounds = statistics(pa.table({"a": lists}))[(), "a"]["lengths"]
    ordered = np.sort(sizes)
    for i, bound in enumerate(bounds):
        low, high = np.searchsorted(ordered, bound), np.searchsorted(ordered, bound, "right")
        assert low / len(sizes) - 0.01 <= i / 10 <= high / len(sizes) + 0.01


def information(x: list[Any], y: list[Any]) -> float:
    pairs, of_x, of_y = Counter(zip(x, y, strict=True)), Counter(x), Counter(y)
    return sum(n / len(x) * math.log(n * len(x) / of_x[a] / of_y[b]) for (a, b), n in pairs.items())


def test_pairs_are_those_of_numpy() -> None:
    rng = np.random.default_rng(6)
    x, noise = rng.normal(size=5000), rng.normal(size=5000)
    y, kind = x + noise, (x * 2).astype("int64")
    word = [f"w{i}" for i in kind % 3]
    table = pa.table(
        {"x": x, "y": y, "kind": kind, "word": word, "list": kind.reshape(-1, 1).tolist()}
    )
    made = [cst.accumulate.Accumulator("statistics", pairs=["*"]) for _ in range(2)]
    for part, at in zip(made, (0, 3000), strict=True):
        part.add(table.slice(at, 3000))
    made[1].merge(made[0])
    row = rows_of(made[1].finish())
    of_x = {pair["other"]: pair for pair in row[(), "x"]["pairs"]}
    assert list(of_x) == ["kind", "list", "y"]
    assert of_x["y"]["correlation"] == pytest.approx(np.corrcoef(x, y)[0, 1])
    assert of_x["y"]["covariance"] == pytest.approx(np.cov(x, y, bias=True)[0, 1])
    assert (of_x["y"]["count"], of_x["y"]["mutual_information"]) == (5000, None)
    of_kind = {pair["other"]: pair for pair in row[(), "kind"]["pairs"]}
    assert of_kind["list"]["correlation"] == pytest.approx(1)
    assert of_kind["list"]["mutual_information"] == pytest.approx(
        information(kind.tolist(), kind.tolist())
    )
    named = statistics(table, pairs=["word:kind"], columns=["word", "kind"])[(), "word"]["pairs"]
    assert [pair["correlation"] for pair in named] == [None]
    assert named[0]["mutual_information"] == pytest.approx(information(word, kind.tolist()))


def slices_of(data: Any, **options: Any) -> dict[str, int]:
    """Rows of each slice of `g`."""
    found = statistics(data, by=["g"], columns=["a"], **options)
    return {slice[0]: row["rows"] for (slice, _), row in found.items() if slice}


def test_slices_by_every_layout() -> None:
    words = pa.array(["p", "q", None, "p"])
    twice = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 0]), words.dictionary_encode()[:2])
    for layout in (
        words,
        words.dictionary_encode(),
        twice,
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 0]), pa.array(["p", "q", None])),
        words.cast(pa.string_view()),
        pa.array([["p"], ["q"], [None], ["p", "p"]], pa.list_view(pa.string())),
        pa.ListArray.from_arrays([0, 1, 2, 3, 4], words.dictionary_encode()),
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 0]), pa.array([["p"], ["q"], []])),
    ):
        assert slices_of(pa.table({"g": layout, "a": range(4)})) == {"p": 2, "q": 1}
    fixed = pa.array([["p", "q"], None, [None, "q"], ["q", "q"]], pa.list_(pa.string(), 2))
    assert slices_of(pa.table({"g": fixed, "a": range(4)})) == {"p": 1, "q": 3}
    mixed = pa.table({"g": [1.5, math.nan, -0.0, 1.5], "a": range(4)})
    assert slices_of(mixed) == {"1.5": 2, "nan": 1, "-0.0": 1}


def test_rows_and_columns_that_are_not_there() -> None:
    no_columns = pa.RecordBatch.from_struct_array(
        pa.StructArray.from_buffers(pa.struct([]), 5, [None])
    )
    made = cst.accumulate.Accumulator("statistics", by=["g"], pairs=["*"])
    made.add(no_columns)
    with pytest.raises(cst.errors.NotFoundError, match="'g': no row has this column"):
        made.finish()
    made.add(pa.table({"g": ["x"], "a": [1]}))
    assert rows_of(made.finish())[(), "a"]["rows"] == 1
    rows = pa.table({"g": ["x"], "w": [2.0], "a": [[1, 2]]})
    options = {"by": ["g"], "weight": "w", "pairs": ["g:w"]}
    plain = statistics(rows, **options)
    made = cst.accumulate.Accumulator("statistics", **options)
    for part in (rows[:0], rows, rows.select(["g"])[:0], rows[:0]):
        made.add(part)
    assert rows_of(made.finish()) == plain
    made = cst.accumulate.Accumulator("statistics", **options)
    made.add(rows.to_batches()[0][:0])
    assert made.finish().num_rows == 0


def test_values_that_are_not_looked_at() -> None:
    of = decimal.Decimal("1.5")
    maps = pa.array([[("k", 1)], None], pa.map_(pa.string(), pa.int64()))
    table = pa.table({"d": [of, None], "l": [[of, None], None], "m": maps})
    found = statistics(table)
    known = {path: (row["type"], row["present"], row["values"]) for (_, path), row in found.items()}
    assert known == {
        "d": ("OTHER", 1, 1),
        "l": ("OTHER", 1, 1),
        "m": ("STRUCT", 1, 1),
        "m.key": ("STRING", 1, 1),
        "m.value": ("INT", 1, 1),
    }
    for options in ({"by": ["d"]}, {"weight": "d"}, {"pairs": ["d:m"]}):
        with pytest.raises(cst.errors.UnsupportedError, match="decimal"):
            statistics(table, **options)


def test_values_and_lists_of_a_million() -> None:
    texts = [letter * 1_000_000 for letter in "abb"]
    found = statistics(pa.table({"g": texts, "a": range(3)}), by=["g"])
    assert [row["max_length"] for (_, path), row in found.items() if path == "g"] == [10**6] * 3
    assert [top["upper"] for top in found[(), "g"]["top"]] == [2, 1]
    one = pa.table({"a": pa.ListArray.from_arrays([0, 10**6], np.arange(10**6) % 10)})
    row = statistics(one)[(), "a"]
    assert (row["values"], row["distinct"], row["lengths"]) == (10**6, 10, [10**6] * 11)
    with pytest.raises(cst.errors.LimitError, match="more than 1000 slices"):
        statistics(one, by=["a"])


def test_many_slices_and_features() -> None:
    table = pa.table({"g": np.arange(50_000), "a": np.arange(50_000)})
    made = cst.accumulate.Accumulator("statistics", by=["g"], slices=20)
    made.add(table)
    found = made.finish()
    assert found.num_rows == 42
    wide = pa.table({f"c{i}": [float(i), None] for i in range(20_000)})
    assert statistics(wide, quantiles=1, buckets=1)[(), "c19999"]["mean"] == 19999


def test_wrong_options() -> None:
    with pytest.raises(cst.errors.ArgumentError, match="error"):
        cst.accumulate.Accumulator("statistics", error=2)
    with pytest.raises(cst.errors.LimitError, match="more than 1 MiB"):
        statistics(pa.table({f"c{i}": [float(i)] * 3 for i in range(3000)}), memory=1)
    with pytest.raises(cst.errors.SchemaError):
        statistics(pa.table({"a": [1]}), weight="w")
