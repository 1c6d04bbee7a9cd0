"""Indexing of nested tensors: numpy's on dense data, the reference's in plain Python on all
other."""

from __future__ import annotations

from random import Random

import nested_data as data
import nested_reference as ref
from hypothesis import given


@data.cases(200)
@given(data.randoms())
def test_names_project_at_any_rank(r: Random) -> None:
    made = data.structured(r, r.randint(0, 3))
    ours, tensor = made.ours(), made.tensor
    data.check(ours, tensor)
    steps = []
    while isinstance(tensor.element, ref.Struct) and tensor.element.fields and r.randrange(4):
        steps.append(r.choice(list(tensor.element.fields)))
        tensor, ours = ref.project(tensor, steps[-1:]), ours[steps[-1]]
        data.check(ours, tensor)
    if steps:
        data.check(made.ours()[tuple(steps)], tensor)
        path = ".".join(steps)
        data.agree(lambda: made.ours()[path], lambda: ref.project(made.tensor, path))


@data.cases(60)
@given(data.randoms())
def test_row_splits_and_flat_values(r: Random) -> None:
    made = data.random_tensor(r)
    ours, tensor = made.ours(), made.tensor
    assert len(ours.row_splits) == max(tensor.rank - 1, 0)
    for depth, splits in enumerate(ours.row_splits, start=1):
        lengths = [len(row or []) for row in ref.flat(tensor.value, depth)]
        assert splits.to_pylist() == [sum(lengths[:i]) for i in range(len(lengths) + 1)]
    elements = ref.flat(tensor.value, tensor.rank)
    data.check(ours.flat_values, ref.Tensor(elements, 1, tensor.element))
