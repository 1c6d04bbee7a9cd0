"""Comparisons of statistics against formulas over the data themselves."""

import pathlib
from typing import Any

import columnstone as cst
import numpy as np
import pyarrow as pa
import pytest
from columnstone import Schema, _core, accumulate


def table(columns: dict[str, Any], **options: Any) -> Any:
    found = accumulate.Accumulator("statistics", quantiles=100, **options)
    found.add(pa.RecordBatch.from_pydict(columns))
    return found.finish()


def compare(before: Any, after: Any, schema: Any = None, **options: Any) -> dict[str, Any]:
    """The rows by their paths."""
    given = tuple((name, str(value)) for name, value in options.items())
    found, totals = _core.statistics_compare(before, after, schema, given)
    rows = pa.record_batch(found).to_pylist()
    assert totals["num_anomalies"] == sum(len(row["anomalies"]) for row in rows)
    return {row["path"]: row for row in rows}


def shares(before: list[Any], after: list[Any]) -> tuple[np.ndarray, np.ndarray]:
    values = sorted(set(before) | set(after))
    return tuple(np.array([side.count(v) / len(side) for v in values]) for side in (before, after))  # type: ignore[return-value]


def jensen_shannon(p: np.ndarray, q: np.ndarray) -> float:
    m = (p + q) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = [np.where(x > 0, x * np.log2(x / m), 0).sum() for x in (p, q)]
    return float(sum(terms) / 2)


def psi(p: np.ndarray, q: np.ndarray) -> float:
    p, q = np.maximum(p, 1e-4), np.maximum(q, 1e-4)
    return float(((q - p) * np.log(q / p)).sum())


def kolmogorov_smirnov(before: np.ndarray, after: np.ndarray) -> float:
    x = np.concatenate([before, after])
    upto = [np.searchsorted(np.sort(side), x, "right") / len(side) for side in (before, after)]
    return float(np.abs(upto[0] - upto[1]).max())


@pytest.mark.parametrize("seed", range(20))
def test_strings_that_are_all_told(seed: int) -> None:
    random = np.random.default_rng(seed)
    before, after = (
        [f"v{i}" for i in random.integers(0, random.integers(1, 20), random.integers(1, 300))]
        for _ in range(2)
    )
    row = compare(table({"a": before}), table({"a": after}))["a"]
    p, q = shares(before, after)
    for name in "linf", "linf_low", "linf_high":
        assert row[name] == pytest.approx(np.abs(p - q).max(), abs=1e-12)
    assert row["jensen_shannon"] == pytest.approx(jensen_shannon(p, q), abs=1e-12)
    assert row["psi"] == pytest.approx(psi(np.append(p, 0), np.append(q, 0)), abs=1e-12)
    assert {v["value"]: v["share"] for v in row["new_values"]} == pytest.approx(
        {v: after.count(v) / len(after) for v in set(after) - set(before)}
    )
    assert {v["value"] for v in row["lost_values"]} == set(before) - set(after)


@pytest.mark.parametrize("seed", range(10))
def test_bounds_hold_for_values_that_are_not_told(seed: int) -> None:
    random = np.random.default_rng(seed)
    before, after = (
        [f"v{i}" for i in random.zipf(1.3 + shift, 3000).clip(0, 3000)] for shift in (0, 0.2)
    )
    row = compare(table({"a": before}), table({"a": after}))["a"]
    p, q = shares(before, after)
    assert row["linf_low"] <= row["linf"] <= row["linf_high"]
    assert row["linf_low"] - 1e-9 <= np.abs(p - q).max() <= row["linf_high"] + 1e-9
    assert not row["new_values"] and not row["lost_values"]


NUMBERS = {
    "even": lambda random, n: random.uniform(0, 1, n),
    "shifted": lambda random, n: random.uniform(0.3, 1.3, n),
    "normal": lambda random, n: random.normal(0.5, 0.2, n),
    "wide": lambda random, n: np.exp(random.normal(0, 3, n)),
    "few": lambda random, n: random.integers(0, 5, n).astype(float),
    "one": lambda random, n: np.full(n, 0.5),
    "zeros": lambda random, n: np.where(random.uniform(0, 1, n) < 0.6, 0, random.normal(0, 1, n)),
    "infinite": lambda random, n: np.where(random.uniform(0, 1, n) < 0.1, np.inf, 1.0),
}


@pytest.mark.parametrize("before", NUMBERS)
@pytest.mark.parametrize("after", NUMBERS)
def test_distance_of_ranks(before: str, after: str) -> None:
    random = np.random.default_rng(7)
    x, y = NUMBERS[before](random, 2000), NUMBERS[after](random, 1500)
    row = compare(table({"a": x}), table({"a": y}))["a"]
    assert row["resolution"] == pytest.approx(0.01)
    # the resolution, and the error of the quantiles' ranks: what is exact up to some values is
    # within 1 % beyond
    assert row["ks"] == pytest.approx(kolmogorov_smirnov(x, y), abs=row["resolution"] + 0.02)
    assert 0 <= row["jensen_shannon"] <= 1
    if before == after == "one":
        assert row["ks"] == row["jensen_shannon"] == row["psi"] == 0


def test_deciles() -> None:
    random = np.random.default_rng(1)
    x, y = random.normal(0, 1, 900), random.normal(0.5, 1.2, 900)
    row = compare(table({"a": x}), table({"a": y}))["a"]
    edges = np.quantile(x, np.arange(1, 10) / 10)
    p, q = (np.histogram(side, [-np.inf, *edges, np.inf])[0] / 900 for side in (x, y))
    assert row["psi"] == pytest.approx(psi(p, q), rel=0.1)
    # a divergence of the densities, integrated
    at = np.linspace(-8, 8, 20001)
    densities = [
        np.exp(-(((at - m) / s) ** 2) / 2) / s / np.sqrt(2 * np.pi) for m, s in ((0, 1), (0.5, 1.2))
    ]
    step = at[1] - at[0]
    assert row["jensen_shannon"] == pytest.approx(
        jensen_shannon(densities[0] * step, densities[1] * step), abs=0.02
    )


def test_weights_that_both_have() -> None:
    before = table({"a": ["x", "y"], "w": [1.0, 3.0]}, weight="w")
    after = table({"a": ["x", "y"], "w": [3.0, 1.0]}, weight="w")
    row = compare(before, after)["a"]
    assert row["weighted"] and row["linf"] == pytest.approx(0.5)
    plain = table({"a": ["x", "y"]})
    assert not compare(before, plain)["a"]["weighted"]
    assert compare(before, plain)["a"]["linf"] == 0


def test_thresholds_of_a_schema() -> None:
    made = Schema.from_text(
        "feature { name: 'a' type: BYTES drift_comparator { infinity_norm { threshold: 0.1 } } }"
    )
    row = compare(table({"a": ["x", "y"]}), table({"a": ["x", "x"]}), made._handle)["a"]
    [anomaly] = row["anomalies"]
    assert anomaly["measure"] == "linf" and anomaly["value"] == 0.5
    assert compare(table({"a": ["x"]}), table({"a": ["x"]}), made._handle)["a"]["anomalies"] == []


def test_tables_that_lack_columns_or_sense() -> None:
    whole = pa.record_batch(table({"a": [1.5, 2.5, 4.0], "b": ["x", "y", "y"]}))
    names = whole.schema.names
    for name in names:
        part = whole.select([other for other in names if other != name])
        try:
            compare(whole, part, ks=0)
            compare(part, part, linf=0)
        except cst.Error as error:
            assert "not statistics" in str(error)  # without the values
    for bad in (float("nan"), float("inf"), -1.0):
        columns = whole.to_pydict()
        columns["quantiles"] = [[bad] * 101, []]
        columns["top"] = [[], [{"value": "x", "lower": bad, "upper": bad}]]
        wrong = pa.RecordBatch.from_pydict(columns, whole.schema)
        rows = compare(whole, wrong, ks=0, linf=0)
        assert rows.keys() == {"a", "b"} and rows.keys() == compare(wrong, wrong).keys()


def test_a_field_of_no_structs_is_gone() -> None:
    """It is in none of no rows, which is no share."""
    before = {"s": pa.array([None], pa.struct([("x", pa.int64())])), "a": [1]}
    diff = cst.statistics(before).compare(cst.statistics({"a": [1]}))
    assert {one.path: one.what for one in diff.worst(2)} == {
        "s": "gone: 0 % of rows had it",
        "s.x": "gone",
    }


def test_a_validation_compares_with_earlier_data(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"a": "x", "y": 1}\n{"a": "x", "y": 2}\n')
    (tmp_path / "b.jsonl").write_text('{"a": "x", "y": 1}\n{"a": "z", "y": 2}\n')
    made = Schema.from_text(
        """feature { name: 'a' type: BYTES
                     drift_comparator { infinity_norm { threshold: 0.1 } }
                     skew_comparator { infinity_norm { threshold: 0.9 } } }
           feature { name: 'y' type: INT unique_constraints { max: 1 } }"""
    )
    before = cst.open(tmp_path / "a.jsonl").accumulate("statistics")
    check = cst.open(tmp_path / "b.jsonl").validate(made, previous=before, serving=before)
    assert [(a.kind, a.path) for a in check.anomalies] == [("drift", "a"), ("unique", "y")]
    assert '"' not in check.anomalies[0].message  # no values of the data
    assert check.anomalies[0].message.startswith(
        "the L-infinity distance is 0.5, more than the 0.1"
    )
