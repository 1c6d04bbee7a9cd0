"""Arithmetic on leaf tensors, aggregates, and functions of the elements of lists. They use the
functions of queries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from .. import _core
from .._base.errors import argument_error
from .._base.public import public_in
from .._query.query import Query
from .._query.text import literal, name_of
from .arrange import expand_dims
from .as_structured import as_structured
from .constant import from_arrow
from .fields import from_fields

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .._core import AnyStructured


def operate(name: str, x: object, y: object) -> AnyStructured:
    """The operator of queries with this name (`**` is pow), between two operands, one of which is a
    leaf tensor."""
    call = "pow({}, {})" if name == "**" else f"{{}} {name} {{}}"
    return _apply(call, [_operand(x), _operand(y)])


def function(call: str, tensor: object) -> AnyStructured:
    """A function of one tensor."""
    return _apply(call, [_operand(tensor)])


def _operand(value: object) -> Any:
    """A tensor, or a literal of the query language; a scalar is used for all elements."""
    if value is None or isinstance(value, bool | int | float | str | bytes):
        return literal(value)
    structured = as_structured(value)
    return literal(structured.to_py()) if structured.rank == 0 else structured


def _apply(call: str, operands: list[Any]) -> AnyStructured:
    """A call, value by value, with the operands (tensors with the same dimensions, and literals) in
    place of its braces. The tensors become fields of structs, which have all dimensions."""
    names = [o if isinstance(o, str) else f"s.f{i}" for i, o in enumerate(operands)]
    tensors = {f"f{i}": o for i, o in enumerate(operands) if not isinstance(o, str)}
    expression = call.format(*(f"({name})" for name in names))
    if not tensors:  # scalars alone
        one = from_fields({"n": [0]})
        return cast("AnyStructured", _run(one, f"if(n == 0, {expression}, null)")[0])
    ranks = {tensor.rank for tensor in tensors.values()}
    if len(ranks) > 1:
        raise argument_error(
            f"tensors of {min(ranks)} and {max(ranks)} dimensions, expected the same dimensions"
        )
    structs = from_fields(tensors, (None,) * ranks.pop())
    return cast("AnyStructured", _run(from_fields({"s": structs}), expression))


def reduce(call: str, tensor: _core.StructuredBase, axis: int | None) -> AnyStructured:
    """One value from all values (axis None), or from those of each innermost list (the last
    axis)."""
    rank = tensor.rank
    if rank == 0:
        raise argument_error("a scalar has no axis")
    if axis is not None and axis not in (-1, rank - 1):
        raise argument_error(
            f"axis is {axis}, expected {rank - 1} (or -1), the last one, or None for all values"
        )
    if axis is None or rank == 1:
        rows = from_fields({"s": expand_dims(tensor, 0)})
        return cast("AnyStructured", _run(rows, call.format("s", "record"))[0])
    structs = from_fields({"v": tensor}, (None,) * (rank - 1))
    return cast("AnyStructured", _run(from_fields({"s": structs}), call.format("s.v", "s")))


def along(call: str, tensor: _core.StructuredBase) -> AnyStructured:
    """A value for each element, computed from its innermost list."""
    if tensor.rank == 0:
        raise argument_error("a scalar has no elements")
    rows = from_fields({"s": expand_dims(tensor, 0)})
    return cast("AnyStructured", _run(rows, call.format("s"))[0])


@public_in("columnstone.struct")
def cartesian(tensors: Mapping[str, object]) -> AnyStructured:
    """Combines every element of each innermost list with every element of the corresponding lists
    of the other tensors, as structs with a field for each tensor; the first field varies slowest.
    The tensors must have the same rank, and the same row lengths in all dimensions but the last. If
    one of the lists is null, the result is null.

    >>> cartesian({"a": [1, 2], "b": ["x", "y"]}).to_py()[:3]
    [{'a': 1, 'b': 'x'}, {'a': 1, 'b': 'y'}, {'a': 2, 'b': 'x'}]
    """
    structured = {f"f{i}": as_structured(tensor) for i, tensor in enumerate(tensors.values())}
    ranks = {tensor.rank for tensor in structured.values()}
    if len(ranks) != 1 or 0 in ranks:
        raise argument_error("cartesian needs tensors with the same dimensions, at least one")
    rank = ranks.pop()
    fields = ", ".join(f"{name_of(n)}=s.f{i}" for i, n in enumerate(tensors))
    if rank > 1:
        return cast("AnyStructured", _run(_structs(structured, rank - 1), f"cartesian({fields})"))
    one = {name: expand_dims(tensor, 0) for name, tensor in structured.items()}
    return cast("AnyStructured", _run(_structs(one, 1), f"cartesian({fields})")[0])


def _structs(tensors: Mapping[str, Any], rank: int) -> Any:
    return from_fields({"s": from_fields(tensors, (None,) * rank)})


@public_in("columnstone.struct")
def combinations(tensor: object, *names: str) -> AnyStructured:
    """Returns all combinations of elements of each innermost list, as structs with one field per
    name. Elements keep the order of the list, and none is used twice. A null list remains null.

    >>> combinations([1, 2, 3], "a", "b").to_py()
    [{'a': 1, 'b': 2}, {'a': 1, 'b': 3}, {'a': 2, 'b': 3}]
    """
    fields = ", ".join(name_of(name) for name in names)
    return along(f"combinations({{}}, {fields})", as_structured(tensor))


@public_in("columnstone.struct")
def run_lengths(tensor: object, by: str | tuple[str, ...] | None = None) -> AnyStructured:
    """Run-length encodes each innermost list: each run of equal elements becomes a struct of its
    first element (`value`) and its length (`length`). Nulls are equal to each other, and so are
    NaNs. Structs are compared by the field `by`. A null list remains null.

    >>> run_lengths([1, 1, 3]).to_py()
    [{'value': 1, 'length': 2}, {'value': 3, 'length': 1}]
    """
    steps = by.split(".") if isinstance(by, str) else by
    key = "" if steps is None else ", by=" + ".".join(name_of(step) for step in steps)
    return along(f"run_lengths({{}}{key})", as_structured(tensor))


def _run(rows: Any, expression: str) -> Any:
    query = Query.from_text(f"output r = {expression}", type=rows)
    return cast("Any", from_arrow(query.run(rows)))["r"]
