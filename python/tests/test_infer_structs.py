"""Schemas of structs of lists: each field is a feature, of lists or of lists of lists."""

from __future__ import annotations

import pickle

import columnstone as cst
import pyarrow as pa
import pytest

LISTS = pa.list_(pa.int64())


def of(values: list[object], kind: pa.DataType = LISTS) -> pa.RecordBatch:
    return pa.record_batch({"s": pa.array(values, pa.struct({"x": kind}))})


def inferred(*batches: pa.RecordBatch) -> str:
    return cst.infer_schema(pa.Table.from_batches(batches)).to_text()


def test_a_field_of_lists() -> None:
    batch = of([{"x": [1, 2]}, None, {"x": [3]}, {"x": None}, {"x": []}])
    text = inferred(batch)
    assert "value_counts" not in text
    assert "value_count { min: 0 max: 2 }" in " ".join(text.split())
    schema = cst.Schema(text)
    (tensor,) = schema.tensor_representations().values()
    assert (tensor.name, tensor.kind, tensor.path) == ("s.x", "ragged", ("s", "x"))
    made = next(iter(cst.open(batch, schema=schema).tensors()))["s.x"]
    assert made.to_list() == [[1, 2], [], [3], [], []]


def test_lists_and_lists_of_lists_side_by_side() -> None:
    kind = pa.struct({"x": LISTS, "y": pa.list_(LISTS), "z": pa.large_list(pa.string())})
    rows = [{"x": [1], "y": [[1, 2], []], "z": ["a"]}, {"x": [2], "y": [], "z": ["b"]}]
    text = " ".join(inferred(pa.record_batch({"s": pa.array(rows, kind)})).split())
    assert "value_count { min: 1 max: 1 } type: INT" in text
    assert "value_counts { value_count { min: 0 max: 2 } value_count { min: 0 max: 2 } }" in text
    assert "value_count { min: 1 max: 1 } type: BYTES" in text


def test_lists_in_one_batch_and_lists_of_lists_in_another() -> None:
    look = cst.accumulate.SchemaInference()
    look.add(of([{"x": [1]}]))
    nested = of([{"x": [[1]]}], pa.list_(LISTS))
    with pytest.raises(cst.errors.SchemaError, match=r"s\.x.*found lists of lists, expected lists"):
        look.add(nested)
    other = cst.accumulate.SchemaInference()
    other.add(nested)
    with pytest.raises(cst.errors.SchemaError, match=r"s\.x.*expected lists of lists"):
        other.merge(look)
    nothing = cst.accumulate.SchemaInference()
    nothing.add(of([{"x": []}], pa.list_(pa.null())))
    nothing.merge(other)
    assert "value_counts" in nothing.finish().to_text()


def test_saved_states_keep_the_depth() -> None:
    look = cst.accumulate.SchemaInference()
    look.add(of([{"x": [[1]]}], pa.list_(LISTS)))
    again = pickle.loads(pickle.dumps(look))
    with pytest.raises(cst.errors.SchemaError, match="expected lists of lists"):
        again.add(of([{"x": [1]}]))
    assert again.finish().to_text() == look.finish().to_text()
