"""Ragged, varlen and sparse tensors made dense: pad= of TensorAdapter and of tensors()."""

from __future__ import annotations

from typing import Any

import columnstone as cst
import numpy as np
import pyarrow as pa
import pytest
from columnstone._core import RecordBatch
from conftest import SCHEMA, MakeFile
from hypothesis import given
from hypothesis import strategies as st

DEEP = pa.large_list(pa.large_list(pa.int64()))


def adapter(
    type_: pa.DataType, kind: Any, pad: Any, dtype: Any = "int64"
) -> cst.tensor.TensorAdapter:
    tensor = cst.schema.TensorRepresentation("x", kind, dtype)
    return cst.tensor.TensorAdapter(pa.schema([("x", type_)]), [tensor], pad={"x": pad})


def padded(rows: list[Any], type_: pa.DataType, kind: Any, pad: Any, dtype: Any = "int64") -> Any:
    batch = pa.record_batch([pa.array(rows, type_)], names=["x"])
    return adapter(type_, kind, pad, dtype).convert(batch)["x"]


def test_passes_take_it(make_file: MakeFile) -> None:
    source = cst.open(make_file("x.tfrecord", 100), schema=SCHEMA, batch_size=40)
    plain = [tensors["tags"] for tensors in source.tensors()]
    dense = [tensors["tags"] for tensors in source.tensors(pad={"tags": (b"", 4)})]
    for sparse, tensor in zip(plain, dense, strict=True):
        assert tensor.shape == (sparse.shape[0], 4)
        expected = np.full(tensor.shape, b"", object)
        for (row, at), value in zip(sparse.indices.tolist(), sparse.values.tolist(), strict=True):
            expected[row, at] = value
        assert (tensor.numpy() == expected).all()
    with pytest.raises(cst.errors.NotFoundError):
        source.tensors(pad={"none": (0, 1)})
    with pytest.raises(cst.errors.ArgumentError, match="dense"):
        source.tensors(pad={"id": (0, 1)})


def test_a_longer_row_names_its_record(make_file: MakeFile) -> None:
    source = cst.open(make_file("x.tfrecord", 100), schema=SCHEMA, batch_size=40)
    longest = [len(row) for batch in source for row in batch["tags"].to_pylist() if row is not None]
    assert max(longest) > 1
    with pytest.raises(cst.errors.SchemaError) as caught:
        list(source.tensors(pad={"tags": (b"", 1)}))
    assert caught.value.path == "tags"
    assert caught.value.file is not None and caught.value.file.endswith("x.tfrecord")
    assert caught.value.record is not None
    cut = list(source.tensors(pad={"tags": cst.tensor.Pad(b"", 1, truncate=True)}))
    assert {tensors["tags"].shape[1] for tensors in cut} == {1}


ROWS = st.lists(
    st.none() | st.lists(st.lists(st.integers(-9, 9), max_size=4), max_size=4), max_size=12
)


LENGTHS = (
    st.none() | st.integers(0, 5) | st.lists(st.integers(1, 6), min_size=1, unique=True).map(sorted)
)


def length_of(length: int | list[int] | None, longest: int) -> int:
    if isinstance(length, list):
        return next((size for size in length if size >= longest), length[-1])
    return longest if length is None else length


def reference(rows: list[Any], value: int, lengths: tuple[Any, ...]) -> np.ndarray:
    """The same, value by value."""
    lists = [row or [] for row in rows]
    outer = length_of(lengths[0], max(map(len, lists), default=0))
    inner = length_of(lengths[1], max((len(v) for row in lists for v in row), default=0))
    out = np.full((len(lists), outer, inner), value, np.int64)
    for i, row in enumerate(lists):
        for j, values in enumerate(row[:outer]):
            for k, number in enumerate(values[:inner]):
                out[i, j, k] = number
    return out


@given(ROWS, LENGTHS, LENGTHS, st.integers(-99, 99))
def test_two_levels(rows: list[Any], outer: Any, inner: Any, value: int) -> None:
    pad = cst.tensor.Pad(value, (outer, inner), truncate=True)
    found = padded(rows, DEEP, "ragged", pad)
    expected = reference(rows, value, (outer, inner))
    assert found.shape == expected.shape
    assert (found.numpy() == expected).all()


@given(ROWS, st.integers(0, 5), st.integers(0, 5))
def test_longer_rows(rows: list[Any], outer: int, inner: int) -> None:
    lists = [row or [] for row in rows]
    bad = [
        i
        for i, row in enumerate(lists)
        if len(row) > outer or any(len(values) > inner for values in row)
    ]
    if not bad:
        found = padded(rows, DEEP, "ragged", (7, (outer, inner)))
        assert (found.numpy() == reference(rows, 7, (outer, inner))).all()
        return
    with pytest.raises(cst.errors.SchemaError) as caught:
        padded(rows, DEEP, "ragged", (7, (outer, inner)))
    assert caught.value.record in bad


@given(st.lists(st.none() | st.dictionaries(st.integers(0, 6), st.integers(-9, 9)), max_size=10))
def test_sparse_columns(rows: list[dict[int, int] | None]) -> None:
    longest = max((max(row) + 1 for row in rows if row), default=0)
    size = next(size for size in (2, 3, 7) if size >= longest)
    kinds = [pa.large_list(pa.int64())] * 2
    columns = [
        pa.array([None if row is None else list(row.values()) for row in rows], kinds[0]),
        pa.array([None if row is None else list(row) for row in rows], kinds[1]),
    ]
    batch = pa.record_batch(columns, names=["x", "i"])
    tensor = cst.schema.TensorRepresentation(
        "t", "sparse", "int64", ("x",), shape=(-1,), index_columns=("i",)
    )
    found = cst.tensor.TensorAdapter(batch.schema, [tensor], pad={"t": (-1, 7)}).convert(batch)["t"]
    expected = np.full((len(rows), 7), -1)
    for i, row in enumerate(rows):
        for at, value in (row or {}).items():
            expected[i, at] = value
    assert (found.numpy() == expected).all()
    sizes = {"t": (-1, [2, 3, 7])}
    found = cst.tensor.TensorAdapter(batch.schema, [tensor], pad=sizes).convert(batch)["t"]
    assert found.shape == (len(rows), size) and (found.numpy() == expected[:, :size]).all()


def test_values_of_every_type() -> None:
    rows = [[1], None, [2, 3]]
    for type_ in (pa.int8(), pa.uint16(), pa.int32(), pa.uint64()):
        found = padded(rows, pa.list_(type_), "varlen_sparse", (100, 2))
        assert found.tolist() == [[1, 100], [100, 100], [2, 3]]
        assert found.dtype == str(type_)
    for type_ in (pa.float32(), pa.float64()):
        found = padded(rows, pa.list_(type_), "ragged", (0.5, None), "float32")
        assert found.tolist() == [[1, 0.5], [0.5, 0.5], [2, 3]]
    nan = padded(rows, pa.list_(pa.float32()), "ragged", (float("nan"), 2), "float32").numpy()
    assert np.isnan(nan[1]).all()
    found = padded([["a"], ["b", "c"]], pa.list_(pa.string()), "ragged", (b"<pad>", 2), "bytes")
    assert found.tolist() == [[b"a", b"<pad>"], [b"b", b"c"]]
    assert pa.array(found).to_pylist() == [b"a", b"<pad>", b"b", b"c"]


@pytest.mark.parametrize(
    ("pad", "error"),
    [
        (0, TypeError),
        ((0,), TypeError),
        ((0, 1, 2), TypeError),
        ((0, "1"), TypeError),
        ((0, True), TypeError),
        ((b"", 1), TypeError),
        ((0.5, 1), TypeError),
        ((True, 1), TypeError),
        ((0, -1), cst.errors.ArgumentError),
        ((0, (1, 2)), cst.errors.ArgumentError),
        ((1 << 63, 1), cst.errors.ArgumentError),
        ((1 << 40, 1), cst.errors.ArgumentError),
        ((0, []), cst.errors.ArgumentError),
        ((0, [0, 4]), cst.errors.ArgumentError),
        ((0, [8, 4]), cst.errors.ArgumentError),
        ((0, [4, -8]), cst.errors.ArgumentError),
        ((0, [4, None]), TypeError),
        ((0, ([4, 8], 2)), cst.errors.ArgumentError),
    ],
)
def test_wrong_pads(pad: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        adapter(pa.list_(pa.int32()), "varlen_sparse", pad)


def test_blocks_have_a_limit() -> None:
    with pytest.raises(cst.errors.LimitError):
        padded([[1], [2]], pa.list_(pa.int64()), "ragged", (0, 1 << 40))


def test_native_batches(make_file: MakeFile) -> None:
    source = cst.open(make_file("x.tfrecord", 10), schema=SCHEMA)
    batch: RecordBatch = next(iter(source))
    made = cst.tensor.TensorAdapter(
        batch, source.tensor_representations(), pad={"tags": (b"", None)}
    )
    (expected,) = source.tensors(pad={"tags": (b"", None)})
    assert made.convert(batch)["tags"].tolist() == expected["tags"].tolist()
