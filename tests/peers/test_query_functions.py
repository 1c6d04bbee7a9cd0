"""Functions of queries that are to give what TensorFlow's operations give."""

from __future__ import annotations

from random import Random
from typing import Any

import columnstone as cst
import numpy as np
import pyarrow as pa
import pytest
import tensorflow as tf


def result(values: pa.Array, expression: str) -> list[Any]:
    query = cst.Query.from_text(f"output y = {expression}")
    return pa.record_batch(query.run(pa.record_batch({"x": values})))["y"].to_pylist()


@pytest.mark.parametrize("buckets", [1, 2, 1000, 2**31, 2**63 - 1])
def test_hash_is_string_to_hash_bucket_fast(buckets: int) -> None:
    random = Random(buckets)
    values = [random.randbytes(size) for size in range(300)]
    expected = tf.strings.to_hash_bucket_fast(values, buckets).numpy().tolist()
    assert result(pa.array(values), f"hash(x, {buckets})") == expected


def test_hash_of_integers_is_that_of_their_text() -> None:
    values = [0, 1, -1, 10**9, 2**63 - 1, -(2**63)]
    expected = tf.strings.to_hash_bucket_fast(tf.as_string(tf.constant(values, tf.int64)), 1000)
    assert result(pa.array(values), "hash(x, 1000)") == expected.numpy().tolist()


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
def test_bucketize(dtype: type[np.generic]) -> None:
    bounds = [-2.0, 0.0, 0.0, 3.0, 10.0]
    values = np.array([-5, -2, -1, 0, 1, 2, 3, 4, 9, 10, 11], dtype)
    expected = tf.raw_ops.Bucketize(input=values, boundaries=bounds).numpy().tolist()
    assert result(pa.array(values), "bucketize(x, [-2, 0, 0, 3, 10])") == expected


def test_lengths_are_those_of_characters() -> None:
    texts = ["", "abc", "äöü", "€uro", "𝄞", "a longer text with ü and € in it"]
    expected = tf.strings.length(texts, unit="UTF8_CHAR").numpy().tolist()
    assert result(pa.array(texts), "len(x)") == expected


def test_substr_of_characters() -> None:
    texts = ["abcdef", "äöüß€𝄞"]
    expected = tf.strings.substr(texts, 1, 3, unit="UTF8_CHAR").numpy().tolist()
    assert result(pa.array(texts), "cast(substr(x, 1, 4), bytes)") == expected
