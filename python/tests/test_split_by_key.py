"""train_test_split: rows go where the hash of their key says, wherever they come from."""

from __future__ import annotations

import pathlib
from typing import Any

import columnstone as cst
import pyarrow as pa
import pytest


def sides(keys: Any, **options: Any) -> list[Any]:
    """The keys in the test."""
    batch = pa.record_batch({"k": keys})
    _, test = cst.dataset.train_test_split(batch, key="k", **options)
    return pa.record_batch(test)["k"].to_pylist()


def test_rows_keep_together_and_in_order() -> None:
    keys = [i % 100 for i in range(1000)]
    batch = pa.record_batch({"k": keys, "row": list(range(1000))})
    train, test = (
        pa.record_batch(side)
        for side in cst.dataset.train_test_split(batch, key="k", test_size=0.2)
    )
    left, right = train["row"].to_pylist(), test["row"].to_pylist()
    assert left == sorted(left) and right == sorted(right)
    assert sorted(left + right) == list(range(1000))
    assert not set(train["k"].to_pylist()) & set(test["k"].to_pylist())
    assert 10 <= len(set(test["k"].to_pylist())) <= 30


def test_the_split_stays_for_ever() -> None:
    assert sides(list(range(20)), test_size=0.3) == [0, 4, 5, 12, 16]
    users = sides([f"user {i}" for i in range(20)], test_size=0.3)
    assert users == [f"user {i}" for i in (1, 2, 3, 6, 8, 10, 16)]


def test_sizes_and_seeds() -> None:
    keys = list(range(2000))
    assert sides(keys, test_size=0) == []
    assert sides(keys, test_size=1) == keys
    small, large = sides(keys, test_size=0.1), sides(keys, test_size=0.3)
    assert set(small) < set(large)
    assert 150 < len(small) < 250 and 500 < len(large) < 700
    other = sides(keys, test_size=0.3, seed=1)
    assert other != large and 100 < len(set(other) & set(large)) < 260


def test_formats_and_batches_agree(tmp_path: pathlib.Path) -> None:
    table = pa.table({"user": [f"u{i % 37}" for i in range(300)], "row": list(range(300))})
    found = []
    for name in ("a.tfrecord", "a.csv", "a.parquet", "a.arrow"):
        cst.write(table, tmp_path / name)
        for batch_size in (7, 300):
            rows: list[int] = []
            for batch in cst.open(tmp_path / name, batch_size=batch_size):
                _, test = cst.dataset.train_test_split(batch, key="user")
                for row in pa.record_batch(test)["row"].to_pylist():
                    rows.append(row[0] if isinstance(row, list) else row)
            found.append(rows)
    assert all(rows == found[0] for rows in found) and 20 < len(found[0]) < 120


def test_kinds_of_keys() -> None:
    many = [[1, 2], [12], [], None, [1, 2], [None]]
    assert len(sides(many, test_size=1)) == 6
    for size in (0.2, 0.4, 0.6, 0.8):
        test = sides(many, test_size=size)
        assert test.count([1, 2]) in (0, 2)
        assert (None in test) == ([None] in test)
    numbers = [pa.array(range(50), pa.int8()), pa.array([[i] for i in range(50)])]
    narrow, lists = (sides(keys) for keys in numbers)
    assert narrow == [one for (one,) in lists] and narrow
    texts = [str(i) for i in range(50)]
    assert sides(texts) == [one.decode() for one in sides([one.encode() for one in texts])]
    with pytest.raises(cst.errors.UnsupportedError, match="keys of type float") as caught:
        sides([0.5])
    assert caught.value.path == "k"


def test_arguments() -> None:
    for options in ({"test_size": 1.5}, {"test_size": -0.1}, {"seed": -1}, {"seed": 2**64}):
        with pytest.raises(cst.errors.ArgumentError):
            sides([1], **options)
    with pytest.raises(TypeError):
        sides([1], seed="x")
    with pytest.raises(KeyError):
        cst.dataset.train_test_split(pa.record_batch({"k": [1]}), key="none")


def test_a_key_below_a_list_is_refused() -> None:
    """It has not one value per row, also where it has as many values as there are rows."""
    users = [[{"id": 1}, {"id": 2}], [], [{"id": 3}]]
    with pytest.raises(cst.errors.ArgumentError, match="inside lists"):
        cst.dataset.train_test_split(pa.record_batch({"user": users}), key="user.id")
    batch = pa.record_batch({"user": [{"id": i % 7} for i in range(70)]})
    _, test = cst.dataset.train_test_split(batch, key="user.id", test_size=0.5)
    assert 0 < test.num_rows < 70 and test.num_rows % 10 == 0
