"""columnstone.sketch: what all sketches have in common."""

from __future__ import annotations

import pickle

import columnstone as cst
import numpy as np
import pyarrow as pa
import pytest
from columnstone import sketch


def test_values_come_from_anywhere() -> None:
    made = sketch.Moments()
    made.add([1, None, 2])
    made.add(np.arange(3))
    made.add(pa.array([[1, 2], None, []]))
    made.add(pa.chunked_array([[1], [2, 3]]))
    made.add(pa.array([1, 1, None]).dictionary_encode())
    made.add([True, False], weights=[0.5, 2])
    assert (made.count, made.nulls) == (14, 3)


def test_they_are_pickled_and_saved() -> None:
    made = sketch.Moments()
    made.add([1.5, None])
    for again in (pickle.loads(pickle.dumps(made)), sketch.Moments.from_bytes(bytes(made))):
        assert (again.count, again.nulls) == (1, 1)
        assert bytes(again) == bytes(made)
    with pytest.raises(cst.errors.CorruptError):
        sketch.Moments.from_bytes(bytes(made)[:-1])


def test_what_is_no_column_is_refused() -> None:
    made = sketch.Moments()
    with pytest.raises(cst.errors.UnsupportedError) as raised:
        made.add(pa.record_batch({"a": [1]}))
    assert raised.value.hint == "give one of its fields"
    with pytest.raises(cst.errors.ArgumentError):
        made.add([1, 2], weights=[1])
    with pytest.raises(TypeError):
        made.merge(object())  # type: ignore[arg-type]
    assert made.count == 0


def test_they_are_listed() -> None:
    assert "moments" in sketch.sketches().to_pydict()["name"]
