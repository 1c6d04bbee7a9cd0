"""The operations on structured tensors, of any rank and axis: each against the reference."""

from __future__ import annotations

from random import Random

import nested_data as data
import nested_steps as steps
import pytest
from hypothesis import given, note


@pytest.mark.parametrize("name", steps.OPERATIONS)
@data.cases(40)
@given(r=data.randoms())
def test_operation(name: str, r: Random) -> None:
    made = data.random_tensor(r)
    call = steps.OPERATIONS[name](r, made.ours(), made.tensor)
    if call:
        note(f"{call.say}\n{made.array.type} is_row {made.is_row}\n{made.tensor.value}")
        data.agree(call.ours, call.reference)
