"""Tensors of queries: every kind of output over every type of values, compared with a slow reading
of the rows; and that tensors, the batches that are made of them, and their tensors are the same."""

from __future__ import annotations

import itertools
import random
from typing import Any

import columnstone as cst
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_tensors import parts

# Type, numpy's dtype, the literal that fills nulls, and its value.
TYPES: dict[str, tuple[pa.DataType, Any, str, Any]] = {
    "bool": (pa.bool_(), np.bool_, "true", True),
    "int8": (pa.int8(), np.int8, "-7", -7),
    "int16": (pa.int16(), np.int16, "7", 7),
    "int32": (pa.int32(), np.int32, "7", 7),
    "int64": (pa.int64(), np.int64, "7", 7),
    "uint8": (pa.uint8(), np.uint8, "200", 200),
    "uint16": (pa.uint16(), np.uint16, "7", 7),
    "uint32": (pa.uint32(), np.uint32, "7", 7),
    "uint64": (pa.uint64(), np.uint64, "7", 7),
    "float32": (pa.float32(), np.float32, "0.5", 0.5),
    "float64": (pa.float64(), np.float64, "0.1", 0.1),
    "string": (pa.large_string(), object, '"-"', b"-"),
    "bytes": (pa.large_binary(), object, 'b"\\xff"', b"\xff"),
}


class Rows:
    """Rows of one, of lists and of lists of lists of values, all of which may be null."""

    def __init__(self, kind: str, seed: int, count: int, nulls: float) -> None:
        self.rng = random.Random(seed)
        self.kind = kind
        self.nulls = nulls
        self.type, self.dtype, self.literal, self.default = TYPES[kind]
        self.one = [self.value() for _ in range(count)]
        self.many = [self.items(self.value) for _ in range(count)]
        self.deep = [self.items(lambda: self.items(self.value)) for _ in range(count)]
        self.full = [[self.whole() for _ in range(self.rng.randrange(3))] for _ in range(count)]
        self.struct = [
            None if self.is_null() else {"a": self.value(), "inner": {"b": self.value()}}
            for _ in range(count)
        ]

    def is_null(self) -> bool:
        return self.rng.random() < self.nulls

    def items(self, item: Any) -> Any:
        return None if self.is_null() else [item() for _ in range(self.rng.randrange(4))]

    def value(self) -> Any:
        return None if self.is_null() else self.whole()

    def whole(self) -> Any:
        if self.kind == "bool":
            return self.rng.random() < 0.5
        if self.kind in ("string", "bytes"):
            text = "".join(self.rng.choice("aé\0z") for _ in range(self.rng.randrange(4)))
            return text if self.kind == "string" else text.encode()
        if self.kind.startswith("float"):
            return self.rng.choice([0.0, -0.0, 1.5, -2.25, float("inf")])
        least = 0 if self.kind[0] == "u" else int(np.iinfo(self.dtype).min)
        return self.rng.choice([least, 0, 1, int(np.iinfo(self.dtype).max)])

    def batch(self) -> pa.RecordBatch:
        lists = pa.list_(self.type)
        struct = pa.struct([("a", self.type), ("inner", pa.struct([("b", self.type)]))])
        return pa.record_batch(
            {
                "one": pa.array(self.one, self.type),
                "many": pa.array(self.many, lists),
                "deep": pa.array(self.deep, pa.list_(lists)),
                "full": pa.array(self.full, pa.list_(pa.field("item", self.type, nullable=False))),
                "struct": pa.array(self.struct, struct),
            }
        )

    # ---- the slow reading ----

    def array(self, values: list[Any], *shape: int) -> Any:
        if self.dtype is not object:
            return np.array(values, self.dtype).reshape(shape)
        made: Any = np.empty(len(values), object)
        made[:] = [v.encode() if isinstance(v, str) else v for v in values]
        return made.reshape(shape)

    def filled(self, value: Any) -> Any:
        return self.default if value is None else value

    def dense(self) -> Any:
        return self.array([self.filled(v) for v in self.one], len(self.one))

    def padded(self, rows: list[Any], *dims: int) -> Any:
        def pad(value: Any, dims: tuple[int, ...]) -> list[Any]:
            if not dims:
                return [self.filled(value)]
            items = [] if value is None else list(value)
            items += [None] * (dims[0] - len(items))
            return [v for item in items for v in pad(item, dims[1:])]

        return self.array([v for row in rows for v in pad(row, dims)], len(rows), *dims)

    def sparse(self, rows: list[Any], rank: int) -> Any:
        found: list[tuple[tuple[int, ...], Any]] = []

        def walk(value: Any, at: tuple[int, ...]) -> None:
            if value is None:
                return
            if len(at) == rank:
                found.append((at, value))
                return
            for i, item in enumerate(value):
                walk(item, (*at, i))

        for i, row in enumerate(rows):
            walk(row, (i,))
        indices = np.array([at for at, _ in found], np.int64).reshape(-1, rank)
        largest = [max((at[k] for at, _ in found), default=-1) + 1 for k in range(1, rank)]
        values = self.array([v for _, v in found], len(found))
        return cst.tensor.SparseTensor(indices, values, np.array([len(rows), *largest], np.int64))

    def ragged(self, rows: list[Any], levels: int, splits: Any = np.int64) -> Any:
        lists, row_splits = rows, []
        for _ in range(levels):
            sizes = [0 if item is None else len(item) for item in lists]
            row_splits.append(np.array([0, *itertools.accumulate(sizes)], splits))
            lists = [v for item in lists if item is not None for v in item]
        values = self.array([self.filled(v) for v in lists], len(lists))
        return cst.tensor.RaggedTensor(values, row_splits)

    def of_struct(self) -> Any:
        structs: list[Any] = [row or {} for row in self.struct]
        a = [row.get("a") for row in structs]
        b = [row.get("inner", {}).get("b") for row in structs]
        one = [[[] if v is None else [v] for v in values] for values in (a, b)]
        return {"a": self.ragged(one[0], 1), "inner": {"b": self.ragged(one[1], 1)}}


def longest(rows: list[Any]) -> int:
    return max(1, *(0 if row is None else len(row) for row in (*rows, None)))


def outputs(rows: Rows) -> dict[str, tuple[str, Any]]:
    """The expression of each output and its tensor."""
    default = f"default={rows.literal}"
    outer = longest(rows.deep)
    inner = longest([row for lists in rows.deep if lists is not None for row in lists])
    many = longest(rows.many)
    return {
        "dense": (f"dense(one, {default})", rows.dense()),
        "vector": (f"dense(many, shape=[{many}], {default})", rows.padded(rows.many, many)),
        "matrix": (
            f"dense(deep, shape=[{outer}, {inner}], {default})",
            rows.padded(rows.deep, outer, inner),
        ),
        "rank1": ("sparse(one)", rows.sparse(rows.one, 1)),
        "rank2": ("sparse(many)", rows.sparse(rows.many, 2)),
        "rank3": ("sparse(deep)", rows.sparse(rows.deep, 3)),
        "ragged": (f"ragged(many, {default})", rows.ragged(rows.many, 1)),
        "ragged32": (
            f"ragged(deep, {default}, row_splits=int32)",
            rows.ragged(rows.deep, 2, np.int32),
        ),
        "struct": ("struct(struct)", rows.of_struct()),
        "varlen": ("full", rows.sparse(rows.full, 2)),
    }


def view_of(batch: pa.RecordBatch, expressions: dict[str, str]) -> cst.View:
    query = cst.Query(batch.schema)
    for name, expression in expressions.items():
        query = query.output(name, expression)
    return query.view()


@pytest.mark.parametrize("kind", TYPES)
@given(st.integers(0, 2**32), st.integers(0, 5), st.sampled_from([0.0, 0.3, 1.0]))
def test_every_output(kind: str, seed: int, count: int, nulls: float) -> None:
    rows = Rows(kind, seed, count, nulls)
    batch = rows.batch()
    wanted = outputs(rows)
    view = view_of(batch, {name: expression for name, (expression, _) in wanted.items()})
    tensors = view.tensors(batch)
    expected = {name: parts(tensor) for name, (_, tensor) in wanted.items()}
    for name in wanted:
        assert parts(tensors[name]) == expected[name], name
    dtype = "bytes" if kind == "string" else kind
    leaves = [t for t in view.specs.values() if t.kind != "structured"]
    assert {t.dtype for t in leaves} == {dtype}
    # To a batch and back.
    encoder = cst.tensor.TensorEncoder(view.specs)
    made = pa.record_batch(encoder.encode(tensors))
    made.validate(full=True)
    assert parts(cst.tensor.TensorAdapter(made.schema, view.specs).convert(made)) == parts(tensors)
    # Columns that no tensor rounds off come back as they were.
    columns = pa.record_batch(view.apply(batch))
    for name in columns.schema.names:
        if not name.startswith(("dense", "vector", "matrix", "struct")):
            assert plain(made[name].to_pylist()) == plain(columns[name].to_pylist()), name
    # Saved and opened.
    assert parts(cst.View(view.to_bytes()).tensors(batch)) == parts(tensors)
    assert (
        parts(cst.View(view.to_bytes()).select(["rank3"]).tensors(batch)["rank3"])
        == expected["rank3"]
    )


def plain(value: Any) -> Any:
    if isinstance(value, list):
        return [plain(v) for v in value]
    return value.encode() if isinstance(value, str) else repr(value) if value != value else value


@pytest.mark.parametrize("kind", TYPES)
def test_a_schema_says_the_same_tensors(kind: str) -> None:
    """The tensor_representation_group of a view's tensors gives them again: by their batches, and
    by the view's own. A structured tensor of one column's fields is none that a schema can say."""
    rows = Rows(kind, 1, 5, 0.3)
    batch = rows.batch()
    wanted = {name: e for name, (e, _) in outputs(rows).items() if name != "struct"}
    view = view_of(batch, wanted)
    tensors = view.tensors(batch)
    text = cst.Schema.from_text("").with_tensor_representations(view.specs).to_text()
    schema = cst.Schema.from_text(text)
    columns = view.apply(batch)
    adapter = cst.tensor.TensorAdapter(columns.schema, schema)
    assert parts(adapter.convert(columns)) == parts(tensors)
    with pytest.raises(cst.errors.UnsupportedError):
        struct = view_of(batch, {"s": "struct(struct)"})
        cst.Schema.from_text("").with_tensor_representations(struct.specs)


def test_frameworks() -> None:
    torch = pytest.importorskip("torch")
    rows = Rows("bool", 5, 4, 0.3)
    batch = rows.batch()
    view = view_of(batch, {"d": "dense(one, default=true)", "s": "sparse(one)"})
    made = cst.tensor.to_torch(view.tensors(batch))
    assert made["d"].dtype == torch.bool and made["d"].tolist() == rows.dense().tolist()
    assert made["s"].to_dense().tolist() == [bool(v) for v in rows.one]


def test_nulls_that_have_no_place() -> None:
    batch = pa.record_batch({"x": pa.array([[1], [2, None]], pa.list_(pa.int64())), "y": [1, None]})
    for expression, path in [("ragged(x)", "t"), ("dense(y)", "t"), ("dense(x, shape=[2])", "t")]:
        with pytest.raises(cst.errors.SchemaError) as failed:
            view_of(batch, {"t": expression}).tensors(batch)
        assert failed.value.path == path, expression
