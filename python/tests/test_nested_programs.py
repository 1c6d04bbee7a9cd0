"""Random programs: one operation after another on random nested data, each result against the
reference's."""

from __future__ import annotations

from random import Random
from typing import Any

import nested_data as data
import nested_reference as ref
import nested_steps as steps
from hypothesis import given, note

LARGEST = 2000  # values, beyond which a program ends


def index(r: Random, ours: Any, t: ref.Tensor) -> steps.Call:
    key = data.random_key(r, t)
    our_key = data.our_key(r, key)
    return steps.Call(lambda: ours[our_key], lambda: ref.index(t, key), f"index {our_key}")


@data.cases(120)
@given(data.randoms())
def test_a_program_gives_what_the_reference_gives(r: Random) -> None:
    made = data.structured(r, r.randint(0, 2))
    ours, t = made.ours(), made.tensor
    note(f"{made.array.type} is_row {made.is_row}\n{t.value}")
    for _ in range(r.randint(5, 15)):
        structured = isinstance(t.element, ref.Struct)
        step = r.choice(
            [
                *([index] * 4),
                *steps.OPERATIONS.values(),
                *(list(steps.PATHS.values()) * 2 if structured else []),
            ]
        )
        call = step(r, ours, t)
        if call is None:
            continue
        note(call.say)
        if data.agree(call.ours, call.reference):
            ours, t = call.ours(), call.reference()
        if t.rank > 5 or len(repr(t.value)) > 10 * LARGEST:
            return
