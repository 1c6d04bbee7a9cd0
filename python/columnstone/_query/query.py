"""Query: what is let, and what comes out, over nested data."""

from __future__ import annotations

import functools
import os
import re
from typing import TYPE_CHECKING, Any

from .. import _core
from .._base.arguments import integer
from .._base.errors import Error, argument_error
from .._base.markup import or_text, preformatted, titled
from .._base.public import public
from .._schema.schema import Schema, as_columns
from .functions import Function
from .input import Input, input_of, source_of, type_of
from .text import below, beside, bound, call, is_path, joined, literal, name_of, steps_of
from .view import NO_LIMITS, View, bind, core_params, limits_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Self

    from .._core import (
        ArrowArrayExportable,
        ArrowSchema,
        ArrowSchemaExportable,
        ArrowStreamExportable,
        RecordBatch,
    )
    from .._core import Query as CoreQuery
    from .._message.descriptors import DescriptorsLike
    from .._message.options import MessageLike
    from .._schema.schema import SchemaLike
    from .._schema.spec import FeatureSpec
    from .._types import AnyTensor
    from .functions import Arrays
    from .text import Bound, Value
    from .view import Batch, Limits, Params, Records

# A parameter without a value of its own, as the usual spelling has it.
_PARAM = re.compile(r"^param\s+(`(?:[^`]|``)*`|\w+)\s*:\s*(\[?\w+\]?)\s*$", re.MULTILINE)
_FROM = re.compile(r"^from\s+(\w+)", re.MULTILINE)
_VALUES = {"bool": "true", "string": '""', "bytes": 'b""', "float32": "1.0", "float64": "1.0"}
_PROBE = "__probe__"


@public
class Query:
    """A query over nested data: protobuf messages, tf.Examples, Arrow. Immutable: every method
    gives a new one. It is text, which docs/queries.md describes, and these methods write it.

    source: what the records are: a generated class, its DESCRIPTOR, or the full name of a message
        with descriptors; "example" or "sequence_example", with a schema; for tables anything that
        has an Arrow schema (a pyarrow.Schema, a table, a Source); or nothing, and then the
        input says it when the query is run.
    descriptors: anything that `Descriptors` takes.
    schema: of "example": anything that Schema takes.
    message_options: how messages become fields, as the language writes it: {"enums": "number"}.

    Where the source is known each method checks what it adds at once: NotFoundError with the
    nearest names, SchemaError for types that do not fit, ArgumentError with line and column of a
    text that is no expression.

    Paths name fields: "event.query". What has other characters is written in backticks. A value
    that is let at "event.price_log" stands at each event; what comes from elsewhere is promoted or
    broadcast to where it shall stand.

    >>> q = (cst.Query("shop.Session", descriptors="shop.proto")
    ...      .promote("event.query", to="", name="queries")
    ...      .filter("event", by="event.clicked", name="clicks")
    ...      .size("clicks", name="num_clicks")
    ...      .output("label", cst.query.dense("num_clicks", default=0))
    ...      .output("tokens", cst.query.ragged("queries")))
    >>> q.view().save("ranking.cstv")
    >>> cst.View("ranking.cstv").outputs
    ('label', 'tokens')
    """

    __slots__ = ("_core", "_input", "_view")
    _core: _core.Query
    _input: Input
    _view: View | None  # without values and outputs of one's own, once made

    def __init__(
        self,
        source: MessageLike
        | ArrowSchemaExportable
        | ArrowArrayExportable
        | ArrowStreamExportable
        | None = None,
        *,
        descriptors: DescriptorsLike | None = None,
        schema: SchemaLike | None = None,
        message_options: dict[str, Any] | None = None,
    ) -> None:
        statement, self._input = source_of(source, descriptors, schema, message_options)
        self._core = _core.Query(statement)
        self._view = None

    @classmethod
    def from_text(
        cls,
        text: str,
        *,
        message: MessageLike | None = None,
        descriptors: DescriptorsLike | None = None,
        schema: SchemaLike | None = None,
        type: ArrowSchemaExportable | None = None,
    ) -> Self:
        """The query of a text. descriptors: of `from message`; message: the message, if the text
        does not name it; schema: of `from example`; type: of `from table`, anything that has an
        Arrow schema. Raises ArgumentError with line and column.

        >>> q = cst.Query.from_text("from table [{fare: float64}]")
        >>> q = q.add("output dear = dense(fare > 10)")
        >>> q.view().apply({"fare": [9.5, 12.0]}).to_pydict()
        {'dear': [False, True]}
        """
        if not isinstance(text, str):
            raise TypeError(f"the text of a query is a str, not {text.__class__.__name__}")
        return cls._made(_core.Query(text), input_of(message, descriptors, schema, type))._checked()

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str],
        *,
        message: MessageLike | None = None,
        descriptors: DescriptorsLike | None = None,
        schema: SchemaLike | None = None,
        type: ArrowSchemaExportable | None = None,
    ) -> Self:
        """The query of a text in a file (.cstq); the arguments as for `from_text`."""
        core = _core.Query(None, path)
        return cls._made(core, input_of(message, descriptors, schema, type))._checked()

    @classmethod
    def from_struct2tensor(
        cls, expression: Any, *, descriptors: DescriptorsLike | None = None
    ) -> Self:
        """The query that says what an expression of struct2tensor says, without outputs: its known
        fields are those that `keep` names. UnsupportedError names what cannot be said.

        Of a prensor (create_expression_from_prensor) it is a query of tables that have its fields.

        descriptors: where the expression has messages that its own pool does not tell.
        """
        from .struct2tensor import said_by

        said = said_by(expression)
        query = cls(said.source, descriptors=descriptors, message_options=said.message_options)
        for path, text in said.lets:
            query = query.let(path, text)
        return (query.rows(said.rows) if said.rows else query).keep(*said.kept)

    @classmethod
    def _made(cls, core: CoreQuery, input: Input) -> Self:
        query = object.__new__(cls)
        query._core = core
        query._input = input
        query._view = None
        return query

    # What it is

    @property
    def text(self) -> str:
        """The query in its usual spelling: two texts that mean the same statements give the
        same."""
        return self._core.text

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Query):
            return NotImplemented
        return self._state() == other._state()

    def __hash__(self) -> int:
        return hash(self.text)

    def _state(self) -> tuple[Any, ...]:
        return self.text, self._input, self._core.functions

    def __reduce__(self) -> tuple[Callable[..., Query], tuple[Any, ...]]:
        return _restored, (type(self), self.text, self._input, self._core.functions)

    def __repr__(self) -> str:
        return f"<columnstone.Query\n{self.text}>"

    @or_text
    def _repr_html_(self) -> str:
        return titled("Query", preformatted(self.text))

    # Statements

    def add(self, text: str) -> Self:
        """With the statements of a text."""
        core = self._core.add(text)
        return self._made(core, self._input)._checked()

    def param(self, name: str, type: str, default: Any = None) -> Self:
        """With a parameter, which expressions name: of type "bool", "int32", "int64", "float32",
        "float64", "string", "bytes", or a list of one for `in`: "[int64]". Without a default it has
        to be given to `view`."""
        value = None if default is None else literal(default)
        core = self._core.param(name, type, value)
        return self._made(core, self._input)._checked(f"{_PROBE} = record_index()")

    def let(self, path: str, expression: str) -> Self:
        """With a new field at a path. Where its values stand decides how they get there: in a
        struct above they are promoted, in one below broadcast."""
        core = self._core.let(path, expression)
        return self._made(core, self._input)._checked(f"{_PROBE} = has(record.{path})")

    def rows(self, path: str) -> Self:
        """From here on every element of a list is a record, and names begin below it."""
        core = self._core.rows(path)
        return self._made(core, self._input)._checked(f"{_PROBE} = record_index()")

    reroot = rows

    def keep(self, *patterns: str, depth: int | None = None) -> Self:
        """With these fields as columns, in their nests. The last step may be * (all fields directly
        below) or ** (at any depth; of recursive messages `depth` steps)."""
        number = 0 if depth is None else integer("depth", depth)
        core = self._core.keep(patterns, number)
        return self._made(core, self._input)._checked()

    def drop(self, *patterns: str) -> Self:
        """Without these fields, from here on."""
        core = self._core.drop(patterns)
        return self._made(core, self._input)._checked(f"{_PROBE} = record_index()")

    def rename(self, path: str, name: str) -> Self:
        """With another name for a field."""
        core = self._core.rename(path, name)
        return self._made(core, self._input)._checked(f"{_PROBE} = record_index()")

    def output(self, name: str, expression: str) -> Self:
        """With a column of the result: an expression, or what `dense`, `sparse`, `ragged` and
        `structured` give."""
        core = self._core.output(name, expression)
        return self._made(core, self._input)._checked(only=name)

    # Moving values

    def promote(self, path: str, to: str = "", name: str | None = None) -> Self:
        """A field once more, in a struct above its own ("": the record): the values of all that lie
        below one element of that are one list."""
        steps, target = steps_of(path), steps_of(to, "to")
        if steps[: len(target)] != target or len(target) >= len(steps) - 1:
            raise argument_error(
                f"{path!r:.80} is not promoted to {to!r:.80}, which is not above its struct"
            )
        return self.let(below(to, _named(name, path)), path)

    def broadcast(self, path: str, into: str, name: str | None = None) -> Self:
        """A field once more, in a struct that lies beside it or deeper: each element of that gets
        the value."""
        parent, target = steps_of(path)[:-1], steps_of(into, "into")
        if target[: len(parent)] != parent or len(target) <= len(parent):
            raise argument_error(
                f"{path!r:.80} is not broadcast into {into!r:.80}, which does not lie beside it or "
                "deeper",
                "promote_and_broadcast goes up first",
            )
        return self.let(below(into, _named(name, path)), path)

    def promote_and_broadcast(self, path: str, into: str, name: str | None = None) -> Self:
        """A field once more, anywhere: promoted to the last struct that both lie below, and
        broadcast from there."""
        return self.let(below(into, _named(name, path)), path)

    # Choosing

    def filter(self, path: str, by: str, name: str) -> Self:
        """The elements of a list for which a condition is true, beside it.

        by: the path of a bool of each element ("event.clicked"), or an expression, in which names
            are looked up in the element first: "clicked and price > 0".
        """
        self._check_list(path)
        begin = path + "."
        condition = by[len(begin) :] if by.startswith(begin) and is_path(by) else by
        return self.let(beside(path, name), f"{path} where {condition}")

    def slice(
        self,
        path: str,
        begin: Bound = None,
        end: Bound = None,
        step: Bound = None,
        *,
        name: str,
    ) -> Self:
        """The elements [begin:end:step] of every list, as Python slices; a bound is a number, the
        name of a parameter, or an expression."""
        self._check_list(path)
        parts = [bound(begin), bound(end), *([] if step is None else [bound(step)])]
        return self.let(beside(path, name), f"{path}[{':'.join(parts)}]")

    def truncate(self, path: str, limit: Bound, name: str) -> Self:
        """The first elements of every list, at most so many."""
        return self.slice(path, None, limit, name=name)

    def drop_null(self, path: str, name: str) -> Self:
        """The elements of a list that are not null."""
        self._check_list(path)
        return self._call("drop_null", path, name)

    def fill_null(self, path: str, value: Value, name: str) -> Self:
        """A value in the place of nulls."""
        return self._call("fill_null", path, name, literal(value))

    def only(self, path: str, *patterns: str, name: str, depth: int | None = None) -> Self:
        """Structs with these of their fields."""
        limit = None if depth is None else str(integer("depth", depth))
        return self.let(beside(path, name), call("only", [path, *patterns], depth=limit))

    def without(self, path: str, *patterns: str, name: str) -> Self:
        """Structs without these of their fields."""
        return self._call("without", path, name, *patterns)

    def zip(self, name: str, **expressions: str) -> Self:
        """Structs of elements of several lists that are equally long, which is checked in every
        record: zip("pair", a="left", b="right")."""
        path = name if is_path(name) else name_of(name)
        given = [f"{name_of(key)}={value}" for key, value in expressions.items()]
        return self.let(path, f"zip({', '.join(given)})")

    # Positions

    def record_index(self, name: str) -> Self:
        """The number of the input record."""
        return self.let(name_of(name), "record_index()")

    def index(self, path: str, name: str) -> Self:
        """The position of each element in its list, from 0 on, beside the list."""
        return self._call("index", path, name)

    def index_from_end(self, path: str, name: str) -> Self:
        """The same from the end: -n to -1."""
        return self._call("index_from_end", path, name)

    # One value of many, beside what they are made of. Nulls are skipped but where it says so.

    def size(self, path: str, name: str) -> Self:
        """How many elements a list has, nulls too; null for a null list."""
        return self._call("size", path, name)

    def has(self, path: str, name: str) -> Self:
        """Whether there is something: false for null and for lists without elements."""
        return self._call("has", path, name)

    def count(self, path: str, name: str) -> Self:
        """How many values are not null; 0 for a null list."""
        return self._call("count", path, name)

    def count_distinct(self, path: str, name: str) -> Self:
        """How many different values there are."""
        return self._call("count_distinct", path, name)

    def sum(self, path: str, name: str) -> Self:
        """The sum; 0 of no values, null for a null list."""
        return self._call("sum", path, name)

    def mean(self, path: str, name: str) -> Self:
        """The mean; null of no values."""
        return self._call("mean", path, name)

    def variance(self, path: str, name: str) -> Self:
        """The mean of the squares of what differs from the mean; null of no values."""
        return self._call("variance", path, name)

    def std(self, path: str, name: str) -> Self:
        """The standard deviation, the square root of the variance; null of no values."""
        return self._call("std", path, name)

    def argmin(self, path: str, name: str) -> Self:
        """Where the least value stands in its list, from 0 on; null of no values."""
        return self._call("argmin", path, name)

    def argmax(self, path: str, name: str) -> Self:
        """Where the greatest value stands in its list, from 0 on; null of no values."""
        return self._call("argmax", path, name)

    def min(self, path: str, name: str) -> Self:
        """The least; null of no values."""
        return self._call("min", path, name)

    def max(self, path: str, name: str) -> Self:
        """The greatest; null of no values."""
        return self._call("max", path, name)

    def first(self, path: str, name: str) -> Self:
        """The first element, perhaps a null; null of none."""
        return self._call("first", path, name)

    def last(self, path: str, name: str) -> Self:
        """The last element, perhaps a null; null of none."""
        return self._call("last", path, name)

    def any(self, path: str, name: str) -> Self:
        """Whether one is true; false of none."""
        return self._call("any", path, name)

    def all(self, path: str, name: str) -> Self:
        """Whether none is false; true of none."""
        return self._call("all", path, name)

    def join(self, path: str, separator: str, name: str) -> Self:
        """The texts with a separator between them."""
        return self._call("join", path, name, literal(separator))

    def _call(self, function: str, path: str, name: str, *arguments: str) -> Self:
        return self.let(beside(path, name), call(function, [path, *arguments]))

    # Functions

    def map(
        self,
        path: str,
        fn: str | Callable[..., Any],
        *arguments: str,
        type: str | None = None,
        arrays: Arrays = "numpy",
    ) -> Self:
        """A new field that is computed of others, element by element.

        path: of the new field.
        fn: an expression, as for `let`; or a function of Python's, which gets an array for each of
            the arguments (paths or expressions) and gives one of as many values. A query with such
            a function cannot be saved. Any thread may call it, with any number of elements.
        type: of what the function gives: "bool", "int32", "int64", "float32", "float64", "string"
            or "bytes".
        arrays: "numpy": the function sees those elements of which no argument is null, and the
            others are null; "pyarrow": it sees all, with their nulls.

        >>> q = cst.Query("shop.Session", descriptors="shop.proto")
        >>> print(q.map("event.log_price", "log1p(event.price)").text)
        from message shop.Session
        let event.log_price = log1p(event.price)
        """
        if isinstance(fn, str):
            if arguments or type is not None:
                raise argument_error("arguments and type go with a function of Python's")
            return self.let(path, fn)
        if type is None or not arguments:
            raise argument_error(
                "a function of Python's needs its arguments and its type",
                'map("event.x", fn, "event.a", "event.b", type="float32")',
            )
        function = Function(fn, type, arrays, len(arguments), self._free_name(fn))
        core = function.add_to(self._core)
        expression = f"{function.name}({', '.join(arguments)})"
        return self._made(core, self._input).let(path, expression)

    def _free_name(self, fn: Callable[..., Any]) -> str:
        """A name that says which function it is."""
        name = getattr(fn, "__name__", "")
        plain = "python_" + (name if name.isidentifier() and name.isascii() else "function")
        taken = {function.name for function in self._core.functions}
        numbers = (f"{plain}_{i}" for i in range(2, len(taken) + 3))
        return next(name for name in (plain, *numbers) if name not in taken)

    # Bound

    def view(
        self,
        params: Params = None,
        outputs: Iterable[str] | None = None,
        *,
        max_elements: int | None = None,
        max_bytes: int | None = None,
        max_work: int | None = None,
    ) -> View:
        """The query bound to its source, with values of its parameters, and of these outputs
        only. The limits are those of `View`."""
        limits = limits_of(max_elements, max_bytes, max_work)
        return self._bound(core_params(params), as_columns(outputs), self._input, limits)

    def _bound(
        self,
        params: tuple[tuple[str, str], ...],
        outputs: tuple[str, ...] | None,
        input: Input,
        limits: Limits = NO_LIMITS,
    ) -> View:
        recipe = None
        if self._core.functions:
            parts = (self.text, self._core.functions, input, params, outputs, limits)
            recipe = (_bound_again, parts)
        return View._of(bind(self._core, input, params, outputs, limits, recipe))

    def _whole(self) -> View:
        if self._view is None:
            self._view = self.view()
        return self._view

    def _view_of(self, data: Any) -> View:
        """The view for some data, by whose types a query without a source goes."""
        if self._input.is_known or self._reads() not in ("", "table"):
            return self._whole()
        from .._arrow.table import record_batch

        input = self._input._replace(type=type_of(record_batch(data)))
        return self._bound((), None, input)

    def _view_of_source(self, params: Params, schema: Any, source: Callable[[str], Any]) -> View:
        """The view for a source, by whose `schema` or `arrow_schema` a query without one goes."""
        input = self._input
        if not input.is_known and self._reads() in ("example", "sequence_example"):
            input = input._replace(schema=source("schema") if schema is None else Schema(schema))
        elif not input.is_known and self._reads() in ("", "table"):
            input = input._replace(type=source("arrow_schema"))
        return self._bound(core_params(params), None, input)

    def _reads(self) -> str:
        """What `from` says: "message", "table", ...; "" without it."""
        found = _FROM.search(self.text)
        return "" if found is None else found[1]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the view to a file, as View.save: where it is opened nothing else is needed."""
        self._whole().save(path)

    def run(self, records: Records | Batch) -> RecordBatch:
        """The batch that it makes of records (a list of bytes, an Arrow binary array) or of a
        batch."""
        return self._view_of(records).run(records)

    def tensors(self, records: Records | Batch) -> dict[str, AnyTensor]:
        """The tensors that it makes of them, by name."""
        return self._view_of(records).tensors(records)

    @property
    def schema(self) -> ArrowSchema:
        """The Arrow schema of what it gives."""
        return self._whole().schema

    def feature_spec(self) -> dict[str, FeatureSpec]:
        """The parsing spec of the tensors, as Schema.feature_spec gives it."""
        return self._whole().feature_spec()

    def source_paths(self, output: str | None = None) -> tuple[str, ...]:
        """The fields of the source that an output (None: any of them) needs. Nothing else is
        parsed."""
        return self._whole().source_paths(output)

    def explain(self, batch: Batch | None = None, *, json: bool = False) -> str:
        """The plan: what is parsed, which steps are taken, what comes out; with a batch, how many
        elements each step makes of it."""
        view = self._whole() if batch is None else self._view_of(batch)
        return view.explain(batch, json=json)

    # Checks

    def _check_list(self, path: str) -> None:
        """ArgumentError for a field of which there is one in each element of the list that it lies
        in: what is chosen of that list is no field of its elements."""
        steps = steps_of(path)
        if len(steps) < 2 or not self._input.is_known:
            return
        above = joined(steps[:-1])
        try:
            levels = [self._levels(place) for place in (above, path)]
        except Error:
            return  # what is wrong is said where it is let
        if levels[0] == levels[1] > 0:
            hint = f'choose elements of {above}, or let: let("x", "{path}[...]")'
            raise argument_error(
                f"{path} is no list: each element of {above} has one ({hint})", hint
            )

    def _levels(self, path: str) -> int:
        """How many lists lie above the values of a path."""
        core = self._core.output(_PROBE, path)
        view = bind(core, self._input, _placeholders(core.text), (_PROBE,))
        column, levels = view.arrow_schema.children[0], 0
        while column.format[:2] in ("+l", "+L", "+w", "+m"):
            column, levels = column.children[0], levels + 1
        return levels

    def _checked(self, probe: str | None = None, only: str | None = None) -> Self:
        """Itself, if what was added last fits the source, as far as that is known. The probe is an
        output that asks for nothing but this."""
        if not self._input.is_known:
            return self
        core = self._core
        outputs = None if only is None else (only,)
        if probe is not None:
            core = core.output(*probe.split(" = ", 1))
            outputs = (_PROBE,)
        bind(core, self._input, _placeholders(core.text), outputs)
        return self


def _named(name: str | None, path: str) -> str:
    return steps_of(path)[-1] if name is None else name


def _placeholders(text: str) -> tuple[tuple[str, str], ...]:
    """Values for parameters that have none yet."""
    found = []
    for name, type in _PARAM.findall(text):
        value = _VALUES.get(type.strip("[]"), "1")
        plain = name[1:-1].replace("``", "`") if name.startswith("`") else name
        found.append((plain, f"[{value}]" if type.startswith("[") else value))
    return tuple(found)


def _with_functions(text: str, functions: tuple[Function, ...]) -> _core.Query:
    core = functools.reduce(lambda query, f: f.add_to(query), functions, _core.Query(""))
    return core.add(text)


def _restored(cls: type[Query], text: str, input: Input, functions: tuple[Function, ...]) -> Query:
    """What a query pickles as."""
    return cls._made(_with_functions(text, functions), input)


def _bound_again(
    text: str,
    functions: tuple[Function, ...],
    input: Input,
    params: tuple[tuple[str, str], ...],
    outputs: tuple[str, ...] | None,
    limits: Limits,
) -> _core.View:
    """What a view with functions of Python's pickles as."""
    core = _with_functions(text, functions)
    recipe = (_bound_again, (text, functions, input, params, outputs, limits))
    return bind(core, input, params, outputs, limits, recipe)
