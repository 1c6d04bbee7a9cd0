"""The conformance suite: what holds for every format, tested for every one of them.

The formats and what each can hold are the table in formats.py.
"""

from __future__ import annotations

import atexit
import functools
import gc
import math
import multiprocessing
import multiprocessing.pool
import os
import pathlib
import pickle
import re
import struct
import threading
import time
from collections.abc import Iterator
from typing import Any

import columnstone as cst
import formats
import pyarrow as pa
import pytest
from formats import GRANULE, Format
from threads import library_threads

Plain = Any
ROWS = 45  # of a file; two of them make 13 batches of 7 rows, the last one of 6

has_plugin = formats.make_plugin()


def available(format: Format) -> Any:
    missing = format.name == "lines" and not has_plugin
    skip = pytest.mark.skip("there is no C compiler to build the plug-in")
    return pytest.param(format, id=format.id, marks=[skip] if missing else [])


def of_every(kept: list[Format]) -> Any:
    return pytest.mark.parametrize("format", [available(format) for format in kept])


VARIANTS = formats.variants()
every_variant = of_every(VARIANTS)
every_format = of_every(formats.PLAIN)
every_writer = of_every([f for f in formats.PLAIN if f.writes])
every_damage = of_every([f for f in VARIANTS if f.spoil is not None])


# ---- values ----


def exact(value: Plain) -> Plain:
    """Floats by their bits, so that == means the same value; NaN is NaN."""
    if isinstance(value, list | tuple):
        return [exact(v) for v in value]
    if isinstance(value, dict):
        return {k: exact(v) for k, v in value.items()}
    if isinstance(value, float):
        return "nan" if math.isnan(value) else struct.pack("<d", value)
    return value


def read(source: Any) -> pa.Table:
    """All batches of one pass; each is valid and has the columns of the source."""
    schema = pa.schema(source.arrow_schema)
    batches = [pa.record_batch(batch) for batch in source]
    for batch in batches:
        batch.validate(full=True)
        assert batch.schema.equals(schema)
    return pa.Table.from_batches(batches, schema)


def rows_of(table: pa.Table) -> list[Plain]:
    return [exact(row) for row in table.to_pylist()]


def check(found: pa.Table, wanted: pa.Table, types: pa.Schema | None = None) -> None:
    assert found.schema.names == wanted.schema.names
    assert found.schema.types == (wanted.schema if types is None else types).types
    assert found.num_rows == wanted.num_rows
    for name in wanted.schema.names:
        assert exact(found[name].to_pylist()) == exact(wanted[name].to_pylist()), name


@pytest.fixture
def files(tmp_path: pathlib.Path) -> Any:
    """files(format, table, ...): writes each table to a file."""

    def make(format: Format, *tables: pa.Table, rows: int = 10**6) -> list[pathlib.Path]:
        paths = [tmp_path / f"{i}.{format.ending}" for i in range(len(tables))]
        for path, table in zip(paths, tables, strict=True):
            format.write(table, path, rows)
        return paths

    return make


def two_files(format: Format, files: Any) -> list[pathlib.Path]:
    made: list[pathlib.Path] = files(
        format, format.table(0, ROWS), format.table(ROWS, 2 * ROWS), rows=20
    )
    return made


# ---- what is kept ----


@every_variant
def test_values_and_types(format: Format, files: Any) -> None:
    """Null, empty and extreme values of all columns."""
    table = format.table(0, 2 * ROWS)
    check(read(format.open(files(format, table))), table, format.read_types(format.names))


@every_format
def test_types_that_are_found(format: Format, files: Any) -> None:
    """Nothing is told but the format. Columns may come in another order."""
    table = format.table(0, 2 * ROWS)
    found = read(cst.open(format.opens(files(format, table)), format.format, **format.options))
    assert sorted(found.schema.names) == sorted(table.schema.names)
    for name in table.schema.names:
        told = {**format.becomes, **format.found}
        assert found.schema.field(name).type == told.get(name, table.schema.field(name).type)
        if name not in format.found:
            assert exact(found[name].to_pylist()) == exact(table[name].to_pylist())


@every_format
@pytest.mark.parametrize("kind", ["nulls", "empties", "one null", "one empty"])
def test_null_is_not_empty(format: Format, kind: str, files: Any) -> None:
    """Columns of nothing but nulls, of nothing but empty values, and with only one of them."""
    usual = format.table(0, 20)
    made = {}
    for name in format.names:
        column = usual[name].combine_chunks()
        special = empty_of(column.type) if "empt" in kind else None
        if name != "row" and (special is not None or kind.endswith(("nulls", "null"))):
            if not can_hold(format, name, special):
                continue
            count = 20 if kind in ("nulls", "empties") else 1
            column = pa.concat_arrays([pa.array([special] * count, column.type), column[count:]])
        made[name] = column
    if not made:
        pytest.skip("a column of this format has no nulls")
    table, names = pa.table(made), list(made)
    check(read(format.open(files(format, table), names)), table, format.read_types(names))


def empty_of(kind: pa.DataType) -> Plain:
    if pa.types.is_large_string(kind) or pa.types.is_string(kind):
        return ""
    if pa.types.is_large_binary(kind):
        return b""
    if pa.types.is_large_list(kind) or pa.types.is_list(kind) or pa.types.is_map(kind):
        return []
    return None


def can_hold(format: Format, name: str, value: Plain) -> bool:
    """Raw records and lines have no nulls; nor has the struct of feature lists."""
    if format.name == "sequence_example" and name == "##SEQUENCE##":
        return False
    return value is not None or format.row_type is not None


# ---- projection ----


@every_variant
def test_projection(format: Format, files: Any) -> None:
    """Some columns in another order."""
    table = format.table(0, 2 * ROWS)
    paths = files(format, table)
    for names in (format.names[::-1], format.names[-1:], format.names[1::2]):
        if names:
            found = read(format.open(paths, columns=names))
            check(found, table.select(names), format.read_types(names))


@every_variant
def test_projection_of_nothing(format: Format, files: Any) -> None:
    """The rows are still there."""
    source = format.open(two_files(format, files), columns=[], batch_size=7)
    assert pa.schema(source.arrow_schema).names == []
    batches = list(source)
    assert all(batch.num_columns == 0 for batch in batches)
    assert [batch.num_rows for batch in batches] == [7] * 12 + [6]


@every_format
def test_unknown_column(format: Format, files: Any) -> None:
    """The error names it and one that is nearly called so."""
    name = format.names[-1]
    paths = files(format, format.table(0, 5))
    for options in (format.type_options(format.names), {}):
        with pytest.raises(cst.errors.NotFoundError) as caught:
            _ = cst.open(
                format.opens(paths), format.format, columns=[name + "s"], **options
            ).arrow_schema
        assert caught.value.path == name + "s"
        text = str(caught.value).replace(f"'{name}s'", "")
        assert re.search(rf"(^|\W){name}(\W|$)", text)


# ---- batches ----


@every_variant
@pytest.mark.parametrize("threads", [1, 3])
def test_batch_sizes(format: Format, threads: int, files: Any) -> None:
    """All batches but the last have the size, across files, for every number of threads."""
    paths = two_files(format, files)
    wanted = rows_of(format.table(0, 2 * ROWS))
    for size in (1, 7, 1000):
        batches = list(format.open(paths, batch_size=size, threads=threads))
        assert [b.num_rows for b in batches] == [
            min(size, 2 * ROWS - at) for at in range(0, 2 * ROWS, size)
        ]
        table = pa.Table.from_batches([pa.record_batch(batch) for batch in batches])
        assert rows_of(table) == wanted


@every_variant
@pytest.mark.parametrize("threads", [1, 3])
def test_zero_rows(format: Format, threads: int, files: Any) -> None:
    """Alone there is no batch, but columns; between others it adds nothing."""
    empty = format.table(0, 0)
    alone = format.open(files(format, empty), threads=threads)
    assert list(alone) == []
    check(read(alone), empty, format.read_types(format.names))
    between = format.open(files(format, empty, format.table(0, 9), empty), threads=threads)
    check(read(between), format.table(0, 9), format.read_types(format.names))


def without_columns(rows: int) -> pa.RecordBatch:
    return pa.RecordBatch.from_struct_array(pa.array([{}] * rows, pa.struct([])))


@every_writer
def test_zero_columns(format: Format, tmp_path: pathlib.Path) -> None:
    """Rows without columns are kept, or refused, but not lost."""
    path = tmp_path / f"0.{format.ending}"
    batch = without_columns(9)
    if not format.columnless:
        with pytest.raises(cst.errors.UnsupportedError):
            cst.write(batch, path, format.name, **format.options)
        assert not path.exists()
        return
    cst.write(batch, path, format.name, **format.options)
    source = cst.open(path, format.name, batch_size=7, **format.options)
    assert [(b.num_rows, b.num_columns) for b in source] == [(7, 0), (2, 0)]


# ---- writing ----


def batch_of(table: pa.Table) -> pa.RecordBatch:
    return table.combine_chunks().to_batches()[0]


@every_writer
def test_slices_are_written(format: Format, tmp_path: pathlib.Path) -> None:
    """Batches that begin within their columns, and columns that begin within their buffers."""
    table = format.table(0, 2 * ROWS)
    whole = batch_of(table)
    columns = [pa.concat_arrays([c[:3], c]).slice(3) for c in whole.columns]
    shifted = pa.RecordBatch.from_arrays(columns, schema=whole.schema)
    batches = [whole.slice(0, 3), shifted.slice(3, 1), whole.slice(4, 0), shifted.slice(4)]
    path = tmp_path / f"0.{format.ending}"
    format.write_batches(batches, table.schema, path)
    check(read(format.open([path])), table, format.read_types(format.names))


def in_layout(kind: pa.DataType, views: bool) -> pa.DataType:
    """The same values with 32-bit offsets, or as views."""
    if pa.types.is_large_string(kind):
        return pa.string_view() if views else pa.string()
    if pa.types.is_large_binary(kind):
        return pa.binary_view() if views else pa.binary()
    if pa.types.is_large_list(kind):
        return pa.list_(in_layout(kind.value_type, views))
    if pa.types.is_struct(kind):
        return pa.struct([(f.name, in_layout(f.type, views)) for f in kind])
    return kind


@every_writer
@pytest.mark.parametrize("views", [False, True], ids=["32", "views"])
def test_other_layouts_are_written(format: Format, views: bool, tmp_path: pathlib.Path) -> None:
    table = format.table(0, 2 * ROWS)
    types = pa.schema([(f.name, in_layout(f.type, views)) for f in table.schema])
    if format.name == "lines":
        pytest.skip("the plug-in writes large strings only")
    path = tmp_path / f"0.{format.ending}"
    other = pa.Table.from_pylist(table.to_pylist(), types)
    format.write_batches([batch_of(other)], types, path)
    found = read(format.open([path]))
    assert rows_of(found) == rows_of(table)


@of_every([f for f in formats.PLAIN if f.outer])
def test_compressed_by_the_library(format: Format, tmp_path: pathlib.Path) -> None:
    table = format.table(0, 2 * ROWS)
    for codec, magic in (("gz", b"\x1f\x8b"), ("zst", b"\x28\xb5\x2f\xfd")):
        for threads in (1, 2):
            path = tmp_path / f"0.{format.ending}.{codec}"
            options = {"threads": threads, "overwrite": True, **format.options}
            assert cst.write(table, path, format.name, **options) == 2 * ROWS
            assert path.read_bytes().startswith(magic)
            check(read(format.open([path])), table, format.read_types(format.names))


@every_writer
def test_convert_copies(format: Format, files: Any, tmp_path: pathlib.Path) -> None:
    """A source of the format into a file of the format."""
    paths = two_files(format, files)
    copy = tmp_path / f"copy.{format.ending}"
    rows = cst.convert(
        format.open(paths, batch_size=7), copy, to=format.name, to_container=format.container
    )
    assert rows == 2 * ROWS
    wanted = format.table(0, 2 * ROWS)
    check(read(format.open([copy])), wanted, format.read_types(format.names))


# ---- passes ----


def resources() -> tuple[int, int]:
    """Open files of this process, and threads of Columnstone and of Python."""
    gc.collect()
    return len(os.listdir("/proc/self/fd")), library_threads() + threading.active_count()


def settles_at(wanted: tuple[int, int]) -> bool:
    """Whether there are as many as before, or fewer; a thread may take a moment to be gone."""
    for _ in range(200):
        now = resources()
        if now[0] <= wanted[0] and now[1] <= wanted[1]:
            return True
        time.sleep(0.02)
    return False


def stop_by_break(source: cst.Source) -> None:
    for _ in source:
        break


def stop_by_close(source: cst.Source) -> None:
    begun = iter(source)
    next(begun)
    begun.close()
    with pytest.raises(cst.errors.StateError):
        next(begun)


def stop_by_closing_the_source(source: cst.Source) -> None:
    begun = iter(source)
    next(begun)
    source.close()
    with pytest.raises(cst.errors.StateError):
        next(begun)


def stop_by_collection(source: cst.Source) -> None:
    cycle: list[Any] = [iter(source)]
    next(cycle[0])
    cycle.append(cycle)


def stop_of_a_stream(source: cst.Source) -> None:
    reader = pa.RecordBatchReader.from_stream(source)
    reader.read_next_batch()


STOPS = [
    stop_by_break,
    stop_by_close,
    stop_by_closing_the_source,
    stop_by_collection,
    stop_of_a_stream,
]


@pytest.fixture
def quick_collections() -> Iterator[None]:
    """gc.collect() looks only at what the test makes, not at all that libraries hold."""
    gc.freeze()
    yield
    gc.unfreeze()


@every_variant
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.usefixtures("quick_collections")
def test_early_stop(format: Format, threads: int, files: Any) -> None:
    """Every way to stop ends the threads and closes the files."""
    paths = two_files(format, files)
    read(format.open(paths, threads=threads))  # threads that libraries keep are there now
    before = resources()
    for stop in STOPS:
        stop(format.open(paths, batch_size=1, threads=threads))
        assert settles_at(before), stop.__name__


@every_variant
def test_passes_at_once(format: Format, files: Any) -> None:
    """Two iterators and a stream, in turn; then once more from the beginning."""
    source = format.open(two_files(format, files), batch_size=9, threads=2)
    wanted = rows_of(format.table(0, 2 * ROWS))
    passes = [iter(source), iter(source)]
    found: list[list[Plain]] = [[], []]
    for _ in range(2 * ROWS // 9):
        for begun, rows in zip(passes, found, strict=True):
            rows += rows_of(pa.Table.from_batches([pa.record_batch(next(begun))]))
    assert found == [wanted, wanted]
    for begun in passes:
        for _ in range(2):
            with pytest.raises(StopIteration):
                next(begun)
    assert rows_of(pa.table(source)) == wanted


# ---- other processes ----


@functools.cache
def other_process() -> multiprocessing.pool.Pool:
    pool = multiprocessing.get_context("spawn").Pool(1)
    atexit.register(pool.terminate)
    return pool


def rows_there(source: cst.Source) -> list[Plain]:
    return rows_of(read(source))


@every_variant
def test_pickling_and_a_second_process(format: Format, files: Any) -> None:
    source = format.open(two_files(format, files), columns=format.names[-1:], batch_size=7)
    if not format.pickles:
        with pytest.raises(TypeError, match="pickled"):
            pickle.dumps(source)
        return
    wanted = rows_of(format.table(0, 2 * ROWS, format.names[-1:]))
    again = pickle.loads(pickle.dumps(source))
    assert rows_of(read(again)) == wanted
    assert [b.num_rows for b in again] == [7] * 12 + [6]
    assert other_process().apply(rows_there, (source,)) == wanted


# ---- damage ----

BAD_ROW = 25  # of the second file, of 40 rows as the first one


def damaged(format: Format, files: Any) -> tuple[list[pathlib.Path], bytes, int]:
    """Two files, the second one damaged; how it was before, and where the bad row begins."""
    paths = files(format, format.simple(0, 40), format.simple(40, 80), rows=GRANULE)
    good = paths[1].read_bytes()
    return paths, good, format.spoiled(paths[1], BAD_ROW)


@every_damage
@pytest.mark.parametrize("threads", [1, 3])
def test_error_in_the_middle(format: Format, threads: int, files: Any) -> None:
    """The batches in front come, then the error with its place, again and again; the source is
    usable when the file is mended."""
    paths, good, at = damaged(format, files)
    source = format.open(paths, format.names[:1], batch_size=7, threads=threads)
    begun, found = iter(source), []
    with pytest.raises(format.error) as caught:
        for batch in begun:
            found.append(pa.record_batch(batch))
    first = BAD_ROW // format.granule * format.granule
    front = 40 + first
    assert [batch.num_rows for batch in found] == [7] * (front // 7)
    assert rows_of(pa.Table.from_batches(found)) == rows_of(format.simple(0, front // 7 * 7))
    with pytest.raises(format.error) as again:
        next(begun)
    assert str(again.value) == str(caught.value)
    assert source.last_error is not None and str(source.last_error) == str(caught.value)
    if isinstance(caught.value, cst.Error):
        assert caught.value.file == source.files[1]
        place = {"record": first, "offset": at}
        for field in format.place:
            assert getattr(caught.value, field) == place[field], field
    paths[1].write_bytes(good)
    check(read(source), format.simple(0, 80), format.read_types(format.names[:1]))


@every_damage
@pytest.mark.parametrize("threads", [1, 3])
def test_skipping(format: Format, threads: int, files: Any) -> None:
    """With on_error="skip" the sound rows come, and a report of the other one."""
    paths, _, at = damaged(format, files)
    if not format.skips:
        with pytest.raises(cst.errors.UnsupportedError, match="no records"):
            format.open(paths, format.names[:1], on_error="skip")
        return
    source = format.open(paths, format.names[:1], batch_size=7, threads=threads, on_error="skip")
    bad = 40 + BAD_ROW
    wanted = pa.concat_tables([format.simple(0, bad), format.simple(bad + 1, 80)])
    for _ in range(2):
        found = read(source)
        assert rows_of(found) == rows_of(wanted)
        (drop,) = source.dropped
        assert (drop.file, drop.record, drop.offset) == (str(paths[1]), BAD_ROW, at)
        assert isinstance(drop.error, format.error)
    assert [b.num_rows for b in source] == [7] * 11 + [2]
