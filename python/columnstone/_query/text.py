"""The text of queries: values, paths and outputs in the query language."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from .._base.arguments import integer
from .._base.errors import argument_error
from .._base.public import public_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Literal, TypeAlias

    Value: TypeAlias = "bool | int | float | str | bytes | None"
    # A name in the query, such as a parameter, or an expression.
    Bound: TypeAlias = "int | str | None"

_RESERVED = frozenset(
    ["and", "or", "not", "in", "is", "null", "true", "false", "where", "it", "record"]
)
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# A step of a path: in backticks, an extension or a cast of Any, or a plain name.
_STEP = re.compile(r"`(?:[^`]|``)*`|\([^()]*\)|[A-Za-z_][A-Za-z0-9_]*")
_ESCAPES = {"\n": "\\n", "\t": "\\t", "\\": "\\\\", '"': '\\"'}


def literal(value: object) -> str:
    """A value as a literal of the language; lists are for `in`."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        if not math.isfinite(value):
            raise argument_error(f"a query cannot contain the number {value}")
        return repr(float(value))
    if isinstance(value, str):
        return '"' + "".join(_character(c) for c in value) + '"'
    if isinstance(value, bytes | bytearray | memoryview):
        return 'b"' + "".join(_byte(b) for b in bytes(value)) + '"'
    if isinstance(value, list | tuple | set | frozenset):
        items = sorted(value, key=repr) if isinstance(value, set | frozenset) else value
        return "[" + ", ".join(literal(item) for item in items) + "]"
    if hasattr(value, "item") and getattr(value, "ndim", 0) == 0:  # of numpy
        return literal(value.item())
    raise TypeError(
        "a value of a query must be None, bool, int, float, str, bytes or a list of these, not "
        f"{type(value).__name__}"
    )


def _character(c: str) -> str:
    if 0xD800 <= ord(c) < 0xE000:
        raise argument_error("a string of a query contains half of a surrogate pair")
    return _ESCAPES.get(c) or (c if c.isprintable() else f"\\u{{{ord(c):x}}}")


def _byte(b: int) -> str:
    return _ESCAPES.get(chr(b)) or (chr(b) if 0x20 <= b < 0x7F else f"\\x{b:02x}")


def name_of(name: object, what: str = "name") -> str:
    """A name as a step of a path, in backticks if needed."""
    if not isinstance(name, str):
        raise TypeError(f"{what} must be a str, not {type(name).__name__}")
    if not name:
        raise argument_error(f"{what} is empty")
    if name.startswith("`") or (_PLAIN.fullmatch(name) and name not in _RESERVED):
        return name
    return "`" + name.replace("`", "``") + "`"


def steps_of(path: object, what: str = "path") -> list[str]:
    """The steps of a path; none for ""."""
    if not isinstance(path, str):
        raise TypeError(f"{what} must be a str, not {type(path).__name__}")
    steps: list[str] = []
    at = 0
    while at < len(path):
        step = _STEP.match(path, at)
        if step is None or (step.end() < len(path) and path[step.end()] != "."):
            raise argument_error(
                f"{what} {path!r:.80} is not a path: no step begins at character {at + 1}",
                "write steps with other characters in backticks",
            )
        steps.append(step[0])
        at = step.end() + 1
    if path.endswith("."):
        raise argument_error(f"{what} {path!r:.80} ends with a dot")
    return steps


def is_path(text: str) -> bool:
    return re.fullmatch(rf"(?:{_STEP.pattern})(?:\.(?:{_STEP.pattern}))*", text) is not None


def joined(steps: Iterable[str]) -> str:
    return ".".join(steps)


def beside(path: str, name: str) -> str:
    """The path of a field next to another one."""
    return joined([*steps_of(path)[:-1], name_of(name)])


def below(path: str, name: str) -> str:
    """The path of a field in a struct, or ("") in the record."""
    return joined([*steps_of(path), name_of(name)])


def bound(value: object) -> str:
    """A bound of a slice."""
    if value is None:
        return ""
    return value if isinstance(value, str) else str(integer("a bound", value))  # type: ignore[arg-type]


def call(function: str, arguments: Iterable[str], **options: str | None) -> str:
    """A call, with the options that are not None."""
    given = [f"{name}={value}" for name, value in options.items() if value is not None]
    return f"{function}({', '.join([*arguments, *given])})"


# ---- outputs ----


@public_in("columnstone.query")
def dense(expression: str, shape: Sequence[int] | None = None, default: Value = None) -> str:
    """An output of a query as a dense tensor, for Query.output.

    expression: a path or an expression. At the record it is a scalar for each record.
    shape: one number for each level of lists. Shorter lists are filled with the default, longer
        ones are an error.
    default: replaces nulls and missing values; without a default, these are errors.
    """
    dims = None if shape is None else literal([integer("a dimension", dim) for dim in shape])
    filled = None if default is None else literal(default)
    return call("dense", [_expression(expression)], shape=dims, default=filled)


@public_in("columnstone.query")
def sparse(expression: str) -> str:
    """An output of a query as a sparse tensor: nulls are left out, positions are kept."""
    return call("sparse", [_expression(expression)])


@public_in("columnstone.query")
def ragged(
    expression: str, default: Value = None, row_splits: Literal["int64", "int32"] = "int64"
) -> str:
    """An output of a query as a ragged tensor. A null list becomes an empty row. A null value
    becomes the default; without a default, it is an error."""
    if row_splits not in ("int64", "int32"):
        raise argument_error(f"row_splits is {ascii(row_splits)[:40]}, and is int64 or int32")
    filled = None if default is None else literal(default)
    splits = None if row_splits == "int64" else row_splits
    return call("ragged", [_expression(expression)], default=filled, row_splits=splits)


@public_in("columnstone.query")
def structured(expression: str) -> str:
    """An output of a query as a structured tensor: the structs with all of their fields; nulls
    remain nulls."""
    return call("struct", [_expression(expression)])


def _expression(expression: Any) -> str:
    if not isinstance(expression, str):
        raise TypeError(f"an expression must be a str, not {type(expression).__name__}")
    return expression
