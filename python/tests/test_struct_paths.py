"""Fields that come, go and move: with_updates, without, with_only."""

from __future__ import annotations

from typing import Any

import columnstone as cst
import numpy as np
import pyarrow as pa
import pytest
from columnstone import _core

LOG = [
    {"id": 1, "event": [{"query": "a", "price": [1.5, 2.5]}, {"query": "b", "price": None}]},
    {"id": 2, "event": []},
    {"id": 3, "event": None},
    {"id": 4, "event": [{"query": "c", "price": []}]},
]


def nested(value: Any, is_row: bool = False) -> Any:
    return _core.nested(cst.array(value), is_row)


@pytest.fixture
def log() -> Any:
    return nested(LOG)


def events(st: Any) -> list[Any]:
    return [row["event"] for row in st.to_py()]


# --- with_updates -----------------------------------------------------------------------------


def test_fields_are_replaced_in_place_and_added_at_the_end(log: Any) -> None:
    changed = log.with_updates(id=["w", "x", "y", "z"], n=[1, 2, 3, 4])
    assert changed.field_names() == ("id", "event", "n")
    assert changed["id"].to_py() == ["w", "x", "y", "z"]
    assert changed["n"].to_py() == [1, 2, 3, 4]
    assert log.to_py() == LOG


def test_values_at_paths_have_the_dimensions_of_the_structs(log: Any) -> None:
    changed = log.with_updates({"event.n": [[7, 8], [], None, [9]]})
    assert events(changed) == [
        [{"query": "a", "price": [1.5, 2.5], "n": 7}, {"query": "b", "price": None, "n": 8}],
        [],
        None,
        [{"query": "c", "price": [], "n": 9}],
    ]
    assert log.with_updates({("event", "a.b"): [[1, 2], [], [], [3]]})["event.a.b"].to_py() == [
        [1, 2],
        [],
        None,
        [3],
    ]


@pytest.mark.parametrize("value", [7, 2.5, "x", b"x", True, np.float32(2.5), np.array(7), {"a": 1}])
def test_a_scalar_is_the_value_of_every_struct(log: Any, value: Any) -> None:
    plain = value.item() if hasattr(value, "item") else value
    assert log.with_updates(n=value)["n"].to_py() == [plain] * 4
    assert log.with_updates({"event.n": value})["event.n"].to_py() == [
        [plain] * 2,
        [],
        None,
        [plain],
    ]


def test_values_come_from_anywhere(log: Any) -> None:
    for value in [
        np.array([1, 2, 3, 4]),
        pa.array([1, 2, 3, 4]),
        pa.chunked_array([[1, 2], [3, 4]]),
        cst.array([1, 2, 3, 4]),
        nested([1, 2, 3, 4]),
        (1, 2, 3, 4),
        range(1, 5),
    ]:
        assert log.with_updates(n=value)["n"].to_py() == [1, 2, 3, 4]
    assert log.with_updates(n=np.eye(4, 2))["n"].shape == (4, 2)


def test_a_function_is_called_with_the_field_as_it_is(log: Any) -> None:
    changed = log.with_updates({"id": lambda old: np.asarray(old._array) * 10})
    assert changed["id"].to_py() == [10, 20, 30, 40]
    seen = []
    log.with_updates({"event.price": lambda old: seen.append(old.shape) or old})
    assert seen == [(4, None, None)]
    with pytest.raises(cst.NotFoundError):
        log.with_updates({"event.x": lambda old: old})


def test_what_does_not_change_is_shared(log: Any) -> None:
    changed = log.with_updates({"event.n": [[7, 8], [], None, [9]]})
    for path in ["id", "event.query", "event.price"]:
        before, after = pa.array(log[path]), pa.array(changed[path])
        for a, b in zip(before.buffers(), after.buffers(), strict=True):
            assert (a and a.address) == (b and b.address)


def test_rows_of_other_lengths_are_errors(log: Any) -> None:
    with pytest.raises(
        cst.ArgumentError, match=r"'event.n': row \[3\]: 2 values for 1 structs"
    ) as e:
        log.with_updates({"event.n": [[7, 8], [], None, [9, 9]]})
    assert e.value.record == 3
    with pytest.raises(cst.ArgumentError, match="3 values for 4 structs"):
        log.with_updates(n=[1, 2, 3])
    with pytest.raises(cst.ArgumentError, match="a value of rank 1 for structs of rank 2"):
        log.with_updates({"event.n": [1, 2, 3, 4]})


def test_wrong_updates_are_errors(log: Any) -> None:
    with pytest.raises(cst.NotFoundError, match="did you mean 'event'"):
        log.with_updates({"events.n": 1})
    with pytest.raises(cst.SchemaError, match="no fields below values of type int64"):
        log.with_updates({"id.n": 1})
    with pytest.raises(cst.ArgumentError, match="changed twice"):
        log.with_updates({"event": 1, "event.query": 2})
    with pytest.raises(cst.ArgumentError, match=r"None has no type \(without\(\) removes"):
        log.with_updates(id=None)
    with pytest.raises(TypeError):
        log.with_updates({3: 1})


def test_a_scalar_struct_takes_values_of_any_rank() -> None:
    recipe = nested([{"title": "Snickerdoodle"}], is_row=True)
    changed = recipe.with_updates(steps=["mix", "bake"], minutes=20)
    assert changed.to_py() == {"title": "Snickerdoodle", "steps": ["mix", "bake"], "minutes": 20}


# --- without, with_only -----------------------------------------------------------------------


def test_without(log: Any) -> None:
    assert log.without("event").to_py() == [{"id": 1}, {"id": 2}, {"id": 3}, {"id": 4}]
    assert events(log.without("event.price", "id")) == [
        [{"query": "a"}, {"query": "b"}],
        [],
        None,
        [{"query": "c"}],
    ]
    assert log.without("event.price", "event").field_names() == ("id",)
    assert log.without().to_py() == LOG
    with pytest.raises(cst.NotFoundError, match="did you mean 'price'"):
        log.without("event.prices")


def test_structs_without_fields_keep_their_count(log: Any) -> None:
    empty = log.without("id", "event")
    assert empty.to_py() == [{}, {}, {}, {}]
    assert empty.shape == (4,)
    assert events(log.without("event.query", "event.price")) == [[{}, {}], [], None, [{}]]
    assert log.with_only().to_py() == [{}, {}, {}, {}]


def test_with_only(log: Any) -> None:
    kept = log.with_only("event.query", "id")
    assert kept.field_names() == ("event", "id")
    assert events(kept) == [[{"query": "a"}, {"query": "b"}], [], None, [{"query": "c"}]]
    assert log.with_only("event", "event.query")["event"].field_names() == ("query", "price")
    with pytest.raises(cst.NotFoundError, match="did you mean 'query'"):
        log.with_only("id", "event.queri")


def test_updates_of_slices_share_what_they_keep() -> None:
    table = pa.array([{"s": [{"x": i, "y": str(i)}] * (i % 3)} for i in range(100)])
    part = nested(table[50:60])
    changed = part.with_updates({"s.z": part["s.x"]})
    assert [[e["z"] for e in row["s"]] for row in changed.to_py()] == [
        [i] * (i % 3) for i in range(50, 60)
    ]
    assert changed["s.x"].to_py() == part["s.x"].to_py()
