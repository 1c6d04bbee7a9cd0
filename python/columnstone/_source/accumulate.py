"""Accumulators: they process all data, batch by batch, in a program or an engine of your own."""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .. import _core
from .._arrow.as_arrow import as_arrow
from .._arrow.findings import rows
from .._base.arguments import integer, positive, proposal
from .._base.errors import Error, argument_error
from .._base.public import public_in
from .._formats.option import TEXTS
from .._schema.schema import Schema
from .._schema.validate import SchemaCheck, check_of
from .base import SourceBase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Self

    from .._schema.schema import SchemaLike

Found = TypeVar("Found")


@public_in("columnstone.accumulate")
def accumulators() -> _core.RecordBatch:
    """Lists all accumulators: `name`, `summary`, `finds_schema`, and `options`, a list of structs
    of `name`, `kind`, `default` and `help`."""
    return _core.Accumulator.all()[0]


@functools.cache
def _kinds() -> dict[str, dict[str, str]]:
    """The kinds of the options of each accumulator."""
    all_of_them = accumulators().to_pydict()
    return {
        name: {option["name"]: option["kind"] for option in options}
        for name, options in zip(all_of_them["name"], all_of_them["options"], strict=True)
    }


def settings(name: str, options: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """Options for the library, as texts. None leaves one out."""
    kinds = _kinds().get(name, {})
    made: list[tuple[str, str]] = []
    for option, value in options.items():
        kind = kinds.get(option)
        if value is None:
            continue
        if kind is None:
            text = str(value)  # the library says that there is no such option
        elif kind == "schema":
            text = (value if isinstance(value, Schema) else Schema(value)).to_text()
        elif kind == "names" and isinstance(value, str):
            text = TEXTS[kind](option, [value])
        else:
            text = TEXTS[kind](option, value)
        made.append((option, text))
    return tuple(made)


class AnyAccumulator(Generic[Found]):
    """The common part of all accumulators."""

    __slots__ = ("_handle", "_name", "_options")
    _handle: _core.Accumulator
    _name: str
    _options: tuple[tuple[str, str], ...]

    def add(
        self,
        batches: _core.ArrowArrayExportable | _core.ArrowStreamExportable,
        *,
        file: str | os.PathLike[str] = "",
        record: int | None = None,
    ) -> int:
        """Adds the rows of a batch, a table, a source, or any other object with __arrow_c_array__
        or __arrow_c_stream__, and returns their number. They follow all rows that were added
        before. The columns of batches may differ.

        file, record: the file of the rows, and the number of its first one, for the places of
            anomalies and errors.

        Raises UnsupportedError, with the path, for a column that cannot be processed, CorruptError
        for invalid Arrow data, and SchemaError for a feature with two types. A batch that fails is
        not counted, but earlier batches of the same stream are.
        """
        name = os.fsencode(file)
        at = -1 if record is None else integer("record", record)
        if record is not None and at < 0:
            raise argument_error(f"record is {at}, and must not be negative")
        if not isinstance(batches, SourceBase):
            return self._handle.add(as_arrow(batches), name, at)
        added = 0  # its own iterator raises what a stream can only tell in words
        for batch in batches:
            added += self._handle.add(batch, name, at if at < 0 else at + added)
        return added

    def merge(self, other: Self) -> None:
        """Adds the state of another accumulator, whose rows follow those of this one. Both must
        have the same options (otherwise ArgumentError). The other one does not change."""
        if type(other) is not type(self):
            raise TypeError(f"expected a {type(self).__name__}, not {type(other).__name__}")
        self._handle.merge(other._handle)

    def finish(self) -> Found:
        """The result so far. You can add more afterwards."""
        raise NotImplementedError

    def __reduce__(self) -> tuple[Callable[..., Self], tuple[Any, ...]]:
        return type(self)._restore, (self._name, self._options, self._handle.save())

    @classmethod
    def _restore(cls, name: str, options: tuple[tuple[str, str], ...], saved: bytes) -> Self:
        return cls._made(name, options, _core.Accumulator.load(saved))

    @classmethod
    def _of(cls, name: str, options: tuple[tuple[str, str], ...]) -> Self:
        """An empty accumulator."""
        return cls._made(name, options, _core.Accumulator.new(name, options))

    @classmethod
    def _made(
        cls, name: str, options: tuple[tuple[str, str], ...], handle: _core.Accumulator
    ) -> Self:
        made = object.__new__(cls)
        made._name = name
        made._options = options
        made._handle = handle
        return made

    def _loaded(self, saved: bytes) -> Self:
        """An accumulator like this one, with a state that was computed elsewhere."""
        return self._made(self._name, self._options, _core.Accumulator.load(saved))

    def _empty(self) -> Self:
        """An empty accumulator like this one."""
        return self._of(self._name, self._options)

    def __repr__(self) -> str:
        try:
            found = self._describe(self.finish())
        except Error as error:
            found = str(error)
        return f"<{type(self).__module__}.{type(self).__name__}: {found}>"

    def _describe(self, found: Found) -> str:
        raise NotImplementedError


@public_in("columnstone.accumulate")
class Accumulator(AnyAccumulator[_core.RecordBatch]):
    """Any accumulator by its name, as `accumulators` lists them. Its result is a RecordBatch, whose
    columns docs/accumulators.md describes. Options are keyword arguments. It pickles and stays
    small, because it contains a state, not data.

    >>> lengths = cst.accumulate.Accumulator("lengths", columns=["zones"])
    >>> for batch in cst.open("trips.tfrecord"):
    ...     lengths.add(batch)
    4
    >>> len(lengths.finish())
    1
    """

    __slots__ = ()

    def __new__(cls, name: str, **options: Any) -> Self:
        return cls._of(name, settings(name, options))

    def finish(self) -> _core.RecordBatch:
        """The result so far. You can add more afterwards."""
        return self._handle.finish()[0]

    def _describe(self, found: _core.RecordBatch) -> str:
        return f"{self._name}, {_numbered(len(found), 'finding')}"


def made_of(accumulator: str | AnyAccumulator[Found], options: dict[str, Any]) -> Any:
    """The accumulator with this name, or the given one, which takes no further options."""
    if isinstance(accumulator, str):
        return Accumulator(accumulator, **options)
    if isinstance(accumulator, type) and issubclass(accumulator, AnyAccumulator):
        return accumulator(**options)
    if not isinstance(accumulator, AnyAccumulator):
        raise TypeError(
            f"expected an accumulator, or the name of one, not a {type(accumulator).__name__}"
        )
    if options:
        raise argument_error("options are only for an accumulator given by name")
    return accumulator


def empty_of(accumulator: str | AnyAccumulator[Found], options: dict[str, Any]) -> Any:
    """Like made_of, for an engine, in which every worker starts with an empty accumulator."""
    made = made_of(accumulator, options)
    empty = made._empty()
    if made._handle.save() != empty._handle.save():
        raise argument_error(
            "the accumulator is not empty, but every worker must begin with an empty one",
            "give an empty one",
        )
    return empty


def _numbered(count: int, noun: str, many: str = "") -> str:
    return f"{count} {noun if count == 1 else many or noun + 's'}"


@public_in("columnstone.accumulate")
class SchemaInference(AnyAccumulator[Schema]):
    """`infer_schema` for batches that you read yourself: in an engine, in many processes, from a
    stream.

    look_at_values: bytes features whose values are all UTF-8 get a string_domain, and columns whose
        type no feature has are skipped, as for sources that are read flat.
    propose, group, max_domain, ragged: as for `infer_schema`.

    Accepts numbers, bool, bytes and strings, single or in lists, and structs of lists, or of lists
    of lists like the feature lists of SequenceExamples. It pickles and stays small, because it
    contains counts, not data.

    >>> inference = cst.accumulate.SchemaInference()
    >>> for batch in cst.open("trips.tfrecord"):
    ...     inference.add(batch)
    4
    >>> [feature.name for feature in inference.finish().features]
    ['company', 'fare', 'zones']
    """

    __slots__ = ()

    def __new__(
        cls,
        *,
        look_at_values: bool = False,
        propose: bool = False,
        group: str = "",
        max_domain: int = 100,
        ragged: bool = False,
    ) -> Self:
        options = proposal(propose, group, max_domain, ragged)
        if options is None:
            return cls._of("inference", settings("inference", {"look_at_values": look_at_values}))
        if look_at_values:
            raise argument_error(
                "look_at_values and propose exclude each other", "leave one of them out"
            )
        names = ("group", "max_domain", "ragged")
        return cls._of("proposal", settings("proposal", dict(zip(names, options, strict=True))))

    def finish(self) -> Schema:
        """The schema of all rows so far. You can add more afterwards."""
        return Schema._wrap(self._handle.finish_schema())

    def _describe(self, found: Schema) -> str:
        return _numbered(len(found.features), "feature")


@public_in("columnstone.accumulate")
class Validation(AnyAccumulator[SchemaCheck]):
    """`Source.validate` for batches that you read yourself. The arguments are those of
    `Source.validate`; a column of a wrong type is an anomaly, not an error. It pickles, with its
    schema.

    To compare all columns of the data with a schema, read the data without a schema; otherwise only
    the columns of the schema are read.
    """

    __slots__ = ()

    def __new__(
        cls,
        schema: SchemaLike,
        *,
        group: str | Iterable[str] | None = None,
        environment: str | None = None,
        tensors: bool = True,
        ignore_unexpected: bool = False,
        places: int = 5,
    ) -> Self:
        options = {
            "schema": schema,
            "group": [group] if isinstance(group, str) else group,
            "environment": environment,
            "skip_tensors": not tensors,
            "ignore_unexpected": bool(ignore_unexpected),
            "places": positive("places", places),
        }
        return cls._of("validation", settings("validation", options))

    def finish(self) -> SchemaCheck:
        """The anomalies of all rows so far. You can add more afterwards."""
        return check_of(*self._handle.finish())

    def _describe(self, found: SchemaCheck) -> str:
        anomalies = _numbered(len(found.anomalies), "anomaly", "anomalies")
        return f"{_numbered(found.num_rows, 'row')}, {anomalies}"


@public_in("columnstone.accumulate")
@dataclass(frozen=True, slots=True)
class ColumnCount:
    """The counts of one column.

    path: the column; "a.b" for a field of a struct that is not in a list.
    rows: the number of rows in which neither the column nor a struct above it is null.
    values: the number of values in these rows: the items of its innermost lists that are not null;
        for a column without lists, the rows. A struct is one value.
    """

    path: str
    rows: int
    values: int


@public_in("columnstone.accumulate")
@dataclass(frozen=True, slots=True)
class ColumnCounts:
    """The result of `Counts`.

    columns: sorted by path. A column that is missing in a batch counts as null there.
    """

    num_rows: int
    columns: list[ColumnCount]


@public_in("columnstone.accumulate")
class Counts(AnyAccumulator[ColumnCounts]):
    """Counts rows and, for each column, the rows with a value and the values."""

    __slots__ = ()

    def __new__(cls) -> Self:
        return cls._of("counts", ())

    def finish(self) -> ColumnCounts:
        """The counts of all rows so far. You can add more afterwards."""
        batch, totals = self._handle.finish()
        return ColumnCounts(totals["num_rows"], rows(batch, ColumnCount))

    def _describe(self, found: ColumnCounts) -> str:
        columns = _numbered(len(found.columns), "column")
        return f"{_numbered(found.num_rows, 'row')}, {columns}"
