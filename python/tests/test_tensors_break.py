"""What has to hold between tensors, record batches and tables, of data that hypothesis draws: there
and back, against pyarrow, numpy and plain Python; with threads and in long loops."""

from __future__ import annotations

import gc
import pickle
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import columnstone as cst
import numpy as np
import pyarrow as pa
import pytest
import random_tensors
from columnstone.schema import TensorRepresentation
from hypothesis import given
from hypothesis import strategies as st
from random_tensors import parts

# ---- sparse tensors ----


@st.composite
def coordinates(draw: Any) -> tuple[int, tuple[int, ...], list[tuple[int, ...]]]:
    """Rows, dims and indices in row-major order, the same ones several times."""
    rows = draw(st.integers(1, 4))
    dims = tuple(draw(st.lists(st.integers(1, 3), min_size=1, max_size=2)))
    cell = st.tuples(st.integers(0, rows - 1), *(st.integers(0, d - 1) for d in dims))
    return rows, dims, sorted(draw(st.lists(cell, max_size=12)))


@given(coordinates())
def test_several_values_of_an_index_keep_their_order(
    case: tuple[int, tuple[int, ...], list[tuple[int, ...]]],
) -> None:
    rows, dims, indices = case
    columns = tuple(f"i{k}" for k in range(len(dims)))
    spec = TensorRepresentation("t", "sparse", "int64", ("x",), dims, index_columns=columns)
    tensor = cst.tensor.SparseTensor(
        np.array(indices, dtype=np.int64).reshape(-1, len(dims) + 1),
        np.arange(len(indices)),
        np.array([rows, *dims]),
    )
    batch = cst.tensor.TensorEncoder([spec]).encode({"t": tensor})
    back = cst.tensor.TensorAdapter(batch.schema, [spec]).convert(batch)["t"]
    assert parts(back) == parts(tensor)


@given(random_tensors.tensors(), st.integers(0, 5), st.integers(0, 5))
def test_slices_of_encoded_tensors(
    case: tuple[list[TensorRepresentation], Any], begin: int, length: int
) -> None:
    """Tensors of a slice, encoded, make the rows of the slice again."""
    representations, tensors = case
    whole = cst.tensor.TensorEncoder(representations).encode(tensors)
    part = whole.slice(min(begin, whole.num_rows), length)
    adapter = cst.tensor.TensorAdapter(whole.schema, representations)
    made = adapter.convert(part)
    again = cst.tensor.TensorEncoder(representations).encode(made)
    assert again.to_pydict() == part.to_pydict() or has_nan(part.to_pydict())
    assert parts(adapter.convert(again)) == parts(made)


def has_nan(value: Any) -> bool:
    if isinstance(value, dict):
        return any(has_nan(item) for item in value.values())
    if isinstance(value, list):
        return any(has_nan(item) for item in value)
    return isinstance(value, float) and value != value


# ---- padding ----


@given(
    st.lists(st.lists(st.integers(-9, 9), max_size=6), max_size=6),
    st.one_of(st.none(), st.integers(0, 7)),
    st.sampled_from(["ragged", "varlen_sparse"]),
)
def test_padding(rows: list[list[int]], length: int | None, kind: Any) -> None:
    batch = pa.record_batch({"x": pa.array(rows, pa.list_(pa.int64()))})
    spec = TensorRepresentation("x", kind, "int64")
    pad = cst.tensor.Pad(-1, length, truncate=True)
    made = (
        cst.tensor.TensorAdapter(batch.schema, [spec], pad={"x": pad}).convert(batch)["x"].numpy()
    )
    width = max((len(row) for row in rows), default=0) if length is None else length
    expected = np.full((len(rows), width), -1)
    for i, row in enumerate(rows):
        expected[i, : len(row[:width])] = row[:width]
    assert made.dtype == expected.dtype and made.shape == expected.shape
    assert (made == expected).all()


@given(st.lists(st.lists(st.lists(st.text(max_size=3), max_size=3), max_size=3), max_size=4))
def test_padding_of_two_levels(rows: list[list[list[str]]]) -> None:
    batch = pa.record_batch({"x": pa.array(rows, pa.list_(pa.list_(pa.string())))})
    spec = TensorRepresentation("x", "ragged", "bytes")
    pad = cst.tensor.Pad(b"-", (2, None), truncate=True)
    made = (
        cst.tensor.TensorAdapter(batch.schema, [spec], pad={"x": pad}).convert(batch)["x"].numpy()
    )
    width = max((len(inner) for row in rows for inner in row), default=0)  # also of what is cut
    full = [[*row[:2], *([[]] * (2 - len(row[:2])))] for row in rows]
    expected = [
        [[*(s.encode() for s in inner), *([b"-"] * (width - len(inner)))] for inner in row]
        for row in full
    ]
    assert made.shape == (len(rows), 2, width)
    assert made.tolist() == expected


# ---- tables ----

scalars = {
    pa.int64(): st.integers(-3, 3),
    pa.string(): st.sampled_from(["", "a", "é", "a longer text than views hold"]),
    pa.float64(): st.sampled_from([0.5, -1.0, 2.0]),
    pa.bool_(): st.booleans(),
}


@st.composite
def columns(draw: Any, rows: int) -> pa.Array:
    """A column with nulls: flat or lists, in several layouts."""
    type_ = draw(st.sampled_from(list(scalars)))
    item = st.one_of(st.none(), scalars[type_])
    wrap = draw(st.sampled_from([None, pa.list_, pa.large_list, pa.list_view, "fixed", "struct"]))
    if wrap == "struct":
        values = st.one_of(st.none(), st.fixed_dictionaries({"f": item}))
        type_ = pa.struct([("f", type_)])
    elif wrap == "fixed":
        values = st.one_of(st.none(), st.lists(item, min_size=2, max_size=2))
        type_ = pa.list_(type_, 2)
    elif wrap is not None:
        values = st.one_of(st.none(), st.lists(item, max_size=3))
        type_ = wrap(type_)
    else:
        values = item
    before = draw(st.integers(0, 2))
    drawn = draw(st.lists(values, min_size=rows + before, max_size=rows + before))
    return pa.array(drawn, type_).slice(before)


@st.composite
def batches(draw: Any) -> pa.RecordBatch:
    rows = draw(st.integers(0, 6))
    count = draw(st.integers(0, 3))
    arrays = [draw(columns(rows)) for _ in range(count)]
    return pa.RecordBatch.from_arrays(arrays, names=[f"c.{i}" for i in range(count)])


def rows_of(batch: Any) -> list[Any]:
    made: list[Any] = pa.record_batch(batch).to_pylist()
    return made


@given(batches(), st.data())
def test_rows_against_plain_python(foreign: pa.RecordBatch, data: Any) -> None:
    batch = cst.record_batch(foreign)
    n = foreign.num_rows if foreign.num_columns > 0 else 0
    expected = foreign.to_pylist()[:n]
    rows = data.draw(st.lists(st.integers(0, n - 1), max_size=8) if n > 0 else st.just([]))
    mask = data.draw(st.lists(st.booleans(), min_size=n, max_size=n))
    cut = data.draw(st.integers(0, n))
    assert rows_of(batch.take(rows)) == [expected[row] for row in rows]
    assert rows_of(batch.take(np.array(rows, dtype=">i4"))) == [expected[row] for row in rows]
    kept = [row for row, keep in zip(expected, mask, strict=True) if keep]
    assert rows_of(batch.filter(mask)) == kept
    assert rows_of(batch.slice(cut)) == expected[cut:]
    assert rows_of(cst.concat([batch[:cut], batch[cut:]])) == expected
    assert pa.record_batch(batch.take(rows)).schema == foreign.schema
    pa.record_batch(batch.take([*rows, None])).validate(full=True)
    assert rows_of(pickle.loads(pickle.dumps(batch.slice(cut)))) == expected[cut:]


@given(batches(), batches())
def test_concatenation_against_pyarrow(a: pa.RecordBatch, b: pa.RecordBatch) -> None:
    tables = [pa.table(a), pa.table(b)]
    try:
        expected = pa.concat_tables(tables, promote_options="default").to_pylist()
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # types that differ: other rules
        return
    made = cst.concat([a, b])
    pa.record_batch(made).validate(full=True)
    if made.num_columns > 0:
        assert rows_of(made) == expected


@given(batches())
def test_groups_are_a_partition(foreign: pa.RecordBatch) -> None:
    flat = [n for n in foreign.schema.names if not pa.types.is_nested(foreign[n].type)]
    batch = cst.record_batch(foreign)
    expected: dict[Any, list[int]] = {}
    keys = [tuple(row[n] for n in flat) for row in foreign.to_pylist()]
    for i, key in enumerate(keys[: foreign.num_rows]):
        expected.setdefault(key, []).append(i)
    if foreign.num_columns == 0:
        return
    groups = batch.group_by([(n,) for n in flat])
    found = {
        tuple(groups.key(i).values()): groups.rows_of(i).to_pylist() for i in range(len(groups))
    }
    assert found == expected
    assert list(found) == list(expected)


# ---- threads, pickles, memory ----


def test_eight_threads_share_everything() -> None:
    rows = [[i % 7] * (i % 5) for i in range(500)]
    foreign = pa.record_batch({"x": pa.array(rows), "k": pa.array([i % 3 for i in range(500)])})
    batch = cst.record_batch(foreign)
    spec = TensorRepresentation("x", "ragged", "int64")
    adapter = cst.tensor.TensorAdapter(foreign.schema, [spec])
    encoder = cst.tensor.TensorEncoder([spec])
    expected = parts(adapter.convert(batch))

    def work(seed: int) -> bool:
        for i in range(20):
            tensors = adapter.convert(batch if (seed + i) % 2 else foreign)
            again = encoder.encode(tensors)
            groups = batch.group_by("k")
            taken = batch.take(groups.rows_of(seed % 3))
            if (
                parts(tensors) != expected
                or again["x"].to_pylist() != rows
                or set(taken["k"].to_pylist()) != {seed % 3}
                or cst.concat([batch, taken]).num_rows != 500 + len(taken)
                or len(pickle.loads(pickle.dumps(taken))) != len(taken)
            ):
                return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))


@pytest.mark.parametrize("what", ["convert", "encode", "take", "group", "import", "refuse"])
def test_long_loops_keep_no_memory(what: str) -> None:
    foreign = pa.record_batch({"x": pa.array([[1, 2], [3]]), "d": pa.array([1, 2])})
    batch = cst.record_batch(foreign)
    ragged = TensorRepresentation("x", "ragged", "int64")
    dense = TensorRepresentation("x", "dense", "int64", shape=(2,))
    adapter = cst.tensor.TensorAdapter(foreign.schema, [ragged])
    wrong = cst.tensor.TensorAdapter(foreign.schema, [dense])
    encoder = cst.tensor.TensorEncoder([ragged])
    tensors = adapter.convert(batch)

    def once() -> None:
        if what == "convert":
            np.asarray(adapter.convert(foreign)["x"].values)
        elif what == "encode":
            encoder.encode(tensors)
        elif what == "take":
            batch.take([1, None, 0]).column("x").flatten()
        elif what == "group":
            list(batch.group_by("d"))
        elif what == "import":
            cst.record_batch({"x": cst.array(foreign["x"]), "y": np.arange(2)})
        else:
            with pytest.raises(cst.errors.SchemaError):
                wrong.convert(foreign)

    for _ in range(200):
        once()
    gc.collect()
    native = pa.total_allocated_bytes()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(2000):
        once()
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 100_000
    assert pa.total_allocated_bytes() - native < 10_000
