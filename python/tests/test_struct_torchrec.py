"""KeyedJaggedTensors of TorchRec, both ways."""

from __future__ import annotations

from random import Random
from typing import Any

import columnstone as cst
import nested_data as data
import numpy as np
import pyarrow as pa
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torchrec", exc_type=ImportError)


def clicks(r: Random, rows: int) -> list[dict[str, Any]]:
    made = []
    for _ in range(rows):
        query = [r.randrange(1000) for _ in range(r.choice([0, 1, 3]))]
        docs = [r.randrange(1000) for _ in range(r.choice([0, 2]))]
        made.append({"query": query, "event": {"doc": docs, "price": [d / 4 for d in docs]}})
    return made


def test_lists_of_ids_both_ways() -> None:
    rows = clicks(Random(7), 50)
    ours = data.nested(pa.array(rows))
    made = ours.to_keyed_jagged(["query", "event.doc"])
    assert type(made).__name__ == "KeyedJaggedTensor"
    assert made.keys() == ["query", "event.doc"]
    assert made.stride() == 50
    assert [v.tolist() for v in made["query"].to_dense()] == [row["query"] for row in rows]
    back = cst.StructuredTensor.from_keyed_jagged(made)
    assert back.field_names() == ("query", "event.doc")
    assert back["query"].to_py() == [row["query"] for row in rows]
    assert back[("event.doc",)].to_py() == [row["event"]["doc"] for row in rows]
    assert back.to_keyed_jagged([("query",), ("event.doc",)]).to_dict().keys() == {
        "query",
        "event.doc",
    }


def test_weights() -> None:
    rows = clicks(Random(8), 20)
    ours = data.nested(pa.array(rows))
    made = ours.to_keyed_jagged([("event", "doc")], weights=["event.price"])
    assert made.weights().tolist() == [p for row in rows for p in row["event"]["price"]]
    back = cst.StructuredTensor.from_keyed_jagged(made)
    assert back.to_py() == [
        {"event.doc": row["event"]["doc"], "event.doc_weights": row["event"]["price"]}
        for row in rows
    ]
    with pytest.raises(
        cst.errors.ArgumentError, match=r"in row \d+, expected \d+ as in 'query'"
    ) as it:
        ours.to_keyed_jagged(["query"], weights=["event.price"])
    at = it.value.record
    assert len(rows[at]["query"]) != len(rows[at]["event"]["price"])
    with pytest.raises(cst.errors.ArgumentError, match="1 weights, expected one for each of 2"):
        ours.to_keyed_jagged(["query", "event.doc"], weights=["event.price"])


def test_single_ids_and_types() -> None:
    kind = pa.struct([("user", pa.int32()), ("docs", pa.list_(pa.int64(), 2))])
    ours = data.nested(pa.array([{"user": 5, "docs": [1, 2]}, {"user": 6, "docs": [3, 4]}], kind))
    made = ours.to_keyed_jagged(["user", "docs"])
    assert made.values().tolist() == [5, 6, 1, 2, 3, 4]
    assert made.lengths().tolist() == [1, 1, 2, 2]
    one = ours.to_keyed_jagged(["user"])
    assert one.values().dtype == torch.int32
    assert cst.StructuredTensor.from_keyed_jagged(one)["user"].to_py() == [[5], [6]]


def test_no_rows() -> None:
    kind = pa.struct([("a", pa.list_(pa.int64()))])
    made = data.nested(pa.array([], kind)).to_keyed_jagged(["a"])
    assert made.lengths().tolist() == []
    back = cst.StructuredTensor.from_keyed_jagged(made)
    assert back.nrows() == 0
    assert back.field_names() == ("a",)


@pytest.mark.parametrize(
    ("rows", "keys", "message"),
    [
        ([{"a": [1]}, {"a": None}], ["a"], r"field 'a': 1 of 2 lists are null, the first at \[1\]"),
        ([{"a": [1]}, None], ["a"], r"field 'a': 1 of 2 lists are null"),
        ([{"a": [1, None]}], ["a"], "field 'a': 1 of 2 values are null"),
        ([{"a": [[1]]}], ["a"], "rank 3, expected a list of numbers"),
        ([{"a": [{"b": 1}]}], ["a"], "structs, expected a list of numbers"),
        ([{"a": ["x"]}], ["a"], "strings, expected numbers"),
        ([{"a": [1]}], [], "no keys"),
        ([[{"a": [1]}]], ["a"], "a tensor of rank 2"),
    ],
)
def test_what_is_refused(rows: Any, keys: list[str], message: str) -> None:
    with pytest.raises(cst.errors.ArgumentError, match=message):
        data.nested(pa.array(rows)).to_keyed_jagged(keys)


def test_wrong_arguments() -> None:
    ours = data.nested(pa.array([{"a": [1]}]))
    with pytest.raises(TypeError, match="list of fields"):
        ours.to_keyed_jagged("a")
    with pytest.raises(cst.errors.NotFoundError, match="'b'"):
        ours.to_keyed_jagged(["b"])


def test_keys_whose_rows_differ() -> None:
    from torchrec.sparse.jagged_tensor import KeyedJaggedTensor

    uneven = KeyedJaggedTensor(
        keys=["a", "b"],
        values=torch.tensor([1, 2, 3]),
        lengths=torch.tensor([1, 1, 1]),
        stride_per_key_per_rank=[[2], [1]],
    )
    with pytest.raises(cst.errors.ArgumentError, match="key 'b': 1 rows, expected 2 as for 'a'"):
        cst.StructuredTensor.from_keyed_jagged(uneven)
    twice = KeyedJaggedTensor(
        keys=["a", "a_weights"],
        values=torch.tensor([1, 2]),
        lengths=torch.tensor([1, 1]),
        weights=torch.tensor([0.5, 0.5]),
    )
    with pytest.raises(cst.errors.ArgumentError, match="two fields are named 'a_weights'"):
        cst.StructuredTensor.from_keyed_jagged(twice)


def test_an_embedding_bag_takes_them() -> None:
    ours = data.nested(pa.array([{"a": [0, 1]}, {"a": []}, {"a": [2]}]))
    made = ours.to_keyed_jagged(["a"])
    bag = torch.nn.EmbeddingBag.from_pretrained(
        torch.tensor([[1.0], [10.0], [100.0]]), mode="sum", include_last_offset=True
    )
    sums = bag(made.values(), made.offsets())
    assert np.asarray(sums).tolist() == [[11.0], [0.0], [100.0]]
