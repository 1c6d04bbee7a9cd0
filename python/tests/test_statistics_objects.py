"""cst.Statistics: features, slices, files, comparing, and what it refuses."""

from __future__ import annotations

import pickle
from pathlib import Path

import columnstone as cst
import numpy as np
import pyarrow as pa
import pytest

ROWS = {
    "fare": [1.5, 2.5, None, 10.0],
    "company": ["Blue", "Red", "Blue", None],
    "tokens": [["a b", "c"], [], None, ["d"]],
    "big": [2**62 + 1, 3, 5, 2**62 + 3],
    "flag": [True, True, False, None],
    "w": [1.0, 2.0, 0.0, 3.0],
}


def made(**options: object) -> cst.Statistics:
    return cst.statistics(ROWS, **options)  # type: ignore[arg-type]


def test_features_are_a_mapping() -> None:
    stats = made()
    assert list(stats) == ["big", "company", "fare", "flag", "tokens", "w"]
    assert len(stats) == 6
    assert "fare" in stats
    assert stats.num_rows == 4
    fare = stats["fare"]
    assert (fare.path, fare.type, fare.rows, fare.present, fare.missing) == (
        "fare",
        "FLOAT",
        4,
        3,
        1,
    )
    assert fare.mean == pytest.approx(14 / 3)
    assert (fare.min, fare.max, fare.median) == (1.5, 10.0, 2.5)
    assert fare.quantiles([0, 0.5, 1]) == [1.5, 2.5, 10.0]
    assert fare.top() == []
    assert fare.distinct == 3
    assert fare.distinct_bounds == (3, 3)
    assert stats["tokens"].levels[0]["empty"] == 1
    assert stats["tokens"].mean_tokens == pytest.approx(4 / 3)
    assert repr(fare) == "<fare: FLOAT, present in 3 of 4 rows>"
    assert repr(stats) == "<columnstone.Statistics: 4 rows, 6 features>"


def test_integers_stay_exact() -> None:
    big = made()["big"]
    assert (big.min, big.max) == (3, 2**62 + 3)
    assert big.quantiles([0, 1]) == [3, 2**62 + 3]
    assert big.top(1) == [(3, 1, 1)]


def test_values_have_their_types() -> None:
    stats = made()
    assert stats["flag"].top() == [(True, 2, 2), (False, 1, 1)]
    assert stats["company"].top(1) == [("Blue", 2, 2)]
    assert stats["company"].quantiles([0.5]) == [None]


def test_slices() -> None:
    stats = made(by=["company", "flag"])
    assert stats.slices == [
        {"company": "Blue", "flag": "false"},
        {"company": "Blue", "flag": "true"},
        {"company": "Red", "flag": "true"},
    ]
    one = stats.slice(flag="true", company="Blue")
    assert one["fare"].mean == 1.5
    assert one["fare"].slice == {"company": "Blue", "flag": "true"}
    assert "Blue" in repr(one["fare"])
    assert list(stats.slice(flag=True, company="Blue")) == list(one)
    assert stats.slice({"company": "Red", "flag": "true"})["fare"].quantiles([1]) == [2.5]
    with pytest.raises(cst.errors.NotFoundError, match="no slice of company='Green'"):
        stats.slice(company="Green")
    with pytest.raises(cst.errors.NotFoundError, match="no slice"):
        stats.slice()


def test_weights_stand_beside() -> None:
    fare = made(weight="w")["fare"]
    assert fare.mean == pytest.approx(14 / 3)
    assert fare.weighted_mean == pytest.approx((1.5 + 5 + 30) / 6)
    assert fare.quantiles([0.5], weighted=True) == [2.5]
    assert made(weight="w")["company"].top(2, weighted=True) == [("Red", 2, 2), ("Blue", 1, 1)]
    assert made()["fare"].quantiles([0.5], weighted=True) == [None]
    with pytest.raises(cst.errors.ArgumentError, match="by weight"):
        made()["fare"].sketch("quantiles", weighted=True)


def test_sketches_are_copies() -> None:
    stats = made()
    sketch = stats["fare"].sketch("quantiles")
    assert isinstance(sketch, cst.sketch.Quantiles)
    sketch.add([100.0])
    assert (sketch.count, stats["fare"].max) == (4, 10.0)
    assert type(stats["company"].sketch("distinct")) is cst.sketch.Distinct
    assert type(stats["company"].sketch("heavy_hitters")) is cst.sketch.HeavyHitters
    assert type(sketch).from_bytes(bytes(sketch)).quantiles([1]) == [100.0]
    with pytest.raises(cst.errors.UnsupportedError, match="no sketch 'heavy_hitters' of FLOAT"):
        stats["fare"].sketch("heavy_hitters")
    with pytest.raises(cst.errors.ArgumentError, match="no sketch 'moments'"):
        stats["fare"].sketch("moments")


def test_a_copy_answers_as_the_sketch_itself() -> None:
    values = np.random.default_rng(1).normal(size=20_000)
    whole = cst.sketch.Quantiles()
    whole.add(values)
    ranks = [0, 0.001, 0.3, 0.5, 0.99, 1]
    found = cst.statistics({"x": values})["x"].quantiles(ranks)
    assert found == whole.quantiles(ranks)


@pytest.mark.parametrize("name", ["s.cststats", "s.cststats.gz", "s.cststats.zst", "other"])
def test_files(tmp_path: Path, name: str) -> None:
    stats = made(by=["company"], weight="w", error=0.05)
    stats.save(tmp_path / name)
    again = cst.Statistics.load(tmp_path / name)
    assert bytes(again) == bytes(stats)
    assert again.to_arrow().to_pydict() == stats.to_arrow().to_pydict()
    again.merge(stats)
    assert again.num_rows == 8
    assert bytes(again._empty()) == bytes(stats._empty())
    assert bytes(pickle.loads(pickle.dumps(again))) == bytes(again)


def test_what_is_loaded_is_statistics(tmp_path: Path) -> None:
    other = cst.accumulate.Accumulator("lengths")
    (tmp_path / "lengths").write_bytes(other._handle.save())
    with pytest.raises(cst.errors.ArgumentError, match="saved by the accumulator 'lengths'"):
        cst.Statistics.load(tmp_path / "lengths")
    with pytest.raises(cst.errors.CorruptError):
        cst.Statistics.from_bytes(bytes(made())[:-1])
    with pytest.raises(cst.errors.NotFoundError):
        cst.Statistics.load(tmp_path / "nothing")


def test_a_feature_of_before_says_that_more_was_added() -> None:
    stats = made()
    before = stats["fare"]
    stats.add({"fare": [99.0]})
    assert before.max == 10.0
    with pytest.raises(cst.errors.StateError, match="get the feature from them again"):
        before.quantiles([0.5])
    assert stats["fare"].max == 99.0
    other = made()
    kept = other["fare"]
    with pytest.raises(cst.errors.ArgumentError, match="different options"):
        other.merge(made(by=["company"]))
    assert kept.quantiles([1]) == [10.0]  # nothing was added


def test_of_a_source_and_of_data_are_the_same(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(f'{{"a": {i}, "g": "{i % 3}"}}' for i in range(100)))
    source = cst.open(path)
    found = source.statistics(by=["g"], progress=lambda done, rows: None)
    whole = cst.statistics(source, by=["g"])
    assert bytes(found) == bytes(whole)
    assert bytes(source.accumulate(cst.Statistics(by=["g"]))) == bytes(found)
    assert bytes(source.statistics(by=["g"], threads=3)) == bytes(found)
    table = source.accumulate("statistics", by=["g"])
    assert table.to_pydict() == found.to_arrow().to_pydict()


def test_of_many_batches() -> None:
    parts = [{"a": [1, 2]}, {"a": [None]}, {"b": ["x"]}]
    batches = [cst.record_batch(part) for part in parts]
    whole = cst.statistics(batches)
    assert (whole.num_rows, whole["a"].rows, whole["b"].rows) == (4, 3, 1)
    assert bytes(cst.statistics(iter(batches))) == bytes(whole)
    assert cst.statistics([]).num_rows == 0
    assert cst.statistics([{"a": 1}, {"a": 2}])["a"].mean == 1.5
    assert cst.statistics(batches[0])["a"].rows == 2


def test_comparing() -> None:
    before = made()
    after = cst.statistics({**ROWS, "company": ["Green"] * 4})
    found = before.compare(after, linf=0.5)
    assert not found
    assert [path for path, _ in found.anomalies] == ["company"]
    assert found.worst(1)[0].path == "company"
    assert [one["value"] for one in found.worst(1)[0].new_values] == ["Green"]
    assert str(found).startswith("company: ")
    assert (found.rows_before, found.rows_after, len(found)) == (4, 4, 6)
    same = before.compare(made())
    assert same
    assert str(same) == "nothing changed"
    limit = "drift_comparator { infinity_norm { threshold: 0.1 } }"
    schema = f"feature {{ name: 'company' type: BYTES {limit} }}"
    assert len(before.compare(after, schema).anomalies) == 1
    assert before.compare(after, schema, kind="skew")
    with pytest.raises(cst.errors.ArgumentError, match="did you mean 'linf'"):
        before.compare(after, lin=1)


def test_other_forms() -> None:
    stats = made()
    assert stats.to_pandas()["path"].tolist() == list(stats)
    page = stats.to_html("trips")
    assert page.lower().startswith("<!doctype html>")
    assert "<iframe srcdoc=" in stats._repr_html_()
    assert "<iframe srcdoc=" in stats.compare(made())._repr_html_()


def test_statistics_that_were_made_elsewhere(tmp_path: Path) -> None:
    stats = made(by=["company"])
    read = cst.stats.FeatureTable.from_tfdv(stats.to_tfdv())
    assert list(read) == list(stats)
    assert read["fare"].mean == stats["fare"].mean
    assert read["company"].top(1) == [("Blue", 2, 2)]
    assert read.slices == [{"company": "Blue"}, {"company": "Red"}]
    with pytest.raises(cst.errors.ArgumentError, match="have no sketches"):
        read["fare"].sketch("quantiles")
    with pytest.raises(cst.errors.ArgumentError, match="not between 0 and 1"):
        read["fare"].quantiles([2])
    cst.write([stats.to_arrow()], tmp_path / "table.arrow")
    for batch in cst.open(tmp_path / "table.arrow"):
        table = cst.stats.FeatureTable.from_arrow(batch)
        assert table["fare"].quantiles([0, 0.5, 1]) == [1.5, 2.5, 10.0]
        assert repr(table) == "<columnstone.stats.FeatureTable: 4 rows, 6 features>"
        assert table.compare(stats)
        assert stats.compare(table)
    table = cst.stats.FeatureTable.from_arrow(pa.table(stats))
    assert table.slice(company="Red")["fare"].mean == stats.slice(company="Red")["fare"].mean
    with pytest.raises(cst.errors.ArgumentError, match="the column 'slice' is missing"):
        cst.stats.FeatureTable.from_arrow(pa.table({"path": ["a"]}))
    with pytest.raises(TypeError, match="cannot make a RecordBatch from int"):
        cst.stats.FeatureTable.from_arrow(7)  # type: ignore[arg-type]


def test_mistyped_names_are_told() -> None:
    with pytest.raises(KeyError, match="did you mean 'fare'"):
        made()["far"]
    with pytest.raises(cst.errors.ArgumentError, match="no option 'buckts'"):
        cst.Statistics(buckts=3)


def test_plot() -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    stats = made()
    assert len(stats.plot("fare").patches) == 10
    assert [text.get_text() for text in stats.plot("company").get_yticklabels()] == ["Red", "Blue"]
    assert stats.plot("flag", ax=pyplot.figure().subplots()).get_title() == "flag"
