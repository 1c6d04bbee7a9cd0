"""Tensors to record batches: what comes back is what was given, whatever library it is of."""

from __future__ import annotations

import array
import io
import pathlib
import pickle
from dataclasses import replace
from typing import Any

import columnstone as cst
import numpy as np
import pyarrow as pa
import pytest
import random_tensors
from columnstone.schema import TensorRepresentation
from conftest import SCHEMA
from hypothesis import given
from random_tensors import parts


def through_ipc(batch: pa.RecordBatch) -> pa.RecordBatch:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return pa.ipc.open_stream(sink.getvalue()).read_all().combine_chunks().to_batches()[0]


def buffers(batch: pa.RecordBatch) -> list[bytes | None]:
    """What the columns consist of, as it lies in memory."""
    array = batch.to_struct_array()
    return [None if b is None else b.to_pybytes() for b in array.buffers()]


# ---- there and back ----


@given(random_tensors.tensors())
def test_the_same_tensors_come_back(case: tuple[list[TensorRepresentation], Any]) -> None:
    representations, tensors = case
    encoder = cst.tensor.TensorEncoder(representations)
    batch = encoder.encode(tensors)
    assert batch.schema == encoder.arrow_schema
    adapter = cst.tensor.TensorAdapter(batch.schema, representations)
    back = adapter.convert(batch)
    assert parts(back) == parts(tensors)


@given(random_tensors.tensors())
def test_through_arrow(case: tuple[list[TensorRepresentation], Any]) -> None:
    representations, tensors = case
    batch = pa.record_batch(cst.tensor.TensorEncoder(representations).encode(tensors))
    batch.validate(full=True)
    adapter = cst.tensor.TensorAdapter(batch.schema, representations)
    assert parts(adapter.convert(batch)) == parts(tensors)
    if batch.num_rows > 0:
        assert parts(adapter.convert(through_ipc(batch))) == parts(tensors)


@given(random_tensors.tensors())
def test_our_own_tensors_make_the_same_batch_again(
    case: tuple[list[TensorRepresentation], Any],
) -> None:
    representations, tensors = case
    first = cst.tensor.TensorEncoder(representations).encode(tensors)
    ours = cst.tensor.TensorAdapter(first.schema, representations).convert(first)
    again = cst.tensor.TensorEncoder(representations).encode(ours)
    assert again.schema == first.schema
    assert buffers(pa.record_batch(again)) == buffers(pa.record_batch(first))


@given(random_tensors.tensors())
def test_tensors_say_by_themselves_how(case: tuple[list[TensorRepresentation], Any]) -> None:
    _, tensors = case
    encoder = cst.tensor.TensorEncoder.of(tensors)
    batch = encoder.encode(tensors)
    back = cst.tensor.TensorAdapter(batch.schema, encoder.representations).convert(batch)
    assert parts(back) == parts(tensors)


@given(random_tensors.tensors())
def test_pickled_encoders_make_the_same(case: tuple[list[TensorRepresentation], Any]) -> None:
    representations, tensors = case
    encoder = cst.tensor.TensorEncoder(representations)
    copy = pickle.loads(pickle.dumps(encoder))
    assert copy.representations == encoder.representations
    first = pa.record_batch(encoder.encode(tensors))
    assert buffers(pa.record_batch(copy.encode(tensors))) == buffers(first)


def test_from_a_file_and_into_one(file: pathlib.Path, tmp_path: pathlib.Path) -> None:
    source = cst.open(file, schema=SCHEMA, batch_size=30)
    encoder = cst.tensor.TensorEncoder(source.tensor_representations())
    copy = tmp_path / "copy.tfrecord"
    before = list(source.tensors())
    cst.write([encoder.encode(tensors) for tensors in before], copy)
    after = list(cst.open(copy, schema=SCHEMA, batch_size=30).tensors())
    assert [parts(t) for t in after] == [parts(t) for t in before]


# ---- what counts as a tensor ----


def encoded(**tensors: Any) -> dict[str, list[Any]]:
    """The columns of tensors that say by themselves how."""
    return cst.tensor.TensorEncoder.of(tensors).encode(tensors).to_pydict()


def test_numpy_arrays_of_any_layout() -> None:
    numbers = np.arange(12, dtype=np.int32).reshape(3, 4)
    assert encoded(x=numbers[:, ::2]) == {"x": [[0, 2], [4, 6], [8, 10]]}
    assert encoded(x=numbers.astype(">i4")[::-1, :1]) == {"x": [[8], [4], [0]]}
    assert encoded(x=np.asfortranarray(numbers)) == encoded(x=numbers)
    unaligned = np.frombuffer(b"." + numbers.tobytes(), np.int32, offset=1).reshape(3, 4)
    assert encoded(x=unaligned) == encoded(x=numbers)


def test_strings_of_any_kind() -> None:
    expected = {"x": [[b"a"], [b"\xc3\xa9"]]}
    assert encoded(x=["a", "é"]) == expected
    assert encoded(x=(b"a", bytearray("é".encode()))) == expected
    assert encoded(x=np.array(["a", "é"])) == expected
    assert encoded(x=np.array(["a", "é".encode()], dtype=object)) == expected
    assert encoded(x=np.array([b"a", "é".encode()])) == expected
    assert encoded(x=np.array([["a", "b"]], dtype=object)) == {"x": [[b"a", b"b"]]}
    assert encoded(x=[]) == {"x": []}


def test_buffers() -> None:
    assert encoded(x=array.array("d", [1.5, 2.5])) == {"x": [[1.5], [2.5]]}
    assert encoded(x=memoryview(b"\x01\x02")) == {"x": [[1], [2]]}


@pytest.mark.filterwarnings("ignore:.*(nested tensors|Sparse invariant)")
def test_pytorch() -> None:
    torch = pytest.importorskip("torch")
    grad = torch.tensor([[1.0, 2.0]], requires_grad=True)
    assert encoded(x=grad, y=torch.tensor([3])) == {"x": [[1.0, 2.0]], "y": [[3]]}
    coo = torch.sparse_coo_tensor([[1, 0], [2, 1]], [5, 6], (2, 4))
    assert encoded(x=coo) == {"x$values": [[6], [5]], "x$index0": [[1], [2]]}
    assert encoded(x=torch.sparse_coo_tensor([[2, 0]], [5, 6], (4,))) == {"x": [6, None, 5, None]}
    assert encoded(x=torch.tensor([True, False])) == {"x": [[True], [False]]}
    for layout in (torch.jagged, torch.strided):
        nested = torch.nested.nested_tensor(
            [torch.tensor([[1, 2]]), torch.tensor([[3, 4], [5, 6]])], layout=layout
        )
        assert encoded(x=nested) == {"x": [[1, 2], [3, 4, 5, 6]]}
    assert cst.tensor.TensorEncoder.of({"x": nested}).representations["x"].partitions == (
        cst.schema.UniformRowLength(2),
    )


@pytest.mark.filterwarnings("ignore:.*(nested tensors|Sparse invariant)")
def test_what_pytorch_has_and_columns_have_not() -> None:
    torch = pytest.importorskip("torch")
    hybrid = torch.sparse_coo_tensor([[0, 1]], [[1, 2], [3, 4]], (2, 2))
    twice = torch.sparse_coo_tensor([[0, 0], [1, 1]], [1, 2], (1, 3))
    square = torch.nested.nested_tensor([torch.ones(1, 2), torch.ones(2, 1)])
    for tensor, message in [
        (hybrid, "hybrid"),
        (twice, "same index"),
        (square, "more than their first dimension"),
        (torch.tensor([1.0], dtype=torch.float16), "float16"),
        (torch.tensor([1j]), "complex64"),
    ]:
        with pytest.raises(cst.errors.UnsupportedError, match=message):
            encoded(x=tensor)


def test_jax() -> None:
    jnp = pytest.importorskip("jax.numpy")
    assert encoded(x=jnp.array([[1, 2]], dtype=jnp.int32)) == {"x": [[1, 2]]}
    with pytest.raises(cst.errors.UnsupportedError, match="bfloat16"):
        encoded(x=jnp.array([1], dtype=jnp.bfloat16))


def test_structured() -> None:
    assert encoded(s={"a": np.array([1, 2]), "b": {"c": ["x", "y"]}}) == {
        "s": [{"a": [1], "b": {"c": [b"x"]}}, {"a": [2], "b": {"c": [b"y"]}}]
    }


@pytest.mark.parametrize(
    ("tensor", "message"),
    [
        (None, "NoneType, which is not a tensor"),
        ("text", "str, which is not a tensor"),
        (b"bytes", "bytes, which is not a tensor"),
        ([1, 2], "has int among its strings .make it a numpy array."),
        ([None], "has NoneType among its strings .use bytes or str."),
        (np.array([b"a", 1], dtype=object), "has int among"),
    ],
)
def test_what_is_no_tensor(tensor: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        encoded(x=tensor)


def test_arguments() -> None:
    with pytest.raises(TypeError, match="a dict by name, not list"):
        cst.tensor.TensorEncoder.of([np.array([1])])
    with pytest.raises(TypeError, match="name of a tensor must be a str, not int"):
        cst.tensor.TensorEncoder.of({1: np.array([1])})
    with pytest.raises(ValueError, match="NUL"):
        cst.tensor.TensorEncoder.of({"a\0b": np.array([1])})
    with pytest.raises(TypeError, match="a representation must be a TensorRepresentation, not str"):
        cst.tensor.TensorEncoder(["x"])
    with pytest.raises(cst.errors.ArgumentError, match="unknown kind of tensor 'thick'"):
        cst.tensor.TensorEncoder([TensorRepresentation("x", "thick", "int64")])
    with pytest.raises(cst.errors.ArgumentError, match="unknown type of values 'int65'"):
        cst.tensor.TensorEncoder([TensorRepresentation("x", "dense", "int65")])
    with pytest.raises(cst.errors.SchemaError, match="values of type none"):
        cst.tensor.TensorEncoder([TensorRepresentation("x", "dense", "none")])
    with pytest.raises(cst.errors.SchemaError, match="does not fit float32"):
        cst.tensor.TensorEncoder([TensorRepresentation("x", "dense", "float32", default=1e300)])


# ---- what the tensors ask for ----


def test_representations_of_tensors() -> None:
    def sparse(indices: Any, shape: Any) -> Any:
        return cst.tensor.SparseTensor(np.array(indices), np.ones(len(indices)), np.array(shape))

    tensors = {
        "dense": np.ones((2, 3), np.uint8),
        "gaps": sparse([[0, 1], [1, 0]], [2, 2]),
        "ragged": cst.tensor.RaggedTensor(np.ones((3, 2)), [np.array([0, 1, 3], np.int32)]),
        "varlen": sparse([[0, 0], [0, 1], [1, 0]], [2, 2]),
        "wide": sparse([[0, 0]], [2, 2]),
    }
    found = cst.tensor.TensorEncoder.of(tensors).representations
    assert {name: (r.kind, r.dtype, r.path, r.shape) for name, r in found.items()} == {
        "dense": ("dense", "int64", ("dense",), (3,)),
        "gaps": ("sparse", "float32", ("gaps$values",), (2,)),
        "ragged": ("ragged", "float32", ("ragged",), ()),
        "varlen": ("varlen_sparse", "float32", ("varlen",), ()),
        "wide": ("sparse", "float32", ("wide$values",), (2,)),
    }
    assert found["wide"].index_columns == ("wide$index0",)
    assert found["ragged"].row_splits_dtype == "int32"
    assert found["ragged"].partitions == (cst.schema.UniformRowLength(2),)


# ---- the first batch ----


def test_the_first_batch_decides_what_is_open() -> None:
    encoder = cst.tensor.TensorEncoder([TensorRepresentation("x", "dense", "int64")])
    assert str(encoder.arrow_schema) == str(
        cst.tensor.TensorEncoder.of({"x": np.array([1])}).arrow_schema
    )
    batch = encoder.encode({"x": np.array([1], np.uint8)})
    assert encoder.arrow_schema is batch.schema
    assert encoder.encode({"x": np.array([2, 3], np.uint8)}).to_pydict() == {"x": [[2], [3]]}
    with pytest.raises(
        cst.errors.SchemaError, match="int64, but those of the batches before are uint8"
    ):
        encoder.encode({"x": np.array([1])})


def test_a_schema_says_the_representations() -> None:
    text = """feature { name: "x" type: INT }
        tensor_representation_group { key: "g" value { tensor_representation {
          key: "t" value { dense_tensor { column_name: "x" } } } } }"""
    encoder = cst.tensor.TensorEncoder(cst.Schema.from_text(text), group="g")
    assert encoder.encode({"t": np.array([1, 2])}).to_pydict() == {"x": [[1], [2]]}
    assert repr(encoder) == "<columnstone.tensor.TensorEncoder of t>"


# ---- into a schema ----


@given(random_tensors.tensors())
def test_a_schema_of_representations(case: tuple[list[TensorRepresentation], Any]) -> None:
    """What a schema can say it says as it was; bools are INT features with a bool_domain there."""
    representations, _ = case
    try:
        schema = cst.Schema.from_text("").with_tensor_representations(representations, "g")
    except cst.errors.UnsupportedError:
        assert any(tensor.kind == "structured" for tensor in representations)
        return
    found = schema.tensor_representations("g")
    assert cst.Schema(schema.to_bytes()).tensor_representations("g") == found
    for tensor in representations:
        if tensor.kind != "structured":
            said = replace(tensor, dtype="int64") if tensor.dtype == "bool" else tensor
            assert random_tensors.alike(found[tensor.name], said)


@pytest.mark.parametrize(
    ("dtype", "default"), [("int64", -(2**63)), ("float32", 1.5), ("bytes", b"\xff\0")]
)
def test_defaults_into_a_schema(dtype: Any, default: Any) -> None:
    tensor = TensorRepresentation("t", "dense", dtype, ("x",), (2,), default=default)
    schema = cst.Schema.from_text("").with_tensor_representations({"t": tensor})
    assert schema.tensor_representations()["t"].default == default


def test_a_schema_keeps_what_it_had() -> None:
    schema = cst.Schema.from_text('feature { name: "y" type: FLOAT value_count { min: 3 } } 900: 1')
    more = schema.with_tensor_representations([TensorRepresentation("x", "dense", "bytes")])
    assert [feature.name for feature in more.features] == ["y", "x"]
    assert "900: 1" in more.to_text()
    assert "min: 3" in more.to_text()
    assert len(schema.features) == 1
    with pytest.raises(
        cst.errors.SchemaError, match="the column 'y' is FLOAT, not BYTES"
    ) as caught:
        schema.with_tensor_representations([TensorRepresentation("y", "dense", "bytes")])
    assert caught.value.path == "y"


# ---- refusals ----


def splits(*numbers: int) -> Any:
    return np.array(numbers, dtype=np.int64)


def sparse_of(indices: list[list[int]], shape: list[int]) -> Any:
    places = np.array(indices, dtype=np.int64).reshape(-1, len(shape))
    return cst.tensor.SparseTensor(places, np.ones(len(indices)), np.array(shape))


def ragged_of(count: int, *row_splits: Any) -> Any:
    return cst.tensor.RaggedTensor(np.ones(count), list(row_splits))


DENSE = TensorRepresentation("t", "dense", "float32", ("x",), (2,))
VARLEN = TensorRepresentation("t", "varlen_sparse", "float32", ("x",))
SPARSE = TensorRepresentation("t", "sparse", "float32", ("x",), (3,), ("i",))
RAGGED = TensorRepresentation("t", "ragged", "float32", ("x",))
LENGTHS = TensorRepresentation(
    "t",
    "ragged",
    "float32",
    ("x",),
    partitions=(cst.schema.UniformRowLength(2), cst.schema.RowLengths("n")),
)


@pytest.mark.parametrize(
    ("tensor", "value", "row", "message"),
    [
        (DENSE, np.ones(3), None, "values of 1 dimensions, expected rows and 1 more"),
        (DENSE, np.ones((3, 4)), None, "dim 0 of a row has the size 4, expected 2"),
        (DENSE, np.ones((3, 2), np.int64), None, "values of type int64, expected float32"),
        (DENSE, ["a"], None, "values of type bytes, expected float32"),
        (DENSE, ragged_of(0, splits(0)), None, "the tensor is ragged, its representation dense"),
        (VARLEN, np.ones(3), None, "the tensor is dense, its representation sparse"),
        (VARLEN, sparse_of([[0, 1]], [1, 2]), 0, "position 1, expected 0: .* no gaps"),
        (VARLEN, sparse_of([[2, 0], [2, 2]], [3, 3]), 2, "position 2, expected 1"),
        (VARLEN, sparse_of([[0, 0]], [1, 3]), None, "shape of 3 positions, .* longest row has 1"),
        (VARLEN, sparse_of([[1, 0], [0, 0]], [2, 1]), 1, "value 1 is in row 0, expected 1 to 1"),
        (VARLEN, sparse_of([[5, 0]], [2, 1]), 0, "value 0 is in row 5, expected 0 to 1"),
        (VARLEN, sparse_of([[0, 0, 0]], [1, 1, 1]), None, "indices of 3 numbers"),
        (VARLEN, sparse_of([], [-2, 0]), None, "a dense shape of -2 rows"),
        (SPARSE, sparse_of([[0, 1]], [1, 4]), None, "dim 1 of the dense shape has the size 4"),
        (SPARSE, sparse_of([[1, 3]], [2, 3]), 1, "index 3 of dim 1, expected 0 to 2"),
        (SPARSE, sparse_of([[1, -1]], [2, 3]), 1, "index -1 of dim 1"),
        (SPARSE, sparse_of([[1, 2], [1, 1]], [2, 3]), 1, "not in row-major order"),
        (RAGGED, ragged_of(3, splits(1, 3)), None, "splits of level 0 begin at 1, expected 0"),
        (RAGGED, ragged_of(3, splits(0, 2, 1, 3)), 1, "level 0 decrease from 2 to 1"),
        (RAGGED, ragged_of(3, splits(0, 2)), None, "end at 2, but there are 3 values"),
        (RAGGED, ragged_of(1, splits(0, 1), splits(0, 1, 1)), None, "end at 1, .* 2 lists"),
        (RAGGED, ragged_of(3, splits(0, 1, 3), splits(0, 2, 1, 3)), 1, "level 1 decrease"),
        (RAGGED, ragged_of(1, np.array([0.0, 1.0])), None, "row splits of type float64"),
        (RAGGED, ragged_of(0, splits()), None, "row splits of type int64, 1 dimensions and 0"),
        (RAGGED, ragged_of(0), None, "0 row splits, expected one for the rows and 0"),
        (
            RAGGED,
            cst.tensor.RaggedTensor(np.ones((1, 2)), [splits(0, 1)]),
            None,
            "values of 2 dimensions",
        ),
        (LENGTHS, ragged_of(1, splits(0, 1)), None, "1 row splits, .* and 2 for partitions"),
        (LENGTHS, ragged_of(1, splits(0, 0, 1), splits(0, 1), splits(0, 1)), 1, "a list of 1 in a"),
        (
            LENGTHS,
            ragged_of(0, splits(0, 1), splits(0, 1), splits(0, 2), splits(0, 0, 0)),
            None,
            "2 levels of lists above row lengths, but columns at the top have one",
        ),
    ],
)
def test_what_cannot_be_given_back(
    tensor: TensorRepresentation, value: Any, row: int | None, message: str
) -> None:
    with pytest.raises(cst.errors.SchemaError, match=message) as caught:
        cst.tensor.TensorEncoder([tensor]).encode({"t": value})
    assert (caught.value.path, caught.value.record) == ("t", row)


def test_an_unknown_size_only_bounds_the_indices() -> None:
    tensor = TensorRepresentation("t", "sparse", "float32", ("x",), (-1,), ("i",))
    batch = cst.tensor.TensorEncoder([tensor]).encode({"t": sparse_of([[0, 6]], [1, 7])})
    assert batch.to_pydict() == {"x": [[1.0]], "i": [[6]]}
    with pytest.raises(cst.errors.SchemaError, match="index 7 of dim 1, expected 0 to 6"):
        cst.tensor.TensorEncoder([tensor]).encode({"t": sparse_of([[0, 7]], [1, 7])})


def test_rows_are_those_of_all_tensors() -> None:
    tensors = {"a": np.ones(3), "b": {"c": ragged_of(1, splits(0, 1))}}
    with pytest.raises(
        cst.errors.SchemaError, match="1 rows, but the tensors before have 3"
    ) as caught:
        encoded(**tensors)
    assert caught.value.path == "b.c"


def test_one_tensor_for_each_representation() -> None:
    encoder = cst.tensor.TensorEncoder([DENSE])
    with pytest.raises(cst.errors.SchemaError, match="no tensor of this name was given") as caught:
        encoder.encode({})
    assert caught.value.path == "t"
    with pytest.raises(
        cst.errors.SchemaError, match="no representation is of this tensor"
    ) as caught:
        encoder.encode({"t": np.ones((1, 2)), "u": np.ones(1)})
    assert caught.value.path == "u"


@pytest.mark.parametrize(
    "other",
    [
        TensorRepresentation("u", "dense", "int64", ("x",)),
        TensorRepresentation("u", "sparse", "int64", ("y",), (2,), ("x",)),
        TensorRepresentation(
            "u", "ragged", "int64", ("y",), partitions=(cst.schema.RowLengths("x"),)
        ),
        TensorRepresentation("u", "ragged", "int64", ("x", "y")),
        TensorRepresentation(
            "u", "structured", fields=(TensorRepresentation("f", "dense", "int64", ("x",)),)
        ),
    ],
)
def test_a_column_is_of_one_tensor(other: TensorRepresentation) -> None:
    with pytest.raises(
        cst.errors.SchemaError, match="column 'x' belongs to another tensor"
    ) as caught:
        cst.tensor.TensorEncoder([DENSE, other])
    assert caught.value.path == ("u.f" if other.fields else "u")


def test_a_claim_of_many_rows_is_refused() -> None:
    with pytest.raises(cst.errors.LimitError, match="1099511627776 rows of 0 values"):
        cst.tensor.TensorEncoder([VARLEN]).encode({"t": sparse_of([], [2**40, 0])})
    with pytest.raises(cst.errors.LimitError):
        encoded(x=np.empty((2**40, 0)))


# ---- lists of structs ----


def in_struct(name: str, column: str, *lengths: str) -> TensorRepresentation:
    partitions = tuple(cst.schema.RowLengths(column) for column in lengths)
    return TensorRepresentation(name, "ragged", "float32", ("s", column), partitions=partitions)


def test_tensors_in_the_lists_of_one_struct() -> None:
    encoder = cst.tensor.TensorEncoder([in_struct("a", "x", "n"), in_struct("b", "y")])
    a = ragged_of(2, splits(0, 2, 2, 3), splits(0, 1, 2, 2), splits(0, 1, 2))
    batch = encoder.encode({"a": a, "b": ragged_of(3, splits(0, 2, 2, 3))})
    assert batch.to_pydict() == {
        "s": [
            [{"x": [1.0], "n": [1], "y": 1.0}, {"x": [1.0], "n": [1], "y": 1.0}],
            [],
            [{"x": [], "n": [], "y": 1.0}],
        ]
    }
    with pytest.raises(
        cst.errors.SchemaError, match="differ from those of another tensor"
    ) as caught:
        encoder.encode({"a": a, "b": ragged_of(3, splits(0, 1, 2, 3))})
    assert caught.value.path == "b"


def test_other_kinds_are_not_in_lists_of_structs() -> None:
    other = TensorRepresentation("b", "dense", "float32", ("s", "y"))
    a = ragged_of(0, splits(0, 1), splits(0, 1), splits(0, 0))
    with pytest.raises(
        cst.errors.SchemaError, match="struct 's' is in 1 levels of lists"
    ) as caught:
        cst.tensor.TensorEncoder([in_struct("a", "x", "n"), other]).encode(
            {"a": a, "b": np.ones(1)}
        )
    assert caught.value.path == "b"


def test_row_lengths_of_different_depths_are_not_in_one_struct() -> None:
    encoder = cst.tensor.TensorEncoder([in_struct("a", "x", "n"), in_struct("b", "y", "m")])
    a = ragged_of(0, splits(0, 1), splits(0, 1), splits(0, 0))
    b = ragged_of(0, splits(0, 1), splits(0, 0))
    with pytest.raises(cst.errors.SchemaError, match="have another depth"):
        encoder.encode({"a": a, "b": b})


# ---- what would be lost without a word ----


def test_nulls_and_masks_do_not_get_lost() -> None:
    polars = pytest.importorskip("polars")
    for value in (pa.array([1, None]), polars.Series([1, None]), pa.array(["a", None])):
        with pytest.raises(cst.errors.UnsupportedError, match="the tensor has 1 nulls") as caught:
            encoded(x=value)
        assert caught.value.path == "x"
    with pytest.raises(cst.errors.UnsupportedError, match="masked array"):
        encoded(x=np.ma.masked_array([1, 2], [False, True]))
    assert encoded(x=pa.array([1, 2]), y=pa.array(["a", "b"])) == {
        "x": [[1], [2]],
        "y": [[b"a"], [b"b"]],
    }
