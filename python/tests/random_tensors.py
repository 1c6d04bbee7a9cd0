"""Tensors of every kind with the representations that they need, drawn by hypothesis; and what two
tensors have to have in common to be the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import columnstone as cst
import numpy as np
from columnstone.schema import TensorRepresentation
from hypothesis import strategies as st

NUMBERS = [
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float32",
    "float64",
    "bool",
]
Made = tuple[TensorRepresentation, Any]
Draw = Any


# ---- what is the same ----


def parts(tensor: Any) -> Any:
    """All of a tensor as plain values: floats by their bits."""
    if isinstance(tensor, Mapping):
        return {name: parts(field) for name, field in tensor.items()}
    if isinstance(tensor, cst.tensor.SparseTensor):
        return ("sparse", *(parts(p) for p in (tensor.indices, tensor.values, tensor.dense_shape)))
    if isinstance(tensor, cst.tensor.RaggedTensor):
        return ("ragged", parts(tensor.values), [parts(s) for s in tensor.row_splits])
    array = np.asarray(tensor)
    if array.dtype.kind == "O":
        return ("bytes", array.shape, array.ravel().tolist())
    return (array.dtype.name, array.shape, array.tobytes())


# ---- values ----


def family(dtype: str) -> str:
    return dtype if dtype in ("bytes", "bool") else "float32" if dtype[0] == "f" else "int64"


def values(draw: Draw, dtype: str, *shape: int) -> Any:
    """Any bits at all: NaNs with a payload, both zeros, the smallest and the largest."""
    count = int(np.prod(shape, dtype=np.int64))
    source = np.random.default_rng(draw(st.integers(0, 2**32)))
    if dtype == "bytes":
        texts = [source.bytes(int(n)) for n in source.integers(0, 20, count)]
        flat = np.empty(count, dtype=object)
        flat[:] = texts
        return flat.reshape(shape)
    if dtype == "bool":
        return source.integers(0, 2, count).astype(bool).reshape(shape)
    array = np.frombuffer(source.bytes(count * np.dtype(dtype).itemsize), dtype=dtype)
    special = [np.nan, -0.0, np.inf, 1.5] if dtype[0] == "f" else [0, 1, 2, 100]
    if count > 0 and draw(st.booleans()):
        array = array.copy()
        array[source.integers(0, count)] = draw(st.sampled_from(special))
    return array.reshape(shape)


dtypes = st.sampled_from([*NUMBERS, "bytes"])


# ---- kinds ----


def splits(draw: Draw, count: int, most: int = 3, dtype: Any = np.int64) -> Any:
    lengths = draw(st.lists(st.integers(0, most), min_size=count, max_size=count))
    return np.concatenate([[0], np.cumsum(lengths)]).astype(dtype)


def dense(draw: Draw, name: str, rows: int) -> Made:
    dtype = draw(dtypes)
    shape = tuple(draw(st.lists(st.integers(0, 3), max_size=3)))
    tensor = TensorRepresentation(name, "dense", family(dtype), (name,), shape)
    return tensor, values(draw, dtype, rows, *shape)


def varlen(draw: Draw, name: str, rows: int) -> Made:
    dtype = draw(dtypes)
    s = splits(draw, rows)
    lengths = np.diff(s)
    indices = [(row, i) for row in range(rows) for i in range(lengths[row])]
    tensor = TensorRepresentation(name, "varlen_sparse", family(dtype), (name,))
    return tensor, cst.tensor.SparseTensor(
        np.array(indices, dtype=np.int64).reshape(-1, 2),
        values(draw, dtype, len(indices)),
        np.array([rows, max(lengths, default=0)], dtype=np.int64),
    )


def sparse(draw: Draw, name: str, rows: int) -> Made:
    dtype = draw(dtypes)
    dims = draw(st.lists(st.integers(1, 5), max_size=3))  # none: of rank 1
    cells = draw(
        st.sets(st.tuples(st.integers(0, max(rows - 1, 0)), *(st.integers(0, d - 1) for d in dims)))
    )
    indices = sorted(cells) if rows > 0 else []
    unknown = draw(st.lists(st.booleans(), min_size=len(dims), max_size=len(dims)))
    shape = tuple(-1 if u else d for u, d in zip(unknown, dims, strict=True))
    longest = [max((at[k + 1] for at in indices), default=-1) + 1 for k in range(len(dims))]
    found = [n if u else d for u, d, n in zip(unknown, dims, longest, strict=True)]
    tensor = TensorRepresentation(
        name,
        "sparse",
        family(dtype),
        (name,),
        shape,
        index_columns=tuple(f"{name}.{i}" for i in range(len(dims))),
    )
    return tensor, cst.tensor.SparseTensor(
        np.array(indices, dtype=np.int64).reshape(-1, len(dims) + 1),
        values(draw, dtype, len(indices)),
        np.array([rows, *found], dtype=np.int64),
    )


def ragged(draw: Draw, name: str, rows: int) -> Made:
    """Lists of any depth, then partitions by row lengths and uniform ones, then inner dimensions.
    Row lengths below more than one level of lists lie in a list of structs."""
    dtype = draw(dtypes)
    splits_dtype = draw(st.sampled_from(["int64", "int32"]))
    num_levels = draw(st.integers(1, 3))
    inner = draw(st.lists(st.integers(1, 3), max_size=2))
    middle = draw(st.lists(st.sampled_from([0, 1, 2]), max_size=2))  # 0: by row lengths
    while middle and middle[-1] != 0:
        middle.pop()
    partitions: list[cst.schema.RowLengths | cst.schema.UniformRowLength] = []
    row_splits, count = [], rows
    for _ in range(num_levels):
        row_splits.append(splits(draw, count, dtype=splits_dtype))
        count = int(row_splits[-1][-1])
    for i, uniform in enumerate(middle):
        if uniform == 0:
            row_splits.append(splits(draw, count, dtype=splits_dtype))
            partitions.append(cst.schema.RowLengths(f"{name}.len{i}"))
        else:
            row_splits.append((np.arange(count + 1) * uniform).astype(splits_dtype))
            partitions.append(cst.schema.UniformRowLength(uniform))
        count = int(row_splits[-1][-1])
    is_nested = num_levels > 1 and len(middle) > 0
    tensor = TensorRepresentation(
        name,
        "ragged",
        family(dtype),
        (f"{name}.struct", name) if is_nested or draw(st.booleans()) else (name,),
        partitions=(*partitions, *(cst.schema.UniformRowLength(d) for d in inner)),
        row_splits_dtype=splits_dtype,
    )
    return tensor, cst.tensor.RaggedTensor(values(draw, dtype, count, *inner), row_splits)


def within(tensor: TensorRepresentation, column: str) -> TensorRepresentation:
    """The same in a struct column."""
    if tensor.kind == "structured":
        return replace(tensor, fields=tuple(within(field, column) for field in tensor.fields))
    return replace(tensor, path=(column, *tensor.path))


def structured(draw: Draw, name: str, rows: int, depth: int = 2) -> Made:
    fields = [
        any_tensor(draw, f"{name}_{i}", rows, depth - 1) for i in range(draw(st.integers(1, 3)))
    ]
    in_struct = draw(st.booleans())
    tensor = TensorRepresentation(
        name,
        "structured",
        fields=tuple(within(field, name) if in_struct else field for field, _ in fields),
    )
    return tensor, {field.name: value for field, value in fields}


def any_tensor(draw: Draw, name: str, rows: int, depth: int = 2) -> Made:
    kinds = [dense, varlen, sparse, ragged]
    if depth > 0 and draw(st.integers(0, 4)) == 0:
        return structured(draw, name, rows, depth)
    return draw(st.sampled_from(kinds))(draw, name, rows)


@st.composite
def tensors(draw: Draw, num_batches: int = 1) -> tuple[list[TensorRepresentation], dict[str, Any]]:
    """Representations, and tensors of them by name."""
    rows = draw(st.integers(0, 4))
    names = [f"t{i}" for i in range(draw(st.integers(1, 4)))]
    made = [any_tensor(draw, name, rows) for name in names]
    return [tensor for tensor, _ in made], {tensor.name: value for tensor, value in made}


def alike(a: TensorRepresentation, b: TensorRepresentation) -> bool:
    """The same but for where they come from."""
    return replace(a, explicit=False, reason="") == replace(b, explicit=False, reason="")
