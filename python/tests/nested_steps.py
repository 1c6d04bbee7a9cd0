"""Random operations on structured tensors: each gives what to call of ours and of the reference.

A step takes a source of chance, one of our tensors and the reference's tensor of the same value; it
is None where the operation has nothing to do for such a tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any, NamedTuple

import columnstone as cst
import nested_data as data
import nested_reference as ref
import nested_reference_paths as paths
import numpy as np


class Call(NamedTuple):
    """One operation with its arguments; say is for who reads a failure, new are the paths of the
    fields that it puts in."""

    ours: Callable[[], Any]
    reference: Callable[[], ref.Tensor]
    say: str
    new: tuple[paths.Steps, ...] = ()


Step = Callable[[Random, Any, ref.Tensor], Call | None]
OPERATIONS: dict[str, Step] = {}
PATHS: dict[str, Step] = {}


def operation(step: Step) -> Step:
    OPERATIONS[step.__name__] = step
    return step


def path_operation(step: Step) -> Step:
    PATHS[step.__name__] = step
    return step


def random_axis(r: Random, rank: int) -> int:
    """Of one of so many dimensions, negative as well; outside once in a while."""
    if r.randrange(40) == 0:
        return r.choice([rank, -rank - 1])
    return r.randrange(-rank, rank)


# --- the list of operations -------------------------------------------------------------------


@operation
def concat(r: Random, ours: Any, t: ref.Tensor) -> Call | None:
    if not t.rank:
        return None
    axis = random_axis(r, t.rank)
    keys = [(*[slice(None)] * (axis % t.rank), data.random_slice(r)) for _ in range(2)]
    if r.randrange(20) == 0:
        keys[0] = (slice(1),)  # fewer rows: an error unless the axis is 0
    return Call(
        lambda: cst.struct.concat([ours, *[ours[k] for k in keys]], axis=axis),
        lambda: ref.concat([t, *[ref.index(t, k) for k in keys]], axis),
        f"concat {keys} axis {axis}",
    )


@operation
def stack(r: Random, ours: Any, t: ref.Tensor) -> Call | None:
    axis = random_axis(r, t.rank + 1)
    where = axis % (t.rank + 1)
    key = (*[slice(None)] * where, data.random_slice(r)) if where < t.rank else ()
    return Call(
        lambda: cst.struct.stack([ours, ours[key]], axis=axis),
        lambda: ref.stack([t, ref.index(t, key)], axis),
        f"stack {key} axis {axis}",
    )


@operation
def unstack(r: Random, ours: Any, t: ref.Tensor) -> Call | None:
    if not t.rank:
        return None
    axis = random_axis(r, t.rank)

    def reference() -> ref.Tensor:
        parts = ref.unstack(t, axis)
        return ref.stack(parts, axis) if parts else t

    def of_ours() -> Any:
        parts = cst.struct.unstack(ours, axis=axis)
        return cst.struct.stack(parts, axis=axis) if parts else ours

    if -t.rank <= axis < t.rank and ref.shape(t)[axis] is None:
        # The rows differ, or there is none, and then a list of fixed size may know its size.
        differ = len({len(row) for row in ref.flat(t.value, axis % t.rank) if row is not None}) > 1
        return Call(of_ours, reference, f"unstack axis {axis}") if differ else None
    return Call(of_ours, reference, f"unstack axis {axis}")


@operation
def tile(r: Random, ours: Any, t: ref.Tensor) -> Call | None:
    multiples = [r.choice([0, 1, 1, 2, 2, 3]) for _ in range(t.rank)]
    return Call(
        lambda: cst.struct.tile(ours, multiples),
        lambda: ref.tile(t, multiples),
        f"tile {multiples}",
    )


@operation
def expand_dims(r: Random, ours: Any, t: ref.Tensor) -> Call | None:
    axis = random_axis(r, t.rank + 1)
    return Call(
        lambda: cst.struct.expand_dims(ours, axis),
        lambda: ref.expand_dims(t, axis),
        f"expand_dims {axis}",
    )


@operation
def squeeze(r: Random, ours: Any, t: ref.Tensor) -> Call | None:
    """Of what has been expanded: other dimensions of one are rare."""
    at = r.randrange(t.rank + 1)
    axis = r.choice([None, at, at - t.rank - 1, [at], random_axis(r, t.rank + 1)])
    if axis is None and None in ref.shape(ref.expand_dims(t, at)):
        return None  # a fixed-size list without rows may be one of 1
    return Call(
        lambda: cst.struct.squeeze(cst.struct.expand_dims(ours, at), axis),
        lambda: ref.squeeze(ref.expand_dims(t, at), axis),
        f"squeeze {axis} of expand_dims {at}",
    )


@operation
def reverse(r: Random, ours: Any, t: ref.Tensor) -> Call | None:
    if not t.rank:
        return None
    axis = random_axis(r, t.rank)
    return Call(
        lambda: cst.struct.reverse(ours, axis), lambda: ref.reverse(t, axis), f"reverse {axis}"
    )


@operation
def gather(r: Random, ours: Any, t: ref.Tensor) -> Call | None:
    if not t.rank:
        return None
    axis = r.randrange(t.rank)
    batch = r.randrange(axis + 1)
    more = r.randrange(3)

    def indices(v: Any, rows: list[Any]) -> Any:
        """As many dimensions more, of places that all the rows have."""
        least = min((len(row) for row in rows if row is not None), default=0)
        return random_nest(r, more, lambda: data.random_int(r, least) if least else None)

    def rows_of(v: Any, depth: int, wanted: int) -> list[Any]:
        return ref.flat(v, wanted - depth)

    value = ref.each(t.value, batch, lambda v: indices(v, rows_of(v, batch, axis)))
    index = ref.Tensor(value, batch + more, ref.Leaf("int"))
    return Call(
        lambda: cst.struct.gather(ours, data.index_tensor(index), axis=axis, batch_dims=batch),
        lambda: ref.gather(t, index, axis, batch),
        f"gather {value} axis {axis} batch_dims {batch}",
    )


def random_nest(r: Random, depth: int, leaf: Callable[[], Any]) -> Any:
    if depth == 0:
        return leaf()
    if r.randrange(12) == 0 and depth > 1:
        return [None, *[random_nest(r, depth - 1, leaf) for _ in range(2)]]
    return [random_nest(r, depth - 1, leaf) for _ in range(r.randrange(4))]


@operation
def batch_gather(r: Random, ours: Any, t: ref.Tensor) -> Call | None:
    if not t.rank:
        return None
    rank = r.randint(1, t.rank)

    def places(row: Any) -> Any:
        return None if row is None else [data.random_int(r, len(row)) for _ in row[:2]]

    index = ref.Tensor(ref.each(t.value, rank - 1, places), rank, ref.Leaf("int"))
    if index.value is None:
        return None
    return Call(
        lambda: cst.struct.batch_gather(ours, data.index_tensor(index)),
        lambda: ref.batch_gather(t, index),
        f"batch_gather {index.value}",
    )


@operation
def gather_nd(r: Random, ours: Any, t: ref.Tensor) -> Call | None:
    if not t.rank or t.value is None:
        return None
    depth = r.randint(1, t.rank)
    places = coordinates(t.value, depth)
    chosen = [r.choice(places) for _ in range(r.randint(1, 3))] if places else []
    if not chosen:
        return None
    indices = np.array(chosen, np.int64).reshape(r.choice([(-1, depth), (1, -1, depth)]))
    index = ref.Tensor(indices.tolist(), indices.ndim, ref.Leaf("int"))
    return Call(
        lambda: cst.struct.gather_nd(ours, indices),
        lambda: ref.gather_nd(t, index),
        f"gather_nd {chosen}",
    )


def coordinates(value: Any, depth: int, at: tuple[int, ...] = ()) -> list[tuple[int, ...]]:
    if depth == 0:
        return [at]
    return [c for i, v in enumerate(value or []) for c in coordinates(v, depth - 1, (*at, i))]


def random_mask(r: Random, t: ref.Tensor, rank: int) -> ref.Tensor:
    """A boolean for each place of the first dimensions; null lists where t has them."""
    value = ref.each(t.value, rank, lambda _: r.choice([True, True, False, False, None]))
    return ref.Tensor(value, rank, ref.Leaf("bool"))


@operation
def boolean_mask(r: Random, ours: Any, t: ref.Tensor) -> Call | None:
    if not t.rank:
        return None
    axis = r.randrange(t.rank)
    if axis == 0:
        mask = random_mask(r, t, r.randint(1, t.rank))
    else:
        sizes = ref.shape(t)[axis : axis + r.randint(1, 2)]
        if None in sizes:
            return None
        values = np.array([r.randrange(2) for _ in range(int(np.prod(sizes)))], bool)
        mask = ref.Tensor(values.reshape(sizes).tolist(), len(sizes), ref.Leaf("bool"))
    if mask.value is None:
        return None
    return Call(
        lambda: cst.struct.boolean_mask(ours, data.index_tensor(mask), axis=axis),
        lambda: ref.boolean_mask(t, mask, axis),
        f"boolean_mask {mask.value} axis {axis}",
    )


@operation
def mask(r: Random, ours: Any, t: ref.Tensor) -> Call | None:
    condition = random_mask(r, t, r.randint(0, t.rank))
    if r.randrange(10) == 0 and condition.rank and condition.value:
        condition = condition._replace(value=[*condition.value, None])  # an error
    return Call(
        lambda: cst.struct.mask(ours, data.index_tensor(condition)),
        lambda: ref.mask(t, condition),
        f"mask {condition.value}",
    )


@operation
def where(r: Random, ours: Any, t: ref.Tensor) -> Call | None:
    rank = r.randint(0, t.rank)
    condition = random_mask(r, t, rank)
    if condition.value is None:
        return None
    axis = rank - 1

    def other_of_ours() -> Any:
        return cst.struct.reverse(ours, axis) if rank else ours

    other = ref.reverse(t, axis) if rank else t
    return Call(
        lambda: cst.struct.where(data.index_tensor(condition), ours, other_of_ours()),
        lambda: ref.where(condition, t, other),
        f"where {condition.value}",
    )


@operation
def zeros_like(r: Random, ours: Any, t: ref.Tensor) -> Call | None:
    return Call(lambda: cst.struct.zeros_like(ours), lambda: ref.zeros_like(t), "zeros_like")


@operation
def ones_like(r: Random, ours: Any, t: ref.Tensor) -> Call | None:
    return Call(lambda: cst.struct.ones_like(ours), lambda: ref.ones_like(t), "ones_like")


@operation
def merge_dims(r: Random, ours: Any, t: ref.Tensor) -> Call | None:
    if not t.rank:
        return None
    outer, inner = random_axis(r, t.rank), random_axis(r, t.rank)
    return Call(
        lambda: ours.merge_dims(outer, inner),
        lambda: ref.merge_dims(t, outer, inner),
        f"merge_dims {outer} {inner}",
    )


@operation
def partition_outer_dimension(r: Random, ours: Any, t: ref.Tensor) -> Call | None:
    if not t.rank or t.value is None:
        return None
    length = len(t.value)
    splits = [0, *sorted(r.randint(0, length) for _ in range(r.randrange(3))), length]
    if r.randrange(20) == 0:
        splits[-1] += 1
    return Call(
        lambda: ours.partition_outer_dimension(splits),
        lambda: ref.partition_outer_dimension(t, splits),
        f"partition_outer_dimension {splits}",
    )


@operation
def fill_null(r: Random, ours: Any, t: ref.Tensor) -> Call | None:
    if isinstance(t.element, ref.Struct):
        return fill_null_field(r, ours, t)
    fill = r.choice([[], FILLS[t.element.kind]])
    return Call(
        lambda: cst.struct.fill_null(ours, fill), lambda: ref.fill_null(t, fill), f"fill {fill}"
    )


FILLS: dict[str, Any] = {"bool": True, "int": 7, "float": 0.5, "text": "none", "bytes": b"none"}


def fill_null_field(r: Random, ours: Any, t: ref.Tensor) -> Call | None:
    leaves = [s for s, k in every_path(t.element) if isinstance(ref.levels(k)[1], ref.Leaf)]
    if not leaves:
        return None
    steps = r.choice(leaves)
    own, leaf = ref.levels(paths.type_at(t.element, steps))
    fill = FILLS[leaf.kind] if not own or r.randrange(2) else []
    return Call(
        lambda: cst.struct.fill_null(ours, {steps: fill}),
        lambda: paths.fill_field(t, steps, fill),
        f"fill {steps} {fill}",
    )


@operation
def is_null(r: Random, ours: Any, t: ref.Tensor) -> Call | None:
    return Call(lambda: cst.struct.is_null(ours), lambda: ref.is_null(t), "is_null")


@operation
def drop_null(r: Random, ours: Any, t: ref.Tensor) -> Call | None:
    if not t.rank:
        return None
    steps = struct_path(r, t) if r.randrange(2) else None
    return Call(
        lambda: cst.struct.drop_null(ours, *([] if steps is None else [steps])),
        lambda: ref.drop_null(t, steps),
        f"drop_null {steps}",
    )


@operation
def has(r: Random, ours: Any, t: ref.Tensor) -> Call | None:
    steps = struct_path(r, t)
    if steps is None:
        return None
    return Call(lambda: cst.struct.has(ours, steps), lambda: ref.has(t, steps), f"has {steps}")


def struct_path(r: Random, t: ref.Tensor) -> tuple[str, ...] | None:
    """A path with no lists before its last step."""
    found = [s for s, _ in every_path(t.element) if paths.lists_on(t.element, s[:-1]) == 0]
    return r.choice(found) if found else None


# --- paths ------------------------------------------------------------------------------------


def every_path(kind: ref.Type, at: paths.Steps = ()) -> Iterator[tuple[paths.Steps, ref.Type]]:
    element = ref.levels(kind)[1]
    if isinstance(element, ref.Struct):
        for name, below in element.fields.items():
            yield (*at, name), below
            yield from every_path(below, (*at, name))


def struct_paths(t: ref.Tensor) -> list[paths.Steps]:
    below = [s for s, k in every_path(t.element) if isinstance(ref.levels(k)[1], ref.Struct)]
    return [(), *below]


def written(r: Random, t: ref.Tensor, steps: paths.Steps) -> paths.Path:
    """A path as text with dots where that says the same."""
    text = ".".join(steps)
    try:
        says_the_same = ref.steps_of(t.element, text) == steps
    except ref.Refused:
        says_the_same = steps[-1] == "no such"
    return text if says_the_same and r.randrange(2) else steps


def new_name(r: Random, t: ref.Tensor, parent: paths.Steps) -> tuple[str, bool]:
    """A name for a struct's new field, seldom one that is there; and whether to replace."""
    names = list(paths.struct_at(t.element, parent).fields)
    if names and r.randrange(5) == 0:
        return r.choice(names), bool(r.randrange(2))
    return r.choice(["new", "fresh.name"]), bool(r.randrange(2))


@path_operation
def promote(r: Random, ours: Any, t: ref.Tensor) -> Call | None:
    deep = [s for s, _ in every_path(t.element) if len(s) > 1]
    if not deep:
        return None
    steps = r.choice(deep)
    to = r.choice([None, *[steps[:n] for n in range(len(steps))]])
    target = steps[:-2] if to is None else to
    name, replace = new_name(r, t, target)
    path, to_path = written(r, t, steps), None if to is None else written(r, t, to)
    return Call(
        lambda: ours.promote(path, to=to_path, name=name, replace=replace),
        lambda: paths.promote(t, steps, to, name, replace),
        f"promote {steps} to {to} as {name} replace {replace}",
        ((*target, name),),
    )


@path_operation
def broadcast(r: Random, ours: Any, t: ref.Tensor) -> Call | None:
    pairs = [
        (s, into)
        for s, _ in every_path(t.element)
        for into in struct_paths(t)
        if into[: len(s) - 1] == s[:-1] and len(into) > len(s) - 1
    ]
    if not pairs:
        return None
    steps, into = r.choice(pairs)
    name, replace = new_name(r, t, into)
    path, into_path = written(r, t, steps), written(r, t, into)
    return Call(
        lambda: ours.broadcast(path, into=into_path, name=name, replace=replace),
        lambda: paths.broadcast(t, steps, into, name, replace),
        f"broadcast {steps} into {into} as {name} replace {replace}",
        ((*into, name),),
    )


@path_operation
def promote_and_broadcast(r: Random, ours: Any, t: ref.Tensor) -> Call | None:
    into = r.choice(struct_paths(t))
    every = [s for s, _ in every_path(t.element)]
    if not every:
        return None
    fields = {f"new{i}": r.choice(every) for i in range(r.randint(1, 2))}
    asked = {name: written(r, t, s) for name, s in fields.items()}
    return Call(
        lambda: ours.promote_and_broadcast(asked, into),
        lambda: paths.promote_and_broadcast(t, fields, into),
        f"promote_and_broadcast {fields} into {into}",
        tuple((*into, name) for name in fields),
    )


@path_operation
def apply(r: Random, ours: Any, t: ref.Tensor) -> Call | None:
    numbers = [
        (s, ref.levels(k)[0])
        for s, k in every_path(t.element)
        if ref.levels(k)[1] in (ref.Leaf("int"), ref.Leaf("float"))
    ]
    if not numbers:
        return None
    first, own = r.choice(numbers)
    others = [s for s, k in numbers if s[:-1] == first[:-1] and (k == own == 0 or s == first)]
    sources = [first] if r.randrange(2) else [first, r.choice(others)]
    function = (lambda v: v + 0.5) if len(sources) == 1 else (lambda v, w: v == w)
    kind = ref.Leaf("float" if len(sources) == 1 else "bool")
    name, replace = new_name(r, t, first[:-1])
    result = (*first[:-1], name)
    return Call(
        lambda: ours.apply(function, *sources, name=result, replace=replace),
        lambda: paths.apply(t, function, *sources, name=result, kind=kind, replace=replace),
        f"apply to {sources} as {result} replace {replace}",
        (result,),
    )


@path_operation
def with_updates(r: Random, ours: Any, t: ref.Tensor) -> Call | None:
    """A field in the place of another one, or beside it, or a value for every struct."""
    every = list(every_path(t.element))
    if not every:
        return None
    source = r.choice(every)[0]
    target = (*source[:-1], r.choice([source[-1], "new"]))
    which = r.randrange(3)
    if which == 0:
        rank = t.rank + paths.lists_on(t.element, target[:-1])
        value = r.choice([7, 0.5, True])
        kind = ref.Leaf({int: "int", float: "float", bool: "bool"}[type(value)])
        structs = ref.project(t, target[:-1])
        assert structs.rank == rank
        new = ref.Tensor(ref.each(structs.value, rank, lambda _: value), rank, kind)
        return Call(
            lambda: ours.with_updates({target: value}),
            lambda: paths.with_update(t, target, new),
            f"with_updates {target}: {value}",
            (target,),
        )
    sibling = r.choice([s for s, _ in every if s[:-1] == source[:-1]])
    if which == 1 and target == source:
        return Call(
            lambda: ours.with_updates({target: lambda old: cst.struct.is_null(old)}),
            lambda: paths.with_update(t, target, ref.is_null(ref.project(t, source))),
            f"with_updates {target}: is_null",
            (target,),
        )
    return Call(
        lambda: ours.with_updates({target: ours[sibling]}),
        lambda: paths.with_update(t, target, ref.project(t, sibling)),
        f"with_updates {target}: field {sibling}",
        (target,),
    )


@path_operation
def without(r: Random, ours: Any, t: ref.Tensor) -> Call | None:
    chosen = some_paths(r, t)
    asked = [written(r, t, s) for s in chosen]
    return Call(
        lambda: ours.without(*asked), lambda: paths.without(t, *chosen), f"without {chosen}"
    )


@path_operation
def with_only(r: Random, ours: Any, t: ref.Tensor) -> Call | None:
    chosen = some_paths(r, t)
    asked = [written(r, t, s) for s in chosen]
    return Call(
        lambda: ours.with_only(*asked), lambda: paths.with_only(t, *chosen), f"with_only {chosen}"
    )


def some_paths(r: Random, t: ref.Tensor) -> list[paths.Steps]:
    every = [s for s, _ in every_path(t.element)]
    chosen = [r.choice(every) for _ in range(r.randint(1, 3))] if every else []
    return [*chosen, ("no such",)] if r.randrange(15) == 0 else chosen
