"""What an operation on structured tensors does not change it shares: the buffers have the same
addresses."""

from __future__ import annotations

from random import Random
from typing import Any

import nested_data as data
import nested_reference as ref
import nested_steps as steps
import pyarrow as pa
import pytest
from hypothesis import given, note

SESSIONS = pa.array(
    [
        {"id": 1, "event": [{"query": "a", "hits": [1, 2]}, {"query": "b", "hits": []}]},
        {"id": 2, "event": []},
        {"id": 3, "event": [{"query": "c", "hits": [3]}]},
    ],
    pa.struct(
        [
            ("id", pa.int64()),
            (
                "event",
                pa.list_(pa.struct([("query", pa.string()), ("hits", pa.list_(pa.int32()))])),
            ),
        ]
    ),
)

Path = tuple[str, ...]


def buffers(array: pa.Array, at: Path = ()) -> dict[Path, list[int]]:
    """The addresses of the buffers of every part of an array, validity bitmaps apart. What a list
    holds is a step `[]`."""
    if pa.types.is_struct(array.type):
        parts = [(array.field(i), (*at, array.type[i].name)) for i in range(array.type.num_fields)]
        return {path: found for part, p in parts for path, found in buffers(part, p).items()}
    if data.is_list(array.type):
        own = [] if pa.types.is_fixed_size_list(array.type) else array.buffers()[1:2]
        return {(*at, "offsets"): addresses(own), **buffers(array.values, (*at, "[]"))}
    return {at: addresses(array.buffers()[1:])}


def addresses(found: list[Any]) -> list[int]:
    return [0 if b is None else b.address for b in found]


def test_a_projected_field_shares_its_values_and_the_offsets_above_it() -> None:
    sessions, before = data.nested(SESSIONS), buffers(SESSIONS)
    assert buffers(pa.array(sessions["id"])) == {(): before["id",]}
    assert buffers(pa.array(sessions["event", "query"])) == {
        ("offsets",): before["event", "offsets"],
        ("[]",): before["event", "[]", "query"],
    }


@pytest.mark.parametrize("key", [1, -1, slice(1, 3), slice(0, 0), slice(None)])
def test_rows_and_slices_share(key: Any) -> None:
    assert buffers(pa.array(data.nested(SESSIONS)[key])) == buffers(SESSIONS)


def test_a_promoted_leaf_shares_its_values_and_the_offsets_of_the_list_that_it_leaves() -> None:
    before = buffers(SESSIONS)
    after = buffers(pa.array(data.nested(SESSIONS).promote("event.query", name="queries")))
    assert after.pop(("queries", "offsets")) == before["event", "offsets"]
    assert after.pop(("queries", "[]")) == before["event", "[]", "query"]
    assert after == before


def test_a_promoted_list_shares_its_values() -> None:
    before = buffers(SESSIONS)
    after = buffers(pa.array(data.nested(SESSIONS).promote("event.hits", name="hits")))
    assert after.pop(("hits", "[]")) == before["event", "[]", "hits", "[]"]
    del after["hits", "offsets"]
    assert after == before


def test_a_replaced_field_leaves_all_others_where_they_are() -> None:
    before = buffers(SESSIONS)
    sessions = data.nested(SESSIONS)
    updated = sessions.with_updates({"event.query": sessions["event", "hits"]})
    after = buffers(pa.array(updated))
    hits = ("event", "[]", "hits")
    assert after.pop(("event", "[]", "query", "offsets")) == before[*hits, "offsets"]
    assert after.pop(("event", "[]", "query", "[]")) == before[*hits, "[]"]
    del before["event", "[]", "query"]
    assert after == before


@pytest.mark.parametrize("name", steps.PATHS)
@data.cases(25)
@given(r=data.randoms())
def test_path_operations_share_what_they_do_not_change(name: str, r: Random) -> None:
    """All that a result has at the path where it was before, and that the operation did not put
    there, is where it was. (Lists that hide values, or whose views are out of order, are made
    anew where new values stand beside them.)"""
    made = data.tidy(data.structured(r, r.randint(0, 3)))
    ours = made.ours()
    call = steps.PATHS[name](r, ours, made.tensor)
    if call is None:
        return
    note(f"{call.say}\n{made.array.type}\n{made.tensor.value}")
    try:
        call.reference()
    except ref.Refused:
        return
    before, after = buffers(pa.array(ours._array)), buffers(pa.array(call.ours()._array))
    for path, found in after.items():
        field = tuple(step for step in path if step not in ("[]", "offsets"))
        if path in before and not any(field[: len(new)] == new for new in call.new):
            assert found == before[path], path
