"""What a query gives, in plain Python: slow, clear, one record at a time.

`Query(statements, type).run(records)` gives the rows of each record, or Failed. Records and their
types are as query_places.py has them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import query_reference_functions as functions
import query_syntax as syntax
from query_expressions import dropped, kept, member, names_in_key, step, understand
from query_places import (
    Ambiguous,
    Field,
    Key,
    Leaf,
    Place,
    Scope,
    State,
    Struct,
    Type,
    Value,
    align,
    each,
    flat,
    merged,
    merged_key,
    rekeyed,
    shared,
)
from query_reference_functions import NO_LITERAL, Failed, Refused

# ---- statements ----


class NullRow(dict[str, Any]):
    """A row that was null: its fields are."""

    def __missing__(self, key: str) -> None:
        return None


class Column(NamedTuple):
    """A column of the result. kind: "", "dense", "sparse", "ragged", "struct"."""

    name: str
    field: Field
    of: Callable[[State], Any]
    key: Key
    kind: str = ""
    shape: tuple[int, ...] = ()

    def needs(self) -> set[str]:
        """What it needs of what is stored, and more."""
        return {*names_in_key(self.key), *names_in_type(self.field, 6)}

    def value(self, s: State) -> Any:
        made = self.of(s)
        return stored(made, self.field) if self.kind in ("", "struct") else made


def own_lists(of: Type, depth: int = 3) -> set[Any]:
    """The lists of the fields of structs: null where these are. Messages may hold themselves."""
    found: set[Any] = set()
    for field in of.fields.values() if isinstance(of, Struct) else ():
        if field.lists:
            found.add(field.lists[0])
        elif depth:
            found |= own_lists(field.type, depth - 1)
    return found


class Query:
    def __init__(
        self,
        statements: str | Sequence[syntax.Statement],
        type: Struct,
        params: Mapping[str, Any] | None = None,
    ) -> None:
        if isinstance(statements, str):
            statements = syntax.parse(statements)
        self.type = type
        self.given = dict(params or {})
        self.params: dict[str, Value] = {}
        self.steps: list[Callable[[list[State]], list[State]]] = []
        self.kept: list[tuple[str, ...]] = []
        self.keeps_type: Struct | None = None
        self.outputs: list[Column] = []
        self.count = 0
        self.has_own_lists = False  # lists in structs below: one list with another or not
        for s in statements:
            getattr(self, f"add_{s.kind}")(s)
        if self.given:
            raise Refused(f"no parameters {sorted(self.given)}")
        self.columns = self.kept_columns() + self.outputs
        if len({c.name for c in self.columns}) < len(self.columns):
            raise Refused("two columns of one name")

    def scope(self, wanted: Place = ()) -> Scope:
        record = Value((), self.type, "record", lambda s: s.record)
        return Scope(record, self.params, wanted)

    # ---- making ----

    def add_from(self, s: syntax.Statement) -> None:
        pass

    def add_param(self, s: syntax.Statement) -> None:
        if s.name in self.params or s.name in self.type.fields:
            raise Refused(f"{s.name} is there")
        default = s.value.value if isinstance(s.value, syntax.Literal) else NO_LITERAL
        value = self.given.pop(s.name, default)
        if value is NO_LITERAL:
            raise Refused(f"{s.name} has no value")
        of_list = s.type.startswith("[")
        kind = s.type.strip("[]")
        for v in value if of_list else [value]:
            if not functions.fits(v, kind):
                raise Refused(f"{v} is no {kind}")
        key = ("param", s.name)
        if of_list:
            self.params[s.name] = Value((), Leaf("list"), key, lambda _: value, value)
        else:
            made = functions.cast(value, kind)
            self.params[s.name] = Value((), Leaf(kind), key, lambda _: made)

    def add_let(self, s: syntax.Statement) -> None:
        *above, name = s.path
        target = self.scope().record
        is_inner = False  # a struct that is a field of another, and not all that is at its place
        for n in above:
            is_inner = not member(target.type, n).lists
            target = step(target, n)
        if not isinstance(target.type, Struct):
            raise Refused("a field of what has no fields")
        if name in target.type.fields or (not above and name in self.params):
            raise Refused(f"{name} is there")
        value = understand(s.value, self.scope(target.place))
        if value.kind == functions.NULL:
            raise Ambiguous("a let of null")
        if value.kind == "list":
            raise Refused("a let of a list of literals")
        to = shared(value.place, target.place)
        self.count += 1
        stored = f"{name}#{self.count}"
        is_map = value.is_map and len(value.place) == len(to) + 1
        lists = merged_key(value.place, len(to))
        of = value.type
        if is_inner and not lists:
            of = rekeyed(of, ("in", target.key))  # its lists are null where the struct is
        is_own = is_inner and bool(lists) and lists[0] in own_lists(target.type)
        hides = (is_inner and not is_own) or (bool(lists) and lists[0][0] == "split")
        if lists and lists[0][:2] != ("in", target.key) and hides:
            lists = (("in", target.key, lists[0]),)
        self.has_own_lists |= bool(lists and above)
        field = Field(lists, of, is_map, stored)
        depth, top = len(value.place), len(to)

        def make(states: list[State]) -> list[State]:
            return [put(state) for state in states]

        def put(state: State) -> State:
            """One that fails makes those fail that need it."""
            made: Any = None
            try:
                made = merged(value.of(state), depth, top)
                parts = [(target.of(state), len(target.place)), (made, top)]
                made = align(len(target.place), parts, lambda _, v: v)
            except Failed as error:
                state.failures[stored] = error
                made = None
            return state._replace(record=with_value(state.record, types, above, stored, made))

        types = self.type
        self.type = with_field(self.type, above, name, field)
        self.steps.append(make)

    def add_rows(self, s: syntax.Statement) -> None:
        if self.outputs or self.kept:
            raise Refused("outputs before rows")
        of = self.scope().record
        for n in s.path:
            of = step(of, n)
        if not of.place or not isinstance(of.type, Struct):
            raise Refused("rows of what is no list of structs")
        depth = len(of.place)
        self.steps.append(
            lambda states: [
                state._replace(record=NullRow() if v is None else v)
                for state in states
                for v in flat(of.of(state), depth)
            ]
        )
        self.type = of.type

    def add_keep(self, s: syntax.Statement) -> None:
        kept(self.type, s.patterns)
        self.kept.extend(s.patterns)
        self.keeps_type = self.type

    def add_drop(self, s: syntax.Statement) -> None:
        for pattern in s.patterns:
            self.type = dropped(self.type, pattern)

    def add_rename(self, s: syntax.Statement) -> None:
        def go(of: Type, steps: tuple[str, ...]) -> Struct:
            field = member(of, steps[0])
            assert isinstance(of, Struct)
            if steps[1:]:
                below = field._replace(type=go(field.type, steps[1:]))
                return type(of)({**of.fields, steps[0]: below})
            if s.name in of.fields or (len(s.path) == 1 and s.name in self.params):
                raise Refused(f"{s.name} is there")
            others = {n: f for n, f in of.fields.items() if n != steps[0]}
            return type(of)({**others, s.name: field._replace(stored=field.stored or steps[0])})

        self.type = go(self.type, s.path)

    def add_output(self, s: syntax.Statement) -> None:
        self.outputs.append(output(s, self.scope()))

    def kept_columns(self) -> list[Column]:
        if self.outputs and not self.kept:
            return []
        of = kept(self.keeps_type or self.type, self.kept or [("**",)])

        def column(n: str, field: Field) -> Column:
            def get(s: State) -> Any:
                return None if s.record is None else s.record[field.stored]

            return Column(n, field, get, field.stored)

        return [column(n, f) for n, f in of.fields.items()]

    # ---- running ----

    def run(self, records: Sequence[Any], wanted: Sequence[str] | None = None) -> list[Any]:
        """Of each record its rows, dicts of the wanted columns, or Failed."""
        columns = self.columns
        if wanted is not None:
            by_name = {c.name: c for c in columns}
            columns = [by_name[n] for n in wanted]
        return [self.rows(State(r, i, {}), columns) for i, r in enumerate(records)]

    def rows(self, state: State, columns: Sequence[Column]) -> list[dict[str, Any]] | Failed:
        states = [state]
        try:
            for step in self.steps:
                states = step(states)
            for name in {n for c in columns for n in c.needs()} if state.failures else ():
                if name in state.failures:
                    raise state.failures[name]
            return [{c.name: c.value(s) for c in columns} for s in states]
        except Failed as error:
            return error


def names_in_type(field: Field, depth: int) -> Iterator[str]:
    if depth > 0 and isinstance(field.type, Struct):
        for n, f in field.type.fields.items():
            yield f.stored or n
            yield from names_in_type(f, depth - 1)


def with_field(of: Type, above: Sequence[str], name: str, field: Field) -> Struct:
    assert isinstance(of, Struct)
    if not above:
        return of.with_field(name, field)
    inner = of.fields[above[0]]
    changed = inner._replace(type=with_field(inner.type, above[1:], name, field), is_map=False)
    return of.with_field(above[0], changed)


def with_value(record: Any, of: Type, above: Sequence[str], name: str, made: Any) -> Any:
    """The struct with a value in each of the structs that the path leads to."""
    if record is None:
        return None
    if not above:
        return type(record)({**record, name: made})
    assert isinstance(of, Struct)
    field = of.fields[above[0]]

    def go(v: Any, depth: int, made: Any) -> Any:
        if depth == 0:
            return with_value(v, field.type, above[1:], name, made)
        if v is None:
            return None
        return [go(x, depth - 1, None if made is None else made[i]) for i, x in enumerate(v)]

    key = field.stored or above[0]
    return type(record)({**record, key: go(record[key], len(field.lists), made)})


def stored(value: Any, field: Field) -> Any:
    """A field's value with the fields of its type and no others."""

    def element(v: Any) -> Any:
        if v is None or isinstance(field.type, Leaf):
            return v
        return {n: stored(v[f.stored or n], f) for n, f in field.type.fields.items()}

    return each(value, len(field.lists), element)


# ---- outputs ----


def output(s: syntax.Statement, scope: Scope) -> Column:
    e = s.value
    kinds = ("dense", "sparse", "ragged", "struct")
    if not isinstance(e, syntax.Call) or e.name not in kinds:
        value = understand(e, scope)
        check_output(value)
        return Column(s.name, Field(value.place, value.type, value.is_map), value.of, value.key)
    options = dict(e.keys)
    if len(e.args) != 1:
        raise Refused(f"{e.name} of one value")
    value = understand(e.args[0], scope)
    check_output(value)
    if e.name == "struct":
        if not isinstance(value.type, Struct):
            raise Refused("struct of what is none")
        return Column(s.name, Field(value.place, value.type), value.of, value.key, "struct")
    if isinstance(value.type, Struct):
        raise Refused(f"{e.name} of structs")
    allowed = {"dense": {"shape", "default"}, "sparse": set(), "ragged": {"default", "row_splits"}}
    if set(options) - allowed[e.name]:
        raise Refused(f"keywords of {e.name}")
    default = None
    if "default" in options:
        default = understand(options["default"], scope).literal
        if default is NO_LITERAL or not functions.fits(default, value.kind):
            raise Refused("a default that does not fit")
        default = functions.cast(default, value.kind)
    field, depth = Field(value.place, value.type), len(value.place)
    if e.name == "sparse":
        return Column(s.name, field, lambda st: sparse(value.of(st), depth), value.key, "sparse")
    if e.name == "ragged":
        if not depth:
            raise Refused("ragged of what is no list")
        return Column(
            s.name, field, lambda st: ragged(value.of(st), depth, default), value.key, "ragged"
        )
    shape: tuple[int, ...] = ()
    if "shape" in options:
        shape = tuple(understand(options["shape"], scope).literal)
    if len(shape) != depth or any(type(n) is not int or n < 0 for n in shape):
        raise Refused("a shape of other dimensions")
    return Column(
        s.name, field, lambda st: dense(value.of(st), shape, default), value.key, "dense", shape
    )


def check_output(value: Value) -> None:
    if value.kind == functions.NULL:
        raise Ambiguous("an output of null")
    if value.kind == "list":
        raise Refused("an output of a list of literals")


def dense(value: Any, shape: Sequence[int], default: Any) -> Any:
    if not shape:
        if value is None and default is None:
            raise Failed("null, and no default")
        return default if value is None else value
    row = value or []
    if len(row) > shape[0] or (len(row) < shape[0] and default is None):
        raise Failed("a list of another length")
    filled = [*row, *[None] * (shape[0] - len(row))]
    return [dense(v, shape[1:], default) for v in filled]


def sparse(value: Any, depth: int) -> Any:
    """Positions and values of what is not null; at the record the value."""
    if depth == 0:
        return value

    def go(v: Any, at: tuple[int, ...]) -> Iterator[Any]:
        if len(at) == depth:
            if v is not None:
                yield (*at, v)
        else:
            for i, x in enumerate(v or []):
                yield from go(x, (*at, i))

    return list(go(value, ()))


def ragged(value: Any, depth: int, default: Any) -> Any:
    if depth == 0:
        if value is None and default is None:
            raise Failed("a null, and no default")
        return default if value is None else value
    return [ragged(v, depth - 1, default) for v in value or []]
