"""What the path operations of structured tensors do, in plain Python; see nested_reference.py.

Each works on one value of the outermost struct type at a time: a path is a tuple of steps, and the
lists that lie on it are opened as they come.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nested_reference import (
    List,
    NoField,
    Refused,
    Struct,
    Tensor,
    Type,
    each,
    fill_null,
    levels,
    lists,
    member,
    steps_of,
)

Path = str | Sequence[str]
Steps = tuple[str, ...]
ABSENT = object()


def type_at(element: Type, steps: Steps) -> Type:
    """The type of the field at a path (of the struct itself, without steps)."""
    for step in steps:
        element = member(element, step)
    return element


def struct_at(element: Type, steps: Steps) -> Struct:
    found = levels(type_at(element, steps))[1]
    if not isinstance(found, Struct):
        raise Refused(f"{steps} has no fields")
    return found


def lists_on(element: Type, steps: Steps) -> int:
    """How many lists lie on the way to the structs at a path, theirs included."""
    return sum(levels(type_at(element, steps[: n + 1]))[0] for n in range(len(steps)))


def has_field(element: Type, steps: Steps) -> bool:
    try:
        type_at(element, steps)
    except NoField:
        return False
    return True


# --- changing one field -----------------------------------------------------------------------


def change(t: Tensor, parent: Steps, name: str, kind: Type | None, f: Callable[..., Any]) -> Tensor:
    """The field `name` of the structs at `parent` becomes f(chain): chain is the struct, preceded
    by the structs above it, one per step. Without a type the field goes."""

    def value(v: Any, here: Type, steps: Steps, chain: list[Any]) -> Any:
        if v is None:
            return None
        if isinstance(here, List):
            return [value(x, here.item, steps, chain) for x in v]
        chain = [*chain, v]
        if steps:
            below = member(here, steps[0])
            return {**v, steps[0]: value(v[steps[0]], below, steps[1:], chain)}
        if kind is None:
            return {n: x for n, x in v.items() if n != name}
        return {**v, name: f(chain)}

    def changed(here: Type, steps: Steps) -> Type:
        depth, struct = levels(here)
        assert isinstance(struct, Struct)
        if steps:
            fields = {**struct.fields, steps[0]: changed(struct.fields[steps[0]], steps[1:])}
        elif kind is None:
            fields = {n: k for n, k in struct.fields.items() if n != name}
        else:
            fields = {**struct.fields, name: kind}
        return lists(depth, Struct(fields))

    struct_at(t.element, parent)
    result = value(t.value, lists(t.rank, t.element), parent, [])
    element = changed(t.element, parent)
    assert isinstance(element, Struct)
    return Tensor(result, t.rank, element)


def refuse_existing(t: Tensor, steps: Steps, replace: bool) -> None:
    if not replace and has_field(t.element, steps):
        raise Refused(f"{steps} is there")


# --- promote and broadcast --------------------------------------------------------------------


def promoted_type(element: Type, to: Steps, path: Steps) -> Type:
    struct, below = struct_at(element, to), path[len(to) :]
    own = type_at(struct, below)
    if lists_on(struct, below[:-1]) == 0:
        return own
    return List(own.item if isinstance(own, List) else own)


def promoted(struct: Any, element: Type, below: Steps) -> Any:
    """Everything at a path below one struct, in order, as one list; where no list is on the way,
    the field as it is. A null outermost list gives null, those below it contribute nothing."""
    if lists_on(element, below[:-1]) == 0:
        for step in below:
            struct = None if struct is None else struct[step]
        return struct

    def gather(v: Any, kind: Type, steps: Steps, into: list[Any]) -> None:
        if isinstance(kind, List) and not steps:
            into.extend(v or [])  # the field's own first list
        elif isinstance(kind, List):
            for x in v or []:
                gather(x, kind.item, steps, into)
        elif steps:
            field = None if v is None else v[steps[0]]
            gather(field, member(kind, steps[0]), steps[1:], into)
        else:
            into.append(v)

    kind: Type = element
    while not isinstance(kind, List):  # down to the outermost list
        struct = None if struct is None else struct[below[0]]
        kind, below = member(kind, below[0]), below[1:]
    if struct is None:
        return None
    result: list[Any] = []
    gather(struct, kind, below, result)
    return result


def promote(
    t: Tensor, path: Path, to: Path | None = None, name: str | None = None, replace: bool = False
) -> Tensor:
    steps = steps_of(t.element, path)
    if to is None and len(steps) < 2:
        raise Refused("nothing above the field's parent")
    target = steps[:-2] if to is None else steps_of(t.element, to)
    if not steps or steps[: len(target)] != target or len(target) >= len(steps):
        raise Refused(f"{target} is not above {steps}")
    name = steps[-1] if name is None else name
    refuse_existing(t, (*target, name), replace)
    kind, below = promoted_type(t.element, target, steps), steps[len(target) :]
    struct = struct_at(t.element, target)
    return change(t, target, name, kind, lambda chain: promoted(chain[-1], struct, below))


def broadcast(
    t: Tensor, path: Path, into: Path, name: str | None = None, replace: bool = False
) -> Tensor:
    steps, target = steps_of(t.element, path), steps_of(t.element, into)
    above = len(steps) - 1
    if above < 0 or target[:above] != steps[:-1] or len(target) <= above:
        raise Refused(f"{target} is not below the parent of {steps}")
    name = steps[-1] if name is None else name
    refuse_existing(t, (*target, name), replace)
    kind = type_at(t.element, steps)
    return change(t, target, name, kind, lambda chain: chain[above][steps[-1]])


def promote_and_broadcast(
    t: Tensor, fields: Mapping[str, Path], into: Path, replace: bool = False
) -> Tensor:
    """Each field is made of the tensor as it was, then all are put in."""
    target = steps_of(t.element, into)
    result = t
    for name, path in fields.items():
        steps = steps_of(t.element, path)
        shared = 0
        while shared < min(len(steps) - 1, len(target)) and steps[shared] == target[shared]:
            shared += 1
        refuse_existing(t, (*target, name), replace)
        struct, below = struct_at(t.element, steps[:shared]), steps[shared:]
        kind = promoted_type(t.element, steps[:shared], steps)
        made = change(
            t,
            target,
            name,
            kind,
            lambda chain, n=shared, s=struct, b=below: promoted(chain[n], s, b),
        )
        result = graft(result, made, target, name, kind)
    return result


def graft(t: Tensor, source: Tensor, parent: Steps, name: str, kind: Type) -> Tensor:
    """The field of the structs at a path, taken from another tensor of the same structure."""
    values = iter(fields_at(source, parent, name))
    return change(t, parent, name, kind, lambda _: next(values))


def fields_at(t: Tensor, parent: Steps, name: str) -> list[Any]:
    """The field of every struct at a path that is there, in order."""
    found: list[Any] = []
    change(t, parent, name, List(t.element), lambda chain: found.append(chain[-1][name]))
    return found


# --- apply ------------------------------------------------------------------------------------


def apply(
    t: Tensor, f: Callable[..., Any], *paths: Path, name: Path, kind: Type, replace: bool = False
) -> Tensor:
    """f of each value of the sources where all are there, null elsewhere."""
    sources = [steps_of(t.element, p) for p in paths]
    parent = sources[0][:-1]
    target = name_below(t, name)
    if any(s[:-1] != parent for s in sources) or target[:-1] != parent:
        raise Refused("sources of several parents")
    refuse_existing(t, target, replace)
    depths = {levels(type_at(t.element, s))[0] for s in sources}
    if len(depths) > 1 or any(
        isinstance(levels(type_at(t.element, s))[1], Struct) for s in sources
    ):
        raise Refused("sources of several structures")
    depth = depths.pop()

    def values(rows: list[Any], depth: int) -> Any:
        if any(r is None for r in rows):
            if any(rows):
                raise Refused("a null list and values")
            return None
        if depth == 0:
            return f(*rows)
        if len({len(r) for r in rows}) > 1:
            raise Refused("row splits differ")
        return [values(list(column), depth - 1) for column in zip(*rows, strict=True)]

    def leaf(chain: list[Any]) -> Any:
        rows = [chain[-1][s[-1]] for s in sources]
        if depth == 0:
            return None if any(r is None for r in rows) else f(*rows)
        return values(rows, depth)

    return change(t, parent, target[-1], lists(depth, kind), leaf)


def name_below(t: Tensor, path: Path) -> Steps:
    """A path whose last step need not be there: what is there first, then the new name."""
    if not isinstance(path, str):
        steps_of(t.element, path[:-1])
        return tuple(path)
    for dot in [len(path), *(i for i in range(len(path) - 1, 0, -1) if path[i] == ".")]:
        try:
            above = steps_of(t.element, path[:dot])
        except NoField:
            continue
        return above if dot == len(path) else (*above, path[dot + 1 :])
    return (path,)


# --- fields put in and taken out --------------------------------------------------------------


def with_update(t: Tensor, path: Path, value: Tensor) -> Tensor:
    """A field of the structs at the path's parent, from a tensor whose first dimensions are
    theirs."""
    steps = name_below(t, path)
    parent, name = steps[:-1], steps[-1]
    depth = t.rank + lists_on(t.element, parent)
    if value.rank < depth:
        raise Refused("fewer dimensions than the structs have")
    found: list[Any] = []

    def walk(v: Any, kind: Type, steps: Steps, new: Any) -> None:
        if isinstance(kind, List):
            if len(v or []) != len(new or []):
                raise Refused("rows differ")
            for x, y in zip(v or [], new or [], strict=True):
                walk(x, kind.item, steps, y)
        elif v is not None and steps:
            walk(v[steps[0]], member(kind, steps[0]), steps[1:], new)
        elif v is not None:
            found.append(new)

    walk(t.value, lists(t.rank, t.element), parent, value.value)
    values = iter(found)
    kind = lists(value.rank - depth, value.element)
    return change(t, parent, name, kind, lambda _: next(values))


def without(t: Tensor, *paths: Path) -> Tensor:
    every = [steps_of(t.element, p) for p in paths]
    for steps in every:
        if not steps:
            raise Refused("the top")
        if has_field(t.element, steps):  # one may have gone with a struct above it
            t = change(t, steps[:-1], steps[-1], None, lambda _: None)
    return t


def with_only(t: Tensor, *paths: Path) -> Tensor:
    """Only these fields, in the order in which they are named; of a struct on the way only what is
    asked for."""
    wanted = [steps_of(t.element, p) for p in paths]

    def kept(kind: Type, below: list[Steps]) -> Type:
        depth, struct = levels(kind)
        if () in below:
            return kind
        assert isinstance(struct, Struct)
        names = dict.fromkeys(steps[0] for steps in below)
        fields = {
            n: kept(struct.fields[n], [steps[1:] for steps in below if steps[0] == n])
            for n in names
        }
        return lists(depth, Struct(fields))

    def value(v: Any, kind: Type) -> Any:
        if v is None:
            return None
        if isinstance(kind, List):
            return [value(x, kind.item) for x in v]
        if isinstance(kind, Struct):
            return {n: value(v[n], k) for n, k in kind.fields.items()}
        return v

    element = kept(t.element, wanted)
    assert isinstance(element, Struct)
    return Tensor(each(t.value, t.rank, lambda e: value(e, element)), t.rank, element)


def fill_field(t: Tensor, path: Path, fill: Any) -> Tensor:
    """Null values of a field become a value, or its null lists empty ones with []."""
    steps = steps_of(t.element, path)
    depth, element = levels(type_at(t.element, steps))

    def filled(chain: list[Any]) -> Any:
        return fill_null(Tensor(chain[-1][steps[-1]], depth, element), fill).value

    return change(t, steps[:-1], steps[-1], lists(depth, element), filled)
