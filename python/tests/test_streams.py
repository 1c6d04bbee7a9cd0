"""Tables, data frames and readers as sources."""

from __future__ import annotations

import gc
import pathlib
import pickle
import sys
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import columnstone as cst
import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import records

TABLE = pa.table({"a": list(range(10)), "b": [None if i % 3 == 0 else f"t{i}" for i in range(10)]})
VALUES = TABLE.to_pydict()

OBJECTS: dict[str, Callable[[], Any]] = {
    "pyarrow.Table": lambda: TABLE,
    "pyarrow.RecordBatch": lambda: TABLE.to_batches()[0],
    "polars": lambda: pl.DataFrame(TABLE),
    "pandas": lambda: pd.DataFrame(VALUES),
    "duckdb": lambda: duckdb.from_arrow(TABLE),
    "columnstone.RecordBatch": lambda: next(iter(cst.open(TABLE))),
    "columnstone.Source": lambda: cst.open(TABLE, batch_size=4),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_objects_are_read_again_and_again(name: str) -> None:
    source = cst.open(OBJECTS[name](), batch_size=4)
    for _ in range(3):
        assert [b.num_rows for b in source] == [4, 4, 2]
        assert pa.table(source).to_pydict() == VALUES
    assert source.column_names == ["a", "b"]
    assert source.num_rows == 10


@pytest.mark.parametrize(
    "make",
    [
        TABLE.to_reader,
        lambda: pa.RecordBatchReader.from_stream(cst.open(TABLE)),
        lambda: pa.RecordBatchReader.from_batches(TABLE.schema, iter(TABLE.to_batches())),
    ],
)
def test_readers_are_read_once(make: Callable[[], pa.RecordBatchReader]) -> None:
    source = cst.open(make())
    assert source.column_names == ["a", "b"]
    assert pa.table(source).to_pydict() == VALUES
    with pytest.raises(cst.errors.StateError):
        iter(source)
    with pytest.raises(cst.errors.StateError):
        source.__arrow_c_stream__()


def test_columns_are_picked_in_the_wanted_order() -> None:
    source = cst.open(TABLE, columns=["b", "a"])
    assert source.column_names == ["b", "a"]
    assert pa.table(source).to_pydict() == {"b": VALUES["b"], "a": VALUES["a"]}
    with pytest.raises(cst.errors.NotFoundError, match="a"):
        cst.open(TABLE, columns=["aa"])


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("batch_size", [1, 7, 1000])
def test_several_are_joined_and_cut(batch_size: int, threads: int) -> None:
    source = cst.open([TABLE, pl.DataFrame(TABLE).to_arrow().cast(TABLE.schema), TABLE[:0]])
    assert pa.table(source).to_pydict() == {k: v * 2 for k, v in VALUES.items()}
    source = cst.open([TABLE, TABLE], batch_size=batch_size, threads=threads)
    sizes = [b.num_rows for b in source]
    assert sum(sizes) == 20
    assert set(sizes[:-1]) <= {batch_size}


def test_tables_of_different_columns_are_refused() -> None:
    with pytest.raises(cst.errors.SchemaError):
        list(cst.open([TABLE, TABLE.select(["a"])]))


class Changing:
    """A table that is another one each time somebody changes it."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


KINDS = {
    "int64": pa.array([1, 2, None]),
    "int32": pa.array([1, 2, 3], pa.int32()),
    "float": pa.array([1.5, 2, 3], pa.float32()),
    "double": pa.array([1.5, None, 3]),
    "string": pa.array(["a", "b", None]),
    "large_string": pa.array(["a", "b", None], pa.large_string()),
    "string_view": pa.array(["a", None, "c"], pa.string_view()),
    "binary": pa.array([b"a", None, b"c"]),
    "bool": pa.array([True, None, False]),
    "dictionary": pa.array(["a", "b", "a"]).dictionary_encode(),
    "list": pa.array([[1], None, [2, 3]]),
    "list of doubles": pa.array([[1.5], None, [2, 3.0]]),
    "fixed_size_list": pa.array([[1, 2], None, [3, 4]], pa.list_(pa.int64(), 2)),
    "map": pa.array([[("a", 1)], None, []], pa.map_(pa.string(), pa.int64())),
    "struct": pa.array([{"a": 1}, None, {"a": 3}]),
    "another struct": pa.array([{"b": "x"}, None, {"b": "y"}]),
    "us": pa.array([1, 2, 3], pa.timestamp("us")),
    "ns": pa.array([1, 2, 3], pa.timestamp("ns")),
    "null": pa.nulls(3),
}


@pytest.mark.parametrize("before", KINDS)
def test_data_that_changes_after_open(before: str, tmp_path: pathlib.Path) -> None:
    table = pa.table({"c": KINDS[before]})
    file = tmp_path / "c.parquet"
    for after, values in KINDS.items():
        changed = pa.table({"c": values})
        pq.write_table(table, file)
        tables = Changing(table)
        opened = {"all": cst.open(tables), "c": cst.open(tables, columns=["c"])}
        if before != "null":  # which tensors do not know
            opened["dataset"] = cst.open(tables).dataset(2, as_batches=True)
        opened["file"] = cst.open(file)
        file.unlink()
        pq.write_table(changed, file)
        tables.table = changed
        for name, source in opened.items():
            if before == after or {before, after} == {"string", "dictionary"}:
                rows = [r for batch in source for r in pa.record_batch(batch)["c"].to_pylist()]
                assert rows == values.to_pylist(), (after, name)
            else:
                with pytest.raises(cst.errors.SchemaError, match="'c'"):
                    list(source)


@pytest.mark.parametrize("shuffle", [False, "window"])
@pytest.mark.parametrize("other", ["double", "string", "b", "order"])
def test_data_that_changes_between_epochs(other: str, shuffle: Any) -> None:
    before = pa.table({"a": KINDS["int64"], "b": KINDS["int64"]})
    after = before.select(["b", "a"]) if other == "order" else before.rename_columns(["b", "c"])
    if other in KINDS:
        after = before.set_column(0, "a", KINDS[other])
    tables = Changing(before)
    batches = iter(cst.open(tables).dataset(2, shuffle, epochs=2, as_batches=True))
    assert sum(next(batches).num_rows for _ in range(2)) == 3
    tables.table = after
    with pytest.raises(cst.errors.SchemaError):
        next(batches)


@pytest.mark.parametrize("columns", [None, ["a", "b"]])
def test_columns_that_change_after_open(columns: list[str] | None) -> None:
    tables = Changing(TABLE)
    source = cst.open(tables, columns=columns)
    tables.table = TABLE.select(["b", "a"])
    if columns is None:
        with pytest.raises(cst.errors.SchemaError, match="column 0 has another name"):
            list(source)
    else:
        assert pa.table(source).to_pydict() == VALUES
    tables.table = TABLE.append_column("c", TABLE["a"])
    if columns is None:
        with pytest.raises(cst.errors.SchemaError, match="3 columns, expected 2"):
            list(source)
    else:
        assert pa.table(source).to_pydict() == VALUES
    tables.table = TABLE.select(["a"])
    with pytest.raises(cst.errors.SchemaError):
        list(source)
    tables.table = TABLE
    assert pa.table(source).to_pydict() == VALUES
    with pytest.raises(cst.errors.SchemaError, match="nulls"):
        fields = [pa.field("a", pa.int64(), nullable=False), TABLE.schema.field("b")]
        tables.table = TABLE.cast(pa.schema(fields))
        list(source)


def test_wanted_columns_of_tables_that_differ_in_others() -> None:
    other = pa.table({"x": ["-"] * 10, "b": TABLE["b"], "a": TABLE["a"]})
    source = cst.open([TABLE, other], columns=["a", "b"])
    assert pa.table(source).to_pydict() == {k: v * 2 for k, v in VALUES.items()}


def test_zero_rows_and_zero_columns() -> None:
    assert pa.table(cst.open(TABLE[:0])).equals(TABLE[:0])
    assert sum(b.num_rows for b in cst.open(TABLE.select([]))) in (0, 10)


def test_tensors_of_a_table() -> None:
    table = pa.table({"id": pa.array([[1], [2]], pa.large_list(pa.int64()))})
    (tensors,) = cst.open(table, schema='feature { name: "id" type: INT }').tensors()
    assert tensors["id"].values.tolist() == [1, 2]


class Failing:
    """Exports a stream whose second batch fails."""

    def __init__(self, at: int) -> None:
        self.at = at

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        if self.at == 0:
            raise KeyError("mine")

        def batches() -> Iterator[pa.RecordBatch]:
            yield TABLE.to_batches()[0]
            raise ValueError("the accumulator failed in an earlier batch")

        return pa.RecordBatchReader.from_batches(TABLE.schema, batches()).__arrow_c_stream__()


def test_failures_of_the_object() -> None:
    with pytest.raises(KeyError, match="mine"):
        cst.open(Failing(0))
    source = cst.open(Failing(1), batch_size=10)
    running = iter(source)
    assert next(running).num_rows == 10
    with pytest.raises(cst.Error, match="the accumulator failed in an earlier batch"):
        next(running)
    assert "the accumulator failed in an earlier batch" in str(source.last_error)


@pytest.mark.parametrize(
    "wrong",
    [
        [TABLE, "file"],
        [TABLE, 1],
        {"a": 1},
        pa.chunked_array([[1, 2]]),
        pa.array([1, 2]),
    ],
)
def test_what_is_no_table(wrong: object) -> None:
    with pytest.raises(TypeError):
        cst.open(wrong)  # type: ignore[arg-type]


def test_memory_of_tables_is_not_pickled() -> None:
    with pytest.raises(TypeError, match="Arrow objects"):
        pickle.dumps(cst.open(TABLE))


def test_files_alone_have_lengths() -> None:
    source = cst.open(TABLE)
    assert source
    with pytest.raises(TypeError, match="num_rows"):
        len(source)
    with pytest.raises(cst.errors.UnsupportedError):
        source[0]


def test_the_object_lives_as_long_as_it_is_needed() -> None:
    frame = pd.DataFrame({"a": range(1000)})
    seen = weakref.ref(frame)
    source = cst.open(frame, batch_size=10)
    del frame
    gc.collect()
    assert seen() is not None
    running = iter(source)
    next(running)
    source.close()
    del source, running
    gc.collect()
    assert seen() is None


def test_a_cycle_through_the_object_is_collected() -> None:
    class Holder:
        source: cst.Source

        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return TABLE.__arrow_c_stream__()

    holder = Holder()
    holder.source = cst.open(holder)
    list(holder.source)
    seen = weakref.ref(holder)
    del holder
    gc.collect()
    assert seen() is None


def test_references() -> None:
    table = TABLE.slice(0)
    before = sys.getrefcount(table)
    for _ in range(10):
        source = cst.open([table, table], columns=["a"], batch_size=3)
        next(iter(source))
        list(source)
        del source
    gc.collect()
    assert sys.getrefcount(table) == before


def test_a_table_of_records_is_decoded() -> None:
    table = pa.table({"record": pa.array(records(5), pa.binary())})
    assert cst.decoder("example").decode(cst.open(table)).num_rows == 5


def test_a_pass_within_an_opening() -> None:
    """The object's own code may read with this library."""

    class Outer:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return pa.table(cst.open(TABLE, batch_size=3)).__arrow_c_stream__()

    source = cst.open([Outer(), Outer()], threads=2, batch_size=4)
    assert [b.num_rows for b in source] == [4] * 5


def test_an_iterator_of_tables() -> None:
    source = cst.open(table for table in (TABLE, TABLE))
    assert source.num_rows == 20
    assert [b.num_rows for b in source] == [20]


def test_offsets_that_lead_out_of_the_data() -> None:
    offsets = pa.array([0, 2**31 - 1, 3], pa.int64()).buffers()[1]
    items = pa.Array.from_buffers(pa.large_binary(), 2, [None, offsets, pa.py_buffer(b"abc")])
    rows = pa.array([0, 1], pa.int32()).buffers()[1]
    column = pa.Array.from_buffers(pa.list_(items.type), 1, [None, rows], children=[items])
    with pytest.raises(cst.errors.CorruptError, match="above the last one"):
        list(cst.open(pa.table({"a": column})))


@pytest.mark.parametrize("format", ["json", "csv", "example"])
@pytest.mark.parametrize("chunked", [False, True])
def test_rows_that_are_null_as_a_whole_are_refused(format: str, chunked: bool) -> None:
    """What lies below a null struct are not values."""
    rows = pa.array([{"a": 1}, None, {"a": 3}])
    given = pa.chunked_array([rows]) if chunked else rows
    with pytest.raises(cst.errors.UnsupportedError, match="the row is null as a whole") as refused:
        cst.encoder(format).encode(given)
    assert refused.value.record == 1
    with pytest.raises(cst.errors.UnsupportedError, match="the row is null as a whole"):
        list(cst.open(given))
    sliced = pa.chunked_array([rows[2:]]) if chunked else rows[2:]
    assert [batch.to_pydict() for batch in cst.open(sliced)] == [{"a": [3]}]
