"""Structured tensors as numpy, PyTorch, JAX and JSON, as Arrow tables, copied and pickled: what
comes back is what was there, and what cannot be said there (a null, a ragged dimension) is refused
with its path."""

from __future__ import annotations

import copy
import io
import json
import multiprocessing
import pickle
from itertools import pairwise
from random import Random
from typing import Any

import columnstone as cst
import nested_data as data
import nested_reference as ref
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

FULL = data.Shape(nulls=False)


def has_null(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(has_null, value.values()))
    return value is None or (isinstance(value, list) and any(map(has_null, value)))


def as_bytes(value: Any) -> Any:
    """With the strings as these frameworks have them."""
    if isinstance(value, list):
        return [as_bytes(v) for v in value]
    return value.encode() if isinstance(value, str) else value


def expected(tensor: ref.Tensor) -> Any:
    """A dict for structs, down to the fields, of which each is nested lists."""
    if not isinstance(tensor.element, ref.Struct):
        return as_bytes(tensor.value)
    return {name: expected(ref.project(tensor, (name,))) for name in tensor.element.fields}


def plain(made: Any) -> Any:
    """What a framework has as nested lists."""
    if isinstance(made, dict):
        return {name: plain(value) for name, value in made.items()}
    if isinstance(made, cst.tensor.RaggedTensor):
        rows = plain(made.values)
        for splits in reversed(made.row_splits):
            ends = plain(splits)
            rows = [rows[a:b] for a, b in pairwise(ends)]
        return rows
    if getattr(made, "is_nested", False):
        return [row.tolist() for row in made.unbind()]
    return made.tolist()


# --- numpy ------------------------------------------------------------------------------------

DTYPES = ["int8", "uint16", "int64", "float16", "float32", "float64", "bool"]


@data.cases(100)
@given(data.randoms())
def test_dense_tensors_are_numpy_arrays(r: Random) -> None:
    array, is_row, wanted = data.dense(r, np.dtype(r.choice(DTYPES)), r.randint(0, 3))
    ours = data.nested(array, is_row)
    made = ours.numpy()
    assert made.dtype == wanted.dtype
    if None in ours.shape:  # no lists to tell, a numpy array of no rows
        assert made.tolist() == np.asarray(ours.to_py()).tolist()
        return
    assert made.shape == wanted.shape == ours.shape
    assert (made == wanted).all()
    assert not made.flags.writeable
    assert np.asarray(ours, "float64").tolist() == wanted.astype("float64").tolist()
    assert np.array(ours, copy=True).flags.writeable
    assert np.asarray(ours, dtype=object).tolist() == wanted.tolist()
    assert np.from_dlpack(ours).tolist() == wanted.tolist()


def test_numbers_are_not_copied() -> None:
    torch, jax = pytest.importorskip("torch"), pytest.importorskip("jax")
    values = pa.array(range(48), pa.float32())  # aligned as JAX wants it
    address = values.buffers()[1].address
    lists = pa.FixedSizeListArray.from_arrays(values, 4)
    for array, at in [(lists, 0), (lists[4:], 16), (values[16:], 16)]:
        ours = data.nested(array)
        assert ours.numpy().ctypes.data == address + 4 * at
        assert np.asarray(ours, copy=False).ctypes.data == address + 4 * at
        assert torch.from_dlpack(ours).data_ptr() == address + 4 * at
        assert ours.to_torch().data_ptr() == address + 4 * at
        assert ours.to_tensor().numpy().ctypes.data == address + 4 * at
    assert data.nested(lists).to_jax().unsafe_buffer_pointer() == address
    assert jax.dlpack.from_dlpack(data.nested(lists)).unsafe_buffer_pointer() == address
    ragged = pa.LargeListArray.from_arrays(pa.array([0, 5, 5, 48]), values)
    made = data.nested(ragged).to_torch()
    assert made.values().data_ptr() == address
    with pytest.raises(ValueError, match="copy"):
        np.asarray(data.nested(pa.array([True])), copy=False)


def test_what_numpy_cannot_say_is_refused_or_objects() -> None:
    ragged = data.nested(pa.array([[1, 2], [], [3]]))
    with pytest.raises(
        cst.errors.ArgumentError, match=r"dimension 1 is ragged: 0 to 2 .*to_padded"
    ):
        ragged.numpy()
    with pytest.raises(BufferError, match="ragged"):
        ragged.__dlpack__()
    assert np.asarray(ragged, dtype=object).tolist() == [[1, 2], [], [3]]
    nulls = data.nested(pa.array([[1, None], [3, 4]]))
    with pytest.raises(cst.errors.ArgumentError, match=r"first at \[0, 1\].*fill_null"):
        nulls.numpy()
    made = np.asarray(nulls, dtype=object)
    assert made.shape == (2, 2)
    assert made.tolist() == [[1, None], [3, 4]]
    with pytest.raises(ValueError, match="copy"):
        np.asarray(nulls, dtype=object, copy=False)
    lists = data.nested(pa.array([[1], None, []]))
    with pytest.raises(
        cst.errors.ArgumentError, match=r"1 of 3 lists are null, the first at \[1\]"
    ):
        lists.numpy()
    assert np.asarray(lists, dtype=object).tolist() == [[1], None, []]
    null = data.nested(pa.array([None], pa.list_(pa.int64())), True)
    for refused in [null.numpy, null.to_torch]:
        with pytest.raises(cst.errors.ArgumentError, match=r"null, the first at the top"):
            refused()
    assert np.asarray(null, dtype=object)[()] is None


def test_strings_and_times_in_numpy() -> None:
    assert data.nested(pa.array([["a"], [None]])).numpy().tolist() == [["a"], [None]]
    times = pa.array(np.array(["2020-01-01", "2021-01-01"], "M8[us]"))
    assert data.nested(times).numpy().dtype == "M8[us]"
    with pytest.raises(
        cst.errors.UnsupportedError, match=r"field 't': values of type timestamp"
    ) as it:
        data.nested(pa.array([{"t": 1}], pa.struct([("t", pa.timestamp("us"))]))).to_torch()
    assert it.value.path == "t"


# --- tensors ----------------------------------------------------------------------------------


@data.cases(150)
@given(data.randoms())
def test_leaves_as_tensors(r: Random) -> None:
    made = data.tensor_of(r, r.choice(FULL.kinds), r.randint(0, 3), r.randrange(4) == 0)
    ours = made.ours()
    if made.array.type.equals(pa.bool_()) or "bool" in str(made.array.type):
        with pytest.raises(cst.Error):
            ours.to_tensor()
        return
    if has_null(made.tensor.value):
        with pytest.raises(cst.errors.ArgumentError, match="null"):
            ours.to_tensor()
        return
    tensor = ours.to_tensor()
    assert plain(tensor) == as_bytes(made.tensor.value)
    assert isinstance(tensor, cst.tensor.Tensor) == (None not in ours.shape)
    if isinstance(tensor, cst.tensor.RaggedTensor):
        assert tensor.values.shape[1:] == ours.shape[1 + len(tensor.row_splits) :]
    again = pickle.loads(pickle.dumps(tensor))
    assert plain(again) == plain(tensor)


def test_the_shape_of_a_tensor_has_to_fit() -> None:
    tensor = data.nested(pa.array([1.0, 2.0])).to_tensor()
    for bad in [(3,), (-1, -2), (2**62, 2**62)]:
        with pytest.raises(ValueError, match=r"shape|dimension"):
            tensor._reshape(bad)
    for bad in [2, (2.0,)]:
        with pytest.raises(TypeError):
            tensor._reshape(bad)
    assert tensor._reshape((1, 2, 1)).tolist() == [[[1.0], [2.0]]]


# --- padding ----------------------------------------------------------------------------------


def padded(value: Any, sizes: list[int], fill: Any) -> Any:
    if not sizes:
        return value
    rows = [padded(v, sizes[1:], fill) for v in (value or [])[: sizes[0]]]
    blank = padded_blank(sizes[1:], fill)
    return rows + [blank] * (sizes[0] - len(rows))


def padded_blank(sizes: list[int], fill: Any) -> Any:
    return fill if not sizes else [padded_blank(sizes[1:], fill)] * sizes[0]


FILLS = {"int": 7, "float": 0.5, "bool": True, "text": "-", "bytes": b"-"}


@data.cases(150)
@given(data.randoms())
def test_padding(r: Random) -> None:
    kind = r.choice(FULL.kinds)
    made = data.tensor_of(r, kind, r.randint(1, 3), nulls=False)
    ours, value, rank = made.ours(), made.tensor.value, made.tensor.rank
    shape = [r.choice([None, 0, 1, 2, 4]) for _ in range(rank)]
    sizes = []
    for dim, (size, own) in enumerate(zip(shape, ours.shape, strict=True)):
        longest = max(map(len, ref.flat(value, dim)), default=0) if dim > 0 else len(value)
        sizes.append(size if size is not None else own if own is not None else longest)
    fill = r.choice([None, FILLS[data.KINDS[kind]]])
    result = ours.to_padded(fill, shape)
    assert result.to_py() == padded(value, sizes, fill)
    assert result.shape == tuple(sizes)


def test_padding_keeps_what_is_null() -> None:
    ours = data.nested(pa.array([[1, None], [3]]))
    assert ours.to_padded().to_py() == [[1, None], [3, 0]]
    assert ours.to_padded(9, shape=(None, 1)).to_py() == [[1], [3]]
    structs = data.nested(pa.array([[{"a": 1}], [None, {"a": None}]]))
    assert structs.to_padded(None).to_py() == [[{"a": 1}, None], [None, {"a": None}]]
    assert data.nested(pa.array([["a"], []])).to_padded().to_py() == [["a"], [""]]
    assert data.nested(pa.array([[b"a"], []])).to_padded("é").to_py() == [[b"a"], ["é".encode()]]


@pytest.mark.parametrize(
    ("rows", "value", "shape", "kind", "message"),
    [
        ([[1], None], 0, None, cst.errors.ArgumentError, r"lists are null, the first at \[1\]"),
        ([[1], []], 0.5, None, cst.errors.ArgumentError, "do not fit"),
        ([["a"], []], 3, None, TypeError, "not int"),
        ([[{"a": 1}], []], 0, None, cst.errors.ArgumentError, "value=None"),
        ([[1], []], 0, (None,), cst.errors.ArgumentError, "1 dimensions, expected 2"),
        ([[1], []], 0, (None, -1), cst.errors.ArgumentError, "dimension 1 .* -1"),
        ([[1], []], 0, (2**40, 2**40), cst.errors.ArgumentError, "memory"),
    ],
)
def test_padding_refuses(
    rows: Any, value: Any, shape: Any, kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message):
        data.nested(pa.array(rows)).to_padded(value, shape)
    with pytest.raises(cst.errors.ArgumentError, match="scalar"):
        data.nested(pa.array([1]), True).to_padded()


# --- PyTorch and JAX --------------------------------------------------------------------------


def check_framework(r: Random, convert: Any) -> Any:
    """What one gives for a random tensor without nulls; None for one with some, after it was
    refused with the path."""
    made = data.random_tensor(r, data.Shape(nulls=r.randrange(4) == 0))
    if has_null(made.tensor.value):
        with pytest.raises(cst.errors.ArgumentError, match="null") as refused:
            convert(made.ours())
        structured = isinstance(made.tensor.element, ref.Struct)
        if structured and made.tensor.element.fields:
            assert refused.value.path is not None
        return None
    result = convert(made.ours())
    assert plain(result) == expected(made.tensor)
    return result


@data.cases(100)
@given(data.randoms())
def test_torch(r: Random) -> None:
    pytest.importorskip("torch")
    check_framework(r, lambda tensor: tensor.to_torch())


@data.cases(60)
@given(data.randoms())
def test_jax(r: Random) -> None:
    jax = pytest.importorskip("jax")
    result = check_framework(r, lambda tensor: tensor.to_jax())
    if isinstance(result, dict):
        assert plain(jax.tree.map(lambda part: part, result)) == plain(result)


def test_the_kinds_of_torch_tensors() -> None:
    torch = pytest.importorskip("torch")
    rows = [
        {"dense": [1.0, 2.0], "ragged": [1], "deep": [[1], []], "word": "a", "on": True},
        {"dense": [3.0, 4.0], "ragged": [], "deep": [], "word": "b", "on": False},
    ]
    made = data.nested(pa.array(rows)).to_torch()
    assert made["dense"].shape == (2, 2)
    assert made["ragged"].layout == torch.jagged
    assert isinstance(made["deep"], cst.tensor.RaggedTensor)
    assert isinstance(made["deep"].values, torch.Tensor)
    assert made["word"].tolist() == [b"a", b"b"]
    assert made["on"].dtype == torch.bool
    scalar = data.nested(pa.array(rows[:1]), True).to_torch()
    assert scalar["dense"].shape == (2,)
    assert scalar["on"].shape == ()
    half = data.nested(pa.array(np.array([1.5], np.float16)))
    assert half.to_torch().dtype == torch.float16
    assert half.to_jax().dtype == "float16"


def test_filling_first() -> None:
    pytest.importorskip("torch")
    numbers = data.nested(pa.array([[1, None], [3, 4]]))
    assert numbers.to_torch(fill=0).tolist() == [[1, 0], [3, 4]]
    assert numbers.to_jax(fill=7).tolist() == [[1, 7], [3, 4]]
    lists = data.nested(pa.array([[1, 2], None]))
    assert plain(lists.to_torch(fill=[])) == [[1, 2], []]
    assert lists.fill_null([]).to_padded().to_py() == [[1, 2], [0, 0]]


def test_null_structs_without_fields_are_refused() -> None:
    pytest.importorskip("torch")
    empty = pa.array([{}, None], pa.struct([]))
    with pytest.raises(cst.errors.ArgumentError, match=r"first at \[1\]"):
        data.nested(empty).to_torch()
    lists = pa.array([{"s": [{}]}, {"s": None}], pa.struct([("s", pa.list_(pa.struct([])))]))
    with pytest.raises(cst.errors.ArgumentError, match=r"field 's': 1 of 2 lists"):
        data.nested(lists).to_torch()


# --- JSON -------------------------------------------------------------------------------------


@data.cases(100)
@given(data.randoms())
def test_json(r: Random) -> None:
    made = data.random_tensor(r)
    if made.tensor.value is None and made.tensor.rank > 0:
        with pytest.raises(cst.errors.UnsupportedError, match="null"):
            made.ours().to_json()
        return
    text = made.ours().to_json()
    spelled = json.loads(
        json.dumps(made.tensor.value, default=lambda raw: {"bytes": raw.decode("latin-1")})
    )
    if "bytes" in json.dumps(spelled):
        assert text.count("\n") == (0 if made.tensor.rank == 0 else made.ours().nrows())
    elif made.tensor.rank == 0:
        assert json.loads(text) == spelled
    else:
        assert [json.loads(line) for line in text.splitlines()] == spelled


@data.cases(100)
@given(data.randoms())
def test_json_and_back(r: Random) -> None:
    """But for what JSON has no types for."""
    kinds = tuple(kind for kind in data.KINDS if kind != pa.binary())
    made = data.random_tensor(r, data.Shape(kinds=kinds))
    if made.tensor.value is None:
        return
    back = cst.struct.from_json(made.ours().to_json(lines=False))
    assert repr(back.to_py()) == repr(made.tensor.value)


def test_json_is_spelled_as_the_sink_spells_it(tmp_path: Any) -> None:
    rows = [{"b": b"\xff", "x": float("nan"), "t": 'a"\u2028\n'}, {"b": None, "x": 1e300, "t": "é"}]
    ours = data.nested(pa.array(rows))
    sink = cst.encoder("json").encode(pa.RecordBatch.from_pylist(rows))
    assert ours.to_json().encode() == sink
    path = tmp_path / "rows.json"
    assert ours.to_json(path) is None
    assert path.read_bytes() == sink
    file = io.BytesIO()
    ours.to_json(file)
    assert file.getvalue() == sink
    assert data.nested(pa.array([[1, None], None, []])).to_json() == "[1, null]\nnull\n[]\n"
    assert data.nested(pa.array([None, {"a": 1}])).to_json() == 'null\n{"a": 1}\n'
    assert data.nested(pa.array([[{"a": 1}]]), True).to_json() == '{"a": 1}\n'
    assert data.nested(pa.array([{"a": []}]), True).to_json() == '{"a": []}'
    assert data.nested(pa.array([{"d": 0}], pa.struct([("d", pa.date32())]))).to_json() == (
        '{"d": "1970-01-01"}\n'
    )
    with pytest.raises(cst.errors.UnsupportedError, match="interval"):
        interval = pa.month_day_nano_interval()
        data.nested(pa.array([{"d": (0, 0, 0)}], pa.struct([("d", interval)]))).to_json()


# --- Arrow, tables and data frames ------------------------------------------------------------


@data.cases(60)
@given(data.randoms())
def test_arrow_arrays_and_streams(r: Random) -> None:
    made = data.random_tensor(r)
    ours, value = made.ours(), made.tensor.value
    if value is None and made.tensor.rank > 0:
        for refused in [pa.array, pa.chunked_array]:
            with pytest.raises(cst.errors.UnsupportedError, match="null"):
                refused(ours)
        return
    rows = [value] if made.tensor.rank == 0 else value
    assert repr(data.nested(pa.array(ours)).to_py()) == repr(rows)
    chunks = pa.chunked_array(ours)
    assert chunks.num_chunks == 1
    chunks.validate(full=True)
    assert repr(data.nested(chunks.chunk(0)).to_py()) == repr(rows)


def test_tables_and_data_frames_take_them() -> None:
    duckdb, pl = pytest.importorskip("duckdb"), pytest.importorskip("polars")
    rows = [{"a": 1, "b": [{"c": "x"}, None]}, {"a": None, "b": None}]
    ours = data.nested(pa.array(rows))
    assert pa.table(ours).to_pylist() == rows
    assert pl.DataFrame(ours).to_dicts() == rows
    assert pl.Series(ours).to_list() == rows
    assert duckdb.sql("select a, b from ours").fetchall() == [(1, rows[0]["b"]), (None, None)]
    assert [batch.to_pydict() for batch in cst.open(ours)] == [
        pa.Table.from_pylist(rows).to_pydict()
    ]
    matrix = data.nested(pa.array([[{"a": 1}, {"a": 2}], []]))
    assert pl.Series(matrix).to_list() == [[{"a": 1}, {"a": 2}], []]
    for taken in [cst.record_batch, pa.table]:
        with pytest.raises((cst.Error, pa.ArrowInvalid), match="struct"):
            taken(matrix)
    with_null = data.nested(pa.array([{"a": 1}, None]))
    with pytest.raises(pa.ArrowInvalid, match="null"):
        pa.table(with_null)
    with pytest.raises(cst.errors.UnsupportedError, match="the row is null as a whole"):
        list(cst.open(with_null))


# --- copies -----------------------------------------------------------------------------------


@data.cases(100)
@given(data.randoms())
def test_pickles_and_copies(r: Random) -> None:
    made = data.random_tensor(r)
    ours = made.ours()
    buffers: list[pickle.PickleBuffer] = []
    outside = pickle.dumps(ours, 5, buffer_callback=buffers.append)
    for again in [
        pickle.loads(pickle.dumps(ours, 2)),
        pickle.loads(pickle.dumps(ours, 5)),
        pickle.loads(outside, buffers=buffers),
    ]:
        assert repr(again.to_py()) == repr(made.tensor.value)
        assert (type(again), again.shape) == (type(ours), ours.shape)
        assert again.arrow_type == ours.arrow_type
    assert copy.copy(ours) is ours
    assert copy.deepcopy({"a": ours})["a"] is ours


def test_a_pickle_has_the_rows_alone() -> None:
    column = pa.array(np.zeros(100_000))
    one = data.nested(pa.StructArray.from_arrays([column], ["a"])[7:9])
    assert len(pickle.dumps(one)) < 1000


def rows_of(tensor: Any) -> Any:
    return tensor.nrows(), tensor["a"]


def test_tensors_go_to_other_processes() -> None:
    ours = data.nested(pa.array([{"a": [1, 2]}, {"a": None}]))
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        count, field = pool.apply(rows_of, (ours,))
    assert count == 2
    assert field.to_py() == [[1, 2], None]


def test_structs_are_no_array() -> None:
    with pytest.raises(TypeError, match="choose a field"):
        np.asarray(cst.struct.constant([{"a": 1}]))
