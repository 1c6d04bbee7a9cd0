"""What expressions of a query mean, in plain Python: each becomes a Value, which has a place and a
type, and can be had of any record. See query_places.py."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import query_reference_functions as functions
import query_syntax as syntax
from query_places import (
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
    deepest,
    each,
    merged,
    merged_key,
    rekeyed,
    shared,
    starts,
)
from query_reference_functions import NO_LITERAL, Argument, Failed, Refused

# ---- expressions ----


def understand(e: syntax.Expr, scope: Scope) -> Value:
    if isinstance(e, syntax.Literal):
        if isinstance(e.value, list):
            return Value((), Leaf("list"), ("literal", repr(e.value)), lambda _: e.value, e.value)
        kind = functions.literal_kind(e.value)
        return Value((), Leaf(kind), ("literal", repr(e.value)), lambda _: e.value, e.value)
    if isinstance(e, syntax.Name):
        return name(e.name, scope)
    if isinstance(e, syntax.It):
        if scope.it is None:
            raise Refused("it, outside of where")
        return scope.it
    if isinstance(e, syntax.Record):
        return scope.record
    if isinstance(e, syntax.Step):
        return step(understand(e.base, scope), e.name)
    if isinstance(e, syntax.At):
        return at(understand(e.base, scope), understand(e.index, scope))
    if isinstance(e, syntax.Slice):
        bounds = [None if b is None else understand(b, scope) for b in e.bounds]
        return sliced(understand(e.base, scope), bounds)
    if isinstance(e, syntax.Where):
        base = understand(e.base, scope)
        return where(base, understand(e.condition, within(base, scope)))
    if isinstance(e, syntax.StructOf):
        return struct_of({n: understand(x, scope) for n, x in unique(e.fields)})
    return call(e, scope)


def unique(pairs: Sequence[tuple[str, Any]]) -> Sequence[tuple[str, Any]]:
    if len({n for n, _ in pairs}) < len(pairs) or not pairs:
        raise Refused("names twice, or none")
    return pairs


def within(base: Value, scope: Scope) -> Scope:
    return replace(scope, it=base, wanted=base.place)


def name(of: str, scope: Scope) -> Value:
    for place in (scope.it, scope.record):
        if place and isinstance(place.type, Struct) and of in place.type.fields:
            return step(place, of)
    if of in scope.params:
        return scope.params[of]
    raise Refused(f"no {of}")


def step(base: Value, of: str) -> Value:
    if not isinstance(base.type, Struct) or of not in base.type.fields:
        raise Refused(f"no field {of}")
    field = base.type.fields[of]
    stored, depth = field.stored or of, len(base.place)

    def get(s: State) -> Any:
        if stored in s.failures:
            raise s.failures[stored]
        return each(base.of(s), depth, lambda v: None if v is None else v[stored])

    return Value(
        (*base.place, *field.lists),
        field.type,
        ("step", base.key, stored),
        get,
        is_map=field.is_map,
    )


def parent(of: Value, what: str) -> Place:
    if not of.place:
        raise Refused(f"{what} of what is no list")
    return of.place[:-1]


def integer_at(of: Value, place: Place) -> None:
    if of.kind not in functions.INTEGERS:
        raise Refused(f"{of.kind} is no integer")
    if not starts(place, of.place):
        raise Refused("a bound that stands elsewhere")


def in_64_bits(bound: int | None) -> None:
    if bound is not None:
        functions.in_kind(bound, "int64")


def parts(s: State, *values: Value) -> list[tuple[Any, int]]:
    return [(v.of(s), len(v.place)) for v in values]


def at(base: Value, index: Value) -> Value:
    above = parent(base, "an element")
    if base.is_map:
        return entry(base, index, above)
    integer_at(index, above)

    def pick(row: Any, i: Any) -> Any:
        in_64_bits(i)
        if row is None or i is None or not -len(row) <= i < len(row):
            return None
        return row[i]

    key = ("at", base.place[-1], index.key)
    return Value(
        above,
        rekeyed(base.type, key),
        ("at", base.key, index.key),
        lambda s: align(len(above), parts(s, base, index), pick),
    )


def entry(base: Value, index: Value, above: Place) -> Value:
    """The value of a map's key."""
    assert isinstance(base.type, Struct)
    key_field, value = base.type.fields["key"], base.type.fields["value"]
    assert isinstance(key_field.type, Leaf)
    kind = key_field.type.kind
    suits = index.kind == kind or (index.kind in functions.INTEGERS and kind in functions.INTEGERS)
    if not suits or (index.literal is not NO_LITERAL and not functions.fits(index.literal, kind)):
        raise Refused(f"a key {index.kind} of a map of {kind}")
    if not starts(above, index.place):
        raise Refused("a key that stands elsewhere")

    def pick(row: Any, k: Any) -> Any:
        found = [e["value"] for e in row or [] if k is not None and e["key"] == k]
        return found[-1] if found else None

    tag = ("key", base.place[-1], index.key)
    (inner,) = rekeyed(Struct({"value": value}), tag).fields.values()
    return Value(
        (*above, *inner.lists),
        inner.type,
        ("at", base.key, index.key),
        lambda s: align(len(above), parts(s, base, index), pick),
        is_map=inner.is_map,
    )


def sliced(base: Value, bounds: Sequence[Value | None]) -> Value:
    above = parent(base, "a slice")
    given = [b for b in bounds if b is not None]
    for b in given:
        integer_at(b, above)
    if bounds[2] is not None and bounds[2].literal == 0:
        raise Refused("the slice step is 0")
    which = [b is not None for b in bounds]

    def cut(row: Any, *values: Any) -> Any:
        for v in values:
            in_64_bits(v)
        if row is None or any(v is None for v in values):
            return None
        left = iter(values)
        a, b, c = (next(left) if there else None for there in which)
        if c == 0:
            raise Failed("the slice step is 0")
        return row[a:b:c]

    keys = tuple(b and b.key for b in bounds)
    return Value(
        (*above, ("slice", base.place[-1], keys)),
        base.type,
        ("slice", base.key, keys),
        lambda s: align(len(above), parts(s, base, *given), cut),
        is_map=base.is_map,
    )


def boolean(condition: Value) -> None:
    if condition.kind not in ("bool", functions.NULL):
        raise Refused(f"a condition of {condition.kind}")


def where(base: Value, condition: Value) -> Value:
    boolean(condition)
    if not starts(base.place, condition.place):
        raise Refused("a condition that does not stand at the elements")
    key = ("where", base.key, condition.key)
    if not base.place:
        same_for_all("where", base)
        return Value(
            (),
            rekeyed(base.type, ("where", condition.key)),
            key,
            lambda s: align(0, parts(s, base, condition), lambda v, c: v if c is True else None),
        )
    return rows_of(
        base,
        ("where", base.place[-1], condition.key),
        key,
        [condition],
        lambda row, c: [x for x, t in zip(row, c, strict=True) if t is True],
    )


def mask(e: syntax.Call, scope: Scope) -> Value:
    if len(e.args) != 2 or e.keys:
        raise Refused("mask(x, condition)")
    base = understand(e.args[0], scope)
    condition = understand(e.args[1], within(base, scope))
    boolean(condition)
    if not starts(base.place, condition.place):
        raise Refused("a condition that does not stand at the elements")
    same_for_all("mask", base)
    return Value(
        base.place,
        rekeyed(base.type, ("where", condition.key)),
        ("mask", base.key, condition.key),
        lambda s: align(
            len(base.place), parts(s, base, condition), lambda v, c: v if c is True else None
        ),
    )


def rows_of(
    base: Value, place: Key, key: Key, others: Sequence[Value], f: Callable[..., Any]
) -> Value:
    """Another list of elements for each list; the others go by the element."""
    above = base.place[:-1]

    def change(row: Any, *values: Any) -> Any:
        if row is None:
            return None
        same = [
            v if len(o.place) == len(base.place) else [v] * len(row)
            for o, v in zip(others, values, strict=True)
        ]
        return f(row, *same)

    return Value(
        (*above, place),
        base.type,
        key,
        lambda s: align(len(above), parts(s, base, *others), change),
        is_map=base.is_map,
    )


def struct_of(fields: Mapping[str, Value]) -> Value:
    values = list(fields.values())
    for v in values:
        if v.kind in ("list", functions.NULL):
            raise Refused(f"a field of {v.kind}")
    place = deepest(values)
    return Value(
        place,
        Struct({n: Field((), v.type) for n, v in fields.items()}),
        ("struct", tuple((n, v.key) for n, v in fields.items())),
        lambda s: align(
            len(place), parts(s, *values), lambda *x: dict(zip(fields, x, strict=True))
        ),
    )


# ---- calls ----


def call(e: syntax.Call, scope: Scope) -> Value:
    special = SPECIAL.get(e.name)
    if special is not None:
        return special(e, scope)
    keys = dict(unique(e.keys)) if e.keys else {}
    if e.name in functions.AGGREGATES and (e.name != "has" or len(e.args) == 1):
        return aggregate(e, keys, scope)
    if e.name not in functions.ELEMENTWISE:
        raise Refused(f"no function {e.name}")
    if keys:
        raise Refused(f"{e.name} has no keywords")
    return elementwise(e.name, [understand(a, scope) for a in e.args])


def elementwise(of: str, args: Sequence[Value]) -> Value:
    place = deepest(args)
    if of != "is_null" and any(isinstance(a.type, Struct) for a in args):
        raise Refused(f"{of} of structs")
    sign = functions.signature(of, [Argument(a.kind, a.literal) for a in args])
    if len(sign.casts) != len(args):
        raise Refused(f"arguments of {of}")

    def value(*xs: Any) -> Any:
        made = [
            x if c is None else functions.converted(x, c)
            for x, c in zip(xs, sign.casts, strict=True)
        ]
        return sign.value(*made)

    return Value(
        place,
        Leaf(sign.result),
        (of, tuple(a.key for a in args)),
        lambda s: align(len(place), parts(s, *args), value),
    )


def aggregate(e: syntax.Call, keys: Mapping[str, Any], scope: Scope) -> Value:
    if set(keys) - {"per"} or len(e.args) != 1:
        raise Refused(f"arguments of {e.name}")
    of = understand(e.args[0], scope)
    spec = functions.AGGREGATES[e.name]
    wanted = understand(keys["per"], scope).place if "per" in keys else scope.wanted
    if e.name in ("first", "last") and isinstance(of.type, Struct):
        return end_struct(of, wanted, 0 if e.name == "first" else -1, scope)
    result = Leaf(spec.kind(of.kind))
    return grouped(e.name, of, result, wanted, lambda v: spec.value(v, of.kind))


def end_struct(of: Value, wanted: Place, index: int, scope: Scope) -> Value:
    """An element of the lists below where it is wanted, which become one."""
    same_for_all("first", of)
    n = len(shared(of.place, wanted))
    if n == len(of.place):
        raise Refused("the first of what stands where it is wanted")
    listed = Value(
        (*of.place[:n], *merged_key(of.place, n)),
        of.type,
        ("flatten", of.key, of.place[:n]),
        lambda s: merged(of.of(s), len(of.place), n),
    )
    return at(listed, understand(syntax.Literal(index), scope))


def same_for_all(what: str, of: Value) -> None:
    if not {"record", "record_index"} & set(names_in_key(of.key)):
        raise Refused(f"{what} of what is the same for all")


def names_in_key(key: Key) -> Iterator[str]:
    if isinstance(key, str):
        yield key
    elif isinstance(key, tuple):
        for part in key:
            yield from names_in_key(part)


def grouped(what: str, of: Value, result: Leaf, wanted: Place, f: Callable[[Any], Any]) -> Value:
    place, depth = shared(of.place, wanted), len(of.place)
    same_for_all(what, of)
    if depth == len(place):
        if what not in ("has", "count"):
            raise Refused(f"{what} of what stands where it is wanted")
        one: Callable[[Any], Any] = (
            (lambda v: v is not None) if what == "has" else (lambda v: int(v is not None))
        )
        return Value(place, result, (what, of.key), lambda s: each(of.of(s), depth, one))
    return Value(
        place,
        result,
        (what, of.key, place),
        lambda s: each(merged(of.of(s), depth, len(place)), len(place), f),
    )


def join(e: syntax.Call, scope: Scope) -> Value:
    keys = dict(e.keys)
    if set(keys) - {"per"} or len(e.args) != 2:
        raise Refused("arguments of join")
    of, separator = (understand(a, scope) for a in e.args)
    if of.kind not in functions.TEXTS or separator.kind != of.kind:
        raise Refused("join of what is no text")
    if separator.literal is NO_LITERAL:
        raise Refused("join with a separator that is no literal")
    wanted = understand(keys["per"], scope).place if "per" in keys else scope.wanted
    made = grouped(
        "join", of, Leaf(of.kind), wanted, lambda v: functions.joined(v, separator.literal)
    )
    return replace(made, key=(made.key, separator.key))


def quantile(e: syntax.Call, scope: Scope) -> Value:
    keys = dict(e.keys)
    if set(keys) - {"per"} or len(e.args) != 2:
        raise Refused("arguments of quantile")
    of, part = (understand(a, scope) for a in e.args)
    kind, q = functions.spread_kind(of.kind), part.literal
    if q is NO_LITERAL or part.kind not in functions.NUMBERS or not 0 <= q <= 1:
        raise Refused("quantile is asked for a number from 0 to 1")
    wanted = understand(keys["per"], scope).place if "per" in keys else scope.wanted
    made = grouped("quantile", of, Leaf(kind), wanted, lambda v: functions.quantile(v, of.kind, q))
    return replace(made, key=(made.key, part.key))


def listwise(e: syntax.Call, scope: Scope) -> Value:
    """cumulative_sum, rank."""
    of, keys = one(e, scope), dict(e.keys)
    above = parent(of, e.name)
    if set(keys) - ({"descending"} if e.name == "rank" else set()):
        raise Refused(f"keywords of {e.name}")
    down = flag(keys, "descending", scope)
    if e.name == "rank":
        functions.only(*functions.ORDERED, "bool")(of.kind)
        kind, f = "int64", lambda row: functions.rank(row, down)
    else:
        kind, f = functions.sum_kind(of.kind), lambda row: functions.cumulative_sum(row, of.kind)
    return Value(
        of.place,
        Leaf(kind),
        (e.name, of.key, down),
        lambda s: each(of.of(s), len(above), lambda row: None if row is None else f(row)),
    )


def flag(keys: Mapping[str, Any], key: str, scope: Scope) -> bool:
    value = understand(keys[key], scope).literal if key in keys else False
    if value not in (True, False):
        raise Refused(f"{key} is true or false")
    return value


def coalesce(e: syntax.Call, scope: Scope) -> Value:
    """From the last two on."""
    if e.keys or len(e.args) < 2:
        raise Refused("arguments of coalesce")
    values = [understand(a, scope) for a in e.args]
    deepest(values)
    made = values.pop()
    while values:
        made = elementwise("fill_null", [values.pop(), made])
    return made


def one(e: syntax.Call, scope: Scope) -> Value:
    if len(e.args) != 1:
        raise Refused(f"arguments of {e.name}")
    return understand(e.args[0], scope)


def positions(e: syntax.Call, scope: Scope) -> Value:
    of = one(e, scope)
    above, from_end = parent(of, e.name), e.name == "index_from_end"

    def count(row: Any) -> Any:
        if row is None:
            return None
        return [i - len(row) if from_end else i for i in range(len(row))]

    return Value(
        of.place,
        Leaf("int64"),
        (e.name, of.place),
        lambda s: each(of.of(s), len(above), count),
    )


def record_index(e: syntax.Call, scope: Scope) -> Value:
    if e.args or e.keys:
        raise Refused("arguments of record_index")
    return Value((), Leaf("int64"), "record_index", lambda s: s.number)


def reverse(e: syntax.Call, scope: Scope) -> Value:
    of = one(e, scope)
    parent(of, "reverse")
    return rows_of(of, ("reverse", of.place[-1]), ("reverse", of.key), [], lambda row: row[::-1])


def sort(e: syntax.Call, scope: Scope) -> Value:
    of, keys = one(e, scope), dict(e.keys)
    parent(of, "sort")
    if set(keys) - {"by", "descending"}:
        raise Refused("keywords of sort")
    by = understand(keys["by"], within(of, scope)) if "by" in keys else of
    down = flag(keys, "descending", scope)
    if of.place != by.place or by.kind in ("struct", "list", functions.NULL):
        raise Refused("sort by what has no order or stands elsewhere")

    def arrange(row: list[Any], values: list[Any]) -> list[Any]:
        pairs = list(zip(row, values, strict=True))
        there = [p for p in pairs if p[1] is not None and p[1] == p[1]]
        there.sort(key=lambda p: p[1], reverse=down)  # stable, also in reverse
        nans = [p for p in pairs if p[1] is not None and p[1] != p[1]]
        return [x for x, _ in [*there, *nans, *(p for p in pairs if p[1] is None)]]

    tag = ("sort", by.key, down)
    return rows_of(of, (tag, of.place[-1]), (tag, of.key), [by], arrange)


def drop_null(e: syntax.Call, scope: Scope) -> Value:
    of = one(e, scope)
    parent(of, "drop_null")
    return where(
        of,
        Value(
            of.place,
            Leaf("bool"),
            ("there", of.key),
            lambda s: each(of.of(s), len(of.place), lambda v: v is not None),
        ),
    )


def flatten(e: syntax.Call, scope: Scope) -> Value:
    of, keys = one(e, scope), dict(e.keys)
    if set(keys) != {"to"}:
        raise Refused("flatten needs to=")
    end = understand(keys["to"], scope)
    to = end.place
    n = len(shared(of.place, to))

    def flat_at(s: State) -> Any:
        """Promoted to what holds both, and from there at each element of `to`."""
        lists = (merged(of.of(s), len(of.place), n), n)
        return align(len(to), [(end.of(s), len(to)), lists], lambda _, v: v)

    return Value(
        (*to, *merged_key(of.place, n)),
        of.type,
        ("flatten", of.key, to),
        flat_at,
        is_map=of.is_map and len(of.place) <= n + 1,
    )


def zipped(e: syntax.Call, scope: Scope) -> Value:
    if e.args or not e.keys:
        raise Refused("zip has keywords")
    fields = {n: understand(x, scope) for n, x in unique(e.keys)}
    values = list(fields.values())
    aboves = {parent(v, "zip") for v in values}
    if len(aboves) > 1:
        raise Refused("zip of lists with several parents")
    above = aboves.pop()

    def pair(*rows: Any) -> Any:
        if len({len(r or []) for r in rows}) > 1:
            raise Failed("zip of lists of several lengths")
        if all(r is None for r in rows):
            return None
        return [
            dict(zip(fields, x, strict=True)) for x in zip(*(r or [] for r in rows), strict=True)
        ]

    lists = tuple(v.place[-1] for v in values)
    is_one = len(set(lists)) == 1
    return Value(
        (*above, lists[0] if is_one else ("zip", lists)),
        Struct(
            {
                n: Field((), v.type if is_one else rekeyed(v.type, ("zip", n)))
                for n, v in fields.items()
            }
        ),
        ("zip", tuple((n, v.key) for n, v in fields.items())),
        lambda s: align(len(above), parts(s, *values), pair),
    )


def structs_of(above: Place, tag: Key, fields: Mapping[str, Value], of: Any) -> Value:
    """A list of its own, of structs with what the fields have at some of their elements."""
    types = {n: Field((), rekeyed(v.type, (tag, n))) for n, v in fields.items()}
    return Value((*above, tag), Struct(types), tag, of)


def cartesian(e: syntax.Call, scope: Scope) -> Value:
    if e.args or not e.keys:
        raise Refused("cartesian has keywords")
    fields = {n: understand(x, scope) for n, x in unique(e.keys)}
    values = list(fields.values())
    aboves = {parent(v, "cartesian") for v in values}
    if len(aboves) > 1:
        raise Refused("cartesian of lists with several parents")
    above = aboves.pop()

    def product(*rows: Any) -> Any:
        if any(r is None for r in rows):
            return None
        return [dict(zip(fields, x, strict=True)) for x in itertools.product(*rows)]

    tag = ("cartesian", tuple((n, v.key, v.place[-1]) for n, v in fields.items()))
    return structs_of(above, tag, fields, lambda s: align(len(above), parts(s, *values), product))


def combinations(e: syntax.Call, scope: Scope) -> Value:
    names = [a.name for a in e.args[1:] if isinstance(a, syntax.Name)]
    if e.keys or len(names) < 2 or len(set(names)) < len(e.args) - 1:
        raise Refused("combinations has names")
    of = understand(e.args[0], scope)
    above = parent(of, "combinations")

    def combine(row: Any) -> Any:
        chosen = itertools.combinations(row or [], len(names))
        return row and [dict(zip(names, x, strict=True)) for x in chosen]

    tag = ("combinations", of.key, of.place[-1], tuple(names))
    return structs_of(
        above, tag, dict.fromkeys(names, of), lambda s: each(of.of(s), len(above), combine)
    )


def run_lengths(e: syntax.Call, scope: Scope) -> Value:
    of, keys = one(e, scope), dict(e.keys)
    above = parent(of, "run_lengths")
    if set(keys) - {"by"}:
        raise Refused("keywords of run_lengths")
    by = understand(keys["by"], within(of, scope)) if "by" in keys else of
    if of.place != by.place or by.kind in ("struct", "list"):
        raise Refused("runs of what stands elsewhere")

    def same(a: Any, b: Any) -> bool:
        return bool(a == b or (a != a and b != b))

    def divide(row: Any, values: Any) -> Any:
        runs: list[Any] = []
        for i, x in enumerate(row or []):
            if i and same(values[i - 1], values[i]):
                runs[-1]["length"] += 1
            else:
                runs.append({"value": x, "length": 1})
        return row and runs

    tag = ("run_lengths", of.key, of.place[-1], by.key)
    length = Value((), Leaf("int64"), "length", lambda _: None)
    return structs_of(
        above,
        tag,
        {"value": of, "length": length},
        lambda s: align(len(above), parts(s, of, by), divide),
    )


def selected(e: syntax.Call, scope: Scope) -> Value:
    """only, without."""
    if not e.args or set(dict(e.keys)) - {"depth"}:
        raise Refused(f"arguments of {e.name}")
    of = understand(e.args[0], scope)
    if not isinstance(of.type, Struct):
        raise Refused(f"{e.name} of what has no fields")
    patterns = [tuple(a.value) for a in e.args[1:]]
    if not patterns:
        raise Refused(f"{e.name} of nothing")
    made = of.type
    if e.name == "only":
        made = kept(of.type, patterns)
    else:
        for p in patterns:
            made = dropped(made, p)
    return replace(of, type=made, key=(e.name, of.key, tuple(patterns)), is_map=False)


def cast(e: syntax.Call, scope: Scope) -> Value:
    if len(e.args) != 2 or not isinstance(e.args[1], syntax.Name):
        raise Refused("cast(x, TYPE)")
    of, to = understand(e.args[0], scope), e.args[1].name
    numbers = to in functions.NUMBERS and of.kind in [*functions.NUMBERS, "bool", "null"]
    if not numbers and to != of.kind:
        raise Refused(f"a cast of {of.kind} to {to}")
    return Value(
        of.place,
        Leaf(to),
        ("cast", of.key, to),
        lambda s: each(of.of(s), len(of.place), lambda v: functions.cast(v, to)),
    )


def split(e: syntax.Call, scope: Scope) -> Value:
    if len(e.args) != 2:
        raise Refused("split(x, sep)")
    of, separator = (understand(a, scope) for a in e.args)
    if of.kind not in functions.TEXTS or separator.kind != of.kind:
        raise Refused("split of what is no text")
    if not separator.literal or separator.literal is NO_LITERAL:
        raise Refused("split by nothing")
    by = separator.literal
    return Value(
        (*of.place, ("split", of.key, by)),
        of.type,
        ("split", of.key, by),
        lambda s: each(of.of(s), len(of.place), lambda v: None if v is None else v.split(by)),
    )


SPECIAL: dict[str, Callable[[syntax.Call, Scope], Value]] = {
    "join": join,
    "mask": mask,
    "quantile": quantile,
    "cumulative_sum": listwise,
    "rank": listwise,
    "coalesce": coalesce,
    "index": positions,
    "index_from_end": positions,
    "record_index": record_index,
    "reverse": reverse,
    "sort": sort,
    "drop_null": drop_null,
    "flatten": flatten,
    "zip": zipped,
    "cartesian": cartesian,
    "combinations": combinations,
    "run_lengths": run_lengths,
    "only": selected,
    "without": selected,
    "cast": cast,
    "split": split,
}


# ---- fields kept and dropped ----


def member(of: Type, step: str) -> Field:
    if not isinstance(of, Struct) or step not in of.fields:
        raise Refused(f"no field {step}")
    return of.fields[step]


def everything(of: Type, above: tuple[Struct, ...] = ()) -> Field:
    return Field((), of)


def kept(of: Type, patterns: Sequence[tuple[str, ...]]) -> Struct:
    """A struct with what the patterns name, in their order. `stored` keeps where values are."""
    wanted: dict[str, list[tuple[str, ...]]] = {}
    for pattern in patterns:
        if pattern[0] in ("*", "**"):
            for n in starred(of, pattern[0]):
                wanted.setdefault(n, []).append(())
        else:
            member(of, pattern[0])
            wanted.setdefault(pattern[0], []).append(pattern[1:])
    fields = {}
    for n, below in wanted.items():
        field = member(of, n)
        part = kept(field.type, [b for b in below if b]) if any(below) else None
        if part is not None and () not in below:
            field = field._replace(type=part, is_map=False)
        fields[n] = field._replace(stored=field.stored or n)
    return Struct(fields)


def starred(of: Type, star: str) -> list[str]:
    """`*` is for what is no struct, `**` for all."""
    if not isinstance(of, Struct):
        raise Refused(f"{star} of what has no fields")
    return [n for n, f in of.fields.items() if star == "**" or isinstance(f.type, Leaf)]


def dropped(of: Type, pattern: tuple[str, ...]) -> Struct:
    first, *rest = pattern
    if not isinstance(of, Struct):
        raise Refused("a pattern below what has no fields")
    if first in ("*", "**"):
        names = starred(of, first)
        return type(of)({n: f for n, f in of.fields.items() if n not in names})
    field = member(of, first)
    if not rest:
        return type(of)({n: f for n, f in of.fields.items() if n != first})
    below = dropped(field.type, tuple(rest))
    return type(of)({**of.fields, first: field._replace(type=below, is_map=False)})
