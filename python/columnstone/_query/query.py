"""Query: definitions and outputs over nested data."""

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

# A parameter without a value of its own, in its usual notation.
_PARAM = re.compile(r"^param\s+(`(?:[^`]|``)*`|\w+)\s*:\s*(\[?\w+\]?)\s*$", re.MULTILINE)
_FROM = re.compile(r"^from\s+(\w+)", re.MULTILINE)
_VALUES = {"bool": "true", "string": '""', "bytes": 'b""', "float32": "1.0", "float64": "1.0"}
_PROBE = "__probe__"


@public
class Query:
    """A query over nested data: protobuf messages, tf.Examples or Arrow data. Queries are
    immutable: each method returns a new query. A query is a text (docs/queries.md); these methods
    write that text.

    source: what the query reads: a generated message class, its DESCRIPTOR, or the full name of a
        message together with descriptors; "example" or "sequence_example", with a schema; for
        tables, anything with an Arrow schema (a pyarrow.Schema, a table, a Source). None: the input
        defines it when the query runs.
    descriptors: anything that `Descriptors` accepts.
    schema: for "example": anything that `Schema` accepts.
    message_options: how messages become fields, with the words of the language: {"enums":
        "number"}.

    If the source is known, each method checks its arguments immediately. It raises NotFoundError
    with similar names, SchemaError for types that do not fit, and ArgumentError with line and
    column for an invalid expression.

    Paths name fields: "event.query". Write a name with other characters in backticks. A value
    defined at "event.price_log" exists once for each event; values from other levels are promoted
    or broadcast to that level.

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
        """Parses a query.

        descriptors: for `from message`.
        message: the message, if the text does not name it.
        schema: for `from example`.
        type: for `from table`: anything with an Arrow schema.

        Raises ArgumentError with line and column.

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
        """Reads a query from a text file (.cstq). The arguments are those of `from_text`."""
        core = _core.Query(None, path)
        return cls._made(core, input_of(message, descriptors, schema, type))._checked()

    @classmethod
    def from_struct2tensor(
        cls, expression: Any, *, descriptors: DescriptorsLike | None = None
    ) -> Self:
        """Translates a struct2tensor expression into a query without outputs. Its known fields are
        those that `keep` names. UnsupportedError names the part that cannot be translated.

        A prensor (create_expression_from_prensor) becomes a query of tables with its fields.

        descriptors: for messages that the descriptor pool of the expression lacks.
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

    # Properties

    @property
    def text(self) -> str:
        """The query in canonical form: two texts with the same statements have the same form."""
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
        """Adds the statements of a text."""
        core = self._core.add(text)
        return self._made(core, self._input)._checked()

    def param(self, name: str, type: str, default: Any = None) -> Self:
        """Adds a parameter that expressions can name. Its type is "bool", "int32", "int64",
        "float32", "float64", "string", "bytes", or a list of one of these for `in`: "[int64]". A
        parameter without a default must be given to `view`."""
        value = None if default is None else literal(default)
        core = self._core.param(name, type, value)
        return self._made(core, self._input)._checked(f"{_PROBE} = record_index()")

    def let(self, path: str, expression: str) -> Self:
        """Adds a field at a path. Values from deeper levels are promoted to the level of the path;
        values from higher levels are broadcast."""
        core = self._core.let(path, expression)
        return self._made(core, self._input)._checked(f"{_PROBE} = has(record.{path})")

    def rows(self, path: str) -> Self:
        """Makes each element of a list a record of its own. Later names begin below that list."""
        core = self._core.rows(path)
        return self._made(core, self._input)._checked(f"{_PROBE} = record_index()")

    reroot = rows

    def keep(self, *patterns: str, depth: int | None = None) -> Self:
        """Outputs these fields as columns, with their nesting. The last step of a path can be *
        (all fields directly below) or ** (fields at any depth; `depth` levels of recursive
        messages)."""
        number = 0 if depth is None else integer("depth", depth)
        core = self._core.keep(patterns, number)
        return self._made(core, self._input)._checked()

    def drop(self, *patterns: str) -> Self:
        """Removes these fields for all later statements."""
        core = self._core.drop(patterns)
        return self._made(core, self._input)._checked(f"{_PROBE} = record_index()")

    def rename(self, path: str, name: str) -> Self:
        """Renames a field."""
        core = self._core.rename(path, name)
        return self._made(core, self._input)._checked(f"{_PROBE} = record_index()")

    def output(self, name: str, expression: str) -> Self:
        """Adds an output column: an expression, or the result of `dense`, `sparse`, `ragged` or
        `structured`."""
        core = self._core.output(name, expression)
        return self._made(core, self._input)._checked(only=name)

    # Moving values

    def promote(self, path: str, to: str = "", name: str | None = None) -> Self:
        """Copies a field to a struct above its own ("" is the record). All values below one element
        of that struct become one list."""
        steps, target = steps_of(path), steps_of(to, "to")
        if steps[: len(target)] != target or len(target) >= len(steps) - 1:
            raise argument_error(
                f"cannot promote {path!r:.80} to {to!r:.80}, which is not above its struct"
            )
        return self.let(below(to, _named(name, path)), path)

    def broadcast(self, path: str, into: str, name: str | None = None) -> Self:
        """Copies a field to a struct at its own level or deeper: each element of that struct gets
        the value."""
        parent, target = steps_of(path)[:-1], steps_of(into, "into")
        if target[: len(parent)] != parent or len(target) <= len(parent):
            raise argument_error(
                f"cannot broadcast {path!r:.80} into {into!r:.80}, which is neither beside it nor "
                "deeper",
                "use promote_and_broadcast",
            )
        return self.let(below(into, _named(name, path)), path)

    def promote_and_broadcast(self, path: str, into: str, name: str | None = None) -> Self:
        """Copies a field to any level: promotes it to the deepest struct that contains both, then
        broadcasts it."""
        return self.let(below(into, _named(name, path)), path)

    # Choosing elements

    def filter(self, path: str, by: str, name: str) -> Self:
        """Adds a list of the elements for which a condition is true, next to the original list.

        by: the path of a bool of each element ("event.clicked"), or an expression, whose names are
            looked up in the element first: "clicked and price > 0".
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
        """Takes the elements [begin:end:step] of each list, as a Python slice does. A bound is a
        number, the name of a parameter, or an expression."""
        self._check_list(path)
        parts = [bound(begin), bound(end), *([] if step is None else [bound(step)])]
        return self.let(beside(path, name), f"{path}[{':'.join(parts)}]")

    def truncate(self, path: str, limit: Bound, name: str) -> Self:
        """Keeps at most this many elements of each list, from its beginning."""
        return self.slice(path, None, limit, name=name)

    def drop_null(self, path: str, name: str) -> Self:
        """Keeps the elements of a list that are not null."""
        self._check_list(path)
        return self._call("drop_null", path, name)

    def fill_null(self, path: str, value: Value, name: str) -> Self:
        """Replaces nulls with a value."""
        return self._call("fill_null", path, name, literal(value))

    def only(self, path: str, *patterns: str, name: str, depth: int | None = None) -> Self:
        """Keeps only these fields of the structs."""
        limit = None if depth is None else str(integer("depth", depth))
        return self.let(beside(path, name), call("only", [path, *patterns], depth=limit))

    def without(self, path: str, *patterns: str, name: str) -> Self:
        """Removes these fields from the structs."""
        return self._call("without", path, name, *patterns)

    def zip(self, name: str, **expressions: str) -> Self:
        """Combines several lists into one list of structs: zip("pair", a="left", b="right"). The
        lists must have equal lengths, which is checked for each record."""
        path = name if is_path(name) else name_of(name)
        given = [f"{name_of(key)}={value}" for key, value in expressions.items()]
        return self.let(path, f"zip({', '.join(given)})")

    # Positions

    def record_index(self, name: str) -> Self:
        """The number of the input record."""
        return self.let(name_of(name), "record_index()")

    def index(self, path: str, name: str) -> Self:
        """The position of each element in its list, counted from 0."""
        return self._call("index", path, name)

    def index_from_end(self, path: str, name: str) -> Self:
        """The position of each element counted from the end of its list: -n to -1."""
        return self._call("index_from_end", path, name)

    # Aggregates: one value per list. They skip nulls unless stated otherwise.

    def size(self, path: str, name: str) -> Self:
        """The number of elements of a list, including nulls; null for a null list."""
        return self._call("size", path, name)

    def has(self, path: str, name: str) -> Self:
        """Whether there is a value: false for null and for empty lists."""
        return self._call("has", path, name)

    def count(self, path: str, name: str) -> Self:
        """The number of values that are not null; 0 for a null list."""
        return self._call("count", path, name)

    def count_distinct(self, path: str, name: str) -> Self:
        """The number of different values."""
        return self._call("count_distinct", path, name)

    def sum(self, path: str, name: str) -> Self:
        """The sum; 0 for no values, null for a null list."""
        return self._call("sum", path, name)

    def mean(self, path: str, name: str) -> Self:
        """The mean; null for no values."""
        return self._call("mean", path, name)

    def variance(self, path: str, name: str) -> Self:
        """The population variance; null for no values."""
        return self._call("variance", path, name)

    def std(self, path: str, name: str) -> Self:
        """The population standard deviation; null for no values."""
        return self._call("std", path, name)

    def argmin(self, path: str, name: str) -> Self:
        """The position of the smallest value in its list, counted from 0; null for no values."""
        return self._call("argmin", path, name)

    def argmax(self, path: str, name: str) -> Self:
        """The position of the largest value in its list, counted from 0; null for no values."""
        return self._call("argmax", path, name)

    def min(self, path: str, name: str) -> Self:
        """The smallest value; null for no values."""
        return self._call("min", path, name)

    def max(self, path: str, name: str) -> Self:
        """The largest value; null for no values."""
        return self._call("max", path, name)

    def first(self, path: str, name: str) -> Self:
        """The first element, which may be null; null for an empty list."""
        return self._call("first", path, name)

    def last(self, path: str, name: str) -> Self:
        """The last element, which may be null; null for an empty list."""
        return self._call("last", path, name)

    def any(self, path: str, name: str) -> Self:
        """Whether any value is true; false for no values."""
        return self._call("any", path, name)

    def all(self, path: str, name: str) -> Self:
        """Whether no value is false; true for no values."""
        return self._call("all", path, name)

    def join(self, path: str, separator: str, name: str) -> Self:
        """Joins strings with a separator."""
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
        """Adds a field that is computed from other fields, element by element.

        path: the new field.
        fn: an expression, as for `let`; or a Python function, which gets one array for each
            argument (a path or an expression) and returns an array of the same length. A query with
            a Python function cannot be saved. The function can be called by any thread, with any
            number of elements.
        type: the type of the result of a function: "bool", "int32", "int64", "float32", "float64",
            "string" or "bytes".
        arrays: "numpy": the function gets only the elements for which no argument is null; the
            result is null for the others. "pyarrow": it gets all elements, with their nulls.

        >>> q = cst.Query("shop.Session", descriptors="shop.proto")
        >>> print(q.map("event.log_price", "log1p(event.price)").text, end="")
        from message shop.Session
        let event.log_price = log1p(event.price)
        """
        if isinstance(fn, str):
            if arguments or type is not None:
                raise argument_error("arguments and type are only for Python functions")
            return self.let(path, fn)
        if type is None or not arguments:
            raise argument_error(
                "a Python function needs its arguments and its type",
                'map("event.x", fn, "event.a", "event.b", type="float32")',
            )
        function = Function(fn, type, arrays, len(arguments), self._free_name(fn))
        core = function.add_to(self._core)
        expression = f"{function.name}({', '.join(arguments)})"
        return self._made(core, self._input).let(path, expression)

    def _free_name(self, fn: Callable[..., Any]) -> str:
        """A name that identifies the function."""
        name = getattr(fn, "__name__", "")
        plain = "python_" + (name if name.isidentifier() and name.isascii() else "function")
        taken = {function.name for function in self._core.functions}
        numbers = (f"{plain}_{i}" for i in range(2, len(taken) + 3))
        return next(name for name in (plain, *numbers) if name not in taken)

    # Binding and running

    def view(
        self,
        params: Params = None,
        outputs: Iterable[str] | None = None,
        *,
        max_elements: int | None = None,
        max_bytes: int | None = None,
        max_work: int | None = None,
    ) -> View:
        """Binds the query to its source, with values for its parameters, and with only these
        outputs. The limits are those of `View`."""
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
        """The view for some data; a query without a source uses the types of the data."""
        if self._input.is_known or self._reads() not in ("", "table"):
            return self._whole()
        from .._arrow.table import record_batch

        input = self._input._replace(type=type_of(record_batch(data)))
        return self._bound((), None, input)

    def _view_of_source(self, params: Params, schema: Any, source: Callable[[str], Any]) -> View:
        """The view for a source; a query without `from` uses the `schema` or `arrow_schema` of the
        source."""
        input = self._input
        if not input.is_known and self._reads() in ("example", "sequence_example"):
            input = input._replace(schema=source("schema") if schema is None else Schema(schema))
        elif not input.is_known and self._reads() in ("", "table"):
            input = input._replace(type=source("arrow_schema"))
        return self._bound(core_params(params), None, input)

    def _reads(self) -> str:
        """The kind after `from`: "message", "table", ...; "" without it."""
        found = _FROM.search(self.text)
        return "" if found is None else found[1]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Saves the query as a view (`View.save`). The file is all that is needed to run it
        elsewhere."""
        self._whole().save(path)

    def run(self, records: Records | Batch) -> RecordBatch:
        """Runs the query on records (a list of bytes or an Arrow binary array) or on a batch, and
        returns a batch."""
        return self._view_of(records).run(records)

    def tensors(self, records: Records | Batch) -> dict[str, AnyTensor]:
        """Runs the query and returns tensors by name."""
        return self._view_of(records).tensors(records)

    @property
    def schema(self) -> ArrowSchema:
        """The Arrow schema of the result."""
        return self._whole().schema

    def feature_spec(self) -> dict[str, FeatureSpec]:
        """The parsing spec of the tensors, as Schema.feature_spec gives it."""
        return self._whole().feature_spec()

    def source_paths(self, output: str | None = None) -> tuple[str, ...]:
        """The input fields that an output needs (None: any output). No other field is parsed."""
        return self._whole().source_paths(output)

    def explain(self, batch: Batch | None = None, *, json: bool = False) -> str:
        """The plan: which fields are parsed, which steps run, and what the outputs are. With a
        batch, also how many elements each step produces from it."""
        view = self._whole() if batch is None else self._view_of(batch)
        return view.explain(batch, json=json)

    # Checks

    def _check_list(self, path: str) -> None:
        """ArgumentError for a field that exists once in each element of its list: elements chosen
        from that list cannot be a field of the elements themselves."""
        steps = steps_of(path)
        if len(steps) < 2 or not self._input.is_known:
            return
        above = joined(steps[:-1])
        try:
            levels = [self._levels(place) for place in (above, path)]
        except Error:
            return  # what is wrong is said where it is let
        if levels[0] == levels[1] > 0:
            hint = f'choose elements of {above}, or use let: let("x", "{path}[...]")'
            raise argument_error(
                f"{path} is not a list: each element of {above} has one value ({hint})", hint
            )

    def _levels(self, path: str) -> int:
        """The number of lists above the values of a path."""
        core = self._core.output(_PROBE, path)
        view = bind(core, self._input, _placeholders(core.text), (_PROBE,))
        column, levels = view.arrow_schema.children[0], 0
        while column.format[:2] in ("+l", "+L", "+w", "+m"):
            column, levels = column.children[0], levels + 1
        return levels

    def _checked(self, probe: str | None = None, only: str | None = None) -> Self:
        """The query itself, if the last addition fits the source, as far as that is known. It is
        checked with a probe: an output that needs only the addition."""
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
    """The pickled form of a query."""
    return cls._made(_with_functions(text, functions), input)


def _bound_again(
    text: str,
    functions: tuple[Function, ...],
    input: Input,
    params: tuple[tuple[str, str], ...],
    outputs: tuple[str, ...] | None,
    limits: Limits,
) -> _core.View:
    """The pickled form of a view with Python functions."""
    core = _with_functions(text, functions)
    recipe = (_bound_again, (text, functions, input, params, outputs, limits))
    return bind(core, input, params, outputs, limits, recipe)
