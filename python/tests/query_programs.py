"""Random queries over random types and data. Everything is a function of a random.Random.

Expressions are made of parts that fit, as the reference understands them; what it refuses is thrown
away, but for a few, with which the whole query has to be refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, NamedTuple

import message_reference
import message_types
import message_wire
import nested_data
import pyarrow as pa
import query_data
import query_expressions as expressions
import query_places as places
import query_reference as reference
import query_reference_functions as functions
import query_syntax as syntax
from google.protobuf.message import DecodeError
from query_places import Struct, Value
from query_reference_functions import FLOATS, INTEGERS, NUMBERS, TEXTS, Refused
from query_syntax import At, Call, It, Literal, Name, Slice, Statement, Step, StructOf, Where

Made = tuple[syntax.Expr, Value]
Test = Callable[[Value], bool]


class Program(NamedTuple):
    """A query, and data for it. `source`: the first statement, which the builder has as another
    call."""

    source: Statement
    statements: list[Statement]
    type: Struct
    records: list[Any]  # of the reference
    batch: pa.RecordBatch | None = None  # of Arrow
    case: message_types.Case | None = None
    serialized: Sequence[bytes] = ()
    params: dict[str, Any] = {}  # noqa: RUF012, which is never changed

    @property
    def text(self) -> str:
        return "\n".join(syntax.statement_text(s) for s in [self.source, *self.statements])

    def understood(self) -> reference.Query:
        return reference.Query(self.statements, self.type, self.params)


# ---- sources ----


def arrow_source(r: Random) -> Program:
    shape = nested_data.Shape(
        depth=r.choice([3, 4, 4, 5]), maps=True, kinds=tuple(nested_data.MORE_KINDS)
    )
    fields = r.sample(["a", "b", "c", "id", "event", "x y", "u"], r.randint(2, 6))
    length = r.choice([0, 1, 2, 3, 5, 8])
    columns = []
    for _ in fields:
        kind = nested_data.random_type(r, shape)
        if r.randrange(2) and not pa.types.is_struct(kind):
            of = nested_data.random_struct(r, shape._replace(depth=shape.depth - 2), least=1)
            kind = nested_data.random_list(r, of)
        columns.append(nested_data.random_array(r, kind, length))
    batch = pa.RecordBatch.from_arrays([c.array for c in columns], fields)
    records = [
        dict(zip(fields, row, strict=True))
        for row in zip(*(c.values for c in columns), strict=True)
    ]
    type = query_data.struct_of_arrow(batch.schema)
    return Program(Statement("from", name="table", value=""), [], type, records, batch)


def message_source(r: Random) -> Program | None:
    case = message_types.random_case(r, 12)
    serialized, records = [], []
    for _ in range(r.choice([0, 1, 2, 3, 5])):
        data = message_wire.random_record(r, case, loose=r.randrange(2) == 0)
        try:
            message = case.cls.FromString(data)
            records.append(query_data.record_of_message(message))
        except (DecodeError, UnicodeDecodeError, message_reference.Refused):
            continue
        serialized.append(data)
    type = query_data.struct_of_message(case.cls.DESCRIPTOR)
    if not type.fields:
        return None
    source = Statement("from", name="message", value=case.message)
    return Program(source, [], type, records, case=case, serialized=serialized)


# ---- programs ----


def random_program(r: Random, messages: bool = False) -> tuple[Program, bool]:
    """A program, and whether it has to be refused."""
    program = message_source(r) if messages else arrow_source(r)
    while program is None:
        program = message_source(r)
    maker = Maker(r, program)
    for _ in range(r.choice([0, 0, 1])):
        maker.param()
    for _ in range(r.randint(1, 6)):
        r.choice([maker.let] * 12 + [maker.drop, maker.rename])()
        if maker.is_bad:
            break
    if r.randrange(6) == 0:
        maker.rows()
        for _ in range(r.randrange(3)):
            maker.let()
    if messages or r.randrange(3):
        for _ in range(r.randint(1, 4)):
            maker.output()
    if not maker.has_outputs or r.randrange(4) == 0:
        maker.keep(whole=not messages)
    if messages and not maker.has_outputs:
        maker.add(Statement("output", name="number", value=Call("record_index", ())))
    return program._replace(statements=maker.statements), maker.is_bad


class Maker:
    def __init__(self, r: Random, program: Program) -> None:
        self.r = r
        self.query = reference.Query([], program.type)
        self.statements: list[Statement] = []
        self.is_bad = False
        self.has_outputs = False
        self.count = 0

    def add(self, s: Statement) -> bool:
        """Whether the reference takes it; one that it does not may end the program."""
        if self.is_bad:
            return False
        try:
            getattr(self.query, f"add_{s.kind}")(s)
        except Refused as error:
            if isinstance(error, places.Ambiguous) or self.r.randrange(8):
                return False
            self.is_bad = True
        self.statements.append(s)
        return True

    def new_name(self) -> str:
        self.count += 1
        return self.r.choice(["n", "n", "ñ ", "of"]) + str(self.count)

    def structs(self) -> list[tuple[tuple[str, ...], Value]]:
        """Paths of structs, the record among them."""
        found: list[tuple[tuple[str, ...], Value]] = [((), self.query.scope().record)]
        for path, value in found:
            assert isinstance(value.type, Struct)
            if len(path) < 3:
                for name, field in value.type.fields.items():
                    if isinstance(field.type, Struct) and not field.is_map:
                        found.append(((*path, name), expressions.step(value, name)))
        return found

    def param(self) -> None:
        r = self.r
        kind = r.choice(["int64", "int32", "float32", "float64", "string", "bool"])
        value = literal_of(r, kind)
        name = f"p{len(self.statements)}"
        self.add(Statement("param", name=name, value=Literal(value), type=kind))

    def let(self) -> None:
        r = self.r
        for _ in range(5):
            path, target = r.choice(self.structs())
            made = Expressions(r, self.query.scope(target.place)).value(r.choice([1, 2, 2, 3]))
            if made is None:
                continue
            if self.add(Statement("let", (*path, self.new_name()), value=made)):
                return

    def output(self) -> None:
        r = self.r
        for _ in range(5):
            scope = self.query.scope()
            made = Expressions(r, scope).value(r.choice([0, 1, 1, 2]))
            if made is None:
                continue
            if has_messages(made, scope):
                continue
            if r.randrange(3) == 0:
                made = self.tensor(made, scope)
            if self.add(Statement("output", name=self.new_name(), value=made)):
                self.has_outputs = True
                return

    def tensor(self, of: syntax.Expr, scope: places.Scope) -> syntax.Expr:
        r = self.r
        try:
            value = expressions.understand(of, scope)
        except Refused:
            return of
        kinds = ["dense", "dense", "sparse"] if value.kind in KINDS else ["struct"]
        if len(value.place) > 4:  # as many dimensions as a spec has
            kinds = kinds[-1:]
        if value.place and value.kind in KINDS:
            kinds += ["ragged"]
        kind = r.choice(kinds)
        keys: list[tuple[str, Any]] = []
        if kind == "dense" and (value.place or r.randrange(3) == 0):
            sizes = [r.choice([1, 2, 3, 5, 8]) for _ in value.place]
            keys.append(("shape", Literal(sizes)))
        if kind in ("dense", "ragged") and r.randrange(5) and value.kind in KINDS:
            keys.append(("default", Literal(literal_of(r, value.kind))))
        return Call(kind, (of,), tuple(keys))

    def rows(self) -> None:
        lists = [path for path, value in self.structs() if value.place]
        if lists:
            self.add(Statement("rows", self.r.choice(lists)))

    def drop(self) -> None:
        r = self.r
        path, value = r.choice(self.structs())
        assert isinstance(value.type, Struct)
        if len(value.type.fields) > 1:
            name = r.choice(list(value.type.fields))
            self.add(Statement("drop", patterns=((*path, name),)))

    def rename(self) -> None:
        r = self.r
        path, value = r.choice(self.structs())
        assert isinstance(value.type, Struct)
        if value.type.fields:
            name = r.choice(list(value.type.fields))
            self.add(Statement("rename", (*path, name), name=self.new_name()))

    def keep(self, whole: bool) -> None:
        r = self.r
        if whole and not self.has_outputs and r.randrange(2):
            return
        patterns = []
        for _ in range(r.randint(1, 3)):
            path, value = r.choice(self.structs())
            assert isinstance(value.type, Struct)
            names = list(value.type.fields)
            if not whole:  # of messages no struct as a whole: it may have no end
                names = [n for n, f in value.type.fields.items() if not has_structs(f.type)]
            if not names:
                continue
            if path and whole:
                names.append("**")
            leaves = [f for f in value.type.fields.values() if isinstance(f.type, places.Leaf)]
            if leaves and whole:
                names.append("*")
            last = r.choice(names)
            patterns.append((*path, last))
        if patterns:
            self.add(Statement("keep", patterns=tuple(patterns)))
            self.has_outputs = True


def has_messages(made: syntax.Expr, scope: places.Scope) -> bool:
    """Structs that are known in part only."""

    def holds(of: places.Type) -> bool:
        if isinstance(of, query_data.MessageFields | query_data.Entries):
            return True
        return isinstance(of, Struct) and any(holds(f.type) for f in of.fields.values())

    try:
        return holds(expressions.understand(made, scope).type)
    except Refused:
        return False


def has_structs(of: places.Type) -> bool:
    return isinstance(of, Struct)


# ---- literals ----

KINDS = ["bool", *NUMBERS, *TEXTS]


def literal_of(r: Random, kind: str) -> Any:
    if kind == "bool":
        return r.random() < 0.5
    if kind in INTEGERS:
        return r.choice([0, 1, 2, 3, 5, 100] + ([-1, -2] if kind.startswith("i") else []))
    if kind in FLOATS:
        return r.choice([0.0, 0.5, 1.0, -1.5, 2.25, 100.0])
    text = r.choice(["", "a", "b", "bc", "é"])
    return text.encode() if kind == "bytes" else text


# ---- expressions ----


class Expressions:
    """Of one scope."""

    def __init__(self, r: Random, scope: places.Scope) -> None:
        self.r = r
        self.scope = scope
        self.paths = self.every_path()

    def every_path(self) -> list[Made]:
        """Some of them are endless."""
        found: list[Made] = []
        if self.scope.it is not None:
            found.append((It(), self.scope.it))
        found += [(Name(n), v) for n, v in self.scope.params.items() if v.kind != "list"]
        record = self.scope.record
        assert isinstance(record.type, Struct)
        hidden = set()
        if self.scope.it is not None and isinstance(self.scope.it.type, Struct):
            hidden = set(self.scope.it.type.fields)
            found += [
                (first(n, It()), expressions.step(self.scope.it, n))
                for n in self.scope.it.type.fields
            ]
        found += [
            (first(n, syntax.Record()), expressions.step(record, n))
            for n in record.type.fields
            if n not in hidden
        ]
        at = 0
        while at < len(found) < 80:
            e, v = found[at]
            at += 1
            if isinstance(v.type, Struct) and not is_unordered(v) and depth_of(e) < 5:
                found += [(Step(e, n), expressions.step(v, n)) for n in v.type.fields]
        return found

    def understood(self, e: syntax.Expr) -> Made | None:
        try:
            return e, expressions.understand(e, self.scope)
        except Refused:
            return None

    def path(self, test: Test) -> Made | None:
        fit = [p for p in self.paths if test(p[1]) and not is_unordered(p[1])]
        return self.r.choice(fit) if fit else None

    def value(self, budget: int) -> syntax.Expr | None:
        made = self.made(budget)
        return made[0] if made else None

    def made(self, budget: int, test: Test = lambda v: True) -> Made | None:
        """An expression that is understood, and fits; at the end of the budget a path."""
        r = self.r
        for _ in range(4 if budget else 0):
            name = r.choice(OPERATIONS)
            e = getattr(self, name)(budget - 1)
            if e is None:
                continue
            if r.randrange(80) == 0:  # whatever it is, in the place of one that fits
                wrong = self.path(test)
                if wrong is not None:
                    return e, wrong[1]
            found = self.understood(e)
            if found and test(found[1]):
                return found
        return self.path(test)

    def partner(self, of: Value, budget: int, test: Test) -> syntax.Expr:
        """What may stand beside a value in an elementwise operation: mostly at a place on its line,
        of its kind or so."""
        r = self.r
        if r.randrange(2) and of.kind in KINDS:
            return Literal(literal_of(r, of.kind) if r.randrange(12) else r.choice([1, 300, None]))

        def fits(v: Value) -> bool:
            on_line = starts(v.place, of.place) or starts(of.place, v.place)
            return on_line and test(v)

        found = self.made(budget if r.randrange(3) == 0 else 0, fits)
        return (
            found[0] if found else Literal(literal_of(r, of.kind if of.kind in KINDS else "bool"))
        )

    # ---- one operation each: an expression, or None ----

    def arithmetic(self, budget: int) -> syntax.Expr | None:
        r = self.r
        a = self.made(budget, lambda v: v.kind in NUMBERS)
        if a is None:
            return None
        name = r.choice(["add", "sub", "mul", "div", "add", "sub", "mul", "floordiv", "mod"])
        b = self.partner(a[1], budget, lambda v: v.kind in NUMBERS)
        return Call(name, (a[0], b) if r.randrange(3) else (b, a[0]))

    def function(self, budget: int) -> syntax.Expr | None:
        r = self.r
        a = self.made(budget, lambda v: v.kind in NUMBERS)
        if a is None:
            return None
        e, v = a
        name = r.choice(OF_NUMBERS)
        if name == "clip":
            low = literal_of(r, v.kind)
            return Call("clip", (e, Literal(low), Literal(low + 3)))
        if name == "bucketize":
            return Call(name, (e, Literal([-1, 0, 2, 50])))
        if name == "cast":
            return Call(name, (e, Name(r.choice(["int64", "float64", "float32", "int32", v.kind]))))
        if name == "neg" and v.kind.startswith("u"):
            return None
        if name in ("minimum", "maximum", "pow"):
            return Call(name, (e, self.partner(v, budget, lambda x: x.kind in NUMBERS)))
        if name == "fill_null":
            return Call(name, (e, Literal(literal_of(r, v.kind))))
        return Call(name, (e,))

    def text(self, budget: int) -> syntax.Expr | None:
        r = self.r
        a = self.made(budget, lambda v: v.kind in TEXTS)
        if a is None:
            return None
        e, v = a
        name = r.choice(OF_TEXTS)
        if v.kind == "bytes" and name in ("lower", "upper", "strip", "split"):
            return None
        if name == "substr":
            args = [Literal(r.choice([0, 1, 2])), Literal(r.choice([1, 2, 9]))]
            return Call(name, (e, *args[: r.randint(1, 2)]))
        if name == "in":
            return Call(name, (e, Literal([literal_of(r, v.kind) for _ in range(r.randint(1, 3))])))
        if name == "split":
            return Call(name, (e, Literal(r.choice(["b", " ", "no"]))))
        if name in ("starts_with", "ends_with", "contains", "fill_null"):
            return Call(name, (e, Literal(literal_of(r, v.kind))))
        if name == "add":
            return Call(name, (e, self.partner(v, budget, lambda x: x.kind == v.kind)))
        return Call(name, (e,))

    def condition(self, budget: int) -> syntax.Expr | None:
        r = self.r
        which = r.randrange(7)
        if which == 0:
            a = self.made(budget)
            return a and Call("is_null", (a[0],))
        if which in (1, 2) and budget > 0:
            a, b = self.condition(budget - 1), self.condition(budget - 1)
            return Call(r.choice(["and", "or"]), (a, b)) if a and b else None
        if which == 3:
            a = self.made(budget, lambda v: v.kind == "bool")
            return a and r.choice([a[0], Call("not", (a[0],))])
        a = self.made(budget, lambda v: v.kind in KINDS)
        if a is None:
            return None
        names = ["eq", "ne"] if a[1].kind == "bool" else ["eq", "ne", "lt", "le", "gt", "ge"]
        same = [NUMBERS, TEXTS, ["bool"]]
        group = next(g for g in same if a[1].kind in g)
        b = self.partner(a[1], budget, lambda v: v.kind in group)
        return Call(r.choice(names), (a[0], b))

    def aggregate(self, budget: int) -> syntax.Expr | None:
        r = self.r
        name = r.choice([*functions.AGGREGATES, "join", "quantile"])
        kinds = {"any": ["bool"], "all": ["bool"], "join": TEXTS, "count_distinct": KINDS}
        if name in ("sum", "mean", "min", "max", "variance", "std", "quantile"):
            kinds[name] = NUMBERS
        if name in ("argmin", "argmax"):
            kinds[name] = KINDS
        low = len(self.scope.wanted)
        of = self.made(
            budget,
            lambda v: (
                (name not in kinds or v.kind in kinds[name])
                and (len(v.place) > low or r.randrange(4) == 0)
            ),
        )
        if of is None:
            return None
        keys: tuple[Any, ...] = ()
        if r.randrange(4) == 0:
            above = [
                p
                for p in self.paths
                if isinstance(p[1].type, Struct) and starts(of[1].place, p[1].place)
            ]
            per = r.choice(above)[0] if above and r.randrange(3) else syntax.Record()
            keys = (("per", per),)
        separator = b"-" if of[1].kind == "bytes" else "-"
        more = {"join": (Literal(separator),), "quantile": (Literal(r.choice([0, 0.25, 0.5, 1])),)}
        return Call(name, (of[0], *more.get(name, ())), keys)

    def listed(self, budget: int) -> Made | None:
        return self.made(budget, lambda v: bool(v.place))

    def where(self, budget: int) -> syntax.Expr | None:
        base = self.listed(budget) if self.r.randrange(8) else self.made(budget)
        if base is None:
            return None
        inner = Expressions(self.r, expressions.within(base[1], self.scope))
        for _ in range(4):
            condition = inner.condition(budget)
            if condition is not None:
                is_mask = self.r.randrange(3) == 0
                made = Call("mask", (base[0], condition)) if is_mask else Where(base[0], condition)
                if self.understood(made):
                    return made
        return None

    def bound(self, above: Value | None) -> syntax.Expr | None:
        r = self.r
        if r.randrange(6) == 0:
            found = self.path(
                lambda v: (
                    v.kind in INTEGERS and above is not None and starts(above.place[:-1], v.place)
                )
            )
            if found:
                return found[0]
        return Literal(r.choice([0, 1, 2, -1, -2, 5, -5]))

    def slice(self, budget: int) -> syntax.Expr | None:
        r = self.r
        base = self.listed(budget)
        if base is None:
            return None
        bounds = [self.bound(base[1]) if r.randrange(2) else None for _ in range(2)]
        step = Literal(r.choice([1, 2, -1, -2])) if r.randrange(3) == 0 else None
        return Slice(base[0], (bounds[0], bounds[1], step))

    def at(self, budget: int) -> syntax.Expr | None:
        base = self.listed(budget)
        if base is None:
            return None
        if not base[1].is_map:
            return At(base[0], self.bound(base[1]))
        return self.entry(base)

    def key(self, budget: int) -> syntax.Expr | None:
        maps = [p for p in self.paths if p[1].is_map]
        base = self.r.choice(maps) if maps else None
        return self.entry(base) if base else None

    def entry(self, base: Made) -> syntax.Expr:
        of = base[1].type
        assert isinstance(of, Struct)
        kind = of.fields["key"].type
        assert isinstance(kind, places.Leaf)
        return At(base[0], Literal(literal_of(self.r, kind.kind)))

    def arrange(self, budget: int) -> syntax.Expr | None:
        r = self.r
        base = self.listed(budget)
        if base is None or base[1].is_map:
            return None
        name = r.choice(["reverse", "sort", "sort", "drop_null", "index", "index_from_end"])
        if name != "sort":
            return Call(name, (base[0],))
        inner = Expressions(r, expressions.within(base[1], self.scope))
        by = inner.made(
            budget if r.randrange(3) == 0 else 0,
            lambda v: v.kind in KINDS and v.place == base[1].place,
        )
        keys: list[tuple[str, Any]] = [("by", by[0])] if by else []
        if r.randrange(2):
            keys.append(("descending", Literal(r.random() < 0.5)))
        return Call(name, (base[0],), tuple(keys))

    def listwise(self, budget: int) -> syntax.Expr | None:
        r = self.r
        name = r.choice(["cumulative_sum", "rank"])
        kinds = KINDS if name == "rank" else [*NUMBERS, "bool"]
        of = self.made(budget, lambda v: bool(v.place) and v.kind in kinds)
        if of is None:
            return None
        down = (("descending", Literal(r.random() < 0.5)),) if name == "rank" else ()
        return Call(name, (of[0],), down if r.randrange(2) else ())

    def coalesce(self, budget: int) -> syntax.Expr | None:
        a = self.made(budget, lambda v: v.kind in KINDS)
        if a is None:
            return None
        group = next(g for g in (NUMBERS, [a[1].kind]) if a[1].kind in g)
        others = [self.partner(a[1], budget, lambda v: v.kind in group) for _ in range(2)]
        return Call("coalesce", (a[0], *others[: self.r.randint(1, 2)]))

    def step(self, budget: int) -> syntax.Expr | None:
        """A field of what has been computed."""
        base = self.made(budget, lambda v: isinstance(v.type, Struct) and bool(v.type.fields))
        if base is None or is_unordered(base[1]):
            return None
        of = base[1].type
        assert isinstance(of, Struct)
        return Step(base[0], self.r.choice(list(of.fields)))

    def struct(self, budget: int) -> syntax.Expr | None:
        r = self.r
        first = self.made(budget)
        if first is None:
            return None
        fields = [("s", first[0])]
        for n in ["t", "v"][: r.randint(1, 2)]:
            fields.append((n, self.partner(first[1], budget, lambda v: True)))
        return StructOf(tuple(fields))

    def zip(self, budget: int) -> syntax.Expr | None:
        first = self.listed(budget)
        if first is None:
            return None
        above = first[1].place[:-1]
        second = self.made(budget, lambda v: bool(v.place) and v.place[:-1] == above)
        if second is None:
            return None
        return Call("zip", (), (("s", first[0]), ("t", second[0])))

    def product(self, budget: int) -> syntax.Expr | None:
        r = self.r
        first = self.listed(budget)
        if first is None or first[1].is_map:
            return None
        name = r.choice(["cartesian", "combinations", "run_lengths", "run_lengths"])
        if name == "combinations":
            names = ["s", "t", "v"][: r.randint(2, 3)]
            return Call(name, (first[0], *map(Name, names)))
        if name == "run_lengths":
            inner = Expressions(r, expressions.within(first[1], self.scope))
            place = first[1].place
            by = inner.made(0, lambda v: v.kind in KINDS and v.place == place)
            return Call(name, (first[0],), (("by", by[0]),) if by else ())
        above = first[1].place[:-1]
        others = [
            self.made(budget, lambda v: bool(v.place) and not v.is_map and v.place[:-1] == above)
            for _ in range(r.randint(1, 2))
        ]
        lists = [first, *(other for other in others if other)]
        return Call(name, (), tuple(zip("stv", (e for e, _ in lists), strict=False)))

    def only(self, budget: int) -> syntax.Expr | None:
        r = self.r
        base = self.made(budget, lambda v: isinstance(v.type, Struct) and len(v.type.fields) > 1)
        if base is None:
            return None
        of = base[1].type
        assert isinstance(of, Struct)
        names = r.sample(list(of.fields), r.randint(1, len(of.fields) - 1))
        patterns = tuple(Literal([n]) for n in names)
        return Call(r.choice(["only", "without"]), (base[0], *patterns))

    def choose(self, budget: int) -> syntax.Expr | None:
        r = self.r
        c = self.made(budget, lambda v: v.kind == "bool")
        if c is None:
            return None
        a = self.made(
            budget,
            lambda v: (
                v.kind in KINDS and (starts(v.place, c[1].place) or starts(c[1].place, v.place))
            ),
        )
        if a is None:
            return None
        group = next(g for g in (NUMBERS, [a[1].kind]) if a[1].kind in g)
        b = self.partner(a[1], budget, lambda v: v.kind in group)
        return Call("if", (c[0], a[0], b) if r.randrange(2) else (c[0], b, a[0]))

    def flatten(self, budget: int) -> syntax.Expr | None:
        base = self.listed(budget)
        if base is None:
            return None
        place = base[1].place
        above = self.r.randrange(3) > 0
        to = self.path(
            lambda v: isinstance(v.type, Struct) and (starts(place, v.place) or not above)
        )
        end = to[0] if to and self.r.randrange(2) else syntax.Record()
        return Call("flatten", (base[0],), (("to", end),))

    def number(self, budget: int) -> syntax.Expr | None:
        return Call("record_index", ())


def starts(place: places.Place, above: places.Place) -> bool:
    return place[: len(above)] == above


def is_unordered(v: Value) -> bool:
    """The entries of a message's map: nothing says in which order they are."""
    return isinstance(v.type, query_data.Entries)


def first(name: str, of: syntax.Expr) -> syntax.Expr:
    """At the start of an expression, the parentheses of an extension would be others."""
    return Step(of, name) if name.startswith("(") else Name(name)


def depth_of(e: syntax.Expr) -> int:
    return 1 + depth_of(e.base) if isinstance(e, Step) else 0


OF_NUMBERS = [
    *["abs", "sign", "floor", "ceil", "sqrt", "exp", "log1p", "log", "tanh", "sigmoid", "expm1"],
    *["log2", "log10", "is_nan", "is_finite", "clip", "minimum", "maximum", "pow", "bucketize"],
    *["neg", "fill_null", "fill_null", "cast", "cast"],
]
OF_TEXTS = [
    *["len", "lower", "upper", "strip", "starts_with", "ends_with", "contains", "substr"],
    *["add", "fill_null", "in", "split"],
]
OPERATIONS = [
    *["arithmetic"] * 3,
    *["function"] * 3,
    *["text"] * 2,
    *["condition"] * 2,
    *["aggregate"] * 4,
    *["where"] * 5,
    *["slice"] * 2,
    *["at"] * 2,
    *["arrange"] * 3,
    *["listwise"] * 2,
    "coalesce",
    *["step"] * 2,
    "key",
    "struct",
    "zip",
    "product",
    "only",
    "choose",
    "flatten",
    "number",
]
