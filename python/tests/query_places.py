"""Where values of a query stand, and what it takes to bring them together, in plain Python.

Records are dicts, lists are lists, None is null: for a null list, struct or value. A *place* is the
keys of the lists that lead to it, from the record down: () is the record. What stands at a place
of n lists is a value n lists deep, None where a list is null. Two places are the same if their keys
are; then their lists have the same lengths.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from query_reference_functions import NO_LITERAL, Failed, Refused


class Ambiguous(Refused):
    """Whether this is allowed is not said."""


Key = Any  # hashable; equal ones are the same thing
Place = tuple[Key, ...]


class Leaf(NamedTuple):
    kind: str


class Struct:
    """Its fields are made when they are asked for: messages may hold themselves."""

    def __init__(self, fields: Mapping[str, Field] | Callable[[], Mapping[str, Field]]) -> None:
        self._fields = fields

    @property
    def fields(self) -> Mapping[str, Field]:
        if callable(self._fields):
            self._fields = self._fields()
        return self._fields

    def with_field(self, name: str, field: Field) -> Struct:
        return type(self)({**self.fields, name: field})


Type = Leaf | Struct


class Field(NamedTuple):
    """Lists and what is in them. stored: the key in the values, if it is not the name."""

    lists: Place
    type: Type
    is_map: bool = False
    stored: str = ""


@dataclass(frozen=True)
class Value:
    """An expression that has been understood."""

    place: Place
    type: Type
    key: Key
    of: Callable[[State], Any]
    literal: Any = NO_LITERAL
    is_map: bool = False  # the innermost list is a map's

    @property
    def kind(self) -> str:
        return self.type.kind if isinstance(self.type, Leaf) else "struct"


class State(NamedTuple):
    record: Any
    number: int  # of the input record
    failures: dict[str, Failed]  # of lets, by what their values are stored as


@dataclass(frozen=True)
class Scope:
    """Where an expression stands: what its names mean, and where aggregates are wanted."""

    record: Value
    params: Mapping[str, Value]
    wanted: Place
    it: Value | None = None


# ---- values at places ----


def align(depth: int, parts: Sequence[tuple[Any, int]], f: Callable[..., Any]) -> Any:
    """f of what the parts, each a value and how deep it goes at most, have `depth` lists down.
    Those that do not go as deep are the same for all below."""

    def go(level: int, values: list[Any]) -> Any:
        if level == depth:
            return f(*values)
        rows = [v for v, (_, own) in zip(values, parts, strict=True) if own > level]
        if any(r is None for r in rows):
            assert all(r is None for r in rows), "one place, but lists that are null or not"
            return None
        assert len({len(r) for r in rows}) == 1, "one place, but lists of several lengths"
        return [
            go(
                level + 1,
                [v[i] if own > level else v for v, (_, own) in zip(values, parts, strict=True)],
            )
            for i in range(len(rows[0]))
        ]

    return go(0, [value for value, _ in parts])


def each(value: Any, depth: int, f: Callable[[Any], Any]) -> Any:
    return align(depth, [(value, depth)], f)


def flat(value: Any, depth: int) -> Iterator[Any]:
    if depth == 0:
        yield value
    else:
        for v in value or []:
            yield from flat(v, depth - 1)


def merged(value: Any, depth: int, to: int) -> Any:
    """The lists from `to` down to `depth` become one; null if the outermost is."""
    if depth == to:
        return value
    return each(value, to, lambda v: None if v is None else list(flat(v, depth - to)))


def merged_key(place: Place, to: int) -> Place:
    """The key of the list that they become, if there are any."""
    lists = place[to:]
    return lists if len(lists) < 2 else (("promote", lists),)


def shared(a: Place, b: Place) -> Place:
    check_promoted(a, b)
    n = 0
    while n < min(len(a), len(b)) and a[n] == b[n]:
        n += 1
    return a[:n]


def starts(place: Place, above: Place) -> bool:
    check_promoted(place, above)
    return place[: len(above)] == above


def deepest(values: Sequence[Value]) -> Place:
    found = max((v.place for v in values), key=len, default=())
    for v in values:
        if not starts(found, v.place):
            raise Refused(f"two places: {found} and {v.place}")
    return found


def check_promoted(a: Place, b: Place) -> None:
    """A list that was made of several has the elements of the innermost of them."""
    if any(is_promoted(key) for key in (*a, *b)):
        of = {opened(a[:n]): a[:n] for n in range(1, len(a) + 1)}
        for n in range(1, len(b) + 1):
            if of.get(opened(b[:n]), b[:n]) != b[:n]:
                raise Ambiguous("a promoted list, and what it was made of")


def is_promoted(key: Key) -> bool:
    return isinstance(key, tuple) and key[0] == "promote"


def opened(place: Place) -> Place:
    return tuple(
        inner for key in place for inner in (opened(key[1]) if is_promoted(key) else (key,))
    )


def rekeyed(of: Type, tag: Key) -> Type:
    """The same with other lists: those of one of several structs, not of all."""
    if isinstance(of, Leaf):
        return of

    def field(f: Field) -> Field:
        if f.lists:
            return f._replace(lists=((tag, f.lists[0]), *f.lists[1:]))
        return f._replace(type=rekeyed(f.type, tag))

    return type(of)(lambda: {n: field(f) for n, f in of.fields.items()})
