"""Stages: flat columns, and what `map` and `filter` put between decoding and delivery."""

from __future__ import annotations

import gc
import pathlib
import pickle
import threading
import time
import weakref
from typing import Any

import columnstone as cst
import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
import wire
from conftest import MakeFile


@pytest.fixture
def trips(make_file: MakeFile) -> pathlib.Path:
    """`fare` and `company` of one value, `company` not in every third; `tokens` of one or two."""
    made = []
    for i in range(300):
        features: dict[str, wire.Values] = {"fare": [i / 2], "tokens": list(range(1 + i % 2))}
        if i % 3:
            features["company"] = [b"Bl\xc3\xa5" if i % 2 else b"Red"]
        made.append(wire.example(features))
    return make_file("trips.tfrecord", made)


def doubled(batch: pa.RecordBatch) -> pa.RecordBatch:
    return pa.record_batch({"fare": batch["fare"], "twice": pc.multiply(batch["fare"], 2)})


def is_dear(batch: pa.RecordBatch) -> pa.Array:
    return pc.greater(batch["fare"], 100)


def fares(source: Any, name: str = "fare") -> list[float]:
    return pa.table(source).column(name).to_pylist()


# flat


def test_flat_columns_are_known_before_the_first_batch(trips: pathlib.Path) -> None:
    with cst.open(trips, flat=True) as src:
        assert pa.schema(src.arrow_schema) == pa.schema(
            [
                pa.field("company", pa.large_string()),
                pa.field("fare", pa.float32(), nullable=False),
                pa.field("tokens", pa.large_list(pa.int64())),
            ]
        )
        table = pa.table(src)
    assert table["company"].to_pylist()[:4] == [None, "Blå", "Red", None]
    assert table["fare"].to_pylist() == [i / 2 for i in range(300)]


def test_the_first_query_of_everybody_is_right(trips: pathlib.Path) -> None:
    src = cst.open(trips, flat=True)
    assert duckdb.sql("select avg(fare) from src").fetchall() == [(74.75,)]
    assert duckdb.sql("select count(*) from src where company = 'Blå'").fetchall() == [(100,)]
    assert pl.DataFrame(src)["fare"].mean() == 74.75
    assert src.to_pandas()["fare"].mean() == 74.75


def test_flat_of_every_format(trips: pathlib.Path, tmp_path: pathlib.Path) -> None:
    expected = pa.table(cst.open(trips, flat=True)).drop_columns("tokens").to_pylist()
    for name in ["t.parquet", "t.arrow", "t.jsonl"]:
        cst.convert(trips, tmp_path / name)
        with cst.open(tmp_path / name, flat=True) as src:
            assert pa.table(src).drop_columns("tokens").to_pylist() == expected, name
    cst.write(cst.open(trips, flat=True).select(["fare", "company"]), tmp_path / "t.csv")
    with cst.open(tmp_path / "t.csv", flat=True) as src:
        assert pa.table(src).to_pylist() == [
            {"fare": row["fare"], "company": row["company"]} for row in expected
        ]
    assert pa.table(cst.open(pa.table(cst.open(trips)), flat=True)).num_columns == 3
    assert pa.table(cst.open(trips, "raw", flat=True)).schema.types == [pa.large_binary()]


def test_columns_that_no_feature_could_be_stay(tmp_path: pathlib.Path) -> None:
    table = pa.table(
        {
            "when": pa.array([1, 2], pa.timestamp("s")),
            "yes": [True, False],
            "one": [["a"], ["b"]],
            "raw": [b"\xff", b"a"],
            "text": [b"x", b"y"],
        }
    )
    made = pa.table(cst.open(table, flat=True))
    assert made.schema.types == [
        pa.timestamp("s"), pa.bool_(), pa.string(), pa.binary(), pa.string(),
    ]  # fmt: skip
    assert made["one"].to_pylist() == ["a", "b"]


def test_rows_that_do_not_fit(trips: pathlib.Path) -> None:
    schema = """feature { name: "tokens" type: INT value_count { min: 1 max: 1 } }"""
    src = cst.open(trips, schema=schema, flat=True, batch_size=10)
    with pytest.raises(
        cst.errors.SchemaError, match="found 2 values, expected one value"
    ) as caught:
        list(iter(src))
    assert caught.value.record == 1 and caught.value.path == "tokens" and caught.value.offset
    with cst.open(trips, schema=schema, flat=True, on_error="skip") as skipping:
        assert fares(skipping, "tokens") == [0] * 150
        assert [d.record for d in skipping.dropped] == list(range(1, 300, 2))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("ending", ["jsonl", "csv"])
def test_places_after_records_that_the_format_dropped(
    tmp_path: pathlib.Path, ending: str, threads: int
) -> None:
    values = ["oops" if i % 10 == 3 else "1|2" if i in (3, 57, 94) else str(i) for i in range(100)]
    if ending == "csv":
        text = "a,b\n" + "".join(f"{value},x\n" for value in values)
    else:
        lists = [v.split("|") if v != "oops" else ['"oops"'] for v in values]
        text = "".join(f'{{"a": [{", ".join(v)}], "b": ["x"]}}\n' for v in lists)
    path = tmp_path / f"t.{ending}"
    path.write_text(text)
    src = cst.open(
        path,
        schema="feature { name: 'a' type: INT value_count { min: 1 max: 1 } }",
        **({"multivalent": ["a"]} if ending == "csv" else {}),
        flat=True,
        on_error="skip",
        threads=threads,
        batch_size=16,
    )
    assert fares(src, "a") == [int(v) for v in values if v.isdigit()]
    lost = [i for i, v in enumerate(values) if not v.isdigit()]
    assert sorted(d.record for d in src.dropped) == lost


def test_flat_select_pickle_rows_and_parts(trips: pathlib.Path) -> None:
    src = cst.open(trips, flat=True)
    assert pa.schema(src.select(["company"]).arrow_schema).types == [pa.large_string()]
    again = pickle.loads(pickle.dumps(src))
    assert pa.table(again) == pa.table(src)
    assert src[7].to_pydict()["fare"] == [3.5] and len(src) == 300
    assert fares(src[10:20]) == [i / 2 for i in range(10, 20)]
    assert sum(len(fares(src.split(i, 3))) for i in range(3)) == 300


def test_tensors_of_flat_columns(trips: pathlib.Path) -> None:
    src = cst.open(trips, flat=True)
    tensors = next(iter(src.tensors()))
    assert tensors["fare"].shape == (300,)
    batch = next(iter(src.dataset(64, label="fare", shuffle=True).numpy()))
    assert batch[1].shape == (64,)


# map and filter


@pytest.mark.parametrize("threads", [1, 3])
def test_map(trips: pathlib.Path, threads: int) -> None:
    src = cst.open(trips, flat=True, threads=threads, batch_size=32).map(doubled)
    assert src.column_names == ["fare", "twice"]
    assert fares(src, "twice") == [float(i) for i in range(300)]
    assert src[5].to_pydict() == {"fare": [2.5], "twice": [5.0]}
    assert len(src) == 300 and len(fares(src[3:9])) == 6


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("condition", [is_dear, pc.field("fare") > 100])
def test_filter(trips: pathlib.Path, threads: int, condition: Any) -> None:
    src = cst.open(trips, flat=True, threads=threads, batch_size=32).filter(condition)
    assert fares(src) == [i / 2 for i in range(201, 300)]
    assert [b.num_rows for b in src] == [32, 32, 32, 3]
    assert src.num_rows == 99
    with pytest.raises(TypeError, match="no length"):
        len(src)
    with pytest.raises(
        cst.errors.UnsupportedError,
        match="a stage of the source drops or adds rows: they have no row numbers",
    ):
        src.take([1])


@pytest.mark.parametrize("threads", [1, 3])
def test_batches_end_by_their_bytes_after_a_filter_too(make_file: MakeFile, threads: int) -> None:
    path = make_file("t.tfrecord", [wire.example({"n": [i], "b": [b"x" * 980]}) for i in range(64)])
    src = cst.open(path, flat=True, batch_bytes=8000, threads=threads)
    assert [b.num_rows for b in src] == [8] * 8
    assert [b.num_rows for b in src.filter(lambda b: [True] * b.num_rows)] == [8] * 8
    kept = src.filter(lambda b: [n % 4 == 0 for n in b["n"].to_pylist()])
    assert [b.num_rows for b in kept] == [8] * 2
    assert fares(kept, "n") == list(range(0, 64, 4))


def test_filter_by_a_column_and_one_after_another(trips: pathlib.Path) -> None:
    def flagged(batch: pa.RecordBatch) -> pa.RecordBatch:
        return batch.append_column("dear", pc.greater(batch["fare"], 100))

    src = cst.open(trips, flat=True).map(flagged).filter("dear").map(doubled).select(["twice"])
    assert fares(src, "twice") == [float(i) for i in range(201, 300)]


def test_formats_and_outputs(trips: pathlib.Path, tmp_path: pathlib.Path) -> None:
    for name in ["t.parquet", "t.jsonl", "t.arrow"]:
        cst.write(cst.open(trips, flat=True).map(doubled).filter(is_dear), tmp_path / name)
        with cst.open(tmp_path / name).filter(pc.field("fare") < 101) as src:
            assert pa.table(src).to_pylist() == [{"fare": 100.5, "twice": 201.0}]


def test_datasets(trips: pathlib.Path) -> None:
    src = cst.open(trips, flat=True).map(doubled)
    ds = src.dataset(50, shuffle=True, seed=1)
    assert ds.shuffle == "global"
    values = [v for batch in ds.numpy() for v in batch["twice"].tolist()]
    assert sorted(values) == [float(i) for i in range(300)] != values
    kept = src.filter(is_dear).dataset(50, shuffle=True)
    assert kept.shuffle == "window"
    assert sorted(v for b in kept.numpy() for v in b["twice"].tolist()) == [
        float(i) for i in range(201, 300)
    ]


def test_pickles(trips: pathlib.Path) -> None:
    src = cst.open(trips, flat=True).map(doubled).filter(is_dear)
    assert pa.table(pickle.loads(pickle.dumps(src))) == pa.table(src)


def test_a_schema_of_ones_own(trips: pathlib.Path) -> None:
    calls = []

    def fn(batch: pa.RecordBatch) -> dict[str, list[int]]:
        calls.append(batch.num_rows)
        return {"n": [1] * batch.num_rows}

    src = cst.open(trips).map(fn, schema=pa.schema({"n": pa.int8()}))
    assert pa.schema(src.arrow_schema).types == [pa.int8()] and calls == []
    assert fares(src, "n") == [1] * 300 and calls == [300]


# what goes wrong


@pytest.mark.parametrize("threads", [1, 2])
def test_exceptions_come_out_as_they_are(trips: pathlib.Path, threads: int) -> None:
    class Oops(Exception):
        pass

    def fail(batch: pa.RecordBatch) -> pa.RecordBatch:
        if batch.num_rows and batch["fare"][0].as_py() == 50:
            raise Oops("here")
        return batch

    src = cst.open(trips, flat=True, batch_size=100, threads=threads).map(fail)
    with pytest.raises(Oops) as caught:
        list(iter(src))
    assert caught.value.__notes__ == [f"in the batch that begins with record 100 of {trips}"]
    assert isinstance(src.last_error, Oops)


def test_the_exception_of_the_first_batch_comes_out(trips: pathlib.Path) -> None:
    first_raises = threading.Event()

    def fail(batch: pa.RecordBatch) -> pa.RecordBatch:
        if batch.num_rows == 0:
            return batch
        fare = batch["fare"][0].as_py()
        if fare == 0:
            first_raises.set()
        else:
            first_raises.wait(5)
            time.sleep(0.05)  # fails last
        raise ValueError(fare)

    src = cst.open(trips, flat=True, batch_size=100, threads=3).map(fail)
    with pytest.raises(ValueError, match=r"^0\.0") as caught:
        list(iter(src))
    assert caught.value.args == (0.0,)


def test_functions_see_no_batch_without_rows_but_for_the_columns(trips: pathlib.Path) -> None:
    def first(batch: pa.RecordBatch) -> dict[str, list[float]]:
        return {"first": [batch["fare"][0].as_py()] * batch.num_rows}

    def is_last(batch: pa.RecordBatch) -> pa.Array:
        return pc.equal(batch["fare"], max(batch["fare"].to_pylist()))

    src = cst.open(trips, flat=True, batch_size=100).filter(pc.field("fare") >= 100)
    made = src.map(first, schema=pa.schema({"first": pa.float32()}))
    assert fares(made, "first") == [100.0] * 100
    assert fares(src.filter(is_last)) == [149.5]


def test_interrupts(trips: pathlib.Path) -> None:
    def interrupt(batch: pa.RecordBatch) -> pa.RecordBatch:
        if batch.num_rows:
            raise KeyboardInterrupt
        return batch

    with pytest.raises(KeyboardInterrupt):
        list(iter(cst.open(trips).map(interrupt)))


def test_functions_that_do_not_keep_their_word(trips: pathlib.Path) -> None:
    src = cst.open(trips, flat=True)
    with pytest.raises(cst.errors.ArgumentError, match="150 rows for 300"):
        list(iter(src.map(lambda b: b.slice(0, b.num_rows // 2))))
    assert len(fares(src.map(lambda b: b.slice(0, b.num_rows // 2), keeps_rows=False))) == 150
    with pytest.raises(cst.errors.SchemaError, match="'n: double' as column 0, but 'n: int64'"):
        list(iter(src.map(lambda b: {"n": [1.5] * b.num_rows} if b.num_rows else {"n": [1]})))
    with pytest.raises(cst.errors.SchemaError, match="gave none as column 1"):
        list(iter(src.map(lambda b: b.select(["company"]) if b.num_rows else b)))
    with pytest.raises(IndexError) as caught:
        list(iter(src.map(lambda b: {"first": [b["fare"][0]] * b.num_rows})))
    assert "without rows" in caught.value.__notes__[0] and "schema=" in caught.value.__notes__[0]
    with pytest.raises(TypeError):
        src.map(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        src.filter(3)  # type: ignore[arg-type]
    with pytest.raises(KeyError):
        list(iter(src.map(lambda b: {"x": b["no such column"]})))
    with pytest.raises(cst.errors.ArgumentError, match="one bool per row"):
        list(iter(src.filter(lambda b: [1] * b.num_rows)))
    with pytest.raises(cst.errors.ArgumentError, match="filter got bool for 300 rows"):
        list(iter(src.filter(lambda b: True)))


def test_what_looks_at_records_passes_stages_by(trips: pathlib.Path) -> None:
    src = cst.open(trips).filter(lambda b: [False] * b.num_rows)
    assert src.count()[0].records == 300
    assert not src.verify().faults
    assert pa.table(src).num_rows == 0


def test_several_threads_at_once(trips: pathlib.Path) -> None:
    src = cst.open(trips, flat=True, batch_size=16, threads=2).map(doubled)
    results: list[int] = []
    threads = [threading.Thread(target=lambda: results.append(len(fares(src)))) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == [300] * 4


def test_functions_are_let_go(trips: pathlib.Path) -> None:
    class Holder:
        source: cst.Source

        def fn(self, batch: pa.RecordBatch) -> pa.RecordBatch:
            return batch

    holder = Holder()
    holder.source = cst.open(trips).map(holder.fn)
    assert pa.table(holder.source).num_rows == 300
    alive = weakref.ref(holder)
    del holder
    gc.collect()
    assert alive() is None
