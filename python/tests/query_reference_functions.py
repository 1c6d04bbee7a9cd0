"""What the functions of queries do with single values and with lists of them, in plain Python.

A kind is the name of a type of values: "int64", "string". None is null.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np


class Refused(Exception):
    """A query that must be an error."""


class Failed(Exception):
    """A record that must be an error."""


SIGNED = ["int8", "int16", "int32", "int64"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]
INTEGERS = [*SIGNED, *UNSIGNED]
FLOATS = ["float32", "float64"]
NUMBERS = [*INTEGERS, *FLOATS]
TEXTS = ["string", "bytes"]
NULL = "null"
NO_LITERAL = object()


class Argument(NamedTuple):
    kind: str
    literal: Any = NO_LITERAL

    @property
    def is_literal(self) -> bool:
        return self.literal is not NO_LITERAL


class Signature(NamedTuple):
    result: str
    casts: list[str | None]  # what each argument is made first; None: as it is
    value: Callable[..., Any]  # of values, of which some may be None


def bits(kind: str) -> int:
    return int(kind[-2:].lstrip("t"))


def limits(kind: str) -> tuple[int, int]:
    n = bits(kind)
    return (0, 2**n - 1) if kind in UNSIGNED else (-(2 ** (n - 1)), 2 ** (n - 1) - 1)


def in_kind(value: Any, kind: str) -> Any:
    """A number as the kind holds it."""
    if kind in INTEGERS:
        low, high = limits(kind)
        if not low <= value <= high:
            raise Failed(f"{value} is no {kind}")
        return value
    if kind == "float32":
        with np.errstate(over="ignore"):
            return float(np.float32(value))
    return float(value)


def literal_kind(value: Any) -> str:
    kinds = {bool: "bool", int: "int64", float: "float64", str: "string", bytes: "bytes"}
    return NULL if value is None else kinds[type(value)]


def fits(value: Any, kind: str) -> bool:
    """May a literal take this kind?"""
    if value is None:
        return True
    own = literal_kind(value)
    if own == "int64":
        if kind in INTEGERS:
            low, high = limits(kind)
            return low <= value <= high
        return kind in FLOATS and int(in_kind(value, kind)) == value
    if own == "float64":
        return kind == "float64" or (
            kind == "float32" and (math.isfinite(in_kind(value, kind)) or not math.isfinite(value))
        )
    return own == kind


def common(a: str, b: str) -> str:
    """The kind of a number made of two."""
    if a == b:
        return a
    if NULL in (a, b):
        return b if a == NULL else a
    if a not in NUMBERS or b not in NUMBERS:
        raise Refused(f"{a} and {b}")
    if a in FLOATS or b in FLOATS:
        small = [k == "float32" or (k in INTEGERS and bits(k) <= 16) for k in (a, b)]
        return "float32" if all(small) else "float64"
    if (a in SIGNED) == (b in SIGNED):
        return a if bits(a) >= bits(b) else b
    signed, unsigned = (a, b) if a in SIGNED else (b, a)
    if unsigned == "uint64":
        raise Refused(f"{a} and {b}: cast one")
    return f"int{max(bits(signed), 2 * bits(unsigned))}"


def together(args: Sequence[Argument]) -> str:
    """The kind that all arguments are brought to; literals take that of the others if they fit."""
    known = [a.kind for a in args if not a.is_literal]
    if not known:
        kind = args[0].kind
        for a in args[1:]:
            kind = common(kind, a.kind)
        return kind
    kind = known[0]
    for other in known[1:]:
        kind = common(kind, other)
    for a in args:
        if a.is_literal and not fits(a.literal, kind):
            kind = common(kind, a.kind)
    return kind


def cast(value: Any, kind: str) -> Any:
    """Without loss, or not at all; only float64 to float32 is rounded."""
    made = converted(value, kind)
    whole = kind in FLOATS and isinstance(value, int)
    if whole and int(made) != int(value):
        raise Failed(f"{value} is no {kind}")
    return made


def converted(value: Any, kind: str) -> Any:
    """What a calculation makes of an argument: as cast, but integers become the nearest float."""
    if value is None:
        return None
    if kind == "bool":
        if isinstance(value, bool):
            return value
        raise Refused("a cast to bool")
    if kind in INTEGERS:
        if isinstance(value, float):
            if not math.isfinite(value) or value != int(value):
                raise Failed(f"{value} is no {kind}")
            value = int(value)
        return in_kind(int(value), kind)
    if kind in FLOATS:
        made = in_kind(value, kind)
        if math.isinf(made) and not (isinstance(value, float) and math.isinf(value)):
            raise Failed(f"{value} is no {kind}")
        return made
    return value


# ---- elementwise ----


def strict(f: Callable[..., Any]) -> Callable[..., Any]:
    """Null in, null out."""
    return lambda *args: None if any(a is None for a in args) else f(*args)


def number(a: Argument) -> None:
    if a.kind not in NUMBERS and a.kind != NULL:
        raise Refused(f"{a.kind} is no number")


def arithmetic(f: Callable[[Any, Any], Any]) -> Callable[..., Signature]:
    def sign(args: Sequence[Argument]) -> Signature:
        for a in args:
            number(a)
        kind = together(args)
        return Signature(kind, [kind, kind], strict(lambda a, b: in_kind(f(a, b), kind)))

    return sign


def add(args: Sequence[Argument]) -> Signature:
    kind = together(args)
    if kind in TEXTS:
        return Signature(kind, [None, None], strict(lambda a, b: a + b))
    return arithmetic(lambda a, b: a + b)(args)


def divide(args: Sequence[Argument]) -> Signature:
    for a in args:
        number(a)
    kind = together(args)
    if kind != "float32" or any(not a.is_literal and a.kind != "float32" for a in args):
        kind = "float64"

    def value(a: float, b: float) -> float:
        with np.errstate(all="ignore"):
            return float(np.float64(a) / np.float64(b))

    return Signature(kind, [kind, kind], strict(lambda a, b: in_kind(value(a, b), kind)))


def floor_divide(a: Any, b: Any) -> Any:
    if b == 0:
        raise Failed("a division by zero")
    return a // b


def modulo(a: Any, b: Any) -> Any:
    if b == 0:
        raise Failed("a division by zero")
    return a % b


def compare(f: Callable[[Any, Any], bool]) -> Callable[..., Signature]:
    def sign(args: Sequence[Argument]) -> Signature:
        kind = together(args)
        if any(a.kind == NULL for a in args):
            raise Refused("a comparison with null")
        return Signature("bool", [kind, kind], strict(f))

    return sign


def in_list(args: Sequence[Argument]) -> Signature:
    x, items = args
    values = items.literal
    if None in values:
        raise Refused("null in a list")
    for v in values:
        if v is not None and not fits(v, x.kind) and common(x.kind, literal_kind(v)) == x.kind:
            raise Refused("a value of a list that does not fit")
    return Signature("bool", [None, None], lambda v, _: None if v is None else v in values)


def logic(kind: str) -> Callable[..., Signature]:
    def conjunction(a: Any, b: Any) -> Any:
        if a is False or b is False:
            return False
        return None if a is None or b is None else True

    def value(a: Any, b: Any) -> Any:
        if kind == "and":
            return conjunction(a, b)
        turned = [None if x is None else not x for x in (a, b)]
        both = conjunction(*turned)
        return None if both is None else not both

    def sign(args: Sequence[Argument]) -> Signature:
        booleans(args)
        return Signature("bool", [None, None], value)

    return sign


def booleans(args: Sequence[Argument]) -> None:
    for a in args:
        if a.kind not in ("bool", NULL):
            raise Refused(f"{a.kind} is not bool")


def negation(args: Sequence[Argument]) -> Signature:
    booleans(args)
    return Signature("bool", [None], strict(lambda a: not a))


def negative(args: Sequence[Argument]) -> Signature:
    number(args[0])
    kind = args[0].kind
    if kind in UNSIGNED:
        raise Refused(f"the negative of {kind}")
    return Signature(kind, [None], strict(lambda a: in_kind(-a, kind)))


def same_number(f: Callable[[Any], Any]) -> Callable[..., Signature]:
    def sign(args: Sequence[Argument]) -> Signature:
        number(args[0])
        kind = args[0].kind
        return Signature(kind, [None], strict(lambda a: in_kind(f(a), kind)))

    return sign


def rounded(f: Callable[[float], int]) -> Callable[[Any], Any]:
    """Of a float a float again."""
    return lambda a: a if isinstance(a, int) or not math.isfinite(a) else math.copysign(f(a), a)


def real(f: Callable[..., float], count: int = 1) -> Callable[..., Signature]:
    def value(*args: float) -> float:
        with np.errstate(all="ignore"):
            return float(f(*(np.float64(a) for a in args)))

    def sign(args: Sequence[Argument]) -> Signature:
        if len(args) != count:
            raise Refused(f"{len(args)} arguments")
        for a in args:
            number(a)
        kind = "float32" if together(args) == "float32" else "float64"
        made = strict(lambda *a: in_kind(value(*a), kind))
        return Signature(kind, [kind] * len(args), made)

    return sign


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def extreme(f: Callable[..., Any], count: int) -> Callable[..., Signature]:
    def sign(args: Sequence[Argument]) -> Signature:
        if len(args) != count:
            raise Refused(f"{len(args)} arguments")
        for a in args:
            number(a)
        kind = together(args)

        def value(*args: Any) -> Any:
            nan = [a for a in args if a != a]
            return nan[0] if nan else f(*args)

        return Signature(kind, [kind] * len(args), strict(value))

    return sign


def float_test(f: Callable[[float], bool]) -> Callable[..., Signature]:
    def sign(args: Sequence[Argument]) -> Signature:
        number(args[0])
        return Signature("bool", [None], strict(lambda a: f(float(a))))

    return sign


def choose(args: Sequence[Argument]) -> Signature:
    booleans(args[:1])
    kind = together(args[1:])
    return Signature(kind, [None, kind, kind], lambda c, a, b: a if c else b)


def fill(args: Sequence[Argument]) -> Signature:
    kind = together(args)
    return Signature(kind, [kind, kind], lambda a, b: b if a is None else a)


def of_text(result: str | None, f: Callable[..., Any]) -> Callable[..., Signature]:
    """The first argument text or bytes; further texts have its kind, numbers are integers."""

    def sign(args: Sequence[Argument]) -> Signature:
        kind = args[0].kind
        if kind not in TEXTS:
            raise Refused(f"{kind} is no text")
        for a in args[1:]:
            if a.kind != kind and a.kind not in INTEGERS:
                raise Refused(f"{a.kind} beside {kind}")
        return Signature(result or kind, [None] * len(args), strict(f))

    return sign


def substring(x: Any, begin: int, end: int | None = None) -> Any:
    return x[begin:end]


def bucket(args: Sequence[Argument]) -> Signature:
    number(args[0])
    bounds = args[1].literal
    together([args[0], *(Argument(literal_kind(b), b) for b in bounds)])
    return Signature("int64", [None, None], lambda x, _: None if x is None else below(x, bounds))


def below(x: Any, bounds: list[Any]) -> int:
    """NaN comes after all."""
    return sum(not b > x for b in bounds)


def test_null(args: Sequence[Argument]) -> Signature:
    return Signature("bool", [None], lambda a: a is None)


ELEMENTWISE: dict[str, Callable[..., Signature]] = {
    "add": add,
    "sub": arithmetic(lambda a, b: a - b),
    "mul": arithmetic(lambda a, b: a * b),
    "div": divide,
    "floordiv": arithmetic(floor_divide),
    "mod": arithmetic(modulo),
    "neg": negative,
    "eq": compare(lambda a, b: a == b),
    "ne": compare(lambda a, b: a != b),
    "lt": compare(lambda a, b: a < b),
    "le": compare(lambda a, b: a <= b),
    "gt": compare(lambda a, b: a > b),
    "ge": compare(lambda a, b: a >= b),
    "in": in_list,
    "and": logic("and"),
    "or": logic("or"),
    "not": negation,
    "is_null": test_null,
    "abs": same_number(abs),
    "sign": same_number(lambda a: a if a != a else (a > 0) - (a < 0)),
    "floor": same_number(rounded(math.floor)),
    "ceil": same_number(rounded(math.ceil)),
    "round": same_number(rounded(round)),
    "sqrt": real(np.sqrt),
    "exp": real(np.exp),
    "expm1": real(np.expm1),
    "log": real(np.log),
    "log1p": real(np.log1p),
    "log2": real(np.log2),
    "log10": real(np.log10),
    "tanh": real(np.tanh),
    "sigmoid": real(sigmoid),
    "pow": real(np.power, 2),
    "minimum": extreme(min, 2),
    "maximum": extreme(max, 2),
    "clip": extreme(lambda x, low, high: min(max(x, low), high), 3),
    "is_nan": float_test(math.isnan),
    "is_finite": float_test(math.isfinite),
    "if": choose,
    "fill_null": fill,
    "len": of_text("int64", len),
    "lower": of_text(None, lambda x: x.lower()),
    "upper": of_text(None, lambda x: x.upper()),
    "strip": of_text(None, lambda x: x.strip()),
    "starts_with": of_text("bool", lambda x, y: x.startswith(y)),
    "ends_with": of_text("bool", lambda x, y: x.endswith(y)),
    "contains": of_text("bool", lambda x, y: y in x),
    "substr": of_text(None, substring),
    "bucketize": bucket,
}


def signature(name: str, args: Sequence[Argument]) -> Signature:
    try:
        return ELEMENTWISE[name](args)
    except (ValueError, IndexError, TypeError):  # too many or too few
        raise Refused(f"arguments of {name}") from None


# ---- aggregates ----


class Aggregate(NamedTuple):
    kind: Callable[[str], str]  # of the result by the argument's ("struct" for structs)
    value: Callable[[list[Any] | None, str], Any]  # of a list, or a null one


def same_kind(kind: str) -> str:
    if kind == "struct":
        raise Refused("an aggregate of structs")
    return kind


def only(*kinds: str) -> Callable[[str], str]:
    def check(kind: str) -> str:
        if kind not in kinds:
            raise Refused(f"an aggregate of {kind}")
        return kind

    return check


def gives(result: str, *kinds: str) -> Callable[[str], str]:
    def check(kind: str) -> str:
        if kinds and kind not in kinds:
            raise Refused(f"an aggregate of {kind}")
        return result

    return check


def sum_kind(kind: str) -> str:
    only(*NUMBERS, "bool")(kind)
    return kind if kind in FLOATS else "uint64" if kind in UNSIGNED else "int64"


def mean_kind(kind: str) -> str:
    only(*NUMBERS, "bool")(kind)
    return "float32" if kind == "float32" else "float64"


def present(values: list[Any] | None) -> list[Any]:
    return [v for v in values or [] if v is not None]


def total(values: list[Any] | None, kind: str) -> Any:
    if values is None:
        return None
    made: Any = 0
    for value in present(values):
        made += value
        if kind not in FLOATS:
            in_kind(made, sum_kind(kind))  # in this order
    return in_kind(made, sum_kind(kind))


def mean(values: list[Any] | None, kind: str) -> Any:
    found = present(values)
    return in_kind(sum(map(float, found)) / len(found), mean_kind(kind)) if found else None


def least(f: Callable[[list[Any]], Any]) -> Callable[[list[Any] | None, str], Any]:
    def value(values: list[Any] | None, kind: str) -> Any:
        found = present(values)
        nan = [v for v in found if v != v]
        return nan[0] if nan else f(found) if found else None

    return value


def position(f: Callable[[list[Any]], Any]) -> Callable[[list[Any] | None, str], Any]:
    """Where the value that `least(f)` gives stands, nulls counted."""

    def value(values: list[Any] | None, kind: str) -> Any:
        found = least(f)(values, kind)
        same = [v is not None and (v == found or (v != v and found != found)) for v in values or []]
        return None if found is None else same.index(True)

    return value


def spread_kind(kind: str) -> str:
    only(*NUMBERS)(kind)
    return "float32" if kind == "float32" else "float64"


def variance_of(values: list[Any]) -> float:
    center = in_order(values) / len(values)
    return in_order([(float(v) - center) * (float(v) - center) for v in values]) / len(values)


def in_order(values: list[Any]) -> float:
    """The sum of floats, one after the other."""
    made = 0.0
    for value in values:
        made += float(value)
    return made


def spread(f: Callable[[float], float]) -> Callable[[list[Any] | None, str], Any]:
    def value(values: list[Any] | None, kind: str) -> Any:
        found = present(values)
        return in_kind(f(variance_of(found)), spread_kind(kind)) if found else None

    return value


def quantile(values: list[Any] | None, kind: str, q: float) -> Any:
    found = present(values)
    if not found:
        return None
    with np.errstate(all="ignore"):
        return in_kind(float(np.quantile(np.array(found, np.float64), q)), spread_kind(kind))


def distinct(values: list[Any]) -> int:
    """All NaN are one."""
    return len({v for v in values if v == v}) + any(v != v for v in values)


def truth(f: Callable[[list[Any]], bool]) -> Callable[[list[Any] | None, str], Any]:
    return lambda values, _: None if values is None else f(present(values))


ORDERED = [*NUMBERS, *TEXTS]
AGGREGATES: dict[str, Aggregate] = {
    "sum": Aggregate(sum_kind, total),
    "mean": Aggregate(mean_kind, mean),
    "min": Aggregate(only(*ORDERED, "bool"), least(min)),
    "max": Aggregate(only(*ORDERED, "bool"), least(max)),
    "argmin": Aggregate(gives("int64", *ORDERED, "bool"), position(min)),
    "argmax": Aggregate(gives("int64", *ORDERED, "bool"), position(max)),
    "variance": Aggregate(spread_kind, spread(lambda v: v)),
    "std": Aggregate(spread_kind, spread(math.sqrt)),
    "first": Aggregate(same_kind, lambda values, _: values[0] if values else None),
    "last": Aggregate(same_kind, lambda values, _: values[-1] if values else None),
    "any": Aggregate(only("bool"), truth(any)),
    "all": Aggregate(only("bool"), truth(all)),
    "count": Aggregate(gives("int64"), lambda values, _: len(present(values))),
    "size": Aggregate(gives("int64"), lambda values, _: None if values is None else len(values)),
    "has": Aggregate(gives("bool"), lambda values, _: bool(values)),
    "count_distinct": Aggregate(
        gives("int64", "bool", *ORDERED), lambda values, _: distinct(present(values))
    ),
}


# ---- lists ----


def cumulative_sum(row: list[Any], kind: str) -> list[Any]:
    """Of the values that are there, up to each."""
    return [None if v is None else total(row[: i + 1], kind) for i, v in enumerate(row)]


def rank(row: list[Any], down: bool) -> list[Any]:
    found = [v for v in row if v is not None and v == v]

    def of(value: Any) -> Any:
        if value is None:
            return None
        return 1 + sum(value != value or (v > value if down else v < value) for v in found)

    return [of(v) for v in row]


def joined(values: list[Any] | None, separator: Any) -> Any:
    return None if values is None else separator.join(present(values))
